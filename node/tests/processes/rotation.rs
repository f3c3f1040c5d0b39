//! A key that is given up for a new one.

use std::{fs, process::Output};

use crate::{
    lots::{ground, talks},
    plaza::{Folder, Person, Plaza, json, key, run},
};

#[test]
fn who_rotates_a_key_has_her_name_and_lot_by_the_new_one_and_nothing_by_the_old() {
    let folder = Folder::new("rotation");
    let sim = Plaza::start_at(&folder.join("world"), 1, &ground(&folder));
    let url = sim.servers[0].url.as_str();
    let (old, new) = (key(&folder, "old.key"), folder.join("new.key").display().to_string());
    let mut ada = Person::enter_as("Ada", url, &old);
    talks(
        &mut ada,
        &[
            ("go north 12", "You walk"),
            ("lot claim 8x8", "8 x 8 m around you are yours"),
            ("lot name Rose garden", "The lot is called Rose garden now."),
            ("lots", "Rose garden, 8 x 8 m"),
        ],
    );
    ada.leaves();

    // Whoever has a copy of the key is in the sim when its owner gives it up.
    let mut thief = Person::enter_as("Ada", url, &old);
    talks(&mut thief, &[("lots", "You hold 1 of 2 lots")]);
    let rotated = json(&["keys", "rotate", &old, "--out", &new, "--json"]);
    let public = rotated["public"].as_str().expect("a key").to_owned();
    assert!(folder.join("new.key.rotation").exists());

    let mut ada = Person::enter_as("Ada", url, &new);
    ada.types("who");
    let told = ada.sees("that is you");
    assert!(told.starts_with(&format!("Ada (key {}..", &public[..8])), "{told}");
    ada.types("lots");
    let told = ada.sees("Rose garden, 8 x 8 m");
    assert!(told.ends_with(": it is yours."), "{told}");
    ada.sees("You hold 1 of 2 lots, with 64 of 256 square metres.");
    talks(&mut thief, &[("lots", "You hold 0 of 2 lots"), ("say boo", "the key was rotated to ")]);
    ada.leaves();

    for command in [&["client"][..], &["say", "boo"]] {
        let refused = run(&[command, &["--node", url, "--key", &old, "--name", "Ada"]].concat());
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(4), "{told}");
        assert!(told.contains(&format!("your key was rotated to {public}")), "{told}");
        assert!(told.contains("give the new key by --key"), "{told}");
    }

    // The document is shown at each login, and without it the key is known by now.
    Person::enter_as("Ada", url, &new).leaves();
    fs::remove_file(folder.join("new.key.rotation")).expect("the document");
    let mut ada = Person::enter_as("Ada", url, &new);
    talks(&mut ada, &[("lots", "You hold 1 of 2 lots")]);
    ada.leaves();
    sim.stop();
}

#[test]
fn an_admin_rotates_a_key_in_a_sim_by_invitation_and_stays_its_admin() {
    let folder = Folder::new("rotated-admin");
    let sim = Plaza::start_ruled(&folder.join("world"), 4, "invite");
    let url = sim.servers[1].url.as_str();
    let old = folder.join("world").join("admin.key").display().to_string();
    let [new, newer] = ["new", "newer"].map(|name| folder.join(name).display().to_string());
    let ticket = |key: &str| run(&["ticket", "new", "--node", url, "--key", key]);
    says(&ticket(&old), 0, "");

    json(&["keys", "rotate", &old, "--out", &new, "--json"]);
    says(&run(&["keys", "rotate", &old, "--out", &new]), 4, &new);
    // The sim lets in nobody new, but this key shows whose place it takes.
    says(&ticket(&new), 0, "");
    says(&ticket(&old), 4, "give the new key by --key");
    says(&ticket(&new), 0, "");

    // A second rotation within a day is refused, and the key before it stays good.
    json(&["keys", "rotate", &new, "--out", &newer, "--json"]);
    says(&ticket(&newer), 4, "rotated again a day later");
    says(&ticket(&new), 0, "");
    sim.stop();
}

fn says(output: &Output, code: i32, text: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert!(errors.contains(text), "`{text}` is not in: {errors}");
}
