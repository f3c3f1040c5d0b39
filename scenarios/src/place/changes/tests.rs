//! Laws of the comparison of two readings of a place.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::ObjectId;

use super::{SameThings, ThingDifference, ThingEdit, as_built};
use crate::{PLACE_FILE, Place, PlaceTemplate, parse_folder};

const HEAD: &str = "name = \"yard\"\nlicence = \"AGPL-3.0-or-later\"\n\
                    asset_licence = \"CC-BY-SA-4.0\"\nspawn = [0, 0]\nspawn_radius = 3\n";

const BELL: &str = "kind = \"bell\"\nname = \"bell\"\nat = [0, 5]\nbox = [1, 1]\n";
const LAMP: &str = "kind = \"lamp\"\nname = \"lamp\"\nat = [4, 5]\ndisc = \"0.5\"\n";

/// Returns a place that has these things, and packages of these folders and names with these sources.
fn place_with(head: &str, things: &[&str], packages: &[(&str, &str, &str)]) -> Place {
    let things: String = things.iter().map(|thing| format!("[[object]]\n{thing}")).collect();
    let mut files = BTreeMap::from([(PLACE_FILE.to_owned(), format!("{HEAD}{head}{things}"))]);
    for (folder, name, source) in packages {
        let manifest = format!(
            "name = \"{name}\"\nversion = \"1.0.0\"\napi = 1\nentry = \"main.rhai\"\n\
             licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n"
        );
        files.insert(format!("packages/{folder}/package.toml"), manifest);
        files.insert(format!("packages/{folder}/main.rhai"), (*source).to_owned());
    }
    parse_folder("yard", &files).expect("a place")
}

fn place(things: &[&str]) -> Place {
    place_with("", things, &[])
}

/// Returns what differs between the things that both places have, by the indexes that these have in the second, and the
/// indexes of added and of removed things.
type Changes = (Vec<(usize, ThingDifference)>, Vec<usize>, Vec<usize>);

fn changes(before: &Place, now: &Place) -> Changes {
    let names = [before, now].into_iter().flat_map(Place::packages);
    let names = names.map(|package| (package.id(), package.manifest().name.clone())).collect();
    let same = SameThings::of(before.objects(), now.objects());
    let difference = |n: usize| {
        let old = same.renumbered(before.objects()[same.before(n)?].clone());
        let found = ThingDifference::between(&old, &now.objects()[n], &names);
        (!found.is_empty()).then_some((n, found))
    };
    let differ = (0..now.objects().len()).filter_map(difference).collect();
    (differ, same.added().collect(), same.removed(before.objects().len()).collect())
}

fn only(edits: Vec<ThingEdit>) -> ThingDifference {
    ThingDifference { edits, waits: Vec::new() }
}

#[test]
fn the_same_text_changes_nothing() {
    for template in PlaceTemplate::ALL {
        let place = template.place().expect("a place");
        assert_eq!(changes(&place, &place), (vec![], vec![], vec![]), "{}", place.name());
        let same = SameThings::of(place.objects(), place.objects());
        assert!(place.changed_keys(&place, &same).is_empty());
    }
}

#[test]
fn things_are_added_and_removed_wherever_they_stand_in_the_file() {
    let (one, both) = (place(&[BELL]), place(&[LAMP, BELL]));
    assert_eq!(changes(&one, &both), (vec![], vec![0], vec![]));
    assert_eq!(changes(&both, &one), (vec![], vec![], vec![0]));
}

#[test]
fn what_the_file_leaves_as_it_was_is_not_touched() {
    let before = place(&[&format!("{BELL}color = \"ff0000\"\ntext = \"ring\"\n"), LAMP]);
    let moved = BELL.replace("[0, 5]", "[2, 6]");
    let now = place(&[&format!("{moved}color = \"00ff00\"\ntext = \"ring\"\n"), LAMP]);
    let to = Vec2::new(Fx::from_int(2), Fx::from_int(6));
    let edits = vec![ThingEdit::Move(to), ThingEdit::Recolor(0x00_ff00)];
    assert_eq!(changes(&before, &now), (vec![(0, only(edits))], vec![], vec![]));
}

#[test]
fn a_thing_becomes_a_sensor_and_solid_again() {
    let curtain = format!("{BELL}sensor = true\n");
    let (solid, open) = (place(&[BELL]), place(&[&curtain]));
    let becomes = |sensor| vec![(0, only(vec![ThingEdit::Sense(sensor)]))];
    assert_eq!(changes(&solid, &open), (becomes(true), vec![], vec![]));
    assert_eq!(changes(&open, &solid), (becomes(false), vec![], vec![]));
    // One that is made new is solid at first: a second act opens it.
    let thing = &open.objects()[0];
    let missing = ThingDifference::between(&as_built(thing), thing, &BTreeMap::new());
    assert_eq!(missing, only(vec![ThingEdit::Sense(true)]));
}

