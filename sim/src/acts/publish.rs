//! Publishing: decides whether a package of source enters the sim.
//!
//! Compiling is the dearest thing that an act can ask for, so a turn compiles so many bytes and no more,
//! and its author pays for them in gas, even for what does not compile. A package is compiled with all that
//! it imports, and counts as much.
//!
//! A package that is too long for one act comes in pieces, which count where bytes are counted, and are not
//! compiled. Another act puts them together. Only the entry is compiled of a package, so that act asks a turn
//! for no more than others do.

use std::{collections::BTreeSet, sync::Arc};

use metatopia_scripting::{Handler, ImportError, LinkedPackage, Package};
use metatopia_types::{
    Act, BlobId, PackageId, Refusal, SignedEnvelope, limits::PACKAGE_PIECE_BYTES_MAX,
};

use super::{
    changes::{StateChange, TurnCounts},
    context::{ActContext, ActResult},
    executor::ActExecutor,
};
use crate::{
    limits::{
        PIECES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_TURN_MAX,
        PUBLISHES_PER_TURN_MAX, PUBLISHING_GAS_PER_BYTE,
    },
    rules::{ActTarget, Right},
    state::{PackagePiece, State},
};

/// What an act asks the sim to take in or to compile.
#[derive(Clone, Copy)]
struct PublishingCost {
    /// Bytes of the package, and of the sources that it imports.
    bytes: u64,
    /// The package and its imports.
    packages: usize,
    /// Whether it is compiled, for which its author pays.
    compiled: bool,
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
    /// The pieces of its author that it was put together from.
    pub(super) pieces: Vec<BlobId>,
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
        let context = ActContext::new(self, state, act, counts);
        let Some(PublishingCost { bytes, packages, compiled }) = context.publishing_cost() else {
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
        if compiled {
            let author = act.envelope.author;
            state.pay(Some(author), bytes * PUBLISHING_GAS_PER_BYTE, state.clock.tick.plus(1));
        }
    }
}

