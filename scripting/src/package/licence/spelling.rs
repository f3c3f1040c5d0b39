//! The spelling of licence expressions: words in any case become those of the SPDX list.

use alloc::{borrow::ToOwned, format, string::String};
use core::ops::Range;

use spdx::{
    flags::IS_DEPRECATED,
    identifiers::{EXCEPTIONS, LICENSES},
};

use super::LicenceError;

/// The words that join identifiers.
const OPERATORS: [&str; 3] = ["AND", "OR", "WITH"];

/// Deprecated identifiers whose successor does not follow from their name, by the pages of
/// <https://spdx.org/licenses/>. An empty successor means that no single licence took the place.
const SUCCESSORS: [(&str, &str); 15] = [
    ("BSD-2-Clause-FreeBSD", "BSD-2-Clause-Views or BSD-2-Clause"),
    ("BSD-2-Clause-NetBSD", "BSD-2-Clause"),
    ("GPL-2.0-with-GCC-exception", "GPL-2.0-or-later WITH GCC-exception-2.0"),
    ("GPL-2.0-with-autoconf-exception", "GPL-2.0-or-later WITH Autoconf-exception-2.0"),
    ("GPL-2.0-with-bison-exception", "GPL-2.0-or-later WITH Bison-exception-2.2"),
    ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ("GPL-2.0-with-font-exception", "GPL-2.0-only WITH Font-exception-2.0"),
    ("GPL-3.0-with-GCC-exception", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("GPL-3.0-with-autoconf-exception", "GPL-3.0-or-later WITH Autoconf-exception-3.0"),
    ("Net-SNMP", ""),
    ("Nunit", ""),
    ("StandardML-NJ", "SMLNJ"),
    ("bzip2-1.0.5", "bzip2-1.0.6"),
    ("eCos-2.0", "GPL-2.0-or-later WITH eCos-exception-2.0"),
    ("wxWindows", "LGPL-2.0-or-later WITH WxWindows-exception-3.1"),
];

/// Returns the expression with the operators and identifiers spelled as in the SPDX list. What is in no
/// list stays as it is, for the parser to name. No length changes, so that places stay the same.
///
/// # Errors
/// When an identifier is deprecated; its successor is named.
pub(super) fn spell(expression: &str) -> Result<String, LicenceError> {
    let mut spelled = expression.to_owned();
    for Range { start, end } in words(expression) {
        let word = &expression[start..end];
        if let Some(operator) = OPERATORS.iter().find(|known| known.eq_ignore_ascii_case(word)) {
            spelled.replace_range(start..end, operator);
            continue;
        }
        let later = expression[end..].starts_with('+');
        if let Some(known) = LICENSES.iter().find(|known| known.name.eq_ignore_ascii_case(word)) {
            if known.flags & IS_DEPRECATED != 0 {
                return Err(deprecated(start, known.name, later));
            }
            spelled.replace_range(start..end, known.name);
        } else if let Some(known) =
            EXCEPTIONS.iter().find(|known| known.name.eq_ignore_ascii_case(word))
        {
            spelled.replace_range(start..end, known.name);
        }
    }
    Ok(spelled)
}

/// Returns the error that names the successor of a deprecated identifier.
fn deprecated(start: usize, name: &str, later: bool) -> LicenceError {
    let listed = SUCCESSORS.iter().find(|(old, _)| *old == name);
    let successor = match listed {
        Some((_, successor)) => (*successor).to_owned(),
        // What is left are versions of the GNU licences, which have two successors each.
        None if later => format!("{name}-or-later"),
        None => format!("{name}-only or {name}-or-later"),
    };
    LicenceError::Deprecated { column: start + 1, identifier: name.to_owned(), successor }
}

/// Returns the places of the words of an expression, as the parser cuts them.
fn words(expression: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    expression.split(move |c| !is_part(c)).filter(|word| !word.is_empty()).map(|word| {
        let start = word.as_ptr().addr().saturating_sub(expression.as_ptr().addr());
        start..start.saturating_add(word.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Licence;

    #[test]
    fn every_deprecated_licence_has_a_successor_that_a_package_may_name_or_a_row_without_one() {
        let mut found = 0;
        for license in LICENSES {
            let name = license.name.trim_end_matches('+');
            let id = spdx::license_id(license.name).expect("it is listed");
            if !id.is_deprecated() {
                continue;
            }
            found += 1;
            let error = spell(license.name).expect_err("it is deprecated");
            let LicenceError::Deprecated { column: 1, identifier, successor } = error else {
                panic!("{error:?}");
            };
            assert_eq!(identifier, name);
            for successor in successor.split(" or ").filter(|successor| !successor.is_empty()) {
                let expression = spdx::Expression::parse(successor);
                assert!(expression.is_ok(), "{name} -> {successor}");
            }
        }
        assert!(found > 30, "{found} deprecated licences");
    }

    #[test]
    fn a_word_in_any_case_is_the_listed_one() {
        let spelled = spell("(mit or APACHE-2.0)and gpl-2.0-ONLY with classpath-EXCEPTION-2.0");
        let listed = "(MIT OR Apache-2.0)AND GPL-2.0-only WITH Classpath-exception-2.0";
        assert_eq!(spelled.as_deref(), Ok(listed));
        assert_eq!(Licence::parse("gpl-2.0-only").expect("a licence").chosen, "GPL-2.0-only");
        assert_eq!(spell("cddl-1.0+").as_deref(), Ok("CDDL-1.0+"));
        assert_eq!(spell("of-my-own").as_deref(), Ok("of-my-own"));
    }
}
