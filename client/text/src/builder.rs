//! The commands of builders.

use std::time::Duration;

use metatopia_client::{
    Scene, SceneObject,
    build::{self, BuildPlan, Building, Ground, JoinedThing, Way, resized, spot},
    text::{compass, coordinates, find, in_words, printable},
};
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_protocol::{Answer, PlayerEntry, Question};
use metatopia_scripting::Package;
use metatopia_sim::{Charter, Lot, Shape};
use metatopia_types::{
    Act, Build, GroundArea, ObjectId, Outcome, PackageId, PublicKey, Refusal, RoleRight, ScriptId,
    SimId,
};

use super::{
    charter, hands, joints, luggage, own_things,
    pointing::{NO_LAST, is_last, numbered},
    room::{ActProgress, TextClient},
    unite,
};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// A thing that a builder means.
pub(super) struct Thing {
    pub(super) id: ObjectId,
    pub(super) name: String,
    position: Vec2,
    pub(super) half: Vec2,
    angle: Angle,
    shape: Shape,
    /// The neighbour from which it came, if it is in sight and counts against that border's share.
    pub(super) guest: Option<SimId>,
}

impl Thing {
    /// Returns it as an end of a joint.
    pub(super) fn end(&self) -> JoinedThing {
        let Self { id, position, half, angle, ref shape, .. } = *self;
        let round = matches!(shape, Shape::Circle { .. });
        JoinedThing { id, position, half, angle, round }
    }
}

type BuilderResult = Result<(), TextClientError>;

pub(super) async fn obey(room: &mut TextClient, building: Building) -> BuilderResult {
    match &building {
        Building::Build(plan) => return make(room, plan).await,
        Building::Mine => return own_things::mine(room).await,
        Building::Land => return land(room).await,
        Building::Help => return room.tell(LineKind::Answer, build::HELP),
        Building::Take(thing) => return hands::take(room, thing).await,
        Building::PutDown(thing) => return hands::put_down(room, thing).await,
        Building::Hands => return hands::list(room).await,
        Building::Stow(thing) => return luggage::stow(room, thing).await,
        Building::Fetch(thing) => return luggage::fetch(room, thing).await,
        Building::Luggage(of) => return luggage::list(room, of.as_deref()).await,
        Building::Discard(thing) => return luggage::discard(room, thing).await,
        Building::Unite(things) => return unite::unite(room, things).await,
        Building::LetTravel(thing, travels) => {
            return joints::let_travel(room, thing, *travels).await;
        }
        // Who puts a thing away and takes that back does not mean what she had built before.
        Building::Undo(0) if let Some(way) = room.by_hand.take() => {
            let told = format!("{way} `undo` again takes back what you built before that.");
            return room.tell(LineKind::Refused, &told);
        }
        Building::Undo(skip) => {
            return perform(room, Build::Undo { skip: *skip }, "You take it back.").await;
        }
        Building::Join(thing, to, kind, rate) => {
            return joints::join(room, thing, to.as_deref(), (kind, *rate)).await;
        }
        Building::Unjoin(thing, from) => {
            return joints::unjoin(room, thing, from.as_deref()).await;
        }
        _ => {}
    }
    let typed = match &building {
        Building::Move(thing, _)
        | Building::Rotate(thing, _)
        | Building::Resize(thing, _)
        | Building::Color(thing, _)
        | Building::MakeOf(thing, _)
        | Building::MakeSensor(thing, _)
        | Building::Name(thing, _)
        | Building::Write(thing, _)
        | Building::Copy(thing, _)
        | Building::Delete(thing)
        | Building::Give(thing, _)
        | Building::Attach(_, thing)
        | Building::Detach(_, thing) => thing.clone(),
        _ => return Ok(()),
    };
    let Some(thing) = meant(room, &typed).await? else {
        return Ok(());
    };
    room.it = Some(thing.id);
    let Some((act, done)) = deed(room, &thing, building).await? else {
        return Ok(());
    };
    perform(room, act, &done).await
}

