//! The first words of lines, and what was probably meant by one that is none of them.

use metatopia_client::text;
use metatopia_scripting::closest;

/// The words with which lines begin.
const VERBS: &str = "\
    agree attach ban block blocks buddies buddy build club clubs color copy decide delete \
    detach discard drop edit emote exit fetch forbid forget freeze friends give go grant hands \
    help home inventory join kick land let logs look lot lots luggage mailbox make map \
    mine motd move mute name open profile proof publish push put quit recovery reply \
    report reports resize return revoke ring rotate rules say send shout sit source stand \
    stop stow take tell thaw touch unban unblock unbuddy undo unite unjoin unmute \
    unprofile use vouch walk wear who write";

/// Returns the words with which lines begin.
fn verbs() -> impl Iterator<Item = &'static str> + Clone {
    VERBS.split_whitespace()
}

/// Returns what is told of a first word that is none of those which lines begin with.
pub(super) fn unknown(word: &str) -> String {
    if text::direction(word).is_some() {
        return format!("unknown command `{word}`; `go {word}` walks there");
    }
    let meant = closest(&word.to_lowercase(), verbs());
    let meant = meant.strip_prefix(": did you mean ").and_then(|meant| meant.strip_suffix('?'));
    match meant {
        Some(meant) => {
            format!("unknown command `{word}`: did you mean `{meant}`? `help` lists all")
        }
        None => format!("unknown command `{word}`; type `help` for the list"),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_client::{build, text::ParseError};

    use super::*;

    #[test]
    fn an_unknown_word_is_told_with_what_was_probably_meant() {
        assert_eq!(unknown("lok"), "unknown command `lok`: did you mean `look`? `help` lists all");
        assert!(unknown("Buidl").contains("did you mean `build`?"));
        assert_eq!(unknown("north"), "unknown command `north`; `go north` walks there");
        let none = "unknown command `xyzzy`; type `help` for the list";
        assert_eq!(unknown("xyzzy"), none);
    }

    #[test]
    fn every_word_that_may_be_meant_begins_a_line_and_help_names_no_other() {
        let all: Vec<&str> = verbs().collect();
        for verb in &all {
            let read = text::parse(verb);
            assert!(!matches!(read, Err(ParseError::Unknown(_))), "{verb} begins no line");
        }
        let lines = text::HELP.lines().chain(build::HELP.lines());
        for line in lines.filter(|line| !line.starts_with(' ')) {
            let first = line.split_whitespace().next().expect("a line has words");
            assert!(all.contains(&first), "{first} is missing");
        }
    }
}
