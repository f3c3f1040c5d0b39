//! `status`: how a server stands, or all servers of a directory.

mod table;

use std::{env, fmt, path::PathBuf, time::Duration};

use clap::Args;
use metatopia_client_driver::{NodeUrl, http};
use metatopia_types::Height;
use serde::{Deserialize, Serialize};

use super::{
    arguments, console::Console, exit::Exit, failure::Failure, numbers::number_of,
    session::http_exit, survey::Quorum, up,
};
use crate::routes::SimsAnswer;

/// Arguments of `metatopia status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    metatopia status                       all servers of `metatopia up`, and turns a second\n  \
    metatopia status --watch               the same, renewed every second\n  \
    metatopia status --node http://127.0.0.1:8080 --at 1200 --json\n  \
    metatopia status --node http://127.0.0.1:8080/w/SIM    one sim of a process that hosts several\n\n\
    With --at it is the root after that height, to compare servers by. A server that is stalled,\n\
    diverged or healing is described as any other, with exit code 6; without a quorum it is 7, also\n\
    where servers live and do not vote, as with a full disk.")]
pub(super) struct StatusArgs {
    /// One server, instead of all in a directory; of a process with several sims all of them.
    #[arg(long, value_name = "URL")]
    node: Option<NodeUrl>,
    /// The directory of `metatopia up`, of a grid with all its sims, or of `metatopia node join`
    /// [default: ~/.local/state/metatopia/plaza].
    #[arg(long, value_name = "DIR", conflicts_with = "node")]
    data_dir: Option<PathBuf>,
    /// Renew the table every second, until Ctrl-C.
    #[arg(long, conflicts_with = "node")]
    watch: bool,
    /// Show the root after this height.
    #[arg(long, value_name = "HEIGHT", value_parser = arguments::height, requires = "node")]
    at: Option<Height>,
}

/// What `/api/status` says. Fields that this version does not know are passed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ServerStatus {
    /// The server's own key.
    pub(super) server: String,
    /// The last decided height.
    pub(super) height: u64,
    /// The last tick.
    pub(super) tick: u64,
    /// The root after `root_height`.
    pub(super) root: String,
    /// Which height the root is of.
    pub(super) root_height: u64,
    /// Who proposes at the height under way.
    pub(super) proposer: Option<String>,
    /// Who votes at the height under way.
    pub(super) validators: Vec<String>,
    /// Servers that are connected.
    pub(super) peers: u64,
    /// Clients that are connected.
    pub(super) clients: u64,
    /// Whether nothing is decided any more.
    pub(super) stalled: bool,
    /// How it stands in a word; nothing if it is an older server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// The fields that no other field names.
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

impl ServerStatus {
    /// Says whether it is one of those that vote, and does not now.
    pub(super) fn is_silent(&self) -> bool {
        self.more.get("voting").is_some_and(|voting| voting == false)
            && self.validators.contains(&self.server)
    }

    /// Returns the server's state in a few words.
    fn state(&self) -> &str {
        let follows = self.more.get("voting").is_some_and(|voting| voting == false)
            && !self.validators.contains(&self.server);
        match self.condition.as_deref() {
            Some("running") | None if follows => "running, follows without a vote",
            Some(condition) => condition,
            None if self.stalled => "stalled",
            None => "running",
        }
    }

    fn follows(&self) -> Option<FollowLine> {
        FollowLine::deserialize(self.more.get("follows")?).ok()
    }

    fn delayed(&self) -> Vec<DelayedChangeLine> {
        let told = self.more.get("delayed").and_then(|told| Vec::deserialize(told).ok());
        told.unwrap_or_default()
    }

    fn missing(&self) -> Option<MissingTurnsLine> {
        MissingTurnsLine::deserialize(self.more.get("missing")?).ok()
    }

    /// Asks a node.
    pub(super) async fn ask(node: &NodeUrl, at: Option<Height>) -> Result<Self, Failure> {
        let path = match at {
            Some(height) => format!("/api/status?at={height}"),
            None => "/api/status".to_owned(),
        };
        http::get(node.join(&path)).await.map_err(|error| {
            let failure = Failure::new(http_exit(&error), format!("{node} {error}"));
            match failure.exit {
                Exit::TimedOut => failure.hint("is a server running there?"),
                _ => failure,
            }
        })
    }
}

/// A change of who votes by a temp admin, as a node tells of it.
#[derive(Deserialize)]
struct DelayedChangeLine {
    change: String,
    server: String,
    by: String,
    seconds: u64,
}

impl fmt::Display for DelayedChangeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { change, server, by, seconds } = self;
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
        let short = |key: &str| key.get(..8).unwrap_or(key).to_owned();
        let (server, by) = (short(server), short(by));
        write!(f, "{change} {server} in {hours} h {minutes} min, asked for by {by} who acts for ")?;
        write!(f, "the admins; an admin's login stops it")
    }
}

