//! Roles, and orders about people: who may give which, what becomes of them, and what is recorded.

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_scripting::{EventKind, ScriptOutput};
use metatopia_sim::{
    ActTarget, Area, Denied, Introduction, Land, OrderedDeed, Right, Warrant, limits::HOME_TRIES,
};
use metatopia_types::{
    Act, Blob, Build, GovernOrder, Look, ObjectId, Outcome, Refusal, RoleRight, Title,
    forgettable_blob,
    limits::{HOUSE_RULES_BYTES_MAX, MOTD_BYTES_MAX, REASON_BYTES_MAX},
};

use crate::yard::{Builder, Yard, public, vec2};

const ADMIN: u8 = 100;
const SECOND: u8 = 99;
const ADA: u8 = 1;
const BOB: u8 = 2;
const PEST: u8 = 3;

fn yard() -> Yard {
    let mut yard = Builder::new().build();
    for n in [ADMIN, ADA, BOB, PEST] {
        yard.login(n);
    }
    yard.play();
    yard
}

fn rights(words: &[&str]) -> BTreeSet<RoleRight> {
    words.iter().map(|word| RoleRight::of(word).expect("a right")).collect()
}

fn grant(n: u8, words: &[&str], seconds: Option<u32>) -> Act {
    Act::Govern(GovernOrder::Grant { key: public(n), rights: rights(words), seconds })
}

fn revoke(n: u8, words: &[&str]) -> Act {
    Act::Govern(GovernOrder::Revoke { key: public(n), rights: rights(words) })
}

fn ban(n: u8, seconds: Option<u32>) -> Act {
    Act::Govern(GovernOrder::Ban { key: public(n), seconds, reason: "spam".to_owned() })
}

fn mute(n: u8, seconds: Option<u32>) -> Act {
    Act::Govern(GovernOrder::Mute { key: public(n), seconds, reason: "loud".to_owned() })
}

fn name_admin(n: u8) -> Act {
    Act::Govern(GovernOrder::NameAdmin { key: public(n) })
}

fn remove_admin(n: u8) -> Act {
    Act::Govern(GovernOrder::RemoveAdmin { key: public(n) })
}

fn kick(n: u8) -> Act {
    Act::Govern(GovernOrder::Kick { key: public(n) })
}

