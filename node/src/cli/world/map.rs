//! `world map` shows a world's sims, owners and people.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{ArgAction, Args};
use metatopia_client::{ProvedMap, text::printable};
use metatopia_client_driver::NodeUrl;
use metatopia_text_client::ONE_DOOR;
use metatopia_types::{LandGrant, ProvedLand, SimId, TilePoint};
use serde::Serialize;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    find::{AGAIN, AskArgs, SERVER_PATIENCE, written},
    invite::{self, counted},
    learned::{LearnedWorld, OLD, age_of, aged, asked_map},
    member::{self, MemberPlan},
    picture::MapPicture,
};
use crate::{
    cli::{console::Console, failure::Failure, numbers::number_of},
    overlay::{
        OfficeSets,
        answers::{GrantEntry, MapAnswer, MapEntry, MapSite, SquareEntry, unhex},
        world_invite::WorldInvite,
    },
};

/// Metres of a tile's side.
const TILE_METRES: i64 = 32;

/// Characters of a sim's name on the map.
const NAME_COLUMNS: usize = 20;

/// Arguments of `metatopia world map`.
#[derive(Debug, Args)]
pub(in crate::cli) struct MapArgs {
    #[command(flatten)]
    ask: AskArgs,
    /// Show the map about this point, in tiles of 32 m, and learn it if it is not known yet.
    #[arg(
        long,
        action = ArgAction::Set,
        num_args = 2,
        value_names = ["X", "Y"],
        allow_negative_numbers = true
    )]
    around: Option<Vec<i32>>,
    /// Show the squares so many metres around the point.
    #[arg(long, value_name = "METRES", requires = "around", default_value_t = 2_048)]
    within: u32,
    /// Write the map as a picture: squares with names, holders, licences, people, and the age of each proof.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl MapArgs {
    /// Returns the point about which the map is shown; none for all of it.
    fn point(&self) -> Option<TilePoint> {
        match self.around.as_deref() {
            Some([x, y]) => Some(TilePoint { x: *x, y: *y }),
            _ => None,
        }
    }
}

/// The map, as the command prints it.
#[derive(Debug, Serialize)]
struct MapLines {
    world: String,
    /// The oldest certified state that a part of the map is from.
    oldest: Option<MapEntry>,
    /// How old that is, in seconds.
    age: u64,
    old: bool,
    one_door: bool,
    sites: Vec<MapSite>,
}

impl MapLines {
    fn of(world: SimId, proved: &ProvedMap, sites: Vec<MapSite>, one_door: bool) -> Self {
        let oldest = proved.height.zip(proved.oldest);
        let oldest = oldest.map(|(height, time)| MapEntry { height: height.0, time: time.0 });
        let age = proved.oldest.map(age_of).unwrap_or_default();
        let (world, old) = (world.to_string(), age > OLD);
        Self { world, oldest, age: age.as_secs(), old, one_door, sites }
    }
}

impl MapLines {
    /// Returns them in words. A reason to doubt is amber on a terminal.
    fn words(&self, console: &Console) -> String {
        let mut head = format!("world {}", self.world);
        if let Some(MapEntry { height, .. }) = self.oldest {
            let age = aged(Duration::from_secs(self.age));
            head = format!("{head}, by its map of height {height} and later, {age} old");
        }
        if self.old {
            head = console.amber(&format!("{head}, so much of it may have changed"));
        }
        let mut lines = vec![head];
        if self.one_door {
            lines.push(console.amber(ONE_DOOR));
        }
        lines.push(format!(
            "{:<14} {:<20} {:<16} {:<16} {:<16} {:>6}  at",
            "square", "name", "sim", "holder", "licence", "people"
        ));
        lines.extend(self.sites.iter().map(row));
        let granted = number_of(self.sites.len(), "square is", "squares are");
        lines.push(format!("{granted} granted, as far as is known here"));
        lines.join("\n")
    }
}

/// Returns what a row of the map tells of a site.
fn row(site: &MapSite) -> String {
    let SquareEntry { x, y, side } = site.grant.square;
    let people = site.people.map_or_else(|| "?".to_owned(), |people| people.to_string());
    let licence = printable(site.licence.as_deref().unwrap_or("?"));
    let at = site.endpoints.iter().find_map(|endpoint| endpoint.http.clone());
    let at = at.map_or_else(|| "not heard of".to_owned(), |at| printable(&at));
    format!(
        "{:<14} {:<20} {:<16} {:<16} {licence:<16} {people:>6}  {at}",
        written(x, y, side),
        called(site),
        &site.grant.sim[..16.min(site.grant.sim.len())],
        &site.grant.holder[..16.min(site.grant.holder.len())],
    )
}

