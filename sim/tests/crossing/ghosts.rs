//! Ghosts: what stands beyond a line is felt on this side, and is nobody's here.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Event, ScriptState};
use metatopia_sim::{
    Applied, Genesis, ObjectSpec, Received,
    limits::{BORDER_BAND_METRES, FRAME_MS, GHOST_METRES, GHOST_TICKS, WORD_MS},
};
use metatopia_types::{
    Act, BorderOrder, FRAME_METRE, FRAME_SPEED, FrameBody, FrameShape, HearRefusal, ObjectId,
    Origin, Outcome, PublicKey, Refusal, Traveller,
    limits::{BORDER_BODIES_MAX, OBJECT_NUMBERS_END},
};

use crate::{
    lies::Liar,
    rolling::{ball, first, package, rolling, thing},
    town::{ADMIN, Place, at, drive, genesis, places_of_thing, public, step, tell, town, town_of},
};

const ADA: u8 = 1;
const BEN: u8 = 2;

pub(crate) fn fx(hundredths: i64) -> Fx {
    Fx::from_ratio(hundredths, 100)
}

/// A box of one metre at a place.
pub(crate) fn crate_at(place: Vec2, motion: Motion) -> ObjectSpec {
    let shape = Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) };
    let body = BodySpec::new(shape, motion, place);
    ObjectSpec {
        kind: "box".into(),
        name: "a box".into(),
        body,
        ..ball(place, &[], &ScriptState::default())
    }
}

/// A ball at a place that rolls with this speed.
fn rolling_ball(place: Vec2, speed: Vec2) -> ObjectSpec {
    let mut ball = ball(place, &[], &ScriptState::default());
    ball.body.velocity = speed;
    ball
}

/// The geneses of two sims side by side.
pub(crate) fn two() -> Vec<Genesis> {
    (0..2).map(|column| genesis(column, 1)).collect()
}

/// Returns where the ghosts of a sim stand, and of whom or what they are.
fn ghosts(place: &Place) -> Vec<(Traveller, Vec2)> {
    place.world.ghosts().map(|(_, who, body)| (who, body.position())).collect()
}

/// Rolls a ball of the west towards the line. Returns how far it gets, and whether it went over.
fn roll_towards(beyond: Vec<ObjectSpec>) -> (Fx, bool, Vec<Place>) {
    let mut geneses = two();
    geneses[0].objects.push(rolling_ball(at(22, 9), at(4, 0)));
    geneses[1].objects = beyond;
    let mut town = rolling(geneses);
    let origin = first(&town);
    let mut furthest = Fx::ZERO;
    for _ in 0..120 {
        step(&mut town, 50);
        assert_eq!(places_of_thing(&town, origin), 1);
        let Some(here) = thing(&town[0], origin) else { return (furthest, true, town) };
        furthest = furthest.max(here.position.x);
    }
    (furthest, false, town)
}

#[test]
fn a_ball_rolls_against_a_box_a_metre_beyond_the_line_and_is_stopped() {
    let (furthest, went, _) = roll_towards(Vec::new());
    assert!(went, "where nothing stands it rolls over, and not to {furthest}");
    let (furthest, went, town) = roll_towards(vec![crate_at(at(-31, 9), Motion::Static)]);
    // The box begins half a metre behind the line, and the ball reaches 0.3 m.
    assert!(!went && furthest > fx(3_215) && furthest < fx(3_222), "{furthest}");
    let ball = thing(&town[0], first(&town)).expect("it is still here");
    assert!(ball.velocity.x <= fx(10), "{:?}", ball.velocity);
    let (who, place) = ghosts(&town[0])[0];
    assert_eq!(who, Traveller::Thing(Origin { sim: town[1].id(), number: ObjectId(1) }));
    assert_eq!(place, at(33, 9));
}

#[test]
fn a_ball_is_deflected_by_a_box_that_it_meets_beside_its_middle() {
    let beside = Vec2::new(Fx::from_int(-31), fx(960));
    let (_, went, mut town) = roll_towards(vec![crate_at(beside, Motion::Static)]);
    assert!(went, "it gets past");
    (0..6).for_each(|_| step(&mut town, 50));
    let found = town.iter().find_map(|place| thing(place, first(&town))).expect("it is somewhere");
    assert!(found.position.y < fx(895) && found.velocity.y < fx(-5), "{:?}", found.velocity);
}

