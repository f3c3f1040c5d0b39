//! Parsing and formatting of literals.

use fixed::types::I32F32;
use metatopia_math::{Fx, ParseFxError};
use proptest::prelude::*;

use crate::big::Big;
use crate::samples::{any_fx, cases};

fn parsed(text: &str) -> Result<i64, ParseFxError> {
    Fx::parse(text).map(Fx::to_bits)
}

/// A literal of the grammar: sign, digits, and perhaps a point and digits.
const LITERAL: &str = "[-+]?[0-9]{1,11}(\\.[0-9]{1,45})?";

/// Computes the bits of a literal by integers of any size; `None` out of range.
fn oracle(literal: &str) -> Option<i64> {
    let digits = literal.trim_start_matches(['-', '+']);
    let (int, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let (mut numerator, mut denominator) = (Big::zero(), Big::from(1));
    for (place, digit) in int.bytes().chain(decimals.bytes()).enumerate() {
        numerator = numerator.mul(&Big::from(10)).add(&Big::from(i128::from(digit - b'0')));
        if place >= int.len() {
            denominator = denominator.mul(&Big::from(10));
        }
    }
    let numerator = numerator.shift_left(32);
    // The greatest magnitude whose lower tie is not above the value, found bit by bit.
    let mut magnitude = 0_i128;
    for bit in (0..80).rev() {
        let tried = magnitude | (1 << bit);
        if Big::from(2 * tried - 1).mul(&denominator) <= numerator.mul(&Big::from(2)) {
            magnitude = tried;
        }
    }
    let tie = Big::from(2 * magnitude - 1).mul(&denominator) == numerator.mul(&Big::from(2));
    let rounded = if tie && magnitude % 2 == 1 { magnitude - 1 } else { magnitude };
    i64::try_from(if literal.starts_with('-') { -rounded } else { rounded }).ok()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_formatted_number_parses_as_itself(x in any_fx()) {
        prop_assert_eq!(Fx::parse(&x.to_string()), Ok(x));
        prop_assert_eq!(x.to_string().parse::<Fx>(), Ok(x));
    }

    /// `place check` and exports wrote 0.1000000000931322574615478515625 where somebody had written 0.1.
    #[test]
    fn the_shortest_literal_is_read_as_the_number_and_no_shorter_one_is(x in any_fx()) {
        let text = x.shortest().to_string();
        prop_assert_eq!(Fx::parse(&text), Ok(x));
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        prop_assert!(decimals <= 10, "written as {}", text);
        if decimals > 0 {
            let shorter = format!("{:.*}", decimals - 1, x);
            prop_assert_ne!(Fx::parse(&shorter), Ok(x), "{} is as good as {}", shorter, text);
        }
    }

    #[test]
    fn two_decimals_are_written_as_they_were_read(hundredths in -999_999_i128..=999_999) {
        let x = Fx::from_decimal(hundredths, 2).expect("in range");
        let text = x.shortest().to_string();
        prop_assert!(text.len() <= 8, "written as {}", text);
        prop_assert_eq!(Fx::parse(&text), Ok(x));
    }

    #[test]
    fn the_formatted_number_is_exact(x in any_fx()) {
        let text = x.to_string();
        let digits = text.trim_start_matches('-');
        let decimals = digits.split_once('.').map_or("", |(_, decimals)| decimals);

        let spelled: String = digits.chars().filter(|digit| *digit != '.').collect();
        let spelled = spelled.bytes().fold(Big::zero(), |value, digit| {
            value.mul(&Big::from(10)).add(&Big::from(i128::from(digit - b'0')))
        });
        let scale = (0..decimals.len()).fold(Big::from(1), |scale, _| scale.mul(&Big::from(10)));
        let bits = Big::from(i128::from(x.to_bits()).abs());
        prop_assert_eq!(spelled.shift_left(32), bits.mul(&scale));
        prop_assert!(!decimals.ends_with('0'), "written as {}", text);
        prop_assert_eq!(text.starts_with('-'), x < Fx::ZERO);
    }

    #[test]
    fn a_literal_of_any_length_is_rounded_once(literal in LITERAL) {
        match oracle(&literal) {
            Some(bits) => prop_assert_eq!(parsed(&literal), Ok(bits)),
            None => prop_assert_eq!(parsed(&literal), Err(ParseFxError::OutOfRange)),
        }
    }

    #[test]
    fn the_crate_fixed_parses_the_same_number(literal in LITERAL) {
        let theirs = literal.parse::<I32F32>().map(I32F32::to_bits);
        prop_assert_eq!(parsed(&literal).ok(), theirs.ok());
    }

    #[test]
    fn a_scaled_mantissa_equals_its_literal(mantissa in any::<i128>(), scale in 0_u32..=38) {
        let digits = format!("{:0>width$}", mantissa.unsigned_abs(), width = scale as usize + 1);
        let (int, decimals) = digits.split_at(digits.len() - scale as usize);
        let point = if scale == 0 { "" } else { "." };
        let sign = if mantissa < 0 { "-" } else { "" };
        let literal = format!("{sign}{int}{point}{decimals}");
        prop_assert_eq!(Fx::from_decimal(mantissa, scale), Fx::parse(&literal).ok());
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,20}|[-+.0-9e_ ]{0,12}") {
        let looks_right = {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
            let all = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            match digits.split_once('.') {
                Some((int, decimals)) => all(int) && all(decimals),
                None => all(digits),
            }
        };
        let well_formed = matches!(parsed(&text), Ok(_) | Err(ParseFxError::OutOfRange));
        prop_assert_eq!(well_formed, looks_right);
    }

    #[test]
    fn a_precision_rounds_the_exact_value(x in any_fx(), places in 0_usize..=32) {
        let text = format!("{x:.places$}");
        // Back to an integer, and then the law of rounding: at most half of the last digit off.
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let spelled = digits.bytes().fold(Big::zero(), |value, digit| {
            value.mul(&Big::from(10)).add(&Big::from(i128::from(digit - b'0')))
        });
        let scale = (0..places).fold(Big::from(1), |scale, _| scale.mul(&Big::from(10)));
        let exact = Big::from(i128::from(x.to_bits()).abs()).mul(&scale);
        let off = spelled.shift_left(32).sub(&exact).abs();
        let half = Big::power_of_two(31);
        let even = digits.ends_with(['0', '2', '4', '6', '8']);
        prop_assert!(off < half || (off == half && even), "{} is written as {}", x, text);
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        prop_assert_eq!(decimals, places);
        prop_assert_eq!(text.starts_with('-'), x < Fx::ZERO && !spelled.is_zero());
    }
}

