//! Limits of lists, and what an order costs, which would take long to play.

mod model;

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_types::{
    Digest, GovernOrder, GroundArea, HeaderId, Height, Lane, Look, Millis, NodeContact, ObjectId,
    PublicKey, Refusal, RoleRight, SetChange, Tick,
    limits::{ADMINS_MAX, CONTACT_BYTES_MAX, MOTD_BYTES_MAX, REASON_BYTES_MAX},
    wire,
};

use super::super::tests::test_genesis;
use crate::{
    limits::{
        BANS_MAX, ENDINGS_PER_TURN_MAX, FROZEN_MAX, MUTES_MAX, ORDERS_KEPT, RIGHTS_AREAS_MAX,
        RIGHTS_AREAS_PER_KEY_MAX, ROLES_MAX,
    },
    rules::{OrderedDeed, RecordedOrder, Warrant},
    state::{Genesis, Player, PlayerSession, Presence, Since, State},
    tree::StateLeaves,
};

const ADMIN: PublicKey = PublicKey([100; 32]);

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

fn state() -> State {
    let genesis = Genesis { admins: BTreeSet::from([ADMIN]), ..test_genesis() };
    State::from_genesis(&genesis).expect("a small genesis")
}

fn player(session: Option<PlayerSession>) -> Player {
    Player {
        name: "a player".to_owned(),
        look: Look::default(),
        first_seen: 0,
        last_login: 0,
        days: 9,
        bot: false,
        since: Since { player: Height(0), regular: Some(Height(0)) },
        spoke: None,
        session,
    }
}

fn ban(n: usize, seconds: Option<u32>) -> GovernOrder {
    GovernOrder::Ban { key: key(n), seconds, reason: "x".repeat(REASON_BYTES_MAX) }
}

fn mute(n: usize) -> GovernOrder {
    GovernOrder::Mute { key: key(n), seconds: Some(60), reason: "x".repeat(REASON_BYTES_MAX) }
}

fn grant(n: usize) -> GovernOrder {
    let rights = RoleRight::ALL.iter().map(|(_, right)| *right).collect();
    GovernOrder::Grant { key: key(n), rights, seconds: Some(u32::MAX) }
}

#[test]
fn only_so_many_keys_are_banned_and_muted_until_one_is_let_off() {
    let mut state = state();
    for n in 0..BANS_MAX {
        assert_eq!(state.check_order(&ban(n, None)), Ok(()));
        state.carry_out(ADMIN, ban(n, None));
    }
    assert_eq!(state.check_order(&ban(BANS_MAX, None)), Err(Refusal::ListFull));
    assert_eq!(state.check_order(&ban(7, Some(60))), Ok(()), "other terms take no room");
    state.carry_out(ADMIN, GovernOrder::Unban { key: key(3) });
    assert_eq!(state.check_order(&ban(BANS_MAX, None)), Ok(()));

    for n in 0..MUTES_MAX {
        state.carry_out(ADMIN, mute(n));
    }
    assert_eq!(state.check_order(&mute(MUTES_MAX)), Err(Refusal::ListFull));
    assert_eq!(state.check_order(&mute(7)), Ok(()));
}

#[test]
fn what_ends_by_time_goes_first_that_ended_first_and_only_so_much_of_it_in_a_turn() {
    let mut state = state();
    let count = ENDINGS_PER_TURN_MAX + 3;
    for n in 0..count {
        state.carry_out(ADMIN, ban(n, Some(60 + n as u32)));
    }
    state.governance.time += 3_600_000;
    // None of them counts any more.
    assert!((0..count).all(|n| state.people.ban(&key(n), state.governance.time).is_none()));

    state.end_by_time();
    let left: Vec<_> = (0..count).filter(|n| state.people.bans.contains(&key(*n))).collect();
    assert_eq!(left, [count - 3, count - 2, count - 1]);
    state.end_by_time();
    assert_eq!(state.people.bans.len(), 0);
}

