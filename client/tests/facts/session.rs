//! A session over connections that break: what is sent again, and what a refusal means.

use std::time::Duration;

use metatopia_client::{Distrust, SessionEvent};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::talk::Talk;

const RESEND: Duration = Duration::from_millis(500);

fn submitted(messages: &[ClientMessage]) -> Vec<u64> {
    let seq = |message: &ClientMessage| match message {
        ClientMessage::Submit(submission) => Some(submission.act.envelope.seq.0),
        _ => None,
    };
    messages.iter().filter_map(seq).collect()
}

#[test]
fn acts_without_a_receipt_are_sent_again_in_the_order_of_their_lane() {
    let mut talk = Talk::of_one_server();
    talk.connect(Height(5));
    for _ in 0..3 {
        talk.session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("open");
    }
    assert_eq!(submitted(&talk.said()), [1, 2, 3]);

    talk.session.disconnected();
    talk.session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("was open");
    assert_eq!(talk.session.deadline(), None);
    talk.connect(Height(5));
    assert_eq!(submitted(&talk.said()), [1, 2, 3, 4]);

    assert_eq!(talk.session.deadline(), Some(RESEND));
    talk.session.tick(RESEND);
    assert_eq!(submitted(&talk.said()), [1, 2, 3, 4]);
}

/// A server opened sessions at all others in the name of its client, which answered whatever it was asked.
#[test]
fn a_second_challenge_in_one_connection_is_not_answered() {
    let mut talk = Talk::of_one_server();
    talk.connect(Height(5));
    talk.drain();
    let first = talk.session.server();
    let (sim, server) = (talk.session.light().sim(), crate::stand::key(201).public());
    let challenge = Challenge { version: VERSION, sim, server, nonce: [4; 32] };
    talk.tell(&ServerMessage::Challenge(challenge));
    let (said, events) = talk.drain();
    assert_eq!(said, []);
    assert_eq!(events, [SessionEvent::Distrusted(Distrust::SecondChallenge)]);
    // The page names who lied: that is this server, and not the one whose challenge it handed on.
    assert!(first.is_some_and(|first| first != server));
    assert_eq!(talk.session.server(), first);
}

/// A connection broke in the moment in which something happened to an act, and who waited for that did so for ever.
#[test]
fn what_happened_is_told_after_the_connection_broke() {
    let mut talk = Talk::of_one_server();
    talk.connect(Height(5));
    let act = talk.submitted(Act::Heartbeat);
    talk.drain();
    let why = SubmitRefusal::QuotaExceeded;
    talk.tell(&ServerMessage::Refused { act, why });
    talk.session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("open");
    talk.session.disconnected();
    let (said, events) = talk.drain();
    assert_eq!(said, [], "it is sent again on the next connection");
    assert_eq!(events, [SessionEvent::Refused { act, why }]);
}

#[test]
fn an_act_that_the_first_node_has_no_room_for_is_refused() {
    let mut talk = Talk::of_one_server();
    talk.connect(Height(5));
    let act = talk.submitted(Act::Heartbeat);
    talk.said();

    let why = SubmitRefusal::QuotaExceeded;
    talk.tell(&ServerMessage::Refused { act, why });

    assert_eq!(talk.events(), [SessionEvent::Refused { act, why }]);
    assert_eq!(talk.session.pending(), 0);
}

#[test]
fn an_act_that_may_be_taken_already_outlives_a_node_without_room() {
    for why in [SubmitRefusal::QuotaExceeded, SubmitRefusal::Full, SubmitRefusal::TooManyLanes] {
        let mut talk = Talk::of_one_server();
        talk.connect(Height(5));
        let act = talk.submitted(Act::Heartbeat);
        talk.session.disconnected();
        talk.connect(Height(5));
        talk.said();

        talk.tell(&ServerMessage::Refused { act, why });
        assert_eq!((talk.events(), talk.session.pending()), (Vec::new(), 1), "{why}");

        let why = SubmitRefusal::Replayed(1);
        talk.tell(&ServerMessage::Refused { act, why });
        assert_eq!(talk.events(), [SessionEvent::Refused { act, why }]);
        assert_eq!(talk.session.pending(), 0);
    }
}
