//! A node that says what a test wants, over the sockets of a real one.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use metatopia_protocol::{
    Answer, CLIENT_FRAME_BYTES_MAX, Challenge, ClientMessage, GENESIS_PART_BYTES, Question,
    ServerMessage, VERSION, Welcome, decode_client, encode_server,
};
use metatopia_sim::Genesis;
use metatopia_transport::{
    carrier::ALPN,
    framing::{self, Decoder},
    tls::{self, CertificateHash},
};
use metatopia_types::{Certificate, Height, Sign as _, SimId, Turn, TurnBody};
use quinn::{Endpoint, Incoming, SendStream, VarInt, crypto::rustls::QuicServerConfig};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::{
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    version::TLS13,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::{NodeUrl, certificate, genesis, header, server};

const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// The code by which a gateway that stops closes its sessions.
const STOPS: VarInt = VarInt::from_u32(6);

/// What a node says to a client's message, besides opening sessions and handing out its genesis.
pub(super) type Reply = Box<dyn FnMut(&ClientMessage) -> Vec<ServerMessage> + Send>;

/// What every session of a node knows.
struct Script {
    sim: SimId,
    genesis: Vec<u8>,
    reply: Mutex<Reply>,
}

/// A node that says what a test wants.
pub(super) struct Fake {
    pub(super) url: NodeUrl,
    endpoint: Endpoint,
    tasks: [JoinHandle<()>; 2],
}

impl Fake {
    pub(super) async fn honest(reply: Reply) -> Self {
        Self::start(genesis().id(), reply).await
    }

    pub(super) async fn start(sim: SimId, reply: Reply) -> Self {
        Self::with(sim, genesis(), reply).await
    }

    /// Starts a node that hands out this genesis.
    pub(super) async fn with(sim: SimId, genesis: Genesis, reply: Reply) -> Self {
        let (endpoint, certificate) = endpoint();
        let script = Script { sim, genesis: genesis.encode(), reply: Mutex::new(reply) };
        let offer = offer(sim, endpoint.local_addr().unwrap(), certificate);
        let listener = TcpListener::bind(LOOPBACK).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let tasks = [
            tokio::spawn(sessions(endpoint.clone(), Arc::new(script))),
            tokio::spawn(pages(listener, offer)),
        ];
        Self { url, endpoint, tasks }
    }

    pub(super) async fn stop(self) {
        self.endpoint.close(STOPS, b"the server stops");
        self.endpoint.wait_idle().await;
        for task in self.tasks {
            task.abort();
            let _ended = task.await;
        }
    }
}

/// Listens with a new certificate.
fn endpoint() -> (Endpoint, CertificateHash) {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap();
    let certificate = CertificateParams::new([tls::NAME.to_owned()]).unwrap().self_signed(&key);
    let certificate: CertificateDer<'static> = certificate.unwrap().der().clone();
    let hash = CertificateHash::of(&certificate);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut tls = rustls::ServerConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = Arc::new(QuicServerConfig::try_from(tls).unwrap());
    let config = quinn::ServerConfig::with_crypto(crypto);
    (Endpoint::server(config, LOOPBACK.into()).unwrap(), hash)
}

/// A turn without acts, with its certificate.
fn turn(height: Height) -> (Turn, Certificate) {
    let turn = Turn::of(header(height), TurnBody::default());
    let certificate = certificate(&turn.header, &server());
    (turn, certificate)
}

/// Returns what `/api/session` says.
fn offer(sim: SimId, quic: SocketAddr, certificate: CertificateHash) -> String {
    serde_json::json!({
        "sim": sim.to_string(),
        "server": server().public().to_string(),
        "quic": quic.to_string(),
        "certificates": [certificate.to_string()],
    })
    .to_string()
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
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(text.as_bytes()).await?;
    connection.shutdown().await
}

async fn sessions(endpoint: Endpoint, script: Arc<Script>) {
    while let Some(incoming) = endpoint.accept().await {
        let script = Arc::clone(&script);
        // A session ends with its connection, whoever ended that.
        tokio::spawn(async move { session(incoming, &script).await.ok() });
    }
}

async fn session(
    incoming: Incoming,
    script: &Script,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (mut send, mut recv) = incoming.await?.open_bi().await?;
    say(&mut send, &[challenge(script.sim)]).await?;
    let mut decoder = Decoder::new(CLIENT_FRAME_BYTES_MAX);
    while let Some(chunk) = recv.read_chunk(64 * 1024, true).await? {
        let mut input = &chunk.bytes[..];
        while let Some(frame) = decoder.next(&mut input)? {
            let message = decode_client(&frame).expect("a driver sends frames of the protocol");
            say(&mut send, &script.answer(&message)).await?;
        }
    }
    Ok(())
}

async fn say(send: &mut SendStream, said: &[ServerMessage]) -> Result<(), quinn::WriteError> {
    let mut bytes = Vec::new();
    said.iter().for_each(|message| framing::encode(&encode_server(message), &mut bytes));
    send.write_all(&bytes).await
}

fn challenge(sim: SimId) -> ServerMessage {
    let (version, nonce) = (VERSION, [0; 32]);
    ServerMessage::Challenge(Challenge { version, sim, server: server().public(), nonce })
}

impl Script {
    /// Answers what every node answers alike, and leaves the rest to this node's own reply.
    fn answer(&self, message: &ClientMessage) -> Vec<ServerMessage> {
        let part =
            |n: usize| self.genesis.chunks(GENESIS_PART_BYTES).nth(n).unwrap_or_default().to_vec();
        vec![match message {
            ClientMessage::Hello(_) => {
                ServerMessage::Welcome(Welcome { height: Height(10), turns_per_second: 20 })
            }
            ClientMessage::Ask { id, question: Question::Genesis } => {
                ServerMessage::Answer { id: *id, answer: Box::new(Answer::Genesis(part(0))) }
            }
            ClientMessage::Ask { id, question: Question::GenesisPart { part: n } } => {
                let answer = Box::new(Answer::GenesisPart(part(*n as usize)));
                ServerMessage::Answer { id: *id, answer }
            }
            ClientMessage::Ask { id, question: Question::Turn { height } } => {
                let answer = Box::new(Answer::Turn(Box::new(turn(*height))));
                ServerMessage::Answer { id: *id, answer }
            }
            message => {
                return self.reply.lock().unwrap_or_else(PoisonError::into_inner)(message);
            }
        }]
    }
}
