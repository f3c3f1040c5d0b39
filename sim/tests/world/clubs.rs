//! Clubs: who is in which, who hears what is said there, and what becomes of a club whose owner is gone.

use metatopia_math::{Angle, Fx};
use metatopia_physics::Motion;
use metatopia_scripting::EventKind;
use metatopia_sim::{
    CLUB, OrderedDeed, SpokenLine, WHISPERED, World,
    limits::{CLUB_INVITE_MS, CLUB_INVITES_MAX, CLUBS_PER_PERSON_MAX},
};
use metatopia_types::{
    Act, AssetLicence, Blob, BlobId, Blueprint, Build, ClubId, ClubOrder, Digest, GovernOrder,
    GroundArea, Look, LotId, LotOrder, NewKeyWord, Outcome, Outline, OutlineParts, Pass, Refusal,
    RoleRight, Rotation, limits::CHAT_BYTES_MAX,
};

use crate::yard::{Builder, T0, Yard, key, public, vec2};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const EVE: u8 = 3;
const DAN: u8 = 4;
/// The key that takes the place of another.
const NEW: u8 = 11;
const FIRST: ClubId = ClubId(1);

fn yard_with(builder: &Builder) -> Yard {
    let mut yard = builder.build();
    [ADMIN, ADA, BOB, EVE, DAN].into_iter().for_each(|n| drop(yard.login(n)));
    yard.play();
    yard
}

/// A yard in which Ada has the club of gardeners, and Bob is in it.
fn gardeners() -> Yard {
    let mut yard = yard_with(&Builder::new());
    done(&mut yard, ADA, found("Gardeners"));
    join(&mut yard, ADA, BOB);
    yard
}

fn found(name: &str) -> ClubOrder {
    ClubOrder::Found { name: name.to_owned() }
}

fn invite(n: u8) -> ClubOrder {
    ClubOrder::Invite { club: FIRST, key: public(n) }
}

fn remove(n: u8) -> ClubOrder {
    ClubOrder::Remove { club: FIRST, key: public(n) }
}

fn hand_over(n: u8) -> ClubOrder {
    ClubOrder::HandOver { club: FIRST, to: public(n) }
}

fn rename(name: &str) -> ClubOrder {
    ClubOrder::Rename { club: FIRST, name: name.to_owned() }
}

const ACCEPT: ClubOrder = ClubOrder::Accept { club: FIRST };
const DECLINE: ClubOrder = ClubOrder::Decline { club: FIRST };
const LEAVE: ClubOrder = ClubOrder::Leave { club: FIRST };
const DISSOLVE: ClubOrder = ClubOrder::Dissolve { club: FIRST };

fn order(yard: &mut Yard, n: u8, order: ClubOrder) -> Outcome {
    yard.try_act(n, Act::Club(order))
}

#[track_caller]
fn done(yard: &mut Yard, n: u8, given: ClubOrder) {
    assert_eq!(order(yard, n, given.clone()), Outcome::Ok, "{given:?} by {n}");
}

#[track_caller]
fn no(yard: &mut Yard, n: u8, given: ClubOrder, why: Refusal) {
    assert_eq!(order(yard, n, given.clone()), Outcome::Refused(why), "{given:?} by {n}");
}

#[track_caller]
fn join(yard: &mut Yard, by: u8, n: u8) {
    done(yard, by, invite(n));
    done(yard, n, ACCEPT);
}

#[track_caller]
fn govern(yard: &mut Yard, order: GovernOrder) {
    assert_eq!(yard.try_act(ADMIN, Act::Govern(order)), Outcome::Ok);
}

fn say_words(yard: &mut Yard, n: u8, words: Vec<u8>) -> (Outcome, Vec<SpokenLine>) {
    let blob = Blob(words);
    let act = Act::Club(ClubOrder::Say { club: FIRST, body: blob.id() });
    let act = yard.act_with(n, act, blob);
    let chat = yard.play().chat;
    (yard.outcome(&act), chat)
}

