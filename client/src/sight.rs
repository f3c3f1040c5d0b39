//! What a client sees: copies of the tiles near it, brought up to date by views.
//!
//! The copies are exact, so that [`Sight::check`] can hash them as the servers do. Beside them there
//! are overlays for drawing, which prove nothing: what is very near moves every turn, what is very
//! big is seen from afar, and gestures are of a moment.

mod error;
mod kept;
mod material;
mod scene;
mod verdict;

use alloc::{collections::BTreeMap, vec::Vec};

use metatopia_protocol::{FAR_TURNS_MAX, HAVE_MAX, TileName, TileUpdate, View};
use metatopia_sim::{TILE_ENTRIES_MAX, Tile, TileCopy, TileEntry};
use metatopia_types::{Emote, Height, Movement, ObjectId, PublicKey, Tick};

pub use self::{
    error::SightError,
    kept::KEPT_MAX,
    scene::{Scene, SceneObject, ScenePlayer},
    verdict::{Disproof, ProvenTiles},
};
use self::{error::at_most, kept::LeafHistory};

/// Tiles that a client holds copies of: as many as it may say that it has.
pub const TILES_MAX: usize = HAVE_MAX;

/// Entries of all copies together: the bodies of a full region.
pub const ENTRIES_MAX: usize = TILE_ENTRIES_MAX;

/// Bytes of the entries of all copies: as many entries of the greatest usual length.
pub const ENTRIES_BYTES_MAX: usize = ENTRIES_MAX * 1_024;

/// Entries of each overlay, more than anybody can tell apart.
pub const OVERLAY_MAX: usize = 256;

/// A tile's copy.
#[derive(Clone, Debug)]
struct TileState {
    copy: TileCopy,
    /// The height of the last view that told of the tile.
    height: Height,
    /// Entries are still under way: it is not the whole tile.
    more: bool,
}

/// Copies of the tiles in sight, with overlays for drawing.
#[derive(Clone, Debug)]
pub struct Sight {
    tiles: BTreeMap<TileName, TileState>,
    /// The number of the last view of this connection.
    number: u32,
    /// The height of the first view since everything was forgotten, or since the connection began.
    from: Option<Height>,
    height: Height,
    tick: Tick,
    me: Option<ObjectId>,
    /// The person whose avatar `me` has to be.
    viewer: PublicKey,
    /// The viewer is known to be in the world.
    present: bool,
    near: BTreeMap<ObjectId, Movement>,
    far: BTreeMap<ObjectId, (TileEntry, Height)>,
    gestures: BTreeMap<ObjectId, Emote>,
    kept: LeafHistory,
    /// Some copies began with an earlier request, perhaps at another server, and were not proved
    /// since: if they are wrong, it need not be this server's fault.
    inherited: bool,
}

impl Sight {
    /// Sees nothing yet; the own avatar is that of `viewer`.
    #[must_use]
    pub const fn of(viewer: PublicKey) -> Self {
        Self {
            tiles: BTreeMap::new(),
            number: 0,
            from: None,
            height: Height(0),
            tick: Tick(0),
            me: None,
            viewer,
            present: false,
            near: BTreeMap::new(),
            far: BTreeMap::new(),
            gestures: BTreeMap::new(),
            kept: LeafHistory::new(),
            inherited: false,
        }
    }

    /// Notes whether the viewer is in the world. While it is, nothing is proved without its avatar; a viewer
    /// that only watches has none.
    pub const fn set_present(&mut self, present: bool) {
        self.present = present;
    }

