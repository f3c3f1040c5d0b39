//! A scenario while it is played.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{JoinPack, JoinPackError};
use metatopia_oracle::Law;
use metatopia_store::memory::MemoryDisk;
use metatopia_store::recover;
use metatopia_types::{Act, Height, Lane, Look, PublicKey, Sign, Trust};

use super::ambush::Ambush;
use super::filler;
use super::ledger::{LedgerState, led_by};
use super::ledger_setting::{AgreementSetting, LedgerSetting};
use super::outcome::ScenarioOutcome;
use super::scenario::Scenario;
use super::voter::{AgreementLog, AgreementServer, StartState};
use super::voters::AgreementServers;
use crate::chance::Dice;
use crate::cluster::ClusterOrder;
use crate::stage::ClusterStage;
use crate::world::Simulator;

/// Players that submit acts.
const PLAYERS: u64 = 3;

/// A scenario that is being played.
#[derive(Debug)]
pub struct AgreementStage {
    scenario: Scenario,
    setting: Arc<AgreementSetting>,
    /// The world it is played in.
    pub world: Simulator<AgreementServers>,
    sequences: BTreeMap<PublicKey, u64>,
    healed_at: Option<Duration>,
}

impl AgreementStage {
    pub(crate) fn new(
        scenario: Scenario,
        setting: Arc<AgreementSetting>,
        world: Simulator<AgreementServers>,
    ) -> Self {
        let mut stage =
            Self { scenario, setting, world, sequences: BTreeMap::new(), healed_at: None };
        stage.submit_acts();
        stage
    }

    fn submit_acts(&mut self) {
        let mut dice = Dice::new(self.scenario.seed.number, "workload");
        let (count, span) = self.scenario.acts;
        let nanos = u64::try_from(span.as_nanos()).expect("a run is short");
        for number in 0..count {
            let at = Duration::from_nanos(nanos / count.max(1) * number);
            let player = number % PLAYERS;
            let look = Look { color: number as u32, ..Look::default() };
            let long = self.scenario.long_acts.then(|| filler::act(Lane(number + 1)));
            let act = long.unwrap_or(Act::SetLook(look));
            let act = self.setting.act(player, number + 1, Height(1_000), act);
            let seat = dice.index(self.scenario.founders);
            self.world.request(at, seat, act.clone());
            // A client that heard nothing asks another server with the same bytes.
            if dice.below(3) == 0 {
                let other = dice.index(self.scenario.founders);
                self.world.request(at + Duration::from_millis(150), other, act);
            }
        }
    }

    /// Submits an act of a server, the admin or a player to every server that runs.
    pub fn submit_everywhere(&mut self, key: &dyn Sign, act: Act) {
        let seq = self.sequences.entry(key.public()).or_insert(0);
        *seq += 1;
        let seq = *seq;
        // The last heights it may name, whatever the world's height is now.
        let top = self.world.top();
        let last_valid = Height(top + 900);
        let act = self.setting.envelope(key, Lane(0), seq, last_valid, act);
        for seat in 0..self.world.seats() {
            self.world.request(self.world.now(), seat, act.clone());
        }
    }

    /// Returns what the servers have in common.
    #[must_use]
    pub fn setting(&self) -> &Arc<AgreementSetting> {
        &self.setting
    }

    /// The server that is furthest.
    #[must_use]
    pub fn leader(&self) -> Option<usize> {
        let height = |seat: &usize| self.world.server(*seat).map(AgreementServer::height);
        self.world.honest().filter(|seat| height(seat).is_some()).max_by_key(height)
    }

    /// Plays until every honest server that runs or will start again has decided `height`. Returns
    /// whether that came to be.
    pub fn run_to_height(&mut self, height: u64, limit: Duration) -> bool {
        self.world.run_while(limit, |world| !all_decided(world, height))
    }

    /// Plays until one server has decided `height`, or until `limit`.
    pub fn run_to_top(&mut self, height: u64, limit: Duration) {
        self.world.run_while(limit, |world| world.furthest() < Some(height));
    }

