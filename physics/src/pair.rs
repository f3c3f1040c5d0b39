//! A pair of bodies during one step: what it remembers, and the solver's view of its points.

use metatopia_math::Fx;
use metatopia_types::ObjectId;

use crate::broad::{PairKey, places};
use crate::contact::{Contact, Mark};
use crate::fixed::{Q20, Q24, Q30, Unit, Vector, narrow, rounded};
use crate::limits::TOUCH_MARGIN;
use crate::narrow::{Manifold, Spot, meet};
use crate::solid::{Going, Solid};
use crate::touch::Touch;

const NEAR: Q20 = Q20::constant(TOUCH_MARGIN);
/// Friction of one point per impulse along the normal is at most this, so that products stay small.
const GRIP_MAX: Q20 = Q20::constant(Fx::from_int(4));

/// How an impulse along one direction at one point changes two bodies. Impulses are measured by the
/// change of relative speed that they make, so masses appear only as shares of it, and the numbers
/// keep their size whatever the bodies weigh.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    arm_a: Q20,
    arm_b: Q20,
    share_a: Q30,
    share_b: Q30,
    turn_a: Q24,
    turn_b: Q24,
}

/// One point where the two meet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    pub(crate) along: Row,
    pub(crate) across: Row,
    pub(crate) gap: Q20,
    pub(crate) pressed: Q20,
    pub(crate) rubbed: Q20,
    /// The greatest friction per impulse along the normal, in the measure of `rubbed`.
    pub(crate) grip: Q20,
    /// How fast the two moved apart before the substep's impulses; below zero, they approached.
    pub(crate) approach: Q20,
    /// The impulse of a bounce in this substep.
    pub(crate) bounced: Q20,
    feature: u8,
    /// What one newton second changes the relative speed by, with 28 fraction bits.
    response: i64,
}

/// What all points of a pair have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    /// From the first body to the second.
    pub(crate) normal: Unit,
    /// Whether one of the two is not to be moved at all.
    pub(crate) braced: bool,
    pub(crate) restitution: Q20,
}

/// Two bodies whose boxes meet.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) a: usize,
    pub(crate) b: usize,
    normal: Unit,
    points: [Point; 2],
    count: usize,
    /// Whether the two push each other: neither is a sensor.
    solid: bool,
    braced: bool,
    friction: Q20,
    restitution: Q20,
    /// Whether they touched in the step before.
    touched_before: bool,
    /// Whether they touched in this step.
    touched: bool,
    /// Whether they are still close at the end of it.
    near: bool,
    /// Where they first touched.
    place: Vector,
    /// All impulses along the normal in this step, in newton seconds.
    impulse: Fx,
}

impl Pair {
    pub(crate) fn new(key: PairKey, solids: &[Solid], before: Option<&Contact>) -> Self {
        let (a, b) = places(key);
        let (first, second) = (&solids[a], &solids[b]);
        let mut pair = Self {
            a,
            b,
            normal: Unit::X,
            points: [Point::default(); 2],
            count: 0,
            solid: !first.sensor && !second.sensor,
            braced: first.is_braced() || second.is_braced(),
            friction: first.matter.grip * second.matter.grip,
            restitution: first.matter.restitution.max(second.matter.restitution),
            touched_before: before.is_some(),
            touched: false,
            near: before.is_some(),
            place: Vector::ZERO,
            impulse: Fx::ZERO,
        };
        let marks = before.filter(|_| pair.solid).map_or([None; 2], |contact| contact.marks);
        for mark in marks.into_iter().flatten() {
            let point = &mut pair.points[pair.count];
            point.feature = mark.feature;
            point.pressed = mark.pressed;
            point.rubbed = mark.rubbed;
            pair.count += 1;
        }
        pair
    }

    /// The surface, and the points that the last look found.
    pub(crate) fn surface(&mut self) -> (Surface, &mut [Point]) {
        let surface =
            Surface { normal: self.normal, braced: self.braced, restitution: self.restitution };
        (surface, &mut self.points[..self.count])
    }

    /// Finds out where the two meet now, and prepares the solver's rows. Returns whether there is
    /// something to solve; two bodies at rest are left as they are.
    pub(crate) fn look(&mut self, solids: &[Solid], goings: &[Going]) -> bool {
        let (a, b) = (&solids[self.a], &solids[self.b]);
        let (going_a, going_b) = (&goings[self.a], &goings[self.b]);
        if a.idles(going_a) && b.idles(going_b) {
            return false;
        }
        let margin = a.reach(going_a) + b.reach(going_b);
        let manifold =
            if a.is_beyond(b, margin) { Manifold::default() } else { meet(a, b, margin) };
        if manifold.count == 0 {
            (self.near, self.count) = (false, 0);
            return false;
        }
        self.near = manifold.spots().iter().any(|spot| spot.gap <= NEAR);
        let deepest = manifold.spots().iter().min_by_key(|spot| spot.gap);
        if let Some(spot) = deepest.filter(|_| !self.touched) {
            self.place = a.position + spot.arm_a;
            self.touched = spot.gap <= Q20::ZERO;
        }
        if self.solid {
            self.prepare(&manifold, [a, b], [going_a, going_b]);
        }
        self.solid && self.count > 0
    }

