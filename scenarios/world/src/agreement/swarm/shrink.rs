//! Makes a world that broke a law smaller, as long as it still breaks it.

use std::time::Duration;

use metatopia_oracle::Law;

use super::Swarm;

/// Times are not narrowed down further than this.
const FINEST: Duration = Duration::from_millis(500);

/// Drops every class of faults without which `law` is broken all the same, then lets the faults
/// stop as soon, and begin as late, as possible. `tells` is called before each world with what is
/// tried, and may say no: then the smallest world so far comes back.
#[must_use]
pub fn shrink(found: &Swarm, law: Law, mut tells: impl FnMut(&Swarm) -> bool) -> Swarm {
    let mut breaks = |swarm: &Swarm| tells(swarm).then(|| swarm.play().outcome.shows(law));
    let mut smallest = found.clone();
    for class in found.plan().classes {
        let mut smaller = smallest.clone();
        smaller.without.insert(class);
        match breaks(&smaller) {
            Some(true) => smallest = smaller,
            Some(false) => {}
            None => return smallest,
        }
    }
    // The first end of the faults that is late enough.
    let (mut early, mut late) = (smallest.from, smallest.calm_from());
    while late.saturating_sub(early) > FINEST {
        let middle = (early + late) / 2;
        let smaller = Swarm { until: Some(middle), ..smallest.clone() };
        match breaks(&smaller) {
            Some(true) => (late, smallest) = (middle, smaller),
            Some(false) => early = middle,
            None => return smallest,
        }
    }
    // The last beginning that is early enough.
    let (mut early, mut late) = (smallest.from, smallest.calm_from());
    while late.saturating_sub(early) > FINEST {
        let middle = (early + late) / 2;
        let smaller = Swarm { from: middle, ..smallest.clone() };
        match breaks(&smaller) {
            Some(true) => (early, smallest) = (middle, smaller),
            Some(false) => late = middle,
            None => return smallest,
        }
    }
    smallest
}