fn say(yard: &mut Yard, n: u8) -> Outcome {
    say_words(yard, n, b"the roses bloom".to_vec()).0
}

/// Returns the owner and the members of the first club.
fn club(yard: &Yard) -> Option<(u8, Vec<u8>)> {
    let club = yard.world.club(FIRST)?;
    let people = [ADA, BOB, EVE, DAN, NEW, ADMIN];
    let members = people.into_iter().filter(|n| club.members.contains_key(&public(*n)));
    let owner = people.into_iter().find(|n| public(*n) == club.owner).expect("a known one");
    Some((owner, members.collect()))
}

fn invited(yard: &Yard) -> usize {
    yard.world.club(FIRST).map_or(0, |club| club.invites.len())
}

/// Reads the state back from its leaves, and checks that it is the same.
fn check_restored(world: &World) {
    let restored = World::from_snapshot(&world.snapshot(), world.root(), &Builder::new().tools());
    assert_eq!(restored.expect("it was just made").indexes(), world.indexes());
}

#[test]
fn members_join_by_an_invite_and_leave_and_the_owner_alone_removes_renames_and_ends() {
    let mut yard = yard_with(&Builder::new());
    no(&mut yard, ADA, invite(BOB), Refusal::NoClub);
    no(&mut yard, 77, found("Gardeners"), Refusal::NotLoggedIn);
    done(&mut yard, ADA, found("Gardeners"));
    no(&mut yard, BOB, invite(EVE), Refusal::NotMember);
    no(&mut yard, BOB, ACCEPT, Refusal::NoInvite);
    no(&mut yard, BOB, DECLINE, Refusal::NoInvite);
    no(&mut yard, BOB, LEAVE, Refusal::NotMember);
    no(&mut yard, ADA, invite(77), Refusal::NoPlayer);
    join(&mut yard, ADA, BOB);
    no(&mut yard, ADA, invite(BOB), Refusal::AlreadySo);
    // Every member invites.
    done(&mut yard, BOB, invite(EVE));
    no(&mut yard, ADA, invite(EVE), Refusal::AlreadySo);
    done(&mut yard, EVE, DECLINE);
    join(&mut yard, BOB, EVE);
    assert_eq!(club(&yard), Some((ADA, vec![ADA, BOB, EVE])));
    for given in [remove(EVE), hand_over(BOB), rename("Growers"), DISSOLVE] {
        no(&mut yard, BOB, given, Refusal::NotClubOwner);
    }
    no(&mut yard, ADA, remove(DAN), Refusal::NotMember);
    no(&mut yard, ADA, hand_over(DAN), Refusal::NotMember);
    no(&mut yard, ADA, hand_over(ADA), Refusal::AlreadySo);
    no(&mut yard, ADA, rename("Gardeners"), Refusal::AlreadySo);
    done(&mut yard, ADA, remove(EVE));
    // An invite is taken back as a member is removed.
    done(&mut yard, ADA, invite(EVE));
    done(&mut yard, ADA, remove(EVE));
    no(&mut yard, EVE, ACCEPT, Refusal::NoInvite);
    done(&mut yard, ADA, rename("gardeners"));
    done(&mut yard, ADA, hand_over(BOB));
    assert_eq!(club(&yard), Some((BOB, vec![ADA, BOB])));
    assert_eq!(yard.world.root(), yard.world.rehash());
    check_restored(&yard.world);
    done(&mut yard, BOB, DISSOLVE);
    no(&mut yard, ADA, LEAVE, Refusal::NoClub);
    // No number is used twice.
    done(&mut yard, ADA, found("Gardeners"));
    assert_eq!(club(&yard), None);
    assert!(yard.world.club(ClubId(2)).is_some());
    assert_eq!(yard.world.orders().count(), 0, "all of it was everybody's right");
    yard.check_leaves();
}

