//! The lists are held against plain counts over all players, after any steps.

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_types::{
    Digest, Height, Lane, Look, Millis, ObjectId, PublicKey, SimId, Tick, Title,
};

use super::super::governance::DAY_MS;
use crate::{
    limits::{FIRST_IN_LINE, SEAT_TICKS, SEATLESS_MAX},
    space::{Area, Land},
    state::{Genesis, Player, PlayerSession, Presence, Since, State},
};

/// A neighbour, from which somebody comes or to which somebody goes.
const SIM: SimId = SimId(Digest([0xb; 32]));

fn key(n: u64) -> PublicKey {
    let mut key = [7; 32];
    key[..8].copy_from_slice(&n.to_be_bytes());
    PublicKey(key)
}

/// A sim whose admin is key 1, whose server is key 2, and in which key 3 has a lot.
fn state() -> State {
    let low = Vec2::ZERO;
    let high = Vec2::new(Fx::ONE, Fx::ONE);
    let (area, title) = (Area { low, high }, Title::Player(key(3)));
    let genesis = Genesis {
        name: "empty".to_owned(),
        engine: crate::ENGINE,
        rules: crate::RULES,
        admins: [key(1)].into(),
        validators: [(key(2), Default::default())].into(),
        packages: Default::default(),
        lands: vec![Land { name: "lot".to_owned(), area, title }],
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC0-1.0".to_owned(),
        ..Genesis::empty()
    };
    State::from_genesis(&genesis).expect("a small genesis")
}

fn player(days: u32, first_seen: u64, last_login: u64) -> Player {
    Player {
        name: "x".to_owned(),
        look: Look::default(),
        first_seen,
        last_login,
        days,
        since: Since { player: Height(0), regular: None },
        spoke: None,
        bot: false,
        session: None,
    }
}

fn session(presence: Presence, acted: Tick) -> PlayerSession {
    let (lane, heading, lease) = (Lane(1), Vec2::ZERO, Tick(u64::MAX / 2));
    PlayerSession {
        lane,
        presence,
        heading,
        lease,
        acted,
        pushed: None,
        gesture: None,
        permits: Vec::new(),
    }
}

/// Returns who gives up a seat, by a look at everybody.
fn idlest(state: &State, now: Tick) -> Option<PublicKey> {
    let seats = state.players.iter().filter_map(|(key, player)| {
        let session = player.session.as_ref()?;
        session.presence.avatar()?;
        let idle = session.acted.0 + SEAT_TICKS <= now.0;
        idle.then_some((!player.bot, session.acted, *key))
    });
    seats.min().map(|(_, _, key)| key)
}

fn line(state: &State) -> Vec<PublicKey> {
    let parameters = &state.charter.parameters;
    let mut line: Vec<_> = state
        .players
        .iter()
        .filter(|(of, player)| {
            let away = state.governance.time - player.last_login;
            **of != key(1)
                && !player.bot
                && player.days >= parameters.seen_days
                && away <= u64::from(parameters.player_days) * DAY_MS
        })
        .map(|(key, player)| (player.first_seen, *key))
        .collect();
    line.sort();
    line.into_iter().map(|(_, key)| key).collect()
}

fn first_forgettable(state: &State) -> Option<PublicKey> {
    let kept: Vec<PublicKey> = line(state).into_iter().take(FIRST_IN_LINE).collect();
    let forgettable = state.players.iter().filter(|(of, player)| {
        let owns = state.objects.iter().any(|(_, object)| object.owner == Some(**of));
        player.session.is_none()
            && !owns
            && ![key(1), key(2), key(3)].contains(of)
            && !kept.contains(of)
            && state.governance.temp_admin != Some(**of)
    });
    forgettable
        .map(|(key, player)| (player.days, player.last_login, *key))
        .min()
        .map(|first| first.2)
}

fn thing(owner: PublicKey) -> crate::state::Object {
    crate::state::Object {
        kind: "thing".to_owned(),
        name: "thing".to_owned(),
        owner: Some(owner),
        player: None,
        look: Look::default(),
        text: String::new(),
        scripts: Vec::new(),
        licence: metatopia_types::AssetLicence::default(),
        author: None,
        birth: None,
        parent: None,
        travels: false,
        guest: None,
        spawner: None,
        held: None,
        seat: None,
        changed: None,
    }
}

