//! The way into a node: ask it over HTTP who it is, then open a session by QUIC.

use metatopia_transport::{
    carrier::{self, Carrier, ConnectError},
    tls::CertificateHash,
};
use metatopia_types::{PublicKey, SimId};
use serde::Deserialize;

use super::{
    NodeUrl,
    http::{self, HttpError},
};

/// What `/api/session` says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SessionOffer {
    /// The sim that the node serves, as 64 hexadecimal digits.
    pub sim: String,
    /// The node's own key, as 64 hexadecimal digits.
    pub server: String,
    /// Host and UDP port where it takes sessions.
    pub quic: String,
    /// The SHA-256 of the certificate it shows there, and of the next.
    pub certificates: Vec<CertificateHash>,
}

/// Why there is no way in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeEndpointError {
    /// The node does not answer by HTTP as it should.
    #[error("{url} {error}")]
    Http {
        /// The URL of the node.
        url: NodeUrl,
        /// The error behind it.
        error: HttpError,
    },
    /// What it says about itself makes no sense.
    #[error("{url} names {what} that is none")]
    Offer {
        /// The URL of the node.
        url: NodeUrl,
        /// What is wrong in its offer.
        what: &'static str,
    },
    /// It serves another sim.
    #[error("{url} serves sim {found}, not {expected}")]
    OtherSim {
        /// The URL of the node.
        url: NodeUrl,
        /// The sim that was asked for.
        expected: SimId,
        /// The sim it serves.
        found: SimId,
    },
    /// It hosts other sims than the one that was asked for.
    #[error("{url} does not host sim {sim}")]
    NotHosted {
        /// The URL of the node.
        url: NodeUrl,
        /// The sim that was asked for.
        sim: SimId,
    },
    /// No session came about.
    #[error("{url} gives no session: {error}")]
    Connect {
        /// The URL of the node.
        url: NodeUrl,
        /// The error behind it.
        error: ConnectError,
    },
}

/// A node that offers a sim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeEndpoint {
    /// The URL of the node.
    pub url: NodeUrl,
    /// The id of the sim.
    pub sim: SimId,
    /// The node's own key.
    pub server: PublicKey,
    offer: SessionOffer,
}

impl NodeEndpoint {
    /// Asks a node; it must serve the sim `pin`, if one is given, or the one that the address names.
    ///
    /// # Errors
    /// See [`NodeEndpointError`].
    pub async fn ask(url: &NodeUrl, pin: Option<SimId>) -> Result<Self, NodeEndpointError> {
        let pin = pin.or(url.sim());
        let asked = pin.map_or_else(|| url.clone(), |sim| url.of(sim));
        let offer = http::get::<SessionOffer>(asked.join("/api/session")).await;
        let offer = offer.map_err(|error| match (error, pin) {
            (HttpError::Status { code: 404, .. }, Some(sim)) => {
                NodeEndpointError::NotHosted { url: url.clone(), sim }
            }
            (error, _) => NodeEndpointError::Http { url: url.clone(), error },
        })?;
        let bad = |what| NodeEndpointError::Offer { url: url.clone(), what };
        let sim: SimId = offer.sim.parse().map_err(|_| bad("a sim"))?;
        let server: PublicKey = offer.server.parse().map_err(|_| bad("a key"))?;
        if let Some(expected) = pin.filter(|expected| *expected != sim) {
            return Err(NodeEndpointError::OtherSim { url: url.clone(), expected, found: sim });
        }
        Ok(Self { url: url.clone(), sim, server, offer })
    }

    /// Returns the endpoint, if it is that of the server that signed it: the server has to show a
    /// certificate that is named there.
    #[must_use]
    pub fn shown_by(
        mut self,
        announcement: &metatopia_protocol::EndpointAnnouncement,
    ) -> Option<Self> {
        self.offer.certificates.retain(|hash| announcement.certificates.contains(&hash.0));
        let is_it = self.server == announcement.server && !self.offer.certificates.is_empty();
        is_it.then_some(self)
    }

    /// Opens a session's carrier.
    ///
    /// # Errors
    /// See [`NodeEndpointError`].
    pub async fn dial(&self) -> Result<Carrier, NodeEndpointError> {
        let url = || self.url.clone();
        let bad = || NodeEndpointError::Offer { url: url(), what: "an address for sessions" };
        let mut found = tokio::net::lookup_host(&self.offer.quic).await.map_err(|_| bad())?;
        let address = found.next().ok_or_else(bad)?;
        carrier::connect(address, &self.offer.certificates)
            .await
            .map_err(|error| NodeEndpointError::Connect { url: url(), error })
    }
}
