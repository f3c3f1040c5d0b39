//! A driver against nodes that are not what they should be. The time-out only keeps a broken test
//! from hanging.

mod fake_node;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_protocol::{
    ChatMessage, ClientMessage, LoginTerms, ReceiptAnswer, SERVER_FRAME_BYTES_MAX, ServerMessage,
    SubmitRefusal,
};
use metatopia_scenarios::plaza;
use metatopia_sim::{ENGINE, Genesis};
use metatopia_types::{
    Certificate, Digest, Header, HeaderId, Height, Millis, NodeContact, ObjectId, Outcome, Pass,
    Receipt, Round, SignedEnvelope, SigningKey, SimId, Turn, TurnBody, ValidatorsId, merkle,
};

use super::*;
use fake_node::{Fake, Reply};

const GUARD: Duration = Duration::from_secs(30);

fn server() -> SigningKey {
    SigningKey::from_seed([9; 32])
}

fn genesis() -> Genesis {
    let validators = BTreeMap::from([(server().public(), NodeContact::default())]);
    plaza::genesis(validators, BTreeSet::new())
}

fn player() -> Arc<dyn Sign> {
    Arc::new(SigningKey::from_seed([1; 32]))
}

fn silent() -> Reply {
    Box::new(|_| Vec::new())
}

/// The header of a height that the server built, without what it states of a body.
fn header(height: Height) -> Header {
    let validators: ValidatorsId =
        GenesisTrust::of(genesis()).unwrap().light().set(Height(1)).unwrap().id();
    Header {
        sim: genesis().id(),
        engine: ENGINE,
        height,
        proposer: server().public(),
        time: Millis(1),
        validators,
        next_validators: validators,
        ..Header::unstated()
    }
}

/// The signature of one server for a header.
fn certificate(header: &Header, signer: &SigningKey) -> Certificate {
    let (height, round, id) = (header.height, Round(0), header.id());
    let mut certificate = Certificate { height, round, header: id, signatures: Vec::new() };
    let vote = certificate.vote(signer.public()).sign_bytes(header.sim);
    certificate.signatures.push((signer.public(), signer.sign(&vote)));
    certificate
}

/// The receipt of an act alone in a turn, signed by one server.
fn receipt(act: &SignedEnvelope, signer: &SigningKey) -> Receipt {
    let body = TurnBody::new(vec![act.clone()], Vec::new()).unwrap();
    let header = Header { proposer: signer.public(), ..header(Height(11)) };
    let Turn { header, body } = Turn::of(header, body);
    let certificate = certificate(&header, signer);
    let place = merkle::Proof::of(&body.act_leaves(), 0).unwrap();
    Receipt { header, certificate, place }
}

/// Answers every act with a receipt of this signer.
fn receipting(signer: SigningKey) -> Reply {
    Box::new(move |message| match message {
        ClientMessage::Submit(submission) => {
            let receipt = Box::new(receipt(&submission.act, &signer));
            vec![ServerMessage::Receipt { act: submission.act.id(), receipt }]
        }
        _ => Vec::new(),
    })
}

async fn open(nodes: &[&Fake]) -> ClientDriver {
    let nodes = nodes.iter().map(|node| node.url.clone()).collect();
    let trust = GenesisTrust::of(genesis()).unwrap();
    ClientDriver::open(nodes, trust, player()).await.unwrap()
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(GUARD, future).await.expect("it happens in time")
}

#[tokio::test]
async fn a_genesis_that_hashes_to_the_sim_is_learned() {
    let node = Fake::honest(silent()).await;
    let endpoint = NodeEndpoint::ask(&node.url, None).await.unwrap();
    let trust = within(GenesisTrust::learn(&endpoint)).await.unwrap();
    assert_eq!((trust.sim, &*trust.genesis), (genesis().id(), &genesis()));
}

/// The genesis of a world of 10,000 objects was longer than a frame, and nobody could enter it.
#[tokio::test]
async fn a_genesis_that_is_longer_than_a_frame_is_learned_in_parts() {
    let mut long = genesis();
    let thing = long.objects[0].clone();
    long.parameters.objects_max = 16_384;
    long.objects.resize(10_000, thing);
    assert!(long.encode().len() > SERVER_FRAME_BYTES_MAX);
    let node = Fake::with(long.id(), long.clone(), silent()).await;
    let endpoint = NodeEndpoint::ask(&node.url, None).await.unwrap();
    let trust = within(GenesisTrust::learn(&endpoint)).await.unwrap();
    assert_eq!((trust.sim, &*trust.genesis), (long.id(), &long));
}

#[tokio::test]
async fn a_genesis_of_another_sim_is_not_believed() {
    let claimed = SimId(Digest([7; 32]));
    let node = Fake::start(claimed, silent()).await;
    let endpoint = NodeEndpoint::ask(&node.url, Some(claimed)).await.unwrap();
    let error = within(GenesisTrust::learn(&endpoint)).await.unwrap_err();
    let LearnError::OtherGenesis { expected, found } = error else { panic!("{error}") };
    assert_eq!((expected, found), (claimed, genesis().id()));
}

