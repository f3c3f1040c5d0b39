//! What came out of a story, and what people were told held against what the logs hold.

use std::collections::BTreeMap;
use std::time::Duration;

use metatopia_oracle::{Law, Violation};
use metatopia_types::{ActId, Digest, Height, Millis};

use super::nodes::ReplicaServers;
use super::oracle::ObservedAct;
use super::person::{ActStatus, Person, PersonAct};
use crate::class::Fired;

/// What came out of a story.
#[derive(Debug)]
pub struct Account {
    /// Which laws were broken.
    pub faults: Vec<Violation>,
    /// Everybody, with every act.
    pub people: Vec<Person>,
    /// Turns that were decided.
    pub turns: usize,
    /// Acts in them.
    pub acts: usize,
    /// The time of each turn, from height 1 on.
    pub times: Vec<Millis>,
    /// Who built which turns, by seat.
    pub built: BTreeMap<usize, Vec<Height>>,
    /// Processes that died.
    pub crashes: u64,
    /// When each height was first applied, and in which round its turn was built.
    pub decided: BTreeMap<u64, (Duration, u32)>,
    /// The last applied height of every server that runs.
    pub heights: Vec<Option<u64>>,
    /// How often which fault fired.
    pub fired: Fired,
    /// Time of the world.
    pub took: Duration,
    /// Events of the world.
    pub events: u64,
    /// What happened, if that was asked for.
    pub history: Vec<String>,
    /// The servers, as they were seen.
    pub servers: ReplicaServers,
    /// The same for every run of this story with this seed.
    pub digest: Digest,
}

/// Compares what a person was told with what was decided. Of turns that are `forgotten` servers may know no
/// more than that their acts are used up.
pub(super) fn check_person(
    person: &Person,
    places: &BTreeMap<ActId, ObservedAct>,
    forgotten: &dyn Fn(Height) -> bool,
) -> Vec<(Law, String)> {
    // All servers of these stories are honest.
    let distrust =
        person.distrust.iter().map(|why| (Law::Proof, format!("{}: {why}", person.name)));
    let mut faults: Vec<(Law, String)> = distrust.collect();
    let mut in_order: Vec<(&ActId, &PersonAct)> = person.deeds.iter().collect();
    in_order.sort_by_key(|(_, deed)| deed.seq);
    let mut last = Height(0);
    for (id, deed) in in_order {
        let found = places.get(id);
        let mut blame = |law: Law, what: &str| {
            let name = &person.name;
            faults.push((law, format!("{name}: {what}: {deed:?}, in the logs {found:?}")));
        };
        match deed.fate {
            ActStatus::Waiting if person.ended.is_none() => {
                blame(Law::LateAct, "nobody knows what became of it")
            }
            ActStatus::Waiting => {}
            ActStatus::Receipted { height, index, .. } => {
                if found.map(|entry| (entry.height, entry.index)) != Some((height, index)) {
                    blame(Law::Lost, "lost in spite of its receipt");
                }
                if height < last {
                    blame(Law::Lane, "decided before an earlier one");
                }
                if deed.receipts != 1 {
                    blame(Law::Receipt, "receipted not once");
                }
                last = height;
            }
            // For another reason it is as good as before: strangers may have handed it in.
            ActStatus::Refused(why)
                if why.is_lasting() && found.is_some_and(|entry| !forgotten(entry.height)) =>
            {
                blame(Law::Receipt, "refused, and decided");
            }
            ActStatus::Refused(_) => {}
        }
        let outcome = found.map(|entry| entry.outcome);
        let said = [deed.told, deed.proved];
        if said.into_iter().flatten().any(|said| Some(said) != outcome) {
            blame(Law::Outcome, "another outcome");
        }
    }
    faults
}

impl Account {
    /// Asserts that nothing was wrong.
    ///
    /// # Panics
    /// With the seed and the faults, if something was.
    #[track_caller]
    pub fn assert_sound(&self) {
        let setting = &self.servers.setting;
        let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        assert!(faults.is_empty(), "{setting:#?}\n{faults:#?}");
    }
}
