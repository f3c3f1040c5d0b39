//! What is done to servers, and what must hold all the same.
//!
//! In every story players act meanwhile, and at its end no act with a receipt may be missing on any
//! server, and all servers state one root.

mod crashes;
mod crossing;
mod guests;
mod hostile;
mod hosts;
mod links;
mod times;

use std::time::Duration;

use crate::{LabBorder, LabServers};

pub use times::{StoryBound, StoryFigure};

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
pub type StoryResult = Result<Vec<StoryFigure>, String>;

/// Something that is done to servers.
#[derive(Clone, Copy, Debug)]
pub struct NetworkStory {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens, in one sentence.
    pub about: &'static str,
    /// What it is played on, and how.
    pub play: StoryPlay,
}

/// Plays a story on servers that all vote.
#[derive(Clone, Copy, Debug)]
pub enum StoryPlay {
    /// On a sim of four servers.
    Sim(fn(&mut LabServers<'_>, Length) -> StoryResult),
    /// On two such sims side by side, with an open border.
    Border(fn(&mut LabBorder<'_>, Length) -> StoryResult),
}

use StoryPlay::{Border, Sim};

/// All of them.
pub const STORIES: &[NetworkStory] = &[
    NetworkStory { name: "steady", about: "nothing happens", play: Sim(links::steady) },
    NetworkStory {
        name: "rain",
        about: "2 of 100 packets are lost, and travel takes 100 ms",
        play: Sim(links::rain),
    },
    NetworkStory {
        name: "shuffle",
        about: "packets overtake each other, and 10 of 100 come twice",
        play: Sim(links::shuffle),
    },
    NetworkStory {
        name: "deaf",
        about: "one server hears all others, and none hears it",
        play: Sim(links::one_way),
    },
    NetworkStory {
        name: "split",
        about: "two servers cannot reach the other two",
        play: Sim(links::split),
    },
    NetworkStory {
        name: "dead-proposer",
        about: "the proposer is killed, with 20 ms of travel",
        play: Sim(crashes::dead_proposer),
    },
    NetworkStory {
        name: "proposers-killed",
        about: "proposer after proposer is killed and started again",
        play: Sim(crashes::proposers_killed),
    },
    NetworkStory {
        name: "rolling-restart",
        about: "one server after the other is stopped and started again",
        play: Sim(crashes::rolling_restart),
    },
    NetworkStory {
        name: "away",
        about: "a killed server comes back after a minute",
        play: Sim(crashes::away),
    },
    NetworkStory {
        name: "paused",
        about: "a server stands still for ten seconds",
        play: Sim(hosts::paused),
    },
    NetworkStory {
        name: "disk-full",
        about: "the disk of a server is full for a while",
        play: Sim(hosts::disk_full),
    },
    NetworkStory {
        name: "garbage",
        about: "strangers send nonsense to every port, and hold connections open",
        play: Sim(hostile::garbage),
    },
    NetworkStory {
        name: "second-machine",
        about: "somebody comes by the link that `up --listen` prints",
        play: Sim(guests::second_machine),
    },
    NetworkStory {
        name: "https",
        about: "the same with a certificate of an authority, which is renewed meanwhile",
        play: Sim(guests::https),
    },
    NetworkStory {
        name: "crossing",
        about: "people walk between two sims and back, with 20 ms of travel between all servers",
        play: Border(crossing::crossing),
    },
];
