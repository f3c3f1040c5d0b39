//! Reports: what people told moderators, in the order in which it was told, and what was decided.

use std::collections::BTreeSet;

use metatopia_types::{BlobId, Height, PublicKey, Refusal, ReportSubject, Ruling};
use serde::{Deserialize, Serialize};

use crate::{
    limits::{
        REPORTS_DECIDED_KEPT, REPORTS_OF_NEWCOMERS_MAX, REPORTS_OPEN_MAX, REPORTS_PER_PERSON_MAX,
    },
    state::World,
    tree::Tracked,
};

/// A report that somebody filed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiledReport {
    /// Who filed it.
    pub by: PublicKey,
    /// Whether the reporter was no regular then.
    pub newcomer: bool,
    /// What it is about.
    pub about: ReportSubject,
    /// What the thing or the person was called then.
    pub name: String,
    /// The person, or the owner of the thing then; nobody means the sim.
    pub accused: Option<PublicKey>,
    /// What the reporter said.
    pub words: String,
    /// The turn that brought it.
    pub height: Height,
    /// The governance time then.
    pub time: u64,
    /// What was decided; none while it is open.
    pub ruling: Option<GivenRuling>,
    /// What the private words say that it is about. Their author signed them.
    pub opened: Option<String>,
}

/// What a moderator decided about a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRuling {
    /// The moderator who decided.
    pub by: PublicKey,
    /// What was decided.
    pub ruling: Ruling,
    /// Why, in a line.
    pub reason: String,
    /// The turn that carried it out.
    pub height: Height,
}

/// The reports of a sim, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    pub(crate) all: Tracked<u64, FiledReport>,
    /// Index: the open ones, by who filed them.
    open: BTreeSet<(PublicKey, u64)>,
    /// Index: the open ones of newcomers.
    of_newcomers: BTreeSet<u64>,
    /// Index: the decided ones, in the order in which they were decided.
    decided: BTreeSet<(Height, u64)>,
}

impl Reports {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        let (mut open, mut of_newcomers) = (BTreeSet::new(), BTreeSet::new());
        let mut decided = BTreeSet::new();
        for (number, report) in self.all.iter() {
            match &report.ruling {
                Some(given) => drop(decided.insert((given.height, *number))),
                None => {
                    open.insert((report.by, *number));
                    of_newcomers.extend(report.newcomer.then_some(*number));
                }
            }
        }
        (self.open, self.of_newcomers, self.decided) = (open, of_newcomers, decided);
    }

    /// Returns the numbers of the open reports of a person.
    fn open_of(&self, by: &PublicKey) -> impl Iterator<Item = u64> {
        self.open.range((*by, 0)..=(*by, u64::MAX)).map(|(_, number)| *number)
    }

    /// Returns an open report.
    pub(crate) fn open(&self, number: u64) -> Result<&FiledReport, Refusal> {
        let report = self.all.get(&number).filter(|report| report.ruling.is_none());
        report.ok_or(Refusal::NoReport)
    }

    /// Checks that somebody may file one more report, about this.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub(crate) fn check_room(
        &self,
        by: &PublicKey,
        is_newcomer: bool,
        about: ReportSubject,
    ) -> Result<(), Refusal> {
        let is_about =
            |number: u64| self.all.get(&number).is_some_and(|report| report.about == about);
        if self.open_of(by).any(is_about) {
            return Err(Refusal::AlreadySo);
        }
        if self.open_of(by).count() >= REPORTS_PER_PERSON_MAX {
            return Err(Refusal::TooManyReports);
        }
        let is_full = self.open.len() >= REPORTS_OPEN_MAX;
        if is_full || is_newcomer && self.of_newcomers.len() >= REPORTS_OF_NEWCOMERS_MAX {
            return Err(Refusal::QueueFull);
        }
        Ok(())
    }

    /// Adds a report that is open.
    pub(crate) fn file(&mut self, number: u64, report: FiledReport) {
        self.open.insert((report.by, number));
        self.of_newcomers.extend(report.newcomer.then_some(number));
        self.all.insert(number, report);
    }

    /// Takes an open report out of the queue, and returns it.
    fn close(&mut self, number: u64) -> Option<FiledReport> {
        let report = self.open(number).ok()?.clone();
        self.open.remove(&(report.by, number));
        self.of_newcomers.remove(&number);
        Some(report)
    }

    /// Forgets an open report, as its reporter wants.
    pub(crate) fn withdraw(&mut self, number: u64) {
        if self.close(number).is_some() {
            self.all.remove(&number);
        }
    }

    /// Forgets the open reports of a key that is shut out.
    pub(crate) fn forget_open_of(&mut self, by: &PublicKey) {
        let numbers: Vec<u64> = self.open_of(by).collect();
        numbers.into_iter().for_each(|number| self.withdraw(number));
    }

    /// Closes a report by a ruling, and forgets the one that was decided first if too many are remembered.
    pub(crate) fn decide(&mut self, number: u64, given: GivenRuling) {
        let report = self.close(number).expect("an act decides a report that is open");
        self.decided.insert((given.height, number));
        self.all.insert(number, FiledReport { ruling: Some(given), ..report });
        if self.decided.len() > REPORTS_DECIDED_KEPT
            && let Some((_, oldest)) = self.decided.pop_first()
        {
            self.all.remove(&oldest);
        }
    }

    /// Returns the report of a turn that shows the private words in this blob.
    pub(crate) fn showing(&self, height: Height, body: BlobId) -> Option<&FiledReport> {
        self.all.iter().map(|(_, report)| report).find(|report| shows(report, height, body))
    }

    /// Forgets what reports of a turn show of the private words in this blob.
    pub(crate) fn forget_opened(&mut self, height: Height, body: BlobId) {
        let showing = self.all.iter().filter(|(_, report)| shows(report, height, body));
        let numbers: Vec<u64> = showing.map(|(number, _)| *number).collect();
        for number in numbers {
            if let Some(report) = self.all.get_mut(&number) {
                report.opened = None;
            }
        }
    }

    /// Makes everything that is said of one key be said of another.
    pub(crate) fn change_key(&mut self, old: &PublicKey, new: PublicKey) {
        // What a report about a person names is who is accused.
        let names = |report: &FiledReport| report.by == *old || report.accused == Some(*old);
        let named = self.all.iter().filter(|(_, report)| names(report));
        let numbers: Vec<u64> = named.map(|(number, _)| *number).collect();
        for number in numbers {
            let Some(report) = self.all.get_mut(&number) else { continue };
            if report.by == *old {
                report.by = new;
            }
            if report.accused == Some(*old) {
                report.accused = Some(new);
            }
            match &mut report.about {
                ReportSubject::Person(key) | ReportSubject::Words { by: key, .. } if key == old => {
                    *key = new;
                }
                _ => {}
            }
        }
        self.index();
    }
}

/// Says whether a report of this turn still shows the private words in this blob.
fn shows(report: &FiledReport, height: Height, body: BlobId) -> bool {
    let is_it = matches!(report.about, ReportSubject::Words { opened, .. } if opened == body);
    report.height == height && report.opened.is_some() && is_it
}

impl World {
    /// Returns a report that the state remembers.
    #[must_use]
    pub fn report(&self, number: u64) -> Option<&FiledReport> {
        self.state.people.reports.all.get(&number)
    }

    /// Returns the reports with greater numbers, ascending.
    pub fn reports_after(&self, after: u64) -> impl Iterator<Item = (u64, &FiledReport)> {
        self.state.people.reports.all.after(after).map(|(number, report)| (*number, report))
    }
}

#[cfg(test)]
mod tests;
