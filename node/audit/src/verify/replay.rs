//! The machine that takes the records of a log one after the other, and checks all that they claim.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc};

use metatopia_consensus::{Decision, Record};
use metatopia_replica::RECORDS_BACK_HEIGHTS;
use metatopia_sim::{ENGINE, ForkJoin, Unsound};
use metatopia_store::Identity;
use metatopia_types::{
    Certificate, Digest, Ed25519, HeaderId, Height, PublicKey, SimId, Turn, ValidatorSet,
};

use super::{
    CheckedLog,
    fault::{LogFault, LogFaultKind},
    notes::StateNotes,
    proven_state::ProvenState,
    voters::VoterHistory,
};
use crate::TurnObserver;

/// Adds a height to ascending ranges, behind their end.
pub(super) fn push_height(ranges: &mut Vec<(Height, Height)>, height: Height) {
    match ranges.last_mut() {
        Some((_, last)) if height <= *last => {}
        Some((_, last)) if last.plus(1) == height => *last = height,
        _ => ranges.push((height, height)),
    }
}

/// A log that is read again, as far as it was read.
pub(super) struct Replay {
    pub(super) sim: SimId,
    pub(super) server: PublicKey,
    pub(super) voters: VoterHistory,
    /// The state that turns are applied to. Without one, turns are only checked against their
    /// certificates and each other.
    state: Option<ProvenState>,
    /// The turns whose bytes were read, of heights that the log has not decided yet.
    pub(super) proposed: BTreeMap<HeaderId, Arc<Turn>>,
    /// The decided turns.
    pub(super) decided: BTreeMap<Height, HeaderId>,
    /// The last decided turn; nothing if turns are missing behind it.
    pub(super) previous: Option<HeaderId>,
    /// The height of the last decided turn, or of the last missing one. In a log that begins at
    /// genesis it is 0 at first.
    pub(super) tip: Option<Height>,
    /// The height that the log's own records have come to.
    log_height: Height,
    /// The last height that the log's own records decided; patches do not count.
    last_logged: Option<Height>,
    /// The bytes of the turns below this height may lie before the log's beginning.
    pub(super) bytes_complete_from: Height,
    /// The turns that are missing between others: the first and the last.
    missing: Vec<(Height, Height)>,
    /// The turns of heights whose validators are not known.
    pub(super) unverifiable: Vec<(Height, Height)>,
    /// The turns of which words were forgotten.
    holed: Vec<(Height, Height)>,
    /// The turn of this height could not be applied to the state that there was, and the state is gone.
    stopped_at: Option<Height>,
    /// The turns that were applied.
    applied: Vec<(Height, Height)>,
    acts: u64,
    pub(super) notes: StateNotes,
}

impl Replay {
    /// Returns a replay that begins with a state, if there is one. The log's own records begin at the
    /// height `begin`; in a log that `is_pruned` earlier ones were removed.
    pub(super) fn new(
        Identity { sim, server }: Identity,
        voters: VoterHistory,
        state: Option<ProvenState>,
        (begin, is_pruned): (Height, bool),
    ) -> Self {
        let genesis = state.as_ref().is_some_and(|state| state.base() == Height(0));
        Self {
            sim,
            server,
            voters,
            state,
            proposed: BTreeMap::new(),
            decided: BTreeMap::new(),
            previous: genesis.then_some(HeaderId::BEFORE_FIRST),
            tip: genesis.then_some(Height(0)),
            log_height: begin,
            last_logged: None,
            bytes_complete_from: if is_pruned {
                begin.plus(RECORDS_BACK_HEIGHTS)
            } else {
                Height(0)
            },
            missing: Vec::new(),
            unverifiable: Vec::new(),
            holed: Vec::new(),
            stopped_at: None,
            applied: Vec::new(),
            acts: 0,
            notes: StateNotes::default(),
        }
    }

    /// Returns the height after which the state began, if there is a state.
    pub(super) fn base(&self) -> Option<Height> {
        self.state.as_ref().map(ProvenState::base)
    }

    /// Returns what is known of the validators.
    pub(super) const fn voters(&mut self) -> &mut VoterHistory {
        &mut self.voters
    }

