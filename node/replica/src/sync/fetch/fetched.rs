//! What to ask next, and what came of it.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use metatopia_consensus::{Base, Checkpoint, JoinPack, JoinPackError};
use metatopia_protocol::Question;
use metatopia_sim::{Manifest, StateRestoreError, Tools, World};
use metatopia_types::{Digest, Height, PublicKey, limits::SET_LAG};

use super::{
    ANSWER, ASKED_MAX, About, Asked, Fetch, FetchEffect, OFFERS, PAUSE, STANDSTILL,
    provider::{Provider, ProviderFault, ProviderStage},
    target::Target,
};

/// A certified state with all its leaves.
#[derive(Debug)]
pub struct Fetched {
    /// What is proved about it.
    pub checkpoint: Checkpoint,
    /// The list of its leaves.
    pub manifest: Manifest,
    /// Their contents by hash; there may be others among them.
    pub leaves: BTreeMap<Digest, Vec<u8>>,
}

/// Why a fetched state cannot be gone on from. Its root is certified, so this program runs other
/// rules than the servers do.
#[derive(Debug, thiserror::Error)]
pub enum FetchedError {
    /// The leaves are no state.
    #[error("the certified state is none by this program's rules: {0}")]
    State(#[from] StateRestoreError),
    /// It names other voters than the headers.
    #[error("the certified state contradicts its headers: {0}")]
    Sets(#[from] JoinPackError),
    /// It is of another height than its header.
    #[error("the certified state is of height {found}, its header of {expected}")]
    Height {
        /// The height of the header.
        expected: Height,
        /// The height of the state.
        found: Height,
    },
}

impl Fetched {
    /// Returns the world, and where agreement starts from with it: what
    /// [`encode_snapshot`](crate::encode_snapshot) keeps and [`Replica::open`](crate::Replica::open)
    /// takes.
    ///
    /// # Errors
    /// See [`FetchedError`].
    pub fn open(&self, tools: &Tools) -> Result<(Base, World), FetchedError> {
        let Checkpoint { height, root, .. } = self.checkpoint;
        let world = World::restore(&self.manifest, &self.leaves, root, tools)?;
        if world.height() != height {
            return Err(FetchedError::Height { expected: height, found: world.height() });
        }
        let set = |ahead: u64| world.validators(height.plus(ahead)).cloned();
        let sets: Option<Vec<_>> = (1..=SET_LAG).map(set).collect();
        let sets = sets.and_then(|sets| sets.try_into().ok());
        let sets = sets.expect("a world knows the sets of the next heights");
        Ok((self.checkpoint.base(sets)?, world))
    }
}

impl Fetch {
    /// Chooses a state, asks whom there is to ask, and ends when all is there.
    pub(super) fn go_on(&mut self, now: Duration) {
        if self.over {
            return;
        }
        self.choose(now);
        self.let_go(now);
        let keys: Vec<PublicKey> = self.providers.keys().copied().collect();
        for key in keys {
            while let Some(about) = self.next(now, key) {
                self.ask(now, key, about);
            }
        }
        self.finish();
    }

    /// Returns the provider whose offer is taken: of those who offered the least in vain, the newest. A
    /// state that nobody else has is no reason to wait for it again and again.
    fn best_offer(&self) -> Option<&Provider> {
        let offers = self.providers.values().filter(|provider| provider.offer().is_some());
        offers.max_by_key(|p| (Reverse(p.in_vain), p.offer().map(|offer| offer.height)))
    }

    /// Returns when the best offer is taken, though others may come. One that comes of somebody who
    /// offered in vain before waits for those who did not, as long as an answer may take.
    pub(super) fn choice_due(&self) -> Option<Duration> {
        let best = self.best_offer()?;
        let is_better = |p: &Provider| p.waits_to_offer() && p.in_vain < best.in_vain;
        let wait = if self.providers.values().any(is_better) { ANSWER } else { OFFERS };
        self.first_offer.map(|first| first + wait)
    }

    /// Takes the best state that is offered, once all that answer have, or some time is over.
    fn choose(&mut self, now: Duration) {
        if self.target.is_some() {
            return;
        }
        let late = self.choice_due().is_some_and(|due| now >= due);
        if !late && self.providers.values().any(Provider::waits_to_offer) {
            return;
        }
        let Some(best) = self.best_offer().and_then(Provider::offer).cloned() else {
            return;
        };
        if best.height == Height(0) {
            self.over = true;
            self.effects.push_back(FetchEffect::Genesis);
            return;
        }
        self.target = Some(Target::new(best, now));
    }

    /// Gives a state up for another one if nobody has it any more, or nothing of it comes. Its leaves are
    /// kept, because most of them are in the other one too.
    fn let_go(&mut self, now: Duration) {
        let Some(target) = &self.target else {
            return;
        };
        let height = target.height();
        let stands_still = now >= target.moved + STANDSTILL;
        let mut able = self.providers.values().filter(|p| p.is_asked()).peekable();
        let is_gone = able.peek().is_some() && able.all(|p| p.lacks == Some(height));
        if !stands_still && !is_gone {
            return;
        }
        for provider in self.providers.values_mut() {
            let offered = matches!(&provider.stage, ProviderStage::Ready(offer)
                if offer.height == height);
            provider.in_vain = provider.in_vain.saturating_add(u32::from(offered));
        }
        self.target = None;
        self.first_offer = None;
        self.asked.clear();
        for provider in self.providers.values_mut().filter(|p| p.is_asked()) {
            provider.stage = ProviderStage::Offer;
            provider.rests = Some(now + PAUSE);
            provider.lacks = None;
        }
    }

    /// Returns what this provider is asked next, if anything.
    fn next(&mut self, now: Duration, key: PublicKey) -> Option<About> {
        let provider = self.providers.get_mut(&key)?;
        let under_way: Vec<&About> =
            self.asked.values().filter(|a| a.to == key).map(|a| &a.about).collect();
        if !provider.is_asked() || under_way.len() >= ASKED_MAX {
            return None;
        }
        if provider.rests.is_some_and(|until| now < until) {
            return None;
        }
        provider.rests = None;
        let idle = under_way.is_empty();
        match &provider.stage {
            ProviderStage::Links { after } => idle.then_some(About::Links { after: *after }),
            ProviderStage::Offer => idle.then_some(About::Offer),
            ProviderStage::Dropped => None,
            ProviderStage::Ready(_) => {
                let target = self.target.as_mut()?;
                let height = target.height();
                if provider.lacks == Some(height) {
                    return None;
                }
                let is_asked = |asked: &dyn Fn(&About) -> bool| {
                    self.asked.values().any(|question| asked(&question.about))
                };
                if let Some(height) = target.wanted_head()
                    && !is_asked(&|about| matches!(about, About::Head { .. }))
                {
                    return Some(About::Head { height });
                }
                if target.manifest().is_none() {
                    if is_asked(&|about| matches!(about, About::Part { .. })) {
                        return None;
                    }
                    return target.wanted_part(key).map(|part| About::Part { height, part });
                }
                let leaves = target.wanted_leaves();
                (!leaves.is_empty()).then_some(About::Leaves { height, leaves })
            }
        }
    }

    fn ask(&mut self, now: Duration, to: PublicKey, about: About) {
        let question = match about.clone() {
            About::Links { after } => Question::Links { after },
            About::Offer => Question::Snapshot,
            About::Head { height } => Question::Turn { height },
            About::Part { height, part } => Question::SnapshotPart { height, part },
            About::Leaves { height, leaves } => Question::Leaves { height, leaves },
        };
        let token = self.next_token;
        self.next_token = token.wrapping_add(1);
        self.asked.insert(token, Asked { to, about, until: now + ANSWER });
        self.effects.push_back(FetchEffect::Ask { to, token, question });
    }

    fn finish(&mut self) {
        let Some(target) = &self.target else {
            return;
        };
        let (Some([state, next]), Some(manifest)) = (target.heads(), target.manifest()) else {
            return;
        };
        if !manifest.leaves.iter().all(|leaf| self.have.contains_key(&leaf.hash)) {
            return;
        }
        let offer = target.offer();
        let last = offer.header.height;
        let mut links = self.walk.all();
        links.retain(|link| link.header.height < last);
        let headers = [state, next, offer.header.clone()];
        let pack = JoinPack { links, headers, certificate: offer.certificate.clone() };
        let manifest = manifest.clone();
        match pack.verify(self.sim, &self.trust, &*self.scheme) {
            Ok(checkpoint) => {
                self.over = true;
                self.asked.clear();
                let leaves = core::mem::take(&mut self.have);
                let fetched = Fetched { checkpoint, manifest, leaves };
                self.effects.push_back(FetchEffect::Done(Box::new(fetched)));
            }
            // Each part was proved before; only a set change of the last heights can be missing.
            Err(why) => {
                self.target = None;
                let offering: Vec<PublicKey> = self.providers.keys().copied().collect();
                for provider in offering {
                    self.drop_provider(provider, ProviderFault::Undecided(why));
                }
            }
        }
    }
}
