//! Mentions: whether words name a person, as `@Ada`.

/// What joins the letters before it to a word, and has no letter of its own: marks over letters, and joiners.
const JOINING: [core::ops::RangeInclusive<char>; 6] = [
    '\u{300}'..='\u{36f}',
    '\u{1ab0}'..='\u{1aff}',
    '\u{1dc0}'..='\u{1dff}',
    '\u{200c}'..='\u{200d}',
    '\u{20d0}'..='\u{20ff}',
    '\u{fe00}'..='\u{fe2f}',
];

/// Says whether words name a person: an `@` that begins a word, the whole name in any case, and no letter, digit,
/// `_` or mark behind it. A name may have spaces. Nobody is named by an empty name.
///
/// ```
/// use metatopia_client::mentions;
///
/// assert!(mentions("Good morning, @ada!", "Ada"));
/// assert!(!mentions("Write to me@ada.example", "Ada"));
/// ```
#[must_use]
pub fn mentions(text: &str, name: &str) -> bool {
    let name = name.trim();
    !name.is_empty()
        && text.match_indices('@').any(|(at, sign)| {
            let begins = !text[..at].chars().next_back().is_some_and(is_of_word);
            let rest = without_name(&text[at + sign.len()..], name);
            begins && rest.is_some_and(|rest| !rest.chars().next().is_some_and(is_of_word))
        })
}

/// Says whether a letter before or behind a name makes another word of it.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || JOINING.iter().any(|range| range.contains(&c))
}

/// Returns what is behind a name at the beginning of a text, in any case; nothing if it does not begin with it.
fn without_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut wanted = name.chars().flat_map(char::to_lowercase).peekable();
    let mut rest = text.chars();
    while wanted.peek().is_some() {
        // One letter may be several in the other case, and all of them belong to the name.
        let mut letters = rest.next()?.to_lowercase();
        if !letters.all(|letter| wanted.next() == Some(letter)) {
            return None;
        }
    }
    Some(rest.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_in_any_case_wherever_its_word_begins_and_ends() {
        for text in [
            "@Ada",
            "@ADA",
            "hello @ada",
            "(@Ada)",
            "@Ada, come",
            "@Ada's hat",
            "\"@ada\"",
            "@Ada-Lovelace is another word behind a sign",
            "@@ada",
            "@adam and @ada",
            "\u{4e16}\u{3002}@ada\u{3002}",
        ] {
            assert!(mentions(text, "Ada"), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_name_is_none() {
        for text in [
            "",
            "@",
            "Ada",
            "@ Ada",
            "@Adam",
            "@ada_2",
            "@ada2",
            "me@ada",
            "_@ada",
            "@Ad",
            // A mark over the last letter, a joiner, and a letter of another script.
            "@Ada\u{301}",
            "@Ada\u{200d}x",
            "@Ada\u{436}",
            // An `a` of another script.
            "@\u{430}da",
        ] {
            assert!(!mentions(text, "Ada"), "{text}");
        }
        assert!(!mentions("@ @, @!", "") && !mentions("@ x", " "), "nobody has no name");
    }

    #[test]
    fn names_have_spaces_and_letters_of_all_scripts() {
        assert!(mentions("see @quiet otter?", "Quiet Otter"));
        assert!(!mentions("see @quiet  otter?", "Quiet Otter"));
        assert!(mentions("@\u{17d}OFIE!", "\u{17e}ofie"));
        assert!(mentions("@\u{416}\u{410}\u{41d}.", "\u{436}\u{430}\u{43d}"));
        // The lower case of this letter is two: half of it is no name.
        assert!(mentions("@\u{130}a", "i\u{307}a"));
        assert!(!mentions("@\u{130}", "i"));
    }
}
