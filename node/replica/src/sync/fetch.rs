//! Fetching a certified state from servers that nobody has to trust, sans-IO.
//!
//! A [`Fetch`] begins with a [`Trust`]: who votes from some height on. It asks every provider for
//! the changes of the set since, and for a snapshot; it believes an offer whose header those
//! validators signed. It takes the manifest from one provider, checks it against the root that the
//! header states, and then asks all providers for leaves, a quarter of a megabyte at a time. Each
//! leaf is held against its hash when it comes, so a provider that sends a wrong one is named, and
//! asked for nothing more.
//!
//! What the carrier is, it does not know: whoever drives it sends [`FetchEffect::Ask`] to a
//! provider as a [`Question`], by a client's session or between servers
//! ([`Input::AskPeer`](crate::Input::AskPeer)), and hands the answer to [`Fetch::answer`]. Leaves
//! that are at hand already, from an earlier try or from a state of one's own, are given to
//! [`Fetch::have`] and not fetched.

mod fetched;
mod provider;
mod target;
mod walk;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_consensus::JoinPackError;
use metatopia_protocol::{Answer, Question, SnapshotOffer};
use metatopia_sim::SNAPSHOT_BYTES_MAX;
use metatopia_types::{
    Digest, Height, PublicKey, SimId, Trust, ValidatorSet, Verify, certified,
    limits::{LEAF_BYTES_MAX, ROOT_LAG},
};

pub use self::fetched::{Fetched, FetchedError};
pub use self::provider::{ProviderFault, ProviderState};
use self::{
    provider::{Provider, ProviderStage},
    target::Target,
    walk::Walk,
};

/// Questions under way to one provider.
pub const ASKED_MAX: usize = 2;

/// A provider that does not answer for so long is asked for something else.
pub const ANSWER: Duration = Duration::from_secs(5);

/// Questions in a row that a provider may leave unanswered.
pub const SILENCES_MAX: u32 = 3;

/// The pause before a provider is asked again that has nothing yet, or too much to do.
pub const PAUSE: Duration = Duration::from_millis(250);

/// Answers in a row by which a provider may say that it has too much to do. There are two in each
/// [`PAUSE`], so it may do so for half a minute.
pub const BUSIES_MAX: u32 = 240;

/// The time after the first offer in which others may come; then the newest is taken.
pub const OFFERS: Duration = Duration::from_millis(500);

/// A state of which nothing comes for so long is given up, and whoever offered it has to wait for the
/// offers of others. That is a little more than 15.75 s, after which a provider is dropped that leaves
/// [`SILENCES_MAX`] questions unanswered and rests after each.
pub const STANDSTILL: Duration = Duration::from_secs(16);

const _: () = {
    let silent = (ANSWER.as_millis() + PAUSE.as_millis()) * SILENCES_MAX as u128;
    assert!(STANDSTILL.as_millis() > silent, "who is silent is named");
};

/// One thing to do.
#[derive(Debug)]
pub enum FetchEffect {
    /// Ask a provider.
    Ask {
        /// The peer that is asked.
        to: PublicKey,
        /// Comes back with the answer.
        token: u32,
        /// The question to ask.
        question: Question,
    },
    /// A leaf came and is what it should be: whoever wants to go on after a crash keeps it.
    Keep {
        /// blake3 of it.
        hash: Digest,
        /// The bytes of the leaf.
        content: Vec<u8>,
    },
    /// A provider is asked for nothing more.
    Dropped {
        /// The provider that is dropped.
        provider: PublicKey,
        /// The reason for it.
        why: ProviderFault,
    },
    /// Everything is there. Nothing follows.
    Done(Box<Fetched>),
    /// The sim is too young for a snapshot: begin at genesis. Nothing follows.
    Genesis,
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The state being fetched, once one was chosen.
    pub height: Option<Height>,
    /// Bytes of leaves that are there.
    pub bytes: u64,
    /// Bytes of all leaves, once the manifest is there.
    pub total: u64,
    /// Each provider with the bytes that it gave, and how it stands.
    pub providers: Vec<(PublicKey, u64, ProviderState)>,
}