/// What tells by its text what it met beyond the line.
const TELLER: &str =
    "fn on_hit_beyond(what, speed) { if speed > 1 { self_.text = `met a ${what}`; } }\n";

#[test]
fn each_sim_tells_its_own_thing_what_it_met_beyond_the_line() {
    let package = package("teller", TELLER);
    let mut geneses = two();
    geneses.iter_mut().for_each(|genesis| {
        genesis.packages.insert(package.id(), package.encode());
    });
    let none = ScriptState::default();
    let mut ball = ball(at(26, 12), &[package.id()], &none);
    ball.body.velocity = at(6, 0);
    geneses[0].objects.push(ball);
    // It stays on its side, and the ball, which may not leave, reaches it from the line.
    let mut crate_ = crate_at(Vec2::new(fx(-3_160), fx(1_200)), Motion::Dynamic);
    crate_.scripts = geneses[0].objects[0].scripts.clone();
    geneses[1].objects.push(crate_);
    let mut town = town_of(geneses);
    let origins = [0, 1].map(|n| Origin { sim: town[n].id(), number: ObjectId(1) });
    for _ in 0..60 {
        step(&mut town, 50);
    }
    for (n, origin) in origins.into_iter().enumerate() {
        assert_eq!(thing(&town[n], origin).expect("it stays").text, "met a thing", "sim {n}");
    }
}

/// Founds two sims: Ben stands half a metre beyond the line in the east, and Ada is in the west.
fn ada_and_ben() -> Vec<Place> {
    let mut town = town(2, 1);
    town[0].login(public(ADA));
    town[1].login(public(BEN));
    // Where people come in follows from the id of a sim. The admins go out of their way.
    for (n, heading) in [(0, at(-1, 0)), (1, at(1, 0))] {
        town[n].act(public(ADMIN), 1, Act::Walk { heading });
    }
    (0..40).for_each(|_| step(&mut town, 50));
    town[1].act(public(BEN), 1, Act::Walk { heading: at(-1, 0) });
    for _ in 0..100 {
        let ben = town[1].place_of(&public(BEN)).expect("he is there");
        if ben.x < fx(-2_980) {
            break;
        }
        step(&mut town, 50);
    }
    town[1].act(public(BEN), 1, Act::Walk { heading: Vec2::ZERO });
    let y = |town: &[Place], n: usize, who: u8| town[n].place_of(&public(who)).expect("here").y;
    for _ in 0..400 {
        let aside = y(&town, 1, BEN).saturating_sub(y(&town, 0, ADA));
        let to = aside.clamp(fx(-50), fx(50)).saturating_mul(Fx::HALF);
        town[0].act(public(ADA), 1, Act::Walk { heading: Vec2::new(Fx::ZERO, to) });
        step(&mut town, 50);
        if aside.saturating_abs() < fx(2) {
            break;
        }
    }
    town[0].act(public(ADA), 1, Act::Walk { heading: Vec2::ZERO });
    (0..20).for_each(|_| step(&mut town, 50));
    town
}

#[test]
fn a_person_just_beyond_the_line_is_walked_into() {
    let mut town = ada_and_ben();
    let ben = town[1].place_of(&public(BEN)).expect("he stands there").x;
    assert!(ben > fx(-3_200) && ben < fx(-3_080), "{ben}");
    let who = Traveller::Person(public(BEN));
    assert!(ghosts(&town[0]).iter().any(|(ghost, at)| *ghost == who
        && at.x.saturating_sub(Fx::from_int(64)).saturating_sub(ben).saturating_abs() < fx(1)));
    let (mut stopped, mut fastest) = (false, Fx::ZERO);
    for _ in 0..80 {
        drive(&mut town, public(ADA), at(1, 0));
        step(&mut town, 50);
        let Some(avatar) = town[0].world.avatar(&public(ADA)) else { break };
        let ada = town[0].world.object(avatar).expect("she has a body");
        fastest = fastest.max(ada.velocity.x);
        stopped |= ada.position.x > fx(3_150) && ada.velocity.x < fx(200);
    }
    let pushed = town[1].place_of(&public(BEN)).expect("he is there").x;
    println!("Ada came with {fastest} m/s, Ben stood at {ben} and stands at {pushed}");
    assert!(fastest > fx(700) && stopped, "she was held up by him");
    assert!(pushed > ben.saturating_add(fx(10)), "and he by her: {ben} to {pushed}");
}

