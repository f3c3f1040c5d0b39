//! Verifies the log of one server, from its first byte to its last.
//!
//! Every turn is checked against its certificate and the turn before it. Where there is a state for
//! it, the turn is applied as well, and all roots that are stated are compared.

mod fault;
mod fork;
mod notes;
mod playback;
mod proven_state;
mod replay;
mod source;
mod verdict;
mod voters;

#[cfg(test)]
mod changes;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::ControlFlow};

use metatopia_replica::keeper::HISTORY_TURNS;
use metatopia_sim::{ForkJoin, World};
use metatopia_store::{
    DiskError, Identity, IdentityError, LogSurvey, Patches, ReadDisk, begins_behind_damage,
    list_snapshots, read_identity, survey,
};
use metatopia_types::{HeaderId, Height, PublicKey, SimId};

pub use self::{
    fault::{LogFault, LogFaultKind, NoState, SnapshotProofError},
    fork::{LogFork, first_fork},
    verdict::{LogVerdict, UnverifiedLog},
};
use self::{playback::Playback, replay::Replay, source::LogSource, voters::VoterHistory};
use crate::{SimStart, TurnObserver, read_log::read_log};

/// The reason why a log could not be verified. A log that was read and is wrong is no error, but a
/// [`CheckedLog`] with a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The findings in the log of one server.
#[derive(Debug, Default)]
pub struct CheckedLog {
    /// The server that wrote the log.
    pub server: Option<PublicKey>,
    /// The sim of the log.
    pub sim: Option<SimId>,
    /// The height of the state that the last applied turns began with; 0 is genesis.
    pub base: Height,
    /// The decided turns that are there.
    pub turns: BTreeMap<Height, HeaderId>,
    /// The first turn that is there, if earlier ones were removed.
    pub oldest: Option<Height>,
    /// The first turn that is there, if those before it were in segments that the server put aside as damaged,
    /// and nobody gave them back yet.
    pub lost_below: Option<Height>,
    /// The turns that were applied, so that their roots are known: first and last.
    pub applied: Vec<(Height, Height)>,
    /// The state after the last of them.
    pub world: Option<World>,
    /// The number of acts in the turns that are there.
    pub acts: u64,
    /// The number of records.
    pub records: u64,
    /// The bytes behind the last record, which a crash left.
    pub torn_bytes: u64,
    /// How often the server found its own state wrong, and repaired it.
    pub repairs: u64,
    /// The turns after which the server went on from a state that operators signed.
    pub recoveries: Vec<Height>,
    /// The turns that are missing between others: first and last.
    pub missing: Vec<(Height, Height)>,
    /// The turns that are there and that nothing proves, since the validators of their heights are
    /// not known: first and last.
    pub unverifiable: Vec<(Height, Height)>,
    /// The turns of which words were forgotten, so that their headers and certificates prove them and nobody can
    /// apply them: first and last.
    pub forgotten: Vec<(Height, Height)>,
    /// The first fault, if there is one.
    pub fault: Option<LogFault>,
}

impl CheckedLog {
    /// Returns these findings with a fault that concerns the whole log.
    fn with_fault(mut self, kind: LogFaultKind) -> Self {
        self.fault = Some(kind.at(Height(1)));
        self
    }
}

/// Returns the server and sim of a data directory. Breaks with the findings if it has none, or a
/// damaged one.
///
/// # Errors
/// When the disk fails.
pub fn identify(
    disk: &dyn ReadDisk,
) -> Result<ControlFlow<Box<CheckedLog>, Identity>, VerifyError> {
    let kind = match read_identity(disk) {
        Ok(Some(identity)) => return Ok(ControlFlow::Continue(identity)),
        Ok(None) => LogFaultKind::NeverStarted,
        Err(IdentityError::Disk(error)) => return Err(error.into()),
        Err(error) => LogFaultKind::Identity(Box::new(error)),
    };
    Ok(ControlFlow::Break(Box::new(CheckedLog::default().with_fault(kind))))
}

