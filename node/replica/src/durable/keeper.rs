//! What a server keeps on its disk, and when: appends, syncs, snapshots, reading old turns back, and
//! how much of the past is let go.
//!
//! A disk that is full is waited for: what is appended meanwhile is kept in memory, nothing is said
//! to be durable, and the log goes on where it was once there is room. After any other failure
//! nothing is written any more: whether a disk kept what it refused to confirm cannot be known.
//!
//! After each snapshot the log is marked, and what lies far below the older snapshot is removed,
//! unless the server is an archive.

mod filling;
mod forgetting;
mod opening;
mod order;
mod pruning;
mod reading;

use std::collections::VecDeque;

use metatopia_consensus::{Decision, RecordPosition};
use metatopia_protocol::TURNS_ANSWER_BYTES;
use metatopia_store::{
    self as store, Disk, ReadError, Snapshot, Store, put_only_snapshot, put_snapshot,
};
use metatopia_types::Height;

pub use self::pruning::HISTORY_TURNS;
use self::{forgetting::ForgottenSoFar, order::ReplaceError};
pub use self::{
    forgetting::{FORGOTTEN_AT_ONCE, ForgetError, Forgetting, SEGMENTS_AT_ONCE},
    opening::{
        Log, NoStart, PassedOver, StartError, begin_log, newest_state, open_log, open_replica,
    },
    order::{Done, Health, History, News, Order, Restart, StorageError},
    reading::read_back,
};
use crate::{
    Reader, SNAPSHOT_BYTES_MAX,
    durable::records::{LOADED_BYTES_MAX, at_once},
    durable::turns::{Gaps, KeptTurns},
};

/// The kind byte of agreement's records in the log; the only kind there is.
pub const AGREEMENT: u8 = 1;

/// Bytes of records that may wait for room: 20 minutes of a busy sim. Then no more turns are decided
/// here until there is room.
pub const BACKLOG_BYTES_MAX: usize = 64 << 20;

/// Room that must be left when the log goes on, so that it does not stop at once again.
const ROOM_BYTES: u64 = 256 << 10;

/// A record on its way to the disk.
#[derive(Debug)]
struct Unsynced {
    tag: Option<u64>,
    payload: Vec<u8>,
    /// Where it ends in the log, once writing it was tried.
    end: Option<store::Position>,
}

/// Carries out the orders of a replica on its disk, as far as the disk does.
#[derive(Debug)]
pub struct Keeper<D> {
    store: Store<D>,
    history: History,
    health: Health,
    /// The health that was reported last.
    reported_health: Health,
    /// What is not durable yet: it is written again if the disk failed on it.
    unsynced: VecDeque<Unsynced>,
    unsynced_bytes: usize,
    /// The place to report with the next sync.
    wanted: Option<RecordPosition>,
    /// Orders that come after it.
    later: Vec<Order>,
    /// A fetched state and its record, while they are not on the disk.
    replacing: Option<(Snapshot, Option<Vec<u8>>)>,
    oldest: Height,
    /// The turns that are missing, and whether that must be told.
    gaps: Gaps,
    are_gaps_due: bool,
    /// The words that have left the log.
    forgotten: ForgottenSoFar,
    news: Vec<News>,
}

impl<D: Disk> Keeper<D> {
    /// Keeps the files of a server, whose log was just opened.
    #[must_use]
    pub fn new(store: Store<D>, history: History) -> Self {
        let mut keeper = Self {
            store,
            history,
            health: Health::Sound,
            reported_health: Health::Sound,
            unsynced: VecDeque::new(),
            unsynced_bytes: 0,
            wanted: None,
            later: Vec::new(),
            replacing: None,
            oldest: Height(1),
            gaps: Gaps::default(),
            are_gaps_due: false,
            forgotten: ForgottenSoFar::default(),
            news: Vec::new(),
        };
        keeper.look_for_oldest();
        keeper.check_patches();
        keeper.look_for_gaps();
        keeper
    }

    /// Returns the same keeper with another handle of the disk.
    #[must_use]
    pub fn on<E>(self, disk: E) -> Keeper<E> {
        Keeper {
            store: self.store.on(disk),
            history: self.history,
            health: self.health,
            reported_health: self.reported_health,
            unsynced: self.unsynced,
            unsynced_bytes: self.unsynced_bytes,
            wanted: self.wanted,
            later: self.later,
            replacing: self.replacing,
            oldest: self.oldest,
            gaps: self.gaps,
            are_gaps_due: self.are_gaps_due,
            forgotten: self.forgotten,
            news: self.news,
        }
    }

    /// Returns the log.
    #[must_use]
    pub const fn store(&self) -> &Store<D> {
        &self.store
    }

    /// Returns the disk, for the one who lends it. Nobody else changes what is on it.
    #[must_use]
    pub fn disk_mut(&mut self) -> &mut D {
        self.store.disk_mut()
    }

