//! `world new` founds a world.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use clap::Args;
use metatopia_audit::tools;
use metatopia_scenarios::{Place, plaza};
use metatopia_sim::{Area, FirstLogin, Parameters, Publishers, World, is_name};
use metatopia_types::{OfficeFounding, SimId, Square, TilePoint};
use serde::Serialize;

use super::square::{WrittenSquare, around, side};
use crate::cli::{
    console::Console,
    failure::Failure,
    folder::folder_name,
    place::folder::PlaceFolder,
    up::{
        self,
        world::{ADMIN_KEY, Beginning, Founders, LocalWorld},
    },
};

/// The walls around the plaza of the program. A sim of a world has none of them: people walk to its edges,
/// and over them to the neighbours.
const PLAZA_WALLS: [&str; 4] = ["north wall", "south wall", "east wall", "west wall"];

/// What a sim of a world is founded from.
#[derive(Debug, Args)]
pub(in crate::cli) struct FoundingArgs {
    /// The folder of the place that the sim is founded of [default: plaza, which is part of the program].
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) place: Option<PathBuf>,
    /// How many servers the sim has.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=31))]
    pub(in crate::cli) servers: u32,
    /// The side of its square in metres: 64, 128, 256, 512 or 1024.
    #[arg(long, default_value = "256", value_name = "METRES", value_parser = side)]
    pub(in crate::cli) side: u8,
    /// Whom the sim lets in: open, work, invite or closed [default: what the place says, or open].
    #[arg(long, value_name = "RULE", value_parser = up::first_login)]
    pub(in crate::cli) first_login: Option<FirstLogin>,
    /// The name of the sim [default: that of the place, or of the directory].
    #[arg(long)]
    pub(in crate::cli) name: Option<String>,
    /// From sims of how few servers things come over a border [default: what the place says, or 4].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=31))]
    pub(in crate::cli) things_from_servers: Option<u32>,
}

impl FoundingArgs {
    /// Reads the place.
    ///
    /// # Errors
    /// When the folder is no place.
    pub(super) fn place(&self) -> Result<Place, Failure> {
        match &self.place {
            None => Ok(plaza::place()),
            Some(dir) => PlaceFolder::read(dir)?.place().map_err(|mistakes| up::wrong(&mistakes)),
        }
    }

    /// Returns the genesis of a sim of this place on this square, which names no world yet. A sim of the plaza of
    /// the program is named after its directory: a map would show plazas alone.
    pub(super) fn genesis(
        &self,
        (place, dir): (&Place, &Path),
        founders: &Founders,
        square: Square,
    ) -> metatopia_sim::Genesis {
        let admins = [founders.admin].into();
        let mut genesis = place.genesis(founders.validators.clone(), admins);
        genesis.parameters.ground = Area::of_square(square);
        let rule = self.first_login.or(place.first_login()).unwrap_or(FirstLogin::Open);
        genesis.parameters.first_login = rule;
        genesis.parameters.publishers = place.publishers().unwrap_or(Publishers::Seen);
        if let Some(servers) = self.things_from_servers {
            genesis.parameters.things_from_servers = servers;
        }
        let folder = folder_name(dir);
        let folder = folder.filter(|name| self.place.is_none() && is_name(name));
        if let Some(name) = self.name.as_deref().or(folder.as_deref()) {
            name.clone_into(&mut genesis.name);
        }
        if self.place.is_none() {
            genesis.objects.retain(|object| !PLAZA_WALLS.contains(&object.name.as_str()));
        }
        genesis
    }
}

/// Checks that a sim can begin with this genesis.
///
/// # Errors
/// When it breaks a rule: what stands on the place is outside of the square, say.
pub(super) fn check(genesis: &metatopia_sim::Genesis) -> Result<(), Failure> {
    World::genesis(genesis, &tools())
        .map(drop)
        .map_err(|error| Failure::usage(format!("this place cannot lie there: {error}")))
}

/// Arguments of `metatopia world new`.
#[derive(Debug, Args)]
pub(in crate::cli) struct NewWorldArgs {
    /// The new directory of the world's first sim.
    dir: PathBuf,
    #[command(flatten)]
    founding: FoundingArgs,
    /// Squares that one key may hold [default: 2].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    land_per_key: Option<u32>,
}

/// A world that was founded, as the command prints it.
#[derive(Debug, Serialize)]
struct FoundedWorld {
    world: String,
    name: String,
    square: String,
    servers: u32,
    data_dir: String,
}

