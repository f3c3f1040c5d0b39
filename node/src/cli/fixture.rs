//! Data directories with the history of the audit's fixture, for tests of the commands that read
//! them.

use std::{fs, path::PathBuf, sync::Arc};

use metatopia_audit::fixture::{
    certificate, decided_records, genesis, honest_records, next_turn, prune, steps_until,
    write_log, write_log_and_snapshot,
};
use metatopia_consensus::{Base, Record};
use metatopia_sim::Genesis;
use metatopia_store::{FileName, Store};
use metatopia_types::Digest;

use super::up::world::GENESIS;
use crate::disk::RealDisk;

/// A data directory, as a server would have written it. It is removed when this value is dropped.
pub(super) struct FixtureDirectory {
    pub(super) dir: PathBuf,
}

impl Drop for FixtureDirectory {
    fn drop(&mut self) {
        let _absent = fs::remove_dir_all(&self.dir);
    }
}

impl FixtureDirectory {
    /// Writes a log of the plaza.
    pub(super) fn write(name: &str, records: &[Record]) -> Self {
        Self::of(&genesis(), name, records)
    }

    /// Writes a log of a sim.
    pub(super) fn of(own: &Genesis, name: &str, records: &[Record]) -> Self {
        let dir =
            std::env::temp_dir().join(format!("metatopia-kept-{name}-{}", std::process::id()));
        let _absent = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join(GENESIS), own.encode()).unwrap();
        write_log(RealDisk::open(&dir).unwrap(), own, records);
        Self { dir }
    }

    /// Returns the path of the first segment of the log.
    pub(super) fn segment(&self) -> PathBuf {
        self.dir.join(FileName::segment(0).to_string())
    }
}

/// Writes a data directory with these records, and a snapshot of this height.
pub(super) fn directory(
    name: &str,
    records: &[Record],
    height: usize,
    change: impl FnOnce(&mut Base),
) -> (FixtureDirectory, Store<RealDisk>) {
    let kept = FixtureDirectory::write(name, &[]);
    let disk = RealDisk::open(&kept.dir).unwrap();
    let store = write_log_and_snapshot(disk, records, height, change);
    (kept, store)
}

/// Writes a data directory with a snapshot of height 8, whose log begins a little before that.
pub(super) fn pruned_directory(name: &str, change: impl FnOnce(&mut Base)) -> FixtureDirectory {
    let (kept, mut store) = directory(name, &decided_records(), 8, change);
    prune(&mut store);
    kept
}

/// Returns a sim that runs a port of no program from height 5 on, with the log of a server that has the port.
pub(super) fn ported() -> (Genesis, Vec<Record>) {
    let mut genesis = genesis();
    let ports = format!("{}:{}:1000:5", Digest([3; 32]), Digest([4; 32]));
    genesis.parameters.amend("ports", &ports).expect("a port that is agreed on");
    let steps = steps_until(&genesis, 4, |_| ());
    let mut records = honest_records(&steps);
    let [.., before, last] = &steps[..] else { unreachable!("there are four steps") };
    let turn = next_turn(&last.world, Some(&last.turn), before.world.root());
    let certificate = certificate(&turn, 0..3);
    records.extend([Record::Turn(Arc::new(turn)), Record::Decided(certificate)]);
    (genesis, records)
}
