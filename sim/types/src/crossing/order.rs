//! What admins order about the borders of their sim.

use alloc::{boxed::Box, vec::Vec};

use metatopia_math::Vec2;
use serde::{Deserialize, Serialize};

use crate::{
    Blob, GenesisHead, ObjectId, SimId, limits,
    wire::{self, DecodeError},
};

/// An order about a border. It is a blob, which [`Act::Border`](crate::Act::Border) names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BorderOrder {
    /// Opens the border on this side. People cross once it is open on both.
    Open {
        /// The neighbour's, whose id is the neighbour's: it says where the neighbour lies, and who votes
        /// in its first turn.
        head: Box<GenesisHead>,
        /// Nothing, if that head names the world in which this sim lies now. Otherwise the heads of the land
        /// offices from that of this world back to the one that carried on the world which the head names: a
        /// genesis names its world for ever, and sims follow the successors of their land office. At most
        /// [`limits::BORDER_OFFICES_MAX`].
        offices: Vec<GenesisHead>,
        /// The middle of the portal that leads there, in metres of this sim. Squares that share an edge have a line
        /// and no portal; all others need one.
        portal: Option<Vec2>,
    },
    /// Closes the border on this side: nobody and nothing departs or is taken any more. What is under way
    /// is settled or comes back.
    Close {
        /// The sim to which it is closed.
        neighbour: SimId,
    },
    /// Gives up a neighbour that has been silent for a day. What is under way to it comes home; should the
    /// neighbour return, it removes what it had taken of that.
    Sever {
        /// The sim that is given up.
        neighbour: SimId,
    },
    /// Sends a thing back that came over the border, with what is joined to it, wherever it is and whether or not its
    /// owner lets it travel. The neighbour may refuse it, as anything that goes there.
    SendHome {
        /// The sim from which it came, or in which it was born.
        neighbour: SimId,
        /// Its number in this sim.
        object: ObjectId,
    },
}

/// Why an order about a border is refused.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
pub enum BorderRefusal {
    /// The blob is no order.
    #[error("that is no order about a border")]
    NoOrder,
    /// The head is of no sim.
    #[error("the head is of no sim")]
    BadHead,
    /// The neighbour would be the sim itself.
    #[error("a sim has no border to itself")]
    Itself,
    /// This sim, or the neighbour, lies in no world, or they lie in two.
    #[error(
        "a border is between two sims of one world; one of them lies in none, or in another that no land office \
         which the order shows carries on"
    )]
    OtherWorld,
    /// The two squares share no edge, and the order names no place for a portal.
    #[error(
        "the two squares share no edge, so there is no line to open; name a place for a portal"
    )]
    Apart,
    /// The sim has as many borders as it may have.
    #[error("the sim has {max} borders, and may have no more", max = limits::BORDERS_MAX)]
    TooMany,
    /// There is no border to that sim.
    #[error("there is no border to that sim; open it first")]
    NoBorder,
    /// The neighbour signed two states of one height, so the border stays closed.
    #[error("the neighbour signed two states of one height, so the border stays closed")]
    Frozen,
    /// The neighbour was heard of within the last day.
    #[error("the neighbour was heard of within the last day; only a silent one is given up")]
    NotSilent,
    /// The neighbour has not yet taken up the last severing.
    #[error("the neighbour was given up already, and has not been heard of since")]
    Severed,
    /// The two squares share an edge, and the order names a place for a portal.
    #[error(
        "the two squares share an edge, where people walk over the line; there is no portal between them"
    )]
    Touching,
    /// The portal would be too near to an edge of the ground, or outside of it.
    #[error(
        "that place is outside of the ground or too near to its edge; a portal is at least 4 m from every edge"
    )]
    PortalOutside,
    /// The portal would be too near to that to another neighbour.
    #[error("the portal to another neighbour is there; two of them are at least 6 m apart")]
    PortalTaken,
    /// The thing is not here, or came from elsewhere.
    #[error("that thing neither came over that border nor was born in that sim")]
    NoGuest,
    /// It is joined to something that came from elsewhere, to the ground, or to more than a parcel takes.
    #[error(
        "that thing is joined to something of this sim or of another, to the ground, or to more than goes at once"
    )]
    JoinedHere,
    /// Somebody has the thing in hand, or sits on it.
    #[error("somebody has that thing in hand or sits on it; wait until it is put down")]
    InUse,
    /// An admin, its spawner or an upgrade on trial holds the thing, or something that is joined to it.
    #[error("an admin, its spawner or an upgrade on trial holds that thing in this sim")]
    Held,
    /// It came over a border, and the sim that it came from has not settled that.
    #[error("that thing came just now, and the sim that it came from has not settled that yet")]
    JustCame,
    /// It has more than fits into a parcel.
    #[error(
        "that thing and what its scripts remember have more than {max} KiB, so it goes nowhere; freeze or delete it",
        max = limits::PARCEL_BYTES_MAX / 1_024
    )]
    TooLarge,
    /// The border is a wall now.
    #[error("the border is a wall now, so nothing goes over it; `metatopia border list` says why")]
    Walled,
}

impl BorderOrder {
    /// Returns the blob that the act names.
    #[must_use]
    pub fn blob(&self) -> Blob {
        Blob(wire::encode(self))
    }

    /// Returns the word for the order, and the sim on the other side.
    #[must_use]
    pub fn summary(&self) -> (&'static str, SimId) {
        match self {
            Self::Open { head, .. } => ("open", head.id()),
            Self::Close { neighbour } => ("close", *neighbour),
            Self::Sever { neighbour } => ("sever", *neighbour),
            Self::SendHome { neighbour, .. } => ("send home", *neighbour),
        }
    }

    /// Decodes the bytes of such a blob.
    ///
    /// # Errors
    /// When they are too many, or no order.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        wire::decode(bytes, limits::BORDER_ORDER_BYTES_MAX)
    }
}