    /// The same, for so long from now. Returns whether that came to be, or a law was broken.
    pub fn run_to_top_within(&mut self, height: u64, span: Duration) -> bool {
        let limit = self.world.now() + span;
        self.world.run_while(limit, |world| {
            let servers = world.honest().filter_map(|seat| world.server(seat));
            let top = servers.map(|server| server.height().0).max();
            top < Some(height) && world.is_sound()
        })
    }

    /// The last height that an honest server has decided.
    #[must_use]
    pub fn top(&self) -> u64 {
        let height =
            |seat| self.world.server(seat).map(|server: &AgreementServer| server.height().0);
        self.leader().and_then(height).unwrap_or(0)
    }

    /// Starts a second server from what would be left of the disk of `seat` if the power failed
    /// now, and lets it apply all it has decided.
    ///
    /// # Errors
    /// What differs from what all servers have computed.
    pub fn read_again(&self, seat: usize) -> Result<(), String> {
        let mut disk = self.world.salvaged(seat);
        let now = self.world.clock(seat).read(self.world.now());
        let start = self.world.cluster.start_of(seat);
        let opened = AgreementServer::open(&self.setting, seat, &start, now, &mut disk)?;
        let mut server = opened.server;
        server.apply_all(now);
        let state = server.ledger().state();
        match self.world.cluster.oracle.history().root(state.height) {
            Some(root) if root != state.root() => {
                Err(format!("read again, the root after {} is another", state.height))
            }
            _ => Ok(()),
        }
    }

    /// Plays until every server has decided `height`. It is a fault if that takes until `limit`.
    pub fn until_height(&mut self, height: u64, limit: Duration) {
        if !self.run_to_height(height, limit) {
            let heights = self.world.heights();
            let what = format!("heights {heights:?} where {height} was due");
            self.world.blame(None, Law::Stuck, what);
        }
    }

    /// Plays until the last height is `heights` further. It is a fault if that takes longer than
    /// `limit` from now.
    pub fn go_on(&mut self, heights: u64, limit: Duration) {
        let top = self.world.top();
        self.until_height(top + heights, self.world.now() + limit);
    }

    /// Ends all trouble: faults of links and disks, partitions, ambushes, schedules.
    pub fn heal(&mut self) {
        if let Some(ambush) = &mut self.world.cluster.ambush {
            ambush.end();
        }
        self.world.cluster.schedule = None;
        self.world.cluster.skittish = None;
        self.healed_at = Some(self.world.now());
        self.world.heal();
    }

    /// A state for a joiner from the server in `from`, checked against what the joiner trusts.
    ///
    /// # Errors
    /// Why the joiner does not believe it.
    pub fn checked_start(
        &self,
        pack: &JoinPack,
        state: LedgerState,
        fresh_key: bool,
    ) -> Result<StartState, JoinPackError> {
        let trust = Trust { height: Height(0), validators: self.setting.genesis_set() };
        let checkpoint = pack.verify(self.setting.sim, &trust, &*self.setting.verifier)?;
        assert_eq!(state.root(), checkpoint.root, "the fetched state is not the proved one");
        let set = |ahead| state.roster.set(state.height.plus(ahead));
        let sets = [1, 2, 3].map(|ahead| set(ahead).expect("a roster knows three sets"));
        let leaders = self.setting.own.leaders.as_ref();
        let sets = sets.map(|set| leaders.map_or_else(|| set.clone(), |all| led_by(set, all)));
        let base = checkpoint.base(sets)?;
        Ok(StartState { base, state, fresh_key })
    }

    /// The newest state that an honest server proves.
    fn newest_proved(&self) -> Option<(JoinPack, LedgerState)> {
        self.world
            .honest()
            .filter_map(|seat| self.world.server(seat)?.serve_join())
            .max_by_key(|(_, state)| state.height)
    }

    /// Returns whether a joiner can learn from somebody where to start. Right after all have lost power
    /// nobody proves a state, and a server that began at a state does not have the turns from genesis either.
    #[must_use]
    pub fn helps_joiners(&self) -> bool {
        let from_genesis =
            || self.world.cluster.starts.values().all(|start| start.base.height == Height(0));
        self.leader().is_some() && (self.newest_proved().is_some() || from_genesis())
    }