    /// Returns the height that the log's own records have come to.
    pub(super) const fn log_height(&self) -> Height {
        self.log_height
    }

    /// Returns the turns that are missing between others.
    pub(super) fn missing(&self) -> &[(Height, Height)] {
        &self.missing
    }

    /// Moves the findings into a report. The earlier of two faults counts: the one that broke the
    /// replay off, or a note that the turns contradict and that the server has not taken back since.
    pub(super) fn finish(self, broken: Option<LogFault>, checked: &mut CheckedLog) {
        let base = self.base().unwrap_or_default();
        let noted = self.notes.fault;
        let is_first = |noted: &LogFault| broken.as_ref().is_none_or(|b| noted.height <= b.height);
        checked.fault = noted.filter(is_first).or(broken);
        checked.repairs = self.notes.repairs;
        checked.recoveries = self.notes.recoveries.iter().map(|taken| taken.height).collect();
        (checked.missing, checked.unverifiable) = (self.missing, self.unverifiable);
        (checked.applied, checked.acts) = (self.applied, self.acts);
        checked.forgotten = self.holed;
        checked.world = self.state.as_ref().map(|state| state.world().clone());
        checked.base = base;
        checked.turns = self.decided;
    }

    /// Returns the turns that are missing if one of this height is next.
    pub(super) fn gap(&self, height: Height) -> Option<(Height, Height)> {
        let next = self.tip?.plus(1);
        let last = height.minus(1).filter(|last| *last >= next)?;
        Some((next, last))
    }

    /// Passes over a gap. Turns behind it are applied to another state, or to the same one if that
    /// begins behind the gap.
    pub(super) fn pass(&mut self, gap: (Height, Height), to: Option<ProvenState>) {
        if to.is_some() {
            self.state = to;
        }
        (self.previous, self.tip) = (None, Some(gap.1));
        self.missing.push(gap);
    }

    /// Returns the height of a turn of which words were forgotten, if it was the one to be applied next.
    pub(super) const fn take_stop(&mut self) -> Option<Height> {
        self.stopped_at.take()
    }

    /// Goes on from the state of a snapshot, behind turns that are there and cannot be applied.
    pub(super) fn resume(&mut self, state: ProvenState) {
        self.state = Some(state);
    }

    /// Drops the state: none of the turns that follow can be applied.
    pub(super) fn lose_state(&mut self) {
        self.state = None;
    }

    /// Notes that the log's own records go on at this height.
    pub(super) fn advance_to(&mut self, height: Height) {
        self.log_height = self.log_height.max(height);
    }

    /// Takes a turn of a patch.
    pub(super) fn patched_turn(
        &mut self,
        turn: Decision,
        exec: &dyn ForkJoin,
        observer: &mut dyn TurnObserver,
    ) -> Result<ControlFlow<()>, LogFault> {
        self.proposed.insert(turn.id(), Arc::clone(&turn.turn));
        self.decide(&turn.certificate, exec, observer)
    }

    /// Takes the next record of the log itself.
    pub(super) fn record(
        &mut self,
        record: Record,
        exec: &dyn ForkJoin,
        observer: &mut dyn TurnObserver,
    ) -> Result<ControlFlow<()>, LogFault> {
        let Record::Decided(certificate) = record else {
            self.check_record(record)?;
            return Ok(ControlFlow::Continue(()));
        };
        let height = certificate.height;
        if self.last_logged.is_some_and(|logged| height <= logged) {
            return Err(LogFaultKind::DecidedTwice(height).at(height));
        }
        self.last_logged = Some(height);
        let decided = self.decide(&certificate, exec, observer);
        self.advance_to(height.plus(1));
        self.proposed.retain(|_, turn| turn.header.height > height);
        decided
    }

    /// Takes the certificate of a decided turn.
    fn decide(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        observer: &mut dyn TurnObserver,
    ) -> Result<ControlFlow<()>, LogFault> {
        let height = certificate.height;
        let found = match self.decided.get(&height).copied() {
            Some(known) => self.decide_again(certificate, known),
            None => self.decide_next(certificate, exec, observer),
        };
        found.map_err(|kind| kind.at(height))
    }

