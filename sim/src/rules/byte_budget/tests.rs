//! The arithmetic of the bounds, with every number as long as it can be.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    Filter, JointKind, JointSpec, Motor,
    limits::{
        BODIES_MAX, BODY_BYTES_MAX, COMPOUND_BYTES_MAX, COMPOUND_CONTACT_BYTES_MAX,
        COMPOUND_PARTS_MAX, CONTACT_BYTES_MAX, PAIRS_MAX, PART_CONTACTS_MAX,
    },
};
use metatopia_scripting::{
    ErrorKind, Event,
    limits::{LICENCE_BYTES_MAX, SIGN_BYTES_MAX, TOPIC_BYTES_MAX},
};
use metatopia_types::{
    ActId, AssetLicence, BodyShape, Digest, Emote, Height, Lane, Look, Millis, ObjectId, Origin,
    Outcome, PackageId, PublicKey, Refusal, ScriptId, Seq, SimId, Tick, Traveller,
    limits::{
        ACTS_PER_TURN_MAX, BORDER_BODIES_MAX, BORDERS_MAX, LEAF_BYTES_MAX, NAME_BYTES_MAX,
        OUTCOME_TURNS, PACKAGE_PIECE_BYTES_MAX, TICKS_PER_SECOND,
    },
    wire,
};

use super::{super::windows::Window, ByteBudget};
use crate::{
    limits::{
        AUTHORS_KEPT_BYTES, BANS_MAX, BUILD_BYTES_MAX, CLUBS_MAX, FAILURES_MAX, FORGOTTEN_KEPT,
        FRIENDS_KEPT_MAX, FROZEN_MAX, HISTORY_BYTES_MAX, LANES_MAX, MUTES_MAX, OBJECT_JOINTS_MAX,
        ORDERS_KEPT, PACKAGES_MAX, PICTURES_KIB_MAX, PIECES_MAX, PLAYERS_MAX, PROFILES_MAX,
        PUBLICATIONS_MAX, PUBLISHED_BYTES_MAX, REPORTS_DECIDED_KEPT, REPORTS_OPEN_MAX,
        RIGHTS_AREAS_MAX, ROLES_MAX, ROTATED_MAX, SCRIPTS_PER_OBJECT_MAX, SIM_COMPOUNDS_MAX,
        TIMER_BYTES_MAX, TRACES_MAX, UNDO_ENTRIES_MAX, WORLD_BYTES_MAX,
    },
    scripts::{GasPool, Inbox, QueuedEvent, Script, Sender},
    state::{
        Held, Object, Player, PlayerSession, Presence, Publication, SNAPSHOT_BYTES_MAX, Since,
        ThingChange, ThingSeat,
    },
};

const KEY: PublicKey = PublicKey([0xff; 32]);
const MAX: u64 = u64::MAX;
const ORIGIN: Origin = Origin { sim: SimId(Digest([0xff; 32])), number: ObjectId(MAX) };
const FAR_AWAY: Vec2 = Vec2::new(Fx::MIN, Fx::MIN);
const FAR: Tick = Tick(MAX);
const MIB: usize = 1_024 * 1_024;

/// The most bytes that a manifest has for a leaf of no table.
const HEAD: usize = 64;

fn look() -> Look {
    Look::plain(0x00ff_ffff, BodyShape::default())
}

fn object() -> Object {
    Object {
        kind: "x".repeat(NAME_BYTES_MAX),
        name: "x".repeat(NAME_BYTES_MAX),
        owner: Some(KEY),
        player: Some(KEY),
        look: look(),
        text: "x".repeat(SIGN_BYTES_MAX),
        scripts: vec![ScriptId(MAX); SCRIPTS_PER_OBJECT_MAX],
        licence: AssetLicence::default(),
        author: Some(KEY),
        birth: Some(ORIGIN),
        parent: Some(ORIGIN),
        travels: true,
        guest: None,
        spawner: Some(ObjectId(MAX)),
        held: Some(Held {
            by: ObjectId(MAX),
            filter: Filter { category: u32::MAX, mask: u32::MAX - 1 },
        }),
        seat: Some(ThingSeat { at: FAR_AWAY, told: Some(ObjectId(MAX)) }),
        changed: Some(ThingChange {
            by: PublicKey([0xff; 32]),
            word: "let travel".to_owned(),
            height: Height(MAX),
            time: Millis(MAX),
        }),
    }
}

