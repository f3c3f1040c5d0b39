//! A pair of bodies during one step: its contact constraint, warm-started from the last step.

use core::ops::Range;

use metatopia_math::Fx;
use metatopia_types::ObjectId;

use crate::broad_phase::{PairKey, indices};
use crate::constraint::{ConstraintPoint, Coupling};
use crate::contact::{Contact, ContactPoints, PointPair};
use crate::fixed::{Q20, Unit, Vector};
use crate::limits::TOUCH_MARGIN;
use crate::narrow_phase::{Hull, Manifold, collide};
use crate::outline::BodyOutline;
use crate::solver_body::{BodyShift, BodyVelocity, SolverBody};
use crate::touch::{Hit, Touch};

const MARGIN: Q20 = Q20::constant(TOUCH_MARGIN);
/// How far bodies may move against each other, in metres, before they are looked at again.
pub(crate) const SLACK: Q20 = Q20::constant(Fx::from_ratio(1, 64));
/// The points of a pair.
const POINTS_MAX: usize = 2;

/// Returns how many points the manifold of two outlines has at most. Thousands of balls lie in memory the closer
/// the less of it is empty.
const fn points_max(one: BodyOutline, other: BodyOutline) -> u8 {
    use BodyOutline::{Circle, Rect};
    match (one, other) {
        (Circle(_), Circle(_) | Rect(_)) | (Rect(_), Circle(_)) => 1,
        _ => POINTS_MAX as u8,
    }
}

/// What a step reads of the bodies of a pair.
#[derive(Clone, Copy)]
pub(crate) struct PairView<'a> {
    pub(crate) bodies: [&'a SolverBody; 2],
    pub(crate) velocities: [&'a BodyVelocity; 2],
    pub(crate) shifts: [&'a BodyShift; 2],
    pub(crate) hulls: &'a [Hull],
}

impl PairView<'_> {
    /// Returns whether both bodies sleep.
    pub(crate) const fn is_asleep(&self) -> bool {
        self.shifts[0].asleep && self.shifts[1].asleep
    }

    /// Returns whether a manifold that was found in this step still holds: no point of one body has moved
    /// further than [`SLACK`] as the other one sees it.
    pub(crate) fn holds(&self) -> bool {
        BodyShift::summed_reach(self.shifts) <= SLACK
            || BodyShift::relative_reach(self.shifts, self.velocities) <= SLACK
    }

    /// Returns how far apart what meets may be now.
    pub(crate) fn margin(&self, holds: bool) -> Q20 {
        if holds {
            return SLACK + MARGIN;
        }
        let [a, b] = self.bodies;
        a.travel(self.velocities[0]) + b.travel(self.velocities[1])
    }
}

/// Two bodies whose boxes overlap.
#[derive(Clone, Debug)]
pub(crate) struct ContactPair {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) normal: Unit,
    /// The index of its first point in the solver's list of points.
    pub(crate) first: u32,
    /// How many points it has.
    pub(crate) count: u8,
    /// How many points it has room for in that list.
    pub(crate) room: u8,
    /// How many points its manifold has at most.
    points_max: u8,
    /// The place of its constraint in the solver's list of constraints, if it has one.
    pub(crate) listed: Option<u32>,
    /// Whether neither body is a sensor, so that the two push each other.
    pub(crate) has_response: bool,
    /// Whether one of the two bodies has an infinite mass.
    pub(crate) infinite_mass: bool,
    /// Whether the shapes have been looked at in this step.
    detected: bool,
    /// Whether they have been since the constraint took over what the pair knows.
    pub(crate) renewed: bool,
    /// Whether the two touched in the step before.
    touched_before: bool,
    /// Whether the two touched in this step.
    pub(crate) touched: bool,
    /// Whether the two are within the touch margin at the end of this step.
    pub(crate) within_margin: bool,
    friction: Q20,
    pub(crate) restitution: Q20,
    /// How its two points act on each other, if it has two.
    pub(crate) coupling: Coupling,
    /// The position where the two first touched.
    pub(crate) touch_point: Vector,
}

impl ContactPair {
    /// Prepares a pair for a step, without points.
    // Inlined, as below: what is made field by field and then copied in wide pieces waits for the fields to be stored.
    #[inline(always)]
    pub(crate) fn new(key: PairKey, bodies: &[SolverBody], touched_before: bool) -> Self {
        let (a, b) = indices(key);
        let (first, second) = (&bodies[a], &bodies[b]);
        let surface = &first.mass_props.surface;
        Self {
            a: a as u32,
            b: b as u32,
            normal: Unit::X,
            first: 0,
            count: 0,
            room: 0,
            points_max: points_max(first.outline, second.outline),
            listed: None,
            has_response: !first.sensor && !second.sensor,
            infinite_mass: first.has_infinite_mass() || second.has_infinite_mass(),
            detected: false,
            renewed: true,
            touched_before,
            touched: false,
            within_margin: touched_before,
            friction: surface.friction(&second.mass_props.surface),
            restitution: surface.restitution(&second.mass_props.surface),
            coupling: Coupling::default(),
            touch_point: Vector::ZERO,
        }
    }

