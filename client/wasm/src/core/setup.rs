//! What a core begins with, and what it tells of that.

use std::time::Duration;

use data_encoding::BASE64;
use metatopia_client::{TrustCheckpoint, keys::parse_rotation, text::falls};
use metatopia_math::Vec2;
use metatopia_sim::{FloorPlan, Genesis, Introduction, Sector, SectorOpening, picture_kind};
use metatopia_types::{Digest, Lane, Rotation, SigningKey, SimId};
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
    /// 32 random bytes for private words, in hexadecimal digits.
    random: String,
    ticket: Option<String>,
    /// The line of a rotation that led to this key.
    rotation: Option<String>,
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
    pub(super) random: [u8; 32],
    pub(super) ticket: Option<SigningKey>,
    pub(super) rotation: Option<Rotation>,
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
        let Digest(random) = text.random.parse().map_err(CallError::input)?;
        let key = secret(&text.secret)?;
        let public = metatopia_types::Sign::public(&key);
        let rotation = text.rotation.and_then(|line| parse_rotation(line.as_bytes()));
        Ok(Self {
            random,
            // One that leads elsewhere is of an earlier key of this browser.
            rotation: rotation.filter(|rotation| rotation.new == public),
            key,
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

/// Returns what a sim says of itself, with the picture as the content of a `data:` address.
fn introduction(genesis: &Genesis) -> Value {
    let Introduction { description, tags, .. } = &genesis.introduction;
    let picture = picture_kind(&genesis.picture).ok().map(|kind| {
        let kind = if kind == "jpg" { "jpeg" } else { kind };
        format!("data:image/{kind};base64,{}", BASE64.encode(&genesis.picture))
    });
    // The land office of a world lies in its own.
    let own = genesis.office.as_ref().map(|_| genesis.id());
    let world = genesis.site.map(|site| site.world).or(own).map(|world| world.to_string());
    let mut told = house_rules(&genesis.introduction);
    told["world"] = world.into();
    told["description"] = description.as_str().into();
    told["tags"] = json!(tags);
    told["picture"] = picture.into();
    told["falls"] = falls(genesis.parameters.gravity).into();
    told
}

/// Returns what a person agrees to before entering, and the digest by which the page asks again if a sim has
/// other words.
pub(super) fn house_rules(introduction: &Introduction) -> Value {
    let digest = introduction.house_rules_digest().map(|digest| digest.to_string());
    json!({ "houseRules": introduction.house_rules, "houseRulesDigest": digest })
}

/// Returns the rooms and openings, in metres.
fn floor_plan(plan: &FloorPlan) -> Value {
    let point = |at: &Vec2| json!({ "x": from_fx(at.x), "y": from_fx(at.y) });
    let sector = |sector: &Sector| {
        let corners: Vec<Value> = sector.corners.iter().map(point).collect();
        json!({
            "name": sector.name, "corners": corners, "floor": sector.floor,
            "light": sector.light, "sound": sector.sound.name(),
        })
    };
    let opening = |opening: &SectorOpening| {
        let joins: Vec<usize> = plan.joins(opening).collect();
        json!({ "from": point(&opening.from), "to": point(&opening.to), "joins": joins })
    };
    json!({
        "sectors": plan.sectors.iter().map(sector).collect::<Vec<Value>>(),
        "openings": plan.openings.iter().map(opening).collect::<Vec<Value>>(),
    })
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
        "introduction": introduction(genesis),
        "floorPlan": floor_plan(&genesis.floor_plan),
        "admins": keys(&mut genesis.admins.iter().map(ToString::to_string)),
        "validators": validators,
        "packages": sources::shipped(genesis),
    })
}
