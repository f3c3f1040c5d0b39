//! A place: the ground and what stands on it, as a file describes them.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Region, Shape};
use metatopia_scripting::{Package, ScriptState};
use metatopia_sim::{
    Area, BuildingParameters, ENGINE, Genesis, Land, ObjectSpec, ObjectSpecError, Parameters,
    RULES, ScriptSpec, Title, is_name, limits::LANDS_MAX,
};
use metatopia_types::{AssetLicence, BodyShape, Look, NodeContact, ObjectId, PackageId, PublicKey};
use serde::Deserialize;
use toml::Spanned;

use crate::{
    Mistake, TomlSource,
    number::{Color, Number, NumberPair},
};

/// What a sim begins with, but for its servers and admins.
#[derive(Debug, Clone)]
pub struct Place {
    name: String,
    licence: String,
    asset_licence: String,
    parameters: Parameters,
    packages: BTreeMap<PackageId, Vec<u8>>,
    objects: Vec<ObjectSpec>,
    lands: Vec<Land>,
}

/// What a `place.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceFile {
    name: String,
    licence: String,
    asset_licence: String,
    #[serde(default)]
    spawn: NumberPair,
    spawn_radius: Option<Number>,
    /// How many objects there may be, people among them.
    objects_max: Option<u32>,
    #[serde(default)]
    building: BuildingFile,
    #[serde(default, rename = "land")]
    lands: Vec<Spanned<LandFile>>,
    #[serde(default, rename = "object")]
    objects: Vec<Spanned<ObjectFile>>,
}

/// What players may build; what is left out is as everywhere.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BuildingFile {
    objects_per_player: Option<u32>,
    movable_per_player: Option<u32>,
    movable_max: Option<u32>,
    scripts_per_player: Option<u32>,
    text_bytes_per_player: Option<u32>,
    reach: Option<Number>,
    size_max: Option<Number>,
    open_ground: Option<bool>,
}

/// A named land; it lies on top of those before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LandFile {
    name: Spanned<String>,
    /// Two opposite corners.
    from: NumberPair,
    to: NumberPair,
    /// `open`, `sim`, or the key of a player.
    owner: Spanned<String>,
}

/// An object, or several that differ in their places only.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectFile {
    kind: String,
    name: String,
    at: Option<NumberPair>,
    #[serde(default)]
    places: Vec<NumberPair>,
    #[serde(default)]
    degrees: Option<Number>,
    /// Width and height.
    #[serde(rename = "box")]
    rect: Option<Spanned<NumberPair>>,
    /// The radius of a disc.
    disc: Option<Spanned<Number>>,
    #[serde(default)]
    motion: MotionFile,
    mass: Option<Number>,
    friction: Option<Number>,
    restitution: Option<Number>,
    /// Share of speed and spin lost in a second.
    damping: Option<Number>,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    text: String,
    #[serde(default)]
    scripts: Vec<ScriptFile>,
    /// An SPDX expression; that of the place if it is left out.
    licence: Option<Spanned<String>>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MotionFile {
    #[default]
    Static,
    Kinematic,
    Dynamic,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    package: Spanned<String>,
}

