//! Plays a recording of a physics region again, and compares the digest at each step.
//!
//! A recording is a snapshot and the commands after it (`RegionRecorder` of the physics). It is played on
//! the tier that it was recorded on, and needs no sim.

use std::{fmt, ops::ControlFlow};

pub use metatopia_physics::{RecordingError, RegionSnapshotError};
use metatopia_physics::{RegionReplay, TierMaker};
use metatopia_physics_rapier::Newton2Maker;
use serde::Serialize;

/// The tiers beside the region's own solver.
const MAKERS: [&dyn TierMaker; 1] = [&Newton2Maker];

/// A step that was played again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegionTick {
    /// The number of the step, from 1.
    pub tick: u64,
    /// Where its record begins in the recording, in bytes.
    pub offset: usize,
    /// The digest of all that happened up to here, on this machine.
    pub digest: String,
    /// The digest that was recorded.
    pub recorded: String,
}

impl fmt::Display for RegionTick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, offset, digest, recorded } = self;
        write!(f, "tick {tick} {digest}")?;
        if digest == recorded {
            return Ok(());
        }
        write!(f, " WRONG: the record at byte {offset} says {recorded}")
    }
}

/// The result of a replay of a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegionSummary {
    /// Whether each digest was as it was recorded.
    pub ok: bool,
    /// The name and the version of what moved the bodies.
    pub tier: String,
    /// The number of steps that were played.
    pub ticks: u64,
    /// The bodies of the region afterwards.
    pub bodies: usize,
    /// The contacts of the region afterwards.
    pub contacts: usize,
    /// The joints of the region afterwards.
    pub joints: usize,
    /// The digest of the region afterwards.
    pub region: String,
}

impl fmt::Display for RegionSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ok, tier, ticks, bodies, contacts, joints, region } = self;
        writeln!(f, "{ticks} ticks on {tier}")?;
        writeln!(f, "region {region}: {bodies} bodies, {contacts} contacts, {joints} joints")?;
        f.write_str(if *ok {
            "every digest is as it was recorded"
        } else {
            "WRONG: the last tick came to another digest than was recorded"
        })
    }
}

/// Plays a recording, and tells each step. It ends with the first step whose digest differs, or when it is
/// told to.
///
/// # Errors
/// Returns [`RecordingError`] with the offset of what is no record.
pub fn replay_region(
    recording: &[u8],
    mut told: impl FnMut(&RegionTick) -> ControlFlow<()>,
) -> Result<RegionSummary, RecordingError> {
    let mut replay = RegionReplay::open(recording, &MAKERS)?;
    let (mut ticks, mut ok) = (0, true);
    while let Some(replayed) = replay.next_tick()? {
        ticks = replayed.tick;
        ok = replayed.agrees();
        let tick = RegionTick {
            tick: replayed.tick,
            offset: replayed.offset,
            digest: replayed.digest.to_string(),
            recorded: replayed.recorded.to_string(),
        };
        if told(&tick).is_break() || !ok {
            break;
        }
    }
    let region = replay.region();
    Ok(RegionSummary {
        ok,
        tier: region.tier_name().to_owned(),
        ticks,
        bodies: region.bodies().len(),
        contacts: region.contacts().len(),
        joints: region.joints().len(),
        region: region.digest().to_string(),
    })
}
