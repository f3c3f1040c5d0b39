//! A server that cannot go on from what it has takes a certified state of its peers instead.
//!
//! Three things bring it there: it came up without a state to begin with ([`Replica::adrift`]), it is
//! so far behind that replaying what it missed takes longer than fetching a state, or its own state
//! is wrong and nothing that it kept leads to the right one. In each case it drives a [`Fetch`] over
//! the connections with its peers, from the validators that it trusts: those of the state that it
//! began with. So a peer can waste its time, and no more. Meanwhile it follows as well as it can.
//!
//! Once a state is there and better than its own, this replica ends: [`Effect::Replace`] has the
//! driver keep that state and open another replica on it, with what the log holds after it. That is
//! a restart in place, and no more may go wrong in it than in a restart: what this server signed is
//! in its log and stays, and who may not sign because records are lost, may not afterwards either.

use std::time::Duration;

use metatopia_consensus::{Base, Link, Record, Trust, limits::LINKS_MAX};
use metatopia_protocol::{Answer, Goodbye};
use metatopia_sim::World;
use metatopia_types::{Height, Now, PublicKey};

use crate::{
    ClientId, Effect, Input, PeerMessage, Replica, STALL,
    backfill::FILLING,
    fetch::{Fetch, FetchEffect, Fetched, Misdeed, Progress},
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

/// After a fetch that led to nothing, the next one begins so much later.
pub const FETCH_PAUSE: Duration = Duration::from_secs(5);

/// Meanwhile a server that is behind asks for no turns, as long as the fetch takes no longer.
const HOLD: Duration = Duration::from_secs(10);

/// Between two looks at how far the others are.
const LOOK: Duration = Duration::from_millis(20);

/// What the numbers of our own questions have that no others do: this bit, and, unless they are about
/// [turns that are missing](FILLING), in the bits after it the number of the fetch, so that late
/// answers are not taken for those of the next.
pub(crate) const OWN: u32 = 1 << 31;
const FETCHES: u32 = 0x3f;
const TOKEN_BITS: u32 = 24;
const TOKENS: u32 = (1 << TOKEN_BITS) - 1;

/// Why a server takes a state of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It has none to begin with.
    Adrift,
    /// The others are far ahead.
    Behind,
    /// Its own is wrong, and it cannot come to the right one.
    Wrong,
}

impl Need {
    /// For people, after "this server".
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Adrift => "has no state to begin with",
            Self::Behind => "is far behind the others",
            Self::Wrong => "cannot come to the right state by itself",
        }
    }
}

/// A fetch, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetching {
    /// Why.
    pub need: Need,
    /// How far it is; nothing while nobody can be asked.
    pub progress: Option<Progress>,
}

/// What happens on the way, for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchNews {
    /// A state is being fetched.
    Begun {
        /// Why.
        need: Need,
        /// From so many peers.
        peers: usize,
    },
    /// A peer is asked for nothing more.
    Dropped {
        /// Which.
        peer: PublicKey,
        /// Why.
        why: Misdeed,
    },
    /// Nothing came of it; it is tried again after [`FETCH_PAUSE`].
    Failed(String),
    /// Turns up to this height are missing, and nobody is asked for them: see
    /// [`Unasked::Unprovable`](crate::Unasked::Unprovable).
    Unprovable(Height),
}

/// The state that takes the place of a server's own.
#[derive(Debug)]
pub struct Replacement {
    /// Why.
    pub need: Need,
    /// The last height that was decided here.
    pub from: Height,
    /// Where agreement starts from with it.
    pub base: Base,
    /// The state.
    pub world: World,
    /// A record to append before another replica is opened.
    pub note: Option<Vec<u8>>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Rescue {
    /// Of a server without a state: states below this height are of no use to it.
    pub(crate) adrift: Option<Height>,
    /// Who is believed, and how that came.
    trust: Trust,
    links: Vec<Link>,
    fetch: Option<(Need, Box<Fetch>)>,
    fetches: u32,
    ready: Option<(Need, Box<Fetched>)>,
    /// Nothing is begun before.
    rests: Duration,
    /// When the fetch under way began.
    began: Duration,
    /// This replica has ended.
    over: bool,
}

impl Rescue {
    pub(crate) fn new(base: &Base, adrift: Option<Height>) -> Self {
        Self {
            adrift,
            trust: Trust { height: base.height, validators: base.sets[0].clone() },
            links: base.links.clone(),
            fetch: None,
            fetches: 0,
            ready: None,
            rests: Duration::ZERO,
            began: Duration::ZERO,
            over: false,
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.over
    }

    fn id(&self, token: u32) -> u32 {
        OWN | ((self.fetches & FETCHES) << TOKEN_BITS) | (token & TOKENS)
    }
}

impl Replica {
    /// Is a state being fetched, or waited for?
    pub(crate) fn fetching(&self) -> Option<Fetching> {
        let rescue = &self.rescue;
        let ready = rescue.ready.as_ref().map(|(need, _)| Fetching { need: *need, progress: None });
        let under_way = rescue.fetch.as_ref().map(|(need, fetch)| {
            let (need, progress) = (*need, Some(fetch.progress()));
            Fetching { need, progress }
        });
        let waits = self.lacks_state().map(|need| Fetching { need, progress: None });
        under_way.or(ready).or(waits)
    }

