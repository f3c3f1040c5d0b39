//! Snapshots: a manifest of leaves, and the leaves by hash. A manifest is checked against a root,
//! and each leaf against the manifest, so whoever serves a wrong one is named by it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_physics::{Body, Contact, Joint};
use metatopia_scripting::Package;
use metatopia_types::{
    ActId, ClubId, Digest, LandGrant, LeafKey, LotId, ObjectId, Outcome, PackageId, PublicKey,
    Root, Said, SimId, ValidatorSet, leaf_hash,
    limits::{LEAF_BYTES_MAX, LEAVES_MAX},
    merkle, said_key,
    wire::{self, DecodeError},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    border_turn::bounds_with,
    frozen::Frozen,
    genesis::GenesisError,
    ghosts::GhostLeaf,
    object::Object,
    parameters::ParametersError,
    parameters::TierName,
    pieces::PackagePieces,
    players::Player,
    publications::{Publication, Publications},
    sim_state::{Charter, Owner, State},
    tools::Tools,
    world::World,
};
use crate::{
    ENGINE,
    acts::BuildHistory,
    limits::TIER_BYTES_MAX,
    rules::{
        Border, Borders, ByteBudget, Club, FiledReport, ForgottenWords, FrozenThing, GrantedSim,
        KeptProfile, KeptWords, KeyFriends, LandRegister, LaneKey, LaneWindows, Lots, Luggage,
        LuggageThing, People, RecordedOrder, Role, RotatedKey, Sanction, ThingTrace, Window,
    },
    scripts::GasPool,
    space::{Bodies, Lot, RestoreBodiesError},
    tree::{EngineLeaf, Tracked, leaf_keys as kinds},
};

/// A leaf as a manifest lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafEntry {
    /// The key of the leaf.
    pub key: LeafKey,
    /// blake3 of its content.
    pub hash: Digest,
    /// The length of its content.
    pub bytes: u32,
}

/// All leaves of a state, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The leaves, in the order of their keys.
    pub leaves: Vec<LeafEntry>,
}

/// Largest snapshot. What anybody can make grow without a bound of its own has the 64 MiB of
/// [`WORLD_BYTES_MAX`](crate::limits::WORLD_BYTES_MAX); 243 are for what has one, in a world of as many bodies as
/// there can be: contacts 78, scripts' numbers 14, players 32, objects 13, owners 8, packages 32, 2 of pieces and 6
/// of what is kept of packages, lane windows 6, outcomes 4, the manifest 8, people's roles, bans, mutes, orders,
/// reports and rotated keys 6, traces 9, friends 6, clubs 4, sealed words 2, profiles 11, borders and ghosts 1, all
/// else 1. Plaza's, of a quarter of the bodies, take 93.
pub const SNAPSHOT_BYTES_MAX: usize = 308 * 1_024 * 1_024;

