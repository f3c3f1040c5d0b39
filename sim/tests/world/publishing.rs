//! Publishing: who may bring source into a sim, what it costs, how scripts are upgraded, and what leaves.

use metatopia_scripting::{Package, limits::FILE_BYTES_MAX};
use metatopia_sim::{
    Area, Denied, Land, Parameters, Publishers, Right, World,
    limits::{
        PACKAGE_BYTES_PER_PUBLISHER_MAX, PACKAGE_UNUSED_MS_MAX, PUBLISHED_BYTES_PER_AUTHOR_MAX,
        PUBLISHED_BYTES_PER_TURN_MAX, PUBLISHES_PER_TURN_MAX, PUBLISHING_GAS_PER_BYTE,
        PUBLISHING_HEIGHTS, UNDO_ENTRIES_MAX,
    },
};
use metatopia_types::{
    Act, BlobId, Build, Digest, ObjectId, Outcome, PackageId, Refusal, ScriptId, Title,
};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Builder, Yard, package, public, vec2},
};

const COUNTER: &str = "fn on_start() { state.n = 0; }
    fn on_touch(other) { state.n += 1; self_.text = `${state.n} touches`; }";

const BETTER: &str = "fn on_upgrade() { state.n += 100; }
    fn on_touch(other) { state.n += 1; self_.text = `better: ${state.n}`; }";

fn published(yard: &mut Yard, n: u8, package: &Package) -> Outcome {
    let act = yard.publish(n, package.encode());
    yard.play();
    yard.outcome(&act)
}

/// Returns a yard in which player 1 has published a counter, with the box that runs it.
fn counting() -> (Yard, ObjectId, ScriptId) {
    let mut yard = site(&mut Builder::new());
    let counter = package("counter", COUNTER);
    assert_eq!(published(&mut yard, 1, &counter), Outcome::Ok);
    let object = place(&mut yard, 1, block(3, 1));
    let attached = Build::Attach { object, package: counter.id() };
    assert_eq!(built(&mut yard, 1, attached), Outcome::Ok);
    let script = yard.world.object(object).expect("the box").scripts[0].0;
    (yard, object, script)
}

fn touch(yard: &mut Yard, object: ObjectId) -> String {
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    yard.world.object(object).expect("it is there").text
}

fn upgrade(yard: &mut Yard, object: ObjectId, script: ScriptId, source: &str) -> PackageId {
    let next = package("counter", source);
    assert_eq!(published(yard, 1, &next), Outcome::Ok);
    let upgrade = Build::Upgrade { object, script, package: next.id() };
    assert_eq!(built(yard, 1, upgrade), Outcome::Ok);
    next.id()
}

fn runs(yard: &Yard, script: ScriptId) -> (PackageId, Option<PackageId>) {
    let found = yard.world.scripts().find(|running| running.script == script);
    let running = found.expect("it runs");
    (running.package, running.fallback)
}

/// Checks that a world that is restored here goes on as this one.
fn check_restored(yard: &Yard, tools: &metatopia_sim::Tools) {
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    let restored = World::from_snapshot(&snapshot, root, tools).expect("its own snapshot");
    assert_eq!((restored.root(), yard.world.rehash()), (root, root));
}

#[test]
fn what_is_published_is_read_attached_and_kept() {
    let (mut yard, object, _) = counting();
    let id = package("counter", COUNTER).id();

    assert_eq!(touch(&mut yard, object), "1 touches");

    let source = yard.world.package(&id).expect("it is there");
    assert_eq!(source.entry(), COUNTER);
    let record = yard.world.publication(&id).expect("a record");
    assert_eq!((record.publisher, record.left), (Some(public(1)), None));
    assert_eq!(record.licence, "AGPL-3.0-or-later");
    assert_eq!(record.unused_since, None, "a script runs it");
    check_restored(&yard, &Builder::new().tools());
}

#[test]
fn the_same_package_from_two_people_is_one_and_no_refusal() {
    let mut yard = site(&mut Builder::new());
    let counter = package("counter", COUNTER);
    // The bytes are one blob of the turn that both acts name.
    let first = yard.publish(1, counter.encode());
    let source = metatopia_types::Blob(counter.encode()).id();
    let second = yard.act(2, Act::Publish { source });
    yard.play();

    let outcomes = [yard.outcome(&first), yard.outcome(&second)];
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok]);
    let publisher = yard.world.publication(&counter.id()).expect("a record").publisher;
    assert!([Some(public(1)), Some(public(2))].contains(&publisher));
}

