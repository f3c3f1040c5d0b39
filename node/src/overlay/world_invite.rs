//! World invites: what somebody who knows a world gives to somebody who wants to join it.
//!
//! The text is [`WORLD_INVITE_MARK`] and digits of base 32 (RFC 4648, lower case, no padding), as that of an
//! invite that lets a node follow a sim. The digits are the content and a checksum of it, so a text that was cut
//! or mistyped is told from one of another world.
//!
//! Nobody signs it, and it proves nothing: it says which world is meant, from which height on its map counts, and
//! where to ask. Whoever takes it trusts whoever hands it out for that. Nodes need no trust: what they tell is held
//! against the world's id.

use std::{fmt, str::FromStr};

use data_encoding::BASE32_NOPAD;
use metatopia_client_driver::NodeUrl;
use metatopia_protocol::ADDRESS_BYTES_MAX;
use metatopia_types::{Digest, Height, SimId, wire};

/// What every world invite begins with; the number is the version.
pub const WORLD_INVITE_MARK: &str = "metatopia-world1";

/// Addresses in a world invite: as many as servers of a sim are asked before somebody goes to the nearest.
pub const WORLD_INVITE_ADDRESSES_MAX: usize = 4;

/// Largest encoded world invite: 32 bytes of an id, 10 of a height, a count, four addresses of 128 bytes with
/// two of their length, and the checksum.
pub const WORLD_INVITE_BYTES_MAX: usize =
    32 + 10 + 1 + WORLD_INVITE_ADDRESSES_MAX * (2 + ADDRESS_BYTES_MAX) + CHECKSUM_BYTES;

/// Bytes of the checksum: one of four billion mistakes is not noticed.
const CHECKSUM_BYTES: usize = 4;

/// The way into a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldInvite {
    /// The world: the id of its land office.
    pub world: SimId,
    /// The height of the land office from which on a map counts.
    pub map_from: Height,
    /// Nodes that take part in the world, the first to be asked first.
    pub addresses: Vec<NodeUrl>,
}

/// Says why a text is no world invite.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorldInviteError {
    /// The text does not hold the mark.
    #[error(
        "no invite to a world: it has no `{WORLD_INVITE_MARK}` in it; `metatopia world invite` \
         makes one"
    )]
    NoMark,
    /// It is an invite of another kind.
    #[error(
        "this invite lets a node follow a sim: `metatopia node join` takes it, and \
         `metatopia world invite` makes one to a world"
    )]
    OfSim,
    /// The text is longer than any invite.
    #[error("no invite to a world: {0} characters are too many; copy it alone")]
    TooLong(usize),
    /// The checksum is of another text, or the content is none.
    #[error(
        "no invite to a world: a part of it is missing or was changed; copy all of it, and \
         nothing behind it"
    )]
    Content,
    /// The addresses are none, too many, or no addresses of nodes.
    #[error(
        "no invite to a world: it names {0} addresses, of which this program cannot use some; \
         ask for a new one"
    )]
    Addresses(usize),
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let Digest(digest) = Digest::of("metatopia world invite v1", content);
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&digest[..CHECKSUM_BYTES]);
    sum
}

/// Says whether an address is short enough for an invite.
#[must_use]
pub fn fits(address: &NodeUrl) -> bool {
    address.to_string().len() <= ADDRESS_BYTES_MAX
}

impl fmt::Display for WorldInvite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses: Vec<String> = self.addresses.iter().map(NodeUrl::to_string).collect();
        let mut bytes = wire::encode(&(self.world, self.map_from, addresses));
        bytes.extend(checksum(&bytes));
        write!(f, "{WORLD_INVITE_MARK}{}", BASE32_NOPAD.encode(&bytes).to_ascii_lowercase())
    }
}

impl FromStr for WorldInvite {
    type Err = WorldInviteError;

