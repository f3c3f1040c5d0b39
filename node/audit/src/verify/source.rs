//! The places of a log: its records, its patches, its snapshots and the first state of its sim.

use metatopia_consensus::Record;
use metatopia_replica::{KeptTurns, decode_snapshot, keeper::AGREEMENT};
use metatopia_sim::World;
use metatopia_store::{Patches, ReadDisk, Scan, StoredRecord, list_snapshots, load_snapshot};
use metatopia_types::Height;

use super::{
    fault::{LogFaultKind, NoState, SnapshotProofError},
    proven_state::ProvenState,
    voters::VoterHistory,
};
use crate::tools;

/// A log on a disk, and the first state of its sim.
pub(super) struct LogSource<'a> {
    pub(super) first_state: &'a Result<World, String>,
    pub(super) scan: &'a Scan,
    pub(super) patches: &'a Patches,
    pub(super) disk: &'a dyn ReadDisk,
}

impl LogSource<'_> {
    /// Returns the height that the log's own records begin with.
    pub(super) fn first_height(&self) -> Height {
        if !self.scan.index.is_pruned() {
            return Height(1);
        }
        let mut decided = self.scan.index.tagged_from(self.disk, 0).filter_map(Result::ok);
        let Some(first) = decided.next() else {
            return Height(1);
        };
        let next = decided.next().and_then(|next| next.tag);
        match (first.tag, Record::decode(&first.payload)) {
            // If tag and content differ, the decision after it shows which of them is right.
            (Some(tag), _) if next == tag.checked_add(1) => Height(tag),
            (_, Ok(Record::Decided(certificate))) => certificate.height,
            (tag, _) => Height(tag.unwrap_or(1)),
        }
    }

    /// Returns the height at which a log that has come to `at` goes on, if that may be `to` or later.
    /// Turns are missing there: the next decision of the log is of such a height, or the server has
    /// just fetched a state.
    pub(super) fn goes_on_at(&self, at: Height, to: Height) -> Option<Height> {
        let next = self.scan.index.tagged_from(self.disk, at.0).next();
        let next = match next.and_then(Result::ok).and_then(|record| record.tag) {
            Some(next) => Some(Height(next)),
            None => list_snapshots(self.disk).ok()?.first().map(|(newest, _)| newest.plus(1)),
        };
        next.filter(|next| to <= *next)
    }

    /// Returns the state that the replay begins with: the first state of the sim, or the oldest
    /// snapshot if turns before that were removed and no patch holds them.
    pub(super) fn begin(&self, voters: &mut VoterHistory) -> Result<ProvenState, NoState> {
        if self.scan.index.is_pruned() && self.patches.holding(1).is_none() {
            return self.begin_from(Height(0), voters);
        }
        match self.first_state {
            Ok(world) => Ok(ProvenState::genesis(world.clone())),
            Err(why) => Err(NoState::FirstState(why.clone())),
        }
    }

    /// Returns the state of the oldest snapshot of this height or later that the turns after it prove.
    pub(super) fn begin_from(
        &self,
        least: Height,
        voters: &mut VoterHistory,
    ) -> Result<ProvenState, NoState> {
        let disk = self.disk;
        let kept = KeptTurns { index: &self.scan.index, patches: self.patches, disk };
        let mut no_state = NoState::NoSnapshot;
        // Whoever handed in the first state may have tools of their own.
        let tools =
            self.first_state.as_ref().map_or_else(|_| tools(), |world| world.tools().clone());
        let snapshots = list_snapshots(disk)?;
        for (height, root) in snapshots.into_iter().rev().filter(|(height, _)| *height >= least) {
            let loaded = load_snapshot(disk, height, root).map_err(NoState::from);
            let decoded = loaded.and_then(|found| Ok(decode_snapshot(&found.bytes, &tools)?));
            let (base, world) = match decoded {
                Ok(found) => found,
                Err(why) => {
                    no_state = why;
                    continue;
                }
            };
            // Whatever becomes of the state, the sets up to it are known then.
            if let Err(why) = voters.walk(&base, world.sim()) {
                no_state = SnapshotProofError::Chain { height, why }.into();
                continue;
            }
            let stated: Vec<_> = kept.from(height.plus(1)).take(2).collect();
            let [next, last] = stated.as_slice() else {
                no_state = NoState::NoProof(height);
                continue;
            };
            return Ok(ProvenState::snapshot(voters, &base, world, [next, last])?);
        }
        Err(no_state)
    }
}

/// Decodes a record of the log. Its tag must be the height that it decides.
pub(super) fn decode(record: &StoredRecord) -> Result<Record, LogFaultKind> {
    if record.kind != AGREEMENT {
        return Err(LogFaultKind::RecordKind(record.kind));
    }
    let position = record.position;
    let decoded =
        Record::decode(&record.payload).map_err(|why| LogFaultKind::Record { position, why })?;
    let decides = match &decoded {
        Record::Decided(certificate) => Some(certificate.height.0),
        _ => None,
    };
    if record.tag == decides { Ok(decoded) } else { Err(LogFaultKind::Tag(position)) }
}
