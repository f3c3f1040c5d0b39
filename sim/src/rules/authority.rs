//! Authority: who may do what. Every act asks once, before any other rule is looked at.
//!
//! Only this file knows who decides for the sim. A right says what kind of thing somebody does, a
//! target to what; the answer follows from the state alone.

use metatopia_types::{PublicKey, Refusal, RoleRight, Title};
use serde::{Deserialize, Serialize};

use crate::{
    space::{Area, may_build},
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
    /// To take back a square of the world whose sim never ran.
    TakeBack,
    /// To say who votes.
    Servers,
    /// To change the charter of the sim and its agreed numbers.
    Charter,
    /// To open and close the borders of the sim.
    Borders,
    /// To name permanent admins and to remove them, and to give and take the great rights of roles.
    Appoint,
    /// To give and take the other rights of roles.
    Administer,
    /// To send people away, to silence them, and to stop things or return them.
    Moderate,
    /// To set the message of the day.
    Announce,
    /// To take ground as a lot, and to order something about one.
    Lot,
}

/// What lets somebody do a thing, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Warrant {
    /// What everybody may, or the owner.
    Own,
    /// A right that the key was given.
    Role,
    /// What the temp admin may.
    Temp,
    /// What permanent admins may.
    Permanent,
}

impl Warrant {
    /// Returns the words for it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Own => "as everybody may",
            Self::Role => "by a role",
            Self::Temp => "as temp admin",
            Self::Permanent => "as admin",
        }
    }
}

/// How much somebody has to say in a sim, from the least to the most. Nobody orders anything about who has
/// as much to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Player,
    Warden,
    Moderator,
    Steward,
    TempAdmin,
    Admin,
}

/// To what somebody does it.
#[derive(Debug, Clone, Copy)]
pub struct ActTarget<'a> {
    /// The thing that is changed; none if it is about the sim, or about a thing that is made.
    pub thing: Option<&'a Object>,
    /// The ground that is covered afterwards, if it is new ground.
    pub ground: Option<Area>,
    /// Whether a moderator stopped the thing.
    pub frozen: bool,
    /// The person whom it is about.
    pub person: Option<&'a PublicKey>,
    /// The ground on which a right for an area must hold; none if only a right for the whole sim lets it.
    pub whereabouts: Option<ActGround>,
}

/// Where something stands that an act changes, before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActGround {
    /// The ground that it covers now.
    pub before: Area,
    /// The ground that it covers then, or that of what it is joined to.
    pub after: Area,
}

impl ActGround {
    /// Returns those of something that stays where it is.
    #[must_use]
    pub const fn at(ground: Area) -> Self {
        Self { before: ground, after: ground }
    }
}

impl ActTarget<'_> {
    /// The sim as a whole.
    pub const SIM: Self =
        Self { thing: None, ground: None, frozen: false, person: None, whereabouts: None };
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
    /// A moderator shut the key out.
    #[error("the key is banned from this sim")]
    Banned,
    /// The key was given up for this one.
    #[error("the key was rotated to {0}")]
    Rotated(PublicKey),
    /// A moderator took the author's voice.
    #[error("a moderator muted the author")]
    Muted,
    /// Only those may do it to whom a role gives the right, and admins.
    #[error("the author has no such right; an admin gives it by a role")]
    NoRight,
    /// Only those may do it who have more to say than the person, or the owner of the thing.
    #[error("that person has as much to say here as the author")]
    Outranked,
    /// Only moderators change a thing that one of them stopped.
    #[error("a moderator froze it")]
    Frozen,
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
            Denied::Banned => Self::Banned,
            Denied::Rotated(to) => Self::Rotated(to),
            Denied::Muted => Self::Muted,
            Denied::NoRight => Self::NoRight,
            Denied::Outranked => Self::Outranked,
            Denied::Frozen => Self::Frozen,
        }
    }
}

