//! Who watches whole servers. The laws of all sims are the shared oracle's; what is here knows what
//! this sim is: what a turn did, in which order scripts got their events, and what a log gives when
//! it is played again from genesis.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Base, Decision, Record};
use metatopia_oracle::{Law, Oracle as Laws, Violation};
use metatopia_replica::keeper::History;
use metatopia_replica::mempool::POOL_BYTES_MAX;
use metatopia_replica::{
    CLIENTS_MAX, PeerMessage, QUESTIONS_MAX, RECORDS_BACK_HEIGHTS, decode_patch,
};
use metatopia_sim::{Applied, Received, Sender, World};
use metatopia_store::limits::SNAPSHOTS_KEPT;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileKind, FileName, Patches, list_snapshots, load_patch, scan};
use metatopia_types::{
    ActId, Certificate, Digest, HeaderId, Height, Outcome, Root, ScriptId, Tick, Turn,
    limits::ROOT_LAG, wire,
};

use super::gateway::HELD_BYTES_MAX;
use super::node::ReplicaServer;
use super::place_setting::ReplicaSetting;
use crate::watched::WatchedDisk;

/// What one turn did. The same on every server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnResult {
    /// The root of the state after it.
    pub root: Root,
    /// What became of its acts.
    pub outcomes: Vec<Outcome>,
    /// Which scripts failed, and how.
    pub failures: Vec<String>,
    /// What was said.
    pub chat: Vec<String>,
    /// A digest of which scripts got which events, in their order.
    pub order: Digest,
}

impl TurnResult {
    fn of(applied: &Applied) -> Self {
        let failures = applied.failures.iter();
        let chat = applied.chat.iter();
        Self {
            root: applied.root,
            outcomes: applied.outcomes.clone(),
            failures: failures
                .map(|failure| format!("{}: {}", failure.script, failure.kind))
                .collect(),
            chat: chat.map(|line| format!("{}: {}", line.name, line.text)).collect(),
            order: order(&applied.order),
        }
    }

    /// The law that is broken if one server has this and another one has that.
    fn broken_by(&self, other: &Self) -> Option<Law> {
        if self == other {
            None
        } else if self.order != other.order {
            Some(Law::Order)
        } else if self.root == other.root {
            Some(Law::Outcome)
        } else {
            Some(Law::Root)
        }
    }
}

fn order(received: &[Received]) -> Digest {
    let mut bytes = Vec::new();
    for Received { tick, script, sender, from, event } in received {
        bytes.extend(wire::encode(&(tick, script, sender, from, event)));
    }
    Digest::of("metatopia oracle order v1", &bytes)
}

/// A script that got events of one sender, of another, and of the first one again, in one tick:
/// those of one sender come together.
fn scattered(received: &[Received]) -> Option<(Tick, ScriptId, Sender)> {
    let mut groups: BTreeMap<(Tick, ScriptId), Vec<Sender>> = BTreeMap::new();
    for event in received {
        let groups = groups.entry((event.tick, event.script)).or_default();
        if groups.last() == Some(&event.sender) {
            continue;
        }
        if groups.contains(&event.sender) {
            return Some((event.tick, event.script, event.sender));
        }
        groups.push(event.sender);
    }
    None
}

/// See the module.
#[derive(Debug)]
pub struct ReplicaOracle {
    /// Holds the servers to the laws of all sims.
    pub laws: Laws,
    steps: BTreeMap<Height, TurnResult>,
    /// When each height was applied for the first time.
    first: BTreeMap<Height, Duration>,
    /// Where each living server is.
    applied: BTreeMap<usize, Height>,
    /// What each server sent last: one frame for all others leaves once for each of them.
    sent: BTreeMap<usize, Rc<[u8]>>,
    /// Sessions that a server may have; fewer only in a test.
    sessions_max: usize,
}

/// The decided turns in one server's log, and those that were put back into it.
#[derive(Debug)]
pub struct TurnLog {
    /// The seat of the server.
    pub seat: usize,
    /// The decisions by their heights.
    pub decisions: BTreeMap<Height, Arc<Decision>>,
    /// Where a gap ends, even if it was filled since: the server went on with the state of this
    /// height, which it fetched.
    pub jumps: Vec<Height>,
}

/// What was decided, as the logs hold it in the end; what all of them gave up, as it was seen.
#[derive(Debug, Default)]
pub(crate) struct DecidedTurns {
    pub(crate) turns: BTreeMap<Height, Arc<Turn>>,
    pub(crate) places: BTreeMap<ActId, ObservedAct>,
}

/// A turn to be played again, with what decided it if a log holds that. What all logs gave up was
/// held against the law when it was written down.
struct Piece {
    turn: Arc<Turn>,
    certificate: Option<Certificate>,
}

