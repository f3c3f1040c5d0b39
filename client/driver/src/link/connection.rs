//! Finding a node, noticing that it is gone, and going on with the next.

use std::time::{Duration, Instant};

use metatopia_client::Output;
use tokio::time::sleep;

use super::{Dialled, Probed, SILENCE, SessionTask};
use crate::{
    DriverEvent, End, NodeUrl,
    http::{self, HttpError},
    node_endpoint::NodeEndpoint,
};

/// Once a session was open, nodes are tried for this long before it is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(200);

impl SessionTask {
    pub(super) fn url(&self) -> &NodeUrl {
        &self.nodes[self.node]
    }

    /// Returns whether the node owes an answer that no probe asks for already.
    pub(super) fn is_owed(&self) -> bool {
        let owed = self.session.pending() > 0 || !self.asked.is_empty();
        owed && self.carrier.is_some() && self.probing.is_none()
    }

    pub(super) fn probe(&mut self) {
        let url = self.url().join("/health/live");
        self.probing = Some(tokio::spawn(http::get_text(url)));
    }

    pub(super) fn probed(&mut self, probed: &Probed) {
        self.probing = None;
        // Whoever answers lives, whatever it says; and who heard from it meanwhile knows better.
        if matches!(probed, Err(HttpError::Unreachable(_))) && self.heard_at.elapsed() >= SILENCE {
            return self.broke("nobody is there any more".to_owned());
        }
        self.heard_at = Instant::now();
    }

    /// Notes that the connection is gone, and tries the next node.
    pub(super) fn broke(&mut self, why: String) {
        if self.carrier.take().is_none() {
            return;
        }
        // What the session said belongs to this node: the next one is another.
        while let Some(output) = self.session.poll() {
            if let Output::Event(event) = output {
                self.event(event);
            }
        }
        self.session.disconnected();
        self.asked.clear();
        self.probing = None;
        self.down_since = Instant::now();
        self.tell(DriverEvent::Broken { url: self.url().clone(), why });
        self.node = (self.node + 1) % self.nodes.len();
    }

    /// Notes where servers let clients in. From now on these addresses are tried too, after those that
    /// were given.
    pub(super) fn learn_nodes(&mut self) {
        let current = self.url().clone();
        self.nodes.truncate(self.given);
        for announcement in self.session.endpoints() {
            // An address that this program cannot reach is none of its nodes.
            let Ok(url) = announcement.http.parse::<NodeUrl>() else {
                continue;
            };
            if !self.nodes.iter().any(|known| known.is_same_node(&url)) {
                self.nodes.push(url);
            }
        }
        let at = self.nodes.iter().position(|url| *url == current);
        self.node = at.unwrap_or_else(|| {
            self.nodes.push(current);
            self.nodes.len() - 1
        });
    }

    pub(super) fn dial(&mut self) {
        let (url, sim) = (self.url().clone(), self.sim);
        // Each node gets one try at once, and more after a pause.
        let pause = if self.tries < self.nodes.len() { Duration::ZERO } else { PAUSE };
        self.tries += 1;
        self.dialling = Some(tokio::spawn(async move {
            sleep(pause).await;
            NodeEndpoint::ask(&url, Some(sim)).await?.dial().await
        }));
    }

    pub(super) fn dialled(&mut self, dialled: Dialled) {
        self.dialling = None;
        let error = match dialled {
            Ok(carrier) => {
                self.carrier = Some(carrier);
                self.heard_at = Instant::now();
                return;
            }
            Err(error) => error,
        };
        let patience = if self.was_open { PATIENCE } else { Duration::ZERO };
        if self.tries >= self.nodes.len() && self.down_since.elapsed() >= patience {
            self.end = Some(End::Unreachable(error));
            return;
        }
        self.node = (self.node + 1) % self.nodes.len();
    }
}
