//! Feeds a replay with the records of a log, and with the patches and snapshots beside it.

use std::ops::ControlFlow;

use metatopia_consensus::Record;
use metatopia_replica::decode_patch;
use metatopia_sim::ForkJoin;
use metatopia_store::load_patch;
use metatopia_types::Height;

use super::{
    fault::{LogFault, LogFaultKind},
    replay::Replay,
    source::{LogSource, decode},
};
use crate::TurnObserver;

/// A log on its way into a replay.
pub(super) struct Playback<'a> {
    source: &'a LogSource<'a>,
    replay: &'a mut Replay,
    exec: &'a dyn ForkJoin,
    observer: &'a mut dyn TurnObserver,
    /// The patches that begin below this height were played.
    patched: u64,
    /// The first gap that no snapshot ends, as a fault.
    unproven_gap: Option<LogFault>,
}

impl<'a> Playback<'a> {
    /// Returns a playback at the beginning of a log.
    pub(super) fn new(
        source: &'a LogSource<'a>,
        replay: &'a mut Replay,
        exec: &'a dyn ForkJoin,
        observer: &'a mut dyn TurnObserver,
    ) -> Self {
        Self { source, replay, exec, observer, patched: 0, unproven_gap: None }
    }

    /// Returns the first gap that no snapshot ends, as a fault.
    pub(super) fn into_unproven_gap(self) -> Option<LogFault> {
        self.unproven_gap
    }

    /// Plays all that can be read. If the log `goes_on` unreadably, patches behind its end are left out.
    pub(super) fn play(&mut self, goes_on: bool) -> Result<(), LogFault> {
        for record in self.source.scan.index.iter(self.source.disk) {
            let at = self.replay.log_height();
            let record = record.map_err(|error| LogFaultKind::Read(error).at(at))?;
            let decoded = decode(&record).map_err(|kind| kind.at(at))?;
            let flow = match decoded.height() {
                Some(height) => self.advance_to(&decoded, height)?,
                None => ControlFlow::Continue(()),
            };
            if flow.is_break()
                || self.replay.record(decoded, self.exec, self.observer)?.is_break()
                || self.pass_hole().is_break()
            {
                return Ok(());
            }
        }
        if !goes_on {
            let _end = self.play_patches(u64::MAX)?;
        }
        Ok(())
    }

    /// Prepares for a record of a later height than the log has come to: plays the patches before it,
    /// and goes on behind turns that are missing.
    fn advance_to(&mut self, record: &Record, height: Height) -> Result<ControlFlow<()>, LogFault> {
        let Some(due) = self.due(record, height) else {
            return Ok(ControlFlow::Continue(()));
        };
        let decides = matches!(record, Record::Decided(_));
        // A patch may hold the decided turn itself, too.
        let until = if decides { due.0 } else { due.0.saturating_sub(1) };
        if self.play_patches(until)?.is_break() || self.pass_gap(due)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.replay.advance_to(due);
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the height to which a record moves the log, if it does.
    fn due(&self, record: &Record, height: Height) -> Option<Height> {
        let at = self.replay.log_height();
        match record {
            Record::Decided(_) => Some(height),
            // Bytes may be those of the height after the one under way; promises are.
            Record::Turn(_) | Record::Early(_) => {
                let before = height.minus(1).unwrap_or_default();
                let behind = |next: Height| if next < height { before } else { height };
                self.source.goes_on_at(at, before).map(behind).filter(|_| before > at)
            }
            Record::Vote(_)
            | Record::Proposal(_)
            | Record::Polka(_)
            | Record::Verdict(_)
            | Record::Timeout(_)
                if height > at =>
            {
                self.source.goes_on_at(at, height).map(|_| height)
            }
            _ => None,
        }
    }

    /// Plays the patches of heights up to this one that were not played yet.
    fn play_patches(&mut self, height: u64) -> Result<ControlFlow<()>, LogFault> {
        let due = |(from, _): &(u64, u64)| *from >= self.patched && *from <= height;
        let due: Vec<(u64, u64)> = self.source.patches.iter().filter(due).collect();
        for (from, to) in due {
            self.patched = from.saturating_add(1);
            let bytes = load_patch(self.source.disk, (from, to))
                .map_err(|error| LogFaultKind::Read(error).at(Height(from)))?;
            let turns = decode_patch(&bytes);
            if turns.len() as u64 != to.saturating_sub(from).saturating_add(1) {
                return Err(LogFaultKind::Patch { from, to }.at(Height(from)));
            }
            for (turn, height) in turns.into_iter().zip((from..).map(Height)) {
                if turn.height() != height {
                    return Err(LogFaultKind::Patch { from, to }.at(height));
                }
                if self.pass_gap(height)?.is_break()
                    || self.replay.patched_turn(turn, self.exec, self.observer)?.is_break()
                    || self.pass_hole().is_break()
                {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Goes on from the next snapshot, if words of the last turn were forgotten. Without one, the turns behind
    /// it are held against their certificates and each other.
    fn pass_hole(&mut self) -> ControlFlow<()> {
        let Some(height) = self.replay.take_stop() else {
            return ControlFlow::Continue(());
        };
        match self.source.begin_from(height, self.replay.voters()) {
            Ok(state) => {
                let begins = self.observer.begins(state.base());
                self.replay.resume(state);
                begins
            }
            Err(_) => ControlFlow::Continue(()),
        }
    }

    /// Goes on behind missing turns, if a turn of this height comes after such.
    fn pass_gap(&mut self, height: Height) -> Result<ControlFlow<()>, LogFault> {
        let Some(gap) = self.replay.gap(height) else {
            return Ok(ControlFlow::Continue(()));
        };
        // The state that the replay begins with holds what became of them.
        if self.replay.base().is_some_and(|base| gap.1 <= base) {
            self.replay.pass(gap, None);
            return Ok(ControlFlow::Continue(()));
        }
        match self.source.begin_from(gap.1, self.replay.voters()) {
            Ok(state) => {
                let begins = self.observer.begins(state.base());
                self.replay.pass(gap, Some(state));
                Ok(begins)
            }
            // The turns behind the gap may show a fault by themselves.
            Err(why) => {
                self.unproven_gap
                    .get_or_insert(LogFaultKind::Gap { gap, why: Box::new(why) }.at(gap.0));
                self.replay.lose_state();
                self.replay.pass(gap, None);
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}
