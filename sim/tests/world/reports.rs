//! Reports: who files them, what moderators decide, and who hears of it.

use metatopia_physics::Motion;
use metatopia_sim::{
    OrderedDeed, WHISPERED, World,
    limits::{MODERATORS_TOLD_MAX, REPORTS_OF_NEWCOMERS_MAX, REPORTS_TOLD_PER_TURN_MAX},
};
use metatopia_types::{
    Act, GovernOrder, ObjectId, Outcome, Pass, Refusal, ReportSubject, RoleRight, Rotation, Ruling,
    limits::{REASON_BYTES_MAX, REPORT_BYTES_MAX},
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const PEST: u8 = 3;
const MODERATOR: u8 = 4;

/// A yard with a wall of the pest, in which somebody may moderate.
fn yard() -> (Builder, Yard, ObjectId) {
    let mut builder = Builder::new();
    let wall = builder.thing(Motion::Static, (9, 0), &[]);
    builder.genesis.objects[0].owner = Some(public(PEST));
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB, PEST, MODERATOR] {
        yard.login(n);
    }
    yard.play();
    let rights = [RoleRight::Moderate].into();
    let grant = GovernOrder::Grant { key: public(MODERATOR), rights, seconds: None };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    (builder, yard, wall)
}

fn about_thing(object: ObjectId, words: &str) -> Act {
    Act::FileReport { about: ReportSubject::Thing(object), words: words.to_owned() }
}

fn about(n: u8, words: &str) -> Act {
    Act::FileReport { about: ReportSubject::Person(public(n)), words: words.to_owned() }
}

