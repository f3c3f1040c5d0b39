//! Join packs: what is believed, and every way of not being believed.

use metatopia_types::{
    CertificateError, Digest, Header, HeaderId, Height, LinkError, Root, SimId, Trust,
    ValidatorSet,
    wire::{self, DecodeError},
};

use super::keys::{StandIn, certify, header, key, set, sim};
use crate::limits::{JOIN_PACK_BYTES_MAX, LINKS_MAX};
use crate::{Base, Checkpoint, JoinPack, JoinPackError, Link};

/// The members of the sets of a history with two changes: at height 3 and at height 7.
fn members(height: u64) -> ValidatorSet {
    match height {
        0..=3 => set(0..4),
        4..=7 => set(0..5),
        _ => set(1..5),
    }
}

fn head(height: u64, previous: Option<&Header>) -> Header {
    Header {
        previous: previous.map_or(HeaderId::BEFORE_FIRST, Header::id),
        validators: members(height).id(),
        next_validators: members(height + 1).id(),
        root: Root(Digest([height as u8; 32])),
        ..header(height)
    }
}

fn link(height: u64) -> Link {
    let header = head(height, None);
    let set = members(height);
    let signers = set.members().iter().map(|m| m.key.0[0] - 1);
    Link {
        certificate: certify(&header, signers.skip(1)),
        next: members(height + 1).members().to_vec(),
        header,
    }
}

/// Proves the state after height 10.
fn pack() -> JoinPack {
    let first = head(10, None);
    let second = head(11, Some(&first));
    let third = head(12, Some(&second));
    JoinPack {
        links: vec![link(3), link(7)],
        certificate: certify(&third, [1, 2, 3]),
        headers: [first, second, third],
    }
}

fn genesis() -> Trust {
    Trust { height: Height(0), validators: set(0..4) }
}

fn verify(pack: &JoinPack) -> Result<Checkpoint, JoinPackError> {
    pack.verify(sim(), &genesis(), &StandIn)
}

#[test]
fn a_pack_proves_the_root_of_a_state_from_genesis() {
    let checkpoint = verify(&pack()).unwrap();

    assert_eq!(checkpoint.height, Height(10));
    assert_eq!(checkpoint.root, Root(Digest([12; 32])));
}

#[test]
fn a_later_trust_needs_the_later_changes_only() {
    let mut pack = pack();
    pack.links.remove(0);
    let trust = Trust { height: Height(5), validators: set(0..5) };

    assert!(pack.verify(sim(), &trust, &StandIn).is_ok());
    assert_eq!(verify(&pack), Err(LinkError::Missing(Height(7)).into()));
}

#[test]
fn a_base_wants_the_sets_that_the_headers_name() {
    let checkpoint = verify(&pack()).unwrap();
    let sets = [members(11), members(12), members(13)];

    let base = checkpoint.base(sets.clone()).unwrap();
    let expected = Base {
        height: Height(10),
        header: pack().headers[0].id(),
        time: pack().headers[0].time,
        roots: [pack().headers[1].root, pack().headers[2].root],
        links: pack().links,
        voice: false,
        sets: sets.clone(),
    };
    assert_eq!(base, expected);

    for (at, height) in [(0, 11), (1, 12), (2, 13)] {
        let mut sets = sets.clone();
        sets[at] = set(0..7);
        assert_eq!(checkpoint.base(sets), Err(JoinPackError::OtherSet(Height(height))));
    }
}

#[test]
fn every_change_of_a_pack_is_noticed() {
    let changed = |change: fn(&mut JoinPack)| {
        let mut pack = pack();
        change(&mut pack);
        verify(&pack).unwrap_err()
    };

    assert_eq!(changed(|p| p.links.clear()), LinkError::Missing(Height(12)).into());
    assert_eq!(changed(|p| p.links.swap(0, 1)), LinkError::Missing(Height(7)).into());
    let twice = changed(|p| p.links.insert(1, link(3)));
    assert_eq!(twice, LinkError::Order(Height(3)).into());
    let late = changed(|p| p.links[1].header.height = Height(12));
    assert_eq!(late, LinkError::Order(Height(12)).into());
    let many = changed(|p| p.links = vec![link(3); LINKS_MAX + 1]);
    assert_eq!(many, JoinPackError::TooManyLinks(LINKS_MAX + 1));
    let fewer = changed(|p| {
        p.links[0].next.pop();
    });
    assert_eq!(fewer, LinkError::OtherMembers(Height(3)).into());
    let root = changed(|p| p.headers[2].root = Root(Digest::ZERO));
    assert_eq!(root, LinkError::OtherHeader(Height(12)).into());
    let sim = changed(|p| p.headers[2].sim = SimId(Digest::ZERO));
    assert_eq!(sim, LinkError::OtherSim(Height(12)).into());
    assert_eq!(changed(|p| p.headers[0].engine = 9), JoinPackError::Chain(Height(11)));
    let skipped = changed(|p| p.headers[1] = p.headers[0].clone());
    assert_eq!(skipped, JoinPackError::Chain(Height(10)));
}

#[test]
fn a_certificate_below_a_quorum_or_with_one_signer_twice_proves_nothing() {
    let height = Height(12);
    let mut few = pack();
    few.certificate.signatures.pop();
    let mut twice = few.clone();
    twice.certificate.signatures.push(twice.certificate.signatures[0]);

    let (power, quorum) = (2, 3);
    let why = CertificateError::NoQuorum { power, quorum };
    assert_eq!(verify(&few), Err(LinkError::Certificate { height, why }.into()));
    let why = CertificateError::Repeated(key(1));
    assert_eq!(verify(&twice), Err(LinkError::Certificate { height, why }.into()));
}

#[test]
fn a_join_pack_is_read_back_and_none_of_more_bytes_than_may_be_is_read() {
    let pack = pack();
    assert_eq!(JoinPack::decode(&pack.encode()), Ok(pack));
    let link = link(3);
    let links = JOIN_PACK_BYTES_MAX / wire::encode(&link).len();
    let long = JoinPack { links: vec![link; links], ..self::pack() }.encode();
    let found = long.len();
    assert!(found > JOIN_PACK_BYTES_MAX, "{found}");
    let refused = DecodeError::Oversize { found, limit: JOIN_PACK_BYTES_MAX };
    assert_eq!(JoinPack::decode(&long), Err(refused));
}

#[test]
fn a_join_pack_says_its_format_and_another_one_is_refused_by_its_number() {
    let mut bytes = pack().encode();
    assert_eq!(bytes[0], JoinPack::FORMAT);
    bytes[0] += 1;
    let refused = DecodeError::Format { found: bytes[0], known: JoinPack::FORMAT };
    assert_eq!(JoinPack::decode(&bytes), Err(refused));
    assert_eq!(refused.to_string(), "they are of format 2, and this program reads format 1");
    assert_eq!(JoinPack::decode(&[]), Err(DecodeError::Malformed));
}
