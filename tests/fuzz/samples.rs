//! Writes the values that a fuzzer begins from: `samples TARGET FOLDER`.

// What counts how often code ran is in libFuzzer, for this program as for the fuzzers.
use libfuzzer_sys as _;
use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(target), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: samples TARGET FOLDER".into());
    };
    let decoder = metatopia_decoders::named(&target).ok_or("no decoder has this name")?;
    for (place, bytes) in (decoder.samples)().into_iter().enumerate() {
        fs::write(PathBuf::from(&folder).join(format!("sample-{place}")), bytes)?;
    }
    Ok(())
}
