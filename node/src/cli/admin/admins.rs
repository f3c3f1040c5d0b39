//! `admin admins` lists who may do what in a sim, and whom moderators stopped.

use std::{fmt, time::Duration};

use clap::Args;
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{
    Answer, AreaRightEntry, GovernanceEntry, PersonEntry, Question, RightEntry, SanctionEntry,
    take_page,
};
use serde::Serialize;

use crate::cli::{
    console::Console,
    failure::Failure,
    session::{ANSWER, NodeArgs},
};

#[derive(Debug, Args)]
pub(in crate::cli) struct AdminsArgs {
    #[command(flatten)]
    at: NodeArgs,
}

/// Who may do what.
#[derive(Debug, Serialize)]
struct Governed {
    admins: Vec<String>,
    temp_admin: Option<String>,
    /// How long admins were away, and who takes over.
    countdown: String,
    motd: String,
    people: Vec<PersonLine>,
}

/// A key about which something was ordered.
#[derive(Debug, Serialize)]
struct PersonLine {
    key: String,
    name: String,
    rights: Vec<String>,
    area_rights: Vec<String>,
    banned: Option<String>,
    muted: Option<String>,
}

impl fmt::Display for Governed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for admin in &self.admins {
            writeln!(f, "admin       {admin}")?;
        }
        if let Some(key) = &self.temp_admin {
            writeln!(f, "temp admin  {key}")?;
        }
        write!(f, "countdown   {}", self.countdown)?;
        if !self.motd.is_empty() {
            write!(f, "\nmessage     {}", self.motd)?;
        }
        for person in &self.people {
            write!(f, "\n{}  {}", person.key, person.name)?;
            for right in person.rights.iter().chain(&person.area_rights) {
                write!(f, "\n  may {right}")?;
            }
            for (what, told) in [("banned", &person.banned), ("muted", &person.muted)] {
                if let Some(told) = told {
                    write!(f, "\n  {what} {told}")?;
                }
            }
        }
        Ok(())
    }
}

/// Returns how long something lasts, in words.
fn lasts(left: Option<u64>) -> String {
    let span = |left: u64| humantime::format_duration(Duration::from_secs(left.div_ceil(1_000)));
    left.map_or("for good".to_owned(), |left| format!("for {}", span(left)))
}

fn sanction(entry: &SanctionEntry) -> String {
    let (by, lasts) = (&entry.by.to_string()[..8], lasts(entry.left));
    match entry.reason.as_str() {
        "" => format!("{lasts} by {by}"),
        reason => format!("{lasts} by {by}: {reason}"),
    }
}

fn line(person: PersonEntry) -> PersonLine {
    let terms =
        |given: &RightEntry| format!("{} by {}", lasts(given.left), &given.by.to_string()[..8]);
    let right = |given: &RightEntry| format!("{} {}", given.right.word(), terms(given));
    let on_area = |AreaRightEntry { area, given }: &AreaRightEntry| {
        format!("{} on {area}, {}", given.right.word(), terms(given))
    };
    PersonLine {
        key: person.key.to_string(),
        name: person.name,
        rights: person.rights.iter().map(right).collect(),
        area_rights: person.area_rights.iter().map(on_area).collect(),
        banned: person.ban.as_ref().map(sanction),
        muted: person.mute.as_ref().map(sanction),
    }
}

pub(in crate::cli) async fn run(args: AdminsArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let told = ask(&mut driver).await;
    driver.leave().await;
    let (governance, people) = told?;
    console.show(&Governed {
        admins: governance.admins.iter().map(ToString::to_string).collect(),
        temp_admin: governance.temp_admin.map(|key| key.to_string()),
        countdown: governance.admin_countdown().words(),
        motd: governance.motd,
        people: people.into_iter().map(line).collect(),
    })
}

/// Asks who decides, and about whom something was ordered.
async fn ask(driver: &mut ClientDriver) -> Result<(GovernanceEntry, Vec<PersonEntry>), Failure> {
    let unsaid = || Failure::failed("the node does not say who may do what");
    let Answer::Governance(governance) = driver.ask(Question::Governance, ANSWER).await? else {
        return Err(unsaid());
    };
    let (mut people, mut after) = (Vec::new(), None);
    loop {
        let Answer::People(page) = driver.ask(Question::People { after }, ANSWER).await? else {
            return Err(unsaid());
        };
        after = take_page(&mut people, page);
        if after.is_none() {
            return Ok((*governance, people));
        }
    }
}
