//! Couriers: for each border, a task asks the neighbour's servers what they say, as a client does.
//!
//! Nothing is believed here. The replica checks a dispatch against its own state before it keeps it, and
//! every server does so again when it applies the turn.

pub mod address_book;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use metatopia_client_driver::{AskError, AskingSession, NodeEndpoint, NodeUrl, passing_key};
use metatopia_protocol::{
    Answer, DISPATCH_WAIT_MAX_MS, DispatchAnswer, DispatchQuestion, Question, SignedAnnouncement,
};
use metatopia_replica::BorderWatch;
use metatopia_types::{Digest, Ed25519, Height, SimId, limits::VALIDATORS_MAX};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use self::address_book::AddressBook;

/// News of couriers that wait for the loop of the server. A courier waits while there are more.
pub const COURIER_NEWS_MAX: usize = 32;

/// The time that a question stands while somebody is near the border, in milliseconds.
const NEAR_MS: u32 = 1_000;

/// The time that a neighbour has for an answer, after its question has stood for long enough.
const SLACK: Duration = Duration::from_secs(3);

/// The time between two answers of a neighbour: a turn. However much it has to say, it is asked no faster.
const BETWEEN: Duration = Duration::from_millis(50);

/// The time before nodes are tried again, when all were tried once: each time twice as long, up to
/// [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_secs(1);

/// The longest such time.
const PAUSE_MAX: Duration = Duration::from_secs(8);

/// The time between two questions to one node where the neighbour's servers are: they move seldom.
const SERVERS_AGAIN: Duration = Duration::from_secs(600);

/// What a courier brings.
#[derive(Debug)]
pub enum CourierNews {
    /// A dispatch, as it came.
    Dispatch {
        /// The neighbour that was asked.
        neighbour: SimId,
        /// The encoded dispatch.
        dispatch: Vec<u8>,
    },
    /// Where a neighbour's nodes are.
    Nodes {
        /// The neighbour whose nodes these are.
        neighbour: SimId,
        /// The URLs of its nodes, those that answer first.
        nodes: Vec<String>,
    },
}

/// The couriers of one server.
#[derive(Debug)]
pub struct Couriers {
    /// Tells the couriers how the borders stand.
    pub borders: watch::Sender<Vec<BorderWatch>>,
    /// Receives what the couriers bring.
    pub news: mpsc::Receiver<CourierNews>,
    _task: AbortOnDropHandle<()>,
}

impl Couriers {
    /// Starts the couriers of a server of this sim. There is one for each border, as soon as the loop of the
    /// server tells of borders.
    #[must_use]
    pub fn start(own: SimId, book: AddressBook) -> Self {
        let (borders, watched) = watch::channel(Vec::new());
        let (brought, news) = news_channel();
        let task = AbortOnDropHandle::new(tokio::spawn(attend(own, book, watched, brought)));
        Self { borders, news, _task: task }
    }
}

fn news_channel() -> (mpsc::Sender<CourierNews>, mpsc::Receiver<CourierNews>) {
    mpsc::channel(COURIER_NEWS_MAX)
}

/// Keeps a courier for each border.
async fn attend(
    own: SimId,
    book: AddressBook,
    mut watched: watch::Receiver<Vec<BorderWatch>>,
    brought: mpsc::Sender<CourierNews>,
) {
    let mut couriers: BTreeMap<SimId, AbortOnDropHandle<()>> = BTreeMap::new();
    loop {
        let neighbours: BTreeSet<SimId> =
            watched.borrow_and_update().iter().map(|border| border.neighbour).collect();
        couriers.retain(|neighbour, _| neighbours.contains(neighbour));
        for neighbour in neighbours {
            couriers.entry(neighbour).or_insert_with(|| {
                let courier = BorderCourier {
                    own,
                    neighbour,
                    book: book.clone(),
                    watched: watched.clone(),
                    brought: brought.clone(),
                    told: Vec::new(),
                };
                AbortOnDropHandle::new(tokio::spawn(courier.run()))
            });
        }
        if watched.changed().await.is_err() {
            return;
        }
    }
}

/// The courier of one border.
struct BorderCourier {
    own: SimId,
    neighbour: SimId,
    book: AddressBook,
    watched: watch::Receiver<Vec<BorderWatch>>,
    brought: mpsc::Sender<CourierNews>,
    /// The nodes that the replica was told of last.
    told: Vec<String>,
}

