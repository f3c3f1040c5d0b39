//! Classes of faults, and how often each of them really happened.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! classes {
    ($($(#[doc = $doc:literal])+ $class:ident => $name:literal,)+) => {
        /// A class of faults. What a world planned proves nothing; what [`Fired`] counts happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Class {
            $($(#[doc = $doc])+ $class,)+
        }

        impl Class {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$class,)+];

            /// Its name, in words joined by `-`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$class => $name,)+
                }
            }
        }
    };
}

classes! {
    /// A frame vanishes.
    Drop => "drop",
    /// A frame arrives twice.
    Duplicate => "duplicate",
    /// A frame takes longer than the fastest.
    Delay => "delay",
    /// All frames of one directed link are held up for seconds.
    Clog => "clog",
    /// A frame overtakes an earlier one.
    Reorder => "reorder",
    /// Parts of a turn did not come: who has others from the same server asks it for the rest, and is
    /// sent some.
    LostPart => "lost-part",
    /// A frame between two groups is lost.
    Split => "split",
    /// A frame of one direction is lost.
    OneWay => "one-way",
    /// A frame is lost on a link that comes and goes.
    Flapping => "flapping",
    /// A frame of or to a server that was cut off while it was its turn to propose.
    LeaderCut => "leader-cut",
    /// A process dies at any time.
    Crash => "crash",
    /// A process dies right after a write.
    CrashAtWrite => "crash-at-write",
    /// A process dies right after a message left for one peer, and for no other.
    CrashAtSend => "crash-at-send",
    /// A process dies while it starts: right after it changed or synced something on its disk, and
    /// before it runs.
    CrashAtStart => "crash-at-start",
    /// All processes die at once.
    PowerLoss => "power-loss",
    /// All that was not synced is gone.
    LostTail => "lost-tail",
    /// Some of what was not synced is gone.
    TornTail => "torn-tail",
    /// A write that was synced never reached the disk.
    LostWrite => "lost-write",
    /// A stored state cannot be read again.
    BadSnapshot => "bad-snapshot",
    /// The medium turns one bit.
    BitFlip => "bit-flip",
    /// A write lands on other bytes than it was for.
    MisdirectedWrite => "misdirected-write",
    /// There is no room.
    DiskFull => "disk-full",
    /// A write or a sync fails.
    IoError => "io-error",
    /// Clocks run up to a tenth too fast or too slow.
    ClockRate => "clock-rate",
    /// Somebody sets a wall clock, up to an hour.
    ClockJump => "clock-jump",
    /// Applying a turn takes long.
    SlowApply => "slow-apply",
    /// A process stands still, and goes on.
    Pause => "pause",
    /// A liar says nothing.
    Mute => "mute",
    /// A liar says two things in one place.
    Equivocator => "equivocator",
    /// A liar leaves acts out of its turns.
    Censor => "censor",
    /// A liar states another root.
    HashLiar => "hash-liar",
    /// A liar keeps turns, or parts of them, to itself.
    Withholder => "withholder",
    /// A liar says again what was said before.
    Replayer => "replayer",
    /// A liar sends frames with turned bits.
    Garbage => "garbage",
    /// A liar sends frames that are longer than any may be.
    Oversize => "oversize",
    /// A liar states times that no clock shows, or a later round than there was.
    TimeLiar => "time-liar",
    /// A liar breaks the other rules for turns.
    VoidTurns => "void-turns",
    /// Two copies of one server run at once.
    Twin => "twin",
    /// Somebody copies the disk of a server to a second machine, and both run.
    CopiedDisk => "copied-disk",
    /// A member is added or removed.
    SetChange => "set-change",
    /// A server starts from a state that others prove.
    Joiner => "joiner",
    /// A node without a seat comes by an invite, and follows.
    Invited => "invited",
    /// Somebody comes by an invite that is none, or no more, and is refused.
    BadInvite => "bad-invite",
    /// A bit of one server's state turns in its memory.
    MemoryFlip => "memory-flip",
    /// A script that never ends is stopped.
    EndlessScript => "endless-script",
    /// A script that sends and keeps more than it may is stopped.
    FloodingScript => "flooding-script",
    /// A script pushes all that is near, as hard as it may and harder.
    PushingScript => "pushing-script",
    /// A client sends what is no frame.
    GarbageClient => "garbage-client",
    /// A client sends a frame that is longer than any may be.
    OversizeClient => "oversize-client",
    /// A client sends more than it may.
    FloodingClient => "flooding-client",
    /// A client says again what others said.
    ReplayingClient => "replaying-client",
    /// A client connects and says nothing, or reads nothing.
    HalfOpenClient => "half-open-client",
}

