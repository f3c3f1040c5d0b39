//! Orders about people at a server: connections that end by them, and what it tells and proves of them.

use std::collections::BTreeSet;

use metatopia_protocol::{
    Answer, AreaRightEntry, Goodbye, IntendedChange, IntendedChangeEntry, IntendedOrder,
    KeyHoldings, LOTS_PER_ANSWER_MAX, LotEntry, LotPerson, MAILBOX_PER_ANSWER_MAX, OrdersAnswer,
    PEOPLE_PER_ANSWER_MAX, PersonEntry, Question, REPORTS_PER_ANSWER_MAX, ReportEntry, RulingEntry,
    ServerMessage, ToldMessage,
};
use metatopia_replica::ClientId;
use metatopia_sim::{Charter, Governance, RecordedOrder};
use metatopia_types::{
    Act, Blob, BlobId, BorderOrder, BorderRefusal, ClubId, ClubName, Digest, Envelope, GovernOrder,
    GroundArea, Height, Lane, Look, LotId, LotOrder, PublicKey, Refusal, ReportSubject, RoleRight,
    Ruling, Seq, SetChange, Sign, SigningKey, SimId, TicketOrder,
    limits::{
        CHAT_BYTES_MAX, LEAF_BYTES_MAX, NAME_BYTES_MAX, REASON_BYTES_MAX, REPORT_BYTES_MAX,
        ROOT_LAG, SEALED_BYTES_MAX,
    },
    wire,
};

use super::{
    alone::{Alone, genesis},
    author_class::Person,
};

pub(super) const ADMIN: u8 = 100;
const PEST: u8 = 66;

pub(super) fn public(n: u8) -> PublicKey {
    SigningKey::from_seed([n; 32]).public()
}

/// A server with an admin who is logged in.
pub(super) fn governed() -> (Alone, Person) {
    let mut genesis = genesis();
    genesis.admins = BTreeSet::from([public(ADMIN)]);
    let mut server = Alone::found(&genesis);
    server.run_to(3);
    let mut admin = Person::comes(&mut server, ADMIN);
    admin.acts(&mut server, Act::login("Alice".to_owned(), Look::default()), 100);
    turn(&mut server);
    (server, admin)
}

/// Plays so many turns that an act is decided and applied.
pub(super) fn turn(server: &mut Alone) {
    let height = server.height().0;
    server.run_to(height + 2);
}

fn order(server: &mut Alone, admin: &mut Person, order: GovernOrder) {
    admin.acts(server, Act::Govern(order), 100);
    turn(server);
}

fn ban(seconds: Option<u32>) -> GovernOrder {
    GovernOrder::Ban { key: public(PEST), seconds, reason: "spam".to_owned() }
}

fn goodbyes(server: &mut Alone, client: ClientId) -> Vec<Goodbye> {
    let told = server.heard(client).into_iter();
    let why = |message| match message {
        ServerMessage::Goodbye(why) => Some(why),
        _ => None,
    };
    told.filter_map(why).collect()
}

fn person(server: &mut Alone, key: PublicKey) -> PersonEntry {
    match server.ask(Question::Person { key }) {
        Answer::Person(entry) => *entry,
        other => panic!("{other:?} where a person belongs"),
    }
}

fn page(server: &mut Alone, below: u64) -> OrdersAnswer {
    match server.ask(Question::Orders { below }) {
        Answer::Orders(page) => *page,
        other => panic!("{other:?} where orders belong"),
    }
}

#[test]
fn a_ban_ends_all_sessions_of_its_key_with_the_turn_and_none_opens_for_longer_than_a_turn() {
    let (mut server, mut admin) = governed();
    let first = Person::comes(&mut server, PEST);
    let second = Person::comes(&mut server, PEST);
    let other = Person::comes(&mut server, 67);
    turn(&mut server);
    for client in [first.client, second.client, other.client] {
        assert_eq!(goodbyes(&mut server, client), []);
    }
    order(&mut server, &mut admin, ban(None));
    for client in [first.client, second.client] {
        assert_eq!(goodbyes(&mut server, client), [Goodbye::Banned]);
    }
    assert_eq!(goodbyes(&mut server, other.client), []);
    let again = Person::comes(&mut server, PEST);
    turn(&mut server);
    assert_eq!(goodbyes(&mut server, again.client), [Goodbye::Banned]);

    order(&mut server, &mut admin, GovernOrder::Unban { key: public(PEST) });
    let back = Person::comes(&mut server, PEST);
    turn(&mut server);
    assert_eq!(goodbyes(&mut server, back.client), []);
}

