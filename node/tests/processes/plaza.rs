//! A running plaza, and the program's other commands around it.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_metatopia");

/// How long anything may take here. Debug builds on a busy machine are slow; nothing waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// In a server's directory: what it logged since it was started again.
pub(crate) const RESTARTED: &str = "restarted.log";

/// Lines of each log that are told when a test fails.
const LINES_TOLD: usize = 20;

/// A folder of its own, gone when the test is.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("metatopia-{name}-{}", std::process::id()));
        // Two tests of one name deleted each other's worlds.
        assert!(folders().insert(path.clone()), "another test has a folder {name}");
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a new folder");
        Self(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// The folders of the tests that run now.
fn folders() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
        folders().remove(&self.0);
    }
}

/// Runs a command to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null());
    command.output().expect("the program starts")
}

/// Runs a command that must succeed, and reads its one line of JSON.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

/// A new key file.
pub(crate) fn key(folder: &Folder, name: &str) -> String {
    let path = folder.join(name).display().to_string();
    let output = run(&["keys", "new", "--out", &path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

/// One server of a running plaza.
pub(crate) struct Server {
    pub(crate) pid: u32,
    pub(crate) key: String,
    pub(crate) url: String,
}

/// A running plaza.
pub(crate) struct Plaza {
    process: Child,
    output: BufReader<ChildStdout>,
    /// The warnings of `up`, where the folder is watched.
    warnings: Option<BufReader<ChildStderr>>,
    pub(crate) servers: Vec<Server>,
    pub(crate) sim: String,
    pub(crate) dir: PathBuf,
}

impl Plaza {
    /// Starts a plaza in `dir`, and waits until it says that it is ready.
    pub(crate) fn start(dir: &Path, servers: usize) -> Self {
        Self::start_with(dir, servers, &[])
    }

    /// Starts what [`Plaza::start`] starts, with these variables of the environment.
    pub(crate) fn start_with(dir: &Path, servers: usize, variables: &[(&str, &str)]) -> Self {
        Self::start_by(dir, servers, &["--no-restart"], variables)
    }

    /// Starts what [`Plaza::start`] starts; a server that ends is started again.
    pub(crate) fn start_guarded(dir: &Path, servers: usize) -> Self {
        Self::start_by(dir, servers, &[], &[])
    }

    /// Starts what [`Plaza::start`] starts; new keys are asked for what this rule says.
    pub(crate) fn start_ruled(dir: &Path, servers: usize, first_login: &str) -> Self {
        Self::start_by(dir, servers, &["--no-restart", "--first-login", first_login], &[])
    }

    /// Starts what [`Plaza::start`] starts, but of the place in this folder.
    pub(crate) fn start_at(dir: &Path, servers: usize, place: &str) -> Self {
        Self::start_by(dir, servers, &["--no-restart", "--place", place], &[])
    }

    /// Starts what [`Plaza::start_at`] starts; the packages and things of the sim follow the folder.
    pub(crate) fn start_watched(dir: &Path, servers: usize, place: &str) -> Self {
        Self::start_by(dir, servers, &["--no-restart", "--place", place, "--watch"], &[])
    }

    fn start_by(dir: &Path, servers: usize, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let is_read = flags.contains(&"--watch");
        let mut process = Command::new(PROGRAM)
            .args(["up", "--json", "--servers", &servers.to_string()])
            .args(["--http-port", "0", "--data-dir"])
            .arg(dir)
            .args(flags)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(if is_read { Stdio::piped() } else { Stdio::inherit() })
            .spawn()
            .expect("the program starts");
        let warnings = process.stderr.take().map(BufReader::new);
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).expect("the ready line");
        assert_eq!(ready["ready"], true);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let server = |value: &Value| Server {
            pid: value["pid"].as_u64().expect("a number").try_into().expect("a process id"),
            key: text(&value["key"]),
            url: text(&value["http"]),
        };
        let list = ready["servers"].as_array().expect("a list");
        assert_eq!(list.len(), servers);
        let (sim, dir) = (text(&ready["sim"]), dir.to_owned());
        Self { servers: list.iter().map(server).collect(), process, output, warnings, sim, dir }
    }

    /// Waits until `up` prints a warning with these words; only that of [`Plaza::start_watched`] is read.
    pub(crate) fn warned_by_up(&mut self, words: &str) {
        let warnings = self.warnings.as_mut().expect("its warnings are read");
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let read = warnings.read_line(&mut line).expect("a line");
            assert_ne!(read, 0, "`up` ended without {words:?}");
        }
    }

    /// The next object that `up` prints.
    pub(crate) fn told_by_up(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("one object a line")
    }

    pub(crate) fn status(&self, index: usize) -> Value {
        json(&["status", "--json", "--node", &self.servers[index].url])
    }

    /// Returns the state of each server and the last lines of its logs, for a test that waited in vain.
    pub(crate) fn told_by_all(&self) -> String {
        let mut told = String::new();
        for (index, server) in self.servers.iter().enumerate() {
            let status = run(&["status", "--json", "--node", &server.url]);
            let said = [status.stdout, status.stderr].concat();
            told.push_str(&format!("server {index}: {}\n", String::from_utf8_lossy(&said).trim()));
            for log in ["node.log", RESTARTED] {
                let text = fs::read_to_string(self.home(index).join(log)).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let last = &lines[lines.len().saturating_sub(LINES_TOLD)..];
                told.extend(last.iter().map(|line| format!("  {log}: {line}\n")));
            }
        }
        told
    }

    pub(crate) fn height(&self, index: usize) -> u64 {
        self.status(index)["root_height"].as_u64().expect("a height")
    }

    /// Waits until the server has applied this height, and says how long that took.
    pub(crate) fn reach(&self, index: usize, height: u64) -> Duration {
        let began = Instant::now();
        while self.height(index) < height {
            if began.elapsed() >= PATIENCE {
                panic!("server {index} does not reach {height}\n{}", self.told_by_all());
            }
        }
        began.elapsed()
    }

    /// Waits as [`Plaza::reach`] does, for a server that may not answer yet.
    pub(crate) fn reach_anew(&self, index: usize, height: u64) {
        let began = Instant::now();
        loop {
            let status = run(&["status", "--json", "--node", &self.servers[index].url]);
            let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
            if status["root_height"].as_u64().is_some_and(|at| at >= height) {
                return;
            }
            if began.elapsed() >= PATIENCE {
                panic!("server {index} does not come to {height}\n{}", self.told_by_all());
            }
        }
    }

    /// The root after this height, as each of these servers says.
    pub(crate) fn roots(&self, indexes: &[usize], height: u64) -> Vec<String> {
        let at = height.to_string();
        indexes
            .iter()
            .map(|index| {
                let url = &self.servers[*index].url;
                let status = json(&["status", "--json", "--node", url, "--at", &at]);
                status["root"].as_str().expect("a root").to_owned()
            })
            .collect()
    }

    /// Waits until the server can tell where so many servers let clients in.
    pub(crate) fn knows_endpoints(&self, index: usize, count: usize) {
        self.until_endpoints(index, |known| known.len() >= count);
    }

    /// Waits until what the server tells of where servers let clients in is like this.
    pub(crate) fn until_endpoints(&self, index: usize, right: impl Fn(&[Value]) -> bool) {
        let (began, url) = (Instant::now(), &self.servers[index].url);
        let host = url.strip_prefix("http://").expect("plain HTTP").trim_end_matches('/');
        loop {
            let mut socket = TcpStream::connect(host).expect("the server listens");
            let request = format!("GET /api/servers HTTP/1.0\r\nHost: {host}\r\n\r\n");
            socket.write_all(request.as_bytes()).expect("it takes a request");
            let mut answer = String::new();
            socket.read_to_string(&mut answer).expect("it answers with text");
            let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
            let endpoints: Value = serde_json::from_str(body).expect("JSON");
            if endpoints["servers"].as_array().is_some_and(|known| right(known)) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "server {index} knows {endpoints}");
        }
    }

    /// Ends one server as a power loss of its process would, and waits until it is gone.
    pub(crate) fn kill(&self, index: usize) {
        let pid = self.servers[index].pid.to_string();
        let killed = Command::new("kill").args(["-9", &pid]).status().expect("kill runs");
        assert!(killed.success());
        // `kill` does not wait, and whose parent is another process cannot be waited for. Its lock is
        // free once it is gone: whoever starts it again before that finds its directory in use.
        let lock = fs::File::open(self.home(index).join("lock")).expect("a server's own file");
        lock.lock_shared().expect("a lock of the operating system");
    }

    /// The directory of a server.
    pub(crate) fn home(&self, index: usize) -> PathBuf {
        self.dir.join(format!("server-{index}"))
    }

    /// Starts a server again on its data, beside the others.
    pub(crate) fn restart(&self, index: usize) -> Child {
        self.restart_with(index, &[])
    }

    /// Does what [`Plaza::restart`] does, with these variables of the environment.
    pub(crate) fn restart_with(&self, index: usize, variables: &[(&str, &str)]) -> Child {
        let words = fs::File::create(self.home(index).join(RESTARTED)).expect("a new file");
        Command::new(PROGRAM)
            .args(["node", "run", "--config"])
            .arg(self.home(index).join("metatopia.toml"))
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(words)
            .spawn()
            .expect("the program starts")
    }

    /// Stops as Ctrl-C does, and waits for a clean end.
    pub(crate) fn stop(mut self) {
        self.pause();
    }

    /// Does what [`Plaza::stop`] does, but its servers can be started again one by one.
    pub(crate) fn pause(&mut self) {
        interrupt(&self.process);
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "{status}");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
    }
}

