//! The state that a server goes on from after a recovery.

use metatopia_consensus::{Base, Record};
use metatopia_replica::{encode_snapshot, keeper::AGREEMENT};
use metatopia_sim::World;
use metatopia_store::{
    AppendError, Disk, DiskError, FileKind, FileName, MarkError, ReadDisk, ReadSnapshotError,
    Snapshot, Store, list_snapshots, put_snapshot,
};
use metatopia_types::{CertificateError, Ed25519, Height, Recovery, Root, SignedRecovery};

use crate::kept_state::{KeptState, KeptStateError, ServerFiles};

/// The reason why a server does not come to the state of a recovery by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OwnStateError {
    /// The server comes to another state.
    #[error("this server comes to root {root} after turn {height}")]
    OtherRoot {
        /// The height of the recovery.
        height: Height,
        /// The root that the server comes to.
        root: Root,
    },
    /// The server's state could not be computed.
    #[error(transparent)]
    Unknown(#[from] KeptStateError),
}

/// Computes the state of a recovery from what a server keeps.
///
/// # Errors
/// See [`OwnStateError`].
pub fn own_state(
    server: &ServerFiles<'_>,
    recovery: &Recovery,
) -> Result<KeptState, OwnStateError> {
    let kept = server.after(recovery.height)?;
    if kept.roots == recovery.roots {
        return Ok(kept);
    }
    Err(OwnStateError::OtherRoot { height: recovery.height, root: kept.roots[1] })
}

/// The state of a recovery, and the base of agreement with it.
#[derive(Debug)]
pub struct RecoveredState {
    base: Base,
    world: World,
}

impl RecoveredState {
    /// Returns the state that a server computed by itself.
    #[must_use]
    pub fn own(kept: KeptState, voice: bool) -> Self {
        Self { base: kept.base(voice), world: kept.world }
    }

    /// Returns the state in another server's snapshot, or nothing if that is not the state of the
    /// recovery.
    ///
    /// # Panics
    /// If the world does not know the sets to come.
    #[must_use]
    pub fn of_another(
        (base, world): (Base, World),
        recovery: &Recovery,
        voice: bool,
    ) -> Option<Self> {
        let Recovery { sim, height, header, roots, .. } = *recovery;
        if world.sim() != sim || base.roots != roots || base.header != header {
            return None;
        }
        let set = |ahead| world.validators(height.plus(ahead)).cloned();
        let sets = [set(1), set(2), set(3)].map(|set| set.expect("a world knows the next sets"));
        let (links, time) = (base.links, base.time);
        Some(Self { base: Base { height, header, time, roots, sets, links, voice }, world })
    }

    /// Checks that the set which votes after this state signed the recovery. Turns long before the
    /// recovery fix that set, so both states agree about it.
    ///
    /// # Errors
    /// When the signatures do not hold, or are too few.
    pub fn check_signatures(&self, signed: &SignedRecovery) -> Result<(), CertificateError> {
        let [voters, ..] = &self.base.sets;
        signed.verify(voters, &Ed25519)
    }

    /// Writes the state into a log as the newest snapshot, and notes the recovery with its signatures
    /// and the right roots behind it. Nothing in the log is taken back. Returns the snapshot's file.
    ///
    /// # Errors
    /// When the disk fails. Then the same can be done again.
    pub fn put<D: Disk>(
        &self,
        store: &mut Store<D>,
        signed: &SignedRecovery,
    ) -> Result<FileName, PutStateError> {
        let (height, [before, root]) = (signed.recovery.height, signed.recovery.roots);
        let bytes = encode_snapshot(&self.base, &self.world);
        put_snapshot(store.disk_mut(), &Snapshot { height, root, bytes })?;
        let [_, next, last] = self.base.sets.clone();
        let note = |height, root, set| Record::Applied { height, root, validators: Some(set) };
        let earlier = height.minus(1).filter(|earlier| *earlier > Height(0));
        let records = [Record::Recovered(Box::new(signed.clone()))]
            .into_iter()
            .chain(earlier.map(|earlier| note(earlier, before, next)))
            .chain([note(height, root, last)]);
        for record in records {
            store.append(AGREEMENT, None, &record.encode())?;
        }
        store.mark()?;
        Ok(FileName::new(FileKind::Snapshot(height, root)))
    }
}

/// The reason why a recovered state was not written.
#[derive(Debug, thiserror::Error)]
pub enum PutStateError {
    /// The snapshot was not written.
    #[error(transparent)]
    Snapshot(#[from] ReadSnapshotError),
    /// A record was not appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The records were not made durable.
    #[error(transparent)]
    Mark(#[from] MarkError),
}

/// Returns the snapshots of states that contradict a recovery. They must be put aside, or a start could
/// begin with one.
///
/// # Errors
/// When the snapshots cannot be listed.
pub fn contradicting_snapshots(
    disk: &dyn ReadDisk,
    recovery: &Recovery,
) -> Result<Vec<FileName>, DiskError> {
    let [before, after] = recovery.roots;
    let right = [(recovery.height.minus(1), before), (Some(recovery.height), after)];
    let contradicts = |(height, root): &(Height, Root)| {
        height.plus(1) >= recovery.height && !right.contains(&(Some(*height), *root))
    };
    let snapshots = list_snapshots(disk)?.into_iter().filter(contradicts);
    Ok(snapshots.map(|(height, root)| FileName::new(FileKind::Snapshot(height, root))).collect())
}
