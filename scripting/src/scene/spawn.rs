//! Things that scripts make, and remove.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String};

use metatopia_math::{Angle, Fx};
use metatopia_types::{Blueprint, ObjectId, limits::NAME_BYTES_MAX};

use super::{
    ScriptContext,
    described::{COLOR_RULE, DescribedField, DescribedFields, LiteralRule},
    fields::{Fields, PART, check_friction_rule, check_restitution_rule, refused},
    gone,
};
use crate::{
    HostFault, ScriptEffect, Value,
    host::ValueKind,
    limits::{SIGN_BYTES_MAX, SPAWN_REACH, TOPIC_BYTES_MAX},
};

/// What a spawned thing may say of itself.
pub(super) const THING: DescribedFields = DescribedFields {
    what: "a spawned thing",
    fields: &[
        DescribedField::new("name", ValueKind::Text),
        DescribedField::new("kind", ValueKind::Text),
        DescribedField::new("text", ValueKind::Text),
        DescribedField::new("color", ValueKind::Int).with(COLOR_RULE),
        DescribedField::new("radius", ValueKind::Number),
        DescribedField::new("size", ValueKind::Vec2),
        DescribedField::new("length", ValueKind::Number),
        DescribedField::new("corners", ValueKind::Array),
        DescribedField::new("parts", ValueKind::Array).with(LiteralRule::Each(&PART)),
        DescribedField::new("pos", ValueKind::Vec2),
        DescribedField::new("angle", ValueKind::Number),
        DescribedField::new("movable", ValueKind::Bool),
        DescribedField::new("sensor", ValueKind::Bool),
        DescribedField::new("scripted", ValueKind::Bool),
        DescribedField::new("tag", ValueKind::Text),
        DescribedField::new("density", ValueKind::Number),
        DescribedField::new("friction", ValueKind::Number),
        DescribedField::new("restitution", ValueKind::Number),
        DescribedField::new("friction_rule", ValueKind::Text)
            .with(LiteralRule::Word(check_friction_rule)),
        DescribedField::new("restitution_rule", ValueKind::Text)
            .with(LiteralRule::Word(check_restitution_rule)),
    ],
};

impl ScriptContext {
    /// Asks for a thing, as its fields describe it. What is left out is as of the own object, or usual.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] for a field that there is not, or a value out of its range;
    /// [`crate::ErrorKind::Type`] for a value of another kind; [`crate::ErrorKind::Gone`] if the own object is gone.
    pub fn spawn(&mut self, thing: &BTreeMap<String, Value>) -> Result<(), HostFault> {
        let own = self.object(self.object)?;
        if own.spawner.is_some() {
            return Err(refused("what was spawned spawns nothing".into()));
        }
        let fields = Fields::new(&THING, thing)?;
        let position = fields.vec2("pos")?.unwrap_or(own.pos);
        if position.distance(own.pos) > Fx::from_int(SPAWN_REACH) {
            let told = format!("a thing is spawned within {SPAWN_REACH} m, not at {position}");
            return Err(refused(told));
        }
        let angle = fields.number("angle")?.map_or(Angle::ZERO, Angle::from_radians);
        let blueprint = Blueprint {
            kind: fields.text("kind", NAME_BYTES_MAX)?.unwrap_or_else(|| "thing".into()),
            name: fields.text("name", NAME_BYTES_MAX)?.unwrap_or_else(|| own.name.into()),
            text: fields.text("text", SIGN_BYTES_MAX)?.unwrap_or_default(),
            color: fields.color()?.unwrap_or(own.color),
            outline: fields.outline()?,
            movable: fields.bool("movable")?,
            position,
            angle,
            licence: own.licence,
            parts: fields.parts()?,
        };
        let scripted = fields.bool("scripted")?;
        let tag = fields.text("tag", TOPIC_BYTES_MAX)?.unwrap_or_default();
        let (material, sensor) = (fields.material()?, fields.bool("sensor")?);
        let thing = Box::new(blueprint);
        self.queue(ScriptEffect::Spawn { thing, scripted, tag, material, sensor })
    }

    /// Asks for the end of a thing that the own object spawned, or of the own object if it was spawned.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Gone`] if there is no such object; [`crate::ErrorKind::Argument`] if it is another's.
    pub fn despawn(&mut self, object: ObjectId) -> Result<(), HostFault> {
        let spawner = self.view.object(object).ok_or_else(|| gone(object))?.spawner;
        let is_own = spawner == Some(self.object) || (object == self.object && spawner.is_some());
        if !is_own {
            return Err(refused("only what this thing has spawned can be removed".into()));
        }
        self.queue(ScriptEffect::Despawn { object })
    }
}
