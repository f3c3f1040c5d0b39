//! `status` of a whole directory: all its servers in one table, who is dead, and how many turns are
//! decided in a second.

use std::{
    fmt,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::ServerStatus;
use crate::cli::{
    console::Console,
    exit::Exit,
    failure::Failure,
    numbers::number_of,
    survey::{Elsewhere, LocalServer, Quorum, Survey, SurveyedServer},
};

/// The time between two looks, over which turns are counted.
const LOOK: Duration = Duration::from_secs(1);

/// The number of digits of a key that are shown.
const KEY_DIGITS: usize = 8;

/// Moves a terminal's cursor to the top and clears what is below.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// A server whose directory is here.
#[derive(Debug, Serialize)]
struct Row {
    server: String,
    key: Option<String>,
    http: String,
    live: bool,
    votes: bool,
    /// `dead`, or the state that the server says it is in.
    state: String,
    height: Option<u64>,
    /// How many turns the server is behind the one with the highest height.
    behind: Option<u64>,
    peers: Option<u64>,
    clients: Option<u64>,
    /// Why the server is dead, or what it waits for.
    why: Option<String>,
    /// The configuration that starts the server.
    config: PathBuf,
}

/// A server that votes and has no directory here.
#[derive(Debug, Serialize)]
struct OtherRow {
    key: String,
    http: Option<String>,
    live: bool,
}

/// All servers in one table.
#[derive(Debug, Serialize)]
struct Table {
    sim: Option<String>,
    data_dir: PathBuf,
    servers: Vec<Row>,
    elsewhere: Vec<OtherRow>,
    voters: usize,
    live: usize,
    /// How many of those that are live vote now: with a full disk a server goes on without a vote.
    voting: usize,
    needed: usize,
    /// Says whether as many servers are live as are needed.
    quorum: bool,
    height: Option<u64>,
    turns_per_second: Option<f64>,
    /// How long admins have been away, and who takes over.
    admins: Option<String>,
}

impl Row {
    fn of(seen: &SurveyedServer, survey: &Survey) -> Self {
        let SurveyedServer { place, status } = seen;
        let known = status.as_ref().ok();
        let height = known.map(|status| status.height);
        Self {
            server: place.name.clone(),
            key: seen.key().cloned(),
            http: place.url.to_string(),
            live: seen.is_live(),
            votes: survey.votes(seen),
            state: known.map_or_else(|| "dead".to_owned(), |status| status.state().to_owned()),
            height,
            behind: survey.height().zip(height).map(|(tip, own)| tip.saturating_sub(own)),
            peers: known.map(|status| status.peers),
            clients: known.map(|status| status.clients),
            why: match status {
                Ok(status) => status.told("waiting_for").or(status.told("disk")).map(String::from),
                Err(why) => Some(why.clone()),
            },
            config: place.config.clone(),
        }
    }
}

impl Table {
    fn of(directory: &Path, survey: &Survey, turns_per_second: Option<f64>) -> Self {
        let quorum = survey.quorum(|index| survey.servers[index].is_live());
        let Quorum { voters, live, needed } = quorum;
        let voting = survey.quorum(|index| !survey.servers[index].is_silent()).live;
        let newest = survey.newest().and_then(|seen| seen.status.as_ref().ok());
        let sim = newest.and_then(|status| status.told("sim"));
        let other = |Elsewhere { key, url, is_live }: &Elsewhere| OtherRow {
            key: key.clone(),
            http: url.clone(),
            live: *is_live,
        };
        Self {
            sim: sim.map(String::from),
            data_dir: directory.to_owned(),
            servers: survey.servers.iter().map(|seen| Row::of(seen, survey)).collect(),
            elsewhere: survey.elsewhere.iter().map(other).collect(),
            voters,
            live,
            voting,
            needed,
            quorum: quorum.is_there(),
            height: survey.height(),
            turns_per_second,
            admins: newest.and_then(ServerStatus::admins).map(String::from),
        }
    }

    /// Returns how the command ends, by what a program should know of the table.
    fn verdict(&self) -> Result<(), Failure> {
        let Self { live, voting, needed, .. } = self;
        if !self.quorum {
            let message = format!("{live} of the servers that vote are live, {needed} are needed");
            return Err(Failure::timed_out(message).hint("no turn is decided until more are live"));
        }
        if voting < needed {
            let message = format!("{live} servers are live and {voting} vote, {needed} are needed");
            return Err(Failure::timed_out(message)
                .hint("no turn is decided until more vote: the table says why they do not"));
        }
        let wrong = ["stalled", "diverged", "healing", "following"];
        let wrong = self.servers.iter().find(|row| wrong.contains(&row.state.as_str()));
        wrong.map_or(Ok(()), |Row { server, state, http, .. }| {
            let message = format!("{server} is {state}");
            Err(Failure::new(Exit::Diverged, message)
                .hint(&format!("see `metatopia status --node {http}`")))
        })
    }
}

fn digits(key: Option<&String>) -> String {
    key.map_or_else(|| "-".to_owned(), |key| key.chars().take(KEY_DIGITS).collect())
}

fn number(number: Option<u64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// Writes columns as wide as their widest cell. The last one is as long as it is.
fn columns(f: &mut fmt::Formatter<'_>, rows: &[[String; 9]]) -> fmt::Result {
    let mut widths = [0; 9];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.len().max(*width);
        }
    }
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sim = self.sim.as_deref().unwrap_or("unknown");
        writeln!(f, "sim {sim}, kept in {}\n", self.data_dir.display())?;
        let head = ["", "key", "address", "state", "votes", "height", "behind", "peers", "clients"];
        let mut rows = vec![head.map(String::from)];
        let vote = |votes: bool| if votes { "yes" } else { "no" }.to_owned();
        rows.extend(self.servers.iter().map(|row| {
            [
                row.server.clone(),
                digits(row.key.as_ref()),
                row.http.clone(),
                if row.live { row.state.clone() } else { "DEAD".to_owned() },
                vote(row.votes),
                number(row.height),
                number(row.behind),
                number(row.peers),
                number(row.clients),
            ]
        }));
        rows.extend(self.elsewhere.iter().map(|other| {
            let state = match (other.live, &other.http) {
                (true, Some(_)) => "live",
                (true, None) => "connected",
                (false, Some(_)) => "DEAD",
                (false, None) => "unknown",
            };
            let http = other.http.clone().unwrap_or_else(|| "-".to_owned());
            let blank = || "-".to_owned();
            let (key, state) = (digits(Some(&other.key)), state.to_owned());
            ["elsewhere".into(), key, http, state, vote(true), blank(), blank(), blank(), blank()]
        }));
        columns(f, &rows)?;
        writeln!(f)?;
        for row in &self.servers {
            if let Some(why) = &row.why {
                writeln!(f, "{}: {why}", row.server)?;
            }
            if !row.live {
                let config = row.config.display();
                writeln!(
                    f,
                    "{}: a running `metatopia up` starts it again; by hand it is `metatopia node \
                     run --config {config}`",
                    row.server
                )?;
            }
        }
        let Self { voters, live, voting, needed, .. } = self;
        let of = number_of(*voters, "server that votes", "servers that vote");
        let alive = number_of(*live, "is", "are");
        write!(f, "of {of} {alive} live, and {} needed: ", number_of(*needed, "is", "are"))?;
        match (self.quorum, self.turns_per_second) {
            (false, _) => write!(f, "no turn is decided until {} more are live", needed - live),
            (true, _) if voting < needed => {
                write!(f, "no turn is decided until {} more vote again", needed - voting)
            }
            (true, Some(turns)) => write!(f, "{turns:.1} turns a second"),
            (true, None) => write!(f, "how many turns a second is not known yet"),
        }?;
        self.admins.as_ref().map_or(Ok(()), |words| write!(f, "\n{words}"))
    }
}

