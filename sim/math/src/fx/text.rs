//! Decimal literals: parsing with one exact rounding, formatting with none.

use core::fmt;
use core::str::FromStr;

use super::{FRACTION_BITS, Fx};

/// Decimal digits that decide the rounding. A tie lies on a multiple of 2^-33, and such a number has
/// at most 33 digits after the point. Later digits can only add "a little more".
const DECISIVE_DIGITS: u32 = 33;

/// Fraction digits of the exact decimal form: 2^-32 has 32.
const EXACT_DIGITS: usize = 32;

/// Decimals after which no two numbers are read from one literal: 2^-32 is above 2 * 10^-10.
const SHORTEST_DIGITS: usize = 10;

/// Digits of 2^31.
const INTEGER_DIGITS: usize = 10;

/// Decimal places that [`Fx::from_decimal`] accepts: 10^38 is the greatest power of ten in a
/// `u128`.
const DECIMAL_SCALE_MAX: u32 = 38;

/// A reason why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseFxError {
    /// The text is empty.
    #[error("number is empty")]
    Empty,
    /// There is a character that cannot stand there.
    #[error("unexpected {found:?} at byte {at} of a number")]
    Unexpected {
        /// The number of bytes before it.
        at: u32,
        /// The character that was found.
        found: char,
    },
    /// The text ends where a digit must stand.
    #[error("number ends at byte {at}, where a digit must stand")]
    MissingDigit {
        /// The length of the text in bytes.
        at: u32,
    },
    /// The number is correct, but after rounding not within -2^31 to 2^31 - 2^-32.
    #[error("number is out of range")]
    OutOfRange,
}

impl Fx {
    /// Reads a decimal literal: an optional `-` or `+`, digits, and optionally a point and digits.
    /// There is no exponent, no white space, and no digit may be left out beside the point.
    ///
    /// The exact value of the literal, of any length, is rounded once: to the nearest multiple
    /// of 2^-32, a tie to the even multiple. `0.1` is 429496730 * 2^-32.
    ///
    /// # Errors
    ///
    /// Returns the [`ParseFxError`] of the first wrong character, or [`ParseFxError::OutOfRange`]
    /// for a well-formed literal that rounds to a number out of range.
    pub fn parse(text: &str) -> Result<Self, ParseFxError> {
        if text.is_empty() {
            return Err(ParseFxError::Empty);
        }
        let signed = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (int, rest) = split_digits(signed);
        expect_digit(text, int, rest)?;
        let (decimals, rest) = match rest.strip_prefix('.') {
            Some(after_point) => {
                let (decimals, rest) = split_digits(after_point);
                expect_digit(text, decimals, rest)?;
                (decimals, rest)
            }
            None => ("", rest),
        };
        if let Some(found) = rest.chars().next() {
            return Err(ParseFxError::Unexpected { at: offset(text, rest), found });
        }

        let magnitude = (integer_value(int) << FRACTION_BITS) + fraction_value(decimals);
        signed_value(text.starts_with('-'), magnitude).ok_or(ParseFxError::OutOfRange)
    }

    /// Returns the number as the shortest decimal literal that [`Fx::parse`] reads as this very number, for people
    /// and for files: `0.1`, where [`Fx`] itself writes all 32 decimals of the multiple of 2^-32 next to it.
    #[must_use]
    pub const fn shortest(self) -> ShortestFx {
        ShortestFx(self)
    }

    /// Returns `mantissa / 10^scale`, rounded to the nearest number, a tie to the even one. Returns
    /// `None` if it is out of range or the scale is above 38.
    #[must_use]
    pub const fn from_decimal(mantissa: i128, scale: u32) -> Option<Self> {
        if scale > DECIMAL_SCALE_MAX {
            return None;
        }
        let one = 10_u128.pow(scale);
        let (int, rest) = (mantissa.unsigned_abs() / one, mantissa.unsigned_abs() % one);
        if int > 1 << 31 {
            return None;
        }
        let magnitude = (int << FRACTION_BITS) + rounded_fraction(rest, one, false);
        signed_value(mantissa < 0, magnitude)
    }
}

impl FromStr for Fx {
    type Err = ParseFxError;

    fn from_str(text: &str) -> Result<Self, ParseFxError> {
        Self::parse(text)
    }
}

/// Splits the digits off the front.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// Returns the number of bytes of `text` before its tail `rest`.
fn offset(text: &str, rest: &str) -> u32 {
    u32::try_from(text.len() - rest.len()).unwrap_or(u32::MAX)
}

/// Checks that there are digits before `rest`.
fn expect_digit(text: &str, digits: &str, rest: &str) -> Result<(), ParseFxError> {
    if !digits.is_empty() {
        return Ok(());
    }
    let at = offset(text, rest);
    match rest.chars().next() {
        Some(found) => Err(ParseFxError::Unexpected { at, found }),
        None => Err(ParseFxError::MissingDigit { at }),
    }
}

/// Returns the integer that the digits spell, or some integer above 2^31 if it is above 2^31.
fn integer_value(digits: &str) -> u128 {
    let beyond = 1_u128 << 32;
    digits.bytes().fold(0, |value, digit| (value * 10 + u128::from(digit - b'0')).min(beyond))
}

