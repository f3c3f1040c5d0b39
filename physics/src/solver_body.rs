//! Bodies in the form that the solver works on. It is a pure function of the bodies' state.

use metatopia_math::Fx;

use crate::body::{Body, MovedBody};
use crate::bounds::Bounds;
use crate::fixed::{Q20, Q30, Unit, Vector, narrow, product, rounded};
use crate::limits::{
    SLEEP_SPEED, SLEEP_SPIN, SLEEP_STEPS, SPEED_MAX, STEPS_PER_SECOND, SUBSTEPS, TOUCH_MARGIN,
};
use crate::mass_props::{MassProps, SUBSTEP_RATE};
use crate::motion::Motion;
use crate::outline::{BodyOutline, Outlines};
use crate::surroundings::Surroundings;

/// The length of a substep in seconds, with 32 fraction bits.
const SUBSTEP: i64 = ((1 << 32) + SUBSTEP_RATE / 2) / SUBSTEP_RATE;
/// The distance that a body may travel in one step beyond what its velocity at the start of the
/// step explains: a 16th of a metre. The broad phase looks that far. A body that is hit harder in
/// mid-step loses the rest of that step's travel, but never gets where no contact was looked for.
const TRAVEL_MARGIN: Q20 = Q20::constant(Fx::from_ratio(1, 16));
const MARGIN: Q20 = Q20::constant(TOUCH_MARGIN);
/// The greatest velocity inside the solver, per axis: room for a heap's exchange of impulses before
/// the end of the step clamps the velocity to the body's own bound.
pub(crate) const SOLVER_SPEED_MAX: Q20 = Q20::constant(SPEED_MAX.saturating_mul(Fx::from_int(4)));
// One comparison of two coordinates at once needs it, see `is_within_solver_speed`.
const _: () = assert!(SOLVER_SPEED_MAX.0.cast_unsigned().is_power_of_two());

/// The velocity of a body. It is kept apart from the [`SolverBody`], because the impulses of the
/// solver change nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyVelocity {
    pub(crate) linear: Vector,
    pub(crate) spin: Q20,
    pub(crate) spin_bound: Q20,
}

impl BodyVelocity {
    /// The velocity of the ground.
    pub(crate) const STILL: Self =
        Self { linear: Vector::ZERO, spin: Q20::ZERO, spin_bound: Q20::ZERO };

    /// Returns the velocity that a body begins a step with.
    pub(crate) const fn new(body: &Body, mass_props: &MassProps) -> Self {
        Self { spin_bound: mass_props.spin_bound, ..Self::before(body) }
    }

    /// Returns the velocity that a body begins a step with, without the bound of its spin.
    pub(crate) const fn before(body: &Body) -> Self {
        Self { linear: body.velocity, spin: body.spin, spin_bound: Q20::ZERO }
    }

    /// Returns whether the velocity and the spin are exactly zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.linear.is_zero() && self.spin.is_zero()
    }

    /// Takes over what the solver made of a copy of it.
    #[inline(always)]
    pub(crate) const fn take(&mut self, moved: &Self) {
        (self.linear, self.spin) = (moved.linear, moved.spin);
    }

    /// Adds a change and clamps the result to what the solver's numbers can hold.
    pub(crate) fn add(&mut self, linear: Vector, spin: Q20) {
        self.linear = (self.linear + linear).bounded(SOLVER_SPEED_MAX);
        self.spin = (self.spin + spin).bounded(self.spin_bound);
    }

    /// Adds a change whose spin may be more than fits, as [`Self::add`] does.
    #[inline(always)]
    pub(crate) fn push(&mut self, linear: Vector, spin: i64) {
        let linear = self.linear + linear;
        let (spin, bound) = (i64::from(self.spin.0) + spin, i64::from(self.spin_bound.0));
        // Nearly always both are within their bounds, and to see that takes half of what the bounds take.
        if is_within_solver_speed(linear)
            && (spin + bound).cast_unsigned() <= (2 * bound).cast_unsigned()
        {
            (self.linear, self.spin) = (linear, Q20(narrow(spin)));
        } else {
            (self.linear, self.spin) = bounded(linear, spin, bound);
        }
    }
}

/// Returns whether both coordinates are from `-SOLVER_SPEED_MAX`, and below `SOLVER_SPEED_MAX`.
#[inline(always)]
fn is_within_solver_speed(linear: Vector) -> bool {
    let above = |side: Q20| side.0.wrapping_add(SOLVER_SPEED_MAX.0).cast_unsigned();
    (above(linear.x) | above(linear.y)) < 2 * SOLVER_SPEED_MAX.0.cast_unsigned()
}

