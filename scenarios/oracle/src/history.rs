//! The one history: which turns were told to be decided, and what every log must hold in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use metatopia_consensus::Decision;
use metatopia_types::{ActId, Envelope, HeaderId, Height, Millis, Root, Seq, Turn};

use crate::law::Law;

/// See the module.
#[derive(Debug)]
pub struct TurnHistory {
    turns: BTreeMap<Height, Arc<Turn>>,
    ids: BTreeMap<Height, HeaderId>,
    /// What the first turn follows.
    founded: Millis,
    /// Who computed which root after a height.
    roots: BTreeMap<Height, BTreeMap<Root, BTreeSet<usize>>>,
    /// What each seat told.
    told: Vec<BTreeMap<Height, HeaderId>>,
    /// The log of each seat held all turns from after this height on.
    begun: Vec<Height>,
}

impl TurnHistory {
    /// The history of a sim that was founded at this time.
    pub(crate) fn new(seats: usize, founded: Millis) -> Self {
        Self {
            founded,
            turns: BTreeMap::new(),
            ids: BTreeMap::new(),
            roots: BTreeMap::new(),
            told: vec![BTreeMap::new(); seats],
            begun: vec![Height(0); seats],
        }
    }

    /// A turn that was told to be decided.
    #[must_use]
    pub fn turn(&self, height: Height) -> Option<&Arc<Turn>> {
        self.turns.get(&height)
    }

    /// Returns all turns that were told, ascending.
    pub fn turns(&self) -> impl Iterator<Item = &Arc<Turn>> {
        self.turns.values()
    }

    pub(crate) fn note_root(&mut self, seat: usize, height: Height, root: Root) {
        self.roots.entry(height).or_default().entry(root).or_default().insert(seat);
    }

    /// The server found that its states from a height on were wrong, and computes them again.
    pub(crate) fn forget_roots(&mut self, seat: usize, from: Height) {
        for roots in self.roots.range_mut(from..).map(|(_, roots)| roots) {
            for seats in roots.values_mut() {
                seats.remove(&seat);
            }
            roots.retain(|_, seats| !seats.is_empty());
        }
    }

    /// The root after a height: that of most servers.
    #[must_use]
    pub fn root(&self, height: Height) -> Option<Root> {
        let roots = self.roots.get(&height)?;
        roots.iter().max_by_key(|(_, seats)| seats.len()).map(|(root, _)| *root)
    }

    /// Returns who computed another root than most, and after which heights.
    pub(crate) fn diverged(&self) -> Vec<(usize, Height)> {
        let mut diverged = vec![];
        for (height, roots) in &self.roots {
            let most = self.root(*height);
            let others = roots.iter().filter(|(root, _)| Some(**root) != most);
            diverged.extend(others.flat_map(|(_, seats)| seats).map(|seat| (*seat, *height)));
        }
        diverged
    }

    /// Notes that a seat told of a turn; whether that is news.
    pub(crate) fn note_told(&mut self, seat: usize, height: Height, id: HeaderId) -> bool {
        self.told[seat].insert(height, id) != Some(id)
    }

    pub(crate) fn forget_told(&mut self, seat: usize) {
        self.told[seat].clear();
    }

    /// The log of a seat need not hold turns up to this height.
    pub(crate) fn begin_after(&mut self, seat: usize, height: Height) {
        self.begun[seat] = self.begun[seat].max(height);
    }

    /// The last height of which a turn was told.
    #[must_use]
    pub fn last(&self) -> Height {
        self.turns.keys().next_back().copied().unwrap_or_default()
    }

