//! Invites, for those who have a short one.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use metatopia_transport::http::ErrorAnswer;
use metatopia_types::Digest;
use serde_json::json;

use super::HostedSims;
use crate::{clock::SystemClock, joining::InviteStore};

/// Returns the covered invite of a hash, of whichever sim: a short invite names none. Only somebody with
/// the secret can read it.
pub(super) async fn invite(
    State(hosted): State<Arc<HostedSims>>,
    Path(hash): Path<String>,
) -> Result<Response, ErrorAnswer> {
    let none = || ErrorAnswer::not_found("there is no such invite here, or not any more");
    let hash: Digest = hash.parse().map_err(|_| none())?;
    let now = SystemClock::default().now().wall;
    let nodes = hosted.sims.values().filter_map(|one| one.node.as_ref());
    let stores: Vec<InviteStore> = nodes.map(|node| node.invites.clone()).collect();
    // A small file; who asks for one that is not there costs a look at a folder of each sim.
    let find = move || stores.iter().find_map(|store| store.find(&hash, now));
    let found = tokio::task::spawn_blocking(find).await;
    let covered = found.ok().flatten().ok_or_else(none)?;
    Ok(Json(json!({ "invite": covered })).into_response())
}
