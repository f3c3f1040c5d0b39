//! Stories about servers that lie.

use std::time::Duration;

use super::rough_links::lossy;
use super::{ExpectedEnding, SeedStory};
use crate::agreement::{Scenario, ScenarioOutcome};
use crate::chance::Span;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::villain::ByzantineBehaviour;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

macro_rules! lie {
    ($name:literal, $sentence:literal, $deed:expr) => {
        SeedStory {
            name: $name,
            sentence: $sentence,
            ending: ExpectedEnding::Sound,
            play: |seed| lie($name, seed, $deed).play(40, MINUTE),
        }
    };
}

pub(super) const STORIES: &[SeedStory] = &[
    lie!(
        "withholds all",
        "One of four proposes turns and gives them to nobody.",
        ByzantineBehaviour::WithholdAll
    ),
    lie!(
        "withholds all but one",
        "One of four gives its turns to a single server.",
        ByzantineBehaviour::WithholdAllButOne
    ),
    lie!(
        "two turns",
        "One of four proposes two turns, and votes for both.",
        ByzantineBehaviour::TwoTurns
    ),
    lie!(
        "corrupt parts",
        "One of four sends parts that do not add up.",
        ByzantineBehaviour::CorruptParts
    ),
    lie!(
        "void turns",
        "One of four breaks each rule for turns, one after the other.",
        ByzantineBehaviour::VoidTurns
    ),
    lie!(
        "overclaimed round",
        "One of four blames all others for rounds that never were.",
        ByzantineBehaviour::OverclaimRound
    ),
    lie!(
        "two votes",
        "One of four votes for a turn here and for nothing there.",
        ByzantineBehaviour::TwoVotes
    ),
    lie!("mute", "One of four says nothing.", ByzantineBehaviour::Mute),
    lie!("a censor", "One of four leaves all acts out of its turns.", ByzantineBehaviour::Censor),
    lie!(
        "another root",
        "One of four states a root that nobody has.",
        ByzantineBehaviour::WrongRoot
    ),
    lie!(
        "another time",
        "One of four states times that no clock shows.",
        ByzantineBehaviour::WrongTime
    ),
    lie!(
        "a replayer",
        "One of four says old things again, all the time.",
        ByzantineBehaviour::Replay
    ),
    lie!("garbage", "One of four turns bits of what it says.", ByzantineBehaviour::Garbage),
    lie!(
        "oversize",
        "One of four says things that are longer than any may be.",
        ByzantineBehaviour::Oversize
    ),
    SeedStory {
        name: "withholds some parts",
        sentence: "Turns are long, and one of four keeps some parts of its own from some servers.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario =
                lie("withholds some parts", seed, ByzantineBehaviour::WithholdSomeParts);
            scenario.long_acts = true;
            scenario.play(40, MINUTE)
        },
    },
    SeedStory {
        name: "unequal power",
        sentence: "Five servers with 5, 4, 3, 2 and 1 votes, of which the one with 4 lies.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = Scenario::new("unequal power", seed).under(lossy());
            (scenario.founders, scenario.seats) = (5, 5);
            scenario.powers = vec![5, 4, 3, 2, 1];
            scenario.liars = vec![(1, deed(seed.number))];
            scenario.no_demotion = seed.number.is_multiple_of(2);
            scenario.with_storm(2 * SECOND, 6, 1).play_and_heal(2 * SECOND, MINUTE)
        },
    },
    SeedStory {
        name: "seven and two liars",
        sentence: "Seven servers, of which two lie, loss, crashes and a power loss.",
        ending: ExpectedEnding::Sound,
        play: seven,
    },
    SeedStory {
        name: "twins",
        sentence: "Two copies of one server; leaders and partitions enumerated by the seed.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let mut scenario = Scenario::twins(seed);
            scenario.conditions = Conditions::calm(5);
            scenario.acts = (6, SECOND);
            let mut stage = scenario.stage();
            // Somebody may be shut in until the schedule ends; the others need not wait for it.
            stage.run_to_top(5, Duration::from_millis(900));
            stage.heal();
            stage.go_on(2, MINUTE);
            stage.finish()
        },
    },
];

/// A world with the last of four servers lying.
pub(in crate::agreement) fn lie(
    name: &'static str,
    seed: Seed,
    deed: ByzantineBehaviour,
) -> Scenario {
    let mut scenario = Scenario::new(name, seed);
    scenario.conditions.links.delay = Span::ms(1, 30);
    scenario.liars = vec![(3, deed)];
    // Else it would be passed over after its first lie.
    scenario.no_demotion = true;
    scenario
}

/// Returns all stories about one liar among four.
#[must_use]
pub fn lies() -> &'static [SeedStory] {
    &STORIES[..ByzantineBehaviour::ALL.len()]
}

fn deed(number: u64) -> ByzantineBehaviour {
    let at = number % ByzantineBehaviour::ALL.len() as u64;
    ByzantineBehaviour::ALL[usize::try_from(at).expect("few deeds")]
}

fn seven(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("seven and two liars", seed).under(lossy());
    scenario.founders = 7;
    scenario.seats = 7;
    scenario.conditions.sync = Span::ms(0, 4);
    scenario.liars = vec![(5, deed(seed.number)), (6, deed(seed.number / 8 + seed.number))];
    scenario.snapshot_every = seed.number.is_multiple_of(2).then_some(7);
    scenario.with_storm(3 * SECOND, 12, 1).play_and_heal(3 * SECOND, MINUTE)
}