/// A map that was asked for, all of which is proved.
#[derive(Debug)]
pub(super) struct AskedMap {
    world: SimId,
    pub(super) proved: ProvedMap,
    /// The proved squares, with what is told of each.
    sites: Vec<MapSite>,
    shelves: Vec<ProvedLand>,
    one_door: bool,
    /// Parts that are left out, because they are older than the invite.
    pub(super) left_out: usize,
}

impl AskedMap {
    /// Opens all proofs of an answer, and holds its sites against them.
    fn of(sets: &OfficeSets, answer: MapAnswer) -> Result<Self, Failure> {
        let proved = prove_all(sets, &answer)?;
        let shelf = |proof: &String| sets.prove(&unhex(proof)?).ok();
        let shelves = answer.proofs.iter().filter_map(shelf).collect();
        let sites = listed(&proved, answer.sites)?;
        let (world, one_door) = (sets.world(), answer.one_door);
        Ok(Self { world, proved, sites, shelves, one_door, left_out: 0 })
    }
}

pub(super) async fn run(args: MapArgs, console: Console) -> Result<(), Failure> {
    let asked = match &args.ask.data_dir {
        None => by_node(&args).await?,
        Some(dir) => by_member(&args, dir).await?,
    };
    let AskedMap { world, proved, mut sites, shelves, one_door, left_out } = asked;
    if proved.height.is_none() {
        return Err(unproved(world));
    }
    if left_out > 0 {
        let parts = number_of(left_out, "part", "parts");
        console.warn(&format!(
            "the map lacks {parts} that the node has: nothing older than the invite counts"
        ));
    }
    if let Some(point) = args.point() {
        sites = near(sites, point, args.within);
    }
    let lines = MapLines::of(world, &proved, sites, one_door);
    if let Some(path) = &args.svg {
        let picture = MapPicture {
            world: &lines.world,
            squares: &dated(&shelves, &lines.sites),
            height: lines.oldest.map(|oldest| oldest.height),
            one_door,
        };
        fs::write(path, picture.to_string())
            .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        console.note(&format!("the map is in {}", path.display()));
    }
    console.show_as(&lines, |console| lines.words(console))
}

/// Returns the failure of a map no part of which is proved: it says nothing about who holds what.
fn unproved(world: SimId) -> Failure {
    Failure::unverified(format!("no part of the map of world {world} is proved yet"))
        .hint("its land office may be away and nobody near has the map; ask again")
}

/// Asks a node, or those of an invite, for the map.
async fn by_node(args: &MapArgs) -> Result<AskedMap, Failure> {
    let AskArgs { node, invite, world, .. } = &args.ask;
    let point = args.point();
    if let Some(invite) = invite {
        return asked_by_invite(invite, *world, point).await;
    }
    let learned = LearnedWorld::from(node, *world).await?;
    AskedMap::of(&learned.sets, asked_about(node, &learned, point).await?)
}

/// Asks the nodes of an invite for the map until one of them proves a part of it that counts.
///
/// # Errors
/// When none has a map that holds.
pub(super) async fn asked_by_invite(
    invite: &WorldInvite,
    world: Option<SimId>,
    point: Option<TilePoint>,
) -> Result<AskedMap, Failure> {
    let ask = async |node: &NodeUrl, learned: LearnedWorld| {
        let answer = asked_about(node, &learned, point).await?;
        let told = answer.proofs.len();
        let counted = counted(&learned.sets, answer, invite.map_from);
        let left_out = told - counted.proofs.len();
        let asked = AskedMap::of(&learned.sets, counted).map_err(|Failure { exit, message }| {
            Failure::new(exit, format!("{node}: {message}"))
        })?;
        Ok(AskedMap { left_out, ..asked })
    };
    invite::ask_each(invite, world, ask, |asked| asked.proved.height.is_some()).await
}

/// Asks a node for the map, which is to be about a point if there is one.
async fn asked_about(
    node: &NodeUrl,
    learned: &LearnedWorld,
    point: Option<TilePoint>,
) -> Result<MapAnswer, Failure> {
    if let Some(point) = point {
        // The node keeps the map about what it is asked for, and shows it where it has it.
        let _kept = super::find::by_learned(node, learned, point).await;
    }
    let until = Instant::now() + SERVER_PATIENCE;
    loop {
        let answer = asked_map(node).await?;
        // A node that just started fetches the map of its own ground.
        if !answer.proofs.is_empty() || Instant::now() >= until {
            return Ok(answer);
        }
        sleep(AGAIN).await;
    }
}

