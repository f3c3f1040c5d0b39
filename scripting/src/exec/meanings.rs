//! What names and calls of programs mean to this engine, found out once for all programs: one that kept it for
//! itself would take a third more memory.

use alloc::{string::String, sync::Arc, vec::Vec};
use std::sync::LazyLock;

use metatopia_math::{Angle, Fx, Vec2};

use super::loaded::ProgramError;
use crate::{
    HostFault, ScriptContext,
    host::{Access, FUNCTIONS, HostFunction, HostProperty, PROPERTIES, ValueKind},
    scene::VectorProperty,
};

/// Writes a property of the own object.
pub(super) type WriteOwn<T> = fn(&mut ScriptContext, T) -> Result<(), HostFault>;

/// A name that a program uses.
#[derive(Debug)]
pub(super) struct LoadedName {
    pub(super) text: Arc<str>,
    /// What it means as a property.
    pub(super) meaning: &'static NameMeaning,
}

/// What a name means as a property.
#[derive(Debug)]
pub(super) struct NameMeaning {
    pub(super) coordinate: Option<fn(&mut Vec2) -> &mut Fx>,
    pub(super) property: Option<&'static HostProperty>,
    /// The property if it is one of those that are vectors.
    pub(super) vector: Option<VectorProperty>,
    /// Writes the property if it is one of those.
    pub(super) set_vector: Option<WriteOwn<Vec2>>,
    /// Writes the property if it is a number that bodies have.
    pub(super) set_number: Option<WriteOwn<Fx>>,
}

/// A host function that the executor does by itself if its arguments are the usual ones, or that pays for
/// its work in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrequentCall {
    Vec2,
    Sqrt,
    Nearby,
    Send,
    Split,
}

/// A host function that programs call with so many arguments.
#[derive(Debug)]
pub(super) struct LoadedCall {
    pub(super) name: &'static str,
    pub(super) count: usize,
    pub(super) frequent: Option<FrequentCall>,
    /// Rows of the table with that name and so many arguments.
    pub(super) rows: Vec<&'static HostFunction>,
}

/// What a name means that is no property.
static NO_PROPERTY: NameMeaning = NameMeaning::NONE;

/// The names of all properties with what they mean.
static MEANINGS: LazyLock<Vec<(Arc<str>, NameMeaning)>> = LazyLock::new(|| {
    let mut meanings: Vec<(Arc<str>, NameMeaning)> = Vec::new();
    for HostProperty { name, .. } in PROPERTIES {
        if meanings.iter().all(|(known, _)| **known != **name) {
            meanings.push((Arc::from(*name), meaning(name)));
        }
    }
    meanings
});

/// All calls that there are, by name and number of arguments.
static CALLS: LazyLock<Vec<LoadedCall>> = LazyLock::new(|| {
    let mut calls: Vec<LoadedCall> = Vec::new();
    for row in FUNCTIONS {
        let (name, count) = (row.name, row.arguments.len());
        match calls.iter_mut().find(|call| (call.name, call.count) == (name, count)) {
            Some(call) => call.rows.push(row),
            None => {
                let frequent = frequent(name, count);
                calls.push(LoadedCall { name, count, frequent, rows: Vec::from([row]) });
            }
        }
    }
    calls.sort_unstable_by_key(|call| (call.name, call.count));
    calls
});

impl NameMeaning {
    const NONE: Self =
        Self { coordinate: None, property: None, vector: None, set_vector: None, set_number: None };
}

impl LoadedName {
    /// Finds out what a name means.
    pub(super) fn new(name: &str) -> Self {
        match MEANINGS.iter().find(|(known, _)| **known == *name) {
            Some((text, meaning)) => Self { text: Arc::clone(text), meaning },
            None => Self { text: name.into(), meaning: &NO_PROPERTY },
        }
    }
}

impl LoadedCall {
    /// Finds the number of a host function that takes so many arguments.
    pub(super) fn find((name, count): &(String, u8)) -> Result<u8, ProgramError> {
        let wanted = (name.as_str(), usize::from(*count));
        let found = CALLS.binary_search_by(|call| (call.name, call.count).cmp(&wanted));
        match found {
            Ok(place) => Ok(u8::try_from(place).expect("there are fewer host functions")),
            Err(_) => Err(ProgramError::Function { name: name.clone(), count: *count }),
        }
    }

    /// Returns the host function of a number.
    #[inline]
    pub(super) fn numbered(number: u8) -> &'static Self {
        &CALLS[usize::from(number)]
    }
}

fn meaning(name: &'static str) -> NameMeaning {
    let of = |kind| PROPERTIES.iter().find(move |p| p.of == kind && p.name == name);
    let coordinate = of(ValueKind::Vec2).and_then(|property| match property.access {
        Access::Coordinate(at) => Some(at),
        Access::Field(..) => None,
    });
    let mut meaning =
        NameMeaning { coordinate, property: of(ValueKind::Object), ..NameMeaning::NONE };
    match name {
        "pos" => {
            meaning.vector = Some(VectorProperty::Position);
            meaning.set_vector = Some(ScriptContext::set_pos);
        }
        "velocity" => {
            meaning.vector = Some(VectorProperty::Velocity);
            meaning.set_vector = Some(ScriptContext::set_velocity);
        }
        "angle" => {
            meaning.set_number =
                Some(|scene, radians| scene.set_angle(Angle::from_radians(radians)));
        }
        "spin" => meaning.set_number = Some(ScriptContext::set_spin),
        _ => {}
    }
    meaning
}

fn frequent(name: &str, count: usize) -> Option<FrequentCall> {
    match (name, count) {
        ("vec2", 2) => Some(FrequentCall::Vec2),
        ("sqrt", 1) => Some(FrequentCall::Sqrt),
        ("nearby", 1) => Some(FrequentCall::Nearby),
        ("send", 3) => Some(FrequentCall::Send),
        ("split", 2) => Some(FrequentCall::Split),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::CALLS;

    #[test]
    fn a_byte_numbers_all_calls_that_a_program_can_have() {
        assert!(CALLS.len() <= 256, "{} calls", CALLS.len());
    }
}
