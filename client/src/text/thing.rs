//! One thing in words: where it is, what it is, whose, and what holds it.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use metatopia_math::Vec2;
use metatopia_protocol::JointEntry;
use metatopia_sim::Shape;
use metatopia_types::{Emote, ObjectId, PublicKey};

use super::{compass, in_words, look_words, names_in_hands, position, who_did::who};
use crate::{Scene, SceneObject};

/// Returns one thing as it is seen from a place, in a line.
pub(super) fn describe_object(scene: &Scene, here: Vec2, object: &SceneObject) -> String {
    let away = object.position.saturating_sub(here);
    let mut line = format!("{}, {:.1} m {}", object.name, away.length(), compass(away));
    if let Some(emote) = object.player.as_ref().and_then(|player| player.emote) {
        line.push_str(&format!(", {}", gesture(emote)));
    }
    if let Some(held) = names_in_hands(scene, object.id) {
        line.push_str(&format!(", holding {held}"));
    }
    if !object.text.is_empty() {
        line.push_str(&format!(": \"{}\"", object.text));
    }
    line.push('.');
    line
}

/// Returns what one thing is, in lines: where, whether it moves, what it is made of, whose it is, and what it is
/// joined to, by these joints. `name` says what a key is called.
#[must_use]
pub fn describe_thing(
    scene: &Scene,
    thing: &SceneObject,
    joints: &[JointEntry],
    name: impl Fn(&PublicKey) -> String,
) -> Vec<String> {
    let here = position(scene).unwrap_or_default();
    if Some(thing.id) == scene.me {
        return vec![format!("You are {}.", look_words(&thing.look))];
    }
    let mut lines = vec![describe_object(scene, here, thing)];
    if thing.player.is_some() {
        lines.push(format!("{} is {}.", thing.name, look_words(&thing.look)));
    } else {
        let moves = if thing.movable { "can be pushed" } else { "stays in its place" };
        lines.push(format!("It is {}, and {moves}.", object_word(thing.id)));
        lines.push(measures(thing));
        lines.push(belongs(thing, name));
        if let Some(from) = thing.guest {
            let from = &from.to_string()[..8];
            lines.push(format!(
                "It came over the border from sim {from}.., and counts against that border's share."
            ));
        }
    }
    let called = |id: ObjectId| match scene.objects.iter().find(|object| object.id == id) {
        Some(object) => format!("{}, {}", object.name, object_word(id)),
        None => object_word(id),
    };
    for joint in joints {
        let Some(other) = joint.other_end(thing.id) else { continue };
        let other = other.map_or_else(|| "the ground".to_string(), called);
        lines.push(format!("A {} joins it to {other}.", joint.kind.word()));
    }
    lines
}

/// Returns how large a thing is, and of what.
fn measures(thing: &SceneObject) -> String {
    let Vec2 { x: width, y: height } = thing.half.saturating_add(thing.half);
    let size = match thing.is_round() {
        true => format!("{} m across", in_words(width)),
        false => format!("{} m by {} m", in_words(width), in_words(height)),
    };
    let parts = match &thing.shape {
        Shape::Compound(compound) => format!(" It has {} parts.", compound.parts().count()),
        _ => String::new(),
    };
    let passes = if thing.sensor { " Everything passes through it." } else { "" };
    match thing.material {
        Some(material) => format!("It is {size}, of {}.{parts}{passes}", material.word()),
        None => format!("It is {size}.{parts}{passes}"),
    }
}

/// Returns whose a thing is, and whether it goes over borders.
fn belongs(thing: &SceneObject, name: impl Fn(&PublicKey) -> String) -> String {
    let owner = thing.owner.as_ref().map_or_else(|| "the sim".to_string(), |key| who(key, name));
    let travels = if thing.travels { "may leave over a border" } else { "stays in this sim" };
    format!("It belongs to {owner}, and {travels}.")
}

/// Returns how an object is called by its number.
fn object_word(id: ObjectId) -> String {
    format!("object {id}")
}

const fn gesture(emote: Emote) -> &'static str {
    match emote {
        Emote::Wave => "waving",
        Emote::Nod => "nodding",
        Emote::Dance => "dancing",
        Emote::Bow => "bowing",
        Emote::Laugh => "laughing",
    }
}
