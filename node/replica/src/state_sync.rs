//! State sync: a server that cannot go on from its own state fetches a certified state of its peers.
//!
//! There are three reasons. The server was started without a state ([`Replica::stateless`]). Or it is
//! so far behind that replaying the turns that it missed takes longer than fetching a state. Or its
//! own state is wrong, and none of its stored states leads to the right one. In each case it drives
//! a [`Fetch`] over the connections with its peers. It trusts the validators of the state that it
//! began with, so a peer can waste its time, and no more. Meanwhile it follows as well as it can.
//!
//! Once a fetched state is there and is newer than its own, this replica ends. [`Effect::Replace`]
//! has the driver store that state and open another replica on it, with the records of the log after
//! it. That is a restart in place, with the same safety: the signatures of this server stay in its
//! log, and a server that may not sign because records are lost may not sign afterwards either.

use std::time::Duration;

use metatopia_consensus::{Base, Link, Record, Trust, limits::LINKS_MAX};
use metatopia_protocol::{Answer, Goodbye};
use metatopia_sim::World;
use metatopia_types::{Height, Now, PublicKey, limits::ROOT_LAG};

use crate::{
    ClientId, Effect, Input, PeerMessage, Replica, STALL,
    backfill::FILLING,
    fetch::{Fetch, FetchEffect, Fetched, Progress, ProviderFault},
};

/// Turns behind the others from which on a state is fetched: 75 seconds of 20 turns a second.
///
/// Replaying a turn takes 1.4 ms, fetching and opening a state 0.2 s, and it is up to
/// [`SNAPSHOT_TURNS`](crate::SNAPSHOT_TURNS) old: from a thousand turns on that is quicker. But who
/// fetches has a gap in its log, and does not know where the acts in it are; so whoever missed no more
/// than [`RECALL_HEIGHTS`](crate::RECALL_HEIGHTS), which clients may still ask about, replays them.
pub const BEHIND_TURNS: u64 = 1_500;

const _: () =
    assert!(BEHIND_TURNS > crate::RECALL_HEIGHTS, "clients get the receipts of their acts");

/// Pause between a fetch that failed and the next one.
pub const FETCH_PAUSE: Duration = Duration::from_secs(5);

/// A server that is behind asks for no turns during a fetch, for at most this long.
const TURN_QUESTIONS_HELD: Duration = Duration::from_secs(10);

/// Pause between two checks of how far the others are.
const CHECK_PAUSE: Duration = Duration::from_millis(20);

/// The bit that only the numbers of our own questions have. Unless a question is about [turns that are
/// missing](FILLING), the next bits hold the number of the fetch, so that a late answer is not taken
/// for an answer to the next fetch.
pub(crate) const OWN: u32 = 1 << 31;
const FETCHES: u32 = 0x3f;
const TOKEN_BITS: u32 = 24;
const TOKENS: u32 = (1 << TOKEN_BITS) - 1;

/// The reason why a server fetches a state of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncReason {
    /// The server was started without a state.
    NoState,
    /// The others are far ahead.
    Behind,
    /// Its own state is wrong, and it cannot compute the right one.
    Wrong,
}

impl SyncReason {
    /// Returns the reason in words that follow "this server".
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::NoState => "has no state to begin with",
            Self::Behind => "is far behind the others",
            Self::Wrong => "cannot come to the right state by itself",
        }
    }
}

/// A fetch, as the status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetching {
    /// The reason of the fetch.
    pub reason: SyncReason,
    /// How far the fetch is; none while no peer can be asked.
    pub progress: Option<Progress>,
}

/// An event of a fetch, for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchEvent {
    /// A state is being fetched.
    Begun {
        /// The reason of the fetch.
        reason: SyncReason,
        /// The number of peers that are asked.
        peers: usize,
    },
    /// A peer is asked for nothing more.
    Dropped {
        /// The peer that is dropped.
        peer: PublicKey,
        /// The fault of the peer.
        why: ProviderFault,
    },
    /// The fetch failed; the next one begins after [`FETCH_PAUSE`].
    Failed(String),
    /// Turns up to this height are missing, and nobody is asked for them: see
    /// [`Unasked::Unprovable`](crate::Unasked::Unprovable).
    Unprovable(Height),
}

