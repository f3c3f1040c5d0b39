//! Amendments: decides whether an admin may change the charter or an agreed number.

use metatopia_types::{Act, Blob, PublicKey, Refusal, limits::BORDER_ORDER_BYTES_MAX};

use super::{
    border::border_order_of,
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    rules::{ActTarget, Right, Warrant},
    state::{AmendError, Charter, State, World},
};

impl ActContext<'_> {
    /// Decides a change of one named value of the charter. The value counts for the acts after this one
    /// and for the ticks of the turn, but not yet for judging turns.
    pub(super) fn amend(&self, name: &str, value: &str) -> ActResult {
        let player = self.renewed_player()?;
        let charter = self.state.amended(name, value)?;
        Ok(vec![
            StateChange::Player(self.author(), player),
            StateChange::Charter(Box::new(charter)),
        ])
    }
}

impl State {
    /// Returns the charter with one named value changed.
    ///
    /// # Errors
    /// The rule that refuses it.
    fn amended(&self, name: &str, value: &str) -> Result<Charter, Refusal> {
        let mut charter = self.charter.clone();
        charter.amend(name, value).map_err(|error| match error {
            AmendError::NoSuchName => Refusal::NoParameter,
            AmendError::Value | AmendError::Parameters(_) => Refusal::OutOfRange,
        })?;
        let (ports, before) = (&charter.parameters.ports, &self.charter.parameters.ports);
        // Servers whose program lacks a port must have the time to stop before it runs.
        if ports.check_new(before, self.clock.height).is_err() {
            return Err(Refusal::OutOfRange);
        }
        Ok(charter)
    }
}

impl World {
    /// Says whether somebody who is logged in could amend a value, change who votes, have words forgotten, or order
    /// something about tickets or a border, after the last applied turn, and by what. `blob` is the one that the act
    /// names, if it names one. Nothing changes.
    ///
    /// # Errors
    /// The rule that refuses it; [`Refusal::NoParameter`] if the act is none of them.
    pub fn may_change(
        &self,
        author: &PublicKey,
        act: &Act,
        blob: Option<&Blob>,
    ) -> Result<Warrant, Refusal> {
        match act {
            Act::Amend { name, value } => {
                let warrant = self.state.may(author, Right::Charter, &ActTarget::SIM)?;
                self.state.amended(name, value)?;
                Ok(warrant)
            }
            Act::SetChange(change) => {
                let warrant = self.state.may(author, Right::Servers, &ActTarget::SIM)?;
                self.state.check_set_change(change, &*self.tools().verify, warrant)?;
                Ok(warrant)
            }
            Act::Forget { height, body } => {
                let (right, target) = self.state.forget_request(*author, *height, *body);
                let warrant = self.state.may(author, right, &target)?;
                self.state.check_forget(*author, *height, *body)?;
                Ok(warrant)
            }
            Act::Ticket(order) => {
                let warrant = self.state.may(author, Right::Admit, &ActTarget::SIM)?;
                self.state.check_ticket(author, order, &*self.tools().verify)?;
                Ok(warrant)
            }
            Act::Border { order } => {
                let warrant = self.state.may(author, Right::Borders, &ActTarget::SIM)?;
                // Nobody waits for the hash of a blob that is too long to be an order.
                let is_it =
                    |blob: &&Blob| blob.0.len() > BORDER_ORDER_BYTES_MAX || blob.id() == *order;
                let order = border_order_of(blob.filter(is_it))?;
                self.state.border_change(order).map_err(Refusal::BadBorder)?;
                Ok(warrant)
            }
            _ => Err(Refusal::NoParameter),
        }
    }
}