    /// Returns the height of the last view, or 0 before the first.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.height
    }

    /// Returns the tick of the last view.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// The client's own avatar, if it has one.
    #[must_use]
    pub const fn me(&self) -> Option<ObjectId> {
        self.me
    }

    /// The whole copies it holds and the heights they are of, for
    /// [`Watching::have`](metatopia_protocol::Watching).
    #[must_use]
    pub fn have(&self) -> Vec<(TileName, Height)> {
        let whole = self.tiles.iter().filter(|(_, held)| !held.more);
        whole.map(|(tile, held)| (*tile, held.height)).collect()
    }

    /// Every copy, with its height, by tile.
    pub fn copies(&self) -> impl Iterator<Item = (TileName, Height, &TileCopy)> {
        self.tiles.iter().map(|(tile, held)| (*tile, held.height, &held.copy))
    }

    /// Returns whether copies could be wrong through no fault of the server that sends views now.
    #[must_use]
    pub const fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Marks all copies as this server's, because all of them were proved.
    pub const fn settle(&mut self) {
        self.inherited = false;
    }

    /// A new connection, perhaps with another server: the next view has number 1. Whole copies stay.
    pub fn begin(&mut self) {
        self.tiles.retain(|_, held| !held.more);
        let tiles = core::mem::take(&mut self.tiles);
        let inherited = !tiles.is_empty();
        *self = Self { tiles, inherited, present: self.present, ..Self::of(self.viewer) };
    }

    /// Forgets everything but how many views came.
    pub fn clear(&mut self) {
        *self = Self { number: self.number, present: self.present, ..Self::of(self.viewer) };
    }

    /// Counts a view without looking at it.
    ///
    /// # Errors
    /// [`SightError::Number`] if it is not the next one.
    pub fn pass_over(&mut self, view: &View) -> Result<(), SightError> {
        let expected = self.number.wrapping_add(1);
        if view.number != expected {
            return Err(SightError::Number { expected, found: view.number });
        }
        self.number = view.number;
        Ok(())
    }

    /// Takes a view in.
    ///
    /// # Errors
    /// See [`SightError`]. Everything is forgotten then, because half a view is nothing to look at.
    pub fn apply(&mut self, view: &View) -> Result<(), SightError> {
        let applied = self.pass_over(view).and_then(|()| self.take(view));
        if applied.is_err() {
            self.clear();
        }
        applied
    }

    fn take(&mut self, view: &View) -> Result<(), SightError> {
        let height = view.height;
        if self.from.is_some() {
            if height <= self.height {
                return Err(SightError::Height { after: self.height, found: height });
            }
            self.keep(height);
        }
        // First, because a tile may have come into sight again since.
        for tile in &view.left {
            self.tiles.remove(tile);
        }
        for update in &view.tiles {
            self.update(update, height)?;
            at_most(self.tiles.len(), TILES_MAX, SightError::Tiles)?;
            let copies = || self.tiles.values().map(|held| &held.copy);
            at_most(copies().map(TileCopy::len).sum(), ENTRIES_MAX, SightError::Entries)?;
            at_most(copies().map(TileCopy::bytes).sum(), ENTRIES_BYTES_MAX, SightError::Bytes)?;
        }
        for bytes in &view.far {
            let entry = TileEntry::decode(bytes).map_err(SightError::Far)?;
            self.far.insert(entry.id, (entry, height));
        }
        let is_near = |id| self.tiles.values().any(|held| held.copy.get(id).is_some());
        self.far.retain(|id, (_, told)| told.plus(FAR_TURNS_MAX) >= height && !is_near(*id));
        for drawn in [view.near.len(), self.far.len(), view.gestures.len()] {
            at_most(drawn, OVERLAY_MAX, SightError::Overlay)?;
        }
        self.near = view.near.iter().copied().collect();
        self.gestures = view.gestures.iter().copied().collect();
        self.from = self.from.or(Some(height));
        (self.height, self.tick, self.me) = (height, view.tick, view.me);
        Ok(())
    }

    fn update(&mut self, update: &TileUpdate, height: Height) -> Result<(), SightError> {
        let tile = update.tile;
        let mut held = match (update.since, self.tiles.remove(&tile)) {
            (None, _) => {
                let copy = TileCopy::new(Tile { x: tile.x.into(), y: tile.y.into() });
                TileState { copy, height, more: update.more }
            }
            // What changed since an earlier height holds what changed since that of the copy.
            (Some(since), Some(held)) if (since..=height).contains(&held.height) => held,
            (Some(since), Some(TileState { height: has, .. })) => {
                return Err(SightError::Since { tile, since, has });
            }
            (Some(_), None) => return Err(SightError::NoCopy(tile)),
        };
        let wrong = |error| SightError::Copy { tile, error };
        (held.height, held.more) = (height, update.more);
        for id in &update.gone {
            // It may have come and gone between two views.
            held.copy.remove(*id);
        }
        for entry in &update.entries {
            held.copy.put(entry).map_err(wrong)?;
        }
        for (id, movement) in &update.moved {
            held.copy.follow(*id, movement).map_err(wrong)?;
        }
        self.tiles.insert(tile, held);
        Ok(())
    }
}
