//! What is asked of the sim after a save, and what is not.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scenarios::{ThingEdit, parse_folder};
use metatopia_types::{Sign as _, SigningKey};

use super::{super::held::HeldSave, *};

const HEAD: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
                    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [0, 0]\nspawn_radius = 3\n";
const BELL: &str = "[[object]]\nkind = \"bell\"\nname = \"bell\"\nat = [0, 5]\nbox = [1, 1]\n";
const LAMP: &str = "[[object]]\nkind = \"lamp\"\nname = \"lamp\"\nat = [4, 5]\ndisc = \"0.5\"\n";

fn place(things: &[&str]) -> Place {
    let text = format!("{HEAD}{}", things.concat());
    parse_folder("yard", &BTreeMap::from([(PLACE_FILE.to_owned(), text)])).expect("a place")
}

fn founded(things: &[&str]) -> FollowedThings {
    FollowedThings::new(place(things), true, Console::quiet())
}

/// Takes a reading up, as a save does, and returns what is asked of the sim: the word for it, and the thing.
fn saved(things: &mut FollowedThings, now: &Place) -> Vec<(&'static str, Option<u64>)> {
    things.note_saved();
    things.align(now);
    (0..now.objects().len()).for_each(|index| things.settle(index));
    let of = |order: &ThingOrder| match order.step {
        ThingStep::Make => None,
        ThingStep::Edit(object, _) | ThingStep::Delete(object) => Some(object.0),
    };
    things.orders().iter().map(|order| (order.step.word(), of(order))).collect()
}

/// Has all orders carried out, as a sim does that refuses none; new things get numbers from this one on.
fn carry_out(things: &mut FollowedThings, mut number: u64) {
    for order in things.orders() {
        match order.step {
            ThingStep::Make => {
                things.note_made(order.index, ObjectId(number), Height(1));
                number += 1;
            }
            _ => things.note_done(&order, Some(Height(1))),
        }
    }
}

#[test]
fn a_founded_sim_is_asked_for_nothing_until_the_folder_changes() {
    let mut things = founded(&[BELL, LAMP]);
    assert_eq!(saved(&mut things, &place(&[BELL, LAMP])), []);
    assert!(!things.has_unsure());
}

#[test]
fn things_keep_their_numbers_wherever_they_stand_in_the_file() {
    let mut things = founded(&[BELL, LAMP]);
    let post = BELL.replace("\"bell\"", "\"post\"").replace("[0, 5]", "[0, 9]");
    let moved = LAMP.replace("[4, 5]", "[5, 5]");
    let now = place(&[&post, &moved]);
    assert_eq!(
        saved(&mut things, &now),
        [("deleted", Some(1)), ("made", None), ("moved", Some(2))]
    );
    carry_out(&mut things, 7);
    assert_eq!(saved(&mut things, &now), []);
    let now = place(&[&moved.replace("[5, 5]", "[6, 5]"), &post.replace("[0, 9]", "[0, 8]")]);
    assert_eq!(saved(&mut things, &now), [("moved", Some(2)), ("moved", Some(7))]);
}

#[test]
fn what_was_deleted_and_stands_in_the_file_again_is_made_anew() {
    let mut things = founded(&[BELL, LAMP]);
    assert_eq!(saved(&mut things, &place(&[LAMP])), [("deleted", Some(1))]);
    carry_out(&mut things, 7);
    assert_eq!(saved(&mut things, &place(&[BELL, LAMP])), [("made", None)]);
    // A deletion that the sim refused needs no new thing.
    let mut things = founded(&[BELL, LAMP]);
    assert_eq!(saved(&mut things, &place(&[LAMP])), [("deleted", Some(1))]);
    assert_eq!(saved(&mut things, &place(&[BELL, LAMP])), []);
}

/// It was asked for every ten seconds for ever.
#[test]
fn a_refused_edit_is_asked_for_once_per_save_and_others_are_not_again() {
    let mut things = founded(&[BELL]);
    let now = BELL.replace("[0, 5]", "[0, 60]");
    let now = place(&[&format!("{now}text = \"ding\"\n")]);
    assert_eq!(saved(&mut things, &now), [("moved", Some(1)), ("given its text", Some(1))]);
    let orders = things.orders();
    things.note_refused(&orders[0], &Refusal::OutOfReach);
    things.note_done(&orders[1], Some(Height(1)));
    assert!(things.orders().is_empty(), "nobody saved");
    assert_eq!(saved(&mut things, &now), [("moved", Some(1))]);
    assert_eq!(saved(&mut things, &place(&[&format!("{BELL}text = \"ding\"\n")])), []);
}

