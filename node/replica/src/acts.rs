//! Ingress of acts: those of clients, of other servers, and this server's own.

use std::sync::Arc;

use metatopia_protocol::{
    Answer, Question, ReceiptAnswer, ServerMessage, Submission, SubmitRefusal,
};
use metatopia_sim::{Register, Standing, Standings as _, limits::PROOF_HEIGHTS};
use metatopia_types::{
    Act, ActId, Envelope, Evidence, Height, Now, PublicKey, Sign, Verify, limits,
};

use crate::{
    ActStage, Asker, ClientId, Delivery, Effect, PeerMessage, Replica,
    controls::NoReserves,
    ledger::Ledger,
    mempool::{FOLLOWER_RELAYED_PER_SECOND, Gate, Origin, RELAYED_AHEAD, RELAYED_PER_SECOND},
};

/// Heights after which a standby states again that it is ready. Its proof counts for
/// [`PROOFS_KEPT`](metatopia_sim::limits::PROOFS_KEPT) times [`PROOF_HEIGHTS`].
const READY_HEIGHTS: u64 = 2 * PROOF_HEIGHTS;

impl Replica {
    /// Reports a session that opened with a key that the sim knows.
    pub(crate) fn recognize(&mut self, client: ClientId) {
        let key = self.sessions.key(client);
        if key.is_some_and(|key| self.author_class(&key) != Standing::Stranger) {
            self.effects.push_back(Effect::KnownClient { client, known: true });
        }
    }

    /// Reports a client that hands in the first login of another key. From then on it counts as a
    /// stranger itself.
    fn note_stranger(&mut self, client: ClientId, envelope: &Envelope) {
        let Envelope { author, act, .. } = envelope;
        if matches!(act, Act::Login { .. })
            && self.sessions.key(client) != Some(*author)
            && self.author_class(author) == Standing::Stranger
        {
            self.effects.push_back(Effect::KnownClient { client, known: false });
        }
    }

    /// Takes an act of a client into the mempool, and hands it on to the other servers.
    pub(crate) fn submit(&mut self, now: Now, client: ClientId, submission: Submission) {
        let act = submission.act.id();
        let envelope = &submission.act.envelope;
        let (author, lane, seq) = (envelope.author, envelope.lane, envelope.seq);
        self.note_stranger(client, envelope);
        // A repeated act that was decided meanwhile gets its receipt again.
        let decided = self.archive.place(author, lane, seq).filter(|place| place.act == act);
        // A repeated act costs no check of a signature. While the world stands still, clients repeat
        // their acts, and that must not use up the ration for new ones.
        if decided.is_some() || self.ledger.mempool.origin(&act).is_some() {
            self.sessions.spare(client);
        }
        if decided.is_some() {
            if self.sessions.again(client) {
                self.ask(Asker::RepeatedAct(client), Question::Receipt { author, lane, seq });
            }
            return;
        }
        // An act that came from another server is handed on again: that server may have died before all
        // had it. Later acts of the lane would shut it out.
        let handed_on = matches!(self.ledger.mempool.origin(&act), Some(Origin::Client(_)));
        let stage = match self.admit(submission, Origin::Client(client)) {
            Ok(()) => {
                if !handed_on {
                    self.relay(now, &act);
                }
                ActStage::Admitted
            }
            // The act may be in a turn that is missing here.
            Err(SubmitRefusal::Replayed(used)) if self.lacks_recent_turns() => {
                let asker = Asker::UsedSeq(client, act, used);
                return self.ask(asker, Question::Receipt { author, lane, seq });
            }
            Err(why) => {
                if why == SubmitRefusal::BadSignature {
                    self.sessions.forged(client);
                }
                let message = ServerMessage::Refused { act, why };
                self.sessions.send(client, Delivery::Reliable, &message);
                ActStage::Refused(why)
            }
        };
        self.effects.push_back(Effect::Traced { act, stage });
    }

    /// Hands a client's act on to the other servers, now or after a turn.
    fn relay(&mut self, now: Now, act: &ActId) {
        let per_second = self.relayed_per_second();
        let Ledger { mempool, windows, .. } = &mut self.ledger;
        let height = windows.height().plus(1);
        let admitted = mempool
            .hand_on(act, height, || self.relayed.take(now.monotonic, per_second, RELAYED_AHEAD));
        self.effects.extend(admitted.map(|act| to_peers(None, act)));
    }

    /// Hands on the acts that had to wait, and those that the others may have lost. Runs after a turn.
    pub(crate) fn relay_overdue(&mut self, now: Now, height: Height) {
        let per_second = self.relayed_per_second();
        let may = || self.relayed.take(now.monotonic, per_second, RELAYED_AHEAD);
        let overdue = self.ledger.mempool.overdue(height, may);
        self.effects.extend(overdue.into_iter().map(|act| to_peers(None, act)));
    }

