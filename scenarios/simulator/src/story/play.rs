//! Plays a story.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use metatopia_protocol::{CLIENT_FRAME_BYTES_MAX, ClientMessage, Question, Submission};
use metatopia_types::{
    Act, Envelope, Height, Lane, PublicKey, Seq, Sign, limits::EXPIRY_HEIGHTS_MAX,
};

use super::ending::{LiveObservations, StoryEnding};
use super::file::Rudeness;
use super::step::{PersonAction, StoryStep, StrangerAction};
use super::units::ServerTarget;
use super::{Story, file};
use crate::chance::Dice;
use crate::replica::{Person, ReplicaSetting, ReplicaStage, Stranger, partings::proposing};

/// How often it is told how far a story is.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// Numbers keys of strangers, far from those of people.
const STRANGER_KEYS: u64 = 100_000;

/// Frames of noise, and acts that are forged.
const FRAMES: u64 = 8;

/// Acts of a flood: more than one client may send between two turns.
const FLOOD: u64 = 200;

/// Questions that a deaf stranger asks at once; answers are long.
const QUESTIONS: u32 = 48;

impl Story {
    /// Plays the story with a seed, and tells now and then how far it is.
    #[must_use]
    pub fn play(&self, seed: u64, mut told: impl FnMut(Duration)) -> StoryEnding {
        let mut player = StoryPlayer::new(self, seed);
        for (at, step) in &self.steps {
            player.run_until(*at, &mut told);
            player.take(step);
        }
        player.run_until(self.length, &mut told);
        let looks = core::mem::take(&mut player.looks);
        let seen = LiveObservations::of(&player.stage, looks);
        let account =
            if self.goes_on { player.stage.finish(self.patience) } else { player.stage.leave() };
        StoryEnding::new(self.length, seen, &account)
    }

    fn setting(&self, seed: u64) -> ReplicaSetting {
        let seats = self.founders + self.reserve;
        let scheme = match self.signatures {
            file::Signatures::StandIn => crate::signatures::SignatureKind::StandIn,
            file::Signatures::Ed25519 => crate::signatures::SignatureKind::Ed25519,
        };
        let mut setting = ReplicaSetting::new(&self.place, scheme, self.founders, seats, seed);
        setting.own.snapshot_turns = self.snapshot_turns.unwrap_or(setting.own.snapshot_turns);
        setting.own.trap = self.trap;
        setting.own.flips.clone_from(&self.flips);
        setting
    }
}

struct StoryPlayer<'a> {
    story: &'a Story,
    stage: ReplicaStage,
    dice: Dice,
    /// The numbers that strangers have on the stage.
    met: Vec<Option<usize>>,
    /// Who acted for the admins, at the moments at which somebody looked.
    looks: BTreeMap<Duration, Option<PublicKey>>,
}

impl<'a> StoryPlayer<'a> {
    fn new(story: &'a Story, seed: u64) -> Self {
        let mut stage = ReplicaStage::new(story.setting(seed), story.conditions.clone());
        for visitor in &story.people {
            let person = Person::new(stage.setting(), visitor.number, visitor.seat, visitor.manner);
            stage.invite(visitor.from, person);
        }
        let met = vec![None; story.strangers.len()];
        let looks = BTreeMap::new();
        Self { story, stage, dice: Dice::new(seed, "story"), met, looks }
    }

    fn run_until(&mut self, until: Duration, told: &mut impl FnMut(Duration)) {
        while self.stage.world.now() < until {
            let next = self.stage.world.now() + TOLD_EVERY;
            self.stage.run_until(next.min(until));
            told(self.stage.world.now());
        }
    }

