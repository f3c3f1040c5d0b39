//! Loads: the force and the torque that a joint had to hold.
//!
//! Rapier solves the rows of a joint after it made them orthogonal to each other, and keeps the impulse of
//! each. So the rows are made orthogonal here as well, and their impulses are summed.

use metatopia_math::Fx;
use metatopia_physics::{Joint, JointId, JointKind, JointSpec};
use rapier2d::prelude::{ImpulseJoint, JointAxesMask, RigidBody, Vector};

use crate::numbers::fixed;

/// The substeps of a second that rapier's impulses are of.
const SUBSTEPS_PER_SECOND: f32 = 240.0;

/// A row of a joint: the direction in which it pushes, and its levers at both bodies.
#[derive(Clone, Copy)]
struct LoadRow {
    push: Vector,
    turns: [f32; 2],
    impulse: f32,
    /// Whether the other rows are made orthogonal to it.
    is_locked: bool,
}

/// One over the mass, and one over the inertia, of a body that a joint moves; of another one, zero.
#[derive(Clone, Copy)]
struct Ease {
    shift: f32,
    turn: f32,
}

impl Ease {
    fn of(body: &RigidBody) -> Self {
        let own = &body.mass_properties().local_mprops;
        match body.is_dynamic() {
            true => Self { shift: own.inv_mass, turn: own.inv_principal_inertia },
            false => Self { shift: 0.0, turn: 0.0 },
        }
    }
}

/// Returns how much two rows have to do with each other.
fn product(one: &LoadRow, other: &LoadRow, ease: [Ease; 2]) -> f32 {
    let [first, second] = ease;
    one.push.dot(other.push) * (first.shift + second.shift)
        + one.turns[0] * other.turns[0] * first.turn
        + one.turns[1] * other.turns[1] * second.turn
}

/// Returns the joint's id with the force and the torque that it had to hold at the end of the step, if they
/// are more than it can.
pub(crate) fn broken(
    joint: &Joint,
    of_rapier: &ImpulseJoint,
    bodies: [&RigidBody; 2],
) -> Option<(JointId, Fx, Fx)> {
    let JointSpec { break_force, break_torque, kind, .. } = joint.spec();
    if break_force.is_none() && break_torque.is_none() {
        return None;
    }
    let (force, torque) = match kind {
        JointKind::Distance { .. } => {
            let data = &of_rapier.data;
            ((data.limits[0].impulse + data.motors[0].impulse).abs(), 0.0)
        }
        _ => load(of_rapier, bodies),
    };
    let (force, torque) =
        (fixed(force * SUBSTEPS_PER_SECOND), fixed(torque.abs() * SUBSTEPS_PER_SECOND));
    let breaks = |most: &Option<Fx>, held: Fx| most.is_some_and(|most| held > most);
    (breaks(break_force, force) || breaks(break_torque, torque)).then_some((
        joint.id(),
        force,
        torque,
    ))
}

/// Returns the impulse along a line and the one around the anchor that the rows of a joint sum to.
fn load(joint: &ImpulseJoint, [first, second]: [&RigidBody; 2]) -> (f32, f32) {
    let data = &joint.data;
    let frame = first.position().rotation * data.local_frame1.rotation;
    let axes = [Vector::new(frame.cos(), frame.sin()), Vector::new(-frame.sin(), frame.cos())];
    let anchor = second.position() * data.local_frame2.translation;
    let levers = [first, second].map(|body| anchor - body.position().translation);
    let cross = |one: Vector, other: Vector| one.x * other.y - one.y * other.x;
    let row = |axis: usize, impulse: f32, is_locked: bool| match axes.get(axis) {
        Some(push) => {
            LoadRow { push: *push, turns: levers.map(|r| cross(r, *push)), impulse, is_locked }
        }
        None => LoadRow { push: Vector::new(0.0, 0.0), turns: [1.0; 2], impulse, is_locked },
    };
    let has = |mask: JointAxesMask, axis: usize| mask.bits() & (1 << axis) != 0;
    // Rapier has the turn before the ways.
    let order = [2, 0, 1];
    let locked = order.iter().filter(|axis| has(data.locked_axes, **axis));
    let limited = order.iter().filter(|axis| has(data.limit_axes, **axis));
    let driven = order.iter().filter(|axis| has(data.motor_axes, **axis));
    let mut rows: Vec<LoadRow> =
        locked.map(|axis| row(*axis, joint.impulses[*axis], true)).collect();
    rows.extend(limited.map(|axis| row(*axis, data.limits[*axis].impulse, false)));
    let ease = [first, second].map(Ease::of);
    for done in 0..rows.len() {
        let settled = rows[done];
        let own = product(&settled, &settled, ease);
        if !settled.is_locked || own <= 0.0 {
            continue;
        }
        for row in &mut rows[done + 1..] {
            let share = product(row, &settled, ease) / own;
            row.push -= settled.push * share;
            row.turns = [0, 1].map(|end| row.turns[end] - settled.turns[end] * share);
        }
    }
    rows.extend(driven.map(|axis| row(*axis, data.motors[*axis].impulse, false)));
    let zero = (Vector::new(0.0, 0.0), 0.0);
    let (push, turn) = rows.iter().fold(zero, |(push, turn), row| {
        (push + row.push * row.impulse, turn + row.turns[1] * row.impulse)
    });
    (push.length(), turn - cross(levers[1], push))
}
