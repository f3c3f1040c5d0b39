//! Two sims in one process: one HTTP listener, and everything else twice.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::StreamExt as _;
use metatopia::{executor::Meddle, host, server::ServerError};
use metatopia_client_driver::{ClientDriver, DriverEvent, GenesisTrust, NodeUrl};
use metatopia_protocol::{ServerMessage, decode_server};
use metatopia_transport::gateway::WEBSOCKET_PROTOCOL;
use metatopia_types::{Act, Look, SigningKey, SimId};
use tokio_tungstenite::{
    client_async,
    tungstenite::{client::IntoClientRequest as _, http::HeaderValue},
};

use super::*;

/// Two worlds of one server each, which one process hosts, with their ids.
fn found_two(folder: &Folder) -> [(Settings, SimId); 2] {
    let mut two = ["one", "other"].map(|name| found(&folder.0.join(name), 1).remove(0));
    two[1].http_listen = two[0].http_listen;
    two.map(|settings| {
        let bytes = fs::read(&settings.genesis).expect("our own file");
        let sim = Genesis::decode(&bytes).expect("our own genesis").id();
        (settings, sim)
    })
}

type Hosting = JoinHandle<Result<(), ServerError>>;

/// Starts a process that hosts these sims.
fn host(all: Vec<(Settings, Option<Meddle>)>) -> (watch::Sender<bool>, Hosting) {
    log_for_failures();
    let (stop, stopped) = watch::channel(false);
    (stop, tokio::spawn(host::run_meddled(all, stopped)))
}

/// The address of a sim at its process.
fn address(settings: &Settings, sim: SimId) -> NodeUrl {
    let url: NodeUrl = format!("http://{}", settings.http_listen).parse().expect("an address");
    url.of(sim)
}

