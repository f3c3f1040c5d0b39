//! Keys cost nothing, and land does: what ten thousand of them get in an hour.

use metatopia_math::Fx;
use metatopia_sim::limits::{ARRIVALS_PER_TURN_MAX, LAND_BYTES_MAX, LAND_KEYS_CHANGED_MAX};
use metatopia_types::{
    Act, LandOrder, LandSponsor, Look, Outcome, Refusal, Sign as _, SigningKey, Site,
    limits::{BEACONS_MAX, VALIDATORS_MAX},
};

use crate::{
    byte_budget::leave,
    land_office::{
        ADMIN, DAY_MS, claim, claim_by, come, free_office, granted, office_builder, order, ordered,
        refused, sim_on, square, visited,
    },
    yard::{T0, Yard, public},
};

const KEYS: u32 = 10_000;

fn sybil(n: u32) -> SigningKey {
    let mut seed = [77; 32];
    seed[..4].copy_from_slice(&n.to_be_bytes());
    SigningKey::from_seed(seed)
}

/// The claim of a sybil of the square `x` steps east of the office, with the word of this key.
fn claim_of(yard: &Yard, n: u32, x: i32, sponsor: &SigningKey) -> LandOrder {
    let (world, at, own) = (yard.world.sim(), square(2 * x, 0), sybil(n).public());
    let mut genesis = sim_on(world, at, 1, 1);
    genesis.site = Some(Site { world, square: at });
    genesis.admins = [own].into();
    let head = genesis.head();
    let sponsor = Some(LandSponsor::new(sponsor, world, head.id(), at, &own));
    LandOrder::Claim { head, beacons: vec![own], sponsor }
}

/// Has ten thousand keys come in groups. Each of them claims the next square of a row that begins at a square
/// of the attacker's, and the one before vouches. Returns how many squares they got.
fn attack(yard: &mut Yard, first: &SigningKey) -> usize {
    let before = granted(&yard.world).len();
    let (mut holder, mut x) = (first.secret(), 2);
    let groups = (0..KEYS).collect::<Vec<_>>();
    // All of them act within an hour of governance time.
    yard.turn_ms = 3_600_000 / u64::from(KEYS.div_ceil(ARRIVALS_PER_TURN_MAX as u32) * 3 + 70);
    for group in groups.chunks(ARRIVALS_PER_TURN_MAX) {
        for n in group {
            let login = Act::login(format!("sybil {n}"), Look::default());
            yard.unsigned(sybil(*n).public(), 1, login);
        }
        yard.play();
        for n in group {
            let order = claim_of(yard, *n, x, &SigningKey::from_seed(*holder));
            yard.unsigned_order(sybil(*n).public(), 2, order.blob());
            if yard.world.land_week().expect("an office").granted < 64 {
                yard.play();
            }
            if yard.world.grant_at(metatopia_types::TilePoint { x: 2 * x, y: 0 }).is_some() {
                (holder, x) = (sybil(*n).secret(), x + 1);
            }
        }
        yard.play();
        group.iter().for_each(|n| yard.unsigned(sybil(*n).public(), 3, Act::Leave));
        yard.play();
    }
    granted(&yard.world).len() - before
}

#[test]
fn ten_thousand_keys_get_at_most_sixty_four_squares_in_an_hour() {
    let mut builder = office_builder();
    builder.genesis.parameters.avatar.spawn_radius = Fx::from_int(20);
    let mut yard = visited(&builder);
    // The attacker has one friend who has land: the first of them, at the east of the office.
    let friend = SigningKey::from_seed([1; 32]);
    assert_eq!(friend.public(), public(1));
    let own = claim(&yard, 1, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &own), Outcome::Ok);
    let begin = yard.world.governance().time;

    let got = attack(&mut yard, &friend);

    let passed = yard.world.governance().time - begin;
    println!("{KEYS} keys got {got} squares in {} s of governance time", passed / 1_000);
    assert!(passed <= 3_600_000, "{passed} ms");
    assert_eq!(got, 63, "with the friend's own square the 64 of the week");
    assert_eq!(yard.world.root(), yard.world.rehash());

    come(&mut yard);
    let honest = claim(&yard, 2, square(0, 2), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 2, &honest), refused(Refusal::NoSquaresLeft));
    // The next week has squares again.
    assert!(yard.world.time().0 > T0);
    yard.turn_ms = 60_000;
    while yard.world.land_week().expect("an office").week == 0 {
        yard.idle(60);
    }
    assert!(yard.world.governance().time >= 7 * DAY_MS);
    come(&mut yard);
    let honest = claim(&yard, 2, square(0, 2), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 2, &honest), Outcome::Ok);
}

