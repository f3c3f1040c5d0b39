//! A sample of everything a server keeps, 32 KiB of log with every kind of record, a snapshot and a
//! blob: each bit of it turned, each file cut at each byte, each record taken out.

use std::sync::Arc;

use metatopia_consensus::{Polka, Record, Step, Timeout, TurnVerdict};
use metatopia_store::{
    FileKind, FileName, Identity, LogIndex, Opening, Position, ReadDisk as _, Snapshot, Store,
    get_blob, load_snapshot, memory::MemoryDisk, put_blob, put_snapshot, read_identity, survey,
};
use metatopia_types::{
    Blob, BlobId, Certificate, Digest, Header, Height, Millis, Proposal, PublicKey, Recovery, Root,
    Round, Sign, Signature, SignedRecovery, SigningKey, SimId, Turn, TurnBody, ValidatorSet, Vote,
    VoteKind,
};

const LOG_BYTES: u64 = 32 << 10;
const SEGMENT_BYTES: u64 = 8 << 10;

fn sim() -> SimId {
    SimId(Digest::of("a test", b"sim"))
}

fn identity() -> Identity {
    Identity { sim: sim(), server: PublicKey([9; 32]) }
}

fn signer(n: u8) -> SigningKey {
    SigningKey::from_seed([n + 1; 32])
}

fn turn(height: u64) -> Turn {
    let header = Header {
        sim: sim(),
        engine: 1,
        height: Height(height),
        proposer: signer(0).public(),
        time: Millis(height),
        ..Header::unstated()
    };
    Turn { header, body: TurnBody::default() }
}

/// Every kind of record, of one height.
fn records(at: u64) -> Vec<Record> {
    let (height, round) = (Height(at), Round(at as u32 % 3));
    let (turn, proposer) = (turn(at), signer(0).public());
    let header = turn.id();
    let vote = |n: u8, kind| {
        let vote = Vote { kind, height, round, header: Some(header), voter: signer(n).public() };
        Record::Vote(vote.sign(sim(), &signer(n)))
    };
    let proposal = Proposal { height, round, header, valid_round: None, proposer };
    let proposal = proposal.sign(sim(), &signer(0));
    let signatures: Vec<(PublicKey, Signature)> =
        (0..3).map(|n| (signer(n).public(), signer(n).sign(&at.to_le_bytes()))).collect();
    let member = |n| metatopia_types::Validator { key: signer(n).public(), power: 1 };
    let set = ValidatorSet::new((0..4).map(member).collect(), |_| true).expect("four members");
    let verdict = TurnVerdict {
        height,
        round,
        valid_round: None,
        proposer,
        header,
        valid: true,
        certified: false,
    };
    let (roots, number, engine) = ([Root(Digest::ZERO); 2], 1, 2);
    let recovery = Recovery { sim: SimId(Digest::ZERO), engine, number, height, header, roots };
    vec![
        Record::Turn(Arc::new(turn)),
        Record::Proposal(proposal.clone()),
        Record::Verdict(verdict),
        vote(0, VoteKind::Prevote),
        vote(1, VoteKind::Precommit),
        Record::Polka(Polka { height, round, header, signatures: signatures.clone() }),
        Record::Timeout(Timeout { height, round, step: Step::Precommit }),
        Record::Early(proposal),
        Record::Decided(Certificate { height, round, header, signatures }),
        Record::Applied { height, root: Root(Digest::ZERO), validators: Some(set) },
        Record::Voice,
        Record::Silence,
        Record::Healed { from: height },
        Record::Recovered(Box::new(SignedRecovery::new(recovery))),
    ]
}

/// Returns the number of a record's kind. A new kind does not compile here until [`records`] has it.
const fn kind(record: &Record) -> u32 {
    match record {
        Record::Turn(_) => 0,
        Record::Vote(_) => 1,
        Record::Proposal(_) => 2,
        Record::Verdict(_) => 3,
        Record::Timeout(_) => 4,
        Record::Polka(_) => 5,
        Record::Early(_) => 6,
        Record::Decided(_) => 7,
        Record::Applied { .. } => 8,
        Record::Voice => 9,
        Record::Silence => 10,
        Record::Healed { .. } => 11,
        Record::Recovered(_) => 12,
    }
}

const KINDS: u32 = 13;

/// A record's file, its bytes in that file, and how many come before it.
struct Place {
    file: FileName,
    from: u64,
    to: u64,
    number: u64,
    position: Position,
}

struct Sample {
    disk: MemoryDisk,
    index: LogIndex,
    places: Vec<Place>,
    segments: Vec<(FileName, Vec<u8>)>,
    snapshot: (Height, Root),
    blob: BlobId,
}

/// Returns what a stopped server has kept.
fn sample() -> Sample {
    let opening = Opening { segment_bytes: SEGMENT_BYTES, ..Opening::new(identity()) };
    let mut store = Store::open(MemoryDisk::new(), opening).expect("a good disk").store;
    let mut kinds = 0_u32;
    for record in (1..).flat_map(records) {
        if store.end().0 >= LOG_BYTES && kinds.count_ones() == KINDS {
            break;
        }
        kinds |= 1 << kind(&record);
        let tag = match &record {
            Record::Decided(certificate) => Some(certificate.height.0),
            _ => None,
        };
        store.append(1, tag, &record.encode()).expect("a good disk");
        store.sync().expect("a good disk");
    }
    let snapshot = (Height(600), Root(Digest::of("a test", b"root")));
    let bytes = (0..2_000_u32).flat_map(u32::to_le_bytes).collect();
    put_snapshot(store.disk_mut(), &Snapshot { height: snapshot.0, root: snapshot.1, bytes })
        .expect("a good disk");
    let blob = Blob((0..1_000_u32).flat_map(u32::to_le_bytes).collect());
    let blob = put_blob(store.disk_mut(), &blob).expect("a good disk");
    store.mark().expect("a good disk");

    let index = store.index().clone();
    let place = |(number, record): (u64, metatopia_store::StoredRecord)| {
        let (file, from) = index.locate(record.position).expect("a record");
        let to = from + (record.end.0 - record.position.0);
        Place { file, from, to, number, position: record.position }
    };
    let found = index.iter(store.disk()).map(|record| record.expect("undamaged"));
    let places = (0..).zip(found).map(place).collect();
    let disk = store.into_disk();
    let mut segments = Vec::new();
    for file in disk.files() {
        if matches!(file.kind, FileKind::Segment(_)) {
            segments.push((file, disk.bytes(file).expect("it is listed").to_vec()));
        }
    }
    assert!(segments.len() >= 4);
    Sample { disk, index, places, segments, snapshot, blob }
}

