//! Amendments: decides whether an admin may change the charter or an agreed number.

use metatopia_types::Refusal;

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::state::AmendError;

impl ActContext<'_> {
    /// Decides a change of one named value of the charter. The value counts for the acts after this one
    /// and for the ticks of the turn, but not yet for judging turns.
    pub(super) fn amend(&self, name: &str, value: &str) -> ActResult {
        let player = self.renewed_player()?;
        let mut charter = self.state.charter.clone();
        charter.amend(name, value).map_err(|error| match error {
            AmendError::NoSuchName => Refusal::NoParameter,
            AmendError::Value | AmendError::Parameters(_) => Refusal::OutOfRange,
        })?;
        let (ports, before) = (&charter.parameters.ports, &self.state.charter.parameters.ports);
        // Servers whose program lacks a port must have the time to stop before it runs.
        if ports.check_new(before, self.state.clock.height).is_err() {
            return Err(Refusal::OutOfRange);
        }
        Ok(vec![
            StateChange::Player(self.author(), player),
            StateChange::Charter(Box::new(charter)),
        ])
    }
}