/// Returns 0.digits in units of 2^-32, rounded; 2^32 if it rounds up to one.
fn fraction_value(digits: &str) -> u128 {
    let (mut numerator, mut denominator, mut more) = (0, 1, false);
    for digit in digits.bytes().map(|byte| u128::from(byte - b'0')) {
        if denominator < 10_u128.pow(DECISIVE_DIGITS) {
            (numerator, denominator) = (numerator * 10 + digit, denominator * 10);
        } else {
            more |= digit != 0;
        }
    }
    rounded_fraction(numerator, denominator, more)
}

/// Returns `numerator / denominator` (below one), and a little more if `more`, in units of 2^-32,
/// rounded to the nearest, a tie to even. The denominator is at most 10^38, so that its double
/// fits.
const fn rounded_fraction(numerator: u128, denominator: u128, more: bool) -> u128 {
    let (mut rest, mut bits, mut place) = (numerator, 0, 0);
    while place < FRACTION_BITS {
        rest *= 2;
        bits *= 2;
        if rest >= denominator {
            rest -= denominator;
            bits += 1;
        }
        place += 1;
    }
    let twice = rest * 2;
    let up = twice > denominator || (twice == denominator && (more || bits & 1 == 1));
    if up { bits + 1 } else { bits }
}

/// Returns the number with this sign and magnitude (below 2^66) in units of 2^-32, if it is in
/// range.
const fn signed_value(negative: bool, magnitude: u128) -> Option<Fx> {
    let magnitude = magnitude as i128;
    Fx::checked_from_wide(if negative { -magnitude } else { magnitude })
}

/// Writes the exact value: as many decimals as it has (at most 32), and no point if there are none.
/// A precision, as in `{:.3}`, rounds the exact value to that many decimals, a tie to the
/// even digit; a precision above 32 counts as 32. Width, fill and sign work as for integers.
impl fmt::Display for Fx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = DecimalText::spell(self.to_bits().unsigned_abs(), f.precision());
        // A small number may round to zero. Zero has no sign.
        let is_zero = line.as_str().bytes().all(|byte| matches!(byte, b'0' | b'.'));
        f.pad_integral(!self.0.is_negative() || is_zero, "", line.as_str())
    }
}

/// A number as the shortest decimal literal from which [`Fx::parse`] reads it: see [`Fx::shortest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortestFx(Fx);

impl fmt::Display for ShortestFx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.to_bits().unsigned_abs();
        let mut line = DecimalText::spell(magnitude, Some(0));
        for decimals in 1..=SHORTEST_DIGITS {
            if line.magnitude() == u128::from(magnitude) {
                break;
            }
            line = DecimalText::spell(magnitude, Some(decimals));
        }
        f.pad_integral(!self.0.0.is_negative(), "", line.as_str())
    }
}

/// `Fx(1.5)`: the exact decimal value.
impl fmt::Debug for Fx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fx({self})")
    }
}

/// The decimal form of a magnitude: a spare zero for a carry, ten digits, a point, 32 digits.
struct DecimalText {
    bytes: [u8; 2 + INTEGER_DIGITS + EXACT_DIGITS],
    len: usize,
}

impl DecimalText {
    /// Spells `magnitude` (at most 2^63) * 2^-32, exactly or rounded to so many decimals.
    fn spell(magnitude: u64, decimals: Option<usize>) -> Self {
        let mut line = Self { bytes: [b'0'; 2 + INTEGER_DIGITS + EXACT_DIGITS], len: 1 };
        let int = magnitude >> FRACTION_BITS;
        let count = int.checked_ilog10().map_or(1, |log| log + 1);
        for place in (0..count).rev() {
            line.push(int / 10_u64.pow(place) % 10);
        }

        let mut rest = magnitude - (int << FRACTION_BITS);
        let mut written = 0;
        while decimals.map_or(rest != 0, |count| written < count.min(EXACT_DIGITS)) {
            if written == 0 {
                line.bytes[line.len] = b'.';
                line.len += 1;
            }
            rest *= 10;
            line.push(rest >> FRACTION_BITS);
            rest &= (1 << FRACTION_BITS) - 1;
            written += 1;
        }

        let half = 1 << (FRACTION_BITS - 1);
        // The codes of even digits are even.
        let odd = line.bytes[line.len - 1] & 1 == 1;
        if rest > half || (rest == half && odd) {
            line.carry();
        }
        line
    }

    fn push(&mut self, digit: u64) {
        self.bytes[self.len] = b'0' + digit as u8;
        self.len += 1;
    }

    /// Adds one to the last digit.
    fn carry(&mut self) {
        for byte in self.bytes[..self.len].iter_mut().rev() {
            match *byte {
                b'.' => {}
                b'9' => *byte = b'0',
                _ => {
                    *byte += 1;
                    return;
                }
            }
        }
    }

    /// Returns what is read from it, in units of 2^-32.
    fn magnitude(&self) -> u128 {
        let (int, decimals) = self.as_str().split_once('.').unwrap_or((self.as_str(), ""));
        (integer_value(int) << FRACTION_BITS) + fraction_value(decimals)
    }

    fn as_str(&self) -> &str {
        let start = usize::from(self.bytes[0] == b'0');
        core::str::from_utf8(&self.bytes[start..self.len]).expect("digits and a point are ASCII")
    }
}
