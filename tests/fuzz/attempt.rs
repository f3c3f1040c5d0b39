//! What all fuzz targets do.

/// Has a decoder read these bytes.
pub fn attempt(name: &str, bytes: &[u8]) {
    let decoder = metatopia_decoders::named(name).expect("targets are named after decoders");
    (decoder.accepts)(bytes);
}
