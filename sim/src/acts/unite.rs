//! Uniting: decides whether several things become one thing of several parts.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, BodySpec, CompoundPart, Pose, Shape, limits::COMPOUND_PARTS_MAX};
use metatopia_types::{AssetLicence, ObjectId, Refusal};

use super::{
    changes::StateChange,
    context::{ActContext, ActResult},
    materials::mass_reshaped,
    outline::{check_shape, footprint_of_parts},
    quota::QuotaUse,
};
use crate::{
    limits::BUILD_BYTES_MAX,
    rules::{ActGround, ActTarget, Right},
    space::Footprint,
    state::{Object, Player},
};

impl ActContext<'_> {
    /// Returns the ground that one thing covers in the place of these.
    ///
    /// # Errors
    /// [`Refusal::BadParts`] if they are too few or too many, one of them twice, or a line;
    /// [`Refusal::BadSize`] if they are too far from each other.
    pub(super) fn united_footprint(&self, ids: &[ObjectId]) -> Result<Footprint, Refusal> {
        let is_twice = |n: usize, id| ids.iter().take(n).any(|other| other == id);
        // Many ids are refused before anything is looked up.
        let is_count = (2..=COMPOUND_PARTS_MAX).contains(&ids.len());
        if !is_count || ids.iter().enumerate().any(|(n, id)| is_twice(n, id)) {
            return Err(Refusal::BadParts);
        }
        let bodies = ids.iter().map(|id| self.state.bodies.body(*id).ok_or(Refusal::NoObject));
        let bodies = bodies.collect::<Result<Vec<&Body>, Refusal>>()?;
        let first = bodies[0].pose();
        let parts: Vec<CompoundPart> =
            bodies.into_iter().flat_map(|body| parts_around(body, first)).collect();
        let footprint = footprint_of_parts(&parts, first)?;
        check_shape(self.rules(), footprint.shape.clone())?;
        Ok(footprint)
    }

    /// Decides whether the author's things become one, which is as the first of them and takes their place.
    pub(super) fn unite(&self, ids: &[ObjectId], renewed: Player) -> ActResult {
        let Footprint { shape, pose } = self.united_footprint(ids)?;
        let (mut licence, mut used) = (AssetLicence::Cc0, QuotaUse::default());
        for id in ids {
            let (_, thing) = self.within_reach(*id)?;
            self.check_part(*id, thing)?;
            licence = licence.max(thing.licence);
            // What came over a border counts against the border's share.
            if thing.guest.is_none() {
                used = used.plus(self.state.quota_use(*id, thing)?);
            }
        }
        let (body, source) = self.within_reach(ids[0])?;
        let object = Object { author: Some(self.author()), licence, ..source.anew() };
        let mass = mass_reshaped(body, shape.clone());
        let still = BodySpec { velocity: Vec2::ZERO, spin: Fx::ZERO, ..source.spec_of(body) };
        let body = BodySpec { shape, pose, mass, ..still };
        self.check_whole(&object, &body, used)?;
        Ok(vec![
            StateChange::Unite(Box::new((object, body)), ids.to_vec()),
            StateChange::Player(self.author(), renewed),
        ])
    }

    /// Checks that there is room for what several things become. They use so much of their owner's quotas, and are
    /// deleted after the whole is made, so the sim needs room for one thing more.
    fn check_whole(&self, object: &Object, body: &BodySpec, used: QuotaUse) -> Result<(), Refusal> {
        let footprint = Footprint { shape: body.shape.clone(), pose: body.pose };
        self.check_place(&footprint, body.motion)?;
        self.state.check_slots(body.motion)?;
        let more = QuotaUse::of(object, (body.motion, &body.shape), 0).without(used);
        self.state.check_more_compounds(more.compounds)?;
        self.state.check_quota(&self.author(), more, 1)?;
        if self.state.byte_budget.has(BUILD_BYTES_MAX) { Ok(()) } else { Err(Refusal::Full) }
    }

    /// Checks that a thing may become a part of one of the author's.
    fn check_part(&self, id: ObjectId, thing: &Object) -> Result<(), Refusal> {
        let author = self.author();
        if thing.owner != Some(author) {
            return Err(Refusal::OwnersDiffer);
        }
        // Not even a moderator unites frozen things: the log has a line of each frozen thing that one changes.
        if self.state.people.frozen.contains(&id) {
            return Err(Refusal::Frozen);
        }
        if thing.held.is_some() {
            return Err(Refusal::Held);
        }
        // A thing names one author, so the name of another one would be lost.
        if thing.author != Some(author) && thing.licence != AssetLicence::Cc0 {
            return Err(Refusal::OtherAuthor);
        }
        let whereabouts = self.state.standing(id).map(ActGround::at);
        let target = ActTarget { thing: Some(thing), whereabouts, ..ActTarget::SIM };
        self.state.may(&author, Right::Build, &target)?;
        Ok(())
    }
}

/// Returns the parts of a body as they are seen from a pose.
fn parts_around(body: &Body, from: Pose) -> Vec<CompoundPart> {
    let back = from.angle.wrapping_neg();
    let (offset, angle) = (
        body.position().saturating_sub(from.position).rotate(back),
        body.angle().wrapping_sub(from.angle),
    );
    let seen = |part: CompoundPart| CompoundPart {
        offset: part.offset.rotate(angle).saturating_add(offset),
        angle: part.angle.wrapping_add(angle),
        ..part
    };
    match body.shape() {
        Shape::Compound(compound) => compound.parts().map(seen).collect(),
        shape => vec![seen(CompoundPart::new(shape))],
    }
}
