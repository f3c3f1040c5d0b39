//! Private words: who may tell whom, what is kept of it, and what a reader shows to moderators; and when public
//! words are heard.

use metatopia_sim::{
    ToldWords, World,
    limits::{MAILBOX_PER_AUTHOR_MAX, TOLD_PER_TURN_MAX},
};
use metatopia_types::{
    Act, Blob, BlobId, Digest, GovernOrder, Look, OpenedWords, Outcome, Pass, Refusal,
    ReportSubject, RoleRight, Rotation, SealedWords, SignedEnvelope,
    limits::{SEALED_CLASSES, SEALED_TAG_BYTES},
    wire, words_commitment,
};

use crate::yard::{Builder, T0, Yard, key, public};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const EVE: u8 = 3;
/// The key that takes the place of another.
const NEW: u8 = 11;

/// What opens all words of these tests: nobody reads them here.
const OPENING: Digest = Digest([4; 32]);

fn yard() -> Yard {
    let mut yard = Builder::new().build();
    [ADMIN, ADA, BOB, EVE].into_iter().for_each(|n| drop(yard.login(n)));
    yard.play();
    yard
}

/// Reads the state back from its leaves.
fn restored(world: &World) -> World {
    let tools = Builder::new().tools();
    World::from_snapshot(&world.snapshot(), world.root(), &tools).expect("it was just made")
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

/// Returns words as `by` seals them for `to`.
fn sealed(yard: &Yard, by: u8, to: u8, text: &str) -> Blob {
    let commitment = words_commitment(yard.world.sim(), (&public(by), &public(to)), &OPENING, text);
    let mut encrypted = vec![0; SEALED_CLASSES[0] + SEALED_TAG_BYTES];
    encrypted[..text.len()].copy_from_slice(text.as_bytes());
    encrypted.iter_mut().for_each(|byte| *byte ^= 0x5a);
    Blob(SealedWords { passing: [by; 32], nonce: [6; 24], commitment, encrypted }.encode())
}

fn tell(yard: &mut Yard, by: u8, to: u8, text: &str) -> SignedEnvelope {
    let blob = sealed(yard, by, to, text);
    yard.act_with(by, Act::Tell { to: public(to), sealed: blob.id() }, blob)
}

fn try_tell(yard: &mut Yard, by: u8, to: u8, text: &str) -> (Outcome, Vec<ToldWords>) {
    let act = tell(yard, by, to, text);
    let told = yard.play().told;
    (yard.outcome(&act), told)
}

/// Reports words of somebody by what opens them.
fn report(yard: &mut Yard, n: u8, by: u8, opened: &OpenedWords) -> Outcome {
    let blob = Blob(wire::encode(opened));
    let about = ReportSubject::Words { by: public(by), opened: blob.id() };
    let act = yard.act_with(n, Act::FileReport { about, words: "a threat".to_owned() }, blob);
    yard.play();
    yard.outcome(&act)
}

fn numbers(yard: &Yard, n: u8) -> Vec<u64> {
    yard.world.mailbox(public(n), 0).map(|(number, _)| number).collect()
}

#[test]
fn words_are_told_to_one_person_and_wait_in_the_mailbox_of_who_is_away() {
    let mut yard = yard();
    let (outcome, told) = try_tell(&mut yard, ADA, BOB, "under the mat");
    assert_eq!(outcome, Outcome::Ok);
    let [words] = &told[..] else { panic!("{told:?}") };
    assert_eq!((words.to, words.number, words.name.as_str()), (public(BOB), 1, "player 1"));
    assert_eq!(words.words.by(), public(ADA));
    assert_eq!(yard.world.chat().0.len(), 0, "nobody else hears of it");

    yard.act(BOB, Act::Leave);
    yard.play();
    assert_eq!(try_tell(&mut yard, EVE, BOB, "come back").0, Outcome::Ok);
    assert_eq!(numbers(&yard, BOB), [1, 2]);
    assert_eq!(numbers(&yard, ADA), Vec::<u64>::new());
    assert_eq!(yard.world.root(), yard.world.rehash());
    let restored = restored(&yard.world);
    assert_eq!(restored.root(), yard.world.root());
    assert_eq!(restored.mailbox(public(BOB), 1).count(), 1);

    let empty = |up_to| Act::EmptyMailbox { up_to };
    assert_eq!(yard.try_act(BOB, empty(9)), refused(Refusal::NotLoggedIn));
    yard.login(BOB);
    assert_eq!(yard.try_act(BOB, empty(1)), Outcome::Ok);
    assert_eq!(numbers(&yard, BOB), [2]);
    assert_eq!(yard.try_act(BOB, empty(2)), Outcome::Ok);
    assert_eq!(yard.try_act(BOB, empty(2)), refused(Refusal::AlreadySo));
}

#[test]
fn words_that_nobody_could_read_or_that_may_not_be_told_are_refused() {
    let mut yard = yard();
    assert_eq!(try_tell(&mut yard, ADA, 77, "who?").0, refused(Refusal::NoPlayer));
    assert_eq!(try_tell(&mut yard, 77, ADA, "hello").0, refused(Refusal::NotLoggedIn));
    let lost = Act::Tell { to: public(BOB), sealed: BlobId(Digest::ZERO) };
    assert_eq!(yard.try_act(ADA, lost), refused(Refusal::NoBlob));
    let whole = sealed(&yard, ADA, BOB, "hello").0;
    for wrong in [&b"hello"[..], &whole[..whole.len() - 1], &[&whole[..], &[0]].concat()] {
        let blob = Blob(wrong.to_vec());
        let act = yard.act_with(ADA, Act::Tell { to: public(BOB), sealed: blob.id() }, blob);
        yard.play();
        assert_eq!(yard.outcome(&act), refused(Refusal::BadSeal));
    }
    // A mute reaches private words, and a ban takes out of mailboxes what the key told.
    assert_eq!(try_tell(&mut yard, ADA, BOB, "spam").0, Outcome::Ok);
    let (key, seconds, reason) = (public(ADA), None, String::new());
    let mute = GovernOrder::Mute { key, seconds, reason: reason.clone() };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(mute)), Outcome::Ok);
    assert_eq!(try_tell(&mut yard, ADA, BOB, "more").0, refused(Refusal::Muted));
    assert_eq!(numbers(&yard, BOB), [1]);
    let ban = GovernOrder::Ban { key, seconds, reason };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(ban)), Outcome::Ok);
    assert_eq!(numbers(&yard, BOB), Vec::<u64>::new());
}

