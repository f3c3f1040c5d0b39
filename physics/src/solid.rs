//! Bodies as the kernels of one step see them. All of it is a pure function of the bodies' state.

use metatopia_math::Fx;

use crate::body::Body;
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, rounded};
use crate::limits::{
    COORDINATE_MAX, REST_SPEED, REST_SPIN, REST_STEPS, SPEED_MAX, STEPS_PER_SECOND, TOUCH_MARGIN,
};
use crate::matter::{Matter, SUBSTEP_RATE};
use crate::motion::Motion;
use crate::shape::Form;

/// A substep in seconds, with 32 fraction bits.
const SUBSTEP: i64 = ((1 << 32) + SUBSTEP_RATE / 2) / SUBSTEP_RATE;
/// How far the wide phase lets a body stray in one step beyond what its velocity at the start
/// explains: a 16th of a metre. What is hit harder in mid-step loses the rest of that step's way,
/// but never enters a place where no contact was looked for.
const STRAY: Q20 = Q20::constant(Fx::from_ratio(1, 16));
const MARGIN: Q20 = Q20::constant(TOUCH_MARGIN);
/// Inside the solver a velocity may be this much, per axis: room for a heap's exchange of impulses
/// before the step's end shortens it to the body's own bound.
const TRANSIENT: Q20 = Q20::constant(SPEED_MAX.saturating_mul(Fx::from_int(4)));
const BOUND: Q20 = Q20::constant(COORDINATE_MAX);

/// What the solver changes: kept apart, because the solver touches nothing else of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Going {
    pub(crate) velocity: Vector,
    pub(crate) spin: Q20,
    pub(crate) spin_bound: Q20,
}

impl Going {
    pub(crate) fn is_still(&self) -> bool {
        self.velocity.is_zero() && self.spin.is_zero()
    }

    /// Adds a change, within what the kernels can hold.
    pub(crate) fn add(&mut self, velocity: Vector, spin: Q20) {
        self.velocity = (self.velocity + velocity).bounded(TRANSIENT);
        self.spin = (self.spin + spin).bounded(self.spin_bound);
    }
}

/// The rest of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solid {
    pub(crate) form: Form,
    pub(crate) position: Vector,
    pub(crate) facing: Unit,
    pub(crate) matter: Matter,
    pub(crate) motion: Motion,
    pub(crate) sensor: bool,
    /// At rest when the step began.
    rested: bool,
    /// Where the step began, and how far from there, per axis, the wide phase has looked.
    home: Vector,
    home_facing: Unit,
    roam: Vector,
}

/// An axis-aligned box that holds a body during a whole step, with the touch margin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) low: Vector,
    pub(crate) high: Vector,
}

impl Extent {
    /// Whether the two have a point in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let meet = |low: Q20, high: Q20, other_low: Q20, other_high: Q20| {
            low <= other_high && other_low <= high
        };
        meet(self.low.x, self.high.x, other.low.x, other.high.x)
            && meet(self.low.y, self.high.y, other.low.y, other.high.y)
    }
}

impl Solid {
    pub(crate) fn new(body: &Body, matter: &Matter) -> (Self, Going) {
        let roam = |speed: Q20| match body.motion {
            Motion::Static => Q20::ZERO,
            _ => Q20(speed.abs().0 / STEPS_PER_SECOND as i32) + STRAY,
        };
        let solid = Self {
            form: body.form,
            position: body.position,
            facing: body.facing,
            matter: *matter,
            motion: body.motion,
            sensor: body.sensor,
            rested: body.is_at_rest(),
            home: body.position,
            home_facing: body.facing,
            roam: Vector::new(roam(body.velocity.x), roam(body.velocity.y)),
        };
        let going =
            Going { velocity: body.velocity, spin: body.spin, spin_bound: matter.spin_bound };
        (solid, going)
    }

    /// Whether it has been at rest from the start of the step until now.
    pub(crate) fn idles(&self, going: &Going) -> bool {
        self.rested && going.is_still()
    }

    /// Whether no impulse moves it.
    pub(crate) fn is_braced(&self) -> bool {
        self.matter.inverse_mass == 0
    }

    /// Whether even the circles around both are further apart than a margin.
    pub(crate) fn is_beyond(&self, other: &Self, margin: Q20) -> bool {
        let reach = self.matter.outer_radius + other.matter.outer_radius + margin;
        (other.position - self.position).is_longer_than(reach)
    }

    /// Where it can be during this step.
    pub(crate) fn extent(&self) -> Extent {
        let half = match self.form {
            Form::Rect(half) if self.motion == Motion::Static => {
                let (c, s) = (self.facing.x.abs(), self.facing.y.abs());
                Vector::new(c * half.x + s * half.y, s * half.x + c * half.y)
            }
            // What moves may turn, so the box must hold it at every angle.
            _ => Vector::new(self.matter.outer_radius, self.matter.outer_radius),
        };
        let reach = half + self.roam + Vector::new(MARGIN, MARGIN);
        Extent { low: self.position - reach, high: self.position + reach }
    }

