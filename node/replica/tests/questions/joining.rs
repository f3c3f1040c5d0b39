//! Followers that ask to be let in.

use std::collections::BTreeSet;

use metatopia_protocol::{
    Answer, Applicant, ClientMessage, Grant, Hello, Invite, JoinRefusal, JoinRequest, Question,
    ServerMessage, SignedInvite, Submission, encode_client,
};
use metatopia_replica::{
    FOLLOWER_FRAMES_PER_SECOND, FOLLOWERS_MAX, Followers, GAVE_WAY_MAX, INVITES_KNOWN_MAX,
    INVITES_PER_ISSUER, PeerMessage,
};
use metatopia_sim::Genesis;
use metatopia_types::{
    Act, Digest, Envelope, Height, Lane, Look, Millis, NodeContact, Seq, SetChange, Sign,
    SigningKey, SimId, Validator, ValidatorSet,
};

use super::alone::{Alone, NOON, genesis, key};

const HOUR: u64 = 3_600_000;

fn node(n: u8) -> SigningKey {
    SigningKey::from_seed([n; 32])
}

fn contact() -> NodeContact {
    NodeContact { peer_id: "peer".into(), address: "/ip4/127.0.0.1/tcp/9".into() }
}

fn applicant(n: u8) -> Applicant {
    Applicant { key: node(n).public(), contact: contact() }
}

/// A server that takes followers, and an invite of it.
fn begin() -> (Alone, Invite) {
    begin_in(&genesis())
}

/// The same in a sim with this genesis.
fn begin_in(genesis: &Genesis) -> (Alone, Invite) {
    let mut server = Alone::found(genesis);
    server.run_to(3);
    server.welcome(contact(), Followers::default());
    let Answer::Turn(turn) = server.ask(Question::Turn { height: Height(2) }) else {
        panic!("it was decided")
    };
    let members = genesis.validators.keys().copied().map(|key| Validator { key, power: 1 });
    let invite = Invite {
        header: turn.0.header,
        certificate: turn.1,
        validators: ValidatorSet::new(members.collect(), |_| true).expect("a set"),
        addresses: vec!["http://127.0.0.1:9".into()],
        grant: Grant::Follow,
        uses: 2,
        expires: NOON.plus(HOUR),
        issuer: key().public(),
        nonce: 1,
    };
    (server, invite)
}

/// Opens a session with the node's key, and asks to be let in.
fn join(
    server: &mut Alone,
    node: &SigningKey,
    invite: SignedInvite,
    applicant: Option<Applicant>,
) -> Result<NodeContact, JoinRefusal> {
    match answer_to(server, node, invite, applicant) {
        Some(Answer::Join(joined)) => joined,
        other => panic!("{other:?} where a verdict belongs"),
    }
}

/// Returns the answer to a request of this node to join, if there is one.
fn answer_to(
    server: &mut Alone,
    node: &SigningKey,
    invite: SignedInvite,
    applicant: Option<Applicant>,
) -> Option<Answer> {
    let client = server.client_up();
    let Some(ServerMessage::Challenge(challenge)) = server.heard(client).pop() else {
        panic!("a challenge comes first")
    };
    let hello = ClientMessage::Hello(Hello::new(&challenge, node));
    server.client_says(client, encode_client(&hello));
    let question = Question::Join(Box::new(JoinRequest { invite, applicant }));
    server.client_says(client, encode_client(&ClientMessage::Ask { id: 1, question }));
    let answers = server.heard(client).into_iter().find_map(|message| match message {
        ServerMessage::Answer { id: 1, answer } => Some(*answer),
        _ => None,
    });
    server.client_down(client);
    answers
}

fn followers(server: &Alone) -> Vec<metatopia_types::PublicKey> {
    server.followers.iter().map(|(key, _)| key).collect()
}