impl Drop for Plaza {
    fn drop(&mut self) {
        // Its children notice the end of their standard input.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A server process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Ends it as a power loss of its process would.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Sends a process the signal that Ctrl-C sends.
pub(crate) fn interrupt(process: &Child) {
    let pid = process.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
}

/// A text client in a pipe.
pub(crate) struct Person {
    process: Child,
    lines: Receiver<String>,
    heard: String,
}

impl Person {
    pub(crate) fn enter(url: &str, key: &str) -> Self {
        Self::enter_from(&std::env::current_dir().expect("a folder"), url, key)
    }

    /// Enters under a name of the person's own.
    pub(crate) fn enter_as(name: &str, url: &str, key: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["client", "--node", url, "--key", key, "--name", name]);
        Self::begin(command)
    }

    /// Enters with this as the folder in which the program was started.
    pub(crate) fn enter_from(folder: &Path, url: &str, key: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["client", "--node", url, "--key", key]).current_dir(folder);
        Self::begin(command)
    }

    /// Enters with this as the folder in which it is kept which house rules the person agreed to.
    pub(crate) fn enter_keeping(state: &Path, url: &str, key: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["client", "--node", url, "--key", key]).env("XDG_STATE_HOME", state);
        Self::begin(command)
    }

    fn begin(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let (sender, lines) = sync_channel(1_024);
        thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.for_each(|line| drop(sender.send(line)));
        });
        Self { process, lines, heard: String::new() }
    }

    pub(crate) fn types(&mut self, line: &str) {
        let input = self.process.stdin.as_mut().expect("piped");
        writeln!(input, "{line}").expect("the client reads");
    }

    /// Reads on until a line holds this text, and gives that line.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("no `{text}` comes, after:\n{}", self.heard);
            };
            self.heard.push_str(&line);
            self.heard.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Says whether this text came, up to the last line that was waited for.
    pub(crate) fn has_seen(&self, text: &str) -> bool {
        self.heard.contains(text)
    }

    /// Waits until the client ends without being told to, and returns its exit code.
    pub(crate) fn ends_by_itself(mut self) -> Option<i32> {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.heard.push_str(&format!("{line}\n")),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it goes on, after:\n{}", self.heard),
            }
        }
        self.process.wait().expect("it ends").code()
    }

    /// Ends the input, and waits for the client to leave.
    pub(crate) fn leaves(mut self) {
        drop(self.process.stdin.take());
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.heard.push_str(&line);
            self.heard.push('\n');
        }
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "{status}: {}", self.heard);
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
