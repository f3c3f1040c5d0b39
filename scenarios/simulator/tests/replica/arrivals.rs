//! Nodes that come by an invite, and servers that run twice.

use std::ops::Range;
use std::time::Duration;

use metatopia_protocol::{Answer, Grant, Question};
use metatopia_replica::fetch::ProviderFault;
use metatopia_simulator::replica::{
    Account, Newcomer, Person, PersonProfile, ReplicaSetting, ReplicaStage, invite,
};
use metatopia_simulator::{ByzantineBehaviour, SignatureKind};
use metatopia_simulator::{Class, ClusterOrder, Conditions, UnsyncedWrites};
use metatopia_types::Height;

const SECOND: Duration = Duration::from_secs(1);

/// A plaza whose servers store their states once a second, with a seat more, and its number.
fn plaza(seed: u64) -> (ReplicaSetting, usize) {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, seed);
    setting.own.snapshot_turns = 20;
    let seat = setting.add_seat();
    (setting, seat)
}

/// The admin and others come, and do something until a moment. Returns the admin's number.
fn people(stage: &mut ReplicaStage, until: Duration) -> usize {
    let come = |(number, node)| {
        let person = Person::new(stage.setting(), number, node, PersonProfile::lively(until));
        stage.invite(Duration::from_millis(70 * number), person)
    };
    (0..4).zip([0, 1, 2, 0]).map(come).min().expect("four of them")
}

/// The newcomer for this seat, with an invite of the admin's to follow, by a new header.
fn invited(stage: &mut ReplicaStage, admin: usize, seat: usize) -> Newcomer {
    let height = Height(stage.world.top() - 1);
    stage.prompt(admin, |admin, now| admin.ask(now, Question::Turn { height }));
    stage.run_for(SECOND / 5);
    let person = &mut stage.people[admin];
    let answer = person.answers.pop();
    let Some(Answer::Turn(turn)) = answer else { panic!("{answer:?}") };
    let (turn, certificate) = *turn;
    let (setting, light) = (stage.setting(), stage.people[admin].light());
    let made = invite(setting, light, (turn.header, certificate), (Grant::Follow, 1));
    Newcomer::new(stage.setting(), seat, made.expect("nobody changes the validators"))
}

#[test]
fn a_node_with_an_invite_follows_serves_a_client_and_says_nothing_about_agreement() {
    let (setting, seat) = plaza(1);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let (until, number) = (10 * SECOND, 9);
    let admin = people(&mut stage, until);
    stage.run_until(4 * SECOND);

    let newcomer = invited(&mut stage, admin, seat);
    let newcomer = stage.let_come(newcomer);
    stage.run_until(6 * SECOND);
    assert!(stage.newcomers[newcomer].is_in(), "{:?}", stage.newcomers);
    let person =
        Person::new(stage.setting(), number, seat, PersonProfile::lively(until)).at_home(seat);
    let guest = stage.invite(stage.world.now(), person);
    let crash = ClusterOrder::Crash { seat, tail: UnsyncedWrites::Lost, down: SECOND / 5 };
    stage.world.plan(8 * SECOND, crash);
    stage.run_until(until);

    let [(_, who, from)] = stage.world.cluster.replaced[..] else { panic!("it fetched a state") };
    assert_eq!(who, seat);
    assert!(from > Height(20), "{from}");
    assert_eq!(stage.world.cluster.oracle.laws.voted_since(seat, Duration::ZERO), []);
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    assert!(account.people[guest].receipted().count() > 10, "{:?}", account.people[guest].deeds);
    assert_eq!(account.fired.times(Class::Invited), 1);
}

#[test]
fn a_node_with_an_invite_drops_a_server_that_gives_it_wrong_leaves() {
    let (mut setting, seat) = plaza(2);
    let liar = 0;
    setting.liars = vec![(liar, ByzantineBehaviour::WrongRoot)];
    let name = setting.name(liar);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let admin = people(&mut stage, 7 * SECOND);
    stage.run_until(4 * SECOND);

    let newcomer = invited(&mut stage, admin, seat);
    let newcomer = stage.let_come(newcomer);
    stage.run_until(7 * SECOND);

    let [(dropped, ProviderFault::Leaf(_))] = &stage.newcomers[newcomer].dropped[..] else {
        panic!("{:?}", stage.newcomers[newcomer].dropped)
    };
    assert_eq!(*dropped, name);
    stage.finish(10 * SECOND).assert_sound();
}

/// Followers asked nobody after they had come, as no node does. Servers that were added later had no
/// connection with them, and once only those proposed, nothing that was done at such a follower was
/// decided (whole seed 50161).
#[test]
fn a_follower_asks_a_server_that_did_not_run_when_it_came() {
    let (setting, seat) = plaza(7);
    let (name, away) = (setting.name(seat), 3);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let admin = people(&mut stage, 8 * SECOND);
    stage.run_until(4 * SECOND);
    let newcomer = invited(&mut stage, admin, seat);
    let (now, tail, down) = (stage.world.now(), UnsyncedWrites::Kept, 3 * SECOND);
    stage.world.plan(now, ClusterOrder::Crash { seat: away, tail, down });
    stage.run_for(SECOND / 100);

    let newcomer = stage.let_come(newcomer);
    stage.run_for(2 * SECOND);
    assert!(stage.newcomers[newcomer].is_in() && stage.world.server(away).is_none());
    stage.run_for(4 * SECOND);

    let connected = |seat: usize| stage.world.server(seat).map(|server| server.is_connected(&name));
    assert_eq!([0, 1, 2, away].map(connected), [Some(true); 4]);
    stage.finish(10 * SECOND).assert_sound();
}