/// Returns the act that a line about a thing asks for, and what to print when the act is done. If the line
/// names something that is not there, prints why and returns `None`.
async fn deed(
    room: &mut TextClient,
    thing: &Thing,
    building: Building,
) -> Result<Option<(Build, String)>, TextClientError> {
    let (object, name) = (thing.id, printable(&thing.name));
    let to = |way: Way| match way {
        Way::By(way) => thing.position.saturating_add(way),
        Way::To(place) => place,
    };
    Ok(Some(match building {
        Building::Move(_, way) => moved(object, to(way), &name),
        Building::Rotate(_, degrees) => {
            let turn = Angle::from_turns(degrees.saturating_div(Fx::from_int(360)));
            let angle = thing.angle.wrapping_add(turn);
            (Build::Rotate { object, angle }, format!("You turn {name} by {degrees} degrees."))
        }
        Building::Resize(_, size) => {
            let done = format!("{name} is {} m by {} m now.", in_words(size.x), in_words(size.y));
            (Build::Resize { object, outline: resized(&thing.shape, size) }, done)
        }
        Building::Color(_, color) => {
            (Build::Recolor { object, color }, format!("{name} is #{color:06x} now."))
        }
        Building::MakeOf(_, material) => {
            let done = format!("{name} is of {} now.", material.word());
            (Build::MakeOf { object, material }, done)
        }
        Building::MakeSensor(_, sensor) => {
            let is = if sensor { "lets everything through" } else { "is solid" };
            (Build::MakeSensor { object, sensor }, format!("{name} {is} now."))
        }
        Building::Name(_, new) => {
            let done = format!("{name} is called {} now.", printable(&new));
            (Build::Rename { object, name: new }, done)
        }
        Building::Write(_, text) if text.is_empty() => {
            (Build::Write { object, text }, format!("{name} shows nothing now."))
        }
        Building::Write(_, text) => {
            let done = format!("{name} shows: {}", printable(&text));
            (Build::Write { object, text }, done)
        }
        Building::Copy(_, way) => {
            let beside = || Vec2::new(thing.half.x.saturating_mul(Fx::from_int(2)), Fx::ZERO);
            let beside = || beside().saturating_add(Vec2::new(Fx::from_ratio(1, 10), Fx::ZERO));
            let position = way.map_or_else(|| thing.position.saturating_add(beside()), to);
            (Build::Copy { object, position }, format!("You copy {name}."))
        }
        Building::Delete(_) => (Build::Delete { object }, format!("{name} is gone.")),
        Building::Give(_, whom) => {
            let Some((to, whom)) = player(room, &whom).await? else {
                return Ok(None);
            };
            (Build::Give { object, to }, format!("You give {name} to {whom}."))
        }
        Building::Attach(package, _) => {
            let Some(package) = shipped(room, &package)? else {
                return Ok(None);
            };
            (Build::Attach { object, package }, format!("It runs on {name} now."))
        }
        Building::Detach(package, _) => {
            let Some(script) = script_on(room, object, &package).await? else {
                return Ok(None);
            };
            (Build::Detach { object, script }, format!("It does not run on {name} any more."))
        }
        _ => return Ok(None),
    }))
}

/// Returns the deed of putting a thing elsewhere, and what is said once it is done.
fn moved(object: ObjectId, position: Vec2, name: &str) -> (Build, String) {
    let done = format!("You put {name} at {}.", coordinates(position));
    (Build::Move { object, position }, done)
}

/// Carries a deed out, and says what became of it; of a refusal, what can be done about it.
pub(super) async fn perform(room: &mut TextClient, build: Build, done: &str) -> BuilderResult {
    let by_hand = by_hand(&build);
    let fate = room.perform(Act::Build(build), Vec::new()).await?;
    if matches!(fate, ActProgress::Done(Outcome::Ok | Outcome::Made(_))) {
        room.by_hand = by_hand;
    }
    match fate {
        ActProgress::Done(Outcome::Made(object)) => {
            room.it = Some(object);
            room.tell(LineKind::Done, &format!("{done} It is object {object}; call it `it`."))
        }
        ActProgress::Done(Outcome::Refused(why)) => {
            let next = build::next(why, &room.driver.trust().genesis.parameters);
            let next = next.map_or_else(String::new, |next| format!(" {next}"));
            room.tell(LineKind::Refused, &format!("That did not work: {why}.{next}"))
        }
        fate => super::deeds::conclude(room, fate, done),
    }
}

