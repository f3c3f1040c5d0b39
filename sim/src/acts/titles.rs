//! Titles to land: an admin says who may build where.

use metatopia_types::{GroundArea, PublicKey, Refusal, Title};

use crate::{
    limits::LANDS_MAX,
    space::Land,
    state::{State, is_name},
};

impl State {
    /// Checks that there can be a land of this name on this ground. A land that has the name becomes it.
    pub(super) fn check_land(
        &self,
        name: &str,
        area: GroundArea,
        title: Title,
    ) -> Result<(), Refusal> {
        if !is_name(name) {
            return Err(Refusal::BadText);
        }
        let area = self.own_area(area)?;
        if let Title::Player(key) = title {
            self.check_trusted(&key)?;
        }
        let lands = &self.charter.lands;
        match lands.iter().find(|land| land.name == name) {
            Some(land) if land.area == area && land.title == title => Err(Refusal::AlreadySo),
            Some(_) => Ok(()),
            None if lands.len() >= LANDS_MAX => Err(Refusal::ListFull),
            None => Ok(()),
        }
    }

    /// Checks that there is a land of this name.
    pub(super) fn check_land_there(&self, name: &str) -> Result<(), Refusal> {
        let is_there = self.charter.lands.iter().any(|land| land.name == name);
        if is_there { Ok(()) } else { Err(Refusal::NoLand) }
    }

    /// Sets the land of a name, or removes it. A new one lies on top of all others, and one that is set again
    /// stays where it is in their order. Lots, and what stands there, stay.
    pub(super) fn set_land(&mut self, name: &str, land: Option<Land>) {
        let at = self.charter.lands.iter().position(|land| land.name == name);
        let holder = |land: Option<&Land>| match land?.title {
            Title::Player(key) => Some(key),
            Title::Open | Title::Sim => None,
        };
        let before = holder(at.map(|at| &self.charter.lands[at]));
        let after = holder(land.as_ref());
        let change = move |state: &mut Self| match (at, land) {
            (Some(at), Some(land)) => state.charter.lands[at] = land,
            (Some(at), None) => drop(state.charter.lands.remove(at)),
            (None, Some(land)) => state.charter.lands.push(land),
            (None, None) => unreachable!("the order was checked"),
        };
        // Whoever has a title to land is not forgotten before others.
        self.recounted_if(before, |state| state.recounted_if(after, change));
    }

    /// Makes a change by which this player, if there is one, may come to stand elsewhere in the lists.
    fn recounted_if(&mut self, key: Option<PublicKey>, change: impl FnOnce(&mut Self)) {
        match key {
            Some(key) => self.recounted(key, change),
            None => change(self),
        }
    }
}
