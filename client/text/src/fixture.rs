//! Things in sight, for tests.

use metatopia_client::SceneObject;
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{Look, ObjectId};

/// Returns a box of a metre in the middle of the ground, which can be pushed.
pub(crate) fn thing(id: u64, name: &str) -> SceneObject {
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    SceneObject {
        id: ObjectId(id),
        kind: "thing".into(),
        name: name.into(),
        owner: None,
        author: None,
        changed: None,
        shape: Shape::Rect { half },
        position: Vec2::ZERO,
        angle: Angle::default(),
        velocity: Vec2::ZERO,
        half,
        look: Look::default(),
        text: String::new(),
        movable: true,
        player: None,
        scripts: Vec::new(),
        held: None,
        material: None,
        sensor: false,
        travels: false,
        guest: None,
    }
}
