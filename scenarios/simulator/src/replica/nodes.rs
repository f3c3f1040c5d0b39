//! The cluster of a simulated sim: starts its servers, carries what they say to clients, and shows
//! everything to the oracle.

mod disks;
mod mail;
mod reports;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::Record;
use metatopia_oracle::{Law, Oracle};
use metatopia_protocol::Answer;
use metatopia_replica::keeper::{AGREEMENT, Health};
use metatopia_replica::{BorderWatch, Followers, PeerMessage, RepairReport};
use metatopia_store::FileKind;
use metatopia_types::{ActId, Height, Now, PublicKey, Turn};

use self::disks::{DiskDamage, LogFileSet};
use self::mail::spoiled;
pub use self::mail::{DecodedFrame, Mail, Tamper};
use super::lanes::StreamFrame;
use super::node::{ReplicaServer, ServerStart};
use super::oracle::ReplicaOracle;
use super::place_setting::ReplicaSetting;
use super::requests::ReplicaReport;
use crate::agreement;
use crate::class::{Class, Fired};
use crate::cluster::{Cluster, ClusterView, StartedServer};
use crate::lent::{DiskChange, LentDisk};
use crate::stage::WatchedCluster;
use crate::villain::Villains;
use crate::watched::appended;

/// Turns that a liar looks back on.
const RECENT: usize = 32;

/// See the module.
#[derive(Debug)]
pub struct ReplicaServers {
    /// What they have in common.
    pub setting: Rc<ReplicaSetting>,
    /// The oracle that watches.
    pub oracle: ReplicaOracle,
    /// What waits for clients.
    pub mail: VecDeque<Mail>,
    /// Servers that lie to clients.
    pub liars: BTreeMap<usize, Tamper>,
    /// Answers to questions that came by another way than a session.
    pub answers: BTreeMap<u64, Answer>,
    /// How the borders stand, as each server that runs said last.
    pub borders: BTreeMap<usize, Vec<BorderWatch>>,
    /// How much of what couriers brought counted for nothing.
    pub unheard: u64,
    /// Acts of decided turns that told what a neighbour never said, and the last turn that was looked at.
    pub unheard_acts: (u64, Height),
    /// How many snapshots servers stored.
    pub snapshots: u64,
    /// How many segments of their logs they gave up.
    pub given_up: u64,
    /// How disks stood with their servers, whenever that changed: when, whose, and how.
    pub disks: Vec<(Duration, usize, Health)>,
    /// How many decided turns were read back from logs, for servers and for questions.
    pub loaded: (usize, usize),
    /// How often a server started.
    pub openings: u64,
    /// Acts that servers were seen to follow, with the seat.
    pub followed: BTreeSet<(ActId, usize)>,
    /// When servers noticed that their states are not the others', with their seats.
    pub parted: Vec<(Duration, usize)>,
    /// What they wanted to be kept about it, with their seats.
    pub capsules: Vec<(usize, Vec<u8>)>,
    /// When they had healed, and from what.
    pub mended: Vec<(Duration, usize, RepairReport)>,
    /// Servers that went on with a state of their peers: when, which, and the state's height.
    pub replaced: Vec<(Duration, usize, Height)>,
    /// How often a liar gave another server a wrong part of its state, or kept it to itself.
    pub spoiled_states: u64,
    /// Servers that lie to other servers.
    villains: Villains,
    /// The last turns that liars wrote down.
    turns: VecDeque<Arc<Turn>>,
    /// Faults that happened at servers and scripts.
    pub fired: Fired,
    /// Why servers stopped.
    pub halts: Vec<(usize, String)>,
    /// Whom servers let in, as they wrote it down last.
    followers: BTreeMap<usize, Vec<u8>>,
    /// The servers whose disks were damaged behind their backs, and those of them that have not come
    /// through a start since.
    pub(crate) harmed: BTreeSet<usize>,
    unaware: BTreeMap<usize, DiskDamage>,
    /// The servers whose stored states were made unreadable.
    pub(crate) spoiled: BTreeSet<usize>,
    /// Keys that were used.
    used: BTreeSet<usize>,
}

