//! Makes a world that broke a law smaller, as long as it still breaks it.

use metatopia_oracle::Law;

use super::Swarm;
use crate::course;

/// Drops what `law` is broken without, see [`shrink`](course::shrink). `tells` is called before each
/// world with what is tried, and may say no: then the smallest world so far comes back.
#[must_use]
pub fn shrink(found: &Swarm, law: Law, mut tells: impl FnMut(&Swarm) -> bool) -> Swarm {
    let smallest = course::shrink(&found.course(), &found.plan().classes, |course| {
        let swarm = found.on(course);
        tells(&swarm).then(|| swarm.play().outcome.shows(law))
    });
    found.on(&smallest)
}
