use super::*;

const NOW: Duration = Duration::ZERO;

fn mesh(local: PeerId) -> MeshBehaviour {
    MeshBehaviour::new(local, StreamProtocol::new("/t"), Redial::default(), Arc::default())
}

/// Returns the local id and a peer's. The local one is the smaller if `smaller`.
fn ids(smaller: bool) -> [PeerId; 2] {
    let mut ids = [PeerId::random(), PeerId::random()];
    ids.sort();
    if !smaller {
        ids.reverse();
    }
    ids
}

fn up(mesh: &mut MeshBehaviour, peer: PeerId) -> &mut Up {
    match &mut mesh.peers.get_mut(&peer).unwrap().link {
        LinkState::Up(up) => up,
        _ => panic!("not up"),
    }
}

/// Returns the number of the connection that is asked to close.
fn closed(mesh: &mut MeshBehaviour) -> Option<usize> {
    match mesh.queue.pop_front()? {
        ToSwarm::CloseConnection { connection: CloseConnection::One(id), .. } => {
            (1..=9).find(|n| ConnectionId::new_unchecked(*n) == id)
        }
        other => panic!("{other:?}"),
    }
}

/// Returns which of connections 1 and 2 is closed when 2 is made `apart` after 1.
fn loser(smaller: bool, dialled_1: bool, dialled_2: bool, apart: Duration) -> Option<usize> {
    let [local, peer] = ids(smaller);
    let mut mesh = mesh(local);
    mesh.allow(peer, vec![]);
    mesh.established(peer, ConnectionId::new_unchecked(1), dialled_1);
    up(&mut mesh, peer).since -= apart;
    mesh.established(peer, ConnectionId::new_unchecked(2), dialled_2);
    closed(&mut mesh)
}

#[tokio::test]
async fn simultaneous_dials_end_the_same_on_both_sides() {
    // The smaller side dialled connection 1, and the larger side dialled 2: connection 2 goes, in
    // either order.
    assert_eq!((loser(true, true, false, NOW), loser(false, false, true, NOW)), (Some(2), Some(2)));
    assert_eq!((loser(true, false, true, NOW), loser(false, true, false, NOW)), (Some(1), Some(1)));
}

#[tokio::test]
async fn a_restarted_peer_replaces_what_it_left_behind() {
    let later = Duration::from_secs(5);
    for (smaller, dialled_1) in [(true, true), (true, false), (false, true), (false, false)] {
        assert_eq!(loser(smaller, dialled_1, false, later), Some(1));
    }
}

#[tokio::test]
async fn a_connection_without_a_session_is_closed_in_time() {
    let [local, peer] = ids(true);
    let mut mesh = mesh(local);
    mesh.allow(peer, vec![]);
    mesh.established(peer, ConnectionId::new_unchecked(1), false);
    let since = up(&mut mesh, peer).since;
    let deadline = since + mesh.redial.open_within;

    let before = mesh.due(deadline - Duration::from_millis(1));
    assert_eq!((before, closed(&mut mesh)), (Some(deadline), None));

    let after = mesh.due(deadline);
    assert_eq!((after, closed(&mut mesh)), (None, Some(1)));
    assert!(matches!(up(&mut mesh, peer).phase, SessionPhase::Closing));
}

#[tokio::test]
async fn redials_back_off_until_a_session_lasts() {
    let [local, peer] = ids(true);
    let mut mesh = mesh(local);
    mesh.allow(peer, vec![]);
    let Redial { first, max, .. } = mesh.redial;
    let backoff = |mesh: &MeshBehaviour| mesh.peers[&peer].backoff;
    let connect = |mesh: &mut MeshBehaviour, lasted: Duration| {
        mesh.established(peer, ConnectionId::new_unchecked(1), true);
        let up = up(mesh, peer);
        (up.phase, up.since) = (SessionPhase::Open, up.since - lasted);
        mesh.missing(peer);
    };

    for _ in 0..20 {
        connect(&mut mesh, Duration::ZERO);
    }
    assert_eq!(backoff(&mesh), max);

    connect(&mut mesh, max);
    assert_eq!(backoff(&mesh), first * 2);
}

#[tokio::test]
async fn strangers_are_denied_and_counted() {
    let [local, peer] = ids(true);
    let mut mesh = mesh(local);

    assert!(mesh.handler(peer).is_err());
    mesh.allow(peer, vec![]);
    assert!(mesh.handler(peer).is_ok());
    mesh.disallow(peer);
    assert!(mesh.handler(peer).is_err());

    assert_eq!(mesh.metrics.lane_strangers_total.get(), 2);
}

#[tokio::test]
async fn a_peer_that_connects_again_and_again_is_held_back() {
    let [local, peer] = ids(true);
    let mut mesh = mesh(local);
    mesh.allow(peer, vec![]);
    let nowhere = Multiaddr::empty();
    let connect = |mesh: &mut MeshBehaviour, n: usize| {
        let id = ConnectionId::new_unchecked(n);
        mesh.handle_established_inbound_connection(id, peer, &nowhere, &nowhere).is_ok()
    };

    assert!(connect(&mut mesh, 1));
    assert!(!connect(&mut mesh, 2));
    let first = mesh.redial.first;
    mesh.peers.get_mut(&peer).unwrap().came = Some(Instant::now() - first);
    assert!(connect(&mut mesh, 3));
}

#[tokio::test]
async fn a_server_is_no_peer_of_itself() {
    let [local, _] = ids(true);
    let mut mesh = mesh(local);
    mesh.allow(local, vec!["/ip4/127.0.0.1/tcp/1".parse().unwrap()]);
    assert!(mesh.peers.is_empty());
}
