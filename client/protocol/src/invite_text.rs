//! Invites as text: letters and digits that survive chats, mails, and being read aloud.
//!
//! The text is [`INVITE_MARK`] and the encoding in base 32 (RFC 4648, lower case, no padding). Case
//! means nothing, since codes in pictures are smaller in capitals; what comes before the mark, such
//! as `metatopia:`, or around it as white space, is passed over.

use alloc::{string::String, vec::Vec};

use metatopia_types::{wire, wire::DecodeError};

use crate::{INVITE_BYTES_MAX, SignedInvite};

/// What every invite in text begins with; the number is the version.
pub const INVITE_MARK: &str = "metatopia1";

const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

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
        let mut text = String::from(INVITE_MARK);
        let (mut bits, mut held) = (0_u32, 0_u32);
        let push = |text: &mut String, five: u32| {
            text.push(char::from(DIGITS[(five & 31) as usize]));
        };
        for byte in wire::encode(self) {
            bits = bits << 8 | u32::from(byte);
            held += 8;
            while held >= 5 {
                held -= 5;
                push(&mut text, bits >> held);
            }
            bits &= (1 << held) - 1;
        }
        if held > 0 {
            push(&mut text, bits << (5 - held));
        }
        text
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
        let digits = &text[at + INVITE_MARK.len()..];
        let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
        for (place, digit) in (1..).zip(digits.bytes()) {
            let value = match digit {
                b'a'..=b'z' => digit - b'a',
                b'2'..=b'7' => digit - b'2' + 26,
                _ => return Err(InviteTextError::Digit(place)),
            };
            bits = bits << 5 | u32::from(value);
            held += 5;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held & 0xff) as u8);
                bits &= (1 << held) - 1;
            }
        }
        // Whole bytes leave fewer than five bits over, all of them zero.
        if held >= 5 || bits != 0 {
            return Err(DecodeError::NotCanonical.into());
        }
        Ok(wire::decode(&bytes, INVITE_BYTES_MAX)?)
    }
}
