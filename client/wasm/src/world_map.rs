//! The map of a world, held against the signatures of its land office.

use data_encoding::HEXLOWER;
use metatopia_client::LandOffice;
use metatopia_types::{GenesisHead, LandGrant, Link, SimId, wire};
use serde::{Deserialize, Serialize};

use crate::CallError;

/// Bytes of a genesis head that are read.
const HEAD_BYTES_MAX: usize = 64 * 1_024;

/// Bytes of the changes of validators that are read.
const LINKS_BYTES_MAX: usize = 1 << 20;

/// Proofs of one map that are opened: each takes some signatures.
pub const MAP_PROOFS_MAX: usize = 1_024;

/// Metres of a tile's side.
const TILE_METRES: u32 = 32;

/// A map as a node tells it, in hexadecimal digits.
#[derive(Deserialize)]
struct ToldMap {
    world: String,
    office: String,
    links: String,
    proofs: Vec<String>,
}

/// A square that is granted.
#[derive(Serialize)]
struct MapSquare {
    x: i32,
    y: i32,
    side: u32,
    sim: String,
    holder: String,
    /// The newest height of the sim that the land office has seen; 0 if none.
    shown: u64,
}

impl From<&LandGrant> for MapSquare {
    fn from(grant: &LandGrant) -> Self {
        let tiles = grant.square.side().unwrap_or_default().unsigned_abs();
        Self {
            x: grant.square.x,
            y: grant.square.y,
            side: tiles * TILE_METRES,
            sim: grant.sim.to_string(),
            holder: grant.holder.to_string(),
            shown: grant.shown.0,
        }
    }
}

/// A map that was proved.
#[derive(Serialize)]
struct WorldMap {
    squares: Vec<MapSquare>,
    /// Milliseconds since 1970 of its oldest part; null if it has none.
    oldest: Option<u64>,
}

fn unhex(text: &str) -> Result<Vec<u8>, CallError> {
    HEXLOWER.decode(text.as_bytes()).map_err(CallError::input)
}

/// Opens the proofs of a map. The input is JSON: `world`, `office` (the head of the land office's genesis),
/// `links` (the changes of its validators) and `proofs`, all in hexadecimal digits. The output is JSON.
///
/// # Errors
/// When the input has not that form, is about another world, or does not prove what it shows.
pub fn prove_map(input: &[u8]) -> Result<Vec<u8>, CallError> {
    let told: ToldMap = serde_json::from_slice(input).map_err(CallError::input)?;
    let unproved = |error: &dyn core::fmt::Display| CallError::new("unproved", error);
    if told.proofs.len() > MAP_PROOFS_MAX {
        let text = format_args!("{} proofs, and {MAP_PROOFS_MAX} are opened", told.proofs.len());
        return Err(CallError::input(text));
    }
    let world: SimId = told.world.parse().map_err(CallError::input)?;
    let head: GenesisHead =
        wire::decode(&unhex(&told.office)?, HEAD_BYTES_MAX).map_err(CallError::input)?;
    let links: Vec<Link> =
        wire::decode(&unhex(&told.links)?, LINKS_BYTES_MAX).map_err(CallError::input)?;
    let proofs = told.proofs.iter().map(|proof| unhex(proof)).collect::<Result<Vec<_>, _>>()?;

    let mut office = LandOffice::new(world, head).map_err(|error| unproved(&error))?;
    office.follow(&links).map_err(|error| unproved(&error))?;
    let map = office.prove_map(proofs.iter().map(Vec::as_slice));
    let map = map.map_err(|error| unproved(&error))?;
    let squares = map.grants.iter().map(MapSquare::from).collect();
    let map = WorldMap { squares, oldest: map.oldest.map(|time| time.0) };
    Ok(serde_json::to_vec(&map).expect("texts and numbers become JSON"))
}
