//! Lots: the list of them, how much of it one player may have, and what falls back when nobody comes.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::Vec2;
use metatopia_physics::Motion;
use metatopia_types::{ClubId, LotId, ObjectId, PublicKey, Refusal};

use super::governance::DAY_MS;
use crate::{
    limits::{FALLS_PER_TURN, LOTS_MAX},
    space::{Area, GroundAt, Lot},
    state::{State, World},
    tree::Tracked,
};

/// The lots of a sim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lots {
    pub(crate) all: Tracked<LotId, Lot>,
    /// Index: the lots of each holder.
    held: BTreeMap<PublicKey, BTreeSet<LotId>>,
    /// Index: the lots that are open to clubs.
    open: BTreeSet<(ClubId, LotId)>,
}

impl Lots {
    /// Builds the indexes.
    pub(crate) fn index(&mut self) {
        (self.held, self.open) = (BTreeMap::new(), BTreeSet::new());
        for (id, lot) in self.all.iter() {
            self.held.entry(lot.holder).or_default().insert(*id);
            self.open.extend(lot.club.map(|club| (club, *id)));
        }
    }

    /// Returns the lots of a holder.
    pub(crate) fn of(&self, holder: &PublicKey) -> impl Iterator<Item = &Lot> {
        self.held.get(holder).into_iter().flatten().filter_map(|id| self.all.get(id))
    }

    /// Says whether a player has a lot.
    pub(crate) fn has_any(&self, holder: &PublicKey) -> bool {
        self.held.contains_key(holder)
    }

    /// Returns all lots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lot> {
        self.all.iter().map(|(_, lot)| lot)
    }

    /// Sets a lot, or removes it.
    fn set(&mut self, id: LotId, lot: Option<Lot>) {
        if let Some(club) = self.all.get(&id).and_then(|before| before.club) {
            self.open.remove(&(club, id));
        }
        if let Some(before) = self.all.get(&id)
            && let Some(held) = self.held.get_mut(&before.holder)
        {
            held.remove(&id);
            if held.is_empty() {
                let holder = before.holder;
                self.held.remove(&holder);
            }
        }
        match lot {
            Some(lot) => {
                self.held.entry(lot.holder).or_default().insert(id);
                self.open.extend(lot.club.map(|club| (club, id)));
                self.all.insert(id, lot);
            }
            None => drop(self.all.remove(&id)),
        }
    }
}

impl State {
    /// Sets a lot, or removes it. Whoever holds one is not forgotten.
    pub(crate) fn set_lot(&mut self, id: LotId, lot: Option<Lot>) {
        self.clock.next_lot = self.clock.next_lot.max(id.plus(1));
        let before = self.lots.all.get(&id).map(|lot| lot.holder);
        let after = lot.as_ref().map(|lot| lot.holder);
        let holders: BTreeSet<PublicKey> = before.into_iter().chain(after).collect();
        let entries: Vec<_> =
            holders.iter().map(|holder| (*holder, self.current_entry(holder))).collect();
        self.lots.set(id, lot);
        for (holder, entry) in entries {
            self.move_from(holder, entry);
        }
    }

    /// Makes one key the holder and the friend of whatever another one was.
    pub(crate) fn move_lots(&mut self, old: PublicKey, new: PublicKey) {
        let all = self.lots.all.iter().filter(|(_, lot)| lot.names(&old));
        let lots: Vec<(LotId, Lot)> = all.map(|(id, lot)| (*id, lot.clone())).collect();
        for (id, mut lot) in lots {
            if lot.holder == old {
                lot.holder = new;
            }
            if lot.friends.remove(&old) {
                lot.friends.insert(new);
            }
            self.set_lot(id, Some(lot));
        }
    }

    /// Closes the lots that are open to a club.
    pub(super) fn shut_lots_to(&mut self, club: ClubId) {
        let all = self.lots.open.range((club, LotId(0))..=(club, LotId(u64::MAX)));
        let lots: Vec<LotId> = all.map(|(_, lot)| *lot).collect();
        for id in lots {
            let lot = self.lots.all.get(&id).cloned();
            self.set_lot(id, lot.map(|lot| Lot { club: None, ..lot }));
        }
    }

