//! The objects of a place, as its file describes them.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Filter, Motion, Polygon, Region, Shape};
use metatopia_scripting::Package;
use metatopia_sim::{ObjectSpec, ScriptSpec};
use metatopia_types::{AssetLicence, BodyShape, Look, ObjectId, PublicKey};
use toml::Spanned;

use super::{
    file::{MotionFile, ObjectFile, ScriptFile, ShapeFile},
    rules::written,
    state,
};
use crate::{
    Mistake, TomlSource,
    number::{Color, Number},
};

/// What the objects of a file may name, and what they have that do not say otherwise.
pub(super) struct ObjectContext<'a> {
    pub(super) packages: &'a BTreeMap<String, Package>,
    pub(super) marks: BTreeMap<&'a str, ObjectId>,
    pub(super) licence: AssetLicence,
    /// Where avatars appear, and how much room each takes: what does not move may not be there.
    pub(super) spawn: (Vec2, Fx),
}

impl TomlSource<'_> {
    /// Returns the numbers of the things that have marks.
    pub(super) fn marks<'a>(
        &self,
        objects: &'a [Spanned<ObjectFile>],
    ) -> Result<BTreeMap<&'a str, ObjectId>, Mistake> {
        let (mut marks, mut next) = (BTreeMap::new(), ObjectId(1));
        for object in objects {
            let described = object.get_ref();
            if let Some(mark) = &described.mark {
                if !described.places.is_empty() {
                    return Err(self.mistake(mark, "a mark names one thing: write `at`"));
                }
                if marks.insert(mark.get_ref().as_str(), next).is_some() {
                    let message = format!("two things have the mark {:?}", mark.get_ref());
                    return Err(self.mistake(mark, message));
                }
            }
            next = next.plus(described.places.len().max(1) as u64);
        }
        Ok(marks)
    }

    /// Returns the objects that a table describes, of which the first has the number `first`.
    pub(super) fn objects(
        &self,
        object: &Spanned<ObjectFile>,
        first: ObjectId,
        context: &ObjectContext<'_>,
    ) -> Result<Vec<ObjectSpec>, Mistake> {
        let described = object.get_ref();
        let licence = match &described.licence {
            Some(stated) => self.licence(stated)?,
            None => context.licence,
        };
        let (places, numbered) = match (described.at, described.places.as_slice()) {
            (Some(at), []) => (vec![at.vec2()], false),
            (None, [_, ..]) => (described.places.iter().map(|at| at.vec2()).collect(), true),
            _ => return Err(self.mistake(object, "an object needs `at`, or `places`, not both")),
        };
        if let (Some(_), Some(density)) = (&described.mass, &described.density) {
            return Err(self.mistake(density, "an object has `mass` or `density`, not both"));
        }
        let (shape, angle) = (self.shape(object)?, self.angle(described)?);
        let (scripts, owner) = (self.scripts(described, context)?, self.owner(described)?);
        let spawner = self.spawner(described, first, context)?;
        let filter = Filter {
            category: described.categories.as_ref().map_or(Ok(u32::MAX), |all| self.bits(all))?,
            mask: described
                .passes
                .as_ref()
                .map_or(Ok(0), |all| self.bits(all))
                .map(|bits| !bits)?,
        };
        let mut specs = Vec::new();
        for (n, place) in (1..).zip(places) {
            let name =
                if numbered { format!("{} {n}", described.name) } else { described.name.clone() };
            let spec = ObjectSpec {
                kind: described.kind.clone(),
                name,
                owner,
                look: described.look(),
                text: described.text.clone(),
                body: BodySpec { filter, ..described.body(shape, place, angle) },
                scripts: scripts.clone(),
                licence,
                spawner,
                seat: described.seat.map(|at| at.vec2()),
            };
            self.check(object, &spec, context)?;
            specs.push(spec);
        }
        Ok(specs)
    }

    /// Checks that an object may be, and that it leaves room for avatars to appear.
    fn check(
        &self,
        object: &Spanned<ObjectFile>,
        spec: &ObjectSpec,
        context: &ObjectContext<'_>,
    ) -> Result<(), Mistake> {
        let described = object.get_ref();
        // Physics itself says whether the body can be, and why not.
        Region::new().insert(ObjectId(1), &spec.body).map_err(|error| {
            let at = described.disc.as_ref().map(Spanned::span);
            let at = at.or_else(|| described.rect.as_ref().map(Spanned::span));
            let at = at.or_else(|| described.capsule.as_ref().map(Spanned::span));
            let at = at.or_else(|| described.corners.as_ref().map(Spanned::span));
            self.mistake_in(at.unwrap_or_else(|| object.span()), error)
        })?;
        spec.check().map_err(|error| self.mistake(object, error))?;
        let stays = spec.body.motion != Motion::Dynamic && !spec.body.sensor;
        let (spawn, room) = context.spawn;
        if stays && spec.distance(spawn) < room {
            let message = format!("{:?} stands where people appear, at `spawn`", spec.name);
            return Err(self.mistake(object, message));
        }
        Ok(())
    }

    fn licence(&self, stated: &Spanned<String>) -> Result<AssetLicence, Mistake> {
        let text = stated.get_ref();
        text.parse().map_err(|error| self.mistake(stated, format!("{text:?} is {error}")))
    }

    fn owner(&self, described: &ObjectFile) -> Result<Option<PublicKey>, Mistake> {
        let parse = |owner: &Spanned<String>| {
            let key = owner.get_ref();
            key.parse().map_err(|_| self.mistake(owner, format!("{key:?} is no key")))
        };
        described.owner.as_ref().map(parse).transpose()
    }

    /// Returns categories as bits.
    fn bits(&self, categories: &Spanned<Vec<u32>>) -> Result<u32, Mistake> {
        let set = |bits: u32, category: &u32| {
            let bit = 1_u32.checked_shl(*category);
            let told = || format!("{category} is no category: write 0 to 31");
            Ok(bits | bit.ok_or_else(|| self.mistake(categories, told()))?)
        };
        categories.get_ref().iter().try_fold(0, set)
    }

    /// Returns the number of the thing that spawned this one.
    fn spawner(
        &self,
        described: &ObjectFile,
        first: ObjectId,
        context: &ObjectContext<'_>,
    ) -> Result<Option<ObjectId>, Mistake> {
        let find = |mark: &Spanned<String>| {
            let name = mark.get_ref();
            let known = context.marks.get(name.as_str()).copied();
            let spawner = known
                .ok_or_else(|| self.mistake(mark, format!("no thing has the mark {name:?}")))?;
            let told = "a thing stands in the file behind the one that spawned it";
            if spawner < first { Ok(spawner) } else { Err(self.mistake(mark, told)) }
        };
        described.spawned_by.as_ref().map(find).transpose()
    }

    fn shape(&self, object: &Spanned<ObjectFile>) -> Result<Shape, Mistake> {
        let described = object.get_ref();
        let ObjectFile { rect, disc, capsule, corners, .. } = described;
        match (rect, disc, capsule, corners) {
            (Some(rect), None, None, None) => {
                Ok(Shape::Rect { half: rect.get_ref().vec2().scale(Fx::HALF) })
            }
            (None, Some(disc), None, None) => Ok(Shape::Circle { radius: disc.get_ref().0 }),
            (None, None, Some(capsule), None) => {
                let Vec2 { x: length, y: radius } = capsule.get_ref().vec2();
                Ok(Shape::Capsule { half: length.saturating_mul(Fx::HALF), radius })
            }
            (None, None, None, Some(corners)) => {
                let points: Vec<Vec2> = corners.get_ref().iter().map(|at| at.vec2()).collect();
                let polygon = Polygon::new(&points);
                Ok(Shape::Polygon(polygon.map_err(|error| self.mistake(corners, error))?))
            }
            _ => Err(self
                .mistake(object, "an object needs one of `box`, `disc`, `capsule` and `corners`")),
        }
    }

    fn angle(&self, described: &ObjectFile) -> Result<Angle, Mistake> {
        match (&described.degrees, &described.turn) {
            (None, None) => Ok(Angle::ZERO),
            (Some(degrees), None) => Ok(of_degrees(degrees.get_ref().0)),
            (None, Some(turn)) => Ok(Angle::from_turns(turn.get_ref().0)),
            (Some(_), Some(turn)) => {
                Err(self.mistake(turn, "an object needs `degrees` or `turn`, not both"))
            }
        }
    }

    fn scripts(
        &self,
        described: &ObjectFile,
        context: &ObjectContext<'_>,
    ) -> Result<Vec<ScriptSpec>, Mistake> {
        let find = |script: &ScriptFile| {
            let name = script.package.get_ref();
            let Some(package) = context.packages.get(name) else {
                return Err(self.mistake(&script.package, format!("there is no package {name}")));
            };
            let state = state::read(&script.state, &context.marks)
                .map_err(|(value, why)| self.mistake(value, why))?;
            state.check().map_err(|error| self.mistake(&script.package, error))?;
            Ok(ScriptSpec { package: package.id(), state })
        };
        described.scripts.iter().map(find).collect()
    }
}

