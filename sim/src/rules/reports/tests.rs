//! The limits of the queue of reports, which would take long to play.

use metatopia_types::{
    Digest, Height, ObjectId, PublicKey, Refusal, ReportSubject, Ruling,
    limits::{NAME_BYTES_MAX, REASON_BYTES_MAX, REPORT_BYTES_MAX},
    wire,
};

use super::{FiledReport, GivenRuling, Reports};
use crate::limits::{
    REPORTS_DECIDED_KEPT, REPORTS_OF_NEWCOMERS_MAX, REPORTS_OPEN_MAX, REPORTS_PER_PERSON_MAX,
};

fn key(n: usize) -> PublicKey {
    PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0)
}

fn thing(n: usize) -> ReportSubject {
    ReportSubject::Thing(ObjectId(n as u64))
}

fn report(by: usize, newcomer: bool, about: ReportSubject) -> FiledReport {
    FiledReport {
        by: key(by),
        newcomer,
        about,
        name: "x".repeat(NAME_BYTES_MAX),
        accused: Some(key(0)),
        words: "x".repeat(REPORT_BYTES_MAX),
        height: Height(u64::MAX),
        time: u64::MAX,
        ruling: None,
        opened: None,
    }
}

fn ruling(height: u64) -> GivenRuling {
    let reason = "x".repeat(REASON_BYTES_MAX);
    GivenRuling { by: key(9_999), ruling: Ruling::Upheld, reason, height: Height(height) }
}

/// Files a report if there is room, as an act does.
fn file(reports: &mut Reports, by: usize, newcomer: bool, n: usize) -> Result<(), Refusal> {
    reports.check_room(&key(by), newcomer, thing(n))?;
    reports.file(n as u64, report(by, newcomer, thing(n)));
    Ok(())
}

#[test]
fn a_thousand_free_keys_fill_half_of_the_queue_and_whoever_is_known_still_gets_in() {
    let mut reports = Reports::default();
    let filed = (1..=1_000).filter(|n| file(&mut reports, *n, true, *n).is_ok()).count();
    assert_eq!(filed, REPORTS_OF_NEWCOMERS_MAX);
    assert_eq!(file(&mut reports, 1_001, true, 1_001), Err(Refusal::QueueFull));

    let known = (2_001..=3_000).filter(|n| file(&mut reports, *n, false, *n).is_ok()).count();
    assert_eq!(known, REPORTS_OPEN_MAX - REPORTS_OF_NEWCOMERS_MAX);
    assert_eq!(file(&mut reports, 3_001, false, 3_001), Err(Refusal::QueueFull));

    // Whatever is decided or taken back makes room for the next one of its kind.
    reports.decide(1, ruling(1));
    assert_eq!(file(&mut reports, 1_001, true, 1_001), Ok(()));
    reports.withdraw(2_001);
    assert_eq!(file(&mut reports, 1_002, true, 1_002), Err(Refusal::QueueFull));
    assert_eq!(file(&mut reports, 3_001, false, 3_001), Ok(()));
    reports.forget_open_of(&key(2));
    assert_eq!(file(&mut reports, 1_002, true, 1_002), Ok(()));
}

#[test]
fn one_person_has_few_open_reports_and_one_about_each_thing() {
    let mut reports = Reports::default();
    for n in 1..=REPORTS_PER_PERSON_MAX {
        assert_eq!(file(&mut reports, 1, false, n), Ok(()));
    }
    assert_eq!(file(&mut reports, 1, false, 1), Err(Refusal::AlreadySo));
    assert_eq!(file(&mut reports, 1, false, 9), Err(Refusal::TooManyReports));
    assert_eq!(file(&mut reports, 2, false, 10), Ok(()), "others have their own");
    reports.decide(1, ruling(1));
    assert_eq!(reports.open(1), Err(Refusal::NoReport));
    assert_eq!(file(&mut reports, 1, false, 11), Ok(()));
}

#[test]
fn only_the_last_decided_reports_are_remembered() {
    let mut reports = Reports::default();
    let last = REPORTS_DECIDED_KEPT + 5;
    for n in 1..=last {
        assert_eq!(file(&mut reports, n, false, n), Ok(()));
        reports.decide(n as u64, ruling(n as u64));
    }
    let kept: Vec<u64> = reports.all.iter().map(|(number, _)| *number).collect();
    assert_eq!(kept, (6..=last as u64).collect::<Vec<_>>());
}

#[test]
fn the_indexes_of_a_queue_that_was_read_are_those_of_the_queue_that_was_written() {
    let mut reports = Reports::default();
    for n in 1..=20 {
        assert_eq!(file(&mut reports, n / 2, n % 3 == 0, n), Ok(()));
    }
    reports.decide(4, ruling(7));
    reports.withdraw(6);
    let mut read = Reports { all: reports.all.clone(), ..Reports::default() };
    read.index();
    assert_eq!(
        (read.open, read.of_newcomers, read.decided),
        (reports.open, reports.of_newcomers, reports.decided)
    );
}

/// The comment of the limit, and the length of a snapshot, rely on this.
#[test]
fn the_longest_report_is_as_long_as_the_limit_says() {
    let about = ReportSubject::Person(key(1));
    let longest = FiledReport { ruling: Some(ruling(u64::MAX)), ..report(1, true, about) };
    assert!(wire::length(&(u64::MAX, longest)) <= 950);
}
