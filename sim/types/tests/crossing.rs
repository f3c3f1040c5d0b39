//! What sims say to one another over a border, and how large it may be.

use metatopia_math::{Fx, Vec2};
use metatopia_types::{limits::*, wire::DecodeError, *};

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim(n: u8) -> SimId {
    SimId(Digest([n; 32]))
}

/// A thing to bring along of which as much is said as can be.
const LARGEST: BroughtThing = BroughtThing { reach: u16::MAX, compounds: u8::MAX, hers: u8::MAX };

fn public(n: usize) -> PublicKey {
    let mut bytes = [0xff; 32];
    bytes[..8].copy_from_slice(&(n as u64 + (1 << 40)).to_be_bytes());
    PublicKey(bytes)
}

/// Returns the largest that a sim can say: every list is full, and every number as long as it can be. The border
/// frame has what the others leave.
fn largest() -> Said {
    let mut said = Said { frame: BorderFrame::empty(), ..with_frame() };
    said.frame.made = said.time;
    let body = wire::length(&framed(0));
    said.frame.bodies = (0..said.room_for_frame() / body).map(framed).collect();
    said
}

/// A body in a border frame with the longest numbers.
fn framed(n: usize) -> FrameBody {
    FrameBody {
        traveller: Traveller::Thing(Origin {
            sim: sim(0xff),
            number: ObjectId(u64::MAX - 99 + n as u64),
        }),
        place: (i32::MIN, i32::MIN),
        angle: u16::MAX,
        velocity: (i16::MIN, i16::MIN),
        spin: i16::MIN,
        shape: FrameShape::Rect(16_384, 16_384),
    }
}

/// Returns a whole border frame beside all else that may be said, which no leaf holds.
fn with_frame() -> Said {
    let last = OBJECT_NUMBERS_END - 1;
    let number = |n: usize| last - 200 + n as u64;
    let late = Millis(u64::MAX);
    let departure = |n: usize| BorderDeparture {
        number: number(n),
        traveller: Traveller::Thing(Origin { sim: sim(0xff), number: ObjectId(u64::MAX) }),
        until: late,
        parcel: Digest([0xff; 32]),
    };
    Said {
        height: Height(u64::MAX - ROOT_LAG),
        time: late,
        open: true,
        portal: Some(Vec2::new(Fx::MIN, Fx::MIN)),
        epoch: u64::MAX,
        taken_up: u64::MAX,
        out_next: last,
        in_next: last,
        departures: (0..DEPARTURES_MAX).map(departure).collect(),
        verdicts: (0..VERDICTS_MAX)
            .map(|n| BorderVerdict { number: number(n), refused: Some(TravelRefusal::Late) })
            .collect(),
        came_home: (0..DEPARTURES_MAX).map(|n| number(n + 64)).collect(),
        passes: (0..PASSES_MAX)
            .map(|n| CrossingPass {
                person: public(n),
                until: late,
                refused: Some(PassRefusal::Full),
                mark: [0xff; 8],
                hands: vec![Some(TravelRefusal::FewServers); BROUGHT_MAX],
            })
            .collect(),
        near: (0..PEOPLE_NEAR_MAX).map(near).collect(),
        frame: BorderFrame { made: late, bodies: (0..BORDER_BODIES_MAX).map(framed).collect() },
    }
}

/// Somebody near who brings all that she can.
fn near(n: usize) -> NearPerson {
    NearPerson { person: public(n), mark: [0xff; 8], brought: vec![LARGEST; BROUGHT_MAX] }
}

fn person() -> TravellingPerson {
    TravellingPerson {
        key: key(1).public(),
        name: "Ada".into(),
        look: Look::default(),
        bot: false,
        position: Vec2::new(Fx::from_int(32), Fx::ONE),
        velocity: Vec2::new(Fx::from_int(4), Fx::ZERO),
        heading: Vec2::new(Fx::ONE, Fx::ZERO),
        waited: 50,
        hands: vec![],
        mount: None,
        companions: Companions::default(),
    }
}

/// Signs a header as all of these keys.
fn certify(header: &Header, keys: &[SigningKey]) -> Certificate {
    let mut certificate = Certificate {
        height: header.height,
        round: Round(0),
        header: header.id(),
        signatures: Vec::new(),
    };
    for key in keys {
        let signed = certificate.vote(key.public()).sign_bytes(header.sim);
        certificate.signatures.push((key.public(), key.sign(&signed)));
    }
    certificate
}

