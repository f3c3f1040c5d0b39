//! Land: what a proof shows and how long it is, heads of geneses, and chains of set changes.

use metatopia_types::{
    limits::{
        ADMINS_MAX, LAND_ORDER_BYTES_MAX, LAND_PROOF_BYTES_MAX, LEAVES_MAX, RENEWAL_LINKS_MAX,
        SHELF_BYTES_MAX, VALIDATORS_MAX,
    },
    *,
};

fn key(n: usize) -> SigningKey {
    SigningKey::from_seed([n as u8 + 1; 32])
}

fn set(members: core::ops::Range<usize>) -> ValidatorSet {
    let member = |n| Validator { key: key(n).public(), power: 1 };
    ValidatorSet::new(members.map(member).collect(), |_| true).expect("a set")
}

fn world() -> SimId {
    SimId(Digest([7; 32]))
}

fn certificate(header: &Header, signers: core::ops::Range<usize>) -> Certificate {
    let (height, round, id) = (header.height, Round(3), header.id());
    let sign = |n| {
        let (kind, voter) = (VoteKind::Precommit, key(n).public());
        let vote = Vote { kind, height, round, header: Some(id), voter };
        (voter, vote.sign(header.sim, &key(n)).signature)
    };
    Certificate { height, round, header: id, signatures: signers.map(sign).collect() }
}

fn grant(square: Square, beacons: usize) -> LandGrant {
    LandGrant {
        square,
        sim: SimId(Digest([3; 32])),
        holder: key(40).public(),
        beacons: (0..beacons).map(|n| key(50 + n).public()).collect(),
        epoch: 2,
        until: Millis(9),
        shown: Height(8),
    }
}

/// A proof of a leaf with this key and content, which `members` signed: one leaf of many.
fn proof_of(leaf: LeafKey, content: Vec<u8>, members: usize, leaves: u32) -> LandProof {
    let index = leaves / 2;
    let mut hashes = vec![Digest([5; 32]); leaves as usize];
    let hash = Digest(*blake3::hash(&content).as_bytes());
    hashes[index as usize] = leaf_hash(&leaf, &hash);
    let tree = merkle::Tree::of(hashes);
    let place = tree.proof(index).expect("a leaf");
    let header = Header {
        sim: world(),
        engine: u32::MAX,
        height: Height(1 << 62),
        time: Millis(1_900_000_000_000),
        root: Root(tree.root()),
        validators: set(0..members).id(),
        act_count: u32::MAX,
        blob_count: u32::MAX,
        round: Round(u32::MAX),
        ..Header::unstated()
    };
    let certificate = certificate(&header, 0..members).thinned(&set(0..members));
    LandProof { header, certificate, shelf: StateProof { key: leaf, content, place } }
}

fn open(proof: &LandProof, known: &ValidatorSet) -> Result<ProvedLand, LandProofError> {
    proof.open(world(), |id| (id == known.id()).then_some(known), &Ed25519)
}

#[test]
fn a_proof_shows_the_grants_of_a_block_and_that_all_else_there_is_nobodys() {
    let granted = grant(Square { x: 2, y: 0, doublings: 0 }, 1);
    let content = wire::encode(&vec![granted.clone()]);
    let proof = proof_of(shelf_key(&[3, 0]), content, 4, 9);

    let land = open(&proof, &set(0..4)).expect("a proof");

    assert_eq!(land.block, PlaneBlock::around(TilePoint { x: 0, y: 0 }, 30));
    assert_eq!((land.height, land.time), (Height((1 << 62) - 2), proof.header.time));
    assert_eq!(land.grant_at(TilePoint { x: 3, y: 1 }), Some(&granted));
    assert_eq!(land.grant_at(TilePoint { x: 4, y: 1 }), None);
    assert_eq!(LandProof::decode(&proof.encode()), Ok(proof.clone()));
    let known = set(0..4);
    let read = |bytes: &[u8]| {
        LandProof::read(bytes, world(), |id| (id == known.id()).then_some(&known), &Ed25519)
    };
    assert_eq!(read(&proof.encode()), Ok(land));
    assert_eq!(read(&[7; 9]), Err(LandProofError::Decode(wire::DecodeError::Malformed)));
}