#[test]
fn only_so_many_keys_have_roles_and_only_so_many_things_stand_still() {
    let mut state = state();
    for n in 0..=ROLES_MAX {
        state.put_player(key(n), player(None));
    }
    for n in 0..ROLES_MAX {
        state.carry_out(ADMIN, grant(n));
    }
    assert_eq!(state.check_order(&grant(ROLES_MAX)), Err(Refusal::ListFull));
    assert_eq!(state.check_order(&grant(7)), Ok(()), "one who has a role takes no more room");
    for n in 1..ADMINS_MAX {
        state.carry_out(ADMIN, GovernOrder::NameAdmin { key: key(n) });
    }
    let name = GovernOrder::NameAdmin { key: key(ADMINS_MAX) };
    assert_eq!(state.check_order(&name), Err(Refusal::ListFull));

    let frozen = crate::rules::FrozenThing { by: ADMIN, scripts: Vec::new() };
    for n in 0..FROZEN_MAX as u64 {
        state.people.frozen.insert(ObjectId(n + 1), frozen.clone());
    }
    let freeze = GovernOrder::Freeze { object: ObjectId(FROZEN_MAX as u64 + 1) };
    assert_eq!(state.check_order(&freeze), Err(Refusal::ListFull));
}

/// Gives somebody the rights that are for areas, on this area and until another time than all others.
fn grant_area(n: usize, area: GroundArea) -> GovernOrder {
    let rights = RoleRight::ALL.iter().map(|(_, right)| *right);
    let rights = rights.filter(|right| right.is_for_area()).collect();
    GovernOrder::GrantArea { key: key(n), rights, area, seconds: Some(u32::MAX) }
}

fn nth_area(n: usize) -> GroundArea {
    GroundArea { x: n as i32, y: -8, width: 1, depth: 2 }
}

#[test]
fn only_so_many_areas_are_of_one_key_and_of_all_until_one_is_taken_back() {
    let mut state = state();
    let people = RIGHTS_AREAS_MAX / RIGHTS_AREAS_PER_KEY_MAX;
    for n in 0..=people {
        state.put_player(key(n), player(None));
    }
    for n in 0..people {
        for area in 0..RIGHTS_AREAS_PER_KEY_MAX {
            assert_eq!(state.check_order(&grant_area(n, nth_area(area))), Ok(()));
            state.carry_out(ADMIN, grant_area(n, nth_area(area)));
        }
        let one_more = grant_area(n, nth_area(RIGHTS_AREAS_PER_KEY_MAX));
        assert_eq!(state.check_order(&one_more), Err(Refusal::ListFull));
        assert_eq!(state.check_order(&grant_area(n, nth_area(1))), Ok(()), "no area more");
    }
    let areas = state.people.roles.iter().map(|(_, role)| role.areas.len());
    assert_eq!(areas.sum::<usize>(), RIGHTS_AREAS_MAX);
    let of_another = grant_area(people, nth_area(0));
    assert_eq!(state.check_order(&of_another), Err(Refusal::ListFull));
    let entry = (key(0), state.people.roles.get(&key(0)).expect("a role").clone());
    let bytes = wire::length(&entry);
    assert!(bytes <= RIGHTS_AREAS_PER_KEY_MAX * 160 + wire::length(&key(0)) + 2, "{bytes}");

    let rights = RoleRight::ALL.iter().map(|(_, right)| *right);
    let rights: BTreeSet<RoleRight> = rights.filter(|right| right.is_for_area()).collect();
    let (key, area) = (key(3), nth_area(2));
    let revoke = GovernOrder::RevokeArea { key, rights, area };
    assert_eq!(state.check_order(&revoke), Ok(()));
    state.carry_out(ADMIN, revoke.clone());
    assert_eq!(state.check_order(&revoke), Err(Refusal::AlreadySo));
    assert_eq!(state.check_order(&of_another), Ok(()));
    // What ends by time makes room as well.
    state.governance.time = u64::MAX / 2;
    for _ in 0..3 * RIGHTS_AREAS_MAX / ENDINGS_PER_TURN_MAX {
        assert!(state.people.roles.len() > 0);
        state.end_by_time();
    }
    assert_eq!(state.people.roles.len(), 0);
    for n in 0..people {
        assert_eq!(state.check_order(&grant_area(n, nth_area(0))), Ok(()));
    }
}

