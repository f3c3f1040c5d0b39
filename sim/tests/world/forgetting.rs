//! Keys that cost nothing against the rule of the temp admin.

use metatopia_sim::limits::PLAYERS_MAX;
use metatopia_types::{Act, Emote, Look, NodeContact, Outcome, PublicKey, SetChange};

use crate::yard::{Builder, Yard, public};

const ALICE: u8 = 100;
const BOB: u8 = 2;
const CHARLIE: u8 = 3;

/// Turns of a day: each adds a minute.
const DAY: u64 = 24 * 60;

fn stranger(n: u64) -> PublicKey {
    PublicKey(*blake3::hash(&n.to_le_bytes()).as_bytes())
}

fn visit(yard: &mut Yard, n: u8) {
    yard.login(n);
    yard.act(n, Act::Leave);
}

/// Plays 41 days. Alice is admin and comes on day 0 and on day 39. Charlie is older than Bob, and away from
/// day 3 to day 35. Returns who decides at the end of each day.
fn bob_and_charlie(passers_by: u64) -> (Yard, Vec<Option<PublicKey>>) {
    let mut yard = Builder::new().build();
    yard.turn_ms = 60_000;
    let mut decides = Vec::new();
    let mut strangers = 0..passers_by;
    for day in 0..41 {
        for turn in 0..DAY {
            match (day, turn) {
                (0 | 39, 10) => visit(&mut yard, ALICE),
                (0..=2 | 35, 20) => visit(&mut yard, CHARLIE),
                (1..=3 | 10 | 17 | 24 | 29 | 34, 30) => visit(&mut yard, BOB),
                (1..=38, 100..) => strangers.by_ref().take(64).for_each(|n| {
                    let look = Look::default();
                    yard.unsigned(stranger(n), 1, Act::login(format!("passer-by {n}"), look));
                    yard.unsigned(stranger(n), 2, Act::Leave);
                }),
                _ => {}
            }
            yard.play();
            yard.log.truncate(1);
        }
        decides.push(yard.world.governance().temp_admin);
    }
    assert_eq!(strangers.count(), 0, "all of them came");
    (yard, decides)
}

#[test]
fn bob_and_charlie_inherit_a_sim_as_if_a_hundred_thousand_passers_by_had_never_come() {
    let (_, alone) = bob_and_charlie(0);
    let (yard, crowded) = bob_and_charlie(100_000);

    assert_eq!(alone[29], None);
    assert_eq!(alone[30..35], [Some(public(BOB)); 5]);
    assert_eq!(alone[35..39], [Some(public(CHARLIE)); 4]);
    assert_eq!(alone[39..], [None; 2]);
    assert_eq!(crowded, alone);
    let players = yard.world.player_count();
    assert!(players <= PLAYERS_MAX - PLAYERS_MAX / 4, "{players} are remembered");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// More attackers than there are seats keep them all, and never miss a chance to log in. The admin
/// comes by every time a third of the days have passed after which a sim counts as abandoned.
#[test]
fn free_keys_never_take_a_sim_over_from_an_admin_who_comes_by() {
    let mut builder = Builder::new();
    let parameters = &mut builder.genesis.parameters;
    (parameters.avatars_max, parameters.ticks_per_turn) = (8, 60);
    (parameters.admin_days, parameters.player_days, parameters.seen_days) = (3, 2, 1);
    (parameters.lease_ticks, parameters.grace_ticks) = (40 * 60, 0);
    let mut yard = builder.build();
    yard.turn_ms = 60_000;
    for turn in 0..8 * DAY {
        if turn % 20 == 0 {
            for n in 1..=16 {
                // Whoever is out tries to come in; whoever is in keeps the seat.
                yard.login(n);
                yard.act(n, Act::Emote(Emote::Wave));
                let contact = NodeContact::default();
                let add = SetChange::Add { key: public(n + 20), contact };
                yard.act(n, Act::SetChange(add));
            }
        }
        let admin = (turn % DAY == 5).then(|| yard.login(ALICE));
        yard.play();
        yard.log.truncate(1);
        if let Some(admin) = admin {
            assert_eq!(yard.outcome(&admin), Outcome::Ok, "on day {}", turn / DAY);
        }
        assert_eq!(yard.world.governance().temp_admin, None, "after turn {turn}");
    }
    assert_eq!(yard.world.present().count(), 8, "no seat is free");
    assert!(yard.world.roster().standbys().is_empty());

    // Without the admin it ends otherwise: it is she who keeps them out.
    for _ in 0..3 {
        (1..=16).for_each(|n| drop(yard.login(n)));
        yard.idle(DAY);
        yard.log.truncate(1);
    }
    assert!(yard.world.governance().temp_admin.is_some());
}
