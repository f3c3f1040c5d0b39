//! Backfill: turns that this server should keep and lacks, fetched from peers and put back.
//!
//! A log lacks turns when a damaged part of it was put aside, or when the server went on from a state
//! that it fetched. Its keeper names what is missing ([`Input::Gaps`](crate::Input::Gaps)); this asks
//! for a batch of the last of one gap, page by page, and hands it over once it is proved
//! ([`Effect::PutBack`]). The newest come first: those are the ones that clients ask about. An older
//! gap has its turn while every peer that is there lacks the newer one, too.
//!
//! A batch is asked of one peer, the next one of another, so that what does not fit together is that
//! peer's fault. It is done in the background: few signatures at once, one question at a time, and a
//! pause before the next. Turns that cannot be proved here are not asked for.

mod proof;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use metatopia_consensus::Decision;
use metatopia_protocol::{Answer, Question};
use metatopia_types::{Certificate, Height, Now, PublicKey, Turn, ValidatorSet, wire};

use crate::{Effect, FETCH_PAUSE, Gaps, PeerMessage, RECALL_HEIGHTS, Replica, state_sync::OWN};

/// Most turns that are put back at once: a minute of 20 turns a second, in one file.
pub const FILL_TURNS_MAX: u64 = 1_200;

/// Of turns that are put back at once so many bytes, or one turn: 1 MiB.
pub const FILL_BYTES_MAX: usize = 1 << 20;

/// Between two questions: four pages a second are 512 KiB, a busy hour in a few minutes.
const ASK_PAUSE: Duration = Duration::from_millis(250);

/// Signatures that are checked at once, 2 ms, and the pause before the next.
const SIGNATURES_AT_ONCE: usize = 32;
const CHECK_PAUSE: Duration = Duration::from_millis(20);

/// A peer that says nothing for so long is not waited for, and asked again after [`LACKS_PAUSE`].
const PATIENCE: Duration = Duration::from_secs(5);

/// A batch that is not whole after so long is begun anew, with fewer turns, by another peer.
const BATCH_PATIENCE: Duration = Duration::from_secs(60);

/// A peer that lacks the turns too is asked again after so long: it may be putting them back itself.
const LACKS_PAUSE: Duration = Duration::from_secs(30);

/// One that has too much to do is asked again after so long.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// What the numbers of these questions have besides [`OWN`].
pub(crate) const FILLING: u32 = 1 << 30;

/// The missing turns, as the status shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// How many in all.
    pub turns: u64,
    /// The newest of them that follow each other: the first height.
    pub first: Height,
    /// And the last.
    pub last: Height,
    /// Why these are not asked for, if they are not.
    pub unasked: Option<Unasked>,
}

/// The reason why missing turns are not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unasked {
    /// The voters of that time are not known here any more: the set changes are forgotten.
    Unprovable,
    /// No peer is connected that may be asked.
    NoPeer,
    /// Every connected server lacks them as well. They are asked again now and then.
    NobodyHas,
}

impl Unasked {
    /// Returns the reason as text for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Unprovable => {
                "they cannot be proved: changes of the validators at that time are forgotten"
            }
            Self::NoPeer => "no server is connected that could have them",
            Self::NobodyHas => "every server that is connected lacks them as well",
        }
    }
}

/// A batch of turns that one peer is asked for.
#[derive(Debug)]
struct Batch {
    /// The peer that is asked for them, and since when.
    from: PublicKey,
    since: Duration,
    first: Height,
    /// The next of them that is to be proved.
    next: Height,
    last: Height,
    proved: VecDeque<Decision>,
    bytes: usize,
    /// Turns that came and are not proved yet.
    came: VecDeque<(Turn, Certificate)>,
}

/// The backfill of one server. See the module.
#[derive(Debug, Default)]
pub(crate) struct Backfill {
    gaps: Gaps,
    batch: Option<Batch>,
    /// A question is under way, since when; and its number.
    asked: Option<Duration>,
    number: u32,
    /// Turns were handed over, and the keeper has not said yet what is missing now.
    is_putting: bool,
    /// Turns that the next batch should have.
    turns: Option<u64>,
    /// No question is sent before this time.
    rests: Duration,
    /// Peers that are not asked before: they say nothing, or have too much to do.
    resting: BTreeMap<PublicKey, Duration>,
    /// Peers that are not asked before for the last turns of the gap that ends with this height: they
    /// lack those, too.
    lacking: BTreeMap<(Height, PublicKey), Duration>,
    /// Peers that gave what is not so: they are asked for nothing more.
    liars: BTreeSet<PublicKey>,
    /// The peer of the last batch.
    last: Option<PublicKey>,
    /// The first validators, once they were looked for.
    genesis: Option<Option<ValidatorSet>>,
    /// The first height whose voters are known here.
    provable: Height,
    /// The last height of which it was said that it cannot be proved.
    reported_unprovable: Height,
}

