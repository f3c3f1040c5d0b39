//! Who made a thing, whose it is, and who changed it last, in words.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_protocol::span;
use metatopia_sim::ThingChange;
use metatopia_types::{Millis, PublicKey};

use super::printable;
use crate::SceneObject;

/// Returns who made a thing, whose it is, and who changed it last, a sentence each. `name` says what a key is
/// called, and `now` what time it is by the sim.
pub fn who_did(
    thing: &SceneObject,
    name: impl Fn(&PublicKey) -> String,
    now: Option<Millis>,
) -> Vec<String> {
    let called = printable(&thing.name);
    let who = |key: &PublicKey| who(key, &name);
    if let Some(player) = &thing.player {
        return Vec::from([format!("{called} is a person: {}.", who(&player.key))]);
    }
    let made = match &thing.author {
        Some(author) => format!("{called} is object {}, made by {}.", thing.id, who(author)),
        None => format!("{called} is object {} and came with the sim.", thing.id),
    };
    let owned = match &thing.owner {
        Some(owner) => format!("It belongs to {}.", who(owner)),
        None => "It belongs to the sim.".to_string(),
    };
    let changed = match &thing.changed {
        None => "Nobody has changed it since.".to_string(),
        Some(ThingChange { by, word, height, time }) => {
            let ago = now.map(|now| format!(", {} ago", span(now.since(*time))));
            let (ago, word) = (ago.unwrap_or_default(), printable(word));
            format!("Last changed by {}: {word}{ago}, in turn {height}.", who(by))
        }
    };
    Vec::from([made, owned, changed])
}

/// Returns who a key is, by what `name` says that it is called.
pub(super) fn who(key: &PublicKey, name: impl Fn(&PublicKey) -> String) -> String {
    let digits = &key.to_string()[..8];
    match printable(&name(key)) {
        name if name.is_empty() => format!("key {digits}.."),
        name => format!("{name} (key {digits}..)"),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_math::{Angle, Fx, Vec2};
    use metatopia_sim::Shape;
    use metatopia_types::{Height, Look, ObjectId};

    use super::*;

    fn lantern() -> SceneObject {
        SceneObject {
            id: ObjectId(17),
            kind: "lamp".to_string(),
            name: "lantern".to_string(),
            owner: Some(PublicKey([2; 32])),
            author: Some(PublicKey([1; 32])),
            changed: None,
            position: Vec2::ZERO,
            angle: Angle::ZERO,
            velocity: Vec2::ZERO,
            half: Vec2::new(Fx::HALF, Fx::HALF),
            shape: Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) },
            look: Look::default(),
            text: String::new(),
            movable: false,
            player: None,
            scripts: Vec::new(),
            held: None,
            material: None,
            sensor: false,
            travels: false,
            guest: None,
        }
    }

    #[test]
    fn a_thing_is_told_with_its_maker_its_owner_and_who_changed_it_last() {
        let name = |key: &PublicKey| if key.0[0] == 1 { "Ada".to_string() } else { String::new() };
        let told = who_did(&lantern(), name, None);
        assert_eq!(told[0], "lantern is object 17, made by Ada (key 01010101..).");
        assert_eq!(told[1], "It belongs to key 02020202...");
        assert_eq!(told[2], "Nobody has changed it since.");

        let (by, word) = (PublicKey([1; 32]), "recolor".to_string());
        let change = ThingChange { by, word, height: Height(9), time: Millis(1_000) };
        let changed = SceneObject { owner: None, changed: Some(change), ..lantern() };
        let told = who_did(&changed, name, Some(Millis(7_201_000)));
        assert_eq!(told[1], "It belongs to the sim.");
        let last = "Last changed by Ada (key 01010101..): recolor, 2 hours ago, in turn 9.";
        assert_eq!(told[2], last);
    }
}
