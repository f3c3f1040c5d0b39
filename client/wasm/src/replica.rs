//! A replica in a tab: it fetches what it needs by questions, and runs the whole sim.

mod download;
pub(crate) mod follower;
mod status;
mod tail;

use std::sync::Arc;

use metatopia_client::{Distrust, LightClient};
use metatopia_protocol::{Answer, Link, ServerMessage, SnapshotOffer, decode_server};
use metatopia_sim::{Capsule, Tools, World};
use metatopia_types::{Certificate, Ed25519, Height, Turn};

pub use self::status::{Followed, Phase, Status, Want};
use self::{download::Download, follower::Follower};
use crate::{Fault, Trust};

/// Where a replica begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// With the first turn.
    Genesis,
    /// With the newest snapshot of a node; with the first turn where there is none yet.
    Snapshot,
}

/// What is under way.
#[derive(Debug)]
enum Stage {
    /// Set changes are followed, until the node knows of no other.
    Links,
    /// A snapshot is asked for.
    Offer,
    /// It is fetched.
    Parts(Box<Download>),
    /// Turns are applied.
    Following(Box<Follower>),
}

/// Applies every turn of a sim itself.
///
/// Sans-IO: [`Replica::want`] says what to ask a node, [`Replica::frame`] takes the answer. Nothing
/// is applied that more than two thirds of the voting power did not sign. That the acts of a turn
/// are signed by their authors is vouched for by them; what those acts did is not: it is computed
/// here.
#[derive(Debug)]
pub struct Replica {
    light: LightClient,
    tools: Tools,
    genesis: Arc<[u8]>,
    beginning: World,
    stage: Stage,
    /// Offers by servers that do not vote by what is known, since set changes were last followed.
    doubts: u32,
}

/// The set may change while an offer is on its way; that it does so twice in a row is a lie.
const DOUBTS_MAX: u32 = 2;

impl Replica {
    /// A replica that begins there. `genesis` is the one that is trusted, encoded.
    ///
    /// # Errors
    /// When the world of that genesis cannot be built, because a script of it does not compile.
    pub fn new(trust: Trust, genesis: Vec<u8>, begin: Begin) -> Result<Self, Fault> {
        let tools = Tools::new(Arc::new(Ed25519));
        let beginning =
            World::genesis(&trust.genesis, &tools).map_err(|error| Fault::new("genesis", error))?;
        let stage = match begin {
            Begin::Genesis => Stage::Following(Box::new(Follower::new(beginning.clone()))),
            Begin::Snapshot => Stage::Links,
        };
        let (light, genesis) = (trust.light, genesis.into());
        Ok(Self { light, tools, genesis, beginning, stage, doubts: 0 })
    }

    /// What to ask a node next. Nothing after a mismatch.
    #[must_use]
    pub fn want(&self) -> Option<Want> {
        match &self.stage {
            Stage::Links => {
                let after = self.light.newest().minus(1).unwrap_or_default();
                Some(Want::Links { after: after.0 })
            }
            Stage::Offer => Some(Want::Snapshot),
            Stage::Parts(download) => {
                Some(Want::Part { height: download.height().0, part: download.next_part() })
            }
            Stage::Following(follower) if follower.mismatch().is_some() => None,
            Stage::Following(follower) => {
                Some(Want::Turns { from: follower.world().height().plus(1).0 })
            }
        }
    }

    /// Takes a frame of a session in. What is no answer that it wants changes nothing.
    ///
    /// # Errors
    /// When the answer is none that an honest node gives; what was applied before stays.
    pub fn frame(&mut self, frame: &[u8]) -> Result<Followed, Fault> {
        let message = decode_server(frame).map_err(|error| Fault::new("frame", error))?;
        let before = self.height();
        if let ServerMessage::Answer { answer, .. } = message {
            self.answer(*answer)?;
        }
        let applied = self.height().0.saturating_sub(before.0);
        Ok(Followed { status: self.status(), applied })
    }

    fn answer(&mut self, answer: Answer) -> Result<(), Fault> {
        match (&mut self.stage, answer) {
            (Stage::Links, Answer::Links(links)) => self.links(&links),
            (Stage::Offer, Answer::Snapshot(offer)) => self.offer(*offer),
            // No root is certified yet, so the world is young.
            (Stage::Offer, Answer::Unknown) => {
                self.stage = Stage::Following(Box::new(Follower::new(self.beginning.clone())));
                Ok(())
            }
            (Stage::Parts(_), Answer::SnapshotPart(bytes)) => self.part(&bytes),
            // There is a newer one by now.
            (Stage::Parts(_), Answer::Unknown) => {
                self.stage = Stage::Offer;
                Ok(())
            }
            (Stage::Following(follower), Answer::Turns(turns)) => follower.follow(turns),
            _ => Ok(()),
        }
    }

    fn links(&mut self, links: &[Link]) -> Result<(), Fault> {
        let newest = self.light.newest();
        for link in links.iter().filter(|link| link.header.height >= newest) {
            self.light.follow(link).map_err(|distrust| Fault::new("links", distrust))?;
        }
        if self.light.newest() == newest {
            self.stage = Stage::Offer;
        }
        Ok(())
    }

    fn offer(&mut self, offer: SnapshotOffer) -> Result<(), Fault> {
        match self.light.believe(&offer.header, &offer.certificate) {
            Ok(()) => self.doubts = 0,
            Err(Distrust::OtherValidators(_)) if self.doubts < DOUBTS_MAX => {
                self.doubts = self.doubts.saturating_add(1);
                self.stage = Stage::Links;
                return Ok(());
            }
            Err(distrust) => return Err(Fault::new("snapshot", distrust)),
        }
        self.stage = Stage::Parts(Box::new(Download::new(offer)?));
        Ok(())
    }

    fn part(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let Stage::Parts(download) = &mut self.stage else {
            return Ok(());
        };
        let done = download.part(bytes, &self.tools);
        match done {
            Ok(None) => {}
            Ok(Some(world)) => self.stage = Stage::Following(Box::new(Follower::new(world))),
            Err(fault) => {
                self.stage = Stage::Offer;
                return Err(fault);
            }
        }
        Ok(())
    }

    fn height(&self) -> Height {
        match &self.stage {
            Stage::Following(follower) => follower.world().height(),
            _ => Height(0),
        }
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.stage {
            Stage::Links => Status::waiting(Phase::Links, &self.beginning),
            Stage::Offer => Status::waiting(Phase::Snapshot, &self.beginning),
            Stage::Parts(download) => Status {
                received: download.received(),
                bytes: download.bytes(),
                decided: download.height().0,
                ..Status::waiting(Phase::Snapshot, &self.beginning)
            },
            Stage::Following(follower) => Status::following(follower),
        }
    }

    /// The state some time ago, whose root was certified unless it is genesis, and the turns since.
    #[must_use]
    pub fn capsule(&self) -> Capsule {
        match &self.stage {
            Stage::Following(follower) => follower.capsule(&self.genesis),
            _ => Follower::new(self.beginning.clone()).capsule(&self.genesis),
        }
    }

    /// The world, once turns are applied.
    #[must_use]
    pub fn world(&self) -> Option<&World> {
        match &self.stage {
            Stage::Following(follower) => Some(follower.world()),
            _ => None,
        }
    }
}

/// A decided turn.
pub(crate) type Decided = (Turn, Certificate);