#[test]
fn a_node_whose_servers_die_while_it_fetches_begins_again_with_what_it_has() {
    let (setting, seat) = plaza(3);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    let admin = people(&mut stage, 8 * SECOND);
    stage.run_until(4 * SECOND);
    let newcomer = invited(&mut stage, admin, seat);
    let newcomer = stage.let_come(newcomer);
    let now = stage.world.now() + Duration::from_millis(40);
    let (tail, down, stagger) = (UnsyncedWrites::Kept, SECOND / 2, Duration::ZERO);
    stage.world.plan(now, ClusterOrder::PowerLoss { tail, down, stagger });
    stage.run_until(9 * SECOND);

    assert!(stage.newcomers[newcomer].returns > 0 && stage.newcomers[newcomer].is_in());
    stage.finish(10 * SECOND).assert_sound();
}

/// Moves two servers, in these halves of seconds, from one of the two processes that they are connected with
/// to the other, and back.
fn come_and_go(stage: &mut ReplicaStage, [original, copy]: [usize; 2], halves: Range<u32>) {
    for (half, seat) in halves.zip([0, 1].into_iter().cycle()) {
        let (from, to) = if half % 4 < 2 { (original, copy) } else { (copy, original) };
        stage.world.plan(SECOND / 2 * half, ClusterOrder::Reconnect { seat, from, to });
    }
}

/// Checks that somebody has accused the server that runs twice and that the world went on, and finishes.
fn finish_accused(stage: ReplicaStage, [original, copy]: [usize; 2]) -> Account {
    let name = stage.setting().name(original);
    let laws = &stage.world.cluster.oracle.laws;
    println!("{:?}, heard {:?}", laws.evidence(), laws.contradicted());
    assert!(laws.evidence().get(&name).is_some_and(|times| *times > 0), "nobody accuses it");
    assert!(!laws.is_honest(original) && !laws.is_honest(copy));
    let heights = stage.world.heights();
    assert!(heights.iter().all(|height| height.is_some_and(|height| height > 60)), "{heights:?}");
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    account
}

#[test]
fn two_processes_of_one_server_contradict_each_other_and_are_accused() {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 4);
    let original = 3;
    let copy = setting.add_copy(original);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    people(&mut stage, 8 * SECOND);
    let (from, to) = (original, copy);
    stage.world.plan(Duration::ZERO, ClusterOrder::Reconnect { seat: 2, from, to });
    come_and_go(&mut stage, [original, copy], 1..14);
    stage.run_until(8 * SECOND);

    let account = finish_accused(stage, [original, copy]);
    assert!(account.fired.times(Class::Twin) > 0);
}

#[test]
fn a_server_that_runs_again_from_a_copy_of_its_disk_contradicts_itself_and_is_accused() {
    let mut setting = ReplicaSetting::plaza(SignatureKind::StandIn, 6);
    let original = 3;
    let copy = setting.add_later_copy(original);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    people(&mut stage, 8 * SECOND);
    stage.run_until(3 * SECOND);
    assert!(stage.world.server(copy).is_none() && stage.world.disk(copy).files().is_empty());

    stage.copy_disk(copy);
    let begins = stage.world.server(copy).map(|server| server.height());
    let (from, to) = (original, copy);
    stage.world.plan(3 * SECOND + SECOND / 20, ClusterOrder::Reconnect { seat: 2, from, to });
    come_and_go(&mut stage, [original, copy], 7..16);
    stage.run_until(8 * SECOND);

    assert!(begins.is_some_and(|height| height > Height(30)), "with all its past: {begins:?}");
    let account = finish_accused(stage, [original, copy]);
    assert_eq!((account.fired.times(Class::CopiedDisk), account.fired.times(Class::Twin)), (1, 0));
}

#[test]
fn what_nobody_keeps_any_more_was_in_every_log_and_is_played_again_all_the_same() {
    let (mut setting, _) = plaza(5);
    (setting.own.history_turns, setting.own.behind_turns, setting.own.archive) = (20, 30, false);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(5));
    people(&mut stage, 9 * SECOND);
    stage.run_until(9 * SECOND);

    assert!(stage.world.cluster.given_up >= 4, "{}", stage.world.cluster.given_up);
    let account = stage.finish(10 * SECOND);
    account.assert_sound();
    let all: Vec<u64> = account.decided.keys().copied().collect();
    assert_eq!(all.first(), Some(&1), "all turns are told of");
    assert!(account.people.iter().all(|person| person.receipted().count() > 10));
}

#[test]
fn who_comes_into_a_silent_room_hears_what_was_said_before() {
    let (setting, _) = plaza(7);
    let mut stage = ReplicaStage::new(setting, Conditions::calm(10));
    people(&mut stage, 3 * SECOND);
    stage.run_until(5 * SECOND);
    let said: Vec<String> = stage.people[0].heard.clone();
    assert!(!said.is_empty(), "lively people talk");

    let person = Person::new(stage.setting(), 8, 3, PersonProfile::lively(5 * SECOND));
    let newcomer = stage.invite(Duration::from_millis(5_100), person);
    stage.run_until(8 * SECOND);

    // The greeter welcomes her alone.
    let mut heard = stage.people[newcomer].heard.clone();
    heard.retain(|line| !line.starts_with("greeter: Welcome, player 8!"));
    assert!(!heard.is_empty() && heard.len() <= 30, "{heard:?}");
    assert!(heard.iter().all(|line| said.contains(line)), "{heard:?} of {said:?}");
}
