//! Executes programs: the same result, gas and errors on every machine and in every build.

mod callbacks;
mod calls;
mod changes;
mod containers;
mod convert;
mod datum;
mod frames;
mod handler;
mod loaded;
mod loaded_op;
mod machine;
mod meanings;
mod meter;
mod operators;
mod origins;
mod places;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "ports of later scripts use what that of today does not")
)]
mod ported;
mod prices;
mod slots;
mod state;
mod typed;

use alloc::{format, string::String, vec::Vec};

use metatopia_types::ObjectId;

use crate::{
    Value,
    ir::{IrOp, ScriptProgram},
    lang::SourcePoint,
};
pub(crate) use datum::Datum;
pub use handler::{ScriptExecutor, ScriptHandler};
pub use loaded::ProgramError;
pub(crate) use machine::CallMachine;
#[cfg(test)]
pub(crate) use meter::CallFault;
pub(crate) use meter::CallOutcome;
pub(crate) use ported::{
    Located, PortedBody, at, copy, int, is, is_unit, is_within, iterate, next, rethrown, shift,
    state, taken, truth, unary, unit,
};

/// Returns the operations of a program's functions with what each part of them costs.
///
/// # Errors
/// See [`ProgramError`].
pub(crate) fn priced(program: &ScriptProgram) -> Result<Vec<Vec<IrOp>>, ProgramError> {
    let (_, functions) = loaded::LoadedProgram::priced(program)?;
    Ok(functions.into_iter().map(|function| function.code).collect())
}

/// Runs the first function of a program, which computes constants, and returns its first registers. It takes
/// what it needs of `time`, in nanoseconds of the reference machine.
pub(crate) fn evaluate_constants(
    program: &ScriptProgram,
    places: &[SourcePoint],
    time: &mut u64,
) -> Result<Vec<Value>, (SourcePoint, String)> {
    let unknown = |error: ProgramError| (SourcePoint::default(), format!("{error}"));
    let loaded = loaded::LoadedProgram::plain(program).map_err(unknown)?;
    let mut machine = CallMachine::new(&loaded, None, ObjectId(0), *time);
    let registers = machine.registers_of(0).map_err(|fault| (fault.at, fault.message))?;
    let mut values = Vec::with_capacity(places.len());
    for (datum, at) in registers.iter().zip(places.iter().copied()) {
        // Each constant is kept as a copy of its own, also of what it shares with others.
        machine.meter.take(datum.size()).map_err(|fault| (at, fault.message))?;
        let value = convert::value_of(datum).map_err(|fault| (at, fault.message))?;
        value.check().map_err(|error| (at, format!("a constant: {error}")))?;
        values.push(value);
    }
    *time = machine.meter.time_left();
    Ok(values)
}
