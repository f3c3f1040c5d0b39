use super::*;
use crate::limits::FIRST_LOGINS_PER_STEP;
use metatopia_types::Digest;

const HOURS: u64 = HOUR_MS;

fn quiet() -> FirstLogins {
    let parameters = Parameters { first_login_tries: 1_000, ..Parameters::default() };
    FirstLogins::genesis(SimId(Digest([7; 32])), &parameters, BTreeSet::new())
}

fn crowd(first_logins: &mut FirstLogins, count: u32) {
    (0..count).for_each(|_| first_logins.count(None, Height(1)));
}

#[test]
fn the_price_doubles_with_each_crowd_up_to_sixteen_times_and_halves_in_each_quiet_hour() {
    let mut first_logins = quiet();
    crowd(&mut first_logins, FIRST_LOGINS_PER_STEP - 1);
    assert_eq!(first_logins.doublings, 0);
    crowd(&mut first_logins, 1);
    assert_eq!(first_logins.doublings, 1);
    crowd(&mut first_logins, 100 * FIRST_LOGINS_PER_STEP);
    assert_eq!(first_logins.doublings, DEARER_MAX);

    // The hour of the crowd is no quiet one; each that follows is.
    first_logins.pass(HOURS);
    assert_eq!(first_logins.doublings, DEARER_MAX);
    first_logins.pass(2 * HOURS);
    assert_eq!(first_logins.doublings, DEARER_MAX - 1);
    first_logins.pass(2 * HOURS + 1);
    assert_eq!(first_logins.doublings, DEARER_MAX - 1);
    first_logins.pass(9 * HOURS);
    assert_eq!(first_logins.doublings, 0);
}

#[test]
fn an_anchor_keeps_its_price_so_that_work_under_way_is_not_lost() {
    let mut first_logins = quiet();
    let cheap = *first_logins.newest_anchor(Height(1));
    crowd(&mut first_logins, FIRST_LOGINS_PER_STEP);
    first_logins.begin(Height(ANCHOR_HEIGHTS), HeaderId(Digest([1; 32])), 0, 1_000);

    assert_eq!(cheap.tries, 1_000);
    let dearer = first_logins.newest_anchor(Height(ANCHOR_HEIGHTS + ROOT_LAG));
    assert_eq!(dearer.tries, 2_000);
    assert_eq!(*first_logins.newest_anchor(Height(1)), cheap);
}

#[test]
fn anchors_are_kept_as_long_as_work_for_them_counts() {
    let mut first_logins = quiet();
    for height in 1..=3 * WORK_HEIGHTS_MAX {
        let header = HeaderId(Digest::of("a header", &height.to_le_bytes()));
        first_logins.begin(Height(height), header, 0, 1_000);
        let next = height + ROOT_LAG;
        let oldest = next.saturating_sub(WORK_HEIGHTS_MAX).next_multiple_of(ANCHOR_HEIGHTS);
        let is_kept = |anchor: &Anchor| anchor.height.0 == oldest;
        assert!(first_logins.anchors.iter().any(is_kept), "{oldest} at {height}");
    }
    assert_eq!(first_logins.anchors.len(), ANCHORS_MAX);
}

#[test]
fn the_leaf_of_first_logins_stays_below_its_bound() {
    let mut first_logins = quiet();
    let key = |n: usize| PublicKey([n as u8; 32]);
    let since = Since { player: Height(u64::MAX), regular: Some(Height(u64::MAX)) };
    for height in 1..=1_000 {
        first_logins.begin(Height(height), HeaderId(Digest([9; 32])), 0, u64::MAX);
        let stewards = (0..STEWARDS_MAX).map(key).collect();
        let forgotten =
            (0..crate::limits::ARRIVALS_PER_TURN_MAX).map(|n| (key(n), since)).collect();
        first_logins.close(Height(height), stewards, FirstLogin::Work, forgotten);
    }
    assert_eq!(first_logins.bases.len(), BASES_MAX);
    let bytes = metatopia_types::wire::length(&first_logins);
    assert!(bytes <= metatopia_types::limits::LEAF_BYTES_MAX / 2, "{bytes} bytes");
}
