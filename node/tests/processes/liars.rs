//! Servers that lie to a node that joins.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use metatopia::keys;
use metatopia_protocol::SignedInvite;
use serde_json::json;

use crate::{
    membership::{Follower, whole_invite},
    plaza::{Folder, Plaza, Running},
};

/// Answers by HTTP as a node of a sim does, and gives no session.
struct Liar {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Liar {
    fn of(sim: &str) -> Self {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let url = format!("http://{}", socket.local_addr().expect("bound"));
        let key = "ab".repeat(32);
        let offer = json!({ "sim": sim, "server": key, "quic": "nowhere", "certificates": [] });
        let offer = offer.to_string();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in socket.incoming().map_while(Result::ok) {
                let head = BufReader::new(&stream).lines().map_while(Result::ok);
                head.take_while(|line| !line.is_empty()).for_each(drop);
                counted.fetch_add(1, Ordering::SeqCst);
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
                // Whoever has gone needs no answer.
                let _gone = write!(&stream, "{head} {}\r\n\r\n{offer}", offer.len());
            }
        });
        Self { url, asked }
    }

    fn was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > 0
    }
}

#[test]
fn liars_first_in_the_invite_and_named_by_a_server_keep_nobody_from_joining() {
    let folder = Folder::new("liars");
    let plaza = Plaza::start(&folder.join("world"), 4);
    let elsewhere = "cd".repeat(32);
    let (foreign, empty) = (Liar::of(&elsewhere), Liar::of(&plaza.sim));
    let named = Liar::of(&elsewhere);
    plaza.kill(3);
    let _server = Running(plaza.restart_with(3, &[("METATOPIA_ANNOUNCE_HTTP", &named.url)]));
    plaza.until_endpoints(0, |known| {
        known.len() == 4 && known.iter().any(|server| server["http"] == *named.url)
    });
    let mut signed = SignedInvite::read(&whole_invite(&plaza)).expect("an invite");
    let admin = keys::load(&plaza.dir.join("admin.key")).expect("the admin's key");
    signed.invite.addresses =
        vec![foreign.url.clone(), empty.url.clone(), plaza.servers[0].url.clone()];
    let text = signed.invite.sign(&admin).text();

    let follower = Follower::join(&folder.join("follower"), Some(&text));

    assert_eq!(follower.ready["servers"], 3, "one lies about where it is");
    assert!(foreign.was_asked() && empty.was_asked() && named.was_asked());
    follower.stop();
    plaza.stop();
}
