//! Where a neighbour's servers are: what the operator says, what they announced, and what the overlay knows.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use metatopia_client_driver::NodeUrl;
use metatopia_protocol::NEIGHBOUR_NODES_MAX;
use metatopia_types::SimId;
use serde::Deserialize;

use crate::{
    atomic_file,
    overlay::{CurrentPlace, address::SiteAddress},
};

/// Lines of the file in the data directory that are read: 16 neighbours with as many addresses as are
/// tried.
pub const NEIGHBOUR_LINES_MAX: usize = 16 * NEIGHBOUR_NODES_MAX;

/// The file in the data directory with a line `SIM URL` for each address.
const FILE: &str = "neighbours";

/// The file with such lines for what neighbours' servers announced.
const ANNOUNCED_FILE: &str = "neighbours.announced";

/// A node of a neighbour, as the operator writes it: `SIM=URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourNode {
    /// The sim on the other side.
    pub sim: SimId,
    /// One of its nodes.
    pub url: NodeUrl,
}

/// Nodes of neighbours, with commas between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct NeighbourNodes(pub Vec<NeighbourNode>);

/// Says why a text names no nodes of neighbours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no neighbour; one is like SIM=http://192.0.2.7:8080, with the 64 digits of its id"
)]
pub struct NeighbourNodesError(String);

impl FromStr for NeighbourNodes {
    type Err = NeighbourNodesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| one(part, '=')).collect::<Result<_, _>>().map(Self)
    }
}

impl TryFrom<String> for NeighbourNodes {
    type Error = NeighbourNodesError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Reads a sim and a URL with this sign between.
fn one(text: &str, between: char) -> Result<NeighbourNode, NeighbourNodesError> {
    let read = || {
        let (sim, url) = text.split_once(between)?;
        let (sim, url) = (sim.trim().parse().ok()?, url.trim().parse().ok()?);
        Some(NeighbourNode { sim, url })
    };
    read().ok_or_else(|| NeighbourNodesError(text.chars().take(120).collect()))
}

/// A file of neighbours in a data directory. It is read whenever a neighbour is looked for, so a server
/// need not be restarted.
#[derive(Clone, Debug)]
pub struct NeighbourFile(PathBuf);

impl fmt::Display for NeighbourFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

impl NeighbourFile {
    /// Returns the file of the operator in this data directory, which need not exist yet.
    #[must_use]
    pub fn at(data_dir: &Path) -> Self {
        Self(data_dir.join(FILE))
    }

    /// Returns the file of what neighbours' servers announced, which need not exist yet.
    #[must_use]
    pub fn announced(data_dir: &Path) -> Self {
        Self(data_dir.join(ANNOUNCED_FILE))
    }

    /// Returns the neighbours of the file. A line that is none is passed over.
    fn read(&self) -> Vec<NeighbourNode> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                tracing::warn!(file = %self, %error, "the addresses of neighbours are not read");
                return Vec::new();
            }
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let read = lines.take(NEIGHBOUR_LINES_MAX).map(|line| {
            one(line, ' ')
                .inspect_err(|error| tracing::warn!(file = %self, %error, "a line is passed over"))
        });
        read.filter_map(Result::ok).collect()
    }

    /// Writes the nodes of these neighbours, in place of those that it had of them. Other neighbours stay.
    ///
    /// # Errors
    /// Returns what the system said.
    pub fn note(&self, neighbours: &BTreeMap<SimId, Vec<NodeUrl>>) -> io::Result<()> {
        let kept = self.read().into_iter().filter(|node| !neighbours.contains_key(&node.sim));
        let new = neighbours.iter().flat_map(|(sim, urls)| {
            let urls = urls.iter().take(NEIGHBOUR_NODES_MAX);
            urls.map(|url| NeighbourNode { sim: *sim, url: url.clone() })
        });
        let all = kept.chain(new).take(NEIGHBOUR_LINES_MAX);
        let lines: String =
            all.map(|NeighbourNode { sim, url }| format!("{sim} {url}\n")).collect();
        atomic_file::replace(&self.0, lines.as_bytes())
    }
}

/// Finds the nodes of a neighbour.
#[derive(Clone, Debug)]
pub struct AddressBook {
    /// What the configuration names.
    pub configured: NeighbourNodes,
    /// What the operator wrote in the data directory.
    pub file: NeighbourFile,
    /// What neighbours' servers announced.
    pub announced: NeighbourFile,
    /// The place of this server in its world, if it takes part in one.
    pub overlay: Option<CurrentPlace>,
}

impl AddressBook {
    /// Returns the nodes of a neighbour: what the operator says comes first, then what its servers announced, and
    /// what it says of itself in the overlay.
    pub async fn nodes(&self, sim: SimId) -> Vec<NodeUrl> {
        let said = self.configured.0.iter().cloned();
        let said = said.chain(self.file.read()).chain(self.announced.read());
        let found = said.filter(|node| node.sim == sim).map(|node| node.url);
        first_ones(found.chain(self.in_overlay(sim).await).map(|url| url.of(sim)))
    }

    /// Keeps where a neighbour's servers announced that they are, before what they announced earlier: of servers that
    /// one of them left out it is all that is known.
    pub fn hear(&self, sim: SimId, announced: Vec<NodeUrl>) {
        let before: Vec<NodeUrl> = self
            .announced
            .read()
            .into_iter()
            .filter(|node| node.sim == sim)
            .map(|node| node.url)
            .collect();
        let nodes = first_ones(announced.into_iter().chain(before.iter().cloned()));
        if nodes != before
            && let Err(error) = self.announced.note(&BTreeMap::from([(sim, nodes)]))
        {
            tracing::warn!(file = %self.announced, %error, "addresses of a neighbour are not kept");
        }
    }

