//! The map of the world, and the way to another sim on it.

use std::time::Duration;

use metatopia_client::{
    square_of,
    text::{Destination, printable},
    world_of,
};
use metatopia_client_driver::{
    ClientDriver, FirstLoginError, GenesisTrust, MEASURED_MAX, NodeUrl, nearest,
};
use metatopia_types::{Act, Outcome, SimId, Square, TilePoint};

use super::{
    crossing::name_of,
    luggage,
    room::{ActProgress, TextClient},
    rules, watching,
};
use crate::{
    KnownMap, KnownOwner, KnownSim, LineKind, MAP_OLD, TextClientError, aged, world_desk::ONE_DOOR,
};

/// The most sims of a map that are told, the nearest ones: a person reads them line by line.
const MAP_SIMS_MAX: usize = 24;

/// Metres of a tile's side.
const TILE_METRES: i32 = 32;

/// Digits of an id or a key that are told.
const SHORT: usize = 12;

/// Time for the sim that somebody goes to, to say what a login takes.
const ANSWER: Duration = Duration::from_secs(5);

/// What keeps a person where she is: a sentence for her.
type Obstacle = String;

/// Where a person stands in a world, and which node tells of it.
struct Whereabouts {
    world: SimId,
    square: Square,
    node: NodeUrl,
}

/// Tells the map.
pub(super) async fn map(room: &mut TextClient) -> Result<(), TextClientError> {
    let here = match whereabouts(room) {
        Ok(here) => here,
        Err(why) => return room.tell(LineKind::Refused, &why),
    };
    match room.world.map(here.node, here.world).await {
        Ok(map) => {
            map_lines(map, here.square).iter().try_for_each(|(kind, line)| room.tell(*kind, line))
        }
        Err(why) => room.tell(LineKind::Refused, &unmapped(&why)),
    }
}

/// Leaves for another sim of the world. Whoever is not let in there stays here.
pub(super) async fn go_there(
    room: &mut TextClient,
    destination: &Destination,
) -> Result<(), TextClientError> {
    let found = match ask(room, destination).await {
        Ok(asked) => {
            room.tell_map(&asked.owner.map)?;
            asked.found(room.driver.trust().sim)
        }
        Err(why) => Err(why),
    };
    let opened = match found {
        Ok(found) => open(room, found).await,
        Err(why) => Err(why),
    };
    match opened {
        Ok((driver, login)) => depart(room, driver, login).await,
        Err(why) => room.tell(LineKind::Refused, &why),
    }
}

fn whereabouts(room: &TextClient) -> Result<Whereabouts, Obstacle> {
    let genesis = &room.driver.trust().genesis;
    let node = room.driver.node().cloned().ok_or("No node is connected.")?;
    match (world_of(genesis), square_of(genesis)) {
        (Some(world), Some(square)) => Ok(Whereabouts { world, square, node }),
        _ => Err("This sim lies in no world of many sims, so there is no map.".to_owned()),
    }
}

fn unmapped(why: &str) -> Obstacle {
    format!("There is no map: {}.", printable(why))
}

/// Who owns the point that somebody wants to go to.
struct AskedOwner {
    point: TilePoint,
    /// The sim that the map shows there, if it was named.
    named: Option<KnownSim>,
    owner: KnownOwner,
}

/// Asks who owns the point, or the ground of the sim, that somebody wants to go to.
async fn ask(room: &TextClient, destination: &Destination) -> Result<AskedOwner, Obstacle> {
    let Whereabouts { world, node, .. } = whereabouts(room)?;
    let (point, named) = match destination {
        Destination::Point(point) => (*point, None),
        Destination::Named(name) => {
            let map = room.world.map(node.clone(), world).await.map_err(|why| unmapped(&why))?;
            let chosen = choose(&map.sims, name)?;
            (TilePoint::corner(chosen.square), Some(chosen.clone()))
        }
    };
    let TilePoint { x, y } = point;
    let owner = room.world.owner(node, world, point).await;
    let owner =
        owner.map_err(|why| format!("Who owns {x} {y} is not known: {}.", printable(&why)))?;
    Ok(AskedOwner { point, named, owner })
}

