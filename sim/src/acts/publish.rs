//! Publishing: decides whether a package of source enters the sim.
//!
//! Compiling is the dearest thing that an act can ask for, so a turn compiles so many bytes and no more,
//! and its author pays for them in gas, even for what does not compile.

use std::sync::Arc;

use metatopia_scripting::{Handler, Package};
use metatopia_types::{Act, BlobId, PackageId, Refusal, SignedEnvelope};

use super::{
    changes::{StateChange, TurnCounts},
    context::{ActContext, ActResult},
    executor::ActExecutor,
};
use crate::{
    limits::{
        PUBLISHED_BYTES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_TURN_MAX, PUBLISHES_PER_TURN_MAX,
        PUBLISHING_GAS_PER_BYTE,
    },
    rules::{ActTarget, Right},
    state::State,
};

/// A package that enters the sim.
pub(super) struct NewPackage {
    /// The package itself, which keeps all rules.
    pub(super) package: Package,
    /// Its compiled source.
    pub(super) handler: Arc<dyn Handler>,
    /// The packages that leave to make room for it.
    pub(super) leaving: Vec<PackageId>,
}

impl ActExecutor<'_> {
    /// Charges an author for what the sim is asked to compile, whether or not it compiles. Who may not
    /// publish or finds no room is not charged, for then nothing is compiled: a proposer could take an
    /// honest package into a full turn, again and again, until the author's scripts stop.
    pub(super) fn charge_publishing(
        &self,
        state: &mut State,
        act: &SignedEnvelope,
        counts: &mut TurnCounts,
    ) {
        counts.is_paid = false;
        let Act::Publish { source } = act.envelope.act else {
            return;
        };
        let context = ActContext { executor: self, state, envelope: &act.envelope, counts };
        let Some(bytes) = context.publishable(source) else {
            return;
        };
        counts.is_paid = true;
        counts.publishes += 1;
        counts.published_bytes += bytes;
        let author = act.envelope.author;
        state.pay(Some(author), bytes * PUBLISHING_GAS_PER_BYTE, state.clock.tick.plus(1));
    }
}

impl ActContext<'_> {
    /// Decides whether a package enters the sim. One that is there already stays, and is no refusal: two
    /// people may publish the same fork.
    pub(super) fn publish(&self, source: BlobId) -> ActResult {
        let player = StateChange::Player(self.author(), self.renewed_player()?);
        let blob = self.executor.blobs.get(&source).ok_or(Refusal::NoBlob)?;
        let bytes = blob.0.len() as u64;
        if !self.counts.is_paid {
            return Err(Refusal::TooOften);
        }
        let package = Package::decode(&blob.0).map_err(|_| Refusal::BadPackage)?;
        let id = package.id();
        if self.state.packages.contains(&id) {
            return Ok(vec![player]);
        }
        let publications = &self.state.publications;
        let of_late = publications.bytes_of_late(&self.author(), self.state.clock.height);
        if of_late + bytes > PUBLISHED_BYTES_PER_AUTHOR_MAX {
            return Err(Refusal::TooOften);
        }
        let leaving =
            publications.room_for(&self.author(), bytes).ok_or(Refusal::TooManyPackages)?;
        let handler = self.executor.tools.compile(id, &package).map_err(|_| Refusal::BadPackage)?;
        let new = NewPackage { package, handler, leaving };
        Ok(vec![StateChange::Publish(Box::new(new)), player])
    }

    /// Returns the length of a package that its author may have compiled in this turn, or nothing if a rule
    /// refuses that or the turn has no room for it.
    fn publishable(&self, source: BlobId) -> Option<u64> {
        let author = self.author();
        self.state.may(&author, Right::Publish, &ActTarget::SIM).ok()?;
        self.renewed_player().ok()?;
        let bytes = self.executor.blobs.get(&source)?.0.len() as u64;
        let has_room = self.counts.publishes < PUBLISHES_PER_TURN_MAX
            && self.counts.published_bytes + bytes <= PUBLISHED_BYTES_PER_TURN_MAX;
        // Who never paid has all the gas that a player can have.
        let pool = self.state.owners.get(&Some(author));
        let income = self.state.owner_income();
        let has_gas = pool.is_none_or(|pool| pool.level(self.tick(), income) > 0);
        (has_room && has_gas).then_some(bytes)
    }
}
