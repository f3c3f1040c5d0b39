//! Stories about networks, clocks and slow machines.

use std::time::Duration;

use metatopia_consensus::Patience;

use super::{ExpectedEnding, SeedStory};
use crate::agreement::{Ambush, Scenario, ScenarioOutcome};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::network::Links;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// An hour in milliseconds.
const HOUR_MS: i64 = 3_600_000;

pub(super) const STORIES: &[SeedStory] = &[
    SeedStory {
        name: "calm",
        sentence: "Four servers, 20 ms apart, and nothing happens but acts.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = Scenario::new("calm", seed);
            scenario.acts = (60, SECOND);
            scenario.play(40, MINUTE)
        },
    },
    SeedStory {
        name: "lossy",
        sentence: "Frames take 1 to 30 ms, one in twenty is lost, one in ten comes twice.",
        ending: ExpectedEnding::Sound,
        play: |seed| Scenario::new("lossy", seed).under(lossy()).play(40, MINUTE),
    },
    SeedStory {
        name: "long turns",
        sentence: "Turns come in two parts and more, and a third of all frames is lost.",
        ending: ExpectedEnding::Sound,
        play: |seed| long_turns("long turns", seed).play(25, MINUTE),
    },
    SeedStory {
        name: "weather",
        sentence: "Loss, delay, odd clocks, failing disks and slow servers, drawn from the seed.",
        ending: ExpectedEnding::Sound,
        play: weather,
    },
    SeedStory {
        name: "partitions",
        sentence: "Every moment somebody else is cut off, from one side or from both.",
        ending: ExpectedEnding::Sound,
        play: partitions,
    },
    SeedStory {
        name: "one witness",
        sentence: "Only one server sees a quorum of prevotes, and is cut off as it precommits.",
        ending: ExpectedEnding::Sound,
        play: |seed| ambushed("one witness", seed, 1),
    },
    SeedStory {
        name: "two witnesses",
        sentence: "Two of four are locked on a turn of which the others saw no quorum.",
        ending: ExpectedEnding::Sound,
        play: |seed| ambushed("two witnesses", seed, 2),
    },
    SeedStory {
        name: "odd clocks",
        sentence: "Clocks are up to 400 ms wrong and run up to 5 % too fast or too slow.",
        ending: ExpectedEnding::Sound,
        play: odd_clocks,
    },
    SeedStory {
        name: "an hour back",
        sentence: "One server's wall clock is set back an hour, and later forward again.",
        ending: ExpectedEnding::Sound,
        play: |seed| clock_jumps("an hour back", seed, -HOUR_MS),
    },
    SeedStory {
        name: "an hour ahead",
        sentence: "One server's wall clock is set forward an hour, and later back again.",
        ending: ExpectedEnding::Sound,
        play: |seed| clock_jumps("an hour ahead", seed, HOUR_MS),
    },
    SeedStory {
        name: "slow application",
        sentence: "Applying a turn takes up to 300 ms on every server.",
        ending: ExpectedEnding::Sound,
        play: slow_application,
    },
];

pub(super) fn lossy() -> Conditions {
    let links = Links {
        delay: Span::ms(1, 30),
        loss_ppm: 50_000,
        duplicate_ppm: 100_000,
        ..Links::steady(20)
    };
    Conditions { links, ..Conditions::calm(20) }
}

/// The scenario in which all acts are long, and every part is lost as easily as any other frame.
pub(super) fn long_turns(name: &'static str, seed: Seed) -> Scenario {
    let mut scenario = Scenario::new(name, seed).under(lossy());
    scenario.conditions.links.loss_ppm = 330_000;
    (scenario.turn_length, scenario.long_acts) = (50, true);
    scenario
}

fn weather(seed: Seed) -> ScenarioOutcome {
    let scenario = Scenario::new("weather", seed).under(Conditions::draw(seed.number, 4));
    scenario.with_storm(3 * SECOND, 6, 1).play_and_heal(4 * SECOND, MINUTE)
}

