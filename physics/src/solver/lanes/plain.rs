//! Lanes by loops.

use core::array::from_fn;
use core::ops::{Add, Sub};

use crate::fixed::rounded;

/// Four numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct PlainLanes([i32; 4]);

/// Four products of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct PlainProducts([i64; 4]);

impl PlainLanes {
    pub(in crate::solver) const fn new(lanes: [i32; 4]) -> Self {
        Self(lanes)
    }

    pub(in crate::solver) const fn array(self) -> [i32; 4] {
        self.0
    }

    pub(in crate::solver) fn times(self, other: Self) -> PlainProducts {
        PlainProducts(from_fn(|lane| i64::from(self.0[lane]) * i64::from(other.0[lane])))
    }

    /// Returns the low 32 bits of each product.
    pub(in crate::solver) fn times_low(self, other: Self) -> Self {
        self.with(other, i32::wrapping_mul)
    }

    pub(in crate::solver) fn min(self, other: Self) -> Self {
        self.with(other, i32::min)
    }

    pub(in crate::solver) fn max(self, other: Self) -> Self {
        self.with(other, i32::max)
    }

    /// Returns a mask: all bits of each lane that is greater than the other one.
    pub(in crate::solver) fn above(self, other: Self) -> Self {
        self.with(other, |one, other| -i32::from(one > other))
    }

    /// Returns a mask: all bits of each lane that equals the other one.
    pub(in crate::solver) fn equals(self, other: Self) -> Self {
        self.with(other, |one, other| -i32::from(one == other))
    }

    pub(in crate::solver) fn and(self, mask: Self) -> Self {
        self.with(mask, |one, mask| one & mask)
    }

    /// Returns each lane whose mask has all bits, and of the others the one that is given instead.
    pub(in crate::solver) fn where_or(self, mask: Self, other: Self) -> Self {
        Self(from_fn(|lane| if mask.0[lane] != 0 { self.0[lane] } else { other.0[lane] }))
    }

    /// Returns whether all lanes of a mask have all bits.
    pub(in crate::solver) fn all(self) -> bool {
        self.0 == [-1; 4]
    }

    /// Returns whether each number is at least -2^23, and below 2^23.
    pub(in crate::solver) fn are_small(self) -> bool {
        self.0.iter().all(|number| (-1 << 23..1 << 23).contains(number))
    }

    /// Turns four rows of four numbers into four columns.
    pub(in crate::solver) fn transposed(rows: [Self; 4]) -> [Self; 4] {
        from_fn(|column| Self(rows.map(|row| row.0[column])))
    }

    fn with(self, other: Self, work: impl Fn(i32, i32) -> i32) -> Self {
        Self(from_fn(|lane| work(self.0[lane], other.0[lane])))
    }
}

impl Add for PlainLanes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, i32::wrapping_add)
    }
}

impl Sub for PlainLanes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other, i32::wrapping_sub)
    }
}

impl Add for PlainProducts {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }
}

impl PlainProducts {
    /// Returns the low 32 bits of each product over 2^`DOWN`, rounded to the nearest, a tie upwards.
    pub(in crate::solver) fn rounded<const DOWN: u32, const UP: u32>(self) -> PlainLanes {
        PlainLanes(self.0.map(|product| rounded(product, DOWN) as i32))
    }

    /// Returns each product over 2^24, rounded, and cut to -2^30 and 2^30 - 1. The products are below 2^62.
    pub(in crate::solver) fn cut24(self) -> PlainLanes {
        let cut = |product| rounded(product, 24).clamp(-1 << 30, (1 << 30) - 1) as i32;
        PlainLanes(self.0.map(cut))
    }
}
