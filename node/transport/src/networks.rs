//! Networks of addresses, as an operator writes them: `127.0.0.0/8`, `2001:db8::/32`, `192.0.2.7`.

use std::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The most networks that a configuration may name.
pub const NETWORKS_MAX: usize = 64;

/// The addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpNetwork {
    base: IpAddr,
    bits: u8,
}

/// Says why a text is no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseNetworkError {
    /// The text is no address, with or without a number of bits behind a slash.
    #[error("`{0}` is not like 127.0.0.0/8, 192.0.2.7 or 2001:db8::/32")]
    Form(String),
    /// The address has ones behind the bits that name the network, so one of the two is a mistake.
    #[error("`{0}` has bits set behind its first {1}")]
    Tail(String, u8),
    /// There are too many networks.
    #[error("{0} networks are more than {NETWORKS_MAX}")]
    Many(usize),
}

impl IpNetwork {
    /// Returns whether this address is in the network. An IPv4 address that is mapped into IPv6
    /// counts as itself.
    #[must_use]
    pub fn contains(&self, ip: IpAddr) -> bool {
        first_bits(ip.to_canonical(), self.bits) == Some(self.base)
            && self.base.is_ipv4() == ip.to_canonical().is_ipv4()
    }
}

/// Returns the address with all bits but the first ones cleared, or none if it has fewer bits.
fn first_bits(ip: IpAddr, bits: u8) -> Option<IpAddr> {
    Some(match ip {
        IpAddr::V4(ip) => {
            let tail = 32_u32.checked_sub(bits.into())?;
            let kept = ip.to_bits().checked_shr(tail).unwrap_or(0);
            IpAddr::V4(kept.checked_shl(tail).unwrap_or(0).into())
        }
        IpAddr::V6(ip) => {
            let tail = 128_u32.checked_sub(bits.into())?;
            let kept = ip.to_bits().checked_shr(tail).unwrap_or(0);
            IpAddr::V6(kept.checked_shl(tail).unwrap_or(0).into())
        }
    })
}

impl FromStr for IpNetwork {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseNetworkError::Form(text.to_owned());
        let (ip, bits) = match text.split_once('/') {
            Some((ip, bits)) => (ip, Some(bits)),
            None => (text, None),
        };
        let base: IpAddr = ip.parse().map_err(|_| wrong())?;
        let all = if base.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => all,
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= all).ok_or_else(wrong)?,
        };
        if first_bits(base, bits) != Some(base) {
            return Err(ParseNetworkError::Tail(text.to_owned(), bits));
        }
        Ok(Self { base, bits })
    }
}

impl fmt::Display for IpNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

impl Serialize for IpNetwork {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IpNetwork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A list of networks. As text they have commas between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Networks(Vec<IpNetwork>);

impl Networks {
    /// Returns the networks of this machine alone, of both families.
    #[must_use]
    pub fn loopback() -> Self {
        let own = ["127.0.0.0/8", "::1/128"];
        Self(own.into_iter().map(|text| text.parse().expect("a constant")).collect())
    }

    /// Returns whether this address is in one of the networks.
    #[must_use]
    pub fn contain(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(ip))
    }

    fn new(networks: Vec<IpNetwork>) -> Result<Self, ParseNetworkError> {
        match networks.len() {
            0..=NETWORKS_MAX => Ok(Self(networks)),
            many => Err(ParseNetworkError::Many(many)),
        }
    }
}

impl FromStr for Networks {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let each = text.split(',').map(|network| network.trim().parse());
        Self::new(each.collect::<Result<_, _>>()?)
    }
}

impl<'de> Deserialize<'de> for Networks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(networks: &str, ip: &str) -> bool {
        networks.parse::<Networks>().unwrap().contain(ip.parse().unwrap())
    }

    #[test]
    fn a_network_holds_the_addresses_that_begin_as_it_does() {
        assert!(contains("127.0.0.0/8", "127.255.0.9"));
        assert!(!contains("127.0.0.0/8", "128.0.0.1"));
        assert!(contains("192.0.2.7", "192.0.2.7") && !contains("192.0.2.7", "192.0.2.6"));
        assert!(contains("10.0.0.0/8, 2001:db8::/32", "2001:db8:ffff::1"));
        assert!(!contains("2001:db8::/32", "2001:db9::1"));
        assert!(contains("127.0.0.0/8", "::ffff:127.0.0.1"), "mapped");
        assert!(contains("0.0.0.0/0", "192.0.2.1") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("::/0", "2001:db8::1") && !contains("::/0", "192.0.2.1"));
        assert!(!contains("", "127.0.0.1"));
    }

    #[test]
    fn loopback_is_this_machine_by_either_family() {
        let loopback = Networks::loopback();
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(loopback.contain(ip.parse().unwrap()), "{ip}");
        }
        assert!(!loopback.contain("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn what_is_no_network_is_refused_and_named() {
        for text in ["127.0.0.0/33", "::/129", "home", "10.0.0.0/-1", "10.0.0/8", "10.0.0.0/", "/8"]
        {
            assert_eq!(text.parse::<IpNetwork>(), Err(ParseNetworkError::Form(text.to_owned())));
        }
        let tail = ParseNetworkError::Tail("127.0.0.1/8".into(), 8);
        assert_eq!("127.0.0.1/8".parse::<IpNetwork>(), Err(tail));
        let many = ["10.0.0.1"; NETWORKS_MAX + 1].join(",");
        assert_eq!(many.parse::<Networks>(), Err(ParseNetworkError::Many(NETWORKS_MAX + 1)));
    }
}
