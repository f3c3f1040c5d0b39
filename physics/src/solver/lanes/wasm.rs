//! Lanes by the instructions of wasm32's `simd128`.

use core::arch::wasm32::{
    i32x4_add, i32x4_all_true, i32x4_eq, i32x4_gt, i32x4_max, i32x4_min, i32x4_mul, i32x4_shr,
    i32x4_shuffle, i32x4_splat, i32x4_sub, i64x2_add, i64x2_extmul_high_i32x4,
    i64x2_extmul_low_i32x4, i64x2_shl, i64x2_splat, v128, v128_and, v128_any_true, v128_bitselect,
    v128_xor,
};
use core::ops::{Add, Sub};

/// Four numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct WasmLanes(v128);

/// Four products of 64 bits: those of the lanes 0 and 1, and those of the lanes 2 and 3.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct WasmProducts {
    low: v128,
    high: v128,
}

impl WasmLanes {
    #[inline(always)]
    pub(in crate::solver) fn new(lanes: [i32; 4]) -> Self {
        Self(bytemuck::cast(lanes))
    }

    #[inline(always)]
    pub(in crate::solver) fn array(self) -> [i32; 4] {
        bytemuck::cast(self.0)
    }

    #[inline(always)]
    pub(in crate::solver) fn times(self, other: Self) -> WasmProducts {
        WasmProducts {
            low: i64x2_extmul_low_i32x4(self.0, other.0),
            high: i64x2_extmul_high_i32x4(self.0, other.0),
        }
    }

    /// Returns the low 32 bits of each product.
    #[inline(always)]
    pub(in crate::solver) fn times_low(self, other: Self) -> Self {
        Self(i32x4_mul(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn min(self, other: Self) -> Self {
        Self(i32x4_min(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn max(self, other: Self) -> Self {
        Self(i32x4_max(self.0, other.0))
    }

    /// Returns a mask: all bits of each lane that is greater than the other one.
    #[inline(always)]
    pub(in crate::solver) fn above(self, other: Self) -> Self {
        Self(i32x4_gt(self.0, other.0))
    }

    /// Returns a mask: all bits of each lane that equals the other one.
    #[inline(always)]
    pub(in crate::solver) fn equals(self, other: Self) -> Self {
        Self(i32x4_eq(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn and(self, mask: Self) -> Self {
        Self(v128_and(self.0, mask.0))
    }

    /// Returns each lane whose mask has all bits, and of the others the one that is given instead.
    #[inline(always)]
    pub(in crate::solver) fn where_or(self, mask: Self, other: Self) -> Self {
        Self(v128_bitselect(self.0, other.0, mask.0))
    }

    /// Returns whether all lanes of a mask have all bits.
    #[inline(always)]
    pub(in crate::solver) fn all(self) -> bool {
        i32x4_all_true(self.0)
    }

    /// Returns whether each number is at least -2^23, and below 2^23.
    #[inline(always)]
    pub(in crate::solver) fn are_small(self) -> bool {
        let from_zero = self + Self::splat(1 << 23);
        !v128_any_true(v128_and(from_zero.0, i32x4_splat(-1 << 24)))
    }

    /// Turns four rows of four numbers into four columns.
    #[inline(always)]
    pub(in crate::solver) fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let ab = i32x4_shuffle::<0, 4, 1, 5>(a.0, b.0);
        let cd = i32x4_shuffle::<0, 4, 1, 5>(c.0, d.0);
        let ab_high = i32x4_shuffle::<2, 6, 3, 7>(a.0, b.0);
        let cd_high = i32x4_shuffle::<2, 6, 3, 7>(c.0, d.0);
        [
            Self(i32x4_shuffle::<0, 1, 4, 5>(ab, cd)),
            Self(i32x4_shuffle::<2, 3, 6, 7>(ab, cd)),
            Self(i32x4_shuffle::<0, 1, 4, 5>(ab_high, cd_high)),
            Self(i32x4_shuffle::<2, 3, 6, 7>(ab_high, cd_high)),
        ]
    }
}

impl Add for WasmLanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(i32x4_add(self.0, other.0))
    }
}

impl Sub for WasmLanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(i32x4_sub(self.0, other.0))
    }
}

impl Add for WasmProducts {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { low: i64x2_add(self.low, other.low), high: i64x2_add(self.high, other.high) }
    }
}

impl WasmProducts {
    /// Returns the low 32 bits of each product over 2^`DOWN`, rounded to the nearest, a tie upwards. `UP` is 32 less
    /// `DOWN`.
    #[inline(always)]
    pub(in crate::solver) fn rounded<const DOWN: i32, const UP: i32>(self) -> WasmLanes {
        let Self { low, high } = self.plus(1 << (DOWN - 1));
        WasmLanes(i32x4_shuffle::<1, 3, 5, 7>(
            i64x2_shl(low, UP as u32),
            i64x2_shl(high, UP as u32),
        ))
    }

    /// Returns each product over 2^24, rounded, and cut to -2^30 and 2^30 - 1. The products are below 2^62.
    #[inline(always)]
    pub(in crate::solver) fn cut24(self) -> WasmLanes {
        let low = self.rounded::<24, 8>();
        let Self { low: first, high: second } = self.plus(1 << 23);
        // What is left of the result without its low 8 bits.
        let high = WasmLanes(i32x4_shuffle::<1, 3, 5, 7>(first, second));
        let most = WasmLanes::splat((1 << 22) - 1);
        let fits = high.max(WasmLanes::splat(-1 << 22)).min(most).equals(high);
        let cut = v128_xor(i32x4_shr(high.0, 31), i32x4_splat((1 << 30) - 1));
        low.where_or(fits, WasmLanes(cut))
    }

    #[inline(always)]
    fn plus(self, value: i64) -> Self {
        let both = i64x2_splat(value);
        self + Self { low: both, high: both }
    }
}
