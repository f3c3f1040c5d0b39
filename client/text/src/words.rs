//! What a person is told: one sentence a fact.

use metatopia_client::text::{compass, coordinates};
use metatopia_math::{Fx, Vec2};
use metatopia_types::Emote;

/// Far less than this is no distance.
const NOTHING: Fx = Fx::from_ratio(5, 100);

/// `1.2 m north`, or nothing for hardly any way.
pub(super) fn way(from: Vec2, to: Vec2) -> Option<String> {
    let moved = to.saturating_sub(from);
    let length = moved.length();
    (length > NOTHING).then(|| format!("{length:.1} m {}", compass(moved)))
}

/// Where something is that was pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SlideEnd {
    /// At this place.
    At(Vec2),
    /// In a neighbour: `over the line to garden`.
    Over(String),
    /// Nobody sees it any more.
    OutOfSight,
}

/// Tells what became of a push.
pub(super) fn pushed(name: &str, from: Vec2, to: &SlideEnd) -> String {
    match to {
        SlideEnd::At(to) => match way(from, *to) {
            Some(way) => format!("You push {name}: it slides {way}."),
            None => format!("You push {name}: it does not move."),
        },
        SlideEnd::Over(over) => format!("You push {name}: it goes {over}."),
        SlideEnd::OutOfSight => format!("You push {name}: it slides out of sight."),
    }
}

/// Tells where a walk has ended.
pub(super) fn walked(from: Vec2, to: Vec2) -> String {
    match way(from, to) {
        Some(way) => format!("You walk {way}, to {}.", coordinates(to)),
        None => "You stay where you are.".into(),
    }
}

/// Returns the line about a portal that is so far off. `go portal` leads to the nearest one.
pub(super) fn portal(away: Vec2, to: &str, is_nearest: bool) -> String {
    let (length, side) = (away.length(), compass(away));
    let how = if is_nearest { "; `go portal` takes you there" } else { "" };
    format!("A portal, {length:.1} m {side}, leads to {to}{how}.")
}

/// Tells what a gesture looks like to its author.
pub(super) const fn gesture(emote: Emote) -> &'static str {
    match emote {
        Emote::Wave => "You wave.",
        Emote::Nod => "You nod.",
        Emote::Dance => "You dance.",
        Emote::Bow => "You bow.",
        Emote::Laugh => "You laugh.",
    }
}

/// Returns the names of what somebody held and holds no more.
pub(super) fn left_behind(before: Vec<String>, now: &[String]) -> Vec<String> {
    let mut came = now.to_vec();
    let is_gone = |name: &String| match came.iter().position(|other| other == name) {
        Some(at) => {
            came.swap_remove(at);
            false
        }
        None => true,
    };
    before.into_iter().filter(is_gone).collect()
}

/// Splits `north 12` into the direction and the metres; 5 m if none are given.
pub(super) fn stretch(typed: &str) -> (&str, Fx) {
    const DEFAULT: Fx = Fx::from_int(5);
    let longest = Fx::from_int(100);
    match typed.rsplit_once(char::is_whitespace) {
        Some((direction, metres)) => match Fx::parse(metres) {
            Ok(metres) => (direction.trim(), metres.clamp(Fx::ZERO, longest)),
            Err(_) => (typed, DEFAULT),
        },
        None => (typed, DEFAULT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    #[test]
    fn a_push_is_told_by_what_it_did() {
        let told = |from, to| pushed("crate", from, &to);
        let slid = told(at(0, 0), SlideEnd::At(at(0, 2)));
        assert_eq!(slid, "You push crate: it slides 2.0 m north.");
        let stays = told(at(1, 1), SlideEnd::At(at(1, 1)));
        assert_eq!(stays, "You push crate: it does not move.");
        let gone = told(at(1, 1), SlideEnd::OutOfSight);
        assert_eq!(gone, "You push crate: it slides out of sight.");
        let over = told(at(1, 1), SlideEnd::Over("over the line to garden".to_owned()));
        assert_eq!(over, "You push crate: it goes over the line to garden.");
    }

    #[test]
    fn a_walk_is_told_by_where_it_ended() {
        assert_eq!(walked(at(0, 0), at(3, 0)), "You walk 3.0 m east, to 3.0 east, 0.0 north.");
        assert_eq!(walked(at(0, 0), at(-3, 0)), "You walk 3.0 m west, to 3.0 west, 0.0 north.");
        assert_eq!(walked(at(3, 0), at(3, 0)), "You stay where you are.");
    }

    #[test]
    fn of_two_things_with_one_name_the_one_that_stayed_is_told() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let before = names(&["lamp", "ball", "lamp"]);
        assert_eq!(left_behind(before.clone(), &names(&["lamp"])), ["ball", "lamp"]);
        assert_eq!(left_behind(before, &names(&["lamp", "lamp", "ball"])), [""; 0]);
    }

    #[test]
    fn a_stretch_is_five_metres_unless_said() {
        assert_eq!(stretch("north"), ("north", Fx::from_int(5)));
        assert_eq!(stretch("north 2.5"), ("north", Fx::from_ratio(5, 2)));
        assert_eq!(stretch("ne  999"), ("ne", Fx::from_int(100)));
        assert_eq!(stretch("ne -3"), ("ne", Fx::ZERO));
        assert_eq!(stretch("old door"), ("old door", Fx::from_int(5)));
    }
}
