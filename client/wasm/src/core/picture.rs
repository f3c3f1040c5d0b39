//! What is in sight as the page draws it: things, where they are, and what changed with each view.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_client::{Sight, build::JoinedThing};
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::CompoundPart;
use metatopia_protocol::ScriptEntry;
use metatopia_sim::{Body, Motion, Object, Shape};
use metatopia_types::{Emote, ObjectId, Origin, PackageId, ScriptId, SimId, Square, Tick};
use serde::Serialize;
use serde_json::{Value, json};

use super::units::{from_angle, from_fx, variant};

/// Where something is, and how it moves: metres, metres a second and radians.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct DrawnPlace {
    pub(super) x: f64,
    pub(super) y: f64,
    angle: f64,
    pub(super) vx: f64,
    pub(super) vy: f64,
}

impl DrawnPlace {
    pub(super) fn of(body: &Body) -> Self {
        let (position, velocity) = (body.position(), body.velocity());
        Self {
            x: from_fx(position.x),
            y: from_fx(position.y),
            angle: from_angle(body.angle()),
            vx: from_fx(velocity.x),
            vy: from_fx(velocity.y),
        }
    }
}

/// A thing as the page was told of it.
#[derive(Clone, Debug)]
pub(super) struct DrawnThing {
    pub(super) object: Object,
    pub(super) body: Body,
    pub(super) far: bool,
    pub(super) place: DrawnPlace,
    /// It went over a border after this tick, and is drawn on until it is seen in the other sim.
    pub(super) departed: Option<Tick>,
}

impl DrawnThing {
    /// Returns whether both are the same in everything but place.
    fn looks_like(&self, other: &Self) -> bool {
        let form = |thing: &Self| {
            let is_departed = thing.departed.is_some();
            let (shape, motion) = (thing.body.shape(), thing.body.motion());
            (shape, motion, thing.body.is_sensor(), thing.far, is_departed)
        };
        form(self) == form(other) && self.object == other.object
    }
}

/// What changed in sight, as an event.
#[derive(Debug, Serialize)]
pub(super) struct PictureChange {
    r#type: &'static str,
    height: u64,
    tick: u64,
    me: Option<ObjectId>,
    put: Vec<Value>,
    gone: Vec<ObjectId>,
    moved: Vec<(ObjectId, f64, f64, f64, f64, f64)>,
    gestures: Vec<(ObjectId, String)>,
    reset: bool,
}

/// What the page was told.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) shown: BTreeMap<ObjectId, DrawnThing>,
    /// The ground of the sim, if it lies on any.
    pub(super) square: Option<Square>,
    /// The middles of the portals.
    pub(super) portals: Vec<Vec2>,
    /// The own avatar, also while it is under way to a neighbour.
    pub(super) me: Option<ObjectId>,
    /// The tick of the view before.
    pub(super) tick: Tick,
    packages: BTreeMap<ScriptId, PackageId>,
    /// Things of which more is known than was told.
    renewed: BTreeSet<ObjectId>,
    /// The page was told of this much since it had to forget everything.
    begun: bool,
}

impl Picture {
    /// Shows what is in the sim on this square, and nothing yet.
    pub(super) fn on(square: Option<Square>) -> Self {
        Self { square, ..Self::default() }
    }

    /// Forgets what was shown. The page forgets all of it with the next view.
    pub(super) fn forget(&mut self) {
        self.shown.clear();
        self.renewed.clear();
        self.begun = false;
    }

    /// Compares what is in sight with what was told.
    pub(super) fn take(&mut self, sight: &Sight) -> PictureChange {
        let mut before = std::mem::take(&mut self.shown);
        let (mut put, mut moved) = (Vec::new(), Vec::new());
        let gestures: BTreeMap<ObjectId, Emote> = sight.gestures().collect();
        for (entry, body, far) in sight.things() {
            let (id, place) = (entry.id, DrawnPlace::of(&body));
            let object = entry.object.clone();
            let thing = DrawnThing { object, body, far, place, departed: None };
            let known = before.remove(&id);
            let same = known.as_ref().is_some_and(|known| known.looks_like(&thing));
            if !same || self.renewed.contains(&id) {
                put.push(self.put(id, &thing, gestures.get(&id)));
            } else if known.is_some_and(|known| known.place != place) {
                moved.push(moved_to(id, place));
            }
            self.shown.insert(id, thing);
        }
        // What crosses from one tile into another may be in no copy for a moment, and moves on.
        for (id, movement) in sight.near() {
            let Some(mut thing) = before.remove(&id) else {
                continue;
            };
            if thing.body.follow(movement).is_ok() {
                thing.place = DrawnPlace::of(&thing.body);
                moved.push(moved_to(id, thing.place));
            }
            self.shown.insert(id, thing);
        }
        self.keep_departed(&mut before, sight, (&mut put, &mut moved));
        self.renewed.clear();
        let reset = !std::mem::replace(&mut self.begun, true);
        PictureChange {
            r#type: "view",
            height: sight.height().0,
            tick: sight.tick().0,
            me: self.me,
            put,
            gone: before.into_keys().collect(),
            moved,
            gestures: gestures.iter().map(|(id, emote)| (*id, gesture(emote))).collect(),
            reset,
        }
    }

