//! Fetches shelves of the map from the land office, by a client's session.

use std::{sync::Arc, time::Duration};

use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl, passing_key};
use metatopia_protocol::{Answer, Question};
use metatopia_raynet::TilePoint;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::office::OfficeSets;

/// A point whose shelf is wanted, and where the land office lets clients in, as far as is known.
#[derive(Debug, Clone)]
pub struct WantedShelf {
    /// The point that the shelf is about.
    pub point: TilePoint,
    /// Servers of the land office.
    pub office: Vec<NodeUrl>,
}

/// The time that the land office has for one answer.
const ANSWER: Duration = Duration::from_secs(5);

/// The time for which a session stays open with nothing to ask. It takes a client's place.
const IDLE: Duration = Duration::from_secs(3);

/// The time before the land office is tried again, when it was not reached.
const AWAY: Duration = Duration::from_secs(2);

/// The most addresses of the land office that are tried.
const OFFICE_URLS_MAX: usize = 8;

/// Asks the land office for shelves.
#[derive(Debug)]
pub struct ShelfFetcher {
    sets: Arc<OfficeSets>,
    /// Servers of the land office that are known from the beginning.
    first: Vec<NodeUrl>,
    wanted: mpsc::Receiver<WantedShelf>,
    found: mpsc::Sender<Vec<u8>>,
    trust: Option<GenesisTrust>,
}

impl ShelfFetcher {
    /// Returns a fetcher that has asked nobody yet.
    #[must_use]
    pub const fn new(
        sets: Arc<OfficeSets>,
        first: Vec<NodeUrl>,
        wanted: mpsc::Receiver<WantedShelf>,
        found: mpsc::Sender<Vec<u8>>,
    ) -> Self {
        Self { sets, first, wanted, found, trust: None }
    }

    /// Fetches until nobody wants anything any more.
    pub async fn run(mut self) {
        while let Some(first) = self.wanted.recv().await {
            let Some(mut office) = self.open(&first.office).await else {
                // What was wanted meanwhile is wanted again, if it still is.
                while self.wanted.try_recv().is_ok() {}
                sleep(AWAY).await;
                continue;
            };
            let mut next = Some(first.point);
            while let Some(point) = next.take() {
                if !self.fetch(&mut office, point).await {
                    // Another server is dialled first next time.
                    let by = 1.min(self.first.len());
                    self.first.rotate_left(by);
                    break;
                }
                let idle = timeout_at(Instant::now() + IDLE, self.wanted.recv()).await;
                next = idle.ok().flatten().map(|wanted| wanted.point);
            }
            office.leave().await;
        }
    }

    /// Opens a session with a server of the land office.
    async fn open(&mut self, told: &[NodeUrl]) -> Option<ClientDriver> {
        let mut urls = self.first.clone();
        urls.extend(told.iter().filter(|url| !self.first.contains(url)).cloned());
        urls.truncate(OFFICE_URLS_MAX);
        if self.trust.is_none() {
            let learned = GenesisTrust::learn_from(&urls, Some(self.sets.world())).await;
            self.trust = learned
                .inspect_err(|error| tracing::debug!(%error, "the land office is not reached"))
                .ok();
        }
        let opened = ClientDriver::open(urls, self.trust.clone()?, passing_key()).await;
        opened.inspect_err(|error| tracing::debug!(%error, "the land office is not reached")).ok()
    }

    /// Fetches one shelf. Returns whether the session goes on.
    async fn fetch(&self, office: &mut ClientDriver, point: TilePoint) -> bool {
        let answer = match office.ask(Question::Land { point }, ANSWER).await {
            Ok(Answer::Land(proof)) => proof,
            Ok(_) => return true,
            Err(error) => {
                tracing::debug!(%error, "the land office does not answer");
                return false;
            }
        };
        while !self.sets.knows(answer.header.validators) {
            let after = self.sets.newest();
            let Ok(Answer::Links(links)) = office.ask(Question::Links { after }, ANSWER).await
            else {
                return false;
            };
            if links.is_empty() {
                return false;
            }
            if let Err(error) = self.sets.follow_answer(links) {
                tracing::warn!(%error, "the validators of the land office are not followed");
                return false;
            }
            // Old links of a server that names validators which nobody knows would be asked for without end.
            if self.sets.newest() <= after {
                tracing::warn!(
                    "a server of the land office names validators that no link leads to"
                );
                return false;
            }
        }
        self.found.send(answer.encode()).await.is_ok()
    }
}
