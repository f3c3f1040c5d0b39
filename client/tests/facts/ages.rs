//! What a client believes must not be too old, and a checkpoint is what it begins from.

use std::time::Duration;

use metatopia_client::{
    CHECKPOINT_TEXT_MAX, CheckpointError, Distrust, LightClient, SessionEvent, TRUSTING_PERIOD,
    TrustCheckpoint,
};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::{
    stand::{certificate, set},
    talk::{Talk, empty_turn},
};

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// Some day in 2023.
const NOW: Millis = Millis(1_700_000_000_000);

const OLD: [u8; 4] = [200, 201, 202, 203];
const NEW: [u8; 4] = [200, 201, 202, 204];

fn light() -> LightClient {
    let sim = SimId(Digest::of("ages", b"sim"));
    LightClient::new(sim, Height(1), set(&OLD), std::sync::Arc::new(Ed25519))
}

fn checkpoint(height: u64, members: &[u8], time: Millis) -> TrustCheckpoint {
    TrustCheckpoint {
        sim: light().sim(),
        height: Height(height),
        validators: set(members).id(),
        time,
    }
}

fn talk(light: LightClient) -> Talk {
    Talk::new(light.sim(), light)
}

/// Lets it in, and shows it a header of this height and time.
fn show(talk: &mut Talk, height: u64, time: Millis) {
    talk.greet(Height(height));
    let turn = empty_turn(&talk.session, Height(height), time);
    let asked = |said: &ClientMessage| match said {
        ClientMessage::Ask { id, question: Question::Turn { .. } } => Some(*id),
        _ => None,
    };
    let id = talk.said().iter().find_map(asked).expect("a header is asked for");
    let answer = Box::new(Answer::Turn(Box::new(turn)));
    talk.tell(&ServerMessage::Answer { id, answer });
}

fn submit(talk: &mut Talk) -> Vec<ClientMessage> {
    talk.session.submit(talk.now, Act::Heartbeat, Vec::new()).expect("open");
    talk.said()
}

#[test]
fn what_is_of_now_is_trusted_without_a_question() {
    let mut talk = talk(light());
    talk.session.set_wall(NOW);
    show(&mut talk, 500, Millis(NOW.0 - 100));
    assert_eq!(talk.session.trust_age(), None);
    assert!(matches!(submit(&mut talk)[..], [ClientMessage::Submit(_)]));
    assert_eq!(talk.session.checkpoint(), Some(checkpoint(500, &OLD, Millis(NOW.0 - 100))));
}

/// A sim slept for two months, and goes on with the servers that it had.
#[test]
fn a_sim_that_slept_for_two_months_can_be_entered() {
    let known = checkpoint(500, &OLD, Millis(NOW.0 - 60 * DAY));
    let mut talk = talk(light().with_checkpoint(known));
    talk.session.set_wall(NOW);
    show(&mut talk, 510, NOW);
    assert_eq!(talk.session.trust_age(), Some(Duration::from_millis(60 * DAY)));
    assert_eq!(talk.session.checkpoint(), None, "nothing is remembered that nobody accepted");
    assert_eq!(submit(&mut talk), [], "acts wait");
    assert_eq!(talk.session.deadline(), None, "for the person alone");

    talk.session.accept_age(talk.now);
    assert!(matches!(talk.said()[..], [ClientMessage::Submit(_)]));
    assert_eq!(talk.session.trust_age(), None);
    assert_eq!(talk.session.checkpoint(), Some(checkpoint(510, &OLD, NOW)));
}

/// The same where it still sleeps: its last turn is two months old, and who comes first is there when
/// it goes on.
#[test]
fn a_sim_that_still_sleeps_is_asked_about_once() {
    let mut talk = talk(light());
    talk.session.set_wall(NOW);
    show(&mut talk, 500, Millis(NOW.0 - 60 * DAY));
    assert!(talk.session.trust_age().is_some());
    assert_eq!(submit(&mut talk), []);
    talk.session.accept_age(talk.now);
    assert!(matches!(talk.said()[..], [ClientMessage::Submit(_)]));
    show(&mut talk, 501, NOW);
    assert_eq!(talk.session.trust_age(), None);
}