    fn prepare(&mut self, manifold: &Manifold, solids: [&Solid; 2], goings: [&Going; 2]) {
        let before = self.points.map(|point| point.mark());
        let known = &before[..self.count];
        self.normal = manifold.normal;
        self.count = manifold.count;
        for (point, spot) in self.points.iter_mut().zip(manifold.spots()) {
            *point = Point::new(spot, self.normal, solids, self.friction);
            point.approach = point.along.speed(self.normal, goings[0], goings[1]);
            if let Some(old) = known.iter().find(|old| old.feature == spot.feature) {
                point.pressed = old.pressed;
                point.rubbed = old.rubbed;
            }
        }
    }

    /// Adds up how hard the two pressed, from what each point tells. Only the beginning of a touch
    /// is told to anybody, so a lasting one is not measured.
    pub(crate) fn feel(&mut self) {
        if self.touched_before {
            return;
        }
        for point in &self.points[..self.count] {
            let pressed = point.pressed + point.bounced;
            self.touched |= pressed > Q20::ZERO;
            self.impulse = self.impulse.saturating_add(point.newton_seconds(pressed));
        }
    }

    /// The event of this step, if it is the beginning of a touch.
    pub(crate) fn began(&self, [a, b]: [ObjectId; 2]) -> Option<Touch> {
        (self.touched && !self.touched_before).then(|| Touch::Began {
            a,
            b,
            point: self.place.vec2(),
            impulse: self.impulse,
        })
    }

    /// What the pair leaves to the next step, or nothing if the two are apart.
    pub(crate) fn contact(&self, [a, b]: [ObjectId; 2]) -> Option<Contact> {
        let lasts = self.touched || (self.touched_before && self.near);
        lasts.then(|| {
            let mut marks = [None; 2];
            for (mark, point) in marks.iter_mut().zip(&self.points[..self.count]) {
                *mark = Some(point.mark());
            }
            Contact { a, b, marks }
        })
    }
}

impl Point {
    fn new(spot: &Spot, normal: Unit, [a, b]: [&Solid; 2], friction: Q20) -> Self {
        let (along, response) = Row::new(normal, spot, a, b);
        let (across, slide_response) = Row::new(normal.right(), spot, a, b);
        // The same newton seconds count for more or less across than along.
        let grip = i64::from(friction.0) * slide_response / response;
        Self {
            along,
            across,
            gap: spot.gap,
            grip: Q20(narrow(grip.min(i64::from(GRIP_MAX.0)))),
            feature: spot.feature,
            response,
            ..Self::default()
        }
    }

    /// What is remembered of it.
    fn mark(&self) -> Mark {
        Mark { feature: self.feature, pressed: self.pressed, rubbed: self.rubbed }
    }

    /// An impulse along the normal in newton seconds.
    fn newton_seconds(&self, pressed: Q20) -> Fx {
        Fx::from_bits(((i64::from(pressed.0) << 32) / self.response) << 8)
    }
}

impl Row {
    /// The row for impulses along `direction`, and what one newton second changes the relative
    /// speed by (28 fraction bits, from 2^14 to 2^38). One of the two can be pushed.
    fn new(direction: Unit, spot: &Spot, a: &Solid, b: &Solid) -> (Self, i64) {
        let arm_a = spot.arm_a.cross(direction);
        let arm_b = spot.arm_b.cross(direction);
        let (lever_a, response_a) = lever(a, arm_a);
        let (lever_b, response_b) = lever(b, arm_b);
        let response = response_a + response_b;
        let inverse = (1_i64 << 60) / response;
        // A mass's share is at most one, so these products stay below 2^60.
        let share = |solid: &Solid| Q30(narrow(rounded(solid.matter.inverse_mass * inverse, 30)));
        let (share_a, share_b) = (share(a), share(b));
        let turn = |share: Q30, lever: i64| Q24(narrow(rounded(i64::from(share.0) * lever, 26)));
        let row = Self {
            arm_a,
            arm_b,
            share_a,
            share_b,
            turn_a: turn(share_a, lever_a),
            turn_b: turn(share_b, lever_b),
        };
        (row, response)
    }

    /// How fast the second body moves along the direction, seen from the first.
    pub(crate) fn speed(&self, direction: Unit, a: &Going, b: &Going) -> Q20 {
        (b.velocity - a.velocity).along(direction) + b.spin * self.arm_b - a.spin * self.arm_a
    }

    /// Pushes the two apart along the direction, so that their relative speed grows by `change`.
    pub(crate) fn push(&self, direction: Unit, change: Q20, a: &mut Going, b: &mut Going) {
        // Many points are looked at because two bodies are near, and carry nothing.
        if change.is_zero() {
            return;
        }
        a.add(-direction.times(self.share_a * change), -(self.turn_a * change));
        b.add(direction.times(self.share_b * change), self.turn_b * change);
    }
}

/// The turn per speed at an arm (20 fraction bits), and what one newton second there changes the
/// speed by (28 fraction bits).
fn lever(solid: &Solid, arm: Q20) -> (i64, i64) {
    if solid.matter.inverse_mass == 0 {
        return (0, 0);
    }
    let arm = i64::from(arm.0);
    // Below 2^26 * 2^33: arms of the shapes with the smallest gyration are short.
    let lever = rounded(arm * solid.matter.inverse_gyration, 24);
    let extra = rounded(arm * lever, 20);
    let response = solid.matter.inverse_mass + rounded(solid.matter.inverse_mass * extra, 20);
    (lever, response)
}
