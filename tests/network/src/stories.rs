//! What is done to servers, and what must hold all the same.
//!
//! In every story players act meanwhile, and at its end no act with a receipt may be missing on any
//! server, and all servers state one root.

mod crashes;
mod guests;
mod hostile;
mod hosts;
mod links;
mod times;

use std::time::Duration;

use crate::Servers;

pub use times::{Bound, Figure};

/// How much of a story is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A few seconds each: that it works at all.
    Short,
    /// As often and as long as figures need.
    Full,
}

impl Length {
    pub(crate) const fn of<T: Copy>(self, short: T, full: T) -> T {
        match self {
            Self::Short => short,
            Self::Full => full,
        }
    }

    pub(crate) const fn seconds(self, short: u64, full: u64) -> Duration {
        Duration::from_secs(self.of(short, full))
    }
}

/// What a story comes to: figures, or what went wrong.
pub type Outcome = Result<Vec<Figure>, String>;

/// Something that is done to servers.
#[derive(Clone, Copy, Debug)]
pub struct Story {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens, in one sentence.
    pub about: &'static str,
    /// Plays it on servers that all vote.
    pub play: fn(&mut Servers<'_>, Length) -> Outcome,
}

/// All of them.
pub const STORIES: &[Story] = &[
    Story { name: "steady", about: "nothing happens", play: links::steady },
    Story {
        name: "rain",
        about: "2 of 100 packets are lost, and travel takes 100 ms",
        play: links::rain,
    },
    Story {
        name: "shuffle",
        about: "packets overtake each other, and 10 of 100 come twice",
        play: links::shuffle,
    },
    Story {
        name: "deaf",
        about: "one server hears all others, and none hears it",
        play: links::one_way,
    },
    Story { name: "split", about: "two servers cannot reach the other two", play: links::split },
    Story {
        name: "dead-proposer",
        about: "the proposer is killed, with 20 ms of travel",
        play: crashes::dead_proposer,
    },
    Story {
        name: "proposers-killed",
        about: "proposer after proposer is killed and started again",
        play: crashes::proposers_killed,
    },
    Story {
        name: "rolling-restart",
        about: "one server after the other is stopped and started again",
        play: crashes::rolling_restart,
    },
    Story { name: "away", about: "a killed server comes back after a minute", play: crashes::away },
    Story { name: "paused", about: "a server stands still for ten seconds", play: hosts::paused },
    Story {
        name: "disk-full",
        about: "the disk of a server is full for a while",
        play: hosts::disk_full,
    },
    Story {
        name: "garbage",
        about: "strangers send nonsense to every port, and hold connections open",
        play: hostile::garbage,
    },
    Story {
        name: "second-machine",
        about: "somebody comes by the link that `up --listen` prints",
        play: guests::second_machine,
    },
    Story {
        name: "https",
        about: "the same with a certificate of an authority, which is renewed meanwhile",
        play: guests::https,
    },
];
