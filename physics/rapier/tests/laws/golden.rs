//! Digests of whole scenes. They are the same on every processor and in every build. A change of a digest
//! changes the rules of all worlds whose bodies this tier moves.

use metatopia_types::wire;

use crate::newton2;
use crate::scenes::SCENES;

/// The digests over the bodies, contacts, joints, events and states of the tier of 600 steps.
const GOLDEN: [(&str, &str); 8] = [
    ("billiards", "e81ad7fdb02068ad"),
    ("bulldozer", "89fcdb8faf0d20a4"),
    ("turntable", "606a0569a38f3188"),
    ("crowd", "2ab098cc57bc82d8"),
    ("workshop", "620cd423f5d62253"),
    ("quarry", "739564d52c9d057f"),
    ("playground", "21ab9514fd4ef99e"),
    ("mobile", "f6c0234de1ecd017"),
];

#[test]
fn the_scenes_have_their_digests() {
    let found = SCENES.map(|scene| {
        let mut region = newton2((scene.build)());
        let mut hasher = blake3::Hasher::new();
        for step in 0..600 {
            hasher.update(format!("{:?}", scene.step_events(&mut region, step)).as_bytes());
            for body in region.bodies() {
                hasher.update(&wire::encode(body));
            }
            for contact in region.contacts() {
                hasher.update(&wire::encode(contact));
            }
            for joint in region.joints() {
                hasher.update(&wire::encode(joint));
            }
            hasher.update(&region.tier_state().expect("a state"));
        }
        let digest = hasher.finalize().to_hex();
        (scene.name, digest[..16].to_owned())
    });
    assert_eq!(found.each_ref().map(|(name, digest)| (*name, digest.as_str())), GOLDEN);
}