/// Clamps a velocity and a spin to what the solver's numbers can hold.
#[cold]
fn bounded(linear: Vector, spin: i64, bound: i64) -> (Vector, Q20) {
    (linear.bounded(SOLVER_SPEED_MAX), Q20(narrow(spin.max(-bound).min(bound))))
}

/// How far a body has moved since the step began. The solver finds the separation of a contact point
/// by it, without looking at the shapes again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyShift {
    pub(crate) linear: Vector,
    /// The angle that the body has turned by, in radians.
    pub(crate) turn: Q20,
    /// How far any point of the body is from where it was, at most, when this substep ends.
    pub(crate) reach: Q20,
    /// The distance to the furthest point that turning moves; zero for a disc.
    pub(crate) arm: Q20,
    /// Whether the body has been asleep from the start of the step until now.
    pub(crate) asleep: bool,
    /// Whether gravity pulls on the body although it slept: something that it may lean on is awake.
    pub(crate) stirred: bool,
}

impl BodyShift {
    /// Returns what a body begins a step with.
    pub(crate) fn new(body: &SolverBody) -> Self {
        let round = body.outline.is_circle();
        let arm = if round { Q20::ZERO } else { body.mass_props.bounding_radius };
        Self { arm, asleep: body.was_asleep(), ..Self::default() }
    }

    /// Notes where the body is after a substep, which it ends with this velocity.
    pub(crate) fn follow(&mut self, body: &SolverBody, velocity: &BodyVelocity) {
        self.linear = body.position - body.start_position;
        self.turn += substep_distance(velocity.spin);
    }

    /// Notes how far the body gets in this substep with the velocity that it has.
    pub(crate) fn begin_substep(&mut self, velocity: &BodyVelocity) {
        self.asleep &= !self.stirred && velocity.is_zero();
        self.reach = if self.asleep || velocity.is_zero() {
            self.linear.extent() + self.turn.abs() * self.arm
        } else {
            (self.linear.extent() + substep_distance(velocity.linear.extent()))
                + self.turning(velocity)
        };
    }

    /// Returns how far turning has moved any point of the body, at most, when this substep ends.
    fn turning(&self, velocity: &BodyVelocity) -> Q20 {
        (self.turn.abs() + substep_distance(velocity.spin.abs())) * self.arm
    }

    /// Returns how far any point of one of two bodies is from where it was as the other one sees it, at most, when this
    /// substep ends: without a look at whether both move alike.
    pub(crate) fn summed_reach([a, b]: [&Self; 2]) -> Q20 {
        a.reach + b.reach
    }

    /// Returns how far any point of one body is from where it was as another body sees it, at most,
    /// when this substep ends.
    pub(crate) fn relative_reach(
        [a, b]: [&Self; 2],
        [velocity_a, velocity_b]: [&BodyVelocity; 2],
    ) -> Q20 {
        let moved = (b.linear - a.linear).extent();
        let moving = substep_distance((velocity_b.linear - velocity_a.linear).extent());
        moved + moving + a.turning(velocity_a) + b.turning(velocity_b)
    }
}

/// All of a body that the solver reads, and the position that it integrates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SolverBody {
    pub(crate) outline: BodyOutline,
    pub(crate) position: Vector,
    pub(crate) facing: Unit,
    pub(crate) mass_props: MassProps,
    pub(crate) motion: Motion,
    pub(crate) sensor: bool,
    marks: SolverMarks,
    /// The position at the start of the step.
    start_position: Vector,
    start_facing: Unit,
    /// How far from the start, per axis, the broad phase has looked.
    travel_max: Vector,
}

/// What is so of a body during a step, in one byte: with three more, ten thousand sparse bodies took a twentieth more
/// time.
#[derive(Clone, Copy, Debug)]
struct SolverMarks(u8);

impl SolverMarks {
    /// It is of another region: then it stops at no edge of this one.
    const GHOST: u8 = 1;
    /// The body was asleep when the step began.
    const ASLEEP: u8 = 2;
    /// The body has any damping.
    const DAMPED: u8 = 4;

    fn of(body: &Body) -> Self {
        let mark = |is: bool, mark: u8| if is { mark } else { 0 };
        let damped = !body.linear_damping.is_zero() || !body.angular_damping.is_zero();
        Self(
            mark(body.is_ghost(), Self::GHOST)
                | mark(body.is_asleep(), Self::ASLEEP)
                | mark(damped, Self::DAMPED),
        )
    }