/// The servers that a node follows by, as it tells of them.
#[derive(Deserialize)]
struct FollowLine {
    servers: usize,
    connected: usize,
    refused: Vec<RefusingServerLine>,
}

#[derive(Deserialize)]
struct RefusingServerLine {
    server: String,
    why: String,
}

impl fmt::Display for FollowLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { servers, connected, refused } = self;
        write!(f, "{connected} of {}", number_of(*servers, "server", "servers"))?;
        if connected + refused.len() < *servers {
            write!(f, "; others are asked to let it in")?;
        }
        for RefusingServerLine { server, why } in refused {
            write!(f, "; {} refuses: {why}", server.get(..8).unwrap_or(server))?;
        }
        if !refused.is_empty() {
            write!(f, "; stop it, and join again by a new invite")?;
        }
        Ok(())
    }
}

/// Turns that a server lacks, as it tells of them.
#[derive(Deserialize)]
struct MissingTurnsLine {
    turns: u64,
    first: u64,
    last: u64,
    unasked: Option<String>,
}

impl fmt::Display for MissingTurnsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turns, first, last, unasked } = self;
        write!(f, "{turns} turns, the newest are {first} to {last}; ")?;
        match unasked {
            Some(why) => write!(f, "not asked for: {why}"),
            None => write!(f, "other servers are asked for them"),
        }
    }
}

impl fmt::Display for ServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        writeln!(f, "server      {}", self.server)?;
        if let Some(sim) = self.more.get("sim").and_then(|sim| sim.as_str()) {
            writeln!(f, "sim         {sim}")?;
        }
        let parent = self.more.get("parent").and_then(|parent| parent.get("sim"));
        if let Some(parent) = parent.and_then(|sim| sim.as_str()) {
            writeln!(f, "carries on  sim {parent}")?;
        }
        writeln!(f, "state       {state}")?;
        writeln!(f, "height      {}", self.height)?;
        writeln!(f, "tick        {}", self.tick)?;
        writeln!(f, "root        {} after height {}", self.root, self.root_height)?;
        writeln!(f, "proposer    {}", self.proposer.as_deref().unwrap_or("not known yet"))?;
        writeln!(f, "validators  {}", self.validators.len())?;
        writeln!(f, "peers       {}", self.peers)?;
        write!(f, "clients     {}", self.clients)?;
        let told = |key: &str| self.more.get(key).and_then(|told| told.as_str());
        if let Some(follows) = self.follows() {
            write!(f, "\nfollows     {follows}")?;
        }
        if let Some(missing) = self.missing() {
            write!(f, "\nmissing     {missing}")?;
        }
        if let Some(left) = self.more.get("seconds_left").and_then(serde_json::Value::as_u64) {
            let left = humantime::format_duration(Duration::from_secs(left));
            write!(f, "\nends in     {left}")?;
        }
        if let Some(words) = self.admins() {
            write!(f, "\nadmins      {words}")?;
        }
        for delayed in self.delayed() {
            write!(f, "\nwaits       {delayed}")?;
        }
        if let Some(disk) = told("disk") {
            write!(f, "\ndisk        {disk}")?;
        }
        if let Some(reason) = told("waiting_for") {
            write!(f, "\nwaiting for {reason}")?;
        }
        Ok(())
    }
}

pub(super) async fn run(args: StatusArgs, console: Console) -> Result<(), Failure> {
    let Some(node) = args.node else {
        let directory = match args.data_dir {
            Some(directory) => directory,
            None => up::default_dir("plaza", |name| env::var_os(name).map(PathBuf::from))?,
        };
        return table::run(&directory, args.watch, console).await;
    };
    let nodes = hosted_at(node).await;
    let mut failed = None;
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 && !console.is_json() {
            console.line("")?;
        }
        let Err(failure) = show(node, args.at, console).await else {
            continue;
        };
        if nodes.len() == 1 {
            return Err(failure);
        }
        // The others are shown nevertheless.
        console.error(&failure);
        failed = failed.or(Some(Failure::quiet(failure.exit)));
    }
    failed.map_or(Ok(()), Err)
}

/// Returns the address of each sim that a node hosts, the one that answers without a name first. One
/// that names a sim stands for that sim alone.
async fn hosted_at(node: NodeUrl) -> Vec<NodeUrl> {
    if node.sim().is_some() {
        return vec![node];
    }
    // A node of an earlier version hosts one sim and does not know the question.
    let told = http::get(node.join("/api/sims")).await;
    let mut sims = told.map_or_else(|_| Vec::new(), |told: SimsAnswer| told.sims);
    if sims.len() < 2 {
        return vec![node];
    }
    sims.sort_by_key(|entry| !entry.first);
    sims.iter().filter_map(|entry| Some(node.of(entry.sim.parse().ok()?))).collect()
}

