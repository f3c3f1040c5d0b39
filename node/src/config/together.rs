//! Several configurations for one process, one for each sim: what they share, and what each must
//! have for itself.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use libp2p::{Multiaddr, multiaddr::Protocol};
use metatopia_transport::bind::twin;

use super::{ConfigError, Layer, Settings, settle};

/// Says why one process cannot use two configurations.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TogetherError {
    /// A key of the process has two values.
    #[error(
        "`{key}` is one for all sims of a process: it is {one} in {} and {another} in {}; say it in \
         the first file alone", first.display(), second.display()
    )]
    Differs {
        /// The key in the file.
        key: &'static str,
        /// The value in the first file.
        one: String,
        /// The value in the other file.
        another: String,
        /// The first file.
        first: PathBuf,
        /// The other file.
        second: PathBuf,
    },
    /// Two servers would write to one file or directory.
    #[error(
        "{} and {} name the same {what} {}; each sim needs its own", first.display(),
        second.display(), path.display()
    )]
    SamePath {
        /// The kind of file or directory.
        what: &'static str,
        /// The path in both files.
        path: PathBuf,
        /// The file of the one configuration.
        first: PathBuf,
        /// The file of the other configuration.
        second: PathBuf,
    },
    /// Two sockets would have one port.
    #[error(
        "`{key}` in {} and `{other}` in {} both name {transport} port {port}; set another one",
        first.display(), second.display()
    )]
    SamePort {
        /// The key in the one file.
        key: &'static str,
        /// The key in the other file.
        other: &'static str,
        /// Either UDP or TCP.
        transport: &'static str,
        /// The port of both.
        port: u16,
        /// The file of the one configuration.
        first: PathBuf,
        /// The file of the other configuration.
        second: PathBuf,
    },
}

/// Puts flags and environment over each of these files, which are for one process. What the first
/// file sets for the process holds for all of them.
///
/// # Errors
/// Fails when a file is wrong, or two of them cannot be used together.
pub fn settle_together(
    stronger: &[Layer],
    files: Vec<(PathBuf, Layer)>,
) -> Result<Vec<Settings>, ConfigError> {
    let of_process = files.first().map(|(_, first)| first.of_process()).unwrap_or_default();
    let mut settled: Vec<(PathBuf, Settings)> = Vec::new();
    for (path, file) in files {
        let layers = stronger.iter().cloned().chain([file, of_process.clone()]);
        let settings = settle(layers).map_err(|source| ConfigError::OfOne {
            path: path.clone(),
            source: Box::new(source),
        })?;
        for earlier in &settled {
            check_two((&earlier.0, &earlier.1), (&path, &settings))?;
        }
        settled.push((path, settings));
    }
    Ok(settled.into_iter().map(|(_, settings)| settings).collect())
}

/// Checks that two configurations agree about the process, and share nothing else.
fn check_two(
    (first, one): (&Path, &Settings),
    (second, another): (&Path, &Settings),
) -> Result<(), TogetherError> {
    let (first_path, second_path) = (first.to_owned(), second.to_owned());
    let of_process = of_process(one).into_iter().zip(of_process(another));
    if let Some(((key, one), (_, another))) = { of_process }.find(|(one, another)| one != another) {
        let (first, second) = (first_path, second_path);
        return Err(TogetherError::Differs { key, one, another, first, second });
    }
    for (what, path, other) in [
        ("data directory", &one.data_dir, &another.data_dir),
        ("vote key", &one.vote_key, &another.vote_key),
        ("node key", &one.node_key, &another.node_key),
    ] {
        if real(path) == real(other) {
            let (path, first, second) = (path.clone(), first_path, second_path);
            return Err(TogetherError::SamePath { what, path, first, second });
        }
    }
    let sockets = |settings| sockets(settings).into_iter();
    for (key, transport, address) in sockets(one) {
        let meets = |(other, by, at): &(&str, &str, SocketAddr)| {
            // The address for HTTP is the same on purpose.
            let is_http = key == HTTP && *other == HTTP;
            transport == *by && !is_http && do_meet(address, *at)
        };
        if let Some((other, ..)) = sockets(another).find(meets) {
            let (port, first, second) = (address.port(), first_path, second_path);
            return Err(TogetherError::SamePort { key, other, transport, port, first, second });
        }
    }
    Ok(())
}

