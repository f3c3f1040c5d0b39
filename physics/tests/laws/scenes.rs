//! The scenes that several tests share, each with the commands that it gets in every step.

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::{
    Body, BodySpec, Compound, CompoundPart, Filter, JointId, JointKind, JointSpec, Motion, Motor,
    Polygon, Pose, Region, RegionCommand, RegionRecorder, RegionReply, SegmentChain, Shape, Spring,
    StepEvents, Touch,
};
use metatopia_types::{Digest, ObjectId, wire};

/// Returns `value / 100`.
pub(crate) fn cm(value: i64) -> Fx {
    Fx::from_ratio(value, 100)
}

/// Returns a position or velocity in hundredths.
pub(crate) fn at(x: i64, y: i64) -> Vec2 {
    Vec2::new(cm(x), cm(y))
}

pub(crate) fn circle(radius: i64) -> Shape {
    Shape::Circle { radius: cm(radius) }
}

pub(crate) fn rect(half_x: i64, half_y: i64) -> Shape {
    Shape::Rect { half: at(half_x, half_y) }
}

pub(crate) fn capsule(half: i64, radius: i64) -> Shape {
    Shape::Capsule { half: cm(half), radius: cm(radius) }
}

/// Returns a compound that must be one, of shapes at these places.
pub(crate) fn compound(parts: &[(Shape, (i64, i64))]) -> Shape {
    let part =
        |(shape, (x, y)): &(Shape, (i64, i64))| CompoundPart::new(shape.clone()).at(at(*x, *y));
    let parts: Vec<CompoundPart> = parts.iter().map(part).collect();
    Shape::Compound(Compound::new(&parts).expect("a scene's compounds have parts"))
}

/// Returns a polygon that must be one.
pub(crate) fn polygon(corners: &[(i64, i64)]) -> Shape {
    let corners: Vec<Vec2> = corners.iter().map(|(x, y)| at(*x, *y)).collect();
    Shape::Polygon(Polygon::new(&corners).expect("a scene's polygons are convex"))
}

pub(crate) fn fixed(shape: Shape, position: Vec2) -> BodySpec {
    BodySpec::new(shape, Motion::Static, position)
}

pub(crate) fn moving(shape: Shape, position: Vec2) -> BodySpec {
    BodySpec::new(shape, Motion::Dynamic, position)
}

/// Inserts a body that must fit.
pub(crate) fn put(region: &mut Region, id: u64, spec: BodySpec) {
    region.insert(ObjectId(id), &spec).expect("a scene's bodies fit");
}

pub(crate) fn body(region: &Region, id: u64) -> &Body {
    region.body(ObjectId(id)).expect("a scene's bodies stay")
}

pub(crate) fn run(region: &mut Region, steps: usize) {
    for _ in 0..steps {
        region.step();
    }
}

/// Inserts four walls, ids 1 to 4, around a square of this half width.
pub(crate) fn yard(region: &mut Region, half: i64) {
    for (id, (x, y)) in (1..).zip([(half, 0), (-half, 0), (0, half), (0, -half)]) {
        let shape = if y == 0 { rect(25, half + 25) } else { rect(half + 25, 25) };
        let wall = fixed(shape, at(x + x.signum() * 25, y + y.signum() * 25));
        put(region, id, wall);
    }
}

/// A region, and the commands that it gets before each step.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) build: fn() -> Region,
    pub(crate) commands: fn(u64) -> Vec<RegionCommand>,
    /// How the digest of 600 steps begins, in every build and on every processor. A change of one changes
    /// the rules of all worlds.
    pub(crate) digest: &'static str,
}

impl Scene {
    /// Plays some steps in a region that is as the scene begins. Returns the recorder, which has the region.
    pub(crate) fn recorder(&self, region: Region, steps: u64) -> RegionRecorder {
        let mut recorder = RegionRecorder::new(region);
        for step in 0..steps {
            for command in (self.commands)(step) {
                recorder.apply(command);
            }
            recorder.apply(RegionCommand::Step);
        }
        recorder
    }
}