#[test]
fn only_digits_beside_one_point_are_a_number() {
    use ParseFxError::{Empty, MissingDigit, OutOfRange, Unexpected};
    let unexpected = |at, found| Err(Unexpected { at, found });
    for (text, result) in [
        ("", Err(Empty)),
        ("-", Err(MissingDigit { at: 1 })),
        ("1.", Err(MissingDigit { at: 2 })),
        (".5", unexpected(0, '.')),
        ("1.x", unexpected(2, 'x')),
        ("1.5e3", unexpected(3, 'e')),
        ("1_000", unexpected(1, '_')),
        (" 1", unexpected(0, ' ')),
        ("1 ", unexpected(1, ' ')),
        ("--1", unexpected(1, '-')),
        ("1.2.3", unexpected(3, '.')),
        ("1,5", unexpected(1, ',')),
        ("\u{661}", unexpected(0, '\u{661}')),
        ("2147483648", Err(OutOfRange)),
        ("99999999999999999999999999999999999999999999", Err(OutOfRange)),
        // Syntax comes first.
        ("99999999999999999999999999999999999999999999x", unexpected(44, 'x')),
        ("+1.50", Ok(3 << 31)),
        ("-0", Ok(0)),
        ("0000000000000007", Ok(7 << 32)),
        ("2147483647.99999999976716935634613037109375", Ok(i64::MAX)),
        ("-2147483648", Ok(i64::MIN)),
    ] {
        assert_eq!(parsed(text), result, "{text:?}");
    }
}

#[test]
fn a_tie_of_a_literal_goes_to_the_even_number_and_any_later_digit_breaks_it() {
    // 2^-33, and the tie above 2^-32.
    let half = "0.000000000116415321826934814453125";
    let one_and_half = "0.000000000349245965480804443359375";
    assert_eq!(parsed(half), Ok(0));
    assert_eq!(parsed(one_and_half), Ok(2));

    let zeros = "0".repeat(1000);
    assert_eq!(parsed(&format!("{half}{zeros}")), Ok(0));
    assert_eq!(parsed(&format!("{half}{zeros}1")), Ok(1));
    assert_eq!(parsed(&format!("-{half}{zeros}1")), Ok(-1));
    assert_eq!(parsed(&format!("{half}1{zeros}")), Ok(1));

    // The ties at the ends of the range: the upper one leaves it, the lower one stays.
    let last = "2147483647.999999999883584678173065185546875";
    assert_eq!(parsed(last), Err(ParseFxError::OutOfRange));
    assert_eq!(parsed("-2147483648.000000000116415321826934814453125"), Ok(i64::MIN));
    assert_eq!(
        parsed("-2147483648.0000000001164153218269348144531250001"),
        Err(ParseFxError::OutOfRange)
    );
}

#[test]
fn a_scale_beyond_the_powers_of_ten_is_refused() {
    assert_eq!(Fx::from_decimal(1, 38), Some(Fx::ZERO));
    assert_eq!(Fx::from_decimal(1, 39), None);
    assert_eq!(Fx::from_decimal(i128::MAX, 0), None);
    assert_eq!(Fx::from_decimal(i128::MIN, 0), None);
    assert_eq!(Fx::from_decimal(-2_147_483_648, 0), Some(Fx::MIN));
}

#[test]
fn formats_pad_and_sign_as_integers_do() {
    let x = Fx::from_ratio(-5, 4);
    assert_eq!(
        format!("{x}|{x:8}|{x:08.3}|{x:<8.1}|{x:?}"),
        "-1.25|   -1.25|-001.250|-1.2    |Fx(-1.25)"
    );
    assert_eq!(format!("{:+}", Fx::HALF), "+0.5");
    assert_eq!(format!("{:.0}", Fx::from_ratio(-1, 4)), "0");
    assert_eq!(format!("{:.1}", Fx::from_ratio(9999, 1000)), "10.0");
    assert_eq!(format!("{:.99}", Fx::ONE), format!("1.{}", "0".repeat(32)));
    assert_eq!(Fx::MIN.to_string(), "-2147483648");
    assert_eq!(Fx::MAX.to_string(), "2147483647.99999999976716935634613037109375");
}
