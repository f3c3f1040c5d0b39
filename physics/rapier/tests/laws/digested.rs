//! What the golden digests of this tier are made of.

use metatopia_physics::Region;
use metatopia_physics_rapier::Newton2;
use metatopia_types::wire;

use crate::drawn::{STREAMS, empty, played_in};
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

/// The random streams of commands that are golden on the other tier, with their digests on this one.
pub(crate) const GOLDEN_STREAMS: [(u64, &str); 4] = [
    (1, "17128911c323a926"),
    (2, "db4529c9f476f890"),
    (3, "5a413e08ae181f67"),
    (4, "0262ee07f83d24e0"),
];

/// Returns a region whose bodies this tier moves.
fn moved(region: Region) -> Region {
    region.with_tier(Box::new(Newton2::new())).expect("a scene has few bodies")
}

/// Plays each random stream, and returns its seed with the beginning of its digest.
pub(crate) fn stream_digests() -> [(u64, String); GOLDEN_STREAMS.len()] {
    STREAMS.map(|(seed, _)| (seed, played_in(moved(empty()), seed).to_string()[..16].to_owned()))
}

/// Plays 600 steps of each scene, and returns its name with the beginning of its digest.
pub(crate) fn digests() -> [(&'static str, String); GOLDEN.len()] {
    SCENES.map(|scene| {
        let mut region = moved((scene.build)());
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
