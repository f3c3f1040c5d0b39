//! Commands about a square that was granted: give it, release it, name its beacons, pass it to the
//! successor of its sim, and take it back.

use std::{fmt, path::PathBuf};

use clap::Args;
use metatopia_client_driver::NodeUrl;
use metatopia_types::{LandOrder, Outcome, PublicKey, Refusal, SimId, limits::BEACONS_MAX};
use serde::Serialize;

use super::{desk::OfficeDesk, learned::LearnedWorld, square::WrittenSquare};
use crate::{
    cli::{
        console::Console,
        failure::Failure,
        session::NODE,
        ticket::TicketSecret,
        up::world::{LocalWorld, server_path},
    },
    overlay::OverlayFolder,
};

/// Which square it is about, and who orders it.
#[derive(Debug, Args)]
pub(in crate::cli) struct SquareArgs {
    /// The square, as `metatopia world map` prints it: X:Y:SIDE.
    #[arg(allow_hyphen_values = true)]
    square: WrittenSquare,
    /// Your key file. The holder of the square may order this, unless the help says who else.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// A node that takes part in the world.
    #[arg(long, value_name = "URL", default_value = NODE)]
    node: NodeUrl,
    /// The world that it must be: 64 hexadecimal digits [default: the one that the node names].
    #[arg(long, value_name = "ID")]
    world: Option<SimId>,
    /// A ticket for the land office, if your key is new there and it lets nobody in without one.
    #[arg(long, value_name = "TICKET")]
    ticket: Option<TicketSecret>,
}

/// Arguments of `metatopia world give`.
#[derive(Debug, Args)]
pub(in crate::cli) struct GiveArgs {
    #[command(flatten)]
    grant: SquareArgs,
    /// Who holds the square from then on: 64 hexadecimal digits. The key has logged in at the land office.
    #[arg(long, value_name = "KEY")]
    to: PublicKey,
}

/// Arguments of `metatopia world beacons`.
#[derive(Debug, Args)]
pub(in crate::cli) struct BeaconsArgs {
    #[command(flatten)]
    grant: SquareArgs,
    /// The keys that sign the addresses of the sim from then on, 1 to 4 of 64 hexadecimal digits.
    #[arg(long, value_name = "KEY", value_delimiter = ',', required_unless_present = "of")]
    beacon: Vec<PublicKey>,
    /// Take the keys of the servers in this directory, as `metatopia world claim` made it.
    #[arg(long, value_name = "DIR", conflicts_with = "beacon")]
    of: Option<PathBuf>,
}

/// Arguments of `metatopia world succession`.
#[derive(Debug, Args)]
pub(in crate::cli) struct SuccessionArgs {
    #[command(flatten)]
    grant: SquareArgs,
    /// The directory of the successor, as `metatopia sim succeed` made it.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// What the land office did, as the command prints it.
#[derive(Debug, Serialize)]
struct GrantLine {
    world: String,
    square: String,
    height: u64,
    did: String,
}

impl fmt::Display for GrantLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, square, did, height } = self;
        write!(f, "square {square} {did}\nworld {world}, decided at height {height} and proved")
    }
}

pub(super) async fn give(args: GiveArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::Give { square: args.grant.square.0, holder: args.to };
    let did = format!("is held by {}", args.to);
    carry_out(&args.grant, &[order], did, console).await
}

pub(super) async fn release(args: SquareArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::Release { square: args.square.0 };
    carry_out(&args, &[order], "is nobody's; its sim goes on without it".to_owned(), console).await
}

pub(super) async fn take_back(args: SquareArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::TakeBack { square: args.square.0 };
    carry_out(&args, &[order], "is nobody's again".to_owned(), console).await
}

