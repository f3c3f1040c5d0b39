//! What two logs can and cannot both say of a border.

use metatopia_types::{Digest, Millis, PublicKey, Traveller};

use super::*;

const SIMS: [SimId; 2] = [SimId(Digest([1; 32])), SimId(Digest([2; 32]))];

fn header(height: u64) -> HeaderId {
    HeaderId(Digest([height as u8; 32]))
}

fn departed(number: u64, end: Option<DepartureEnd>) -> (u64, SeenDeparture) {
    let (traveller, parcel) = (Traveller::Person(PublicKey([7; 32])), Digest([number as u8; 32]));
    let departure = BorderDeparture { number, traveller, until: Millis(9), parcel };
    (number, SeenDeparture { departure, bytes: 1_000 + number, end })
}

/// Two ends of a border: one taken, one refused, one late, one under way. Both logs have forty turns.
fn ends() -> [BorderEnd; 2] {
    let came_home = Some(DepartureEnd::CameHome);
    let sender = BorderEnd {
        departures: [
            departed(0, Some(DepartureEnd::Settled)),
            departed(1, came_home),
            departed(2, came_home),
            departed(3, None),
        ]
        .into(),
        heard: (2..20).map(|height| (Height(height), header(height))).collect(),
        departed: Some(0..4),
        judged: Some(0..0),
        ..BorderEnd::default()
    };
    let receiver = BorderEnd {
        verdicts: [(0, None), (1, Some(TravelRefusal::Closed))].into(),
        departed: Some(0..0),
        judged: Some(0..2),
        ..BorderEnd::default()
    };
    [sender, receiver]
}

fn judged([sender, receiver]: &[BorderEnd; 2]) -> Result<CrossingVerdict, CrossingFault> {
    let turns = (1..=40).map(|height| (Height(height), header(height))).collect();
    let side = |n: usize, end| BorderSide { sim: SIMS[n], end, turns: &turns };
    compare(side(0, sender), side(1, receiver))
}

#[test]
fn ends_that_agree_count_what_became_of_each_departure() {
    let verdict = judged(&ends()).expect("they agree");
    let there = verdict.there;
    assert_eq!((there.departed, there.taken, there.came_home, there.under_way), (4, 1, 2, 1));
    assert_eq!((there.heard, there.heard_one_sided, there.one_sided), (18, 0, 0));
    assert_eq!(verdict.back, DirectionCount::default());
    let words = verdict.to_string();
    assert!(words.contains("4 departed, 1 taken, 2 came home, 1 under way"), "{words}");
    assert!(words.contains("parcels have 1001 / 1003 bytes (median, largest)"), "{words}");
    assert!(verdict.ghost_lag(50).is_none() && !words.contains("ghosts"), "{words}");
}

#[test]
fn ghosts_lag_by_the_ages_of_all_frames_that_both_sims_heard() {
    let mut ends = ends();
    ends[0].frames = [(Millis(1_000), 150), (Millis(1_200), 400)].into();
    // Another server of the first sim joined later, and saw the second frame when it was older.
    let late = [(Millis(1_200), 900), (Millis(1_400), 200)].into();
    ends[0].join(BorderEnd { frames: late, ..BorderEnd::default() });
    ends[1].frames = [(Millis(1_100), 250)].into();
    let verdict = judged(&ends).expect("they agree");
    assert_eq!(verdict.frame_ages, [150, 200, 250, 400]);
    assert_eq!((verdict.ghost_lag(50), verdict.ghost_lag(95)), (Some(200), Some(400)));
    assert!(verdict.to_string().ends_with("ghosts lag by 200 / 400 ms (median, p95)"));
}

