//! Recordings: a snapshot, the commands that a region got after it, and the digest at each step, in one
//! stream of bytes that is played again elsewhere.
//!
//! A recording begins with [`MAGIC`] and the number of its format. Records follow: the length of what is in
//! it in four bytes, the lowest first; a check of eight bytes over the check before and what is in it; and
//! what is in it. The first record is the snapshot. Each other one has the commands up to a step, and the
//! digest after it. An empty one ends the recording.

use metatopia_types::{Digest, wire};
use serde::{Deserialize, Serialize};

use crate::region::Region;
use crate::snapshot::RegionSnapshotError;
use crate::stream::{RegionCommand, RegionReply};
use crate::tier::TierMaker;

/// What each recording begins with.
const MAGIC: &[u8] = b"stream";

/// The format of the bytes.
const FORMAT: u8 = 1;

/// The bytes of a record before what is in it: its length and its check.
const HEAD: usize = 12;

/// A reason why bytes are not a recording. Offsets are counted in bytes from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The bytes begin otherwise.
    #[error("this is no recording of a region")]
    Foreign,
    /// Another program wrote them.
    #[error("a recording of format {0}, and this program reads format {FORMAT}")]
    Format(u8),
    /// The bytes end before a record does, or before the record that ends the recording.
    #[error("the recording is cut off: the record at byte {0} is not complete")]
    CutOff(usize),
    /// A record is not as it was written.
    #[error(
        "the recording is damaged in the record at byte {0}: its check is not that of its bytes"
    )]
    Damaged(usize),
    /// The check is right, but what is in the record are no commands.
    #[error("the record at byte {0} holds no commands")]
    Malformed(usize),
    /// Something follows the end of the recording.
    #[error("the recording ends at byte {0}, and more follows")]
    Trailing(usize),
    /// The recording begins with no region.
    #[error("the recording begins with no region: {0}")]
    Snapshot(#[from] RegionSnapshotError),
}

/// A region that follows commands, with the digest of all that happened to it.
#[derive(Clone, Debug)]
struct RegionPlayer {
    region: Region,
    digest: Digest,
}

impl RegionPlayer {
    fn new(region: Region) -> Self {
        let digest = region.digest();
        Self { region, digest }
    }

    /// Carries out a command. The digest goes on over the reply, and after a step over the region too.
    fn apply(&mut self, command: &RegionCommand) -> RegionReply {
        let reply = self.region.apply(command);
        self.go_on(&wire::encode(&reply));
        if matches!(command, RegionCommand::Step) {
            let region = self.region.digest();
            self.go_on(&region.0);
        }
        reply
    }

    fn go_on(&mut self, bytes: &[u8]) {
        let all = [self.digest.0.as_slice(), bytes].concat();
        self.digest = Digest::of("metatopia-physics recording", &all);
    }
}

/// The commands up to a step, and the digest after it.
#[derive(Serialize, Deserialize)]
struct TickRecord {
    commands: Vec<RegionCommand>,
    digest: Digest,
}

/// Writes down what is asked of a region.
///
/// ```
/// use metatopia_math::{Fx, Vec2};
/// use metatopia_physics::{
///     BodySpec, Motion, Region, RegionCommand, RegionRecorder, RegionReplay, Shape,
/// };
/// use metatopia_types::ObjectId;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut recorder = RegionRecorder::new(Region::new());
/// let ball = BodySpec::new(Shape::Circle { radius: Fx::ONE }, Motion::Dynamic, Vec2::ZERO);
/// recorder.apply(RegionCommand::Insert(ObjectId(1), Box::new(ball)));
/// recorder.apply(RegionCommand::ApplyImpulse(ObjectId(1), Vec2::X));
/// recorder.apply(RegionCommand::Step);
/// let bytes = recorder.finish();
///
/// let mut replay = RegionReplay::open(&bytes, &[])?;
/// let tick = replay.next_tick()?.ok_or("a step was recorded")?;
/// assert!(tick.agrees() && replay.next_tick()?.is_none());
/// assert_eq!(replay.region().bodies().len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RegionRecorder {
    player: RegionPlayer,
    bytes: Vec<u8>,
    check: [u8; 8],
    /// The commands since the last record.
    commands: Vec<RegionCommand>,
}

impl RegionRecorder {
    /// Begins a recording with a region as it is.
    #[must_use]
    pub fn new(region: Region) -> Self {
        let mut recorder = Self {
            bytes: [MAGIC, &[FORMAT]].concat(),
            check: [0; 8],
            commands: Vec::new(),
            player: RegionPlayer::new(region),
        };
        recorder.write(&recorder.player.region.snapshot());
        recorder
    }