#[test]
fn an_invite_lets_in_as_many_nodes_as_it_says_and_those_again_that_came_by_it() {
    let (mut server, invite) = begin();
    let invite = invite.sign(&key());
    for n in [10, 11, 10, 11] {
        assert_eq!(join(&mut server, &node(n), invite.clone(), None), Ok(contact()));
    }
    assert_eq!(join(&mut server, &node(12), invite.clone(), None), Err(JoinRefusal::Used(2)));
    let mut let_in = vec![node(10).public(), node(11).public()];
    let_in.sort();
    assert_eq!(followers(&server), let_in);
    // Nor does it matter to those that its time is over.
    let mut late = Invite { expires: Millis(5), ..invite.invite.clone() };
    late.nonce += 1;
    let late = late.sign(&key());
    assert_eq!(join(&mut server, &node(10), late.clone(), None), Ok(contact()));
    assert_eq!(join(&mut server, &node(13), late, None), Err(JoinRefusal::Expired));

    // What the driver keeps is enough to go on counting.
    let kept = Followers::decode(&server.followers.encode()).expect("its own");
    let (mut server, _) = begin();
    server.welcome(contact(), kept);
    assert_eq!(followers(&server), let_in);
    assert_eq!(join(&mut server, &node(12), invite, None), Err(JoinRefusal::Used(2)));
}

#[test]
fn nobody_hears_of_a_use_that_a_power_cut_kept_from_the_disk() {
    let (mut server, invite) = begin();
    server.dies_of_guests = true;
    assert_eq!(answer_to(&mut server, &node(10), invite.sign(&key()), None), None);
}

#[test]
fn who_comes_again_with_another_address_is_not_counted() {
    let (mut server, invite) = begin();
    let invite = Invite { grant: Grant::StandBy, ..invite }.sign(&key());
    for (n, address, counted) in [(10, "one", true), (10, "other", false), (11, "one", true)] {
        let before = server.followers.clone();
        let contact = NodeContact { address: address.into(), ..contact() };
        let applicant = Applicant { key: node(20).public(), contact };
        join(&mut server, &node(n), invite.clone(), Some(applicant)).expect("it is granted");
        assert_ne!(server.followers, before);
        assert_eq!(server.followers.counted_since(&before), counted, "{n} at {address}");
    }
}

#[test]
fn what_is_no_good_invite_lets_nobody_in_and_says_why() {
    let (mut server, good) = begin();
    let mut refused = |invite: SignedInvite| {
        let refusal = join(&mut server, &node(10), invite, None).expect_err("it is no good");
        assert!(followers(&server).is_empty());
        refusal
    };
    let old = Invite { expires: Millis(5), ..good.clone() };
    assert_eq!(refused(old.sign(&key())), JoinRefusal::Expired);
    let stranger = Invite { issuer: node(9).public(), ..good.clone() };
    let issuer = JoinRefusal::Issuer(node(9).public());
    assert_eq!(refused(stranger.sign(&node(9))), issuer);
    assert_eq!(refused(good.clone().sign(&node(9))), JoinRefusal::Invalid);
    let mut changed = good.clone().sign(&key());
    changed.invite.uses += 1;
    assert_eq!(refused(changed), JoinRefusal::Invalid);
    let mut elsewhere = good;
    elsewhere.header.sim = SimId(Digest::ZERO);
    assert_eq!(refused(elsewhere.sign(&key())), JoinRefusal::OtherSim(SimId(Digest::ZERO)));
}

#[test]
fn an_invite_that_is_good_for_more_than_thirty_days_from_now_lets_nobody_in() {
    let (mut server, good) = begin();
    let days = |days: u64| Invite { expires: NOON.plus(days * 24 * HOUR), ..good.clone() };
    let long = join(&mut server, &node(10), days(31).sign(&key()), None);
    assert_eq!(long, Err(JoinRefusal::TooLong));
    join(&mut server, &node(10), days(29).sign(&key()), None).expect("it is granted");
}

