//! After the faults: the world must go on, and in time.

use std::time::Duration;

use metatopia_consensus::Patience;
use metatopia_oracle::{Law, Oracle};
use metatopia_types::{Height, Round, SignedEnvelope};

use crate::cluster::Cluster;
use crate::conditions::Conditions;
use crate::stage::{ClusterStage, WatchedCluster as _};
use crate::swarm_run::{SwarmLevel, SwarmRun};

/// How often it is looked whether all have caught up.
const LOOK: Duration = Duration::from_millis(100);

/// Between two looks at a world that goes on.
const LATER_LOOK: Duration = Duration::from_millis(500);

/// A server that is so many turns behind the furthest is not behind.
pub(crate) const NEAR: u64 = 3;

/// Turns that are under way when an act comes, and hold what came before: the one that is voted on,
/// and the one that was promised for the next height by who has precommitted.
pub(crate) const UNDER_WAY: u64 = 2;

/// Within so many turns after everybody caught up everybody votes: a second, where four turns were the
/// most that anybody needed.
const TO_VOTE: u64 = 20;

/// What a server needs, beside the waits of agreement, until it takes part again: it says its votes
/// again, and looks around whether others are ahead.
const SETTLE: Duration = Duration::from_millis(1_000);

/// How the world went on after its faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultRecovery {
    /// From the end of the faults to a new turn.
    pub turn: Duration,
    /// What it might have taken.
    pub turn_bound: Duration,
    /// From the end of the faults until nobody was behind.
    pub caught_up: Duration,
    /// Turns until an act that all servers knew was decided.
    pub act: u64,
}

/// The servers of a level.
type ServerOf<L> = <<<L as SwarmLevel>::Stage as ClusterStage>::Cluster as Cluster>::Server;

/// What a level has of its own in the calm.
pub(crate) trait CalmLevel: SwarmLevel {
    /// Stops all faults, and waits until everybody could know. Returns from when on the world must go on.
    fn heal(run: &mut SwarmRun<Self>) -> Duration;

    /// Returns in which round a server is.
    fn round(server: &ServerOf<Self>) -> Option<Round>;

    /// Returns how long links need to be in order again.
    fn links(_: Patience) -> Duration {
        Duration::ZERO
    }

    /// Returns acts that wait at the server in a seat, and that it must get decided.
    fn waiting(run: &SwarmRun<Self>, seat: usize) -> Option<Vec<SignedEnvelope>>;

    /// Returns the honest servers that have to vote.
    fn reliable(run: &SwarmRun<Self>) -> Vec<usize> {
        run.voters()
    }

    /// Plays until more is decided than this, or a law is broken, and no longer than `limit`.
    fn await_turn(stage: &mut Self::Stage, last: Height, limit: Duration);

    /// Returns by how many turns the last one is behind, of those who are, while this is decided.
    fn missed(run: &SwarmRun<Self>, last: Height) -> u64;

    /// Helps those who need it to catch up.
    fn help(_: &mut SwarmRun<Self>) {}

    /// Returns who is behind, of those who run or shall run.
    fn behind(run: &SwarmRun<Self>) -> Vec<usize>;

    /// Has an act decided that nobody knew before. Returns how many turns later it was.
    fn decide_act(run: &mut SwarmRun<Self>, dues: &mut Dues) -> Option<u64>;

    /// Lets happen what happens only once all else is in order.
    fn go_on(_: &mut SwarmRun<Self>, _: &mut Dues) {}
}

impl<L: CalmLevel> SwarmRun<L> {
    /// Stops all faults, and sees how the world goes on until its time is over. None if it does not.
    pub(crate) fn calm_down(&mut self) -> Option<FaultRecovery> {
        self.stage.world_mut().set_clocks_right();
        let healed = L::heal(self);
        let (bound, later) = (self.turn_bound(self.round()), self.turn_bound(0));
        let (acts, borne) = (self.known_to_all(), self.calm().faults_borne);
        let laws = self.stage.world().cluster.laws();
        let mut dues = Dues::new(healed, laws, (bound, later), acts, borne);
        let turn = self.new_turn(&mut dues, bound)?;
        let caught_up = self.catch_up(&mut dues, healed)?;
        let voters = self.voters();
        dues.caught_up(self.now(), self.stage.world().cluster.laws(), voters);
        let act = L::decide_act(self, &mut dues)?;
        while self.is_sound() && (self.now() < self.plan.end || !dues.are_paid()) {
            let (now, end) = (self.now(), self.plan.end);
            let next = now + LATER_LOOK;
            self.stage.play_until(if now < end { next.min(end) } else { next });
            self.tick();
            self.look(&mut dues);
            L::go_on(self, &mut dues);
        }
        Some(FaultRecovery { turn, turn_bound: bound, caught_up, act })
    }

