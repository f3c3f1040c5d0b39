//! The entry of sessions over WebSocket.

use axum::{
    extract::{
        ConnectInfo, State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    response::Response,
};

use super::{ErrorAnswer, listener::Caller};
use crate::gateway::{GatewayLimits, NotAdmitted, WEBSOCKET_PROTOCOL, WebSockets};

/// The bytes of frames that are gathered for one connection before the system gets them, and that
/// are read from it at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// Turns a connection into a session, as a route for GET. The guard has checked which page asks.
///
/// # Errors
/// Fails when the request asks for something else, or there is no room for a client.
pub async fn upgrade(
    State(sockets): State<WebSockets>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ErrorAnswer> {
    let upgrade = upgrade.map_err(|rejection| ErrorAnswer::bad_request(rejection.body_text()))?;
    let upgrade = upgrade.protocols([WEBSOCKET_PROTOCOL]);
    if upgrade.selected_protocol().is_none() {
        let message = format!("the subprotocol {WEBSOCKET_PROTOCOL} must be asked for");
        return Err(ErrorAnswer::bad_request(message));
    }
    let admitted = sockets.admit(caller.address).map_err(|why| match why {
        NotAdmitted::Full => ErrorAnswer::unavailable("there is no room for more clients"),
        NotAdmitted::Stopped => ErrorAnswer::unavailable("the node has stopped"),
    })?;
    let upgrade = bounded(upgrade, admitted.limits())
        .on_failed_upgrade(|error| tracing::debug!(%error, "not upgraded"));
    let meter = admitted.meter();
    Ok(upgrade.on_upgrade(async move |socket| admitted.serve(socket, caller.leave(meter)).await))
}

/// Bounds what the session may receive, and what is held for it.
fn bounded(upgrade: WebSocketUpgrade, limits: &GatewayLimits) -> WebSocketUpgrade {
    upgrade
        .max_message_size(limits.frame_in_bytes_max)
        .max_frame_size(limits.frame_in_bytes_max)
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        // One frame is handed over at a time, and the reason of a close.
        .max_write_buffer_size(2 * (BUFFER_BYTES + limits.frame_out_bytes_max))
}

#[cfg(test)]
mod tests;
