//! Agreement as the world plays it: servers, their application, who misbehaves, and who watches.
//!
//! A [`Scenario`] is a story as data. It is played on a [`AgreementStage`], watched by the [`Oracle`], and
//! ends in an [`ScenarioOutcome`] that says what was law, if anything was, and how to play it again.

mod ambush;
pub mod bugs;
mod filler;
mod flaws;
mod ledger;
mod outcome;
mod scenario;
mod server;
mod servers;
mod setting;
mod signatures;
mod stage;
pub mod stories;
mod swarm;
mod twins;
mod villain;

pub use ambush::Ambush;
pub use ledger::{LedgerDouble, LedgerState};
pub use metatopia_oracle::{Law, Oracle, TurnHistory, Violation};
pub use outcome::{ScenarioOutcome, percentile};
pub use scenario::{Scenario, Seed};
pub use server::{AgreementReport, AgreementServer, AgreementTimer, Apply, StartState};
pub use servers::{AgreementServers, FirstDecision};
pub use setting::{AgreementSetting, ENGINE, Flaw, Unlogged};
pub use signatures::SignatureKind;
pub use stage::AgreementStage;
pub use swarm::{AgreementPlan, FaultRecovery, PlannedFault, Played, Swarm, shrink};
pub use twins::{Schedule, TWIN_NAMES, TWIN_SEATS};
pub use villain::ByzantineBehaviour;
pub(crate) use villain::{Villain, VillainContext};
