//! Refreshes the leaves: encodes and hashes again what was touched of a state.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_physics::Body;
use metatopia_types::{
    Digest, LeafKey, Movement, ObjectId, Root, leaf_hash,
    limits::{LEAF_BYTES_MAX, PACKAGE_PIECE_BYTES_MAX},
    said_key, wire,
};
use serde::Serialize;

use super::{
    leaf_keys::{
        CHAT, CLOCK, CONTACTS, ENGINE, FIRST_LOGINS, GOVERNANCE, GRANTED, GRANTS, HISTORIES,
        JOINTS, LAND, LOTS, OWNERS, PACKAGES, PARAMETERS, PIECES, PLAYERS, PUBLICATIONS, READINESS,
        SCRIPT, VALIDATORS, WINDOWS, ghosts_key, known_key, luggage_key, outcomes_key, parcel_key,
        table_leaf_key, tier_key, tier_leaves, tile_table_name,
    },
    leaf_table::{LeafDigest, LeafTable},
    leaves::{Single, StateLeaves},
};
use crate::{
    space::Tile,
    state::{ChangedObject, Object, State, object_key},
};

/// Bytes of a snapshot for one leaf, besides its key's text and its content, at most: the length of
/// that text, a hash, and twice the length of the content.
const LEAF_HEAD_BYTES_MAX: u64 = 1 + 32 + 2 * 3;

/// Bytes of the number of leaves, at most.
const COUNT_BYTES_MAX: u64 = 3;

impl StateLeaves {
    /// Encodes and hashes what was touched since the last call. Returns the root of the state.
    pub(crate) fn refresh(&mut self, state: &mut State) -> Root {
        self.single(CLOCK, &state.clock);
        self.single(FIRST_LOGINS, &state.first_logins);
        if self.readiness.changed_to(&state.readiness) {
            self.single(READINESS, &state.readiness);
        }
        if self.engine.changed_to(&state.engine) {
            self.single(ENGINE, &state.engine);
        }
        if self.charter.changed_to(&state.charter) {
            self.single(PARAMETERS, &state.charter);
        }
        if self.governance.changed_to(&state.governance) {
            self.single(GOVERNANCE, &state.governance);
        }
        if self.roster.changed_to(&state.roster) {
            self.single(VALIDATORS, &state.roster);
        }
        if self.chat.changed_to(&state.chat) {
            self.single(CHAT, &state.chat);
        }
        self.outcomes(state);
        self.scripts(state);
        self.people(state);
        self.packages(state);
        self.publications(state);
        self.pieces(state);
        self.land(state);
        self.borders(state);
        self.people.take_changes(&mut state.people);
        for id in state.lots.all.take_touched() {
            let entry = state.lots.all.get(&id).map(|lot| wire::encode(&(id, lot)));
            set_entry(&mut self.lots, id.0.to_be_bytes(), entry);
        }
        // Objects and bodies share an entry, so both lists of changes must be taken at once.
        let changes = state.bodies.take_changes();
        self.ghosts(state, &changes.bodies);
        self.objects(state, changes.bodies);
        if changes.contacts {
            self.contacts(state);
        }
        if changes.joints {
            self.joints(state);
        }
        if changes.tier {
            self.tier(state);
        }
        // The tables come after all entries are in them: a leaf is cut and hashed once.
        self.refresh_tables();
        self.bytes = 2 * COUNT_BYTES_MAX;
        let hashes = self.tree.iter().map(|(key, (digest, hash))| {
            self.bytes += key.0.len() as u64 + LEAF_HEAD_BYTES_MAX + u64::from(digest.bytes);
            *hash
        });
        let hashes = hashes.collect();
        self.nodes = Arc::new(self.nodes.followed_by(hashes));
        self.root()
    }

    /// Returns the leaves of a state that was built or restored, all of which are encoded and hashed.
    pub(crate) fn of(state: &mut State) -> Self {
        let mut leaves = Self::default();
        for (height, outcomes) in &state.outcomes {
            leaves.single(&outcomes_key(*height).0, &**outcomes);
        }
        leaves.refresh(state);
        leaves
    }

