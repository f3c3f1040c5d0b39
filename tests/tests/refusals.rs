//! Each reason to refuse something is named in a test of the code that returns it. Whether it is returned there, only
//! who reads the test knows.

use std::fs;

use metatopia_tests::{root, sources, tests_of};

/// An enum of reasons, with the folders whose tests run the code that returns them. Tests elsewhere do
/// not count: they make a reason by hand, to see how it is encoded, told or answered.
struct Reasons {
    name: &'static str,
    file: &'static str,
    returned_in: &'static [&'static str],
}

const REASONS: &[Reasons] = &[
    Reasons {
        name: "Refusal",
        file: "sim/types/src/outcome.rs",
        returned_in: &["sim/src/", "sim/tests/"],
    },
    Reasons {
        name: "HearRefusal",
        file: "sim/types/src/crossing/dispatch.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "BorderRefusal",
        file: "sim/types/src/crossing/order.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "PassRefusal",
        file: "sim/types/src/crossing/reasons.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "TravelRefusal",
        file: "sim/types/src/crossing/reasons.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "HandRefusal",
        file: "sim/types/src/crossing/reasons.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "SaidError",
        file: "sim/types/src/crossing/said.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "Wall",
        file: "sim/src/rules/crossing.rs",
        returned_in: &["sim/tests/", "sim/src/"],
    },
    Reasons { name: "ActFault", file: "sim/src/rules/admission.rs", returned_in: &["sim/tests/"] },
    Reasons { name: "TurnFault", file: "sim/src/rules/judge.rs", returned_in: &["sim/tests/"] },
    Reasons { name: "Unsound", file: "sim/src/state/course.rs", returned_in: &["sim/tests/"] },
    Reasons {
        name: "BodyError",
        file: "sim/types/src/turn.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "SubmitRefusal",
        file: "client/protocol/src/message.rs",
        returned_in: &["node/replica/"],
    },
    Reasons {
        name: "ActCheckError",
        file: "consensus/src/host.rs",
        returned_in: &["node/replica/"],
    },
    Reasons { name: "Void", file: "consensus/src/host.rs", returned_in: &["consensus/"] },
    Reasons {
        name: "CertificateError",
        file: "sim/types/src/certificate.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "EvidenceError",
        file: "sim/types/src/evidence.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "TwinFault",
        file: "node/audit/src/evidence/twins.rs",
        returned_in: &["node/audit/src/evidence/"],
    },
    Reasons {
        name: "LandProofError",
        file: "sim/types/src/land_proof.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "LinkError",
        file: "sim/types/src/link.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "GenesisHeadError",
        file: "sim/types/src/genesis_head.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "RosterError",
        file: "sim/types/src/roster.rs",
        returned_in: &["sim/types/tests/"],
    },
    Reasons {
        name: "ParseOriginError",
        file: "sim/types/src/origin.rs",
        returned_in: &["sim/types/src/origin.rs"],
    },
    Reasons {
        name: "GenesisError",
        file: "sim/src/state/genesis.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "ObjectSpecError",
        file: "sim/src/state/genesis/object_error.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "ParametersError",
        file: "sim/src/state/parameters.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "StateRestoreError",
        file: "sim/src/state/snapshot.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons {
        name: "CapsuleError",
        file: "sim/src/state/capsule.rs",
        returned_in: &["sim/tests/"],
    },
    Reasons { name: "CopyError", file: "sim/src/space/tile_copy.rs", returned_in: &["sim/tests/"] },
    Reasons {
        name: "JoinRefusal",
        file: "client/protocol/src/invite.rs",
        returned_in: &["node/replica/"],
    },
];

/// The file of encodings, which returns nothing.
const ENCODINGS: &str = "golden.rs";

/// Returns the names of an enum's variants, by its source.
fn variants(reasons: &Reasons) -> Vec<String> {
    let text = fs::read_to_string(root().join(reasons.file)).expect("a source file");
    let opening = format!("pub enum {} {{", reasons.name);
    let (_, body) = text.split_once(&opening).unwrap_or_else(|| panic!("{} moved", reasons.name));
    let (body, _) = body.split_once("\n}").expect("an enum ends");
    let name = |line: &str| -> Option<String> {
        let rest = line.strip_prefix("    ")?;
        let begins = rest.starts_with(|sign: char| sign.is_ascii_uppercase());
        let word = rest.split(|sign: char| !sign.is_alphanumeric()).next()?;
        begins.then(|| word.to_owned())
    };
    body.lines().filter_map(name).collect()
}

/// Says whether a text names this variant, and not just one that begins like it.
fn names(text: &str, variant: &str) -> bool {
    let mut found = text.match_indices(variant);
    found.any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + variant.len()..]);
        let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
        !before.ends_with(is_word) && !behind.starts_with(is_word)
    })
}

#[test]
fn every_reason_to_refuse_is_returned_in_a_test_that_names_it() {
    let sources = sources();
    let mut missing = Vec::new();
    for reasons in REASONS {
        let variants = variants(reasons);
        assert!(variants.len() > 2, "{} was not understood: {variants:?}", reasons.name);
        let counts = |path: &str| {
            let is_of = reasons.returned_in.iter().any(|folder| path.starts_with(folder));
            is_of && !path.ends_with(ENCODINGS)
        };
        let tests: Vec<&str> = sources
            .iter()
            .filter(|(path, _)| counts(path))
            .map(|(path, text)| tests_of(path, text))
            .collect();
        let variants = variants.iter().map(|variant| format!("{}::{variant}", reasons.name));
        missing.extend(variants.filter(|variant| !tests.iter().any(|text| names(text, variant))));
    }
    assert!(missing.is_empty(), "no test returns {missing:?}");
}

#[test]
fn a_variant_is_named_by_its_whole_name_alone() {
    assert!(names("Err(Refusal::No)", "Refusal::No"));
    assert!(!names("Err(Refusal::NoSeat)", "Refusal::No"));
    assert!(!names("Err(SubmitRefusal::No)", "Refusal::No"));
}
