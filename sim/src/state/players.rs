//! Players, and their presence in the world.

use metatopia_math::Vec2;
use metatopia_types::{Emote, Height, Lane, Look, Tick, is_line, limits::NAME_BYTES_MAX};
use serde::{Deserialize, Serialize};

use super::presence::Presence;
use crate::{rules::DAY_MS, scripts::Permit};

/// Somebody who has logged in at least once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// Shown above the avatar.
    pub name: String,
    /// The look of the avatar.
    pub look: Look,
    /// Governance time of the first login, in milliseconds.
    pub first_seen: u64,
    /// Governance time of the last login, in milliseconds.
    pub last_login: u64,
    /// Days of governance time on which the player logged in.
    pub days: u32,
    /// Whether the last login was a program's, by its own word.
    pub bot: bool,
    /// The turns since which the key counts as more than a stranger's.
    pub since: Since,
    /// The governance time of the last line that the player said in public or in a club, also in a session before.
    pub spoke: Option<u64>,
    /// The session; none of who is not logged in.
    pub session: Option<PlayerSession>,
}

/// The turns since which a player's key has its standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// The turn of the first login.
    pub player: Height,
    /// The turn of the login on the last of the days that make a player a regular.
    pub regular: Option<Height>,
}

impl Since {
    /// Returns the same standing of a key that has it from the turn of this height on.
    #[must_use]
    pub(crate) fn begun_at(&self, height: Height) -> Self {
        Self { player: height, regular: self.regular.map(|_| height) }
    }
}

impl Player {
    /// Counts a login at this governance time, in the turn of `height`: a player who was seen on
    /// `seen_days` days of it is a regular from then on.
    pub(crate) fn seen(&mut self, time: u64, height: Height, seen_days: u32) {
        if self.days == 0 || time / DAY_MS != self.last_login / DAY_MS {
            self.days = self.days.saturating_add(1);
        }
        self.last_login = time;
        if self.days >= seen_days && self.since.regular.is_none() {
            self.since.regular = Some(height);
        }
    }
}

/// What a sim keeps of a player who is logged in: a lease that every act renews.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerSession {
    /// The lane whose acts count; a login in another lane takes over.
    pub lane: Lane,
    /// How the player takes part: with an avatar, or without.
    pub presence: Presence,
    /// Where the player wants to go: at most 1 long, a share of the walking speed. Nobody without an
    /// avatar goes anywhere.
    pub heading: Vec2,
    /// The avatar obeys up to this tick; then it stands still, and leaves after the grace time.
    pub lease: Tick,
    /// The tick of the last act other than a heartbeat: of two, the one with the older act gives up
    /// its seat.
    pub acted: Tick,
    /// The tick of the last push.
    pub pushed: Option<Tick>,
    /// The last gesture, and when it was made.
    pub gesture: Option<(Emote, Tick)>,
    /// What the player lets things do, in the order in which it was allowed.
    pub permits: Vec<Permit>,
}

/// Says whether this is a name that others may see: not empty, not long, without control characters and
/// without spaces at its ends.
#[must_use]
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.trim() == name && is_line(name)
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
