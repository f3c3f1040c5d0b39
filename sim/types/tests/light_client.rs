//! A light client in two hundred lines, with nothing but this crate: it trusts the first validator
//! set, follows set changes from header to header, and then believes receipts and states that the
//! right servers signed, and nothing else.

use metatopia_types::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("light client", b"sim"))
}

fn set(keys: &[u8]) -> ValidatorSet {
    let members = keys.iter().map(|n| Validator { key: key(*n).public(), power: 1 }).collect();
    ValidatorSet::new(members, |_| true).expect("a handful of members")
}

/// Knows who votes from which height on.
struct LightClient {
    sets: Vec<(Height, ValidatorSet)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Distrust {
    UnknownHeight,
    OtherSim,
    OtherValidators,
    OtherHeader,
    NotTheNextSet,
    Certificate(CertificateError),
    Receipt(ReceiptError),
    State,
}

impl LightClient {
    fn new(first: ValidatorSet) -> Self {
        Self { sets: vec![(Height(1), first)] }
    }

    fn set_of(&self, height: Height) -> Result<&ValidatorSet, Distrust> {
        let known = self.sets.iter().rev().find(|(from, _)| *from <= height);
        known.map(|(_, set)| set).ok_or(Distrust::UnknownHeight)
    }

    fn believe(&self, header: &Header, certificate: &Certificate) -> Result<(), Distrust> {
        let set = self.set_of(header.height)?;
        if header.sim != sim() {
            return Err(Distrust::OtherSim);
        }
        if header.validators != set.id() {
            return Err(Distrust::OtherValidators);
        }
        if (certificate.height, certificate.header) != (header.height, header.id()) {
            return Err(Distrust::OtherHeader);
        }
        certificate.verify(sim(), set, &Ed25519).map_err(Distrust::Certificate)
    }

    fn follow(
        &mut self,
        header: &Header,
        certificate: &Certificate,
        next: ValidatorSet,
    ) -> Result<(), Distrust> {
        self.believe(header, certificate)?;
        if next.check().is_err() || next.id() != header.next_validators {
            return Err(Distrust::NotTheNextSet);
        }
        self.sets.push((header.height.plus(1), next));
        Ok(())
    }

    fn receipt(&self, act: &SignedEnvelope, receipt: &Receipt) -> Result<(), Distrust> {
        let set = self.set_of(receipt.header.height)?;
        receipt.verify(sim(), act, set, &Ed25519).map_err(Distrust::Receipt)
    }

