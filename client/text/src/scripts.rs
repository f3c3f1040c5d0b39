//! Which of the scripts on a thing is meant.

use std::collections::BTreeSet;

use metatopia_client::{Scene, SceneObject, text::printable};
use metatopia_scripting::Package;
use metatopia_types::{ObjectId, ScriptId};

use super::pointing::pointed;

/// A script on a thing, with the package that it runs.
#[derive(Clone, Debug)]
pub(super) struct ScriptOnThing {
    pub(super) script: ScriptId,
    pub(super) package: Package,
}

/// Returns the thing in sight that was typed, or else the thing before the last word, which names one of its
/// scripts.
pub(super) fn scripted<'s, 't>(
    scene: &'s Scene,
    it: Option<ObjectId>,
    typed: &'t str,
) -> Option<(&'s SceneObject, Option<&'t str>)> {
    if let Some(thing) = pointed(scene, it, typed) {
        return Some((thing, None));
    }
    let (thing, script) = typed.rsplit_once(char::is_whitespace)?;
    Some((pointed(scene, it, thing.trim())?, Some(script)))
}

/// Returns the package of the script that is meant: that of this name, or of the script of this number.
/// Scripts of one package are as good as one.
///
/// # Errors
/// A line that says which scripts there are, and how to name one.
pub(super) fn edited<'r>(
    running: &'r [ScriptOnThing],
    thing: &str,
    named: Option<&str>,
) -> Result<&'r Package, String> {
    let is_meant = |one: &&ScriptOnThing| match named {
        Some(named) => {
            let name = &one.package.manifest().name;
            name.eq_ignore_ascii_case(named) || one.script.to_string() == named
        }
        None => true,
    };
    let meant: Vec<&ScriptOnThing> = running.iter().filter(is_meant).collect();
    let packages: BTreeSet<_> = meant.iter().map(|one| one.package.id()).collect();
    if let ([first, ..], 1) = (&meant[..], packages.len()) {
        return Ok(&first.package);
    }
    let (thing, there) = (printable(thing), listed(running.iter()));
    Err(match (named, &meant[..]) {
        (Some(named), []) => format!("No {} runs on {thing}, but {there}.", printable(named)),
        (None, [first, ..]) => {
            let first = &first.package.manifest().name;
            format!("On {thing} run {there}. Name one by its package: edit {thing} {first}")
        }
        (_, meant) => {
            let number = meant.first().map_or_else(String::new, |one| one.script.to_string());
            let there = listed(meant.iter().copied());
            format!("On {thing} run {there}. Name one by its number: edit {thing} {number}")
        }
    })
}

/// Returns the script whose place a package takes: the one of its name, or else one that runs its parent.
///
/// # Errors
/// A line that says which scripts there are, if several are of its name and none or several of those run
/// its parent.
pub(super) fn replaced(
    running: &[ScriptOnThing],
    package: &Package,
) -> Result<Option<ScriptId>, String> {
    let (name, parent) = (&package.manifest().name, package.manifest().parent);
    let is_child = |one: &&ScriptOnThing| Some(one.package.id()) == parent;
    let named: Vec<&ScriptOnThing> =
        running.iter().filter(|one| one.package.manifest().name == *name).collect();
    let among: Vec<&ScriptOnThing> = match named[..] {
        [] => running.iter().filter(is_child).collect(),
        [one] => vec![one],
        _ => match named.iter().copied().filter(is_child).collect() {
            narrowed if Vec::len(&narrowed) == 1 => narrowed,
            _ => named,
        },
    };
    match among[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.script)),
        _ => Err(listed(among.into_iter())),
    }
}

