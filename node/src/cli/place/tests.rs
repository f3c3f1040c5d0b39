//! Tests of places on a disk: written, read, checked, and refused.

use std::{fs, path::PathBuf};

use metatopia_scenarios::PlaceTemplate;

use super::{
    folder::{PLACE_BYTES_MAX, PLACE_FILES_MAX, PlaceFolder},
    *,
};
use crate::{cli::exit::Exit, scratch::Scratch};

fn written(name: &str, template: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let template = PlaceTemplate::named(template).expect("a template");
    write_folder(&scratch.0, &template.files_named("my place")).expect("a folder of ours");
    scratch
}

#[test]
fn a_new_place_is_fine_and_has_the_name_that_was_given() {
    for PlaceTemplate { name, .. } in PlaceTemplate::ALL {
        let scratch = written(&format!("place-new-{name}"), name);
        let place = PlaceFolder::read(&scratch.0).expect("readable").place().expect(name);
        assert_eq!(place.name(), "my place");
    }
}

#[test]
fn a_folder_that_is_not_empty_is_left_as_it_is() {
    let scratch = written("place-occupied", "empty");
    let before = fs::read_to_string(scratch.0.join("place.toml")).expect("the file");

    let failure = write_folder(&scratch.0, &PlaceTemplate::ALL[0].files()).expect_err("not empty");

    assert_eq!(failure.exit, Exit::Refused);
    assert_eq!(fs::read_to_string(scratch.0.join("place.toml")).expect("the file"), before);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let failure = PlaceFolder::read(&PathBuf::from("/nowhere/at/all")).expect_err("no folder");
    assert_eq!(failure.exit, Exit::NotFound);
    assert!(failure.message.starts_with("there is no folder /nowhere/at/all"), "{failure}");
}

#[test]
fn what_is_hidden_and_what_belongs_to_no_place_is_not_read() {
    let scratch = written("place-more", "house");
    fs::write(scratch.0.join("README.md"), [0xff, 0xfe]).expect("a file");
    fs::create_dir(scratch.0.join(".git")).expect("a folder");
    fs::write(scratch.0.join("packages/door/.door.rhai.swp"), [0xff]).expect("a file");
    fs::write(scratch.0.join("packages/picture.png"), [0xff]).expect("a file");
    assert!(PlaceFolder::read(&scratch.0).expect("readable").place().is_ok());
}

/// What lay among the packages and was none of them was passed over without a word.
#[test]
fn what_is_no_package_among_packages_is_known_by_its_path() {
    let scratch = written("place-stray", "house");
    let read = || PlaceFolder::read(&scratch.0).expect("readable");
    assert!(read().skipped.is_empty());
    let packages = scratch.0.join("packages");
    fs::write(packages.join("stray.rhai"), "fn on_start() {}\n").expect("a file");
    fs::create_dir(packages.join("La mp")).expect("a folder");
    fs::write(packages.join(".hidden"), "").expect("a file");
    std::os::unix::fs::symlink("door", packages.join("gate")).expect("a link");
    let skipped = ["packages/La mp", "packages/gate", "packages/stray.rhai"];
    assert_eq!(read().skipped, skipped);
    assert!(read().place().is_ok());
}

#[test]
fn a_package_may_have_folders_and_no_link_is_followed() {
    let scratch = written("place-folders", "house");
    let lib = scratch.0.join("packages/door/lib");
    fs::create_dir(&lib).expect("a folder");
    fs::write(lib.join("way.rhai"), "fn way() { 1 }\n").expect("a file");
    let place = PlaceFolder::read(&scratch.0).expect("readable").place().expect("fine");
    let files = place.packages().flat_map(|package| package.files().keys().cloned());
    assert!(files.into_iter().any(|path| path == "lib/way.rhai"));

    let file = scratch.0.join("place.toml");
    fs::rename(&file, scratch.0.join("elsewhere.toml")).expect("our own file");
    std::os::unix::fs::symlink("elsewhere.toml", &file).expect("a link");
    let mistakes = PlaceFolder::read(&scratch.0).expect("readable").place().expect_err("a link");
    assert!(mistakes[0].message.contains("place.toml is missing"), "{}", mistakes[0]);
}

#[test]
fn all_mistakes_of_a_place_are_told_with_their_lines() {
    let scratch = written("place-wrong", "empty");
    let file = scratch.0.join("place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let lines = text.lines().count();
    let things = "[[object]]\nkind = \"wall\"\nname = \"in the way\"\nat = [0, 0]\nbox = [1, 1]\n\
                  [[object]]\nkind = \"lamp\"\nname = \"lamp\"\nat = [9, 9]\n";
    fs::write(&file, format!("{text}{things}")).expect("the file");

    let mistakes = PlaceFolder::read(&scratch.0).expect("readable").place().expect_err("wrong");

    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let at = |line: usize| format!("{}:{line}:1: ", file.display());
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with(&at(lines + 1)) && told[0].contains("where people appear"));
    assert!(told[1].starts_with(&at(lines + 6)) && told[1].contains("needs one of `box`"));
}

