//! `admin land` says who may build where, and changes it.

use std::fmt;

use clap::{Args, Subcommand};
use metatopia_sim::{Land, is_name};
use metatopia_types::{GovernOrder, Title, limits::NAME_BYTES_MAX};
use serde::Serialize;

use super::{
    area,
    orders::{self, OrderArgs},
};
use crate::cli::{
    console::Console,
    failure::Failure,
    session::{ANSWER, NodeArgs},
};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum LandCommand {
    /// List the lands, the topmost first, and what holds everywhere else.
    #[command(after_help = "Example:\n  metatopia admin land list\n\n\
        What is printed was proved. Lots, which people took for themselves, lie on top of all lands.")]
    List(LandListArgs),
    /// Make a land, or change one: who may build there.
    #[command(after_help = "Examples:\n  \
        metatopia admin land set market -20 4 30 16 --owner open --key admin.key --dry-run\n  \
        metatopia admin land set market -20 4 30 16 --owner sim --key admin.key\n\n\
        X and Y are the south-western corner, in whole metres. A new land lies on top of the others. A land \
        that has\nthe name becomes this one, and keeps its place in their order. Lots, and what stands \
        there, stay.")]
    Set(LandSetArgs),
    /// Remove a land: the ground is again what lies below it.
    #[command(after_help = "Example:\n  metatopia admin land remove market --key admin.key")]
    Remove(LandRemoveArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LandListArgs {
    #[command(flatten)]
    at: NodeArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct LandSetArgs {
    /// Its name, which people read.
    #[arg(value_name = "NAME", value_parser = name)]
    land: String,
    /// How far east its south-western corner is, in whole metres.
    #[arg(allow_hyphen_values = true)]
    x: i32,
    /// How far north that corner is.
    #[arg(allow_hyphen_values = true)]
    y: i32,
    /// How wide it is, in metres from west to east.
    width: i32,
    /// How deep it is, from south to north.
    depth: i32,
    /// Who may build there: open (everybody), sim (admins), or a player's key.
    #[arg(long)]
    owner: Title,
    #[command(flatten)]
    order: OrderArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LandRemoveArgs {
    /// The name of the land.
    #[arg(value_name = "NAME", value_parser = name)]
    land: String,
    #[command(flatten)]
    order: OrderArgs,
}

/// Reads a name.
fn name(text: &str) -> Result<String, String> {
    let message = || format!("one line of 1 to {NAME_BYTES_MAX} bytes");
    if is_name(text) { Ok(text.to_owned()) } else { Err(message()) }
}

/// The line of a land.
#[derive(Debug, Serialize)]
struct LandLine {
    /// Its name; none for the ground that no land covers.
    name: Option<String>,
    /// Its south-western and its north-eastern corner, as easting and northing in metres.
    corners: Option<[[String; 2]; 2]>,
    /// Who may build there: `open`, `sim` or a key.
    owner: String,
}

impl LandLine {
    fn of(land: &Land) -> Self {
        let [low, high] =
            [land.area.low, land.area.high].map(|at| [at.x.to_string(), at.y.to_string()]);
        Self {
            name: Some(land.name.clone()),
            corners: Some([low, high]),
            owner: land.title.to_string(),
        }
    }
}

impl fmt::Display for LandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.corners) {
            (Some(name), Some([[west, south], [east, north]])) => {
                write!(f, "{name}  from {west}, {south} to {east}, {north}  {}", self.owner)
            }
            _ => write!(f, "everywhere else  {}", self.owner),
        }
    }
}

pub(in crate::cli) async fn run(command: LandCommand, console: Console) -> Result<(), Failure> {
    match command {
        LandCommand::List(args) => list(args, console).await,
        LandCommand::Set(LandSetArgs { land: name, x, y, width, depth, owner: title, order }) => {
            let area = area::of([x, y, width, depth])?;
            orders::carry_out(GovernOrder::SetLand { name, area, title }, order, console).await
        }
        LandCommand::Remove(LandRemoveArgs { land: name, order }) => {
            orders::carry_out(GovernOrder::RemoveLand { name }, order, console).await
        }
    }
}

async fn list(args: LandListArgs, console: Console) -> Result<(), Failure> {
    let mut driver = args.at.open_to_ask().await?;
    let charter = driver.prove_charter(ANSWER).await;
    driver.leave().await;
    let (_, charter) = charter?;
    for land in charter.lands.iter().rev() {
        console.show(&LandLine::of(land))?;
    }
    let rest = if charter.parameters.building.open_ground { Title::Open } else { Title::Sim };
    console.show(&LandLine { name: None, corners: None, owner: rest.to_string() })
}
