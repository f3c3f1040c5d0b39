//! Asks all servers of a sim that are kept on this machine at once: who lives, who votes, and
//! whether that is enough.

use std::{
    collections::BTreeSet,
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use metatopia_client_driver::{NodeUrl, http};
use metatopia_store::read_identity;
use metatopia_types::{Sign as _, SimId};
use serde::Deserialize;
use tokio::task::JoinSet;

use super::{failure::Failure, status::ServerStatus, up::world};
use crate::{config, disk::DataDirectory, keys};

/// The HTTP address of a configuration that names none.
const HTTP_DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// A server whose directory is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalServer {
    /// The name that people read: `server 1`.
    pub(super) name: String,
    /// The configuration file that starts the server.
    pub(super) config: PathBuf,
    pub(super) url: NodeUrl,
    /// The sim of the server's data directory, which may be one of several in the server's process;
    /// nothing before its first start.
    pub(super) sim: Option<SimId>,
    /// The key that the server votes with; nothing if its file cannot be read.
    pub(super) key: Option<String>,
}

impl LocalServer {
    /// Returns the answer from the server's address if it is the server's own. Where a server has
    /// ended, another program may have taken its port.
    fn own_answer(&self, status: ServerStatus) -> Result<ServerStatus, String> {
        match &self.key {
            Some(own) if *own != status.server => {
                Err(format!("another server answers at {}: {}", self.url, status.server))
            }
            _ => Ok(status),
        }
    }

    /// Returns the directories whose servers [`LocalServer::all`] returns: this one if it keeps any, else those in it
    /// that do, by name, as in the directory of a grid.
    ///
    /// # Errors
    /// Fails when nothing is kept here.
    pub(super) fn homes(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
        if Self::is_home(directory) {
            return Ok(vec![directory.to_owned()]);
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let mut homes: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        homes.retain(|path| Self::is_home(path));
        homes.sort();
        if homes.is_empty() {
            return Err(none_kept(directory));
        }
        Ok(homes)
    }

    /// Says whether servers of a sim are kept in this directory.
    fn is_home(directory: &Path) -> bool {
        directory.join(world::MARK).exists() || directory.join(world::CONFIG).exists()
    }

    /// Returns the servers of a directory: those of `metatopia up`, or the one that `node join`
    /// keeps there.
    ///
    /// # Errors
    /// Fails when there is neither, or a configuration cannot be read.
    pub(super) fn all(directory: &Path) -> Result<Vec<Self>, Failure> {
        let count = world::kept_servers(directory)?;
        let own = || Ok(vec![Self::read("follower".to_owned(), &directory.join(world::CONFIG))?]);
        match count {
            Some(count) => (0..count)
                .map(|index| {
                    let home = world::server_path(directory, index);
                    Self::read(format!("server {index}"), &home.join(world::CONFIG))
                })
                .collect(),
            None if directory.join(world::CONFIG).exists() => own(),
            None => Err(none_kept(directory)),
        }
    }

    /// Returns the URL at which the server answers for its own sim.
    fn asked_at(&self) -> NodeUrl {
        self.sim.map_or_else(|| self.url.clone(), |sim| self.url.of(sim))
    }

    fn read(name: String, config: &Path) -> Result<Self, Failure> {
        let layer = config::read(config)?;
        let directory = layer.data_dir.as_deref();
        let disk = directory.and_then(|directory| DataDirectory::open(directory).ok());
        let identity = disk.and_then(|disk| read_identity(&disk).ok().flatten());
        let vote_key = layer.vote_key.clone().or_else(|| Some(layer.data_dir?.join("vote.key")));
        let key = vote_key.and_then(|path| keys::load(&path).ok());
        let listen = reached_at(layer.http_listen.unwrap_or(HTTP_DEFAULT));
        Ok(Self {
            name,
            config: config.to_owned(),
            url: format!("http://{listen}/").parse().expect("an address as URLs have it"),
            sim: identity.map(|identity| identity.sim),
            key: key.map(|key| key.public().to_string()),
        })
    }
}

/// Returns the failure of a directory without servers.
fn none_kept(directory: &Path) -> Failure {
    Failure::not_found(format!("no servers are kept in {}", directory.display()))
        .hint("name their directory by --data-dir, or a server by --node")
}

/// Returns the address at which this machine reaches a server that listens there.
fn reached_at(listen: SocketAddr) -> SocketAddr {
    match listen {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            (std::net::Ipv6Addr::LOCALHOST, v6.port()).into()
        }
        listen => listen,
    }
}