#[test]
fn the_trusting_period_is_met_to_the_millisecond() {
    let period = u64::try_from(TRUSTING_PERIOD.as_millis()).expect("some weeks");
    for (age, asks) in [(period, false), (period + 1, true)] {
        let mut talk = talk(light().with_checkpoint(checkpoint(5, &OLD, Millis(NOW.0 - age))));
        assert_eq!(talk.session.trust_age(), None, "nobody said what time it is");
        talk.session.set_wall(NOW);
        assert_eq!(talk.session.trust_age().is_some(), asks);
        show(&mut talk, 6, NOW);
        assert_eq!(talk.session.trust_age().is_some(), asks);
    }
}

/// Three of four servers that stopped voting long ago signed another present, and newcomers took it for
/// the sim's.
#[test]
fn servers_that_stopped_voting_forge_no_present_for_who_has_a_checkpoint() {
    let known = checkpoint(300, &NEW, NOW);
    let mut talk = talk(light().with_checkpoint(known));
    show(&mut talk, 900, NOW);
    let (said, events) = talk.drain();
    assert!(!events.iter().any(|event| matches!(event, SessionEvent::Signed { .. })));
    let [ClientMessage::Ask { id, question: Question::Links { .. } }] = said[..] else {
        panic!("{said:?}")
    };
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Links(Vec::new())) });
    let wrong = Distrust::OtherValidators(Height(900));
    assert_eq!(talk.events(), [SessionEvent::Distrusted(wrong)]);
}

/// A server showed a real early turn, and the browser kept it in the place of its newer checkpoint. Whoever voted in
/// those days could forge a present from then on.
#[test]
fn a_turn_from_before_the_checkpoint_says_nothing_of_now() {
    let mut talk = talk(light().with_checkpoint(checkpoint(300, &OLD, NOW)));
    talk.session.set_wall(NOW);
    show(&mut talk, 50, NOW);
    assert_eq!(submit(&mut talk), [], "nothing is signed by it");
    let events = talk.events();
    assert!(
        !events.iter().any(|event| matches!(event, SessionEvent::Distrusted(_))),
        "slow, no liar"
    );
    assert_eq!((talk.session.newest_header(), talk.session.checkpoint()), (None, None));
    show(&mut talk, 300, NOW);
    assert_eq!(talk.session.checkpoint(), Some(checkpoint(300, &OLD, NOW)));

    let light = light().with_checkpoint(checkpoint(300, &OLD, NOW));
    let (turn, certificate) = empty_turn(&talk.session, Height(299), NOW);
    assert_eq!(light.believe(&turn.header, &certificate), Ok(()), "it was so then");
    let behind = Err(Distrust::Behind(Height(299)));
    assert_eq!(light.believe_now(&turn.header, &certificate), behind);
}

#[test]
fn changes_of_the_validators_lead_through_the_checkpoint() {
    let header = Header {
        sim: light().sim(),
        height: Height(200),
        validators: set(&OLD).id(),
        next_validators: set(&NEW).id(),
        ..Header::unstated()
    };
    let link =
        ValidatorSetLink { certificate: certificate(&header, &OLD), header, next: set(&NEW) };
    for (height, members, fits) in
        [(300, &NEW, true), (200, &OLD, true), (300, &OLD, false), (150, &NEW, false)]
    {
        let mut light = light().with_checkpoint(checkpoint(height, members, NOW));
        let followed = light.follow(&link);
        let talk = talk(light.clone());
        let (turn, certificate) = empty_turn(&talk.session, Height(400), NOW);
        let believed = followed.and_then(|()| light.believe(&turn.header, &certificate));
        assert_eq!(believed.is_ok(), fits, "{height}: {believed:?}");
    }
}

#[test]
fn checkpoints_are_short_texts_that_read_back() {
    let long =
        TrustCheckpoint { height: Height(u64::MAX), ..checkpoint(1, &OLD, Millis(u64::MAX)) };
    for known in [checkpoint(1, &OLD, NOW), long] {
        let text = known.to_string();
        assert!(text.len() <= CHECKPOINT_TEXT_MAX && text.len() <= 200, "{text}");
        assert_eq!(text.parse(), Ok(known));
    }
    let text = long.to_string();
    let over = "x".repeat(CHECKPOINT_TEXT_MAX + 1);
    let too_long = CheckpointError::TooLong(CHECKPOINT_TEXT_MAX + 1);
    assert_eq!(over.parse::<TrustCheckpoint>(), Err(too_long));
    for broken in [&text[1..], &text[..100], "", "mtc1....", &text.replace("mtc1", "mtc2")] {
        assert!(broken.parse::<TrustCheckpoint>().is_err(), "{broken}");
    }
}