#[test]
fn only_the_last_orders_are_kept_and_the_count_goes_on() {
    let mut state = state();
    let deed = OrderedDeed::Govern(GovernOrder::Kick { key: key(1) });
    for n in 0..ORDERS_KEPT + 5 {
        let (height, warrant) = (Height(n), Warrant::Permanent);
        state.record_order(RecordedOrder { height, by: ADMIN, warrant, deed: deed.clone() });
    }
    let kept: Vec<u64> = state.people.orders.iter().map(|(number, _)| *number).collect();
    assert_eq!(kept, (5..ORDERS_KEPT + 5).collect::<Vec<_>>());
    assert_eq!(state.governance.orders, ORDERS_KEPT + 5);
}

/// The comments of the limits, and the length of a snapshot, rely on these.
#[test]
fn the_longest_entries_are_as_long_as_the_limits_say() {
    let contact = NodeContact {
        peer_id: "x".repeat(CONTACT_BYTES_MAX),
        address: "x".repeat(CONTACT_BYTES_MAX),
    };
    let servers = OrderedDeed::Servers(SetChange::Reserve { key: ADMIN, contact });
    let text = "x".repeat(MOTD_BYTES_MAX);
    for deed in [servers, OrderedDeed::Govern(GovernOrder::Announce { text })] {
        let order = RecordedOrder {
            height: Height(u64::MAX),
            by: ADMIN,
            warrant: Warrant::Permanent,
            deed,
        };
        assert!(wire::length(&(u64::MAX, order)) <= 800);
    }
    let mut state = state();
    state.governance.time = u64::MAX / 2;
    state.carry_out(ADMIN, ban(1, Some(u32::MAX)));
    state.carry_out(ADMIN, grant(1));
    let bytes = wire::length(&(key(1), state.people.bans.get(&key(1)).expect("banned")));
    assert!(bytes <= 280, "{bytes}");
    let bytes = wire::length(&(key(1), state.people.roles.get(&key(1)).expect("a role")));
    assert!(bytes <= 400, "{bytes}");
}

/// Returns a state with so many players, of whom so many are logged in, and full lists.
fn crowd(known: usize, online: usize) -> State {
    let mut state = state();
    for n in 0..known {
        let session = (n < online).then(|| PlayerSession {
            lane: Lane(1),
            presence: Presence::Seatless,
            heading: Vec2::ZERO,
            lease: Tick(1_000),
            acted: Tick(n as u64),
            pushed: None,
            gesture: None,
            permits: Vec::new(),
        });
        state.put_player(key(n), player(session));
    }
    for n in online..online + BANS_MAX {
        state.carry_out(ADMIN, ban(n, Some(86_400 + n as u32)));
        state.carry_out(ADMIN, mute(n));
        state.carry_out(ADMIN, grant(n + BANS_MAX));
    }
    state
}

/// What governance adds to the hashing of a turn: time, what ends by it, the line, the orders of the turn.
/// The other leaves are those of an idle sim.
#[test]
fn governance_of_a_hundred_thousand_players_hashes_little_in_a_turn() {
    let (known, online, turns) = (100_000, 2_000, 200_u64);
    let mut state = crowd(known, online);
    let mut leaves = StateLeaves::of(&mut state);
    let mut most = 0;
    for turn in 1..=turns {
        let before = leaves.hashed_bytes();
        let header = HeaderId(Digest::of("a turn", &turn.to_le_bytes()));
        state.begin_turn(Height(turn), Millis(50 * turn), header);
        // An order of each kind that changes a list.
        let n = online + turn as usize;
        state.carry_out(ADMIN, ban(n, Some(3_600)));
        state.carry_out(ADMIN, mute(n));
        state.carry_out(ADMIN, grant(n + BANS_MAX));
        let deed = OrderedDeed::Govern(ban(n, Some(3_600)));
        let (height, warrant) = (Height(turn), Warrant::Permanent);
        state.record_order(RecordedOrder { height, by: ADMIN, warrant, deed });
        leaves.refresh(&mut state);
        most = most.max(leaves.hashed_bytes() - before);
    }
    println!(
        "{known} players known, {online} online, {BANS_MAX} bans, mutes and roles: a turn with four \
         orders hashes {most} bytes at most"
    );
    // blake3 hashes a byte in less than a nanosecond: that is a quarter of a millisecond.
    assert!(most < 256 * 1_024, "{most} bytes");
}
