//! Luggage: things that people put away, each packed as if it went over a border. What is in luggage has no body and
//! no place, its scripts stand still, and it counts in quotas as if it lay there, so that there is room for it when it
//! is fetched.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_types::{
    BorderGuest, Companions, ObjectId, Origin, PackageId, Parcel, PublicKey, SimId, TravellingThing,
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
    /// Index: what is known of each thing without its parcel.
    things: BTreeMap<ObjectId, LuggageThing>,
    /// Index: the things of each owner.
    owners: BTreeMap<PublicKey, BTreeSet<ObjectId>>,
    /// Index: where the things were born.
    origins: BTreeSet<Origin>,
    /// Index: the things that can be pushed.
    movable: usize,
    /// Index: the things of several parts.
    compounds: usize,
    /// Index: what counts against the share of each border.
    guests: BTreeMap<SimId, GuestLuggage>,
}

/// A thing in somebody's luggage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LuggageThing {
    /// The number that it had, and will have again.
    pub id: ObjectId,
    /// Where it was born, and as what.
    pub origin: Origin,
    /// The person whose luggage it is in.
    pub owner: PublicKey,
    /// What it is, as scripts are told.
    pub kind: String,
    /// The name that people see.
    pub name: String,
    /// Where it was, in metres.
    pub position: Vec2,
    /// Half of its width and height as it is turned, in metres.
    pub half: Vec2,
    /// Whether it can be pushed.
    pub movable: bool,
    /// Whether it is of several parts.
    pub compound: bool,
    /// The border against whose share it counts.
    pub guest: Option<BorderGuest>,
    /// Bytes of the text that it shows.
    pub text: usize,
    /// What its scripts run.
    pub packages: Vec<PackageId>,
}

/// What counts against the share of a border while it is in luggage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GuestLuggage {
    pub(crate) things: usize,
    pub(crate) compounds: usize,
    /// Bytes of the parcels in which they came.
    pub(crate) bytes: u64,
}

impl LuggageThing {
    /// Returns what is known of a packed thing; nothing of one that luggage does not take.
    fn of(thing: &TravellingThing) -> Option<Self> {
        let body = State::sound_body(thing)?;
        State::states_of(thing, Some)?;
        Some(Self {
            id: thing.handle,
            origin: thing.origin,
            owner: thing.owner?,
            kind: thing.kind.clone(),
            name: thing.name.clone(),
            position: thing.position,
            half: body.shape.half_extents(body.pose.angle),
            movable: body.motion == Motion::Dynamic,
            compound: body.shape.is_compound(),
            guest: thing.guest,
            text: thing.text.len(),
            packages: thing.scripts.iter().map(|script| script.package).collect(),
        })
    }
}

impl Luggage {
    /// Puts a packed thing into the luggage of its owner.
    pub(crate) fn put(&mut self, thing: &TravellingThing, parcel: Vec<u8>) {
        let known = LuggageThing::of(thing).expect("it was packed for luggage");
        self.parcels.insert(known.id, parcel);
        self.note(known);
    }

    /// Takes a thing out of the luggage of its owner.
    pub(crate) fn take(&mut self, id: ObjectId) -> LuggageThing {
        self.parcels.remove(&id).expect("a thing that was in luggage just now");
        let known = self.things.remove(&id).expect("what is in luggage is listed");
        let own = self.owners.get_mut(&known.owner).expect("an owner of luggage is listed");
        assert!(own.remove(&id), "object {id} is listed with its owner");
        if own.is_empty() {
            self.owners.remove(&known.owner);
        }
        self.origins.remove(&known.origin);
        self.movable -= usize::from(known.movable);
        self.compounds -= usize::from(known.compound);
        if let Some(guest) = known.guest {
            let all = self.guests.get_mut(&guest.from).expect("a guest that was counted");
            all.things -= 1;
            all.compounds -= usize::from(known.compound);
            all.bytes -= u64::from(guest.bytes);
            if all.things == 0 {
                self.guests.remove(&guest.from);
            }
        }
        known
    }

    /// Lists a thing that is in luggage.
    fn note(&mut self, known: LuggageThing) {
        self.owners.entry(known.owner).or_default().insert(known.id);
        self.origins.insert(known.origin);
        self.movable += usize::from(known.movable);
        self.compounds += usize::from(known.compound);
        if let Some(guest) = known.guest {
            let all = self.guests.entry(guest.from).or_default();
            all.things += 1;
            all.compounds += usize::from(known.compound);
            all.bytes += u64::from(guest.bytes);
        }
        let before = self.things.insert(known.id, known);
        assert!(before.is_none(), "a thing is in luggage once: {before:?}");
    }

