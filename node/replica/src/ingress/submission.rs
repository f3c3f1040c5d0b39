//! Acts on their way in: those of clients, of other servers, and this server's own.

use std::{sync::Arc, time::Duration};

use metatopia_protocol::{Question, Submission, SubmitRefusal};
use metatopia_sim::{ActTarget, Register, Right, Standing};
use metatopia_types::{Act, ActId, Blob, Envelope, PublicKey, Sign, Verify};

use super::{
    Ingress,
    ledger::Ledger,
    mempool::{
        ActSource, FOLLOWER_RELAYED_PER_SECOND, Gate, HANDED_OVER_AHEAD, RELAYED_AHEAD,
        RELAYED_PER_SECOND,
    },
};
use crate::{
    ActStage, Asker, ClientId, Config, Effect, PeerMessage, context::ReplicaContext,
    controls::NoReserves,
};

impl Ingress {
    /// Reports a session that opened with a key that the sim knows.
    pub(super) fn recognize(&self, ctx: &mut ReplicaContext<'_>, client: ClientId) {
        let key = self.sessions.key(client);
        if key.is_some_and(|key| self.author_class(&key) != Standing::Stranger) {
            ctx.emit(Effect::KnownClient { client, known: true });
        }
    }

    /// Reports a client that hands in what brings in another key. From then on it counts as a
    /// stranger itself.
    fn note_stranger(&self, ctx: &mut ReplicaContext<'_>, client: ClientId, envelope: &Envelope) {
        let Envelope { author, act, .. } = envelope;
        if act.brings_in()
            && self.sessions.key(client) != Some(*author)
            && self.author_class(author) == Standing::Stranger
        {
            ctx.emit(Effect::KnownClient { client, known: false });
        }
    }

    /// Takes an act of a client into the mempool, and hands it on to the other servers. Returns the
    /// question for the receipt of an act that was decided already.
    pub(super) fn submit(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        submission: Submission,
    ) -> Option<(Asker, Question)> {
        let act = submission.act.id();
        let envelope = &submission.act.envelope;
        let (author, lane, seq) = (envelope.author, envelope.lane, envelope.seq);
        self.note_stranger(ctx, client, envelope);
        // A repeated act that was decided meanwhile gets its receipt again.
        let place = ctx.execution.archive().place(author, lane, seq);
        let is_decided = place.is_some_and(|place| place.act == act);
        let source = self.ledger.mempool.source(&act);
        // A repeated act costs no check of a signature. While the world stands still, clients repeat
        // their acts, and that must not use up the ration for new ones.
        if is_decided || source.is_some() {
            self.sessions.spare(client);
        }
        if is_decided {
            let asker = Asker::RepeatedAct(client);
            let question = Question::Receipt { author, lane, seq };
            return self.sessions.again(client).then_some((asker, question));
        }
        // An act that came from another server is handed on again: that server may have died before all
        // had it. Later acts of the lane would shut it out.
        let handed_on = matches!(source, Some(ActSource::Client(_)));
        let stage = match self.admit(ctx, submission, ActSource::Client(client)) {
            Ok(()) => {
                if !handed_on {
                    self.relay(ctx, &act);
                }
                ActStage::Admitted
            }
            // The act may be in a turn that is missing here.
            Err(SubmitRefusal::Replayed(used)) if ctx.lacks_turns => {
                let asker = Asker::UsedSeq(client, act, used);
                return Some((asker, Question::Receipt { author, lane, seq }));
            }
            Err(why) => {
                if why == SubmitRefusal::BadSignature {
                    self.sessions.forged(client);
                }
                self.refuse(client, act, why);
                ActStage::Refused(why)
            }
        };
        ctx.emit(Effect::Traced { act, stage });
        None
    }

    /// Takes an act that another server handed on. A refusal is normal: the act may have been decided
    /// meanwhile.
    pub(crate) fn submission_of_peer(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        submission: Submission,
    ) {
        let _refused = self.admit(ctx, submission, ActSource::Server);
    }

    /// Hands a client's act on to the other servers, now or after a turn.
    fn relay(&mut self, ctx: &mut ReplicaContext<'_>, act: &ActId) {
        let (now, takes) = (ctx.now.monotonic, time_of_one(ctx));
        let height = self.height_under_way();
        let may = || self.relayed.take(takes, RELAYED_AHEAD, now);
        if let Some(act) = self.ledger.mempool.hand_on(act, height, may) {
            emit_act(ctx, None, act);
        }
    }

