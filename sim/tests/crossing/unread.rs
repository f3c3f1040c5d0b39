//! What ends when a thing departs: what it has not read, what people let it do, what it asked and offered.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{EventKind, Package};
use metatopia_sim::{ObjectSpec, Permit, RunningScript, Script, ShownForm};
use metatopia_types::{
    Act, Blob, LeafKey, ObjectId, Offer, Origin, Outcome, Permission, Refusal, limits, wire,
};

use crate::{
    rolling::{ball, geneses, let_travel, package, thing},
    things::{amend, is_away, is_in, text, until},
    town::{ADMIN, Place, at, public, step, town_of},
};

/// What has no gas left once it has heard a word.
const SLOW: &str = "fn on_chat(from, text) { let n = 0; while n < 2000 { n += 1; } }\n";

/// How much of all that has been said a thing has read when it departs.
const READ: u64 = 1;
const UNREAD: u64 = 4;

/// A town of two, in the west of which a ball with a script rolls slowly to the east. It travels once somebody says
/// so. `others` stand beside its way.
fn with_ball(package: &Package, others: usize) -> Vec<Place> {
    let mut founded = geneses(2, 4, 0);
    for genesis in &mut founded {
        genesis.packages.insert(package.id(), package.encode());
    }
    for n in 0..=others {
        let place = Vec2::new(Fx::from_int(20), Fx::from_int(8 + 2 * n as i32));
        let mut ball = ball(place, &[package.id()], &Default::default());
        if n == 0 {
            ball.body.velocity = at(4, 0);
        }
        founded[0].objects.push(ObjectSpec { name: format!("ball {n}"), ..ball });
    }
    // A script that has used more than it has is not called again before the end of a test.
    if package.manifest().name == "slow" {
        founded.iter_mut().for_each(|genesis| {
            genesis.parameters.gas.script_refill = 1;
            genesis.parameters.gas.script_capacity = 400;
        });
    }
    town_of(founded)
}

/// Has the admin of a sim say a word, and returns what things show people then.
fn say(town: &mut [Place], n: usize, words: &str) -> Vec<ShownForm> {
    let blob = Blob(words.as_bytes().to_vec());
    let act = Act::Say { channel: 0, body: blob.id() };
    let act = town[n].with_blob(public(ADMIN), act, blob);
    let mut shown = town[n].play(50).forms;
    assert_eq!(town[n].outcome(&act), Outcome::Ok);
    shown.extend(town[n].play(50).forms);
    step(town, 50);
    shown
}

/// Has the admin of a sim do something.
fn does(town: &mut [Place], n: usize, act: Act) -> Outcome {
    let act = town[n].act(public(ADMIN), 1, act);
    town[n].play(50);
    town[n].outcome(&act)
}

/// The only script of a sim, as its leaf has it and as it is listed.
fn only_script(place: &Place) -> (Script, RunningScript) {
    let mut all = place.world.scripts();
    let listed = all.next().expect("a script");
    assert!(all.next().is_none());
    let leaf = place.world.leaf(&LeafKey(format!("script/{}", listed.script))).expect("a leaf");
    (wire::decode(&leaf, limits::LEAF_BYTES_MAX).expect("a script"), listed)
}

#[test]
fn what_waited_for_a_thing_stays_behind_and_is_counted_there_and_at_home() {
    // Whether the east takes the ball.
    for is_taken in [true, false] {
        let mut town = with_ball(&package("slow", SLOW), 0);
        let origin = Origin { sim: town[0].id(), number: ObjectId(1) };
        let share = if is_taken { "64" } else { "0" };
        amend(&mut town[1], "border_things", share);
        for n in 0..READ + UNREAD {
            say(&mut town, 0, &format!("word {n}"));
        }
        let (script, before) = only_script(&town[0]);
        let waiting = script.inbox.waiting().len() as u64;
        assert_eq!((waiting, before.dropped), (UNREAD, 0));
        let_travel(&mut town[..1], true);
        until(&mut town, origin, is_away(origin));
        until(&mut town, origin, is_in(usize::from(is_taken), origin));
        let there = &town[usize::from(is_taken)];
        let (script, after) = only_script(there);
        assert_eq!(after.dropped, UNREAD);
        let mut left = script.inbox.waiting();
        assert!(left.all(|waits| waits.event.kind() != EventKind::Chat), "the words are gone");
        assert_eq!(there.world.root(), there.world.rehash());
    }
}