/// The answer of a server of this directory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SurveyedServer {
    pub(super) place: LocalServer,
    /// The server's status, or why there is none.
    pub(super) status: Result<ServerStatus, String>,
}

/// A server that votes and has no directory here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) key: String,
    /// The address that the server announces; nothing if none of ours knows it.
    pub(super) url: Option<String>,
    pub(super) is_live: bool,
}

/// The number of voting servers that are live, and that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quorum {
    pub(super) voters: usize,
    pub(super) live: usize,
    pub(super) needed: usize,
}

impl Quorum {
    /// Returns the quorum of this many servers, each with one vote.
    pub(super) const fn of(voters: usize, live: usize) -> Self {
        Self { voters, live, needed: voters * 2 / 3 + 1 }
    }

    pub(super) const fn is_there(self) -> bool {
        self.live >= self.needed
    }

    /// Returns how many more servers may be gone at once.
    pub(super) const fn spare(self) -> usize {
        self.voters - self.needed
    }
}

/// The answers of all servers at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Survey {
    pub(super) servers: Vec<SurveyedServer>,
    pub(super) elsewhere: Vec<Elsewhere>,
}

#[derive(Debug, Deserialize)]
struct ServerList {
    servers: Vec<ListedServer>,
}

#[derive(Debug, Deserialize)]
struct ListedServer {
    server: String,
    http: String,
}

impl Survey {
    /// Asks all servers of this directory, and asks the voting servers elsewhere whether they are
    /// live.
    pub(super) async fn take(places: &[LocalServer]) -> Self {
        let mut asking = JoinSet::new();
        for (index, place) in places.iter().cloned().enumerate() {
            asking.spawn(async move { (index, ServerStatus::ask(&place.asked_at(), None).await) });
        }
        let mut answers: Vec<Option<ServerStatus>> = vec![None; places.len()];
        let mut reasons = vec!["it was not asked".to_owned(); places.len()];
        while let Some(asked) = asking.join_next().await {
            match asked {
                Ok((index, Ok(status))) => match places[index].own_answer(status) {
                    Ok(status) => answers[index] = Some(status),
                    Err(reason) => reasons[index] = reason,
                },
                Ok((index, Err(failure))) => reasons[index] = failure.message,
                Err(_) => {}
            }
        }
        let seen = places.iter().cloned().zip(answers).zip(reasons);
        let servers = seen
            .map(|((place, answer), reason)| SurveyedServer { place, status: answer.ok_or(reason) })
            .collect();
        let mut survey = Self { servers, elsewhere: Vec::new() };
        survey.elsewhere = survey.ask_elsewhere().await;
        survey
    }

    async fn ask_elsewhere(&self) -> Vec<Elsewhere> {
        let (Some(newest), Some(voters)) = (self.newest(), self.voters()) else {
            return Vec::new();
        };
        let ours = |key: &&String| self.servers.iter().any(|seen| seen.key() == Some(key));
        let others: Vec<String> = voters.into_iter().filter(|key| !ours(key)).cloned().collect();
        if others.is_empty() {
            return Vec::new();
        }
        let told = http::get(newest.place.asked_at().join("/api/servers")).await;
        let known = told.map_or_else(|_| Vec::new(), |told: ServerList| told.servers);
        let sim = newest.place.sim;
        let mut asking = JoinSet::new();
        for key in others {
            let listed = known.iter().find(|listed| listed.server == key);
            let url = listed.map(|listed| listed.http.clone());
            asking.spawn(async move {
                let node: Option<NodeUrl> = url.as_ref().and_then(|url| url.parse().ok());
                let node = node.map(|node| sim.map_or(node.clone(), |sim| node.of(sim)));
                let is_live = match node {
                    Some(node) => http::get_text(node.join("/health/live")).await.is_ok(),
                    None => false,
                };
                Elsewhere { key, url, is_live }
            });
        }
        let mut elsewhere = asking.join_all().await;
        elsewhere.sort_by(|a, b| a.key.cmp(&b.key));
        self.believe_sessions(&mut elsewhere);
        elsewhere
    }

