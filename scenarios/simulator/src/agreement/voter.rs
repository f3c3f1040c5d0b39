//! One server: agreement, its application and its log, joined the way a replica joins them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{
    Agreement, AgreementEffect as Wish, AgreementInput as Event, Base, Decision, JoinPack, Message,
    Recipients as Whom, Record, RecordPosition,
};
use metatopia_store::{Disk, Identity, LogWriter, ReadDisk, claim_identity, recover_broken};
use metatopia_types::{Digest, Evidence, Height, Now, PublicKey, SignedEnvelope, wire};
use serde::{Deserialize, Serialize};

use super::ledger::{LedgerDouble, LedgerState};
use super::ledger_setting::{AgreementSetting, Unlogged};
use crate::cluster::StartedServer;
use crate::machine::{
    DurableMark, FileChange, FrameRecipients, Machine, MachineEffect, MachineInput,
};

/// A record of the log that says where to start from.
pub(crate) const START_KIND: u8 = 1;
/// A record of the log that agreement wrote.
pub(crate) const AGREEMENT_KIND: u8 = 2;

/// Largest encoded start; far above what a test reaches.
const START_BYTES_MAX: usize = 1 << 20;

/// States that a server keeps for those who join.
const STATES_KEPT: u64 = 16;

/// Segments of simulated logs are short, so that logs have several.
const SEGMENT_BYTES: u64 = 64 * 1_024;

/// Where a server starts from: genesis, a state it fetched, or one it wrote down itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartState {
    /// Where agreement starts from.
    pub base: Base,
    /// For the application.
    pub state: LedgerState,
    /// Has this server's key signed nothing before this log began?
    pub fresh_key: bool,
}

/// What servers tell the outside.
#[derive(Debug, Clone)]
pub enum AgreementReport {
    /// A turn is decided; clients may have receipts.
    Decided(Arc<Decision>),
    /// A server signed two things at once.
    Evidence(Evidence),
}

/// Wakes an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgreementTimer;

/// A decided turn is to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply(pub Height);

/// A server of a simulated sim.
#[derive(Debug)]
pub struct AgreementServer {
    agreement: Agreement,
    ledger: LedgerDouble,
    writer: LogWriter,
    start: StartState,
    snapshot_every: Option<u64>,
    name: PublicKey,
    unlogged: Option<Unlogged>,
    decisions: BTreeMap<Height, Arc<Decision>>,
    states: BTreeMap<Height, LedgerState>,
    /// The moment of the timer that was set last.
    armed: Option<Duration>,
    effects: VecDeque<MachineEffect<Self>>,
}

impl AgreementServer {
    /// Starts the server in `seat` from its disk; an empty one begins at `start`.
    ///
    /// # Errors
    /// What the operator would read.
    pub fn open(
        setting: &AgreementSetting,
        seat: usize,
        start: &StartState,
        now: Now,
        disk: &mut dyn Disk,
    ) -> Result<StartedServer<Self>, String> {
        let identity = Identity { sim: setting.sim, server: setting.name(seat) };
        claim_identity(disk, &identity).map_err(|e| e.to_string())?;
        let recovered = recover_broken(disk, setting.sim, setting.own.log_controls);
        let recovered = recovered.map_err(|e| e.to_string())?;
        let mut writer = recovered.writer.with_segment_bytes(SEGMENT_BYTES);
        if writer.end().0 == 0 {
            // The first record is durable before anything else happens.
            let write = writer.append(START_KIND, None, &wire::encode(start));
            let write = write.map_err(|e| e.to_string())?;
            write.perform(disk).map_err(|e| e.to_string())?;
            let request = writer.sync_request().expect("a segment has begun");
            request.perform(disk).map_err(|e| e.to_string())?;
            writer.mark_synced(request.end);
        }
        let log = AgreementLog::read(&writer, disk)?;
        let mut ledger = setting.ledger(seat, log.start.state.clone());
        let config = setting.config(seat, log.start.fresh_key);
        let base = log.start.base.clone();
        let agreement = Agreement::open_broken(
            config,
            setting.own.controls,
            base,
            log.records,
            now,
            &mut ledger,
        )
        .map_err(|e| e.to_string())?;
        let mut server = Self {
            agreement,
            ledger,
            writer,
            start: log.start,
            snapshot_every: setting.own.snapshot_every,
            name: setting.name(seat),
            unlogged: setting.own.unlogged,
            decisions: log.decisions,
            states: BTreeMap::new(),
            armed: None,
            effects: VecDeque::new(),
        };
        server.absorb(now);
        Ok(StartedServer { server, durable: DurableMark(RecordPosition::START.0) })
    }