#[test]
fn what_a_proof_lacks_is_named() {
    let content = |square| wire::encode(&vec![grant(square, 1)]);
    let inside = Square { x: 2, y: 0, doublings: 0 };
    let proof = |leaf: &str, content| proof_of(LeafKey(leaf.to_owned()), content, 4, 9);
    let fault = |proof: &LandProof| open(proof, &set(0..4)).expect_err("a fault");

    let good = proof("grants/3", content(inside));
    let stranger = open(&good, &set(0..5)).expect_err("other validators");
    assert_eq!(stranger, LandProofError::UnknownValidators(set(0..4).id()));
    let mut few = good.clone();
    few.certificate.signatures.truncate(2);
    assert!(matches!(fault(&few), LandProofError::Header(LinkError::Certificate { .. })));
    let mut other = good;
    other.shelf.content.push(0);
    let leaf = LeafKey("grants/3".to_owned());
    let not_there = StateProofError::NotInState(leaf);
    assert_eq!(fault(&other), LandProofError::Leaf(not_there));
    for name in ["clock", "granted/3", "grants/", "grants/4", "grants/3/0", "grants3", "grants/x"] {
        let other = LandProofError::OtherLeaf(LeafKey(name.to_owned()));
        assert_eq!(fault(&proof(name, content(inside))), other);
    }
    let noise = fault(&proof("grants/3", vec![0xff; 9]));
    assert!(matches!(noise, LandProofError::Content { .. }), "{noise}");
    for square in [Square { x: -2, ..inside }, Square { x: 3, ..inside }] {
        let outside = fault(&proof("grants/3", content(square)));
        assert_eq!(outside, LandProofError::Outside(square));
    }
    // An office that lies grants ground twice: no client takes the first one for the owner.
    for doubled in
        [inside, Square { x: 0, doublings: 1, ..inside }, Square { x: 0, y: 0, doublings: 3 }]
    {
        let both = wire::encode(&vec![grant(inside, 1), grant(doubled, 2)]);
        let overlap = fault(&proof("grants/3", both));
        assert_eq!(overlap, LandProofError::Overlap(inside, doubled));
    }
    let long = LandProof::decode(&vec![0; LAND_PROOF_BYTES_MAX + 1]);
    let (found, limit) = (LAND_PROOF_BYTES_MAX + 1, LAND_PROOF_BYTES_MAX);
    assert_eq!(long, Err(wire::DecodeError::Oversize { found, limit }));
}

#[test]
fn the_longest_proof_of_thirty_one_validators_fits() {
    let mut proof = proof_of(shelf_key(&[3; 32]), vec![1; SHELF_BYTES_MAX], VALIDATORS_MAX, 9);
    // Of as many leaves as a state may have.
    let steps = LEAVES_MAX.ilog2() as usize;
    proof.shelf.place.path = vec![Digest([1; 32]); steps];
    (proof.shelf.place.index, proof.shelf.place.count) = (LEAVES_MAX - 1, LEAVES_MAX);
    proof.header.height = Height(u64::MAX);
    proof.certificate.height = Height(u64::MAX);
    proof.certificate.round = Round(u32::MAX);
    let bytes = proof.encode();
    println!("{} bytes with {} signatures", bytes.len(), proof.certificate.signatures.len());
    assert!(bytes.len() <= LAND_PROOF_BYTES_MAX, "{}", bytes.len());
    assert_eq!(proof.certificate.signatures.len(), 21);
    // The longest grant alone fits a shelf.
    let corner = Square { x: i32::MIN, y: i32::MIN, doublings: 0 };
    let (epoch, until, shown) = (u64::MAX, Millis(u64::MAX), Height(u64::MAX));
    let longest = LandGrant { epoch, until, shown, ..grant(corner, limits::BEACONS_MAX) };
    assert!(
        wire::encode(&vec![longest.clone(), longest.clone(), longest]).len() <= SHELF_BYTES_MAX
    );
}

#[test]
fn a_thinned_certificate_proves_what_it_proved() {
    let header = Header { sim: world(), height: Height(3), ..Header::unstated() };
    for members in 1..=VALIDATORS_MAX {
        let (set, whole) = (set(0..members), certificate(&header, 0..members));
        let thin = whole.thinned(&set);
        assert_eq!(thin.signatures.len() as u64, set.quorum());
        assert_eq!(thin.verify(world(), &set, &Ed25519), Ok(()));
    }
    let (four, six) = (set(0..4), certificate(&header, 0..6));
    assert_eq!(
        six.thinned(&four).verify(world(), &four, &Ed25519),
        Ok(()),
        "strangers are left out"
    );
}

#[test]
fn the_longest_renewal_is_an_order() {
    let members: Vec<Validator> = set(0..VALIDATORS_MAX).members().to_vec();
    let header = Header { sim: world(), height: Height(u64::MAX), ..Header::unstated() };
    let certificate = certificate(&header, 0..VALIDATORS_MAX);
    let link = Link { header: header.clone(), certificate: certificate.clone(), next: members };
    let square = Square { x: i32::MIN, y: i32::MIN, doublings: 4 };
    let links = vec![link; RENEWAL_LINKS_MAX];
    let order = LandOrder::Renew { square, links, header, certificate };
    let blob = order.blob();
    assert!(blob.0.len() <= LAND_ORDER_BYTES_MAX, "{}", blob.0.len());
    assert_eq!(LandOrder::decode(&blob.0), Ok(order));
    let long = vec![0; LAND_ORDER_BYTES_MAX + 1];
    assert!(matches!(LandOrder::decode(&long), Err(wire::DecodeError::Oversize { .. })));
}