fn login(n: u8) -> Act {
    Act::login(format!("player {n}"), Look::default())
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

#[test]
fn a_role_lasts_as_long_as_it_was_given_for_and_not_a_turn_longer() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADA, kick(PEST)), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["moderate"], Some(2))), Outcome::Ok);
    let given = yard.world.role(&public(ADA)).expect("a role").rights[&RoleRight::Moderate];
    assert_eq!(given.by, public(ADMIN));
    let until = given.until.expect("it ends");

    while yard.world.governance().time + 50 < until {
        yard.play();
    }
    let may = |yard: &Yard| yard.world.may(&public(ADA), Right::Moderate, &ActTarget::SIM);
    assert_eq!(may(&yard), Ok(()));
    yard.play();
    assert_eq!(may(&yard), Err(Denied::NoRight));
    assert_eq!(yard.world.role(&public(ADA)), None);

    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["moderate"], None)), Outcome::Ok);
    yard.idle(100);
    assert_eq!(yard.try_act(ADA, kick(PEST)), Outcome::Ok);
    assert_eq!(yard.world.avatar(&public(PEST)), None);
    assert_eq!(yard.try_act(ADA, kick(PEST)), refused(Refusal::NotHere));
    assert_eq!(yard.try_act(PEST, login(PEST)), Outcome::Ok, "who was sent away may come back");
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn nobody_gives_rights_to_the_own_key_nor_to_who_has_as_much_to_say() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADA, grant(ADA, &["build"], None)), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["administer"], None)), Outcome::Ok);
    for words in [&["administer"][..], &["servers"], &["borders"], &["build", "servers"]] {
        let outcome = yard.try_act(ADA, grant(BOB, words, None));
        assert_eq!(outcome, refused(Refusal::NotAdmin), "{words:?}");
    }
    assert_eq!(yard.try_act(ADA, grant(ADA, &["moderate"], None)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(ADA, grant(BOB, &["moderate"], None)), Outcome::Ok);
    // A circle: the moderator takes nothing from who gave it.
    assert_eq!(yard.try_act(BOB, revoke(ADA, &["administer"])), refused(Refusal::NotAdmin));
    assert_eq!(yard.try_act(BOB, ban(ADA, None)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(BOB, mute(ADMIN, None)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(BOB, ban(PEST, None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, revoke(BOB, &["moderate"])), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, revoke(BOB, &["moderate"])), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, grant(77, &["build"], None)), refused(Refusal::NoPlayer));
    assert_eq!(yard.try_act(ADA, grant(PEST, &["build"], None)), refused(Refusal::Banned));
    assert_eq!(yard.try_act(ADA, grant(BOB, &[], None)), refused(Refusal::OutOfRange));
    assert_eq!(yard.try_act(ADA, grant(BOB, &["build"], Some(0))), refused(Refusal::OutOfRange));
}

/// Returns what somebody may do by roles, and who is an admin.
fn powers(yard: &Yard, who: &[u8]) -> (Vec<BTreeSet<RoleRight>>, usize) {
    let of = |n: &u8| {
        let role = yard.world.role(&public(*n));
        role.map(|role| role.rights.keys().copied().collect()).unwrap_or_default()
    };
    (who.iter().map(of).collect(), yard.world.governance().admins.len())
}

/// Two who have the same to say could have given each other what neither has.
#[test]
fn rights_that_go_in_a_circle_give_nobody_more() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["administer"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, grant(BOB, &["administer"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, grant(PEST, &["moderate"], None)), Outcome::Ok);
    let before = powers(&yard, &[ADA, BOB, PEST]);
    for words in [&["build"][..], &["moderate"], &["speak", "land"]] {
        for (by, to) in [(ADA, BOB), (BOB, ADA), (ADA, ADA)] {
            let outcome = yard.try_act(by, grant(to, words, None));
            assert_eq!(outcome, refused(Refusal::Outranked), "{by} to {to}: {words:?}");
        }
        // Over a third one, who has less to say.
        for to in [ADA, BOB, PEST] {
            let outcome = yard.try_act(PEST, grant(to, words, None));
            assert_eq!(outcome, refused(Refusal::NoRight), "{to}: {words:?}");
        }
    }
    for (by, to) in [(ADA, BOB), (BOB, ADA), (PEST, ADA)] {
        let outcome = yard.try_act(by, grant(to, &["servers"], None));
        assert!(matches!(outcome, Outcome::Refused(_)), "{by} to {to}: {outcome}");
    }
    // In one turn, whichever comes first.
    let acts =
        [yard.act(ADA, grant(BOB, &["build"], None)), yard.act(BOB, grant(ADA, &["build"], None))];
    yard.play();
    for act in acts {
        assert_eq!(yard.outcome(&act), refused(Refusal::Outranked));
    }
    assert_eq!(powers(&yard, &[ADA, BOB, PEST]), before);
    yard.check_leaves();
}

#[test]
fn nobody_makes_the_own_key_an_admin_or_gives_it_a_great_right() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["administer"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, grant(BOB, &["moderate", "servers"], None)), Outcome::Ok);
    let before = powers(&yard, &[ADA, BOB, PEST]);
    for n in [ADA, BOB, PEST] {
        for act in [
            name_admin(n),
            grant(n, &["servers"], None),
            grant(n, &["borders"], None),
            grant(n, &["administer"], Some(60)),
            grant(n, &["moderate"], None),
            remove_admin(ADMIN),
        ] {
            let outcome = yard.try_act(n, act.clone());
            assert!(matches!(outcome, Outcome::Refused(_)), "{n}: {act:?}: {outcome}");
        }
    }
    assert_eq!(powers(&yard, &[ADA, BOB, PEST]), before);
    assert_eq!(yard.try_act(ADMIN, name_admin(ADMIN)), refused(Refusal::AlreadySo));
    yard.check_leaves();
}

#[test]
fn a_sim_is_never_without_a_permanent_admin() {
    let mut yard = yard();
    yard.login(SECOND);
    yard.play();
    assert_eq!(yard.try_act(ADMIN, remove_admin(ADMIN)), refused(Refusal::LastAdmin));
    assert_eq!(yard.try_act(ADMIN, name_admin(77)), refused(Refusal::NoPlayer));
    assert_eq!(yard.try_act(ADMIN, name_admin(SECOND)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, name_admin(SECOND)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADMIN, ban(SECOND, None)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(SECOND, remove_admin(ADMIN)), Outcome::Ok);
    assert_eq!(yard.try_act(SECOND, remove_admin(ADMIN)), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADMIN, ban(ADA, None)), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(SECOND, remove_admin(SECOND)), refused(Refusal::LastAdmin));

    // Both at once: whichever comes second in the turn's order finds only itself left.
    assert_eq!(yard.try_act(SECOND, name_admin(ADMIN)), Outcome::Ok);
    let both = [yard.act(ADMIN, remove_admin(ADMIN)), yard.act(SECOND, remove_admin(SECOND))];
    yard.play();
    let outcomes = both.map(|act| yard.outcome(&act));
    assert!(outcomes.contains(&Outcome::Ok) && outcomes.contains(&refused(Refusal::LastAdmin)));
    assert_eq!(yard.world.governance().admins.len(), 1);
}

