//! Borders: what servers hear of neighbours, who approaches, and what admins order.

use metatopia_math::{Fx, Vec2};
use metatopia_types::{
    Act, Blob, BlobId, BorderOrder, BorderRefusal, CrossingPass, Dispatch, GenesisHead, HandsMark,
    HearRefusal, PassRefusal, Refusal, SignedEnvelope, SimId, Square, Work,
    limits::{BORDERS_MAX, PASSES_MAX},
};

use super::{
    changes::{StateChange, TurnCounts},
    context::{ActContext, ActResult},
    executor::ActExecutor,
};
use crate::{
    limits::{HEARD_SIGNATURES_PER_TURN_MAX, PASS_MS, PORTALS_APART_METRES, SILENCE_MS, WORD_MS},
    rules::{BelievedDispatch, Border, neighbour_of},
    space::{BorderWay, Portal},
    state::{FirstLogin, SentHome, State},
};

/// A change at a border.
pub(super) enum BorderChange {
    /// Hears what a dispatch of a neighbour proves.
    Hear(SimId, Box<BelievedDispatch>),
    /// Answers somebody who approaches.
    Pass(SimId, CrossingPass, metatopia_types::Lane),
    /// Opens or closes a border on this side.
    Open(SimId, Box<Border>, bool),
    /// Gives a silent neighbour up.
    Sever(SimId),
    /// Sends something back.
    SendHome(SentHome),
}

/// Applies a change at a border.
pub(super) fn apply_border_change(state: &mut State, change: BorderChange) {
    match change {
        BorderChange::Hear(neighbour, believed) => state.hear_neighbour(neighbour, *believed),
        BorderChange::Pass(neighbour, pass, lane) => state.give_pass(neighbour, pass, lane),
        BorderChange::Open(neighbour, border, open) => state.open_border(neighbour, *border, open),
        BorderChange::Sever(neighbour) => state.sever(neighbour),
        BorderChange::SendHome(sent) => state.send_home(sent),
    }
}

impl ActExecutor<'_> {
    /// Counts the signatures that a dispatch asks to check, whether or not they are good: a turn checks so
    /// many and no more.
    pub(super) fn charge_hearing(
        &self,
        state: &State,
        act: &SignedEnvelope,
        counts: &mut TurnCounts,
    ) {
        let Act::Hear { neighbour, dispatch } = act.envelope.act else { return };
        // A blob may have 64 KiB, and nothing is decoded of a sim that is no neighbour.
        if state.borders.all.get(&neighbour).is_none() {
            return;
        }
        let signatures = self.dispatch(dispatch).map_or(0, |dispatch| {
            let links = dispatch.links.iter().map(|link| &link.certificate);
            let certificates = links.chain(dispatch.state.iter().map(|state| &state.certificate));
            certificates.map(|certificate| certificate.signatures.len()).sum()
        });
        let used = counts.heard_signatures.saturating_add(signatures);
        counts.has_checks = used <= HEARD_SIGNATURES_PER_TURN_MAX;
        if counts.has_checks {
            counts.heard_signatures = used;
        }
    }

    /// Returns the dispatch that a blob of the turn holds.
    fn dispatch(&self, blob: BlobId) -> Result<Dispatch, Refusal> {
        let blob = self.blobs.get(&blob).ok_or(Refusal::NoBlob)?;
        Dispatch::decode(&blob.0).map_err(|_| Refusal::NotHeard(HearRefusal::NoDispatch))
    }
}

impl ActContext<'_> {
    /// Decides whether what a server heard of a neighbour counts.
    pub(super) fn hear(&self, neighbour: SimId, dispatch: BlobId) -> ActResult {
        if !self.state.roster.members().contains_key(&self.author()) {
            return Err(Refusal::NotHeard(HearRefusal::NotServer));
        }
        if self.state.borders.all.get(&neighbour).is_none() {
            return Err(Refusal::NotHeard(HearRefusal::NoBorder));
        }
        let dispatch = self.executor.dispatch(dispatch)?;
        if !self.counts.has_checks {
            return Err(Refusal::NotHeard(HearRefusal::TooMuch));
        }
        let scheme = &*self.executor.tools.verify;
        let believed = self.state.believe(neighbour, &dispatch, scheme);
        let believed = Box::new(believed.map_err(Refusal::NotHeard)?);
        Ok(vec![StateChange::Border(BorderChange::Hear(neighbour, believed))])
    }

    /// Decides the answer to somebody who approaches. An answer that says no is one as well: the sim that
    /// she is in tells her why.
    pub(super) fn approach(&self, from: SimId, shown: Option<&Work>) -> ActResult {
        let border = self.state.borders.all.get(&from).filter(|border| !border.frozen);
        let border = border.ok_or(Refusal::NoBorder)?;
        let (now, said) = (self.state.clock.time, &border.crossing.said);
        let heard = border.crossing.heard.as_ref();
        let heard = heard.filter(|heard| now.since(heard.at) <= WORD_MS);
        let near = &heard.ok_or(Refusal::NoBorder)?.said.near;
        let person = self.author();
        if near.binary_search_by(|near| near.person.cmp(&person)).is_err() {
            return Err(Refusal::NotNear);
        }
        let is_known = said.passes.iter().any(|pass| pass.person == person);
        if !is_known && said.passes.len() >= PASSES_MAX {
            return Err(Refusal::Full);
        }
        let known = self.state.players.get(&person);
        // Work that a new key was asked for counts as a first login does, once while she has an answer. In a lane
        // that is open nobody looked at it, so it is looked at here.
        let (sim, height) = (self.state.charter.sim, self.state.clock.height);
        let is_newcomer = known.is_none() && !is_known;
        let is_asked = self.state.charter.parameters.first_login == FirstLogin::Work;
        let counts = |work: &&Work| self.state.first_logins.accepts(sim, &person, work, height);
        let is_counted = is_newcomer && is_asked && shown.filter(counts).is_some();
        let is_here = self.state.present.contains_key(&person);
        let refused = match () {
            () if !said.open => Some(PassRefusal::Closed),
            () if is_here => Some(PassRefusal::Here),
            () if !self.state.has_seat(&person, known)
                && self.state.census.idlest(self.tick()).is_none() =>
            {
                Some(PassRefusal::Full)
            }
            () => None,
        };
        // What she holds is answered at the end of the turn, and after each turn anew.
        let (until, mark, hands) = (now.plus(PASS_MS), HandsMark::default(), Vec::new());
        let pass = CrossingPass { person, until, refused, mark, hands };
        let mut changes =
            vec![StateChange::Border(BorderChange::Pass(from, pass, self.envelope.lane))];
        changes.extend(is_counted.then_some(StateChange::FirstLogin(None)));
        Ok(changes)
    }

    /// Decides an order about a border.
    pub(super) fn border(&self, order: BlobId) -> ActResult {
        let player = StateChange::Player(self.author(), self.renewed_player()?);
        let change = self.state.border_change(self.border_order(order)?);
        let change = change.map_err(Refusal::BadBorder)?;
        Ok(vec![StateChange::Border(change), player])
    }

    /// Returns the order about a border that a blob of the turn holds.
    pub(super) fn border_order(&self, order: BlobId) -> Result<BorderOrder, Refusal> {
        border_order_of(self.executor.blobs.get(&order).copied())
    }
}

