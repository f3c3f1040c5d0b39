//! Parcels of things that lie about what they are: a named refusal, and nothing else changes.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Compound, CompoundPart, Motion, Shape};
use metatopia_scripting::{ScriptState, Value};
use metatopia_sim::limits::{BORDER_BYTES, BORDER_COMPOUNDS_MAX, BORDER_THINGS, HANDS_MAX};
use metatopia_types::{
    Act, AssetLicence, Blueprint, BroughtThing, Build, Companions, Digest, Look, ObjectId, Origin,
    Outcome, Outline, OutlineParts, PackageId, Parcel, PublicKey, Refusal, SimId, TravelRefusal,
    Traveller, TravellingPerson, TravellingScript, TravellingThing, wire,
};

use crate::{
    hands::OWN_THINGS,
    lies::Liar,
    things::amend,
    town::{ADMIN, at, public},
};

/// A ball of 30 cm at a place of the west, with the speed that it rolls over the line with.
pub(crate) fn body() -> BodySpec {
    let place = at(32, 4).saturating_add(Vec2::new(Fx::HALF, Fx::ZERO));
    let shape = Shape::Circle { radius: Fx::from_ratio(3, 10) };
    let mut body = BodySpec::new(shape, Motion::Dynamic, place);
    body.velocity = at(2, 0);
    body
}

/// A thing whose encoded body says what the parcel says of it.
pub(crate) fn with_body(body: BodySpec) -> TravellingThing {
    TravellingThing {
        origin: Origin { sim: SimId(Digest::of("a test", b"elsewhere")), number: ObjectId(5) },
        handle: ObjectId(5),
        kind: "ball".into(),
        name: "a ball".into(),
        owner: None,
        look: Look::default(),
        text: String::new(),
        licence: AssetLicence::Cc0,
        author: None,
        parent: None,
        guest: None,
        body: wire::encode(&body),
        velocity: body.velocity,
        position: body.pose.position,
        scripts: vec![script()],
        seat: None,
        travels: true,
        waited: 0,
    }
}

fn script() -> TravellingScript {
    TravellingScript {
        package: PackageId(Digest::of("a test", b"a package")),
        state: wire::encode(&ScriptState::default()),
        timers: vec![("a".into(), 3), ("b".into(), u64::MAX)],
        suspended: false,
        dropped: u64::MAX,
    }
}

pub(crate) fn honest() -> TravellingThing {
    with_body(body())
}

/// Returns a shape of two parts.
pub(crate) fn two_discs() -> Shape {
    let part = CompoundPart::new(Shape::Circle { radius: Fx::HALF });
    Shape::Compound(Compound::new(&[part.clone(), part.at(Vec2::X)]).expect("two parts"))
}

fn parcel(thing: TravellingThing) -> Vec<u8> {
    Parcel::Thing(Box::new(thing), Companions::default()).encode()
}

/// Returns what the east says to a thing.
fn refusal(liar: &mut Liar, thing: TravellingThing) -> Option<TravelRefusal> {
    let traveller = Traveller::Thing(thing.origin);
    liar.departs_as(traveller, parcel(thing)).refusal()
}

