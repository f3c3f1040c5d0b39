//! A sim of four servers, each in a seat of its own.

use std::{
    cell::Cell,
    fs, io,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use toml::{Table, Value as Toml};

use crate::{Lab, LabSeat, SERVERS};

const HTTP_PORT: u16 = 8080;
const CLIENT_PORT: u16 = 8081;
const P2P_PORT: u16 = 8082;
const OVERLAY_PORT: u16 = 8083;

/// The ports of a server that anybody can send to: TCP, UDP, TCP.
pub(crate) const PORTS: [u16; 3] = [HTTP_PORT, CLIENT_PORT, P2P_PORT];

/// Longest wait for anything that is not a figure. Nothing waits for it when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Time for one answer over HTTP.
const ANSWER: Duration = Duration::from_secs(2);

/// Between two looks at a status. Figures have this grain.
pub(crate) const LOOK: Duration = Duration::from_millis(10);

/// What went wrong in a story, for a reader.
pub(crate) type LabResult<T> = Result<T, String>;

pub(crate) fn told<E: std::fmt::Display>(what: &str) -> impl Fn(E) -> String + '_ {
    move |error| format!("{what}: {error}")
}

/// A world that nobody has been in, as files: each story gets a copy.
#[derive(Debug)]
pub struct Template {
    program: PathBuf,
    dir: PathBuf,
}

impl Template {
    /// Lets the program make a world below `dir`, and stops it again.
    ///
    /// # Errors
    /// What went wrong, for a reader.
    pub fn make(program: &Path, dir: &Path) -> Result<Self, String> {
        let dir = dir.join("template");
        let_make(program, &dir, &[])?;
        Ok(Self::at(program, dir))
    }

    /// The sim that the program made in `dir`.
    pub(crate) fn at(program: &Path, dir: PathBuf) -> Self {
        Self { program: program.to_owned(), dir }
    }
}

/// Lets `metatopia up` make a world of [`SERVERS`] a sim in `dir`, and stops it once it runs.
pub(crate) fn let_make(program: &Path, dir: &Path, more: &[&str]) -> LabResult<()> {
    let mut up = Command::new(program)
        .args(["up", "--json", "--http-port", "0", "--servers", &SERVERS.to_string()])
        .arg("--data-dir")
        .arg(dir)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(told("start metatopia up"))?;
    let mut line = String::new();
    let output = up.stdout.take().expect("piped");
    BufReader::new(output).read_line(&mut line).map_err(told("read its first line"))?;
    signal(&up, Signal::SIGINT)?;
    let ended = up.wait().map_err(told("wait for metatopia up"))?;
    if ended.success() {
        return Ok(());
    }
    Err(format!("metatopia up ended with {ended} after saying `{line}`"))
}

/// Four servers in a lab, and their folders. Dropped, they are killed.
#[derive(Debug)]
pub struct LabServers<'a> {
    pub(crate) lab: &'a Lab,
    program: PathBuf,
    dir: PathBuf,
    /// The seat of the first server; the others have the next ones.
    first: usize,
    processes: Vec<Option<Child>>,
    http: ureq::Agent,
}

/// How a server stands.
#[derive(Clone, Debug)]
pub(crate) struct ServerStanding {
    pub(crate) height: u64,
    pub(crate) root_height: u64,
    pub(crate) proposer: Option<String>,
    pub(crate) server: String,
    pub(crate) voting: bool,
}

impl<'a> LabServers<'a> {
    /// Puts a copy of the world into `dir`, starts its servers, and waits until all vote.
    ///
    /// # Errors
    /// What went wrong, for a reader.
    pub fn start(lab: &'a Lab, template: &Template, dir: &Path) -> Result<Self, String> {
        lab.calm();
        let mut servers = Self::prepare(lab, template, (dir, 0))?;
        servers.run_all()?;
        servers.until_all_vote()?;
        Ok(servers)
    }

