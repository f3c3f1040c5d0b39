//! What couriers bring: checked against this server's own state before it waits for a turn.

use std::mem;

use metatopia_protocol::{Answer, BorderEntry, BorderStanding, HandInRefusal, HandedDispatch};
use metatopia_sim::{BorderSummary, World};
use metatopia_types::{
    Dispatch, HearRefusal, Height, Parcel, PublicKey, Said, SimId,
    limits::{BLOB_BYTES_MAX, ROOT_LAG},
};

use super::{Ingress, courier};
use crate::{BorderWatch, Effect, context::ReplicaContext};

/// Dispatches that people may hand in between two turns, each by another key: to check one takes up to 21 signatures
/// of 31 servers, 1.3 ms.
pub const HAND_INS_PER_TURN_MAX: usize = 8;

impl Ingress {
    /// Takes what a courier heard of a neighbour. Of each border only the newest waits to be checked.
    pub(crate) fn dispatch(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        neighbour: SimId,
        dispatch: Vec<u8>,
    ) {
        let is_border = self.borders.iter().any(|border| border.neighbour == neighbour);
        if is_border && dispatch.len() <= BLOB_BYTES_MAX {
            self.unchecked.insert(neighbour, dispatch);
            self.check_dispatches(ctx);
        }
    }

    /// Takes what somebody hands in of what a neighbour says, if this server's own courier hears nothing of it.
    pub(crate) fn hand_in(
        &mut self,
        ctx: &ReplicaContext<'_>,
        by: Option<PublicKey>,
        handed: &HandedDispatch,
    ) -> Answer {
        let HandedDispatch { neighbour, dispatch } = handed;
        let refused = |why| Answer::HandedIn(Err(why));
        if !ctx.agreement.is_member(&ctx.own_key()) {
            return refused(HandInRefusal::NoServer);
        }
        let Some(border) = self.borders.iter().find(|border| border.neighbour == *neighbour) else {
            return refused(HandInRefusal::Hear(HearRefusal::NoBorder));
        };
        if self.ledger.courier.is_told(neighbour) {
            return refused(HandInRefusal::Heard);
        }
        let Ok(read) = Dispatch::decode(dispatch) else {
            return refused(HandInRefusal::Hear(HearRefusal::NoDispatch));
        };
        // Beside changes of validators a parcel may not fit.
        if let Some(state) = read.state.as_ref().filter(|_| read.links.is_empty())
            && let Ok(said) = Said::decode(&state.said.content)
            && lacks_parcel(&said, &state.parcels, border.judged)
        {
            return refused(HandInRefusal::NoParcel);
        }
        let Some(world) = ctx.execution.world() else { return Answer::Busy };
        let by = by.unwrap_or_else(|| ctx.own_key());
        // Signatures come last, and cost the most.
        if self.handed_in.len() >= HAND_INS_PER_TURN_MAX || !self.handed_in.insert(by) {
            return Answer::Busy;
        }
        if let Err(why) = world.check_dispatch(*neighbour, &read) {
            return refused(HandInRefusal::Hear(why));
        }
        self.ledger.courier.keep(*neighbour, courier::reach(&read), dispatch.clone());
        Answer::HandedIn(Ok(()))
    }

    /// Checks what couriers brought, if the world is at hand, and keeps what is worth a turn.
    pub(super) fn check_dispatches(&mut self, ctx: &mut ReplicaContext<'_>) {
        let Some(world) = ctx.execution.world() else { return };
        let mut refused = Vec::new();
        for (neighbour, bytes) in mem::take(&mut self.unchecked) {
            let decoded = Dispatch::decode(&bytes).map_err(|_| HearRefusal::NoDispatch);
            let height = decoded.as_ref().map(courier::reach).ok();
            let checked = decoded.and_then(|dispatch| world.check_dispatch(neighbour, &dispatch));
            let border = self.borders.iter().find(|border| border.neighbour == neighbour);
            let reached = border.map_or(Height(0), |border| border.reached);
            // What is older than what the sim has heard is refused before its signatures are looked at.
            let is_told = match checked {
                Ok(_) => true,
                Err(why) => why == HearRefusal::NothingNew && height >= Some(reached),
            };
            if let Some(height) = height.filter(|_| is_told) {
                self.ledger.courier.told(neighbour, height);
                self.unheard.remove(&neighbour);
            }
            match (checked, height) {
                (Ok(_), Some(height)) => self.ledger.courier.keep(neighbour, height, bytes),
                (Err(_), Some(height)) if self.ledger.controls.tells_unheard => {
                    self.ledger.courier.keep(neighbour, height, bytes)
                }
                // Another server told it first.
                (Err(HearRefusal::NothingNew), _) => {}
                (Err(why), _) => refused.push((neighbour, why)),
                (Ok(_), None) => unreachable!("what was checked was decoded"),
            }
        }
        for (neighbour, why) in refused {
            self.unheard.insert(neighbour, why);
            ctx.emit(Effect::DispatchRefused { neighbour, why: why.to_string() });
        }
    }

