//! Filters: which bodies concern each other.

use serde::{Deserialize, Serialize};

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
}

/// The encoding of a role: one byte for a body without a filter of its own, as most have none.
#[derive(Serialize, Deserialize)]
enum RoleForm {
    Solid,
    Sensor,
    FilteredSolid(Filter),
    FilteredSensor(Filter),
}

impl From<ContactRole> for RoleForm {
    fn from(role: ContactRole) -> Self {
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
        match form {
            RoleForm::Solid => Self { sensor: false, filter: Filter::ALL },
            RoleForm::Sensor => Self { sensor: true, filter: Filter::ALL },
            RoleForm::FilteredSolid(filter) => Self { sensor: false, filter },
            RoleForm::FilteredSensor(filter) => Self { sensor: true, filter },
        }
    }
}
