//! Two sims of one process, asked by HTTP on loopback.

use std::sync::Arc;

use metatopia_transport::http::bind;
use metatopia_types::{Digest, Height, SimId};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::*;
use crate::routes::{
    StatusAnswer, start,
    tests::{Running, a_node, a_session, a_status, hosting},
};

/// A process with two sims, called 01.. and 02.., of which the second one was named first.
struct Two {
    /// The process, with the status of the sim that was named first.
    node: Running,
    other_status: watch::Sender<Option<StatusAnswer>>,
    _other_queries: mpsc::Receiver<crate::routes::Query>,
    other_ended: Arc<OnceLock<String>>,
}

fn sim(n: u8) -> SimId {
    SimId(Digest([n; 32]))
}

fn status(n: u8, height: u64) -> StatusAnswer {
    StatusAnswer { sim: sim(n), height: Height(height), ..a_status() }
}

async fn run() -> Two {
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let allowed = |origin: &str| Allowed::new(origin.parse().unwrap(), bound.address(), None);
    let (first, other) = (allowed("https://plaza.example"), allowed("https://garden.example"));
    let (status_of_first, published) = watch::channel(Some(status(2, 42)));
    let (asked, queries) = mpsc::channel(1);
    let node = a_node(a_session("127.0.0.1:8081"), published, asked);
    let (other_status, published) = watch::channel(Some(status(1, 7)));
    let (asked, other_queries) = mpsc::channel(1);
    let session = crate::routes::SessionAnswer { sim: sim(1), ..a_session("127.0.0.1:9091") };
    let hosted =
        hosting([(first.clone(), Some(node)), (other, Some(a_node(session, published, asked)))]);
    let other_ended = Arc::clone(&hosted.sims[&sim(1)].ended);
    let server = start(bound, None, hosted).unwrap();
    let node = Running { server, status: status_of_first, queries, allowed: first };
    Two { node, other_status, _other_queries: other_queries, other_ended }
}

impl Two {
    /// The status code, and the sim that the answer is of.
    async fn sim_of(&self, path: &str, headers: &[&str]) -> (u16, Value) {
        let host = format!("Host: {}", self.node.server.address());
        let headers: Vec<&str> =
            [host.as_str()].into_iter().chain(headers.iter().copied()).collect();
        let response = self.node.send(&format!("GET {path}"), &headers, b"").await;
        let (code, mut body) = crate::routes::tests::split(&response);
        (code, body["sim"].take())
    }
}

#[tokio::test]
async fn a_request_is_for_the_sim_that_it_names_and_else_for_the_first() {
    let two = run().await;
    let (one, other) = ("02".repeat(32), "01".repeat(32));
    for path in ["/api/status", "/api/session"] {
        assert_eq!(two.sim_of(path, &[]).await, (200, json!(one)), "{path}");
        for id in [&one, &other] {
            let named = format!("{path}?sim={id}");
            assert_eq!(two.sim_of(&named, &[]).await, (200, json!(id)), "{named}");
        }
    }
    let (code, body) = two.node.get(&format!("/api/session?sim={other}")).await;
    assert_eq!((code, &body["ws"]), (200, &json!(format!("/ws?sim={other}"))));
    assert_eq!(body["quic"], "127.0.0.1:9091");
}

#[tokio::test]
async fn a_sim_that_is_not_here_or_no_id_is_refused_by_name() {
    let two = run().await;
    let stranger = "03".repeat(32);
    let (code, body) = two.node.get(&format!("/api/status?sim={stranger}")).await;
    assert_eq!((code, &body["error"]["code"]), (404, &json!("not_found")));
    let told = body["error"]["message"].as_str().unwrap();
    assert!(told.contains(&stranger) && told.contains("/api/sims"), "{told}");
    for wrong in ["sim=", "sim=plaza", "sim=1&sim=2"] {
        let (code, body) = two.node.get(&format!("/api/session?{wrong}")).await;
        assert_eq!((code, &body["error"]["code"]), (400, &json!("bad_request")), "{wrong}");
    }
}

