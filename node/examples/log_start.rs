//! How long a server's log takes to be read when it starts: whole, and pruned to the last hour.
//!
//! `cargo run --release --example log_start [-- MEGABYTES]` writes a log of so many megabytes (1,024
//! unless told) into the system's folder for temporary files, in records like those of a busy sim.

use std::{env, error::Error, fs, process, time::Instant};

use metatopia::disk::RealDisk;
use metatopia_store::{Identity, Opening, Store};
use metatopia_types::{Digest, PublicKey, SimId};

/// Bytes of log that a busy sim writes in the hour that is kept.
const HOUR_BYTES: u64 = 200 << 20;

/// A turn with its votes, of 20 a second, in 5 GB a day.
const RECORD_BYTES: usize = 2_900;

fn main() -> Result<(), Box<dyn Error>> {
    let megabytes: u64 = env::args().nth(1).map_or(Ok(1_024), |text| text.parse())?;
    let path = env::temp_dir().join(format!("metatopia-log-start-{}", process::id()));
    let measured = measure(&path, megabytes << 20);
    fs::remove_dir_all(&path)?;
    measured
}

fn measure(path: &std::path::Path, bytes: u64) -> Result<(), Box<dyn Error>> {
    let identity =
        Identity { sim: SimId(Digest::of("a log", b"long")), server: PublicKey([1; 32]) };
    let open = || -> Result<_, Box<dyn Error>> {
        let began = Instant::now();
        let store = Store::open(RealDisk::open(path)?, Opening::new(identity))?.store;
        Ok((store, began.elapsed()))
    };
    let (mut store, empty) = open()?;
    let (mut payload, mut height) = (vec![0; RECORD_BYTES], 0_u64);
    while store.end().0 < bytes {
        height += 1;
        payload[..8].copy_from_slice(&height.to_le_bytes());
        store.append(1, Some(height), &payload)?;
    }
    store.mark()?;
    drop(store);
    println!("empty log: {empty:.1?}");
    let (mut store, whole) = open()?;
    let length = |store: &Store<RealDisk>| (store.end().0 - store.index().begin().0) >> 20;
    println!("whole log of {} MiB: {whole:.1?}", length(&store));
    let keep = store.end().0.saturating_sub(HOUR_BYTES);
    let turn = keep / (store.end().0 / height).max(1);
    if let Some(record) = store.find(turn.max(1))? {
        store.prune_before(record.position)?;
    }
    drop(store);
    let (store, pruned) = open()?;
    println!("pruned to the last hour, {} MiB: {pruned:.1?}", length(&store));
    Ok(())
}
