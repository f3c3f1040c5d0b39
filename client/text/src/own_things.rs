//! What the person has: her things, and how much of her shares they take.

use std::time::Duration;

use metatopia_client::text::{compass, number_of, position, printable};
use metatopia_math::Vec2;
use metatopia_protocol::{Answer, Question, ThingEntry};
use metatopia_sim::BuildingParameters;
use metatopia_types::{PackageId, PublicKey};

use super::{builder::packages, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the things of the person, as the node says.
pub(super) async fn things(room: &mut TextClient) -> Result<Vec<ThingEntry>, TextClientError> {
    let owner = room.driver.author();
    things_of(room, owner).await
}

/// Returns the things of somebody, as the node says.
pub(super) async fn things_of(
    room: &mut TextClient,
    owner: PublicKey,
) -> Result<Vec<ThingEntry>, TextClientError> {
    Ok(match room.driver.ask(Question::Things { owner }, ANSWER).await? {
        Answer::Things(things) => things,
        _ => Vec::new(),
    })
}

/// Lists the things of the person, and how much of her shares they take.
pub(super) async fn mine(room: &mut TextClient) -> Result<(), TextClientError> {
    let own = things(room).await?;
    let scene = room.look_around().await?;
    let here = scene.as_ref().and_then(position).unwrap_or(Vec2::ZERO);
    let packages = packages(room);
    let mut shares = OwnShares::default();
    for thing in &own {
        shares.count(thing);
        let way = thing.position.saturating_sub(here);
        let known = |id| packages.iter().find(|(_, other)| other == id);
        let runs: Vec<&str> =
            packages_of(thing).filter_map(|id| Some(known(id)?.0.as_str())).collect();
        let runs =
            if runs.is_empty() { String::new() } else { format!(", runs {}", runs.join(", ")) };
        let place = match thing.stowed {
            Some(_) => "in luggage".to_owned(),
            None => format!("{:.1} m {}", way.length(), compass(way)),
        };
        let (name, object, from) = (printable(&thing.name), thing.object, came_from(thing));
        let line = format!("{name}, {place}, object {object}{runs}{from}.");
        room.tell(LineKind::Answer, &line)?;
    }
    let lines = shares.lines(&room.driver.trust().genesis.parameters.building);
    lines.iter().try_for_each(|line| room.tell(LineKind::Answer, line))
}

/// Returns what the scripts of a thing run.
fn packages_of(thing: &ThingEntry) -> impl Iterator<Item = &PackageId> {
    let stowed = thing.stowed.iter().flat_map(|stowed| &stowed.packages);
    thing.scripts.iter().map(|(_, package)| package).chain(stowed)
}

/// Returns from which sim a thing came, in words.
fn came_from(thing: &ThingEntry) -> String {
    thing
        .guest
        .map_or_else(String::new, |from| format!(", came from sim {}..", &from.to_string()[..8]))
}

/// What the things of a person take of her shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnShares {
    things: usize,
    scripts: usize,
    text: u32,
    guests: usize,
}

impl OwnShares {
    fn count(&mut self, thing: &ThingEntry) {
        if thing.guest.is_some() {
            self.guests += 1;
            return;
        }
        self.things += 1;
        self.scripts += packages_of(thing).count();
        self.text = self.text.saturating_add(thing.text_bytes);
    }

    /// Returns what is told of the shares.
    fn lines(self, rules: &BuildingParameters) -> Vec<String> {
        let Self { things, scripts, text, guests } = self;
        let mut lines = vec![format!(
            "{things} of {}, {scripts} of {}, {text} of {} of text.",
            number_of(rules.objects_per_player, "thing", "things"),
            number_of(rules.scripts_per_player, "script", "scripts"),
            number_of(rules.text_bytes_per_player, "byte", "bytes"),
        )];
        if guests > 0 {
            let guests = number_of(guests, "thing of yours", "things of yours");
            lines.push(format!(
                "Besides, {guests} came over a border: that counts against the border's share, not yours."
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use metatopia_protocol::StowedThing;
    use metatopia_sim::Parameters;
    use metatopia_types::{Digest, ObjectId, ScriptId, SimId};

    use super::*;

    fn thing(object: u64) -> ThingEntry {
        let scripts = vec![(ScriptId(object), PackageId(Digest::ZERO))];
        let (name, kind) = ("ball".to_owned(), "ball".to_owned());
        let (object, position) = (ObjectId(object), Vec2::ZERO);
        ThingEntry {
            object,
            name,
            kind,
            position,
            text_bytes: 3,
            scripts,
            guest: None,
            stowed: None,
        }
    }

    /// What came over a border was counted against the person's own share.
    #[test]
    fn what_came_over_a_border_is_told_apart_from_ones_own_share() {
        let mut shares = OwnShares::default();
        let from = SimId(Digest([0xab; 32]));
        let guest = ThingEntry { guest: Some(from), ..thing(2) };
        let packages = vec![PackageId(Digest::ZERO); 2];
        let stowed = Some(StowedThing { half: Vec2::ZERO, movable: true, packages });
        let stowed = ThingEntry { scripts: Vec::new(), stowed, ..thing(3) };
        [&thing(1), &guest, &stowed].into_iter().for_each(|thing| shares.count(thing));
        let mut rules = Parameters::default().building;
        (rules.objects_per_player, rules.scripts_per_player) = (8, 1);
        rules.text_bytes_per_player = 100;
        assert_eq!(
            shares.lines(&rules),
            [
                "2 of 8 things, 3 of 1 script, 6 of 100 bytes of text.",
                "Besides, 1 thing of yours came over a border: that counts against the border's \
                 share, not yours.",
            ]
        );
        assert_eq!(came_from(&guest), ", came from sim abababab..");
    }
}