#[test]
fn what_is_refused_for_a_reason_that_passes_is_asked_for_again() {
    let mut things = founded(&[]);
    assert_eq!(saved(&mut things, &place(&[BELL])), [("made", None)]);
    let orders = things.orders();
    things.note_refused(&orders[0], &Refusal::TooOften);
    assert_eq!(things.postponed.as_deref(), Some("bell was not made: too often"));
    assert_eq!(things.orders().len(), 1);
    things.note_refused(&orders[0], &Refusal::Occupied);
    assert!(things.orders().is_empty(), "somebody stands there until the author saves again");
}

#[test]
fn what_somebody_deleted_is_left_alone_until_the_file_lets_go_of_it() {
    let mut things = founded(&[BELL, LAMP]);
    let now = place(&[&format!("{BELL}text = \"ding\"\n"), LAMP]);
    saved(&mut things, &now);
    let orders = things.orders();
    things.note_refused(&orders[0], &Refusal::NoObject);
    assert_eq!(saved(&mut things, &now), []);
    assert_eq!(saved(&mut things, &place(&[&format!("{BELL}text = \"dong\"\n"), LAMP])), []);
    assert_eq!(saved(&mut things, &place(&[LAMP])), []);
    assert_eq!(saved(&mut things, &place(&[BELL, LAMP])), [("made", None)]);
}

#[test]
fn after_a_restart_things_are_found_by_name_and_owner_and_only_if_that_is_clear() {
    let key = |seed| SigningKey::from_seed([seed; 32]).public();
    let (admin, other) = (key(1), key(2));
    let text = [BELL, LAMP, &LAMP.replace("\"lamp\"", "\"post\"").replace("[4, 5]", "[8, 5]")];
    let mut things = FollowedThings::new(place(&text), false, Console::quiet());
    assert!(!things.has_unsure(), "nobody asks before something changes");
    let now = text.map(|thing| format!("{thing}text = \"ding\"\n"));
    let now = place(&now.each_ref().map(String::as_str));
    things.align(&now);
    assert!(things.has_unsure());
    let spec = |index: usize, owner| ObjectSpec { owner, ..place(&text).objects()[index].clone() };
    let in_sim = [
        (ObjectId(3), spec(0, Some(other))),
        (ObjectId(4), spec(0, Some(admin))),
        (ObjectId(5), spec(1, None)),
        (ObjectId(6), spec(1, Some(admin))),
    ];
    things.find(&in_sim, admin);
    let found: Vec<ThingInSim> = things.known.iter().map(|thing| thing.object).collect();
    assert_eq!(found, [ThingInSim::Object(ObjectId(4)), ThingInSim::Gone, ThingInSim::Gone]);
    assert_eq!(saved(&mut things, &now), [("given its text", Some(4))]);
}

#[test]
fn a_thing_whose_making_is_in_doubt_is_sought_before_it_is_made_again() {
    let admin = SigningKey::from_seed([1; 32]).public();
    let mut things = founded(&[BELL]);
    let now = place(&[BELL, LAMP]);
    assert_eq!(saved(&mut things, &now), [("made", None)]);
    let orders = things.orders();
    things.note_unsure(&orders.iter().collect::<Vec<_>>());
    assert!(things.has_unsure());
    let mut lost = FollowedThings { known: things.known.clone(), ..founded(&[BELL]) };
    lost.align(&now);
    lost.find(&[], admin);
    assert_eq!(saved(&mut lost, &now), [("made", None)]);
    things.find(&[(ObjectId(9), now.objects()[1].clone())], admin);
    assert_eq!(saved(&mut things, &now), []);
}

#[test]
fn a_line_is_not_built_and_waits() {
    let mut things = founded(&[BELL]);
    let fence = "[[object]]\nkind = \"fence\"\nname = \"fence\"\nline = [[5, 5], [9, 5]]\n";
    assert_eq!(saved(&mut things, &place(&[BELL, fence])), []);
}

#[test]
fn a_blueprint_of_several_parts_stands_where_the_entry_does() {
    let cup = "[[object]]\nkind = \"cup\"\nname = \"cup\"\nat = [0, 8]\ndegrees = 90\n\
               parts = [{ at = [1, 0], degrees = 90, box = [2, 1] }, { at = [-1, 0], box = [2, 1] }]\n";
    let place = place(&[cup]);
    let blueprint = blueprint(&place.objects()[0]).expect("no line");
    assert_eq!(blueprint.parts.as_slice().len(), 1);
    // Its first part lies a metre from its middle, and the thing is turned as that part is.
    let far = blueprint.position.distance(Vec2::new(Fx::ZERO, Fx::from_int(9)));
    assert!(far < Fx::from_ratio(1, 1_000), "{far}");
    assert_eq!(blueprint.angle, Angle::from_turns(Fx::HALF));
}

#[test]
fn a_line_names_the_thing_and_each_deed_once() {
    let mut line = FollowedLine::new("crate 3", ObjectId(14));
    line.add("moved", Height(7));
    line.add(ThingEdit::Recolor(1).word(), Height(9));
    line.add("moved", Height(8));
    assert_eq!(line.to_string(), "crate 3 (thing 14): moved, given its color, in turn 9");
}