/// A fetched state that takes the place of a server's own.
#[derive(Debug)]
pub struct Replacement {
    /// The reason of the fetch.
    pub reason: SyncReason,
    /// The last height that was decided here.
    pub from: Height,
    /// The base from which agreement starts with this state.
    pub base: Base,
    /// The state that was fetched.
    pub world: World,
    /// A record to append before another replica is opened.
    pub note: Option<Vec<u8>>,
}

/// The state sync of one server. See the module.
#[derive(Debug)]
pub(crate) struct StateSync {
    /// Set on a server without a state: states below this height are of no use to it.
    pub(crate) stateless: Option<Height>,
    /// The validators that are trusted.
    trust: Trust,
    /// The changes of the validator set that led to them.
    links: Vec<Link>,
    fetch: Option<(SyncReason, Box<Fetch>)>,
    fetches: u32,
    ready: Option<(SyncReason, Box<Fetched>)>,
    /// No fetch begins before this time.
    not_before: Duration,
    /// When the fetch under way began.
    began: Duration,
    /// This replica has ended.
    ended: bool,
}

impl StateSync {
    pub(crate) fn new(base: &Base, stateless: Option<Height>) -> Self {
        Self {
            stateless,
            trust: Trust { height: base.height, validators: base.sets[0].clone() },
            links: base.links.clone(),
            fetch: None,
            fetches: 0,
            ready: None,
            not_before: Duration::ZERO,
            began: Duration::ZERO,
            ended: false,
        }
    }

    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    fn id(&self, token: u32) -> u32 {
        OWN | ((self.fetches & FETCHES) << TOKEN_BITS) | (token & TOKENS)
    }
}

impl Replica {
    /// Returns the fetch under way, or the one that is due.
    pub(crate) fn fetching(&self) -> Option<Fetching> {
        let state_sync = &self.state_sync;
        let ready = state_sync
            .ready
            .as_ref()
            .map(|(reason, _)| Fetching { reason: *reason, progress: None });
        let under_way = state_sync.fetch.as_ref().map(|(reason, fetch)| {
            let (reason, progress) = (*reason, Some(fetch.progress()));
            Fetching { reason, progress }
        });
        let waits = self.missing_state_reason().map(|reason| Fetching { reason, progress: None });
        under_way.or(ready).or(waits)
    }

    /// Is this server's own state to be replaced, or is it replaced already?
    pub(crate) const fn is_being_replaced(&self) -> bool {
        let StateSync { stateless, fetch, ready, ended, .. } = &self.state_sync;
        stateless.is_some() || fetch.is_some() || ready.is_some() || *ended
    }

    /// Was this replica started without a state?
    #[must_use]
    pub const fn has_no_state(&self) -> bool {
        self.state_sync.stateless.is_some()
    }

    /// Returns when the fetch has to be woken, in monotonic time.
    pub(crate) fn fetch_deadline(&self) -> Option<Duration> {
        match &self.state_sync.fetch {
            Some((_, fetch)) => fetch.deadline(),
            None if self.state_sync.ready.is_some() || self.peers.is_empty() || self.muted => None,
            None => self.missing_state_reason().map(|_| self.state_sync.not_before),
        }
    }

    /// Refuses clients and questions after the end of this replica. The next replica begins once its
    /// state is on the disk. A full disk may delay that, and nobody has to wait for it here.
    pub(crate) fn refuse_after_end(&mut self, input: Input) {
        match input {
            Input::ClientUp(client) => {
                let why = Goodbye::Stopping;
                self.effects.push_back(Effect::CloseClient { client, why });
            }
            Input::Ask { token, .. } => {
                self.effects.push_back(Effect::Answer { token, answer: Answer::Busy });
            }
            _ => {}
        }
    }

    /// Opens a session for a client that connected. A server without a state serves nobody.
    pub(crate) fn client_up(&mut self, client: ClientId) {
        if self.state_sync.stateless.is_some() {
            return self.sessions.end(client, Goodbye::Stopping);
        }
        self.sessions.connected(client);
    }

    pub(crate) fn fetch_provider_up(&mut self, now: Now, peer: PublicKey) {
        if self.is_follower(&peer) {
            return;
        }
        if let Some((_, fetch)) = &mut self.state_sync.fetch {
            fetch.up(now.monotonic, peer);
        }
    }

    pub(crate) fn fetch_provider_down(&mut self, now: Now, peer: PublicKey) {
        if let Some((_, fetch)) = &mut self.state_sync.fetch {
            fetch.down(now.monotonic, peer);
        }
    }