/// Returns the order about a border that its blob holds, if the blob is there.
pub(super) fn border_order_of(blob: Option<&Blob>) -> Result<BorderOrder, Refusal> {
    let blob = blob.ok_or(Refusal::NoBlob)?;
    BorderOrder::decode(&blob.0).map_err(|_| Refusal::BadBorder(BorderRefusal::NoOrder))
}

impl State {
    /// Returns what an order about a border changes, or the rule that refuses it.
    pub(super) fn border_change(&self, order: BorderOrder) -> Result<BorderChange, BorderRefusal> {
        match order {
            BorderOrder::Open { head, offices, portal } => {
                self.border_to_open(&head, &offices, portal)
            }
            BorderOrder::Close { neighbour } => self
                .known_border(neighbour)
                .map(|border| BorderChange::Open(neighbour, Box::new(border.clone()), false)),
            BorderOrder::Sever { neighbour } => self.border_to_sever(neighbour),
            BorderOrder::SendHome { neighbour, object } => {
                self.sent_home(neighbour, object).map(BorderChange::SendHome)
            }
        }
    }

    fn known_border(&self, neighbour: SimId) -> Result<&Border, BorderRefusal> {
        self.borders.all.get(&neighbour).ok_or(BorderRefusal::NoBorder)
    }

    fn border_to_open(
        &self,
        head: &GenesisHead,
        offices: &[GenesisHead],
        portal: Option<Vec2>,
    ) -> Result<BorderChange, BorderRefusal> {
        let (square, set) = neighbour_of(self, head, offices)?;
        let neighbour = head.id();
        self.check_way(neighbour, square, portal)?;
        let mut border = match self.borders.all.get(&neighbour) {
            Some(border) if border.frozen => return Err(BorderRefusal::Frozen),
            // Numbers go on: what the neighbour judged before is never judged again.
            Some(border) => border.clone(),
            None if self.borders.all.len() >= BORDERS_MAX => {
                return Err(BorderRefusal::TooMany);
            }
            None => Border::new(square, &set),
        };
        border.crossing.said.portal = portal;
        Ok(BorderChange::Open(neighbour, Box::new(border), true))
    }

    /// Checks that one can go to a neighbour on a square: over the line, or through a portal at this place.
    fn check_way(
        &self,
        neighbour: SimId,
        square: Square,
        portal: Option<Vec2>,
    ) -> Result<(), BorderRefusal> {
        let own = self.charter.site.ok_or(BorderRefusal::OtherWorld)?.square;
        let line = BorderWay::between(own, square, None);
        let Some(middle) = portal else {
            return line.map(|_| ()).ok_or(BorderRefusal::Apart);
        };
        if line.is_some() {
            return Err(BorderRefusal::Touching);
        }
        if !Portal::fits(middle, self.charter.parameters.ground) {
            return Err(BorderRefusal::PortalOutside);
        }
        let is_taken = |(sim, border): (&SimId, &Border)| {
            // One that is closed holds no place: it is looked at again when it opens.
            let is_open = border.crossing.said.open && !border.frozen && *sim != neighbour;
            let other = border.crossing.said.portal.filter(|_| is_open);
            other.is_some_and(|other| other.distance(middle) < Fx::from_int(PORTALS_APART_METRES))
        };
        if self.borders.all.iter().any(is_taken) {
            return Err(BorderRefusal::PortalTaken);
        }
        Ok(())
    }

    fn border_to_sever(&self, neighbour: SimId) -> Result<BorderChange, BorderRefusal> {
        let border = self.known_border(neighbour)?;
        let heard = border.crossing.heard.as_ref().ok_or(BorderRefusal::NotSilent)?;
        if heard.said.taken_up < border.crossing.said.epoch {
            return Err(BorderRefusal::Severed);
        }
        if self.clock.time.since(heard.at) < SILENCE_MS {
            return Err(BorderRefusal::NotSilent);
        }
        Ok(BorderChange::Sever(neighbour))
    }
}
