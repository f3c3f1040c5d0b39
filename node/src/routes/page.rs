//! The page: its HTML, its assets, and what browsers are told about them.
//!
//! | route | answer |
//! | --- | --- |
//! | `GET /`, `GET /w/SIM` | the page, never kept; its links lead into the tree below |
//! | `GET /api/page` | [`PageFacts`] as JSON: what the page is told beside its code |
//! | `GET /assets/TREE/PATH` | a file of that very tree, kept for ever |
//! | `GET /favicon.ico` | the icon |
//!
//! The name of the tree is the digest of all its files, so a file never changes under its address,
//! and a page never gets files of two versions. A browser that keeps the code (`sw.js` of the tree)
//! asks only what the page is told, and sees by `code` whether this server has other code by now.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode, Uri,
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

mod folder;
mod lean;
mod module;
mod sha256;
mod tree;

pub(crate) use folder::{PageFolder, page_folder};
pub(crate) use module::module_warning;
use tree::{Asset, ContentCoding, PageFiles};

/// What the page, and workers of it, may load. Nothing comes from elsewhere, and no script may be
/// written into it. `index.html` says the same but for `frame-ancestors`, which only a header can
/// say: so the page is as strict where others serve it.
///
/// A person may move to any server of a sim, at addresses that are not known beforehand; so the
/// page may connect anywhere. Every kind of content is named by itself, and `connect-src` and its
/// fallback `default-src` are not: where either stands, the standard forbids WebTransport to a
/// certificate that is named by its hash, unless the list holds `'unsafe-webtransport-hashes'`, and
/// browsers that do not know this word yet complain of it at every load.
const POLICY: &str = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
    style-src 'self'; img-src 'self' data: blob:; manifest-src 'self'; font-src 'none'; \
    media-src 'none'; object-src 'none'; frame-src 'none'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The worker that keeps the code. It may keep it for the whole server, though it is a file of a tree.
const KEEPER: &str = "sw.js";

const SERVICE_WORKER_ALLOWED: HeaderName = HeaderName::from_static("service-worker-allowed");

/// Whom browsers tell the address of a page: nobody.
const REFERRERS: &str = "no-referrer";

/// A year, the longest that caches honour.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// What people read where nothing is; `{{assets}}` and `{{why}}` are filled in.
const LOST: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <title>Not found - Metatopia</title><link rel=\"stylesheet\" href=\"{{assets}}/page.css\">\
    <body class=\"lost\"><h1>There is nothing here</h1><p>{{why}}</p>\
    <p><a href=\"/\">To the world of this server</a></p>";

/// The tree that was last read from the disk. Always empty where the tree is built in.
static LAST: Mutex<Option<Arc<PageFiles>>> = Mutex::new(None);

/// Returns the tree that is served. Built in, it is always the same. Builds with debug assertions read it from
/// the disk each time, so that the page can be worked on without building anything. A tree in which no file has
/// changed stays the same one, whose files are packed already.
fn tree() -> Arc<PageFiles> {
    static BUILT_IN: LazyLock<Arc<PageFiles>> = LazyLock::new(|| Arc::new(PageFiles::read()));
    if !cfg!(debug_assertions) {
        return Arc::clone(&BUILT_IN);
    }
    let now = PageFiles::read();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some(tree) if tree.digest() == now.digest() => Arc::clone(tree),
        _ => Arc::clone(last.insert(Arc::new(now))),
    }
}

/// Returns the tree of this name, if it is the one that is served. A page asks for a hundred files: only the page
/// itself has all of them read from the disk.
fn tree_of(digest: &str) -> Option<Arc<PageFiles>> {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Some(last.unwrap_or_else(tree)).filter(|tree| tree.digest() == digest)
}

/// What the page is told beside its code.
#[derive(Serialize)]
struct PageFacts {
    /// The digest of the code that this program brings.
    code: String,
    version: &'static str,
    /// The module was made of other sources than this program.
    stale: bool,
    /// The sim of the server that answers; none in a folder.
    sim: Option<String>,
    /// Where the sim's servers are: the one that answers may be gone before it is asked.
    servers: Vec<String>,
}

/// What the page is told before it asks anything.
#[derive(Serialize)]
struct PageConfig<'a> {
    assets: &'a str,
    wasm: Option<String>,
    #[serde(flatten)]
    facts: PageFacts,
}

/// What a page in a folder is told.
#[derive(Serialize)]
struct FolderConfig<'a> {
    assets: &'a str,
    wasm: Option<String>,
    /// No node serves this page.
    folder: bool,
    /// The server to go to first.
    origin: &'a str,
    #[serde(flatten)]
    facts: PageFacts,
}