impl State {
    /// Says whether somebody may do something of this kind to a target, and by what.
    ///
    /// # Errors
    /// The rule by which it is denied.
    pub(crate) fn may(
        &self,
        author: &PublicKey,
        right: Right,
        target: &ActTarget<'_>,
    ) -> Result<Warrant, Denied> {
        if self.time_left().is_some_and(|left| left <= 0) {
            return Err(Denied::Ended);
        }
        let time = self.governance.time;
        self.check_not_banned(author, right)?;
        match right {
            Right::Speak if self.people.mute(author, time).is_some() => Err(Denied::Muted),
            Right::Attend | Right::Speak | Right::Testify | Right::Land => Ok(Warrant::Own),
            Right::Publish if self.is_publisher(author) => Ok(Warrant::Own),
            Right::Publish => self.by(author, Some(RoleRight::Script), Denied::NotPublisher),
            Right::Build | Right::Script => self.may_build_with(author, right, target),
            Right::Lot => self.may_order_lot(author, target),
            Right::Admit => self.by(author, Some(RoleRight::Moderate), Denied::NotAdmin),
            Right::Servers => self.by(author, Some(RoleRight::Servers), Denied::NotAdmin),
            Right::Charter => self.by_permanent(author, Some(RoleRight::Administer)),
            Right::Borders => self.by_permanent(author, Some(RoleRight::Borders)),
            Right::TakeBack => self.by(author, None, Denied::NotAdmin),
            Right::Appoint => self.by_permanent(author, None),
            Right::Announce => self.by(author, Some(RoleRight::Speak), Denied::NoRight),
            Right::Administer => {
                let warrant = self.by(author, Some(RoleRight::Administer), Denied::NoRight)?;
                self.check_rank(author, target).map(|()| warrant)
            }
            Right::Moderate => {
                let on = target.whereabouts;
                let warrant = self.by_on(author, RoleRight::Moderate, on, Denied::NoRight)?;
                self.check_rank(author, target).map(|()| warrant)
            }
        }
    }

    /// Says whether somebody may build with a target, or put scripts on it.
    fn may_build_with(
        &self,
        author: &PublicKey,
        right: Right,
        target: &ActTarget<'_>,
    ) -> Result<Warrant, Denied> {
        let role = if right == Right::Script { RoleRight::Script } else { RoleRight::Build };
        let mut warrant = self.may_change_frozen(author, target)?;
        if target.thing.is_some_and(|thing| thing.owner != Some(*author)) {
            let by = self.by_on(author, role, target.whereabouts, Denied::NotYours)?;
            warrant = warrant.max(by);
        }
        // What is in luggage stands nowhere: no right for an area lets anybody change it.
        if target.person.is_some_and(|owner| owner != author) {
            warrant = warrant.max(self.by(author, Some(role), Denied::NotYours)?);
        }
        Ok(warrant.max(self.may_cover_target(author, target)?))
    }

    /// Says whether somebody may change a target that a moderator may have stopped.
    fn may_change_frozen(
        &self,
        author: &PublicKey,
        target: &ActTarget<'_>,
    ) -> Result<Warrant, Denied> {
        if !target.frozen {
            return Ok(Warrant::Own);
        }
        self.by_on(author, RoleRight::Moderate, target.whereabouts, Denied::Frozen)
    }

    /// Says whether somebody may cover the new ground of a target. What stood elsewhere before is no matter of
    /// that ground.
    fn may_cover_target(
        &self,
        author: &PublicKey,
        target: &ActTarget<'_>,
    ) -> Result<Warrant, Denied> {
        match target.ground {
            Some(ground) if !self.may_cover(author, &ground) => {
                let on = Some(ActGround::at(ground));
                self.by_on(author, RoleRight::Land, on, Denied::ClosedLand)
            }
            _ => Ok(Warrant::Own),
        }
    }

