//! Records that the map does not speak for: land is granted all the time, and anybody can make records up.

use std::time::Duration;

use metatopia_raynet::{
    Overlay, OverlayEffect, OverlayInput, OverlayMessage, PlaneBlock, TilePoint,
    limits::{DOUBTS_PER_PEER_MAX, HOST_DOUBTS_MAX, SITE_ENDPOINTS_MAX, STRANGER_DOUBTS_MAX},
    pace::{DOUBT_CYCLES, SHELVES_NEAR},
};
use metatopia_types::{Now, Square};

use crate::town::{
    CYCLE, DAWN, Lone, beacon, config, endpoint, exchange, grant, key, record, said, shelf, signed,
    square,
};

/// Blocks of which the member has a map, each with a corner.
const BLOCKS: usize = 48;

fn corner(block: usize) -> TilePoint {
    TilePoint { x: 64 * (block as i32 + 1), y: 6_400 }
}

/// Returns the square of a site that is granted land.
fn place(site: usize) -> Square {
    square(20 * site as i32, 0)
}

/// A member with the map of the whole plane, of which a row of blocks is newer.
fn lone() -> Lone {
    let mut lone = Lone::new(&[0, 1, 2].map(|site| grant(site, place(site))));
    for block in 0..BLOCKS {
        let empty = shelf(PlaneBlock::around(corner(block), 6), 200, Vec::new());
        lone.give(OverlayInput::Shelf(empty.proof.clone()));
    }
    lone
}

/// Who was asked for maps: the host, and the sender.
#[derive(Debug, Default, PartialEq, Eq)]
struct MapsAsked {
    host: usize,
    sender: usize,
}

impl MapsAsked {
    fn count(&mut self, effect: OverlayEffect) {
        self.host += usize::from(matches!(effect, OverlayEffect::ShelfWanted(_)));
        if let Some((_, OverlayMessage::WantShelves(points))) = said(effect) {
            self.sender += points.len();
        }
    }
}

/// Shows records that nobody was granted land for, one in each of these blocks. A liar connects anew when its
/// tips are passed over.
fn show(
    lone: &mut Lone,
    from: usize,
    blocks: impl Iterator<Item = usize>,
    round: usize,
) -> MapsAsked {
    let mut asked = MapsAsked::default();
    for block in blocks {
        lone.give(OverlayInput::Up(key(from)));
        let TilePoint { x, y } = corner(block);
        let made_up = signed(1_000 + 100 * round + block, Square { x, y, doublings: 0 });
        lone.show(from, &made_up).into_iter().for_each(|effect| asked.count(effect));
        if block % 16 == 15 {
            lone.give(OverlayInput::Closed(key(from)));
        }
    }
    asked
}

/// Whoever made records up had this member, and its host's session with the land office, ask for the map without
/// end.
#[test]
fn records_that_are_made_up_in_one_block_make_a_member_ask_once_in_some_cycles() {
    let mut lone = lone();
    let cycles = 8 * DOUBT_CYCLES as usize;
    let mut all = MapsAsked::default();
    for cycle in 0..cycles {
        for again in 0..4 {
            let asked = show(&mut lone, 1, core::iter::once(7), 4 * cycle + again);
            (all.host, all.sender) = (all.host + asked.host, all.sender + asked.sender);
        }
        lone.pass(CYCLE * 9 / 8);
    }
    let most = cycles * 9 / 8 / DOUBT_CYCLES as usize + 1;
    assert!((2..=most).contains(&all.host) && (2..=most).contains(&all.sender), "{all:?}");
}

#[test]
fn records_that_are_made_up_everywhere_make_a_member_ask_so_often_in_a_cycle() {
    let mut lone = lone();
    let (each, all) = (DOUBTS_PER_PEER_MAX as usize, STRANGER_DOUBTS_MAX);
    assert_eq!(show(&mut lone, 1, 0..15, 1), MapsAsked { host: 15, sender: each });
    let mut asked = MapsAsked::default();
    for from in 2..2 + all {
        let more = show(&mut lone, from, 15..47, from);
        (asked.host, asked.sender) = (asked.host + more.host, asked.sender + more.sender);
    }
    assert_eq!(asked, MapsAsked { host: HOST_DOUBTS_MAX - 15, sender: all - each });
    let before = lone.member.counts().rationed;
    assert_eq!(show(&mut lone, 99, 47..48, 40), MapsAsked::default());
    assert!(lone.member.counts().rationed > before);
    // The host is asked about what waited, and each sender anew.
    let wanted = lone.pass(CYCLE * 2);
    let is_wanted = |effect: &&OverlayEffect| matches!(effect, OverlayEffect::ShelfWanted(_));
    assert_eq!(wanted.iter().filter(is_wanted).count(), HOST_DOUBTS_MAX);
    assert_eq!(show(&mut lone, 99, 40..47, 41), MapsAsked { host: 0, sender: each });
}

/// A closed connection took its ration along, so the same key had a new one as often as it liked.
#[test]
fn a_liar_who_connects_anew_is_asked_no_more_often() {
    let mut lone = lone();
    let mut asked = 0;
    for block in 0..40 {
        asked += show(&mut lone, 1, core::iter::once(block), block).sender;
        lone.give(OverlayInput::Closed(key(1)));
    }
    assert_eq!(asked, DOUBTS_PER_PEER_MAX as usize);
}

/// The site whose grant is news, in the last block, about which no liar says anything.
const NEWS: usize = 700;

fn news() -> Square {
    let TilePoint { x, y } = corner(BLOCKS - 1);
    Square { x, y, doublings: 0 }
}

