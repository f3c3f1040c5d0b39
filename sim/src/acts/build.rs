//! Building: what may be made, changed and given away, and where.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, BodySpec, Motion, Pose, Shape, limits::SIZE_MIN};
use metatopia_scripting::limits::SIGN_BYTES_MAX;
use metatopia_types::{
    Blueprint, BodyShape, Build, Look, ObjectId, Outline, PackageId, PublicKey, Refusal, ScriptId,
};

use super::{Case, Change, Ruling, share::Share};
use crate::{
    building::{Job, Work},
    limits::{BUILDS_PER_AUTHOR_MAX, BUILDS_PER_TURN_MAX, DEED_BYTES_MAX, DENSITY},
    object::{AVATAR, Object},
    parameters::BuildingParameters,
    players::{is_line, is_name},
    reach::Footprint,
};

impl Case<'_> {
    pub(super) fn build(&self, build: &Build) -> Ruling {
        let player = self.present()?;
        let own = self.tally.builds_by.get(&self.author()).copied().unwrap_or(0);
        if self.tally.builds >= BUILDS_PER_TURN_MAX || own >= BUILDS_PER_AUTHOR_MAX {
            return Err(Refusal::TooOften);
        }
        let change = match build {
            Build::Undo { skip } => self.undo(*skip)?,
            Build::Place(blueprint) => self.place(blueprint)?,
            Build::Copy { object, position } => self.copy(*object, *position)?,
            Build::Give { object, to } => match self.give(*object, to)? {
                Some(job) => on(*object, job),
                None => return Ok(vec![Change::Player(self.author(), player)]),
            },
            Build::Delete { object } => {
                self.changeable(*object)?;
                on(*object, Job::Raze)
            }
            Build::Move { object, position } => on(*object, self.relocate(*object, *position)?),
            Build::Rotate { object, angle } => {
                let (body, _) = self.within_reach(*object)?;
                let pose = Pose { angle: *angle, ..body.pose() };
                self.fits(body, Footprint { shape: body.shape(), pose })?;
                on(*object, Job::Face(*angle))
            }
            Build::Resize { object, outline } => on(*object, self.resize(*object, *outline)?),
            Build::Recolor { object, color } => {
                self.within_reach(*object)?;
                check_color(*color)?;
                on(*object, Job::Recolor(*color))
            }
            Build::Rename { object, name } => {
                self.within_reach(*object)?;
                if !is_name(name) {
                    return Err(Refusal::BadText);
                }
                on(*object, Job::Rename(name.clone()))
            }
            Build::Write { object, text } => {
                let (_, thing) = self.within_reach(*object)?;
                check_text(text)?;
                self.check_more_text(thing, text)?;
                on(*object, Job::Write(text.clone()))
            }
            Build::Attach { object, package } => on(*object, self.attach(*object, *package)?),
            Build::Detach { object, script } => {
                let (_, thing) = self.within_reach(*object)?;
                if !thing.scripts.contains(script) {
                    return Err(Refusal::NoScript);
                }
                on(*object, Job::Detach(*script))
            }
        };
        if self.grows(&change) && !self.state.room.has(DEED_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        // What may fail comes first.
        Ok(vec![change, Change::Player(self.author(), player)])
    }

    fn place(&self, blueprint: &Blueprint) -> Result<Change, Refusal> {
        let Blueprint { kind, name, text, color, outline, movable, position, angle, licence } =
            blueprint;
        if !is_name(kind) || kind == AVATAR || !is_name(name) {
            return Err(Refusal::BadText);
        }
        check_text(text)?;
        check_color(*color)?;
        check_size(self.rules(), *outline)?;
        let motion = if *movable { Motion::Dynamic } else { Motion::Static };
        let shape = shape(*outline);
        let mut body = BodySpec::new(shape, motion, *position);
        body.pose.angle = *angle;
        body.mass = mass(shape);
        body.friction = Fx::from_ratio(4, 10);
        body.restitution = Fx::from_ratio(1, 10);
        body.linear_damping = Fx::from_int(3);
        body.angular_damping = Fx::from_int(3);
        let object = Object {
            kind: kind.clone(),
            name: name.clone(),
            owner: Some(self.author()),
            player: None,
            look: Look { color: *color, shape: drawn(*outline) },
            text: text.clone(),
            scripts: Vec::new(),
            licence: *licence,
            author: Some(self.author()),
            parent: None,
        };
        self.erect(object, body, Vec::new())
    }

    /// A copy of what is one's own, or freely licensed. Its scripts are: every package here is.
    fn copy(&self, id: ObjectId, position: Vec2) -> Result<Change, Refusal> {
        let (body, source) = self.seen_within_reach(id)?;
        if source.owner != Some(self.author()) && !source.licence.is_free() {
            return Err(Refusal::NotFree);
        }
        check_shape(self.rules(), body.shape())?;
        let scripts = source.scripts.iter();
        let package = |script: &ScriptId| Some(self.state.scripts.get(script)?.package);
        let packages: Vec<PackageId> = scripts.filter_map(package).collect();
        let object = Object {
            owner: Some(self.author()),
            scripts: Vec::new(),
            parent: Some(id),
            ..source.clone()
        };
        let mut spec = body.spec();
        (spec.pose.position, spec.velocity, spec.spin) = (position, Vec2::ZERO, Fx::ZERO);
        self.erect(object, spec, packages)
    }

    fn erect(
        &self,
        object: Object,
        body: BodySpec,
        packages: Vec<PackageId>,
    ) -> Result<Change, Refusal> {
        let footprint = Footprint { shape: body.shape, pose: body.pose };
        self.check_place(&footprint, body.motion)?;
        if !self.state.has_room_for_things() {
            return Err(Refusal::Full);
        }
        let more = Share { objects: 1, scripts: packages.len(), text: object.text.len() };
        self.check_share(&self.author(), more, 1)?;
        Ok(Change::Work(Box::new(Work::Erect(object, body, packages))))
    }

    fn relocate(&self, id: ObjectId, position: Vec2) -> Result<Job, Refusal> {
        let (body, _) = self.within_reach(id)?;
        let pose = Pose { position, ..body.pose() };
        self.fits(body, Footprint { shape: body.shape(), pose })?;
        Ok(Job::Move(position))
    }

    fn resize(&self, id: ObjectId, outline: Outline) -> Result<Job, Refusal> {
        let (body, _) = self.within_reach(id)?;
        check_size(self.rules(), outline)?;
        let shape = shape(outline);
        self.fits(body, Footprint { shape, pose: body.pose() })?;
        Ok(Job::Shape(shape, mass(shape), drawn(outline)))
    }

    fn attach(&self, id: ObjectId, package: PackageId) -> Result<Job, Refusal> {
        let (_, thing) = self.within_reach(id)?;
        if !self.state.packages.contains_key(&package) {
            return Err(Refusal::NoPackage);
        }
        self.check_one_more_script(thing)?;
        Ok(Job::Attach(package))
    }

    /// Nothing if it is the receiver's already.
    fn give(&self, id: ObjectId, to: &PublicKey) -> Result<Option<Job>, Refusal> {
        let thing = self.changeable(id)?;
        if self.state.players.get(to).is_none() {
            return Err(Refusal::NoPlayer);
        }
        if thing.owner == Some(*to) {
            return Ok(None);
        }
        let more = Share { objects: 1, scripts: thing.scripts.len(), text: thing.text.len() };
        self.check_share(to, more, 2).map_err(|_| Refusal::NoRoomForGifts)?;
        Ok(Some(Job::Give(*to)))
    }

    pub(super) fn rules(&self) -> &BuildingParameters {
        &self.state.charter.parameters.building
    }

    pub(super) fn is_admin(&self) -> bool {
        self.state.governance.is_admin(&self.author())
    }

    /// A thing that the author may change: its owner does, and admins.
    pub(super) fn changeable(&self, id: ObjectId) -> Result<&Object, Refusal> {
        let thing = self.state.objects.get(&id).ok_or(Refusal::NoObject)?;
        if thing.player.is_some() {
            return Err(Refusal::Person);
        }
        if thing.owner != Some(self.author()) && !self.is_admin() {
            return Err(Refusal::NotYours);
        }
        Ok(thing)
    }

    /// A thing with its body that the author may change, near enough to do it.
    fn within_reach(&self, id: ObjectId) -> Result<(&Body, &Object), Refusal> {
        self.changeable(id)?;
        self.seen_within_reach(id)
    }

    /// Any thing with its body, near enough to build with.
    fn seen_within_reach(&self, id: ObjectId) -> Result<(&Body, &Object), Refusal> {
        let thing = self.state.objects.get(&id).ok_or(Refusal::NoObject)?;
        if thing.player.is_some() {
            return Err(Refusal::Person);
        }
        let body = self.state.region.body(id).ok_or(Refusal::NoObject)?;
        self.check_reach(&Footprint::of(body))?;
        Ok((body, thing))
    }
}