fn head() -> GenesisHead {
    let mut keys: Vec<PublicKey> = (0..3).map(|n| key(n).public()).collect();
    keys.sort();
    GenesisHead {
        engine: 12,
        rules: Digest::ZERO,
        site: Some(Site { world: world(), square: Square { x: 2, y: 4, doublings: 0 } }),
        office: None,
        parent: None,
        admins: keys.clone(),
        validators: keys,
        rest: Digest([1; 32]),
    }
}

#[test]
fn a_head_names_its_sim_and_every_part_of_it_counts() {
    let parent = HeadParent { sim: world(), height: Height(1), root: Root(Digest::ZERO) };
    let square = Square { x: 0, y: 0, doublings: 0 };
    let office = OfficeFounding { square, holder: key(1).public(), beacons: vec![] };
    let others = [
        GenesisHead { engine: 13, ..head() },
        GenesisHead { rules: Digest([1; 32]), ..head() },
        GenesisHead { site: None, ..head() },
        GenesisHead { office: Some(office), ..head() },
        GenesisHead { parent: Some(parent), ..head() },
        GenesisHead { admins: vec![], ..head() },
        GenesisHead { validators: vec![key(1).public()], ..head() },
        GenesisHead { rest: Digest([2; 32]), ..head() },
    ];
    let ids: std::collections::BTreeSet<SimId> =
        others.iter().chain([&head()]).map(GenesisHead::id).collect();
    assert_eq!(ids.len(), others.len() + 1);
    assert_eq!(head().check().expect("a set").members().len(), 3);
}

#[test]
fn a_head_with_keys_that_no_sim_has_is_refused() {
    let fault = |change: &dyn Fn(&mut GenesisHead)| {
        let mut head = head();
        change(&mut head);
        head.check().expect_err("a fault")
    };
    let last = head().admins[2];
    let order = GenesisHeadError::Order(last);
    assert_eq!(fault(&|head| head.admins.push(last)), order);
    assert_eq!(fault(&|head| head.validators.push(last)), order);
    let first = head().admins[0];
    assert_eq!(fault(&|head| head.admins.swap(0, 1)), GenesisHeadError::Order(first));
    let many = |head: &mut GenesisHead| {
        head.admins = (0..=ADMINS_MAX).map(|n| PublicKey([n as u8; 32])).collect();
    };
    assert_eq!(fault(&many), GenesisHeadError::Admins(ADMINS_MAX + 1));
    let none = ValidatorSetError::Count(0);
    assert_eq!(fault(&|head| head.validators.clear()), GenesisHeadError::Validators(none));
}

/// The change from the set that begins with member `from` to the next one, at this height.
fn link(from: usize, height: u64) -> Link {
    let next = set(from + 1..from + 5);
    let header = Header {
        sim: world(),
        height: Height(height),
        validators: set(from..from + 4).id(),
        next_validators: next.id(),
        ..Header::unstated()
    };
    let certificate = certificate(&header, from..from + 4);
    Link { header, certificate, next: next.members().to_vec() }
}

#[test]
fn links_lead_from_one_set_to_a_later_one_and_each_fault_names_its_height() {
    let links = [link(0, 10), link(1, 20), link(2, 30)];
    let lead = |links: &[Link], from: u64, first: usize, to: u64| {
        let known = set(first..first + 4);
        follow(links, world(), (Height(from), &known), Height(to), &Ed25519)
    };
    assert_eq!(lead(&links, 0, 0, 31), Ok(set(3..7)));
    assert_eq!(lead(&links, 20, 2, 40), Ok(set(3..7)), "older ones are passed over");
    assert_eq!(lead(&links, 9, 0, 30), Err(LinkError::Order(Height(30))), "it comes too late");
    let swapped = [links[1].clone(), links[0].clone()];
    assert_eq!(lead(&swapped, 0, 0, 31), Err(LinkError::Missing(Height(20))));
    let twice = [links[0].clone(), links[0].clone()];
    assert_eq!(lead(&twice, 0, 0, 31), Err(LinkError::Order(Height(10))));
    let with = |change: &dyn Fn(&mut Link)| {
        let mut changed = link(0, 10);
        change(&mut changed);
        lead(&[changed], 0, 0, 31).expect_err("a fault")
    };
    let height = Height(10);
    assert_eq!(with(&|link| link.header.sim = SimId(Digest::ZERO)), LinkError::OtherSim(height));
    assert_eq!(with(&|link| link.header.engine = 9), LinkError::OtherHeader(height));
    let mut shuffled = link(0, 10);
    shuffled.next.swap(0, 1);
    assert_eq!(lead(&[shuffled], 0, 0, 31), Ok(set(1..5)), "a set has an order of its own");
    let fewer = with(&|link| {
        link.next.pop();
    });
    assert_eq!(fewer, LinkError::OtherMembers(height));
    assert_eq!(with(&|link| link.next.clear()), LinkError::OtherMembers(height));
    let why = CertificateError::NoQuorum { power: 2, quorum: 3 };
    let few = with(&|link| link.certificate.signatures.truncate(2));
    assert_eq!(few, LinkError::Certificate { height, why });
}
