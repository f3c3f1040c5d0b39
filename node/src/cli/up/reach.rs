//! Decides who can come to a sim of `up`: this machine alone, or everybody who reaches one of its
//! addresses.

use std::{
    ffi::OsString,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    path::{self, Path, PathBuf},
};

use clap::Args;
use metatopia_transport::http::{UrlScheme, WebOrigin, in_url, is_host};
use serde::Serialize;

use crate::{
    authority_files::AuthorityFiles,
    cli::{Failure, code, ports::Ports},
};

/// Addresses for documents (RFC 5737, RFC 3849). No machine has them, and the route to them is the
/// route to any other network.
const ELSEWHERE: [(IpAddr, IpAddr); 2] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
];

/// The arguments that say where the servers of `up` listen.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ReachArgs {
    /// Let others in at this address of this machine; 0.0.0.0 or [::] stands for all its addresses
    /// [default: loopback, for this machine alone].
    #[arg(long, value_name = "ADDRESS", value_parser = address, conflicts_with = "lan")]
    listen: Option<IpAddr>,
    /// Let others in at the address that this machine has in its network. A sim of a world finds others
    /// of its world there, and is found.
    #[arg(long)]
    lan: bool,
    /// The name by which others call this machine [default: its address].
    #[arg(long, value_name = "NAME", value_parser = name)]
    host: Option<String>,
    /// A PEM file with the certificate that an authority gave for that name, and the certificates
    /// between. Pages then come by https. SIGHUP has it read again.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the key of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

fn address(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().map_err(|_| {
        "not an address like 192.168.1.20 or 0.0.0.0; the port is --http-port".to_owned()
    })
}

fn name(text: &str) -> Result<String, String> {
    let text = text.to_ascii_lowercase();
    if is_host(&text) {
        return Ok(text);
    }
    Err("not a name like plaza.example, or an address".to_owned())
}

/// Where servers listen, and what others call this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Reach {
    /// The address that servers listen on: one of this machine, or all of them.
    listen: IpAddr,
    /// The address at which others reach this machine.
    own: IpAddr,
    /// Whether the address is the one of the local network.
    is_lan: bool,
    /// What others call this machine, if that is not its address.
    host: Option<String>,
    /// The files of a certificate and of its key.
    tls: Option<(PathBuf, PathBuf)>,
}

impl Reach {
    /// Reach for this machine alone.
    pub(in crate::cli) const LOOPBACK: Self = {
        let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Self { listen: own, own, is_lan: false, host: None, tls: None }
    };

    /// Returns the reach that the arguments describe.
    ///
    /// # Errors
    /// Fails when this machine's address in its network is asked for, and it has none.
    pub(super) fn of(args: &ReachArgs) -> Result<Self, Failure> {
        let (listen, own) = match args.listen {
            Some(all) if all.is_unspecified() => (all, towards(all)?),
            Some(one) => (one, one),
            None if args.lan => {
                let own = towards(Ipv4Addr::UNSPECIFIED.into())
                    .or_else(|_| towards(Ipv6Addr::UNSPECIFIED.into()))?;
                (own, own)
            }
            None => (Self::LOOPBACK.listen, Self::LOOPBACK.own),
        };
        let tls = match (&args.tls_cert, &args.tls_key) {
            (Some(chain), Some(key)) => {
                AuthorityFiles::open(chain, key)
                    .map_err(|error| Failure::failed(error.to_string()))?;
                // The servers run in their own directories, so relative paths would mean other
                // files to them.
                let whole = |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_owned());
                Some((whole(chain), whole(key)))
            }
            _ => None,
        };
        Ok(Self { listen, own, is_lan: args.lan, host: args.host.clone(), tls })
    }

    /// Returns the address that servers listen on.
    pub(in crate::cli) const fn listen(&self) -> IpAddr {
        self.listen
    }

    /// Returns the address at which this machine is reached.
    pub(in crate::cli) const fn own(&self) -> IpAddr {
        self.own
    }

    /// Returns whether others in the local network were asked in.
    pub(in crate::cli) const fn is_lan(&self) -> bool {
        self.is_lan
    }

    /// Returns whether only this machine can come.
    pub(in crate::cli) const fn is_loopback(&self) -> bool {
        self.own.is_loopback()
    }

    /// Returns what others call this machine, as a URL has it.
    fn called(&self) -> String {
        self.host.clone().unwrap_or_else(|| in_url(SocketAddr::new(self.own, 0)))
    }

    /// Returns the origin of a server's pages.
    pub(in crate::cli) fn origin(&self, ports: &Ports) -> WebOrigin {
        WebOrigin::at(self.scheme(), &self.called(), ports.public().0)
    }

    /// Returns whether there is a certificate.
    pub(super) const fn has_certificate(&self) -> bool {
        self.tls.is_some()
    }

    const fn scheme(&self) -> UrlScheme {
        if self.tls.is_some() { UrlScheme::Https } else { UrlScheme::Http }
    }

    /// Returns the flags that a server gets besides its configuration, which keeps what a person
    /// has set: what others call the server, where that is not the address that it listens on.
    pub(in crate::cli) fn flags(&self, ports: &Ports) -> Vec<OsString> {
        let mut flags = Vec::new();
        if self.host.is_some() || self.listen != self.own {
            flags.extend(["--announce-http".into(), self.origin(ports).to_string().into()]);
            // Port 0 stands for any port and has no number yet. On loopback the server has no other
            // name.
            if ports.public().1 != 0 {
                let quic = format!("{}:{}", self.called(), ports.public().1);
                flags.extend(["--announce-quic".into(), quic.into()]);
            }
        }
        if let Some((chain, key)) = &self.tls {
            flags.extend(["--tls-cert".into(), chain.into(), "--tls-key".into(), key.into()]);
        }
        flags
    }
}

