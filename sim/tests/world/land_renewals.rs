//! Renewals of grants: a square goes on while its sim shows that it runs.

use metatopia_sim::{
    ActFault, FirstLogin, Judging, LaneWindows, OrderedDeed, Register,
    limits::{
        BEACONS_CHANGE_MS_MIN, LAND_LAPSES_PER_TURN, LAND_SIGNATURES_PER_TURN_MAX,
        SHOWN_AHEAD_MS_MAX,
    },
};
use metatopia_types::{
    Act, Digest, Envelope, GenesisHead, HeadParent, Height, LandGrant, LandOrder, Link, Look,
    Millis, Outcome, Refusal, Root, TilePoint,
    limits::{RENEWAL_LINKS_MAX, ROOT_LAG},
};

use crate::{
    land_office::{
        ADMIN, DAY_MS, Shown, claim_by, come, free_office, granted, office, office_builder,
        ordered, refused, sim_on, square, visited,
    },
    yard::{T0, Yard, public},
};

/// Voters of the sim of player 1: four of them.
const VOTERS: [u8; 4] = [30, 31, 32, 33];

/// An office in which player 1 has the square east of the office's.
fn with_neighbour() -> (Yard, metatopia_types::SimId) {
    let mut yard = office();
    let head = sim_on(yard.world.sim(), square(2, 0), 1, 4).head();
    let sim = head.id();
    let order = claim_by(&yard, 1, head, Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
    (yard, sim)
}

fn grant(yard: &Yard) -> &LandGrant {
    yard.world.grant_at(TilePoint { x: 2, y: 0 }).expect("it is granted")
}

/// Lets so many days of governance time pass, in turns of a minute.
fn days(yard: &mut Yard, days: u64) {
    pass(yard, days * 24 * 60);
}

fn pass(yard: &mut Yard, turns: u64) {
    yard.turn_ms = 60_000;
    yard.idle(turns);
}

#[test]
fn a_header_of_today_renews_a_grant_for_a_month() {
    let (mut yard, sim) = with_neighbour();
    let (until, epoch) = (grant(&yard).until, grant(&yard).epoch);
    days(&mut yard, 20);
    come(&mut yard);
    let shown = Shown::now(&yard, sim, 40, &VOTERS);
    assert_eq!(ordered(&mut yard, 1, &shown.renew(square(2, 0), vec![])), Outcome::Ok);
    assert_eq!(grant(&yard).shown, Height(40));
    assert!(grant(&yard).until.0 >= until.0 + 20 * DAY_MS - 600_000);
    assert_eq!(grant(&yard).epoch, epoch);

    // Its beacons renew as well as its holder does: they are keys of its servers.
    let set = LandOrder::SetBeacons { square: square(2, 0), beacons: vec![public(2)] };
    assert_eq!(ordered(&mut yard, 1, &set), Outcome::Ok);
    let next = Shown::now(&yard, sim, 41, &VOTERS).renew(square(2, 0), vec![]);
    assert_eq!(ordered(&mut yard, 3, &next), refused(Refusal::NotYours));
    assert_eq!(ordered(&mut yard, 2, &next), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_header_that_is_old_of_the_future_forged_or_known_renews_nothing() {
    let (mut yard, sim) = with_neighbour();
    yard.turn_ms = 1_000;
    yard.idle(9);
    let good = Shown::now(&yard, sim, 40, &VOTERS);
    let with = |change: &dyn Fn(&mut Shown)| {
        let mut shown = good.clone();
        change(&mut shown);
        shown.renew(square(2, 0), vec![])
    };
    let ahead = |yard: &Yard, over: u64| {
        let time = T0 + yard.turn_ms * (yard.world.height().0 + 1) + SHOWN_AHEAD_MS_MAX + over;
        Shown { time, height: 5, ..good.clone() }.renew(square(2, 0), vec![])
    };
    let early = ahead(&yard, 1);
    assert_eq!(ordered(&mut yard, 1, &early), refused(Refusal::OldHeader));
    let early = ahead(&yard, 0);
    assert_eq!(ordered(&mut yard, 1, &early), Outcome::Ok);
    let stranger = metatopia_types::SimId(Digest([7; 32]));
    for (order, refusal) in [
        (with(&|shown| shown.height = 5), Refusal::OldHeader),
        (with(&|shown| shown.time -= 30 * DAY_MS), Refusal::OldHeader),
        (with(&|shown| shown.time += 3_600_000), Refusal::OldHeader),
        (with(&|shown| shown.signers.truncate(2)), Refusal::NotCertified),
        (with(&|shown| shown.signers = vec![30, 30, 30, 30]), Refusal::NotCertified),
        (with(&|shown| shown.sim = stranger), Refusal::NotCertified),
        (with(&|shown| shown.voters = vec![60]), Refusal::NotCertified),
        (good.renew(square(0, 0), vec![]), Refusal::NotYours),
        (good.renew(square(4, 0), vec![]), Refusal::NoGrant),
    ] {
        assert_eq!(ordered(&mut yard, 1, &order), refused(refusal), "{order:?}");
    }
    assert_eq!(
        ordered(&mut yard, ADMIN, &good.renew(square(0, 0), vec![])),
        refused(Refusal::OfficeStays)
    );
    let LandOrder::Renew { header, .. } = good.renew(square(2, 0), vec![]) else { panic!() };
    let other = good.link();
    let mut certificate = other.certificate;
    certificate.height = Height(41);
    let mixed = LandOrder::Renew { square: square(2, 0), links: vec![], header, certificate };
    assert_eq!(ordered(&mut yard, 1, &mixed), refused(Refusal::NotCertified));

    assert_eq!(ordered(&mut yard, 1, &good.renew(square(2, 0), vec![])), Outcome::Ok);
    let again = refused(Refusal::OldHeader);
    assert_eq!(ordered(&mut yard, 1, &good.renew(square(2, 0), vec![])), again);
}

/// Changes of who votes, at heights 10, 20, .., from each set to the next one.
fn changes(yard: &Yard, sim: metatopia_types::SimId, sets: &[Vec<u8>]) -> Vec<Link> {
    let link = |(n, pair): (u64, &[Vec<u8>])| {
        let next = pair[1].clone();
        Shown { next, ..Shown::now(yard, sim, 10 * n, &pair[0]) }.link()
    };
    (1..).zip(sets.windows(2)).map(link).collect()
}

#[test]
fn a_renewal_follows_the_changes_of_who_votes() {
    let (mut yard, sim) = with_neighbour();
    let sets: Vec<Vec<u8>> = (0..=4).map(|n| (30 + n..34 + n).collect()).collect();
    let links = changes(&yard, sim, &sets);
    let shown = Shown::now(&yard, sim, 35, &sets[3]);
    let without = shown.renew(square(2, 0), links[1..3].to_vec());
    assert_eq!(ordered(&mut yard, 1, &without), refused(Refusal::NotCertified), "one is missing");
    let swapped = vec![links[1].clone(), links[0].clone()];
    let swapped = Shown::now(&yard, sim, 25, &sets[2]).renew(square(2, 0), swapped);
    assert_eq!(ordered(&mut yard, 1, &swapped), refused(Refusal::NotCertified));
    let many = Shown::now(&yard, sim, 45, &sets[4]).renew(square(2, 0), links.clone());
    assert_eq!(links.len(), RENEWAL_LINKS_MAX + 1);
    assert_eq!(ordered(&mut yard, 1, &many), refused(Refusal::OutOfRange));

    let most = shown.renew(square(2, 0), links[..3].to_vec());
    assert_eq!(ordered(&mut yard, 1, &most), Outcome::Ok);
    let known = yard.world.granted(&sim).expect("it has a square").set();
    assert_eq!(known, crate::land_office::set_of(sets[3].iter().copied()));

    // What was shown before is passed over, and the set that the office knows goes on.
    let later = Shown::now(&yard, sim, 50, &sets[4]).renew(square(2, 0), links[2..].to_vec());
    assert_eq!(ordered(&mut yard, 1, &later), Outcome::Ok);
}

#[test]
fn a_header_that_changed_who_votes_is_the_first_link_of_the_next_renewal() {
    let (mut yard, sim) = with_neighbour();
    let sets: Vec<Vec<u8>> = (0..=1).map(|n| (30 + n..34 + n).collect()).collect();
    let links = changes(&yard, sim, &sets);
    let Link { header, certificate, .. } = links[0].clone();
    let first = LandOrder::Renew { square: square(2, 0), links: vec![], header, certificate };
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    let next = Shown::now(&yard, sim, 11, &sets[1]).renew(square(2, 0), links);
    assert_eq!(ordered(&mut yard, 1, &next), Outcome::Ok);
}

#[test]
fn a_square_whose_sim_shows_nothing_falls_back_after_a_month_of_the_office() {
    let (mut yard, sim) = with_neighbour();
    // An office that was away for years lets nothing lapse: its governance time stands still.
    yard.turn_ms = 400 * DAY_MS;
    yard.play();
    let left = grant(&yard).until.0 - yard.world.governance().time;
    assert!(left > 30 * DAY_MS - 3_600_000);

    // Turns of a minute of governance time, which begin after the jump.
    yard.turn_ms = 400 * DAY_MS;
    yard.idle((left - 1) / 60_000);
    assert_eq!(granted(&yard.world).len(), 2);
    yard.play();
    assert_eq!(granted(&yard.world).len(), 1, "its time is over");
    come(&mut yard);
    let late = Shown::now(&yard, sim, 40, &VOTERS).renew(square(2, 0), vec![]);
    assert_eq!(ordered(&mut yard, 1, &late), refused(Refusal::NoGrant));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn so_many_squares_fall_back_in_one_turn() {
    let mut yard = free_office();
    let count = LAND_LAPSES_PER_TURN as i32 + 5;
    for x in 1..=count {
        // One key may claim sixteen squares in a turn.
        let holder = if x % 2 == 0 { 1 } else { 2 };
        let head = sim_on(yard.world.sim(), square(4 * x, 0), holder, 1).head();
        let order = claim_by(&yard, holder, head, None);
        yard.order(holder, order.blob());
    }
    yard.play();
    assert_eq!(granted(&yard.world).len() as i32, count + 1);
    let until = yard.world.grants().map(|grant| grant.until).min().unwrap_or(Millis(0));
    yard.turn_ms = 60_000 + 50;
    while yard.world.governance().time + 60_000 < until.0 {
        yard.play();
    }
    assert_eq!(granted(&yard.world).len() as i32, count + 1);
    yard.play();
    assert_eq!(granted(&yard.world).len(), 6);
    yard.play();
    assert_eq!(granted(&yard.world).len(), 1);
}

#[test]
fn admins_take_back_a_square_whose_sim_never_ran() {
    let (mut yard, sim) = with_neighbour();
    let take = |at| LandOrder::TakeBack { square: at };
    assert_eq!(ordered(&mut yard, 2, &take(square(2, 0))), refused(Refusal::NotAdmin));
    assert_eq!(ordered(&mut yard, ADMIN, &take(square(0, 0))), refused(Refusal::OfficeStays));
    assert_eq!(ordered(&mut yard, ADMIN, &take(square(2, 0))), Outcome::Ok);
    assert_eq!(ordered(&mut yard, ADMIN, &take(square(2, 0))), refused(Refusal::NoGrant));
    let deeds: Vec<_> = yard.world.orders().map(|(_, order)| order.deed.clone()).collect();
    assert_eq!(deeds, [OrderedDeed::TakeBack { square: square(2, 0) }]);

    let head = sim_on(yard.world.sim(), square(2, 0), 1, 4).head();
    let claim = claim_by(&yard, 1, head, Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &claim), Outcome::Ok);
    let shown = Shown::now(&yard, sim, 1, &VOTERS).renew(square(2, 0), vec![]);
    assert_eq!(ordered(&mut yard, 1, &shown), Outcome::Ok);
    assert_eq!(ordered(&mut yard, ADMIN, &take(square(2, 0))), refused(Refusal::SimRuns));
}

/// Heights of a successor begin anew, so its grant shows none. Admins of the office took the square of a sim
/// that had run for years.
#[test]
fn a_square_whose_sim_ran_is_not_taken_back_from_its_successor() {
    let (mut yard, sim) = with_neighbour();
    let shown = Shown::now(&yard, sim, 1, &VOTERS).renew(square(2, 0), vec![]);
    assert_eq!(ordered(&mut yard, 1, &shown), Outcome::Ok);
    let successor = |of, seed| {
        let parent = HeadParent { sim: of, height: Height(1), root: Root(Digest::ZERO) };
        let head = sim_on(yard.world.sim(), square(2, 0), 1, seed).head();
        GenesisHead { parent: Some(parent), ..head }
    };
    let first = successor(sim, 5);
    let heads = [first.clone(), successor(first.id(), 6)];
    for head in heads {
        let pass = LandOrder::Succeed { square: square(2, 0), head };
        assert_eq!(ordered(&mut yard, 1, &pass), Outcome::Ok);
        assert_eq!(grant(&yard).shown, Height(0));
        let take = LandOrder::TakeBack { square: square(2, 0) };
        assert_eq!(ordered(&mut yard, ADMIN, &take), refused(Refusal::SimRuns));
    }
    // Holders give it back, and that counts for nobody who comes after them.
    let release = LandOrder::Release { square: square(2, 0) };
    assert_eq!(ordered(&mut yard, 1, &release), Outcome::Ok);
    let head = sim_on(yard.world.sim(), square(2, 0), 1, 7).head();
    let claim = claim_by(&yard, 1, head, Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &claim), Outcome::Ok);
    let take = LandOrder::TakeBack { square: square(2, 0) };
    assert_eq!(ordered(&mut yard, ADMIN, &take), Outcome::Ok);
}

#[test]
fn a_turn_checks_so_many_signatures_of_renewals() {
    // Five sims of 31 validators: a turn has room for the certificates of four.
    assert_eq!(LAND_SIGNATURES_PER_TURN_MAX / 31, 4);
    let mut builder = office_builder();
    builder.genesis.parameters.land_claims = metatopia_sim::LandClaims::Anybody;
    builder.genesis.parameters.land_per_key = 20;
    let mut yard = visited(&builder);
    let world = yard.world.sim();
    let sims: Vec<_> = (1..=5).map(|x| sim_on(world, square(8 * x, 0), 1, 31).head()).collect();
    for head in &sims {
        let order = claim_by(&yard, 1, head.clone(), None);
        assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
    }
    let voters: Vec<u8> = (30..61).collect();
    let acts: Vec<_> = (1..)
        .zip(&sims)
        .map(|(x, head)| {
            let order = Shown::now(&yard, head.id(), 5, &voters).renew(square(8 * x, 0), vec![]);
            yard.order(1, order.blob())
        })
        .collect();
    yard.play();
    let outcomes: Vec<Outcome> = acts.iter().map(|act| yard.outcome(act)).collect();
    assert_eq!(outcomes[..4], [Outcome::Ok; 4]);
    assert_eq!(outcomes[4], refused(Refusal::TooOften));
}

/// Judges a first login of the n-th key without a ticket in the next turn, by the world and by the register
/// that a server keeps beside it.
fn judged(yard: &Yard, n: u8) -> Result<(), ActFault> {
    let mut other = Yard::of(yard.world.clone());
    let (name, look) = (format!("server {n}"), Look::default());
    let act = other.act(n, Act::Login { name, look, bot: true, pass: None }).envelope;
    let height = yard.world.height().plus(1);
    let act = Envelope { last_valid: height.plus(9), ..act };
    let judging = Judging { standings: &yard.world, proposer: None };
    let by_world = LaneWindows::default().admission(height, None, judging).check(&act);
    let register = Register::of(&yard.world);
    let judging = Judging { standings: &register, proposer: None };
    let by_register = LaneWindows::default().admission(height, None, judging).check(&act);
    assert_eq!(by_world, by_register);
    by_world
}

/// In an office by invitation all squares lapsed: servers log in by keys of beacons, which have no ticket,
/// and nobody was let in to renew.
#[test]
fn an_office_by_invitation_lets_holders_and_beacons_in_without_a_ticket() {
    for (first_login, fault) in
        [(FirstLogin::Invite, ActFault::NoTicket), (FirstLogin::Closed, ActFault::Closed)]
    {
        let mut builder = office_builder();
        builder.genesis.parameters.first_login = first_login;
        let mut yard = builder.build();
        yard.login(ADMIN);
        yard.play();
        let of_office = crate::land_office::BEACON;
        assert_eq!(judged(&yard, of_office), Ok(()), "{first_login:?}");
        assert_eq!(judged(&yard, 60), Err(fault));

        let beacons = vec![public(60), public(61)];
        let set = LandOrder::SetBeacons { square: square(0, 0), beacons };
        assert_eq!(ordered(&mut yard, ADMIN, &set), Outcome::Ok);
        // Turns are judged by the state whose root their headers carry.
        let before = [judged(&yard, 60), judged(&yard, of_office)];
        assert_eq!(before, [Err(fault), Ok(())], "{first_login:?}");
        yard.idle(ROOT_LAG);
        assert_eq!([judged(&yard, 60), judged(&yard, 61)], [Ok(()), Ok(())]);
        assert_eq!(judged(&yard, of_office), Err(fault), "its key signs no more");
        yard.login(60);
        yard.play();
        assert!(yard.world.player(&public(60)).is_some());
        assert_eq!(yard.world.root(), yard.world.rehash());
    }
}

/// Each beacon may enter an office by invitation, and a holder named others as often as it liked: it let in
/// anybody.
#[test]
fn beacons_change_once_a_day_and_other_orders_do_not_begin_the_day_anew() {
    let (mut yard, sim) = with_neighbour();
    let at = square(2, 0);
    let set =
        |keys: [u8; 2]| LandOrder::SetBeacons { square: at, beacons: keys.map(public).into() };
    assert_eq!(ordered(&mut yard, 1, &set([60, 61])), Outcome::Ok);
    let wait = |outcome| match outcome {
        Outcome::Refused(Refusal::BeaconsWait(minutes)) => u64::from(minutes),
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(ordered(&mut yard, 1, &set([62, 63]))), 24 * 60);
    // The same keys are no change, so that a command may be given again.
    assert_eq!(ordered(&mut yard, 1, &set([61, 60])), Outcome::Ok);

    pass(&mut yard, 10);
    come(&mut yard);
    let shown = Shown::now(&yard, sim, 40, &VOTERS);
    assert_eq!(ordered(&mut yard, 1, &shown.renew(at, vec![])), Outcome::Ok);
    for (from, to) in [(1, 2), (2, 1)] {
        let give = LandOrder::Give { square: at, holder: public(to) };
        assert_eq!(ordered(&mut yard, from, &give), Outcome::Ok);
    }
    let left = wait(ordered(&mut yard, 1, &set([62, 63])));
    assert!((24 * 60 - 20..24 * 60).contains(&left), "{left}");
    assert_eq!(grant(&yard).beacons, [61, 60].map(public));

    // One that was stolen is left out at once, and does not come back that day.
    let one = LandOrder::SetBeacons { square: at, beacons: vec![public(61)] };
    assert_eq!(ordered(&mut yard, 1, &one), Outcome::Ok);
    assert_eq!(grant(&yard).beacons, [public(61)]);
    wait(ordered(&mut yard, 1, &set([61, 60])));

    pass(&mut yard, left);
    come(&mut yard);
    assert_eq!(ordered(&mut yard, 1, &set([62, 63])), Outcome::Ok);
    assert_eq!(BEACONS_CHANGE_MS_MIN, DAY_MS);
    assert_eq!(yard.world.root(), yard.world.rehash());
}
