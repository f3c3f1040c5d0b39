//! Invites as text: letters and digits that survive chats, mails, and being read aloud.
//!
//! The text is [`INVITE_MARK`] and the encoding in base 32 (RFC 4648, lower case, no padding). Case
//! means nothing, since codes in pictures are smaller in capitals; what comes before the mark, such
//! as `metatopia:`, or around it as white space, is passed over.

use alloc::{format, string::String};

use data_encoding::{BASE32_NOPAD, DecodeKind};
use metatopia_types::{wire, wire::DecodeError};

use crate::{INVITE_BYTES_MAX, SignedInvite};

/// What every invite in text begins with; the number is the version.
pub const INVITE_MARK: &str = "metatopia1";

/// Why a text is no invite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InviteTextError {
    /// The mark is not in it.
    #[error("no invite: it has no `{INVITE_MARK}` in it")]
    NoMark,
    /// Longer than any invite.
    #[error("no invite: {0} characters are too many")]
    TooLong(usize),
    /// A character that is none of the digits.
    #[error("no invite: character {0} after the mark is not a letter or a digit from 2 to 7")]
    Digit(usize),
    /// A part of it is missing, or changed.
    #[error("no invite: a part of it is missing or was changed ({0})")]
    Content(#[from] DecodeError),
}

impl SignedInvite {
    /// Returns the invite as text.
    #[must_use]
    pub fn text(&self) -> String {
        let digits = BASE32_NOPAD.encode(&wire::encode(self));
        format!("{INVITE_MARK}{}", digits.to_ascii_lowercase())
    }

    /// Reads it, from text or from an address that ends in it.
    ///
    /// # Errors
    /// See [`InviteTextError`]. Nothing is verified yet.
    pub fn read(text: &str) -> Result<Self, InviteTextError> {
        let text = text.trim();
        if text.len() > 2 * INVITE_BYTES_MAX {
            return Err(InviteTextError::TooLong(text.len()));
        }
        let text = text.to_ascii_lowercase();
        let at = text.rfind(INVITE_MARK).ok_or(InviteTextError::NoMark)?;
        let digits = text[at + INVITE_MARK.len()..].to_ascii_uppercase();
        let bytes = BASE32_NOPAD.decode(digits.as_bytes()).map_err(|error| match error.kind {
            DecodeKind::Symbol => InviteTextError::Digit(error.position + 1),
            // Digits that make no whole bytes, or bits behind the last byte.
            _ => DecodeError::NotCanonical.into(),
        })?;
        Ok(wire::decode(&bytes, INVITE_BYTES_MAX)?)
    }
}
