//! Four numbers of 32 bits beside each other, with the roundings of `fixed.rs`.
//!
//! Where every processor of a build has SSE 4.1, and on wasm32 with `simd128`, an instruction computes two products or
//! four sums. For all others plain loops compute the same bits; they take longer than one number after the other, so
//! only tests use them.

#[cfg(not(any(target_feature = "sse4.1", target_feature = "simd128")))]
mod plain;
#[cfg(target_feature = "sse4.1")]
mod sse;
#[cfg(test)]
mod tests;
#[cfg(target_feature = "simd128")]
mod wasm;

#[cfg(not(any(target_feature = "sse4.1", target_feature = "simd128")))]
pub(super) use plain::{PlainLanes as Lanes, PlainProducts as Products};
#[cfg(target_feature = "sse4.1")]
pub(super) use sse::{SseLanes as Lanes, SseProducts as Products};
#[cfg(target_feature = "simd128")]
pub(super) use wasm::{WasmLanes as Lanes, WasmProducts as Products};

/// Whether lanes take less time than one number after the other.
pub(super) const PAY: bool = cfg!(any(target_feature = "sse4.1", target_feature = "simd128"));

/// Four numbers in memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Column(pub(super) [i32; 4]);

impl Column {
    #[inline(always)]
    pub(super) fn get(&self) -> Lanes {
        Lanes::new(self.0)
    }

    #[inline(always)]
    pub(super) fn put(&mut self, lanes: Lanes) {
        self.0 = lanes.array();
    }
}

impl Lanes {
    #[inline(always)]
    pub(super) fn splat(value: i32) -> Self {
        Self::new([value; 4])
    }

    /// Clamps each number to `-bound..=bound`.
    #[inline(always)]
    pub(super) fn bounded(self, bound: Self) -> Self {
        self.max(Self::splat(0) - bound).min(bound)
    }

    /// Returns the products of 20 fraction bits with factors of 20 fraction bits.
    #[inline(always)]
    pub(super) fn times_q20(self, factor: Self) -> Self {
        self.times(factor).rounded::<20, 12>()
    }

    /// Returns the products of 20 fraction bits with factors of 30 fraction bits.
    #[inline(always)]
    pub(super) fn times_q30(self, factor: Self) -> Self {
        self.times(factor).rounded::<30, 2>()
    }
}
