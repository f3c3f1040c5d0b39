//! What servers tell of reports.

use alloc::string::String;

use metatopia_types::{Height, PublicKey, ReportSubject, Ruling};
use serde::{Deserialize, Serialize};

/// Reports in one answer: 128 of at most 1,600 bytes are below 256 KiB.
pub const REPORTS_PER_ANSWER_MAX: usize = 128;

/// A report, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEntry {
    /// The number of the report.
    pub report: u64,
    /// Who filed it.
    pub by: PublicKey,
    /// The reporter's name; empty if the sim knows nobody with this key any more.
    pub by_name: String,
    /// What it is about.
    pub about: ReportSubject,
    /// What the thing or the person was called when it was filed.
    pub name: String,
    /// The person, or the owner of the thing then; nobody means the sim.
    pub accused: Option<PublicKey>,
    /// What the reporter said.
    pub words: String,
    /// Milliseconds of governance time since it was filed.
    pub ago: u64,
    /// What was decided; none while it is open.
    pub ruling: Option<RulingEntry>,
    /// What the private words say that it is about; their author signed them.
    pub opened: Option<String>,
}

/// What a moderator decided about a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulingEntry {
    /// The moderator who decided.
    pub by: PublicKey,
    /// What was decided.
    pub ruling: Ruling,
    /// Why, in a line.
    pub reason: String,
    /// The turn that carried it out.
    pub height: Height,
}
