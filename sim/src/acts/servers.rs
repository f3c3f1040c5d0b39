//! Who votes: admins' changes, standbys that are ready, and evidence against liars.

use metatopia_types::{
    Digest, Evidence, Height, Refusal, Roster, SetChange, limits::SET_CHANGES_PER_TURN_MAX,
};

use super::{Case, Change, Ruling};

impl Case<'_> {
    /// An admin names a standby or takes a server out. What a temp admin asks for waits, so that a
    /// permanent admin can still come.
    pub(super) fn set_change(&self, change: &SetChange) -> Ruling {
        let player = self.present()?;
        if !self.state.governance.is_admin(&self.author()) {
            return Err(Refusal::NotAdmin);
        }
        let roster = &self.state.roster;
        let fine = match change {
            SetChange::Add { key, contact } | SetChange::Reserve { key, contact } => {
                let lines = [&contact.peer_id, &contact.address];
                self.court.verify.is_key(key) && lines.iter().all(|line| crate::is_line(line))
            }
            SetChange::Remove { .. } => true,
        };
        if !fine {
            return Err(Refusal::BadText);
        }
        let is_permanent = self.state.governance.admins.contains(&self.author());
        let made = match change {
            SetChange::Remove { key } if roster.members().contains_key(key) => {
                self.members(|roster| roster.change(change).map_err(|_| Refusal::BadSetChange))?
            }
            _ => {
                let mut roster = roster.clone();
                roster.change(change).map_err(|_| Refusal::BadSetChange)?;
                Change::Standbys(roster)
            }
        };
        if is_permanent {
            return Ok(vec![Change::Player(self.author(), player), made]);
        }
        if !self.state.governance.has_room_for(change) {
            return Err(Refusal::ChangesWait);
        }
        Ok(vec![Change::Player(self.author(), player), Change::Delay(change.clone())])
    }

    /// A standby shows that it follows: the state of a moment ago is there.
    pub(super) fn ready(&self, height: Height, proof: &Digest) -> Ruling {
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

    /// Anybody may show that a server signed two things at once. It is removed, unless the set
    /// would become too small: then a standby must come first, and the evidence again.
    pub(super) fn report(&self, evidence: &Evidence) -> Ruling {
        let sim = self.state.charter.sim;
        let liar = evidence.verify(sim, self.court.verify).map_err(|_| Refusal::BadEvidence)?;
        let (_, height) = evidence.accused();
        let exposed = self.state.governance.exposed.get(&liar);
        let old = exposed.is_some_and(|removed| height <= *removed);
        if old || !self.state.roster.members().contains_key(&liar) {
            return Err(Refusal::BadEvidence);
        }
        let removal = SetChange::Remove { key: liar };
        let change =
            self.members(|roster| roster.change(&removal).map_err(|_| Refusal::BadSetChange))?;
        Ok(vec![change, Change::Expose(liar)])
    }

    /// A change of the members, of which a turn may bring only so many.
    fn members(
        &self,
        change: impl FnOnce(&mut Roster) -> Result<(), Refusal>,
    ) -> Result<Change, Refusal> {
        if self.tally.set_changes >= SET_CHANGES_PER_TURN_MAX {
            return Err(Refusal::TooOften);
        }
        let mut roster = self.state.roster.clone();
        change(&mut roster)?;
        Ok(Change::Members(roster))
    }
}
