//! Lots: decides what people order about ground of their own, and going home.

use metatopia_math::{Angle, Vec2};
use metatopia_physics::{Body, Motion, Pose, Shape};
use metatopia_types::{GroundArea, LotId, LotOrder, ObjectId, PublicKey, Refusal};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
};
use crate::{
    limits::{
        HOME_TRIES, HOMECOMERS_PER_TURN_MAX, LOT_FRIENDS_MAX, LOT_SIDE_MAX, LOT_SIDE_MIN,
        SENDINGS_PER_AUTHOR_MAX, SENDINGS_PER_TURN_MAX,
    },
    rules::{ActGround, ActTarget, Right},
    space::{Area, Footprint, Lot},
    state::{State, is_name},
};

impl ActContext<'_> {
    /// Decides an order about a lot.
    pub(super) fn lot(&self, order: &LotOrder) -> ActResult {
        let player = self.renewed_player()?;
        self.check_pace()?;
        let change = match order {
            LotOrder::Claim { ground, name } => {
                let lot = self.claimed(*ground, name)?;
                StateChange::Lot(self.state.clock.next_lot, Some(Box::new(lot)))
            }
            LotOrder::Return { lot } => {
                self.state.lot(*lot)?;
                StateChange::Lot(*lot, None)
            }
            LotOrder::SendHome { lot, object } => {
                let own = self.counts.sendings_by.get(&self.author()).copied().unwrap_or(0);
                if self.counts.sendings > SENDINGS_PER_TURN_MAX || own > SENDINGS_PER_AUTHOR_MAX {
                    return Err(Refusal::TooOften);
                }
                let place = self.state.way_home(self.state.lot(*lot)?, *object)?;
                StateChange::Return(*object, Some(place))
            }
            LotOrder::Name { lot, .. }
            | LotOrder::Give { lot, .. }
            | LotOrder::Open { lot, .. }
            | LotOrder::Shut { lot, .. }
            | LotOrder::OpenToClub { lot, .. }
            | LotOrder::ShutToClub { lot } => {
                let changed = self.state.changed_lot(self.state.lot(*lot)?, order)?;
                StateChange::Lot(*lot, Some(Box::new(changed)))
            }
        };
        Ok(vec![change, StateChange::Player(self.author(), player)])
    }

    /// Decides whether the author may take this ground.
    fn claimed(&self, ground: GroundArea, name: &str) -> Result<Lot, Refusal> {
        if !is_name(name) {
            return Err(Refusal::BadText);
        }
        let area = lot_area(ground).ok_or(Refusal::OutOfRange)?;
        if !self.state.is_own_ground(area.low) || !self.state.is_own_ground(area.high) {
            return Err(Refusal::OutOfRange);
        }
        self.check_reach(&area.footprint())?;
        if area.overlaps(&self.state.charter.parameters.avatar.arrivals()) {
            return Err(Refusal::KeptClear);
        }
        self.state.check_free_ground(&area)?;
        self.state.check_lot_share(&self.author(), ground.square_metres())?;
        self.state.check_nothing_of_others(&area, &self.author())?;
        let (name, holder) = (name.to_owned(), self.author());
        Ok(Lot { name, area, holder, friends: Default::default(), club: None })
    }

    /// Decides whether the avatar goes home.
    pub(super) fn go_home(&self) -> ActResult {
        let gone = &self.counts.homecomers;
        if gone.len() >= HOMECOMERS_PER_TURN_MAX || gone.contains(&self.author()) {
            return Err(Refusal::TooOften);
        }
        let (player, session) = self.with_session(|session| session.heading = Vec2::ZERO)?;
        let avatar = session.presence.avatar_here()?;
        let home = StateChange::GoHome(avatar, self.free_place());
        Ok(vec![home, StateChange::Player(self.author(), player)])
    }
}

/// Returns the area of a lot whose sides are allowed.
pub(super) fn lot_area(ground: GroundArea) -> Option<Area> {
    let fits = |side: u16| (LOT_SIDE_MIN..=LOT_SIDE_MAX).contains(&side);
    let near = |corner: i32| corner.unsigned_abs() <= 1 << 15;
    let is_one = fits(ground.width) && fits(ground.depth) && near(ground.x) && near(ground.y);
    is_one.then(|| Area::of_ground(ground))
}

impl Area {
    /// Returns the footprint of a thing that would cover all of it.
    pub(super) fn footprint(&self) -> Footprint {
        let half = self.high.saturating_sub(self.low).scale(metatopia_math::Fx::HALF);
        let pose = Pose { position: self.low.saturating_add(half), angle: Angle::ZERO };
        Footprint { shape: Shape::Rect { half }, pose }
    }
}

impl State {
    /// Returns a lot.
    pub(super) fn lot(&self, id: LotId) -> Result<&Lot, Refusal> {
        self.lots.all.get(&id).ok_or(Refusal::NoLot)
    }

