//! Fetches shelves of the map from the land office, by a client's session.

use std::{error::Error, future::Future, sync::Arc, time::Duration};

use metatopia_client_driver::{ClientDriver, GenesisTrust, NodeUrl, passing_key};
use metatopia_protocol::{Answer, Question};
use metatopia_raynet::TilePoint;
use metatopia_types::SimId;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};

use super::office::OfficeSets;

/// A point whose shelf is wanted, and where the land office lets clients in, as far as is known.
#[derive(Debug, Clone)]
pub struct WantedShelf {
    /// The point that the shelf is about.
    pub point: TilePoint,
    /// Servers of the land office.
    pub office: Vec<NodeUrl>,
}

/// The time that the land office has for one answer.
const ANSWER: Duration = Duration::from_secs(5);

/// The time for which a session stays open with nothing to ask. It takes a client's place.
const IDLE: Duration = Duration::from_secs(3);

/// The time before the land office is tried again, when it was not reached.
const AWAY: Duration = Duration::from_secs(2);

/// The most addresses of the land office that are tried.
const OFFICE_URLS_MAX: usize = 8;

/// Opens sessions with the land office.
pub trait OpenOffice: Send {
    /// A session that is open.
    type Session: OfficeSession;

    /// Opens a session with one of these servers, which are tried in this order.
    fn open(
        &mut self,
        world: SimId,
        urls: Vec<NodeUrl>,
    ) -> impl Future<Output = Option<Self::Session>> + Send;
}

/// A session with a server of the land office.
pub trait OfficeSession: Send {
    /// Asks it. None says that it does not answer.
    fn question(&mut self, question: Question) -> impl Future<Output = Option<Answer>> + Send;

    /// Ends the session.
    fn leave(self) -> impl Future<Output = ()> + Send;
}

/// Opens sessions of clients, with a key that is soon forgotten.
#[derive(Debug, Default)]
pub struct OfficeClients {
    trust: Option<GenesisTrust>,
}

impl OpenOffice for OfficeClients {
    type Session = ClientDriver;

    async fn open(&mut self, world: SimId, urls: Vec<NodeUrl>) -> Option<ClientDriver> {
        let told = |error: &dyn Error| tracing::debug!(%error, "the land office is not reached");
        if self.trust.is_none() {
            let learned = GenesisTrust::learn_from(&urls, Some(world)).await;
            self.trust = learned.inspect_err(|error| told(error)).ok();
        }
        let opened = ClientDriver::open(urls, self.trust.clone()?, passing_key()).await;
        opened.inspect_err(|error| told(error)).ok()
    }
}

impl OfficeSession for ClientDriver {
    async fn question(&mut self, question: Question) -> Option<Answer> {
        let answer = self.ask(question, ANSWER).await;
        let told = |error: &_| tracing::debug!(%error, "the land office does not answer");
        answer.inspect_err(told).ok()
    }

    async fn leave(self) {
        Self::leave(self).await;
    }
}

/// Asks the land office for shelves.
#[derive(Debug)]
pub struct ShelfFetcher<O> {
    offices: O,
    sets: Arc<OfficeSets>,
    /// Servers of the land office that are known from the beginning.
    first: Vec<NodeUrl>,
    wanted: mpsc::Receiver<WantedShelf>,
    found: mpsc::Sender<Vec<u8>>,
}

impl<O: OpenOffice> ShelfFetcher<O> {
    /// Returns a fetcher that has asked nobody yet.
    #[must_use]
    pub fn new(
        (sets, offices): (Arc<OfficeSets>, O),
        first: Vec<NodeUrl>,
        wanted: mpsc::Receiver<WantedShelf>,
        found: mpsc::Sender<Vec<u8>>,
    ) -> Self {
        Self { offices, sets, first, wanted, found }
    }

