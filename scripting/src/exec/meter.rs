//! What a call may still use, and how it fails.
//!
//! With `--cfg metatopia_unmetered` nothing counts: the comparison of engines builds such a peer to measure
//! what counting takes. It is no feature, so no dependency can switch it on.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{datum::Datum, prices};
use crate::{ErrorKind, HostFault, lang::SourcePoint, limits::CALL_BYTES_MAX};

/// Why a call goes no further, or a `try` goes on elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct CallFault {
    pub(super) kind: ErrorKind,
    pub(super) message: String,
    /// What the script threw.
    pub(super) thrown: Option<Datum>,
    /// Where; line 0 until that is known.
    pub(super) at: SourcePoint,
    /// It is about the value before a bracket, not about what stands in it.
    pub(super) at_sign: bool,
    /// Functions that it left, innermost first, with the places that they were called from.
    pub(super) trace: Vec<(u16, SourcePoint)>,
}

/// What something that can fail gives. A fault is rare, so it is kept out of the way.
pub(crate) type CallOutcome<T> = Result<T, Box<CallFault>>;

impl CallFault {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        let (thrown, at, trace) = (None, SourcePoint::default(), Vec::new());
        Box::new(Self { kind, message: message.into(), thrown, at, at_sign: false, trace })
    }

    /// Returns whether a script may catch it. What ends a call for all others ends it for good. So does a value that
    /// cannot be kept: the one that it was put in place of is gone.
    pub(super) const fn is_catchable(&self) -> bool {
        !matches!(
            self.kind,
            ErrorKind::Gas
                | ErrorKind::Memory
                | ErrorKind::Depth
                | ErrorKind::State
                | ErrorKind::Panic
        )
    }
}

impl From<HostFault> for Box<CallFault> {
    fn from(fault: HostFault) -> Self {
        CallFault::new(fault.kind, fault.message)
    }
}

/// Counts time, in nanoseconds of the reference machine, and memory of a call.
#[derive(Debug)]
pub(super) struct CallMeter {
    time_left: u64,
    /// What a call allocates counts until it ends: then no order of drops can change anything.
    bytes_left: u64,
}

impl CallMeter {
    pub(super) const fn new(time: u64) -> Self {
        Self { time_left: time, bytes_left: CALL_BYTES_MAX }
    }

    pub(super) const fn time_left(&self) -> u64 {
        self.time_left
    }

    /// Pays for something before it is done.
    #[inline]
    pub(super) fn pay(&mut self, nanoseconds: u64) -> CallOutcome<()> {
        if cfg!(metatopia_unmetered) {
            return Ok(());
        }
        match self.time_left.checked_sub(nanoseconds) {
            Some(left) => {
                self.time_left = left;
                Ok(())
            }
            None => Err(self.spent()),
        }
    }

    #[cold]
    fn spent(&mut self) -> Box<CallFault> {
        self.time_left = 0;
        CallFault::new(ErrorKind::Gas, "the call has used all its gas")
    }

    /// Pays for memory before it is allocated, and for writing to it.
    pub(super) fn take(&mut self, bytes: u64) -> CallOutcome<()> {
        if cfg!(metatopia_unmetered) {
            return Ok(());
        }
        self.pay(prices::ALLOCATION + bytes / prices::BYTES_PER_NANOSECOND)?;
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(Self::full()),
        }
    }

    #[cold]
    fn full() -> Box<CallFault> {
        let message = alloc::format!("the call has used {CALL_BYTES_MAX} bytes of memory");
        CallFault::new(ErrorKind::Memory, message)
    }

    /// Pays for a look at all of a value.
    pub(super) fn walk(&mut self, value: &Datum) -> CallOutcome<()> {
        self.pay(value.size() / prices::WALKED_PER_NANOSECOND)
    }
}
