//! One bot: a session, a pattern, and a tally.

use std::time::Duration;

use metatopia_client::Scene;
use metatopia_client_driver::{
    ClientDriver, DriveError, DriverEvent, GenesisTrust, NodeUrl, guest_look, passing_key,
};
use metatopia_protocol::{PROOF_TURNS, Watching};
use metatopia_types::{Act, ActId, Outcome, PublicKey, Refusal};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout_at};

use super::{pattern::Pattern, tally::ActTally};
use crate::LoadError;

/// The time that receipts are waited for after the last act. Acts are valid for half a minute.
const DRAIN: Duration = Duration::from_secs(40);

/// The time that a node has to answer one question.
const ANSWER: Duration = Duration::from_secs(10);

/// One of so many bots looks around, and pushes what it sees.
const LOOKERS: u32 = 5;

/// Returns a watch of five views a second, without proofs, because the bot would not check them.
fn watching() -> Watching {
    let turns_apart = PROOF_TURNS as u16;
    let (proofs, at, have) = (false, None, Vec::new());
    Watching { bytes_per_second: 20_000, turns_apart, proofs, at, have }
}

/// A bot that is in the sim.
pub(crate) struct BotPlayer {
    driver: ClientDriver,
    pattern: Pattern,
    tally: ActTally,
    scene: Option<Box<Scene>>,
    over: bool,
}

/// Returns the name of a bot. Names belong to keys, and the next bots have others.
pub(crate) fn bot_name(index: u32, key: &PublicKey) -> String {
    format!("bot {index} {}", &key.to_string()[..8])
}

impl BotPlayer {
    /// Opens a session with a new key, and logs in.
    pub(crate) async fn enter(
        nodes: Vec<NodeUrl>,
        trust: GenesisTrust,
        index: u32,
        pattern: Pattern,
    ) -> Result<Self, LoadError> {
        let driver = ClientDriver::open(nodes, trust, passing_key()).await?;
        let tally = ActTally::default();
        let mut player = Self { driver, pattern, tally, scene: None, over: false };
        let key = player.driver.signer().public();
        let (name, look) = (bot_name(index, &key), guest_look(&key));
        let act = Act::Login { name, look, bot: true, pass: None };
        let act = player.driver.with_pass(act, None, ANSWER, || ()).await?;
        let mut login = player.submit(act.clone()).await?;
        while !player.over {
            match player.driver.news().await {
                DriverEvent::Outcome { act: id, outcome, .. } if Some(id) == login => match outcome
                {
                    Outcome::Ok | Outcome::Made(_) => break,
                    // A turn lets only some logins in; the others stand in line.
                    Outcome::Refused(Refusal::TooOften) => {
                        login = player.submit(act.clone()).await?;
                    }
                    Outcome::Refused(why) => {
                        return Err(LoadError::LoginRefused { bot: index, why });
                    }
                },
                DriverEvent::Ended(end) => return Err(DriveError::Ended(end).into()),
                DriverEvent::Refused { why, .. } => {
                    return Err(LoadError::LoginNotTaken { bot: index, why });
                }
                news => player.note(news),
            }
        }
        if index.is_multiple_of(LOOKERS) {
            player.driver.view(Some(watching())).await?;
        }
        Ok(player)
    }

    async fn submit(&mut self, act: Act) -> Result<Option<ActId>, DriveError> {
        match self.driver.submit(act, Vec::new()).await {
            Ok(submitted) => {
                self.tally.sent();
                Ok(Some(submitted.act))
            }
            Err(DriveError::Submit(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Acts until `end`, leaves the sim, and waits for the receipts that are due.
    pub(crate) async fn play(mut self, first: Instant, pace: Duration, end: Instant) -> ActTally {
        let mut clock = interval_at(first, pace);
        // A sim that stood still is not flooded afterwards.
        clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while !self.over {
            tokio::select! {
                biased;
                news = self.driver.news() => self.note(news),
                now = clock.tick() => {
                    if now >= end {
                        break;
                    }
                    self.act().await;
                }
            }
        }
        if !self.over && self.submit(Act::Leave).await.is_err() {
            self.over = true;
        }
        let drained = Instant::now() + DRAIN;
        while !self.over && self.tally.unanswered() > 0 {
            match timeout_at(drained, self.driver.news()).await {
                Ok(news) => self.note(news),
                Err(_) => break,
            }
        }
        self.driver.leave().await;
        self.tally
    }

    async fn act(&mut self) {
        let (act, blobs) = self.pattern.next(self.scene.as_deref());
        match self.driver.submit(act, blobs).await {
            Ok(_) => self.tally.sent(),
            // Too many acts wait for their receipts already, because the sim stands still.
            Err(DriveError::Submit(_)) => {}
            Err(_) => self.over = true,
        }
    }

    fn note(&mut self, news: DriverEvent) {
        match news {
            DriverEvent::Receipted { act, height, after, .. } => {
                self.tally.receipted(act, height, after)
            }
            DriverEvent::Refused { .. } => self.tally.refused(),
            DriverEvent::Scene(scene) => self.scene = Some(scene),
            DriverEvent::Ended(_) => self.over = true,
            DriverEvent::Open { .. }
            | DriverEvent::Broken { .. }
            | DriverEvent::Outcome { .. }
            | DriverEvent::Heard(_)
            | DriverEvent::HeardEarlier(_)
            | DriverEvent::Form(_)
            | DriverEvent::Sound(_)
            | DriverEvent::Told(_)
            | DriverEvent::Forgotten(_)
            | DriverEvent::Proof(_) => {}
        }
    }
}
