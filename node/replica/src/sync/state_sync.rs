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
//!
//! [`Replica::stateless`]: crate::Replica::stateless

use std::time::Duration;

use metatopia_consensus::{Base, Link, Record, limits::LINKS_MAX};
use metatopia_protocol::Answer;
use metatopia_sim::World;
use metatopia_types::{Height, Now, PublicKey, Trust, limits::ROOT_LAG};

use super::{
    SyncContext,
    fetch::{Fetch, FetchEffect, Fetched, Progress, ProviderFault},
    repair::Repair,
};
use crate::{Effect, PeerMessage};

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
/// missing](super::backfill::FILLING), the next bits hold the number of the fetch, so that a late answer is not taken
/// for an answer to the next fetch.
pub(super) const OWN: u32 = 1 << 31;
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
pub(super) struct StateSync {
    /// Set on a server without a state: states below this height are of no use to it.
    stateless: Option<Height>,
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
}

impl StateSync {
    pub(super) fn new(base: &Base, stateless: Option<Height>) -> Self {
        Self {
            stateless,
            trust: Trust { height: base.height, validators: base.sets[0].clone() },
            links: base.links.clone(),
            fetch: None,
            fetches: 0,
            ready: None,
            not_before: Duration::ZERO,
            began: Duration::ZERO,
        }
    }

    /// Returns whether this server was started without a state.
    pub(super) const fn is_stateless(&self) -> bool {
        self.stateless.is_some()
    }

    /// Returns whether this server's own state is to be replaced.
    pub(super) const fn is_replacing(&self) -> bool {
        self.stateless.is_some() || self.fetch.is_some() || self.ready.is_some()
    }

    fn id(&self, token: u32) -> u32 {
        OWN | ((self.fetches & FETCHES) << TOKEN_BITS) | (token & TOKENS)
    }

    /// Returns the fetch under way, or the one that is due.
    pub(super) fn fetching(&self, repair: &Repair) -> Option<Fetching> {
        let without_progress = |reason| Fetching { reason, progress: None };
        if let Some((reason, fetch)) = &self.fetch {
            return Some(Fetching { reason: *reason, progress: Some(fetch.progress()) });
        }
        let ready = self.ready.as_ref().map(|(reason, _)| *reason);
        ready.or_else(|| self.missing_state_reason(repair)).map(without_progress)
    }

    /// Returns when the fetch under way has to be woken, in monotonic time.
    pub(super) fn fetch_deadline(&self) -> Option<Duration> {
        self.fetch.as_ref().and_then(|(_, fetch)| fetch.deadline())
    }

    /// Returns when to begin or continue a fetch, if peers can be asked and the log can grow.
    pub(super) fn deadline(&self, repair: &Repair) -> Option<Duration> {
        if self.fetch.is_some() || self.ready.is_some() {
            return self.fetch_deadline();
        }
        self.missing_state_reason(repair).map(|_| self.not_before)
    }

    /// Begins to ask a peer that connected.
    pub(super) fn peer_up(&mut self, now: Now, peer: PublicKey) {
        if let Some((_, fetch)) = &mut self.fetch {
            fetch.up(now.monotonic, peer);
        }
    }

    /// Stops asking a peer that disconnected.
    pub(super) fn peer_down(&mut self, now: Now, peer: PublicKey) {
        if let Some((_, fetch)) = &mut self.fetch {
            fetch.down(now.monotonic, peer);
        }
    }

    /// Takes an answer of a peer, if it belongs to the fetch under way.
    pub(super) fn answer(&mut self, now: Now, from: PublicKey, id: u32, answer: Answer) {
        let ours = self.id(id) == id;
        if let Some((_, fetch)) = self.fetch.as_mut().filter(|_| ours) {
            fetch.answer(now.monotonic, from, id & TOKENS, answer);
        }
    }

