//! Sessions that go on over connections and servers: copies, acts, and where to go next.

use std::time::Duration;

use metatopia_client::{Disproof, Distrust, ENTRANCES_MAX, SessionEvent, UnprovenSight};
use metatopia_protocol::*;
use metatopia_sim::Motion;
use metatopia_types::*;

use crate::stand::{Stand, Watcher, decode, key};
use crate::talk::{Talk, watching};

fn setting() -> (Stand, Talk, Watcher) {
    let mut stand = Stand::new();
    stand.enter();
    let talk = Talk::watching(&stand);
    (stand, talk, Watcher::default())
}

/// Returns what the client says that it has, when it asks for views.
fn asked(said: &[ClientMessage]) -> Vec<(TileName, Height)> {
    match said {
        [ClientMessage::View(Some(asked))] => {
            assert_eq!(Watching { have: Vec::new(), ..asked.clone() }, watching());
            asked.have.clone()
        }
        other => panic!("{other:?} where views are asked for"),
    }
}

#[test]
fn a_new_connection_goes_on_from_the_copies_that_it_has() {
    let (mut stand, mut talk, mut watcher) = setting();
    let height = talk.see(&mut stand, &mut watcher);
    talk.session.disconnected();
    talk.connect(stand.height());
    let have = asked(&talk.said());
    let tiles = stand.tiles();
    assert_eq!(have, tiles.iter().map(|tile| (*tile, height)).collect::<Vec<_>>());

    let mut elsewhere = Watcher { had: have.into_iter().collect(), number: 0 };
    let view = stand.view(&mut elsewhere, &tiles);
    assert!(view.tiles.iter().all(|update| update.since == Some(height)));
    let seen = view.height;
    assert_eq!(talk.view(view), [SessionEvent::View { height: seen }]);
    stand.turns(2);
    assert!(matches!(&talk.proof(stand.proof(seen, &tiles))[..], [SessionEvent::Proven(_)]));
    assert!(!talk.session.sight().is_inherited());
}

#[test]
fn what_was_said_before_is_told_once_and_apart_from_what_is_said_now() {
    let mut talk = Talk::of_one_server();
    let line = |height: u64| ChatMessage {
        height: Height(height),
        channel: 0,
        speaker: ObjectId(9),
        name: "Eve".to_owned(),
        text: format!("line {height}"),
        by: None,
        club: None,
    };
    let hear = |talk: &mut Talk, heights: &[u64]| -> Vec<(bool, u64)> {
        heights.iter().for_each(|height| talk.tell(&ServerMessage::Heard(line(*height))));
        let told = |event| match event {
            SessionEvent::Heard(line) => Some((false, line.height.0)),
            SessionEvent::HeardEarlier(line) => Some((true, line.height.0)),
            _ => None,
        };
        talk.events().into_iter().filter_map(told).collect()
    };

    talk.connect(Height(10));
    // Two lines of one turn are two lines.
    let told = hear(&mut talk, &[4, 4, 9, 11]);
    assert_eq!(told, [(true, 4), (true, 4), (true, 9), (false, 11)]);

    // On the next connection only what was missed is told.
    talk.session.disconnected();
    talk.connect(Height(20));
    let told = hear(&mut talk, &[4, 9, 11, 15, 21]);
    assert_eq!(told, [(true, 15), (false, 21)]);
}

#[test]
fn a_server_that_is_behind_shows_whole_tiles_of_an_earlier_height() {
    let (mut stand, mut talk, mut watcher) = setting();
    let tiles = stand.tiles();
    let behind = stand.view(&mut Watcher::default(), &tiles);
    let height = behind.height;
    stand.turns(5);
    talk.see(&mut stand, &mut watcher);
    talk.session.disconnected();
    talk.connect(height);
    talk.drain();
    assert_eq!(talk.view(behind), [SessionEvent::View { height }]);
    assert!(matches!(&talk.proof(stand.proof(height, &tiles))[..], [SessionEvent::Proven(_)]));
}

