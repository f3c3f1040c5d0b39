//! Random lives of a store against a list.

use std::fmt;

use metatopia_store::{
    OpenStoreError, Opening, Position, Store, SyncRequest,
    memory::{CrashEffect, DiskFault, MemoryDisk},
    scan,
};
use proptest::{collection::vec, prelude::*};

use crate::fixture::{identity, records, sim};

#[derive(Clone, Debug)]
enum Step {
    Append {
        length: usize,
        tagged: bool,
    },
    Sync,
    BeginSync,
    FinishSync,
    Crash(CrashEffect),
    /// The process ends, the machine does not.
    Kill,
    /// The operation after so many more fails.
    Fault {
        after: u64,
        fault: DiskFault,
    },
    Read(prop::sample::Index),
    /// Marks the log, and gives up what lies before a record.
    Mark(prop::sample::Index),
}

fn tail() -> impl Strategy<Value = CrashEffect> {
    prop_oneof![
        Just(CrashEffect::Lost),
        Just(CrashEffect::Kept),
        any::<u64>().prop_map(CrashEffect::Torn),
        any::<u64>().prop_map(CrashEffect::Torn),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let fault = prop_oneof![Just(DiskFault::Fail), Just(DiskFault::Full)];
    prop_oneof![
        10 => (0..200_usize, any::<bool>())
            .prop_map(|(length, tagged)| Step::Append { length, tagged }),
        3 => Just(Step::Sync),
        2 => Just(Step::BeginSync),
        2 => Just(Step::FinishSync),
        1 => tail().prop_map(Step::Crash),
        1 => Just(Step::Kill),
        1 => (0..6_u64, fault).prop_map(|(after, fault)| Step::Fault { after, fault }),
        3 => any::<prop::sample::Index>().prop_map(Step::Read),
        1 => any::<prop::sample::Index>().prop_map(Step::Mark),
    ]
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ExpectedRecord {
    position: Position,
    end: Position,
    tag: Option<u64>,
    payload: Vec<u8>,
}

/// A store and what it should hold.
struct Life {
    store: Option<Store<MemoryDisk>>,
    kept: Vec<ExpectedRecord>,
    /// Up to here it was told to be durable.
    durable: Position,
    begun: Option<SyncRequest>,
    opening: Opening,
    appended_ever: u64,
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records, durable to {}", self.kept.len(), self.durable)
    }
}

impl Life {
    fn new(segment_bytes: u64) -> Self {
        let opening = Opening { segment_bytes, ..Opening::new(identity()) };
        let opened = Store::open(MemoryDisk::new(), opening).expect("a good disk");
        Self {
            store: Some(opened.store),
            kept: Vec::new(),
            durable: Position::ZERO,
            begun: None,
            opening,
            appended_ever: 0,
        }
    }

    fn store(&mut self) -> &mut Store<MemoryDisk> {
        self.store.as_mut().expect("it is open between steps")
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Append { length, tagged } => self.append(*length, *tagged),
            Step::Sync => {
                let request = self.store().begin_sync();
                self.sync(request);
            }
            Step::BeginSync => self.begun = self.store().begin_sync(),
            Step::FinishSync => {
                let request = self.begun.take();
                self.sync(request);
            }
            Step::Crash(tail) => {
                let mut disk = self.take_disk();
                disk.crash(*tail);
                self.open(disk);
            }
            Step::Kill => {
                let disk = self.take_disk();
                self.open(disk);
            }
            Step::Fault { after, fault } => {
                let at = self.store().disk().operations() + after;
                self.store().disk_mut().fail_operation(at, *fault);
            }
            Step::Read(index) => self.read(index),
            Step::Mark(index) => self.mark(index),
        }
        if self.store().must_reopen() {
            self.reopen();
        }
    }

    fn append(&mut self, length: usize, tagged: bool) {
        // No two payloads are alike, also after a crash took some back.
        let mut payload = self.appended_ever.to_le_bytes().to_vec();
        payload.resize(8 + length, 7);
        self.appended_ever += 1;
        let tag = tagged.then_some(self.appended_ever);
        let position = self.store().end();
        if let Ok(end) = self.store().append(3, tag, &payload) {
            self.kept.push(ExpectedRecord { position, end, tag, payload });
        }
        self.durable = self.store().synced();
    }

    fn sync(&mut self, request: Option<SyncRequest>) {
        let Some(request) = request else {
            return;
        };
        if let Ok(durable) = self.store().finish_sync(&request) {
            assert!(durable >= request.end);
            self.durable = durable;
        }
    }

    fn take_disk(&mut self) -> MemoryDisk {
        self.begun = None;
        self.store.take().expect("it is open").into_disk()
    }

    /// Opens the disk, however often it fails first.
    fn open(&mut self, mut disk: MemoryDisk) {
        let opened = |disk: &mut MemoryDisk| Store::open(disk, self.opening).map(|_| ());
        retried(|| opened(&mut disk));
        disk.forget_faults();
        let opened = Store::open(disk, self.opening).expect("a good disk");
        self.store = Some(opened.store);
        self.compare();
    }

    fn reopen(&mut self) {
        self.begun = None;
        self.durable = self.store().synced();
        retried(|| self.store().reopen());
        self.compare();
    }

    fn compare(&mut self) {
        let store = self.store();
        let (end, found) = (store.end(), records(store.index(), store.disk()));
        assert!(end >= self.durable, "{self:?}, found {end}");
        self.forget();
        self.kept.truncate(found.len());
        let found: Vec<ExpectedRecord> = found
            .into_iter()
            .map(|record| ExpectedRecord {
                position: record.position,
                end: record.end,
                tag: record.tag,
                payload: record.payload,
            })
            .collect();
        assert_eq!(found, self.kept, "a prefix of what was appended");
        self.durable = end;
    }

    fn mark(&mut self, index: &prop::sample::Index) {
        if self.kept.is_empty() {
            return;
        }
        let keep = index.get(&self.kept).position;
        let begin = self.store().index().begin();
        if self.store().prune_before(keep).is_ok() {
            self.durable = self.store().end();
        }
        let after = self.store().index().begin();
        assert!(begin <= after && after <= keep.max(begin));
        self.durable = self.durable.max(self.store().synced());
        self.forget();
    }

    /// Forgets what the store has given up.
    fn forget(&mut self) {
        let begin = self.store().index().begin();
        self.kept.retain(|kept| kept.position >= begin);
    }

    fn read(&mut self, index: &prop::sample::Index) {
        if self.kept.is_empty() {
            return;
        }
        let kept = index.get(&self.kept).clone();
        let read = self.store().read_at(kept.position).expect("it is there");
        assert_eq!((&read.payload, read.end), (&kept.payload, kept.end));
        if let Some(tag) = kept.tag {
            assert_eq!(self.store().find(tag), Ok(Some(read)));
        }
    }
}

/// Does it until no injected fault is in the way.
fn retried<T>(mut attempt: impl FnMut() -> Result<T, OpenStoreError>) {
    for _ in 0..20 {
        let Err(error) = attempt() else {
            return;
        };
        let told = error.to_string();
        assert!(told.contains("injected") || told.contains("full"), "{told}");
    }
    panic!("more faults than were injected");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_life_of_a_store_keeps_a_prefix_with_all_that_was_synced(
        segment_bytes in 1..1_500_u64,
        steps in vec(step(), 1..60),
    ) {
        let mut life = Life::new(segment_bytes);
        for step in &steps {
            life.step(step);
        }
        let index = life.store().index().clone();
        let found = scan(life.store().disk(), sim()).expect("an undamaged log").index;
        prop_assert_eq!(found.end(), index.end());
        // A mark that failed at its last step may be there; and of a pruned log only the writer
        // remembers the last tag before it.
        prop_assert!(found.begin() >= index.begin());
        prop_assert!(found.is_pruned() || found == index);
    }
}
