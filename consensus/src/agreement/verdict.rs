//! Judging turns, once their proposal is accepted and their bytes are here.

use std::sync::Arc;

use metatopia_types::{HeaderId, PublicKey, Round, Turn};

use super::{Agreement, StepContext};
use crate::core::CoreInput;
use crate::height_state::{Candidate, Grounds, Judged};
use crate::judge::{TurnArrival, TurnContext};
use crate::{Halt, Record, TurnVerdict, Void, turn_time};

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
            .height_state
            .candidates()
            .iter()
            .filter(|(_, candidate)| !candidate.proposals.is_empty())
            .map(|(header, candidate)| (*header, candidate, self.grounds(*header)))
            .filter(|(_, candidate, grounds)| candidate.is_open(*grounds))
            .map(|(header, _, grounds)| (header, grounds))
            .collect();
        for (header, grounds) in open {
            if let Some(turn) = self.turn_store.turn(header).cloned() {
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
        let candidate = self.height_state.get(header).expect("only a candidate is judged");
        let proposal = candidate.proposal().expect("only a turn that was proposed is judged");
        let proposal = proposal.message.clone();
        // Without a claim that counts there is nothing to say about the turn yet.
        let Some(claim) = self.weigh_claim(place, turn, candidate, grounds, cx) else { return };
        // The claim of a turn may get better with what others say of it; its content cannot.
        let content = claim.and_then(|()| weigh_content(place, turn, cx));
        let judged =
            Judged { valid: content.is_ok(), hopeless: claim.is_ok() && content.is_err(), grounds };
        self.height_state.judge(header, judged, cx.now.monotonic);
        match content {
            Ok(()) => self.log_turn(header),
            Err(why) => self.last_void = Some(why),
        }
        self.core_inputs.push_back(CoreInput::Record(Record::Verdict(TurnVerdict {
            height: proposal.height,
            round: proposal.round,
            valid_round: proposal.valid_round,
            proposer: proposal.proposer,
            header,
            valid: judged.valid,
            certified: false,
        })));
    }

    /// Checks whether the turn may claim its builder, round and time, by any of the proposals that
    /// were accepted for it. If a quorum prevoted for it, the quorum saw it fresh, so our own clock
    /// does not matter. None says that no claim of it counts by now.
    ///
    /// The core takes a verdict for all rounds of a height. So a proposal for a later round counts when that
    /// round comes, or its turn could be decided before with a round of the proposer's choice. That a turn was
    /// valid in an earlier round is for a quorum to say: nobody holds such a turn against a clock.
    fn weigh_claim(
        &self,
        place: &TurnContext,
        turn: &Turn,
        candidate: &Candidate,
        grounds: Grounds,
        cx: &StepContext<'_>,
    ) -> Option<Result<(), Void>> {
        if self.controls.time_judged_again {
            let length = self.config.turn_length;
            let wall = Some(cx.now.wall);
            let time = turn_time::check(turn.header.time, place.previous_time, length, wall);
            if time.is_err() {
                return Some(time);
            }
        }
        let now = self.core.round()?;
        let backed = grounds.polka.map(TurnArrival::Backed);
        let fresh = candidate.fresh(now).map(|round| TurnArrival::Fresh(round, cx.now.wall));
        let mut last = None;
        for came in backed.into_iter().chain(fresh) {
            last = Some(place.check_claim(turn, came));
            if last.as_ref().is_some_and(Result::is_ok) {
                break;
            }
        }
        last
    }

    /// Judges a turn that a quorum decided and that this server knows from its certificate only.
    pub(super) fn judge_certified(
        &mut self,
        round: Round,
        proposer: PublicKey,
        header: HeaderId,
        cx: &mut StepContext<'_>,
    ) {
        let (Some(place), Some(found)) = (self.place(), self.catch_up.take_certified(header))
        else {
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
        self.turn_store.keep(turn);
        self.log_turn(header);
        self.core_inputs.push_back(CoreInput::Record(Record::Verdict(TurnVerdict {
            height: self.height(),
            round,
            valid_round: None,
            proposer,
            header,
            valid: true,
            certified: true,
        })));
    }

    /// Returns what turns of the open height have to fit, or none while the state whose root they
    /// state is not known.
    pub(super) fn place(&self) -> Option<TurnContext> {
        let (tip, height) = (self.chain.tip(), self.height());
        let (root_height, root) = self.chain.root_for(height)?;
        Some(TurnContext {
            sim: self.config.sim,
            engine: self.config.engine,
            turn_length: self.config.turn_length,
            height,
            previous: tip.header,
            previous_time: tip.time,
            root_height,
            root,
            set: Arc::clone(self.chain.set(height)?),
            next: Arc::clone(self.chain.set(height.plus(1))?),
        })
        .filter(|_| self.begun)
    }
}

fn weigh_content(place: &TurnContext, turn: &Turn, cx: &StepContext<'_>) -> Result<(), Void> {
    place.check(turn)?;
    cx.host.judge(turn).map_err(Void::Act)
}
