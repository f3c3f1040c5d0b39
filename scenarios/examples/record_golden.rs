//! Plays the golden afternoon again, and writes its log and the roots that everybody must come to.
//! Run it only after a deliberate change of the rules or of the plaza.

#[path = "../tests/golden/story.rs"]
mod story;

use std::{error::Error, fs, path::Path};

use metatopia_types::Root;

/// The heights whose roots are constants: the beginning, the end, and some between.
const HEIGHTS: [usize; 10] = [0, 1, 2, 10, 50, 100, 200, 300, 499, 500];

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let played = story::play();
    let log = story::encode(&played.turns);
    fs::write(here.join("../tests/golden/plaza.log"), &log)?;
    fs::write(here.join("src/golden/roots.rs"), constants(&played.roots))?;
    println!("{} turns, {} bytes", played.turns.len(), log.len());
    for ((kind, outcome), count) in played.outcomes {
        println!("{count:6} {kind}: {outcome}");
    }
    Ok(())
}

/// The source file with the roots.
fn constants(roots: &[Root]) -> String {
    let rows: String = HEIGHTS
        .iter()
        .map(|height| format!("    (Height({height}), \"{}\"),\n", roots[*height]))
        .collect();
    format!(
        "//! Written by `cargo run -p metatopia-scenarios --example record_golden`.\n\n\
         use metatopia_types::Height;\n\n\
         /// Roots after some heights of the log, its beginning and end among them.\n\
         pub const ROOTS: [(Height, &str); {}] = [\n{rows}];\n",
        HEIGHTS.len()
    )
}
