//! Recordings of physics regions, played again by another process.

use std::{fmt::Write as _, fs, process::Output};

use metatopia_physics::Region;
use metatopia_physics_rapier::Newton2;

use crate::bad_input::refused;
use crate::plaza::{Folder, run};

/// The scenes whose digests are golden.
#[expect(dead_code, reason = "the laws of the physics use the rest")]
#[path = "../../../physics/tests/laws/scenes.rs"]
mod scenes;

use scenes::{SCENES, Scene};

/// Records some steps of a scene in a region. Returns the recording, and the region after it.
fn recorded(scene: &Scene, region: Region) -> (Vec<u8>, Region) {
    let recorder = scene.recorder(region, 60);
    let region = recorder.region().clone();
    (recorder.finish(), region)
}

fn printed(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_golden_scenes_come_to_the_same_digests_in_another_process_on_both_tiers() {
    let folder = Folder::new("regions");
    let file = folder.join("region.stream");
    let path = file.display().to_string();
    for scene in &SCENES {
        let plain = (scene.build)();
        let tier = Box::new(Newton2::new());
        let advanced = (scene.build)().with_tier(tier).expect("a scene has few bodies");
        for region in [plain, advanced] {
            let name = region.tier_name();
            let (recording, after) = recorded(scene, region);
            fs::write(&file, recording).expect("our own folder");
            let text = printed(&run(&["replay", "--region", &path]));
            let ticks = text.lines().filter(|line| line.starts_with("tick ")).count();
            assert_eq!(ticks, 60, "{} on {name}: {text}", scene.name);
            let mut end = format!("60 ticks on {name}\n");
            let (digest, bodies) = (after.digest(), after.bodies().len());
            write!(end, "region {digest}: {bodies} bodies").expect("a string takes it");
            assert!(text.contains(&end), "{} on {name}: {text}", scene.name);
            assert!(text.ends_with("every digest is as it was recorded\n"), "{text}");
        }
    }
    let json = printed(&run(&["replay", "--json", "--region", &path]));
    assert_eq!(json.lines().count(), 61);
    assert!(json.lines().last().is_some_and(|line| line.contains("\"ok\":true")), "{json}");
}

#[test]
fn a_damaged_recording_is_refused_with_the_offset_of_what_is_wrong() {
    let folder = Folder::new("damaged-region");
    let file = folder.join("region.stream");
    let path = file.display().to_string();
    let (whole, _) = recorded(&SCENES[0], (SCENES[0].build)());
    let replay = |bytes: &[u8]| {
        fs::write(&file, bytes).expect("our own folder");
        run(&["replay", "--region", &path])
    };
    let end = whole.len() - 12;
    refused(&replay(&whole[..end]), 5, &["region.stream", &format!("byte {end}"), "cut off"]);
    let mut damaged = whole;
    damaged[end - 1] ^= 1;
    // The record of a step alone: 12 bytes before it, the number and the kind of commands, 32 of the digest.
    let last = format!("byte {}", end - 46);
    refused(&replay(&damaged), 5, &["region.stream", &last, "damaged"]);
    refused(&replay(b"a letter"), 2, &["region.stream", "no recording"]);
    refused(&replay(b"stream\x09"), 8, &["format 9"]);
    fs::remove_file(&file).expect("our own file");
    refused(&run(&["replay", "--region", &path]), 3, &["there is no"]);
    refused(&run(&["replay", "--region", &path, "--quick"]), 2, &["--quick"]);
}