/// The servers of one sim that are kept here.
struct Home {
    directory: PathBuf,
    places: Vec<LocalServer>,
    /// When the last look was, and the height that it saw.
    seen: (Instant, Option<u64>),
}

impl Home {
    /// Takes the first look.
    async fn open(directory: PathBuf) -> Result<Self, Failure> {
        let places = LocalServer::all(&directory)?;
        let seen = (Instant::now(), Survey::take(&places).await.height());
        Ok(Self { directory, places, seen })
    }

    /// Takes another look.
    async fn look(&mut self) -> Table {
        let survey = Survey::take(&self.places).await;
        let now = (Instant::now(), survey.height());
        let table = Table::of(&self.directory, &survey, rate(self.seen, now));
        self.seen = now;
        table
    }
}

/// Shows the table once, or again and again until the program is stopped. Of a directory that keeps several sims it
/// shows a table for each.
pub(super) async fn run(directory: &Path, watch: bool, console: Console) -> Result<(), Failure> {
    let mut homes = Vec::new();
    for directory in LocalServer::homes(directory)? {
        homes.push(Home::open(directory).await?);
    }
    let is_seen = |homes: &[Home]| homes.iter().any(|home| home.seen.1.is_some());
    loop {
        if is_seen(&homes) {
            sleep(LOOK).await;
        }
        let mut tables = Vec::new();
        for home in &mut homes {
            tables.push(home.look().await);
        }
        if watch && !console.is_json() && io::stdout().is_terminal() {
            let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
            console.line(&format!("{CLEAR}{}", tables.join("\n\n")))?;
        } else {
            show(&tables, console)?;
        }
        if !watch {
            return verdict(&tables, console);
        }
        if !is_seen(&homes) {
            sleep(LOOK).await;
        }
    }
}