    const fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }
}

impl SolverBody {
    /// Returns whether it is of another region.
    pub(crate) const fn is_ghost(&self) -> bool {
        self.marks.has(SolverMarks::GHOST)
    }

    /// Returns whether it was asleep when the step began.
    const fn was_asleep(&self) -> bool {
        self.marks.has(SolverMarks::ASLEEP)
    }

    /// Prepares a body for a step.
    #[inline]
    pub(crate) fn new(body: &Body, mass_props: &MassProps, outlines: &mut Outlines) -> Self {
        Self::with_outline(body, mass_props, BodyOutline::new(&body.geometry, outlines))
    }

    #[inline]
    fn with_outline(body: &Body, mass_props: &MassProps, outline: BodyOutline) -> Self {
        Self {
            outline,
            position: body.position,
            facing: body.facing,
            mass_props: *mass_props,
            motion: body.motion,
            sensor: body.role.sensor,
            marks: SolverMarks::of(body),
            start_position: body.position,
            start_facing: body.facing,
            travel_max: travel_max(body),
        }
    }

    /// Returns what a step makes of a body that nothing else concerns.
    pub(crate) fn moved_alone(
        body: &Body,
        mass_props: &MassProps,
        surroundings: &Surroundings,
    ) -> MovedBody {
        // Whom it meets is all that an outline is for.
        let mut alone = Self::with_outline(body, mass_props, BodyOutline::Circle(Q20::ZERO));
        let mut velocity = BodyVelocity::new(body, mass_props);
        if !alone.was_asleep() {
            let fall = surroundings.fall();
            for _ in 0..SUBSTEPS {
                alone.apply_forces(&mut velocity, fall);
                alone.integrate_position(&mut velocity, &surroundings.bounds);
            }
        }
        alone.clamp_velocity(&mut velocity);
        let slow_steps = alone.slow_steps(&velocity, surroundings.sleeping, body.slow_steps);
        alone.finalize(&velocity, slow_steps)
    }

    /// Returns whether no impulse moves the body: it is static or kinematic.
    pub(crate) fn has_infinite_mass(&self) -> bool {
        self.mass_props.inverse_mass == 0
    }

    /// Returns whether even the bounding circles of both are further apart than a margin.
    pub(crate) fn is_apart_from(&self, other: &Self, margin: Q20) -> bool {
        let radii = self.mass_props.bounding_radius + other.mass_props.bounding_radius;
        (other.position - self.position).is_longer_than(radii + margin)
    }

    /// Returns how far a point of the body can travel in one substep, plus half the touch margin.
    pub(crate) fn travel(&self, velocity: &BodyVelocity) -> Q20 {
        if velocity.is_zero() {
            return MARGIN.half();
        }
        let turning = if self.outline.is_circle() {
            Q20::ZERO
        } else {
            velocity.spin.abs() * self.mass_props.bounding_radius
        };
        let speed = velocity.linear.x.abs() + velocity.linear.y.abs() + turning;
        MARGIN.half() + substep_distance(speed)
    }

    /// Applies damping and gravity to a dynamic body for one substep.
    pub(crate) fn apply_forces(&self, velocity: &mut BodyVelocity, fall: Vector) {
        if self.has_infinite_mass() {
            return;
        }
        if !fall.is_zero() {
            velocity.add(fall, Q20::ZERO);
        }
        if self.marks.has(SolverMarks::DAMPED) && !velocity.is_zero() {
            velocity.linear.x = self.mass_props.linear_damping_factor * velocity.linear.x;
            velocity.linear.y = self.mass_props.linear_damping_factor * velocity.linear.y;
            velocity.spin = self.mass_props.angular_damping_factor * velocity.spin;
        }
    }

    /// Integrates the position and the facing over one substep.
    #[inline]
    pub(crate) fn integrate_position(&mut self, velocity: &mut BodyVelocity, bounds: &Bounds) {
        if velocity.is_zero() {
            return;
        }
        // Clamped first: the greatest speed of a small body is what keeps it from tunnelling.
        self.clamp_velocity(velocity);
        let x = self.position.x + substep_distance(velocity.linear.x);
        let y = self.position.y + substep_distance(velocity.linear.y);
        self.position.x = within(x, self.start_position.x, self.travel_max.x);
        self.position.y = within(y, self.start_position.y, self.travel_max.y);
        self.stop_at_the_edge(velocity, bounds);
        if !velocity.spin.is_zero() {
            self.facing = self.facing.rotated(substep_rotation(velocity.spin)).normalised();
        }
    }