fn decide(report: u64, ruling: Ruling, reason: &str) -> Act {
    Act::Govern(GovernOrder::Decide { report, ruling, reason: reason.to_owned() })
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

/// Moderators had to look for reports, so nobody came for hours.
#[test]
fn who_may_rule_on_a_new_report_hears_of_it_and_nobody_else_does() {
    let (_, mut yard, wall) = yard();
    yard.act(ADA, about_thing(wall, "it blocks the door"));
    let applied = yard.play();
    let heard: Vec<_> = applied.chat.iter().map(|line| (line.hearer, line.channel)).collect();
    let mut expected = [ADMIN, MODERATOR].map(|n| (Some(public(n)), WHISPERED));
    expected.sort_unstable();
    assert_eq!(heard, expected);
    assert!(applied.chat.iter().all(|line| line.text == "I have filed report 1"));

    // A moderator does not rule about herself, and whoever left hears nothing.
    yard.act(BOB, about(MODERATOR, "she shouts"));
    let heard: Vec<_> = yard.play().chat.iter().map(|line| line.hearer).collect();
    assert_eq!(heard, [Some(public(ADMIN))]);
    assert_eq!(yard.try_act(ADMIN, Act::Leave), Outcome::Ok);
    yard.act(BOB, about(PEST, "he builds walls"));
    let heard: Vec<_> = yard.play().chat.iter().map(|line| line.hearer).collect();
    assert_eq!(heard, [Some(public(MODERATOR))]);
}

#[test]
fn many_reports_and_many_moderators_make_few_lines() {
    let (_, mut yard, wall) = yard();
    for n in 20..40 {
        yard.login(n);
        yard.play();
        let rights = [RoleRight::Moderate].into();
        let grant = GovernOrder::Grant { key: public(n), rights, seconds: None };
        assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    }
    for n in [ADA, BOB, PEST] {
        yard.act(n, about_thing(wall, "it blocks the door"));
    }
    let applied = yard.play();
    // All of them are newcomers, of whom one is told.
    assert_eq!(applied.chat.len(), MODERATORS_TOLD_MAX);
    assert!(applied.chat.len() < REPORTS_TOLD_PER_TURN_MAX * MODERATORS_TOLD_MAX);
    assert_eq!(yard.world.reports_after(0).count(), 3, "all three are in the queue");
}

#[test]
fn a_report_waits_until_a_moderator_decides_and_its_reporter_alone_hears_what() {
    let (_, mut yard, wall) = yard();
    assert_eq!(yard.try_act(ADA, about_thing(wall, "it blocks the door")), Outcome::Ok);
    let filed = yard.world.report(1).expect("a report").clone();
    assert_eq!((filed.by, filed.name.as_str()), (public(ADA), "thing 1"));
    assert_eq!((filed.accused, filed.words.as_str()), (Some(public(PEST)), "it blocks the door"));
    assert_eq!((filed.height, filed.ruling), (yard.world.height(), None));

    let upheld = decide(1, Ruling::Upheld, "walls stay off doors");
    assert_eq!(yard.try_act(BOB, upheld.clone()), refused(Refusal::NoRight));
    let act = yard.act(MODERATOR, upheld.clone());
    let applied = yard.play();
    assert_eq!(yard.outcome(&act), Outcome::Ok);
    let [line] = &applied.chat[..] else { panic!("{:?}", applied.chat) };
    assert_eq!((line.channel, line.hearer), (WHISPERED, Some(public(ADA))));
    assert_eq!(line.text, "Your report 1 about thing 1 was upheld: walls stay off doors");
    assert_eq!((line.name.as_str(), line.player), ("player 4", Some(public(MODERATOR))));
    assert_eq!(yard.try_act(MODERATOR, upheld), refused(Refusal::NoReport));

    let given = yard.world.report(1).and_then(|report| report.ruling.clone()).expect("a ruling");
    assert_eq!((given.by, given.ruling), (public(MODERATOR), Ruling::Upheld));
    let (_, order) = yard.world.orders().last().expect("the record");
    let OrderedDeed::Decide { report: 1, about, ruling, reason } = &order.deed else {
        panic!("{order:?}")
    };
    assert_eq!((*about, *ruling), (ReportSubject::Thing(wall), Ruling::Upheld));
    assert_eq!((order.by, reason.as_str()), (public(MODERATOR), "walls stay off doors"));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_report_is_a_line_about_what_is_there_by_who_is_there() {
    let (_, mut yard, wall) = yard();
    let long = "x".repeat(REPORT_BYTES_MAX + 1);
    for words in ["", "  ", "two\nlines", long.as_str()] {
        assert_eq!(yard.try_act(ADA, about(PEST, words)), refused(Refusal::BadText), "{words}");
    }
    assert_eq!(yard.try_act(ADA, about(PEST, &long[1..])), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, about(PEST, "again")), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, about(77, "who?")), refused(Refusal::NoPlayer));
    let gone = about_thing(ObjectId(999), "what?");
    assert_eq!(yard.try_act(ADA, gone), refused(Refusal::NoObject));
    let avatar = about_thing(yard.avatar(PEST), "a person");
    assert_eq!(yard.try_act(ADA, avatar), refused(Refusal::Person));
    assert_eq!(yard.try_act(77, about(PEST, "hello")), refused(Refusal::NotLoggedIn));

    for act in [about_thing(wall, "a"), about(BOB, "b"), about(MODERATOR, "c")] {
        assert_eq!(yard.try_act(ADA, act), Outcome::Ok);
    }
    assert_eq!(yard.try_act(ADA, about(ADMIN, "d")), refused(Refusal::TooManyReports));
    let withdraw = |report| Act::WithdrawReport { report };
    assert_eq!(yard.try_act(BOB, withdraw(1)), refused(Refusal::NoReport));
    assert_eq!(yard.try_act(ADA, withdraw(1)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, withdraw(1)), refused(Refusal::NoReport));
    assert_eq!(yard.world.report(1), None);
    assert_eq!(yard.try_act(ADA, about(ADMIN, "d")), Outcome::Ok);
}

#[test]
fn nobody_rules_on_a_report_about_who_has_as_much_to_say() {
    let (_, mut yard, _) = yard();
    let reason = "x".repeat(REASON_BYTES_MAX + 1);
    for (n, report) in [(MODERATOR, 1), (ADMIN, 2), (PEST, 3)] {
        assert_eq!(yard.try_act(ADA, about(n, "unfair")), Outcome::Ok);
        assert!(yard.world.report(report).is_some());
    }
    let dismiss = |report| decide(report, Ruling::Dismissed, "");
    assert_eq!(yard.try_act(MODERATOR, dismiss(1)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(MODERATOR, dismiss(2)), refused(Refusal::NotAdmin));
    let long = decide(3, Ruling::Dismissed, &reason);
    assert_eq!(yard.try_act(MODERATOR, long), refused(Refusal::BadText));
    assert_eq!(yard.try_act(MODERATOR, dismiss(3)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, dismiss(1)), Outcome::Ok);
    // There is nobody above a permanent admin.
    assert_eq!(yard.try_act(ADMIN, dismiss(2)), Outcome::Ok);
}

/// A permanent admin dismissed a report about herself while another admin could have ruled.
#[test]
fn an_admin_rules_about_herself_only_where_there_is_no_other() {
    let (_, mut yard, _) = yard();
    assert_eq!(yard.try_act(ADA, about(ADMIN, "unfair")), Outcome::Ok);
    let name = GovernOrder::NameAdmin { key: public(BOB) };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(name)), Outcome::Ok);
    let Act::Govern(own) = decide(1, Ruling::Dismissed, "") else { panic!("an order") };
    let would = yard.world.may_order(&public(ADMIN), &own);
    assert_eq!(would, Err(Refusal::Outranked));
    assert_eq!(yard.try_act(ADMIN, Act::Govern(own)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(BOB, decide(1, Ruling::Upheld, "")), Outcome::Ok);
}

