//! Servers that take a state of their peers because they have none, and heals that a restart does not
//! undo.

use std::{sync::Arc, time::Duration};

use metatopia_consensus::{Base, Message, Record};
use metatopia_protocol::{Answer, Question};
use metatopia_replica::{
    ClientId, Condition, Effect, FETCH_PAUSE, FetchEvent, HOUR, Input, PeerMessage, REPAIRS_MAX,
    Replacement, Replica, STALL, SyncReason, find_decisions,
};
use metatopia_sim::{Serial, World};
use metatopia_types::{Height, Millis, Now, PublicKey, Sign as _, SigningKey};

use super::{
    alone::{Alone, NOON, SNAPSHOT_TURNS, config, genesis, key, tools},
    repair::flipped,
};

const START: Now = Now { monotonic: Duration::ZERO, wall: NOON };

fn own() -> SigningKey {
    SigningKey::from_seed([9; 32])
}

/// A server that has nothing but its key and genesis.
fn stateless(least: Height) -> Replica {
    let genesis = genesis();
    let mut config = config(&genesis);
    config.agreement.signer = Arc::new(own());
    config.agreement.fresh_key = false;
    let world = World::genesis(&genesis, &tools()).expect("a genesis");
    Replica::stateless(config, world, least, START)
}

/// Carries questions and answers between the two, until nothing more is said; gives what else the
/// server without a state wants.
fn talk(server: &mut Alone, replica: &mut Replica, now: Now) -> Vec<Effect> {
    let (peer, own): (PublicKey, PublicKey) = (key().public(), own().public());
    let mut rest = Vec::new();
    while let Some(effect) = replica.poll() {
        let Effect::ToPeer { to, frame } = effect else {
            rest.push(effect);
            continue;
        };
        assert!(to.is_none_or(|to| to == peer));
        server.peer_says(own, &PeerMessage::decode(&frame).expect("a frame"));
        for (to, frame) in std::mem::take(&mut server.sent) {
            assert_eq!(to, own);
            replica.handle(now, Input::PeerFrame { from: peer, frame });
        }
    }
    rest
}

fn replacement(effects: Vec<Effect>) -> Option<Replacement> {
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Append { .. })), "{effects:?}");
    effects.into_iter().find_map(|effect| match effect {
        Effect::Replace(replacement) => Some(*replacement),
        _ => None,
    })
}

#[test]
fn a_server_without_a_state_takes_a_certified_one_serves_nobody_before_and_has_no_voice() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 10);
    let mut replica = stateless(Height(0));
    assert!(replica.has_no_state() && replica.deadline().is_none(), "there is nobody to ask");
    replica.handle(START, Input::ClientUp(ClientId(1)));
    let refused = talk(&mut server, &mut replica, START);
    assert!(refused.iter().any(|effect| matches!(effect, Effect::CloseClient { .. })));
    let status = replica.status(START).expect("the world is here");
    assert_eq!((status.condition, status.voting), (Condition::Fetching, false));
    assert_eq!(status.fetching.map(|fetching| fetching.reason), Some(SyncReason::NoState));

    replica.handle(START, Input::PeerUp(key().public()));
    let taken = replacement(talk(&mut server, &mut replica, START)).expect("a state");

    let Replacement { reason, from, base, world, note } = taken;
    assert_eq!((reason, from, note), (SyncReason::NoState, Height(0), None));
    assert_eq!((base.height, world.height()), (Height(SNAPSHOT_TURNS), Height(SNAPSHOT_TURNS)));
    assert!(!base.voice, "nobody knows what it signed");
    // It has ended: nothing that happens to it matters any more, and nobody waits for it.
    replica.handle(START, Input::PeerDown(key().public()));
    assert!(replica.poll().is_none() && replica.deadline().is_none());
    replica.handle(START, Input::ClientUp(ClientId(2)));
    let refused = replica.poll();
    assert!(
        matches!(refused, Some(Effect::CloseClient { client: ClientId(2), .. })),
        "{refused:?}"
    );
    replica.handle(START, Input::Ask { token: 7, question: Question::Servers });
    let refused = replica.poll();
    let busy = Answer::Busy;
    assert!(matches!(refused, Some(Effect::Answer { token: 7, answer }) if answer == busy));
    let opened = Replica::open(config(&genesis()), base, world, [], [], START).expect("a state");
    assert!(!opened.has_no_state());
}

