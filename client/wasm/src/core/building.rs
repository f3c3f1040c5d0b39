//! What builders do, as acts. Sizes are whole widths and heights in metres, angles radians.

use metatopia_client::build::{Ground, PartForm, corners, outline, resized, spot};
use metatopia_math::{Angle, Vec2};
use metatopia_sim::Body;
use metatopia_types::{
    Act, AssetLicence, Blueprint, Build, BuiltMaterial, ObjectId, Outline, OutlineCorners,
    OutlinePart, OutlineParts, PackageId, ScriptId,
};
use serde::Deserialize;

use super::{
    ClientCore,
    deeds::{Deed, DeedKind},
    outcomes::ActEnd,
    units::{PageNumber, to_angle, to_fx, to_vec},
};

/// What a builder wants, in the words of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum BuildCommand {
    /// Makes a thing.
    Place {
        spec: Box<PlaceSpec>,
    },
    /// Puts a thing elsewhere.
    Move {
        object: ObjectId,
        x: PageNumber,
        y: PageNumber,
    },
    /// Turns a thing.
    Rotate {
        object: ObjectId,
        angle: PageNumber,
    },
    /// Gives a thing another size.
    Resize {
        object: ObjectId,
        w: PageNumber,
        h: Option<PageNumber>,
    },
    /// Gives a thing another colour.
    Color {
        object: ObjectId,
        color: u32,
    },
    /// Makes a thing of another material.
    MakeOf {
        object: ObjectId,
        material: String,
    },
    /// Makes a thing a sensor, or solid again.
    MakeSensor {
        object: ObjectId,
        sensor: bool,
    },
    /// Gives a thing another name.
    Rename {
        object: ObjectId,
        name: String,
    },
    /// Changes what a thing shows.
    Write {
        object: ObjectId,
        text: String,
    },
    /// Makes another one.
    Copy {
        object: ObjectId,
        x: PageNumber,
        y: PageNumber,
    },
    /// Takes a thing out of the world.
    Remove {
        object: ObjectId,
    },
    /// Gives a thing to a key.
    Give {
        object: ObjectId,
        to: String,
    },
    /// Puts a script on a thing.
    Attach {
        object: ObjectId,
        package: String,
    },
    /// Takes a script off a thing.
    Detach {
        object: ObjectId,
        script: ScriptId,
    },
    Resume {
        object: ObjectId,
        script: ScriptId,
    },
    /// Has a script run another package.
    Upgrade {
        object: ObjectId,
        script: ScriptId,
        package: String,
    },
    /// Says whether a thing may leave over a border.
    LetTravel {
        object: ObjectId,
        travels: bool,
    },
    /// Takes a thing in hand.
    Take {
        object: ObjectId,
    },
    /// Puts a thing in hand down, where there is room for it near the own avatar.
    PutDown {
        object: ObjectId,
    },
    /// Puts a thing into luggage.
    Stow {
        object: ObjectId,
    },
    /// Puts a thing of this size down that is in luggage, where there is room for it near the own avatar.
    Fetch {
        object: ObjectId,
        hx: PageNumber,
        hy: PageNumber,
        movable: bool,
    },
    /// Deletes a thing in luggage for good.
    Discard {
        object: ObjectId,
    },
    /// Joins a thing to another one, or to the ground.
    Join {
        object: ObjectId,
        to: Option<ObjectId>,
        kind: String,
        /// How fast a motor turns or a spring swings, if that is said.
        rate: Option<PageNumber>,
    },
    /// Takes all joints off a thing.
    Unjoin {
        object: ObjectId,
    },
    /// Makes one thing of several.
    Unite {
        objects: Vec<ObjectId>,
    },
    /// Takes the last deed back.
    Undo,
}

/// A thing to be made.
#[derive(Debug, Deserialize)]
pub(super) struct PlaceSpec {
    kind: String,
    name: String,
    #[serde(default)]
    text: String,
    color: u32,
    #[serde(flatten)]
    first: PartSpec,
    /// Corners as somebody wrote them, which come before those of the first part.
    outline: Option<String>,
    /// More parts, each where it is from the middle of the first.
    #[serde(default)]
    parts: Vec<PartSpec>,
    movable: Option<bool>,
    licence: Option<String>,
}

