//! Building: decides what may be made, changed and given away, and where.

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{Body, BodySpec, Motion, Shape};
use metatopia_scripting::limits::SIGN_BYTES_MAX;
use metatopia_types::{
    Blueprint, Build, BuiltMaterial, COLOR_MAX, Look, ObjectId, PackageId, PublicKey, Refusal,
    ScriptId,
};

use super::{
    building::{BuildStep, ObjectEdit},
    changes::StateChange,
    context::{ActContext, ActResult},
    materials::{mass_reshaped, of_material},
    outline::{check_shape, drawn, footprint_of, shape},
    quota::QuotaUse,
    request::footprint_after,
};
use crate::{
    limits::{BUILD_BYTES_MAX, BUILDS_PER_AUTHOR_MAX, BUILDS_PER_TURN_MAX},
    scripts::Fallback,
    space::Footprint,
    state::{AVATAR, BuildingParameters, Object, is_line, is_name},
};

impl ActContext<'_> {
    /// Checks that the author may take one more building step in this turn.
    pub(super) fn check_pace(&self) -> Result<(), Refusal> {
        let own = self.counts.builds_by.get(&self.author()).copied().unwrap_or(0);
        let is_over = self.counts.builds >= BUILDS_PER_TURN_MAX || own >= BUILDS_PER_AUTHOR_MAX;
        if is_over { Err(Refusal::TooOften) } else { Ok(()) }
    }

    /// Returns the mass that a thing has with another shape: its material stays.
    fn mass_resized(&self, object: ObjectId, shape: Shape) -> Fx {
        let body = self.state.bodies.body(object);
        mass_reshaped(body.expect("the body of a thing that was just checked"), shape)
    }

    /// Decides a building act.
    pub(super) fn build(&self, build: &Build) -> ActResult {
        let player = self.renewed_player()?;
        self.check_pace()?;
        let change = match build {
            Build::Undo { skip } => self.undo(*skip)?,
            Build::Place(blueprint) => self.place(blueprint)?,
            Build::Unite { objects } => return self.unite(objects, player),
            Build::Copy { object, position } => self.copy(*object, *position)?,
            Build::Give { object, to } => match self.give(*object, to)? {
                Some(edit) => on(*object, edit),
                None => return Ok(vec![StateChange::Player(self.author(), player)]),
            },
            Build::Delete { object } => {
                self.thing(*object).map(|_| on(*object, ObjectEdit::Delete))?
            }
            Build::Move { object, position } => {
                self.check_moved(build, *object)?;
                on(*object, ObjectEdit::Move(*position))
            }
            Build::Rotate { object, angle } => {
                self.check_moved(build, *object)?;
                on(*object, ObjectEdit::Rotate(*angle))
            }
            Build::Resize { object, outline } => {
                self.check_resized(*object)?;
                self.check_moved(build, *object)?;
                let shape = shape(*outline)?;
                let mass = self.mass_resized(*object, shape.clone());
                on(*object, ObjectEdit::Resize(shape, mass, drawn(*outline)))
            }
            Build::MakeOf { object, material } => on(*object, self.make_of(*object, *material)?),
            Build::MakeSensor { object, sensor } => {
                on(*object, self.make_sensor(*object, *sensor)?)
            }
            Build::Recolor { object, color } => {
                self.within_reach(*object)?;
                check_color(*color)?;
                on(*object, ObjectEdit::Recolor(*color))
            }
            Build::Rename { object, name } => on(*object, self.renamed(*object, name)?),
            Build::Write { object, text } => on(*object, self.written(*object, text)?),
            Build::LetTravel { object, travels } => {
                self.thing(*object)?;
                on(*object, ObjectEdit::LetTravel(*travels))
            }
            Build::Attach { object, package } => on(*object, self.attach(*object, *package)?),
            Build::Upgrade { object, script, package } => {
                // Authors mend what runs from where they write it, so a thing may be far off.
                let thing = self.thing(*object)?;
                self.check_upgrade(thing, *script, *package)?;
                on(*object, ObjectEdit::Upgrade(*script, *package))
            }
            Build::Resume { .. }
            | Build::Take { .. }
            | Build::PutDown { .. }
            | Build::Stow { .. }
            | Build::Discard { .. }
            | Build::Fetch { .. } => {
                return Ok(vec![self.lasting(build)?, StateChange::Player(self.author(), player)]);
            }
            Build::Detach { object, script } => on(*object, self.detach(*object, *script)?),
            Build::Join { object, .. } | Build::Unjoin { object, .. } => {
                on(*object, self.joining(build)?)
            }
        };
        if self.grows(&change) && !self.state.byte_budget.has(BUILD_BYTES_MAX) {
            return Err(Refusal::Full);
        }
        // The step comes before the lease: it alone may fail, and an act that fails changes nothing.
        Ok(vec![change, StateChange::Player(self.author(), player)])
    }

    /// Decides whether a thing gets another name.
    fn renamed(&self, object: ObjectId, name: &str) -> Result<ObjectEdit, Refusal> {
        self.within_reach(object)?;
        if is_name(name) { Ok(ObjectEdit::Rename(name.to_owned())) } else { Err(Refusal::BadText) }
    }

    /// Decides whether a thing shows another text.
    fn written(&self, object: ObjectId, text: &str) -> Result<ObjectEdit, Refusal> {
        let (_, thing) = self.within_reach(object)?;
        check_text(text)?;
        self.state.check_more_text(thing, text)?;
        Ok(ObjectEdit::SetText(text.to_owned()))
    }

    /// Decides whether a thing is made of another material. The body of a thing in hand is not its own.
    fn make_of(&self, object: ObjectId, material: BuiltMaterial) -> Result<ObjectEdit, Refusal> {
        let (_, thing) = self.within_reach(object)?;
        if thing.held.is_some() { Err(Refusal::Held) } else { Ok(ObjectEdit::MakeOf(material)) }
    }

    /// Decides whether a thing becomes a sensor, or solid again: then nobody may stand where it is, as if it were put
    /// there.
    fn make_sensor(&self, object: ObjectId, sensor: bool) -> Result<ObjectEdit, Refusal> {
        let (body, thing) = self.within_reach(object)?;
        if thing.held.is_some() {
            return Err(Refusal::Held);
        }
        if body.is_sensor() && !sensor {
            self.check_place(&Footprint::of(body), body.motion())?;
        }
        Ok(ObjectEdit::MakeSensor(sensor))
    }

    /// Decides whether a script is taken off a thing.
    fn detach(&self, object: ObjectId, script: ScriptId) -> Result<ObjectEdit, Refusal> {
        let (_, thing) = self.within_reach(object)?;
        let has = thing.scripts.contains(&script);
        if has { Ok(ObjectEdit::Detach(script)) } else { Err(Refusal::NoScript) }
    }

    /// Decides whether a suspended script runs again. As with an upgrade, the thing may be far off. Nothing
    /// undoes this, so it is no step of building.
    pub(super) fn resume(&self, object: ObjectId, id: ScriptId) -> Result<StateChange, Refusal> {
        if !self.thing(object)?.scripts.contains(&id) {
            return Err(Refusal::NoScript);
        }
        let script = self.state.scripts.get(&id).expect("a script that its object lists");
        // Its source may have stayed behind a border.
        self.check_package(script.package)?;
        // It gets an event.
        let has_room = self.state.byte_budget.has(BUILD_BYTES_MAX);
        if has_room { Ok(StateChange::Resume(id)) } else { Err(Refusal::Full) }
    }

    /// Decides the making of an object from a blueprint.
    fn place(&self, blueprint: &Blueprint) -> Result<StateChange, Refusal> {
        let (object, body) = made(blueprint, Some(self.author()))?;
        self.create(object, body, Vec::new())
    }

    /// Decides a copy of an object that is the author's own or freely licensed. The scripts are copied too:
    /// every package of the sim is freely licensed.
    fn copy(&self, id: ObjectId, position: Vec2) -> Result<StateChange, Refusal> {
        let (body, source) = self.within_reach(id)?;
        if source.owner != Some(self.author()) && !source.licence.is_free() {
            return Err(Refusal::NotFree);
        }
        check_shape(self.rules(), body.shape())?;
        let scripts = source.scripts.iter();
        let package = |script: &ScriptId| Some(self.state.scripts.get(script)?.package);
        let packages: Vec<PackageId> = scripts.filter_map(package).collect();
        // A thing that came over a border may have scripts whose source is not here.
        packages.iter().try_for_each(|package| self.check_package(*package))?;
        let object = Object {
            owner: Some(self.author()),
            parent: Some(source.origin(self.state.charter.sim, id)),
            travels: false,
            ..source.anew()
        };
        let mut spec = source.spec_of(body);
        (spec.pose.position, spec.velocity, spec.spin) = (position, Vec2::ZERO, Fx::ZERO);
        self.create(object, spec, packages)
    }

    /// Decides whether a new object with this body and these scripts may be made.
    fn create(
        &self,
        object: Object,
        body: BodySpec,
        packages: Vec<PackageId>,
    ) -> Result<StateChange, Refusal> {
        let footprint = Footprint { shape: body.shape.clone(), pose: body.pose };
        self.check_place(&footprint, body.motion)?;
        self.state.check_slots(body.motion)?;
        self.state.check_more_compounds(usize::from(body.shape.is_compound()))?;
        let more = QuotaUse::of(&object, (body.motion, &body.shape), packages.len());
        self.state.check_quota(&self.author(), more, 1)?;
        Ok(StateChange::Build(Box::new(BuildStep::Create(object, body, packages))))
    }

    /// Checks that an object may cover the ground that it covers after this step.
    fn check_moved(&self, build: &Build, id: ObjectId) -> Result<(), Refusal> {
        let (body, thing) = self.within_reach(id)?;
        if thing.held.is_some() {
            return Err(Refusal::Held);
        }
        let after = footprint_after(build, body);
        // Nobody is stuck in what everything passes through.
        if body.is_sensor() {
            self.check_reach(&after)?;
            return self.state.check_clear(&after, body.motion());
        }
        self.check_place(&after, body.motion())
    }

    /// Checks that an object has an outline that can get another size.
    fn check_resized(&self, id: ObjectId) -> Result<(), Refusal> {
        let (body, _) = self.within_reach(id)?;
        if body.shape().is_compound() { Err(Refusal::OfParts) } else { Ok(()) }
    }

    /// Decides whether an object gets a script of this package.
    fn attach(&self, id: ObjectId, package: PackageId) -> Result<ObjectEdit, Refusal> {
        let (_, thing) = self.within_reach(id)?;
        self.state.check_one_more_script(thing)?;
        // Last: who tries it before she publishes is told of every other rule.
        self.check_package(package)?;
        Ok(ObjectEdit::Attach(package))
    }

    /// Checks that the sim has a package.
    pub(super) fn check_package(&self, package: PackageId) -> Result<(), Refusal> {
        self.state.check_package(package)
    }

    /// Checks that a script of a thing may run another package, for which its state is kept twice.
    pub(super) fn check_upgrade(
        &self,
        thing: &Object,
        script: ScriptId,
        package: PackageId,
    ) -> Result<(), Refusal> {
        if !thing.scripts.contains(&script) {
            return Err(Refusal::NoScript);
        }
        self.check_package(package)?;
        let script = self.state.scripts.get(&script).expect("a script that its object lists");
        let kept = if script.fallback.is_none() { Fallback::of(script).bytes() } else { 0 };
        let fits = self.state.byte_budget.has(BUILD_BYTES_MAX.saturating_add(kept));
        if fits { Ok(()) } else { Err(Refusal::Full) }
    }

    /// Decides a gift. Returns nothing if the object is the receiver's already.
    fn give(&self, id: ObjectId, to: &PublicKey) -> Result<Option<ObjectEdit>, Refusal> {
        let thing = self.thing(id)?;
        if self.state.players.get(to).is_none() {
            return Err(Refusal::NoPlayer);
        }
        if thing.owner == Some(*to) {
            return Ok(None);
        }
        // Whoever may build with things of others may keep what came over a border, but makes nobody its owner.
        let came = thing.guest.is_some() || thing.birth.is_some();
        if came && thing.owner != Some(self.author()) {
            return Err(Refusal::NotYours);
        }
        let more = self.state.quota_use(id, thing)?;
        self.state.check_quota(to, more, 2).map_err(|_| Refusal::NoRoomForGifts)?;
        Ok(Some(ObjectEdit::Give(*to)))
    }

    /// Returns the rules of building in this sim.
    pub(super) fn rules(&self) -> &BuildingParameters {
        &self.state.charter.parameters.building
    }

    /// Returns a thing with its body that is near enough to build with.
    pub(super) fn within_reach(&self, id: ObjectId) -> Result<(&Body, &Object), Refusal> {
        let thing = self.thing(id)?;
        let body = self.state.bodies.body(id).ok_or(Refusal::NoObject)?;
        self.check_reach(&Footprint::of(body))?;
        Ok((body, thing))
    }
}

