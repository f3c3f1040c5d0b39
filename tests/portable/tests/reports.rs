//! What the reports say in a native build.

use metatopia_portable::{Report, deepest, panics, replay};
use metatopia_scenarios::golden::ROOTS;

fn held(report: &Report) -> u32 {
    report.held.unwrap_or_else(|| panic!("{}", report.text))
}

#[test]
fn the_golden_report_has_every_root_and_meets_the_constants() {
    let report = replay();

    assert_eq!(held(&report) as usize, ROOTS.len());
    for (height, root) in ROOTS {
        let line = report.text.lines().nth(usize::try_from(height.0).expect("a short log"));
        assert_eq!(line, Some(format!("{height} {root}").as_str()));
    }
}

#[test]
fn acts_that_panic_fail_alone_and_lead_elsewhere() {
    let report = panics();

    let (_, last) = ROOTS[ROOTS.len() - 1];
    assert!(held(&report) > 1);
    assert!(!report.text.contains(last), "the acts that panicked had changed nothing at all");
    assert_eq!(panics(), report);
}

#[test]
fn every_deep_script_is_stopped_by_its_depth() {
    let report = deepest();

    let stopped = report.text.lines().filter(|line| line.contains("Depth")).count();
    assert_eq!(stopped, held(&report) as usize);
    assert!(stopped > 10, "{}", report.text);
}