#[test]
fn a_server_calls_itself_stalled_once_nothing_was_decided_for_so_long_and_no_sooner() {
    let replica = stateless(Height(0));
    let at = |monotonic| {
        let now = Now { monotonic: START.monotonic + monotonic, ..START };
        replica.status(now).expect("the world is here").stalled
    };
    assert!(!at(STALL) && at(STALL + Duration::from_nanos(1)));
}

/// A disk filled up while a state was fetched: the state was ordered to be stored all the same, and a
/// server that could have gone on without it had ended.
#[test]
fn a_state_that_no_room_is_left_for_is_fetched_once_there_is() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 10);
    let mut replica = stateless(Height(0));
    replica.handle(START, Input::PeerUp(key().public()));
    replica.handle(START, Input::Muted(true));
    assert!(replacement(talk(&mut server, &mut replica, START)).is_none());
    assert_eq!(replica.deadline(), None);

    let later = Now { monotonic: FETCH_PAUSE, wall: NOON.plus(5_000) };
    replica.handle(later, Input::Muted(false));

    let taken = replacement(talk(&mut server, &mut replica, later)).expect("a state");
    assert_eq!(taken.base.height, Height(SNAPSHOT_TURNS));
}

/// Goodbyes of a replica that went on from another state waited for its log like all that it told;
/// with it they were forgotten, and clients that watch no clock waited for ever.
#[test]
fn clients_of_a_replica_that_ends_are_sent_away_whatever_its_disk_has_not_synced() {
    let mut server = Alone::begin();
    server.run_to(3);
    let genesis = genesis();
    let mut config = config(&genesis);
    config.agreement.signer = Arc::new(own());
    config.behind_turns = 60;
    let world = World::genesis(&genesis, &tools()).expect("a genesis");
    let set = world.validators(Height(1)).expect("the first set");
    let base = Base::genesis(Millis(0), world.root(), set);
    let mut replica = Replica::open(config, base, world, [], [], START).expect("an empty log");
    replica.handle(START, Input::ClientUp(ClientId(1)));
    replica.handle(START, Input::PeerUp(key().public()));
    server.peer_up(own().public());
    let mut said = Vec::new();
    for second in 1..20 {
        let monotonic = Duration::from_secs(second);
        let now = Now { monotonic, wall: NOON.plus(1_000 * second) };
        replica.handle(now, Input::Wake);
        for frame in std::mem::take(&mut server.sent_to_all) {
            replica.handle(now, Input::PeerFrame { from: key().public(), frame });
        }
        // Nobody tells it that its log is durable.
        let mut more = talk(&mut server, &mut replica, now);
        while let Some(effect) = more.pop() {
            if let Effect::Apply { mut world, decision } = effect {
                let result = Box::new(world.apply(&decision.turn, &Serial));
                replica.handle(now, Input::Applied { world, result });
                more.extend(talk(&mut server, &mut replica, now));
            } else {
                said.push(effect);
            }
        }
        server.run_to(server.height().0 + 1);
        if second == 5 {
            // The line to it is cut for a while.
            server.run_to(SNAPSHOT_TURNS + 100);
            server.sent_to_all.clear();
        }
    }

    let was_said = |wanted: fn(&Effect) -> bool| said.iter().any(wanted);
    assert!(was_said(|effect| matches!(effect, Effect::Sync(_))), "turns were decided");
    assert!(was_said(|effect| matches!(effect, Effect::Replace(_))), "it went on from a state");
    let away = was_said(|effect| matches!(effect, Effect::CloseClient { client: ClientId(1), .. }));
    assert!(away, "{said:?}");
}

