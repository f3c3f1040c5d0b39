//! Who decides, in words.

use std::time::Duration;

use metatopia_client::text::{falls, printable};
use metatopia_protocol::{Answer, AreaRightEntry, DelayedEntry, Question, SanctionEntry};
use metatopia_sim::Introduction;
use metatopia_types::{PublicKey, SetChange};

use super::{charter, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

const MINUTE_MS: u64 = 60 * 1_000;

const HOUR_MS: u64 = 3_600 * 1_000;

pub(super) async fn rules(room: &mut TextClient) -> Result<(), TextClientError> {
    let Answer::Governance(told) = room.driver.ask(Question::Governance, ANSWER).await? else {
        return room.tell(LineKind::Refused, "The node does not say who decides.");
    };
    for admin in &told.admins {
        room.tell(LineKind::Answer, &format!("{} is an admin.", short(admin)))?;
    }
    // Names of players are in it.
    let countdown = printable(&told.admin_countdown().words());
    room.tell(LineKind::Answer, &format!("Admins: {countdown}."))?;
    if !told.motd.is_empty() {
        room.tell(LineKind::Answer, &format!("Message of the day: {}", printable(&told.motd)))?;
    }
    if let Some(charter) = charter::proved(room).await? {
        tell_house_rules(room, &charter.introduction, LineKind::Answer)?;
        if let Some(falls) = falls(charter.parameters.gravity) {
            room.tell(LineKind::Answer, &format!("All that is loose falls {falls}."))?;
        }
    }
    if let Some(left) = told.time_left {
        room.tell(LineKind::Answer, &ends(left))?;
    }
    for delayed in &told.delayed {
        room.tell(LineKind::Answer, &waiting(delayed))?;
    }
    let key = room.driver.author();
    if let Answer::Person(own) = room.driver.ask(Question::Person { key }, ANSWER).await? {
        for given in &own.rights {
            let right = format!("You may {}, {}.", given.right.word(), lasts(given.left));
            room.tell(LineKind::Answer, &right)?;
        }
        for on_area in &own.area_rights {
            room.tell(LineKind::Answer, &area_right(on_area))?;
        }
        if let Some(mute) = &own.mute {
            room.tell(LineKind::Answer, &muted(mute))?;
        }
    }
    Ok(())
}

fn tell_house_rules(
    room: &TextClient,
    introduction: &Introduction,
    kind: LineKind,
) -> Result<(), TextClientError> {
    let mut lines = introduction.house_rules.lines().filter(|line| !line.is_empty());
    lines.try_for_each(|line| room.tell(kind, &format!("House rules: {}", printable(line))))
}

/// Tells somebody who comes near a border the house rules of the neighbour, and how she agrees to them.
pub(super) fn offer(
    room: &TextClient,
    there: &str,
    introduction: &Introduction,
) -> Result<(), TextClientError> {
    tell_house_rules(room, introduction, LineKind::Warned)?;
    let how = format!("These are the house rules of {there}. To agree and go there, type `agree`.");
    room.tell(LineKind::Warned, &how)
}

/// Tells somebody the house rules who came over a border by a pass from before they were changed.
pub(super) async fn tell_unread(room: &mut TextClient) -> Result<(), TextClientError> {
    let Some(charter) = charter::proved(room).await? else { return Ok(()) };
    if room.has_agreed(&charter.introduction) {
        return Ok(());
    }
    tell_house_rules(room, &charter.introduction, LineKind::Warned)?;
    room.note("Whoever stays here agrees to them. `rules` tells them again.");
    Ok(())
}

/// Agrees to the house rules that were told last. Whoever is near a border is announced at once.
pub(super) async fn agree(room: &mut TextClient) -> Result<(), TextClientError> {
    if !room.agree() {
        let told = "You were told no house rules that you have not agreed to.";
        return room.tell(LineKind::Refused, told);
    }
    room.tell(LineKind::Done, "You agree to them.")?;
    room.attend_border().await.map(|_| ())
}

/// Tells what everybody reads who comes, if there is anything.
pub(super) async fn greet(room: &mut TextClient) -> Result<(), TextClientError> {
    let Answer::Governance(told) = room.driver.ask(Question::Governance, ANSWER).await? else {
        return Ok(());
    };
    if !told.motd.is_empty() {
        room.note(&format!("Message of the day: {}", printable(&told.motd)));
    }
    Ok(())
}

/// Tells somebody whose words were refused why, and for how long.
pub(super) async fn tell_mute(room: &mut TextClient) -> Result<(), TextClientError> {
    let key = room.driver.author();
    if let Answer::Person(own) = room.driver.ask(Question::Person { key }, ANSWER).await?
        && let Some(mute) = &own.mute
    {
        room.tell(LineKind::Refused, &muted(mute))?;
    }
    Ok(())
}

fn area_right(entry: &AreaRightEntry) -> String {
    let AreaRightEntry { area, given } = entry;
    format!("You may {} on {area}, {}.", given.right.word(), lasts(given.left))
}

fn muted(mute: &SanctionEntry) -> String {
    let reason = match mute.reason.as_str() {
        "" => "no reason was given".to_owned(),
        reason => printable(reason),
    };
    format!("{} muted you, {}: {reason}.", short(&mute.by), lasts(mute.left))
}

/// Returns how long something lasts, in words.
fn lasts(left: Option<u64>) -> String {
    match left {
        None => "for good".to_owned(),
        Some(left) if left < HOUR_MS => {
            format!("for {}", number_of(left.div_ceil(MINUTE_MS), "more minute"))
        }
        Some(left) => format!("for {} more", span(left)),
    }
}

fn waiting(delayed: &DelayedEntry) -> String {
    let (what, server) = match &delayed.change {
        SetChange::Add { key, .. } => ("is to vote", key),
        SetChange::Remove { key } => ("is to vote no longer", key),
        SetChange::Reserve { key, .. } => ("is to be in reserve", key),
    };
    let (server, by, left) = (short(server), short(&delayed.by), span(delayed.left));
    format!("{server} {what} in {left}, as {by} asked; an admin's login stops it.")
}

/// Returns when a sim ends, in words.
fn ends(left: i64) -> String {
    match u64::try_from(left) {
        Ok(left @ 1..) => {
            format!("The sim ends in {}.", number_of(left.div_ceil(MINUTE_MS), "minute"))
        }
        _ => "The sim has ended.".to_owned(),
    }
}

fn short(key: &PublicKey) -> String {
    key.to_string()[..8].to_owned()
}

/// Returns a span of time in words, to the hour; to the minute if it is shorter than one.
fn span(milliseconds: u64) -> String {
    let hours = milliseconds / HOUR_MS;
    match (hours / 24, hours % 24) {
        (0, 0) => number_of(milliseconds / MINUTE_MS, "minute"),
        (0, hours) => number_of(hours, "hour"),
        (days, 0) => number_of(days, "day"),
        (days, hours) => format!("{} and {}", number_of(days, "day"), number_of(hours, "hour")),
    }
}

/// Returns a number with its noun, such as `1 day` or `3 days`.
fn number_of(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::RightEntry;
    use metatopia_types::{GroundArea, RoleRight};

    use super::*;

    #[test]
    fn a_right_for_an_area_is_told_with_the_area_and_for_how_long() {
        let (right, by, left) = (RoleRight::Build, PublicKey([2; 32]), None);
        let area = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
        let entry = AreaRightEntry { area, given: RightEntry { right, by, left } };
        assert_eq!(area_right(&entry), "You may build on 16 m x 8 m at 4, -20, for good.");
    }

    #[test]
    fn a_mute_is_told_with_who_for_how_long_and_why() {
        let (by, left) = (PublicKey([2; 32]), Some(90_000));
        let mute = SanctionEntry { by, left, reason: "shouting".to_owned() };
        assert_eq!(muted(&mute), "02020202 muted you, for 2 more minutes: shouting.");
        let mute = SanctionEntry { left: None, reason: String::new(), ..mute };
        assert_eq!(muted(&mute), "02020202 muted you, for good: no reason was given.");
    }

    #[test]
    fn a_span_of_time_is_told_without_what_it_has_none_of() {
        let told = [0, 61_000, HOUR_MS, 25 * HOUR_MS, 48 * HOUR_MS, 72 * HOUR_MS - 1].map(span);
        assert_eq!(
            told,
            [
                "0 minutes",
                "1 minute",
                "1 hour",
                "1 day and 1 hour",
                "2 days",
                "2 days and 23 hours"
            ]
        );
        assert_eq!(ends(59_000), "The sim ends in 1 minute.");
    }

    #[test]
    fn a_change_that_waits_is_told_with_what_stops_it() {
        let (key, by, left) = (PublicKey([1; 32]), PublicKey([2; 32]), 47 * HOUR_MS);
        let delayed = DelayedEntry { change: SetChange::Remove { key }, by, left };

        assert_eq!(
            waiting(&delayed),
            "01010101 is to vote no longer in 1 day and 23 hours, as 02020202 asked; an admin's \
                login stops it."
        );
    }
}
