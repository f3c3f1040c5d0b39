use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, split},
    task::JoinHandle,
    time::{Instant, interval},
};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use super::{super::FRAME_BYTES_MAX, super::outbox::FRAME_OVERHEAD_BYTES, *};
use crate::peers::SendError;

struct Side {
    outbox: Arc<SendQueue>,
    items: mpsc::Receiver<SessionTaskEvent>,
    pump: JoinHandle<PeerEnd>,
}

impl Side {
    /// Returns a session over `stream`, which has announced itself.
    async fn new(stream: DuplexStream, limits: PeerLimits) -> Self {
        let (sender, mut items) = mpsc::channel(4);
        let outbox = Arc::new(SendQueue::new(&limits));
        let pump = Pump {
            peer: PeerId::random(),
            session: 1,
            outbox: outbox.clone(),
            items: sender,
            limits,
            metrics: Arc::default(),
        };
        let (read, write) = split(stream);
        let pump = tokio::spawn(async move { pump.run(read.compat(), write.compat_write()).await });
        assert!(matches!(items.recv().await.unwrap().what, SessionTaskEventKind::Opened(_)));
        Self { outbox, items, pump }
    }

    async fn frame(&mut self) -> Option<Bytes> {
        match self.items.recv().await?.what {
            SessionTaskEventKind::Frame(bytes, _) => Some(bytes),
            other => panic!("{other:?}"),
        }
    }
}

async fn pair(limits: PeerLimits) -> (Side, Side) {
    let (a, b) = duplex(1024);
    (Side::new(a, limits).await, Side::new(b, limits).await)
}

/// Returns limits like the default, with as little patience as a test needs.
fn hasty() -> PeerLimits {
    let ms = Duration::from_millis;
    PeerLimits { heartbeat: ms(20), silence: ms(200), ..PeerLimits::default() }
}

#[tokio::test]
async fn frames_arrive_whole_and_in_order() {
    let (a, mut b) = pair(PeerLimits::default()).await;
    let frame = |n: u32| Bytes::from(n.to_le_bytes().repeat(1 + n as usize % 4000));
    for n in 0..500 {
        a.outbox.push(frame(n)).unwrap();
    }
    for n in 0..500 {
        assert_eq!(b.frame().await.unwrap(), frame(n), "frame {n}");
    }
}

#[tokio::test]
async fn heartbeats_keep_an_idle_session_and_are_not_delivered() {
    let limits = hasty();
    let (a, mut b) = pair(limits).await;

    let idle = timeout(limits.silence * 3, b.items.recv()).await;

    assert!(idle.is_err(), "{idle:?}");
    a.outbox.push(Bytes::from_static(b"still here")).unwrap();
    assert_eq!(b.frame().await.unwrap(), "still here");
}

#[tokio::test]
async fn a_full_queue_ends_the_session_and_refuses_what_follows() {
    let limits = PeerLimits { send_bytes_max: 100_000, ..PeerLimits::default() };
    let (stream, _never_read) = duplex(1024);
    let a = Side::new(stream, limits).await;
    let frame = Bytes::from(vec![7; 1_000 - FRAME_OVERHEAD_BYTES]);

    let queued = (0..1_000).take_while(|_| a.outbox.push(frame.clone()).is_ok()).count();

    assert_eq!(queued, 100);
    assert_eq!(a.outbox.push(frame), Err(SendError::Gone));
    assert_eq!(a.pump.await.unwrap(), PeerEnd::TooSlow);
}

#[tokio::test]
async fn a_receiver_that_is_behind_stops_the_reading() {
    let limits = PeerLimits {
        receive_bytes_max: 20_000,
        frame_bytes_max: 10_000,
        send_bytes_max: 1_000_000,
        ..PeerLimits::default()
    };
    let (a, mut b) = pair(limits).await;
    let frame = |n: u8| Bytes::from(vec![n; 9_000]);
    for n in 0..50 {
        a.outbox.push(frame(n)).unwrap();
    }

    // Two frames fit the budget. The third is decoded, and waits.
    let held: Vec<SessionTaskEvent> =
        [b.items.recv().await, b.items.recv().await].map(Option::unwrap).into();
    assert!(timeout(Duration::from_millis(100), b.items.recv()).await.is_err());

    drop(held);
    for n in 2..50 {
        assert_eq!(b.frame().await.unwrap(), frame(n), "frame {n}");
    }
}

