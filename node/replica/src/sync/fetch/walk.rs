//! Following the changes of the validator set, from what is trusted to now.

use metatopia_consensus::{JoinPackError, Link, limits::LINKS_MAX};
use metatopia_protocol as protocol;
use metatopia_types::{Height, LinkError, SimId, Trust, ValidatorSet, Verify, certified};

use super::provider::{Provider, ProviderFault};

/// Set changes that are proved.
#[derive(Debug)]
pub(super) struct Walk {
    /// Who votes from this height on, ascending.
    sets: Vec<(Height, ValidatorSet)>,
    trusted: Height,
    /// The set of height 1, if what came before the trusted height is wanted.
    genesis: Option<ValidatorSet>,
    /// The changes up to the trusted height, once a provider has shown them.
    past: Option<Vec<Link>>,
    /// The changes since.
    links: Vec<Link>,
}

impl Walk {
    pub(super) fn new(trust: &Trust, genesis: Option<ValidatorSet>) -> Self {
        Self {
            sets: vec![(trust.height.plus(1), trust.validators.clone())],
            trusted: trust.height,
            genesis,
            past: None,
            links: Vec::new(),
        }
    }

    /// Changes after this height are asked for first.
    pub(super) fn begin(&self) -> Height {
        match (&self.genesis, &self.past) {
            (Some(_), None) => Height(0),
            _ => self.newest(),
        }
    }

    /// Returns the height of the newest change that is known.
    pub(super) fn newest(&self) -> Height {
        self.links.last().map_or(self.trusted, |link| link.header.height)
    }

    /// Returns the validators at a height above the trusted one, as far as changes are known.
    pub(super) fn set(&self, height: Height) -> Option<&ValidatorSet> {
        self.sets.iter().rev().find(|(from, _)| *from <= height).map(|(_, set)| set)
    }

    /// Returns all changes, ascending.
    pub(super) fn all(&self) -> Vec<Link> {
        self.past.iter().flatten().chain(&self.links).cloned().collect()
    }

    /// Takes a page of a provider's set changes; gives the height to ask on from, if there may be
    /// more.
    pub(super) fn take(
        &mut self,
        sim: SimId,
        after: Height,
        page: Vec<protocol::ValidatorSetLink>,
        provider: &mut Provider,
        scheme: &dyn Verify,
    ) -> Result<Option<Height>, ProviderFault> {
        let full = page.len() >= protocol::ValidatorSetLink::PER_ANSWER_MAX;
        let mut last = after;
        for link in page {
            let height = link.header.height;
            if height <= last {
                return Err(ProviderFault::Order(height));
            }
            last = height;
            if height > self.newest() {
                self.follow(sim, link, scheme)?;
            } else if height <= self.trusted {
                if provider.past.len() >= LINKS_MAX {
                    return Err(ProviderFault::Order(height));
                }
                provider.past.push(link);
            }
        }
        if full {
            return Ok(Some(last));
        }
        let past = core::mem::take(&mut provider.past);
        self.prove_past(sim, past, scheme)?;
        Ok(None)
    }

    fn follow(
        &mut self,
        sim: SimId,
        link: protocol::ValidatorSetLink,
        scheme: &dyn Verify,
    ) -> Result<(), ProviderFault> {
        let height = link.header.height;
        let before = &self.sets[self.sets.len() - 1].1;
        let (link, next) = change(sim, link, before, scheme)?;
        if self.links.len() >= LINKS_MAX {
            self.links.remove(0);
        }
        self.links.push(link);
        self.sets.push((height.plus(1), next));
        Ok(())
    }

    /// Checks that these changes lead from genesis to what is trusted. A server that has forgotten the
    /// oldest ones has no past to show, which is no lie.
    fn prove_past(
        &mut self,
        sim: SimId,
        past: Vec<protocol::ValidatorSetLink>,
        scheme: &dyn Verify,
    ) -> Result<(), ProviderFault> {
        let Some(genesis) = self.genesis.as_ref().filter(|_| self.past.is_none()) else {
            return Ok(());
        };
        if past.first().is_some_and(|first| first.header.validators != genesis.id()) {
            return Ok(());
        }
        let (mut set, mut proved) = (genesis.clone(), Vec::with_capacity(past.len()));
        for link in past {
            let (link, next) = change(sim, link, &set, scheme)?;
            proved.push(link);
            set = next;
        }
        if set.id() != self.sets[0].1.id() {
            return Err(ProviderFault::OtherPast);
        }
        self.past = Some(proved);
        Ok(())
    }
}

/// Holds a change against the set that decided it.
fn change(
    sim: SimId,
    link: protocol::ValidatorSetLink,
    before: &ValidatorSet,
    scheme: &dyn Verify,
) -> Result<(Link, ValidatorSet), ProviderFault> {
    let protocol::ValidatorSetLink { header, certificate, next } = link;
    certified(sim, &header, &certificate, before, scheme).map_err(JoinPackError::from)?;
    if next.check().is_err() || next.id() != header.next_validators {
        return Err(JoinPackError::Link(LinkError::OtherMembers(header.height)).into());
    }
    Ok((Link { header, certificate, next: next.members().to_vec() }, next))
}