/// The time after which a node is left that answers, while the own sim takes nothing in of what it brings: some
/// five words of a neighbour, or two while nobody is near. A node that is cut off from its own sim brings the
/// same state for ever, and so does one that lies.
const STALE_NEAR: Duration = Duration::from_secs(5);
const STALE: Duration = Duration::from_secs(25);

/// Why a courier goes on with another node.
#[derive(Debug, thiserror::Error)]
enum CourierError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("it has nothing to say to this sim: has it opened the border, too?")]
    NothingSaid,
    #[error("it said something, and then {0}")]
    Broken(Box<Self>),
    #[error("what it says is no news to this sim")]
    Stale,
    #[error("the server here has stopped")]
    Stopped,
}

impl BorderCourier {
    /// Asks one node after the other, without end. A node that answers is asked on.
    async fn run(mut self) {
        let (mut complaint, mut pause) = (None, PAUSE);
        loop {
            let nodes = self.book.nodes(self.neighbour).await;
            if nodes.is_empty() {
                self.complain(&mut complaint, "no node of this neighbour is known".to_owned());
            }
            self.tell_nodes(&nodes).await;
            for url in nodes {
                match self.ask_on(&url, &mut complaint).await {
                    CourierError::Stopped => return,
                    CourierError::Broken(why) => {
                        pause = PAUSE;
                        self.complain(&mut complaint, format!("{url}: {why}"));
                    }
                    why => self.complain(&mut complaint, format!("{url}: {why}")),
                }
            }
            sleep(pause).await;
            pause = (2 * pause).min(PAUSE_MAX);
        }
    }

    /// Logs why nothing is heard, once for each reason.
    fn complain(&self, last: &mut Option<String>, why: String) {
        if last.as_ref() != Some(&why) {
            tracing::warn!(neighbour = %self.neighbour, why, "nothing is heard of a neighbour");
            *last = Some(why);
        }
    }

    /// Tells the replica where the neighbour's nodes are, for clients that walk over the border.
    async fn tell_nodes(&mut self, nodes: &[NodeUrl]) {
        let nodes: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        if nodes != self.told {
            self.told.clone_from(&nodes);
            let news = CourierNews::Nodes { neighbour: self.neighbour, nodes };
            // The loop of a server that stops needs no news.
            let _ = self.brought.send(news).await;
        }
    }

    /// Asks one node as long as it answers. Returns why it does no more.
    async fn ask_on(&mut self, url: &NodeUrl, complaint: &mut Option<String>) -> CourierError {
        let mut session = match self.open(url).await {
            Ok(session) => session,
            Err(error) => return error.into(),
        };
        let Some(border) = self.border() else { return CourierError::Stopped };
        let (mut had, mut grown) = (None, (Height(0), Instant::now()));
        let (first, mut servers_at) = (border.reached, Instant::now());
        loop {
            let began = Instant::now();
            // What proves nothing of itself is asked of a node that said something.
            if had.is_some() && servers_at <= began {
                servers_at = began + SERVERS_AGAIN;
                if let Err(error) = self.ask_servers(&mut session).await {
                    return CourierError::Broken(Box::new(error.into()));
                }
            }
            match self.ask_once(&mut session, had).await {
                Ok(Some(DispatchAnswer { news, dispatch })) => {
                    if complaint.take().is_some() {
                        tracing::info!(neighbour = %self.neighbour, %url, "a neighbour is heard");
                    }
                    let is_old = had == Some(news);
                    had = Some(news);
                    let news = CourierNews::Dispatch { neighbour: self.neighbour, dispatch };
                    if self.brought.send(news).await.is_err() {
                        return CourierError::Stopped;
                    }
                    // Where as many questions stand as may, a node answers at once.
                    if is_old && began.elapsed() < BETWEEN {
                        sleep(PAUSE).await;
                    }
                }
                Ok(None) => {}
                Err(CourierError::Stopped) => return CourierError::Stopped,
                Err(error) if had.is_some() => return CourierError::Broken(Box::new(error)),
                Err(error) => return error,
            }
            let Some(border) = self.border() else { return CourierError::Stopped };
            if is_stale(&mut grown, &border, Instant::now()) {
                return gone_stale(border.reached > first);
            }
            sleep(BETWEEN.saturating_sub(began.elapsed())).await;
        }
    }

