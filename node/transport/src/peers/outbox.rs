//! The frames that wait to be sent to one peer, limited in bytes.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::Notify;

use super::{PeerLimits, SendError};
use crate::framing;

/// The cost of holding one frame, besides its bytes.
pub(crate) const FRAME_OVERHEAD_BYTES: usize = 64;

/// The size up to which frames are gathered into one write.
const BATCH_BYTES: usize = 64 * 1024;

/// The queue between the senders and the one task that writes. A full queue ends the session for
/// good: inside a session no frame is ever left out.
#[derive(Debug)]
pub(crate) struct SendQueue {
    state: Mutex<SendQueueState>,
    filled: Notify,
    overflowed: Notify,
    frame_bytes_max: usize,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct SendQueueState {
    frames: VecDeque<Bytes>,
    /// The cost of the frames that are queued, and that are being written.
    held: usize,
    over: bool,
}

/// Returns the cost of a frame.
pub(crate) fn cost(frame: &Bytes) -> usize {
    frame.len() + FRAME_OVERHEAD_BYTES
}

impl SendQueue {
    pub(crate) fn new(limits: &PeerLimits) -> Self {
        Self {
            state: Mutex::default(),
            filled: Notify::new(),
            overflowed: Notify::new(),
            frame_bytes_max: limits.frame_bytes_max,
            bytes_max: limits.send_bytes_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, SendQueueState> {
        // No code that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a frame, and never waits.
    pub(crate) fn push(&self, frame: Bytes) -> Result<(), SendError> {
        framing::check_size(frame.len(), self.frame_bytes_max)?;
        let mut state = self.lock();
        if state.over {
            return Err(SendError::Gone);
        }
        let held = state.held + cost(&frame);
        if held > self.bytes_max {
            state.over = true;
            state.frames.clear();
            drop(state);
            self.overflowed.notify_one();
            return Err(SendError::TooSlow);
        }
        state.held = held;
        state.frames.push_back(frame);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits for frames, encodes a batch of them, and returns what to pass to
    /// [`written`](Self::written). Nothing is lost when this is cancelled while it waits.
    pub(crate) async fn take(&self, batch: &mut Vec<u8>) -> usize {
        loop {
            let mut taken = 0;
            {
                let mut state = self.lock();
                while batch.len() < BATCH_BYTES
                    && let Some(frame) = state.frames.pop_front()
                {
                    taken += cost(&frame);
                    framing::encode(&frame, batch);
                }
            }
            if taken > 0 {
                return taken;
            }
            self.filled.notified().await;
        }
    }

    /// Notes that the transport has taken what [`take`](Self::take) handed out.
    pub(crate) fn written(&self, taken: usize) {
        self.lock().held -= taken;
    }

    /// Ends the session: nothing more is sent in it.
    pub(crate) fn cut(&self) {
        self.close();
        self.overflowed.notify_one();
    }

    /// Waits until a frame did not fit any more, or the session was cut.
    pub(crate) async fn overflowed(&self) {
        self.overflowed.notified().await;
    }

    /// Refuses frames from now on.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.over = true;
        state.frames.clear();
    }
}
