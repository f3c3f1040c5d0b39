//! A program made ready to run: names are looked up in the table of host functions, prices are added up.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};
use core::num::NonZeroU16;

use super::{
    convert::datum_of,
    datum::Datum,
    loaded_op::LoadedOp,
    meanings::{LoadedCall, LoadedName},
    origins::{OperationAtWork, OperationOrigins, OriginWriter},
    prices, typed,
    typed::TypedCode,
};
use crate::{
    EventKind, Value,
    ir::{IR_FORMAT, IrFunction, IrLink, IrOp, ScriptProgram},
    lang::SourcePoint,
};

/// A program that can run.
#[derive(Debug)]
pub(super) struct LoadedProgram {
    pub(super) functions: Box<[LoadedFunction]>,
    pub(super) handlers: Box<[(EventKind, u16)]>,
    pub(super) constants: Box<[Datum]>,
    pub(super) names: Box<[LoadedName]>,
    pub(super) shapes: Box<[Box<[u16]>]>,
    /// Numbers of the calls, among all that there are.
    calls: Box<[u8]>,
    /// The links of each path, the outermost first.
    pub(super) paths: Box<[Box<[IrLink]>]>,
    /// What slots hold from the beginning, function by function.
    slot_constants: Box<[i64]>,
    origins: OperationOrigins,
}

/// A function that can run.
#[derive(Debug)]
pub(super) struct LoadedFunction {
    pub(super) code: Box<[LoadedOp]>,
    /// Where its origins begin among those of the program.
    origins: u32,
    /// Where its constants begin among those of all slots.
    slot_constants: u32,
    /// How many of its last slots hold constants, and one more; nothing if it uses no slots.
    slots: Option<NonZeroU16>,
    pub(super) parameters: u16,
    pub(super) captures: u16,
    registers: u16,
}

// A script has some functions, and most wait.
const _: () = assert!(size_of::<LoadedFunction>() <= 32);

/// Why a program cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// It is of another form than this engine executes.
    #[error("the program has form {found}, this engine executes form {IR_FORMAT}")]
    Format {
        /// The form of the program.
        found: u16,
    },
    /// It calls what this engine does not have.
    #[error("there is no function {name} with {count} arguments")]
    Function {
        /// The name that it calls.
        name: String,
        /// With so many arguments.
        count: u8,
    },
    /// Its bytes are no program.
    #[error("these bytes are no program")]
    Malformed,
}

impl LoadedProgram {
    /// Makes a program ready.
    pub(super) fn new(program: &ScriptProgram) -> Result<Self, ProgramError> {
        let (mut loaded, functions) = Self::priced(program)?;
        let called = called_functions(&functions);
        let mut room = FunctionRoom::default();
        for (index, function) in (0..).zip(&functions) {
            // Only the world calls a handler whose name nobody calls: what it gives is known.
            let mut handlers = program.handlers.iter().filter(|_| !called.contains(&index));
            let event = handlers.find(|(_, handler)| *handler == index).map(|(event, _)| *event);
            let kinds = event.map_or(&[][..], EventKind::parameter_kinds);
            match typed::translate(&loaded, &functions, function, kinds) {
                Some(typed) => room.add_typed(function, typed),
                None => room.add_plain(function),
            }
        }
        room.fill(&mut loaded);
        Ok(loaded)
    }

    /// Makes a program ready as it is: what its registers hold can be read when it has run.
    pub(super) fn plain(program: &ScriptProgram) -> Result<Self, ProgramError> {
        let (mut loaded, functions) = Self::priced(program)?;
        let mut room = FunctionRoom::default();
        functions.iter().for_each(|function| room.add_plain(function));
        room.fill(&mut loaded);
        Ok(loaded)
    }

    /// Returns a program without its functions, and those with what each part of them costs.
    pub(super) fn priced(program: &ScriptProgram) -> Result<(Self, Vec<IrFunction>), ProgramError> {
        if program.format != IR_FORMAT {
            return Err(ProgramError::Format { found: program.format });
        }
        let calls: Result<_, _> = program.calls.iter().map(LoadedCall::find).collect();
        let loaded = Self {
            functions: Box::default(),
            handlers: program.handlers.clone().into(),
            constants: constants(&program.constants),
            names: program.names.iter().map(|name| LoadedName::new(name)).collect(),
            shapes: program.shapes.iter().map(|shape| shape.clone().into()).collect(),
            calls: calls?,
            paths: program.paths.iter().map(|path| path.links.clone().into()).collect(),
            slot_constants: Box::default(),
            origins: OriginWriter::default().finish(),
        };
        let functions = program.functions.iter().map(|function| loaded.with_prices(function));
        let functions = functions.collect();
        Ok((loaded, functions))
    }

    fn with_prices(&self, function: &IrFunction) -> IrFunction {
        let mut function = function.clone();
        let code = &mut function.code;
        let mut price = 0_u64;
        for place in (0..code.len()).rev() {
            price = price.saturating_add(self.price(&code[place]));
            if let IrOp::Charge(charge) = &mut code[place] {
                *charge = u32::try_from(price).unwrap_or(u32::MAX).into();
                price = 0;
            }
        }
        function
    }

