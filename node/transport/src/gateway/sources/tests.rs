//! These tests use a clock that only they move.

use super::*;

const LIMITS: SourceLimits = SourceLimits {
    sessions: Ration { per_second: 10, burst: 5 },
    logins: Ration { per_second: 10, burst: 5 },
    first_logins: Ration { per_second: 2, burst: 3 },
    bytes_per_second: 1_000,
};

fn sources() -> Sources {
    Sources::new(LIMITS, "127.0.0.0/8".parse().unwrap())
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn source(sources: &Sources, text: &str) -> Arc<ClientSource> {
    sources.of(ip(text)).0.expect("not trusted")
}

/// Returns the milliseconds after which each of these places has its turn, in the order of the
/// turns. All look again when they were told to.
fn turns(waiting: Vec<QueuePlace<'_>>, start: Instant) -> Vec<u128> {
    let mut asleep: Vec<(Instant, QueuePlace<'_>)> =
        waiting.into_iter().map(|waiting| (start, waiting)).collect();
    let mut turns = Vec::new();
    while !asleep.is_empty() {
        asleep.sort_by_key(|(at, waiting)| (*at, waiting.own));
        let (now, waiting) = asleep.remove(0);
        match waiting.step(now) {
            Ok(()) => turns.push((now - start).as_millis()),
            Err(again) => asleep.push((again, waiting)),
        }
    }
    turns
}

fn stand(source: &ClientSource, what: RationKind, count: usize) -> Vec<QueuePlace<'_>> {
    (0..count).map(|_| source.stand(what, false)).collect()
}

#[test]
fn a_burst_comes_at_once_and_then_everybody_at_the_steady_rate() {
    let source = source(&sources(), "192.0.2.1");
    let took = turns(stand(&source, RationKind::FirstLogin, 200), Instant::now());
    assert_eq!(took[..4], [0, 0, 0, 500]);
    // Nobody is refused, and the last one waits for 197 turns at two a second.
    assert_eq!(took[199], 98_500);
}

#[test]
fn two_hundred_people_behind_one_address_have_logged_in_within_a_minute() {
    let sources = Sources::new(SourceLimits::default(), Networks::default());
    let source = source(&sources, "192.0.2.1");
    let start = Instant::now();
    let came = turns(stand(&source, RationKind::Session, 200), start)[199];
    let logged_in = turns(stand(&source, RationKind::FirstLogin, 200), start)[199];
    assert!(came + logged_in < 30_000, "{came} ms and {logged_in} ms");
}

#[test]
fn nobody_waits_for_another_source() {
    let sources = sources();
    let crowd = source(&sources, "192.0.2.1");
    let start = Instant::now();
    let _crowd = stand(&crowd, RationKind::FirstLogin, 100);
    for other in ["192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"] {
        let other = source(&sources, other);
        assert_eq!(turns(stand(&other, RationKind::FirstLogin, 3), start), [0, 0, 0]);
    }
    assert!(sources.of(ip("127.0.0.1")).0.is_none(), "trusted: nothing is counted");
}

#[test]
fn the_addresses_of_one_network_are_one_source() {
    let sources = sources();
    let one = source(&sources, "2001:db8::1");
    let other = source(&sources, "2001:db8::ffff:2");
    let start = Instant::now();
    turns(stand(&one, RationKind::FirstLogin, 3), start);
    assert_eq!(turns(stand(&other, RationKind::FirstLogin, 1), start), [500]);
}

#[test]
fn known_people_go_before_strangers_who_came_before_them() {
    let source = source(&sources(), "192.0.2.1");
    let start = Instant::now();
    turns(stand(&source, RationKind::Session, 5), start);
    let strangers = stand(&source, RationKind::Session, 50);

    let known = source.stand(RationKind::Session, true);
    assert!(strangers[0].step(start + Duration::from_millis(100)).is_err());
    assert_eq!(known.step(start + Duration::from_millis(100)), Ok(()));
}

#[test]
fn who_leaves_the_line_is_in_nobodys_way() {
    let source = source(&sources(), "192.0.2.1");
    let start = Instant::now();
    turns(stand(&source, RationKind::FirstLogin, 3), start);
    drop(stand(&source, RationKind::FirstLogin, 500));

    assert_eq!(turns(stand(&source, RationKind::FirstLogin, 1), start), [500]);
    assert!(source.lock().first_logins.waiting.is_empty());
}

#[test]
fn who_waits_looks_again_because_others_may_have_gone() {
    let source = source(&sources(), "192.0.2.1");
    let start = Instant::now();
    let before = stand(&source, RationKind::FirstLogin, 100);
    let last = source.stand(RationKind::FirstLogin, false);
    assert_eq!(last.step(start), Err(start + LOOK_AGAIN));
    drop(before);
    assert_eq!(last.step(start + LOOK_AGAIN), Ok(()));
}

#[test]
fn bytes_beyond_four_seconds_worth_are_not_read_before_their_time() {
    let sources = sources();
    let (one, other) = (source(&sources, "192.0.2.1"), source(&sources, "192.0.2.2"));
    let now = Instant::now();
    assert_eq!(one.count(4_000, now), None);
    assert_eq!(one.count(500, now), Some(now + Duration::from_millis(500)));
    assert_eq!(other.count(4_000, now), None);
}

#[test]
fn no_more_sources_are_remembered_than_the_limit_and_those_that_are_here_stay() {
    let sources = sources();
    let address = |n: usize| IpAddr::from((0x0a00_0000 + u32::try_from(n).unwrap()).to_be_bytes());
    let here = sources.of(address(0));
    let start = Instant::now();
    for n in 1..SOURCES_MAX + 10 {
        let passing = sources.of(address(n)).0.expect("not trusted");
        assert!(passing.count(1_000_000, start).is_some(), "not whole for a long time");
    }
    let known = sources.known.lock().unwrap();
    assert_eq!(known.len(), SOURCES_MAX);
    assert!(known.contains_key(&Block::of(address(0))), "a client of it is here");
    drop(here);
}