#[test]
fn names_of_clubs_are_as_those_of_people_and_no_two_look_alike() {
    let mut yard = gardeners();
    no(&mut yard, EVE, found("two\nlines"), Refusal::BadText);
    no(&mut yard, EVE, found("Gard\u{200b}en"), Refusal::UnfitName);
    no(&mut yard, EVE, found("GARDENERS"), Refusal::ClubNameTaken);
    no(&mut yard, EVE, found("Gardene\u{433}s"), Refusal::ClubNameTaken);
    done(&mut yard, EVE, found("player 1"));
    let rename = ClubOrder::Rename { club: ClubId(2), name: "gardeners".to_owned() };
    no(&mut yard, EVE, rename, Refusal::ClubNameTaken);
    for n in 1..CLUBS_PER_PERSON_MAX {
        done(&mut yard, EVE, found(&format!("club {}", "x".repeat(n))));
    }
    no(&mut yard, EVE, found("one more"), Refusal::TooManyClubs);
    done(&mut yard, ADA, invite(EVE));
    no(&mut yard, EVE, ACCEPT, Refusal::TooManyClubs);
}

#[test]
fn a_line_of_a_club_names_it_and_reaches_neither_scripts_nor_who_is_no_member() {
    static HEARD: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let mut builder = Builder::new();
    let ear = builder.port("ear", &[EventKind::Chat], |_| {
        HEARD.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Default::default())
    });
    builder.thing(Motion::Static, (3, 3), &[ear]);
    let mut yard = yard_with(&builder);
    done(&mut yard, ADA, found("Gardeners"));
    assert_eq!(
        say_words(&mut yard, BOB, b"hello".to_vec()).0,
        Outcome::Refused(Refusal::NotMember)
    );
    let (outcome, chat) = say_words(&mut yard, ADA, b"the roses bloom".to_vec());
    assert_eq!(outcome, Outcome::Ok);
    let [line] = &chat[..] else { panic!("{chat:?}") };
    let name = line.club.as_ref().map(|club| (club.club, club.name.as_str()));
    assert_eq!((line.channel, name), (CLUB, Some((FIRST, "Gardeners"))));
    assert_eq!((line.hearer, line.reach(Fx::ONE)), (None, None));
    assert_eq!(yard.world.chat().0.back().map(|entry| entry.channel), Some(CLUB));
    assert_eq!(HEARD.load(std::sync::atomic::Ordering::Relaxed), 0);
    let aloud = yard.say(ADA, 0, "hello");
    yard.play();
    assert_eq!(yard.outcome(&aloud), Outcome::Ok);
    yard.play();
    assert_eq!(HEARD.load(std::sync::atomic::Ordering::Relaxed), 1, "public words are heard");

    let lost = ClubOrder::Say { club: FIRST, body: BlobId(Digest::ZERO) };
    no(&mut yard, ADA, lost, Refusal::NoBlob);
    for words in [b"two\nlines".to_vec(), vec![0xff], vec![b'x'; CHAT_BYTES_MAX + 1]] {
        assert_eq!(say_words(&mut yard, ADA, words).0, Outcome::Refused(Refusal::BadText));
    }
}

#[test]
fn who_is_invited_hears_of_it_and_the_invite_ends_after_a_week() {
    let mut yard = gardeners();
    let act = yard.act(BOB, Act::Club(invite(EVE)));
    let chat = yard.play().chat;
    assert_eq!(yard.outcome(&act), Outcome::Ok);
    let [line] = &chat[..] else { panic!("{chat:?}") };
    assert_eq!((line.channel, line.hearer), (WHISPERED, Some(public(EVE))));
    assert_eq!((line.player, line.club.is_none()), (Some(public(BOB)), true));
    assert!(line.text.contains("Gardeners"), "{}", line.text);
    // Who was away hears of it at the next login.
    yard.act(EVE, Act::Leave);
    yard.play();
    yard.login(EVE);
    let chat = yard.play().chat;
    let [line] = &chat[..] else { panic!("{chat:?}") };
    assert_eq!((line.hearer, line.player), (Some(public(EVE)), Some(public(BOB))));
    // A turn adds a minute at most.
    yard.turn_ms = 60_000;
    yard.idle(CLUB_INVITE_MS / 60_000 - 1);
    assert_eq!(invited(&yard), 1);
    yard.idle(2);
    assert_eq!(invited(&yard), 0);
    yard.login(EVE);
    no(&mut yard, EVE, ACCEPT, Refusal::NoInvite);
}

