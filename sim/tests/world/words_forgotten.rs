//! Words that servers are to forget: who may have which forgotten, and what the state keeps of it.

use metatopia_sim::{
    ForgottenWords, OrderedDeed, Warrant, World,
    limits::{FORGOTTEN_OWN_PER_DAY, HISTORY_DAYS_MAX},
};
use metatopia_types::{
    Act, Blob, BlobId, Digest, GovernOrder, Height, Look, Millis, Outcome, Pass, Refusal,
    RoleRight, Rotation, SealedWords, limits::SEALED_CLASSES, limits::SEALED_TAG_BYTES,
};

use crate::yard::{Builder, Yard, key, public};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;
const MODERATOR: u8 = 4;

/// The key that takes the place of another.
const NEW: u8 = 11;

/// A yard in which whoever was there on so many days is no newcomer, with a moderator.
fn yard_of(seen_days: u32) -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.seen_days = seen_days;
    let mut yard = builder.build();
    [ADMIN, ADA, BOB, MODERATOR].into_iter().for_each(|n| drop(yard.login(n)));
    yard.play();
    let rights = [RoleRight::Moderate].into();
    let grant = GovernOrder::Grant { key: public(MODERATOR), rights, seconds: None };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    yard
}

fn yard() -> Yard {
    yard_of(1)
}

fn refused(why: Refusal) -> Outcome {
    Outcome::Refused(why)
}

fn id(text: &str) -> BlobId {
    Blob(text.as_bytes().to_vec()).id()
}

fn say(yard: &mut Yard, n: u8, text: &str) -> Height {
    let act = yard.say(n, 1, text);
    yard.play();
    assert_eq!(yard.outcome(&act), Outcome::Ok);
    yard.world.height()
}

/// Has somebody forget words. Returns the outcome, and what servers are told to drop.
fn forget(yard: &mut Yard, n: u8, height: Height, body: BlobId) -> (Outcome, Vec<ForgottenWords>) {
    let act = yard.act(n, Act::Forget { height, body });
    let forgotten = yard.play().forgotten;
    (yard.outcome(&act), forgotten)
}

fn kept(world: &World) -> Vec<(Height, BlobId)> {
    world.forgotten().map(|words| (words.height, words.body)).collect()
}

#[test]
fn who_said_a_line_has_it_forgotten_and_the_state_remembers_which_and_no_words() {
    let mut yard = yard();
    let height = say(&mut yard, ADA, "never mind");
    let orders = yard.world.orders().count();

    let (outcome, told) = forget(&mut yard, ADA, height, id("never mind"));

    assert_eq!(outcome, Outcome::Ok);
    let [words] = &told[..] else { panic!("{told:?}") };
    assert_eq!((words.height, words.body), (height, id("never mind")));
    assert_eq!(words.by, Some(public(ADA)), "only if it was she who said it");
    assert_eq!(yard.world.chat().0.len(), 0);
    assert_eq!(kept(&yard.world), [(height, id("never mind"))]);
    assert_eq!(yard.world.orders().count(), orders, "one's own right is nobody's matter");
    assert_eq!(yard.world.root(), yard.world.rehash());
    let tools = Builder::new().tools();
    let restored = World::from_snapshot(&yard.world.snapshot(), yard.world.root(), &tools);
    assert_eq!(kept(&restored.expect("it was just made")), kept(&yard.world));

    let again = forget(&mut yard, ADA, height, id("never mind"));
    assert_eq!(again, (refused(Refusal::AlreadySo), Vec::new()));
}

#[test]
fn a_moderator_has_lines_of_those_below_forgotten_and_that_is_recorded() {
    let mut yard = yard();
    let height = say(&mut yard, ADA, "an address");
    let boss = say(&mut yard, ADMIN, "by order");

    assert_eq!(forget(&mut yard, BOB, height, id("an address")).0, refused(Refusal::NoRight));
    let (outcome, told) = forget(&mut yard, MODERATOR, height, id("an address"));
    assert_eq!((outcome, told[0].by), (Outcome::Ok, None));
    let (_, order) = yard.world.orders().last().expect("a record");
    let person = Some(public(ADA));
    let deed = OrderedDeed::Forget { height, body: id("an address"), person };
    assert_eq!((&order.deed, order.warrant), (&deed, Warrant::Role));
    assert_eq!(forget(&mut yard, MODERATOR, boss, id("by order")).0, refused(Refusal::Outranked));
}

#[test]
fn words_that_the_state_forgot_are_dropped_for_whose_they_are_and_for_moderators() {
    let mut yard = yard();
    let (height, gone) = (Height(1), id("long ago"));
    let (outcome, told) = forget(&mut yard, BOB, height, gone);
    assert_eq!((outcome, told[0].by), (Outcome::Ok, Some(public(BOB))));
    // Bob's claim to them keeps no moderator from having anybody's forgotten.
    let (outcome, told) = forget(&mut yard, MODERATOR, height, gone);
    assert_eq!((outcome, told[0].by), (Outcome::Ok, None));
    assert_eq!(forget(&mut yard, ADA, height, gone).0, refused(Refusal::AlreadySo));

    let now = yard.world.height();
    for height in [Height(0), now.plus(9)] {
        assert_eq!(forget(&mut yard, ADA, height, gone).0, refused(Refusal::NoSuchWords));
    }
    assert_eq!(forget(&mut yard, 77, now, gone).0, refused(Refusal::NotLoggedIn));
}