    /// Encodes the packages that came, and removes those that went. A package of one id never changes.
    fn packages(&mut self, state: &mut State) {
        for id in state.packages.take_touched() {
            let key = |n: u32| joined(&[id.bytes(), &n.to_be_bytes()]);
            let Some(package) = state.packages.get(&id) else {
                let mut n = 0;
                while self.packages.get(&key(n)).is_some() {
                    self.packages.take(key(n));
                    n += 1;
                }
                continue;
            };
            for (n, piece) in (0_u32..).zip(package.encode().chunks(PACKAGE_PIECE_BYTES_MAX)) {
                self.packages.put(key(n), wire::encode(&((id, n), piece)));
            }
        }
    }

    /// Encodes what is kept of packages, as far as it changed.
    fn publications(&mut self, state: &mut State) {
        let records = &mut state.publications.records;
        for id in records.take_touched() {
            match records.get(&id) {
                Some(record) => self.publications.put(id.0.0, wire::encode(&(id, record))),
                None => self.publications.take(id.0.0),
            }
        }
    }

    /// Encodes the pieces of packages that came, and removes those that went.
    fn pieces(&mut self, state: &mut State) {
        for (author, id) in state.pieces.all.take_touched() {
            let piece = state.pieces.all.get(&(author, id));
            let entry = piece.map(|piece| wire::encode(&((author, id), piece)));
            set_entry(&mut self.pieces, joined(&[&author.0, &id.0.0]), entry);
        }
    }

    /// Encodes what changed in the register of a land office.
    fn land(&mut self, state: &mut State) {
        let Some(register) = &mut state.land else {
            return;
        };
        if self.land.changed_to(&register.week) {
            self.single(LAND, &register.week);
        }
        let touched = register.grants.take_touched();
        if !touched.is_empty() {
            let shelves = Arc::make_mut(&mut self.shelves.0);
            for code in touched {
                set_entry(
                    shelves,
                    code.to_be_bytes(),
                    register.grants.get(&code).map(wire::encode),
                );
            }
        }
        for sim in register.sims.take_touched() {
            let entry = register.sims.get(&sim).map(|granted| wire::encode(&(sim, granted)));
            set_entry(&mut self.granted, sim.0.0, entry);
        }
    }

    /// Encodes what changed of borders, of what is under way over them, and of luggage.
    fn borders(&mut self, state: &mut State) {
        for neighbour in state.borders.all.take_touched() {
            let (said, known) = (said_key(neighbour), known_key(neighbour));
            match state.borders.all.get(&neighbour) {
                Some(border) => {
                    self.bytes_leaf(said, border.crossing.said.encode());
                    self.bytes_leaf(known, wire::encode(border));
                }
                None => {
                    self.drop_single(&said);
                    self.drop_single(&known);
                }
            }
        }
        for (neighbour, number) in state.borders.parcels.take_touched() {
            let key = parcel_key(neighbour, number);
            match state.borders.parcels.get(&(neighbour, number)) {
                Some(parcel) => self.bytes_leaf(key, parcel.clone()),
                None => self.drop_single(&key),
            }
        }
        for id in state.luggage.parcels.take_touched() {
            let key = luggage_key(id);
            match state.luggage.parcels.get(&id) {
                Some(parcel) => self.bytes_leaf(key, parcel.clone()),
                None => self.drop_single(&key),
            }
        }
    }

    /// Encodes the ghosts of those neighbours of which one came, went or changed.
    fn ghosts(&mut self, state: &mut State, changed: &[ObjectId]) {
        let mut touched = state.borders.ghosts.take_touched();
        let moved = state.borders.ghosts.iter().filter(|(_, ghosts)| ghosts.has_any(changed));
        touched.extend(moved.map(|(neighbour, _)| *neighbour));
        for neighbour in touched {
            let key = ghosts_key(neighbour);
            match state.borders.ghosts.get(&neighbour) {
                Some(ghosts) => self.bytes_leaf(key, wire::encode(&ghosts.leaf(&state.bodies))),
                None => self.drop_single(&key),
            }
        }
    }

    /// Sets a leaf that is one value, and hashes it if its content is another one than before.
    fn single<T: Serialize>(&mut self, key: &str, value: &T) {
        self.bytes_leaf(LeafKey(key.to_owned()), wire::encode(value));
    }

