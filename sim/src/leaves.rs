//! The leaves of a state: its canonical encoding, cut into pieces that are hashed one by one.
//!
//! A leaf is hashed again only when what it holds was touched. That is an optimisation and no more:
//! the tests hash everything anew after every turn and compare.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_physics::{Body, Contact};
use metatopia_types::{
    Digest, Height, LeafKey, Movement, ObjectId, Root, Roster, StateProof, leaf_hash,
    limits::LEAF_BYTES_MAX, merkle, wire,
};
use serde::Serialize;

use crate::{
    applied::Changed,
    chat::ChatIndex,
    governance::Governance,
    limits::PACKAGE_PIECE_BYTES,
    object::{Object, Tile, object_key},
    placed::PlacedTiles,
    readiness::Readiness,
    shelf::{LeafDigest, Part, Shelf, prefix_text},
    state::{Charter, State},
};

pub(crate) const CLOCK: &str = "clock";
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const GOVERNANCE: &str = "governance";
pub(crate) const VALIDATORS: &str = "validators";
pub(crate) const FIRST_LOGINS: &str = "first_logins";
pub(crate) const READINESS: &str = "readiness";
pub(crate) const CHAT: &str = "chat";
pub(crate) const PLAYERS: &str = "players";
pub(crate) const WINDOWS: &str = "windows";
pub(crate) const HISTORIES: &str = "histories";
pub(crate) const OWNERS: &str = "owners";
pub(crate) const PACKAGES: &str = "packages";
pub(crate) const CONTACTS: &str = "region/0/contacts";
pub(crate) const SCRIPT: &str = "script";
pub(crate) const TILE: &str = "tile";
pub(crate) const OUTCOMES: &str = "outcomes";

/// Bytes of a snapshot for one leaf, besides its key's text and its content, at most: the length of
/// that text, a hash, and twice the length of the content.
const LEAF_HEAD_BYTES_MAX: u64 = 1 + 32 + 2 * 3;

/// Bytes of the number of leaves, at most.
const COUNT_BYTES_MAX: u64 = 3;

/// A leaf that is not cut.
#[derive(Debug, Clone)]
struct Single {
    content: Arc<[u8]>,
}

/// A part of the state as it was last looked at: to compare it costs less than to encode it.
#[derive(Debug, Clone)]
struct Seen<T>(Option<T>);

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Clone + PartialEq> Seen<T> {
    /// Is it another one than before?
    fn is_news(&mut self, now: &T) -> bool {
        let news = self.0.as_ref() != Some(now);
        if news {
            self.0 = Some(now.clone());
        }
        news
    }
}

/// All leaves after the last turn, with their hashes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaves {
    singles: BTreeMap<LeafKey, Single>,
    charter: Seen<Charter>,
    readiness: Seen<Readiness>,
    governance: Seen<Governance>,
    roster: Seen<Roster>,
    chat: Seen<ChatIndex>,
    players: Shelf<32>,
    histories: Shelf<32>,
    windows: Shelf<40>,
    owners: Shelf<33>,
    packages: Shelf<36>,
    contacts: Shelf<16>,
    tiles: BTreeMap<Tile, Shelf<8>>,
    /// Every leaf, with its content's hash and its hash in the tree.
    tree: BTreeMap<LeafKey, (LeafDigest, Digest)>,
    /// Where each object was, and its body, when its entry was written.
    placed: BTreeMap<ObjectId, (Tile, Body)>,
    touching: Vec<Contact>,
    /// The nodes over the hashes of all leaves.
    nodes: Arc<merkle::Tree>,
    /// See [`Leaves::bytes`].
    bytes: u64,
    /// Objects that changed between the last two calls of [`Leaves::refresh`].
    changed: Vec<Changed>,
    hashed_bytes: u64,
}

impl Leaves {
    /// The root of the state that was last looked at.
    pub(crate) fn root(&self) -> Root {
        Root(self.nodes.root())
    }

    /// The objects that the last look found changed, in the order of their ids.
    pub(crate) fn changed(&self) -> &[Changed] {
        &self.changed
    }

    /// The tile of an object, and its entry there.
    pub(crate) fn entry(&self, id: ObjectId) -> Option<(Tile, &[u8])> {
        let (tile, _) = self.placed.get(&id)?;
        Some((*tile, self.tiles.get(tile)?.get(&object_key(id))?))
    }

    /// The entries of a tile, by id.
    pub(crate) fn entries(&self, tile: Tile) -> impl Iterator<Item = (ObjectId, &[u8])> {
        let entries = self.tiles.get(&tile).into_iter().flat_map(Shelf::entries);
        entries.map(|(key, entry)| (ObjectId(u64::from_be_bytes(*key)), entry))
    }