pub(crate) const SCENES: [Scene; 10] = [
    Scene { name: "billiards", build: billiards, commands: nothing, digest: "7393d47f994da352" },
    Scene { name: "bulldozer", build: bulldozer, commands: nothing, digest: "7736115224a14699" },
    Scene { name: "turntable", build: turntable, commands: nothing, digest: "89482549870949e0" },
    Scene { name: "crowd", build: crowd, commands: walk, digest: "bcef0508cca32b5e" },
    Scene { name: "workshop", build: workshop, commands: rearrange, digest: "7d7075685636643f" },
    Scene { name: "quarry", build: quarry, commands: rearrange, digest: "ef74e4613dddb4c5" },
    Scene {
        name: "playground",
        build: playground,
        commands: rearrange_joints,
        digest: "78c3f94c82b3be24",
    },
    Scene { name: "mobile", build: mobile, commands: rearrange_joints, digest: "13dc61ca84a6c260" },
    Scene {
        name: "tumbler",
        build: tumbler,
        commands: rearrange_compounds,
        digest: "b18fceffd96cb82b",
    },
    Scene { name: "hollow", build: hollow, commands: nothing, digest: "4002747ee430af16" },
];

impl Scene {
    /// Plays 600 steps, and returns the digest of all replies and all states.
    pub(crate) fn found(&self) -> Digest {
        let mut region = (self.build)();
        let mut digest = region.digest();
        for step in 0..600 {
            let commands = (self.commands)(step).into_iter().chain([RegionCommand::Step]);
            let replies: Vec<RegionReply> =
                commands.map(|command| region.apply(&command)).collect();
            let all = [&digest.0, region.digest().0.as_slice(), &wire::encode(&replies)].concat();
            digest = Digest::of("metatopia-physics scene", &all);
        }
        digest
    }

    /// Gives the region the commands of a step, and steps it.
    pub(crate) fn step(&self, region: &mut Region, step: u64) -> Vec<Touch> {
        self.step_events(region, step).touches
    }

    /// Gives the region the commands of a step, and returns all that the step reports.
    pub(crate) fn step_events(&self, region: &mut Region, step: u64) -> StepEvents {
        self.command(region, step);
        region.step_events()
    }

    /// Gives the region the commands of a step. What it refuses is a part of the scene too.
    pub(crate) fn command(&self, region: &mut Region, step: u64) {
        for command in (self.commands)(step) {
            let _reply = region.apply(&command);
        }
    }
}

fn nothing(_: u64) -> Vec<RegionCommand> {
    Vec::new()
}

/// Builds a ball that is shot into a rack of fifteen.
fn billiards() -> Region {
    let mut region = Region::new();
    yard(&mut region, 500);
    let ball = |position| BodySpec {
        restitution: cm(90),
        friction: cm(10),
        linear_damping: cm(20),
        ..moving(circle(20), position)
    };
    for row in 0..5_i64 {
        for column in 0..=row {
            let position = at(100 + row * 36, column * 41 - row * 20);
            put(&mut region, 10 + (row * 5 + column) as u64, ball(position));
        }
    }
    let cue = BodySpec { velocity: at(1_100, 17), ..ball(at(-300, 5)) };
    put(&mut region, 9, cue);
    region
}

/// Builds a kinematic blade that pushes 36 crates into a corner.
fn bulldozer() -> Region {
    let mut region = Region::new();
    yard(&mut region, 600);
    for index in 0..36_i64 {
        let crate_ = BodySpec {
            mass: Fx::from_int(20),
            linear_damping: Fx::from_int(3),
            angular_damping: Fx::from_int(3),
            ..moving(rect(30, 30), at(index % 6 * 70 - 150, index / 6 * 68 - 160))
        };
        put(&mut region, 10 + index as u64, crate_);
    }
    let mut blade = BodySpec::new(rect(20, 250), Motion::Kinematic, at(-400, 0));
    blade.velocity = at(90, 20);
    put(&mut region, 5, blade);
    region
}

