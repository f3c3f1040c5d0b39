//! Reports: decides what people tell moderators, and what moderators decide about it.

use std::collections::BTreeSet;

use metatopia_math::Vec2;
use metatopia_physics::Body;
use metatopia_types::{
    GovernOrder, ObjectId, PublicKey, Refusal, ReportSubject, RoleRight, Ruling,
    limits::REPORT_BYTES_MAX,
};

use super::{
    changes::StateChange,
    chat::{SpokenLine, WHISPERED},
    context::{ActContext, ActResult},
};
use crate::{
    limits::{MODERATORS_TOLD_MAX, REPORTS_TOLD_PER_TURN_MAX},
    rules::{ActTarget, FiledReport, GivenRuling, OrderedDeed, Right},
    state::{State, is_line},
};

/// A change of the queue of reports.
pub(super) enum ReportChange {
    /// Adds a report.
    File(Box<FiledReport>),
    /// Forgets a report.
    Withdraw(u64),
    /// Closes a report by a ruling.
    Decide(u64, GivenRuling),
}

impl ActContext<'_> {
    /// Decides a report, which anybody files who is in the sim.
    pub(super) fn file_report(&self, about: ReportSubject, words: &str) -> ActResult {
        let player = self.renewed_player()?;
        let is_said = !words.trim().is_empty() && is_line(words);
        if words.len() > REPORT_BYTES_MAX || !is_said {
            return Err(Refusal::BadText);
        }
        let (name, accused) = self.state.reported(about)?;
        let newcomer = player.since.regular.is_none();
        self.state.people.reports.check_room(&self.author(), newcomer, about)?;
        let opened = match about {
            ReportSubject::Words { .. } if !self.counts.is_checked => {
                return Err(Refusal::TooOften);
            }
            ReportSubject::Words { by, opened } => Some(self.opened(&by, opened)?),
            ReportSubject::Thing(_) | ReportSubject::Person(_) => None,
        };
        let report = FiledReport {
            by: self.author(),
            newcomer,
            about,
            name,
            accused,
            words: words.to_owned(),
            height: self.state.clock.height,
            time: self.state.governance.time,
            ruling: None,
            opened,
        };
        let mut changes = vec![StateChange::Player(self.author(), player)];
        changes.extend(self.calls_moderators(&report).map(StateChange::Chat));
        changes.push(StateChange::Report(Box::new(ReportChange::File(Box::new(report)))));
        Ok(changes)
    }

    /// Returns the lines by which those who may rule on a new report hear of it, if they are here: admins first.
    /// Neither its words nor what it is about are told, and nobody who is muted is heard, so that a report is no way
    /// to shout at moderators. Of newcomers one report a turn is told.
    fn calls_moderators(&self, report: &FiledReport) -> impl Iterator<Item = SpokenLine> {
        let state = self.state;
        let number = state.governance.reports.saturating_add(1);
        let told = if report.newcomer { 1 } else { REPORTS_TOLD_PER_TURN_MAX };
        let muted = state.people.mute(&report.by, state.governance.time).is_some();
        let room = match self.counts.reports < told && !muted {
            true => MODERATORS_TOLD_MAX,
            false => 0,
        };
        let governance = &state.governance;
        let named = governance.admins.iter().chain(&governance.temp_admin);
        let given = state
            .people
            .roles
            .iter()
            .filter(|(_, role)| role.rights.contains_key(&RoleRight::Moderate));
        let keys = named.chain(given.map(|(key, _)| key));
        let (right, target) = state.right_to_rule(report);
        let judges = keys.filter(|key| {
            **key != report.by
                && state.present.contains_key(key)
                && state.may(key, right, &target).is_ok()
                && state.check_judge(report, key).is_ok()
        });
        let hearers: BTreeSet<PublicKey> = judges.copied().take(room).collect();
        let text = format!("I have filed report {number}");
        hearers.into_iter().map(move |hearer| self.whispered(hearer, text.clone()))
    }

    /// Decides whether the author takes back a report.
    pub(super) fn withdraw_report(&self, number: u64) -> ActResult {
        let player = self.renewed_player()?;
        let report = self.state.people.reports.open(number)?;
        if report.by != self.author() {
            return Err(Refusal::NoReport);
        }
        let withdraw = StateChange::Report(Box::new(ReportChange::Withdraw(number)));
        Ok(vec![StateChange::Player(self.author(), player), withdraw])
    }

    /// Returns the changes by which a ruling closes a report, and its reporter hears of it.
    pub(super) fn decide_report(
        &self,
        number: u64,
        ruling: Ruling,
        reason: &str,
    ) -> Result<[StateChange; 2], Refusal> {
        let report = self.state.people.reports.open(number)?;
        self.state.check_judge(report, &self.author())?;
        let (by, height) = (self.author(), self.state.clock.height);
        let given = GivenRuling { by, ruling, reason: reason.to_owned(), height };
        let line = StateChange::Chat(self.told(number, report, &given));
        let close = StateChange::Report(Box::new(ReportChange::Decide(number, given)));
        Ok([close, line])
    }

    /// Returns the line by which a reporter hears what was decided. Nobody else hears it.
    fn told(&self, number: u64, report: &FiledReport, given: &GivenRuling) -> SpokenLine {
        let (about, ruling) = (&report.name, given.ruling.word());
        let reason = match given.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let text = format!("Your report {number} about {about} was {ruling}{reason}");
        self.whispered(report.by, text)
    }

    /// Returns a line of the author that one person hears.
    fn whispered(&self, hearer: PublicKey, text: String) -> SpokenLine {
        let avatar = self.state.present.get(&self.author()).copied();
        let body = avatar.and_then(|avatar| self.state.bodies.body(avatar));
        let name = self.state.players.get(&self.author()).map(|player| player.name.clone());
        SpokenLine {
            height: self.state.clock.height,
            tick: self.tick(),
            channel: WHISPERED,
            // Who has no avatar speaks from nowhere.
            speaker: avatar.unwrap_or(ObjectId(0)),
            player: Some(self.author()),
            hearer: Some(hearer),
            club: None,
            name: name.unwrap_or_default(),
            place: body.map_or(Vec2::ZERO, Body::position),
            text,
        }
    }
}

