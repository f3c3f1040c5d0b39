//! A replica in a tab: it fetches what it needs by questions, and runs the whole sim.

pub(crate) mod follower;
mod status;
mod tail;

use std::sync::Arc;

use metatopia_client::{Distrust, DownloadError, LightClient, SnapshotDownload};
use metatopia_protocol::{Answer, ServerMessage, SnapshotOffer, ValidatorSetLink, decode_server};
use metatopia_sim::{Capsule, GenesisError, Tools, World};
use metatopia_types::{Certificate, Ed25519, Height, ObjectId, ScriptId, Turn};
use serde::Deserialize;

use self::follower::TurnFollower;
pub use self::status::{ClientPhase, ClientRequest, ClientStatus, Followed};
use crate::{CallError, TrialReport, TrustedGenesis};

/// Where a replica begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPoint {
    /// With the first turn.
    Genesis,
    /// With the newest snapshot of a node; with the first turn where there is none yet.
    Snapshot,
}

/// What is under way.
#[derive(Debug)]
enum SyncStage {
    /// Set changes are followed, until the node knows of no other.
    Links,
    /// A snapshot is asked for.
    Offer,
    /// It is fetched.
    Parts(Box<SnapshotDownload>),
    /// Turns are applied.
    Following(Box<TurnFollower>),
}

/// Applies every turn of a sim itself.
///
/// Sans-IO: [`ClientReplica::want`] says what to ask a node, [`ClientReplica::frame`] takes the answer. Nothing
/// is applied that more than two thirds of the voting power did not sign. That the acts of a turn
/// are signed by their authors is vouched for by them; what those acts did is not: it is computed
/// here.
#[derive(Debug)]
pub struct ClientReplica {
    light: LightClient,
    tools: Tools,
    genesis: Arc<[u8]>,
    beginning: World,
    stage: SyncStage,
    /// Offers by servers that do not vote by what is known, since set changes were last followed.
    doubts: u32,
}

/// A script that somebody watches.
#[derive(Debug, Deserialize)]
struct WatchedScript {
    object: ObjectId,
    script: ScriptId,
}

/// The set may change while an offer is on its way; that it does so twice in a row is a lie.
const DOUBTS_MAX: u32 = 2;

impl ClientReplica {
    /// A replica that begins there. `genesis` is the one that is trusted, encoded.
    ///
    /// # Errors
    /// `genesis` when the world of that genesis cannot be built, because a script of it does not compile;
    /// `tier` when its bodies move on the advanced tier, which this program is made without.
    pub fn new(
        trust: TrustedGenesis,
        genesis: Vec<u8>,
        begin: StartPoint,
    ) -> Result<Self, CallError> {
        let tools = Tools::new(Arc::new(Ed25519));
        let beginning = World::genesis(&trust.genesis, &tools).map_err(|error| match error {
            // The page has words of its own for it: what such a sim shows is proven all the same.
            GenesisError::Tier(_) => CallError::new("tier", error),
            error => CallError::new("genesis", error),
        })?;
        let stage = match begin {
            StartPoint::Genesis => {
                SyncStage::Following(Box::new(TurnFollower::new(beginning.clone())))
            }
            StartPoint::Snapshot => SyncStage::Links,
        };
        let (light, genesis) = (trust.light, genesis.into());
        Ok(Self { light, tools, genesis, beginning, stage, doubts: 0 })
    }

    /// Returns what to ask a node next, or `None` after a mismatch.
    #[must_use]
    pub fn want(&self) -> Option<ClientRequest> {
        match &self.stage {
            SyncStage::Links => {
                let after = self.light.newest().minus(1).unwrap_or_default();
                Some(ClientRequest::Links { after: after.0 })
            }
            SyncStage::Offer => Some(ClientRequest::Snapshot),
            SyncStage::Parts(download) => Some(ClientRequest::Part {
                height: download.height().0,
                part: download.next_part(),
            }),
            SyncStage::Following(follower) if follower.mismatch().is_some() => None,
            SyncStage::Following(follower) => {
                Some(ClientRequest::Turns { from: follower.world().height().plus(1).0 })
            }
        }
    }

    /// Takes a frame of a session in. What is no answer that it wants changes nothing.
    ///
    /// # Errors
    /// When the answer is none that an honest node gives; what was applied before stays.
    pub fn frame(&mut self, frame: &[u8]) -> Result<Followed, CallError> {
        let message = decode_server(frame).map_err(|error| CallError::new("frame", error))?;
        let before = self.height();
        if let ServerMessage::Answer { answer, .. } = message {
            self.answer(*answer)?;
        }
        let applied = self.height().0.saturating_sub(before.0);
        Ok(Followed { status: self.status(), applied })
    }

