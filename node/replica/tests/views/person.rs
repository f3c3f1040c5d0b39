//! A client that believes nothing: it applies views to copies and compares them with history.

use std::collections::{BTreeMap, VecDeque};

use metatopia_protocol::{
    ServerMessage, TileName, TileUpdate, UNSEEN_MAX, View, ViewProof, Watching, decode_server,
};
use metatopia_replica::ClientId;
use metatopia_sim::{CopiedLeaf, KnownLeaves, Tile, TileCopy};
use metatopia_types::{Height, ObjectId, Sign, leaf_hash};

use crate::town::{Entries, Town, key};

pub(crate) struct Copy {
    pub(crate) copy: TileCopy,
    pub(crate) height: Height,
    pub(crate) whole: bool,
}

pub(crate) struct Person {
    pub(crate) n: u8,
    pub(crate) client: ClientId,
    pub(crate) server: usize,
    pub(crate) watching: Watching,
    pub(crate) copies: BTreeMap<TileName, Copy>,
    /// Frames under way.
    pub(crate) inbox: VecDeque<Vec<u8>>,
    pub(crate) views: Vec<View>,
    pub(crate) bytes: usize,
    /// Those of them that were proofs.
    pub(crate) proof_bytes: usize,
    pub(crate) proven: usize,
    pub(crate) disproven: usize,
    /// Tiles without entries that were proved to have none.
    pub(crate) emptied: usize,
    /// Tiles that a proof said nothing of.
    pub(crate) missing: usize,
    pub(crate) near: usize,
    shown: BTreeMap<Height, BTreeMap<TileName, Vec<CopiedLeaf>>>,
}

pub(crate) fn tile(name: TileName) -> Tile {
    Tile { x: name.x.into(), y: name.y.into() }
}

impl Person {
    pub(crate) fn new(n: u8, bytes_per_second: u32) -> Self {
        let watching =
            Watching { bytes_per_second, turns_apart: 1, proofs: true, at: None, have: Vec::new() };
        Self {
            n,
            client: ClientId(n.into()),
            server: 0,
            watching,
            copies: BTreeMap::new(),
            inbox: VecDeque::new(),
            views: Vec::new(),
            bytes: 0,
            proof_bytes: 0,
            proven: 0,
            disproven: 0,
            emptied: 0,
            missing: 0,
            near: 0,
            shown: BTreeMap::new(),
        }
    }

    /// Watches at a server, with the copies it has.
    pub(crate) fn enter(&mut self, town: &mut Town, server: usize, client: u64) {
        town.servers[self.server].views.forget(self.client);
        (self.server, self.client) = (server, ClientId(client));
        self.inbox.clear();
        self.shown.clear();
        self.copies.retain(|_, copy| copy.whole);
        let have = self.copies.iter().map(|(name, copy)| (*name, copy.height)).collect();
        self.watching.have = have;
        let watching = Some(&self.watching);
        let views = &mut town.servers[server].views;
        views.watch(self.client, key(self.n).public(), watching).expect("few tiles");
    }

    pub(crate) fn deliver(&mut self, frames: &[Vec<(ClientId, Vec<u8>)>]) {
        let own = frames[self.server].iter().filter(|(client, _)| *client == self.client);
        self.inbox.extend(own.map(|(_, frame)| frame.clone()));
        let views = self
            .inbox
            .iter()
            .filter(|frame| matches!(decode_server(frame), Ok(ServerMessage::View(_))));
        assert!(views.count() <= UNSEEN_MAX as usize, "what is under way is bounded");
    }

