//! Turns from a height on.

use std::{sync::Arc, time::Duration};

use metatopia_consensus::{Record, limits::DECISIONS_KEPT};
use metatopia_protocol::{
    Answer, Question, ServerMessage, TURNS_ANSWER_BYTES, TURNS_PER_ANSWER_MAX, encode_server,
};
use metatopia_replica::{Effect, Input, Replica};
use metatopia_sim::Serial;
use metatopia_types::{Certificate, Digest, Height, Now, SigningKey, Turn, ValidatorsId};

use super::alone::{Alone, NOON, SNAPSHOT_TURNS, config, genesis};

fn turns(server: &mut Alone, from: u64) -> Vec<(Turn, Certificate)> {
    match server.ask(Question::Turns { from: Height(from) }) {
        Answer::Turns(turns) => turns,
        other => panic!("{other:?} where turns belong"),
    }
}

fn heights(turns: &[(Turn, Certificate)]) -> Vec<u64> {
    turns.iter().map(|(turn, _)| turn.header.height.0).collect()
}

#[test]
fn turns_come_in_order_each_with_its_certificate() {
    let mut server = Alone::begin();
    server.run_to(20);

    let got = turns(&mut server, 5);

    assert_eq!(heights(&got)[..16], (5..=20).collect::<Vec<_>>());
    for (turn, certificate) in got {
        assert_eq!((certificate.height, certificate.header), (turn.header.height, turn.id()));
    }
}

#[test]
fn what_is_not_decided_yet_is_an_empty_answer_and_genesis_is_no_turn() {
    let mut server = Alone::begin();
    server.run_to(5);

    assert_eq!(turns(&mut server, 500), []);
    assert_eq!(turns(&mut server, u64::MAX), []);
    assert_eq!(server.ask(Question::Turns { from: Height(0) }), Answer::Unknown);
}

#[test]
fn an_answer_has_no_more_turns_than_the_limit() {
    let mut server = Alone::begin();
    server.run_to(TURNS_PER_ANSWER_MAX as u64 + 20);

    let got = turns(&mut server, 3);

    assert_eq!(got.len(), TURNS_PER_ANSWER_MAX);
    assert_eq!(heights(&got)[0], 3);
}

#[test]
fn turns_that_memory_forgot_come_from_the_log() {
    let mut server = Alone::begin();
    server.run_to(DECISIONS_KEPT + 100);

    let first = turns(&mut server, 1);
    assert_eq!(server.loaded, TURNS_PER_ANSWER_MAX);
    assert_eq!(heights(&first)[..3], [1, 2, 3]);

    let mut all = heights(&first);
    while let Some(last) = all.last() {
        let more = turns(&mut server, last + 1);
        if more.is_empty() {
            break;
        }
        all.extend(heights(&more));
    }
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(all.len() as u64 >= DECISIONS_KEPT + 100);
}

#[test]
fn a_full_answer_is_no_longer_than_it_may_be() {
    let mut server = Alone::begin();
    server.run_to(TURNS_PER_ANSWER_MAX as u64 + 5);
    let answer = Box::new(server.ask(Question::Turns { from: Height(1) }));
    let frame = encode_server(&ServerMessage::Answer { id: u32::MAX, answer });
    assert!(frame.len() <= TURNS_ANSWER_BYTES + 64, "{} bytes", frame.len());
}

/// A server that caught up was asked for the changes of the set that a receipt of its own relies on,
/// and said that there are none, since its world was a turn behind what was decided.
#[test]
fn changes_of_the_set_are_told_as_soon_as_they_are_decided() {
    let mut server = Alone::begin();
    server.run_to(SNAPSHOT_TURNS + 5);
    let (base, world) = server.state();
    let [next, changed] = [1, 2].map(|ahead| base.height.plus(ahead));
    let mut decided = turns(&mut server, next.0);
    decided.truncate(2);
    // Nothing but its header says that the second turn changes who votes.
    let (turn, certificate) = &mut decided[1];
    turn.header.next_validators = ValidatorsId(Digest::ZERO);
    certificate.header = turn.id();
    let records = decided.into_iter().flat_map(|(turn, certificate)| {
        [Record::Turn(Arc::new(turn)), Record::Decided(certificate)]
    });
    let mut config = config(&genesis());
    config.agreement.signer = Arc::new(SigningKey::from_seed([9; 32]));
    let now = Now { monotonic: Duration::from_secs(100), wall: NOON.plus(100_000) };
    let after = base.height;
    let mut behind = Replica::open(config, base, world, [], records, now).expect("a log");
    behind.handle(now, Input::Ask { token: 1, question: Question::Links { after } });
    let (mut applied, mut links) = (Vec::new(), None);
    while let (Some(effect), None) = (behind.poll(), &links) {
        match effect {
            Effect::Apply { mut world, decision } => {
                let result = Box::new(world.apply(&decision.turn, &Serial));
                applied.push(result.height);
                behind.handle(now, Input::Applied { world, result });
            }
            Effect::Answer { answer: Answer::Links(told), .. } => links = Some(told),
            _ => {}
        }
    }

    assert_eq!(applied, [next], "the second turn is decided, and its time has not come");
    let heights = links.iter().flatten().map(|link| link.header.height);
    assert_eq!(heights.collect::<Vec<_>>(), [changed]);
}
