//! Commands about a square that was granted: give it, release it, name its beacons, pass it to the
//! successor of its sim, and take it back.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_client_driver::NodeUrl;
use metatopia_types::{LandOrder, Outcome, PublicKey, Refusal, SimId, limits::BEACONS_MAX};
use serde::Serialize;

use super::{desk::OfficeDesk, learned::LearnedWorld, square::WrittenSquare};
use crate::{
    cli::{
        console::Console,
        failure::Failure,
        numbers::number_of,
        passphrase::PassphraseArgs,
        session::NODE,
        ticket::TicketSecret,
        up::world::{LocalWorld, kept_servers, server_path},
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
    #[command(flatten)]
    words: PassphraseArgs,
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
    #[serde(flatten)]
    change: GrantChange,
}

/// What became of a square.
#[derive(Debug, Serialize)]
#[serde(tag = "order", rename_all = "kebab-case")]
enum GrantChange {
    Give { holder: String },
    Release,
    TakeBack,
    Beacons { beacons: Vec<String> },
    Succession { sim: String, data_dir: String },
}

impl fmt::Display for GrantChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Give { holder } => write!(f, "is held by {holder}"),
            Self::Release => f.write_str("is nobody's; its sim goes on without it"),
            Self::TakeBack => f.write_str("is nobody's again"),
            Self::Beacons { beacons } => {
                let count = number_of(beacons.len(), "beacon", "beacons");
                write!(f, "has {count}; what others signed for it is worth nothing")
            }
            Self::Succession { sim, data_dir } => {
                write!(f, "is of sim {sim}, run by: metatopia up --data-dir {data_dir}")
            }
        }
    }
}

impl fmt::Display for GrantLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, square, height, change } = self;
        write!(f, "square {square} {change}\nworld {world}, decided at height {height} and proved")
    }
}

pub(super) async fn give(args: GiveArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::Give { square: args.grant.square.0, holder: args.to };
    let change = GrantChange::Give { holder: args.to.to_string() };
    carry_out(&args.grant, &[order], change, console).await
}

pub(super) async fn release(args: SquareArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::Release { square: args.square.0 };
    carry_out(&args, &[order], GrantChange::Release, console).await
}

pub(super) async fn take_back(args: SquareArgs, console: Console) -> Result<(), Failure> {
    let order = LandOrder::TakeBack { square: args.square.0 };
    carry_out(&args, &[order], GrantChange::TakeBack, console).await
}

pub(super) async fn beacons(args: BeaconsArgs, console: Console) -> Result<(), Failure> {
    let beacons = match &args.of {
        Some(dir) => beacons_in(dir)?,
        None => args.beacon,
    };
    if beacons.is_empty() || beacons.len() > BEACONS_MAX {
        let count = number_of(beacons.len(), "key is", "keys are");
        let message = format!("{count} named, and it takes 1 to {BEACONS_MAX}");
        return Err(Failure::usage(message));
    }
    let named = beacons.iter().map(ToString::to_string).collect();
    let change = GrantChange::Beacons { beacons: named };
    let order = LandOrder::SetBeacons { square: args.grant.square.0, beacons };
    carry_out(&args.grant, &[order], change, console).await
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
        LandOrder::SetBeacons { square, beacons: beacons_of(&args.to, local.servers().len())? },
        LandOrder::Succeed { square, head: local.genesis().head() },
    ];
    let data_dir = args.to.display().to_string();
    let change = GrantChange::Succession { sim: local.sim().to_string(), data_dir };
    carry_out(&args.grant, &orders, change, console).await
}

/// Returns the beacon keys of the sim in a directory, which may run: its keys are only read.
///
/// # Errors
/// When it is no directory of a sim, or one of a sim without such keys.
fn beacons_in(dir: &Path) -> Result<Vec<PublicKey>, Failure> {
    let advice = "--of names a directory of `metatopia world claim` or `metatopia world new`";
    let name = dir.display();
    let Some(servers) = kept_servers(dir)? else {
        return Err(Failure::not_found(format!("{name} holds no sim")).hint(advice));
    };
    let beacons = beacons_of(dir, servers)?;
    if beacons.is_empty() {
        let message = format!("no server of the sim in {name} has overlay/beacon.key");
        return Err(Failure::not_found(message).hint(advice));
    }
    Ok(beacons)
}

/// Returns the beacon keys of so many servers in a directory.
///
/// # Errors
/// When a file of theirs cannot be read.
pub(super) fn beacons_of(dir: &Path, servers: usize) -> Result<Vec<PublicKey>, Failure> {
    use metatopia_types::Sign as _;
    let mut beacons = Vec::new();
    for index in 0..servers {
        let folder = OverlayFolder::at(&server_path(dir, index));
        let key = folder.beacon_key().map_err(|error| Failure::failed(error.to_string()))?;
        beacons.extend(key.map(|key| key.public()));
    }
    Ok(beacons)
}

/// Has the land office decide these orders, one after the other, and says what they did.
async fn carry_out(
    args: &SquareArgs,
    orders: &[LandOrder],
    change: GrantChange,
    console: Console,
) -> Result<(), Failure> {
    let key = args.words.open(&args.key)?;
    let learned = LearnedWorld::from(&args.node, args.world).await?;
    let by = (args.key.clone(), key, args.ticket.clone());
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
    console.show(&GrantLine { world, square, height: decided, change })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts had to read English to learn what became of a square.
    #[test]
    fn what_became_of_a_square_is_a_value_for_scripts_and_a_sentence_for_people() {
        let line = |change| GrantLine {
            world: "ab".to_owned(),
            square: "8:0:256".to_owned(),
            height: 9,
            change,
        };
        let json = |change| serde_json::to_string(&line(change)).unwrap();
        let begin = r#"{"world":"ab","square":"8:0:256","height":9,"order":"#;
        assert_eq!(json(GrantChange::Release), format!(r#"{begin}"release"}}"#));
        let give = json(GrantChange::Give { holder: "cd".to_owned() });
        assert_eq!(give, format!(r#"{begin}"give","holder":"cd"}}"#));
        let told = line(GrantChange::Beacons { beacons: vec!["ef".to_owned()] }).to_string();
        assert!(told.starts_with("square 8:0:256 has 1 beacon; "), "{told}");
    }

    /// The beacons of a sim that ran could not be named by its directory, and the advice named a flag that is not
    /// there.
    #[test]
    fn a_directory_without_beacons_is_told_with_what_can_be_named() {
        let scratch = crate::scratch::Scratch::new("no-beacons");
        let told = beacons_in(&scratch.0).unwrap_err();
        assert_eq!(told.exit, crate::cli::exit::Exit::NotFound);
        assert!(told.message.contains("holds no sim; --of names a directory"), "{told}");
    }
}