    /// Begins, continues or ends a fetch, if that is due. Returns the fetched state that takes the place
    /// of the state at hand. Runs after every input.
    pub(super) fn advance(
        &mut self,
        ctx: &mut SyncContext<'_>,
        repair: &mut Repair,
    ) -> Option<Replacement> {
        let now = ctx.now.monotonic;
        if ctx.out.is_muted() && (self.fetch.is_some() || self.ready.is_some()) {
            // The disk has no room for a state. Until it has, this replica follows and answers with the
            // state that it has. Then a newer state is fetched.
            self.cancel(ctx);
        }
        if let Some(reason) = self.reason(ctx, repair) {
            self.begin(ctx, reason);
        }
        if let Some((_, fetch)) = &mut self.fetch
            && fetch.deadline().is_some_and(|at| at <= now)
        {
            fetch.wake(now);
        }
        if self.fetch.is_some() && now >= self.not_before {
            self.not_before = now + CHECK_PAUSE;
            if self.is_needless(ctx, repair) {
                self.cancel(ctx);
            } else {
                let late = now.saturating_sub(self.began) > TURN_QUESTIONS_HELD;
                ctx.agreement.hold(!late);
            }
        }
        self.carry_out(ctx);
        self.replace(ctx, repair)
    }

    fn missing_state_reason(&self, repair: &Repair) -> Option<SyncReason> {
        match self.stateless {
            Some(_) => Some(SyncReason::NoState),
            None => repair.wants_state().map(|_| SyncReason::Wrong),
        }
    }

    /// Returns the reason to begin a fetch now, if there is one.
    fn reason(&mut self, ctx: &SyncContext<'_>, repair: &Repair) -> Option<SyncReason> {
        let now = ctx.now.monotonic;
        let busy = self.fetch.is_some() || self.ready.is_some() || now < self.not_before;
        let alone = ctx.out.is_muted() || ctx.peers.is_empty();
        if busy || alone || ctx.execution.world().is_none() {
            return None;
        }
        self.not_before = now + CHECK_PAUSE;
        let is_far = || is_behind(ctx, repair, ctx.config.behind_turns);
        self.missing_state_reason(repair).or_else(|| is_far().then_some(SyncReason::Behind))
    }

    /// Returns whether this server has caught up while it fetched a state.
    fn is_needless(&self, ctx: &SyncContext<'_>, repair: &Repair) -> bool {
        let behind = matches!(self.fetch, Some((SyncReason::Behind, _)));
        behind && !is_behind(ctx, repair, ctx.config.behind_turns / 2)
    }

    fn begin(&mut self, ctx: &mut SyncContext<'_>, reason: SyncReason) {
        let world = ctx.execution.world();
        let world = world.expect("a fetch begins while no turn is being applied");
        let (trust, scheme) = (self.trust.clone(), ctx.config.agreement.scheme.clone());
        let mut fetch = Fetch::new(ctx.config.sim, trust, None, scheme);
        for leaf in world.manifest().leaves {
            world.leaf(&leaf.key).into_iter().for_each(|content| fetch.have(content));
        }
        let peers: Vec<PublicKey> = ctx.peers.servers(ctx.agreement).copied().collect();
        peers.iter().for_each(|peer| fetch.up(ctx.now.monotonic, *peer));
        self.fetches = self.fetches.wrapping_add(1);
        self.fetch = Some((reason, Box::new(fetch)));
        self.began = ctx.now.monotonic;
        ctx.agreement.hold(true);
        ctx.out.emit(Effect::Fetch(FetchEvent::Begun { reason, peers: peers.len() }));
    }

