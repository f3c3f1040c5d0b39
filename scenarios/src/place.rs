//! A place: the ground and what stands on it, as a file describes them.

mod changes;
mod doubled;
mod file;
mod floor_plan;
mod introduction;
mod joint;
mod line;
mod object;
mod outline;
mod outline_words;
mod read;
mod rules;
mod state;
mod world;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, JointSpec, Motion, Shape};
use metatopia_scripting::{Package, ScriptState};
use metatopia_sim::{
    AmendError, ENGINE, FirstLogin, FloorPlan, Genesis, Introduction, Land, ObjectSpec,
    ObjectSpecError, Parameters, Publishers, RULES, ScriptSpec,
};
use metatopia_types::{Look, NodeContact, PackageId, PublicKey};

pub use changes::{JOINT_KEY, SameThings, ThingDifference, ThingEdit, as_built};
pub use introduction::PICTURE_FILES;

/// The file of a place's folder that describes the place.
pub const PLACE_FILE: &str = "place.toml";

/// What a sim begins with, but for its servers and admins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    name: String,
    licence: String,
    asset_licence: String,
    parameters: Parameters,
    packages: BTreeMap<PackageId, Package>,
    objects: Vec<ObjectSpec>,
    joints: Vec<JointSpec>,
    lands: Vec<Land>,
    floor_plan: FloorPlan,
    introduction: Introduction,
    /// The bytes of the picture; empty if there is none.
    picture: Vec<u8>,
    /// Whom a first login lets in, if the place says so; else whoever founds a sim does.
    first_login: Option<FirstLogin>,
    /// Who may publish source, if the place says so; else whoever founds a sim does.
    publishers: Option<Publishers>,
}

impl Place {
    /// Returns the name of the place.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the licence of the place, as an SPDX expression.
    #[must_use]
    pub fn licence(&self) -> &str {
        &self.licence
    }

    /// Returns the licence of things that say no other.
    #[must_use]
    pub fn asset_licence(&self) -> &str {
        &self.asset_licence
    }

    /// Returns the things that stand where people appear, so that no place of them is founded from a file.
    pub fn in_the_way(&self) -> impl Iterator<Item = &ObjectSpec> {
        let avatar = &self.parameters.avatar;
        let spawn = (avatar.spawn, avatar.radius);
        self.objects.iter().filter(move |spec| object::is_in_the_way(spec, spawn))
    }

    /// Returns the things that stand there, in the order of the numbers that they get.
    #[must_use]
    pub fn objects(&self) -> &[ObjectSpec] {
        &self.objects
    }

    /// Returns the joints of things, which they name by their numbers.
    #[must_use]
    pub fn joints(&self) -> &[JointSpec] {
        &self.joints
    }

    /// Returns the lands, each on top of those before it.
    #[must_use]
    pub fn lands(&self) -> &[Land] {
        &self.lands
    }

    /// Returns the rooms that people see and are told of.
    #[must_use]
    pub const fn floor_plan(&self) -> &FloorPlan {
        &self.floor_plan
    }

    /// Returns what the place says of itself.
    #[must_use]
    pub const fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    /// Returns whom a first login lets in, if the place says so.
    #[must_use]
    pub const fn first_login(&self) -> Option<FirstLogin> {
        self.first_login
    }

    /// Returns who may publish source, if the place says so.
    #[must_use]
    pub const fn publishers(&self) -> Option<Publishers> {
        self.publishers
    }

    /// Returns the packages of scripts, by id.
    pub fn packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    /// Changes an agreed number, by the name that admins have for it.
    ///
    /// # Errors
    /// When there is no such name, or the value is none that a sim may have.
    pub fn amend(&mut self, name: &str, value: &str) -> Result<(), AmendError> {
        self.parameters.amend(name, value)
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
            spawner: None,
            seat: None,
        };
        thing.check()?;
        self.packages.insert(package.id(), package.clone());
        self.objects.push(thing);
        Ok(())
    }

    /// Returns the genesis of a sim at this place, with these servers and permanent admins.
    #[must_use]
    pub fn genesis(
        &self,
        validators: BTreeMap<PublicKey, NodeContact>,
        admins: BTreeSet<PublicKey>,
    ) -> Genesis {
        let packages = self.packages.iter();
        Genesis {
            name: self.name.clone(),
            engine: ENGINE,
            rules: RULES,
            parameters: self.parameters.clone(),
            admins,
            validators,
            packages: packages.map(|(id, package)| (*id, package.encode())).collect(),
            objects: self.objects.clone(),
            joints: self.joints.clone(),
            lands: self.lands.clone(),
            floor_plan: self.floor_plan.clone(),
            introduction: self.introduction.clone(),
            picture: self.picture.clone(),
            licence: self.licence.clone(),
            asset_licence: self.asset_licence.clone(),
            site: None,
            office: None,
            parent: None,
        }
    }
}