    /// Takes an answer of a peer, or gives it back if the question was not one of our own.
    pub(crate) fn answer_to_fetch(
        &mut self,
        now: Now,
        from: PublicKey,
        id: u32,
        answer: Box<Answer>,
    ) -> Option<Box<Answer>> {
        if id & OWN == 0 {
            return Some(answer);
        }
        if id & FILLING != 0 {
            self.turns_came(now, from, id & !(OWN | FILLING), *answer);
            return None;
        }
        let ours = self.state_sync.id(id) == id;
        if let Some((_, fetch)) = self.state_sync.fetch.as_mut().filter(|_| ours) {
            fetch.answer(now.monotonic, from, id & TOKENS, *answer);
        }
        None
    }

    /// Begins, continues or ends a fetch, if that is due. Runs after every input.
    pub(crate) fn advance_state_sync(&mut self, now: Now) {
        if self.muted && (self.state_sync.fetch.is_some() || self.state_sync.ready.is_some()) {
            // The disk has no room for a state. Until it has, this replica follows and answers with the
            // state that it has. Then a newer state is fetched.
            self.cancel_fetch(now);
        }
        if let Some(reason) = self.reason(now) {
            self.begin_fetch(now, reason);
        }
        if let Some((_, fetch)) = &mut self.state_sync.fetch
            && fetch.deadline().is_some_and(|at| at <= now.monotonic)
        {
            fetch.wake(now.monotonic);
        }
        if self.state_sync.fetch.is_some() && now.monotonic >= self.state_sync.not_before {
            self.state_sync.not_before = now.monotonic + CHECK_PAUSE;
            if self.is_needless(now) {
                self.cancel_fetch(now);
            } else {
                let late =
                    now.monotonic.saturating_sub(self.state_sync.began) > TURN_QUESTIONS_HELD;
                self.agreement.hold(!late);
            }
        }
        self.poll_fetch(now);
        self.replace_with_fetched(now);
    }

    fn missing_state_reason(&self) -> Option<SyncReason> {
        match self.state_sync.stateless {
            Some(_) => Some(SyncReason::NoState),
            None => self.repair.wants_state().map(|_| SyncReason::Wrong),
        }
    }

    /// Returns the reason to begin a fetch now, if there is one.
    fn reason(&mut self, now: Now) -> Option<SyncReason> {
        let state_sync = &mut self.state_sync;
        let busy = state_sync.fetch.is_some() || state_sync.ready.is_some() || state_sync.ended;
        let early = now.monotonic < state_sync.not_before;
        if busy || early || self.muted || self.world.is_none() || self.peers.is_empty() {
            return None;
        }
        state_sync.not_before = now.monotonic + CHECK_PAUSE;
        let far = self.config.behind_turns;
        self.missing_state_reason()
            .or_else(|| self.is_behind(now, far).then_some(SyncReason::Behind))
    }

    /// Is this server so many turns behind, and able to go on? One liar cannot make us believe that,
    /// unless nothing was decided here for a while: then asking for offers costs nothing.
    fn is_behind(&self, now: Now, turns: u64) -> bool {
        let stuck = now.monotonic.saturating_sub(self.decided_at) > STALL;
        let far = self.agreement.height().plus(turns);
        !self.halted && !self.repair.is_busy() && self.agreement.others_at(stuck) >= far
    }

    /// Has this server caught up while it fetched a state?
    fn is_needless(&self, now: Now) -> bool {
        let behind = matches!(self.state_sync.fetch, Some((SyncReason::Behind, _)));
        behind && !self.is_behind(now, self.config.behind_turns / 2)
    }

    fn begin_fetch(&mut self, now: Now, reason: SyncReason) {
        let (Some(world), agreement) = (self.world.as_deref(), &self.config.agreement) else {
            return;
        };
        let (trust, scheme) = (self.state_sync.trust.clone(), agreement.scheme.clone());
        let mut fetch = Fetch::new(self.config.sim, trust, None, scheme);
        for leaf in world.manifest().leaves {
            world.leaf(&leaf.key).into_iter().for_each(|content| fetch.have(content));
        }
        let peers: Vec<PublicKey> =
            self.peers.iter().filter(|peer| !self.is_follower(peer)).copied().collect();
        peers.iter().for_each(|peer| fetch.up(now.monotonic, *peer));
        self.state_sync.fetches = self.state_sync.fetches.wrapping_add(1);
        self.state_sync.fetch = Some((reason, Box::new(fetch)));
        self.state_sync.began = now.monotonic;
        self.agreement.hold(true);
        let news = FetchEvent::Begun { reason, peers: peers.len() };
        self.effects.push_back(Effect::Fetch(news));
    }