    /// Returns what the world waits for.
    fn calm(&self) -> CalmSettings<'_> {
        let setting = self.stage.shared();
        CalmSettings {
            conditions: &self.plan.conditions,
            patience: setting.patience,
            turn: Duration::from_millis(setting.turn_length),
            links: L::links(setting.patience),
            faults_borne: u32::try_from(self.faults_borne()).unwrap_or(u32::MAX),
        }
    }

    /// Returns within what time a turn must come, if this is the latest round in which a server is.
    pub(crate) fn turn_bound(&self, round: u32) -> Duration {
        self.calm().turn_bound(round)
    }

    /// Returns the latest round in which a server is.
    fn round(&self) -> u32 {
        let world = self.stage.world();
        let servers = (0..world.seats()).filter_map(|seat| world.server(seat));
        servers.filter_map(L::round).map(|round| round.0).max().unwrap_or(0)
    }

    /// Returns acts that wait at every honest server that votes.
    pub(crate) fn known_to_all(&self) -> Vec<SignedEnvelope> {
        let waiting = |seat: usize| L::waiting(self, seat);
        let all: Option<Vec<_>> = self.voters().into_iter().map(waiting).collect();
        let Some([first, others @ ..]) = all.as_deref() else {
            return Vec::new();
        };
        let everywhere = |act: &&SignedEnvelope| others.iter().all(|acts| acts.contains(act));
        first.iter().filter(everywhere).cloned().collect()
    }

    /// Looks at what is due.
    pub(crate) fn look(&mut self, dues: &mut Dues) {
        let (now, voters) = (self.now(), L::reliable(self));
        dues.look(now, self.stage.world_mut().cluster.laws_mut(), &voters);
    }

    /// Waits for a turn. Returns how long it took.
    pub(crate) fn new_turn(&mut self, dues: &mut Dues, bound: Duration) -> Option<Duration> {
        let now = self.now();
        L::await_turn(&mut self.stage, dues.last(), now + bound);
        self.look(dues);
        self.is_sound().then(|| self.now() - now)
    }

    /// Lets everybody who was behind come up to the others. Returns when they had, from `healed` on.
    fn catch_up(&mut self, dues: &mut Dues, healed: Duration) -> Option<Duration> {
        let limit = self.now() + self.calm().catch_up_bound(L::missed(self, dues.last()));
        while self.is_sound() && self.now() < limit {
            let next = self.now() + LOOK;
            self.stage.play_until(next);
            L::help(self);
            self.look(dues);
            if L::behind(self).is_empty() {
                return Some(self.now() - healed);
            }
        }
        if self.is_sound() {
            let (behind, heights) = (L::behind(self), self.stage.world().heights());
            let what = format!("{behind:?} are behind: {heights:?}");
            self.stage.world_mut().blame(None, Law::Behind, what);
        }
        None
    }
}

/// What a world waits for in the calm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CalmSettings<'a> {
    pub(crate) conditions: &'a Conditions,
    pub(crate) patience: Patience,
    /// From one turn to the next.
    pub(crate) turn: Duration,
    /// How long links need to be in order again.
    pub(crate) links: Duration,
    /// Servers that may be gone for good.
    pub(crate) faults_borne: u32,
}

impl CalmSettings<'_> {
    /// `f + 1` time-outs of proposers, of the rounds in which servers are now, the latest of which
    /// is `first`, and what it takes them to come together.
    pub(crate) fn turn_bound(&self, first: u32) -> Duration {
        let Self { conditions, patience, turn, links, faults_borne } = *self;
        let step = conditions.links.delay.most * 2 + conditions.sync.most;
        let waits = patience.propose + patience.prevote + patience.precommit;
        let rounds = first..first.saturating_add(faults_borne).saturating_add(2);
        let spent: Duration = rounds
            .map(|round| turn + waits + patience.per_round * (3 * round.min(64)) + step * 3)
            .sum();
        let again = patience.rebroadcast + patience.per_round * first.min(64);
        SETTLE + links + again + spent
    }

    /// Returns how long a server that is so many turns behind may take to come up to the others.
    pub(crate) fn catch_up_bound(&self, missed: u64) -> Duration {
        let answers = u32::try_from(missed / 16).unwrap_or(u32::MAX);
        let step = self.conditions.links.delay.most * 4 + Duration::from_millis(100);
        Duration::from_secs(4) + step * (answers + 1)
    }
}

