//! Data directories that are not ours, and formats that we do not know.

use metatopia_store::{
    Damage, FileKind, FileName, Identity, IdentityError, OpenStoreError, Opening, PATCH_VERSION,
    Patch, ReadError, ReadSnapshotError, RecoverError, ScanError, Snapshot, Store, UnknownFormat,
    claim_identity, load_patch, load_snapshot, memory::MemoryDisk, put_snapshot, quarantine,
    read_identity, recover, scan, unknown_format,
};
use metatopia_types::{Digest, Height, PublicKey, Root, SimId};

use crate::fixture::{contents, filled, identity, opening, recovered, sim};

fn other_sim() -> SimId {
    SimId(Digest::of("a test", b"another sim"))
}

fn refused(disk: &mut MemoryDisk, identity: Identity) -> IdentityError {
    let before = contents(disk);
    let opened = Store::open(&mut *disk, Opening::new(identity)).map(|_| ());
    assert_eq!(contents(disk), before, "nothing is changed");
    match opened {
        Err(OpenStoreError::Identity(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_directory_of_another_sim_is_refused() {
    let (found, expected) = (sim(), other_sim());
    let intruder = Identity { sim: expected, ..identity() };

    let error = refused(&mut filled(&[3]), intruder);

    assert_eq!(error, IdentityError::ForeignSim { found, expected });
    let told = format!("the data directory belongs to sim {found}, not to {expected}");
    assert_eq!(error.to_string(), told);
}

#[test]
fn the_directory_of_another_server_is_refused() {
    let intruder = Identity { server: PublicKey([1; 32]), ..identity() };

    let error = refused(&mut filled(&[3]), intruder);

    let (found, expected) = (identity().server, intruder.server);
    assert_eq!(error, IdentityError::ForeignServer { found, expected });
}

#[test]
fn a_log_without_an_identity_is_refused() {
    let mut disk = filled(&[3]);
    metatopia_store::Disk::remove(&mut disk, FileName::IDENTITY).expect("a good disk");

    assert_eq!(refused(&mut disk, identity()), IdentityError::Missing);
}

#[test]
fn a_directory_is_claimed_once() {
    let mut disk = MemoryDisk::new();
    assert_eq!(read_identity(&disk), Ok(None));

    assert_eq!(claim_identity(&mut disk, &identity()), Ok(true));
    assert_eq!(claim_identity(&mut disk, &identity()), Ok(false));

    assert_eq!(read_identity(&disk), Ok(Some(identity())));
    disk.crash(metatopia_store::memory::CrashEffect::Lost);
    assert_eq!(read_identity(&disk), Ok(Some(identity())), "it is durable");
}

#[test]
fn a_segment_of_another_sim_is_refused() {
    let mut disk = filled(&[1; 9]);
    let before = contents(&disk);

    let error = recover(&mut disk, other_sim()).expect_err("another sim");

    let foreign =
        ScanError::ForeignSim { file: FileName::segment(0), found: sim(), expected: other_sim() };
    assert_eq!(error, RecoverError::Scan(foreign));
    assert_eq!(contents(&disk), before, "nothing is changed");
}

/// A later version: another number, and of course another hash.
fn of_version_3(disk: &mut MemoryDisk, file: FileName) {
    let mut bytes = disk.bytes(file).expect("a file").to_vec();
    bytes[8..12].copy_from_slice(&3_u32.to_le_bytes());
    bytes[80] ^= 1;
    disk.replace(file, bytes);
}

#[test]
fn a_later_version_of_any_file_is_named_not_guessed_at() {
    let mut disk = filled(&[1; 9]);
    let segment = FileName::segment(1);
    of_version_3(&mut disk, segment);
    let found = 3;
    let file = segment;
    assert_eq!(scan(&disk, sim()), Err(ScanError::Version { file, found }));

    of_version_3(&mut disk, FileName::IDENTITY);
    assert_eq!(read_identity(&disk), Err(IdentityError::Version { found }));

    let snapshot = Snapshot {
        height: Height(600),
        root: Root(Digest::of("a test", b"root")),
        bytes: vec![5; 40],
    };
    put_snapshot(&mut disk, &snapshot).expect("a good disk");
    let file = FileName::new(FileKind::Snapshot(snapshot.height, snapshot.root));
    of_version_3(&mut disk, file);
    let error = load_snapshot(&disk, snapshot.height, snapshot.root);
    assert_eq!(error, Err(ReadSnapshotError::Version { file, found }));
}

#[test]
fn a_snapshot_under_the_name_of_another_is_refused() {
    let mut disk = MemoryDisk::new();
    let snapshot = Snapshot {
        height: Height(600),
        root: Root(Digest::of("a test", b"root")),
        bytes: vec![5; 40],
    };
    put_snapshot(&mut disk, &snapshot).expect("a good disk");
    let name = |height| FileName::new(FileKind::Snapshot(Height(height), snapshot.root));
    let bytes = disk.bytes(name(600)).expect("a file").to_vec();
    disk.replace(name(700), bytes);

    let error = load_snapshot(&disk, Height(700), snapshot.root);

    assert!(matches!(error, Err(ReadSnapshotError::Damaged(damaged)) if damaged.file == name(700)));
}

#[test]
fn an_empty_directory_is_a_new_log() {
    let opened = Store::open(MemoryDisk::new(), opening()).expect("a good disk");
    assert!(opened.first_start);
    assert_eq!(opened.tail, None);
    assert_eq!(opened.store.index().records(), 0);
    assert_eq!(opened.store.index().last_tagged(), None);

    let again = Store::open(opened.store.into_disk(), opening()).expect("a good disk");
    assert!(!again.first_start);
    assert_eq!(recovered(&mut again.store.into_disk()), 0);
}

#[test]
fn a_file_that_is_too_long_or_too_short_is_refused() {
    let mut disk = filled(&[1]);
    let snapshot = Snapshot {
        height: Height(600),
        root: Root(Digest::of("a test", b"root")),
        bytes: vec![5; 40],
    };
    put_snapshot(&mut disk, &snapshot).expect("a good disk");
    let name = FileName::new(FileKind::Snapshot(snapshot.height, snapshot.root));
    let whole = disk.bytes(name).expect("a file").to_vec();
    let identity = disk.bytes(FileName::IDENTITY).expect("a file").to_vec();

    for length in (0..whole.len()).chain([whole.len() + 1]) {
        let mut bytes = whole.clone();
        bytes.resize(length, 0);
        disk.replace(name, bytes);
        let error = load_snapshot(&disk, snapshot.height, snapshot.root);
        let Err(ReadSnapshotError::Damaged(damaged)) = error else {
            panic!("{length} bytes: {error:?}");
        };
        assert!(matches!(damaged.damage, Damage::Length { .. }), "{damaged}");
    }
    for length in (0..identity.len()).chain([identity.len() + 1, 5_000]) {
        let mut bytes = identity.clone();
        bytes.resize(length, 0);
        disk.replace(FileName::IDENTITY, bytes);
        let error = read_identity(&disk);
        let Err(IdentityError::Damaged(damaged)) = error else {
            panic!("{length} bytes: {error:?}");
        };
        assert!(matches!(damaged.damage, Damage::Length { .. }), "{damaged}");
    }
}

/// Patches of another version counted as damaged, and a server removed them.
#[test]
fn a_patch_of_a_later_version_is_not_damaged() {
    let opened = Store::open(MemoryDisk::new(), Opening::new(identity()));
    let mut store = opened.expect("a new directory").store;
    let patch = Patch { from: 7, to: 20, bytes: vec![5; 80] };
    store.put_patch(&patch).expect("a good disk");
    let mut disk = store.into_disk();
    let file = FileName::new(FileKind::Patch { from: 7, to: 20 });
    of_version_3(&mut disk, file);

    let unknown = UnknownFormat { file, found: 3, known: PATCH_VERSION };
    assert_eq!(load_patch(&disk, (7, 20)), Err(ReadError::Format(unknown)));
    assert_eq!(unknown_format(&disk), Ok(Some(unknown)));
}

#[test]
fn a_file_of_a_later_version_is_found_among_many_and_damage_is_none() {
    let mut disk = filled(&[1; 9]);
    let snapshot = Snapshot { height: Height(600), root: Root(Digest::ZERO), bytes: vec![5; 40] };
    put_snapshot(&mut disk, &snapshot).expect("a good disk");
    assert_eq!(unknown_format(&disk), Ok(None));
    let kinds = [
        FileName::IDENTITY,
        FileName::MARK,
        FileName::segment(2),
        FileName::new(FileKind::Snapshot(snapshot.height, snapshot.root)),
    ];
    for file in kinds.into_iter().filter(|file| disk.bytes(*file).is_some()) {
        let mut damaged = disk.clone();
        damaged.flip(file, 20 * 8);
        assert_eq!(unknown_format(&damaged), Ok(None), "{file}");
        let mut later = disk.clone();
        of_version_3(&mut later, file);
        let known = if matches!(file.kind, FileKind::Segment(_)) { 2 } else { 1 };
        let unknown = UnknownFormat { file, found: 3, known };
        assert_eq!(unknown_format(&later), Ok(Some(unknown)), "{file}");
    }
}

/// What lies behind the damage was put aside with it, whatever it was.
#[test]
fn nothing_is_put_aside_where_a_file_is_of_a_later_version() {
    let mut disk = filled(&[1; 9]);
    disk.flip(FileName::segment(0), 90 * 8);
    let file = FileName::segment(2);
    of_version_3(&mut disk, file);
    let before = contents(&disk);

    let error = quarantine(&mut disk, sim(), &|_, _| true);

    let unknown = UnknownFormat { file, found: 3, known: 2 };
    assert_eq!(error, Err(RecoverError::Format(unknown)));
    assert_eq!(contents(&disk), before, "nothing is changed");
}
