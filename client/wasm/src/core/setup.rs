//! What a core begins with, and what it tells of that.

use std::time::Duration;

use metatopia_client::TrustCheckpoint;
use metatopia_math::Vec2;
use metatopia_sim::Genesis;
use metatopia_types::{Digest, Lane, SigningKey, SimId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    sources,
    units::{PageNumber, from_fx, to_vec},
};
use crate::CallError;

/// A newer checkpoint is told of after this long, and whenever other servers vote.
pub const CORE_CHECKPOINT_AGAIN: Duration = Duration::from_secs(60);

/// What the page says when it begins, as JSON.
#[derive(Deserialize)]
struct SetupText {
    secret: String,
    sim: String,
    lane: String,
    ticket: Option<String>,
    at: Option<SetupPlace>,
    checkpoint: Option<String>,
}

/// Where to look while there is no avatar.
#[derive(Deserialize)]
struct SetupPlace {
    x: PageNumber,
    y: PageNumber,
}

/// The same, understood.
pub(super) struct CoreSetup {
    pub(super) key: SigningKey,
    pub(super) sim: SimId,
    pub(super) lane: Lane,
    pub(super) ticket: Option<SigningKey>,
    pub(super) at: Option<Vec2>,
    pub(super) checkpoint: Option<TrustCheckpoint>,
}

impl CoreSetup {
    pub(super) fn read(text: &[u8]) -> Result<Self, CallError> {
        let text: SetupText = serde_json::from_slice(text).map_err(CallError::input)?;
        let sim: SimId = text.sim.parse().map_err(CallError::input)?;
        let far = || CallError::input("a place that is none");
        let at = text.at.map(|at| to_vec(at.x, at.y).ok_or_else(far)).transpose()?;
        let wrong = |error| CallError::new("checkpoint", error);
        let checkpoint = text.checkpoint.map(|text| text.parse().map_err(wrong)).transpose()?;
        if checkpoint.is_some_and(|checkpoint: TrustCheckpoint| checkpoint.sim != sim) {
            return Err(CallError::new("checkpoint", "the checkpoint is of another sim"));
        }
        Ok(Self {
            key: secret(&text.secret)?,
            sim,
            lane: Lane(text.lane.parse().map_err(CallError::input)?),
            ticket: text.ticket.as_deref().map(secret).transpose()?,
            at,
            checkpoint,
        })
    }
}

fn secret(text: &str) -> Result<SigningKey, CallError> {
    let Digest(seed) = text.parse().map_err(CallError::input)?;
    Ok(SigningKey::from_seed(seed))
}

/// Returns what the page needs to know of a sim's beginning.
pub(super) fn genesis_event(genesis: &Genesis) -> Value {
    let parameters = &genesis.parameters;
    let avatar = &parameters.avatar;
    let keys = |keys: &mut dyn Iterator<Item = String>| keys.collect::<Vec<String>>();
    let validators: Vec<Value> = genesis
        .validators
        .keys()
        .map(|key| json!({ "key": key.to_string(), "power": 1 }))
        .collect();
    json!({
        "type": "genesis",
        "name": genesis.name,
        "engine": genesis.engine,
        "ticksPerTurn": parameters.ticks_per_turn,
        "avatar": {
            "radius": from_fx(avatar.radius), "speed": from_fx(avatar.speed),
            "acceleration": from_fx(avatar.acceleration), "reach": from_fx(avatar.reach),
            "spawn": { "x": from_fx(avatar.spawn.x), "y": from_fx(avatar.spawn.y) },
        },
        "hearing": from_fx(parameters.hearing),
        "admins": keys(&mut genesis.admins.iter().map(ToString::to_string)),
        "validators": validators,
        "packages": sources::shipped(genesis),
    })
}