impl AskedOwner {
    /// Returns the sim to go to, for somebody who is in `here`.
    fn found(self, here: SimId) -> Result<KnownSim, Obstacle> {
        let TilePoint { x, y } = self.point;
        let found =
            self.owner.sim.ok_or_else(|| format!("{x} {y} is nobody's: there is no sim."))?;
        if found.sim == here {
            return Err("You are there already.".to_owned());
        }
        match self.named {
            Some(KnownSim { sim, name, .. }) if sim == found.sim => Ok(KnownSim { name, ..found }),
            Some(_) => Err("Another sim lies there by now: look at the `map` again.".to_owned()),
            None => Ok(found),
        }
    }
}

/// Returns the sim that was named. Sims call themselves what they like, so several may have one name.
fn choose<'a>(sims: &'a [KnownSim], typed: &str) -> Result<&'a KnownSim, Obstacle> {
    let typed = typed.trim().to_lowercase();
    let called = |sim: &KnownSim| sim.name.as_deref().unwrap_or_default().to_lowercase();
    let tests: [&dyn Fn(&KnownSim) -> bool; 3] =
        [&|sim| called(sim) == typed, &|sim| called(sim).starts_with(&typed), &|sim| {
            sim.sim.to_string().starts_with(&typed)
        }];
    let fitting = tests.iter().map(|test| sims.iter().filter(|sim| test(sim)).collect::<Vec<_>>());
    let fitting = fitting.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    match fitting[..] {
        [only] => Ok(only),
        [] => Err(format!("No sim on the map is called {}.", printable(&typed))),
        [first, second, ..] => Err(format!(
            "{} sims are called so, such as those at {} and {}: `go there X Y` names one.",
            fitting.len(),
            corner(first.square),
            corner(second.square),
        )),
    }
}

/// Opens a session with the nearest server of a sim that has room. The sim's genesis is believed by the id
/// in the grant, and names its first validators; it must lie on the square of the grant. Its world may be an
/// earlier one: the land office that granted the square may carry on the one that the genesis names.
async fn open(room: &mut TextClient, found: KnownSim) -> Result<(ClientDriver, Act), Obstacle> {
    let called = called(&found);
    let servers = nearest(found.servers).await;
    if servers.is_empty() {
        return Err(format!(
            "No server of {called} answers, of the {MEASURED_MAX} that are asked at most. You stay here."
        ));
    }
    let stay = |why: &dyn std::fmt::Display| {
        format!("{called} does not let you in: {}. You stay here.", printable(&why.to_string()))
    };
    let trust = GenesisTrust::learn_from(&servers, Some(found.sim)).await;
    let trust = trust.map_err(|why| stay(&why))?;
    if square_of(&trust.genesis) != Some(found.square) {
        return Err(stay(&"its genesis names other ground than the map"));
    }
    let key = room.driver.signer();
    let mut driver = ClientDriver::open(servers, trust, key).await.map_err(|why| stay(&why))?;
    // Admins may have changed those of the genesis.
    let unread = match driver.prove_charter(ANSWER).await {
        Ok((_, charter)) => room.unread_rules(&charter.introduction).map(|rules| {
            format!("{rules}\nThese are the house rules of {called}. To agree, type it again, or `agree`.")
        }),
        Err(why) => Some(stay(&why)),
    };
    if let Some(told) = unread {
        driver.leave().await;
        return Err(told);
    }
    driver.show_rotation(room.driver.rotation());
    let told = || {};
    match driver.with_pass(room.fresh_login(), None, ANSWER, told).await {
        Ok(login) => Ok((driver, login)),
        Err(why) => {
            driver.leave().await;
            let hint = match why {
                FirstLoginError::NoTicket => "; `metatopia world visit` takes a ticket",
                _ => "",
            };
            Err(stay(&format!("{why}{hint}")))
        }
    }
}