    /// How far a point of it can get in one substep, with a share of the touch margin.
    pub(crate) fn reach(&self, going: &Going) -> Q20 {
        if going.is_still() {
            return MARGIN.half();
        }
        let turning = match self.form {
            Form::Circle(_) => Q20::ZERO,
            Form::Rect(_) => going.spin.abs() * self.matter.outer_radius,
        };
        let speed = going.velocity.x.abs() + going.velocity.y.abs() + turning;
        MARGIN.half() + substep_of(speed)
    }

    /// Damps a dynamic body's velocity for one substep.
    pub(crate) fn damp(&self, going: &mut Going) {
        if !self.is_braced() && !going.is_still() {
            going.velocity.x = self.matter.kept_velocity * going.velocity.x;
            going.velocity.y = self.matter.kept_velocity * going.velocity.y;
            going.spin = self.matter.kept_spin * going.spin;
        }
    }

    /// Moves on by one substep.
    pub(crate) fn advance(&mut self, going: &mut Going) {
        if going.is_still() {
            return;
        }
        self.limit(going);
        let x = self.position.x + substep_of(going.velocity.x);
        let y = self.position.y + substep_of(going.velocity.y);
        self.position.x = within(x, self.home.x, self.roam.x);
        self.position.y = within(y, self.home.y, self.roam.y);
        self.stop_at_the_edge(going);
        if !going.spin.is_zero() {
            self.facing = self.facing.turned(substep_turn(going.spin)).normalised();
        }
    }

    /// Shortens the velocity to the body's own bound.
    pub(crate) fn limit(&self, going: &mut Going) {
        going.velocity = going.velocity.shortened(self.matter.speed_bound);
    }

    /// Nothing leaves the region: the edge takes the velocity that points outwards.
    fn stop_at_the_edge(&mut self, going: &mut Going) {
        let inside = self.position.bounded(BOUND);
        if inside.x != self.position.x {
            going.velocity.x = Q20::ZERO;
        }
        if inside.y != self.position.y {
            going.velocity.y = Q20::ZERO;
        }
        self.position = inside;
    }

    /// Writes the end of the step back, and lets a slow body come to rest.
    pub(crate) fn store(&self, going: &Going, body: &mut Body) {
        body.position = self.position;
        body.facing = self.facing;
        body.velocity = going.velocity;
        body.spin = going.spin;
        body.slow_steps = match self.motion {
            Motion::Dynamic if !self.is_slow(going) => 0,
            Motion::Dynamic => (body.slow_steps + 1).min(REST_STEPS),
            _ if going.is_still() => REST_STEPS,
            _ => 0,
        };
        if self.motion == Motion::Dynamic && body.slow_steps == REST_STEPS {
            body.velocity = Vector::ZERO;
            body.spin = Q20::ZERO;
        }
    }

    /// Slow in velocity, and in fact: the solver also moves overlapping bodies apart without
    /// leaving them a velocity.
    fn is_slow(&self, going: &Going) -> bool {
        const SPEED: Q20 = Q20::constant(REST_SPEED);
        const SPIN: Q20 = Q20::constant(REST_SPIN);
        const WAY: i32 = SPEED.0 / STEPS_PER_SECOND as i32;
        const TURN: i32 = (SPIN.0 << 10) / STEPS_PER_SECOND as i32;
        let slow =
            |speed: Q20, from: Q20, to: Q20| speed.abs() < SPEED && (to - from).abs().0 < WAY;
        slow(going.velocity.x, self.home.x, self.position.x)
            && slow(going.velocity.y, self.home.y, self.position.y)
            && going.spin.abs() < SPIN
            && (self.facing.x.0.wrapping_sub(self.home_facing.x.0)).abs() < TURN
            && (self.facing.y.0.wrapping_sub(self.home_facing.y.0)).abs() < TURN
    }
}

/// The way that a speed makes in a substep.
fn substep_of(speed: Q20) -> Q20 {
    Q20(narrow(rounded(i64::from(speed.0) * SUBSTEP, 32)))
}

/// The turn that a spin makes in a substep, of a length that differs from one by less than 2^-10.
fn substep_turn(spin: Q20) -> Unit {
    // Cosine and sine by their series up to the third power: below 1/7 radian, so wrong by less
    // than 2^-20 of the angle.
    let angle = rounded(i64::from(spin.0) * SUBSTEP, 22);
    let half_square = rounded(angle * angle, 31);
    let sixth_cube = rounded(half_square * angle, 30) / 3;
    Unit { x: Q30(narrow((1 << 30) - half_square)), y: Q30(narrow(angle - sixth_cube)) }
}

fn within(value: Q20, home: Q20, roam: Q20) -> Q20 {
    value.max(home - roam).min(home + roam)
}
