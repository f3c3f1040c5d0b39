//! Genesis: everything that a sim begins with. The digest of its head is the sim's id, and the head names
//! the digest of all of it, so that two sims that differ in anything cannot be mistaken for one another.

mod object_error;

use std::collections::{BTreeMap, BTreeSet};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, InsertError, JointError, JointSpec};
use metatopia_scripting::{
    CompileError, Package, PackageError,
    limits::{SEAT_REACH, SIGN_BYTES_MAX},
};
use metatopia_types::{
    AssetLicence, Digest, GenesisHead, HeadParent, Height, Look, NodeContact, ObjectId,
    OfficeFounding, PackageId, PublicKey, Root, SimId, Site, SquareError, Validator, ValidatorSet,
    ValidatorSetError, is_line,
    limits::{ADMINS_MAX, BEACONS_MAX, CONTACT_BYTES_MAX},
    wire,
};
use serde::{Deserialize, Serialize};

pub use self::object_error::ObjectSpecError;
use super::{
    introduction::{Introduction, IntroductionError, picture_digest, picture_kind},
    object::AVATAR,
    parameters::{Parameters, ParametersError},
    players::is_name,
};
use crate::{
    ENGINE, RULES,
    limits::{
        GENESIS_BYTES_MAX, LANDS_MAX, OBJECT_JOINTS_MAX, PACKAGES_MAX, SCRIPTS_PER_OBJECT_MAX,
        SIM_COMPOUNDS_MAX, SIM_JOINTS_MAX, TEXT_BYTES_MAX, WORLD_BYTES_MAX,
    },
    space::{Area, FloorPlan, FloorPlanError, Footprint, Land},
};

/// The beginning of a sim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Genesis {
    /// The name of the sim.
    pub name: String,
    /// The exact rules it runs by; must be [`ENGINE`].
    pub engine: u32,
    /// What names these rules on every platform; must be [`RULES`].
    pub rules: Digest,
    /// The agreed numbers.
    pub parameters: Parameters,
    /// The first permanent admins.
    pub admins: BTreeSet<PublicKey>,
    /// The first validators, with where they are reached.
    pub validators: BTreeMap<PublicKey, NodeContact>,
    /// Packages of scripts, each as [`Package::encode`] gives it.
    pub packages: BTreeMap<PackageId, Vec<u8>>,
    /// Objects, in the order of their ids.
    pub objects: Vec<ObjectSpec>,
    /// What holds them together, in the order of ids; objects by their numbers, which begin with 1.
    pub joints: Vec<JointSpec>,
    /// Named lands, each on top of those before it.
    pub lands: Vec<Land>,
    /// The rooms that people see and are told of.
    pub floor_plan: FloorPlan,
    /// What the sim says of itself before anybody enters it.
    pub introduction: Introduction,
    /// The picture that the introduction names; empty if there is none. A successor may lack it, because
    /// it is no part of a state.
    pub picture: Vec<u8>,
    /// Licence of the sim, an SPDX expression.
    pub licence: String,
    /// Licence of what it shows, an SPDX expression.
    pub asset_licence: String,
    /// Where it lies in a world of many sims; none if it lies in none, or founds one.
    pub site: Option<Site>,
    /// Makes it the land office of a world, and grants it its own ground there.
    pub office: Option<OfficeFounding>,
    /// The sim that it carries on, if it is a successor. Packages, objects and lands come with that
    /// one's state then, and none of them is listed here.
    #[serde(skip)]
    pub parent: Option<Parent>,
}

/// The sim that a successor carries on: its servers are gone for good, and somebody kept its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The id of the parent.
    pub sim: SimId,
    /// The last of its turns that counts.
    pub height: Height,
    /// The root of its state after that turn, with which the successor begins.
    pub root: Root,
    /// The proof that its servers signed for this root, for those who know how they agreed. It is
    /// opaque here; empty if there is none.
    pub proof: Vec<u8>,
}

