//! Reading what people type about whose words they do not want to read.

use alloc::string::{String, ToString as _};

use super::ParseError;

/// What somebody types about whose words are not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockCommand {
    /// Show no words of the person of this name or key any more.
    Block(String),
    /// Show words of the person of this name or key again.
    Unblock(String),
    /// List who is blocked.
    List,
}

/// Reads a line that begins with `block`, `unblock` or `blocks`.
pub(super) fn parse(first: &str, rest: &str) -> Result<BlockCommand, ParseError> {
    // Names of several words may stand between quotes, as elsewhere.
    let name = rest.trim_matches('"').trim().to_string();
    match first {
        "blocks" => Ok(BlockCommand::List),
        "unblock" if name.is_empty() => Err(ParseError::Missing("unblock", "a name or a key")),
        "unblock" => Ok(BlockCommand::Unblock(name)),
        _ if name.is_empty() => Err(ParseError::Missing("block", "a name or a key")),
        _ => Ok(BlockCommand::Block(name)),
    }
}
