//! Agreement as the world plays it: servers, their application, who misbehaves, and who watches.
//!
//! A [`Scenario`] is a story as data. It is played on a [`AgreementStage`], watched by the [`Oracle`], and
//! ends in an [`ScenarioOutcome`] that says what was law, if anything was, and how to play it again.

mod ambush;
pub mod bugs;
mod filler;
mod flaws;
mod ledger;
mod ledger_setting;
mod outcome;
mod scenario;
mod scenario_stage;
mod schedule;
pub mod stories;
mod voter;
mod voters;
mod workload;

pub use ambush::Ambush;
pub use ledger::{LedgerDouble, LedgerState};
pub use ledger_setting::{AgreementSetting, ENGINE, Flaw, LedgerSetting, Unlogged};
pub use metatopia_oracle::{Law, Oracle, TurnHistory, Violation};
pub use outcome::{ScenarioOutcome, percentile};
pub use scenario::Scenario;
pub use scenario_stage::AgreementStage;
pub use schedule::{Schedule, TWIN_NAMES, TWIN_SEATS};
pub use voter::{AgreementReport, AgreementServer, AgreementTimer, Apply, StartState};
pub use voters::{AgreementServers, FirstDecision};
pub use workload::{AgreementPlan, Played, Swarm};
