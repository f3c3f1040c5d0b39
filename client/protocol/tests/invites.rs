//! Invites, as text and as what they prove.

use metatopia_protocol::{
    Grant, INVITE_ADDRESSES_MAX, INVITE_BYTES_MAX, INVITE_USES_MAX, Invite, InviteError,
    InviteTextError, SignedInvite,
};
use metatopia_types::{
    Certificate, Digest, Ed25519, Header, HeaderId, Height, Millis, Root, Round, Sign, SigningKey,
    SimId, Validator, ValidatorSet, Vote, VoteKind, limits::VALIDATORS_MAX, wire,
};

const NOON: Millis = Millis(1_700_000_000_000);

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

/// An invite of a sim with so many servers, which all signed.
fn invite(servers: u8) -> Invite {
    let members = (1..=servers).map(|n| Validator { key: key(n).public(), power: 1 });
    let validators = ValidatorSet::new(members.collect(), |_| true).expect("a set");
    let header = Header {
        sim: SimId(Digest([1; 32])),
        engine: 1,
        height: Height(600),
        previous: HeaderId(Digest([2; 32])),
        proposer: key(1).public(),
        round: Round(0),
        time: NOON,
        acts: Digest([3; 32]),
        blobs: Digest([4; 32]),
        act_count: 0,
        blob_count: 0,
        root: Root(Digest([5; 32])),
        validators: validators.id(),
        next_validators: validators.id(),
        reserved: Digest::ZERO,
    };
    let vote = |n: u8| Vote {
        kind: VoteKind::Precommit,
        height: header.height,
        round: Round(0),
        header: Some(header.id()),
        voter: key(n).public(),
    };
    let sign = |n: u8| (key(n).public(), key(n).sign(&vote(n).sign_bytes(header.sim)));
    let certificate = Certificate {
        height: header.height,
        round: Round(0),
        header: header.id(),
        signatures: (1..=servers).map(sign).collect(),
    };
    Invite {
        header,
        certificate,
        validators,
        addresses: vec!["http://127.0.0.1:8080".into()],
        grant: Grant::Follow,
        uses: 1,
        expires: NOON.plus(1_000),
        issuer: key(9).public(),
        nonce: 7,
    }
}

#[test]
fn an_invite_survives_being_text_in_capitals_behind_an_address_and_in_a_line() {
    let signed = invite(4).sign(&key(9));
    let text = signed.text();
    assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{text}");
    for form in [
        text.clone(),
        text.to_uppercase(),
        format!("  {text}\n"),
        format!("metatopia:{text}"),
        format!("https://example.org/come/{text}"),
    ] {
        assert_eq!(SignedInvite::read(&form), Ok(signed.clone()), "{form}");
    }
    assert_eq!(signed.check(NOON, &Ed25519), Ok(()));
}

#[test]
fn text_that_is_no_invite_is_refused_with_a_reason() {
    let text = invite(4).sign(&key(9)).text();
    let read = |text: &str| SignedInvite::read(text).unwrap_err();
    assert_eq!(read(""), InviteTextError::NoMark);
    assert_eq!(read("hello"), InviteTextError::NoMark);
    assert_eq!(read("metatopia1a0"), InviteTextError::Digit(2));
    assert_eq!(read(&"a".repeat(20_000)), InviteTextError::TooLong(20_000));
    // Any part that is missing, and any one character more, is noticed.
    for cut in 10..text.len() {
        assert!(matches!(read(&text[..cut]), InviteTextError::Content(_)), "{cut}");
    }
    assert!(matches!(read(&format!("{text}a")), InviteTextError::Content(_)));
}

#[test]
fn every_byte_of_an_invite_is_covered_by_its_signature() {
    let signed = invite(4).sign(&key(9));
    let bytes = wire::encode(&signed);
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let read = wire::decode::<SignedInvite>(&flipped, INVITE_BYTES_MAX);
        let good = read.is_ok_and(|invite| invite.check(NOON, &Ed25519).is_ok());
        assert!(!good, "byte {at} may be changed");
    }
}

#[test]
fn what_an_issuer_must_not_sign_is_refused_although_it_is_signed() {
    let check = |invite: Invite| invite.sign(&key(9)).check(NOON, &Ed25519).unwrap_err();
    let many = vec!["http://a".to_owned(); INVITE_ADDRESSES_MAX + 1];
    assert_eq!(
        check(Invite { addresses: many, ..invite(4) }),
        InviteError::Bounds("too many addresses")
    );
    assert_eq!(check(Invite { addresses: vec![], ..invite(4) }), InviteError::Bounds("no address"));
    for uses in [0, INVITE_USES_MAX + 1] {
        let bounds = InviteError::Bounds("an impossible number of uses");
        assert_eq!(check(Invite { uses, ..invite(4) }), bounds);
    }
    let expired = Invite { expires: NOON, ..invite(4) };
    assert_eq!(check(expired), InviteError::Expired { at: NOON, now: NOON });
    let mut few = invite(4);
    few.certificate.signatures.truncate(2);
    assert!(matches!(check(few), InviteError::Certificate(_)));
    let mut other = invite(4);
    other.certificate.header = HeaderId(Digest::ZERO);
    assert_eq!(check(other), InviteError::OtherHeader);
    let strangers = Invite { validators: invite(5).validators, ..invite(4) };
    assert_eq!(check(strangers), InviteError::OtherValidators);
}

#[test]
fn the_largest_invite_fits_into_its_bound() {
    let servers = u8::try_from(VALIDATORS_MAX).expect("a small number");
    let addresses = vec!["a".repeat(metatopia_protocol::ADDRESS_BYTES_MAX); INVITE_ADDRESSES_MAX];
    let large = Invite { addresses, uses: INVITE_USES_MAX, ..invite(servers) }.sign(&key(9));
    let bytes = wire::encode(&large).len();
    assert!((INVITE_BYTES_MAX / 2..INVITE_BYTES_MAX).contains(&bytes), "{bytes}");
    assert_eq!(SignedInvite::read(&large.text()), Ok(large));
}
