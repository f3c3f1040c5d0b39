//! A second machine comes by the link that `up` prints, by http and by https.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use serde_json::Value;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::{Length, StoryBound, StoryFigure, StoryResult};
use crate::{
    LabServers,
    servers::{LabResult, signal, told},
};

/// The seat of the world, beside the server that is there.
const HERE: usize = 0;

/// Apart from the ports of that server.
const PORT: &str = "9080";

/// A link that does not come up is said after this.
const STOP: Duration = Duration::from_secs(20);

/// A world of `up` in one seat. Dropped, it is stopped.
struct GuestWorld {
    up: Child,
    dir: PathBuf,
    /// The link that it printed.
    link: String,
}

impl GuestWorld {
    fn start(servers: &LabServers<'_>, name: &str, more: &[&str]) -> LabResult<Self> {
        wake_loopback(servers)?;
        let dir = servers.folder(HERE).with_file_name(name);
        let own = servers.lab.seat(HERE).address.to_string();
        let mut command = servers.command();
        command
            .args(["up", "--json", "--listen", &own, "--http-port", PORT, "--data-dir"])
            .arg(&dir)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut up = servers.lab.seat(HERE).spawn(&mut command).map_err(told("start up"))?;
        let mut line = String::new();
        let output = up.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut line).map_err(told("read its first line"))?;
        let ready: Value = serde_json::from_str(&line)
            .map_err(|error| format!("`up` said `{line}`, which is no JSON: {error}"))?;
        let link = ready["http"].as_str().unwrap_or_default().to_owned();
        Ok(Self { up, dir, link })
    }
}

impl Drop for GuestWorld {
    fn drop(&mut self) {
        // One that ended by itself is not there to be told.
        drop(signal(&self.up, Signal::SIGINT));
        let end = Instant::now() + STOP;
        while Instant::now() < end && matches!(self.up.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(self.up.kill());
        drop(self.up.wait());
    }
}

/// A machine reaches its own addresses by loopback, which is down in a new namespace. Servers that are
/// alone in their seats do without.
fn wake_loopback(servers: &LabServers<'_>) -> LabResult<()> {
    let mut command = Command::new("ip");
    command.args(["link", "set", "lo", "up"]);
    let mut ip = servers.lab.seat(HERE).spawn(&mut command).map_err(told("run `ip`"))?;
    let ended = ip.wait().map_err(told("wait for `ip`"))?;
    if ended.success() { Ok(()) } else { Err(format!("`ip link set lo up` ended with {ended}")) }
}

/// Runs the program on this, the second, machine; what it said, as JSON.
fn run(mut command: Command, arguments: &[&str]) -> LabResult<Value> {
    let output = command.args(arguments).output().map_err(told("run the program"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{arguments:?} ended with {}: {said}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|error| format!("{arguments:?} said `{last}`: {error}"))
}

fn browser(roots: Option<RootCerts>) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(5)))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None);
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    let tls = tls.root_certs(roots.unwrap_or(RootCerts::PlatformVerifier)).build();
    config.tls_config(tls).build().into()
}

/// The code of an answer, with these headers.
fn code(agent: &ureq::Agent, url: &str, headers: &[(&str, &str)]) -> LabResult<u16> {
    let mut request = agent.get(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Ok(request.call().map_err(told(url))?.status().as_u16())
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> LabResult<()> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?}, not {wanted:?}")) }
}

/// Says something by the printed link, and waits for its receipt.
fn say(servers: &LabServers<'_>, world: &GuestWorld, roots: Option<&Path>) -> LabResult<Duration> {
    let key = world.dir.with_extension("key").display().to_string();
    run(servers.command(), &["keys", "new", "--json", "--out", &key])?;
    let mut command = servers.command();
    if let Some(roots) = roots {
        command.env("SSL_CERT_FILE", roots);
    }
    let began = Instant::now();
    run(command, &["say", "--json", "--node", &world.link, "--key", &key, "hello from afar"])?;
    Ok(began.elapsed())
}