/// One server signed 256 invites for the year 500,000,000 and used each once: nobody else's were
/// taken any more.
#[test]
fn an_issuer_with_many_invites_leaves_the_others_their_share() {
    let other = node(50);
    let admins = BTreeSet::from([other.public()]);
    let (mut server, good) = begin_in(&Genesis { admins, ..genesis() });
    let numbered = |issuer: &SigningKey, nonce: usize| {
        let (issuer_key, nonce) = (issuer.public(), nonce as u64);
        Invite { issuer: issuer_key, nonce, ..good.clone() }.sign(issuer)
    };
    let stranger = |n: usize| {
        let mut seed = [8; 32];
        seed[..8].copy_from_slice(&n.to_le_bytes());
        SigningKey::from_seed(seed)
    };
    for n in 0..INVITES_KNOWN_MAX {
        join(&mut server, &stranger(n), numbered(&key(), n), None).expect("there is room");
    }
    let late = join(&mut server, &node(9), numbered(&key(), INVITES_KNOWN_MAX), None);
    assert_eq!(late, Err(JoinRefusal::Full));

    for n in 0..INVITES_PER_ISSUER {
        let came = INVITES_KNOWN_MAX + n;
        join(&mut server, &stranger(came), numbered(&other, n), None).expect("its own share");
    }
    let late = join(&mut server, &node(9), numbered(&other, INVITES_PER_ISSUER), None);
    assert_eq!(late, Err(JoinRefusal::Full));
    let kept = server.followers.encode();
    assert_eq!(Followers::decode(&kept).expect("within its bounds").encode(), kept);
}

#[test]
fn who_may_stand_by_is_shown_to_admins_and_who_may_not_is_refused() {
    let (mut server, invite) = begin();
    let follow = invite.clone().sign(&key());
    let refused = join(&mut server, &node(10), follow, Some(applicant(20)));
    assert_eq!(refused, Err(JoinRefusal::Grant));
    let stand_by = Invite { grant: Grant::StandBy, ..invite }.sign(&key());
    join(&mut server, &node(10), stand_by, Some(applicant(20))).expect("it is granted");
    assert_eq!(server.ask(Question::Applicants), Answer::Applicants(vec![applicant(20)]));
}

#[test]
fn a_server_has_room_for_so_many_followers_and_who_is_away_gives_way() {
    let (mut server, invite) = begin();
    let uses = u32::try_from(FOLLOWERS_MAX + 1).expect("a small number");
    let invite = Invite { uses, ..invite }.sign(&key());
    let most = u8::try_from(FOLLOWERS_MAX).expect("a small number");
    for n in 0..most {
        join(&mut server, &node(100 + n), invite.clone(), None).expect("there is room");
        server.peer_up(node(100 + n).public());
    }
    let late = join(&mut server, &node(99), invite.clone(), None);
    assert_eq!(late, Err(JoinRefusal::Full));
    server.peer_down(node(105).public());
    join(&mut server, &node(99), invite.clone(), None).expect("one gave way");
    assert_eq!(followers(&server).len(), FOLLOWERS_MAX);
    assert!(!followers(&server).contains(&node(105).public()));
    // The invite is used up. That keeps out who is new, and nobody gives way to it; who gave way
    // comes back uncounted, also after a restart of the server.
    server.welcome(contact(), Followers::decode(&server.followers.encode()).expect("its own"));
    let stranger = join(&mut server, &node(98), invite.clone(), None);
    assert_eq!(stranger, Err(JoinRefusal::Used(uses)));
    assert!(followers(&server).contains(&node(99).public()), "it is not connected, and stays");
    assert_eq!(join(&mut server, &node(105), invite, None), Ok(contact()));
    assert_eq!(followers(&server).len(), FOLLOWERS_MAX);
}

#[test]
fn so_many_are_remembered_that_gave_way_and_what_is_kept_of_them_can_be_read_again() {
    let (mut server, invite) = begin();
    let invite = Invite { uses: 1_000, ..invite }.sign(&key());
    let numbered = |n: usize| {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&n.to_le_bytes());
        SigningKey::from_seed(seed)
    };
    let mut come = |numbers: std::ops::Range<usize>| {
        for n in numbers {
            join(&mut server, &numbered(n), invite.clone(), None).expect("nobody is connected");
        }
        assert_eq!(followers(&server).len(), FOLLOWERS_MAX);
        server.followers.encode()
    };
    let most = FOLLOWERS_MAX + GAVE_WAY_MAX;
    let (fewer, full, fuller) = (come(0..most - 1), come(most - 1..most), come(most..most + 9));
    assert_eq!(full.len(), fewer.len() + 32, "one key more");
    assert_eq!(fuller.len(), full.len());
    assert_eq!(Followers::decode(&fuller).expect("within its bounds").encode(), fuller);
}