#[test]
fn who_is_kicked_is_told_so_and_may_connect_again() {
    let (mut server, mut admin) = governed();
    let mut pest = Person::comes(&mut server, PEST);
    pest.acts(&mut server, Act::login("Pest".to_owned(), Look::default()), 100);
    turn(&mut server);
    assert!(person(&mut server, public(PEST)).here);
    order(&mut server, &mut admin, GovernOrder::Kick { key: public(PEST) });
    assert_eq!(goodbyes(&mut server, pest.client), [Goodbye::Kicked]);
    assert!(!person(&mut server, public(PEST)).here);
    let back = Person::comes(&mut server, PEST);
    turn(&mut server);
    assert_eq!(goodbyes(&mut server, back.client), []);
}

#[test]
fn what_was_ordered_about_a_key_is_told_and_what_an_order_would_do() {
    let (mut server, mut admin) = governed();
    let mut pest = Person::comes(&mut server, PEST);
    pest.acts(&mut server, Act::login("Pest".to_owned(), Look::default()), 100);
    turn(&mut server);
    let rights = BTreeSet::from([RoleRight::Build]);
    let grant = GovernOrder::Grant { key: public(PEST), rights, seconds: Some(3_600) };
    order(&mut server, &mut admin, grant);
    let area = GroundArea { x: 4, y: -20, width: 16, depth: 8 };
    let (key, rights, seconds) = (public(PEST), BTreeSet::from([RoleRight::Land]), None);
    order(&mut server, &mut admin, GovernOrder::GrantArea { key, rights, area, seconds });
    let mute =
        GovernOrder::Mute { key: public(PEST), seconds: None, reason: "shouting".to_owned() };
    order(&mut server, &mut admin, mute);

    let told = person(&mut server, public(PEST));
    assert_eq!((told.name.as_str(), told.here, told.admin), ("Pest", true, false));
    assert_eq!(told.rights.len(), 1, "what holds on an area is told apart");
    assert_eq!(told.rights[0].right, RoleRight::Build);
    let AreaRightEntry { area: on, given } = told.area_rights[0];
    assert_eq!((on, given.right, given.left), (area, RoleRight::Land, None));
    assert!(told.rights[0].left.is_some_and(|left| left <= 3_600_000));
    let mute = told.mute.clone().expect("a mute");
    assert_eq!((mute.by, mute.left, mute.reason.as_str()), (public(ADMIN), None, "shouting"));
    assert_eq!(server.ask(Question::People { after: None }), Answer::People(vec![told]));
    let after = Some(public(PEST));
    assert_eq!(server.ask(Question::People { after }), Answer::People(Vec::new()));

    let dry = |server: &mut Alone, author: u8| {
        let intended = IntendedOrder { author: public(author), order: ban(None) };
        match server.ask(Question::DryRun(Box::new(intended))) {
            Answer::DryRun(told) => *told,
            other => panic!("{other:?} where a dry run belongs"),
        }
    };
    let would = dry(&mut server, ADMIN);
    assert_eq!(would.verdict, Ok("as admin".to_owned()));
    assert_eq!(would.person.map(|person| person.name), Some("Pest".to_owned()));
    assert_eq!(dry(&mut server, PEST).verdict, Err(Refusal::NoRight));
    assert!(person(&mut server, public(PEST)).ban.is_none(), "nothing was done");
}

/// Asks what an act with its blob would do.
fn tried_with(
    server: &mut Alone,
    author: u8,
    (act, blob): (Act, Option<Blob>),
) -> IntendedChangeEntry {
    let intended = IntendedChange { author: public(author), act, blob };
    match server.ask(Question::TryChange(Box::new(intended))) {
        Answer::Change(told) => *told,
        other => panic!("{other:?} where a tried change belongs"),
    }
}

