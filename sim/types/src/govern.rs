//! Orders about people and about what they left: roles, admins, bans, mutes, things that stand still.

use alloc::{collections::BTreeSet, string::String};

use serde::{Deserialize, Serialize};

use crate::{BlobId, ClubId, GroundArea, ObjectId, PublicKey, Ruling, Title};

/// A right that an admin gives to a key. A role is a set of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RoleRight {
    /// To change, give away and delete things of others.
    Build,
    /// To put scripts on things of others, and to add source to the sim.
    Script,
    /// To speak for the sim: to set its message of the day.
    Speak,
    /// To let new keys in by tickets, and to send people away, silence them and stop things.
    Moderate,
    /// To build on ground that is closed, or somebody else's.
    Land,
    /// To open and close the borders of the sim.
    Borders,
    /// To say who votes.
    Servers,
    /// To change the charter, and to give and take roles.
    Administer,
}

impl RoleRight {
    /// All of them, with the words that people have for them.
    pub const ALL: [(&'static str, Self); 8] = [
        ("build", Self::Build),
        ("script", Self::Script),
        ("speak", Self::Speak),
        ("moderate", Self::Moderate),
        ("land", Self::Land),
        ("borders", Self::Borders),
        ("servers", Self::Servers),
        ("administer", Self::Administer),
    ];

    /// Returns the right of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, right)| *right)
    }

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, right)| *right == self).map_or("", |(word, _)| word)
    }

    /// Says whether only a permanent admin gives and takes it, because by it the sim could be kept.
    #[must_use]
    pub const fn is_great(self) -> bool {
        matches!(self, Self::Borders | Self::Servers | Self::Administer)
    }

    /// Says whether a key may have it for an area alone. The acts that it opens are about a thing that stands
    /// somewhere, or about ground. What a script does ends at no edge, and words and people have no ground.
    #[must_use]
    pub const fn is_for_area(self) -> bool {
        matches!(self, Self::Build | Self::Moderate | Self::Land)
    }
}

/// What somebody who governs a sim orders. Times are seconds of governance time; none means for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GovernOrder {
    /// Gives a player rights. A right that the player has lasts for the new time.
    Grant {
        /// The player whom it is about.
        key: PublicKey,
        /// The rights, at least one.
        rights: BTreeSet<RoleRight>,
        /// For how long.
        seconds: Option<u32>,
    },
    /// Takes rights from a player.
    Revoke {
        /// The player whom it is about.
        key: PublicKey,
        /// The rights, each of which the player has.
        rights: BTreeSet<RoleRight>,
    },
    /// Makes a player a permanent admin.
    NameAdmin {
        /// The player whom it is about.
        key: PublicKey,
    },
    /// Makes a permanent admin a player as others are.
    RemoveAdmin {
        /// The admin, who is not the last one.
        key: PublicKey,
    },
    /// Ends a player's session. The player may come back.
    Kick {
        /// The player whom it is about.
        key: PublicKey,
    },
    /// Shuts a key out.
    Ban {
        /// The key, which may be new to the sim.
        key: PublicKey,
        /// For how long.
        seconds: Option<u32>,
        /// Why, in a line.
        reason: String,
    },
    /// Lets a key in again.
    Unban {
        /// The key that it is about.
        key: PublicKey,
    },
    /// Takes a key's voice.
    Mute {
        /// The key that it is about.
        key: PublicKey,
        /// For how long.
        seconds: Option<u32>,
        /// Why, in a line.
        reason: String,
    },
    /// Gives a key its voice back.
    Unmute {
        /// The key that it is about.
        key: PublicKey,
    },
    /// Stops a thing: its scripts do not run, and nobody pushes or changes it.
    Freeze {
        /// The thing that it is about.
        object: ObjectId,
    },
    /// Lets a frozen thing go on.
    Thaw {
        /// The thing that it is about.
        object: ObjectId,
    },
    /// Returns a thing to its owner: see [`WayBack`].
    Return {
        /// The thing that it is about.
        object: ObjectId,
    },
    /// Sets what everybody reads who comes; an empty text takes it away.
    Announce {
        /// A line of text.
        text: String,
    },
    /// Rules on a report that is open. Its reporter is told.
    Decide {
        /// The number of the report.
        report: u64,
        /// Whether the report was right.
        ruling: Ruling,
        /// Why, in a line.
        reason: String,
    },
    /// Undoes what a key did to things of late, as far as one act does.
    Undo {
        /// The key that it is about.
        key: PublicKey,
        /// Since how long ago.
        seconds: u32,
    },
    /// Gives a player rights that hold on some ground alone. A right that the player has there lasts for the new
    /// time.
    GrantArea {
        /// The player whom it is about.
        key: PublicKey,
        /// The rights, at least one; see [`RoleRight::is_for_area`].
        rights: BTreeSet<RoleRight>,
        /// The ground on which they hold.
        area: GroundArea,
        /// For how long.
        seconds: Option<u32>,
    },
    /// Takes rights from a player that hold on some ground alone.
    RevokeArea {
        /// The player whom it is about.
        key: PublicKey,
        /// The rights, each of which the player has there.
        rights: BTreeSet<RoleRight>,
        /// The very area for which they were given.
        area: GroundArea,
    },
    /// Sets the land of a name: who may build there. A new one lies on top of the others.
    SetLand {
        /// The name, which people read.
        name: String,
        /// The ground that it covers.
        area: GroundArea,
        /// Who may build there.
        title: Title,
    },
    /// Removes a land. What lies below it counts again.
    RemoveLand {
        /// The name of the land.
        name: String,
    },
    /// Ends a club, as somebody who has more to say than its owner.
    EndClub {
        /// The number of the club.
        club: ClubId,
    },
    /// Takes a person's profile away. The person may show a newer one.
    Unprofile {
        /// The player whom it is about.
        key: PublicKey,
    },
    /// Sets what people agree to before they enter. Who is here reads it when entering again.
    SetHouseRules {
        /// The words, in a blob of the act; none to ask nothing of anybody.
        text: Option<BlobId>,
    },
}