    /// Returns how the log stands with the disk.
    #[must_use]
    pub const fn health(&self) -> &Health {
        &self.health
    }

    /// Carries out all these orders. The disk syncs once, however many syncs are among them: each asks
    /// only that everything before it is durable.
    pub fn work(&mut self, orders: impl IntoIterator<Item = Order>, report: &mut dyn FnMut(Done)) {
        self.write(orders);
        self.finish(report);
    }

    /// Carries out the first part of [`Self::work`]: appends, without waiting for the medium.
    pub fn write(&mut self, orders: impl IntoIterator<Item = Order>) {
        for order in orders {
            match order {
                Order::Append { tag, payload } => self.append(tag, payload),
                Order::Sync(position) => self.wanted = Some(position),
                later => self.later.push(later),
            }
        }
    }

    /// Carries out the other part: syncs, and everything else.
    pub fn finish(&mut self, report: &mut dyn FnMut(Done)) {
        if self.wanted.is_some() {
            self.sync();
        }
        self.report_synced(report);
        for order in std::mem::take(&mut self.later) {
            match order {
                Order::Load { reader, from, count } => {
                    let decisions = self.load(reader, from, count);
                    let oldest = self.oldest;
                    let next = decisions.is_empty().then(|| self.next(from)).flatten();
                    report(Done::Loaded { reader, decisions, oldest, next });
                }
                Order::Snapshot(snapshot) => self.snapshot(&snapshot),
                Order::Forget(forgetting) => self.forget(&forgetting),
                Order::PutBack(turns) => self.put_back(&turns),
                Order::Replace { snapshot, note } => self.replacing = Some((snapshot, note)),
                Order::Retry => self.retry(),
                Order::Append { .. } | Order::Sync(_) => {}
            }
        }
        if let Some(replaced) = self.replace() {
            report(Done::Replaced(replaced.map_err(|error| error.to_string())));
        }
        self.report_synced(report);
        self.report_findings(report);
        if self.health != self.reported_health {
            self.reported_health.clone_from(&self.health);
            report(Done::Health(self.health.clone()));
        }
    }

    /// Reports news and gaps, above all those found when the log was opened.
    pub fn report_findings(&mut self, report: &mut dyn FnMut(Done)) {
        self.report_news(report);
        if std::mem::take(&mut self.are_gaps_due) {
            report(Done::Gaps(self.gaps.clone()));
        }
    }

    fn report_news(&mut self, report: &mut dyn FnMut(Done)) {
        self.news.drain(..).for_each(|news| report(Done::News(news)));
    }

    fn append(&mut self, tag: Option<u64>, payload: Vec<u8>) {
        if matches!(self.health, Health::Failed(_)) {
            return;
        }
        self.unsynced_bytes = self.unsynced_bytes.saturating_add(payload.len());
        let mut record = Unsynced { tag, payload, end: None };
        let written = match self.health {
            Health::Sound => write(&mut self.store, &mut record),
            _ => Ok(()),
        };
        self.unsynced.push_back(record);
        self.check(written);
        if self.health == Health::Full && self.unsynced_bytes > BACKLOG_BYTES_MAX {
            self.health = Health::Swamped;
        }
    }

    fn sync(&mut self) {
        if self.health == Health::Sound {
            let synced = self.store.sync().map_err(StorageError::from);
            if self.check(synced).is_some() {
                self.forget_unsynced();
            }
        }
    }

    fn report_synced(&mut self, report: &mut dyn FnMut(Done)) {
        if self.health == Health::Sound
            && self.unsynced.is_empty()
            && let Some(position) = self.wanted.take()
        {
            report(Done::Synced(position));
        }
    }

    /// Forgets the records that waited, because all are durable.
    fn forget_unsynced(&mut self) {
        self.unsynced.clear();
        self.unsynced_bytes = 0;
    }

    /// Notes a failure of the disk.
    fn check<T>(&mut self, done: Result<T, impl Into<StorageError>>) -> Option<T> {
        let error = match done {
            Ok(done) => return Some(done),
            Err(error) => error.into(),
        };
        if error.is_full() {
            if self.health == Health::Sound {
                self.health = Health::Full;
            }
        } else {
            self.health = Health::Failed(error.to_string());
            self.forget_unsynced();
            self.wanted = None;
        }
        None
    }

    /// Goes on with the log if there is room again.
    fn retry(&mut self) {
        if self.is_full() && self.go_on().is_some() {
            self.forget_unsynced();
            self.health = Health::Sound;
        }
    }

    const fn is_full(&self) -> bool {
        matches!(self.health, Health::Full | Health::Swamped)
    }