#[tokio::test]
async fn a_page_is_told_the_sim_of_its_address_and_asks_for_that_sim() {
    let two = run().await;
    let (one, other) = ("02".repeat(32), "01".repeat(32));
    let own = two.node.server.address();
    for (path, id) in [
        ("/".to_owned(), &one),
        (format!("/w/{one}"), &one),
        (format!("/w/{other}?at=1,2"), &other),
        // Its servers are elsewhere; the page finds them.
        (format!("/w/{}", "03".repeat(32)), &one),
    ] {
        let host = format!("Host: {own}");
        let html = two.node.send(&format!("GET {path}"), &[&host], b"").await;
        let config =
            html.split_once("id=\"config\">").unwrap().1.split_once("</script>").unwrap().0;
        let config: Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["sim"], json!(id), "{path}");
    }
}

#[tokio::test]
async fn pages_that_one_sim_allows_may_not_ask_another() {
    let two = run().await;
    let (one, other) = ("02".repeat(32), "01".repeat(32));
    for (origin, id, code) in [
        ("https://plaza.example", &one, 200),
        ("https://garden.example", &other, 200),
        ("https://plaza.example", &other, 403),
        ("https://garden.example", &one, 403),
    ] {
        let origin = format!("Origin: {origin}");
        let path = format!("/api/session?sim={id}");
        assert_eq!(two.sim_of(&path, &[&origin]).await.0, code, "{origin} {id}");
        // What belongs to the process is for the pages of all its sims.
        assert_eq!(two.sim_of("/source", &[&origin]).await.0, 200, "{origin}");
    }
}

#[tokio::test]
async fn a_sim_that_has_ended_says_why_and_the_other_answers_on() {
    let two = run().await;
    let other = "01".repeat(32);
    let entry = |n: u8, running: bool, ended: Option<&str>, height: u64| {
        let (id, name) = (sim(n).to_string(), "plaza");
        json!({ "sim": id, "name": name, "first": n == 2, "running": running, "ended": ended,
            "height": height })
    };
    let listed = two.node.get("/api/sims").await;
    let both = json!({ "sims": [entry(1, true, None, 7), entry(2, true, None, 42)] });
    assert_eq!(listed, (200, both));

    drop(two.other_status);
    two.other_ended.set("the storage thread ended".to_owned()).unwrap();

    for path in ["/api/status", "/api/session", "/health/live", "/health/ready", "/ws"] {
        let (code, body) = two.node.get(&format!("{path}?sim={other}")).await;
        assert_eq!((code, &body["error"]["code"]), (503, &json!("unavailable")), "{path}");
        let told = body["error"]["message"].as_str().unwrap();
        assert!(told.contains(&other) && told.contains("the storage thread ended"), "{told}");
    }
    // Its page finds other servers of the sim.
    let host = format!("Host: {}", two.node.server.address());
    let page = two.node.send(&format!("GET /w/{other}"), &[&host], b"").await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let listed = two.node.get("/api/sims").await;
    let why = Some("the storage thread ended");
    let both = json!({ "sims": [entry(1, false, why, 7), entry(2, true, None, 42)] });
    assert_eq!(listed, (200, both));
    assert_eq!(two.node.get("/health/live").await.0, 200);
    let metrics = two.node.send("GET /metrics", &[&host], b"").await;
    let line = |sim: SimId, value: u8| format!("\nmetatopia_running{{sim=\"{sim}\"}} {value}\n");
    assert!(metrics.contains(&line(sim(1), 0)) && metrics.contains(&line(sim(2), 1)), "{metrics}");
}

#[tokio::test]
async fn a_sim_that_did_not_start_says_why_and_the_other_answers() {
    let bound = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let allowed = Allowed::new("".parse().unwrap(), bound.address(), None);
    let (status, published) = watch::channel(Some(status(2, 42)));
    let (asked, queries) = mpsc::channel(1);
    let node = a_node(a_session("127.0.0.1:8081"), published, asked);
    let hosted = hosting([(allowed.clone(), Some(node)), (allowed.clone(), None)]);
    let failed = SimId(Digest::ZERO);
    hosted.sims[&failed].ended.set("no vote.key".to_owned()).unwrap();
    let server = start(bound, None, hosted).unwrap();
    let node = Running { server, status, queries, allowed };

    let (code, body) = node.get(&format!("/api/status?sim={failed}")).await;
    assert_eq!(code, 503);
    assert!(body["error"]["message"].as_str().unwrap().contains("no vote.key"), "{body}");
    assert_eq!(node.get("/api/status").await.0, 200);
    let (_, body) = node.get("/api/sims").await;
    assert_eq!(
        (&body["sims"][0]["running"], &body["sims"][0]["height"]),
        (&json!(false), &json!(null))
    );
}