/// Returns the angle of degrees, rounded as the file of a place always was.
fn of_degrees(degrees: Fx) -> Angle {
    Angle::from_turns(degrees.saturating_div(Fx::from_int(360)))
}

/// Returns how an outline is drawn that says nothing else.
const fn usual_shape(is_round: bool) -> BodyShape {
    if is_round { BodyShape::Round } else { BodyShape::Square }
}

impl ObjectFile {
    fn look(&self) -> Look {
        let shape = match self.shape {
            None => usual_shape(self.disc.is_some()),
            Some(ShapeFile::Round) => BodyShape::Round,
            Some(ShapeFile::Square) => BodyShape::Square,
            Some(ShapeFile::Arrow) => BodyShape::Arrow,
            Some(ShapeFile::Star) => BodyShape::Star,
        };
        Look { color: self.color.0, shape }
    }

    fn body(&self, shape: Shape, place: Vec2, angle: Angle) -> BodySpec {
        let motion = match self.motion {
            MotionFile::Static => Motion::Static,
            MotionFile::Kinematic => Motion::Kinematic,
            MotionFile::Dynamic => Motion::Dynamic,
        };
        let mut body = BodySpec::new(shape, motion, place);
        body.pose.angle = angle;
        body.velocity = self.velocity.map_or(Vec2::ZERO, |velocity| velocity.vec2());
        (body.sensor, body.fixed_rotation) = (self.sensor, self.upright);
        let set = |field: &mut Fx, value: Option<Number>| {
            if let Some(value) = value {
                *field = value.0;
            }
        };
        set(&mut body.spin, self.spin);
        set(&mut body.mass, self.mass);
        set(&mut body.friction, self.friction);
        set(&mut body.restitution, self.restitution);
        body.friction_rule = self.friction_rule.into();
        body.restitution_rule = self.restitution_rule.into();
        set(&mut body.linear_damping, self.damping);
        set(&mut body.angular_damping, self.spin_damping.or(self.damping));
        let density = self.density.as_ref().map(|density| density.get_ref().0);
        density.map_or(body, |density| body.with_density(density))
    }