impl Piece {
    fn seen(turn: &Arc<Turn>) -> Self {
        Self { turn: Arc::clone(turn), certificate: None }
    }

    fn logged(decision: &Decision) -> Self {
        let turn = Arc::clone(&decision.turn);
        Self { turn, certificate: Some(decision.certificate.clone()) }
    }
}

/// Where an act is, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObservedAct {
    pub(crate) height: Height,
    pub(crate) index: u32,
    pub(crate) outcome: Outcome,
}

impl ReplicaOracle {
    /// Watches the servers of a sim, of which those in the seats of `liars` may lie.
    #[must_use]
    pub fn new(setting: &ReplicaSetting, liars: &[usize]) -> Self {
        Self {
            laws: Laws::new(setting.founding(), liars),
            steps: BTreeMap::new(),
            first: BTreeMap::new(),
            applied: BTreeMap::new(),
            sent: BTreeMap::new(),
            sessions_max: CLIENTS_MAX,
        }
    }

    /// Returns what was wrong.
    #[must_use]
    pub fn faults(&self) -> &[Violation] {
        self.laws.faults()
    }

    /// Returns what each turn did.
    #[must_use]
    pub const fn steps(&self) -> &BTreeMap<Height, TurnResult> {
        &self.steps
    }

    /// Returns when a height was first applied anywhere.
    #[must_use]
    pub fn first_at(&self, height: Height) -> Option<Duration> {
        self.first.get(&height).copied()
    }

    /// The longest time between two neighbouring heights that were first applied from `from` to `to`.
    #[must_use]
    pub fn longest_pause(&self, from: Duration, to: Duration) -> Duration {
        let times: Vec<Duration> = self.first.values().copied().collect();
        let pauses = times.windows(2).filter(|pair| pair[0] >= from && pair[1] <= to);
        pauses.map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or_default()
    }

    /// Returns how many heights were first applied from `from` to `to`.
    #[must_use]
    pub fn turns_between(&self, from: Duration, to: Duration) -> usize {
        let within = |at: &&Duration| from <= **at && **at < to;
        self.first.values().filter(within).count()
    }

    /// Notes that a law was broken.
    pub(crate) fn blame(&mut self, seat: Option<usize>, law: Law, what: impl Into<String>) {
        self.laws.blame(seat, law, || what.into());
    }

    /// Checks a frame that leaves a server for another one.
    pub(crate) fn saw_frame(&mut self, seat: usize, bytes: &Rc<[u8]>, disk: &MemoryDisk) {
        if self.sent.get(&seat).is_some_and(|last| Rc::ptr_eq(last, bytes)) {
            return;
        }
        self.sent.insert(seat, Rc::clone(bytes));
        match PeerMessage::decode(bytes) {
            Ok(PeerMessage::Agreement(message)) => {
                self.laws.saw_message(seat, &message, &WatchedDisk(disk));
            }
            Ok(_) => {}
            Err(error) => {
                self.blame(Some(seat), Law::Proof, format!("no frame for servers: {error}"));
            }
        }
    }

    pub(crate) fn died(&mut self, seat: usize, disk: &MemoryDisk) {
        self.applied.remove(&seat);
        self.laws.saw_death(seat, &WatchedDisk(disk));
    }

    /// Notes that a server goes on with a state that it fetched: what it applies next, it applies as after a
    /// start.
    pub(crate) fn saw_replaced(&mut self, seat: usize) {
        self.applied.remove(&seat);
    }

    /// Checks that what waits in a server, and in its lines to clients, is bounded.
    pub(crate) fn check_bounds(&mut self, seat: usize, server: &ReplicaServer) {
        let waiting = server.replica().waiting();
        let all = [
            ("bytes of acts", waiting.act_bytes, POOL_BYTES_MAX),
            ("questions", waiting.questions, QUESTIONS_MAX),
            ("sessions", waiting.sessions, self.sessions_max),
            ("bytes for one client", server.held_most(), HELD_BYTES_MAX),
        ];
        self.check_counts(seat, &all);
        let held = server.replica().held().map(|held| (held.what, held.count, held.most));
        self.check_counts(seat, &held);
    }

    fn check_counts(&mut self, seat: usize, all: &[(&str, usize, usize)]) {
        for (what, count, most) in all.iter().filter(|(_, count, most)| count > most) {
            self.blame(Some(seat), Law::Bounds, format!("{count} {what}, at most {most}"));
        }
    }