    /// Turns before those that a log holds now, though it ought to have held them.
    pub(crate) fn before_log(
        &self,
        seat: usize,
        decisions: &BTreeMap<Height, Arc<Decision>>,
    ) -> impl Iterator<Item = Height> + '_ {
        let first = decisions.keys().next().copied().unwrap_or_default();
        let from = self.begun[seat].plus(1);
        self.turns.range(from..first.max(from)).map(|(height, _)| *height)
    }

    /// The turn that others have at this height, if it is another.
    pub(crate) fn disagrees(&mut self, height: Height, id: HeaderId) -> Option<HeaderId> {
        let first = *self.ids.entry(height).or_insert(id);
        (first != id).then_some(first)
    }

    /// Adds a turn; whether it is new.
    pub(crate) fn extend(&mut self, turn: &Arc<Turn>) -> bool {
        self.turns.insert(turn.header.height, Arc::clone(turn)).is_none()
    }

    fn before(&self, height: Height) -> Option<&Arc<Turn>> {
        self.turns.get(&height.minus(1)?)
    }

    /// Returns what is wrong with how turns follow each other, and with the roots that they state.
    pub(crate) fn breaks(&self) -> Vec<(Height, &'static str)> {
        let mut breaks = vec![];
        for (height, turn) in &self.turns {
            let before = height.minus(1).and_then(|before| self.ids.get(&before));
            let before =
                if *height == Height(1) { Some(HeaderId::BEFORE_FIRST) } else { before.copied() };
            if before.is_some_and(|before| turn.header.previous != before) {
                breaks.push((*height, "does not follow the turn before it"));
            }
            let root = height.minus(2).and_then(|lag| self.root(lag));
            if root.is_some_and(|root| turn.header.root != root) {
                breaks.push((*height, "states another root than servers had"));
            }
        }
        breaks
    }

    /// Returns what is wrong with a turn's time, if clocks showed at most `latest` less their tolerance.
    pub(crate) fn time_is_wrong(
        &self,
        height: Height,
        turn_length: u64,
        latest: Millis,
    ) -> Option<String> {
        let time = self.turns.get(&height)?.header.time;
        let before = match height {
            Height(1) => Some(self.founded),
            _ => self.before(height).map(|turn| turn.header.time),
        };
        if before.is_some_and(|before| time <= before) {
            return Some(format!("{time:?} is not after {before:?}"));
        }
        // A slot, or the smallest step: there is nothing else to choose.
        let smallest = before.map(|before| before.plus(1));
        if !time.0.is_multiple_of(turn_length) && Some(time) != smallest {
            return Some(format!("{time:?} is no multiple of {turn_length} ms"));
        }
        let ahead = time > latest.max(smallest.unwrap_or_default());
        ahead.then(|| format!("{time:?} is ahead of every clock"))
    }

    /// Returns what a log lacks, or has twice, of what anybody honest told the outside.
    pub(crate) fn missing(
        &self,
        seat: usize,
        decisions: &BTreeMap<Height, Arc<Decision>>,
    ) -> Vec<(Law, String)> {
        let has = |height: &Height| decisions.get(height).map(|decision| decision.id());
        let first = decisions.keys().next().copied().unwrap_or(Height(1));
        let mut missing = vec![];
        for (height, id) in self.told[seat].iter().filter(|(height, _)| **height >= first) {
            if has(height) != Some(*id) {
                let what = format!("the log lacks {id:?} at {height}, which it told");
                missing.push((Law::Lost, what));
            }
        }
        let mut seen: BTreeSet<ActId> = BTreeSet::new();
        for act in decisions.values().flat_map(|decision| decision.turn.body.acts()) {
            if !seen.insert(act.id()) {
                missing.push((Law::Twice, format!("act {:?} is there twice", act.id())));
            }
        }
        // What others told of is here, too, as far as this log goes.
        let Some(last) = decisions.keys().next_back() else {
            return missing;
        };
        for (height, turn) in self.turns.range(first..=*last) {
            if has(height) != Some(turn.id()) {
                let what = format!("the log has not the turn at {height} that was told");
                missing.push((Law::Lost, what));
            }
            for act in turn.body.acts().iter().filter(|act| !seen.contains(&act.id())) {
                missing.push((Law::Lost, format!("act {:?} is not there", act.id())));
            }
        }
        missing
    }

    /// Returns where a lane goes back. Sequences should grow from height to height.
    pub(crate) fn lanes_go_back(decisions: &BTreeMap<Height, Arc<Decision>>) -> Vec<String> {
        let (mut last, mut back) = (BTreeMap::new(), vec![]);
        for (height, decision) in decisions {
            let mut here: BTreeMap<_, BTreeSet<Seq>> = BTreeMap::new();
            for act in decision.turn.body.acts() {
                let envelope = &act.envelope;
                let lane = (envelope.author, envelope.lane);
                let new = here.entry(lane).or_default().insert(envelope.seq);
                let after = last.get(&lane).is_none_or(|last| envelope.seq > *last);
                if !new || !after {
                    back.push(format!("{height} has {lane:?} {:?} again", envelope.seq));
                }
            }
            let newest = here.into_iter().filter_map(|(lane, seqs)| Some((lane, *seqs.last()?)));
            last.extend(newest);
        }
        back
    }

    /// The last turns that were told, at most so many, the newest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = &Arc<Turn>> {
        self.turns.values().rev().take(count)
    }

    /// Returns whether an act is in one of the turns after a height, up to another.
    #[must_use]
    pub fn has_act(&self, act: ActId, after: Height, up_to: Height) -> bool {
        let turns = self.turns.range(after.plus(1)..=up_to);
        turns.flat_map(|(_, turn)| turn.body.acts()).any(|known| known.id() == act)
    }

    /// Returns whether the turns after a height, up to another, settle an act: it is in one of them, or can
    /// be in none any more, because it expired or a later one of its lane came first.
    #[must_use]
    pub fn settles(&self, act: &Envelope, after: Height, up_to: Height) -> bool {
        let turns = self.turns.range(after.plus(1)..=up_to);
        let mut acts = turns.flat_map(|(_, turn)| turn.body.acts()).map(|known| &known.envelope);
        let lane = (act.author, act.lane);
        let used_up = |other: &Envelope| (other.author, other.lane) == lane && other.seq >= act.seq;
        act.last_valid < up_to || acts.any(used_up)
    }
}

