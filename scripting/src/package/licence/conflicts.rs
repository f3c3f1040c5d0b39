//! Licences that cannot hold together for one work, as far as that is beyond doubt.
//!
//! The source is the Free Software Foundation: the matrix of
//! <https://www.gnu.org/licenses/gpl-faq.html#AllCompatibility> for GNU licences among each other, and
//! <https://www.gnu.org/licenses/license-list.html#GPLIncompatibleLicenses> for the others. What is in no
//! row may still not fit together; a row is only there if nobody disputes it.

use alloc::string::{String, ToString};

use spdx::{LicenseItem, LicenseReq};

use super::Arm;

/// The third versions, which no version that says "2 only" may join.
pub(super) const THIRD: &[&str] = &[
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
];

/// All versions of the strong GNU licences.
const STRONG: &[&str] = &[
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
];

/// Licences that ask for what the strong GNU licences forbid to ask for.
const RESTRICTIVE: &[&str] = &[
    "Apache-1.0",
    "Apache-1.1",
    "BSD-4-Clause",
    "CDDL-1.0",
    "CDDL-1.1",
    "CPL-1.0",
    "EPL-1.0",
    "IPL-1.0",
    "MPL-1.1",
    "MPL-2.0-no-copyleft-exception",
    "OpenSSL",
];

/// Pairs of groups: no member of the first holds together with a member of the second.
const CONFLICTS: [(&[&str], &[&str]); 4] = [
    (&["GPL-2.0-only"], THIRD),
    (&["GPL-2.0-only"], &["Apache-2.0"]),
    (&["GPL-1.0-only"], STRONG),
    (STRONG, RESTRICTIVE),
];

/// Returns two licences of an arm that cannot hold together, if there are any.
pub(super) fn conflict(arm: &Arm) -> Option<(String, String)> {
    arm.iter().find_map(|left| {
        let right = arm.iter().find(|right| clash(left, right))?;
        Some((left.to_string(), right.to_string()))
    })
}

/// Says whether some row has these two, in this order.
fn clash(left: &LicenseReq, right: &LicenseReq) -> bool {
    let (Some(left), Some(right)) = (plain(left), plain(right)) else {
        return false;
    };
    CONFLICTS.iter().any(|(ones, others)| ones.contains(&left) && others.contains(&right))
}

/// Returns the name of a licence without an exception and without later versions: an exception may
/// allow what the licence forbids, and so may a later version.
fn plain(requirement: &LicenseReq) -> Option<&'static str> {
    match (&requirement.license, &requirement.addition) {
        (LicenseItem::Spdx { id, or_later: false }, None) => Some(id.name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_licences_of_the_list() {
        for (ones, others) in CONFLICTS {
            for name in ones.iter().chain(others) {
                let id = spdx::license_id(name).unwrap_or_else(|| panic!("{name}"));
                assert!(!id.is_deprecated(), "{name}");
            }
        }
    }
}