/// What a question was about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    Links { after: Height },
    Offer,
    Head { height: Height },
    Part { height: Height, part: u32 },
    Leaves { height: Height, leaves: Vec<u32> },
}

#[derive(Debug)]
struct Asked {
    to: PublicKey,
    about: About,
    until: Duration,
}

/// A fetch under way. See the module's page.
pub struct Fetch {
    sim: SimId,
    scheme: Arc<dyn Verify>,
    trust: Trust,
    walk: Walk,
    providers: BTreeMap<PublicKey, Provider>,
    target: Option<Target>,
    first_offer: Option<Duration>,
    have: BTreeMap<Digest, Vec<u8>>,
    asked: BTreeMap<u32, Asked>,
    next_token: u32,
    over: bool,
    effects: VecDeque<FetchEffect>,
}

impl core::fmt::Debug for Fetch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Fetch of {} with {} providers", self.sim, self.providers.len())
    }
}

impl Fetch {
    /// Begins with who votes from a height on. With `genesis`, the validators of height 1, the set
    /// changes before that height are fetched too: a server needs them for clients that believe in
    /// nothing but genesis.
    #[must_use]
    pub fn new(
        sim: SimId,
        trust: Trust,
        genesis: Option<ValidatorSet>,
        scheme: Arc<dyn Verify>,
    ) -> Self {
        Self {
            sim,
            scheme,
            walk: Walk::new(&trust, genesis),
            trust,
            providers: BTreeMap::new(),
            target: None,
            first_offer: None,
            have: BTreeMap::new(),
            asked: BTreeMap::new(),
            next_token: 0,
            over: false,
            effects: VecDeque::new(),
        }
    }

    /// Takes a leaf that is at hand, under its blake3 hash. Leaves of other states than the one that
    /// will be chosen do no harm.
    pub fn have(&mut self, content: Vec<u8>) {
        if content.len() <= LEAF_BYTES_MAX {
            self.have.insert(Digest(*blake3::hash(&content).as_bytes()), content);
        }
    }

    /// Notes that a server can be asked. One that was dropped stays dropped.
    pub fn up(&mut self, now: Duration, provider: PublicKey) {
        let after = self.walk.begin();
        self.providers.entry(provider).or_insert_with(|| Provider::new(after)).down = false;
        self.go_on(now);
    }

    /// Notes that a server cannot be asked any more. Others will be asked for what it was asked for.
    pub fn down(&mut self, now: Duration, provider: PublicKey) {
        if let Some(provider) = self.providers.get_mut(&provider) {
            provider.down = true;
        }
        self.forget(|asked| asked.to == provider);
        if let Some(target) = &mut self.target {
            target.begin_again(provider);
        }
        self.go_on(now);
    }

    /// Takes the answer of a provider.
    pub fn answer(&mut self, now: Duration, from: PublicKey, token: u32, answer: Answer) {
        let expected = self.asked.get(&token).is_some_and(|asked| asked.to == from);
        let Some(asked) = self.asked.remove(&token).filter(|_| expected) else {
            // It comes too late, or was never asked for.
            return;
        };
        if let Some(provider) = self.providers.get_mut(&from).filter(|_| answer != Answer::Busy) {
            provider.silences = 0;
            provider.busies = 0;
        }
        let checked = match answer {
            Answer::Busy => self.busy(now, from, asked.about),
            Answer::Unknown | Answer::Pruned { .. } => self.unknown(now, from, asked.about),
            answer => self.take(now, from, asked.about, answer),
        };
        if let Err(why) = checked {
            self.drop_provider(from, why);
        }
        self.go_on(now);
    }

    /// Asks others for what was asked for in vain, once time has passed.
    pub fn wake(&mut self, now: Duration) {
        let due = |(token, asked): (&u32, &Asked)| (asked.until <= now).then_some(*token);
        let late: Vec<u32> = self.asked.iter().filter_map(due).collect();
        for asked in late.iter().filter_map(|token| self.asked.remove(token)).collect::<Vec<_>>() {
            self.give_back(asked.to, asked.about);
            let Some(provider) = self.providers.get_mut(&asked.to) else {
                continue;
            };
            provider.silences += 1;
            if provider.silences >= SILENCES_MAX {
                self.drop_provider(asked.to, ProviderFault::Silent);
            } else {
                self.rest(asked.to, now + PAUSE);
            }
        }
        self.go_on(now);
    }

