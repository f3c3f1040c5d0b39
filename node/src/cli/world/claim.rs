//! `world claim` claims land for a new sim, and `world vouch` vouches for a claim.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use metatopia_client_driver::NodeUrl;
use metatopia_sim::Genesis;
use metatopia_types::{
    LandGrant, LandOrder, LandSponsor, Outcome, PublicKey, Refusal, Sign as _, SigningKey, SimId,
    Site, Square, overlap, wire,
};
use serde::Serialize;

use super::{
    desk::OfficeDesk,
    found::FoundingArgs,
    grant::beacons_of,
    learned::{LearnedWorld, asked_map},
    map,
    square::{Edge, WrittenSquare, beside},
};
use crate::{
    cli::{
        console::Console,
        failure::Failure,
        passphrase::PassphraseArgs,
        session::NODE,
        ticket::TicketSecret,
        up::world::{ADMIN_KEY, Beginning, Founders, LocalWorld, kept_servers, server_path},
    },
    keys,
    overlay::{
        OfficeSets, OverlayFolder,
        answers::{MapAnswer, hex, unhex},
    },
};

/// The longest text of somebody who vouches, in bytes of its content.
const VOUCH_BYTES_MAX: usize = 128;

/// Arguments of `metatopia world claim`.
#[derive(Debug, Args)]
pub(in crate::cli) struct WorldClaimArgs {
    /// The directory of the new sim. If a claim for it failed before, it is made again.
    dir: PathBuf,
    /// A node that takes part in the world.
    #[arg(long, value_name = "URL", default_value = NODE)]
    node: NodeUrl,
    /// The world that it must be: 64 hexadecimal digits [default: the one that the node names].
    #[arg(long, value_name = "ID")]
    world: Option<SimId>,
    /// Beside which sim: 64 hexadecimal digits [default: the land office].
    #[arg(long, value_name = "SIM")]
    beside: Option<SimId>,
    /// At which edge of that sim.
    #[arg(long, value_enum, value_name = "EDGE")]
    edge: Edge,
    /// Claim the first square on that side, and no other one if it is taken.
    #[arg(long)]
    only: bool,
    #[command(flatten)]
    founding: FoundingArgs,
    /// The key file of somebody who holds land beside the square, or of an admin of the land office.
    #[arg(long, value_name = "FILE", conflicts_with = "vouch")]
    sponsor: Option<PathBuf>,
    #[command(flatten)]
    words: PassphraseArgs,
    /// What such a person made by `metatopia world vouch`.
    #[arg(long, value_name = "TEXT")]
    vouch: Option<VouchText>,
    /// Make the directory, print what to ask somebody to vouch for, and claim nothing yet.
    #[arg(long)]
    ask: bool,
    /// A ticket for the land office, if it lets nobody in without one.
    #[arg(long, value_name = "TICKET")]
    ticket: Option<TicketSecret>,
}

/// Arguments of `metatopia world vouch`.
#[derive(Debug, Args)]
pub(in crate::cli) struct VouchArgs {
    /// Your key file: you hold land beside the square, or are an admin of the land office.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    words: PassphraseArgs,
    /// The world of the square: 64 hexadecimal digits.
    #[arg(long, value_name = "ID")]
    world: SimId,
    /// What the other one wants to claim, as `metatopia world claim --ask` prints it.
    #[arg(long, value_name = "SIM:X:Y:SIDE:CLAIMER")]
    claim: ClaimText,
}

/// The word of somebody who vouches, as text.
#[derive(Clone, Debug)]
pub(in crate::cli) struct VouchText(LandSponsor);

impl FromStr for VouchText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = unhex(text).and_then(|bytes| wire::decode(&bytes, VOUCH_BYTES_MAX).ok());
        bytes.map(Self).ok_or_else(|| "`metatopia world vouch` prints such a text".to_owned())
    }
}

/// What somebody wants to claim, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct ClaimText {
    sim: SimId,
    square: Square,
    claimer: PublicKey,
}

impl fmt::Display for ClaimText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.sim, WrittenSquare(self.square), self.claimer)
    }
}

