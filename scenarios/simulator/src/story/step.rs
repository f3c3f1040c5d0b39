//! What happens in a story, resolved: orders to the world, and what people do.

use std::time::Duration;

use metatopia_sim::AMENDABLE;
use metatopia_types::{
    Act, Blob, Emote, Envelope, GovernOrder, Look, PublicKey, RoleRight, SetChange,
};

use super::file::Rudeness;
use super::units::{ServerTarget, span};
use crate::chance::Span;
use crate::class::Class;
use crate::cluster::ClusterOrder;
use crate::crash::UnsyncedWrites;
use crate::network::Links;
use crate::replica::{PersonProfile, ReplicaSetting, Trap, contact};

/// Something that happens at a moment.
#[derive(Debug, Clone)]
pub(super) enum StoryStep {
    /// To one server.
    Trouble(ServerTarget, Trouble),
    /// To all of them.
    World(WorldTrouble),
    /// Somebody looks who acts for the admins.
    Look,
    /// A person does something.
    Act { person: usize, does: PersonAction },
    /// A stranger, by number, connects to this server.
    Meet { stranger: usize, seat: usize },
    /// The stranger says who it is.
    Introduce { stranger: usize },
    /// The stranger does what it came for.
    Rude { stranger: usize },
}

/// Trouble of one server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trouble {
    Crash { tail: UnsyncedWrites, down: Duration },
    Kill,
    Start,
    Pause(Duration),
    Clock(i64),
    Slow { takes: Duration, until: Duration },
    DiskFull { room: u64, until: Duration },
    DiskFails { operation: u64, until: Duration },
}

impl Trouble {
    /// Returns what the world is ordered to do to the server in `seat` now, at `at`, and later.
    pub(super) fn orders(self, at: Duration, seat: usize) -> Vec<(Duration, ClusterOrder)> {
        let now = |order| vec![(at, order)];
        match self {
            Self::Crash { tail, down } => now(ClusterOrder::Crash { seat, tail, down }),
            Self::Kill => now(ClusterOrder::Kill(seat)),
            Self::Start => now(ClusterOrder::Start(seat)),
            Self::Pause(span) => now(ClusterOrder::Pause(seat, span)),
            Self::Clock(by) => now(ClusterOrder::SetClock(seat, by)),
            Self::Slow { takes, until } => {
                let span = Span { least: takes, most: takes };
                vec![
                    (at, ClusterOrder::Slow(seat, Some(span))),
                    (until, ClusterOrder::Slow(seat, None)),
                ]
            }
            Self::DiskFull { room, until } => {
                vec![
                    (at, ClusterOrder::DiskFull(seat, room)),
                    (until, ClusterOrder::DiskMends(seat)),
                ]
            }
            Self::DiskFails { operation, until } => {
                vec![
                    (at, ClusterOrder::DiskFails(seat, operation)),
                    (until, ClusterOrder::DiskMends(seat)),
                ]
            }
        }
    }
}

/// Trouble of all servers, or of the links between them.
#[derive(Debug, Clone)]
pub(super) enum WorldTrouble {
    PowerLoss { tail: UnsyncedWrites, down: Duration, stagger: Duration },
    Split { group: Vec<usize>, until: Duration },
    OneWay { from: usize, to: usize, until: Duration },
    Weather { links: Links, then: Links, until: Duration },
}

impl WorldTrouble {
    pub(super) fn orders(self, at: Duration) -> Vec<(Duration, ClusterOrder)> {
        match self {
            Self::PowerLoss { tail, down, stagger } => {
                vec![(at, ClusterOrder::PowerLoss { tail, down, stagger })]
            }
            Self::Split { group, until } => {
                vec![(at, ClusterOrder::Split(group)), (until, ClusterOrder::Mend(Class::Split))]
            }
            Self::OneWay { from, to, until } => {
                vec![(at, ClusterOrder::Cut(from, to)), (until, ClusterOrder::Mend(Class::OneWay))]
            }
            Self::Weather { links, then, until } => {
                vec![(at, ClusterOrder::Links(links)), (until, ClusterOrder::Links(then))]
            }
        }
    }
}

/// Somebody who comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visitor {
    pub(super) number: u64,
    pub(super) seat: usize,
    pub(super) from: Duration,
    pub(super) manner: PersonProfile,
}

/// Somebody who does not behave.
#[derive(Debug, Clone, Copy)]
pub(super) struct StrangerAction {
    pub(super) seat: usize,
    pub(super) does: Rudeness,
}