/// Learns the map as a member of the world.
async fn by_member(args: &MapArgs, dir: &Path) -> Result<AskedMap, Failure> {
    let (stop, stopped) = watch::channel(false);
    let plan = MemberPlan::guest(args.point().unwrap_or_default(), args.ask.lan);
    let member = member::start(dir, plan, stopped).await?;
    let place = &member.place;
    let origin = place.sets().head().office.as_ref().map(|office| office.square);
    let origin = origin.map(TilePoint::corner).unwrap_or_default();
    let around = args.point().unwrap_or(origin);
    // Whoever answers shows the map about that point.
    super::find::ask(place, around).await?;
    let answer = place.map().await;
    let answer = answer.ok_or_else(|| Failure::timed_out("the member does not answer"))?;
    let asked = AskedMap::of(place.sets(), answer);
    drop(stop);
    asked
}

/// Returns each site with the age of its proof: that of the newest shelf about its ground.
fn dated(shelves: &[ProvedLand], sites: &[MapSite]) -> Vec<(MapSite, Duration)> {
    let age = |site: &MapSite| {
        let corner = TilePoint { x: site.grant.square.x, y: site.grant.square.y };
        let about = shelves.iter().filter(|shelf| shelf.block.contains(corner));
        let newest = about.max_by_key(|shelf| shelf.height);
        age_of(newest.expect("each site is listed by a shelf that was proved").time)
    };
    sites.iter().map(|site| (site.clone(), age(site))).collect()
}

/// Opens all proofs of a map.
///
/// # Errors
/// When a proof does not hold.
pub(super) fn prove_all(sets: &OfficeSets, answer: &MapAnswer) -> Result<ProvedMap, Failure> {
    let not_so = |why: String| Failure::unverified(format!("the map does not hold: {why}"));
    let proofs: Option<Vec<Vec<u8>>> = answer.proofs.iter().map(|proof| unhex(proof)).collect();
    let proofs = proofs.ok_or_else(|| not_so("a proof is no text of bytes".to_owned()))?;
    sets.prove_map(&proofs).map_err(|error| not_so(error.to_string()))
}

/// Returns one site for each proved square, in their order, with what the node tells of it. A square of
/// which it tells nothing is one that was not met.
///
/// # Errors
/// When it tells of a square that no proof shows.
pub(super) fn listed(proved: &ProvedMap, told: Vec<MapSite>) -> Result<Vec<MapSite>, Failure> {
    let key = |grant: &GrantEntry| {
        let SquareEntry { x, y, side } = grant.square;
        (x, y, side, grant.sim.clone(), grant.holder.clone())
    };
    let mut told: BTreeMap<_, MapSite> =
        told.into_iter().map(|site| (key(&site.grant), site)).collect();
    let site = |grant: &LandGrant| {
        let grant = GrantEntry::from(grant);
        match told.remove(&key(&grant)) {
            Some(site) => MapSite { grant, ..site },
            None => MapSite {
                grant,
                met: false,
                people: None,
                label: None,
                licence: None,
                endpoints: Vec::new(),
            },
        }
    };
    let sites = proved.grants.iter().map(site).collect();
    if let Some(SquareEntry { x, y, side }) = told.values().map(|site| site.grant.square).next() {
        let message = format!("no proof of the map shows square {}", written(x, y, side));
        return Err(Failure::unverified(message));
    }
    Ok(sites)
}

/// Returns what a site is called, as it says itself: fit to be shown, and cut to a column.
fn called(site: &MapSite) -> String {
    let label = site.label.as_deref().unwrap_or("?");
    printable(label).chars().take(NAME_COLUMNS).collect()
}

