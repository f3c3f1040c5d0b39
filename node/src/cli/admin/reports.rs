//! `admin reports` lists what people told moderators.

use std::fmt;

use clap::Args;
use metatopia_client::text::report_line;
use metatopia_client_driver::ClientDriver;
use metatopia_protocol::{Answer, Question, ReportEntry, take_page};
use metatopia_types::ReportSubject;
use serde::Serialize;

use crate::cli::{
    console::Console,
    failure::Failure,
    session::{ANSWER, NodeArgs},
};

pub(super) const HELP: &str = "Examples:\n  \
    metatopia admin reports                open ones, the oldest first\n  \
    metatopia admin reports --all --json   those that were decided as well\n\n\
    People file reports by `report NAME WORDS` in the text client, or in the page. `metatopia admin decide` \
    closes\none. What a report says is the word of the node; rulings are in `metatopia admin log`, proved.";

#[derive(Debug, Args)]
pub(in crate::cli) struct ReportsArgs {
    /// Also list the reports that were decided of late.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    at: NodeArgs,
}

/// The line of a report.
#[derive(Debug, Serialize)]
struct ReportLine {
    report: u64,
    by: String,
    by_name: String,
    /// The key of the person that it is about.
    person: Option<String>,
    /// The thing that it is about.
    object: Option<u64>,
    name: String,
    /// The person, or the owner of the thing when it was filed.
    accused: Option<String>,
    words: String,
    /// What the private words say that it is about; their author signed them.
    opened: Option<String>,
    /// Milliseconds of governance time since it was filed.
    ago: u64,
    /// `upheld` or `dismissed`; none while it is open.
    ruling: Option<&'static str>,
    reason: Option<String>,
    /// The moderator who decided.
    decided_by: Option<String>,
    #[serde(skip)]
    text: String,
}

impl fmt::Display for ReportLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match (&self.object, &self.accused) {
            (Some(object), Some(owner)) => write!(f, "\n  thing {object} of {owner}"),
            (Some(object), None) => write!(f, "\n  thing {object} of the sim"),
            (None, Some(person)) => write!(f, "\n  {person}"),
            (None, None) => Ok(()),
        }
    }
}

/// Returns the line of a report.
fn line(entry: ReportEntry) -> ReportLine {
    let text = report_line(&entry);
    let (person, object) = match entry.about {
        ReportSubject::Person(key) | ReportSubject::Words { by: key, .. } => {
            (Some(key.to_string()), None)
        }
        ReportSubject::Thing(object) => (None, Some(object.0)),
    };
    let ruling = entry.ruling.as_ref();
    ReportLine {
        report: entry.report,
        by: entry.by.to_string(),
        by_name: entry.by_name,
        person,
        object,
        name: entry.name,
        accused: entry.accused.map(|key| key.to_string()),
        words: entry.words,
        opened: entry.opened,
        ago: entry.ago,
        ruling: ruling.map(|given| given.ruling.word()),
        reason: ruling.map(|given| given.reason.clone()),
        decided_by: ruling.map(|given| given.by.to_string()),
        text,
    }
}

pub(in crate::cli) async fn run(args: ReportsArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let told = ask(&mut driver).await;
    driver.leave().await;
    let mut told = told?;
    told.retain(|entry| args.all || entry.ruling.is_none());
    if told.is_empty() {
        console.note("no report is open");
    }
    told.into_iter().try_for_each(|entry| console.show(&line(entry)))
}

/// Asks for all reports that the node knows.
async fn ask(driver: &mut ClientDriver) -> Result<Vec<ReportEntry>, Failure> {
    let (mut all, mut next) = (Vec::new(), Some(0));
    while let Some(after) = next {
        let Answer::Reports(page) = driver.ask(Question::Reports { after }, ANSWER).await? else {
            return Err(Failure::failed("the node does not say what was reported"));
        };
        next = take_page(&mut all, page);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use metatopia_types::{ObjectId, PublicKey};

    use super::*;

    #[test]
    fn a_report_is_listed_with_the_thing_and_whose_it_was() {
        let (by, accused) = (PublicKey([1; 32]), PublicKey([2; 32]));
        let told = line(ReportEntry {
            report: 3,
            by,
            by_name: "Ada".to_owned(),
            about: ReportSubject::Thing(ObjectId(7)),
            name: "wall".to_owned(),
            accused: Some(accused),
            words: "it blocks the door".to_owned(),
            ago: 61_000,
            ruling: None,
            opened: None,
        });
        let text = "Report 3 by Ada about wall, 1 minute ago: it blocks the door (open)";
        assert_eq!(told.to_string(), format!("{text}\n  thing 7 of {accused}"));
        let json = serde_json::to_value(&told).expect("a line");
        assert_eq!((&json["report"], &json["object"]), (&3.into(), &7.into()));
        assert!(json["ruling"].is_null() && json.get("text").is_none());
    }
}