    /// Counts a server as live while the furthest of ours has a session more than its known
    /// neighbours take, because a server that was just promoted has announced no address yet. The
    /// session may be a follower's. Then one server too many is counted.
    fn believe_sessions(&self, elsewhere: &mut [Elsewhere]) {
        let Some(Ok(status)) = self.newest().map(|newest| &newest.status) else {
            return;
        };
        let neighbours = self.servers.iter().filter(|seen| seen.is_live()).count() - 1;
        let known = neighbours + elsewhere.iter().filter(|other| other.is_live).count();
        let sessions = usize::try_from(status.peers).unwrap_or(usize::MAX);
        let unnamed = elsewhere.iter_mut().filter(|other| other.url.is_none());
        for other in unnamed.take(sessions.saturating_sub(known)) {
            other.is_live = true;
        }
    }

    /// Returns the answering server with the highest height.
    pub(super) fn newest(&self) -> Option<&SurveyedServer> {
        self.servers
            .iter()
            .filter(|seen| seen.status.is_ok())
            .max_by_key(|seen| seen.status.as_ref().map(|status| status.height).ok())
    }

    /// Returns the highest height that any of the servers has decided.
    pub(super) fn height(&self) -> Option<u64> {
        self.newest()?.status.as_ref().map(|status| status.height).ok()
    }

    /// Returns who votes, as the server with the highest height knows.
    fn voters(&self) -> Option<BTreeSet<&String>> {
        let status = self.newest()?.status.as_ref().ok()?;
        (!status.validators.is_empty()).then(|| status.validators.iter().collect())
    }

    /// Returns whether this server of ours votes. Without any answer all of ours are taken to vote.
    pub(super) fn votes(&self, seen: &SurveyedServer) -> bool {
        match (self.voters(), seen.key()) {
            (Some(voters), Some(key)) => voters.iter().any(|voter| *voter == key),
            _ => true,
        }
    }

    /// Counts the voting servers that are live; `is_live` decides that for our own servers, by
    /// their places.
    pub(super) fn quorum(&self, is_live: impl Fn(usize) -> bool) -> Quorum {
        let own = self.servers.iter().enumerate().filter(|(_, seen)| self.votes(seen));
        let own_live = own.filter(|(index, _)| is_live(*index)).count();
        let others_live = self.elsewhere.iter().filter(|other| other.is_live).count();
        let voters = self.voters().map_or(self.servers.len(), |voters| voters.len());
        Quorum::of(voters, own_live + others_live)
    }
}

impl SurveyedServer {
    pub(super) fn is_live(&self) -> bool {
        self.status.is_ok()
    }

    /// Says whether the server does not vote now, though it is one of those that do: it is dead, or says so.
    pub(super) fn is_silent(&self) -> bool {
        self.status.as_ref().map_or(true, ServerStatus::is_silent)
    }