#[test]
fn a_parcel_that_lies_of_its_thing_is_refused_and_an_honest_one_is_taken() {
    let with_script = |script| TravellingThing { scripts: vec![script], ..honest() };
    let state = |value| wire::encode(&ScriptState([("x".to_owned(), value)].into()));
    let deep = (0..40).fold(Value::Unit, |inner, _| Value::Array(vec![inner]));
    let mut far = body();
    far.pose.position = at(0, 0);
    let mut fixed = body();
    fixed.motion = Motion::Static;
    let long = "x".repeat(300);
    let many = |n: usize| (0..n).map(|n| (format!("{n:02}"), 1)).collect();
    let lies = [
        TravellingThing { kind: "avatar".into(), ..honest() },
        TravellingThing { name: "two\nlines".into(), ..honest() },
        TravellingThing { text: long.clone(), ..honest() },
        TravellingThing { look: Look { color: 1 << 24, ..Look::default() }, ..honest() },
        TravellingThing { handle: ObjectId(u64::MAX), ..honest() },
        TravellingThing { scripts: vec![script(); 9], ..honest() },
        TravellingThing { body: vec![1, 2, 3], ..honest() },
        TravellingThing { body: vec![], ..honest() },
        TravellingThing { position: at(32, 0), ..honest() },
        TravellingThing { velocity: at(99, 0), ..honest() },
        TravellingThing { seat: Some(at(3, 0)), ..honest() },
        with_body(far),
        with_body(fixed),
        with_script(TravellingScript { state: vec![9, 9], ..script() }),
        with_script(TravellingScript { state: state(deep), ..script() }),
        with_script(TravellingScript { timers: many(17), ..script() }),
        with_script(TravellingScript { timers: vec![(long, 1)], ..script() }),
        with_script(TravellingScript {
            timers: vec![("b".into(), 1), ("a".into(), 1)],
            ..script()
        }),
    ];
    for lie in lies {
        let mut liar = Liar::new();
        let before = liar.town[1].world.objects().count();
        let told = format!("{lie:?}");
        assert_eq!(refusal(&mut liar, lie), Some(TravelRefusal::BadParcel), "{told}");
        assert_eq!(liar.town[1].world.objects().count(), before);
    }
    let mut liar = Liar::new();
    assert_eq!(refusal(&mut liar, honest()), None);
    // The list may name one thing, and the parcel bring another.
    let mut liar = Liar::new();
    let other = Traveller::Thing(Origin { number: ObjectId(6), ..honest().origin });
    let refused = liar.departs_as(other, parcel(honest())).refusal();
    assert_eq!(refused, Some(TravelRefusal::BadParcel));
}

/// Physics takes a compound whose parts lie beside its position. No sim makes one.
#[test]
fn an_outline_beside_its_own_centre_of_mass_is_refused() {
    let corners = [at(0, 0), at(2, 0), at(0, 1)];
    let wedge = CompoundPart::of_corners(&corners).expect("a wedge");
    let disc = CompoundPart::new(Shape::Circle { radius: Fx::HALF });
    let with_wedge = Compound::new(&[disc, wedge.clone()]).expect("two parts");
    for shape in [two_discs(), wedge.shape, Shape::Compound(with_wedge)] {
        let whole = BodySpec { shape, ..body() };
        assert_eq!(refusal(&mut Liar::new(), with_body(whole.clone())), None, "{:?}", whole.shape);
        let bytes = wire::encode(&whole);
        let mut forged = 0;
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let Ok(body) = wire::decode::<BodySpec>(&changed, changed.len()) else { continue };
            let is_other = body.check().is_ok() && body.shape != whole.shape;
            if !is_other || body.shape.is_centred() || (forged > 3 && bit % 16 != 0) {
                continue;
            }
            forged += 1;
            let thing = TravellingThing { body: changed, ..with_body(whole.clone()) };
            let told = refusal(&mut Liar::new(), thing);
            assert_eq!(told, Some(TravelRefusal::BadParcel), "bit {bit}");
        }
        assert!(forged > 3, "{forged} of {:?}", whole.shape);
    }
}

#[test]
fn of_compounds_as_many_are_taken_as_the_share_of_the_border_has_and_the_rest_is_refused() {
    let mut liar = Liar::new();
    let of_parts = |n: usize| {
        let number = ObjectId(100 + n as u64);
        let thing = with_body(BodySpec { shape: two_discs(), ..body() });
        TravellingThing { origin: Origin { number, ..thing.origin }, ..thing }
    };
    let hammer = BroughtThing { reach: 100, compounds: 1, hers: 0 };
    let ball = BroughtThing { reach: 100, compounds: 0, hers: 0 };
    let full = Some(TravelRefusal::ShareFull);
    for n in 0..BORDER_COMPOUNDS_MAX {
        // The pass knows of each of them whether there is room: for the first one there is, as long as for any.
        let second = if n + 1 < BORDER_COMPOUNDS_MAX { None } else { full };
        assert_eq!(liar.brings(vec![hammer, hammer, ball]), [None, second, None], "{n}");
        assert_eq!(refusal(&mut liar, of_parts(n)), None, "{n}");
        liar.forget();
    }
    assert_eq!(liar.brings(vec![hammer, ball]), [full, None]);
    let next = of_parts(BORDER_COMPOUNDS_MAX);
    assert_eq!(refusal(&mut liar, next), Some(TravelRefusal::ShareFull));
    let world = &liar.town[1].world;
    let came = world.objects().filter(|object| object.shape == two_discs()).count();
    // In such a heap some are pushed back over the line, and count while they are under way.
    let border = world.border(&liar.town[0].id()).expect("a border");
    assert_eq!(came + border.crossing.said.departures.len(), BORDER_COMPOUNDS_MAX);
    assert_eq!(world.root(), world.rehash());
    liar.town[1].restore();
}

