//! Why an object cannot be in a genesis.

use metatopia_math::Vec2;
use metatopia_scripting::limits::SEAT_REACH;
use metatopia_types::limits::NAME_BYTES_MAX;

use crate::limits::SCRIPTS_PER_OBJECT_MAX;

/// Why an object cannot be in a genesis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectSpecError {
    /// A kind is one short line, and not that of avatars.
    #[error("{0:?} is no kind for an object")]
    Kind(String),
    /// A name is one short line.
    #[error("{0:?} is no name: write one line of 1 to {NAME_BYTES_MAX} bytes")]
    Name(String),
    /// The text it shows is too long.
    #[error("a text of {0} bytes is too long to be shown")]
    Text(usize),
    /// The text it shows is one line.
    #[error("the text {0:?} is not one line without characters that control or turn it")]
    TextLine(String),
    /// A colour has 24 bits.
    #[error("{0:#x} is no colour")]
    Color(u32),
    /// More scripts than one object may have.
    #[error("{0} scripts where at most {SCRIPTS_PER_OBJECT_MAX} are allowed")]
    TooManyScripts(usize),
    /// A seat is on or beside its thing.
    #[error("a seat at {0} m is farther from its thing than {SEAT_REACH} m")]
    Seat(Vec2),
    /// The position of a polygon, or of several parts, is their centre of mass.
    #[error("the outline lies beside its own centre of mass")]
    OffCentre,
    /// A script begins with a state that cannot be kept.
    #[error(transparent)]
    State(#[from] metatopia_scripting::StateError),
}
