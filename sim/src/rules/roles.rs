//! Roles: the rights that keys were given, for the whole sim or for areas of its ground.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_types::{GroundArea, PublicKey, RoleRight};

use super::people::{Ending, GivenRight, People, Role, lasts};
use crate::{
    limits::{RIGHTS_AREAS_MAX, RIGHTS_AREAS_PER_KEY_MAX},
    space::Area,
};

impl Role {
    /// Returns all rights with their terms, those for the whole sim first.
    pub fn all(&self) -> impl Iterator<Item = (Option<GroundArea>, RoleRight, GivenRight)> + '_ {
        let terms = |area: Option<GroundArea>| {
            move |(right, given): (&RoleRight, &GivenRight)| (area, *right, *given)
        };
        let areas = self.areas.iter();
        let areas = areas.flat_map(move |(area, rights)| rights.iter().map(terms(Some(*area))));
        self.rights.iter().map(terms(None)).chain(areas)
    }

    /// Returns the rights for an area, or for the whole sim.
    fn of(&self, area: Option<GroundArea>) -> Option<&BTreeMap<RoleRight, GivenRight>> {
        area.map_or(Some(&self.rights), |area| self.areas.get(&area))
    }

    /// Sets the terms of a right, or takes it away. Returns on which terms it was given before.
    fn set(
        &mut self,
        area: Option<GroundArea>,
        right: RoleRight,
        given: Option<GivenRight>,
    ) -> Option<GivenRight> {
        let rights = match area {
            None => &mut self.rights,
            Some(area) => self.areas.entry(area).or_default(),
        };
        let before = match given {
            Some(given) => rights.insert(right, given),
            None => rights.remove(&right),
        };
        self.areas.retain(|_, rights| !rights.is_empty());
        before
    }

    /// Says whether no right is left.
    fn is_empty(&self) -> bool {
        self.rights.is_empty() && self.areas.is_empty()
    }
}

impl People {
    /// Says whether a key has this right for the whole sim by a role at this time.
    pub(crate) fn has_right(&self, key: &PublicKey, right: RoleRight, time: u64) -> bool {
        self.has_very_right(key, None, right, time)
    }

    /// Says whether a key has this right for this very area, or for the whole sim, at this time.
    pub(crate) fn has_very_right(
        &self,
        key: &PublicKey,
        area: Option<GroundArea>,
        right: RoleRight,
        time: u64,
    ) -> bool {
        let given = self.roles.get(key).and_then(|role| role.of(area)?.get(&right));
        given.is_some_and(|given| lasts(given.until, time))
    }

    /// Says whether a key has this right on all of this ground at this time, by areas that together hold it.
    pub(crate) fn has_right_on(
        &self,
        key: &PublicKey,
        right: RoleRight,
        ground: &Area,
        time: u64,
    ) -> bool {
        let Some(role) = self.roles.get(key) else { return false };
        let has = |rights: &BTreeMap<RoleRight, GivenRight>| {
            rights.get(&right).is_some_and(|given| lasts(given.until, time))
        };
        let areas = role.areas.iter().filter(|(_, rights)| has(rights));
        let areas: Vec<Area> = areas.map(|(area, _)| Area::of_ground(*area)).collect();
        ground.is_covered_by(&areas)
    }

    /// Says whether a key has a right for some area at this time.
    pub(crate) fn has_area(&self, key: &PublicKey, time: u64) -> bool {
        self.roles.get(key).is_some_and(|role| {
            role.areas.values().flatten().any(|(_, given)| lasts(given.until, time))
        })
    }

    /// Says whether a key may have rights for one more area.
    pub(crate) fn has_room_for_area(&self, key: &PublicKey, area: GroundArea) -> bool {
        let areas = self.roles.get(key).map(|role| &role.areas);
        let own = areas.map_or(0, BTreeMap::len);
        areas.is_some_and(|areas| areas.contains_key(&area))
            || own < RIGHTS_AREAS_PER_KEY_MAX && self.areas < RIGHTS_AREAS_MAX
    }

    /// Gives a key rights, for an area or for the whole sim.
    pub(crate) fn grant(
        &mut self,
        key: PublicKey,
        area: Option<GroundArea>,
        rights: &BTreeSet<RoleRight>,
        given: GivenRight,
    ) {
        self.change_role(key, area, rights, Some(given));
    }

    /// Takes rights from a key, for an area or for the whole sim.
    pub(crate) fn revoke(
        &mut self,
        key: PublicKey,
        area: Option<GroundArea>,
        rights: &BTreeSet<RoleRight>,
    ) {
        self.change_role(key, area, rights, None);
    }

    /// Takes all rights from a key. Returns them.
    pub(crate) fn revoke_all(&mut self, key: PublicKey) -> Role {
        let role = self.roles.get(&key).cloned().unwrap_or_default();
        for (area, right, _) in role.all() {
            self.revoke(key, area, &[right].into());
        }
        role
    }

    /// Sets the terms of rights of a key, or takes them away. The indexes follow.
    fn change_role(
        &mut self,
        key: PublicKey,
        area: Option<GroundArea>,
        rights: &BTreeSet<RoleRight>,
        given: Option<GivenRight>,
    ) {
        let mut role = self.roles.get(&key).cloned().unwrap_or_default();
        let areas = role.areas.len();
        for right in rights {
            let ending = |until: u64| (until, Ending::Right(area, *right), key);
            let before = role.set(area, *right, given);
            if let Some(until) = before.and_then(|before| before.until) {
                self.endings.remove(&ending(until));
            }
            self.endings.extend(given.and_then(|given| given.until).map(ending));
        }
        let others = self.areas.checked_sub(areas).expect("the count has the areas of every role");
        self.areas = others + role.areas.len();
        if role.is_empty() {
            self.roles.remove(&key);
        } else {
            self.roles.insert(key, role);
        }
    }
}