/// Prints tables one below the other, with an empty line between two.
fn show(tables: &[Table], console: Console) -> Result<(), Failure> {
    for (index, table) in tables.iter().enumerate() {
        if index > 0 && !console.is_json() {
            console.line("")?;
        }
        console.show(table)?;
    }
    Ok(())
}

/// Returns how the command ends. Of several sims each that is not well is told with its directory, and the code is that
/// of the first.
fn verdict(tables: &[Table], console: Console) -> Result<(), Failure> {
    if let [only] = tables {
        return only.verdict();
    }
    let mut failed = Ok(());
    for table in tables {
        if let Err(failure) = table.verdict() {
            let exit = failure.exit;
            let told = format!("{}: {failure}", table.data_dir.display());
            console.error(&Failure::new(exit, told));
            failed = failed.and(Err(Failure::quiet(exit)));
        }
    }
    failed
}

/// Returns the turns in a second between two looks, if both saw a height.
fn rate(before: (Instant, Option<u64>), now: (Instant, Option<u64>)) -> Option<f64> {
    let turns = now.1?.checked_sub(before.1?)?;
    let seconds = now.0.duration_since(before.0).as_secs_f64();
    // A turn a second would be much less than what is promised, and every height fits an f64 in
    // practice.
    let turns = f64::from(u32::try_from(turns).ok()?);
    (seconds > 0.0).then(|| (10.0 * turns / seconds).round() / 10.0)
}

impl ServerStatus {
    fn told(&self, key: &str) -> Option<&str> {
        self.more.get(key).and_then(|told| told.as_str())
    }