#[test]
fn keys_without_a_neighbour_get_nothing() {
    let mut yard = visited(&office_builder());
    let stranger = SigningKey::from_seed([200; 32]);
    for n in 0..64 {
        let login = Act::login(format!("sybil {n}"), Look::default());
        yard.unsigned(sybil(n).public(), 1, login);
    }
    yard.play();
    for n in 0..64 {
        let order = claim_of(&yard, n, 1, &stranger);
        yard.unsigned_order(sybil(n).public(), 2, order.blob());
    }
    let height = yard.play().height;
    let outcomes = yard.world.outcomes(height).expect("the last turn's");
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == refused(Refusal::NoSponsor)));
    assert_eq!(granted(&yard.world).len(), 1);
}

/// A claim of a square with as many validators and beacons as there may be.
fn largest_claim(yard: &Yard, x: i32, y: i32) -> LandOrder {
    let head = sim_on(yard.world.sim(), square(x, y), 1, VALIDATORS_MAX as u8).head();
    let LandOrder::Claim { head, sponsor, .. } = claim_by(yard, 1, head, None) else {
        panic!("a claim")
    };
    let beacons = (0..BEACONS_MAX as u8).map(|n| public(90 + n)).collect();
    LandOrder::Claim { head, beacons, sponsor }
}

#[test]
fn a_claim_takes_its_bytes_of_a_world_that_fills_up_and_finds_no_room_in_a_full_one() {
    let mut yard = free_office();
    yard.idle(metatopia_types::limits::OUTCOME_TURNS);
    come(&mut yard);
    yard.play();
    // Far from the office and side by side, so that a block of the plane is cut down to the least square.
    let (x, y) = (1 << 30, -(1 << 30));
    let mut most = 0;
    for n in 0..8 {
        let order = largest_claim(&yard, x + 2 * (n % 4), y + 2 * (n / 4));
        let before = yard.world.state_bytes();
        assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
        most = most.max(yard.world.state_bytes().saturating_sub(before));
    }
    println!("a claim takes {most} bytes at most");
    assert!(most > 4_000 && most <= LAND_BYTES_MAX as u64, "{most}");

    leave(&mut yard.world, LAND_BYTES_MAX as u64 - 1_000);
    let order = largest_claim(&yard, x, y + 8);
    assert_eq!(ordered(&mut yard, 1, &order), refused(Refusal::Full));
    let give = LandOrder::Give { square: square(x, y), holder: public(2) };
    assert_eq!(ordered(&mut yard, 1, &give), refused(Refusal::Full));
    let release = LandOrder::Release { square: square(x, y) };
    assert_eq!(ordered(&mut yard, 1, &release), Outcome::Ok);
    leave(&mut yard.world, LAND_BYTES_MAX as u64 + 1_000);
    assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
}

/// The key of a beacon that nobody else has.
fn beacon(n: u32) -> metatopia_types::PublicKey {
    sybil(KEYS + n).public()
}

/// The keys of three turns are one leaf of the state. Some 650 of them made it too long, which ended every
/// server of the office.
#[test]
fn orders_that_change_many_keys_wait_for_the_next_turns_and_renewals_do_not() {
    let mut yard = free_office();
    let claim_with_own_beacons = |yard: &Yard, n: u32| {
        let (x, holder) = (2 * i32::try_from(n).expect("few"), 1 + (n % 4) as u8);
        let LandOrder::Claim { head, sponsor, .. } = claim(yard, holder, square(x, 40), None)
        else {
            panic!("a claim")
        };
        let beacons = (0..BEACONS_MAX as u32).map(|k| beacon(n * 4 + k)).collect();
        (holder, LandOrder::Claim { head, beacons, sponsor })
    };
    let mut counts = Vec::new();
    for turn in 0..3 {
        let claims: Vec<_> =
            (60 * turn..60 * turn + 60).map(|n| claim_with_own_beacons(&yard, n)).collect();
        let acts: Vec<_> = claims.iter().map(|(n, claim)| order(&mut yard, *n, claim)).collect();
        yard.play();
        let waits = |act: &&_| yard.outcome(act) == refused(Refusal::TooOften);
        counts.push(acts.len() - acts.iter().filter(waits).count());
    }
    // Each claim changes the keys of its beacons, and those of the four holders changed as well.
    let first = (LAND_KEYS_CHANGED_MAX - 4).div_ceil(BEACONS_MAX);
    assert_eq!(counts, [first, 0, 0]);
    let claims = (180..184).map(|n| claim_with_own_beacons(&yard, n)).collect::<Vec<_>>();
    for (n, claim) in claims {
        assert_eq!(ordered(&mut yard, n, &claim), Outcome::Ok, "three turns later there is room");
    }
    assert_eq!(yard.world.root(), yard.world.rehash());
}
