//! Things that scripts make, and remove.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{Blueprint, ObjectId, Outline, limits::NAME_BYTES_MAX};

use super::{ScriptContext, gone, short};
use crate::{
    ErrorKind, HostFault, ScriptEffect, Value,
    limits::{SIGN_BYTES_MAX, SPAWN_REACH, TOPIC_BYTES_MAX},
    suggest::closest,
};

/// What a spawned thing may say of itself.
const FIELDS: [&str; 11] = [
    "name", "kind", "text", "color", "radius", "size", "pos", "angle", "movable", "scripted", "tag",
];

/// The radius of a spawned thing that says nothing of its size.
const USUAL_RADIUS: Fx = Fx::from_ratio(1, 4);

impl ScriptContext {
    /// Asks for a thing, as its fields describe it. What is left out is as of the own object, or usual.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] for a field that there is not, or a value out of its range;
    /// [`ErrorKind::Type`] for a value of another kind; [`ErrorKind::Gone`] if the own object is gone.
    pub fn spawn(&mut self, thing: &BTreeMap<String, Value>) -> Result<(), HostFault> {
        let own = self.object(self.object)?;
        if own.spawner.is_some() {
            return Err(refused("what was spawned spawns nothing".into()));
        }
        let fields = Fields::new(thing)?;
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
        };
        let scripted = fields.bool("scripted")?;
        let tag = fields.text("tag", TOPIC_BYTES_MAX)?.unwrap_or_default();
        self.queue(ScriptEffect::Spawn { thing: Box::new(blueprint), scripted, tag })
    }

    /// Asks for the end of a thing that the own object spawned, or of the own object if it was spawned.
    ///
    /// # Errors
    /// [`ErrorKind::Gone`] if there is no such object; [`ErrorKind::Argument`] if it is another's.
    pub fn despawn(&mut self, object: ObjectId) -> Result<(), HostFault> {
        let spawner = self.view.object(object).ok_or_else(|| gone(object))?.spawner;
        let is_own = spawner == Some(self.object) || (object == self.object && spawner.is_some());
        if !is_own {
            return Err(refused("only what this thing has spawned can be removed".into()));
        }
        self.queue(ScriptEffect::Despawn { object })
    }
}

fn refused(message: String) -> HostFault {
    HostFault::new(ErrorKind::Argument, message)
}

/// The fields of a thing that a script describes.
struct Fields<'a>(&'a BTreeMap<String, Value>);

impl<'a> Fields<'a> {
    /// Checks that all fields are known.
    fn new(fields: &'a BTreeMap<String, Value>) -> Result<Self, HostFault> {
        match fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            None => Ok(Self(fields)),
            Some(name) => {
                let hint = closest(name, FIELDS.into_iter());
                Err(refused(format!("a spawned thing has no field {name}{hint}")))
            }
        }
    }

    /// Returns a field that says something.
    fn said(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| **value != Value::Unit)
    }

    fn text(&self, name: &str, most: usize) -> Result<Option<String>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Text(text)) => short(name, text, most).map(Some),
            Some(other) => Err(wrong_kind(name, "a string", other)),
        }
    }

    fn number(&self, name: &str) -> Result<Option<Fx>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Fixed(number)) => Ok(Some(*number)),
            Some(Value::Int(whole)) => {
                let number = i32::try_from(*whole).map(Fx::from_int);
                number.map(Some).map_err(|_| refused(format!("{name} is out of range: {whole}")))
            }
            Some(other) => Err(wrong_kind(name, "a number", other)),
        }
    }

    fn vec2(&self, name: &str) -> Result<Option<Vec2>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Vec2(vector)) => Ok(Some(*vector)),
            Some(other) => Err(wrong_kind(name, "a vec2", other)),
        }
    }

    fn bool(&self, name: &str) -> Result<bool, HostFault> {
        match self.said(name) {
            None => Ok(false),
            Some(Value::Bool(fact)) => Ok(*fact),
            Some(other) => Err(wrong_kind(name, "true or false", other)),
        }
    }

    fn color(&self) -> Result<Option<u32>, HostFault> {
        match self.said("color") {
            None => Ok(None),
            Some(Value::Int(color)) => match u32::try_from(*color) {
                Ok(color @ 0..=0x00FF_FFFF) => Ok(Some(color)),
                _ => Err(refused("a color is 0 to 0xFFFFFF, as 0xRRGGBB".into())),
            },
            Some(other) => Err(wrong_kind("color", "an int", other)),
        }
    }

    /// Returns the shape: a disc of a radius, or a box of a width and a height.
    fn outline(&self) -> Result<Outline, HostFault> {
        match (self.number("radius")?, self.vec2("size")?) {
            (Some(_), Some(_)) => Err(refused("a thing has a radius or a size, not both".into())),
            (None, Some(size)) => Ok(Outline::Box { half: size.scale(Fx::HALF) }),
            (radius, None) => Ok(Outline::Disc { radius: radius.unwrap_or(USUAL_RADIUS) }),
        }
    }
}

fn wrong_kind(name: &str, wanted: &str, found: &Value) -> HostFault {
    HostFault::new(ErrorKind::Type, format!("{name} is {wanted}, not a {}", found.kind()))
}
