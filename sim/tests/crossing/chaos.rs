//! People who walk and ride back and forth, some with balls in their hands, while words are late, lost, doubled,
//! out of order and forged, and sims stand still: each of them is in one place after every turn, and
//! nobody is stuck in the end.

use metatopia_math::{Fx, Stream, Vec2};
use std::collections::BTreeSet;

use metatopia_physics::{JointKind, JointSpec};
use metatopia_sim::{ObjectSpec, WorldObject};
use metatopia_types::{
    Act, Build, Digest, Dispatch, Millis, ObjectId, Origin, PublicKey, SimId, TravelRefusal,
    Traveller,
};

use crate::{
    rolling::{ball, geneses, let_travel, rolling},
    town::{Place, drive, places, places_of_thing, public, step},
};

const SEEDS: u64 = 200;
const PEOPLE: u8 = 3;
const BALLS: i32 = 3;
const STEPS: usize = 70;

/// What a run counted.
#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    crossings: usize,
    heard: usize,
    turns: usize,
    set_changes: usize,
    restored: usize,
    things_taken: usize,
    things_refused: usize,
    things_late: usize,
    carried: usize,
    rode: usize,
}

impl Counted {
    /// Counts what became of things.
    fn judge(&mut self, judged: BTreeSet<JudgedThing>) {
        for (.., refused) in judged {
            match refused {
                None => self.things_taken += 1,
                Some(TravelRefusal::Late) => self.things_late += 1,
                Some(_) => self.things_refused += 1,
            }
        }
    }
}

/// A word on its way to somebody.
struct Under {
    from: SimId,
    dispatch: Dispatch,
}

fn forge(dispatch: &Dispatch, dice: &mut Stream) -> Dispatch {
    let mut forged = dispatch.clone();
    let Some(state) = &mut forged.state else { return forged };
    match dice.below(5) {
        0 => state.header.time = Millis(state.header.time.0 + 60_000),
        1 => state.certificate.signatures.truncate(1),
        2 => {
            let at = dice.below(state.said.content.len() as u64) as usize;
            state.said.content[at] ^= 1;
        }
        3 => state.parcels.iter_mut().for_each(|parcel| parcel[0] ^= 1),
        _ => state.said.key = metatopia_types::said_key(SimId(Digest::ZERO)),
    }
    forged
}

/// One sim's turn in the run.
fn turn(
    town: &mut [Place],
    n: usize,
    words: &mut [Vec<Under>],
    dice: &mut Stream,
    counted: &mut Counted,
) {
    for other in [n.checked_sub(1), Some(n + 1)].into_iter().flatten() {
        if other >= town.len() {
            continue;
        }
        // The neighbour's newest word joins those that are under way.
        let (from, to) = (town[other].id(), town[n].id());
        let followed = town[n].followed(from);
        if let Some(dispatch) = town[other].dispatch(to, followed) {
            words[n].push(Under { from, dispatch });
        }
        let known: Vec<&Under> = words[n].iter().filter(|word| word.from == from).collect();
        let newest = known.len().checked_sub(1);
        let chosen = match dice.below(10) {
            0..6 => newest,
            6..8 => newest.map(|newest| dice.below(newest as u64 + 1) as usize),
            _ => None,
        };
        let Some(word) = chosen.and_then(|at| known.get(at)) else { continue };
        let dispatch = match dice.below(12) {
            0 => forge(&word.dispatch, dice),
            _ => word.dispatch.clone(),
        };
        let act = town[n].hear(from, &dispatch);
        counted.heard += 1;
        drop(act);
    }
    // Now and then a sim does nothing until whatever is under way to it is late.
    let is_late = dice.below(100) == 0;
    let ms = if is_late { 11_000 } else { *dice.pick(&[20, 50, 50, 100, 700]).expect("some") };
    town[n].play(ms);
    counted.turns += 1;
    // The past is long enough for late words.
    let many = words[n].len().saturating_sub(24);
    words[n].drain(..many);
}

