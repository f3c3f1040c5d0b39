//! The limits of traces, which would take long to play.

use metatopia_types::{Digest, Height, ObjectId, PublicKey};

use super::{ThingTrace, Traces};
use crate::limits::{TRACE_MS, TRACES_MAX};

fn key(n: u64) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

fn trace(by: u64, time: u64) -> ThingTrace {
    ThingTrace {
        by: key(by),
        height: Height(time),
        time,
        before: None,
        fetched: false,
        deleted: false,
        tried: Height(0),
    }
}

#[test]
fn only_so_many_traces_are_kept_and_the_oldest_go_first_of_the_key_that_has_the_most() {
    let mut traces = Traces::default();
    // Three keys make a few, and one of them floods the sim.
    for n in 0..TRACES_MAX as u64 + 3 {
        traces.put(ObjectId(n + 1), trace(if n < 30 { n % 3 } else { 9 }, n));
    }
    assert_eq!(traces.all.len(), TRACES_MAX);
    let counts = |traces: &Traces| [0, 1, 2, 9].map(|n| traces.since(&key(n), 0).count());
    assert_eq!(counts(&traces), [10, 10, 10, TRACES_MAX - 30]);
    assert_eq!(traces.since(&key(9), 0).next().map(|(id, _)| id.0), Some(34), "three are gone");
    // A thing that somebody else changes has one trace, of that one.
    traces.put(ObjectId(34), trace(0, 9_999));
    assert_eq!(counts(&traces), [11, 10, 10, TRACES_MAX - 31]);
    // With another key she pushes out her own.
    for n in 0..2 * TRACES_MAX as u64 {
        traces.put(ObjectId(10_000 + n), trace(8, 10_000 + n));
    }
    let half = TRACES_MAX - 31;
    assert_eq!(counts(&traces)[..3], [11, 10, 10]);
    let floods = [8, 9].map(|n| traces.since(&key(n), 0).count());
    assert_eq!(floods[0] + floods[1], half);
    assert!(floods[0].abs_diff(floods[1]) <= 1, "{floods:?}");
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
        let tried = Height(if n % 4 == 0 { n } else { 0 });
        traces.put(ObjectId(n % 11), ThingTrace { tried, ..trace(n % 3, n) });
    }
    traces.forget(ObjectId(3));
    traces.change_key(&key(1), key(7));
    // Nobody has a trace of this key.
    traces.change_key(&key(55), key(56));
    assert_eq!(traces.since(&key(1), 0).count(), 0);
    assert!(traces.since(&key(7), 0).count() > 1);
    let mut read = Traces { all: traces.all.clone(), ..Traces::default() };
    read.index();
    assert_eq!((read.by, read.order), (traces.by, traces.order));
    assert_eq!((read.counts, read.shares), (traces.counts, traces.shares));
}

#[test]
fn what_an_undo_tried_in_vain_comes_after_what_none_tried_and_then_the_longest_ago_first() {
    let mut traces = Traces::default();
    for (id, tried) in [(1, 9), (2, 5), (3, 0), (4, 0)] {
        let time = 10 - id;
        let tried = Height(tried);
        traces.put(ObjectId(id), ThingTrace { tried, ..trace(1, time) });
    }
    let order: Vec<u64> = traces.since(&key(1), 0).map(|(id, _)| id.0).collect();
    assert_eq!(order, [4, 3, 2, 1]);
}
