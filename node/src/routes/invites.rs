//! Invites, for those who have a short one.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use metatopia_transport::http::ErrorAnswer;
use metatopia_types::Digest;
use serde_json::json;

use super::Node;
use crate::clock::SystemClock;

/// Returns the covered invite of a hash. Only somebody with the secret can read it.
pub(super) async fn invite(
    State(node): State<Node>,
    Path(hash): Path<String>,
) -> Result<Response, ErrorAnswer> {
    let none = || ErrorAnswer::not_found("there is no such invite here, or not any more");
    let hash: Digest = hash.parse().map_err(|_| none())?;
    let now = SystemClock::default().now().wall;
    // A small file; who asks for one that is not there costs a look at a folder.
    let found = tokio::task::spawn_blocking(move || node.invites.find(&hash, now)).await;
    let covered = found.ok().flatten().ok_or_else(none)?;
    Ok(Json(json!({ "invite": covered })).into_response())
}
