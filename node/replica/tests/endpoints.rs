//! Where clients get in: whose words are kept, which of two counts, and what is passed on.

use std::time::Duration;

use metatopia_protocol::{
    ADDRESS_BYTES_MAX, CERTIFICATES_MAX, EndpointAnnouncement, SignedAnnouncement,
};
use metatopia_replica::{ANNOUNCEMENT_PAUSE, EndpointChange, Endpoints, OwnEndpoint, PeerMessage};
use metatopia_types::*;

const NEWS: EndpointChange = EndpointChange::New { pass_on: true };

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("entrances", b"sim"))
}

fn now(ms: u64) -> Now {
    Now { monotonic: Duration::from_millis(ms), wall: Millis(1_000_000 + ms) }
}

fn announcement(server: u8, issued: u64) -> EndpointAnnouncement {
    EndpointAnnouncement {
        sim: sim(),
        server: key(server).public(),
        http: format!("http://192.0.2.{server}:8080"),
        quic: format!("192.0.2.{server}:8081"),
        certificates: vec![[server; 32], [0; 32]],
        issued: Millis(issued),
    }
}

fn signed(server: u8, issued: u64) -> SignedAnnouncement {
    announcement(server, issued).sign(&key(server))
}

fn own_endpoint() -> OwnEndpoint {
    OwnEndpoint {
        http: "http://192.0.2.1:8080".to_owned(),
        quic: "192.0.2.1:8081".to_owned(),
        certificates: vec![[1; 32], [2; 32]],
    }
}

/// Server 1, in a sim of servers 1 to 5.
struct One(Endpoints);

impl One {
    fn new() -> Self {
        Self(Endpoints::new(sim(), key(1).public()))
    }

    fn receive(&mut self, at: u64, signed: SignedAnnouncement) -> EndpointChange {
        let members: Vec<PublicKey> = (1..=5).map(|n| key(n).public()).collect();
        self.0.receive(signed, now(at), |server| members.contains(server), &Ed25519)
    }

    fn announce(&mut self, at: u64, what: Option<OwnEndpoint>) -> Option<SignedAnnouncement> {
        self.0.announce(what, now(at), &key(1), &Ed25519)
    }

    fn issued(&self, server: u8) -> Option<u64> {
        let of = |known: &&SignedAnnouncement| known.announcement.server == key(server).public();
        self.0.known().find(of).map(|known| known.announcement.issued.0)
    }
}

#[test]
fn the_newest_word_of_a_server_counts_in_whatever_order_they_come() {
    let mut one = One::new();
    assert_eq!(one.receive(0, signed(2, 50)), NEWS);
    assert_eq!(one.receive(5_000, signed(2, 40)), EndpointChange::Ignored);
    assert_eq!(one.receive(5_000, signed(2, 50)), EndpointChange::Ignored);
    assert_eq!(one.receive(5_000, signed(2, 60)), NEWS);
    assert_eq!(one.issued(2), Some(60));
}

#[test]
fn nobody_speaks_for_another_server_or_another_sim() {
    let mut one = One::new();
    let forged = SignedAnnouncement { announcement: announcement(2, 50), ..signed(3, 50) };
    assert_eq!(one.receive(0, forged), EndpointChange::Ignored);
    let elsewhere = EndpointAnnouncement { sim: SimId(Digest([0; 32])), ..announcement(2, 50) };
    assert_eq!(one.receive(0, elsewhere.sign(&key(2))), EndpointChange::Ignored);
    // Not a server of this sim.
    assert_eq!(one.receive(0, signed(9, 50)), EndpointChange::Ignored);
    assert_eq!(one.0.known().count(), 0);
}

#[test]
fn words_above_the_limits_are_refused() {
    let mut one = One::new();
    let long = || "a".repeat(ADDRESS_BYTES_MAX + 1);
    for wrong in [
        EndpointAnnouncement { http: long(), ..announcement(2, 50) },
        EndpointAnnouncement { quic: long(), ..announcement(2, 50) },
        EndpointAnnouncement {
            certificates: vec![[0; 32]; CERTIFICATES_MAX + 1],
            ..announcement(2, 50)
        },
    ] {
        assert_eq!(one.receive(0, wrong.sign(&key(2))), EndpointChange::Ignored);
    }
    assert_eq!(one.announce(0, Some(OwnEndpoint { http: long(), ..own_endpoint() })), None);
}

