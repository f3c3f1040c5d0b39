//! Packs a module as browsers fetch it: `cargo run -p metatopia-module --example pack -- FOLDER`.
//!
//! It writes `metatopia.wasm.br` beside `metatopia.wasm`. `.ci/module` asks for it; a node serves what it
//! finds. The densest brotli takes a third less than gzip, and half a minute to make, which is too
//! long for the start of a node.

use std::{
    env, fs,
    io::{self, Write as _},
    path::Path,
};

use brotli::{
    CompressorWriter,
    enc::{BrotliEncoderParams, backward_references::BrotliEncoderMode},
};
use metatopia_module::{PACKED, WASM};

/// What the encoder hands on at once.
const BUFFER_BYTES: usize = 64 * 1_024;

/// What the bytes are taken for, and the logarithm of the block size: which of both is denser differs by a few KiB from
/// module to module. Of blocks from 64 KiB to 16 MiB these two were the best.
const WAYS: [(BrotliEncoderMode, i32); 2] =
    [(BrotliEncoderMode::BROTLI_MODE_GENERIC, 18), (BrotliEncoderMode::BROTLI_MODE_FONT, 17)];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args().nth(1).ok_or("name the folder of a module")?;
    let bytes = fs::read(Path::new(&folder).join(WASM))?;
    let [first, second] = WAYS.map(|way| packed(&bytes, way));
    let (first, second) = (first?, second?);
    let densest = if first.len() <= second.len() { first } else { second };
    fs::write(Path::new(&folder).join(PACKED), densest)?;
    Ok(())
}

fn packed(bytes: &[u8], (mode, lgblock): (BrotliEncoderMode, i32)) -> io::Result<Vec<u8>> {
    // A window of 16 MiB, the largest that browsers take, has the whole module in it.
    let parameters = BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        lgblock,
        mode,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    let mut encoder = CompressorWriter::with_params(&mut packed, BUFFER_BYTES, &parameters);
    encoder.write_all(bytes)?;
    drop(encoder);
    Ok(packed)
}
