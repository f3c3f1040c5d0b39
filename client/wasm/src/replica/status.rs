//! How a replica stands, as the page shows it.

use metatopia_sim::World;
use serde::Serialize;

use super::follower::TurnFollower;

/// What a replica does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientPhase {
    /// It follows changes of the validators.
    Links,
    /// It fetches a snapshot.
    Snapshot,
    /// It applies turns.
    Following,
    /// Its own state is another one than the certified one. It stops.
    Mismatch,
}

/// How a replica stands. Roots are hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientStatus {
    /// What it does.
    pub phase: ClientPhase,
    /// The height of the own state.
    pub height: u64,
    /// The tick of the own state.
    pub tick: u64,
    /// The root of the own state.
    pub root: String,
    /// The newest height whose root was compared; 0 before the first.
    pub checked: u64,
    /// The own root after that height.
    pub own_root: Option<String>,
    /// The root that a certified header states for it.
    pub stated_root: Option<String>,
    /// The newest decided height that was heard of.
    pub decided: u64,
    /// Bytes of a snapshot that have come.
    pub received: u64,
    /// Bytes that it has.
    pub bytes: u64,
}

impl ClientStatus {
    pub(super) fn waiting(phase: ClientPhase, world: &World) -> Self {
        Self {
            phase,
            height: world.height().0,
            tick: world.tick().0,
            root: world.root().to_string(),
            checked: 0,
            own_root: None,
            stated_root: None,
            decided: 0,
            received: 0,
            bytes: 0,
        }
    }

    pub(super) fn following(follower: &TurnFollower) -> Self {
        let compared = follower.mismatch().or(follower.checked());
        let phase = if follower.mismatch().is_some() {
            ClientPhase::Mismatch
        } else {
            ClientPhase::Following
        };
        Self {
            checked: compared.map_or(0, |compared| compared.of.0),
            own_root: compared.map(|compared| compared.own.to_string()),
            stated_root: compared.map(|compared| compared.stated.to_string()),
            decided: follower.decided().0,
            ..Self::waiting(phase, follower.world())
        }
    }
}

/// What a frame brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Followed {
    /// How the replica stands now.
    pub status: ClientStatus,
    /// So many turns were applied.
    pub applied: u64,
}

/// What to ask a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum ClientRequest {
    /// It asks `Question::Links`.
    Links {
        /// Changes after this height.
        after: u64,
    },
    /// It asks `Question::Snapshot`.
    Snapshot,
    /// It asks `Question::SnapshotPart`.
    Part {
        /// The height of the snapshot.
        height: u64,
        /// Counted from 0.
        part: u32,
    },
    /// It asks `Question::Turns`.
    Turns {
        /// The first missing height.
        from: u64,
    },
}
