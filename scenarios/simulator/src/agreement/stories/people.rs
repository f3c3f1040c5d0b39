//! Stories about servers that come and go: membership, joining, and forgetting.

use std::sync::Arc;
use std::time::Duration;

use metatopia_consensus::{JoinPack, JoinPackError};
use metatopia_oracle::Law;
use metatopia_types::{Act, Digest, Height, NodeContact, SetChange, SimId};

use super::rough_links::lossy;
use super::{ExpectedEnding, SeedStory};
use crate::agreement::{AgreementStage, Scenario, ScenarioOutcome};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::course::Seed;
use crate::crash::UnsyncedWrites;

const MINUTE: Duration = Duration::from_secs(60);

pub(super) const STORIES: &[SeedStory] = &[
    SeedStory {
        name: "growing and shrinking",
        sentence: "Four servers become seven and then five, while newcomers crash and leavers vanish.",
        ending: ExpectedEnding::Sound,
        play: |seed| grow_and_shrink(seed).finish(),
    },
    SeedStory {
        name: "changing everybody",
        sentence: "One joins, one leaves, until nobody of the first four is left.",
        ending: ExpectedEnding::Sound,
        play: |seed| change_everybody(seed).finish(),
    },
    SeedStory {
        name: "a lost log",
        sentence: "A server loses its disk, starts again with its old key, and asks before it votes.",
        ending: ExpectedEnding::Sound,
        play: |seed| lose_log(seed).finish(),
    },
    SeedStory {
        name: "a follower",
        sentence: "A server that nobody elected follows the others, and never votes.",
        ending: ExpectedEnding::Sound,
        play: follower,
    },
];

/// A stage with more servers than the four that vote first.
#[derive(Debug)]
pub struct GrowingStage {
    /// The stage that is played on.
    pub stage: AgreementStage,
    /// How many voted after each change.
    pub sizes: Vec<usize>,
    /// Who joined, from the state after which height, and how far the others were then.
    pub joined: Vec<(usize, u64, u64)>,
}

/// Four founders and room for more, under loss.
#[must_use]
pub fn crowd_of(name: &'static str, seed: Seed, seats: usize) -> GrowingStage {
    let mut scenario = Scenario::new(name, seed).under(lossy());
    scenario.seats = seats;
    scenario.conditions.sync = Span::ms(0, 4);
    scenario.snapshot_every = (seed.number % 2 == 1).then_some(6);
    let mut stage = scenario.stage();
    stage.until_height(4, MINUTE);
    GrowingStage { stage, sizes: vec![4], joined: Vec::new() }
}

impl GrowingStage {
    fn tip(&self) -> u64 {
        self.stage.world.top()
    }

    fn limit(&self) -> Duration {
        self.stage.world.now() + MINUTE
    }

    /// Plays `heights` more turns.
    pub fn go_on(&mut self, heights: u64) {
        self.stage.go_on(heights, MINUTE);
    }

    /// Plays until it is decided that the server in `seat` votes, or that it does not; asks again
    /// until that is so.
    fn until_member(&mut self, seat: usize, votes: bool, mut ask: impl FnMut(&mut AgreementStage)) {
        let name = self.stage.setting().name(seat);
        let end = self.limit();
        while self.stage.world.now() < end {
            let leader = self.stage.leader().expect("somebody runs");
            let server = self.stage.world.server(leader).expect("it runs");
            let members = server.ledger().state().roster.members();
            if members.contains_key(&name) == votes {
                self.sizes.push(members.len());
                return;
            }
            ask(&mut self.stage);
            let pause = self.stage.world.now() + Duration::from_millis(400);
            self.stage.world.run_until(pause);
        }
        let what = || format!("server {seat} was to vote: {votes}");
        self.stage.world.cluster.oracle.blame(Some(seat), Law::Stuck, what);
    }

    /// Adds a server: it starts from what another proves, follows, is named a standby, says that it is ready,
    /// and votes.
    pub fn add(&mut self, seat: usize) {
        let tip = self.tip();
        let from = self.stage.join(seat, true).expect("an honest proof is believed");
        self.joined.push((seat, from, tip));
        self.until_member(seat, true, |stage| {
            let setting = Arc::clone(stage.setting());
            let (key, contact) = (setting.name(seat), NodeContact::default());
            let add = Act::SetChange(SetChange::Add { key, contact });
            stage.submit_everywhere(&*setting.player(0), add);
            let Some(server) = stage.world.server(seat) else {
                return;
            };
            let state = server.ledger().state();
            if let Some((height, root)) = state.roots.last_key_value() {
                let ready = Act::Ready { height: *height, proof: root.0 };
                stage.submit_everywhere(&*setting.keys[seat], ready);
            }
        });
    }

    /// The admin removes a server from the set.
    pub fn remove(&mut self, seat: usize) {
        self.until_member(seat, false, |stage| {
            let setting = Arc::clone(stage.setting());
            let remove = Act::SetChange(SetChange::Remove { key: setting.name(seat) });
            stage.submit_everywhere(&*setting.player(0), remove);
        });
    }

    fn order(&mut self, order: ClusterOrder) {
        self.stage.world.plan(self.stage.world.now(), order);
    }