#[test]
fn a_crowd_tells_one_person_so_many_words_a_turn_and_each_of_them_one() {
    let mut yard = yard();
    for n in 10..20 {
        yard.login(n);
    }
    yard.play();
    let acts: Vec<_> = (10..20).map(|n| tell(&mut yard, n, BOB, "hello")).collect();
    let elsewhere = tell(&mut yard, EVE, ADA, "hello");
    let told = yard.play().told;
    let done = acts.iter().filter(|act| yard.outcome(act) == Outcome::Ok).count();
    assert_eq!((done, yard.outcome(&elsewhere)), (TOLD_PER_TURN_MAX, Outcome::Ok));
    assert_eq!(told.len(), TOLD_PER_TURN_MAX + 1);
    let too_often = |act: &&SignedEnvelope| yard.outcome(act) == refused(Refusal::TooOften);
    assert_eq!(acts.iter().filter(too_often).count(), acts.len() - TOLD_PER_TURN_MAX);

    let [first, second] = [ADA, ADMIN].map(|to| tell(&mut yard, EVE, to, "twice"));
    yard.play();
    assert_eq!(yard.outcome(&first), Outcome::Ok);
    assert_eq!(yard.outcome(&second), refused(Refusal::TooOften));
    // The last words of an author stay in a mailbox.
    for n in 0..=MAILBOX_PER_AUTHOR_MAX {
        assert_eq!(try_tell(&mut yard, ADA, EVE, &format!("line {n}")).0, Outcome::Ok);
    }
    assert_eq!(numbers(&yard, EVE).len(), MAILBOX_PER_AUTHOR_MAX);
}