    /// Asks where the neighbour's servers are, and keeps what they announced.
    async fn ask_servers(&self, session: &mut AskingSession) -> Result<(), AskError> {
        // A busy node is asked again later.
        if let Answer::Servers(signed) = session.ask(Question::Servers, SLACK).await?
            && let Some(border) = self.border()
        {
            let nodes = announced(&signed, &border);
            if !nodes.is_empty() {
                self.book.hear(self.neighbour, nodes);
            }
        }
        Ok(())
    }

    async fn open(&self, url: &NodeUrl) -> Result<AskingSession, AskError> {
        let endpoint = NodeEndpoint::ask(url, Some(self.neighbour)).await?;
        AskingSession::open(&endpoint, passing_key()).await
    }

    /// Asks for one dispatch. Returns none where the question was given up, because it has to be put anew:
    /// somebody has come near the border.
    async fn ask_once(
        &mut self,
        session: &mut AskingSession,
        had: Option<Digest>,
    ) -> Result<Option<DispatchAnswer>, CourierError> {
        let border = self.border().ok_or(CourierError::Stopped)?;
        let wait = if border.is_near { NEAR_MS } else { DISPATCH_WAIT_MAX_MS };
        let BorderWatch { followed, judged, .. } = border;
        let asked = DispatchQuestion { neighbour: self.own, followed, judged, had, wait };
        let asked = session.put(Question::Dispatch(asked)).await?;
        let patience = Duration::from_millis(wait.into()) + SLACK;
        let answer = async {
            loop {
                let (id, answer) = session.next().await?;
                if id == asked {
                    return Ok::<_, AskError>(answer);
                }
            }
        };
        tokio::select! {
            answer = timeout(patience, answer) => {
                match answer.map_err(|_| AskError::Silent(patience))?? {
                    Answer::Dispatch(answer) => Ok(Some(answer)),
                    // A node that is busy for a moment is asked again, and one that has nothing is left.
                    Answer::Busy => { sleep(PAUSE).await; Ok(None) }
                    _ => Err(CourierError::NothingSaid),
                }
            }
            () = came_near(&mut self.watched, self.neighbour), if !border.is_near => Ok(None),
        }
    }

    /// Returns how the border stands, or none if there is no such border any more.
    fn border(&self) -> Option<BorderWatch> {
        let borders = self.watched.borrow();
        borders.iter().find(|border| border.neighbour == self.neighbour).cloned()
    }
}

/// Returns where servers of a neighbour are, by announcements that those signed who vote there as far as the own sim
/// follows them.
fn announced(signed: &[SignedAnnouncement], border: &BorderWatch) -> Vec<NodeUrl> {
    let is_of_server = |signed: &&SignedAnnouncement| {
        let announcement = &signed.announcement;
        announcement.sim == border.neighbour && border.validators.contains(&announcement.server)
    };
    // Whoever repeats one announcement has it checked no more often than all that there may be.
    let of_servers = signed.iter().filter(is_of_server).take(VALIDATORS_MAX);
    let proved = of_servers.filter(|signed| signed.verify(&Ed25519));
    proved.filter_map(|signed| signed.announcement.http.parse().ok()).collect()
}

/// Says whether the own sim has taken in nothing of a neighbour for too long. `grown` is what it had taken in
/// when that grew last.
fn is_stale(grown: &mut (Height, Instant), border: &BorderWatch, now: Instant) -> bool {
    if border.reached > grown.0 {
        *grown = (border.reached, now);
    }
    now.duration_since(grown.1) > if border.is_near { STALE_NEAR } else { STALE }
}

/// Returns why a stale node is left. Where the own sim had taken in something of it, the own sim may have stood still,
/// and the node is asked again soon: it may be the only one that the neighbour has.
fn gone_stale(had_grown: bool) -> CourierError {
    if had_grown {
        CourierError::Broken(Box::new(CourierError::Stale))
    } else {
        CourierError::Stale
    }
}