#[test]
fn a_club_has_so_many_open_invites() {
    let mut yard = gardeners();
    let strangers: Vec<u8> = (20..=20 + CLUB_INVITES_MAX as u8).collect();
    strangers.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
    for n in &strangers[1..] {
        done(&mut yard, ADA, invite(*n));
    }
    no(&mut yard, ADA, invite(strangers[0]), Refusal::TooManyInvites);
}

#[test]
fn the_member_who_is_in_for_longest_follows_an_owner_who_leaves_and_the_last_one_ends_the_club() {
    let mut yard = gardeners();
    join(&mut yard, ADA, EVE);
    done(&mut yard, ADA, LEAVE);
    assert_eq!(club(&yard), Some((BOB, vec![BOB, EVE])));
    done(&mut yard, BOB, remove(BOB));
    assert_eq!(club(&yard), Some((EVE, vec![EVE])));
    done(&mut yard, EVE, LEAVE);
    assert_eq!(club(&yard), None);
    yard.check_leaves();
    check_restored(&yard.world);
}

#[test]
fn a_mute_and_slow_mode_hold_in_a_club_and_quiet_hours_do_not() {
    let mut yard = gardeners();
    yard.turn_ms = 1_000;
    let set = |yard: &mut Yard, name: &str, value: String| {
        let amend = Act::Amend { name: name.to_owned(), value };
        assert_eq!(yard.try_act(ADMIN, amend), Outcome::Ok);
    };
    let minute = |after: u64| ((T0 / 60_000 % 1_440 + after) % 1_440).to_string();
    set(&mut yard, "chat.quiet_from", minute(0));
    set(&mut yard, "chat.quiet_until", minute(30));
    assert_eq!(say(&mut yard, ADA), Outcome::Ok);
    set(&mut yard, "chat.slow_seconds", "10".to_owned());
    assert_eq!(say(&mut yard, ADA), Outcome::Refused(Refusal::SlowMode(8)));
    assert_eq!(say(&mut yard, BOB), Outcome::Ok);
    set(&mut yard, "chat.slow_seconds", "0".to_owned());
    let (seconds, reason) = (None, String::new());
    govern(&mut yard, GovernOrder::Mute { key: public(BOB), seconds, reason });
    assert_eq!(say(&mut yard, BOB), Outcome::Refused(Refusal::Muted));
    // An invite tells somebody something.
    no(&mut yard, BOB, invite(EVE), Refusal::Muted);
    done(&mut yard, BOB, LEAVE);
}

#[test]
fn a_ban_takes_a_key_out_of_the_invites_and_a_ban_for_good_out_of_the_clubs() {
    let mut yard = gardeners();
    let ban =
        |n: u8, seconds| GovernOrder::Ban { key: public(n), seconds, reason: "spam".to_owned() };
    done(&mut yard, BOB, invite(EVE));
    done(&mut yard, ADA, invite(DAN));
    govern(&mut yard, ban(DAN, Some(60)));
    assert_eq!(invited(&yard), 1, "Eve's");
    no(&mut yard, ADA, invite(DAN), Refusal::Banned);
    govern(&mut yard, ban(BOB, Some(60)));
    assert_eq!((invited(&yard), club(&yard)), (0, Some((ADA, vec![ADA, BOB]))));
    assert_eq!(say(&mut yard, BOB), Outcome::Refused(Refusal::Banned));
    govern(&mut yard, ban(ADA, None));
    assert_eq!(club(&yard), Some((BOB, vec![BOB])));
    govern(&mut yard, ban(BOB, None));
    assert_eq!(club(&yard), None);
    yard.check_leaves();
}

