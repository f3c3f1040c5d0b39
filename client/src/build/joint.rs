//! Joints that a builder asks for in a word: where they go.

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_sim::SPRING_FREQUENCY_MAX;
use metatopia_types::{Build, BuiltJoint, ObjectId};

/// The kinds of joints in the words of builders.
pub const JOINT_KINDS: [&str; 7] = ["hinge", "rod", "weld", "slider", "rope", "spring", "motor"];

/// The radians a second of a motor, and the hertz of a spring, of which nobody said more.
const JOINT_RATE: Fx = Fx::from_int(2);

/// The torque of a motor in newton metres: it lifts a crate of forty kilograms by an arm of half a metre.
const MOTOR_STRENGTH: Fx = Fx::from_int(200);

/// The damping ratio of a spring: it swings some three times.
const SPRING_DAMPING: Fx = Fx::from_ratio(3, 10);

/// A thing that is joined, as it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedThing {
    /// Which thing it is.
    pub id: ObjectId,
    /// Its centre, in metres.
    pub position: Vec2,
    /// Half its width and height.
    pub half: Vec2,
    /// Which way it faces.
    pub angle: Angle,
    /// Whether it is a disc.
    pub round: bool,
}

impl JoinedThing {
    /// Returns the place of it that is nearest to `from`; `from` itself if it is inside.
    fn nearest(&self, from: Vec2) -> Vec2 {
        let way = from.saturating_sub(self.position);
        if self.round {
            let radius = self.half.x;
            let edge = || way.normalize().map_or(Vec2::ZERO, |towards| towards.scale(radius));
            return if way.length() <= radius {
                from
            } else {
                self.position.saturating_add(edge())
            };
        }
        let own = way.rotate(self.angle.wrapping_neg());
        let within = |at: Fx, half: Fx| at.clamp(half.saturating_neg(), half);
        let near = Vec2::new(within(own.x, self.half.x), within(own.y, self.half.y));
        if near == own { from } else { self.position.saturating_add(near.rotate(self.angle)) }
    }
}

/// Says whether a spring can swing so many times a second.
#[must_use]
pub fn is_frequency(rate: Fx) -> bool {
    Fx::ZERO < rate && rate <= SPRING_FREQUENCY_MAX
}

/// Returns the step that joins a thing to another one, or to the ground, by a joint of this kind; nothing if
/// there is no such kind, or a spring cannot swing so.
///
/// The joint is at the place of the other thing that is nearest to the thing's centre; a motor turns the thing about
/// its own centre. A rod holds the two
/// centres, or goes from the ground under the builder, who stands at `here`, and so do a rope and a spring. A
/// slider goes from one centre to the other, or the way that the thing faces. `rate` is how fast a motor turns in
/// radians a second, or a spring swings in hertz; two of these without it.
#[must_use]
pub fn joined(
    thing: &JoinedThing,
    to: Option<&JoinedThing>,
    (kind, rate): (&str, Option<Fx>),
    here: Vec2,
) -> Option<Build> {
    let rate = rate.unwrap_or(JOINT_RATE);
    let towards = |to: &JoinedThing| thing.position.saturating_sub(to.position);
    let (at, kind) = match (kind, to) {
        ("rod" | "rope" | "spring", to) => {
            let kind = match kind {
                "rod" => BuiltJoint::Rod,
                "rope" => BuiltJoint::Rope,
                _ if !is_frequency(rate) => return None,
                _ => BuiltJoint::Spring { frequency: rate, damping: SPRING_DAMPING },
            };
            (to.map_or(here, |to| to.position), kind)
        }
        ("hinge" | "weld" | "slider" | "motor", to) => {
            // The axle of a wheel is its own middle, wherever its cart ends.
            let at = match to.filter(|_| kind != "motor") {
                Some(to) => to.nearest(thing.position),
                None => thing.position,
            };
            let apart = to.map(towards).filter(|way| *way != Vec2::ZERO);
            let along = apart.map_or(thing.angle, Vec2::angle);
            let kind = match kind {
                "hinge" => BuiltJoint::Hinge,
                "weld" => BuiltJoint::Weld,
                "motor" => BuiltJoint::Motor { speed: rate, strength: MOTOR_STRENGTH },
                _ => BuiltJoint::Slider { along },
            };
            (at, kind)
        }
        _ => return None,
    };
    Some(Build::Join { object: thing.id, to: to.map(|to| to.id), at, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    fn end(id: u64, position: Vec2, round: bool) -> JoinedThing {
        JoinedThing { id: ObjectId(id), position, half: at(1, 1), angle: Angle::ZERO, round }
    }

    fn place(thing: JoinedThing, to: Option<JoinedThing>, kind: &str) -> (Vec2, BuiltJoint) {
        match joined(&thing, to.as_ref(), (kind, None), at(9, 9)) {
            Some(Build::Join { object, to: other, at, kind }) => {
                assert_eq!((object, other), (thing.id, to.map(|to| to.id)));
                (at, kind)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_joint_is_where_the_other_thing_is_nearest() {
        let beside = end(1, at(3, 0), false);
        for round in [true, false] {
            let wall = end(2, at(0, 0), round);
            assert_eq!(place(beside, Some(wall), "hinge"), (at(1, 0), BuiltJoint::Hinge));
            assert_eq!(place(beside, Some(wall), "weld"), (at(1, 0), BuiltJoint::Weld));
            let along = Angle::ZERO;
            let slider = (at(1, 0), BuiltJoint::Slider { along });
            assert_eq!(place(beside, Some(wall), "slider"), slider);
            assert_eq!(place(beside, Some(wall), "motor").0, beside.position);
            // A wheel within its cart.
            let wheel = end(3, Vec2::new(Fx::HALF, Fx::ZERO), true);
            assert_eq!(place(wheel, Some(wall), "hinge").0, wheel.position);
        }
        assert_eq!(
            place(beside, Some(end(2, at(0, 5), false)), "rod"),
            (at(0, 5), BuiltJoint::Rod)
        );
    }

    #[test]
    fn the_ground_holds_a_thing_at_its_middle_and_a_rod_where_one_stands() {
        let thing = JoinedThing { angle: Angle::QUARTER, ..end(1, at(3, 0), false) };
        assert_eq!(place(thing, None, "hinge"), (at(3, 0), BuiltJoint::Hinge));
        let along = Angle::QUARTER;
        assert_eq!(place(thing, None, "slider"), (at(3, 0), BuiltJoint::Slider { along }));
        assert_eq!(place(thing, None, "rod"), (at(9, 9), BuiltJoint::Rod));
        assert_eq!(place(thing, None, "rope"), (at(9, 9), BuiltJoint::Rope));
        let at_rate = |kind, rate| match joined(&thing, None, (kind, rate), at(0, 0)) {
            Some(Build::Join { kind, .. }) => kind,
            other => panic!("{other:?}"),
        };
        let back = Fx::from_int(-5);
        let motor = |speed| BuiltJoint::Motor { speed, strength: MOTOR_STRENGTH };
        assert_eq!(at_rate("motor", Some(back)), motor(back));
        assert_eq!(at_rate("motor", None), motor(JOINT_RATE));
        let spring = BuiltJoint::Spring { frequency: Fx::ONE, damping: SPRING_DAMPING };
        assert_eq!(at_rate("spring", Some(Fx::ONE)), spring);
        let kind = |kind| joined(&thing, None, (kind, None), at(0, 0));
        assert_eq!(kind("glue"), None);
        assert!(JOINT_KINDS.iter().all(|word| kind(word).is_some()));
    }
}