impl ReplicaServers {
    /// The servers of `setting`.
    #[must_use]
    pub fn new(setting: Rc<ReplicaSetting>) -> Self {
        let liars: Vec<usize> = setting.shunned().collect();
        Self {
            oracle: ReplicaOracle::new(&setting, &liars),
            mail: VecDeque::new(),
            liars: BTreeMap::new(),
            answers: BTreeMap::new(),
            borders: BTreeMap::new(),
            unheard: 0,
            unheard_acts: (0, Height(0)),
            snapshots: 0,
            given_up: 0,
            disks: Vec::new(),
            loaded: (0, 0),
            openings: 0,
            followed: BTreeSet::new(),
            parted: Vec::new(),
            capsules: Vec::new(),
            mended: Vec::new(),
            replaced: Vec::new(),
            spoiled_states: 0,
            villains: Villains::of(&setting),
            turns: VecDeque::new(),
            fired: Fired::default(),
            halts: Vec::new(),
            followers: BTreeMap::new(),
            harmed: BTreeSet::new(),
            unaware: BTreeMap::new(),
            spoiled: BTreeSet::new(),
            used: BTreeSet::new(),
            setting,
        }
    }

    /// Looks at a server that does something: at its clock, and at what it holds. This is not bound to turns,
    /// because a server may hold the most while no turn is decided.
    fn look_at(&mut self, scene: &ClusterView<'_, Self>) {
        self.oracle.laws.watch_clocks(scene.at, |seat| scene.wall(seat));
        if let Some(server) = scene.server {
            self.oracle.check_bounds(scene.seat, server);
        }
    }

    /// Returns whether this server is held to the rules.
    #[must_use]
    pub fn is_honest(&self, seat: usize) -> bool {
        self.oracle.laws.is_honest(seat)
    }

    /// A liar wrote a record down: perhaps a turn, of which it tells others something else.
    fn note_villains_turn(&mut self, seat: usize, record: Option<Record>) {
        if self.villains.class(seat).is_none() {
            return;
        }
        if let Some(Record::Turn(turn)) = record {
            let recent = &*self.turns.make_contiguous();
            let laws = &mut self.oracle.laws;
            self.villains.note_turn(&self.setting, seat, (&turn, recent), laws);
            self.turns.push_back(turn);
            if self.turns.len() > RECENT {
                self.turns.pop_front();
            }
        }
    }
}

impl Cluster for ReplicaServers {
    type Server = ReplicaServer;

    fn peer(&self, seat: usize) -> PublicKey {
        self.setting.name(seat)
    }

    fn open(
        &mut self,
        seat: usize,
        now: Now,
        disk: &mut LentDisk,
    ) -> Result<StartedServer<ReplicaServer>, String> {
        self.openings += 1;
        // A node leaves a mark beside a key before it uses it for the first time.
        let fresh = !self.used.contains(&seat);
        let start = ServerStart { seat, life: self.openings, fresh };
        let before = LogFileSet::of(disk.disk());
        let opened = ReplicaServer::open(&self.setting, start, now, disk);
        let opened = disk.outlived(opened);
        if opened.is_err() && self.is_honest(seat) {
            self.watch_failed_start(seat, &before, disk.disk());
        }
        let mut opened = opened?;
        let followers =
            self.followers.get(&seat).and_then(|followers| Followers::decode(followers).ok());
        opened.server.welcome(now, followers.unwrap_or_default());
        self.used.insert(seat);
        if self.is_honest(seat) {
            self.watch_start(seat, &opened.server, &before, disk.disk());
        }
        Ok(opened)
    }

    fn stamp(frame: &StreamFrame) -> [u8; 8] {
        let digest = blake3::hash(&frame.bytes);
        let mut stamp = [0; 8];
        stamp.copy_from_slice(&digest.as_bytes()[..8]);
        stamp
    }

