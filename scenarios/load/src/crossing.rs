//! Bots that cross a border back and forth, each with a thing in hand, and what became of them.

mod burden;

use std::time::Duration;

use metatopia_client::Scene;
use metatopia_client_driver::{
    ClientDriver, DriveError, DriverEvent, GenesisTrust, NodeUrl, guest_look, passing_key,
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::Watching;
use metatopia_types::{Act, ActId, Build, ObjectId, Outcome, PublicKey};
use tokio::{
    task::JoinSet,
    time::{Instant, interval, sleep_until, timeout},
};

use self::burden::Burden;
pub use self::burden::{BurdenKind, MODEL_KIND, MODEL_LADEN};
use crate::{LoadError, bots::bot_name};

/// The time between two headings of a bot.
const PACE: Duration = Duration::from_millis(500);

/// The time between two announcements that a bot comes over.
const APPROACH: Duration = Duration::from_secs(2);

/// The time for logins.
const ENTER: Duration = Duration::from_secs(30);

/// The time after the end in which whoever is under way has to arrive, or to come back: the deadline of a
/// departure, and the news of it.
const SETTLE: Duration = Duration::from_secs(15);

/// The time of a turn.
const TURN: Duration = Duration::from_millis(50);

/// A sim that bots walk to and from.
#[derive(Clone, Debug)]
pub struct CrossedSim {
    /// Nodes of the sim.
    pub nodes: Vec<NodeUrl>,
    /// What is believed of the sim.
    pub trust: GenesisTrust,
}

/// What became of bots that crossed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrossingSummary {
    /// Times from a departure to the arrival, as clients see them, ascending.
    pub times: Vec<Duration>,
    /// How often a bot came back to the sim that it had left.
    pub returned: u64,
    /// Bots that are in no sim after the end.
    pub lost: u64,
    /// Bots that are in both sims after the end.
    pub doubled: u64,
    /// Bots that never crossed.
    pub stuck: u64,
    /// Bots that have nothing in hand after the end.
    pub empty_handed: u64,
}

impl CrossingSummary {
    /// Returns tenths of turns from departure to arrival, of which so many of a hundred are no longer; none
    /// if nobody crossed.
    #[must_use]
    pub fn turns(&self, percent: usize) -> Option<u64> {
        let place = (self.times.len() * percent).div_ceil(100).max(1) - 1;
        let time = self.times.get(place)?;
        let tenths = time.as_millis().saturating_mul(10) / TURN.as_millis();
        u64::try_from(tenths).ok()
    }

    fn add(&mut self, bot: Self) {
        self.times.extend(bot.times);
        self.times.sort_unstable();
        self.returned += bot.returned;
        self.lost += bot.lost;
        self.doubled += bot.doubled;
        self.stuck += bot.stuck;
        self.empty_handed += bot.empty_handed;
    }
}

/// Lets so many bots walk from the western sim into the eastern one and back, for this time, each with such a thing in
/// hand.
///
/// # Errors
/// See [`LoadError`].
pub async fn cross(
    west: &CrossedSim,
    east: &CrossedSim,
    (count, duration): (u32, Duration),
    burden: BurdenKind,
) -> Result<CrossingSummary, LoadError> {
    let mut bots = JoinSet::new();
    for index in 0..count {
        let sims = [west.clone(), east.clone()];
        bots.spawn(async move {
            let bot = timeout(ENTER, CrossingBot::enter(sims, index, burden)).await;
            let bot = bot.map_err(|_| LoadError::Late(ENTER))??;
            bot.play(Instant::now() + duration).await
        });
    }
    let mut summary = CrossingSummary::default();
    while let Some(ended) = bots.join_next().await {
        summary.add(ended.map_err(LoadError::Player)??);
    }
    Ok(summary)
}

/// A view of every turn, without proofs: the time of an arrival is measured by it.
fn watching() -> Watching {
    let (proofs, at, have) = (false, None, Vec::new());
    Watching { bytes_per_second: 50_000, turns_apart: 1, proofs, at, have }
}

/// A bot with a session in each sim.
struct CrossingBot {
    drivers: [ClientDriver; 2],
    sims: [CrossedSim; 2],
    key: PublicKey,
    /// Whether its avatar is in sight in each of them.
    is_in: [bool; 2],
    /// The thing in its hand, in the sim that saw it last.
    held: Option<ObjectId>,
    /// The sim that it is in, or was in last: 0 is the western one.
    here: usize,
    departed: Option<Instant>,
    approach: Option<ActId>,
    approached: Option<Instant>,
    summary: CrossingSummary,
}

impl CrossingBot {
    /// Opens both sessions, and logs in at the western sim.
    async fn enter(
        sims: [CrossedSim; 2],
        index: u32,
        burden: BurdenKind,
    ) -> Result<Self, LoadError> {
        let key = passing_key();
        let open = |sim: &CrossedSim| {
            ClientDriver::open(sim.nodes.clone(), sim.trust.clone(), key.clone())
        };
        let mut drivers = [open(&sims[0]).await?, open(&sims[1]).await?];
        for driver in &mut drivers {
            driver.view(Some(watching())).await?;
        }
        let (name, look) = (bot_name(index, &key.public()), guest_look(&key.public()));
        let login = Act::Login { name, look, bot: true, pass: None };
        drivers[0].submit(login, Vec::new()).await?;
        let mut bot = Self {
            drivers,
            sims,
            key: key.public(),
            is_in: [false; 2],
            held: None,
            here: 0,
            departed: None,
            approach: None,
            approached: None,
            summary: CrossingSummary::default(),
        };
        while !bot.is_in[0] {
            let news = bot.drivers[0].news().await;
            bot.note(0, news)?;
        }
        bot.take_up(burden).await?;
        Ok(bot)
    }

