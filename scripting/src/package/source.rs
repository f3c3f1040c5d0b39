//! What source may look like: plain text that shows what it is.

use alloc::{string::String, vec::Vec};

use crate::limits::FILE_BYTES_MAX;

/// The rule that a file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Longer than [`FILE_BYTES_MAX`].
    #[error("{bytes} bytes, more than {FILE_BYTES_MAX} (FILE_BYTES_MAX)")]
    Bytes {
        /// Its length in bytes.
        bytes: usize,
    },
    /// A line that is not UTF-8.
    #[error("line {line}, column {column}: not UTF-8")]
    Utf8 {
        /// The first line that is not, from 1.
        line: usize,
        /// The column of the first byte that is not, in characters, from 1.
        column: usize,
    },
    /// Begins with a byte order mark.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// A line ends in CR, alone or before LF.
    #[error("line {line}: a carriage return; lines end in LF alone")]
    CarriageReturn {
        /// The first such line.
        line: usize,
    },
    /// A control character, or one that changes the direction of writing or takes no room: with
    /// them, source does something else than it shows.
    #[error("line {line}, column {column}: the hidden character U+{:04X}", u32::from(*found))]
    Hidden {
        /// Its line, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
        /// The character that is refused.
        found: char,
    },
}

/// Checks that a file keeps the rules. Returns its text.
pub(super) fn check(bytes: Vec<u8>) -> Result<String, SourceError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(SourceError::Bytes { bytes: bytes.len() });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let valid = str::from_utf8(valid).unwrap_or_default();
        let last = valid.rsplit('\n').next().unwrap_or_default();
        SourceError::Utf8 {
            line: valid.split('\n').count(),
            column: last.chars().count().saturating_add(1),
        }
    })?;
    check_text(&text)?;
    Ok(text)
}

/// Checks that a text keeps the rules.
pub(super) fn check_text(text: &str) -> Result<(), SourceError> {
    if text.len() > FILE_BYTES_MAX {
        return Err(SourceError::Bytes { bytes: text.len() });
    }
    if text.starts_with('\u{FEFF}') {
        return Err(SourceError::ByteOrderMark);
    }
    for (line, content) in (1..).zip(text.split('\n')) {
        if content.contains('\r') {
            return Err(SourceError::CarriageReturn { line });
        }
        let hidden = |c: &char| is_hidden(*c) && *c != '\t';
        if let Some((column, found)) = (1..).zip(content.chars()).find(|(_, c)| hidden(c)) {
            return Err(SourceError::Hidden { line, column, found });
        }
    }
    Ok(())
}

/// Control characters, line and paragraph separators, characters that steer the direction of
/// writing, joiners and spaces without width, variation selectors and tags.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{FEFF}' | '\u{115F}' | '\u{1160}'
            | '\u{3164}' | '\u{FFA0}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}')
}