    /// Closes the books.
    #[must_use]
    pub fn finish(self) -> ScenarioOutcome {
        self.stage.finish()
    }
}

/// 4, 5, 6, 7, 6, 5 voters, with crashes meanwhile.
#[must_use]
pub fn grow_and_shrink(seed: Seed) -> GrowingStage {
    let mut crowd = crowd_of("growing and shrinking", seed, 7);
    let mut dice = Dice::new(seed.number, "people");
    for seat in 4..7 {
        crowd.add(seat);
        let down = dice.within(Span::ms(0, 150));
        crowd.order(ClusterOrder::Crash { seat, tail: UnsyncedWrites::Torn, down });
        let seat = dice.index(4);
        crowd.order(ClusterOrder::Crash { seat, tail: UnsyncedWrites::Lost, down });
    }
    crowd.remove(0);
    crowd.order(ClusterOrder::Crash {
        seat: 5,
        tail: UnsyncedWrites::Torn,
        down: Duration::from_millis(30),
    });
    crowd.remove(1);
    crowd.go_on(4);
    // One leaver vanishes, the other keeps following.
    crowd.order(ClusterOrder::Kill(1));
    let (tail, down) = (UnsyncedWrites::Torn, Duration::from_millis(20));
    crowd.order(ClusterOrder::PowerLoss { tail, down, stagger: Duration::from_millis(7) });
    crowd.go_on(10);
    crowd
}

fn change_everybody(seed: Seed) -> GrowingStage {
    let mut crowd = crowd_of("changing everybody", seed, 8);
    for leaver in 0..4 {
        crowd.add(leaver + 4);
        crowd.remove(leaver);
        crowd.go_on(4);
        crowd.order(ClusterOrder::Kill(leaver));
    }
    crowd.go_on(10);
    crowd
}

fn lose_log(seed: Seed) -> GrowingStage {
    let mut crowd = crowd_of("a lost log", seed, 4);
    let mut dice = Dice::new(seed.number, "people");
    let seat = dice.index(4);
    crowd.go_on(dice.below(5));
    crowd.stage.lose_disk(seat);
    // It is away for a while, or not at all: then it meets its own votes of a moment ago.
    let pause = crowd.stage.world.now() + dice.within(Span::ms(0, 120));
    crowd.stage.world.run_until(pause);
    let from = crowd.stage.join(seat, false).expect("an honest proof is believed");
    let tip = crowd.tip();
    crowd.joined.push((seat, from, tip));
    crowd.go_on(15);
    crowd
}

fn follower(seed: Seed) -> ScenarioOutcome {
    let mut crowd = crowd_of("a follower", seed, 5);
    crowd.go_on(6);
    crowd.stage.join(4, true).expect("an honest proof is believed");
    crowd.go_on(15);
    let votes = crowd.stage.world.cluster.oracle.voted_since(4, Duration::ZERO);
    if !votes.is_empty() {
        let what = || format!("a follower votes at {votes:?}");
        crowd.stage.world.cluster.oracle.blame(Some(4), Law::Outsider, what);
    }
    crowd.finish()
}

/// A good proof of a world whose membership changed, and what a joiner says about forged ones.
///
/// # Panics
/// When the good one is refused.
#[must_use]
pub fn join_refusals(seed: Seed) -> Vec<(&'static str, JoinPackError)> {
    let mut crowd = crowd_of("join refusals", seed, 6);
    crowd.add(4);
    crowd.go_on(8);
    crowd.add(5);
    crowd.go_on(8);
    let leader = crowd.stage.leader().expect("somebody runs");
    let server = crowd.stage.world.server(leader).expect("it runs");
    let (pack, state) = server.serve_join().expect("the world is a few turns old");
    let check = |pack: &JoinPack, state| crowd.stage.checked_start(pack, state, true).map(drop);
    check(&pack, state.clone()).expect("the good proof is believed");
    let forge = |change: &dyn Fn(&mut JoinPack)| {
        let mut forged = pack.clone();
        change(&mut forged);
        check(&forged, state.clone()).expect_err("a forged proof is refused")
    };
    vec![
        ("no links", forge(&|p| p.links.clear())),
        ("a link is missing", forge(&|p| drop(p.links.remove(0)))),
        ("links out of order", forge(&|p| p.links.reverse())),
        ("a link brings other members", forge(&|p| p.links[0].next[0].power = 9)),
        ("a link's header is changed", forge(&|p| p.links[0].header.engine = 9)),
        ("below a quorum", forge(&|p| p.certificate.signatures.truncate(2))),
        (
            "one signer again and again",
            forge(&|p| {
                let one = p.certificate.signatures[0];
                p.certificate.signatures.fill(one);
            }),
        ),
        ("another round", forge(&|p| p.certificate.round = p.certificate.round.plus(1))),
        ("another root", forge(&|p| p.headers[2].root = p.headers[1].root)),
        ("a header between is changed", forge(&|p| p.headers[1].engine = 9)),
        ("a header from another place", forge(&|p| p.headers[0].height = Height(1))),
        ("another sim", forge(&|p| p.headers[2].sim = SimId(Digest::ZERO))),
    ]
}
