//! The objects of a place, as its file describes them.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{
    BodySpec, Bounds, Filter, InsertError, Motion, Region, Shape, ShapeError,
    limits::{DAMPING_MAX, FRICTION_MAX, MASS_MAX, MASS_MIN},
};
use metatopia_scripting::Package;
use metatopia_sim::{ObjectSpec, ScriptSpec};
use metatopia_types::{AssetLicence, BodyShape, Look, ObjectId, PublicKey};
use toml::Spanned;

use super::{
    file::{MotionFile, ObjectFile, ScriptFile},
    line::LinePiece,
    outline::ShownOutline,
    outline_words::refused_body,
    read::noted,
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
    /// Packages that have mistakes of their own.
    pub(super) broken: &'a BTreeSet<String>,
    pub(super) marks: BTreeMap<&'a str, ObjectId>,
    pub(super) licence: AssetLicence,
    /// Where avatars appear, and how much room each takes: what does not move may not be there.
    pub(super) spawn: Option<(Vec2, Fx)>,
    /// The ground, on which all stands.
    pub(super) ground: Option<Bounds>,
}

/// Speeds that physics rounds by less than this are what was written.
const ROUNDED: Fx = Fx::from_ratio(1, 256);

impl TomlSource<'_> {
    /// Returns the numbers of the things that have marks, and notes marks that name no single thing.
    pub(super) fn marks<'a>(
        &self,
        objects: &'a [Spanned<ObjectFile>],
        mistakes: &mut Vec<Mistake>,
    ) -> BTreeMap<&'a str, ObjectId> {
        let (mut marks, mut next) = (BTreeMap::new(), ObjectId(1));
        for object in objects {
            let described = object.get_ref();
            if let Some(mark) = &described.mark {
                if described.count() != 1 || !described.centres().is_empty() {
                    let told = "a mark names one thing: write `at`, or a `line` of two points";
                    mistakes.push(self.mistake(mark, told));
                }
                if marks.insert(mark.get_ref().as_str(), next).is_some() {
                    let message = format!("two things have the mark {:?}", mark.get_ref());
                    mistakes.push(self.mistake(mark, message));
                }
            }
            next = next.plus(described.count());
        }
        marks
    }

    /// Returns the objects that a table describes, of which the first has the number `first`, and notes what
    /// is wrong with them.
    pub(super) fn objects(
        &self,
        object: &Spanned<ObjectFile>,
        first: ObjectId,
        context: &ObjectContext<'_>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<ObjectSpec> {
        let described = object.get_ref();
        let before = mistakes.len();
        let licence = noted(self.object_licence(described, context), mistakes);
        let bodies = self.bodies(object, mistakes);
        let scripts = self.scripts(described, context, mistakes);
        let owner = noted(self.owner(described), mistakes);
        let spawner = noted(self.spawner(described, first, context), mistakes);
        let filter = noted(self.filter(described), mistakes);
        let (Some(licence), Some(bodies), Some(filter)) = (licence, bodies, filter) else {
            return Vec::new();
        };
        let numbered = !described.centres().is_empty() || bodies.len() > 1;
        let owner = owner.flatten();
        let mut specs = Vec::new();
        for (n, body) in (1..).zip(bodies) {
            let name =
                if numbered { format!("{} {n}", described.name) } else { described.name.clone() };
            let spec = ObjectSpec {
                kind: described.kind.clone(),
                name,
                owner,
                look: described.look(),
                text: described.text.clone(),
                body: BodySpec { filter, ..body },
                scripts: scripts.clone(),
                licence,
                spawner: spawner.flatten(),
                seat: described.seat.map(|at| at.vec2()),
            };
            match self.check(object, &spec, context) {
                // Several things of one table may break the same rule.
                Err(mistake)
                    if mistakes.get(before..).is_some_and(|own| own.contains(&mistake)) => {}
                checked => drop(noted(checked, mistakes)),
            }
            specs.push(spec);
        }
        specs
    }

    fn object_licence(
        &self,
        described: &ObjectFile,
        context: &ObjectContext<'_>,
    ) -> Result<AssetLicence, Mistake> {
        described.licence.as_ref().map_or(Ok(context.licence), |stated| self.licence(stated))
    }

    /// Returns the bodies of all objects that a table describes, without their filters, and notes what is wrong
    /// with them.
    fn bodies(
        &self,
        object: &Spanned<ObjectFile>,
        mistakes: &mut Vec<Mistake>,
    ) -> Option<Vec<BodySpec>> {
        let described = object.get_ref();
        let angle = self.angle(described.degrees.as_ref(), described.turn.as_ref());
        let angle = noted(angle, mistakes);
        if described.line.is_some() {
            self.materials(described, None, mistakes);
            return noted(self.pieces(object, angle?), mistakes);
        }
        if described.closed || described.before.is_some() || described.after.is_some() {
            let told = "`closed`, `before` and `after` are for a `line`";
            mistakes.push(self.mistake(object, told));
        }
        let places = noted(self.object_places(object), mistakes);
        let shape = noted(self.shape(object), mistakes);
        self.materials(described, shape.as_ref(), mistakes);
        let (places, shape, angle) = (places?, shape?, angle?);
        let body = |place| described.body(shape.clone(), place, angle);
        Some(places.into_iter().map(body).collect())
    }

    fn object_places(&self, object: &Spanned<ObjectFile>) -> Result<Vec<Vec2>, Mistake> {
        let described = object.get_ref();
        match (described.at, described.centres(), &described.places) {
            (Some(at), [], _) => Ok(vec![at.vec2()]),
            (None, [], Some(none)) => {
                Err(self.mistake(none, "`places` is empty: write the centre of each thing"))
            }
            (None, [], None) => Err(self.mistake(object, "an object needs `at` or `places`")),
            (None, all, _) => Ok(all.iter().map(|at| at.vec2()).collect()),
            (Some(_), ..) => Err(self.mistake(object, "an object has `at` or `places`, not both")),
        }
    }

    /// Notes what physics would round to its bounds. Whoever wrote a number is told, and not given another.
    fn materials(
        &self,
        described: &ObjectFile,
        shape: Option<&Shape>,
        mistakes: &mut Vec<Mistake>,
    ) {
        for (name, number, low, high) in [
            ("mass", &described.mass, MASS_MIN, MASS_MAX),
            ("friction", &described.friction, Fx::ZERO, FRICTION_MAX),
            ("restitution", &described.restitution, Fx::ZERO, Fx::ONE),
            ("damping", &described.damping, Fx::ZERO, DAMPING_MAX),
            ("spin_damping", &described.spin_damping, Fx::ZERO, DAMPING_MAX),
        ] {
            let Some(written) = number else { continue };
            let value = written.get_ref().0;
            if !(low..=high).contains(&value) {
                let told = format!("{name} is {value}, outside of {low} to {high}");
                mistakes.push(self.mistake(written, told));
            }
        }
        let Some(density) = &described.density else { return };
        if described.mass.is_some() {
            mistakes.push(self.mistake(density, "an object has `mass` or `density`, not both"));
        } else if let Some(shape) = shape {
            let mass = shape.area().saturating_mul(density.get_ref().0);
            if !(MASS_MIN..=MASS_MAX).contains(&mass) {
                let told = format!(
                    "a thing of this size and density weighs {mass} kg, outside of {MASS_MIN} to \
                     {MASS_MAX}"
                );
                mistakes.push(self.mistake(density, told));
            }
        }
    }

    fn filter(&self, described: &ObjectFile) -> Result<Filter, Mistake> {
        let bits = |listed: &Option<Spanned<Vec<u32>>>, usual| {
            listed.as_ref().map_or(Ok(usual), |all| self.bits(all))
        };
        let category = bits(&described.categories, u32::MAX)?;
        Ok(Filter { category, mask: !bits(&described.passes, 0)? })
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
        let mut region = Region::new();
        region.insert(ObjectId(1), &spec.body).map_err(|error| {
            if let (Some(parts), InsertError::Shape(ShapeError::Compound(error))) =
                (&described.parts, &error)
            {
                return self.refused_parts(parts, *error);
            }
            let at = described.outline().span();
            let at = at.or_else(|| described.line.as_ref().map(Spanned::span));
            let told = refused_body(described, &error);
            self.mistake_in(at.unwrap_or_else(|| object.span()), told)
        })?;
        spec.check().map_err(|error| self.mistake(object, error))?;
        // Physics slows the turns of a large body, and the way of a small one, lest it passes
        // through what is thin. Whoever wrote more is told.
        let made = region.body(ObjectId(1)).expect("it was just put in");
        let near = |a: Fx, b: Fx| a.saturating_sub(b).saturating_abs() < ROUNDED;
        if !near(made.velocity().length(), spec.body.velocity.length()) {
            let told = "velocity: physics would make it slower, ".to_owned();
            let told = format!("{told}{} m/s", made.velocity().length());
            return Err(self.mistake(object, told));
        }
        if !near(made.spin(), spec.body.spin) {
            let told = format!("spin: physics would make it slower, {} rad/s", made.spin());
            return Err(self.mistake(object, told));
        }
        let at = spec.body.pose.position;
        if context.ground.is_some_and(|ground| !ground.contains(at)) {
            let message = format!("{:?} is at {at}, outside of the ground", spec.name);
            return Err(self.mistake(object, message));
        }
        if context.spawn.is_some_and(|spawn| is_in_the_way(spec, spawn)) {
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

    /// Returns the scripts of an object, and notes what is wrong with them: all of it.
    fn scripts(
        &self,
        described: &ObjectFile,
        context: &ObjectContext<'_>,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<ScriptSpec> {
        let is_whole = |script: &&ScriptFile| !context.broken.contains(script.package.get_ref());
        let mut specs = Vec::new();
        for script in described.scripts.iter().filter(is_whole) {
            let name = script.package.get_ref();
            let package = context.packages.get(name);
            if package.is_none() {
                let told = format!("there is no package {name}");
                mistakes.push(self.mistake(&script.package, told));
            }
            let (state, wrong) = state::read(&script.state, &context.marks);
            mistakes.extend(wrong.into_iter().map(|(value, why)| self.mistake(value, why)));
            if let Err(error) = state.check() {
                mistakes.push(self.mistake(&script.package, error));
            }
            specs.extend(package.map(|package| ScriptSpec { package: package.id(), state }));
        }
        specs
    }
}

/// Returns whether a thing that does not move stands where avatars of this radius appear.
pub(super) fn is_in_the_way(spec: &ObjectSpec, (spawn, room): (Vec2, Fx)) -> bool {
    let stays = spec.body.motion != Motion::Dynamic && !spec.body.sensor;
    stays && spec.distance(spawn) < room
}

/// Returns the angle of degrees, rounded as the file of a place always was.
pub(super) fn of_degrees(degrees: Fx) -> Angle {
    Angle::from_turns(degrees.saturating_div(Fx::from_int(360)))
}

/// Returns how an outline is drawn that says nothing else.
const fn usual_shape(is_round: bool) -> BodyShape {
    if is_round { BodyShape::Round } else { BodyShape::Square }
}

impl ObjectFile {
    fn look(&self) -> Look {
        Look::plain(self.color.0, self.shape.unwrap_or(usual_shape(self.disc.is_some())))
    }

    pub(super) fn body(&self, shape: Shape, place: Vec2, angle: Angle) -> BodySpec {
        let motion = match self.motion {
            MotionFile::Static => Motion::Static,
            MotionFile::Kinematic => Motion::Kinematic,
            MotionFile::Dynamic => Motion::Dynamic,
        };
        let mut body = BodySpec::new(shape, motion, place);
        body.pose.angle = angle;
        body.velocity = self.velocity.map_or(Vec2::ZERO, |velocity| velocity.vec2());
        (body.sensor, body.fixed_rotation) = (self.sensor, self.upright);
        body.spin = self.spin.map_or(body.spin, |spin| spin.0);
        let set = |field: &mut Fx, value: Option<&Spanned<Number>>| {
            if let Some(value) = value {
                *field = value.get_ref().0;
            }
        };
        set(&mut body.mass, self.mass.as_ref());
        set(&mut body.friction, self.friction.as_ref());
        set(&mut body.restitution, self.restitution.as_ref());
        body.friction_rule = self.friction_rule.into();
        body.restitution_rule = self.restitution_rule.into();
        set(&mut body.linear_damping, self.damping.as_ref());
        set(&mut body.angular_damping, self.spin_damping.as_ref().or(self.damping.as_ref()));
        let density = self.density.as_ref().map(|density| density.get_ref().0);
        match density {
            Some(density) => body.with_density(density),
            None => body,
        }
    }

    /// Describes an object. `mark` is how states of scripts name it, `usual` the licence of the place.
    pub(super) fn of(spec: &ObjectSpec, mark: Option<&String>, usual: AssetLicence) -> Self {
        let ObjectSpec { kind, name, owner, look, text, body, licence, .. } = spec;
        let standard = BodySpec::new(body.shape.clone(), body.motion, body.pose.position);
        let other = |own: Fx, usual: Fx| (own != usual).then_some(Number(own));
        let shown = ShownOutline::of(&body.shape);
        let piece = LinePiece::of(body);
        let is_piece = piece.is_some();
        let LinePiece { line, before, after } = piece.unwrap_or_default();
        let (degrees, turn) = shown_angle(body.pose.angle);
        Self {
            kind: kind.clone(),
            name: name.clone(),
            mark: mark.cloned().map(written),
            // The points of a piece say where it is.
            at: (!is_piece).then(|| body.pose.position.into()),
            places: None,
            degrees: degrees.map(|whole| written(Number(whole))),
            turn: turn.map(|turn| written(Number(turn))),
            shape: (look.shape != usual_shape(shown.disc.is_some())).then_some(look.shape),
            rect: shown.rect.map(written),
            disc: shown.disc.map(written),
            capsule: shown.capsule.map(written),
            corners: shown.corners.map(written),
            parts: shown.parts.map(written),
            line: line.map(written),
            closed: false,
            before,
            after,
            motion: match body.motion {
                Motion::Static => MotionFile::Static,
                Motion::Kinematic => MotionFile::Kinematic,
                Motion::Dynamic => MotionFile::Dynamic,
            },
            velocity: (body.velocity != Vec2::ZERO).then(|| body.velocity.into()),
            spin: other(body.spin, Fx::ZERO),
            mass: other(body.mass, standard.mass).map(written),
            friction: other(body.friction, standard.friction).map(written),
            restitution: other(body.restitution, standard.restitution).map(written),
            density: None,
            friction_rule: body.friction_rule.into(),
            restitution_rule: body.restitution_rule.into(),
            damping: other(body.linear_damping, standard.linear_damping).map(written),
            spin_damping: other(body.angular_damping, body.linear_damping).map(written),
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
pub(super) fn shown_angle(angle: Angle) -> (Option<Fx>, Option<Fx>) {
    if angle == Angle::ZERO {
        return (None, None);
    }
    let whole = (1..360).map(Fx::from_int).find(|degrees| of_degrees(*degrees) == angle);
    match whole {
        Some(degrees) => (Some(degrees), None),
        None => (None, Some(Fx::from_bits(angle.to_bits().into()))),
    }
}
