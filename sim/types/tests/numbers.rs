//! Numbers are append-only: what a number of an act, a refusal or an outcome meant once, it means for
//! ever, because turns and proofs that carry it are read for ever. These lists only grow.

use metatopia_math::Vec2;
use metatopia_types::{wire::DecodeError, *};

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

/// One act of each kind that is known, in the order of the numbers.
fn samples() -> Vec<(&'static str, Act)> {
    let vote = |header| {
        let (height, round, voter) = (Height(3), Round(2), key(1).public());
        Vote { kind: VoteKind::Precommit, height, round, header, voter }
            .sign(SimId(Digest::ZERO), &key(1))
    };
    let both = Evidence::votes(vote(None), vote(Some(HeaderId(Digest::ZERO))));
    let ticket = TicketOrder::Withdraw { ticket: key(6).public() };
    vec![
        ("Login", Act::login("Ada".into(), Look::default())),
        ("Leave", Act::Leave),
        ("Heartbeat", Act::Heartbeat),
        ("Walk", Act::Walk { heading: Vec2::ZERO }),
        ("Touch", Act::Touch { object: ObjectId(300) }),
        ("Push", Act::Push { object: ObjectId(7) }),
        ("Say", Act::Say { channel: 1, body: BlobId(Digest::ZERO) }),
        ("Emote", Act::Emote(Emote::Bow)),
        ("SetLook", Act::SetLook(Look::default())),
        ("SetChange", Act::SetChange(SetChange::Remove { key: key(5).public() })),
        ("Ready", Act::Ready { height: Height(299), proof: Digest([9; 32]) }),
        ("Report", Act::Report(both)),
        ("Build", Act::Build(Build::Undo { skip: 1 })),
        ("Ticket", Act::Ticket(ticket)),
        ("Amend", Act::Amend { name: "name".into(), value: "Harbour".into() }),
        ("Publish", Act::Publish { source: BlobId(Digest([7; 32])) }),
        (
            "Reply",
            Act::Reply { object: ObjectId(7), tag: "tea".into(), choice: 1, text: "Ada".into() },
        ),
        ("Land", Act::Land { order: BlobId(Digest([8; 32])) }),
        (
            "Answer",
            Act::Answer {
                object: ObjectId(7),
                terms: Offer {
                    give: Some(ObjectId(8)),
                    take: None,
                    allow: [Permission::Dress].into(),
                },
                accepts: true,
            },
        ),
        ("Forbid", Act::Forbid),
        ("Hear", Act::Hear { neighbour: SimId(Digest::ZERO), dispatch: BlobId(Digest([9; 32])) }),
        ("Approach", Act::Approach { from: SimId(Digest::ZERO), work: None }),
        ("Border", Act::Border { order: BlobId(Digest([3; 32])) }),
        ("Govern", Act::Govern(GovernOrder::Thaw { object: ObjectId(7) })),
        ("Lot", Act::Lot(LotOrder::Return { lot: LotId(3) })),
        ("GoHome", Act::GoHome),
        ("Sit", Act::Sit { on: Some(ObjectId(7)) }),
        (
            "FileReport",
            Act::FileReport { about: ReportSubject::Thing(ObjectId(7)), words: "a wall".into() },
        ),
        ("WithdrawReport", Act::WithdrawReport { report: 3 }),
        ("Tell", Act::Tell { to: key(4).public(), sealed: BlobId(Digest([5; 32])) }),
        ("EmptyMailbox", Act::EmptyMailbox { up_to: 3 }),
        ("NameFriends", Act::NameFriends { friends: vec![key(4).public()], need: 1 }),
        (
            "Vouch",
            Act::Vouch { old: key(4).public(), new: NewKeyWord::new(&key(5), &key(4).public()) },
        ),
        ("CancelRecovery", Act::CancelRecovery),
        ("Forget", Act::Forget { height: Height(7), body: BlobId(Digest([6; 32])) }),
        ("Club", Act::Club(ClubOrder::Leave { club: ClubId(3) })),
        ("SetProfile", Act::SetProfile { profile: BlobId(Digest([6; 32])) }),
        ("PublishPiece", Act::PublishPiece { piece: BlobId(Digest([7; 32])) }),
        ("Assemble", Act::Assemble { pieces: vec![BlobId(Digest([7; 32])); 8] }),
    ]
}