#[test]
fn hearing_is_told_by_the_longest_log_of_each_sim() {
    let of =
        |time, bytes| HearingCost { quiet: HeardBytes { time, bytes }, ..HearingCost::default() };
    let mut ends = ends();
    ends[0].hearing = of(20_000, 2_500);
    ends[0].join(BorderEnd { hearing: of(10_000, 9_000), ..BorderEnd::default() });
    ends[1].hearing.busy = HeardBytes { time: 2_000, bytes: 70_001 };
    // Less than a second is no measure.
    ends[1].hearing.quiet = HeardBytes { time: 999, bytes: 5_000 };
    let verdict = judged(&ends).expect("they agree");
    let [one, other] = verdict.hearing;
    assert_eq!((one.quiet.per_second(), one.busy.per_second()), (Some(125), None));
    assert_eq!((other.quiet.per_second(), other.busy.per_second()), (None, Some(35_000)));
    let words = verdict.to_string();
    for expected in [
        "125 bytes of log a second with nobody near",
        "35000 bytes of log a second with somebody near",
    ] {
        assert!(words.contains(expected), "{words}");
    }
}

#[test]
fn what_came_home_and_was_taken_as_well_is_in_two_places() {
    let mut ends = ends();
    ends[1].verdicts.insert(1, None);
    let [from, to] = SIMS;
    assert_eq!(judged(&ends), Err(CrossingFault::Doubled { from, to, number: 1 }));
}

#[test]
fn what_was_settled_and_not_taken_is_lost() {
    let [from, to] = SIMS;
    for verdict in [Some(Some(TravelRefusal::Closed)), None] {
        let mut ends = ends();
        ends[1].verdicts.remove(&0);
        ends[1].verdicts.extend(verdict.map(|verdict| (0, verdict)));
        assert_eq!(judged(&ends), Err(CrossingFault::Lost { from, to, number: 0 }));
    }
}

#[test]
fn what_was_judged_and_never_left_is_found() {
    let mut ends = ends();
    ends[0].departures.remove(&0);
    let [from, to] = SIMS;
    assert_eq!(judged(&ends), Err(CrossingFault::NeverLeft { from, to, number: 0 }));
    // A log that begins later says nothing of it.
    ends[0].departed = Some(1..4);
    assert_eq!(judged(&ends).map(|verdict| verdict.there.departed), Ok(3));
}

#[test]
fn a_heard_state_of_another_history_is_found() {
    let mut ends = ends();
    ends[0].heard.insert(Height(5), header(99));
    let [by, of] = SIMS;
    assert_eq!(judged(&ends), Err(CrossingFault::OtherHistory { by, of, height: 5 }));
}

#[test]
fn where_the_other_log_does_not_reach_nothing_is_claimed() {
    let mut ends = ends();
    ends[1] = BorderEnd { judged: Some(9..9), ..BorderEnd::default() };
    ends[0].heard.insert(Height(41), header(41));
    let there = judged(&ends).expect("nothing contradicts it").there;
    assert_eq!((there.taken, there.came_home, there.one_sided, there.under_way), (0, 0, 3, 1));
    assert_eq!(there.heard_one_sided, 1);
}

#[test]
fn a_neighbour_that_signed_two_states_of_one_height_is_named() {
    let mut ends = ends();
    ends[0].frozen = true;
    let [by, of] = SIMS;
    assert_eq!(judged(&ends), Err(CrossingFault::Forked { by, of }));
}

#[test]
fn a_neighbour_that_was_given_up_may_have_taken_what_came_home() {
    let mut ends = ends();
    ends[0].departures.extend([departed(0, Some(DepartureEnd::Severed))]);
    assert_eq!(judged(&ends).map(|verdict| verdict.there.severed), Ok(1));
}

#[test]
fn logs_of_one_sim_cover_together_what_they_cover_without_a_gap() {
    assert_eq!(joined(Some(0..4), Some(2..9)), Some(0..9));
    assert_eq!(joined(Some(5..9), Some(0..4)), Some(5..9));
    assert_eq!(joined(None, Some(0..4)), Some(0..4));
    let mut end = ends()[0].clone();
    end.forget_open();
    assert_eq!((end.departures.len(), end.departed.clone()), (3, None), "one was under way");
    end.join(ends()[0].clone());
    assert_eq!(end, ends()[0]);
}