/// Builds a turning bar among boxes and balls.
fn turntable() -> Region {
    let mut region = Region::new();
    yard(&mut region, 500);
    let mut bar = BodySpec::new(rect(220, 15), Motion::Kinematic, Vec2::ZERO);
    bar.spin = cm(150);
    put(&mut region, 5, bar);
    for index in 0..24_i64 {
        let (x, y) = (index % 6 * 130 - 325, index / 6 * 220 - 330);
        let shape = if index % 2 == 0 { circle(25) } else { rect(30, 20) };
        let spec = BodySpec {
            linear_damping: Fx::from_int(1),
            angular_damping: Fx::from_int(1),
            restitution: cm(30),
            ..moving(shape, at(x, y))
        };
        put(&mut region, 10 + index as u64, spec);
    }
    region
}

/// Builds forty walkers, and a gate that notices them.
fn crowd() -> Region {
    let mut region = Region::new();
    yard(&mut region, 800);
    let gate = BodySpec { sensor: true, ..fixed(rect(200, 200), Vec2::ZERO) };
    put(&mut region, 5, gate);
    for index in 0..40_i64 {
        let walker = BodySpec {
            mass: Fx::from_int(70),
            fixed_rotation: true,
            friction: Fx::ZERO,
            ..moving(circle(30), at(index % 8 * 180 - 630, index / 8 * 300 - 600))
        };
        put(&mut region, 10 + index as u64, walker);
    }
    region
}

/// Builds a hollow of one chain, into which balls, crates, capsules and hexagons fall.
fn hollow() -> Region {
    let mut region = Region::new().with_gravity(at(0, -981));
    yard(&mut region, 1_000);
    let points: Vec<Vec2> = (-8..=8_i64).map(|n| at(n * 110, n * n * 11 - 600)).collect();
    let chain = SegmentChain::new(&points, false).expect("a scene's points are a chain");
    for (id, segment) in (100..).zip(chain.bodies(&fixed(circle(50), Vec2::ZERO))) {
        put(&mut region, id, segment);
    }
    let hexagon = polygon(&[(30, 0), (15, 26), (-15, 26), (-30, 0), (-15, -26), (15, -26)]);
    let shapes = [circle(25), rect(30, 20), capsule(25, 15), hexagon];
    for (id, n) in (10..).zip(0..32_i64) {
        let shape = shapes[n as usize % shapes.len()].clone();
        let place = at(n % 8 * 150 - 530 + n, n / 8 * 110 + 100);
        put(&mut region, id, BodySpec { restitution: cm(20), ..moving(shape, place) });
    }
    region
}

/// Gives some walkers another velocity.
fn walk(step: u64) -> Vec<RegionCommand> {
    let mut dice = Stream::new(&[3; 32], "physics.crowd", &[step]);
    let mut commands = Vec::new();
    for id in 10..50 {
        if dice.below(20) == 0 {
            let speed = |draw: u64| cm(draw as i64 - 300);
            let velocity = Vec2::new(speed(dice.below(601)), speed(dice.below(601)));
            commands.push(RegionCommand::SetVelocity(ObjectId(id), velocity));
        }
    }
    commands
}

/// Builds bodies of very different mass and size.
fn workshop() -> Region {
    let mut region = Region::new();
    yard(&mut region, 400);
    for index in 0..20_i64 {
        let size = 8 + index * 3;
        let shape = if index % 3 == 0 { circle(size) } else { rect(size, 8 + index) };
        let spec = BodySpec {
            mass: Fx::from_int(1 << (index % 12)),
            velocity: at(index * 37 % 400 - 200, index * 91 % 400 - 200),
            spin: cm(index * 53 % 300),
            linear_damping: Fx::HALF,
            ..moving(shape, at(index % 5 * 150 - 300, index / 5 * 180 - 270))
        };
        put(&mut region, 10 + index as u64, spec);
    }
    region
}

