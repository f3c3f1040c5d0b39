//! One session: frames, heartbeats and budgets over two byte streams.
//!
//! A frame of length zero is a heartbeat and is never delivered. Each side writes one at least
//! every [`PeerLimits::heartbeat`], so silence means that the other side hangs, or is gone.

use std::{io, sync::Arc, time::Duration};

use futures::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use libp2p::PeerId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};

use super::{
    PeerEnd, PeerLimits,
    outbox::{SendQueue, cost},
};
use crate::{
    figures::TransportFigures,
    framing::{self, Decoder},
    pace::FrameLimiter,
};

/// The bytes read from the transport at once.
const READ_BYTES: usize = 16 * 1024;

/// The number of a session, which tells late events of an older session from those of the current
/// one.
pub(crate) type SessionNumber = u64;

/// An event of one session for the receiver that all sessions share.
#[derive(Debug)]
pub(crate) struct SessionTaskEvent {
    pub(crate) peer: PeerId,
    pub(crate) session: SessionNumber,
    pub(crate) what: SessionTaskEventKind,
}

#[derive(Debug)]
pub(crate) enum SessionTaskEventKind {
    Opened(Arc<SendQueue>),
    /// The permit returns the frame's share of the peer's budget when it is dropped.
    Frame(bytes::Bytes, OwnedSemaphorePermit),
    Ended(PeerEnd),
}

/// The two halves of a session and the state that they share.
#[derive(Debug)]
pub(crate) struct Pump {
    pub(crate) peer: PeerId,
    pub(crate) session: SessionNumber,
    pub(crate) outbox: Arc<SendQueue>,
    pub(crate) items: mpsc::Sender<SessionTaskEvent>,
    pub(crate) limits: PeerLimits,
    pub(crate) metrics: Arc<TransportFigures>,
}

impl Pump {
    /// Drives the session until it fails. After that its outbox refuses frames.
    pub(crate) async fn run<R, W>(&self, read: R, write: W) -> PeerEnd
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        if !self.tell(SessionTaskEventKind::Opened(self.outbox.clone())).await {
            return PeerEnd::Stopped;
        }
        let end = tokio::select! {
            end = self.read_frames(read) => end,
            end = self.write_frames(write) => end,
            () = self.outbox.overflowed() => PeerEnd::TooSlow,
        };
        self.outbox.close();
        end
    }

    /// Sends an event. Returns false when the receiver is gone.
    pub(crate) async fn tell(&self, what: SessionTaskEventKind) -> bool {
        let (peer, session) = (self.peer, self.session);
        self.items.send(SessionTaskEvent { peer, session, what }).await.is_ok()
    }

    /// Reads frames. While the receiver is behind, or the remote is too fast, the stream is not
    /// read, and the remote has to wait.
    async fn read_frames<R: AsyncRead + Unpin>(&self, mut read: R) -> PeerEnd {
        let budget = Arc::new(Semaphore::new(self.limits.receive_bytes_max));
        let mut decoder = Decoder::new(self.limits.frame_bytes_max);
        let mut pace = FrameLimiter::new(self.limits.frames_per_second);
        let mut chunk = vec![0; READ_BYTES];
        loop {
            let got = match timeout(self.limits.silence, read.read(&mut chunk)).await {
                Err(_) => return PeerEnd::Silent,
                Ok(Err(error)) => return PeerEnd::Lost(error.kind()),
                Ok(Ok(0)) => return PeerEnd::Closed,
                Ok(Ok(got)) => got,
            };
            let mut input = &chunk[..got];
            loop {
                let frame = match decoder.next(&mut input) {
                    Ok(Some(frame)) if frame.is_empty() => continue,
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(oversize) => return PeerEnd::Oversize(oversize),
                };
                self.metrics.lane_frames_received_total.inc();
                self.metrics.lane_bytes_received_total.inc_by(frame.len() as u64);
                let bytes = frame.len();
                let share = u32::try_from(cost(&frame)).expect("budgets are below 4 GiB");
                let Ok(permit) = budget.clone().acquire_many_owned(share).await else {
                    return PeerEnd::Stopped;
                };
                if !self.tell(SessionTaskEventKind::Frame(frame, permit)).await {
                    return PeerEnd::Stopped;
                }
                pace.take(bytes).await;
            }
        }
    }

    async fn write_frames<W: AsyncWrite + Unpin>(&self, mut write: W) -> PeerEnd {
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

/// Writes all of `bytes`. Each part that the transport takes renews the time that is left, so that
/// a slow link is not mistaken for a dead one.
async fn write_all<W: AsyncWrite + Unpin>(
    write: &mut W,
    mut bytes: &[u8],
    silence: Duration,
) -> Result<(), PeerEnd> {
    let fault = |error: io::Error| PeerEnd::Lost(error.kind());
    while !bytes.is_empty() {
        let taken = timeout(silence, write.write(bytes)).await;
        match taken.map_err(|_| PeerEnd::Stuck)?.map_err(fault)? {
            0 => return Err(PeerEnd::Closed),
            taken => bytes = &bytes[taken..],
        }
    }
    timeout(silence, write.flush()).await.map_err(|_| PeerEnd::Stuck)?.map_err(fault)
}

#[cfg(test)]
mod tests;