#[test]
fn without_a_welcome_nobody_is_let_in() {
    let (_, invite) = begin();
    let mut server = Alone::begin();
    server.run_to(3);
    let joined = join(&mut server, &node(10), invite.sign(&key()), None);
    assert_eq!(joined, Err(JoinRefusal::Full));
}

/// A removed server was in neither list for a moment. Each of the others ended its connection and began
/// another one, and what the clients of that server did meanwhile was lost (whole seed 50013).
#[test]
fn a_server_that_is_removed_becomes_a_follower_without_losing_its_connection() {
    let (admin, other) = (node(11), node(20).public());
    let admins = BTreeSet::from([admin.public()]);
    let mut server = Alone::found(&Genesis { admins, ..genesis() });
    server.run_to(3);
    let acts = [
        Act::login("ann".to_owned(), Look::default()),
        Act::SetChange(SetChange::Add { key: other, contact: contact() }),
        Act::SetChange(SetChange::Remove { key: other }),
    ];
    for (act, seq) in acts.into_iter().zip(1..) {
        let (author, last_valid) = (admin.public(), server.height().plus(100));
        let (sim, lane, seq) = (server.sim, Lane(1), Seq(seq));
        let envelope = Envelope { sim, author, lane, seq, last_valid, act };
        let submission = Submission { act: envelope.sign(&admin), blobs: Vec::new() };
        server.peer_says(other, &PeerMessage::Submission(Box::new(submission)));
        server.run_to(server.height().0 + 5);
    }

    assert_eq!(followers(&server), [other]);
    let since = server.peer_sets.iter().skip_while(|all| !all.contains(&other));
    let since: Vec<bool> = since.map(|all| all.contains(&other)).collect();
    assert_eq!(since, [true; 3], "it comes as a server, then as a follower, and then only as that");
}

/// Returns what a server or follower was answered.
fn answers(server: &mut Alone, to: &SigningKey) -> Vec<(u32, Answer)> {
    let sent = std::mem::take(&mut server.sent);
    let own = sent.into_iter().filter(|(peer, _)| *peer == to.public());
    own.filter_map(|(_, frame)| match PeerMessage::decode(&frame) {
        Ok(PeerMessage::Answer { id, answer }) => Some((id, *answer)),
        _ => None,
    })
    .collect()
}

#[test]
fn servers_ask_each_other_what_clients_ask() {
    let mut server = Alone::begin();
    server.run_to(5);
    let question = Question::Turn { height: Height(3) };
    let expected = server.ask(question.clone());
    server.peer_says(
        node(2).public(),
        &PeerMessage::Ask { id: 7, question: question.clone().into() },
    );
    assert_eq!(answers(&mut server, &node(2)), [(7, expected.clone())]);

    // And the other way: what it asks leaves as a frame, and what comes back is told.
    server.ask_peer(node(2).public(), 9, question.clone());
    let asks = PeerMessage::Ask { id: 9, question: question.into() }.encode();
    assert!(server.sent.contains(&(node(2).public(), asks)));
    let answer = PeerMessage::Answer { id: 9, answer: expected.clone().into() };
    server.peer_says(node(2).public(), &answer);
    assert_eq!(server.heard_from, [(node(2).public(), 9, expected)]);
}

#[test]
fn a_follower_is_answered_so_often_in_a_second_and_what_it_answers_is_passed_over() {
    let (mut server, invite) = begin();
    join(&mut server, &node(10), invite.sign(&key()), None).expect("a good invite");
    server.peer_up(node(10).public());
    server.sent.clear();
    let ask = |id| PeerMessage::Ask { id, question: Question::Players.into() };
    for id in 0..2 * FOLLOWER_FRAMES_PER_SECOND {
        server.peer_says(node(10).public(), &ask(id));
    }
    assert_eq!(answers(&mut server, &node(10)).len(), FOLLOWER_FRAMES_PER_SECOND as usize);
    server.run_to(server.height().0 + 1);
    server.peer_says(node(10).public(), &ask(1));
    assert_eq!(answers(&mut server, &node(10)).len(), 1);
    let lie = PeerMessage::Answer { id: 1, answer: Answer::Busy.into() };
    server.peer_says(node(10).public(), &lie);
    assert_eq!(server.heard_from, []);
}