#[tokio::test]
async fn a_node_of_another_sim_than_the_pinned_one_is_named() {
    let node = Fake::honest(silent()).await;
    let pin = SimId(Digest([7; 32]));
    let error = NodeEndpoint::ask(&node.url, Some(pin)).await.unwrap_err();
    let found = genesis().id();
    assert_eq!(error, NodeEndpointError::OtherSim { url: node.url.clone(), expected: pin, found });
}

#[tokio::test]
async fn where_nobody_listens_a_session_fails_at_once_and_names_the_place() {
    let url: NodeUrl = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/", free.local_addr().unwrap()).parse().unwrap()
    };
    let trust = GenesisTrust::of(genesis()).unwrap();
    let error = within(ClientDriver::open(vec![url.clone()], trust, player())).await.unwrap_err();
    assert!(matches!(error, DriveError::Ended(End::Unreachable(_))), "{error:?}");
    assert!(error.to_string().contains(&url.to_string()), "{error}");
}

#[tokio::test]
async fn a_session_goes_on_at_the_next_node_with_the_acts_it_has() {
    let (first, second) = (Fake::honest(silent()).await, Fake::honest(receipting(server())).await);
    let mut driver = open(&[&first, &second]).await;
    let act = driver.submit(Act::Heartbeat, Vec::new()).await.unwrap().act;

    first.stop().await;

    let mut told = Vec::new();
    within(async {
        loop {
            match driver.news().await {
                DriverEvent::Broken { .. } => told.push("broken"),
                DriverEvent::Open { url, .. } if url == second.url => told.push("open"),
                DriverEvent::Receipted { act: receipted, height, .. } => {
                    assert_eq!((receipted, height), (act, Height(11)));
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert_eq!(told, ["broken", "open"]);
}

#[tokio::test]
async fn a_receipt_that_strangers_signed_ends_the_session() {
    let node = Fake::honest(receipting(SigningKey::from_seed([66; 32]))).await;
    let mut driver = open(&[&node]).await;
    driver.submit(Act::Heartbeat, Vec::new()).await.unwrap();
    let news = within(driver.news()).await;
    assert!(matches!(news, DriverEvent::Ended(End::Distrusted { .. })), "{news:?}");
}

/// A node that refuses every act as old, and answers questions for receipts so or so.
fn refusing(known: bool) -> Reply {
    let mut acts = Vec::new();
    Box::new(move |message| match message {
        ClientMessage::Submit(submission) => {
            acts.push(submission.act.clone());
            let why = SubmitRefusal::Replayed(1);
            vec![ServerMessage::Refused { act: submission.act.id(), why }]
        }
        ClientMessage::Ask { id, question: Question::Receipt { .. } } => {
            let act = acts[0].clone();
            let receipt = receipt(&act, &server());
            let found = ReceiptAnswer { act, receipt, outcome: Some(Outcome::Ok) };
            let answer = if known { Answer::Receipt(Box::new(found)) } else { Answer::Unknown };
            vec![ServerMessage::Answer { id: *id, answer: Box::new(answer) }]
        }
        _ => Vec::new(),
    })
}

#[tokio::test]
async fn an_act_refused_as_old_that_was_decided_is_told_as_decided() {
    let node = Fake::honest(refusing(true)).await;
    let mut driver = open(&[&node]).await;
    let act = driver.submit(Act::Heartbeat, Vec::new()).await.unwrap().act;
    let (receipt, outcome) = within(async { (driver.news().await, driver.news().await) }).await;
    assert!(matches!(receipt, DriverEvent::Receipted { act: a, .. } if a == act), "{receipt:?}");
    assert!(matches!(outcome, DriverEvent::Outcome { act: a, .. } if a == act), "{outcome:?}");
}

#[tokio::test]
async fn an_act_refused_as_old_that_nobody_decided_is_told_as_refused() {
    let node = Fake::honest(refusing(false)).await;
    let mut driver = open(&[&node]).await;
    let act = driver.submit(Act::Heartbeat, Vec::new()).await.unwrap().act;
    let news = within(driver.news()).await;
    let replayed = SubmitRefusal::Replayed(1);
    assert!(
        matches!(news, DriverEvent::Refused { act: a, why } if a == act && why == replayed),
        "{news:?}"
    );
}

#[tokio::test]
async fn a_busy_node_is_asked_again() {
    let mut asked = 0;
    let node = Fake::honest(Box::new(move |message| match message {
        ClientMessage::Ask { id, question: Question::Players } => {
            asked += 1;
            let players = Answer::Players(Vec::new());
            let answer = if asked < 3 { Answer::Busy } else { players };
            vec![ServerMessage::Answer { id: *id, answer: Box::new(answer) }]
        }
        _ => Vec::new(),
    }))
    .await;
    let mut driver = open(&[&node]).await;
    let answer = within(driver.ask(Question::Players, GUARD)).await.unwrap();
    assert_eq!(answer, Answer::Players(Vec::new()));
}

#[tokio::test]
async fn a_question_without_an_answer_ends_in_time() {
    let node = Fake::honest(silent()).await;
    let mut driver = open(&[&node]).await;
    let error = within(driver.ask(Question::Players, Duration::from_millis(50))).await.unwrap_err();
    assert!(matches!(error, DriveError::NoAnswer(_)), "{error:?}");
}

#[tokio::test]
async fn of_a_flood_of_words_the_newest_are_kept_and_a_question_still_gets_its_answer() {
    let flood = ASIDE_MAX + 1_500;
    let line = |n: usize| {
        ServerMessage::Heard(ChatMessage {
            height: Height(n as u64),
            channel: 0,
            speaker: ObjectId(1),
            name: "n".into(),
            text: String::new(),
            by: None,
            club: None,
        })
    };
    let node = Fake::honest(Box::new(move |message| match message {
        ClientMessage::Ask { id, .. } => {
            let answer = Box::new(Answer::Players(Vec::new()));
            let answer = ServerMessage::Answer { id: *id, answer };
            (1..=flood).map(line).chain([answer]).collect()
        }
        _ => Vec::new(),
    }))
    .await;
    let mut driver = open(&[&node]).await;

    within(driver.ask(Question::Players, GUARD)).await.unwrap();

    assert!(driver.aside.len() <= ASIDE_MAX);
    let mut last = Height(0);
    within(async {
        while last < Height(flood as u64) {
            let DriverEvent::Heard(line) = driver.news().await else { panic!("words were said") };
            assert!(line.height > last, "in order");
            last = line.height;
        }
    })
    .await;
}

/// A node that says this of what a login takes.
fn asking(answer: Answer) -> Reply {
    Box::new(move |message| match message {
        ClientMessage::Ask { id, question: Question::LoginTerms { .. } } => {
            vec![ServerMessage::Answer { id: *id, answer: Box::new(answer.clone()) }]
        }
        _ => Vec::new(),
    })
}

/// The login of a key that is new to a sim with these terms, by a ticket or without.
async fn pass(answer: Answer, ticket: Option<&SigningKey>) -> Result<Act, FirstLoginError> {
    let node = Fake::honest(asking(answer)).await;
    let mut driver = open(&[&node]).await;
    let login = login(None, &driver.author());
    within(driver.with_pass(login, ticket, Duration::from_millis(200), || ())).await
}

#[tokio::test]
async fn a_login_shows_what_the_sim_asks_of_a_new_key() {
    let terms = |terms| Answer::LoginTerms(terms);
    let shown = |act: Act| match act {
        Act::Login { pass, .. } => pass,
        other => panic!("{other:?}"),
    };
    let ticket = SigningKey::from_seed([5; 32]);

    assert_eq!(shown(pass(terms(LoginTerms::Free), None).await.unwrap()), None);
    let by_ticket = shown(pass(terms(LoginTerms::Ticket), Some(&ticket)).await.unwrap());
    assert!(matches!(by_ticket, Some(Pass::Ticket(_))), "{by_ticket:?}");
    let work = LoginTerms::Work { height: Height(20), header: HeaderId(Digest::ZERO), tries: 2 };
    let by_work = shown(pass(terms(work), None).await.unwrap());
    assert!(matches!(by_work, Some(Pass::Work(work)) if work.height == Height(20)), "{by_work:?}");
}

#[tokio::test]
async fn a_sim_that_lets_nobody_in_says_why() {
    let terms = |terms| Answer::LoginTerms(terms);
    let closed = pass(terms(LoginTerms::Closed), None).await;
    assert!(matches!(closed, Err(FirstLoginError::Closed)), "{closed:?}");
    let invited = pass(terms(LoginTerms::Ticket), None).await;
    assert!(matches!(invited, Err(FirstLoginError::NoTicket)), "{invited:?}");
    let to = PublicKey([9; 32]);
    let rotated = pass(terms(LoginTerms::Rotated { to }), None).await;
    assert!(matches!(rotated, Err(FirstLoginError::Rotated(key)) if key == to), "{rotated:?}");
    let unsaid = pass(Answer::Unknown, None).await;
    assert!(matches!(unsaid, Err(FirstLoginError::Unsaid)), "{unsaid:?}");
}

/// So that commands can say that trying again helps.
#[tokio::test]
async fn a_node_that_stays_busy_ends_a_first_login() {
    let busy = pass(Answer::Busy, None).await;
    let is_busy = matches!(busy, Err(FirstLoginError::Busy))
        || matches!(busy, Err(FirstLoginError::Drive(DriveError::NoAnswer(_))));
    assert!(is_busy, "{busy:?}");
}

#[tokio::test]
async fn a_genesis_is_learned_from_the_first_node_that_answers() {
    let gone = Fake::honest(silent()).await;
    let (node, urls) =
        (Fake::honest(silent()).await, |nodes: [&Fake; 2]| nodes.map(|n| n.url.clone()));
    let urls = urls([&gone, &node]);
    gone.stop().await;

    let trust = within(GenesisTrust::learn_from(&urls, None)).await.unwrap();
    assert_eq!(trust.sim, genesis().id());

    let nobody = GenesisTrust::learn_from(&[], None).await;
    assert!(matches!(nobody, Err(LearnError::NoNode)), "{nobody:?}");
}
