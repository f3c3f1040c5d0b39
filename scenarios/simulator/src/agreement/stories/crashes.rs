//! Stories about processes that die and disks that forget.

use std::time::Duration;

use super::rough_links::{cuts, lossy};
use super::{ExpectedEnding, SeedStory};
use crate::agreement::{Ambush, Scenario, ScenarioOutcome};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::crash::{CrashPoint, UnsyncedWrites};
use crate::villain::ByzantineBehaviour;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

pub(super) const STORIES: &[SeedStory] = &[
    SeedStory {
        name: "storm",
        sentence: "25 crashes with lost, torn and kept tails, and three power losses of all servers.",
        ending: ExpectedEnding::Sound,
        play: |seed| storm("storm", seed).play_and_heal(3 * SECOND, MINUTE),
    },
    SeedStory {
        name: "storm with snapshots",
        sentence: "The same, with servers that write their state down every five turns.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = storm("storm with snapshots", seed);
            scenario.snapshot_every = Some(5);
            scenario.play_and_heal(3 * SECOND, MINUTE)
        },
    },
    SeedStory {
        name: "failing syncs",
        sentence: "One sync in fifty fails, and the server that asked stops at once.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = Scenario::new("failing syncs", seed).under(lossy());
            scenario.conditions.sync = Span::ms(0, 8);
            scenario.conditions.sync_error_ppm = 20_000;
            scenario.play_and_heal(3 * SECOND, MINUTE)
        },
    },
    SeedStory {
        name: "power",
        sentence: "All servers lose power at once, again and again, in the middle of everything.",
        ending: ExpectedEnding::Sound,
        play: |seed| power(seed).play_and_heal(4 * SECOND, MINUTE),
    },
    SeedStory {
        name: "crashes after votes",
        sentence: "Servers die right after one other server, and nobody else, has heard their vote.",
        ending: ExpectedEnding::Sound,
        play: |seed| after_votes("crashes after votes", seed).play_and_heal(3 * SECOND, MINUTE),
    },
    SeedStory {
        name: "everything",
        sentence: "Every kind of trouble at once, each absent in a third of all worlds.",
        ending: ExpectedEnding::Sound,
        play: everything,
    },
    SeedStory {
        name: "a dead server",
        sentence: "One server dies and does not come back; the others go on without it.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = Scenario::new("a dead server", seed).under(lossy());
            let seat = Dice::new(seed.number, "dead").index(4);
            scenario.orders.push((SECOND, ClusterOrder::Kill(seat)));
            scenario.play(80, MINUTE)
        },
    },
];

fn storm(name: &'static str, seed: Seed) -> Scenario {
    let mut scenario = Scenario::new(name, seed).under(lossy());
    scenario.conditions.links.loss_ppm = 20_000;
    scenario.conditions.sync = Span::ms(0, 5);
    scenario.with_storm(3 * SECOND, 25, 3)
}

/// A world in which one vote in fifty is the last that its server says for a while.
pub(in crate::agreement) fn after_votes(name: &'static str, seed: Seed) -> Scenario {
    let mut scenario = Scenario::new(name, seed).under(lossy());
    scenario.conditions.sync = Span::ms(0, 6);
    scenario.dies_after_vote_ppm = 20_000;
    scenario
}

