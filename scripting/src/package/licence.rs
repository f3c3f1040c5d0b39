//! The licence check: may everybody use the source under a copyleft licence?
//!
//! This is a check of a policy against the SPDX list, no legal advice.

mod conflicts;
mod imports;
mod spelling;

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};
use spdx::{
    Expression, LicenseReq, ParseMode,
    expression::{ExprNode, Operator},
};

use crate::limits::{LICENCE_ARMS_MAX, LICENCE_BYTES_MAX};
pub use imports::ImportRule;

/// An SPDX expression, and the choice that makes it copyleft.
///
/// `MIT OR GPL-3.0-only` allows to choose GPL-3.0-only: that arm is recorded, and it is the licence
/// under which a world runs and hands out the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Licence {
    /// The expression that the author wrote, with identifiers and operators as the SPDX list spells them.
    pub expression: String,
    /// The first copyleft arm: licences that hold together, joined by `AND`.
    pub chosen: String,
}

/// Why a licence is not one that a package may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LicenceError {
    /// Longer than [`LICENCE_BYTES_MAX`].
    #[error("{bytes} bytes, more than {LICENCE_BYTES_MAX} (LICENCE_BYTES_MAX)")]
    Bytes {
        /// Its length in bytes.
        bytes: usize,
    },
    /// Not an SPDX expression of current, listed licences.
    #[error("column {column}: {reason}")]
    Expression {
        /// Where, in bytes from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// An identifier that the SPDX list has given up.
    #[error("column {column}: {identifier} is deprecated{}", instead(.successor))]
    Deprecated {
        /// Where, in bytes from 1.
        column: usize,
        /// The deprecated identifier.
        identifier: String,
        /// What took its place; empty if no single licence did.
        successor: String,
    },
    /// Every copyleft arm joins licences that forbid to be joined.
    #[error("{left} and {right} cannot hold together for one work")]
    Conflict {
        /// One of the two.
        left: String,
        /// The other of the two.
        right: String,
    },
    /// A manifest spells the expression in another way than the SPDX list.
    #[error("the expression {stated:?} is recorded, the SPDX list spells it {expected:?}")]
    Spelling {
        /// What the manifest says.
        stated: String,
        /// What it should say.
        expected: String,
    },
    /// More than [`LICENCE_ARMS_MAX`] ways to choose.
    #[error("more than {LICENCE_ARMS_MAX} ways to choose (LICENCE_ARMS_MAX)")]
    Arms,
    /// No arm is copyleft and made of free, listed licences only.
    #[error("{0:?} allows no copyleft choice (such as AGPL-3.0-or-later)")]
    NoCopyleft(String),
    /// The recorded choice is not the one that follows from the expression.
    #[error("the choice {stated:?} is recorded, {expected:?} follows from the expression")]
    Choice {
        /// What the manifest says.
        stated: String,
        /// What it should say.
        expected: String,
    },
}

/// One way to satisfy an expression: all of these hold.
type Arm = BTreeSet<LicenseReq>;

impl Licence {
    /// Reads an expression and chooses its first copyleft arm whose licences can hold together.
    /// Identifiers may be in any case.
    ///
    /// # Errors
    /// See [`LicenceError`].
    pub fn parse(expression: &str) -> Result<Self, LicenceError> {
        if expression.len() > LICENCE_BYTES_MAX {
            return Err(LicenceError::Bytes { bytes: expression.len() });
        }
        let expression = spelling::spell(expression)?;
        let parsed = Expression::parse_mode(&expression, ParseMode::STRICT).map_err(|error| {
            LicenceError::Expression {
                column: error.span.start + 1,
                reason: error.reason.to_string(),
            }
        })?;
        let mut refused = None;
        for arm in arms(&parsed)?.iter().filter(|arm| is_copyleft(arm)) {
            match conflicts::conflict(arm) {
                None => return Ok(Self { chosen: show(arm), expression }),
                Some(pair) => drop(refused.get_or_insert(pair)),
            }
        }
        Err(match refused {
            Some((left, right)) => LicenceError::Conflict { left, right },
            None => LicenceError::NoCopyleft(expression),
        })
    }

    /// Checks that the expression is spelled as the list does, and that the choice follows from it.
    pub(super) fn check(&self) -> Result<(), LicenceError> {
        let Self { expression, chosen } = Self::parse(&self.expression)?;
        if self.expression != expression {
            let stated = self.expression.clone();
            return Err(LicenceError::Spelling { stated, expected: expression });
        }
        if self.chosen != chosen {
            let stated = self.chosen.clone();
            return Err(LicenceError::Choice { stated, expected: chosen });
        }
        Ok(())
    }
}

/// Returns words that name a successor, if there is one.
fn instead(successor: &str) -> String {
    match successor {
        "" => String::new(),
        successor => alloc::format!("; write {successor}"),
    }
}

/// Returns all ways to satisfy an expression. Those of the left side of an `OR` come first.
fn arms(expression: &Expression) -> Result<Vec<Arm>, LicenceError> {
    let mut stack: Vec<Vec<Arm>> = Vec::new();
    for node in expression.iter() {
        let arms = match node {
            ExprNode::Req(requirement) => [Arm::from([requirement.req.clone()])].into(),
            ExprNode::Op(operator) => {
                let right = stack.pop().expect("a parsed expression has two sides");
                let left = stack.pop().expect("a parsed expression has two sides");
                match operator {
                    Operator::Or => left.into_iter().chain(right).collect(),
                    Operator::And => both(&left, &right),
                }
            }
        };
        if arms.len() > LICENCE_ARMS_MAX {
            return Err(LicenceError::Arms);
        }
        stack.push(arms);
    }
    Ok(stack.pop().expect("a parsed expression is not empty"))
}

/// Returns every choice of the left side with every one of the right: at most the square of
/// [`LICENCE_ARMS_MAX`], each of a few names.
fn both(left: &[Arm], right: &[Arm]) -> Vec<Arm> {
    let pair = |l: &Arm, r: &Arm| l.union(r).cloned().collect();
    left.iter().flat_map(|l| right.iter().map(move |r| pair(l, r))).collect()
}

/// Free licences of the list only, at least one of them copyleft.
fn is_copyleft(arm: &Arm) -> bool {
    let ids: Option<Vec<_>> = arm.iter().map(|requirement| requirement.license.id()).collect();
    ids.is_some_and(|ids| {
        ids.iter().all(|id| id.is_osi_approved() || id.is_fsf_free_libre())
            && ids.iter().any(|id| id.is_copyleft())
    })
}

/// Writes the names in alphabetical order, so that no order of the SPDX list can change the text.
fn show(arm: &Arm) -> String {
    let names: BTreeSet<String> = arm.iter().map(ToString::to_string).collect();
    names.into_iter().collect::<Vec<_>>().join(" AND ")
}
