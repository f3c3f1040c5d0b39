//! Reading what people type about friends who get a lost key back, and telling of them.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use metatopia_protocol::{FriendEntry, FriendListEntry, FriendsEntry, RecoveryEntry, span};
use metatopia_types::{NewKeyWord, PublicKey};

use super::printable;

/// What somebody types about friends who get a lost key back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FriendCommand {
    /// Tell who one's friends are, and which recovery is open.
    List,
    /// Name people of these names or keys, of whom it takes so many; nobody takes it back.
    Name(Vec<String>, u8),
    /// Vouch for a new key of the person of this name or key, with its word.
    Vouch(String, NewKeyWord),
    /// Say that one's key is not lost.
    Cancel,
}

/// Why a line about friends is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FriendLineError {
    /// A line about one's friends that is none.
    #[error("that is `friends`, `friends are ADA, BOB, CAROL need 2` or `friends are nobody`")]
    Friends,
    /// A line that vouches for nothing.
    #[error(
        "that is `vouch for OLD TEXT`: a name or the old key, and the text that `keys ask` printed for its owner"
    )]
    Vouch,
    /// A line about a recovery that is none.
    #[error("that is `recovery cancel`, by which you say that your key is not lost")]
    Recovery,
}

/// Reads a line that begins with `friends`, `vouch` or `recovery`.
pub(super) fn parse(first: &str, rest: &str) -> Result<FriendCommand, FriendLineError> {
    match (first, rest) {
        ("friends", "") => Ok(FriendCommand::List),
        ("friends", "are nobody") => Ok(FriendCommand::Name(Vec::new(), 0)),
        ("friends", rest) => {
            let rest = rest.strip_prefix("are ").ok_or(FriendLineError::Friends)?;
            let (names, need) = match rest.rsplit_once(" need ") {
                Some((names, need)) => (names, need.trim().parse().ok()),
                // Of one friend it takes one, and nobody else says how many.
                None => (rest, (!rest.contains(',')).then_some(1)),
            };
            let names = names.split(',').map(|name| name.trim().trim_matches('"').to_string());
            let names: Vec<String> = names.collect();
            let need = need.filter(|_| names.iter().all(|name| !name.is_empty()));
            Ok(FriendCommand::Name(names, need.ok_or(FriendLineError::Friends)?))
        }
        ("recovery", "cancel") => Ok(FriendCommand::Cancel),
        ("recovery", _) => Err(FriendLineError::Recovery),
        (_, rest) => {
            let rest = rest.strip_prefix("for ").unwrap_or(rest);
            let (old, new) = rest.rsplit_once(' ').ok_or(FriendLineError::Vouch)?;
            let new = new.parse().map_err(|_| FriendLineError::Vouch)?;
            Ok(FriendCommand::Vouch(old.trim().trim_matches('"').to_string(), new))
        }
    }
}

/// Returns what a person is called, with the first digits of the key.
fn called(friend: &FriendEntry) -> String {
    let key = &friend.key.to_string()[..8];
    match friend.name.as_str() {
        "" => key.to_string(),
        name => format!("{} ({key})", printable(name)),
    }
}

/// Returns the words for a list of friends.
fn list_words(list: &FriendListEntry) -> String {
    let names: Vec<String> = list.friends.iter().map(called).collect();
    match names.as_slice() {
        [] => "nobody".to_string(),
        [one] => one.clone(),
        names => format!("{} of {}", list.need, names.join(", ")),
    }
}

/// Returns the lines about the friends of a person.
#[must_use]
pub fn friends_lines(entry: &FriendsEntry) -> Vec<String> {
    let counted = list_words(&entry.counted);
    let mut lines = vec![format!("The key of {} is got back by: {counted}", called(&entry.of))];
    if let Some((next, left)) = &entry.next {
        lines.push(format!("In {} of the sim's time by: {}", span(*left), list_words(next)));
    }
    lines.extend(entry.recovery.as_ref().map(|open| recovery_line(open, entry.counted.need)));
    lines
}

/// Returns the line about a recovery under way.
#[must_use]
pub fn recovery_line(open: &RecoveryEntry, need: u8) -> String {
    if let Some(new) = open.chosen {
        return format!("In {} of the sim's time the key {new} takes its place.", span(open.left));
    }
    let words = |(by, new): &(FriendEntry, PublicKey)| format!("{} for {new}", called(by));
    let vouches: Vec<String> = open.vouches.iter().map(words).collect();
    format!(
        "Vouched, {} of {need} (falls in {}): {}",
        open.vouches.len(),
        span(open.left),
        vouches.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use metatopia_types::SigningKey;

    fn friend(n: u8, name: &str) -> FriendEntry {
        FriendEntry { key: PublicKey([n; 32]), name: name.to_string() }
    }

    #[test]
    fn friends_are_named_with_commas_and_a_number() {
        let named = |names: &[&str], need| {
            Ok(FriendCommand::Name(names.iter().map(ToString::to_string).collect(), need))
        };
        assert_eq!(parse("friends", ""), Ok(FriendCommand::List));
        assert_eq!(parse("friends", "are Ada, Bob need 2"), named(&["Ada", "Bob"], 2));
        assert_eq!(parse("friends", "are \"Long Name\""), named(&["Long Name"], 1));
        assert_eq!(parse("friends", "are nobody"), named(&[], 0));
        for wrong in ["Ada", "are Ada, Bob", "are Ada,, Bob need 2", "are Ada need two"] {
            assert_eq!(parse("friends", wrong), Err(FriendLineError::Friends), "{wrong}");
        }
    }

    #[test]
    fn a_friend_vouches_for_a_whole_key_and_one_word_cancels() {
        let new = NewKeyWord::new(&SigningKey::from_seed([7; 32]), &PublicKey([3; 32]));
        let vouch = Ok(FriendCommand::Vouch("Ada".to_string(), new));
        assert_eq!(parse("vouch", &format!("for Ada {new}")), vouch);
        assert_eq!(parse("vouch", &format!("Ada {new}")), vouch);
        assert_eq!(parse("vouch", "for Ada 0707"), Err(FriendLineError::Vouch));
        assert_eq!(parse("recovery", "cancel"), Ok(FriendCommand::Cancel));
        assert_eq!(parse("recovery", ""), Err(FriendLineError::Recovery));
    }

    #[test]
    fn a_list_says_how_many_it_takes_and_what_is_under_way() {
        let new = PublicKey([7; 32]);
        let list = FriendListEntry { friends: vec![friend(1, "Ada"), friend(2, "")], need: 2 };
        let mut entry = FriendsEntry {
            of: friend(3, "Eve"),
            counted: list,
            next: Some((FriendListEntry::default(), 3_600_000)),
            recovery: Some(RecoveryEntry {
                vouches: vec![(friend(1, "Ada"), new)],
                chosen: None,
                left: 60_000,
            }),
        };
        let lines = friends_lines(&entry);
        let first = "The key of Eve (03030303) is got back by: 2 of Ada (01010101), 02020202";
        assert_eq!(lines[0], first);
        assert_eq!(lines[1], "In 1 hour of the sim's time by: nobody");
        let vouched = format!("Vouched, 1 of 2 (falls in 1 minute): Ada (01010101) for {new}");
        assert_eq!(lines[2], vouched);
        entry.recovery.as_mut().expect("open").chosen = Some(new);
        assert!(friends_lines(&entry)[2].ends_with("takes its place."));
    }
}