#[test]
fn what_is_no_package_is_refused() {
    let mut yard = site(&mut Builder::new());
    let broken = package("broken", "fn on_start() { say(\"hello\" }");
    for bytes in [b"no package".to_vec(), vec![], broken.encode()] {
        let act = yard.publish(1, bytes);
        yard.play();
        assert_eq!(yard.outcome(&act), refused(Refusal::BadPackage));
    }
    let source = BlobId(Digest::ZERO);
    assert_eq!(yard.try_act(1, Act::Publish { source }), refused(Refusal::NoBlob));
    assert_eq!(yard.world.packages().count(), 0);
}

#[test]
fn the_charter_says_who_may_publish() {
    let counter = package("counter", COUNTER);
    for (rule, may) in [
        (Publishers::Anybody, [true, true, true]),
        (Publishers::Seen, [true, false, false]),
        (Publishers::Builders, [true, true, false]),
        (Publishers::Admins, [true, false, false]),
    ] {
        let mut builder = Builder::new();
        builder.genesis.parameters.publishers = rule;
        builder.genesis.lands.push(Land {
            name: "garden".to_owned(),
            area: Area { low: vec2(20, 20), high: vec2(30, 30) },
            title: Title::Player(public(1)),
        });
        for (n, may) in [100, 1, 2].into_iter().zip(may) {
            let mut yard = site(&mut builder);
            let told = yard.world.may(&public(n), Right::Publish, &metatopia_sim::ActTarget::SIM);
            assert_eq!(told, if may { Ok(()) } else { Err(Denied::NotPublisher) });
            let expected = if may { Outcome::Ok } else { refused(Refusal::NotPublisher) };
            assert_eq!(published(&mut yard, n, &counter), expected, "{rule:?}, player {n}");
        }
    }
}

#[test]
fn who_was_seen_on_enough_days_may_publish_where_the_charter_asks_for_that() {
    let mut builder = Builder::new();
    builder.genesis.parameters.publishers = Publishers::Seen;
    builder.genesis.parameters.seen_days = 1;
    let mut yard = site(&mut builder);

    assert_eq!(published(&mut yard, 1, &package("counter", COUNTER)), Outcome::Ok);
}

#[test]
fn an_upgrade_keeps_the_state_and_is_told_of_first() {
    let (mut yard, object, script) = counting();
    touch(&mut yard, object);
    let old = runs(&yard, script).0;

    let new = upgrade(&mut yard, object, script, BETTER);
    assert_eq!(runs(&yard, script), (new, Some(old)), "until an event has ended well");
    check_restored(&yard, &Builder::new().tools());

    assert_eq!(touch(&mut yard, object), "better: 102");
    assert_eq!(runs(&yard, script), (new, None));
    assert!(yard.world.publication(&old).expect("a record").unused_since.is_some());
    check_restored(&yard, &Builder::new().tools());
}

#[test]
fn an_upgrade_in_the_turn_of_a_touch_is_told_of_before_the_touch() {
    for n in 0..8 {
        let (mut yard, object, script) = counting();
        yard.idle(n + 1);
        let next = package("counter", BETTER);
        assert_eq!(published(&mut yard, 1, &next), Outcome::Ok);
        yard.act(1, Act::Build(Build::Upgrade { object, script, package: next.id() }));
        yard.act(2, Act::Touch { object });
        yard.play();
        let text = yard.world.object(object).expect("it is there").text;
        assert_eq!(text, "better: 101", "turn {n}");
    }
}

