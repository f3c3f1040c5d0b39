//! What couriers bring: checked against this server's own state before it waits for a turn.

use std::mem;

use metatopia_protocol::{Answer, HandInRefusal, HandedDispatch};
use metatopia_sim::{BorderSummary, World};
use metatopia_types::{
    Dispatch, HearRefusal, Height, SimId,
    limits::{BLOB_BYTES_MAX, ROOT_LAG},
};

use super::{Ingress, courier};
use crate::{BorderWatch, Effect, context::ReplicaContext};

/// Dispatches that people may hand in between two turns: to check one takes a signature at least, 60 us.
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
    pub(crate) fn hand_in(&mut self, ctx: &ReplicaContext<'_>, handed: &HandedDispatch) -> Answer {
        let HandedDispatch { neighbour, dispatch } = handed;
        let neighbour = *neighbour;
        let refused = |why| Answer::HandedIn(Err(why));
        if !ctx.agreement.is_member(&ctx.own_key()) {
            return refused(HandInRefusal::NoServer);
        }
        if self.ledger.courier.is_told(&neighbour) {
            return refused(HandInRefusal::Heard);
        }
        let Some(world) = ctx.execution.world().filter(|_| self.handed_in < HAND_INS_PER_TURN_MAX)
        else {
            return Answer::Busy;
        };
        self.handed_in += 1;
        let checked = Dispatch::decode(dispatch)
            .map_err(|_| HearRefusal::NoDispatch)
            .and_then(|read| world.check_dispatch(neighbour, &read).map(|_| courier::reach(&read)));
        let height = match checked {
            Ok(height) => height,
            Err(why) => return refused(HandInRefusal::Hear(why)),
        };
        self.ledger.courier.keep(neighbour, height, dispatch.clone());
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
            if let (Ok(_) | Err(HearRefusal::NothingNew), Some(height)) = (&checked, height) {
                self.ledger.courier.told(neighbour, height);
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
            ctx.emit(Effect::DispatchRefused { neighbour, why: why.to_string() });
        }
    }

    /// Takes what an applied turn made of the borders: forgets what is no news any more, and says which
    /// neighbours are to be asked, if that changed. Servers ask, because only they can tell.
    pub(super) fn watch_borders(&mut self, ctx: &mut ReplicaContext<'_>, world: &World) {
        self.handed_in = 0;
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
            self.unchecked.retain(|sim, _| watched.iter().any(|one| one.neighbour == *sim));
            ctx.emit(Effect::Borders(watched));
        }
    }
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
        judged: said.map_or(0, |said| said.in_next),
        reached: reached(border),
        is_near: border.near + border.under_way + border.verdicts + border.pinned > 0,
    }
}
