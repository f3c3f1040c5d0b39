//! Limits that would take a very long play to reach.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_types::{
    Act, Build, Digest, Ed25519, Envelope, GroundArea, Header, HeaderId, Height, Lane, Look, LotId,
    LotOrder, Millis, ObjectId, PublicKey, Refusal, Root, Round, Seq, Signature, SignedEnvelope,
    SimId, Turn, TurnBody, ValidatorsId, limits::OBJECT_NUMBERS_END,
};

use super::{
    changes::{ActEffects, StateChange, TurnCounts, apply_change},
    context::{ActContext, ActResult},
    executor::{ActExecutor, InjectedPanics},
};
use crate::{
    limits::{
        BUILDS_PER_TURN_MAX, HOMECOMERS_PER_TURN_MAX, LUGGAGE_PER_TURN_MAX, PLAYERS_MAX,
        PLAYERS_ROOMY, SENDINGS_PER_TURN_MAX,
    },
    scripts::Programs,
    space::Lot,
    state::{Genesis, Player, Since, State, Tools},
};

/// Returns a genesis of an empty sim with one server.
pub(crate) fn test_genesis() -> Genesis {
    Genesis {
        name: "empty".to_owned(),
        engine: crate::ENGINE,
        rules: crate::RULES,
        admins: Default::default(),
        validators: [(PublicKey([1; 32]), Default::default())].into(),
        packages: Default::default(),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC0-1.0".to_owned(),
        ..Genesis::empty()
    }
}

fn state() -> State {
    State::from_genesis(&test_genesis()).expect("a small genesis")
}

/// Returns the header of an empty turn 1 of no sim.
pub(crate) fn test_header() -> Header {
    Header {
        sim: SimId(Digest::ZERO),
        engine: crate::ENGINE,
        height: Height(1),
        previous: HeaderId::BEFORE_FIRST,
        proposer: PublicKey([1; 32]),
        round: Round(0),
        time: Millis(1),
        acts: Digest::ZERO,
        act_count: 0,
        blobs: Digest::ZERO,
        blob_count: 0,
        root: Root(Digest::ZERO),
        validators: ValidatorsId(Digest::ZERO),
        next_validators: ValidatorsId(Digest::ZERO),
        reserved: Digest::ZERO,
    }
}

pub(super) fn test_turn() -> Turn {
    Turn { header: test_header(), body: TurnBody::default() }
}

fn decide(state: &State, author: PublicKey, act: Act) -> ActResult {
    let (programs, panics, turn) = (Programs::default(), InjectedPanics::default(), test_turn());
    let tools = Tools::new(Arc::new(Ed25519));
    let executor = ActExecutor::new(&programs, &tools, &panics, &turn);
    let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(9));
    let envelope = Envelope { sim: state.charter.sim, author, lane, seq, last_valid, act };
    let act = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
    ActContext::new(&executor, state, &act, &TurnCounts::default()).decide()
}

fn login() -> Act {
    Act::login("late".to_owned(), Look::default())
}