fn set_of(keys: &[SigningKey]) -> ValidatorSet {
    let member = |key: &SigningKey| Validator { key: key.public(), power: 1 };
    ValidatorSet::new(keys.iter().map(member).collect(), |_| true).expect("a set")
}

/// Returns a dispatch of sim 1 to sim 2 about this, in a state of nothing else, as these keys sign it.
fn dispatch(said: &Said, keys: &[SigningKey], parcels: Vec<Vec<u8>>) -> Dispatch {
    let (key, content) = (said_key(sim(2)), said.encode());
    let leaf = leaf_hash(&key, &Digest(*blake3::hash(&content).as_bytes()));
    let place = merkle::Proof::of(&[leaf], 0).expect("a leaf");
    let id = set_of(keys).id();
    let header = Header {
        sim: sim(1),
        height: said.height.plus(ROOT_LAG),
        time: said.time,
        root: Root(leaf.to_owned()),
        validators: id,
        next_validators: id,
        ..Header::unstated()
    };
    let certificate = certify(&header, keys);
    let said = StateProof { key, content, place };
    Dispatch { links: vec![], state: Some(DispatchedState { header, certificate, said, parcels }) }
}

#[test]
fn the_largest_of_every_part_fits_a_blob_at_31_servers_with_one_whole_parcel() {
    let said = largest();
    assert_eq!(said.check(), Ok(()));
    let bytes = said.encode();
    println!("the largest that is said: {} B", bytes.len());
    assert!(bytes.len() <= SAID_BYTES_MAX && SAID_BYTES_MAX <= LEAF_BYTES_MAX);
    assert_eq!(Said::decode(&bytes), Ok(said.clone()));

    let keys: Vec<SigningKey> = (1..=VALIDATORS_MAX as u8).map(key).collect();
    let mut whole = dispatch(&said, &keys, vec![vec![7; PARCEL_BYTES_MAX]]);
    let state = whole.state.as_mut().expect("a state");
    // The path that proves a leaf of the largest state.
    state.said.place =
        merkle::Proof { index: LEAVES_MAX - 1, count: LEAVES_MAX, path: vec![Digest([9; 32]); 20] };
    let blob = whole.blob();
    println!("with a parcel of {PARCEL_BYTES_MAX} B: {} B", blob.0.len());
    assert!(blob.0.len() + (SAID_BYTES_MAX - bytes.len()) <= BLOB_BYTES_MAX);
    assert_eq!(Dispatch::decode(&blob.0), Ok(whole));
    const { assert!(2 * BLOB_BYTES_MAX <= DISPATCHES_BYTES_MAX) };
    const { assert!(DISPATCHES_BYTES_MAX < BLOBS_BYTES_MAX) };
}

#[test]
fn a_border_frame_has_what_the_rest_leaves_and_all_of_it_while_a_quarter_of_that_is_free() {
    let whole = with_frame();
    assert_eq!(whole.check(), Ok(()));
    let oversize = whole.encode().len();
    let error = DecodeError::Oversize { found: oversize, limit: SAID_BYTES_MAX };
    assert_eq!(Said::decode(&whole.encode()), Err(SaidError::Decode(error)));
    let body = wire::length(&framed(0));
    let most = largest().frame.bodies.len();
    println!("a body of a frame: {body} B at most, {most} of them beside all else");
    assert!(body <= 74 && most < BORDER_BODIES_MAX);

    let mut busy = whole;
    let part = |max: usize| max * 3 / 4;
    busy.departures.truncate(part(DEPARTURES_MAX));
    busy.verdicts.truncate(part(VERDICTS_MAX));
    busy.came_home.truncate(part(DEPARTURES_MAX));
    busy.passes.truncate(part(PASSES_MAX));
    busy.near.truncate(part(PEOPLE_NEAR_MAX));
    assert!(busy.room_for_frame() >= BORDER_BODIES_MAX * body);
    assert_eq!(Said::decode(&busy.encode()), Ok(busy));
}

