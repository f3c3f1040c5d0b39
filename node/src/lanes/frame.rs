//! One session: frames, heartbeats and budgets over two byte streams.
//!
//! A frame of length zero is a heartbeat and is never delivered. Each side writes one at least
//! every [`LaneLimits::heartbeat`], so silence means that the other side hangs, or is gone.

use std::{io, sync::Arc, time::Duration};

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::PeerId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};

use super::{
    LaneEnd, LaneLimits,
    outbox::{Outbox, cost},
};
use crate::{
    framing::{self, Decoder},
    metrics::Metrics,
    pace::Pace,
};

/// Bytes asked of the transport at once.
const READ_BYTES: usize = 16 * 1024;

/// Counts sessions, so that a leftover of an older one is told from the current one.
pub(super) type Session = u64;

/// What one session tells the receiver that all sessions share.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) peer: PeerId,
    pub(super) session: Session,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Opened(Arc<Outbox>),
    /// The permit returns the frame's share of the peer's budget when it is dropped.
    Frame(bytes::Bytes, OwnedSemaphorePermit),
    Ended(LaneEnd),
}

/// The two halves of a session and what they share.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) peer: PeerId,
    pub(super) session: Session,
    pub(super) outbox: Arc<Outbox>,
    pub(super) items: mpsc::Sender<Item>,
    pub(super) limits: LaneLimits,
    pub(super) metrics: Arc<Metrics>,
}

impl Pump {
    /// Drives the session until it fails; after that its outbox refuses frames.
    pub(super) async fn run<R, W>(&self, read: R, write: W) -> LaneEnd
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        if !self.tell(What::Opened(self.outbox.clone())).await {
            return LaneEnd::Stopped;
        }
        let end = tokio::select! {
            end = self.read_frames(read) => end,
            end = self.write_frames(write) => end,
            () = self.outbox.overflowed() => LaneEnd::TooSlow,
        };
        self.outbox.close();
        end
    }

    /// False when nobody listens any more.
    pub(super) async fn tell(&self, what: What) -> bool {
        let (peer, session) = (self.peer, self.session);
        self.items.send(Item { peer, session, what }).await.is_ok()
    }

    /// While the receiver is behind, or the remote too fast, the stream is not read, and the remote
    /// feels it.
    async fn read_frames<R: AsyncRead + Unpin>(&self, mut read: R) -> LaneEnd {
        let budget = Arc::new(Semaphore::new(self.limits.receive_bytes_max));
        let mut decoder = Decoder::new(self.limits.frame_bytes_max);
        let mut pace = Pace::new(self.limits.frames_per_second);
        let mut chunk = vec![0; READ_BYTES];
        loop {
            let got = match timeout(self.limits.silence, read.read(&mut chunk)).await {
                Err(_) => return LaneEnd::Silent,
                Ok(Err(error)) => return LaneEnd::Lost(error.kind()),
                Ok(Ok(0)) => return LaneEnd::Closed,
                Ok(Ok(got)) => got,
            };
            let mut input = &chunk[..got];
            loop {
                let frame = match decoder.next(&mut input) {
                    Ok(Some(frame)) if frame.is_empty() => continue,
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(oversize) => return LaneEnd::Oversize(oversize),
                };
                self.metrics.lane_frames_received_total.one();
                self.metrics.lane_bytes_received_total.add(frame.len() as u64);
                let bytes = frame.len();
                let share = u32::try_from(cost(&frame)).expect("budgets are below 4 GiB");
                let Ok(permit) = budget.clone().acquire_many_owned(share).await else {
                    return LaneEnd::Stopped;
                };
                if !self.tell(What::Frame(frame, permit)).await {
                    return LaneEnd::Stopped;
                }
                pace.take(bytes).await;
            }
        }
    }

    async fn write_frames<W: AsyncWrite + Unpin>(&self, mut write: W) -> LaneEnd {
        let mut batch = Vec::new();
        loop {
            batch.clear();
            let taken = match timeout(self.limits.heartbeat, self.outbox.take(&mut batch)).await {
                Ok(taken) => taken,
                Err(_) => {
                    batch.extend_from_slice(&framing::EMPTY);
                    0
                }
            };
            if let Err(end) = write_all(&mut write, &batch, self.limits.silence).await {
                return end;
            }
            self.outbox.written(taken);
        }
    }
}

/// Writes all of `bytes`. Each part that the transport takes renews the time it has, so that a slow
/// link is not mistaken for one that hangs.
async fn write_all<W: AsyncWrite + Unpin>(
    write: &mut W,
    mut bytes: &[u8],
    silence: Duration,
) -> Result<(), LaneEnd> {
    let fault = |error: io::Error| LaneEnd::Lost(error.kind());
    while !bytes.is_empty() {
        let taken = timeout(silence, write.write(bytes)).await;
        match taken.map_err(|_| LaneEnd::Stuck)?.map_err(fault)? {
            0 => return Err(LaneEnd::Closed),
            taken => bytes = &bytes[taken..],
        }
    }
    timeout(silence, write.flush()).await.map_err(|_| LaneEnd::Stuck)?.map_err(fault)
}

#[cfg(test)]
mod tests;