/// Waits until somebody is near a border. Returns as well when there is no such border any more.
async fn came_near(watched: &mut watch::Receiver<Vec<BorderWatch>>, neighbour: SimId) {
    let is_it = |borders: &Vec<BorderWatch>| {
        let border = borders.iter().find(|border| border.neighbour == neighbour);
        border.is_none_or(|border| border.is_near)
    };
    // A server that stops ends its couriers.
    let _ = watched.wait_for(is_it).await;
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::EndpointAnnouncement;
    use metatopia_types::{Millis, Sign as _, SigningKey};

    use super::*;

    fn watch_of(n: u8, is_near: bool) -> BorderWatch {
        let neighbour = SimId(Digest([n; 32]));
        BorderWatch {
            neighbour,
            followed: Height(0),
            validators: Vec::new(),
            judged: 0,
            reached: Height(0),
            is_near,
        }
    }

    /// The server of a neighbour was cut off from the others, and answered with its last state for ever: the
    /// courier stayed with it, and the border was a wall.
    #[test]
    fn a_node_that_brings_nothing_new_is_left_sooner_where_somebody_is_near() {
        let began = Instant::now();
        let mut grown = (Height(0), began);
        let mut at = |reached: u64, is_near, seconds| {
            let border = BorderWatch { reached: Height(reached), ..watch_of(1, is_near) };
            is_stale(&mut grown, &border, began + Duration::from_secs(seconds))
        };
        assert!(!at(7, true, 4) && !at(8, true, 8) && !at(8, true, 13));
        assert!(at(8, true, 14) && !at(8, false, 33) && at(8, false, 34));
        assert!(!at(9, true, 34), "what grows is no longer stale");
    }

    /// On a busy machine a sim stood still for some seconds now and then. Its courier left the only node of the
    /// neighbour each time, paused for twice as long as the last time, and people were held at the line.
    #[test]
    fn a_node_that_brought_something_new_before_it_is_stale_is_asked_again_soon() {
        assert!(matches!(gone_stale(true), CourierError::Broken(_)));
        assert!(matches!(gone_stale(false), CourierError::Stale));
    }

    #[test]
    fn a_neighbours_servers_are_where_those_announce_whom_the_own_sim_follows() {
        let keys: Vec<SigningKey> = (1..=3).map(|n| SigningKey::from_seed([n; 32])).collect();
        let announcement = |n: usize, sim: u8| EndpointAnnouncement {
            sim: SimId(Digest([sim; 32])),
            server: keys[n].public(),
            http: format!("http://192.0.2.{n}:8080"),
            quic: String::new(),
            certificates: Vec::new(),
            issued: Millis(1),
        };
        let validators = vec![keys[0].public(), keys[1].public()];
        let border = BorderWatch { validators, ..watch_of(1, true) };
        let forged = announcement(1, 1).sign(&keys[2]);
        let all = [
            announcement(0, 1).sign(&keys[0]),
            announcement(1, 2).sign(&keys[1]),
            announcement(2, 1).sign(&keys[2]),
            forged,
        ];
        let found: Vec<String> = announced(&all, &border).iter().map(NodeUrl::to_string).collect();
        assert_eq!(found, ["http://192.0.2.0:8080/"]);
    }

    #[tokio::test]
    async fn a_question_is_put_anew_when_somebody_comes_near_its_own_border() {
        let (borders, mut watched) = watch::channel(vec![watch_of(1, false), watch_of(2, false)]);
        let neighbour = watch_of(1, false).neighbour;
        let coming = tokio::spawn(async move { came_near(&mut watched, neighbour).await });
        tokio::task::yield_now().await;
        borders.send_replace(vec![watch_of(1, false), watch_of(2, true)]);
        tokio::task::yield_now().await;
        assert!(!coming.is_finished(), "it was at another border");
        borders.send_replace(vec![watch_of(1, true), watch_of(2, true)]);
        coming.await.expect("it ends");
    }

    #[test]
    fn couriers_wait_while_so_much_news_is_not_looked_at() {
        let (brought, mut news) = news_channel();
        let nodes = || CourierNews::Nodes { neighbour: watch_of(1, true).neighbour, nodes: vec![] };
        for _ in 0..COURIER_NEWS_MAX {
            brought.try_send(nodes()).expect("there is room");
        }
        assert!(brought.try_send(nodes()).is_err());
        assert!(news.try_recv().is_ok());
        brought.try_send(nodes()).expect("there is room again");
    }

    #[tokio::test]
    async fn no_neighbour_is_asked_for_a_border_that_is_gone() {
        let (_borders, mut watched) = watch::channel(vec![watch_of(2, false)]);
        came_near(&mut watched, watch_of(1, false).neighbour).await;
    }
}
