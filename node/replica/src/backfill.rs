//! Turns that this server should keep and lacks, asked of its peers and put back.
//!
//! A log lacks turns when a damaged part of it was put aside, or when the server went on from a state
//! that it fetched. Its keeper names the newest that are missing ([`Input::Gap`](crate::Input::Gap));
//! this asks for a batch of them, page by page, and hands it over once it is proved
//! ([`Effect::PutBack`]). The newest come first: those are the ones that clients ask about.
//!
//! Each turn is proved by its certificate, held against those who voted then, whom the set changes
//! since genesis name; and each names the one before it, up to one that is there. A batch is asked of
//! one peer, the next one of another, so that what does not fit together is that peer's fault. It is
//! done in the background: few signatures at once, one question at a time, and a pause before the next.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{Decision, JoinError, certified};
use metatopia_protocol::{Answer, Question};
use metatopia_sim::Genesis;
use metatopia_types::{Certificate, Height, Now, PublicKey, Turn, ValidatorSet, wire};

use crate::{
    Effect, FETCH_PAUSE, FetchNews, Gap, PeerMessage, RECALL_HEIGHTS, Replica, fetch::Misdeed,
    rescue::OWN, start::outcomes,
};

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

/// Turns on their way.
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
    /// As they came.
    came: VecDeque<(Turn, Certificate)>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Backfill {
    gap: Option<Gap>,
    batch: Option<Batch>,
    /// A question is under way, since when; and its number.
    asked: Option<Duration>,
    number: u32,
    /// Turns were handed over, and the keeper has not said yet what is missing now.
    is_putting: bool,
    /// Turns that the next batch should have.
    turns: Option<u64>,
    /// Nothing is done before.
    rests: Duration,
    /// Peers that are not asked before.
    resting: BTreeMap<PublicKey, Duration>,
    /// Peers that gave what is not so: they are asked for nothing more.
    liars: BTreeSet<PublicKey>,
    /// Who was asked for the last batch.
    last: Option<PublicKey>,
    /// The first validators, once they were looked for.
    genesis: Option<Option<ValidatorSet>>,
}

impl Replica {
    /// Are turns missing whose acts clients may still send again?
    pub(crate) fn lacks_recent_turns(&self) -> bool {
        self.backfill.gap.is_some_and(|gap| gap.last.plus(RECALL_HEIGHTS) > self.height)
    }

    /// The keeper says what is missing.
    pub(crate) fn gap_is(&mut self, now: Now, gap: Option<Gap>) {
        let fill = &mut self.backfill;
        if fill.is_putting && gap.is_some() && gap == fill.gap {
            // They were not put back: there may be no room.
            fill.rests = now.monotonic + FETCH_PAUSE;
        }
        fill.is_putting = false;
        fill.gap = gap;
        let fits = |batch: &Batch| {
            let first = batch.proved.front().map_or(batch.next, Decision::height);
            gap.is_some_and(|gap| gap.last == batch.last && gap.first <= first)
        };
        if !fill.batch.as_ref().is_some_and(fits) {
            (fill.batch, fill.asked) = (None, None);
        }
    }

    /// When to go on with it, in monotonic time.
    pub(crate) fn fill_deadline(&self) -> Option<Duration> {
        let fill = &self.backfill;
        let idle = fill.gap.is_none() || fill.is_putting || self.muted || self.peers.is_empty();
        if idle || self.is_being_replaced() {
            return None;
        }
        Some(fill.asked.map_or(fill.rests, |since| since + PATIENCE))
    }

    /// Does what is due about turns that are missing. Looked at after every input.
    pub(crate) fn fill(&mut self, now: Now) {
        if self.fill_deadline().is_none_or(|due| now.monotonic < due) {
            return;
        }
        if self.backfill.asked.take().is_some() {
            self.backfill.leave(now);
        }
        match &self.backfill.batch {
            Some(batch) if !batch.came.is_empty() => self.prove(now),
            _ => self.ask_for_turns(now),
        }
    }

    fn ask_for_turns(&mut self, now: Now) {
        let fill = &mut self.backfill;
        fill.resting.retain(|_, until| *until > now.monotonic);
        fill.rests = now.monotonic + ASK_PAUSE;
        // Of one that went another peer's turns are no part.
        fill.batch.take_if(|batch| !self.peers.contains(&batch.from));
        if let Some(batch) = &fill.batch
            && now.monotonic >= batch.since + BATCH_PATIENCE
        {
            let came = batch.next.0.saturating_sub(batch.first.0);
            fill.turns = Some((came / 2).max(1));
            fill.leave(now);
        }
        if fill.batch.is_none() {
            self.begin_batch(now);
        }
        let fill = &mut self.backfill;
        let busy = |batch: &Batch| fill.resting.get(&batch.from).copied();
        let Some(batch) = fill.batch.as_ref().filter(|batch| busy(batch).is_none()) else {
            // It is waited for; or all rest, or lie, and others may come up.
            let first = fill.batch.as_ref().and_then(busy);
            let first = first.or_else(|| fill.resting.values().min().copied());
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

    /// Begins with the newest of what is missing, if anybody may be asked for it.
    fn begin_batch(&mut self, now: Now) {
        let (Some(gap), Some(from)) = (self.backfill.gap, self.next_provider()) else {
            return;
        };
        let turns = self.backfill.turns.unwrap_or(FILL_TURNS_MAX).min(FILL_TURNS_MAX);
        let first = gap.last.plus(1).minus(turns).unwrap_or_default().max(gap.first);
        self.backfill.batch = Some(Batch {
            from,
            since: now.monotonic,
            first,
            next: first,
            last: gap.last,
            proved: VecDeque::new(),
            bytes: 0,
            came: VecDeque::new(),
        });
        self.backfill.last = Some(from);
    }

    /// Peers take turns.
    fn next_provider(&self) -> Option<PublicKey> {
        let fill = &self.backfill;
        let may = |peer: &&PublicKey| {
            let bad = fill.liars.contains(*peer) || fill.resting.contains_key(*peer);
            !bad && !self.is_guest(peer)
        };
        let after = |peer: &&PublicKey| fill.last.is_none_or(|last| **peer > last);
        let mut able = self.peers.iter().filter(may);
        able.clone().find(after).or_else(|| able.next()).copied()
    }

    /// A peer answered.
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
            // It has the newer ones of them.
            Answer::Pruned { oldest }
                if batch.proved.is_empty() && (batch.next < oldest && oldest <= batch.last) =>
            {
                (batch.first, batch.next) = (oldest, oldest);
            }
            Answer::Busy => {
                fill.batch.take_if(|batch| batch.proved.is_empty());
                fill.resting.insert(from, now.monotonic + BUSY_PAUSE);
            }
            _ => fill.leave(now),
        }
    }