    /// Returns how long admins have been away, and who takes over, in words.
    pub(super) fn admins(&self) -> Option<&str> {
        self.more.get("admins")?.get("words")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::survey::tests::survey;

    fn table(own: &str, voters: &str, elsewhere: &str) -> Table {
        Table::of("/w".as_ref(), &survey(own, voters, elsewhere), Some(19.96))
    }

    #[test]
    fn the_table_says_which_server_is_dead_and_what_starts_it() {
        let told = table("aBcd", "abcd", "").to_string();
        let line = |start: &str| told.lines().find(|line| line.starts_with(start)).unwrap();
        assert!(line("server 0").contains("running"), "{told}");
        assert!(line("server 1  b").contains("DEAD"), "{told}");
        assert!(told.contains("server 1: http://127.0.0.1:8081/ is not reached"), "{told}");
        assert!(told.contains("metatopia node run --config server-1/metatopia.toml"), "{told}");
        let last = "of 4 servers that vote 3 are live, and 3 are needed: 20.0 turns a second";
        assert!(told.ends_with(last), "{told}");
        assert_eq!(table("aBcd", "abcd", "").verdict(), Ok(()));
    }

    #[test]
    fn the_table_ends_with_who_takes_over_if_admins_stay_away() {
        let words = "no admin for 23 days; in 7 days the oldest active player takes over: Bob";
        let table = Table { admins: Some(words.to_owned()), ..table("abcd", "abcd", "") };
        assert!(table.to_string().ends_with(&format!("turns a second\n{words}")), "{table}");
    }

    #[test]
    fn who_votes_elsewhere_is_listed_and_counted() {
        let told = table("abcd", "abcde", "e").to_string();
        assert!(told.contains("elsewhere  e"), "{told}");
        assert!(told.contains("of 5 servers that vote 5 are live, and 4 are needed"), "{told}");
        let without = table("aBcd", "abcde", "E");
        let told = without.to_string();
        assert!(told.contains("no turn is decided until 1 more are live"), "{told}");
        assert_eq!(without.verdict().unwrap_err().exit, Exit::TimedOut);
    }

    #[test]
    fn a_server_in_trouble_has_its_exit_code() {
        let mut troubled = table("abcd", "abcd", "");
        troubled.servers[2].state = "diverged".to_owned();
        let failure = troubled.verdict().unwrap_err();
        assert_eq!(failure.exit, Exit::Diverged);
        assert!(failure.message.contains("server 2 is diverged"), "{failure}");
    }

    /// The only server of a sim did not vote, because its disk was full, and `status` ended as if all were well.
    #[test]
    fn a_sim_whose_servers_live_and_do_not_vote_has_no_quorum() {
        let mut seen = survey("a", "a", "");
        let status = seen.servers[0].status.as_mut().expect("it answers");
        status.more.insert("voting".to_owned(), false.into());
        let silent = Table::of("/w".as_ref(), &seen, None);
        assert_eq!((silent.live, silent.voting), (1, 0));
        let failure = silent.verdict().expect_err("nothing is decided");
        assert_eq!(failure.exit, Exit::TimedOut);
        assert!(failure.message.contains("1 servers are live and 0 vote"), "{failure}");
        assert!(silent.to_string().ends_with("no turn is decided until 1 more vote again"));
    }

    #[test]
    fn objects_have_a_row_for_each_server() {
        let value = serde_json::to_value(table("aBcd", "abcde", "e")).unwrap();
        assert_eq!(value["servers"][1]["live"], false);
        assert_eq!(value["servers"][1]["state"], "dead");
        assert_eq!(value["elsewhere"][0]["live"], true);
        let counts = ["voters", "live", "needed", "height"].map(|key| value[key].as_u64());
        assert_eq!(counts, [Some(5), Some(4), Some(4), Some(7)]);
        assert_eq!(value["turns_per_second"], 19.96);
    }

    #[test]
    fn turns_are_counted_between_two_looks() {
        let began = Instant::now();
        let later = began + Duration::from_secs(2);
        assert_eq!(rate((began, Some(100)), (later, Some(139))), Some(19.5));
        assert_eq!(rate((began, None), (later, Some(139))), None);
        assert_eq!(rate((began, Some(9)), (later, Some(3))), None, "another world");
    }
}
