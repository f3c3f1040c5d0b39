//! A client that says what it likes: sessions over WebSocket, with acts of any keys.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};

use futures::{SinkExt as _, StreamExt as _};
use metatopia_protocol::{
    Answer, ClientMessage, Hello, LoginTerms, Question, ServerMessage, Submission, decode_server,
    encode_client,
};
use metatopia_types::{
    Act, ActId, Blob, Envelope, Height, Lane, Look, Outcome, Pass, PublicKey, Puzzle, Seq,
    Sign as _, SigningKey, SimId, Work,
};
use tokio::{
    net::{TcpSocket, TcpStream},
    time::{Instant, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _, http::HeaderValue},
};

/// Turns in a second.
const TURNS: u64 = 20;

/// Turns for which an act is valid, from when it is signed.
const VALID: u64 = 600;

/// The longest wait for an answer. What is measured has bounds of its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The address from which most attacks come.
pub(crate) const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66));

/// The address of honest people.
pub(crate) const HONEST: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1));

/// Returns a key that nobody had before.
pub(crate) fn fresh_key() -> SigningKey {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system gives random bytes");
    SigningKey::from_seed(seed)
}

/// Somebody with a key, and the acts that it signed so far.
#[derive(Debug)]
pub(crate) struct Author {
    pub(crate) key: SigningKey,
    next: Seq,
}

impl Author {
    pub(crate) fn new(key: SigningKey) -> Self {
        Self { key, next: Seq(1) }
    }

    /// Signs an act in its one lane.
    fn sign(&mut self, sim: SimId, height: Height, act: Act, blobs: Vec<Blob>) -> Submission {
        let envelope = Envelope {
            sim,
            author: self.key.public(),
            lane: Lane(1),
            seq: self.next,
            last_valid: height.plus(VALID),
            act,
        };
        self.next = Seq(self.next.0 + 1);
        Submission { act: envelope.sign(&self.key), blobs }
    }
}

/// Returns the act by which a key comes into an open sim for the first time, under a name of its own.
pub(crate) fn first_login(name: &str, key: &PublicKey) -> Act {
    Act::login(own_name(name, key), Look::default())
}

/// Returns a name that no other key has.
fn own_name(name: &str, key: &PublicKey) -> String {
    format!("{name} {}", &key.to_string()[..12])
}

/// Returns the act by which a key comes in where these are the terms. **The one place where work is
/// done**: as much as was asked for, and on average `times` as much in all. It takes a processor.
pub(crate) fn worked_login(
    name: &str,
    key: &PublicKey,
    sim: SimId,
    terms: &LoginTerms,
    times: u64,
) -> Act {
    let LoginTerms::Work { height, header, tries } = *terms else { return first_login(name, key) };
    let puzzle = Puzzle::new(sim, key, &header, tries);
    let solves = |from: u64| (from..).find(|nonce| puzzle.is_solved_by(*nonce));
    let nonce = solves(0).expect("one number of so many solves it");
    // What is asked for more is done, whatever comes of it.
    let more = (nonce + 1..tries.saturating_mul(times)).filter(|nonce| puzzle.is_solved_by(*nonce));
    std::hint::black_box(more.count());
    let pass = Some(Pass::Work(Work { height, nonce }));
    Act::Login { name: own_name(name, key), look: Look::default(), bot: false, pass }
}

/// An open session.
#[derive(Debug)]
pub(crate) struct AbuseClient {
    socket: WebSocketStream<TcpStream>,
    sim: SimId,
    height: Height,
    since: Instant,
    asked: u32,
}

impl AbuseClient {
    /// Opens a session for this key, from an address of this machine.
    pub(crate) async fn enter(
        to: SocketAddr,
        from: IpAddr,
        key: &SigningKey,
    ) -> Result<Self, String> {
        let opened = timeout(PATIENCE, Self::open(to, from, key)).await;
        opened.map_err(|_| format!("no session at {to} within {} s", PATIENCE.as_secs()))?
    }

    async fn open(to: SocketAddr, from: IpAddr, key: &SigningKey) -> Result<Self, String> {
        let mut socket = upgrade(to, from).await?;
        let mut sim = None;
        loop {
            match receive(&mut socket).await? {
                ServerMessage::Challenge(challenge) => {
                    sim = Some(challenge.sim);
                    let hello = ClientMessage::Hello(Hello::new(&challenge, key));
                    let frame = Message::binary(encode_client(&hello));
                    socket.send(frame).await.map_err(|error| error.to_string())?;
                }
                ServerMessage::Welcome(welcome) => {
                    let (height, since) = (welcome.height, Instant::now());
                    let sim = sim.ok_or("a welcome before the challenge")?;
                    return Ok(Self { socket, sim, height, since, asked: 0 });
                }
                ServerMessage::Goodbye(why) => return Err(why.to_string()),
                _ => {}
            }
        }
    }

