//! Where the swarm plays: some two hundred bodies, twenty scripts, and up to three of them hostile.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use metatopia_scenarios::{Place, parse_package, plaza};

use crate::class::Class;

/// Crates on the ground, besides walls and what has scripts.
const CRATES: usize = 180;

/// Crates stand so far apart, in quarters of a metre.
const APART: i32 = 13;

/// The middle of nothing is as near to a script as this, in quarters of a metre.
const CLEAR: i32 = 12;

/// Where things with scripts are, in metres, as `fair.toml` says.
const TAKEN: &[(i32, i32)] =
    &[(-24, 8), (24, 8), (-12, -10), (12, -10), (-30, -15), (-10, 15), (10, 15), (30, -15), (0, 0)];

/// Where the three stand that do not behave, in metres.
const HOSTILE: [(Class, &str, i32, i32); 3] = [
    (Class::EndlessScript, "endless", -20, -16),
    (Class::FloodingScript, "flooding", 20, -16),
    (Class::PushingScript, "pushing", 0, -14),
];

const PLACE: &str = include_str!("../../../fair/fair.toml");

macro_rules! sources {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../../fair/", $name, ".rhai")))),*]
    };
}

/// The sources of the packages that only the fair has, by name.
const SOURCES: &[(&str, &str)] =
    sources!["juggler", "hopper", "endless", "flooding", "pushing", "idle"];

/// The class of a script that does not behave, by the file in which it failed.
pub(crate) fn class_of(file: &str) -> Option<Class> {
    let hostile = HOSTILE.iter().find(|(_, name, ..)| file.strip_suffix(".rhai") == Some(*name));
    hostile.map(|(class, ..)| *class)
}

/// The fair, with those hostile scripts that are among `classes`.
///
/// # Panics
/// Never: a test reads the files that were built in.
pub(super) fn place(classes: &BTreeSet<Class>) -> Place {
    let mut packages = plaza::packages();
    for (name, source) in SOURCES {
        let file = format!("{name}.rhai");
        let manifest = format!(
            "name = \"{name}\"\nversion = \"1.0.0\"\napi = 1\nentry = \"{file}\"\n\
             licence = \"AGPL-3.0-or-later\"\nauthors = [\"The Metatopia authors\"]\n"
        );
        let files = BTreeMap::from([("package.toml", manifest.as_str()), (&file, *source)]);
        packages.push(parse_package("fair", &files).expect("a test reads the fair's packages"));
    }
    let mut text = PLACE.to_owned();
    let mut add = |line: String| text.push_str(&line);
    add(format!(
        "\n[[object]]\nkind = \"crate\"\nname = \"crate\"\nplaces = [{}]\nbox = [\"0.9\", \"0.9\"]\n\
         motion = \"dynamic\"\nmass = 25\nfriction = \"0.4\"\nrestitution = \"0.1\"\ndamping = 3\n",
        crates()
    ));
    for (class, name, x, y) in HOSTILE {
        let package = if classes.contains(&class) { name } else { "idle" };
        add(format!(
            "\n[[object]]\nkind = \"stranger\"\nname = \"{name}\"\nat = [{x}, {y}]\n\
             disc = \"0.4\"\nscripts = [{{ package = \"{package}\" }}]\n"
        ));
    }
    Place::parse("fair.toml", &text, &packages).expect("a test reads the fair")
}

/// Rows of crates, with room around what moves by itself.
fn crates() -> String {
    let free = |x: i32, y: i32| {
        TAKEN.iter().all(|(a, b)| (x - 4 * a).abs().max((y - 4 * b).abs()) >= CLEAR)
    };
    let rows = (-5..=5).flat_map(|y| (-10..=10).map(move |x| (APART * x + 3, APART * y + 1)));
    let mut places = String::new();
    for (x, y) in rows.filter(|(x, y)| free(*x, *y)).take(CRATES) {
        write!(places, "[\"{}\", \"{}\"],", quarters(x), quarters(y)).expect("a string");
    }
    places
}

/// Quarters of a metre, written as metres.
fn quarters(value: i32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, part) = (value.abs() / 4, value.abs() % 4 * 25);
    format!("{sign}{whole}.{part:02}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{class_of, place};
    use crate::class::Class;
    use crate::replica::ReplicaSetting;
    use crate::signatures::SignatureKind;

    #[test]
    fn the_fair_has_two_hundred_bodies_and_twenty_scripts() {
        for classes in [BTreeSet::new(), Class::SCRIPTS.iter().copied().collect()] {
            let setting = ReplicaSetting::new(&place(&classes), SignatureKind::StandIn, 4, 4, 1);
            let world = setting.beginning();

            assert!(world.objects().count() >= 200, "{}", world.objects().count());
            let scripts: usize = world.objects().map(|object| object.scripts.len()).sum();
            assert_eq!(scripts, 20);
        }
        assert_eq!(class_of("pushing.rhai"), Some(Class::PushingScript));
        assert_eq!(class_of("idle.rhai"), None);
    }
}
