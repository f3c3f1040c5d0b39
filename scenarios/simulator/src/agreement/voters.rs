//! The cluster of a simulated sim: starts its servers, lets liars lie and partitions part, and shows
//! everything to the oracle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{Message, Record, ResourceCount};
use metatopia_oracle::{Law, Oracle};
use metatopia_types::{Digest, HeaderId, Height, Now, PublicKey, VoteKind};

use super::ambush::Ambush;
use super::ledger_setting::AgreementSetting;
use super::schedule::Schedule;
use super::voter::{AGREEMENT_KIND, AgreementReport, AgreementServer, StartState};
use crate::chance::{Dice, Span};
use crate::class::{Class, Fired};
use crate::cluster::{Cluster, ClusterOrder, ClusterView, StartedServer};
use crate::crash::UnsyncedWrites;
use crate::lent::LentDisk;
use crate::machine::FileChange;
use crate::stage::WatchedCluster;
use crate::villain::Villains;
use crate::watched::{WatchedDisk, append};

/// Turns that a liar looks back on.
const RECENT: usize = 32;

/// A decision that a server told of for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstDecision {
    /// When the decision came.
    pub at: Duration,
    /// The seat that decided.
    pub seat: usize,
    /// The height that was decided.
    pub height: u64,
    /// The round its turn was built in.
    pub round: u32,
}

/// See the module.
#[derive(Debug)]
pub struct AgreementServers {
    /// What they have in common.
    pub setting: Arc<AgreementSetting>,
    /// The oracle that watches.
    pub oracle: Oracle,
    /// Where a server with an empty disk starts; at genesis if it is not here.
    pub starts: BTreeMap<usize, StartState>,
    /// A partition that waits for its moment.
    pub ambush: Option<Ambush>,
    /// Who reaches whom in which round.
    pub schedule: Option<Schedule>,
    /// What was told, in order, each height once per seat.
    pub decided: Vec<FirstDecision>,
    /// Honest servers die with this probability, in parts per million, right after a vote left.
    pub skittish: Option<(Dice, u32)>,
    /// Seats that are expected to stop for good.
    pub may_halt: Vec<usize>,
    /// Why servers stopped.
    pub halts: Vec<(usize, String)>,
    /// Proposals with the round of an earlier quorum of prevotes that left honest servers.
    pub proposed_again: u64,
    /// Faults that liars and their copies brought about.
    pub fired: Fired,
    villains: Villains,
    /// The turn of which a server had some parts of another one when it last asked it for the rest.
    incomplete: BTreeMap<(usize, usize), HeaderId>,
}

impl AgreementServers {
    /// The servers of `setting`, some of which lie.
    #[must_use]
    pub fn new(setting: Arc<AgreementSetting>) -> Self {
        let seats: Vec<usize> = setting.liars.iter().map(|(seat, _)| *seat).collect();
        Self {
            oracle: Oracle::new(setting.founding(), &seats),
            starts: BTreeMap::new(),
            ambush: None,
            schedule: None,
            decided: Vec::new(),
            skittish: None,
            may_halt: Vec::new(),
            halts: Vec::new(),
            proposed_again: 0,
            fired: Fired::default(),
            villains: Villains::of(&setting),
            incomplete: BTreeMap::new(),
            setting,
        }
    }

    /// Returns where a server starts that knows nothing but genesis.
    #[must_use]
    pub fn genesis_start(&self, fresh_key: bool) -> StartState {
        let (base, state) = (self.setting.genesis_base(), self.setting.genesis_state());
        StartState { base, state, fresh_key }
    }

    /// Returns where the server in `seat` starts if its disk is empty.
    #[must_use]
    pub fn start_of(&self, seat: usize) -> StartState {
        let start = self.starts.get(&seat).cloned();
        start.unwrap_or_else(|| self.genesis_start(true))
    }

    fn watch_clocks(&mut self, scene: &ClusterView<'_, Self>) {
        self.oracle.watch_clocks(scene.at, |seat| scene.wall(seat));
    }

