//! Publishing: decides whether a package of source enters the sim.
//!
//! Compiling is the dearest thing that an act can ask for, so a turn compiles so many bytes and no more,
//! and its author pays for them in gas, even for what does not compile. A package is compiled with all that
//! it imports, and counts as much.

use std::{collections::BTreeSet, sync::Arc};

use metatopia_scripting::{Handler, ImportError, Package};
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

/// What an act asks the sim to compile.
struct PublishingCost {
    /// Bytes of the package, and of the sources that it imports.
    bytes: u64,
    /// The package and its imports.
    packages: usize,
}

/// A package that enters the sim.
pub(super) struct NewPackage {
    /// The package itself, which keeps all rules.
    pub(super) package: Package,
    /// Its length as it is handed out, with that of the sources that it imports.
    pub(super) weight: u32,
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
        let context = ActContext::new(self, state, act, counts);
        let Some(PublishingCost { bytes, packages }) = context.publishable(source) else {
            return;
        };
        let has_room = counts.publishes + packages <= PUBLISHES_PER_TURN_MAX
            && counts.published_bytes + bytes <= PUBLISHED_BYTES_PER_TURN_MAX;
        // What was looked at counts, or else a turn could look at the same package without end.
        counts.publishes += if has_room { packages } else { 1 };
        if !has_room {
            return;
        }
        counts.is_paid = true;
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
        if !self.counts.is_paid {
            return Err(Refusal::TooOften);
        }
        let package = Package::decode(&blob.0).map_err(|_| Refusal::BadPackage)?;
        let id = package.id();
        if self.state.packages.contains(&id) {
            return Ok(vec![player]);
        }
        let linked = self.state.link(&package).map_err(|error| match error {
            ImportError::Missing { package, .. } => Refusal::MissingImport(package),
            _ => Refusal::BadImport,
        })?;
        let bytes = linked.weight() as u64;
        if bytes > PUBLISHED_BYTES_PER_TURN_MAX {
            return Err(Refusal::BadImport);
        }
        let publications = &self.state.publications;
        let of_late = publications.bytes_of_late(&self.author(), self.state.clock.height);
        if of_late + bytes > PUBLISHED_BYTES_PER_AUTHOR_MAX {
            return Err(Refusal::TooOften);
        }
        let imports: BTreeSet<PackageId> = package.imports().collect();
        let leaving = publications.room_for(&self.author(), bytes, &imports);
        let leaving = leaving.ok_or(Refusal::TooManyPackages)?;
        let handler = self.executor.tools.compile(&linked).map_err(|_| Refusal::BadPackage)?;
        let weight = u32::try_from(bytes).expect("less than a turn compiles");
        let new = NewPackage { package, weight, handler, leaving };
        Ok(vec![StateChange::Publish(Box::new(new)), player])
    }

    /// Returns what a package costs that its author may have compiled in this turn, or nothing if a rule
    /// refuses that or the turn has no room for it alone. What cannot be compiled costs its own length.
    fn publishable(&self, source: BlobId) -> Option<PublishingCost> {
        let author = self.author();
        self.state.may(&author, Right::Publish, &ActTarget::SIM).ok()?;
        self.renewed_player().ok()?;
        let blob = self.executor.blobs.get(&source)?;
        let bytes = blob.0.len() as u64;
        let has_room = self.counts.publishes < PUBLISHES_PER_TURN_MAX
            && self.counts.published_bytes + bytes <= PUBLISHED_BYTES_PER_TURN_MAX;
        // Who never paid has all the gas that a player can have.
        let pool = self.state.owners.get(&Some(author));
        let income = self.state.owner_income();
        let has_gas = pool.is_none_or(|pool| pool.level(self.tick(), income) > 0);
        if !has_room || !has_gas {
            return None;
        }
        let alone = PublishingCost { bytes, packages: 1 };
        let Ok(package) = Package::decode(&blob.0) else { return Some(alone) };
        let linked = self.state.link(&package).ok();
        let linked = linked.map(|linked| PublishingCost {
            bytes: linked.weight() as u64,
            packages: linked.count(),
        });
        // What is too much for any turn is refused.
        Some(linked.filter(|all| all.bytes <= PUBLISHED_BYTES_PER_TURN_MAX).unwrap_or(alone))
    }
}
