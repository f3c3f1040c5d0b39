//! Plays a log again, and checks everything that it claims on the way.
//!
//! Every turn is held against its certificate, by those who voted then, and against the turn before it.
//! Where there is a state for it, it is applied as well, and all roots that are stated are compared.

mod notes;

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use metatopia_consensus::{Base, Decision, JoinPackError, Record, certified};
use metatopia_replica::RECORDS_BACK_HEIGHTS;
use metatopia_sim::{Applied, Course, ENGINE, ForkJoin, Unsound, Watch, World};
use metatopia_types::{
    Certificate, Ed25519, HeaderId, Height, PublicKey, Recovery, SimId, Turn, ValidatorSet,
};

use self::notes::StateNotes;
use super::{
    voters::VoterHistory,
    wrong::{LogFault, Wrong},
};

/// Looks at turns while they are played again.
pub(in crate::cli) trait Onlooker: Watch {
    /// Turns are applied from here on, to the state after this one. Breaks off to see no turn.
    fn begins(&mut self, _: Height) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Has it seen nothing yet that it must not see a second time?
    fn may_begin_again(&self) -> bool {
        true
    }

    /// A turn was applied. Breaks off to see no more.
    fn applied(&mut self, applied: &Applied, world: &World) -> ControlFlow<()>;
}

/// Sees nothing of it.
impl Onlooker for () {
    fn applied(&mut self, _: &Applied, _: &World) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A state that turns are applied to.
pub(super) struct ReplayState {
    course: Course,
    /// The height after which it began: 0 for genesis.
    base: Height,
    /// The turn of that height.
    base_header: HeaderId,
    /// Was no turn applied to it yet?
    fresh: bool,
}

impl ReplayState {
    /// The world at height 0.
    pub(super) fn genesis(world: World) -> Self {
        Self::from(Height(0), HeaderId::default(), world)
    }

    fn from(base: Height, base_header: HeaderId, world: World) -> Self {
        Self { course: Course::new(world), base, base_header, fresh: true }
    }

    /// The height after which it began.
    pub(super) const fn base(&self) -> Height {
        self.base
    }

    /// The state of a snapshot, which must be the one that the two turns after it prove. It is known
    /// who votes at the height after it.
    pub(super) fn prove(
        voters: &VoterHistory,
        base: &Base,
        world: World,
        [next, last]: [&Decision; 2],
    ) -> Result<Self, Wrong> {
        let (height, sim) = (base.height, world.sim());
        let no_snapshot = |why| Wrong::Snapshot { height, why };
        let (before, header) = (&next.turn.header, &last.turn.header);
        let follows = (before.height, header.height) == (height.plus(1), height.plus(2));
        if !follows || header.previous != next.turn.id() || before.previous != base.header {
            return Err(Wrong::OtherState(height));
        }
        let first = voters.at(before.height);
        let first = first.ok_or_else(|| no_snapshot(JoinPackError::MissingLink(before.height)))?;
        certified(sim, before, &next.certificate, first, &Ed25519).map_err(no_snapshot)?;
        // The turn after the snapshot may itself change who votes: its header names them.
        let second = if before.next_validators == first.id() { first } else { &base.sets[1] };
        if before.next_validators != second.id() {
            return Err(no_snapshot(JoinPackError::OtherSet(header.height)));
        }
        certified(sim, header, &last.certificate, second, &Ed25519).map_err(no_snapshot)?;
        let same = base.roots == [before.root, header.root] && world.root() == header.root;
        if !same || world.height() != height {
            return Err(Wrong::OtherState(height));
        }
        let named = [before.validators, header.validators, header.next_validators];
        for (at, named) in (1..).map(|ahead| height.plus(ahead)).zip(named) {
            if world.validators(at).is_none_or(|set| set.id() != named) {
                return Err(no_snapshot(JoinPackError::OtherSet(at)));
            }
        }
        Ok(Self::from(height, base.header, world))
    }