    fn describe(frame: &StreamFrame) -> String {
        match PeerMessage::decode(&frame.bytes) {
            Ok(PeerMessage::Agreement(message)) => agreement::AgreementServers::describe(&message),
            Ok(PeerMessage::Submission(submission)) => {
                format!("act {} {:?}", submission.act.id(), submission.act.envelope)
            }
            Ok(PeerMessage::Endpoint(word)) => format!("{:?}", word.announcement),
            Ok(PeerMessage::Ask { id, question }) => format!("question {id} {question:?}"),
            Ok(PeerMessage::Answer { id, .. }) => format!("answer {id}"),
            Err(error) => format!("no frame: {error}"),
        }
    }

    fn leaves(
        &mut self,
        scene: &mut ClusterView<'_, Self>,
        to: usize,
        frame: &StreamFrame,
    ) -> Vec<StreamFrame> {
        self.look_at(scene);
        if self.is_honest(scene.seat) && !frame.bytes.is_empty() {
            self.oracle.saw_frame(scene.seat, &frame.bytes, scene.disk);
        }
        let seat = scene.seat;
        if self.setting.is_copy(seat) && !self.setting.own.copied_later.contains(&seat) {
            self.fired.note(Class::Twin);
        }
        let Some(class) = self.villains.class(seat) else {
            return vec![frame.clone()];
        };
        match PeerMessage::decode(&frame.bytes) {
            Ok(PeerMessage::Agreement(message)) => {
                let watch = (&mut self.oracle.laws, &mut self.fired);
                let said = self.villains.twist(&self.setting, (seat, to), &message, watch);
                let said = said.unwrap_or_else(|| vec![message]).into_iter();
                vec![frame.saying(said.map(|message| PeerMessage::Agreement(message).encode()))]
            }
            Ok(PeerMessage::Answer { id, answer }) => {
                let Some(answer) = spoiled(class, &answer) else {
                    return vec![frame.clone()];
                };
                self.fired.note(class);
                self.spoiled_states += 1;
                let answer = PeerMessage::Answer { id, answer: Box::new(answer) };
                vec![frame.saying([answer.encode()])]
            }
            _ => vec![frame.clone()],
        }
    }

    fn told(&mut self, scene: &mut ClusterView<'_, Self>, report: ReplicaReport) {
        self.look_at(scene);
        self.note_report(scene, report);
    }

    fn wrote(&mut self, scene: &mut ClusterView<'_, Self>, change: &DiskChange) {
        self.look_at(scene);
        let (seat, honest) = (scene.seat, self.is_honest(scene.seat));
        if let Some(append) = appended(change, AGREEMENT) {
            if honest {
                self.oracle.laws.saw_write(seat, &append);
            } else {
                let record = append.payload.and_then(|payload| Record::decode(payload).ok());
                self.note_villains_turn(seat, record);
            }
        }
        if let DiskChange::Removed(file) = change {
            match file.kind {
                FileKind::Segment(segment) => self.gave_up(seat, segment, scene.disk),
                FileKind::Patch { from, to } => self.oracle.laws.saw_let_go(seat, from..=to),
                _ => {}
            }
        }
    }

    fn halted(&mut self, scene: &mut ClusterView<'_, Self>, reason: &str) {
        let seat = scene.seat;
        self.halts.push((seat, reason.to_owned()));
        if self.is_honest(seat) {
            self.oracle.blame(Some(seat), Law::Halted, reason);
        }
    }

    fn died(&mut self, scene: &mut ClusterView<'_, Self>) {
        self.look_at(scene);
        self.oracle.died(scene.seat, scene.disk);
        self.borders.remove(&scene.seat);
        self.mail.push_back(Mail::Died { seat: scene.seat });
    }
}

impl WatchedCluster for ReplicaServers {
    fn laws(&self) -> &Oracle {
        &self.oracle.laws
    }

    fn laws_mut(&mut self) -> &mut Oracle {
        &mut self.oracle.laws
    }

    fn height(server: &ReplicaServer) -> Height {
        server.applied()
    }
}