    /// Learns which packages scripts run.
    pub(super) fn learn(&mut self, scripts: &[ScriptEntry]) {
        for entry in scripts {
            if self.packages.insert(entry.script, entry.package).is_none() {
                self.renewed.insert(entry.object);
            }
        }
    }

    /// Returns whether there are scripts in sight whose packages are not known.
    pub(super) fn lacks_packages(&self) -> bool {
        let mut scripts = self.shown.values().flat_map(|thing| &thing.object.scripts);
        scripts.any(|script| !self.packages.contains_key(script))
    }

    /// Returns whether the thing in sight is a disc.
    pub(super) fn is_round(&self, id: ObjectId) -> bool {
        let shape = self.shown.get(&id).map(|thing| thing.body.shape());
        matches!(shape, Some(Shape::Circle { .. }))
    }

    /// Returns the body of a thing in sight.
    pub(super) fn body(&self, id: ObjectId) -> Option<&Body> {
        self.shown.get(&id).map(|thing| &thing.body)
    }

    /// Returns the bodies in sight that nobody has in hand.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Body> {
        let free = self.shown.values().filter(|thing| thing.object.held.is_none());
        free.map(|thing| &thing.body)
    }

    /// Returns a thing in sight as an end of a joint.
    pub(super) fn joint_end(&self, id: ObjectId) -> Option<JoinedThing> {
        let body = &self.shown.get(&id)?.body;
        let half = body.shape().half_extents(Angle::ZERO);
        let (position, angle) = (body.position(), body.angle());
        Some(JoinedThing { id, position, half, angle, round: self.is_round(id) })
    }

    pub(super) fn put(&self, id: ObjectId, thing: &DrawnThing, emote: Option<&Emote>) -> Value {
        let DrawnThing { object, body, far, place, departed } = thing;
        let shape = body.shape();
        let (round, half) =
            (matches!(shape, Shape::Circle { .. }), shape.half_extents(Angle::ZERO));
        let script = |script: &ScriptId| {
            let package = self.packages.get(script).map(ToString::to_string);
            json!({ "script": script, "package": package })
        };
        json!({
            "id": id, "kind": object.kind, "name": object.name,
            "owner": object.owner.map(|key| key.to_string()),
            "player": object.player.map(|key| key.to_string()),
            "look": object.look,
            "text": object.text,
            "scripts": object.scripts.iter().map(script).collect::<Vec<Value>>(),
            "licence": variant(&object.licence),
            "author": object.author.map(|key| key.to_string()),
            "changed": object.changed.as_ref().map(|change| json!({
                "by": change.by.to_string(), "word": change.word, "height": change.height,
                "time": change.time.0,
            })),
            "birth": object.birth.map(origin), "parent": object.parent.map(origin),
            "home": home(object).map(|sim| sim.to_string()),
            "travels": object.travels, "held": object.held.map(|held| held.by),
            "seat": object.seat.is_some(),
            "round": round, "rod": matches!(shape, Shape::Capsule { .. }),
        "thin": matches!(shape, Shape::Segment(_)), "hx": from_fx(half.x), "hy": from_fx(half.y),
            "corners": drawn_corners(&shape),
            "motion": variant(&body.motion()).to_lowercase(),
            "movable": object.held.is_some()
                || (body.motion() == Motion::Dynamic && object.player.is_none()),
            "sensor": body.is_sensor(), "gesture": emote.map(gesture), "far": far,
            "departed": departed.is_some(), "place": place,
        })
    }
}

pub(super) fn moved_to(id: ObjectId, place: DrawnPlace) -> (ObjectId, f64, f64, f64, f64, f64) {
    (id, place.x, place.y, place.angle, place.vx, place.vy)
}

/// Returns the sim to which a thing can be sent home: that over whose border it came, or that of its birth.
fn home(object: &Object) -> Option<SimId> {
    object.guest.map(|guest| guest.from).or_else(|| Some(object.birth?.sim))
}

fn origin(Origin { sim, number }: Origin) -> Value {
    json!({ "sim": sim.to_string(), "number": number })
}

fn gesture(emote: &Emote) -> String {
    variant(emote).to_lowercase()
}

/// Straight pieces of a round end of a capsule as it is drawn: nobody sees the corners of more.
const CAPSULE_END_SIDES: i64 = 6;

/// Half the width of a line as it is drawn, in metres: it has none itself.
const LINE_HALF: f64 = 0.06;

/// Returns the corners of a line as it is drawn.
fn strip([from, to]: [[f64; 2]; 2]) -> [[f64; 2]; 4] {
    let (x, y) = (to[0] - from[0], to[1] - from[1]);
    let share = LINE_HALF / x.hypot(y);
    let (x, y) = (x * share, y * share);
    [
        [from[0] + y, from[1] - x],
        [to[0] + y, to[1] - x],
        [to[0] - y, to[1] + x],
        [from[0] - y, from[1] + x],
    ]
}

