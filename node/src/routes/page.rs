//! The page: its HTML, its assets, and what browsers are told about them.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /`, `GET /w/SIM` | the page, never kept; its links lead into the tree below |
//! | `GET /assets/TREE/PATH` | a file of that very tree, kept for ever |
//! | `GET /favicon.ico` | the icon |
//!
//! The name of the tree is the digest of all its files, so a file never changes under its address,
//! and a page never gets files of two versions.

use std::sync::{Arc, LazyLock};

use axum::{
    Extension,
    extract::{Path, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
            CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
        },
    },
    response::{Html, IntoResponse, Response},
};
use metatopia_transport::http::{Allowed, ErrorAnswer};
use metatopia_types::SimId;
use serde::Serialize;

use super::Node;

mod lean;
mod module;
mod tree;

pub(crate) use module::module_warning;
use tree::{Asset, PageFiles};

/// What the page, and workers of it, may load and whom they may talk to.
///
/// A person may move to any server of a sim, at addresses that are not known beforehand; so the
/// page may connect anywhere. Nothing else may come from elsewhere, and no script may be written
/// into it. The last word of `connect-src` lets certificates be named by their hashes, in browsers
/// that ask for it.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self' http: https: ws: wss: 'unsafe-webtransport-hashes'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A year, the longest that caches honour.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

const LOST: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>Not found</title><h1>There is nothing here</h1><p><a href=\"/\">To the world</a></p>";

/// The tree that is served. Built in, it is always the same; in builds with debug assertions it is
/// read from the disk each time, so that the page can be worked on without building anything.
fn tree() -> Arc<PageFiles> {
    static BUILT_IN: LazyLock<Arc<PageFiles>> = LazyLock::new(|| Arc::new(PageFiles::read()));
    if cfg!(debug_assertions) { Arc::new(PageFiles::read()) } else { Arc::clone(&BUILT_IN) }
}

/// What the page is told before it asks anything.
#[derive(Serialize)]
struct PageConfig<'a> {
    assets: &'a str,
    wasm: Option<String>,
    /// The module was made of other sources than this program.
    stale: bool,
    sim: String,
    /// Where the sim's servers are: the one that answers may be gone before it is asked.
    servers: Vec<String>,
    version: &'a str,
}

/// Returns where the WebAssembly module is, if this program brings one.
pub(super) fn module_address() -> Option<String> {
    tree().module_address()
}

/// Answers with the page itself.
pub(super) async fn page(
    State(node): State<Node>,
    Extension(allowed): Extension<Allowed>,
) -> Result<Response, ErrorAnswer> {
    let tree = tree();
    let template = tree.page().ok_or_else(|| ErrorAnswer::not_found("this program has no page"))?;
    let assets = tree.prefix();
    let config = PageConfig {
        assets: &assets,
        wasm: tree.module_address(),
        stale: module::is_stale(),
        sim: node.session.sim.to_string(),
        servers: allowed.servers(),
        version: env!("CARGO_PKG_VERSION"),
    };
    // None of its texts can hold a `<`, which could end the element that it stands in: origins are
    // schemes, hosts and ports.
    let config = serde_json::to_string(&config).expect("texts always become JSON");
    let html = template.replace("{{assets}}", &assets).replace("{{config}}", &config);
    Ok(guarded(Html(html).into_response()))
}

/// Answers with the page, if its address names a sim. The page itself finds out which servers that
/// has.
pub(super) async fn page_of(
    state: State<Node>,
    allowed: Extension<Allowed>,
    Path(sim): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ErrorAnswer> {
    match sim.parse::<SimId>() {
        Ok(_) => page(state, allowed).await,
        Err(_) => Ok(lost(headers).await),
    }
}

/// Answers with a file of the tree.
pub(super) async fn asset(
    Path((digest, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let tree = tree();
    match tree.asset(&path).filter(|_| digest == tree.digest()) {
        Some(asset) => send(asset, &headers, FOR_EVER).await,
        None => lost(headers).await,
    }
}

/// Answers with the icon, for browsers that ask for it without having read the page.
pub(super) async fn icon(headers: HeaderMap) -> Response {
    match tree().asset("icon.svg") {
        Some(asset) => send(asset, &headers, "no-cache").await,
        None => lost(headers).await,
    }
}

/// Answers that nothing is there: as HTML to who reads HTML, else as JSON.
pub(super) async fn lost(headers: HeaderMap) -> Response {
    if !names(&headers, ACCEPT, "text/html") {
        return ErrorAnswer::not_found("there is nothing here").into_response();
    }
    guarded((StatusCode::NOT_FOUND, Html(LOST)).into_response())
}

async fn send(asset: Arc<Asset>, headers: &HeaderMap, keep: &'static str) -> Response {
    let kept = names(headers, IF_NONE_MATCH, asset.etag());
    let tag = HeaderValue::from_str(asset.etag()).expect("hexadecimal in quotes");
    let (kind, gzip) = (asset.kind(), names(headers, ACCEPT_ENCODING, "gzip"));
    let mut response = if kept {
        StatusCode::NOT_MODIFIED.into_response()
    } else if let Some(packed) = packed(&asset, gzip).await {
        let mut response = packed.into_response();
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        asset.bytes().into_response()
    };
    let head = response.headers_mut();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    head.insert(ETAG, tag);
    head.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    guarded(response)
}

/// Returns the packed file, if that is wanted and worth it. The first time it is packed, beside the
/// loop.
async fn packed(asset: &Arc<Asset>, wanted: bool) -> Option<bytes::Bytes> {
    if !wanted {
        return None;
    }
    let asset = Arc::clone(asset);
    tokio::task::spawn_blocking(move || asset.packed()).await.ok().flatten()
}

fn guarded(mut response: Response) -> Response {
    let head = response.headers_mut();
    head.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    head.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Is this one of the words that the header says, with commas between? A weight of 0 is a no.
fn names(headers: &HeaderMap, header: HeaderName, word: &str) -> bool {
    let texts = headers.get_all(header);
    let mut words = texts.iter().filter_map(|text| text.to_str().ok()).flat_map(|t| t.split(','));
    words.any(|said| {
        let mut parts = said.split(';').map(str::trim);
        let is_it = parts.next().map(|name| name.strip_prefix("W/").unwrap_or(name)) == Some(word);
        is_it && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests;