#[test]
fn an_upgrade_that_fails_leaves_what_was_there() {
    for source in [
        "fn on_upgrade() { state.n = 5; throw \"no\"; } fn on_touch(other) {}",
        "fn on_touch(other) { state.n = 7; throw \"no\"; }",
        "fn on_upgrade() { state.n = 5; } fn on_touch(other) { let x = 1 / 0; }",
    ] {
        let (mut yard, object, script) = counting();
        touch(&mut yard, object);
        let old = runs(&yard, script).0;

        let new = upgrade(&mut yard, object, script, source);
        let text = touch(&mut yard, object);

        assert_eq!(runs(&yard, script), (old, None), "{source}");
        assert_eq!(text, "2 touches", "the touch is for what the script was: {source}");
        assert!(yard.world.publication(&new).expect("a record").unused_since.is_some());
        check_restored(&yard, &Builder::new().tools());
        assert_eq!(touch(&mut yard, object), "3 touches", "{source}");
    }
}

// An author's folder is watched, and its things are all over the place.
#[test]
fn an_upgrade_needs_no_way_to_the_thing() {
    let (mut yard, object, script) = counting();
    let detach = Build::Detach { object, script };
    // The box is at x = 3, and a builder reaches 20 m.
    yard.walk_to(1, vec2(-18, 0));
    assert_eq!(built(&mut yard, 1, detach), refused(Refusal::OutOfReach));
    let last = upgrade(&mut yard, object, script, "fn on_touch(o) {}");
    assert_eq!(runs(&yard, script).0, last);
}

#[test]
fn an_event_that_the_new_source_does_not_handle_ends_no_trial() {
    let (mut yard, object, script) = counting();
    let old = runs(&yard, script).0;
    let touch_and_upgrade = |yard: &mut Yard| {
        let new = package("ticking", "fn on_tick() { throw \"no\"; }");
        assert_eq!(published(yard, 1, &new), Outcome::Ok);
        // The touch is delivered first, and waits beside the upgrade.
        yard.act(1, Act::Touch { object });
        let package = new.id();
        yard.act(1, Act::Build(Build::Upgrade { object, script, package }));
        yard.play();
    };
    touch_and_upgrade(&mut yard);
    yard.idle(2);
    assert_eq!(runs(&yard, script), (old, None));
}

#[test]
fn of_several_upgrades_the_last_one_that_did_well_is_what_a_script_falls_back_to() {
    let (mut yard, object, script) = counting();
    touch(&mut yard, object);
    let old = runs(&yard, script).0;

    upgrade(&mut yard, object, script, "fn on_upgrade() { state.n = 50; } fn on_touch(o) {}");
    let last = upgrade(&mut yard, object, script, "fn on_touch(o) { throw \"no\"; }");
    assert_eq!(runs(&yard, script), (last, Some(old)));

    assert_eq!(touch(&mut yard, object), "2 touches");
    assert_eq!(runs(&yard, script), (old, None));
}

#[test]
fn only_the_owner_of_a_thing_upgrades_its_scripts_and_only_to_what_is_there() {
    let (mut yard, object, script) = counting();
    let better = package("counter", BETTER);
    let attempt = |yard: &mut Yard, n, script, package| {
        built(yard, n, Build::Upgrade { object, script, package })
    };

    assert_eq!(attempt(&mut yard, 1, script, better.id()), refused(Refusal::NoPackage));
    assert_eq!(published(&mut yard, 2, &better), Outcome::Ok);
    assert_eq!(attempt(&mut yard, 2, script, better.id()), refused(Refusal::NotYours));
    assert_eq!(attempt(&mut yard, 1, ScriptId(99), better.id()), refused(Refusal::NoScript));
    assert_eq!(attempt(&mut yard, 1, script, better.id()), Outcome::Ok);
}

#[test]
fn an_upgrade_can_be_taken_back() {
    let (mut yard, object, script) = counting();
    touch(&mut yard, object);
    let old = runs(&yard, script).0;
    upgrade(&mut yard, object, script, BETTER);
    assert_eq!(touch(&mut yard, object), "better: 102");

    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);

    assert_eq!(runs(&yard, script).0, old);
    assert_eq!(touch(&mut yard, object), "103 touches");
}

/// Returns a package of about so many bytes.
fn long(name: &str, bytes: usize) -> Package {
    let line = "// All of this counts, whatever it says.\n";
    let filler = line.repeat(bytes / line.len());
    package(name, &format!("fn on_start() {{}}\n{filler}"))
}