fn on(object: ObjectId, job: Job) -> Change {
    Change::Work(Box::new(Work::On(object, job)))
}

/// Colours have 24 bits.
fn check_color(color: u32) -> Result<(), Refusal> {
    if color > 0x00ff_ffff { Err(Refusal::OutOfRange) } else { Ok(()) }
}

/// What is shown is one line that is not too long.
fn check_text(text: &str) -> Result<(), Refusal> {
    if text.len() > SIGN_BYTES_MAX || !is_line(text) { Err(Refusal::BadText) } else { Ok(()) }
}

fn check_size(rules: &BuildingParameters, outline: Outline) -> Result<(), Refusal> {
    check_shape(rules, shape(outline))
}

fn check_shape(rules: &BuildingParameters, shape: Shape) -> Result<(), Refusal> {
    let (least, most) = match shape {
        Shape::Circle { radius } => (radius, radius),
        Shape::Rect { half } => (half.x.min(half.y), half.x.max(half.y)),
    };
    if least < SIZE_MIN || most > rules.size_max.saturating_mul(Fx::HALF) {
        return Err(Refusal::BadSize);
    }
    Ok(())
}

fn shape(outline: Outline) -> Shape {
    match outline {
        Outline::Disc { radius } => Shape::Circle { radius },
        Outline::Box { half } => Shape::Rect { half },
    }
}

fn drawn(outline: Outline) -> BodyShape {
    match outline {
        Outline::Disc { .. } => BodyShape::Round,
        Outline::Box { .. } => BodyShape::Square,
    }
}

/// Kilograms of what builders make.
fn mass(shape: Shape) -> Fx {
    let area = match shape {
        Shape::Circle { radius } => radius.saturating_mul(radius).saturating_mul(Fx::PI),
        Shape::Rect { half } => half.x.saturating_mul(half.y).saturating_mul(Fx::from_int(4)),
    };
    area.saturating_mul(DENSITY)
}
