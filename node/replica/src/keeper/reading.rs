//! Old turns, read back from a log.

use metatopia_consensus::{Decision, Record};
use metatopia_store::{Disk, ReadError, Store};
use metatopia_types::Height;

use super::Restart;
use crate::{RecordsError, decisions, find_decisions, payloads_after, recall_from, records_after};

/// Decided turns, and why there are no more of them if the log cannot be read further.
pub(super) type Found = (Vec<Decision>, Option<ReadError>);

/// At most `count` decided turns from `from` on.
pub(super) fn load<D: Disk>(
    store: &Store<D>,
    from: Height,
    count: u32,
) -> Result<Found, ReadError> {
    with_records(store, from, |records| find_decisions(records, from, count))
}

/// The decided turns up to `base` that clients may still ask for.
pub(super) fn decisions_up_to<D: Disk>(store: &Store<D>, base: Height) -> Result<Found, ReadError> {
    let from = recall_from(base);
    with_records(store, from, |records| {
        decisions(records, from).take_while(|decision| decision.height() <= base).collect()
    })
}

/// What a replica is opened with that begins with the state after `base`.
///
/// # Errors
/// When the log cannot be read.
pub fn read_back<D: Disk>(store: &Store<D>, base: Height) -> Result<Restart, RecordsError> {
    let (past, unread) = decisions_up_to(store, base)?;
    Ok(Restart { past, unread, records: records_after(store.index(), store.disk(), base)? })
}

/// Gives the records from a little before the decision of `height` on to `pick`. They end before the
/// first record that cannot be read.
fn with_records<D: Disk>(
    store: &Store<D>,
    height: Height,
    pick: impl FnOnce(&mut dyn Iterator<Item = Record>) -> Vec<Decision>,
) -> Result<Found, ReadError> {
    let mut unread = None;
    let mut records = payloads_after(store.index(), store.disk(), height)?
        .map_while(|payload| payload.map_err(|error| unread = Some(error)).ok())
        .filter_map(|payload| Record::decode(&payload).ok());
    let picked = pick(&mut records);
    drop(records);
    Ok((picked, unread))
}
