//! The world as scripts see it at the start of a tick.

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{Nearby, ObjectView, WorldView};
use metatopia_types::{Digest, ObjectId, Tick};

use crate::state::State;

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
        })
    }

    fn nearby(&self, center: Vec2, radius: Fx, max: u32) -> Nearby {
        let (near, looked) = self.bodies.nearby_with_cost(center, radius, max as usize);
        Nearby { objects: near.into_iter().map(|near| near.id).collect(), looked }
    }

    fn tick(&self) -> Tick {
        self.clock.tick.plus(1)
    }

    fn seed(&self) -> Digest {
        self.clock.seed
    }
}