fn player() -> Player {
    let far = Fx::from_bits(i64::MIN);
    let session = PlayerSession {
        lane: Lane(MAX),
        presence: Presence::Away { to: ORIGIN.sim, number: MAX },
        heading: Vec2::new(far, far),
        lease: FAR,
        acted: FAR,
        pushed: Some(FAR),
        gesture: Some((Emote::Wave, FAR)),
        // Permits take of the budget.
        permits: Vec::new(),
    };
    Player {
        name: "x".repeat(NAME_BYTES_MAX),
        look: look(),
        first_seen: MAX,
        last_login: MAX,
        days: u32::MAX,
        bot: true,
        since: Since { player: Height(MAX), regular: Some(Height(MAX)) },
        spoke: Some(MAX),
        session: Some(session),
    }
}

/// Bytes of a pool that is as far in the red as it can be: two numbers.
const POOL: usize = 20;

/// A script as it begins, and what its numbers can add to it; beside its state, its inbox and its
/// timers, of which only the lengths grow.
fn script() -> (usize, usize) {
    let gas = GasPool::full(FAR, crate::gas::GasIncome { refill: MAX, capacity: MAX });
    let mut script = Script::new(ObjectId(MAX), PackageId(Digest::ZERO), Default::default(), gas);
    let begins = wire::length(&script);
    script.failures = MAX;
    script.last_failure = Some((FAR, ErrorKind::Panic));
    (script.dropped, script.gas_used) = (MAX, MAX);
    (script.failed_of_late, script.suspended) = (vec![FAR; FAILURES_MAX], Some(FAR));
    // Since when it speaks, and how many lines it said: fifteen bytes in place of two.
    let counts = 3 * wire::length(&u32::MAX);
    (begins, wire::length(&script) - begins + POOL + 13 + counts)
}

/// A tick that waits in an inbox, with its length.
fn tick() -> usize {
    let event = Event::Tick { dt: Fx::from_ratio(1, TICKS_PER_SECOND as i64) };
    wire::length(&QueuedEvent { sender: Sender::Core, raised: FAR, index: u32::MAX, event }) + 1
}

