//! The golden log: an afternoon on the plaza, recorded turn by turn, and the roots that every build
//! on every machine must come to. Whoever replays it to other roots must not serve a sim.
//!
//! The log is made by `cargo run -p metatopia-scenarios --example record_golden`; whatever changes
//! what a turn does, or a file of the plaza, makes it anew, and is a change of the rules.

mod roots;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_sim::{ForkJoin, Genesis, GenesisError, Tools, TurnFault, World, judge_turn};
use metatopia_types::{
    Ed25519, Height, NodeContact, Root, Sign, SigningKey, Turn, limits::ROOT_LAG,
    limits::TURN_BYTES_MAX, wire,
};

use crate::plaza;
pub use roots::ROOTS;

/// Each turn in its canonical encoding, after its length in four bytes, lowest first.
const LOG: &[u8] = include_bytes!("../../tests/golden/plaza.log");

/// Why the golden log is not what this build makes of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldenError {
    /// This build does not accept the genesis.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// The log is cut off or malformed.
    #[error("the log is malformed at byte {0}")]
    Malformed(usize),
    /// This build would not agree to a turn.
    #[error("turn {height} is void: {fault}")]
    Void {
        /// The height of the turn.
        height: Height,
        /// Why the turn is unsound.
        fault: TurnFault,
    },
    /// A turn's header does not state what this build makes of the turns before.
    #[error("the header of turn {0} states another history")]
    OtherHistory(Height),
    /// This build makes another state of the turns.
    #[error("the root after turn {height} is {found}, not {expected}")]
    OtherRoot {
        /// After which turn.
        height: Height,
        /// What this build makes of it.
        found: Root,
        /// What everybody else does.
        expected: String,
    },
    /// The log ends before the last of the [`ROOTS`].
    #[error("the log ends at turn {0}")]
    Short(Height),
}

/// The key of a validator of the golden plaza, 0 to 3.
#[must_use]
pub fn server_key(index: u8) -> SigningKey {
    SigningKey::from_seed([200_u8.saturating_add(index); 32])
}

/// The key of a visitor of the golden plaza; visitor 0 is the admin.
#[must_use]
pub fn visitor_key(index: u8) -> SigningKey {
    SigningKey::from_seed([index.saturating_add(1); 32])
}

/// The plaza of the log: four servers and one admin.
#[must_use]
pub fn genesis() -> Genesis {
    let contact = |index: u8| NodeContact {
        peer_id: format!("golden-{index}"),
        address: format!("/ip4/127.0.0.1/tcp/{}", 9_000 + u16::from(index)),
    };
    let validators: BTreeMap<_, _> =
        (0..4).map(|index| (server_key(index).public(), contact(index))).collect();
    plaza::genesis(validators, BTreeSet::from([visitor_key(0).public()]))
}

/// The log as it is in its file.
#[must_use]
pub const fn log() -> &'static [u8] {
    LOG
}

/// The turns of the log.
///
/// # Errors
/// When the log is malformed.
pub fn turns() -> Result<Vec<Turn>, GoldenError> {
    let (mut turns, mut rest) = (Vec::new(), LOG);
    while !rest.is_empty() {
        let malformed = || GoldenError::Malformed(LOG.len() - rest.len());
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(malformed)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (bytes, after) = after.split_at_checked(length).ok_or_else(malformed)?;
        turns.push(wire::decode(bytes, TURN_BYTES_MAX).map_err(|_| malformed())?);
        rest = after;
    }
    Ok(turns)
}

/// Replays the whole log: judges each turn, applies it, and compares what headers and [`ROOTS`]
/// say.
/// `after` is called with the world after each turn, and at the beginning.
///
/// # Errors
/// The first thing that is not as it should be.
pub fn replay(exec: &dyn ForkJoin, mut after: impl FnMut(&World)) -> Result<Root, GoldenError> {
    let mut world = World::genesis(&genesis(), &Tools::new(Arc::new(Ed25519)))?;
    let expected: BTreeMap<Height, &str> = ROOTS.into_iter().collect();
    let mut roots = vec![check(&expected, &world)?];
    after(&world);
    for turn in turns()? {
        let height = turn.header.height;
        judge_turn(world.sim(), &turn, world.windows(), &world, &Ed25519)
            .map_err(|fault| GoldenError::Void { height, fault })?;
        let lagging = roots.len().saturating_sub(ROOT_LAG as usize);
        let set = |height| world.validators(height).map(metatopia_types::ValidatorSet::id);
        let as_stated = turn.check_body().is_ok()
            && roots.get(lagging) == Some(&turn.header.root)
            && set(height) == Some(turn.header.validators)
            && set(height.plus(1)) == Some(turn.header.next_validators);
        if !as_stated {
            return Err(GoldenError::OtherHistory(height));
        }
        world.apply(&turn, exec);
        roots.push(check(&expected, &world)?);
        after(&world);
    }
    let last = ROOTS.map(|(height, _)| height).into_iter().max();
    if last > Some(world.height()) {
        return Err(GoldenError::Short(world.height()));
    }
    Ok(world.root())
}

fn check(expected: &BTreeMap<Height, &str>, world: &World) -> Result<Root, GoldenError> {
    let (height, found) = (world.height(), world.root());
    match expected.get(&height) {
        Some(expected) if *expected != found.to_string() => {
            Err(GoldenError::OtherRoot { height, found, expected: (*expected).to_owned() })
        }
        _ => Ok(found),
    }
}