    /// A server computes its state again: it must come to what the others have.
    pub(crate) fn saw_applied_again(&mut self, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, TurnResult::of(applied));
        self.applied.insert(seat, height);
        self.compare(seat, height, &step);
    }

    /// A server whose bits flipped applied a turn: what it came to says nothing.
    pub(crate) fn saw_stray(&mut self, seat: usize, height: Height) {
        self.applied.insert(seat, height);
    }

    pub(crate) fn saw_applied(&mut self, at: Duration, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, TurnResult::of(applied));
        if let Some(before) = self.applied.insert(seat, height)
            && before.plus(1) != height
        {
            self.blame(Some(seat), Law::Chain, format!("{height} is applied after {before}"));
        }
        if let Some((tick, script, sender)) = scattered(&applied.order) {
            let what = format!("{script} got events of {sender:?} twice in {tick}");
            self.blame(Some(seat), Law::Order, what);
        }
        self.first.entry(height).or_insert(at);
        self.compare(seat, height, &step);
        self.steps.entry(height).or_insert(step);
        let carried_out = applied.outcomes.iter().map(|outcome| outcome.is_done());
        self.laws.saw_carried_out(height, carried_out.collect());
    }

    /// Holds what a server came to against what others came to before it.
    fn compare(&mut self, seat: usize, height: Height, step: &TurnResult) {
        if let Some(known) = self.steps.get(&height)
            && let Some(law) = step.broken_by(known)
        {
            let what = format!("{height}: {step:?} where others have {known:?}");
            self.blame(Some(seat), law, what);
        }
    }

    /// A server gave up a segment of its log: what it needs to start from its older snapshot, and
    /// turns that others may ask for, must not be in it.
    pub(crate) fn saw_given_up(
        &mut self,
        setting: &ReplicaSetting,
        seat: usize,
        segment: u64,
        disk: &MemoryDisk,
    ) {
        let older = match setting.history(seat) {
            History::Turns(turns) => older_snapshot(disk).and_then(|older| older.minus(turns)),
            History::Whole => None,
        };
        self.laws.saw_given_up(seat, segment, older.unwrap_or_default());
    }

    /// Checks the logs when the run is over: plays all that is in them again, from genesis or from one of
    /// these states. Returns where each act is.
    pub(crate) fn close(
        &mut self,
        at: Duration,
        setting: &ReplicaSetting,
        logs: &[TurnLog],
        states: Vec<(Base, World)>,
    ) -> DecidedTurns {
        let ends = logs.iter().map(|log| (log.seat, log.end())).collect();
        self.laws.close(at, &ends);
        let mut all: BTreeMap<Height, &Arc<Decision>> = BTreeMap::new();
        for log in logs {
            for (height, one) in &log.decisions {
                if all.entry(*height).or_insert(one).id() != one.id() {
                    let what = format!("the log differs at {height}");
                    self.blame(Some(log.seat), Law::Agreement, what);
                }
            }
        }
        let mut past = self.seen(all.keys().next_back().copied().unwrap_or_default());
        let mut pieces: BTreeMap<Height, Piece> =
            past.turns.iter().map(|(height, turn)| (*height, Piece::seen(turn))).collect();
        pieces.extend(all.iter().map(|(height, one)| (*height, Piece::logged(one))));
        let mut starts = vec![(setting.base(), setting.beginning())];
        starts.extend(states);
        starts.sort_by_key(|(base, _)| base.height);
        let mut played = Height(0);
        for (base, world) in starts {
            let follows = |height: Height| pieces.contains_key(&height.plus(1));
            if base.height >= played && follows(base.height) {
                played = self.play_again(setting, (base, world), &pieces, &mut past);
            }
        }
        past.turns.extend(all.into_iter().map(|(height, one)| (height, Arc::clone(&one.turn))));
        past
    }

    /// The turns up to a height as servers wrote them down, and what they came to.
    fn seen(&self, top: Height) -> DecidedTurns {
        let mut past = DecidedTurns::default();
        for turn in self.laws.history().turns().filter(|turn| turn.header.height <= top) {
            let height = turn.header.height;
            let step = self.steps.get(&height);
            past.places.extend(entries(turn, step.map_or(&[], |step| &step.outcomes)));
            past.turns.insert(height, Arc::clone(turn));
        }
        past
    }

    /// Plays what follows a state without a gap. Returns the last height.
    fn play_again(
        &mut self,
        setting: &ReplicaSetting,
        (base, mut world): (Base, World),
        pieces: &BTreeMap<Height, Piece>,
        past: &mut DecidedTurns,
    ) -> Height {
        let (start, mut previous) = (base.height, base.header);
        let before = start.minus(1).map(|before| (before, base.roots[0]));
        let mut roots: BTreeMap<Height, Root> = before.into_iter().collect();
        roots.insert(start, world.root());
        for (height, piece) in pieces.range(start.plus(1)..) {
            if *height != world.height().plus(1) {
                break;
            }
            let turn = &piece.turn;
            if let Some(fault) = wrong_header(setting, &world, piece, previous, &roots) {
                self.blame(None, Law::Replay, format!("the log at {height}: {fault}"));
                break;
            }
            previous = turn.id();
            let applied = setting.apply(&mut world, turn);
            roots.insert(*height, applied.root);
            past.places.extend(entries(turn, &applied.outcomes));
            let step = TurnResult::of(&applied);
            if let Some(known) = self.steps.get(height)
                && *known != step
            {
                let what = format!("{height} again: {step:?} where servers had {known:?}");
                self.blame(None, Law::Replay, what);
            }
        }
        world.height()
    }
}