    /// Returns about the height under way.
    pub(crate) fn height(&self) -> Height {
        let ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(0);
        self.height.plus(ms * TURNS / 1_000)
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &ClientMessage) -> Result<(), String> {
        let frame = Message::binary(encode_client(message));
        self.socket.send(frame).await.map_err(|error| error.to_string())
    }

    /// Hands in an act.
    pub(crate) async fn submit(
        &mut self,
        author: &mut Author,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<ActId, String> {
        let submission = author.sign(self.sim, self.height(), act, blobs);
        let id = submission.act.id();
        self.send(&ClientMessage::Submit(Box::new(submission))).await?;
        Ok(id)
    }

    /// Waits for the next message.
    pub(crate) async fn receive(&mut self) -> Result<ServerMessage, String> {
        let received = timeout(PATIENCE, receive(&mut self.socket)).await;
        received.map_err(|_| format!("nothing within {} s", PATIENCE.as_secs()))?
    }

    /// Hands in an act, and waits for what becomes of it.
    pub(crate) async fn perform(
        &mut self,
        author: &mut Author,
        act: Act,
        blobs: Vec<Blob>,
    ) -> Result<Outcome, String> {
        let wanted = self.submit(author, act, blobs).await?;
        loop {
            match self.receive().await? {
                ServerMessage::Outcome { act, outcome, .. } if act == wanted => return Ok(outcome),
                ServerMessage::Refused { act, why } if act == wanted => return Err(why.to_string()),
                ServerMessage::Goodbye(why) => return Err(why.to_string()),
                _ => {}
            }
        }
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, question: Question) -> Result<Answer, String> {
        self.asked += 1;
        let wanted = self.asked;
        self.send(&ClientMessage::Ask { id: wanted, question }).await?;
        loop {
            match self.receive().await? {
                ServerMessage::Answer { id, answer } if id == wanted => return Ok(*answer),
                ServerMessage::Goodbye(why) => return Err(why.to_string()),
                _ => {}
            }
        }
    }

    /// Asks what a login of this key takes.
    pub(crate) async fn terms(&mut self, key: PublicKey) -> Result<LoginTerms, String> {
        match self.ask(Question::LoginTerms { key }).await? {
            Answer::LoginTerms(terms) => Ok(terms),
            other => Err(format!("{other:?} where terms belong")),
        }
    }

    /// Returns the sim that it is of.
    pub(crate) fn sim(&self) -> SimId {
        self.sim
    }

    /// Returns the connection below the session.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.socket.into_inner()
    }
}

/// Connects from one of this machine's addresses.
pub(crate) async fn connect(to: SocketAddr, from: IpAddr) -> Result<TcpStream, String> {
    let failed = |error: std::io::Error| format!("{from} to {to}: {error}");
    let socket = TcpSocket::new_v4().map_err(failed)?;
    socket.bind((from, 0).into()).map_err(failed)?;
    socket.connect(to).await.map_err(failed)
}

/// Opens a connection for sessions over WebSocket.
pub(crate) async fn upgrade(
    to: SocketAddr,
    from: IpAddr,
) -> Result<WebSocketStream<TcpStream>, String> {
    let stream = connect(to, from).await?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    let url = format!("ws://{to}/ws");
    let mut request = url.into_client_request().map_err(|error| error.to_string())?;
    let protocol = HeaderValue::from_static(metatopia_transport::gateway::WEBSOCKET_PROTOCOL);
    request.headers_mut().insert("sec-websocket-protocol", protocol);
    let (socket, _) = client_async(request, stream).await.map_err(|error| error.to_string())?;
    Ok(socket)
}

/// Waits for the next message of a connection.
pub(crate) async fn receive(
    socket: &mut WebSocketStream<TcpStream>,
) -> Result<ServerMessage, String> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Binary(frame))) => {
                return decode_server(&frame).map_err(|error| error.to_string());
            }
            Some(Ok(Message::Close(why))) => {
                let why = why.map(|why| why.reason.to_string()).unwrap_or_default();
                return Err(format!("the server closed the session: {why}"));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("the session ended".to_owned()),
        }
    }
}
