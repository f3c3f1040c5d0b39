//! Functions under way.

use crate::limits::CALL_DEPTH_MAX;

/// A function under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallFrame {
    pub(super) function: u16,
    /// The operation that comes next.
    pub(super) next: usize,
    /// Its first register.
    pub(super) base: usize,
}

/// Functions under way, the innermost last. They lie in the call itself, in few bytes, for that is moved: most
/// calls are of one function, and to ask for memory for it took as long as ten operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameStack {
    /// Function, next operation and first register of each.
    frames: [[u16; 3]; CALL_DEPTH_MAX],
    count: usize,
}

impl FrameStack {
    pub(super) const fn new() -> Self {
        Self { frames: [[0; 3]; CALL_DEPTH_MAX], count: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// Adds a function; there is room for [`CALL_DEPTH_MAX`].
    pub(super) fn push(&mut self, CallFrame { function, next, base }: CallFrame) {
        self.frames[self.count] = [function, short(next), short(base)];
        self.count += 1;
    }

    pub(super) fn pop(&mut self) -> Option<CallFrame> {
        let last = self.last()?;
        self.count -= 1;
        Some(last)
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    #[inline]
    pub(super) fn last(&self) -> Option<CallFrame> {
        let [function, next, base] = *self.frames[..self.count].last()?;
        Some(CallFrame { function, next: next.into(), base: base.into() })
    }

    /// Notes which operation of the innermost function comes next.
    pub(super) fn set_next(&mut self, next: usize) {
        if let Some(frame) = self.frames[..self.count].last_mut() {
            frame[1] = short(next);
        }
    }
}

/// Code has places of 16 bits, and so have the registers of all functions under way.
fn short(number: usize) -> u16 {
    u16::try_from(number).expect("code and registers are bounded")
}
