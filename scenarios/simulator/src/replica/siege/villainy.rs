//! What a lying server does in a siege: acts of its own in its own turns, questions to the others, and
//! nodes of its own with invites of its own.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::Message;
use metatopia_protocol::{
    Answer, ClientMessage, Grant, INVITE_VALID_MAX_MS, Invite, JoinRequest, Question,
    ServerMessage, SignedInvite, Submission,
};
use metatopia_replica::PeerMessage;
use metatopia_sim::limits::FRESH_LANES_PER_TURN_MAX;
use metatopia_types::limits::{ACTS_PER_TURN_MAX, EXPIRY_HEIGHTS_MAX};
use metatopia_types::{Act, Envelope, Height, Lane, Seq, Sign};

use super::{CertifiedHeader, Siege, checkpoint};
use crate::replica::place_setting::contact;
use crate::replica::requests::Request;
use crate::replica::{ReplicaStage, Stranger};

/// Numbers the keys of the liar's acts, and of its nodes, far from those of others.
const ACTORS: u64 = 600_000;
const NODES: u64 = 700_000;

/// Between two handfuls of acts: its turn comes once in four.
const HANDS: Duration = Duration::from_millis(200);

/// Questions of each sort that it says to every other server at once, forty times a second.
const QUESTIONS: usize = 16;

/// Nodes that come at once to each of the others: some hundred sessions a second in all.
const NODES_AT_ONCE: u64 = 8;

/// How long a session takes in which a node asks to be let in.
const SESSION: Duration = Duration::from_millis(150);

/// After so much of it servers have asked who comes.
const GREETING: Duration = Duration::from_millis(50);

/// The number of the question whether a node may follow.
const JOIN: u32 = 1;

/// Nodes at the doors, all with one invite each.
struct JoinWave {
    at: Duration,
    /// Connections, keys and invites.
    nodes: Vec<(usize, Arc<dyn Sign>, SignedInvite)>,
    asked: bool,
}

/// See the module.
pub(super) struct Villainy {
    siege: Siege,
    seat: usize,
    others: [usize; 3],
    checkpoint: CertifiedHeader,
    /// The next act, and when acts are handed in again.
    acts: u64,
    next: Duration,
    /// The next invite, and who is at the doors with some of them.
    invites: u64,
    wave: Option<JoinWave>,
    spent: u64,
}

impl Villainy {
    pub(super) fn new(
        siege: Siege,
        stage: &mut ReplicaStage,
        (seat, others): (usize, [usize; 3]),
    ) -> Self {
        let (checkpoint, next) = (checkpoint(stage), stage.world.now());
        let (acts, invites, wave, spent) = (0, 0, None, 0);
        Self { siege, seat, others, checkpoint, acts, next, invites, wave, spent }
    }

    /// Nodes that its invites let in, or questions that it asked.
    pub(super) const fn spent(&self) -> u64 {
        self.spent
    }

    /// Does its worst for a step.
    pub(super) fn step(&mut self, stage: &mut ReplicaStage) {
        let due = stage.world.now() >= self.next;
        match self.siege {
            Siege::Lanes if due => self.hand_in(stage, 2 * FRESH_LANES_PER_TURN_MAX as u64, true),
            Siege::Turns => {
                if due {
                    self.hand_in(stage, ACTS_PER_TURN_MAX as u64, false);
                }
                self.question(stage);
            }
            Siege::Invites => self.invite(stage),
            Siege::Lanes => {}
        }
    }

