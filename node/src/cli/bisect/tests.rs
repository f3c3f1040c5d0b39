use std::collections::BTreeMap;

use metatopia_consensus::Record;
use metatopia_scripting::{Draft, EventKind, Package, PackageAuthor};
use metatopia_sim::{Capsule, Genesis, ObjectSpec, ScriptSpec, Serial, World, flipped};
use metatopia_types::{Height, Root, Turn};

use super::*;
use metatopia_audit::{
    fixture::{FixtureTurn, TURNS, genesis, noted, steps, steps_of},
    tools,
};

use crate::cli::fixture::{FixtureDirectory, directory, pruned_directory};

const QUIET: Console = Console::quiet();

/// The log of an honest server.
fn honest(name: &str, steps: &[FixtureTurn]) -> FixtureDirectory {
    let records: Vec<Record> =
        steps.iter().flat_map(|step| noted(step, step.world.root())).collect();
    FixtureDirectory::write(name, &records)
}

fn open(kept: &FixtureDirectory) -> Side {
    Side::open(&kept.dir, None).unwrap()
}

fn compare(a: &Side, b: &Side) -> BisectReport {
    bisect(a, b, QUIET).unwrap()
}

/// The world after a step with a bit flipped in the first tile that has objects.
fn broken(world: &World) -> World {
    let tile = world.manifest().leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
    flipped(world, &tile.expect("a plaza has tiles").key, &tools()).expect("a bit can be flipped")
}

/// The capsule of a server that flipped a bit after `height`, begun at `from` and ended at once.
fn capsule(steps: &[FixtureTurn], from: usize, height: usize) -> Capsule {
    let base = &steps[from - 1].world;
    let end = broken(&steps[height - 1].world);
    let turns = &steps[from..height + 2];
    let mut roots: Vec<Root> = steps[from..height].iter().map(|step| step.world.root()).collect();
    *roots.last_mut().unwrap() = end.root();
    Capsule {
        genesis: genesis().encode(),
        root: base.root(),
        snapshot: base.snapshot(),
        turns: turns.iter().map(|one| (one.turn.clone(), one.certificate.clone())).collect(),
        roots,
        end: Some(end.snapshot()),
    }
}

fn write(kept: &FixtureDirectory, capsule: &Capsule) -> PathBuf {
    let path = kept.dir.join("test.capsule");
    std::fs::write(&path, capsule.encode()).unwrap();
    path
}

#[test]
fn logs_of_honest_servers_are_equal_as_far_as_both_go() {
    let steps = steps();
    let (a, b) = (honest("bisect-a", &steps), honest("bisect-b", &steps[..9]));
    let found = compare(&open(&a), &open(&b));
    assert!(found.equal, "{found:?}");
    assert_eq!((found.from, found.to), (0, 9));
}

/// The genesis is in every directory, so these were equal from 0 to 0, or from 0 on.
#[test]
fn pruned_logs_are_equal_from_their_own_beginning_on() {
    let steps = steps();
    let (whole, pruned) = (honest("bisect-whole", &steps), pruned_directory("bisect-cut", |_| ()));
    let found = compare(&open(&whole), &open(&pruned));
    let first = open(&pruned).turns.keys().next().copied().expect("it has turns");
    assert!(found.equal && first > Height(1), "{found:?}");
    assert_eq!((found.from, found.to), (first.0, steps.len() as u64));

    let before = honest("bisect-before", &steps[..first.0 as usize - 1]);
    // A follower that has fetched a state, and no turn yet.
    let (fetched, _) = directory("bisect-fetched", &[], 12, |_| ());
    for (early, late) in [(&before, &pruned), (&before, &fetched), (&pruned, &before)] {
        let failure = bisect(&open(early), &open(late), QUIET).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("no height in common"), "{failure}");
    }
    // Before the first turn the genesis is all that there is.
    let (one, other) = (honest("bisect-new-a", &[]), honest("bisect-new-b", &[]));
    let found = compare(&open(&one), &open(&other));
    assert_eq!((found.equal, found.from, found.to), (true, 0, 0));
}

#[test]
fn a_flipped_bit_is_named_by_turn_ticks_object_and_field() {
    let steps = steps();
    let kept = honest("bisect-flip", &steps);
    let path = write(&kept, &capsule(&steps, 6, 13));
    let (healthy, wrong) = (open(&kept), Side::open(&path, None).unwrap());

    let found = compare(&healthy, &wrong).parting.expect("they differ");

    assert_eq!((found.what, found.height), (Some(DifferenceKind::State), 13));
    // Three ticks a turn.
    assert_eq!((found.ticks, found.tick), (Some([37, 39]), None));
    assert_eq!(found.compared_at, Some(13));
    assert_eq!(found.certified, Some(steps[12].world.root().to_string()));
    assert_eq!(found.certified, found.roots.clone().map(|[right, _]| right));
    assert!(found.leaf.as_ref().is_some_and(|leaf| leaf.starts_with("tile/")), "{found:?}");
    assert!(found.entry.as_ref().is_some_and(|entry| entry.starts_with("object ")), "{found:?}");
    assert!(!found.field.is_empty() && found.left != found.right, "{found:?}");
    assert_eq!(found.leaves, Some(1));
    let back = compare(&wrong, &healthy).parting.expect("they differ");
    assert_eq!((back.left, back.right), (found.right, found.left));
}