    /// Fetches until nobody wants anything any more.
    pub async fn run(mut self) {
        while let Some(first) = self.wanted.recv().await {
            let Some(mut office) = self.open(&first.office).await else {
                // What was wanted meanwhile is wanted again, if it still is.
                while self.wanted.try_recv().is_ok() {}
                sleep(AWAY).await;
                continue;
            };
            let mut next = Some(first.point);
            while let Some(point) = next.take() {
                if !self.fetch(&mut office, point).await {
                    // Another server is dialled first next time.
                    let by = 1.min(self.first.len());
                    self.first.rotate_left(by);
                    break;
                }
                let idle = timeout_at(Instant::now() + IDLE, self.wanted.recv()).await;
                next = idle.ok().flatten().map(|wanted| wanted.point);
            }
            office.leave().await;
        }
    }

    /// Opens a session with a server of the land office.
    async fn open(&mut self, told: &[NodeUrl]) -> Option<O::Session> {
        let mut urls = self.first.clone();
        urls.extend(told.iter().filter(|url| !self.first.contains(url)).cloned());
        urls.truncate(OFFICE_URLS_MAX);
        self.offices.open(self.sets.world(), urls).await
    }

    /// Fetches one shelf. Returns whether the session goes on.
    async fn fetch(&self, office: &mut O::Session, point: TilePoint) -> bool {
        let proof = match office.question(Question::Land { point }).await {
            Some(Answer::Land(proof)) => proof,
            Some(_) => return true,
            None => return false,
        };
        while !self.sets.knows(proof.header.validators) {
            let after = self.sets.newest();
            let Some(Answer::Links(links)) = office.question(Question::Links { after }).await
            else {
                return false;
            };
            if let Err(error) = self.sets.follow_answer(links) {
                tracing::warn!(%error, "the validators of the land office are not followed");
                return false;
            }
            // Old links, or none, of a server that names validators which nobody knows would be asked for without
            // end.
            if self.sets.newest() <= after {
                tracing::warn!(
                    "a server of the land office names validators that no link leads to"
                );
                return false;
            }
        }
        self.found.send(proof.encode()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use metatopia_protocol::ValidatorSetLink;
    use metatopia_types::{
        Certificate, Header, Height, LandProof, LeafKey, Round, Sign as _, SigningKey, StateProof,
        Validator, ValidatorSet, Vote, VoteKind, merkle,
    };

    use super::*;
    use crate::overlay::office_of_tests;

    /// What a server answers.
    type Says = fn(&OfficeSets, &Question) -> Option<Answer>;

    /// A land office of which a test plays the servers, and to whom sessions were opened.
    #[derive(Clone)]
    struct PlayedOffice {
        sets: Arc<OfficeSets>,
        servers: Vec<(NodeUrl, Says)>,
        opened: Arc<Mutex<Vec<NodeUrl>>>,
        left: Arc<Mutex<usize>>,
    }

    struct PlayedSession(PlayedOffice, Says);

    impl OpenOffice for PlayedOffice {
        type Session = PlayedSession;

        async fn open(&mut self, _: SimId, urls: Vec<NodeUrl>) -> Option<PlayedSession> {
            let url = urls.first()?.clone();
            let says = self.servers.iter().find(|(server, _)| *server == url)?.1;
            self.opened.lock().unwrap().push(url);
            Some(PlayedSession(self.clone(), says))
        }
    }

    impl OfficeSession for PlayedSession {
        async fn question(&mut self, question: Question) -> Option<Answer> {
            self.1(&self.0.sets, &question)
        }

        async fn leave(self) {
            *self.0.left.lock().unwrap() += 1;
        }
    }

    fn voters(n: u8) -> ValidatorSet {
        let key = SigningKey::from_seed([n; 32]).public();
        ValidatorSet::new(vec![Validator { key, power: 1 }], |_| true).unwrap()
    }

    /// A proof of land of which nothing is right but who is said to have signed it.
    fn proof_of(n: u8, height: u64) -> LandProof {
        let (height, validators) = (Height(height), voters(n).id());
        let header = Header { height, validators, ..Header::unstated() };
        let (round, id) = (Round(0), header.id());
        let certificate = Certificate { height, round, header: id, signatures: Vec::new() };
        let place = merkle::Proof { index: 0, count: 1, path: Vec::new() };
        let shelf = StateProof { key: LeafKey("grants".to_owned()), content: Vec::new(), place };
        LandProof { header, certificate, shelf }
    }

    /// A change of validators at this height, signed by those of the genesis.
    fn change(sets: &OfficeSets, height: u64, next: u8) -> ValidatorSetLink {
        let (height, next) = (Height(height), voters(next));
        let (validators, next_validators) = (voters(3).id(), next.id());
        let sim = sets.world();
        let header = Header { sim, height, validators, next_validators, ..Header::unstated() };
        let signer = SigningKey::from_seed([3; 32]);
        let (round, id, voter) = (Round(0), header.id(), signer.public());
        let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(id), voter };
        let signatures = vec![(voter, vote.sign(sim, &signer).signature)];
        let certificate = Certificate { height, round, header: id, signatures };
        ValidatorSetLink { header, certificate, next }
    }

    /// Fetches shelves about two points, one after the other, of servers `a` and `b` that say this. Returns whom
    /// sessions were opened with, and at which heights the shelves were that came.
    async fn fetched(a: Says, b: Says) -> (Vec<String>, Vec<u64>) {
        let urls = ["a", "b"].map(|n| format!("http://{n}.example:80").parse::<NodeUrl>().unwrap());
        let sets = Arc::new(office_of_tests());
        let servers = urls.iter().cloned().zip([a, b]).collect();
        let (opened, left) = (Arc::default(), Arc::default());
        let office = PlayedOffice { sets: Arc::clone(&sets), servers, opened, left };
        let (want, wanted) = mpsc::channel(4);
        let (found, mut proofs) = mpsc::channel(4);
        for x in [1, 99] {
            let point = TilePoint { x, y: 0 };
            want.send(WantedShelf { point, office: Vec::new() }).await.unwrap();
        }
        drop(want);
        let played = (sets, office.clone());
        ShelfFetcher::new(played, urls.to_vec(), wanted, found).run().await;
        let mut heights = Vec::new();
        while let Some(proof) = proofs.recv().await {
            heights.push(LandProof::decode(&proof).unwrap().header.height.0);
        }
        let opened = office.opened.lock().unwrap();
        assert_eq!(*office.left.lock().unwrap(), opened.len(), "each session is ended");
        let host = |url: &NodeUrl| url.to_string()[7..8].to_owned();
        (opened.iter().map(host).collect(), heights)
    }

    fn good(_: &OfficeSets, question: &Question) -> Option<Answer> {
        matches!(question, Question::Land { .. }).then(|| Answer::Land(Box::new(proof_of(3, 7))))
    }

    fn without_links(_: &OfficeSets, question: &Question) -> Option<Answer> {
        Some(match question {
            Question::Land { .. } => Answer::Land(Box::new(proof_of(9, 8))),
            _ => Answer::Links(Vec::new()),
        })
    }

    fn with_old_links(sets: &OfficeSets, question: &Question) -> Option<Answer> {
        Some(match question {
            Question::Land { .. } => Answer::Land(Box::new(proof_of(9, 8))),
            _ => Answer::Links(vec![change(sets, 5, 4)]),
        })
    }

    fn with_links(sets: &OfficeSets, question: &Question) -> Option<Answer> {
        Some(match question {
            Question::Land { .. } => Answer::Land(Box::new(proof_of(4, 9))),
            _ => Answer::Links(vec![change(sets, 5, 4)]),
        })
    }

    fn silent(_: &OfficeSets, _: &Question) -> Option<Answer> {
        None
    }

    #[tokio::test]
    async fn one_session_fetches_all_that_is_wanted() {
        assert_eq!(fetched(good, silent).await, (vec!["a".to_owned()], vec![7, 7]));
    }

    /// A server that names validators whom nobody knows was asked for links to them without end.
    #[tokio::test]
    async fn a_server_that_names_unknown_validators_is_left_and_another_one_is_dialled_first() {
        let ways = || vec!["a".to_owned(), "b".to_owned()];
        for liar in [without_links as Says, with_old_links, silent] {
            assert_eq!(fetched(liar, good).await, (ways(), vec![7]));
        }
    }

    #[tokio::test]
    async fn changed_validators_are_followed_before_a_proof_is_handed_on() {
        assert_eq!(fetched(with_links, silent).await, (vec!["a".to_owned()], vec![9, 9]));
    }
}
