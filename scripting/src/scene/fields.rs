//! Maps in which scripts describe what they want.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::{
    CornerCountError, ObjectId, Outline, OutlineCorners, OutlinePart, OutlineParts, PartCountError,
    limits::{MORE_PARTS_MAX, OUTLINE_CORNERS_MAX},
};

use super::{
    described::{DescribedField, DescribedFields},
    short,
};
use crate::{
    ErrorKind, HostFault, SurfaceRule, ThingMaterial, Value, host::ValueKind, suggest::closest,
};

/// The radius of a spawned thing that says nothing of its size.
const USUAL_RADIUS: Fx = Fx::from_ratio(1, 4);

/// What a part of a spawned thing may say of itself.
pub(super) const PART: DescribedFields = DescribedFields {
    what: "a part",
    fields: &[
        DescribedField::new("radius", ValueKind::Number),
        DescribedField::new("size", ValueKind::Vec2),
        DescribedField::new("length", ValueKind::Number),
        DescribedField::new("corners", ValueKind::Array),
        DescribedField::new("pos", ValueKind::Vec2),
        DescribedField::new("angle", ValueKind::Number),
    ],
};

/// Returns the fault of a value out of its range.
pub(super) fn refused(message: String) -> HostFault {
    HostFault::new(ErrorKind::Argument, message)
}

/// Returns a colour, 0xRRGGBB.
pub(super) fn color(color: i64) -> Result<u32, HostFault> {
    let color = u32::try_from(color).ok().filter(|color| *color <= 0x00FF_FFFF);
    color.ok_or_else(|| refused("a color is 0 to 0xFFFFFF, as 0xRRGGBB".into()))
}

pub(super) fn check_color(number: i64) -> Result<(), HostFault> {
    color(number).map(drop)
}

/// Returns the rule of a surface that a word names, in the field of this name.
fn surface_rule(name: &str, word: &str) -> Result<SurfaceRule, HostFault> {
    let found = SurfaceRule::ALL.iter().find(|(known, _)| *known == word);
    let told = || {
        let words = SurfaceRule::ALL.map(|(word, _)| word).join(", ");
        let hint = closest(word, SurfaceRule::ALL.iter().map(|(word, _)| *word));
        refused(format!("{name} is one of {words}{hint}"))
    };
    found.map(|(_, rule)| *rule).ok_or_else(told)
}

pub(super) fn check_friction_rule(word: &str) -> Result<(), HostFault> {
    surface_rule("friction_rule", word).map(drop)
}

pub(super) fn check_restitution_rule(word: &str) -> Result<(), HostFault> {
    surface_rule("restitution_rule", word).map(drop)
}

/// The fields of what a script describes.
pub(super) struct Fields<'a>(&'a BTreeMap<String, Value>);

impl<'a> Fields<'a> {
    /// Checks that all fields of what is `described` are known.
    pub(super) fn new(
        described: &DescribedFields,
        fields: &'a BTreeMap<String, Value>,
    ) -> Result<Self, HostFault> {
        match fields.keys().find(|name| described.field(name).is_none()) {
            None => Ok(Self(fields)),
            Some(name) => {
                let hint = closest(name, described.names());
                Err(refused(format!("{} has no field {name}{hint}", described.what)))
            }
        }
    }

