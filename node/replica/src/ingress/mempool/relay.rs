//! Handing acts on to the other servers: in the order of their lanes, and no faster than these read.

use std::time::Duration;

use metatopia_protocol::Submission;
use metatopia_types::{ActId, Height, PublicKey};

use super::{ActSource, Mempool, Pending};
use crate::FOLLOWER_FRAMES_PER_SECOND;

/// Acts that a server hands on in a second. What its clients say beyond waits for the next turns, or
/// until the server proposes it itself: a quarter of all turns of four servers hold 5,120 acts a
/// second. Lanes read twice as many frames of a peer.
pub const RELAYED_PER_SECOND: u32 = 4_096;

/// The same of a follower: four fifths of what servers hear of one ([`FOLLOWER_FRAMES_PER_SECOND`]); its
/// questions need some as well.
pub const FOLLOWER_RELAYED_PER_SECOND: u32 = 1_024;
const _: () = assert!(FOLLOWER_RELAYED_PER_SECOND < FOLLOWER_FRAMES_PER_SECOND);

/// Acts that are handed over at once to a server that comes up: with their blobs at most 1.5 MiB, and 3 MiB
/// of source, half of what may wait to be sent to it. A full pool would end the new connection, and the next.
pub const HANDED_OVER_MAX: usize = 1_024;

/// An act of a client that waits for so many turns, a second of them, is handed on to the other
/// servers once more: one of them may have had no room for it, or have lost it.
pub const AGAIN_TURNS: u64 = 20;

/// Acts that are handed on once more after one turn, lest a full pool repeats all it has.
pub const HANDED_AGAIN_MAX: usize = 16;

/// So far may a server be ahead of that: a quarter of a second, in which a thousand acts may come at
/// once.
pub(crate) const RELAYED_AHEAD: Duration = Duration::from_millis(250);

/// So far ahead may what is handed over bring a server: half of that. Each peer hears only what is handed
/// over to itself, so it does not add up; and a peer that connects again and again leaves the other half,
/// which fills up at the full rate, to new acts.
pub(crate) const HANDED_OVER_AHEAD: Duration = Duration::from_millis(125);

impl Mempool {
    /// Returns an act of a client that just came, for the other servers. Returns none if the act has to
    /// wait for [`overdue`](Self::overdue), because the rate is used up, or because other acts wait. It
    /// must not overtake those: a later act of a lane that is proposed first shuts out the earlier ones.
    pub fn hand_on(
        &mut self,
        act: &ActId,
        height: Height,
        mut may: impl FnMut() -> bool,
    ) -> Option<Submission> {
        let pending = self.pending.get(act)?;
        let others = self.not_handed_on - usize::from(pending.handed_on.is_none());
        let handed_on = (others == 0 && may()).then_some(height);
        self.mark_handed_on(act, handed_on);
        handed_on.and_then(|_| Some(self.pending.get(act)?.submission.clone()))
    }

