//! The script's persistent variables during a call.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc};

use super::{
    convert::{datum_of, value_of},
    datum::Datum,
    machine::CallMachine,
    meter::{CallFault, CallOutcome},
    origins::OperationAtWork,
    prices,
};
use crate::{
    ErrorKind, Value,
    lang::SourcePoint,
    limits::{STATE_BYTES_MAX, VALUE_DEPTH_MAX},
};

/// A variable that the call has read or written.
#[derive(Debug)]
pub(super) struct StateVariable {
    value: Datum,
    /// Where it was last written, if it was.
    written: Option<OperationAtWork>,
}

/// Variables that the call has read or written, by name.
pub(super) type StateCache = BTreeMap<Arc<str>, StateVariable>;

impl CallMachine<'_> {
    /// Reads a variable into the cache, if it is not there.
    fn load_variable(&mut self, name: &Arc<str>) -> CallOutcome<()> {
        self.meter.pay(prices::STATE_LOOKUP)?;
        if self.state.as_ref().is_some_and(|state| state.contains_key(&**name)) {
            return Ok(());
        }
        let scene = self.scene()?;
        let value = match scene.state().0.get(&**name) {
            // At most as large as a state may be, so it is made before its size is known.
            Some(value) => datum_of(value),
            None => Datum::Unit,
        };
        if !matches!(value, Datum::Unit) {
            self.meter.take(value.size())?;
        }
        let state = self.state.get_or_insert_default();
        state.insert(Arc::clone(name), StateVariable { value, written: None });
        Ok(())
    }

    /// Returns a variable that was loaded.
    fn loaded(&mut self, name: &Arc<str>) -> &mut StateVariable {
        let state = self.state.as_mut();
        state.and_then(|state| state.get_mut(&**name)).expect("it was loaded before")
    }

    pub(super) fn state_get(&mut self, name: &Arc<str>) -> CallOutcome<Datum> {
        self.load_variable(name)?;
        Ok(self.loaded(name).value.clone())
    }

    /// Takes a variable out to change it; [`CallMachine::state_put`] puts it back.
    pub(super) fn state_take(&mut self, name: &Arc<str>) -> CallOutcome<Datum> {
        self.load_variable(name)?;
        Ok(core::mem::take(&mut self.loaded(name).value))
    }

    pub(super) fn state_put(
        &mut self,
        name: &Arc<str>,
        value: Datum,
        at: OperationAtWork,
    ) -> CallOutcome<()> {
        self.meter.pay(prices::STATE_WRITE)?;
        let size = value.size();
        let message = if u32::from(value.depth()) > VALUE_DEPTH_MAX {
            alloc::format!("state.{name}: nested deeper than {VALUE_DEPTH_MAX} levels")
        } else if matches!(
            value,
            Datum::Function(_) | Datum::State | Datum::Range(..) | Datum::RangeTo(..)
        ) {
            alloc::format!("state.{name}: a {} cannot be kept", value.kind_name())
        } else {
            let variable = StateVariable { value, written: Some(at) };
            self.state.get_or_insert_default().insert(Arc::clone(name), variable);
            return Ok(());
        };
        debug_assert!(size > 0, "each value counts");
        Err(CallFault::new(ErrorKind::State, message))
    }

    /// Puts a variable back that was not changed after all.
    pub(super) fn state_back(&mut self, name: &Arc<str>, value: Datum) {
        let state = self.state.as_mut();
        if let Some(variable) = state.and_then(|state| state.get_mut(&**name)) {
            variable.value = value;
        }
    }

    /// Keeps what was written; the first fault says where that was.
    pub(super) fn keep_state(&mut self) -> CallOutcome<()> {
        let Some(written) = self.state.take() else { return Ok(()) };
        let program = self.program;
        let mut is_written = false;
        for (name, StateVariable { value, written }) in &written {
            let Some(at) = *written else { continue };
            is_written = true;
            let kept = self.keep_variable(name, value);
            kept.map_err(|fault| located(fault, program.place(at)))?;
        }
        if !is_written {
            return Ok(());
        }
        let check = self.scene()?.check_state();
        check.map_err(|fault| {
            let places = written.values().filter_map(|variable| variable.written);
            let last = places.map(|at| program.place(at)).max();
            located(Box::<CallFault>::from(fault), last.unwrap_or_default())
        })
    }

    fn keep_variable(&mut self, name: &Arc<str>, value: &Datum) -> CallOutcome<()> {
        let size = value.size();
        self.meter.pay(size / prices::KEPT_PER_NANOSECOND)?;
        // A value of more bytes than a state has, with what each counts, is refused before it is made.
        if size > 16 * STATE_BYTES_MAX as u64 {
            let message = alloc::format!("state.{name} is larger than a state may be");
            return Err(CallFault::new(ErrorKind::State, message));
        }
        let value: Value = value_of(value)?;
        Ok(self.scene()?.replace(name, value)?)
    }
}

fn located(mut fault: Box<CallFault>, at: SourcePoint) -> Box<CallFault> {
    fault.at = at;
    fault
}
