//! Reasons by which a sim lets somebody or something not in.

use serde::{Deserialize, Serialize};

/// Why a sim gives somebody who approaches no pass.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum PassRefusal {
    /// The sim has ended, or its border is closed.
    #[error("the border is closed on this side; an admin of this sim opens it")]
    Closed,
    /// Every place in the sim is taken.
    #[error("every place there is taken; wait for somebody to leave")]
    Full,
    /// The key is there already, with an avatar.
    #[error("this key is there already; leave there first, or go on there")]
    Here,
    /// A moderator shut the key out since it got its pass.
    #[error("this key is banned there")]
    Banned,
}

/// Why a sim took back nobody and nothing of a departure.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum TravelRefusal {
    /// The deadline had passed when the departure was heard of.
    #[error("the deadline had passed when the departure was heard of")]
    Late,
    /// The border is closed on the other side.
    #[error("the border is closed on the other side")]
    Closed,
    /// The person has no pass there.
    #[error("the person has no pass there")]
    NoPass,
    /// Every place there is taken.
    #[error("every place there is taken")]
    Full,
    /// The person or thing is there already.
    #[error("the person or thing is there already")]
    Here,
    /// The parcel is none, is of a later format, or breaks a rule.
    #[error("the parcel is of a later format, or breaks a rule")]
    BadParcel,
    /// The thing is larger than things may be there.
    #[error("the thing is larger than things may be there")]
    TooLarge,
    /// As much came over that border as may stand there.
    #[error("as much came over that border as may stand there")]
    ShareFull,
    /// The sim takes things only from sims of more servers.
    #[error("the sim takes things only from sims of more servers, as `things_from_servers` says")]
    FewServers,
    /// The person is banned there.
    #[error("the person is banned there")]
    Banned,
}

impl TravelRefusal {
    /// Returns the word that scripts are told.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Closed => "closed",
            Self::NoPass => "no pass",
            Self::Full => "full",
            Self::Here => "here",
            Self::BadParcel => "bad parcel",
            Self::TooLarge => "too large",
            Self::ShareFull => "share full",
            Self::FewServers => "few servers",
            Self::Banned => "banned",
        }
    }
}

/// Why somebody or something that departed came home.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum HomeReason {
    /// The neighbour refused it.
    #[error(transparent)]
    Refused(TravelRefusal),
    /// The neighbour is past the deadline, and did not judge it.
    #[error("the sim over there did not answer in time")]
    Deadline,
    /// The neighbour was given up.
    #[error("an admin of this sim gave up the one over there")]
    Severed,
}

impl HomeReason {
    /// Returns the word that scripts are told.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Refused(why) => why.word(),
            Self::Deadline => "late",
            Self::Severed => "severed",
        }
    }
}

/// Why a thing in somebody's hands does not go over a border with her.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum HandRefusal {
    /// Nobody let it travel.
    #[error("its owner did not let it travel, with all that is joined to it; it stays at the line")]
    NotLetGo,
    /// Something holds it in this sim.
    #[error(
        "a joint with the ground or with too much, an admin, its spawner or an upgrade on trial \
         holds it in this sim; it stays at the line"
    )]
    HeldFast,
    /// It does not fit into one parcel with her and the things before it.
    #[error(
        "with you and what you bring besides it has more than {max} KiB; it stays at the line",
        max = crate::limits::PARCEL_BYTES_MAX / 1_024
    )]
    TooMuch,
    /// The other sim has not answered yet, and the line is a wall until it has.
    #[error("the sim over there has not said yet whether it may come; wait, or leave it")]
    Unanswered,
    /// The other sim does not take it.
    #[error("the sim over there does not take it: {0}; it stays at the line")]
    There(TravelRefusal),
    /// It came over a border, and the sim that it came from has not settled that.
    #[error("it came over a border just now, and stays until the sim over there has settled that")]
    JustCame,
}