    /// Carries out the effects of the fetch.
    fn poll_fetch(&mut self, now: Now) {
        while let Some((reason, fetch)) = &mut self.state_sync.fetch {
            let reason = *reason;
            let Some(effect) = fetch.poll() else {
                if fetch.is_alone() {
                    self.fail_fetch(now, "no peer is left that gives a state".to_owned());
                }
                return;
            };
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    let (id, question) = (self.state_sync.id(token), Box::new(question));
                    let frame = PeerMessage::Ask { id, question }.encode();
                    self.effects.push_back(Effect::ToPeer { to: Some(to), frame });
                }
                // After a crash the fetch begins anew: it takes seconds.
                FetchEffect::Keep { .. } => {}
                FetchEffect::Dropped { provider, why } => {
                    let news = FetchEvent::Dropped { peer: provider, why };
                    self.effects.push_back(Effect::Fetch(news));
                }
                FetchEffect::Done(fetched) => {
                    self.state_sync.fetch = None;
                    self.state_sync.ready = Some((reason, fetched));
                }
                FetchEffect::Genesis => {
                    self.fail_fetch(now, "the peers have no state to give yet".to_owned());
                }
            }
        }
    }

    fn cancel_fetch(&mut self, now: Now) {
        (self.state_sync.fetch, self.state_sync.ready) = (None, None);
        self.state_sync.not_before = now.monotonic + FETCH_PAUSE;
        self.agreement.hold(false);
    }

    fn fail_fetch(&mut self, now: Now, why: String) {
        self.cancel_fetch(now);
        self.effects.push_back(Effect::Fetch(FetchEvent::Failed(why)));
    }

    /// Ends this replica if the fetched state is better than its own; the next replica begins with the
    /// fetched state. Waits until the turn under way is applied.
    fn replace_with_fetched(&mut self, now: Now) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        let Some((reason, fetched)) = self.state_sync.ready.take() else {
            return;
        };
        let height = fetched.checkpoint.height;
        let is_useful = match reason {
            SyncReason::NoState => self.state_sync.stateless.is_some_and(|least| height >= least),
            SyncReason::Behind => height > self.height,
            SyncReason::Wrong => self.repair.wants_state().is_some_and(|least| height >= least),
        };
        if !is_useful {
            return self
                .fail_fetch(now, format!("the newest state that is given is of height {height}"));
        }
        let (base, world) = match fetched.open(world.tools()) {
            Ok(opened) => opened,
            Err(error) => return self.fail_fetch(now, error.to_string()),
        };
        if reason == SyncReason::Wrong {
            self.count_repair(now);
        }
        let voice = self.agreement.has_voice();
        let note = (reason == SyncReason::Wrong).then(|| {
            let from = self.noted_wrongly_from(height);
            Record::Healed { from }.encode()
        });
        let base = Base { voice, links: self.links_to(&base), ..base };
        self.sessions.end_all();
        self.state_sync.ended = true;
        let held = self.decided_outbox.free();
        held.into_iter().for_each(|effect| self.publish(effect));
        let replacement = Replacement { reason, from: self.height, base, world, note };
        self.effects.push_back(Effect::Replace(Box::new(replacement)));
    }

    /// Returns the first height whose state this server may have noted wrongly, if the right state of
    /// height `fetched` takes the place of its own. That is the height after the state that this server
    /// began with, unless a decided header contradicts that state as well: a snapshot is stored before
    /// the header is decided that states its root, and a server may start from it by then.
    fn noted_wrongly_from(&self, fetched: Height) -> Height {
        let next = self.state_sync.trust.height.min(fetched).plus(1);
        let contested = self.agreement.contested();
        let contradicted = contested.and_then(|found| found.height().minus(ROOT_LAG));
        contradicted.map_or(next, |contradicted| contradicted.min(next))
    }

    /// Returns the set changes up to a fetched state. Those before the trusted set are our own.
    fn links_to(&self, base: &Base) -> Vec<Link> {
        let state_sync = &self.state_sync;
        let since = base.links.iter().filter(|link| link.header.height > state_sync.trust.height);
        let mut links: Vec<Link> = state_sync.links.iter().chain(since).cloned().collect();
        let surplus = links.len().saturating_sub(LINKS_MAX);
        links.drain(..surplus);
        links
    }
}
