//! What no play reaches, because whatever restores a thing ends all else that would restore it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_types::{AssetLicence, Digest, Look, ObjectId, Origin, Refusal, SimId};

use super::super::tests::test_genesis;
use crate::{
    rules::AwayThing,
    state::{Genesis, ObjectSpec, State},
};

const THING: ObjectId = ObjectId(1);
const OTHER: ObjectId = ObjectId(2);

/// A sim with two things that can be pushed.
fn state() -> State {
    let spec = |x: i32| ObjectSpec {
        kind: "ball".to_owned(),
        name: "ball".to_owned(),
        owner: None,
        look: Look::default(),
        text: String::new(),
        body: BodySpec::new(
            Shape::Circle { radius: Fx::HALF },
            Motion::Dynamic,
            Vec2::new(Fx::from_int(x), Fx::ZERO),
        ),
        scripts: Vec::new(),
        licence: AssetLicence::Cc0,
        spawner: None,
        seat: None,
    };
    let genesis = Genesis { objects: vec![spec(9), spec(12)], ..test_genesis() };
    State::from_genesis(&genesis).expect("a small genesis")
}

#[test]
fn nothing_is_restored_that_is_here_or_under_way_or_whose_origin_is_here() {
    let mut state = state();
    let deleted = state.delete_object(THING).expect("it is there");
    assert_eq!(state.check_restored(THING, &deleted), Ok(()));

    // It is under way, under its number or under another one.
    let origin = deleted.object.origin(state.charter.sim, THING);
    let elsewhere = Origin { sim: SimId(Digest::of("a test's sim", b"far")), number: THING };
    for (id, origin) in [(THING, elsewhere), (ObjectId(77), origin)] {
        let (owner, guest, packages, text) = (None, None, Vec::new(), 0);
        let away = AwayThing { origin, owner, guest, packages, text, is_compound: false };
        state.borders.away.insert(id, away);
        assert_eq!(state.check_restored(THING, &deleted), Err(Refusal::Away));
        state.borders.away.remove(&id);
    }

    // It came back, and has another number since.
    state.objects.get_mut(&OTHER).expect("it is there").birth = Some(origin);
    assert_eq!(state.check_restored(THING, &deleted), Err(Refusal::AlreadySo));
    state.objects.get_mut(&OTHER).expect("it is there").birth = None;

    state.restore_object(THING, deleted.clone()).expect("there is room");
    assert_eq!(state.check_restored(THING, &deleted), Err(Refusal::AlreadySo));
}
