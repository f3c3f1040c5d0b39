//! Every bound of a client is met.

use std::time::Duration;

use metatopia_client::{
    Distrust, ENTRIES_BYTES_MAX, ENTRIES_MAX, OVERLAY_MAX, PENDING_MAX, PINGS_MAX, QUESTIONS_MAX,
    SETS_MAX, SessionEvent, Sight, SightError, SubmitError, TILES_MAX,
};
use metatopia_protocol::*;
use metatopia_sim::{TILE_BYTES_MAX, TileEntry};
use metatopia_types::*;

use crate::stand::{Stand, Watcher, certificate, decode, set};
use crate::talk::Talk;

fn setting() -> (Stand, Talk) {
    let stand = Stand::new();
    let talk = Talk::watching(&stand);
    (stand, talk)
}

fn empty(number: u32, height: u64) -> View {
    View {
        number,
        height: Height(height),
        tick: Tick(3 * height),
        me: None,
        tiles: Vec::new(),
        left: Vec::new(),
        near: Vec::new(),
        far: Vec::new(),
        gestures: Vec::new(),
    }
}

/// Two tiles with together so many entries, each with a text of this length.
fn many(count: usize, length: usize) -> Vec<TileUpdate> {
    let stand = Stand::new();
    let view = stand.view(&mut Watcher::default(), &stand.full()[..2]);
    let halves = [0..count / 2, count / 2..count];
    let mut tiles = view.tiles;
    for (update, ids) in tiles.iter_mut().zip(halves) {
        let TileEntry { id, mut object, body } = decode(&update.entries[0]);
        object.text = "x".repeat(length);
        let body = wire::encode(&body);
        // A body begins with the id of its object.
        let rest = &body[wire::encode(&id).len()..];
        let entry = |n: usize| {
            let id = wire::encode(&ObjectId(n as u64 + 1));
            [&id, &wire::encode(&object)[..], &id, rest].concat()
        };
        update.entries = ids.map(entry).collect();
    }
    tiles
}

#[test]
fn acts_without_receipts_are_refused_beyond_a_bound() {
    let (_, mut talk) = setting();
    for _ in 0..PENDING_MAX {
        talk.session.submit(Duration::ZERO, Act::Heartbeat, Vec::new()).expect("room");
    }
    let more = talk.session.submit(Duration::ZERO, Act::Heartbeat, Vec::new());
    assert_eq!(more, Err(SubmitError::TooManyPending));
}

#[test]
fn questions_are_not_asked_beyond_a_bound() {
    let (_, mut talk) = setting();
    for _ in 0..QUESTIONS_MAX {
        assert!(talk.session.ask(Question::Players).is_some());
    }
    assert_eq!(talk.session.ask(Question::Players), None);
}

#[test]
fn of_too_many_pings_the_oldest_is_given_up() {
    let (_, mut talk) = setting();
    (0..=PINGS_MAX).for_each(|_| talk.session.ping(Duration::ZERO));
    let tokens: Vec<u64> = talk
        .said()
        .iter()
        .filter_map(|said| match said {
            ClientMessage::Ping { token } => Some(*token),
            _ => None,
        })
        .collect();
    for token in &tokens {
        talk.tell(&ServerMessage::Pong { token: *token });
    }
    assert_eq!((tokens.len(), talk.events().len()), (PINGS_MAX + 1, PINGS_MAX));
}

#[test]
fn more_tiles_than_a_client_holds_are_refused() {
    let tile = |x| {
        let (since, entries, moved, gone) = (None, Vec::new(), Vec::new(), Vec::new());
        TileUpdate { tile: TileName { x, y: 0 }, since, entries, moved, gone, more: false }
    };
    let most = i32::try_from(TILES_MAX).expect("few");
    let mut sight = Sight::of(Stand::visitor().public());
    let mut view = empty(1, 5);
    view.tiles = (0..most).map(tile).collect();
    assert_eq!(sight.apply(&view), Ok(()));
    let mut view = empty(2, 6);
    view.tiles = vec![tile(most)];
    assert_eq!(sight.apply(&view), Err(SightError::Tiles(TILES_MAX + 1)));
    assert_eq!(sight.have(), [], "everything is forgotten");
}

#[test]
fn more_overlays_than_a_client_draws_are_refused() {
    let mut view = empty(1, 5);
    view.gestures = vec![(ObjectId(1), Emote::Nod); OVERLAY_MAX];
    assert_eq!(Sight::of(Stand::visitor().public()).apply(&view), Ok(()));
    view.gestures.push((ObjectId(1), Emote::Nod));
    assert_eq!(
        Sight::of(Stand::visitor().public()).apply(&view),
        Err(SightError::Overlay(OVERLAY_MAX + 1))
    );
}

#[test]
fn entries_and_their_bytes_are_bounded_over_all_copies() {
    let (small, large) = (ENTRIES_MAX, ENTRIES_BYTES_MAX);
    for (count, length, limit) in [(small + 1, 0, small), (12_000, 1_500, large)] {
        let mut sight = Sight::of(Stand::visitor().public());
        let mut view = empty(1, 5);
        view.tiles = many(count, length);
        let each = view.tiles[0].entries[0].len();
        let found = sight.apply(&view);
        match found {
            Err(SightError::Entries(found)) => assert_eq!((found, limit), (limit + 1, small)),
            Err(SightError::Bytes(found)) => {
                assert_eq!(limit, large);
                assert!(found > limit && found <= limit + TILE_BYTES_MAX, "{found} of {each}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn set_changes_are_remembered_up_to_a_bound() {
    let mut stand = Stand::new();
    let mut light = stand.light();
    let sets: [&[u8]; 2] = [&[200, 201, 202, 203], &[200, 201, 202, 204]];
    stand.turns(3);
    let header = stand.proof(Height(1), &[]).header;
    for n in 0..SETS_MAX {
        let (old, new) = (sets[n % 2], sets[(n + 1) % 2]);
        let height = Height(n as u64 + 1);
        let (validators, next_validators) = (set(old).id(), set(new).id());
        let header = Header { height, validators, next_validators, ..header.clone() };
        let certificate = certificate(&header, old);
        light.follow(&ValidatorSetLink { header, certificate, next: set(new) }).expect("a change");
    }
    assert_eq!(light.newest(), Height(SETS_MAX as u64 + 1));
    assert_eq!(light.set(Height(1)), Err(Distrust::TooOld(Height(1))));
    assert_eq!(light.set(Height(2)).map(ValidatorSet::id), Ok(set(sets[1]).id()));
}

#[test]
fn frames_that_are_none_are_told_of() {
    let (_, mut talk) = setting();
    talk.session.handle(Duration::ZERO, &[250, 1, 2]);
    assert!(matches!(&talk.events()[..], [SessionEvent::BadFrame(_)]));
    let long = vec![0; SERVER_FRAME_BYTES_MAX + 1];
    talk.session.handle(Duration::ZERO, &long);
    assert!(matches!(&talk.events()[..], [SessionEvent::BadFrame(_)]));
}