/// An object at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectSpec {
    /// Its kind, as scripts and people are told: `crate`, `door`.
    pub kind: String,
    /// The name that people see.
    pub name: String,
    /// Its owner; nobody means that it is the sim's own.
    pub owner: Option<PublicKey>,
    /// How it is drawn.
    pub look: Look,
    /// The text it shows.
    pub text: String,
    /// The body that it begins with.
    pub body: BodySpec,
    /// The scripts on it.
    pub scripts: Vec<ScriptSpec>,
    /// What everybody may do with how it looks and what it says.
    pub licence: AssetLicence,
    /// The object that spawned it, by its number in the sim: the first object of a genesis has number 1.
    pub spawner: Option<ObjectId>,
    /// Where one sits on it, as it sees it, at most [`SEAT_REACH`] metres away; nothing if it is no seat.
    pub seat: Option<Vec2>,
}

/// A script on an object at the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSpec {
    /// One of the genesis packages.
    pub package: PackageId,
    /// The content of its `state` before `on_start`.
    pub state: metatopia_scripting::ScriptState,
}

impl ObjectSpec {
    /// Returns the metres from a point to the nearest point of its outline; 0 inside.
    #[must_use]
    pub fn distance(&self, from: Vec2) -> Fx {
        Footprint { shape: self.body.shape.clone(), pose: self.body.pose }.distance(from)
    }

    /// Checks everything but the body, which physics checks.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self) -> Result<(), ObjectSpecError> {
        if !is_name(&self.kind) || self.kind == AVATAR {
            return Err(ObjectSpecError::Kind(self.kind.clone()));
        }
        if !is_name(&self.name) {
            return Err(ObjectSpecError::Name(self.name.clone()));
        }
        if self.text.len() > SIGN_BYTES_MAX {
            return Err(ObjectSpecError::Text(self.text.len()));
        }
        if !is_line(&self.text) {
            return Err(ObjectSpecError::TextLine(self.text.clone()));
        }
        if self.look.color > 0x00ff_ffff {
            return Err(ObjectSpecError::Color(self.look.color));
        }
        if self.scripts.len() > SCRIPTS_PER_OBJECT_MAX {
            return Err(ObjectSpecError::TooManyScripts(self.scripts.len()));
        }
        // Such a thing would roll about another point, and no neighbour would take it.
        if !self.body.shape.is_centred() {
            return Err(ObjectSpecError::OffCentre);
        }
        if let Some(at) = self.seat.filter(|at| at.length() > Fx::from_int(SEAT_REACH)) {
            return Err(ObjectSpecError::Seat(at));
        }
        Ok(self.scripts.iter().try_for_each(|script| script.state.check())?)
    }
}