/// The map that speaks for the news.
fn newer_map() -> Vec<u8> {
    let block = PlaneBlock::around(corner(BLOCKS - 1), 6);
    shelf(block, 201, vec![grant(NEWS, news())]).proof.clone()
}

fn is_believed(lone: &mut Lone) -> bool {
    lone.meet(NEWS, news());
    lone.member.neighbours().any(|site| site.record.square == news())
}

/// Has sixteen keys, each of which connects anew, make up records in all blocks but the last.
fn lie_everywhere(lone: &mut Lone, cycle: usize) {
    for liar in 0..16 {
        show(lone, 100 + liar, 0..BLOCKS - 1, 16 * cycle + liar);
    }
}

/// Sixteen lying keys used up all doubts of each cycle, so neither the sender nor the host was asked, for ever.
#[test]
fn a_new_grant_is_asked_about_in_its_turn_and_believed_while_sixteen_keys_lie() {
    let mut lone = lone();
    let within = BLOCKS.div_ceil(HOST_DOUBTS_MAX);
    let mut asked_in = None;
    for cycle in 0..3 * within {
        lie_everywhere(&mut lone, cycle);
        let shown = lone.show(NEWS, &signed(NEWS, news()));
        let wanted: Vec<OverlayEffect> =
            shown.into_iter().chain(lone.pass(CYCLE * 9 / 8)).collect();
        let at = TilePoint::middle(news()).expect("a square");
        let is_asked = |effect: &OverlayEffect| *effect == OverlayEffect::ShelfWanted(at);
        if wanted.iter().any(is_asked) {
            asked_in = Some(cycle);
            break;
        }
        lone.give(OverlayInput::Up(key(NEWS)));
    }
    assert!(asked_in.is_some_and(|cycle| cycle < within), "{asked_in:?} of {within}");
    assert!(!is_believed(&mut lone), "its map has not come");
    lone.give(OverlayInput::Shelf(newer_map()));
    assert!(is_believed(&mut lone));
}

#[test]
fn a_checked_site_that_tells_of_a_new_grant_is_asked_at_once_while_sixteen_keys_lie() {
    let mut lone = lone();
    lone.meet(1, place(1));
    lie_everywhere(&mut lone, 0);
    let shown = lone.show(1, &signed(NEWS, news()));
    let asks = |(to, message): (_, OverlayMessage)| {
        to == key(1) && matches!(message, OverlayMessage::WantShelves(_))
    };
    assert!(shown.into_iter().filter_map(said).any(asks));
    assert!(!is_believed(&mut lone), "its map has not come");
    lone.hear(1, &OverlayMessage::Shelf(newer_map()));
    assert!(is_believed(&mut lone));
}

/// Keys of servers are as free as those of strangers.
#[test]
fn a_site_has_one_ration_for_all_its_servers_and_none_of_a_site_whose_key_it_names() {
    let mut lone = lone();
    lone.meet(1, place(1));
    lone.meet(2, place(2));
    let mut many = record(2, place(2));
    many.epoch.record = 2;
    many.endpoints.extend([endpoint(1), endpoint(21), endpoint(22)]);
    assert_eq!(many.endpoints.len(), SITE_ENDPOINTS_MAX);
    lone.hear(2, &exchange(2, place(2), vec![many.clone().sign(&beacon(2)).tip()]));
    lone.hear(2, &OverlayMessage::Records(vec![many.sign(&beacon(2))]));
    let each = DOUBTS_PER_PEER_MAX as usize;
    let mut sender = |from: usize, blocks| show(&mut lone, from, blocks, from).sender;
    assert_eq!([sender(21, 0..3), sender(22, 3..6), sender(2, 6..9)], [3, each - 3, 0]);
    assert_eq!(sender(1, 9..15), each);
}

/// Whoever seeks points of which there is no map makes a member ask its host, too.
#[test]
fn a_doubt_for_which_the_host_has_no_room_is_the_first_of_the_next_cycle() {
    let now = Now { monotonic: Duration::ZERO, wall: DAWN };
    let mut lone = Lone { member: Overlay::new(config(0), now), now };
    let quarter = PlaneBlock::around(corner(0), PlaneBlock::DOUBLINGS_MAX - 1);
    let map = shelf(quarter, 100, vec![grant(0, square(0, 0))]);
    lone.give(OverlayInput::Shelf(map.proof.clone()));
    lone.give(OverlayInput::Own(Box::new(signed(0, square(0, 0)))));
    lone.give(OverlayInput::Up(key(5)));
    for step in 1..=SHELVES_NEAR as i32 {
        let point = TilePoint { x: -100 * step, y: -100 };
        lone.hear(5, &OverlayMessage::Seek { nonce: 1, point, most: 2, map: true });
    }
    assert_eq!(show(&mut lone, 1, core::iter::once(7), 1).host, 0);
    let TilePoint { x, y } = corner(7);
    let at = TilePoint::middle(Square { x, y, doublings: 0 }).expect("a square");
    let wanted = lone.pass(CYCLE * 9 / 8).into_iter().find_map(|effect| match effect {
        OverlayEffect::ShelfWanted(point) => Some(point),
        _ => None,
    });
    assert_eq!(wanted, Some(at));
}

/// Who is granted land beside a liar's made-up records is asked for the map, though the host just was.
#[test]
fn each_sender_is_asked_for_the_map_whatever_others_made_up_about_the_block() {
    let mut lone = lone();
    assert_eq!(show(&mut lone, 1, core::iter::once(7), 1), MapsAsked { host: 1, sender: 1 });
    assert_eq!(show(&mut lone, 2, core::iter::once(7), 2), MapsAsked { host: 0, sender: 1 });
    assert_eq!(show(&mut lone, 2, core::iter::once(7), 3), MapsAsked::default());
}