    /// The price of an operation, with that of what it names.
    fn price(&self, op: &IrOp) -> u64 {
        let more = match op {
            IrOp::Host { call, .. } | IrOp::Method { call, .. } => {
                // Where several rows could be meant, the one that is pays for itself.
                match &self.call(*call).rows[..] {
                    [row] => prices::host(row),
                    _ => 0,
                }
            }
            _ => 0,
        };
        prices::price(op) + more
    }
}

/// Returns which functions something in the program calls, or makes a closure of.
fn called_functions(functions: &[IrFunction]) -> BTreeSet<u16> {
    let ops = functions.iter().flat_map(|function| &function.code);
    let called = ops.filter_map(|op| match op {
        IrOp::Call { function, .. } | IrOp::Closure { function, .. } => Some(*function),
        _ => None,
    });
    called.collect()
}

/// Returns the values that a program names; texts that are equal share their memory.
fn constants(values: &[Value]) -> Box<[Datum]> {
    let mut texts: BTreeMap<&str, Datum> = BTreeMap::new();
    let mut data = Vec::with_capacity(values.len());
    for value in values {
        data.push(match value {
            Value::Text(text) => texts.entry(text).or_insert_with(|| datum_of(value)).clone(),
            _ => datum_of(value),
        });
    }
    data.into()
}

/// Functions of a program under way.
#[derive(Default)]
struct FunctionRoom {
    functions: Vec<LoadedFunction>,
    slot_constants: Vec<i64>,
    origins: OriginWriter,
}

impl FunctionRoom {
    fn add_plain(&mut self, function: &IrFunction) {
        let mut signs = function.signs.iter().copied().peekable();
        let places = function.places.iter().copied().zip(0..);
        let places: Vec<_> = places
            .map(|(place, at)| (place, signs.next_if(|(op, _)| *op == at).map(|(_, sign)| sign)))
            .collect();
        let code = function.code.iter().copied().map(LoadedOp::plain).collect();
        self.add(function, code, &places);
    }

    fn add_typed(&mut self, function: &IrFunction, typed: TypedCode) {
        let places = typed.code.iter().zip(&typed.origins).map(|(op, origin)| {
            let is_index = matches!(op, LoadedOp::Index { .. });
            let found = function.signs.binary_search_by_key(origin, |(op, _)| *op).ok();
            let sign = found.filter(|_| is_index).map(|found| function.signs[found].1);
            (function.places[usize::from(*origin)], sign)
        });
        let places: Vec<_> = places.collect();
        self.add(function, typed.code.into(), &places);
        let added = self.functions.last_mut().expect("it was added");
        let count = u16::try_from(typed.constants.len()).expect("there are fewer slots");
        added.slots = NonZeroU16::MIN.checked_add(count);
        self.slot_constants.extend(typed.constants);
    }

    fn add(
        &mut self,
        function: &IrFunction,
        code: Box<[LoadedOp]>,
        places: &[(SourcePoint, Option<SourcePoint>)],
    ) {
        let origins = self.origins.add(&function.name, function.at, places.iter().copied());
        let &IrFunction { parameters, captures, registers, .. } = function;
        let slot_constants = u32::try_from(self.slot_constants.len()).expect("code is bounded");
        let slots = None;
        self.functions.push(LoadedFunction {
            code,
            origins,
            slot_constants,
            slots,
            parameters,
            captures,
            registers,
        });
    }

    fn fill(self, loaded: &mut LoadedProgram) {
        loaded.functions = self.functions.into();
        loaded.slot_constants = self.slot_constants.into();
        loaded.origins = self.origins.finish();
    }
}

impl LoadedFunction {
    pub(super) fn registers(&self) -> usize {
        usize::from(self.registers)
    }

    /// Says whether some of its operations are on slots.
    pub(super) const fn uses_slots(&self) -> bool {
        self.slots.is_some()
    }
}

impl LoadedProgram {
    /// Returns a host function that the program calls.
    #[inline]
    pub(super) fn call(&self, call: u16) -> &'static LoadedCall {
        LoadedCall::numbered(self.calls[usize::from(call)])
    }

    /// Returns what the last slots of a function hold from the beginning.
    #[inline]
    pub(super) fn slot_constants(&self, function: &LoadedFunction) -> &[i64] {
        let count = function.slots.map_or(0, |count| usize::from(count.get()) - 1);
        &self.slot_constants[function.slot_constants as usize..][..count]
    }

    /// Returns what people call a function.
    pub(super) fn title(&self, function: u16) -> String {
        match self.origins.name(self.functions[usize::from(function)].origins) {
            "" => "a closure".into(),
            name => name.into(),
        }
    }

    /// Returns where the body of a function begins.
    pub(super) fn begin(&self, function: u16) -> SourcePoint {
        self.origins.begin(self.functions[usize::from(function)].origins)
    }

    /// Returns where an operation of a function comes from, and where its bracket stands if it has one. What is
    /// none comes from the function.
    pub(super) fn origin(
        &self,
        function: u16,
        operation: usize,
    ) -> (SourcePoint, Option<SourcePoint>) {
        let of = &self.functions[usize::from(function)];
        let found = self.origins.get(of.origins, of.code.len(), operation);
        found.unwrap_or_else(|| (self.begin(function), None))
    }

    /// Returns where the operation at work comes from.
    pub(super) fn place(&self, operation: OperationAtWork) -> SourcePoint {
        match operation {
            OperationAtWork::Ported(place) => place,
            OperationAtWork::Loaded { function, operation } => {
                self.origin(function, operation.into()).0
            }
        }
    }
}
