//! Who votes: decides admins' changes, standbys that are ready, and evidence against servers.

use metatopia_types::{
    Digest, Evidence, Height, Refusal, Roster, SetChange, Verify, limits::SET_CHANGES_PER_TURN_MAX,
};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{rules::Warrant, state::State};

impl ActContext<'_> {
    /// Decides an admin's order to name a standby or to remove a server. An order of a temp admin waits,
    /// so that a permanent admin can still come.
    pub(super) fn set_change(&self, change: &SetChange, warrant: Warrant) -> ActResult {
        let player = self.renewed_player()?;
        let scheme = &*self.executor.tools.verify;
        let changed = || self.state.check_set_change(change, scheme, warrant);
        let made = match change {
            SetChange::Remove { key } if self.state.roster.members().contains_key(key) => {
                self.members(|roster| changed().map(|after| *roster = after))?
            }
            _ => StateChange::Standbys(changed()?),
        };
        if warrant != Warrant::Temp {
            return Ok(vec![StateChange::Player(self.author(), player), made]);
        }
        Ok(vec![StateChange::Player(self.author(), player), StateChange::Delay(change.clone())])
    }

    /// Decides whether a standby is promoted, which proves that it has the state of a moment ago.
    pub(super) fn ready(&self, height: Height, proof: &Digest) -> ActResult {
        if !self.state.roster.standbys().contains_key(&self.author()) {
            return Err(Refusal::BadSetChange);
        }
        if !self.state.readiness.is_shown(height, &self.author(), proof) {
            return Err(Refusal::WrongProof);
        }
        let key = self.author();
        let change =
            self.members(|roster| roster.promote(&key).map_err(|_| Refusal::BadSetChange))?;
        Ok(vec![change])
    }

    /// Decides evidence that a server signed two things at once, which anybody may submit. The server is
    /// removed, unless the set would become too small: then a standby must come first, and the evidence
    /// again.
    pub(super) fn report(&self, evidence: &Evidence) -> ActResult {
        let (accused, height) = evidence.accused();
        let exposed = self.state.governance.exposed.get(&accused);
        let old = exposed.is_some_and(|removed| height <= *removed);
        if old || !self.state.roster.members().contains_key(&accused) {
            return Err(Refusal::BadEvidence);
        }
        if !self.counts.is_checked {
            return Err(Refusal::TooOften);
        }
        let sim = self.state.charter.sim;
        evidence.verify(sim, &*self.executor.tools.verify).map_err(|_| Refusal::BadEvidence)?;
        let removal = SetChange::Remove { key: accused };
        let change =
            self.members(|roster| roster.change(&removal).map_err(|_| Refusal::BadSetChange))?;
        Ok(vec![change, StateChange::Expose(accused)])
    }

    /// Returns a change of the members, of which a turn may have only so many.
    fn members(
        &self,
        change: impl FnOnce(&mut Roster) -> Result<(), Refusal>,
    ) -> Result<StateChange, Refusal> {
        if self.counts.set_changes >= SET_CHANGES_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let mut roster = self.state.roster.clone();
        change(&mut roster)?;
        Ok(StateChange::Members(roster))
    }
}

impl State {
    /// Returns who votes and stands by after an admin's change, or once it is due.
    ///
    /// # Errors
    /// The rule that refuses it, whoever else changed who votes in the same turn.
    pub(super) fn check_set_change(
        &self,
        change: &SetChange,
        scheme: &dyn Verify,
        warrant: Warrant,
    ) -> Result<Roster, Refusal> {
        if let SetChange::Add { key, contact } | SetChange::Reserve { key, contact } = change {
            let lines = [&contact.peer_id, &contact.address];
            if !scheme.is_key(key) || !lines.iter().all(|line| crate::is_line(line)) {
                return Err(Refusal::BadText);
            }
        }
        let mut roster = self.roster.clone();
        roster.change(change).map_err(|_| Refusal::BadSetChange)?;
        let waits = warrant == Warrant::Temp;
        if waits && !self.governance.has_room_for(change) {
            return Err(Refusal::ChangesWait);
        }
        Ok(roster)
    }
}
