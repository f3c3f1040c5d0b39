//! How a story ended: what was seen of servers, people and strangers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use metatopia_oracle::Violation;
use metatopia_replica::{Condition, Status};
use metatopia_types::{Digest, Height, Outcome, PublicKey};

use super::limits::PEOPLE_MAX;
use super::reasons;
use crate::clock::DAWN;
use crate::replica::{Account, ActStatus, ReplicaStage};

/// Groups of servers that a story may expect something of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Say at the end of the length that nothing is decided any more.
    Stalled,
    /// Say then that servers disagree about the state.
    Split,
    /// Only follow then: they healed too often.
    Following,
    /// Do not run then.
    Down,
    /// Vote then, as the server that is furthest says.
    Validators,
    /// Noticed at any time that their states are not the others'.
    Parted,
    /// Healed from that.
    Mended,
    /// Wrote a capsule.
    Capsules,
}

impl Group {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Stalled,
        Self::Split,
        Self::Following,
        Self::Down,
        Self::Validators,
        Self::Parted,
        Self::Mended,
        Self::Capsules,
    ];

    /// Its key in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stalled => "stalled",
            Self::Split => "split",
            Self::Following => "following",
            Self::Down => "down",
            Self::Validators => "validators",
            Self::Parted => "parted",
            Self::Mended => "mended",
            Self::Capsules => "capsules",
        }
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct StoryEnding {
    /// The seed it was played with.
    pub seed: u64,
    /// When the length was over, and faults stopped.
    pub length: Duration,
    /// Laws that were broken.
    pub broken: Vec<Violation>,
    /// Turns that were decided.
    pub turns: usize,
    /// Acts in them.
    pub acts: usize,
    /// Processes that died.
    pub crashes: u64,
    /// The same for every run of this story with this seed.
    pub digest: Digest,
    /// When each height was first applied anywhere, ascending.
    pub times: Vec<Duration>,
    /// How far times of turns were off the true time, at most.
    pub time_off: Duration,
    /// Which servers were what.
    pub groups: BTreeMap<Group, BTreeSet<usize>>,
    /// How many acts were refused, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// How many strangers servers hung up on, by reason.
    pub hung_up: BTreeMap<&'static str, u64>,
    /// Who acted for the admins, by the moments at which somebody looked.
    pub temp_admins: BTreeMap<Duration, Option<u64>>,
    /// What was said, once per hearer.
    pub heard: Vec<String>,
    /// Calls of scripts that failed.
    pub script_failures: usize,
}

/// What can only be seen while servers run.
pub(super) struct LiveObservations {
    groups: BTreeMap<Group, BTreeSet<usize>>,
    refused: BTreeMap<&'static str, u64>,
    hung_up: BTreeMap<&'static str, u64>,
    temp_admins: BTreeMap<Duration, Option<u64>>,
}

impl LiveObservations {
    /// Returns who acts for the admins now, as the server says that is furthest.
    pub(super) fn temp_admin(stage: &ReplicaStage) -> Option<PublicKey> {
        let statuses = (0..stage.world.seats()).filter_map(|seat| status(stage, seat));
        let furthest = statuses.max_by_key(|status| status.height)?;
        furthest.admins.temp_admin.map(|(_, key)| key)
    }

    /// Looks at every server, and at what strangers were told. `looks` are what was seen before.
    pub(super) fn of(stage: &ReplicaStage, looks: BTreeMap<Duration, Option<PublicKey>>) -> Self {
        // Somebody else than a person of the story would be nobody that it may expect.
        let number = |key: PublicKey| {
            (0..=PEOPLE_MAX)
                .find(|n| stage.setting().player(*n).public() == key)
                .unwrap_or(u64::MAX)
        };
        let temp_admins = looks.into_iter().map(|(at, key)| (at, key.map(number))).collect();
        let statuses: Vec<Option<Status>> =
            (0..stage.world.seats()).map(|seat| status(stage, seat)).collect();
        let seats = |is: &dyn Fn(&Status) -> bool| -> BTreeSet<usize> {
            let all = statuses.iter().enumerate();
            let found = all.filter(|(_, status)| status.as_ref().is_some_and(is));
            found.map(|(seat, _)| seat).collect()
        };
        let furthest = statuses.iter().flatten().max_by_key(|status| status.height);
        let votes = |key: &PublicKey| furthest.is_some_and(|told| told.validators.contains(key));
        let named = (0..stage.world.seats()).map(|seat| (seat, stage.setting().name(seat)));
        let validators = named.filter(|(_, key)| votes(key)).map(|(seat, _)| seat).collect();
        let down = (0..stage.setting().founders).filter(|seat| stage.world.server(*seat).is_none());
        let groups = BTreeMap::from([
            (Group::Stalled, seats(&|status| status.stalled)),
            (Group::Split, seats(&|status| status.split)),
            (Group::Following, seats(&|status| status.condition == Condition::Following)),
            (Group::Down, down.collect()),
            (Group::Validators, validators),
        ]);
        let (mut refused, mut hung_up) = (BTreeMap::new(), BTreeMap::new());
        for stranger in &stage.strangers {
            for why in stranger.refusals() {
                *refused.entry(reasons::entry(&why)).or_default() += 1;
            }
            if let Some(why) = &stranger.hung_up {
                *hung_up.entry(reasons::hangup(why)).or_default() += 1;
            }
        }
        Self { groups, refused, hung_up, temp_admins }
    }
}