pub(super) fn second_machine(servers: &mut LabServers<'_>, _: Length) -> StoryResult {
    let world = GuestWorld::start(servers, "lan", &[])?;
    let own = servers.lab.seat(HERE).address;
    expect("the link", world.link.as_str(), &format!("http://{own}:{PORT}/"))?;
    let agent = browser(None);
    expect("the page", code(&agent, &world.link, &[])?, 200)?;
    let session = format!("{}api/session", world.link);
    let origin = world.link.trim_end_matches('/');
    expect("its own page", code(&agent, &session, &[("Origin", origin)])?, 200)?;
    let foreign = [("Origin", "http://evil.example")];
    expect("a page of another site", code(&agent, &session, &foreign)?, 403)?;
    for name in ["evil.example:9080", "10.78.0.9:9080", "localhost:9080"] {
        expect(name, code(&agent, &session, &[("Host", name)])?, 403)?;
    }
    let said = say(servers, &world, None)?;

    let dir = world.dir.display().to_string();
    let made = run(servers.command(), &["invite", "create", "--json", "--data-dir", &dir])?;
    let invite = made["invite"].as_str().ok_or("no invite was made")?.to_owned();
    let shown = run(servers.command(), &["invite", "show", "--json", &invite])?;
    expect("the invite that was fetched", &shown["id"], &made["id"])?;
    let length = invite.len() as u64;
    Ok(vec![
        StoryFigure::time("from the link to a receipt", said, StoryBound::AtMost(5_000)),
        StoryFigure::new("characters of an invite", length, "characters", StoryBound::AtMost(200)),
    ])
}

pub(super) fn https(servers: &mut LabServers<'_>, _: Length) -> StoryResult {
    let own = servers.lab.seat(HERE).address.to_string();
    let folder = servers.folder(HERE).with_file_name("authority");
    fs::create_dir_all(&folder).map_err(told("make a folder"))?;
    let authority = CertificateAuthority::new()?;
    authority.give(&own, &folder)?;
    let roots = folder.join("roots.pem");
    fs::write(&roots, authority.issuer.pem()).map_err(told("write the authority"))?;
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.join(name).display().to_string());
    let world = GuestWorld::start(servers, "tls", &["--tls-cert", &chain, "--tls-key", &key])?;
    expect("the link", world.link.as_str(), &format!("https://{own}:{PORT}/"))?;

    let trusting = |issuer: &CertifiedIssuer<'static, KeyPair>| {
        let root = Certificate::from_der(issuer.der()).to_owned();
        browser(Some(RootCerts::new_with_certs(&[root])))
    };
    let agent = trusting(&authority.issuer);
    expect("the page", code(&agent, &world.link, &[])?, 200)?;
    if code(&trusting(&CertificateAuthority::new()?.issuer), &world.link, &[]).is_ok() {
        return Err("who does not trust the authority is shown the page".to_owned());
    }
    let plain = world.link.replace("https://", "http://");
    expect("by http", code(&browser(None), &plain, &[])?, 307)?;
    let said = say(servers, &world, Some(&roots))?;

    // The next certificate is of another authority: once it is read, the first one's friends go.
    let other = CertificateAuthority::new()?;
    other.give(&own, &folder)?;
    signal(&world.up, Signal::SIGHUP)?;
    let began = Instant::now();
    let renewed = trusting(&other.issuer);
    while code(&renewed, &world.link, &[]).is_err() {
        if began.elapsed() > STOP {
            return Err("the certificate was not read again on SIGHUP".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(vec![
        StoryFigure::time("from the link to a receipt", said, StoryBound::AtMost(5_000)),
        StoryFigure::time(
            "SIGHUP to the next certificate",
            began.elapsed(),
            StoryBound::AtMost(2_000),
        ),
    ])
}

/// An authority of this story.
struct CertificateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl CertificateAuthority {
    fn new() -> LabResult<Self> {
        let mut own = CertificateParams::new(Vec::new()).map_err(told("an authority"))?;
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(told("a key"))?;
        let issuer = CertifiedIssuer::self_signed(own, key).map_err(told("an authority"))?;
        Ok(Self { issuer })
    }

    /// Puts a certificate for an address, and its key, into a folder.
    fn give(&self, address: &str, folder: &Path) -> LabResult<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(told("a key"))?;
        let parameters =
            CertificateParams::new([address.to_owned()]).map_err(told("a certificate"))?;
        let given = parameters.signed_by(&key, &self.issuer).map_err(told("a certificate"))?;
        fs::write(folder.join("chain.pem"), given.pem()).map_err(told("write a certificate"))?;
        let file = folder.join("key.pem");
        fs::write(&file, key.serialize_pem()).map_err(told("write a key"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map_err(told("close a key"))
    }
}
