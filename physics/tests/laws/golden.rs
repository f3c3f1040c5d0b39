//! Digests of whole scenes. They are the same on every processor and in every build. A change of a
//! digest changes the rules of all worlds.

use metatopia_physics::Region;
use metatopia_types::wire;

use crate::drawn::{STREAMS, played};
use crate::scenes::SCENES;

/// The digests over the states and events of 600 steps.
const GOLDEN: [(&str, &str); 10] = [
    ("billiards", "46205d085e542a45"),
    ("bulldozer", "c915f2b8d26ccbf4"),
    ("turntable", "3933fa2dd631ce01"),
    ("crowd", "9e7ff2c3081b5f6c"),
    ("workshop", "246d8367baf1e43a"),
    ("quarry", "abe8c673e660970a"),
    ("playground", "fe6a1dd235544ba2"),
    ("mobile", "83fb9facf19e93be"),
    ("tumbler", "88d75f691668c3dd"),
    ("hollow", "3093fa2ac4346bde"),
];

fn write_state(region: &Region, hasher: &mut blake3::Hasher) {
    for body in region.bodies() {
        hasher.update(&wire::encode(body));
    }
    for contact in region.contacts() {
        hasher.update(&wire::encode(contact));
    }
    for joint in region.joints() {
        hasher.update(&wire::encode(joint));
    }
}

/// The digests that the example `digests` prints in every build, over snapshots and encoded replies.
#[test]
fn the_scenes_have_the_digests_of_their_snapshots() {
    for scene in &SCENES {
        let found = scene.found().to_string();
        assert!(found.starts_with(scene.digest), "{}: {found}", scene.name);
    }
}

/// The example `digests` plays the same streams in every build.
#[test]
fn random_streams_of_commands_have_their_digests() {
    for (seed, digest) in STREAMS {
        let found = played(seed).to_string();
        assert!(found.starts_with(digest), "seed {seed}: {found}");
    }
}

#[test]
fn the_scenes_have_their_digests() {
    let found = SCENES.map(|scene| {
        let mut region = (scene.build)();
        let mut hasher = blake3::Hasher::new();
        for step in 0..600 {
            let events = scene.step_events(&mut region, step);
            for touch in events.touches {
                hasher.update(format!("{touch:?}").as_bytes());
            }
            for hit in events.hits {
                hasher.update(format!("{hit:?}").as_bytes());
            }
            for ended in events.joints {
                hasher.update(format!("{ended:?}").as_bytes());
            }
            write_state(&region, &mut hasher);
        }
        let digest = hasher.finalize().to_hex();
        (scene.name, digest[..16].to_owned())
    });
    assert_eq!(found.each_ref().map(|(name, digest)| (*name, digest.as_str())), GOLDEN);
}
