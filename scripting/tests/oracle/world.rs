//! The small world that programs see: the own object and three others near it.

use std::sync::Arc;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{AlongRay, Call, Nearby, ObjectView, ScriptOutput, WorldView};
use metatopia_types::{AssetLicence, Digest, ObjectId, Origin, SimId, Tick};

use crate::starting::call_in;

/// Names of the objects, whose numbers follow one another from 1 on; the first is the own one.
const NAMES: [&str; 4] = ["bell", "crate", "Ada", "post"];

/// A few things in a row, 2 m apart.
struct RowOfThings;

impl WorldView for RowOfThings {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        let place = usize::try_from(id.0).ok()?.checked_sub(1)?;
        let name = NAMES.get(place)?;
        let along = Fx::checked_from_int(2 * i64::try_from(place).ok()?)?;
        Some(ObjectView {
            origin: Origin { sim: SimId(Digest([3; 32])), number: id },
            name,
            kind: if *name == "Ada" { "avatar" } else { "thing" },
            pos: Vec2::new(along, Fx::ONE),
            angle: Angle::ZERO,
            velocity: Vec2::X,
            spin: Fx::HALF,
            color: 0x80_4020,
            text: "quiet",
            sensor: false,
            licence: AssetLicence::Cc0,
            player: None,
            owner: None,
            spawner: None,
        })
    }

    fn nearby(&self, _: Vec2, _: Fx, most: u32) -> Nearby {
        let objects: Vec<ObjectId> = (1..=4).map(ObjectId).take(most as usize).collect();
        Nearby { looked: objects.len(), objects }
    }

    fn named(&self, object: ObjectId, name: &str, most: u32) -> Nearby {
        let called = |number: &ObjectId| {
            *number != object && self.object(*number).is_some_and(|other| other.name == name)
        };
        let objects: Vec<ObjectId> =
            (1..=4).map(ObjectId).filter(called).take(most as usize).collect();
        Nearby { looked: 4, objects }
    }

    fn along_ray(&self, _: Vec2, _: Vec2, _: ObjectId) -> AlongRay {
        AlongRay::default()
    }

    fn tick(&self) -> Tick {
        Tick(90)
    }

    fn seed(&self) -> Digest {
        Digest([7; 32])
    }
}

/// Does something with a call in that world.
pub(crate) fn call<T>(work: impl FnOnce(&Call<'_>) -> T) -> T {
    call_in(Arc::new(RowOfThings), work)
}

/// Returns what a call gave, without what the two executors count in their own ways.
pub(crate) fn compared(part: ScriptOutput) -> Box<ScriptOutput> {
    let state = part.state.filter(|state| !state.0.is_empty());
    Box::new(ScriptOutput { gas: 0, state, ..part })
}
