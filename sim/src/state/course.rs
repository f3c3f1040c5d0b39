//! Follows decided turns from a state, and compares everything that they state with what they lead to.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_types::{
    BodyError, Certificate, CertificateError, Digest, HeaderId, Height, Millis, Root, Turn, Verify,
    limits::ROOT_LAG,
};

use super::{agreed_ports::MissingPort, applied::Applied, watch::Watch, world::World};
use crate::{
    ENGINE,
    rules::{TurnFault, judge_turn},
    scripts::ForkJoin,
};

/// Roots that are remembered, to compare with what is said of them later: a server may be that many
/// turns behind with applying.
pub const COURSE_ROOTS_KEPT: u64 = 256;

/// Why a turn is not the next one of a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// The header claims something that does not fit what came before.
    #[error("its header says {0}")]
    Header(&'static str),
    /// The certificate proves nothing.
    #[error("its certificate: {0}")]
    Certificate(CertificateError),
    /// The certificate is for another turn.
    #[error("its certificate is for another turn")]
    OtherTurn,
    /// The body breaks a limit, or is out of order.
    #[error("its body: {0}")]
    Body(BodyError),
    /// Words of it were forgotten: nobody can apply it any more, whatever its header and certificate prove.
    #[error(
        "words of it were forgotten, so it is there as its servers signed it, and cannot be applied"
    )]
    Forgotten,
    /// The header commits to another body.
    #[error("its body is not the one that its header names")]
    OtherBody,
    /// Nobody honest votes for it.
    #[error("it is void: {0}")]
    Void(TurnFault),
    /// It runs a port that this program lacks.
    #[error(transparent)]
    MissingPort(MissingPort),
    /// The turns before it lead to another state than it states.
    #[error("its header states root {stated} after turn {of}, the turns before it give {found}")]
    Root {
        /// After the turn of this height.
        of: Height,
        /// The root by the header, which more than two thirds of the voting power signed.
        stated: Root,
        /// The root by the turns, here.
        found: Root,
    },
}

/// A world that follows decided turns, one after the other.
#[derive(Clone)]
pub struct Course {
    world: World,
    verify: Arc<dyn Verify>,
    /// The last applied header; nothing when the world came from a snapshot.
    last: Option<HeaderId>,
    time: Millis,
    roots: BTreeMap<Height, Root>,
}

impl core::fmt::Debug for Course {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Course after turn {}", self.world.height())
    }
}

impl Course {
    /// Returns a course that goes on from a world.
    #[must_use]
    pub fn new(world: World) -> Self {
        let last = (world.height() == Height(0)).then_some(HeaderId::BEFORE_FIRST);
        let roots = BTreeMap::from([(world.height(), world.root())]);
        let (verify, time) = (Arc::clone(&world.tools.verify), world.time());
        Self { world, verify, last, time, roots }
    }

    /// Returns the world after the last turn.
    #[must_use]
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Returns the root after one of the last [`COURSE_ROOTS_KEPT`] turns.
    #[must_use]
    pub fn root(&self, height: Height) -> Option<Root> {
        self.roots.get(&height).copied()
    }

    /// Checks everything that must hold about a decided turn before it is applied. The root that the turn
    /// states comes last: a turn that is wrong in nothing else shows that this state is not the sim's.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub fn check(&self, turn: &Turn, certificate: &Certificate) -> Result<(), Unsound> {
        let (sim, header) = (self.world.sim(), &turn.header);
        let height = self.world.height().plus(1);
        let set = |height| self.world.validators(height).expect("a world knows the sets to come");
        let (own, next) = (set(height), set(height.plus(1)));
        let claims = [
            (header.sim == sim, "another sim"),
            (header.engine == ENGINE, "another engine"),
            (header.height == height, "another height"),
            (self.last.is_none_or(|last| header.previous == last), "another turn before it"),
            (header.time > self.time, "a time that is not after the turn before"),
            (header.validators == own.id(), "other validators"),
            (header.next_validators == next.id(), "other validators for the next turn"),
            (header.proposer == own.proposer(height, header.round), "another proposer"),
            (header.reserved == Digest::ZERO, "something that only later engines know"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Unsound::Header(what));
        }
        if (certificate.height, certificate.header) != (height, turn.id()) {
            return Err(Unsound::OtherTurn);
        }
        certificate.verify(sim, own, &*self.verify).map_err(Unsound::Certificate)?;
        turn.check_body().map_err(|error| error.map_or(Unsound::OtherBody, Unsound::Body))?;
        if !turn.body.is_whole() {
            return Err(Unsound::Forgotten);
        }
        judge_turn(sim, turn, self.world.windows(), &self.world, &*self.verify)
            .map_err(Unsound::Void)?;
        if let Some(missing) = self.world.missing_port() {
            return Err(Unsound::MissingPort(missing));
        }
        let of = height.minus(ROOT_LAG).unwrap_or_default();
        match self.roots.get(&of) {
            Some(found) if *found != header.root => {
                Err(Unsound::Root { of, stated: header.root, found: *found })
            }
            _ => Ok(()),
        }
    }

    /// Applies the next turn, which was [checked](Course::check).
    ///
    /// # Panics
    /// As [`World::apply`].
    pub fn follow(&mut self, turn: &Turn, exec: &dyn ForkJoin, watch: &mut dyn Watch) -> Applied {
        let applied = self.world.apply_watched(turn, exec, watch);
        self.last = Some(turn.id());
        self.time = turn.header.time;
        self.roots.insert(applied.height, applied.root);
        if self.roots.len() as u64 > COURSE_ROOTS_KEPT {
            self.roots.pop_first();
        }
        applied
    }
}
