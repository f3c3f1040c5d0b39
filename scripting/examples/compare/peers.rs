//! Engines that cannot be in this build: programs of the workspace `scripting/peers`, which answer one line
//! at a time.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use metatopia_math::Fx;

/// Those with floating point round otherwise: by so many units of 2^-32 their numbers may differ, which is a
/// millionth.
const ROUNDING: u64 = 4_295;

/// A peer, and how it is built.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    /// The name of its program, and of the feature that builds it.
    program: &'static str,
    /// A name that the compiler is to set, beside what all builds here have, if any.
    cfg: Option<&'static str>,
    /// How much a number of its may differ.
    tolerance: u64,
}

impl Peer {
    const fn of_others(name: &'static str, tolerance: u64) -> Self {
        Self { name, program: name, cfg: None, tolerance }
    }

    const fn own(name: &'static str, cfg: Option<&'static str>) -> Self {
        Self { name, program: "own", cfg, tolerance: 0 }
    }
}

/// The peers. Ours is among them twice: what metering takes is the difference of two programs that differ in
/// nothing else.
pub(crate) const PEERS: [Peer; 6] = [
    Peer::own("metered", None),
    Peer::own("unmetered", Some("metatopia_unmetered")),
    Peer::of_others("rhai-f64", ROUNDING),
    Peer::of_others("luau-userdata", ROUNDING),
    Peer::of_others("wasmtime-fuel", 0),
    Peer::of_others("wasmi-fuel", 0),
];

/// A peer that runs, and has loaded a handler or none.
pub(crate) struct PeerProcess {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    tolerance: u64,
}

impl PeerProcess {
    /// Builds a peer and starts it; what the build says goes to the standard error.
    pub(crate) fn start(peer: &Peer) -> Result<Self, String> {
        let Peer { name, program, cfg, tolerance } = *peer;
        eprintln!("{name}: is built, and started");
        let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        let mut command = Command::new(variable("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["run", "--release", "--locked", "--features", program, "--bin", program]);
        command.arg("--manifest-path").arg(peers.join("Cargo.toml"));
        // Other flags would build all others anew, so what has some has a folder of its own.
        let mut built = target();
        if let Some(cfg) = cfg {
            let flags = format!("target.'cfg(all())'.rustflags=['--cfg', '{cfg}']");
            command.args(["--config", &flags]);
            built.push(name);
        }
        command.arg("--target-dir").arg(built);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cargo cannot be run: {error}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or("it has no output")?);
        let mut peer = Self { child, requests, answers, tolerance };
        match peer.answer() {
            Ok(line) if line == "ready" => Ok(peer),
            _ => Err("it cannot be built or started".into()),
        }
    }

    /// Makes it run another handler.
    pub(crate) fn load(&mut self, handler: &str) -> Result<(), String> {
        self.ask(&format!("load {handler}")).map(drop)
    }

    /// Holds that a call of the handler on an object leaves this.
    pub(crate) fn check(&mut self, object: u64, expected: &str) -> Result<(), String> {
        let told = self.ask(&format!("tell {object}"))?;
        if is_alike(expected, &told, self.tolerance) {
            Ok(())
        } else {
            Err(format!("object {object}: {told:?}, and with ours {expected:?}"))
        }
    }

    /// Measures the handler once, in nanoseconds of a call.
    pub(crate) fn measure(&mut self) -> Result<u64, String> {
        let answer = self.ask("measure")?;
        answer.parse().map_err(|_| format!("{answer:?} is no time"))
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        let requests = self.requests.as_mut().ok_or("it has ended")?;
        writeln!(requests, "{request}").map_err(|error| format!("it has ended: {error}"))?;
        let answer = self.answer()?;
        match answer.strip_prefix("failed: ") {
            Some(why) => Err(why.into()),
            None => Ok(answer),
        }
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) => Err("it has ended".into()),
            Ok(_) => Ok(line.trim_end().into()),
            Err(error) => Err(format!("it cannot be read: {error}")),
        }
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        // At the end of its requests it ends by itself.
        drop(self.requests.take());
        if let Err(error) = self.child.wait() {
            eprintln!("a peer does not end: {error}");
        }
    }
}

/// Returns the folder that peers are built in: beside what else is built, and not among it.
fn target() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join(variable("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())).join("peers")
}

#[expect(clippy::disallowed_methods, reason = "cargo is the one that runs this")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Returns whether these two lines are the same, but for how numbers are written and rounded.
fn is_alike(ours: &str, theirs: &str, tolerance: u64) -> bool {
    // A number may end a sentence.
    let bits = |word: &str| Fx::parse(word.trim_end_matches('.')).ok().map(Fx::to_bits);
    let is_near = |a: &str, b: &str| match (bits(a), bits(b)) {
        (Some(a), Some(b)) => a.abs_diff(b) <= tolerance,
        _ => a == b,
    };
    let (mut ours, mut theirs) = (ours.split_whitespace(), theirs.split_whitespace());
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if is_near(a, b) => {}
            _ => return false,
        }
    }
}