    /// What can be shown of these tiles.
    pub(crate) fn place(&self, tiles: &BTreeSet<Tile>) -> PlacedTiles {
        let leaves = self.tree.iter().map(|(key, (digest, hash))| (key, digest.hash, *hash));
        PlacedTiles::find(&self.nodes, leaves, tiles)
    }

    /// Bytes of a snapshot of the state that was last looked at, at most.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of content hashed so far, for measurements.
    pub(crate) const fn hashed_bytes(&self) -> u64 {
        self.hashed_bytes
    }

    /// Every leaf with the hash and length of its content, in the order of their keys.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&LeafKey, LeafDigest)> {
        self.tree.iter().map(|(key, (digest, _))| (key, *digest))
    }

    /// The content of a leaf.
    pub(crate) fn content(&self, key: &LeafKey) -> Option<Vec<u8>> {
        self.part(key, Part::Whole)
    }

    /// How a leaf of the list begins: at most so many bytes of a leaf that is not cut, of others
    /// their first entries.
    pub(crate) fn head(&self, key: &LeafKey, bytes: usize) -> Vec<u8> {
        let mut head = self.part(key, Part::Head(bytes)).unwrap_or_default();
        head.truncate(bytes);
        head
    }

    fn part(&self, key: &LeafKey, part: Part) -> Option<Vec<u8>> {
        if let Some(single) = self.singles.get(key) {
            let bytes = match part {
                Part::Whole => single.content.len(),
                Part::Head(bytes) => single.content.len().min(bytes),
            };
            return Some(single.content[..bytes].to_vec());
        }
        self.tree.get(key)?;
        // The prefix of a leaf that was cut off follows its shelf's name after the last slash.
        self.shelved(&key.0, &[], part).or_else(|| {
            let (name, prefix) = key.0.rsplit_once('/')?;
            self.shelved(name, &prefix_digits(prefix)?, part)
        })
    }

    /// The content of a shelf's leaf.
    fn shelved(&self, name: &str, prefix: &[u8], part: Part) -> Option<Vec<u8>> {
        Some(match name {
            PLAYERS => self.players.part(prefix, part),
            HISTORIES => self.histories.part(prefix, part),
            WINDOWS => self.windows.part(prefix, part),
            OWNERS => self.owners.part(prefix, part),
            PACKAGES => self.packages.part(prefix, part),
            CONTACTS => self.contacts.part(prefix, part),
            _ => {
                let tile = tile_named(name.strip_prefix(TILE)?.strip_prefix('/')?)?;
                self.tiles.get(&tile)?.part(prefix, part)
            }
        })
    }

    /// A leaf with its path to the root.
    pub(crate) fn proof(&self, key: &LeafKey) -> Option<StateProof> {
        let content = self.content(key)?;
        let index = u32::try_from(self.tree.range(..key).count()).ok()?;
        let place = self.nodes.proof(index)?;
        Some(StateProof { key: key.clone(), content, place })
    }

    /// Looks at whatever was touched since the last call, and gives the root of the state.
    pub(crate) fn refresh(&mut self, state: &mut State) -> Root {
        self.single(CLOCK, &state.clock);
        self.single(FIRST_LOGINS, &state.first_logins);
        if self.readiness.is_news(&state.readiness) {
            self.single(READINESS, &state.readiness);
        }
        if self.charter.is_news(&state.charter) {
            self.single(PARAMETERS, &state.charter);
        }
        if self.governance.is_news(&state.governance) {
            self.single(GOVERNANCE, &state.governance);
        }
        if self.roster.is_news(&state.roster) {
            self.single(VALIDATORS, &state.roster);
        }
        if self.chat.is_news(&state.chat) {
            self.single(CHAT, &state.chat);
        }
        self.outcomes(state);
        self.scripts(state);
        self.people(state);
        let changes = state.region.take_changes();
        self.objects(state, changes.bodies);
        if changes.contacts {
            self.contacts(state);
        }
        self.settle();
        self.bytes = 2 * COUNT_BYTES_MAX;
        let hashes = self.tree.iter().map(|(key, (digest, hash))| {
            self.bytes += key.0.len() as u64 + LEAF_HEAD_BYTES_MAX + u64::from(digest.bytes);
            *hash
        });
        let hashes = hashes.collect();
        self.nodes = Arc::new(self.nodes.followed_by(hashes));
        self.root()
    }

    /// The leaves of a state that was built or restored: all of them are looked at.
    pub(crate) fn of(state: &mut State) -> Self {
        let mut leaves = Self::default();
        leaves.pack(state);
        for (height, outcomes) in &state.outcomes {
            leaves.single(&outcomes_key(*height).0, &**outcomes);
        }
        leaves.refresh(state);
        leaves
    }

    /// Puts the packages on their shelf; they do not change afterwards.
    fn pack(&mut self, state: &State) {
        for (id, package) in state.packages.iter() {
            let bytes = package.encode();
            for (n, piece) in (0_u32..).zip(bytes.chunks(PACKAGE_PIECE_BYTES)) {
                let key = joined(&[id.bytes(), &n.to_be_bytes()]);
                self.packages.put(key, wire::encode(&((id, n), piece)));
            }
        }
    }

    fn single<T: Serialize>(&mut self, key: &str, value: &T) {
        let (key, content) = (LeafKey(key.to_owned()), wire::encode(value));
        if self.singles.get(&key).is_some_and(|single| *single.content == *content) {
            return;
        }
        assert!(content.len() <= LEAF_BYTES_MAX, "leaf {key} has {} bytes", content.len());
        let hash = Digest(*blake3::hash(&content).as_bytes());
        let bytes = u32::try_from(content.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
        self.hashed_bytes = self.hashed_bytes.saturating_add(u64::from(bytes));
        self.tree.insert(key.clone(), branch(&key, LeafDigest { hash, bytes }));
        self.singles.insert(key, Single { content: content.into() });
    }

    fn drop_single(&mut self, key: &LeafKey) {
        self.singles.remove(key);
        self.tree.remove(key);
    }

    fn outcomes(&mut self, state: &State) {
        if let Some((height, outcomes)) = state.outcomes.last_key_value() {
            self.single(&outcomes_key(*height).0, &**outcomes);
        }
        let Some((oldest, _)) = state.outcomes.first_key_value() else {
            return;
        };
        if let Some(gone) = oldest.minus(1) {
            self.drop_single(&outcomes_key(gone));
        }
    }

    fn scripts(&mut self, state: &mut State) {
        for id in state.scripts.take_touched() {
            let key = format!("{SCRIPT}/{id}");
            match state.scripts.get(&id) {
                Some(script) => self.single(&key, script),
                None => self.drop_single(&LeafKey(key)),
            }
        }
    }

    fn people(&mut self, state: &mut State) {
        for key in state.players.take_touched() {
            let entry = state.players.get(&key).map(|player| wire::encode(&(key, player)));
            shelve(&mut self.players, key.0, entry);
        }
        for key in state.histories.take_touched() {
            let entry = state.histories.get(&key).map(|history| wire::encode(&(key, history)));
            shelve(&mut self.histories, key.0, entry);
        }
        for owner in state.owners.take_touched() {
            let entry = state.owners.get(&owner).map(|pool| wire::encode(&(owner, pool)));
            // The sim itself comes first, before every key.
            let key = match &owner {
                Some(owner) => joined(&[&[1], &owner.0]),
                None => [0; 33],
            };
            shelve(&mut self.owners, key, entry);
        }
        for lane in core::mem::take(&mut state.windows_touched) {
            let entry = state.windows.get(&lane).map(|window| wire::encode(&(lane, window)));
            let key = joined(&[&lane.0.0, &lane.1.0.to_be_bytes()]);
            shelve(&mut self.windows, key, entry);
        }
    }

    /// Objects whose own fields were touched, and those whose bodies changed.
    fn objects(&mut self, state: &mut State, bodies: Vec<ObjectId>) {
        let touched = state.objects.take_touched();
        let mut moved = touched.clone();
        let differs = |id: &ObjectId| {
            let before = self.placed.get(id).map(|(_, before)| before);
            before != state.region.body(*id)
        };
        moved.extend(bodies.into_iter().filter(differs));
        self.changed.clear();
        for id in moved {
            let now = state.objects.get(&id).zip(state.region.body(id));
            let to = now.map(|(_, body)| Tile::of(body.position()));
            let from = self.placed.get(&id).map(|(tile, _)| *tile);
            let movement = self.movement(id, now, touched.contains(&id));
            let entry = now.map(|now| self.encoded(id, now, movement.is_some()));
            if from.is_some() || to.is_some() {
                self.changed.push(Changed { id, from, to, movement });
            }
            if let Some(old) = from
                && from != to
                && let Some(shelf) = self.tiles.get_mut(&old)
            {
                shelf.take(object_key(id));
            }
            let (Some((_, body)), Some(tile), Some(entry)) = (now, to, entry) else {
                self.placed.remove(&id);
                continue;
            };
            self.tiles.entry(tile).or_default().put(object_key(id), entry);
            self.placed.insert(id, (tile, body.clone()));
        }
        // Touched does not mean changed: many scripts write what is there already.
        let idle = |change: &Changed| change.movement.is_some_and(|movement| movement.is_empty());
        self.changed.retain(|change| !idle(change));
    }

    /// What changed of an object's motion since its entry was written, if nothing else did.
    fn movement(
        &self,
        id: ObjectId,
        now: Option<(&Object, &Body)>,
        touched: bool,
    ) -> Option<Movement> {
        let (object, body) = now?;
        let (tile, before) = self.placed.get(&id)?;
        if touched {
            // An entry begins with its id and object, and no object's encoding begins another's.
            let entry = self.tiles.get(tile)?.get(&object_key(id))?;
            if !entry.starts_with(&wire::encode(&(id, object))) {
                return None;
            }
        }
        body.movement_since(before)
    }

    /// The entry of an object as it is now; of one that only `moved`, the same but for its end.
    fn encoded(&self, id: ObjectId, (object, body): (&Object, &Body), moved: bool) -> Vec<u8> {
        let before = self.placed.get(&id).filter(|_| moved).map(|(_, body)| body);
        match before.zip(self.entry(id)) {
            Some((before, (_, entry))) => body.encode_after(before, entry),
            None => wire::encode(&(id, object, body)),
        }
    }

    fn contacts(&mut self, state: &State) {
        let key = |(a, b): (ObjectId, ObjectId)| joined(&[&object_key(a), &object_key(b)]);
        // Both lists are in order.
        let mut before = self.touching.iter().peekable();
        let now = state.region.contacts();
        for contact in now {
            while let Some(gone) = before.next_if(|old| old.pair() < contact.pair()) {
                self.contacts.take(key(gone.pair()));
            }
            if before.next_if(|old| old.pair() == contact.pair()) != Some(contact) {
                self.contacts.put(key(contact.pair()), wire::encode(contact));
            }
        }
        before.for_each(|gone| self.contacts.take(key(gone.pair())));
        self.touching = now.to_vec();
    }

    /// Cuts and hashes again what changed on the shelves.
    fn settle(&mut self) {
        let tree = &mut self.tree;
        let mut hashed = settle(tree, PLAYERS, &mut self.players);
        hashed += settle(tree, HISTORIES, &mut self.histories);
        hashed += settle(tree, WINDOWS, &mut self.windows);
        hashed += settle(tree, OWNERS, &mut self.owners);
        hashed += settle(tree, PACKAGES, &mut self.packages);
        hashed += settle(tree, CONTACTS, &mut self.contacts);
        self.tiles.retain(|tile, shelf| {
            if !shelf.is_settled() {
                hashed += settle(tree, &tile_shelf(*tile), shelf);
            }
            !shelf.is_empty()
        });
        self.hashed_bytes = self.hashed_bytes.saturating_add(hashed);
    }
}