    /// Returns a field that says something.
    fn said(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| **value != Value::Unit)
    }

    pub(super) fn text(&self, name: &str, most: usize) -> Result<Option<String>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Text(text)) => short(name, text, most).map(Some),
            Some(other) => Err(wrong_kind(name, "a string", other)),
        }
    }

    /// Returns a list of at most `count` texts, of at most `most` bytes each.
    pub(super) fn texts(
        &self,
        name: &str,
        count: usize,
        most: usize,
    ) -> Result<Vec<String>, HostFault> {
        let texts = match self.said(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(texts)) => texts,
            Some(other) => return Err(wrong_kind(name, "an array of strings", other)),
        };
        if texts.len() > count {
            return Err(refused(format!("{name} are at most {count}, not {}", texts.len())));
        }
        let text = |value: &Value| match value {
            Value::Text(text) if text.is_empty() => Err(refused(format!("one of {name} is empty"))),
            Value::Text(text) => short(&format!("one of {name}"), text, most),
            other => Err(wrong_kind(name, "an array of strings", other)),
        };
        texts.iter().map(text).collect()
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<Fx>, HostFault> {
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

    pub(super) fn vec2(&self, name: &str) -> Result<Option<Vec2>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Vec2(vector)) => Ok(Some(*vector)),
            Some(other) => Err(wrong_kind(name, "a vec2", other)),
        }
    }

    pub(super) fn object(&self, name: &str) -> Result<Option<ObjectId>, HostFault> {
        match self.said(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(*object)),
            Some(other) => Err(wrong_kind(name, "an object", other)),
        }
    }

    pub(super) fn bool(&self, name: &str) -> Result<bool, HostFault> {
        match self.said(name) {
            None => Ok(false),
            Some(Value::Bool(fact)) => Ok(*fact),
            Some(other) => Err(wrong_kind(name, "true or false", other)),
        }
    }

    pub(super) fn color(&self) -> Result<Option<u32>, HostFault> {
        match self.said("color") {
            None => Ok(None),
            Some(Value::Int(number)) => color(*number).map(Some),
            Some(other) => Err(wrong_kind("color", "an int", other)),
        }
    }

    /// Returns the shape: a disc of a radius, a box of a width and a height, a rod of a length with round
    /// ends of a radius, or a polygon of these corners.
    pub(super) fn outline(&self) -> Result<Outline, HostFault> {
        let radius = self.number("radius")?;
        match (radius, self.vec2("size")?, self.number("length")?, self.corners()?) {
            (radius, None, None, None) => {
                Ok(Outline::Disc { radius: radius.unwrap_or(USUAL_RADIUS) })
            }
            (None, Some(size), None, None) => Ok(Outline::Box { half: size.scale(Fx::HALF) }),
            (radius, None, Some(length), None) => {
                let half = length.saturating_mul(Fx::HALF);
                Ok(Outline::Capsule { half, radius: radius.unwrap_or(USUAL_RADIUS) })
            }
            (None, None, None, Some(corners)) => Ok(Outline::Polygon(corners)),
            _ => Err(refused(
                "a thing has a radius, a size, a length with a radius, or corners: not two of them"
                    .into(),
            )),
        }
    }

    /// Returns the parts of a thing besides the first. Each says where its centre is from that of the first.
    pub(super) fn parts(&self) -> Result<OutlineParts, HostFault> {
        let parts = match self.said("parts") {
            None => return Ok(OutlineParts::default()),
            Some(Value::Array(parts)) => parts,
            Some(other) => return Err(wrong_kind("parts", "an array of maps", other)),
        };
        let told = |error: PartCountError| refused(format!("a thing has {error}"));
        // A longer list is refused by its length, whatever is in it.
        if parts.len() > MORE_PARTS_MAX {
            return Err(told(PartCountError(parts.len().saturating_add(1))));
        }
        let part = |value: &Value| match value {
            Value::Map(fields) => Fields::new(&PART, fields)?.part(),
            other => Err(wrong_kind("one of parts", "a map", other)),
        };
        OutlineParts::new(parts.iter().map(part).collect::<Result<_, _>>()?).map_err(told)
    }

    /// Returns what the fields describe as a part of a thing.
    fn part(&self) -> Result<OutlinePart, HostFault> {
        Ok(OutlinePart {
            outline: self.outline()?,
            offset: self.vec2("pos")?.unwrap_or(Vec2::ZERO),
            angle: self.number("angle")?.map_or(Angle::ZERO, Angle::from_radians),
        })
    }

    /// Returns what a thing is made of.
    pub(super) fn material(&self) -> Result<ThingMaterial, HostFault> {
        Ok(ThingMaterial {
            density: self.number("density")?,
            friction: self.number("friction")?,
            restitution: self.number("restitution")?,
            friction_rule: self.rule("friction_rule")?,
            restitution_rule: self.rule("restitution_rule")?,
        })
    }

    /// Returns the rule of a material that a field names.
    fn rule(&self, name: &str) -> Result<Option<SurfaceRule>, HostFault> {
        let word = match self.said(name) {
            None => return Ok(None),
            Some(Value::Text(word)) => word,
            Some(other) => return Err(wrong_kind(name, "a string", other)),
        };
        surface_rule(name, word).map(Some)
    }

    /// Returns the corners of a polygon, counter-clockwise. Whether they are convex is judged when the thing
    /// is made, as its size is.
    fn corners(&self) -> Result<Option<OutlineCorners>, HostFault> {
        let corners = match self.said("corners") {
            None => return Ok(None),
            Some(Value::Array(corners)) => corners,
            Some(other) => return Err(wrong_kind("corners", "an array of vec2", other)),
        };
        let corner = |value: &Value| match value {
            Value::Vec2(corner) => Ok(*corner),
            other => Err(wrong_kind("one of corners", "a vec2", other)),
        };
        // A longer list is refused by its length, whatever is in it.
        let few = corners.iter().take(OUTLINE_CORNERS_MAX).map(corner);
        let few = few.collect::<Result<Vec<_>, HostFault>>()?;
        let all = match few.len() < corners.len() {
            true => Err(CornerCountError(corners.len())),
            false => OutlineCorners::new(&few),
        };
        all.map(Some).map_err(|error| refused(format!("a thing has {error}")))
    }
}

fn wrong_kind(name: &str, wanted: &str, found: &Value) -> HostFault {
    HostFault::new(ErrorKind::Type, format!("{name} is {wanted}, not a {}", found.kind()))
}