impl FromStr for ClaimText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a claim looks like SIM:X:Y:SIDE:CLAIMER".to_owned();
        let (sim, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (square, claimer) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let square: WrittenSquare = square.parse()?;
        Ok(Self {
            sim: sim.parse().map_err(|_| wrong())?,
            square: square.0,
            claimer: claimer.parse().map_err(|_| wrong())?,
        })
    }
}

/// A text of somebody who vouches, as the command prints it.
#[derive(Debug, Serialize)]
struct Vouched {
    vouch: String,
}

impl fmt::Display for Vouched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.vouch)
    }
}

pub(super) fn vouch(args: &VouchArgs, console: Console) -> Result<(), Failure> {
    let key = args.words.open(&args.key)?;
    let ClaimText { sim, square, claimer } = &args.claim;
    let sponsor = LandSponsor::new(&key, args.world, *sim, *square, claimer);
    console.show(&Vouched { vouch: hex(&wire::encode(&sponsor)) })
}

/// What is to be vouched for, as the command prints it.
#[derive(Debug, Serialize)]
struct AskedClaim {
    world: String,
    claim: String,
}

impl fmt::Display for AskedClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "ask somebody who holds land beside it, or an admin of the land office, for:")?;
        write!(
            f,
            "  metatopia world vouch --key THEIR.key --world {} --claim {}\n\
             then claim it with the text that this prints: the same command with --vouch TEXT in \
             place of --ask",
            self.world, self.claim
        )
    }
}

/// A square that was granted, as the command prints it.
#[derive(Debug, Serialize)]
struct ClaimedSquare {
    world: String,
    sim: String,
    name: String,
    square: String,
    height: u64,
    data_dir: String,
}

impl fmt::Display for ClaimedSquare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, sim, name, square, data_dir, .. } = self;
        writeln!(f, "{name} holds square {square} of world {world}")?;
        writeln!(f, "it is sim {sim}\n")?;
        writeln!(f, "run it with: metatopia up --data-dir {data_dir}")?;
        write!(f, "the key of its admin is {data_dir}/{ADMIN_KEY}")
    }
}

/// A claim in the making: the world, and who vouches for it.
struct ClaimDesk<'a> {
    args: &'a WorldClaimArgs,
    learned: LearnedWorld,
    admin: SigningKey,
    sponsor: Option<SigningKey>,
    console: Console,
}

pub(super) async fn run(args: WorldClaimArgs, console: Console) -> Result<(), Failure> {
    let learned = LearnedWorld::from(&args.node, args.world).await?;
    let world = learned.sets.world();
    let (squares, edge) = candidates(&args, &learned).await?;
    // A directory is made once: before that, all is read that may be missing.
    let sponsor = args.sponsor.as_deref().map(|file| args.words.open(file)).transpose()?;
    let local = open_or_found(&args, &learned, squares[0])?;
    let square = site_of(local.genesis(), world)?;
    check_begun(&args.dir, square, &edge)?;
    if args.ask {
        let admin = keys::load(&args.dir.join(ADMIN_KEY))?;
        let claim = ClaimText { sim: local.sim(), square, claimer: admin.public() };
        return console.show(&AskedClaim { world: world.to_string(), claim: claim.to_string() });
    }
    console.show(&have_granted(&args, learned, (local, sponsor), squares, console).await?)
}

/// Claims this very square by way of a node, for a sim of this founding, for which an admin of the land
/// office vouches by a key file.
///
/// # Errors
/// When it is not granted.
pub(in crate::cli) async fn claim_at(
    (dir, node, sponsor): (PathBuf, NodeUrl, PathBuf),
    founding: FoundingArgs,
    square: Square,
    console: Console,
) -> Result<(), Failure> {
    let args = WorldClaimArgs {
        dir,
        node,
        world: None,
        edge: Edge::East,
        beside: None,
        only: true,
        founding,
        sponsor: None,
        words: PassphraseArgs::default(),
        vouch: None,
        ask: false,
        ticket: None,
    };
    let learned = LearnedWorld::from(&args.node, None).await?;
    let sponsor = Some(keys::load(&sponsor)?);
    let local = open_or_found(&args, &learned, square)?;
    have_granted(&args, learned, (local, sponsor), vec![square], console).await.map(drop)
}

