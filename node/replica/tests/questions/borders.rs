//! What a server says to a neighbour's courier, and what becomes of what its own couriers bring.

use metatopia_protocol::{
    Answer, BorderStanding, DISPATCH_WAIT_MAX_MS, DispatchAnswer, DispatchQuestion, HandInRefusal,
    HandedDispatch, PassAnswer, Question, Submission,
};
use metatopia_replica::{HAND_INS_PER_TURN_MAX, PeerMessage};
use metatopia_sim::{Area, Genesis};
use metatopia_types::{
    Act, Blob, BorderOrder, Digest, Dispatch, Ed25519, Envelope, HearRefusal, Height, Lane, Look,
    PublicKey, Seq, Sign, SigningKey, SimId, Site, Square,
};

use super::{
    alone::{Alone, genesis, key},
    author_class::Person,
    people::turn,
};

fn admin() -> SigningKey {
    SigningKey::from_seed([9; 32])
}

/// Returns the genesis of a sim in a world, so many squares of 256 m to the east.
fn at_column(column: i32) -> Genesis {
    let square = Square { x: 8 * column, y: 0, doublings: 2 };
    let mut genesis = genesis();
    genesis.admins = [admin().public()].into();
    genesis.parameters.ground = Area::of_square(square);
    genesis.site = Some(Site { world: SimId(Digest([77; 32])), square });
    genesis
}

/// Has an act of the admin decided.
fn act(server: &mut Alone, seq: u64, act: Act, blobs: Vec<Blob>) {
    let admin = admin();
    let envelope = Envelope {
        sim: server.sim,
        author: admin.public(),
        lane: Lane(1),
        seq: Seq(seq),
        last_valid: server.height().plus(100),
        act,
    };
    let submission = Submission { act: envelope.sign(&admin), blobs };
    server.peer_says(key().public(), &PeerMessage::Submission(Box::new(submission)));
    let height = server.height().0;
    server.run_to(height + 3);
}

/// Starts a server whose admin has opened the border to a neighbour.
fn begin(own: &Genesis, neighbour: &Genesis) -> Alone {
    let mut server = Alone::found(own);
    server.run_to(3);
    act(&mut server, 1, Act::login("Ada".to_owned(), Look::default()), Vec::new());
    let blob =
        BorderOrder::Open { head: Box::new(neighbour.head()), offices: Vec::new(), portal: None }
            .blob();
    act(&mut server, 2, Act::Border { order: blob.id() }, vec![blob]);
    server
}

fn question(neighbour: SimId, had: Option<Digest>) -> Question {
    let followed = Height(0);
    Question::Dispatch(DispatchQuestion { neighbour, followed, judged: 0, had, wait: 1_000 })
}

fn ask(server: &mut Alone, neighbour: SimId) -> DispatchAnswer {
    match server.ask(question(neighbour, None)) {
        Answer::Dispatch(answer) => answer,
        other => panic!("{other:?} where a dispatch belongs"),
    }
}

/// Returns how a server's only border stands.
fn standing(server: &mut Alone) -> (Height, BorderStanding) {
    let Answer::Borders(borders) = server.ask(Question::Borders { of: None }) else {
        panic!("no borders")
    };
    let [border] = &borders[..] else { panic!("{borders:?}") };
    (border.heard, border.standing.clone())
}

