//! `world map` shows a world's sims, owners and people.

use std::{collections::BTreeMap, fmt, fmt::Write as _, fs, path::PathBuf};

use clap::Args;
use metatopia_client::text::printable;
use metatopia_client_driver::http;
use metatopia_types::{LandGrant, Square, TilePoint};
use serde::Serialize;
use tokio::sync::watch;

use super::{
    find::{AskArgs, written},
    learned::{LearnedWorld, unanswered},
    member::{self, MemberPlan},
};
use crate::{
    cli::{console::Console, failure::Failure},
    overlay::{
        OfficeSets,
        answers::{MapAnswer, MapEntry, MapSite, SquareEntry, unhex},
    },
};

/// Pixels of a tile in a picture.
const TILE_PIXELS: i32 = 16;

/// Characters of a sim's name on the map.
const NAME_COLUMNS: usize = 20;

/// Arguments of `metatopia world map`.
#[derive(Debug, Args)]
pub(in crate::cli) struct MapArgs {
    #[command(flatten)]
    ask: AskArgs,
    /// Write the map as a picture.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The map, as the command prints it.
#[derive(Debug, Serialize)]
struct MapLines {
    world: String,
    oldest: Option<MapEntry>,
    sites: Vec<MapSite>,
}

impl fmt::Display for MapLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "world {}", self.world)?;
        if let Some(MapEntry { height, .. }) = self.oldest {
            write!(f, ", by its map of height {height} and later")?;
        }
        writeln!(
            f,
            "\n{:<14} {:<20} {:<16} {:<16} {:>6}  at",
            "square", "name", "sim", "holder", "people"
        )?;
        for site in &self.sites {
            let SquareEntry { x, y, side } = site.grant.square;
            let people = site.people.map_or_else(|| "?".to_owned(), |people| people.to_string());
            let at = site.endpoints.iter().find_map(|endpoint| endpoint.http.clone());
            let at = at.map_or_else(|| "not met".to_owned(), |at| printable(&at));
            writeln!(
                f,
                "{:<14} {:<20} {:<16} {:<16} {people:>6}  {at}",
                written(x, y, side),
                called(site),
                &site.grant.sim[..16.min(site.grant.sim.len())],
                &site.grant.holder[..16.min(site.grant.holder.len())],
            )?;
        }
        write!(f, "{} squares are granted, as far as is known here", self.sites.len())
    }
}

pub(super) async fn run(args: MapArgs, console: Console) -> Result<(), Failure> {
    let (world, answer, proved) = match &args.ask.data_dir {
        None => {
            let node = &args.ask.node;
            let learned = LearnedWorld::from(node, args.ask.world).await?;
            let answer: MapAnswer = http::get(node.join("/api/world/map"))
                .await
                .map_err(|error| unanswered(node, &error))?;
            let proved = prove_all(&learned.sets, &answer)?;
            (learned.sets.world(), answer, proved)
        }
        Some(dir) => {
            let (stop, stopped) = watch::channel(false);
            let plan = MemberPlan::guest(TilePoint::default(), args.ask.lan);
            let place = member::start(dir, plan, stopped).await?;
            let origin = place.sets().head().office.as_ref().map(|office| office.square);
            let around = origin.map(TilePoint::corner).unwrap_or_default();
            // Whoever answers shows the map about that point.
            super::find::ask(&place, around).await?;
            let answer = place.map().await;
            let answer = answer.ok_or_else(|| Failure::timed_out("the member does not answer"))?;
            let proved = prove_all(place.sets(), &answer)?;
            drop(stop);
            (place.sets().world(), answer, proved)
        }
    };
    let MapAnswer { sites, oldest, .. } = answer;
    for site in &sites {
        check_site(site, &proved)?;
    }
    if let Some(path) = &args.svg {
        let picture = svg(&sites);
        fs::write(path, picture)
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        console.note(&format!("the map is in {}", path.display()));
    }
    console.show(&MapLines { world: world.to_string(), oldest, sites })
}

