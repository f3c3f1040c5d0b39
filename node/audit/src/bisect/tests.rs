use std::collections::BTreeMap;

use metatopia_consensus::Record;
use metatopia_scripting::{Draft, EventKind, Package, PackageAuthor};
use metatopia_sim::{Capsule, Genesis, ObjectSpec, ScriptSpec, Serial, World, flipped};
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{Digest, Height, Millis, Root, SimId, Turn};

use super::*;
use crate::{
    SimStart,
    fixture::{
        FixtureTurn, TURNS, genesis, honest_records, memory_log, noted, pruned_memory_log,
        start_of, steps, steps_of, write_log, write_log_and_snapshot,
    },
    tools,
};

/// A log of a sim on a disk in memory.
struct Kept {
    disk: MemoryDisk,
    start: SimStart,
}

impl Kept {
    fn new(disk: MemoryDisk) -> Self {
        Self { disk, start: start_of(genesis()) }
    }

    fn of(genesis: &Genesis, records: &[Record]) -> Self {
        let disk = write_log(MemoryDisk::new(), genesis, records).into_disk();
        Self { disk, start: start_of(genesis.clone()) }
    }

    fn open(&self, name: &str) -> BisectSide<'_> {
        BisectSide::log(name, &self.disk, &self.start).expect("a log that can be read")
    }
}

/// Returns the log of an honest server.
fn honest(steps: &[FixtureTurn]) -> Kept {
    Kept::new(memory_log(&honest_records(steps)))
}

fn try_bisect(a: &BisectSide<'_>, b: &BisectSide<'_>) -> Result<BisectReport, BisectError> {
    bisect(a, b, &Serial, &|_, _| ())
}

fn compare_sides(a: &BisectSide<'_>, b: &BisectSide<'_>) -> BisectReport {
    try_bisect(a, b).expect("histories that can be compared")
}

fn compare(a: &Kept, b: &Kept) -> BisectReport {
    compare_sides(&a.open("a"), &b.open("b"))
}

/// Returns the world after a step with a bit flipped in the first tile that has objects.
fn broken(world: &World) -> World {
    let tile = world.manifest().leaves.into_iter().find(|leaf| leaf.key.0.starts_with("tile/"));
    flipped(world, &tile.expect("a plaza has tiles").key, &tools()).expect("a bit can be flipped")
}

/// Returns the capsule of a server that flipped a bit after `height`, begun at `from` and ended at once.
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

#[test]
fn logs_of_honest_servers_are_equal_as_far_as_both_go() {
    let steps = steps();
    let (a, b) = (honest(&steps), honest(&steps[..9]));
    let found = compare(&a, &b);
    assert!(found.equal, "{found:?}");
    assert_eq!((found.from, found.to), (0, 9));
}

/// The genesis is in every directory, so these were equal from 0 to 0, or from 0 on.
#[test]
fn pruned_logs_are_equal_from_their_own_beginning_on() {
    let steps = steps();
    let (whole, pruned) = (honest(&steps), Kept::new(pruned_memory_log(|_| ())));
    let found = compare(&whole, &pruned);
    let first = pruned.open("b").turns.keys().next().copied().expect("it has turns");
    assert!(found.equal && first > Height(1), "{found:?}");
    assert_eq!((found.from, found.to), (first.0, steps.len() as u64));

    let before = honest(&steps[..first.0 as usize - 1]);
    // A follower that has fetched a state, and no turn yet.
    let fetched = write_log_and_snapshot(MemoryDisk::new(), &[], 12, |_| ()).into_disk();
    let fetched = Kept::new(fetched);
    for (early, late) in [(&before, &pruned), (&before, &fetched), (&pruned, &before)] {
        let error = try_bisect(&early.open("a"), &late.open("b")).unwrap_err();
        assert!(matches!(error, BisectError::NoCommonHeight { .. }), "{error}");
    }
    // Before the first turn the genesis is all that there is.
    let (one, other) = (honest(&[]), honest(&[]));
    let found = compare(&one, &other);
    assert_eq!((found.equal, found.from, found.to), (true, 0, 0));
}

#[test]
fn a_flipped_bit_is_named_by_turn_ticks_object_and_field() {
    let steps = steps();
    let kept = honest(&steps);
    let wrong = BisectSide::capsule("b", capsule(&steps, 6, 13)).unwrap();
    let healthy = kept.open("a");

    let found = compare_sides(&healthy, &wrong).difference.expect("they differ");

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
    let back = compare_sides(&wrong, &healthy).difference.expect("they differ");
    assert_eq!((back.left, back.right), (found.right, found.left));
}

#[test]
fn notes_that_differ_without_a_state_name_the_turn() {
    let steps = steps();
    let mut records = honest_records(&steps);
    records[3 * 16 + 2] = noted(&steps[16], Root(Digest::ZERO))[2].clone();
    let (a, b) = (honest(&steps), Kept::new(memory_log(&records)));
    let found = compare(&a, &b).difference.expect("they differ");
    assert_eq!((found.what, found.height, &found.leaf), (Some(DifferenceKind::State), 17, &None));
    assert_eq!(found.ticks, Some([49, 51]));
}