#[test]
fn what_a_courier_brings_goes_into_the_next_turn_and_both_borders_open() {
    let (one, other) = (at_column(0), at_column(1));
    let (mut west, mut east) = (begin(&one, &other), begin(&other, &one));
    assert_eq!(west.watched.len(), 1);
    assert!(matches!(standing(&mut west), (Height(0), BorderStanding::Wall(_))));

    let said = ask(&mut west, east.sim).dispatch;
    let set = one.first_validators().expect("a set");
    let dispatch = Dispatch::decode(&said).expect("a dispatch");
    let proved = dispatch.prove(west.sim, east.sim, (Height(0), &set), &Ed25519);
    let (_, proved) = proved.expect("it proves itself");
    let at = proved.expect("it tells something").at;
    let sim = west.sim;
    east.courier_brings(sim, said);
    let height = east.height().0;
    east.run_to(height + 3);
    assert_eq!(standing(&mut east).0, at);
    let is_handed_on = |frame: &Vec<u8>| match PeerMessage::decode(frame) {
        Ok(PeerMessage::Submission(handed)) => matches!(handed.act.envelope.act, Act::Hear { .. }),
        _ => false,
    };
    assert!(!east.sent_to_all.iter().any(is_handed_on), "other servers have couriers of their own");

    // A neighbour of a later release speaks, and is not understood.
    west.courier_brings(east.sim, vec![255; 40]);
    let BorderStanding::Wall(why) = standing(&mut west).1 else { panic!("nothing was heard") };
    assert!(why.ends_with(&HearRefusal::NoDispatch.to_string()), "{why}");

    // Here nobody has heard of the other one yet; over there both have opened it.
    assert_eq!(standing(&mut east).1, BorderStanding::Open);
    let said = ask(&mut east, west.sim).dispatch;
    let sim = east.sim;
    west.courier_brings(sim, said);
    let height = west.height().0;
    west.run_to(height + 3);
    assert_eq!(standing(&mut west).1, BorderStanding::Open);
}

fn hand_in(server: &mut Alone, neighbour: SimId, dispatch: Vec<u8>) -> Answer {
    server.ask(Question::HandIn(HandedDispatch { neighbour, dispatch }))
}

const fn not_taken(why: HandInRefusal) -> Answer {
    Answer::HandedIn(Err(why))
}

#[test]
fn what_somebody_hands_in_is_heard_where_the_own_courier_hears_nothing() {
    let (one, other) = (at_column(0), at_column(1));
    let (mut west, mut east) = (begin(&one, &other), begin(&other, &one));
    let (from, to) = (west.sim, east.sim);
    let said = ask(&mut west, to).dispatch;
    let hear = |why| not_taken(HandInRefusal::Hear(why));
    let stranger = SimId(Digest([1; 32]));
    assert_eq!(hand_in(&mut east, stranger, said.clone()), hear(HearRefusal::NoBorder));
    assert_eq!(hand_in(&mut east, from, vec![0xff; 300]), hear(HearRefusal::NoDispatch));
    let own = ask(&mut east, from).dispatch;
    assert_eq!(hand_in(&mut east, from, own), hear(HearRefusal::OtherLeaf));

    turn(&mut east);
    assert_eq!(hand_in(&mut east, from, said.clone()), Answer::HandedIn(Ok(())));
    let height = east.height().0;
    east.run_to(height + 3);
    let heard = standing(&mut east);
    assert!(heard.0 > Height(0) && heard.1 == BorderStanding::Open, "{heard:?}");
    assert_eq!(hand_in(&mut east, from, said), hear(HearRefusal::NothingNew));

    // Who hands in less than the courier hears holds nothing up.
    let said = ask(&mut west, to).dispatch;
    east.courier_brings(from, said.clone());
    assert_eq!(hand_in(&mut east, from, said), not_taken(HandInRefusal::Heard));
    // The courier hears nothing more, and then it is anybody's turn.
    let height = east.height().0;
    east.run_to(height + 265);
    let later = west.height().0;
    west.run_to(later + 265);
    let said = ask(&mut west, to).dispatch;
    assert_eq!(hand_in(&mut east, from, said), Answer::HandedIn(Ok(())));
}

#[test]
fn between_two_turns_so_many_keys_hand_something_in_each_once_and_no_more() {
    let (one, other) = (at_column(0), at_column(1));
    let mut east = begin(&other, &one);
    let west = one.id();
    // It reads as a dispatch, and proves nothing.
    let own = ask(&mut east, west).dispatch;
    let people: Vec<Person> =
        (0..=HAND_INS_PER_TURN_MAX as u8).map(|n| Person::comes(&mut east, 100 + n)).collect();
    turn(&mut east);
    let refused = not_taken(HandInRefusal::Hear(HearRefusal::OtherLeaf));
    let hand = |server: &mut Alone, n: usize| {
        let handed = HandedDispatch { neighbour: west, dispatch: own.clone() };
        people[n].asks(server, Question::HandIn(handed))
    };
    for n in 0..HAND_INS_PER_TURN_MAX {
        assert_eq!(hand(&mut east, n), refused);
        assert_eq!(hand(&mut east, n), Answer::Busy, "each key has one");
    }
    assert_eq!(hand(&mut east, HAND_INS_PER_TURN_MAX), Answer::Busy);
    turn(&mut east);
    assert_eq!(hand(&mut east, HAND_INS_PER_TURN_MAX), refused);
}

