//! The cluster of a simulated sim: starts its servers, carries what they say to clients, and shows
//! everything to the oracle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use metatopia_oracle::Law;
use metatopia_protocol::{Answer, ServerMessage, decode_server};
use metatopia_replica::{ClientId, PeerMessage, Reader, Report as Mended};
use metatopia_store::memory::MemoryDisk;
use metatopia_types::{ActId, Height, Now, PublicKey};

use super::files::AGREEMENT_KIND;
use super::gateway::Hangup;
use super::lanes::Frame;
use super::oracle::Oracle;
use super::server::{Report, Server, Start, creates_file};
use super::setting::Setting;
use crate::cluster::{Cluster, Opened, Scene};
use crate::machine::FileChange;
use crate::watched::{Watched, append};

/// What a lying server makes of a frame to a client.
pub type Tamper = fn(&ServerMessage, &mut Vec<u8>);

/// What servers have for clients.
#[derive(Debug)]
pub enum Mail {
    /// A frame.
    Frame {
        /// For whom.
        client: ClientId,
        /// What.
        frame: Vec<u8>,
    },
    /// The line is cut from the server's side.
    HungUp {
        /// Whose.
        client: ClientId,
        /// Why.
        why: Hangup,
    },
    /// The server in this seat died, and all its lines with it.
    Died {
        /// Whose.
        seat: usize,
    },
}

/// See the module.
#[derive(Debug)]
pub struct Servers {
    /// What they have in common.
    pub setting: Rc<Setting>,
    /// Who watches.
    pub oracle: Oracle,
    /// What waits for clients.
    pub mail: VecDeque<Mail>,
    /// Servers that lie to clients.
    pub liars: BTreeMap<usize, Tamper>,
    /// Answers to questions that came by another way than a session.
    pub answers: BTreeMap<u64, Answer>,
    /// How often servers wrote whole files: snapshots, but for the first segments.
    pub files_written: u64,
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
    pub mended: Vec<(Duration, usize, Mended)>,
    /// Servers that went on with a state of their peers: when, which, and the state's height.
    pub replaced: Vec<(Duration, usize, Height)>,
    /// Keys that were used.
    used: BTreeSet<usize>,
}

impl Servers {
    /// The servers of `setting`.
    #[must_use]
    pub fn new(setting: Rc<Setting>) -> Self {
        Self {
            oracle: Oracle::new(&setting, &[]),
            mail: VecDeque::new(),
            liars: BTreeMap::new(),
            answers: BTreeMap::new(),
            files_written: 0,
            loaded: (0, 0),
            openings: 0,
            followed: BTreeSet::new(),
            parted: Vec::new(),
            capsules: Vec::new(),
            mended: Vec::new(),
            replaced: Vec::new(),
            used: BTreeSet::new(),
            setting,
        }
    }

    fn watch_clocks(&mut self, scene: &Scene<'_, Self>) {
        self.oracle.laws.watch_clocks(scene.at, |seat| scene.wall(seat));
    }

    fn hand_to_client(&mut self, scene: &Scene<'_, Self>, client: ClientId, mut frame: Vec<u8>) {
        let seat = scene.seat;
        if let Ok(message) = decode_server(&frame) {
            if let ServerMessage::Receipt { receipt, .. } = &message {
                self.oracle.laws.saw_receipt(seat, &receipt.header, &Watched(scene.disk));
            }
            if let Some(tamper) = self.liars.get(&seat) {
                tamper(&message, &mut frame);
            }
        } else {
            self.oracle.blame(Some(seat), Law::Proof, "a client gets what is no frame");
        }
        self.mail.push_back(Mail::Frame { client, frame });
    }
}

impl Cluster for Servers {
    type Server = Server;

    fn peer(&self, seat: usize) -> PublicKey {
        self.setting.name(seat)
    }