    /// Gives its own server acts: each in a new lane, or all in as few as there may be.
    fn hand_in(&mut self, stage: &mut ReplicaStage, count: u64, fresh: bool) {
        self.next += HANDS;
        let now = stage.world.now();
        let acts: Vec<Submission> = (0..count)
            .map(|number| {
                let number = self.acts + number;
                let (who, seq) = if fresh {
                    (number, 1)
                } else {
                    (number % FRESH_LANES_PER_TURN_MAX as u64, 1 + number)
                };
                let key = stage.setting().player(ACTORS + who);
                let act = Envelope {
                    sim: stage.setting().sim,
                    author: key.public(),
                    lane: Lane(1),
                    seq: Seq(seq),
                    last_valid: Height(stage.world.top() + EXPIRY_HEIGHTS_MAX - 100),
                    act: Act::Heartbeat,
                };
                Submission { act: act.sign(&*key), blobs: Vec::new() }
            })
            .collect();
        self.acts += count;
        stage.world.request(now, self.seat, Request::HandIn(acts));
    }

    /// Asks everybody for all decided turns, in both ways in which servers may ask.
    fn question(&mut self, stage: &mut ReplicaStage) {
        let from = Height(1);
        let of_agreement = PeerMessage::Agreement(Message::Ask { from });
        let ask = |id| {
            let question = Box::new(Question::Turns { from });
            PeerMessage::Ask { id, question }
        };
        let both = (0..QUESTIONS as u32).flat_map(|id| [of_agreement.clone(), ask(id)]);
        let frames: Vec<Rc<[u8]>> = both.map(|message| message.encode().into()).collect();
        self.spent += (frames.len() * self.others.len()) as u64;
        let now = stage.world.now();
        stage.world.request(now, self.seat, Request::Say(frames));
    }

    /// Sends the next nodes with invites of its own, or lets those that are there go on.
    fn invite(&mut self, stage: &mut ReplicaStage) {
        let now = stage.world.now();
        match &mut self.wave {
            None => self.wave = Some(self.next_wave(stage)),
            Some(wave) if !wave.asked && now >= wave.at + GREETING => {
                wave.asked = true;
                for (line, key, invite) in &wave.nodes {
                    stage.introduce(*line, &**key);
                    let request = JoinRequest { invite: invite.clone(), applicant: None };
                    let question = Question::Join(Box::new(request));
                    stage.say(*line, &ClientMessage::Ask { id: JOIN, question });
                }
            }
            Some(wave) if now >= wave.at + SESSION => {
                for (line, ..) in &wave.nodes {
                    let let_in = |said: &ServerMessage| match said {
                        ServerMessage::Answer { id: JOIN, answer } => {
                            matches!(**answer, Answer::Join(Ok(_)))
                        }
                        _ => false,
                    };
                    self.spent += u64::from(stage.strangers[*line].said.iter().any(let_in));
                    stage.hang_up(*line);
                }
                self.wave = None;
            }
            Some(_) => {}
        }
    }

    fn next_wave(&mut self, stage: &mut ReplicaStage) -> JoinWave {
        let (mut nodes, at) = (Vec::new(), stage.world.now());
        for _ in 0..NODES_AT_ONCE {
            self.invites += 1;
            let invite = self.sign(stage);
            let key = stage.setting().player(NODES + self.invites);
            for seat in self.others {
                let line = stage.meet(seat, Stranger::default());
                nodes.push((line, Arc::clone(&key), invite.clone()));
            }
        }
        JoinWave { at, nodes, asked: false }
    }

    /// An invite of its own, good for as long as any may be.
    fn sign(&self, stage: &ReplicaStage) -> SignedInvite {
        let (setting, (header, certificate)) = (stage.setting(), self.checkpoint.clone());
        let light = setting.light();
        let validators = light.set(Height(1)).expect("it begins with them").clone();
        let expires = header.time.plus(INVITE_VALID_MAX_MS);
        let key = &*setting.keys[self.seat];
        let addresses = self.others.iter().map(|seat| contact(*seat).address).collect();
        let (grant, uses, issuer) = (Grant::Follow, 1, key.public());
        let nonce = self.invites;
        let invite = Invite {
            header,
            certificate,
            validators,
            addresses,
            grant,
            uses,
            expires,
            issuer,
            nonce,
        };
        invite.sign(key)
    }
}
