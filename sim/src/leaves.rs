//! The leaves of a state: its canonical encoding, cut into pieces that are hashed one by one.
//!
//! A leaf is hashed again only when what it holds was touched. That is an optimisation and no more:
//! the tests hash everything anew after every turn and compare.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use metatopia_physics::{Body, Contact};
use metatopia_types::{
    Digest, Height, LeafKey, ObjectId, Root, StateProof, leaf_hash, limits::LEAF_BYTES_MAX, merkle,
    wire,
};
use serde::Serialize;

use crate::{
    limits::PACKAGE_PIECE_BYTES,
    object::{Tile, object_key},
    shelf::{LeafDigest, Shelf, prefix_text},
    state::State,
};

pub(crate) const CLOCK: &str = "clock";
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const GOVERNANCE: &str = "governance";
pub(crate) const VALIDATORS: &str = "validators";
pub(crate) const ROOTS: &str = "roots";
pub(crate) const CHAT: &str = "chat";
pub(crate) const PLAYERS: &str = "players";
pub(crate) const WINDOWS: &str = "windows";
pub(crate) const OWNERS: &str = "owners";
pub(crate) const PACKAGES: &str = "packages";
pub(crate) const CONTACTS: &str = "region/0/contacts";
pub(crate) const SCRIPT: &str = "script";
pub(crate) const TILE: &str = "tile";
pub(crate) const OUTCOMES: &str = "outcomes";

/// Which shelf: one of those that every state has, or that of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ShelfName {
    Named(&'static str),
    Tile(Tile),
}

impl fmt::Display for ShelfName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Tile(tile) => write!(f, "{TILE}/{},{}", tile.x, tile.y),
        }
    }
}

impl ShelfName {
    /// The shelf that is called so.
    fn parse(text: &str) -> Option<Self> {
        let named = [PLAYERS, WINDOWS, OWNERS, PACKAGES, CONTACTS];
        if let Some(name) = named.into_iter().find(|name| *name == text) {
            return Some(Self::Named(name));
        }
        let (x, y) = text.strip_prefix(TILE)?.strip_prefix('/')?.split_once(',')?;
        Some(Self::Tile(Tile { x: x.parse().ok()?, y: y.parse().ok()? }))
    }
}

/// A leaf that is not cut.
#[derive(Debug, Clone)]
struct Single {
    content: Vec<u8>,
}

/// All leaves after the last turn, with their hashes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaves {
    singles: BTreeMap<LeafKey, Single>,
    shelves: BTreeMap<ShelfName, Shelf>,
    /// Every leaf, with its content's hash and its hash in the tree.
    tree: BTreeMap<LeafKey, (LeafDigest, Digest)>,
    /// Where each object was, and its body, when its entry was written.
    placed: BTreeMap<ObjectId, (Tile, Body)>,
    contacts: Vec<Contact>,
    root: Root,
    hashed_bytes: u64,
}

impl Leaves {
    /// The root of the state that was last looked at.
    pub(crate) const fn root(&self) -> Root {
        self.root
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
        if let Some(single) = self.singles.get(key) {
            return Some(single.content.clone());
        }
        self.tree.get(key)?;
        let shelf = |name| self.shelves.get(&ShelfName::parse(name)?);
        if let Some(shelf) = shelf(&key.0) {
            return Some(shelf.content(&[]));
        }
        // The prefix of a leaf that was cut off follows its shelf's name after the last slash.
        let (name, prefix) = key.0.rsplit_once('/')?;
        let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let prefix: Option<Vec<u8>> = prefix.chars().map(digit).collect();
        Some(shelf(name)?.content(&prefix?))
    }

    /// A leaf with its path to the root.
    pub(crate) fn proof(&self, key: &LeafKey) -> Option<StateProof> {
        let content = self.content(key)?;
        let index = self.tree.range(..key).count();
        let hashes: Vec<Digest> = self.tree.values().map(|(_, hash)| *hash).collect();
        let place = merkle::Proof::of(&hashes, index)?;
        Some(StateProof { key: key.clone(), content, place })
    }

    /// Looks at whatever was touched since the last call, and gives the root of the state.
    pub(crate) fn refresh(&mut self, state: &mut State) -> Root {
        self.single(CLOCK, &state.clock);
        self.single(PARAMETERS, &state.charter);
        self.single(GOVERNANCE, &state.governance);
        self.single(VALIDATORS, &state.roster);
        self.single(ROOTS, &state.roots);
        self.single(CHAT, &state.chat);
        self.outcomes(state);
        self.scripts(state);
        self.people(state);
        self.objects(state);
        self.contacts(state);
        self.settle();
        let hashes: Vec<Digest> = self.tree.values().map(|(_, hash)| *hash).collect();
        self.root = Root(merkle::root(&hashes));
        self.root
    }

    /// The leaves of a state that was built or restored: all of them are looked at.
    pub(crate) fn of(state: &mut State) -> Self {
        let mut leaves = Self::default();
        leaves.packages(state);
        for (height, outcomes) in &state.outcomes {
            leaves.single(&outcomes_key(*height).0, outcomes);
        }
        leaves.refresh(state);
        leaves
    }

    /// Puts the packages on their shelf; they do not change afterwards.
    fn packages(&mut self, state: &State) {
        for (id, package) in state.packages.iter() {
            let bytes = package.encode();
            for (n, piece) in (0_u32..).zip(bytes.chunks(PACKAGE_PIECE_BYTES)) {
                let key = [&id.bytes()[..], &n.to_be_bytes()].concat();
                self.shelf(ShelfName::Named(PACKAGES)).put(&key, wire::encode(&((id, n), piece)));
            }
        }
    }

