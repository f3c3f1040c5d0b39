use alloc::{borrow::ToOwned as _, vec};

use metatopia_math::Angle;
use metatopia_physics::Polygon;
use metatopia_sim::{Area, Land, Parameters};
use metatopia_types::{BuiltMaterial, PublicKey, Title};

use super::*;

fn line(text: &str) -> Result<Option<Building>, BuildError> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    parse(word, rest)
}

fn plan(text: &str) -> BuildPlan {
    match line(text) {
        Ok(Some(Building::Build(plan))) => plan,
        other => panic!("{text}: {other:?}"),
    }
}

fn at(x: i32, y: i32) -> Vec2 {
    Vec2::new(Fx::from_int(x), Fx::from_int(y))
}

fn it() -> String {
    "it".to_owned()
}

#[test]
fn a_build_line_needs_no_more_than_what_is_built() {
    let usual = plan("build box");
    assert_eq!((usual.name.as_str(), usual.size, usual.movable), ("box", at(1, 1), false));
    assert!(plan("build ball").movable && plan("build disc").form == PartForm::Disc);

    let bench = plan("build box 2 1 brown old bench");
    assert_eq!((bench.size, bench.color), (at(2, 1), 0x008b_5a2b));
    assert_eq!((bench.kind, bench.name.as_str()), ("box", "old bench"));
    assert_eq!(plan("build red disc 3").size, at(3, 3));
    assert_eq!(plan("build disc #00ff80").color, 0x0000_ff80);
    let sign = plan("build sign Welcome to my garden");
    assert_eq!((sign.name.as_str(), sign.text.as_str()), ("sign", "Welcome to my garden"));

    assert_eq!(line("build"), Err(BuildError::Form("build box 2 1 brown")));
    let unknown = line("build castle").expect_err("no such thing");
    assert_eq!(unknown, BuildError::Kind("castle".to_owned()));
    // It named eight things, and there were twelve.
    for (word, ..) in KINDS {
        assert!(unknown.to_string().contains(word), "{unknown}");
    }
}

#[test]
fn a_polygon_is_built_of_its_corners_whichever_way_they_go_around() {
    let sail = plan("build polygon 0,0 2,0 0.5,1.5 red old sail");
    assert_eq!((sail.kind, sail.name.as_str(), sail.color), ("polygon", "old sail", 0x00d1_3c3c));
    assert_eq!(sail.size, Vec2::new(Fx::from_int(2), Fx::from_ratio(3, 2)));
    let Outline::Polygon(corners) = outline(sail.form, sail.size) else { panic!("a polygon") };
    assert_eq!(corners.points()[1], at(2, 0));
    let back = plan("build polygon 0.5,1.5 2,0 0,0");
    let Outline::Polygon(turned) = outline(back.form, back.size) else { panic!("a polygon") };
    let shape = |corners: OutlineCorners| Polygon::new(corners.points()).expect("convex");
    assert_eq!(shape(turned).corners().count(), 3);
    assert!(shape(corners).corners().all(|one| shape(turned).corners().any(|other| one == other)));
}

#[test]
fn corners_that_are_no_convex_polygon_are_told_by_their_place() {
    let nine = "0,0 1,0 2,1 2,2 1,3 0,3 -1,2 -1,1 -1,0.5";
    for (corners, fault, told) in [
        ("0,0 1,x 2,2", CornersError::Word("1,x".into()), "\"1,x\" is no corner"),
        ("0,0 1,0", CornersError::Count(2), "a polygon has 3 to 8 corners, and those are 2"),
        (nine, CornersError::Count(9), "a polygon has 3 to 8 corners, and those are 9"),
        ("0,0 4,0 1,1 0,4", CornersError::NotConvex(3), "the polygon is not convex at corner 3"),
        ("0,4 1,1 4,0 0,0", CornersError::NotConvex(2), "the polygon is not convex at corner 2"),
        ("0,0 0.1,0 0,0.1", CornersError::Thin(1), "the polygon is too small or too thin at the"),
        ("0,0.1 0.1,0 0,0", CornersError::Thin(2), "the polygon is too small or too thin at the"),
        ("0,0 900,0 0,900", CornersError::Far(2), "corner 2 is too far from"),
    ] {
        let error = line(&format!("build polygon {corners}")).expect_err("no polygon");
        assert!(error.to_string().starts_with(told), "{error}");
        assert_eq!(error, BuildError::Corners(fault), "{corners}");
    }
    let form = BuildError::Form("build polygon 0,0 2,0 1,1 brown");
    assert_eq!(line("build polygon red"), Err(form));
}