/// Returns the address that this machine would use to reach another network. Nothing is sent.
fn towards(any: IpAddr) -> Result<IpAddr, Failure> {
    let there = ELSEWHERE.iter().find(|(from, _)| *from == any).map(|(_, there)| *there);
    let found = there.and_then(|there| {
        let socket = UdpSocket::bind((any, 0)).ok()?;
        socket.connect((there, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    });
    found.filter(|ip| !ip.is_unspecified() && !ip.is_loopback()).ok_or_else(|| {
        Failure::failed(
            "this machine has no way to another network, so which of its addresses \
            others reach is not known",
        )
        .hint("name it, as in --listen 192.168.1.20")
    })
}

/// What people need to let others in: the address, a code for cameras, and what to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Invitation {
    /// The address of the first server's page.
    url: String,
    is_secure: bool,
}

impl Invitation {
    /// Returns the invitation, or `None` if nobody else can come.
    pub(super) fn of(reach: &Reach, ports: &Ports) -> Option<Self> {
        let is_secure = reach.scheme() == UrlScheme::Https;
        (!reach.is_loopback()).then(|| Self { url: format!("{}/", reach.origin(ports)), is_secure })
    }
}

/// What browsers deny a page that came by http from another machine (it is no "secure context"),
/// and what the page does then.
const BY_HTTP: &str = "It is http: whoever carries the packets can read and change the page. By \
    http a browser gives\nno WebTransport (the page takes WebSocket), no clipboard (it copies by \
    the older way) and no\nshare sheet. --tls-cert and --tls-key give https.";

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "For others, and phones: {}\n", self.url)?;
        if let Some(code) = code::draw(&self.url) {
            writeln!(f, "{code}\n")?;
        }
        if self.is_secure {
            return write!(f, "The certificate is read again on SIGHUP.");
        }
        write!(f, "{BY_HTTP}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ports;

    fn reach(listen: &str, own: &str, host: Option<&str>) -> Reach {
        let (listen, own) = (listen.parse().unwrap(), own.parse().unwrap());
        Reach { listen, own, is_lan: false, host: host.map(str::to_owned), tls: None }
    }

    fn ports_of_somebody() -> Ports {
        let own = "192.0.2.1".parse().unwrap();
        ports::choose_on(Ipv4Addr::UNSPECIFIED.into(), own, 1, 0).unwrap()[0]
    }

    fn said(reach: &Reach) -> (String, Vec<String>) {
        let ports = ports_of_somebody();
        let number = format!(":{}", ports.public().0);
        let flags = reach.flags(&ports).into_iter().map(|flag| flag.into_string().unwrap());
        let flags = flags.map(|flag| flag.replace(&number, ":N")).collect();
        (reach.origin(&ports).to_string().replace(&number, ":N"), flags)
    }

    #[test]
    fn a_server_is_told_what_it_is_called_unless_that_is_where_it_listens() {
        let one = reach("192.168.1.20", "192.168.1.20", None);
        assert_eq!(said(&one), ("http://192.168.1.20:N".to_owned(), Vec::new()));

        let all = reach("::", "2001:db8::7", None);
        let (http, quic) = ("http://[2001:db8::7]:N", "[2001:db8::7]:N");
        let flags = ["--announce-http", http, "--announce-quic", quic].map(str::to_owned);
        assert_eq!(said(&all), (http.to_owned(), flags.to_vec()));

        let named = reach("192.168.1.20", "192.168.1.20", Some("plaza.example"));
        assert_eq!(said(&named).0, "http://plaza.example:N");
        assert_eq!(said(&named).1[3], "plaza.example:N");
    }

    #[test]
    fn an_invitation_fits_a_terminal_and_says_what_http_lacks() {
        let ports = ports_of_somebody();
        let reach = reach("192.168.1.20", "192.168.1.20", None);
        let told = Invitation::of(&reach, &ports).unwrap().to_string();
        for word in ["http://192.168.1.20:", "WebTransport", "clipboard", "--tls-cert"] {
            assert!(told.contains(word), "{told}");
        }
        let shown = |line: &str| line.replace("\x1b[30;107m", "").replace("\x1b[0m", "");
        let too_wide = told.lines().map(shown).find(|line| line.chars().count() > 100);
        assert_eq!(too_wide, None);
        assert_eq!(Invitation::of(&Reach::LOOPBACK, &ports), None);
    }

    #[test]
    fn addresses_and_names_are_read_as_people_write_them() {
        assert_eq!(address("[::]"), Ok(Ipv6Addr::UNSPECIFIED.into()));
        assert_eq!(address("192.168.1.20"), Ok(Ipv4Addr::new(192, 168, 1, 20).into()));
        assert!(address("192.168.1.20:8080").unwrap_err().contains("--http-port"));
        assert_eq!(name("Plaza.Example"), Ok("plaza.example".to_owned()));
        assert!(name("https://plaza.example").is_err());
    }
}