#[test]
fn a_state_that_its_log_does_not_lead_on_from_is_refused_and_a_later_one_asked_for() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 10);
    let mut replica = stateless(Height(SNAPSHOT_TURNS + 1));
    replica.handle(START, Input::PeerUp(key().public()));
    let effects = talk(&mut server, &mut replica, START);
    let failed = |effect: &Effect| matches!(effect, Effect::Fetch(FetchEvent::Failed(_)));
    assert!(effects.iter().any(failed), "{effects:?}");
    assert!(replacement(effects).is_none());
    assert_eq!(replica.deadline(), Some(FETCH_PAUSE));

    server.run_to(2 * SNAPSHOT_TURNS + 10);
    let later = Now { monotonic: FETCH_PAUSE, wall: NOON.plus(5_000) };
    replica.handle(later, Input::Wake);
    let taken = replacement(talk(&mut server, &mut replica, later)).expect("a state");
    assert_eq!(taken.base.height, Height(2 * SNAPSHOT_TURNS));
}

/// A bit flipped in the turn after which a state is stored, and the server started again from that
/// state before a header stated the right root. The server fetched another state, and its log kept the
/// note of the wrong root for good (whole seed 50004).
#[test]
fn a_server_that_starts_from_a_wrong_state_voids_what_it_noted_of_that_state() {
    let at = Height(SNAPSHOT_TURNS);
    let mut server = Alone::begin();
    server.run_to(at.0);
    let (base, world) = server.state();
    server.run_to(at.0 + 10);
    let wrong = flipped(&world);
    let base = Base { roots: [base.roots[0], wrong.root()], voice: false, ..base };
    let mut config = config(&genesis());
    config.agreement.signer = Arc::new(own());
    config.agreement.fresh_key = false;
    let mut replica = Replica::open(config, base, wrong, [], [], START).expect("an empty log");
    replica.handle(START, Input::PeerUp(key().public()));

    for decision in find_decisions(server.log().to_vec(), at.plus(1), 2) {
        let frame = PeerMessage::Agreement(Message::Decision(decision)).encode();
        replica.handle(START, Input::PeerFrame { from: key().public(), frame });
    }
    let mut effects = talk(&mut server, &mut replica, START);
    while let Some(effect) = effects.pop() {
        if let Effect::Apply { mut world, decision } = effect {
            let result = Box::new(world.apply(&decision.turn, &Serial));
            replica.handle(START, Input::Applied { world, result });
            effects.extend(talk(&mut server, &mut replica, START));
        }
    }
    let later = Now { monotonic: Duration::from_secs(1), wall: NOON.plus(1_000) };
    replica.handle(later, Input::Wake);

    let taken = replacement(talk(&mut server, &mut replica, later)).expect("a state");
    let Replacement { reason, base, note, .. } = taken;
    assert_eq!((reason, base.height, base.roots[1]), (SyncReason::Wrong, at, world.root()));
    let note = note.map(|note| Record::decode(&note).expect("a record"));
    assert_eq!(note, Some(Record::Healed { from: at }));
}

#[test]
fn a_server_that_healed_too_often_in_the_last_hour_stays_silent_over_a_restart() {
    let hour = u64::try_from(HOUR.as_millis()).expect("an hour");
    let condition = |repairs: usize, later: u64| {
        let genesis = genesis();
        let world = World::genesis(&genesis, &tools()).expect("a genesis");
        let set = world.validators(Height(1)).expect("the first set");
        let base = Base::genesis(Millis(0), world.root(), set);
        let mut config = config(&genesis);
        config.repairs = vec![NOON; repairs];
        let now = Now { monotonic: Duration::ZERO, wall: NOON.plus(later) };
        let replica = Replica::open(config, base, world, [], [], now).expect("a start");
        let status = replica.status(now).expect("the world is here");
        (status.condition, status.voting)
    };
    assert_eq!(condition(REPAIRS_MAX, 1), (Condition::Sound, true));
    assert_eq!(condition(REPAIRS_MAX + 1, 1), (Condition::Following, false));
    assert_eq!(condition(REPAIRS_MAX + 1, hour - 1), (Condition::Following, false));
    assert_eq!(condition(REPAIRS_MAX + 1, hour), (Condition::Sound, true));
}