    fn shelf(&mut self, name: ShelfName) -> &mut Shelf {
        self.shelves.entry(name).or_default()
    }

    fn single<T: Serialize>(&mut self, key: &str, value: &T) {
        let (key, content) = (LeafKey(key.to_owned()), wire::encode(value));
        if self.singles.get(&key).is_some_and(|single| single.content == content) {
            return;
        }
        assert!(content.len() <= LEAF_BYTES_MAX, "leaf {key} has {} bytes", content.len());
        let hash = Digest(*blake3::hash(&content).as_bytes());
        let bytes = u32::try_from(content.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
        self.hashed_bytes = self.hashed_bytes.saturating_add(u64::from(bytes));
        self.tree.insert(key.clone(), branch(&key, LeafDigest { hash, bytes }));
        self.singles.insert(key, Single { content });
    }

    fn drop_single(&mut self, key: &LeafKey) {
        self.singles.remove(key);
        self.tree.remove(key);
    }

    fn outcomes(&mut self, state: &State) {
        if let Some((height, outcomes)) = state.outcomes.last_key_value() {
            self.single(&outcomes_key(*height).0, outcomes);
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
            self.shelve(ShelfName::Named(PLAYERS), &key.0, entry);
        }
        for owner in state.owners.take_touched() {
            let entry = state.owners.get(&owner).map(|pool| wire::encode(&(owner, pool)));
            // The sim itself comes first, before every key.
            let mut key = [0; 33];
            if let Some(owner) = owner {
                key[0] = 1;
                key[1..].copy_from_slice(&owner.0);
            }
            self.shelve(ShelfName::Named(OWNERS), &key, entry);
        }
        for lane in core::mem::take(&mut state.windows_touched) {
            let entry = state.windows.get(&lane).map(|window| wire::encode(&(lane, window)));
            let key = [&lane.0.0[..], &lane.1.0.to_be_bytes()].concat();
            self.shelve(ShelfName::Named(WINDOWS), &key, entry);
        }
    }

    fn shelve(&mut self, name: ShelfName, key: &[u8], entry: Option<Vec<u8>>) {
        match entry {
            Some(entry) => self.shelf(name).put(key, entry),
            None => self.shelf(name).take(key),
        }
    }

    /// Objects whose own fields were touched, and those whose bodies changed.
    fn objects(&mut self, state: &mut State) {
        let mut moved: BTreeSet<ObjectId> = state.objects.take_touched();
        for body in state.region.bodies() {
            if self.placed.get(&body.id()).is_none_or(|(_, before)| before != body) {
                moved.insert(body.id());
            }
        }
        for id in moved {
            let now = state.objects.get(&id).zip(state.region.body(id));
            let tile = now.map(|(_, body)| Tile::of(body.position()));
            if let Some((old, _)) = self.placed.get(&id)
                && Some(*old) != tile
            {
                let old = ShelfName::Tile(*old);
                self.shelve(old, &object_key(id), None);
            }
            let (Some((object, body)), Some(tile)) = (now, tile) else {
                self.placed.remove(&id);
                continue;
            };
            let entry = wire::encode(&(id, object, body));
            self.shelve(ShelfName::Tile(tile), &object_key(id), Some(entry));
            self.placed.insert(id, (tile, body.clone()));
        }
    }

    fn contacts(&mut self, state: &State) {
        let now = state.region.contacts();
        if self.contacts == now {
            return;
        }
        let key = |contact: &Contact| {
            let (a, b) = contact.pair();
            [object_key(a), object_key(b)].concat()
        };
        let pairs: BTreeSet<(ObjectId, ObjectId)> = now.iter().map(Contact::pair).collect();
        for gone in core::mem::take(&mut self.contacts) {
            if !pairs.contains(&gone.pair()) {
                self.shelf(ShelfName::Named(CONTACTS)).take(&key(&gone));
            }
        }
        now.iter().for_each(|contact| {
            self.shelf(ShelfName::Named(CONTACTS)).put(&key(contact), wire::encode(contact))
        });
        self.contacts = now.to_vec();
    }

    /// Cuts and hashes again what changed on the shelves.
    fn settle(&mut self) {
        let mut empty = Vec::new();
        for (name, shelf) in &mut self.shelves {
            for (prefix, digest) in shelf.settle() {
                let key = shelf_key(*name, &prefix);
                match digest {
                    Some(digest) => {
                        self.hashed_bytes =
                            self.hashed_bytes.saturating_add(u64::from(digest.bytes));
                        self.tree.insert(key.clone(), branch(&key, digest));
                    }
                    None => {
                        self.tree.remove(&key);
                    }
                }
            }
            if shelf.is_empty() {
                empty.push(*name);
            }
        }
        empty.iter().for_each(|name| drop(self.shelves.remove(name)));
    }
}

fn branch(key: &LeafKey, digest: LeafDigest) -> (LeafDigest, Digest) {
    (digest, leaf_hash(key, &digest.hash))
}

fn shelf_key(name: ShelfName, prefix: &[u8]) -> LeafKey {
    if prefix.is_empty() {
        return LeafKey(name.to_string());
    }
    LeafKey(format!("{name}/{}", prefix_text(prefix)))
}

/// The leaf with the outcomes of one turn.
pub(crate) fn outcomes_key(height: Height) -> LeafKey {
    LeafKey(format!("{OUTCOMES}/{height}"))
}
