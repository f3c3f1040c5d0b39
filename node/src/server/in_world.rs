//! A server's place in the world that its sim lies in, or founds.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use libp2p::Multiaddr;
use metatopia_raynet::SiteAbout;
use metatopia_sim::Genesis;
use metatopia_transport::http::Allowed;
use metatopia_types::{Site, TilePoint, limits::TICKS_PER_SECOND};
use tokio::sync::watch;

use super::ServerError;
use crate::{
    config::Settings,
    metrics::OverlayFigures,
    overlay::{
        CurrentPlace, WorldPlaceSetup,
        following::FollowSetup,
        place::{office_of, port_of, url_of},
        speaker::CountClients,
    },
    routes::StatusAnswer,
};

/// The time after which a server of the land office fetches the map about its own square again.
const OFFICE_REFRESH: Duration = Duration::from_secs(5);

/// The same time of other servers, each of which takes a client's place at the land office meanwhile.
const SITE_REFRESH: Duration = Duration::from_secs(60);

/// Starts this server's member of the world that its sim lies in, or founds, if the configuration says
/// where. `site` is what the state of the sim says of that, if there is a state.
///
/// # Errors
/// When its land office is not known here, or it cannot listen.
pub(super) async fn start(
    settings: &Settings,
    (genesis, site): (&Genesis, Option<Site>),
    (http, servers): (SocketAddr, &Multiaddr),
    (status, allowed, published): (
        watch::Receiver<Option<StatusAnswer>>,
        Allowed,
        Arc<OverlayFigures>,
    ),
) -> Result<Option<CurrentPlace>, ServerError> {
    let Some(listen) = settings.overlay_listen.clone() else { return Ok(None) };
    let office = office_of(genesis, site, &settings.data_dir).map_err(ServerError::world)?;
    let Some((folder, sets, square)) = office else { return Ok(None) };
    let announced = settings.announce_http.as_ref().and_then(|origin| origin.as_str().parse().ok());
    let clients = announced.or_else(|| url_of(http));
    let (sim, is_office) = (genesis.id(), genesis.office.is_some());
    let counted = status.clone();
    let count: CountClients =
        Arc::new(move || counted.borrow().as_ref().map_or(0, |status| status.players));
    let about = SiteAbout { label: genesis.name.clone(), licence: genesis.licence.clone() };
    let servers = port_of(servers).map(|port| ("servers", port));
    let member = WorldPlaceSetup {
        listen,
        lan: settings.overlay_lan,
        is_guest: false,
        clients: clients.clone(),
        site: Some((sim, square, about, count)),
        vantage: TilePoint::corner(square),
        ports: [("http", http.port())].into_iter().chain(servers).collect(),
        // The land office asks itself, and so knows at once of what is granted.
        refresh: if is_office { OFFICE_REFRESH } else { SITE_REFRESH },
        published,
    };
    let ticks = u64::from(genesis.parameters.ticks_per_turn).max(1);
    let setup = FollowSetup {
        data_dir: settings.data_dir.clone(),
        sim,
        member,
        first: clients.iter().filter(|_| is_office).cloned().collect(),
        renews: clients.filter(|_| !is_office),
        turns_per_second: TICKS_PER_SECOND / ticks,
        allowed,
        status,
    };
    setup.start(&folder, sets).await.map(Some).map_err(ServerError::world)
}