impl Place {
    /// Reads the description of a place. `file` is how messages name it; `packages` are those that
    /// its objects may run, by the names of their manifests.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn parse(file: &str, text: &str, packages: &[Package]) -> Result<Self, Mistake> {
        let source = TomlSource { file, text };
        let described: PlaceFile = source.read()?;
        let mut parameters = Parameters::default();
        parameters.avatar.spawn = described.spawn.vec2();
        if let Some(radius) = described.spawn_radius {
            parameters.avatar.spawn_radius = radius.0;
        }
        if let Some(most) = described.objects_max {
            parameters.objects_max = most;
        }
        described.building.set(&mut parameters.building);
        parameters.check().map_err(|error| Mistake::in_file(file, error))?;
        let by_name: BTreeMap<&str, &Package> =
            packages.iter().map(|package| (package.manifest().name.as_str(), package)).collect();
        // What objects have that do not say otherwise; a place may have any licence.
        let licence = described.asset_licence.parse().unwrap_or_default();
        let mut objects = Vec::new();
        for object in &described.objects {
            objects.extend(source.objects(object, &by_name, licence)?);
        }
        if described.lands.len() > LANDS_MAX {
            let message = format!("at most {LANDS_MAX} lands can be named");
            return Err(source.mistake(&described.lands[LANDS_MAX], message));
        }
        let lands = described.lands.iter().map(|land| source.land(land));
        let lands = lands.collect::<Result<_, _>>()?;
        Ok(Self {
            name: described.name,
            licence: described.licence,
            asset_licence: described.asset_licence,
            parameters,
            packages: packages.iter().map(|package| (package.id(), package.encode())).collect(),
            objects,
            lands,
        })
    }

    /// Puts one more thing at `at`: a disc of half a metre that stays there and runs this script. It
    /// is called what the package is called.
    ///
    /// # Errors
    /// The rule that the thing would break.
    pub fn put(&mut self, package: &Package, at: Vec2) -> Result<(), ObjectSpecError> {
        let shape = Shape::Circle { radius: Fx::HALF };
        let thing = ObjectSpec {
            kind: "thing".to_owned(),
            name: package.manifest().name.clone(),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(shape, Motion::Static, at),
            scripts: vec![ScriptSpec { package: package.id(), state: ScriptState::default() }],
            licence: self.asset_licence.parse().unwrap_or_default(),
        };
        thing.check()?;
        self.packages.insert(package.id(), package.encode());
        self.objects.push(thing);
        Ok(())
    }

    /// The genesis of a sim at this place, with these servers and permanent admins.
    #[must_use]
    pub fn genesis(
        &self,
        validators: BTreeMap<PublicKey, NodeContact>,
        admins: BTreeSet<PublicKey>,
    ) -> Genesis {
        Genesis {
            name: self.name.clone(),
            engine: ENGINE,
            rules: RULES,
            parameters: self.parameters.clone(),
            admins,
            validators,
            packages: self.packages.clone(),
            objects: self.objects.clone(),
            lands: self.lands.clone(),
            licence: self.licence.clone(),
            asset_licence: self.asset_licence.clone(),
            site: None,
            parent: None,
        }
    }
}

