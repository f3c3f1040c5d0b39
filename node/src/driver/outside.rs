//! Events from outside: from peers, from clients, and by HTTP.

use std::future::{Future, pending};

use metatopia_transport::{gateway::GatewayEvent, peers::PeerEvent};

use crate::routes::Query;

/// An event from outside.
#[derive(Debug)]
pub(super) enum Outside {
    Peer(PeerEvent),
    Client(GatewayEvent),
    Query(Query),
}

/// Waits for the next event. Each source with an event has the same chance: in a fixed order, one
/// peer that always has something would silence all clients.
pub(super) async fn outside(
    peers: impl Future<Output = Option<PeerEvent>>,
    clients: impl Future<Output = Option<GatewayEvent>>,
    queries: impl Future<Output = Option<Query>>,
) -> Outside {
    tokio::select! {
        Some(event) = peers => Outside::Peer(event),
        Some(event) = clients => Outside::Client(event),
        Some(query) = queries => Outside::Query(query),
        else => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::sync::oneshot;

    use super::*;
    use metatopia_protocol::ClientId;
    use metatopia_transport::gateway::ClientEnd;

    /// A peer that flooded was once heard before all others, and so nobody else was heard.
    #[tokio::test]
    async fn who_always_has_something_to_say_does_not_silence_the_others() {
        let mut heard = [0; 3];
        for _ in 0..300 {
            let peer = PeerEvent::PeerUp(libp2p::PeerId::random());
            let client = GatewayEvent::ClientDown { id: ClientId(1), end: ClientEnd::Silent };
            let query = Query::Servers { reply: oneshot::channel().0 };
            match outside(ready(Some(peer)), ready(Some(client)), ready(Some(query))).await {
                Outside::Peer(_) => heard[0] += 1,
                Outside::Client(_) => heard[1] += 1,
                Outside::Query(_) => heard[2] += 1,
            }
        }
        // Each source gets a third. Fewer than 50 of 300 happens once in some 10^10 runs.
        assert!(heard.iter().all(|times| *times >= 50), "{heard:?}");
    }

    #[tokio::test]
    async fn who_is_gone_does_not_keep_the_others_from_being_heard() {
        let client = GatewayEvent::ClientDown { id: ClientId(1), end: ClientEnd::Silent };

        let heard = outside(ready(None), ready(Some(client)), ready(None)).await;

        assert!(matches!(heard, Outside::Client(_)), "{heard:?}");
    }
}
