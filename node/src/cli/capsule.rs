//! `capsule`: what a server or a tab kept when its state parted from the others'.

use std::{collections::BTreeSet, fmt, fs, path::PathBuf};

use clap::{Args, Subcommand};
use metatopia_sim::{Capsule, CapsuleError, ReplayVerdict, StateDifference};
use metatopia_types::{Height, PublicKey, Root, limits::ROOT_LAG};
use serde::Serialize;

use super::{bisect::tools, console::Console, failure::Failure, sources::SourceKind};

#[derive(Debug, Subcommand)]
pub(super) enum CapsuleCommand {
    /// Print what parted: the turn, the leaf, the field and both values, and who signed what.
    #[command(after_help = "Examples:\n  \
        metatopia capsule show server-3/capsules/capsule-1203.capsule\n  \
        metatopia capsule show capsule-1203.capsule --json\n\n\
        The turns in it are applied to the state in it, here, and compared with what its writer came \
        to. A field is\nnamed if the writer's last state is in it and still differs. Exit code 5 \
        when it is no capsule, or its turns\nare not certified.")]
    Show(CapsuleShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct CapsuleShowArgs {
    /// A file from the folder `capsules` of a data directory, or one that a tab saved.
    file: PathBuf,
}

/// How a capsule's turns and its writer's states go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CapsuleFinding {
    /// Its writer came to what the headers state, as far as they go.
    Same,
    /// Its writer came to something else than its turns lead to.
    WriterWrong,
    /// The turns lead to something else than their headers state, on this machine.
    HeadersDiffer,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct CapsuleDifference {
    /// The state after this turn is not the same.
    height: u64,
    /// The writer's root; of headers that differ, the one of this machine.
    had: String,
    /// What the turns lead to; of headers that differ, what they state.
    right: String,
    leaf: Option<String>,
    entry: Option<String>,
    field: Vec<String>,
    had_value: Option<String>,
    right_value: Option<String>,
    /// In so many leaves the writer's last state is wrong.
    leaves: Option<u32>,
    /// Who signed the header that states the root; none if that is not in the capsule.
    signed: Vec<String>,
    /// Who signs or proposes elsewhere in the capsule and is not among them.
    not_signed: Vec<String>,
}

/// What a capsule holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct CapsuleSummary {
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
    /// Turns after which the writer's own root is in it.
    own_roots: usize,
    /// Is the writer's last state in it?
    own_state: bool,
    finding: CapsuleFinding,
    parting: Option<CapsuleDifference>,
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

pub(super) fn run(command: CapsuleCommand, console: Console) -> Result<(), Failure> {
    let CapsuleCommand::Show(args) = command;
    let file = args.file.display().to_string();
    if SourceKind::at(&args.file)? == SourceKind::Directory {
        return Err(Failure::usage(format!("{file} is a directory"))
            .hint("name a file in its folder `capsules`"));
    }
    let bytes = fs::read(&args.file)
        .map_err(|error| Failure::failed(format!("cannot read {file}: {error}")))?;
    let capsule = Capsule::decode(&bytes).map_err(|error| broken(&file, &error))?;
    console.note(&format!("applying {} turns again", capsule.turns.len()));
    let shown = shown(file, &capsule)?;
    console.show(&shown)
}

fn broken(file: &str, error: &CapsuleError) -> Failure {
    Failure::unverified(format!("{file}: {error}"))
}

fn shown(file: String, capsule: &Capsule) -> Result<CapsuleSummary, Failure> {
    let tools = tools();
    let (genesis, world) = capsule.begin(&tools).map_err(|error| broken(&file, &error))?;
    let verdict = capsule.replay(&tools).map_err(|error| broken(&file, &error))?;
    let base = world.height();
    let (finding, parting) = match verdict {
        ReplayVerdict::Same { .. } => (CapsuleFinding::Same, None),
        ReplayVerdict::Differs { of, own, stated } => {
            (CapsuleFinding::HeadersDiffer, Some(parting(capsule, of, [own, stated], None)))
        }
        ReplayVerdict::Unrepeatable { of, had, now, difference } => {
            let difference = difference.as_deref();
            (CapsuleFinding::WriterWrong, Some(parting(capsule, of, [had, now], difference)))
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
        parting,
        file,
    })
}

fn parting(
    capsule: &Capsule,
    of: Height,
    [had, right]: [Root; 2],
    difference: Option<&StateDifference>,
) -> CapsuleDifference {
    let stating = capsule.turns.iter().find(|(turn, _)| turn.header.height == of.plus(ROOT_LAG));
    let signers = stating.iter().flat_map(|(_, certificate)| &certificate.signatures);
    let signed: BTreeSet<PublicKey> = signers.map(|(key, _)| *key).collect();
    // Of the servers of the sim, those are named that propose or sign somewhere in the capsule.
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
        leaf: difference.map(|found| found.key.to_string()),
        entry: difference.and_then(|found| found.entry.clone()),
        field: difference.map(|found| found.field.clone()).unwrap_or_default(),
        had_value: difference.and_then(|found| found.left.clone()),
        right_value: difference.and_then(|found| found.right.clone()),
        leaves: difference.map(|found| found.leaves),
        signed: texts(&mut signed.iter()),
        not_signed,
    }
}
