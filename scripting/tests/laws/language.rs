//! Numbers, strings, arrays and maps of the language.

use metatopia_scripting::{ErrorKind, Value};

use crate::stage::{error, fx, point, start, value};

fn fixed(text: &str) -> Value {
    Value::Fixed(fx(text))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn literals_with_a_point_are_exact_fixed_point_numbers() {
    assert_eq!(value("1.5"), fixed("1.5"));
    assert_eq!(value("-1.5"), fixed("-1.5"));
    assert_eq!(value("0.1 + 0.2"), Value::Fixed(fx("0.1").checked_add(fx("0.2")).unwrap()));
    assert_eq!(value("[1.5, -2.5]"), Value::Array(vec![fixed("1.5"), fixed("-2.5")]));
    assert_eq!(value("#{a: 1.5}.a"), fixed("1.5"));
    assert_eq!(value("`v=${1.5}`"), text("v=1.5"));
    assert_eq!(value("if 1.25 == 1.25 { 1 } else { 2 }"), Value::Int(1));
    assert_eq!(value("2147483647.5"), fixed("2147483647.5"));
    assert_eq!(value("1_000.25"), fixed("1000.25"));
}

#[test]
fn a_literal_can_be_the_receiver_of_a_method() {
    assert_eq!(value("1.5.abs()"), fixed("1.5"));
    assert_eq!(value("(-1.5).abs()"), fixed("1.5"));
    assert_eq!(value("2.25.sqrt().floor()"), Value::Int(1));
}

#[test]
fn a_literal_in_a_function_and_in_a_constant_is_the_same_number() {
    let source = "const K = 0.25; const V = vec2(K, 2.0 * K);
        fn half(x) { x * 0.5 }
        fn on_start() { state.x = half(K); state.v = V; }";
    let part = crate::stage::run_in(
        crate::stage::world(),
        &crate::stage::handler(source),
        &metatopia_scripting::Event::Start,
        metatopia_scripting::ScriptState::default(),
    );
    let state = part.unwrap().state.unwrap();
    assert_eq!(state.0["x"], fixed("0.125"));
    assert_eq!(state.0["v"], Value::Vec2(point("0.25", "0.5")));
}

#[test]
fn an_int_beside_a_fixed_is_promoted() {
    assert_eq!(value("1 + 0.5"), fixed("1.5"));
    assert_eq!(value("0.5 - 1"), fixed("-0.5"));
    assert_eq!(value("3 * 0.5"), fixed("1.5"));
    assert_eq!(value("3 / 2.0"), fixed("1.5"));
    assert_eq!(value("3.5 % 2"), fixed("1.5"));
    assert_eq!(value("1 == 1.0 && 1.0 == 1 && 1 < 1.5 && 1.5 >= 1 && 2 != 1.5"), Value::Bool(true));
    assert_eq!(value("9223372036854775807 > 2000000000.5"), Value::Bool(true));
    assert_eq!(value("max(1, 0.5)"), fixed("1"));
    assert_eq!(value("min(1, 2)"), Value::Int(1));
    assert_eq!(value("clamp(7, 0.5, 2)"), fixed("2"));
}

#[test]
fn division_of_ints_is_cut_towards_zero() {
    assert_eq!(value("7 / 2"), Value::Int(3));
    assert_eq!(value("-7 / 2"), Value::Int(-3));
    assert_eq!(value("7 % -2"), Value::Int(1));
}

#[test]
fn overflow_is_an_error_with_its_place() {
    for expression in [
        "2147483647.5 + 1",
        "-2147483648.0 - 0.5",
        "2000000000.0 * 2",
        "1.0 / 0.0",
        "1.0 / 0",
        "1.5 % 0",
        "1 / 0",
        "9223372036854775807 + 1",
        "-(-9223372036854775807 - 1)",
        "abs(-2147483648.0)",
        "1.0 + 3000000000",
        "vec2(2000000000, 0) + vec2(2000000000, 0)",
        "vec2(1, 1) / 0",
        "sqrt(-1)",
        "2 ** 64",
    ] {
        let error = error(expression);
        assert_eq!(error.kind, ErrorKind::Arithmetic, "{expression}: {error}");
        assert_eq!(error.report.line, 2, "{expression}: {error}");
        assert!(error.report.column > 10, "{expression}: {error}");
    }
}

#[test]
fn functions_of_numbers_are_those_of_the_world() {
    assert_eq!(value("sqrt(2)"), Value::Fixed(fx("2").sqrt().unwrap()));
    assert_eq!(value("sin(1.25)"), Value::Fixed(fx("1.25").sin()));
    assert_eq!(value("cos(100)"), Value::Fixed(fx("100").cos()));
    assert_eq!(
        value("atan2(-1.5, 2)"),
        Value::Fixed(metatopia_math::Fx::atan2(fx("-1.5"), fx("2")))
    );
    assert_eq!(value("[floor(-1.5), ceil(-1.5), round(2.5), round(3.5), floor(7)]"), {
        Value::Array([-2, -1, 2, 4, 7].map(Value::Int).into())
    });
    assert_eq!(value("[PI, TAU]"), {
        Value::Array(vec![
            Value::Fixed(metatopia_math::Fx::PI),
            Value::Fixed(metatopia_math::Fx::TAU),
        ])
    });
}

#[test]
fn vectors_have_their_operators() {
    let vector = |x, y| Value::Vec2(point(x, y));
    assert_eq!(value("vec2(1, 2) + vec2(0.5, 0)"), vector("1.5", "2"));
    assert_eq!(value("vec2(1, 2) - vec2(0.5, 0)"), vector("0.5", "2"));
    assert_eq!(value("-vec2(1, 2) * 2"), vector("-2", "-4"));
    assert_eq!(value("0.5 * vec2(1, 2) / 2"), vector("0.25", "0.5"));
    assert_eq!(value("vec2(3, 4).length()"), fixed("5"));
    assert_eq!(value("vec2(0, 5).normalize()"), vector("0", "1"));
    assert_eq!(value("vec2(0, 0).normalize()"), vector("0", "0"));
    assert_eq!(value("dist(vec2(1, 1), vec2(4, 5))"), fixed("5"));
    assert_eq!(value("dot(vec2(1, 2), vec2(3, 4))"), fixed("11"));
    assert_eq!(
        value("vec2(1, 2).rotate(PI / 2).x"),
        Value::Fixed({
            let quarter = fx("3.1415926536").checked_div(fx("2")).unwrap();
            assert!(quarter > fx("1.57"));
            let half_turn = metatopia_math::Fx::PI.checked_div(fx("2")).unwrap();
            point("1", "2").rotate(metatopia_math::Angle::from_radians(half_turn)).x
        })
    );
    assert_eq!(value("direction(0)"), vector("1", "0"));
    assert_eq!(value("vec2(1, 2) == vec2(1, 2) && vec2(1, 2) != vec2(2, 1)"), Value::Bool(true));
}

#[test]
fn coordinates_can_be_written() {
    let part = start("let v = vec2(1, 2); v.x = 7; v.y += 0.5; state.v = v;").unwrap();
    assert_eq!(part.state.unwrap().0["v"], Value::Vec2(point("7", "2.5")));
}

#[test]
fn strings_count_characters() {
    assert_eq!(value("\"gr\\u00fcn\".len()"), Value::Int(4));
    assert_eq!(value("\"gr\\u00fcn\".index_of(\"n\")"), Value::Int(3));
    assert_eq!(value("\"gr\\u00fcn\".sub(2, 9)"), text("\u{fc}n"));
    assert_eq!(value("\"Door \" + 1 + ' ' + 2.50 + true"), text("Door 1 2.5true"));
    assert_eq!(value("1.5 + \" m\""), text("1.5 m"));
    assert_eq!(value("`${vec2(1, 0.25)} ${[1, \"a\"]} ${#{b: ()}}`"), {
        text("(1.0, 0.25) [1, \"a\"] #{b: ()}")
    });
    assert_eq!(value("\" Hi There \".trim().lower().split(\" \")"), {
        Value::Array(vec![text("hi"), text("there")])
    });
    assert_eq!(value("\"open sesame\".starts_with(\"open\") && \"a\" in \"bab\""), {
        Value::Bool(true)
    });
    assert_eq!(value("[to_int(\" 12 \"), to_int(\"x\") ?? -1]"), {
        Value::Array(vec![Value::Int(12), Value::Int(-1)])
    });
}

#[test]
fn arrays_and_maps_work_in_place() {
    let part = start(
        "let a = [3, 1.5, 2]; a.push(0); a.sort(); a.insert(1, 9); a.remove(0);
         a[0] += 1; state.a = a; state.has = 1.5 in a; state.at = a.index_of(2);
         let m = #{b: 1, a: 2}; m.c = 3; m[\"d\"] = 4; m.remove(\"b\");
         state.keys = m.keys(); state.sum = 0;
         for v in m.values() { state.sum += v; }
         for (v, i) in a { state.sum += i; }
         for i in 1..=3 { state.sum += i * 100; }
         state.same = [1, [2.0]] == [1.0, [2]]; state.other = #{a: 1} != #{a: 1};
         state.in_range = 3 in 1..3 || 3 in 1..=3;",
    );
    let state = part.unwrap().state.unwrap().0;
    assert_eq!(
        state["a"],
        Value::Array(vec![Value::Int(10), fixed("1.5"), Value::Int(2), Value::Int(3)])
    );
    assert_eq!(state["has"], Value::Bool(true));
    assert_eq!(state["at"], Value::Int(2));
    assert_eq!(state["keys"], Value::Array(["a", "c", "d"].map(text).into()));
    assert_eq!(state["sum"], Value::Int(2 + 3 + 4 + 6 + 600));
    assert_eq!(state["same"], Value::Bool(true));
    assert_eq!(state["other"], Value::Bool(false));
    assert_eq!(state["in_range"], Value::Bool(true));
}

#[test]
fn wrong_types_and_places_are_errors_with_their_kind() {
    for (expression, kind) in [
        ("1 + true", ErrorKind::Type),
        ("vec2(1, \"a\")", ErrorKind::Type),
        ("\"a\" * 2", ErrorKind::Type),
        ("[1, 2][2]", ErrorKind::Bounds),
        ("\"ab\"[7]", ErrorKind::Bounds),
        ("[1].remove(1)", ErrorKind::Bounds),
        ("[vec2(1, 2)][0].z", ErrorKind::Unknown),
        ("{ throw \"no\"; 1 }", ErrorKind::Thrown),
        ("{ let a = [1, \"b\"]; a.sort(); a }", ErrorKind::Type),
        ("clamp(1, 3, 2)", ErrorKind::Argument),
        ("{ let c = 1; if c { 2 } }", ErrorKind::Type),
    ] {
        let error = error(expression);
        assert_eq!(error.kind, kind, "{expression}: {error}");
        assert_eq!(error.report.line, 2, "{expression}: {error}");
    }
}

#[test]
fn kinds_have_the_names_of_the_reference() {
    let names = value(
        "[type_of(1), type_of(1.5), type_of(\"\"), type_of(true), type_of(()),
        type_of(vec2(0, 0)), type_of(self_), type_of([]), type_of(#{}), type_of(1..2),
        type_of(state)]",
    );
    let expected = [
        "int", "fixed", "string", "bool", "()", "vec2", "object", "array", "map", "range", "state",
    ];
    assert_eq!(names, Value::Array(expected.map(text).into()));
}
