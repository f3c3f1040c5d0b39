//! Chain format 1: what light clients, old logs and neighbours read, whatever engine made it. The bytes
//! below never change. A program that needs other ones is not of this chain: make a new type beside
//! the old one.

use metatopia_types::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest([1; 32]))
}

fn set() -> ValidatorSet {
    let members =
        (1..=4).map(|n| Validator { key: key(n).public(), power: u32::from(n) }).collect();
    ValidatorSet::new(members, |_| true).expect("four members")
}

fn header() -> Header {
    Header {
        sim: sim(),
        engine: 300,
        height: Height(70_000),
        previous: HeaderId(Digest([2; 32])),
        proposer: PublicKey([3; 32]),
        round: Round(4),
        time: Millis(1_790_000_000_000),
        acts: Digest([5; 32]),
        act_count: 6,
        blobs: Digest([7; 32]),
        blob_count: 8,
        root: Root(Digest([9; 32])),
        validators: ValidatorsId(Digest([10; 32])),
        next_validators: ValidatorsId(Digest([11; 32])),
        reserved: Digest([12; 32]),
    }
}

fn certificate() -> Certificate {
    let signatures = [1, 2].map(|n| (PublicKey([n; 32]), Signature::from_bytes([n; 64])));
    Certificate {
        height: Height(70_000),
        round: Round(4),
        header: HeaderId(Digest([2; 32])),
        signatures: signatures.to_vec(),
    }
}

fn vote(header: Option<HeaderId>) -> Vote {
    let (height, round, voter) = (Height(70_000), Round(4), PublicKey([3; 32]));
    Vote { kind: VoteKind::Precommit, height, round, header, voter }
}

/// The shell of an act that no program knows: nothing in it depends on what acts there are.
fn shell() -> Envelope {
    Envelope {
        sim: sim(),
        author: PublicKey([3; 32]),
        lane: Lane(1 << 40),
        seq: Seq(300),
        last_valid: Height(70_000),
        act: Act::Unknown { number: 300, bytes: vec![1, 2, 3] },
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Byte by byte: the first value is written by hand, from the format and not by the encoder.
#[test]
fn a_header_is_these_bytes_for_ever() {
    let digest = |n: u8| format!("{n:02x}").repeat(32);
    let by_hand = [
        digest(1),
        "ac02".to_owned(),
        "f0a204".to_owned(),
        digest(2),
        digest(3),
        "04".to_owned(),
        "80d8c1a28c34".to_owned(),
        digest(5),
        "06".to_owned(),
        digest(7),
        "08".to_owned(),
        digest(9),
        digest(10),
        digest(11),
        digest(12),
    ];
    assert_eq!(hex(&wire::encode(&header())), by_hand.concat());
    assert_eq!(
        hex(header().id().bytes()),
        "eeb68026338181a81d798550313d19fc400041b13c4e4fff500a7ebc16c43ee7"
    );
}

#[test]
fn a_certificate_is_these_bytes_for_ever() {
    let signature = |n: u8| format!("{n:02x}").repeat(96);
    let by_hand = ["f0a204".to_owned(), "04".to_owned(), "02".repeat(32), "02".to_owned()];
    let expected = by_hand.concat() + &signature(1) + &signature(2);
    assert_eq!(hex(&wire::encode(&certificate())), expected);
}

#[test]
fn what_a_vote_signs_is_this_digest_for_ever() {
    let header = HeaderId(Digest([2; 32]));
    assert_eq!(
        hex(&vote(Some(header)).sign_bytes(sim())),
        "72f10b1fb2dd08b3b1281a5cde1952b516612ba548caf1c563c2df8a87a52db5"
    );
    assert_eq!(
        hex(&vote(None).sign_bytes(sim())),
        "c486075ab9f49e2df13b6dc6861f848b53c493d8a5f56b2c826a1a87ea3eaa13"
    );
}

#[test]
fn a_validator_set_has_this_name_for_ever() {
    assert_eq!(
        hex(set().id().bytes()),
        "d3d9821290b3095302932648ce89df4dea2a4ce97ec06f0991c2a574dd29708a"
    );
    assert_eq!(
        blake3::hash(&wire::encode(&set())).to_hex().as_str(),
        "002737247539be87794ab0dbad78844616146ebbdb273bc3aafa7998485cc31f"
    );
}

#[test]
fn the_shell_of_an_envelope_is_these_bytes_for_ever() {
    let by_hand = [
        "01".repeat(32),
        "03".repeat(32),
        "808080808020".to_owned(),
        "ac02".to_owned(),
        "f0a204".to_owned(),
        "ac02".to_owned(),
        "03010203".to_owned(),
    ];
    assert_eq!(hex(&wire::encode(&shell())), by_hand.concat());
    assert_eq!(
        hex(shell().id().bytes()),
        "d39c5a248cfb639a01648f20ca6ace6d56ca49eedf5749bc55b6e147b1fa0ac9"
    );
    let signed = SignedEnvelope { envelope: shell(), signature: Signature::from_bytes([9; 64]) };
    assert_eq!(hex(&wire::encode(&signed)), by_hand.concat() + &"09".repeat(64));
}

#[test]
fn merkle_trees_and_proofs_are_these_digests_for_ever() {
    let leaves: Vec<Digest> = [b"a", b"b", b"c"].map(|leaf| merkle::leaf(leaf)).to_vec();
    assert_eq!(
        hex(leaves[0].0.as_slice()),
        "1ff621ee3430890e869728995a6cee4f2b0b61271bfc19b0092b06d778750ae8"
    );
    assert_eq!(
        hex(merkle::root(&leaves).0.as_slice()),
        "6c62dd52a0971b7d00a7cead004e0c3f3c0766e3f5359a0f8297768d2b02d03c"
    );
    assert_eq!(
        hex(merkle::root(&[]).0.as_slice()),
        "ab13bedf42e84bae0f7c62c7dd6a8ada571e8829bed6ea558217f0361b5e25d0"
    );
    let state = leaf_hash(&LeafKey("clock".to_owned()), &Digest([5; 32]));
    assert_eq!(
        hex(state.0.as_slice()),
        "dc489c2098718ed9b64a1d519c3ccd9b72e4d91b6224caa9dfed4e5eb43bd635"
    );
    let proof = merkle::Proof::of(&leaves, 2).expect("three leaves");
    let path: String = proof.path.iter().map(|step| hex(step.0.as_slice())).collect();
    assert_eq!(hex(&wire::encode(&proof)), format!("0203{:02x}{path}", proof.path.len()));
}