    /// Is a state on its way to take the place of this server's own?
    pub(crate) const fn is_being_replaced(&self) -> bool {
        let Rescue { adrift, fetch, ready, over, .. } = &self.rescue;
        adrift.is_some() || fetch.is_some() || ready.is_some() || *over
    }

    /// Was it started without a state, and has it none yet?
    #[must_use]
    pub const fn is_adrift(&self) -> bool {
        self.rescue.adrift.is_some()
    }

    /// When to look at the fetch again, in monotonic time.
    pub(crate) fn fetch_deadline(&self) -> Option<Duration> {
        match &self.rescue.fetch {
            Some((_, fetch)) => fetch.deadline(),
            None if self.rescue.ready.is_some() || self.peers.is_empty() || self.muted => None,
            None => self.lacks_state().map(|_| self.rescue.rests),
        }
    }

    /// This replica has ended, and the next one begins once its state is on the disk, which a full disk
    /// may hold up: nobody is to wait here for it.
    pub(crate) fn turn_away(&mut self, input: Input) {
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

    /// A server without a state can serve nobody.
    pub(crate) fn client_up(&mut self, client: ClientId) {
        if self.rescue.adrift.is_some() {
            return self.sessions.end(client, Goodbye::Stopping);
        }
        self.sessions.connected(client);
    }

    pub(crate) fn provider_up(&mut self, now: Now, peer: PublicKey) {
        if self.is_guest(&peer) {
            return;
        }
        if let Some((_, fetch)) = &mut self.rescue.fetch {
            fetch.up(now.monotonic, peer);
        }
    }

    pub(crate) fn provider_down(&mut self, now: Now, peer: PublicKey) {
        if let Some((_, fetch)) = &mut self.rescue.fetch {
            fetch.down(now.monotonic, peer);
        }
    }

    /// A peer answered; gives the answer back if it was not asked for here.
    pub(crate) fn provided(
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
        let ours = self.rescue.id(id) == id;
        if let Some((_, fetch)) = self.rescue.fetch.as_mut().filter(|_| ours) {
            fetch.answer(now.monotonic, from, id & TOKENS, *answer);
        }
        None
    }

    /// Does what is due about a state that this server lacks. Looked at after every input.
    pub(crate) fn rescue(&mut self, now: Now) {
        if self.muted && (self.rescue.fetch.is_some() || self.rescue.ready.is_some()) {
            // There is no room for it. Until there is, this replica follows and is asked as it is; then a
            // newer state is fetched.
            self.give_up_fetch(now);
        }
        if let Some(need) = self.need(now) {
            self.begin_fetch(now, need);
        }
        if let Some((_, fetch)) = &mut self.rescue.fetch
            && fetch.deadline().is_some_and(|at| at <= now.monotonic)
        {
            fetch.wake(now.monotonic);
        }
        if self.rescue.fetch.is_some() && now.monotonic >= self.rescue.rests {
            self.rescue.rests = now.monotonic + LOOK;
            if self.is_in_vain(now) {
                self.give_up_fetch(now);
            } else {
                let late = now.monotonic.saturating_sub(self.rescue.began) > HOLD;
                self.agreement.hold(!late);
            }
        }
        self.carry_on(now);
        self.replace(now);
    }

    fn lacks_state(&self) -> Option<Need> {
        match self.rescue.adrift {
            Some(_) => Some(Need::Adrift),
            None => self.mending.wants_state().map(|_| Need::Wrong),
        }
    }

    /// Why a fetch should begin now, if it should.
    fn need(&mut self, now: Now) -> Option<Need> {
        let rescue = &mut self.rescue;
        let busy = rescue.fetch.is_some() || rescue.ready.is_some() || rescue.over;
        let early = now.monotonic < rescue.rests;
        if busy || early || self.muted || self.world.is_none() || self.peers.is_empty() {
            return None;
        }
        rescue.rests = now.monotonic + LOOK;
        let far = self.config.behind_turns;
        self.lacks_state().or_else(|| self.is_behind(now, far).then_some(Need::Behind))
    }

    /// Is this server so many turns behind, and able to go on? One liar cannot make us believe it,
    /// unless we got nowhere for a while: then a look at what is offered costs nothing.
    fn is_behind(&self, now: Now, turns: u64) -> bool {
        let stuck = now.monotonic.saturating_sub(self.decided_at) > STALL;
        let far = self.agreement.height().plus(turns);
        !self.halted && !self.mending.is_busy() && self.agreement.others_at(stuck) >= far
    }

    /// While a state was being fetched, this server may have caught up without it.
    fn is_in_vain(&self, now: Now) -> bool {
        let behind = matches!(self.rescue.fetch, Some((Need::Behind, _)));
        behind && !self.is_behind(now, self.config.behind_turns / 2)
    }

    fn begin_fetch(&mut self, now: Now, need: Need) {
        let (Some(world), agreement) = (self.world.as_deref(), &self.config.agreement) else {
            return;
        };
        let (trust, scheme) = (self.rescue.trust.clone(), agreement.scheme.clone());
        let mut fetch = Fetch::new(self.config.sim, trust, None, scheme);
        for leaf in world.manifest().leaves {
            world.leaf(&leaf.key).into_iter().for_each(|content| fetch.have(content));
        }
        let peers: Vec<PublicKey> =
            self.peers.iter().filter(|peer| !self.is_guest(peer)).copied().collect();
        peers.iter().for_each(|peer| fetch.up(now.monotonic, *peer));
        self.rescue.fetches = self.rescue.fetches.wrapping_add(1);
        self.rescue.fetch = Some((need, Box::new(fetch)));
        self.rescue.began = now.monotonic;
        self.agreement.hold(true);
        let news = FetchNews::Begun { need, peers: peers.len() };
        self.effects.push_back(Effect::Fetch(news));
    }

    /// Does what the fetch wants.
    fn carry_on(&mut self, now: Now) {
        while let Some((need, fetch)) = &mut self.rescue.fetch {
            let need = *need;
            let Some(effect) = fetch.poll() else {
                if fetch.is_alone() {
                    self.fail(now, "no peer is left that gives a state".to_owned());
                }
                return;
            };
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    let (id, question) = (self.rescue.id(token), Box::new(question));
                    let frame = PeerMessage::Ask { id, question }.encode();
                    self.effects.push_back(Effect::ToPeer { to: Some(to), frame });
                }
                // Whoever crashes on the way begins again: it is a matter of seconds.
                FetchEffect::Keep { .. } => {}
                FetchEffect::Dropped { provider, why } => {
                    let news = FetchNews::Dropped { peer: provider, why };
                    self.effects.push_back(Effect::Fetch(news));
                }
                FetchEffect::Done(fetched) => {
                    self.rescue.fetch = None;
                    self.rescue.ready = Some((need, fetched));
                }
                FetchEffect::Genesis => {
                    self.fail(now, "the peers have no state to give yet".to_owned());
                }
            }
        }
    }

