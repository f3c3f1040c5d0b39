//! The cluster of a simulated sim: starts its servers, carries what they say to clients, and shows
//! everything to the oracle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::Record;
use metatopia_oracle::{Law, Oracle};
use metatopia_protocol::{Answer, ServerMessage, decode_server, encode_server};
use metatopia_replica::keeper::{AGREEMENT, Health, News};
use metatopia_replica::{BorderWatch, ClientId, Followers, PeerMessage, Reader, RepairReport};
use metatopia_store::memory::MemoryDisk;
use metatopia_store::{FileKind, FileName};
use metatopia_types::wire::DecodeError;
use metatopia_types::{ActId, HearRefusal, Height, Now, Outcome, PublicKey, Refusal, Turn};

use super::fair::class_of;
use super::gateway::Hangup;
use super::lanes::StreamFrame;
use super::node::{ReplicaServer, ServerStart};
use super::oracle::ReplicaOracle;
use super::place_setting::ReplicaSetting;
use super::requests::ReplicaReport;
use crate::agreement;
use crate::class::{Class, Fired};
use crate::cluster::{Cluster, ClusterOrder, ClusterView, StartedServer};
use crate::lent::{DiskChange, LentDisk};
use crate::stage::WatchedCluster;
use crate::villain::Villains;
use crate::watched::{WatchedDisk, appended};

/// Turns that a liar looks back on.
const RECENT: usize = 32;

/// What a lying server makes of a frame to a client.
pub type Tamper = fn(&ServerMessage, &mut Vec<u8>);

/// A frame to a client, which is decoded once: for the oracle, and for whoever gets it.
#[derive(Debug)]
pub struct DecodedFrame {
    /// The bytes of the frame.
    pub bytes: Vec<u8>,
    /// What it says.
    pub said: Result<ServerMessage, DecodeError>,
}

impl DecodedFrame {
    fn read(bytes: Vec<u8>) -> Self {
        let said = decode_server(&bytes);
        Self { bytes, said }
    }
}

