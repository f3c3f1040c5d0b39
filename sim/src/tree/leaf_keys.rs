//! The keys of leaves: a name for each kind, and what comes behind it.

use metatopia_types::{Height, LeafKey, ObjectId, SimId, limits::LEAF_BYTES_MAX};

use super::leaf_table::prefix_text;
use crate::space::Tile;

/// Read before all others.
pub(crate) const ENGINE: &str = "engine";
pub(crate) const CLOCK: &str = "clock";
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const GOVERNANCE: &str = "governance";
pub(crate) const VALIDATORS: &str = "validators";
pub(crate) const FIRST_LOGINS: &str = "first_logins";
pub(crate) const READINESS: &str = "readiness";
pub(crate) const CHAT: &str = "chat";
pub(crate) const PLAYERS: &str = "players";
pub(crate) const WINDOWS: &str = "windows";
/// The shelves of a land office: who holds which square. Cut by the quadtree of the plane.
pub(crate) const GRANTS: &str = metatopia_types::GRANTS_LEAF;
/// What a land office keeps of the sims that have a square.
pub(crate) const GRANTED: &str = "granted";
/// What a land office granted lately.
pub(crate) const LAND: &str = "land";
pub(crate) const HISTORIES: &str = "histories";
pub(crate) const OWNERS: &str = "owners";
pub(crate) const PACKAGES: &str = "packages";
pub(crate) const PUBLICATIONS: &str = "publications";
/// Pieces of packages that are not put together yet.
pub(crate) const PIECES: &str = "pieces";
pub(crate) const CONTACTS: &str = "contacts";
/// What holds bodies together.
pub(crate) const JOINTS: &str = "joints";
/// What the tier keeps that moves the bodies, cut into pieces.
pub(crate) const TIER: &str = "tier";
pub(crate) const SCRIPT: &str = "script";
pub(crate) const TILE: &str = "tile";
/// What a sim keeps of a neighbour, and what it says to it.
pub(crate) const NEIGHBOUR: &str = "neighbour";
/// What is under way to a neighbour.
pub(crate) const PARCEL: &str = "parcel";
/// What somebody put away.
pub(crate) const LUGGAGE: &str = "luggage";
pub(crate) const OUTCOMES: &str = "outcomes";
/// The bodies of a neighbour that stand here near the line.
pub(crate) const GHOSTS: &str = "ghosts";
/// Ground that people took.
pub(crate) const LOTS: &str = "lots";
pub(crate) const ROLES: &str = "roles";
pub(crate) const BANS: &str = "bans";
pub(crate) const MUTES: &str = "mutes";
/// The things that moderators stopped.
pub(crate) const FROZEN: &str = "frozen";
/// The keys that were given up.
pub(crate) const ROTATED: &str = "rotated";
/// What things were before somebody changed them.
pub(crate) const TRACES: &str = "traces";
/// What people told moderators.
pub(crate) const REPORTS: &str = "reports";
/// What people told each other that nobody else can read.
pub(crate) const MAILBOXES: &str = "mailboxes";
/// Whom people named as friends, for a lost key, and the recoveries under way.
pub(crate) const FRIENDS: &str = "friends";
/// The words that servers were told to drop.
pub(crate) const FORGOTTEN: &str = "forgotten";
/// People with channels of their own.
pub(crate) const CLUBS: &str = "clubs";
/// What people say of themselves.
pub(crate) const PROFILES: &str = metatopia_types::PROFILES_LEAF;
/// The pictures of profiles.
pub(crate) const PICTURES: &str = "pictures";
/// What was ordered of late.
pub(crate) const ORDERS: &str = "orders";

/// Returns the name of the table of a tile.
pub(crate) fn tile_table_name(tile: Tile) -> String {
    format!("{TILE}/{},{}", tile.x, tile.y)
}

/// Returns the key of the leaf of a table with this prefix.
pub(crate) fn table_leaf_key(name: &str, prefix: &[u8]) -> LeafKey {
    if prefix.is_empty() {
        return LeafKey(name.to_owned());
    }
    LeafKey(format!("{name}/{}", prefix_text(prefix)))
}

/// Returns the tile whose name is `x,y`.
pub(super) fn tile_named(name: &str) -> Option<Tile> {
    let (x, y) = name.split_once(',')?;
    Some(Tile { x: x.parse().ok()?, y: y.parse().ok()? })
}

/// Returns the digits of a leaf's prefix, one per byte.
pub(super) fn prefix_digits(prefix: &str) -> Option<Vec<u8>> {
    prefix.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect()
}

/// Returns the key of the leaf with the outcomes of one turn.
pub(crate) fn outcomes_key(height: Height) -> LeafKey {
    LeafKey(format!("{OUTCOMES}/{height}"))
}

/// Returns the key of the leaf with what a sim keeps of a neighbour.
pub(crate) fn known_key(neighbour: SimId) -> LeafKey {
    LeafKey(format!("{NEIGHBOUR}/{neighbour}/known"))
}

/// Returns the key of the leaf with a parcel that is under way to a neighbour.
pub(crate) fn parcel_key(neighbour: SimId, number: u64) -> LeafKey {
    LeafKey(format!("{PARCEL}/{neighbour}/{number}"))
}

/// Returns the key of the leaf with a thing that is in luggage.
pub(crate) fn luggage_key(id: ObjectId) -> LeafKey {
    LeafKey(format!("{LUGGAGE}/{id}"))
}

/// Returns the thing of a leaf with luggage.
pub(crate) fn luggage_named(key: &LeafKey) -> Option<ObjectId> {
    let (_, id) = key.0.split_once('/')?;
    let id = ObjectId(id.parse().ok()?);
    (luggage_key(id) == *key).then_some(id)
}

/// Returns the key of the leaf with the ghosts of a neighbour's bodies.
pub(crate) fn ghosts_key(neighbour: SimId) -> LeafKey {
    LeafKey(format!("{GHOSTS}/{neighbour}"))
}

/// Returns the key of a piece of the state of the tier.
pub(crate) fn tier_key(piece: usize) -> LeafKey {
    LeafKey(format!("{TIER}/{piece:04}"))
}

/// Returns how many leaves so many bytes of the state of the tier have.
pub(crate) const fn tier_leaves(bytes: usize) -> usize {
    bytes.div_ceil(LEAF_BYTES_MAX)
}

/// Returns the neighbour and the number of a parcel's leaf.
pub(crate) fn parcel_named(key: &LeafKey) -> Option<(SimId, u64)> {
    let (_, rest) = key.0.split_once('/')?;
    let (sim, number) = rest.split_once('/')?;
    Some((sim.parse().ok()?, number.parse().ok()?))
}

/// Returns the neighbour of a leaf that is about one.
pub(crate) fn neighbour_named(key: &LeafKey) -> Option<SimId> {
    key.0.split('/').nth(1)?.parse().ok()
}
