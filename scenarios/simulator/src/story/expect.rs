//! What a story expects of its end, and whether it came.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::ending::{Group, StoryEnding};

/// Something that a story says will be so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// Exactly these laws were broken, most often none: no fork, nothing lost that had a receipt,
    /// equal roots, all the others; and, if the world should go on, everybody knew what became of
    /// their acts and caught up.
    Laws(BTreeSet<&'static str>),
    /// So many turns in a part of the length.
    Turns {
        /// From this moment.
        from: Duration,
        /// Before this one.
        until: Duration,
        /// The least number that is right.
        least: Option<u64>,
        /// The greatest number that is right.
        most: Option<u64>,
    },
    /// At least so many acts were decided.
    Acts(u64),
    /// At least so many processes died.
    Crashes(u64),
    /// At least so many calls of scripts failed.
    ScriptFailures(u64),
    /// No longer time between two turns during the length.
    LongestPause(Duration),
    /// The next turn comes so soon after the faults stopped.
    NextTurn(Duration),
    /// The sim's time was never further off the true time.
    TimeOff(Duration),
    /// This person acts for the admins at a moment; nobody does if none is named.
    TempAdmin {
        /// At this moment.
        at: Duration,
        /// The number of the person.
        person: Option<u64>,
    },
    /// Exactly these servers are in this group.
    Servers(Group, BTreeSet<usize>),
    /// At least so many acts were refused for this reason.
    Refused(String, u64),
    /// Servers hung up on at least so many strangers for this reason.
    HungUp(String, u64),
    /// Somebody heard a line with these words.
    Heard(String),
}

/// An expectation that did not come true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmet {
    /// Which: its key in files.
    pub expectation: String,
    /// What should have been seen.
    pub expected: String,
    /// What was seen.
    pub seen: String,
}

impl Expectation {
    /// Its key in files.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Laws(_) => "broken".to_owned(),
            Self::Turns { .. } => "turns".to_owned(),
            Self::Acts(_) => "acts".to_owned(),
            Self::Crashes(_) => "crashes".to_owned(),
            Self::ScriptFailures(_) => "script_failures".to_owned(),
            Self::LongestPause(_) => "longest_pause".to_owned(),
            Self::NextTurn(_) => "next_turn".to_owned(),
            Self::TimeOff(_) => "time_off".to_owned(),
            Self::TempAdmin { .. } => "temp_admin".to_owned(),
            Self::Servers(group, _) => group.name().to_owned(),
            Self::Refused(why, _) => format!("refused.{why}"),
            Self::HungUp(why, _) => format!("hung_up.{why}"),
            Self::Heard(_) => "heard".to_owned(),
        }
    }

    /// Returns why it did not come true, if it did not.
    #[must_use]
    pub fn judge(&self, ending: &StoryEnding) -> Option<Unmet> {
        let (met, expected, seen) = match self {
            Self::Laws(laws) => {
                let broken: BTreeSet<&str> =
                    ending.broken.iter().map(|fault| fault.law.name()).collect();
                let told: Vec<String> = ending.broken.iter().map(ToString::to_string).collect();
                (broken == *laws, format!("{laws:?}"), format!("{broken:?} {}", told.join("; ")))
            }
            Self::Turns { from, until, least, most } => {
                let seen = ending.turns_between(*from, *until);
                let (low, high) = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
                let least = least.map(|least| format!("at least {least}"));
                let most = most.map(|most| format!("at most {most}"));
                let bounds: Vec<String> = least.into_iter().chain(most).collect();
                let expected = format!("{} from {from:?} to {until:?}", bounds.join(", "));
                ((low..=high).contains(&seen), expected, seen.to_string())
            }
            Self::Acts(least) => at_least(*least, ending.acts as u64),
            Self::Crashes(least) => at_least(*least, ending.crashes),
            Self::ScriptFailures(least) => at_least(*least, ending.script_failures as u64),
            Self::LongestPause(most) => at_most(*most, Some(ending.longest_pause())),
            Self::NextTurn(most) => at_most(*most, ending.next_turn()),
            Self::TimeOff(most) => at_most(*most, Some(ending.time_off)),
            Self::TempAdmin { at, person } => {
                let seen = ending.temp_admins.get(at).copied().flatten();
                let told = |who: Option<u64>| {
                    who.map_or_else(|| "nobody".to_owned(), |who| format!("person {who}"))
                };
                (seen == *person, format!("{} at {at:?}", told(*person)), told(seen))
            }
            Self::Servers(group, servers) => {
                let seen = ending.groups.get(group).cloned().unwrap_or_default();
                (seen == *servers, format!("{servers:?}"), format!("{seen:?}"))
            }
            Self::Refused(why, least) => {
                at_least(*least, ending.refused.get(why.as_str()).copied().unwrap_or(0))
            }
            Self::HungUp(why, least) => {
                at_least(*least, ending.hung_up.get(why.as_str()).copied().unwrap_or(0))
            }
            Self::Heard(words) => {
                let heard = ending.heard.iter().any(|line| line.contains(words));
                let seen = format!("{} lines without it", ending.heard.len());
                (heard, format!("a line with {words:?}"), seen)
            }
        };
        (!met).then(|| Unmet { expectation: self.name(), expected, seen })
    }
}

fn at_least(least: u64, seen: u64) -> (bool, String, String) {
    (seen >= least, format!("at least {least}"), seen.to_string())
}

fn at_most(most: Duration, seen: Option<Duration>) -> (bool, String, String) {
    let told = seen.map_or_else(|| "never".to_owned(), |seen| format!("{seen:?}"));
    (seen.is_some_and(|seen| seen <= most), format!("at most {most:?}"), told)
}
