//! The joints of a place, as its file describes them.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    JointId, JointKind, JointSpec, Motor, Region, Spring,
    limits::{
        JOINT_ANGLE_MAX, JOINT_FORCE_MAX, JOINT_LENGTH_MAX, SPEED_MAX, SPRING_DAMPING_MAX,
        SPRING_FREQUENCY_MAX,
    },
};
use metatopia_sim::ObjectSpec;
use metatopia_sim::limits::{OBJECT_JOINTS_MAX, SIM_JOINTS_MAX};
use metatopia_types::ObjectId;
use toml::Spanned;

use super::{
    file::{JointFile, JointKindFile},
    rules::written,
};
use crate::{
    Mistake, TomlSource,
    number::{Number, NumberPair},
};

/// The numbers of things by their marks.
type ThingMarks<'a> = BTreeMap<&'a str, ObjectId>;

impl TomlSource<'_> {
    /// Returns the joints that a place describes, or all mistakes in them. `objects` are its things, in the
    /// order of their numbers.
    pub(super) fn joints(
        &self,
        joints: &[Spanned<JointFile>],
        marks: &ThingMarks<'_>,
        objects: &[ObjectSpec],
    ) -> Result<Vec<JointSpec>, Vec<Mistake>> {
        if let Some(many) = joints.get(SIM_JOINTS_MAX) {
            return Err(vec![
                self.mistake(many, format!("at most {SIM_JOINTS_MAX} joints can be")),
            ]);
        }
        // Physics itself says where things are when they are joined, and what a joint may be.
        let mut region = Region::new();
        for (spec, n) in objects.iter().zip(1..) {
            // A thing that physics refuses is a mistake of its own.
            let _ = region.insert(ObjectId(n), &spec.body);
        }
        let (mut specs, mut mistakes, mut held) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (joint, n) in joints.iter().zip(1..) {
            let made = self.joint(joint, marks, &region).and_then(|spec| {
                let inserted = region.insert_joint(JointId(n), &spec);
                inserted.map_err(|error| self.mistake(joint, error))?;
                for end in [spec.a, Some(spec.b)].into_iter().flatten() {
                    let count: &mut usize = held.entry(end).or_default();
                    *count += 1;
                    if *count > OBJECT_JOINTS_MAX {
                        let most = format!("at most {OBJECT_JOINTS_MAX} joints can hold one thing");
                        return Err(self.mistake(joint, most));
                    }
                }
                Ok(spec)
            });
            match made {
                Ok(spec) => specs.push(spec),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if mistakes.is_empty() { Ok(specs) } else { Err(mistakes) }
    }

    fn joint(
        &self,
        joint: &Spanned<JointFile>,
        marks: &ThingMarks<'_>,
        region: &Region,
    ) -> Result<JointSpec, Mistake> {
        let file = joint.get_ref();
        let find = |mark: &Spanned<String>| {
            let found = marks.get(mark.get_ref().as_str()).copied();
            found.ok_or_else(|| {
                self.mistake(mark, format!("no thing has the mark {:?}", mark.get_ref()))
            })
        };
        let (a, b) = (file.a.as_ref().map(find).transpose()?, find(&file.b)?);
        if let Some(key) = file.stray_key() {
            return Err(self.mistake(joint, format!("a joint of this kind has no `{key}`")));
        }
        if let Some(told) = file.number_out_of_range() {
            return Err(self.mistake(joint, told));
        }
        let anchors = file.anchor_a.or(file.anchor_b);
        if file.at.is_some() == anchors.is_some() {
            return Err(self.mistake(joint, "a joint needs `at`, or `anchor_a` and `anchor_b`"));
        }
        let at = file.at.unwrap_or_default().vec2();
        // The kind may need the distance of the anchors, so it is set when they are known.
        let kind = JointKind::Weld { spring: None };
        let placed = region.joint_at(a, b, at, kind);
        let mut spec = placed.map_err(|error| self.mistake(joint, error))?;
        if anchors.is_some() {
            spec.anchor_a = file.anchor_a.unwrap_or_default().vec2();
            spec.anchor_b = file.anchor_b.unwrap_or_default().vec2();
        }
        if let Some(turn) = file.turn {
            spec.angle = Angle::from_turns(turn.0);
        }
        let point = |id: Option<ObjectId>, anchor: Vec2| match id.and_then(|id| region.body(id)) {
            Some(body) => body.position().saturating_add(anchor.rotate(body.angle())),
            None => anchor,
        };
        let apart = point(a, spec.anchor_a).distance(point(Some(b), spec.anchor_b));
        spec.kind = file.kind(apart).map_err(|why| self.mistake(joint, why))?;
        spec.collide = file.collide;
        spec.break_force = file.break_force.map(|force| force.0);
        spec.break_torque = file.break_torque.map(|torque| torque.0);
        Ok(spec)
    }
}

/// Returns the lower end of a range around zero.
const fn below_zero(most: Fx) -> Fx {
    Fx::ZERO.saturating_sub(most)
}

impl JointFile {
    /// Returns the first key that joints of its kind do not have.
    fn stray_key(&self) -> Option<&'static str> {
        use JointKindFile::{Hinge, Rod, Slider, Target, Weld};
        let keys: [(&str, bool, &[JointKindFile]); 11] = [
            ("turn", self.turn.is_some(), &[Hinge, Weld, Slider]),
            ("limits", self.limits.is_some(), &[Hinge, Slider]),
            ("motor_speed", self.motor_speed.is_some(), &[Hinge, Slider]),
            ("motor_strength", self.motor_strength.is_some(), &[Hinge, Slider]),
            ("axis", self.axis.is_some(), &[Slider]),
            ("length", self.length.is_some(), &[Rod]),
            ("least", self.least.is_some(), &[Rod]),
            ("most", self.most.is_some(), &[Rod]),
            ("frequency", self.frequency.is_some(), &[Rod, Weld, Target]),
            ("damping", self.damping.is_some(), &[Rod, Weld, Target]),
            ("force", self.force.is_some(), &[Target]),
        ];
        let stray = |(_, there, kinds): &(&str, bool, &[JointKindFile])| {
            *there && !kinds.contains(&self.kind)
        };
        keys.into_iter().find(stray).map(|(key, ..)| key)
    }

    /// Returns what is wrong with the first number that physics would round to its bounds. Whoever wrote a number is
    /// told, and not given another.
    fn number_out_of_range(&self) -> Option<String> {
        let of = |pair: Option<NumberPair>, part: fn(Vec2) -> Fx| {
            pair.map(|pair| Number(part(pair.vec2())))
        };
        let (low, high) = (of(self.limits, |pair| pair.x), of(self.limits, |pair| pair.y));
        let most = match self.kind {
            JointKindFile::Hinge => JOINT_ANGLE_MAX,
            _ => JOINT_LENGTH_MAX,
        };
        let (length, force) = ([Fx::ZERO, JOINT_LENGTH_MAX], [Fx::ZERO, JOINT_FORCE_MAX]);
        let (limit, speed) = ([below_zero(most), most], [below_zero(SPEED_MAX), SPEED_MAX]);
        for (name, number, [low, high]) in [
            ("limits", low, limit),
            ("limits", high, limit),
            ("motor_speed", self.motor_speed, speed),
            ("motor_strength", self.motor_strength, force),
            ("length", self.length, length),
            ("least", self.least, length),
            ("most", self.most, length),
            ("frequency", self.frequency, [Fx::ZERO, SPRING_FREQUENCY_MAX]),
            ("damping", self.damping, [Fx::ZERO, SPRING_DAMPING_MAX]),
            ("force", self.force, force),
            ("break_force", self.break_force, force),
            ("break_torque", self.break_torque, force),
        ] {
            let Some(Number(value)) = number else { continue };
            if !(low..=high).contains(&value) {
                return Some(format!("{name} is {value}, outside of {low} to {high}"));
            }
        }
        let is_turned = |low: Option<Number>, high: Option<Number>| match (low, high) {
            (Some(Number(low)), Some(Number(high))) => low > high,
            _ => false,
        };
        match () {
            () if is_turned(low, high) => Some("limits: write the lower one first".to_owned()),
            () if is_turned(self.least, self.most) => Some("least is more than most".to_owned()),
            () => None,
        }
    }

    /// Returns the kind with its numbers; `apart` is how far the anchors are from each other.
    fn kind(&self, apart: Fx) -> Result<JointKind, &'static str> {
        let limits = self.limits.map(|limits| {
            let Vec2 { x, y } = limits.vec2();
            [x, y]
        });
        let motor = match (self.motor_speed, self.motor_strength) {
            (None, None) => None,
            (speed, Some(strength)) => {
                Some(Motor { speed: speed.unwrap_or_default().0, strength: strength.0 })
            }
            (Some(_), None) => return Err("a motor needs `motor_strength`"),
        };
        let spring = match (self.frequency, self.damping) {
            (None, None) => None,
            (Some(frequency), damping) => {
                Some(Spring { frequency: frequency.0, damping: damping.unwrap_or_default().0 })
            }
            (None, Some(_)) => return Err("a spring needs `frequency`"),
        };
        Ok(match self.kind {
            JointKindFile::Hinge => JointKind::Revolute { limits, motor },
            JointKindFile::Weld => JointKind::Weld { spring },
            JointKindFile::Slider => {
                let axis = self.axis.ok_or("a slider needs `axis`")?.vec2();
                JointKind::Prismatic { axis, limits, motor }
            }
            JointKindFile::Target => {
                let spring = spring.ok_or("a target needs `frequency`")?;
                let force = self.force.ok_or("a target needs `force`")?.0;
                JointKind::Target { spring, force }
            }
            JointKindFile::Rod => self.distance(apart, spring)?,
        })
    }

    /// Returns a rod, a rope or a spring.
    fn distance(&self, apart: Fx, spring: Option<Spring>) -> Result<JointKind, &'static str> {
        let (least, most) = (self.least.map(|least| least.0), self.most.map(|most| most.0));
        let length = self.length.map(|length| length.0);
        let ranged = least.is_some() || most.is_some();
        let min = least.unwrap_or(Fx::ZERO);
        let max = most.unwrap_or(JOINT_LENGTH_MAX);
        Ok(match spring {
            Some(spring) => {
                JointKind::Distance { min, max, spring: Some((length.unwrap_or(apart), spring)) }
            }
            None if !ranged => {
                let length = length.unwrap_or(apart);
                JointKind::Distance { min: length, max: length, spring: None }
            }
            None if length.is_none() => JointKind::Distance { min, max, spring: None },
            None => return Err("a rod has `length`, or `least` and `most`, not both"),
        })
    }

    /// Describes a joint of things that have these marks.
    pub(super) fn of(spec: &JointSpec, marks: &BTreeMap<ObjectId, String>) -> Self {
        let mark = |id: ObjectId| written(marks[&id].clone());
        let turn = || Some(Number(Fx::from_bits(spec.angle.to_bits().into())));
        let mut file = Self {
            kind: JointKindFile::Weld,
            a: spec.a.map(mark),
            b: mark(spec.b),
            at: None,
            anchor_a: Some(spec.anchor_a.into()),
            anchor_b: Some(spec.anchor_b.into()),
            turn: None,
            limits: None,
            motor_speed: None,
            motor_strength: None,
            axis: None,
            length: None,
            least: None,
            most: None,
            frequency: None,
            damping: None,
            force: None,
            collide: spec.collide,
            break_force: spec.break_force.map(Number),
            break_torque: spec.break_torque.map(Number),
        };
        match spec.kind {
            JointKind::Revolute { limits, motor } => {
                file.kind = JointKindFile::Hinge;
                file.turn = turn();
                file.note_drive(limits, motor);
            }
            JointKind::Prismatic { axis, limits, motor } => {
                file.kind = JointKindFile::Slider;
                file.turn = turn();
                file.axis = Some(axis.into());
                file.note_drive(limits, motor);
            }
            JointKind::Weld { spring } => {
                file.turn = turn();
                file.note_spring(spring);
            }
            JointKind::Target { spring, force } => {
                file.kind = JointKindFile::Target;
                file.force = Some(Number(force));
                file.note_spring(Some(spring));
            }
            JointKind::Distance { min, max, spring } => {
                file.kind = JointKindFile::Rod;
                file.length = spring.map(|(length, _)| Number(length));
                file.note_spring(spring.map(|(_, spring)| spring));
                if spring.is_none() && min == max {
                    file.length = Some(Number(min));
                } else {
                    (file.least, file.most) = (Some(Number(min)), Some(Number(max)));
                }
            }
        }
        file
    }

    /// Writes down the limits and the motor of a hinge or a slider.
    fn note_drive(&mut self, limits: Option<[Fx; 2]>, motor: Option<Motor>) {
        self.limits = limits.map(|[low, high]| NumberPair::from(Vec2::new(low, high)));
        self.motor_speed = motor.map(|motor| Number(motor.speed));
        self.motor_strength = motor.map(|motor| Number(motor.strength));
    }

    /// Writes down a spring.
    fn note_spring(&mut self, spring: Option<Spring>) {
        self.frequency = spring.map(|spring| Number(spring.frequency));
        self.damping = spring.map(|spring| Number(spring.damping));
    }
}