#[test]
fn a_banned_key_does_nothing_from_the_next_act_on_until_its_ban_is_over() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADMIN, ban(PEST, Some(2))), Outcome::Ok);
    assert_eq!(yard.world.avatar(&public(PEST)), None);
    let told = yard.world.ban(&public(PEST)).expect("banned").clone();
    assert_eq!((told.by, told.reason.as_str()), (public(ADMIN), "spam"));
    for act in [login(PEST), Act::Heartbeat, Act::Walk { heading: Vec2::ZERO }, kick(ADA)] {
        assert_eq!(yard.try_act(PEST, act.clone()), refused(Refusal::Banned), "{act:?}");
    }
    assert_eq!(yard.world.root(), yard.world.rehash());
    yard.idle(41);
    assert_eq!(yard.world.ban(&public(PEST)), None);
    assert_eq!(yard.try_act(PEST, login(PEST)), Outcome::Ok);

    // A key that was never here is shut out as well, and let in again.
    assert_eq!(yard.try_act(ADMIN, ban(77, None)), Outcome::Ok);
    assert_eq!(yard.try_act(77, login(77)), refused(Refusal::Banned));
    let unban = Act::Govern(GovernOrder::Unban { key: public(77) });
    assert_eq!(yard.try_act(ADMIN, unban.clone()), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, unban), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(77, login(77)), Outcome::Ok);
}

#[test]
fn a_muted_key_says_nothing_and_does_all_else() {
    let mut yard = yard();
    assert_eq!(yard.try_act(ADMIN, mute(PEST, Some(2))), Outcome::Ok);
    let said = yard.say(PEST, 0, "hello");
    yard.play();
    assert_eq!(yard.outcome(&said), refused(Refusal::Muted));
    assert_eq!(yard.try_act(PEST, Act::Heartbeat), Outcome::Ok);
    yard.idle(41);
    let said = yard.say(PEST, 0, "hello");
    yard.play();
    assert_eq!(yard.outcome(&said), Outcome::Ok);

    assert_eq!(yard.try_act(ADMIN, mute(PEST, None)), Outcome::Ok);
    let unmute = Act::Govern(GovernOrder::Unmute { key: public(PEST) });
    assert_eq!(yard.try_act(ADMIN, unmute.clone()), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, unmute), refused(Refusal::AlreadySo));
    let reason = "x".repeat(REASON_BYTES_MAX + 1);
    let long = GovernOrder::Mute { key: public(PEST), seconds: None, reason };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(long)), refused(Refusal::BadText));
}

#[test]
fn a_frozen_thing_stands_still_with_its_scripts_until_it_is_thawed() {
    let mut builder = Builder::new();
    let counter = builder
        .port("counter", &[EventKind::Tick, EventKind::Start], |_| Ok(ScriptOutput::default()));
    let thing = builder.thing(Motion::Dynamic, (2, 0), &[counter]);
    builder.genesis.objects[0].owner = Some(public(PEST));
    let mut yard = builder.build();
    for n in [ADMIN, PEST] {
        yard.login(n);
    }
    yard.play();
    yard.walk_to(PEST, vec2(1, 0));
    let runs = |yard: &mut Yard| yard.play().order.len();
    assert!(runs(&mut yard) > 0);
    let freeze = Act::Govern(GovernOrder::Freeze { object: thing });
    assert_eq!(yard.try_act(PEST, freeze.clone()), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADMIN, freeze.clone()), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, freeze), refused(Refusal::AlreadySo));
    assert_eq!(runs(&mut yard), 0);
    for act in [
        Act::Build(Build::Delete { object: thing }),
        Act::Build(Build::Recolor { object: thing, color: 7 }),
        Act::Push { object: thing },
    ] {
        assert_eq!(yard.try_act(PEST, act.clone()), refused(Refusal::Frozen), "{act:?}");
    }
    assert_eq!(yard.world.root(), yard.world.rehash());

    let thaw = Act::Govern(GovernOrder::Thaw { object: thing });
    assert_eq!(yard.try_act(ADMIN, thaw.clone()), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, thaw), refused(Refusal::AlreadySo));
    assert!(runs(&mut yard) > 0);
    let delete = Act::Build(Build::Delete { object: thing });
    assert_eq!(yard.try_act(PEST, delete), Outcome::Ok);
    assert_eq!(yard.world.frozen(thing), None);
}