    /// A vote that left for one peer and for no other is the worst moment to die.
    fn perhaps_die(&mut self, scene: &mut ClusterView<'_, Self>, message: &Message) {
        let Some((dice, ppm)) = &mut self.skittish else {
            return;
        };
        if matches!(message, Message::Vote(_)) && dice.happens(*ppm) {
            let tail =
                dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn, UnsyncedWrites::Kept]);
            let down = dice.within(Span::ms(0, 120));
            let seat = scene.seat;
            scene.order(Duration::ZERO, ClusterOrder::Crash { seat, tail, down });
        }
    }

    /// Checks that what an honest server holds is bounded, whatever others say and however long a height
    /// takes.
    fn check_bounds(&mut self, seat: usize, held: &[ResourceCount]) {
        for ResourceCount { what, count, most } in held.iter().filter(|held| held.count > held.most)
        {
            let what = || format!("{count} {what}, at most {most}");
            self.oracle.blame(Some(seat), Law::Bounds, what);
        }
    }

    /// Notes when somebody who asked for the rest of a turn gets some of it.
    fn note_parts(&mut self, from: usize, to: usize, message: &Message) {
        match message {
            Message::Want(want) if want.have != 0 => {
                self.incomplete.insert((from, to), want.header);
            }
            Message::Part(part) if self.incomplete.get(&(to, from)) == Some(&part.header) => {
                self.incomplete.remove(&(to, from));
                self.fired.note(Class::LostPart);
            }
            _ => {}
        }
    }

    fn note_villains_turn(&mut self, seat: usize, record: &Record) {
        if let Record::Turn(turn) = record {
            let mut recent: Vec<_> = self.oracle.history().newest(RECENT).cloned().collect();
            recent.reverse();
            self.villains.note_turn(&self.setting, seat, (turn, &recent), &mut self.oracle);
        }
    }
}

impl Cluster for AgreementServers {
    type Server = AgreementServer;

    fn peer(&self, seat: usize) -> PublicKey {
        self.setting.name(seat)
    }

    fn open(
        &mut self,
        seat: usize,
        now: Now,
        disk: &mut LentDisk,
    ) -> Result<StartedServer<AgreementServer>, String> {
        let start = self.start_of(seat);
        let opened = AgreementServer::open(&self.setting, seat, &start, now, disk);
        let opened = disk.outlived(opened)?;
        if self.oracle.is_honest(seat) {
            self.oracle.saw_start(seat, &WatchedDisk(disk.disk()));
        }
        Ok(opened)
    }

    fn stamp(message: &Message) -> [u8; 8] {
        let bytes = |digest: &[u8]| {
            let mut stamp = [0; 8];
            stamp.copy_from_slice(&digest[..8]);
            stamp
        };
        match message {
            Message::Proposal(signed) => bytes(&signed.signature.to_bytes()),
            Message::Vote(signed) => bytes(&signed.signature.to_bytes()),
            Message::Part(part) => {
                let mut stamp = bytes(part.header.bytes());
                stamp[0] ^= part.index;
                stamp
            }
            Message::Decision(decision) => bytes(decision.id().bytes()),
            other => bytes(&Digest::of("metatopia message stamp v1", &other.encode()).0),
        }
    }

    fn describe(message: &Message) -> String {
        let short = |id: &Option<HeaderId>| id.map_or("nil".to_owned(), |id| format!("{:?}", id.0));
        match message {
            Message::Vote(v) => {
                let v = &v.message;
                let kind = if v.kind == VoteKind::Prevote { "prevote" } else { "precommit" };
                format!("{kind} {}/{} {} by {:?}", v.height, v.round, short(&v.header), v.voter)
            }
            Message::Proposal(p) => {
                let p = &p.message;
                let again = p.valid_round.map_or(String::new(), |r| format!(" again from {r}"));
                format!("proposal {}/{} {:?}{again}", p.height, p.round, p.header.0)
            }
            Message::Decision(d) => format!("decision {} {:?}", d.height(), d.id().0),
            other => format!("{other:?}"),
        }
    }