    fn give_up_fetch(&mut self, now: Now) {
        (self.rescue.fetch, self.rescue.ready) = (None, None);
        self.rescue.rests = now.monotonic + FETCH_PAUSE;
        self.agreement.hold(false);
    }

    fn fail(&mut self, now: Now, why: String) {
        self.give_up_fetch(now);
        self.effects.push_back(Effect::Fetch(FetchNews::Failed(why)));
    }

    /// Ends this replica in favour of one that begins with the state that was fetched, if that is
    /// better than its own. Waits for a turn that is being applied.
    fn replace(&mut self, now: Now) {
        let Some(world) = self.world.as_deref() else {
            return;
        };
        let Some((need, fetched)) = self.rescue.ready.take() else {
            return;
        };
        let height = fetched.checkpoint.height;
        let is_useful = match need {
            Need::Adrift => self.rescue.adrift.is_some_and(|least| height >= least),
            Need::Behind => height > self.height,
            Need::Wrong => self.mending.wants_state().is_some_and(|least| height >= least),
        };
        if !is_useful {
            return self.fail(now, format!("the newest state that is given is of height {height}"));
        }
        let (base, world) = match fetched.open(world.tools()) {
            Ok(opened) => opened,
            Err(error) => return self.fail(now, error.to_string()),
        };
        if need == Need::Wrong {
            self.heal_at(now);
        }
        let voice = self.agreement.has_voice();
        let note = (need == Need::Wrong).then(|| {
            let from = self.rescue.trust.height.min(height).plus(1);
            Record::Healed { from }.encode()
        });
        let base = Base { voice, links: self.links_to(&base), ..base };
        self.sessions.end_all();
        self.rescue.over = true;
        let held = self.told.free();
        held.into_iter().for_each(|effect| self.tell(effect));
        let replacement = Replacement { need, from: self.height, base, world, note };
        self.effects.push_back(Effect::Replace(Box::new(replacement)));
    }

    /// The set changes up to a fetched state: those before what was trusted are our own.
    fn links_to(&self, base: &Base) -> Vec<Link> {
        let rescue = &self.rescue;
        let since = base.links.iter().filter(|link| link.header.height > rescue.trust.height);
        let mut links: Vec<Link> = rescue.links.iter().chain(since).cloned().collect();
        let surplus = links.len().saturating_sub(LINKS_MAX);
        links.drain(..surplus);
        links
    }
}
