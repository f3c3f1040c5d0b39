//! People: the roles that keys were given, whom moderators shut out or silenced, what they stopped, and
//! the record of all that was ordered.
//!
//! Only [`State::may`] says what follows from it. A list is never read as a whole in a turn: what ends
//! by time is found by an index.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{
    BlobId, Build, GovernOrder, GroundArea, Height, LotId, ObjectId, PublicKey, ReportSubject,
    RoleRight, Ruling, ScriptId, SetChange, SimId, Square, TicketOrder,
};
use serde::{Deserialize, Serialize};

use super::{
    authority::Warrant, bans::Sanction, clubs::Clubs, forgotten::Forgotten, friends::Friends,
    mailbox::Mailboxes, profiles::Profiles, reports::Reports, rotations::RotatedKey,
    traces::Traces,
};
use crate::{
    limits::{ENDINGS_PER_TURN_MAX, FROZEN_MAX, ORDERS_KEPT, ROLES_MAX},
    state::{State, World},
    tree::Tracked,
};

/// The rights that a key was given: for the whole sim, or for areas; never none at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// The rights for the whole sim, each with the terms on which it was given.
    pub rights: BTreeMap<RoleRight, GivenRight>,
    /// The rights for each area, which are never none.
    pub areas: BTreeMap<GroundArea, BTreeMap<RoleRight, GivenRight>>,
}

/// The terms on which a key has a right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRight {
    /// Who gave it.
    pub by: PublicKey,
    /// The governance time at which it ends; none if it is for good.
    pub until: Option<u64>,
}

/// A thing that a moderator stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenThing {
    /// Who ordered it.
    pub by: PublicKey,
    /// The scripts that stopped because of it, and that run again with the thing.
    pub scripts: Vec<ScriptId>,
}

/// The message of the day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Motd {
    /// What it says.
    pub text: String,
    /// Who set it.
    pub by: PublicKey,
}

/// Something that was done by more than everybody's right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedOrder {
    /// The turn that carried it out.
    pub height: Height,
    /// Who did it.
    pub by: PublicKey,
    /// What let that person do it.
    pub warrant: Warrant,
    /// What was done.
    pub deed: OrderedDeed,
}

/// What was done by more than everybody's right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OrderedDeed {
    /// An order about people.
    Govern(GovernOrder),
    /// A change of who votes.
    Servers(SetChange),
    /// An order about tickets.
    Ticket(TicketOrder),
    /// A change of the charter.
    Amend {
        /// The name of the value.
        name: String,
        /// The new value.
        value: String,
    },
    /// Building with a thing of somebody else, or on ground that is closed.
    Build {
        /// The thing; none if it was made.
        object: Option<ObjectId>,
        /// The step, in a word.
        step: String,
    },
    /// Source that only an admin may add.
    Publish,
    /// A border that was opened, closed or severed.
    Border {
        /// The order, in a word.
        word: String,
        /// The sim on the other side.
        neighbour: SimId,
    },
    /// A square of the world that was taken back.
    TakeBack {
        /// The square, which nobody holds afterwards.
        square: Square,
    },
    /// An order about a lot of somebody else, or a claim of closed ground.
    Lot {
        /// The order, in a word.
        word: String,
        /// The lot; none if it was claimed.
        lot: Option<LotId>,
    },
    /// What a key did to things was undone.
    Undo {
        /// The key that it is about.
        key: PublicKey,
        /// How many things are what they were.
        undone: u32,
        /// How many things stayed as they were, because a rule was against it.
        collided: u32,
    },
    /// A ruling on a report.
    Decide {
        /// The number of the report.
        report: u64,
        /// What the report is about.
        about: ReportSubject,
        /// Whether the report was right.
        ruling: Ruling,
        /// Why, in a line.
        reason: String,
    },
    /// Words were forgotten.
    Forget {
        /// The turn that brought them.
        height: Height,
        /// The blob that held them.
        body: BlobId,
        /// Who said them, if the state knew; nobody means a thing, or that it did not.
        person: Option<PublicKey>,
    },
}