/// What a calm world owes: turns, acts and votes, each in its time.
#[derive(Debug)]
pub(crate) struct Dues {
    /// The last decided height, and since when.
    last: Height,
    since: Duration,
    /// In what time the next turn is to come.
    bound: Duration,
    /// In what time each turn after that.
    later: Duration,
    /// What was decided when the faults stopped, and acts that all honest servers knew then.
    begun: Height,
    acts: Vec<SignedEnvelope>,
    faults_borne: u32,
    /// Since when nobody is behind, and what was decided then: until what is due has come.
    caught_up: Option<(Duration, Height)>,
    /// The seats that had a vote then. Who is promoted later may come to vote too late for what is due.
    voters: Vec<usize>,
}

impl Dues {
    /// Begins the calm now. The first turn may take as long as `bound`, and each one after it as `later`.
    pub(crate) fn new(
        now: Duration,
        oracle: &Oracle,
        (bound, later): (Duration, Duration),
        acts: Vec<SignedEnvelope>,
        faults_borne: u32,
    ) -> Self {
        let last = oracle.last_decided();
        // Who did not propose since may still hold what was decided.
        let waits =
            |act: &SignedEnvelope| !oracle.history().settles(&act.envelope, Height(0), last);
        let acts = acts.into_iter().filter(waits).collect();
        let (caught_up, voters) = (None, Vec::new());
        Self { last, since: now, bound, later, begun: last, acts, faults_borne, caught_up, voters }
    }

    /// The last decided height.
    pub(crate) const fn last(&self) -> Height {
        self.last
    }

    /// Notes that nobody is behind any more, so the acts have to be decided, and these seats have to vote.
    /// Before that, all servers that lead might have been liars, or behind.
    pub(crate) fn caught_up(&mut self, now: Duration, oracle: &Oracle, voters: Vec<usize>) {
        (self.caught_up, self.voters) = (Some((now, oracle.last_decided())), voters);
    }

    /// Returns whether all that is due after everybody caught up has come.
    pub(crate) const fn are_paid(&self) -> bool {
        self.caught_up.is_none()
    }

    /// Looks at what is decided, and blames who owes something. These seats vote now.
    pub(crate) fn look(&mut self, now: Duration, oracle: &mut Oracle, voters: &[usize]) {
        let decided = oracle.last_decided();
        if decided > self.last {
            (self.last, self.since, self.bound) = (decided, now, self.later);
        } else if now >= self.since + self.bound {
            let what = || format!("no turn after {} within {:.3?}", self.last, self.bound);
            oracle.blame(None, Law::LateTurn, what);
        }
        let told = oracle.history().last();
        let due = self.caught_up.take_if(|(_, height)| told >= height.plus(TO_VOTE));
        if let Some((since, height)) = due {
            self.look_at_acts(oracle, height);
            self.voters.retain(|seat| voters.contains(seat));
            look_at_votes(oracle, &self.voters, since, height);
        }
    }

    fn look_at_acts(&self, oracle: &mut Oracle, height: Height) {
        let (begun, slots) = (self.begun, u64::from(self.faults_borne) + 2);
        let last = height.plus(UNDER_WAY + slots);
        for act in &self.acts {
            if !oracle.history().settles(&act.envelope, begun, last) {
                let what =
                    || format!("{:?} is in none of the turns from {begun} to {last}", act.id());
                oracle.blame(None, Law::LateAct, what);
            }
        }
    }
}

fn look_at_votes(oracle: &mut Oracle, voters: &[usize], since: Duration, height: Height) {
    let last = height.plus(TO_VOTE);
    for seat in voters {
        let mut voted = oracle.voted_since(*seat, since).into_iter();
        if !voted.any(|voted| voted > height && voted <= last) {
            let what = || format!("it signs nothing after {height} up to {last}");
            oracle.blame(Some(*seat), Law::Silent, what);
        }
    }
}