#[test]
fn joints_are_named_behind_what_they_hold() {
    for (text, meant) in [
        ("join it wall", Building::Join(it(), Some("wall".to_owned()), "hinge", None)),
        ("join it wall weld", Building::Join(it(), Some("wall".to_owned()), "weld", None)),
        (
            "join it to old bench by rod",
            Building::Join(it(), Some("old bench".to_owned()), "rod", None),
        ),
        ("join old bench to ground", Building::Join("old bench".to_owned(), None, "hinge", None)),
        ("join it ground slider", Building::Join(it(), None, "slider", None)),
        (
            "join wheel to motor",
            Building::Join("wheel".into(), Some("motor".into()), "hinge", None),
        ),
        (
            "join it to old spring",
            Building::Join(it(), Some("old spring".to_owned()), "hinge", None),
        ),
        ("join it to spring 3", Building::Join(it(), Some("spring 3".to_owned()), "hinge", None)),
        ("join it ground motor", Building::Join(it(), None, "motor", None)),
        (
            "join it to old bench by motor -1.5",
            Building::Join(
                it(),
                Some("old bench".to_owned()),
                "motor",
                Some(Fx::from_ratio(-3, 2)),
            ),
        ),
        (
            "join it to wall by spring 3",
            Building::Join(it(), Some("wall".to_owned()), "spring", Some(Fx::from_int(3))),
        ),
        ("unite crate and it", Building::Unite(vec!["crate".to_owned(), it()])),
        (
            "unite old crate and ball and wall",
            Building::Unite(vec!["old crate".to_owned(), "ball".to_owned(), "wall".to_owned()]),
        ),
        ("unjoin it", Building::Unjoin(it(), None)),
        ("unjoin it from wall", Building::Unjoin(it(), Some("wall".to_owned()))),
    ] {
        assert_eq!(line(text), Ok(Some(meant)), "{text}");
    }
}

/// A misspelt joint was taken for a part of a name, and that thing was not there.
#[test]
fn a_joint_that_is_none_is_named_with_all_that_there_are() {
    for (line, kind) in [
        ("join wheel to cart by glue", "glue"),
        ("join wheel to cart by motor fast", "motor fast"),
        ("join wheel to ground by weld 3", "weld 3"),
    ] {
        let (verb, rest) = line.split_once(' ').expect("a verb");
        let wrong = parse(verb, rest).expect_err(line);
        assert_eq!(wrong, BuildError::Joint(kind.to_owned()));
        assert!(wrong.to_string().contains("slider"));
    }
    assert!(matches!(parse("join", "wheel to"), Err(BuildError::Form(_))));
    let stand = Some("stand by me".to_owned());
    let joined = Building::Join("crate".to_owned(), stand, "weld", None);
    assert_eq!(parse("join", "crate to stand by me by weld"), Ok(Some(joined)));
}

