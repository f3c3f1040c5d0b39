//! Places of one's own: written, changed, founded, exported, and founded again.

use std::fs;

use crate::plaza::{Folder, Plaza, json, run};

#[test]
fn a_place_of_ones_own_runs_and_comes_out_of_its_sim_as_the_same_text() {
    let folder = Folder::new("places");
    let path = |name: &str| folder.join(name).display().to_string();
    let (own, copy, again) = (path("harbour"), path("copy"), path("again"));

    let made = json(&["place", "new", &own, "--template", "house", "--json"]);
    assert_eq!((made["name"].as_str(), made["packages"].as_u64()), (Some("harbour"), Some(2)));
    let checked = json(&["place", "check", &own, "--json"]);
    assert_eq!(checked["name"], "harbour");

    let plaza = Plaza::start_at(&folder.join("world"), 1, &own);
    let node = plaza.servers[0].url.as_str();
    plaza.reach(0, 3);
    let exported = json(&["place", "export", &copy, "--node", node, "--json"]);
    assert_eq!(exported["objects"], made["objects"]);
    let taken = run(&["place", "export", &copy, "--node", node]);
    assert_eq!(taken.status.code(), Some(4), "a folder that is not empty stays as it is");
    drop(plaza);

    let founded = Plaza::start_at(&folder.join("other"), 1, &copy);
    founded.reach(0, 3);
    let node = founded.servers[0].url.as_str();
    json(&["place", "export", &again, "--node", node, "--json"]);
    let text = |dir: &str| fs::read_to_string(format!("{dir}/place.toml")).expect("the file");
    assert_eq!(text(&again), text(&copy));
    let door = |dir: &str| fs::read_to_string(format!("{dir}/packages/door/door.rhai"));
    assert_eq!(door(&again).expect("the source"), door(&own).expect("the source"));
}

#[test]
fn mistakes_in_a_place_are_named_before_anything_is_founded() {
    let folder = Folder::new("places-wrong");
    let own = folder.join("yard").display().to_string();
    json(&["place", "new", &own, "--template", "empty", "--json"]);
    let file = format!("{own}/place.toml");
    let text = fs::read_to_string(&file).expect("the file");
    let line = text.lines().count() + 1;
    fs::write(&file, format!("{text}[[object]]\nkind = \"lamp\"\nname = \"lamp\"\n"))
        .expect("the file");
    let world = folder.join("world").display().to_string();

    for arguments in
        [vec!["place", "check", &own], vec!["up", "--place", &own, "--data-dir", &world]]
    {
        let output = run(&arguments);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(&format!("{file}:{line}:1: an object needs")), "{told}");
    }
    assert!(!folder.join("world").exists());
}
