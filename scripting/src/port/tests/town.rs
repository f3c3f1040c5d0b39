//! A world for ports: the own object, a crate, two people, and what is gone.

use std::{collections::BTreeMap, string::String, sync::Arc, vec, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{AssetLicence, Digest, ObjectId, Origin, PublicKey, ScriptId, SimId, Tick};

use crate::{
    AlongRay, Call, Draft, Event, Handler, Nearby, ObjectView, ObjectWrites, Package,
    PackageAuthor, ScriptError, ScriptOutput, ScriptState, WorldView, limits::GAS_PER_CALL_MAX,
};

const NAMES: [&str; 4] = ["bell", "crate", "Ada", "Bob"];

struct Town;

impl WorldView for Town {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        let place = usize::try_from(id.0).ok()?.checked_sub(1)?;
        let name = NAMES.get(place)?;
        let along = Fx::checked_from_int(2 * i64::try_from(place).ok()?)?;
        let person = place >= 2;
        Some(ObjectView {
            origin: Origin { sim: SimId(Digest([3; 32])), number: id },
            name,
            kind: if person { "avatar" } else { "thing" },
            pos: Vec2::new(along, Fx::ONE),
            angle: Angle::ZERO,
            velocity: Vec2::X,
            spin: Fx::HALF,
            color: 0x80_4020,
            text: "quiet",
            sensor: false,
            licence: AssetLicence::Cc0,
            player: person.then_some(PublicKey([u8::try_from(place).ok()?; 32])),
            owner: None,
            spawner: None,
        })
    }

    fn nearby(&self, _: Vec2, _: Fx, most: u32) -> Nearby {
        let objects: Vec<ObjectId> = (1..=4).map(ObjectId).take(most as usize).collect();
        Nearby { looked: objects.len(), objects }
    }

    fn named(&self, _: ObjectId, _: &str, _: u32) -> Nearby {
        Nearby::default()
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

/// Has a handler answer one event there.
pub(crate) fn answer(
    handler: &dyn Handler,
    event: &Event,
    state: &Arc<ScriptState>,
    gas: u64,
) -> Result<ScriptOutput, ScriptError> {
    let view: Arc<dyn WorldView> = Arc::new(Town);
    let (script, object, own) = (ScriptId(1), ObjectId(1), &ObjectWrites::default());
    handler.call(&Call { view: &view, script, object, index: 0, event, state, own, gas })
}

/// Plays events one after the other with both, and says how many failed. The state is that of the source.
pub(crate) fn play(source: &dyn Handler, port: &dyn Handler, events: &[(Event, u64)]) -> usize {
    let (mut state, mut failed) = (Arc::new(ScriptState::default()), 0);
    for (event, gas) in events {
        let expected = answer(source, event, &state, *gas);
        assert_eq!(answer(port, event, &state, *gas), expected, "{event:?} with {gas} gas");
        match expected {
            Ok(part) => state = part.state.map_or(state, Arc::new),
            Err(_) => failed += 1,
        }
    }
    failed
}

/// Returns events with all gas.
pub(crate) fn with_all_gas(events: Vec<Event>) -> Vec<(Event, u64)> {
    events.into_iter().map(|event| (event, GAS_PER_CALL_MAX)).collect()
}

/// Returns a package of these files, the first of which is its entry.
pub(crate) fn package(name: &str, version: &str, author: &str, files: &[(&str, &str)]) -> Package {
    Package::build(draft(name, version, author, files)).expect("a package in order")
}

/// Returns the draft of such a package.
pub(crate) fn draft(name: &str, version: &str, author: &str, files: &[(&str, &str)]) -> Draft {
    let bytes = |(path, text): &(&str, &str)| (String::from(*path), text.as_bytes().to_vec());
    Draft {
        name: name.into(),
        version: version.into(),
        api: 1,
        entry: files[0].0.into(),
        files: files.iter().map(bytes).collect::<BTreeMap<_, _>>(),
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: author.into(), key: None }],
        ..Draft::default()
    }
}
