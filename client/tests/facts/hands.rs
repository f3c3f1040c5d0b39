//! What people are told of what others hold.

use metatopia_client::{Scene, SceneObject, ScenePlayer, text};
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{Height, Look, ObjectId, Sign, Tick};

use crate::stand::key;

/// Something in sight so many metres to the east.
fn object(id: u64, name: &str, metres: i32, held: Option<u64>) -> SceneObject {
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    SceneObject {
        id: ObjectId(id),
        kind: "thing".to_owned(),
        name: name.to_owned(),
        owner: None,
        position: Vec2::new(Fx::from_int(metres), Fx::ZERO),
        angle: Angle::ZERO,
        velocity: Vec2::ZERO,
        half,
        shape: Shape::Circle { radius: half.x },
        look: Look::default(),
        text: String::new(),
        movable: true,
        player: None,
        scripts: Vec::new(),
        held: held.map(ObjectId),
        material: None,
        sensor: false,
        travels: false,
        guest: None,
        author: None,
        changed: None,
    }
}

fn person(id: u64, name: &str, metres: i32) -> SceneObject {
    let player = Some(ScenePlayer { key: key(1).public(), emote: None });
    SceneObject { player, movable: false, ..object(id, name, metres, None) }
}

#[test]
fn whoever_looks_is_told_what_is_in_which_hands() {
    let objects = vec![
        person(1, "Ada", 0),
        object(9, "lantern", 0, Some(1)),
        person(2, "Bob", 3),
        object(7, "ball", 3, Some(2)),
        object(5, "crate", 3, Some(2)),
        object(6, "bell", 4, None),
        object(8, "flag", 5, Some(99)),
    ];
    let scene = Scene { height: Height(1), tick: Tick(1), me: Some(ObjectId(1)), objects };

    assert_eq!(
        text::describe(&scene),
        [
            "You stand at 0.0 east, 0.0 north.",
            "You hold lantern.",
            "Bob, 3.0 m east, holding crate and ball.",
            "bell, 4.0 m east.",
            // Its holder is out of sight.
            "flag, 5.0 m east.",
        ]
    );
}

#[test]
fn whoever_is_alone_with_a_full_hand_hears_of_nothing_near() {
    let objects = vec![person(1, "Ada", 0), object(9, "lantern", 0, Some(1))];
    let scene = Scene { height: Height(1), tick: Tick(1), me: Some(ObjectId(1)), objects };
    let told = text::describe(&scene);
    assert_eq!(told[1..], ["You hold lantern.", "Nothing is near."]);
}