/// Has the land office grant the square of a sim, or one of these.
async fn have_granted(
    args: &WorldClaimArgs,
    learned: LearnedWorld,
    (local, sponsor): (LocalWorld, Option<SigningKey>),
    squares: Vec<Square>,
    console: Console,
) -> Result<ClaimedSquare, Failure> {
    let path = args.dir.join(ADMIN_KEY);
    let admin = keys::load(&path)?;
    let by = (path, SigningKey::from_seed(*admin.secret()), args.ticket.clone());
    let mut office = OfficeDesk::open(&learned, &args.node, by, console).await?;
    let desk = ClaimDesk { args, learned, admin, sponsor, console };
    let claimed = desk.claim(&mut office, local, squares).await;
    office.close().await;
    claimed
}

/// Returns the square that a sim of this world was founded for.
fn site_of(genesis: &Genesis, world: SimId) -> Result<Square, Failure> {
    let site = genesis.site.filter(|site| site.world == world);
    let message = "the sim in this directory lies in no world, or in another one";
    let hint = "name a new directory for the sim of the square";
    site.map(|site| site.square).ok_or_else(|| Failure::refused(message).hint(hint))
}

/// Checks that a directory is of a claim at this edge: of one that begins, or goes on.
///
/// # Errors
/// When its sim was founded for a square that is none of those at the edge.
fn check_begun(dir: &Path, own: Square, edge: &[Square]) -> Result<(), Failure> {
    if edge.contains(&own) {
        return Ok(());
    }
    let (dir, own) = (dir.display(), WrittenSquare(own));
    let message = format!(
        "{dir} holds a sim that was founded for square {own}, which is none of that size at that edge"
    );
    Err(Failure::refused(message).hint(
        "to go on with its claim, give --beside, --edge and --side as before; to claim another \
         square, name a new directory",
    ))
}

/// Returns the squares that may be claimed, those that are proved to be taken left out, and all that lie at the
/// edge: a claim that goes on may be for one that was granted to it. A node that shows an
/// old map, or a part of it, costs a refusal by the land office, which decides each claim itself.
async fn candidates(
    args: &WorldClaimArgs,
    learned: &LearnedWorld,
) -> Result<(Vec<Square>, Vec<Square>), Failure> {
    let told = asked_map(&args.node).await?;
    let known = proved_grants(&learned.sets, told)?;
    let office = learned.sets.head().office.as_ref().map(|office| office.square);
    let of = match args.beside.filter(|of| *of != learned.sets.world()) {
        None => office,
        Some(sim) => known.iter().find(|grant| grant.sim == sim).map(|grant| grant.square),
    };
    let Some(of) = of else {
        let message = "that sim is not on the map, as far as the node proves it";
        return Err(Failure::not_found(message)
            .hint("a square that was granted just now is there in a minute: ask again"));
    };
    let edge = beside(of, args.edge, args.founding.side);
    let Some(first) = edge.first().copied() else {
        let message = format!("no square of that size touches {} on that side", WrittenSquare(of));
        return Err(Failure::usage(message).hint("name another --side or --edge"));
    };
    let is_free = |square: &Square| known.iter().all(|grant| !overlap(grant.square, *square));
    let mut squares: Vec<Square> = edge.iter().copied().filter(is_free).collect();
    if squares.is_empty() || args.only {
        // Who wants only this square learns from the land office who has it.
        squares = vec![first];
    }
    Ok((squares, edge))
}

/// Returns what a map proves to be granted.
///
/// # Errors
/// When a proof does not hold, or the node tells of a square that no proof shows.
fn proved_grants(sets: &OfficeSets, told: MapAnswer) -> Result<Vec<LandGrant>, Failure> {
    let proved = map::prove_all(sets, &told)?;
    map::listed(&proved, told.sites)?;
    Ok(proved.grants)
}

