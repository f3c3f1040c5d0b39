//! Random streams: their definition and their distribution.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Stream};
use proptest::prelude::*;

use crate::samples::{any_fx, cases};

const KEY: [u8; 32] = [3; 32];

fn stream(part: u64) -> Stream {
    Stream::new(&KEY, "test", &[part])
}

/// Returns Pearson's chi-squared statistic of the counts, times the expected count.
fn unevenness(counts: &[u64]) -> u64 {
    let expected = counts.iter().sum::<u64>() / counts.len() as u64;
    counts.iter().map(|count| count.abs_diff(expected).pow(2)).sum()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_stream_is_keyed_blake3_over_its_domain_and_parts(
        key in any::<[u8; 32]>(),
        domain in "[a-z.]{0,20}",
        parts in prop::collection::vec(any::<u64>(), 0..6),
        draws in 0_usize..40,
    ) {
        let mut input = (domain.len() as u64).to_le_bytes().to_vec();
        input.extend(domain.as_bytes());
        input.extend((parts.len() as u64).to_le_bytes());
        input.extend(parts.iter().flat_map(|part| part.to_le_bytes()));
        let mut output = vec![0; draws * 8];
        blake3::Hasher::new_keyed(&key).update(&input).finalize_xof().fill(&mut output);

        let mut stream = Stream::new(&key, &domain, &parts);
        let drawn: Vec<u8> = (0..draws).flat_map(|_| stream.next_u64().to_le_bytes()).collect();
        prop_assert_eq!(drawn, output);
    }

    #[test]
    fn below_stays_below_and_uses_the_high_half(
        bound in any::<u64>(),
        shift in 0_u32..64,
        part in any::<u64>(),
    ) {
        let bound = bound >> shift;
        let drawn = stream(part).below(bound);
        prop_assert!(drawn < bound.max(1));
        // Unless the first draw was refused, the answer is its share of the bound.
        let mut raw = stream(part);
        let answers: Vec<u64> = (0..70)
            .map(|_| ((u128::from(raw.next_u64()) * u128::from(bound)) >> 64) as u64)
            .collect();
        prop_assert!(answers.contains(&drawn));
    }

    #[test]
    fn numbers_between_stay_between(low in any_fx(), high in any_fx(), part in any::<u64>()) {
        let drawn = stream(part).fx_between(low, high);
        if low < high {
            prop_assert!(low <= drawn && drawn < high);
        } else {
            prop_assert_eq!(drawn, low);
        }
        let unit = stream(part).fx_unit();
        prop_assert!(Fx::ZERO <= unit && unit < Fx::ONE);
    }

    #[test]
    fn a_shuffle_keeps_every_item(count in 0_u32..200, part in any::<u64>()) {
        let mut items: Vec<u32> = (0..count).collect();
        stream(part).shuffle(&mut items);
        items.sort();
        prop_assert!(items.into_iter().eq(0..count));
    }

    #[test]
    fn a_clone_of_a_stream_goes_on_alike(part in any::<u64>(), draws in 0_u32..20) {
        let mut original = stream(part);
        for _ in 0..draws {
            original.next_u64();
        }
        let mut copy = original.clone();
        prop_assert_eq!([0; 9].map(|_| original.next_u64()), [0; 9].map(|_| copy.next_u64()));
    }
}

#[test]
fn domains_and_parts_with_equal_concatenations_are_different_streams() {
    let first = |key: &[u8; 32], domain, parts: &[u64]| Stream::new(key, domain, parts).next_u64();
    let mut firsts = vec![
        first(&KEY, "ab", &[]),
        first(&KEY, "a", &[]),
        first(&KEY, "", &[]),
        first(&KEY, "ab", &[0]),
        first(&KEY, "ab", &[0, 0]),
        first(&KEY, "ab", &[1]),
        first(&KEY, "ab", &[0, 1]),
        first(&KEY, "ab", &[1, 0]),
        // The part is what would continue the domain.
        first(&KEY, "abcdefgh", &[]),
        first(&KEY, "", &[u64::from_le_bytes(*b"abcdefgh")]),
        first(&[4; 32], "ab", &[]),
    ];
    let count = firsts.len();
    firsts.sort();
    firsts.dedup();
    assert_eq!(firsts.len(), count);
}

#[test]
fn every_number_below_a_bound_is_as_likely_as_any_other() {
    let mut counts = [0_u64; 10];
    let mut dice = stream(1);
    for _ in 0..100_000 {
        counts[dice.below(10) as usize] += 1;
    }
    // Chi-squared with 9 degrees of freedom exceeds 27.9 once in a thousand; the seed is fixed.
    assert!(unevenness(&counts) < 279_000, "{counts:?}");
}

#[test]
fn a_bound_that_does_not_divide_the_range_favours_no_number() {
    // Of three quarters of the range a plain remainder would make the lower third twice as likely,
    // and the bare high half of the product every third answer.
    let bound = 3 << 62;
    let (mut thirds, mut residues) = ([0_u64; 3], [0_u64; 3]);
    let mut dice = stream(2);
    for _ in 0..30_000 {
        let drawn = dice.below(bound);
        thirds[(drawn >> 62) as usize] += 1;
        residues[(drawn % 3) as usize] += 1;
    }
    // Chi-squared with 2 degrees of freedom exceeds 13.8 once in a thousand.
    assert!(unevenness(&thirds) < 138_000, "{thirds:?}");
    assert!(unevenness(&residues) < 138_000, "{residues:?}");
}

#[test]
fn every_order_of_a_shuffle_is_as_likely_as_any_other() {
    let mut counts = BTreeMap::new();
    let mut cards = stream(3);
    for _ in 0..24_000 {
        let mut hand = [0, 1, 2, 3];
        cards.shuffle(&mut hand);
        *counts.entry(hand).or_insert(0) += 1;
    }
    let counts: Vec<u64> = counts.into_values().collect();
    assert_eq!(counts.len(), 24);
    // Chi-squared with 23 degrees of freedom exceeds 49.7 once in a thousand.
    assert!(unevenness(&counts) < 49_700, "{counts:?}");
}

#[test]
fn picks_are_uniform_and_an_empty_slice_has_none() {
    let mut counts = [0_u64; 5];
    let mut dice = stream(4);
    for _ in 0..50_000 {
        counts[*dice.pick(&[0_usize, 1, 2, 3, 4]).unwrap()] += 1;
    }
    // Chi-squared with 4 degrees of freedom exceeds 18.5 once in a thousand.
    assert!(unevenness(&counts) < 185_000, "{counts:?}");
    assert_eq!(dice.pick::<u32>(&[]), None);
}

#[test]
fn a_bound_of_zero_or_one_gives_zero() {
    let mut dice = stream(5);
    assert_eq!([dice.below(0), dice.below(1), dice.below(0)], [0; 3]);
}

#[test]
fn the_debug_form_of_a_stream_hides_its_numbers() {
    assert_eq!(format!("{:?}", stream(6)), "Stream { .. }");
}