    /// Sets a leaf of these bytes, and hashes it if they are others than before.
    fn bytes_leaf(&mut self, key: LeafKey, content: Vec<u8>) {
        if self.singles.get(&key).is_some_and(|single| *single.content == *content) {
            return;
        }
        assert!(content.len() <= LEAF_BYTES_MAX, "leaf {key} has {} bytes", content.len());
        let hash = Digest(*blake3::hash(&content).as_bytes());
        let bytes = u32::try_from(content.len()).expect("a leaf is at most LEAF_BYTES_MAX long");
        self.hashed_bytes = self.hashed_bytes.saturating_add(u64::from(bytes));
        self.tree.insert(key.clone(), tree_entry(&key, LeafDigest { hash, bytes }));
        self.singles.insert(key, Single { content: content.into() });
    }

    /// Cuts the state of the tier into leaves.
    fn tier(&mut self, state: &mut State) {
        let Some(bytes) = state.bodies.tier_state() else { return };
        let pieces = tier_leaves(bytes.len());
        for (n, piece) in bytes.chunks(LEAF_BYTES_MAX).enumerate() {
            self.bytes_leaf(tier_key(n), piece.to_vec());
        }
        for gone in pieces..tier_leaves(self.tier_bytes) {
            self.drop_single(&tier_key(gone));
        }
        self.tier_bytes = bytes.len();
    }

    /// Removes a leaf that is one value.
    fn drop_single(&mut self, key: &LeafKey) {
        self.singles.remove(key);
        self.tree.remove(key);
    }

    /// Adds the outcomes of the last turn, and removes those of the turn that the state forgot.
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

    /// Encodes the scripts that were touched.
    fn scripts(&mut self, state: &mut State) {
        for id in state.scripts.take_touched() {
            let key = format!("{SCRIPT}/{id}");
            match state.scripts.get(&id) {
                Some(script) => self.single(&key, script),
                None => self.drop_single(&LeafKey(key)),
            }
        }
    }

    /// Encodes what was touched of players, histories, owners and lane windows.
    fn people(&mut self, state: &mut State) {
        for key in state.players.take_touched() {
            let entry = state.players.get(&key).map(|player| wire::encode(&(key, player)));
            set_entry(&mut self.players, key.0, entry);
        }
        for key in state.histories.take_touched() {
            let entry = state.histories.get(&key).map(|history| wire::encode(&(key, history)));
            set_entry(&mut self.histories, key.0, entry);
        }
        for owner in state.owners.take_touched() {
            let entry = state.owners.get(&owner).map(|pool| wire::encode(&(owner, pool)));
            // The sim itself comes first, before every key.
            let key = match &owner {
                Some(owner) => joined(&[&[1], &owner.0]),
                None => [0; 33],
            };
            set_entry(&mut self.owners, key, entry);
        }
        for lane in core::mem::take(&mut state.windows_touched) {
            let entry = state.windows.get(&lane).map(|window| wire::encode(&(lane, window)));
            let key = joined(&[&lane.0.0, &lane.1.0.to_be_bytes()]);
            set_entry(&mut self.windows, key, entry);
        }
    }

    /// Encodes the objects whose own fields were touched, and those whose bodies changed.
    fn objects(&mut self, state: &mut State, bodies: Vec<ObjectId>) {
        let touched = state.objects.take_touched();
        let mut moved = touched.clone();
        let differs = |id: &ObjectId| {
            let before = self.placed.get(id).map(|(_, before)| before);
            before != state.bodies.body(*id)
        };
        moved.extend(bodies.into_iter().filter(differs));
        self.changed.clear();
        for id in moved {
            let now = state.objects.get(&id).zip(state.bodies.body(id));
            let to = now.map(|(_, body)| Tile::of(body.position()));
            let from = self.placed.get(&id).map(|(tile, _)| *tile);
            let movement = self.movement(id, now, touched.contains(&id));
            let entry = now.map(|now| self.encoded(id, now, movement.is_some()));
            if from.is_some() || to.is_some() {
                self.changed.push(ChangedObject { id, from, to, movement });
            }
            if let Some(old) = from
                && from != to
                && let Some(table) = self.tiles.get_mut(&old)
            {
                table.take(object_key(id));
            }
            let (Some((_, body)), Some(tile), Some(entry)) = (now, to, entry) else {
                self.placed.remove(&id);
                continue;
            };
            self.tiles.entry(tile).or_default().put(object_key(id), entry);
            self.placed.insert(id, (tile, body.clone()));
        }
        // An entry may be touched and not changed: many scripts write what is there already.
        let idle =
            |change: &ChangedObject| change.movement.is_some_and(|movement| movement.is_empty());
        self.changed.retain(|change| !idle(change));
    }

    /// Returns what changed of an object's motion since its entry was written, if nothing else did.
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

