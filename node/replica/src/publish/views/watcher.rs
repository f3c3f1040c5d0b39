//! One client that watches: what it has, what it may be sent, and its next view.

use std::collections::BTreeMap;

use metatopia_math::{Fx, Vec2};
use metatopia_protocol::{BYTES_PER_SECOND, FAR_TURNS_MAX, TileName, UNSEEN_MAX, View, Watching};
use metatopia_sim::{Tile, World};
use metatopia_types::{Emote, Height, Movement, ObjectId, PublicKey, wire};

use super::{
    bucket::Budget,
    frame::{Encoded, Updates, encode_view},
    sight::{Copied, Watched, WatchedTiles},
    stamps::Stamps,
    tile_name,
};

/// Bytes of tiles in one view, after which no other tile is begun.
pub const VIEW_BYTES_MAX: usize = 64 * 1_024;

/// Bodies that touch the own avatar and are told about while their tiles have to wait.
pub const NEAR_MAX: usize = 8;

/// Gestures in one view; those of the lowest ids.
pub const GESTURES_MAX: usize = 128;

/// Turns between two tellings of big things beyond the tiles, at least.
pub const FAR_TURNS: u64 = 20;

/// Big things in one view.
pub const FAR_MAX: usize = 16;

/// How far away big things are shown, in whole metres from their nearest side.
pub const FAR_SIGHT: i32 = 256;

/// Who reaches so many metres from its centre counts as big.
pub const FAR_REACH: i32 = 4;

/// Entries of later heights than the server's own are waited for so many turns: a client that comes
/// from a server that is ahead.
const AHEAD_MAX: u64 = 200;

/// What all clients are shown of one turn, worked out once.
pub(super) struct TurnView<'a> {
    pub(super) world: &'a World,
    pub(super) stamps: &'a Stamps,
    pub(super) height: Height,
    pub(super) updates: Updates,
    pub(super) gestures: Vec<(Tile, ObjectId, Emote)>,
    /// Big things, with their tile, centre and reach.
    pub(super) large: Vec<(Tile, ObjectId, Vec2, Fx)>,
}

/// How a client watches.
#[derive(Debug)]
pub(super) struct Watcher {
    turns_apart: u64,
    pub(super) proofs: bool,
    at: Option<Vec2>,
    pub(super) budget: Budget,
    sight: WatchedTiles,
    left: Vec<TileName>,
    /// Big things that were told about, and when.
    far: BTreeMap<ObjectId, Height>,
    far_waiting: Option<Height>,
    /// When something far away was told last.
    far_sent: Height,
    /// Bytes of the view being made that were taken off already.
    charged: usize,
}

/// The numbers of a session's views, which go on when the client asks to watch anew.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) sent: u32,
    pub(super) seen: u32,
}

/// Something to tell, and how urgent it is.
struct Urgent {
    urgency: u64,
    /// None stands for the big things far away.
    tile: Option<Tile>,
}

impl Watcher {
    /// Begins with the budget that the client had before, at the rate that it wants now.
    pub(super) fn new(watching: &Watching, before: Option<Budget>, turns_per_second: u32) -> Self {
        let bytes =
            watching.bytes_per_second.clamp(*BYTES_PER_SECOND.start(), *BYTES_PER_SECOND.end());
        let budget = before.unwrap_or_else(|| Budget::new(bytes, turns_per_second)).at_rate(bytes);
        let mut sight = WatchedTiles::default();
        for (tile, height) in &watching.have {
            let tile = Tile { x: i64::from(tile.x), y: i64::from(tile.y) };
            let copy = Some(Copied::whole(*height));
            sight.tiles.insert(tile, Watched { copy, ..Watched::default() });
        }
        Self {
            turns_apart: u64::from(watching.turns_apart.max(1)),
            proofs: watching.proofs,
            at: watching.at,
            budget,
            sight,
            left: Vec::new(),
            far: BTreeMap::new(),
            far_waiting: None,
            far_sent: Height(0),
            charged: 0,
        }
    }

