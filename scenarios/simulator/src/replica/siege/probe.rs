//! Honest people beside a siege: each hands one act in at an honest server, in a lane of its own, and
//! some nodes come by an honest invite.

use std::sync::Arc;
use std::time::Duration;

use metatopia_protocol::{
    Answer, ClientMessage, Grant, JoinRequest, Question, ServerMessage, Submission,
};
use metatopia_types::{Act, ActId, Envelope, Height, Lane, Look, Seq, Sign};

use super::{CertifiedHeader, checkpoint};
use crate::replica::{ReplicaStage, Stranger, invite};

/// Numbers the keys of visitors, far from those of others.
const VISITORS: u64 = 400_000;

/// Numbers the keys of nodes.
const NODES: u64 = 500_000;

/// Heights for which an act is good; its lane is forgotten after them. Each player comes every 18
/// heights, and may have two lanes where many are open.
const VALID: u64 = 30;

/// How long a connection takes until its server has asked who comes, or has let somebody in.
const GREETING: Duration = Duration::from_millis(50);

/// The number of the question whether a node may follow.
const JOIN: u32 = 1;

/// After so many visits a node comes too.
const NODE_EVERY: u64 = 4;

/// An act under way: what its author is to the sim, what it is, and what was decided before.
struct UndecidedAct {
    kind: usize,
    act: ActId,
    since: Height,
}

/// A node at the door: its connection, and what was decided when it came.
struct JoiningNode {
    line: usize,
    key: Arc<dyn Sign>,
    since: Height,
    at: Duration,
    asked: bool,
}

/// What was measured of them.
pub(super) struct Waits {
    pub(super) waits: [u64; 3],
    pub(super) joined: u64,
    pub(super) visits: u64,
    pub(super) refused: u64,
}

/// See the module.
pub(super) struct Probes {
    seats: [usize; 3],
    /// A session at each honest server.
    lines: [usize; 3],
    players: [Arc<dyn Sign>; 3],
    waiting: Vec<UndecidedAct>,
    callers: Vec<JoiningNode>,
    visits: u64,
    joined: u64,
    refused: u64,
    checkpoint: CertifiedHeader,
}

impl Probes {
    /// Lets three people log in, one at each honest server, who are players from then on.
    pub(super) fn new(stage: &mut ReplicaStage, seats: [usize; 3]) -> Self {
        let checkpoint = checkpoint(stage);
        let players = [0, 1, 2].map(|number| stage.setting().player(VISITORS + number));
        let lines = seats.map(|seat| stage.meet(seat, Stranger::default()));
        stage.run_for(GREETING);
        for (line, key) in lines.iter().zip(&players) {
            stage.introduce(*line, &**key);
        }
        stage.run_for(GREETING);
        let probes = Self {
            seats,
            lines,
            players,
            waiting: Vec::new(),
            callers: Vec::new(),
            visits: 0,
            joined: 0,
            refused: 0,
            checkpoint,
        };
        for which in 0..3 {
            let key = Arc::clone(&probes.players[which]);
            let login = Act::login(format!("player {which}"), Look::default());
            probes.hand_in(stage, which, (&*key, 1), login);
        }
        probes
    }

    fn hand_in(
        &self,
        stage: &mut ReplicaStage,
        which: usize,
        (key, lane): (&dyn Sign, u64),
        act: Act,
    ) -> ActId {
        let envelope = Envelope {
            sim: stage.setting().sim,
            author: key.public(),
            lane: Lane(lane),
            seq: Seq(1),
            last_valid: Height(stage.world.top() + VALID),
            act,
        };
        let act = envelope.sign(key);
        let id = act.id();
        let submission = Submission { act, blobs: Vec::new() };
        stage.say(self.lines[which], &ClientMessage::Submit(Box::new(submission)));
        id
    }

    /// One of each kind acts, at the next server.
    pub(super) fn visit(&mut self, stage: &mut ReplicaStage) {
        self.visits += 1;
        let which = usize::try_from(self.visits).unwrap_or(0) % self.seats.len();
        let lane = 1 + self.visits;
        let stranger = stage.setting().player(VISITORS + 100 + self.visits);
        let player = Arc::clone(&self.players[which]);
        let steward = Arc::clone(&stage.setting().keys[self.seats[which]]);
        let login = || Act::login(format!("visitor {lane}"), Look::default());
        let acts = [
            self.hand_in(stage, which, (&*stranger, 1), login()),
            self.hand_in(stage, which, (&*player, lane), Act::Heartbeat),
            self.hand_in(stage, which, (&*steward, lane), login()),
        ];
        let since = stage.world.cluster.oracle.laws.last_decided();
        self.waiting.extend((0..).zip(acts).map(|(kind, act)| UndecidedAct { kind, act, since }));
        if self.visits.is_multiple_of(NODE_EVERY) {
            let line = stage.meet(self.seats[which], Stranger::default());
            let key = stage.setting().player(NODES + self.visits);
            let at = stage.world.now();
            self.callers.push(JoiningNode { line, key, since, at, asked: false });
        }
    }

    /// Looks at what nodes were answered.
    pub(super) fn look(&mut self, stage: &mut ReplicaStage) {
        let decided = stage.world.cluster.oracle.laws.last_decided();
        let mut callers = std::mem::take(&mut self.callers);
        callers.retain_mut(|caller| {
            if !caller.asked && stage.world.now() >= caller.at + GREETING {
                caller.ask(stage, self.checkpoint.clone());
            }
            let said = &stage.strangers[caller.line].said;
            let mut answers = said.iter().filter_map(|said| match said {
                ServerMessage::Answer { id: JOIN, answer } => Some(&**answer),
                _ => None,
            });
            let Some(answer) = answers.next() else { return true };
            self.refused += u64::from(!matches!(answer, Answer::Join(Ok(_))));
            self.joined = self.joined.max(decided.0.saturating_sub(caller.since.0));
            stage.hang_up(caller.line);
            false
        });
        self.callers = callers;
    }

    /// Returns what came of all of them. An act or a caller that still waits has waited until now.
    pub(super) fn measured(self, stage: &ReplicaStage) -> Waits {
        let laws = &stage.world.cluster.oracle.laws;
        let (mut waits, now) = ([0; 3], laws.last_decided());
        for UndecidedAct { kind, act, since } in &self.waiting {
            let mut turns = laws.history().turns();
            let decided = turns.find(|turn| turn.body.acts().iter().any(|a| a.id() == *act));
            let height = decided.map_or(now, |turn| turn.header.height);
            waits[*kind] = waits[*kind].max(height.0.saturating_sub(since.0));
        }
        let callers = self.callers.iter().map(|caller| now.0.saturating_sub(caller.since.0));
        let joined = callers.max().unwrap_or(0).max(self.joined);
        let refusals = self.lines.iter().map(|line| stage.strangers[*line].refusals().len());
        let refused = self.refused + refusals.sum::<usize>() as u64;
        Waits { waits, joined, visits: self.visits, refused }
    }
}

impl JoiningNode {
    /// Asks to follow, by an invite of the admin.
    fn ask(&mut self, stage: &mut ReplicaStage, checkpoint: CertifiedHeader) {
        let (setting, nonce) = (stage.setting(), self.since.0);
        let made = invite(setting, &setting.light(), checkpoint, (Grant::Follow, nonce));
        let Some(invite) = made else { return };
        let request = Box::new(JoinRequest { invite, applicant: None });
        stage.introduce(self.line, &*self.key);
        let question = Question::Join(request);
        stage.say(self.line, &ClientMessage::Ask { id: JOIN, question });
        self.asked = true;
    }
}
