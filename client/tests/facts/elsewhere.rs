//! Servers that show a visitor around a place where its avatar is not. Where it is decides which
//! tiles are missed; so they have only that place to prove, and can hide everything else.

use metatopia_protocol::{TileName, TileUpdate, View};
use metatopia_types::{Movement, Sign as _};

use crate::stand::{Stand, Watcher, decode};

/// Spoils a view, given the entry of the visitor's avatar.
type Lie = fn(&Stand, &mut View, Vec<u8>);

/// What a server shows, and proves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Only the tile where the avatar is.
    Own,
    /// All the other tiles.
    Others,
}

/// Each is another way to say where the avatar is.
pub(crate) const LIES: [(&str, Truth, Lie); 6] = [
    ("it is drawn beside all copies", Truth::Others, |_, view, avatar| view.far.push(avatar)),
    ("it is somebody else's", Truth::Others, |stand, view, _| {
        view.me = Some(decode(&stand.entries(stand.beside())[0]).id);
    }),
    ("it is in a copy that is never proved", Truth::Others, copied),
    ("it is in two copies", Truth::Own, copied),
    ("it moves beside its copy", Truth::Own, |_, view, avatar| {
        view.near.push((decode(&avatar).id, far_away()));
    }),
    ("there is none", Truth::Others, |_, view, _| view.me = None),
];

/// Returns a movement into a tile where nothing is.
fn far_away() -> Movement {
    Movement { position: Some([-(900 << 20); 2]), ..Movement::default() }
}

/// Copies the avatar to there.
fn copied(_: &Stand, view: &mut View, avatar: Vec<u8>) {
    let mut entry = decode(&avatar);
    entry.body.follow(&far_away()).expect("a place");
    let (tile, entries) = (TileName { x: -29, y: -29 }, vec![entry.encode()]);
    let (moved, gone) = (Vec::new(), Vec::new());
    view.tiles.push(TileUpdate { tile, since: None, entries, moved, gone, more: false });
}

/// A view with such a lie, and the tiles that it shows as they are.
pub(crate) fn view(
    stand: &Stand,
    watcher: &mut Watcher,
    (truth, lie): (Truth, Lie),
) -> (View, Vec<TileName>) {
    let (own, me) = (stand.own(), stand.world().avatar(&Stand::visitor().public()));
    let avatar = stand.entries(own).into_iter().find(|entry| Some(decode(entry).id) == me);
    let mut shown = stand.tiles();
    shown.retain(|tile| (*tile == own) == (truth == Truth::Own));
    let mut view = stand.view(watcher, &shown);
    lie(stand, &mut view, avatar.expect("she is there"));
    (view, shown)
}
