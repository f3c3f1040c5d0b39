//! A program made ready to run: names are looked up in the table of host functions, prices are added up.

use alloc::{boxed::Box, collections::BTreeSet, format, string::String, sync::Arc, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};

use super::{
    convert::datum_of, datum::Datum, loaded_op::LoadedOp, prices, typed, typed::TypedCode,
};
use crate::{
    EventKind, HostFault, ScriptContext,
    host::{Access, FUNCTIONS, HostFunction, HostProperty, PROPERTIES, ValueKind},
    ir::{IR_FORMAT, IrFunction, IrOp, IrPath, ScriptProgram},
    lang::SourcePoint,
    scene::VectorProperty,
};

/// A program that can run.
#[derive(Debug)]
pub(super) struct LoadedProgram {
    pub(super) functions: Vec<LoadedFunction>,
    pub(super) handlers: Vec<(EventKind, u16)>,
    pub(super) constants: Vec<Datum>,
    pub(super) names: Vec<LoadedName>,
    pub(super) shapes: Vec<Box<[u16]>>,
    pub(super) calls: Vec<LoadedCall>,
    pub(super) paths: Vec<IrPath>,
}

/// A function that can run.
#[derive(Debug)]
pub(super) struct LoadedFunction {
    pub(super) name: Box<str>,
    pub(super) parameters: u16,
    pub(super) captures: u16,
    pub(super) registers: usize,
    pub(super) at: SourcePoint,
    pub(super) code: Box<[LoadedOp]>,
    pub(super) places: Box<[SourcePoint]>,
    pub(super) signs: Box<[(u16, SourcePoint)]>,
    /// What the last slots hold from the beginning; nothing if it uses no slots.
    pub(super) slots: Option<Box<[i64]>>,
}

/// Writes a property of the own object.
pub(super) type WriteOwn<T> = fn(&mut ScriptContext, T) -> Result<(), HostFault>;

/// A name, with what it means as a property.
#[derive(Debug)]
pub(super) struct LoadedName {
    pub(super) text: Arc<str>,
    pub(super) coordinate: Option<fn(&mut Vec2) -> &mut Fx>,
    pub(super) property: Option<&'static HostProperty>,
    /// The property if it is one of those that are vectors.
    pub(super) vector: Option<VectorProperty>,
    /// Writes the property if it is one of those.
    pub(super) set_vector: Option<WriteOwn<Vec2>>,
    /// Writes the property if it is a number that bodies have.
    pub(super) set_number: Option<WriteOwn<Fx>>,
}

/// A host function that the executor does by itself if its arguments are the usual ones, or that pays for
/// its work in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrequentCall {
    Vec2,
    Sqrt,
    Nearby,
    Send,
    Split,
}

/// A host function that the program calls.
#[derive(Debug)]
pub(super) struct LoadedCall {
    pub(super) name: Box<str>,
    pub(super) count: usize,
    pub(super) frequent: Option<FrequentCall>,
    /// Rows of the table with that name and so many arguments.
    pub(super) rows: Vec<&'static HostFunction>,
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
        let names: Vec<_> = program.names.iter().map(|name| loaded_name(name)).collect();
        let calls: Result<_, _> = program.calls.iter().map(loaded_call).collect();
        let loaded = Self {
            functions: Vec::new(),
            handlers: program.handlers.clone(),
            constants: program.constants.iter().map(datum_of).collect(),
            names,
            shapes: program.shapes.iter().map(|shape| shape.clone().into()).collect(),
            calls: calls?,
            paths: program.paths.clone(),
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
                *charge = u32::try_from(price).unwrap_or(u32::MAX);
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
        registers: usize::from(function.registers),
        at: function.at,
        code: function.code.iter().copied().map(LoadedOp::Plain).collect(),
        places: function.places.clone().into(),
        signs: function.signs.clone().into(),
        slots: None,
    }
}

fn loaded_function(function: &IrFunction, typed: TypedCode) -> LoadedFunction {
    let place = |origin: &u16| function.places[usize::from(*origin)];
    let signs = (0..).zip(&typed.code).zip(&typed.origins).filter_map(|((at, op), origin)| {
        let LoadedOp::Plain(IrOp::Index { .. }) = op else { return None };
        let found = function.signs.binary_search_by_key(origin, |(op, _)| *op).ok()?;
        Some((at, function.signs[found].1))
    });
    LoadedFunction {
        signs: signs.collect(),
        places: typed.origins.iter().map(place).collect(),
        code: typed.code.into(),
        slots: Some(typed.constants.into()),
        ..plain_function(function)
    }
}

fn loaded_name(name: &str) -> LoadedName {
    let of = |kind| PROPERTIES.iter().find(move |p| p.of == kind && p.name == name);
    let coordinate = of(ValueKind::Vec2).and_then(|property| match property.access {
        Access::Coordinate(at) => Some(at),
        Access::Field(..) => None,
    });
    let mut loaded = LoadedName {
        text: name.into(),
        coordinate,
        property: of(ValueKind::Object),
        vector: None,
        set_vector: None,
        set_number: None,
    };
    match name {
        "pos" => {
            loaded.vector = Some(VectorProperty::Position);
            loaded.set_vector = Some(ScriptContext::set_pos);
        }
        "velocity" => {
            loaded.vector = Some(VectorProperty::Velocity);
            loaded.set_vector = Some(ScriptContext::set_velocity);
        }
        "angle" => {
            loaded.set_number =
                Some(|scene, radians| scene.set_angle(Angle::from_radians(radians)));
        }
        "spin" => loaded.set_number = Some(ScriptContext::set_spin),
        _ => {}
    }
    loaded
}

fn loaded_call((name, count): &(String, u8)) -> Result<LoadedCall, ProgramError> {
    let named = FUNCTIONS.iter().filter(|function| function.name == name);
    let rows: Vec<_> = named.filter(|f| f.arguments.len() == usize::from(*count)).collect();
    if rows.is_empty() {
        return Err(ProgramError::Function { name: name.clone(), count: *count });
    }
    let frequent = match (name.as_str(), *count) {
        ("vec2", 2) => Some(FrequentCall::Vec2),
        ("sqrt", 1) => Some(FrequentCall::Sqrt),
        ("nearby", 1) => Some(FrequentCall::Nearby),
        ("send", 3) => Some(FrequentCall::Send),
        ("split", 2) => Some(FrequentCall::Split),
        _ => None,
    };
    Ok(LoadedCall { name: name.clone().into(), count: usize::from(*count), frequent, rows })
}

impl LoadedFunction {
    /// What people call it.
    pub(super) fn title(&self) -> String {
        if self.name.is_empty() { "a closure".into() } else { format!("{}", self.name) }
    }
}
