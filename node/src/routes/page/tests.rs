//! Browsers' requests, on loopback.

use crate::routes::tests::{Running, run};

/// The head of a response in small letters, and its body.
async fn get(node: &Running, path: &str, headers: &[&str]) -> (String, String) {
    let host = format!("Host: {}", node.server.address());
    let headers: Vec<&str> = [host.as_str()].into_iter().chain(headers.iter().copied()).collect();
    let response = node.send(&format!("GET {path}"), &headers, b"").await;
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

/// Returns what follows `name` in a head.
fn value<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The prefix of the assets that the page links to.
async fn prefix(node: &Running) -> String {
    let (_, html) = get(node, "/", &[]).await;
    let (_, rest) = html.split_once("src=\"").unwrap();
    rest.split_once("/main.js").unwrap().0.to_owned()
}

#[tokio::test]
async fn the_page_is_never_kept_and_may_load_nothing_from_elsewhere() {
    let node = run("", 1).await;
    for path in ["/", &format!("/w/{}", "02".repeat(32)), "/?node=x&at=1,2"] {
        let (head, html) = get(&node, path, &[]).await;
        assert!(head.starts_with("http/1.1 200 "), "{path}: {head}");
        assert_eq!(value(&head, "content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(value(&head, "cache-control"), Some("no-store"));
        assert_eq!(value(&head, "referrer-policy"), Some("no-referrer"));
        assert_eq!(value(&head, "x-content-type-options"), Some("nosniff"));
        let policy = value(&head, "content-security-policy").unwrap();
        assert!(policy.starts_with("script-src 'self' 'wasm-unsafe-eval';"), "{policy}");
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
        // Where either stands, WebTransport by a certificate's hash needs a word of its own.
        assert!(!policy.contains("connect-src") && !policy.contains("default-src"), "{policy}");
        let own = policy.strip_suffix("; frame-ancestors 'none'").unwrap();
        assert!(html.contains(&format!("content=\"{own}\"")), "the page says {html}, not {own}");
        assert!(!html.contains("{{"), "{html}");
    }
}

#[tokio::test]
async fn whoever_keeps_the_code_is_told_what_stands_beside_it() {
    let node = run("", 1).await;
    node.allowed.set_servers(["http://192.0.2.7:8080".parse().unwrap()]);
    let (head, facts) = get(&node, "/api/page", &[]).await;
    assert_eq!(value(&head, "cache-control"), Some("no-store"));
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    assert_eq!(format!("/assets/{}", facts["code"].as_str().unwrap()), prefix(&node).await);
    assert_eq!(facts["sim"], "02".repeat(32));
    assert_eq!(facts["servers"], serde_json::json!(["http://192.0.2.7:8080"]));
    assert_eq!(facts["version"], env!("CARGO_PKG_VERSION"));
    assert!(facts["stale"].is_boolean());
}

#[tokio::test]
async fn the_keeper_of_the_code_keeps_it_for_the_whole_server_and_no_other_file_does() {
    let node = run("", 1).await;
    let prefix = prefix(&node).await;
    for (path, allowed) in [("sw.js", Some("/")), ("main.js", None)] {
        let (head, _) = get(&node, &format!("{prefix}/{path}"), &[]).await;
        assert!(head.starts_with("http/1.1 200 "), "{path}: {head}");
        assert_eq!(value(&head, "service-worker-allowed"), allowed, "{path}");
    }
    let (head, manifest) = get(&node, &format!("{prefix}/manifest.webmanifest"), &[]).await;
    assert_eq!(value(&head, "content-type"), Some("application/manifest+json"));
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["start_url"], "../../", "the root, from where the manifest is");
    assert_eq!(manifest["scope"], "../../");
}

#[tokio::test]
async fn the_page_is_told_where_its_assets_are_and_which_sim_this_is() {
    let node = run("", 1).await;
    node.allowed.set_servers(["http://192.0.2.7:8080".parse().unwrap()]);
    let (_, html) = get(&node, "/", &[]).await;
    let (_, rest) = html.split_once("id=\"config\">").unwrap();
    let config: serde_json::Value =
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(config["assets"], prefix(&node).await);
    assert_eq!(config["sim"], "02".repeat(32));
    assert_eq!(config["servers"], serde_json::json!(["http://192.0.2.7:8080"]));
    assert_eq!(format!("/assets/{}", config["code"].as_str().unwrap()), prefix(&node).await);
    assert_eq!(config["version"], env!("CARGO_PKG_VERSION"));
    assert!(config["wasm"].is_null() || config["wasm"].as_str().unwrap().ends_with(".wasm"));
    assert!(config["stale"] == false || config["wasm"].is_string(), "{config}");
}

#[tokio::test]
async fn assets_are_kept_for_ever_under_the_digest_of_all() {
    let node = run("", 1).await;
    let prefix = prefix(&node).await;
    assert_eq!(prefix.len(), "/assets/".len() + 64);

    let path = format!("{prefix}/main.js");
    let (head, script) = get(&node, &path, &[]).await;
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    assert_eq!(value(&head, "content-type"), Some("text/javascript; charset=utf-8"));
    assert_eq!(value(&head, "cache-control"), Some("public, max-age=31536000, immutable"));
    assert!(value(&head, "content-security-policy").is_some(), "workers take theirs from it");
    assert!(script.contains("new Page(") && !script.contains("Puts the page together"));

    let known = format!("If-None-Match: {}", value(&head, "etag").unwrap());
    let (head, body) = get(&node, &path, &[&known]).await;
    assert!(head.starts_with("http/1.1 304 "), "{head}");
    assert_eq!(body, "");
}

#[tokio::test]
async fn assets_are_packed_for_those_who_unpack() {
    let node = run("", 1).await;
    // Any text that is long enough to shrink.
    let path = format!("{}/icon.svg", prefix(&node).await);
    for (accepts, packed) in [
        ("Accept-Encoding: gzip, deflate, br", Some("br")),
        ("Accept-Encoding: gzip, deflate", Some("gzip")),
        ("Accept-Encoding: gzip, br;q=0", Some("gzip")),
        ("Accept-Encoding: gzip;q=0", None),
        ("Accept-Encoding: zstd", None),
    ] {
        let (head, _) = get(&node, &path, &[accepts]).await;
        let encoding = value(&head, "content-encoding");
        assert_eq!(encoding, packed, "{accepts}");
        assert_eq!(value(&head, "vary"), Some("origin, accept-encoding"));
    }
}

#[tokio::test]
async fn what_is_not_in_the_tree_is_not_served() {
    let node = run("", 1).await;
    let prefix = prefix(&node).await;
    for path in [
        format!("/assets/{}/main.js", "0".repeat(64)),
        format!("{prefix}/nothing.js"),
        format!("{prefix}/../main.js"),
        format!("{prefix}/..%2f..%2fCargo.toml"),
        format!("{prefix}/%2e%2e/%2e%2e/Cargo.toml"),
        "/w/1234".to_owned(),
        "/w/".to_owned(),
        "/elsewhere".to_owned(),
    ] {
        for people in ["Accept: text/html,*/*;q=0.8", "Accept: */*"] {
            let (head, body) = get(&node, &path, &[people]).await;
            assert!(head.starts_with("http/1.1 404 "), "{path}: {head}");
            assert!(body.starts_with("<!doctype html>"), "{path}: {body}");
            assert!(!body.contains("{{") && body.contains("href=\"/\""), "{path}: {body}");
        }
        let (head, body) = get(&node, &path, &["Accept: application/json"]).await;
        assert!(head.starts_with("http/1.1 404 "), "{path}: {head}");
        assert!(body.starts_with("{\"error\":"), "{path}: {body}");
    }
    let (head, body) = get(&node, "/api/nothing", &["Accept: */*"]).await;
    assert!(head.starts_with("http/1.1 404 "), "{head}");
    assert!(body.starts_with("{\"error\":"), "only programs ask there: {body}");
}

#[tokio::test]
async fn the_icon_is_there_for_who_has_not_read_the_page() {
    let (head, body) = get(&run("", 1).await, "/favicon.ico", &[]).await;
    assert_eq!(value(&head, "content-type"), Some("image/svg+xml"));
    assert_eq!(value(&head, "cache-control"), Some("no-cache"));
    assert!(body.contains("<svg"));
}
