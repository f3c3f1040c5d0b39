//! The frames that wait to be sent to one client: a bounded queue of frames that must all arrive,
//! and one place for a frame that only matters until there is a newer one.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::sleep};

use super::{CloseCode, Delivery, GatewayLimits, SendError, Sent};
use crate::framing::check_size;

/// The cost of holding one frame, besides its bytes.
const FRAME_OVERHEAD_BYTES: usize = 64;

/// The size up to which frames are gathered for one write.
const BATCH_BYTES: usize = 32 * 1024;

/// The bytes that are held for all clients together, shared by their queues.
pub(super) type SharedBytes = Arc<AtomicUsize>;

/// The way in which the session is to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionEnding {
    /// The reliable queue overflowed.
    TooSlow,
    /// The node asked for it.
    Asked(CloseCode, String),
}

/// The next step of the writer.
#[derive(Debug)]
pub(super) enum WriterStep {
    /// Write the batch, then report this cost as [`written`](Outgoing::written).
    Write(BatchCost),
    /// Everything that was queued before the end is written.
    Finish,
}

/// The cost of the frames of one batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BatchCost {
    reliable: usize,
    all: usize,
}

#[derive(Debug, Default)]
struct OutgoingState {
    reliable: VecDeque<Bytes>,
    /// The cost of the reliable frames, queued and being written.
    reliable_held: usize,
    latest: Option<Bytes>,
    /// The cost of everything that is held, as it is counted in the common sum.
    held: usize,
    ending: Option<SessionEnding>,
}

/// The queue between the node's loop and the task that writes to one client.
#[derive(Debug)]
pub(super) struct Outgoing {
    state: Mutex<OutgoingState>,
    filled: Notify,
    ending: Notify,
    limits: GatewayLimits,
    held_by_all: SharedBytes,
}

fn cost(frame: &Bytes) -> usize {
    frame.len() + FRAME_OVERHEAD_BYTES
}

impl Outgoing {
    pub(super) fn new(limits: GatewayLimits, held_by_all: SharedBytes) -> Self {
        Self {
            state: Mutex::default(),
            filled: Notify::new(),
            ending: Notify::new(),
            limits,
            held_by_all,
        }
    }

