//! Servers that are gone for good: somebody who kept a state carries their world on.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use metatopia::first_state::first_state;
use metatopia_math::Fx;
use metatopia_sim::{Genesis, Tools, WorldObject};
use metatopia_types::Ed25519;
use serde_json::Value;

use crate::plaza::{Folder, Person, Plaza, json, key, run};

/// Runs a command that must fail, with this exit code and these words.
fn refused(arguments: &[&str], code: i32, words: &[&str]) {
    let output = run(arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
    for word in words {
        assert!(told.contains(word), "{arguments:?}: no `{word}` in {told}");
    }
}

/// Returns where everything is in the world that this genesis begins with, by name, in metres.
fn places(genesis: &Path) -> BTreeMap<String, [f64; 2]> {
    let bytes = fs::read(genesis).expect("a genesis");
    let decoded = Genesis::decode(&bytes).expect("a genesis");
    let world = first_state(&decoded, genesis, &Tools::new(Arc::new(Ed25519))).expect("its state");
    let metres = |coordinate: Fx| coordinate.to_bits() as f64 / Fx::ONE.to_bits() as f64;
    let place = |seen: WorldObject| (seen.name, [metres(seen.position.x), metres(seen.position.y)]);
    world.objects().map(place).collect()
}

/// Returns the numbers with a point in a line: those before `west` and `south` are negative.
fn numbers(line: &str) -> Vec<f64> {
    let words: Vec<&str> = line.split([' ', ',']).map(|word| word.trim_end_matches('.')).collect();
    let number = |(at, word): (usize, &&str)| {
        let number: f64 = word.contains('.').then(|| word.parse().ok())??;
        let is_back = words.get(at + 1).is_some_and(|word| ["west", "south"].contains(word));
        Some(if is_back { -number } else { number })
    };
    words.iter().enumerate().filter_map(number).collect()
}

/// Checks that a successor is refused with another parent, and with a changed or a missing state.
fn refuse_what_does_not_fit(own: &str, elsewhere: &str) {
    refused(&["sim", "verify", own, "--parent", own], 5, &["another sim"]);
    let state = format!("{own}.state");
    let whole = fs::read(&state).expect("the parent's state");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(&state, flipped).expect("our own file");
    refused(&["sim", "verify", own], 5, &["is not the snapshot", &state]);
    fs::remove_file(&state).expect("our own file");
    refused(&["sim", "verify", own], 3, &[&state]);
    refused(
        &["sim", "succeed", own, "--name", "x", "--data-dir", elsewhere],
        2,
        &["neither a data directory nor a server's snapshot"],
    );
}

#[test]
fn a_world_whose_servers_are_gone_is_carried_on_from_the_state_that_one_of_them_kept() {
    let folder = Folder::new("succession");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let ada = key(&folder, "ada");
    let mut person = Person::enter(&plaza.servers[0].url, &ada);
    person.types("look");
    person.sees("You stand at");
    person.types("push crate");
    let pushed = person.sees("You push crate");
    let name = pushed["You push ".len()..].split(':').next().expect("its name").to_owned();
    person.types("say remember us");
    person.sees("remember us");
    person.leaves();
    plaza.reach(0, plaza.height(0) + 6);
    let (dir, sim) = (plaza.dir.clone(), plaza.sim.clone());
    // It was founded without a word, of a world that lives.
    let (lives, early) = (dir.join("server-2"), folder.join("early"));
    let (lives, early) = (lives.display().to_string(), early.display().to_string());
    let succeed = ["sim", "succeed", &lives, "--name", "x", "--data-dir", &early];
    refused(&succeed, 4, &["another process is using", "stop it"]);
    assert!(!Path::new(&early).exists());
    plaza.stop();
    for index in [0, 1, 3] {
        fs::remove_dir_all(dir.join(format!("server-{index}"))).expect("it is gone for good");
    }
    let text = |path: &Path| path.display().to_string();
    let (kept, again) = (text(&dir.join("server-2")), text(&folder.join("again")));
    let genesis = text(&dir.join("server-2/genesis"));
    let own = format!("{again}/server-0/genesis");
    let succeed = ["sim", "succeed", "--json", "--name", "plaza again", &kept];
    let founded = json(&[&succeed[..], &["--data-dir", &again]].concat());
    assert_eq!(
        (&founded["parent"]["sim"], &founded["parent"]["proof"]),
        (&sim.into(), &true.into())
    );
    let verified = json(&["sim", "verify", "--json", &own, "--parent", &genesis]);
    assert_eq!((&verified["certified"], &verified["sim"]), (&true.into(), &founded["sim"]));
    let shown = json(&["sim", "show", "--json", &again]);
    assert_eq!(shown["rules"], "unreleased", "{shown}");
    assert_eq!(shown["parent"], founded["parent"]);
    // The old word answers for one release, and names the new one.
    let old_word = run(&["world", "show", "--json", &again]);
    assert_eq!(old_word.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&old_word.stderr).contains("`metatopia sim`"));

    // The box is not where the old world began with it, and stays where it was pushed to.
    let (first, last) = (places(&dir.join("server-2/genesis")), places(Path::new(&own)));
    assert_ne!(first[&name], last[&name]);
    let height = founded["parent"]["height"].to_string();
    let before = json(&["replay", "--json", "--quick", &kept, "--at", &height]);
    assert_eq!(before["state"]["root"], founded["parent"]["root"]);

    let plaza = Plaza::start(&folder.join("again"), 4);
    assert_eq!(Value::from(plaza.sim.clone()), founded["sim"]);
    plaza.reach(3, 10);
    let status = plaza.status(1);
    assert_eq!(status["parent"]["sim"], founded["parent"]["sim"]);
    let roots = plaza.roots(&[0, 1, 2, 3], 10);
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    let mut person = Person::enter(&plaza.servers[1].url, &ada);
    person.types("look");
    let here = numbers(&person.sees("You stand at"));
    let away = numbers(&person.sees(&format!("{name}, ")));
    let [x, y] = last[&name];
    let distance = (x - here[0]).hypot(y - here[1]);
    assert!((distance - away[0]).abs() < 0.2, "{name} is {away:?} m from {here:?}, not {distance}");
    // Its lands came with the state; the genesis of a successor names none.
    person.types("land");
    person.sees("everybody builds there");
    person.types("build box 0.5 0.5 brown bench");
    person.sees("You build");
    person.leaves();
    plaza.stop();
    let verdicts = run(&["log", "verify", "--json", &again]);
    assert_eq!(verdicts.status.code(), Some(0), "{}", String::from_utf8_lossy(&verdicts.stdout));

    // What does not fit is refused, each with its reason.
    refused(&[&succeed[..], &["--data-dir", &again]].concat(), 4, &["is not empty", &again]);
    refuse_what_does_not_fit(&own, &text(&folder.join("elsewhere")));
}