    /// Makes such a thing, and takes it in hand.
    async fn take_up(&mut self, burden: BurdenKind) -> Result<(), LoadError> {
        let mut burden = Burden::of(burden);
        while self.held.is_none() {
            let news = self.drivers[0].news().await;
            match &news {
                DriverEvent::Scene(scene) => {
                    for act in burden.acts(scene, self.key) {
                        self.submit(0, act).await?;
                    }
                }
                DriverEvent::Outcome { outcome: Outcome::Refused(_), .. } => burden.refused(),
                _ => {}
            }
            self.note(0, news)?;
        }
        Ok(())
    }

    /// Walks over the line and back until `end`, waits until nothing is under way, and says where it is.
    async fn play(mut self, end: Instant) -> Result<CrossingSummary, LoadError> {
        let mut pace = interval(PACE);
        let settled = end + SETTLE;
        loop {
            let [west, east] = &mut self.drivers;
            tokio::select! {
                biased;
                () = sleep_until(settled) => break,
                news = west.news() => self.note(0, news)?,
                news = east.news() => self.note(1, news)?,
                _ = pace.tick() => match Instant::now() < end {
                    true => self.walk().await?,
                    false if self.is_in[0] != self.is_in[1] && self.departed.is_none() => break,
                    false => {}
                },
            }
        }
        let places = self.is_in.iter().filter(|is_in| **is_in).count();
        self.summary.lost = u64::from(places == 0);
        self.summary.doubled = u64::from(places == 2);
        self.summary.stuck = u64::from(self.summary.times.is_empty());
        self.summary.empty_handed = u64::from(self.held.is_none());
        // A sim that ran before is as it was.
        if let Some(object) = self.held {
            self.submit(self.here, Act::Build(Build::Delete { object })).await?;
        }
        for driver in &mut self.drivers {
            driver.submit(Act::Leave, Vec::new()).await?;
        }
        for driver in self.drivers {
            driver.leave().await;
        }
        Ok(self.summary)
    }

    /// Heads for the other sim, and announces there that it comes.
    async fn walk(&mut self) -> Result<(), LoadError> {
        let there = 1 - self.here;
        let heading = Vec2::new(if there == 1 { Fx::ONE } else { Fx::from_int(-1) }, Fx::ZERO);
        self.submit(self.here, Act::Walk { heading }).await?;
        if self.approached.is_none_or(|at| at.elapsed() >= APPROACH) {
            self.approached = Some(Instant::now());
            let from = self.sims[self.here].trust.sim;
            self.approach = self.submit(there, Act::Approach { from, work: None }).await?;
        }
        Ok(())
    }

    async fn submit(&mut self, sim: usize, act: Act) -> Result<Option<ActId>, LoadError> {
        match self.drivers[sim].submit(act, Vec::new()).await {
            Ok(submitted) => Ok(Some(submitted.act)),
            // Too many acts wait for their receipts already.
            Err(DriveError::Submit(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn note(&mut self, sim: usize, news: DriverEvent) -> Result<(), LoadError> {
        match news {
            DriverEvent::Scene(scene) => {
                self.look_at_hands(&scene);
                self.see(sim, scene.me.is_some());
            }
            DriverEvent::Outcome { act, outcome: Outcome::Refused(_), .. }
                if self.approach == Some(act) =>
            {
                // The neighbour has not heard yet that it is near: it says so again.
                self.approached = None;
            }
            DriverEvent::Ended(end) => return Err(DriveError::Ended(end).into()),
            _ => {}
        }
        Ok(())
    }

    /// Takes in what it holds, where it sees itself.
    fn look_at_hands(&mut self, scene: &Scene) {
        if let Some(me) = scene.me {
            self.held = scene.in_hands_of(me).first().map(|thing| thing.id);
        }
    }

    /// Takes in whether its avatar is in sight in a sim.
    fn see(&mut self, sim: usize, is_there: bool) {
        self.is_in[sim] = is_there;
        match self.departed {
            None if sim == self.here && !is_there && self.has_headed() => {
                self.departed = Some(Instant::now());
            }
            Some(departed) if is_there => {
                if sim == self.here {
                    self.summary.returned += 1;
                } else {
                    self.summary.times.push(departed.elapsed());
                    self.here = sim;
                }
                (self.departed, self.approached) = (None, None);
            }
            _ => {}
        }
    }

    /// Returns whether it has headed for the other sim once. Before that, it has not come in yet.
    const fn has_headed(&self) -> bool {
        self.approached.is_some() || !self.summary.times.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_counted_from_departure_to_arrival() {
        let mut summary = CrossingSummary::default();
        assert_eq!(summary.turns(50), None);
        let times = [400, 150, 200, 250].map(Duration::from_millis).to_vec();
        summary.add(CrossingSummary { times, lost: 1, ..CrossingSummary::default() });
        assert_eq!((summary.turns(50), summary.turns(95)), (Some(40), Some(80)));
        assert_eq!(summary.lost, 1);
    }
}