#[test]
fn a_state_that_grows_past_its_limit_by_the_number_here_is_refused() {
    // The number of the thing here has two bytes, where that of the parcel has one.
    let handles = |n: usize| {
        let parts = (0..n / 512).map(|_| Value::Array(vec![Value::Object(ObjectId(5)); 512]));
        let named = parts.enumerate().map(|(n, part)| (format!("{n:02}"), part));
        let state = wire::encode(&ScriptState(named.collect()));
        let script = TravellingScript { state, ..script() };
        TravellingThing { scripts: vec![script], ..honest() }
    };
    for (handles, refused) in
        [(handles(5_120), None), (handles(7_680), Some(TravelRefusal::TooLarge))]
    {
        let mut liar = Liar::new();
        // Others were numbered before.
        for _ in 0..130 {
            liar.town[1].act(public(ADMIN), 1, Act::Leave);
            liar.town[1].login(public(ADMIN));
            liar.town[1].play(50);
        }
        assert_eq!(refusal(&mut liar, handles), refused);
        assert_eq!(liar.town[1].world.root(), liar.town[1].world.rehash());
    }
}

/// Things for Ada's hands, with these numbers.
fn held(numbers: std::ops::Range<u64>) -> Vec<TravellingThing> {
    let thing = |number| {
        let origin = Origin { number: ObjectId(number), ..honest().origin };
        TravellingThing { origin, ..honest() }
    };
    numbers.map(thing).collect()
}

/// Has Ada depart with these things in hand; gives what the east says.
fn brings(liar: &mut Liar, hands: Vec<TravellingThing>) -> Option<TravelRefusal> {
    let ada = TravellingPerson { hands, ..crate::lies::ada() };
    liar.departs(public(1), crate::lies::parcel(ada)).refusal()
}

#[test]
fn whoever_brings_one_thing_that_is_refused_is_refused_with_all_and_nothing_changes() {
    let most = HANDS_MAX as u64;
    let with = |last: TravellingThing| [held(10..12), vec![last]].concat();
    let mut large = body();
    large.shape = Shape::Circle { radius: Fx::from_int(12) };
    let doubled = with(held(10..11).remove(0));
    let mut flat = body();
    flat.shape = Shape::Circle { radius: Fx::ZERO };
    let lies = [
        (held(10..11 + most), TravelRefusal::BadParcel),
        (doubled, TravelRefusal::BadParcel),
        (with(TravellingThing { kind: "avatar".into(), ..honest() }), TravelRefusal::BadParcel),
        // Its body is found out when the things before it are in her hands already.
        (with(with_body(flat)), TravelRefusal::BadParcel),
        (with(with_body(large)), TravelRefusal::TooLarge),
    ];
    for (hands, why) in lies {
        let mut liar = Liar::new();
        let before = liar.town[1].world.objects().count();
        assert_eq!(brings(&mut liar, hands), Some(why));
        let world = &liar.town[1].world;
        assert_eq!((world.objects().count(), world.avatar(&public(1))), (before, None), "{why}");
        assert_eq!(world.borders()[0].pinned, 0);
        assert_eq!(world.root(), world.rehash());
        liar.town[1].restore();
    }
    let mut liar = Liar::new();
    assert_eq!(brings(&mut liar, held(10..10 + most)), None);
    let world = &liar.town[1].world;
    let avatar = world.avatar(&public(1)).expect("she was taken");
    assert_eq!(world.in_hands_of(avatar).count(), HANDS_MAX);
    let border = world.border(&liar.town[0].id()).expect("a border");
    assert!(border.crossing.pinned.values().all(|all| all.len() == 1 + HANDS_MAX), "as one");
    assert_eq!(world.root(), world.rehash());
}