impl State {
    /// Returns what something is called that a report is about, and whose it is.
    fn reported(&self, about: ReportSubject) -> Result<(String, Option<PublicKey>), Refusal> {
        match about {
            ReportSubject::Thing(object) => {
                let thing = self.thing(object)?;
                Ok((thing.name.clone(), thing.owner))
            }
            ReportSubject::Person(key) => self.reported_person(key),
            // Who told the words may have another key by now.
            ReportSubject::Words { by, .. } => self.reported_person(self.key_now(by)),
        }
    }

    /// Returns what a person is called that a report is about, and her key.
    fn reported_person(&self, key: PublicKey) -> Result<(String, Option<PublicKey>), Refusal> {
        let player = self.players.get(&key).ok_or(Refusal::NoPlayer)?;
        Ok((player.name.clone(), Some(key)))
    }

    /// Returns the right that a ruling on a report needs, and whom it is about: a ruling is for who has more to
    /// say than the person. About a permanent admin only permanent admins rule, for there is nobody above.
    pub(super) fn ruling_request(&self, number: u64) -> Result<(Right, ActTarget<'_>), Refusal> {
        Ok(self.right_to_rule(self.people.reports.open(number)?))
    }

    /// Returns the right that a ruling on this report needs, and whom it is about.
    fn right_to_rule<'a>(&self, report: &'a FiledReport) -> (Right, ActTarget<'a>) {
        let accused = report.accused.as_ref();
        if accused.is_some_and(|key| self.governance.admins.contains(key)) {
            return (Right::Appoint, ActTarget::SIM);
        }
        (Right::Moderate, ActTarget { person: accused, ..ActTarget::SIM })
    }

    /// Checks that nobody rules about herself, but for a permanent admin who is the only one: there is nobody
    /// else who could.
    pub(super) fn check_judge(
        &self,
        report: &FiledReport,
        author: &PublicKey,
    ) -> Result<(), Refusal> {
        let herself = report.accused.as_ref() == Some(author);
        let is_other = self.governance.admins.iter().any(|admin| admin != author);
        if herself && is_other { Err(Refusal::Outranked) } else { Ok(()) }
    }

    /// Returns the record of a ruling, which says what the report is about.
    pub(super) fn ruling_deed(&self, order: &GovernOrder) -> Option<OrderedDeed> {
        let GovernOrder::Decide { report, ruling, reason } = order else { return None };
        let about = self.people.reports.open(*report).ok()?.about;
        Some(OrderedDeed::Decide {
            report: *report,
            about,
            ruling: *ruling,
            reason: reason.clone(),
        })
    }

    /// Changes the queue of reports.
    pub(super) fn change_reports(&mut self, change: ReportChange) {
        match change {
            ReportChange::File(report) => {
                self.governance.reports = self.governance.reports.saturating_add(1);
                self.people.reports.file(self.governance.reports, *report);
            }
            ReportChange::Withdraw(number) => self.people.reports.withdraw(number),
            ReportChange::Decide(number, given) => self.people.reports.decide(number, given),
        }
    }
}