    /// Carries out a command and writes it down.
    pub fn apply(&mut self, command: RegionCommand) -> RegionReply {
        let reply = self.player.apply(&command);
        let is_step = command == RegionCommand::Step;
        self.commands.push(command);
        if is_step {
            self.close();
        }
        reply
    }

    /// Returns the region.
    #[must_use]
    pub const fn region(&self) -> &Region {
        &self.player.region
    }

    /// Returns the recording.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if !self.commands.is_empty() {
            self.close();
        }
        self.write(&[]);
        self.bytes
    }

    /// Writes the commands since the last record, and the digest.
    fn close(&mut self) {
        let commands = core::mem::take(&mut self.commands);
        let record = wire::encode(&TickRecord { commands, digest: self.player.digest });
        self.write(&record);
    }

    fn write(&mut self, content: &[u8]) {
        self.check = check_after(self.check, content);
        let length = u32::try_from(content.len()).expect("a record is shorter than 4 GiB");
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(self.check);
        self.bytes.extend(content);
    }
}

/// Plays a recording again, step by step.
#[derive(Clone, Debug)]
pub struct RegionReplay<'a> {
    bytes: &'a [u8],
    at: usize,
    check: [u8; 8],
    player: RegionPlayer,
    tick: u64,
}

/// A step of a recording, played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedTick {
    /// The number of the step, from 1. The commands after the last step count as one more.
    pub tick: u64,
    /// Where its record begins, in bytes from the beginning.
    pub offset: usize,
    /// What the region said to each command.
    pub replies: Vec<RegionReply>,
    /// The digest that was written down.
    pub recorded: Digest,
    /// The digest that the commands led to here.
    pub digest: Digest,
}

impl ReplayedTick {
    /// Returns whether the commands led to what they led to when they were recorded.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.recorded == self.digest
    }
}

impl<'a> RegionReplay<'a> {
    /// Opens a recording of a region without a tier, or with one that these makers make.
    ///
    /// # Errors
    /// Returns [`RecordingError`] if the bytes do not begin with a region.
    pub fn open(bytes: &'a [u8], makers: &[&dyn TierMaker]) -> Result<Self, RecordingError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Foreign)?;
        match rest.first() {
            Some(&FORMAT) => {}
            Some(format) => return Err(RecordingError::Format(*format)),
            None => return Err(RecordingError::CutOff(MAGIC.len())),
        }
        let at = MAGIC.len() + 1;
        let (snapshot, check) = record(bytes, at, [0; 8])?;
        let region = Region::from_snapshot_with(snapshot, makers)?;
        let at = at + HEAD + snapshot.len();
        Ok(Self { bytes, at, check, player: RegionPlayer::new(region), tick: 0 })
    }

    /// Returns the region as it is after the steps so far.
    #[must_use]
    pub const fn region(&self) -> &Region {
        &self.player.region
    }

    /// Plays the commands up to the next step, and that step; `None` at the end of the recording.
    ///
    /// # Errors
    /// Returns [`RecordingError`] with the offset of the record that cannot be read.
    pub fn next_tick(&mut self) -> Result<Option<ReplayedTick>, RecordingError> {
        let offset = self.at;
        let (content, check) = record(self.bytes, offset, self.check)?;
        let after = offset + HEAD + content.len();
        if content.is_empty() {
            let ends = after == self.bytes.len();
            return if ends { Ok(None) } else { Err(RecordingError::Trailing(after)) };
        }
        let TickRecord { commands, digest: recorded } =
            wire::decode(content, content.len()).map_err(|_| RecordingError::Malformed(offset))?;
        (self.at, self.check) = (after, check);
        self.tick += 1;
        let replies = commands.iter().map(|command| self.player.apply(command)).collect();
        let digest = self.player.digest;
        Ok(Some(ReplayedTick { tick: self.tick, offset, replies, recorded, digest }))
    }
}

/// Returns what is in the record at an offset, and its check.
fn record(
    bytes: &[u8],
    offset: usize,
    before: [u8; 8],
) -> Result<(&[u8], [u8; 8]), RecordingError> {
    let cut_off = || RecordingError::CutOff(offset);
    let rest = bytes.get(offset..).ok_or_else(cut_off)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut_off)?;
    let (check, rest) = rest.split_first_chunk::<8>().ok_or_else(cut_off)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| cut_off())?;
    let content = rest.get(..length).ok_or_else(cut_off)?;
    if check_after(before, content) != *check {
        return Err(RecordingError::Damaged(offset));
    }
    Ok((content, *check))
}

/// Returns the check of a record after one with another check.
fn check_after(before: [u8; 8], content: &[u8]) -> [u8; 8] {
    let all = [before.as_slice(), content].concat();
    let Digest([a, b, c, d, e, f, g, h, ..]) = Digest::of("metatopia-physics record", &all);
    [a, b, c, d, e, f, g, h]
}
