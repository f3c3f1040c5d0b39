//! What the person has: her things, and how much of her shares they take.

use std::time::Duration;

use metatopia_client::{
    Scene, square_of,
    text::{compass, number_of, position, printable},
};
use metatopia_math::Vec2;
use metatopia_protocol::{Answer, Question, ThingEntry};
use metatopia_sim::BuildingParameters;
use metatopia_types::SimId;

use super::{builder::packages, room::TextClient};
use crate::{LineKind, TextClientError};

/// Time for one question.
const ANSWER: Duration = Duration::from_secs(5);

/// Returns the things of the person, as the node says.
pub(super) async fn things(room: &mut TextClient) -> Result<Vec<ThingEntry>, TextClientError> {
    let owner = room.driver.author();
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
        let stands = ThingAccount::of(thing, scene.as_ref());
        shares.count(thing, stands);
        let way = thing.position.saturating_sub(here);
        let runs: Vec<&str> = thing
            .scripts
            .iter()
            .filter_map(|(_, id)| Some(packages.iter().find(|(_, other)| other == id)?.0.as_str()))
            .collect();
        let runs =
            if runs.is_empty() { String::new() } else { format!(", runs {}", runs.join(", ")) };
        let (name, length, towards) = (printable(&thing.name), way.length(), compass(way));
        let (object, from) = (thing.object, stands.words());
        let line = format!("{name}, {length:.1} m {towards}, object {object}{runs}{from}.");
        room.tell(LineKind::Answer, &line)?;
    }
    let genesis = &room.driver.trust().genesis;
    let lies_in_world = square_of(genesis).is_some();
    let lines = shares.lines(&genesis.parameters.building, lies_in_world);
    lines.iter().try_for_each(|line| room.tell(LineKind::Answer, line))
}

/// On whose account a thing of the person stands in the sim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThingAccount {
    /// On her own.
    Own,
    /// On that of the border to this sim, over which it came.
    Guest(SimId),
    /// On one of both: it is out of sight, and the node does not say.
    Unknown,
}

impl ThingAccount {
    fn of(thing: &ThingEntry, scene: Option<&Scene>) -> Self {
        let seen = scene.and_then(|scene| scene.objects.iter().find(|it| it.id == thing.object));
        match seen.map(|seen| seen.guest) {
            Some(Some(from)) => Self::Guest(from),
            Some(None) => Self::Own,
            None => Self::Unknown,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Guest(from) => format!(", came from sim {}..", &from.to_string()[..8]),
            Self::Own | Self::Unknown => String::new(),
        }
    }
}

/// What the things of a person take of her shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnShares {
    things: usize,
    scripts: usize,
    text: u32,
    guests: usize,
    unseen: usize,
}

impl OwnShares {
    fn count(&mut self, thing: &ThingEntry, stands: ThingAccount) {
        if let ThingAccount::Guest(_) = stands {
            self.guests += 1;
            return;
        }
        self.unseen += usize::from(stands == ThingAccount::Unknown);
        self.things += 1;
        self.scripts += thing.scripts.len();
        self.text = self.text.saturating_add(thing.text_bytes);
    }

    /// Returns what is told of the shares. A sim without borders has no guests.
    fn lines(self, rules: &BuildingParameters, lies_in_world: bool) -> Vec<String> {
        let Self { things, scripts, text, guests, unseen } = self;
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
        if lies_in_world && unseen > 0 {
            let unseen = number_of(unseen, "thing is", "things are");
            lines.push(format!(
                "{unseen} out of sight and counted as yours; what came over a border shows when you are near."
            ));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use metatopia_sim::Parameters;
    use metatopia_types::{Digest, ObjectId, PackageId, ScriptId};

    use super::*;

    fn thing(object: u64) -> ThingEntry {
        let scripts = vec![(ScriptId(object), PackageId(Digest::ZERO))];
        let (name, kind) = ("ball".to_owned(), "ball".to_owned());
        let (object, position) = (ObjectId(object), Vec2::ZERO);
        ThingEntry { object, name, kind, position, text_bytes: 3, scripts }
    }

    /// What came over a border was counted against the person's own share.
    #[test]
    fn what_came_over_a_border_is_told_apart_from_ones_own_share() {
        let mut shares = OwnShares::default();
        let from = SimId(Digest([0xab; 32]));
        shares.count(&thing(1), ThingAccount::Own);
        shares.count(&thing(2), ThingAccount::Guest(from));
        shares.count(&thing(3), ThingAccount::Unknown);
        let mut rules = Parameters::default().building;
        (rules.objects_per_player, rules.scripts_per_player) = (8, 1);
        rules.text_bytes_per_player = 100;
        assert_eq!(
            shares.lines(&rules, true),
            [
                "2 of 8 things, 2 of 1 script, 6 of 100 bytes of text.",
                "Besides, 1 thing of yours came over a border: that counts against the border's \
                 share, not yours.",
                "1 thing is out of sight and counted as yours; what came over a border shows when \
                 you are near.",
            ]
        );
        assert_eq!(shares.lines(&rules, false).len(), 2, "without borders nothing is in doubt");
        assert_eq!(ThingAccount::Guest(from).words(), ", came from sim abababab..");
    }
}