    fn state(
        &self,
        header: &Header,
        certificate: &Certificate,
        proof: &StateProof,
    ) -> Result<(), Distrust> {
        self.believe(header, certificate)?;
        proof.verify(header.root).map_err(|_| Distrust::State)
    }
}

fn act(n: u8, seq: u64) -> SignedEnvelope {
    let act = Act::Emote(Emote::Wave);
    let author = key(n).public();
    Envelope { sim: sim(), author, lane: Lane(1), seq: Seq(seq), last_valid: Height(99), act }
        .sign(&key(n))
}

fn header(
    height: u64,
    body: &TurnBody,
    votes: &ValidatorSet,
    next: &ValidatorSet,
    root: Root,
) -> Header {
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    Header {
        sim: sim(),
        engine: 1,
        height: Height(height),
        previous: HeaderId(Digest::ZERO),
        proposer: votes.proposer(Height(height), Round(0)),
        round: Round(0),
        time: Millis(height * 50),
        acts,
        act_count,
        blobs,
        blob_count,
        root,
        validators: votes.id(),
        next_validators: next.id(),
        reserved: Digest::ZERO,
    }
}

fn certify(header: &Header, round: u32, signers: &[u8]) -> Certificate {
    let (height, id) = (header.height, header.id());
    let mut made = Certificate { height, round: Round(round), header: id, signatures: vec![] };
    for n in signers {
        let voter = key(*n).public();
        let signed = made.vote(voter).sign(sim(), &key(*n));
        made.signatures.push((voter, signed.signature));
    }
    made
}

fn no_root() -> Root {
    Root(Digest::ZERO)
}

#[test]
fn a_receipt_of_three_of_four_is_believed_and_any_change_of_it_is_not() {
    let four = set(&[1, 2, 3, 4]);
    let client = LightClient::new(four.clone());
    let body = TurnBody::new((1..20).map(|seq| act(50, seq)).collect(), vec![]).expect("small");
    let header = header(7, &body, &four, &four, no_root());
    let certificate = certify(&header, 3, &[1, 2, 4]);
    let leaves = body.act_leaves();

    for (at, act) in body.acts().iter().enumerate() {
        let place = merkle::Proof::of(&leaves, at).expect("in range");
        let good = Receipt { header: header.clone(), certificate: certificate.clone(), place };
        assert_eq!(client.receipt(act, &good), Ok(()));

        let other = &body.acts()[(at + 1) % leaves.len()];
        let wrong = Distrust::Receipt(ReceiptError::NotInTurn);
        assert_eq!(client.receipt(other, &good), Err(wrong));
    }
}

#[test]
fn a_certificate_needs_a_quorum_of_different_members_with_their_own_signatures() {
    let four = set(&[1, 2, 3, 4]);
    let client = LightClient::new(four.clone());
    let header = header(7, &TurnBody::default(), &four, &four, no_root());
    let verdict = |certificate: &Certificate| client.believe(&header, certificate);
    let rejected = |error| Err(Distrust::Certificate(error));

    assert_eq!(verdict(&certify(&header, 0, &[1, 2, 3])), Ok(()));
    let (power, quorum) = (2, 3);
    let short = CertificateError::NoQuorum { power, quorum };
    assert_eq!(verdict(&certify(&header, 0, &[1, 2])), rejected(short));
    let twice = CertificateError::Repeated(key(1).public());
    assert_eq!(verdict(&certify(&header, 0, &[1, 2, 1])), rejected(twice));
    let stranger = CertificateError::Stranger(key(9).public());
    assert_eq!(verdict(&certify(&header, 0, &[1, 2, 9])), rejected(stranger));
    let mut swapped = certify(&header, 0, &[1, 2, 3]);
    swapped.signatures[0].1 = swapped.signatures[1].1;
    let forged = CertificateError::Signature(key(1).public());
    assert_eq!(verdict(&swapped), rejected(forged));
    let mut other_round = certify(&header, 0, &[1, 2, 3]);
    other_round.round = Round(1);
    assert_eq!(verdict(&other_round), rejected(forged));
    let many = Certificate {
        signatures: vec![(key(1).public(), swapped.signatures[0].1); 32],
        ..certify(&header, 0, &[])
    };
    assert_eq!(verdict(&many), rejected(CertificateError::TooMany(32)));
}

#[test]
fn set_changes_are_followed_from_header_to_header_and_old_servers_lose_their_say() {
    let (old, new) = (set(&[1, 2, 3, 4]), set(&[2, 3, 4, 5]));
    let mut client = LightClient::new(old.clone());
    let change = header(7, &TurnBody::default(), &old, &new, no_root());
    let after = header(8, &TurnBody::default(), &new, &new, no_root());

    let by_new = certify(&after, 0, &[3, 4, 5]);
    assert_eq!(client.believe(&after, &by_new), Err(Distrust::OtherValidators));
    let signed = certify(&change, 0, &[1, 2, 3]);
    let wrong_set = client.follow(&change, &signed, set(&[2, 3, 4, 6]));
    assert_eq!(wrong_set, Err(Distrust::NotTheNextSet));
    assert_eq!(client.follow(&change, &signed, new), Ok(()));
    assert_eq!(client.believe(&after, &by_new), Ok(()));
    let by_old = certify(&after, 0, &[1, 2, 3]);
    let gone = CertificateError::Stranger(key(1).public());
    assert_eq!(client.believe(&after, &by_old), Err(Distrust::Certificate(gone)));
}

#[test]
fn a_leaf_is_believed_only_with_its_own_key_content_and_certified_root() {
    let four = set(&[1, 2, 3, 4]);
    let client = LightClient::new(four.clone());
    let leaves: Vec<(LeafKey, Vec<u8>)> =
        ["clock", "players/a", "tile/0,0"].map(|k| (LeafKey(k.into()), k.into())).to_vec();
    let hashes: Vec<Digest> = leaves
        .iter()
        .map(|(key, content)| leaf_hash(key, &Digest(*blake3::hash(content).as_bytes())))
        .collect();
    let header = header(9, &TurnBody::default(), &four, &four, Root(merkle::root(&hashes)));
    let signed = certify(&header, 0, &[1, 2, 3]);
    let proof = |at: usize| StateProof {
        key: leaves[at].0.clone(),
        content: leaves[at].1.clone(),
        place: merkle::Proof::of(&hashes, at).expect("in range"),
    };

    for at in 0..3 {
        assert_eq!(client.state(&header, &signed, &proof(at)), Ok(()));
    }
    let renamed = StateProof { key: LeafKey("players/b".into()), ..proof(1) };
    assert_eq!(client.state(&header, &signed, &renamed), Err(Distrust::State));
    let changed = StateProof { content: b"players/c".to_vec(), ..proof(1) };
    assert_eq!(client.state(&header, &signed, &changed), Err(Distrust::State));
    let moved = StateProof { place: proof(2).place, ..proof(1) };
    assert_eq!(client.state(&header, &signed, &moved), Err(Distrust::State));
}