    /// The agreement inside.
    #[must_use]
    pub const fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The application inside.
    #[must_use]
    pub const fn ledger(&self) -> &LedgerDouble {
        &self.ledger
    }

    /// The last decided height.
    #[must_use]
    pub fn height(&self) -> Height {
        self.agreement.height().minus(1).unwrap_or_default()
    }

    /// Returns what a joiner needs, for the newest state that has a proof: the proof, and the state.
    #[must_use]
    pub fn serve_join(&self) -> Option<(JoinPack, LedgerState)> {
        self.states.iter().rev().find_map(|(height, state)| {
            self.agreement.join_pack(*height).map(|pack| (pack, state.clone()))
        })
    }

    /// Applies all turns that are decided and not applied yet, without waiting.
    pub(crate) fn apply_all(&mut self, now: Now) {
        while let Some(effect) = self.effects.pop_front() {
            if let MachineEffect::Begin(Apply(_)) = effect {
                self.apply(now);
            }
        }
    }

    fn tell_agreement(&mut self, now: Now, event: Event) {
        self.agreement.handle(now, &mut self.ledger, event);
        self.absorb(now);
    }

    /// Turns what agreement wants into what the world does.
    fn absorb(&mut self, now: Now) {
        while let Some(wish) = self.agreement.poll() {
            self.fulfil(now, wish);
        }
        let deadline = self.agreement.deadline();
        if deadline != self.armed {
            self.armed = deadline;
            self.effects
                .extend(deadline.map(|at| MachineEffect::SetTimer { id: AgreementTimer, at }));
        }
    }

    fn fulfil(&mut self, now: Now, wish: Wish) {
        match wish {
            Wish::Send { to, message, after } => {
                let to = match to {
                    Whom::All => FrameRecipients::All,
                    Whom::One(name) => FrameRecipients::One(name),
                };
                self.effects.push_back(MachineEffect::Send {
                    to,
                    frame: message,
                    after: DurableMark(after.0),
                });
            }
            Wish::Append { record, .. } => {
                if !self.unlogged.is_some_and(|all| all.leaves_out(&record, self.name)) {
                    self.append(AGREEMENT_KIND, &record.encode());
                }
            }
            Wish::Sync(position) => {
                let request = self.writer.sync_request().expect("a log begins with its start");
                self.effects
                    .push_back(MachineEffect::Sync { request, mark: DurableMark(position.0) });
            }
            Wish::Decided { decision, after } => {
                let height = decision.height();
                self.decisions.insert(height, Arc::clone(&decision));
                self.effects.push_back(MachineEffect::Begin(Apply(height)));
                let report = AgreementReport::Decided(decision);
                self.effects.push_back(MachineEffect::Tell { report, after: DurableMark(after.0) });
            }
            Wish::Load { to, from, count } => {
                let wanted = (from.0..).take(count as usize).map(Height);
                let found = wanted.map_while(|height| self.decisions.get(&height));
                let decisions = found.map(|decision| (**decision).clone()).collect();
                self.agreement.handle(now, &mut self.ledger, Event::Loaded { to, decisions });
            }
            Wish::Evidence(evidence) => {
                let report = AgreementReport::Evidence(evidence);
                self.effects.push_back(MachineEffect::Tell { report, after: DurableMark(0) });
            }
            Wish::Halt(why) => self.effects.push_back(MachineEffect::Halt(why.to_string())),
        }
    }

    fn append(&mut self, kind: u8, payload: &[u8]) {
        let write = self.writer.append(kind, None, payload);
        let write = write.expect("agreement's records are bounded, and have no tags");
        self.effects.push_back(MachineEffect::Change(FileChange::Append(write)));
    }

