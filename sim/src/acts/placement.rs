//! Placement: decides where there is room for what builders build.

use metatopia_math::Vec2;
use metatopia_physics::{Body, Motion};
use metatopia_types::{GroundArea, Refusal};

use super::context::ActContext;
use crate::{
    space::{Area, Footprint},
    state::State,
};

impl ActContext<'_> {
    /// Checks that the author's avatar is near enough to this ground.
    pub(crate) fn check_reach(&self, footprint: &Footprint) -> Result<(), Refusal> {
        if footprint.distance(self.own_place()?) > self.rules().reach {
            return Err(Refusal::OutOfReach);
        }
        Ok(())
    }

    /// Returns where the author's avatar is.
    pub(super) fn own_place(&self) -> Result<Vec2, Refusal> {
        Ok(self.own_body()?.position())
    }

    /// Checks that a body may cover this ground, wherever the author may build.
    pub(crate) fn check_place(&self, footprint: &Footprint, motion: Motion) -> Result<(), Refusal> {
        if !self.state.is_own_ground(footprint.pose.position) {
            return Err(Refusal::OutOfRange);
        }
        self.check_reach(footprint)?;
        self.state.check_ground(footprint, motion)
    }
}

impl State {
    /// Says whether a place is on the sim's own ground. Behind an open border bodies move a little further,
    /// and nobody builds.
    pub(super) fn is_own_ground(&self, place: Vec2) -> bool {
        let own = self.borders.is_empty() || self.charter.parameters.ground.nearest(place) == place;
        own && self.bodies.bounds().contains(place)
    }

    /// Returns an area of ground that has an inside and lies on the sim's own.
    ///
    /// # Errors
    /// [`Refusal::OutOfRange`] if it does not.
    pub(super) fn own_area(&self, ground: GroundArea) -> Result<Area, Refusal> {
        let area = Area::of_ground(ground);
        let is_own = self.is_own_ground(area.low) && self.is_own_ground(area.high);
        if area.is_proper() && is_own { Ok(area) } else { Err(Refusal::OutOfRange) }
    }

    /// Checks that a body may cover this ground, whoever puts it there.
    pub(crate) fn check_ground(
        &self,
        footprint: &Footprint,
        motion: Motion,
    ) -> Result<(), Refusal> {
        self.check_clear(footprint, motion)?;
        self.check_nobody_is_there(footprint)
    }

    /// Checks that a body covers the sim's own ground, and if it stays there, none of that where people arrive.
    pub(crate) fn check_clear(&self, footprint: &Footprint, motion: Motion) -> Result<(), Refusal> {
        if !self.is_own_ground(footprint.pose.position) {
            return Err(Refusal::OutOfRange);
        }
        let arrivals = self.charter.parameters.avatar.arrivals();
        let stays = motion != Motion::Dynamic;
        if stays && footprint.area().overlaps(&arrivals) { Err(Refusal::KeptClear) } else { Ok(()) }
    }

    /// Checks that no avatar stands in a body that pushes. Nobody gets stuck in a sensor.
    pub(super) fn check_nobody_is_in(&self, body: &Body) -> Result<(), Refusal> {
        if body.is_sensor() { Ok(()) } else { self.check_nobody_is_there(&Footprint::of(body)) }
    }

    /// Checks that no avatar stands there, so that nobody gets stuck in what is built.
    pub(crate) fn check_nobody_is_there(&self, footprint: &Footprint) -> Result<(), Refusal> {
        let radius = self.charter.parameters.avatar.radius;
        let mut avatars = self.present.values().filter_map(|avatar| self.bodies.body(*avatar));
        if avatars.any(|avatar| footprint.distance(avatar.position()) < radius) {
            return Err(Refusal::Occupied);
        }
        Ok(())
    }
}