    fn leaves(
        &mut self,
        scene: &mut ClusterView<'_, Self>,
        to: usize,
        frame: &Message,
    ) -> Vec<Message> {
        let from = scene.seat;
        if self.oracle.is_honest(from) {
            self.watch_clocks(scene);
            self.oracle.saw_message(from, frame, &WatchedDisk(scene.disk));
            let again = matches!(frame, Message::Proposal(p) if p.message.valid_round.is_some());
            self.proposed_again += u64::from(again);
            self.perhaps_die(scene, frame);
        }
        if self.ambush.as_mut().is_some_and(|ambush| !ambush.lets_pass(scene.at, from, to, frame)) {
            return vec![];
        }
        if let (Some(schedule), Some(server)) = (&self.schedule, scene.server)
            && !schedule.connects(server.agreement().height(), server.agreement().round(), from, to)
        {
            return vec![];
        }
        if self.setting.is_copy(from) {
            self.fired.note(Class::Twin);
        }
        let watch = (&mut self.oracle, &mut self.fired);
        let said = self.villains.twist(&self.setting, (from, to), frame, watch);
        let frames = said.unwrap_or_else(|| vec![frame.clone()]);
        frames.iter().for_each(|frame| self.note_parts(from, to, frame));
        frames
    }

    fn told(&mut self, scene: &mut ClusterView<'_, Self>, report: AgreementReport) {
        if !self.oracle.is_honest(scene.seat) {
            return;
        }
        self.watch_clocks(scene);
        match report {
            AgreementReport::Decided(decision) => {
                let height = decision.height().0;
                let seat = scene.seat;
                let known = |d: &&FirstDecision| d.seat == seat && d.height == height;
                if !self.decided.iter().rev().take(64).any(|d| known(&d)) {
                    let round = decision.turn.header.round.0;
                    self.decided.push(FirstDecision { at: scene.at, seat, height, round });
                }
                self.oracle.saw_decision(seat, &decision, &WatchedDisk(scene.disk));
            }
            AgreementReport::Evidence(evidence) => {
                self.oracle.saw_evidence(scene.seat, &evidence);
            }
        }
    }

    fn writes(&mut self, scene: &mut ClusterView<'_, Self>, change: &FileChange) {
        let FileChange::Append(write) = change else {
            return;
        };
        let Some(append) = append(write, scene.disk, AGREEMENT_KIND) else {
            return;
        };
        if self.oracle.is_honest(scene.seat) {
            self.watch_clocks(scene);
            if let Some(server) = scene.server {
                self.check_bounds(scene.seat, &server.agreement().held());
            }
            self.oracle.saw_write(scene.seat, &append);
        } else if let Some(record) = append.payload.and_then(|bytes| Record::decode(bytes).ok()) {
            self.note_villains_turn(scene.seat, &record);
        }
    }

    fn halted(&mut self, scene: &mut ClusterView<'_, Self>, reason: &str) {
        self.watch_clocks(scene);
        self.halts.push((scene.seat, reason.to_owned()));
        if self.oracle.is_honest(scene.seat) && !self.may_halt.contains(&scene.seat) {
            self.oracle.blame(Some(scene.seat), Law::Halted, || reason.to_owned());
        }
    }

    fn died(&mut self, scene: &mut ClusterView<'_, Self>) {
        if self.oracle.is_honest(scene.seat) {
            self.oracle.saw_death(scene.seat, &WatchedDisk(scene.disk));
        }
    }
}

impl WatchedCluster for AgreementServers {
    fn laws(&self) -> &Oracle {
        &self.oracle
    }

    fn laws_mut(&mut self) -> &mut Oracle {
        &mut self.oracle
    }

    fn height(server: &AgreementServer) -> Height {
        server.height()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AgreementServers, AgreementSetting, Law, ResourceCount};
    use crate::signatures::SignatureKind;

    #[test]
    fn what_a_server_holds_is_held_against_its_bound() {
        let setting = AgreementSetting::new(SignatureKind::StandIn, 4, 4);
        let mut servers = AgreementServers::new(Arc::new(setting));
        let held = |what, count| ResourceCount { what, count, most: 4 };

        servers.check_bounds(2, &[held("peers", 4), held("decisions ahead", 5)]);

        let [fault] = servers.oracle.faults() else { panic!("{:?}", servers.oracle.faults()) };
        assert_eq!((fault.seat, fault.law), (Some(2), Law::Bounds));
        assert_eq!(fault.what, "5 decisions ahead, at most 4");
    }
}
