//! A start that is cut off after any of its steps, with any tail: the next one comes to what it would
//! have come to. A start looks at what lies there, puts what is damaged aside, cuts what is torn and
//! notes what is lost; until it is over the server has said nothing, and may die at every step.

use metatopia_consensus::Record;
use metatopia_replica::keeper::{
    AGREEMENT, History, Keeper, Log, StorageError, begin_log, open_log,
};
use metatopia_store::{
    Disk as _, FileKind, FileName, Folder, Identity, Opening, Position, ReadDisk as _, Snapshot,
    Store,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    put_snapshot,
};
use metatopia_types::{
    Certificate, Digest, Header, Height, Millis, PublicKey, Root, Round, Sign as _, SigningKey,
    SimId, Turn, TurnBody, Vote, VoteKind,
};

/// Heights in a log; some three lie in a segment.
const HEIGHTS: u64 = 20;
/// The height whose state is kept.
const STATE: u64 = 15;

fn sim() -> SimId {
    SimId(Digest::of("a test", b"sim"))
}

fn opening() -> Opening {
    let server = PublicKey([9; 32]);
    Opening { segment_bytes: 2_400, ..Opening::new(Identity { sim: sim(), server }) }
}

/// A turn, a vote for it, and that it is decided.
fn records(at: u64) -> [Record; 3] {
    let (height, round, signer) = (Height(at), Round(0), SigningKey::from_seed([1; 32]));
    let header = Header { height, time: Millis(at), ..Header::unstated() };
    let turn = Turn { header, body: TurnBody::default() };
    let (header, voter) = (turn.id(), signer.public());
    let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(header), voter };
    let signatures = vec![(voter, signer.sign(&at.to_le_bytes()))];
    let certificate = Certificate { height, round, header, signatures };
    let (turn, vote) = (Record::Turn(turn.into()), Record::Vote(vote.sign(sim(), &signer)));
    [turn, vote, Record::Decided(certificate)]
}

fn append(store: &mut Store<MemoryDisk>, record: &Record) {
    let tag = match record {
        Record::Decided(certificate) => Some(certificate.height.0),
        _ => None,
    };
    store.append(AGREEMENT, tag, &record.encode()).expect("a good disk");
}

/// The disk of a server that has run for some heights and was stopped.
fn lived() -> MemoryDisk {
    let mut store = Store::open(MemoryDisk::new(), opening()).expect("a good disk").store;
    for record in [Record::Voice].into_iter().chain((1..=HEIGHTS).flat_map(records)) {
        append(&mut store, &record);
        store.sync().expect("a good disk");
    }
    let (height, root, bytes) = (Height(STATE), Root(Digest::ZERO), vec![7; 500]);
    put_snapshot(store.disk_mut(), &Snapshot { height, root, bytes }).expect("a good disk");
    store.mark().expect("a good disk");
    store.into_disk()
}

/// A disk before a start.
struct Before {
    name: &'static str,
    disk: MemoryDisk,
    /// Its key was never used.
    fresh: bool,
}

fn segments(disk: &MemoryDisk) -> Vec<FileName> {
    let files = disk.files().into_iter();
    files.filter(|file| matches!(file.kind, FileKind::Segment(_)) && !file.temporary).collect()
}

/// Turns a bit of a segment, at so many hundredths of it; the segment is counted from the end.
fn damaged(from_end: usize, percent: u64) -> MemoryDisk {
    let mut disk = lived();
    let all = segments(&disk);
    let file = all[all.len() - 1 - from_end];
    let bits = disk.bytes(file).expect("it is listed").len() as u64 * 8;
    assert!(disk.flip(file, bits * percent / 100));
    disk
}

fn bad_mark() -> MemoryDisk {
    let mut disk = lived();
    assert!(disk.flip(FileName::MARK, 500));
    disk
}

fn hole() -> MemoryDisk {
    let mut disk = lived();
    let all = segments(&disk);
    disk.remove(all[all.len() - 2]).expect("it is listed");
    disk.sync_dir(Folder::Log).expect("a good disk");
    disk
}

/// The disk of a server whose power went in the middle of a group of records, after more records than the
/// mark knows.
fn torn() -> MemoryDisk {
    let mut store = Store::open(lived(), opening()).expect("a good disk").store;
    records(HEIGHTS + 1).iter().for_each(|record| append(&mut store, record));
    store.sync().expect("a good disk");
    let durable = store.end();
    records(HEIGHTS + 2).iter().for_each(|record| append(&mut store, record));
    let (file, from) = store.index().locate(durable).expect("a place in a segment");
    let mut disk = store.into_disk();
    let mut bytes = disk.bytes(file).expect("a segment").to_vec();
    bytes[from as usize + 10..from as usize + 60].fill(0);
    disk.replace(file, bytes);
    disk
}

