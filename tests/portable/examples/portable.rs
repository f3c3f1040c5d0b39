//! The checks as a module with a C interface, for wasm32: no import, no glue, no allocator to share.
//!
//! `replay()`, `panics()`, `deepest()`, `widest()`, `hostile()`, `scenes()`, `letters()` and `strangers()` run a check.
//! Each gives how many facts held, or [`FAILED`], and leaves its report to be read at `report()`,
//! `report_length()` bytes of UTF-8, until the next check.
#![expect(
    unsafe_code,
    reason = "an exported name could be one that somebody else relies on; these are nobody's"
)]

use std::cell::RefCell;

use metatopia_portable::Report;

/// What a check gives that found something wrong.
pub const FAILED: u32 = u32::MAX;

thread_local! {
    static REPORT: RefCell<String> = const { RefCell::new(String::new()) };
}

fn keep(report: Report) -> u32 {
    REPORT.set(report.text);
    report.held.unwrap_or(FAILED)
}

/// Replays the golden log; see [`metatopia_portable::replay`].
#[unsafe(no_mangle)]
pub extern "C" fn replay() -> u32 {
    keep(metatopia_portable::replay())
}

/// Replays it with acts that panic; see [`metatopia_portable::panics`].
#[unsafe(no_mangle)]
pub extern "C" fn panics() -> u32 {
    keep(metatopia_portable::panics())
}

/// Runs scripts as deep as they may go; see [`metatopia_portable::deepest`].
#[unsafe(no_mangle)]
pub extern "C" fn deepest() -> u32 {
    keep(metatopia_portable::deepest())
}

/// Runs scripts with numbers beyond 32 bits; see [`metatopia_portable::widest`].
#[unsafe(no_mangle)]
pub extern "C" fn widest() -> u32 {
    keep(metatopia_portable::widest())
}

/// Runs hostile programs; see [`metatopia_portable::hostile`].
#[unsafe(no_mangle)]
pub extern "C" fn hostile() -> u32 {
    keep(metatopia_portable::hostile())
}

/// Plays the golden scenes and streams of the physics; see [`metatopia_portable::scenes`].
#[unsafe(no_mangle)]
pub extern "C" fn scenes() -> u32 {
    keep(metatopia_portable::scenes())
}

/// Reads private words of one session; see [`metatopia_portable::letters`].
#[unsafe(no_mangle)]
pub extern "C" fn letters() -> u32 {
    keep(metatopia_portable::letters())
}

/// Reads private words of many sessions; see [`metatopia_portable::strangers`].
#[unsafe(no_mangle)]
pub extern "C" fn strangers() -> u32 {
    keep(metatopia_portable::strangers())
}

/// Returns where the last report begins.
#[unsafe(no_mangle)]
pub extern "C" fn report() -> *const u8 {
    REPORT.with_borrow(|text| text.as_ptr())
}

/// Returns how many bytes the last report has.
#[unsafe(no_mangle)]
pub extern "C" fn report_length() -> u32 {
    REPORT.with_borrow(|text| u32::try_from(text.len()).unwrap_or(FAILED))
}