#[test]
fn notes_that_differ_without_a_state_name_the_turn() {
    let steps = steps();
    let mut records: Vec<Record> =
        steps.iter().flat_map(|step| noted(step, step.world.root())).collect();
    records[3 * 16 + 2] = noted(&steps[16], Root::default())[2].clone();
    let (a, b) =
        (honest("bisect-notes-a", &steps), FixtureDirectory::write("bisect-notes-b", &records));
    let found = compare(&open(&a), &open(&b)).parting.expect("they differ");
    assert_eq!((found.what, found.height, &found.leaf), (Some(DifferenceKind::State), 17, &None));
    assert_eq!(found.ticks, Some([49, 51]));
}

#[test]
fn two_turns_of_one_height_are_named_with_the_field_of_the_header() {
    let (one, mut other) = (steps(), steps());
    other[4].turn.header.time = metatopia_types::Millis(7);
    other[4].certificate.header = other[4].turn.id();
    let (a, b) = (honest("bisect-turns-a", &one), honest("bisect-turns-b", &other));
    let found = compare(&open(&a), &open(&b)).parting.expect("they differ");
    assert_eq!((found.what, found.height), (Some(DifferenceKind::Turn), 5));
    let header = found.header.expect("both turns are there");
    assert!(header.field.iter().any(|line| line.starts_with("time")), "{header:?}");
    assert_eq!((header.left.as_deref(), header.right.as_deref()), (Some("1250,"), Some("7,")));
    // A turn of that time follows from no state: nothing is played.
    assert_eq!((found.ticks, found.tick, found.leaf), (Some([13, 15]), None, None));
}

/// The plaza, with a thing on it that shows another number every so many ticks.
fn restless() -> Genesis {
    let source = b"fn on_start() { timer(\"roll\", 0.28); }\n\
        fn on_timer(name) { self_.text = `${random(1, 1000000000)}`; timer(\"roll\", 0.28); }\n";
    let package = Package::build(Draft {
        name: "die".to_owned(),
        version: "1.0.0".to_owned(),
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        ..Draft::default()
    });
    let package = package.expect("a package");
    let mut genesis = genesis();
    let script = ScriptSpec { package: package.id(), state: Default::default() };
    let first = genesis.objects.first().expect("a plaza has objects").clone();
    genesis.objects.push(ObjectSpec { scripts: vec![script], name: "a die".to_owned(), ..first });
    genesis.packages.insert(package.id(), package.encode());
    genesis
}

fn side(genesis: &Genesis, name: &str, steps: &[FixtureTurn]) -> (FixtureDirectory, Side) {
    let records: Vec<Record> =
        steps.iter().flat_map(|step| noted(step, step.world.root())).collect();
    let kept = FixtureDirectory::of(genesis, name, &records);
    let side = open(&kept);
    (kept, side)
}

/// The ticks of the turn of this height in which a script was told of its timer.
fn timers(steps: &[FixtureTurn], height: usize) -> Vec<u64> {
    let mut world = steps[height - 2].world.clone();
    let applied = world.apply(&steps[height - 1].turn, &Serial);
    let timers = applied.order.iter().filter(|told| told.event.kind() == EventKind::Timer);
    timers.map(|told| told.tick.0).collect()
}