    /// Tiles of which the client has exactly what they are now.
    pub(super) fn exact<'a>(&'a self, turn: &'a TurnView<'_>) -> impl Iterator<Item = Tile> + 'a {
        let tiles = self.sight.tiles.iter();
        tiles.filter(|(tile, watched)| !is_stale(turn, **tile, watched)).map(|(tile, _)| *tile)
    }

    /// Returns the frame of the view after a turn, if one is due and may be sent.
    pub(super) fn view(
        &mut self,
        turn: &TurnView<'_>,
        key: &PublicKey,
        numbers: &mut Numbers,
    ) -> Option<Vec<u8>> {
        self.budget.turn();
        let unseen = numbers.sent - numbers.seen;
        if unseen >= UNSEEN_MAX || !turn.height.0.is_multiple_of(self.turns_apart) {
            return None;
        }
        let me = turn.world.avatar(key);
        let place = me.and_then(|me| turn.world.place(me)).or(self.at);
        let center = place.unwrap_or(turn.world.parameters().avatar.spawn);
        self.left.extend(self.sight.look(center).into_iter().map(tile_name));
        numbers.sent += 1;
        let (tiles, far) = self.updates_within_budget(turn, center);
        let near = self.near_movements(turn, me);
        let seen = |tile: &Tile| self.sight.tiles.contains_key(tile);
        let gestures = turn.gestures.iter().filter(|(tile, ..)| seen(tile)).take(GESTURES_MAX);
        let view = View {
            number: numbers.sent,
            height: turn.height,
            tick: turn.world.tick(),
            me,
            tiles: Vec::new(),
            left: core::mem::take(&mut self.left),
            near,
            far,
            gestures: gestures.map(|(_, id, emote)| (*id, *emote)).collect(),
        };
        let frame = encode_view(view, &tiles);
        // Tiles and what is far were taken off one by one.
        self.budget.all.spend(frame.len().saturating_sub(core::mem::take(&mut self.charged)));
        Some(frame)
    }

    /// Returns the tiles and big things that the bytes suffice for, the most urgent first.
    fn updates_within_budget(
        &mut self,
        turn: &TurnView<'_>,
        center: Vec2,
    ) -> (Vec<Encoded>, Vec<Vec<u8>>) {
        let (mut tiles, mut far, mut bytes) = (Vec::new(), Vec::new(), 0);
        for Urgent { tile, .. } in self.urgent(turn, center) {
            if !self.budget.all.is_open() || bytes >= VIEW_BYTES_MAX {
                break;
            }
            let Some(tile) = tile else {
                far = self.far_entries(turn, center);
                continue;
            };
            let room = self.budget.all.bytes();
            let Some(watched) = self.sight.tiles.get_mut(&tile) else {
                continue;
            };
            watched.waiting = None;
            let (update, copy) = turn.updates.update(turn, tile, watched.copy, room);
            watched.copy = Some(copy);
            self.charge(update.len());
            bytes += update.len();
            tiles.push(update);
        }
        (tiles, far)
    }

    fn charge(&mut self, bytes: usize) {
        self.budget.all.spend(bytes);
        self.charged += bytes;
    }

    /// Returns what there is to tell, the most urgent first: waiting counts by nearness, so that the
    /// own tile comes first, and none waits for ever.
    fn urgent(&mut self, turn: &TurnView<'_>, center: Vec2) -> Vec<Urgent> {
        let mut urgent = Vec::new();
        for (tile, watched) in &mut self.sight.tiles {
            if !is_due(turn, *tile, watched) {
                watched.waiting = None;
                continue;
            }
            let since = *watched.waiting.get_or_insert(turn.height);
            let urgency = (turn.height.0 - since.0 + 1).saturating_mul(watched.weight);
            urgent.push(Urgent { urgency, tile: Some(*tile) });
        }
        // The client draws these from its copies by now.
        for (_, id, ..) in turn.large.iter().filter(|large| self.sight.tiles.contains_key(&large.0))
        {
            self.far.remove(id);
        }
        if self.far_waiting.is_none()
            && turn.height >= self.far_sent.plus(FAR_TURNS)
            && self.far_due(turn, center).next().is_some()
        {
            self.far_waiting = Some(turn.height);
        }
        if let Some(since) = self.far_waiting {
            urgent.push(Urgent { urgency: turn.height.0 - since.0, tile: None });
        }
        urgent.sort_by_key(|urgent| core::cmp::Reverse(urgent.urgency));
        urgent
    }

    /// Returns big things outside of the watched tiles that changed or were told long ago. Those that
    /// were told least lately come first.
    fn far_due<'a>(
        &'a self,
        turn: &'a TurnView<'_>,
        center: Vec2,
    ) -> impl Iterator<Item = (Height, ObjectId)> + 'a {
        let near = move |(.., place, reach): &(Tile, ObjectId, Vec2, Fx)| {
            center.distance(*place).saturating_sub(*reach) <= Fx::from_int(FAR_SIGHT)
        };
        let outside = turn.large.iter().filter(|(tile, ..)| !self.sight.tiles.contains_key(tile));
        outside.filter(move |large| near(large)).filter_map(|(tile, id, ..)| {
            let sent_at = self.far.get(id).copied().unwrap_or_default();
            let changed = turn.stamps.changed_entry(*tile, *id) > sent_at;
            let due = changed || turn.height >= sent_at.plus(FAR_TURNS_MAX / 2);
            (due || !self.far.contains_key(id)).then_some((sent_at, *id))
        })
    }

    fn far_entries(&mut self, turn: &TurnView<'_>, center: Vec2) -> Vec<Vec<u8>> {
        let mut due: Vec<(Height, ObjectId)> = self.far_due(turn, center).collect();
        due.sort_unstable();
        due.truncate(FAR_MAX);
        (self.far_waiting, self.far_sent) = (None, turn.height);
        // Who is gone is forgotten when the client forgets it, too.
        self.far.retain(|_, sent_at| sent_at.plus(FAR_TURNS_MAX) > turn.height);
        let mut entries = Vec::new();
        for (_, id) in due {
            let Some((_, entry)) = turn.world.entry(id).filter(|_| self.budget.all.is_open())
            else {
                continue;
            };
            self.charge(entry.len());
            self.far.insert(id, turn.height);
            entries.push(entry.to_vec());
        }
        entries
    }

    /// Returns the own avatar and what touches it, if their tiles had to wait.
    fn near_movements(
        &mut self,
        turn: &TurnView<'_>,
        me: Option<ObjectId>,
    ) -> Vec<(ObjectId, Movement)> {
        let waits = |id: ObjectId| {
            let (tile, _) = turn.world.entry(id)?;
            let watched = self.sight.tiles.get(&tile).filter(|tile| tile.waiting.is_some())?;
            Some((tile, watched.copy.filter(|copy| id <= copy.through)?))
        };
        let Some(me) = me.filter(|me| self.budget.near.is_open() && waits(*me).is_some()) else {
            return Vec::new();
        };
        let touching = turn.world.touching(me).into_iter().take(NEAR_MAX);
        let near: Vec<(ObjectId, Movement)> = core::iter::once(me)
            .chain(touching)
            .filter_map(|id| {
                let (tile, copy) = waits(id)?;
                Some((id, turn.stamps.movement(turn.world, tile, id, copy.height)?))
            })
            .collect();
        self.budget.near.spend(wire::length(&near));
        near
    }
}

/// Returns whether a copy is missing, or is not the tile as it is now.
fn is_stale(turn: &TurnView<'_>, tile: Tile, watched: &Watched) -> bool {
    let current = |copy: Copied| {
        copy.is_whole()
            && copy.height <= turn.height
            && turn.stamps.changed(tile) <= copy.height
            && turn.stamps.reaches(tile, copy.height)
    };
    !watched.copy.is_some_and(current)
}

/// Returns whether the client can be told something of a tile.
fn is_due(turn: &TurnView<'_>, tile: Tile, watched: &Watched) -> bool {
    let ahead =
        |copy: Copied| copy.height > turn.height && copy.height <= turn.height.plus(AHEAD_MAX);
    is_stale(turn, tile, watched) && !watched.copy.is_some_and(ahead)
}
