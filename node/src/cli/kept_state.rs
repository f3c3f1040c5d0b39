//! Where a server stands by what it keeps: the state after a decided turn of its log, computed again.

use std::path::Path;

use metatopia_consensus::{Base, Decision, JoinPack, Link, Record};
use metatopia_replica::{base_of, decisions, decode_snapshot, payloads_after};
use metatopia_sim::{Course, Genesis, World};
use metatopia_store::{LogIndex, ReadDisk, list_snapshots, load_snapshot};
use metatopia_types::{Height, Root, limits::ROOT_LAG};

use super::{bisect::tools, failure::Failure, sources::pool};
use crate::first_state::first_state;

/// What a server keeps.
pub(super) struct ServerFiles<'a> {
    /// What it is called on the command line.
    pub(super) name: String,
    pub(super) genesis: &'a Genesis,
    /// The file that the genesis was read from.
    pub(super) file: &'a Path,
    pub(super) disk: &'a dyn ReadDisk,
    pub(super) index: &'a LogIndex,
}

/// The state after a decided turn.
pub(super) struct KeptState {
    pub(super) world: World,
    /// The roots after the turn before, and after this one.
    pub(super) roots: [Root; 2],
    /// The decided turns from this one on, as far as its validators are known; of genesis there is
    /// none, so they begin with turn 1.
    pub(super) turns: Vec<Decision>,
    /// The set changes up to the last of these.
    links: Vec<Link>,
}

impl ServerFiles<'_> {
    /// The last decided turn; 0 if there is none.
    pub(super) fn tip(&self) -> Height {
        self.index.last_tagged().map(|(tag, _)| Height(tag)).unwrap_or_default()
    }

    /// The state after the turn of this height, from the newest state before it that is kept.
    ///
    /// # Errors
    /// When a turn is missing, or is not what its header and its signers say.
    pub(super) fn after(&self, height: Height) -> Result<KeptState, Failure> {
        let wrong = |why: String| Failure::unverified(format!("{}: {why}", self.name));
        let (base, world) = self.start(height)?;
        let mut kept_state =
            KeptState { roots: base.roots, links: base.links, turns: Vec::new(), world };
        let from = base.height.max(Height(1));
        let mut course = Course::new(kept_state.world.clone());
        let exec = pool()?;
        let payloads =
            payloads_after(self.index, self.disk, from).map_err(|e| wrong(e.to_string()))?;
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
                    .map_err(|why| wrong(format!("turn {at}: {why}")))?;
                kept_state.roots[0] = course.world().root();
                course.follow(&decision.turn, &exec, &mut ());
            }
            if at >= height {
                kept_state.turns.push(decision);
            }
        }
        kept_state.world = course.world().clone();
        kept_state.roots[1] = kept_state.world.root();
        if kept_state.world.height() != height {
            let found = kept_state.world.height();
            return Err(wrong(format!("the log has no turn {}", found.plus(1))));
        }
        Ok(kept_state)
    }

    /// The newest state up to a height that is kept, and whole.
    fn start(&self, height: Height) -> Result<(Base, World), Failure> {
        let wrong = |why: String| Failure::unverified(format!("{}: {why}", self.name));
        let kept = list_snapshots(self.disk).map_err(|error| wrong(error.to_string()))?;
        for (at, root) in kept.into_iter().filter(|(at, _)| *at <= height) {
            let whole = load_snapshot(self.disk, at, root).ok();
            let found = whole.and_then(|found| decode_snapshot(&found.bytes, &tools()).ok());
            if let Some(start) = found.filter(|(_, world)| world.sim() == self.genesis.id()) {
                return Ok(start);
            }
        }
        let world = first_state(self.genesis, self.file, &tools())?;
        Ok((base_of(&world), world))
    }
}

/// The change of the members that a turn brings, seen from a world at most two turns before it.
fn link(decision: &Decision, world: &World) -> Option<Link> {
    let header = &decision.turn.header;
    if header.validators == header.next_validators {
        return None;
    }
    let next = world.validators(header.height.plus(1))?.members().to_vec();
    Some(Link { header: header.clone(), certificate: decision.certificate.clone(), next })
}

impl KeptState {
    /// What shows that the root is the sim's; nothing without two more turns, or at genesis.
    pub(super) fn proof(&self) -> Option<JoinPack> {
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

    /// Where agreement goes on from with this state.
    pub(super) fn base(&self, voice: bool) -> Base {
        let height = self.world.height();
        let own = self.turns.first().filter(|decision| decision.height() == height);
        let set = |ahead| self.world.validators(height.plus(ahead)).cloned();
        let links = self.links.iter().filter(|link| link.header.height <= height);
        Base {
            height,
            header: own.map(Decision::id).unwrap_or_default(),
            time: own.map(|decision| decision.turn.header.time).unwrap_or_default(),
            roots: self.roots,
            sets: [set(1), set(2), set(3)].map(|set| set.expect("a world knows the sets to come")),
            links: links.cloned().collect(),
            voice,
        }
    }
}
