//! A world for measurements, and the time that a thread has computed.
#![allow(dead_code, reason = "each example uses a part of it")]

use std::{collections::BTreeMap, sync::Arc};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    AlongRay, Call, Draft, Event, Handler, Nearby, ObjectView, ObjectWrites, Package,
    PackageAuthor, ScriptError, ScriptOutput, ScriptState, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{
    AssetLicence, Digest, ObjectId, Origin, Permission, PublicKey, ScriptId, SimId, Tick,
};

/// Objects of the world; each has five others near it.
pub(crate) const OBJECTS: u64 = 1_000;

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
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = |end: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            Fx::from_bits(i64::try_from(state % (end << 32)).expect("below 2^35"))
        };
        let four = Fx::from_int(4);
        let objects = (0..OBJECTS).map(|_| {
            let pos = Vec2::new(draw(8), draw(8));
            let velocity = Vec2::new(draw(8).saturating_sub(four), draw(8).saturating_sub(four));
            (pos, velocity)
        });
        Self { objects: objects.collect() }
    }
}

impl WorldView for Crowd {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        let (pos, velocity) = *self.objects.get(usize::try_from(id.0).ok()?)?;
        Some(ObjectView {
            origin: Origin { sim: SimId(Digest::ZERO), number: id },
            name: "disc",
            kind: "disc",
            pos,
            angle: Angle::ZERO,
            velocity,
            spin: Fx::ZERO,
            color: 0,
            text: "",
            licence: AssetLicence::Cc0,
            player: (id == ADA).then_some(PublicKey([7; 32])),
            owner: None,
            spawner: (id == APPLE).then_some(ObjectId(1)),
        })
    }

    fn nearby(&self, center: Vec2, _: Fx, _: u32) -> Nearby {
        let first = center.x.to_bits().unsigned_abs();
        let objects = (0..5).map(|k| ObjectId((first + 1 + k * 7) % OBJECTS)).collect();
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
        Tick(60)
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

/// Nanoseconds that this thread has computed: other work on the machine does not count.
#[expect(clippy::disallowed_methods, reason = "an example measures, and is no part of the crate")]
pub(crate) fn computed() -> u64 {
    // What a thread has computed is added up when it gives the processor away.
    std::thread::yield_now();
    let text = std::fs::read("/proc/thread-self/schedstat").expect("Linux counts it");
    let text = String::from_utf8(text).expect("it is text");
    let first = text.split_whitespace().next().expect("it has three numbers");
    first.parse().expect("the first is the time")
}

/// The least time of several, in nanoseconds, that `work` takes once, done so many times in a row.
pub(crate) fn least(rounds: u32, times: u64, mut work: impl FnMut(u64)) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..rounds {
        let start = computed();
        (0..times).for_each(&mut work);
        least = least.min((computed() - start) / times);
    }
    least
}
