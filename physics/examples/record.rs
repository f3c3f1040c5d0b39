//! Writes recordings of the scenes whose digests are golden, for `metatopia replay --region FILE`:
//! `cargo run --release -p metatopia-physics --example record -- playground FILE 600`.

use std::process::ExitCode;

#[expect(dead_code, reason = "the laws of the crate use the rest")]
#[path = "../tests/laws/scenes.rs"]
mod scenes;

use scenes::SCENES;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, file, steps] = &words[..] else {
        eprintln!("record SCENE FILE STEPS");
        return ExitCode::FAILURE;
    };
    let scene = SCENES.iter().find(|scene| scene.name == name);
    let (Some(scene), Ok(steps)) = (scene, steps.parse()) else {
        let names = SCENES.each_ref().map(|scene| scene.name).join(", ");
        eprintln!("{name} for {steps} steps: a scene is one of {names}, and steps are a number");
        return ExitCode::FAILURE;
    };
    let recording = scene.recorder((scene.build)(), steps).finish();
    match write(file, &recording) {
        Ok(()) => {
            println!("{file}: {steps} steps of {name}, {} bytes", recording.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot write to {file}: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "an example writes files; the crate does not")]
fn write(file: &str, bytes: &[u8]) -> std::io::Result<()> {
    std::fs::write(file, bytes)
}