/// A table that was copied and not changed was called fine. What overlaps otherwise is how people build.
#[test]
fn a_thing_that_is_there_twice_is_told_with_both_lines() {
    let scratch = written("place-doubled", "empty");
    let file = scratch.0.join("place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let line = text.lines().count();
    let checked = |things: &[String]| {
        fs::write(&file, format!("{text}{}", things.concat())).expect("the file");
        PlaceFolder::read(&scratch.0).expect("readable").place()
    };
    let thing = |name: &str, rest: &str| {
        format!("[[object]]\nkind = \"wall\"\nname = \"{name}\"\n{rest}\n")
    };
    let wall = "at = [9, 9]\nbox = [1, 4]";
    let one = thing("one", wall);
    for (again, what) in [
        (thing("two", wall), "two"),
        (thing("two", "degrees = 180\nat = [9, 9]\nbox = [1, 4]"), "two"),
        (thing("two", "places = [[5, 5], [9, 9]]\nbox = [1, 4]"), "two 2"),
        (thing("two", "places = [[9, 9], [9, 9]]\nbox = [1, 4]"), "two 1"),
    ] {
        let mistakes = checked(&[one.clone(), again.clone()]).expect_err(&again);
        let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let begins =
            format!("{}:{}:1: {what:?} is the thing \"one\" of line ", file.display(), line + 6);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with(&format!("{begins}{} once more", line + 1)), "{told:?}");
    }
    let twice = thing("row", "places = [[9, 9], [9, 9], [9, 9]]\ndisc = 1");
    let mistakes = checked(&[twice]).expect_err("three discs in one");
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    for other in [
        "degrees = 90\nat = [9, 9]\nbox = [1, 4]",
        "at = [9, 9]\nbox = [1, 3]",
        "at = [9, 9]\ndisc = 1",
        "at = [9, 10]\nbox = [1, 4]",
        "at = [9, 9]\nbox = [1, 4]\nsensor = true",
        "at = [9, 9]\nbox = [1, 4]\ncategories = [3]",
        "at = [9, 9]\nbox = [1, 4]\nmotion = \"kinematic\"",
        "at = [9, 9]\nbox = [1, 4]\nowner = \"0101010101010101010101010101010101010101010101010101010101010101\"",
    ] {
        let place = checked(&[one.clone(), thing("two", other)]).expect(other);
        assert_eq!(place.doubled().count(), 0, "{other}");
    }
}

/// It was told alone, and by no list of mistakes.
#[test]
fn a_file_that_is_no_text_is_one_mistake_beside_those_of_other_files() {
    let scratch = written("place-bytes", "empty");
    fs::write(scratch.0.join("place.toml"), b"# Ours.\nname = \"\xff\"").expect("the file");
    let mistakes = || -> Vec<String> {
        let found = PlaceFolder::read(&scratch.0).expect("readable").place().expect_err("wrong");
        found.iter().map(ToString::to_string).collect()
    };
    let told = mistakes();
    assert_eq!(told.len(), 1, "what else is wrong there may come of it: {told:?}");
    assert!(told[0].contains("place.toml:2:9: the file is not UTF-8"), "{told:?}");

    for name in ["bell", "lamp"] {
        let package = scratch.0.join("packages").join(name);
        fs::create_dir_all(&package).expect("a folder");
        let manifest = format!(
            "name = \"{name}\"\nversion = \"1.0.0\"\napi = 1\nentry = \"main.rhai\"\n\
             licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n"
        );
        fs::write(package.join("package.toml"), manifest).expect("a file");
        fs::write(package.join("main.rhai"), "fn on_start() { sya(\"a\"); }\n").expect("a file");
    }
    let lamp = scratch.0.join("packages/lamp/main.rhai");
    fs::write(lamp, b"fn on_start() {\n  sya(\"\xe4\"); }\n").expect("a file");
    let told = mistakes();
    let [bell, lamp, file] = &told[..] else { panic!("{told:?}") };
    assert!(bell.contains("bell/main.rhai:1:17: there is no function sya"), "{told:?}");
    assert!(lamp.contains("lamp/main.rhai:2:8: the file is not UTF-8"), "{told:?}");
    assert!(file.contains("place.toml:2:9: the file is not UTF-8"), "{told:?}");
}

#[test]
fn a_place_of_too_many_bytes_is_refused_before_it_is_parsed() {
    let scratch = written("place-long", "empty");
    let long = vec![b'#'; usize::try_from(PLACE_BYTES_MAX).expect("megabytes") + 1];
    fs::write(scratch.0.join("place.toml"), long).expect("the file");
    let failure = PlaceFolder::read(&scratch.0).expect_err("PLACE_BYTES_MAX");
    assert!(failure.message.contains("more than 16777216 bytes"), "{failure}");
}

#[test]
fn a_place_of_too_many_files_is_refused() {
    let scratch = written("place-many", "empty");
    let package = scratch.0.join("packages/many");
    fs::create_dir_all(&package).expect("a folder");
    for number in 0..PLACE_FILES_MAX {
        fs::write(package.join(format!("{number}.rhai")), "").expect("a file");
    }
    let failure = PlaceFolder::read(&scratch.0).expect_err("PLACE_FILES_MAX");
    assert!(failure.message.contains("more than 4096 files"), "{failure}");
}