// Tickets and borders could be ordered, and nobody could ask first what that would do.
#[test]
fn orders_about_tickets_and_borders_are_tried_by_the_rules_that_decide_them() {
    let (mut server, _admin) = governed();
    let mut tried = |author, act, blob| tried_with(&mut server, author, (act, blob)).verdict;
    let issue = |days| Act::Ticket(TicketOrder::Issue { ticket: public(9), uses: 3, days });
    assert_eq!(tried(ADMIN, issue(7), None), Ok("as admin".to_owned()));
    assert_eq!(tried(PEST, issue(7), None), Err(Refusal::NotAdmin));
    assert_eq!(tried(ADMIN, issue(0), None), Err(Refusal::OutOfRange));
    let withdraw = Act::Ticket(TicketOrder::Withdraw { ticket: public(9) });
    assert_eq!(tried(ADMIN, withdraw, None), Err(Refusal::NoTicket), "it was only tried");

    let close = BorderOrder::Close { neighbour: SimId(Digest([7; 32])) };
    let act = || Act::Border { order: close.blob().id() };
    let wrong = |why| Err(Refusal::BadBorder(why));
    assert_eq!(tried(ADMIN, act(), Some(close.blob())), wrong(BorderRefusal::NoBorder));
    assert_eq!(tried(PEST, act(), Some(close.blob())), Err(Refusal::NotAdmin));
    let other = Blob(b"another order".to_vec());
    for blob in [None, Some(other.clone())] {
        assert_eq!(tried(ADMIN, act(), blob), Err(Refusal::NoBlob));
    }
    let none = Act::Border { order: other.id() };
    assert_eq!(tried(ADMIN, none, Some(other)), wrong(BorderRefusal::NoOrder));
}

// `admin set`, `promote` and `demote` could not be tried, and a ban did not say what stays.
#[test]
fn changes_are_tried_with_the_value_that_is_and_a_ban_tells_what_its_person_has() {
    let (mut server, mut admin) = governed();
    let ground = GroundArea { x: 8, y: 8, width: 8, depth: 4 };
    let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
    admin.acts(&mut server, Act::Lot(claim), 101);
    turn(&mut server);
    let kick = GovernOrder::Kick { key: public(ADMIN) };
    let intended = IntendedOrder { author: public(ADMIN), order: kick };
    let Answer::DryRun(would) = server.ask(Question::DryRun(Box::new(intended))) else {
        panic!("a dry run is answered")
    };
    assert_eq!(would.holdings, KeyHoldings { sessions: 1, things: 0, lots: 1 });

    let tried = |server: &mut Alone, author: u8, act: Act| tried_with(server, author, (act, None));
    let amend = |value: &str| Act::Amend { name: "name".to_owned(), value: value.to_owned() };
    let would = tried(&mut server, ADMIN, amend("Harbour"));
    assert_eq!(would.verdict, Ok("as admin".to_owned()));
    assert_eq!((would.players, would.here, would.voters), (1, 1, 1));
    assert!(!would.value.is_empty() && would.value != "Harbour", "{would:?}");
    assert_eq!(tried(&mut server, ADMIN, amend("")).verdict, Err(Refusal::OutOfRange));
    assert_eq!(tried(&mut server, PEST, amend("Harbour")).verdict, Err(Refusal::NotAdmin));
    let remove = Act::SetChange(SetChange::Remove { key: public(PEST) });
    assert_eq!(tried(&mut server, ADMIN, remove).verdict, Err(Refusal::BadSetChange));
    assert_eq!(tried(&mut server, ADMIN, Act::Leave).verdict, Err(Refusal::NoParameter));
    assert_eq!(tried(&mut server, ADMIN, amend("Port")).value, would.value, "nothing was done");
}

#[test]
fn a_full_answer_has_256_keys_and_the_rest_is_asked_for_after_the_last() {
    let (mut server, mut admin) = governed();
    for n in 0..=PEOPLE_PER_ANSWER_MAX {
        let key = PublicKey(Digest::of("a test's key", &n.to_le_bytes()).0);
        let ban = GovernOrder::Ban { key, seconds: None, reason: String::new() };
        order(&mut server, &mut admin, ban);
    }
    let ask = |server: &mut Alone, after: Option<PublicKey>| match server
        .ask(Question::People { after })
    {
        Answer::People(page) => page,
        other => panic!("{other:?} where people belong"),
    };
    let first = ask(&mut server, None);
    assert_eq!(first.len(), PEOPLE_PER_ANSWER_MAX);
    assert!(first.windows(2).all(|pair| pair[0].key < pair[1].key));
    let rest = ask(&mut server, first.last().map(|person| person.key));
    assert_eq!(rest.len(), 1);
    assert!(rest[0].key > first[PEOPLE_PER_ANSWER_MAX - 1].key);
}

