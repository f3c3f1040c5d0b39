//! Keys as text: what key files hold, and what the page shows and takes.
//!
//! ```text
//! # A line that begins with # means nothing, and neither does an empty one.
//! metatopia-key-1 0000000000000000000000000000000000000000000000000000000000000000
//! metatopia-rotation-1 DIGITS
//! ```
//! There is exactly one key line. The program writes the form above; the page writes `metatopia-key-1:DIGITS:SUM`,
//! whose last eight digits show a slip of the pen, and in which digits may be capitals. Both read both. The line of a
//! rotation may stand beside a key that took the place of another one, so that one text holds all that a person needs.

mod sealed;

use alloc::{format, string::String, vec};

use metatopia_types::{Digest, Ed25519, Rotation, Sign as _, SigningKey, wire};
use zeroize::Zeroizing;

pub use sealed::{SEAL_RANDOM, UnsealTextError, is_sealed, seal, unseal};

/// The longest text of a key with its comments, in bytes.
pub const KEY_TEXT_MAX: usize = 4_096;

/// The first word of a key line, which names the format and its version.
pub const KEY_TAG: &str = "metatopia-key-1";

/// The first word of the line of a rotation.
const ROTATION_TAG: &str = "metatopia-rotation-1";

/// The longest document of a rotation, in bytes: two keys, two signatures and a number.
const ROTATION_BYTES_MAX: usize = 256;

/// Digits of a key line that show a slip of the pen.
const SUM_DIGITS: usize = 8;

/// Says what is wrong with the text of a key, and nothing of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// The text is longer than [`KEY_TEXT_MAX`].
    #[error("it is longer than {KEY_TEXT_MAX} bytes")]
    TooLong,
    /// A line that is neither a comment, a key nor a rotation.
    #[error("line {line} is neither a comment nor `{KEY_TAG}` and 64 lowercase hexadecimal digits")]
    Line {
        /// The number of the line, from 1.
        line: usize,
    },
    /// The last digits of a key line are not those of its key.
    #[error(
        "line {line} has a slip of the pen: its last {SUM_DIGITS} digits are not those of the key"
    )]
    Mistyped {
        /// The number of the line, from 1.
        line: usize,
    },
    /// The line of a rotation that both keys did not sign, or that leads to another key.
    #[error("line {line} is no rotation that leads to this key and that both keys signed")]
    Rotation {
        /// The number of the line, from 1.
        line: usize,
    },
    /// The text has no key line.
    #[error("it holds no key")]
    Empty,
    /// The text holds a key that only a passphrase opens.
    #[error("it is sealed by a passphrase: `metatopia keys import FILE --out NEW` opens it")]
    Sealed,
    /// The text has a second line of the same kind.
    #[error("line {line} holds a second key or rotation")]
    Second {
        /// The number of the line, from 1.
        line: usize,
    },
}

/// What the text of a key holds.
#[derive(Debug)]
pub struct KeyText {
    /// The key itself, with its secret.
    pub key: SigningKey,
    /// The document by which the key took the place of another one, if it did.
    pub rotation: Option<Rotation>,
}

impl KeyText {
    /// Reads the text of a key, in either form.
    ///
    /// # Errors
    /// See [`KeyTextError`].
    pub fn parse(text: &[u8]) -> Result<Self, KeyTextError> {
        if text.len() > KEY_TEXT_MAX {
            return Err(KeyTextError::TooLong);
        }
        let (mut key, mut rotation) = (None, None);
        for (line, text) in lines(text) {
            let is_second = if text.starts_with(ROTATION_TAG.as_bytes()) {
                let read = parse_rotation(text).ok_or(KeyTextError::Rotation { line })?;
                rotation.replace((line, read)).is_some()
            } else if is_sealed(text) {
                return Err(KeyTextError::Sealed);
            } else {
                key.replace(parse_line(line, text)?).is_some()
            };
            if is_second {
                return Err(KeyTextError::Second { line });
            }
        }
        let key = key.ok_or(KeyTextError::Empty)?;
        match rotation {
            Some((line, read)) if read.new != key.public() => Err(KeyTextError::Rotation { line }),
            rotation => Ok(Self { key, rotation: rotation.map(|(_, read)| read) }),
        }
    }

    /// Returns the text that the page shows: a line that a slip of the pen spoils, and the rotation on another one.
    #[must_use]
    pub fn page_text(&self) -> Zeroizing<String> {
        let secret = self.key.secret();
        let (digits, sum) = (Zeroizing::new(hex(&*secret)), sum(&secret));
        let rotation = self.rotation.as_ref().map(rotation_line);
        let rotation = rotation.map_or_else(String::new, |line| format!("\n{line}"));
        Zeroizing::new(format!("{KEY_TAG}:{}:{sum}{rotation}", *digits))
    }
}

/// Returns the lines of a text that mean something, with their numbers from 1.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = (1..).zip(text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
    lines.filter(|(_, text)| !text.is_empty() && !text.starts_with(b"#"))
}

fn parse_line(line: usize, text: &[u8]) -> Result<SigningKey, KeyTextError> {
    let wrong = KeyTextError::Line { line };
    let Some((tag, rest)) = text.split_at_checked(KEY_TAG.len()) else { return Err(wrong) };
    // What was typed off paper may be in capitals, and its sum says whether it is right.
    if let Some(rest) = rest.strip_prefix(b":") {
        let typed = Zeroizing::new(rest.to_ascii_lowercase());
        let parts = typed.split_at_checked(typed.len().saturating_sub(SUM_DIGITS));
        let (digits, told) = parts.ok_or(wrong)?;
        let digits = digits.strip_suffix(b":").ok_or(wrong)?;
        let seed = parse_hex::<32>(digits).ok_or(wrong)?;
        if !tag.eq_ignore_ascii_case(KEY_TAG.as_bytes()) {
            return Err(wrong);
        }
        return match sum(&seed).as_bytes() == told {
            true => Ok(SigningKey::from_seed(*seed)),
            false => Err(KeyTextError::Mistyped { line }),
        };
    }
    let digits = rest.strip_prefix(b" ").filter(|_| tag == KEY_TAG.as_bytes());
    let seed = digits.and_then(parse_hex::<32>).ok_or(wrong)?;
    Ok(SigningKey::from_seed(*seed))
}