/// Why a manifest and leaves are no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateRestoreError {
    /// The bytes are no manifest with leaves.
    #[error("snapshot: {0}")]
    Snapshot(DecodeError),
    /// The manifest lists more leaves than a state has.
    #[error("{0} leaves are more than a state has")]
    TooManyLeaves(usize),
    /// The manifest is not in the order of the keys, or lists a leaf twice.
    #[error("leaf {0} is out of order or there twice")]
    Order(LeafKey),
    /// The manifest is of a state with another root.
    #[error("the manifest is of root {found}")]
    OtherRoot {
        /// The root of that state.
        found: Root,
    },
    /// A leaf is missing.
    #[error("leaf {0} is missing")]
    Missing(LeafKey),
    /// A leaf is not the one in the manifest.
    #[error("leaf {0} is not the one in the manifest")]
    OtherContent(LeafKey),
    /// The state is of another engine, so its other leaves were not read.
    #[error("the state is of engine {0}, this program runs engine {ENGINE}")]
    OtherEngine(u32),
    /// The state is of this engine, and yet says that a kind of leaf is in another format.
    #[error("leaves of the kind {0} are in a format that this program does not write")]
    OtherFormat(String),
    /// A leaf of a kind that this engine does not know.
    #[error("leaf {0} is of no known kind")]
    UnknownLeaf(LeafKey),
    /// A leaf that does not hold what its key says.
    #[error("leaf {key}: {error}")]
    Malformed {
        /// The key of the leaf.
        key: LeafKey,
        /// What is wrong.
        error: DecodeError,
    },
    /// A package in the state breaks a rule: the state was never one.
    #[error(transparent)]
    Packages(#[from] GenesisError),
    /// Bodies, contacts and joints are not those of a state.
    #[error(transparent)]
    Bodies(#[from] RestoreBodiesError),
    /// What moves its bodies is not there, or its state is none.
    #[error(transparent)]
    Tier(#[from] super::tools::MissingTier),
    /// The parameters break a rule: the state was never one.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// The leaves contradict each other, or are cut in another way than a state's.
    #[error("the leaves are not those of one state")]
    NotCanonical,
}

impl Manifest {
    /// Reads the manifest that a snapshot begins with. Returns none yet if the bytes end within it. It is
    /// not believed: the root that it must have is another matter.
    ///
    /// # Errors
    /// [`StateRestoreError::Snapshot`] of what is no manifest, or [`StateRestoreError::TooManyLeaves`] if
    /// it announces more leaves than a state has.
    pub fn decode_beginning(beginning: &[u8]) -> Result<Option<Self>, StateRestoreError> {
        // The number of leaves comes first, so that nobody waits for what is refused in the end.
        if let Ok((leaves, _)) = postcard::take_from_bytes::<u64>(beginning)
            && leaves > u64::from(LEAVES_MAX)
        {
            let leaves = usize::try_from(leaves).unwrap_or(usize::MAX);
            return Err(StateRestoreError::TooManyLeaves(leaves));
        }
        let (manifest, rest): (Self, _) = match postcard::take_from_bytes(beginning) {
            Ok(found) => found,
            Err(postcard::Error::DeserializeUnexpectedEnd) => return Ok(None),
            Err(_) => return Err(StateRestoreError::Snapshot(DecodeError::Malformed)),
        };
        // Postcard reads longer forms of a number as well.
        if beginning.strip_suffix(rest) != Some(&wire::encode(&manifest)) {
            return Err(StateRestoreError::Snapshot(DecodeError::NotCanonical));
        }
        Ok(Some(manifest))
    }

    /// Returns the root of the state that it lists.
    #[must_use]
    pub fn root(&self) -> Root {
        let hash = |leaf: &LeafEntry| leaf_hash(&leaf.key, &leaf.hash);
        Root(merkle::root(&self.leaves.iter().map(hash).collect::<Vec<_>>()))
    }

    /// Checks that it is in order, and of the state with this root.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, root: Root) -> Result<(), StateRestoreError> {
        if self.leaves.len() > LEAVES_MAX as usize {
            return Err(StateRestoreError::TooManyLeaves(self.leaves.len()));
        }
        if let Some(pair) = self.leaves.windows(2).find(|pair| pair[0].key >= pair[1].key) {
            return Err(StateRestoreError::Order(pair[1].key.clone()));
        }
        let found = self.root();
        if found == root { Ok(()) } else { Err(StateRestoreError::OtherRoot { found }) }
    }
}

/// A snapshot as it is encoded.
#[derive(Serialize, Deserialize)]
pub(super) struct EncodedSnapshot {
    pub(super) manifest: Manifest,
    /// The contents of the leaves, in the manifest's order.
    #[serde(with = "wire::pieces")]
    pub(super) contents: Vec<Vec<u8>>,
}

impl World {
    /// Returns the manifest of the state.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        let entry = |(key, leaf): (&LeafKey, crate::tree::LeafDigest)| LeafEntry {
            key: key.clone(),
            hash: leaf.hash,
            bytes: leaf.bytes,
        };
        Manifest { leaves: self.leaves.list().map(entry).collect() }
    }

    /// Returns the most bytes that a snapshot can have: few bytes for each leaf more than it has.
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        self.leaves.bytes()
    }

    /// Returns the content of a leaf of the manifest.
    #[must_use]
    pub fn leaf(&self, key: &LeafKey) -> Option<Vec<u8>> {
        self.leaves.content(key)
    }

    /// Encodes the state for somebody who has its root from elsewhere, see [`World::from_snapshot`].
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let missing = self.controls.leaf_missing.then_some(kinds::CLOCK);
        self.freeze(&Frozen::default()).encode(missing)
    }

    /// Returns the world with this root, from what [`World::snapshot`] made, of at most
    /// [`SNAPSHOT_BYTES_MAX`] bytes.
    ///
    /// # Errors
    /// See [`StateRestoreError`].
    pub fn from_snapshot(
        bytes: &[u8],
        root: Root,
        tools: &Tools,
    ) -> Result<Self, StateRestoreError> {
        let EncodedSnapshot { manifest, contents } =
            wire::decode(bytes, SNAPSHOT_BYTES_MAX).map_err(StateRestoreError::Snapshot)?;
        let by_hash = |leaf: Vec<u8>| (Digest(*blake3::hash(&leaf).as_bytes()), leaf);
        let contents = contents.into_iter().map(by_hash).collect();
        Self::restore(&manifest, &contents, root, tools)
    }

    /// Returns the world with this root, from its leaves by hash. It goes on exactly as the world that the
    /// snapshot was taken from; only the words of earlier chat are not in it.
    ///
    /// # Errors
    /// See [`StateRestoreError`].
    pub fn restore(
        manifest: &Manifest,
        contents: &BTreeMap<Digest, Vec<u8>>,
        root: Root,
        tools: &Tools,
    ) -> Result<Self, StateRestoreError> {
        manifest.check(root)?;
        let mut leaves = BTreeMap::new();
        for leaf in &manifest.leaves {
            let missing = || StateRestoreError::Missing(leaf.key.clone());
            let content = contents.get(&leaf.hash).ok_or_else(missing)?;
            if Digest(*blake3::hash(content).as_bytes()) != leaf.hash {
                return Err(StateRestoreError::OtherContent(leaf.key.clone()));
            }
            leaves.insert(leaf.key.clone(), content.as_slice());
        }
        let state = LeafReader { leaves }.state(tools)?;
        let world = Self::assemble(state, tools)?;
        if world.root() == root { Ok(world) } else { Err(StateRestoreError::NotCanonical) }
    }
}