impl Replica {
    /// Are turns missing whose acts clients may still send again?
    pub(crate) fn lacks_recent_turns(&self) -> bool {
        let newest = self.backfill.gaps.newest.first();
        newest.is_some_and(|gap| gap.last.plus(RECALL_HEIGHTS) > self.height)
    }

    /// Returns the missing turns, for the status.
    pub(crate) fn missing_turns(&self) -> Option<Missing> {
        let fill = &self.backfill;
        let gap = fill.gaps.newest.first()?;
        let mut able = self.providers().peekable();
        let lacks = |peer: &PublicKey| fill.lacking.contains_key(&(gap.last, *peer));
        let unasked = if gap.last < fill.provable {
            Some(Unasked::Unprovable)
        } else if able.peek().is_none() {
            Some(Unasked::NoPeer)
        } else {
            able.all(lacks).then_some(Unasked::NobodyHas)
        };
        let turns = fill.gaps.turns;
        Some(Missing { turns, first: gap.first, last: gap.last, unasked })
    }

    /// Takes the gaps that the keeper reports.
    pub(crate) fn gaps_are(&mut self, now: Now, gaps: Gaps) {
        let fill = &mut self.backfill;
        if fill.is_putting && gaps == fill.gaps {
            // They were not put back: there may be no room.
            fill.rests = now.monotonic + FETCH_PAUSE;
        }
        fill.is_putting = false;
        fill.gaps = gaps;
        let fits = |batch: &Batch| {
            let first = batch.proved.front().map_or(batch.next, Decision::height);
            fill.gaps.ending(batch.last).is_some_and(|gap| gap.first <= first)
        };
        if !fill.batch.as_ref().is_some_and(fits) {
            (fill.batch, fill.asked) = (None, None);
        }
        self.look_at_voters();
    }

    /// Returns when to continue, in monotonic time.
    pub(crate) fn fill_deadline(&self) -> Option<Duration> {
        let fill = &self.backfill;
        let provable = fill.gaps.newest.first().is_some_and(|gap| gap.last >= fill.provable);
        let idle = !provable || fill.is_putting || self.muted || self.peers.is_empty();
        if idle || self.is_being_replaced() {
            return None;
        }
        Some(fill.asked.map_or(fill.rests, |since| since + PATIENCE))
    }

    /// Asks for missing turns or proves them, if that is due. Runs after every input.
    pub(crate) fn fill(&mut self, now: Now) {
        if self.fill_deadline().is_none_or(|due| now.monotonic < due) {
            return;
        }
        if self.backfill.asked.take().is_some() {
            self.backfill.rest(now);
        }
        match &self.backfill.batch {
            Some(batch) if !batch.came.is_empty() => self.prove(now),
            _ => self.ask_for_turns(now),
        }
    }

    fn ask_for_turns(&mut self, now: Now) {
        let fill = &mut self.backfill;
        fill.resting.retain(|_, until| *until > now.monotonic);
        fill.lacking.retain(|_, until| *until > now.monotonic);
        fill.rests = now.monotonic + ASK_PAUSE;
        // Of one that went another peer's turns are no part.
        fill.batch.take_if(|batch| !self.peers.contains(&batch.from));
        if let Some(batch) = &fill.batch
            && now.monotonic >= batch.since + BATCH_PATIENCE
        {
            let came = batch.next.0.saturating_sub(batch.first.0);
            fill.turns = Some((came / 2).max(1));
            fill.rest(now);
        }
        if fill.batch.is_none() {
            self.begin_batch(now);
        }
        let fill = &mut self.backfill;
        let busy = |batch: &Batch| fill.resting.get(&batch.from).copied();
        let Some(batch) = fill.batch.as_ref().filter(|batch| busy(batch).is_none()) else {
            // It is waited for; or all rest, or lie, and others may come up.
            let first = fill.batch.as_ref().and_then(busy);
            let all = fill.resting.values().chain(fill.lacking.values());
            let first = first.or_else(|| all.min().copied());
            fill.rests = first.unwrap_or(now.monotonic + LACKS_PAUSE);
            return;
        };
        fill.number = fill.number.wrapping_add(1) & !(OWN | FILLING);
        fill.asked = Some(now.monotonic);
        let (id, to, from) = (OWN | FILLING | fill.number, batch.from, batch.next);
        let question = Box::new(Question::Turns { from });
        let frame = PeerMessage::Ask { id, question }.encode();
        self.effects.push_back(Effect::ToPeer { to: Some(to), frame });
    }

