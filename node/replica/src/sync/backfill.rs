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

use metatopia_consensus::{Agreement, Decision};
use metatopia_protocol::{Answer, Question};
use metatopia_types::{Certificate, Height, Now, PublicKey, Turn, ValidatorSet, wire};

use super::{SyncContext, state_sync::OWN};
#[cfg(feature = "controls")]
use crate::Controls;
use crate::{Effect, FETCH_PAUSE, Gaps, PeerMessage, RECALL_HEIGHTS, members::ConnectedPeers};

/// Most turns that are put back at once: a minute of 20 turns a second, in one file.
pub const FILL_TURNS_MAX: u64 = 1_200;

/// Bytes of turns that are put back at once, unless a single turn is longer: 1 MiB.
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
pub(super) const FILLING: u32 = 1 << 30;

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
pub(super) struct Backfill {
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
    /// Breaks a rule: turns that came are not put back.
    nothing_is_put_back: bool,
}

impl Backfill {
    /// Breaks a rule from now on.
    #[cfg(feature = "controls")]
    pub(super) const fn break_rules(&mut self, controls: Controls) {
        self.nothing_is_put_back = controls.nothing_is_put_back;
    }

    /// Returns whether turns are missing whose acts clients may still send again. `height` is the last
    /// decided one.
    pub(super) fn lacks_recent_turns(&self, height: Height) -> bool {
        self.gaps.newest.first().is_some_and(|gap| gap.last.plus(RECALL_HEIGHTS) > height)
    }

    /// Returns the missing turns, for the status.
    pub(super) fn missing_turns(
        &self,
        agreement: &Agreement,
        peers: ConnectedPeers<'_>,
    ) -> Option<Missing> {
        let gap = self.gaps.newest.first()?;
        let mut able = self.providers(agreement, peers).peekable();
        let lacks = |peer: &PublicKey| self.lacking.contains_key(&(gap.last, *peer));
        let unasked = if gap.last < self.provable {
            Some(Unasked::Unprovable)
        } else if able.peek().is_none() {
            Some(Unasked::NoPeer)
        } else {
            able.all(lacks).then_some(Unasked::NobodyHas)
        };
        let turns = self.gaps.turns;
        Some(Missing { turns, first: gap.first, last: gap.last, unasked })
    }

    /// Takes the gaps that the keeper reports.
    pub(super) fn gaps(&mut self, ctx: &mut SyncContext<'_>, gaps: Gaps) {
        if self.is_putting && gaps == self.gaps {
            // They were not put back: there may be no room.
            self.rests = ctx.now.monotonic + FETCH_PAUSE;
        }
        self.is_putting = false;
        self.gaps = gaps;
        let fits = |batch: &Batch| {
            let first = batch.proved.front().map_or(batch.next, Decision::height);
            self.gaps.ending(batch.last).is_some_and(|gap| gap.first <= first)
        };
        if !self.batch.as_ref().is_some_and(fits) {
            self.batch = None;
            self.asked = None;
        }
        self.look_at_voters(ctx);
    }