/// Waits until the sim says that it has decided at least this height.
async fn decide(settings: &Settings, sim: SimId, height: u64) {
    let path = format!("/api/status?sim={sim}");
    let wait = async {
        loop {
            let status = get(settings, &path).await;
            let at = status.and_then(|status| status["root_height"].as_u64());
            if at.is_some_and(|at| at >= height) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    in_time(settings, &format!("turn {height} of {sim}"), wait).await;
}

/// Opens a session by QUIC, and logs in.
async fn enter(settings: &Settings, sim: SimId, seed: u8) -> ClientDriver {
    let nodes = vec![address(settings, sim)];
    let trust = GenesisTrust::learn_from(&nodes, Some(sim)).await.expect("the sim is hosted");
    assert_eq!(trust.sim, sim);
    let key = Arc::new(SigningKey::from_seed([seed; 32]));
    let mut person = ClientDriver::open(nodes, trust, key).await.expect("a session");
    assert!(acts(settings, &mut person).await > 0);
    person
}

/// Logs in, or shows itself again. Returns the height of the turn that the act is in.
async fn acts(settings: &Settings, person: &mut ClientDriver) -> u64 {
    let login = Act::login("ada".to_owned(), Look::default());
    let sent = person.submit(login, Vec::new()).await.expect("an open session").act;
    let receipted = async {
        loop {
            match person.news().await {
                DriverEvent::Receipted { act, height, .. } if act == sent => return height.0,
                DriverEvent::Refused { why, .. } => panic!("{why}"),
                DriverEvent::Ended(end) => panic!("{end}"),
                _ => {}
            }
        }
    };
    in_time(settings, "a receipt", receipted).await
}

/// Opens a session over WebSocket at the path that `/api/session` names. Returns the sim that the server
/// speaks of first.
async fn challenged_by(settings: &Settings, path: &str) -> SimId {
    let session = get(settings, path).await.expect("an answer");
    let socket = session["ws"].as_str().expect("a path");
    let url = format!("ws://{}{socket}", settings.http_listen);
    let mut request = url.into_client_request().expect("an address");
    let protocol = HeaderValue::from_static(WEBSOCKET_PROTOCOL);
    request.headers_mut().insert("sec-websocket-protocol", protocol);
    let stream = tokio::net::TcpStream::connect(settings.http_listen).await.expect("it listens");
    let (mut socket, _) = client_async(request, stream).await.expect("a WebSocket");
    let first = in_time(settings, "the server speaks first", socket.next()).await;
    let frame = first.expect("a message").expect("no error").into_data();
    match decode_server(&frame).expect("a frame") {
        ServerMessage::Challenge(challenge) => challenge.sim,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sims_of_one_process_serve_clients_and_one_goes_on_when_the_other_fails() {
    let folder = Folder::new("hosting");
    let [(one, first), (other, second)] = found_two(&folder);
    let fails = Arc::new(AtomicBool::new(false));
    let at_fault = Arc::clone(&fails);
    let meddle: Meddle = Box::new(move |_, _| {
        assert!(!at_fault.load(Ordering::Relaxed), "the fault that this test makes");
    });
    let (stop, running) = host(vec![(one.clone(), None), (other.clone(), Some(meddle))]);
    decide(&one, first, 3).await;
    decide(&one, second, 3).await;

    // Both at once, over each carrier.
    let (mut ada, mut bob) = tokio::join!(enter(&one, first, 1), enter(&one, second, 2));
    let named = [first, second].map(|sim| format!("/api/session?sim={sim}"));
    let by_websocket = tokio::join!(
        challenged_by(&one, &named[0]),
        challenged_by(&one, &named[1]),
        challenged_by(&one, "/api/session"),
    );
    assert_eq!(by_websocket, (first, second, first));
    let unnamed = get(&one, "/api/status").await.expect("an answer");
    assert_eq!(unnamed["sim"], first.to_string());

    fails.store(true, Ordering::Relaxed);
    let ended = async {
        loop {
            if let DriverEvent::Broken { .. } = bob.news().await {
                return;
            }
        }
    };
    in_time(&one, "the sim that fails closes its sessions", ended).await;
    let listed = async {
        loop {
            let sims = get(&one, "/api/sims").await.expect("the process answers");
            let of = |sim: SimId| {
                let sims = sims["sims"].as_array().expect("a list");
                sims.iter()
                    .find(|entry| entry["sim"] == sim.to_string())
                    .expect("it is listed")
                    .clone()
            };
            if of(second)["ended"].is_string() {
                return (of(first), of(second));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (lives, failed) = in_time(&one, "the process says that a sim ended", listed).await;
    assert_eq!((&lives["running"], &failed["running"]), (&true.into(), &false.into()));
    assert_eq!(failed["ended"], "the world thread ended");

    // The first goes on: it decides turns, and takes acts of the session that was open.
    let height = acts(&one, &mut ada).await;
    decide(&one, first, height + 20).await;
    assert_eq!(challenged_by(&one, "/api/session").await, first);
    assert!(get(&one, &format!("/api/status?sim={second}")).await.is_none(), "it is refused");

    stop.send_replace(true);
    let error = running.await.expect("no panic").expect_err("one sim failed");
    assert!(matches!(error, ServerError::Driver(_)), "{error}");

    // Nothing was lost by the fault, and each directory is a server's of its own.
    let (stop, running) = host(vec![(one.clone(), None), (other, None)]);
    decide(&one, second, 5).await;
    decide(&one, first, height + 20).await;
    stop.send_replace(true);
    running.await.expect("no panic").expect("a clean end");
}

#[tokio::test]
async fn two_configurations_of_one_sim_are_refused_and_both_are_named() {
    let folder = Folder::new("same-sim");
    let one = found(&folder.0, 1).remove(0);
    let copy = folder.0.join("copy");
    fs::copy(&one.genesis, &copy).expect("our own folder");
    let other =
        Settings { data_dir: folder.0.join("elsewhere"), genesis: copy.clone(), ..one.clone() };
    let (_stop, stopped) = watch::channel(false);

    let error = host::run(vec![one.clone(), other], stopped).await.expect_err("one sim twice");

    let told = error.to_string();
    assert!(matches!(error, ServerError::SameSim { .. }), "{told}");
    assert!(told.contains(&one.genesis.display().to_string()), "{told}");
    assert!(told.contains(&copy.display().to_string()), "{told}");
    assert!(!one.data_dir.exists(), "nothing was opened");
}

#[tokio::test]
async fn a_sim_that_cannot_start_leaves_the_others_alone_and_is_told_of() {
    let folder = Folder::new("no-start");
    let [(one, first), (other, second)] = found_two(&folder);
    fs::remove_file(&other.vote_key).expect("our own file");
    let (stop, running) = host(vec![(one.clone(), None), (other.clone(), None)]);
    decide(&one, first, 3).await;

    let sims = get(&one, "/api/sims").await.expect("an answer");
    let sims = sims["sims"].as_array().expect("a list").clone();
    let failed =
        sims.iter().find(|entry| entry["sim"] == second.to_string()).expect("it is listed");
    assert!(failed["ended"].as_str().expect("a reason").contains("vote.key"), "{failed}");
    stop.send_replace(true);
    let error = running.await.expect("no panic").expect_err("a sim did not start");
    assert!(matches!(error, ServerError::Key(_)), "{error}");

    // Where none can start there is no process.
    fs::remove_file(&one.vote_key).expect("our own file");
    let (_stop, running) = host(vec![(one, None), (other, None)]);
    let error = running.await.expect("no panic").expect_err("no sim starts");
    assert!(matches!(error, ServerError::Key(_)), "{error}");
}
