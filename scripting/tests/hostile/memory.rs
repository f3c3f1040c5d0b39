//! An allocator that counts what a thread holds.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The allocator of this test.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

fn came(bytes: usize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(bytes));
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

fn went(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub(bytes)));
}

// SAFETY: every call is handed on to the allocator of the system, unchanged.
#[expect(unsafe_code, reason = "an allocator cannot be written without")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        came(layout.size());
        // SAFETY: the caller keeps the rules of this very call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        went(layout.size());
        // SAFETY: the caller keeps the rules of this very call.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Does some work, and says how much more memory than before this thread held at one time.
pub(crate) fn most_during<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST.set(before);
    let result = work();
    (result, MOST.get() - before)
}