/// Builds a pile of all shapes that gravity pulls into a trough.
fn quarry() -> Region {
    let mut region = Region::new().with_gravity(at(100, -1_000));
    yard(&mut region, 300);
    put(&mut region, 5, fixed(polygon(&[(-150, -50), (150, -50), (0, 60)]), at(0, -240)));
    for index in 0..60_i64 {
        let shape = match index % 5 {
            0 => circle(12 + index / 4),
            1 => rect(20, 10 + index / 3),
            2 => capsule(10 + index / 3, 15),
            3 => polygon(&[(-20, -20), (30, -15), (25, 20), (-5, 35)]),
            _ => polygon(&[(0, -22), (20, -10), (22, 12), (0, 25), (-19, 14), (-24, -12)]),
        };
        let spec = BodySpec {
            mass: cm(100 + index % 7 * 100),
            restitution: cm(index % 3 * 20),
            spin: cm(index * 31 % 200),
            ..moving(shape, at(index % 8 * 65 - 230, index / 8 * 70 - 100))
        };
        put(&mut region, 10 + index as u64, spec);
    }
    region
}

/// Removes, inserts, moves and pushes bodies, and changes their kind of motion.
fn rearrange(step: u64) -> Vec<RegionCommand> {
    let object = ObjectId(10 + step / 10 % 20);
    let pose = Pose { position: at(100, -100), angle: Angle::EIGHTH };
    // The object may be missing or not dynamic: a refused command is a part of the scene too.
    let command = match step % 60 {
        10 => RegionCommand::Remove(object),
        20 => {
            let ball = moving(circle(20), at(0, step as i64 % 300));
            RegionCommand::Insert(object, Box::new(ball))
        }
        30 => RegionCommand::SetMotion(object, Motion::Static),
        40 => RegionCommand::SetMotion(object, Motion::Dynamic),
        50 => RegionCommand::SetPose(object, pose),
        55 => RegionCommand::ApplyImpulse(object, at(5_000, -2_000)),
        _ => return Vec::new(),
    };
    vec![command]
}

/// Joins two bodies, or one to the ground, at a point of the region.
pub(crate) fn join(
    region: &mut Region,
    id: u64,
    a: Option<u64>,
    b: u64,
    point: Vec2,
    kind: JointKind,
) {
    let spec = region.joint_at(a.map(ObjectId), ObjectId(b), point, kind).expect("they are there");
    region.insert_joint(JointId(id), &spec).expect("a scene's joints fit");
}

pub(crate) const HINGE: JointKind = JointKind::Revolute { limits: None, motor: None };