/// The corners of an outline as it is drawn.
type DrawnOutline = Vec<[f64; 2]>;

/// Returns the outlines of the parts of a shape as it is drawn, in metres and counter-clockwise, which is one unless it
/// has several; nothing for a disc and for a box.
fn drawn_corners(shape: &Shape) -> Option<Vec<DrawnOutline>> {
    match shape {
        Shape::Circle { .. } | Shape::Rect { .. } => None,
        Shape::Compound(compound) => {
            let drawn = |part: CompoundPart| {
                let turned = |at: Vec2| at.rotate(part.angle).saturating_add(part.offset);
                outline_of(&part.shape, turned)
            };
            Some(compound.parts().map(drawn).collect())
        }
        _ => Some(vec![outline_of(shape, |at| at)]),
    }
}

/// Returns the outline of a shape of one part, whose points are moved.
fn outline_of(shape: &Shape, moved: impl Fn(Vec2) -> Vec2) -> DrawnOutline {
    let drawn = |at: Vec2| {
        let at = moved(at);
        [from_fx(at.x), from_fx(at.y)]
    };
    // The points of an arc of so many sides, which begins `first` half sides from the east.
    let arc = |middle: Fx, radius: Fx, first: i64, sides: i64| {
        let at = move |n: i64| {
            let turn = Fx::from_ratio(first + 2 * n, 4 * CAPSULE_END_SIDES);
            let at = Angle::from_turns(turn).direction().scale(radius);
            at.saturating_add(Vec2::new(middle, Fx::ZERO))
        };
        (0..=sides).map(at)
    };
    match *shape {
        Shape::Polygon(polygon) => polygon.corners().map(drawn).collect(),
        Shape::Segment(segment) => strip(segment.ends().map(drawn)).to_vec(),
        Shape::Rect { half: Vec2 { x, y } } => {
            let (west, south) = (x.saturating_neg(), y.saturating_neg());
            [(west, south), (x, south), (x, y), (west, y)]
                .map(|(x, y)| drawn(Vec2::new(x, y)))
                .to_vec()
        }
        Shape::Circle { radius } => {
            arc(Fx::ZERO, radius, 0, 2 * CAPSULE_END_SIDES - 1).map(drawn).collect()
        }
        Shape::Capsule { half, radius } => {
            // From the lowest point of the right end around it, and then around the left one.
            let right = arc(half, radius, -CAPSULE_END_SIDES, CAPSULE_END_SIDES);
            let left = arc(half.saturating_neg(), radius, CAPSULE_END_SIDES, CAPSULE_END_SIDES);
            right.chain(left).map(drawn).collect()
        }
        Shape::Compound(_) => unreachable!("a part is of one shape"),
    }
}

#[cfg(test)]
mod tests {
    use metatopia_physics::Compound;

    use super::*;

    #[test]
    fn each_part_of_a_thing_is_drawn_where_it_is_and_counter_clockwise() {
        let half = Vec2::new(Fx::ONE, Fx::from_ratio(1, 4));
        let parts = [
            CompoundPart::new(Shape::Rect { half }),
            CompoundPart {
                angle: Angle::QUARTER,
                ..CompoundPart::new(Shape::Rect { half }).at(Vec2::new(Fx::from_int(3), Fx::ZERO))
            },
            CompoundPart::new(Shape::Circle { radius: Fx::HALF }).at(Vec2::new(Fx::ONE, Fx::ONE)),
            CompoundPart::new(Shape::Capsule { half: Fx::ONE, radius: Fx::HALF }),
        ];
        let compound = Compound::new(&parts).expect("four parts");
        let middles: Vec<Vec2> = compound.parts().map(|part| part.offset).collect();
        let drawn = drawn_corners(&Shape::Compound(compound)).expect("outlines");
        assert_eq!(drawn.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 12, 14]);
        for (outline, middle) in drawn.iter().zip(middles) {
            let (x, y) = (from_fx(middle.x), from_fx(middle.y));
            let mean =
                |n: usize| outline.iter().map(|at| at[n]).sum::<f64>() / outline.len() as f64;
            assert!((mean(0) - x).abs() < 0.01 && (mean(1) - y).abs() < 0.01, "{outline:?}");
            let next = outline.iter().cycle().skip(1);
            let sides = outline.iter().zip(next);
            let area: f64 = sides.map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum();
            assert!(area > 0.9, "{outline:?}");
        }
        // The second bar stands: a metre up and down from its middle.
        let ends = |least: f64, at: &[f64; 2]| least.min(at[1]);
        let height = drawn[1].iter().map(|at| at[1]).fold(f64::MIN, f64::max)
            - drawn[1].iter().fold(f64::MAX, ends);
        assert!((height - 2.0).abs() < 0.001, "{height}");
        assert_eq!(drawn_corners(&Shape::Rect { half }), None);
        assert_eq!(drawn_corners(&Shape::Circle { radius: Fx::ONE }), None);
    }
}