/// Leaves here and logs in there, with the same key.
async fn depart(
    room: &mut TextClient,
    driver: ClientDriver,
    login: Act,
) -> Result<(), TextClientError> {
    // A sim that stands still lets the avatar go when it runs again.
    room.perform(Act::Leave, Vec::new()).await?;
    let back = room.fresh_login();
    let before = room.settle(driver);
    room.driver.view(Some(watching())).await?;
    let refused = match room.enter(login).await? {
        ActProgress::Done(Outcome::Ok | Outcome::Made(_)) => None,
        ActProgress::Done(Outcome::Refused(why)) => Some(why.to_string()),
        ActProgress::Refused(why) => Some(why.to_string()),
        ActProgress::Waiting | ActProgress::Placed { .. } => {
            Some("the login is not decided".to_owned())
        }
    };
    let Some(why) = refused else {
        tokio::spawn(before.leave());
        // A pass is shown once. From now on somebody is known here.
        room.forget_pass();
        let name = name_of(&room.driver);
        room.tell(LineKind::Done, &format!("You are in {name} now. `look` describes it."))?;
        rules::greet(room).await?;
        luggage::greet(room).await?;
        return crate::arrived(room).await;
    };
    let there = room.settle(before);
    let name = name_of(&there);
    tokio::spawn(there.leave());
    room.enter(back).await?;
    room.tell(LineKind::Refused, &format!("{name} does not let you in: {why}. You are back."))
}

/// Returns what the map says, a sim a line, the nearest first.
fn map_lines(map: KnownMap, here: Square) -> Vec<(LineKind, String)> {
    let KnownMap { mut sims, age, one_door } = map;
    let total = sims.len();
    let middle = TilePoint::middle(here).unwrap_or_default();
    let away =
        |sim: &KnownSim| TilePoint::middle(sim.square).map(|point| point.distance_squared(middle));
    sims.sort_by_key(|sim| (away(sim).unwrap_or(u128::MAX), sim.square));
    let nearest = sims.iter().take(MAP_SIMS_MAX);
    let mut lines: Vec<_> = nearest.map(|sim| (LineKind::Answer, sim_line(sim, here))).collect();
    if total > MAP_SIMS_MAX {
        let more = format!("{} more sims are farther off.", total - MAP_SIMS_MAX);
        lines.push((LineKind::Answer, more));
    }
    let known = format!("{total} squares are granted, as far as is known here, and all is proved");
    lines.push(match age {
        Some(age) if age > MAP_OLD => {
            let age = aged(age);
            let told = format!("{known}. The map is {age} old, so it may have changed.");
            (LineKind::Warned, told)
        }
        _ => (LineKind::Answer, format!("{known}.")),
    });
    if one_door {
        lines.push((LineKind::Warned, ONE_DOOR.to_owned()));
    }
    lines
}

fn sim_line(sim: &KnownSim, here: Square) -> String {
    let metres = sim.square.side().unwrap_or_default() * TILE_METRES;
    let mut facts = vec![format!("{} at {}, {metres} m wide", called(sim), corner(sim.square))];
    facts.push(format!("sim {:.SHORT$}", sim.sim.to_string()));
    facts.push(format!("held by {:.SHORT$}", sim.holder.to_string()));
    match sim.people {
        Some(1) => facts.push("1 person".to_owned()),
        Some(people) => facts.push(format!("{people} people")),
        None => {}
    }
    if let Some(licence) = &sim.licence {
        facts.push(printable(licence));
    }
    facts.push(if sim.is_met { "up" } else { "not heard of from here" }.to_owned());
    if sim.square == here {
        facts.push("you are here".to_owned());
    }
    format!("{}.", facts.join(", "))
}

/// Returns what a sim is called, as it says itself.
fn called(sim: &KnownSim) -> String {
    let name = sim.name.as_deref().map(printable).filter(|name| !name.trim().is_empty());
    name.unwrap_or_else(|| format!("sim {:.SHORT$}", sim.sim.to_string()))
}