#[test]
fn a_thing_that_only_gets_another_name_is_renamed() {
    let before = place(&[BELL, LAMP]);
    let gong = BELL.replace("name = \"bell\"", "name = \"gong\"");
    let renamed = only(vec![ThingEdit::Rename("gong".to_owned())]);
    assert_eq!(changes(&before, &place(&[LAMP, &gong])), (vec![(1, renamed)], vec![], vec![]));
    // With another place it is another thing.
    let far = gong.replace("[0, 5]", "[0, 9]");
    assert_eq!(changes(&before, &place(&[LAMP, &far])), (vec![], vec![1], vec![0]));
}

#[test]
fn of_two_things_with_one_name_the_one_whose_entry_changed_changes() {
    let east = LAMP.replace("[4, 5]", "[6, 5]");
    let north = LAMP.replace("[4, 5]", "[4, 9]");
    let (before, now) = (place(&[LAMP, &east]), place(&[&east, &north]));
    let to = Vec2::new(Fx::from_int(4), Fx::from_int(9));
    let moved = only(vec![ThingEdit::Move(to)]);
    assert_eq!(changes(&before, &now), (vec![(1, moved)], vec![], vec![]));
    // One of them is left: the other one is gone.
    assert_eq!(changes(&before, &place(&[&east])), (vec![], vec![], vec![0]));
    assert_eq!(changes(&place(&[&east]), &before), (vec![], vec![0], vec![]));
}

#[test]
fn what_no_act_changes_waits_by_the_key_of_the_file() {
    let before = place(&[BELL]);
    let heavy = format!("{BELL}motion = \"dynamic\"\nmass = 5\nlicence = \"CC0-1.0\"\n");
    let waits = vec!["licence", "motion", "mass"];
    let difference = ThingDifference { edits: vec![], waits };
    assert_eq!(changes(&before, &place(&[&heavy])), (vec![(0, difference)], vec![], vec![]));
}

#[test]
fn a_thing_is_resized_but_a_line_waits_as_a_whole() {
    let large = BELL.replace("[1, 1]", "[2, 1]");
    let (found, ..) = changes(&place(&[BELL]), &place(&[&large]));
    assert!(matches!(&found[..], [(0, it)] if matches!(it.edits[..], [ThingEdit::Reshape(_)])));
    let fence = "kind = \"fence\"\nname = \"fence\"\nline = [[5, 5], [9, 5]]\n";
    let longer = fence.replace("[9, 5]", "[11, 5]");
    let difference = ThingDifference { edits: vec![], waits: vec!["outline"] };
    assert_eq!(changes(&place(&[fence]), &place(&[&longer])).0, [(0, difference)]);
}

#[test]
fn scripts_come_and_go_and_a_new_source_of_one_name_is_no_change_of_the_thing() {
    let runs = |names: &str| format!("{BELL}scripts = [{names}]\n");
    let with = |thing: &str, source: &str| {
        let packages = [("ring", "ring", source), ("glow", "glow", "fn on_start() {}\n")];
        place_with("", &[thing], &packages)
    };
    let (ring, glow) = ("{ package = \"ring\" }", "{ package = \"glow\" }");
    let (first, second) = ("fn on_start() {}\n", "fn on_start() { let a = 1; }\n");
    let before = with(&runs(ring), first);
    assert_eq!(changes(&before, &with(&runs(ring), second)), (vec![], vec![], vec![]));

    let id = |place: &Place, name: &str| {
        let mut all = place.packages().filter(|package| package.manifest().name == name);
        all.next().expect("the package").id()
    };
    let edits = vec![ThingEdit::Attach(id(&before, "glow"))];
    let both = with(&runs(&format!("{ring}, {glow}")), first);
    assert_eq!(changes(&before, &both).0, [(0, only(edits))]);
    let edits = vec![ThingEdit::Detach(id(&before, "ring"))];
    assert_eq!(changes(&both, &with(&runs(glow), first)).0, [(0, only(edits))]);
    let told = "{ package = \"ring\", state = { rings = 3 } }";
    let difference = ThingDifference { edits: vec![], waits: vec!["state"] };
    assert_eq!(changes(&before, &with(&runs(told), first)).0, [(0, difference)]);
}

#[test]
fn numbers_that_moved_along_are_no_change() {
    let bell = format!("mark = \"bell\"\n{BELL}");
    let lamp = format!("{LAMP}spawned_by = \"bell\"\nmotion = \"dynamic\"\nmark = \"lamp\"\n");
    let joint = "[[joint]]\nkind = \"weld\"\na = \"bell\"\nb = \"lamp\"\nat = [2, 5]\n";
    let post = BELL.replace("\"bell\"", "\"post\"").replace("[0, 5]", "[0, 9]");
    let (before, now) = (place(&[&bell, &lamp]), place(&[&post, &bell, &lamp]));
    assert_eq!(changes(&before, &now), (vec![], vec![0], vec![]));
    assert_eq!(now.objects()[2].spawner, Some(ObjectId(2)));

    let last = format!("{lamp}{joint}");
    let (joined, moved) = (place(&[&bell, &last]), place(&[&post, &bell, &last]));
    let same = SameThings::of(joined.objects(), moved.objects());
    assert!(joined.changed_keys(&moved, &same).is_empty());
    let same = SameThings::of(joined.objects(), before.objects());
    assert_eq!(joined.changed_keys(&before, &same), ["joint".to_owned()].into());
}

