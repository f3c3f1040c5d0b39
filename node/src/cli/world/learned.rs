//! What is learned of a world by the address of one of its nodes, and checked.

use std::time::Duration;

use metatopia_client_driver::{HttpError, NodeUrl, http};
use metatopia_raynet::TilePoint;
use metatopia_types::{GenesisHead, Height, LandGrant, Link, Millis, ProvedLand, SimId, wire};

use crate::{
    cli::{failure::Failure, session::http_exit},
    clock::SystemClock,
    overlay::{
        OfficeSets, OverlayFolder,
        answers::{EndpointEntry, FindAnswer, MapEntry, WorldAnswer, unhex},
        folder::HEAD_BYTES_MAX,
    },
};

/// The most bytes of links that are read: what an answer by HTTP may have.
const LINKS_BYTES_MAX: usize = 1 << 20;

/// The time after which a map is old: much may have been granted since.
pub(super) const OLD: Duration = Duration::from_secs(24 * 3_600);

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

/// A world as one of its nodes tells of it. Its land office is checked; contacts are worth a try.
#[derive(Debug)]
pub(super) struct LearnedWorld {
    pub(super) answer: WorldAnswer,
    pub(super) sets: OfficeSets,
    /// The height of the map that it showed; 0 if it has none yet.
    pub(super) map_from: Height,
}

/// Returns the failure of a question to a node.
pub(super) fn unanswered(node: &NodeUrl, error: &HttpError) -> Failure {
    Failure::new(http_exit(error), format!("{node} {error}"))
}

impl LearnedWorld {
    /// Asks a node which world it takes part in, and checks the land office.
    ///
    /// # Errors
    /// When it does not answer, takes part in none or in another one, or tells what is not so.
    pub(super) async fn from(node: &NodeUrl, world: Option<SimId>) -> Result<Self, Failure> {
        let answer: WorldAnswer =
            http::get(node.join("/api/world")).await.map_err(|error| unanswered(node, &error))?;
        let not_so = |what: &str| Failure::unverified(format!("{node} tells {what}"));
        let told: SimId = answer.world.parse().map_err(|_| not_so("no id of a world"))?;
        if let Some(world) = world.filter(|world| *world != told) {
            let message = format!("{node} takes part in world {told}, not in {world}");
            return Err(Failure::unverified(message));
        }
        let head: GenesisHead = unhex(&answer.office)
            .and_then(|bytes| wire::decode(&bytes, HEAD_BYTES_MAX).ok())
            .ok_or_else(|| not_so("no head of a land office"))?;
        let sets = OfficeSets::new(told, head).map_err(|error| not_so(&error.to_string()))?;
        let links: Vec<Link> = unhex(&answer.links)
            .and_then(|bytes| wire::decode(&bytes, LINKS_BYTES_MAX).ok())
            .ok_or_else(|| not_so("changes of validators that are none"))?;
        sets.follow(&links).map_err(|error| not_so(&error.to_string()))?;
        let map_from = if answer.map.is_empty() {
            Height(0)
        } else {
            let proof =
                unhex(&answer.map).ok_or_else(|| not_so("a map that is no text of bytes"))?;
            sets.prove(&proof)
                .map_err(|error| not_so(&format!("a map without proof: {error}")))?
                .height
        };
        Ok(Self { answer, sets, map_from })
    }

    /// Returns where the servers of the land office let clients in, as far as that node knows.
    pub(super) fn office_urls(&self) -> Vec<NodeUrl> {
        let servers = self.answer.office_servers.iter();
        servers.filter_map(|server| server.http.as_deref()?.parse().ok()).collect()
    }

    /// Writes what a member needs into its folder.
    ///
    /// # Errors
    /// When the disk fails.
    pub(super) fn keep(&self, folder: &OverlayFolder) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
        folder.keep_office(&self.sets).map_err(|error| failed(&error))?;
        // Whoever joins again may ask a node that has an older map.
        let known = folder.map_from().map_err(|error| failed(&error))?;
        folder.keep_map_from(self.map_from.max(known)).map_err(|error| failed(&error))?;
        for (file, entries) in [
            (folder.contacts(), &self.answer.contacts),
            (folder.office_servers(), &self.answer.office_servers),
        ] {
            let endpoints: Vec<_> = entries.iter().filter_map(EndpointEntry::endpoint).collect();
            file.replace(&endpoints).map_err(|error| failed(&error))?;
        }
        Ok(())
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
    use metatopia_types::PlaneBlock;

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

    /// Whoever joins again may ask a node that has an older map, and would believe old maps from then on.
    #[test]
    fn joining_again_never_lowers_the_height_from_which_maps_count() {
        let scratch = crate::scratch::Scratch::new("joined-again");
        let folder = OverlayFolder::at(&scratch.0);
        let join = |height| {
            let answer = WorldAnswer {
                world: String::new(),
                office: String::new(),
                links: String::new(),
                sim: String::new(),
                square: None,
                member: String::new(),
                up: 0,
                contacts: Vec::new(),
                office_servers: Vec::new(),
                map: String::new(),
            };
            let sets = crate::overlay::office_of_tests();
            LearnedWorld { answer, sets, map_from: Height(height) }.keep(&folder).unwrap();
            folder.map_from().unwrap()
        };
        assert_eq!([9, 4, 0, 12, 11].map(join), [9, 9, 9, 12, 12].map(Height));
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
