//! Our own turns: built as late as the pace allows, so that they hold what came until then.
//!
//! The proposer of the next height does not wait for the decision of this one: it builds on the turn
//! it precommits, and signs a proposal for round 0 of the next height. The others have it when that
//! height begins, which saves the time of one message. Such a proposal is a promise: it is in the
//! log before it leaves, and the height begins with it and with nothing else. It carries no lock,
//! so signing it early endangers nothing; if another turn is decided here after all, it is void, and
//! costs a round.

use std::sync::Arc;
use std::time::Duration;

use metatopia_types::{Digest, Header, HeaderId, Height, Millis, Proposal, Round, Turn, TurnBody};

use super::{Agreement, Promise, StepContext};
use crate::core::CoreInput;
use crate::judge::TurnArrival;
use crate::outbox::DurabilityNeed;
use crate::{Message, Recipients, Record, turn_time};

/// The round from which a height's turns are empty: small enough for any network, and for being kept round
/// after round while the height waits for servers to come back.
const ROUNDS_WITH_ACTS: u32 = 8;

/// The turn before the one to build.
struct PreviousTurn {
    header: HeaderId,
    time: Millis,
    /// If it is not decided yet.
    turn: Option<Arc<Turn>>,
}

impl Agreement {
    /// Proposes if the core asked for it. Says when to come back if it is too early.
    pub(super) fn propose(&mut self, cx: &mut StepContext<'_>) -> Option<Duration> {
        let round = self.height_state.build?;
        if !self.begun || self.round() != Some(round) {
            self.height_state.build = None;
            return None;
        }
        // Without it there is no root to state. It comes with an input.
        self.place().filter(|place| cx.host.knows(place.height))?;
        let (height, tip) = (self.height(), self.chain.tip());
        if round == Round(0) && self.promises.contains_key(&height) {
            self.height_state.build = None;
            self.honour(height, cx);
            return None;
        }
        let due = self.due(cx);
        if due > cx.now.monotonic {
            return Some(due);
        }
        self.height_state.build = None;
        let before = PreviousTurn { header: tip.header, time: tip.time, turn: None };
        let mut turn = self.build(height, round, &before, cx);
        // Void acts of our own would cost a round. The host is asked again because it is the judge.
        if turn.check_body().is_err() || cx.host.judge(&turn).is_err() {
            turn = Turn::of(turn.header, TurnBody::default());
        }
        let header = turn.id();
        self.turn_store.keep(Arc::new(turn));
        self.log_turn(header);
        self.send_parts(header);
        self.core_inputs.push_back(CoreInput::Ours(height, round, header));
        None
    }

    /// Proposes for the next height, if we lead it and have precommitted here. Says when to come
    /// back if it is too early.
    pub(super) fn promise(&mut self, cx: &mut StepContext<'_>) -> Option<Duration> {
        let height = self.height().plus(1);
        let header = self.height_state.precommitted.filter(|_| self.begun && self.signs_here())?;
        let leads = self.chain.set(height)?.proposer(height, Round(0)) == self.me;
        if !leads || self.controls.no_promises || self.promises.contains_key(&height) {
            return None;
        }
        // The state that the header of the next height states must be there, and who votes after it.
        self.chain.root_for(height).filter(|_| cx.host.knows(height))?;
        self.chain.set(height.plus(1))?;
        let last = self.turn_store.turn(header)?.clone();
        let seen = self.height_state.get(header)?.seen;
        let due = turn_time::due(cx.now, last.header.time, seen, self.config.turn_length);
        if due > cx.now.monotonic {
            return Some(due);
        }
        let before = PreviousTurn { header, time: last.header.time, turn: Some(last) };
        let turn = self.build(height, Round(0), &before, cx);
        let header = turn.id();
        self.turn_store.keep(Arc::new(turn));
        self.log_turn(header);
        let proposal = self.core.sign(Proposal {
            height,
            round: Round(0),
            header,
            valid_round: None,
            proposer: self.me,
        });
        self.outbox.append(Record::Early(proposal.clone()));
        let promise = Promise { proposal, sent: false };
        self.promises.insert(height, promise);
        self.send_promises();
        None
    }

    /// Sends the promises that did not leave in this life.
    pub(super) fn send_promises(&mut self) {
        let unsent = self.promises.values_mut().filter(|promise| !promise.sent);
        let mut leaving = Vec::new();
        for promise in unsent {
            promise.sent = true;
            leaving.push(promise.proposal.clone());
        }
        for proposal in leaving {
            self.send_parts(proposal.message.header);
            self.outbox.send(Recipients::All, Message::Proposal(proposal), DurabilityNeed::Signed);
        }
    }

    /// Begins our height with what we promised for it, whatever that is worth by now.
    fn honour(&mut self, height: Height, cx: &mut StepContext<'_>) {
        let place = self.place().expect("a server proposes once it knows the state before");
        let promise = self.promises.get(&height).expect("only what was promised is honoured");
        let proposal = promise.proposal.clone();
        let header = proposal.message.header;
        let turn = self.turn_store.turn(header);
        let turn = turn.expect("a promise is kept with its turn").clone();
        let fits = place.check_claim(&turn, TurnArrival::Backed(Round(0)));
        let fits = fits.and_then(|()| place.check(&turn));
        if fits.is_ok() && cx.host.judge(&turn).is_ok() {
            self.core_inputs.push_back(CoreInput::Ours(height, Round(0), header));
            return;
        }
        // Another turn than the one we built on was decided. We must not propose another one in this
        // round, nor vote for this one: it is judged like anybody's void proposal.
        self.core_inputs.push_back(CoreInput::Proposal(proposal));
    }

    /// Builds our turn of a height, of which root and validators are known.
    fn build(
        &self,
        height: Height,
        round: Round,
        before: &PreviousTurn,
        cx: &mut StepContext<'_>,
    ) -> Turn {
        let body = if round.0 < ROUNDS_WITH_ACTS {
            cx.host.body(height, before.turn.as_deref())
        } else {
            TurnBody::default()
        };
        let (_, root) = self.chain.root_for(height).expect("the root that a turn states is known");
        let set = |at| self.chain.set(at).expect("the validators that a turn names are known").id();
        let header = Header {
            sim: self.config.sim,
            engine: self.config.engine,
            height,
            previous: before.header,
            proposer: self.me,
            round,
            time: turn_time::stamp(cx.now.wall, before.time, self.config.turn_length),
            root,
            validators: set(height),
            next_validators: set(height.plus(1)),
            reserved: Digest::ZERO,
            acts: Digest::ZERO,
            act_count: 0,
            blobs: Digest::ZERO,
            blob_count: 0,
        };
        Turn::of(header, body)
    }
}
