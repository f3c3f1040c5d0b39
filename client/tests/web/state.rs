//! Parts of the state with their bytes: entries of tiles, packages, a genesis.

use super::*;

pub(super) fn crate_body() -> BodySpec {
    let half = Vec2::new(Fx::HALF, Fx::from_ratio(1, 4));
    let mut body =
        BodySpec::new(Shape::Rect { half }, Motion::Dynamic, Vec2::new(Fx::ONE, Fx::from_int(-1)));
    body.pose.angle = Angle::EIGHTH;
    body.velocity = Vec2::new(Fx::HALF, Fx::ZERO);
    body.spin = Fx::from_ratio(-1, 2);
    body
}

pub(super) fn wall_body() -> BodySpec {
    let radius = Fx::from_int(2);
    let mut body = BodySpec::new(Shape::Circle { radius }, Motion::Static, Vec2::ZERO);
    body.sensor = true;
    body
}

fn object() -> Object {
    Object {
        kind: "crate".into(),
        name: "a crate".into(),
        owner: Some(key(7).public()),
        player: None,
        look: LOOK,
        text: "fragile".into(),
        scripts: vec![ScriptId(4)],
        licence: AssetLicence::CcBy,
        author: Some(key(7).public()),
        birth: Some(Origin { sim: SimId(digest(9)), number: ObjectId(300) }),
        parent: Some(Origin { sim: SimId(digest(8)), number: ObjectId(3) }),
        travels: true,
    }
}

pub(super) fn entry_bytes(spec: &BodySpec) -> Vec<u8> {
    with_entry(spec, |entry| wire::encode(&entry))
}

fn with_entry<T>(
    spec: &BodySpec,
    take: impl FnOnce((ObjectId, &Object, &metatopia_physics::Body)) -> T,
) -> T {
    let (id, mut region) = (ObjectId(9), Region::new());
    region.insert(id, spec).expect("a body within its limits");
    take((id, &object(), region.body(id).expect("just put there")))
}

pub(super) fn entries() -> Vec<Value> {
    let moving = BodySpec { motion: Motion::Kinematic, ..crate_body() };
    [crate_body(), wall_body(), moving]
        .iter()
        .map(|spec| with_entry(spec, |entry| vector("entry", &entry)))
        .collect()
}

fn package() -> Package {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let author = |name: &str, key| PackageAuthor { name: name.into(), key };
    Package::build(Draft {
        name: "door".into(),
        version: "1.20.300".into(),
        api: 1,
        entry: "door.rhai".into(),
        files: [
            file("door.rhai", "fn on_touch(who) {\n    this.open = !this.open;\n}\n"),
            file("docs/readme.md", "# A door\n"),
        ]
        .into(),
        imports: [].into(),
        licence: "MIT OR AGPL-3.0-or-later".into(),
        authors: vec![author("ada", Some(key(7).public())), author("grace", None)],
        parent: Some(PackageId(digest(8))),
    })
    .expect("a package within its rules")
}

fn genesis() -> Genesis {
    Genesis {
        name: "plaza".into(),
        engine: metatopia_sim::ENGINE,
        rules: metatopia_sim::RULES,
        parameters: Parameters::default(),
        admins: [key(7).public()].into(),
        validators: [(key(1).public(), NodeContact::default())].into(),
        packages: [].into(),
        objects: Vec::new(),
        lands: Vec::new(),
        licence: "AGPL-3.0-or-later".into(),
        asset_licence: "CC-BY-SA-4.0".into(),
        site: None,
        parent: None,
    }
}

/// What a client hashes or reads besides messages, each with the id that it must come to.
pub(super) fn parts() -> Vec<Value> {
    let (package, genesis, act) = (package(), genesis(), signed(Act::Leave));
    let parts = (package.manifest(), package.files());
    let with_id = |mut vector: Value, id: String| {
        vector["id"] = Value::String(id);
        vector
    };
    vec![
        with_id(vector("package", &parts), package.id().to_string()),
        // It has maps whose keys are bytes, and JSON has no such maps.
        json!({ "kind": "genesis", "hex": hex(&genesis.encode()), "id": genesis.id().to_string() }),
        with_id(vector("act", &act), act.id().to_string()),
        with_id(vector("header", &header()), header().id().to_string()),
        with_id(vector("blob", &words()), words().id().to_string()),
        with_id(vector("entrance", &announcement()), key(1).public().to_string()),
    ]
}