#[test]
fn one_turn_compiles_a_bounded_number_of_bytes() {
    let mut yard = site(&mut Builder::new());
    let size = PUBLISHED_BYTES_PER_TURN_MAX as usize * 3 / 5;
    let (first, second) =
        (yard.publish(1, long("a", size).encode()), yard.publish(2, long("b", size).encode()));
    yard.play();

    let outcomes = [yard.outcome(&first), yard.outcome(&second)];
    assert!(outcomes.contains(&Outcome::Ok), "{outcomes:?}");
    assert!(outcomes.contains(&refused(Refusal::TooOften)), "{outcomes:?}");
}

#[test]
fn one_turn_compiles_so_many_packages_however_short_they_are() {
    let mut yard = site(&mut Builder::new());
    let players: Vec<u8> = (3..=3 + PUBLISHES_PER_TURN_MAX as u8).collect();
    players.iter().for_each(|n| drop(yard.login(*n)));
    yard.play();
    let acts: Vec<_> = players
        .iter()
        .map(|n| yard.publish(*n, package(&format!("p{n}"), COUNTER).encode()))
        .collect();
    yard.play();

    let refused = acts.iter().filter(|act| yard.outcome(act) == refused(Refusal::TooOften));
    assert_eq!(refused.count(), 1);
    assert_eq!(yard.world.packages().count(), PUBLISHES_PER_TURN_MAX);
}

// A lying proposer could take honest packages into full turns, until their authors' scripts had no gas.
#[test]
fn a_package_that_a_turn_has_no_room_for_costs_its_author_nothing() {
    let mut yard = site(&mut Builder::new());
    for turn in 0..2 {
        let acts =
            ["a", "b"].map(|name| yard.publish(1, long(&format!("{name}{turn}"), 60_000).encode()));
        yard.play();
        assert_eq!(acts.map(|act| yard.outcome(&act)), [Outcome::Ok, refused(Refusal::TooOften)]);
    }

    let owner = Parameters::default().gas.owner_capacity;
    let one = 60_000 * PUBLISHING_GAS_PER_BYTE;
    assert!(2 * one < owner && owner < 3 * one, "there is gas for two, and for none after four");
    assert_eq!(published(&mut yard, 1, &package("small", COUNTER)), Outcome::Ok);
}

#[test]
fn what_does_not_compile_costs_as_much_as_what_does() {
    let mut yard = site(&mut Builder::new());
    let refusals: Vec<Outcome> = (0..6)
        .map(|n| {
            let source = format!("fn on_start() {{ nothing_{n}() }} {}", " ".repeat(60_000));
            published(&mut yard, 1, &package("broken", &source))
        })
        .collect();

    let owner = Parameters::default().gas.owner_capacity;
    let paid = owner.div_ceil(60_000 * PUBLISHING_GAS_PER_BYTE);
    assert_eq!(paid, 3, "half a million units of gas pay for so many");
    assert_eq!(refusals[..2], [refused(Refusal::BadPackage); 2]);
    assert!(refusals.contains(&refused(Refusal::TooOften)), "{refusals:?}");
    yard.idle(100);
    assert_eq!(published(&mut yard, 1, &package("counter", COUNTER)), Outcome::Ok);
}

#[test]
fn an_author_publishes_so_much_a_minute() {
    let mut yard = site(&mut Builder::new());
    for n in 0..4 {
        let outcome = published(&mut yard, 1, &long(&format!("p{n}"), 60_000));
        assert_eq!(outcome, Outcome::Ok, "package {n}");
        yard.idle(20);
    }

    const { assert!(5 * 60_000 > PUBLISHED_BYTES_PER_AUTHOR_MAX) };
    assert_eq!(published(&mut yard, 1, &long("p4", 60_000)), refused(Refusal::TooOften));
    assert_eq!(published(&mut yard, 2, &long("p4", 60_000)), Outcome::Ok);
    yard.idle(PUBLISHING_HEIGHTS);
    assert_eq!(yard.try_act(1, Act::login("again".to_owned(), Default::default())), Outcome::Ok);
    assert_eq!(published(&mut yard, 1, &long("p5", 60_000)), Outcome::Ok);
}

