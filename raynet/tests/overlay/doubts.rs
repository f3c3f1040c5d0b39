//! Records that the map does not speak for: land is granted all the time, and anybody can make records up.

use metatopia_raynet::{
    OverlayEffect, OverlayInput, OverlayMessage, PlaneBlock, TilePoint,
    limits::{DOUBTS_PER_CYCLE_MAX, DOUBTS_PER_PEER_MAX},
    pace::DOUBT_CYCLES,
};
use metatopia_types::Square;

use crate::town::{CYCLE, Lone, grant, key, said, shelf, signed, square};

/// Blocks of which the member has a map, each with a corner.
const BLOCKS: usize = 48;

fn corner(block: usize) -> TilePoint {
    TilePoint { x: 64 * (block as i32 + 1), y: 6_400 }
}

/// A member with the map of the whole plane, of which a row of blocks is newer.
fn lone() -> Lone {
    let mut lone = Lone::new(&[grant(0, square(0, 0))]);
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
    let (each, all) = (DOUBTS_PER_PEER_MAX as usize, DOUBTS_PER_CYCLE_MAX);
    assert_eq!(show(&mut lone, 1, 0..15, 1), MapsAsked { host: each, sender: each });
    // A liar who connects again and again fills a cycle, and the next one is a new one.
    assert!(show(&mut lone, 2, 15..40, 2).host <= all - each);
    for from in 3..3 + all {
        show(&mut lone, from, 15..31, 3);
    }
    let before = lone.member.counts().rationed;
    assert_eq!(show(&mut lone, 99, 40..47, 4), MapsAsked::default());
    assert!(lone.member.counts().rationed > before);
    lone.pass(CYCLE * 2);
    assert_eq!(show(&mut lone, 99, 40..47, 5), MapsAsked { host: each, sender: each });
}

/// Who is granted land beside a liar's made-up records is asked for the map, though the host just was.
#[test]
fn each_sender_is_asked_for_the_map_whatever_others_made_up_about_the_block() {
    let mut lone = lone();
    assert_eq!(show(&mut lone, 1, core::iter::once(7), 1), MapsAsked { host: 1, sender: 1 });
    assert_eq!(show(&mut lone, 2, core::iter::once(7), 2), MapsAsked { host: 0, sender: 1 });
    assert_eq!(show(&mut lone, 2, core::iter::once(7), 3), MapsAsked::default());
}