/// Returns what a server says of itself. While it applies a turn, that is its status after the last one.
fn status(stage: &ReplicaStage, seat: usize) -> Option<Status> {
    let server = stage.world.server(seat)?;
    let now = stage.world.clock(seat).read(stage.world.now());
    server.replica().status(now).or_else(|| server.status().cloned())
}

impl StoryEnding {
    /// The ending of a story of which this was seen when its length was over.
    pub(super) fn new(length: Duration, seen: LiveObservations, account: &Account) -> Self {
        let servers = &account.servers;
        let LiveObservations { mut groups, mut refused, hung_up, temp_admins } = seen;
        groups.insert(Group::Parted, servers.parted.iter().map(|(_, seat)| *seat).collect());
        groups.insert(Group::Mended, servers.mended.iter().map(|(_, seat, _)| *seat).collect());
        groups.insert(Group::Capsules, servers.capsules.iter().map(|(seat, _)| *seat).collect());
        for deed in account.people.iter().flat_map(|person| person.deeds.values()) {
            if let ActStatus::Refused(why) = &deed.fate {
                *refused.entry(reasons::entry(why)).or_default() += 1;
            }
            if let Some(Outcome::Refused(why)) = deed.proved.or(deed.told) {
                *refused.entry(reasons::rule(&why)).or_default() += 1;
            }
        }
        let steps = servers.oracle.steps();
        let mut times: Vec<Duration> =
            steps.keys().filter_map(|height| servers.oracle.first_at(*height)).collect();
        times.sort_unstable();
        Self {
            seed: servers.setting.own.seed,
            length,
            broken: account.faults.clone(),
            turns: account.turns,
            acts: account.acts,
            crashes: account.crashes,
            digest: account.digest,
            times,
            time_off: time_off(account),
            groups,
            refused,
            hung_up,
            temp_admins,
            heard: account.people.iter().flat_map(|person| person.heard.clone()).collect(),
            script_failures: steps.values().map(|step| step.failures.len()).sum(),
        }
    }

    /// Turns that were first applied from `from` to before `until`.
    #[must_use]
    pub fn turns_between(&self, from: Duration, until: Duration) -> u64 {
        let within = |at: &&Duration| (from..until).contains(*at);
        self.times.iter().filter(within).count() as u64
    }

    /// The longest time from one turn to the next while the story lasted; its beginning and its end
    /// count as turns.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        let within = self.times.iter().copied().filter(|at| *at < self.length);
        let (mut last, mut longest) = (Duration::ZERO, Duration::ZERO);
        for at in within.chain([self.length]) {
            longest = longest.max(at.saturating_sub(last));
            last = at;
        }
        longest
    }

    /// Returns how long after the faults stopped the next turn came, if one came.
    #[must_use]
    pub fn next_turn(&self) -> Option<Duration> {
        let next = self.times.iter().find(|at| **at >= self.length)?;
        Some(next.saturating_sub(self.length))
    }
}

/// The most by which the time of a turn differs from the true time at which it was applied first.
fn time_off(account: &Account) -> Duration {
    let oracle = &account.servers.oracle;
    let off = |(height, time): (Height, u64)| {
        let at = oracle.first_at(height)?;
        let right = u64::try_from(at.as_millis()).unwrap_or(u64::MAX).saturating_add(DAWN.0);
        Some(Duration::from_millis(time.abs_diff(right)))
    };
    let times = (1..).map(Height).zip(account.times.iter().map(|time| time.0));
    times.filter_map(off).max().unwrap_or_default()
}
