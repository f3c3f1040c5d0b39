//! What a server must not do.

use std::fmt;
use std::time::Duration;

/// Kinds of wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// Two servers decided different turns at one height.
    Disagreement,
    /// An honest server signed two things in one place.
    DoubleSign,
    /// Something was said whose record could still be lost.
    NotDurable,
    /// A vote for a turn whose bytes the voter could still lose, or never had.
    UnseenTurn,
    /// A vote for a turn that a liar made void.
    VoidTurn,
    /// A vote or a proposal of somebody who is no member at that height.
    Outsider,
    /// A certificate without more than two thirds of the voting power, or with a wrong signature.
    Certificate,
    /// A turn with a time that no honest clock allows, or that does not follow from the last.
    Time,
    /// A turn that does not follow the one before it, or heights that jump.
    Chain,
    /// A turn or an act that the outside was told of is gone, or an act is there twice.
    Lost,
    /// Two servers computed different roots.
    Root,
    /// Something that had been durable is gone after a restart.
    Forgotten,
    /// A server stopped for good.
    Halted,
    /// Evidence that proves nothing.
    Slander,
    /// The world stands still although nothing is wrong any more.
    Stuck,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Disagreement,
        Self::DoubleSign,
        Self::NotDurable,
        Self::UnseenTurn,
        Self::VoidTurn,
        Self::Outsider,
        Self::Certificate,
        Self::Time,
        Self::Chain,
        Self::Lost,
        Self::Root,
        Self::Forgotten,
        Self::Halted,
        Self::Slander,
        Self::Stuck,
    ];
}

/// Something that a server must not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub at: Duration,
    /// Who, if it is somebody.
    pub seat: Option<usize>,
    /// What kind.
    pub wrong: Wrong,
    /// What exactly.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3?}", self.at)?;
        if let Some(seat) = self.seat {
            write!(f, ", server {seat}")?;
        }
        write!(f, ": {:?}: {}", self.wrong, self.what)
    }
}
