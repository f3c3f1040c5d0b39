//! People who walk from one sim into the other and back.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use super::{Length, StoryBound, StoryFigure, StoryResult};
use crate::{
    LabBorder, SERVERS, Weather,
    servers::{LabResult, told},
};

/// The travel of a packet from one server to any other, whichever sims they are of.
const DELAY: Duration = Duration::from_millis(20);

/// How many people walk. Eight servers and all clients share the cores of one machine, two of them in CI.
const PEOPLE: u64 = 4;

/// Turns from departure to arrival, with that travel.
const MEDIAN_TURNS: u64 = 6;
const P95_TURNS: u64 = 12;

/// Crossings of each person that a story needs at least: she walks over and back.
const CROSSINGS_EACH: u64 = 2;

/// What the bench measured, in tenths of its units, by the names of its figures.
struct BenchedCrossing(BTreeMap<String, u64>);

impl BenchedCrossing {
    /// Lets people walk for so long, each with a ball in hand.
    fn measure(border: &LabBorder<'_>, time: Duration) -> LabResult<Self> {
        let output = border
            .bench()
            .args(["--count", &PEOPLE.to_string()])
            .args(["--duration", &format!("{}ms", time.as_millis())])
            .output()
            .map_err(told("run the bench"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let figure = |line: Value| {
            let name = line["figure"].as_str()?.to_owned();
            let tenths = line["value"].as_f64()? * 10.0;
            Some((name, tenths.round() as u64))
        };
        let figures: BTreeMap<_, _> = lines.filter_map(figure).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        // The bench ends with 1 where a figure is past twice the bound of loopback, and has told it by then.
        match figures.is_empty() {
            true => Err(format!("the bench ended with {} and no figure: {errors}", output.status)),
            false => Ok(Self(figures)),
        }
    }

    fn tenths(&self, name: &str) -> LabResult<u64> {
        let found = self.0.get(name).copied();
        found.ok_or_else(|| format!("the bench says nothing of `{name}`: {:?}", self.0))
    }

    fn whole(&self, name: &str) -> LabResult<u64> {
        self.tenths(name).map(|tenths| tenths / 10)
    }
}

/// Returns how much of something both directions of a border had, as the logs of both sims say.
fn both_ways(border: &Value, what: &str) -> LabResult<u64> {
    let count = |way: &str| border[way][what].as_u64();
    let sum = count("there").zip(count("back")).map(|(there, back)| there + back);
    sum.ok_or_else(|| format!("log verify says nothing of `{what}`: {border}"))
}

pub(super) fn crossing(border: &mut LabBorder<'_>, length: Length) -> StoryResult {
    border.lab.switch.conditions().everywhere = Weather { delay: DELAY, ..Weather::default() };
    let found = BenchedCrossing::measure(border, length.seconds(12, 40))?;
    for sim in &border.sims {
        sim.agree(&(0..SERVERS).collect::<Vec<_>>())?;
    }
    let logs = border.verify()?;
    let turns = |what, name, bound: u64| {
        let (unit, bound) = ("tenths of a turn", StoryBound::AtMost(10 * bound));
        Ok::<_, String>(StoryFigure::new(what, found.tenths(name)?, unit, bound))
    };
    let people = |what, name| {
        let count = found.whole(name)?;
        Ok::<_, String>(StoryFigure::new(what, count, "people", StoryBound::AtMost(0)))
    };
    let crossings = StoryBound::AtLeast(CROSSINGS_EACH * PEOPLE);
    let figures = vec![
        StoryFigure::new("crossings", found.whole("crossings")?, "times", crossings),
        turns("departure to arrival, median", "departure to arrival p50", MEDIAN_TURNS)?,
        turns("departure to arrival, p95", "departure to arrival p95", P95_TURNS)?,
        people("in no sim after the end", "in no sim after the end")?,
        people("in both sims after the end", "in both sims after the end")?,
        people("with empty hands", "with empty hands after the end")?,
        people("never crossed", "never crossed")?,
        StoryFigure::new("taken, by both logs", both_ways(&logs, "taken")?, "parcels", crossings),
        StoryFigure::new(
            "came home, by both logs",
            both_ways(&logs, "came_home")?,
            "parcels",
            StoryBound::None,
        ),
    ];
    // Also where figures of other stories are not judged: what crosses keeps far from these bounds on a busy machine.
    match figures.iter().find(|figure| !figure.is_kept()) {
        Some(figure) => Err(format!("past its bound: {figure:?}; all: {figures:?}")),
        None => Ok(figures),
    }
}
