//! The leaves of what is kept about people: fourteen tables, each cut by its keys.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_types::{
    ClubId, Digest, Height, LeafKey, ObjectId, PublicKey, Root, StateProof, merkle, wire,
};
use serde::Serialize;

use super::{
    leaf_keys::{
        BANS, CLUBS, FORGOTTEN, FRIENDS, FROZEN, GOVERNANCE, MAILBOXES, MUTES, ORDERS, PARAMETERS,
        PICTURES, PROFILES, REPORTS, ROLES, ROTATED, TRACES, table_leaf_key,
    },
    leaf_table::{LeafDigest, LeafRange, LeafTable},
    leaves::StateLeaves,
    refresh::{joined, refresh_table, set_entry},
    tracked::Tracked,
};
use crate::rules::People;

/// The tables of what is kept about people.
#[derive(Debug, Clone)]
pub(super) struct PeopleTables {
    roles: LeafTable<32>,
    bans: LeafTable<32>,
    mutes: LeafTable<32>,
    frozen: LeafTable<8>,
    rotated: LeafTable<32>,
    reports: LeafTable<8>,
    traces: LeafTable<8>,
    mailboxes: LeafTable<40>,
    friends: LeafTable<32>,
    forgotten: LeafTable<8>,
    clubs: LeafTable<8>,
    pictures: LeafTable<32>,
    /// Shared with who proves profiles of a state that has passed.
    profiles: Arc<LeafTable<32>>,
    /// Shared with who proves orders of a state that has passed.
    orders: Arc<LeafTable<8>>,
}

impl Default for PeopleTables {
    fn default() -> Self {
        Self {
            roles: LeafTable::default(),
            bans: LeafTable::default(),
            mutes: LeafTable::default(),
            frozen: LeafTable::default(),
            rotated: LeafTable::default(),
            reports: LeafTable::default(),
            traces: LeafTable::default(),
            mailboxes: LeafTable::default(),
            friends: LeafTable::default(),
            forgotten: LeafTable::default(),
            clubs: LeafTable::default(),
            pictures: LeafTable::default(),
            profiles: Arc::new(LeafTable::narrow()),
            orders: Arc::default(),
        }
    }
}

impl PeopleTables {
    /// Says whether one of the tables has this name.
    pub(super) fn has(name: &str) -> bool {
        let people = [ROLES, BANS, MUTES, FROZEN, ROTATED, REPORTS, TRACES, ORDERS, MAILBOXES];
        let said = [FRIENDS, FORGOTTEN, CLUBS, PROFILES, PICTURES];
        people.contains(&name) || said.contains(&name)
    }

    /// Returns a range of the content of a leaf of the table with this name.
    pub(super) fn part(&self, name: &str, prefix: &[u8], range: LeafRange) -> Option<Vec<u8>> {
        Some(match name {
            ROLES => self.roles.part(prefix, range),
            BANS => self.bans.part(prefix, range),
            MUTES => self.mutes.part(prefix, range),
            FROZEN => self.frozen.part(prefix, range),
            ROTATED => self.rotated.part(prefix, range),
            REPORTS => self.reports.part(prefix, range),
            TRACES => self.traces.part(prefix, range),
            MAILBOXES => self.mailboxes.part(prefix, range),
            FRIENDS => self.friends.part(prefix, range),
            FORGOTTEN => self.forgotten.part(prefix, range),
            CLUBS => self.clubs.part(prefix, range),
            PROFILES => self.profiles.part(prefix, range),
            PICTURES => self.pictures.part(prefix, range),
            ORDERS => self.orders.part(prefix, range),
            _ => return None,
        })
    }

    /// Encodes what changed.
    pub(super) fn take_changes(&mut self, people: &mut People) {
        let by_key = |key: &PublicKey| key.0;
        put_touched(&mut self.roles, &mut people.roles, by_key);
        put_touched(&mut self.bans, &mut people.bans, by_key);
        put_touched(&mut self.mutes, &mut people.mutes, by_key);
        put_touched(&mut self.frozen, &mut people.frozen, |id: &ObjectId| id.0.to_be_bytes());
        put_touched(&mut self.rotated, &mut people.rotated, by_key);
        put_touched(&mut self.friends, &mut people.friends.all, by_key);
        put_touched(&mut self.clubs, &mut people.clubs.all, |id: &ClubId| id.0.to_be_bytes());
        put_touched(&mut self.pictures, &mut people.profiles.pictures, by_key);
        if people.profiles.all.is_touched() {
            let profiles = Arc::make_mut(&mut self.profiles);
            put_touched(profiles, &mut people.profiles.all, by_key);
        }
        let by_number = |number: &u64| number.to_be_bytes();
        let by_thing = |id: &ObjectId| id.0.to_be_bytes();
        put_touched(&mut self.traces, &mut people.traces.all, by_thing);
        put_touched(&mut self.reports, &mut people.reports.all, by_number);
        put_touched(&mut self.forgotten, &mut people.forgotten.all, by_number);
        let by_place = |(to, n): &(PublicKey, u64)| joined(&[&to.0, &n.to_be_bytes()]);
        put_touched(&mut self.mailboxes, &mut people.mailboxes.all, by_place);
        if people.orders.is_touched() {
            let orders = Arc::make_mut(&mut self.orders);
            put_touched(orders, &mut people.orders, by_number);
        }
    }