    /// Checks the certificate of a turn that is in the log and in a patch.
    fn decide_again(
        &self,
        certificate: &Certificate,
        known: HeaderId,
    ) -> Result<ControlFlow<()>, LogFaultKind> {
        if known != certificate.header {
            return Err(LogFaultKind::DecidedTwice(certificate.height));
        }
        if let Some(set) = self.voters.at(certificate.height) {
            self.check_certificate(certificate, set)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn decide_next(
        &mut self,
        certificate: &Certificate,
        exec: &dyn ForkJoin,
        observer: &mut dyn TurnObserver,
    ) -> Result<ControlFlow<()>, LogFaultKind> {
        let (height, id) = (certificate.height, certificate.header);
        let due = self.tip.map(|tip| tip.plus(1));
        if let Some(due) = due.filter(|due| *due != height) {
            return Err(LogFaultKind::Misplaced { what: "decision", height, at: due });
        }
        let Some(turn) = self.proposed.remove(&id) else {
            if height >= self.bytes_complete_from || !self.decided.is_empty() {
                return Err(LogFaultKind::NoTurn(id));
            }
            // The certificate must hold all the same: the turn after it names it.
            if let Some(set) = self.voters.at(height) {
                self.check_certificate(certificate, set)?;
            }
            (self.previous, self.tip) = (Some(id), Some(height));
            return Ok(ControlFlow::Continue(()));
        };
        if self.previous.is_some_and(|previous| previous != turn.header.previous) {
            return Err(Unsound::Header("another turn before it").into());
        }
        if !turn.body.is_whole() {
            push_height(&mut self.holed, height);
            if self.state.take_if(|state| height > state.base()).is_some() {
                self.stopped_at = Some(height);
            }
        }
        let flow = match self.state.as_mut().filter(|state| height > state.base()) {
            Some(state) => {
                observer.comes(&turn);
                let applied = state.apply(&turn, certificate, exec, observer)?;
                self.voters.learn(state.world());
                self.notes.applied(&applied, state.world());
                push_height(&mut self.applied, height);
                observer.applied(&applied, state.world())
            }
            None => {
                self.check_unapplied(&turn, certificate)?;
                ControlFlow::Continue(())
            }
        };
        self.acts += turn.body.acts().len() as u64;
        self.notes.stated(&turn.header);
        (self.previous, self.tip) = (Some(id), Some(height));
        self.decided.insert(height, id);
        Ok(flow)
    }

    /// Checks a turn against its certificate where there is no state to apply it to.
    fn check_unapplied(
        &mut self,
        turn: &Turn,
        certificate: &Certificate,
    ) -> Result<(), LogFaultKind> {
        let (header, height) = (&turn.header, certificate.height);
        let claims = [
            (header.sim == self.sim, "another sim"),
            (header.engine == ENGINE, "another engine"),
            (header.height == height, "another height"),
            (header.reserved == Digest::ZERO, "something that only later engines know"),
        ];
        if let Some((_, what)) = claims.into_iter().find(|(holds, _)| !holds) {
            return Err(Unsound::Header(what).into());
        }
        check_body(turn)?;
        let base = self.state.as_ref().filter(|state| state.base() == height);
        if base.is_some_and(|state| state.base_header() != certificate.header) {
            return Err(LogFaultKind::OtherState(height));
        }
        let Some(set) = self.voters.at(height) else {
            push_height(&mut self.unverifiable, height);
            return Ok(());
        };
        if header.validators != set.id() {
            return Err(Unsound::Header("other validators").into());
        }
        self.check_certificate(certificate, set)?;
        self.voters.follow(header);
        Ok(())
    }

    fn check_certificate(
        &self,
        certificate: &Certificate,
        set: &ValidatorSet,
    ) -> Result<(), Unsound> {
        certificate.verify(self.sim, set, &Ed25519).map_err(Unsound::Certificate)
    }
}

/// Checks that the body of a turn is the one that its header commits to.
pub(super) fn check_body(turn: &Turn) -> Result<(), Unsound> {
    turn.check_body().map_err(|error| error.map_or(Unsound::OtherBody, Unsound::Body))
}
