//! Strangers who send nonsense.

use std::{
    io::Write as _,
    net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use metatopia_math::Stream;

use super::{Length, StoryBound, StoryFigure, StoryResult, links::played};
use crate::{Bots, LabServers, servers::PORTS};

/// Connections that say nothing, at each port. The port of servers takes 32 handshakes at once. The
/// HTTP port has 256 places: with fewer the story shows what silence costs, and not who makes room
/// for whom, which is the story of `node/transport/src/http/tests/crowds.rs`.
const SILENT: usize = 200;

/// Bytes of one piece of nonsense.
const PIECE_BYTES: usize = 1_200;

/// Between two pieces of one stranger: 200 of them a second.
const PAUSE: Duration = Duration::from_millis(5);

/// Memory that strangers may cost.
const GROWTH_MIB: u64 = 64;

/// Where they all go.
const VICTIM: usize = 0;

pub(super) fn garbage(servers: &mut LabServers<'_>, length: Length) -> StoryResult {
    let time = length.seconds(4, 20);
    let quiet = Bots::play(servers, time)?.fate()?;
    let before = servers.resident(VICTIM)?;
    let bots = Bots::play(servers, time)?;
    let from = servers.height(1)?;
    let end = Instant::now() + time;
    let address = servers.lab.seat(VICTIM).address;
    let sent = thread::scope(|scope| {
        let strangers: Vec<_> = PORTS
            .into_iter()
            .flat_map(|port| {
                let silent = scope.spawn(move || be_silent((address, port).into(), end));
                let loud = scope.spawn(move || shout((address, port).into(), end));
                let datagrams = scope.spawn(move || throw((address, port).into(), end));
                [silent, loud, datagrams]
            })
            .collect();
        strangers.into_iter().map(|stranger| stranger.join().unwrap_or_default()).sum::<u64>()
    });
    let meanwhile = servers.height(1)? - from;
    let growth = servers.resident(VICTIM)?.saturating_sub(before) / (1_024 * 1_024);
    servers.until(VICTIM, "still votes", |now| now.voting)?;
    let mut figures = vec![
        StoryFigure::new("pieces of nonsense", sent, "pieces", StoryBound::AtLeast(100)),
        StoryFigure::new(
            "turns meanwhile",
            meanwhile,
            "turns",
            StoryBound::AtLeast(10 * time.as_secs()),
        ),
        StoryFigure::new("memory they cost", growth, "MiB", StoryBound::AtMost(GROWTH_MIB)),
        StoryFigure::new("act to receipt p99 before", quiet.p99_ms, "ms", StoryBound::None),
    ];
    figures.extend(played(servers, bots)?);
    Ok(figures)
}

/// Opens connections and says nothing on them.
fn be_silent(to: SocketAddr, end: Instant) -> u64 {
    let open = || TcpStream::connect_timeout(&to, Duration::from_millis(200)).ok();
    let held: Vec<TcpStream> = (0..SILENT).map_while(|_| open()).collect();
    thread::sleep(end.saturating_duration_since(Instant::now()));
    held.len() as u64
}

fn nonsense(port: u16, number: u64) -> Vec<u8> {
    let mut dice = Stream::new(&[0; 32], "metatopia nonsense v1", &[u64::from(port), number]);
    (0..PIECE_BYTES).map(|_| dice.below(256) as u8).collect()
}

/// Says nonsense on one connection after the other.
fn shout(to: SocketAddr, end: Instant) -> u64 {
    let mut sent = 0;
    while Instant::now() < end {
        let stream = TcpStream::connect_timeout(&to, Duration::from_millis(200));
        if stream.and_then(|mut stream| stream.write_all(&nonsense(to.port(), sent))).is_ok() {
            sent += 1;
        }
        thread::sleep(PAUSE);
    }
    sent
}

/// Throws nonsense in datagrams.
fn throw(to: SocketAddr, end: Instant) -> u64 {
    let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)) else {
        return 0;
    };
    let mut sent = 0;
    while Instant::now() < end {
        // A port where nobody listens says so; that is an answer too.
        sent += u64::from(socket.send_to(&nonsense(to.port(), sent), to).is_ok());
        thread::sleep(PAUSE);
    }
    sent
}
