//! What the session code asks of a carrier: a half that receives frames, and one that sends them.

use std::{future::Future, time::Duration};

use bytes::Bytes;

use super::{ClientEnd, CloseCode};

/// The receiving half of a client's carrier.
pub(super) trait Receive: Send {
    /// Waits for the next frame, of 1 or more bytes, or tells how the session ended. Nothing after
    /// an end is of use.
    fn frame(&mut self) -> impl Future<Output = Result<Bytes, ClientEnd>> + Send;
}

/// The sending half of a client's carrier.
pub(super) trait Transmit: Send {
    /// Writes frames in order. What the client takes renews its time; if it takes nothing for
    /// `stall`, that is its end.
    fn write(
        &mut self,
        frames: &[Bytes],
        stall: Duration,
    ) -> impl Future<Output = Result<(), ClientEnd>> + Send;

    /// Asks for a sign of life, if this carrier does not do that by itself and it is time. Called
    /// now and then.
    fn pulse(&mut self, stall: Duration) -> impl Future<Output = Result<(), ClientEnd>> + Send;

    /// Says that nothing follows, and why; waits until the client has everything, for ever if it
    /// does not take it.
    fn finish(&mut self, code: CloseCode, reason: &str) -> impl Future<Output = ()> + Send;

    /// Closes the session, and tells the client why, if it is still there and takes it within
    /// `linger`.
    fn close(
        self,
        code: CloseCode,
        reason: &str,
        linger: Duration,
    ) -> impl Future<Output = ()> + Send;
}