#[cfg(test)]
mod tests {
    use super::{Law, TurnHistory};
    use crate::samples::{SIM, key, turn, with_acts};
    use metatopia_consensus::Decision;
    use metatopia_types::{
        Act, Certificate, Digest, Envelope, HeaderId, Height, Lane, Millis, Root, Round, Seq,
        Sign as _, Turn,
    };
    use std::sync::Arc;

    const LENGTH: u64 = 50;

    fn history(times: &[u64]) -> TurnHistory {
        let mut history = TurnHistory::new(4, Millis(0));
        let mut previous = HeaderId::BEFORE_FIRST;
        for (height, time) in (1..).zip(times) {
            let turn = turn(height, *time, previous);
            previous = turn.id();
            history.disagrees(Height(height), turn.id());
            history.extend(&Arc::new(turn));
        }
        history
    }

    fn time_is_wrong(times: &[u64], latest: u64) -> bool {
        let last = Height(times.len() as u64);
        history(times).time_is_wrong(last, LENGTH, Millis(latest)).is_some()
    }

    #[test]
    fn time_goes_on_in_slots_or_in_the_smallest_step_and_not_past_clocks() {
        for (second, latest, wrong) in [
            (150, 200, false),
            (101, 200, false),
            (150, 100, true),
            (101, 50, false),
            (100, 200, true),
            (50, 200, true),
            (120, 200, true),
        ] {
            assert_eq!(time_is_wrong(&[100, second], latest), wrong, "{second}, clocks {latest}");
        }
    }

    /// A proposer whose clock had been set back before the first turn took the smallest step after the
    /// founding, which was called no slot (seed 1099).
    #[test]
    fn the_first_turn_goes_on_from_the_founding() {
        for (first, wrong) in [(1_000, true), (1_001, false), (1_002, true), (1_050, false)] {
            let mut history = TurnHistory::new(4, Millis(1_000));
            history.extend(&Arc::new(turn(1, first, HeaderId::BEFORE_FIRST)));
            let fault = history.time_is_wrong(Height(1), LENGTH, Millis(2_000));
            assert_eq!(fault.is_some(), wrong, "{first}: {fault:?}");
        }
    }

