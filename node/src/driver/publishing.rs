//! What the loop publishes of its server: the status that HTTP shows.

use metatopia_replica::{Condition, Status};

use super::{Driver, LoopState, state_sync};
use crate::routes;

impl Driver {
    /// Publishes the status of the replica, with what only the loop knows.
    pub(super) fn publish(&self, state: &mut LoopState, status: Status) {
        let first = *state.first_height.get_or_insert(status.height);
        let waiting_for = match &state.halted {
            Some(halt) => Some(format!("it has stopped voting: {halt}")),
            None if let Some(told) = state.disk_trouble() => {
                Some(format!("it does not vote: {told}"))
            }
            None if let Some(fetching) = &status.fetching => Some(state_sync::describe(fetching)),
            None if status.time_left.is_some_and(|left| left <= 0) => {
                Some("the sim has ended".to_owned())
            }
            None if status.condition == Condition::Healing => {
                Some("its state differs from the others': it computes the state again".to_owned())
            }
            None if status.condition == Condition::Following => {
                let told = "it healed too often: it follows, and votes again once it is restarted \
                    after an hour";
                Some(told.to_owned())
            }
            None if status.split => {
                Some("servers disagree about the state: no root has a quorum".to_owned())
            }
            None if !status.voting && status.validators.contains(&status.server) => {
                Some("it does not vote yet".to_owned())
            }
            None if status.height <= first => Some("no turn was decided yet".to_owned()),
            None if status.stalled => Some("no turn is being decided".to_owned()),
            None => None,
        };
        self.status.send_replace(Some(routes::StatusAnswer {
            server: status.server,
            sim: status.sim,
            height: status.height,
            tick: status.tick,
            root: status.root,
            root_height: status.root_height,
            proposer: status.proposer,
            validators: status.validators,
            voting: status.voting,
            peers: status.peers,
            clients: status.clients,
            players: status.players,
            missing: status.missing.as_ref().map(routes::MissingTurns::from),
            delayed: status.delayed.iter().map(routes::DelayedChangeStatus::from).collect(),
            admins: routes::AdminsStatus::from(&status.admins),
            seconds_left: status.time_left.map(|left| left.max(0).unsigned_abs().div_ceil(1_000)),
            follows: self.follows(state),
            world: status.world,
            condition: match status.condition {
                Condition::Sound if status.stalled => "stalled",
                Condition::Sound => "running",
                other => other.name(),
            },
            stalled: status.stalled,
            disk: state.disk_trouble().or_else(|| self.damage.clone()),
            waiting_for,
        }));
    }
}