impl ActContext<'_> {
    /// Decides whether a package enters the sim that came whole.
    pub(super) fn publish(&self, source: BlobId) -> ActResult {
        self.renewed_player()?;
        let blob = self.executor.blobs.get(&source).ok_or(Refusal::NoBlob)?;
        if !self.counts.is_paid {
            return Err(Refusal::TooOften);
        }
        let weight = |linked: &LinkedPackage<'_>| linked.weight() as u64;
        self.enter(&blob.0, &[], weight)
    }

    /// Decides whether a package enters the sim whose pieces the author published before.
    pub(super) fn assemble(&self, pieces: &[BlobId]) -> ActResult {
        self.renewed_player()?;
        if pieces.len() > PIECES_PER_AUTHOR_MAX {
            return Err(Refusal::BadPackage);
        }
        let bytes = self.state.pieces.joined(self.author(), pieces);
        let bytes = bytes.map_err(Refusal::MissingPiece)?;
        if !self.counts.is_paid {
            return Err(Refusal::TooOften);
        }
        self.enter(&bytes, pieces, compiled_bytes)
    }

    /// Decides whether a package enters the sim, of which a turn compiles so much. One that is there already stays, and
    /// is no refusal: two people may publish the same fork.
    fn enter(
        &self,
        bytes: &[u8],
        pieces: &[BlobId],
        compiled: impl Fn(&LinkedPackage<'_>) -> u64,
    ) -> ActResult {
        let player = StateChange::Player(self.author(), self.renewed_player()?);
        let package = Package::decode(bytes).map_err(|_| Refusal::BadPackage)?;
        if self.state.packages.contains(&package.id()) {
            return Ok(vec![player]);
        }
        let linked = self.state.link(&package).map_err(|error| match error {
            ImportError::Missing { package, .. } => Refusal::MissingImport(package),
            _ => Refusal::BadImport,
        })?;
        let weight = linked.weight() as u64;
        if compiled(&linked) > PUBLISHED_BYTES_PER_TURN_MAX
            || weight > PUBLISHED_BYTES_PER_AUTHOR_MAX
        {
            return Err(Refusal::BadImport);
        }
        let imports: BTreeSet<PackageId> = package.imports().collect();
        let leaving = self.room_to_publish(weight, pieces, &imports)?;
        let handler = self.executor.tools.compile(&linked).map_err(|_| Refusal::BadPackage)?;
        let weight = u32::try_from(weight).expect("less than an author publishes in a minute");
        let new = NewPackage { package, weight, handler, leaving, pieces: pieces.to_vec() };
        Ok(vec![StateChange::Publish(Box::new(new)), player])
    }

    /// Decides whether a piece of a package comes into the sim. One that is there already stays.
    pub(super) fn publish_piece(&self, piece: BlobId) -> ActResult {
        let author = self.author();
        let player = StateChange::Player(author, self.renewed_player()?);
        let blob = self.executor.blobs.get(&piece).ok_or(Refusal::NoBlob)?;
        if blob.0.is_empty() || blob.0.len() > PACKAGE_PIECE_BYTES_MAX {
            return Err(Refusal::BadPackage);
        }
        let pieces = &self.state.pieces;
        if pieces.all.contains(&(author, piece)) {
            return Ok(vec![player]);
        }
        if !self.counts.is_paid || !pieces.has_room_for(&author) {
            return Err(Refusal::TooOften);
        }
        // What would leave for the package stays until it is put together.
        self.room_to_publish(blob.0.len() as u64, &[], &BTreeSet::new())?;
        let height = self.state.clock.height;
        let new = PackagePiece { height, bytes: blob.0.clone() };
        Ok(vec![StateChange::Piece(piece, Box::new(new)), player])
    }

    /// Returns the packages that leave so that the author can publish so many bytes more, in the place of these
    /// pieces.
    ///
    /// # Errors
    /// When the author published as much as one may of late, or what runs leaves no room.
    fn room_to_publish(
        &self,
        bytes: u64,
        pieces: &[BlobId],
        imports: &BTreeSet<PackageId>,
    ) -> Result<Vec<PackageId>, Refusal> {
        let author = self.author();
        let State { publications, pieces: all, clock, .. } = self.state;
        let named: BTreeSet<BlobId> = pieces.iter().copied().collect();
        let of_named =
            |id: &BlobId| all.all.get(&(author, *id)).map_or(0, |piece| piece.bytes.len());
        let replaced: usize = named.iter().map(of_named).sum();
        let bytes = bytes + all.bytes_of(&author) - replaced as u64;
        let of_late = publications.bytes_of_late(&author, clock.height);
        if of_late + bytes > PUBLISHED_BYTES_PER_AUTHOR_MAX {
            return Err(Refusal::TooOften);
        }
        publications.room_for(&author, bytes, imports).ok_or(Refusal::TooManyPackages)
    }

    /// Returns what the act costs if it publishes something and its author may do so in this turn. Returns `None` if a
    /// rule refuses that, or the turn has no room for it alone.
    fn publishing_cost(&self) -> Option<PublishingCost> {
        match &self.envelope.act {
            Act::Publish { source } => {
                let bytes = &self.executor.blobs.get(source)?.0;
                let weight = |linked: &LinkedPackage<'_>| linked.weight() as u64;
                self.compiling_cost(bytes, bytes.len() as u64, weight)
            }
            Act::PublishPiece { piece } => {
                let bytes = self.executor.blobs.get(piece)?.0.len() as u64;
                let cost = PublishingCost { bytes, packages: 1, compiled: false };
                self.may_publish(cost).then_some(cost)
            }
            Act::Assemble { pieces } if pieces.len() <= PIECES_PER_AUTHOR_MAX => {
                let bytes = self.state.pieces.joined(self.author(), pieces).ok()?;
                // Whether it is a package or not: reading it is as much work as that of the longest other one.
                self.compiling_cost(&bytes, PUBLISHED_BYTES_PER_TURN_MAX, compiled_bytes)
            }
            _ => None,
        }
    }

    /// Returns what it costs to compile a package of these bytes, of which a turn compiles so much. What cannot be
    /// compiled costs what it does `unread`.
    fn compiling_cost(
        &self,
        bytes: &[u8],
        unread: u64,
        compiled: impl Fn(&LinkedPackage<'_>) -> u64,
    ) -> Option<PublishingCost> {
        let alone = PublishingCost { bytes: unread, packages: 1, compiled: true };
        if !self.may_publish(alone) {
            return None;
        }
        let Ok(package) = Package::decode(bytes) else { return Some(alone) };
        let linked = self.state.link(&package).ok();
        let linked = linked.map(|linked| PublishingCost {
            bytes: compiled(&linked),
            packages: linked.count(),
            compiled: true,
        });
        // What is too much for any turn is refused.
        Some(linked.filter(|all| all.bytes <= PUBLISHED_BYTES_PER_TURN_MAX).unwrap_or(alone))
    }

    /// Says whether the author may publish, has gas, and finds room for so much in the turn.
    fn may_publish(&self, cost: PublishingCost) -> bool {
        let author = self.author();
        let has_right = self.state.may(&author, Right::Publish, &ActTarget::SIM).is_ok();
        let has_room = self.counts.publishes < PUBLISHES_PER_TURN_MAX
            && self.counts.published_bytes + cost.bytes <= PUBLISHED_BYTES_PER_TURN_MAX;
        // Who never paid has all the gas that a player can have.
        let pool = self.state.owners.get(&Some(author));
        let income = self.state.owner_income();
        let has_gas = pool.is_none_or(|pool| pool.level(self.tick(), income) > 0);
        has_right && self.renewed_player().is_ok() && has_room && has_gas
    }
}

/// Returns how many bytes a turn compiles of a package that was put together from pieces. What else is in it came in
/// earlier turns.
fn compiled_bytes(linked: &LinkedPackage<'_>) -> u64 {
    linked.compiled_bytes() as u64
}
