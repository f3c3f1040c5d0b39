//! No decoder panics, whatever it reads, and each is fuzzed by a target of its own.

use std::{collections::BTreeSet, fs, path::Path};

use metatopia_decoders::{ALL, Decoder};
use proptest::{
    collection::vec, prelude::*, sample::Index, test_runner::TestCaseError, test_runner::TestRunner,
};

/// A change of bytes, at a place among those there are.
#[derive(Clone, Debug)]
enum Edit {
    Flip(Index, u8),
    Cut(Index, usize),
    Insert(Index, Vec<u8>),
    Repeat(Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), 1..=255_u8).prop_map(|(at, bits)| Edit::Flip(at, bits)),
        1 => (place(), 1..40_usize).prop_map(|(at, count)| Edit::Cut(at, count)),
        1 => (place(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (place(), 1..40_usize).prop_map(|(at, count)| Edit::Repeat(at, count)),
    ]
}

fn edited(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let at = |place: &Index| place.index(bytes.len() + 1);
        match edit {
            Edit::Flip(place, bits) if !bytes.is_empty() => {
                let at = place.index(bytes.len());
                bytes[at] ^= bits;
            }
            Edit::Flip(..) => {}
            Edit::Cut(place, count) => {
                let from = at(place);
                bytes.drain(from..bytes.len().min(from + count));
            }
            Edit::Insert(place, more) => {
                let at = at(place);
                bytes.splice(at..at, more.iter().copied());
            }
            Edit::Repeat(place, count) => {
                let from = at(place);
                let piece = bytes[from..bytes.len().min(from + count)].to_vec();
                bytes.splice(from..from, piece);
            }
        }
    }
    bytes
}

/// Runs a property for each decoder; a failure names it and shows the bytes.
fn for_each<S: Strategy>(inputs: &S, cases: u32, check: impl Fn(&Decoder, S::Value)) {
    for decoder in ALL {
        let config =
            ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let outcome = TestRunner::new(config).run(inputs, |input| {
            check(decoder, input);
            Ok::<(), TestCaseError>(())
        });
        if let Err(failure) = outcome {
            panic!("{}: {failure}", decoder.name);
        }
    }
}

#[test]
fn what_to_begin_from_is_accepted() {
    for decoder in ALL {
        let samples = (decoder.samples)();
        assert!(!samples.is_empty(), "{} has nothing to begin from", decoder.name);
        for (place, bytes) in samples.iter().enumerate() {
            assert!((decoder.accepts)(bytes), "{} refuses its sample {place}", decoder.name);
        }
    }
}

#[test]
fn any_bytes_are_read_without_a_panic() {
    for_each(&vec(any::<u8>(), 0..300), 200, |decoder, bytes| {
        (decoder.accepts)(&bytes);
    });
}

#[test]
fn changed_values_are_read_without_a_panic_and_have_one_encoding() {
    let samples: Vec<Vec<Vec<u8>>> = ALL.iter().map(|decoder| (decoder.samples)()).collect();
    let inputs = (any::<Index>(), vec(edit(), 1..6));
    for_each(&inputs, 60, |decoder, (which, edits)| {
        let place = ALL.iter().position(|other| other.name == decoder.name).unwrap();
        let sample = which.get(&samples[place]).clone();
        (decoder.accepts)(&edited(sample, &edits));
    });
}

#[test]
fn every_decoder_has_a_fuzz_target_and_every_target_a_decoder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let names: BTreeSet<String> = ALL.iter().map(|decoder| decoder.name.to_owned()).collect();
    assert_eq!(names.len(), ALL.len(), "two decoders of one name");
    let files = fs::read_dir(folder.join("targets")).unwrap();
    let targets: BTreeSet<String> = files
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(targets, names);
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for name in &names {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "no [[bin]] for {name}");
        let target = fs::read_to_string(folder.join(format!("targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("\"{name}\"")), "{name}.rs tries something else");
    }
}
