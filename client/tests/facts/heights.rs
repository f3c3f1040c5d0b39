//! Acts are signed for heights that a verified header shows, never for heights that a node claims.

use std::time::Duration;

use metatopia_client::{Distrust, HEADER_FRESH, PENDING_MAX, SessionEvent, SubmitError};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::{
    stand::{Stand, Watcher, certificate},
    talk::{Talk, empty_turn},
};

/// The number of the question for the header of a height.
fn asked(said: &[ClientMessage]) -> (u32, Height) {
    match said {
        [ClientMessage::Ask { id, question: Question::Turn { height } }] => (*id, *height),
        other => panic!("{other:?} where a header is asked for"),
    }
}

fn answer(talk: &mut Talk, id: u32, answer: Answer) {
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(answer) });
}

/// Shows the header of a height.
fn show(talk: &mut Talk, id: u32, height: Height) {
    let turn = empty_turn(&talk.session, height, Millis(1));
    answer(talk, id, Answer::Turn(Box::new(turn)));
}

/// The last heights of the acts that are sent.
fn valid(said: &[ClientMessage]) -> Vec<u64> {
    let last = |message: &ClientMessage| match message {
        ClientMessage::Submit(submission) => Some(submission.act.envelope.last_valid.0),
        _ => None,
    };
    said.iter().filter_map(last).collect()
}

fn submit(talk: &mut Talk) -> Seq {
    talk.session.submit(talk.now, Act::Heartbeat, Vec::new()).expect("was open")
}

/// A node that claimed a height a day ahead got acts that it could keep for a day.
#[test]
fn an_act_waits_for_a_verified_header_and_is_valid_for_half_a_minute_after_it() {
    let mut talk = Talk::of_one_server();
    talk.greet(Height(1_000_000));
    let (id, height) = asked(&talk.said());
    assert_eq!(height, Height(1_000_000));
    let seq = submit(&mut talk);
    assert_eq!((talk.said(), talk.session.act_at(seq), talk.session.pending()), (vec![], None, 1));

    answer(&mut talk, id, Answer::Unknown);
    assert_eq!(talk.drain(), (vec![], vec![]));
    talk.now = talk.session.deadline().expect("it asks again");
    talk.session.tick(talk.now);
    asked(&talk.said());

    talk.session.disconnected();
    talk.greet(Height(100));
    let (id, height) = asked(&talk.said());
    assert_eq!(height, Height(100), "what one node says does not count at another");
    show(&mut talk, id, height);
    let (said, events) = talk.drain();
    assert_eq!(valid(&said), [700]);
    let act = talk.session.act_at(seq).expect("signed");
    assert_eq!(events, [SessionEvent::Signed { seq, act }]);
    assert_eq!(talk.session.certain(), Height(100));
}

#[test]
fn no_claim_moves_the_height_that_acts_are_signed_for() {
    let mut talk = Talk::of_one_server();
    talk.connect(Height(100));
    talk.drain();
    let act = ActId(Digest::ZERO);
    let (height, outcome) = (Height(9_999), Outcome::Ok);
    talk.tell(&ServerMessage::Outcome { act, height, outcome });
    submit(&mut talk);
    assert_eq!(valid(&talk.said()), [700]);
    assert_eq!(talk.session.height(), Height(9_999));
}

#[test]
fn acts_that_wait_keep_their_order_and_are_bounded() {
    let mut talk = Talk::of_one_server();
    talk.greet(Height(7));
    let (id, height) = asked(&talk.said());
    let seqs: Vec<Seq> = (0..PENDING_MAX).map(|_| submit(&mut talk)).collect();
    let more = talk.session.submit(talk.now, Act::Heartbeat, Vec::new());
    assert_eq!(more, Err(SubmitError::TooManyPending));
    show(&mut talk, id, height);
    let (said, events) = talk.drain();
    assert_eq!(valid(&said), vec![607; PENDING_MAX]);
    let signed = events.iter().map(|event| match event {
        SessionEvent::Signed { seq, .. } => *seq,
        other => panic!("{other:?}"),
    });
    assert_eq!(signed.collect::<Vec<_>>(), seqs);
}

#[test]
fn a_header_that_too_few_signed_is_a_lie() {
    let mut talk = Talk::new(Stand::new().sim(), Stand::new().light());
    talk.greet(Height(5));
    let (id, height) = asked(&talk.said());
    submit(&mut talk);
    let (turn, _) = empty_turn(&talk.session, height, Millis(1));
    let few = certificate(&turn.header, &[200, 201]);
    answer(&mut talk, id, Answer::Turn(Box::new((turn, few))));
    let (said, events) = talk.drain();
    assert!(matches!(events[..], [SessionEvent::Distrusted(Distrust::Certificate(_))]));
    assert!(valid(&said).is_empty());
}

