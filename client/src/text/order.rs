//! Reading what people type who may order about things, rights and the message of the day.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString as _},
    vec::Vec,
};

use metatopia_types::{RoleRight, limits::MOTD_BYTES_MAX};

use super::moderate::{after, seconds, whom};

/// What somebody types who may order it here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedOrder {
    /// Stop a thing.
    Freeze(String),
    /// Let a frozen thing go on.
    Thaw(String),
    /// Return a thing to its owner.
    Return(String),
    /// Send a thing back over the border that it came over.
    SendHome(String),
    /// Set the message of the day; an empty one takes it away.
    Announce(String),
    /// Give somebody of this name or key rights, for so many seconds or for good.
    Grant(String, BTreeSet<RoleRight>, Option<u32>),
    /// Take rights from somebody.
    Revoke(String, BTreeSet<RoleRight>),
}

/// Why a line with an order is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedOrderError {
    /// No thing is named.
    #[error("that is `{0} THING`, or `{0} object NUMBER`")]
    Thing(&'static str),
    /// There is no message.
    #[error("that is `motd WORDS`, or `motd nothing` to take the message away")]
    Message,
    /// Too many words for a message of the day.
    #[error("{0} bytes are too many for a message of the day; at most {MOTD_BYTES_MAX}")]
    TooLong(usize),
    /// Rights are given or taken in another form.
    #[error(
        "that is `grant NAME RIGHTS`, `grant NAME RIGHTS for 2 hours` or `revoke NAME RIGHTS`, with commas \
         between rights, and a name of several words between quotes"
    )]
    Rights,
    /// No right has this name.
    #[error("`{0}` is no right; there are {words}", words = rights())]
    NoRight(String),
    /// The time is none.
    #[error(transparent)]
    Time(#[from] super::ModerateLineError),
}

/// Returns the words of all rights.
fn rights() -> String {
    let words: Vec<&str> = RoleRight::ALL.iter().map(|(word, _)| *word).collect();
    words.join(", ")
}

/// Reads a line with an order after its first word; nothing if that word is none of these.
pub(super) fn parse(first: &str, rest: &str) -> Option<Result<TypedOrder, TypedOrderError>> {
    let thing = |verb, order: fn(String) -> TypedOrder| match rest {
        "" => Err(TypedOrderError::Thing(verb)),
        thing => Ok(order(thing.to_string())),
    };
    Some(match first {
        "freeze" => thing("freeze", TypedOrder::Freeze),
        "thaw" => thing("thaw", TypedOrder::Thaw),
        "return" => thing("return", TypedOrder::Return),
        "send" => match rest.strip_prefix("home").map(str::trim) {
            None | Some("") => Err(TypedOrderError::Thing("send home")),
            Some(thing) => Ok(TypedOrder::SendHome(thing.to_string())),
        },
        "motd" => message(rest),
        "grant" => grant(rest),
        "revoke" => named_rights(rest).and_then(|(whom, rights, more)| match more {
            "" => Ok(TypedOrder::Revoke(whom, rights)),
            _ => Err(TypedOrderError::Rights),
        }),
        _ => return None,
    })
}

fn message(rest: &str) -> Result<TypedOrder, TypedOrderError> {
    match rest {
        "" => Err(TypedOrderError::Message),
        "nothing" => Ok(TypedOrder::Announce(String::new())),
        text if text.len() > MOTD_BYTES_MAX => Err(TypedOrderError::TooLong(text.len())),
        text => Ok(TypedOrder::Announce(text.to_string())),
    }
}

fn grant(rest: &str) -> Result<TypedOrder, TypedOrderError> {
    let (whom, rights, more) = named_rights(rest)?;
    let lasts = match (more, after(more, "for")) {
        ("", _) => None,
        (_, Some(span)) => Some(seconds(span)?),
        (_, None) => return Err(TypedOrderError::Rights),
    };
    Ok(TypedOrder::Grant(whom, rights, lasts))
}

/// Reads whom rights are about, which these are, and returns what follows.
fn named_rights(rest: &str) -> Result<(String, BTreeSet<RoleRight>, &str), TypedOrderError> {
    let (named, rest) = whom(rest).ok_or(TypedOrderError::Rights)?;
    // Commas may have spaces behind them, so the list ends where a time begins.
    let (list, more) = match rest.find(" for ") {
        Some(at) => (&rest[..at], rest[at..].trim()),
        None => (rest, ""),
    };
    let words: Vec<&str> = list.split(',').map(str::trim).collect();
    if words.contains(&"") {
        return Err(TypedOrderError::Rights);
    }
    let right = |word: &&str| {
        let word = word.to_lowercase();
        RoleRight::of(&word).ok_or(TypedOrderError::NoRight(word))
    };
    let rights: Result<BTreeSet<RoleRight>, TypedOrderError> = words.iter().map(right).collect();
    Ok((named.to_string(), rights?, more))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn read(line: &str) -> Result<TypedOrder, TypedOrderError> {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        parse(first, rest.trim()).expect("a word of an order")
    }

    #[test]
    fn orders_about_things_rights_and_the_message_are_read() {
        let bob = || "bob".to_string();
        let two: BTreeSet<RoleRight> = [RoleRight::Build, RoleRight::Land].into();
        for (line, command) in [
            ("freeze old crate", TypedOrder::Freeze("old crate".to_string())),
            ("send home old crate", TypedOrder::SendHome("old crate".to_string())),
            ("thaw it", TypedOrder::Thaw("it".to_string())),
            ("return object 17", TypedOrder::Return("object 17".to_string())),
            ("motd Market day!", TypedOrder::Announce("Market day!".to_string())),
            ("motd nothing", TypedOrder::Announce(String::new())),
            ("grant bob build, land", TypedOrder::Grant(bob(), two.clone(), None)),
            ("grant bob land,Build for 2h", TypedOrder::Grant(bob(), two.clone(), Some(7_200))),
            ("revoke \"bob\" build,land", TypedOrder::Revoke(bob(), two)),
        ] {
            assert_eq!(read(line), Ok(command), "{line}");
        }
        assert_eq!(parse("say", "freeze crate"), None);
    }

    #[test]
    fn an_order_that_is_none_says_how_it_is_meant() {
        assert_eq!(read("freeze"), Err(TypedOrderError::Thing("freeze")));
        assert_eq!(read("motd"), Err(TypedOrderError::Message));
        let long = "x".repeat(MOTD_BYTES_MAX + 1);
        assert_eq!(
            read(&format!("motd {long}")),
            Err(TypedOrderError::TooLong(MOTD_BYTES_MAX + 1))
        );
        for wrong in ["grant", "grant bob", "revoke bob build for 2 hours", "grant bob build,"] {
            assert_eq!(read(wrong), Err(TypedOrderError::Rights), "{wrong}");
        }
        let wrong = TypedOrderError::NoRight("fly".to_string());
        assert_eq!(read("grant bob fly"), Err(wrong.clone()));
        assert!(wrong.to_string().contains("administer"), "{wrong}");
        assert!(matches!(read("grant bob build for ever"), Err(TypedOrderError::Time(_))));
    }
}
