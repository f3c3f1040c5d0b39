//! Explains a capsule: what a server or a tab kept when its state parted from the others'.

use std::{collections::BTreeSet, fmt};

use metatopia_sim::{Capsule, CapsuleError, ReplayVerdict, StateDifference};
use metatopia_types::{Height, PublicKey, Root, limits::ROOT_LAG};
use serde::Serialize;

use crate::tools;

/// The relation of a capsule's turns and its writer's states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapsuleFinding {
    /// The writer came to what the headers state, as far as they go.
    Same,
    /// The writer came to something else than the turns lead to.
    WriterWrong,
    /// The turns lead to something else than their headers state, on this machine.
    HeadersDiffer,
}

/// The first difference of the writer's state, or of the headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapsuleDifference {
    /// The height of the state that differs.
    pub height: u64,
    /// The writer's root. If the headers differ, it is the root that this machine comes to.
    pub had: String,
    /// The root that the turns lead to. If the headers differ, it is the root that they state.
    pub right: String,
    /// The leaf that differs.
    pub leaf: Option<String>,
    /// The entry of the leaf that differs, such as an object.
    pub entry: Option<String>,
    /// The way to the field that differs.
    pub field: Vec<String>,
    /// The writer's value.
    pub had_value: Option<String>,
    /// The value that the turns lead to.
    pub right_value: Option<String>,
    /// The number of leaves in which the writer's last state is wrong.
    pub leaves: Option<u32>,
    /// The servers that signed the header with the root; none if it is not in the capsule.
    pub signed: Vec<String>,
    /// The servers that sign or propose elsewhere in the capsule and are not among them.
    pub not_signed: Vec<String>,
}

/// The content of a capsule, and what its replay found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapsuleSummary {
    file: String,
    sim: String,
    name: String,
    /// The height of the state at its beginning.
    base: u64,
    base_root: String,
    /// The last turn in it; the base if there is none.
    last: u64,
    turns: usize,
    acts: usize,
    /// The number of turns after which the writer's own root is in it.
    own_roots: usize,
    /// Says whether the writer's last state is in it.
    own_state: bool,
    /// The result of the replay.
    pub finding: CapsuleFinding,
    /// The first difference, if there is one.
    pub parting: Option<CapsuleDifference>,
}

impl fmt::Display for CapsuleSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, sim, name, base, base_root, last, turns, acts, own_roots, .. } = self;
        writeln!(f, "{file}")?;
        writeln!(f, "sim         {sim} ({name})")?;
        writeln!(f, "begins      after turn {base}, root {base_root}")?;
        writeln!(f, "turns       {turns} up to {last}, with {acts} acts")?;
        let state = if self.own_state { ", and its last state" } else { "" };
        writeln!(f, "writer      its roots after {own_roots} of them{state}")?;
        let Some(parting) = &self.parting else {
            return write!(f, "found       its writer came to what the headers state");
        };
        let CapsuleDifference { height, had, right, .. } = parting;
        let [had_is, right_is] = match self.finding {
            CapsuleFinding::HeadersDiffer => ["here       ", "stated     "],
            _ => ["its writer ", "right      "],
        };
        writeln!(f, "found       the state after turn {height} is not the same")?;
        writeln!(f, "{had_is} root {had}")?;
        write!(f, "{right_is} root {right}")?;
        if let Some(leaf) = &parting.leaf {
            write!(f, "\nleaf        {leaf}")?;
        }
        if let Some(entry) = &parting.entry {
            write!(f, "\nof          {entry}")?;
        }
        if !parting.field.is_empty() {
            write!(f, "\nin          {}", parting.field.join(" > "))?;
        }
        for (is, value) in [(had_is, &parting.had_value), (right_is, &parting.right_value)] {
            if let Some(value) = value {
                write!(f, "\n{is} {value}")?;
            }
        }
        for key in &parting.signed {
            write!(f, "\nsigned      {key}")?;
        }
        for key in &parting.not_signed {
            write!(f, "\nnot signed  {key}")?;
        }
        Ok(())
    }
}