fn shelve<const N: usize>(shelf: &mut Shelf<N>, key: [u8; N], entry: Option<Vec<u8>>) {
    match entry {
        Some(entry) => shelf.put(key, entry),
        None => shelf.take(key),
    }
}

/// A key put together from parts that are `N` bytes long together.
fn joined<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    parts.concat().try_into().expect("the parts of each kind of key have fixed lengths")
}

/// Follows one shelf's changes in the tree; gives the bytes that were hashed.
fn settle<const N: usize>(
    tree: &mut BTreeMap<LeafKey, (LeafDigest, Digest)>,
    name: &str,
    shelf: &mut Shelf<N>,
) -> u64 {
    let mut hashed = 0_u64;
    for (prefix, digest) in shelf.settle() {
        let key = shelf_key(name, &prefix);
        match digest {
            Some(digest) => {
                hashed += u64::from(digest.bytes);
                tree.insert(key.clone(), branch(&key, digest));
            }
            None => {
                tree.remove(&key);
            }
        }
    }
    hashed
}

fn branch(key: &LeafKey, digest: LeafDigest) -> (LeafDigest, Digest) {
    (digest, leaf_hash(key, &digest.hash))
}

/// The name of a tile's shelf.
pub(crate) fn tile_shelf(tile: Tile) -> String {
    format!("{TILE}/{},{}", tile.x, tile.y)
}

pub(crate) fn shelf_key(name: &str, prefix: &[u8]) -> LeafKey {
    if prefix.is_empty() {
        return LeafKey(name.to_owned());
    }
    LeafKey(format!("{name}/{}", prefix_text(prefix)))
}

/// The tile that is called `x,y`.
fn tile_named(name: &str) -> Option<Tile> {
    let (x, y) = name.split_once(',')?;
    Some(Tile { x: x.parse().ok()?, y: y.parse().ok()? })
}

/// The digits of a leaf's prefix, one per byte.
fn prefix_digits(prefix: &str) -> Option<Vec<u8>> {
    prefix.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect()
}

/// The leaf with the outcomes of one turn.
pub(crate) fn outcomes_key(height: Height) -> LeafKey {
    LeafKey(format!("{OUTCOMES}/{height}"))
}
