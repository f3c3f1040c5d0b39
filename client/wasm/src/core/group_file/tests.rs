use std::sync::Arc;

use metatopia_math::Angle;
use metatopia_physics::{BodySpec, Compound, CompoundPart, Polygon, Region};
use metatopia_scenarios::plaza;
use metatopia_sim::{Object, Shape, Tile, TileEntry, Tools, World};
use metatopia_types::{Ed25519, NodeContact, Sign as _, SigningKey};
use serde_json::{Value, json};

use super::{super::building::PlaceSpec, *};
use crate::core::picture::DrawnPlace;

/// A thing of the plaza.
fn thing() -> Object {
    let server = (SigningKey::from_seed([200; 32]).public(), NodeContact::default());
    let genesis = plaza::genesis([server].into(), [].into());
    let world = World::genesis(&genesis, &Tools::new(Arc::new(Ed25519))).expect("a plaza");
    let tile = world.objects().map(|seen| Tile::of(seen.position)).next().expect("things");
    let (_, bytes) = world.entries(tile).next().expect("a thing");
    TileEntry::decode(bytes).expect("an entry").object
}

/// Returns a thing of this shape as it is drawn.
fn drawn(object: &Object, shape: &Shape, (position, angle): (Vec2, Angle)) -> DrawnThing {
    let mut spec = BodySpec::new(shape.clone(), Motion::Static, position);
    spec.pose.angle = angle;
    let mut region = Region::new();
    region.insert(ObjectId(1), &spec).expect("a body");
    let body = region.body(ObjectId(1)).expect("it is there").clone();
    let (object, place) = (object.clone(), DrawnPlace::of(&body));
    DrawnThing { object, body, far: false, place, departed: None }
}

fn metres(tenths: i64) -> Fx {
    Fx::from_ratio(tenths, 10)
}

fn bar(x: i64, y: i64) -> Shape {
    Shape::Rect { half: Vec2::new(metres(x), metres(y)) }
}

/// A hammer of a handle of a metre and a head across its end.
fn hammer() -> Shape {
    let head = CompoundPart {
        angle: Angle::QUARTER,
        ..CompoundPart::new(bar(4, 1)).at(Vec2::new(metres(6), Fx::ZERO))
    };
    Shape::Compound(Compound::new(&[CompoundPart::new(bar(5, 1)), head]).expect("a hammer"))
}

/// A file of one bench.
fn bench() -> Value {
    json!({
        "is": KIND, "version": VERSION, "name": "a corner", "things": [{
            "kind": "bench", "name": "bench", "text": "", "color": "#b98552", "movable": false,
            "licence": "CcBySa", "round": false, "w": 1.8, "h": 0.5, "x": -1.0, "y": 0.5, "degrees": 90.0,
        }],
    })
}

