//! The two halves of a carrier that the session code needs: one receives frames, and one sends
//! them.

use std::{future::Future, time::Duration};

use bytes::Bytes;

use super::{ClientEnd, CloseCode};

/// The receiving half of a client's carrier.
pub(super) trait Receive: Send {
    /// Waits for the next frame, of 1 or more bytes, or returns how the session ended. Must not be
    /// called again after an end.
    fn frame(&mut self) -> impl Future<Output = Result<Bytes, ClientEnd>> + Send;
}

/// The sending half of a client's carrier.
pub(super) trait Transmit: Send {
    /// Writes frames in order. Each part that the client takes renews its time. If it takes nothing
    /// for `stall`, its session ends.
    fn write(
        &mut self,
        frames: &[Bytes],
        stall: Duration,
    ) -> impl Future<Output = Result<(), ClientEnd>> + Send;

    /// Asks for a sign of life, if this carrier does not do that by itself and it is time. Called
    /// now and then.
    fn pulse(&mut self, stall: Duration) -> impl Future<Output = Result<(), ClientEnd>> + Send;

    /// Tells the client that nothing follows, and why. Waits until the client has everything, for
    /// ever if the client does not take it.
    fn finish(&mut self, code: CloseCode, reason: &str) -> impl Future<Output = ()> + Send;

    /// Closes the session, and tells the client the reason if it is still there and takes it within
    /// `linger`.
    fn close(
        self,
        code: CloseCode,
        reason: &str,
        linger: Duration,
    ) -> impl Future<Output = ()> + Send;
}
