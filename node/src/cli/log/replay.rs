//! Plays a log again from genesis, and checks everything that it claims on the way.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use metatopia_consensus::{Base, Decision, JoinError, Record, Trust, certified, members_at};
use metatopia_sim::{Applied, Course, ForkJoin, Unsound, Watch, World};
use metatopia_types::{
    Certificate, CertificateError, Ed25519, HeaderId, Height, Recovery, Root, SignedRecovery, Turn,
    ValidatorSet,
};

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum Wrong {
    #[error("the snapshot of height {height}: {why}")]
    Snapshot { height: Height, why: JoinError },
    #[error("the snapshot of height {0} is not of the state that was agreed on")]
    OtherState(Height),
    #[error("turns {} to {} are missing, and no snapshot proves what follows: {why}", gap.0, gap.1)]
    Gap { gap: (Height, Height), why: String },
    #[error("turn {0} is decided a second time, as another turn")]
    Twice(Height),
    #[error("the decided turn {0} is not in the log")]
    NoTurn(HeaderId),
    #[error(transparent)]
    Turn(#[from] Unsound),
    #[error("recovery {number} to turn {height}: {why}")]
    Recovery { number: u32, height: Height, why: CertificateError },
    #[error("recovery {number} to turn {height} is for another sim, or for another turn")]
    OtherRecovery { number: u32, height: Height },
    #[error("the servers recovered to root {stated} after turn {of}, the turns give {found}")]
    Recovered { of: Height, stated: Root, found: Root },
    #[error("the log notes root {stated} after turn {of}, the turns give {found}")]
    Noted { of: Height, stated: Root, found: Root },
}

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

/// A log being played again.
pub(super) struct Replay {
    course: Course,
    turns: BTreeMap<HeaderId, Arc<Turn>>,
    /// The height after which the world begins: 0 for genesis.
    base: Height,
    /// The turn of that height.
    base_header: HeaderId,
    /// The last turn at or below the base.
    before_base: Option<HeaderId>,
    /// The height of the last turn in the log; of one that begins at genesis, 0 at first.
    seen: Option<Height>,
    /// Turns that the log does not hold between others: the first and the last.
    missing: Vec<(Height, Height)>,
    /// The first turn in the log.
    first: Option<Height>,
    /// The decided turns in order, from the one after the base on.
    decided: Vec<HeaderId>,
    acts: u64,
    /// The first note of a root that the turns do not give, unless the server has healed since.
    noted: Option<Wrong>,
    /// How often it healed.
    heals: u64,
    /// The recoveries that it took.
    recoveries: Vec<Recovery>,
    /// Who voted lately.
    voters: BTreeMap<Height, ValidatorSet>,
}

/// Heights whose voters are remembered: a recovery is to one of the last two turns.
const VOTERS_KEPT: usize = 8;

impl Replay {
    /// Begins with the world at height 0.
    pub(super) fn new(world: World) -> Self {
        Self::from(Height(0), HeaderId::default(), world)
    }

    /// Begins with a snapshot, which must be the one that the two turns after it prove. Trusts the
    /// first validators, and the set changes since then.
    pub(super) fn after(
        trust: &Trust,
        base: &Base,
        world: World,
        [next, last]: [&Decision; 2],
    ) -> Result<Self, Wrong> {
        let height = base.height;
        let no_snapshot = |why| Wrong::Snapshot { height, why };
        let (sim, header) = (world.sim(), &last.turn.header);
        let members = members_at(&base.links, sim, trust, header.height, &Ed25519);
        let members = members.map_err(no_snapshot)?;
        let proved = certified(sim, header, &last.certificate, &members, &Ed25519);
        proved.map_err(no_snapshot)?;
        let before = &next.turn.header;
        let follows = (before.height, header.height) == (height.plus(1), height.plus(2));
        if !follows || header.previous != next.turn.id() || before.previous != base.header {
            return Err(Wrong::OtherState(height));
        }
        let same = base.roots == [before.root, header.root] && world.root() == header.root;
        if !same || world.height() != height {
            return Err(Wrong::OtherState(height));
        }
        let named = [before.validators, header.validators, header.next_validators];
        for (at, named) in (1..).map(|ahead| height.plus(ahead)).zip(named) {
            if world.validators(at).is_none_or(|set| set.id() != named) {
                return Err(no_snapshot(JoinError::OtherSet(at)));
            }
        }
        Ok(Self::from(height, base.header, world))
    }

    fn from(base: Height, base_header: HeaderId, world: World) -> Self {
        Self {
            course: Course::new(world),
            turns: BTreeMap::new(),
            base,
            base_header,
            before_base: None,
            seen: (base == Height(0)).then_some(base),
            missing: Vec::new(),
            first: None,
            decided: Vec::new(),
            acts: 0,
            noted: None,
            heals: 0,
            recoveries: Vec::new(),
            voters: BTreeMap::new(),
        }
    }

    pub(super) const fn world(&self) -> &World {
        self.course.world()
    }

    pub(super) const fn acts(&self) -> u64 {
        self.acts
    }

    pub(super) const fn heals(&self) -> u64 {
        self.heals
    }

    /// Which state the servers' operators said that it went on from, and after which turn.
    pub(super) fn recoveries(&self) -> &[Recovery] {
        &self.recoveries
    }

    /// What is wrong at the end of the log.
    pub(super) fn finish(&mut self) -> Result<(), Wrong> {
        self.noted.take().map_or(Ok(()), Err)
    }

    /// The turns that the log leaves out if one of this height is next in it.
    pub(super) fn gap(&self, height: Height) -> Option<(Height, Height)> {
        let next = self.seen?.plus(1);
        let last = height.minus(1).filter(|last| *last >= next)?;
        Some((next, last))
    }

    /// Was a turn of this height in the log, or put back into it?
    pub(super) fn has_seen(&self, height: Height) -> bool {
        self.seen.is_some_and(|seen| height <= seen)
    }

    /// Goes on behind a gap, with a replay that begins there.
    pub(super) fn jump(&mut self, gap: (Height, Height), to: Self) {
        let before = std::mem::replace(self, to);
        (self.turns, self.first, self.acts) = (before.turns, before.first, before.acts);
        self.seen = before.seen;
        (self.noted, self.heals, self.missing) = (before.noted, before.heals, before.missing);
        self.recoveries = before.recoveries;
        self.missing.push(gap);
    }

    /// Passes over a gap among the turns up to the base, which the base itself holds.
    pub(super) fn skip(&mut self, gap: (Height, Height)) {
        self.before_base = None;
        self.missing.push(gap);
    }

    /// Where the world begins.
    pub(super) const fn base(&self) -> Height {
        self.base
    }

    /// The turns that are missing between others.
    pub(super) fn missing(&self) -> &[(Height, Height)] {
        &self.missing
    }

    /// The first turn in the log, where one was seen.
    pub(super) const fn first(&self) -> Option<Height> {
        self.first
    }

    /// The height that the world begins after, and the turns from there on.
    pub(super) fn into_decided(self) -> (Height, Vec<HeaderId>) {
        (self.base, self.decided)
    }

    /// Takes the next record.
    pub(super) fn take(
        &mut self,
        record: Record,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, Wrong> {
        match record {
            Record::Turn(turn)
                if turn.header.height > self.world().height() || self.decided.is_empty() =>
            {
                self.turns.insert(turn.id(), turn);
            }
            Record::Decided(certificate) => {
                self.first.get_or_insert(certificate.height);
                let again = self.has_seen(certificate.height);
                self.seen = self.seen.max(Some(certificate.height));
                if !self.decided.is_empty() || certificate.height > self.base {
                    return self.decide(&certificate, exec, onlooker);
                }
                if !again {
                    self.link(&certificate)?;
                }
            }
            Record::Applied { height, root, .. } => match self.course.root(height) {
                Some(found) if found != root => {
                    self.noted.get_or_insert(Wrong::Noted { of: height, stated: root, found });
                }
                _ => {}
            },
            Record::Healed { from } => {
                self.heals += 1;
                let healed = matches!(self.noted, Some(Wrong::Noted { of, .. }) if of >= from);
                self.noted.take_if(|_| healed);
            }
            Record::Recovered(signed) => self.recover(&signed)?,
            // Votes and the like led to what is decided; the certificate is their sum.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Follows the turns up to the base, of which the base holds what became of them: each names the
    /// one before it, so the base's header names them all.
    fn link(&mut self, certificate: &Certificate) -> Result<(), Wrong> {
        let id = certificate.header;
        let Some(turn) = self.turns.remove(&id) else {
            // Its bytes may lie before the log's beginning.
            return match self.before_base {
                None => Ok(()),
                Some(_) => Err(Wrong::NoTurn(id)),
            };
        };
        if self.before_base.is_some_and(|before| before != turn.header.previous) {
            return Err(Unsound::Header("another turn before it").into());
        }
        let body = turn.check_body();
        body.map_err(|error| error.map_or(Unsound::OtherBody, Unsound::Body))?;
        if certificate.height == self.base && id != self.base_header {
            return Err(Wrong::OtherState(self.base));
        }
        self.before_base = Some(id);
        Ok(())
    }

    /// Servers agreed by hand on the state after one of the last turns; those who vote next signed.
    fn recover(&mut self, signed: &SignedRecovery) -> Result<(), Wrong> {
        let recovery = &signed.recovery;
        let (number, height) = (recovery.number, recovery.height);
        if height < self.base.plus(1) {
            // What became of it is in the snapshot, which the turns after it prove.
            return Ok(());
        }
        let at = height.0.checked_sub(self.base.0 + 1).and_then(|at| usize::try_from(at).ok());
        let same = at.and_then(|at| self.decided.get(at)) == Some(&recovery.header);
        let next = height.plus(1);
        let voters = self.voters.get(&next).or_else(|| self.world().validators(next));
        let Some(voters) = voters.filter(|_| same && recovery.sim == self.world().sim()) else {
            return Err(Wrong::OtherRecovery { number, height });
        };
        let signed = signed.verify(voters, &Ed25519);
        signed.map_err(|why| Wrong::Recovery { number, height, why })?;
        let heights = [height.minus(1).unwrap_or_default(), height];
        for (of, stated) in heights.into_iter().zip(recovery.roots) {
            if let Some(found) = self.course.root(of).filter(|found| *found != stated) {
                return Err(Wrong::Recovered { of, stated, found });
            }
        }
        self.noted
            .take_if(|wrong| matches!(wrong, Wrong::Noted { of, .. } if of.plus(1) >= height));
        self.recoveries.push(recovery.clone());
        Ok(())
    }

    fn decide(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, Wrong> {
        let (height, next) = (certificate.height, self.world().height().plus(1));
        if height < next {
            let since = height.0.checked_sub(self.base.0 + 1);
            let at = since.and_then(|since| usize::try_from(since).ok());
            let known = at.and_then(|at| self.decided.get(at));
            let same = known == Some(&certificate.header);
            return if same { Ok(ControlFlow::Continue(())) } else { Err(Wrong::Twice(height)) };
        }
        if let Some(last) = height.minus(1).filter(|last| *last >= next) {
            let why = "they are passed over".to_owned();
            return Err(Wrong::Gap { gap: (next, last), why });
        }
        let id = certificate.header;
        let turn = self.turns.remove(&id).ok_or(Wrong::NoTurn(id))?;
        // A world from a snapshot does not know the turn before it.
        if self.decided.is_empty() && turn.header.previous != self.base_header {
            return Err(Unsound::Header("another turn before it").into());
        }
        self.course.check(&turn, certificate)?;
        if let Some(voters) = self.world().validators(height).cloned() {
            self.voters.insert(height, voters);
        }
        if self.voters.len() > VOTERS_KEPT {
            self.voters.pop_first();
        }
        let applied = self.course.follow(&turn, exec, onlooker);
        self.acts += turn.body.acts().len() as u64;
        self.decided.push(id);
        self.turns.retain(|_, turn| turn.header.height > height);
        Ok(onlooker.applied(&applied, self.course.world()))
    }
}