    #[test]
    fn a_turn_that_does_not_follow_the_one_before_it_is_seen() {
        assert!(history(&[50, 100, 150]).breaks().is_empty());

        let mut history = history(&[50, 100, 150]);
        history.turns.insert(Height(2), Arc::new(turn(2, 100, HeaderId::BEFORE_FIRST)));
        let breaks = history.breaks();

        assert_eq!(breaks, [(Height(2), "does not follow the turn before it")]);
    }

    #[test]
    fn the_root_of_most_servers_counts() {
        let mut history = history(&[50, 100, 150]);
        let other = Root(Digest([7; 32]));
        history.note_root(3, Height(1), other);
        for seat in 0..3 {
            history.note_root(seat, Height(1), Root(Digest::ZERO));
        }
        assert_eq!(history.diverged(), [(3, Height(1))]);
        assert!(history.breaks().is_empty());

        for seat in 0..2 {
            history.note_root(seat, Height(1), other);
            history
                .roots
                .get_mut(&Height(1))
                .unwrap()
                .get_mut(&Root(Digest::ZERO))
                .unwrap()
                .clear();
        }

        assert_eq!(history.breaks(), [(Height(3), "states another root than servers had")]);
    }

    #[test]
    fn an_act_is_settled_once_it_is_decided_or_can_not_be_any_more() {
        let (key, last_valid, act) = (key(0), Height(9), Act::Leave);
        let envelope = |lane, seq| {
            let (sim, author, act) = (SIM, key.public(), act.clone());
            Envelope { sim, author, lane: Lane(lane), seq: Seq(seq), last_valid, act }
        };
        let mut history = history(&[50]);
        let second = with_acts(2, 100, HeaderId::BEFORE_FIRST, vec![envelope(1, 5).sign(&key)]);
        history.extend(&Arc::new(second));

        let settles = |act: &Envelope, after, by| history.settles(act, Height(after), Height(by));
        assert!(settles(&envelope(1, 5), 1, 2), "decided");
        assert!(settles(&envelope(1, 4), 1, 2), "a later one of its lane is decided");
        assert!(settles(&envelope(1, 6), 1, 10), "expired");
        for waits in [envelope(1, 6), envelope(2, 5)] {
            assert!(!settles(&waits, 1, 2), "{waits:?}");
        }
        assert!(!settles(&envelope(1, 5), 2, 9), "decided before");
    }

    #[test]
    fn a_log_that_lacks_a_turn_or_has_an_act_twice_is_seen() {
        let (sim, author, key) = (SIM, key(0).public(), key(0));
        let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(9));
        let act = Envelope { sim, author, lane, seq, last_valid, act: Act::Leave }.sign(&key);
        let first = with_acts(1, 50, HeaderId::BEFORE_FIRST, vec![act]);
        let mut second = turn(2, 100, first.id());
        let mut told = TurnHistory::new(4, Millis(0));
        for turn in [&first, &second] {
            told.note_told(0, turn.header.height, turn.id());
            told.extend(&Arc::new(turn.clone()));
        }
        let decided = |turn: &Turn| {
            let (height, header) = (turn.header.height, turn.id());
            let certificate = Certificate { height, header, round: Round(0), signatures: vec![] };
            (height, Arc::new(Decision { certificate, turn: Arc::new(turn.clone()) }))
        };
        let laws = |logs: &[&Turn]| {
            let log = logs.iter().map(|turn| decided(turn)).collect();
            told.missing(0, &log).into_iter().map(|(law, _)| law).collect::<Vec<_>>()
        };

        assert!(laws(&[&first, &second]).is_empty());
        assert_eq!(laws(&[&first]), [Law::Lost], "it told of the second one");
        second.body = first.body.clone();
        assert_eq!(laws(&[&first, &second]), [Law::Twice]);
        let log = [&first, &second].map(decided).into_iter().collect();
        assert_eq!(TurnHistory::lanes_go_back(&log).len(), 1);
    }
}