    /// Returns when to continue, in monotonic time.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let provable = self.gaps.newest.first().is_some_and(|gap| gap.last >= self.provable);
        if !provable || self.is_putting {
            return None;
        }
        Some(self.asked.map_or(self.rests, |since| since + PATIENCE))
    }

    /// Asks for missing turns or proves them. Runs whenever that is due.
    pub(super) fn fill(&mut self, ctx: &mut SyncContext<'_>) {
        if self.asked.take().is_some() {
            self.rest(ctx.now);
        }
        match &self.batch {
            Some(batch) if !batch.came.is_empty() => self.prove(ctx),
            _ => self.ask_for_turns(ctx),
        }
    }

    fn ask_for_turns(&mut self, ctx: &mut SyncContext<'_>) {
        let now = ctx.now.monotonic;
        self.resting.retain(|_, until| *until > now);
        self.lacking.retain(|_, until| *until > now);
        self.rests = now + ASK_PAUSE;
        // Of one that went another peer's turns are no part.
        self.batch.take_if(|batch| !ctx.peers.contains(&batch.from));
        if let Some(batch) = &self.batch
            && now >= batch.since + BATCH_PATIENCE
        {
            let came = batch.next.0.saturating_sub(batch.first.0);
            self.turns = Some((came / 2).max(1));
            self.rest(ctx.now);
        }
        if self.batch.is_none() {
            self.begin_batch(ctx);
        }
        let busy = |batch: &Batch| self.resting.get(&batch.from).copied();
        let Some(batch) = self.batch.as_ref().filter(|batch| busy(batch).is_none()) else {
            // It is waited for; or all rest, or lie, and others may come up.
            let first = self.batch.as_ref().and_then(busy);
            let all = self.resting.values().chain(self.lacking.values());
            let first = first.or_else(|| all.min().copied());
            self.rests = first.unwrap_or(now + LACKS_PAUSE);
            return;
        };
        self.number = self.number.wrapping_add(1) & !(OWN | FILLING);
        self.asked = Some(now);
        let (id, to, from) = (OWN | FILLING | self.number, batch.from, batch.next);
        let question = Box::new(Question::Turns { from });
        let frame = PeerMessage::Ask { id, question }.encode();
        ctx.out.emit(Effect::ToPeer { to: Some(to), frame });
    }

    /// Begins a batch with the newest missing turns for which a peer may be asked.
    fn begin_batch(&mut self, ctx: &mut SyncContext<'_>) {
        self.look_at_voters(ctx);
        let provable = self.gaps.newest.iter().take_while(|gap| gap.last >= self.provable);
        let asked = { provable }.find_map(|gap| Some((gap, self.next_provider(ctx, gap.last)?)));
        let Some((gap, from)) = asked else {
            return;
        };
        let turns = self.turns.unwrap_or(FILL_TURNS_MAX).min(FILL_TURNS_MAX);
        let first = gap.last.plus(1).minus(turns).unwrap_or_default();
        let (first, last) = (first.max(gap.first).max(self.provable), gap.last);
        self.batch = Some(Batch {
            from,
            since: ctx.now.monotonic,
            first,
            next: first,
            last,
            proved: VecDeque::new(),
            bytes: 0,
            came: VecDeque::new(),
        });
        self.last = Some(from);
    }

    /// Returns the peers that may be asked for turns.
    fn providers<'a>(
        &'a self,
        agreement: &'a Agreement,
        peers: ConnectedPeers<'a>,
    ) -> impl Iterator<Item = &'a PublicKey> {
        peers.servers(agreement).filter(|peer| !self.liars.contains(*peer))
    }

    /// Returns the peer to ask for the last turns of the gap that ends with this height. Peers rotate.
    fn next_provider(&self, ctx: &SyncContext<'_>, last: Height) -> Option<PublicKey> {
        let rests = |peer: &PublicKey| {
            self.resting.contains_key(peer) || self.lacking.contains_key(&(last, *peer))
        };
        let able = self.providers(ctx.agreement, ctx.peers).copied();
        let able: Vec<PublicKey> = able.filter(|peer| !rests(peer)).collect();
        let after = able.iter().find(|peer| self.last.is_none_or(|last| **peer > last));
        after.or(able.first()).copied()
    }

    /// Takes the answer of a peer.
    pub(super) fn answer(&mut self, now: Now, from: PublicKey, number: u32, answer: Answer) {
        let ours = |batch: &&mut Batch| batch.from == from && self.number == number;
        let asked = self.asked.is_some();
        let Some(batch) = self.batch.as_mut().filter(ours).filter(|_| asked) else {
            return;
        };
        self.asked = None;
        match answer {
            Answer::Turns(turns) if !turns.is_empty() => {
                let wanted = batch.last.0.saturating_sub(batch.next.0).saturating_add(1);
                let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
                batch.came = turns.into_iter().take(wanted).collect();
                self.rests = now.monotonic;
            }
            // It has the newer ones of them: with those the batch begins anew.
            Answer::Pruned { oldest } if batch.next < oldest && oldest <= batch.last => {
                (batch.first, batch.next) = (oldest, oldest);
                (batch.proved, batch.bytes) = (VecDeque::new(), 0);
            }
            Answer::Busy => {
                self.batch.take_if(|batch| batch.proved.is_empty());
                self.resting.insert(from, now.monotonic + BUSY_PAUSE);
            }
            _ => self.lacks(now),
        }
    }

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