    /// Clamps the velocity to the body's own greatest speed.
    pub(crate) fn clamp_velocity(&self, velocity: &mut BodyVelocity) {
        velocity.linear = velocity.linear.clamp_length(self.mass_props.speed_bound);
    }

    /// Keeps the body inside the bounds. At the edge it loses the velocity that points outwards.
    fn stop_at_the_edge(&mut self, velocity: &mut BodyVelocity, bounds: &Bounds) {
        let bounds = if self.is_ghost() { &Bounds::MAX } else { bounds };
        let inside = bounds.clamp(self.position);
        if inside.x != self.position.x {
            velocity.linear.x = Q20::ZERO;
        }
        if inside.y != self.position.y {
            velocity.linear.y = Q20::ZERO;
        }
        self.position = inside;
    }

    /// Returns for how many steps the body has been slow, with this one.
    pub(crate) fn slow_steps(&self, velocity: &BodyVelocity, sleeping: bool, before: u8) -> u8 {
        match self.motion {
            Motion::Dynamic if !sleeping || !self.is_slow(velocity) => 0,
            Motion::Dynamic => (before + 1).min(SLEEP_STEPS),
            _ if velocity.is_zero() => SLEEP_STEPS,
            _ => 0,
        }
    }

    /// Returns what the step made of the body, and puts a body to sleep that was slow for long enough.
    pub(crate) fn finalize(&self, velocity: &BodyVelocity, slow_steps: u8) -> MovedBody {
        let moves = self.motion == Motion::Dynamic;
        let sleeps = moves && slow_steps == SLEEP_STEPS;
        MovedBody {
            position: self.position,
            facing: self.facing,
            velocity: if sleeps { Vector::ZERO } else { velocity.linear },
            spin: if sleeps { Q20::ZERO } else { velocity.spin },
            slow_steps,
        }
    }

    /// Returns whether the body is slow by its velocity and by the distance that it moved: the
    /// solver pushes overlapping bodies apart without leaving them a velocity.
    fn is_slow(&self, velocity: &BodyVelocity) -> bool {
        const SPEED: Q20 = Q20::constant(SLEEP_SPEED);
        const SPIN: Q20 = Q20::constant(SLEEP_SPIN);
        const DISTANCE: i32 = SPEED.0 / STEPS_PER_SECOND as i32;
        const ROTATION: i32 = (SPIN.0 << 10) / STEPS_PER_SECOND as i32;
        let slow =
            |speed: Q20, from: Q20, to: Q20| speed.abs() < SPEED && (to - from).abs().0 < DISTANCE;
        slow(velocity.linear.x, self.start_position.x, self.position.x)
            && slow(velocity.linear.y, self.start_position.y, self.position.y)
            && velocity.spin.abs() < SPIN
            && (self.facing.x.0.wrapping_sub(self.start_facing.x.0)).abs() < ROTATION
            && (self.facing.y.0.wrapping_sub(self.start_facing.y.0)).abs() < ROTATION
    }
}

/// Returns how far from where it is, per axis, a body can get in a step: the broad phase looks so far.
#[inline]
pub(crate) fn travel_max(body: &Body) -> Vector {
    let along = |speed: Q20| match body.motion {
        Motion::Static => Q20::ZERO,
        _ => Q20(speed.abs().0 / STEPS_PER_SECOND as i32) + TRAVEL_MARGIN,
    };
    Vector::new(along(body.velocity.x), along(body.velocity.y))
}

/// Returns the distance that a speed covers in a substep.
fn substep_distance(speed: Q20) -> Q20 {
    Q20(narrow(rounded(i64::from(speed.0) * SUBSTEP, 32)))
}

/// Returns the rotation that a spin makes in a substep. Its length differs from one by less than
/// 2^-10.
fn substep_rotation(spin: Q20) -> Unit {
    // Cosine and sine by their series up to the third power: below 1/7 radian, so wrong by less
    // than 2^-20 of the angle.
    let angle = rounded(i64::from(spin.0) * SUBSTEP, 22);
    let half_square = rounded(product(angle, angle), 31);
    let sixth_cube = rounded(product(half_square, angle), 30) / 3;
    Unit { x: Q30(narrow((1 << 30) - half_square)), y: Q30(narrow(angle - sixth_cube)) }
}

/// Clamps a coordinate to at most `distance` from `start`.
fn within(value: Q20, start: Q20, distance: Q20) -> Q20 {
    value.max(start - distance).min(start + distance)
}
