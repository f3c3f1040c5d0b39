//! Judging turns, once their proposal is accepted and their bytes are here.

use std::sync::Arc;

use metatopia_types::{HeaderId, PublicKey, Round, Turn};

use super::{Agreement, StepContext};
use crate::ballot::{Candidate, Grounds, Judged};
use crate::core::CoreInput;
use crate::judge::{TurnArrival, TurnContext};
use crate::{Halt, Record, TurnVerdict, Void, pace};

impl Agreement {
    /// Judges what can be judged, and begins to want what is missing.
    pub(super) fn judge(&mut self, cx: &mut StepContext<'_>) {
        // While the log is read again only the log speaks to the core: in its first life this
        // server may have voted nil before these bytes came.
        if !self.begun || (self.outbox.is_replaying() && !self.controls.eager_replay) {
            return;
        }
        self.want_missing(cx);
        let Some(place) = self.place().filter(|place| cx.host.knows(place.height)) else {
            return;
        };
        let open: Vec<(HeaderId, Grounds)> = self
            .ballot
            .candidates()
            .iter()
            .filter(|(_, candidate)| !candidate.proposals.is_empty())
            .map(|(header, candidate)| (*header, candidate, self.grounds(*header)))
            .filter(|(_, candidate, grounds)| candidate.is_open(*grounds))
            .map(|(header, _, grounds)| (header, grounds))
            .collect();
        for (header, grounds) in open {
            if let Some(turn) = self.depot.turn(header).cloned() {
                self.judge_one(&place, header, &turn, grounds, cx);
            }
        }
    }

    fn judge_one(
        &mut self,
        place: &TurnContext,
        header: HeaderId,
        turn: &Turn,
        grounds: Grounds,
        cx: &mut StepContext<'_>,
    ) {
        let Some(candidate) = self.ballot.get(header) else {
            return;
        };
        let Some(proposal) = candidate.proposal().map(|signed| signed.message.clone()) else {
            return;
        };
        let claim = self.weigh_claim(place, turn, candidate, grounds, cx);
        // The claim of a turn may get better with what others say of it; its content cannot.
        let content = claim.and_then(|()| weigh_content(place, turn, cx));
        let judged =
            Judged { valid: content.is_ok(), hopeless: claim.is_ok() && content.is_err(), grounds };
        self.ballot.judge(header, judged, cx.now.monotonic);
        match content {
            Ok(()) => self.log_turn(header),
            Err(why) => self.last_void = Some(why),
        }
        self.told.push_back(CoreInput::Record(Record::Verdict(TurnVerdict {
            height: proposal.height,
            round: proposal.round,
            valid_round: proposal.valid_round,
            proposer: proposal.proposer,
            header,
            valid: judged.valid,
            certified: false,
        })));
    }

    /// May the turn claim its builder, round and time, by any of the proposals that were accepted
    /// for it? A quorum that prevoted for it saw it fresh, so our own clock does not matter then:
    /// a clock that is wrong must not keep us from the others.
    fn weigh_claim(
        &self,
        place: &TurnContext,
        turn: &Turn,
        candidate: &Candidate,
        grounds: Grounds,
        cx: &StepContext<'_>,
    ) -> Result<(), Void> {
        if self.controls.time_judged_again {
            let length = self.config.turn_length;
            pace::check(turn.header.time, place.previous_time, length, Some(cx.now.wall))?;
        }
        let backed = self.core.round().filter(|_| grounds.polka);
        let backed = backed.map(TurnArrival::Backed);
        let proposed = candidate.proposals.iter().rev().map(|proposal| {
            let proposal = &proposal.message;
            match proposal.valid_round {
                Some(round) => TurnArrival::Backed(round),
                None => TurnArrival::Fresh(proposal.round, cx.now.wall),
            }
        });
        let mut last = None;
        for came in backed.into_iter().chain(proposed) {
            match place.check_claim(turn, came) {
                Ok(()) => return Ok(()),
                Err(why) => last = Some(why),
            }
        }
        last.map_or(Ok(()), Err)
    }

    /// A quorum decided this turn, and we come to know it from its certificate.
    pub(super) fn judge_certified(
        &mut self,
        round: Round,
        proposer: PublicKey,
        header: HeaderId,
        cx: &mut StepContext<'_>,
    ) {
        let (Some(place), Some(found)) = (self.place(), self.sync.take_certified(header)) else {
            return;
        };
        let turn = Arc::clone(&found.1.turn);
        let claim = place.check_claim(&turn, TurnArrival::Backed(round));
        if let Err(why) = claim.and_then(|()| weigh_content(&place, &turn, cx)) {
            let height = self.height();
            self.contested = Some(found);
            self.halt(Halt::Diverged { height, header, why });
            return;
        }
        self.depot.keep(turn);
        self.log_turn(header);
        self.told.push_back(CoreInput::Record(Record::Verdict(TurnVerdict {
            height: self.height(),
            round,
            valid_round: None,
            proposer,
            header,
            valid: true,
            certified: true,
        })));
    }

    /// What turns of the open height have to fit; none as long as the state whose root they state
    /// is not known.
    pub(super) fn place(&self) -> Option<TurnContext> {
        let (tip, height) = (self.past.tip(), self.height());
        let (root_height, root) = self.past.root_for(height)?;
        Some(TurnContext {
            sim: self.config.sim,
            engine: self.config.engine,
            turn_length: self.config.turn_length,
            height,
            previous: tip.header,
            previous_time: tip.time,
            root_height,
            root,
            set: Arc::clone(self.past.set(height)?),
            next: Arc::clone(self.past.set(height.plus(1))?),
        })
        .filter(|_| self.begun)
    }
}

fn weigh_content(place: &TurnContext, turn: &Turn, cx: &StepContext<'_>) -> Result<(), Void> {
    place.check(turn)?;
    cx.host.judge(turn).map_err(Void::Act)
}
