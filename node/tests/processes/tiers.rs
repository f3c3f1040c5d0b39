//! A place on the advanced tier of physics: one word in its file, and all else as anywhere.

use std::fs;

use crate::{
    places::mistake_is_named,
    plaza::{Folder, Person, Plaza, json, key},
};

#[test]
fn one_word_in_its_file_puts_a_place_on_the_advanced_tier_and_an_unknown_tier_is_named() {
    let folder = Folder::new("tiers");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, copy) = (path("yard"), path("copy"));
    json(&["place", "new", &own, "--template", "playground", "--json"]);
    let file = format!("{own}/place.toml");
    let text = fs::read_to_string(&file).expect("the file");

    fs::write(&file, format!("tier = \"newton\"\n{text}")).expect("the file");
    let mistake = format!("{file}:1:8: \"newton\" is no tier");
    mistake_is_named(&own, &folder.join("world"), &mistake);

    // Where people arrive is one point here, from which the dominoes are in sight wherever one falls.
    let still = text.replace("spawn_radius = 2", "spawn_radius = 0");
    assert_ne!(still, text);
    fs::write(&file, format!("tier = \"advanced\"\n{still}")).expect("the file");
    assert_eq!(json(&["place", "check", &own, "--json"])["name"], "yard");
    let plaza = Plaza::start_at(&folder.join("world"), 2, &own);
    let mut person = Person::enter(&plaza.servers[0].url, &key(&folder, "ada"));
    for seen in ["domino 1, ", "what you see is proven"] {
        person.types("look");
        person.sees(seen);
    }
    person.types("rules");
    person.sees("All that is loose falls south, by 9.8 m/s^2.");
    person.leaves();

    let height = plaza.height(0) + 1;
    (0..2).for_each(|n| _ = plaza.reach(n, height));
    let roots = plaza.roots(&[0, 1], height);
    assert_eq!(roots[0], roots[1], "both servers moved the bodies alike");
    json(&["place", "export", &copy, "--node", &plaza.servers[0].url, "--json"]);
    let exported = fs::read_to_string(format!("{copy}/place.toml")).expect("the file");
    assert!(exported.contains("tier = \"advanced\""), "{exported}");
    plaza.stop();
}
