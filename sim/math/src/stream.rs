//! Seeded random streams, equal on every machine.

use core::fmt;

use crate::fx::Fx;

/// The bytes that the generator makes at a time.
const BLOCK_BYTES: usize = 64;

/// A stream of random numbers: a pure function of a key, a domain and some numbers.
///
/// The stream is the extendable output of keyed blake3, read as `u64`. The input is the length of the
/// domain, the domain, the number of parts, and the parts; all numbers are `u64`, little endian. So
/// streams of different domains or parts are independent, and without the key nobody can predict
/// the numbers. Take one stream per purpose: a domain such as `"script"` with the tick and the
/// script's id as parts.
#[derive(Clone)]
pub struct Stream {
    source: blake3::OutputReader,
    block: [u8; BLOCK_BYTES],
    used: usize,
}

impl Stream {
    /// Returns the stream of a key, a domain and parts, from its beginning.
    #[must_use]
    pub fn new(key: &[u8; 32], domain: &str, parts: &[u64]) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(&(domain.len() as u64).to_le_bytes());
        hasher.update(domain.as_bytes());
        hasher.update(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            hasher.update(&part.to_le_bytes());
        }
        Self { source: hasher.finalize_xof(), block: [0; BLOCK_BYTES], used: BLOCK_BYTES }
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        if self.used == BLOCK_BYTES {
            self.source.fill(&mut self.block);
            self.used = 0;
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.block[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(bytes)
    }

    /// Returns a number from 0 up to, not including, `bound`, each as likely as any other. A bound
    /// of zero counts as one and gives zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire's method: the high half of draw * bound is the result. The low half shows whether
        // the draw is one of the few that would make some results likelier.
        let surplus = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= surplus {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a number from 0 up to, not including, 1: one of the 2^32 multiples of 2^-32.
    pub fn fx_unit(&mut self) -> Fx {
        Fx::from_bits((self.next_u64() >> 32) as i64)
    }

    /// Returns a number from `low` up to, not including, `high`, each as likely as any other; `low`
    /// if there is no such number.
    pub fn fx_between(&mut self, low: Fx, high: Fx) -> Fx {
        if high <= low {
            return low;
        }
        let span = high.to_bits().abs_diff(low.to_bits());
        Fx::from_bits(low.to_bits().wrapping_add_unsigned(self.below(span)))
    }

    /// Returns one of the items, each as likely as any other; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Shuffles the items, each order as likely as any other: from the last item down to the second,
    /// each is swapped with a random one up to itself.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Hides the key and the numbers to come.
impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
