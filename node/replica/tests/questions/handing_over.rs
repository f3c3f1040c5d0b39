//! Acts that wait, and peers that connect.

use metatopia_replica::{PeerMessage, mempool::STRANGER_PENDING_MAX};
use metatopia_types::{Act, PublicKey};

use super::{alone::Alone, author_class::Person};

/// Each time that a peer connected anew, it was handed up to a thousand acts, at the cost of the one rate
/// of acts that are handed on: a follower could keep what clients said from all other servers.
#[test]
fn an_act_of_a_client_is_handed_on_however_often_peers_connect() {
    let mut server = Alone::begin();
    server.run_to(3);
    let crowd = 24;
    for n in 0..crowd {
        let mut person = Person::comes(&mut server, 10 + n);
        (0..STRANGER_PENDING_MAX).for_each(|_| person.acts(&mut server, Act::Heartbeat, 100));
    }
    let waiting = usize::from(crowd) * STRANGER_PENDING_MAX;
    assert_eq!(handed_on(&server.sent_to_all), waiting);

    let peer = PublicKey([9; 32]);
    for _ in 0..100 {
        server.peer_up(peer);
        server.peer_down(peer);
    }
    let sent: Vec<Vec<u8>> = server.sent.drain(..).map(|(_, frame)| frame).collect();
    assert_eq!(handed_on(&sent), 100 * waiting);

    Person::comes(&mut server, 9).acts(&mut server, Act::Heartbeat, 100);
    assert_eq!(handed_on(&server.sent_to_all), waiting + 1);
}

fn handed_on(frames: &[Vec<u8>]) -> usize {
    let is_act =
        |frame: &&Vec<u8>| matches!(PeerMessage::decode(frame), Ok(PeerMessage::Submission(_)));
    frames.iter().filter(is_act).count()
}