#[test]
fn orders_come_in_pages_that_are_proved_by_a_certified_state() {
    let (mut server, mut admin) = governed();
    for seconds in 1..=5 {
        order(&mut server, &mut admin, ban(Some(1_000 + seconds)));
    }
    let height = server.height().0;
    server.run_to(height + ROOT_LAG + 1);
    let answer = page(&mut server, u64::MAX);
    let root = answer.header.root;
    assert_eq!(answer.governance.verify(root), Ok(()));
    let governance: Governance =
        wire::decode(&answer.governance.content, LEAF_BYTES_MAX).expect("a leaf");
    assert_eq!(governance.orders, 5);
    let leaf = answer.page.expect("a page");
    assert_eq!(leaf.verify(root), Ok(()));
    let orders: Vec<(u64, RecordedOrder)> =
        wire::decode(&leaf.content, LEAF_BYTES_MAX).expect("a leaf");
    let numbers: Vec<u64> = orders.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert!(orders.iter().all(|(_, order)| order.by == public(ADMIN)));
    assert!(page(&mut server, 2).page.is_some());
    assert_eq!(page(&mut server, 0).page, None);

    // So does what the sim is.
    let Answer::Charter(answer) = server.ask(Question::Charter) else { panic!("no charter") };
    assert_eq!(answer.charter.verify(answer.header.root), Ok(()));
    let charter: Charter = wire::decode(&answer.charter.content, LEAF_BYTES_MAX).expect("a leaf");
    assert_eq!(charter.name, genesis().name);
}

#[test]
fn a_server_tells_the_lots_with_names_and_in_pages() {
    let (mut server, mut admin) = governed();
    assert_eq!(server.ask(Question::Lots { after: LotId(0) }), Answer::Lots(Vec::new()));
    let ground = GroundArea { x: 8, y: 8, width: 8, depth: 4 };
    let claim = LotOrder::Claim { ground, name: "garden".to_owned() };
    admin.acts(&mut server, Act::Lot(claim), 101);
    turn(&mut server);

    let Answer::Lots(lots) = server.ask(Question::Lots { after: LotId(0) }) else {
        panic!("lots belong here")
    };

    let [lot] = &lots[..] else { panic!("{lots:?}") };
    let high = metatopia_sim::Area::of_ground(ground).high;
    assert_eq!((lot.lot, lot.name.as_str(), lot.high), (LotId(1), "garden", high));
    assert_eq!((lot.holder.key, lot.holder.name.as_str()), (public(ADMIN), "Alice"));
    let after = LotId(1);
    assert_eq!(server.ask(Question::Lots { after }), Answer::Lots(Vec::new()));
    // The longest lots fill an answer, which still fits a frame.
    let person = LotPerson { key: public(ADMIN), name: "n".repeat(NAME_BYTES_MAX) };
    let friends = vec![person.clone(); metatopia_sim::limits::LOT_FRIENDS_MAX];
    let name = "n".repeat(NAME_BYTES_MAX);
    let club = Some(ClubName { club: ClubId(u64::MAX), name });
    let longest =
        LotEntry { name: "n".repeat(NAME_BYTES_MAX), holder: person, friends, club, ..lot.clone() };
    let bytes = wire::encode(&vec![longest; LOTS_PER_ANSWER_MAX]).len();
    assert!(bytes < 330 * 1_024, "{bytes}");
}

