//! Executes programs: the same result, gas and errors on every machine and in every build.

mod callbacks;
mod calls;
mod changes;
mod containers;
mod convert;
mod datum;
mod handler;
mod loaded;
mod machine;
mod meter;
mod operators;
mod places;
mod prices;
mod state;

use alloc::{format, string::String, vec::Vec};

use metatopia_types::ObjectId;

use crate::{
    Value,
    ir::ScriptProgram,
    lang::SourcePoint,
    limits::{GAS_PER_CALL_MAX, NANOSECONDS_PER_GAS},
};
pub use handler::{ScriptExecutor, ScriptHandler};
pub use loaded::ProgramError;

/// Runs the first function of a program, which computes constants, and returns its first registers.
pub(crate) fn evaluate_constants(
    program: &ScriptProgram,
    places: &[SourcePoint],
) -> Result<Vec<Value>, (SourcePoint, String)> {
    let unknown = |error: ProgramError| (SourcePoint::default(), format!("{error}"));
    let loaded = loaded::LoadedProgram::new(program).map_err(unknown)?;
    let time = GAS_PER_CALL_MAX * NANOSECONDS_PER_GAS;
    let mut machine = machine::CallMachine::new(&loaded, None, ObjectId(0), time);
    let registers = machine.registers_of(0).map_err(|fault| (fault.at, fault.message))?;
    let mut values = Vec::with_capacity(places.len());
    for (datum, at) in registers.iter().zip(places.iter().copied()) {
        // Each constant is kept as a copy of its own, also of what it shares with others.
        machine.meter.take(datum.size()).map_err(|fault| (at, fault.message))?;
        let value = convert::value_of(datum).map_err(|fault| (at, fault.message))?;
        value.check().map_err(|error| (at, format!("a constant: {error}")))?;
        values.push(value);
    }
    Ok(values)
}
