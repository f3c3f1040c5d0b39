//! The rations of each source: sessions, bytes, and acts that open seats.
//!
//! A key costs nothing, but an address does. So a server gives to unknown keys by their source:
//! each source has rations of its own, and nobody waits for another source's. A client beyond a
//! ration is not refused. It waits in line, known people before strangers, and gets its turn. No
//! ration enters the state of the sim, and rations need not be the same on two servers. What must
//! hold when servers lie is a rule of the sim.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use metatopia_types::SteadyRate;
use tokio::time::{Instant, sleep_until};

use super::admission::Block;
use crate::networks::Networks;

/// The most sources that are remembered at once. Each that has a client here is one of them, at
/// most [`clients_max`](super::GatewayLimits::clients_max). Of the others, those whose rations are
/// nearest to being whole again are forgotten first.
pub const SOURCES_MAX: usize = 4_096;

/// The longest time after which a waiting client looks again: a client before it may have gone.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// The rate at which something may happen: steady, with a burst after a quiet time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ration {
    /// The number in a second, at least one.
    pub per_second: u32,
    /// The number that may come at once.
    pub burst: u32,
}

impl Ration {
    fn gap(self) -> Duration {
        Duration::from_secs(1) / self.per_second.max(1)
    }

    /// Returns how far ahead of the steady rate a source may be and still do one more thing.
    fn ahead(self) -> Duration {
        self.gap().saturating_mul(self.burst.saturating_sub(1))
    }
}

/// The rations of each source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// The sessions that may begin.
    pub sessions: Ration,
    /// The logins of keys that the sim knows.
    pub logins: Ration,
    /// The logins of keys that the sim does not know.
    pub first_logins: Ration,
    /// The bytes that are read from all clients together in a second; those of four seconds at
    /// once.
    pub bytes_per_second: u32,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            // Two hundred people who come at once are all there after nine seconds. Each session
            // costs a handshake, and gives its key a fresh ration of acts.
            sessions: Ration { per_second: 16, burst: 64 },
            logins: Ration { per_second: 16, burst: 128 },
            // Two hundred people have logged in after seventeen seconds: an act is valid for
            // thirty, and one that waited for longer would have to be signed again. A turn has room
            // for four first logins, which is eighty a second. At four servers one source takes two
            // fifths of that.
            first_logins: Ration { per_second: 8, burst: 64 },
            // Two hundred people who act ten times a second and confirm twenty views send 1 MB/s.
            bytes_per_second: 2 * 1024 * 1024,
        }
    }
}

/// The time by which the bytes of a source may be ahead of their rate.
const BYTES_AHEAD: Duration = Duration::from_secs(4);

/// Returns how long bytes take at a rate.
fn time_of(bytes: usize, per_second: u32) -> Duration {
    let nanos = (bytes as u64).saturating_mul(1_000_000_000) / u64::from(per_second.max(1));
    Duration::from_nanos(nanos)
}

/// The clients in line for something that is rationed.
#[derive(Debug, Default)]
struct RationQueue {
    rate: SteadyRate<Instant>,
    /// The places in line: known people before strangers, and then in the order in which they came.
    waiting: BTreeSet<(bool, u64)>,
    next: u64,
}

impl RationQueue {
    /// Takes one unit if it is this client's turn; otherwise returns when to look again.
    fn step(&mut self, own: (bool, u64), ration: Ration, now: Instant) -> Result<(), Instant> {
        let before = self.waiting.range(..own).count();
        let due = self.rate.due(now);
        let (gap, ahead) = (ration.gap(), ration.ahead());
        if before == 0 && due <= now + ahead {
            self.rate.count(gap, now);
            self.waiting.remove(&own);
            return Ok(());
        }
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        let turn = (due + gap.saturating_mul(before)).checked_sub(ahead).unwrap_or(now);
        Err(turn.clamp(now + Duration::from_millis(1), now + LOOK_AGAIN))
    }
}

#[derive(Debug, Default)]
struct Lines {
    sessions: RationQueue,
    logins: RationQueue,
    first_logins: RationQueue,
    bytes: SteadyRate<Instant>,
}

impl Lines {
    /// Returns when the last of the source's rations is whole again.
    fn whole(&self) -> Option<Instant> {
        let Self { sessions, logins, first_logins, bytes } = self;
        let rates = [sessions.rate, logins.rate, first_logins.rate, *bytes];
        rates.into_iter().filter_map(SteadyRate::whole).max()
    }
}

/// The kinds of things that are rationed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RationKind {
    Session,
    Login,
    FirstLogin,
}

/// One source: an IPv4 address, or an IPv6 network of 64 bits.
#[derive(Debug)]
pub(crate) struct ClientSource {
    limits: SourceLimits,
    lines: Mutex<Lines>,
}

impl ClientSource {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(lines: &mut Lines, what: RationKind) -> &mut RationQueue {
        match what {
            RationKind::Session => &mut lines.sessions,
            RationKind::Login => &mut lines.logins,
            RationKind::FirstLogin => &mut lines.first_logins,
        }
    }

