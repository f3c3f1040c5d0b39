//! Texts that people write or paste.

use std::{path::Path, str};

use metatopia::config;
use metatopia_client::{TrustCheckpoint, text};
use metatopia_math::Fx;
use metatopia_protocol::SignedInvite;
use metatopia_scripting::read_source;

/// Checks that text that is accepted is written as it was read.
fn said(text: &str, again: Option<String>) -> bool {
    if let Some(again) = &again {
        assert_eq!(again, text.trim(), "two texts of one value");
    }
    again.is_some()
}

pub(crate) fn source(bytes: &[u8]) -> bool {
    match read_source(bytes.to_vec()) {
        Ok(text) => {
            assert_eq!(text.as_bytes(), bytes, "source was changed in reading");
            true
        }
        Err(_) => false,
    }
}

/// Invites may stand at the end of an address, and in capitals: what is read again is the same.
pub(crate) fn invite(bytes: &[u8]) -> bool {
    let Some(invite) = str::from_utf8(bytes).ok().and_then(|text| SignedInvite::read(text).ok())
    else {
        return false;
    };
    let again = SignedInvite::read(&invite.text());
    assert_eq!(again.as_ref(), Ok(&invite), "an invite that does not read itself");
    true
}

/// Reads a checkpoint. Numbers have several texts; what is written is read as the same checkpoint.
pub(crate) fn checkpoint(bytes: &[u8]) -> bool {
    let read = |text: &str| text.parse::<TrustCheckpoint>().ok();
    let Some(checkpoint) = str::from_utf8(bytes).ok().and_then(read) else {
        return false;
    };
    assert_eq!(read(&checkpoint.to_string()), Some(checkpoint), "one that does not read itself");
    true
}

pub(crate) fn command(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|line| text::parse(line).is_ok())
}

/// Reads a number. Numbers have several texts; what is written is read as the same number.
pub(crate) fn number(bytes: &[u8]) -> bool {
    let Some(number) = str::from_utf8(bytes).ok().and_then(|text| Fx::parse(text).ok()) else {
        return false;
    };
    let text = number.to_string();
    said(&text, Fx::parse(&text).ok().map(|again| again.to_string()));
    assert_eq!(Fx::parse(&text), Ok(number), "{text}");
    true
}

pub(crate) fn config(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|text| config::parse(text, Path::new("node.toml")).is_ok())
}
