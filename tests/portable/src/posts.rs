//! A world of posts in a row, each with a script of its own, and its first turn.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Draft, Package, PackageAuthor, PackageError, ScriptState};
use metatopia_sim::{
    Applied, ENGINE, Genesis, GenesisError, ObjectSpec, ScriptSpec, Serial, Tools, World,
};
use metatopia_types::{
    AssetLicence, Ed25519, Header, Height, Look, Millis, NodeContact, PublicKey, Sign, SigningKey,
    Turn, TurnBody,
};

/// Why there is no such world.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostsError {
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Genesis(#[from] GenesisError),
}

/// Starts the scripts: the world after its first turn, and what happened in it. Scripts have the
/// numbers 1 and up.
pub(crate) fn start(sources: &[String]) -> Result<(World, Applied), PostsError> {
    let genesis = genesis(sources)?;
    let mut world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519)))?;
    let applied = world.apply(&first_turn(&world), &Serial);
    Ok((world, applied))
}

fn genesis(sources: &[String]) -> Result<Genesis, PackageError> {
    let mut packages = BTreeMap::new();
    let mut objects = Vec::new();
    for (place, source) in (0..).zip(sources) {
        let package = package(&format!("post-{place}"), source)?;
        let shape = Shape::Circle { radius: Fx::HALF };
        let at = Vec2::new(Fx::from_int(2 * place), Fx::ZERO);
        objects.push(ObjectSpec {
            kind: "post".to_owned(),
            name: format!("post {place}"),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(shape, Motion::Static, at),
            scripts: vec![ScriptSpec { package: package.id(), state: ScriptState::default() }],
            licence: AssetLicence::default(),
            spawner: None,
            seat: None,
        });
        packages.insert(package.id(), package.encode());
    }
    Ok(Genesis {
        name: "posts".to_owned(),
        admins: BTreeSet::new(),
        validators: BTreeMap::from([(server(), NodeContact::default())]),
        packages,
        objects,
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
        ..Genesis::empty()
    })
}

fn server() -> PublicKey {
    SigningKey::from_seed([1; 32]).public()
}

fn package(name: &str, source: &str) -> Result<Package, PackageError> {
    Package::build(Draft {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "Metatopia".to_owned(), key: None }],
        ..Draft::default()
    })
}

/// An empty first turn: in it the scripts start.
fn first_turn(world: &World) -> Turn {
    let body = TurnBody::default();
    let set = world.roster().newest_set().id();
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height: Height(1),
        proposer: server(),
        time: Millis(1_700_000_000_000),
        root: world.root(),
        validators: set,
        next_validators: set,
        ..Header::unstated()
    };
    Turn::of(header, body)
}
