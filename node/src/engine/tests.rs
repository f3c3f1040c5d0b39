use std::collections::BTreeMap;

use metatopia_types::{Digest, Height, Root, SimId};

use super::*;
use crate::scratch::Scratch;

fn genesis(engine: u32) -> Genesis {
    let mut genesis =
        metatopia_scenarios::plaza::genesis(BTreeMap::new(), std::collections::BTreeSet::new());
    genesis.engine = engine;
    genesis
}

/// Returns a genesis whose parameters, or what follows them, this program cannot decode.
fn older(engine: u32) -> Vec<u8> {
    let mut bytes = postcard::to_allocvec(&("plaza", engine)).unwrap();
    bytes.extend([0xff; 40]);
    assert!(Genesis::decode(&bytes).is_err());
    bytes
}

#[test]
fn a_genesis_of_another_engine_is_told_with_the_commit_that_runs_it_also_if_it_cannot_be_decoded() {
    let folder = Scratch::made("engine-other");
    for (engine, commit) in LAST_COMMITS {
        if engine == ENGINE {
            continue;
        }
        for bytes in [older(engine), genesis(engine).encode()] {
            let other = check(&folder.0, &bytes).unwrap_err();
            assert_eq!((other.found, other.commit.as_deref()), (engine, Some(commit)));
            let told = other.to_string();
            assert!(told.contains(&folder.0.display().to_string()), "{told}");
            assert!(told.contains(&format!("is of engine {engine}, and this program")), "{told}");
            assert!(told.contains(&format!("git checkout {commit}")), "{told}");
        }
    }
    let told = check(&folder.0, &older(77)).unwrap_err().to_string();
    assert!(told.contains("engine 77") && told.contains("which one is not known here"), "{told}");
}

#[test]
fn a_successor_of_another_engine_is_told_too() {
    let parent = Parent {
        sim: SimId(Digest::ZERO),
        height: Height(7),
        root: Root(Digest::ZERO),
        proof: vec![1],
    };
    let mut bytes = postcard::to_allocvec(&("", &parent, "plaza two", 3_u32)).unwrap();
    bytes.extend([0xff; 40]);
    assert!(Genesis::decode(&bytes).is_err());
    assert_eq!(of_genesis(&bytes), Some(3));
}

#[test]
fn the_note_of_the_program_that_ran_last_names_its_commit() {
    let folder = Scratch::made("engine-note");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let note = |engine: u32, commit: &str| {
        let text = format!(
            "engine = {engine}\nversion = \"9\"\ncommit = \"{commit}\"\nmodified = \"no\"\nnew = 1\n"
        );
        fs::write(folder.0.join(NOTE), text).unwrap();
    };
    note(77, commit);
    let other = check(&folder.0, &older(77)).unwrap_err();
    assert_eq!(other.commit.as_deref(), Some(commit));
    // A genesis that cannot be read at all is of the engine that the note names.
    assert_eq!(check(&folder.0, &[0xff; 9]).unwrap_err().found, 77);
    // A text that is no commit is not put into a command.
    note(77, "unknown");
    assert_eq!(check(&folder.0, &older(77)).unwrap_err().commit, None);
    note(77, "$(rm -rf ~)");
    assert_eq!(check(&folder.0, &older(77)).unwrap_err().commit, None);
    // A note of another engine than the genesis says nothing about this genesis.
    note(78, commit);
    assert_eq!(check(&folder.0, &older(77)).unwrap_err().commit, None);
}

#[test]
fn what_this_program_runs_is_noted_and_goes_on() {
    let folder = Scratch::made("engine-own");
    note(&folder.0).unwrap();
    let noted = BuildNote::read(&folder.0).unwrap();
    assert_eq!(noted, BuildNote::own());
    assert_eq!(noted.engine, ENGINE);
    assert_eq!(check(&folder.0, &genesis(ENGINE).encode()), Ok(()));
    // Damage passes here, and whoever decodes the genesis reports it.
    assert_eq!(check(&folder.0, &older(ENGINE)), Ok(()));
    assert_eq!(check(&folder.0, &[0xff; 9]), Ok(()));
}

#[test]
fn a_note_that_is_too_long_is_none() {
    let folder = Scratch::made("engine-long");
    note(&folder.0).unwrap();
    let path = folder.0.join(NOTE);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str(&"#".repeat(usize::try_from(NOTE_BYTES_MAX).unwrap()));
    fs::write(&path, text).unwrap();
    assert_eq!(BuildNote::read(&folder.0), None);
}

#[test]
fn a_directory_that_a_later_engine_went_on_from_is_that_ones() {
    let folder = Scratch::made("engine-later");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let later = ENGINE + 1;
    let text =
        format!("engine = {later}\nversion = \"9\"\ncommit = \"{commit}\"\nmodified = \"no\"\n");
    fs::write(folder.0.join(NOTE), text).unwrap();

    let other = check(&folder.0, &genesis(ENGINE).encode()).unwrap_err();

    assert_eq!((other.found, other.commit.as_deref()), (later, Some(commit)));
}

#[test]
fn a_genesis_of_other_rules_under_the_same_number_is_told_with_both() {
    let folder = Scratch::made("engine-rules");
    let rules = Digest([7; 32]);
    let genesis = Genesis { rules, ..genesis(ENGINE) };

    let other = check(&folder.0, &genesis.encode()).unwrap_err();

    assert_eq!((other.found, other.rules), (ENGINE, Some(rules)));
    let told = other.to_string();
    assert!(told.contains(&format!("is of engine {ENGINE} by rules {rules}")), "{told}");
    assert!(told.contains(&format!("runs engine {ENGINE} by rules unreleased")), "{told}");
}

#[test]
fn a_state_of_another_engine_is_told_with_its_file_and_a_damaged_one_is_not() {
    let folder = Scratch::made("engine-state");
    let damaged = PassedOver::Unusable("the file is not what was written".to_owned());
    assert_eq!(check_states(&folder.0, std::slice::from_ref(&damaged)), Ok(()));
    let file = metatopia_store::FileName::segment(0);
    let state = PassedOver::OtherEngine { file, found: ENGINE + 1 };

    let error = check_states(&folder.0, &[damaged, state.clone()]).unwrap_err();

    let name = folder.0.display().to_string();
    assert_eq!(error, OtherFile::State { name, state, commit: None });
    assert!(error.to_string().contains("nothing there is changed"), "{error}");
}