#[test]
fn a_server_restored_among_ghosts_goes_on_with_the_same_bits() {
    let mut geneses = two();
    for n in 0..6 {
        let y = 2 * n - 6;
        geneses[0].objects.push(rolling_ball(at(20, y), at(3 + n, 0)));
        geneses[1].objects.push(rolling_ball(at(-20, y), at(-2 - n, 1)));
        geneses[1].objects.push(crate_at(at(-31, 2 * y + 1), Motion::Dynamic));
    }
    let mut town = town_of(geneses);
    let (mut seen, mut moved) = (0, 0);
    for turn in 0..200 {
        step(&mut town, 50);
        let moving = |place: &Place| place.world.ghosts().any(|(.., b)| b.velocity() != Vec2::ZERO);
        moved += usize::from(moving(&town[0]));
        seen += ghosts(&town[0]).len();
        // 200 ticks are 67 turns.
        if turn % 67 == 40 {
            town.iter_mut().for_each(Place::start_twin);
        }
    }
    println!("{seen} ghosts in 200 turns, in {moved} of which one moved");
    assert!(seen > 200 && moved > 20);
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}

#[test]
fn frames_come_five_times_a_second_while_something_moves_and_never_while_nothing_does() {
    let mut geneses = two();
    geneses[0].objects.push(rolling_ball(at(29, -30), at(0, 4)));
    geneses[0].objects.push(crate_at(at(31, 31), Motion::Dynamic));
    let mut town = town_of(geneses);
    let neighbour = town[1].id();
    let frame = |town: &[Place]| {
        let border = town[0].world.border(&neighbour).expect("a border");
        border.crossing.said.frame.clone()
    };
    let mut made = vec![frame(&town).made];
    for _ in 0..100 {
        step(&mut town, 50);
        let now = frame(&town).made;
        if made.last() != Some(&now) {
            made.push(now);
        }
    }
    assert!(made.len() >= 24 && made.len() <= 27, "{} in five seconds", made.len());
    assert!(made.windows(2).skip(1).all(|pair| pair[1].since(pair[0]) >= FRAME_MS));
    // The ball is stopped by the box, and both come to rest.
    (0..400).for_each(|_| step(&mut town, 50));
    let before = frame(&town);
    (0..40).for_each(|_| step(&mut town, 50));
    assert_eq!(frame(&town), before);
    assert!(!before.bodies.is_empty());
}

/// Something of the west in steps of a frame: at so many hundredths of a metre from the line, which is at 32 m.
fn liars_body(n: u64, hundredths: i32, speed: i32) -> FrameBody {
    let sim = metatopia_types::SimId(metatopia_types::Digest([9; 32]));
    FrameBody {
        traveller: Traveller::Thing(Origin { sim, number: ObjectId(n) }),
        place: (32 * FRAME_METRE + hundredths * FRAME_METRE / 100, 0),
        angle: 0,
        velocity: (i16::try_from(speed * FRAME_SPEED).unwrap_or(i16::MAX), 0),
        spin: 0,
        shape: FrameShape::Circle(512),
    }
}

#[test]
fn a_frame_of_bodies_that_are_not_at_the_line_is_refused_and_all_stays_as_it_was() {
    let mut liar = Liar::new();
    assert_eq!(liar.frames(vec![liars_body(1, -50, 0)]), Outcome::Ok);
    let before = ghosts(&liar.town[1]);
    assert_eq!(before.len(), 1);
    let refused = Outcome::Refused(Refusal::NotHeard(HearRefusal::BadSaid));
    let far = FrameBody { place: (i32::MIN, i32::MAX), ..liars_body(2, 0, 0) };
    let aside = FrameBody { place: (32 * FRAME_METRE, 40 * FRAME_METRE), ..liars_body(2, 0, 0) };
    let large = FrameBody { shape: FrameShape::Circle(16_384), ..liars_body(2, -500, 0) };
    let bad = [liars_body(2, 201, 0), liars_body(2, -451, 0), far, aside, large];
    for body in bad {
        assert_eq!(liar.frames(vec![liars_body(1, -50, 0), body]), refused, "{body:?}");
        assert_eq!(ghosts(&liar.town[1]), before);
    }
    let many = (0..=BORDER_BODIES_MAX as u64).map(|n| liars_body(n, -50, 0)).collect();
    assert_eq!(liar.frames(many), refused, "too many");
    assert_eq!(liar.frames(vec![liars_body(1, 0, 0), liars_body(1, 0, 0)]), refused, "one twice");
    let fits = [liars_body(2, 199, 0), liars_body(3, -449, 0)];
    for body in fits {
        assert_eq!(liar.frames(vec![body]), Outcome::Ok, "{body:?}");
    }
    let most = (0..BORDER_BODIES_MAX as u64).map(|n| liars_body(n, -50, 0)).collect();
    assert_eq!(liar.frames(most), Outcome::Ok);
    assert_eq!(ghosts(&liar.town[1]).len(), BORDER_BODIES_MAX);
    liar.town[1].restore();
}