#[test]
fn a_talkative_server_is_heard_but_not_passed_on_all_the_time() {
    let mut one = One::new();
    let pause = u64::try_from(ANNOUNCEMENT_PAUSE.as_millis()).unwrap();
    assert_eq!(one.receive(0, signed(2, 1)), NEWS);
    assert_eq!(one.receive(1, signed(2, 2)), EndpointChange::New { pass_on: false });
    assert_eq!(one.receive(1, signed(3, 1)), NEWS);
    assert_eq!(one.receive(pause, signed(2, 3)), NEWS);
    assert_eq!(one.issued(2), Some(3));
}

#[test]
fn a_word_is_newer_than_the_one_before_even_if_the_clock_went_back() {
    let mut one = One::new();
    let first = one.announce(10_000, Some(own_endpoint())).unwrap();
    let again = one.announce(0, None).unwrap();
    assert!(again.announcement.issued > first.announcement.issued);
    assert_eq!(
        EndpointAnnouncement { issued: first.announcement.issued, ..again.announcement },
        first.announcement
    );
}

#[test]
fn a_word_from_an_earlier_life_is_overruled() {
    let mut one = One::new();
    let old = signed(1, 9_000_000);
    // Before it knows what to say itself, it keeps nothing of itself.
    assert_eq!(one.receive(0, old.clone()), EndpointChange::Ignored);
    one.announce(0, Some(own_endpoint())).unwrap();

    assert_eq!(one.receive(0, old), EndpointChange::OwnIsOlder);

    let new = one.announce(0, None).unwrap();
    assert_eq!(new.announcement.issued, Millis(9_000_001));
    assert_eq!(new.announcement.http, own_endpoint().http);
}

#[test]
fn what_a_node_said_while_it_followed_counts_once_the_sim_has_it_among_its_servers() {
    let mut one = One::new();
    let followers = [key(7).public(), key(8).public()];
    let is_follower = |node: &PublicKey| followers.contains(node);
    for (at, follower, issued) in [(0, 7, 5), (2_000, 7, 4), (2_000, 8, 5), (2_000, 9, 5)] {
        one.0.receive_from_follower(signed(follower, issued), now(at), is_follower, &Ed25519);
    }
    let forged = SignedAnnouncement { announcement: announcement(7, 9), ..signed(8, 9) };
    one.0.receive_from_follower(forged, now(4_000), is_follower, &Ed25519);
    // A signature costs a check: of each node one a second.
    one.0.receive_from_follower(signed(7, 10), now(4_999), is_follower, &Ed25519);
    assert_eq!(one.0.known().count(), 0, "nobody is told of those who follow");

    let of_promoted = |server: &PublicKey| [key(7).public(), key(9).public()].contains(server);

    assert_eq!(one.0.promote(of_promoted), [signed(7, 5)]);
    assert_eq!(one.issued(7), Some(5));
    assert_eq!(one.0.promote(of_promoted), []);
    assert_eq!(one.0.known().count(), 1);
}

#[test]
fn servers_that_leave_the_sim_are_forgotten() {
    let mut one = One::new();
    one.announce(0, Some(own_endpoint())).unwrap();
    one.receive(0, signed(2, 1));
    one.receive(0, signed(3, 1));

    assert!(one.0.retain_servers(|server| *server == key(2).public()));
    assert!(!one.0.retain_servers(|server| *server == key(2).public()));

    assert_eq!(one.issued(3), None);
    assert_eq!(one.issued(2), Some(1));
    assert!(one.issued(1).is_some(), "its own word is its own affair");
}

#[test]
fn a_word_between_servers_comes_to_the_same_bytes() {
    let message = PeerMessage::Endpoint(Box::new(signed(2, 7)));
    let bytes = message.encode();
    assert_eq!(PeerMessage::decode(&bytes), Ok(message));
    assert!(bytes.len() < 512, "{} bytes", bytes.len());
}