    /// Returns acts of clients for the other servers: all that had to wait, as far as the rate allows,
    /// and at most [`HANDED_AGAIN_MAX`] that were handed on [`AGAIN_TURNS`] ago. Takes one of each
    /// author in turn, and those of an author in the order of their lanes. The next call begins with the
    /// author at which this one ended.
    pub fn overdue(&mut self, height: Height, mut may: impl FnMut() -> bool) -> Vec<Submission> {
        let mut again = 0;
        let mut queues: Vec<(PublicKey, Vec<ActId>)> = Vec::new();
        let rotation = self.authors.range(self.next_handed_on..);
        for (author, lanes) in rotation.chain(self.authors.range(..self.next_handed_on)) {
            let due = lanes.values().rev().filter(|id| match self.pending.get(*id) {
                Some(Pending { source: ActSource::Server, .. }) | None => false,
                Some(Pending { handed_on: None, .. }) => true,
                Some(Pending { handed_on: Some(handed_on), .. }) => {
                    handed_on.0.saturating_add(AGAIN_TURNS) <= height.0
                }
            });
            let due: Vec<ActId> = due.copied().collect();
            if !due.is_empty() {
                queues.push((*author, due));
            }
        }
        let mut overdue = Vec::new();
        'used_up: while !queues.is_empty() {
            for (author, queue) in &mut queues {
                let Some(pending) = queue.last().and_then(|id| self.pending.get(id)) else {
                    continue;
                };
                if pending.handed_on.is_some() {
                    again += 1;
                }
                if pending.handed_on.is_some() && again > HANDED_AGAIN_MAX {
                    queue.clear();
                } else if may() {
                    overdue.extend(queue.pop());
                } else {
                    self.next_handed_on = *author;
                    break 'used_up;
                }
            }
            queues.retain(|(_, queue)| !queue.is_empty());
        }
        for act in &overdue {
            self.mark_handed_on(act, Some(height));
        }
        let submission = |act: &ActId| Some(self.pending.get(act)?.submission.clone());
        overdue.iter().filter_map(submission).collect()
    }

    /// Returns the acts for a peer that connected: those of `own`, this server, then those of clients,
    /// and those of other servers if `all`. The acts of a lane keep their order. Acts of clients beyond
    /// [`HANDED_OVER_MAX`] become [`overdue`](Self::overdue).
    pub fn hand_over(&mut self, own: PublicKey, all: bool) -> Vec<Submission> {
        let first = self.authors.get_key_value(&own);
        let others = self.authors.iter().filter(|(author, _)| **author != own);
        let acts = first.into_iter().chain(others).flat_map(|(_, lanes)| lanes.values().copied());
        let (mut submissions, mut left) = (Vec::new(), Vec::new());
        for act in acts {
            let Some(Pending { submission, source, .. }) = self.pending.get(&act) else {
                continue;
            };
            let is_clients = matches!(source, ActSource::Client(_));
            if !(all || is_clients || submission.act.envelope.author == own) {
                continue;
            }
            if submissions.len() < HANDED_OVER_MAX {
                submissions.push(submission.clone());
            } else if is_clients {
                left.push(act);
            }
        }
        left.iter().for_each(|act| self.mark_handed_on(act, None));
        submissions
    }

    /// Notes when an act was handed on last, or that it still has to be.
    fn mark_handed_on(&mut self, act: &ActId, handed_on: Option<Height>) {
        if let Some(pending) = self.pending.get_mut(act) {
            self.not_handed_on -= usize::from(pending.handed_on.is_none());
            self.not_handed_on += usize::from(handed_on.is_none());
            pending.handed_on = handed_on;
        }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::SteadyRate;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// It was counted by turns, of which who catches up applies hundreds in a second.
    #[test]
    fn no_more_are_handed_on_in_a_second_than_may_be_however_often_it_is_tried() {
        for per_second in [RELAYED_PER_SECOND, FOLLOWER_RELAYED_PER_SECOND] {
            let (mut rate, takes) = (SteadyRate::default(), SECOND / per_second);
            let mut handed_on = 0;
            for ms in 0..10_000 {
                while rate.take(takes, RELAYED_AHEAD, Duration::from_millis(ms)) {
                    handed_on += 1;
                }
            }
            let most = 10 * per_second + per_second / 4;
            assert!(handed_on <= most && handed_on + 8 > most, "{handed_on} of {most}");
        }
    }

    #[test]
    fn what_was_handed_over_counts_as_half_of_what_may_come_at_once() {
        let (mut rate, per_second) = (SteadyRate::default(), FOLLOWER_RELAYED_PER_SECOND);
        let takes = SECOND / per_second;
        rate.spend(takes * HANDED_OVER_MAX as u32, HANDED_OVER_AHEAD, Duration::ZERO);

        let may = |_: &u32| rate.take(takes, RELAYED_AHEAD, Duration::ZERO);
        assert_eq!((0..per_second).take_while(may).count(), per_second as usize / 8);
    }

    /// A peer that connected anew twenty times a second used up the rate of its server for ever.
    #[test]
    fn peers_that_connect_again_and_again_leave_the_rate_to_new_acts() {
        for per_second in [RELAYED_PER_SECOND, FOLLOWER_RELAYED_PER_SECOND] {
            let (mut rate, takes) = (SteadyRate::default(), SECOND / per_second);
            let mut handed_on = 0;
            for ms in 0..10_000 {
                let now = Duration::from_millis(ms);
                rate.spend(takes * HANDED_OVER_MAX as u32, HANDED_OVER_AHEAD, now);
                while rate.take(takes, RELAYED_AHEAD, now) {
                    handed_on += 1;
                }
            }
            assert!(handed_on >= 10 * per_second, "{handed_on} in ten seconds");
        }
    }
}