    fn go_on(&mut self) -> Option<()> {
        // The last segment is written anew, and then what waits.
        let segment = self.store.begin_sync().map_or(0, |request| request.length);
        let waiting = self.unsynced_bytes.saturating_add(64 * self.unsynced.len()) as u64;
        let room = self.store.probe(segment.saturating_add(waiting).saturating_add(ROOM_BYTES));
        self.check(room)?;
        let reopened = self.store.reopen();
        self.check(reopened)?;
        let there = self.store.end();
        let mut unsynced = std::mem::take(&mut self.unsynced);
        let missing = unsynced.iter_mut().filter(|record| record.end.is_none_or(|end| end > there));
        let written = { missing }.try_for_each(|record| write(&mut self.store, record));
        self.unsynced = unsynced;
        self.check(written)?;
        let synced = self.store.sync();
        self.check(synced).map(drop)
    }

    fn load(&mut self, reader: Reader, from: Height, count: u32) -> Vec<Decision> {
        let bytes_max = match reader {
            // No answer holds more, and any client may ask.
            Reader::Question(_) => TURNS_ANSWER_BYTES,
            Reader::Peer(_) | Reader::Repair => LOADED_BYTES_MAX,
        };
        // Nobody applies a turn of which words were forgotten: who asks for it to do so fetches a state.
        let is_of_use = |turn: &Decision| match reader {
            Reader::Question(_) => true,
            Reader::Peer(_) | Reader::Repair => turn.turn.body.is_whole(),
        };
        let mut turns = KeptTurns::of(&self.store).from(from);
        let found = at_once(turns.by_ref().take_while(is_of_use), count, bytes_max);
        let (unread, patch) = (turns.unread(), turns.bad_patch());
        drop(turns);
        match (unread, patch) {
            (Some(error @ ReadError::Damaged(_)), Some(patch)) => self.drop_patch(patch, error),
            (Some(error), _) => self.news.push(News::Unread { from, error }),
            (None, _) => {}
        }
        found
    }

    /// Returns where the log goes on behind turns that are missing from here on.
    fn next(&self, from: Height) -> Option<Height> {
        let there = KeptTurns::of(&self.store).next_from(from).ok().flatten();
        there.filter(|there| *there > from).map(|there| there.max(self.oldest))
    }

    fn snapshot(&mut self, snapshot: &Snapshot) {
        if self.health != Health::Sound {
            return;
        }
        let (height, bytes) = (snapshot.height, snapshot.bytes.len());
        if bytes > SNAPSHOT_BYTES_MAX {
            return self.news.push(News::TooLong { height, bytes });
        }
        match put_snapshot(self.store.disk_mut(), snapshot) {
            Ok(()) => self.news.push(News::Stored(height)),
            Err(error) => return self.news.push(News::NotStored(error)),
        }
        let keep = self.keep_from().unwrap_or_else(|error| {
            self.news.push(News::NotPruned(error));
            store::Position::ZERO
        });
        self.mark_and_prune(keep);
        self.look_for_oldest();
        self.forget_patches();
        self.look_for_gaps();
    }

    /// Goes on from a state that was fetched, if there is one. Without room for it, it waits, as the
    /// log does: its replica has ended, and only with it another one begins.
    fn replace(&mut self) -> Option<Result<Restart, ReplaceError>> {
        if self.is_full() {
            return None;
        }
        let (snapshot, mut note) = self.replacing.take()?;
        let replaced = self.put_replacement(&snapshot, &mut note);
        if replaced.as_ref().is_err_and(ReplaceError::is_full) {
            self.health = Health::Full;
        }
        if self.is_full() {
            self.replacing = Some((snapshot, note));
            return None;
        }
        Some(replaced)
    }

    /// Stores a replacement. Reports that were meant for the replica before it concern nobody any more.
    fn put_replacement(
        &mut self,
        snapshot: &Snapshot,
        note: &mut Option<Vec<u8>>,
    ) -> Result<Restart, ReplaceError> {
        if self.health != Health::Sound {
            return Err(ReplaceError::Unsound);
        }
        self.wanted = None;
        put_only_snapshot(self.store.disk_mut(), snapshot)?;
        if let Some(note) = note.take() {
            self.append(None, note);
        }
        self.sync();
        if self.health != Health::Sound {
            return Err(ReplaceError::Unsound);
        }
        self.look_for_gaps();
        // The next replica does not know the gaps yet.
        self.are_gaps_due = true;
        Ok(read_back(&self.store, snapshot.height)?)
    }

    /// Marks the log when the server stops, so that a later start notices a cut.
    pub fn close(&mut self, report: &mut dyn FnMut(Done)) {
        if self.health == Health::Sound {
            self.mark_and_prune(store::Position::ZERO);
        }
        self.report_news(report);
    }
}

fn write<D: Disk>(store: &mut Store<D>, record: &mut Unsynced) -> Result<(), StorageError> {
    let appended = store.append(AGREEMENT, record.tag, &record.payload);
    // Also if it failed: all of it may have reached the disk.
    record.end = Some(store.end());
    Ok(appended.map(drop)?)
}

#[cfg(test)]
mod tests;