    /// Puts a copy of the world into a folder, for servers in the seats from one on.
    pub(crate) fn prepare(
        lab: &'a Lab,
        template: &Template,
        (dir, first): (&Path, usize),
    ) -> LabResult<Self> {
        let http = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER))
            .http_status_as_error(false)
            .build()
            .into();
        let processes = (0..SERVERS).map(|_| None).collect();
        let (program, dir) = (template.program.clone(), dir.to_owned());
        let servers = Self { lab, program, dir, first, processes, http };
        for number in 0..SERVERS {
            let from = template.dir.join(format!("server-{number}"));
            copy(&from, &servers.folder(number)).map_err(told("copy the world"))?;
            servers.configure(number)?;
        }
        Ok(servers)
    }

    /// Starts all servers.
    pub(crate) fn run_all(&mut self) -> LabResult<()> {
        (0..SERVERS).try_for_each(|number| self.run(number))
    }

    /// Waits until all servers vote.
    pub(crate) fn until_all_vote(&self) -> LabResult<()> {
        let votes = |number| self.until(number, "votes", |standing| standing.voting).map(drop);
        (0..SERVERS).try_for_each(votes)
    }

    /// The seat of a server.
    pub(crate) fn seat(&self, number: usize) -> &'a LabSeat {
        self.lab.seat(self.first + number)
    }

    /// A server's folder.
    pub(crate) fn folder(&self, number: usize) -> PathBuf {
        self.dir.join(format!("server-{number}"))
    }

    /// The file that `metatopia up` wrote, with addresses of the lab.
    fn configure(&self, number: usize) -> LabResult<()> {
        let file = self.folder(number).join("metatopia.toml");
        let text = fs::read_to_string(&file).map_err(told("read a configuration"))?;
        let mut table: Table = toml::from_str(&text).map_err(told("read a configuration"))?;
        let own = self.seat(number).address;
        table.insert("http_listen".into(), format!("{own}:{HTTP_PORT}").into());
        table.insert("client_listen".into(), format!("{own}:{CLIENT_PORT}").into());
        table.insert("p2p_listen".into(), format!("/ip4/{own}/tcp/{P2P_PORT}").into());
        if table.contains_key("overlay_listen") {
            let address = format!("/ip4/{own}/tcp/{OVERLAY_PORT}");
            table.insert("overlay_listen".into(), address.into());
        }
        let others = (0..SERVERS).filter(|other| *other != number);
        let peers = table.get_mut("peers").and_then(Toml::as_array_mut);
        // `up` lists the others in the order of their numbers.
        for (peer, other) in peers.into_iter().flatten().zip(others) {
            let address = format!("/ip4/{}/tcp/{P2P_PORT}", self.seat(other).address);
            let peer = peer.as_table_mut().ok_or("a peer is a table")?;
            peer.insert("address".into(), address.into());
        }
        let text = toml::to_string(&table).map_err(told("write a configuration"))?;
        fs::write(file, text).map_err(told("write a configuration"))
    }

    /// Starts a server that does not run.
    pub(crate) fn run(&mut self, number: usize) -> LabResult<()> {
        let folder = self.folder(number);
        let log = fs::File::options().create(true).append(true).open(folder.join("node.log"));
        let mut command = Command::new(&self.program);
        command
            .args(["node", "run", "--until-stdin-ends", "--config"])
            .arg(folder.join("metatopia.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log.map_err(told("open node.log"))?);
        let child = self.seat(number).spawn(&mut command);
        self.processes[number] = Some(child.map_err(told("start a server"))?);
        Ok(())
    }

    /// Sends a server a signal.
    pub(crate) fn signal(&self, number: usize, which: Signal) -> LabResult<()> {
        let process = self.processes[number].as_ref().ok_or("the server does not run")?;
        signal(process, which)
    }

    /// Ends a server as a crash of its process would.
    pub(crate) fn kill(&mut self, number: usize) -> LabResult<()> {
        let mut process = self.processes[number].take().ok_or("the server does not run")?;
        process.kill().and_then(|()| process.wait()).map_err(told("kill a server"))?;
        Ok(())
    }

    /// Ends a server as an operator does.
    pub(crate) fn stop(&mut self, number: usize) -> LabResult<()> {
        let mut process = self.processes[number].take().ok_or("the server does not run")?;
        signal(&process, Signal::SIGTERM)?;
        let ended = process.wait().map_err(told("wait for a server"))?;
        if ended.success() { Ok(()) } else { Err(format!("server {number} ended with {ended}")) }
    }

    /// Memory of a server that is not on disk, in bytes.
    pub(crate) fn resident(&self, number: usize) -> LabResult<u64> {
        let process = self.processes[number].as_ref().ok_or("the server does not run")?;
        let text = fs::read_to_string(format!("/proc/{}/status", process.id()))
            .map_err(told("read the memory of a server"))?;
        let kib = text
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))
            .and_then(|kib| kib.parse::<u64>().ok());
        Ok(kib.ok_or("no VmRSS")? * 1_024)
    }

    pub(crate) fn url(&self, number: usize) -> String {
        format!("http://{}:{HTTP_PORT}", self.seat(number).address)
    }

    /// Returns a command of the program, to be run in the onlooker's seat.
    pub(crate) fn command(&self) -> Command {
        Command::new(&self.program)
    }

    fn get(&self, number: usize, path: &str) -> Option<Value> {
        let mut answer = self.http.get(format!("{}{path}", self.url(number))).call().ok()?;
        let text = answer.body_mut().read_to_string().ok()?;
        (answer.status().as_u16() == 200).then(|| serde_json::from_str(&text).ok()).flatten()
    }

    /// Returns the state of a server, or `None` if it does not answer.
    pub(crate) fn standing(&self, number: usize) -> Option<ServerStanding> {
        let status = self.get(number, "/api/status")?;
        let text = |key: &str| status[key].as_str().map(str::to_owned);
        Some(ServerStanding {
            height: status["height"].as_u64()?,
            root_height: status["root_height"].as_u64()?,
            proposer: text("proposer"),
            server: text("server")?,
            voting: status["waiting_for"].is_null(),
        })
    }

    /// The height of a server, once it answers.
    pub(crate) fn height(&self, number: usize) -> LabResult<u64> {
        let height = Cell::new(0);
        self.until(number, "says its height", |now| {
            height.set(now.height);
            true
        })?;
        Ok(height.get())
    }

    /// The height of the highest of these servers.
    pub(crate) fn highest(&self, numbers: &[usize]) -> LabResult<u64> {
        numbers.iter().try_fold(0, |highest, n| Ok(self.height(*n)?.max(highest)))
    }

    /// Looks until it is so, and says how long that took.
    pub(crate) fn until(
        &self,
        number: usize,
        what: &str,
        is_so: impl Fn(&ServerStanding) -> bool,
    ) -> LabResult<Duration> {
        let began = Instant::now();
        loop {
            let standing = self.standing(number);
            if standing.as_ref().is_some_and(&is_so) {
                return Ok(began.elapsed());
            }
            if began.elapsed() > PATIENCE {
                let words = self.last_words(number);
                return Err(format!("server {number} never {what}: {standing:?}\n{words}"));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for so many more turns on a server, and says how long they took.
    pub(crate) fn turns(&self, number: usize, more: u64) -> LabResult<Duration> {
        let from = self.height(number)?;
        self.until(number, &format!("reaches {}", from + more), |now| now.height >= from + more)
    }

    /// Returns which server proposes now, as one of them sees it.
    pub(crate) fn proposer(&self, seen_by: usize) -> Option<usize> {
        let key = self.standing(seen_by)?.proposer?;
        (0..SERVERS).find(|n| self.standing(*n).is_some_and(|standing| standing.server == key))
    }

    /// Checks that these servers state one root after one height. Waits until all have a newer one than the
    /// highest has now.
    pub(crate) fn agree(&self, numbers: &[usize]) -> LabResult<u64> {
        let highest = self.highest(numbers)?;
        for number in numbers {
            let what = format!("follows to {highest}");
            self.until(*number, &what, |standing| standing.root_height >= highest)?;
        }
        let root = |number: &usize| {
            let status = self.get(*number, &format!("/api/status?at={highest}"))?;
            status["root"].as_str().map(str::to_owned)
        };
        let roots: Vec<Option<String>> = numbers.iter().map(root).collect();
        if roots[0].is_some() && roots.iter().all(|other| *other == roots[0]) {
            return Ok(highest);
        }
        Err(format!("roots after {highest} of servers {numbers:?}: {roots:?}"))
    }

    /// The end of a server's log.
    fn last_words(&self, number: usize) -> String {
        let text = fs::read_to_string(self.folder(number).join("node.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(10).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for LabServers<'_> {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().flatten() {
            // One that ended by itself is not there to be killed.
            drop(process.kill());
            drop(process.wait());
        }
    }
}

pub(crate) fn signal(process: &Child, which: Signal) -> LabResult<()> {
    let pid = i32::try_from(process.id()).map_err(told("a process id"))?;
    kill(Pid::from_raw(pid), which).map_err(told("send a signal"))
}

pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&path, &to)?;
        } else {
            fs::copy(path, to)?;
        }
    }
    Ok(())
}
