//! Who is a stranger, also while the world is away because a turn is being applied to it.

use metatopia_consensus::Record;
use metatopia_protocol::{
    Answer, ClientMessage, Hello, Question, ServerMessage, Submission, SubmitRefusal, encode_client,
};
use metatopia_replica::{ClientId, mempool::STRANGER_PENDING_MAX};
use metatopia_sim::Genesis;
use metatopia_types::{Act, Blob, Envelope, Height, Lane, Look, Seq, Sign, SigningKey};

use super::alone::{Alone, SNAPSHOT_TURNS, genesis};

/// A session, and whose it is.
pub(super) struct Person {
    key: SigningKey,
    pub(super) client: ClientId,
    seq: u64,
}

impl Person {
    pub(super) fn comes(server: &mut Alone, n: u8) -> Self {
        let (key, client) = (SigningKey::from_seed([n; 32]), server.client_up());
        let Some(ServerMessage::Challenge(challenge)) = server.heard(client).pop() else {
            panic!("a challenge comes first")
        };
        let hello = ClientMessage::Hello(Hello::new(&challenge, &key));
        server.client_says(client, encode_client(&hello));
        Self { key, client, seq: 0 }
    }

    /// Hands in an act that is good for so many turns.
    pub(super) fn acts(&mut self, server: &mut Alone, act: Act, turns: u64) {
        self.acts_with(server, act, Vec::new(), turns);
    }

    /// Hands in the last act again, which was this one. No turn may be decided between.
    pub(super) fn acts_again(
        &mut self,
        server: &mut Alone,
        act: Act,
        blobs: Vec<Blob>,
        turns: u64,
    ) {
        self.seq -= 1;
        self.acts_with(server, act, blobs, turns);
    }

    /// Hands in an act with the blobs that it names.
    pub(super) fn acts_with(&mut self, server: &mut Alone, act: Act, blobs: Vec<Blob>, turns: u64) {
        self.seq += 1;
        let envelope = Envelope {
            sim: server.sim,
            author: self.key.public(),
            lane: Lane(self.client.0),
            seq: Seq(self.seq),
            last_valid: decided(server).plus(turns),
            act,
        };
        let submission = Submission { act: envelope.sign(&self.key), blobs };
        let message = ClientMessage::Submit(Box::new(submission));
        server.client_says(self.client, encode_client(&message));
    }

    /// Returns the answer to a question.
    pub(super) fn asks(&self, server: &mut Alone, question: Question) -> Answer {
        server.heard(self.client);
        server.client_says(self.client, encode_client(&ClientMessage::Ask { id: 1, question }));
        let mut heard = server.heard(self.client).into_iter();
        let answer = heard.find_map(|message| match message {
            ServerMessage::Answer { answer, .. } => Some(*answer),
            _ => None,
        });
        answer.expect("every question is answered")
    }

    /// Sends more acts than those of strangers that may wait. Returns why acts are refused.
    fn refusals(&mut self, server: &mut Alone) -> Vec<SubmitRefusal> {
        server.heard(self.client);
        for _ in 0..=STRANGER_PENDING_MAX {
            self.acts(server, Act::Heartbeat, 100);
        }
        let heard = server.heard(self.client).into_iter();
        let refusals = heard.filter_map(|message| match message {
            ServerMessage::Refused { why, .. } => Some(why),
            _ => None,
        });
        refusals.collect()
    }
}

/// The last turn that is decided.
fn decided(server: &Alone) -> Height {
    let height = |record: &Record| match record {
        Record::Decided(certificate) => Some(certificate.height),
        _ => None,
    };
    server.log().iter().filter_map(height).next_back().unwrap_or_default()
}

fn log_in() -> Act {
    Act::login("ann".to_owned(), Look::default())
}

#[test]
fn a_session_of_a_player_counts_as_known_until_it_logs_in_a_stranger() {
    let mut server = Alone::begin();
    server.run_to(3);
    let mut first = Person::comes(&mut server, 10);
    first.acts(&mut server, log_in(), 100);
    assert_eq!(server.known, [], "nobody knows it yet");
    server.run_to(8);

    let mut player = Person::comes(&mut server, 10);
    assert_eq!(server.known, [(player.client, true)]);
    player.acts(&mut server, log_in(), 100);
    assert_eq!(server.known, [(player.client, true)], "its own login changes nothing");
    player.key = SigningKey::from_seed([11; 32]);
    player.acts(&mut server, log_in(), 100);
    assert_eq!(server.known, [(player.client, true), (player.client, false)]);
}

/// One lane of theirs was enough to be taken for known.
#[test]
fn strangers_are_strangers_also_while_a_turn_is_applied() {
    let mut server = Alone::begin();
    server.run_to(3);
    let mut stranger = Person::comes(&mut server, 10);
    stranger.acts(&mut server, Act::Heartbeat, 100);
    server.run_to(6);
    let world = server.replica.world().expect("it is here");
    assert_eq!(world.windows().len(), 1, "the sim remembers its lane");

    server.run_until_away();

    assert_eq!(stranger.refusals(&mut server), [SubmitRefusal::QuotaExceeded]);
}

/// Who logged in, and then did nothing for a minute, was a stranger whenever the world was away.
#[test]
fn players_and_admins_are_known_whose_lanes_are_forgotten_also_while_a_turn_is_applied() {
    let admin = SigningKey::from_seed([11; 32]).public();
    let mut server = Alone::found(&Genesis { admins: [admin].into(), ..genesis() });
    server.run_to(3);
    let mut player = Person::comes(&mut server, 10);
    player.acts(&mut server, log_in(), 4);
    server.run_to(12);
    let world = server.replica.world().expect("it is here");
    assert_eq!(world.windows().len(), 0, "the sim has forgotten its lane");

    server.run_until_away();

    assert_eq!(player.refusals(&mut server), []);
    let mut admin = Person::comes(&mut server, 11);
    assert_eq!(admin.refusals(&mut server), []);
}

#[test]
fn a_login_counts_once_it_is_applied_and_is_known_after_a_restart() {
    let mut server = Alone::begin();
    server.run_to(3);
    let mut player = Person::comes(&mut server, 10);
    player.acts(&mut server, log_in(), 5);
    server.run_until_away();
    while server.replica.pending().next().is_some() {
        server.come_back();
        server.run_until_away();
    }
    assert_eq!(player.refusals(&mut server), [SubmitRefusal::QuotaExceeded]);
    server.run_to(9);
    server.run_until_away();
    assert_eq!(player.refusals(&mut server), []);

    server.run_to(SNAPSHOT_TURNS + 1);
    let mut server = server.again();
    server.run_to(SNAPSHOT_TURNS + 2);
    let mut player = Person { seq: player.seq, ..Person::comes(&mut server, 10) };
    assert_eq!(player.refusals(&mut server), []);
}
