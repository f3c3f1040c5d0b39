//! Names of players: which ones may be taken, and who holds which.
//!
//! A player holds the name of the last login, until a login under another name or until the player is
//! forgotten. No two players hold names that look alike, so the first who takes a name keeps it. What looks
//! alike is said by the tables of Unicode's technical standard 39, which are a part of the engine.

use std::collections::BTreeSet;

use metatopia_types::{PublicKey, Refusal, limits::NAME_BYTES_MAX};
use unicode_security::{GeneralSecurityProfile, skeleton};

use crate::state::{State, is_name};

/// Stands between a name and a part of the key, where a traveller arrives whose name is held here. Nobody
/// chooses a name with it.
const KEY_MARK: char = '~';

/// Digits of the key that stand behind the mark. Nobody finds another key with the same ones.
const KEY_DIGITS: usize = 16;

/// The first letter whose case we leave alone. Below it no version of Unicode changes cases any more, and the
/// compilers of the program and of the page's module need not agree on the rest.
const FIRST_WITHOUT_CASE: char = '\u{590}';

/// The skeletons of names, with their holders. It follows from the players.
pub(crate) type NameHolders = BTreeSet<(String, PublicKey)>;

/// Checks that people may choose this name: a line of [`NAME_BYTES_MAX`] bytes at most, of the letters that
/// Unicode advises for names, of spaces and of signs of ASCII.
///
/// # Errors
/// [`Refusal::BadText`] if it is no short line, else [`Refusal::UnfitName`].
pub fn check_name(name: &str) -> Result<(), Refusal> {
    // The length first: a long name costs nothing more.
    if name.len() > NAME_BYTES_MAX || !is_name(name) {
        return Err(Refusal::BadText);
    }
    let is_fit = |c: char| match c {
        KEY_MARK => false,
        ' ' | '!'..='}' => true,
        // The joiners are advised for some scripts. They are invisible in all others.
        '\u{200c}' | '\u{200d}' => false,
        _ => c.identifier_allowed(),
    };
    let look = skeleton_of(name);
    if name.chars().all(is_fit) && !look.is_empty() { Ok(()) } else { Err(Refusal::UnfitName) }
}

/// Returns the skeleton of a name: two names look alike if it is the same.
#[must_use]
pub fn skeleton_of(name: &str) -> String {
    let small = |c: char| if c < FIRST_WITHOUT_CASE { c.to_lowercase().next() } else { Some(c) };
    // Before the case is dropped, because a large I passes for a small l; and after it, because a small
    // letter may pass for two others.
    let plain: String = skeleton(name).filter_map(small).collect();
    skeleton(&plain).filter(|c| *c != ' ').collect()
}

impl State {
    /// Returns the name that a player has after a login under this one. It is this one, but for a traveller
    /// who came under it and a part of her key.
    ///
    /// # Errors
    /// If nobody may have it, or if somebody else holds one that looks like it.
    pub(crate) fn name_at_login(&self, key: &PublicKey, name: &str) -> Result<String, Refusal> {
        let known = self.players.get(key).map(|player| &player.name);
        // Names that were given by older rules stay.
        if known.is_some_and(|known| known == name) {
            return Ok(name.to_owned());
        }
        check_name(name)?;
        if !self.is_name_held(key, name) {
            return Ok(name.to_owned());
        }
        let marked = self.name_of_traveller(key, name);
        marked.filter(|marked| known == Some(marked)).ok_or(Refusal::NameTaken)
    }

    /// Says whether somebody else holds a name that looks like this one.
    fn is_name_held(&self, key: &PublicKey, name: &str) -> bool {
        let look = skeleton_of(name);
        let first = (look.clone(), PublicKey([0; 32]));
        let mut alike = self.names.range(first..).take_while(|(held, _)| *held == look);
        alike.any(|(_, holder)| holder != key)
    }

    /// Returns the name under which a traveller is here: her own one, or if somebody holds that here, it
    /// with a part of her key. Nothing if nobody may have it.
    pub(crate) fn name_of_traveller(&self, key: &PublicKey, name: &str) -> Option<String> {
        // She may have got the mark in the sim that she comes from.
        let own = name.split(KEY_MARK).next()?.trim_end();
        check_name(own).ok()?;
        if !self.is_name_held(key, own) {
            return Some(own.to_owned());
        }
        let room = NAME_BYTES_MAX - KEY_MARK.len_utf8() - KEY_DIGITS;
        let cut = own.floor_char_boundary(room);
        let digits: String = key.to_string().chars().take(KEY_DIGITS).collect();
        let marked = format!("{}{KEY_MARK}{digits}", &own[..cut]);
        (!self.is_name_held(key, &marked)).then_some(marked)
    }

    /// Notes that a player holds this name from now on, in place of the one before.
    pub(crate) fn note_name(&mut self, key: &PublicKey, before: Option<&str>, after: Option<&str>) {
        if before == after {
            return;
        }
        before.map(|name| self.names.remove(&(skeleton_of(name), *key)));
        self.names.extend(after.map(|name| (skeleton_of(name), *key)));
    }

    /// Builds the index of names of a state that was read from its leaves.
    pub(crate) fn index_names(&mut self) {
        let names = self.players.iter().map(|(key, player)| (skeleton_of(&player.name), *key));
        self.names = names.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_many_scripts_can_be_taken() {
        for name in
            ["Ada", "Jo\u{eb}lle van B.", "\u{416}\u{435}\u{43d}\u{44f}", "\u{827e}\u{8fbe}"]
        {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        assert_eq!(check_name(&"x".repeat(NAME_BYTES_MAX)), Ok(()));
        assert_eq!(check_name("bot #3 (of 9)"), Ok(()));
    }

    #[test]
    fn signs_that_nobody_sees_or_that_turn_a_line_are_in_no_name() {
        let zero_width = ["A\u{200b}da", "A\u{200d}da", "A\u{200c}da", "A\u{feff}da", "A\u{ad}da"];
        let others =
            ["\u{ff21}da", "A\u{2003}da", "Ada~1", "Ada\u{1f600}", "\u{2063}", "A\u{e0041}"];
        for name in zero_width.into_iter().chain(others) {
            assert_eq!(check_name(name), Err(Refusal::UnfitName), "{}", name.escape_unicode());
        }
        for name in ["", " Ada", "A\u{202e}da", "A\u{2067}da", "A\nda"] {
            assert_eq!(check_name(name), Err(Refusal::BadText), "{}", name.escape_unicode());
        }
        assert_eq!(check_name(&"x".repeat(65_536)), Err(Refusal::BadText));
    }

    #[test]
    fn names_that_pass_for_each_other_look_alike() {
        for (one, other) in [
            ("Ada", "ada"),
            ("Ada", "\u{410}d\u{430}"),
            ("Alan", "A\u{49}an"),
            ("Alan", "A1an"),
            ("Bob", "B0b"),
            ("Jo\u{eb}", "Joe\u{308}"),
            ("Emma", "Ernrna"),
            ("Ada Lovelace", "AdaLovelace"),
        ] {
            assert_eq!(skeleton_of(one), skeleton_of(other), "{one} and {other}");
        }
        for (one, other) in [("Ada", "Eda"), ("bot 1", "bot 2"), ("Jo\u{eb}", "Joe")] {
            assert_ne!(skeleton_of(one), skeleton_of(other), "{one} and {other}");
        }
    }
}
