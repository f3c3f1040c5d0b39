//! A program made ready to run: names are looked up in the table of host functions, prices are added up.

use alloc::{boxed::Box, collections::BTreeSet, format, string::String, vec::Vec};

use super::{
    convert::datum_of,
    datum::Datum,
    loaded_op::LoadedOp,
    meanings::{LoadedCall, LoadedName},
    origins::OperationOrigins,
    prices, typed,
    typed::TypedCode,
};
use crate::{
    EventKind,
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
    pub(super) calls: Box<[&'static LoadedCall]>,
    /// The links of each path, the outermost first.
    pub(super) paths: Box<[Box<[IrLink]>]>,
}

/// A function that can run.
#[derive(Debug)]
pub(super) struct LoadedFunction {
    pub(super) name: Box<str>,
    pub(super) parameters: u16,
    pub(super) captures: u16,
    registers: u16,
    pub(super) at: SourcePoint,
    pub(super) code: Box<[LoadedOp]>,
    pub(super) places: OperationOrigins,
    pub(super) signs: Box<[(u16, SourcePoint)]>,
    /// What the last slots hold from the beginning; nothing if it uses no slots.
    pub(super) slots: Option<Box<[i64]>>,
}

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
        let load = |(index, function): (u16, &IrFunction)| {
            // Only the world calls a handler whose name nobody calls: what it gives is known.
            let mut handlers = program.handlers.iter().filter(|_| !called.contains(&index));
            let event = handlers.find(|(_, handler)| *handler == index).map(|(event, _)| *event);
            let kinds = event.map_or(&[][..], EventKind::parameter_kinds);
            match typed::translate(&loaded, &functions, function, kinds) {
                Some(typed) => loaded_function(function, typed),
                None => plain_function(function),
            }
        };
        let ready = (0..).zip(&functions).map(load).collect();
        loaded.functions = ready;
        Ok(loaded)
    }

    /// Makes a program ready as it is: what its registers hold can be read when it has run.
    pub(super) fn plain(program: &ScriptProgram) -> Result<Self, ProgramError> {
        let (mut loaded, functions) = Self::priced(program)?;
        loaded.functions = functions.iter().map(plain_function).collect();
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
            constants: program.constants.iter().map(datum_of).collect(),
            names: program.names.iter().map(|name| LoadedName::new(name)).collect(),
            shapes: program.shapes.iter().map(|shape| shape.clone().into()).collect(),
            calls: calls?,
            paths: program.paths.iter().map(|path| path.links.clone().into()).collect(),
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
                match &self.calls[usize::from(*call)].rows[..] {
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

fn plain_function(function: &IrFunction) -> LoadedFunction {
    LoadedFunction {
        name: function.name.clone().into(),
        parameters: function.parameters,
        captures: function.captures,
        registers: function.registers,
        at: function.at,
        code: function.code.iter().copied().map(LoadedOp::plain).collect(),
        places: OperationOrigins::new(function.places.iter().copied()),
        signs: function.signs.clone().into(),
        slots: None,
    }
}

fn loaded_function(function: &IrFunction, typed: TypedCode) -> LoadedFunction {
    let place = |origin: &u16| function.places[usize::from(*origin)];
    let signs = (0..).zip(&typed.code).zip(&typed.origins).filter_map(|((at, op), origin)| {
        let LoadedOp::Index { .. } = op else { return None };
        let found = function.signs.binary_search_by_key(origin, |(op, _)| *op).ok()?;
        Some((at, function.signs[found].1))
    });
    LoadedFunction {
        signs: signs.collect(),
        places: OperationOrigins::new(typed.origins.iter().map(place)),
        code: typed.code.into(),
        slots: Some(typed.constants.into()),
        ..plain_function(function)
    }
}

impl LoadedFunction {
    pub(super) fn registers(&self) -> usize {
        usize::from(self.registers)
    }

    /// Returns what people call it.
    pub(super) fn title(&self) -> String {
        if self.name.is_empty() { "a closure".into() } else { format!("{}", self.name) }
    }
}