    /// Returns when to call [`Fetch::wake`].
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.over {
            return None;
        }
        let answers = self.asked.values().map(|asked| asked.until);
        let rests = self.providers.values().filter(|p| p.is_asked()).filter_map(|p| p.rests);
        let target = match &self.target {
            Some(target) => Some(target.moved + STANDSTILL),
            None => self.choice_due(),
        };
        answers.chain(rests).chain(target).min()
    }

    /// Returns the next thing to do.
    pub fn poll(&mut self) -> Option<FetchEffect> {
        self.effects.pop_front()
    }

    /// Returns whether there is nobody left to ask. The fetch goes on when another server comes up.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        !self.over && !self.providers.values().any(Provider::is_asked)
    }

    /// Returns how far the fetch is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let providers = self.providers.iter();
        let (bytes, total) = self.target.as_ref().map(Target::bytes).unwrap_or_default();
        Progress {
            height: self.target.as_ref().map(Target::height),
            bytes,
            total,
            providers: providers.map(|(key, p)| (*key, p.bytes, p.state())).collect(),
        }
    }

    fn take(
        &mut self,
        now: Duration,
        from: PublicKey,
        about: About,
        answer: Answer,
    ) -> Result<(), ProviderFault> {
        match (about, answer) {
            (About::Links { after }, Answer::Links(links)) => {
                let provider = self.providers.get_mut(&from).ok_or(ProviderFault::Unasked)?;
                let more = self.walk.take(self.sim, after, links, provider, &*self.scheme)?;
                provider.stage =
                    more.map_or(ProviderStage::Offer, |after| ProviderStage::Links { after });
                Ok(())
            }
            (About::Offer, Answer::Snapshot(offer)) => self.offered(now, from, *offer),
            (About::Head { height }, Answer::Turn(turn)) => match &mut self.target {
                Some(target) if target.covers(height) => {
                    target.head(height, turn.0.header)?;
                    target.moved = now;
                    Ok(())
                }
                _ => Ok(()),
            },
            (About::Part { height, part }, Answer::SnapshotPart(bytes)) => match &mut self.target {
                Some(target) if target.height() == height => {
                    let length = self.providers.get(&from).map_or(0, |p| p.length(height));
                    target.part((from, length), part, &bytes, &self.have)?;
                    target.moved = now;
                    Ok(())
                }
                _ => Ok(()),
            },
            (About::Leaves { height, leaves }, Answer::Leaves(contents)) => {
                self.leaves(now, from, (height, leaves), contents)
            }
            (about, _) => {
                self.give_back(from, about);
                Err(ProviderFault::Unasked)
            }
        }
    }

    fn offered(
        &mut self,
        now: Duration,
        from: PublicKey,
        offer: SnapshotOffer,
    ) -> Result<(), ProviderFault> {
        let stated = offer.header.height;
        let bytes = offer.bytes;
        if stated != offer.height.plus(ROOT_LAG) || bytes == 0 || bytes > SNAPSHOT_BYTES_MAX as u64
        {
            return Err(ProviderFault::Offer);
        }
        let provider = self.providers.get_mut(&from).ok_or(ProviderFault::Unasked)?;
        let Some(set) = self.walk.set(stated) else {
            // Older than what is known already: it lags, which is no lie.
            provider.rests = Some(now + PAUSE);
            return Ok(());
        };
        if set.id() != offer.header.validators && !provider.walked_again {
            // The set may have changed since it was asked for changes.
            provider.walked_again = true;
            provider.stage = ProviderStage::Links { after: self.walk.newest() };
            provider.rests = Some(now + PAUSE);
            return Ok(());
        }
        certified(self.sim, &offer.header, &offer.certificate, set, &*self.scheme)
            .map_err(JoinPackError::from)?;
        provider.walked_again = false;
        provider.stage = ProviderStage::Ready(Box::new(offer));
        self.first_offer.get_or_insert(now);
        Ok(())
    }

    fn leaves(
        &mut self,
        now: Duration,
        from: PublicKey,
        (height, leaves): (Height, Vec<u32>),
        contents: Vec<Vec<u8>>,
    ) -> Result<(), ProviderFault> {
        let Some(target) = self.target.as_mut().filter(|target| target.height() == height) else {
            return Ok(());
        };
        let came = contents.len();
        if came == 0 || came > leaves.len() {
            target.give_back(leaves);
            return Err(ProviderFault::Unasked);
        }
        // Whoever gives one leaf at a time, where many are asked for, may hold up the others for ever.
        let is_whole = came == leaves.len();
        let mut left = leaves.into_iter();
        for content in contents {
            let Some(leaf) = left.next() else {
                break;
            };
            let length = content.len() as u64;
            match target.leaf(leaf, &content) {
                Ok(hash) => {
                    self.effects.push_back(FetchEffect::Keep { hash, content: content.clone() });
                    self.have.insert(hash, content);
                }
                Err(why) => {
                    target.give_back(core::iter::once(leaf).chain(left).collect());
                    return Err(why);
                }
            }
            if let Some(provider) = self.providers.get_mut(&from) {
                provider.bytes = provider.bytes.saturating_add(length);
            }
        }
        target.give_back(left.collect());
        if is_whole {
            target.moved = now;
        }
        Ok(())
    }

    /// Asks others for what a provider has too much to do for. It may say so a number of times.
    fn busy(&mut self, now: Duration, from: PublicKey, about: About) -> Result<(), ProviderFault> {
        self.give_back(from, about);
        self.rest(from, now + PAUSE);
        let Some(provider) = self.providers.get_mut(&from) else {
            return Ok(());
        };
        provider.busies += 1;
        if provider.busies >= BUSIES_MAX { Err(ProviderFault::Busy) } else { Ok(()) }
    }

    /// Notes that a provider does not have something: that is no lie.
    fn unknown(
        &mut self,
        now: Duration,
        from: PublicKey,
        about: About,
    ) -> Result<(), ProviderFault> {
        match &about {
            About::Links { .. } => return Err(ProviderFault::Unasked),
            About::Offer => self.rest(from, now + PAUSE),
            About::Head { height } | About::Part { height, .. } | About::Leaves { height, .. } => {
                let target = self.target.as_ref().map(Target::height);
                if let Some(provider) = self.providers.get_mut(&from)
                    && target.is_some_and(|target| target <= *height)
                {
                    provider.lacks = target;
                }
            }
        }
        self.give_back(from, about);
        Ok(())
    }

    fn rest(&mut self, provider: PublicKey, until: Duration) {
        if let Some(provider) = self.providers.get_mut(&provider) {
            provider.rests = Some(until);
        }
    }

    /// Lets others be asked for what this provider was asked for.
    fn give_back(&mut self, from: PublicKey, about: About) {
        let Some(target) = &mut self.target else {
            return;
        };
        match about {
            About::Leaves { height, leaves } if height == target.height() => {
                target.give_back(leaves);
            }
            About::Part { height, .. } if height == target.height() => target.begin_again(from),
            _ => {}
        }
    }

    fn forget(&mut self, is_over: impl Fn(&Asked) -> bool) {
        let over = self.asked.iter().filter(|(_, asked)| is_over(asked)).map(|(token, _)| *token);
        for token in over.collect::<Vec<_>>() {
            if let Some(asked) = self.asked.remove(&token) {
                self.give_back(asked.to, asked.about);
            }
        }
    }

    fn drop_provider(&mut self, provider: PublicKey, why: ProviderFault) {
        self.forget(|asked| asked.to == provider);
        if let Some(target) = &mut self.target {
            target.begin_again(provider);
        }
        if let Some(state) = self.providers.get_mut(&provider) {
            state.stage = ProviderStage::Dropped;
            self.effects.push_back(FetchEffect::Dropped { provider, why });
        }
    }
}