/// Builds a bridge of planks, a seesaw, a lift, a cart with a motor and crates, under gravity.
fn playground() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE));
    yard(&mut region, 600);
    for plank in 0..12_i64 {
        let id = 10 + plank as u64;
        put(&mut region, id, moving(rect(24, 8), at(plank * 50 - 475, -200)));
        let before = (plank > 0).then(|| id - 1);
        join(&mut region, id, before, id, at(plank * 50 - 500, -200), HINGE);
    }
    let end = region.joint_at(None, ObjectId(21), at(100, -200), HINGE).expect("it is there");
    let end = JointSpec { break_force: Some(Fx::from_int(900)), ..end };
    region.insert_joint(JointId(30), &end).expect("it fits");
    put(&mut region, 40, moving(rect(150, 8), at(300, -520)));
    let limits = Some([cm(-40), cm(40)]);
    join(&mut region, 40, None, 40, at(300, -520), JointKind::Revolute { limits, motor: None });
    put(&mut region, 41, moving(rect(60, 10), at(500, -300)));
    let lift = Motor { speed: cm(120), strength: Fx::from_int(300) };
    let (axis, limits) = (at(0, 100), Some([cm(-150), cm(400)]));
    let kind = JointKind::Prismatic { axis, limits, motor: Some(lift) };
    join(&mut region, 41, None, 41, at(500, -300), kind);
    put(&mut region, 42, moving(rect(60, 12), at(-300, -540)));
    for (id, x) in [(43, -345), (44, -255)] {
        put(&mut region, id, BodySpec { friction: Fx::ONE, ..moving(circle(25), at(x, -570)) });
        let motor = Some(Motor { speed: cm(-500), strength: Fx::from_int(10) });
        let kind = JointKind::Revolute { limits: None, motor };
        join(&mut region, id, Some(42), id, at(x, -570), kind);
    }
    for n in 0..16_i64 {
        let shape = if n % 3 == 0 { circle(18) } else { rect(20, 16) };
        put(&mut region, 60 + n as u64, moving(shape, at(n % 8 * 130 - 450, 100 + n / 8 * 100)));
    }
    region
}

/// Builds a mobile of rods, ropes, springs and welds, seen from above, and somebody who drags it.
fn mobile() -> Region {
    let mut region = Region::new();
    yard(&mut region, 500);
    for n in 0..24_u64 {
        let position = at(n as i64 % 6 * 90 - 225, n as i64 / 6 * 110 - 165);
        let shape = match n % 3 {
            0 => circle(20),
            1 => rect(30, 14),
            _ => capsule(20, 10),
        };
        let spec = BodySpec {
            mass: Fx::from_int(1 << (n % 5)),
            linear_damping: cm(20),
            angular_damping: cm(20),
            ..moving(shape, position)
        };
        put(&mut region, 10 + n, spec);
    }
    let soft = Spring { frequency: cm(200), damping: cm(30) };
    for n in 0..23_u64 {
        let (a, b) = (ObjectId(10 + n), ObjectId(11 + n));
        let kind = match n % 5 {
            0 => JointKind::Distance { min: cm(80), max: cm(80), spring: None },
            1 => JointKind::Distance { min: Fx::ZERO, max: cm(130), spring: None },
            2 => JointKind::Distance { min: cm(40), max: cm(400), spring: Some((cm(95), soft)) },
            3 => JointKind::Weld { spring: Some(soft) },
            _ => JointKind::Weld { spring: None },
        };
        let spec = region.joint_at(Some(a), b, body(&region, b.0).position(), kind);
        let mut spec = spec.expect("both are there");
        if matches!(kind, JointKind::Distance { .. }) {
            (spec.anchor_a, spec.anchor_b) = (at(5, 0), at(-5, 3));
        }
        region.insert_joint(JointId(10 + n), &spec).expect("it fits");
    }
    let drag = JointKind::Target { spring: soft, force: Fx::from_int(400) };
    let spec = JointSpec { anchor_a: at(200, 200), ..JointSpec::new(None, ObjectId(15), drag) };
    region.insert_joint(JointId(70), &spec).expect("it fits");
    region
}

/// Rearranges the bodies, and makes, drives and removes joints.
fn rearrange_joints(step: u64) -> Vec<RegionCommand> {
    let mut commands = rearrange(step + 5);
    let joint = JointId(10 + step / 7 % 40);
    let (a, b) = (ObjectId(10 + step / 11 % 30), ObjectId(60 + step / 13 % 16));
    let speed = if step % 400 < 200 { cm(400) } else { cm(-400) };
    let motor = |strength| Some(Motor { speed, strength: Fx::from_int(strength) });
    // What is refused is a part of the scene too.
    commands.extend(match step % 70 {
        15 => Some(RegionCommand::RemoveJoint(joint)),
        25 => Some(RegionCommand::JointAt(joint, Some(a), b, at(0, 0), HINGE)),
        35 => {
            let rope = JointKind::Distance { min: Fx::ZERO, max: cm(200), spring: None };
            let spec = JointSpec {
                break_force: Some(Fx::from_int(200)),
                ..JointSpec::new(Some(a), b, rope)
            };
            Some(RegionCommand::InsertJoint(JointId(80 + step % 3), Box::new(spec)))
        }
        45 => Some(RegionCommand::SetMotor(JointId(41), motor(300))),
        50 => Some(RegionCommand::SetMotor(JointId(43), motor(9))),
        55 => Some(RegionCommand::MoveTarget(JointId(70), at(step as i64 % 500 - 250, 200))),
        _ => None,
    });
    commands
}