    /// Returns what is known of a thing in luggage.
    pub(crate) fn get(&self, id: ObjectId) -> Option<&LuggageThing> {
        self.things.get(&id)
    }

    /// Returns a thing that is in luggage, with the length of its parcel.
    pub(crate) fn unpacked(&self, id: ObjectId) -> Option<(TravellingThing, usize)> {
        let parcel = self.parcels.get(&id)?;
        Some((unpacked(parcel).expect("this sim packed a thing alone"), parcel.len()))
    }

    /// Returns the things of an owner, ascending.
    pub(crate) fn of(&self, owner: &PublicKey) -> impl Iterator<Item = &LuggageThing> {
        let own = self.owners.get(owner).into_iter().flatten();
        own.map(|id| self.things.get(id).expect("a thing that its owner lists"))
    }

    /// Returns all things, ascending.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &LuggageThing> {
        self.things.values()
    }

    /// Says whether somebody has anything in luggage.
    pub(crate) fn has_any(&self, owner: &PublicKey) -> bool {
        self.owners.contains_key(owner)
    }

    /// Says whether the thing of this origin is in luggage.
    pub(crate) fn has_origin(&self, origin: Origin) -> bool {
        self.origins.contains(&origin)
    }

    /// Returns how many things are in luggage, how many of them can be pushed, and how many are of several parts.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        (self.things.len(), self.movable, self.compounds)
    }

    /// Returns what counts against the share of a border.
    pub(crate) fn guests_of(&self, neighbour: SimId) -> GuestLuggage {
        self.guests.get(&neighbour).copied().unwrap_or_default()
    }

    /// Makes what was one key's another's.
    pub(crate) fn change_owner(&mut self, old: &PublicKey, new: PublicKey) {
        let Some(things) = self.owners.remove(old) else { return };
        for id in &things {
            let (thing, _) = self.unpacked(*id).expect("a thing that its owner lists");
            let thing = TravellingThing { owner: Some(new), ..thing };
            self.parcels.insert(*id, luggage_parcel(thing));
            self.things.get_mut(id).expect("what is in luggage is listed").owner = new;
        }
        self.owners.entry(new).or_default().extend(things);
    }

    /// Adds the parcel of a leaf. Returns nothing if it holds no such thing as luggage takes under that number.
    pub(crate) fn restore(&mut self, id: ObjectId, parcel: Vec<u8>) -> Option<()> {
        let known = LuggageThing::of(&unpacked(&parcel)?)?;
        let is_new = known.id == id && !self.origins.contains(&known.origin);
        is_new.then(|| {
            self.parcels.insert(id, parcel);
            self.note(known);
        })
    }
}

/// Returns the parcel of a thing that is put away.
pub(crate) fn luggage_parcel(thing: TravellingThing) -> Vec<u8> {
    Parcel::Thing(Box::new(thing), Companions::default()).encode()
}

/// Returns the thing of a parcel in luggage; nothing if it is another parcel.
fn unpacked(parcel: &[u8]) -> Option<TravellingThing> {
    match Parcel::decode(parcel) {
        Ok(Parcel::Thing(thing, companions)) => {
            (companions == Companions::default()).then_some(*thing)
        }
        Ok(Parcel::Person(_)) | Err(_) => None,
    }
}

impl State {
    /// Says whether a thing is in luggage, or under way to a neighbour.
    pub(crate) fn is_thing_away(&self, id: ObjectId) -> bool {
        self.borders.away.contains_key(&id) || self.luggage.get(id).is_some()
    }

    /// Says whether the thing of this origin is in luggage, or under way to a neighbour.
    pub(crate) fn is_origin_away(&self, origin: Origin) -> bool {
        self.borders.is_under_way(origin) || self.luggage.has_origin(origin)
    }

    /// Returns how many things are in luggage or under way, all of which have their places in the sim.
    pub(crate) fn places_kept(&self) -> usize {
        let (stowed, ..) = self.luggage.counts();
        self.borders.away.len().saturating_add(stowed)
    }
}

impl World {
    /// Returns what somebody has in luggage, by id.
    pub fn luggage(&self, owner: &PublicKey) -> impl Iterator<Item = &LuggageThing> {
        self.state.luggage.of(owner)
    }

    /// Returns all that is in luggage, by id.
    pub fn all_luggage(&self) -> impl Iterator<Item = &LuggageThing> {
        self.state.luggage.all()
    }
}
