//! Publishing: decides whether a package of source enters the sim.
//!
//! Compiling is the dearest thing that an act can ask for, so a turn compiles so many bytes and no more,
//! and its author pays for them in gas, even for what does not compile.

use std::sync::Arc;

use metatopia_scripting::{Handler, Package};
use metatopia_types::{Act, BlobId, PackageId, PublicKey, Refusal, SignedEnvelope};

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
    /// Charges an author for what the sim is asked to compile, whether or not it does.
    pub(super) fn charge_publishing(
        &self,
        state: &mut State,
        act: &SignedEnvelope,
        counts: &mut TurnCounts,
    ) {
        let Act::Publish { source } = act.envelope.act else {
            return;
        };
        let author = act.envelope.author;
        let Some(bytes) = self.blobs.get(&source).map(|blob| blob.0.len() as u64) else {
            return;
        };
        // Whoever is no player has no gas, and is refused before anything is compiled.
        if state.players.contains(&author) {
            counts.publishes = counts.publishes.saturating_add(1);
            counts.published_bytes = counts.published_bytes.saturating_add(bytes);
            state.pay(Some(author), bytes * PUBLISHING_GAS_PER_BYTE, state.clock.tick.plus(1));
        }
    }
}

impl ActContext<'_> {
    /// Decides whether a package enters the sim. One that is there already stays, and is no refusal: two
    /// people may publish the same fork.
    pub(super) fn publish(&self, source: BlobId) -> ActResult {
        let player = StateChange::Player(self.author(), self.renewed_player()?);
        let blob = self.executor.blobs.get(&source).ok_or(Refusal::NoBlob)?;
        let bytes = blob.0.len() as u64;
        // Its own bytes are among the counted ones, and its gas is paid.
        if self.counts.publishes > PUBLISHES_PER_TURN_MAX
            || self.counts.published_bytes > PUBLISHED_BYTES_PER_TURN_MAX
            || self.gas_before(&self.author(), bytes) <= 0
        {
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

    /// Returns the gas that an author had before so many bytes were charged.
    fn gas_before(&self, author: &PublicKey, bytes: u64) -> i64 {
        let charge = i64::try_from(bytes * PUBLISHING_GAS_PER_BYTE).unwrap_or(i64::MAX);
        let pool = self.state.owners.get(&Some(*author)).expect("a charged author has a pool");
        pool.level(self.tick(), self.state.owner_income()).saturating_add(charge)
    }
}