/// Who does not watch hears nothing of heights, so it looks once.
#[test]
fn an_old_header_is_renewed_before_anything_is_signed_by_it() {
    let mut stand = Stand::new();
    stand.turns(4);
    let mut talk = Talk::new(stand.sim(), stand.light());
    talk.connect(Height(4));
    talk.drain();
    talk.now = HEADER_FRESH;
    submit(&mut talk);
    assert_eq!(valid(&talk.said()), [604]);

    talk.now = HEADER_FRESH + Duration::from_millis(1);
    submit(&mut talk);
    match &talk.said()[..] {
        [ClientMessage::View(Some(glimpse))] => assert!(!glimpse.proofs),
        other => panic!("{other:?} where a glimpse belongs"),
    }
    stand.turns(16);
    let view = stand.view(&mut Watcher::default(), &[]);
    talk.tell(&ServerMessage::View(Box::new(view)));
    let said = talk.said();
    let [ClientMessage::View(None), ask, ClientMessage::Seen { number: 1 }] = &said[..] else {
        let [ClientMessage::Seen { .. }, ClientMessage::View(None), ask] = &said[..] else {
            panic!("{said:?}")
        };
        let (id, height) = asked(core::slice::from_ref(ask));
        assert_eq!(height, Height(20));
        show(&mut talk, id, height);
        assert_eq!(valid(&talk.said()), [620]);
        return;
    };
    panic!("{ask:?} before the view was acknowledged");
}

#[test]
fn a_node_that_swallows_the_question_is_asked_again() {
    let mut talk = Talk::of_one_server();
    talk.greet(Height(9));
    let (first, _) = asked(&talk.said());
    submit(&mut talk);
    let at = talk.session.deadline().expect("it waits");
    talk.tell(&ServerMessage::Outcome {
        act: ActId(Digest::ZERO),
        height: Height(80),
        outcome: Outcome::Ok,
    });
    talk.drain();
    // Of what was heard last, since that was a moment ago.
    talk.now = at;
    talk.tell(&ServerMessage::Outcome {
        act: ActId(Digest::ZERO),
        height: Height(90),
        outcome: Outcome::Ok,
    });
    talk.drain();
    talk.session.tick(talk.now);
    let (again, height) = asked(&talk.said());
    assert_eq!(height, Height(90));
    show(&mut talk, first, Height(9));
    assert_eq!(talk.drain(), (vec![], vec![]), "the first question is over");
    show(&mut talk, again, height);
    assert_eq!(valid(&talk.said()), [690]);
}

/// A sim that decided nothing yet has no header; the first view tells of the first turn.
#[test]
fn a_sim_without_turns_is_waited_for() {
    let mut stand = Stand::new();
    let mut talk = Talk::new(stand.sim(), stand.light());
    talk.greet(Height(0));
    assert!(matches!(talk.said()[..], [ClientMessage::View(Some(_))]));
    submit(&mut talk);
    stand.turns(1);
    let view = stand.view(&mut Watcher::default(), &[]);
    talk.tell(&ServerMessage::View(Box::new(view)));
    let said = talk.said();
    let (id, height) = asked(&said[said.len() - 1..]);
    show(&mut talk, id, height);
    assert_eq!(valid(&talk.said()), [601]);
}

#[test]
fn questions_that_are_kept_are_asked_again_on_the_next_connection_and_others_are_not() {
    let mut talk = Talk::of_one_server();
    let early = talk.session.inquire(Question::Players, false).expect("room");
    assert_eq!(talk.session.ask(Question::Governance), None, "nobody is there");
    talk.connect(Height(3));
    let raw = talk.session.inquire(Question::Snapshot, true).expect("room");
    talk.session.ask(Question::Governance).expect("open");
    talk.drain();
    talk.session.disconnected();
    talk.connect(Height(3));
    let said = talk.said();
    let again: Vec<u32> = said
        .iter()
        .map(|said| match said {
            ClientMessage::Ask { id, .. } => *id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(again, [early, raw]);

    answer(&mut talk, raw, Answer::Unknown);
    let frame =
        encode_server(&ServerMessage::Answer { id: raw, answer: Box::new(Answer::Unknown) });
    assert_eq!(talk.events(), [SessionEvent::Frame { id: raw, kind: "Unknown", frame }]);
    answer(&mut talk, raw, Answer::Unknown);
    assert_eq!(talk.events(), [], "once");
}