/// A thousand free keys filled the list with words that nobody said, and those of others were never dropped.
#[test]
fn newcomers_have_words_forgotten_that_the_state_knows_to_be_theirs() {
    let mut yard = yard_of(3);
    let nowhere = id("never said");
    assert_eq!(forget(&mut yard, BOB, Height(1), nowhere).0, refused(Refusal::NoSuchWords));
    let height = say(&mut yard, BOB, "my address");
    assert_eq!(forget(&mut yard, BOB, height, id("my address")).0, Outcome::Ok);
    assert_eq!(forget(&mut yard, BOB, height, id("my address")).0, refused(Refusal::AlreadySo));
    // Words that come in the same turn, perhaps behind the act, would stay.
    let next = yard.world.height().plus(1);
    assert_eq!(forget(&mut yard, MODERATOR, next, nowhere).0, refused(Refusal::NoSuchWords));
}

#[test]
fn one_person_has_so_many_words_forgotten_a_day_and_a_moderator_any_number() {
    let mut yard = yard();
    let body = |n: usize| BlobId(Digest::of("a test", &n.to_le_bytes()));
    for n in 0..FORGOTTEN_OWN_PER_DAY {
        assert_eq!(forget(&mut yard, ADA, Height(1), body(n)).0, Outcome::Ok);
        assert_eq!(forget(&mut yard, MODERATOR, Height(2), body(n)).0, Outcome::Ok);
    }
    let more = body(FORGOTTEN_OWN_PER_DAY);
    assert_eq!(forget(&mut yard, ADA, Height(1), more).0, refused(Refusal::TooOften));
    assert_eq!(forget(&mut yard, MODERATOR, Height(2), more).0, Outcome::Ok);
    yard.turn_ms = 60_000;
    yard.idle(24 * 60 + 1);
    yard.login(ADA);
    yard.play();
    assert_eq!(forget(&mut yard, ADA, Height(1), more).0, Outcome::Ok, "tomorrow");
}

#[test]
fn private_words_leave_the_mailbox_for_who_told_them_or_was_told_and_for_nobody_else() {
    for by in [ADA, BOB] {
        let mut yard = yard();
        let encrypted = vec![9; SEALED_CLASSES[0] + SEALED_TAG_BYTES];
        let commitment = metatopia_types::words_commitment(
            yard.world.sim(),
            (&public(ADA), &public(BOB)),
            &Digest([4; 32]),
            "hush",
        );
        let sealed = SealedWords { passing: [1; 32], nonce: [6; 24], commitment, encrypted };
        let blob = Blob(sealed.encode());
        let body = blob.id();
        yard.act_with(ADA, Act::Tell { to: public(BOB), sealed: body }, blob);
        yard.play();
        let height = yard.world.height();
        assert_eq!(yard.world.mailbox(public(BOB), 0).count(), 1);

        assert_eq!(forget(&mut yard, MODERATOR, height, body).0, refused(Refusal::NotYours));
        let (outcome, told) = forget(&mut yard, by, height, body);
        assert_eq!((outcome, told[0].by), (Outcome::Ok, Some(public(by))));
        assert_eq!(yard.world.mailbox(public(BOB), 0).count(), 0);
        assert_eq!(yard.world.root(), yard.world.rehash());
    }
}

#[test]
fn who_gave_a_key_up_has_what_it_said_forgotten() {
    let mut yard = yard();
    let height = say(&mut yard, BOB, "before");
    let rotation = Rotation::new(&key(BOB), &key(NEW), 1);
    let (name, look, pass) = ("Bob".to_owned(), Look::default(), Some(Pass::Rotation(rotation)));
    assert_eq!(yard.try_act(NEW, Act::Login { name, look, bot: false, pass }), Outcome::Ok);

    let (outcome, told) = forget(&mut yard, NEW, height, id("before"));

    assert_eq!((outcome, told[0].by), (Outcome::Ok, Some(public(BOB))), "the key that said it");
}

#[test]
fn a_hole_is_left_by_words_alone_and_only_where_all_who_name_them_may_forget() {
    let mut yard = yard();
    yard.say(ADA, 0, "hello");
    yard.publish(BOB, b"source".to_vec());
    yard.say(ADA, 0, "source");
    let turn = yard.turn();
    let holed = turn.without(|_| true).expect("words");
    assert_eq!(holed.body.forgotten().collect::<Vec<_>>(), [id("hello")]);
    assert_eq!(holed.check_body(), Ok(()));
    assert_eq!((holed.id(), holed.body.blobs_root()), (turn.id(), turn.body.blobs_root()));
    assert!(!holed.body.is_whole() && holed.without(|_| true).is_none());
    assert!(turn.without(|act| act.envelope.author == public(BOB)).is_none());
}

#[test]
fn servers_keep_words_for_as_many_days_as_the_charter_says() {
    let mut yard = yard();
    let set = |yard: &mut Yard, days: u32| {
        let (name, value) = ("chat.history_days".to_owned(), days.to_string());
        yard.try_act(ADMIN, Act::Amend { name, value })
    };
    let since = |yard: &Yard| yard.world.parameters().chat.kept_since(Millis(400 * 86_400_000));
    assert_eq!(since(&yard), Some(Millis(370 * 86_400_000)), "30 days unless somebody says more");
    assert_eq!(set(&mut yard, HISTORY_DAYS_MAX), Outcome::Ok);
    assert_eq!(since(&yard), Some(Millis(34 * 86_400_000)));
    assert_eq!(set(&mut yard, HISTORY_DAYS_MAX + 1), refused(Refusal::OutOfRange));
    assert_eq!(set(&mut yard, 0), Outcome::Ok);
    assert_eq!(since(&yard), None, "for ever");
}