/// The disk of a server whose power went while files were written, and while segments were given up.
fn leftovers() -> MemoryDisk {
    let mut store = Store::open(lived(), opening()).expect("a good disk").store;
    let half = store.find(HEIGHTS / 2).expect("a good disk").expect("it is decided").position;
    let mut disk = store.disk().clone();
    let given_up = segments(&disk);
    store.prune_before(half).expect("a good disk");
    let kept = segments(store.disk());
    let old: Vec<FileName> = given_up.into_iter().filter(|file| !kept.contains(file)).collect();
    assert!(old.len() >= 2);
    let bytes = |disk: &MemoryDisk, file| disk.bytes(file).expect("it is listed").to_vec();
    let mark = bytes(store.disk(), FileName::MARK);
    disk.replace(FileName::MARK, mark);
    let snapshot = disk.list(Folder::Snapshots).expect("a good disk")[0];
    let patch = FileName::new(FileKind::Patch { from: 1, to: 2 });
    for file in [FileName::IDENTITY, FileName::MARK, kept[0], snapshot, patch] {
        disk.replace(file.temporary(), vec![3; 100]);
    }
    disk
}

/// The disk of a process that was killed when a newer snapshot had its name, but not durably.
fn renamed(mut disk: MemoryDisk) -> MemoryDisk {
    let (height, root, bytes) = (Height(HEIGHTS), Root(Digest::ZERO), vec![8; 500]);
    let file = FileName::new(FileKind::Snapshot(height, root));
    let bytes = Snapshot { height, root, bytes }.to_file();
    disk.append(file.temporary(), &bytes).expect("a good disk");
    disk.sync(file.temporary(), bytes.len() as u64).expect("a good disk");
    disk.rename(file.temporary(), file).expect("a good disk");
    disk
}

fn before() -> Vec<Before> {
    let old = |name, disk| Before { name, disk, fresh: false };
    vec![
        Before { name: "nothing", disk: MemoryDisk::new(), fresh: true },
        old("a log in order", lived()),
        old("a torn tail", torn()),
        old("damage before what suffices", damaged(4, 50)),
        old("damage in the middle of what is needed", damaged(2, 50)),
        old("damage where a segment ends that is needed", damaged(1, 99)),
        old("damage where a segment begins that is needed", damaged(1, 0)),
        old("damage in the last segment", damaged(0, 50)),
        old("a damaged mark", bad_mark()),
        old("a segment that is not there", hole()),
        old("leftovers", leftovers()),
        old("a snapshot that was only renamed", renamed(lived())),
        old(
            "damage before what suffices for a snapshot that was only renamed",
            renamed(damaged(2, 50)),
        ),
    ]
}

/// A start, up to where the server runs.
fn start(disk: &mut MemoryDisk, fresh: bool) -> Result<(), StorageError> {
    let Log { mut store, .. } = open_log(disk, opening())?;
    if fresh {
        begin_log(&mut store)?;
    }
    let keeper = Keeper::new(store, History::Whole);
    let left = keeper.store().disk().files();
    assert!(left.iter().all(|file| !file.temporary), "{left:?}");
    Ok(())
}

/// What a server goes on from.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    /// Where the log begins, and all that it holds: turns, votes, decisions. That its end was lost is
    /// noted again if it is not sure that it was: twice is as good as once.
    begin: Position,
    records: Vec<Vec<u8>>,
    lost: bool,
    /// What was put aside, as it was.
    aside: Vec<(u64, Vec<u8>)>,
    /// All other files but the log's.
    others: Vec<(FileName, Vec<u8>)>,
}

fn found(disk: &MemoryDisk) -> Found {
    let opened = Store::open(disk.clone(), opening()).expect("it was opened before");
    let records = opened.store.index().iter(opened.store.disk());
    let mut records: Vec<Vec<u8>> = records.map(|record| record.expect("whole").payload).collect();
    let silence = Record::Silence.encode();
    records.dedup_by(|next, before| *before == silence && next == before);
    let (mut aside, mut others) = (Vec::new(), Vec::new());
    for file in disk.files() {
        let bytes = disk.bytes(file).expect("it is listed").to_vec();
        match file.kind {
            FileKind::Quarantined { segment, .. } => aside.push((segment, bytes)),
            FileKind::Segment(_) | FileKind::Mark if !file.temporary => {}
            // That one is removed need not be durable.
            _ if file.temporary => {}
            _ => others.push((file, bytes)),
        }
    }
    aside.sort();
    let begin = opened.store.index().begin();
    Found { begin, records, lost: opened.records_lost, aside, others }
}