/// Shows how the server of one sim stands. It is a failure if the server is not well.
async fn show(node: &NodeUrl, at: Option<Height>, console: Console) -> Result<(), Failure> {
    let status = ServerStatus::ask(node, at).await?;
    console.show(&status)?;
    if let Some(condition @ ("diverged" | "healing" | "following")) = status.condition.as_deref() {
        let message = format!("{node} is {condition}: its state was not the others'");
        return Err(Failure::new(Exit::Diverged, message)
            .hint("see the folder `capsules` in its data directory"));
    }
    if status.stalled {
        let message = format!("{node} has decided nothing lately: it is stalled");
        return Err(Failure::new(Exit::Diverged, message).hint(
            "see whether more than two thirds of the servers live; if they do, and disagree, \
                 see `metatopia recover --help`",
        ));
    }
    let voters = status.validators.len();
    let quorum = Quorum::of(voters, voters.saturating_sub(1));
    if status.is_silent() && !quorum.is_there() {
        let Quorum { needed, .. } = quorum;
        let message = format!("{node} does not vote, and {needed} of {voters} are needed");
        let why = status.more.get("waiting_for").and_then(|why| why.as_str());
        return Err(Failure::timed_out(message).hint(why.unwrap_or("it does not say why")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = r#"{"server":"aa","sim":"bb","height":7,"tick":21,"root":"cc",
        "root_height":7,"proposer":null,"validators":["aa"],"peers":0,"clients":2,
        "stalled":false,"disk":"full","waiting_for":"other servers"}"#;

    #[test]
    fn fields_of_later_versions_are_passed_on() {
        let status: ServerStatus = serde_json::from_str(SAID).unwrap();
        let again = serde_json::to_value(&status).unwrap();
        assert_eq!(again, serde_json::from_str::<serde_json::Value>(SAID).unwrap());
    }

    #[test]
    fn people_are_told_which_turns_are_missing_and_why_they_are_not_asked_for() {
        let told = |missing: &str| {
            let said = SAID.replace("\"stalled\"", &format!("\"missing\":{missing},\"stalled\""));
            serde_json::from_str::<ServerStatus>(&said).unwrap().to_string()
        };
        let asked = told(r#"{"turns":7,"first":3,"last":5,"unasked":null}"#);
        let line =
            "\nmissing     7 turns, the newest are 3 to 5; other servers are asked for them\n";
        assert!(asked.contains(line), "{asked}");
        let unasked = told(r#"{"turns":7,"first":3,"last":5,"unasked":"nobody has them"}"#);
        assert!(unasked.contains("3 to 5; not asked for: nobody has them\n"), "{unasked}");
        assert!(!told("null").contains("missing"));
    }

    #[test]
    fn people_are_told_by_which_servers_a_node_follows_and_what_to_do_about_the_others() {
        let told = |follows: &str| {
            let said = SAID.replace("\"stalled\"", &format!("\"follows\":{follows},\"stalled\""));
            serde_json::from_str::<ServerStatus>(&said).unwrap().to_string()
        };
        let all = told(r#"{"servers":4,"connected":4,"refused":[]}"#);
        assert!(all.contains("\nfollows     4 of 4 servers\n"), "{all}");
        let some = told(r#"{"servers":4,"connected":3,"refused":[]}"#);
        assert!(some.contains("3 of 4 servers; others are asked to let it in\n"), "{some}");
        let refused = r#"[{"server":"0123456789","why":"the invite has expired"}]"#;
        let one = told(&format!(r#"{{"servers":4,"connected":3,"refused":{refused}}}"#));
        let line = "3 of 4 servers; 01234567 refuses: the invite has expired; stop it, and join \
            again by a new invite\n";
        assert!(one.contains(line), "{one}");
        assert!(!told("null").contains("follows"));
    }

    #[test]
    fn people_are_told_for_how_long_no_admin_was_there_and_who_takes_over() {
        let admins = r#"{"seconds_away":1987200,"words":"no admin for 23 days"}"#;
        let said = SAID.replace("\"stalled\"", &format!("\"admins\":{admins},\"stalled\""));
        let text = serde_json::from_str::<ServerStatus>(&said).unwrap().to_string();
        assert!(text.contains("\nadmins      no admin for 23 days\n"), "{text}");
    }

    #[test]
    fn people_are_told_which_changes_of_who_votes_wait_and_what_stops_them() {
        let waits = r#"[{"change":"add","server":"0123456789","by":"abcdef0123","seconds":7320}]"#;
        let said = SAID.replace("\"stalled\"", &format!("\"delayed\":{waits},\"stalled\""));
        let text = serde_json::from_str::<ServerStatus>(&said).unwrap().to_string();
        let line = "\nwaits       add 01234567 in 2 h 2 min, asked for by abcdef01 who acts for the \
            admins; an admin's login stops it\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn people_are_told_what_a_server_waits_for() {
        let status: ServerStatus = serde_json::from_str(SAID).unwrap();
        let text = status.to_string();
        assert!(text.contains("height      7\n"), "{text}");
        assert!(text.ends_with("\ndisk        full\nwaiting for other servers"), "{text}");
        assert!(text.contains("proposer    not known yet"), "{text}");
    }
}
