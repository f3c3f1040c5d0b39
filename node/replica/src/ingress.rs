//! Ingress: what clients and peers hand in. It checks acts, cheap checks first, keeps them until a turn
//! takes them, and hands them on to the other servers.

mod courier;
pub(crate) mod dispatches;
mod ledger;
pub mod mempool;
pub(crate) mod rate_limits;
pub(crate) mod sessions;
mod submission;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::{Decision, Host};
use metatopia_protocol::{
    Answer, Goodbye, LoginTerms, Question, ServerMessage, SubmitRefusal, Watching,
};
use metatopia_sim::{Anchor, FirstLogin, Register, Standing, Standings as _, World};
use metatopia_types::{
    Act, ActId, Evidence, HearRefusal, Height, Lane, PublicKey, Seq, SignedEnvelope, SimId,
    SteadyRate, Turn, limits,
};

use self::{
    courier::Courier,
    ledger::Ledger,
    mempool::ActSource,
    sessions::{Demand, Sessions},
};
#[cfg(feature = "controls")]
use crate::Controls;
use crate::{
    ActStage, Asker, BorderWatch, ClientId, Config, Delivery, Effect, context::ReplicaContext,
};

/// A request of an open session that ingress does not answer itself.
#[derive(Debug)]
pub(crate) enum SessionRequest {
    /// A question to answer.
    Ask(Asker, Question),
    /// The session with this key wants views in this way, or no more.
    Watch(PublicKey, Option<Box<Watching>>),
    /// The view of this number was taken in.
    Seen(u32),
}

/// An act of a decided turn whose client waits for the receipt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiptDue {
    /// The place among the acts of the turn.
    pub(crate) index: usize,
    pub(crate) act: ActId,
    pub(crate) client: ClientId,
}

/// The sessions of one server, and the acts that wait there for a turn.
#[derive(Debug)]
pub(crate) struct Ingress {
    ledger: Ledger,
    sessions: Sessions,
    /// The rate of acts that are handed on to peers. It is of the clock and not of turns: these take long
    /// when there is most to do, and who catches up applies hundreds of them in a second.
    relayed: SteadyRate<Duration>,
    /// The lane of this server's own acts, and its next sequence number.
    own_lane: Lane,
    own_seq: Seq,
    /// The borders of the last applied turn, as couriers were told of them.
    borders: Vec<BorderWatch>,
    /// What couriers brought while a turn was being applied: the newest of each border.
    unchecked: BTreeMap<SimId, Vec<u8>>,
    /// Why what a neighbour said last was not heard, where it was not.
    unheard: BTreeMap<SimId, HearRefusal>,
    /// The keys that handed in a dispatch since the last applied turn.
    handed_in: BTreeSet<PublicKey>,
}

impl Ingress {
    /// Begins with the state of a world, without sessions and acts.
    pub(crate) fn new(config: &Config, world: &World) -> Self {
        let server = config.agreement.signer.public();
        let scheme = config.agreement.scheme.clone();
        let lane = |name| Lane(metatopia_math::Stream::new(&config.seed, name, &[]).next_u64());
        let signer = Arc::clone(&config.agreement.signer);
        let courier = Courier::new(config.sim, signer, lane("courier lane"));
        let (windows, register) = (world.windows().clone(), Register::of(world));
        Self {
            ledger: Ledger::new(server, scheme, windows, register, courier),
            sessions: Sessions::new(config.sim, server, config.turns_per_second, &config.seed),
            relayed: SteadyRate::default(),
            own_lane: lane("own lane"),
            own_seq: Seq(1),
            borders: Vec::new(),
            unchecked: BTreeMap::new(),
            unheard: BTreeMap::new(),
            handed_in: BTreeSet::new(),
        }
    }

    /// Breaks the rules of acts from now on.
    #[cfg(feature = "controls")]
    pub(crate) const fn break_rules(&mut self, controls: Controls) {
        self.ledger.break_rules(controls);
    }

    /// Returns the host of agreement, which judges turns and fills the next one.
    pub(crate) fn host(&mut self) -> &mut dyn Host {
        &mut self.ledger
    }

    /// Opens a session for a client that connected. A server without a state serves nobody.
    pub(crate) fn client_up(&mut self, ctx: &mut ReplicaContext<'_>, client: ClientId) {
        if ctx.has_state {
            self.sessions.connected(client);
        } else {
            self.sessions.end(client, Goodbye::Stopping);
        }
        ctx.mail(self.sessions.drain());
    }

    /// Forgets a client that disconnected.
    pub(crate) fn client_down(&mut self, client: ClientId) {
        self.sessions.disconnected(client);
    }

    /// Takes a frame of a client.
    pub(crate) fn client_frame(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        frame: &[u8],
    ) -> Option<SessionRequest> {
        let scheme = &*ctx.config.agreement.scheme;
        let opens = self.sessions.key(client).is_none();
        let request = match self.sessions.frame(client, frame, ctx.execution.height(), scheme) {
            None => {
                if opens {
                    self.recognize(ctx, client);
                }
                None
            }
            Some(Demand::Submit(submission)) => {
                let question = self.submit(ctx, client, *submission);
                question.map(|(asker, question)| SessionRequest::Ask(asker, question))
            }
            Some(Demand::Ask { id, question }) => {
                Some(SessionRequest::Ask(Asker::Client(client, id), question))
            }
            Some(Demand::View(watching)) => {
                self.sessions.key(client).map(|key| SessionRequest::Watch(key, watching))
            }
            Some(Demand::Seen(number)) => Some(SessionRequest::Seen(number)),
        };
        ctx.mail(self.sessions.drain());
        request
    }