    fn ration(&self, what: RationKind) -> Ration {
        match what {
            RationKind::Session => self.limits.sessions,
            RationKind::Login => self.limits.logins,
            RationKind::FirstLogin => self.limits.first_logins,
        }
    }

    /// Takes a place in line for one more of this kind.
    fn stand(&self, what: RationKind, known: bool) -> QueuePlace<'_> {
        let mut lines = self.lock();
        let line = Self::line(&mut lines, what);
        let own = (!known, line.next);
        line.next += 1;
        line.waiting.insert(own);
        QueuePlace { source: self, what, own }
    }

    fn count(&self, bytes: usize, now: Instant) -> Option<Instant> {
        let mut lines = self.lock();
        lines.bytes.count(time_of(bytes, self.limits.bytes_per_second), now);
        lines.bytes.pause(BYTES_AHEAD, now)
    }
}

/// A place in line, held until this is dropped.
#[derive(Debug)]
struct QueuePlace<'a> {
    source: &'a ClientSource,
    what: RationKind,
    own: (bool, u64),
}

impl QueuePlace<'_> {
    /// Takes one unit if it is this place's turn; otherwise returns when to look again.
    fn step(&self, now: Instant) -> Result<(), Instant> {
        let (source, ration) = (self.source, self.source.ration(self.what));
        ClientSource::line(&mut source.lock(), self.what).step(self.own, ration, now)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        ClientSource::line(&mut self.source.lock(), self.what).waiting.remove(&self.own);
    }
}

/// The rations of one client's source; none if the source is trusted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rations(Option<Arc<ClientSource>>);

impl Rations {
    /// Waits for the client's turn to have one more of this kind. A client that is dropped while it
    /// waits delays nobody.
    pub(crate) async fn wait(&self, what: RationKind, known: bool) {
        let Some(source) = &self.0 else {
            return;
        };
        let waiting = source.stand(what, known);
        while let Err(again) = waiting.step(Instant::now()) {
            sleep_until(again).await;
        }
    }

    /// Counts bytes that came. If there were too many, returns until when to read no more.
    fn count(&self, bytes: usize, now: Instant) -> Option<Instant> {
        self.0.as_ref()?.count(bytes, now)
    }
}

/// Says when a client may be read again, by its own rate and by that of its source. It counts bytes
/// on the wire, and not frames, because some frames cost a byte or two to send and as much as
/// others to read.
#[derive(Debug)]
pub(crate) struct Meter {
    own: Mutex<SteadyRate<Instant>>,
    own_per_second: u32,
    rations: Rations,
}

/// The time by which the bytes of one client may be ahead of their rate.
const OWN_AHEAD: Duration = Duration::from_secs(1);

impl Meter {
    pub(crate) fn new(own_per_second: u32, rations: Rations) -> Self {
        Self { own: Mutex::default(), own_per_second, rations }
    }

    /// Counts bytes that came. If there were too many, returns until when to read no more.
    pub(crate) fn count(&self, bytes: usize) -> Option<Instant> {
        let now = Instant::now();
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.count(time_of(bytes, self.own_per_second), now);
        own.pause(OWN_AHEAD, now).max(self.rations.count(bytes, now))
    }
}

/// The rations of all sources.
#[derive(Debug)]
pub(crate) struct Sources {
    limits: SourceLimits,
    trusted: Networks,
    known: Mutex<BTreeMap<Block, Arc<ClientSource>>>,
}

impl Sources {
    pub(crate) fn new(limits: SourceLimits, trusted: Networks) -> Self {
        Self { limits, trusted, known: Mutex::default() }
    }

    /// Returns whether this address is not rationed.
    pub(crate) fn trusts(&self, ip: IpAddr) -> bool {
        self.trusted.contain(ip)
    }

    /// Returns the rations of a client at this address.
    pub(crate) fn of(&self, ip: IpAddr) -> Rations {
        if self.trusts(ip) {
            return Rations::default();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let block = Block::of(ip);
        if known.len() >= SOURCES_MAX && !known.contains_key(&block) {
            forget(&mut known, Instant::now());
        }
        let fresh = || Arc::new(ClientSource { limits: self.limits, lines: Mutex::default() });
        Rations(Some(known.entry(block).or_insert_with(fresh).clone()))
    }
}

/// Forgets the sources without clients whose rations are whole. If there is none, forgets the one
/// that is nearest to that.
fn forget(known: &mut BTreeMap<Block, Arc<ClientSource>>, now: Instant) {
    let mut nearest: Option<(Instant, Block)> = None;
    known.retain(|block, source| {
        if Arc::strong_count(source) > 1 {
            return true;
        }
        let Some(whole) = source.lock().whole().filter(|whole| *whole > now) else {
            return false;
        };
        nearest = Some(nearest.map_or((whole, *block), |best| best.min((whole, *block))));
        true
    });
    if known.len() >= SOURCES_MAX
        && let Some((_, block)) = nearest
    {
        known.remove(&block);
    }
}

#[cfg(test)]
mod tests;
