//! The laws that servers are held to, and what it looks like when one is broken.

use std::fmt;
use std::time::Duration;

macro_rules! laws {
    ($($(#[doc = $doc:literal])+ $law:ident => $name:literal,)+) => {
        /// A law. Servers that lie are held to none; all others to all of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Law {
            $($(#[doc = $doc])+ $law,)+
        }

        impl Law {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$law,)+];

            /// Its name, in words joined by `-`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$law => $name,)+
                }
            }
        }
    };
}

laws! {
    /// No two servers decide different turns at one height.
    Agreement => "agreement",
    /// A server signs one thing in each place.
    DoubleSign => "one-word-in-one-place",
    /// Who precommitted a turn prevotes for another one only after a later quorum of prevotes for it.
    Lock => "lock",
    /// Who precommits a turn saw a quorum of prevotes for it.
    Polka => "precommit-after-a-quorum",
    /// What is said, to servers or to clients, is durable before. Who says nothing of its own, for its
    /// disk takes nothing, may pass on what others decided.
    NotDurable => "durable-before-said",
    /// A server votes for turns whose bytes it cannot lose.
    UnseenTurn => "bytes-before-votes",
    /// A server does not vote for a turn that breaks a rule.
    VoidTurn => "no-vote-for-void-turns",
    /// Only members of a height vote and propose there.
    Outsider => "members-only",
    /// A certificate has more than two thirds of the voting power, and good signatures.
    Certificate => "certificates-have-a-quorum",
    /// A turn's time is one that some honest clock allows, and follows from the last.
    Time => "time",
    /// Each turn follows the one before it.
    Chain => "chain",
    /// Turns and acts that the outside was told of stay, each act once.
    Lost => "nothing-told-is-lost",
    /// No act is done twice.
    Twice => "acts-happen-once",
    /// In each lane of an author sequences grow from turn to turn.
    Lane => "lanes-go-forward",
    /// An act has one receipt, and none if it was refused.
    Receipt => "one-receipt-per-act",
    /// All servers compute the same state.
    Root => "equal-roots",
    /// The same becomes of every act and script on all servers, and people are told that.
    Outcome => "equal-outcomes",
    /// Every script gets the same events in the same order on all servers, those of one sender
    /// together.
    Order => "equal-orders",
    /// A log that is played again from genesis gives what the servers had.
    Replay => "logs-can-be-replayed",
    /// Frames for clients are frames, and what they claim is proved.
    Proof => "clients-are-shown-proofs",
    /// What waits in a server is bounded, whatever others do.
    Bounds => "queues-have-bounds",
    /// What had been durable is there after a restart.
    Forgotten => "nothing-durable-is-forgotten",
    /// A state that was written down and read again is the same state.
    Restored => "restored-states-are-equal",
    /// What a server reads again is what it wrote, or it says that it is not.
    Damage => "damage-is-noticed",
    /// Turns that a server should keep and lacks come back from those that hold them.
    Gap => "gaps-are-filled",
    /// No server stops for good.
    Halted => "servers-go-on",
    /// Evidence proves what it says.
    Slander => "evidence-proves",
    /// Who signs two things before the eyes of honest servers is accused.
    Impunity => "liars-are-accused",
    /// Nobody is let in by an invite that is none, or no more, and who has one is told why.
    Invite => "bad-invites-let-nobody-in",
    /// The world goes on when nothing is wrong any more.
    Stuck => "progress",
    /// After the faults each turn comes within `f + 1` time-outs of proposers.
    LateTurn => "a-turn-in-time",
    /// After the faults an act that all servers know is in one of the next `f + 2` turns.
    LateAct => "acts-in-time",
    /// After the faults, while frames between honest servers arrive within a turn, the login of a
    /// steward that all of them were given is in one of the next `f + 2` turns, and is refused for no
    /// fullness.
    Reserved => "stewards-come-in",
    /// After the faults servers that were behind catch up.
    Behind => "everybody-catches-up",
    /// After the faults every member votes again.
    Silent => "everybody-votes-again",
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A law that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// When the law was broken.
    pub at: Duration,
    /// The server that broke it, if it is one.
    pub seat: Option<usize>,
    /// The law that was broken.
    pub law: Law,
    /// What broke the law.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3?}", self.at)?;
        if let Some(seat) = self.seat {
            write!(f, ", server {seat}")?;
        }
        write!(f, ": {}: {}", self.law, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::Law;
    use std::collections::BTreeSet;

    #[test]
    fn every_law_has_a_name_of_its_own_in_words_joined_by_hyphens() {
        let names: BTreeSet<&str> = Law::ALL.iter().map(|law| law.name()).collect();

        assert_eq!(names.len(), Law::ALL.len());
        let plain = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(names.iter().all(plain), "{names:?}");
    }
}