/// Returns the sites that begin within so many metres of a point.
fn near(mut sites: Vec<MapSite>, point: TilePoint, within: u32) -> Vec<MapSite> {
    let apart = |low: i32, side: u32, at: i32| {
        let (low, at) = (i64::from(low) * TILE_METRES, i64::from(at) * TILE_METRES);
        u128::from((low - at).max(at - low - i64::from(side)).max(0).unsigned_abs())
    };
    sites.retain(|site| {
        let SquareEntry { x, y, side } = site.grant.square;
        let (east, north) = (apart(x, side, point.x), apart(y, side, point.y));
        east * east + north * north <= u128::from(within) * u128::from(within)
    });
    sites
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, Height, Millis, PlaneBlock, PublicKey, Square};

    use super::*;
    use crate::clock::SystemClock;

    fn grant(x: i32) -> LandGrant {
        LandGrant {
            square: Square { x, y: 0, doublings: 0 },
            sim: SimId(Digest([x.unsigned_abs() as u8; 32])),
            holder: PublicKey([1; 32]),
            beacons: vec![PublicKey([2; 32])],
            epoch: 1,
            until: Millis(9),
            shown: Height(3),
        }
    }

    #[test]
    fn a_part_of_the_map_has_the_squares_that_begin_within_so_many_metres() {
        let all = || [-4, 0, 8].map(|x| told(&grant(x))).to_vec();
        let shown = |x, within| {
            let near = near(all(), TilePoint { x, y: 1 }, within);
            near.iter().map(|site| site.grant.square.x).collect::<Vec<_>>()
        };
        assert_eq!(shown(1, 0), [0]);
        assert_eq!(shown(1, 95), [0]);
        assert_eq!(shown(1, 96), [-4, 0]);
        assert_eq!(shown(1, 224), [-4, 0, 8]);
        assert_eq!(shown(i32::MIN, u32::MAX).len(), 0);
    }

    fn told(grant: &LandGrant) -> MapSite {
        MapSite {
            grant: grant.into(),
            met: true,
            people: Some(4),
            label: Some("a place".to_owned()),
            licence: Some("CC0-1.0".to_owned()),
            endpoints: Vec::new(),
        }
    }

    fn proved(grants: Vec<LandGrant>) -> ProvedMap {
        ProvedMap { grants, oldest: Some(Millis(1_000)), height: Some(Height(8)) }
    }

    /// A node left a proved square out of its list, and the square was on no map.
    #[test]
    fn a_proved_square_is_on_the_map_even_if_the_node_tells_nothing_of_it() {
        let (near, far) = (grant(0), grant(2));
        let sites = listed(&proved(vec![near.clone(), far.clone()]), vec![told(&far)]).unwrap();
        let listed: Vec<_> = sites.iter().map(|site| (site.grant.square.x, site.met)).collect();
        assert_eq!(listed, [(0, false), (2, true)]);
        let unproved = super::listed(&proved(vec![near]), vec![told(&far)]).unwrap_err();
        assert_eq!(unproved.message, "no proof of the map shows square 2:0:64");
    }

    /// A map without any proof was "0 squares", and the command ended well.
    #[test]
    fn a_map_of_which_nothing_is_proved_is_a_failure_and_says_what_to_do() {
        let failure = unproved(SimId(Digest([1; 32])));
        assert_eq!(failure.exit, crate::cli::exit::Exit::Unverified);
        assert!(
            failure.message.contains("is proved yet; its land office may be away"),
            "{failure}"
        );
    }

    /// The map said neither how old it was, nor what may be done with what is built there.
    #[test]
    fn the_map_tells_its_proved_age_and_licences_and_warns_of_one_door() {
        let near = grant(0);
        let proved = proved(vec![near.clone()]);
        let lines = MapLines::of(near.sim, &proved, vec![told(&near)], true);
        let text = lines.words(&Console::of_person(false));
        assert!(lines.old && lines.oldest == Some(MapEntry { height: 8, time: 1_000 }));
        assert!(text.contains(" days old, so much of it may have changed"), "{text}");
        assert!(text.contains(ONE_DOOR) && text.contains("CC0-1.0"), "{text}");
        // Both were plain text, where the client and `visit` warn in amber.
        let text = lines.words(&Console::of_person(true));
        let amber: Vec<&str> = text.lines().filter(|line| line.starts_with("\u{1b}[33m")).collect();
        assert_eq!(amber.len(), 2, "{text}");
        assert!(amber[0].contains("so much of it") && amber[1].contains(ONE_DOOR), "{text}");
        let fresh = MapLines { old: false, one_door: false, ..lines };
        assert!(!fresh.words(&Console::of_person(true)).contains('\u{1b}'));
    }

    /// Two parts of a map have two ages, and the picture showed none.
    #[test]
    fn each_square_is_as_old_as_the_newest_part_of_the_map_about_it() {
        let now = SystemClock::default().now().wall;
        let shelf = |block, height, age: u64, grants: &[LandGrant]| ProvedLand {
            block,
            height: Height(height),
            time: Millis(now.0 - age),
            grants: grants.to_vec(),
        };
        let (west, east) = (grant(-4), grant(8));
        let part = PlaneBlock::around(TilePoint { x: 8, y: 0 }, 30);
        let shelves = [
            shelf(PlaneBlock::PLANE, 3, 9_000_000, &[west.clone(), east.clone()]),
            shelf(part, 7, 60_000, std::slice::from_ref(&east)),
        ];
        let dated = dated(&shelves, &[told(&west), told(&east)]);
        let minutes = |n: usize| dated[n].1.as_secs() / 60;
        assert_eq!((minutes(0), minutes(1)), (150, 1));
    }
}
