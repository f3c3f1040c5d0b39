//! A world for measurements, and the time that a thread has computed.
#![allow(dead_code, unused_imports, reason = "each example uses a part of it")]

#[path = "clock.rs"]
mod clock;
#[path = "crowd.rs"]
mod crowd;

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    AlongRay, Call, Draft, Event, Handler, Nearby, ObjectView, ObjectWrites, Package,
    PackageAuthor, ScriptError, ScriptOutput, ScriptState, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{
    AssetLicence, Digest, ObjectId, Origin, Permission, PublicKey, ScriptId, SimId, Tick,
};

pub(crate) use clock::{computed, least, mean};
pub(crate) use crowd::OBJECTS;

/// The person of the crowd, who allows everything.
const ADA: ObjectId = ObjectId(OBJECTS - 1);

/// What object 1 has spawned.
const APPLE: ObjectId = ObjectId(OBJECTS - 2);

/// A thing that can be joined to others.
const CRATE: ObjectId = ObjectId(OBJECTS - 3);

/// A crowd that stands still while it is measured.
pub(crate) struct Crowd {
    objects: Vec<(Vec2, Vec2)>,
}

impl Crowd {
    pub(crate) fn new() -> Self {
        let objects = crowd::crowd().into_iter().map(|numbers| {
            let [x, y, vx, vy] = numbers.map(Fx::from_bits);
            (Vec2::new(x, y), Vec2::new(vx, vy))
        });
        Self { objects: objects.collect() }
    }
}

impl WorldView for Crowd {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        let (pos, velocity) = *self.objects.get(usize::try_from(id.0).ok()?)?;
        Some(ObjectView {
            origin: Origin { sim: SimId(Digest::ZERO), number: id },
            name: crowd::NAME,
            kind: "disc",
            pos,
            angle: Angle::ZERO,
            velocity,
            spin: Fx::ZERO,
            color: 0,
            text: "",
            sensor: false,
            licence: AssetLicence::Cc0,
            player: (id == ADA).then_some(PublicKey([7; 32])),
            owner: None,
            spawner: (id == APPLE).then_some(ObjectId(1)),
        })
    }

    fn nearby(&self, center: Vec2, _: Fx, _: u32) -> Nearby {
        let objects = crowd::neighbours(center.x.to_bits()).map(ObjectId).to_vec();
        Nearby { objects, looked: 5 }
    }

    fn named(&self, _: ObjectId, name: &str, _: u32) -> Nearby {
        let found = match name {
            "ada" => ADA,
            "apple" => APPLE,
            _ => CRATE,
        };
        Nearby { objects: vec![found], looked: 5 }
    }

    fn allows(&self, _: ObjectId, who: ObjectId, _: Permission) -> bool {
        who == ADA
    }

    fn along_ray(&self, _: Vec2, _: Vec2, _: ObjectId) -> AlongRay {
        AlongRay::default()
    }

    fn tick(&self) -> Tick {
        Tick(60 * u64::from(crowd::NOW))
    }

    fn seed(&self) -> Digest {
        Digest([7; 32])
    }
}

pub(crate) fn package(source: &str) -> Package {
    let draft = Draft {
        name: "measured".into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files: BTreeMap::from([("main.rhai".into(), source.into())]),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
        ..Draft::default()
    };
    Package::build(draft).expect("the source of a measurement is in order")
}

/// Runs one event on one object.
pub(crate) fn run(
    view: &Arc<dyn WorldView>,
    handler: &dyn Handler,
    event: &Event,
    object: u64,
    state: &Arc<ScriptState>,
) -> Result<ScriptOutput, ScriptError> {
    handler.call(&Call {
        view,
        script: ScriptId(1),
        object: ObjectId(object),
        index: 0,
        event,
        state,
        own: &ObjectWrites::default(),
        gas: GAS_PER_CALL_MAX,
    })
}
