//! A directory that holds one sim, and somebody who joins another one with it.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    membership::{Follower, invite, refused},
    plaza::{Folder, Plaza},
};

/// Every file below a directory, with its bytes.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).expect("our own folder") {
        let path = entry.expect("our own folder").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).expect("our own file"));
        }
    }
    found
}

#[test]
fn a_directory_of_one_sim_is_refused_for_another_and_stays_as_it_is() {
    let folder = Folder::new("other-sim");
    let plaza = Plaza::start(&folder.join("world"), 1);
    let dir = folder.join("follower");
    let shown = dir.display().to_string();
    let follower = Follower::join(&dir, Some(&invite(&plaza, &[])));
    let successor = Plaza::start(&folder.join("successor"), 1);
    let foreign = invite(&successor, &[]);
    let own_files = ["genesis", "invite", "metatopia.toml"];
    let before = own_files.map(|name| fs::read(dir.join(name)).expect("our own file"));
    refused(&["node", "join", &foreign, "--data-dir", &shown], 1, "another process is using");
    assert_eq!(own_files.map(|name| fs::read(dir.join(name)).expect("our own file")), before);
    follower.stop();

    let before = contents(&dir);
    let words = format!("belongs to sim {}, not to {}", plaza.sim, successor.sim);
    refused(&["node", "join", &foreign, "--data-dir", &shown], 2, &words);
    assert!(contents(&dir) == before, "something was written");

    // Also not by a server that lost the key it was.
    let (key, away) = (dir.join("vote.key"), folder.join("vote.key"));
    fs::rename(&key, &away).expect("our own file");
    refused(&["node", "join", &foreign, "--data-dir", &shown], 3, "vote.key");
    assert!(!key.exists());
    fs::rename(&away, &key).expect("our own file");

    assert!(contents(&dir) == before, "something was written");
    let follower = Follower::join(&dir, None);
    assert_eq!(follower.ready["sim"], plaza.sim);
    follower.stop();
    successor.stop();
    plaza.stop();
}
