//! The solver: soft contacts in four substeps with warm starting ("soft step", as in Box2D 3).
//!
//! In each substep contacts are found anew, the impulses of the last one are applied again, each
//! contact is corrected once with a soft push out of overlap, the bodies move, and each contact is
//! corrected once more without that push, so that it leaves no velocity behind. What came in fast
//! enough then bounces.

use metatopia_math::Fx;

use crate::fixed::{Q20, Q30, Unit, narrow};
use crate::limits::{BOUNCE_SPEED_MIN, OVERLAP_ALLOWED, STEPS_PER_SECOND, SUBSTEPS};
use crate::pair::{Pair, Point, Surface};
use crate::solid::{Going, Solid};

/// Impulses, as changes of relative speed: as much as the two fastest bodies can ask for.
pub(crate) const IMPULSE_BOUND: Q20 = Q20::constant(Fx::from_int(128));
/// The same for friction, which may be four times what presses.
pub(crate) const FRICTION_BOUND: Q20 = Q20::constant(Fx::from_int(512));
/// The fastest push out of overlap.
const PUSH_SPEED: Q20 = Q20::constant(Fx::from_int(3));
/// Deeper overlap than this pushes no harder, so that products stay small.
const DEPTH: Q20 = Q20::constant(Fx::ONE);
const ALLOWED: Q20 = Q20::constant(OVERLAP_ALLOWED);
const BOUNCE: Q20 = Q20::constant(BOUNCE_SPEED_MIN);

/// A contact as a spring of angular frequency w and damping ratio z over a substep h.
struct Softness {
    /// w / (2 z + h w): how fast overlap is to vanish, per second.
    rate: Q20,
    /// a / (1 + a) with a = h w (2 z + h w): how much of an impulse counts.
    mass: Q30,
    /// 1 / (1 + a): how much of the impulse so far is taken back.
    relax: Q30,
}

/// 30 Hz (w = 60 pi) with z = 10: h w = pi / 4.
const SOFT: Softness = softness(Fx::PI.to_bits() / 4);
/// 60 Hz against what cannot be moved: h w = pi / 2.
const BRACED: Softness = softness(Fx::PI.to_bits() / 2);

/// The softness for `h w` with 32 fraction bits and a damping ratio of ten.
const fn softness(hw: i64) -> Softness {
    let one = 1_i64 << 32;
    let damped = 20 * one + hw;
    // With 32 fraction bits again: below 2^38.
    let a = ((hw >> 8) * (damped >> 8)) >> 16;
    let rate = ((hw * (STEPS_PER_SECOND * SUBSTEPS) as i64) << 18) / (damped >> 2);
    let relax = (one << 28) / ((one + a) >> 2);
    Softness {
        rate: Q20(narrow(rate)),
        mass: Q30(narrow((1 << 30) - relax)),
        relax: Q30(narrow(relax)),
    }
}

/// All that one step works on.
pub(crate) struct Scene {
    pub(crate) solids: Vec<Solid>,
    pub(crate) goings: Vec<Going>,
    pub(crate) pairs: Vec<Pair>,
    /// The pairs that this substep has something to solve for, in id order.
    active: Vec<usize>,
}

impl Scene {
    pub(crate) const fn new(solids: Vec<Solid>, goings: Vec<Going>, pairs: Vec<Pair>) -> Self {
        Self { solids, goings, pairs, active: Vec::new() }
    }

    /// One step of simulated time.
    pub(crate) fn step(&mut self) {
        for _ in 0..SUBSTEPS {
            for (solid, going) in self.solids.iter().zip(&mut self.goings) {
                solid.damp(going);
            }
            self.look();
            self.each_surface(warm);
            self.each_surface(|surface, points, a, b| correct(surface, points, a, b, true));
            for (solid, going) in self.solids.iter_mut().zip(&mut self.goings) {
                solid.advance(going);
            }
            self.each_surface(|surface, points, a, b| correct(surface, points, a, b, false));
            self.each_surface(bounce);
            self.feel();
        }
        for (solid, going) in self.solids.iter().zip(&mut self.goings) {
            solid.limit(going);
        }
    }

