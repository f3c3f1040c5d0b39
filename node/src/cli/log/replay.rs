//! Plays a log again from genesis, and checks everything that it claims on the way.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_consensus::Record;
use metatopia_sim::{ENGINE, ForkJoin, Genesis, GenesisError, Tools, World, judge_turn};
use metatopia_types::{
    Certificate, Ed25519, HeaderId, Height, Millis, Root, Turn, limits::ROOT_LAG,
};

/// Roots that are remembered, to compare with what the log says of them: a server may be that many
/// turns behind with applying.
const ROOTS_KEPT: u64 = 256;

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Wrong {
    #[error("turn {0} is decided where {1} is next")]
    OutOfOrder(Height, Height),
    #[error("turn {0} is decided a second time, as another turn")]
    Twice(Height),
    #[error("the decided turn {0} is not in the log")]
    NoTurn(HeaderId),
    #[error("its header says {0}")]
    Header(&'static str),
    #[error("its certificate: {0}")]
    Certificate(metatopia_types::CertificateError),
    #[error("its body: {0}")]
    Body(metatopia_types::BodyError),
    #[error("its body is not the one that its header names")]
    OtherBody,
    #[error("it is void: {0}")]
    Void(metatopia_sim::TurnFault),
    #[error("its header states root {stated} after turn {of}, the turns before it give {found}")]
    Root { of: Height, stated: Root, found: Root },
    #[error("the log notes root {stated} after turn {of}, the turns give {found}")]
    Noted { of: Height, stated: Root, found: Root },
}

/// A log being played again.
pub(super) struct Replay {
    world: World,
    turns: BTreeMap<HeaderId, Arc<Turn>>,
    /// The decided turns in order, from height 1.
    decided: Vec<HeaderId>,
    time: Millis,
    roots: BTreeMap<Height, Root>,
    acts: u64,
}

impl Replay {
    pub(super) fn new(genesis: &Genesis) -> Result<Self, GenesisError> {
        let world = World::genesis(genesis, &Tools::new(Arc::new(Ed25519)))?;
        Ok(Self {
            roots: BTreeMap::from([(Height(0), world.root())]),
            world,
            turns: BTreeMap::new(),
            decided: Vec::new(),
            time: Millis(0),
            acts: 0,
        })
    }

    pub(super) fn root(&self) -> Root {
        self.world.root()
    }

    pub(super) const fn acts(&self) -> u64 {
        self.acts
    }

    pub(super) fn into_decided(self) -> Vec<HeaderId> {
        self.decided
    }

    /// Takes the next record.
    pub(super) fn take(&mut self, record: Record, exec: &dyn ForkJoin) -> Result<(), Wrong> {
        match record {
            Record::Turn(turn) if turn.header.height > self.world.height() => {
                self.turns.insert(turn.id(), turn);
                Ok(())
            }
            Record::Decided(certificate) => self.decide(&certificate, exec),
            Record::Applied { height, root, .. } => match self.roots.get(&height) {
                Some(found) if *found != root => {
                    Err(Wrong::Noted { of: height, stated: root, found: *found })
                }
                _ => Ok(()),
            },
            // Votes and the like led to what is decided; the certificate is their sum.
            _ => Ok(()),
        }
    }

    fn decide(&mut self, certificate: &Certificate, exec: &dyn ForkJoin) -> Result<(), Wrong> {
        let (height, next) = (certificate.height, self.world.height().plus(1));
        if height < next {
            let at = usize::try_from(height.0).ok().and_then(|n| n.checked_sub(1));
            let known = at.and_then(|at| self.decided.get(at));
            let same = known == Some(&certificate.header);
            return if same { Ok(()) } else { Err(Wrong::Twice(height)) };
        }
        if height > next {
            return Err(Wrong::OutOfOrder(height, next));
        }
        let id = certificate.header;
        let turn = self.turns.remove(&id).ok_or(Wrong::NoTurn(id))?;
        self.check(&turn, certificate)?;
        let applied = self.world.apply(&turn, exec);
        self.time = turn.header.time;
        self.acts += turn.body.acts().len() as u64;
        self.decided.push(id);
        self.roots.insert(height, applied.root);
        if self.roots.len() as u64 > ROOTS_KEPT {
            self.roots.pop_first();
        }
        self.turns.retain(|_, turn| turn.header.height > height);
        Ok(())
    }

    /// Everything about a turn that must hold before it is applied.
    fn check(&self, turn: &Turn, certificate: &Certificate) -> Result<(), Wrong> {
        let (sim, header) = (self.world.sim(), &turn.header);
        let height = certificate.height;
        let set = |height| self.world.validators(height).expect("a world knows the sets to come");
        let (own, next) = (set(height), set(height.plus(1)));
        let claims = [
            (header.sim == sim, "another sim"),
            (header.engine == ENGINE, "another engine"),
            (header.height == height, "another height"),
            (
                header.previous == self.decided.last().copied().unwrap_or_default(),
                "another turn before it",
            ),
            (header.time > self.time, "a time that is not after the turn before"),
            (header.validators == own.id(), "other validators"),
            (header.next_validators == next.id(), "other validators for the next turn"),
            (header.proposer == own.proposer(height, header.round), "another proposer"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Wrong::Header(what));
        }
        certificate.verify(sim, own, &Ed25519).map_err(Wrong::Certificate)?;
        turn.check_body().map_err(|error| error.map_or(Wrong::OtherBody, Wrong::Body))?;
        judge_turn(sim, turn, self.world.windows(), &Ed25519).map_err(Wrong::Void)?;
        let of = height.minus(ROOT_LAG).unwrap_or_default();
        match self.roots.get(&of) {
            Some(found) if *found != header.root => {
                Err(Wrong::Root { of, stated: header.root, found: *found })
            }
            _ => Ok(()),
        }
    }
}
