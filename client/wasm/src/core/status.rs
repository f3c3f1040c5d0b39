//! How it stands with the session, told a few times a second.

use std::time::Duration;

use serde::Serialize;

use super::{ClientCore, units::to_ms};

/// What changes all the time is told this far apart.
const APART: Duration = Duration::from_millis(250);

/// What is told at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct CoreStanding {
    open: bool,
    server: Option<String>,
    turns_per_second: u32,
    here: bool,
    working: bool,
    sim: String,
    sim_name: String,
    engine: u32,
}

/// What is told with it, or when it is due.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct CoreFigures {
    height: u64,
    certain: u64,
    pending: usize,
    rtt: Option<f64>,
    bytes_in: u64,
    bytes_out: u64,
}

/// All of it, as an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CoreStatus {
    r#type: &'static str,
    #[serde(flatten)]
    standing: CoreStanding,
    #[serde(flatten)]
    figures: CoreFigures,
}

/// What was told last, and when.
#[derive(Debug, Default)]
pub(super) struct StatusTeller(Option<(CoreStatus, Duration)>);

impl ClientCore {
    fn core_status(&mut self) -> CoreStatus {
        let (bytes_in, bytes_out) = self.gauges.rates(self.now);
        CoreStatus {
            r#type: "status",
            standing: CoreStanding {
                open: self.session.is_open(),
                server: self.session.server().map(|key| key.to_string()),
                turns_per_second: self.session.turns_per_second(),
                here: self.deeds.here(),
                working: self.deeds.is_working(),
                sim: self.sim.to_string(),
                sim_name: self.genesis.name.clone(),
                engine: self.genesis.engine,
            },
            figures: CoreFigures {
                height: self.session.height().0,
                certain: self.session.certain().0,
                pending: self.outcomes.len(),
                rtt: self.gauges.round_trip().map(to_ms),
                bytes_in,
                bytes_out,
            },
        }
    }

    pub(super) fn tell_status(&mut self) {
        let status = self.core_status();
        let news = match &self.status.0 {
            None => true,
            Some((told, at)) => {
                let due = self.now.saturating_sub(*at) >= APART;
                told.standing != status.standing || (due && *told != status)
            }
        };
        if news {
            self.tell(&status);
            self.status.0 = Some((status, self.now));
        }
    }
}
