//! Authority: who may do what. Every act asks once, before any other rule is looked at.
//!
//! Only this file knows who decides for the sim. A right says what kind of thing somebody does, a
//! target to what; the answer follows from the state alone.

use metatopia_types::{PublicKey, Refusal};

use crate::{
    space::{Area, Title, may_build},
    state::{Object, Publishers, State, World},
};

/// What kind of thing somebody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// To be there: to come, walk, touch, push, make gestures and leave.
    Attend,
    /// To say something.
    Speak,
    /// To show a fact that proves itself: that a standby has the state, that a server lied.
    Testify,
    /// To make, change, give away and delete things.
    Build,
    /// To put scripts on things, and to take them off.
    Script,
    /// To add source to the sim.
    Publish,
    /// To let new keys in.
    Admit,
    /// To order something of the land office, whose rules say what.
    Land,
    /// To say who votes.
    Servers,
    /// To change the charter of the sim and its agreed numbers.
    Charter,
}

/// To what somebody does it.
#[derive(Debug, Clone, Copy)]
pub struct ActTarget<'a> {
    /// The thing that is changed; none if it is about the sim, or about a thing that is made.
    pub thing: Option<&'a Object>,
    /// The ground that is covered afterwards, if it is new ground.
    pub ground: Option<Area>,
}

impl ActTarget<'_> {
    /// The sim as a whole.
    pub const SIM: Self = Self { thing: None, ground: None };
}

/// The rule by which somebody may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Denied {
    /// The sim has ended, as its charter says: nobody may do anything any more.
    #[error("the sim has ended")]
    Ended,
    /// Only an admin may do it: a permanent one, or the temp admin.
    #[error("only an admin may do this")]
    NotAdmin,
    /// Only a permanent admin may do it, so that a temp admin cannot keep the sim.
    #[error("only a permanent admin may do this")]
    NotPermanent,
    /// Only the owner of the thing, or an admin, may change it.
    #[error("it belongs to somebody else")]
    NotYours,
    /// Only those may publish source whom the charter lets.
    #[error("the sim does not let this author publish source")]
    NotPublisher,
    /// Only who has title to the ground, or an admin, may build there.
    #[error("the land there is neither open nor the author's")]
    ClosedLand,
}

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Ended => Self::SimEnded,
            Denied::NotAdmin => Self::NotAdmin,
            Denied::NotPermanent => Self::NotPermanent,
            Denied::NotYours => Self::NotYours,
            Denied::NotPublisher => Self::NotPublisher,
            Denied::ClosedLand => Self::ClosedLand,
        }
    }
}

impl State {
    /// Says whether somebody may do something of this kind to a target.
    ///
    /// # Errors
    /// The rule by which it is denied.
    pub(crate) fn may(
        &self,
        author: &PublicKey,
        right: Right,
        target: &ActTarget<'_>,
    ) -> Result<(), Denied> {
        if self.time_left().is_some_and(|left| left <= 0) {
            return Err(Denied::Ended);
        }
        let is_permanent = self.governance.admins.contains(author);
        let is_admin = is_permanent || self.governance.temp_admin == Some(*author);
        let require = |holds: bool, denied: Denied| if holds { Ok(()) } else { Err(denied) };
        match right {
            Right::Attend | Right::Speak | Right::Testify | Right::Land => Ok(()),
            Right::Build | Right::Script | Right::Publish if is_admin => Ok(()),
            Right::Publish => require(self.is_publisher(author), Denied::NotPublisher),
            Right::Build | Right::Script => {
                let owns = target.thing.is_none_or(|thing| thing.owner == Some(*author));
                require(owns, Denied::NotYours)?;
                require(
                    target.ground.is_none_or(|ground| self.may_cover(author, &ground)),
                    Denied::ClosedLand,
                )
            }
            Right::Admit | Right::Servers => require(is_admin, Denied::NotAdmin),
            Right::Charter => {
                require(is_admin, Denied::NotAdmin)?;
                require(is_permanent, Denied::NotPermanent)
            }
        }
    }

    /// Returns the milliseconds of governance time until the sim ends: see [`Governance::time_left`].
    fn time_left(&self) -> Option<i64> {
        self.governance.time_left(self.charter.parameters.ttl_seconds)
    }

    /// Says whether the charter lets somebody who is no admin publish source.
    fn is_publisher(&self, author: &PublicKey) -> bool {
        match self.charter.parameters.publishers {
            Publishers::Anybody => true,
            Publishers::Seen => {
                self.players.get(author).is_some_and(|player| player.since.regular.is_some())
            }
            Publishers::Builders => {
                self.charter.lands.iter().any(|land| land.title == Title::Player(*author))
            }
            Publishers::Admins => false,
        }
    }

    /// Says whether the ground is open to a player, or is the player's own.
    fn may_cover(&self, author: &PublicKey, ground: &Area) -> bool {
        let charter = &self.charter;
        may_build(&charter.lands, charter.parameters.building.open_ground, author, ground)
    }
}

impl World {
    /// Returns the milliseconds of governance time until the sim ends, below zero once it has ended; `None`
    /// if it never ends.
    #[must_use]
    pub fn time_left(&self) -> Option<i64> {
        self.state.time_left()
    }

    /// Says whether somebody may do something of this kind to a target after the last applied turn.
    ///
    /// # Errors
    /// The rule by which it is denied.
    pub fn may(
        &self,
        author: &PublicKey,
        right: Right,
        target: &ActTarget<'_>,
    ) -> Result<(), Denied> {
        self.state.may(author, right, target)
    }
}