#[test]
fn a_rotated_key_is_in_the_clubs_of_the_one_before_and_invited_where_that_was() {
    let mut yard = gardeners();
    done(&mut yard, EVE, found("Rowers"));
    done(&mut yard, EVE, ClubOrder::Invite { club: ClubId(2), key: public(ADA) });
    done(&mut yard, ADA, invite(DAN));
    let rotation = Rotation::new(&key(ADA), &key(NEW), 1);
    let (name, look, pass) = ("Ada".to_owned(), Look::default(), Some(Pass::Rotation(rotation)));
    let login = Act::Login { name, look, bot: false, pass };
    assert_eq!(yard.try_act(NEW, login), Outcome::Ok);
    assert_eq!(club(&yard), Some((NEW, vec![BOB, NEW])));
    let invites = &yard.world.club(FIRST).expect("it goes on").invites;
    assert_eq!(invites[&public(DAN)].by, public(NEW));
    done(&mut yard, NEW, ClubOrder::Accept { club: ClubId(2) });
    assert_eq!(say(&mut yard, NEW), Outcome::Ok);
    assert_eq!(yard.world.root(), yard.world.rehash());
    check_restored(&yard.world);
}

#[test]
fn a_key_that_friends_got_back_is_in_the_clubs_of_the_lost_one() {
    let mut yard = gardeners();
    yard.turn_ms = 60_000;
    let friends = vec![public(BOB)];
    assert_eq!(yard.try_act(ADA, Act::NameFriends { friends, need: 1 }), Outcome::Ok);
    yard.idle(72 * 60 + 1);
    yard.login(BOB);
    let new = NewKeyWord::new(&key(NEW), &public(ADA));
    assert_eq!(yard.try_act(BOB, Act::Vouch { old: public(ADA), new }), Outcome::Ok);
    yard.idle(72 * 60 + 1);
    assert_eq!(club(&yard), Some((NEW, vec![BOB, NEW])));
}

#[test]
fn who_moderates_ends_a_club_of_somebody_below_and_the_record_tells_it() {
    let mut yard = gardeners();
    let end = || Act::Govern(GovernOrder::EndClub { club: FIRST });
    assert_eq!(yard.try_act(BOB, end()), Outcome::Refused(Refusal::NoRight));
    for n in [EVE, DAN] {
        let rights = [RoleRight::Moderate].into();
        govern(&mut yard, GovernOrder::Grant { key: public(n), rights, seconds: None });
    }
    join(&mut yard, ADA, DAN);
    done(&mut yard, ADA, hand_over(DAN));
    assert_eq!(yard.try_act(EVE, end()), Outcome::Refused(Refusal::Outranked));
    done(&mut yard, DAN, hand_over(ADA));
    assert!(yard.world.may_order(&public(EVE), &GovernOrder::EndClub { club: FIRST }).is_ok());
    assert_eq!(yard.try_act(EVE, end()), Outcome::Ok);
    assert_eq!(club(&yard), None);
    assert_eq!(yard.try_act(EVE, end()), Outcome::Refused(Refusal::NoClub));
    let last = yard.world.orders().last().map(|(_, order)| (order.by, order.deed.clone()));
    let deed = OrderedDeed::Govern(GovernOrder::EndClub { club: FIRST });
    assert_eq!(last, Some((public(EVE), deed)));
}

/// Returns the script of a document that calls this function.
fn script_of_the_docs(call: &str) -> &'static str {
    let document = include_str!("../../../docs/scripting.md");
    let mut blocks = document.split("```rhai\n").skip(1);
    let block = blocks.find(|block| block.split("```").next().is_some_and(|it| it.contains(call)));
    block.and_then(|block| block.split("```").next()).expect("a script that calls it")
}