/// Returns what is done by hand in place of taking a step back, if nothing takes it back.
const fn by_hand(build: &Build) -> Option<&'static str> {
    Some(match build {
        Build::Stow { .. } => "`fetch it` puts it down again.",
        Build::Fetch { .. } => "`stow it` puts it away again.",
        Build::Discard { .. } => "It is gone for good.",
        Build::Take { .. } => "`put it down` puts it down again.",
        Build::PutDown { .. } => "`take it` takes it in hand again.",
        _ => return None,
    })
}

async fn make(room: &mut TextClient, plan: &BuildPlan) -> BuilderResult {
    let Some(charter) = charter::needed(room).await? else { return Ok(()) };
    let most = charter.parameters.building.size_max;
    let Vec2 { x: width, y: height } = plan.half().saturating_add(plan.half());
    if width.max(height) > most {
        let told = format!(
            "{width} m by {height} m is too large: a thing that players build is at most {most} m wide and \
             high here."
        );
        return room.tell(LineKind::Refused, &told);
    }
    let Some((here, place)) = place_near(room, &charter, plan.half(), plan.movable).await? else {
        return Ok(());
    };
    let way = place.saturating_sub(here);
    let done =
        format!("You build {}, {:.1} m {}.", printable(&plan.name), way.length(), compass(way));
    perform(room, Build::Place(plan.at(place)), &done).await
}

/// Returns where the person is, and a place near her for something of this half width and height; nothing,
/// with a word why, if there is none.
pub(super) async fn place_near(
    room: &mut TextClient,
    charter: &Charter,
    half: Vec2,
    movable: bool,
) -> Result<Option<(Vec2, Vec2)>, TextClientError> {
    let Some(scene) = room.look_around().await? else {
        room.tell(LineKind::Refused, "The node shows nothing to build on.")?;
        return Ok(None);
    };
    let me = scene.objects.iter().find(|object| Some(object.id) == scene.me);
    let Some((here, facing)) = me.map(|me| (me.position, me.angle)) else {
        room.tell(LineKind::Refused, &room.not_here())?;
        return Ok(None);
    };
    let lots: Vec<Lot> = super::lots::lots(room).await?.iter().map(super::lots::lot_of).collect();
    let clubs = super::clubs::own_numbers(room, &lots).await?;
    // What is in hand is in nobody's way.
    let things = scene.objects.iter().filter(|o| o.held.is_none());
    let things = things.map(|o| (o.position, o.half, o.angle)).collect();
    let ground = Ground {
        parameters: &charter.parameters,
        lands: &charter.lands,
        lots: &lots,
        builder: room.driver.author(),
        clubs,
        here,
        facing,
        things,
    };
    if let Some(place) = spot(&ground, half, movable) {
        return Ok(Some((here, place)));
    }
    let mut open = charter.parameters.clone();
    open.building.open_ground = true;
    let (lands, lots) = (&[], &[]);
    let free = spot(&Ground { parameters: &open, lands, lots, ..ground }, half, movable);
    match free {
        Some(place) if may_cover(room, place).await? => return Ok(Some((here, place))),
        Some(_) => {
            let why = "You may not build on the ground near you: `land` says where you may.";
            room.tell(LineKind::Refused, why)?;
        }
        None => {
            let why = "There is no room near you where you may build it. Walk on, or see `land`.";
            room.tell(LineKind::Refused, why)?;
        }
    }
    Ok(None)
}

