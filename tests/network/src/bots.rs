//! Players that act while servers suffer, and what became of their acts.

use std::{
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{
    LabServers, SERVERS,
    servers::{LabResult, told},
};

/// `metatopia bots` in the onlooker's seat.
#[derive(Debug)]
pub struct Bots(Child);

/// What became of their acts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BotTotals {
    pub(crate) acknowledged: u64,
    pub(crate) lost: u64,
    pub(crate) unanswered: u64,
    pub(crate) p99_ms: u64,
}

impl Bots {
    /// Eight players spread over all servers, with five acts a second each, for so long.
    pub(crate) fn play(servers: &LabServers<'_>, duration: Duration) -> LabResult<Self> {
        Self::at(servers, &(0..SERVERS).collect::<Vec<_>>(), duration)
    }

    /// The same, of these servers only.
    pub(crate) fn at(
        servers: &LabServers<'_>,
        at: &[usize],
        duration: Duration,
    ) -> LabResult<Self> {
        let urls: Vec<String> = at.iter().map(|number| servers.url(*number)).collect();
        let child = servers
            .command()
            .args(["bots", "--json", "--count", "8", "--rate", "5", "--node", &urls.join(",")])
            .args(["--duration", &format!("{}ms", duration.as_millis())])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        child.map(Self).map_err(told("start bots"))
    }

    /// Waits for their end.
    pub(crate) fn fate(self) -> LabResult<BotTotals> {
        let output = self.0.wait_with_output().map_err(told("wait for bots"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let summary: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("bots ended with {}: {errors}", output.status))?;
        let number = |key: &str| summary[key].as_u64().ok_or_else(|| format!("bots say no {key}"));
        let fate = BotTotals {
            acknowledged: number("acknowledged")?,
            lost: number("lost")?,
            unanswered: number("unanswered")?,
            p99_ms: number("p99_ms")?,
        };
        if fate.lost > 0 || fate.acknowledged == 0 || !output.status.success() {
            return Err(format!("bots: {} {fate:?}: {errors}", output.status));
        }
        Ok(fate)
    }
}
