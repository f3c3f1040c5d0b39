//! Players, and their presence in the world.

use metatopia_math::Vec2;
use metatopia_types::{Emote, Lane, Look, ObjectId, Tick, limits::NAME_BYTES_MAX};
use serde::{Deserialize, Serialize};

/// Somebody who has logged in at least once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// Shown above the avatar.
    pub name: String,
    /// What the avatar looks like.
    pub look: Look,
    /// Governance time of the first login, in milliseconds.
    pub first_seen: u64,
    /// Governance time of the last login, in milliseconds.
    pub last_login: u64,
    /// The presence in the world; nothing while away.
    pub session: Option<Session>,
}

/// A player's presence: a lease that every act renews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The lane whose acts count; a login in another lane takes over.
    pub lane: Lane,
    /// The player's body in the world.
    pub avatar: ObjectId,
    /// Where the player wants to go: at most 1 long, a share of the walking speed.
    pub heading: Vec2,
    /// The avatar obeys up to this tick; then it stands still, and leaves after the grace time.
    pub lease: Tick,
    /// The tick of the last push.
    pub pushed: Option<Tick>,
    /// The last gesture, and when it was made.
    pub gesture: Option<(Emote, Tick)>,
}

/// Is this a name that others may see: not empty, not long, no control characters, no spaces at its
/// ends?
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.trim() == name && is_line(name)
}

/// Is this one line of text, without control characters and without marks that turn the direction
/// of what follows?
#[must_use]
pub fn is_line(text: &str) -> bool {
    let turns = |c: char| matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !text.chars().any(|c| c.is_control() || turns(c) || matches!(c, '\u{2028}' | '\u{2029}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_lines_that_show_what_they_are() {
        assert!(is_name("Ada"));
        assert!(is_name("Jo\u{eb}lle van \u{411}"));
        assert!(is_name(&"x".repeat(NAME_BYTES_MAX)));

        assert!(!is_name(""));
        assert!(!is_name(" Ada"));
        assert!(!is_name(&"x".repeat(NAME_BYTES_MAX + 1)));
        assert!(!is_name("two\nlines"));
        assert!(!is_name("admin\u{202e}adA"));
    }
}