    fn lock(&self) -> MutexGuard<'_, OutgoingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, state: &mut OutgoingState, cost: usize) {
        state.held += cost;
        self.held_by_all.fetch_add(cost, Ordering::Relaxed);
    }

    fn subtract(&self, state: &mut OutgoingState, cost: usize) {
        state.held -= cost;
        self.held_by_all.fetch_sub(cost, Ordering::Relaxed);
    }

    /// Queues a frame, and never waits.
    pub(super) fn push(&self, delivery: Delivery, frame: Bytes) -> Result<Sent, SendError> {
        check_size(frame.len(), self.limits.frame_out_bytes_max)?;
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(SendError::Gone);
        }
        let cost = cost(&frame);
        let mut sent = Sent::Queued;
        match delivery {
            Delivery::Answer(_) if !self.has_room(&state, cost) => return Ok(Sent::Dropped),
            Delivery::Reliable | Delivery::Answer(_) => {
                let over = state.reliable_held + cost > self.limits.reliable_bytes_max;
                if over || self.is_unfair(&state, cost) {
                    drop(state);
                    self.end(SessionEnding::TooSlow);
                    return Err(SendError::TooSlow);
                }
                state.reliable_held += cost;
                state.reliable.push_back(frame);
            }
            Delivery::Latest => {
                if let Some(older) = state.latest.take() {
                    self.subtract(&mut state, self::cost(&older));
                    sent = Sent::Replaced;
                }
                if self.is_unfair(&state, cost) {
                    return Ok(Sent::Dropped);
                }
                state.latest = Some(frame);
            }
        }
        self.add(&mut state, cost);
        drop(state);
        self.filled.notify_one();
        Ok(sent)
    }

    /// Returns whether there is room for this cost, and for a small frame after it.
    fn has_room(&self, state: &OutgoingState, cost: usize) -> bool {
        let with = state.reliable_held + cost + self.limits.frame_out_bytes_max / 16;
        with <= self.limits.reliable_bytes_max && !self.is_unfair(state, cost)
    }

    /// Returns whether all clients together hold too much, and this one would hold more than a fair
    /// share.
    fn is_unfair(&self, state: &OutgoingState, cost: usize) -> bool {
        let all = self.held_by_all.load(Ordering::Relaxed) + cost;
        all > self.limits.held_bytes_max && state.held + cost > self.limits.fair_share_bytes()
    }

    /// Ends the session: at once if the client is too slow, else after the queued frames. The first
    /// ending stays.
    pub(super) fn end(&self, ending: SessionEnding) {
        let mut state = self.lock();
        if state.ending.is_some() {
            return;
        }
        state.latest = None;
        if ending == SessionEnding::TooSlow {
            state.reliable.clear();
        }
        state.ending = Some(ending);
        drop(state);
        self.ending.notify_one();
        self.filled.notify_one();
    }

    /// Waits for something to write and hands out a batch of it. Nothing is lost when this is
    /// cancelled while it waits.
    pub(super) async fn take(&self, batch: &mut Vec<Bytes>) -> WriterStep {
        loop {
            if let Some(step) = self.try_take(batch) {
                return step;
            }
            self.filled.notified().await;
        }
    }

    fn try_take(&self, batch: &mut Vec<Bytes>) -> Option<WriterStep> {
        let mut state = self.lock();
        // All frames of the batch stay counted until they are written.
        let mut taken = BatchCost::default();
        while taken.reliable < BATCH_BYTES
            && let Some(frame) = state.reliable.pop_front()
        {
            taken.reliable += cost(&frame);
            batch.push(frame);
        }
        taken.all = taken.reliable;
        if let Some(frame) = state.latest.take() {
            taken.all += cost(&frame);
            batch.push(frame);
        }
        match batch.is_empty() {
            false => Some(WriterStep::Write(taken)),
            true => state.ending.is_some().then_some(WriterStep::Finish),
        }
    }

    /// Notes that the transport has taken what [`take`](Self::take) handed out.
    pub(super) fn written(&self, taken: BatchCost) {
        let mut state = self.lock();
        state.reliable_held -= taken.reliable;
        self.subtract(&mut state, taken.all);
    }

    /// Waits until the session must end, whether or not everything is written: at once when the
    /// client is too slow, or `linger` after the node asked for the end.
    pub(super) async fn overdue(&self, linger: Duration) -> SessionEnding {
        loop {
            let ending = self.lock().ending.clone();
            match ending {
                Some(SessionEnding::TooSlow) => return SessionEnding::TooSlow,
                Some(asked) => {
                    sleep(linger).await;
                    return asked;
                }
                None => self.ending.notified().await,
            }
        }
    }

    /// Returns how the session is to end, if that is known.
    pub(super) fn ending(&self) -> Option<SessionEnding> {
        self.lock().ending.clone()
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let held = self.lock().held;
        self.held_by_all.fetch_sub(held, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> GatewayLimits {
        GatewayLimits {
            frame_out_bytes_max: 1_000,
            reliable_bytes_max: 5_000,
            held_bytes_max: 8_000,
            clients_max: 8,
            ..GatewayLimits::default()
        }
    }

    fn frame(byte: u8) -> Bytes {
        Bytes::from(vec![byte; 1_000 - FRAME_OVERHEAD_BYTES])
    }

    #[test]
    fn the_reliable_queue_is_bounded_and_overflow_is_final() {
        let held = SharedBytes::default();
        let outgoing = Outgoing::new(limits(), held.clone());
        for _ in 0..5 {
            assert_eq!(outgoing.push(Delivery::Reliable, frame(1)), Ok(Sent::Queued));
        }
        assert_eq!(held.load(Ordering::Relaxed), 5_000);

        assert_eq!(outgoing.push(Delivery::Reliable, frame(1)), Err(SendError::TooSlow));
        assert_eq!(outgoing.push(Delivery::Latest, frame(1)), Err(SendError::Gone));
        assert_eq!(outgoing.ending(), Some(SessionEnding::TooSlow));
        drop(outgoing);
        assert_eq!(held.load(Ordering::Relaxed), 0);
    }

    /// Once sixteen answers at one time ended the session.
    #[test]
    fn a_frame_that_may_be_left_out_is_where_the_queue_is_full_and_ends_nothing() {
        let outgoing = Outgoing::new(limits(), SharedBytes::default());
        for _ in 0..4 {
            assert_eq!(outgoing.push(Delivery::Answer(7), frame(1)), Ok(Sent::Queued));
        }
        for _ in 0..12 {
            assert_eq!(outgoing.push(Delivery::Answer(7), frame(1)), Ok(Sent::Dropped));
        }
        assert_eq!(outgoing.ending(), None);
        assert_eq!(outgoing.push(Delivery::Reliable, frame(2)), Ok(Sent::Queued), "there is room");
    }

    #[test]
    fn of_latest_frames_only_the_newest_is_held() {
        let held = SharedBytes::default();
        let outgoing = Outgoing::new(limits(), held.clone());
        assert_eq!(outgoing.push(Delivery::Latest, frame(0)), Ok(Sent::Queued));
        for n in 1..100 {
            assert_eq!(outgoing.push(Delivery::Latest, frame(n)), Ok(Sent::Replaced));
        }
        assert_eq!(held.load(Ordering::Relaxed), 1_000);

        let mut batch = Vec::new();
        let Some(WriterStep::Write(taken)) = outgoing.try_take(&mut batch) else {
            panic!("nothing")
        };
        assert_eq!(taken, BatchCost { reliable: 0, all: 1_000 });
        assert_eq!(batch, [frame(99)]);
    }

    #[test]
    fn a_stream_of_reliable_frames_does_not_starve_the_latest() {
        let outgoing = Outgoing::new(limits(), SharedBytes::default());
        outgoing.push(Delivery::Reliable, frame(1)).unwrap();
        outgoing.push(Delivery::Latest, frame(2)).unwrap();
        outgoing.push(Delivery::Reliable, frame(3)).unwrap();

        let mut batch = Vec::new();
        outgoing.try_take(&mut batch);

        assert_eq!(batch, [1, 3, 2].map(frame));
    }

    #[test]
    fn when_all_hold_too_much_those_above_a_fair_share_go() {
        let held = SharedBytes::default();
        let [greedy, modest] = [(); 2].map(|()| Outgoing::new(limits(), held.clone()));
        let others = Outgoing::new(limits(), held);
        for _ in 0..4 {
            greedy.push(Delivery::Reliable, frame(1)).unwrap();
            others.push(Delivery::Reliable, frame(1)).unwrap();
        }

        assert_eq!(modest.push(Delivery::Reliable, frame(1)), Ok(Sent::Queued));
        assert_eq!(greedy.push(Delivery::Latest, frame(1)), Ok(Sent::Dropped));
        assert_eq!(greedy.push(Delivery::Reliable, frame(1)), Err(SendError::TooSlow));
    }

    #[tokio::test]
    async fn what_was_queued_before_the_end_is_written_and_nothing_after() {
        let outgoing = Outgoing::new(limits(), SharedBytes::default());
        outgoing.push(Delivery::Reliable, frame(1)).unwrap();
        outgoing.end(SessionEnding::Asked(CloseCode::DONE, "bye".into()));
        assert_eq!(outgoing.push(Delivery::Reliable, frame(2)), Err(SendError::Gone));

        let mut batch = Vec::new();
        let WriterStep::Write(taken) = outgoing.take(&mut batch).await else { panic!("nothing") };
        outgoing.written(taken);
        batch.clear();
        assert!(matches!(outgoing.take(&mut batch).await, WriterStep::Finish));
        let ending = outgoing.overdue(Duration::ZERO).await;
        assert_eq!(ending, SessionEnding::Asked(CloseCode::DONE, "bye".into()));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let outgoing = Outgoing::new(limits(), SharedBytes::default());
        for bytes in [0, 1_001] {
            let refused = outgoing.push(Delivery::Reliable, Bytes::from(vec![0; bytes]));
            assert_eq!(refused, Err(SendError::Size { bytes, max: 1_000 }));
        }
    }
}
