//! A crowd of fresh keys that takes what can run out, and stewards who log in meanwhile.

use std::sync::Arc;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{ClientMessage, ServerMessage, Submission};
use metatopia_types::{
    Act, ActId, Envelope, Height, Lane, Look, Outcome, Refusal, Seq, Sign, SimId,
};

use super::place_setting::ReplicaSetting;
use super::stranger::Stranger;
use super::visit::ReplicaStage;
use crate::calm::UNDER_WAY;

/// Numbers the keys of a crowd, far from those of people and of others who visit.
const CROWD_KEYS: u64 = 30_000;

/// Keys that come over one connection: fewer than the acts of strangers that may wait there.
const KEYS_PER_LINE: u64 = 12;

/// How long a connection takes until its server has asked who comes, or has let somebody in.
const GREETING: Duration = Duration::from_millis(60);

/// Heights for which an act is good.
const VALID: u64 = 600;

/// Height of a turn after which what came of it is known, besides.
const TO_APPLY: u64 = 2;

/// Fresh keys, which log in and stay by heartbeats.
pub struct Crowd {
    sim: SimId,
    /// Where its connections go, and their numbers on the stage.
    seats: Vec<usize>,
    lines: Vec<usize>,
    keys: Vec<Arc<dyn Sign>>,
    /// Acts of each key.
    seq: u64,
}

impl std::fmt::Debug for Crowd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crowd of {} keys at {:?}", self.keys.len(), self.seats)
    }
}

impl Crowd {
    /// A crowd that comes over one connection to each of these servers.
    #[must_use]
    pub fn new(setting: &ReplicaSetting, seats: Vec<usize>) -> Self {
        let count = KEYS_PER_LINE * seats.len() as u64;
        let keys = (0..count).map(|number| setting.player(CROWD_KEYS + number)).collect();
        Self { sim: setting.sim, seats, lines: Vec::new(), keys, seq: 0 }
    }

    /// Connects, and lets every key log in.
    pub fn come(&mut self, stage: &mut ReplicaStage) {
        let meet = |seat: &usize| stage.meet(*seat, Stranger::default());
        self.lines = self.seats.iter().map(meet).collect();
        stage.run_for(GREETING);
        for (line, key) in self.lines.iter().zip(&self.keys) {
            stage.introduce(*line, &**key);
        }
        stage.run_for(GREETING);
        self.act(stage, |number| Act::login(format!("fresh {number}"), Look::default()));
    }

    /// Shows signs of life, so that nobody loses a seat.
    pub fn stay(&mut self, stage: &mut ReplicaStage) {
        self.act(stage, |_| Act::Heartbeat);
    }

    fn act(&mut self, stage: &mut ReplicaStage, act: impl Fn(usize) -> Act) {
        self.seq += 1;
        let last_valid = Height(stage.world.top() + VALID);
        for (number, key) in self.keys.iter().enumerate() {
            let line = self.lines[number % self.lines.len()];
            let envelope = Envelope {
                sim: self.sim,
                author: key.public(),
                lane: Lane(1),
                seq: Seq(self.seq),
                last_valid,
                act: act(number),
            };
            stage.say(line, &submission(envelope, &**key));
        }
    }
}

fn submission(envelope: Envelope, key: &dyn Sign) -> ClientMessage {
    let act = envelope.sign(key);
    ClientMessage::Submit(Box::new(Submission { act, blobs: Vec::new() }))
}

/// The login of a steward, which servers were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steward {
    /// The act that logs in.
    pub login: ActId,
    /// What was decided when the last of them was given it.
    pub after: Height,
    /// It is due up to this height.
    pub due: Height,
}

/// Gives a steward's login to the servers in these seats at one moment, over a connection to each.
/// None if not all of them took the connection, or the act.
pub fn log_in_everywhere(
    stage: &mut ReplicaStage,
    (key, lane): (&dyn Sign, Lane),
    seats: &[usize],
    faults_borne: u64,
) -> Option<Steward> {
    let lines: Vec<usize> =
        seats.iter().map(|seat| stage.meet(*seat, Stranger::default())).collect();
    stage.run_for(GREETING);
    lines.iter().for_each(|line| stage.introduce(*line, key));
    stage.run_for(GREETING);
    let is_welcome = |said: &ServerMessage| matches!(said, ServerMessage::Welcome(_));
    let let_in = |line: &usize| stage.strangers[*line].said.iter().any(is_welcome);
    let all_let_in = lines.iter().all(let_in);
    let envelope = Envelope {
        sim: stage.setting().sim,
        author: key.public(),
        lane,
        seq: Seq(1),
        last_valid: Height(stage.world.top() + VALID),
        act: Act::login("steward".to_owned(), Look::default()),
    };
    let login = envelope.id();
    let message = submission(envelope, key);
    lines.iter().for_each(|line| stage.say(*line, &message));
    // A frame of a client is on its way for less than this.
    stage.run_for(GREETING / 3);
    let after = stage.world.cluster.oracle.laws.last_decided();
    let due = after.plus(UNDER_WAY + faults_borne + 2);
    // The lines stand until it is decided: refusals come over them.
    all_let_in.then_some(Steward { login, after, due })
}

impl Steward {
    /// Returns whether it can be said by now what became of the login.
    #[must_use]
    pub fn is_over(&self, stage: &ReplicaStage) -> bool {
        stage.world.top() >= self.due.0 + TO_APPLY
    }

    /// Holds the servers to the law. Returns how many turns after they had it they decided it.
    pub fn judge(&self, stage: &mut ReplicaStage) -> Option<u64> {
        let Self { login, after, due } = *self;
        let found = place(stage, login);
        let Some((height, index)) = found.filter(|(height, _)| *height <= due) else {
            let what = format!("{login} is in none of the turns from {after} to {due}: {found:?}");
            stage.world.blame(None, Law::Reserved, what);
            return None;
        };
        let step = stage.world.cluster.oracle.steps().get(&height);
        let outcome = step.and_then(|step| step.outcomes.get(index));
        if outcome == Some(&Outcome::Refused(Refusal::Full)) {
            stage.world.blame(
                None,
                Law::Reserved,
                format!("{login} is refused at {height}: no room"),
            );
        }
        Some(height.0.saturating_sub(after.0))
    }
}

/// Returns in which decided turn an act is, and where in it.
fn place(stage: &ReplicaStage, act: ActId) -> Option<(Height, usize)> {
    let mut turns = stage.world.cluster.oracle.laws.history().turns();
    turns.find_map(|turn| {
        let index = turn.body.acts().iter().position(|other| other.id() == act)?;
        Some((turn.header.height, index))
    })
}