    fn open(
        &mut self,
        seat: usize,
        now: Now,
        disk: &mut MemoryDisk,
    ) -> Result<Opened<Server>, String> {
        self.openings += 1;
        // A node leaves a mark beside a key before it uses it for the first time.
        let fresh = !self.used.contains(&seat);
        let start = Start { seat, life: self.openings, fresh };
        let opened = Server::open(&self.setting, start, now, disk)?;
        self.used.insert(seat);
        self.oracle.laws.saw_start(seat, &Watched(disk));
        Ok(opened)
    }

    fn stamp(frame: &Frame) -> [u8; 8] {
        let digest = blake3::hash(&frame.bytes);
        let mut stamp = [0; 8];
        stamp.copy_from_slice(&digest.as_bytes()[..8]);
        stamp
    }

    fn describe(frame: &Frame) -> String {
        match PeerMessage::decode(&frame.bytes) {
            Ok(PeerMessage::Agreement(message)) => format!("{message:?}"),
            Ok(PeerMessage::Submission(submission)) => {
                format!("act {} {:?}", submission.act.id(), submission.act.envelope)
            }
            Ok(PeerMessage::Entrance(word)) => format!("{:?}", word.entrance),
            Ok(PeerMessage::Ask { id, question }) => format!("question {id} {question:?}"),
            Ok(PeerMessage::Answer { id, .. }) => format!("answer {id}"),
            Err(error) => format!("no frame: {error}"),
        }
    }

    fn leaves(&mut self, scene: &mut Scene<'_, Self>, _: usize, frame: &Frame) -> Vec<Frame> {
        self.watch_clocks(scene);
        self.oracle.saw_frame(scene.seat, &frame.bytes, scene.disk);
        vec![frame.clone()]
    }

    fn told(&mut self, scene: &mut Scene<'_, Self>, report: Report) {
        let seat = scene.seat;
        self.watch_clocks(scene);
        match report {
            Report::ToClient { client, frame } => self.hand_to_client(scene, client, frame),
            Report::HungUp { client, why } => self.mail.push_back(Mail::HungUp { client, why }),
            Report::Applied(applied) => {
                self.oracle.saw_applied(scene.at, seat, &applied);
                if let Some(server) = scene.server {
                    self.oracle.check_bounds(seat, server);
                }
            }
            Report::Answer { token, answer } => {
                self.answers.insert(token, *answer);
            }
            Report::Traced { act, .. } => {
                self.followed.insert((act, seat));
            }
            Report::Loaded { reader: Reader::Peer(_), count } => self.loaded.0 += count,
            Report::Loaded { count, .. } => self.loaded.1 += count,
            Report::Exposed(server) => self.oracle.laws.saw_accusation(seat, server),
            Report::Again(applied) => self.oracle.saw_applied_again(seat, &applied),
            Report::Strayed(height) => self.oracle.saw_stray(seat, height),
            Report::Parted(why) => {
                if self.setting.flips.iter().all(|flip| flip.seat != seat) {
                    self.oracle.blame(Some(seat), Law::Root, format!("it doubts its state: {why}"));
                }
                self.parted.push((scene.at, seat));
            }
            Report::Capsule(bytes) => self.capsules.push((seat, bytes)),
            Report::Mended(report) => self.mended.push((scene.at, seat, *report)),
            Report::Replaced(height) => {
                self.oracle.saw_replaced(seat);
                self.replaced.push((scene.at, seat, height));
            }
            Report::Halted(why) => self.oracle.blame(Some(seat), Law::Halted, why),
        }
    }

    fn writes(&mut self, scene: &mut Scene<'_, Self>, change: &FileChange) {
        self.watch_clocks(scene);
        if let FileChange::Append(write) = change
            && let Some(append) = append(write, scene.disk, AGREEMENT_KIND)
        {
            self.oracle.laws.saw_write(scene.seat, &append);
        }
        self.files_written += u64::from(creates_file(change));
    }

    fn halted(&mut self, scene: &mut Scene<'_, Self>, reason: &str) {
        self.oracle.blame(Some(scene.seat), Law::Halted, reason);
    }

    fn died(&mut self, scene: &mut Scene<'_, Self>) {
        self.oracle.died(scene.seat, scene.disk);
        self.mail.push_back(Mail::Died { seat: scene.seat });
    }
}
