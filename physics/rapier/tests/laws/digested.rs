//! What the golden digests of this tier are made of.

use metatopia_physics_rapier::Newton2;
use metatopia_types::wire;

use crate::scenes::SCENES;

/// The digests over the bodies, contacts, joints, events and states of the tier of 600 steps.
pub(crate) const GOLDEN: [(&str, &str); 10] = [
    ("billiards", "e81ad7fdb02068ad"),
    ("bulldozer", "89fcdb8faf0d20a4"),
    ("turntable", "606a0569a38f3188"),
    ("crowd", "2ab098cc57bc82d8"),
    ("workshop", "620cd423f5d62253"),
    ("quarry", "739564d52c9d057f"),
    ("playground", "21ab9514fd4ef99e"),
    ("mobile", "f6c0234de1ecd017"),
    ("tumbler", "d1881f354c6c066a"),
    ("hollow", "f08b795b1ab9270d"),
];

/// Plays 600 steps of each scene, and returns its name with the beginning of its digest.
pub(crate) fn digests() -> [(&'static str, String); GOLDEN.len()] {
    SCENES.map(|scene| {
        let region = (scene.build)().with_tier(Box::new(Newton2::new()));
        let mut region = region.expect("a scene has few bodies");
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
    })
}