/// Reads a state from its leaves, each of which is removed when it is read.
struct LeafReader<'a> {
    leaves: BTreeMap<LeafKey, &'a [u8]>,
}

impl LeafReader<'_> {
    /// Returns the state. Refuses leaves that are left over.
    fn state(mut self, tools: &Tools) -> Result<State, StateRestoreError> {
        let engine = self.engine()?;
        let charter: Charter = self.single(kinds::PARAMETERS)?;
        charter.parameters.check()?;
        let land = self.land(&charter)?;
        let mut borders = self.borders()?;
        let (bodies, objects) = self.bodies_and_objects(&charter, &mut borders)?;
        let players = tracked(self.table::<(PublicKey, Player)>(kinds::PLAYERS)?);
        let histories = tracked(self.table::<(PublicKey, BuildHistory)>(kinds::HISTORIES)?);
        let scripts = self.numbered(kinds::SCRIPT)?;
        let clock: super::sim_state::SimClock = self.single(kinds::CLOCK)?;
        let windows: BTreeMap<LaneKey, Window> = self.table(kinds::WINDOWS)?.into_iter().collect();
        let windows_touched = windows.keys().copied().collect();
        let mut state = State {
            engine,
            charter,
            clock,
            governance: self.single(kinds::GOVERNANCE)?,
            people: self.people()?,
            lots: self.lots()?,
            roster: self.single(kinds::VALIDATORS)?,
            first_logins: self.single(kinds::FIRST_LOGINS)?,
            readiness: self.single(kinds::READINESS)?,
            players,
            histories,
            windows: LaneWindows::new(clock.height, windows),
            windows_touched,
            objects,
            bodies,
            scripts: tracked(scripts.into_iter().map(|(n, s)| (metatopia_types::ScriptId(n), s))),
            owners: tracked(self.table::<(Owner, GasPool)>(kinds::OWNERS)?),
            outcomes: self
                .numbered::<Vec<(ActId, Outcome)>>(kinds::OUTCOMES)?
                .into_iter()
                .map(|(n, outcomes)| (metatopia_types::Height(n), Arc::new(outcomes)))
                .collect(),
            chat: self.single(kinds::CHAT)?,
            land,
            borders,
            luggage: self.luggage()?,
            packages: tracked(self.packages()?),
            publications: Publications::new(
                tracked(self.table::<(PackageId, Publication)>(kinds::PUBLICATIONS)?),
                core::iter::empty(),
                core::iter::empty(),
            ),
            pieces: PackagePieces::new(tracked(self.table(kinds::PIECES)?)),
            package_changes: BTreeSet::new(),
            present: BTreeMap::new(),
            census: crate::rules::Census::default(),
            names: crate::rules::NameHolders::default(),
            owned: BTreeMap::new(),
            spawned: BTreeSet::new(),
            orphans: BTreeSet::new(),
            hands: BTreeSet::new(),
            movable: BTreeSet::new(),
            alarms: BTreeSet::new(),
            zones: BTreeSet::new(),
            seats: BTreeSet::new(),
            waiting: BTreeSet::new(),
            script_changes: Vec::new(),
            forgotten: Vec::new(),
            arrived: Vec::new(),
            byte_budget: ByteBudget::default(),
        };
        let tier = self.tier(&state.charter)?;
        state.set_tier(tools, tier.as_deref())?;
        state.index();
        self.end(state)
    }

    /// Returns a state of which all leaves were read.
    fn end(self, state: State) -> Result<State, StateRestoreError> {
        // What is put away is nowhere else, and will need no other number.
        let is_double = |thing: &LuggageThing| {
            state.objects.contains(&thing.id) || thing.id >= state.clock.next_object
        };
        if state.luggage.all().any(is_double) {
            return Err(StateRestoreError::NotCanonical);
        }
        match self.leaves.into_keys().next() {
            Some(stray) => Err(StateRestoreError::UnknownLeaf(stray)),
            None => Ok(state),
        }
    }

    /// Reads the leaf that says whether this program can read the others.
    fn engine(&mut self) -> Result<EngineLeaf, StateRestoreError> {
        let key = LeafKey(kinds::ENGINE.to_owned());
        let content = *self.leaves.get(&key).ok_or(StateRestoreError::Missing(key.clone()))?;
        let malformed = |error| StateRestoreError::Malformed { key, error };
        match EngineLeaf::engine_of(content).map_err(malformed)? {
            ENGINE => {}
            found => return Err(StateRestoreError::OtherEngine(found)),
        }
        let leaf: EngineLeaf = self.single(kinds::ENGINE)?;
        leaf.other_format().map_or(Ok(leaf), |kind| Err(StateRestoreError::OtherFormat(kind)))
    }

    /// Reads a leaf that is one value.
    fn single<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<T, StateRestoreError> {
        let key = LeafKey(key.to_owned());
        let content = self.leaves.remove(&key).ok_or(StateRestoreError::Missing(key.clone()))?;
        decode(key, content)
    }

    /// Reads the leaves whose keys are `name/number`.
    fn numbered<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Vec<(u64, T)>, StateRestoreError> {
        let prefix = format!("{name}/");
        let mut found = Vec::new();
        for (key, content) in self.take(|key| key.starts_with(&prefix)) {
            let number = key.0[prefix.len()..].parse();
            let number = number.map_err(|_| StateRestoreError::UnknownLeaf(key.clone()))?;
            found.push((number, decode(key, content)?));
        }
        Ok(found)
    }

    /// Reads the entries of a table, from all its leaves.
    fn table<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Vec<T>, StateRestoreError> {
        let prefix = format!("{name}/");
        let mut entries = Vec::new();
        for (key, content) in self.take(|key| key == name || key.starts_with(&prefix)) {
            entries.extend(decode::<Vec<T>>(key, content)?);
        }
        Ok(entries)
    }

    /// Removes the leaves with these keys, and returns them.
    fn take(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<(LeafKey, Vec<u8>)> {
        let keys: Vec<LeafKey> = self.leaves.keys().filter(|key| wanted(&key.0)).cloned().collect();
        keys.into_iter()
            .filter_map(|key| self.leaves.remove(&key).map(|content| (key, content.to_vec())))
            .collect()
    }

    /// Reads the bodies and the objects, which share entries.
    fn bodies_and_objects(
        &mut self,
        charter: &Charter,
        borders: &mut Borders,
    ) -> Result<(Bodies, Tracked<ObjectId, Object>), StateRestoreError> {
        let mut tiles = self.table::<(ObjectId, Object, Body)>(kinds::TILE)?;
        tiles.sort_by_key(|(id, ..)| *id);
        let contacts = self.table::<Contact>(kinds::CONTACTS)?;
        let joints = self.table::<Joint>(kinds::JOINTS)?;
        let mut objects = Tracked::default();
        let mut bodies = Vec::with_capacity(tiles.len());
        for (id, object, body) in tiles {
            objects.insert(id, object);
            bodies.push(body);
        }
        // The numbers of ghosts are above all others.
        bodies.extend(self.ghosts(borders)?);
        let (bounds, gravity) = (bounds_with(charter, borders)?, charter.parameters.gravity);
        Ok((Bodies::restore(bounds, gravity, bodies, contacts, joints)?, objects))
    }

    /// Reads the state of the tier, from the leaves that it is cut into; nothing where there is none.
    fn tier(&mut self, charter: &Charter) -> Result<Option<Vec<u8>>, StateRestoreError> {
        if charter.parameters.tier == TierName::Basic {
            return Ok(None);
        }
        let mut state = Vec::new();
        for n in 0..kinds::tier_leaves(TIER_BYTES_MAX) {
            let Some(content) = self.leaves.remove(&kinds::tier_key(n)) else { break };
            state.extend_from_slice(content);
        }
        Ok(Some(state))
    }

    /// Reads the register of a land office; nothing of any other sim.
    fn land(&mut self, charter: &Charter) -> Result<Option<LandRegister>, StateRestoreError> {
        if !charter.is_office() {
            return Ok(None);
        }
        let week = self.single(kinds::LAND)?;
        let grants = self.table::<LandGrant>(kinds::GRANTS)?;
        let sims = self.table::<(SimId, GrantedSim)>(kinds::GRANTED)?;
        let bad = |(_, granted): &(SimId, GrantedSim)| {
            ValidatorSet::new(granted.validators.clone(), |_| true).is_err()
        };
        if sims.iter().any(bad) {
            return Err(StateRestoreError::NotCanonical);
        }
        let register = LandRegister::restore(week, grants, sims);
        if !register.is_whole() {
            return Err(StateRestoreError::NotCanonical);
        }
        Ok(Some(register))
    }

    /// Reads what is kept of neighbours, what is said to them, and what is under way to them.
    fn borders(&mut self) -> Result<Borders, StateRestoreError> {
        let mut borders = Borders::default();
        for (key, content) in self.take(|key| key.starts_with("parcel/")) {
            let named = kinds::parcel_named(&key);
            let named = named.ok_or_else(|| StateRestoreError::UnknownLeaf(key.clone()))?;
            borders.parcels.insert(named, content);
        }
        for (key, content) in self.take(|key| key.ends_with("/known")) {
            let unknown = || StateRestoreError::UnknownLeaf(key.clone());
            let neighbour = kinds::neighbour_named(&key).ok_or_else(unknown)?;
            if key != kinds::known_key(neighbour) {
                return Err(unknown());
            }
            let mut border: Border = decode(key, content)?;
            let said = said_key(neighbour);
            let content = self.leaves.remove(&said);
            let content = content.ok_or_else(|| StateRestoreError::Missing(said.clone()))?;
            border.crossing.said =
                Said::decode(content).map_err(|_| StateRestoreError::NotCanonical)?;
            if ValidatorSet::new(border.validators.clone(), |_| true).is_err() {
                return Err(StateRestoreError::NotCanonical);
            }
            borders.all.insert(neighbour, border);
        }
        Ok(borders)
    }

    /// Reads what is in luggage.
    fn luggage(&mut self) -> Result<Luggage, StateRestoreError> {
        let mut luggage = Luggage::default();
        for (key, content) in self.take(|key| key.starts_with("luggage/")) {
            let id = kinds::luggage_named(&key);
            let id = id.ok_or_else(|| StateRestoreError::UnknownLeaf(key.clone()))?;
            luggage.restore(id, content).ok_or(StateRestoreError::NotCanonical)?;
        }
        Ok(luggage)
    }

    /// Reads the bodies of neighbours that stand here as ghosts, and returns them in the order of their numbers.
    fn ghosts(&mut self, borders: &mut Borders) -> Result<Vec<Body>, StateRestoreError> {
        let mut all = Vec::new();
        for (key, content) in self.take(|key| key.starts_with("ghosts/")) {
            let neighbour = kinds::neighbour_named(&key);
            let neighbour = neighbour.filter(|sim| key == kinds::ghosts_key(*sim));
            let neighbour = neighbour.filter(|sim| borders.all.contains(sim));
            let neighbour = neighbour.ok_or_else(|| StateRestoreError::UnknownLeaf(key.clone()))?;
            let leaf: GhostLeaf = decode(key, content)?;
            let (ghosts, bodies) = leaf.restore().ok_or(StateRestoreError::NotCanonical)?;
            borders.ghosts.insert(neighbour, ghosts);
            all.extend(bodies);
        }
        all.sort_by_key(Body::id);
        Ok(all)
    }

    /// Reads what is kept about people.
    fn people(&mut self) -> Result<People, StateRestoreError> {
        let mut people = People::default();
        people.roles = tracked(self.table::<(PublicKey, Role)>(kinds::ROLES)?);
        people.bans = tracked(self.table::<(PublicKey, Sanction)>(kinds::BANS)?);
        people.mutes = tracked(self.table::<(PublicKey, Sanction)>(kinds::MUTES)?);
        people.frozen = tracked(self.table::<(ObjectId, FrozenThing)>(kinds::FROZEN)?);
        people.rotated = tracked(self.table::<(PublicKey, RotatedKey)>(kinds::ROTATED)?);
        people.traces.all = tracked(self.table::<(ObjectId, ThingTrace)>(kinds::TRACES)?);
        people.reports.all = tracked(self.table::<(u64, FiledReport)>(kinds::REPORTS)?);
        let mail = self.table::<((PublicKey, u64), KeptWords)>(kinds::MAILBOXES)?;
        people.mailboxes.all = tracked(mail);
        people.friends.all = tracked(self.table::<(PublicKey, KeyFriends)>(kinds::FRIENDS)?);
        people.forgotten.all = tracked(self.table::<(u64, ForgottenWords)>(kinds::FORGOTTEN)?);
        people.clubs.all = tracked(self.table::<(ClubId, Club)>(kinds::CLUBS)?);
        let profiles = self.table::<(PublicKey, KeptProfile)>(kinds::PROFILES)?;
        people.profiles.all = tracked(profiles);
        let pictures = self.table::<(PublicKey, Vec<u8>)>(kinds::PICTURES)?;
        people.profiles.pictures = tracked(pictures);
        people.orders = tracked(self.table::<(u64, RecordedOrder)>(kinds::ORDERS)?);
        Ok(people)
    }

    /// Reads the lots.
    fn lots(&mut self) -> Result<Lots, StateRestoreError> {
        let mut lots = Lots::default();
        lots.all = tracked(self.table::<(LotId, Lot)>(kinds::LOTS)?);
        Ok(lots)
    }

    /// Reads the packages, each of which is cut into pieces.
    fn packages(&mut self) -> Result<BTreeMap<PackageId, Package>, StateRestoreError> {
        let pieces = self.table::<((PackageId, u32), Vec<u8>)>(kinds::PACKAGES)?;
        let mut bytes: BTreeMap<PackageId, Vec<u8>> = BTreeMap::new();
        for ((id, _), piece) in pieces {
            bytes.entry(id).or_default().extend(piece);
        }
        let unpack = |(id, bytes): (PackageId, Vec<u8>)| {
            let package = Package::decode(&bytes)
                .map_err(|error| GenesisError::Package { id, error: Box::new(error) })?;
            Ok((id, package))
        };
        bytes.into_iter().map(unpack).collect()
    }
}

/// Decodes the content of a leaf.
fn decode<T: Serialize + DeserializeOwned>(
    key: LeafKey,
    content: impl AsRef<[u8]>,
) -> Result<T, StateRestoreError> {
    wire::decode(content.as_ref(), LEAF_BYTES_MAX)
        .map_err(|error| StateRestoreError::Malformed { key, error })
}

/// Returns a map of these entries, all of them marked as changed.
fn tracked<K: Ord + Copy, V: Clone>(entries: impl IntoIterator<Item = (K, V)>) -> Tracked<K, V> {
    let mut map = Tracked::default();
    entries.into_iter().for_each(|(key, value)| map.insert(key, value));
    map
}