fn step(state: &mut State, dice: &mut Stream, now: Tick) {
    let (who, now_ms) = (key(dice.below(40)), state.governance.time);
    let known = state.players.get(&who).cloned();
    match (dice.below(8), known) {
        (0 | 1, None) => {
            let mut fresh = player(dice.below(5) as u32, now_ms, now_ms);
            fresh.bot = dice.below(3) == 0;
            state.put_player(who, fresh);
        }
        (0 | 1, Some(known)) => {
            let days = known.days + dice.below(2) as u32;
            let presence = match dice.below(9) {
                0 => Presence::Seatless,
                1 => Presence::Expected { from: SIM, until: Millis(7) },
                2 => Presence::Away { to: SIM, number: 7 },
                n => Presence::Here(ObjectId(1_000 + n)),
            };
            let session = Some(session(presence, now));
            state.put_player(who, Player { session, days, last_login: now_ms, ..known });
        }
        (2, Some(_)) => state.despawn(&who),
        (3, Some(_)) => state.unseat(&who),
        (4, _) => {
            let id = state.clock.next_object;
            state.clock.next_object = id.plus(1);
            state.objects.insert(id, thing(who));
            state.own(who, id);
        }
        (5, _) => {
            let of = state.objects.iter().map(|(id, object)| (*id, object.owner)).next();
            if let Some((id, owner)) = of {
                state.objects.remove(&id);
                state.disown(owner, id);
            }
        }
        (6, _) => {
            (0..dice.below(3_000)).for_each(|_| state.governance.pass(60_000));
            state.shorten_line();
            state.appoint();
        }
        (7, _) => {
            if let Some(player) = state.first_forgettable(None) {
                state.forget(&player);
                assert!(state.players.get(&player).is_none());
            }
        }
        _ => {}
    }
}

#[test]
fn the_lists_are_what_a_look_at_everybody_finds_after_any_steps() {
    for seed in 0..40_u64 {
        let mut dice = Stream::new(&[9; 32], "census", &[seed]);
        let mut state = state();
        for n in 0..400 {
            let now = Tick(n * 60);
            step(&mut state, &mut dice, now);

            let here = format!("seed {seed}, step {n}");
            assert_eq!(state.census.idlest(now), idlest(&state, now), "{here}");
            assert_eq!(state.first_forgettable(None), first_forgettable(&state), "{here}");
            assert_eq!(state.census.line().copied().collect::<Vec<_>>(), line(&state), "{here}");
            let followed = state.census.clone();
            state.count_players();
            assert!(followed == state.census, "{here}: the lists follow from the leaves");
        }
    }
}

#[test]
fn bots_give_up_their_seats_before_people_and_nobody_within_a_minute() {
    let mut state = state();
    let seated = |acted, bot| {
        let session = Some(session(Presence::Here(ObjectId(1)), Tick(acted)));
        Player { session, bot, ..player(0, 0, 0) }
    };
    state.put_player(key(10), seated(5, false));
    state.put_player(key(11), seated(9, true));
    state.put_player(key(12), seated(9, false));

    assert_eq!(state.census.idlest(Tick(SEAT_TICKS + 4)), None);
    assert_eq!(state.census.idlest(Tick(SEAT_TICKS + 8)), Some(key(10)));
    assert_eq!(state.census.idlest(Tick(SEAT_TICKS + 9)), Some(key(11)));
    state.unseat(&key(11));
    state.unseat(&key(10));
    assert_eq!(state.census.idlest(Tick(SEAT_TICKS + 9)), Some(key(12)));
}

#[test]
fn so_many_are_logged_in_without_an_avatar_and_stewards_beside_them() {
    let mut state = state();
    let without = [
        Presence::Seatless,
        Presence::Expected { from: SIM, until: Millis(7) },
        Presence::Away { to: SIM, number: 7 },
    ];
    for (n, presence) in (0..=SEATLESS_MAX as u64).zip(without.into_iter().cycle()) {
        let session = Some(session(presence, Tick(n)));
        state.put_player(key(n), Player { session, ..player(0, 0, 0) });
    }

    state.bound_seatless();

    // Keys 1 and 2 are stewards; key 0 is the first of the others.
    let is_here = |n| state.players.get(&key(n)).is_some_and(|player| player.session.is_some());
    assert_eq!(state.census.seatless().count(), SEATLESS_MAX);
    assert!(!is_here(0) && is_here(1) && is_here(2) && is_here(3));
}

#[test]
fn who_was_seen_on_the_fewest_days_is_forgotten_first_then_who_was_away_for_longest() {
    let mut state = state();
    (0..30 * 24 * 60).for_each(|_| state.governance.pass(60_000));
    let now = state.governance.time;
    for (n, days, last_login) in
        [(10, 1, 8), (11, 1, 7), (12, 2, 0), (13, 1, 7), (14, 3, 0), (15, 9, now), (16, 4, 0)]
    {
        state.put_player(key(n), player(days, 0, last_login));
    }
    // An admin, a server, who has a lot, and who owns a thing.
    for n in [1, 2, 3, 4] {
        state.put_player(key(n), player(1, 0, 0));
    }
    state.own(key(4), ObjectId(1));
    // Who is present.
    let session = Some(session(Presence::Seatless, Tick(0)));
    state.put_player(key(5), Player { session, ..player(1, 0, 0) });

    let mut gone = Vec::new();
    while let Some(player) = state.first_forgettable(Some(3)) {
        state.forget(&player);
        gone.push(player);
    }
    assert_eq!(gone, [key(11), key(13), key(10), key(12)]);
    // Only who stands in line is never forgotten.
    while let Some(player) = state.first_forgettable(None) {
        state.forget(&player);
        gone.push(player);
    }
    assert_eq!(gone[4..], [key(14), key(16)]);
    assert_eq!(state.forgotten.iter().map(|(key, _)| *key).collect::<Vec<_>>(), gone);
    assert!(state.players.get(&key(15)).is_some());
}
