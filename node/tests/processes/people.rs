//! What people see and do in words.

use crate::plaza::{Folder, Person, Plaza, key};

#[test]
fn a_person_walks_pushes_talks_and_reads_the_source_of_the_door() {
    let folder = Folder::new("people");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let mut person = Person::enter(&plaza.servers[0].url, &key(&folder, "ada"));

    person.types("look");
    person.sees("You stand at");
    person.sees("greeter");
    person.sees("signed by");
    person.types("proof");
    person.sees("what you see is proven");
    person.sees("hash to it");
    person.sees("Signed by server");
    person.types("go north");
    person.sees("You walk");
    person.types("say help");
    person.sees("greeter says");
    person.types("emote wave");
    person.sees("You wave");
    person.types("touch bell");
    person.sees("bell says");
    person.types("who");
    person.sees("that is you");
    person.types("source door");
    person.sees("AGPL-3.0-or-later");
    person.sees("re-hashes to");
    person.sees("fn on_touch");
    person.types("fly");
    person.types("go nowhere-at-all");
    person.types("look");
    person.sees("You stand at");
    person.leaves();
    plaza.stop();
}

#[test]
fn whose_server_is_killed_goes_on_at_another_and_loses_no_act() {
    let folder = Folder::new("moving");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let urls: Vec<&str> = plaza.servers[1..].iter().map(|server| server.url.as_str()).collect();
    let mut person = Person::enter(&urls.join(","), &key(&folder, "ada"));
    person.types("look");
    person.sees("what you see is proven");

    plaza.kill(1);
    for n in 1..=5 {
        person.types(&format!("say number {n}"));
        person.sees(&format!("You say: number {n}"));
    }
    person.types("look");
    person.sees("You stand at");
    person.sees("what you see is proven");
    person.leaves();
    plaza.stop();
}

/// Somebody who knows the address of one server alone learns from it where the others are.
#[test]
fn whose_only_known_server_is_killed_goes_on_at_one_that_it_was_told_of() {
    let folder = Folder::new("told-of");
    let plaza = Plaza::start(&folder.join("world"), 4);
    plaza.knows_endpoints(1, 4);
    let mut other = Person::enter(&plaza.servers[3].url, &key(&folder, "bob"));
    // Who has not entered hears nobody.
    other.types("look");
    other.sees("what you see is proven");
    let mut person = Person::enter(&plaza.servers[1].url, &key(&folder, "ada"));
    person.types("look");
    person.sees("what you see is proven");
    person.types("shout number 0");
    other.sees("number 0");

    plaza.kill(1);
    (1..=5).for_each(|n| person.types(&format!("shout number {n}")));

    for n in 1..=5 {
        let line = other.sees("number");
        assert!(line.contains(&format!("number {n}")), "{line}: each once, and in order");
    }
    person.types("look");
    person.sees("what you see is proven");
    person.leaves();
    other.leaves();
    plaza.stop();
}

/// A client whose key somebody used elsewhere as well was refused whatever was typed, until it was started again.
#[test]
fn two_clients_with_one_key_at_two_servers_act_in_turn_and_everybody_hears_both() {
    let folder = Folder::new("two-devices");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let key_file = key(&folder, "ada");
    let mut bob = Person::enter_as("Bob", &plaza.servers[2].url, &key(&folder, "bob"));
    bob.types("look");
    bob.sees("what you see is proven");
    let devices = [0, 1].map(|index| {
        let mut device = Person::enter_as("Ada", &plaza.servers[index].url, &key_file);
        device.types("look");
        device.sees("what you see is proven");
        device
    });
    let [mut first, mut second] = devices;

    for round in 0..2 {
        for (name, device) in [("first", &mut first), ("second", &mut second)] {
            let words = format!("round {round} of the {name}");
            device.types(&format!("shout {words}"));
            device.sees(&format!("You shout: {words}"));
            bob.sees(&words);
        }
        bob.types(&format!("shout {round} is heard"));
        first.sees(&format!("{round} is heard"));
        second.sees(&format!("{round} is heard"));
    }
    for (device, way) in [(&mut first, "north"), (&mut second, "south")] {
        device.types(&format!("go {way}"));
        device.sees("You walk");
    }
    // Who leaves with one of them stays with the other.
    first.leaves();
    second.types("emote wave");
    second.sees("You wave");
    second.leaves();
    bob.leaves();
    plaza.stop();
}
