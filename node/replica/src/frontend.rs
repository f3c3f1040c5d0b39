//! The front end of a replica: the machines that face clients and peers, composed.
//!
//! They read agreement and the execution of turns, and change neither. One hands a question or a fault
//! to another only through this file.

use std::time::Duration;

use metatopia_consensus::{Decision, Host, Message};
use metatopia_protocol::{Answer, LoginTerms, Question};
use metatopia_sim::{Applied, World};
use metatopia_types::{Evidence, Height, NodeContact, PublicKey, SignedEnvelope, SimId};

#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    Asker, ClientId, Config, Effect, Followers, OwnEndpoint, PeerMessage, WaitingCounts,
    context::ReplicaContext,
    ingress::{Ingress, SessionRequest},
    members::{ConnectedPeers, Membership, READY_HEIGHTS},
    publish::{Publisher, answer_peer, sent_away},
};

/// A message of a peer that agreement or synchronization takes.
#[derive(Debug)]
pub(crate) enum LockstepMessage {
    /// A message of the agreement machine.
    Agreement(Message),
    /// The answer to the question of this number.
    Answer(u32, Answer),
}

/// The machines that face clients and peers.
#[derive(Debug)]
pub(crate) struct Frontend {
    /// What clients and peers hand in.
    ingress: Ingress,
    /// What clients and peers are told.
    publisher: Publisher,
    /// Who is there.
    members: Membership,
}

impl Frontend {
    /// Begins with a state, and without clients and peers.
    pub(crate) fn new(config: &Config, world: &World) -> Self {
        Self {
            ingress: Ingress::new(config, world),
            publisher: Publisher::new(config, world),
            members: Membership::new(config),
        }
    }

    /// Breaks the rules of acts from now on.
    #[cfg(feature = "controls")]
    pub(crate) const fn break_rules(&mut self, controls: Controls) {
        self.ingress.break_rules(controls);
    }

    /// Lends the host of agreement, and the connected peers.
    pub(crate) fn lend(&mut self) -> (&mut dyn Host, ConnectedPeers<'_>) {
        (self.ingress.host(), self.members.connected())
    }

