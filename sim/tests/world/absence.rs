//! Sims whose admins stay away, on virtual days: who acts for them, from when on, and for how long.

use metatopia_sim::{Serial, World};
use metatopia_types::{Act, GovernOrder, Look, Outcome, Refusal};

use crate::{
    snapshots::restored,
    yard::{Builder, Yard, public},
};

const ALICE: u8 = 100;
const BOB: u8 = 1;
const CHARLIE: u8 = 2;
const DORA: u8 = 3;

/// Turns of a day: each is a minute long.
const DAY: u64 = 1_440;

/// Returns a yard in which an admin may stay away for so many days, and a player for so many.
fn yard(admin_days: u32, player_days: u32) -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.admin_days = admin_days;
    builder.genesis.parameters.player_days = player_days;
    builder.genesis.parameters.seen_days = 3;
    // Sessions last, though a turn of a minute has the ticks of 50 ms.
    builder.genesis.parameters.lease_ticks = 1_000_000;
    let mut yard = builder.build();
    yard.turn_ms = 60_000;
    yard
}

fn day(yard: &Yard) -> u64 {
    yard.world.governance().time / 60_000 / DAY
}

/// Plays until this day begins.
fn until_day(yard: &mut Yard, day: u64) {
    let turns = (day * DAY).saturating_sub(yard.world.governance().time / 60_000);
    yard.idle(turns);
}

/// Has people log in on these days.
fn visits(yard: &mut Yard, who: &[u8], days: impl IntoIterator<Item = u64>) {
    for day in days {
        until_day(yard, day);
        for n in who {
            yard.login(*n);
        }
        yard.play();
    }
}

fn temp_admin(yard: &Yard) -> Option<u8> {
    let key = yard.world.governance().temp_admin?;
    [ALICE, BOB, CHARLIE, DORA].into_iter().find(|n| public(*n) == key)
}

fn login(n: u8) -> Act {
    Act::login(format!("player {n}"), Look::default())
}

fn appoint(n: u8) -> Act {
    Act::Govern(GovernOrder::NameAdmin { key: public(n) })
}

/// The servers of a sim beside that of the yard. They apply the same turns, and each has a past of its own.
struct OtherServers {
    /// Follows from the beginning, starts anew from its state at each look, or joined from the yard's state.
    worlds: Vec<World>,
}

impl OtherServers {
    /// One server that was there from the beginning.
    fn of(beginning: World) -> Self {
        Self { worlds: vec![beginning] }
    }

    /// Has one more server come, which goes on from the state of the yard.
    fn join(&mut self, yard: &Yard) {
        self.worlds.push(restored(&yard.world, &Builder::new().tools()));
    }

    /// Has all of them apply what was decided since: they come to the same state. The second one is then started
    /// anew.
    #[track_caller]
    fn agree(&mut self, yard: &Yard) {
        for world in &mut self.worlds {
            let next = usize::try_from(world.height().0).expect("a short history");
            for turn in &yard.log[next..] {
                world.apply(turn, &Serial);
            }
            assert_eq!(world.root(), yard.world.root(), "day {}", day(yard));
        }
        if let Some(world) = self.worlds.get_mut(1) {
            *world = restored(world, &Builder::new().tools());
        }
    }
}

