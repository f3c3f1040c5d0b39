//! What scripts may say in words, numbers and maps: the rules that a literal can be held against before it runs.

use crate::{HostFault, host::ValueKind};

/// What may be said in a map that describes something.
#[derive(Debug)]
pub(crate) struct DescribedFields {
    /// How messages call what is described.
    pub(crate) what: &'static str,
    /// Its fields, each of which may be left out.
    pub(crate) fields: &'static [DescribedField],
}

/// A field of such a map.
#[derive(Debug)]
pub(crate) struct DescribedField {
    pub(crate) name: &'static str,
    pub(crate) kind: ValueKind,
    /// What a literal in it must keep to besides.
    pub(crate) rule: Option<LiteralRule>,
}

/// A rule for values of which a source shows all that matters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LiteralRule {
    /// A word out of few.
    Word(fn(&str) -> Result<(), HostFault>),
    /// A whole number within bounds.
    Int(fn(i64) -> Result<(), HostFault>),
    /// A map of fields.
    Fields(&'static DescribedFields),
    /// A list of such maps.
    Each(&'static DescribedFields),
}

impl DescribedField {
    pub(super) const fn new(name: &'static str, kind: ValueKind) -> Self {
        Self { name, kind, rule: None }
    }

    pub(super) const fn with(self, rule: LiteralRule) -> Self {
        Self { rule: Some(rule), ..self }
    }
}

impl DescribedFields {
    /// Returns the field of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&'static DescribedField> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the names of all fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }
}

/// The rules of arguments of host functions: name of the function, place of the argument, rule.
pub(crate) const ARGUMENT_RULES: [(&str, usize, LiteralRule); 8] = [
    ("sound", 0, LiteralRule::Word(super::effects::check_sound)),
    ("sound", 1, LiteralRule::Int(super::effects::check_pitch)),
    ("ask", 1, LiteralRule::Word(super::offer::check_permission)),
    ("allowed", 1, LiteralRule::Word(super::offer::check_permission)),
    ("dress", 1, COLOR_RULE),
    ("spawn", 0, LiteralRule::Fields(&super::spawn::THING)),
    ("ui", 1, LiteralRule::Fields(&super::form::FORM)),
    ("offer", 1, LiteralRule::Fields(&super::offer::OFFER)),
];

/// The rule of every colour.
pub(crate) const COLOR_RULE: LiteralRule = LiteralRule::Int(super::fields::check_color);
