//! Integers of any size, as simple as possible, for the oracles.

use std::cmp::Ordering;

/// A sign and a magnitude in words of 32 bits, the lowest first, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Big {
    negative: bool,
    words: Vec<u32>,
}

impl Big {
    pub(crate) fn zero() -> Self {
        Self { negative: false, words: Vec::new() }
    }

    pub(crate) fn power_of_two(exponent: usize) -> Self {
        Self::from(1).shift_left(exponent)
    }

    fn trimmed(negative: bool, mut words: Vec<u32>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        Self { negative: negative && !words.is_empty(), words }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.words.is_empty()
    }

    pub(crate) fn neg(&self) -> Self {
        Self::trimmed(!self.negative, self.words.clone())
    }

    pub(crate) fn abs(&self) -> Self {
        Self::trimmed(false, self.words.clone())
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        if self.negative == other.negative {
            return Self::trimmed(self.negative, add_words(&self.words, &other.words));
        }
        match compare_words(&self.words, &other.words) {
            Ordering::Less => {
                Self::trimmed(other.negative, subtract_words(&other.words, &self.words))
            }
            _ => Self::trimmed(self.negative, subtract_words(&self.words, &other.words)),
        }
    }

    pub(crate) fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        let mut words = vec![0; self.words.len() + other.words.len()];
        for (place, a) in self.words.iter().enumerate() {
            let mut carry = 0;
            for (word, b) in words[place..].iter_mut().zip(other.words.iter().chain([&0])) {
                let sum = u64::from(*a) * u64::from(*b) + u64::from(*word) + carry;
                *word = sum as u32;
                carry = sum >> 32;
            }
        }
        Self::trimmed(self.negative != other.negative, words)
    }

    /// The quotient, cut towards zero.
    pub(crate) fn div_small(&self, divisor: u32) -> Self {
        let mut words = self.words.clone();
        let mut rest = 0;
        for word in words.iter_mut().rev() {
            let value = (rest << 32) | u64::from(*word);
            *word = (value / u64::from(divisor)) as u32;
            rest = value % u64::from(divisor);
        }
        Self::trimmed(self.negative, words)
    }

    pub(crate) fn shift_left(&self, bits: usize) -> Self {
        let mut words = vec![0; bits / 32];
        let mut carry = 0;
        for word in &self.words {
            let wide = (u64::from(*word) << (bits % 32)) | carry;
            words.push(wide as u32);
            carry = wide >> 32;
        }
        words.push(carry as u32);
        Self::trimmed(self.negative, words)
    }

    /// The magnitude over a power of two, cut towards zero.
    pub(crate) fn shift_right(&self, bits: usize) -> Self {
        let kept = self.words.get(bits / 32..).unwrap_or_default();
        let words = (0..kept.len()).map(|place| {
            let high = u64::from(kept.get(place + 1).copied().unwrap_or(0));
            (((high << 32) | u64::from(kept[place])) >> (bits % 32)) as u32
        });
        Self::trimmed(self.negative, words.collect())
    }
}

impl From<i128> for Big {
    fn from(value: i128) -> Self {
        let mut magnitude = value.unsigned_abs();
        let mut words = Vec::new();
        while magnitude != 0 {
            words.push(magnitude as u32);
            magnitude >>= 32;
        }
        Self { negative: value < 0, words }
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_words(&self.words, &other.words),
            (true, true) => compare_words(&other.words, &self.words),
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare_words(a: &[u32], b: &[u32]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add_words(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut carry = 0;
    let mut words = Vec::new();
    for place in 0..=a.len().max(b.len()) {
        let at = |words: &[u32]| u64::from(words.get(place).copied().unwrap_or(0));
        let sum = at(a) + at(b) + carry;
        words.push(sum as u32);
        carry = sum >> 32;
    }
    words
}

/// Returns `a - b`, where `a` is not less.
fn subtract_words(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut borrow = 0;
    let mut words = Vec::new();
    for (place, a) in a.iter().enumerate() {
        let taken = u64::from(b.get(place).copied().unwrap_or(0)) + borrow;
        borrow = u64::from(u64::from(*a) < taken);
        words.push((u64::from(*a) + (borrow << 32) - taken) as u32);
    }
    words
}

#[test]
fn big_integers_agree_with_i128_where_both_reach() {
    let samples =
        [0, 1, -1, 3, -7, 1 << 31, 0xFFFF_FFFF, -(1 << 32), 0x1234_5678_9ABC_DEF0, -(1 << 62)];
    for a in samples {
        for b in samples {
            let (big_a, big_b) = (Big::from(a), Big::from(b));
            assert_eq!(big_a.add(&big_b), Big::from(a + b), "{a} + {b}");
            assert_eq!(big_a.sub(&big_b), Big::from(a - b), "{a} - {b}");
            assert_eq!(big_a.mul(&big_b), Big::from(a * b), "{a} * {b}");
            assert_eq!(big_a.cmp(&big_b), a.cmp(&b), "{a} and {b}");
        }
        for divisor in [1, 2, 3, 1_000_003, u32::MAX] {
            assert_eq!(Big::from(a).div_small(divisor), Big::from(a / i128::from(divisor)));
        }
        for bits in [0, 1, 31, 32, 33, 60] {
            assert_eq!(Big::from(a).shift_left(bits), Big::from(a * (1 << bits)), "{a} << {bits}");
            assert_eq!(Big::from(a).shift_right(bits), Big::from(a / (1 << bits)), "{a} >> {bits}");
        }
    }
}