#[test]
fn a_returned_thing_goes_to_its_owners_land_or_out_of_the_sim() {
    let mut builder = Builder::new();
    let (landed, stray) =
        (builder.thing(Motion::Static, (2, 2), &[]), builder.thing(Motion::Static, (4, 2), &[]));
    let sims = builder.thing(Motion::Static, (6, 2), &[]);
    builder.genesis.objects[0].owner = Some(public(ADA));
    builder.genesis.objects[1].owner = Some(public(BOB));
    let area = Area::between(vec2(10, 10), vec2(26, 26));
    let title = Title::Player(public(ADA));
    builder.genesis.lands.push(Land { name: "Ada's".to_owned(), area, title });
    // Bob has land too, and on each of the places there that are tried lies something.
    let full = Area::between(vec2(-26, -26), vec2(-10, -10));
    let title = Title::Player(public(BOB));
    builder.genesis.lands.push(Land { name: "Bob's".to_owned(), area: full, title });
    let places = HOME_TRIES * HOME_TRIES;
    for n in 0..places {
        let (x, y) = (n % HOME_TRIES, n / HOME_TRIES);
        builder.thing(Motion::Static, (-25 + 2 * x, -25 + 2 * y), &[]);
    }
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB, PEST] {
        yard.login(n);
    }
    yard.play();
    let back = |object: ObjectId| Act::Govern(GovernOrder::Return { object });
    assert_eq!(yard.try_act(ADMIN, grant(PEST, &["moderate"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(PEST, back(sims)), refused(Refusal::Outranked));
    assert_eq!(yard.try_act(PEST, back(landed)), Outcome::Ok);
    let place = yard.position(landed);
    assert!(Area::between(place, place).low.x > area.low.x && place.x < area.high.x, "{place:?}");
    assert_eq!(yard.try_act(PEST, back(stray)), Outcome::Ok);
    assert_eq!(yard.world.object(stray).map(|thing| thing.id), None);
    assert_eq!(yard.try_act(PEST, back(stray)), refused(Refusal::Away), "it is in Bob's luggage");
    let avatar = yard.avatar(BOB);
    assert_eq!(yard.try_act(ADMIN, back(avatar)), refused(Refusal::Person));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn a_role_opens_what_its_rights_say_and_nothing_else() {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Static, (2, 2), &[]);
    builder.genesis.objects[0].owner = Some(public(BOB));
    let mut yard = builder.build();
    for n in [ADMIN, ADA, BOB] {
        yard.login(n);
    }
    yard.play();
    let rename = Act::Build(Build::Rename { object: thing, name: "better".to_owned() });
    let motd = |text: &str| Act::Govern(GovernOrder::Announce { text: text.to_owned() });
    assert_eq!(yard.try_act(ADA, rename.clone()), refused(Refusal::NotYours));
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["build"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, rename), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, motd("hello")), refused(Refusal::NoRight));
    assert_eq!(yard.try_act(ADMIN, grant(ADA, &["speak"], None)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, motd(&"x".repeat(MOTD_BYTES_MAX + 1))), refused(Refusal::BadText));
    assert_eq!(yard.try_act(ADA, motd("Market day!")), Outcome::Ok);
    let told = yard.world.governance().motd.clone().expect("a message");
    assert_eq!((told.text.as_str(), told.by), ("Market day!", public(ADA)));
    // Who repeats it fills no record with it.
    assert_eq!(yard.try_act(ADMIN, motd("Market day!")), refused(Refusal::AlreadySo));
    assert_eq!(yard.try_act(ADA, motd("")), Outcome::Ok);
    assert_eq!(yard.world.governance().motd, None);
    assert_eq!(yard.try_act(ADA, motd("")), refused(Refusal::AlreadySo));
}