impl TomlSource<'_> {
    fn objects(
        &self,
        object: &Spanned<ObjectFile>,
        packages: &BTreeMap<&str, &Package>,
        licence: AssetLicence,
    ) -> Result<Vec<ObjectSpec>, Mistake> {
        let described = object.get_ref();
        let licence = match &described.licence {
            Some(stated) => self.licence(stated)?,
            None => licence,
        };
        let (places, numbered) = match (described.at, described.places.as_slice()) {
            (Some(at), []) => (vec![at.vec2()], false),
            (None, [_, ..]) => (described.places.iter().map(|at| at.vec2()).collect(), true),
            _ => return Err(self.mistake(object, "an object needs `at`, or `places`, not both")),
        };
        let shape = self.shape(object)?;
        let scripts = self.scripts(described, packages)?;
        let mut specs = Vec::new();
        for (n, place) in (1..).zip(places) {
            let name =
                if numbered { format!("{} {n}", described.name) } else { described.name.clone() };
            let body = described.body(shape, place);
            // Physics itself says whether the body can be, and why not.
            Region::new().insert(ObjectId(1), &body).map_err(|error| {
                let at = described.disc.as_ref().map(Spanned::span);
                let at = at.or_else(|| described.rect.as_ref().map(Spanned::span));
                self.mistake_in(at.unwrap_or_else(|| object.span()), error)
            })?;
            let spec = ObjectSpec {
                kind: described.kind.clone(),
                name,
                owner: None,
                look: described.look(),
                text: described.text.clone(),
                body,
                scripts: scripts.clone(),
                licence,
            };
            spec.check().map_err(|error| self.mistake(object, error))?;
            specs.push(spec);
        }
        Ok(specs)
    }

    fn licence(&self, stated: &Spanned<String>) -> Result<AssetLicence, Mistake> {
        let text = stated.get_ref();
        text.parse().map_err(|error| self.mistake(stated, format!("{text:?} is {error}")))
    }

    fn land(&self, land: &Spanned<LandFile>) -> Result<Land, Mistake> {
        let LandFile { name, from, to, owner } = land.get_ref();
        if !is_name(name.get_ref()) {
            let message = format!("{:?} is no name for a land", name.get_ref());
            return Err(self.mistake(name, message));
        }
        let (from, to) = (from.vec2(), to.vec2());
        let area = Area {
            low: Vec2::new(from.x.min(to.x), from.y.min(to.y)),
            high: Vec2::new(from.x.max(to.x), from.y.max(to.y)),
        };
        if !area.is_proper() {
            return Err(self.mistake(land, "`from` and `to` must be opposite corners of the land"));
        }
        let title = match owner.get_ref().as_str() {
            "open" => Title::Open,
            "sim" => Title::Sim,
            key => Title::Player(key.parse().map_err(|_| {
                self.mistake(owner, format!("{key:?} is no owner: write open, sim or a key"))
            })?),
        };
        Ok(Land { name: name.get_ref().clone(), area, title })
    }

    fn shape(&self, object: &Spanned<ObjectFile>) -> Result<Shape, Mistake> {
        let described = object.get_ref();
        match (&described.rect, &described.disc) {
            (Some(rect), None) => {
                let size = rect.get_ref().vec2();
                Ok(Shape::Rect { half: size.scale(Fx::HALF) })
            }
            (None, Some(disc)) => Ok(Shape::Circle { radius: disc.get_ref().0 }),
            _ => Err(self.mistake(object, "an object needs `box` or `disc`, not both")),
        }
    }

    fn scripts(
        &self,
        described: &ObjectFile,
        packages: &BTreeMap<&str, &Package>,
    ) -> Result<Vec<ScriptSpec>, Mistake> {
        let find = |script: &ScriptFile| {
            let name = script.package.get_ref();
            let Some(package) = packages.get(name.as_str()) else {
                return Err(self.mistake(&script.package, format!("there is no package {name}")));
            };
            Ok(ScriptSpec { package: package.id(), state: ScriptState::default() })
        };
        described.scripts.iter().map(find).collect()
    }
}

impl BuildingFile {
    fn set(&self, rules: &mut BuildingParameters) {
        rules.objects_per_player = self.objects_per_player.unwrap_or(rules.objects_per_player);
        rules.movable_per_player = self.movable_per_player.unwrap_or(rules.movable_per_player);
        rules.movable_max = self.movable_max.unwrap_or(rules.movable_max);
        rules.scripts_per_player = self.scripts_per_player.unwrap_or(rules.scripts_per_player);
        let text = self.text_bytes_per_player;
        rules.text_bytes_per_player = text.unwrap_or(rules.text_bytes_per_player);
        rules.reach = self.reach.map_or(rules.reach, |reach| reach.0);
        rules.size_max = self.size_max.map_or(rules.size_max, |size| size.0);
        rules.open_ground = self.open_ground.unwrap_or(rules.open_ground);
    }
}

impl ObjectFile {
    fn look(&self) -> Look {
        let shape = if self.disc.is_some() { BodyShape::Round } else { BodyShape::Square };
        Look { color: self.color.0, shape }
    }

    fn body(&self, shape: Shape, place: Vec2) -> BodySpec {
        let motion = match self.motion {
            MotionFile::Static => Motion::Static,
            MotionFile::Kinematic => Motion::Kinematic,
            MotionFile::Dynamic => Motion::Dynamic,
        };
        let mut body = BodySpec::new(shape, motion, place);
        if let Some(degrees) = self.degrees {
            body.pose.angle = Angle::from_turns(degrees.0.saturating_div(Fx::from_int(360)));
        }
        let set = |field: &mut Fx, value: Option<Number>| {
            if let Some(value) = value {
                *field = value.0;
            }
        };
        set(&mut body.mass, self.mass);
        set(&mut body.friction, self.friction);
        set(&mut body.restitution, self.restitution);
        set(&mut body.linear_damping, self.damping);
        set(&mut body.angular_damping, self.damping);
        body
    }
}