/// The records before this byte of a file, and the record that holds it.
fn place_of(sample: &Sample, file: FileName, byte: u64) -> (u64, Option<&Place>) {
    let holds = |place: &&Place| place.file == file && (place.from..place.to).contains(&byte);
    match sample.places.iter().find(holds) {
        Some(place) => (place.number, Some(place)),
        None => {
            let before = sample.places.iter().filter(|place| place.file < file).count();
            (before as u64, None)
        }
    }
}

#[test]
fn every_bit_of_the_log_that_turns_is_noticed_and_nothing_behind_it_is_served() {
    let mut sample = sample();
    let mut tried = 0_u64;
    for (file, bytes) in sample.segments.clone() {
        for bit in 0..bytes.len() as u64 * 8 {
            assert!(sample.disk.flip(file, bit));

            let found = survey(&sample.disk, sim()).expect("a good disk");

            let (before, place) = place_of(&sample, file, bit / 8);
            assert!(found.fault.is_some(), "{file} bit {bit}");
            assert_eq!(found.scan.index.records(), before, "{file} bit {bit}");
            // Who has looked before the bit turned is not fooled either.
            if let Some(place) = place {
                let read = sample.index.read_at(&sample.disk, place.position);
                assert!(read.is_err(), "{file} bit {bit}");
            }
            sample.disk.flip(file, bit);
            tried += 1;
        }
    }
    println!("{tried} bits of {} bytes of log turned, each was noticed", tried / 8);
    assert!(tried >= LOG_BYTES * 8);
}

#[test]
fn every_cut_of_the_log_is_noticed_and_only_what_lies_before_it_is_served() {
    let mut sample = sample();
    let mut tried = 0_u64;
    for (file, bytes) in sample.segments.clone() {
        for left in 0..bytes.len() {
            sample.disk.replace(file, bytes[..left].to_vec());

            let found = survey(&sample.disk, sim()).expect("a good disk");

            assert!(found.fault.is_some(), "{file} cut to {left}");
            let (before, _) = place_of(&sample, file, left as u64);
            assert_eq!(found.scan.index.records(), before, "{file} cut to {left}");
            tried += 1;
        }
        sample.disk.replace(file, bytes);
    }
    println!("{tried} cuts of the log, each was noticed");
    assert!(tried >= LOG_BYTES);
}

#[test]
fn every_record_that_is_taken_out_is_missed() {
    let mut sample = sample();
    for (file, bytes) in sample.segments.clone() {
        let own: Vec<&Place> = sample.places.iter().filter(|place| place.file == file).collect();
        for (from, first) in own.iter().enumerate() {
            for last in &own[from..] {
                let kept = [&bytes[..first.from as usize], &bytes[last.to as usize..]].concat();
                sample.disk.replace(file, kept);
                let found = survey(&sample.disk, sim()).expect("a good disk");
                assert!(found.fault.is_some(), "{file} without {}..{}", first.from, last.to);
                assert!(found.scan.index.records() <= last.number);
            }
        }
        sample.disk.replace(file, bytes);
    }
}

#[test]
fn every_bit_and_every_cut_of_the_other_files_is_noticed() {
    let mut sample = sample();
    let (height, root) = sample.snapshot;
    let mut tried = 0_u64;
    for file in sample.disk.files() {
        let bytes = sample.disk.bytes(file).expect("it is listed").to_vec();
        let blob = sample.blob;
        let is_served = |disk: &MemoryDisk| match file.kind {
            FileKind::Snapshot(..) => load_snapshot(disk, height, root).is_ok(),
            FileKind::Blob(_) => get_blob(disk, blob).is_ok(),
            FileKind::Identity => read_identity(disk).is_ok(),
            FileKind::Mark => survey(disk, sim()).expect("a good disk").fault.is_none(),
            FileKind::Segment(_) | FileKind::Quarantined { .. } | FileKind::Patch { .. } => false,
        };
        if matches!(file.kind, FileKind::Segment(_)) {
            continue;
        }
        assert!(is_served(&sample.disk), "{file}");
        for bit in 0..bytes.len() as u64 * 8 {
            sample.disk.flip(file, bit);
            assert!(!is_served(&sample.disk), "{file} bit {bit}");
            sample.disk.flip(file, bit);
            tried += 1;
        }
        for left in 0..bytes.len() {
            sample.disk.replace(file, bytes[..left].to_vec());
            assert!(!is_served(&sample.disk), "{file} cut to {left}");
            tried += 1;
        }
        sample.disk.replace(file, bytes);
    }
    println!("{tried} bits and cuts of identity, mark, snapshot and blob, each was noticed");
    assert!(tried > 100_000, "{tried}");
    assert_eq!(sample.disk.length(FileName::segment(0)), Ok(sample.segments[0].1.len() as u64));
}