/// What asks whoever speaks for a permission and a reply, and offers itself.
const ASKER: &str = "\
fn on_chat(from, text) {
    if text == \"may?\" { self_.text = `may ${allowed(from, \"move\")}`; return; }
    if text != self_.name { return; }
    ask(from, \"move\");
    offer(from, #{ tag: \"me\", give: self_ });
    ui(from, #{ tag: \"tea\", title: \"Tea?\", choices: [\"Green\", \"Black\"] });
}
fn on_ui(who, tag, choice, text) { self_.text = `${tag} ${choice}`; }
";

const GIFT: Offer =
    Offer { give: Some(ObjectId(1)), take: None, allow: std::collections::BTreeSet::new() };

/// Lets a thing of a sim move the admin there.
fn allow(town: &mut [Place], n: usize, object: ObjectId) -> Outcome {
    let terms = Offer { allow: [Permission::Move].into(), ..Offer::default() };
    does(town, n, Act::Answer { object, terms, accepts: true })
}

fn accept(town: &mut [Place], n: usize, object: ObjectId, terms: Offer) -> Outcome {
    does(town, n, Act::Answer { object, terms, accepts: true })
}

fn reply(town: &mut [Place], n: usize, object: ObjectId) -> Outcome {
    does(town, n, Act::Reply { object, tag: "tea".into(), choice: 1, text: String::new() })
}

/// Returns the things that have permissions of the admin of a sim.
fn permits(place: &Place) -> Vec<ObjectId> {
    let player = place.world.player(&public(ADMIN)).expect("the admin");
    let permits = &player.session.as_ref().expect("a session").permits;
    permits.iter().map(|permit: &Permit| permit.thing).collect()
}

/// A town in which two balls have asked the admin of the west for something, and may move her. She has answered
/// neither their offers nor their forms. The first one is under way.
fn asked() -> (Vec<Place>, Origin) {
    let mut town = with_ball(&package("asker", ASKER), 1);
    let origin = Origin { sim: town[0].id(), number: ObjectId(1) };
    for n in 0..2 {
        let forms = say(&mut town, 0, &format!("ball {n}"));
        assert_eq!(forms.len(), 3, "{forms:?}");
        assert_eq!(allow(&mut town, 0, ObjectId(n + 1)), Outcome::Ok);
    }
    assert_eq!(permits(&town[0]), [1, 2].map(ObjectId));
    assert_eq!(reply(&mut town, 0, ObjectId(1)), Outcome::Ok);
    say(&mut town, 0, "may?");
    assert_eq!(text(&town[0], origin), "may true");
    let object = ObjectId(1);
    let travels = Act::Build(metatopia_types::Build::LetTravel { object, travels: true });
    assert_eq!(does(&mut town, 0, travels), Outcome::Ok);
    until(&mut town, origin, is_away(origin));
    (town, origin)
}

#[test]
fn what_a_thing_may_do_to_people_what_it_asks_and_what_it_offers_ends_when_it_departs() {
    let (mut town, origin) = asked();
    // Only what people let this thing do has ended.
    assert_eq!(permits(&town[0]), [ObjectId(2)]);
    let gone = Outcome::Refused(Refusal::NoObject);
    assert_eq!(accept(&mut town, 0, ObjectId(1), GIFT), gone);
    assert_eq!(reply(&mut town, 0, ObjectId(1)), gone);
    until(&mut town, origin, is_in(1, origin));
    let here = thing(&town[1], origin).expect("it came").id;
    say(&mut town, 1, "may?");
    assert_eq!(text(&town[1], origin), "may false");
    for give in [ObjectId(1), here] {
        let terms = Offer { give: Some(give), ..GIFT };
        let outcome = accept(&mut town, 1, here, terms);
        assert_eq!(outcome, Outcome::Refused(Refusal::NoOffer));
    }
    assert_eq!(thing(&town[1], origin).expect("it is there").owner, Some(public(7)));
    // It asks anew over there, and only that counts.
    assert_eq!(say(&mut town, 1, "ball 0").len(), 3);
    assert_eq!(allow(&mut town, 1, here), Outcome::Ok);
    assert_eq!(permits(&town[1]), [here]);
    assert_eq!(permits(&town[0]), [ObjectId(2)]);
}

/// A thing that comes home has its number again, and nothing that was agreed under this number before.
#[test]
fn a_thing_that_comes_home_may_do_nothing_that_it_might_before_and_offers_nothing() {
    let (mut town, origin) = asked();
    amend(&mut town[1], "border_things", "0");
    until(&mut town, origin, is_in(0, origin));
    let home = thing(&town[0], origin).expect("it came home").id;
    assert_eq!((home, permits(&town[0])), (ObjectId(1), vec![ObjectId(2)]));
    let no_offer = Outcome::Refused(Refusal::NoOffer);
    assert_eq!(accept(&mut town, 0, home, GIFT), no_offer);
    assert_eq!(allow(&mut town, 0, home), Outcome::Refused(Refusal::NoOffer));
    say(&mut town, 0, "may?");
    assert_eq!(text(&town[0], origin), "may false");
    assert_eq!(thing(&town[0], origin).expect("it is there").owner, Some(public(7)));
    town.iter().for_each(|place| assert_eq!(place.world.root(), place.world.rehash()));
}
