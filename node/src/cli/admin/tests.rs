use axum::{Json, Router, http::StatusCode, routing::get};
use metatopia_client_driver::NodeUrl;
use tokio::net::TcpListener;

use super::*;
use crate::cli::session::NodeArgs;

/// All of these refusals once read `the validator set does not allow it`.
#[test]
fn a_change_that_is_refused_is_told_with_its_rule_and_with_what_to_do() {
    let key = |n: u8| PublicKey([n; 32]);
    let four: Vec<String> = (0..4).map(|n| key(n).to_string()).collect();
    let five: Vec<String> = (0..5).map(|n| key(n).to_string()).collect();
    let contact = NodeContact::default();
    let add = |n| SetChange::Add { key: key(n), contact: contact.clone() };
    let reserve = |n| SetChange::Reserve { key: key(n), contact: contact.clone() };
    let remove = |n| SetChange::Remove { key: key(n) };
    for (change, voters, rule, next) in [
        (add(1), &four, "votes already", "status --json"),
        (reserve(1), &four, "votes already", "status --json"),
        (add(9), &four, "stands by already", "admin demote"),
        (reserve(9), &four, "stands by already", "admin demote"),
        (remove(9), &four, "neither votes nor stands by", "status --json"),
        (remove(1), &four, "4 servers vote, and the set never shrinks below 4", "promote"),
        (remove(1), &five, "under way", "status --json"),
    ] {
        let failure = broken_rule(&change, voters);
        assert_eq!(failure.exit, Exit::Refused);
        let told = failure.to_string();
        assert!(told.contains(rule) && told.contains(next), "{change:?}: {told}");
    }
}

/// Starts a node that states this height and this many servers, or fails with this code.
async fn node(told: Result<(u64, u8), StatusCode>) -> NodeUrl {
    let status = told.map(|(height, servers)| {
        let voters: Vec<String> = (0..servers).map(|n| PublicKey([n; 32]).to_string()).collect();
        serde_json::json!({
            "server": voters[0], "height": height, "tick": 27, "root": "", "root_height": 9,
            "proposer": null, "validators": voters, "peers": 3, "clients": 0, "stalled": false,
        })
    });
    let answer = move || async move { status.map(Json) };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let app = Router::new().route("/api/status", get(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Asks these nodes, as `finish` does, about a fifth server that was promoted or demoted at
/// height 9.
async fn finished(votes: bool, nodes: &[NodeUrl], wait: Duration) -> Result<(), Failure> {
    let at = NodeArgs { node: nodes.to_vec(), sim: None };
    let admin = PlayerArgs::of(at, Default::default());
    let change = ChangeArgs { server: PublicKey([4; 32]), admin, wait, dry_run: false };
    let what = if votes { "promote" } else { "demote" };
    finish(&change, what, ("an act".to_owned(), 9), votes, Console::quiet()).await
}

/// Once only the first node was asked whether a change is in force. Without that node the
/// command ended at once and did not say what was decided. Later the first node that answered
/// was believed, although it was cut off and other nodes knew better.
#[tokio::test]
async fn any_node_tells_whether_a_change_is_in_force() {
    let (away, up) = (node(Err(StatusCode::SERVICE_UNAVAILABLE)).await, node(Ok((12, 5))).await);
    let cut_off = node(Ok((9, 4))).await;
    for nodes in [[&away, &up], [&cut_off, &up], [&up, &cut_off]] {
        let nodes = nodes.map(Clone::clone);
        finished(true, &nodes, Duration::from_secs(30)).await.unwrap();
    }

    let failure = finished(true, &[away], Duration::from_nanos(1)).await.unwrap_err();
    assert_eq!(failure.exit, Exit::TimedOut);
    assert!(failure.message.contains("in force is not known"), "{failure}");
}

#[tokio::test]
async fn a_node_that_is_behind_a_change_does_not_tell_that_it_is_in_force() {
    let (behind, up) = (node(Ok((5, 4))).await, node(Ok((10, 5))).await);
    for nodes in [vec![behind.clone()], vec![behind, up]] {
        let failure = finished(false, &nodes, Duration::from_nanos(1)).await.unwrap_err();
        assert_eq!(failure.exit, Exit::TimedOut);
        assert!(failure.message.contains("it is not in force after"), "{failure}");
    }
}

/// A person whose nodes did not answer was asked whether a node runs, and was then told to ask
/// that node who votes.
#[tokio::test]
async fn a_change_of_which_nothing_is_known_comes_with_one_advice() {
    for (code, advice) in [
        (StatusCode::SERVICE_UNAVAILABLE, "; is a server running there?"),
        (StatusCode::IM_A_TEAPOT, &format!("; {WHO_VOTES}")),
    ] {
        let nodes = [node(Err(code)).await];
        let failure = finished(false, &nodes, Duration::from_nanos(1)).await.unwrap_err();
        assert!(failure.message.ends_with(advice), "{failure}");
        assert_eq!(failure.message.matches("; ").count(), 1, "{failure}");
    }
}

/// A sim of one server got a second voter. Neither the order nor its dry run said that both must run from then on.
#[test]
fn a_promotion_into_a_set_that_can_spare_nobody_says_so() {
    let would = |voters| {
        let (server, by) = ("k".to_owned(), "as admin".to_owned());
        WouldChange { change: "promote", server, dry_run: true, voters, by }.to_string()
    };
    let told =
        "; with 2 voters all 2 must run, or nothing is decided, and `admin demote` never goes";
    assert!(would(1).contains(told), "{}", would(1));
    assert!(would(2).contains("; with 3 voters all 3 must run"), "{}", would(2));
    assert!(would(3).ends_with("servers that vote now: 3"), "{}", would(3));
    let validators = vec![String::new(); 2];
    let (server, act) = ("k".to_owned(), String::new());
    let line = ChangeLine { change: "promote", server, act, height: 9, in_force: true, validators };
    assert!(line.to_string().contains("in force; 2 servers vote; with 2 voters"), "{line}");
}

#[test]
fn contacts_are_a_peer_id_and_an_address() {
    let peer = "12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN";
    let read = contact(&format!("{peer}@/ip4/127.0.0.1/tcp/9")).unwrap();
    assert_eq!((read.peer_id.as_str(), read.address.as_str()), (peer, "/ip4/127.0.0.1/tcp/9"));
    for text in ["", peer, "x@/ip4/127.0.0.1/tcp/9", &format!("{peer}@localhost:9")] {
        assert!(contact(text).is_err(), "{text}");
    }
}
