//! Who the neighbour is, and where its nodes are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use metatopia_client_driver::{GenesisTrust, NodeUrl, http};
use metatopia_types::{GenesisHead, SimId};

use crate::{
    cli::{failure::Failure, invite, up::world::server_path},
    courier::address_book::NeighbourFile,
    overlay::{answers::MapAnswer, learned::LearnedWorld},
};

/// A sim on the other side of a border.
#[derive(Debug)]
pub(in crate::cli) struct Neighbour {
    /// Its genesis, which its id names.
    pub(in crate::cli) trust: GenesisTrust,
    /// Its nodes that are known.
    pub(in crate::cli) nodes: Vec<NodeUrl>,
}

impl Neighbour {
    /// Learns a neighbour by its id or an invite. Without an address, `node` is asked for the world's map.
    ///
    /// # Errors
    /// When the text is neither, or no node of the neighbour answers.
    pub(in crate::cli) async fn learn(
        text: &str,
        mut nodes: Vec<NodeUrl>,
        node: Option<&NodeUrl>,
    ) -> Result<Self, Failure> {
        let sim = match text.parse::<SimId>() {
            Ok(sim) => sim,
            Err(_) => {
                let invite = invite::read(text).await?.invite;
                let named = invite.addresses.iter().filter_map(|address| address.parse().ok());
                nodes.extend(named);
                invite.sim()
            }
        };
        if let Some(node) = node.filter(|_| nodes.is_empty()) {
            nodes = on_the_map(sim, node).await;
        }
        if nodes.is_empty() {
            let message = format!("no node of sim {sim} is known");
            return Err(Failure::not_found(message)
                .hint("give one by --at, or an invite of that sim in place of its id"));
        }
        let trust = GenesisTrust::learn_from(&nodes, Some(sim)).await?;
        Ok(Self { trust, nodes })
    }

    /// Returns the id of the sim.
    pub(in crate::cli) const fn sim(&self) -> SimId {
        self.trust.sim
    }
}

/// Returns the nodes of a sim that the map of a node's world shows.
async fn on_the_map(sim: SimId, node: &NodeUrl) -> Vec<NodeUrl> {
    let map = http::get::<MapAnswer>(node.join("/api/world/map")).await;
    let sites = map.map(|map| map.sites).unwrap_or_default();
    let sim = sim.to_string();
    let endpoints = sites.into_iter().filter(|site| site.grant.sim == sim);
    let urls = endpoints.flat_map(|site| site.endpoints).filter_map(|endpoint| endpoint.http);
    urls.filter_map(|url| url.parse().ok()).collect()
}

/// Returns the heads of land offices that lead from the world of a node back to the one that the head of a
/// neighbour names. Nothing if that is the same world, or they do not lead there: the sim says why then.
pub(in crate::cli) async fn offices_to(head: &GenesisHead, node: &NodeUrl) -> Vec<GenesisHead> {
    let Some(world) = head.site.map(|site| site.world) else { return Vec::new() };
    let Ok(learned) = LearnedWorld::from(node, None).await else { return Vec::new() };
    offices_between(&learned, world)
}

fn offices_between(learned: &LearnedWorld, world: SimId) -> Vec<GenesisHead> {
    let offices = [learned.sets.head()].into_iter().chain(&learned.parents);
    let leads = |head: &GenesisHead| head.parent.is_some_and(|parent| parent.sim == world);
    let Some(last) = offices.clone().position(leads) else { return Vec::new() };
    offices.take(last + 1).cloned().collect()
}

/// Writes where neighbours are, for the servers of a directory of `metatopia up`, or for the one server whose
/// data directory it is.
///
/// # Errors
/// When the disk fails, or there is no such directory.
pub(in crate::cli) fn note(
    dir: &Path,
    neighbours: &BTreeMap<SimId, Vec<NodeUrl>>,
) -> Result<(), Failure> {
    if !dir.is_dir() {
        return Err(Failure::not_found(format!("there is no directory {}", dir.display())));
    }
    let servers = (0..).map(|index| server_path(dir, index)).take_while(|path| path.is_dir());
    let mut places: Vec<PathBuf> = servers.collect();
    if places.is_empty() {
        places.push(dir.to_owned());
    }
    for place in places {
        let file = NeighbourFile::at(&place);
        let failed = |error| Failure::failed(format!("{file}: {error}"));
        file.note(neighbours).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metatopia_types::carries_on;

    use super::*;
    use crate::overlay::{
        learned::learned_of_tests,
        office::{office_of_tests, successor_of_tests},
    };

    #[test]
    fn offices_lead_back_to_each_world_that_one_carries_on() {
        let first = office_of_tests();
        let second = successor_of_tests(&first);
        let third = successor_of_tests(&second);
        let learned = learned_of_tests(&third, &[&second, &first]);
        for (world, heads) in [(&third, 0), (&second, 1), (&first, 2)] {
            let offices = offices_between(&learned, world.world());
            assert_eq!(offices.len(), heads);
            assert!(carries_on(third.world(), world.world(), &offices));
        }
        let short = learned_of_tests(&third, &[]);
        assert!(offices_between(&short, first.world()).is_empty());
    }
}