    /// Checks the next turn, and applies it.
    fn apply(
        &mut self,
        turn: &Turn,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<Applied, Wrong> {
        // A world from a snapshot does not know the turn before it.
        if self.fresh && turn.header.previous != self.base_header {
            return Err(Unsound::Header("another turn before it").into());
        }
        self.course.check(turn, certificate)?;
        self.fresh = false;
        Ok(self.course.follow(turn, exec, onlooker))
    }
}

/// Adds a height to ascending ranges, behind their end.
fn extend(ranges: &mut Vec<(Height, Height)>, height: Height) {
    match ranges.last_mut() {
        Some((_, last)) if height <= *last => {}
        Some((_, last)) if last.plus(1) == height => *last = height,
        _ => ranges.push((height, height)),
    }
}

/// A log being played again.
pub(super) struct Replay {
    sim: SimId,
    server: PublicKey,
    voters: VoterHistory,
    /// Nothing while there is no state to apply turns to: then they are held against their
    /// certificates and each other only.
    state: Option<ReplayState>,
    turns: BTreeMap<HeaderId, Arc<Turn>>,
    /// The decided turns, each held against its certificate and the one before it.
    held: BTreeMap<Height, HeaderId>,
    /// The turn before, unless turns are missing in between.
    last: Option<HeaderId>,
    /// The height of the last turn; of a log that begins at genesis, 0 at first.
    seen: Option<Height>,
    /// The height that the log's own records have come to.
    at: Height,
    /// The last height that these decided.
    logged: Option<Height>,
    /// The bytes of the turns below this height may lie before the log's beginning.
    lacks_below: Height,
    /// Turns that are not there between others: the first and the last.
    missing: Vec<(Height, Height)>,
    /// Turns that are there, of heights for which it is not known who voted.
    unheld: Vec<(Height, Height)>,
    /// Turns that were applied.
    applied: Vec<(Height, Height)>,
    acts: u64,
    notes: StateNotes,
}

impl Replay {
    /// Begins with a state, if there is one. The log's own records begin at the height `begin`; with
    /// `cut` earlier ones were removed.
    pub(super) fn new(
        sim: SimId,
        server: PublicKey,
        voters: VoterHistory,
        state: Option<ReplayState>,
        (begin, cut): (Height, bool),
    ) -> Self {
        let genesis = state.as_ref().is_some_and(|state| state.base == Height(0));
        Self {
            sim,
            server,
            voters,
            state,
            turns: BTreeMap::new(),
            held: BTreeMap::new(),
            last: genesis.then(HeaderId::default),
            seen: genesis.then_some(Height(0)),
            at: begin,
            logged: None,
            lacks_below: if cut { begin.plus(RECORDS_BACK_HEIGHTS) } else { Height(0) },
            missing: Vec::new(),
            unheld: Vec::new(),
            applied: Vec::new(),
            acts: 0,
            notes: StateNotes::default(),
        }
    }

    pub(super) fn world(&self) -> Option<&World> {
        self.state.as_ref().map(|state| state.course.world())
    }

    /// Where the world begins.
    pub(super) fn base(&self) -> Option<Height> {
        self.state.as_ref().map(|state| state.base)
    }

    pub(super) const fn voters(&mut self) -> &mut VoterHistory {
        &mut self.voters
    }

    pub(super) const fn acts(&self) -> u64 {
        self.acts
    }

    pub(super) const fn heals(&self) -> u64 {
        self.notes.heals
    }

    /// Which state the servers' operators said that it went on from, and after which turn.
    pub(super) fn recoveries(&self) -> &[Recovery] {
        &self.notes.recoveries
    }

    /// The height that the log's own records have come to.
    pub(super) const fn at(&self) -> Height {
        self.at
    }

    /// The turns that are missing between others.
    pub(super) fn missing(&self) -> &[(Height, Height)] {
        &self.missing
    }

    /// The turns that are there and cannot be held against anything.
    pub(super) fn unheld(&self) -> &[(Height, Height)] {
        &self.unheld
    }

    /// The turns that were applied.
    pub(super) fn applied(&self) -> &[(Height, Height)] {
        &self.applied
    }

    /// All decided turns that are there.
    pub(super) fn into_held(self) -> BTreeMap<Height, HeaderId> {
        self.held
    }

    /// Which of what was found is wrong first: what broke the replay off, or a note that the turns did
    /// not bear out and that the server has not taken back since.
    pub(super) fn finish(&mut self, broken: Option<LogFault>) -> Option<LogFault> {
        let noted = self.notes.wrong.take();
        let earlier = |noted: &LogFault| broken.as_ref().is_none_or(|b| noted.height <= b.height);
        noted.filter(earlier).or(broken)
    }

    /// The turns that are left out if one of this height is next.
    pub(super) fn gap(&self, height: Height) -> Option<(Height, Height)> {
        let next = self.seen?.plus(1);
        let last = height.minus(1).filter(|last| *last >= next)?;
        Some((next, last))
    }

    /// Passes over a gap: turns behind it are applied to another state, or to the same one if that
    /// begins behind it.
    pub(super) fn pass(&mut self, gap: (Height, Height), to: Option<ReplayState>) {
        if to.is_some() {
            self.state = to;
        }
        (self.last, self.seen) = (None, Some(gap.1));
        self.missing.push(gap);
    }

