//! Client sessions: a client that does something wrong ends its own session, by name, and no other.

use metatopia_protocol::*;
use metatopia_replica::{
    ACTS_BURST, ACTS_PER_TURN, ANSWER_BYTES_BURST, ANSWER_BYTES_PER_TURN, CLIENTS_MAX, ClientId,
    Demand, FORGERY_ACTS, FRAMES_PER_TURN_MAX, RECEIPTS_AGAIN_BURST, RECEIPTS_AGAIN_PER_TURN,
    SESSIONS_PER_KEY_MAX, SessionEffect, Sessions,
};
use metatopia_types::*;

fn key(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn sim() -> SimId {
    SimId(Digest::of("sessions", b"sim"))
}

struct Server {
    sessions: Sessions,
}

impl Server {
    fn new() -> Self {
        Self { sessions: Sessions::new(sim(), key(200).public(), 20, &[9; 32]) }
    }

    fn connect(&mut self, client: u64) -> Challenge {
        self.sessions.connected(ClientId(client));
        match self.said(client).as_slice() {
            [ServerMessage::Challenge(challenge)] => challenge.clone(),
            other => panic!("{other:?} where a challenge belongs"),
        }
    }

    fn frame(&mut self, client: u64, frame: &[u8]) -> Option<Demand> {
        self.sessions.frame(ClientId(client), frame, Height(5), &Ed25519)
    }

    fn tell(&mut self, client: u64, message: &ClientMessage) -> Option<Demand> {
        self.frame(client, &encode_client(message))
    }

    /// Returns what was said to the client since, in order.
    fn said(&mut self, client: u64) -> Vec<ServerMessage> {
        self.sessions
            .drain()
            .into_iter()
            .filter_map(|effect| match effect {
                SessionEffect::Send { client: to, frame, .. } if to.0 == client => {
                    Some(decode_server(&frame).expect("our own frame"))
                }
                _ => None,
            })
            .collect()
    }

    fn login(&mut self, client: u64, n: u8) {
        let challenge = self.connect(client);
        self.tell(client, &ClientMessage::Hello(Hello::new(&challenge, &key(n))));
        let welcome = Welcome { height: Height(5), turns_per_second: 20 };
        assert_eq!(self.said(client), [ServerMessage::Welcome(welcome)]);
    }
}

fn goodbye(why: Goodbye) -> Vec<ServerMessage> {
    vec![ServerMessage::Goodbye(why)]
}

fn submission(n: u8) -> Submission {
    let (author, act) = (key(n).public(), Act::Heartbeat);
    let envelope =
        Envelope { sim: sim(), author, lane: Lane(1), seq: Seq(1), last_valid: Height(9), act };
    Submission { act: envelope.sign(&key(n)), blobs: Vec::new() }
}

#[test]
fn a_signed_hello_opens_a_session_that_may_submit_and_ask() {
    let mut server = Server::new();
    server.login(1, 1);
    let submission = Box::new(submission(1));
    let demand = server.tell(1, &ClientMessage::Submit(submission.clone()));
    assert_eq!(demand, Some(Demand::Submit(submission)));
    let question = Question::Players;
    let demand = server.tell(1, &ClientMessage::Ask { id: 3, question: question.clone() });
    assert_eq!(demand, Some(Demand::Ask { id: 3, question }));
    server.tell(1, &ClientMessage::Ping { token: 8 });
    assert_eq!(server.said(1), [ServerMessage::Pong { token: 8 }]);
}

#[test]
fn an_answer_that_fits_no_frame_is_told_to_be_too_long() {
    let mut server = Server::new();
    server.login(1, 1);
    let of = |bytes: usize| Answer::Source(vec![7; bytes]);
    let told = |id, answer| ServerMessage::Answer { id, answer: Box::new(answer) };
    let beside = encode_server(&told(3, of(SERVER_FRAME_BYTES_MAX))).len() - SERVER_FRAME_BYTES_MAX;
    let longest = SERVER_FRAME_BYTES_MAX - beside;

    server.sessions.answer(ClientId(1), 3, of(longest));
    server.sessions.answer(ClientId(1), 4, of(longest + 1));

    assert_eq!(server.said(1), [told(3, of(longest)), told(4, Answer::TooLong)]);
}

#[test]
fn an_open_session_may_watch_and_say_what_it_saw() {
    let mut server = Server::new();
    let watching = Watching {
        bytes_per_second: 40_000,
        turns_apart: 1,
        proofs: true,
        at: None,
        have: vec![(TileName { x: -1, y: 2 }, Height(3))],
    };
    let view = ClientMessage::View(Some(watching.clone()));
    server.connect(2);
    assert_eq!(server.tell(2, &view), None, "not before the hello");

    server.login(1, 1);
    assert_eq!(server.tell(1, &view), Some(Demand::View(Some(Box::new(watching)))));
    assert_eq!(server.tell(1, &ClientMessage::Seen { number: 7 }), Some(Demand::Seen(7)));
    assert_eq!(server.tell(1, &ClientMessage::View(None)), Some(Demand::View(None)));
}

#[test]
fn a_hello_for_another_challenge_server_or_key_is_refused() {
    for change in [
        |c: &mut Challenge| c.nonce[0] ^= 1,
        |c: &mut Challenge| c.server = key(9).public(),
        |c: &mut Challenge| c.sim = SimId(Digest::ZERO),
    ] {
        let mut server = Server::new();
        let mut challenge = server.connect(1);
        change(&mut challenge);
        server.tell(1, &ClientMessage::Hello(Hello::new(&challenge, &key(1))));
        assert_eq!(server.said(1), goodbye(Goodbye::BadSignature));
    }
    let mut server = Server::new();
    let challenge = server.connect(1);
    let mut hello = Hello::new(&challenge, &key(1));
    hello.key = key(2).public();
    server.tell(1, &ClientMessage::Hello(hello));
    assert_eq!(server.said(1), goodbye(Goodbye::BadSignature));
}

#[test]
fn another_version_is_told_ours() {
    // A later one, and each of the earlier ones: nobody is talked down to what is not spoken any more.
    for version in (0..VERSION).chain([VERSION + 1, 99]) {
        let mut server = Server::new();
        let challenge = server.connect(1);
        let hello = Hello { version, ..Hello::new(&challenge, &key(1)) };
        server.tell(1, &ClientMessage::Hello(hello));
        assert_eq!(server.said(1), goodbye(Goodbye::Version(VERSION)), "{version}");
    }
}

#[test]
fn garbage_oversize_and_noncanonical_frames_end_only_their_own_session() {
    let mut server = Server::new();
    server.login(1, 1);
    let long = vec![0; CLIENT_FRAME_BYTES_MAX + 1];
    let mut padded = encode_client(&ClientMessage::Ping { token: 1 });
    padded.push(0);
    for (client, bad) in [(2, vec![0xff; 40]), (3, long), (4, padded), (5, Vec::new())] {
        server.login(client, client as u8 + 10);
        server.frame(client, &bad);
        assert_eq!(server.said(client), goodbye(Goodbye::BadFrame));
    }
    assert_eq!(server.sessions.len(), 1);
    server.tell(1, &ClientMessage::Ping { token: 2 });
    assert_eq!(server.said(1), [ServerMessage::Pong { token: 2 }]);
}

#[test]
fn whoever_talks_before_the_hello_is_sent_away() {
    let mut server = Server::new();
    server.connect(1);
    assert_eq!(server.tell(1, &ClientMessage::Ping { token: 1 }), None);
    assert_eq!(server.said(1), goodbye(Goodbye::NoHello));
}

#[test]
fn one_key_may_have_some_sessions_and_one_more_ends_the_oldest() {
    let mut server = Server::new();
    let most = SESSIONS_PER_KEY_MAX as u64;
    for client in 1..=most {
        server.login(client, 1);
    }
    server.login(100, 2);
    assert_eq!(server.sessions.len(), SESSIONS_PER_KEY_MAX + 1);

    let challenge = server.connect(101);
    server.tell(101, &ClientMessage::Hello(Hello::new(&challenge, &key(1))));
    let closed: Vec<(ClientId, Goodbye)> = server
        .sessions
        .drain()
        .into_iter()
        .filter_map(|effect| match effect {
            SessionEffect::Close { client, why } => Some((client, why)),
            SessionEffect::Send { .. } | SessionEffect::Slow { .. } => None,
        })
        .collect();
    assert_eq!(closed, [(ClientId(1), Goodbye::OtherSession)]);

    let open: Vec<u64> = server.sessions.open().map(|(client, _)| client.0).collect();
    let of_both: std::collections::BTreeSet<u64> = (2..=most).chain([100, 101]).collect();
    assert_eq!(open.len(), of_both.len());
    assert_eq!(open.into_iter().collect::<std::collections::BTreeSet<u64>>(), of_both);
}

#[test]
fn a_session_that_goes_leaves_the_others_of_its_key_open() {
    let mut server = Server::new();
    server.login(1, 1);
    server.login(2, 1);

    server.sessions.disconnected(ClientId(1));

    assert_eq!(server.sessions.key(ClientId(1)), None);
    assert_eq!(server.sessions.key(ClientId(2)), Some(key(1).public()));
    let submission = Box::new(submission(1));
    let demand = server.tell(2, &ClientMessage::Submit(submission.clone()));
    assert_eq!(demand, Some(Demand::Submit(submission)));

    server.sessions.disconnected(ClientId(2));
    assert!(server.sessions.is_empty());
}

#[test]
fn more_frames_than_fit_a_turn_are_answered_with_a_refusal_until_the_next() {
    let mut server = Server::new();
    server.login(1, 1);
    for token in 0..u64::from(FRAMES_PER_TURN_MAX) - 1 {
        server.tell(1, &ClientMessage::Ping { token });
    }
    server.said(1);
    let submission = Box::new(submission(1));
    assert_eq!(server.tell(1, &ClientMessage::Submit(submission.clone())), None);
    let (act, why) = (submission.act.id(), SubmitRefusal::QuotaExceeded);
    assert_eq!(server.said(1), [ServerMessage::Refused { act, why }]);
    server.tell(1, &ClientMessage::Ask { id: 5, question: Question::Players });
    let answer = Box::new(Answer::Busy);
    assert_eq!(server.said(1), [ServerMessage::Answer { id: 5, answer }]);

    server.sessions.turn();
    assert!(server.tell(1, &ClientMessage::Submit(submission)).is_some());
}

#[test]
fn a_key_hands_in_a_burst_of_acts_over_all_its_sessions_and_then_a_few_a_turn() {
    let mut server = Server::new();
    server.login(1, 1);
    server.login(2, 1);
    server.login(3, 2);
    let submission = Box::new(submission(1));
    let taken = |server: &mut Server, client, times: u32| {
        let submit = ClientMessage::Submit(submission.clone());
        (0..times).filter(|_| server.tell(client, &submit).is_some()).count() as u32
    };
    let burst = taken(&mut server, 1, ACTS_BURST / 2) + taken(&mut server, 2, ACTS_BURST);
    assert_eq!(burst, ACTS_BURST);
    assert_eq!(taken(&mut server, 3, 1), 1, "another key has an allowance of its own");

    server.sessions.turn();
    assert_eq!(taken(&mut server, 1, ACTS_BURST), ACTS_PER_TURN);
    (0..2 * ACTS_BURST).for_each(|_| server.sessions.turn());
    assert_eq!(taken(&mut server, 1, FRAMES_PER_TURN_MAX), ACTS_BURST);
    assert_eq!(taken(&mut server, 2, FRAMES_PER_TURN_MAX), 0);
}

#[test]
fn an_act_that_is_known_already_costs_its_key_nothing() {
    let mut server = Server::new();
    server.login(1, 1);
    let submit = ClientMessage::Submit(Box::new(submission(1)));
    for _ in 0..4 {
        for _ in 0..ACTS_BURST / 2 {
            assert!(server.tell(1, &submit).is_some());
            server.sessions.spare(ClientId(1));
        }
        server.sessions.turn();
    }
    let taken = (0..ACTS_BURST).filter(|_| server.tell(1, &submit).is_some()).count();
    assert_eq!(taken as u32, ACTS_BURST, "all of them are still to be had");
}

#[test]
fn whoever_is_beyond_a_ration_is_to_be_read_more_slowly_and_nobody_else() {
    let mut server = Server::new();
    server.login(1, 1);
    server.login(2, 2);
    let slowed = |server: &mut Server| -> Vec<u64> {
        let effects = server.sessions.drain().into_iter();
        effects
            .filter_map(|effect| match effect {
                SessionEffect::Slow { client } => Some(client.0),
                _ => None,
            })
            .collect()
    };
    let submit = ClientMessage::Submit(Box::new(submission(1)));
    for _ in 0..ACTS_BURST - ACTS_PER_TURN {
        server.sessions.turn();
        server.tell(2, &submit);
        (0..=ACTS_PER_TURN).for_each(|_| drop(server.tell(1, &submit)));
    }
    assert!(slowed(&mut server).is_empty(), "a burst and what each turn allows are its own");
    server.tell(1, &submit);
    assert_eq!(slowed(&mut server), [1]);

    while server.sessions.again(ClientId(2)) {}
    assert_eq!(slowed(&mut server), [2]);
    server.sessions.forged(ClientId(2));
    assert_eq!(slowed(&mut server), [2]);
}

#[test]
fn a_forged_act_costs_as_many_as_are_worth_its_check() {
    let mut server = Server::new();
    server.login(1, 1);
    let submit = ClientMessage::Submit(Box::new(submission(1)));
    let forge = |server: &mut Server| {
        let taken = server.tell(1, &submit).is_some();
        if taken {
            server.sessions.forged(ClientId(1));
        }
        taken
    };
    let taken = (0..ACTS_BURST).filter(|_| forge(&mut server)).count();
    assert_eq!(taken as u32, ACTS_BURST / FORGERY_ACTS);

    let mut taken = 0;
    for _ in 0..10 * FORGERY_ACTS {
        server.sessions.turn();
        taken += u32::from(forge(&mut server));
    }
    assert_eq!(taken, 10 * ACTS_PER_TURN);
}

#[test]
fn receipts_are_to_be_had_again_for_all_that_a_client_keeps_and_then_a_few_a_turn() {
    let mut server = Server::new();
    server.login(1, 1);
    server.login(2, 1);
    server.login(3, 2);
    let had = |server: &mut Server, client| {
        (0..2 * RECEIPTS_AGAIN_BURST).filter(|_| server.sessions.again(ClientId(client))).count()
            as u32
    };
    assert_eq!(had(&mut server, 1), RECEIPTS_AGAIN_BURST);
    assert_eq!(had(&mut server, 2), 0, "another session of the same key");
    assert!(server.sessions.again(ClientId(3)), "another key");

    server.sessions.turn();
    assert_eq!(had(&mut server, 2), RECEIPTS_AGAIN_PER_TURN);
    (0..2 * RECEIPTS_AGAIN_BURST).for_each(|_| server.sessions.turn());
    assert_eq!(had(&mut server, 1), RECEIPTS_AGAIN_BURST);
}

#[test]
fn a_key_that_was_answered_a_lot_is_told_to_wait_and_others_are_not() {
    let mut server = Server::new();
    server.login(1, 1);
    server.login(2, 1);
    server.login(3, 2);
    let asks = |server: &mut Server, client| {
        let ask = ClientMessage::Ask { id: 7, question: Question::Genesis };
        server.tell(client, &ask).is_some()
    };
    let part = 256 * 1_024;
    for _ in 0..ANSWER_BYTES_BURST / part {
        assert!(asks(&mut server, 1));
        (0..part / ANSWER_BYTES_PER_TURN).for_each(|_| server.sessions.turn());
        server.sessions.answer(ClientId(1), 7, Answer::Source(vec![0; part as usize]));
    }
    assert!(asks(&mut server, 2), "the turns between allow for what one answer has");
    for _ in 0..ANSWER_BYTES_BURST / part {
        server.sessions.answer(ClientId(1), 7, Answer::Source(vec![0; part as usize]));
    }
    server.said(2);

    assert!(!asks(&mut server, 2), "another session of the same key");
    assert_eq!(server.said(2), [ServerMessage::Answer { id: 7, answer: Box::new(Answer::Busy) }]);
    assert!(asks(&mut server, 3), "another key");

    (0..2 * part / ANSWER_BYTES_PER_TURN).for_each(|_| server.sessions.turn());
    assert!(asks(&mut server, 2));
}

#[test]
fn a_full_server_says_so() {
    let mut server = Server::new();
    for client in 0..CLIENTS_MAX as u64 {
        server.connect(client);
    }
    let one_more = CLIENTS_MAX as u64;
    server.sessions.connected(ClientId(one_more));
    assert_eq!(server.said(one_more), goodbye(Goodbye::Full));
}

#[test]
fn no_two_connections_get_the_same_nonce() {
    let mut server = Server::new();
    let nonces: std::collections::BTreeSet<[u8; 32]> =
        (0..100).map(|client| server.connect(client).nonce).collect();
    assert_eq!(nonces.len(), 100);
}