fn envelope(act: Act) -> Envelope {
    let author = key(1).public();
    Envelope {
        sim: SimId(Digest::ZERO),
        author,
        lane: Lane(1),
        seq: Seq(1),
        last_valid: Height(9),
        act,
    }
}

#[test]
fn each_number_keeps_its_act() {
    let samples = samples();
    assert_eq!(samples.len(), ACT_NUMBERS.len(), "a new act has a sample here, behind all others");
    for ((number, (name, act)), row) in (0..).zip(samples).zip(ACT_NUMBERS) {
        assert_eq!(row, (name, number));
        assert_eq!(act.number(), number, "{name}");
        assert!(format!("{act:?}").starts_with(name), "{act:?} is not {name}");
        let bytes = wire::encode(&act);
        let (first, length): (u16, u32) = wire::decode_first(&bytes).expect("a shell");
        assert_eq!(first, number, "{name}");
        assert_eq!(wire::length(&(first, length)) + length as usize, bytes.len(), "{name}");
        assert_eq!(wire::decode(&bytes, 1_024), Ok(act));
    }
}

#[test]
fn an_act_of_a_later_program_is_decoded_named_and_checked_and_is_the_same_bytes_again() {
    let later = envelope(Act::Unknown { number: 300, bytes: vec![7; 200] });
    let signed = later.sign(&key(1));
    let bytes = wire::encode(&signed);

    let read: SignedEnvelope = wire::decode(&bytes, limits::ENVELOPE_BYTES_MAX).expect("a shell");

    assert_eq!((read.id(), wire::encode(&read)), (signed.id(), bytes));
    assert!(read.verify(&Ed25519));
    // Any bytes do, for only the later program knows what they mean.
    for held in [vec![], vec![0xff; 9]] {
        let act = Act::Unknown { number: ACT_NUMBERS.len() as u16, bytes: held };
        assert_eq!(wire::decode(&wire::encode(&act), 64), Ok(act));
    }
}

#[test]
fn the_bytes_of_a_known_number_are_its_act_in_the_one_form_or_nothing() {
    let heartbeat = wire::encode(&Act::Heartbeat);
    assert_eq!(heartbeat, [2, 0]);
    let decode = |bytes: &[u8]| wire::decode::<Act>(bytes, 64);
    assert_eq!(decode(&[2, 1, 0]), Err(DecodeError::Malformed), "a byte more");
    assert_eq!(decode(&[4, 0]), Err(DecodeError::Malformed), "a byte less");
    assert_eq!(decode(&[4, 1, 5]), Ok(Act::Touch { object: ObjectId(5) }));
    assert_eq!(decode(&[4, 2, 0x85, 0]), Err(DecodeError::NotCanonical), "a long integer");
    assert_eq!(decode(&[0x82, 0, 0]), Err(DecodeError::NotCanonical), "a long number");
    assert_eq!(decode(&[4, 0x81, 0, 5]), Err(DecodeError::NotCanonical), "a long length");
    assert_eq!(decode(&[0xff, 0xff, 0xff, 0]), Err(DecodeError::Malformed), "no number of 16 bits");
}

/// Before acts had a shell, an envelope held the place of the act and its fields, without a length. Whoever hands in
/// such bytes again, signed as they are, hands in nothing.
#[test]
fn an_act_without_its_shell_is_no_act_of_any_number() {
    for (name, act) in samples() {
        let (shell, whole) = (wire::encode(&act), wire::encode(&envelope(act.clone())));
        let (number, length): (u16, u32) = wire::decode_first(&shell).expect("a shell");
        let place = wire::length(&number);
        let fields = &shell[wire::length(&(number, length))..];
        let head = &whole[..whole.len() - shell.len()];
        let bare = [head, &shell[..place], fields].concat();

        assert!(wire::decode::<Envelope>(&bare, limits::ENVELOPE_BYTES_MAX).is_err(), "{name}");
        // And with a signature behind it, of which a reader could take bytes for those of the act.
        let signature = key(1).sign(&Digest::of("metatopia act v1", &bare).0);
        let signed = [bare, wire::encode(&signature)].concat();
        let read = wire::decode::<SignedEnvelope>(&signed, limits::ENVELOPE_BYTES_MAX);
        assert!(read.is_err(), "{name}: {read:?}");
    }
}

