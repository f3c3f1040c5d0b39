//! Decisions that a server asks others for, or is asked for.

use std::sync::Arc;

use metatopia_types::{Height, Round, Turn, TurnBody, Vote, VoteKind};

use super::cluster::Cluster;
use super::keys::{Key, certify, header, key, sim};
use crate::{AgreementEffect, AgreementInput, Decision, Message};

/// Says this to server 0 in the name of another, and returns how many decisions it sends.
fn tell(cluster: &mut Cluster, from: u8, message: Message) -> usize {
    let now = cluster.now(0);
    let server = &mut cluster.servers[0];
    let (agreement, from) = (server.agreement.as_mut().unwrap(), key(from));
    agreement.handle(now, &mut server.machine, AgreementInput::Frame { from, message });
    let sent = std::iter::from_fn(|| agreement.poll()).filter(|effect| {
        matches!(effect, AgreementEffect::Send { message: Message::Decision(_), .. })
    });
    sent.count()
}

/// Server 0 after a few heights, when it hears nothing any more.
fn cut_off() -> Cluster {
    let mut cluster = Cluster::new(4, 1);
    cluster.start_all();
    cluster.run_to(40, 10_000);
    cluster.run_for(40);
    cluster.cut.extend(0..4);
    cluster
}

#[test]
fn who_asks_for_decisions_gets_more_after_half_the_pause_of_those_who_ask() {
    let mut cluster = cut_off();
    let question = Message::Ask { from: Height(3) };
    let half_ms = cluster.patience.sync.as_millis() as u64 / 2;

    assert!(tell(&mut cluster, 1, question.clone()) > 0);
    cluster.run_for(half_ms - 1);
    assert_eq!(tell(&mut cluster, 1, question.clone()), 0);
    cluster.run_for(2);
    assert!(tell(&mut cluster, 1, question) > 0);
}

/// Whose certificate was bad is believed nothing else either: what it sent would fill the room of what
/// others could send.
#[test]
fn of_who_sent_a_bad_certificate_nothing_that_waits_is_kept() {
    let mut cluster = cut_off();
    let height = cluster.servers[0].agreement().height();
    let vote = Vote {
        kind: VoteKind::Prevote,
        height: height.plus(100),
        round: Round(0),
        header: None,
        voter: key(1),
    };
    // Server 0 asks who seems to be far ahead.
    tell(&mut cluster, 1, Message::Vote(vote.sign(sim(), &Key(key(1)))));
    cluster.run_for(200);
    let decision = |height: Height| {
        let turn = Turn { header: header(height.0), body: TurnBody::default() };
        let certificate = certify(&turn.header, [0]);
        Message::Decision(Decision { certificate, turn: Arc::new(turn) })
    };
    let waiting = |cluster: &Cluster| {
        let held = cluster.servers[0].agreement().held();
        held.iter().find(|held| held.what == "decisions ahead").expect("it is counted").count
    };

    tell(&mut cluster, 1, decision(height.plus(1)));
    assert_eq!(waiting(&cluster), 1);
    tell(&mut cluster, 1, decision(height));
    assert_eq!(waiting(&cluster), 0);
}