#[test]
fn a_border_frame_has_bounded_bodies_that_ascend_of_sizes_that_move_and_is_no_later() {
    let made = Millis(60);
    let frame = |bodies: Vec<FrameBody>| Said { frame: BorderFrame { made, bodies }, ..seven() };
    let of = |shape| FrameBody { shape, ..framed(1) };
    let refused = |said: Said| Said::decode(&said.encode()).expect_err("a broken rule");
    let fine = frame((0..BORDER_BODIES_MAX).map(framed).collect());
    assert_eq!(Said::decode(&fine.encode()), Ok(fine.clone()));
    let long = (0..=BORDER_BODIES_MAX).map(framed).collect();
    let most = BORDER_BODIES_MAX;
    assert_eq!(refused(frame(long)), SaidError::Long(most + 1, most));
    assert_eq!(refused(frame(vec![framed(2), framed(1)])), SaidError::Order);
    assert_eq!(refused(frame(vec![framed(1), framed(1)])), SaidError::Order, "one twice");
    let shapes = [FrameShape::Circle(63), FrameShape::Rect(64, 63), FrameShape::Capsule(63, 64)];
    for shape in shapes {
        assert_eq!(refused(frame(vec![of(shape)])), SaidError::Size(63));
    }
    let large = of(FrameShape::Circle(16_385));
    assert_eq!(refused(frame(vec![large])), SaidError::Size(16_385));
    let later = BorderFrame { made: Millis(71), ..fine.frame.clone() };
    assert_eq!(refused(Said { frame: later, ..seven() }), SaidError::Later(71));
    assert_ne!(fine.news(), seven().news(), "a frame is news");
}

#[test]
fn what_is_said_has_bounded_lists_that_ascend_and_numbers_in_range() {
    // Without a frame, which would fill what is left of the leaf.
    let whole = Said { frame: BorderFrame::empty(), ..largest() };
    let broken = |change: &dyn Fn(&mut Said)| {
        let mut said = whole.clone();
        change(&mut said);
        Said::decode(&said.encode()).expect_err("a broken rule")
    };
    let long = |max: usize| SaidError::Long(max + 1, max);
    let more = |said: &mut Said| said.departures.push(said.departures[0]);
    assert_eq!(broken(&more), long(DEPARTURES_MAX));
    assert_eq!(broken(&|said| said.verdicts.push(said.verdicts[0])), long(VERDICTS_MAX));
    assert_eq!(broken(&|said| said.came_home.push(7)), long(DEPARTURES_MAX));
    assert_eq!(broken(&|said| said.passes.push(said.passes[0].clone())), long(PASSES_MAX));
    assert_eq!(broken(&|said| said.near.push(near(99))), long(PEOPLE_NEAR_MAX));
    let hands = long(BROUGHT_MAX);
    assert_eq!(broken(&|said| said.near[3].brought.push(LARGEST)), hands, "six with her");
    assert_eq!(broken(&|said| said.passes[3].hands.push(None)), hands, "six answered");
    assert_eq!(broken(&|said| said.near.swap(0, 1)), SaidError::Order);
    assert_eq!(broken(&|said| said.passes[1] = said.passes[0].clone()), SaidError::Order);
    assert_eq!(broken(&|said| said.departures.swap(0, 1)), SaidError::Order);
    let number = whole.departures[31].number;
    assert_eq!(broken(&|said| said.out_next = number), SaidError::Number(said_last(&whole)));
    let last = whole.verdicts[63].number;
    assert_eq!(broken(&|said| said.in_next = last), SaidError::Number(last));
    let end = OBJECT_NUMBERS_END;
    assert_eq!(broken(&|said| said.out_next = end), SaidError::Number(end));

    let mut later = whole.encode();
    later[0] = Said::FORMAT + 1;
    let format = DecodeError::Format { found: Said::FORMAT + 1, known: Said::FORMAT };
    assert_eq!(Said::decode(&later), Err(SaidError::Decode(format)));
    let oversize = DecodeError::Oversize { found: SAID_BYTES_MAX + 1, limit: SAID_BYTES_MAX };
    assert_eq!(Said::decode(&vec![1; SAID_BYTES_MAX + 1]), Err(SaidError::Decode(oversize)));
}

/// Returns the greatest number that is under way or came home.
fn said_last(said: &Said) -> u64 {
    *said.came_home.last().expect("some came home")
}