#[test]
fn newcomers_keep_nobody_else_from_telling_somebody_something() {
    let mut builder = Builder::new();
    builder.genesis.parameters.seen_days = 2;
    let mut yard = builder.build();
    [ADA, BOB].into_iter().for_each(|n| drop(yard.login(n)));
    // A turn adds a minute at most, and Ada is seen on another day.
    yard.turn_ms = 60_000;
    yard.idle(24 * 60 + 1);
    let newcomers: Vec<u8> = (10..20).collect();
    newcomers.iter().chain(&[ADA]).for_each(|n| drop(yard.login(*n)));
    yard.play();
    let acts: Vec<_> = newcomers.iter().map(|n| tell(&mut yard, *n, BOB, "buy")).collect();
    let hers = tell(&mut yard, ADA, BOB, "hello");
    yard.play();
    let done = acts.iter().filter(|act| yard.outcome(act) == Outcome::Ok).count();
    assert_eq!((done, yard.outcome(&hers)), (TOLD_PER_TURN_MAX, Outcome::Ok));
}

#[test]
fn who_gives_up_a_key_answers_for_what_it_told() {
    let mut yard = yard();
    let act = tell(&mut yard, BOB, ADA, "or else");
    yard.play();
    let rotation = Rotation::new(&key(BOB), &key(NEW), 1);
    let (name, look, pass) = ("Bob".to_owned(), Look::default(), Some(Pass::Rotation(rotation)));
    assert_eq!(yard.try_act(NEW, Act::Login { name, look, bot: false, pass }), Outcome::Ok);

    let sealed = sealed(&yard, BOB, ADA, "or else").0;
    let opened = OpenedWords { act, sealed, opening: OPENING, text: "or else".into() };
    assert_eq!(report(&mut yard, ADA, BOB, &opened), Outcome::Ok);
    let accused: Vec<_> = yard.world.reports_after(0).map(|(_, report)| report.accused).collect();
    assert_eq!(accused, [Some(public(NEW))]);

    assert_eq!(numbers(&yard, ADA).len(), 1);
    let ban = GovernOrder::Ban { key: public(NEW), seconds: None, reason: "a threat".to_owned() };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(ban)), Outcome::Ok);
    assert_eq!(numbers(&yard, ADA), Vec::<u64>::new());
}

#[test]
fn a_reader_shows_moderators_one_of_her_words_and_nothing_that_was_not_told() {
    let mut yard = yard();
    let act = tell(&mut yard, BOB, ADA, "or else");
    yard.play();
    let blob = sealed(&yard, BOB, ADA, "or else").0;
    let opened = OpenedWords { act, sealed: blob, opening: OPENING, text: "or else".to_owned() };

    let invented = OpenedWords { text: "worse".to_owned(), ..opened.clone() };
    assert_eq!(report(&mut yard, ADA, BOB, &invented), refused(Refusal::NotOpened));
    // Somebody else tells nothing about it, and nobody else is accused of it.
    assert_eq!(report(&mut yard, EVE, BOB, &opened), refused(Refusal::NotOpened));
    assert_eq!(report(&mut yard, ADA, EVE, &opened), refused(Refusal::NotOpened));
    let lost = ReportSubject::Words { by: public(BOB), opened: BlobId(Digest::ZERO) };
    let lost = Act::FileReport { about: lost, words: "a threat".to_owned() };
    assert_eq!(yard.try_act(ADA, lost), refused(Refusal::NoBlob));
    let no_words = Blob(b"no words".to_vec());
    let about = ReportSubject::Words { by: public(BOB), opened: no_words.id() };
    let act = Act::FileReport { about, words: "a threat".to_owned() };
    let act = yard.act_with(ADA, act, no_words);
    yard.play();
    assert_eq!(yard.outcome(&act), refused(Refusal::NotOpened));

    // The reader may have taken them out of her mailbox.
    assert_eq!(yard.try_act(ADA, Act::EmptyMailbox { up_to: 1 }), Outcome::Ok);
    assert_eq!(report(&mut yard, ADA, BOB, &opened), Outcome::Ok);
    let filed = yard.world.report(1).expect("a report");
    assert_eq!((filed.opened.as_deref(), filed.accused), (Some("or else"), Some(public(BOB))));
    assert_eq!((filed.name.as_str(), filed.words.as_str()), ("player 2", "a threat"));
    assert_eq!(report(&mut yard, ADA, BOB, &opened), refused(Refusal::AlreadySo));
    assert_eq!(yard.world.root(), yard.world.rehash());
    assert_eq!(restored(&yard.world).root(), yard.world.root());
}

