//! A node that joins a sim of many servers, each with sockets of its own. The time-out only keeps a
//! broken test from hanging.

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    sync::{Mutex, OnceLock},
};

use bytes::Bytes;
use metatopia_protocol::{
    Challenge, ClientMessage, EndpointAnnouncement, Grant, Invite, ServerMessage,
    SignedAnnouncement, VERSION, Welcome, decode_client, encode_server,
};
use metatopia_sim::Genesis;
use metatopia_transport::{
    certificates::Certificates,
    gateway::{self, Delivery, GatewayEvent, GatewayLimits, ListenConfig},
};
use metatopia_types::{
    Certificate, Header, Millis, Round, SigningKey, Validator, ValidatorSet, limits::VALIDATORS_MAX,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::*;
use crate::clock::SystemClock;

const GUARD: Duration = Duration::from_secs(30);

/// Servers of the sim: one more than are asked, and one that lets nobody in.
const SERVERS: usize = PROVIDERS_MAX + 2;

const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

fn key(n: usize) -> SigningKey {
    SigningKey::from_seed([n as u8 + 1; 32])
}

/// What all servers know.
struct Known {
    genesis: Genesis,
    servers: OnceLock<Vec<SignedAnnouncement>>,
    /// Who was asked to let the node in.
    asked: Mutex<BTreeSet<PublicKey>>,
}

impl Known {
    /// Returns what a server answers; the first server lets nobody in.
    fn answer(&self, server: PublicKey, question: Question) -> Answer {
        match question {
            Question::Genesis => Answer::Genesis(self.genesis.encode()),
            Question::Servers => Answer::Servers(self.servers.get().expect("they are up").clone()),
            Question::Join(_) => {
                self.asked.lock().unwrap().insert(server);
                let refused = server == key(0).public();
                let joined =
                    if refused { Err(JoinRefusal::Expired) } else { Ok(Default::default()) };
                Answer::Join(joined)
            }
            _ => Answer::Unknown,
        }
    }
}

/// Starts a server.
async fn serve(key: SigningKey, known: Arc<Known>) -> SignedAnnouncement {
    let (sim, server) = (known.genesis.id(), key.public());
    let certificates = Certificates::generate(SystemClock::default().now().wall).unwrap();
    let listen = ListenConfig::new(LOOPBACK.into(), certificates.clone());
    let limits = GatewayLimits::default();
    let (gateway, mut events) = gateway::start(listen, limits, Arc::default()).unwrap();
    let listener = TcpListener::bind(LOOPBACK).await.unwrap();
    let announcement = EndpointAnnouncement {
        sim,
        server,
        http: format!("http://{}", listener.local_addr().unwrap()),
        quic: gateway.address().to_string(),
        certificates: certificates.hashes().map(|hash| hash.0).to_vec(),
        issued: Millis(1),
    };
    let offer = serde_json::json!({
        "sim": sim.to_string(),
        "server": server.to_string(),
        "quic": announcement.quic,
        "certificates": certificates.hashes().map(|hash| hash.to_string()),
    });
    tokio::spawn(pages(listener, offer.to_string()));
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            let (id, said) = match event {
                GatewayEvent::ClientUp { id, .. } => {
                    let (version, nonce) = (VERSION, [0; 32]);
                    (id, ServerMessage::Challenge(Challenge { version, sim, server, nonce }))
                }
                GatewayEvent::ClientFrame { id, bytes } => match decode_client(&bytes).unwrap() {
                    ClientMessage::Ask { id: number, question } => {
                        let answer = Box::new(known.answer(server, question));
                        (id, ServerMessage::Answer { id: number, answer })
                    }
                    _ => {
                        let welcome = Welcome { height: Height(0), turns_per_second: 20 };
                        (id, ServerMessage::Welcome(welcome))
                    }
                },
                GatewayEvent::ClientDown { .. } => continue,
            };
            let frame = Bytes::from(encode_server(&said));
            // Whoever has left in the meantime needs no answer.
            let _ = gateway.send(id, Delivery::Reliable, frame);
        }
    });
    announcement.sign(&key)
}

/// Answers whatever is asked by HTTP with this text.
async fn pages(listener: TcpListener, text: String) {
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(page(connection, text.clone()));
    }
}

async fn page(connection: TcpStream, text: String) -> std::io::Result<()> {
    let mut connection = BufReader::new(connection);
    let mut line = String::new();
    while connection.read_line(&mut line).await? > 2 {
        line.clear();
    }
    let length = text.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    connection.write_all(format!("{head}{text}").as_bytes()).await?;
    connection.shutdown().await
}

/// Returns an invite that names this address, and all servers as those who vote.
fn invite(sim: SimId, address: &str) -> SignedInvite {
    let voters = (0..SERVERS).map(|n| Validator { key: key(n).public(), power: 1 });
    let validators = ValidatorSet::new(voters.collect(), |_| true).unwrap();
    let header = Header { sim, validators: validators.id(), ..Header::unstated() };
    let (height, round, id) = (header.height, Round(0), header.id());
    let invite = Invite {
        header,
        certificate: Certificate { height, round, header: id, signatures: Vec::new() },
        validators,
        addresses: vec![address.to_owned()],
        grant: Grant::Follow,
        uses: 1,
        expires: Millis(1),
        issuer: key(0).public(),
        nonce: 0,
    };
    invite.sign(&key(0))
}

#[tokio::test]
async fn a_node_that_joins_is_let_in_by_so_many_servers_and_asks_no_other() {
    const { assert!(SERVERS <= VALIDATORS_MAX, "so many can vote") };
    let contact = |n| (key(n).public(), NodeContact::default());
    let genesis = Genesis {
        name: "large".to_owned(),
        validators: (0..SERVERS).map(contact).collect(),
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    };
    let (servers, asked) = (OnceLock::new(), Mutex::default());
    let known = Arc::new(Known { genesis, servers, asked });
    let mut servers = Vec::new();
    for n in 0..SERVERS {
        servers.push(serve(key(n), Arc::clone(&known)).await);
    }
    let invite = invite(known.genesis.id(), &servers[0].announcement.http);
    known.servers.set(servers).expect("nobody set it before");

    let node = Arc::new(SigningKey::from_seed([77; 32]));
    let entered = timeout(GUARD, enter(&invite, node, None, &mut |_| {})).await;
    let (_, hosts) = entered.expect("in time").expect("all but one let it in");

    assert_eq!(hosts.len(), PROVIDERS_MAX);
    let mut asked = known.asked.lock().unwrap().clone();
    assert!(asked.remove(&key(0).public()), "the invite names it");
    let let_in: BTreeSet<PublicKey> = hosts.iter().map(|host| host.key).collect();
    assert_eq!(asked, let_in);
}