#[test]
fn what_somebody_brings_finds_room_together_or_she_is_refused_with_all() {
    let share = |things: &str| {
        let mut liar = Liar::new();
        let amend = Act::Amend { name: "border_things".into(), value: things.into() };
        liar.town[1].act(public(ADMIN), 1, amend);
        liar.town[1].play(50);
        brings(&mut liar, held(10..13))
    };
    assert_eq!(share("2"), Some(TravelRefusal::ShareFull));
    assert_eq!(share("3"), None);
}

/// Has another person of the east build a ball beside her.
fn builds(liar: &mut Liar, person: PublicKey) -> Outcome {
    // Others may stand beside her: on one side there is room.
    let sides = [at(2, 0), at(0, 2), at(-2, 0), at(0, -2)];
    let mut outcomes = sides.into_iter().map(|side| builds_beside(liar, person, side));
    let is_free = |outcome: &Outcome| *outcome != Outcome::Refused(Refusal::Occupied);
    outcomes.find(is_free).expect("room beside her")
}

fn builds_beside(liar: &mut Liar, person: PublicKey, side: Vec2) -> Outcome {
    let place = liar.town[1].place_of(&person).expect("she is there");
    let blueprint = Blueprint {
        kind: "ball".into(),
        name: "a ball".into(),
        text: String::new(),
        color: 0,
        outline: Outline::Disc { radius: Fx::HALF },
        movable: true,
        position: place.saturating_add(side),
        angle: Angle::ZERO,
        licence: AssetLicence::Cc0,
        parts: OutlineParts::default(),
    };
    let act = liar.town[1].act(person, 1, Act::Build(Build::Place(blueprint)));
    liar.town[1].play(50);
    liar.town[1].outcome(&act)
}

/// A liar, and Ben in the east, who like everybody may have one thing there that can be pushed.
fn with_ben() -> (Liar, PublicKey) {
    let (mut liar, ben) = (Liar::new(), public(2));
    liar.town[1].login(ben);
    amend(&mut liar.town[1], OWN_THINGS, "1");
    (liar, ben)
}

/// Checks that Ben has room for exactly one thing, as if nothing had come that is said to be his.
fn check_room_of(liar: &mut Liar, ben: PublicKey) {
    assert!(matches!(builds(liar, ben), Outcome::Ok | Outcome::Made(_)));
    assert_eq!(builds(liar, ben), Outcome::Refused(Refusal::TooManyMovable));
}

/// Things of these owners, with numbers from 10 on.
fn owned(owners: &[Option<PublicKey>]) -> Vec<TravellingThing> {
    let things = held(10..10 + owners.len() as u64);
    let owned = things.into_iter().zip(owners);
    owned.map(|(thing, owner)| TravellingThing { owner: *owner, ..thing }).collect()
}

#[test]
fn a_parcel_that_lies_about_its_owner_spends_nobodys_quota_but_only_the_share_of_its_border() {
    let (ben, unknown) = (public(2), public(99));
    for owner in [ben, unknown, public(ADMIN), public(1)] {
        let (mut liar, ben) = with_ben();
        amend(&mut liar.town[1], "border_things", "3");
        let west = liar.town[0].id();
        let things = owned(&[Some(owner); 4]);
        for (n, thing) in things.into_iter().enumerate() {
            let before = liar.town[1].world.objects().count();
            let (origin, is_over) = (thing.origin, n == 3);
            let refused = refusal(&mut liar, thing);
            assert_eq!(refused, is_over.then_some(TravelRefusal::ShareFull), "{owner}");
            let world = &liar.town[1].world;
            assert_eq!(world.objects().count(), before + usize::from(!is_over));
            let came = world.objects().find(|came| came.origin == origin);
            assert_eq!(came.map(|came| came.owner), (!is_over).then_some(Some(owner)));
            assert_eq!(world.border_share(&west).0, (n + 1).min(3));
        }
        assert!(liar.town[1].world.player(&unknown).is_none(), "nobody is made up");
        check_room_of(&mut liar, ben);
        assert_eq!(liar.town[1].world.root(), liar.town[1].world.rehash());
        liar.town[1].restore();
    }
}

