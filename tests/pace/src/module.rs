//! What the module for wasm32 exports: no import, no glue.
#![expect(
    unsafe_code,
    reason = "an exported name could be one that somebody else relies on; these are nobody's"
)]

use std::cell::RefCell;

use metatopia_physics::Region;

use crate::scenes::CONTESTS;

thread_local! {
    static REGION: RefCell<Region> = RefCell::new(Region::new());
}

/// Builds the scene with this number; there is none beyond the last.
#[unsafe(no_mangle)]
extern "C" fn begin(scene: usize) {
    REGION.set((CONTESTS[scene].plan)().region());
}

/// Makes a step.
#[unsafe(no_mangle)]
extern "C" fn step() {
    REGION.with_borrow_mut(|region| drop(region.step()));
}

/// Returns the first eight bytes of the region's digest, as a number.
#[unsafe(no_mangle)]
extern "C" fn digest() -> u64 {
    let digest = REGION.with_borrow(Region::digest);
    digest.0[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
