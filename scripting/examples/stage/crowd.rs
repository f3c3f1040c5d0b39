//! The crowd that every engine sees, as plain numbers: not every peer knows our types.
#![allow(dead_code, reason = "each program uses a part of it")]

/// Objects of the world; each has five others near it.
pub(crate) const OBJECTS: u64 = 1_000;

/// What each object is called.
pub(crate) const NAME: &str = "disc";

/// Seconds since genesis, in the crowd's world.
pub(crate) const NOW: u32 = 1;

/// Returns where each object is and how it moves, in units of 2^-32: x, y, and the same of the velocity.
pub(crate) fn crowd() -> Vec<[i64; 4]> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i64::try_from(state % (8 << 32)).expect("below 2^35")
    };
    let four = 4 << 32;
    (0..OBJECTS).map(|_| [draw(), draw(), draw() - four, draw() - four]).collect()
}

/// Returns who is near an object with this x, in units of 2^-32.
pub(crate) fn neighbours(x: i64) -> [u64; 5] {
    let first = x.unsigned_abs();
    [0, 1, 2, 3, 4].map(|k| (first + 1 + k * 7) % OBJECTS)
}