/// A move was refused, and then the thing was renamed in the file: it was deleted, and could not be made again.
#[test]
fn a_thing_is_renamed_while_another_edit_of_it_is_refused() {
    let mut things = founded(&[BELL, LAMP]);
    let moved = BELL.replace("[0, 5]", "[0, 9]");
    assert_eq!(saved(&mut things, &place(&[&moved, LAMP])), [("moved", Some(1))]);
    let named = moved.replace("name = \"bell\"", "name = \"gong\"");
    let asked = saved(&mut things, &place(&[&named, LAMP]));
    assert_eq!(asked, [("moved", Some(1)), ("renamed", Some(1))]);
}

/// Half a file that an editor wrote, or another branch, had the sim delete all that was not there, without a question.
#[test]
fn a_save_by_which_many_things_go_waits_until_the_file_is_saved_again_unchanged() {
    let posts = |numbers: core::ops::Range<u8>| {
        let post = |n| {
            let named = BELL.replace("name = \"bell\"", &format!("name = \"post {n}\""));
            named.replace("[0, 5]", &format!("[{}, 5]", 2 * n))
        };
        let all: Vec<String> = numbers.map(post).collect();
        place(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let things = FollowedThings::new(posts(0..18), true, Console::quiet());
    let mut held = HeldSave::default();
    let mut asks = |kept, is_file_saved| {
        let now = posts(kept);
        held.question(&now, &things.lost(&now), is_file_saved)
    };
    assert_eq!(asks(0..9, true), None, "a half may go");
    let question = asks(0..8, true).expect("more than a half goes");
    let words = "would delete 10 of 18 things, among them post 8, post 9, post 10; to go on, save place.toml";
    assert!(question.contains(words), "{question}");
    assert!(asks(0..8, false).is_some(), "another file was saved");
    assert!(asks(0..7, true).is_some(), "it was changed");
    assert_eq!(asks(0..7, true), None);
    assert!(asks(0..7, true).is_some(), "each such save is asked for by itself");
    assert_eq!(asks(0..18, true), None, "they are back");
    assert!(asks(0..7, true).is_some(), "the answer was to another save");

    let things = FollowedThings::new(posts(0..8), true, Console::quiet());
    let none = posts(0..0);
    assert_eq!(held.question(&none, &things.lost(&none), true), None, "eight are few");
}

/// Each save that moved a thing again warned of the joint that nobody had touched.
#[test]
fn a_joint_waits_once_however_often_its_things_move() {
    let text = |at: &str, strength: u8| {
        let swing = LAMP.replace("[4, 5]", at);
        let joint = format!(
            "motion = \"dynamic\"\nmark = \"swing\"\n[[joint]]\nkind = \"hinge\"\nb = \"swing\"\n\
             at = [4, 7]\nmotor_speed = 1\nmotor_strength = {strength}\n"
        );
        place(&[&format!("{swing}{joint}")])
    };
    let mut things = FollowedThings::new(text("[4, 5]", 2), true, Console::quiet());
    let mut changed = |now: Place| {
        let same = things.same(&now);
        let told = things.changed_keys(&now, &same);
        things.align(&now);
        told
    };
    let (joint, none) = (vec!["joint".to_owned()], vec![]);
    assert_eq!(changed(text("[5, 5]", 2)), [joint.clone(), none.clone()]);
    assert_eq!(changed(text("[6, 5]", 2)), [none.clone(), none.clone()]);
    assert_eq!(changed(text("[6, 5]", 3)), [joint.clone(), none.clone()], "it is another one");
    assert_eq!(changed(text("[4, 5]", 2)), [none.clone(), joint.clone()]);
    assert_eq!(changed(text("[5, 5]", 2)), [joint, none], "it differs again");
}

/// An edit that was taken back was said to go into the next sim as well.
#[test]
fn what_is_again_as_the_sim_has_it_waits_for_nothing() {
    let mut things = founded(&[BELL]);
    let heavy = format!("{BELL}motion = \"dynamic\"\nmass = 9\n");
    let keys = vec!["motion", "mass"];
    let waits = |things: &mut FollowedThings, text: &str| {
        let now = place(&[text]);
        things.align(&now);
        let changed = things.difference(0).waits;
        let told = things.waits(0, &changed);
        things.settle(0);
        told
    };
    assert_eq!(waits(&mut things, &heavy), [keys.clone(), vec![]]);
    let heavier = heavy.replace("mass = 9", "mass = 8");
    assert_eq!(waits(&mut things, &heavier), [vec!["mass"], vec![]]);
    assert_eq!(waits(&mut things, BELL), [vec![], keys.clone()]);
    // Of a sim that was founded of another text nobody knows what it has.
    let mut things = FollowedThings::new(place(&[BELL]), false, Console::quiet());
    assert_eq!(waits(&mut things, &heavy), [keys, vec![]]);
}