#[test]
fn an_authors_unused_packages_make_room_for_the_next_and_what_runs_stays() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lease_ticks = 1_000_000;
    let mut yard = site(&mut builder);
    let size = 60_000;
    let all: Vec<Package> = (0..4).map(|n| long(&format!("p{n}"), size)).collect();
    for one in &all {
        assert_eq!(published(&mut yard, 1, one), Outcome::Ok);
        yard.idle(PUBLISHING_HEIGHTS);
    }
    assert!(
        all.iter().map(|one| one.encode().len() as u64).sum::<u64>() + size as u64 * 2
            > PACKAGE_BYTES_PER_PUBLISHER_MAX
    );
    let object = place(&mut yard, 1, block(3, 1));
    let attached = Build::Attach { object, package: all[0].id() };
    assert_eq!(built(&mut yard, 1, attached), Outcome::Ok);

    assert_eq!(published(&mut yard, 1, &long("p4", size)), Outcome::Ok);

    let there: Vec<bool> = all.iter().map(|one| yard.world.package(&one.id()).is_some()).collect();
    assert_eq!(there, [true, false, true, true], "the oldest that nobody runs has left");
    let record = yard.world.publication(&all[1].id()).expect("a record stays");
    assert_eq!(record.left, Some(yard.world.height()));
    check_restored(&yard, &builder.tools());
}

#[test]
fn what_runs_leaves_no_room_for_more() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lease_ticks = 1_000_000;
    let mut yard = site(&mut builder);
    let object = place(&mut yard, 1, block(3, 1));
    for n in 0..4 {
        let one = long(&format!("p{n}"), FILE_BYTES_MAX - 1_000);
        assert_eq!(published(&mut yard, 1, &one), Outcome::Ok);
        let attached = Build::Attach { object, package: one.id() };
        assert_eq!(built(&mut yard, 1, attached), Outcome::Ok);
        yard.idle(PUBLISHING_HEIGHTS);
    }

    assert_eq!(published(&mut yard, 1, &long("p9", 9_000)), refused(Refusal::TooManyPackages));
    assert_eq!(published(&mut yard, 2, &long("p9", 9_000)), Outcome::Ok);
}

#[test]
fn a_package_that_no_script_runs_leaves_after_a_week_and_its_record_stays() {
    let (mut yard, object, _) = counting();
    let (used, unused) = (package("counter", COUNTER).id(), package("better", BETTER));
    assert_eq!(published(&mut yard, 1, &unused), Outcome::Ok);
    let tools = Builder::new().tools();
    // A turn adds a minute of governance time at most.
    yard.turn_ms = 60_000;
    let before = PACKAGE_UNUSED_MS_MAX / 60_000 - 1;
    (0..before).for_each(|_| drop(yard.play()));
    assert!(yard.world.package(&unused.id()).is_some());
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());

    yard.idle(3);

    assert!(yard.world.package(&unused.id()).is_none());
    assert!(yard.world.package(&used).is_some(), "a script runs it");
    let left = yard.world.publication(&unused.id()).expect("a record stays").left;
    assert!(left.is_some_and(|height| height <= yard.world.height()));
    assert_eq!(yard.world.object(object).expect("it is there").scripts.len(), 1);
    // Replay across that height needs nothing but the snapshot before it.
    let mut again = World::from_snapshot(&snapshot, root, &tools).expect("its own snapshot");
    for turn in &yard.log[yard.log.len() - 3..] {
        again.apply(turn, &metatopia_sim::Serial);
    }
    assert_eq!(again.root(), yard.world.root());
    check_restored(&yard, &tools);
}

#[test]
fn what_left_is_not_put_back_by_an_undo() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lease_ticks = 1_000_000;
    let mut yard = site(&mut builder);
    let counter = package("counter", COUNTER);
    assert_eq!(published(&mut yard, 1, &counter), Outcome::Ok);
    let object = place(&mut yard, 1, block(3, 1));
    built(&mut yard, 1, Build::Attach { object, package: counter.id() });
    assert_eq!(built(&mut yard, 1, Build::Delete { object }), Outcome::Ok);
    yard.turn_ms = 60_000;
    yard.idle(PACKAGE_UNUSED_MS_MAX / 60_000 + 2);

    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), refused(Refusal::NoPackage));
    let skipped = Build::Undo { skip: UNDO_ENTRIES_MAX as u8 };
    assert_eq!(built(&mut yard, 1, skipped), refused(Refusal::NothingToUndo));
}