#[test]
fn a_question_of_a_courier_stands_until_there_is_news_or_its_time_is_over() {
    let (one, other) = (at_column(0), at_column(1));
    let (mut west, east) = (begin(&one, &other), other.id());
    let DispatchAnswer { news, .. } = ask(&mut west, east);
    let token = west.put(question(east, Some(news)));
    assert_eq!(west.answered(token), None, "there is no news");

    // Another admin's order is news.
    let blob = BorderOrder::Close { neighbour: east }.blob();
    act(&mut west, 3, Act::Border { order: blob.id() }, vec![blob]);
    let height = west.height().0;
    west.run_to(height + 3);
    let Some(Answer::Dispatch(told)) = west.answered(token) else { panic!("it is told") };
    assert_ne!(told.news, news);

    // Turns are 50 ms, and the question said how long it stands.
    let token = west.put(question(east, Some(told.news)));
    let height = west.height().0;
    west.run_to(height + 10);
    assert_eq!(west.answered(token), None);
    west.run_to(height + 25);
    assert!(matches!(west.answered(token), Some(Answer::Dispatch(_))));
    let longest = u64::from(DISPATCH_WAIT_MAX_MS) / 50;
    let wait = u32::MAX;
    let followed = Height(0);
    let had = Some(told.news);
    let asked = DispatchQuestion { neighbour: east, followed, judged: 0, had, wait };
    let token = west.put(Question::Dispatch(asked));
    west.run_to(height + 25 + longest + 10);
    assert!(matches!(west.answered(token), Some(Answer::Dispatch(_))));
}

#[test]
fn who_is_no_neighbour_is_told_nothing_and_what_nobody_said_counts_for_nothing() {
    let (one, other) = (at_column(0), at_column(1));
    let (mut west, mut east) = (begin(&one, &other), begin(&other, &one));
    let stranger = SimId(Digest([1; 32]));
    assert_eq!(west.ask(question(stranger, None)), Answer::Unknown);
    assert_eq!(Alone::begin().ask(Question::Borders { of: None }), Answer::Borders(Vec::new()));

    let (west_sim, east_sim) = (west.sim, east.sim);
    east.courier_brings(west_sim, vec![0xff; 300]);
    assert_eq!(east.unheard.len(), 1, "it is no dispatch");
    let own = ask(&mut east, west_sim).dispatch;
    east.courier_brings(west_sim, own);
    assert_eq!(east.unheard.len(), 2, "another sim said it");
    let said = ask(&mut west, east_sim).dispatch;
    east.courier_brings(stranger, said);
    let height = east.height().0;
    east.run_to(height + 5);
    assert_eq!(standing(&mut east).0, Height(0), "nothing was heard");
}

#[test]
fn clients_are_told_where_the_nodes_of_a_neighbour_are() {
    let (one, other) = (at_column(0), at_column(1));
    let (mut west, east) = (begin(&one, &other), other.id());
    let nodes: Vec<String> = (0..20).map(|n| format!("http://127.0.0.1:{n}")).collect();
    west.courier_found(east, nodes.clone());
    let Answer::Borders(borders) = west.ask(Question::Borders { of: None }) else {
        panic!("no borders")
    };
    assert_eq!(borders[0].nodes, nodes[..metatopia_protocol::NEIGHBOUR_NODES_MAX]);
    assert_eq!((borders[0].neighbour, borders[0].square.x), (east, 8));
    assert_eq!(borders[0].answer, None, "nobody was asked for");
    // Whoever is not near the border is told nothing there.
    let of = Some(PublicKey([7; 32]));
    let Answer::Borders(borders) = west.ask(Question::Borders { of }) else { panic!("no borders") };
    assert_eq!(borders[0].answer, Some(PassAnswer::default()));
}
