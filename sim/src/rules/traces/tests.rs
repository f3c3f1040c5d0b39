//! The limits of traces, which would take long to play.

use metatopia_types::{Digest, Height, ObjectId, PublicKey};

use super::{ThingTrace, Traces};
use crate::limits::{TRACE_MS, TRACES_MAX};

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

fn trace(by: u64, time: u64) -> ThingTrace {
    ThingTrace { by: key(by), height: Height(time), time, before: None, deleted: false }
}

#[test]
fn only_so_many_traces_are_kept_and_the_oldest_go_first() {
    let mut traces = Traces::default();
    for n in 0..TRACES_MAX as u64 + 3 {
        traces.put(ObjectId(n + 1), trace(n % 7, n));
    }
    assert_eq!(traces.all.len(), TRACES_MAX);
    let kept: Vec<u64> = traces.all.iter().map(|(id, _)| id.0).take(2).collect();
    assert_eq!(kept, [4, 5]);
    // A thing that somebody else changes has one trace, of that one.
    traces.put(ObjectId(4), trace(9, 9_999));
    assert_eq!(traces.all.len(), TRACES_MAX);
    assert_eq!(traces.since(&key(9), 0).count(), 1);
    let all: usize = (0..7).map(|n| traces.since(&key(n), 0).count()).sum();
    assert_eq!(all, TRACES_MAX - 1);
}

#[test]
fn a_trace_is_forgotten_after_a_day_and_not_a_moment_earlier() {
    let mut traces = Traces::default();
    traces.put(ObjectId(1), trace(1, 5));
    traces.put(ObjectId(2), trace(1, 6));
    traces.pass(TRACE_MS + 4);
    assert_eq!(traces.count(&key(1), 0).made, 2);
    traces.pass(TRACE_MS + 5);
    assert_eq!(traces.since(&key(1), 0).map(|(id, _)| id.0).collect::<Vec<_>>(), [2]);
    assert_eq!(traces.count(&key(1), 7).all(), 0);
}

#[test]
fn the_indexes_of_traces_that_were_read_are_those_that_were_written() {
    let mut traces = Traces::default();
    for n in 1..30 {
        traces.put(ObjectId(n % 11), trace(n % 3, n));
    }
    traces.forget(ObjectId(3));
    traces.change_key(&key(1), key(7));
    let mut read = Traces { all: traces.all.clone(), ..Traces::default() };
    read.index();
    assert_eq!((read.by, read.order), (traces.by, traces.order));
}