/// Returns a compound: an L, a cross, a dumb-bell or a comb.
pub(crate) fn joinery(kind: u64) -> Shape {
    match kind % 4 {
        0 => compound(&[(rect(30, 8), (0, 0)), (rect(8, 22), (-22, 30))]),
        1 => compound(&[(rect(28, 7), (0, 0)), (capsule(14, 7), (0, 0)), (rect(7, 28), (0, 0))]),
        2 => compound(&[(capsule(22, 7), (0, 0)), (circle(14), (-24, 0)), (circle(12), (24, 2))]),
        _ => {
            let tooth = polygon(&[(-10, 0), (10, 0), (0, 30)]);
            let back = (rect(30, 7), (0, 0));
            let teeth = [-22, 0, 22].map(|x| (tooth.clone(), (x, 12)));
            compound(&[&[back], &teeth[..]].concat())
        }
    }
}

/// Builds a drum that turns, of four walls that are one body, with compounds and others in it; a sensor of two
/// discs is in its middle.
fn tumbler() -> Region {
    let mut region = Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE));
    yard(&mut region, 500);
    let (high, wide) = (rect(20, 270), rect(270, 20));
    let walls =
        [(high.clone(), (-250, 0)), (high, (250, 0)), (wide.clone(), (0, -250)), (wide, (0, 250))];
    let mut drum = BodySpec::new(compound(&walls), Motion::Kinematic, Vec2::ZERO);
    drum.spin = cm(60);
    put(&mut region, 5, drum);
    let discs = compound(&[(circle(60), (-80, 0)), (circle(60), (80, 0))]);
    put(&mut region, 6, BodySpec { sensor: true, ..fixed(discs, Vec2::ZERO) });
    for index in 0..24_u64 {
        let shape = match index % 6 {
            0..=3 => joinery(index % 6),
            4 => circle(15),
            _ => rect(18, 12),
        };
        let spec = BodySpec {
            restitution: cm(index as i64 % 3 * 20),
            spin: cm(index as i64 * 31 % 200),
            ..moving(shape, at(index as i64 % 5 * 80 - 160, index as i64 / 5 * 80 - 160))
        };
        put(&mut region, 10 + index, spec.with_density(Fx::from_int(8)));
    }
    region
}

/// Rearranges the bodies, gives some of them another shape, and stops the drum.
fn rearrange_compounds(step: u64) -> Vec<RegionCommand> {
    let mut commands = rearrange(step);
    let object = ObjectId(10 + step / 7 % 24);
    commands.extend(match step % 50 {
        5 => {
            let comb = moving(joinery(step / 50), at(0, 100));
            Some(RegionCommand::Insert(object, Box::new(comb)))
        }
        15 => Some(RegionCommand::SetShape(object, Box::new(joinery(step / 50)), Fx::ONE)),
        25 => Some(RegionCommand::SetShape(object, Box::new(circle(14)), Fx::ONE)),
        35 => Some(RegionCommand::OverlappingShape(
            Box::new(joinery(step / 50)),
            Pose::default(),
            Filter::ALL,
        )),
        45 => Some(RegionCommand::SetSpin(ObjectId(5), cm(step as i64 % 3 * 60))),
        _ => None,
    });
    commands
}