const EMOTES: &[(&str, Emote)] = &[
    ("wave", Emote::Wave),
    ("nod", Emote::Nod),
    ("dance", Emote::Dance),
    ("bow", Emote::Bow),
    ("laugh", Emote::Laugh),
];

/// What a story has somebody do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PersonAction {
    Emote(Emote),
    Heartbeat,
    Say(String),
    /// Loses the line to the server, and comes back after this time.
    Vanish(Duration),
    /// Makes the server in this seat a standby.
    Promote(usize),
    /// Makes it a standby in reserve.
    Reserve(usize),
    /// Takes its vote, or its place among the standbys.
    Demote(usize),
    /// Logs in anew.
    Login,
    /// Orders something about a person.
    Order(PersonOrder, u64),
    /// Changes an agreed number of the sim.
    Set {
        name: String,
        value: String,
    },
}

/// What somebody orders about a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PersonOrder {
    Appoint,
    Dismiss,
    Kick,
    Ban,
    Unban,
    Mute,
    Unmute,
    Grant(RoleRight),
    Revoke(RoleRight),
}

/// The orders that take a person alone.
const ORDERS: &[(&str, PersonOrder)] = &[
    ("appoint", PersonOrder::Appoint),
    ("dismiss", PersonOrder::Dismiss),
    ("kick", PersonOrder::Kick),
    ("ban", PersonOrder::Ban),
    ("unban", PersonOrder::Unban),
    ("mute", PersonOrder::Mute),
    ("unmute", PersonOrder::Unmute),
];

impl PersonOrder {
    /// Reads such as `ban 2` or `grant moderate 2`.
    fn read(verb: &str, rest: &str) -> Option<(Self, u64)> {
        if let Some((_, order)) = ORDERS.iter().find(|(word, _)| *word == verb) {
            return Some((*order, rest.parse().ok()?));
        }
        let (right, person) = rest.split_once(' ')?;
        let (right, person) = (RoleRight::of(right)?, person.parse().ok()?);
        match verb {
            "grant" => Some((Self::Grant(right), person)),
            "revoke" => Some((Self::Revoke(right), person)),
            _ => None,
        }
    }

    fn order(self, key: PublicKey) -> GovernOrder {
        let (seconds, reason) = (None, String::new());
        match self {
            Self::Appoint => GovernOrder::NameAdmin { key },
            Self::Dismiss => GovernOrder::RemoveAdmin { key },
            Self::Kick => GovernOrder::Kick { key },
            Self::Ban => GovernOrder::Ban { key, seconds, reason },
            Self::Unban => GovernOrder::Unban { key },
            Self::Mute => GovernOrder::Mute { key, seconds, reason },
            Self::Unmute => GovernOrder::Unmute { key },
            Self::Grant(right) => GovernOrder::Grant { key, rights: [right].into(), seconds },
            Self::Revoke(right) => GovernOrder::Revoke { key, rights: [right].into() },
        }
    }
}

impl PersonAction {
    /// Reads such as `wave`, `say hello` or `promote 4`.
    pub(super) fn read(words: &str, seats: usize) -> Result<Self, String> {
        let wrong = || {
            let emotes: Vec<&str> = EMOTES.iter().map(|(name, _)| *name).collect();
            format!(
                "nobody can do {words:?}; there are {}, heartbeat, login, say WORDS, vanish TIME, for \
                 who may, appoint, dismiss, kick, ban, unban, mute, unmute PERSON, grant, revoke RIGHT \
                 PERSON and set NAME VALUE, and for person 0, the admin, promote N, reserve N and demote \
                 N, with N the number of a server below {seats}",
                emotes.join(", ")
            )
        };
        if let Some((_, emote)) = EMOTES.iter().find(|(name, _)| *name == words) {
            return Ok(Self::Emote(*emote));
        }
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        let seat = || rest.parse().ok().filter(|seat| *seat < seats).ok_or_else(wrong);
        match verb {
            "heartbeat" if rest.is_empty() => Ok(Self::Heartbeat),
            "login" if rest.is_empty() => Ok(Self::Login),
            "say" if !rest.is_empty() => Ok(Self::Say(rest.to_owned())),
            "vanish" => span(rest).map(Self::Vanish).map_err(|_| wrong()),
            "promote" => Ok(Self::Promote(seat()?)),
            "reserve" => Ok(Self::Reserve(seat()?)),
            "demote" => Ok(Self::Demote(seat()?)),
            "set" => Self::read_set(rest).ok_or_else(wrong),
            _ => {
                let read = PersonOrder::read(verb, rest).ok_or_else(wrong);
                read.map(|(order, person)| Self::Order(order, person))
            }
        }
    }