#[test]
fn the_door_of_the_document_opens_for_members_alone() {
    let mut builder = Builder::new();
    let door = builder.package("door", script_of_the_docs("is_member(other, \"Gardeners\")"));
    let door = builder.thing(Motion::Static, (2, 0), &[door]);
    builder.genesis.parameters.avatar.reach = Fx::from_int(10);
    let mut yard = yard_with(&builder);
    done(&mut yard, ADA, found("Gardeners"));
    let is_open = |yard: &Yard| crate::materials::body(yard, door).sensor;
    let touch = Act::Touch { object: door };
    yard.act(EVE, touch.clone());
    let whispers: Vec<_> = (0..3).flat_map(|_| yard.play().chat).map(|line| line.text).collect();
    assert_eq!(
        (is_open(&yard), whispers.join("|")),
        (false, "Only gardeners come in here.".into())
    );
    assert_eq!(yard.try_act(ADA, touch.clone()), Outcome::Ok);
    yard.idle(2);
    assert!(is_open(&yard));
    yard.idle(120);
    assert!(!is_open(&yard));
    done(&mut yard, ADA, LEAVE);
    assert_eq!(yard.try_act(ADA, touch), Outcome::Ok);
    yard.idle(2);
    assert!(!is_open(&yard), "she is in it no more");
}

#[test]
fn the_members_of_a_club_build_on_a_lot_that_is_open_to_it_until_either_ends() {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.reach = Fx::from_int(100);
    let mut yard = yard_with(&builder);
    done(&mut yard, ADA, found("Gardeners"));
    join(&mut yard, ADA, BOB);
    let ground = GroundArea { x: 10, y: 10, width: 16, depth: 16 };
    let (lot, club) = (LotId(1), FIRST);
    let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
    let wall = |x: i32| {
        Act::Build(Build::Place(Blueprint {
            kind: "wall".to_owned(),
            name: "a wall".to_owned(),
            outline: Outline::Box { half: vec2(1, 1) },
            position: vec2(x, 14),
            angle: Angle::ZERO,
            color: 0,
            text: String::new(),
            movable: false,
            licence: AssetLicence::Cc0,
            parts: OutlineParts::default(),
        }))
    };
    let closed = Outcome::Refused(Refusal::ClosedLand);
    let order = |yard: &mut Yard, order| yard.try_act(ADA, Act::Lot(order));
    assert_eq!(order(&mut yard, claim), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, wall(12)), closed);
    let none = LotOrder::OpenToClub { lot, club: ClubId(9) };
    assert_eq!(order(&mut yard, none), Outcome::Refused(Refusal::NoClub));
    let shut = || LotOrder::ShutToClub { lot };
    assert_eq!(order(&mut yard, shut()), Outcome::Refused(Refusal::AlreadySo));
    let open = || LotOrder::OpenToClub { lot, club };
    assert_eq!(order(&mut yard, open()), Outcome::Ok);
    assert_eq!(order(&mut yard, open()), Outcome::Refused(Refusal::AlreadySo));
    let bobs_order = Act::Lot(shut());
    assert_eq!(yard.try_act(BOB, bobs_order), Outcome::Refused(Refusal::NotYours));
    assert!(yard.try_act(BOB, wall(12)).is_done());
    assert_eq!(yard.try_act(EVE, wall(15)), closed);
    assert_eq!(order(&mut yard, shut()), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, wall(15)), closed);
    assert_eq!(order(&mut yard, open()), Outcome::Ok);
    check_restored(&yard.world);
    // Who leaves the club builds there no longer, and nobody does when it has ended.
    done(&mut yard, BOB, LEAVE);
    assert_eq!(yard.try_act(BOB, wall(15)), closed);
    join(&mut yard, ADA, BOB);
    assert!(yard.try_act(BOB, wall(15)).is_done());
    done(&mut yard, ADA, DISSOLVE);
    assert_eq!(yard.world.lot(lot).map(|lot| lot.club), Some(None));
    assert_eq!(yard.try_act(BOB, wall(18)), closed);
    yard.check_leaves();
}
