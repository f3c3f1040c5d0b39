//! Who the neighbour is, and where its nodes are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use metatopia_client::text::printable;
use metatopia_client_driver::{GenesisTrust, NodeUrl, http};
use metatopia_protocol::INVITE_MARK;
use metatopia_types::{GenesisHead, SimId, limits::BORDER_OFFICES_MAX};

use crate::{
    cli::{
        failure::Failure,
        invite,
        session::unlearned,
        up::world::{GENESIS, server_path},
    },
    courier::address_book::NeighbourFile,
    joining::{ShortInvite, ShortInviteError},
    overlay::{
        answers::MapAnswer,
        learned::{LearnWorldError, LearnedWorld},
    },
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
                check_form(text)?;
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
        let trust = GenesisTrust::learn_from(&nodes, Some(sim)).await.map_err(|error| {
            unlearned(error)
                .hint("--at names a node of the neighbour, in place of those that were asked")
        })?;
        Ok(Self { trust, nodes })
    }

    /// Returns the id of the sim.
    pub(in crate::cli) const fn sim(&self) -> SimId {
        self.trust.sim
    }
}

/// The first signs of a text that are told again.
const TOLD_SIGNS: usize = 40;

/// Refuses a text that is no invite, so that nobody is asked for one who meant a sim's id.
fn check_form(text: &str) -> Result<(), Failure> {
    let is_short = text.parse::<ShortInvite>() != Err(ShortInviteError::NoMark);
    let is_marked = text.to_ascii_lowercase().contains(INVITE_MARK);
    if is_marked || is_short || Path::new(text).is_file() {
        return Ok(());
    }
    let start: String = printable(text).chars().take(TOLD_SIGNS).collect();
    let digits = text.len();
    let why = match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => format!("`{start}` has {digits} digits, and the id of a sim has 64"),
        false => {
            format!("`{start}` is neither the id of a sim, nor an invite, nor a file with one")
        }
    };
    Err(Failure::usage(why).hint(
        "three forms are taken: the 64 digits of an id, as `metatopia world map` shows them; an invite, as text or \
         link, with `metatopia1` or `metatopia2` in it; and the path of a file that holds an invite",
    ))
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

/// Says why no heads of land offices lead from the world of a sim back to that of its neighbour.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum OfficesError {
    /// No node tells which world it takes part in.
    #[error(
        "which land offices lead to world {world} of the neighbour is not known: {source}; try \
         again, or name another node by --node"
    )]
    Unlearned {
        /// The world of the neighbour.
        world: SimId,
        /// What came of the last node that was asked.
        source: Box<LearnWorldError>,
    },
    /// The offices that the node has lead elsewhere.
    #[error(
        "world {own} of {node} does not carry on world {world} of the neighbour; if that is the \
         newer one, `metatopia admin set world` has your sim follow it, and else name another node \
         by --node"
    )]
    Apart {
        /// Who was asked.
        node: NodeUrl,
        /// The world that it takes part in.
        own: SimId,
        /// The world of the neighbour.
        world: SimId,
    },
    /// A border takes fewer heads.
    #[error(
        "world {own} carries on world {world} of the neighbour by {count} successions, where a \
         border takes {max}; the neighbour has to be founded anew in the newer world",
        max = BORDER_OFFICES_MAX
    )]
    TooMany {
        /// The world that the node takes part in.
        own: SimId,
        /// The world of the neighbour.
        world: SimId,
        /// How many offices lie between.
        count: usize,
    },
}

/// Returns the heads of land offices that lead from the world of a sim back to the one that the head of a neighbour
/// names: none if that is the same world. The first node that takes part in a world counts.
///
/// # Errors
/// When no node tells, or its offices do not lead there.
pub(in crate::cli) async fn offices_to(
    head: &GenesisHead,
    nodes: &[NodeUrl],
) -> Result<Vec<GenesisHead>, OfficesError> {
    // The land office is a sim of its own world.
    let office = head.office.as_ref().map(|_| head.id());
    let Some(world) = head.site.map(|site| site.world).or(office) else { return Ok(Vec::new()) };
    let mut last = None;
    for node in nodes {
        match LearnedWorld::from(node, None).await {
            Ok(learned) => return offices_between(node, &learned, world),
            Err(error) => last = Some(Box::new(error)),
        }
    }
    last.map_or(Ok(Vec::new()), |source| Err(OfficesError::Unlearned { world, source }))
}

