//! The plaza as people meet it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_scenarios::plaza;
use metatopia_sim::{Applied, ENGINE, Serial, Tools, World, WorldObject};
use metatopia_types::{
    Act, Blob, Ed25519, Envelope, Header, Lane, Look, Millis, NodeContact, ObjectId, PublicKey,
    Seq, Sign, SigningKey, Turn, TurnBody,
};

struct Visit {
    world: World,
    key: SigningKey,
    seq: u64,
}

impl Visit {
    /// Founds the plaza, to which Ada comes.
    fn new() -> Self {
        Self::with_ticks(3)
    }

    /// The same, with so many ticks in a turn.
    fn with_ticks(ticks_per_turn: u32) -> Self {
        let server = SigningKey::from_seed([200; 32]).public();
        let validators = BTreeMap::from([(server, NodeContact::default())]);
        let mut genesis = plaza::genesis(validators, BTreeSet::new());
        genesis.parameters.ticks_per_turn = ticks_per_turn;
        let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("the plaza");
        let mut visit = Self { world, key: SigningKey::from_seed([1; 32]), seq: 0 };
        visit.act(Act::login("Ada".to_owned(), Look::default()));
        visit
    }

    fn play(&mut self, act: Option<Act>, words: Option<&str>) -> Applied {
        let height = self.world.height().plus(1);
        self.seq += 1;
        let acts = act.map(|act| {
            let envelope = Envelope {
                sim: self.world.sim(),
                author: self.key.public(),
                lane: Lane(1),
                seq: Seq(self.seq),
                last_valid: height,
                act,
            };
            envelope.sign(&self.key)
        });
        let blobs = words.map(|words| Blob(words.as_bytes().to_vec()));
        let acts = acts.into_iter().collect();
        let body = TurnBody::new(acts, blobs.into_iter().collect()).expect("a small turn");
        let header = Header {
            sim: self.world.sim(),
            engine: ENGINE,
            height,
            proposer: PublicKey::default(),
            time: Millis(1_700_000_000_000 + 50 * height.0),
            ..Header::unstated()
        };
        let applied = self.world.apply(&Turn::of(header, body), &Serial);
        assert!(applied.failures.is_empty(), "{:#?}", applied.failures);
        applied
    }

    fn act(&mut self, act: Act) -> Applied {
        let applied = self.play(Some(act), None);
        assert_eq!(applied.outcomes, [metatopia_types::Outcome::Ok]);
        applied
    }

    fn idle(&mut self, turns: u64) -> Vec<String> {
        (0..turns).flat_map(|_| self.play(None, None).chat).map(|line| line.text).collect()
    }

    fn say(&mut self, words: &str) -> Vec<(String, String)> {
        let body = Blob(words.as_bytes().to_vec()).id();
        let applied = self.play(Some(Act::Say { channel: 0, body }), Some(words));
        let more = self.play(None, None);
        let lines = applied.chat.into_iter().chain(more.chat);
        lines.map(|line| (line.name, line.text)).collect()
    }

    fn find(&self, name: &str) -> WorldObject {
        let found = self.world.objects().find(|object| object.name == name);
        found.unwrap_or_else(|| panic!("there is no {name}"))
    }

    fn here(&self) -> Vec2 {
        self.find("Ada").position
    }

    /// Walks straight to a point; gives up after a while.
    fn walk_to(&mut self, x: i32, y: i32) {
        let goal = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        for _ in 0..200 {
            let way = goal.saturating_sub(self.here());
            if way.length() < Fx::from_ratio(3, 10) {
                break;
            }
            self.act(Act::Walk { heading: way });
        }
        self.act(Act::Walk { heading: Vec2::ZERO });
        self.idle(4);
        let left = self.here().distance(goal);
        assert!(left < Fx::ONE, "got to {} on the way to {goal}", self.here());
    }

    fn touch(&mut self, name: &str) -> Applied {
        let object: ObjectId = self.find(name).id;
        self.act(Act::Touch { object })
    }
}

