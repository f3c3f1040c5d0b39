//! Luggage: things that people put away, each packed as if it went over a border. What is in luggage has no body and
//! no place, its scripts stand still, and it counts in quotas as if it lay there, so that there is room for it when it
//! is fetched.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_types::{
    Companions, ObjectId, Origin, PackageId, Parcel, PublicKey, SimId, TravellingThing,
};

use crate::{
    state::{State, World},
    tree::Tracked,
};

/// What is in the luggage of all people.
#[derive(Debug, Clone, Default)]
pub(crate) struct Luggage {
    /// The parcels of the things, by the numbers that they had and will have again.
    pub(crate) parcels: Tracked<ObjectId, Vec<u8>>,
    /// Index: the things of each owner.
    owners: BTreeMap<PublicKey, BTreeSet<ObjectId>>,
}

/// A thing in somebody's luggage, as its owner is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LuggageThing {
    /// The number that it had, and will have again.
    pub id: ObjectId,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Where it was, in metres.
    pub position: Vec2,
    /// Half of its width and height as it is turned, in metres.
    pub half: Vec2,
    /// Whether it can be pushed.
    pub movable: bool,
    /// The neighbour against whose border's share it counts.
    pub guest: Option<SimId>,
    /// The text that it shows.
    pub text: String,
    /// What its scripts run.
    pub packages: Vec<PackageId>,
}

impl Luggage {
    /// Puts a packed thing into the luggage of its owner.
    pub(crate) fn put(&mut self, owner: PublicKey, id: ObjectId, parcel: Vec<u8>) {
        self.parcels.insert(id, parcel);
        let is_new = self.owners.entry(owner).or_default().insert(id);
        assert!(is_new, "object {id} is in luggage once");
    }

    /// Takes a thing out of the luggage of its owner.
    pub(crate) fn take(&mut self, owner: PublicKey, id: ObjectId) {
        self.parcels.remove(&id).expect("a thing that was in luggage just now");
        let own = self.owners.get_mut(&owner).expect("an owner of luggage is listed as one");
        assert!(own.remove(&id), "object {id} is listed with its owner");
        if own.is_empty() {
            self.owners.remove(&owner);
        }
    }

    /// Says whether a thing is in luggage.
    pub(crate) fn has(&self, id: ObjectId) -> bool {
        self.parcels.contains(&id)
    }

    /// Returns a thing that is in luggage.
    pub(crate) fn thing(&self, id: ObjectId) -> Option<TravellingThing> {
        self.parcels.get(&id).map(|parcel| unpacked(parcel))
    }

    /// Returns the things of an owner, ascending.
    pub(crate) fn of(&self, owner: &PublicKey) -> impl Iterator<Item = ObjectId> {
        self.owners.get(owner).into_iter().flatten().copied()
    }

    /// Says whether somebody has anything in luggage.
    pub(crate) fn has_any(&self, owner: &PublicKey) -> bool {
        self.owners.contains_key(owner)
    }

    /// Returns all things in luggage, ascending.
    pub(crate) fn things(&self) -> impl Iterator<Item = (ObjectId, TravellingThing)> {
        self.parcels.iter().map(|(id, parcel)| (*id, unpacked(parcel)))
    }

    /// Makes what was one key's another's.
    pub(crate) fn change_owner(&mut self, old: &PublicKey, new: PublicKey) {
        let Some(things) = self.owners.remove(old) else { return };
        for id in &things {
            let parcel = self.parcels.get_mut(id).expect("a thing that its owner lists");
            let thing = TravellingThing { owner: Some(new), ..unpacked(parcel) };
            *parcel = luggage_parcel(thing);
        }
        self.owners.entry(new).or_default().extend(things);
    }

    /// Builds the index of owners.
    pub(crate) fn index(&mut self) {
        let mut owners: BTreeMap<PublicKey, BTreeSet<ObjectId>> = BTreeMap::new();
        for (id, thing) in self.things() {
            owners.entry(luggage_owner(&thing)).or_default().insert(id);
        }
        self.owners = owners;
    }
}

/// Returns the parcel of a thing that is put away.
pub(crate) fn luggage_parcel(thing: TravellingThing) -> Vec<u8> {
    Parcel::Thing(Box::new(thing), Companions::default()).encode()
}

/// Returns whose luggage a thing is in.
pub(crate) fn luggage_owner(thing: &TravellingThing) -> PublicKey {
    thing.owner.expect("what nobody owns is in no luggage")
}

/// Returns the thing of a parcel in luggage.
fn unpacked(parcel: &[u8]) -> TravellingThing {
    match Parcel::decode(parcel) {
        Ok(Parcel::Thing(thing, _)) => *thing,
        other => unreachable!("this sim packed a thing alone: {other:?}"),
    }
}

/// Says whether a leaf holds what luggage may: one thing, which had this number and has an owner.
pub(crate) fn is_luggage(id: ObjectId, parcel: &[u8]) -> bool {
    match Parcel::decode(parcel) {
        Ok(Parcel::Thing(thing, companions)) => {
            let is_alone = companions == Companions::default();
            is_alone && thing.handle == id && thing.owner.is_some()
        }
        Ok(Parcel::Person(_)) | Err(_) => false,
    }
}

impl State {
    /// Returns what somebody has in luggage, by id.
    fn luggage_of(&self, owner: &PublicKey) -> impl Iterator<Item = LuggageThing> {
        self.luggage.of(owner).map(|id| {
            let thing = self.luggage.thing(id).expect("a thing that its owner lists");
            let body = Self::sound_body(&thing).expect("this sim packed that body");
            LuggageThing {
                id,
                kind: thing.kind,
                name: thing.name,
                position: thing.position,
                half: body.shape.half_extents(body.pose.angle),
                movable: body.motion == Motion::Dynamic,
                guest: thing.guest.map(|guest| guest.from),
                text: thing.text,
                packages: thing.scripts.iter().map(|script| script.package).collect(),
            }
        })
    }
}

impl World {
    /// Returns what somebody has in luggage, by id.
    pub fn luggage(&self, owner: &PublicKey) -> impl Iterator<Item = LuggageThing> {
        self.state.luggage_of(owner)
    }

    /// Returns where each thing was born that is in luggage, with the number that it will have again.
    pub fn luggage_origins(&self) -> impl Iterator<Item = (ObjectId, Origin)> {
        self.state.luggage.things().map(|(id, thing)| (id, thing.origin))
    }
}
