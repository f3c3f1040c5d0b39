//! Offers that scripts make to people, and what people allowed.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
};

use metatopia_math::Vec2;
use metatopia_types::{
    ObjectId, Offer, Permission,
    limits::{CHAT_BYTES_MAX, FORM_TAG_BYTES_MAX},
};

use super::{
    ScriptContext,
    described::{DescribedField, DescribedFields},
    fields::{self, Fields, refused},
    gone,
};
use crate::{HostFault, NamedClub, ScriptEffect, Value, host::ValueKind, suggest::closest};

/// What an offer may say of itself.
pub(super) const OFFER: DescribedFields = DescribedFields {
    what: "an offer",
    fields: &[
        DescribedField::new("give", ValueKind::Object),
        DescribedField::new("take", ValueKind::Object),
        DescribedField::new("text", ValueKind::Text),
        DescribedField::new("tag", ValueKind::Text),
    ],
};

impl ScriptContext {
    /// Offers a person something: a thing that is given, one that is taken, or one for the other.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] for a field that there is not, an offer of nothing, or an object that is
    /// no avatar; [`crate::ErrorKind::Type`] for a value of another kind; [`crate::ErrorKind::Gone`] if the person
    /// or a thing is not there.
    pub fn offer(
        &mut self,
        who: ObjectId,
        offer: &BTreeMap<String, Value>,
    ) -> Result<(), HostFault> {
        self.person(who)?;
        let fields = Fields::new(&OFFER, offer)?;
        let (give, take) = (fields.object("give")?, fields.object("take")?);
        if give.is_none() && take.is_none() {
            return Err(refused("an offer gives a thing, takes one, or both".into()));
        }
        for thing in give.iter().chain(&take) {
            self.thing(*thing)?;
        }
        let text = fields.text("text", CHAT_BYTES_MAX)?.unwrap_or_default();
        let tag = fields.text("tag", FORM_TAG_BYTES_MAX)?.unwrap_or_default();
        let terms = Offer { give, take, allow: BTreeSet::new() };
        self.queue(ScriptEffect::Offer { who, terms: Box::new(terms), text, tag })
    }

    /// Asks a person for a permission, by its word.
    ///
    /// # Errors
    /// As [`ScriptContext::offer`]; [`crate::ErrorKind::Argument`] for a word that is no permission.
    pub fn ask(&mut self, who: ObjectId, what: &str) -> Result<(), HostFault> {
        self.person(who)?;
        let allow = BTreeSet::from([permission(what)?]);
        let terms = Offer { allow, ..Offer::default() };
        let (text, tag) = (String::new(), what.into());
        self.queue(ScriptEffect::Offer { who, terms: Box::new(terms), text, tag })
    }

    /// Says whether a person lets the own object do something.
    ///
    /// # Errors
    /// As [`ScriptContext::ask`].
    pub fn allowed(&self, who: ObjectId, what: &str) -> Result<bool, HostFault> {
        let permission = permission(what)?;
        self.person(who)?;
        Ok(self.view.allows(self.object, who, permission))
    }

    /// Says whether an object is the avatar of somebody who is in a club.
    #[must_use]
    pub fn is_member(&self, who: ObjectId, club: NamedClub<'_>) -> bool {
        self.view.is_member(who, club)
    }

    /// Puts a person who allows it somewhere else, where they stand still.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the person has not allowed it, or the object is no avatar;
    /// [`crate::ErrorKind::Gone`] if there is no such object.
    pub fn carry(&mut self, who: ObjectId, to: Vec2) -> Result<(), HostFault> {
        self.check_allowed(who, Permission::Move, "move")?;
        self.queue(ScriptEffect::Carry { who, to })
    }

    /// Changes the colour of a person who allows it, 0xRRGGBB.
    ///
    /// # Errors
    /// As [`ScriptContext::carry`]; [`crate::ErrorKind::Argument`] for a number outside 0 to 0xFFFFFF.
    pub fn dress(&mut self, who: ObjectId, color: i64) -> Result<(), HostFault> {
        self.check_allowed(who, Permission::Dress, "dress")?;
        let color = fields::color(color)?;
        self.queue(ScriptEffect::Dress { who, color })
    }

    fn check_allowed(
        &self,
        who: ObjectId,
        permission: Permission,
        word: &str,
    ) -> Result<(), HostFault> {
        self.person(who)?;
        if self.view.allows(self.object, who, permission) {
            return Ok(());
        }
        let name = self.view.object(who).map_or("", |person| person.name);
        Err(refused(format!("{name} has not allowed {word:?}: ask(who, {word:?}) first")))
    }

    /// Checks that an object is a thing, and nobody's avatar.
    fn thing(&self, id: ObjectId) -> Result<(), HostFault> {
        let thing = self.view.object(id).ok_or_else(|| gone(id))?;
        match thing.player {
            None => Ok(()),
            Some(_) => Err(refused(format!("{} is a person, and no thing to give", thing.name))),
        }
    }
}

pub(super) fn check_permission(word: &str) -> Result<(), HostFault> {
    permission(word).map(drop)
}

/// Returns the permission of a word.
fn permission(word: &str) -> Result<Permission, HostFault> {
    Permission::named(word).ok_or_else(|| {
        let hint = closest(word, Permission::ALL.iter().map(|(name, _)| *name));
        refused(format!("there is no permission {word:?}{hint}; there are move and dress"))
    })
}
