//! A session with the land office of a world, in which somebody orders something of it.

use std::{path::PathBuf, sync::Arc};

use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl};
use metatopia_types::{Act, LandOrder, Outcome, SigningKey};

use super::learned::LearnedWorld;
use crate::cli::{
    console::Console,
    failure::Failure,
    say::{decide_and_prove, leave_again},
    session::{NodeArgs, PlayerArgs},
    ticket::TicketSecret,
};

/// Advice where no server of the land office answers.
const AWAY: &str = "the land office is away: orders about land wait for it, and nothing else does";

/// A session with a land office, whose owner is logged in there.
#[derive(Debug)]
pub(super) struct OfficeDesk {
    driver: ClientDriver,
    /// Whether the owner's avatar was there before, and so stays.
    stays: bool,
}

impl OfficeDesk {
    /// Logs in at the land office of a world that a node told of.
    ///
    /// # Errors
    /// When no server of the land office is known or answers, or it refuses the login.
    pub(super) async fn open(
        learned: &LearnedWorld,
        node: &NodeUrl,
        (path, key, ticket): (PathBuf, SigningKey, Option<TicketSecret>),
        console: Console,
    ) -> Result<Self, Failure> {
        let office = learned.office_urls();
        if office.is_empty() {
            let message = format!("{node} knows no server of the land office");
            return Err(
                Failure::timed_out(message).hint("ask again, or name another node by --node")
            );
        }
        let world = learned.sets.world();
        let at = NodeArgs { node: office.clone(), sim: Some(world) };
        let player = PlayerArgs { ticket, ..PlayerArgs::of(at, path) };
        let trust = GenesisTrust::learn_from(&office, Some(world)).await;
        let trust = trust.map_err(|error| Failure::from(error).hint(AWAY))?;
        let driver = ClientDriver::open(office, trust, Arc::new(key)).await?;
        let mut desk = Self { driver, stays: false };
        let login;
        (login, desk.stays) = player.login_over(&mut desk.driver, console).await?;
        if let (_, Outcome::Refused(why)) = desk.decide(login, Vec::new()).await? {
            desk.close().await;
            let message = format!("the login at the land office was refused: {why}");
            return Err(Failure::refused(message));
        }
        Ok(desk)
    }

    /// Has the land office decide an order. Returns the height and the proved outcome.
    ///
    /// # Errors
    /// When it is not decided in time, or its outcome is not proved.
    pub(super) async fn order(&mut self, order: &LandOrder) -> Result<(u64, Outcome), Failure> {
        let blob = order.blob();
        self.decide(Act::Land { order: blob.id() }, vec![blob]).await
    }

    async fn decide(
        &mut self,
        act: Act,
        blobs: Vec<metatopia_types::Blob>,
    ) -> Result<(u64, Outcome), Failure> {
        let (height, outcome) = decide_and_prove(&mut self.driver, (act, blobs)).await?;
        Ok((height.0, outcome))
    }

    /// Ends the session. An owner who came for an order alone leaves no avatar behind.
    pub(super) async fn close(mut self) {
        leave_again(&mut self.driver, self.stays).await;
        self.driver.leave().await;
    }
}