/// Returns the digits that show a slip of the pen.
fn sum(secret: &[u8; 32]) -> String {
    hex(&Digest::of("metatopia key text v1", secret).0[..SUM_DIGITS / 2])
}

/// Returns the line of a rotation.
#[must_use]
pub fn rotation_line(rotation: &Rotation) -> String {
    format!("{ROTATION_TAG} {}", hex(&wire::encode(rotation)))
}

/// Reads the line of a rotation; none if it is not one that both keys signed.
#[must_use]
pub fn parse_rotation(line: &[u8]) -> Option<Rotation> {
    let digits = line.strip_prefix(ROTATION_TAG.as_bytes())?.strip_prefix(b" ")?;
    let mut bytes = vec![0; (digits.len() / 2).min(ROTATION_BYTES_MAX)];
    fill_from_hex(&mut bytes, digits)?;
    let rotation: Rotation = wire::decode(&bytes, ROTATION_BYTES_MAX).ok()?;
    rotation.verify(&Ed25519).then_some(rotation)
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Reads so many bytes from two lowercase digits each.
pub(crate) fn parse_hex<const N: usize>(digits: &[u8]) -> Option<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    fill_from_hex(&mut *bytes, digits)?;
    Some(bytes)
}

/// Fills bytes from two lowercase digits each; there must be no more and no fewer.
fn fill_from_hex(bytes: &mut [u8], digits: &[u8]) -> Option<()> {
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        for digit in pair {
            let value = DIGITS.iter().position(|known| known == digit)?;
            *byte = *byte << 4 | u8::try_from(value).expect("one of sixteen");
        }
    }
    Some(())
}

/// Writes bytes as two lowercase digits each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    fn digits() -> String {
        "0f".repeat(32)
    }

    fn key(text: &str) -> Result<[u8; 32], KeyTextError> {
        KeyText::parse(text.as_bytes()).map(|read| *read.key.secret())
    }

    /// The page and the program wrote two forms of the same key, and neither read the other's.
    #[test]
    fn the_forms_of_the_program_and_of_the_page_are_read_alike() {
        let mine = KeyText { key: SigningKey::from_seed([15; 32]), rotation: None };
        let page = mine.page_text();
        assert_eq!(page.len(), KEY_TAG.len() + 1 + 64 + 1 + SUM_DIGITS);
        let typed = page.to_uppercase();
        let file = format!("# a comment\n\n{KEY_TAG} {}\r\n", digits());
        for text in [&file, &*page, &typed, &format!("  {}\n", *page)] {
            assert_eq!(key(text), Ok([15; 32]), "{text}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_told_from_a_text_that_is_no_key() {
        let page = KeyText { key: SigningKey::from_seed([15; 32]), rotation: None }.page_text();
        let (line, other) = (KeyTextError::Line { line: 1 }, page.replacen("0f", "0e", 1));
        assert_eq!(key(&other), Err(KeyTextError::Mistyped { line: 1 }));
        let digits = digits();
        for (text, wrong) in [
            (String::new(), KeyTextError::Empty),
            (digits.clone(), line),
            (format!("{KEY_TAG}:{digits}"), line),
            (format!("{KEY_TAG}:{digits}:"), line),
            (format!("{KEY_TAG} {}", digits.to_uppercase()), line),
            (KEY_TAG.to_string(), line),
            ("metatopia-sealed-key-1 00".to_string(), KeyTextError::Sealed),
            (format!("{}\n{KEY_TAG} {digits}", *page), KeyTextError::Second { line: 2 }),
            ("#".repeat(KEY_TEXT_MAX + 1), KeyTextError::TooLong),
        ] {
            assert_eq!(key(&text), Err(wrong));
            assert!(!format!("{wrong} {wrong:?}").contains("0f0f"), "the key is in no message");
        }
    }

    #[test]
    fn a_rotation_stands_beside_its_key_and_no_other() {
        let [old, new, eve] = [1, 2, 3].map(|n| SigningKey::from_seed([n; 32]));
        let rotation = Rotation::new(&old, &new, 3);
        let text = KeyText { key: new, rotation: Some(rotation) }.page_text();
        let read = KeyText::parse(text.as_bytes()).expect("its own text");
        assert_eq!(read.rotation, Some(rotation));

        let line = rotation_line(&rotation);
        let stranger = KeyText { key: eve, rotation: None }.page_text();
        let wrong = Err(KeyTextError::Rotation { line: 2 });
        assert_eq!(key(&format!("{}\n{line}", *stranger)), wrong, "it leads to another key");
        let flipped = line.replace(&rotation.old.to_string(), &rotation.new.to_string());
        for line in [&line[..line.len() - 2], &flipped, ROTATION_TAG] {
            let text = text.lines().next().expect("the key").to_string();
            assert_eq!(key(&format!("{text}\n{line}")), wrong, "{line}");
        }
        assert_eq!(key(&format!("{}\n{line}", *text)), Err(KeyTextError::Second { line: 3 }));
        assert_eq!(key(&line), Err(KeyTextError::Empty));
    }
}