/// What a world plays: that decides which faults can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Agreement, its log, and an application that counts.
    Agreement,
    /// Whole replicas: scripts, physics and the sessions of clients besides.
    Whole,
}

impl Level {
    /// Classes that cannot happen at this level. Agreement has no scripts, no clients, no invites, and
    /// no state whose bits could turn; its twins begin with empty disks. Whole servers hear of each
    /// other in order, so that no part is lost but with a connection.
    #[must_use]
    pub const fn without(self) -> &'static [Class] {
        match self {
            Self::Agreement => &[
                Class::BadSnapshot,
                Class::CopiedDisk,
                Class::Invited,
                Class::BadInvite,
                Class::MemoryFlip,
                Class::EndlessScript,
                Class::FloodingScript,
                Class::PushingScript,
                Class::GarbageClient,
                Class::OversizeClient,
                Class::FloodingClient,
                Class::ReplayingClient,
                Class::HalfOpenClient,
            ],
            Self::Whole => &[Class::LostPart],
        }
    }

    /// Classes that can happen at this level.
    pub fn classes(self) -> impl Iterator<Item = Class> {
        Class::ALL.iter().copied().filter(move |class| !self.without().contains(class))
    }
}

impl Class {
    /// Classes of servers that lie: each takes one of the `f` that a world bears.
    pub const LIARS: &[Self] = &[
        Self::Mute,
        Self::Equivocator,
        Self::Censor,
        Self::HashLiar,
        Self::Withholder,
        Self::Replayer,
        Self::Garbage,
        Self::Oversize,
        Self::TimeLiar,
        Self::VoidTurns,
        Self::Twin,
        Self::CopiedDisk,
    ];

    /// Classes of servers that run twice.
    pub const TWINS: &[Self] = &[Self::Twin, Self::CopiedDisk];

    /// Classes of what befalls a disk behind its server's back.
    pub const DAMAGES: &[Self] =
        &[Self::BitFlip, Self::LostWrite, Self::MisdirectedWrite, Self::BadSnapshot];

    /// Classes of clients that do not behave.
    pub const CLIENTS: &[Self] = &[
        Self::GarbageClient,
        Self::OversizeClient,
        Self::FloodingClient,
        Self::ReplayingClient,
        Self::HalfOpenClient,
    ];

    /// Classes of scripts that do not behave.
    pub const SCRIPTS: &[Self] = &[Self::EndlessScript, Self::FloodingScript, Self::PushingScript];
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often which class of faults happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fired(BTreeMap<Class, u64>);

impl Fired {
    /// Counts something that happened.
    pub fn note(&mut self, class: Class) {
        *self.0.entry(class).or_default() += 1;
    }

    /// Adds another count to this one.
    pub fn add(&mut self, other: &Self) {
        for (class, times) in &other.0 {
            *self.0.entry(*class).or_default() += times;
        }
    }

    /// Returns how often it happened.
    #[must_use]
    pub fn times(&self, class: Class) -> u64 {
        self.0.get(&class).copied().unwrap_or(0)
    }

    /// Classes of which nothing happened, though it could have at this level.
    #[must_use]
    pub fn never(&self, level: Level) -> Vec<Class> {
        level.classes().filter(|class| self.times(*class) == 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Fired, Level};

    #[test]
    fn what_did_not_happen_is_named() {
        let (mut one, mut both) = (Fired::default(), Fired::default());
        one.note(Class::Clog);
        both.note(Class::Drop);
        both.add(&one);

        for level in [Level::Agreement, Level::Whole] {
            let never = both.never(level);
            assert_eq!(never.len(), Class::ALL.len() - level.without().len() - 2);
            assert!(!never.contains(&Class::Clog));
        }
        assert_eq!(both.times(Class::Clog), 1);
    }
}
