//! Computes the state after a decided turn again, from what one server keeps.

use metatopia_consensus::{Base, Decision, JoinPack, Link, Record};
use metatopia_replica::{base_of, decisions, decode_snapshot, payloads_after};
use metatopia_sim::{Course, ForkJoin, Unsound, World};
use metatopia_store::{DiskError, LogIndex, ReadDisk, ReadError, list_snapshots, load_snapshot};
use metatopia_types::{HeaderId, Height, Millis, Root, limits::ROOT_LAG};

use crate::{SimStart, tools};

/// The log and the snapshots of one server.
#[derive(Clone, Copy)]
pub struct ServerFiles<'a> {
    /// The beginning of the server's sim.
    pub start: &'a SimStart,
    /// The disk of the server.
    pub disk: &'a dyn ReadDisk,
    /// The index of its log.
    pub index: &'a LogIndex,
    /// The threads that scripts run on.
    pub exec: &'a dyn ForkJoin,
}

impl std::fmt::Debug for ServerFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server files up to {}", self.index.end())
    }
}

/// The state after a decided turn, and what proves it.
#[derive(Debug)]
pub struct KeptState {
    /// The state after that turn.
    pub world: World,
    /// The header of that turn; [`HeaderId::BEFORE_FIRST`] at genesis.
    pub header: HeaderId,
    /// The time that it states; 0 at genesis.
    pub time: Millis,
    /// The roots after the turn before, and after this one.
    pub roots: [Root; 2],
    /// The decided turns from this one on that can prove its state. Genesis has no turn, so these
    /// begin with turn 1 then.
    pub turns: Vec<Decision>,
    /// The set changes up to the last of these.
    links: Vec<Link>,
}

/// The reason why the state after a turn could not be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptStateError {
    /// The snapshots cannot be listed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No snapshot is early enough, and the first state of the sim is missing.
    #[error("{0}")]
    FirstState(String),
    /// A turn breaks a rule.
    #[error("turn {height}: {why}")]
    Turn {
        /// The height of the turn.
        height: Height,
        /// The rule that it breaks.
        why: Unsound,
    },
    /// A turn is missing.
    #[error("the log has no turn {0}")]
    NoTurn(Height),
}

impl ServerFiles<'_> {
    /// Returns the height of the last decided turn; 0 if there is none.
    #[must_use]
    pub fn tip(&self) -> Height {
        self.index.last_tagged().map(|(tag, _)| Height(tag)).unwrap_or_default()
    }

    /// Computes the state after the turn of this height, from the newest kept state before it.
    ///
    /// # Errors
    /// See [`KeptStateError`].
    pub fn after(&self, height: Height) -> Result<KeptState, KeptStateError> {
        let (base, world) = self.begin(height)?;
        let mut kept_state = KeptState {
            header: base.header,
            time: base.time,
            roots: base.roots,
            links: base.links,
            turns: Vec::new(),
            world,
        };
        let from = base.height.max(Height(1));
        let mut course = Course::new(kept_state.world.clone());
        let payloads = payloads_after(self.index, self.disk, from)?;
        let records = payloads.map_while(Result::ok);
        let records = records.filter_map(|payload| Record::decode(&payload).ok());
        let last = height.plus(ROOT_LAG);
        for decision in decisions(records, from).take_while(|found| found.height() <= last) {
            let at = decision.height();
            if at > base.height {
                kept_state.links.extend(link(&decision, course.world()));
            }
            if at > base.height && at <= height {
                course
                    .check(&decision.turn, &decision.certificate)
                    .map_err(|why| KeptStateError::Turn { height: at, why })?;
                kept_state.header = decision.id();
                kept_state.time = decision.turn.header.time;
                kept_state.roots[0] = course.world().root();
                course.follow(&decision.turn, self.exec, &mut ());
            }
            if at >= height {
                kept_state.turns.push(decision);
            }
        }
        kept_state.world = course.world().clone();
        kept_state.roots[1] = kept_state.world.root();
        let found = kept_state.world.height();
        if found == height { Ok(kept_state) } else { Err(KeptStateError::NoTurn(found.plus(1))) }
    }

    /// Returns the newest kept state up to a height that can be read.
    fn begin(&self, height: Height) -> Result<(Base, World), KeptStateError> {
        let kept = list_snapshots(self.disk)?;
        for (at, root) in kept.into_iter().filter(|(at, _)| *at <= height) {
            let whole = load_snapshot(self.disk, at, root).ok();
            let found = whole.and_then(|found| decode_snapshot(&found.bytes, &tools()).ok());
            if let Some(state) = found.filter(|(_, world)| world.sim() == self.start.genesis.id()) {
                return Ok(state);
            }
        }
        match &self.start.first_state {
            Ok(world) => Ok((base_of(world), world.clone())),
            Err(why) => Err(KeptStateError::FirstState(why.clone())),
        }
    }
}

/// Returns the set change that a turn brings, by a world at most two turns before it.
fn link(decision: &Decision, world: &World) -> Option<Link> {
    let header = &decision.turn.header;
    if header.validators == header.next_validators {
        return None;
    }
    let next = world.validators(header.height.plus(1))?.members().to_vec();
    Some(Link { header: header.clone(), certificate: decision.certificate.clone(), next })
}

impl KeptState {
    /// Returns the proof that the root is the sim's. There is none without two more turns, or at
    /// genesis.
    #[must_use]
    pub fn proof(&self) -> Option<JoinPack> {
        let [own, next, last] = self.turns.as_slice() else {
            return None;
        };
        let headers = [own, next, last].map(|decision| decision.turn.header.clone());
        let links = self.links.iter().filter(|link| link.header.height < last.height());
        let links = links.cloned().collect();
        (own.height() == self.world.height()).then(|| JoinPack {
            links,
            headers,
            certificate: last.certificate.clone(),
        })
    }

    /// Returns the base from which agreement goes on with this state.
    ///
    /// # Panics
    /// If the world does not know the sets to come.
    #[must_use]
    pub fn base(&self, voice: bool) -> Base {
        let height = self.world.height();
        let set = |ahead| self.world.validators(height.plus(ahead)).cloned();
        let links = self.links.iter().filter(|link| link.header.height <= height);
        Base {
            height,
            header: self.header,
            time: self.time,
            roots: self.roots,
            sets: [set(1), set(2), set(3)].map(|set| set.expect("a world knows the sets to come")),
            links: links.cloned().collect(),
            voice,
        }
    }
}