    /// Reads such as `admin_days 2`.
    fn read_set(rest: &str) -> Option<Self> {
        let (name, value) = rest.split_once(' ')?;
        let is_whole = value.parse::<u64>().is_ok() && AMENDABLE.contains(&name);
        is_whole.then(|| Self::Set { name: name.to_owned(), value: value.to_owned() })
    }

    /// The act, and the words that belong to it; nothing for who does none.
    pub(super) fn act(
        &self,
        person: usize,
        setting: &ReplicaSetting,
    ) -> Option<(Act, Option<&str>)> {
        let login = || Act::login(format!("somebody {person}"), Look::default());
        let change = |change| (Act::SetChange(change), None);
        Some(match self {
            Self::Vanish(_) => return None,
            Self::Emote(emote) => (Act::Emote(*emote), None),
            Self::Heartbeat => (Act::Heartbeat, None),
            Self::Login => (login(), None),
            Self::Order(order, person) => {
                (Act::Govern(order.order(setting.player(*person).public())), None)
            }
            Self::Set { name, value } => {
                (Act::Amend { name: name.clone(), value: value.clone() }, None)
            }
            Self::Say(words) => {
                let body = Blob(words.as_bytes().to_vec()).id();
                (Act::Say { channel: 0, body }, Some(words))
            }
            Self::Promote(seat) => {
                let (key, contact) = (setting.name(*seat), contact(*seat));
                change(SetChange::Add { key, contact })
            }
            Self::Reserve(seat) => {
                let (key, contact) = (setting.name(*seat), contact(*seat));
                change(SetChange::Reserve { key, contact })
            }
            Self::Demote(seat) => change(SetChange::Remove { key: setting.name(*seat) }),
        })
    }
}

macro_rules! poisons {
    ($($word:literal: $act:pat,)+) => {
        /// Acts that may be poison: applying them panics.
        pub(super) const POISONS: &[(&str, Trap)] = &[$(
            ($word, |envelope: &Envelope| matches!(envelope.act, $act)),
        )+];
    };
}

poisons! {
    "wave": Act::Emote(Emote::Wave),
    "nod": Act::Emote(Emote::Nod),
    "dance": Act::Emote(Emote::Dance),
    "bow": Act::Emote(Emote::Bow),
    "laugh": Act::Emote(Emote::Laugh),
    "heartbeat": Act::Heartbeat,
    "walk": Act::Walk { .. },
    "push": Act::Push { .. },
    "touch": Act::Touch { .. },
    "say": Act::Say { .. },
    "promote": Act::SetChange(SetChange::Add { .. }),
}

#[cfg(test)]
mod tests {
    use super::{PersonAction, PersonOrder};
    use metatopia_types::Emote;
    use metatopia_types::RoleRight;
    use std::time::Duration;

    #[test]
    fn deeds_are_read_as_they_are_said() {
        assert_eq!(PersonAction::read("wave", 4), Ok(PersonAction::Emote(Emote::Wave)));
        assert_eq!(
            PersonAction::read("say hello there", 4),
            Ok(PersonAction::Say("hello there".to_owned()))
        );
        assert_eq!(
            PersonAction::read("vanish 2s", 4),
            Ok(PersonAction::Vanish(Duration::from_secs(2)))
        );
        assert_eq!(PersonAction::read("promote 4", 5), Ok(PersonAction::Promote(4)));
        assert_eq!(PersonAction::read("ban 2", 4), Ok(PersonAction::Order(PersonOrder::Ban, 2)));
        assert_eq!(
            PersonAction::read("grant moderate 2", 4),
            Ok(PersonAction::Order(PersonOrder::Grant(RoleRight::Moderate), 2))
        );
        let (name, value) = ("admin_days".to_owned(), "2".to_owned());
        assert_eq!(
            PersonAction::read("set admin_days 2", 4),
            Ok(PersonAction::Set { name, value })
        );
        for words in [
            "ban",
            "grant all 2",
            "login 1",
            "set admin_days",
            "set admin_days two",
            "set nothing 2",
            "",
            "wav",
            "say",
            "vanish 2",
            "promote",
            "promote 5",
            "demote -1",
            "heartbeat 1",
        ] {
            assert!(
                PersonAction::read(words, 5).is_err_and(|why| why.contains("promote N")),
                "{words}"
            );
        }
    }
}
