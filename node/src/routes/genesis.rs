//! The sim's genesis, for clients that are not let in yet: nobody needs to trust who gives it.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use super::{Node, page::names};

/// An encoded genesis, as the node's replica has it: at most
/// [`GENESIS_BYTES_MAX`](metatopia_sim::limits::GENESIS_BYTES_MAX).
#[derive(Debug, Clone, Default)]
pub struct GenesisBytes(Bytes);

/// What is shared with the replica.
struct SharedGenesis(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedGenesis {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Arc<Vec<u8>>> for GenesisBytes {
    fn from(encoded: Arc<Vec<u8>>) -> Self {
        Self(Bytes::from_owner(SharedGenesis(encoded)))
    }
}

/// Answers with the genesis. It never changes for a sim, and a node may serve another sim tomorrow: so
/// it is kept, and asked about by the id of the sim.
pub(super) async fn genesis(State(node): State<Node>, headers: HeaderMap) -> Response {
    let tag = format!("\"{}\"", node.session.sim);
    let mut response = if names(&headers, IF_NONE_MATCH, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        node.genesis.0.into_response()
    };
    let head = response.headers_mut();
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    head.insert(ETAG, HeaderValue::try_from(tag).expect("hexadecimal in quotes"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