/// Returns scripts in words, with their numbers.
fn listed<'r>(scripts: impl Iterator<Item = &'r ScriptOnThing>) -> String {
    let words = |one: &ScriptOnThing| {
        format!("{} (script {})", printable(&one.package.manifest().name), one.script)
    };
    scripts.map(words).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use metatopia_scripting::{Draft, PackageAuthor};
    use metatopia_types::{Height, PackageId, Tick};

    use super::*;
    use crate::fixture::thing;

    fn package(name: &str, source: &str, parent: Option<PackageId>) -> Package {
        let draft = Draft {
            name: name.into(),
            version: "1.0.0".into(),
            api: 1,
            entry: "main.rhai".into(),
            files: [("main.rhai".to_owned(), source.as_bytes().to_vec())].into(),
            licence: "AGPL-3.0-or-later".into(),
            authors: vec![PackageAuthor { name: "Ada".into(), key: None }],
            parent,
            ..Draft::default()
        };
        Package::build(draft).expect("a package in order")
    }

    fn runs(script: u64, package: &Package) -> ScriptOnThing {
        ScriptOnThing { script: ScriptId(script), package: package.clone() }
    }

    #[test]
    fn the_last_word_names_a_script_where_no_thing_is_called_like_all_of_them() {
        let objects = vec![thing(1, "Ada"), thing(2, "lantern"), thing(3, "red lantern")];
        let scene = Scene { height: Height(1), tick: Tick(3), me: Some(ObjectId(1)), objects };
        let found = |it, typed| {
            let (thing, script) = scripted(&scene, it, typed)?;
            Some((thing.id.0, script))
        };
        assert_eq!(found(None, "lantern"), Some((2, None)));
        assert_eq!(found(None, "red lantern"), Some((3, None)));
        assert_eq!(found(None, "lantern bell"), Some((2, Some("bell"))));
        assert_eq!(found(None, "red lantern bell"), Some((3, Some("bell"))));
        assert_eq!(found(None, "object 3 7"), Some((3, Some("7"))));
        assert_eq!(found(Some(ObjectId(3)), "it bell"), Some((3, Some("bell"))));
        assert_eq!(found(None, "door bell"), None);
    }

    /// `edit THING` took the first of several scripts, and no line named another.
    #[test]
    fn one_of_several_scripts_is_named_by_its_package() {
        let (bell, lamp) = (package("bell", "", None), package("lamp", "", None));
        let running = [runs(3, &bell), runs(7, &lamp)];
        let edited = |named| edited(&running, "lantern", named).map(Package::id);
        assert_eq!(edited(Some("lamp")), Ok(lamp.id()));
        assert_eq!(edited(Some("Bell")), Ok(bell.id()));
        assert_eq!(edited(Some("7")), Ok(lamp.id()));
        let told = "On lantern run bell (script 3), lamp (script 7). Name one by its package: \
                    edit lantern bell";
        assert_eq!(edited(None), Err(told.to_owned()));
        let told = "No door runs on lantern, but bell (script 3), lamp (script 7).";
        assert_eq!(edited(Some("door")), Err(told.to_owned()));
    }

    #[test]
    fn a_script_that_is_alone_or_of_the_same_package_as_all_others_needs_no_name() {
        let bell = package("bell", "", None);
        let all = [runs(3, &bell), runs(4, &bell)];
        for running in [&all[..1], &all] {
            assert_eq!(edited(running, "lantern", None).map(Package::id), Ok(bell.id()));
        }
    }

    #[test]
    fn packages_of_one_name_are_told_apart_by_the_numbers_of_their_scripts() {
        let (old, new) = (package("bell", "", None), package("bell", "// new", None));
        let running = [runs(3, &old), runs(4, &new)];
        let told = "On lantern run bell (script 3), bell (script 4). Name one by its number: \
                    edit lantern 3";
        assert_eq!(edited(&running, "lantern", Some("bell")), Err(told.to_owned()));
        assert_eq!(edited(&running, "lantern", Some("4")).map(Package::id), Ok(new.id()));
    }

    /// The first of all scripts gave way that ran the parent, or a package of the same name.
    #[test]
    fn a_package_takes_the_place_of_its_name_before_that_of_its_parent() {
        let bell = package("bell", "", None);
        let own = package("my-bell", "", Some(bell.id()));
        let newer = package("my-bell", "// newer", Some(bell.id()));
        let script = |running: &[ScriptOnThing], package| replaced(running, package);
        assert_eq!(script(&[], &own), Ok(None));
        assert_eq!(script(&[runs(3, &bell)], &own), Ok(Some(ScriptId(3))));
        assert_eq!(script(&[runs(3, &bell), runs(4, &own)], &newer), Ok(Some(ScriptId(4))));
        let two = [runs(3, &bell), runs(4, &package("bell", "// other", None))];
        let next = package("bell", "// next", Some(bell.id()));
        assert_eq!(script(&two, &next), Ok(Some(ScriptId(3))), "it runs the parent");
        let told = "bell (script 3), bell (script 4)";
        assert_eq!(script(&two, &package("bell", "// next", None)), Err(told.to_owned()));
    }
}