/// Applies the turns of a capsule to its state, and compares the result with what its writer had. `file`
/// is the name that the summary shows.
///
/// # Errors
/// When the capsule cannot be replayed.
pub fn explain(file: String, capsule: &Capsule) -> Result<CapsuleSummary, CapsuleError> {
    let tools = tools();
    let (genesis, world) = capsule.begin(&tools)?;
    let base = world.height();
    let (finding, difference) = match capsule.replay(&tools)? {
        ReplayVerdict::Same { .. } => (CapsuleFinding::Same, None),
        ReplayVerdict::Differs { of, own, stated } => {
            (CapsuleFinding::HeadersDiffer, Some(difference(capsule, of, [own, stated], None)))
        }
        ReplayVerdict::Unrepeatable { of, had, now, difference: state } => {
            let found = difference(capsule, of, [had, now], state.as_deref());
            (CapsuleFinding::WriterWrong, Some(found))
        }
    };
    Ok(CapsuleSummary {
        sim: world.sim().to_string(),
        name: genesis.name,
        base: base.0,
        base_root: world.root().to_string(),
        last: capsule.turns.last().map_or(base, |(turn, _)| turn.header.height).0,
        turns: capsule.turns.len(),
        acts: capsule.turns.iter().map(|(turn, _)| turn.body.acts().len()).sum(),
        own_roots: capsule.roots.len(),
        own_state: capsule.end.is_some(),
        finding,
        parting: difference,
        file,
    })
}

/// Returns the difference of two roots, and of the states if both are there.
fn difference(
    capsule: &Capsule,
    of: Height,
    [had, right]: [Root; 2],
    state: Option<&StateDifference>,
) -> CapsuleDifference {
    let stating = capsule.turns.iter().find(|(turn, _)| turn.header.height == of.plus(ROOT_LAG));
    let signers = stating.iter().flat_map(|(_, certificate)| &certificate.signatures);
    let signed: BTreeSet<PublicKey> = signers.map(|(key, _)| *key).collect();
    // The capsule does not list the servers of the sim. It names those that propose or sign in it.
    let each = capsule.turns.iter().flat_map(|(turn, certificate)| {
        let signers = certificate.signatures.iter().map(|(key, _)| *key);
        signers.chain([turn.header.proposer])
    });
    let known: BTreeSet<PublicKey> = each.collect();
    let texts = |keys: &mut dyn Iterator<Item = &PublicKey>| keys.map(|k| k.to_string()).collect();
    let not_signed = match stating {
        Some(_) => texts(&mut known.difference(&signed)),
        None => Vec::new(),
    };
    CapsuleDifference {
        height: of.0,
        had: had.to_string(),
        right: right.to_string(),
        leaf: state.map(|found| found.key.to_string()),
        entry: state.and_then(|found| found.entry.clone()),
        field: state.map(|found| found.field.clone()).unwrap_or_default(),
        had_value: state.and_then(|found| found.left.clone()),
        right_value: state.and_then(|found| found.right.clone()),
        leaves: state.map(|found| found.leaves),
        signed: texts(&mut signed.iter()),
        not_signed,
    }
}

#[cfg(test)]
mod tests {
    use metatopia_sim::flipped;
    use metatopia_types::{LeafKey, Sign as _};

    use super::*;
    use crate::fixture::{genesis, server_key, steps};

    /// Returns a capsule from height 2 to height 11 by a writer whose clock had a wrong bit after turn 9.
    fn capsule(is_wrong: bool) -> Capsule {
        let steps = steps();
        let right = &steps[8].world;
        let wrong = flipped(right, &LeafKey("clock".into()), &tools()).expect("a clock has bits");
        let end = if is_wrong { &wrong } else { right };
        let mut roots: Vec<Root> = steps[2..8].iter().map(|step| step.world.root()).collect();
        roots.push(end.root());
        let turns = steps[2..11].iter();
        Capsule {
            genesis: genesis().encode(),
            root: steps[1].world.root(),
            snapshot: steps[1].world.snapshot(),
            turns: turns.map(|step| (step.turn.clone(), step.certificate.clone())).collect(),
            roots,
            end: Some(end.snapshot()),
        }
    }

    #[test]
    fn a_capsule_of_a_healthy_writer_holds_no_difference() {
        let summary = explain("a capsule".to_owned(), &capsule(false)).unwrap();
        assert_eq!((summary.finding, summary.parting), (CapsuleFinding::Same, None));
        assert_eq!((summary.base, summary.last, summary.turns, summary.acts), (2, 11, 9, 1));
    }

    #[test]
    fn a_wrong_bit_is_named_with_its_field_and_the_servers_that_signed_for_the_right_one() {
        let summary = explain("a capsule".to_owned(), &capsule(true)).unwrap();
        assert_eq!(summary.finding, CapsuleFinding::WriterWrong);
        let found = summary.parting.expect("a difference");
        assert_eq!((found.height, found.leaf.as_deref()), (9, Some("clock")));
        assert_eq!(found.right, steps()[8].world.root().to_string());
        assert_eq!(found.leaves, Some(1));
        assert!(found.had_value != found.right_value, "{found:?}");
        let mut signed: Vec<String> = (0..3).map(|n| server_key(n).public().to_string()).collect();
        signed.sort();
        assert_eq!(found.signed, signed);
    }
}
