//! What a client is told of a tile, encoded, and the frame of a view around it.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use metatopia_protocol::{ServerMessage, TileUpdate, View, encode_server};
use metatopia_sim::Tile;
use metatopia_types::{Height, ObjectId, wire};

use super::{sight::Copied, tile_name, watcher::TurnView};

/// Bytes of one update of a tile. Who missed more gets the whole tile anew, in pieces.
pub const UPDATE_BYTES_MAX: usize = 64 * 1_024;

/// Bytes of a whole tile that are sent at once: as many as the bucket has, but at least and at most
/// so many. So a tile that costs more than a second's bytes holds nothing up for long.
pub const PIECE_BYTES: core::ops::RangeInclusive<usize> = 1_024..=32 * 1_024;

/// Encoded once, and shared by all who are told it.
pub(super) type Encoded = Rc<Vec<u8>>;

/// Most bytes of a movement with its id.
const MOVEMENT_BYTES: usize = 52;

/// Most bytes of an id.
const ID_BYTES: usize = 10;

/// Encoded updates of one turn. Most clients have a tile as of the same height, and get the same
/// bytes.
#[derive(Default)]
pub(super) struct Updates {
    shared: RefCell<BTreeMap<(Tile, Height), Encoded>>,
}

impl Updates {
    /// Returns what a client is told of a tile that it has this copy of, and the copy that it has then.
    /// It is told what it missed, or as much of the whole as there is room for.
    pub(super) fn update(
        &self,
        turn: &TurnView<'_>,
        tile: Tile,
        copy: Option<Copied>,
        room: usize,
    ) -> (Encoded, Copied) {
        let whole = copy.filter(Copied::is_whole);
        if let Some(copy) = whole
            && let Some(update) = self.shared.borrow().get(&(tile, copy.height))
        {
            return (Rc::clone(update), Copied::whole(turn.height));
        }
        let (update, through) = tile_update(turn, tile, copy, room);
        let bytes = Rc::new(wire::encode(&update));
        if let Some(copy) = whole
            && update.since == Some(copy.height)
        {
            self.shared.borrow_mut().insert((tile, copy.height), Rc::clone(&bytes));
        }
        (bytes, Copied { height: turn.height, through })
    }
}

/// Returns the update, and the greatest id that it covers.
fn tile_update(
    turn: &TurnView<'_>,
    tile: Tile,
    copy: Option<Copied>,
    room: usize,
) -> (TileUpdate, ObjectId) {
    let known =
        |copy: &Copied| copy.height <= turn.height && turn.stamps.reaches(tile, copy.height);
    let missed = copy.filter(known).map(|copy| {
        let update = turn.stamps.update(turn.world, tile, copy.height, copy.through);
        (update, copy.through)
    });
    let (mut update, mut through) =
        missed.filter(|(update, _)| fits(update)).unwrap_or_else(|| (nothing(tile), ObjectId(0)));
    if through == Copied::whole(turn.height).through {
        return (update, through);
    }
    let room = room.clamp(*PIECE_BYTES.start(), *PIECE_BYTES.end());
    let (through_before, mut bytes) = (through, 0);
    for (id, entry) in turn.world.entries(tile).filter(|(id, _)| *id > through_before) {
        update.more = bytes >= room;
        if update.more {
            return (update, through);
        }
        bytes += entry.len();
        update.entries.push(entry.to_vec());
        through = id;
    }
    (update, Copied::whole(turn.height).through)
}

fn fits(update: &TileUpdate) -> bool {
    let entries: usize = update.entries.iter().map(Vec::len).sum();
    let (moved, gone) = (update.moved.len() * MOVEMENT_BYTES, update.gone.len() * ID_BYTES);
    entries + moved + gone <= UPDATE_BYTES_MAX
}

/// Returns the beginning of a whole tile.
fn nothing(tile: Tile) -> TileUpdate {
    let (entries, moved, gone) = (Vec::new(), Vec::new(), Vec::new());
    TileUpdate { tile: tile_name(tile), since: None, entries, moved, gone, more: false }
}

/// Returns the frame of a view with these encoded updates of tiles. The view has none of its own.
pub(super) fn encode_view(view: View, tiles: &[Encoded]) -> Vec<u8> {
    let after = wire::length(&(&view.left, &view.near, &view.far, &view.gestures));
    let empty = encode_server(&ServerMessage::View(Box::new(view)));
    // The count of no tiles is one byte, before what comes after them.
    let (before, rest) = empty.split_at(empty.len() - after - 1);
    let count = wire::encode(&(tiles.len() as u64));
    let updates = tiles.iter().map(|update| update.as_slice());
    let parts: Vec<&[u8]> =
        [before, &count].into_iter().chain(updates).chain([&rest[1..]]).collect();
    parts.concat()
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Emote, Movement, Tick};

    use super::*;

    #[test]
    fn an_update_that_is_longer_than_allowed_gives_way_to_the_whole_tile() {
        let entries = |bytes: usize| TileUpdate {
            entries: vec![vec![0; bytes / 2], vec![0; bytes - bytes / 2]],
            ..nothing(Tile { x: 0, y: 0 })
        };
        assert!(fits(&entries(UPDATE_BYTES_MAX)));
        assert!(!fits(&entries(UPDATE_BYTES_MAX + 1)));
        let moved =
            vec![(ObjectId(u64::MAX), Movement::default()); UPDATE_BYTES_MAX / MOVEMENT_BYTES];
        let mut update = TileUpdate { moved, ..nothing(Tile { x: 0, y: 0 }) };
        assert!(fits(&update));
        update.gone = vec![ObjectId(0); MOVEMENT_BYTES];
        assert!(!fits(&update));

        let [most, least] = [i32::MIN, -1].map(|n| Movement {
            position: Some([n; 2]),
            facing: Some([n; 2]),
            velocity: Some([n; 2]),
            spin: Some(n),
            slow_steps: Some(255),
        });
        assert!(wire::length(&(ObjectId(u64::MAX), most)) <= MOVEMENT_BYTES);
        assert!(wire::length(&(ObjectId(1), least)) <= MOVEMENT_BYTES);
    }

    #[test]
    fn a_frame_put_together_is_the_encoding_of_the_view() {
        let update = |x: i64, since: Option<u64>| TileUpdate {
            since: since.map(Height),
            entries: vec![vec![1, 2, 3]],
            moved: vec![(ObjectId(7), Movement { spin: Some(-9), ..Movement::default() })],
            gone: vec![ObjectId(u64::MAX)],
            ..nothing(Tile { x, y: -x })
        };
        for count in [0, 1, 2, 200] {
            let tiles: Vec<TileUpdate> =
                (0..count).map(|n| update(n - 3, (n % 2 == 0).then_some(400))).collect();
            let view = View {
                number: 300,
                height: Height(401),
                tick: Tick(1_203),
                me: Some(ObjectId(7)),
                tiles: Vec::new(),
                left: vec![tile_name(Tile { x: 1, y: 1 })],
                near: vec![(ObjectId(1), Movement::default())],
                far: vec![vec![0; 200]],
                gestures: vec![(ObjectId(7), Emote::Wave)],
            };
            let encoded: Vec<Encoded> =
                tiles.iter().map(|update| Rc::new(wire::encode(update))).collect();
            let frame = encode_view(view.clone(), &encoded);
            let whole = ServerMessage::View(Box::new(View { tiles, ..view }));
            assert_eq!(frame, encode_server(&whole), "{count} tiles");
        }
    }
}
