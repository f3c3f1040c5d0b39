//! The world as scripts see it at the start of a tick.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{AlongRay, NamedClub, Nearby, ObjectView, WorldView};
use metatopia_types::{ClubId, Digest, ObjectId, Permission, Tick};

use crate::{
    limits::NAMED_LOOKED_MAX,
    state::{Object, State},
};

impl WorldView for State {
    fn object(&self, id: ObjectId) -> Option<ObjectView<'_>> {
        let (object, body) = (self.objects.get(&id)?, self.bodies.body(id)?);
        Some(ObjectView {
            origin: object.origin(self.charter.sim, id),
            name: &object.name,
            kind: &object.kind,
            pos: body.position(),
            angle: body.angle(),
            velocity: body.velocity(),
            spin: body.spin(),
            color: object.look.color,
            text: &object.text,
            sensor: body.is_sensor(),
            licence: object.licence,
            player: object.player,
            owner: object.owner,
            spawner: object.spawner,
        })
    }

    fn is_away(&self, id: ObjectId) -> bool {
        self.is_thing_away(id)
    }

    fn is_flag_on(&self, name: &str) -> bool {
        self.charter.parameters.flags.is_on(name, self.clock.height)
    }

    fn nearby(&self, center: Vec2, radius: Fx, max: u32) -> Nearby {
        let (near, looked) = self.bodies.nearby_with_cost(center, radius, max as usize);
        Nearby { objects: near.into_iter().map(|near| near.id).collect(), looked }
    }

    fn named(&self, object: ObjectId, name: &str, max: u32) -> Nearby {
        let owner = self.payer(object);
        let mut found = Nearby::default();
        let mut look = |id: ObjectId, thing: &Object| {
            found.looked += 1;
            if id != object && thing.owner == owner && thing.player.is_none() && thing.name == name
            {
                found.objects.push(id);
            }
            found.objects.len() < max as usize && found.looked < NAMED_LOOKED_MAX
        };
        // A player's things are listed; the sim's own are looked for among all.
        let _ = match owner {
            Some(owner) => self.things(&owner).all(|(id, thing)| look(id, thing)),
            None => self.objects.iter().all(|(id, thing)| look(*id, thing)),
        };
        found
    }

    fn along_ray(&self, from: Vec2, to: Vec2, skip: ObjectId) -> AlongRay {
        let (hit, looked) = self.bodies.ray_cast(from, to, skip);
        AlongRay { first: hit.map(|hit| (hit.id, hit.fraction)), looked }
    }

    fn allows(&self, thing: ObjectId, who: ObjectId, permission: Permission) -> bool {
        self.is_allowed(thing, who, permission)
    }

    fn is_member(&self, who: ObjectId, club: NamedClub<'_>) -> bool {
        let person = self.objects.get(&who).and_then(|object| object.player);
        let clubs = &self.people.clubs;
        person.is_some_and(|person| match club {
            NamedClub::Name(name) => clubs.is_in_named(&person, name),
            NamedClub::Number(number) => {
                u64::try_from(number).is_ok_and(|id| clubs.of(&person).any(|own| own == ClubId(id)))
            }
        })
    }

    fn tick(&self) -> Tick {
        self.clock.tick.plus(1)
    }

    fn seed(&self) -> Digest {
        self.clock.seed
    }
}