#[test]
fn changes_name_a_thing_and_what_is_changed() {
    let half = Fx::HALF;
    for (text, meant) in [
        ("move it east 2", Building::Move(it(), Way::By(at(2, 0)))),
        ("move old bench to 3 -4", Building::Move("old bench".to_owned(), Way::To(at(3, -4)))),
        ("move it n", Building::Move(it(), Way::By(at(0, 1)))),
        ("rotate it", Building::Rotate(it(), Fx::from_int(45))),
        ("rotate it 30deg", Building::Rotate(it(), Fx::from_int(30))),
        ("rotate it 30 degrees", Building::Rotate(it(), Fx::from_int(30))),
        ("resize it 2m 1 m", Building::Resize(it(), at(2, 1))),
        ("make it of ICE", Building::MakeOf(it(), BuiltMaterial::Ice)),
        ("make it a sensor", Building::MakeSensor(it(), true)),
        ("make it A SENSOR", Building::MakeSensor(it(), true)),
        ("make old gate solid", Building::MakeSensor("old gate".to_owned(), false)),
        ("rotate old bench -90", Building::Rotate("old bench".to_owned(), Fx::from_int(-90))),
        ("resize it 2 0.5", Building::Resize(it(), Vec2::new(Fx::from_int(2), half))),
        ("resize it 2", Building::Resize(it(), at(2, 2))),
        ("color it blue", Building::Color(it(), 0x003c_6fd1)),
        ("make old crate of ice", Building::MakeOf("old crate".into(), BuiltMaterial::Ice)),
        ("name it old bench", Building::Name(it(), "old bench".to_owned())),
        ("name \"box 2\" bench", Building::Name("box 2".to_owned(), "bench".to_owned())),
        ("write it", Building::Write(it(), String::new())),
        ("write it sit  down", Building::Write(it(), "sit  down".to_owned())),
        ("copy it", Building::Copy(it(), None)),
        ("copy crate 3", Building::Copy("crate 3".to_owned(), None)),
        ("copy it west 3", Building::Copy(it(), Some(Way::By(at(-3, 0))))),
        ("delete old bench", Building::Delete("old bench".to_owned())),
        ("give it to Ada", Building::Give(it(), "Ada".to_owned())),
        ("attach bell to it", Building::Attach("bell".to_owned(), it())),
        ("detach bell from it", Building::Detach("bell".to_owned(), it())),
        ("let it travel", Building::LetTravel(it(), true)),
        ("let old bench stay", Building::LetTravel("old bench".to_owned(), false)),
        ("take old bench", Building::Take("old bench".to_owned())),
        ("put old bench down", Building::PutDown("old bench".to_owned())),
        ("put down it", Building::PutDown(it())),
        ("drop it", Building::PutDown(it())),
        ("stow old bench", Building::Stow("old bench".to_owned())),
        ("fetch it", Building::Fetch(it())),
        ("discard object 7", Building::Discard("object 7".to_owned())),
        ("luggage", Building::Luggage(None)),
        ("luggage of Ada", Building::Luggage(Some("Ada".to_owned()))),
        ("hands", Building::Hands),
        ("undo", Building::Undo(0)),
        ("undo 2", Building::Undo(2)),
        ("mine", Building::Mine),
        ("land", Building::Land),
        ("help build", Building::Help),
    ] {
        assert_eq!(line(text), Ok(Some(meant)), "{text}");
    }
    assert_eq!(line("look"), Ok(None));
    assert_eq!(line("help"), Ok(None));
}

#[test]
fn lines_that_are_not_understood_say_how_they_are_meant() {
    for text in [
        "move",
        "move it",
        "rotate",
        "resize it",
        "color",
        "color it",
        "make it",
        "make of ice",
        "make it ice",
        "name",
        "name it",
        "write",
        "copy",
        "delete",
        "give it",
        "attach bell",
        "detach bell",
        "let it",
        "let it fly",
        "take",
        "put it",
        "put down",
        "drop",
        "stow",
        "fetch",
        "discard",
        "join",
        "join it",
        "join it hinge",
        "join one two three",
        "unite crate",
        "unite crate and",
        "unjoin",
        "undo all",
        "undo 256",
    ] {
        let error = line(text).expect_err(text);
        assert!(matches!(error, BuildError::Form(_) | BuildError::Color(_)), "{text}: {error}");
    }
    let error = line("join it to wall by spring -3").expect_err("no spring swings so");
    let told = "a spring swings up to 60 times a second, and more than 0, not -3";
    assert_eq!(error.to_string(), told);
    let error = line("join it to wall by spring 60.1").expect_err("no spring swings so");
    assert!(error.to_string().ends_with("not 60.1"), "{error}");
    for rate in ["0", "100000"] {
        let error = line(&format!("join it to wall by spring {rate}")).expect_err(rate);
        assert!(matches!(error, BuildError::Frequency(_)), "{rate}: {error}");
    }
    let error = line("color it mauve").expect_err("no such colour");
    assert!(error.to_string().starts_with("unknown colour \"mauve\"; there are red"), "{error}");
}