    /// Says of each border that is a wall why this server does not hear what the neighbour's nodes answer, if that is
    /// so: of a neighbour that speaks in vain a sim knows only that it is silent. Of one that signed two states the
    /// wall itself says so.
    pub(crate) fn name_unheard(&self, borders: &mut [BorderEntry]) {
        for border in borders {
            if let BorderStanding::Wall(why) = &mut border.standing
                && let Some(refusal) = self.unheard.get(&border.neighbour)
                && *refusal != HearRefusal::Frozen
            {
                why.push_str(&format!("; what its nodes answer is refused here: {refusal}"));
            }
        }
    }

    /// Takes what an applied turn made of the borders: forgets what is no news any more, and says which
    /// neighbours are to be asked, if that changed. Servers ask, because only they can tell.
    pub(super) fn watch_borders(&mut self, ctx: &mut ReplicaContext<'_>, world: &World) {
        self.handed_in.clear();
        let borders = world.borders();
        if borders.is_empty() && self.borders.is_empty() {
            return;
        }
        let reached = borders.iter().map(|border| (border.neighbour, reached(border)));
        self.ledger.courier.forget_heard(&reached.collect());
        let is_server = ctx.agreement.is_member(&ctx.own_key());
        let watch = |border: &BorderSummary| border_watch(world, border);
        let watched: Vec<BorderWatch> = match is_server {
            true => borders.iter().map(watch).collect(),
            false => Vec::new(),
        };
        if watched != self.borders {
            self.borders.clone_from(&watched);
            let is_watched = |sim: &SimId| watched.iter().any(|one| one.neighbour == *sim);
            self.unchecked.retain(|sim, _| is_watched(sim));
            self.unheard.retain(|sim, _| is_watched(sim));
            ctx.emit(Effect::Borders(watched));
        }
    }
}

/// Says whether what a neighbour says comes without the parcel of its first departure that was not judged here.
fn lacks_parcel(said: &Said, parcels: &[Vec<u8>], judged: u64) -> bool {
    let first = said.departures.iter().find(|departure| departure.number >= judged);
    first.is_some_and(|first| parcels.iter().all(|parcel| Parcel::digest(parcel) != first.parcel))
}

/// Returns up to which header a neighbour was heard of, or its validators were followed.
fn reached(border: &BorderSummary) -> Height {
    let heard = border.heard.map(|(height, _)| height.plus(ROOT_LAG));
    heard.unwrap_or_default().max(border.followed)
}

/// Returns what the courier of a border must know.
fn border_watch(world: &World, border: &BorderSummary) -> BorderWatch {
    let said = world.border(&border.neighbour).map(|border| &border.crossing.said);
    BorderWatch {
        neighbour: border.neighbour,
        followed: border.followed,
        validators: border.validators.clone(),
        judged: said.map_or(0, |said| said.in_next),
        reached: reached(border),
        is_near: border.near + border.under_way + border.verdicts + border.pinned > 0,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{BorderDeparture, Millis, Traveller};

    use super::*;

    /// Whoever handed in the newest state without its parcels kept all from crossing until their deadlines.
    #[test]
    fn the_first_departure_that_was_not_judged_comes_with_its_parcel() {
        let parcel = |n: u8| vec![n; 9];
        let departure = |n: u8| BorderDeparture {
            number: n.into(),
            traveller: Traveller::Person(PublicKey([n; 32])),
            until: Millis(0),
            parcel: Parcel::digest(&parcel(n)),
        };
        let said = Said { departures: [3, 4, 5].map(departure).into(), ..Said::nothing() };
        assert!(lacks_parcel(&said, &[], 0) && lacks_parcel(&said, &[parcel(4)], 3));
        assert!(!lacks_parcel(&said, &[parcel(3)], 3), "the rest may not fit");
        assert!(!lacks_parcel(&said, &[parcel(4)], 4) && !lacks_parcel(&said, &[], 6));
    }
}