fn everything(seed: Seed) -> ScenarioOutcome {
    let mut dice = Dice::new(seed.number, "everything");
    let founders = dice.pick(&[4, 4, 4, 5, 7]);
    let mut scenario = Scenario::new("everything", seed);
    scenario.conditions = Conditions::draw(seed.number, founders);
    (scenario.founders, scenario.seats) = (founders, founders);
    scenario.turn_length = dice.pick(&[1, 1, 20, 50]);
    scenario.snapshot_every = dice.pick(&[None, Some(3), Some(8)]);
    scenario.no_demotion = dice.below(2) == 0;
    // More than a third of the voting power must stay honest and be able to see each other.
    for liar in 0..(founders - 1) / 3 {
        if dice.below(3) != 0 {
            scenario.liars.push((founders - 1 - liar, dice.pick(&ByzantineBehaviour::ALL)));
        }
    }
    if dice.below(3) == 0 {
        let cut_for = dice.within(Span::ms(10, 300));
        let rounds = 1 + dice.below(2) as u32;
        scenario.ambush = Some(Ambush::new(2..=30, vec![0, 1], 2, cut_for).in_rounds(rounds));
    }
    if dice.below(3) != 0 {
        let trouble = [(6, 0), (15, 1), (30, 3)];
        let (crashes, power_losses) = dice.pick(&trouble);
        scenario = scenario.with_storm(3 * SECOND, crashes, power_losses);
    }
    if dice.below(4) == 0 {
        scenario.dies_after_vote_ppm = 10_000;
    }
    if dice.below(3) == 0 {
        scenario.orders.extend(cuts(&mut dice, founders, 3 * SECOND));
    }
    if dice.below(3) == 0 {
        let at = dice.within(Span::ms(500, 2_500));
        let ms = dice.pick(&[-3_600_000, 3_600_000, -700, 700]);
        scenario.orders.push((at, ClusterOrder::SetClock(dice.index(founders), ms)));
    }
    scenario.play_and_heal(3 * SECOND, MINUTE)
}

/// A world in which all servers lose power at once, again and again, for four seconds.
pub(in crate::agreement) fn power(seed: Seed) -> Scenario {
    let mut scenario = Scenario::new("power", seed);
    scenario.conditions.links.delay = Span::ms(1, 30);
    scenario.conditions.sync = Span::ms(1, 6);
    let mut dice = Dice::new(seed.number, "power");
    let mut at = Duration::ZERO;
    loop {
        at += dice.within(Span::ms(30, 500));
        if at >= 4 * SECOND {
            break;
        }
        scenario.orders.push((
            at,
            ClusterOrder::PowerLoss {
                tail: dice.pick(&[UnsyncedWrites::Lost, UnsyncedWrites::Torn]),
                down: dice.within(Span::ms(0, 100)),
                stagger: dice.within(Span::ms(0, 20)),
            },
        ));
    }
    scenario
}

/// A world in which one process dies at every possible point.
#[derive(Debug, Clone)]
pub struct CrashSetting {
    /// The world without the crash.
    pub scenario: Scenario,
    /// Until which height it is played.
    pub height: u64,
}

/// Worlds for enumerated crash points: fast and slow disks, with and without loss.
#[must_use]
pub fn crash_settings() -> Vec<CrashSetting> {
    let setting = |name, seed, sync, loss_ppm, turn_length, height| {
        let mut scenario = Scenario::new(name, Seed::from(seed));
        scenario.conditions.links.delay = Span::ms(1, 30);
        scenario.conditions.links.loss_ppm = loss_ppm;
        scenario.conditions.sync = sync;
        scenario.turn_length = turn_length;
        scenario.acts = (20, SECOND);
        CrashSetting { scenario, height }
    };
    vec![
        setting("crash points, sync 0 ms", 1, Span::exactly_ms(0), 0, 1, 8),
        setting("crash points, sync 4 ms", 2, Span::exactly_ms(4), 0, 1, 10),
        setting("crash points, sync 4 ms, 10 % loss", 3, Span::exactly_ms(4), 100_000, 1, 8),
        setting("crash points, sync 1..9 ms, 2 % loss, paced", 4, Span::ms(1, 9), 20_000, 50, 8),
    ]
}

impl CrashSetting {
    /// Every point of the world without a crash.
    ///
    /// # Panics
    /// When that world is not sound by itself.
    #[must_use]
    pub fn points(&self, seat: usize) -> Vec<CrashPoint> {
        let calm = self.scenario.play(self.height, MINUTE);
        calm.assert_sound();
        let down = [0, 3, 120].map(Duration::from_millis);
        calm.steps[seat].crash_points(seat, &down)
    }

    /// The world with a crash at that point.
    #[must_use]
    pub fn play(&self, point: CrashPoint) -> ScenarioOutcome {
        let mut scenario = self.scenario.clone();
        scenario.crash_point = Some(point);
        scenario.play(self.height, MINUTE)
    }
}
