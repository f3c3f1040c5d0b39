//! Which of a sim's servers are up, and the nearest of them that has room.

use serde::Deserialize;
use tokio::{task::JoinSet, time::Instant};

use super::{NodeUrl, http};

/// The most servers of a sim that are measured before one is taken.
pub const MEASURED_MAX: usize = 4;

/// What `/api/session` says of room. A node that says nothing of it may have some.
#[derive(Debug, Deserialize)]
struct RoomOffer {
    room: Option<bool>,
}

/// Asks the first [`MEASURED_MAX`] of these servers at once whether they are ready, and whether they let one more
/// client in. Returns those that answer, the fastest first, and the full ones behind all others: one of their clients
/// may leave.
pub async fn nearest(servers: impl IntoIterator<Item = NodeUrl>) -> Vec<NodeUrl> {
    let mut asking = JoinSet::new();
    for url in servers.into_iter().take(MEASURED_MAX) {
        asking.spawn(async move {
            let began = Instant::now();
            http::get_text(url.join("/health/ready")).await.ok()?;
            let after = began.elapsed();
            let offer: RoomOffer = http::get(url.join("/api/session")).await.ok()?;
            Some((offer.room == Some(false), after, url))
        });
    }
    let mut ready: Vec<_> = asking.join_all().await.into_iter().flatten().collect();
    ready.sort();
    ready.into_iter().map(|(.., url)| url).collect()
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener, sync::mpsc, thread};

    use super::*;

    /// Answers requests of HTTP, as a server that is ready and says this of its sessions. Does something before
    /// each answer, and something behind it.
    fn says(
        offer: &'static str,
        mut before: impl FnMut() + Send + 'static,
        mut behind: impl FnMut() + Send + 'static,
    ) -> NodeUrl {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut request) = (stream.unwrap(), [0; 1_024]);
                let read = std::io::Read::read(&mut stream, &mut request).unwrap();
                let is_session = request[..read].starts_with(b"GET /api/session ");
                before();
                let body = if is_session { offer } else { "{}" };
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
                let text = format!("{head}connection: close\r\n\r\n{body}");
                stream.write_all(text.as_bytes()).unwrap();
                behind();
            }
        });
        url
    }

    fn ready() -> NodeUrl {
        says("{}", || (), || ())
    }

    /// A place where nobody listens. A port that was free a moment ago may be lent to the server of another test
    /// by now; the first one is lent to nobody.
    fn gone() -> NodeUrl {
        "http://127.0.0.1:1".parse().unwrap()
    }

    #[tokio::test]
    async fn servers_that_do_not_answer_are_left_out() {
        let up = ready();
        assert_eq!(nearest([gone(), up.clone(), gone()]).await, [up]);
        assert_eq!(nearest([]).await, []);
    }

    #[tokio::test]
    async fn no_more_servers_are_measured_than_the_bound_says() {
        let far = ready();
        let many = (0..MEASURED_MAX).map(|_| gone()).chain([far]);
        assert_eq!(nearest(many).await, []);
    }

    /// Somebody was sent to the fastest server, which was full, and was not let in.
    #[tokio::test]
    async fn a_full_server_comes_last_however_fast_it_is() {
        // Each of its four answers below is told.
        let (answered, answers) = mpsc::sync_channel(4);
        let full = says(r#"{"room":false}"#, || (), move || answered.send(()).unwrap());
        // It answers once the full one has answered both questions.
        let mut waits = 2;
        let wait = move || (0..std::mem::take(&mut waits)).for_each(|_| answers.recv().unwrap());
        let slow = says(r#"{"room":true}"#, wait, || ());
        assert_eq!(nearest([full.clone(), slow.clone()]).await, [slow, full.clone()]);
        assert_eq!(nearest([full.clone()]).await, [full]);
    }
}