    /// Finds the contacts of this substep.
    fn look(&mut self) {
        self.active.clear();
        for (index, pair) in self.pairs.iter_mut().enumerate() {
            if pair.look(&self.solids, &self.goings) {
                self.active.push(index);
            }
        }
    }

    fn feel(&mut self) {
        for &index in &self.active {
            self.pairs[index].feel();
        }
    }

    /// Runs `work` on each pair that has points to work on, in id order.
    fn each_surface(&mut self, work: impl Fn(Surface, &mut [Point], &mut Going, &mut Going)) {
        for &index in &self.active {
            let pair = &mut self.pairs[index];
            let (place_a, place_b) = (pair.a, pair.b);
            let (surface, points) = pair.surface();
            let (mut a, mut b) = (self.goings[place_a], self.goings[place_b]);
            work(surface, points, &mut a, &mut b);
            self.goings[place_a] = a;
            self.goings[place_b] = b;
        }
    }
}

/// Applies the impulses of the last substep again: a good first guess for what lasts.
fn warm(surface: Surface, points: &mut [Point], a: &mut Going, b: &mut Going) {
    for point in points {
        point.along.push(surface.normal, point.pressed, a, b);
        point.across.push(surface.normal.right(), point.rubbed, a, b);
    }
}

/// Corrects the impulses of a pair: friction first, because what presses matters more and has the
/// last word.
fn correct(surface: Surface, points: &mut [Point], a: &mut Going, b: &mut Going, push: bool) {
    let softness = if surface.braced { &BRACED } else { &SOFT };
    for point in &mut *points {
        rub(point, surface.normal.right(), a, b);
    }
    // The two points of a side pull on each other. Going over them twice leaves a hundredth of the
    // difference that one round leaves, which would turn a crate that is pushed against a wall.
    for _ in 0..points.len() {
        for point in &mut *points {
            press(point, surface.normal, push.then_some(softness), a, b);
        }
    }
}

/// Friction stops the sliding, with at most `grip` of what presses.
fn rub(point: &mut Point, direction: Unit, a: &mut Going, b: &mut Going) {
    let bound = point.grip * point.pressed;
    let total = (point.rubbed - point.across.speed(direction, a, b)).bounded(bound);
    let change = total - point.rubbed;
    point.rubbed = total;
    point.across.push(direction, change, a, b);
}

/// Stops the approach; lets a gap close in one substep, and with `softness` opens an overlap.
fn press(
    point: &mut Point,
    normal: Unit,
    softness: Option<&Softness>,
    a: &mut Going,
    b: &mut Going,
) {
    let speed = point.along.speed(normal, a, b);
    let change = match softness {
        _ if point.gap > Q20::ZERO => -(speed + closing_speed(point.gap)),
        Some(soft) => {
            let depth = (point.gap + ALLOWED).min(Q20::ZERO).max(-DEPTH);
            let opening = (soft.rate * depth).max(-PUSH_SPEED);
            -(soft.mass * (speed + opening)) - soft.relax * point.pressed
        }
        None => -speed,
    };
    let total = (point.pressed + change).max(Q20::ZERO).min(IMPULSE_BOUND);
    let change = total - point.pressed;
    point.pressed = total;
    point.along.push(normal, change, a, b);
}

/// The speed that closes a gap in one substep.
fn closing_speed(gap: Q20) -> Q20 {
    Q20(narrow(i64::from(gap.0) * i64::from(STEPS_PER_SECOND * SUBSTEPS)))
}

/// Turns an approach around, once the substep has stopped it. That ends the contact, so its
/// impulses are no guess at those of the next substep.
fn bounce(surface: Surface, points: &mut [Point], a: &mut Going, b: &mut Going) {
    if surface.restitution.is_zero() {
        return;
    }
    for point in points {
        if point.pressed > Q20::ZERO && point.approach < -BOUNCE {
            let wanted = -(surface.restitution * point.approach);
            let change = (wanted - point.along.speed(surface.normal, a, b)).max(Q20::ZERO);
            point.along.push(surface.normal, change, a, b);
            point.bounced = (point.pressed + change).min(IMPULSE_BOUND);
            (point.pressed, point.rubbed) = (Q20::ZERO, Q20::ZERO);
        }
    }
}