#[test]
fn a_sim_knows_so_many_players_and_forgets_players_for_newcomers() {
    let mut state = state();
    let key = |n: u64| {
        let mut key = [2; 32];
        key[..8].copy_from_slice(&n.to_le_bytes());
        PublicKey(key)
    };
    let away = Player {
        name: "away".to_owned(),
        look: Look::default(),
        first_seen: 0,
        last_login: 0,
        days: 1,
        bot: false,
        since: Since { player: Height(0), regular: None },
        spoke: None,
        session: None,
    };
    let forgets = |state: &State, author: PublicKey| {
        let changes = decide(state, author, login()).expect("there is room");
        changes.iter().find_map(|change| match change {
            StateChange::Forget(key) => Some(*key),
            _ => None,
        })
    };
    let (newcomer, roomy) = (PublicKey([9; 32]), PLAYERS_ROOMY as u64);
    (1..roomy).for_each(|n| state.put_player(key(n), away.clone()));
    assert_eq!(forgets(&state, newcomer), None);
    state.put_player(key(0), away.clone());
    assert_eq!(forgets(&state, newcomer), Some(key(0)));
    assert_eq!(forgets(&state, key(7)), None, "who is known takes nobody's place");

    // Who was seen on enough days stays while there is any other place.
    for n in 0..roomy {
        state.put_player(key(n), Player { days: 3, ..away.clone() });
    }
    assert_eq!(forgets(&state, newcomer), None);
    let regular = Player { days: 4, ..away };
    (roomy..PLAYERS_MAX as u64).for_each(|n| state.put_player(key(n), regular.clone()));
    assert_eq!(state.players.len(), PLAYERS_MAX);
    let first = state.first_forgettable(None).expect("somebody");
    assert_eq!(forgets(&state, newcomer), Some(first));
    assert_eq!(state.players.get(&first).map(|player| player.days), Some(3));

    // Nobody is forgotten who owns something; only a steward comes in then.
    (0..PLAYERS_MAX as u64).for_each(|n| state.own(key(n), ObjectId(n + 1)));
    assert!(matches!(decide(&state, newcomer, login()), Err(Refusal::Full)));
    assert!(decide(&state, key(7), login()).is_ok());
    assert_eq!(forgets(&state, PublicKey([1; 32])), None, "a server");
}

#[test]
fn the_last_number_is_given_out_and_none_after_it() {
    let mut state = state();
    let changes = decide(&state, PublicKey([9; 32]), login()).expect("there is room");
    let Some(StateChange::Spawn(object, body)) = changes.into_iter().next() else {
        panic!("no avatar")
    };
    let last = ObjectId(OBJECT_NUMBERS_END - 1);
    state.clock.next_object = last;

    assert_eq!(state.spawn((*object).clone(), &body), Ok(last));

    let one_more = catch_unwind(AssertUnwindSafe(|| state.spawn(*object, &body).is_ok()));
    assert!(one_more.is_err(), "numbers from OBJECT_NUMBERS_END on are for other bodies");
    assert!(state.objects.contains(&last) && state.bodies.body(ObjectId(last.0 + 1)).is_none());
}

#[test]
fn builders_together_do_so_much_in_a_turn() {
    let mut state = state();
    let author = PublicKey([9; 32]);
    let (programs, panics, turn) = (Programs::default(), InjectedPanics::default(), test_turn());
    let tools = Tools::new(Arc::new(Ed25519));
    let executor = ActExecutor::new(&programs, &tools, &panics, &turn);
    let mut effects = ActEffects::default();
    for change in decide(&state, author, login()).expect("there is room") {
        apply_change(&mut state, &mut effects, author, change).expect("there is room");
    }
    let decide = |counts: &TurnCounts| {
        let act = Act::Build(Build::Undo { skip: 0 });
        let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(9));
        let envelope = Envelope { sim: state.charter.sim, author, lane, seq, last_valid, act };
        let act = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
        ActContext::new(&executor, &state, &act, counts).decide().err()
    };
    let mut counts = TurnCounts::default();
    (1..BUILDS_PER_TURN_MAX).for_each(|n| counts.count_build(PublicKey([n as u8; 32])));
    // Nine did one, as the others; the author did none that could be undone.
    assert_eq!(decide(&counts), Some(Refusal::NothingToUndo));

    counts.count_build(PublicKey([200; 32]));

    assert_eq!(decide(&counts), Some(Refusal::TooOften));
}

