//! The scenes that are measured: what bodies each begins with, whichever engine plays it.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape};
use metatopia_types::ObjectId;

/// A scene that is measured.
pub(crate) struct Contest {
    pub(crate) name: &'static str,
    /// The greatest ratio of our time to that of rapier that we promise.
    pub(crate) bound: f64,
    pub(crate) steps: usize,
    pub(crate) plan: fn() -> Plan,
    /// Whether the bodies are crates that must stand where they began.
    pub(crate) stands: bool,
}

pub(crate) const CONTESTS: [Contest; 4] = [
    Contest { name: "sparse_10000", bound: 0.5, steps: 400, plan: sparse, stands: false },
    Contest {
        name: "balls_5000",
        bound: 1.5,
        steps: 600,
        plan: || falling(5_000, |_| true),
        stands: false,
    },
    Contest {
        name: "mix_5000",
        bound: 1.5,
        steps: 600,
        plan: || falling(5_000, |n| n % 2 == 0),
        stands: false,
    },
    Contest { name: "pyramid_100", bound: 1.75, steps: 500, plan: pyramid, stands: true },
];

/// The bodies of a scene, and what pulls on them.
pub(crate) struct Plan {
    pub(crate) gravity: f64,
    pub(crate) bodies: Vec<PlannedBody>,
}

/// A body of a scene: a wall, or one that moves.
pub(crate) struct PlannedBody {
    pub(crate) moves: bool,
    pub(crate) at: (f64, f64),
    pub(crate) velocity: (f64, f64),
    pub(crate) form: Form,
    pub(crate) surface: Surface,
}

#[derive(Clone, Copy)]
pub(crate) enum Form {
    Ball(f64),
    Block(f64, f64),
}

/// The surface of a body: its friction and its restitution.
#[derive(Clone, Copy)]
pub(crate) struct Surface(pub(crate) f64, pub(crate) f64);

const ROUGH: Surface = Surface(0.6, 0.0);
const BOUNCY: Surface = Surface(0.0, 1.0);

impl Plan {
    const fn new(gravity: f64) -> Self {
        Self { gravity, bodies: Vec::new() }
    }

    /// Adds a wall with this centre and these half widths.
    fn wall(&mut self, at: (f64, f64), half: (f64, f64), surface: Surface) {
        let form = Form::Block(half.0, half.1);
        self.bodies.push(PlannedBody { moves: false, at, velocity: (0.0, 0.0), form, surface });
    }

    /// Adds a body that moves.
    fn mover(&mut self, at: (f64, f64), velocity: (f64, f64), form: Form, surface: Surface) {
        self.bodies.push(PlannedBody { moves: true, at, velocity, form, surface });
    }

    /// Builds the scene in this engine.
    pub(crate) fn region(&self) -> Region {
        let mut region =
            Region::new().with_gravity(vector((0.0, self.gravity))).with_sleeping(false);
        for (id, body) in (0..).zip(&self.bodies) {
            let shape = match body.form {
                Form::Ball(radius) => Shape::Circle { radius: fx(radius) },
                Form::Block(w, h) => Shape::Rect { half: vector((w, h)) },
            };
            let motion = if body.moves { Motion::Dynamic } else { Motion::Static };
            let spec = BodySpec {
                velocity: vector(body.velocity),
                friction: fx(body.surface.0),
                restitution: fx(body.surface.1),
                ..BodySpec::new(shape, motion, vector(body.at))
            };
            region.insert(ObjectId(id), &spec).expect("a scene's bodies fit");
        }
        region
    }
}

fn fx(value: f64) -> Fx {
    Fx::from_bits((value * 4_294_967_296.0).round() as i64)
}

fn vector((x, y): (f64, f64)) -> Vec2 {
    Vec2::new(fx(x), fx(y))
}

/// A generator of numbers from 0 to 1 that scenes begin with.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f64 / f64::from(1 << 24)
    }

    /// Returns a number from -1/2 to 1/2.
    fn around_zero(&mut self) -> f64 {
        self.next() - 0.5
    }
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Plans 10,000 balls that move over a square kilometre, seen from above, and lose no speed.
pub(crate) fn sparse() -> Plan {
    let (mut plan, mut dice, half) = (Plan::new(0.0), Dice(SEED), 500.0);
    for side in [-half - 5.0, half + 5.0] {
        for part in [-255.0, 255.0] {
            plan.wall((part, side), (255.0, 5.0), BOUNCY);
            plan.wall((side, part), (5.0, 255.0), BOUNCY);
        }
    }
    for n in 0..10_000 {
        let along = |cell: i32| (f64::from(cell) + 0.5) * 10.0 - half;
        let at = |cell: i32, dice: &mut Dice| along(cell) + dice.around_zero() * 0.3;
        let at = (at(n % 100, &mut dice), at(n / 100, &mut dice));
        let velocity = (dice.around_zero() * 10.0, dice.around_zero() * 10.0);
        plan.mover(at, velocity, Form::Ball(0.5), BOUNCY);
    }
    plan
}

/// Plans bodies that fall into a walled arena and come to rest in a pile.
pub(crate) fn falling(count: i32, is_ball: fn(i32) -> bool) -> Plan {
    let (mut plan, mut dice) = (Plan::new(-10.0), Dice(SEED));
    let half = 61.0;
    plan.wall((0.0, -5.0), (half + 10.0, 5.0), ROUGH);
    for side in [-half - 5.0, half + 5.0] {
        plan.wall((side, 240.0), (5.0, 250.0), ROUGH);
    }
    for n in 0..count {
        let (column, row) = (f64::from(n % 100), f64::from(n / 100));
        let x = (column + 0.5) * 1.2 - 60.0 + dice.around_zero() * 0.1;
        let form = if is_ball(n) { Form::Ball(0.5) } else { Form::Block(0.5, 0.5) };
        plan.mover((x, 1.0 + row * 1.2), (0.0, 0.0), form, ROUGH);
    }
    plan
}

/// Plans a pyramid of a hundred rows of crates.
fn pyramid() -> Plan {
    let mut plan = Plan::new(-10.0);
    plan.wall((0.0, -1.0), (200.0, 1.0), ROUGH);
    for row in 0..100 {
        for column in row..100 {
            let x = (f64::from(row) + 1.0) * 0.5 + f64::from(column - row) - 50.0;
            plan.mover((x, f64::from(row) + 0.5), (0.0, 0.0), Form::Block(0.5, 0.5), ROUGH);
        }
    }
    plan
}