#[test]
fn house_rules_are_changed_by_an_act_and_recorded_with_the_words_that_they_were() {
    let mut yard = yard();
    let mut set = |n: u8, text: &[u8]| {
        let blob = Blob(text.to_vec());
        let order = Act::Govern(GovernOrder::SetHouseRules { text: Some(blob.id()) });
        let act = yard.act_with(n, order, blob);
        // The state follows from these words, so that nothing has them forgotten.
        assert_eq!(forgettable_blob(&act), None);
        yard.play();
        (yard.outcome(&act), yard.world.charter().introduction.clone())
    };
    let founding = set(ADA, b"Be rude.");
    assert_eq!(founding, (refused(Refusal::NotAdmin), Introduction::default()));
    for wrong in [&b""[..], b"\xff", b"a\x07b", &[b'x'; HOUSE_RULES_BYTES_MAX + 1]] {
        assert_eq!(set(ADMIN, wrong).0, refused(Refusal::BadText), "{wrong:?}");
    }
    let (outcome, ruled) = set(ADMIN, b"Be kind.\n\nLeave the quay free.");
    assert_eq!((outcome, ruled.house_rules.lines().count()), (Outcome::Ok, 3));
    let digest = ruled.house_rules_digest().expect("there are some");
    assert_eq!(set(ADMIN, b"Be kind.\n\nLeave the quay free.").0, refused(Refusal::AlreadySo));
    let (outcome, others) = set(ADMIN, b"Be kind.");
    assert_eq!(outcome, Outcome::Ok);
    assert_ne!(others.house_rules_digest(), Some(digest), "people are asked again");
    let absent = GovernOrder::SetHouseRules { text: Some(Blob(b"nobody sent this".to_vec()).id()) };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(absent)), refused(Refusal::NoBlob));
    let none = || Act::Govern(GovernOrder::SetHouseRules { text: None });
    assert_eq!(yard.try_act(ADMIN, none()), Outcome::Ok);
    assert_eq!(yard.world.charter().introduction.house_rules_digest(), None);
    assert_eq!(yard.try_act(ADMIN, none()), refused(Refusal::AlreadySo));
    let recorded: Vec<_> = yard.world.orders().map(|(_, order)| order.deed.clone()).collect();
    let text = |words: &str| Some(Blob(words.as_bytes().to_vec()).id());
    let deed = |text| OrderedDeed::Govern(GovernOrder::SetHouseRules { text });
    let all = [text("Be kind.\n\nLeave the quay free."), text("Be kind."), None].map(deed);
    assert_eq!(recorded, all);
}

#[test]
fn what_is_done_by_more_than_everybodys_right_is_recorded_and_nothing_else() {
    let mut yard = yard();
    yard.try_act(ADMIN, grant(ADA, &["moderate"], None));
    yard.try_act(ADA, ban(PEST, None));
    yard.try_act(ADA, Act::Heartbeat);
    yard.try_act(BOB, ban(ADA, None));
    let long = format!("{}30", "0".repeat(300));
    let amend = Act::Amend { name: "admin_days".to_owned(), value: long };
    assert_eq!(yard.try_act(ADMIN, amend), Outcome::Ok);

    let orders: Vec<_> = yard.world.orders().map(|(n, order)| (n, order.clone())).collect();
    assert_eq!(orders.len(), 3);
    assert_eq!(yard.world.governance().orders, 3);
    let (n, banned) = &orders[1];
    assert_eq!((*n, banned.by, banned.warrant), (1, public(ADA), Warrant::Role));
    assert!(matches!(&banned.deed, OrderedDeed::Govern(order) if order.verb() == "ban"));
    let (_, amended) = &orders[2];
    assert_eq!(amended.warrant, Warrant::Permanent);
    let OrderedDeed::Amend { value, .. } = &amended.deed else { panic!("{amended:?}") };
    assert!(value.len() <= 64, "{value}");

    // All of it is proved: the charter, the count, and each order.
    let proofs = yard.world.provable_leaves();
    assert_eq!(proofs.root(), yard.world.root());
    assert_eq!(proofs.governance().verify(yard.world.root()), Ok(()));
    assert_eq!(proofs.charter().verify(yard.world.root()), Ok(()));
    assert_eq!(Some(proofs.charter().content), yard.world.leaf(&proofs.charter().key));
    let page = proofs.page(3).expect("the last order");
    assert_eq!(page.verify(yard.world.root()), Ok(()));
    assert_eq!(Some(page.content), yard.world.leaf(&page.key));
    assert!(proofs.page(0).is_none());
}

#[test]
fn what_an_order_would_do_is_said_by_the_same_rules_and_changes_nothing() {
    let mut yard = yard();
    let order = GovernOrder::Ban { key: public(PEST), seconds: None, reason: String::new() };
    let root = yard.world.root();
    assert_eq!(yard.world.may_order(&public(ADMIN), &order), Ok(Warrant::Permanent));
    assert_eq!(yard.world.may_order(&public(ADA), &order), Err(Refusal::NoRight));
    let unban = GovernOrder::Unban { key: public(PEST) };
    assert_eq!(yard.world.may_order(&public(ADMIN), &unban), Err(Refusal::AlreadySo));
    assert_eq!(yard.world.root(), root);
    assert_eq!(yard.try_act(ADMIN, Act::Govern(order)), Outcome::Ok);
}
