//! Scripts that nest as deep as they may. A machine with a smaller stack than others must refuse
//! them by the same rule, at the same line, before its stack ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_scripting::{Author, Draft, ErrorKind, Package, PackageError, Report, State, check};
use metatopia_sim::{
    ENGINE, Genesis, GenesisError, ObjectSpec, Parameters, ScriptSpec, Serial, Tools, World,
};
use metatopia_types::{
    Body, Contact, Ed25519, Header, HeaderId, Height, Look, Millis, PublicKey, Round, Sign,
    SigningKey, Turn,
};

/// What a call is put into, again and again: syntax that takes much stack for each level.
const NESTS: [(&str, &str); 19] = [
    ("[", "]"),
    ("abs(", ")"),
    ("if true { ", " }"),
    ("for i in 0..1 { ", " }"),
    ("while true { ", " }"),
    ("[", "][0]"),
    ("(1).max(", ")"),
    ("1.max(", ")"),
    ("true && (", ")"),
    ("() ?? (", ")"),
    ("`${", "}`"),
    ("1 + (", ")"),
    ("-(", ")"),
    ("#{a: ", "}.a"),
    ("{ let a = ", "; a }"),
    ("vec2(1, 2).x.max(", ")"),
    ("[1, 2][", "]"),
    ("state[", "]"),
    ("abs([`${", "}`][0])"),
];

/// More nests inside one another than any script may have.
const TOO_MANY: usize = 40;

/// Starts a world of scripts that call themselves inside of as many brackets as fit into a source,
/// and tells where each was stopped. What holds is how many scripts were stopped by their depth.
#[must_use]
pub fn deepest() -> crate::Report {
    let mut text = String::new();
    let outcome = start(&mut text);
    crate::Report::new(text, outcome)
}

/// Why deep scripts were not all stopped as they should be.
#[derive(Debug, thiserror::Error)]
enum DeepError {
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    #[error("{found} of {} scripts were stopped by their depth", NESTS.len())]
    Stopped { found: u32 },
}

fn start(text: &mut String) -> Result<u32, DeepError> {
    let genesis = genesis()?;
    let mut world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519)))?;
    let applied = world.apply(&first_turn(&world), &Serial);
    let mut found = 0;
    for failure in &applied.failures {
        let (script, kind) = (failure.script, failure.kind);
        let Report {
            line,
            column,
            message,
            ..
        } = &*failure.report;
        writeln!(
            text,
            "script {script} {kind:?} at {line}:{column}: {message}"
        )
        .expect("a string takes every line");
        found += u32::from(failure.kind == ErrorKind::Depth);
    }
    writeln!(text, "{} {}", world.height(), world.root()).expect("a string takes every line");
    if found as usize == NESTS.len() {
        Ok(found)
    } else {
        Err(DeepError::Stopped { found })
    }
}

/// Posts in a row, each with a script of its own.
fn genesis() -> Result<Genesis, PackageError> {
    let mut packages = BTreeMap::new();
    let mut objects = Vec::new();
    for (place, (open, close)) in (0..).zip(NESTS) {
        let package = package(&format!("nest-{place}"), &deepest_source(open, close))?;
        let shape = Shape::Circle { radius: Fx::HALF };
        let at = Vec2::new(Fx::from_int(2 * place), Fx::ZERO);
        objects.push(ObjectSpec {
            kind: "post".to_owned(),
            name: format!("post {place}"),
            owner: None,
            look: Look::default(),
            text: String::new(),
            body: BodySpec::new(shape, Motion::Static, at),
            scripts: vec![ScriptSpec {
                package: package.id(),
                state: State::default(),
            }],
        });
        packages.insert(package.id(), package.encode());
    }
    Ok(Genesis {
        name: "deep".to_owned(),
        engine: ENGINE,
        parameters: Parameters::default(),
        admins: BTreeSet::new(),
        validators: BTreeMap::from([(server(), Contact::default())]),
        packages,
        objects,
        licence: "AGPL-3.0-or-later".to_owned(),
        asset_licence: "CC-BY-SA-4.0".to_owned(),
    })
}

fn server() -> PublicKey {
    SigningKey::from_seed([1; 32]).public()
}

fn package(name: &str, source: &str) -> Result<Package, PackageError> {
    Package::build(Draft {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        entry: "main.rhai".to_owned(),
        files: BTreeMap::from([("main.rhai".to_owned(), source.as_bytes().to_vec())]),
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![Author {
            name: "Metatopia".to_owned(),
            key: None,
        }],
        ..Draft::default()
    })
}

/// A function that calls itself without end, inside of as many nests as its source may have.
fn deepest_source(open: &str, close: &str) -> String {
    let source = |times: usize| {
        let (open, close) = (open.repeat(times), close.repeat(times));
        format!("fn f(n) {{ {open}f(n + 1){close} }}\nfn on_start() {{ f(0); }}\n")
    };
    let times = (1..TOO_MANY)
        .rev()
        .find(|times| check(&source(*times)).is_empty());
    source(times.unwrap_or(0))
}

/// An empty first turn: in it the scripts start.
fn first_turn(world: &World) -> Turn {
    let body = Body::default();
    let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
    let set = world.roster().newest_set().id();
    let header = Header {
        sim: world.sim(),
        engine: ENGINE,
        height: Height(1),
        previous: HeaderId::default(),
        proposer: server(),
        round: Round(0),
        time: Millis(1_700_000_000_000),
        acts,
        act_count,
        blobs,
        blob_count,
        root: world.root(),
        validators: set,
        next_validators: set,
    };
    Turn { header, body }
}