/// Returns the sim in which a person has an avatar.
fn sim_of(town: &[Place], person: &PublicKey) -> Option<usize> {
    town.iter().position(|place| place.world.avatar(person).is_some())
}

/// Returns how many things a person holds.
fn held(place: &Place, person: &PublicKey) -> usize {
    place.world.avatar(person).map_or(0, |avatar| place.world.in_hands_of(avatar).count())
}

/// Has a person take the first thing of hers that nobody holds, whether it is in reach or not.
fn grab(place: &mut Place, person: &PublicKey) {
    let is_own = |thing: &WorldObject| {
        thing.player.is_none() && thing.owner == Some(*person) && thing.held.is_none()
    };
    let own = place.world.objects().find(is_own).map(|thing| thing.id);
    if let Some(object) = own {
        place.act(*person, 1, Act::Build(Build::Take { object }));
    }
}

/// Says whether a person sits on a thing.
fn sits(place: &Place, person: &PublicKey) -> bool {
    let Some(avatar) = place.world.avatar(person) else { return false };
    place.world.objects().any(|thing| place.sitter(thing.id) == Some(avatar))
}

/// Returns a thing of a person's own that is in her reach, and that nobody holds.
fn seat_near(place: &Place, person: &PublicKey) -> Option<ObjectId> {
    let here = place.place_of(person)?;
    let is_it = |thing: &WorldObject| {
        let is_free = thing.player.is_none() && thing.held.is_none();
        is_free && thing.owner == Some(*person) && here.distance(thing.position) < Fx::from_int(4)
    };
    place.world.objects().find(is_it).map(|thing| thing.id)
}

/// Has a person sit down who can. Says whether she goes where her seat rolls; now and then she stands up.
fn sit_down(place: &mut Place, person: &PublicKey, dice: &mut Stream) -> bool {
    let seat = seat_near(place, person);
    if let Some(on) = seat.filter(|_| !sits(place, person)) {
        place.act(*person, 1, Act::Sit { on: Some(on) });
    }
    seat.is_some() && dice.below(30) > 0
}

/// Returns whether the first ball pulls another one, as in some seeds.
const fn pulls(seed: u64) -> bool {
    seed % 5 < 2
}

/// Checks that everybody and everything is in one place, and what is joined in the same.
fn check_law(town: &[Place], people: &[PublicKey], balls: &[Origin], seed: u64) {
    for (p, person) in people.iter().enumerate() {
        let found = places(town, person);
        assert_eq!(found, 1, "seed {seed}: person {p} is in {found} places");
    }
    for ball in balls {
        let found = places_of_thing(town, *ball);
        assert_eq!(found, 1, "seed {seed}: {ball:?} is in {found} places");
    }
    if pulls(seed) {
        for place in town {
            let is_here = |origin: &Origin| place.world.objects().any(|it| it.origin == *origin);
            let pulled = balls.last().expect("it is the last");
            assert_eq!(is_here(&balls[0]), is_here(pulled), "seed {seed}: torn apart");
        }
    }
}

