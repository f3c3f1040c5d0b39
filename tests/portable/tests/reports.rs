//! What the reports say in a native build.

use metatopia_portable::{
    Report, deepest, hostile, letters, panics, replay, scenes, strangers, widest,
};
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

#[test]
fn no_wide_number_is_cut_off() {
    let report = widest();

    assert!(held(&report) > 20, "{}", report.text);
    // 2^32 as a place is beyond the end, not the first place; and it counts.
    for line in [
        "a[w] fails, Bounds",
        "a.remove(w) fails, Bounds",
        "s.sub(w, 2) gives \n",
        "s.sub(0, w + 2) gives hello\n",
        "w in 0..w + 1 gives true\n",
        "n += i; } n } gives 12884901888\n",
    ] {
        assert!(report.text.contains(line), "no line {line:?} in\n{}", report.text);
    }
}

#[test]
fn every_hostile_program_ends_where_the_tests_of_the_scripts_recorded_it() {
    let report = hostile();

    assert!(held(&report) >= 200, "{}", report.text);
    assert_eq!(report.text.lines().count(), held(&report) as usize);
}

#[test]
fn each_golden_scene_and_stream_of_the_physics_has_its_digest() {
    let report = scenes();

    assert_eq!(held(&report), 14, "{}", report.text);
    assert_eq!(report.text.lines().count(), 14);
}

#[test]
fn a_thousand_private_words_are_read_with_one_key_and_with_a_key_each() {
    let (known, each) = (letters(), strangers());
    assert_eq!((held(&known), held(&each)), (1_000, 1_000));
    assert_eq!(known.text, each.text, "they were sealed alike");
}
