//! Who watches whole servers. The laws of all sims are the shared oracle's; what is here knows what
//! this sim is: what a turn did, in which order scripts got their events, and what a log gives when
//! it is played again from genesis.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Decision, Record};
use metatopia_oracle::{Fault, Law, Oracle as Laws};
use metatopia_replica::mempool::POOL_BYTES_MAX;
use metatopia_replica::{CLIENTS_MAX, PeerMessage, QUESTIONS_MAX};
use metatopia_sim::{Applied, Received, Sender};
use metatopia_store::memory::MemoryDisk;
use metatopia_store::scan;
use metatopia_types::{
    ActId, Digest, HeaderId, Height, Outcome, Root, ScriptId, Tick, Turn, limits::ROOT_LAG, wire,
};

use super::gateway::HELD_BYTES_MAX;
use super::server::Server;
use super::setting::Setting;
use crate::watched::Watched;

/// What one turn did. The same on every server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
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

impl Step {
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
pub struct Oracle {
    /// Holds the servers to the laws of all sims.
    pub laws: Laws,
    steps: BTreeMap<Height, Step>,
    /// When each height was applied for the first time.
    first: BTreeMap<Height, Duration>,
    /// Where each living server is.
    applied: BTreeMap<usize, Height>,
    /// What each server sent last: one frame for all others leaves once for each of them.
    sent: BTreeMap<usize, Rc<[u8]>>,
}

/// The decided turns in one server's log, from height 1 on.
#[derive(Debug)]
pub struct Log {
    /// Whose.
    pub seat: usize,
    /// Ascending, without a gap.
    pub decisions: Vec<Decision>,
    /// Those after a gap: the server went on with a state that it fetched.
    pub later: Vec<Decision>,
    /// The heights of such states.
    pub jumps: Vec<Height>,
}

/// Where an act is, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) height: Height,
    pub(crate) index: u32,
    pub(crate) outcome: Outcome,
}

impl Oracle {
    /// Watches the servers of a sim, of which those in the seats of `liars` may lie.
    #[must_use]
    pub fn new(setting: &Setting, liars: &[usize]) -> Self {
        Self {
            laws: Laws::new(setting.founding(), liars),
            steps: BTreeMap::new(),
            first: BTreeMap::new(),
            applied: BTreeMap::new(),
            sent: BTreeMap::new(),
        }
    }

    /// What was wrong.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        self.laws.faults()
    }

    /// What each turn did.
    #[must_use]
    pub const fn steps(&self) -> &BTreeMap<Height, Step> {
        &self.steps
    }

    /// When a height was first applied anywhere.
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

    /// How many heights were first applied from `from` to `to`.
    #[must_use]
    pub fn turns_between(&self, from: Duration, to: Duration) -> usize {
        let within = |at: &&Duration| from <= **at && **at < to;
        self.first.values().filter(within).count()
    }

    /// A law was broken.
    pub(crate) fn blame(&mut self, seat: Option<usize>, law: Law, what: impl Into<String>) {
        self.laws.blame(seat, law, || what.into());
    }

    /// A frame leaves a server for another one.
    pub(crate) fn saw_frame(&mut self, seat: usize, bytes: &Rc<[u8]>, disk: &MemoryDisk) {
        if self.sent.get(&seat).is_some_and(|last| Rc::ptr_eq(last, bytes)) {
            return;
        }
        self.sent.insert(seat, Rc::clone(bytes));
        match PeerMessage::decode(bytes) {
            Ok(PeerMessage::Agreement(message)) => {
                self.laws.saw_message(seat, &message, &Watched(disk));
            }
            Ok(_) => {}
            Err(error) => {
                self.blame(Some(seat), Law::Proof, format!("no frame for servers: {error}"));
            }
        }
    }

    pub(crate) fn died(&mut self, seat: usize, disk: &MemoryDisk) {
        self.applied.remove(&seat);
        self.laws.saw_death(seat, &Watched(disk));
    }

    /// A server goes on with a state that it fetched: what it applies next, it applies as after a
    /// start.
    pub(crate) fn saw_replaced(&mut self, seat: usize) {
        self.applied.remove(&seat);
    }

    /// What waits in a server, and in its lines to clients, is bounded.
    pub(crate) fn check_bounds(&mut self, seat: usize, server: &Server) {
        let waiting = server.replica().waiting();
        let all = [
            ("bytes of acts", waiting.act_bytes, POOL_BYTES_MAX),
            ("questions", waiting.questions, QUESTIONS_MAX),
            ("sessions", waiting.sessions, CLIENTS_MAX),
            ("bytes for one client", server.held_most(), HELD_BYTES_MAX),
        ];
        self.check_counts(seat, &all);
    }

    fn check_counts(&mut self, seat: usize, all: &[(&str, usize, usize)]) {
        for (what, count, most) in all.iter().filter(|(_, count, most)| count > most) {
            self.blame(Some(seat), Law::Bounds, format!("{count} {what}, at most {most}"));
        }
    }

    /// A server computes its state again: it must come to what the others have.
    pub(crate) fn saw_applied_again(&mut self, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, Step::of(applied));
        self.applied.insert(seat, height);
        self.compare(seat, height, &step);
    }

    /// A server whose bits flipped applied a turn: what it came to says nothing.
    pub(crate) fn saw_stray(&mut self, seat: usize, height: Height) {
        self.applied.insert(seat, height);
    }

    pub(crate) fn saw_applied(&mut self, at: Duration, seat: usize, applied: &Applied) {
        let (height, step) = (applied.height, Step::of(applied));
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
    fn compare(&mut self, seat: usize, height: Height, step: &Step) {
        if let Some(known) = self.steps.get(&height)
            && let Some(law) = step.broken_by(known)
        {
            let what = format!("{height}: {step:?} where others have {known:?}");
            self.blame(Some(seat), law, what);
        }
    }

    /// The run is over: looks at the logs, plays the longest one again, and says where each act is.
    pub(crate) fn close(
        &mut self,
        at: Duration,
        setting: &Setting,
        logs: &[Log],
    ) -> BTreeMap<ActId, Entry> {
        let decisions = |log: &Log| {
            log.end().map(|decision| (decision.height(), Arc::new(decision.clone()))).collect()
        };
        let all = logs.iter().map(|log| (log.seat, decisions(log))).collect();
        self.laws.close(at, &all);
        let Some(longest) = logs.iter().max_by_key(|log| log.decisions.len()) else {
            return BTreeMap::new();
        };
        for log in logs {
            for one in log.decisions.iter().chain(&log.later) {
                let at = usize::try_from(one.height().0 - 1).ok();
                let other = at.and_then(|at| longest.decisions.get(at));
                if other.is_some_and(|other| one.id() != other.id()) {
                    let what = format!("the log differs at {}", one.height());
                    self.blame(Some(log.seat), Law::Agreement, what);
                }
            }
        }
        self.play_again(setting, &longest.decisions)
    }

    fn play_again(&mut self, setting: &Setting, decisions: &[Decision]) -> BTreeMap<ActId, Entry> {
        let mut world = setting.beginning();
        let mut roots = vec![world.root()];
        let mut previous = HeaderId::default();
        let mut places = BTreeMap::new();
        for decision in decisions {
            let (height, turn) = (decision.height(), &decision.turn);
            if let Some(fault) = wrong_header(setting, &world, decision, previous, &roots) {
                self.blame(None, Law::Replay, format!("the log at {height}: {fault}"));
                break;
            }
            previous = decision.id();
            let applied = setting.apply(&mut world, turn);
            roots.push(applied.root);
            places.extend(entries(turn, &applied.outcomes));
            let step = Step::of(&applied);
            if let Some(known) = self.steps.get(&height)
                && *known != step
            {
                let what = format!("{height} again: {step:?} where servers had {known:?}");
                self.blame(None, Law::Replay, what);
            }
        }
        places
    }
}