    fn apply(&mut self, now: Now) {
        let applied = self.ledger.apply_next().expect("only decided turns are applied");
        let height = applied.height;
        self.states.insert(height, self.ledger.state().clone());
        self.states.retain(|old, _| old.plus(STATES_KEPT) >= height);
        self.tell_agreement(now, Event::Applied(applied));
        let due = self.snapshot_every.is_some_and(|every| height.0.is_multiple_of(every));
        if due
            && height > self.start.base.height
            && let Some(base) = self.agreement.base(height)
        {
            let state = self.ledger.state().clone();
            self.start = StartState { base, state, fresh_key: self.start.fresh_key };
            self.append(START_KIND, &wire::encode(&self.start));
        }
    }
}

impl Machine for AgreementServer {
    type Peer = PublicKey;
    type Frame = Message;
    type Timer = AgreementTimer;
    type Job = Apply;
    type Request = SignedEnvelope;
    type Report = AgreementReport;

    fn handle(&mut self, now: Now, input: MachineInput<Self>) {
        match input {
            MachineInput::Frame { from, frame } => {
                self.tell_agreement(now, Event::Frame { from, message: frame });
            }
            MachineInput::Timer(AgreementTimer) => {
                // A timer that was overtaken by a nearer one, or by a later deadline, is not due.
                if self.agreement.deadline().is_some_and(|at| at <= now.monotonic) {
                    self.armed = None;
                    self.tell_agreement(now, Event::Wake);
                }
            }
            MachineInput::Synced { mark, request } => {
                self.writer.mark_synced(request.end);
                self.tell_agreement(now, Event::Synced(RecordPosition(mark.0)));
            }
            MachineInput::Done(Apply(_)) => self.apply(now),
            MachineInput::PeerUp(peer) => self.tell_agreement(now, Event::PeerUp(peer)),
            MachineInput::PeerDown(peer) => self.tell_agreement(now, Event::PeerDown(peer)),
            MachineInput::Request(act) => self.ledger.submit(act),
        }
    }

    fn poll(&mut self) -> Option<MachineEffect<Self>> {
        self.effects.pop_front()
    }

    fn digest(&self) -> Digest {
        let applied = self.ledger.state().root();
        Digest::of(
            "metatopia simulated server v1",
            &wire::encode(&(self.agreement.digest(), applied)),
        )
    }
}

/// What a log says.
#[derive(Debug)]
pub(crate) struct AgreementLog {
    /// The last place to start from.
    pub(crate) start: StartState,
    /// Everything agreement wrote, in order.
    pub(crate) records: Vec<Record>,
    /// The decided turns among it.
    pub(crate) decisions: BTreeMap<Height, Arc<Decision>>,
}

impl AgreementLog {
    /// Reads the log of a server.
    pub(crate) fn read(writer: &LogWriter, disk: &dyn ReadDisk) -> Result<Self, String> {
        let mut start = None;
        let (mut records, mut turns, mut decisions) = (vec![], BTreeMap::new(), BTreeMap::new());
        for stored in writer.index().iter(disk) {
            let stored = stored.map_err(|e| e.to_string())?;
            if stored.kind == START_KIND {
                let decoded = wire::decode::<StartState>(&stored.payload, START_BYTES_MAX);
                start = Some(decoded.map_err(|e| e.to_string())?);
                continue;
            }
            let record = Record::decode(&stored.payload).map_err(|e| e.to_string())?;
            match &record {
                Record::Turn(turn) => drop(turns.insert(turn.id(), Arc::clone(turn))),
                Record::Decided(certificate) => {
                    if let Some(turn) = turns.get(&certificate.header).map(Arc::clone) {
                        let decision = Decision { certificate: certificate.clone(), turn };
                        decisions.insert(certificate.height, Arc::new(decision));
                        turns.retain(|_, turn| turn.header.height > certificate.height);
                    }
                }
                _ => {}
            }
            records.push(record);
        }
        let start = start.ok_or("the log does not say where it starts")?;
        Ok(Self { start, records, decisions })
    }
}