/// Two proposers with other clocks: the header seeds what a script draws, at the tick when it does.
#[test]
fn two_turns_without_acts_part_at_the_tick_at_which_a_script_draws_its_number() {
    let genesis = restless();
    let one = steps_of(&genesis, |_| ());
    let height = (2..TURNS).find(|height| timers(&one, *height).iter().any(|tick| tick % 3 == 2));
    let height = height.expect("a timer runs out in the second tick of some turn");
    let tick = 3 * height as u64 - 1;
    assert_eq!(timers(&one, height), [tick]);
    let other = steps_of(&genesis, |turn| {
        if turn.header.height == Height(height as u64) {
            turn.header.time = turn.header.time.plus(1);
        }
    });
    let ((_a, a), (_b, b)) = (
        side(&genesis, "bisect-clocks-a", &one),
        side(&genesis, "bisect-clocks-b", &other[..height]),
    );

    let found = compare(&a, &b);

    let parting = found.parting.as_ref().expect("they differ");
    assert_eq!((parting.what, parting.height), (Some(DifferenceKind::Turn), height as u64));
    assert_eq!((parting.tick, parting.ticks), (Some(tick), Some([tick - 1, tick + 1])));
    assert!(parting.leaf.as_ref().is_some_and(|leaf| leaf.starts_with("tile/")), "{parting:?}");
    assert_eq!(parting.leaves, Some(1));
    let texts = [&parting.left, &parting.right].map(|text| text.clone().unwrap_or_default());
    assert!(texts.iter().all(|text| text.starts_with("text: ")), "{texts:?}");
    assert!(texts[0] != texts[1], "{texts:?}");
    let told = found.to_string();
    assert!(told.contains(&format!("\n  tick    {tick}\n  leaf    tile/")), "{told}");
    assert!(told.contains("\n  header  Header > time: Millis\n"), "{told}");
    assert_eq!(serde_json::to_value(&found).unwrap()["tick"], tick);

    // Whoever notes another root than its turn leads to here was elsewhere, and nobody knows where.
    let mut records: Vec<Record> =
        other[..height].iter().flat_map(|step| noted(step, step.world.root())).collect();
    *records.last_mut().unwrap() = noted(&other[height - 1], Root::default())[2].clone();
    let astray = FixtureDirectory::of(&genesis, "bisect-clocks-c", &records);
    let found = compare(&a, &open(&astray));
    assert_eq!(serde_json::to_value(&found).unwrap()["tick"], serde_json::Value::Null);
    let parting = found.parting.expect("they differ");
    assert_eq!((parting.what, parting.leaf), (Some(DifferenceKind::Turn), None));
    assert_eq!(parting.ticks, Some([tick - 1, tick + 1]));
}

#[test]
fn turns_with_other_acts_part_at_their_first_tick_in_the_avatar_that_only_one_side_has() {
    let with = steps();
    let without = steps_of(&genesis(), |turn| {
        *turn = Turn::of(turn.header.clone(), Default::default());
    });
    let (a, b) = (honest("bisect-acts-a", &with), honest("bisect-acts-b", &without));

    let found = compare(&open(&a), &open(&b)).parting.expect("they differ");

    assert_eq!((found.what, found.height), (Some(DifferenceKind::Turn), 3));
    assert_eq!((found.tick, found.ticks), (Some(7), Some([7, 9])));
    assert!(found.entry.as_ref().is_some_and(|entry| entry.starts_with("object ")), "{found:?}");
    assert_eq!((found.left.as_deref(), found.right), (Some("there"), None));
}

/// It named the ticks of the first turn of which both have a root, as if they had been equal before.
#[test]
fn the_ticks_of_a_wrong_state_begin_where_both_had_one_root_for_the_last_time() {
    let steps = steps();
    let mut records: Vec<Record> =
        steps.iter().flat_map(|step| noted(step, step.world.root())).collect();
    records[3 * 16 + 2] = noted(&steps[16], Root::default())[2].clone();
    // It was not noted what turns 14 to 16 came to.
    for height in [16, 15, 14] {
        records.remove(3 * (height - 1) + 2);
    }
    let (a, b) =
        (honest("bisect-since-a", &steps), FixtureDirectory::write("bisect-since-b", &records));
    let found = compare(&open(&a), &open(&b));
    assert_eq!(serde_json::to_value(&found).unwrap()["tick"], serde_json::Value::Null);
    let parting = found.parting.expect("they differ");
    assert_eq!((parting.height, parting.ticks), (17, Some([40, 51])));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let steps = steps();
    let kept = honest("bisect-apart", &steps);
    let early = Side::open(&write(&kept, &capsule(&steps, 1, 3)), None).unwrap();
    let late = Side::open(&write(&kept, &capsule(&steps, 12, 15)), None).unwrap();
    let failure = bisect(&early, &late, QUIET).unwrap_err();
    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.message.contains("no height in common"), "{failure}");

    let mut elsewhere = open(&kept);
    elsewhere.sim = metatopia_types::SimId::default();
    let failure = bisect(&open(&kept), &elsewhere, QUIET).unwrap_err();
    assert!(failure.message.contains("of sim 0000"), "{failure}");

    let mut other = capsule(&steps, 1, 3);
    let mut other_genesis = genesis();
    other_genesis.engine = 99;
    other.genesis = other_genesis.encode();
    let failure = Side::open(&write(&kept, &other), None).err().expect("another sim's genesis");
    assert_eq!(failure.exit, Exit::Unverified);

    let failure = Side::open(&kept.segment(), None).err().expect("no capsule");
    assert_eq!(failure.exit, Exit::Usage);
}
