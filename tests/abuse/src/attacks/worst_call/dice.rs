//! Dice that fall the same for the same seed.

/// SplitMix64: a few lines, and the same on every machine.
#[derive(Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    /// A number below `bound`, which is above 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((bits ^ (bits >> 31)) % bound as u64).expect("it is below a usize")
    }
}