pub(super) async fn beacons(args: BeaconsArgs, console: Console) -> Result<(), Failure> {
    let beacons = match &args.of {
        Some(dir) => beacons_of(&LocalWorld::open(dir)?)?,
        None => args.beacon,
    };
    if beacons.is_empty() || beacons.len() > BEACONS_MAX {
        let message = format!("{} keys are named, and it takes 1 to {BEACONS_MAX}", beacons.len());
        return Err(Failure::usage(message));
    }
    let did = format!("has {} beacons; what others signed for it is worth nothing", beacons.len());
    let order = LandOrder::SetBeacons { square: args.grant.square.0, beacons };
    carry_out(&args.grant, &[order], did, console).await
}

pub(super) async fn succession(args: SuccessionArgs, console: Console) -> Result<(), Failure> {
    let square = args.grant.square.0;
    let local = LocalWorld::open(&args.to)?;
    let learned = LearnedWorld::from(&args.grant.node, args.grant.world).await?;
    let lies_there = local
        .genesis()
        .site
        .is_some_and(|site| (site.world, site.square) == (learned.sets.world(), square));
    if !lies_there {
        let message = format!("the sim in {} does not lie on that square", args.to.display());
        return Err(Failure::refused(message).hint("`metatopia sim succeed` keeps the square"));
    }
    for index in 0..local.servers().len() {
        learned.keep(&OverlayFolder::at(&server_path(&args.to, index)))?;
    }
    // In this order the command can be given again if only the first one came through.
    let orders = [
        LandOrder::SetBeacons { square, beacons: beacons_of(&local)? },
        LandOrder::Succeed { square, head: local.genesis().head() },
    ];
    let did =
        format!("is of sim {}, run by: metatopia up --data-dir {}", local.sim(), args.to.display());
    carry_out(&args.grant, &orders, did, console).await
}

/// Returns the beacon keys of the servers in a directory.
///
/// # Errors
/// When a file of theirs cannot be read.
pub(super) fn beacons_of(local: &LocalWorld) -> Result<Vec<PublicKey>, Failure> {
    use metatopia_types::Sign as _;
    let mut beacons = Vec::new();
    for index in 0..local.servers().len() {
        let folder = OverlayFolder::at(&server_path(local.path(), index));
        let key = folder.beacon_key().map_err(|error| Failure::failed(error.to_string()))?;
        beacons.extend(key.map(|key| key.public()));
    }
    Ok(beacons)
}

/// Has the land office decide these orders, one after the other, and says what they did.
async fn carry_out(
    args: &SquareArgs,
    orders: &[LandOrder],
    did: String,
    console: Console,
) -> Result<(), Failure> {
    let learned = LearnedWorld::from(&args.node, args.world).await?;
    let by = (args.key.clone(), args.ticket.clone());
    let mut desk = OfficeDesk::open(&learned, &args.node, by, console).await?;
    let mut decided = 0;
    for order in orders {
        let (height, outcome) = desk.order(order).await?;
        decided = height;
        if let Outcome::Refused(why) = outcome {
            desk.close().await;
            return Err(refused(args, order, why));
        }
    }
    desk.close().await;
    let (world, square) = (learned.sets.world().to_string(), args.square.to_string());
    console.show(&GrantLine { world, square, height: decided, did })
}

/// Returns the failure of an order that the land office refused, with what to do.
fn refused(args: &SquareArgs, order: &LandOrder, why: Refusal) -> Failure {
    let failure =
        Failure::refused(format!("the land office refused it for {}: {why}", args.square));
    match (why, order) {
        (Refusal::NoGrant, _) => {
            failure.hint("`metatopia world map` shows which squares there are")
        }
        (Refusal::NotYours, _) => {
            failure.hint("use the key file of its holder, whom the map names")
        }
        (Refusal::BeaconsWait(_), LandOrder::SetBeacons { .. }) => {
            failure.hint("nothing was changed; to leave out a beacon needs no wait")
        }
        (Refusal::NoPlayer, LandOrder::Give { .. }) => failure
            .hint("whoever gets land logs in at the land office once: `metatopia world visit`"),
        _ => failure,
    }
}