    /// Carries out the effects of the fetch.
    fn carry_out(&mut self, ctx: &mut SyncContext<'_>) {
        while let Some((reason, fetch)) = &mut self.fetch {
            let reason = *reason;
            let Some(effect) = fetch.poll() else {
                if fetch.is_alone() {
                    self.fail(ctx, "no peer is left that gives a state".to_owned());
                }
                return;
            };
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    let (id, question) = (self.id(token), Box::new(question));
                    let frame = PeerMessage::Ask { id, question }.encode();
                    ctx.out.emit(Effect::ToPeer { to: Some(to), frame });
                }
                // After a crash the fetch begins anew: it takes seconds.
                FetchEffect::Keep { .. } => {}
                FetchEffect::Dropped { provider, why } => {
                    ctx.out.emit(Effect::Fetch(FetchEvent::Dropped { peer: provider, why }));
                }
                FetchEffect::Done(fetched) => {
                    self.fetch = None;
                    self.ready = Some((reason, fetched));
                }
                FetchEffect::Genesis => {
                    self.fail(ctx, "the peers have no state to give yet".to_owned());
                }
            }
        }
    }

    fn cancel(&mut self, ctx: &mut SyncContext<'_>) {
        self.fetch = None;
        self.ready = None;
        self.not_before = ctx.now.monotonic + FETCH_PAUSE;
        ctx.agreement.hold(false);
    }

    fn fail(&mut self, ctx: &mut SyncContext<'_>, why: String) {
        self.cancel(ctx);
        ctx.out.emit(Effect::Fetch(FetchEvent::Failed(why)));
    }

    /// Returns the fetched state if it is better than the state at hand. Waits until the turn under way
    /// is applied.
    fn replace(&mut self, ctx: &mut SyncContext<'_>, repair: &mut Repair) -> Option<Replacement> {
        let tools = ctx.execution.world()?.tools();
        let (reason, fetched) = self.ready.take()?;
        let height = fetched.checkpoint.height;
        let is_useful = match reason {
            SyncReason::NoState => self.stateless.is_some_and(|least| height >= least),
            SyncReason::Behind => height > ctx.execution.height(),
            SyncReason::Wrong => repair.wants_state().is_some_and(|least| height >= least),
        };
        if !is_useful {
            self.fail(ctx, format!("the newest state that is given is of height {height}"));
            return None;
        }
        let (base, world) = match fetched.open(tools) {
            Ok(opened) => opened,
            Err(error) => {
                self.fail(ctx, error.to_string());
                return None;
            }
        };
        if reason == SyncReason::Wrong {
            repair.count_repair(ctx);
        }
        let note = (reason == SyncReason::Wrong).then(|| {
            let from = self.noted_wrongly_from(ctx, height);
            Record::Healed { from }.encode()
        });
        let voice = ctx.agreement.has_voice();
        let base = Base { voice, links: self.links_to(&base), ..base };
        Some(Replacement { reason, from: ctx.execution.height(), base, world, note })
    }

    /// Returns the first height whose state this server may have noted wrongly, if the right state of
    /// height `fetched` takes the place of its own. That is the height after the state that this server
    /// began with, unless a decided header contradicts that state as well: a snapshot is stored before
    /// the header is decided that states its root, and a server may start from it by then.
    fn noted_wrongly_from(&self, ctx: &SyncContext<'_>, fetched: Height) -> Height {
        let next = self.trust.height.min(fetched).plus(1);
        let contested = ctx.agreement.contested();
        let contradicted = contested.and_then(|found| found.height().minus(ROOT_LAG));
        contradicted.map_or(next, |contradicted| contradicted.min(next))
    }

    /// Returns the set changes up to a fetched state. Those before the trusted set are our own.
    fn links_to(&self, base: &Base) -> Vec<Link> {
        let since = base.links.iter().filter(|link| link.header.height > self.trust.height);
        let mut links: Vec<Link> = self.links.iter().chain(since).cloned().collect();
        let surplus = links.len().saturating_sub(LINKS_MAX);
        links.drain(..surplus);
        links
    }
}

/// Returns whether this server is so many turns behind, and able to go on. One liar cannot make us believe
/// that, unless nothing was decided here for a while: then it costs nothing to ask for offers.
fn is_behind(ctx: &SyncContext<'_>, repair: &Repair, turns: u64) -> bool {
    let stuck = ctx.execution.is_stalled(ctx.now);
    let far = ctx.agreement.height().plus(turns);
    !repair.has_stopped() && !repair.is_busy() && ctx.agreement.others_at(stuck) >= far
}
