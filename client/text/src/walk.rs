//! Walking somewhere by what can be seen: from scene to scene, a heading.

use metatopia_client::{Scene, SceneObject, text::position};
use metatopia_math::{Fx, Vec2};
use metatopia_types::ObjectId;

/// Seconds from a scene to the effect of an act on it, roughly: a scene every fifth of a second, a
/// turn to decide, and one to spare. Whoever is closer walks slower, so as not to run past.
const REACTION: Fx = Fx::from_ratio(6, 10);

/// Slower than this share of the full speed nobody walks.
const SLOWEST: Fx = Fx::from_ratio(1, 10);

/// Close enough to a place.
const THERE: Fx = Fx::from_ratio(3, 10);

/// Scenes without coming closer before something is in the way.
const PATIENCE: u32 = 5;

/// Scenes of a step to the side.
const SIDESTEP: u32 = 4;

/// Steps to the side before it is given up.
const SIDESTEPS_MAX: u32 = 4;

/// The target of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// To a place.
    Place(Vec2),
    /// Up to an object, until it is nearer than this to one's own centre.
    Object(ObjectId, Fx),
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkStep {
    /// Walk on like this.
    Head(Vec2),
    /// Stand still: this is the place.
    Arrived,
    /// Stand still: there is no way that could be found; so far from the goal.
    Blocked(Fx),
    /// Stand still: the goal, or one's own avatar, is not in sight.
    Lost,
}

/// One walk to a target.
#[derive(Clone, Debug)]
pub(super) struct AvatarWalk {
    goal: Goal,
    /// Metres a second at full heading.
    speed: Fx,
    nearest: Option<Fx>,
    idle: u32,
    sidesteps: u32,
    sideways: u32,
}

impl AvatarWalk {
    pub(super) const fn new(goal: Goal, speed: Fx) -> Self {
        Self { goal, speed, nearest: None, idle: 0, sidesteps: 0, sideways: 0 }
    }

    /// Goes on in another sim, whose coordinates are those of the sim before with this added.
    pub(super) fn shift(&mut self, by: Vec2) {
        if let Goal::Place(place) = &mut self.goal {
            *place = place.saturating_add(by);
        }
        (self.nearest, self.idle) = (None, 0);
    }

    /// Returns the target, in coordinates of the sim that one is in.
    pub(super) const fn goal(&self) -> Goal {
        self.goal
    }

    /// Says whether the last step began to go around something that is in the way.
    pub(super) const fn begins_to_go_around(&self) -> bool {
        self.sideways == SIDESTEP
    }

    /// Decides the next step of the walk from what is in sight.
    pub(super) fn step(&mut self, scene: &Scene) -> WalkStep {
        let Some((here, rest, towards)) = self.rest(scene) else {
            return WalkStep::Lost;
        };
        let close = match self.goal {
            Goal::Place(_) => THERE,
            Goal::Object(_, close) => close,
        };
        if rest <= close {
            return WalkStep::Arrived;
        }
        let Some(ahead) = towards.saturating_sub(here).normalize() else {
            return WalkStep::Arrived;
        };
        if self.sideways > 0 {
            self.sideways -= 1;
            self.nearest = None;
            return WalkStep::Head(self.aside(ahead));
        }
        // A few centimetres are noise: somebody leaning against a wall trembles.
        let closer = |nearest: Fx| rest < nearest.saturating_sub(Fx::from_ratio(5, 100));
        if self.nearest.is_none_or(closer) {
            (self.nearest, self.idle) = (Some(rest), 0);
        } else {
            self.idle += 1;
        }
        if self.idle >= PATIENCE {
            if self.sidesteps >= SIDESTEPS_MAX {
                return WalkStep::Blocked(rest);
            }
            (self.idle, self.sidesteps, self.sideways) = (0, self.sidesteps + 1, SIDESTEP);
            return WalkStep::Head(self.aside(ahead));
        }
        let brake = rest.saturating_sub(close).saturating_div(self.speed.saturating_mul(REACTION));
        WalkStep::Head(ahead.scale(brake.clamp(SLOWEST, Fx::ONE)))
    }

    /// Returns where the avatar is, how far it still has to go, and the point to walk to.
    fn rest(&self, scene: &Scene) -> Option<(Vec2, Fx, Vec2)> {
        let here = position(scene)?;
        match self.goal {
            Goal::Place(place) => Some((here, here.distance(place), place)),
            Goal::Object(id, _) => {
                let object = scene.objects.iter().find(|object| object.id == id)?;
                Some((here, gap(object, here), object.position))
            }
        }
    }

    /// A step to the side and a little back, to one side and then to the other.
    fn aside(&self, ahead: Vec2) -> Vec2 {
        let side =
            if self.sidesteps % 2 == 1 { ahead.perp() } else { ahead.perp().saturating_neg() };
        side.saturating_sub(ahead.scale(Fx::from_ratio(1, 4)))
    }
}

/// Returns the distance from a point to the nearest point of an object.
pub(super) fn gap(object: &SceneObject, from: Vec2) -> Fx {
    let local = from.saturating_sub(object.position).rotate(object.angle.wrapping_neg());
    local.distance(object.shape.nearest(local))
}

#[cfg(test)]
mod tests {
    use metatopia_math::Angle;
    use metatopia_sim::Shape;
    use metatopia_types::{Height, Tick};

    use super::*;
    use crate::fixture::thing;

    const ME: ObjectId = ObjectId(1);
    const BOX: ObjectId = ObjectId(2);
    const SPEED: Fx = Fx::from_int(4);