    /// Takes over the points that the last step left, if the two push each other, and appends them to those of the
    /// pairs before it.
    pub(crate) fn warm_start(&mut self, stored: &PointPair, points: &mut Vec<ConstraintPoint>) {
        if !self.has_response {
            return;
        }
        let count = stored.iter().flatten().count() as u8;
        for old in stored.iter().flatten() {
            self.make_room(count.max(self.points_max), points);
            points[usize::from(self.count) + self.first as usize] = ConstraintPoint {
                feature: old.feature,
                normal_impulse: old.normal_impulse,
                tangent_impulse: old.tangent_impulse,
                ..ConstraintPoint::default()
            };
            self.count += 1;
        }
    }

    /// Gives it room for so many points in the list, if it has none.
    fn make_room(&mut self, count: u8, points: &mut Vec<ConstraintPoint>) {
        if self.room == 0 {
            self.first = points.len() as u32;
            points.resize(points.len() + usize::from(count), ConstraintPoint::default());
            self.room = count;
        }
    }

    /// Returns where its points are in the solver's list.
    pub(crate) fn range(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + usize::from(self.count)
    }

    /// Returns whether substeps find nothing new about the pair for as long as its bodies have moved by no more than
    /// [`SLACK`] in sum: it was looked at in this step, its constraint has taken over what is known, if it has one, and
    /// nobody asks how fast its points approach. Most pairs of a pile need [`Self::refresh`] but once in a step.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        let taken_over = match self.listed {
            Some(_) => !self.renewed,
            None => self.count == 0 || !self.has_response,
        };
        self.detected && taken_over && self.restitution.is_zero()
    }

    /// Finds where the two meet, unless what was found before in this step still holds. Returns
    /// whether there is something to solve; two sleeping bodies are left as they are.
    ///
    /// A manifold holds while no point of one body has moved further than [`SLACK`] as the other one
    /// sees it: so far is the curve that a corner moves on as good as straight. Bodies that pass each
    /// other faster are looked at in each substep, so nothing tunnels.
    pub(crate) fn refresh(
        &mut self,
        view: PairView<'_>,
        points: &mut Vec<ConstraintPoint>,
    ) -> bool {
        // The points of a sleeping pair must stay untouched: they go into the state as they came.
        if view.is_asleep() {
            return false;
        }
        let holds = view.holds();
        if !self.detected || !holds {
            self.detect(view, holds, points);
        }
        self.begin(view, points)
    }

    /// Notes how fast its points approach. Returns whether there is something to solve.
    pub(crate) fn begin(&self, view: PairView<'_>, points: &mut [ConstraintPoint]) -> bool {
        if self.count == 0 || !self.has_response {
            return false;
        }
        if !self.restitution.is_zero() {
            let [a, b] = view.velocities;
            for point in &mut points[self.range()] {
                point.relative_speed = point.normal.relative_speed(self.normal, a, b);
            }
        }
        true
    }

    /// Detects where the two meet now, and prepares the constraint.
    fn detect(&mut self, view: PairView<'_>, holds: bool, points: &mut Vec<ConstraintPoint>) {
        self.detected = true;
        let [a, b] = view.bodies;
        let margin = view.margin(holds);
        let manifold = if a.is_apart_from(b, margin) {
            Manifold::default()
        } else {
            collide(a, b, view.hulls, margin)
        };
        self.take(&manifold, view, points);
    }

    /// Takes over where the two meet now.
    pub(crate) fn take(
        &mut self,
        manifold: &Manifold,
        view: PairView<'_>,
        points: &mut Vec<ConstraintPoint>,
    ) {
        let a = view.bodies[0];
        self.renewed = true;
        if manifold.count == 0 {
            (self.within_margin, self.count) = (false, 0);
            return;
        }
        self.within_margin = manifold.points().iter().any(|point| point.separation <= MARGIN);
        let deepest = manifold.points().iter().min_by_key(|point| point.separation);
        if let Some(point) = deepest.filter(|_| !self.touched) {
            self.touch_point = a.position + point.anchor_a;
            self.touched = point.separation <= Q20::ZERO;
        }
        if self.has_response {
            self.prepare(manifold, view, points);
        }
    }

    /// Prepares the constraint's points. A point whose feature was there before keeps its impulses.
    fn prepare(
        &mut self,
        manifold: &Manifold,
        view: PairView<'_>,
        points: &mut Vec<ConstraintPoint>,
    ) {
        self.make_room(self.points_max, points);
        let mut known = [const { None }; POINTS_MAX];
        for (known, old) in known.iter_mut().zip(&points[self.range()]) {
            *known = Some((old.stored(), old.total_impulse));
        }
        self.normal = manifold.normal;
        self.count = manifold.count as u8;
        for (point, found) in points[self.range()].iter_mut().zip(manifold.points()) {
            *point = ConstraintPoint::new(found, self.normal, view.bodies, self.friction);
            point.offset = found.separation - point.normal.shifted(self.normal, view.shifts);
            let mut known = known.iter().flatten();
            if let Some((old, total)) = known.find(|(old, _)| old.feature == found.feature) {
                point.normal_impulse = old.normal_impulse;
                point.tangent_impulse = old.tangent_impulse;
                point.total_impulse = *total;
            }
        }
        if let [one, other] = &points[self.range()] {
            self.coupling = Coupling::new(self.normal, &one.normal, &other.normal);
        }
    }

    /// Notes whether the two meet at the end of the step, where one of them only notices the other.
    pub(crate) fn notice(&mut self, view: PairView<'_>) {
        if !view.is_asleep() {
            self.detect(view, false, &mut Vec::new());
        }
    }

    /// Notes whether its points touch at the end of the step.
    #[inline]
    pub(crate) fn settle(&mut self, shifts: [&BodyShift; 2], points: &[ConstraintPoint]) {
        let mut nearest = None;
        for point in &points[self.range()] {
            let separation = point.separation_now(self.normal, shifts);
            self.touched |= point.total_impulse > Q20::ZERO || separation <= Q20::ZERO;
            nearest = nearest.min(Some(separation)).or(Some(separation));
        }
        self.within_margin = nearest.is_some_and(|separation| separation <= MARGIN);
    }

    /// Returns the event of this step if a touch began in it.
    pub(crate) fn began(&self, [a, b]: [ObjectId; 2], points: &[ConstraintPoint]) -> Option<Touch> {
        (self.touched && !self.touched_before).then(|| Touch::Began {
            a,
            b,
            point: self.touch_point.vec2(),
            impulse: self.newton_seconds(points),
        })
    }

    /// Returns the hit of this step, if the two met at no less than a speed. `before` are their velocities at
    /// its beginning.
    pub(crate) fn hit(
        &self,
        [a, b]: [ObjectId; 2],
        points: &[ConstraintPoint],
        before: [BodyVelocity; 2],
        least: Q20,
    ) -> Option<Hit> {
        let speed = self.approach(points, before).filter(|speed| *speed >= least)?;
        let (point, impulse) = (self.touch_point.vec2(), self.newton_seconds(points));
        Some(Hit { a, b, point, speed: speed.fx(), impulse })
    }

    /// Returns the speed at which the two approached each other where they push each other; the greatest of
    /// its points.
    pub(crate) fn approach(
        &self,
        points: &[ConstraintPoint],
        [of_a, of_b]: [BodyVelocity; 2],
    ) -> Option<Q20> {
        let pushing = points[self.range()].iter().filter(|point| point.total_impulse > Q20::ZERO);
        let approach =
            |point: &ConstraintPoint| -point.normal.relative_speed(self.normal, &of_a, &of_b);
        pushing.map(approach).max()
    }

    /// Returns the impulse along the normal over the whole step.
    pub(crate) fn newton_seconds(&self, points: &[ConstraintPoint]) -> Fx {
        let impulses = points[self.range()].iter().map(ConstraintPoint::newton_seconds);
        impulses.fold(Fx::ZERO, Fx::saturating_add)
    }

    /// Returns the contact that the next step starts from, or nothing if the two are apart.
    #[inline(always)]
    pub(crate) fn contact(
        &self,
        [a, b]: [ObjectId; 2],
        points: &[ConstraintPoint],
    ) -> Option<Contact> {
        let lasts = self.touched || (self.touched_before && self.within_margin);
        lasts.then(|| Contact { a, b, points: ContactPoints::Whole(self.stored(points)) })
    }

    /// Returns the points that the next step starts from.
    #[inline(always)]
    pub(crate) fn stored(&self, points: &[ConstraintPoint]) -> PointPair {
        let mut kept = [None; 2];
        for (stored, point) in kept.iter_mut().zip(&points[self.range()]) {
            *stored = Some(point.stored());
        }
        kept
    }
}