/// Where a thing goes that is returned to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WayBack {
    /// To its owner's own ground.
    Home,
    /// Into its owner's luggage, because she has no ground with room for it.
    Luggage,
    /// Out of the sim for good, because luggage does not take it either.
    OutOfSim,
}

impl GovernOrder {
    /// Returns the word by which people give this order.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Grant { .. } | Self::GrantArea { .. } => "grant",
            Self::Revoke { .. } | Self::RevokeArea { .. } => "revoke",
            Self::NameAdmin { .. } => "appoint",
            Self::RemoveAdmin { .. } => "dismiss",
            Self::Kick { .. } => "kick",
            Self::Ban { .. } => "ban",
            Self::Unban { .. } => "unban",
            Self::Mute { .. } => "mute",
            Self::Unmute { .. } => "unmute",
            Self::Freeze { .. } => "freeze",
            Self::Thaw { .. } => "thaw",
            Self::Return { .. } => "return",
            Self::Announce { .. } => "motd",
            Self::Decide { .. } => "decide",
            Self::Undo { .. } => "undo",
            Self::SetLand { .. } => "land set",
            Self::RemoveLand { .. } => "land remove",
            Self::EndClub { .. } => "club end",
            Self::Unprofile { .. } => "unprofile",
            Self::SetHouseRules { .. } => "house-rules",
        }
    }

    /// Returns whom it is about, if it is about somebody.
    #[must_use]
    pub const fn person(&self) -> Option<&PublicKey> {
        match self {
            Self::Grant { key, .. }
            | Self::Revoke { key, .. }
            | Self::GrantArea { key, .. }
            | Self::RevokeArea { key, .. }
            | Self::NameAdmin { key }
            | Self::RemoveAdmin { key }
            | Self::Kick { key }
            | Self::Ban { key, .. }
            | Self::Unban { key }
            | Self::Mute { key, .. }
            | Self::Undo { key, .. }
            | Self::Unprofile { key }
            | Self::Unmute { key } => Some(key),
            Self::Freeze { .. } | Self::Thaw { .. } | Self::Return { .. } => None,
            Self::Announce { .. } | Self::Decide { .. } | Self::SetHouseRules { .. } => None,
            Self::SetLand { .. } | Self::RemoveLand { .. } | Self::EndClub { .. } => None,
        }
    }

    /// Returns the ground on which alone the rights hold that it gives or takes; none if it is about none.
    #[must_use]
    pub const fn area(&self) -> Option<GroundArea> {
        match self {
            Self::GrantArea { area, .. } | Self::RevokeArea { area, .. } => Some(*area),
            _ => None,
        }
    }

    /// Returns the name of the land that it is about, if it is about one.
    #[must_use]
    pub fn land(&self) -> Option<&str> {
        match self {
            Self::SetLand { name, .. } | Self::RemoveLand { name } => Some(name),
            _ => None,
        }
    }

    /// Returns which thing it is about, if it is about one.
    #[must_use]
    pub const fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Freeze { object } | Self::Thaw { object } | Self::Return { object } => {
                Some(*object)
            }
            _ => None,
        }
    }
}
