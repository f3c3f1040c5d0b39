//! A session over connections that break: what is sent again, and what a refusal means.

use std::{sync::Arc, time::Duration};

use metatopia_client::{Event, LightClient, Output, Session};
use metatopia_protocol::*;
use metatopia_types::*;

const RESEND: Duration = Duration::from_millis(500);

fn key(n: u8) -> Arc<SigningKey> {
    Arc::new(SigningKey::from_seed([n; 32]))
}

fn sim() -> SimId {
    SimId(Digest::of("sessions", b"sim"))
}

fn session() -> Session {
    let members = vec![Validator { key: key(200).public(), power: 1 }];
    let set = ValidatorSet::new(members, |_| true).expect("one server");
    let light = LightClient::new(sim(), Height(1), set, Arc::new(Ed25519));
    Session::new(key(1), light, Lane(7))
}

fn tell(session: &mut Session, message: &ServerMessage) {
    session.handle(Duration::ZERO, &encode_server(message));
}

/// Connects it, and lets it in.
fn open(session: &mut Session) {
    let challenge =
        Challenge { version: VERSION, sim: sim(), server: key(200).public(), nonce: [3; 32] };
    tell(session, &ServerMessage::Challenge(challenge.clone()));
    match said(session).as_slice() {
        [ClientMessage::Hello(hello)] => assert!(hello.verify(&challenge, &Ed25519)),
        other => panic!("{other:?} where a hello belongs"),
    }
    let welcome = Welcome { height: Height(5), turns_per_second: 20 };
    tell(session, &ServerMessage::Welcome(welcome));
}

/// What it sent since, in order.
fn said(session: &mut Session) -> Vec<ClientMessage> {
    let mut said = Vec::new();
    while let Some(output) = session.poll() {
        if let Output::Send(frame) = output {
            said.push(decode_client(&frame).expect("our own frame"));
        }
    }
    said
}

fn events(session: &mut Session) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(output) = session.poll() {
        if let Output::Event(event) = output {
            events.push(event);
        }
    }
    events
}

fn submitted(messages: &[ClientMessage]) -> Vec<u64> {
    let seq = |message: &ClientMessage| match message {
        ClientMessage::Submit(submission) => Some(submission.act.envelope.seq.0),
        _ => None,
    };
    messages.iter().filter_map(seq).collect()
}

#[test]
fn acts_without_a_receipt_are_sent_again_in_the_order_of_their_lane() {
    let mut session = session();
    open(&mut session);
    for _ in 0..3 {
        session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("open");
    }
    assert_eq!(submitted(&said(&mut session)), [1, 2, 3]);

    session.disconnected();
    session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("was open");
    assert_eq!(session.deadline(), None);
    open(&mut session);
    assert_eq!(submitted(&said(&mut session)), [1, 2, 3, 4]);

    assert_eq!(session.deadline(), Some(RESEND));
    session.tick(RESEND);
    assert_eq!(submitted(&said(&mut session)), [1, 2, 3, 4]);
}

#[test]
fn an_act_that_the_first_node_has_no_room_for_is_refused() {
    let mut session = session();
    open(&mut session);
    let (act, _) = session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("open");
    said(&mut session);

    let why = SubmitRefusal::QuotaExceeded;
    tell(&mut session, &ServerMessage::Refused { act, why });

    assert_eq!(events(&mut session), [Event::Refused { act, why }]);
    assert_eq!(session.pending(), 0);
}

#[test]
fn an_act_that_may_be_taken_already_outlives_a_node_without_room() {
    for why in [SubmitRefusal::QuotaExceeded, SubmitRefusal::Full, SubmitRefusal::TooManyLanes] {
        let mut session = session();
        open(&mut session);
        let (act, _) = session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("open");
        session.disconnected();
        open(&mut session);
        said(&mut session);

        tell(&mut session, &ServerMessage::Refused { act, why });
        assert_eq!((events(&mut session), session.pending()), (Vec::new(), 1), "{why}");

        let why = SubmitRefusal::Replayed(1);
        tell(&mut session, &ServerMessage::Refused { act, why });
        assert_eq!(events(&mut session), [Event::Refused { act, why }]);
        assert_eq!(session.pending(), 0);
    }
}