/// Opens the sim of an earlier try, or founds one for this square, and writes what its servers need of the
/// world.
fn open_or_found(
    args: &WorldClaimArgs,
    learned: &LearnedWorld,
    square: Square,
) -> Result<LocalWorld, Failure> {
    let world = learned.sets.world();
    LocalWorld::finish(&args.dir)?;
    if kept_servers(&args.dir)?.is_none() {
        let place = args.founding.place()?;
        let make = |founders: Founders| {
            let mut genesis = args.founding.genesis((&place, &args.dir), &founders, square);
            genesis.site = Some(Site { world, square });
            super::found::check(&genesis)?;
            Ok(Beginning { genesis, state: None })
        };
        LocalWorld::create(&args.dir, args.founding.servers as usize, true, make)?;
    }
    let local = LocalWorld::open(&args.dir)?;
    site_of(local.genesis(), world)?;
    for index in 0..local.servers().len() {
        learned.keep(&OverlayFolder::at(&server_path(&args.dir, index)))?;
    }
    Ok(local)
}

impl ClaimDesk<'_> {
    /// Claims the square of the sim, and the next one as long as others were faster.
    async fn claim(
        &self,
        office: &mut OfficeDesk,
        mut local: LocalWorld,
        squares: Vec<Square>,
    ) -> Result<ClaimedSquare, Failure> {
        let world = self.learned.sets.world();
        let own = site_of(local.genesis(), world)?;
        let others = squares.into_iter().filter(|square| *square != own);
        let mut left = others.collect::<std::collections::VecDeque<_>>();
        loop {
            let square = site_of(local.genesis(), world)?;
            let (height, outcome) = self.submit(office, &local, square).await?;
            let why = match outcome {
                // The land office granted it to this very sim before.
                Outcome::Refused(Refusal::LandTaken(by)) if by == local.sim() => {
                    return Ok(self.granted(&local, square, height));
                }
                Outcome::Refused(why) => why,
                _ => return Ok(self.granted(&local, square, height)),
            };
            let named = WrittenSquare(square);
            let taken = matches!(why, Refusal::LandTaken(_));
            let next = left.pop_front().filter(|_| taken && !self.args.only);
            let Some(next) = next else {
                let refused = Failure::refused(format!("square {named} was refused: {why}"));
                return Err(match why {
                    Refusal::LandTaken(_) => {
                        refused.hint("`metatopia world map` shows what is free: try another --edge")
                    }
                    Refusal::SponsorUsed => refused
                        .hint("another holder beside it may vouch, or an admin of the land office"),
                    Refusal::NoSponsor => refused
                        .hint("somebody beside it vouches by `metatopia world vouch`: see --ask"),
                    _ => refused,
                });
            };
            if local.has_run() {
                let dir = self.args.dir.display();
                let message = format!(
                    "square {named} was refused: {why}; the sim in {dir} has run, and its genesis \
                     names that square"
                );
                return Err(Failure::refused(message)
                    .hint("it runs on without land; claim another square with a new directory"));
            }
            self.console.warn(&format!(
                "square {named} was refused: {why}; going on with {}",
                WrittenSquare(next)
            ));
            let mut genesis = local.genesis().clone();
            genesis.site = Some(Site { world, square: next });
            local = local.refound(genesis)?;
        }
    }

    fn granted(&self, local: &LocalWorld, square: Square, height: u64) -> ClaimedSquare {
        ClaimedSquare {
            world: self.learned.sets.world().to_string(),
            sim: local.sim().to_string(),
            name: local.name().to_owned(),
            square: WrittenSquare(square).to_string(),
            height,
            data_dir: self.args.dir.display().to_string(),
        }
    }

    /// Has the land office decide the claim of a square.
    async fn submit(
        &self,
        office: &mut OfficeDesk,
        local: &LocalWorld,
        square: Square,
    ) -> Result<(u64, Outcome), Failure> {
        let (world, sim, claimer) = (self.learned.sets.world(), local.sim(), self.admin.public());
        let sponsor = match (&self.sponsor, &self.args.vouch) {
            (Some(key), _) => Some(LandSponsor::new(key, world, sim, square, &claimer)),
            (None, Some(VouchText(sponsor))) => Some(*sponsor),
            (None, None) => None,
        };
        let beacons = beacons_of(local.path(), local.servers().len())?;
        let order = LandOrder::Claim { head: local.genesis().head(), beacons, sponsor };
        office.order(&order).await
    }
}

#[cfg(test)]
mod tests;