#[test]
fn the_greeter_says_hello_by_name_and_answers_questions() {
    let mut visit = Visit::new();

    let hello = visit.say("hello");
    assert_eq!(hello[0], ("Ada".to_owned(), "hello".to_owned()));
    assert_eq!(hello[1].0, "greeter");
    assert_eq!(hello[1].1, "Hello, Ada! You are greeting number 1. Say help for more.");
    let again = visit.say("Hi, greeter");
    assert_eq!(again[1].1, "Hello, Ada! You are greeting number 2. Say help for more.");
    assert!(visit.say("help")[1].1.contains("Touch the bell"));
    // Something above 15 turns of 50 ms have passed.
    assert_eq!(visit.say("time")[1].1, "This world has lived for 0 h 0 min 0 s.");
    visit.idle(20 * 65);
    assert_eq!(visit.world.avatar(&visit.key.public()), None, "away without a heartbeat");
    visit.act(Act::login("Ada".to_owned(), Look::default()));
    assert_eq!(visit.say("time")[1].1, "This world has lived for 0 h 1 min 5 s.");
    assert_eq!(visit.say("nothing to answer").len(), 1);
}

#[test]
fn the_bell_rings_when_it_is_touched_and_is_silent_again() {
    let mut visit = Visit::new();
    visit.walk_to(5, 4);

    let applied = visit.touch("bell");

    assert_eq!(applied.chat[0].text, "Ding!");
    assert_eq!(visit.find("bell").text, "ringing");
    assert!(visit.touch("bell").chat.is_empty(), "it rings already");
    visit.idle(25);
    assert_eq!(visit.find("bell").text, "");
}

#[test]
fn the_bell_strikes_the_hours_of_simulated_time() {
    let mut visit = Visit::with_ticks(60);

    // A turn of 60 ticks is a second.
    let first = visit.idle(3_610);
    let second = visit.idle(3_600);

    assert_eq!(first, ["Dong!"]);
    assert_eq!(second, ["Dong, dong!"]);
}

#[test]
fn the_door_opens_when_it_is_touched_lets_people_in_and_closes() {
    let mut visit = Visit::new();
    visit.walk_to(16, 8);
    let shut = visit.find("door").position;
    assert_eq!(visit.find("door").text, "closed");

    visit.touch("door");
    visit.idle(40);
    assert_eq!(visit.find("door").text, "open");
    let open = visit.find("door").position;
    assert!(shut.distance(open) > Fx::from_int(2));
    visit.walk_to(16, 12);
    visit.idle(120);

    assert_eq!(visit.find("door").text, "closed");
    assert_eq!(visit.find("door").position, shut);
    assert!(visit.here().y > Fx::from_int(11), "inside, at {}", visit.here());
}

#[test]
fn nobody_walks_through_the_closed_door_or_a_wall() {
    let mut visit = Visit::new();
    visit.walk_to(12, 7);
    for _ in 0..60 {
        visit.act(Act::Walk { heading: Vec2::Y });
    }

    assert!(visit.here().y < Fx::from_ratio(95, 10), "at {}", visit.here());
}

#[test]
fn the_turntable_turns_and_a_hand_turns_it_around() {
    let mut visit = Visit::new();
    let before = visit.find("turntable").angle;
    visit.idle(10);
    let turned = visit.find("turntable").angle.wrapping_sub(before).to_radians();
    // 30 ticks of 1/60 s at 0.8 rad/s.
    let off = turned.saturating_sub(Fx::from_ratio(4, 10)).saturating_abs();
    assert!(off < Fx::from_ratio(1, 50), "{turned} rad");

    visit.walk_to(-8, 1);
    for _ in 0..300 {
        let reach = visit.find("turntable");
        let way = reach.position.distance(visit.here());
        let near = visit.play(Some(Act::Touch { object: reach.id }), None);
        if near.outcomes == [metatopia_types::Outcome::Ok] {
            let says: Vec<String> = near.chat.into_iter().map(|line| line.text).collect();
            assert_eq!(says, ["the other way, Ada!"], "{way} m away");
            return;
        }
    }
    panic!("the beam never came into reach of {}", visit.here());
}

#[test]
fn a_crate_that_is_pushed_slides_and_stops() {
    let mut visit = Visit::new();
    visit.walk_to(0, -10);
    let object = visit.find("crate 15");

    visit.act(Act::Push { object: object.id });
    visit.idle(60);

    let way = visit.find("crate 15").position.distance(object.position);
    assert!(way > Fx::HALF && way < Fx::from_int(4), "{way} m");
    assert_eq!(visit.find("crate 15").velocity, Vec2::ZERO);
}
