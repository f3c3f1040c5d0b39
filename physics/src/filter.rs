//! Filters: which bodies concern each other.

use serde::{Deserialize, Serialize};

use crate::material::SurfaceRules;

/// Which categories a body belongs to, and which ones it meets.
///
/// Two bodies concern each other if each one's mask has a category of the other one. That holds for
/// contacts, for what sensors notice, and for queries, which have a filter as if they were bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// The categories that the body belongs to, one bit each. A body of none meets nothing.
    pub category: u32,
    /// The categories that the body meets.
    pub mask: u32,
}

impl Filter {
    /// Belongs to all categories, and meets all: what a body has that was given no other filter.
    pub const ALL: Self = Self { category: u32::MAX, mask: u32::MAX };

    /// Returns whether two bodies with these filters concern each other.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.category & other.mask != 0 && other.category & self.mask != 0
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self::ALL
    }
}

/// How a body takes part in contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RoleForm", into = "RoleForm")]
pub(crate) struct ContactRole {
    /// Whether the body only notices others and pushes nothing.
    pub(crate) sensor: bool,
    pub(crate) filter: Filter,
    pub(crate) rules: SurfaceRules,
}

/// The encoding of a role: one byte for a body without a filter or rules of its own, as most have none.
#[derive(Serialize, Deserialize)]
enum RoleForm {
    Solid,
    Sensor,
    FilteredSolid(Filter),
    FilteredSensor(Filter),
    RuledSolid(Filter, SurfaceRules),
    RuledSensor(Filter, SurfaceRules),
}

impl From<ContactRole> for RoleForm {
    fn from(role: ContactRole) -> Self {
        if role.rules != SurfaceRules::USUAL {
            let form = if role.sensor { Self::RuledSensor } else { Self::RuledSolid };
            return form(role.filter, role.rules);
        }
        match (role.sensor, role.filter == Filter::ALL) {
            (false, true) => Self::Solid,
            (true, true) => Self::Sensor,
            (false, false) => Self::FilteredSolid(role.filter),
            (true, false) => Self::FilteredSensor(role.filter),
        }
    }
}

impl From<RoleForm> for ContactRole {
    fn from(form: RoleForm) -> Self {
        let (sensor, filter, rules) = match form {
            RoleForm::Solid => (false, Filter::ALL, SurfaceRules::USUAL),
            RoleForm::Sensor => (true, Filter::ALL, SurfaceRules::USUAL),
            RoleForm::FilteredSolid(filter) => (false, filter, SurfaceRules::USUAL),
            RoleForm::FilteredSensor(filter) => (true, filter, SurfaceRules::USUAL),
            RoleForm::RuledSolid(filter, rules) => (false, filter, rules),
            RoleForm::RuledSensor(filter, rules) => (true, filter, rules),
        };
        Self { sensor, filter, rules }
    }
}
