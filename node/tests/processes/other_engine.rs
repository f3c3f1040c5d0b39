//! A directory of another engine is told as such by every command, and left as it is.

use std::{collections::BTreeMap, fs, path::Path};

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
