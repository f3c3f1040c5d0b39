//! A lying node keeps an act that it was handed, and hands it in much later.
//!
//! The node is honest in all but two things: it says that the sim is far ahead, and it keeps the act. A
//! client that signs for the height that a node claims signs an act that the node can have carried out
//! hours later. The client here is the one that the page, the text client and the bots run.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use futures::SinkExt as _;
use metatopia_client::{Output, Session, SessionEvent};
use metatopia_client_driver::{GenesisTrust, NodeUrl};
use metatopia_protocol::{
    ClientMessage, Question, ServerMessage, Submission, decode_client, encode_client,
};
use metatopia_types::{Height, Lane, PublicKey, Sign as _};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use super::{Play, on_servers};
use crate::{
    client::{AbuseClient, Author, HONEST, PATIENCE, first_login, fresh_key, receive, upgrade},
    cluster::{PlazaCluster, TrustedSources},
    finding::Finding,
};

/// The node says that the sim is so many turns ahead of where it is.
const AHEAD: u64 = 3_000;

/// An act may be carried out at most so many turns after it was signed.
const BOUND: f64 = 600.0;

/// Between two looks at the height that an honest server has reached.
const LOOK: Duration = Duration::from_secs(1);

pub(super) fn play(play: &Play) -> Result<Vec<Finding>, String> {
    on_servers(play, TrustedSources::Nobody, async |cluster| keep(cluster, play.short).await)
}

async fn keep(cluster: &PlazaCluster, short: bool) -> Result<Vec<Finding>, String> {
    let (liar, honest) = (&cluster.servers[0], cluster.servers[1].address()?);
    let url: NodeUrl = liar.url().parse().map_err(|error| format!("{error}"))?;
    let trust = GenesisTrust::learn_from(&[url], None).await.map_err(|error| error.to_string())?;
    let key = fresh_key();
    let author = key.public();
    let session = Session::new(Arc::new(key), trust.light(), Lane(7));
    let kept = timeout(PATIENCE, signed_at_a_liar(liar.address()?, session, author)).await;
    let kept = kept.map_err(|_| "the client signed nothing".to_owned())??;
    let last_valid = kept.act.envelope.last_valid;

    // Where the liar really is: another server may be a turn behind the header that the client verified.
    let now = reached(liar.address()?).await?;
    let value = last_valid.0.saturating_sub(now.0);
    let finding = Finding::at_most("delayed_act", value as f64, BOUND, "turns");
    if short {
        return Ok(vec![finding.noted("turns for which a kept act stays valid")]);
    }
    while reached(honest).await? <= last_valid {
        sleep(LOOK).await;
    }
    let later = handed_in(honest, kept).await?;
    Ok(vec![finding.noted(format!("handed in afterwards: {later}")).unless(later == "taken")])
}

/// Returns the height that a server has reached.
async fn reached(server: SocketAddr) -> Result<Height, String> {
    Ok(AbuseClient::enter(server, HONEST, &fresh_key()).await?.height())
}

/// Opens a session through the liar, lets it log in, and returns the act that the liar keeps.
async fn signed_at_a_liar(
    server: SocketAddr,
    mut session: Session,
    author: PublicKey,
) -> Result<Submission, String> {
    let (mut socket, start) = (upgrade(server, HONEST).await?, Instant::now());
    loop {
        let said = receive(&mut socket).await?;
        session.hear(start.elapsed(), Ok(exaggerated(said)));
        while let Some(output) = session.poll() {
            match output {
                Output::Send(frame) => {
                    if let Some(kept) = passed_on(&mut socket, frame).await? {
                        return Ok(kept);
                    }
                }
                Output::Event(SessionEvent::Open { .. }) => {
                    let login = first_login("trusting", &author);
                    let submitted = session.submit(start.elapsed(), login, Vec::new());
                    submitted.map_err(|error| error.to_string())?;
                }
                Output::Event(SessionEvent::Distrusted(why)) => return Err(why.to_string()),
                Output::Event(_) => {}
            }
        }
    }
}

/// Returns what the liar makes of a server's message.
fn exaggerated(said: ServerMessage) -> ServerMessage {
    match said {
        ServerMessage::Welcome(mut welcome) => {
            welcome.height = welcome.height.plus(AHEAD);
            ServerMessage::Welcome(welcome)
        }
        other => other,
    }
}

/// Passes a frame of the client on, or keeps the act that it hands in. The client asks for the turn of the
/// height that the liar named, to verify it. There is none, so the liar passes on the newest that there is:
/// else the client would sign nothing.
async fn passed_on(
    socket: &mut WebSocketStream<TcpStream>,
    frame: Vec<u8>,
) -> Result<Option<Submission>, String> {
    match decode_client(&frame).map_err(|error| error.to_string())? {
        ClientMessage::Submit(kept) => Ok(Some(*kept)),
        ClientMessage::Ask { id, question: Question::Turn { height } } => {
            let height = height.minus(AHEAD).ok_or("the client asks for another turn")?;
            let asked = ClientMessage::Ask { id, question: Question::Turn { height } };
            send(socket, encode_client(&asked)).await.map(|()| None)
        }
        _ => send(socket, frame).await.map(|()| None),
    }
}

async fn send(socket: &mut WebSocketStream<TcpStream>, frame: Vec<u8>) -> Result<(), String> {
    socket.send(Message::binary(frame)).await.map_err(|error| error.to_string())
}

/// Hands the kept act in at an honest server, as anybody can, and returns what becomes of it.
async fn handed_in(server: SocketAddr, kept: Submission) -> Result<String, String> {
    let author = Author::new(fresh_key());
    let mut client = AbuseClient::enter(server, HONEST, &author.key).await?;
    let wanted = kept.act.id();
    client.send(&ClientMessage::Submit(Box::new(kept))).await?;
    loop {
        match client.receive().await? {
            ServerMessage::Receipt { act, .. } | ServerMessage::Outcome { act, .. }
                if act == wanted =>
            {
                return Ok("taken".to_owned());
            }
            ServerMessage::Refused { act, why } if act == wanted => return Ok(why.to_string()),
            ServerMessage::Goodbye(why) => return Err(why.to_string()),
            _ => {}
        }
    }
}
