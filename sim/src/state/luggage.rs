//! Puts things into luggage, and takes them out again with their numbers.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::BodySpec;
use metatopia_types::{
    ObjectId, PackageId, PublicKey, Refusal, TravellingThing, limits::PARCEL_BYTES_MAX,
};

use super::{object::Object, sim_state::State, thing_arrivals::room_for};
use crate::{
    limits::BUILD_BYTES_MAX,
    rules::luggage_parcel,
    scripts::{Script, ScriptChange},
};

/// A thing that is packed for luggage.
#[derive(Debug, Clone)]
pub(crate) struct PackedThing {
    owner: PublicKey,
    thing: TravellingThing,
    parcel: Vec<u8>,
}

/// A thing of some luggage, as it would be put down.
#[derive(Debug, Clone)]
pub(crate) struct FetchedThing {
    /// The thing as it was packed.
    pub(crate) thing: TravellingThing,
    /// Its body, which rests.
    pub(crate) body: BodySpec,
    /// The bytes by which it may make the state larger.
    pub(crate) bytes: usize,
}

impl State {
    /// Returns a thing as it is put away, whoever holds it, sits on it or joined it.
    ///
    /// # Errors
    /// [`Refusal::HeldFast`] if luggage takes no such thing, [`Refusal::Full`] if the state has no room for it.
    pub(crate) fn packed_away(&self, id: ObjectId) -> Result<PackedThing, Refusal> {
        let object = self.objects.get(&id).ok_or(Refusal::NoObject)?;
        let owner = object.owner.ok_or(Refusal::HeldFast)?;
        // What was spawned stays with its spawner, and a script on trial with what it falls back to. What came over a
        // border just now may be looked for here by its sender.
        let is_on_trial = |script| {
            self.scripts.get(script).is_some_and(|script: &Script| script.fallback.is_some())
        };
        let is_free = object.spawner.is_none()
            && !object.scripts.iter().any(is_on_trial)
            && !self.is_pinned_thing(object.origin(self.charter.sim, id))
            // The states alone are the cheaper question.
            && self.state_bytes_of(id) <= PARCEL_BYTES_MAX;
        let thing = is_free.then(|| self.packed(id, 0)).flatten().ok_or(Refusal::HeldFast)?;
        let parcel = luggage_parcel(thing.clone());
        if parcel.len() > PARCEL_BYTES_MAX {
            return Err(Refusal::HeldFast);
        }
        if !self.byte_budget.has(parcel.len().saturating_add(BUILD_BYTES_MAX)) {
            return Err(Refusal::Full);
        }
        Ok(PackedThing { owner, thing, parcel })
    }

    /// Puts a thing into the luggage of its owner. It was packed in this very state.
    pub(crate) fn stow(&mut self, id: ObjectId, packed: PackedThing) {
        let PackedThing { owner, thing, parcel } = packed;
        self.byte_budget.take(parcel.len().saturating_add(BUILD_BYTES_MAX));
        // Its source stays.
        for script in &thing.scripts {
            self.publications.take(script.package);
        }
        self.end_consents(id);
        self.delete_object(id).expect("a thing that was just packed");
        // Whoever has luggage is not forgotten.
        self.recounted(owner, |state| state.luggage.put(&thing, parcel));
    }

    /// Returns a thing of some luggage as it would be put down at a place; none if there is no such thing in luggage.
    pub(crate) fn fetched(&self, id: ObjectId, place: Vec2) -> Option<FetchedThing> {
        let (thing, bytes) = self.luggage.unpacked(id)?;
        let mut body = Self::sound_body(&thing).expect("only such bodies are in luggage");
        body.pose.position = place;
        (body.velocity, body.spin) = (Vec2::ZERO, Fx::ZERO);
        let bytes = room_for(&thing, bytes).saturating_add(BUILD_BYTES_MAX);
        Some(FetchedThing { thing, body, bytes })
    }

    /// Puts a thing down that was in luggage, as it was decided in this very state.
    pub(crate) fn fetch(&mut self, fetched: &FetchedThing) {
        let FetchedThing { thing, body, bytes } = fetched;
        self.byte_budget.take(*bytes);
        // Its source is used throughout.
        self.return_packed(thing, body, ScriptChange::Arrives);
        self.discard(thing.handle);
    }

    /// Takes a thing out of luggage, which keeps its source no longer. It leaves the sim, unless it was put down.
    pub(crate) fn discard(&mut self, id: ObjectId) {
        let known = self.luggage.get(id).expect("a thing that was just seen in luggage");
        let (owner, time) = (known.owner, self.governance.time);
        let packages = known.packages.clone();
        self.recounted(owner, |state| drop(state.luggage.take(id)));
        packages.into_iter().for_each(|package| self.publications.release(package, time));
    }

    /// Puts a packed thing into the sim with the number that it had, for which a place was kept.
    pub(super) fn return_packed(
        &mut self,
        thing: &TravellingThing,
        body: &BodySpec,
        change: impl Fn(PackageId) -> ScriptChange,
    ) {
        let id = thing.handle;
        let states = Self::states_of(thing, Some).expect("this sim packed these states");
        let object = self.object_of(thing, id);
        let object = Object { guest: thing.guest, travels: thing.travels, ..object };
        self.insert_thing(id, object, body).expect("its place was kept");
        self.insert_scripts(id, &thing.scripts, states, change);
        // What it had spawned and is still here stays.
        self.adopt_spawned(id);
    }
}