#[test]
fn bob_and_charlie() {
    let mut yard = yard(30, 7);
    let mut others = OtherServers::of(restored(&yard.world, &Builder::new().tools()));
    // Alice is last seen on the day on which all begins; Charlie is a player for longer than Bob.
    visits(&mut yard, &[ALICE, CHARLIE], [0]);
    visits(&mut yard, &[CHARLIE, BOB], [1, 2]);
    visits(&mut yard, &[BOB], [3, 25]);
    others.join(&yard);
    until_day(&mut yard, 29);
    others.agree(&yard);
    others.join(&yard);
    assert_eq!(others.worlds.len(), 3, "four with that of the yard");
    until_day(&mut yard, 30);
    assert_eq!(
        temp_admin(&yard),
        None,
        "Alice logged in in the first turn, a minute after it all began"
    );
    others.agree(&yard);
    yard.play();
    assert_eq!(temp_admin(&yard), Some(BOB));
    others.agree(&yard);

    // On day 31 Bob would stay for good.
    visits(&mut yard, &[BOB], [31]);
    assert_eq!(yard.try_act(BOB, appoint(BOB)), Outcome::Refused(Refusal::NotPermanent));
    let rights = [metatopia_types::RoleRight::Servers].into();
    let servers = GovernOrder::Grant { key: public(CHARLIE), rights, seconds: None };
    let outcome = yard.try_act(BOB, Act::Govern(servers));
    assert_eq!(outcome, Outcome::Refused(Refusal::NotPermanent));
    others.agree(&yard);

    visits(&mut yard, &[BOB], [37]);
    until_day(&mut yard, 39);
    assert_eq!(temp_admin(&yard), Some(BOB));
    others.agree(&yard);
    assert_eq!(yard.try_act(CHARLIE, login(CHARLIE)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), Some(CHARLIE), "in the very turn of the login");
    others.agree(&yard);

    until_day(&mut yard, 40);
    assert_eq!(yard.try_act(ALICE, login(ALICE)), Outcome::Ok);
    assert_eq!((temp_admin(&yard), day(&yard)), (None, 40));
    others.agree(&yard);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

/// Bob, who was temp admin, shut out for good the only one before him in the line, and nobody was left to
/// whom he had to yield; a friend to whom he gave the right did it as well.
#[test]
fn a_temp_admin_shuts_out_nobody_who_would_take_his_place() {
    let mut yard = yard(30, 7);
    // Charlie lacks one day, and the login by which Charlie comes back is that.
    visits(&mut yard, &[ALICE, CHARLIE], [0]);
    visits(&mut yard, &[CHARLIE, BOB], [1]);
    visits(&mut yard, &[BOB], [2, 3, 29]);
    visits(&mut yard, &[BOB, DORA], [31, 32, 33]);
    assert_eq!(temp_admin(&yard), Some(BOB));
    let ban = |n| {
        let (key, reason) = (public(n), "mine now".to_owned());
        Act::Govern(GovernOrder::Ban { key, seconds: None, reason })
    };
    assert_eq!(yard.try_act(BOB, ban(CHARLIE)), Outcome::Refused(Refusal::NotPermanent));
    let rights = [metatopia_types::RoleRight::Moderate].into();
    let grant = GovernOrder::Grant { key: public(DORA), rights, seconds: None };
    assert_eq!(yard.try_act(BOB, Act::Govern(grant)), Outcome::Ok);
    assert_eq!(yard.try_act(DORA, ban(CHARLIE)), Outcome::Refused(Refusal::NotAdmin));
    // Who came after him is shut out as anybody else.
    let revoke = GovernOrder::Revoke {
        key: public(DORA),
        rights: [metatopia_types::RoleRight::Moderate].into(),
    };
    assert_eq!(yard.try_act(BOB, Act::Govern(revoke)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, ban(DORA)), Outcome::Ok);

    visits(&mut yard, &[BOB], [37]);
    until_day(&mut yard, 39);
    assert_eq!(temp_admin(&yard), Some(BOB));
    assert_eq!(yard.try_act(CHARLIE, login(CHARLIE)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), Some(CHARLIE));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_sim_that_nobody_visits_has_no_temp_admin_until_somebody_comes_back() {
    let mut yard = yard(5, 2);
    visits(&mut yard, &[ALICE, BOB], [0, 1, 2]);
    until_day(&mut yard, 9);
    assert_eq!(temp_admin(&yard), None);
    // Somebody new is no regular yet.
    assert_eq!(yard.try_act(DORA, login(DORA)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), None);
    assert_eq!(yard.try_act(BOB, login(BOB)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), Some(BOB));
}

#[test]
fn of_two_who_came_at_once_it_is_the_one_of_the_lesser_key() {
    let mut yard = yard(5, 3);
    visits(&mut yard, &[ALICE], [0]);
    visits(&mut yard, &[BOB, CHARLIE, DORA], [1, 2, 3]);
    until_day(&mut yard, 6);
    let first = [BOB, CHARLIE, DORA].into_iter().min_by_key(|n| public(*n));
    assert_eq!(temp_admin(&yard), first);
}

#[test]
fn a_day_more_or_less_of_either_number_is_a_day_more_or_less() {
    for (admin_days, player_days) in [(5, 3), (6, 3), (5, 2), (5, 4)] {
        let mut yard = yard(admin_days, player_days);
        visits(&mut yard, &[ALICE, BOB], [0, 1, 2]);
        // The admin's last login is of the turn after the second day: a minute later.
        let due = 2 * DAY + 1 + u64::from(admin_days) * DAY;
        let gone = 2 * DAY + 1 + u64::from(player_days) * DAY;
        let mut seen = (None, None);
        for _ in 0..8 * DAY {
            let minute = yard.world.governance().time / 60_000;
            if temp_admin(&yard).is_some() {
                seen.0.get_or_insert(minute);
            }
            let stands = yard.world.candidates(1).iter().any(|(key, _)| *key == public(BOB));
            if !stands && minute > 2 * DAY + 1 {
                seen.1.get_or_insert(minute);
            }
            yard.play();
        }
        // Bob leaves the line the minute after his last day, and is temp admin only if he is in it.
        assert_eq!(seen.1, Some(gone + 1), "{admin_days} {player_days}");
        assert_eq!(seen.0, (due <= gone).then_some(due), "{admin_days} {player_days}");
    }
}

#[test]
fn a_number_of_days_that_an_act_changes_counts_from_the_next_turn_on() {
    let amend =
        |name: &str, days: u32| Act::Amend { name: name.to_owned(), value: days.to_string() };
    let mut yard = yard(5, 7);
    visits(&mut yard, &[ALICE, BOB], [0, 1, 2]);
    // Alice stays, and only her logins count: her last one was a minute after the second day.
    let last = 2 * DAY + 1;
    let until = |yard: &mut Yard, minute: u64| {
        yard.idle(minute - yard.world.governance().time / 60_000);
        temp_admin(yard)
    };
    let set = |yard: &mut Yard, name: &str, days: u32| {
        let before = temp_admin(yard);
        assert_eq!(yard.try_act(ALICE, amend(name, days)), Outcome::Ok);
        assert_eq!(temp_admin(yard), before, "the rule is asked when a turn begins");
        yard.play();
        temp_admin(yard)
    };
    assert_eq!(until(&mut yard, last + 4 * DAY + 60), None);
    // A day less: four days are over already.
    assert_eq!(set(&mut yard, "admin_days", 4), Some(BOB));
    assert_eq!(set(&mut yard, "admin_days", 5), None);
    // A day more: nobody follows on the day on which somebody would have.
    assert_eq!(set(&mut yard, "admin_days", 6), None);
    assert_eq!(until(&mut yard, last + 6 * DAY - 1), None);
    assert_eq!(until(&mut yard, last + 6 * DAY), Some(BOB));

    // Bob was seen six days ago as well. For how long that counts, Alice changes, and not he.
    let own = yard.try_act(BOB, amend("player_days", 8));
    assert_eq!(own, Outcome::Refused(Refusal::NotPermanent));
    assert_eq!(set(&mut yard, "player_days", 6), None, "six days ago, and some minutes");
    assert_eq!(set(&mut yard, "player_days", 7), Some(BOB));
    assert_eq!(until(&mut yard, last + 7 * DAY), Some(BOB));
    assert_eq!(until(&mut yard, last + 7 * DAY + 1), None);
    assert_eq!(set(&mut yard, "player_days", 8), Some(BOB), "he stands in line again");
    yard.check_leaves();
}

/// Who acts for the admins has no role by it, so none is taken with it.
#[test]
fn a_temp_admin_is_none_any_more_by_a_name_or_a_ban_and_by_no_revoke() {
    let mut yard = yard(5, 7);
    visits(&mut yard, &[ALICE, BOB], [0]);
    visits(&mut yard, &[BOB, CHARLIE], [1, 2]);
    visits(&mut yard, &[CHARLIE], [3]);
    let moderate = || [metatopia_types::RoleRight::Moderate].into();
    let revoke = || Act::Govern(GovernOrder::Revoke { key: public(BOB), rights: moderate() });
    let grant = GovernOrder::Grant { key: public(BOB), rights: moderate(), seconds: None };
    assert_eq!(yard.try_act(ALICE, Act::Govern(grant)), Outcome::Ok);
    until_day(&mut yard, 5);
    yard.idle(2);
    assert_eq!(temp_admin(&yard), Some(BOB));

    assert_eq!(yard.try_act(ALICE, revoke()), Outcome::Ok);
    assert_eq!(yard.world.role(&public(BOB)), None);
    assert_eq!(yard.try_act(ALICE, revoke()), Outcome::Refused(Refusal::AlreadySo));
    let dismiss = Act::Govern(GovernOrder::RemoveAdmin { key: public(BOB) });
    assert_eq!(yard.try_act(ALICE, dismiss), Outcome::Refused(Refusal::AlreadySo));
    assert_eq!(temp_admin(&yard), Some(BOB), "he is first in line, and that is no role");

    // A permanent admin stands in no line.
    assert_eq!(yard.try_act(ALICE, appoint(BOB)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), Some(CHARLIE));
    yard.check_leaves();
}

/// Alice, who named Bob and was removed by him, could have gone on as an admin by her logins.
#[test]
fn an_admin_who_was_removed_is_a_player_in_line_and_the_last_one_stays() {
    let mut yard = yard(5, 7);
    visits(&mut yard, &[ALICE, BOB], [0, 1, 2]);
    assert_eq!(yard.try_act(ALICE, appoint(BOB)), Outcome::Ok);
    let remove = |n| Act::Govern(GovernOrder::RemoveAdmin { key: public(n) });
    assert_eq!(yard.try_act(BOB, remove(ALICE)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, remove(BOB)), Outcome::Refused(Refusal::LastAdmin));
    assert_eq!(yard.try_act(ALICE, remove(BOB)), Outcome::Refused(Refusal::NotAdmin));

    // Bob stays away. Her logins are a player's.
    visits(&mut yard, &[ALICE], [4, 6]);
    until_day(&mut yard, 7);
    yard.idle(2);
    assert_eq!(temp_admin(&yard), Some(ALICE), "first in line, as the sim knows her for longest");
    assert_eq!(yard.try_act(ALICE, appoint(ALICE)), Outcome::Refused(Refusal::NotPermanent));
    assert_eq!(yard.try_act(ALICE, remove(BOB)), Outcome::Refused(Refusal::NotPermanent));
    assert_eq!(yard.try_act(BOB, login(BOB)), Outcome::Ok);
    assert_eq!(temp_admin(&yard), None);
    yard.check_leaves();
}

#[test]
fn a_temp_admin_who_is_banned_is_none_any_more_and_another_one_follows() {
    let mut yard = yard(5, 7);
    visits(&mut yard, &[BOB], [0]);
    visits(&mut yard, &[BOB, CHARLIE], [1, 2]);
    visits(&mut yard, &[CHARLIE], [3]);
    // Alice never logs in again, and her session goes on: heartbeats are no logins.
    visits(&mut yard, &[ALICE], [0]);
    until_day(&mut yard, 4);
    while temp_admin(&yard).is_none() {
        yard.act(ALICE, Act::Heartbeat);
        yard.play();
    }
    assert_eq!(temp_admin(&yard), Some(BOB));
    let role = GovernOrder::Grant {
        key: public(CHARLIE),
        rights: [metatopia_types::RoleRight::Moderate].into(),
        seconds: None,
    };
    assert_eq!(yard.try_act(ALICE, Act::Govern(role)), Outcome::Ok);
    let ban = |seconds| GovernOrder::Ban { key: public(BOB), seconds, reason: String::new() };
    yard.login(CHARLIE);
    yard.play();
    // A moderator does not take the place of the temp admin by a ban.
    let outcome = yard.try_act(CHARLIE, Act::Govern(ban(None)));
    assert_eq!(outcome, Outcome::Refused(Refusal::Outranked));
    assert_eq!(yard.try_act(ALICE, Act::Govern(ban(Some(120)))), Outcome::Ok);
    assert_eq!(temp_admin(&yard), Some(CHARLIE));
    yard.idle(3);
    assert_eq!(temp_admin(&yard), Some(BOB), "the ban is over, and he was seen within seven days");
}

#[test]
fn a_sim_that_was_off_for_a_month_and_a_proposer_with_a_false_clock_age_by_a_minute() {
    let mut yard = yard(30, 7);
    visits(&mut yard, &[ALICE, BOB], [0, 1, 2]);
    until_day(&mut yard, 3);
    let before = yard.world.governance().time;
    // From here on the clock shows some years more.
    yard.turn_ms = 60_000 * 500;
    yard.play();
    assert_eq!(yard.world.governance().time, before + 60_000);
    assert_eq!((temp_admin(&yard), day(&yard)), (None, 3));
    // A clock that is set back adds nothing.
    yard.turn_ms = 60_000;
    yard.play();
    assert_eq!(yard.world.governance().time, before + 60_000);
    assert!(yard.world.candidates(1).iter().any(|(key, _)| *key == public(BOB)));
}
