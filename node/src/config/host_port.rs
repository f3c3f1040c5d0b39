//! A host and a port, as they are announced.

use std::{fmt, str::FromStr};

use metatopia_protocol::ADDRESS_BYTES_MAX;
use metatopia_transport::http::is_host;
use serde::{Deserialize, Deserializer, de::Error as _};

/// A host, by name or address, and a port from 1 on: `node.example:8081`, `192.0.2.1:8081` or
/// `[2001:db8::1]:8081`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort(String);

/// The error of a text that is no host and port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not like node.example:8081, 192.0.2.1:8081 or [2001:db8::1]:8081")]
pub struct ParseHostPortError(String);

impl FromStr for HostPort {
    type Err = ParseHostPortError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseHostPortError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
        if is_host(host) && is_port && text.len() <= ADDRESS_BYTES_MAX {
            return Ok(Self(text.to_owned()));
        }
        Err(wrong())
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for HostPort {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_by_name_and_address_are_taken() {
        for text in ["node.example:8081", "192.0.2.1:1", "[2001:db8::1]:65535", "localhost:443"] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_nobody_could_dial_is_refused() {
        let long = format!("{}:1", "a".repeat(ADDRESS_BYTES_MAX));
        for text in ["", "a", "a:", ":1", "a:0", "a:70000", "::1:1", "a b:1", "a/:1", &long] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
    }
}