#[tokio::test]
async fn impossible_sizes_are_refused_and_the_session_goes_on() {
    let limits = PeerLimits { frame_bytes_max: 10, ..PeerLimits::default() };
    let (a, mut b) = pair(limits).await;

    for bytes in [0, 11] {
        let refused = a.outbox.push(Bytes::from(vec![1; bytes]));
        assert_eq!(refused, Err(SendError::Size { bytes, max: 10 }));
    }

    a.outbox.push(Bytes::from(vec![1; 10])).unwrap();
    assert_eq!(b.frame().await.unwrap().len(), 10);
}

#[tokio::test]
async fn an_oversize_frame_ends_the_session_unread() {
    let (ours, mut theirs) = duplex(1024);
    let side = Side::new(ours, PeerLimits::default()).await;
    theirs.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
    let oversize = framing::Oversize { announced: u32::MAX, max: FRAME_BYTES_MAX };
    assert_eq!(side.pump.await.unwrap(), PeerEnd::Oversize(oversize));
}

#[tokio::test]
async fn silence_ends_the_session() {
    let (ours, _theirs) = duplex(1024);
    let side = Side::new(ours, hasty()).await;
    assert_eq!(side.pump.await.unwrap(), PeerEnd::Silent);
}

#[tokio::test]
async fn a_remote_that_talks_and_never_reads_ends_the_session() {
    let limits = hasty();
    let (ours, theirs) = duplex(1024);
    let side = Side::new(ours, limits).await;
    let (_unread, mut talk) = split(theirs);
    let talking = tokio::spawn(async move {
        let mut pace = interval(limits.heartbeat);
        // This fails once the other side has hung up.
        while talk.write_all(&framing::EMPTY).await.is_ok() {
            pace.tick().await;
        }
    });
    side.outbox.push(Bytes::from(vec![1; 5_000])).unwrap();

    assert_eq!(side.pump.await.unwrap(), PeerEnd::Stuck);
    talking.await.unwrap();
}

#[tokio::test]
async fn a_slow_link_is_not_taken_for_a_hanging_one() {
    let limits = PeerLimits { heartbeat: Duration::from_millis(20), ..hasty() };
    let (ours, theirs) = duplex(64);
    let side = Side::new(ours, limits).await;
    side.outbox.push(Bytes::from(vec![1; 4_000])).unwrap();
    let (mut slow, mut talk) = split(theirs);
    let began = Instant::now();
    let mut got = 0;

    // With 64 bytes at a time the frame takes longer than the allowed silence.
    let (mut chunk, mut pace) = ([0; 64], interval(Duration::from_millis(5)));
    while got < 4_004 {
        pace.tick().await;
        got += slow.read(&mut chunk).await.unwrap();
        talk.write_all(&framing::EMPTY).await.unwrap();
    }

    assert!(began.elapsed() > limits.silence, "too quick to show anything");
    assert!(!side.pump.is_finished());
}

#[tokio::test]
async fn a_closed_stream_ends_the_session() {
    let (ours, theirs) = duplex(1024);
    let side = Side::new(ours, PeerLimits::default()).await;
    drop(theirs);
    assert!(matches!(side.pump.await.unwrap(), PeerEnd::Closed | PeerEnd::Lost(_)));
}

/// A peer that was let in once kept a server so busy with empty frames that no client was heard.
#[tokio::test]
async fn a_peer_that_floods_is_read_no_faster_than_its_pace() {
    let limits = PeerLimits { frames_per_second: 100, ..PeerLimits::default() };
    let (stream, mut flood) = duplex(1024);
    let mut server = Side::new(stream, limits).await;
    let flooding = tokio::spawn(async move {
        let word = [&1_u32.to_le_bytes()[..], b"."].concat();
        while flood.write_all(&word).await.is_ok() {}
    });

    // The frames of one second come at once, and then fifty more.
    let began = Instant::now();
    for _ in 0..150 {
        server.frame().await.unwrap();
    }

    assert!(began.elapsed() >= Duration::from_millis(450), "{:?}", began.elapsed());
    flooding.abort();
}