/// The height of the older of the snapshots that a server keeps, if both are whole whatever befalls.
fn older_snapshot(disk: &MemoryDisk) -> Option<Height> {
    let found = list_snapshots(disk).unwrap_or_default();
    let durable = found.into_iter().filter(|(height, root)| {
        let file = FileName::new(FileKind::Snapshot(*height, *root));
        disk.bytes(file).is_some_and(|bytes| bytes.len() == disk.durable(file).len())
    });
    durable.map(|(height, _)| height).nth(SNAPSHOTS_KEPT - 1)
}

fn entries(turn: &Turn, outcomes: &[Outcome]) -> Vec<(ActId, ObservedAct)> {
    let height = turn.header.height;
    let acts = turn.body.acts().iter().zip(outcomes).zip(0..);
    acts.map(|((act, outcome), index)| {
        let outcome = *outcome;
        let entry = ObservedAct { height, index, outcome };
        (act.id(), entry)
    })
    .collect()
}

fn wrong_header(
    setting: &ReplicaSetting,
    world: &World,
    piece: &Piece,
    previous: HeaderId,
    roots: &BTreeMap<Height, Root>,
) -> Option<String> {
    let header = &piece.turn.header;
    let height = header.height;
    let stated = height.minus(ROOT_LAG).unwrap_or_default();
    let root = roots.get(&stated);
    if header.height != world.height().plus(1) || header.previous != previous {
        return Some("it does not follow".to_owned());
    }
    if root != Some(&header.root) {
        return Some(format!("another root after {stated}"));
    }
    let Some(set) = world.validators(height) else {
        return Some("nobody votes".to_owned());
    };
    let certificate = piece.certificate.as_ref()?;
    let verdict = certificate.verify(setting.sim, set, &*setting.verifier);
    verdict.err().map(|error| error.to_string())
}

impl TurnLog {
    /// Returns what the log holds up to its end without a gap, with what was put back. Before that there may
    /// be turns that nobody gives any more.
    pub(crate) fn end(&self) -> BTreeMap<Height, Arc<Decision>> {
        let mut end: BTreeMap<Height, Arc<Decision>> = BTreeMap::new();
        for (height, decision) in self.decisions.iter().rev() {
            if end.keys().next().is_some_and(|next| *next != height.plus(1)) {
                break;
            }
            end.insert(*height, Arc::clone(decision));
        }
        end
    }

    /// Reads the log of the server in `seat`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(setting: &ReplicaSetting, seat: usize, disk: &MemoryDisk) -> Result<Self, String> {
        let index = scan(disk, setting.sim).map_err(|e| e.to_string())?.index;
        let (mut turns, mut decisions) = (BTreeMap::new(), BTreeMap::new());
        // Where a log begins whose beginning was given up, the bytes of turns may be gone already.
        let mut last = if index.is_pruned() { None } else { Some(Height(0)) };
        let (mut first, mut jumps) = (Height(0), Vec::new());
        for record in index.iter(disk) {
            let payload = record.map_err(|e| e.to_string())?.payload;
            match Record::decode(&payload).map_err(|e| e.to_string())? {
                Record::Turn(turn) => {
                    turns.insert(turn.id(), turn);
                }
                Record::Decided(certificate) => {
                    let height = certificate.height;
                    let before = last.replace(height).unwrap_or_else(|| {
                        first = height.plus(RECORDS_BACK_HEIGHTS + 1);
                        height.minus(1).unwrap_or_default()
                    });
                    if height <= before {
                        return Err(format!("{height} after {before}"));
                    }
                    if height > before.plus(1) {
                        jumps.extend(height.minus(1));
                    }
                    let turn = turns.remove(&certificate.header);
                    if height >= first {
                        let turn = turn.ok_or_else(|| format!("no bytes of turn {height}"))?;
                        decisions.insert(height, Arc::new(Decision { certificate, turn }));
                    }
                }
                _ => {}
            }
        }
        for range in Patches::list(disk).map_err(|e| e.to_string())?.iter() {
            let bytes = load_patch(disk, range).map_err(|e| e.to_string())?;
            let turns = decode_patch(&bytes);
            if turns.iter().map(|turn| turn.height().0).ne(range.0..=range.1) {
                return Err(format!("what was put back is not turns {} to {}", range.0, range.1));
            }
            decisions.extend(turns.into_iter().map(|turn| (turn.height(), Arc::new(turn))));
        }
        Ok(Self { seat, decisions, jumps })
    }
}

#[cfg(test)]
mod tests;