    /// Returns the nodes that the site record of a sim names.
    async fn in_overlay(&self, sim: SimId) -> Vec<NodeUrl> {
        let member = self.overlay.as_ref().and_then(CurrentPlace::member);
        let Some(member) = member else { return Vec::new() };
        let Some(view) = member.map().await else { return Vec::new() };
        let of_sim = view.sites.iter().filter(|signed| signed.record.sim == sim);
        let endpoints = of_sim.flat_map(|signed| &signed.record.endpoints);
        endpoints.filter_map(|one| one.address.parse::<SiteAddress>().ok()?.clients).collect()
    }
}

/// Returns the first of these nodes, each once, and as many as are tried.
fn first_ones(urls: impl Iterator<Item = NodeUrl>) -> Vec<NodeUrl> {
    let mut nodes = Vec::new();
    for url in urls {
        if nodes.len() < NEIGHBOUR_NODES_MAX && !nodes.contains(&url) {
            nodes.push(url);
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use metatopia_types::Digest;

    use super::*;

    fn sim(n: u8) -> SimId {
        SimId(Digest([n; 32]))
    }

    fn url(port: u16) -> NodeUrl {
        format!("http://127.0.0.1:{port}").parse().unwrap()
    }

    #[test]
    fn neighbours_of_an_operator_are_sims_with_urls() {
        let text = format!("{}=http://127.0.0.1:1, {}=http://127.0.0.1:2", sim(1), sim(2));
        let NeighbourNodes(nodes) = text.parse().unwrap();
        let found: Vec<_> = nodes.iter().map(|node| (node.sim, node.url.clone())).collect();
        assert_eq!(found, [(sim(1), url(1)), (sim(2), url(2))]);
        assert_eq!("".parse(), Ok(NeighbourNodes::default()));
        for text in ["x", "=", "abc=http://127.0.0.1:1", &format!("{}=what", sim(1))] {
            let error = text.parse::<NeighbourNodes>().unwrap_err().to_string();
            assert!(error.contains("SIM=http://"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_neighbour_is_tried_where_the_operator_says_and_at_so_many_addresses() {
        let dir = crate::scratch::Scratch::made("neighbours");
        let file = NeighbourFile::at(&dir.0);
        let book = AddressBook {
            configured: format!("{}=http://127.0.0.1:9", sim(1)).parse().unwrap(),
            file: file.clone(),
            announced: NeighbourFile::announced(&dir.0),
            overlay: None,
        };
        assert_eq!(book.nodes(sim(1)).await, [url(9).of(sim(1))]);
        assert_eq!(book.nodes(sim(2)).await, []);

        let many = (1..=20).map(url).collect();
        file.note(&BTreeMap::from([(sim(1), vec![url(1)]), (sim(2), many)])).unwrap();
        assert_eq!(book.nodes(sim(1)).await, [url(9).of(sim(1)), url(1).of(sim(1))]);
        assert_eq!(book.nodes(sim(2)).await.len(), NEIGHBOUR_NODES_MAX);
        // What is known of others stays, and what was known of this one goes.
        file.note(&BTreeMap::from([(sim(2), vec![url(3)])])).unwrap();
        assert_eq!(book.nodes(sim(2)).await, [url(3).of(sim(2))]);
        assert_eq!(book.nodes(sim(1)).await.len(), 2);
    }

    /// Both sims were not in the overlay, and each knew one node of the other: when these moved, one after the other,
    /// the border was a wall until somebody edited a file.
    #[tokio::test]
    async fn what_the_servers_of_a_neighbour_announced_is_tried_after_what_the_operator_says() {
        let dir = crate::scratch::Scratch::made("announced");
        let book = || AddressBook {
            configured: format!("{}=http://127.0.0.1:9", sim(1)).parse().unwrap(),
            file: NeighbourFile::at(&dir.0),
            announced: NeighbourFile::announced(&dir.0),
            overlay: None,
        };
        let known = async || {
            let nodes = book().nodes(sim(1)).await;
            nodes.iter().map(|node| node.node().to_string()).collect::<Vec<_>>()
        };
        let urls =
            |ports: &[u16]| ports.iter().map(|port| url(*port).to_string()).collect::<Vec<_>>();
        book().hear(sim(1), vec![url(1), url(2)]);
        book().hear(sim(2), vec![url(7)]);
        assert_eq!(known().await, urls(&[9, 1, 2]));
        // A server that names itself alone takes no place from the others.
        book().hear(sim(1), vec![url(3)]);
        assert_eq!(known().await, urls(&[9, 3, 1, 2]));
        book().hear(sim(1), (11..=40).map(url).collect());
        assert_eq!(known().await, urls(&[9, 11, 12, 13, 14, 15, 16, 17]));
        assert_eq!(book().nodes(sim(2)).await, [url(7).of(sim(2))]);
    }

    #[tokio::test]
    async fn a_file_of_neighbours_is_read_up_to_so_many_lines_and_past_what_is_none() {
        let dir = crate::scratch::Scratch::made("neighbour-lines");
        let file = NeighbourFile::at(&dir.0);
        let line = |n: usize| format!("{} http://127.0.0.1:{}\n", sim((n % 200) as u8), n + 1);
        let text: String = (0..NEIGHBOUR_LINES_MAX + 9).map(line).collect();
        fs::write(dir.0.join(FILE), format!("nothing\n{text}")).unwrap();
        assert_eq!(file.read().len(), NEIGHBOUR_LINES_MAX - 1);
    }
}