#[test]
fn what_a_banned_key_filed_leaves_the_queue_and_what_was_decided_stays() {
    let (_, mut yard, _) = yard();
    for act in [about(ADA, "a"), about(BOB, "b")] {
        assert_eq!(yard.try_act(PEST, act), Outcome::Ok);
    }
    assert_eq!(yard.try_act(MODERATOR, decide(1, Ruling::Dismissed, "")), Outcome::Ok);
    let ban = GovernOrder::Ban { key: public(PEST), seconds: None, reason: String::new() };
    assert_eq!(yard.try_act(MODERATOR, Act::Govern(ban)), Outcome::Ok);
    assert!(yard.world.report(1).is_some() && yard.world.report(2).is_none());
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_rotated_key_keeps_its_reports_and_stays_accused() {
    let (builder, mut yard, wall) = yard();
    const NEW: u8 = 9;
    assert_eq!(yard.try_act(ADA, about(PEST, "a")), Outcome::Ok);
    assert_eq!(yard.try_act(PEST, about_thing(wall, "mine")), Outcome::Ok);
    let pass = Some(Pass::Rotation(Rotation::new(&key(PEST), &key(NEW), 1)));
    let login = Act::Login {
        name: "player 3".to_owned(),
        look: metatopia_types::Look::default(),
        bot: false,
        pass,
    };
    assert_eq!(yard.try_act(NEW, login), Outcome::Ok);
    let report = |n| yard.world.report(n).expect("a report");
    assert_eq!(report(1).about, ReportSubject::Person(public(NEW)));
    assert_eq!((report(2).by, report(2).accused), (public(NEW), Some(public(NEW))));

    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    let again = World::from_snapshot(&snapshot, root, &builder.tools()).expect("its own snapshot");
    let numbers = |world: &World| world.reports_after(0).map(|(n, _)| n).collect::<Vec<_>>();
    assert_eq!(numbers(&again), [1, 2]);
    assert_eq!(yard.try_act(NEW, Act::WithdrawReport { report: 2 }), Outcome::Ok);
    assert_eq!(numbers(&yard.world), [1]);
}

#[test]
fn newcomers_fill_their_share_of_the_queue_and_who_was_seen_often_enough_gets_in() {
    let (_, mut yard, _) = yard();
    let newcomers: Vec<u8> = (10..).take(REPORTS_OF_NEWCOMERS_MAX / 4 + 1).collect();
    for group in newcomers.chunks(4) {
        group.iter().for_each(|n| drop(yard.login(*n)));
        yard.play();
    }
    let mut outcomes = Vec::new();
    for about_whom in [ADA, BOB, PEST, MODERATOR] {
        let acts: Vec<_> =
            newcomers.iter().map(|n| yard.act(*n, about(about_whom, "spam"))).collect();
        yard.play();
        outcomes.extend(acts.iter().map(|act| yard.outcome(act)));
    }
    let filed = outcomes.iter().filter(|outcome| **outcome == Outcome::Ok).count();
    assert_eq!(filed, REPORTS_OF_NEWCOMERS_MAX);
    assert!(
        outcomes.iter().all(|outcome| [Outcome::Ok, refused(Refusal::QueueFull)].contains(outcome))
    );

    assert_eq!(yard.try_act(ADA, about(PEST, "spam")), refused(Refusal::QueueFull));
    let amend = Act::Amend { name: "seen_days".to_owned(), value: "1".to_owned() };
    assert_eq!(yard.try_act(ADMIN, amend), Outcome::Ok);
    yard.login(ADA);
    yard.play();
    assert_eq!(yard.try_act(ADA, about(PEST, "spam")), Outcome::Ok, "she was seen often enough");
    assert_eq!(yard.world.root(), yard.world.rehash());
}
