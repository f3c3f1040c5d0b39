//! Handing acts on to the other servers: in the order of their lanes, and no faster than these read.

use metatopia_protocol::Submission;
use metatopia_types::{ActId, Height, PublicKey, Seq};

use super::{Mempool, Origin, Pending};
use crate::GUEST_FRAMES_PER_SECOND;

/// Acts that a server hands on in a second. What its clients say beyond waits for the next turns, or
/// until the server proposes it itself: a quarter of all turns of four servers hold 5,120 acts a
/// second. Lanes read twice as many frames of a peer.
pub const RELAYED_PER_SECOND: u64 = 4_096;

/// The same of a follower: four fifths of what servers hear of one ([`GUEST_FRAMES_PER_SECOND`]); its
/// questions need some as well.
pub const FOLLOWER_RELAYED_PER_SECOND: u64 = 1_024;
const _: () = assert!(FOLLOWER_RELAYED_PER_SECOND < GUEST_FRAMES_PER_SECOND as u64);

/// Acts that are handed over at once to a server that comes up: with their blobs at most 1.5 MiB, a
/// fifth of what may wait to be sent to it. A full pool would end the new connection, and the next.
pub const HANDED_OVER_MAX: u64 = 1_024;

/// An act of a client that waits for so many turns, a second of them, is handed on to the other
/// servers once more: one of them may have had no room for it, or have lost it.
pub const AGAIN_TURNS: u64 = 20;

/// Acts that are handed on once more after one turn, lest a full pool repeats all it has.
pub const HANDED_AGAIN_MAX: usize = 16;

/// How many acts may still be handed on before the next turn.
#[derive(Debug)]
pub struct Ration(u64);

impl Ration {
    /// That of a turn of so many milliseconds. None is saved up over turns: what counts is the pace
    /// at which the others read.
    #[must_use]
    pub const fn of_turn(turn_length: u64, per_second: u64) -> Self {
        let acts = per_second.saturating_mul(turn_length) / 1_000;
        Self(if acts == 0 { 1 } else { acts })
    }

    const fn take(&mut self) -> bool {
        let is_left = self.0 > 0;
        self.0 = self.0.saturating_sub(1);
        is_left
    }
}

impl Mempool {
    /// An act of a client that just came, for the other servers. Nothing if it has to wait: the
    /// ration is used up, or an act of its lane waits that it would shut out.
    pub fn hand_on(
        &mut self,
        act: &ActId,
        height: Height,
        ration: &mut Ration,
    ) -> Option<Submission> {
        let envelope = &self.pending.get(act)?.submission.act.envelope;
        let (lane, seq) = (envelope.lane, envelope.seq);
        let mut before = self.authors.get(&envelope.author)?.range((lane, Seq(0))..(lane, seq));
        if before.any(|(_, id)| self.pending.get(id).is_some_and(Pending::is_untold)) {
            return None;
        }
        let pending = self.pending.get_mut(act)?;
        ration.take().then(|| pending.tell(height))
    }

    /// Acts of clients for the other servers, those of a lane in their order: all that had to wait, as
    /// far as the ration goes, and at most [`HANDED_AGAIN_MAX`] that have waited for [`AGAIN_TURNS`]
    /// since the others were told of them.
    pub fn overdue(&mut self, height: Height, ration: &mut Ration) -> Vec<Submission> {
        let Self { authors, pending, next_author, .. } = self;
        let rotation = authors.range(*next_author..).chain(authors.range(..*next_author));
        let (mut overdue, mut again) = (Vec::new(), 0);
        for id in rotation.flat_map(|(_, lanes)| lanes.values()) {
            let clients = pending.get_mut(id).filter(|p| matches!(p.origin, Origin::Client(_)));
            let Some(pending) = clients else {
                continue;
            };
            let is_due = match pending.handed_on {
                None => ration.take(),
                Some(told) if told.0.saturating_add(AGAIN_TURNS) <= height.0 => {
                    again += 1;
                    again <= HANDED_AGAIN_MAX
                }
                Some(_) => false,
            };
            if is_due {
                overdue.push(pending.tell(height));
            }
        }
        overdue
    }

    /// What a server that comes up is told of: the acts of `own`, this server, and then those of
    /// clients, and of other servers if `all`; those of a lane in their order, because a later one
    /// that is proposed first shuts out the earlier ones. Acts of clients beyond
    /// [`HANDED_OVER_MAX`] become [`overdue`](Self::overdue).
    pub fn hand_over(&mut self, own: PublicKey, all: bool) -> Vec<Submission> {
        let Self { authors, pending, .. } = self;
        let first = authors.get_key_value(&own);
        let others = authors.iter().filter(|(author, _)| **author != own);
        let mut ration = Ration(HANDED_OVER_MAX);
        let mut submissions = Vec::new();
        for (author, id) in first
            .into_iter()
            .chain(others)
            .flat_map(|(author, lanes)| lanes.values().map(move |id| (author, id)))
        {
            let Some(pending) = pending.get_mut(id) else {
                continue;
            };
            let is_clients = matches!(pending.origin, Origin::Client(_));
            if !(all || is_clients || *author == own) {
                continue;
            }
            if ration.take() {
                submissions.push(pending.submission.clone());
            } else if is_clients {
                pending.handed_on = None;
            }
        }
        submissions
    }
}

impl Pending {
    /// Does it wait to be handed on?
    const fn is_untold(&self) -> bool {
        self.handed_on.is_none()
    }

    fn tell(&mut self, height: Height) -> Submission {
        self.handed_on = Some(height);
        self.submission.clone()
    }
}
