//! What is told of who and what comes into sight, and leaves it.

use std::collections::BTreeMap;

use metatopia_client::{Scene, text::printable};
use metatopia_types::ObjectId;

use super::TextClient;
use crate::{LineKind, TextClientError, crossing::LastSeen};

impl TextClient {
    /// Takes a scene, and tells who came and went since the last one.
    pub(super) fn see(&mut self, scene: Scene) -> Result<(), TextClientError> {
        let others = scene.objects.iter().filter(|o| o.player.is_some() && Some(o.id) != scene.me);
        let now: BTreeMap<ObjectId, LastSeen> =
            others.map(|object| (object.id, object.into())).collect();
        let before = self.people.replace(now);
        if let Some(me) = scene.me {
            let held = scene.in_hands_of(me);
            self.hands = held.iter().map(|thing| printable(&thing.name)).collect();
        }
        self.scene = Some(scene);
        self.tell_sector()?;
        // What is there at first has not come.
        let (Some(before), Some(now)) = (before, &self.people) else {
            return Ok(());
        };
        for (_, came) in now.iter().filter(|(id, _)| !before.contains_key(id)) {
            self.tell(LineKind::Seen, &format!("{} comes into sight.", came.name))?;
        }
        for (_, gone) in before.iter().filter(|(id, _)| !now.contains_key(id)) {
            self.tell(LineKind::Seen, &self.lost_sight(gone))?;
        }
        Ok(())
    }

    /// Returns the line about somebody or something that was seen last in this state, and is seen no more.
    pub(crate) fn lost_sight(&self, last: &LastSeen) -> String {
        match self.gone_over(last) {
            Some(over) => format!("{} went {over}.", last.name),
            None => format!("{} is out of sight.", last.name),
        }
    }

    /// Returns over which border it has left, if it has.
    pub(crate) fn gone_over(&self, last: &LastSeen) -> Option<String> {
        self.crossing.gone_over(&self.driver, last)
    }

    /// Tells which sector the person has come into, if it is another one.
    fn tell_sector(&mut self) -> Result<(), TextClientError> {
        let own = self
            .scene
            .as_ref()
            .and_then(|scene| scene.objects.iter().find(|object| Some(object.id) == scene.me));
        let Some(own) = own else { return Ok(()) };
        let sector = self.driver.trust().genesis.floor_plan.sector_at(own.position);
        let sector = sector.map(|sector| printable(&sector.name));
        if sector == self.sector {
            return Ok(());
        }
        let told = match &sector {
            Some(name) => format!("You are in the {name}."),
            None => "You are outside.".to_owned(),
        };
        self.sector = sector;
        self.tell(LineKind::Seen, &told)
    }
}