#[test]
fn every_command_of_the_help_is_one() {
    for line in HELP.lines().filter(|line| !line.starts_with(' ')) {
        let example = line.split("  ").next().unwrap_or(line);
        let example = example.replace("WHAT", "box");
        for example in example.split(", ") {
            let (word, rest) = example.split_once(' ').unwrap_or((example, ""));
            assert!(matches!(parse(word, rest), Ok(Some(_))), "{example:?}");
        }
    }
}

fn ground<'a>(parameters: &'a Parameters, lands: &'a [Land]) -> Ground<'a> {
    let (here, facing) = (at(10, 0), Angle::QUARTER);
    let builder = PublicKey([1; 32]);
    Ground {
        parameters,
        lands,
        lots: &[],
        builder,
        clubs: Default::default(),
        here,
        facing,
        things: vec![],
    }
}

#[test]
fn a_thing_is_built_ahead_if_there_is_room_and_else_near() {
    let parameters = Parameters::default();
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    let free = spot(&ground(&parameters, &[]), half, false).expect("open ground");
    assert_eq!(free.x, Fx::from_int(10));
    assert!(free.y > Fx::ONE && free.y < Fx::from_int(2), "{free}");

    let mut crowded = ground(&parameters, &[]);
    crowded.things = vec![(at(10, 3), at(4, 2), Angle::ZERO)];
    let beside = spot(&crowded, half, false).expect("there is room behind");
    assert!(beside.y <= Fx::HALF, "{beside}");

    crowded.things = vec![(at(10, 0), at(30, 30), Angle::ZERO)];
    assert_eq!(spot(&crowded, half, false), None);
}

#[test]
fn land_and_the_place_where_people_arrive_are_respected() {
    let mut parameters = Parameters::default();
    let half = Vec2::new(Fx::HALF, Fx::HALF);
    let mut here = ground(&parameters, &[]);
    here.here = Vec2::ZERO;
    let place = spot(&here, half, false).expect("there is room around");
    assert!(place.length() > Fx::from_int(3), "{place}");
    assert!(spot(&here, half, true).expect("crates may be there").length() < Fx::from_int(2));

    parameters.building.open_ground = false;
    let area = Area { low: at(10, -9), high: at(14, -1) };
    let lands = [Land { name: "south".to_owned(), area, title: Title::Open }];
    let south = spot(&ground(&parameters, &lands), half, false).expect("the only land");
    assert!(area.overlaps(&Area { low: south, high: south.saturating_add(half) }), "{south}");
    assert_eq!(spot(&ground(&parameters, &[]), half, false), None);
}

#[test]
fn a_form_fills_its_size_and_is_stretched_to_another_one() {
    let body = |outline: Outline| match outline {
        Outline::Disc { radius } => Shape::Circle { radius },
        Outline::Box { half } => Shape::Rect { half },
        Outline::Capsule { half, radius } => Shape::Capsule { half, radius },
        Outline::Polygon(corners) => {
            Shape::Polygon(Polygon::new(corners.points()).expect("a convex polygon"))
        }
    };
    let near = |found: Vec2, wanted: Vec2| found.distance(wanted) < Fx::from_ratio(1, 1_000);
    for kind in ["box", "disc", "log", "ramp", "wedge", "hexagon"] {
        let plan = plan(&format!("build {kind} 3 1"));
        let shape = body(outline(plan.form, plan.size));
        let half = shape.half_extents(Angle::ZERO);
        assert!(half.x <= plan.half().x && half.y <= plan.half().y.max(half.x), "{kind}");
        let larger = body(resized(&shape, at(6, 2)));
        let round = matches!(shape, Shape::Circle { .. });
        let wanted = if round { at(3, 3) } else { at(3, 1) };
        assert!(near(larger.half_extents(Angle::ZERO), wanted), "{kind}: {larger:?}");
    }
}