/// Says whether a place lies in an area.
fn lies_in(place: Vec2, area: &GroundArea) -> bool {
    let from = |least: i32, side: u16| {
        let least = Fx::from_int(least);
        least..=least.saturating_add(Fx::from_int(i32::from(side)))
    };
    from(area.x, area.width).contains(&place.x) && from(area.y, area.depth).contains(&place.y)
}

/// Says whether the person may build where others may not, by the node's word: the sim decides in the end.
async fn may_cover(room: &mut TextClient, place: Vec2) -> Result<bool, TextClientError> {
    let key = room.driver.author();
    Ok(match room.driver.ask(Question::Person { key }, ANSWER).await? {
        Answer::Person(own) => {
            let is_given = own.rights.iter().any(|given| given.right == RoleRight::Land);
            let is_there = own.area_rights.iter().any(|on_area| {
                on_area.given.right == RoleRight::Land && lies_in(place, &on_area.area)
            });
            own.admin || own.temp_admin || is_given || is_there
        }
        _ => false,
    })
}

/// The thing that was typed: `it`, `object 57`, or a name; or a word that there is none.
pub(super) async fn meant(
    room: &mut TextClient,
    typed: &str,
) -> Result<Option<Thing>, TextClientError> {
    meant_first(room, typed, |_, _| true).await
}

/// The thing that was typed. Of several with this name one that is wanted is meant, if there is any.
pub(super) async fn meant_first(
    room: &mut TextClient,
    typed: &str,
    is_wanted: impl Fn(&Scene, &SceneObject) -> bool,
) -> Result<Option<Thing>, TextClientError> {
    let Some(scene) = room.look_around().await? else {
        room.tell(LineKind::Refused, "The node shows nothing.")?;
        return Ok(None);
    };
    let id = if is_last(typed) { room.it } else { numbered(typed) };
    let found = match id {
        Some(id) => scene.objects.iter().find(|object| object.id == id),
        None if is_last(typed) => {
            room.tell(LineKind::Refused, NO_LAST)?;
            return Ok(None);
        }
        None => {
            let objects = scene.objects.iter().filter(|object| is_wanted(&scene, object));
            let wanted = Scene { objects: objects.cloned().collect(), ..scene.clone() };
            let first = find(&wanted, typed).map(|object| object.id);
            let first = scene.objects.iter().find(|object| Some(object.id) == first);
            first.or_else(|| find(&scene, typed))
        }
    };
    if let Some(object) = found {
        return Ok(Some(Thing {
            id: object.id,
            name: object.name.clone(),
            position: object.position,
            half: object.half,
            angle: object.angle,
            shape: object.shape.clone(),
            guest: object.guest,
        }));
    }
    // One's own things can be taken away or given from afar.
    let own = own_things::things(room).await?.into_iter().find(|own| match id {
        Some(id) => own.object == id,
        None => own.name.to_lowercase().starts_with(&typed.to_lowercase()),
    });
    let Some(own) = own else {
        let line =
            format!("There is no {} in sight, and none among your things.", printable(typed));
        room.tell(LineKind::Refused, &line)?;
        return Ok(None);
    };
    Ok(Some(Thing {
        id: own.object,
        name: own.name,
        position: own.position,
        half: Vec2::new(Fx::HALF, Fx::HALF),
        angle: Angle::ZERO,
        shape: Shape::Rect { half: Vec2::new(Fx::HALF, Fx::HALF) },
        guest: None,
    }))
}

async fn land(room: &mut TextClient) -> BuilderResult {
    let Some(charter) = charter::needed(room).await? else { return Ok(()) };
    for land in charter.lands.iter().rev() {
        let (low, high) = (land.area.low, land.area.high);
        let whose = build::title(land.title, &room.driver.author());
        let (name, low, high) = (printable(&land.name), coordinates(low), coordinates(high));
        let line = format!("{name}, from {low} to {high}: {whose}.");
        room.tell(LineKind::Answer, &line)?;
    }
    let rest = match charter.parameters.building.open_ground {
        true => "Everywhere else everybody builds.",
        false => "Nobody but admins builds anywhere else.",
    };
    room.tell(LineKind::Answer, rest)
}

