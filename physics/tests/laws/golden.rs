//! Digests of whole scenes. They are the same on every processor and in every build. A change of a
//! digest changes the rules of all worlds.

use metatopia_physics::Region;
use metatopia_types::wire;

use crate::scenes::SCENES;

/// The digests over the states and events of 600 steps.
const GOLDEN: [(&str, &str); 5] = [
    ("billiards", "05cc985eedb854e1"),
    ("bulldozer", "f36eed1e246878f0"),
    ("turntable", "a50a6723399ce41e"),
    ("crowd", "300d1abc08e2cb2b"),
    ("workshop", "ee78e2117c97fc72"),
];

fn write_state(region: &Region, hasher: &mut blake3::Hasher) {
    for body in region.bodies() {
        hasher.update(&wire::encode(body));
    }
    for contact in region.contacts() {
        hasher.update(&wire::encode(contact));
    }
}

#[test]
fn the_scenes_have_their_digests() {
    let found = SCENES.map(|scene| {
        let mut region = (scene.build)();
        let mut hasher = blake3::Hasher::new();
        for step in 0..600 {
            for touch in scene.step(&mut region, step) {
                hasher.update(format!("{touch:?}").as_bytes());
            }
            write_state(&region, &mut hasher);
        }
        let digest = hasher.finalize().to_hex();
        (scene.name, digest[..16].to_owned())
    });
    assert_eq!(found.each_ref().map(|(name, digest)| (*name, digest.as_str())), GOLDEN);
}