/// Why something is no genesis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// This program runs other rules.
    #[error("the sim runs by engine {found}, this program by {ENGINE}")]
    Engine {
        /// What the genesis says.
        found: u32,
    },
    /// This program runs other rules under the same number.
    #[error(
        "the sim runs by rules {found} of engine {ENGINE}, this program by {}",
        rules_name(&RULES)
    )]
    Rules {
        /// What the genesis says.
        found: Digest,
    },
    /// A parameter is outside of its range.
    #[error(transparent)]
    Parameters(#[from] ParametersError),
    /// A name, licence, text, peer id or address breaks its rules.
    #[error("{what} is no line of text of the allowed length")]
    Text {
        /// The text that breaks them.
        what: String,
    },
    /// More of something than a genesis may have.
    #[error("{count} {what} where at most {max} are allowed")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
    /// The validators are no set.
    #[error(transparent)]
    Validators(#[from] ValidatorSetError),
    /// A package breaks a rule.
    #[error("package {id}: {error}")]
    Package {
        /// The id of the package.
        id: PackageId,
        /// The rule that it breaks.
        error: Box<PackageError>,
    },
    /// A package's source does not compile.
    #[error("package {id}: {error}")]
    Source {
        /// The id of the package.
        id: PackageId,
        /// Where and why.
        error: CompileError,
    },
    /// A package is listed under another id than its own.
    #[error("package {found} is listed as {stated}")]
    PackageName {
        /// What the genesis says.
        stated: PackageId,
        /// What it is.
        found: PackageId,
    },
    /// An object's script is of a package that is not in the genesis.
    #[error("object {object}: package {package} is not in the genesis")]
    NoPackage {
        /// The object's place, from 0.
        object: usize,
        /// The package that is missing.
        package: PackageId,
    },
    /// An object was spawned by one that does not stand before it.
    #[error("object {object}: it was spawned by number {spawner}, which does not stand before it")]
    NoSpawner {
        /// The object's place, from 0.
        object: usize,
        /// The number that it states.
        spawner: ObjectId,
    },
    /// An object breaks a rule.
    #[error("object {object}: {error}")]
    Object {
        /// The object's place, from 0.
        object: usize,
        /// The rule that it breaks.
        error: ObjectSpecError,
    },
    /// A land has no name, or no ground.
    #[error("land {land} has no name, or no ground: its corners are {low} and {high}")]
    Land {
        /// Its place, from 0.
        land: usize,
        /// Its south-western corner.
        low: Vec2,
        /// Its north-eastern corner.
        high: Vec2,
    },
    /// A room or an opening breaks a rule.
    #[error(transparent)]
    FloorPlan(#[from] FloorPlanError),
    /// The introduction, or its picture, breaks a rule.
    #[error(transparent)]
    Introduction(#[from] IntroductionError),
    /// The site is no square of a world.
    #[error("the site: {0}")]
    Site(#[from] SquareError),
    /// A land office lies in the world that it founds, and in no other.
    #[error("a land office names no site: it founds a world of its own")]
    OfficeSite,
    /// A land office has no beacons, or too many.
    #[error("a land office with {0} beacons, where 1 to {BEACONS_MAX} are allowed")]
    OfficeBeacons(usize),
    /// The ground of a sim that lies in a world is not its square, with the origin in its middle.
    #[error(
        "the ground lies between {low} and {high}, and its square reaches {half} m around the origin"
    )]
    GroundOffSquare {
        /// The south-western corner of the ground.
        low: Vec2,
        /// Its north-eastern corner.
        high: Vec2,
        /// Half of the square's side, in metres.
        half: Fx,
    },
    /// An object's body is refused by physics.
    #[error("object {object}: {error}")]
    Body {
        /// The object's place, from 0.
        object: usize,
        /// Why physics refuses it.
        error: InsertError,
    },
    /// A joint breaks a rule.
    #[error("joint {joint}: {error}")]
    Joint {
        /// The joint's place, from 0.
        joint: usize,
        /// The rule that it breaks.
        error: JointError,
    },
    /// An object is held by more joints than one may be.
    #[error("object {0} is held by more than {OBJECT_JOINTS_MAX} joints")]
    JointsOfObject(ObjectId),
    /// An object's position is outside of the ground.
    #[error("object {object}: {position} is outside of the ground")]
    OutOfGround {
        /// The object's place, from 0.
        object: usize,
        /// Its position, in metres.
        position: Vec2,
    },
    /// It is a successor, so the state that it begins with is that of its parent.
    #[error("the sim carries on sim {parent}: it begins with that one's state after turn {height}")]
    NeedsState {
        /// The sim whose state it is.
        parent: SimId,
        /// After which turn.
        height: Height,
    },
    /// It is no successor.
    #[error("the sim carries on no other")]
    NoParent,
    /// A successor lists what comes with its parent's state.
    #[error("a successor lists no {0} of its own: they come with its parent's state")]
    NotCarried(&'static str),
    /// A successor has other rules, another licence or another site than its parent.
    #[error("a successor keeps its parent's {0}")]
    NotKept(&'static str),
    /// The state is not the one that the successor begins with.
    #[error(
        "this is the state of sim {sim} after turn {height} with root {root}, not its parent's"
    )]
    OtherState {
        /// The sim whose state it is.
        sim: SimId,
        /// After which turn.
        height: Height,
        /// The root of the state.
        root: Root,
    },
    /// The state that it begins with is longer than one may be.
    #[error("the world begins with {bytes} bytes where at most {WORLD_BYTES_MAX} are allowed")]
    TooLarge {
        /// The length of the state.
        bytes: u64,
    },
    /// What moves its bodies is not there.
    #[error(transparent)]
    Tier(#[from] super::tools::MissingTier),
    /// The bytes are no genesis.
    #[error("genesis: {0}")]
    Decode(#[from] wire::DecodeError),
}

/// Returns rules as people are told of them: by their digest, or that they are unreleased.
#[must_use]
pub fn rules_name(rules: &Digest) -> String {
    if *rules == Digest::ZERO { "unreleased".to_owned() } else { rules.to_string() }
}

/// The text that a successor's encoding begins with, and no other: a sim's name is never empty.
const SUCCESSOR: &str = "";

impl Genesis {
    /// Returns a genesis by the usual numbers, without a name, servers, admins and things. It lacks what
    /// every sim has, so it is what others are made from.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            name: String::new(),
            engine: ENGINE,
            rules: RULES,
            parameters: Parameters::default(),
            admins: BTreeSet::new(),
            validators: BTreeMap::new(),
            packages: BTreeMap::new(),
            objects: Vec::new(),
            joints: Vec::new(),
            lands: Vec::new(),
            floor_plan: FloorPlan::default(),
            introduction: Introduction::default(),
            picture: Vec::new(),
            licence: String::new(),
            asset_licence: String::new(),
            site: None,
            office: None,
            parent: None,
        }
    }

    /// Returns the sim's id: the digest of the head.
    #[must_use]
    pub fn id(&self) -> SimId {
        self.head().id()
    }

    /// Returns the head: what other sims must know of it.
    #[must_use]
    pub fn head(&self) -> GenesisHead {
        let parent = |Parent { sim, height, root, .. }: &Parent| HeadParent {
            sim: *sim,
            height: *height,
            root: *root,
        };
        GenesisHead {
            engine: self.engine,
            rules: self.rules,
            site: self.site,
            office: self.office.clone(),
            parent: self.parent.as_ref().map(parent),
            admins: self.admins.iter().copied().collect(),
            validators: self.validators.keys().copied().collect(),
            rest: Digest::of("metatopia genesis v2", &self.encode()),
        }
    }

    /// Returns the canonical encoding.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match &self.parent {
            Some(parent) => wire::encode(&(SUCCESSOR, parent, self)),
            None => wire::encode(self),
        }
    }

    /// Decodes what [`Genesis::encode`] made. [`World::genesis`](crate::World::genesis) checks rules.
    ///
    /// # Errors
    /// When the bytes are no canonical encoding, or too many.
    pub fn decode(bytes: &[u8]) -> Result<Self, GenesisError> {
        if !bytes.starts_with(&wire::encode(SUCCESSOR)) {
            return Ok(wire::decode(bytes, GENESIS_BYTES_MAX)?);
        }
        let (_, parent, own): (String, Parent, Self) = wire::decode(bytes, GENESIS_BYTES_MAX)?;
        Ok(Self { parent: Some(parent), ..own })
    }

    /// Returns the first validators.
    ///
    /// # Errors
    /// When the validators are no set.
    pub fn first_validators(&self) -> Result<ValidatorSet, ValidatorSetError> {
        let member = |key: &PublicKey| Validator { key: *key, power: 1 };
        ValidatorSet::new(self.validators.keys().map(member).collect(), |_| true)
    }

    /// Checks everything but bodies and source, which are checked when the world is built.
    pub(super) fn check(&self) -> Result<(), GenesisError> {
        if self.engine != ENGINE {
            return Err(GenesisError::Engine { found: self.engine });
        }
        if self.rules != RULES {
            return Err(GenesisError::Rules { found: self.rules });
        }
        self.parameters.check()?;
        at_most("admins", self.admins.len(), ADMINS_MAX)?;
        at_most("packages", self.packages.len(), PACKAGES_MAX)?;
        let objects_max = self.parameters.objects_held();
        at_most("objects", self.objects.len(), objects_max)?;
        self.check_joints()?;
        let compounds = self.objects.iter().filter(|object| object.body.shape.is_compound());
        at_most("things of several parts", compounds.count(), SIM_COMPOUNDS_MAX)?;
        at_most("lands", self.lands.len(), LANDS_MAX)?;
        for (n, land) in self.lands.iter().enumerate() {
            if !is_name(&land.name) || !land.area.is_proper() {
                let Area { low, high } = land.area;
                return Err(GenesisError::Land { land: n, low, high });
            }
        }
        self.check_square()?;
        self.floor_plan.check(&self.parameters.bounds().map_err(ParametersError::from)?)?;
        self.introduction.check()?;
        self.check_picture()?;
        text("the sim's name", is_name(&self.name))?;
        text("the sim's licence", is_text(&self.licence))?;
        text("the licence of assets", is_text(&self.asset_licence))?;
        for (key, contact) in &self.validators {
            for part in [&contact.peer_id, &contact.address] {
                let fine = part.len() <= CONTACT_BYTES_MAX && is_line(part);
                text(&format!("the contact of validator {key}"), fine)?;
            }
        }
        if self.parent.is_some() {
            let own = [
                ("packages", self.packages.is_empty()),
                ("objects", self.objects.is_empty()),
                ("joints", self.joints.is_empty()),
                ("lands", self.lands.is_empty()),
            ];
            if let Some((what, _)) = own.into_iter().find(|(_, none)| !none) {
                return Err(GenesisError::NotCarried(what));
            }
        }
        self.objects.iter().enumerate().try_for_each(|(n, object)| self.check_object(n, object))
    }

    /// Checks that the ground is the square of the sim, if it has one.
    fn check_square(&self) -> Result<(), GenesisError> {
        if let Some(OfficeFounding { beacons, .. }) = &self.office {
            if self.site.is_some() {
                return Err(GenesisError::OfficeSite);
            }
            if !(1..=BEACONS_MAX).contains(&beacons.len()) {
                return Err(GenesisError::OfficeBeacons(beacons.len()));
            }
        }
        let own = self.office.as_ref().map(|office| office.square);
        let Some(square) = self.site.map(|site| site.square).or(own) else {
            return Ok(());
        };
        square.check()?;
        let (own, Area { low, high }) = (Area::of_square(square), self.parameters.ground);
        if self.parameters.ground == own {
            return Ok(());
        }
        Err(GenesisError::GroundOffSquare { low, high, half: own.high.x })
    }

    /// Checks that there are not too many joints, of the sim and of each object.
    fn check_joints(&self) -> Result<(), GenesisError> {
        at_most("joints", self.joints.len(), SIM_JOINTS_MAX)?;
        let mut held: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for end in self.joints.iter().flat_map(|joint| [joint.a, Some(joint.b)]).flatten() {
            *held.entry(end).or_default() += 1;
        }
        let over = held.into_iter().find(|(_, count)| *count > OBJECT_JOINTS_MAX);
        over.map_or(Ok(()), |(id, _)| Err(GenesisError::JointsOfObject(id)))
    }

    /// Checks that the picture is the one that the introduction names.
    fn check_picture(&self) -> Result<(), IntroductionError> {
        let named = self.introduction.picture;
        if self.picture.is_empty() && (named.is_none() || self.parent.is_some()) {
            return Ok(());
        }
        picture_kind(&self.picture)?;
        let is_it = named == Some(picture_digest(&self.picture));
        if is_it { Ok(()) } else { Err(IntroductionError::OtherPicture) }
    }

    /// Checks an object, and that its packages are in the genesis.
    fn check_object(&self, n: usize, object: &ObjectSpec) -> Result<(), GenesisError> {
        object.check().map_err(|error| GenesisError::Object { object: n, error })?;
        // Numbers begin with 1 and places with 0, so those of earlier objects are 1 to n.
        let is_earlier = |number: u64| (1..=n as u64).contains(&number);
        if let Some(spawner) = object.spawner.filter(|spawner| !is_earlier(spawner.0)) {
            return Err(GenesisError::NoSpawner { object: n, spawner });
        }
        let packages = object.scripts.iter().map(|script| script.package);
        match packages.into_iter().find(|id| !self.packages.contains_key(id)) {
            Some(package) => Err(GenesisError::NoPackage { object: n, package }),
            None => Ok(()),
        }
    }

    /// Returns the packages, decoded and checked.
    pub(super) fn unpack(&self) -> Result<BTreeMap<PackageId, Package>, GenesisError> {
        let unpack = |(stated, bytes): (&PackageId, &Vec<u8>)| {
            let package = Package::decode(bytes)
                .map_err(|error| GenesisError::Package { id: *stated, error: Box::new(error) })?;
            let (stated, found) = (*stated, package.id());
            if stated == found {
                Ok((stated, package))
            } else {
                Err(GenesisError::PackageName { stated, found })
            }
        };
        self.packages.iter().map(unpack).collect()
    }
}

/// Says whether this is a line of text of the allowed length.
fn is_text(text: &str) -> bool {
    !text.is_empty() && text.len() <= TEXT_BYTES_MAX && is_line(text)
}

/// Refuses a text that is not `fine`.
fn text(what: &str, fine: bool) -> Result<(), GenesisError> {
    if fine { Ok(()) } else { Err(GenesisError::Text { what: what.to_owned() }) }
}

/// Refuses more than `max` of something.
fn at_most(what: &'static str, count: usize, max: usize) -> Result<(), GenesisError> {
    if count <= max { Ok(()) } else { Err(GenesisError::TooMany { what, count, max }) }
}