fn say(yard: &mut Yard, n: u8, channel: u8) -> Outcome {
    let act = yard.say(n, channel, "hello");
    yard.play();
    yard.outcome(&act)
}

fn set(yard: &mut Yard, name: &str, value: &str) {
    let amend = Act::Amend { name: name.to_owned(), value: value.to_owned() };
    assert_eq!(yard.try_act(ADMIN, amend), Outcome::Ok, "{name} {value}");
}

fn let_moderate(yard: &mut Yard, n: u8) {
    let rights = [RoleRight::Moderate].into();
    let grant = GovernOrder::Grant { key: public(n), rights, seconds: None };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
}

#[test]
fn in_slow_mode_people_say_a_line_in_so_many_seconds_and_moderators_do_not_wait() {
    let mut yard = yard();
    yard.turn_ms = 1_000;
    assert_eq!((say(&mut yard, ADA, 0), say(&mut yard, ADA, 0)), (Outcome::Ok, Outcome::Ok));
    set(&mut yard, "chat.slow_seconds", "10");
    let_moderate(&mut yard, EVE);
    // A line that was said before counts: since then three turns of a second passed.
    assert_eq!(say(&mut yard, ADA, 1), refused(Refusal::SlowMode(7)));
    assert_eq!(say(&mut yard, BOB, 0), Outcome::Ok);
    assert_eq!(say(&mut yard, EVE, 0), Outcome::Ok);
    assert_eq!((say(&mut yard, EVE, 0), say(&mut yard, ADMIN, 0)), (Outcome::Ok, Outcome::Ok));
    // Whoever comes anew has not waited.
    yard.act(ADA, Act::Leave);
    yard.play();
    yard.login(ADA);
    assert_eq!(say(&mut yard, ADA, 0), refused(Refusal::SlowMode(1)));
    assert_eq!(say(&mut yard, ADA, 0), Outcome::Ok);
    assert_eq!(try_tell(&mut yard, ADA, BOB, "private words go on").0, Outcome::Ok);
    set(&mut yard, "chat.slow_seconds", "0");
    assert_eq!(say(&mut yard, ADA, 0), Outcome::Ok);
}

#[test]
fn in_quiet_hours_only_moderators_are_heard_in_public() {
    let mut yard = yard();
    let now = T0 / 60_000 % 1_440;
    let minute = |after: u64| ((now + after) % 1_440).to_string();
    set(&mut yard, "chat.quiet_from", &minute(0));
    let_moderate(&mut yard, EVE);
    set(&mut yard, "chat.quiet_until", &minute(30));
    for channel in [0, 1] {
        assert_eq!(say(&mut yard, ADA, channel), refused(Refusal::QuietHours(30)));
        assert_eq!(say(&mut yard, EVE, channel), Outcome::Ok);
    }
    assert_eq!(try_tell(&mut yard, ADA, BOB, "private words go on").0, Outcome::Ok);
    // Quiet hours that begin later are none now, nor are those that end when they begin.
    set(&mut yard, "chat.quiet_from", &minute(1));
    assert_eq!(say(&mut yard, ADA, 0), Outcome::Ok);
    set(&mut yard, "chat.quiet_until", &minute(1));
    assert_eq!(say(&mut yard, ADA, 0), Outcome::Ok);
}