#[test]
fn reports_are_told_with_who_filed_them_and_what_was_decided() {
    let (mut server, mut admin) = governed();
    let mut pest = Person::comes(&mut server, PEST);
    pest.acts(&mut server, Act::login("Pest".to_owned(), Look::default()), 100);
    turn(&mut server);
    assert_eq!(server.ask(Question::Reports { after: 0 }), Answer::Reports(Vec::new()));
    let about = ReportSubject::Person(public(PEST));
    admin.acts(&mut server, Act::FileReport { about, words: "it shouts".to_owned() }, 100);
    turn(&mut server);
    let Answer::Reports(told) = server.ask(Question::Reports { after: 0 }) else {
        panic!("reports are answered")
    };
    let [entry] = &told[..] else { panic!("{told:?}") };
    assert_eq!((entry.report, entry.by_name.as_str(), entry.name.as_str()), (1, "Alice", "Pest"));
    assert_eq!((entry.accused, entry.ruling.clone()), (Some(public(PEST)), None));

    let decide = |report| {
        let (ruling, reason) = (Ruling::Upheld, "too loud".to_owned());
        GovernOrder::Decide { report, ruling, reason }
    };
    let intended = IntendedOrder { author: public(ADMIN), order: decide(1) };
    let Answer::DryRun(would) = server.ask(Question::DryRun(Box::new(intended))) else {
        panic!("a dry run is answered")
    };
    assert_eq!(would.verdict, Ok("as admin".to_owned()));
    assert_eq!(would.person.map(|person| person.name), Some("Pest".to_owned()));
    let intended = IntendedOrder { author: public(ADMIN), order: decide(9) };
    let Answer::DryRun(would) = server.ask(Question::DryRun(Box::new(intended))) else {
        panic!("a dry run is answered")
    };
    assert_eq!(would.verdict, Err(Refusal::NoReport));

    order(&mut server, &mut admin, decide(1));
    let Answer::Reports(told) = server.ask(Question::Reports { after: 0 }) else {
        panic!("reports are answered")
    };
    let given = told[0].ruling.clone().expect("a ruling");
    assert_eq!((given.ruling, given.reason.as_str()), (Ruling::Upheld, "too loud"));
    assert_eq!(server.ask(Question::Reports { after: 1 }), Answer::Reports(Vec::new()));
}

#[test]
fn a_whole_mailbox_of_the_longest_words_is_one_answer() {
    let mut server = governed().0;
    let of = public(PEST);
    assert_eq!(server.ask(Question::Mailbox { of, after: 0 }), Answer::Mailbox(Vec::new()));
    assert_eq!(MAILBOX_PER_ANSWER_MAX, metatopia_sim::limits::MAILBOX_MAX);
    let act = Act::Tell { to: of, sealed: BlobId(Digest([0xff; 32])) };
    let (sim, lane, seq) = (SimId(Digest([0xff; 32])), Lane(u64::MAX), Seq(u64::MAX));
    let last_valid = Height(u64::MAX);
    let envelope = Envelope { sim, author: of, lane, seq, last_valid, act };
    let longest = ToldMessage {
        number: u64::MAX,
        height: Height(u64::MAX),
        ago: u64::MAX,
        name: "x".repeat(NAME_BYTES_MAX),
        act: envelope.sign(&SigningKey::from_seed([1; 32])),
        sealed: vec![0xff; SEALED_BYTES_MAX],
    };
    let bytes = wire::encode(&vec![longest; MAILBOX_PER_ANSWER_MAX]).len();
    assert!(bytes <= 32 * 1_024, "{bytes}");
}

#[test]
fn a_full_answer_of_the_longest_reports_fits_a_frame() {
    let key = PublicKey([0xff; 32]);
    let longest = ReportEntry {
        report: u64::MAX,
        by: key,
        by_name: "x".repeat(NAME_BYTES_MAX),
        about: ReportSubject::Words { by: key, opened: BlobId(Digest([0xff; 32])) },
        name: "x".repeat(NAME_BYTES_MAX),
        accused: Some(key),
        words: "x".repeat(REPORT_BYTES_MAX),
        ago: u64::MAX,
        ruling: Some(RulingEntry {
            by: key,
            ruling: Ruling::Dismissed,
            reason: "x".repeat(REASON_BYTES_MAX),
            height: Height(u64::MAX),
        }),
        opened: Some("x".repeat(CHAT_BYTES_MAX)),
    };
    let bytes = wire::encode(&vec![longest; REPORTS_PER_ANSWER_MAX]).len();
    assert!(bytes <= 256 * 1_024, "{bytes}");
}
