use std::{
    env, process,
    sync::atomic::{AtomicU64, Ordering},
};

use metatopia_store::{
    FileKind, Identity, Opening, ScanError, Snapshot, Store, TailReport, get_blob,
    memory::MemoryDisk, newest_snapshot, put_blob, put_snapshot, scan,
};
use metatopia_types::{Blob, Digest, Height, PublicKey, Root, SimId};

use super::*;

/// A folder for one test, removed with everything in it when the test ends.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static PLACES: AtomicU64 = AtomicU64::new(0);
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("metatopia-disk-{}-{number}", process::id());
        let path = env::temp_dir().join(name);
        fs::create_dir(&path).expect("the name is unique");
        Self(path)
    }

    fn data(&self) -> PathBuf {
        self.0.join("some/data")
    }

    fn disk(&self) -> RealDisk {
        RealDisk::open(&self.data()).expect("a place to write to")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn opening() -> Opening {
    let identity =
        Identity { sim: SimId(Digest::of("a test", b"sim")), server: PublicKey([9; 32]) };
    Opening { segment_bytes: 1_000, ..Opening::new(identity) }
}

fn open(place: &Place) -> (Store<RealDisk>, Option<TailReport>) {
    let opened = Store::open(place.disk(), opening()).expect("a log that can be continued");
    (opened.store, opened.tail)
}

/// Fills a directory with 40 records of the log, tagged 0 to 39.
fn filled(place: &Place) {
    let mut store = open(place).0;
    for number in 0..40_u64 {
        let payload = number.to_le_bytes().repeat(8);
        store.append(1, Some(number), &payload).expect("a good disk");
        store.sync().expect("a good disk");
    }
}

fn last_segment(place: &Place) -> (FileName, PathBuf) {
    let directory = DataDirectory::open(&place.data()).expect("it is there");
    let files = directory.list(Folder::Log).expect("it can be read");
    let file = *files.last().expect("a log");
    (file, directory.file_path(file))
}

#[test]
fn a_log_is_there_when_the_directory_is_opened_again() {
    let place = Place::new();
    filled(&place);

    let (mut store, tail) = open(&place);

    assert_eq!(tail, None);
    assert_eq!((store.index().records(), store.index().segments()), (40, 5));
    for number in 0..40_u64 {
        let found = store.find(number).expect("a good disk").expect("a tag");
        assert_eq!(found.payload, number.to_le_bytes().repeat(8));
    }
    store.append(1, Some(40), b"one more").expect("a good disk");
    store.sync().expect("a good disk");
    drop(store);
    assert_eq!(open(&place).0.index().records(), 41);
}

#[test]
fn a_log_cut_anywhere_in_its_last_record_is_continued_before_it() {
    let place = Place::new();
    filled(&place);
    let (file, path) = last_segment(&place);
    let whole = fs::read(&path).expect("a segment");
    for cut in [1, 63, 64, 65, 105] {
        fs::write(&path, &whole[..whole.len() - cut]).expect("a good disk");

        let (store, tail) = open(&place);

        let tail = tail.expect("it is reported");
        assert_eq!((tail.file, tail.bytes as usize), (file, 106 - cut));
        assert_eq!(store.index().records(), 39);
        drop(store);
        let left = fs::read(&path).expect("a segment");
        assert_eq!(left, whole[..whole.len() - 106]);
    }
}

#[test]
fn a_flipped_byte_of_the_log_is_named() {
    let place = Place::new();
    filled(&place);
    let path = place.data().join("log/segment-0000000002");
    let mut bytes = fs::read(&path).expect("a segment");
    bytes[300] ^= 1;
    fs::write(&path, bytes).expect("a good disk");

    let refused = Store::open(place.disk(), opening()).map(|_| ());

    let told = refused.expect_err("damage").to_string();
    assert!(told.starts_with("log/segment-0000000002 is damaged at byte 198: "), "{told}");
}

#[test]
fn two_processes_cannot_share_a_data_directory() {
    let place = Place::new();
    let first = place.disk();

    // A lock belongs to the open file, so a second opening in this process shows the same.
    let second = RealDisk::open(&place.data()).map(|_| ());

    let second = second.expect_err("it is in use");
    assert_eq!((second.cause.clone(), &second.path), (Cause::InUse, &place.data()));
    assert!(second.to_string().contains("another process is using"), "{second}");
    drop(first);
    place.disk();
}

#[test]
fn a_directory_in_use_can_be_verified_and_is_not_changed() {
    let place = Place::new();
    let mut store = open(&place).0;
    for number in 0..9 {
        store.append(1, Some(number), b"record").expect("a good disk");
    }
    let (_, path) = last_segment(&place);
    let before = fs::read(&path).expect("a segment");

    let directory = DataDirectory::open(&place.data()).expect("it is there");
    let scanned = scan(&directory, opening().identity.sim).expect("an undamaged log");

    assert_eq!(scanned.index.records(), 9);
    assert_eq!(fs::read(&path).expect("a segment"), before);
    let foreign = scan(&directory, SimId(Digest::ZERO));
    assert!(matches!(foreign, Err(ScanError::ForeignSim { .. })), "{foreign:?}");
}

#[test]
fn a_directory_is_in_use_as_long_as_a_process_may_change_it() {
    let place = Place::new();
    let disk = place.disk();
    let directory = DataDirectory::open(&place.data()).expect("it is there");

    let busy = directory.is_free().expect_err("the disk is held");

    assert_eq!((busy.cause, busy.path), (Cause::InUse, place.data()));
    drop(disk);
    assert_eq!(directory.is_free(), Ok(()));
    // The question takes no lock.
    let _again = place.disk();
    fs::remove_file(place.data().join("lock")).expect("our own file");
    assert_eq!(directory.is_free(), Ok(()));
}

#[test]
fn a_directory_that_is_not_there_is_not_created_for_reading() {
    let place = Place::new();

    let refused = DataDirectory::open(&place.data()).map(|_| ());

    assert_eq!(refused.expect_err("nothing is there").cause, Cause::NotFound);
    assert!(!place.data().exists());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look_inside() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    filled(&place);
    let mode = |path: &str| {
        let metadata = fs::metadata(place.data().join(path));
        metadata.expect("it is there").permissions().mode() & 0o777
    };
    for folder in ["", "log", "snapshots", "blobs"] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    for file in ["lock", "identity", "log/segment-0000000000"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[test]
fn snapshots_and_blobs_are_whole_files() {
    let place = Place::new();
    let mut disk = place.disk();
    let blob = Blob(b"hello".to_vec());
    let id = put_blob(&mut disk, &blob).expect("a good disk");
    let snapshot = |height| Snapshot {
        height: Height(height),
        root: Root(Digest::of("a test", b"root")),
        bytes: vec![7; 200_000],
    };
    for height in [600, 1_200, 1_800] {
        put_snapshot(&mut disk, &snapshot(height)).expect("a good disk");
    }
    drop(disk);

    let disk = place.disk();

    assert_eq!(get_blob(&disk, id), Ok(Some(blob)));
    let newest = newest_snapshot(&disk).expect("a good disk");
    assert_eq!(newest.snapshot, Some(snapshot(1_800)));
    let names = |folder: &str| {
        let entries = fs::read_dir(place.data().join(folder));
        entries.expect("a folder").count()
    };
    assert_eq!((names("snapshots"), names("blobs")), (2, 1), "nothing unfinished is left");
}

#[test]
fn files_that_are_not_ours_are_left_alone() {
    let place = Place::new();
    filled(&place);
    let ours = place.disk().list(Folder::Log).expect("a good disk");
    let strange = ["segment-7", "segment-0000000000~", "notes.txt", "segment-00000000\u{e9}0"];
    for name in strange {
        fs::write(place.data().join("log").join(name), b"mine").expect("a good disk");
    }

    assert_eq!(open(&place).0.disk().list(Folder::Log), Ok(ours));

    for name in strange {
        let left = fs::read(place.data().join("log").join(name));
        assert_eq!(left.expect("it is still there"), b"mine");
    }
}

#[test]
fn the_real_disk_and_the_one_in_memory_do_the_same() {
    let files = [
        FileName::segment(0),
        FileName::segment(1),
        FileName::segment(1).temporary(),
        FileName::new(FileKind::Blob(Blob(Vec::new()).id())),
    ];
    for seed in 0..20_u64 {
        let place = Place::new();
        let (mut real, mut memory) = (place.disk(), MemoryDisk::new());
        let mut dice = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
        let mut roll = |sides: u8| {
            let mut byte = [0];
            dice.fill(&mut byte);
            byte[0] % sides
        };
        for step in 0..60 {
            let (file, bytes) = (files[usize::from(roll(4))], vec![step; usize::from(roll(90))]);
            let change = roll(6);
            let act = |disk: &mut dyn Disk| match change {
                0 => disk.rename(FileName::segment(0), FileName::segment(1)),
                1 => disk.remove(file),
                2 => disk.sync(file, u64::MAX),
                3 => disk.sync_dir(file.folder()),
                4 => disk.write_new(FileName::segment(1), &bytes),
                _ => disk.append(file, &bytes),
            };
            let (offset, length) = (u64::from(roll(200)), u32::from(roll(200)));
            let look = |disk: &dyn ReadDisk| {
                let read = disk.read(file, offset, length);
                (Folder::ALL.map(|folder| disk.list(folder)), disk.length(file), read)
            };
            assert_eq!(act(&mut real), act(&mut memory), "seed {seed}, step {step}");
            assert_eq!(look(&real), look(&memory), "seed {seed}, step {step}");
        }
    }
}