    /// Hands over the acts that a peer may have missed, because clients do not repeat them. A follower
    /// hands over those of its own clients only: the peer gets the others from the servers.
    pub(crate) fn hand_over(&mut self, now: Now, peer: PublicKey) {
        let per_second = self.relayed_per_second();
        let own = self.config.agreement.signer.public();
        let acts = self.ledger.mempool.hand_over(own, self.agreement.is_member(&own));
        self.relayed.spend(
            now.monotonic,
            per_second,
            u32::try_from(acts.len()).unwrap_or(u32::MAX),
        );
        self.effects.extend(acts.into_iter().map(|act| to_peers(Some(peer), act)));
    }

    fn relayed_per_second(&self) -> u32 {
        let own = self.config.agreement.signer.public();
        match self.agreement.is_member(&own) {
            true => RELAYED_PER_SECOND,
            false => FOLLOWER_RELAYED_PER_SECOND,
        }
    }

    /// Sends a receipt again, with the outcome if it is known, or once it is.
    pub(crate) fn receipt_again(&mut self, client: ClientId, answer: Answer) {
        // With too much to do there is no answer; the client sends the act again anyway.
        let Answer::Receipt(found) = answer else {
            return;
        };
        let ReceiptAnswer { act, receipt, outcome } = *found;
        let (act, height) = (act.id(), receipt.header.height);
        let message = ServerMessage::Receipt { act, receipt: Box::new(receipt) };
        self.sessions.send(client, Delivery::Reliable, &message);
        if let Some(outcome) = outcome {
            let message = ServerMessage::Outcome { act, height, outcome };
            self.sessions.send(client, Delivery::Reliable, &message);
        } else if height > self.applied_height() {
            self.awaiting_outcome.insert(act, client);
        }
    }

    /// Sends the receipt of an act with a used sequence number, if that act used it, or refuses it.
    pub(crate) fn receipt_or_refusal(
        &mut self,
        client: ClientId,
        act: ActId,
        used: u64,
        answer: Answer,
    ) {
        match answer {
            Answer::Receipt(found) if found.act.id() == act => {
                self.receipt_again(client, Answer::Receipt(found));
            }
            // With too much to do there is no answer, as in the other case.
            Answer::Busy => {}
            _ => {
                let why = SubmitRefusal::Replayed(used);
                let message = ServerMessage::Refused { act, why };
                self.sessions.send(client, Delivery::Reliable, &message);
                self.effects.push_back(Effect::Traced { act, stage: ActStage::Refused(why) });
            }
        }
    }

    pub(crate) fn admit(
        &mut self,
        submission: Submission,
        origin: Origin,
    ) -> Result<(), SubmitRefusal> {
        let scheme: Arc<dyn Verify> = Arc::clone(&self.config.agreement.scheme);
        let Ledger { mempool, windows, register, controls, .. } = &mut self.ledger;
        let register: &Register = register;
        let none = NoReserves(register);
        let gate = Gate {
            sim: self.config.sim,
            height: windows.height().plus(1),
            windows,
            standings: if controls.opens_all_lanes { &none } else { register },
            scheme: &*scheme,
        };
        mempool.admit(submission, origin, gate).map(|_| ())
    }

    /// Returns the class of an author at the height under way.
    fn author_class(&self, key: &PublicKey) -> Standing {
        let Ledger { register, windows, .. } = &self.ledger;
        register.standing(key, windows.height().plus(1))
    }

    /// Submits evidence as an act of this server.
    pub(crate) fn report(&mut self, evidence: Evidence) {
        let (accused, _) = evidence.accused();
        if self.own_act(Act::Report(evidence), limits::EXPIRY_HEIGHTS_MAX / 2) {
            self.effects.push_back(Effect::Exposed(accused));
        }
    }

    /// Proves that a standby follows, by its state. A standby that is far behind fails, because its act
    /// has expired, and repeats it later.
    pub(crate) fn get_ready(&mut self) {
        let own = self.config.agreement.signer.public();
        // A server that cannot write its log is not ready to vote.
        let Some(world) = self.world.as_deref().filter(|_| !self.muted) else {
            return;
        };
        let height = world.height();
        if height < self.ready_from || !world.roster().calls(&own) {
            return;
        }
        if let Some(proof) = world.readiness(&own) {
            self.ready_from = height.plus(READY_HEIGHTS);
            self.own_act(Act::Ready { height, proof }, READY_HEIGHTS);
        }
    }

    /// Signs and submits an act of this server that is valid for so many heights. Returns false if the
    /// mempool has no room for it.
    fn own_act(&mut self, act: Act, valid_for: u64) -> bool {
        let signer: &dyn Sign = &*self.config.agreement.signer;
        let envelope = Envelope {
            sim: self.config.sim,
            author: signer.public(),
            lane: self.own_lane,
            seq: self.own_seq,
            last_valid: self.height.plus(valid_for),
            act,
        };
        self.own_seq = self.own_seq.plus(1);
        let submission = Submission { act: envelope.sign(signer), blobs: Vec::new() };
        let taken = self.admit(submission.clone(), Origin::Server).is_ok();
        if taken {
            self.effects.push_back(to_peers(None, submission));
        }
        taken
    }
}

fn to_peers(to: Option<PublicKey>, act: Submission) -> Effect {
    Effect::ToPeer { to, frame: PeerMessage::Submission(Box::new(act)).encode() }
}