#[test]
fn views_go_on_when_they_are_asked_for_in_another_way() {
    let (mut stand, mut talk, mut watcher) = setting();
    let height = talk.see(&mut stand, &mut watcher);
    let tiles = stand.tiles();
    let (late, seen) = (stand.view(&mut watcher, &tiles), stand.height());
    talk.session.view(Some(watching()));
    assert!(asked(&talk.said()).iter().all(|(_, of)| *of == height));

    assert_eq!(talk.view(late), [SessionEvent::View { height: seen }], "it was under way");
    stand.turns(1);
    let had = tiles.iter().map(|tile| (*tile, height)).collect();
    let view = stand.view(&mut Watcher { had, number: watcher.number }, &tiles);
    let seen = view.height;
    assert_eq!(talk.view(view), [SessionEvent::View { height: seen }]);
    stand.turns(2);
    assert!(matches!(&talk.proof(stand.proof(seen, &tiles))[..], [SessionEvent::Proven(_)]));
}

/// Takes something out that stays as it is.
fn hide(view: &mut View) -> (TileName, ObjectId) {
    for update in &mut view.tiles {
        let wall = |bytes: &Vec<u8>| decode(bytes).body.motion() == Motion::Static;
        if let Some(at) = update.entries.iter().position(wall) {
            return (update.tile, decode(&update.entries.remove(at)).id);
        }
    }
    panic!("the plaza has no walls")
}