/// Returns what is said of a file that is a bench but for one value, at this path.
fn mistakes(path: &str, value: Value) -> Vec<String> {
    let mut file = bench();
    *file.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
    let mistakes = read(&file.to_string()).expect_err("it is wrong");
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_is_read_as_the_page_places_things() {
    let (name, things) = read(&bench().to_string()).expect("a bench");
    assert_eq!((name.as_str(), things.len()), ("a corner", 1));
    let bench = &things[0];
    assert_eq!(bench["color"], json!(0x00b9_8552));
    assert_eq!((&bench["w"], &bench["x"]), (&json!(1.8), &json!(-1.0)));
    assert_eq!((&bench["parts"], &bench["corners"]), (&json!([]), &json!([])));
    assert!(
        (bench["angle"].as_f64().expect("radians") - core::f64::consts::FRAC_PI_2).abs() < 1e-9
    );
}

/// Things of several parts were saved as the boxes around them.
#[test]
fn what_is_saved_is_placed_as_it_was_also_with_several_parts() {
    let triangle =
        [(-1, -1), (1, -1), (0, 2)].map(|(x, y)| Vec2::new(Fx::from_int(x), Fx::from_int(y)));
    let triangle = Polygon::new(&triangle).expect("a triangle");
    let shapes = [
        (hammer(), Angle::EIGHTH),
        (Shape::Polygon(triangle), Angle::ZERO),
        (Shape::Circle { radius: metres(5) }, Angle::ZERO),
        (Shape::Capsule { half: metres(5), radius: metres(2) }, Angle::QUARTER),
    ];
    let object = thing();
    let at = |n: i32| Vec2::new(Fx::from_int(4 * n), Fx::from_int(2));
    let shapes = shapes.iter().zip(0..);
    let things: Vec<DrawnThing> =
        shapes.map(|((shape, angle), n)| drawn(&object, shape, (at(n), *angle))).collect();
    let text = written("four", &things.iter().collect::<Vec<_>>());
    let (name, read) = read(&text).expect("what was written");
    assert_eq!((name.as_str(), read.len()), ("four", 4));
    let middle = Vec2::new(Fx::from_int(6), Fx::from_int(2));
    for (spec, thing) in read.into_iter().zip(&things) {
        let spec: PlaceSpec = serde_json::from_value(spec).expect("a thing");
        let made = spec.blueprint().expect("a blueprint");
        let mut parts = vec![OutlinePart {
            outline: made.outline,
            offset: made.position.saturating_add(middle),
            angle: made.angle,
        }];
        parts.extend(made.parts.as_slice());
        let mut wanted = around_the_first(outlines(&thing.body.shape()).expect("no line"));
        wanted[0].offset =
            wanted[0].offset.rotate(thing.body.angle()).saturating_add(thing.body.position());
        wanted[0].angle = wanted[0].angle.wrapping_add(thing.body.angle());
        // All is kept to the millimetre.
        let kept = |parts: &[OutlinePart]| parts.iter().map(file_part).collect::<Vec<_>>();
        assert_eq!(kept(&parts), kept(&wanted));
    }
}

#[test]
fn each_mistake_of_a_file_is_named_and_nothing_of_such_a_file_is_placed() {
    let told = |text: &str| read(text).expect_err("it is wrong")[0].to_string();
    assert!(told("{").starts_with("the file is no JSON: "), "{}", told("{"));
    for text in ["[]", "null", "{}"] {
        assert_eq!(told(text), "the file is no group of things of Metatopia");
    }
    assert_eq!(told(&" ".repeat(FILE_BYTES_MAX + 1)), "the file has more than 64 KiB");
    let unknown = "the file has the version 2, which this page does not know";
    assert_eq!(mistakes("/version", json!(2)), [unknown]);
    let one = bench()["things"][0].clone();
    for things in [json!([]), json!({}), json!(vec![one.clone(); GROUP_MAX + 1])] {
        let count = "the file has no list \"things\" of 1 to 64 things";
        assert_eq!(mistakes("/things", things), [count]);
    }
    let name = "the name of the group is no text of at most 256 bytes";
    for wrong in [json!(7), json!("x".repeat(GROUP_NAME_BYTES_MAX + 1))] {
        assert_eq!(mistakes("/name", wrong), [name]);
    }
    assert_eq!(mistakes("/things/0", json!(3)), ["thing 1: it is no thing"]);
    for (field, value) in [
        ("kind", json!("")),
        ("name", json!("x".repeat(33))),
        ("text", json!("x".repeat(257))),
        ("color", json!("red")),
        ("color", json!("#+12345")),
        ("w", json!(0)),
        ("h", json!(2_000)),
        ("x", json!(1e9)),
        ("y", json!(-501)),
        ("degrees", json!(501)),
        ("licence", json!("MIT")),
    ] {
        let said = mistakes(&format!("/things/0/{field}"), value);
        assert!(
            said.len() == 1 && said[0].starts_with(&format!("thing 1: `{field}` must be ")),
            "{said:?}"
        );
    }
    for (field, value) in [("movable", Value::Null), ("w", json!("1")), ("y", json!([]))] {
        let said = mistakes(&format!("/things/0/{field}"), value);
        assert!(said.len() == 1 && said[0].starts_with("thing 1: invalid type"), "{said:?}");
    }
    let mut odd = one.clone();
    odd["x".repeat(10_000)] = json!([]);
    let told = mistakes("/things/0", odd);
    assert_eq!(told[0].chars().count(), "thing 1: ".len() + WORDS_MAX);
    let mut odd = one.clone();
    odd["scripts"] = json!([]);
    assert!(mistakes("/things/0", odd)[0].starts_with("thing 1: unknown field `scripts`"));
    let part = json!({ "w": 1, "h": 1, "x": 0, "y": 0, "degrees": 0 });
    let with = |parts: Value| {
        let mut thing = one.clone();
        thing["parts"] = parts;
        mistakes("/things/0", thing)
    };
    let most = "thing 1: `parts` must be at most 7 parts besides the first";
    assert_eq!(with(json!(vec![part.clone(); MORE_PARTS_MAX + 1])), [most]);
    let mut two = part.clone();
    two["corners"] = json!([[0, 0], [1, 0]]);
    assert_eq!(
        with(json!([two])),
        ["thing 1: `corners` must be 3 to 8 pairs of numbers of metres"]
    );
    let mut nested = part;
    nested["parts"] = json!([]);
    assert!(with(json!([nested]))[0].starts_with("thing 1: unknown field `parts`"));
    let many = mistakes("/things", json!(vec![json!(3); 20]));
    assert_eq!(
        (many.len(), many.last().map(String::as_str)),
        (MISTAKES_MAX + 1, Some("and 12 more"))
    );
}
