//! Web origins: scheme, host and port of a page.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error as _};

/// The origin of a page, like `https://plaza.example` or `http://127.0.0.1:8080`, as browsers write
/// it: lowercase, no path, no default port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebOrigin(String);

/// The error of a text that is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not like https://plaza.example or http://192.0.2.1:8080")]
pub struct ParseWebOriginError(String);

/// The schemes by which pages come to browsers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UrlScheme {
    /// Plain HTTP without TLS.
    #[default]
    Http,
    /// HTTP under TLS.
    Https,
}

impl UrlScheme {
    /// Returns the scheme as an address has it, and the port that an address leaves out.
    const fn parts(self) -> (&'static str, u16) {
        match self {
            Self::Http => ("http", 80),
            Self::Https => ("https", 443),
        }
    }
}

impl WebOrigin {
    /// Returns the origin of pages that this server delivers when it is called `authority`.
    pub(super) fn own(scheme: UrlScheme, authority: &str) -> Self {
        Self(format!("{}://{}", scheme.parts().0, authority.to_ascii_lowercase()))
    }

    /// Returns the origin as browsers write it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the origin of pages from this host (as a URL has it) and port.
    #[must_use]
    pub fn at(scheme: UrlScheme, host: &str, port: u16) -> Self {
        if port == scheme.parts().1 {
            return Self::own(scheme, host);
        }
        Self::own(scheme, &format!("{host}:{port}"))
    }

    /// Returns the host and the port.
    pub(crate) fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, authority)| authority)
    }
}

/// Returns the host of `host` or `host:port`. Brackets of IPv6 addresses stay.
#[must_use]
pub fn host(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Returns whether the host is an address, written as in a URL.
pub(crate) fn is_address(host: &str) -> bool {
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match v6 {
        Some(v6) => v6.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()),
        None => host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4()),
    }
}

/// Returns whether the text is a host as in an origin: an address, or a name in lowercase.
#[must_use]
pub fn is_host(host: &str) -> bool {
    let names =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    is_address(host) || !host.is_empty() && host.bytes().all(names)
}

impl FromStr for WebOrigin {
    type Err = ParseWebOriginError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseWebOriginError(text.to_owned());
        let (scheme, authority) = text.split_once("://").ok_or_else(wrong)?;
        let default_port = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(wrong()),
        };
        let host = host(authority);
        let port = authority[host.len()..].strip_prefix(':');
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
        if !is_host(host) || !is_port || authority.ends_with(default_port) {
            return Err(wrong());
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for WebOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WebOrigin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The origins whose pages may connect to a server. As text they have commas between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Origins(Vec<WebOrigin>);

impl Origins {
    /// Returns whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether this origin, as a browser writes it, is one of them.
    pub(super) fn contains(&self, origin: &str) -> bool {
        self.0.iter().any(|known| known.0 == origin)
    }

    /// Returns whether this is the host of one of them.
    pub(super) fn has_host(&self, name: &str) -> bool {
        self.0.iter().any(|known| host(known.authority()) == name)
    }
}

impl FromStr for Origins {
    type Err = ParseWebOriginError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        text.split(',').map(|origin| origin.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_taken_as_browsers_write_them() {
        for text in [
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost",
            "https://plaza.example:444",
        ] {
            assert_eq!(text.parse::<WebOrigin>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_no_browser_would_write_is_refused() {
        for text in [
            "",
            "null",
            "*",
            "plaza.example",
            "ftp://plaza.example",
            "https://",
            "https://plaza.example/",
            "https://Plaza.example",
            "https://plaza.example:443",
            "http://plaza.example:80",
            "https://plaza.example:99999",
            "https://plaza.example:",
            "https://user@plaza.example",
            "http://::1",
        ] {
            assert_eq!(
                text.parse::<WebOrigin>(),
                Err(ParseWebOriginError(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn hosts_are_cut_from_ports() {
        for (authority, expected) in [
            ("a.example", "a.example"),
            ("a.example:1", "a.example"),
            ("[::1]", "[::1]"),
            ("[::1]:1", "[::1]"),
            ("127.0.0.1:1", "127.0.0.1"),
        ] {
            assert_eq!(host(authority), expected);
        }
        assert!(is_address("127.0.0.1") && is_address("[::1]"));
        assert!(!is_address("::1") && !is_address("[127.0.0.1]") && !is_address("localhost"));
    }
}