/// Returns the object and the body that a blueprint describes, of this owner.
///
/// # Errors
/// When a name, text or colour breaks its rules.
pub(super) fn made(
    blueprint: &Blueprint,
    owner: Option<PublicKey>,
) -> Result<(Object, BodySpec), Refusal> {
    let Blueprint { kind, name, text, color, outline, movable, licence, .. } = blueprint;
    if !is_name(kind) || kind == AVATAR || !is_name(name) {
        return Err(Refusal::BadText);
    }
    check_text(text)?;
    check_color(*color)?;
    let motion = if *movable { Motion::Dynamic } else { Motion::Static };
    let Footprint { shape, pose } = footprint_of(blueprint)?;
    let body = BodySpec { pose, ..BodySpec::new(shape, motion, pose.position) };
    let body = of_material(BuiltMaterial::Wood, body);
    let object = Object {
        kind: kind.clone(),
        name: name.clone(),
        owner,
        player: None,
        look: Look::plain(*color, drawn(*outline)),
        text: text.clone(),
        scripts: Vec::new(),
        licence: *licence,
        author: owner,
        birth: None,
        parent: None,
        travels: false,
        guest: None,
        spawner: None,
        held: None,
        seat: None,
        changed: None,
    };
    Ok((object, body))
}

/// Returns the change that edits an object.
fn on(object: ObjectId, edit: ObjectEdit) -> StateChange {
    StateChange::Build(Box::new(BuildStep::Edit(object, edit)))
}

/// Checks that a colour has 24 bits.
fn check_color(color: u32) -> Result<(), Refusal> {
    if color > COLOR_MAX { Err(Refusal::OutOfRange) } else { Ok(()) }
}

/// Checks that a text is one line that is not too long.
fn check_text(text: &str) -> Result<(), Refusal> {
    if text.len() > SIGN_BYTES_MAX || !is_line(text) { Err(Refusal::BadText) } else { Ok(()) }
}
