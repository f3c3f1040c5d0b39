//! The world that a node takes part in: who owns a point, and the map.

use axum::{
    Json,
    extract::{Query as Parameters, State, rejection::QueryRejection},
};
use metatopia_transport::http::ErrorAnswer;
use metatopia_types::TilePoint;
use serde::Deserialize;

use super::Node;
use crate::overlay::{
    WorldPlace,
    answers::{FindAnswer, MapAnswer, ReachAnswer, WorldAnswer},
};

/// A point, in tiles of 32 m.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointParameters {
    x: i32,
    y: i32,
    /// The sim that is asked, by which the request came here.
    #[serde(rename = "sim")]
    _sim: Option<String>,
}

fn place(node: &Node) -> Result<WorldPlace, ErrorAnswer> {
    let none = || ErrorAnswer::not_found("this server takes part in no world of many sims");
    let away = || ErrorAnswer::unavailable("this server follows its land office; ask again");
    node.world.as_ref().ok_or_else(none)?.get().ok_or_else(away)
}

fn busy() -> ErrorAnswer {
    ErrorAnswer::unavailable("too many questions about the world wait; ask again")
}

fn no_point(why: &str) -> ErrorAnswer {
    let (least, most) = (i32::MIN, i32::MAX);
    ErrorAnswer::bad_request(format!(
        "a point has x and y, whole numbers of tiles from {least} to {most}: {why}"
    ))
}

/// Answers with what the node is in which world.
pub(super) async fn facts(State(node): State<Node>) -> Result<Json<WorldAnswer>, ErrorAnswer> {
    Ok(Json(place(&node)?.facts().await.ok_or_else(busy)?))
}

/// Answers with who owns a point, and the proof.
pub(super) async fn find(
    State(node): State<Node>,
    parameters: Result<Parameters<PointParameters>, QueryRejection>,
) -> Result<Json<FindAnswer>, ErrorAnswer> {
    let Parameters(PointParameters { x, y, .. }) =
        parameters.map_err(|rejection| no_point(&rejection.body_text()))?;
    Ok(Json(place(&node)?.find(TilePoint { x, y }).await.ok_or_else(busy)?))
}

/// Answers with whether others reach this node: some of them dial it back.
pub(super) async fn reach(State(node): State<Node>) -> Result<Json<ReachAnswer>, ErrorAnswer> {
    let early = || ErrorAnswer::unavailable("this was asked just now; ask again in 10 seconds");
    Ok(Json(place(&node)?.reach().await.ok_or_else(early)?))
}

/// Answers with the map as far as it is known here.
pub(super) async fn map(State(node): State<Node>) -> Result<Json<MapAnswer>, ErrorAnswer> {
    Ok(Json(place(&node)?.map().await.ok_or_else(busy)?))
}