    /// Hands on the acts that had to wait, and those that the others may have lost. Runs after the turn
    /// of this height.
    pub(crate) fn relay_overdue(&mut self, ctx: &mut ReplicaContext<'_>) {
        let (now, takes) = (ctx.now.monotonic, time_of_one(ctx));
        let height = ctx.execution.applied_height();
        let may = || self.relayed.take(takes, RELAYED_AHEAD, now);
        let overdue = self.ledger.mempool.overdue(height, may);
        overdue.into_iter().for_each(|act| emit_act(ctx, None, act));
    }

    /// Hands over the acts that a peer may have missed, because clients do not repeat them. A follower
    /// hands over those of its own clients only: the peer gets the others from the servers.
    pub(crate) fn hand_over(&mut self, ctx: &mut ReplicaContext<'_>, peer: PublicKey) {
        let own = ctx.own_key();
        let acts = self.ledger.mempool.hand_over(own, ctx.agreement.is_member(&own));
        let count = u32::try_from(acts.len()).unwrap_or(u32::MAX);
        let (now, takes) = (ctx.now.monotonic, time_of_one(ctx));
        self.relayed.spend(takes.saturating_mul(count), HANDED_OVER_AHEAD, now);
        acts.into_iter().for_each(|act| emit_act(ctx, Some(peer), act));
    }

    fn admit(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        submission: Submission,
        source: ActSource,
    ) -> Result<(), SubmitRefusal> {
        let act = submission.act.id();
        let is_new = self.ledger.mempool.source(&act).is_none();
        self.take_in(ctx.config, submission, source)?;
        // Whoever repeats an act that waits, or forges one, must not have the pieces of a package put together: those
        // are 256 KiB, and the act has some hundred bytes.
        let taken = self.ledger.mempool.submission(&act).filter(|_| is_new);
        if let Some(package) = taken.and_then(|taken| published(ctx, taken)) {
            ctx.emit(Effect::CompileAhead(package));
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        config: &Config,
        submission: Submission,
        source: ActSource,
    ) -> Result<(), SubmitRefusal> {
        let scheme: Arc<dyn Verify> = Arc::clone(&config.agreement.scheme);
        let Ledger { mempool, windows, register, controls, .. } = &mut self.ledger;
        let register: &Register = register;
        let none = NoReserves(register);
        let gate = Gate {
            sim: config.sim,
            height: windows.height().plus(1),
            windows,
            standings: if controls.opens_all_lanes { &none } else { register },
            scheme: &*scheme,
        };
        mempool.admit(submission, source, gate).map(|_| ())
    }

    /// Signs and submits an act of this server that is valid for so many heights. Returns false if the
    /// mempool has no room for it.
    pub(crate) fn own_act(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        act: Act,
        valid_for: u64,
    ) -> bool {
        let signer: &dyn Sign = &*ctx.config.agreement.signer;
        let envelope = Envelope {
            sim: ctx.config.sim,
            author: signer.public(),
            lane: self.own_lane,
            seq: self.own_seq,
            last_valid: ctx.execution.height().plus(valid_for),
            act,
        };
        self.own_seq = self.own_seq.plus(1);
        let submission = Submission { act: envelope.sign(signer), blobs: Vec::new() };
        let taken = self.take_in(ctx.config, submission.clone(), ActSource::Server).is_ok();
        if taken {
            emit_act(ctx, None, submission);
        }
        taken
    }
}

/// Returns how long an act that is handed on takes at this server's rate.
fn time_of_one(ctx: &ReplicaContext<'_>) -> Duration {
    let per_second = match ctx.agreement.is_member(&ctx.own_key()) {
        true => RELAYED_PER_SECOND,
        false => FOLLOWER_RELAYED_PER_SECOND,
    };
    Duration::from_secs(1) / per_second
}

/// Returns the package that an act publishes, if its author may publish. Nothing is known of that while a turn is
/// applied.
fn published(ctx: &ReplicaContext<'_>, submission: &Submission) -> Option<Blob> {
    let Envelope { author, act, .. } = &submission.act.envelope;
    let world = ctx.execution.world()?;
    world.may(author, Right::Publish, &ActTarget::SIM).ok()?;
    match act {
        Act::Publish { .. } => submission.blobs.first().cloned(),
        Act::Assemble { pieces } => world.assembled(*author, pieces),
        _ => None,
    }
}

fn emit_act(ctx: &mut ReplicaContext<'_>, to: Option<PublicKey>, act: Submission) {
    ctx.emit_to_peers(to, &PeerMessage::Submission(Box::new(act)));
}