    /// Begins a batch with the newest missing turns for which a peer may be asked.
    fn begin_batch(&mut self, now: Now) {
        self.look_at_voters();
        let fill = &self.backfill;
        let provable = fill.gaps.newest.iter().take_while(|gap| gap.last >= fill.provable);
        let asked = { provable }.find_map(|gap| Some((gap, self.next_provider(gap.last)?)));
        let Some((gap, from)) = asked else {
            return;
        };
        let turns = fill.turns.unwrap_or(FILL_TURNS_MAX).min(FILL_TURNS_MAX);
        let first = gap.last.plus(1).minus(turns).unwrap_or_default();
        let (first, last) = (first.max(gap.first).max(fill.provable), gap.last);
        self.backfill.batch = Some(Batch {
            from,
            since: now.monotonic,
            first,
            next: first,
            last,
            proved: VecDeque::new(),
            bytes: 0,
            came: VecDeque::new(),
        });
        self.backfill.last = Some(from);
    }

    /// Returns the peers that may be asked for turns.
    fn providers(&self) -> impl Iterator<Item = &PublicKey> {
        self.peers.iter().filter(|peer| {
            let is_bad = self.backfill.liars.contains(*peer);
            !is_bad && !self.is_follower(peer)
        })
    }

    /// Returns the peer to ask for the last turns of the gap that ends with this height. Peers rotate.
    fn next_provider(&self, last: Height) -> Option<PublicKey> {
        let fill = &self.backfill;
        let rests = |peer: PublicKey| {
            fill.resting.contains_key(&peer) || fill.lacking.contains_key(&(last, peer))
        };
        let able: Vec<PublicKey> = self.providers().copied().filter(|peer| !rests(*peer)).collect();
        let after = able.iter().find(|peer| fill.last.is_none_or(|last| **peer > last));
        after.or(able.first()).copied()
    }

    /// Takes the answer of a peer.
    pub(crate) fn turns_came(&mut self, now: Now, from: PublicKey, number: u32, answer: Answer) {
        let fill = &mut self.backfill;
        let ours = |batch: &&mut Batch| batch.from == from && fill.number == number;
        let asked = fill.asked.is_some();
        let Some(batch) = fill.batch.as_mut().filter(ours).filter(|_| asked) else {
            return;
        };
        fill.asked = None;
        match answer {
            Answer::Turns(turns) if !turns.is_empty() => {
                let wanted = batch.last.0.saturating_sub(batch.next.0).saturating_add(1);
                let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
                batch.came = turns.into_iter().take(wanted).collect();
                fill.rests = now.monotonic;
            }
            // It has the newer ones of them: with those the batch begins anew.
            Answer::Pruned { oldest } if batch.next < oldest && oldest <= batch.last => {
                (batch.first, batch.next) = (oldest, oldest);
                (batch.proved, batch.bytes) = (VecDeque::new(), 0);
            }
            Answer::Busy => {
                fill.batch.take_if(|batch| batch.proved.is_empty());
                fill.resting.insert(from, now.monotonic + BUSY_PAUSE);
            }
            _ => fill.lacks(now),
        }
    }
}

impl Backfill {
    /// Ends the batch, and lets its peer rest.
    fn rest(&mut self, now: Now) {
        if let Some(batch) = self.batch.take() {
            self.resting.insert(batch.from, now.monotonic + LACKS_PAUSE);
        }
    }

    /// Ends the batch, because its peer lacks these turns, too.
    fn lacks(&mut self, now: Now) {
        if let Some(batch) = self.batch.take() {
            self.lacking.insert((batch.last, batch.from), now.monotonic + LACKS_PAUSE);
        }
    }
}

impl Batch {
    fn take(&mut self, turn: Decision) {
        self.next = turn.height().plus(1);
        self.bytes = self.bytes.saturating_add(wire::length(turn.turn.as_ref()));
        self.proved.push_back(turn);
        // The first ones go if it is too much: the next batch brings them.
        while self.bytes > FILL_BYTES_MAX
            && self.proved.len() > 1
            && let Some(first) = self.proved.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(wire::length(first.turn.as_ref()));
        }
    }
}

#[cfg(test)]
mod tests;