    /// Answers a client's question, at the expense of its key.
    pub(crate) fn answer(
        &mut self,
        ctx: &mut ReplicaContext<'_>,
        client: ClientId,
        id: u32,
        answer: Answer,
    ) {
        self.sessions.answer(client, id, answer);
        ctx.mail(self.sessions.drain());
    }

    /// Ends the session of a client that broke a rule.
    pub(crate) fn end(&mut self, ctx: &mut ReplicaContext<'_>, client: ClientId) {
        self.sessions.end(client, Goodbye::BadFrame);
        ctx.mail(self.sessions.drain());
    }

    /// Ends a session because of an order of a moderator.
    pub(crate) fn dismiss(&mut self, ctx: &mut ReplicaContext<'_>, client: ClientId, why: Goodbye) {
        self.sessions.end(client, why);
        ctx.mail(self.sessions.drain());
    }

    /// Ends all sessions.
    pub(crate) fn end_all(&mut self, ctx: &mut ReplicaContext<'_>) {
        self.sessions.end_all();
        ctx.mail(self.sessions.drain());
    }

    /// Returns the key of an open session.
    pub(crate) fn session_key(&self, client: ClientId) -> Option<PublicKey> {
        self.sessions.key(client)
    }

    /// Returns whether the key of this client had as many answers as it may have for now.
    pub(crate) fn is_sated(&self, client: ClientId) -> bool {
        self.sessions.is_sated(client)
    }

    /// Returns every open session with its key.
    pub(crate) fn open_sessions(&self) -> Vec<(ClientId, PublicKey)> {
        self.sessions.open().collect()
    }

    /// Returns the number of open sessions.
    pub(crate) fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the acts that wait for a turn.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &SignedEnvelope> {
        self.ledger.mempool.acts()
    }

    /// Returns how many acts wait for a turn.
    pub(crate) fn pending_count(&self) -> usize {
        self.ledger.mempool.len()
    }

    /// Returns the bytes of the acts that wait for a turn.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.ledger.mempool.bytes()
    }

    /// Returns the acts of a decided turn whose clients wait here for a receipt, in their order.
    pub(crate) fn receipts_due(&mut self, decision: &Decision) -> Vec<ReceiptDue> {
        let acts = decision.turn.body.acts().iter().enumerate();
        let due = acts.filter_map(|(index, act)| {
            let act = act.id();
            let client = self.ledger.unreceipted.remove(&act)?;
            Some(ReceiptDue { index, act, client })
        });
        due.collect()
    }

    /// Takes what an applied turn made of authors and acts, and grants new rations.
    pub(crate) fn turn_applied(&mut self, ctx: &mut ReplicaContext<'_>, turn: &Turn) {
        self.refuse_stale_acts(ctx);
        let world = ctx.execution.world();
        let world = world.expect("ingress hears of a turn with the world that it was applied to");
        self.ledger.register.renew(turn, world);
        self.sessions.turn();
        self.watch_borders(ctx, world);
        self.check_dispatches(ctx);
    }

    /// Refuses the acts that no turn can take any more.
    fn refuse_stale_acts(&mut self, ctx: &mut ReplicaContext<'_>) {
        let Ledger { mempool, windows, register, .. } = &mut self.ledger;
        for gone in mempool.drop_stale(windows, register) {
            if let ActSource::Client(client) = gone.source {
                let (act, why) = (gone.act, gone.why);
                ctx.send(client, &ServerMessage::Refused { act, why });
                ctx.emit(Effect::Traced { act, stage: ActStage::Refused(why) });
            }
        }
    }

    /// Takes what a repaired state says about authors and lanes.
    pub(crate) fn state_repaired(&mut self, ctx: &ReplicaContext<'_>) {
        let world = ctx.execution.world();
        let world = world.expect("a repair ends with the world that the last turn was applied to");
        self.ledger.register = Register::of(world);
        if world.height() == ctx.execution.height() {
            self.ledger.windows = world.windows().clone();
        }
    }

    /// Submits evidence as an act of this server.
    pub(crate) fn report(&mut self, ctx: &mut ReplicaContext<'_>, evidence: Evidence) {
        let (accused, _) = evidence.accused();
        if self.own_act(ctx, Act::Report(evidence), limits::EXPIRY_HEIGHTS_MAX / 2) {
            ctx.emit(Effect::Exposed(accused));
        }
    }

    /// Returns what a login of this key needs at the height under way.
    pub(crate) fn login_terms(&self, key: &PublicKey) -> LoginTerms {
        let register = &self.ledger.register;
        let height = self.height_under_way();
        match register.first_login(height) {
            _ if register.standing(key, height) > Standing::Stranger => LoginTerms::Free,
            FirstLogin::Open => LoginTerms::Free,
            _ if register.speaks_for_land(key, height) => LoginTerms::Free,
            FirstLogin::Closed => LoginTerms::Closed,
            FirstLogin::Invite => LoginTerms::Ticket,
            FirstLogin::Work => {
                let anchor = register.first_logins().newest_anchor(height);
                let Anchor { height, header, tries } = *anchor;
                LoginTerms::Work { height, header, tries }
            }
        }
    }

    fn height_under_way(&self) -> Height {
        self.ledger.windows.height().plus(1)
    }

    /// Returns the class of an author at the height under way.
    fn author_class(&self, key: &PublicKey) -> Standing {
        self.ledger.register.standing(key, self.height_under_way())
    }

    fn refuse(&mut self, client: ClientId, act: ActId, why: SubmitRefusal) {
        self.sessions.send(client, Delivery::Reliable, &ServerMessage::Refused { act, why });
    }
}
