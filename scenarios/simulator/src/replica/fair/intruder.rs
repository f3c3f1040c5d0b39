//! Clients that do not behave, one sort each.

use std::sync::Arc;

use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, ClientMessage, Submission, encode_client};
use metatopia_types::{Act, Envelope, Height, Lane, Seq, Sign, SimId};

use crate::chance::Dice;
use crate::class::Class;
use crate::replica::{Hangup, ReplicaSetting, ReplicaStage, Stranger};

/// Numbers the keys of intruders, far from those of people.
const INTRUDER_KEYS: u64 = 10_000;

/// Frames that a flood has, each half a second: more than a client may send between two turns.
const FLOOD: u64 = 150;

/// Connections that one intruder leaves half open at one time.
const HALF_OPEN_MAX: usize = 12;

/// See the module.
pub(super) struct Intruder {
    class: Class,
    sim: SimId,
    key: Arc<dyn Sign>,
    dice: Dice,
    seat: usize,
    founders: usize,
    /// Its connections, by their numbers on the stage.
    lines: Vec<usize>,
    seq: u64,
}

impl Intruder {
    pub(super) fn new(setting: &ReplicaSetting, class: Class, number: u64, seat: usize) -> Self {
        Self {
            class,
            sim: setting.sim,
            key: setting.player(INTRUDER_KEYS + number),
            dice: Dice::new(setting.own.seed ^ number, class.name()),
            seat,
            founders: setting.founders,
            lines: Vec::new(),
            seq: 0,
        }
    }

    /// Does its worst once.
    pub(super) fn intrude(&mut self, stage: &mut ReplicaStage) {
        let hung_up = self.hear(stage);
        if self.class == Class::HalfOpenClient {
            return self.half_open(stage);
        }
        let line = match self.lines.first() {
            Some(line) if !hung_up => *line,
            // The next server, or the same one again.
            _ => {
                self.seat = (self.seat + self.dice.index(2)) % self.founders;
                let line = stage.meet(self.seat, Stranger::default());
                self.lines = vec![line];
                return;
            }
        };
        match self.class {
            Class::GarbageClient => self.send_garbage(stage, line),
            Class::OversizeClient => {
                let beyond = self.dice.index(1_000);
                stage.send(line, vec![7; CLIENT_FRAME_BYTES_MAX + 1 + beyond]);
            }
            Class::FloodingClient => self.flood(stage, line),
            _ => self.replay(stage, line),
        }
    }

    /// Takes note of what servers said, and forgets it. Did one of them hang up?
    fn hear(&mut self, stage: &mut ReplicaStage) -> bool {
        let mut gone = false;
        for line in &self.lines {
            let stranger = &mut stage.strangers[*line];
            let fired = match (self.class, stranger.hung_up) {
                (Class::GarbageClient, Some(Hangup::Said(_))) => true,
                (Class::OversizeClient, Some(Hangup::TooLong)) => true,
                (Class::FloodingClient | Class::ReplayingClient, _) => {
                    !stranger.refusals().is_empty()
                }
                _ => false,
            };
            gone |= stranger.hung_up.is_some() || stranger.lost;
            stranger.said.clear();
            if fired {
                stage.world.note_fault(self.class);
            }
        }
        gone
    }

    fn half_open(&mut self, stage: &mut ReplicaStage) {
        let first = self.lines.first().copied();
        if self.lines.len() < HALF_OPEN_MAX {
            let stranger =
                if self.dice.below(2) == 0 { Stranger::deaf() } else { Stranger::default() };
            self.lines.push(stage.meet(self.seat, stranger));
            stage.world.note_fault(self.class);
        } else if let Some(line) = first {
            // One of them says who it is after all, and reads nothing of what it asks for.
            stage.introduce(line, &*self.key);
            self.lines.remove(0);
        }
    }

    fn send_garbage(&mut self, stage: &mut ReplicaStage, line: usize) {
        match self.dice.below(4) {
            0 => {
                let length = self.dice.index(300);
                let noise = (0..length).map(|_| self.dice.below(256) as u8).collect();
                stage.send(line, noise);
            }
            1 => stage.send(line, Vec::new()),
            2 => {
                // What somebody else said, with turned bits.
                let heard = stage.overheard().last().cloned();
                if let Some(mut frame) = heard.filter(|frame| !frame.is_empty()) {
                    let at = self.dice.index(frame.len());
                    frame[at] ^= 1 << self.dice.below(8);
                    frame.truncate(1 + self.dice.index(frame.len()));
                    stage.introduce(line, &*self.key);
                    stage.send(line, frame);
                }
            }
            _ => {
                let mut frame = encode_client(&ClientMessage::Ping { token: self.seq });
                frame.push(0);
                stage.send(line, frame);
            }
        }
    }

    /// More frames than a client may send, and more acts than an author may have waiting.
    fn flood(&mut self, stage: &mut ReplicaStage, line: usize) {
        stage.introduce(line, &*self.key);
        for n in 0..FLOOD {
            self.seq += 1;
            let message = if n % 3 == 0 {
                ClientMessage::Ping { token: self.seq }
            } else {
                ClientMessage::Submit(Box::new(self.act(stage)))
            };
            stage.say(line, &message);
        }
    }

    fn act(&self, stage: &ReplicaStage) -> Submission {
        let envelope = Envelope {
            sim: self.sim,
            author: self.key.public(),
            lane: Lane(1),
            seq: Seq(self.seq),
            last_valid: Height(stage.world.top() + 100),
            act: Act::Heartbeat,
        };
        Submission { act: envelope.sign(&*self.key), blobs: Vec::new() }
    }

    /// Says what others said, word by word.
    fn replay(&mut self, stage: &mut ReplicaStage, line: usize) {
        stage.introduce(line, &*self.key);
        let skipped = self.dice.index(stage.overheard().len().max(1));
        let again: Vec<Vec<u8>> = stage.overheard().skip(skipped).take(20).cloned().collect();
        for frame in again {
            stage.send(line, frame);
        }
    }
}