#[test]
fn parcels_say_their_format_and_have_a_bound() {
    let parcel = Parcel::Person(person());
    let bytes = parcel.encode();
    assert_eq!(parcel.traveller(), Traveller::Person(key(1).public()));
    assert_eq!(Parcel::decode(&bytes), Ok(parcel));
    let later = [&[Parcel::FORMAT + 1], &bytes[1..]].concat();
    let format = DecodeError::Format { found: Parcel::FORMAT + 1, known: Parcel::FORMAT };
    assert_eq!(Parcel::decode(&later), Err(ParcelError::Decode(format)));
    let found = PARCEL_BYTES_MAX + 1;
    let oversize = DecodeError::Oversize { found, limit: PARCEL_BYTES_MAX };
    assert_eq!(Parcel::decode(&vec![1; found]), Err(ParcelError::Decode(oversize)));
}

#[test]
fn news_is_all_but_height_and_time() {
    let said = largest();
    let later = Said { height: Height(9), time: Millis(9), ..said.clone() };
    assert_eq!(said.news(), later.news());
    assert_ne!(said.news(), Said { open: false, ..said.clone() }.news());
    let news = said.news();
    assert_ne!(news, Said { near: vec![], ..said }.news());
}

#[test]
fn an_order_about_a_border_holds_the_largest_head() {
    let mut admins: Vec<PublicKey> = (0..ADMINS_MAX).map(public).collect();
    admins.sort();
    let mut validators: Vec<PublicKey> = (0..VALIDATORS_MAX).map(public).collect();
    validators.sort();
    let square = Square { x: i32::MIN, y: i32::MAX - 1, doublings: 0 };
    let head = GenesisHead {
        engine: u32::MAX,
        rules: Digest([7; 32]),
        site: Some(Site { world: sim(3), square }),
        office: Some(OfficeFounding {
            square,
            holder: public(1),
            beacons: (0..BEACONS_MAX).map(public).collect(),
        }),
        parent: Some(HeadParent {
            sim: sim(4),
            height: Height(u64::MAX),
            root: Root(Digest([1; 32])),
        }),
        admins,
        validators,
        rest: Digest([9; 32]),
    };
    let order = BorderOrder::Open {
        offices: vec![head.clone(); BORDER_OFFICES_MAX],
        head: Box::new(head),
        portal: None,
    };
    let blob = order.blob();
    assert!(blob.0.len() <= BORDER_ORDER_BYTES_MAX, "{} B", blob.0.len());
    assert_eq!(BorderOrder::decode(&blob.0), Ok(order));
    let long = vec![0; BORDER_ORDER_BYTES_MAX + 1];
    assert!(matches!(BorderOrder::decode(&long), Err(DecodeError::Oversize { .. })));
}

/// Returns what sim 1 says after turn 7.
fn seven() -> Said {
    Said { height: Height(7), time: Millis(70), open: true, ..Said::nothing() }
}

fn four() -> Vec<SigningKey> {
    (1..=4).map(key).collect()
}

fn prove(dispatch: &Dispatch, from: u64, keys: &[SigningKey]) -> Result<Option<Said>, HearRefusal> {
    let proved = dispatch.prove(sim(1), sim(2), (Height(from), &set_of(keys)), &Ed25519);
    proved.map(|(_, proved)| proved.map(|proved| proved.said))
}

#[test]
fn a_dispatch_proves_what_is_said_to_one_sim_by_the_set_that_was_followed() {
    let whole = dispatch(&seven(), &four(), vec![vec![1, 2]]);
    assert_eq!(prove(&whole, 0, &four()), Ok(Some(seven())));
    let ((after, set), proved) =
        whole.prove(sim(1), sim(2), (Height(0), &set_of(&four())), &Ed25519).expect("proved");
    let proved = proved.expect("a state");
    assert_eq!((after, proved.at), (Height(8), Height(9)));
    assert_eq!(set.id(), set_of(&four()).id());
    assert!(proved.parcels.contains_key(&Parcel::digest(&[1, 2])));

    // Who joins by a link signs what comes after it, and links alone prove who votes.
    let five: Vec<SigningKey> = (1..=5).map(key).collect();
    let header = Header {
        sim: sim(1),
        height: Height(5),
        validators: set_of(&four()).id(),
        next_validators: set_of(&five).id(),
        ..Header::unstated()
    };
    let certificate = certify(&header, &four());
    let link = Link { header, certificate, next: set_of(&five).members().to_vec() };
    let linked = Dispatch { links: vec![link.clone()], ..dispatch(&seven(), &five, vec![]) };
    assert_eq!(prove(&linked, 0, &four()), Ok(Some(seven())));
    let links = Dispatch { links: vec![link], state: None };
    let (known, _) =
        links.prove(sim(1), sim(2), (Height(0), &set_of(&four())), &Ed25519).expect("proved");
    assert_eq!((known.0, known.1.id()), (Height(5), set_of(&five).id()));
    assert_eq!(prove(&links, 5, &five), Err(HearRefusal::NothingNew));
}

