//! Clubs at a server: who hears what is said in one, and what is told of them.

use metatopia_protocol::{
    Answer, CLUBS_PER_ANSWER_MAX, ClubEntry, ClubInviteEntry, ClubPerson, IntendedOrder, Question,
    ServerMessage,
};
use metatopia_replica::ClientId;
use metatopia_sim::{
    CLUB,
    limits::{CLUB_INVITES_MAX, CLUB_MEMBERS_MAX},
};
use metatopia_types::{
    Act, Blob, ClubId, ClubOrder, GovernOrder, GroundArea, Look, LotId, LotOrder, PublicKey,
    limits::NAME_BYTES_MAX, wire,
};

use super::{
    alone::Alone,
    author_class::Person,
    people::{ADMIN, governed, public, turn},
};

const BOB: u8 = 61;
const EVE: u8 = 62;
const FIRST: ClubId = ClubId(1);

fn does(server: &mut Alone, person: &mut Person, order: ClubOrder) {
    person.acts(server, Act::Club(order), 100);
    turn(server);
}

fn enters(server: &mut Alone, n: u8, name: &str) -> Person {
    let mut person = Person::comes(server, n);
    person.acts(server, Act::login(name.to_owned(), Look::default()), 100);
    turn(server);
    person
}

/// A server where Alice has a club in which Bob is, and Eve is neither in it nor invited.
fn gardeners() -> (Alone, [Person; 3]) {
    let (mut server, mut alice) = governed();
    let mut bob = enters(&mut server, BOB, "Bob");
    let eve = enters(&mut server, EVE, "Eve");
    does(&mut server, &mut alice, ClubOrder::Found { name: "Gardeners".to_owned() });
    does(&mut server, &mut alice, ClubOrder::Invite { club: FIRST, key: public(BOB) });
    does(&mut server, &mut bob, ClubOrder::Accept { club: FIRST });
    (server, [alice, bob, eve])
}

fn says(server: &mut Alone, person: &mut Person, words: &str) {
    let blob = Blob(words.as_bytes().to_vec());
    let act = Act::Club(ClubOrder::Say { club: FIRST, body: blob.id() });
    person.acts_with(server, act, vec![blob], 100);
    turn(server);
}

/// Returns the lines of clubs that came to a client, each with the name of the club.
fn heard(server: &mut Alone, client: ClientId) -> Vec<(String, String)> {
    let lines = server.heard(client).into_iter().filter_map(|message| match message {
        ServerMessage::Heard(line) if line.channel == CLUB => Some(line),
        _ => None,
    });
    lines.map(|line| (line.club.map(|club| club.name).unwrap_or_default(), line.text)).collect()
}

fn clubs(server: &mut Alone, of: Option<PublicKey>) -> Vec<ClubEntry> {
    let question = Question::Clubs { of, after: ClubId(0) };
    let Answer::Clubs(told) = server.ask(question) else { panic!("clubs are answered") };
    told
}

#[test]
fn members_who_are_logged_in_hear_a_club_and_who_comes_later_hears_what_was_said_of_late() {
    let (mut server, [mut alice, bob, eve]) = gardeners();
    // A session that only asks is nobody's who is logged in.
    let asking = server.client_up();
    says(&mut server, &mut alice, "the roses bloom");
    let line = || vec![("Gardeners".to_owned(), "the roses bloom".to_owned())];
    assert_eq!(heard(&mut server, alice.client), line());
    assert_eq!(heard(&mut server, bob.client), line());
    assert_eq!(heard(&mut server, eve.client), []);
    assert_eq!(heard(&mut server, asking), []);

    let again = enters(&mut server, BOB, "Bob");
    assert_eq!(heard(&mut server, again.client), line());
    let again = enters(&mut server, EVE, "Eve");
    assert_eq!(heard(&mut server, again.client), []);
}

#[test]
fn a_server_tells_the_clubs_of_a_person_with_who_is_here_and_who_is_invited() {
    let (mut server, [mut alice, ..]) = gardeners();
    does(&mut server, &mut alice, ClubOrder::Invite { club: FIRST, key: public(EVE) });
    let told = clubs(&mut server, Some(public(BOB)));
    let [club] = &told[..] else { panic!("{told:?}") };
    assert_eq!((club.club, club.name.as_str(), club.owner), (FIRST, "Gardeners", public(ADMIN)));
    let bob = club.member(&public(BOB)).expect("a member");
    assert_eq!((bob.name.as_str(), bob.here, club.members.len()), ("Bob", true, 2));
    let invite = club.invite(&public(EVE)).expect("she is invited");
    assert_eq!((invite.invited.name.as_str(), invite.by), ("Eve", public(ADMIN)));
    assert!(invite.left > 6 * 86_400_000, "{}", invite.left);
    assert_eq!(clubs(&mut server, Some(public(EVE))), told, "who is invited reads of it");
    assert_eq!(clubs(&mut server, Some(public(1))), []);
    assert_eq!(clubs(&mut server, None), told);
    let after = Question::Clubs { of: None, after: FIRST };
    assert_eq!(server.ask(after), Answer::Clubs(Vec::new()));

    let ground = GroundArea { x: 8, y: 8, width: 8, depth: 4 };
    let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
    alice.acts(&mut server, Act::Lot(claim), 101);
    turn(&mut server);
    let open = LotOrder::OpenToClub { lot: LotId(1), club: FIRST };
    alice.acts(&mut server, Act::Lot(open), 101);
    turn(&mut server);
    let Answer::Lots(lots) = server.ask(Question::Lots { after: LotId(0) }) else {
        panic!("lots are answered")
    };
    let open_to = lots[0].club.as_ref().map(|club| (club.club, club.name.as_str()));
    assert_eq!(open_to, Some((FIRST, "Gardeners")));

    let order = GovernOrder::EndClub { club: FIRST };
    let intended = IntendedOrder { author: public(ADMIN), order };
    let Answer::DryRun(would) = server.ask(Question::DryRun(Box::new(intended))) else {
        panic!("a dry run is answered")
    };
    assert_eq!(would.person.map(|owner| owner.name), Some("Alice".to_owned()));
}

#[test]
fn the_longest_clubs_fill_an_answer_that_fits_a_frame() {
    let name = "n".repeat(NAME_BYTES_MAX);
    let person = |n: usize| {
        let mut key = [0xff; 32];
        key[0] = n as u8;
        ClubPerson { key: PublicKey(key), name: name.clone(), here: true }
    };
    let invite =
        |n: usize| ClubInviteEntry { invited: person(n), by: person(0).key, left: u64::MAX };
    let longest = ClubEntry {
        club: ClubId(u64::MAX),
        name: name.clone(),
        owner: person(0).key,
        members: (0..CLUB_MEMBERS_MAX).map(person).collect(),
        invites: (0..CLUB_INVITES_MAX).map(invite).collect(),
    };
    let bytes = wire::encode(&vec![longest; CLUBS_PER_ANSWER_MAX]).len();
    assert!(bytes < 290 * 1_024, "{bytes}");
}
