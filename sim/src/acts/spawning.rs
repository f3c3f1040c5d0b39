//! Spawning: things that scripts make and remove.
//!
//! A spawned thing belongs to the owner of the thing whose script spawned it, its spawner, and keeps the
//! rules of building as if that owner had built it. It goes when its spawner goes, a few a tick, so that
//! nothing is left over of what nobody wants any more.

use metatopia_physics::{BodySpec, CombineRule};
use metatopia_scripting::{SurfaceRule, ThingMaterial};
use metatopia_types::{Blueprint, ObjectId, PackageId, Refusal};

use super::{build::made, outline::check_shape, quota::QuotaUse};
use crate::{
    limits::{BUILD_BYTES_MAX, ORPHANS_PER_TICK, SPAWNED_PER_OBJECT_MAX},
    rules::{ActTarget, Right},
    space::Footprint,
    state::{Object, State},
};

impl State {
    /// Makes a thing for a script of `spawner`, with a script of this package if there is one.
    ///
    /// # Errors
    /// The rule by which it may not be made; nothing changed then.
    pub(crate) fn spawn_thing(
        &mut self,
        spawner: ObjectId,
        blueprint: &Blueprint,
        (material, sensor): (&ThingMaterial, bool),
        package: Option<PackageId>,
    ) -> Result<ObjectId, Refusal> {
        let maker = self.objects.get(&spawner).ok_or(Refusal::NoObject)?;
        let owner = maker.owner;
        // What is spawned spawns nothing: a script could fill the sim with copies of its own thing.
        if maker.spawner.is_some() || self.spawned_by(spawner).count() >= SPAWNED_PER_OBJECT_MAX {
            return Err(Refusal::TooManyObjects);
        }
        let (mut object, body) = made(blueprint, owner)?;
        check_shape(&self.charter.parameters.building, body.shape.clone())?;
        let body = BodySpec { sensor, ..made_of(material, body) };
        object.spawner = Some(spawner);
        let footprint = Footprint { shape: body.shape.clone(), pose: body.pose };
        self.check_ground(&footprint, body.motion)?;
        self.check_slots(body.motion)?;
        self.check_more_compounds(usize::from(body.shape.is_compound()))?;
        if let Some(owner) = owner {
            let ground = ActTarget { ground: Some(footprint.area()), ..ActTarget::SIM };
            self.may(&owner, Right::Build, &ground)?;
            let scripts = usize::from(package.is_some());
            let more = QuotaUse::of(&object, (body.motion, &body.shape), scripts);
            self.check_quota(&owner, more, 1)?;
        }
        if !self.byte_budget.has(BUILD_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        let id = self.spawn(object, &body).map_err(|_| Refusal::Full)?;
        self.byte_budget.take(BUILD_BYTES_MAX);
        if let Some(package) = package {
            self.attach(id, None, package);
        }
        Ok(id)
    }

    /// Removes a thing for a script of `spawner`. Says whether it was there, and was of that spawner.
    pub(crate) fn despawn_thing(&mut self, spawner: ObjectId, id: ObjectId) -> bool {
        let origin = self.objects.get(&id).and_then(|object| object.spawner);
        let is_own = origin.is_some_and(|origin| origin == spawner || id == spawner);
        is_own && self.delete_object(id).is_some()
    }

    /// Removes some of the things whose spawner is gone.
    pub(crate) fn remove_orphans(&mut self) {
        let orphans: Vec<ObjectId> = self.orphans.iter().take(ORPHANS_PER_TICK).copied().collect();
        for id in orphans {
            self.delete_object(id).expect("an orphan is an object");
        }
    }

    /// Returns the things that the scripts of an object have spawned, oldest first.
    pub(super) fn spawned_by(&self, spawner: ObjectId) -> impl Iterator<Item = ObjectId> {
        let all = (spawner, ObjectId(0))..=(spawner, ObjectId(u64::MAX));
        self.spawned.range(all).map(|(_, id)| *id)
    }

    /// Notes by whom an object was spawned, if it was.
    pub(crate) fn note_spawned(&mut self, spawner: Option<ObjectId>, id: ObjectId) {
        if let Some(spawner) = spawner {
            self.spawned.insert((spawner, id));
            if !self.objects.contains(&spawner) {
                self.orphans.insert(id);
            }
        }
    }

    /// Forgets that an object was spawned.
    pub(super) fn forget_spawned(&mut self, spawner: Option<ObjectId>, id: ObjectId) {
        if let Some(spawner) = spawner {
            self.spawned.remove(&(spawner, id));
            self.orphans.remove(&id);
        }
    }

    /// Notes that a spawner is gone: what it spawned goes too.
    pub(super) fn orphan_spawned(&mut self, spawner: ObjectId) {
        let orphans: Vec<ObjectId> = self.spawned_by(spawner).collect();
        self.orphans.extend(orphans);
    }

    /// Makes what a thing spawned ordinary things: they stay with their owner when the thing gets another one.
    pub(super) fn free_spawned(&mut self, spawner: ObjectId) {
        let all: Vec<ObjectId> = self.spawned_by(spawner).collect();
        for id in all {
            let object = self.objects.get_mut(&id).expect("an indexed thing is an object");
            object.spawner = None;
            self.forget_spawned(Some(spawner), id);
        }
    }

    /// Notes that a spawner is there again: what is left of its things stays.
    pub(crate) fn adopt_spawned(&mut self, spawner: ObjectId) {
        let left: Vec<ObjectId> = self.spawned_by(spawner).collect();
        self.orphans.retain(|id| !left.contains(id));
    }

    /// Builds the indexes of what was spawned.
    pub(crate) fn index_spawned(&mut self) {
        let pair = |(id, object): (&ObjectId, &Object)| Some((object.spawner?, *id));
        self.spawned = self.objects.iter().filter_map(pair).collect();
        let is_orphan = |pair: &&(ObjectId, ObjectId)| !self.objects.contains(&pair.0);
        self.orphans = self.spawned.iter().filter(is_orphan).map(|(_, id)| *id).collect();
    }
}

/// Returns a body that is made of a material. Physics clamps the numbers.
fn made_of(material: &ThingMaterial, body: BodySpec) -> BodySpec {
    let body = match material.density {
        Some(density) => body.with_density(density),
        None => body,
    };
    let rule = |said: Option<SurfaceRule>, usual| match said {
        None => usual,
        Some(SurfaceRule::Average) => CombineRule::Average,
        Some(SurfaceRule::Minimum) => CombineRule::Minimum,
        Some(SurfaceRule::Multiply) => CombineRule::Multiply,
        Some(SurfaceRule::Maximum) => CombineRule::Maximum,
    };
    BodySpec {
        friction: material.friction.unwrap_or(body.friction),
        restitution: material.restitution.unwrap_or(body.restitution),
        friction_rule: rule(material.friction_rule, body.friction_rule),
        restitution_rule: rule(material.restitution_rule, body.restitution_rule),
        ..body
    }
}