/// A part of a thing to be made, with its place.
#[derive(Debug, Deserialize)]
struct PartSpec {
    #[serde(default)]
    round: bool,
    /// A rod with round ends, as long as `w`.
    #[serde(default)]
    rod: bool,
    /// The corners of a polygon, which say its size.
    #[serde(default)]
    corners: Vec<[PageNumber; 2]>,
    w: PageNumber,
    h: Option<PageNumber>,
    x: PageNumber,
    y: PageNumber,
    angle: Option<PageNumber>,
}

/// Deeds that could not be taken back, and are passed over from now on.
#[derive(Debug, Default)]
pub(super) struct Undoing {
    passed: u8,
}

impl Undoing {
    /// Notes what came of an undo. A deed that cannot be undone is passed over the next time.
    pub(super) fn undone(&mut self, end: &ActEnd) {
        let Ok(result) = end else {
            return;
        };
        let more = !result.ok && result.refusal.as_deref() != Some("NothingToUndo");
        // An act has room for no greater number.
        self.passed = if more { self.passed.saturating_add(1) } else { 0 };
    }
}

/// Why a builder's command is no act.
pub(super) type BuildFault = &'static str;

/// A number that no fixed-point number is.
const OUT_OF_RANGE: BuildFault = "OutOfRange";

/// A key, package or licence that is none.
pub(super) const BAD_NAME: BuildFault = "BadName";

impl PartSpec {
    fn part(&self) -> Result<OutlinePart, BuildFault> {
        let size = to_vec(self.w, self.h.unwrap_or(self.w)).ok_or(OUT_OF_RANGE)?;
        let outline = match self.corners.as_slice() {
            [] if self.round => outline(PartForm::Disc, size),
            [] if self.rod => outline(PartForm::Rod, size),
            [] => outline(PartForm::Box, size),
            points => {
                let points = points.iter().map(|[x, y]| to_vec(*x, *y)).collect::<Option<Vec<_>>>();
                let corners = OutlineCorners::new(&points.ok_or(OUT_OF_RANGE)?);
                Outline::Polygon(corners.map_err(|_| "BadCorners")?)
            }
        };
        let angle = self.angle.map_or(Some(Angle::ZERO), to_angle).ok_or(OUT_OF_RANGE)?;
        Ok(OutlinePart { outline, offset: place(self.x, self.y)?, angle })
    }
}

impl PlaceSpec {
    pub(super) fn blueprint(self) -> Result<Blueprint, BuildFault> {
        let mut first = self.first.part()?;
        if let Some(written) = self.outline.as_deref() {
            let words: Vec<&str> = written.split_whitespace().collect();
            first.outline = Outline::Polygon(corners(&words).map_err(|error| error.code())?);
        }
        let parts = self.parts.iter().map(PartSpec::part).collect::<Result<_, _>>()?;
        let licence = match self.licence.as_deref() {
            None | Some("CcBySa") => AssetLicence::CcBySa,
            Some("Cc0") => AssetLicence::Cc0,
            Some("CcBy") => AssetLicence::CcBy,
            Some("Reserved") => AssetLicence::Reserved,
            Some(_) => return Err(BAD_NAME),
        };
        Ok(Blueprint {
            kind: self.kind,
            name: self.name,
            text: self.text,
            color: self.color,
            outline: first.outline,
            movable: self.movable.unwrap_or(true),
            position: first.offset,
            angle: first.angle,
            licence,
            parts: OutlineParts::new(parts).map_err(|_| "TooManyParts")?,
        })
    }
}

fn place(x: PageNumber, y: PageNumber) -> Result<Vec2, BuildFault> {
    to_vec(x, y).ok_or(OUT_OF_RANGE)
}

fn package_id(text: &str) -> Result<PackageId, BuildFault> {
    text.parse().map_err(|_| BAD_NAME)
}

/// Returns half the width and height of a body that faces east.
fn half_of(body: &Body) -> Vec2 {
    body.shape().half_extents(Angle::ZERO)
}

impl ClientCore {
    /// Carries out what a builder wants.
    pub(super) fn build(&mut self, command: u64, wanted: BuildCommand) {
        let undoes = matches!(wanted, BuildCommand::Undo);
        match self.building(wanted) {
            Ok(build) => {
                let kind = match undoes {
                    true => DeedKind::Undo(command),
                    false => {
                        self.undoing.passed = 0;
                        DeedKind::Plain(command)
                    }
                };
                self.act(Deed::new(kind, Act::Build(build)));
            }
            Err(code) => self.failed(command, code, &serde_json::Value::Null),
        }
    }