    /// Returns the right that an order about a lot needs, and what it is about.
    ///
    /// # Errors
    /// When there is no such lot or thing, or no such ground.
    pub(super) fn lot_request<'a>(
        &'a self,
        order: &LotOrder,
    ) -> Result<(Right, ActTarget<'a>), Refusal> {
        let ground = match order {
            LotOrder::Claim { ground, .. } => Some(lot_area(*ground).ok_or(Refusal::OutOfRange)?),
            _ => None,
        };
        let person = match order.lot() {
            Some(lot) => Some(&self.lot(lot)?.holder),
            None => None,
        };
        let frozen = match order {
            LotOrder::SendHome { object, .. } => self.people.frozen.contains(object),
            _ => false,
        };
        let lot = order.lot().map(|lot| self.lot(lot)).transpose()?.map(|lot| lot.area);
        let whereabouts = match order {
            // What goes home stands on the lot, and may stick out of it.
            LotOrder::SendHome { object, .. } => {
                lot.zip(self.standing(*object)).map(|(before, after)| ActGround { before, after })
            }
            _ => lot.map(ActGround::at),
        };
        Ok((Right::Lot, ActTarget { ground, person, frozen, whereabouts, ..ActTarget::SIM }))
    }

    /// Returns a lot as it is after an order that its holder may give.
    fn changed_lot(&self, lot: &Lot, order: &LotOrder) -> Result<Lot, Refusal> {
        let mut changed = lot.clone();
        let need = |holds: bool, why: Refusal| if holds { Ok(()) } else { Err(why) };
        match order {
            LotOrder::Name { name, .. } => {
                need(is_name(name), Refusal::BadText)?;
                changed.name.clone_from(name);
            }
            LotOrder::Give { to, .. } => {
                self.check_player(to)?;
                need(lot.holder != *to, Refusal::AlreadySo)?;
                self.check_lot_share(to, lot.square_metres())?;
                changed.holder = *to;
                // The new holder chooses friends, and a club.
                changed.friends.clear();
                changed.club = None;
            }
            LotOrder::Open { to, .. } => {
                self.check_player(to)?;
                need(!lot.names(to), Refusal::AlreadySo)?;
                need(lot.friends.len() < LOT_FRIENDS_MAX, Refusal::ListFull)?;
                changed.friends.insert(*to);
            }
            LotOrder::Shut { to, .. } => {
                need(changed.friends.remove(to), Refusal::AlreadySo)?;
            }
            LotOrder::OpenToClub { club, .. } => {
                self.people.clubs.club(*club)?;
                need(lot.club != Some(*club), Refusal::AlreadySo)?;
                changed.club = Some(*club);
            }
            LotOrder::ShutToClub { .. } => {
                need(changed.club.take().is_some(), Refusal::AlreadySo)?;
            }
            LotOrder::Claim { .. } | LotOrder::Return { .. } | LotOrder::SendHome { .. } => {}
        }
        Ok(changed)
    }

    /// Checks that somebody with this key has logged in.
    fn check_player(&self, key: &PublicKey) -> Result<(), Refusal> {
        if self.players.contains(key) { Ok(()) } else { Err(Refusal::NoPlayer) }
    }

    /// Checks that nothing stands on ground that somebody takes, but what is this player's, what can be
    /// pushed and is the sim's, and people.
    fn check_nothing_of_others(&self, area: &Area, own: &PublicKey) -> Result<(), Refusal> {
        let Footprint { shape, pose } = area.footprint();
        let half = shape.half_extents(pose.angle);
        let mut near = self.bodies.around(pose.position, half.x.saturating_add(half.y));
        let is_in_the_way = |body: &Body| {
            let owner = self.objects.get(&body.id());
            let owner = owner.filter(|object| object.player.is_none() && object.held.is_none());
            let is_others = owner.is_some_and(|object| match object.owner {
                Some(owner) => owner != *own,
                None => body.motion() == Motion::Static,
            });
            is_others && Footprint::of(body).area().overlaps(area)
        };
        if near.any(is_in_the_way) { Err(Refusal::NotEmpty) } else { Ok(()) }
    }

    /// Returns where a thing of somebody else goes that stands on a lot: to its owner's own ground, or
    /// beside the lot.
    fn way_home(&self, lot: &Lot, id: ObjectId) -> Result<Vec2, Refusal> {
        let owner = self.thing(id)?.owner.ok_or(Refusal::NotYours)?;
        if self.is_held(id) {
            return Err(Refusal::Held);
        }
        let body = self.bodies.body(id).ok_or(Refusal::NoObject)?;
        if !lot.area.contains(body.position()) {
            return Err(Refusal::NotOnLot);
        }
        if owner == lot.holder {
            return Err(Refusal::AlreadySo);
        }
        let home = self.home_of(id).or_else(|| self.place_beside(lot, body, &owner));
        home.ok_or(Refusal::NoWayHome)
    }

    /// Returns a free place beside a lot where the owner of a thing may build.
    fn place_beside(&self, lot: &Lot, body: &Body, owner: &PublicKey) -> Option<Vec2> {
        let half = body.shape().half_extents(Angle::ZERO);
        let reach = half.x.saturating_add(half.y);
        let (low, high) = (lot.area.low, lot.area.high);
        let (west, east) = (low.x.saturating_sub(reach), high.x.saturating_add(reach));
        let (south, north) = (low.y.saturating_sub(reach), high.y.saturating_add(reach));
        let along = |low, high, n| super::govern::part_of(low, high, n);
        let mut places = (0..HOME_TRIES).flat_map(|n| {
            let (x, y) = (along(low.x, high.x, n), along(low.y, high.y, n));
            [Vec2::new(x, south), Vec2::new(x, north), Vec2::new(west, y), Vec2::new(east, y)]
        });
        places.find(|place| self.has_room_for(body, *place, owner))
    }
}
