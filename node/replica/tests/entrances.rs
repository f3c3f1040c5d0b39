//! Where clients get in: whose words are kept, which of two counts, and what is passed on.

use std::time::Duration;

use metatopia_protocol::{ADDRESS_BYTES_MAX, CERTIFICATES_MAX, Entrance, SignedEntrance};
use metatopia_replica::{Announcement, Entrances, Heard, PAUSE, PeerMessage};
use metatopia_types::*;

const NEWS: Heard = Heard::News { pass_on: true };

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("entrances", b"sim"))
}

fn now(ms: u64) -> Now {
    Now { monotonic: Duration::from_millis(ms), wall: Millis(1_000_000 + ms) }
}

fn entrance(server: u8, issued: u64) -> Entrance {
    Entrance {
        sim: sim(),
        server: key(server).public(),
        http: format!("http://192.0.2.{server}:8080"),
        quic: format!("192.0.2.{server}:8081"),
        certificates: vec![[server; 32], [0; 32]],
        issued: Millis(issued),
    }
}

fn word(server: u8, issued: u64) -> SignedEntrance {
    entrance(server, issued).sign(&key(server))
}

fn announcement() -> Announcement {
    Announcement {
        http: "http://192.0.2.1:8080".to_owned(),
        quic: "192.0.2.1:8081".to_owned(),
        certificates: vec![[1; 32], [2; 32]],
    }
}

/// Server 1, in a sim of servers 1 to 5.
struct One(Entrances);

impl One {
    fn new() -> Self {
        Self(Entrances::new(sim(), key(1).public()))
    }

    fn hear(&mut self, at: u64, word: SignedEntrance) -> Heard {
        let members: Vec<PublicKey> = (1..=5).map(|n| key(n).public()).collect();
        self.0.hear(word, now(at), |server| members.contains(server), &Ed25519)
    }

    fn announce(&mut self, at: u64, what: Option<Announcement>) -> Option<SignedEntrance> {
        self.0.announce(what, now(at), &key(1), &Ed25519)
    }

    fn issued(&self, server: u8) -> Option<u64> {
        let of = |known: &&SignedEntrance| known.entrance.server == key(server).public();
        self.0.known().find(of).map(|known| known.entrance.issued.0)
    }
}

#[test]
fn the_newest_word_of_a_server_counts_in_whatever_order_they_come() {
    let mut one = One::new();
    assert_eq!(one.hear(0, word(2, 50)), NEWS);
    assert_eq!(one.hear(5_000, word(2, 40)), Heard::Nothing);
    assert_eq!(one.hear(5_000, word(2, 50)), Heard::Nothing);
    assert_eq!(one.hear(5_000, word(2, 60)), NEWS);
    assert_eq!(one.issued(2), Some(60));
}

#[test]
fn nobody_speaks_for_another_server_or_another_sim() {
    let mut one = One::new();
    let forged = SignedEntrance { entrance: entrance(2, 50), ..word(3, 50) };
    assert_eq!(one.hear(0, forged), Heard::Nothing);
    let elsewhere = Entrance { sim: SimId(Digest([0; 32])), ..entrance(2, 50) };
    assert_eq!(one.hear(0, elsewhere.sign(&key(2))), Heard::Nothing);
    // Not a server of this sim.
    assert_eq!(one.hear(0, word(9, 50)), Heard::Nothing);
    assert_eq!(one.0.known().count(), 0);
}

#[test]
fn words_above_the_limits_are_refused() {
    let mut one = One::new();
    let long = || "a".repeat(ADDRESS_BYTES_MAX + 1);
    for wrong in [
        Entrance { http: long(), ..entrance(2, 50) },
        Entrance { quic: long(), ..entrance(2, 50) },
        Entrance { certificates: vec![[0; 32]; CERTIFICATES_MAX + 1], ..entrance(2, 50) },
    ] {
        assert_eq!(one.hear(0, wrong.sign(&key(2))), Heard::Nothing);
    }
    assert_eq!(one.announce(0, Some(Announcement { http: long(), ..announcement() })), None);
}

#[test]
fn a_talkative_server_is_heard_but_not_passed_on_all_the_time() {
    let mut one = One::new();
    let pause = u64::try_from(PAUSE.as_millis()).unwrap();
    assert_eq!(one.hear(0, word(2, 1)), NEWS);
    assert_eq!(one.hear(1, word(2, 2)), Heard::News { pass_on: false });
    assert_eq!(one.hear(1, word(3, 1)), NEWS);
    assert_eq!(one.hear(pause, word(2, 3)), NEWS);
    assert_eq!(one.issued(2), Some(3));
}

#[test]
fn a_word_is_newer_than_the_one_before_even_if_the_clock_went_back() {
    let mut one = One::new();
    let first = one.announce(10_000, Some(announcement())).unwrap();
    let again = one.announce(0, None).unwrap();
    assert!(again.entrance.issued > first.entrance.issued);
    assert_eq!(Entrance { issued: first.entrance.issued, ..again.entrance }, first.entrance);
}

#[test]
fn a_word_from_an_earlier_life_is_overruled() {
    let mut one = One::new();
    let old = word(1, 9_000_000);
    // Before it knows what to say itself, it keeps nothing of itself.
    assert_eq!(one.hear(0, old.clone()), Heard::Nothing);
    one.announce(0, Some(announcement())).unwrap();

    assert_eq!(one.hear(0, old), Heard::OwnIsOlder);

    let new = one.announce(0, None).unwrap();
    assert_eq!(new.entrance.issued, Millis(9_000_001));
    assert_eq!(new.entrance.http, announcement().http);
}

#[test]
fn servers_that_leave_the_sim_are_forgotten() {
    let mut one = One::new();
    one.announce(0, Some(announcement())).unwrap();
    one.hear(0, word(2, 1));
    one.hear(0, word(3, 1));

    assert!(one.0.keep(|server| *server == key(2).public()));
    assert!(!one.0.keep(|server| *server == key(2).public()));

    assert_eq!(one.issued(3), None);
    assert_eq!(one.issued(2), Some(1));
    assert!(one.issued(1).is_some(), "its own word is its own affair");
}

#[test]
fn a_word_between_servers_comes_to_the_same_bytes() {
    let message = PeerMessage::Entrance(Box::new(word(2, 7)));
    let bytes = message.encode();
    assert_eq!(PeerMessage::decode(&bytes), Ok(message));
    assert!(bytes.len() < 512, "{} bytes", bytes.len());
}