    /// Returns a place near the own avatar with room for a thing. If there is none in sight it is the avatar's
    /// own, and the sim says why nothing is put there.
    fn place_near(&self, half: Vec2, movable: bool) -> Vec2 {
        let sight = self.session.sight();
        let me = sight.me().and_then(|me| self.picture.body(me));
        let Some(me) = me else { return Vec2::ZERO };
        let (parameters, lands) = self.rules_of_building();
        let ground = Ground {
            parameters,
            lands,
            // The sim knows them, and refuses what is put on one of somebody else.
            lots: &[],
            builder: self.key,
            clubs: Default::default(),
            here: me.position(),
            facing: me.angle(),
            things: self
                .picture
                .standing()
                .map(|body| (body.position(), half_of(body), body.angle()))
                .collect(),
        };
        spot(&ground, half, movable).unwrap_or(me.position())
    }

    fn building(&self, wanted: BuildCommand) -> Result<Build, BuildFault> {
        Ok(match wanted {
            BuildCommand::Place { spec } => Build::Place(spec.blueprint()?),
            BuildCommand::Move { object, x, y } => Build::Move { object, position: place(x, y)? },
            BuildCommand::Rotate { object, angle } => {
                Build::Rotate { object, angle: to_angle(angle).ok_or(OUT_OF_RANGE)? }
            }
            BuildCommand::Resize { object, w, h } => {
                let size = to_vec(w, h.unwrap_or(w)).ok_or(OUT_OF_RANGE)?;
                let body = self.picture.body(object);
                let outline = match body {
                    Some(body) => resized(&body.shape(), size),
                    None => outline(PartForm::Box, size),
                };
                Build::Resize { object, outline }
            }
            BuildCommand::Color { object, color } => Build::Recolor { object, color },
            BuildCommand::MakeOf { object, material } => {
                let material = BuiltMaterial::named(&material).ok_or(BAD_NAME)?;
                Build::MakeOf { object, material }
            }
            BuildCommand::MakeSensor { object, sensor } => Build::MakeSensor { object, sensor },
            BuildCommand::Rename { object, name } => Build::Rename { object, name },
            BuildCommand::Write { object, text } => Build::Write { object, text },
            BuildCommand::Copy { object, x, y } => Build::Copy { object, position: place(x, y)? },
            BuildCommand::Remove { object } => Build::Delete { object },
            BuildCommand::Give { object, to } => {
                Build::Give { object, to: to.parse().map_err(|_| BAD_NAME)? }
            }
            BuildCommand::Attach { object, package } => {
                Build::Attach { object, package: package_id(&package)? }
            }
            BuildCommand::Detach { object, script } => Build::Detach { object, script },
            BuildCommand::Resume { object, script } => Build::Resume { object, script },
            BuildCommand::Upgrade { object, script, package } => {
                Build::Upgrade { object, script, package: package_id(&package)? }
            }
            BuildCommand::LetTravel { object, travels } => Build::LetTravel { object, travels },
            BuildCommand::Take { object } => Build::Take { object },
            BuildCommand::PutDown { object } => {
                let half = self.picture.body(object).map_or(Vec2::ZERO, half_of);
                Build::PutDown { object, position: self.place_near(half, true) }
            }
            BuildCommand::Stow { object } => Build::Stow { object },
            BuildCommand::Discard { object } => Build::Discard { object },
            BuildCommand::Fetch { object, hx, hy, movable } => {
                let half = to_vec(hx, hy).ok_or(OUT_OF_RANGE)?;
                Build::Fetch { object, position: self.place_near(half, movable) }
            }
            BuildCommand::Join { object, to, kind, rate } => {
                let rate = rate.map(|rate| to_fx(rate).ok_or(OUT_OF_RANGE)).transpose()?;
                self.joined(object, to, (&kind, rate))?
            }
            BuildCommand::Unjoin { object } => Build::Unjoin { object, from: None },
            BuildCommand::Unite { objects } => Build::Unite { objects },
            BuildCommand::Undo => Build::Undo { skip: self.undoing.passed },
        })
    }
}
