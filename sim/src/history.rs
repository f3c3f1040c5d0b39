//! What builders did of late, and what takes it back.

use std::collections::VecDeque;

use metatopia_physics::{Aspect, Body};
use metatopia_types::{BodyShape, ObjectId, PackageId, ScriptId};
use serde::{Deserialize, Serialize};

use crate::{limits::DEEDS_MAX, object::Object};

/// Something that a builder did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// To this object.
    pub object: ObjectId,
    /// What takes it back.
    pub back: Back,
}

/// What takes a deed back. It restores what the deed changed and nothing else, so that whatever
/// happened to the object besides stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Back {
    /// Taking the object away.
    Raze,
    /// Making the object again.
    Rebuild(Box<Lost>),
    /// Making one aspect of its body what it was, and the outline that is drawn.
    Revert(Box<Body>, Aspect, BodyShape),
    /// The colour that it had.
    Recolor(u32),
    /// The name that it had.
    Rename(String),
    /// The text that it showed.
    Write(String),
    /// Taking a script off again.
    Detach(ScriptId),
    /// Putting a script on again. It begins anew.
    Attach(ScriptId, PackageId),
    /// Nothing does: it was given away.
    Nothing,
}

/// An object that was taken out of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// All of its fields.
    pub object: Object,
    /// Its body.
    pub body: Body,
    /// What its scripts ran, in the order of their ids. What they remembered is lost.
    pub packages: Vec<PackageId>,
}

/// The last deeds of one builder, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History(VecDeque<Deed>);

impl History {
    /// The deed before the last `skip` ones.
    #[must_use]
    pub fn deed(&self, skip: u8) -> Option<&Deed> {
        self.0.iter().rev().nth(usize::from(skip))
    }

    /// Adds a deed; the oldest one is forgotten if there are too many.
    pub(crate) fn add(&mut self, deed: Deed) {
        self.0.push_back(deed);
        if self.0.len() > DEEDS_MAX {
            self.0.pop_front();
        }
    }

    /// Takes the deed before the last `skip` ones, and forgets those.
    pub(crate) fn take(&mut self, skip: u8) -> Option<Deed> {
        let left = self.0.len().checked_sub(usize::from(skip))?;
        self.0.truncate(left);
        self.0.pop_back()
    }

    /// Are there no deeds?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