    /// Says whether somebody may take the ground of a target as a lot, or order something about the lot of
    /// the person.
    fn may_order_lot(&self, author: &PublicKey, target: &ActTarget<'_>) -> Result<Warrant, Denied> {
        let mut warrant = self.may_change_frozen(author, target)?;
        if target.person.is_some_and(|holder| holder != author) {
            let on = target.whereabouts;
            warrant = warrant.max(self.by_on(author, RoleRight::Land, on, Denied::NotYours)?);
            self.check_rank(author, target)?;
        }
        Ok(warrant.max(self.may_cover_target(author, target)?))
    }

    /// Returns that by which somebody does what admins may, and those who have this right for the whole sim, or
    /// on all the ground of something before and after the act.
    fn by_on(
        &self,
        author: &PublicKey,
        role: RoleRight,
        on: Option<ActGround>,
        denied: Denied,
    ) -> Result<Warrant, Denied> {
        let (people, time) = (&self.people, self.governance.time);
        let has_on = |ground: &Area| people.has_right_on(author, role, ground, time);
        match self.by(author, Some(role), denied) {
            Err(_) if on.is_some_and(|on| has_on(&on.before) && has_on(&on.after)) => {
                Ok(Warrant::Role)
            }
            told => told,
        }
    }

    /// Returns that by which somebody does what admins may, and those who were given this right.
    fn by(
        &self,
        author: &PublicKey,
        role: Option<RoleRight>,
        denied: Denied,
    ) -> Result<Warrant, Denied> {
        if self.governance.admins.contains(author) {
            return Ok(Warrant::Permanent);
        }
        if self.governance.temp_admin == Some(*author) {
            return Ok(Warrant::Temp);
        }
        let time = self.governance.time;
        let has = role.is_some_and(|role| self.people.has_right(author, role, time));
        if has { Ok(Warrant::Role) } else { Err(denied) }
    }

    /// Returns that by which somebody does what permanent admins may, and those to whom one of them gave
    /// this right. A temp admin may not.
    fn by_permanent(&self, author: &PublicKey, role: Option<RoleRight>) -> Result<Warrant, Denied> {
        let time = self.governance.time;
        let has = role.is_some_and(|role| self.people.has_right(author, role, time));
        match self.by(author, role, Denied::NotAdmin)? {
            Warrant::Temp if has => Ok(Warrant::Role),
            Warrant::Temp => Err(Denied::NotPermanent),
            warrant => Ok(warrant),
        }
    }

    /// Returns how much somebody has to say here.
    pub(crate) fn rank(&self, key: &PublicKey) -> Rank {
        let has = |right| self.people.has_right(key, right, self.governance.time);
        if self.governance.admins.contains(key) {
            Rank::Admin
        } else if self.governance.temp_admin == Some(*key) {
            Rank::TempAdmin
        } else if has(RoleRight::Administer) {
            Rank::Steward
        } else if has(RoleRight::Moderate) {
            Rank::Moderator
        } else if has(RoleRight::Land) || self.people.has_area(key, self.governance.time) {
            Rank::Warden
        } else {
            Rank::Player
        }
    }

    /// Checks that the author has more to say than the person, or the owner of the thing. What is the sim's
    /// own is as an administrator's, and permanent admins stop each other's things.
    fn check_rank(&self, author: &PublicKey, target: &ActTarget<'_>) -> Result<(), Denied> {
        let own = self.rank(author);
        let over = |person: &PublicKey| own > self.rank(person);
        let person = target.person.is_none_or(over);
        let thing = target.thing.is_none_or(|thing| match &thing.owner {
            Some(owner) => owner == author || own == Rank::Admin || over(owner),
            None => own > Rank::Steward,
        });
        if person && thing { Ok(()) } else { Err(Denied::Outranked) }
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
    pub(crate) fn may_cover(&self, author: &PublicKey, ground: &Area) -> bool {
        let charter = &self.charter;
        let open = charter.parameters.building.open_ground;
        let clubs = self.people.clubs.of(author).collect();
        may_build(&charter.lands, self.lots.iter(), open, (author, &clubs), ground)
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
        self.state.may(author, right, target).map(drop)
    }
}