/// Returns what a start that is not cut off may come to. There are two results when the directory has names
/// that are not durable: a power loss before the start may take them.
fn expected(Before { name, disk, fresh }: &Before) -> [Found; 2] {
    [CrashEffect::Kept, CrashEffect::Lost].map(|tail| {
        let mut disk = disk.clone();
        disk.crash(tail);
        start(&mut disk, *fresh).expect(name);
        disk.crash(CrashEffect::Lost);
        found(&disk)
    })
}

/// Returns what may become of what a process that dies did not sync. With `None` the machine goes on.
fn tails() -> impl Iterator<Item = Option<CrashEffect>> + Clone {
    let torn = (0..3).map(CrashEffect::Torn);
    [None, Some(CrashEffect::Lost), Some(CrashEffect::Kept)].into_iter().chain(torn.map(Some))
}

/// Cuts a start off before its step number `step`, which is half done. Returns whether it got so far.
fn cut_off(disk: &mut MemoryDisk, fresh: bool, step: u64, tail: Option<CrashEffect>) -> bool {
    disk.fail_operation(disk.operations() + step, DiskFault::PowerOff);
    let done = start(disk, fresh);
    disk.forget_faults();
    if let Some(tail) = tail {
        disk.crash(tail);
    }
    done.is_err()
}

/// Once records before a damaged one went with it, if the power failed while its segment was put aside;
/// and damage at the end of the log was cut off like a torn tail, and nowhere put aside. Once a start
/// put parts of the log aside for a snapshot of which a power loss then took the name.
#[test]
fn a_start_that_is_cut_off_anywhere_changes_nothing_about_what_the_next_one_finds() {
    for before in before() {
        let expected = expected(&before);
        let Before { name, disk, fresh } = before;
        let (mut steps, mut starts) = (0, 0);
        while cut_off(&mut disk.clone(), fresh, steps, None) {
            steps += 1;
        }
        for (step, tail) in (0..steps).flat_map(|step| tails().map(move |tail| (step, tail))) {
            let mut once = disk.clone();
            cut_off(&mut once, fresh, step, tail);
            // The next start may be cut off too; the last one is not.
            for (next, again) in (0..).zip(tails().cycle()) {
                let mut disk = once.clone();
                let was_cut = cut_off(&mut disk, fresh, next, again);
                let context = format!("{name}: cut at {step}, {tail:?}, and at {next}, {again:?}");
                start(&mut disk, fresh).unwrap_or_else(|error| panic!("{context}: {error}"));
                let seen = found(&disk);
                disk.crash(CrashEffect::Lost);

                let found = found(&disk);
                let differs = |from| format!("{context}: {}", difference(&found, from));
                assert!(expected.contains(&found), "{}", differs(&expected[0]));
                assert!(found == seen, "taken back: {}", differs(&seen));
                starts += 1;
                if !was_cut {
                    break;
                }
            }
        }
        assert!(steps > 5, "{name}: {steps} steps");
        println!("{name}: {steps} steps, {starts} starts after one or two that were cut off");
    }
}

/// The mark that says where the log begins now had its name, but not durably; the start removed what
/// lay before it, and the power loss took the mark back, but not that.
#[test]
fn a_process_that_is_killed_while_it_gives_up_segments_never_makes_its_log_look_damaged() {
    let mut starts = 0;
    for killed in 0.. {
        let mut store = Store::open(lived(), opening()).expect("a good disk").store;
        let half = store.find(HEIGHTS / 2).expect("a good disk").expect("it is decided").position;
        let at = store.disk().operations() + killed;
        store.disk_mut().fail_operation(at, DiskFault::PowerOff);
        let marked = store.prune_before(half);
        let mut disk = store.into_disk();
        disk.forget_faults();
        for tail in tails() {
            for step in 0.. {
                let mut disk = disk.clone();
                let was_cut = cut_off(&mut disk, false, step, tail);
                let context = format!("killed at {killed}, cut at {step}, {tail:?}");
                let aside = open_log(disk, opening()).expect(&context).aside;
                assert_eq!(aside, None, "{context}");
                starts += 1;
                if !was_cut {
                    break;
                }
            }
        }
        if marked.is_ok() {
            break;
        }
    }
    println!("{starts} starts");
    assert!(starts > 500, "{starts}");
}

fn difference(found: &Found, expected: &Found) -> String {
    let aside = |found: &Found| -> Vec<(u64, usize)> {
        found.aside.iter().map(|(segment, bytes)| (*segment, bytes.len())).collect()
    };
    let all = |found: &Found| {
        let others: Vec<String> = found.others.iter().map(|(file, _)| file.to_string()).collect();
        let Found { begin, records, lost, .. } = found;
        format!(
            "from {begin}, {} records, lost: {lost}, {:?}, {others:?}",
            records.len(),
            aside(found)
        )
    };
    format!("{} in place of {}", all(found), all(expected))
}
