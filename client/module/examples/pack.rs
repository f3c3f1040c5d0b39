//! Packs a module as browsers fetch it: `cargo run -p metatopia-module --example pack -- FOLDER`.
//!
//! It writes `metatopia.wasm.br` beside `metatopia.wasm`. `.ci/module` asks for it; a node serves what it
//! finds. The densest brotli takes a third less than gzip, and a quarter of a minute to make, which is too
//! long for the start of a node.

use std::{env, fs, io::Write as _, path::Path};

use brotli::{CompressorWriter, enc::BrotliEncoderParams};
use metatopia_module::{PACKED, WASM};

/// What the encoder hands on at once.
const BUFFER_BYTES: usize = 64 * 1_024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args().nth(1).ok_or("name the folder of a module")?;
    let bytes = fs::read(Path::new(&folder).join(WASM))?;
    // A window of 16 MiB, the largest that browsers take, has the whole module in it.
    let parameters = BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    let mut encoder = CompressorWriter::with_params(&mut packed, BUFFER_BYTES, &parameters);
    encoder.write_all(&bytes)?;
    drop(encoder);
    fs::write(Path::new(&folder).join(PACKED), packed)?;
    Ok(())
}