    /// Checks that a player may have one more lot of so many square metres.
    pub(crate) fn check_lot_share(&self, holder: &PublicKey, more: u32) -> Result<(), Refusal> {
        let share = &self.charter.parameters.lots;
        let count = self.lots.of(holder).count();
        let has = self.lots.of(holder).map(Lot::square_metres).fold(0, u32::saturating_add);
        let fits = count < share.per_player as usize
            && has.saturating_add(more) <= share.square_metres_per_player;
        if fits { Ok(()) } else { Err(Refusal::TooManyLots) }
    }

    /// Checks that the sim may have one more lot on this ground.
    pub(crate) fn check_free_ground(&self, area: &Area) -> Result<(), Refusal> {
        if self.lots.iter().any(|lot| lot.area.overlaps(area)) {
            return Err(Refusal::LotTaken);
        }
        if self.lots.all.len() >= LOTS_MAX { Err(Refusal::ListFull) } else { Ok(()) }
    }

    /// Returns what decides who may build at a place.
    pub(crate) fn ground_at(&self, place: Vec2) -> GroundAt<'_> {
        GroundAt::of(&self.charter.lands, self.lots.iter(), place)
    }

    /// Has fall back what nobody renewed, after governance time went on. A login renews all that a player
    /// has. A turn looks at one lot and at the things of one owner, so that it costs the same with few and
    /// with many.
    pub(crate) fn fall_back(&mut self) {
        let (turn, days) = (self.clock.height.0, &self.charter.parameters.lots);
        let (lot_days, wall_days) = (days.days, days.wall_days);
        let nth =
            |count: usize| turn.checked_rem(count as u64).and_then(|n| usize::try_from(n).ok());
        let lot = nth(self.lots.all.len()).and_then(|n| self.lots.all.iter().nth(n));
        if let Some((id, lot)) = lot
            && self.is_long_gone(&lot.holder, lot_days)
        {
            let id = *id;
            self.set_lot(id, None);
        }
        let owner = nth(self.owned.len()).and_then(|n| self.owned.keys().nth(n)).copied();
        let Some(owner) = owner.filter(|owner| self.is_long_gone(owner, wall_days)) else { return };
        let walls = self.owned.get(&owner).into_iter().flatten().copied();
        let walls: Vec<ObjectId> =
            walls.filter(|id| self.is_on_open_ground(*id)).take(FALLS_PER_TURN).collect();
        for wall in walls {
            self.delete_object(wall);
        }
    }

    /// Says whether a player is away, and has not logged in for so many days of governance time. With 0
    /// days nobody ever is.
    fn is_long_gone(&self, key: &PublicKey, days: u32) -> bool {
        let Some(player) = self.players.get(key).filter(|_| days > 0) else { return false };
        let away = self.governance.time.saturating_sub(player.last_login);
        player.session.is_none() && away >= u64::from(days).saturating_mul(DAY_MS)
    }

    /// Says whether a thing stays in its place, on ground that is open to everybody.
    fn is_on_open_ground(&self, id: ObjectId) -> bool {
        let open = self.charter.parameters.building.open_ground;
        self.bodies.body(id).is_some_and(|body| {
            self.motion_of(id) == Some(Motion::Static)
                && self.ground_at(body.position()).is_open(open)
        })
    }
}

impl World {
    /// Returns the lots of greater numbers, ascending.
    pub fn lots_after(&self, after: LotId) -> impl Iterator<Item = (LotId, &Lot)> {
        self.state.lots.all.after(after).map(|(id, lot)| (*id, lot))
    }

    /// Returns a lot.
    #[must_use]
    pub fn lot(&self, id: LotId) -> Option<&Lot> {
        self.state.lots.all.get(&id)
    }

    /// Returns what decides who may build at a place.
    #[must_use]
    pub fn ground_at(&self, place: Vec2) -> GroundAt<'_> {
        self.state.ground_at(place)
    }
}