    fn at(x: i32, y: i32) -> Vec2 {
        Vec2::new(Fx::from_int(x), Fx::from_int(y))
    }

    fn object(id: ObjectId, position: Vec2, half: Vec2) -> SceneObject {
        let shape = match half.x == half.y {
            true => Shape::Circle { radius: half.x },
            false => Shape::Rect { half },
        };
        SceneObject { shape, position, half, ..thing(id.0, "thing") }
    }

    fn scene(here: Vec2, others: Vec<SceneObject>) -> Scene {
        let half = Vec2::new(Fx::HALF, Fx::HALF);
        let mut objects = vec![object(ME, here, half)];
        objects.extend(others);
        Scene { height: Height(1), tick: Tick(3), me: Some(ME), objects }
    }

    /// Walks in a world where headings act at once; a fifth of a second a scene.
    fn play(goal: Goal, mut here: Vec2, wall: Option<Fx>) -> (Vec2, WalkStep) {
        let mut walk = AvatarWalk::new(goal, SPEED);
        for _ in 0..200 {
            let half = Vec2::new(Fx::HALF, Fx::HALF);
            let step = walk.step(&scene(here, vec![object(BOX, at(9, 0), half)]));
            let WalkStep::Head(heading) = step else {
                return (here, step);
            };
            assert!(heading.length() <= Fx::from_ratio(11, 10), "{heading:?}");
            let next = here.saturating_add(heading.scale(SPEED).scale(Fx::from_ratio(1, 5)));
            here = match wall {
                Some(x) => Vec2::new(next.x.min(x), next.y),
                None => next,
            };
        }
        panic!("still walking at {here:?}");
    }

    #[test]
    fn a_walk_ends_at_its_place_without_running_past() {
        let (here, step) = play(Goal::Place(at(5, -3)), Vec2::ZERO, None);
        assert_eq!(step, WalkStep::Arrived);
        assert!(here.distance(at(5, -3)) <= THERE, "{here:?}");
    }

    #[test]
    fn a_walk_to_an_object_ends_in_reach_of_it() {
        let (here, step) = play(Goal::Object(BOX, Fx::ONE), Vec2::ZERO, None);
        assert_eq!(step, WalkStep::Arrived);
        let half = Vec2::new(Fx::HALF, Fx::HALF);
        assert!(gap(&object(BOX, at(9, 0), half), here) <= Fx::ONE, "{here:?}");
    }

    #[test]
    fn a_wall_ends_a_walk_after_some_tries() {
        let (_, step) = play(Goal::Object(BOX, Fx::ONE), Vec2::ZERO, Some(Fx::from_int(4)));
        assert!(matches!(step, WalkStep::Blocked(rest) if rest > Fx::from_int(3)), "{step:?}");
    }

    /// A walk against a line tried each way around it for 25 s, before it was told that the line is a wall.
    #[test]
    fn a_walk_says_when_it_begins_to_go_around_something() {
        let mut walk = AvatarWalk::new(Goal::Place(at(9, 0)), SPEED);
        let begins: Vec<bool> = (0..2 * (PATIENCE + SIDESTEP + 1))
            .map(|_| {
                walk.step(&scene(Vec2::ZERO, Vec::new()));
                walk.begins_to_go_around()
            })
            .collect();
        let first = begins.iter().position(|begins| *begins);
        assert_eq!(first, Some(PATIENCE as usize), "{begins:?}");
        assert_eq!(begins.iter().filter(|begins| **begins).count(), 2, "{begins:?}");
    }

    #[test]
    fn a_walk_goes_on_to_the_same_place_in_the_coordinates_of_another_sim() {
        // The line is 6 m ahead, and the middle of the other sim 256 m to the east of this one's.
        let mut walk = AvatarWalk::new(Goal::Place(at(134, 0)), SPEED);
        let WalkStep::Head(before) = walk.step(&scene(at(127, 0), Vec::new())) else {
            panic!("it walks")
        };
        walk.shift(at(-256, 0));
        let WalkStep::Head(after) = walk.step(&scene(at(-127, 0), Vec::new())) else {
            panic!("it walks on")
        };
        assert!(before.x > Fx::ZERO && after.x > Fx::ZERO, "{before:?} {after:?}");
        assert_eq!(walk.step(&scene(at(-122, 0), Vec::new())), WalkStep::Arrived);
    }

    #[test]
    fn what_is_out_of_sight_cannot_be_walked_to() {
        let mut walk = AvatarWalk::new(Goal::Object(ObjectId(77), Fx::ONE), SPEED);
        assert_eq!(walk.step(&scene(Vec2::ZERO, Vec::new())), WalkStep::Lost);
        let mut blind = scene(Vec2::ZERO, Vec::new());
        blind.me = None;
        assert_eq!(AvatarWalk::new(Goal::Place(at(1, 1)), SPEED).step(&blind), WalkStep::Lost);
    }

    #[test]
    fn the_gap_to_a_turned_wall_is_to_its_nearest_side() {
        let mut wall = object(BOX, Vec2::ZERO, at(10, 1));
        assert_eq!(gap(&wall, at(0, 5)), Fx::from_int(4));
        assert_eq!(gap(&wall, at(13, 5)), Fx::from_int(5));
        assert_eq!(gap(&wall, at(3, 0)), Fx::ZERO);
        wall.angle = Angle::from_bits(1 << 30);
        let gap = gap(&wall, at(0, 15)).saturating_sub(Fx::from_int(5));
        assert!(gap.saturating_abs() < Fx::from_ratio(1, 1_000_000), "{gap}");
    }
}
