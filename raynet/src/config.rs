//! How a member of the overlay is set up, and what goes in and comes out.

use std::{sync::Arc, time::Duration};

use metatopia_types::{Height, PublicKey, SimId, Verify};

use crate::{
    DialBackMessage, Extent, LookupAnswer, OverlayEvidence, ProveLand, SignedSiteRecord, TilePoint,
};

/// What does not change while a member lives.
#[derive(Clone)]
pub struct OverlayConfig {
    /// The world that it takes part in.
    pub world: SimId,
    /// The member's own key in the overlay.
    pub peer: PublicKey,
    /// Where a member without a site looks from; one with a site lies in its square.
    pub vantage: TilePoint,
    /// The part of the plane in which the world lies.
    pub extent: Extent,
    /// Seeds its randomness. Nobody else may know it.
    pub seed: [u8; 32],
    /// The time between two exchanges of a member at rest with one of its neighbours is
    /// [`REST_EXCHANGE_CYCLES`](crate::pace::REST_EXCHANGE_CYCLES) of these.
    pub cycle: Duration,
    /// No map older than this counts: the invite's.
    pub map_from: Height,
    /// Checks the signatures of beacons.
    pub scheme: Arc<dyn Verify>,
    /// Opens the proofs of the map.
    pub land: Arc<dyn ProveLand>,
}

impl core::fmt::Debug for OverlayConfig {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("OverlayConfig")
            .field("world", &self.world)
            .field("peer", &self.peer)
            .field("vantage", &self.vantage)
            .field("extent", &self.extent)
            .field("cycle", &self.cycle)
            .field("map_from", &self.map_from)
            .finish_non_exhaustive()
    }
}

/// What happens to a member.
#[derive(Clone, Debug)]
pub enum OverlayInput {
    /// A frame came. The transport has made sure from whom.
    Frame {
        /// The sender's key.
        from: PublicKey,
        /// What it sent.
        bytes: Vec<u8>,
    },
    /// There is a connection to this peer, whoever began it.
    Up(PublicKey),
    /// The connection to this peer broke, or the peer is silent.
    Down(PublicKey),
    /// The peer closed the connection in order; it may well live.
    Closed(PublicKey),
    /// No connection to this peer could be made.
    DialFailed(PublicKey),
    /// Addresses to begin with: from an invite, or of the last time.
    Contacts(Vec<crate::SiteEndpoint>),
    /// The newest record of the own site. One that others would refuse for its form is passed over.
    Own(Box<SignedSiteRecord>),
    /// The proof of a shelf, from whoever has the map.
    Shelf(Vec<u8>),
    /// Somebody asks who owns a point.
    Lookup {
        /// Comes back with the answer.
        id: u64,
        /// The point whose owner is sought.
        point: TilePoint,
    },
    /// The deadline has come.
    Wake,
}

/// What a member wants to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OverlayEffect {
    /// Connect to this peer. What is sent to it meanwhile waits, and is dropped if it fails.
    Dial {
        /// Its key in the overlay.
        peer: PublicKey,
        /// Where it is.
        address: String,
    },
    /// Close the connection to this peer, in order.
    Close(PublicKey),
    /// Send a frame, of at most [`OVERLAY_FRAME_BYTES_MAX`](crate::limits::OVERLAY_FRAME_BYTES_MAX) bytes.
    Send {
        /// To this peer.
        to: PublicKey,
        /// The encoded message.
        frame: Vec<u8>,
    },
    /// The answer to a lookup.
    Found(Box<LookupAnswer>),
    /// Two signed things contradict each other; this was checked.
    Evidence(Box<OverlayEvidence>),
    /// Nobody who was asked had the map about this point.
    ShelfWanted(TilePoint),
    /// Somebody asks to be dialled back, or tells what came of it. The machine has no sockets.
    DialBack {
        /// Who said it.
        from: PublicKey,
        /// What was said.
        said: DialBackMessage,
    },
}