#[test]
fn of_what_somebody_brings_that_is_said_to_be_others_spends_the_share_and_hers_her_own_quota() {
    let (mut liar, ben) = with_ben();
    let (ada, west) = (public(1), liar.town[0].id());
    // Her quota has room for one of the two that are said to be hers.
    let owners = [Some(ben), Some(public(99)), Some(ada), Some(ada)];
    assert_eq!(brings(&mut liar, owned(&owners)), None);
    let world = &liar.town[1].world;
    let avatar = world.avatar(&ada).expect("she was taken");
    let told: Vec<_> = world
        .in_hands_of(avatar)
        .map(|id| world.object(id).expect("it is there"))
        .map(|thing| (thing.owner, thing.guest))
        .collect();
    let guests = [Some(west), Some(west), None, Some(west)];
    assert_eq!(told, owners.into_iter().zip(guests).collect::<Vec<_>>());
    assert_eq!(world.border_share(&west).0, 3);
    check_room_of(&mut liar, ben);
    assert_eq!(builds(&mut liar, ada), Outcome::Refused(Refusal::TooManyMovable));
    assert_eq!(liar.town[1].world.root(), liar.town[1].world.rehash());
}

#[test]
fn an_origin_that_is_here_was_deleted_here_or_was_never_born_here_is_refused() {
    let mut liar = Liar::new();
    assert_eq!(refusal(&mut liar, honest()), None);
    assert_eq!(refusal(&mut liar, honest()), Some(TravelRefusal::Here));
    let came = liar.town[1].world.objects().find(|thing| thing.player.is_none());
    let object = came.expect("it was taken").id;
    let act = liar.town[1].act(public(ADMIN), 1, Act::Build(Build::Delete { object }));
    liar.town[1].play(50);
    assert_eq!(liar.town[1].outcome(&act), Outcome::Ok);
    // Whoever deleted it can still take that back.
    assert_eq!(refusal(&mut liar, honest()), Some(TravelRefusal::Here));

    let own = liar.town[1].id();
    let never = Origin { sim: own, number: ObjectId(1 << 40) };
    let never = TravellingThing { origin: never, ..honest() };
    assert_eq!(refusal(&mut liar, never), Some(TravelRefusal::BadParcel));
}

#[test]
fn a_thing_that_is_larger_than_things_may_be_there_is_refused() {
    let mut large = body();
    large.shape = Shape::Circle { radius: Fx::from_int(12) };
    let mut liar = Liar::new();
    let refused = refusal(&mut liar, with_body(large));
    assert_eq!(refused, Some(TravelRefusal::TooLarge));
}

#[test]
fn of_ten_thousand_departures_as_many_are_taken_as_the_border_has_a_share_for() {
    let mut liar = Liar::new();
    let mut taken = 0;
    for n in 0..10_000_u64 {
        let origin = Origin { number: ObjectId(n + 1), ..honest().origin };
        let y = i32::try_from(n % 24).expect("few");
        let mut body = body();
        body.pose.position.y = Fx::from_int(y - 12);
        let refused = refusal(&mut liar, TravellingThing { origin, ..with_body(body) });
        taken += u64::from(refused.is_none());
        assert!(refused.is_none() || refused == Some(TravelRefusal::ShareFull), "{refused:?}");
        // It lists what it heard a verdict on no more.
        liar.forget();
    }
    let share = liar.town[1].world.border_share(&liar.town[0].id());
    assert_eq!((taken, share.0), (u64::from(BORDER_THINGS), BORDER_THINGS as usize));
    assert!(share.1 <= u64::from(BORDER_BYTES));
}
