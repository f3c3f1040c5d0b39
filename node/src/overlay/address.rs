//! Addresses of sites, as their records carry them: where the overlay is spoken, and where people and
//! programs come in.

use std::{fmt, str::FromStr};

use libp2p::Multiaddr;
use metatopia_client_driver::NodeUrl;

/// The address of a server that speaks for a site: `/ip4/192.0.2.7/tcp/8083 http://192.0.2.7:8080`. The
/// second part is missing where nobody is let in, so of members without a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteAddress {
    /// Where the overlay is spoken.
    pub overlay: Multiaddr,
    /// Where clients are let in.
    pub clients: Option<NodeUrl>,
}

/// Says why a text is no address of a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address of a site; one is like /ip4/192.0.2.7/tcp/8083 http://192.0.2.7:8080")]
pub struct SiteAddressError(String);

impl fmt::Display for SiteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.clients {
            None => write!(f, "{}", self.overlay),
            // Without the slash at the end: each byte counts here.
            Some(url) => {
                write!(f, "{} {}", self.overlay, url.node().to_string().trim_end_matches('/'))
            }
        }
    }
}

impl FromStr for SiteAddress {
    type Err = SiteAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || SiteAddressError(text.chars().take(120).collect());
        let (overlay, clients) = match text.split_once(' ') {
            None => (text, None),
            Some((overlay, clients)) => (overlay, Some(clients)),
        };
        let clients = clients.map(str::parse).transpose().map_err(|_| wrong())?;
        let overlay: Multiaddr = overlay.parse().map_err(|_| wrong())?;
        if overlay.is_empty() { Err(wrong()) } else { Ok(Self { overlay, clients }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_the_overlay_and_the_way_in() {
        for text in ["/ip4/192.0.2.7/tcp/8083 http://192.0.2.7:8080", "/ip6/2001:db8::1/tcp/8083"] {
            let address: SiteAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        for text in ["", "here", "/ip4/192.0.2.7/tcp/1 here", "http://192.0.2.7:8080"] {
            assert!(text.parse::<SiteAddress>().is_err(), "{text}");
        }
    }
}