    fn take(&mut self, step: &StoryStep) {
        let now = self.stage.world.now();
        match step {
            StoryStep::Trouble(target, trouble) => {
                if let Some(seat) = self.aim(*target) {
                    self.order(trouble.orders(now, seat));
                }
            }
            StoryStep::Look => {
                self.looks.insert(now, LiveObservations::temp_admin(&self.stage));
            }
            StoryStep::World(trouble) => self.order(trouble.clone().orders(now)),
            StoryStep::Act { person, does } => {
                let setting = Rc::clone(&self.stage.world.cluster.setting);
                match (does, does.act(*person, &setting)) {
                    (PersonAction::Vanish(away), _) => self.stage.lose_line(*person, *away),
                    (_, Some((act, words))) => {
                        self.stage.prompt(*person, |person, now| person.act(now, act, words));
                    }
                    (_, None) => {}
                }
            }
            StoryStep::Meet { stranger, seat } => {
                let deaf = self.story.strangers[*stranger].does == Rudeness::Deaf;
                let who = if deaf { Stranger::deaf() } else { Stranger::default() };
                self.met[*stranger] = Some(self.stage.meet(*seat, who));
            }
            StoryStep::Introduce { stranger } => {
                let key = self.key(*stranger);
                if let Some(met) = self.met[*stranger] {
                    self.stage.introduce(met, &*key);
                }
            }
            StoryStep::Rude { stranger } => {
                if let Some(met) = self.met[*stranger] {
                    self.be_rude(*stranger, met);
                }
            }
        }
    }

    fn order(&mut self, orders: Vec<(Duration, crate::ClusterOrder)>) {
        for (at, order) in orders {
            self.stage.world.plan(at, order);
        }
    }

    /// The seat that is meant, if there is one right now.
    fn aim(&mut self, target: ServerTarget) -> Option<usize> {
        match target {
            ServerTarget::Seat(seat) => Some(seat),
            ServerTarget::Proposer => proposing(&self.stage),
            ServerTarget::Any => {
                let seats = 0..self.stage.world.seats();
                let running: Vec<usize> =
                    seats.filter(|seat| self.stage.world.server(*seat).is_some()).collect();
                (!running.is_empty()).then(|| self.dice.pick(&running))
            }
        }
    }

    fn key(&self, stranger: usize) -> std::sync::Arc<dyn Sign> {
        self.stage.setting().player(STRANGER_KEYS + stranger as u64)
    }

    fn be_rude(&mut self, stranger: usize, met: usize) {
        let StrangerAction { seat, does } = self.story.strangers[stranger];
        match does {
            Rudeness::Noise => {
                for _ in 0..FRAMES {
                    let length = 1 + self.dice.below(200);
                    let frame = (0..length).map(|_| self.dice.below(256) as u8).collect();
                    self.stage.send(met, frame);
                }
            }
            Rudeness::LongFrame => self.stage.send(met, vec![0; CLIENT_FRAME_BYTES_MAX + 1]),
            Rudeness::Forgery => {
                let signer = self.key(stranger);
                let victim = self.stage.setting().player(0);
                self.submit(met, seat, FRAMES, &*victim, &*signer);
            }
            Rudeness::Flood => {
                let signer = self.key(stranger);
                self.submit(met, seat, FLOOD, &*signer, &*signer);
            }
            Rudeness::Deaf => {
                for id in 0..QUESTIONS {
                    let ask = ClientMessage::Ask { id, question: Question::Genesis };
                    self.stage.say(met, &ask);
                }
            }
        }
    }

    /// Submits acts in the name of `author`, signed by `signer`.
    fn submit(&mut self, met: usize, seat: usize, acts: u64, author: &dyn Sign, signer: &dyn Sign) {
        let applied = self.stage.world.server(seat).map_or(Height(0), |server| server.applied());
        let sim = self.stage.setting().sim;
        for seq in 1..=acts {
            let envelope = Envelope {
                sim,
                author: author.public(),
                lane: Lane(1 << 32),
                seq: Seq(seq),
                last_valid: applied.plus(EXPIRY_HEIGHTS_MAX / 2),
                act: Act::Heartbeat,
            };
            let submission = Submission { act: envelope.sign(signer), blobs: Vec::new() };
            self.stage.say(met, &ClientMessage::Submit(Box::new(submission)));
        }
    }
}
