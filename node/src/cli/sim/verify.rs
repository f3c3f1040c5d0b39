//! `sim verify` checks that a sim begins with the state that its genesis names.

use std::{fmt, path::PathBuf};

use clap::Args;
use metatopia_audit::{succeed::check_proof, tools};
use metatopia_sim::{Parent, World};
use serde::Serialize;

use super::{ParentLine, genesis_at};
use crate::{
    cli::{console::Console, failure::Failure, genesis_file::read_genesis},
    first_state::{read_snapshot, state_beside},
};

#[derive(Debug, Args)]
pub(in crate::cli) struct SimVerifyArgs {
    /// The genesis, or a data directory that holds one.
    genesis: PathBuf,
    /// The parent's state [default: the file beside the genesis, with .state after its name].
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// The genesis of the parent, to check who signed for the state.
    #[arg(long, value_name = "FILE")]
    parent: Option<PathBuf>,
}

/// The facts that were verified.
#[derive(Debug, Serialize)]
struct Verified {
    sim: String,
    name: String,
    /// The root of the state at its genesis.
    root: String,
    parent: Option<ParentLine>,
    /// Says whether more than two thirds of the parent's servers signed for the parent's root;
    /// nothing if that was not checked.
    certified: Option<bool>,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sim, name, root, parent, certified } = self;
        writeln!(f, "{name} is sim {sim}, and begins with root {root}")?;
        let Some(parent) = parent else {
            return write!(f, "it carries on no other");
        };
        writeln!(f, "it carries on {parent}: the state holds")?;
        match (certified, parent.proof) {
            (Some(_), _) => write!(f, "more than two thirds of the parent's servers signed for it"),
            (None, true) => write!(f, "who signed for it was not checked: name --parent GENESIS"),
            (None, false) => write!(f, "nothing shows that the parent's servers signed for it"),
        }
    }
}

pub(super) fn run(args: &SimVerifyArgs, console: Console) -> Result<(), Failure> {
    let file = genesis_at(&args.genesis)?;
    let genesis = read_genesis(&file)?;
    let unverified = |error: String| Failure::unverified(format!("{}: {error}", file.display()));
    let world = match &genesis.parent {
        None => World::genesis(&genesis, &tools()),
        Some(Parent { height, root, .. }) => {
            let state = args.snapshot.clone().unwrap_or_else(|| state_beside(&file));
            let (_, parent) = read_snapshot(&state, *height, *root, &tools())?;
            World::succeed(&genesis, &parent, &tools())
        }
    };
    let world = world.map_err(|error| unverified(error.to_string()))?;
    let certified = match (&genesis.parent, &args.parent) {
        (Some(parent), Some(file)) => {
            let own = read_genesis(&genesis_at(file)?)?;
            check_proof(parent, &own)
                .map_err(|why| unverified(format!("the proof of its parent's state: {why}")))?;
            Some(true)
        }
        _ => None,
    };
    console.show(&Verified {
        sim: genesis.id().to_string(),
        name: genesis.name.clone(),
        root: world.root().to_string(),
        parent: genesis.parent.as_ref().map(ParentLine::of),
        certified,
    })
}