    /// Returns the connected peers.
    pub(crate) const fn connected(&self) -> ConnectedPeers<'_> {
        self.members.connected()
    }

    /// Returns the acts that wait for a turn.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.ingress.pending()
    }

    /// Returns how many acts wait for a turn.
    pub(crate) fn pending_count(&self) -> usize {
        self.ingress.pending_count()
    }

    /// Returns how much waits here.
    pub(crate) fn waiting(&self) -> WaitingCounts {
        WaitingCounts {
            act_bytes: self.ingress.pending_bytes(),
            questions: self.publisher.question_count(),
            sessions: self.ingress.session_count(),
        }
    }

    /// Returns when to continue, in monotonic time.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.publisher.deadline()
    }

    /// Publishes the servers to keep connections with, if they changed.
    pub(crate) fn update_contacts(&mut self, ctx: &mut ReplicaContext<'_>) {
        self.members.update_contacts(ctx);
    }

    /// Lets followers in from now on.
    pub(crate) fn welcome(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        contact: NodeContact,
        followers: Followers,
    ) {
        self.members.welcome(ctx, contact, followers);
    }

    /// Announces where clients of this server connect. Without `endpoint` it repeats the last one.
    pub(crate) fn announce(&mut self, ctx: &mut ReplicaContext<'_>, endpoint: Option<OwnEndpoint>) {
        self.members.announce(ctx, endpoint);
    }

    /// Notes that a peer connected.
    pub(crate) fn peer_up(&mut self, peer: PublicKey) {
        self.members.peer_up(peer);
    }

    /// Sends a peer that connected what it may have missed: acts, and the endpoints of servers.
    pub(crate) fn hand_over(&mut self, ctx: &mut ReplicaContext<'_>, peer: PublicKey) {
        self.ingress.hand_over(ctx, peer);
        self.members.send_endpoints(ctx, peer);
    }

    /// Notes that a peer disconnected.
    pub(crate) fn peer_down(&mut self, peer: &PublicKey) {
        self.members.peer_down(peer);
    }

    /// Takes a frame of a peer. Returns a message that is not for the front end.
    pub(crate) fn peer_frame(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        from: PublicKey,
        frame: &[u8],
    ) -> Option<LockstepMessage> {
        match self.members.read(ctx, from, frame)? {
            PeerMessage::Agreement(message) => return Some(LockstepMessage::Agreement(message)),
            PeerMessage::Answer { id, answer } => {
                return Some(LockstepMessage::Answer(id, *answer));
            }
            PeerMessage::Submission(act) => self.ingress.submission_of_peer(ctx, *act),
            PeerMessage::Endpoint(signed) => {
                self.members.receive_announcement(ctx, from, *signed);
            }
            PeerMessage::Ask { id, question } => self.ask(ctx, Asker::Peer(from, id), *question),
        }
        None
    }

    /// Opens a session for a client that connected.
    pub(crate) fn client_up(&mut self, ctx: &mut ReplicaContext<'_>, client: ClientId) {
        self.ingress.client_up(ctx, client);
    }

    /// Forgets a client that disconnected.
    pub(crate) fn client_down(&mut self, client: ClientId) {
        self.ingress.client_down(client);
        self.publisher.forget(client);
    }

    /// Takes a frame of a client.
    pub(crate) fn client_frame(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        frame: &[u8],
    ) {
        let fault = match self.ingress.client_frame(ctx, client, frame) {
            None => None,
            Some(SessionRequest::Ask(asker, question)) => return self.ask(ctx, asker, question),
            Some(SessionRequest::Watch(key, watching)) => {
                self.publisher.watch(client, key, watching.as_deref()).err()
            }
            Some(SessionRequest::Seen(number)) => self.publisher.seen(client, number).err(),
        };
        if fault.is_some() {
            self.ingress.end(ctx, client);
        }
    }

    /// Ends all sessions.
    pub(crate) fn end_all(&mut self, ctx: &mut ReplicaContext<'_>) {
        self.ingress.end_all(ctx);
    }

    /// Forgets the views of clients whose connections were closed.
    pub(crate) fn closed(&mut self, clients: Vec<ClientId>) {
        clients.into_iter().for_each(|client| self.publisher.forget(client));
    }

    /// Sends receipts of the acts of a decided turn.
    pub(crate) fn turn_decided(&mut self, ctx: &mut ReplicaContext<'_>, decision: &Decision) {
        let due = self.ingress.receipts_due(decision);
        self.publisher.turn_decided(ctx, decision, &due);
    }

    /// Tells everybody what an applied turn did.
    ///
    /// Messages to clients become mail. That is published at the end of the input, so nothing here
    /// leaves before the log is durable, although nothing here waits for it.
    pub(crate) fn turn_applied(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        result: &Applied,
    ) {
        // Clients get new rations before the views, which they answer.
        self.ingress.turn_applied(ctx, &decision.turn);
        let sessions = self.ingress.open_sessions();
        self.publisher.turn_applied(ctx, decision, result, &sessions);
        self.end_sent_away(ctx, decision, result, &sessions);
        self.members.update_contacts(ctx);
        if let Some(ready) = self.members.readiness(ctx) {
            self.ingress.own_act(ctx, ready, READY_HEIGHTS);
        }
    }

    /// Ends the sessions of those whom an order of the turn shut out or sent away.
    fn end_sent_away(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        decision: &Decision,
        result: &Applied,
        sessions: &[(ClientId, PublicKey)],
    ) {
        let world = ctx.execution.world();
        let world = world.expect("a turn is published with the world that it was applied to");
        let acts = decision.turn.body.acts();
        for (client, why) in sent_away(world, acts, &result.outcomes, sessions) {
            self.ingress.dismiss(ctx, client, why);
            self.publisher.forget(client);
        }
    }

    /// Hands on the acts that had to wait, and those that the others may have lost.
    pub(crate) fn relay_overdue(&mut self, ctx: &mut ReplicaContext<'_>) {
        self.ingress.relay_overdue(ctx);
    }

    /// Begins anew with a repaired state.
    pub(crate) fn state_repaired(&mut self, ctx: &ReplicaContext<'_>) {
        self.publisher.state_repaired(ctx);
        self.ingress.state_repaired(ctx);
    }

    /// Submits evidence as an act of this server.
    pub(crate) fn report(&mut self, ctx: &mut ReplicaContext<'_>, evidence: Evidence) {
        self.ingress.report(ctx, evidence);
    }

    /// Queues a question.
    pub(crate) fn ask(&mut self, ctx: &mut ReplicaContext<'_>, asker: Asker, question: Question) {
        if !self.publisher.ask(asker, question) {
            self.reply(ctx, asker, Answer::Busy);
        }
    }

    /// Answers all questions that can be answered now.
    pub(crate) fn answer_questions(&mut self, ctx: &mut ReplicaContext<'_>) {
        for asker in self.publisher.look_at_held(ctx) {
            self.reply(ctx, asker, Answer::Unknown);
        }
        while ctx.execution.world().is_some()
            && let Some((asker, question)) = self.publisher.next_question(ctx)
        {
            if let Some(answer) = self.answer(ctx, asker, question) {
                self.reply(ctx, asker, answer);
            }
        }
        for (asker, answer) in self.publisher.look_at_standing(ctx) {
            self.reply(ctx, asker, answer);
        }
    }

    /// Takes what a courier heard of a neighbour.
    pub(crate) fn dispatch(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        neighbour: SimId,
        dispatch: Vec<u8>,
    ) {
        self.ingress.dispatch(ctx, neighbour, dispatch);
    }

    /// Notes where the nodes of a neighbour are, as a courier found them.
    pub(crate) fn note_neighbour_nodes(&mut self, neighbour: SimId, nodes: Vec<String>) {
        self.publisher.note_neighbour_nodes(neighbour, nodes);
    }

    /// Answers a question with the turns that came from the log.
    pub(crate) fn loaded(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        load: u64,
        decisions: &[Decision],
        bounds: (Height, Option<Height>),
    ) {
        if let Some((asker, answer)) = self.publisher.loaded(ctx, load, decisions, bounds) {
            self.reply(ctx, asker, answer);
        }
    }

    /// Returns the answer to a question, or has the turns that it needs read from the log.
    fn answer(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        asker: Asker,
        question: Question,
    ) -> Option<Answer> {
        let (is_sated, key) = match asker {
            Asker::Client(client, _) => {
                (self.ingress.is_sated(client), self.ingress.session_key(client))
            }
            _ => (false, None),
        };
        match &question {
            // The client may have had many answers since it asked.
            _ if is_sated => Some(Answer::Busy),
            Question::Join(request) => Some(self.members.join(ctx, key, request)),
            Question::Applicants => Some(self.members.applicants()),
            Question::Servers => Some(self.members.servers()),
            Question::HandIn(handed) => Some(self.ingress.hand_in(ctx, key, handed)),
            Question::LoginTerms { key } => {
                let rotated = ctx.execution.world().and_then(|world| world.rotated(key));
                let terms = rotated.map(|rotated| LoginTerms::Rotated { to: rotated.to });
                let terms = terms.unwrap_or_else(|| self.ingress.login_terms(key));
                Some(Answer::LoginTerms(terms))
            }
            _ => {
                let mut answer = self.publisher.answer(ctx, asker, question);
                if let Some(Answer::Borders(borders)) = &mut answer {
                    self.ingress.name_unheard(borders);
                }
                answer
            }
        }
    }

    /// Sends an answer to the asker of a question.
    fn reply(&mut self, ctx: &mut ReplicaContext<'_>, asker: Asker, answer: Answer) {
        match asker {
            Asker::Client(client, id) => self.ingress.answer(ctx, client, id, answer),
            Asker::RepeatedAct(client) => self.publisher.receipt_again(ctx, client, answer),
            Asker::UsedSeq(client, act, seq) => {
                self.publisher.receipt_or_refusal(ctx, client, (act, seq), answer);
            }
            Asker::Driver(token) => ctx.publish(Effect::Answer { token, answer }),
            Asker::Peer(peer, id) => answer_peer(ctx, peer, id, answer),
        }
    }
}