    /// Cuts and hashes again what changed. Returns how many bytes were hashed.
    pub(super) fn refresh(&mut self, tree: &mut BTreeMap<LeafKey, (LeafDigest, Digest)>) -> u64 {
        let mut hashed = refresh_table(tree, ROLES, &mut self.roles);
        hashed += refresh_table(tree, BANS, &mut self.bans);
        hashed += refresh_table(tree, MUTES, &mut self.mutes);
        hashed += refresh_table(tree, FROZEN, &mut self.frozen);
        hashed += refresh_table(tree, ROTATED, &mut self.rotated);
        hashed += refresh_table(tree, REPORTS, &mut self.reports);
        hashed += refresh_table(tree, TRACES, &mut self.traces);
        hashed += refresh_table(tree, MAILBOXES, &mut self.mailboxes);
        hashed += refresh_table(tree, FRIENDS, &mut self.friends);
        hashed += refresh_table(tree, FORGOTTEN, &mut self.forgotten);
        hashed += refresh_table(tree, CLUBS, &mut self.clubs);
        hashed += refresh_table(tree, PICTURES, &mut self.pictures);
        if !self.profiles.is_fresh() {
            hashed += refresh_table(tree, PROFILES, Arc::make_mut(&mut self.profiles));
        }
        if !self.orders.is_fresh() {
            hashed += refresh_table(tree, ORDERS, Arc::make_mut(&mut self.orders));
        }
        hashed
    }
}

impl StateLeaves {
    /// Returns what the sim is, what was ordered and what people say of themselves, to prove it while the state goes
    /// on.
    pub(crate) fn provable_leaves(&self, height: Height) -> ProvableLeaves {
        let place = |key: &str| {
            let before = self.tree.range(..LeafKey(key.to_owned())).count();
            u32::try_from(before).expect("a state has fewer leaves")
        };
        let single = |key: &str| {
            let leaf = self.singles.get(&LeafKey(key.to_owned()));
            let leaf = leaf.expect("every state has this leaf");
            (place(key), Arc::clone(&leaf.content))
        };
        ProvableLeaves {
            height,
            charter: single(PARAMETERS),
            governance: single(GOVERNANCE),
            first: place(ORDERS),
            orders: Arc::clone(&self.people.orders),
            first_profile: place(PROFILES),
            profiles: Arc::clone(&self.people.profiles),
            nodes: Arc::clone(&self.nodes),
        }
    }
}

/// What the sim is, what was ordered and what people say of themselves up to one turn, to be proved. Clones are
/// cheap: they share what is in it.
#[derive(Debug, Clone)]
pub struct ProvableLeaves {
    height: Height,
    /// The leaf of the charter, and its place.
    charter: (u32, Arc<[u8]>),
    /// The leaf of governance, which says how many orders there were, and its place.
    governance: (u32, Arc<[u8]>),
    /// The place of the first leaf of orders. The others follow it.
    first: u32,
    orders: Arc<LeafTable<8>>,
    /// The place of the first leaf of profiles. The others follow it.
    first_profile: u32,
    profiles: Arc<LeafTable<32>>,
    nodes: Arc<merkle::Tree>,
}

impl ProvableLeaves {
    /// Returns the height of the turn.
    #[must_use]
    pub const fn height(&self) -> Height {
        self.height
    }

    /// Returns the root of the state after that turn.
    #[must_use]
    pub fn root(&self) -> Root {
        Root(self.nodes.root())
    }

    /// Returns the leaf that says how many orders there were, with its path to the root.
    ///
    /// # Panics
    /// Never: the leaf is one of the state.
    #[must_use]
    pub fn governance(&self) -> StateProof {
        self.single(GOVERNANCE, &self.governance)
    }

    /// Returns the leaf of the [`Charter`](crate::Charter), with its path to the root.
    ///
    /// # Panics
    /// Never: the leaf is one of the state.
    #[must_use]
    pub fn charter(&self) -> StateProof {
        self.single(PARAMETERS, &self.charter)
    }

    fn single(&self, key: &str, (place, content): &(u32, Arc<[u8]>)) -> StateProof {
        let place = self.nodes.proof(*place).expect("the leaf is one of the state");
        StateProof { key: LeafKey(key.to_owned()), content: content.to_vec(), place }
    }

    /// Returns the leaf with the last order below this number, with its path to the root; nothing if no
    /// such order is kept.
    #[must_use]
    pub fn page(&self, below: u64) -> Option<StateProof> {
        let last = self.orders.last_below(&below.to_be_bytes())?;
        let (digits, before) = self.orders.shelf_of(&last)?;
        let place = self.nodes.proof(self.first + u32::try_from(before).ok()?)?;
        Some(StateProof {
            key: table_leaf_key(ORDERS, &digits),
            content: self.orders.content(&digits),
            place,
        })
    }

    /// Returns the leaf that holds what is kept of a person's profile, if anything is, with its path to the root;
    /// nothing if there is no such leaf.
    #[must_use]
    pub fn profile(&self, key: &PublicKey) -> Option<StateProof> {
        let (digits, before) = self.profiles.shelf_of(&key.0)?;
        let place = self.nodes.proof(self.first_profile + u32::try_from(before).ok()?)?;
        Some(StateProof {
            key: table_leaf_key(PROFILES, &digits),
            content: self.profiles.content(&digits),
            place,
        })
    }
}

/// Encodes the entries that were touched.
fn put_touched<const N: usize, K: Ord + Copy + Serialize, V: Clone + Serialize>(
    table: &mut LeafTable<N>,
    entries: &mut Tracked<K, V>,
    bytes: impl Fn(&K) -> [u8; N],
) {
    for key in entries.take_touched() {
        let entry = entries.get(&key).map(|value| wire::encode(&(key, value)));
        set_entry(table, bytes(&key), entry);
    }
}
