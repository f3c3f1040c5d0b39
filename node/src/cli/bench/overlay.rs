//! Measures the overlay of a world: real members on loopback that find each other.

use std::time::Duration;

use metatopia_load::figure::{Bound, Figure};
use metatopia_raynet::pace::CYCLE;

use crate::{
    cli::{Failure, console::Console},
    overlay::trial,
};

/// The promised time until all views are whole, in milliseconds.
const WHOLE_MS: u64 = 15_000;

/// The longest wait.
const MOST: Duration = Duration::from_secs(60);

/// Starts so many members, waits until each knows its neighbours, kills half of them, and waits again.
pub(super) async fn measure(members: usize, console: Console) -> Result<Vec<Figure>, Failure> {
    console.note(&format!("starting {members} members"));
    let report = trial::run(members, CYCLE, MOST).await;
    let report = report.map_err(|error| Failure::failed(error.to_string()))?;
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let whole = ms(report.whole);
    let cycles = (whole / ms(CYCLE)).max(1);
    let each = |count: u64| count / (members as u64 * cycles).max(1);
    Ok(vec![
        Figure::new("overlay_views_whole", whole, "ms", Bound::AtMost(WHOLE_MS)),
        Figure::new("overlay_views_healed", ms(report.healed), "ms", Bound::AtMost(WHOLE_MS)),
        Figure::new(
            "overlay_signatures",
            each(report.signatures),
            "a member and cycle",
            Bound::None,
        ),
        Figure::new("overlay_bytes", each(report.bytes), "a member and cycle", Bound::None),
    ])
}