    /// Returns the entry of an object as it is now. If the object only `moved`, only the end of the entry is
    /// encoded again.
    fn encoded(&self, id: ObjectId, (object, body): (&Object, &Body), moved: bool) -> Vec<u8> {
        let before = self.placed.get(&id).filter(|_| moved).map(|(_, body)| body);
        match before.zip(self.entry(id)) {
            Some((before, (_, entry))) => body.encode_after(before, entry),
            None => wire::encode(&(id, object, body)),
        }
    }

    /// Encodes the contacts that changed.
    fn contacts(&mut self, state: &State) {
        let key = |(a, b): (ObjectId, ObjectId)| joined(&[&object_key(a), &object_key(b)]);
        // Both lists are in order, so one walk finds what is gone and what is new.
        let mut before = self.touching.iter().peekable();
        let now = state.bodies.contacts();
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

    /// Encodes the joints that changed.
    fn joints(&mut self, state: &State) {
        let mut before = self.joined.iter().peekable();
        let now = state.bodies.joints();
        for joint in now {
            while let Some(gone) = before.next_if(|old| old.id() < joint.id()) {
                self.joints.take(gone.id().0.to_be_bytes());
            }
            if before.next_if(|old| old.id() == joint.id()) != Some(joint) {
                self.joints.put(joint.id().0.to_be_bytes(), wire::encode(joint));
            }
        }
        before.for_each(|gone| self.joints.take(gone.id().0.to_be_bytes()));
        self.joined = now.to_vec();
    }

    /// Cuts and hashes again what changed in the tables.
    fn refresh_tables(&mut self) {
        let tree = &mut self.tree;
        let mut hashed = refresh_table(tree, PLAYERS, &mut self.players);
        hashed += refresh_table(tree, HISTORIES, &mut self.histories);
        hashed += refresh_table(tree, WINDOWS, &mut self.windows);
        hashed += refresh_table(tree, OWNERS, &mut self.owners);
        hashed += refresh_table(tree, PACKAGES, &mut self.packages);
        hashed += refresh_table(tree, PUBLICATIONS, &mut self.publications);
        hashed += refresh_table(tree, PIECES, &mut self.pieces);
        hashed += refresh_table(tree, CONTACTS, &mut self.contacts);
        hashed += refresh_table(tree, JOINTS, &mut self.joints);
        hashed += refresh_table(tree, GRANTED, &mut self.granted);
        hashed += self.people.refresh(tree);
        hashed += refresh_table(tree, LOTS, &mut self.lots);
        if !self.shelves.0.is_fresh() {
            hashed += refresh_table(tree, GRANTS, Arc::make_mut(&mut self.shelves.0));
        }
        self.tiles.retain(|tile, table| {
            if !table.is_fresh() {
                hashed += refresh_table(tree, &tile_table_name(*tile), table);
            }
            !table.is_empty()
        });
        self.hashed_bytes = self.hashed_bytes.saturating_add(hashed);
    }
}

/// Sets the entry of a key, or removes it if there is none.
pub(super) fn set_entry<const N: usize>(
    table: &mut LeafTable<N>,
    key: [u8; N],
    entry: Option<Vec<u8>>,
) {
    match entry {
        Some(entry) => table.put(key, entry),
        None => table.take(key),
    }
}

/// Returns a key put together from parts that are `N` bytes long together.
pub(super) fn joined<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    parts.concat().try_into().expect("the parts of each kind of key have fixed lengths")
}

/// Refreshes one table and updates the tree. Returns how many bytes were hashed.
pub(super) fn refresh_table<const N: usize>(
    tree: &mut BTreeMap<LeafKey, (LeafDigest, Digest)>,
    name: &str,
    table: &mut LeafTable<N>,
) -> u64 {
    let mut hashed = 0_u64;
    for (prefix, digest) in table.refresh() {
        let key = table_leaf_key(name, &prefix);
        match digest {
            Some(digest) => {
                hashed += u64::from(digest.bytes);
                tree.insert(key.clone(), tree_entry(&key, digest));
            }
            None => {
                tree.remove(&key);
            }
        }
    }
    hashed
}

/// Returns the entry of a leaf in the tree: its digest, and its hash.
fn tree_entry(key: &LeafKey, digest: LeafDigest) -> (LeafDigest, Digest) {
    (digest, leaf_hash(key, &digest.hash))
}