/// Verifies a log, as far as the observer wants. Its server may run meanwhile: if the log was
/// shortened under the eyes of the verification, it begins again.
///
/// # Errors
/// See [`VerifyError`]. A fault in the log is a result.
pub fn verify_log(
    disk: &dyn ReadDisk,
    identity: Identity,
    start: &SimStart,
    exec: &dyn ForkJoin,
    observer: &mut dyn TurnObserver,
) -> Result<CheckedLog, VerifyError> {
    let read = || {
        let checked = check_log(disk, identity, start, exec, observer);
        let is_sound = checked.as_ref().is_ok_and(|checked| checked.fault.is_none());
        (is_sound || !observer.may_begin_again(), checked)
    };
    read_log(disk, read, |(is_done, _)| *is_done).1
}

/// Verifies the log and its patches once.
fn check_log(
    disk: &dyn ReadDisk,
    identity: Identity,
    start: &SimStart,
    exec: &dyn ForkJoin,
    observer: &mut dyn TurnObserver,
) -> Result<CheckedLog, VerifyError> {
    let Identity { sim, server } = identity;
    let mut checked = CheckedLog { server: Some(server), sim: Some(sim), ..CheckedLog::default() };
    if start.genesis.id() != sim {
        return Ok(checked.with_fault(LogFaultKind::OtherGenesis(start.genesis.id())));
    }
    let validators = match start.genesis.first_validators() {
        Ok(validators) => validators,
        Err(error) => return Ok(checked.with_fault(LogFaultKind::Validators(error))),
    };
    let LogSurvey { scan, fault } = survey(disk, sim)?;
    let patches = Patches::list(disk)?;
    let source =
        LogSource { first_state: &start.first_state, scan: &scan, patches: &patches, disk };
    let mut voters = VoterHistory::new(validators);
    let (state, no_state) = match source.begin(&mut voters) {
        Ok(state) => (Some(state), None),
        Err(why) => (None, Some(why)),
    };
    let begin = (source.first_height(), scan.index.is_pruned());
    let mut replay = Replay::new(identity, voters, state, begin);
    // The records before a fault are checked as well: they show the height of the fault.
    let broken = match replay.base().map(|base| observer.begins(base)) {
        Some(ControlFlow::Break(())) => None,
        _ => {
            let mut playback = Playback::new(&source, &mut replay, exec, observer);
            let played = playback.play(fault.is_some()).err();
            let gap = playback.into_unproven_gap();
            let unread =
                fault.map(|fault| LogFaultKind::Scan(Box::new(fault)).at(replay.log_height()));
            let first = replay.missing().first().map_or(begin.0, |(first, _)| *first);
            let no_state = no_state.map(|why| LogFaultKind::NoState(Box::new(why)).at(first));
            // What is known to be wrong is told before what this program cannot judge.
            let unjudged =
                |fault: &LogFault| fault.kind.missing_port().is_some() && unread.is_some();
            played.filter(|fault| !unjudged(fault)).or(unread).or(no_state).or(gap)
        }
    };
    checked.records = scan.index.records();
    checked.torn_bytes = scan.tail.map_or(0, |tail| tail.bytes);
    replay.finish(broken, &mut checked);
    let first = checked.turns.keys().next().copied();
    checked.oldest = first.filter(|first| scan.index.is_pruned() && first.0 > 1);
    if checked.oldest.is_some() && begins_behind_damage(disk, &scan.index)? {
        // The bytes of the first decided turns may have been in what is gone.
        let mut whole = checked.turns.keys().filter(|at| patches.holding(at.0).is_none());
        let begin = whole.next().copied().unwrap_or(begin.0);
        checked.lost_below = lost_below(disk, &patches, begin)?;
    }
    Ok(checked)
}

/// Returns the first turn behind those that a log lost which begins with this turn. Others give turns back as
/// patches, the newest first. A server that is no archive gives up turns so far below its older snapshot, whether
/// they were in segments or in patches, so they are pruned. One whose log goes down much farther is an archive.
fn lost_below(
    disk: &dyn ReadDisk,
    patches: &Patches,
    begin: Height,
) -> Result<Option<Height>, DiskError> {
    let older = list_snapshots(disk)?.last().and_then(|(height, _)| height.minus(HISTORY_TURNS));
    let kept = older.unwrap_or_default();
    let kept = if begin.plus(HISTORY_TURNS) < kept { Height(0) } else { kept };
    let mut first = begin;
    while let Some((from, _)) = patches.holding(first.0.saturating_sub(1)) {
        first = Height(from);
    }
    Ok(Some(first).filter(|first| first.minus(1).is_some_and(|last| last > kept)))
}