fn offices_between(
    node: &NodeUrl,
    learned: &LearnedWorld,
    world: SimId,
) -> Result<Vec<GenesisHead>, OfficesError> {
    let own = learned.sets.world();
    if own == world {
        return Ok(Vec::new());
    }
    let offices = [learned.sets.head()].into_iter().chain(&learned.parents);
    let leads = |head: &GenesisHead| head.parent.is_some_and(|parent| parent.sim == world);
    match offices.clone().position(leads) {
        None => Err(OfficesError::Apart { node: node.clone(), own, world }),
        Some(last) if last >= BORDER_OFFICES_MAX => {
            Err(OfficesError::TooMany { own, world, count: last + 1 })
        }
        Some(last) => Ok(offices.take(last + 1).cloned().collect()),
    }
}

/// Returns the data directories of the servers in a directory of `metatopia up`, or the one that it is.
///
/// # Errors
/// When it is neither.
pub(in crate::cli) fn places(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !dir.is_dir() {
        return Err(Failure::not_found(format!("there is no directory {}", dir.display())));
    }
    let servers = (0..).map(|index| server_path(dir, index)).take_while(|path| path.is_dir());
    let servers: Vec<PathBuf> = servers.collect();
    if !servers.is_empty() {
        return Ok(servers);
    }
    // A server that `up` made has its genesis there, and every one has its log.
    if [GENESIS, "log"].iter().any(|name| dir.join(name).exists()) {
        return Ok(vec![dir.to_owned()]);
    }
    let message = format!("{} holds no server", dir.display());
    Err(Failure::not_found(message).hint(
        "--data-dir names a directory of `metatopia up`, or the data directory of one server",
    ))
}

/// Writes where neighbours are, for the servers with these data directories.
///
/// # Errors
/// When the disk fails.
pub(in crate::cli) fn note(
    places: &[PathBuf],
    neighbours: &BTreeMap<SimId, Vec<NodeUrl>>,
) -> Result<(), Failure> {
    for place in places {
        let file = NeighbourFile::at(place);
        let failed = |error| Failure::failed(format!("{file}: {error}"));
        file.note(neighbours).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metatopia_types::carries_on;

    use super::*;
    use crate::cli::exit::Exit;
    use crate::overlay::{
        OfficeSets,
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
            let offices = offices_between(&node(), &learned, world.world()).unwrap();
            assert_eq!(offices.len(), heads);
            assert!(carries_on(third.world(), world.world(), &offices));
        }
    }

    fn node() -> NodeUrl {
        "http://127.0.0.1:8080".parse().unwrap()
    }

    /// Whoever mistyped the id of a sim was asked for an invite.
    #[tokio::test]
    async fn a_neighbour_that_is_in_no_form_is_told_with_all_that_are_taken() {
        let told = async |text: &str| {
            let failure = Neighbour::learn(text, Vec::new(), None).await.unwrap_err();
            assert_eq!(failure.exit, Exit::Usage);
            failure.message
        };
        let garden = told("garden").await;
        assert!(garden.starts_with("`garden` is neither the id of a sim, nor an"), "{garden}");
        assert!(garden.contains("64 digits") && garden.contains("path of a file"), "{garden}");
        let short = told(&"ab".repeat(31)).await;
        assert!(short.contains("has 62 digits, and the id of a sim has 64"), "{short}");
        assert!(told("metatopia1!").await.ends_with("copy all of it, and nothing behind it"));
    }

    /// Whoever opened a border was told by the sim that the neighbour lies in another world, whatever was wrong.
    #[tokio::test]
    async fn whoever_opens_a_border_learns_why_no_offices_lead_to_the_neighbour() {
        let first = office_of_tests();
        let mut all = vec![successor_of_tests(&first)];
        while all.len() < BORDER_OFFICES_MAX + 1 {
            all.push(successor_of_tests(&all[all.len() - 1]));
        }
        let newest = all.pop().unwrap();
        let parents: Vec<_> = all.iter().rev().chain([&first]).collect();
        let learned = learned_of_tests(&newest, &parents);
        let told = |learned, of: &OfficeSets| {
            offices_between(&node(), learned, of.world()).map(|_| ()).unwrap_err().to_string()
        };
        let many = told(&learned, &first);
        assert!(many.contains(&format!("by {} successions", BORDER_OFFICES_MAX + 1)), "{many}");
        assert!(offices_between(&node(), &learned, all[0].world()).is_ok(), "as many as it takes");
        let apart = told(&learned_of_tests(&newest, &[]), &first);
        assert!(
            apart.contains("does not carry on") && apart.contains("admin set world"),
            "{apart}"
        );

        // The system lends this port to no other test.
        let down: NodeUrl = "http://127.0.0.1:1".parse().unwrap();
        let unlearned = offices_to(first.head(), &[down]).await.unwrap_err().to_string();
        assert!(unlearned.contains("nobody listens there; try again"), "{unlearned}");
    }
}
