//! Followers that ask again the servers that did not let them in.

use std::{collections::BTreeSet, time::Duration};

use metatopia_protocol::{EndpointAnnouncement, JoinRefusal, SignedAnnouncement};
use metatopia_replica::{JOIN_RETRY_PAUSES, JoinRetry, JoinTarget};
use metatopia_types::{Digest, Millis, PublicKey, Sign as _, SigningKey, SimId};

const INVITED: &str = "http://192.0.2.99:8080";

fn key(server: u8) -> SigningKey {
    SigningKey::from_seed([server; 32])
}

fn keys<const N: usize>(servers: [u8; N]) -> BTreeSet<PublicKey> {
    servers.into_iter().map(|server| key(server).public()).collect()
}

fn word(server: u8, issued: u64) -> SignedAnnouncement {
    let announcement = EndpointAnnouncement {
        sim: SimId(Digest::of("knocking", b"sim")),
        server: key(server).public(),
        http: format!("http://192.0.2.{server}:8080"),
        quic: format!("192.0.2.{server}:8081"),
        certificates: vec![[server; 32]],
        issued: Millis(issued),
    };
    announcement.sign(&key(server))
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A follower, invited to one address.
struct One(JoinRetry);

impl One {
    fn new() -> Self {
        Self(JoinRetry::new([INVITED.to_owned()], at(0)))
    }

    /// Returns which server is asked now, or 0 for whoever is at the address of the invite.
    fn asks(&mut self, now: Duration) -> Option<u8> {
        self.0.poll(now).map(|target| match target {
            JoinTarget::Address(address) => {
                assert_eq!(address, INVITED);
                0
            }
            JoinTarget::Server(announcement) => announcement.certificates[0][0],
        })
    }

    fn hears(&mut self, now: Duration, server: u8, answer: Result<(), JoinRefusal>) -> bool {
        self.0.record_answer(now, Some((key(server).public(), answer)))
    }

    fn hears_nothing(&mut self, now: Duration) {
        assert!(!self.0.record_answer(now, None), "silence is no news");
    }

    /// The seconds up to `end` in which somebody is asked, if nobody answers.
    fn asks_until(&mut self, end: u64) -> Vec<u64> {
        let asked = |second: &u64| {
            let asked = self.asks(at(*second)).is_some();
            if asked {
                self.hears_nothing(at(*second));
            }
            asked
        };
        (0..end).filter(asked).collect()
    }
}

#[test]
fn who_is_missed_is_asked_less_and_less_often_until_it_is_connected() {
    let mut one = One::new();
    one.0.update_missing(at(0), keys([1]), &[word(1, 7)]);
    assert_eq!(one.asks_until(1_300), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 812, 1_112]);
    assert_eq!(*JOIN_RETRY_PAUSES.end(), at(300));
    one.0.update_missing(at(1_300), keys([]), &[word(1, 7)]);
    assert_eq!(one.asks(at(9_999)), None);
    // One that is missed again is asked as if it never had been.
    one.0.update_missing(at(10_000), keys([1]), &[word(1, 7)]);
    assert_eq!((one.asks(at(10_000)), one.asks(at(10_001))), (None, Some(1)));
}

#[test]
fn a_new_word_of_a_server_is_a_sign_of_life_and_an_old_one_is_none() {
    let mut one = One::new();
    one.0.update_missing(at(0), keys([1]), &[word(1, 7)]);
    assert_eq!(one.asks_until(600).last(), Some(&512));
    one.0.update_missing(at(600), keys([1]), &[word(1, 7)]);
    one.0.update_missing(at(600), keys([1]), &[word(1, 6)]);
    assert_eq!(one.asks(at(601)), None);
    // However often it speaks, it is asked once a second at most.
    let often = (0..40).filter(|quarter| {
        let now = at(601) + Duration::from_millis(250) * *quarter;
        one.0.update_missing(now, keys([1]), &[word(1, 8 + u64::from(*quarter))]);
        let asked = one.asks(now).is_some();
        if asked {
            one.hears_nothing(now);
        }
        asked
    });
    assert_eq!(often.count(), 9);
}

#[test]
fn one_is_asked_at_a_time_and_everybody_in_turn() {
    let mut one = One::new();
    let words = [word(1, 7), word(2, 7), word(3, 7)];
    one.0.update_missing(at(0), keys([1, 2]), &words);
    let first = one.asks(at(1)).expect("both are due");
    assert_eq!(one.asks(at(30)), None, "one question is under way");
    one.hears_nothing(at(30));
    assert_eq!(one.asks(at(31)), Some(3 - first));
    one.hears_nothing(at(31));
    assert_eq!(one.asks(at(31)), Some(first));
}

#[test]
fn the_addresses_of_the_invite_are_for_servers_that_nobody_has_heard_of() {
    let mut one = One::new();
    one.0.update_missing(at(0), keys([1]), &[word(1, 7)]);
    assert_eq!(one.asks(at(1)), Some(1));
    one.hears_nothing(at(1));
    one.0.update_missing(at(1), keys([1, 2]), &[word(1, 7)]);
    assert_eq!(one.asks(at(1)), Some(0));
    // Who answers there is not missed: it has nothing to say about server 2.
    one.hears(at(1), 3, Ok(()));
    assert_eq!(one.asks_until(100), [2, 4, 8, 16, 32, 64]);
    assert_eq!(one.asks(at(128)), Some(1));
    one.hears_nothing(at(128));
    // But once that one is missed as well, it is the one to ask.
    one.0.update_missing(at(130), keys([3]), &[]);
    assert_eq!(one.asks(at(130)), Some(0));
}

#[test]
fn a_refusal_that_holds_for_ever_ends_the_asking_and_want_of_room_does_not() {
    let lasting = [
        JoinRefusal::Expired,
        JoinRefusal::Used(3),
        JoinRefusal::Grant,
        JoinRefusal::Invalid,
        JoinRefusal::OtherSim(SimId(Digest::of("knocking", b"other"))),
    ];
    let passing = [JoinRefusal::Full, JoinRefusal::Issuer(key(9).public())];
    for (why, lasts) in
        lasting.map(|why| (why, true)).into_iter().chain(passing.map(|w| (w, false)))
    {
        let mut one = One::new();
        one.0.update_missing(at(0), keys([1]), &[word(1, 7)]);
        assert_eq!(one.asks(at(1)), Some(1));
        assert!(one.hears(at(1), 1, Err(why)), "it is told");
        assert_eq!(one.0.refused().into_values().next(), lasts.then_some(why));
        // Nor does a word of the server change what it said.
        one.0.update_missing(at(2), keys([1]), &[word(1, 8)]);
        assert_eq!(one.asks(at(9)), (!lasts).then_some(1), "{why}");
        if !lasts {
            assert!(!one.hears(at(9), 1, Err(why)), "it was told before");
            assert_eq!(one.asks(at(600)), Some(1));
            assert!(one.hears(at(600), 1, Ok(())), "at last");
        }
        // Connected all the same, it refuses nothing.
        one.0.update_missing(at(601), keys([]), &[word(1, 8)]);
        assert!(one.0.refused().is_empty());
    }
}