/// The fewest digits by which a key is meant: as many as `who` prints.
const KEY_DIGITS_MIN: usize = 8;

/// Returns the digits of a key that were typed, if the text may be the beginning of one, as `who` prints it.
pub(super) fn key_digits(typed: &str) -> Option<String> {
    let digits = typed.trim_end_matches('.');
    let is_key = digits.len() >= KEY_DIGITS_MIN && digits.chars().all(|c| c.is_ascii_hexdigit());
    is_key.then(|| digits.to_ascii_lowercase())
}

/// Finds somebody who is here, by the beginning of the name or of the key; or anybody, by the whole key.
pub(super) async fn player(
    room: &mut TextClient,
    typed: &str,
) -> Result<Option<(PublicKey, String)>, TextClientError> {
    if let Ok(key) = typed.parse::<PublicKey>() {
        return Ok(Some((key, format!("key {}..", &typed[..8]))));
    }
    let answer = room.driver.ask(Question::Players, ANSWER).await?;
    let players = match answer {
        Answer::Players(players) => players,
        _ => Vec::new(),
    };
    let typed = typed.to_lowercase();
    let digits = key_digits(&typed);
    // Whoever is called like the key of somebody else is not taken for her.
    let starts = |player: &PlayerEntry| {
        let by_key = digits.as_ref().is_some_and(|key| player.key.to_string().starts_with(key));
        by_key || player.name.to_lowercase().starts_with(&typed)
    };
    let mut found = players.into_iter().filter(starts);
    match (found.next(), found.next()) {
        (Some(PlayerEntry { name, key, .. }), None) => Ok(Some((key, printable(&name)))),
        (None, _) => {
            let line =
                "Nobody of that name is here; `who` lists names and keys, and either will do.";
            room.tell(LineKind::Refused, line)?;
            Ok(None)
        }
        (Some(_), Some(_)) => {
            room.tell(
                LineKind::Refused,
                "Several people here are called so; type the digits of the key that `who` prints.",
            )?;
            Ok(None)
        }
    }
}

/// The packages that ship with the sim, by name.
pub(super) fn packages(room: &TextClient) -> Vec<(String, PackageId)> {
    let packages = &room.driver.trust().genesis.packages;
    let name = |(id, bytes): (&PackageId, &Vec<u8>)| {
        let package = Package::decode(bytes).ok()?;
        Some((package.manifest().name.clone(), *id))
    };
    packages.iter().filter_map(name).collect()
}

fn shipped(room: &TextClient, typed: &str) -> Result<Option<PackageId>, TextClientError> {
    let packages = packages(room);
    let found = packages.iter().find(|(name, _)| *name == typed.to_lowercase());
    if found.is_none() {
        let names: Vec<&str> = packages.iter().map(|(name, _)| name.as_str()).collect();
        let (typed, names) = (printable(typed), names.join(", "));
        room.tell(LineKind::Refused, &format!("There is no package {typed}; there are {names}."))?;
    }
    Ok(found.map(|(_, id)| *id))
}

/// The script on a thing that runs a package.
async fn script_on(
    room: &mut TextClient,
    object: ObjectId,
    package: &str,
) -> Result<Option<ScriptId>, TextClientError> {
    let Some(package) = shipped(room, package)? else {
        return Ok(None);
    };
    let scripts = room.driver.scripts(ANSWER).await?.unwrap_or_default();
    let found = scripts.iter().find(|s| s.object == object && s.package == package);
    if found.is_none() {
        room.tell(LineKind::Refused, &format!("{}.", Refusal::NoScript))?;
    }
    Ok(found.map(|entry| entry.script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_meant_by_as_many_digits_as_who_prints() {
        assert_eq!(key_digits("99B57612.."), Some("99b57612".to_owned()));
        assert_eq!(key_digits("99b5761"), None);
        assert_eq!(key_digits("lantern of Ada"), None);
    }
}
