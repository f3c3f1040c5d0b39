//! Measures a stream of newcomers: how long each takes to come in, and whether the sim keeps its pace meanwhile.

use std::{path::Path, time::Duration};

use metatopia_client_driver::{GenesisTrust, NodeEndpoint};
use metatopia_load::{
    figure::{Bound, Figure},
    logins::{NewcomerSettings, come_in},
};
use tokio::time::sleep;

use super::{
    crowd::{height, pace},
    on_a_plaza,
    plaza::millis,
};
use crate::cli::{Failure, console::Console};

/// The time that the servers run before the first newcomer.
const SETTLE: Duration = Duration::from_secs(2);

/// The time that everybody stays after the last newcomer began to connect.
const STAY: Duration = Duration::from_secs(5);

/// The least pace that is promised, in turns a second. A turn takes 50 ms.
const PACE: u64 = 19;

/// Lets so many newcomers in over this time, each with a new key and a connection of its own.
pub(super) async fn measure(
    path: &Path,
    (count, over): (u32, Duration),
    console: Console,
) -> Result<Vec<Figure>, Failure> {
    on_a_plaza(path, console, async |cluster, _| {
        cluster.ready().await?;
        let nodes = cluster.urls();
        let trust = GenesisTrust::learn(&NodeEndpoint::ask(&nodes[0], None).await?).await?;
        sleep(SETTLE).await;
        console.note(&format!("{count} newcomers come in over {} s", over.as_secs()));
        let newcomers = NewcomerSettings { count, over, stay: over + STAY };
        let heights = async {
            let from = height(&nodes[0]).await?;
            sleep(over).await;
            Ok::<_, Failure>((from, height(&nodes[0]).await?))
        };
        let (times, heights) = tokio::join!(come_in(&nodes, &trust, newcomers), heights);
        let (times, heights) = (times?, heights?);
        let (late, turns) = pace(&nodes[0], &trust, heights).await?;
        let of_hundred = |share: usize| {
            let place = (times.len() * share).div_ceil(100).max(1) - 1;
            times.get(place).copied().map_or(0, millis)
        };
        Ok(vec![
            Figure::new("newcomers that came in", times.len() as u64, "people", Bound::None),
            Figure::tenths("turns meanwhile", Some(turns), "turns/s", Bound::AtLeast(PACE)),
            Figure::new("turns of over 100 ms", late, "turns", Bound::None),
            Figure::new("connection to login p50", of_hundred(50), "ms", Bound::None),
            Figure::new("connection to login p99", of_hundred(99), "ms", Bound::None),
        ])
    })
    .await
}