/// Opens all proofs of a map. Returns the grants by their corners.
///
/// # Errors
/// When a proof does not hold.
pub(super) fn prove_all(
    sets: &OfficeSets,
    answer: &MapAnswer,
) -> Result<BTreeMap<(i32, i32), LandGrant>, Failure> {
    let not_so = |why: String| Failure::unverified(format!("the map does not hold: {why}"));
    let proofs: Option<Vec<Vec<u8>>> = answer.proofs.iter().map(|proof| unhex(proof)).collect();
    let proofs = proofs.ok_or_else(|| not_so("a proof is no text of bytes".to_owned()))?;
    let proved = sets.prove_map(&proofs).map_err(|error| not_so(error.to_string()))?;
    let grants = proved.grants.into_iter();
    Ok(grants.map(|grant| ((grant.square.x, grant.square.y), grant)).collect())
}

/// Checks that a square of the map is in one of its proofs.
///
/// # Errors
/// When it is in none.
pub(super) fn check_site(
    site: &MapSite,
    proved: &BTreeMap<(i32, i32), LandGrant>,
) -> Result<(), Failure> {
    let SquareEntry { x, y, side } = site.grant.square;
    let is_so = proved.get(&(x, y)).is_some_and(|grant| {
        grant.sim.to_string() == site.grant.sim
            && grant.holder.to_string() == site.grant.holder
            && SquareEntry::from(grant.square).side == side
    });
    if is_so {
        return Ok(());
    }
    let message = format!("no proof of the map shows square {}", written(x, y, side));
    Err(Failure::unverified(message))
}

/// Returns what a site is called, as it says itself: fit to be shown, and cut to a column.
fn called(site: &MapSite) -> String {
    let label = site.label.as_deref().unwrap_or("?");
    printable(label).chars().take(NAME_COLUMNS).collect()
}

/// Returns a text as XML holds it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Draws the map: a square for each sim, with what it is called and its people.
fn svg(sites: &[MapSite]) -> String {
    let tiles = |site: &MapSite| (site.grant.square.side / 32).cast_signed();
    let squares = || sites.iter().map(|site| (site.grant.square, tiles(site)));
    let west = squares().map(|(square, _)| square.x).min().unwrap_or_default() - 1;
    let north = squares().map(|(square, side)| square.y + side).max().unwrap_or_default() + 1;
    let east = squares().map(|(square, side)| square.x + side).max().unwrap_or_default() + 1;
    let south = squares().map(|(square, _)| square.y).min().unwrap_or_default() - 1;
    let (width, height) = ((east - west) * TILE_PIXELS, (north - south) * TILE_PIXELS);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    for site in sites {
        let (square, side) = (site.grant.square, tiles(site) * TILE_PIXELS);
        let x = (square.x - west) * TILE_PIXELS;
        let y = (north - square.y) * TILE_PIXELS - side;
        let fill = if site.met { "#cfe8cf" } else { "#e4e4e4" };
        let name = escaped(&called(site));
        let people = site.people.map_or_else(String::new, |people| format!("{people} people"));
        // A String takes all that is written.
        let _ = writeln!(
            text,
            "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" \
             fill=\"{fill}\" stroke=\"#444\"/><text x=\"{}\" y=\"{}\">{name}</text><text x=\"{}\" \
             y=\"{}\">{people}</text></g>",
            site.grant.sim,
            x + 4,
            y + 16,
            x + 4,
            y + 32,
        );
    }
    text.push_str("</svg>\n");
    text
}

/// Returns the squares of a map.
pub(super) fn squares(answer: &MapAnswer) -> Vec<(String, Square)> {
    let square = |site: &MapSite| {
        let SquareEntry { x, y, side } = site.grant.square;
        let written: super::square::WrittenSquare = written(x, y, side).parse().ok()?;
        Some((site.grant.sim.clone(), written.0))
    };
    answer.sites.iter().filter_map(square).collect()
}