/// What is signed names its kind and its version, so a signature over the same bytes for another purpose, or by an
/// earlier rule, is none.
#[test]
fn a_signature_over_another_version_of_acts_is_none() {
    let envelope = envelope(Act::Heartbeat);
    let signed = |domain: &str| {
        let signature = key(1).sign(&Digest::of(domain, &wire::encode(&envelope)).0);
        SignedEnvelope { envelope: envelope.clone(), signature }.verify(&Ed25519)
    };
    assert!(signed("metatopia act v1"));
    for other in ["metatopia act v0", "metatopia act v2", "metatopia act", "metatopia vote v1", ""]
    {
        assert!(!signed(other), "{other}");
    }
}

#[test]
fn each_number_keeps_its_refusal() {
    let ever = "NotLoggedIn OtherSession NotAdmin BadText NoObject OutOfReach Immovable NoBlob \
                NoChannel Full OutOfRange TooOften BadSetChange WrongProof BadEvidence Crashed \
                NotYours Person ClosedLand Occupied KeptClear BadSize TooManyObjects \
                TooManyScripts TooMuchText NoPlayer NoRoomForGifts NoPackage NoScript NotFree \
                NothingToUndo GiftStays NoSeat ChangesWait NoTicket TooManyTickets TooManyMovable \
                NotPermanent NoParameter SimEnded NotPublisher BadPackage TooManyPackages \
                NoLandOffice BadOrder LandTaken BadSquare NoClaims Untouched NoSponsor SponsorUsed \
                TooManySquares NoSquaresLeft NotOfWorld NotItsAdmin BadBeacons NoGrant NotCertified \
                OldHeader NotSuccessor SimRuns OfficeStays NoOffer \
                NotHeard BadBorder NoBorder NotNear Banned Muted NoRight Outranked \
                LastAdmin Frozen AlreadySo NotHere ListFull UnfitName NameTaken Away \
                NoLot LotTaken TooManyLots NotEmpty NotOnLot NoWayHome Rotated KnownKey \
                Held HandsFull NotHeld Joined OwnersDiffer JoinedToItself TooManyJoints NotJoined \
                NothingToSitOn SeatTaken QueueFull TooManyReports NoReport BadSeal NotOpened SlowMode \
                QuietHours MissingImport BadImport BadFriends TooManyFriends NotFriend \
                FreshFriend QuietFriend RecoveryOpen NoRecovery TooManyRecoveries BeaconsWait \
                NoKeyWord BadCorners NotForArea NoLand NoSuchWords NoClub NotMember NotClubOwner NoInvite \
                ClubNameTaken TooManyClubs ClubsFull ClubFull TooManyInvites BadProfile OldProfile \
                ProfilesFull TooManyCompounds OfParts BadParts OtherAuthor UnderWay HeldFast MissingPiece";
    let taken = Refusal::LandTaken(SimId(Digest::ZERO));
    let read = |number: u16| {
        let tag = wire::encode(&number);
        // All but eleven are their numbers; those name a sim, a key, a package, a piece, a reason or a time.
        let plain = wire::decode(&tag, 34);
        let reasoned = || wire::decode(&[&tag[..], &[0]].concat(), 34);
        let named = wire::encode(&taken);
        let of_sim = || wire::decode(&[&tag[..], &named[1..]].concat(), 34);
        let refusal: Refusal = plain.or_else(|_| reasoned()).or_else(|_| of_sim()).ok()?;
        Some(format!("{refusal:?}").split('(').next().expect("a name").to_owned())
    };
    let names: Vec<String> = (0..).map_while(read).collect();
    assert_eq!(names, ever.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn each_number_keeps_its_outcome() {
    assert_eq!(wire::encode(&Outcome::Ok), [0]);
    assert_eq!(wire::encode(&Outcome::Refused(Refusal::NotAdmin)), [1, 2]);
    assert_eq!(wire::encode(&Outcome::Made(ObjectId(5))), [2, 5]);
    assert_eq!(wire::decode::<Outcome>(&[3, 0], 2), Err(DecodeError::Malformed), "a new one");
}