/// Returns the word for a step of building.
pub(crate) fn build_word(build: &Build) -> (&'static str, Option<ObjectId>) {
    match build {
        Build::Place(_) => ("place", None),
        Build::Copy { object, .. } => ("copy", Some(*object)),
        Build::Move { object, .. } => ("move", Some(*object)),
        Build::Rotate { object, .. } => ("rotate", Some(*object)),
        Build::Resize { object, .. } => ("resize", Some(*object)),
        Build::Recolor { object, .. } => ("recolor", Some(*object)),
        Build::Rename { object, .. } => ("rename", Some(*object)),
        Build::Write { object, .. } => ("write", Some(*object)),
        Build::Give { object, .. } => ("give", Some(*object)),
        Build::Delete { object } => ("delete", Some(*object)),
        Build::Attach { object, .. } => ("attach", Some(*object)),
        Build::Detach { object, .. } => ("detach", Some(*object)),
        Build::Upgrade { object, .. } => ("upgrade", Some(*object)),
        Build::Resume { object, .. } => ("resume", Some(*object)),
        Build::LetTravel { object, .. } => ("let travel", Some(*object)),
        Build::Take { object } => ("take", Some(*object)),
        Build::PutDown { object, .. } => ("put down", Some(*object)),
        Build::Join { object, .. } => ("join", Some(*object)),
        Build::Unjoin { object, .. } => ("unjoin", Some(*object)),
        Build::MakeOf { object, .. } => ("make of", Some(*object)),
        Build::MakeSensor { object, .. } => ("make sensor", Some(*object)),
        Build::Unite { .. } => ("unite", None),
        Build::Stow { object } => ("stow", Some(*object)),
        Build::Fetch { object, .. } => ("fetch", Some(*object)),
        Build::Discard { object } => ("discard", Some(*object)),
        Build::Undo { .. } => ("undo", None),
    }
}

/// The kinds of what ends by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    Right(Option<GroundArea>, RoleRight),
    Ban,
    Mute,
}

/// What a sim keeps about people besides who they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct People {
    pub(crate) roles: Tracked<PublicKey, Role>,
    pub(crate) bans: Tracked<PublicKey, Sanction>,
    pub(crate) mutes: Tracked<PublicKey, Sanction>,
    pub(crate) frozen: Tracked<ObjectId, FrozenThing>,
    /// The keys that were given up, with those that took their places.
    pub(crate) rotated: Tracked<PublicKey, RotatedKey>,
    /// What was ordered, by number; the oldest go first.
    pub(crate) orders: Tracked<u64, RecordedOrder>,
    /// What people told moderators, and what was decided.
    pub(crate) reports: Reports,
    /// What things were before somebody changed them.
    pub(crate) traces: Traces,
    /// What people told each other that nobody else can read.
    pub(crate) mailboxes: Mailboxes,
    /// Whom people named as friends, for a lost key, and the recoveries under way.
    pub(crate) friends: Friends,
    /// The words that servers were told to drop.
    pub(crate) forgotten: Forgotten,
    /// People with channels of their own.
    pub(crate) clubs: Clubs,
    /// What people say of themselves.
    pub(crate) profiles: Profiles,
    /// Index: what ends by time.
    pub(super) endings: BTreeSet<(u64, Ending, PublicKey)>,
    /// Index: how many areas all roles have.
    pub(super) areas: usize,
}

impl People {
    /// Returns what a successor keeps: whom and what moderators stopped, and which keys were given
    /// up. Its admins are others, so nobody has a role any more, and its record, its queue, its traces and its
    /// mailboxes begin: words are sealed for one sim. Clubs, profiles and lists of friends go on, recoveries do
    /// not.
    pub(crate) fn succeed(&self) -> Self {
        let (roles, orders) = (Tracked::default(), Tracked::default());
        let (reports, traces) = (Reports::default(), Traces::default());
        let (mailboxes, forgotten) = (Mailboxes::default(), Forgotten::default());
        let mut kept =
            Self { roles, orders, reports, traces, mailboxes, forgotten, ..self.clone() };
        kept.friends.drop_recoveries();
        kept.index();
        kept
    }

    /// Marks everything as changed.
    pub(crate) fn touch_all(&mut self) {
        self.roles.touch_all();
        self.bans.touch_all();
        self.mutes.touch_all();
        self.frozen.touch_all();
        self.rotated.touch_all();
        self.orders.touch_all();
        self.reports.all.touch_all();
        self.traces.all.touch_all();
        self.mailboxes.all.touch_all();
        self.friends.all.touch_all();
        self.forgotten.all.touch_all();
        self.clubs.all.touch_all();
        self.profiles.touch_all();
    }