    /// Reads at most so many frames.
    pub(crate) fn read(&mut self, town: &mut Town, frames: usize) {
        for _ in 0..frames {
            let Some(frame) = self.inbox.pop_front() else {
                return;
            };
            self.bytes += frame.len();
            match decode_server(&frame).expect("a frame of the server") {
                ServerMessage::View(view) => {
                    let last = self.views.last();
                    assert!(last.is_none_or(|last| view.height > last.height || view.number == 1));
                    self.look(town, &view);
                    let views = &mut town.servers[self.server].views;
                    assert_eq!(views.seen(self.client, view.number), Ok(()));
                    self.views.push(*view);
                }
                ServerMessage::ViewProof(proof) => {
                    self.proof_bytes += frame.len();
                    self.check(&proof);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn look(&mut self, town: &Town, view: &View) {
        for name in &view.left {
            self.copies.remove(name);
        }
        for update in &view.tiles {
            self.apply(update, view.height);
            self.compare(&town.history[&view.height], update.tile);
        }
        for (id, movement) in &view.near {
            let mut copies = self.copies.values().filter_map(|copy| copy.copy.get(*id));
            // What came into sight since its tile was told about is not known yet.
            let Some(mut body) = copies.next().map(|entry| entry.body.clone()) else { continue };
            self.near += 1;
            assert_eq!(body.follow(movement), Ok(()));
        }
        let leaves = |(name, copy): (&TileName, &mut Copy)| (*name, copy.copy.leaves());
        self.shown.insert(view.height, self.copies.iter_mut().map(leaves).collect());
    }

    fn apply(&mut self, update: &TileUpdate, height: Height) {
        match update.since {
            None => {
                let copy = TileCopy::new(tile(update.tile));
                self.copies.insert(update.tile, Copy { copy, height, whole: false });
            }
            Some(since) => {
                let copy = self.copies.get(&update.tile).expect("a change of a known copy");
                assert!(since <= copy.height && copy.height <= height, "the change fits the copy");
            }
        }
        let copy = self.copies.get_mut(&update.tile).expect("it is there by now");
        for entry in &update.entries {
            copy.copy.put(entry).expect("an entry of the state");
        }
        for (id, movement) in &update.moved {
            copy.copy.follow(*id, movement).expect("a movement of the state");
        }
        for id in &update.gone {
            copy.copy.remove(*id);
        }
        (copy.height, copy.whole) = (height, !update.more);
    }

    /// Compares a copy with what was there: all of it, or all up to its greatest id.
    fn compare(&self, snapshot: &BTreeMap<Tile, Entries>, name: TileName) {
        let copy = &self.copies[&name];
        let copied: Entries = copy.copy.entries().map(|entry| (entry.id, entry.encode())).collect();
        let through = copied.last_key_value().map_or(ObjectId(0), |(id, _)| *id);
        let through = if copy.whole { ObjectId(u64::MAX) } else { through };
        let real = snapshot.get(&tile(name)).cloned().unwrap_or_default();
        let real: Entries = real.into_iter().filter(|(id, _)| *id <= through).collect();
        assert!(copied == real, "tile {name:?} at height {}", copy.height);
    }

    fn check(&mut self, proof: &ViewProof) {
        let shown = self.shown.remove(&proof.of).expect("a view of that height was seen");
        let mut known = KnownLeaves::new(proof.places.count);
        let mut placed = BTreeMap::new();
        for leaf in &proof.leaves {
            let own = shown[&leaf.tile].iter().find(|own| own.prefix == leaf.prefix);
            let own = own.expect("the copy has that leaf");
            match own.hash == leaf.hash {
                true => self.proven += 1,
                false => self.disproven += 1,
            }
            known.put(leaf.place, own.key.clone());
            placed.insert(leaf.place, leaf.hash);
        }
        for leaf in &proof.beside {
            known.put(leaf.place, leaf.key.clone());
            placed.insert(leaf.place, leaf_hash(&leaf.key, &leaf.content));
        }
        let placed: Vec<_> = placed.into_iter().collect();
        assert_eq!(placed.len(), proof.leaves.len() + proof.beside.len(), "each once");
        let root = proof.places.root(&placed);
        assert!(placed.is_empty() || root == Some(proof.header.root.0), "all at their places");
        let listed =
            |name: &TileName| proof.leaves.iter().filter(|leaf| leaf.tile == *name).count();
        for (name, leaves) in &shown {
            assert!([0, leaves.len()].contains(&listed(name)), "a tile is proven as a whole");
            let empty = known.lack(tile(*name));
            self.emptied += usize::from(empty && leaves.is_empty());
            self.missing += usize::from(!empty && listed(name) == 0);
        }
    }

    /// Returns whether the person has every tile as it is now.
    pub(crate) fn is_current(&self, town: &Town) -> bool {
        let now = &town.history[&town.height()];
        self.copies.iter().all(|(name, copy)| {
            let real = now.get(&tile(*name)).cloned().unwrap_or_default();
            let copied = copy.copy.entries().map(|entry| (entry.id, entry.encode()));
            copy.whole && copied.eq(real)
        })
    }
}