/// Plays a run of chaos; gives what was counted.
fn run(seed: u64, columns: i32, servers: u8) -> Counted {
    let mut dice = Stream::new(&Digest::of("crossing chaos", &seed.to_le_bytes()).0, "chaos", &[]);
    let mut town = chaotic_town(seed, columns, servers);
    let balls: Vec<Origin> = (1..=BALLS as u64 + u64::from(pulls(seed)))
        .map(|n| Origin { sim: town[0].id(), number: ObjectId(n) })
        .collect();
    let mut judged = BTreeSet::new();
    let people: Vec<PublicKey> = (1..=PEOPLE).map(public).collect();
    for (n, person) in people.iter().enumerate() {
        let at = n % town.len();
        town[at].login(*person);
    }
    step(&mut town, 50);
    let mut words: Vec<Vec<Under>> = town.iter().map(|_| Vec::new()).collect();
    let mut stopped = vec![0_u64; town.len()];
    let mut goals = vec![1_usize; people.len()];
    let mut last: Vec<Option<usize>> = vec![None; people.len()];
    let mut rests = vec![false; people.len()];
    let mut counted = Counted::default();
    // What people grab has dice of its own, so that all else goes on as without hands.
    let mut grabs = Stream::new(&Digest::of("hands", &seed.to_le_bytes()).0, "chaos", &[]);
    // So has where they sit.
    let mut seats = Stream::new(&Digest::of("seats", &seed.to_le_bytes()).0, "chaos", &[]);
    for at in 0..STEPS {
        for (n, person) in people.iter().enumerate() {
            if let Some(sim) = sim_of(&town, person) {
                let has_come = last[n].is_some_and(|last| last != sim);
                counted.crossings += usize::from(has_come);
                counted.carried += if has_come { held(&town[sim], person) } else { 0 };
                counted.rode += usize::from(has_come && sits(&town[sim], person));
                rests[n] = seed.is_multiple_of(2) && sit_down(&mut town[sim], person, &mut seats);
                if grabs.below(4) == 0 && !rests[n] {
                    grab(&mut town[sim], person);
                }
                // Whoever has arrived, or has thought again, goes somewhere else.
                if last[n] != Some(sim) || dice.below(60) == 0 {
                    let beside = [sim.checked_sub(1), Some(sim + 1).filter(|n| *n < town.len())];
                    let beside: Vec<usize> = beside.into_iter().flatten().collect();
                    goals[n] = *dice.pick(&beside).expect("a neighbour");
                }
                last[n] = Some(sim);
            }
            let east = match Some(goals[n]) > last[n] {
                _ if rests[n] => Fx::ZERO,
                true => Fx::ONE,
                false => Fx::from_int(-1),
            };
            drive(&mut town, *person, Vec2::new(east, Fx::ZERO));
        }
        if servers > 4 && (at == STEPS / 3 || at == STEPS / 2) {
            let n = dice.below(town.len() as u64) as usize;
            town[n].remove_server();
            counted.set_changes += 1;
        }
        for n in 0..town.len() {
            if stopped[n] > 0 {
                stopped[n] -= 1;
                continue;
            }
            if dice.below(150) == 0 {
                stopped[n] = 5 + dice.below(30);
            }
            turn(&mut town, n, &mut words, &mut dice, &mut counted);
            if dice.below(100) == 0 {
                town[n].restore();
                counted.restored += 1;
            }
            check_law(&town, &people, &balls, seed);
            note_verdicts(&town, n, &mut judged);
        }
    }
    settle(&mut town, &people, &balls, seed);
    counted.judge(judged);
    counted
}

/// A town with balls that roll to and fro. In every third one the eastern sims have room for one of them.
fn chaotic_town(seed: u64, columns: i32, servers: u8) -> Vec<Place> {
    let mut all = geneses(columns, servers, BALLS);
    // Where people come in follows from the id of a sim: each seed has sims of its own, or all would share that luck.
    all.iter_mut().for_each(|genesis| genesis.name = format!("{} of seed {seed}", genesis.name));
    if seed.is_multiple_of(2) {
        let far = Fx::from_int(4);
        all.iter_mut().for_each(|genesis| genesis.parameters.avatar.reach = far);
    }
    for (ball, owner) in all[0].objects.iter_mut().zip(1..) {
        ball.owner = Some(public(owner));
        if seed.is_multiple_of(2) {
            // It rolls where people walk, who sit down on it.
            ball.seat = Some(Vec2::ZERO);
            ball.body.mass = Fx::from_int(60);
            ball.body.pose.position.y = Fx::from_int(i32::from(owner) - 2);
        }
    }
    if pulls(seed) {
        let first = &all[0].objects[0];
        let place = first.body.pose.position.saturating_sub(Vec2::new(Fx::ONE, Fx::ZERO));
        let pulled = ball(place, &[], &Default::default());
        let owner = first.owner;
        all[0].objects.push(ObjectSpec { owner, ..pulled });
        let (min, max) = (Fx::ZERO, Fx::from_ratio(3, 2));
        let rope = JointKind::Distance { min, max, spring: None };
        let number = ObjectId(BALLS as u64 + 1);
        all[0].joints.push(JointSpec::new(Some(ObjectId(1)), number, rope));
    }
    if seed.is_multiple_of(3) {
        all.iter_mut().skip(1).for_each(|genesis| genesis.parameters.border_things = 1);
    }
    rolling(all)
}

