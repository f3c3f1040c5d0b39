//! Writes the messages that the page's code is tested with. Run it after a deliberate change of the
//! protocol.

use std::{fs, io, path::Path};

#[path = "../tests/web/vectors.rs"]
mod vectors;

#[expect(
    clippy::disallowed_methods,
    reason = "an example, which writes a file; the crate writes none"
)]
fn main() -> io::Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web/vectors.json");
    fs::write(file, vectors::file())
}