    /// Builds the index of what ends.
    pub(crate) fn index(&mut self) {
        let rights = self.roles.iter().flat_map(|(key, role)| {
            let each = |(area, right, given): (_, _, GivenRight)| {
                Some((given.until?, Ending::Right(area, right), *key))
            };
            role.all().filter_map(each)
        });
        let sanction = |kind: Ending| {
            move |(key, sanction): (&PublicKey, &Sanction)| Some((sanction.until?, kind, *key))
        };
        let bans = self.bans.iter().filter_map(sanction(Ending::Ban));
        let mutes = self.mutes.iter().filter_map(sanction(Ending::Mute));
        self.endings = rights.chain(bans).chain(mutes).collect();
        self.areas = self.roles.iter().map(|(_, role)| role.areas.len()).sum();
        self.reports.index();
        self.traces.index();
        self.mailboxes.index();
        self.friends.index();
        self.forgotten.index();
        self.clubs.index();
    }

    /// Says whether one more key may have a role.
    pub(crate) fn has_room_for_role(&self, key: &PublicKey) -> bool {
        self.roles.contains(key) || self.roles.len() < ROLES_MAX
    }

    /// Says whether one more thing may be frozen.
    pub(crate) fn has_room_for_frozen(&self) -> bool {
        self.frozen.len() < FROZEN_MAX
    }

    /// Takes the first thing that has ended at this time.
    fn take_ended(&mut self, time: u64) -> Option<(Ending, PublicKey)> {
        let (until, ending, key) = self.endings.first().copied()?;
        (until <= time).then_some((ending, key))
    }

    /// Records an order under this number, and forgets the oldest one if there are too many.
    pub(crate) fn record(&mut self, number: u64, order: RecordedOrder) {
        self.orders.insert(number, order);
        if let Some(oldest) = number.checked_sub(ORDERS_KEPT) {
            self.orders.remove(&oldest);
        }
    }
}

/// Says whether something that ends then is still so.
pub(super) fn lasts(until: Option<u64>, time: u64) -> bool {
    until.is_none_or(|until| until > time)
}

impl State {
    /// Ends what has lasted as long as it was to, those first that ended first. What is left over does not
    /// count any more, and goes in one of the next turns.
    pub(crate) fn end_by_time(&mut self) {
        self.people.traces.pass(self.governance.time);
        self.people.mailboxes.pass(self.governance.time);
        self.people.clubs.pass(self.governance.time);
        for _ in 0..ENDINGS_PER_TURN_MAX {
            let Some((ending, key)) = self.people.take_ended(self.governance.time) else { break };
            match ending {
                Ending::Right(area, right) => self.people.revoke(key, area, &[right].into()),
                Ending::Ban => self.recounted(key, |state| state.people.set_ban(key, None)),
                Ending::Mute => self.people.set_mute(key, None),
            }
        }
    }

    /// Records what somebody did by more than everybody's right.
    pub(crate) fn record_order(&mut self, order: RecordedOrder) {
        let number = self.governance.orders;
        self.governance.orders = number.saturating_add(1);
        self.people.record(number, order);
    }
}

impl World {
    /// Returns the role of a key, with rights that may have ended in this moment.
    #[must_use]
    pub fn role(&self, key: &PublicKey) -> Option<&Role> {
        self.state.people.roles.get(key)
    }

    /// Returns who froze a thing, if it is frozen.
    #[must_use]
    pub fn frozen(&self, object: ObjectId) -> Option<&FrozenThing> {
        self.state.people.frozen.get(&object)
    }

    /// Returns the keys after this one that have a role, are banned or are muted, ascending; at most so many.
    #[must_use]
    pub fn governed_after(&self, after: Option<PublicKey>, most: usize) -> Vec<PublicKey> {
        let people = &self.state.people;
        let first = after.unwrap_or(PublicKey([0; 32]));
        let roles = people.roles.after(first).map(|(key, _)| *key).take(most);
        let bans = people.bans.after(first).map(|(key, _)| *key).take(most);
        let mutes = people.mutes.after(first).map(|(key, _)| *key).take(most);
        let all: BTreeSet<PublicKey> = roles.chain(bans).chain(mutes).collect();
        all.into_iter().take(most).collect()
    }

    /// Returns the orders that the state remembers, the oldest first, with their numbers.
    pub fn orders(&self) -> impl Iterator<Item = (u64, &RecordedOrder)> {
        self.state.people.orders.iter().map(|(number, order)| (*number, order))
    }
}
