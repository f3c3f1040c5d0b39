//! What a node tells of its world, as commands check it.

use std::time::Duration;

use metatopia_client_driver::{HttpError, NodeUrl, http};
use metatopia_raynet::TilePoint;
use metatopia_text_client::MapFreshness;
use metatopia_types::{LandGrant, Millis, ProvedLand, SimId};

use crate::{
    cli::{failure::Failure, session::http_exit},
    clock::SystemClock,
    overlay::{
        OfficeSets,
        answers::{FindAnswer, MapAnswer, MapEntry, unhex},
        folder::OverlayFolderError,
        learned::LearnWorldError,
    },
};

pub(super) use metatopia_text_client::{MAP_OLD as OLD, aged};

pub(super) use crate::overlay::learned::LearnedWorld;

/// Returns how old a certified state of this time is.
pub(super) fn age_of(time: Millis) -> Duration {
    let now = SystemClock::default().now().wall;
    Duration::from_millis(now.0.saturating_sub(time.0))
}

/// An answer about a point that was held against its proof. The answer is the node's word; the grant and
/// the certified state it is from are what the proof shows.
#[derive(Debug)]
pub(in crate::cli) struct CheckedFind {
    pub(in crate::cli) answer: FindAnswer,
    pub(in crate::cli) grant: Option<LandGrant>,
    pub(super) map: MapEntry,
    pub(super) world: SimId,
}

impl CheckedFind {
    /// Returns how far the map can be believed that says so.
    pub(super) fn freshness(&self) -> MapFreshness {
        let age = age_of(Millis(self.map.time));
        MapFreshness { age, one_door: self.answer.one_door }
    }
}

/// Returns the failure of a question to a node.
pub(super) fn unanswered(node: &NodeUrl, error: &HttpError) -> Failure {
    Failure::new(http_exit(error), format!("{node} {error}"))
}

/// Asks a node for the map of its world, of which nothing is checked yet.
///
/// # Errors
/// When it does not answer.
pub(super) async fn asked_map(node: &NodeUrl) -> Result<MapAnswer, Failure> {
    let answer = http::get(node.join("/api/world/map")).await;
    answer.map_err(|error| unanswered(node, &error))
}

impl From<LearnWorldError> for Failure {
    fn from(error: LearnWorldError) -> Self {
        match &error {
            LearnWorldError::Unanswered { node, source } => unanswered(node, source),
            LearnWorldError::OtherWorld { .. } | LearnWorldError::NotSo { .. } => {
                Self::unverified(error.to_string())
            }
        }
    }
}

impl From<OverlayFolderError> for Failure {
    fn from(error: OverlayFolderError) -> Self {
        Self::failed(error.to_string())
    }
}

/// Returns what a proof shows, if it is about that point.
///
/// # Errors
/// When it proves nothing about it.
pub(super) fn prove(
    sets: &OfficeSets,
    point: TilePoint,
    proof: &str,
) -> Result<ProvedLand, Failure> {
    let not_so = |why: String| Failure::unverified(format!("the proof does not hold: {why}"));
    let bytes = unhex(proof).ok_or_else(|| not_so("it is no text of bytes".to_owned()))?;
    let proved = sets.prove(&bytes).map_err(|error| not_so(error.to_string()))?;
    if !proved.block.contains(point) {
        return Err(not_so("it is about other land".to_owned()));
    }
    Ok(proved)
}

/// Checks an answer about a point against its proof.
///
/// # Errors
/// When there is no proof, it does not hold, or it says something else than the answer.
pub(super) fn check(sets: &OfficeSets, answer: FindAnswer) -> Result<CheckedFind, Failure> {
    if answer.proof.is_empty() {
        let message = format!("nobody proves who owns {} {}", answer.x, answer.y);
        return Err(Failure::unverified(message)
            .hint("its land office may be away and nobody near has the map; ask again"));
    }
    let point = TilePoint { x: answer.x, y: answer.y };
    let proved = prove(sets, point, &answer.proof)?;
    hold(sets.world(), &proved, answer)
}

/// Holds an answer against what its proof shows.
///
/// # Errors
/// When they differ.
fn hold(world: SimId, proved: &ProvedLand, answer: FindAnswer) -> Result<CheckedFind, Failure> {
    let point = TilePoint { x: answer.x, y: answer.y };
    let grant = proved.grant_at(point).cloned();
    let told = answer.grant.as_ref().map(|grant| grant.sim.clone());
    if told != grant.as_ref().map(|grant| grant.sim.to_string()) {
        return Err(Failure::unverified("the answer says something else than its proof"));
    }
    let map = MapEntry { height: proved.height.0, time: proved.time.0 };
    Ok(CheckedFind { answer, grant, map, world })
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Height, PlaneBlock};

    use super::*;

    fn told(map: Option<MapEntry>) -> FindAnswer {
        FindAnswer {
            x: 1,
            y: 1,
            outcome: "nobodys".to_owned(),
            grant: None,
            endpoints: Vec::new(),
            map,
            hops: 1,
            ways: 1,
            disagreements: 0,
            one_door: false,
            proof: String::new(),
        }
    }

    /// A node that showed a map of last week called it fresh, or told no age, and was believed.
    #[test]
    fn a_map_is_as_old_as_its_proof_says_whatever_the_node_tells() {
        let time = Millis(SystemClock::default().now().wall.0 - 7 * 24 * 3_600_000);
        let (block, height) = (PlaneBlock::PLANE, Height(8));
        let proved = ProvedLand { block, height, time, grants: Vec::new() };
        let fresh = MapEntry { height: 99, time: u64::MAX };
        for map in [Some(fresh), None] {
            let checked = hold(SimId(metatopia_types::Digest::ZERO), &proved, told(map)).unwrap();
            assert_eq!(checked.map, MapEntry { height: 8, time: time.0 });
            assert!(age_of(Millis(checked.map.time)) > OLD);
        }
    }
}