/// What became of a thing: between which sims, under which number, and why it was refused.
type JudgedThing = (SimId, SimId, u64, Option<TravelRefusal>);

/// Notes the verdicts of a sim on things.
fn note_verdicts(town: &[Place], n: usize, judged: &mut BTreeSet<JudgedThing>) {
    for other in town.iter().filter(|other| other.id() != town[n].id()) {
        let Some(border) = town[n].world.border(&other.id()) else { continue };
        let heard = border.crossing.heard.as_ref();
        let listed = heard.map_or(&[][..], |heard| &heard.said.departures);
        for verdict in &border.crossing.said.verdicts {
            let is_thing = listed.iter().any(|departure| {
                departure.number == verdict.number
                    && matches!(departure.traveller, Traveller::Thing(_))
            });
            if is_thing {
                judged.insert((other.id(), town[n].id(), verdict.number, verdict.refused));
            }
        }
    }
}

/// Lets both sims live, and checks that nobody is under way or pinned after the deadline and two words. Balls roll
/// on, and push somebody over a line now and then: whoever is under way then has that time again.
fn settle(town: &mut [Place], people: &[PublicKey], balls: &[Origin], seed: u64) {
    let is_quiet = |town: &[Place]| {
        let mut borders = town.iter().flat_map(|place| place.world.borders());
        borders.all(|border| (border.under_way, border.pinned) == (0, 0))
    };
    for at in 0..96 {
        if at >= 32 && is_quiet(town) {
            break;
        }
        let_travel(town, false);
        people.iter().for_each(|person| drive(town, *person, Vec2::ZERO));
        step(town, 500);
    }
    for place in town.iter() {
        for border in place.world.borders() {
            assert_eq!((border.under_way, border.pinned), (0, 0), "seed {seed}: {border:?}");
        }
        assert_eq!(place.world.root(), place.world.rehash(), "seed {seed}");
    }
    for ball in balls {
        assert_eq!(places_of_thing(town, *ball), 1, "seed {seed}: it is in no sim, or in two");
    }
    for person in people {
        let here = town.iter().filter(|place| place.world.avatar(person).is_some()).count();
        assert_eq!(here, 1, "seed {seed}: she is in no sim, or in two");
    }
}

#[test]
fn whatever_happens_to_words_everybody_and_everything_is_in_one_place_and_nothing_is_stuck() {
    let mut all = Counted::default();
    for seed in 0..SEEDS {
        let columns = if seed % 4 == 0 { 3 } else { 2 };
        let servers = if seed % 5 == 0 { 6 } else { 1 };
        let counted = run(seed, columns, servers);
        all.crossings += counted.crossings;
        all.heard += counted.heard;
        all.turns += counted.turns;
        all.set_changes += counted.set_changes;
        all.restored += counted.restored;
        all.things_taken += counted.things_taken;
        all.things_refused += counted.things_refused;
        all.things_late += counted.things_late;
        all.carried += counted.carried;
        all.rode += counted.rode;
    }
    println!("{SEEDS} seeds: {all:?}");
    assert!(all.crossings > 3 * SEEDS as usize, "{all:?}");
    assert!(all.things_taken > 2 * SEEDS as usize, "{all:?}");
    assert!(all.things_refused > 50 && all.things_late > 0, "{all:?}");
    assert!(all.carried > SEEDS as usize / 2, "{all:?}");
    assert!(all.rode > SEEDS as usize / 2, "{all:?}");
    assert!(all.set_changes > 50 && all.restored > 50, "{all:?}");
}