    /// There is no state for the turns that follow.
    pub(super) fn lose_state(&mut self) {
        self.state = None;
    }

    /// The log's own records go on at this height.
    pub(super) fn come_to(&mut self, height: Height) {
        self.at = self.at.max(height);
    }

    /// Takes a turn that was put back into the log.
    pub(super) fn put_back(
        &mut self,
        turn: Decision,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, LogFault> {
        self.turns.insert(turn.id(), Arc::clone(&turn.turn));
        self.decide(&turn.certificate, exec, onlooker)
    }

    /// Takes the next record of the log itself.
    pub(super) fn take(
        &mut self,
        record: Record,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, LogFault> {
        let Record::Decided(certificate) = record else {
            self.note(record)?;
            return Ok(ControlFlow::Continue(()));
        };
        let height = certificate.height;
        if self.logged.is_some_and(|logged| height <= logged) {
            return Err(Wrong::Twice(height).at(height));
        }
        self.logged = Some(height);
        let decided = self.decide(&certificate, exec, onlooker);
        self.come_to(height.plus(1));
        self.turns.retain(|_, turn| turn.header.height > height);
        decided
    }

    /// A turn was decided.
    fn decide(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, LogFault> {
        let height = certificate.height;
        let found = match self.held.get(&height).copied() {
            Some(known) => self.decide_again(certificate, known),
            None => self.decide_next(certificate, exec, onlooker),
        };
        found.map_err(|wrong| wrong.at(height))
    }

    /// The same turn was put back, and is in the log.
    fn decide_again(
        &self,
        certificate: &Certificate,
        known: HeaderId,
    ) -> Result<ControlFlow<()>, Wrong> {
        if known != certificate.header {
            return Err(Wrong::Twice(certificate.height));
        }
        if let Some(set) = self.voters.at(certificate.height) {
            self.check_certificate(certificate, set)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decide_next(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, Wrong> {
        let (height, id) = (certificate.height, certificate.header);
        let due = self.seen.map(|seen| seen.plus(1));
        if let Some(due) = due.filter(|due| *due != height) {
            return Err(Wrong::Misplaced { what: "decision", height, at: due });
        }
        let Some(turn) = self.turns.remove(&id) else {
            if height >= self.lacks_below || !self.held.is_empty() {
                return Err(Wrong::NoTurn(id));
            }
            // The certificate must hold all the same: the turn after it names it.
            if let Some(set) = self.voters.at(height) {
                self.check_certificate(certificate, set)?;
            }
            (self.last, self.seen) = (Some(id), Some(height));
            return Ok(ControlFlow::Continue(()));
        };
        if self.last.is_some_and(|last| last != turn.header.previous) {
            return Err(Unsound::Header("another turn before it").into());
        }
        let flow = match self.state.as_mut().filter(|state| height > state.base) {
            Some(state) => {
                let applied = state.apply(&turn, certificate, exec, onlooker)?;
                self.voters.learn(state.course.world());
                self.notes.applied(&applied, state.course.world());
                extend(&mut self.applied, height);
                onlooker.applied(&applied, state.course.world())
            }
            None => {
                self.hold(&turn, certificate)?;
                ControlFlow::Continue(())
            }
        };
        self.acts += turn.body.acts().len() as u64;
        self.notes.stated(&turn.header);
        (self.last, self.seen) = (Some(id), Some(height));
        self.held.insert(height, id);
        Ok(flow)
    }

    /// Holds a turn against its certificate where there is no state to apply it to.
    fn hold(&mut self, turn: &Turn, certificate: &Certificate) -> Result<(), Wrong> {
        let (header, height) = (&turn.header, certificate.height);
        let claims = [
            (header.sim == self.sim, "another sim"),
            (header.engine == ENGINE, "another engine"),
            (header.height == height, "another height"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Unsound::Header(what).into());
        }
        let body = turn.check_body();
        body.map_err(|error| error.map_or(Unsound::OtherBody, Unsound::Body))?;
        let base = self.state.as_ref().filter(|state| state.base == height);
        if base.is_some_and(|state| state.base_header != certificate.header) {
            return Err(Wrong::OtherState(height));
        }
        let Some(set) = self.voters.at(height) else {
            extend(&mut self.unheld, height);
            return Ok(());
        };
        if header.validators != set.id() {
            return Err(Unsound::Header("other validators").into());
        }
        self.check_certificate(certificate, set)?;
        self.voters.follow(header);
        Ok(())
    }

    fn check_certificate(
        &self,
        certificate: &Certificate,
        set: &ValidatorSet,
    ) -> Result<(), Unsound> {
        certificate.verify(self.sim, set, &Ed25519).map_err(Unsound::Certificate)
    }
}
