//! Lanes by the instructions of SSE 4.1.

use core::ops::{Add, Sub};

use safe_arch::{
    add_i32_m128i, add_i64_m128i, bitand_m128i, bitandnot_m128i, bitor_m128i, bitxor_m128i,
    blend_imm_i16_m128i, cmp_eq_mask_i32_m128i, cmp_gt_mask_i32_m128i, m128i, max_i32_m128i,
    min_i32_m128i, move_mask_i8_m128i, mul_32_m128i, mul_widen_i32_odd_m128i, shl_imm_u64_m128i,
    shr_imm_i32_m128i, shr_imm_u64_m128i, sub_i32_m128i, testz_m128i, unpack_high_i32_m128i,
    unpack_high_i64_m128i, unpack_low_i32_m128i, unpack_low_i64_m128i,
};

/// Four numbers of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct SseLanes(m128i);

/// Four products of 64 bits: those of the lanes 0 and 2, and those of the lanes 1 and 3.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct SseProducts {
    even: m128i,
    odd: m128i,
}

impl SseLanes {
    #[inline(always)]
    pub(in crate::solver) fn new(lanes: [i32; 4]) -> Self {
        Self(m128i::from(lanes))
    }

    #[inline(always)]
    pub(in crate::solver) fn array(self) -> [i32; 4] {
        self.0.into()
    }

    #[inline(always)]
    pub(in crate::solver) fn times(self, other: Self) -> SseProducts {
        let odd = |lanes: Self| shr_imm_u64_m128i::<32>(lanes.0);
        SseProducts {
            even: mul_widen_i32_odd_m128i(self.0, other.0),
            odd: mul_widen_i32_odd_m128i(odd(self), odd(other)),
        }
    }

    /// Returns the low 32 bits of each product.
    #[inline(always)]
    pub(in crate::solver) fn times_low(self, other: Self) -> Self {
        Self(mul_32_m128i(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn min(self, other: Self) -> Self {
        Self(min_i32_m128i(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn max(self, other: Self) -> Self {
        Self(max_i32_m128i(self.0, other.0))
    }

    /// Returns a mask: all bits of each lane that is greater than the other one.
    #[inline(always)]
    pub(in crate::solver) fn above(self, other: Self) -> Self {
        Self(cmp_gt_mask_i32_m128i(self.0, other.0))
    }

    /// Returns a mask: all bits of each lane that equals the other one.
    #[inline(always)]
    pub(in crate::solver) fn equals(self, other: Self) -> Self {
        Self(cmp_eq_mask_i32_m128i(self.0, other.0))
    }

    #[inline(always)]
    pub(in crate::solver) fn and(self, mask: Self) -> Self {
        Self(bitand_m128i(self.0, mask.0))
    }

    /// Returns each lane whose mask has all bits, and of the others the one that is given instead.
    #[inline(always)]
    pub(in crate::solver) fn where_or(self, mask: Self, other: Self) -> Self {
        Self(bitor_m128i(bitand_m128i(mask.0, self.0), bitandnot_m128i(mask.0, other.0)))
    }

    /// Returns whether all lanes of a mask have all bits.
    #[inline(always)]
    pub(in crate::solver) fn all(self) -> bool {
        move_mask_i8_m128i(self.0) == 0xffff
    }

    /// Returns whether each number is at least -2^23, and below 2^23.
    #[inline(always)]
    pub(in crate::solver) fn are_small(self) -> bool {
        let from_zero = self + Self::splat(1 << 23);
        testz_m128i(from_zero.0, Self::splat(-1 << 24).0) != 0
    }

    /// Turns four rows of four numbers into four columns.
    #[inline(always)]
    pub(in crate::solver) fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        let (ab, cd) = (unpack_low_i32_m128i(a.0, b.0), unpack_low_i32_m128i(c.0, d.0));
        let (ab_high, cd_high) = (unpack_high_i32_m128i(a.0, b.0), unpack_high_i32_m128i(c.0, d.0));
        [
            Self(unpack_low_i64_m128i(ab, cd)),
            Self(unpack_high_i64_m128i(ab, cd)),
            Self(unpack_low_i64_m128i(ab_high, cd_high)),
            Self(unpack_high_i64_m128i(ab_high, cd_high)),
        ]
    }
}

impl Add for SseLanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(add_i32_m128i(self.0, other.0))
    }
}

impl Sub for SseLanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(sub_i32_m128i(self.0, other.0))
    }
}

impl Add for SseProducts {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { even: add_i64_m128i(self.even, other.even), odd: add_i64_m128i(self.odd, other.odd) }
    }
}

impl SseProducts {
    /// Returns the low 32 bits of each product over 2^`DOWN`, rounded to the nearest, a tie upwards. `UP` is 32 less
    /// `DOWN`.
    #[inline(always)]
    pub(in crate::solver) fn rounded<const DOWN: i32, const UP: i32>(self) -> SseLanes {
        let Self { even, odd } = self.plus(1 << (DOWN - 1));
        join(shr_imm_u64_m128i::<DOWN>(even), shl_imm_u64_m128i::<UP>(odd))
    }

    /// Returns each product over 2^24, rounded, and cut to -2^30 and 2^30 - 1. The products are below 2^62.
    #[inline(always)]
    pub(in crate::solver) fn cut24(self) -> SseLanes {
        let low = self.rounded::<24, 8>();
        let Self { even, odd } = self.plus(1 << 23);
        // What is left of the result without its low 8 bits.
        let high = join(shr_imm_u64_m128i::<32>(even), odd);
        let most = SseLanes::splat((1 << 22) - 1);
        let fits = high.max(SseLanes::splat(-1 << 22)).min(most).equals(high);
        let sign = shr_imm_i32_m128i::<31>(high.0);
        let cut = SseLanes(bitxor_m128i(sign, SseLanes::splat((1 << 30) - 1).0));
        low.where_or(fits, cut)
    }

    #[inline(always)]
    fn plus(self, value: i64) -> Self {
        let both = m128i::from([value; 2]);
        self + Self { even: both, odd: both }
    }
}

/// Returns the low halves of the even products and the high halves of the odd ones.
#[inline(always)]
fn join(even: m128i, odd: m128i) -> SseLanes {
    SseLanes(blend_imm_i16_m128i::<0b1100_1100>(even, odd))
}