#[test]
fn forged_dispatches_are_refused_with_their_reason() {
    let whole = dispatch(&seven(), &four(), vec![]);
    let broken = |change: &dyn Fn(&mut Dispatch, &mut DispatchedState)| {
        let mut forged = whole.clone();
        let mut state = forged.state.take().expect("a state");
        change(&mut forged, &mut state);
        forged.state = Some(state);
        prove(&forged, 0, &four()).expect_err("a forgery")
    };
    let strangers: Vec<SigningKey> = (11..=14).map(key).collect();
    assert_eq!(
        prove(&dispatch(&seven(), &strangers, vec![]), 0, &four()),
        Err(HearRefusal::Unfollowed)
    );
    assert_eq!(broken(&|_, state| state.header.sim = sim(3)), HearRefusal::NotCertified);
    assert_eq!(broken(&|_, state| state.header.time = Millis(9)), HearRefusal::NotCertified);
    assert_eq!(broken(&|_, state| state.header.root = Root(Digest::ZERO)), HearRefusal::NotProved);
    assert_eq!(broken(&|_, state| state.said.content[3] ^= 1), HearRefusal::NotProved);
    assert_eq!(broken(&|_, state| state.said.key = said_key(sim(3))), HearRefusal::OtherLeaf);
    assert_eq!(broken(&|_, state| state.header.height = Height(10)), HearRefusal::BadSaid);
    let few = |_: &mut Dispatch, state: &mut DispatchedState| {
        state.certificate.signatures.truncate(2);
    };
    assert_eq!(broken(&few), HearRefusal::NotCertified);
    let many = |_: &mut Dispatch, state: &mut DispatchedState| {
        state.parcels = vec![vec![]; DEPARTURES_MAX + 1];
    };
    assert_eq!(broken(&many), HearRefusal::TooMuch);
    let nothing = Dispatch { links: vec![], state: None };
    assert_eq!(prove(&nothing, 0, &four()), Err(HearRefusal::NothingNew));
    assert_eq!(prove(&whole, 9, &four()), Err(HearRefusal::NothingNew), "older than what is known");

    let header = Header { sim: sim(1), height: Height(5), ..Header::unstated() };
    let certificate = certify(&header, &four());
    let link = Link { header, certificate, next: vec![] };
    let links = Dispatch { links: vec![link; DISPATCH_LINKS_MAX + 1], state: None };
    assert_eq!(prove(&links, 0, &four()), Err(HearRefusal::TooMuch));
    // A link that names validators to whom none leads, and one that leads to nobody.
    let mut links = Dispatch { links: links.links[..1].to_vec(), state: None };
    assert_eq!(prove(&links, 0, &four()), Err(HearRefusal::Unfollowed));
    links.links[0].header.validators = set_of(&four()).id();
    links.links[0].certificate = certify(&links.links[0].header, &four());
    assert_eq!(prove(&links, 0, &four()), Err(HearRefusal::NotCertified));
}

#[test]
fn what_is_said_in_another_format_is_told_apart_from_what_breaks_a_rule() {
    let said = seven();
    let with = |content: Vec<u8>| {
        let mut whole = dispatch(&said, &four(), vec![]);
        let state = whole.state.as_mut().expect("a state");
        let leaf = leaf_hash(&state.said.key, &Digest(*blake3::hash(&content).as_bytes()));
        (state.said.content, state.header.root) = (content, Root(leaf));
        prove(&whole, 0, &four())
    };
    let mut later = said.encode();
    later[0] = 9;
    assert_eq!(with(later), Err(HearRefusal::OtherFormat));
    let wrong = Said { near: vec![near(2), near(1)], ..said.clone() };
    assert_eq!(with(wrong.encode()), Err(HearRefusal::BadSaid));
}