#[test]
fn everything_that_takes_no_budget_fits_beside_the_budget() {
    let singles = 7 * (LEAF_BYTES_MAX + HEAD);
    let outcome = wire::length(&(ActId(Digest::ZERO), Outcome::Refused(Refusal::Rotated(KEY))));
    assert!(
        ACTS_PER_TURN_MAX * outcome + 3 <= LEAF_BYTES_MAX,
        "the outcomes of a turn are one leaf"
    );
    let outcomes = OUTCOME_TURNS as usize * (ACTS_PER_TURN_MAX * outcome + HEAD);
    let players = PLAYERS_MAX * wire::length(&(KEY, player()));
    let window = Window { seq: Seq(MAX), last_valid: Height(MAX), opener: KEY };
    let windows = LANES_MAX * wire::length(&((KEY, Lane(MAX)), window));
    // Owners are players, or were named by the genesis.
    let owners = (PLAYERS_MAX + BODIES_MAX + 1) * (wire::length(&Some(KEY)) + POOL);
    let objects = BODIES_MAX * (wire::length(&(ObjectId(MAX), object())) + BODY_BYTES_MAX);
    let objects = objects + SIM_COMPOUNDS_MAX * (COMPOUND_BYTES_MAX - BODY_BYTES_MAX);
    let of_parts = PART_CONTACTS_MAX * (COMPOUND_CONTACT_BYTES_MAX - CONTACT_BYTES_MAX);
    let contacts = PAIRS_MAX * CONTACT_BYTES_MAX + of_parts;
    let scripts = BODIES_MAX * SCRIPTS_PER_OBJECT_MAX * (script().1 + tick());
    // What is deleted moves to a history, which may have been empty.
    let deleted = 4_096 * (wire::length(&KEY) + 5 + 2 * UNDO_ENTRIES_MAX);
    let record = Publication {
        publisher: Some(KEY),
        height: Height(MAX),
        bytes: u32::MAX,
        licence: "x".repeat(LICENCE_BYTES_MAX),
        authors: "x".repeat(AUTHORS_KEPT_BYTES),
        unused_since: Some(MAX),
        left: Some(Height(MAX)),
    };
    let id = PackageId(Digest::ZERO);
    let publications = PUBLICATIONS_MAX * wire::length(&(id, record));
    // Each in pieces, with its id and the piece's number and length.
    let full_pieces = PUBLISHED_BYTES_MAX as usize / PACKAGE_PIECE_BYTES_MAX;
    let heads = (full_pieces + PACKAGES_MAX) * 48;
    // Those that are not put together yet, each with its author, id, height and length.
    let waiting = PIECES_MAX * (PACKAGE_PIECE_BYTES_MAX + 32 + 32 + 10 + 3);
    let packages = PUBLISHED_BYTES_MAX as usize + heads + waiting + publications;
    // Tables are cut into leaves of half their largest size on average. Keys that were looked for,
    // because they begin alike, make smaller ones: this is 64 bytes for each of 128 Ki leaves.
    let heads = 8 * MIB;

    let ghost = wire::length(&Traveller::Thing(ORIGIN));
    let ghosts = BORDERS_MAX * (BORDER_BODIES_MAX * (ghost + BODY_BYTES_MAX) + 21 + HEAD);

    let beside = singles + outcomes + players + windows + owners + objects + contacts + ghosts;
    // See the comments of these limits.
    let people = ROLES_MAX * 400 + RIGHTS_AREAS_MAX * 160 + (BANS_MAX + MUTES_MAX) * 280;
    let people = people + (REPORTS_OPEN_MAX + REPORTS_DECIDED_KEPT) * 900;
    let people = people + FROZEN_MAX * 130 + ORDERS_KEPT as usize * 800 + ROTATED_MAX * 80;
    let people = people + FRIENDS_KEPT_MAX * 1_500 + CLUBS_MAX * 4_100 + FORGOTTEN_KEPT * 96;
    let people = people + PROFILES_MAX * 400 + PICTURES_KIB_MAX * 1_024;

    let by_thing = wire::length(&(ObjectId(MAX), object())) + COMPOUND_BYTES_MAX;
    let trace = by_thing + wire::length(&(KEY, Height(MAX), MAX, true)) + 2 * HEAD + 8 * 33;
    assert!(trace <= 2_300, "the comment of TRACES_MAX says how long one is: {trace}");
    let people = people + TRACES_MAX * trace;

    let beside = beside + scripts + deleted + packages + people + heads;

    let place = SNAPSHOT_BYTES_MAX - WORLD_BYTES_MAX as usize;
    assert!(beside <= place, "{} KiB where {} are", beside / 1_024, place / 1_024);
    assert!(place - beside < 8 * MIB, "the comment of WORLD_BYTES_MAX says how much it is");
}

#[test]
fn the_bytes_of_a_building_step_hold_the_largest_step() {
    let event = Event::Start;
    let mut inbox = Inbox::default();
    let start = QueuedEvent { sender: Sender::Core, raised: FAR, index: 0, event };
    inbox.push(start, &mut ByteBudget(MAX)).expect("the first event");
    let script = script().0 + wire::length(&inbox) + HEAD;
    let thing = wire::length(&(ObjectId(MAX), object())) + COMPOUND_BYTES_MAX;
    // Its history begins with it, and it takes back a text or a body.
    let entry = wire::length(&KEY) + 5 + wire::length(&ObjectId(MAX)) + SIGN_BYTES_MAX + HEAD;

    let largest = thing + SCRIPTS_PER_OBJECT_MAX * script + entry + 2 * HEAD;

    assert!(largest <= BUILD_BYTES_MAX, "{largest} bytes");
}