    /// Describes an object. `mark` is how states of scripts name it, `usual` the licence of the place.
    pub(super) fn of(spec: &ObjectSpec, mark: Option<&String>, usual: AssetLicence) -> Self {
        let ObjectSpec { kind, name, owner, look, text, body, licence, .. } = spec;
        let standard = BodySpec::new(body.shape, body.motion, body.pose.position);
        let other = |own: Fx, usual: Fx| (own != usual).then_some(Number(own));
        let double = |half: Fx| half.saturating_add(half);
        let (mut rect, mut disc, mut capsule, mut corners) = (None, None, None, None);
        match body.shape {
            Shape::Rect { half } => rect = Some(Vec2::new(double(half.x), double(half.y)).into()),
            Shape::Circle { radius } => disc = Some(Number(radius)),
            Shape::Capsule { half, radius } => {
                capsule = Some(Vec2::new(double(half), radius).into());
            }
            Shape::Polygon(polygon) => {
                corners = Some(polygon.corners().map(Into::into).collect());
            }
            // No place has one. Whoever reads two corners says that they are no polygon.
            Shape::Segment(segment) => corners = Some(segment.ends().map(Into::into).to_vec()),
        }
        let (degrees, turn) = shown_angle(body.pose.angle);
        Self {
            kind: kind.clone(),
            name: name.clone(),
            mark: mark.cloned().map(written),
            at: Some(body.pose.position.into()),
            places: Vec::new(),
            degrees: degrees.map(|whole| written(Number(whole))),
            turn: turn.map(|turn| written(Number(turn))),
            shape: (look.shape != usual_shape(disc.is_some())).then(|| shown_shape(look.shape)),
            rect: rect.map(written),
            disc: disc.map(written),
            capsule: capsule.map(written),
            corners: corners.map(written),
            motion: match body.motion {
                Motion::Static => MotionFile::Static,
                Motion::Kinematic => MotionFile::Kinematic,
                Motion::Dynamic => MotionFile::Dynamic,
            },
            velocity: (body.velocity != Vec2::ZERO).then(|| body.velocity.into()),
            spin: other(body.spin, Fx::ZERO),
            mass: other(body.mass, standard.mass),
            friction: other(body.friction, standard.friction),
            restitution: other(body.restitution, standard.restitution),
            density: None,
            friction_rule: body.friction_rule.into(),
            restitution_rule: body.restitution_rule.into(),
            damping: other(body.linear_damping, standard.linear_damping),
            spin_damping: other(body.angular_damping, body.linear_damping),
            sensor: body.sensor,
            upright: body.fixed_rotation,
            categories: listed(body.filter.category, u32::MAX),
            passes: listed(!body.filter.mask, 0),
            color: Color(look.color),
            text: text.clone(),
            owner: owner.map(|key| written(key.to_string())),
            licence: (*licence != usual).then(|| written(licence.to_string())),
            spawned_by: None,
            seat: spec.seat.map(Into::into),
            scripts: Vec::new(),
        }
    }
}

/// Returns the categories of these bits; nothing if they are the usual ones.
fn listed(bits: u32, usual: u32) -> Option<Spanned<Vec<u32>>> {
    let all = (0..32).filter(|category| bits & (1 << category) != 0);
    (bits != usual).then(|| written(all.collect()))
}

/// Returns an angle in whole degrees if that is exact, or else as a share of a turn.
fn shown_angle(angle: Angle) -> (Option<Fx>, Option<Fx>) {
    if angle == Angle::ZERO {
        return (None, None);
    }
    let whole = (1..360).map(Fx::from_int).find(|degrees| of_degrees(*degrees) == angle);
    match whole {
        Some(degrees) => (Some(degrees), None),
        None => (None, Some(Fx::from_bits(angle.to_bits().into()))),
    }
}

const fn shown_shape(shape: BodyShape) -> ShapeFile {
    match shape {
        BodyShape::Round => ShapeFile::Round,
        BodyShape::Square => ShapeFile::Square,
        BodyShape::Arrow => ShapeFile::Arrow,
        BodyShape::Star => ShapeFile::Star,
    }
}
