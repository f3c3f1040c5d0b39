//! Plays a log again from genesis, and checks everything that it claims on the way.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use metatopia_consensus::Record;
use metatopia_sim::{
    Applied, Course, ForkJoin, Genesis, GenesisError, Tools, Unsound, Watch, World,
};
use metatopia_types::{Certificate, Ed25519, HeaderId, Height, Root, Turn};

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::cli) enum Wrong {
    #[error("turn {0} is decided where {1} is next")]
    OutOfOrder(Height, Height),
    #[error("turn {0} is decided a second time, as another turn")]
    Twice(Height),
    #[error("the decided turn {0} is not in the log")]
    NoTurn(HeaderId),
    #[error(transparent)]
    Turn(#[from] Unsound),
    #[error("the log notes root {stated} after turn {of}, the turns give {found}")]
    Noted { of: Height, stated: Root, found: Root },
}

/// Looks at turns while they are played again.
pub(in crate::cli) trait Onlooker: Watch {
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
    /// The decided turns in order, from height 1.
    decided: Vec<HeaderId>,
    acts: u64,
}

impl Replay {
    pub(super) fn new(genesis: &Genesis) -> Result<Self, GenesisError> {
        let world = World::genesis(genesis, &Tools::new(Arc::new(Ed25519)))?;
        let course = Course::new(world);
        Ok(Self { course, turns: BTreeMap::new(), decided: Vec::new(), acts: 0 })
    }

    pub(super) const fn world(&self) -> &World {
        self.course.world()
    }

    pub(super) const fn acts(&self) -> u64 {
        self.acts
    }

    pub(super) fn into_decided(self) -> Vec<HeaderId> {
        self.decided
    }

    /// Takes the next record.
    pub(super) fn take(
        &mut self,
        record: Record,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, Wrong> {
        match record {
            Record::Turn(turn) if turn.header.height > self.world().height() => {
                self.turns.insert(turn.id(), turn);
            }
            Record::Decided(certificate) => return self.decide(&certificate, exec, onlooker),
            Record::Applied { height, root, .. } => match self.course.root(height) {
                Some(found) if found != root => {
                    return Err(Wrong::Noted { of: height, stated: root, found });
                }
                _ => {}
            },
            // Votes and the like led to what is decided; the certificate is their sum.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decide(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        onlooker: &mut dyn Onlooker,
    ) -> Result<ControlFlow<()>, Wrong> {
        let (height, next) = (certificate.height, self.world().height().plus(1));
        if height < next {
            let at = usize::try_from(height.0).ok().and_then(|n| n.checked_sub(1));
            let known = at.and_then(|at| self.decided.get(at));
            let same = known == Some(&certificate.header);
            return if same { Ok(ControlFlow::Continue(())) } else { Err(Wrong::Twice(height)) };
        }
        if height > next {
            return Err(Wrong::OutOfOrder(height, next));
        }
        let id = certificate.header;
        let turn = self.turns.remove(&id).ok_or(Wrong::NoTurn(id))?;
        self.course.check(&turn, certificate)?;
        let applied = self.course.follow(&turn, exec, onlooker);
        self.acts += turn.body.acts().len() as u64;
        self.decided.push(id);
        self.turns.retain(|_, turn| turn.header.height > height);
        Ok(onlooker.applied(&applied, self.course.world()))
    }
}
