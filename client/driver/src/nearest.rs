//! Which of a sim's servers are up, and the nearest of them.

use tokio::{task::JoinSet, time::Instant};

use super::{NodeUrl, http};

/// The most servers of a sim that are measured before one is taken.
pub const MEASURED_MAX: usize = 4;

/// Asks the first [`MEASURED_MAX`] of these servers at once whether they are ready, and returns those that
/// are, the fastest first.
pub async fn nearest(servers: impl IntoIterator<Item = NodeUrl>) -> Vec<NodeUrl> {
    let mut asking = JoinSet::new();
    for url in servers.into_iter().take(MEASURED_MAX) {
        asking.spawn(async move {
            let began = Instant::now();
            let ready = http::get_text(url.join("/health/ready")).await;
            ready.is_ok().then(|| (began.elapsed(), url))
        });
    }
    let mut ready: Vec<_> = asking.join_all().await.into_iter().flatten().collect();
    ready.sort();
    ready.into_iter().map(|(_, url)| url).collect()
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener, thread};

    use super::*;

    /// Answers one request of HTTP as a server that is ready.
    fn ready() -> NodeUrl {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _asked = std::io::Read::read(&mut stream, &mut [0; 1_024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
        });
        url
    }

    fn gone() -> NodeUrl {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        format!("http://{free}").parse().unwrap()
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
}
