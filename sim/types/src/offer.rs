//! Offers: what a thing asks one person to agree to, because nothing may happen to people unasked.

use alloc::{collections::BTreeSet, string::String};

use serde::{Deserialize, Serialize};

use crate::ObjectId;

/// What a person agrees to who accepts an offer. The act that accepts repeats it whole, so nobody accepts
/// what was not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The thing that becomes the person's.
    pub give: Option<ObjectId>,
    /// The thing that the person hands over.
    pub take: Option<ObjectId>,
    /// What the person lets the thing do until the session ends.
    pub allow: BTreeSet<Permission>,
}

/// What a thing may do to a person who allowed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// It puts the person somewhere else.
    Move,
    /// It changes the colour that the person is drawn in.
    Dress,
}

impl Permission {
    /// All of them, with the words that scripts and people have for them.
    pub const ALL: [(&'static str, Self); 2] = [("move", Self::Move), ("dress", Self::Dress)];

    /// Returns the permission of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, permission)| *permission)
    }
}

/// An offer as a person is shown it: with the names of the things, which the sim fills in, so that no script
/// can call a thing what it is not called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownOffer {
    /// What the person agrees to.
    pub terms: Offer,
    /// The name of what is given; empty if nothing is.
    pub given: String,
    /// The name of what is taken; empty if nothing is.
    pub taken: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_permission_has_its_word() {
        for (word, permission) in Permission::ALL {
            assert_eq!(Permission::named(word), Some(permission));
        }
        assert_eq!(Permission::named("fly"), None);
    }
}