/// Returns the keys that a process has only once, with their values as text.
fn of_process(settings: &Settings) -> [(&'static str, String); 5] {
    let tls = settings.tls.as_ref();
    let tls = tls.map_or("nothing".to_owned(), |(chain, _)| chain.display().to_string());
    [
        (HTTP, settings.http_listen.to_string()),
        ("tls_cert", tls),
        ("log", settings.log.name().to_owned()),
        ("log_format", format!("{:?}", settings.log_format).to_lowercase()),
        ("source_url", settings.source_url.clone().unwrap_or_else(|| "nothing".to_owned())),
    ]
}

/// The key of the address for HTTP.
const HTTP: &str = "http_listen";

/// Returns the path without links, if it exists.
fn real(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    fs::canonicalize(path).unwrap_or_else(|_| absolute())
}

/// Returns the sockets of a server, with their keys.
fn sockets(settings: &Settings) -> Vec<(&'static str, &'static str, SocketAddr)> {
    let http = (HTTP, "TCP", settings.http_listen);
    let clients = ("client_listen", "UDP", settings.client_listen);
    let peers = socket_of(&settings.p2p_listen).map(|address| ("p2p_listen", "TCP", address));
    let overlay = settings.overlay_listen.as_ref().and_then(socket_of);
    let overlay = overlay.map(|address| ("overlay_listen", "TCP", address));
    [http, clients].into_iter().chain(peers).chain(overlay).collect()
}

/// Returns the IP address and port of an address for peers, which has no other part.
fn socket_of(address: &Multiaddr) -> Option<SocketAddr> {
    let mut parts = address.iter();
    let ip = match parts.next()? {
        Protocol::Ip4(ip) => ip.into(),
        Protocol::Ip6(ip) => ip.into(),
        _ => return None,
    };
    match parts.next()? {
        Protocol::Tcp(port) => Some(SocketAddr::new(ip, port)),
        _ => None,
    }
}

/// Returns whether two sockets would collide. For port 0 the system gives another port each time.
/// On loopback a server listens on both families.
fn do_meet(one: SocketAddr, other: SocketAddr) -> bool {
    let is_any = one.ip().is_unspecified() || other.ip().is_unspecified();
    let is_same = one.ip() == other.ip() || twin(one.ip()) == Some(other.ip());
    one.port() == other.port() && one.port() != 0 && (is_any || is_same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LogLevel, parse};

    const A: &str = "/etc/a/metatopia.toml";
    const B: &str = "/etc/b/metatopia.toml";

    /// Returns a configuration that does not collide with that of another `n`.
    fn text(n: u16, more: &str) -> String {
        let (clients, peers) = (9_000 + n, 9_100 + n);
        format!(
            "data_dir = \"data\"\ngenesis = \"genesis\"\nclient_listen = \"127.0.0.1:{clients}\"\n\
             p2p_listen = \"/ip4/127.0.0.1/tcp/{peers}\"\n{more}"
        )
    }

    fn settled(first: &str, second: &str) -> Result<Vec<Settings>, ConfigError> {
        let file =
            |path: &str, text: &str| (PathBuf::from(path), parse(text, path.as_ref()).unwrap());
        settle_together(&[], vec![file(A, first), file(B, second)])
    }

    fn refused(first: &str, second: &str) -> String {
        let told = settled(first, second).unwrap_err().to_string();
        assert!(told.contains(A) && told.contains(B), "{told}");
        told
    }

    #[test]
    fn the_first_file_speaks_for_the_process_and_each_file_for_its_sim() {
        let first = "http_listen = \"127.0.0.1:80\"\nlog = \"warn\"\narchive = true\n\
            announce_http = \"https://plaza.example\"\n";
        let all = settled(&text(1, first), &text(2, "snapshot_turns = 60\n")).unwrap();
        let [one, other] = &all[..] else { panic!("{all:?}") };
        for settings in &all {
            assert_eq!(settings.http_listen.port(), 80);
            assert_eq!(settings.log, LogLevel::Warn);
            assert_eq!(settings.announce_http, Some("https://plaza.example".parse().unwrap()));
        }
        assert_eq!((one.data_dir.as_path(), one.archive), (Path::new("/etc/a/data"), true));
        assert_eq!((other.data_dir.as_path(), other.archive), (Path::new("/etc/b/data"), false));
        assert_eq!((one.client_listen.port(), other.client_listen.port()), (9_001, 9_002));
        assert_eq!(other.snapshot_turns, 60);
    }

    #[test]
    fn what_belongs_to_the_process_has_one_value() {
        for (key, one, other) in [
            ("http_listen", "127.0.0.1:80", "127.0.0.1:81"),
            ("log", "warn", "info"),
            ("log_format", "text", "json"),
            ("source_url", "https://a.example", "https://b.example"),
        ] {
            let line = |value: &str| format!("{key} = \"{value}\"\n");
            let told = refused(&text(1, &line(one)), &text(2, &line(other)));
            assert!(told.contains(key) && told.contains(one) && told.contains(other), "{told}");
        }
        let tls = |name: &str| format!("tls_cert = \"/{name}.pem\"\ntls_key = \"/k.pem\"\n");
        let told = refused(&text(1, &tls("a")), &text(2, &tls("b")));
        assert!(told.contains("`tls_cert`") && told.contains("/a.pem"), "{told}");
    }

    #[test]
    fn two_sims_do_not_share_a_data_directory_or_a_key() {
        for (key, value, what) in
            [("vote_key", "/keys/vote.key", "vote key"), ("node_key", "/keys/node.key", "node key")]
        {
            let line = format!("{key} = \"{value}\"\n");
            let told = refused(&text(1, &line), &text(2, &line));
            assert!(told.contains(&format!("the same {what} {value}")), "{told}");
        }
        let shared = |n| text(n, "").replace("\"data\"", "\"/srv/metatopia\"");
        let told = refused(&shared(1), &shared(2));
        assert!(told.contains("the same data directory /srv/metatopia"), "{told}");
        // The same path is written in two ways.
        let other = text(2, "").replace("\"data\"", "\"../a/./data\"");
        let folder =
            std::env::temp_dir().join(format!("metatopia-together-{}", std::process::id()));
        let (a, b) = (folder.join("a"), folder.join("b"));
        fs::create_dir_all(a.join("data")).unwrap();
        fs::create_dir_all(&b).unwrap();
        let file = |home: &Path, text: &str| {
            let path = home.join("metatopia.toml");
            (path.clone(), parse(text, &path).unwrap())
        };
        let files = vec![file(&a, &text(1, "")), file(&b, &other)];
        let told = settle_together(&[], files).unwrap_err().to_string();
        fs::remove_dir_all(&folder).unwrap();
        assert!(told.contains("the same data directory"), "{told}");
    }

    #[test]
    fn two_sims_do_not_share_a_port() {
        let with = |n: u16, from: &str, to: &str| text(n, "").replace(from, to);
        let told = refused(&text(1, ""), &with(2, "127.0.0.1:9002", "127.0.0.1:9001"));
        assert!(told.contains("`client_listen`") && told.contains("UDP port 9001"), "{told}");
        let told = refused(&text(1, ""), &with(2, "127.0.0.1:9002", "0.0.0.0:9001"));
        assert!(told.contains("UDP port 9001"), "{told}");
        let told = refused(&text(1, ""), &with(2, "127.0.0.1:9002", "[::1]:9001"));
        assert!(told.contains("UDP port 9001"), "{told}");
        let told = refused(&text(1, ""), &with(2, "tcp/9102", "tcp/9101"));
        assert!(told.contains("`p2p_listen`") && told.contains("TCP port 9101"), "{told}");
        // The default port of HTTP is 8080.
        let told = refused(&text(1, ""), &with(2, "tcp/9102", "tcp/8080"));
        assert!(told.contains("`http_listen`") && told.contains("`p2p_listen`"), "{told}");

        // The system gives each socket another port. The same number of UDP and of TCP stands for
        // two ports.
        let free = |n| text(n, "").replace(&format!("127.0.0.1:{}", 9_000 + n), "127.0.0.1:0");
        settled(&free(1), &free(2)).unwrap();
        settled(&text(1, ""), &with(2, "tcp/9102", "tcp/9001")).unwrap();
        settled(&text(1, ""), &with(2, "127.0.0.1:9002", "192.0.2.1:9001")).unwrap();
    }

    #[test]
    fn a_file_that_lacks_something_is_named() {
        let bare = "data_dir = \"data\"\n";
        let told = settled(&text(1, ""), bare).unwrap_err().to_string();
        assert!(told.contains(B) && told.contains("`genesis` is not set"), "{told}");
    }

    #[test]
    fn flags_and_variables_hold_for_all_files() {
        let file =
            |n, path: &str| (PathBuf::from(path), parse(&text(n, ""), path.as_ref()).unwrap());
        let files = || vec![file(1, A), file(2, B)];
        let flags =
            Layer { http_listen: Some("127.0.0.1:90".parse().unwrap()), ..Layer::default() };
        let all = settle_together(&[flags], files()).unwrap();
        assert!(all.iter().all(|settings| settings.http_listen.port() == 90));

        let flags = Layer { data_dir: Some("/one".into()), ..Layer::default() };
        let told = settle_together(&[flags], files()).unwrap_err().to_string();
        assert!(told.contains("the same data directory /one"), "{told}");
    }
}
