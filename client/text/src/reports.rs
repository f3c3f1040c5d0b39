//! Reports in words: what people tell moderators, and what moderators decide.

use std::time::Duration;

use metatopia_client::text::{ReportCommand, printable, report_line};
use metatopia_protocol::{Answer, Question, ReportEntry, take_page};
use metatopia_types::{Act, GovernOrder, Outcome, Refusal, ReportSubject, RoleRight};

use super::{
    builder::{key_digits, player},
    deeds::conclude,
    pointing::pointed,
    room::{ActProgress, TextClient},
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

pub(super) async fn obey(
    room: &mut TextClient,
    what: ReportCommand,
) -> Result<(), TextClientError> {
    match what {
        ReportCommand::List => list(room).await,
        ReportCommand::File(name, words) => file(room, &name, words).await,
        ReportCommand::FileWords(number, words) => file_words(room, number, words).await,
        ReportCommand::Withdraw(report) => {
            let fate = room.perform(Act::WithdrawReport { report }, Vec::new()).await?;
            conclude(room, fate, &format!("You withdraw report {report}."))
        }
        ReportCommand::Decide(report, ruling, reason) => {
            let order = GovernOrder::Decide { report, ruling, reason };
            let fate = room.perform(Act::Govern(order), Vec::new()).await?;
            let done = format!("Report {report} is {}; who filed it is told.", ruling.word());
            conclude(room, fate, &done)
        }
    }
}

/// Tells moderators of a thing or a person in sight, or of a person elsewhere in the sim.
async fn file(room: &mut TextClient, name: &str, words: String) -> Result<(), TextClientError> {
    let scene = room.look_around().await?;
    let scene = scene.as_ref().filter(|_| key_digits(name).is_none());
    let seen = scene.and_then(|scene| pointed(scene, room.it, name));
    let meant = seen.map(|object| match &object.player {
        Some(player) => (ReportSubject::Person(player.key), object.name.clone()),
        None => (ReportSubject::Thing(object.id), object.name.clone()),
    });
    let (about, called) = match meant {
        Some(meant) => meant,
        None => match player(room, name).await? {
            Some((key, called)) => (ReportSubject::Person(key), called),
            None => return Ok(()),
        },
    };
    let fate = room.perform(Act::FileReport { about, words }, Vec::new()).await?;
    let called = printable(&called);
    if fate == ActProgress::Done(Outcome::Refused(Refusal::AlreadySo)) {
        let line = format!("Your report of {called} is open still; `reports` lists it.");
        return room.tell(LineKind::Refused, &line);
    }
    let done = format!("Moderators are told of {called}; `reports` tells what they decided.");
    conclude(room, fate, &done)
}

/// Shows moderators private words that came.
async fn file_words(
    room: &mut TextClient,
    number: u64,
    words: String,
) -> Result<(), TextClientError> {
    let Some((act, blobs)) = room.correspondence.report(number, words) else {
        let line = format!("There are no private words {number}; `mailbox` shows what there is.");
        return room.tell(LineKind::Refused, &line);
    };
    let fate = room.perform(act, blobs).await?;
    let done = format!("Moderators can read words {number} now, and no others.");
    conclude(room, fate, &done)
}

/// Lists one's own reports; whoever may moderate reads all that are open.
async fn list(room: &mut TextClient) -> Result<(), TextClientError> {
    let key = room.driver.author();
    let moderates = match room.driver.ask(Question::Person { key }, ANSWER).await? {
        Answer::Person(own) => {
            let may = own.rights.iter().any(|given| given.right == RoleRight::Moderate);
            own.admin || own.temp_admin || may
        }
        _ => false,
    };
    let all = reports(room).await?;
    let is_shown = |entry: &&ReportEntry| entry.by == key || moderates && entry.ruling.is_none();
    let lines: Vec<String> = all.iter().filter(is_shown).map(report_line).collect();
    if lines.is_empty() {
        let line = if moderates { "No report is open." } else { "You have filed no report." };
        return room.tell(LineKind::Answer, line);
    }
    lines.iter().try_for_each(|line| room.tell(LineKind::Answer, line))
}

/// Returns the reports of the sim, as the node says.
async fn reports(room: &mut TextClient) -> Result<Vec<ReportEntry>, TextClientError> {
    let (mut all, mut next) = (Vec::new(), Some(0));
    while let Some(after) = next {
        let Answer::Reports(page) = room.driver.ask(Question::Reports { after }, ANSWER).await?
        else {
            return Ok(all);
        };
        next = take_page(&mut all, page);
    }
    Ok(all)
}