    /// Starts the server in `seat` for the first time, from the newest state that is proved, or from genesis
    /// while nobody can prove any. Returns after which height it starts.
    ///
    /// # Errors
    /// Why it does not believe it.
    pub fn join(&mut self, seat: usize, fresh_key: bool) -> Result<u64, JoinPackError> {
        let start = match self.newest_proved() {
            Some((pack, state)) => self.checked_start(&pack, state, fresh_key)?,
            None => self.world.cluster.genesis_start(fresh_key),
        };
        let height = start.base.height.0;
        self.world.cluster.starts.insert(seat, start);
        self.world.cluster.oracle.saw_state_taken(seat, Height(height));
        self.world.plan(self.world.now(), ClusterOrder::Start(seat));
        Ok(height)
    }

    /// Takes the disk of a server away, with all it remembers of what it signed.
    pub fn lose_disk(&mut self, seat: usize) {
        self.world.plan(self.world.now(), ClusterOrder::Kill(seat));
        self.world.run_until(self.world.now());
        *self.world.disk_mut(seat) = MemoryDisk::new();
        self.world.cluster.oracle.forget_disk(seat);
    }

    /// Reads every log once more, lets the oracle look at them, and closes the books.
    #[must_use]
    pub fn finish(mut self) -> ScenarioOutcome {
        let mut logs = BTreeMap::new();
        for seat in 0..self.world.seats() {
            if !self.world.cluster.oracle.is_honest(seat) || self.world.server(seat).is_none() {
                continue;
            }
            // Even if the power failed everywhere at this very moment.
            let mut disk = self.world.salvaged(seat);
            let log = recover(&mut disk, self.setting.sim)
                .map_err(|e| e.to_string())
                .and_then(|recovered| AgreementLog::read(&recovered.writer, &disk));
            match log {
                Ok(log) => drop(logs.insert(seat, log.decisions)),
                Err(what) => self.world.cluster.oracle.blame(Some(seat), Law::Lost, || what),
            }
        }
        self.world.cluster.oracle.close(self.world.now(), &logs);
        let cluster = &self.world.cluster;
        let mut fired = self.world.fired();
        fired.add(&cluster.fired);
        ScenarioOutcome {
            fired,
            heights: self.world.heights(),
            crashes: self.world.crashes(),
            healed_at: self.healed_at,
            events: self.world.trace().events(),
            took: self.world.now(),
            faults: cluster.oracle.faults().to_vec(),
            evidence: cluster.oracle.evidence().clone(),
            decided: cluster.decided.clone(),
            proposed_again: cluster.proposed_again,
            sprung: cluster.ambush.as_ref().map_or(0, Ambush::sprung),
            halts: cluster.halts.clone(),
            acts: cluster.oracle.history().turns().map(|turn| turn.body.acts().len()).sum(),
            steps: (0..self.world.seats()).map(|seat| self.world.steps(seat)).collect(),
            digest: self.world.digest(),
            history: self.world.trace().lines().map(str::to_owned).collect(),
            scenario: self.scenario,
        }
    }
}

impl ClusterStage for AgreementStage {
    type Cluster = AgreementServers;
    type Own = LedgerSetting;

    fn world(&self) -> &Simulator<AgreementServers> {
        &self.world
    }

    fn world_mut(&mut self) -> &mut Simulator<AgreementServers> {
        &mut self.world
    }

    fn shared(&self) -> &AgreementSetting {
        &self.setting
    }

    fn play_until(&mut self, until: Duration) {
        self.world.run_while(until, Simulator::is_sound);
    }

    fn reached(&self) -> u64 {
        self.top()
    }

    fn check_disk(&mut self, seat: usize) {
        if let Err(what) = self.read_again(seat) {
            self.world.blame(Some(seat), Law::Restored, what);
        }
    }
}

fn all_decided(world: &Simulator<AgreementServers>, height: u64) -> bool {
    let mut counted = 0;
    for seat in world.honest().filter(|seat| world.is_wanted(*seat)) {
        counted += 1;
        if world.server(seat).is_none_or(|server| server.height().0 < height) {
            return false;
        }
    }
    counted > world.cluster.setting.founders / 3
}
