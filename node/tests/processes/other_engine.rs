//! A directory of another engine is told as such by every command, and left as it is.

use std::{collections::BTreeMap, fs, path::Path};

use metatopia_store::{FileKind, FileName};
use metatopia_types::{Digest, Height, Root};

use crate::plaza::{Folder, Plaza, run};

/// Every file below a folder, with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("our own folder") {
        let path = entry.expect("our own folder").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).expect("our own file"));
        }
    }
    found
}

#[test]
fn a_world_of_another_engine_is_left_as_it_is_with_the_commit_that_runs_it() {
    let folder = Folder::new("engine");
    let dir = folder.join("world");
    Plaza::start(&dir, 1).stop();
    let home = dir.join("server-0");
    let note = fs::read_to_string(home.join("program.toml")).expect("the program has noted itself");
    assert!(note.contains("engine = ") && note.contains("commit = "), "{note}");
    // What a genesis of engine 3 begins with: name and engine. What follows is of other types.
    let mut genesis = vec![5];
    genesis.extend(b"plaza");
    genesis.push(3);
    genesis.extend([0xff; 80]);
    fs::write(home.join("genesis"), genesis).expect("our own file");
    let before = files(&dir);

    let (dir_text, home_text) = (dir.display().to_string(), home.display().to_string());
    let config = home.join("metatopia.toml").display().to_string();
    let new = folder.join("new").display().to_string();
    let commands: [&[&str]; 7] = [
        &["up", "--http-port", "0", "--data-dir", &dir_text],
        &["node", "run", "--config", &config],
        &["log", "verify", &dir_text],
        &["replay", &home_text],
        &["bisect", &home_text, &home_text],
        &["sim", "succeed", &home_text, "--name", "mine", "--data-dir", &new],
        &["recover", "propose", "--data-dir", &home_text, "--out", &new],
    ];
    for command in commands {
        let output = run(command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(8), "{command:?}: {told}");
        for part in ["is of engine 3", "left as it is", "git checkout 03170009291ad836f18bb3785b"] {
            assert!(told.contains(part), "{command:?} does not say `{part}`: {told}");
        }
    }
    let mut after = files(&dir);
    // Whoever opens a world holds its lock.
    after.retain(|path, _| before.contains_key(path) || !path.ends_with("lock"));
    assert!(after == before, "a command has changed the directory");
}

/// A file as a later program might begin it: what it is, a version that is not ours, and then anything.
fn later(mark: &[u8; 8]) -> Vec<u8> {
    let mut bytes = mark.to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend([0x5a; 300]);
    bytes
}

/// A patch of another version was taken for damage and removed, and a snapshot of one passed over.
#[test]
fn a_world_in_which_one_file_is_of_a_later_program_is_left_as_it_is() {
    let folder = Folder::new("later-file");
    let dir = folder.join("world");
    Plaza::start(&dir, 1).stop();
    let home = dir.join("server-0");
    let (dir_text, home_text) = (dir.display().to_string(), home.display().to_string());
    let config = home.join("metatopia.toml").display().to_string();
    let (new, genesis) = (folder.join("new"), home.join("genesis").display().to_string());
    let new = new.display().to_string();
    let commands: [&[&str]; 8] = [
        &["up", "--http-port", "0", "--data-dir", &dir_text],
        &["node", "run", "--config", &config],
        &["log", "verify", &dir_text],
        &["replay", &home_text],
        &["bisect", &home_text, &home_text],
        &["evidence", "list", &home_text, "--genesis", &genesis],
        &["sim", "succeed", &home_text, "--name", "mine", "--data-dir", &new],
        &["recover", "propose", "--data-dir", &home_text, "--out", &new],
    ];
    let kinds = [
        (FileName::segment(7), b"mtop-log"),
        (FileName::new(FileKind::Snapshot(Height(9_000), Root(Digest::ZERO))), b"mtopsnap"),
        (FileName::new(FileKind::Patch { from: 1, to: 5 }), b"mtoppach"),
    ];
    for (file, mark) in kinds {
        let path = home.join(file.folder().name()).join(file.name());
        fs::write(&path, later(mark)).expect("our own folder");
        let before = files(&dir);
        for command in commands {
            let output = run(command);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(8), "{command:?} and {file}: {told}");
            for part in [file.to_string().as_str(), "has format version 3", "nothing there is"] {
                assert!(told.contains(part), "{command:?} does not say `{part}`: {told}");
            }
            assert!(!told.contains("damage"), "{command:?} calls {file} damaged: {told}");
        }
        let mut after = files(&dir);
        after.retain(|path, _| before.contains_key(path) || !path.ends_with("lock"));
        assert!(after == before, "a command has changed the directory, for {file}");
        fs::remove_file(&path).expect("our own file");
    }
}

#[test]
fn a_world_that_a_later_engine_went_on_from_is_left_to_that_one() {
    let folder = Folder::new("later-note");
    let dir = folder.join("world");
    Plaza::start(&dir, 1).stop();
    let note = dir.join("server-0").join("program.toml");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let engine = metatopia_sim::ENGINE + 1;
    let text =
        format!("engine = {engine}\nversion = \"9\"\ncommit = \"{commit}\"\nmodified = \"no\"\n");
    fs::write(&note, text).expect("our own file");

    let output = run(&["up", "--http-port", "0", "--data-dir", &dir.display().to_string()]);

    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(8), "{told}");
    for part in [format!("is of engine {engine}"), format!("git checkout {commit}")] {
        assert!(told.contains(&part), "it does not say `{part}`: {told}");
    }
}