    fn answer(&mut self, answer: Answer) -> Result<(), CallError> {
        match (&mut self.stage, answer) {
            (SyncStage::Links, Answer::Links(links)) => self.links(&links),
            (SyncStage::Offer, Answer::Snapshot(offer)) => self.offer(*offer),
            // No root is certified yet, so the world is young.
            (SyncStage::Offer, Answer::Unknown) => {
                self.stage =
                    SyncStage::Following(Box::new(TurnFollower::new(self.beginning.clone())));
                Ok(())
            }
            (SyncStage::Parts(_), Answer::SnapshotPart(bytes)) => self.part(&bytes),
            // There is a newer one by now.
            (SyncStage::Parts(_), Answer::Unknown) => {
                self.stage = SyncStage::Offer;
                Ok(())
            }
            (SyncStage::Following(follower), Answer::Turns(turns)) => follower.follow(turns),
            _ => Ok(()),
        }
    }

    fn links(&mut self, links: &[ValidatorSetLink]) -> Result<(), CallError> {
        let newest = self.light.newest();
        for link in links.iter().filter(|link| link.header.height >= newest) {
            self.light.follow(link).map_err(|distrust| CallError::new("links", distrust))?;
        }
        if self.light.newest() == newest {
            self.stage = SyncStage::Offer;
        }
        Ok(())
    }

    fn offer(&mut self, offer: SnapshotOffer) -> Result<(), CallError> {
        match self.light.believe(&offer.header, &offer.certificate) {
            Ok(()) => self.doubts = 0,
            Err(Distrust::OtherValidators(_)) if self.doubts < DOUBTS_MAX => {
                self.doubts = self.doubts.saturating_add(1);
                self.stage = SyncStage::Links;
                return Ok(());
            }
            Err(distrust) => return Err(CallError::new("snapshot", distrust)),
        }
        let download = SnapshotDownload::new(offer).map_err(|error| wrong(&error))?;
        self.stage = SyncStage::Parts(Box::new(download));
        Ok(())
    }

    fn part(&mut self, bytes: &[u8]) -> Result<(), CallError> {
        let SyncStage::Parts(download) = &mut self.stage else {
            return Ok(());
        };
        let done = download.part(bytes, &self.tools);
        match done {
            Ok(None) => {}
            Ok(Some(world)) => {
                self.stage = SyncStage::Following(Box::new(TurnFollower::new(world)))
            }
            Err(error) => {
                self.stage = SyncStage::Offer;
                return Err(wrong(&error));
            }
        }
        Ok(())
    }

    fn height(&self) -> Height {
        match &self.stage {
            SyncStage::Following(follower) => follower.world().height(),
            _ => Height(0),
        }
    }

    /// Returns the state of the replica for the page.
    #[must_use]
    pub fn status(&self) -> ClientStatus {
        match &self.stage {
            SyncStage::Links => ClientStatus::waiting(ClientPhase::Links, &self.beginning),
            SyncStage::Offer => ClientStatus::waiting(ClientPhase::Snapshot, &self.beginning),
            SyncStage::Parts(download) => ClientStatus {
                received: download.received(),
                bytes: download.bytes(),
                decided: download.height().0,
                ..ClientStatus::waiting(ClientPhase::Snapshot, &self.beginning)
            },
            SyncStage::Following(follower) => ClientStatus::following(follower),
        }
    }

    /// Takes down what a script does from now on. The input is JSON: the thing and the script on it, or `null` for
    /// none.
    ///
    /// # Errors
    /// `NoState` while there is no state, `NoScript` if no such script is in it.
    pub fn watch(&mut self, script: &[u8]) -> Result<(), CallError> {
        let script: Option<WatchedScript> =
            serde_json::from_slice(script).map_err(CallError::input)?;
        match &mut self.stage {
            SyncStage::Following(follower) => {
                follower.watch(script.map(|watched| (watched.object, watched.script)))
            }
            _ if script.is_none() => Ok(()),
            _ => Err(CallError::new("NoState", "the replica has no state yet")),
        }
    }

    /// Returns what the script that is watched did since the last call; nothing if none is.
    pub fn watched(&mut self) -> Option<TrialReport> {
        match &mut self.stage {
            SyncStage::Following(follower) => follower.watched(),
            _ => None,
        }
    }

    /// The state some time ago, whose root was certified unless it is genesis, and the turns since.
    #[must_use]
    pub fn capsule(&self) -> Capsule {
        match &self.stage {
            SyncStage::Following(follower) => follower.capsule(&self.genesis),
            _ => TurnFollower::new(self.beginning.clone()).capsule(&self.genesis),
        }
    }

    /// The world, once turns are applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        match &self.stage {
            SyncStage::Following(follower) => Some(follower.world()),
            _ => None,
        }
    }
}

/// Returns the error of a snapshot that no honest node sends.
fn wrong(error: &DownloadError) -> CallError {
    CallError::new("snapshot", error)
}

/// A decided turn.
pub(crate) type DecidedTurn = (Turn, Certificate);