fn partitions(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("partitions", seed).under(lossy());
    scenario.orders = cuts(&mut Dice::new(seed.number, "partitions"), 4, 4 * SECOND);
    scenario.play_and_heal(4 * SECOND, MINUTE)
}

/// Partitions of `servers` in any direction, one after the other, for `span`.
pub(super) fn cuts(
    dice: &mut Dice,
    servers: usize,
    span: Duration,
) -> Vec<(Duration, ClusterOrder)> {
    let mut orders = vec![];
    let mut at = Duration::ZERO;
    while at < span {
        at += dice.within(Span::ms(20, 400));
        let order = match dice.below(5) {
            0 => ClusterOrder::Split(vec![dice.index(servers)]),
            1 => ClusterOrder::Split(vec![0, 1 + dice.index(servers - 1)]),
            2 | 3 => ClusterOrder::Cut(dice.index(servers), dice.index(servers)),
            _ => ClusterOrder::Heal,
        };
        orders.push((at, order));
        if dice.below(2) == 0 {
            at += dice.within(Span::ms(20, 400));
            orders.push((at, ClusterOrder::Heal));
        }
    }
    orders.retain(|(at, _)| *at < span);
    orders
}

fn ambushed(name: &'static str, seed: Seed, witnesses: usize) -> ScenarioOutcome {
    let mut dice = Dice::new(seed.number, "ambush");
    let mut seats = [0, 1, 2, 3];
    for at in (1..4).rev() {
        seats.swap(at, dice.index(at + 1));
    }
    let cut_for = dice.within(Span::ms(10, 600));
    let rounds = 1 + dice.below(3) as u32;
    let ambush = Ambush::new(3..=12, seats[..witnesses].to_vec(), seats[3], cut_for);
    let mut scenario = Scenario::new(name, seed);
    scenario.conditions.links.delay = Span::ms(1, 20);
    scenario.ambush = Some(ambush.in_rounds(rounds));
    let mut stage = scenario.stage();
    stage.run_to_top(16, 8 * SECOND);
    stage.heal();
    stage.go_on(5, MINUTE);
    stage.finish()
}

fn odd_clocks(seed: Seed) -> ScenarioOutcome {
    let mut dice = Dice::new(seed.number, "clocks");
    let mut scenario = Scenario::new("odd clocks", seed);
    let mut clock =
        || (dice.below(800) as i64 - 400, i32::try_from(dice.below(100_000)).unwrap_or(0) - 50_000);
    scenario.conditions.clocks = (0..4).map(|_| clock()).collect();
    scenario.play(40, MINUTE)
}

fn clock_jumps(name: &'static str, seed: Seed, ms: i64) -> ScenarioOutcome {
    let mut scenario = Scenario::new(name, seed);
    scenario.conditions.links.delay = Span::ms(1, 30);
    scenario.turn_length = 50;
    let seat = Dice::new(seed.number, "clocks").index(4);
    scenario.orders = vec![
        (SECOND, ClusterOrder::SetClock(seat, ms)),
        (2 * SECOND, ClusterOrder::SetClock(seat, -ms)),
    ];
    scenario.play(60, MINUTE)
}

fn slow_application(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("slow application", seed).under(lossy());
    scenario.conditions.job = Span::ms(0, 300);
    scenario.with_storm(2 * SECOND, 6, 1).play_and_heal(3 * SECOND, MINUTE)
}

/// A calm world of servers `delay_ms` apart that are `patient`, for measuring how fast turns follow
/// each other.
#[must_use]
pub fn pace(delay_ms: u64, sync_ms: u64, servers: usize, patience: Patience) -> Scenario {
    let mut scenario = Scenario::new("pace", 1.into());
    scenario.founders = servers;
    scenario.seats = servers;
    scenario.patience = patience;
    scenario.conditions = Conditions::calm(delay_ms);
    scenario.conditions.sync = Span::exactly_ms(sync_ms);
    scenario
}