/// What servers have for clients.
#[derive(Debug)]
pub enum Mail {
    /// A frame for a client.
    Frame {
        /// The client that gets it.
        client: ClientId,
        /// The decoded frame itself.
        letter: DecodedFrame,
    },
    /// The line is cut from the server's side.
    HungUp {
        /// The client whose session ended.
        client: ClientId,
        /// Why the session ended.
        why: Hangup,
    },
    /// The server in this seat died, and all its lines with it.
    Died {
        /// The seat of the server.
        seat: usize,
    },
}

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
    /// Whose disks were damaged behind their backs; and who of them has not come through a start since.
    pub(crate) harmed: BTreeSet<usize>,
    unaware: BTreeMap<usize, DiskDamage>,
    /// Whose stored states were made unreadable.
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

    /// A server does something: which time is it, and what does it hold? That is not bound to turns:
    /// it may hold the most while none is decided.
    fn look_at(&mut self, scene: &ClusterView<'_, Self>) {
        self.oracle.laws.watch_clocks(scene.at, |seat| scene.wall(seat));
        if let Some(server) = scene.server {
            self.oracle.check_bounds(scene.seat, server);
        }
    }

    /// Whether this server is held to the rules.
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

    /// An honest server started from a disk that had these files.
    fn watch_start(
        &mut self,
        seat: usize,
        server: &ReplicaServer,
        before: &LogFileSet,
        disk: &MemoryDisk,
    ) {
        if let Some(spoiled) = server.passed_over().first()
            && !self.spoiled.contains(&seat)
        {
            self.oracle.blame(Some(seat), Law::Damage, format!("nobody did this: {spoiled}"));
        }
        if let Some(harm) = self.unaware.remove(&seat) {
            // What was to be removed anyhow nobody reads.
            if !harm.noticed && server.damage().is_none() && disk.bytes(harm.file).is_some() {
                let what = format!("{}, and it starts", harm.what);
                self.oracle.blame(Some(seat), Law::Damage, what);
            }
            return self.oracle.laws.saw_damage(seat, &WatchedDisk(disk));
        }
        if let Some(damage) = server.damage() {
            self.oracle.blame(Some(seat), Law::Damage, format!("nobody did this: {damage}"));
        }
        self.watch_given_up(seat, before, disk);
        self.oracle.laws.saw_start(seat, &WatchedDisk(disk));
    }

    /// An honest server did not come through its start, and left this of what had been there. What it
    /// noticed need not be there for the next start to notice.
    fn watch_failed_start(&mut self, seat: usize, before: &LogFileSet, disk: &MemoryDisk) {
        let left = LogFileSet::of(disk);
        let put_aside = left.aside != before.aside;
        match self.unaware.get_mut(&seat) {
            // Where nothing is damaged but the mark, that is written anew.
            Some(harm) => harm.noticed |= put_aside || left.mark != before.mark,
            None if put_aside => {
                let what = "nobody did this: it puts something aside while it starts";
                self.oracle.blame(Some(seat), Law::Damage, what);
            }
            None => self.watch_given_up(seat, before, disk),
        }
    }

    /// An earlier life was to remove these segments, and had died before it was done.
    fn watch_given_up(&mut self, seat: usize, before: &LogFileSet, disk: &MemoryDisk) {
        for segment in before.segments.difference(&LogFileSet::of(disk).segments) {
            self.gave_up(seat, *segment, disk);
        }
    }

    /// The disk of a server that does not run was damaged behind its back: this file, in this way.
    pub(crate) fn harm(&mut self, seat: usize, file: FileName, what: String) {
        self.harmed.insert(seat);
        self.unaware.insert(seat, DiskDamage { file, what, noticed: false });
    }

    /// A server goes on from a state that others gave it.
    pub(crate) fn took_state(&mut self, at: Duration, seat: usize, height: Height) {
        self.oracle.saw_replaced(seat);
        self.oracle.laws.saw_state_taken(seat, height);
        self.replaced.push((at, seat, height));
    }

    /// The disk of a server was copied to the seat of its second machine, with all that lies there:
    /// the mark that its key is in use, and whom it let in.
    pub(crate) fn copied(&mut self, original: usize, copy: usize) {
        if self.used.contains(&original) {
            self.used.insert(copy);
        }
        if let Some(followers) = self.followers.get(&original).cloned() {
            self.followers.insert(copy, followers);
        }
    }

    /// A segment of a server's log is gone.
    fn gave_up(&mut self, seat: usize, segment: u64, disk: &MemoryDisk) {
        self.given_up += 1;
        if self.is_honest(seat) {
            self.oracle.saw_given_up(&self.setting, seat, segment, disk);
        }
    }

    /// Counts the acts of a decided turn that told what a neighbour never said.
    fn note_unheard(&mut self, height: Height, outcomes: &[Outcome]) {
        let (count, last) = &mut self.unheard_acts;
        if height > *last {
            *last = height;
            let is_unheard = |outcome: &&Outcome| {
                let Outcome::Refused(Refusal::NotHeard(why)) = outcome else { return false };
                // An honest server too may be too late, vote no more, or hear of a border that is no more.
                use HearRefusal::{Frozen, NoBorder, NotServer, NothingNew};
                !matches!(why, Frozen | NoBorder | NotServer | NothingNew)
            };
            *count += outcomes.iter().filter(is_unheard).count() as u64;
        }
    }

    fn hand_to_client(&mut self, scene: &ClusterView<'_, Self>, client: ClientId, frame: Vec<u8>) {
        let seat = scene.seat;
        let mut letter = DecodedFrame::read(frame);
        if let Ok(message) = &letter.said {
            if let ServerMessage::Receipt { receipt, .. } = message
                && self.is_honest(seat)
            {
                self.oracle.laws.saw_receipt(seat, &receipt.header, &WatchedDisk(scene.disk));
            }
            let mut other = None;
            if let Some(class) = self.villains.class(seat)
                && let ServerMessage::Answer { id, answer } = message
                && let Some(answer) = spoiled(class, answer)
            {
                self.fired.note(class);
                let answer = ServerMessage::Answer { id: *id, answer: Box::new(answer) };
                other = Some(encode_server(&answer));
            }
            if let Some(tamper) = self.liars.get(&seat) {
                tamper(message, other.get_or_insert_with(|| letter.bytes.clone()));
            }
            if let Some(bytes) = other {
                letter = DecodedFrame::read(bytes);
            }
        } else {
            self.oracle.blame(Some(seat), Law::Proof, "a client gets what is no frame");
        }
        self.mail.push_back(Mail::Frame { client, letter });
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
        let seat = scene.seat;
        self.look_at(scene);
        match report {
            ReplicaReport::ToClient { client, frame } => self.hand_to_client(scene, client, frame),
            ReplicaReport::HungUp { client, why } => {
                self.mail.push_back(Mail::HungUp { client, why })
            }
            ReplicaReport::Applied(applied) => {
                for failure in &applied.failures {
                    if let Some(class) = class_of(&failure.report.file) {
                        self.fired.note(class);
                    }
                }
                self.note_unheard(applied.height, &applied.outcomes);
                self.oracle.saw_applied(scene.at, seat, &applied);
            }
            ReplicaReport::Answer { token, answer } => {
                self.answers.insert(token, *answer);
            }
            ReplicaReport::Borders(borders) => {
                self.borders.insert(seat, borders);
            }
            ReplicaReport::Unheard(_) => self.unheard += 1,
            ReplicaReport::Traced { act, .. } => {
                self.followed.insert((act, seat));
            }
            ReplicaReport::Loaded { reader: Reader::Peer(_), count } => self.loaded.0 += count,
            ReplicaReport::Loaded { count, .. } => self.loaded.1 += count,
            ReplicaReport::Exposed(server) => self.oracle.laws.saw_accusation(seat, server),
            ReplicaReport::Heard(word) if self.is_honest(seat) => {
                self.oracle.laws.saw_heard(seat, &word)
            }
            ReplicaReport::Heard(_) => {}
            ReplicaReport::Followers(followers) => {
                self.followers.insert(seat, followers.encode());
            }
            ReplicaReport::Again(applied) => self.oracle.saw_applied_again(seat, &applied),
            ReplicaReport::Strayed(height) => self.oracle.saw_stray(seat, height),
            ReplicaReport::Unrestored(height, why) => {
                let what = format!("the state after {height}: {why}");
                self.oracle.blame(Some(seat), Law::Restored, what);
            }
            ReplicaReport::Parted(why) => {
                if self.setting.own.flips.iter().all(|flip| flip.seat != seat) {
                    self.oracle.blame(Some(seat), Law::Root, format!("it doubts its state: {why}"));
                } else {
                    self.fired.note(Class::MemoryFlip);
                }
                self.parted.push((scene.at, seat));
            }
            ReplicaReport::Capsule(bytes) => self.capsules.push((seat, bytes)),
            ReplicaReport::Mended(report) => self.mended.push((scene.at, seat, *report)),
            ReplicaReport::Replaced(height) => {
                self.fired.note(Class::Joiner);
                self.took_state(scene.at, seat, height);
            }
            ReplicaReport::Disk(health) => {
                self.oracle.laws.saw_muted(seat, health != Health::Sound);
                self.disks.push((scene.at, seat, health));
            }
            ReplicaReport::News(news) => {
                self.snapshots += u64::from(matches!(news, News::Stored(_)))
            }
            ReplicaReport::Ended(_) => scene.order(Duration::ZERO, ClusterOrder::Reboot(seat)),
            ReplicaReport::Halted(why) if self.is_honest(seat) => {
                self.oracle.blame(Some(seat), Law::Halted, why);
            }
            ReplicaReport::Halted(_) => {}
        }
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

/// What a liar gives in the place of a part of its state: another one, or nothing.
fn spoiled(class: Class, answer: &Answer) -> Option<Answer> {
    let Answer::Leaves(leaves) = answer else {
        return None;
    };
    match class {
        Class::HashLiar | Class::Garbage => {
            let mut leaves = leaves.clone();
            let byte = leaves.first_mut()?.first_mut()?;
            *byte ^= 1;
            Some(Answer::Leaves(leaves))
        }
        Class::Withholder => Some(Answer::Unknown),
        _ => None,
    }
}

/// Damage to the disk of a server that has not come through a start since.
#[derive(Debug)]
struct DiskDamage {
    file: FileName,
    what: String,
    /// Did a start notice it that was cut off?
    noticed: bool,
}

/// What there is of a log, as far as a start may change it.
struct LogFileSet {
    segments: BTreeSet<u64>,
    aside: BTreeSet<FileName>,
    mark: Option<Vec<u8>>,
}

impl LogFileSet {
    fn of(disk: &MemoryDisk) -> Self {
        let mark = disk.bytes(FileName::MARK).map(<[u8]>::to_vec);
        let mut shelf = Self { segments: BTreeSet::new(), aside: BTreeSet::new(), mark };
        for file in disk.files().into_iter().filter(|file| !file.temporary) {
            match file.kind {
                FileKind::Segment(number) => drop(shelf.segments.insert(number)),
                FileKind::Quarantined { .. } => drop(shelf.aside.insert(file)),
                _ => {}
            }
        }
        shelf
    }
}