    /// Proves some of the turns that came; hands the batch over once it is whole.
    fn prove(&mut self, now: Now) {
        let Some(mut batch) = self.backfill.batch.take() else {
            return;
        };
        let mut checked = 0;
        while checked < SIGNATURES_AT_ONCE
            && let Some((turn, certificate)) = batch.came.pop_front()
        {
            let Some(voters) = self.voters_at(batch.next) else {
                // Nobody can prove them here: the set changes of that time are not known.
                self.backfill.gap = None;
                return;
            };
            checked += certificate.signatures.len().max(1);
            if let Err(why) = self.check_missing(&batch, &turn, &certificate, &voters) {
                let peer = batch.from;
                self.backfill.liars.insert(peer);
                self.effects.push_back(Effect::Fetch(FetchNews::Dropped { peer, why }));
                self.backfill.rests = now.monotonic + ASK_PAUSE;
                return;
            }
            batch.take(Decision { certificate, turn: Arc::new(turn) });
        }
        let pause = if batch.came.is_empty() { ASK_PAUSE } else { CHECK_PAUSE };
        self.backfill.rests = now.monotonic + pause;
        if batch.next <= batch.last {
            self.backfill.batch = Some(batch);
            return;
        }
        let long = batch.bytes > FILL_BYTES_MAX / 2;
        let turns = batch.proved.len() as u64;
        self.backfill.turns = Some(if long { turns } else { 2 * turns });
        self.backfill.is_putting = true;
        for turn in &batch.proved {
            self.recall(turn);
        }
        self.effects.push_back(Effect::PutBack(batch.proved.into()));
    }

    /// Is this what was decided at the batch's next height?
    fn check_missing(
        &self,
        batch: &Batch,
        turn: &Turn,
        certificate: &Certificate,
        voters: &ValidatorSet,
    ) -> Result<(), Misdeed> {
        let (header, height) = (&turn.header, batch.next);
        if header.height != height {
            return Err(Misdeed::Unasked);
        }
        certified(self.config.sim, header, certificate, voters, &*self.config.agreement.scheme)?;
        turn.check_body().map_err(|_| Misdeed::OtherBody(height))?;
        if batch.proved.back().is_some_and(|before| before.id() != header.previous) {
            return Err(JoinError::Chain(height).into());
        }
        if height < batch.last {
            return Ok(());
        }
        // What follows is there, or the state that this server began with.
        let named = self.backfill.gap.and_then(|gap| gap.names);
        let named = named.or_else(|| self.agreement.base(height).map(|base| base.header));
        match named {
            Some(named) if named != certificate.header => Err(JoinError::Chain(height).into()),
            _ => Ok(()),
        }
    }

    /// Who voted at a height of the past.
    fn voters_at(&mut self, height: Height) -> Option<ValidatorSet> {
        let links = self.agreement.links();
        let changes = links.partition_point(|link| link.header.height < height);
        if let Some(last) = changes.checked_sub(1) {
            return ValidatorSet::new(links[last].next.clone(), |_| true).ok();
        }
        // No change before: the first validators, unless the oldest changes are forgotten.
        let named = match links.first() {
            Some(link) => link.header.validators,
            None => self.agreement.validators(self.agreement.height())?.id(),
        };
        let config = &self.config;
        let genesis = self
            .backfill
            .genesis
            .get_or_insert_with(|| Genesis::decode(&config.genesis).ok()?.first_validators().ok());
        genesis.clone().filter(|genesis| genesis.id() == named)
    }

    /// Clients may ask about a turn that was missing.
    fn recall(&mut self, turn: &Decision) {
        let height = turn.height();
        if height.plus(RECALL_HEIGHTS) > self.height {
            self.archive.decided(&turn.turn);
            let outcomes = self.world().map(|world| outcomes(world, height));
            self.archive.settle(height, &outcomes.unwrap_or_default());
        }
    }
}

impl Backfill {
    /// Asks the peer for nothing for a while: it lacks them, too, or says nothing.
    fn leave(&mut self, now: Now) {
        if let Some(batch) = self.batch.take() {
            self.resting.insert(batch.from, now.monotonic + LACKS_PAUSE);
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