/// Returns why an act of somebody who is logged in and holds a lot is refused, beside what a turn has counted.
fn refusal_beside(counts: &TurnCounts, act: Act) -> Option<Refusal> {
    let mut state = state();
    let author = PublicKey([9; 32]);
    let mut effects = ActEffects::default();
    for change in decide(&state, author, login()).expect("there is room") {
        apply_change(&mut state, &mut effects, author, change).expect("there is room");
    }
    let area = crate::space::Area::of_ground(GroundArea { x: 10, y: 10, width: 8, depth: 8 });
    let (name, friends) = ("hers".to_owned(), Default::default());
    state.set_lot(LotId(1), Some(Lot { name, area, holder: author, friends, club: None }));
    let (programs, panics, turn) = (Programs::default(), InjectedPanics::default(), test_turn());
    let tools = Tools::new(Arc::new(Ed25519));
    let executor = ActExecutor::new(&programs, &tools, &panics, &turn);
    let (lane, seq, last_valid) = (Lane(1), Seq(1), Height(9));
    let envelope = Envelope { sim: state.charter.sim, author, lane, seq, last_valid, act };
    let act = SignedEnvelope { envelope, signature: Signature::from_bytes([0; 64]) };
    ActContext::new(&executor, &state, &act, counts).decide().err()
}

#[test]
fn so_many_go_home_in_a_turn() {
    let key = |n: usize| PublicKey([n as u8 + 100; 32]);
    let mut counts = TurnCounts::default();
    counts.homecomers.extend((1..HOMECOMERS_PER_TURN_MAX).map(key));
    assert_eq!(refusal_beside(&counts, Act::GoHome), None);
    counts.homecomers.insert(key(0));
    assert_eq!(refusal_beside(&counts, Act::GoHome), Some(Refusal::TooOften));
}

#[test]
fn holders_of_lots_together_send_so_many_things_home_in_a_turn() {
    let act = || Act::Lot(LotOrder::SendHome { lot: LotId(1), object: ObjectId(999) });
    // The order itself is counted before it is decided.
    let counts = |sendings| TurnCounts { sendings, ..TurnCounts::default() };
    let refusal = |sendings| refusal_beside(&counts(sendings), act());
    assert_eq!(refusal(SENDINGS_PER_TURN_MAX), Some(Refusal::NoObject));
    assert_eq!(refusal(SENDINGS_PER_TURN_MAX + 1), Some(Refusal::TooOften));
}

#[test]
fn people_together_put_so_many_things_away_in_a_turn_and_fetch_them() {
    let position = Vec2::ZERO;
    let act = || Act::Build(Build::Fetch { object: ObjectId(999), position });
    // The act itself is counted before it is decided.
    let counts = |luggage| TurnCounts { luggage, ..TurnCounts::default() };
    let refusal = |luggage| refusal_beside(&counts(luggage), act());
    assert_eq!(refusal(LUGGAGE_PER_TURN_MAX), Some(Refusal::NoObject));
    assert_eq!(refusal(LUGGAGE_PER_TURN_MAX + 1), Some(Refusal::TooOften));
}

#[test]
fn a_newcomer_appears_where_there_is_room() {
    let mut state = state();
    let radius = state.charter.parameters.avatar.radius;
    let half = Fx::from_int(3);
    // Everything but the west is taken.
    for (x, y) in [(2, 0), (0, 4), (0, -4)] {
        let place = Vec2::new(Fx::from_int(x), Fx::from_int(y));
        let shape = Shape::Rect { half: Vec2::new(half, half) };
        let id = state.clock.next_object;
        let body = BodySpec::new(shape, Motion::Static, place);
        state.bodies.insert(id, &body).expect("a wall");
        state.clock.next_object = id.plus(1);
    }

    let mut free = 0;
    for n in 0..50 {
        state.clock.tick = metatopia_types::Tick(n);
        let changes = decide(&state, PublicKey([9; 32]), login()).expect("there is room");
        let Some(StateChange::Spawn(_, body)) = changes.first() else { panic!("no avatar") };
        let place = body.pose.position;
        let mut others = state.bodies.own().iter();
        free += u32::from(others.all(|other| crate::space::distance_to(other, place) > radius));
    }
    // A seventeenth of the square is free, and sixteen places are tried: three in five find it.
    assert!(free >= 20, "{free} of 50 found the free place");
}