impl PageFacts {
    fn of(tree: &PageFiles, node: &Node, allowed: &Allowed) -> Self {
        Self {
            code: tree.digest().to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            stale: module::is_stale(),
            sim: Some(node.session.sim.to_string()),
            servers: allowed.servers(),
        }
    }
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
        facts: PageFacts::of(&tree, &node, &allowed),
    };
    // None of its texts can hold a `<`, which could end the element that it stands in: origins are
    // schemes, hosts and ports.
    let config = serde_json::to_string(&config).expect("texts always become JSON");
    let html = template.replace("{{assets}}", &assets).replace("{{config}}", &config);
    Ok(guarded(Html(html).into_response()))
}

/// Answers with what the page is told beside its code.
pub(super) async fn facts(
    State(node): State<Node>,
    Extension(allowed): Extension<Allowed>,
) -> Response {
    let facts = PageFacts::of(&tree(), &node, &allowed);
    ([(CACHE_CONTROL, "no-store")], Json(facts)).into_response()
}

/// Answers with the page, if its address names a sim. The page itself finds out which servers that
/// has.
pub(super) async fn page_of(
    state: State<Node>,
    allowed: Extension<Allowed>,
    Path(sim): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ErrorAnswer> {
    match sim.parse::<SimId>() {
        Ok(_) => page(state, allowed).await,
        Err(_) => Ok(lost(uri, headers).await),
    }
}

/// Answers with a file of the tree.
pub(super) async fn asset(
    Path((digest, path)): Path<(String, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let Some(asset) = tree_of(&digest).and_then(|tree| tree.asset(&path)) else {
        return lost(uri, headers).await;
    };
    let mut response = send(asset, &headers, FOR_EVER).await;
    if path == KEEPER {
        response.headers_mut().insert(SERVICE_WORKER_ALLOWED, HeaderValue::from_static("/"));
    }
    response
}

/// Answers with the icon, for browsers that ask for it without having read the page.
pub(super) async fn icon(uri: Uri, headers: HeaderMap) -> Response {
    match tree().asset("icon.svg") {
        Some(asset) => send(asset, &headers, "no-cache").await,
        None => lost(uri, headers).await,
    }
}

/// Answers that nothing is there: as JSON to programs that ask for it, and wherever only programs
/// ask; else as HTML.
pub(super) async fn lost(uri: Uri, headers: HeaderMap) -> Response {
    let asked =
        names(&headers, ACCEPT, "application/json") && !names(&headers, ACCEPT, "text/html");
    if asked || uri.path().starts_with("/api/") {
        return ErrorAnswer::not_found("there is nothing here").into_response();
    }
    let why = if uri.path().starts_with("/w/") {
        "An address of a world is /w/ and the 64 digits of the id of its sim. This one is cut off, or \
        mistyped."
    } else {
        "This server has no page at this address."
    };
    let html = LOST.replace("{{assets}}", &tree().prefix()).replace("{{why}}", why);
    guarded((StatusCode::NOT_FOUND, Html(html)).into_response())
}

async fn send(asset: Arc<Asset>, headers: &HeaderMap, keep: &'static str) -> Response {
    let kept = names(headers, IF_NONE_MATCH, asset.etag());
    let tag = HeaderValue::from_str(asset.etag()).expect("hexadecimal in quotes");
    let kind = asset.kind();
    let mut response = if kept {
        StatusCode::NOT_MODIFIED.into_response()
    } else if let Some((coding, packed)) = packed(&asset, headers).await {
        let mut response = packed.into_response();
        let coding = HeaderValue::from_static(coding.name());
        response.headers_mut().insert(CONTENT_ENCODING, coding);
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

/// Returns the file as it is packed best of the ways that are accepted, if that is worth it. The first
/// time it is packed, beside the loop.
async fn packed(asset: &Arc<Asset>, headers: &HeaderMap) -> Option<(ContentCoding, bytes::Bytes)> {
    let mut accepted = ContentCoding::ALL.to_vec();
    accepted.retain(|coding| names(headers, ACCEPT_ENCODING, coding.name()));
    let asset = Arc::clone(asset);
    let pack = move || {
        let mut packed = accepted.into_iter().map(|coding| Some((coding, asset.packed(coding)?)));
        packed.find_map(|packed| packed)
    };
    tokio::task::spawn_blocking(pack).await.ok().flatten()
}

fn guarded(mut response: Response) -> Response {
    let head = response.headers_mut();
    head.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    head.insert(REFERRER_POLICY, HeaderValue::from_static(REFERRERS));
    response
}

/// Returns whether a header, a list with commas, names this word. A word with a weight of 0 does not count.
pub(super) fn names(headers: &HeaderMap, header: HeaderName, word: &str) -> bool {
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
