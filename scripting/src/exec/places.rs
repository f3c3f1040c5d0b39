//! Reads inner parts of values.

use alloc::{boxed::Box, format, string::String, sync::Arc};

use metatopia_math::Vec2;
use metatopia_types::ObjectId;

use super::{
    datum::Datum,
    machine::CallMachine,
    meanings::LoadedName,
    meter::{CallFault, CallOutcome},
    prices,
};
use crate::{
    ErrorKind, Value,
    host::{Access, HostProperty},
    limits::TEXT_BYTES,
    scene::VectorProperty,
};

#[cold]
pub(super) fn unknown_property(of: &Datum, name: &str) -> Box<CallFault> {
    let words = format!("{} has no property {name}", of.kind_name());
    CallFault::new(ErrorKind::Unknown, words)
}

#[cold]
pub(super) fn no_index(of: &Datum, index: &Datum) -> Box<CallFault> {
    let words = format!("{} has no place {}", of.kind_name(), index.kind_name());
    let mut fault = CallFault::new(ErrorKind::Type, words);
    fault.at_sign = !matches!(of, Datum::Array(_) | Datum::Map(_));
    fault
}

#[cold]
fn out_of_bounds(of: &str, place: i64, count: usize) -> Box<CallFault> {
    let words = format!("there is no place {place} in {of} of {count}");
    CallFault::new(ErrorKind::Bounds, words)
}

/// A place among `count`; below zero it counts from the end.
pub(super) fn place_in(of: &str, count: usize, place: i64) -> CallOutcome<usize> {
    let end = i64::try_from(count).unwrap_or(i64::MAX);
    let from_start = if place < 0 { place.checked_add(end) } else { Some(place) };
    let found = from_start.and_then(|place| usize::try_from(place).ok());
    found.filter(|place| *place < count).ok_or_else(|| out_of_bounds(of, place, count))
}

impl CallMachine<'_> {
    /// Reads a property.
    pub(super) fn get(&mut self, of: &Datum, name: &LoadedName) -> CallOutcome<Datum> {
        match (of, name.meaning.coordinate, name.meaning.property) {
            (Datum::Vec2(vector), Some(coordinate), _) => {
                Ok(Datum::Fixed(*coordinate(&mut { *vector })))
            }
            (Datum::Object(object), _, Some(property)) => match name.meaning.vector {
                Some(vector) => self.vector_of(*object, vector).map(Datum::Vec2),
                None => self.field(*object, property),
            },
            (Datum::Map(map), ..) => {
                self.meter.pay(prices::MAP_LOOKUP)?;
                Ok(map.get(&name.text).cloned().unwrap_or_default())
            }
            (Datum::State, ..) => self.state_get(&name.text),
            _ => Err(unknown_property(of, &name.text)),
        }
    }

    /// Reads a property of an object that is a vector.
    pub(super) fn vector_of(
        &mut self,
        object: ObjectId,
        property: VectorProperty,
    ) -> CallOutcome<Vec2> {
        Ok(self.scene()?.vector_of(object, property)?)
    }

    pub(super) fn field(
        &mut self,
        object: ObjectId,
        property: &HostProperty,
    ) -> CallOutcome<Datum> {
        let Access::Field(read, _) = property.access else {
            unreachable!("properties of objects are fields")
        };
        let view = self.scene()?.object(object)?;
        let value = read(&view);
        if let Value::Text(text) = value {
            self.meter.pay(prices::PROPERTY_TEXT + text.len() as u64)?;
            self.meter.take(TEXT_BYTES + text.len() as u64)?;
            return Ok(Datum::text(text));
        }
        Ok(super::convert::datum_of(&value))
    }

    /// Reads an element.
    pub(super) fn index(&mut self, of: &Datum, index: &Datum) -> CallOutcome<Datum> {
        match (of, index) {
            (Datum::Array(list), Datum::Int(place)) => {
                let place = place_in("an array", list.items().len(), *place)?;
                Ok(list.items()[place].clone())
            }
            (Datum::Map(map), Datum::Text(name)) => {
                self.meter.pay(prices::MAP_LOOKUP + name.len() as u64)?;
                Ok(map.get(name).cloned().unwrap_or_default())
            }
            (Datum::State, Datum::Text(name)) => {
                let name = self.state_name(name)?;
                self.state_get(&name)
            }
            (Datum::Text(text), Datum::Int(place)) => {
                self.meter.take(TEXT_BYTES + 4)?;
                self.meter.pay(2 * text.len() as u64)?;
                let count = text.chars().count();
                let place = place_in("a text", count, *place)?;
                Ok(Datum::text(text.chars().nth(place).map_or_else(String::new, String::from)))
            }
            (Datum::Text(text), Datum::Range(start, end)) => self.part(text, *start, Some(*end)),
            (Datum::Text(text), Datum::RangeTo(start, last)) => {
                self.part(text, *start, last.checked_add(1))
            }
            _ => Err(no_index(of, index)),
        }
    }

    /// The letters of a text from a place up to another.
    fn part(&mut self, text: &str, start: i64, end: Option<i64>) -> CallOutcome<Datum> {
        self.meter.take(TEXT_BYTES + text.len() as u64)?;
        self.meter.pay(2 * text.len() as u64)?;
        let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        let from_end = |place: i64| if place < 0 { place.saturating_add(count) } else { place };
        let start = from_end(start);
        if start < 0 {
            return Err(out_of_bounds("a text", start - count, text.chars().count()));
        }
        // The last number of all, with its end, is behind every text.
        let end = end.map_or(count, from_end).clamp(0, count);
        let (skip, take) = (start.min(count), (end - start).max(0));
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let take = usize::try_from(take).unwrap_or(usize::MAX);
        Ok(Datum::text(text.chars().skip(skip).take(take).collect::<String>()))
    }

    pub(super) fn state_name(&mut self, name: &str) -> CallOutcome<Arc<str>> {
        self.meter.pay(prices::ALLOCATION + name.len() as u64)?;
        Ok(name.into())
    }
}
