//! Land of one's own, in words.

use std::fs;

use crate::plaza::{Folder, Person, Plaza, json, key};

/// A place of nothing but ground, in which everybody arrives at the same point.
pub(crate) fn ground(folder: &Folder) -> String {
    let own = folder.join("ground").display().to_string();
    json(&["place", "new", &own, "--template", "empty", "--json"]);
    let file = format!("{own}/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let certain = text.replace("spawn_radius = 3", "spawn_radius = 0");
    assert_ne!(certain, text);
    fs::write(&file, certain).expect("the file");
    own
}

/// Types lines one after the other, and sees the answer to each.
pub(crate) fn talks(person: &mut Person, story: &[(&str, &str)]) {
    for (typed, seen) in story {
        person.types(typed);
        person.sees(seen);
    }
}

#[test]
fn a_person_takes_ground_shares_it_and_gives_it_away() {
    let folder = Folder::new("lots");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let mut ada = Person::enter_as("Ada", url, &key(&folder, "ada"));
    talks(
        &mut ada,
        &[
            ("lots", "You hold 0 of 2 lots, with 0 of 256 square metres."),
            ("lot claim 8x8", "the place where people arrive is kept clear"),
            ("lot name Garden", "You stand on no lot; `lots` tells where they are"),
            ("go north 12", "You walk"),
            ("lot claim 2x8", "That did not work"),
            ("lot claim 8", "that is `lot claim 8x8`"),
            ("lot claim 20x20", "the holder has as many lots, or as much ground"),
            (
                "lot claim 8x8",
                "8 x 8 m around you are yours; `lot name WORDS` gives the lot a name.",
            ),
            ("lot claim 4x4", "a part of that ground is a lot already"),
            ("lot name Rose garden", "The lot is called Rose garden now."),
            ("look", "You stand on the lot Rose garden: it is yours."),
            ("lots", "Rose garden, 8 x 8 m"),
        ],
    );
    ada.sees("You hold 1 of 2 lots, with 64 of 256 square metres.");

    let mut bob = Person::enter_as("Bob", url, &key(&folder, "bob"));
    bob.types("lots");
    let told = bob.sees("Rose garden");
    assert!(told.contains("it belongs to Ada (key ") && !told.contains("open to"), "{told}");
    talks(&mut ada, &[("lot open to Bob", "Bob may build here.")]);
    bob.types("lots");
    let told = bob.sees("Rose garden");
    assert!(told.contains("and open to you"), "{told}");
    talks(&mut ada, &[("lot give to Bob", "Rose garden is Bob's now.")]);
    bob.types("lots");
    let told = bob.sees("Rose garden");
    assert!(told.ends_with(": it is yours."), "{told}");
    talks(
        &mut ada,
        &[
            ("lot return", "That did not work"),
            ("home", "You are where people arrive."),
            ("lot return", "You stand on no lot"),
            ("lots", "You hold 0 of 2 lots"),
        ],
    );
    bob.leaves();
    ada.leaves();
    sim.stop();
}