impl fmt::Display for FoundedWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, name, square, servers, data_dir } = self;
        writeln!(f, "{name} founds world {world}")?;
        writeln!(f, "its own square is {square}\n")?;
        let servers =
            if *servers == 1 { "server".to_owned() } else { format!("{servers} servers") };
        writeln!(f, "run its {servers} with: metatopia up --data-dir {data_dir}")?;
        write!(f, "the key of its admin is {data_dir}/{ADMIN_KEY}")
    }
}

pub(super) fn run(args: &NewWorldArgs, console: Console) -> Result<(), Failure> {
    let land = |parameters: &mut Parameters| {
        if let Some(count) = args.land_per_key {
            parameters.land_per_key = count;
        }
    };
    let (world, name, square) = found(&args.dir, &args.founding, land)?;
    console.show(&FoundedWorld {
        world: world.to_string(),
        name,
        square: WrittenSquare(square).to_string(),
        servers: args.founding.servers,
        data_dir: args.dir.display().to_string(),
    })
}

/// Founds a world in a new directory, whose land office has its rules changed like this. Returns its id, the
/// name of its land office, and that one's square.
///
/// # Errors
/// When the directory is not empty, or the place cannot lie there.
pub(in crate::cli) fn found(
    dir: &Path,
    founding: &FoundingArgs,
    change: impl FnOnce(&mut Parameters),
) -> Result<(SimId, String, Square), Failure> {
    let place = founding.place()?;
    let square = around(TilePoint::default(), founding.side);
    let mut founded = None;
    let make = |founders: Founders| {
        let mut genesis = founding.genesis((&place, dir), &founders, square);
        let Founders { admin, beacons, .. } = founders;
        genesis.office = Some(OfficeFounding { square, holder: admin, beacons });
        change(&mut genesis.parameters);
        check(&genesis)?;
        founded = Some((genesis.id(), genesis.name.clone(), square));
        Ok(Beginning { genesis, state: None })
    };
    LocalWorld::create(dir, founding.servers as usize, true, make)?;
    Ok(founded.expect("what was made was founded"))
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Sign as _, SigningKey};

    use super::*;

    /// Nobody could walk from the plaza of a grid to the next one: it had walls on all sides.
    #[test]
    fn a_plaza_of_a_world_has_no_walls_around_it() {
        let founding = FoundingArgs {
            place: None,
            servers: 1,
            side: 2,
            first_login: None,
            name: None,
            things_from_servers: None,
        };
        let admin = SigningKey::from_seed([1; 32]).public();
        let (validators, beacons) = (Default::default(), Vec::new());
        let founders = Founders { validators, admin, beacons };
        let (place, square) = (plaza::place(), Square { x: 0, y: 0, doublings: 2 });
        let names = |genesis: &metatopia_sim::Genesis| -> Vec<String> {
            genesis.objects.iter().map(|object| object.name.clone()).collect()
        };
        let whole = names(&place.genesis(Default::default(), [admin].into()));
        let open =
            names(&founding.genesis((&place, Path::new("worlds/garden")), &founders, square));
        let is_wall = |name: &String| PLAZA_WALLS.contains(&name.as_str());
        assert_eq!(whole.iter().filter(|name| is_wall(name)).count(), PLAZA_WALLS.len());
        assert_eq!(open.len() + PLAZA_WALLS.len(), whole.len());
        assert!(!open.iter().any(is_wall));
    }

    /// A map of a young world showed one plaza beside the other.
    #[test]
    fn a_sim_that_nobody_named_is_named_after_its_directory() {
        let admin = SigningKey::from_seed([1; 32]).public();
        let place = plaza::place();
        let square = Square { x: 0, y: 0, doublings: 2 };
        let name_of = |name: Option<&str>, own_place: Option<&str>, dir: &str| {
            let founding = FoundingArgs {
                place: own_place.map(PathBuf::from),
                servers: 1,
                side: 2,
                first_login: None,
                name: name.map(str::to_owned),
                things_from_servers: None,
            };
            let founders = Founders { validators: Default::default(), admin, beacons: Vec::new() };
            founding.genesis((&place, Path::new(dir)), &founders, square).name
        };
        assert_eq!(name_of(None, None, "worlds/garden"), "garden");
        assert_eq!(name_of(Some("Eden"), None, "worlds/garden"), "Eden");
        // A folder of a place has a name of its own, and some directories have none.
        assert_eq!(name_of(None, Some("house"), "worlds/garden"), place.name());
        assert_eq!(name_of(None, None, "/"), place.name());
        assert_eq!(name_of(None, None, &"x".repeat(33)), place.name());
    }
}
