//! Tests of crowds: as many connections from one address as there are places.

use tokio::task::yield_now;

use super::*;

/// The requests of connections that could stay for ever: half a request, or one that keeps its
/// connection.
const PATIENT: [&str; 2] =
    ["GET /health/li", "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"];

async fn open(node: &Running, host: &str, words: &str) -> TcpStream {
    let port = node.server.address().port();
    let mut stream = TcpStream::connect((host, port)).await.unwrap();
    stream.write_all(words.as_bytes()).await.unwrap();
    stream
}

async fn until_taken(node: &Running, places: usize) {
    let taken = async {
        while node.server.connections() != places {
            yield_now().await;
        }
    };
    timeout(GUARD, taken).await.expect("they are all accepted");
}

#[tokio::test]
async fn who_holds_all_other_places_is_in_nobodys_way_but_its_own() {
    let node = run("").await;
    let mut lone = open(&node, "127.0.0.1", "GET /health/live HTTP/1.1\r\n").await;
    until_taken(&node, 1).await;
    let mut crowd = Vec::new();
    for number in 1..CONNECTIONS_MAX {
        crowd.push(open(&node, "::1", PATIENT[number % 2]).await);
    }
    until_taken(&node, CONNECTIONS_MAX).await;

    // This is well before any of the connections has been idle for too long.
    let answer = timeout(IDLE / 3, node.get("/health/live")).await.expect("it waits for nobody");

    assert_eq!(answer.0, 200);
    lone.write_all(b"Host: localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    timeout(GUARD, lone.read_to_string(&mut response)).await.unwrap().unwrap();
    assert_eq!(split(&response).0, 200, "a lone one keeps its place");
    let mut rest = Vec::new();
    let _broken = timeout(IDLE / 3, crowd[0].read_to_end(&mut rest)).await.expect("it is closed");
    until_taken(&node, CONNECTIONS_MAX - 2).await;
}
