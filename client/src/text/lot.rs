//! Reading what people type about lots.

use alloc::string::{String, ToString as _};

/// What somebody types about the lot on which they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LotCommand {
    /// Take ground so wide and so deep, with the avatar in its middle.
    Claim(u16, u16),
    /// Give the lot another name.
    Name(String),
    /// Make somebody else the holder.
    Give(String),
    /// Let somebody build there.
    Open(String),
    /// Let somebody build there no longer.
    Shut(String),
    /// Let the members of a club build there.
    OpenToClub(String),
    /// Let the members of its club build there no longer.
    ShutToClub,
    /// Give the ground back to the sim.
    Return,
    /// Send a thing of somebody else home.
    SendHome(String),
}

/// Why a line about a lot is not understood. It says how it is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LotLineError {
    /// The line is in no form that is known.
    #[error(
        "that is `lot claim 8x8`, `lot name WORDS`, `lot open to NAME`, `lot shut to NAME`, `lot open to \
         club NAME`, `lot shut to club`, `lot give to NAME`, `lot send THING home` or `lot return`"
    )]
    Form,
}

/// Reads a line after the word `lot`.
///
/// # Errors
/// See [`LotLineError`].
pub(super) fn parse(rest: &str) -> Result<LotCommand, LotLineError> {
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    let filled = |text: &str| {
        let text = text.trim();
        if text.is_empty() { Err(LotLineError::Form) } else { Ok(text.to_string()) }
    };
    let to = || match rest.strip_prefix("to") {
        Some(name) if name.trim_start() != name || name.is_empty() => filled(name),
        _ => filled(rest),
    };
    Ok(match word.to_lowercase().as_str() {
        "claim" => {
            let (width, depth) = rest.split_once('x').ok_or(LotLineError::Form)?;
            let side = |text: &str| text.trim().parse().map_err(|_| LotLineError::Form);
            LotCommand::Claim(side(width)?, side(depth)?)
        }
        "name" => LotCommand::Name(filled(rest)?),
        "give" => LotCommand::Give(to()?),
        "open" => match to()?.strip_prefix("club ") {
            Some(club) => LotCommand::OpenToClub(filled(club)?),
            None => LotCommand::Open(to()?),
        },
        "shut" => match to()?.as_str() {
            "club" => LotCommand::ShutToClub,
            name => LotCommand::Shut(name.to_string()),
        },
        "send" => {
            LotCommand::SendHome(filled(rest.strip_suffix("home").ok_or(LotLineError::Form)?)?)
        }
        "return" if rest.is_empty() => LotCommand::Return,
        _ => return Err(LotLineError::Form),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_lots_are_read_and_others_are_told_how_they_are_meant() {
        for (line, command) in [
            ("claim 8x6", LotCommand::Claim(8, 6)),
            ("claim 8 x 6", LotCommand::Claim(8, 6)),
            ("name My garden", LotCommand::Name("My garden".to_string())),
            ("open to Bob", LotCommand::Open("Bob".to_string())),
            ("shut Bob", LotCommand::Shut("Bob".to_string())),
            ("open to club Old Gardeners", LotCommand::OpenToClub("Old Gardeners".to_string())),
            ("shut to club", LotCommand::ShutToClub),
            ("give to Eve", LotCommand::Give("Eve".to_string())),
            ("send old crate home", LotCommand::SendHome("old crate".to_string())),
            ("return", LotCommand::Return),
        ] {
            assert_eq!(parse(line), Ok(command), "{line}");
        }
        for line in
            ["", "claim", "claim 8", "claim 8x-1", "name", "open to ", "send home", "return it"]
        {
            assert_eq!(parse(line), Err(LotLineError::Form), "{line}");
        }
        let told = LotLineError::Form.to_string();
        assert!(told.contains("lot claim 8x8") && !told.contains("  "), "{told}");
    }
}