fn entries(turn: &Turn, outcomes: &[Outcome]) -> Vec<(ActId, Entry)> {
    let height = turn.header.height;
    let acts = turn.body.acts().iter().zip(outcomes).zip(0..);
    acts.map(|((act, outcome), index)| {
        let outcome = *outcome;
        let entry = Entry { height, index, outcome };
        (act.id(), entry)
    })
    .collect()
}

fn wrong_header(
    setting: &Setting,
    world: &metatopia_sim::World,
    decision: &Decision,
    previous: HeaderId,
    roots: &[Root],
) -> Option<String> {
    let (height, header) = (decision.height(), &decision.turn.header);
    let stated = height.minus(ROOT_LAG).unwrap_or_default();
    let root = usize::try_from(stated.0).ok().and_then(|at| roots.get(at));
    if header.height != world.height().plus(1) || header.previous != previous {
        return Some("it does not follow".to_owned());
    }
    if root != Some(&header.root) {
        return Some(format!("another root after {stated}"));
    }
    let Some(set) = world.validators(height) else {
        return Some("nobody votes".to_owned());
    };
    let verdict = decision.certificate.verify(setting.sim, set, &*setting.verifier);
    verdict.err().map(|error| error.to_string())
}

impl Log {
    /// What it holds up to its end without a gap.
    pub(crate) fn end(&self) -> impl Iterator<Item = &Decision> {
        let gap = self.jumps.last().copied().unwrap_or_default();
        self.decisions.iter().chain(&self.later).filter(move |decision| decision.height() > gap)
    }

    /// Reads the log of the server in `seat`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(setting: &Setting, seat: usize, disk: &MemoryDisk) -> Result<Self, String> {
        let index = scan(disk, setting.sim).map_err(|e| e.to_string())?.index;
        let (mut turns, mut decisions) = (BTreeMap::new(), Vec::new());
        let (mut later, mut jumps) = (Vec::<Decision>::new(), Vec::new());
        for record in index.iter(disk) {
            let payload = record.map_err(|e| e.to_string())?.payload;
            match Record::decode(&payload).map_err(|e| e.to_string())? {
                Record::Turn(turn) => {
                    turns.insert(turn.id(), turn);
                }
                Record::Decided(certificate) => {
                    let height = certificate.height;
                    let last = later.last().or(decisions.last()).map(Decision::height);
                    let next = last.unwrap_or_default().plus(1);
                    if height < next {
                        return Err(format!("{height} where {next} is due"));
                    }
                    if height > next {
                        jumps.extend(height.minus(1));
                    }
                    let turn = turns.remove(&certificate.header);
                    let turn = turn.ok_or_else(|| format!("no bytes of turn {height}"))?;
                    let list = if jumps.is_empty() { &mut decisions } else { &mut later };
                    list.push(Decision { certificate, turn });
                }
                _ => {}
            }
        }
        Ok(Self { seat, decisions, later, jumps })
    }
}

#[cfg(test)]
mod tests;