#[test]
fn a_ghost_goes_on_for_half_a_second_and_no_further_than_the_strip() {
    let mut liar = Liar::new();
    let x = |liar: &Liar| ghosts(&liar.town[1])[0].1.x.saturating_add(Fx::from_int(32));
    // Slow: half a second at a metre a second.
    assert_eq!(liar.frames(vec![liars_body(1, -100, 1)]), Outcome::Ok);
    liar.town[1].idle(20);
    let way = x(&liar).saturating_add(Fx::ONE);
    let half = Fx::from_ratio(GHOST_TICKS as i64, 60);
    assert!(way.saturating_sub(half).saturating_abs() < fx(1), "{way}");
    // Faster than anything: it stops where no own body of the neighbour could be.
    assert_eq!(liar.frames(vec![liars_body(1, -100, 120)]), Outcome::Ok);
    liar.town[1].idle(20);
    let most = Fx::from_int(BORDER_BAND_METRES).saturating_add(fx(54));
    assert!(x(&liar) <= most, "{}", x(&liar));
    const { assert!(BORDER_BAND_METRES < GHOST_METRES) };
}

#[test]
fn ghosts_end_with_their_frame_with_silence_and_with_the_border() {
    let mut liar = Liar::new();
    let say = |liar: &mut Liar| assert_eq!(liar.frames(vec![liars_body(1, -50, 0)]), Outcome::Ok);
    say(&mut liar);
    assert_eq!(liar.frames(vec![liars_body(2, -50, 0)]), Outcome::Ok);
    let only = ghosts(&liar.town[1]);
    assert_eq!((only.len(), only[0].0), (1, liars_body(2, -50, 0).traveller));
    assert_eq!(liar.frames(Vec::new()), Outcome::Ok);
    assert!(ghosts(&liar.town[1]).is_empty());
    say(&mut liar);
    liar.town[1].play(WORD_MS);
    assert_eq!(ghosts(&liar.town[1]).len(), 1, "it was heard two seconds ago");
    liar.town[1].play(50);
    assert!(ghosts(&liar.town[1]).is_empty(), "it is silent");
    say(&mut liar);
    let neighbour = liar.town[0].id();
    liar.town[1].order(&BorderOrder::Close { neighbour });
    liar.town[1].play(50);
    assert!(ghosts(&liar.town[1]).is_empty(), "the border is closed");
    liar.town[1].restore();
}

#[test]
fn who_and_what_is_here_has_no_ghost_here() {
    let mut liar = Liar::new();
    let mut admin = liars_body(1, -50, 0);
    admin.traveller = Traveller::Person(public(ADMIN));
    assert_eq!(liar.frames(vec![admin]), Outcome::Ok);
    assert!(ghosts(&liar.town[1]).is_empty(), "she is logged in here");
    let mut ada = admin;
    ada.traveller = Traveller::Person(public(ADA));
    assert_eq!(liar.frames(vec![ada]), Outcome::Ok);
    assert_eq!(ghosts(&liar.town[1]).len(), 1);
    // She arrives: her avatar is in the place of her ghost.
    liar.departs(public(ADA), crate::lies::parcel(crate::lies::ada()));
    assert_eq!(liar.frames(vec![ada]), Outcome::Ok);
    assert!(liar.town[1].world.avatar(&public(ADA)).is_some());
    assert!(ghosts(&liar.town[1]).is_empty());
}