#[test]
fn two_turns_of_one_height_are_named_with_the_field_of_the_header() {
    let (one, mut other) = (steps(), steps());
    other[4].turn.header.time = Millis(7);
    other[4].certificate.header = other[4].turn.id();
    let (a, b) = (honest(&one), honest(&other));
    let found = compare(&a, &b).difference.expect("they differ");
    assert_eq!((found.what, found.height), (Some(DifferenceKind::Turn), 5));
    let header = found.header.expect("both turns are there");
    assert!(header.field.iter().any(|line| line.starts_with("time")), "{header:?}");
    assert_eq!((header.left.as_deref(), header.right.as_deref()), (Some("1250,"), Some("7,")));
    // A turn of that time follows from no state: nothing is played.
    assert_eq!((found.ticks, found.tick, found.leaf), (Some([13, 15]), None, None));
}

/// Returns the plaza with a die on it that shows another number every so many ticks.
fn restless() -> Genesis {
    let source = b"fn on_start() { timer(\"roll\", 0.28); }\n\
        fn on_timer(name) { self_.text = `${random(1, 1000000000)}`; timer(\"roll\", 0.28); }\n";
    let package = Package::build(Draft {
        name: "die".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
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

/// Returns the ticks of the turn of this height in which a script's timer runs out.
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
    let a = Kept::of(&genesis, &honest_records(&one));
    let b = Kept::of(&genesis, &honest_records(&other[..height]));

    let found = compare(&a, &b);

    let parting = found.difference.as_ref().expect("they differ");
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

    // Whoever notes another root than its turn leads to here was elsewhere, and nobody knows where.
    let mut records = honest_records(&other[..height]);
    *records.last_mut().unwrap() = noted(&other[height - 1], Root(Digest::ZERO))[2].clone();
    let astray = Kept::of(&genesis, &records);
    let found = compare(&a, &astray);
    let parting = found.difference.expect("they differ");
    assert_eq!((parting.what, parting.tick), (Some(DifferenceKind::Turn), None));
    assert_eq!(parting.leaf, None);
    assert_eq!(parting.ticks, Some([tick - 1, tick + 1]));
}

#[test]
fn turns_with_other_acts_part_at_their_first_tick_in_the_avatar_that_only_one_side_has() {
    // Otherwise the greeter knows her as well.
    let mut empty = genesis();
    empty.objects.retain(|object| object.scripts.is_empty());
    let with = steps_of(&empty, |_| ());
    let without = steps_of(&empty, |turn| {
        *turn = Turn::of(turn.header.clone(), Default::default());
    });
    let [a, b] = [&with, &without].map(|steps| Kept::of(&empty, &honest_records(steps)));

    let found = compare(&a, &b).difference.expect("they differ");

    assert_eq!((found.what, found.height), (Some(DifferenceKind::Turn), 3));
    assert_eq!((found.tick, found.ticks), (Some(7), Some([7, 9])));
    assert!(found.entry.as_ref().is_some_and(|entry| entry.starts_with("object ")), "{found:?}");
    assert_eq!((found.left.as_deref(), found.right), (Some("there"), None));
}

/// The search named the ticks of the first turn of which both have a root, as if the states had been
/// equal before.
#[test]
fn the_ticks_of_a_wrong_state_begin_where_both_had_one_root_for_the_last_time() {
    let steps = steps();
    let mut records = honest_records(&steps);
    records[3 * 16 + 2] = noted(&steps[16], Root(Digest::ZERO))[2].clone();
    // The server did not note the roots after turns 14 to 16.
    for height in [16, 15, 14] {
        records.remove(3 * (height - 1) + 2);
    }
    let (a, b) = (honest(&steps), Kept::new(memory_log(&records)));
    let found = compare(&a, &b);
    let parting = found.difference.expect("they differ");
    assert_eq!((parting.height, parting.tick, parting.ticks), (17, None, Some([40, 51])));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let steps = steps();
    let early = BisectSide::capsule("early", capsule(&steps, 1, 3)).unwrap();
    let late = BisectSide::capsule("late", capsule(&steps, 12, 15)).unwrap();
    let error = try_bisect(&early, &late).unwrap_err();
    assert!(matches!(error, BisectError::NoCommonHeight { .. }), "{error}");

    let kept = honest(&steps);
    let mut elsewhere = kept.open("b");
    elsewhere.sim = SimId(Digest::ZERO);
    let error = try_bisect(&kept.open("a"), &elsewhere).unwrap_err();
    assert!(error.to_string().contains("of sim 0000"), "{error}");

    let mut other = capsule(&steps, 1, 3);
    let mut other_genesis = genesis();
    other_genesis.engine = 99;
    other.genesis = other_genesis.encode();
    let error = BisectSide::capsule("other", other).expect_err("another sim's genesis");
    assert!(matches!(error, BisectSideError::Capsule(_)), "{error}");
}
