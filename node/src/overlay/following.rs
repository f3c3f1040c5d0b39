//! A server's member, in the world that the state of its sim names.
//!
//! An act of a permanent admin may name the successor of the land office as the sim's world. Then the head of
//! that office is learned ([`successor`](super::successor)), the member in the old world ends, and another one
//! starts in the new world: with fresh shelves, and with what is kept of that world alone. Until the head is
//! known, the server stays in the old world.

use std::{path::PathBuf, sync::Arc, time::Duration};

use metatopia_client_driver::NodeUrl;
use metatopia_replica::Condition;
use metatopia_transport::http::Allowed;
use metatopia_types::SimId;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    OfficeSets, OverlayFolder, OverlayMember, WorldPlace, WorldPlaceSetup,
    folder::{MemberLock, OverlayFolderError},
    place::WorldPlaceError,
    renewal::NewestHeight,
    successor::{self, SuccessorError},
};
use crate::routes::StatusAnswer;

/// The time before nodes are asked again about a world that none of them showed, or a member is started again.
const AGAIN: Duration = Duration::from_secs(5);

/// The time that a member has to say goodbye in the old world.
const GOODBYE: Duration = Duration::from_secs(5);

/// The place of a server in its world at this time: it changes when the sim follows another land office.
#[derive(Debug, Clone)]
pub struct CurrentPlace(watch::Receiver<Option<WorldPlace>>);

impl CurrentPlace {
    /// Returns the place. None while the server is on its way into another world.
    #[must_use]
    pub fn get(&self) -> Option<WorldPlace> {
        self.0.borrow().clone()
    }

    /// Returns the member.
    #[must_use]
    pub fn member(&self) -> Option<OverlayMember> {
        self.get().map(|place| place.member().clone())
    }
}

/// What a server's members begin with, in whichever world.
#[derive(Debug, Clone)]
pub struct FollowSetup {
    /// The data directory of the server.
    pub data_dir: PathBuf,
    /// The sim that it serves.
    pub sim: SimId,
    /// How a member is set up.
    pub member: WorldPlaceSetup,
    /// Servers of the land office that are asked first.
    pub first: Vec<NodeUrl>,
    /// Where this server lets clients in; none of a land office, which renews nothing.
    pub renews: Option<NodeUrl>,
    /// Turns that the sim decides in a second.
    pub turns_per_second: u64,
    /// The origins whose pages may connect.
    pub allowed: Allowed,
    /// How the server stands: its state names the world.
    pub status: watch::Receiver<Option<StatusAnswer>>,
}

/// Says why a server stays in the world that it is in.
#[derive(Debug, thiserror::Error)]
enum FollowError {
    #[error(transparent)]
    Successor(#[from] SuccessorError),
    #[error(transparent)]
    Folder(#[from] OverlayFolderError),
    #[error(transparent)]
    Place(#[from] WorldPlaceError),
}

/// Keeps the member of a server in the world that the state of its sim names.
struct WorldFollower {
    setup: FollowSetup,
    /// The world of the member; none if none runs.
    world: Option<SimId>,
    /// Ends the member.
    stop: watch::Sender<bool>,
    places: watch::Sender<Option<WorldPlace>>,
    /// The folder is this server's, as long as it runs.
    _lock: MemberLock,
}

impl FollowSetup {
    /// Starts the server's member in the world of this land office, and has another one take its place
    /// whenever the state of the sim names another world.
    ///
    /// # Errors
    /// When another process is the member of the folder, or the first member does not start.
    pub async fn start(
        self,
        folder: &OverlayFolder,
        sets: OfficeSets,
    ) -> Result<CurrentPlace, WorldPlaceError> {
        let (world, lock) = (Some(sets.world()), folder.lock()?);
        let (place, stop) = self.begin(folder, sets).await?;
        let (places, current) = watch::channel(Some(place));
        tokio::spawn(WorldFollower { setup: self, world, stop, places, _lock: lock }.run());
        Ok(CurrentPlace(current))
    }

    /// Starts a member with all that belongs to it. Ends when the sender is told to.
    async fn begin(
        &self,
        folder: &OverlayFolder,
        sets: OfficeSets,
    ) -> Result<(WorldPlace, watch::Sender<bool>), WorldPlaceError> {
        let (stop, stopped) = watch::channel(false);
        let (member, first) = (self.member.clone(), self.first.clone());
        let place = WorldPlace::start(member, sets, folder, first, stopped).await?;
        if let Some(own) = self.renews.clone() {
            let status = self.status.clone();
            let newest: NewestHeight =
                Arc::new(move || status.borrow().as_ref().map(|status| status.root_height));
            place.renew(folder, own, (newest, self.turns_per_second))?;
        }
        let (mut met, allowed) = (place.member().met.clone(), self.allowed.clone());
        tokio::spawn(async move {
            // Ends with the member.
            while met.changed().await.is_ok() {
                let urls = met.borrow_and_update().clone();
                let origins = urls.iter().filter_map(|url| url.node().to_string().parse().ok());
                allowed.set_sites(origins);
            }
        });
        let (world, overlay) = (place.sets().world(), &place.member().address);
        tracing::info!(%world, %overlay, "in a world");
        Ok((place, stop))
    }
}

/// Returns the world that the state of a sim names. A server that fetches a state has an old one.
fn named(status: &StatusAnswer) -> Option<SimId> {
    status.world.filter(|_| status.condition != Condition::Fetching.name())
}

impl WorldFollower {
    /// Looks after each turn which world the state names. Ends with the server.
    async fn run(mut self) {
        let mut status = self.setup.status.clone();
        let mut told = String::new();
        while status.changed().await.is_ok() {
            let world = status.borrow_and_update().as_ref().and_then(named);
            let Some(world) = world.filter(|world| self.world != Some(*world)) else { continue };
            match self.follow(world).await {
                Ok(()) => told.clear(),
                Err(error) => {
                    let why = error.to_string();
                    if told != why {
                        tracing::warn!(error = why, "the sim's land office is not followed yet");
                    }
                    told = why;
                    sleep(AGAIN).await;
                }
            }
        }
    }

    /// Ends the member in the old world, and starts one in this world.
    async fn follow(&mut self, world: SimId) -> Result<(), FollowError> {
        let FollowSetup { data_dir, sim, .. } = &self.setup;
        let (folder, sets) = match OverlayFolder::of(data_dir, world)? {
            Some(kept) => kept,
            None => {
                let place = self.places.borrow().clone();
                let met = place.map(|place| place.member().met.borrow().clone());
                successor::learn(data_dir, (*sim, world), met.unwrap_or_default()).await?
            }
        };
        self.places.send_replace(None);
        self.world = None;
        self.stop.send_replace(true);
        // Its port is free then. If it takes longer, the new one does not start, and is started again.
        let _ended = timeout(GOODBYE, self.stop.closed()).await;
        let (place, stop) = self.setup.begin(&folder, sets).await?;
        (self.stop, self.world) = (stop, Some(world));
        self.places.send_replace(Some(place));
        Ok(())
    }
}