#[test]
fn a_still_ghost_lets_its_neighbours_sleep_and_pushes_what_it_is_moved_onto() {
    let mut liar = Liar::new();
    let admin = |liar: &Liar| liar.town[1].place_of(&public(ADMIN)).expect("she is there");
    let at_first = admin(&liar);
    assert_eq!(liar.frames(vec![liars_body(1, -50, 0)]), Outcome::Ok);
    liar.town[1].idle(30);
    assert_eq!(admin(&liar), at_first);
    let body = liar.town[1].world.ghosts().next().expect("a ghost").2.clone();
    assert!(body.is_asleep() && body.velocity() == Vec2::ZERO);
}

/// What looks around and is touched, and reads of all that it is told of: to read of what is not here fails.
const WATCHER: &str = "\
fn on_start() { timer(\"look\", 0.2); }
fn on_timer(name) {
    for other in nearby(6) { state.seen = other.name; }
    for way in [vec2(5, 0), vec2(-5, 0)] {
        let met = ray(self_.pos, self_.pos + way);
        if met != () { state.met = met.object.name; }
    }
    self_.velocity = vec2(random(-6, 6), random(-6, 6));
    timer(\"look\", 0.2);
}
fn on_touch(other) { state.touched = other.name; }
fn on_hit(other, speed) { state.hit = other.name; }
fn on_enter(other) { state.entered = other.name; }
fn on_hit_beyond(what, speed) { self_.text = what; }
";

/// Two sims with watchers on both sides of the line, none of which travels.
fn watchers() -> Vec<Place> {
    let package = package("watcher", WATCHER);
    let mut geneses = two();
    for (n, genesis) in geneses.iter_mut().enumerate() {
        genesis.packages.insert(package.id(), package.encode());
        let x = if n == 0 { 31 } else { -31 };
        for y in -3..=3 {
            genesis.objects.push(ball(at(x, y), &[package.id()], &ScriptState::default()));
            genesis.objects.push(crate_at(at(x, 5 + y), Motion::Dynamic));
        }
    }
    town_of(geneses)
}

/// Checks that nothing that a turn tells names a ghost.
fn names_no_ghost(place: &Place, applied: &Applied) {
    let failed = &applied.failures;
    assert!(failed.is_empty(), "a script read of what is not here: {failed:?}");
    for received in &applied.order {
        let told = format!("{:?}", received.event);
        assert!(!told.contains(&OBJECT_NUMBERS_END.to_string()[..13]), "{told}");
    }
    let own = |id: ObjectId| id.0 < OBJECT_NUMBERS_END;
    assert!(applied.changed.iter().all(|changed| own(changed.id)));
    for thing in place.world.objects() {
        assert!(own(thing.id) && place.world.touching(thing.id).into_iter().all(own));
    }
}

#[test]
fn in_ten_thousand_random_steps_no_event_query_or_picture_names_a_ghost() {
    let seed = 20_261_127;
    println!("seed {seed}");
    let mut dice = Stream::new(&[7; 32], "ghosts", &[seed]);
    let mut town = watchers();
    let people: Vec<PublicKey> = (1..=4).map(public).collect();
    for (n, person) in people.iter().enumerate() {
        town[n % 2].login(*person);
    }
    let (mut seen, mut near, mut hits) = (0, 0, 0);
    for turn in 0..5_000 {
        for person in &people {
            if dice.below(20) == 0 {
                let part = |n: u64| Fx::from_int(n as i32 - 1);
                let heading = Vec2::new(part(dice.below(3)), part(dice.below(3)));
                drive(&mut town, *person, heading);
            }
        }
        for n in 0..2 {
            if dice.below(8) != 0 {
                tell(&mut town, 1 - n, n);
            }
            let applied = town[n].play(50);
            names_no_ghost(&town[n], &applied);
            let is_hit = |received: &&Received| matches!(received.event, Event::HitBeyond { .. });
            hits += applied.order.iter().filter(is_hit).count();
            seen += ghosts(&town[n]).len();
            near += usize::from(!ghosts(&town[n]).is_empty());
        }
        if turn % 1_000 == 500 {
            town.iter_mut().for_each(Place::start_twin);
        }
    }
    println!("{seen} ghosts in {near} of 10,000 turns, {hits} hits by them");
    assert!(near > 5_000 && hits > 20);
}