fn corner(square: Square) -> String {
    format!("{} {}", square.x, square.y)
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Digest, PublicKey};

    use super::*;

    fn sim(n: u8, x: i32, name: &str) -> KnownSim {
        KnownSim {
            sim: SimId(Digest([n; 32])),
            square: Square { x, y: 0, doublings: 2 },
            holder: PublicKey([0xab; 32]),
            name: (!name.is_empty()).then(|| name.to_owned()),
            people: Some(u32::from(n)),
            licence: Some("AGPL-3.0-or-later".to_owned()),
            is_met: !name.is_empty(),
            servers: Vec::new(),
        }
    }

    #[test]
    fn a_sim_is_named_by_its_name_the_beginning_of_it_or_of_its_id() {
        let sims = [sim(0x1a, 0, "Garden"), sim(0x2b, 8, "Garden of Eden"), sim(0x3c, 16, "Hall")];
        let chosen = |typed| choose(&sims, typed).map(|sim| sim.square.x);
        assert_eq!(chosen("garden"), Ok(0), "a whole name goes before a beginning");
        assert_eq!(chosen("garden o"), Ok(8));
        assert_eq!(chosen("3c3c"), Ok(16));
        assert_eq!(chosen("harbour"), Err("No sim on the map is called harbour.".to_owned()));
    }

    #[test]
    fn of_two_sims_with_one_name_neither_is_taken() {
        let sims = [sim(1, 0, "Hall"), sim(2, 8, "hall")];
        let told = choose(&sims, "Hall").unwrap_err();
        assert_eq!(
            told,
            "2 sims are called so, such as those at 0 0 and 8 0: `go there X Y` names one."
        );
    }

    fn known(sims: Vec<KnownSim>, age: Duration) -> KnownMap {
        KnownMap { sims, age: Some(age), one_door: false }
    }

    /// Only `world find` said that one liar may be all that there is.
    #[test]
    fn a_map_through_one_door_says_so() {
        let sims = vec![sim(1, 0, "Hall")];
        let here = sims[0].square;
        let map = KnownMap { one_door: true, ..known(sims, Duration::ZERO) };
        let (kind, last) = map_lines(map, here).pop().unwrap();
        assert!(last.starts_with("Through one door: "), "{last}");
        assert_eq!(kind, LineKind::Warned);
    }

    #[test]
    fn the_map_tells_the_nearest_sims_first_and_where_one_is() {
        let sims = vec![sim(9, 16, ""), sim(1, 8, "Ha\u{1b}ll"), sim(2, 0, "Garden")];
        let here = sims[2].square;
        let lines = map_lines(known(sims, Duration::from_secs(60)), here);
        assert!(lines.iter().all(|(kind, _)| *kind == LineKind::Answer), "{lines:?}");
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        let [garden, hall, far, known] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(
            garden,
            "Garden at 0 0, 256 m wide, sim 020202020202, held by abababababab, 2 people, \
             AGPL-3.0-or-later, up, you are here."
        );
        assert!(hall.starts_with("Ha ll at 8 0") && hall.contains("1 person,"), "{hall}");
        assert!(far.starts_with("sim 090909090909 at 16 0"), "{far}");
        assert!(far.ends_with("not heard of from here."), "{far}");
        assert_eq!(known, "3 squares are granted, as far as is known here, and all is proved.");
    }

    #[test]
    fn a_large_or_old_map_says_so() {
        let more = i32::try_from(MAP_SIMS_MAX).unwrap() + 1;
        let sims: Vec<KnownSim> = (0..more).map(|n| sim(1, 8 * n, "a")).collect();
        let here = sims[0].square;
        let age = MAP_OLD + Duration::from_secs(3_600);
        let lines = map_lines(known(sims, age), here);
        assert_eq!(lines.len(), MAP_SIMS_MAX + 2);
        assert_eq!(lines[MAP_SIMS_MAX].1, "1 more sims are farther off.");
        let (kind, last) = &lines[MAP_SIMS_MAX + 1];
        assert!(last.ends_with("The map is 25 hours old, so it may have changed."), "{last}");
        assert_eq!(*kind, LineKind::Warned);
    }
}