#[test]
fn a_joint_is_another_one_if_more_of_it_differs_than_where_its_things_stand() {
    let text = |at: &str, joint: &str| {
        let bell = format!("mark = \"bell\"\n{BELL}");
        let lamp = LAMP.replace("[4, 5]", at);
        place(&[&bell, &format!("{lamp}motion = \"dynamic\"\nmark = \"lamp\"\n{joint}")])
    };
    let at_weld = "[[joint]]\nkind = \"weld\"\na = \"bell\"\nb = \"lamp\"\nat = [2, 5]\n";
    let rod = "[[joint]]\nkind = \"rod\"\na = \"bell\"\nb = \"lamp\"\nanchor_b = [0, 0]\n";
    let has_joints_of = |before: &Place, now: &Place| {
        let same = SameThings::of(before.objects(), now.objects());
        before.has_joints_of(now, &same)
    };
    for joint in [at_weld, rod] {
        let before = text("[4, 5]", joint);
        assert!(has_joints_of(&before, &before));
        assert!(has_joints_of(&before, &text("[4, 6]", joint)), "a thing moved: {joint}");
        assert!(!has_joints_of(&before, &text("[4, 6]", "")), "the joint is gone");
        let strong = format!("{joint}break_force = 9\n");
        assert!(!has_joints_of(&before, &text("[4, 5]", &strong)));
        assert!(!has_joints_of(&before, &text("[4, 6]", &strong)));
        let elsewhere = joint.replace("[2, 5]", "[3, 5]").replace("[0, 0]", "[0, \"0.1\"]");
        assert!(!has_joints_of(&before, &text("[4, 5]", &elsewhere)), "nothing moved");
    }
    assert!(!has_joints_of(&text("[4, 5]", at_weld), &text("[4, 6]", rod)));
}

#[test]
fn keys_that_changed_are_named_with_their_tables() {
    let before = place(&[BELL]);
    let head = "hearing = 30\ntags = [\"noise\"]\n[building]\nreach = 30\n\
                [[land]]\nname = \"quay\"\nfrom = [5, 5]\nto = [9, 9]\nowner = \"open\"\n";
    let now = place_with(head, &[BELL], &[]);
    let same = SameThings::of(before.objects(), now.objects());
    let keys: Vec<String> = before.changed_keys(&now, &same).into_iter().collect();
    assert_eq!(keys, ["building.reach", "hearing", "land", "tags"]);
}

#[test]
fn an_edit_copies_what_it_is_about_and_nothing_else() {
    let before = place(&[BELL]);
    let other = format!(
        "{}degrees = 90\ncolor = \"123456\"\ntext = \"ding\"\n",
        BELL.replace("[0, 5]", "[2, 6]").replace("[1, 1]", "[2, 1]")
    );
    let now = place(&[&other]);
    let (before, now) = (&before.objects()[0], &now.objects()[0]);
    let names = BTreeMap::new();
    let all = ThingDifference::between(before, now, &names).edits;
    assert_eq!(all.len(), 5);
    for edit in &all {
        let mut edited = before.clone();
        edit.copy(now, &mut edited);
        let rest = ThingDifference::between(&edited, now, &names).edits;
        let others: Vec<ThingEdit> = all.iter().filter(|other| *other != edit).cloned().collect();
        assert_eq!(rest, others);
        edit.copy(before, &mut edited);
        assert_eq!(edited, *before);
    }
}

#[test]
fn a_built_thing_lacks_what_no_blueprint_says() {
    let door = format!("{BELL}motion = \"kinematic\"\nfriction = \"0.25\"\ndegrees = 90\n");
    let place = place(&[&door]);
    let thing = &place.objects()[0];
    let built = as_built(thing);
    assert_eq!(built.body.pose.angle, Angle::from_turns(Fx::from_ratio(1, 4)));
    let difference = ThingDifference::between(&built, thing, &BTreeMap::new());
    assert_eq!(difference, ThingDifference { edits: vec![], waits: vec!["motion", "friction"] });
}

/// Who gave one of two lamps a name of its own lost it, and got another one.
#[test]
fn one_of_two_things_of_one_name_is_renamed_and_named_back() {
    let other = LAMP.replace("[4, 5]", "[6, 5]");
    let named = LAMP.replace("name = \"lamp\"", "name = \"left lamp\"");
    let (both, one) = (place(&[LAMP, &other]), place(&[&named, &other]));
    let rename = |name: &str| vec![(0, only(vec![ThingEdit::Rename(name.to_owned())]))];
    assert_eq!(changes(&both, &one), (rename("left lamp"), vec![], vec![]));
    assert_eq!(changes(&one, &both), (rename("lamp"), vec![], vec![]));
}