#[test]
fn a_lie_of_the_last_server_is_not_held_against_the_next() {
    let (mut stand, mut talk, mut watcher) = setting();
    let tiles = stand.tiles();
    let mut view = stand.view(&mut watcher, &tiles);
    let hidden = hide(&mut view);
    let tile = hidden.0;
    talk.view(view);
    talk.session.disconnected();
    talk.connect(stand.height());
    stand.turns(1);
    let mut elsewhere = Watcher { had: asked(&talk.said()).into_iter().collect(), number: 0 };
    let (view, of) = (stand.view(&mut elsewhere, &tiles), stand.height());
    talk.view(view);
    stand.turns(2);

    talk.tell(&ServerMessage::ViewProof(Box::new(stand.proof(of, &tiles))));
    let (said, events) = talk.drain();
    assert_eq!(events, [SessionEvent::Unproven(UnprovenSight::Anew)]);
    let [ask, ClientMessage::Ping { token }] = &said[..] else { panic!("{said:?}") };
    assert_eq!(asked(core::slice::from_ref(ask)), []);

    // What was under way is no answer to this.
    let late = stand.view(&mut elsewhere, &tiles);
    assert_eq!(talk.view(late), []);
    assert_eq!(talk.proof(stand.proof(of, &tiles)), []);
    talk.tell(&ServerMessage::Pong { token: *token });

    // Whatever is wrong after that is this server's own.
    stand.turns(1);
    let mut anew = Watcher { number: elsewhere.number, ..Watcher::default() };
    let mut view = stand.view(&mut anew, &tiles);
    let of = view.height;
    assert_eq!(hide(&mut view), hidden);
    talk.view(view);
    stand.turns(2);
    match &talk.proof(stand.proof(of, &tiles))[..] {
        [SessionEvent::Distrusted(Distrust::Shown(disproof))] => {
            assert!(matches!(**disproof, Disproof::OtherLeaf { tile: at, .. } if at == tile));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_stops_watching_takes_nothing_in() {
    let (mut stand, mut talk, mut watcher) = setting();
    talk.see(&mut stand, &mut watcher);
    talk.session.view(None);
    assert_eq!(talk.said(), [ClientMessage::View(None)]);
    let view = stand.view(&mut watcher, &stand.tiles());
    assert_eq!(talk.view(view), []);
    assert_eq!(talk.session.proven(), Err(UnprovenSight::Unasked));
}

#[test]
fn a_pong_tells_how_long_its_ping_took() {
    let (_, mut talk, _) = setting();
    talk.session.ping(Duration::from_millis(100));
    let [ClientMessage::Ping { token }] = talk.said()[..] else { panic!("no ping") };
    talk.now = Duration::from_millis(130);
    talk.tell(&ServerMessage::Pong { token: token + 1 });
    talk.tell(&ServerMessage::Pong { token });
    talk.tell(&ServerMessage::Pong { token });
    assert_eq!(talk.events(), [SessionEvent::Pong { after: Duration::from_millis(30) }]);
}

fn announcement(stand: &Stand, server: u8, issued: u64) -> EndpointAnnouncement {
    EndpointAnnouncement {
        sim: stand.sim(),
        server: key(server).public(),
        http: format!("http://127.0.0.1:{}", 8_000 + u64::from(server) + issued),
        quic: "127.0.0.1:9000".into(),
        certificates: Vec::new(),
        issued: Millis(issued),
    }
}

/// Answers the client's question for servers with these.
fn name_servers(talk: &mut Talk, servers: Vec<SignedAnnouncement>) -> Vec<SessionEvent> {
    let [ClientMessage::Ask { id, question: Question::Servers }] = talk.said()[..] else {
        panic!("servers were not asked for")
    };
    talk.tell(&ServerMessage::Answer { id, answer: Box::new(Answer::Servers(servers)) });
    talk.events()
}

#[test]
fn announcements_count_when_their_servers_vote_and_signed_them() {
    let (stand, mut talk, _) = setting();
    talk.session.follow_servers(Duration::ZERO);
    let good = announcement(&stand, 201, 5).sign(&key(201));
    let older = announcement(&stand, 201, 4).sign(&key(201));
    let stranger = announcement(&stand, 66, 5).sign(&key(66));
    let forged = announcement(&stand, 202, 5).sign(&key(201));
    let mut elsewhere = announcement(&stand, 203, 5);
    elsewhere.sim = SimId(Digest::ZERO);
    let elsewhere = elsewhere.sign(&key(203));

    let named = vec![stranger, forged, elsewhere, good.clone(), older];
    assert_eq!(name_servers(&mut talk, named.clone()), [SessionEvent::Servers]);
    assert_eq!(talk.session.endpoints().collect::<Vec<_>>(), [&good.announcement]);

    talk.now = talk.session.deadline().expect("asks again");
    talk.session.tick(talk.now);
    assert_eq!(name_servers(&mut talk, named), [], "nothing new");

    talk.now = talk.session.deadline().expect("asks again");
    talk.session.tick(talk.now);
    let newer = announcement(&stand, 201, 6).sign(&key(201));
    assert_eq!(name_servers(&mut talk, vec![newer.clone()]), [SessionEvent::Servers]);
    assert_eq!(talk.session.endpoints().collect::<Vec<_>>(), [&newer.announcement]);
}

#[test]
fn of_an_endless_list_of_announcements_only_so_many_are_read() {
    let (stand, mut talk, _) = setting();
    talk.session.follow_servers(Duration::ZERO);
    let forged = announcement(&stand, 202, 5).sign(&key(66));
    let mut named = vec![forged; ENTRANCES_MAX];
    named.push(announcement(&stand, 201, 5).sign(&key(201)));
    assert_eq!(name_servers(&mut talk, named), []);
}

/// The words of followers, of which a server knows any number, kept out those of servers that vote.
#[test]
fn however_many_others_are_named_no_member_is_left_out() {
    let (stand, mut talk, _) = setting();
    talk.session.follow_servers(Duration::ZERO);
    let stranger = announcement(&stand, 66, 5).sign(&key(66));
    let mut elsewhere = announcement(&stand, 202, 5);
    elsewhere.sim = SimId(Digest::ZERO);
    let mut named = vec![stranger; ENTRANCES_MAX];
    named.resize(2 * ENTRANCES_MAX, elsewhere.sign(&key(202)));
    let good = announcement(&stand, 201, 5).sign(&key(201));
    named.push(good.clone());
    assert_eq!(name_servers(&mut talk, named), [SessionEvent::Servers]);
    assert_eq!(talk.session.endpoints().collect::<Vec<_>>(), [&good.announcement]);
}

#[test]
fn servers_are_asked_for_again_on_the_next_connection() {
    let (stand, mut talk, _) = setting();
    talk.session.view(None);
    talk.session.follow_servers(Duration::ZERO);
    talk.drain();
    talk.session.disconnected();
    talk.now = Duration::from_secs(1);
    talk.connect(stand.height());
    let named = vec![announcement(&stand, 202, 1).sign(&key(202))];
    assert_eq!(name_servers(&mut talk, named), [SessionEvent::Servers]);
}