#[test]
fn a_history_of_the_largest_deleted_things_fits_into_a_leaf() {
    let far = Fx::from_bits(i64::MIN);
    let (corner, motor) = (Vec2::new(far, far), Motor { speed: far, strength: far });
    let limits = Some([far, far]);
    let kind = JointKind::Prismatic { axis: corner, limits, motor: Some(motor) };
    let joint = JointSpec {
        anchor_a: corner,
        anchor_b: corner,
        angle: Angle::from_bits(u32::MAX),
        break_force: Some(far),
        break_torque: Some(far),
        ..JointSpec::new(Some(ObjectId(MAX)), ObjectId(MAX), kind)
    };
    let joints = OBJECT_JOINTS_MAX * wire::length(&joint) + 1;
    let packages = SCRIPTS_PER_OBJECT_MAX * wire::length(&PackageId(Digest::ZERO)) + 1;
    let thing = wire::length(&(ObjectId(MAX), object())) + COMPOUND_BYTES_MAX;

    let key = wire::length(&KEY) + 5;
    // Those of several parts are as many as HISTORY_BYTES_MAX lets stay.
    let plain =
        UNDO_ENTRIES_MAX * (thing - COMPOUND_BYTES_MAX + BODY_BYTES_MAX + packages + joints + 2);
    assert!(plain + key < HISTORY_BYTES_MAX, "{plain} bytes");
    // The last step stays however long it is: it may be about all that became parts of one thing. A successor notes of
    // each where it was born.
    let part = thing - COMPOUND_BYTES_MAX + BODY_BYTES_MAX + packages + joints;
    let births = COMPOUND_PARTS_MAX * wire::length(&ORIGIN);
    let united = COMPOUND_PARTS_MAX * (part + 2) + COMPOUND_BYTES_MAX + births;
    assert!(united + key < LEAF_BYTES_MAX, "{united} bytes");
    assert!(HISTORY_BYTES_MAX + key < LEAF_BYTES_MAX);
    assert!(thing + packages + joints + key < HISTORY_BYTES_MAX, "{thing} bytes");
    assert!(joints <= BUILD_BYTES_MAX, "{joints} bytes");
}

#[test]
fn a_timer_and_its_event_fit_into_the_bytes_that_it_reserves() {
    let name = "x".repeat(TOPIC_BYTES_MAX);
    let timer = wire::length(&(&name, FAR));
    let event = Event::Timer { name };
    let mut inbox = Inbox::default();
    let queued = QueuedEvent { sender: Sender::Core, raised: FAR, index: u32::MAX, event };
    inbox.push(queued, &mut ByteBudget(MAX)).expect("the first event");

    let event: Vec<usize> = inbox.timer_bytes().collect();

    assert!(timer < TIMER_BYTES_MAX);
    assert_eq!(event, [TIMER_BYTES_MAX]);
}

#[test]
fn bytes_are_taken_as_a_whole_or_not_at_all() {
    let mut budget = ByteBudget::remaining(90, 100);

    assert!(!budget.take(11));
    assert!(budget.take(10));
    assert!(!budget.take(1));
    assert!(budget.take(0));
    assert_eq!(ByteBudget::remaining(101, 100), ByteBudget::default());
}

#[test]
fn an_event_takes_what_it_adds_to_its_inbox() {
    let (mut inbox, mut budget) = (Inbox::default(), ByteBudget(MAX));
    for n in 0..60 {
        let event = Event::Chat { from: ObjectId(MAX), text: "x".repeat(40 * n) };
        let sender = Sender::Script(ScriptId(n as u64));
        let before = (wire::length(&inbox), budget);

        let pushed = inbox.push(QueuedEvent { sender, raised: FAR, index: 7, event }, &mut budget);

        let (grown, taken) = (wire::length(&inbox) - before.0, before.1.0 - budget.0);
        assert_eq!(taken, grown as u64, "{pushed:?}");
    }
}