    /// Returns the server's key, as the server says, or else as its file says.
    pub(super) fn key(&self) -> Option<&String> {
        self.status.as_ref().map(|status| &status.server).ok().or(self.place.key.as_ref())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    /// Returns a survey of servers whose keys are one letter each. A capital letter is a dead
    /// server.
    pub(in crate::cli) fn survey(own: &str, voters: &str, elsewhere: &str) -> Survey {
        let validators: Vec<String> = voters.chars().map(String::from).collect();
        let seen = |(index, key): (usize, char)| {
            let name = key.to_ascii_lowercase().to_string();
            let status = serde_json::json!({
                "server": name, "height": 7, "tick": 21, "root": "cc", "root_height": 7,
                "proposer": null, "validators": validators, "peers": 0, "clients": 2,
                "stalled": false, "condition": "running",
            });
            let status = serde_json::from_value(status).unwrap();
            let place = LocalServer {
                name: format!("server {index}"),
                config: PathBuf::from(format!("server-{index}/metatopia.toml")),
                url: format!("http://127.0.0.1:{}/", 8_080 + index).parse().unwrap(),
                sim: None,
                key: Some(name),
            };
            let is_dead = key.is_ascii_uppercase();
            let gone = format!("{} is not reached: nobody listens there", place.url);
            SurveyedServer { place, status: if is_dead { Err(gone) } else { Ok(status) } }
        };
        let other = |key: char| Elsewhere {
            key: key.to_ascii_lowercase().to_string(),
            url: Some("http://10.0.0.9:8080".to_owned()),
            is_live: key.is_ascii_lowercase(),
        };
        Survey {
            servers: own.chars().enumerate().map(seen).collect(),
            elsewhere: elsewhere.chars().map(other).collect(),
        }
    }

    /// Whoever asked how a grid stands was told that no servers are kept there.
    #[test]
    fn the_sims_of_a_grid_are_found_in_its_directory() {
        let grid = std::env::temp_dir().join(format!("metatopia-homes-{}", std::process::id()));
        let homes = || LocalServer::homes(&grid).map_err(|failure| failure.exit);
        assert_eq!(homes(), Err(Exit::NotFound), "it is not there");
        fs::create_dir_all(grid.join("notes")).unwrap();
        assert_eq!(homes(), Err(Exit::NotFound), "no folder in it keeps servers");
        let sims = ["sim-0-0", "sim-1-0"].map(|name| grid.join(name));
        for (sim, file) in sims.iter().zip([world::MARK, world::CONFIG]) {
            fs::create_dir_all(sim).unwrap();
            fs::write(sim.join(file), "").unwrap();
        }
        assert_eq!(homes(), Ok(sims.to_vec()));
        assert_eq!(LocalServer::homes(&sims[1]).unwrap(), [sims[1].clone()]);
        fs::write(grid.join(world::CONFIG), "").unwrap();
        assert_eq!(homes(), Ok(vec![grid.clone()]), "its own servers are meant");
        fs::remove_dir_all(&grid).unwrap();
    }

    fn counted(survey: &Survey) -> (usize, usize, usize) {
        let Quorum { voters, live, needed } = survey.quorum(|i| survey.servers[i].is_live());
        (voters, live, needed)
    }

    /// Two servers had ended, and a server of another sim listened on the port of one of them. That
    /// server counted as the one that was gone, and as one that votes elsewhere.
    #[test]
    fn a_server_of_another_sim_on_the_port_of_one_that_ended_is_not_that_one() {
        let survey = survey("ab", "ab", "");
        let (one, other) = (&survey.servers[0], &survey.servers[1]);
        let (own, foreign) = (one.status.clone().unwrap(), other.status.clone().unwrap());
        assert_eq!(one.place.own_answer(own.clone()), Ok(own));
        let told = one.place.own_answer(foreign.clone()).unwrap_err();
        assert_eq!(told, "another server answers at http://127.0.0.1:8080/: b");

        // If the key file of a server cannot be read, any answer counts as the server's.
        let nameless = LocalServer { key: None, ..one.place.clone() };
        assert_eq!(nameless.own_answer(foreign.clone()), Ok(foreign));
    }

    /// `up` once counted its own servers only: "3 live, 3 are needed", where five voted.
    #[test]
    fn servers_that_were_promoted_elsewhere_count_and_are_needed() {
        assert_eq!(counted(&survey("abcd", "abcd", "")), (4, 4, 3));
        assert_eq!(counted(&survey("aBcd", "abcd", "")), (4, 3, 3));
        assert_eq!(counted(&survey("aBcd", "abcde", "e")), (5, 4, 4));
        assert_eq!(counted(&survey("aBcd", "abcde", "E")), (5, 3, 4));
    }

    #[test]
    fn who_has_not_told_its_address_counts_while_there_is_a_session_with_it() {
        let unnamed = |peers: u64| {
            let mut survey = survey("aBcd", "abcde", "E");
            survey.elsewhere[0].url = None;
            for seen in &mut survey.servers {
                if let Ok(status) = &mut seen.status {
                    status.peers = peers;
                }
            }
            let mut elsewhere = survey.elsewhere.clone();
            survey.believe_sessions(&mut elsewhere);
            counted(&Survey { elsewhere, ..survey })
        };
        assert_eq!(unnamed(2), (5, 3, 4));
        assert_eq!(unnamed(3), (5, 4, 4));
    }

    #[test]
    fn servers_that_were_demoted_do_not_count() {
        assert_eq!(counted(&survey("abcd", "bcde", "e")), (4, 4, 3));
        let demoted = survey("abCD", "bcde", "e");
        assert_eq!(counted(&demoted), (4, 2, 3));
        assert!(!demoted.votes(&demoted.servers[0]) && demoted.votes(&demoted.servers[3]));
    }

    #[test]
    fn while_nobody_answers_all_of_ours_count_as_voters() {
        assert_eq!(counted(&survey("ABCD", "abcd", "")), (4, 0, 3));
    }

    #[test]
    fn so_many_may_be_gone() {
        let spare = |voters| Quorum::of(voters, voters).spare();
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(spare), [0, 0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn who_listens_everywhere_is_reached_on_this_machine() {
        let reached = |text: &str| reached_at(text.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(reached("[::]:80"), "[::1]:80");
        assert_eq!(reached("192.0.2.1:80"), "192.0.2.1:80");
    }
}
