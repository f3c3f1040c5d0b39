//! Who decides, in words.

use std::time::Duration;

use metatopia_protocol::{Answer, DelayedEntry, Question};
use metatopia_types::{PublicKey, SetChange};

use super::room::TextClient;
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
    let now = match &told.temp_admin {
        Some(key) => format!("{} acts for the admins until one of them logs in.", short(key)),
        None => format!(
            "If no admin logs in for {}, the first in line acts for them.",
            span(told.countdown)
        ),
    };
    room.tell(LineKind::Answer, &now)?;
    if let Some(left) = told.time_left {
        room.tell(LineKind::Answer, &ends(left))?;
    }
    for delayed in &told.delayed {
        room.tell(LineKind::Answer, &waiting(delayed))?;
    }
    Ok(())
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
        Ok(left @ 1..) => format!("The sim ends in {} minutes.", left.div_ceil(MINUTE_MS)),
        _ => "The sim has ended.".to_owned(),
    }
}

fn short(key: &PublicKey) -> String {
    key.to_string()[..8].to_owned()
}

fn span(milliseconds: u64) -> String {
    let hours = milliseconds / HOUR_MS;
    format!("{} days and {} hours", hours / 24, hours % 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_waits_is_told_with_what_stops_it() {
        let (key, by, left) = (PublicKey([1; 32]), PublicKey([2; 32]), 47 * HOUR_MS);
        let delayed = DelayedEntry { change: SetChange::Remove { key }, by, left };

        assert_eq!(
            waiting(&delayed),
            "01010101 is to vote no longer in 1 days and 23 hours, as 02020202 asked; an admin's \
                login stops it."
        );
    }
}
