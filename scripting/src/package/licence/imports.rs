//! Which licence lets its package import which other one.
//!
//! What is compiled together is one work, so an import must be allowed by the licences of both sides. The
//! sources are the matrix of the Free Software Foundation for libraries,
//! <https://www.gnu.org/licenses/gpl-faq.html#AllCompatibility>, its list of licences,
//! <https://www.gnu.org/licenses/license-list.html>, and what the licences say themselves. Pairs of copyleft
//! licences that are in no row are refused. A licence that is no copyleft licence, in a package that also
//! has one, may be imported unless it conflicts with another one of the work.

use alloc::{collections::BTreeSet, string::String};

use spdx::{Expression, LicenseId, LicenseReq};

use super::{
    Arm, Licence,
    conflicts::{self, THIRD},
};

/// Why a package may not import another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportRule {
    /// No row of the table has the two.
    #[error(
        "a package under {importer} may not import one under {imported}: {}",
        reason(.importer, .imported)
    )]
    NoRow {
        /// The licence of the package that imports.
        importer: String,
        /// The licence of the import.
        imported: String,
    },
    /// Two licences of the whole cannot hold together.
    #[error("{left} and {right} cannot hold together for one work")]
    Conflict {
        /// One of the two.
        left: String,
        /// The other of the two.
        right: String,
    },
}

/// One row: each of the first licences lets its package import each of the second ones.
struct ImportRow {
    importers: &'static [&'static str],
    imported: &'static [&'static str],
}

/// Version 2 of the GPL and no later one.
const GPL_2_ONLY: &[&str] = &["GPL-2.0-only"];

/// What can be under version 2 of the GPL: the LGPL lets itself be replaced by it.
const AS_GPL_2: &[&str] = &[
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "MPL-2.0",
];

/// What can be under version 2 or 3, as the whole needs it.
const ANY_VERSION: &[&str] = &[
    "GPL-2.0-or-later",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "MPL-2.0",
];

/// What can be under version 3: by a later version, by the MPL's secondary licences, by the lists of
/// compatible licences of the CeCILL and of Creative Commons.
const AS_GNU_3: &[&str] = &[
    "GPL-2.0-or-later",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "MPL-2.0",
    "CECILL-2.1",
    "CC-BY-SA-4.0",
];

/// The table. A licence also lets its package import what is under the same one.
const ROWS: [ImportRow; 4] = [
    ImportRow { importers: GPL_2_ONLY, imported: AS_GPL_2 },
    ImportRow { importers: ANY_VERSION, imported: AS_GPL_2 },
    ImportRow { importers: ANY_VERSION, imported: THIRD },
    ImportRow { importers: THIRD, imported: AS_GNU_3 },
];

/// Returns why no row has two licences, as far as more can be said than that.
fn reason(importer: &str, imported: &str) -> &'static str {
    let is_of = |group: &[&str], name: &str| group.contains(&name);
    if is_of(GPL_2_ONLY, importer) && is_of(THIRD, imported)
        || is_of(THIRD, importer) && is_of(GPL_2_ONLY, imported)
    {
        "version 2 alone and version 3 forbid each other"
    } else {
        "the table of imports has no row for the two, see docs/scripting.md"
    }
}

/// Says whether the table lets a package under a licence import one under another.
fn may_import(importer: LicenseId, imported: LicenseId) -> bool {
    let has = |names: &[&str], id: LicenseId| names.contains(&id.name);
    importer == imported
        || ROWS.iter().any(|row| has(row.importers, importer) && has(row.imported, imported))
}

impl Licence {
    /// Says whether a package under this licence may import one under another.
    pub(in crate::package) fn import(&self, imported: &Self) -> Result<(), ImportRule> {
        let (own, other) = (self.arm(), imported.arm());
        let copyleft = |arm: &Arm| -> BTreeSet<LicenseId> {
            let ids = arm.iter().filter_map(|requirement: &LicenseReq| requirement.license.id());
            ids.filter(|id| id.is_copyleft()).collect()
        };
        for importer in copyleft(&own) {
            for imported in copyleft(&other) {
                if !may_import(importer, imported) {
                    let (importer, imported) = (importer.name.into(), imported.name.into());
                    return Err(ImportRule::NoRow { importer, imported });
                }
            }
        }
        Ok(())
    }

    /// Says whether all these licences can hold together for one work.
    pub(in crate::package) fn join<'l>(
        &self,
        others: impl Iterator<Item = &'l Self>,
    ) -> Result<(), ImportRule> {
        let mut all = self.arm();
        others.for_each(|licence| all.extend(licence.arm()));
        match conflicts::conflict(&all) {
            Some((left, right)) => Err(ImportRule::Conflict { left, right }),
            None => Ok(()),
        }
    }

    /// Returns the licences of the arm that was chosen.
    fn arm(&self) -> Arm {
        let chosen = Expression::parse(&self.chosen).expect("a licence that was checked");
        let requirements = chosen.requirements();
        requirements.map(|requirement| requirement.req.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn licence(expression: &str) -> Licence {
        Licence::parse(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    #[test]
    fn every_row_lets_each_of_its_licences_import_each_other_one() {
        for row in &ROWS {
            for own in row.importers {
                for other in row.imported {
                    assert_eq!(licence(own).import(&licence(other)), Ok(()), "{own} {other}");
                }
            }
        }
    }

    #[test]
    fn every_name_is_a_current_copyleft_licence_of_the_list() {
        for row in &ROWS {
            for name in row.importers.iter().chain(row.imported) {
                let id = spdx::license_id(name).unwrap_or_else(|| panic!("{name}"));
                assert!(id.is_copyleft() && !id.is_deprecated(), "{name}");
            }
        }
    }

    #[test]
    fn what_no_row_has_is_refused_in_words_that_name_both() {
        for (own, other) in [
            ("GPL-2.0-only", "GPL-3.0-only"),
            ("GPL-2.0-only", "AGPL-3.0-or-later"),
            ("AGPL-3.0-or-later", "GPL-2.0-only"),
            ("AGPL-3.0-or-later", "OSL-3.0"),
            ("OSL-3.0", "AGPL-3.0-or-later"),
            ("CC-BY-SA-4.0", "GPL-3.0-only"),
        ] {
            let refused = licence(own).import(&licence(other)).expect_err("no row").to_string();
            assert!(refused.contains(own) && refused.contains(other), "{refused}");
        }
        assert!(licence("OSL-3.0").import(&licence("OSL-3.0")).is_ok());
    }

    #[test]
    fn each_licence_of_a_conjunction_must_allow_each_copyleft_licence_of_the_import() {
        let both = licence("MIT AND GPL-3.0-only");
        assert!(licence("AGPL-3.0-or-later").import(&both).is_ok());
        assert!(both.import(&licence("AGPL-3.0-or-later")).is_ok());
        assert!(licence("GPL-2.0-only").import(&both).is_err());
    }

    #[test]
    fn two_imports_that_forbid_each_other_do_not_become_one_work() {
        let own = licence("GPL-2.0-or-later");
        let (two, three) = (licence("GPL-2.0-only"), licence("GPL-3.0-only"));
        assert_eq!(own.import(&two).and(own.import(&three)), Ok(()));
        let joined = own.join([&two, &three].into_iter());
        assert!(joined.expect_err("a conflict").to_string().contains("GPL-2.0-only"));
        let apache = licence("Apache-2.0 AND GPL-3.0-only");
        assert!(two.join([&apache].into_iter()).is_err());
        assert_eq!(three.join([&apache].into_iter()), Ok(()));
    }
}