    fn from_str(text: &str) -> Result<Self, WorldInviteError> {
        let text = text.trim();
        if text.len() > 2 * WORLD_INVITE_BYTES_MAX {
            return Err(WorldInviteError::TooLong(text.len()));
        }
        // Codes for cameras are smaller in capitals, and some programs begin a line with one.
        let text = text.to_ascii_lowercase();
        let Some((_, digits)) = text.rsplit_once(WORLD_INVITE_MARK) else {
            let is_other = ["metatopia1", "metatopia2/", "metatopia2s/"];
            let is_of_sim = is_other.iter().any(|mark| text.contains(mark));
            return Err(if is_of_sim { WorldInviteError::OfSim } else { WorldInviteError::NoMark });
        };
        let bytes = BASE32_NOPAD.decode(digits.to_ascii_uppercase().as_bytes());
        let bytes = bytes.map_err(|_| WorldInviteError::Content)?;
        let (content, sum) =
            bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(WorldInviteError::Content)?;
        if *sum != checksum(content) {
            return Err(WorldInviteError::Content);
        }
        let (world, map_from, addresses): (SimId, Height, Vec<String>) =
            wire::decode(content, WORLD_INVITE_BYTES_MAX).map_err(|_| WorldInviteError::Content)?;
        let wrong = WorldInviteError::Addresses(addresses.len());
        let read = |text: &String| text.parse().ok().filter(fits);
        let addresses: Vec<NodeUrl> =
            addresses.iter().map(read).collect::<Option<_>>().ok_or_else(|| wrong.clone())?;
        if !(1..=WORLD_INVITE_ADDRESSES_MAX).contains(&addresses.len()) {
            return Err(wrong);
        }
        Ok(Self { world, map_from, addresses })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invite(addresses: &[&str]) -> WorldInvite {
        WorldInvite {
            world: SimId(Digest([0xa7; 32])),
            map_from: Height(1_234),
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        }
    }

    fn read(text: &str) -> Result<WorldInvite, WorldInviteError> {
        text.parse()
    }

    #[test]
    fn a_world_invite_is_one_line_that_is_read_back_in_capitals_and_behind_an_address() {
        let invite = invite(&["http://192.168.1.20:8080", "https://plaza.example"]);
        let text = invite.to_string();
        assert!(text.starts_with(WORLD_INVITE_MARK) && text.len() < 200, "{text}");
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
        for shown in [&text, &text.to_uppercase(), &format!(" https://plaza.example/#{text}\n")] {
            assert_eq!(read(shown), Ok(invite.clone()), "{shown}");
        }
    }

    /// A digit that was mistyped in the id would else name another world, and nobody would say that it was the
    /// text.
    #[test]
    fn a_text_that_was_cut_or_changed_anywhere_is_refused() {
        let text = invite(&["http://192.168.1.20:8080"]).to_string();
        for end in WORLD_INVITE_MARK.len()..text.len() {
            assert_eq!(read(&text[..end]), Err(WorldInviteError::Content), "{}", &text[..end]);
        }
        for at in WORLD_INVITE_MARK.len()..text.len() {
            let other = if &text[at..=at] == "a" { "b" } else { "a" };
            let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert_eq!(read(&changed), Err(WorldInviteError::Content), "{changed}");
        }
        for behind in ["a", "aa", " and more", "!"] {
            assert_eq!(read(&format!("{text}{behind}")), Err(WorldInviteError::Content));
        }
    }

    #[test]
    fn a_text_of_another_kind_is_refused_with_what_makes_one() {
        for text in ["", "welcome", "http://192.168.1.20:8080", &WORLD_INVITE_MARK[..12]] {
            assert_eq!(read(text), Err(WorldInviteError::NoMark), "{text}");
        }
        for text in ["metatopia1abc", "METATOPIA2/00", "metatopia2s/00/plaza.example"] {
            assert_eq!(read(text), Err(WorldInviteError::OfSim), "{text}");
        }
        let told = WorldInviteError::NoMark.to_string();
        assert!(told.ends_with("`metatopia world invite` makes one"), "{told}");
    }

    #[test]
    fn the_longest_world_invite_has_four_addresses_of_128_bytes() {
        let host = "a".repeat(ADDRESS_BYTES_MAX - "http:///".len());
        let longest = format!("http://{host}");
        let largest = WorldInvite {
            map_from: Height(u64::MAX),
            ..invite(&[longest.as_str(); WORLD_INVITE_ADDRESSES_MAX])
        };
        let text = largest.to_string();
        let digits = text.len() - WORLD_INVITE_MARK.len();
        assert_eq!(digits, (WORLD_INVITE_BYTES_MAX * 8).div_ceil(5));
        assert_eq!(read(&text), Ok(largest));

        let none = invite(&[]).to_string();
        assert_eq!(read(&none), Err(WorldInviteError::Addresses(0)));
        let many = invite(&["http://a.example"; WORLD_INVITE_ADDRESSES_MAX + 1]).to_string();
        assert_eq!(read(&many), Err(WorldInviteError::Addresses(5)));
        let long = invite(&[&format!("{longest}a")]).to_string();
        assert_eq!(read(&long), Err(WorldInviteError::Addresses(1)));
        let over = "a".repeat(2 * WORLD_INVITE_BYTES_MAX + 1);
        assert_eq!(read(&over), Err(WorldInviteError::TooLong(over.len())));
    }
}
