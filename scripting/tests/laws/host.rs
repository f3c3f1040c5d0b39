//! What scripts read of the world, write to themselves, and queue for others.

use std::sync::Arc;

use metatopia_math::{Angle, Fx, Vec2};
use metatopia_scripting::{
    Call, ErrorKind, Event, Handler, ObjectWrites, Package, ScriptEffect, ScriptError,
    ScriptHandler, ScriptOutput, ScriptState, Value, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{ObjectId, ScriptId, Tick};

use crate::stage::{ME, draft, error, fx, handler, origin, point, run_in, start, value, world};

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn nearby_is_ordered_by_distance_and_has_no_self() {
    assert_eq!(value("nearby(5)"), {
        Value::Array([2, 3].map(|id| Value::Object(ObjectId(id))).into())
    });
    assert_eq!(value("nearby(3.5).len()"), Value::Int(1));
    assert_eq!(value("nearby(2.9)"), Value::Array(vec![]));
    assert_eq!(value("nearby(64).len()"), Value::Int(3));
}

#[test]
fn a_ray_tells_the_first_other_object_on_its_way() {
    let met = |call: &str| match value(call) {
        Value::Map(fields) => fields,
        other => panic!("{call} gives {other:?}"),
    };
    let fields = met("ray(self_.pos, vec2(6, 0))");
    assert_eq!(fields["object"], Value::Object(ObjectId(2)));
    assert_eq!(fields["pos"], Value::Vec2(point("3", "0")));
    assert_eq!(fields["distance"], Value::Fixed(fx("3")));
    assert_eq!(met("ray(vec2(0, 8), vec2(0, -8))")["object"], Value::Object(ObjectId(3)));
    assert_eq!(value("ray(vec2(1, 1), vec2(6, 1))"), Value::Unit);
}

#[test]
fn handles_show_their_objects() {
    assert_eq!(value("nearby(5)[1].name"), text("Ada"));
    assert_eq!(value("nearby(5)[1].kind"), text("avatar"));
    assert_eq!(value("nearby(5)[0].pos"), Value::Vec2(point("3", "0")));
    assert_eq!(value("nearby(5)[0].velocity.length()"), Value::Fixed(Fx::ZERO));
    assert_eq!(value("nearby(5)[0].origin"), text(&origin(2).to_string()));
    assert_eq!(value("self_.origin"), text(&origin(1).to_string()));
    assert_eq!(value("self_.color"), Value::Int(0x80_80_80));
    assert_eq!(value("nearby(5)[0] == nearby(4)[0] && nearby(5)[0] != self_"), Value::Bool(true));
    assert_eq!(value("now()"), Value::Fixed(fx("1.5")));
}

#[test]
fn scripts_hold_objects_without_seeing_a_number() {
    for no_property in ["id", "number"] {
        let source = format!("fn on_start() {{ let n = self_.{no_property}; }}");
        let refused = ScriptHandler::new(&Package::build(draft(&source)).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("objects have no property"), "{refused}");
    }
    for no_number in ["self_ + 1", "self_ < nearby(5)[0]", "-self_", "to_int(self_)"] {
        let error = start(&format!("let n = {no_number};")).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Type, "{no_number}: {error}");
    }
    // Whatever becomes of a handle that is printed, no digit is in it.
    for printed in ["self_.to_string()", "\"\" + self_", "`${self_}`"] {
        assert_eq!(value(printed), text("object"), "{printed}");
    }
    assert_eq!(value("`${[self_, #{a: nearby(5)[0]}]}`"), text("[object, #{a: object}]"));
    assert_eq!(start("log(self_);").unwrap().log, ["object"]);
}

#[test]
fn handles_are_compared_and_kept_in_state_in_lists_and_in_maps() {
    let part = start(
        "let near = nearby(5); state.first = near[0]; state.all = near; state.by = #{ada: near[1]};
         state.same = state.first == near[0] && state.all[1] == state.by.ada
             && near[0] in state.all && self_ != near[0] && !(self_ in near);",
    )
    .unwrap();
    let state = part.state.unwrap().0;
    let [first, ada] = [2, 3].map(|number| Value::Object(ObjectId(number)));
    assert_eq!(state["same"], Value::Bool(true));
    assert_eq!((&state["first"], &state["all"]), (&first, &Value::Array(vec![first.clone(), ada])));
}

#[test]
fn simulated_time_stays_at_its_end() {
    let mut world = world();
    world.tick = Tick(61);
    assert_eq!(world.time(), Fx::from_bits((1 << 32) + (1 << 32) / 60));
    world.tick = Tick(u64::MAX);
    assert_eq!(world.time().floor_int(), i64::from(i32::MAX));
}

#[test]
fn own_writes_are_seen_at_once_and_returned() {
    let part = start(
        "self_.pos = vec2(1, 2); self_.pos.y += 0.5; self_.velocity = vec2(0, 1);
         self_.angle = PI; self_.spin = 2; self_.color = 0xFF8000; self_.text = \"ding\";
         self_.sensor = !self_.sensor; if !self_.sensor { throw 1; }
         state.seen = [self_.pos, self_.spin, self_.color, self_.text];
         state.angle = self_.angle == PI;",
    )
    .unwrap();
    let expected = ObjectWrites {
        pos: Some(point("1", "2.5")),
        velocity: Some(point("0", "1")),
        angle: Some(Angle::HALF),
        spin: Some(fx("2")),
        color: Some(0xFF_80_00),
        text: Some("ding".into()),
        sensor: Some(true),
    };
    assert_eq!(part.own, expected);
    let state = part.state.unwrap().0;
    assert_eq!(state["angle"], Value::Bool(true));
    assert_eq!(state["seen"], {
        Value::Array(vec![
            Value::Vec2(point("1", "2.5")),
            Value::Fixed(fx("2")),
            Value::Int(0xFF_80_00),
            text("ding"),
        ])
    });
}

#[test]
fn reading_or_writing_the_same_is_no_write() {
    let part = start(
        "let x = self_.pos.x; let l = self_.pos.length(); self_.pos = self_.pos; self_.text = \"\";
         self_.sensor = false;
         self_.name.len(); state.none = (); let y = state.none ?? 1;",
    );
    assert_eq!(part.map(|part| (part.own, part.state)), Ok((ObjectWrites::default(), None)));
}

#[test]
fn earlier_writes_of_the_tick_are_seen() {
    let handler = handler("fn on_start() { state.pos = self_.pos; self_.pos.x += 1; }");
    let view: Arc<dyn WorldView> = Arc::new(world());
    let (state, own) = (
        Arc::new(ScriptState::default()),
        ObjectWrites { pos: Some(point("7", "8")), ..ObjectWrites::default() },
    );
    let part = handler.call(&Call {
        view: &view,
        script: ScriptId(1),
        object: ME,
        index: 1,
        event: &Event::Start,
        state: &state,
        own: &own,
        gas: GAS_PER_CALL_MAX,
    });
    let part = part.unwrap();
    assert_eq!(part.state.unwrap().0["pos"], Value::Vec2(point("7", "8")));
    assert_eq!(part.own.pos, Some(point("8", "8")));
    // Nothing keeps the world once the call is over.
    assert_eq!(Arc::strong_count(&view), 1);
}

#[test]
fn other_objects_cannot_be_written() {
    for (statement, words) in [
        ("let o = nearby(5)[0]; o.pos = vec2(1, 1);", "another object"),
        ("self_.name = \"x\";", "name cannot be written"),
        ("self_.origin += 1;", "origin cannot be written"),
    ] {
        let error = start(statement).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Argument, "{statement}: {error}");
        assert!(error.report.message.contains(words), "{statement}: {error}");
    }
    assert_eq!(start("self_.pos = 1;").unwrap_err().kind, ErrorKind::Type);
}

#[test]
fn effects_come_in_the_order_of_the_calls() {
    let part = start(
        "say(\"hi\"); send(nearby(5)[0], \"knock\", #{n: 1}); impulse(vec2(0, 1));
         push(nearby(5)[0], vec2(-1, 0.5)); timer(\"ring\", 0.5); timer(\"now\", 0);
         timer(\"odd\", 0.01); cancel(\"ring\"); self_.send(\"own\", ());",
    );
    let expected = vec![
        ScriptEffect::Say { text: "hi".into() },
        ScriptEffect::Send {
            to: ObjectId(2),
            topic: "knock".into(),
            data: Value::Map([("n".into(), Value::Int(1))].into()),
        },
        ScriptEffect::Push { object: ME, impulse: point("0", "1") },
        ScriptEffect::Push { object: ObjectId(2), impulse: point("-1", "0.5") },
        ScriptEffect::Timer { name: "ring".into(), ticks: 30 },
        ScriptEffect::Timer { name: "now".into(), ticks: 1 },
        ScriptEffect::Timer { name: "odd".into(), ticks: 1 },
        ScriptEffect::Cancel { name: "ring".into() },
        ScriptEffect::Send { to: ME, topic: "own".into(), data: Value::Unit },
    ];
    assert_eq!(part.unwrap().effects, expected);
}

#[test]
fn a_gone_object_is_an_error_that_can_be_asked_for() {
    let mut small = world();
    small.things.truncate(1);
    let gone = |statement: &str| {
        let source = format!("fn on_message(from) {{ {statement} }}");
        let event = Event::Message { from: ObjectId(2), topic: "t".into(), data: Value::Unit };
        let mut small = world();
        small.things.truncate(1);
        run_in(small, &handler(&source), &event, ScriptState::default())
    };
    assert_eq!(gone("from.pos").unwrap_err().kind, ErrorKind::Gone);
    assert_eq!(gone("push(from, vec2(1, 0));").unwrap_err().kind, ErrorKind::Gone);
    assert!(gone("send(from, \"t\", 1);").is_ok());
    let part = gone("state.on = flag(\"fair\");").unwrap();
    assert_eq!(part.state.unwrap().0["on"], Value::Bool(false), "nobody agreed on flags");
    assert_eq!(gone("flag(1)").unwrap_err().kind, ErrorKind::Type);
    let part = gone("state.there = exists(from); state.here = exists(self_);").unwrap();
    let state = part.state.unwrap().0;
    assert_eq!((&state["there"], &state["here"]), (&Value::Bool(false), &Value::Bool(true)));
    let part = gone("state.there = presence(from); state.here = presence(self_);").unwrap();
    let state = part.state.unwrap().0;
    let words = ["there", "here"].map(|name| state[name].clone());
    assert_eq!(words, ["gone", "here"].map(|word| Value::Text(word.into())));
}

#[test]
fn every_event_reaches_its_handler() {
    let source = "
        fn on_start() { log(\"start\"); }
        fn on_tick(dt) { log(dt); }
        fn on_touch(other, at, impulse) { log(`${other.name} ${at} ${impulse}`); }
        fn on_chat(from, text) { log(`${from.name}: ${text}`); }
        fn on_message(from, topic, data) { log(`${from.name} ${topic} ${data}`); }
        fn on_timer(name) { log(name); }
        fn on_undelivered(to, topic, why) { log(`${to.name} ${topic} ${why}`); }";
    let handler = handler(source);
    let log = |event| run_in(world(), &handler, &event, ScriptState::default()).unwrap().log;
    let other = ObjectId(3);
    assert_eq!(log(Event::Start), ["start"]);
    assert_eq!(log(Event::Tick { dt: fx("0.25") }), ["0.25"]);
    let touch = Event::Touch { other, at: point("1", "0"), impulse: fx("2") };
    assert_eq!(log(touch), ["Ada (1.0, 0.0) 2.0"]);
    assert_eq!(log(Event::Chat { from: other, text: "hi".into() }), ["Ada: hi"]);
    let data = Value::Array(vec![Value::Int(1)]);
    assert_eq!(log(Event::Message { from: other, topic: "t".into(), data }), ["Ada t [1]"]);
    assert_eq!(log(Event::Timer { name: "ring".into() }), ["ring"]);
    let undelivered = Event::Undelivered { to: other, topic: "t".into(), why: "away".into() };
    assert_eq!(log(undelivered), ["Ada t away"]);
}

#[test]
fn an_event_without_a_handler_changes_nothing_and_costs_nothing() {
    let handler = handler("fn on_tick() {}");
    assert!(!handler.handles(Event::Start.kind()));
    let part = run_in(world(), &handler, &Event::Start, ScriptState::default());
    assert_eq!(part, Ok(ScriptOutput::default()));
}

#[test]
fn state_is_kept_between_calls() {
    let handler = handler(
        "fn on_start() {
            state.count = (state.count ?? 0) + 1;
            state.list = state.list ?? [];
            state.list.push(state.count);
            state[\"last\"] = self_;
            if state.count == 3 { state.list = (); }
        }",
    );
    let mut state = ScriptState::default();
    for round in 1..=3 {
        let part = run_in(world(), &handler, &Event::Start, state).unwrap();
        state = part.state.unwrap();
        assert_eq!(state.0["count"], Value::Int(round));
        assert_eq!(state.0["last"], Value::Object(ME));
    }
    assert!(!state.0.contains_key("list"));
}

/// An author asks so for a name in a map, and was told that nothing takes a state.
#[test]
fn a_script_asks_for_a_variable_of_its_state_as_for_a_name_in_a_map() {
    let part = start(
        "state.n = 0; state.gone = 1; state.gone = ();
         state.seen = [\"n\" in state, \"gone\" in state, state.contains(\"m\")];",
    );
    let state = part.unwrap().state.unwrap();
    assert_eq!(state.0["seen"].to_string(), "[true, false, false]");
}

#[test]
fn inner_parts_of_the_state_can_be_written() {
    let part = start(
        "state.m = #{list: []}; state.m.list.push(1); state.m.n = #{}; state.m.n.deep = 2;
         state.m.list[0] += 4; state.v = vec2(1, 2); state.v.x = 9; state.m.list.len();",
    );
    let state = part.unwrap().state.unwrap();
    assert_eq!(state.0["m"].to_string(), "#{list: [5], n: #{deep: 2}}");
    assert_eq!(state.0["v"], Value::Vec2(point("9", "2")));
}

#[test]
fn constants_cannot_be_changed() {
    for statement in ["K.push(1);", "K[0] = 1;", "V.x = 1;"] {
        let source = format!(
            "const K = [0]; const V = vec2(0, 0); fn on_start() {{ {statement} log(K); log(V); }}"
        );
        let refused = ScriptHandler::new(&Package::build(draft(&source)).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("is a constant: copy it with let"), "{refused}");
    }
}

#[test]
fn a_failing_call_says_where_and_keeps_its_log() {
    let source = "// A bell.\nfn ring(times) {\n    log(`ring ${times}`);\n    10 / times\n}\n\
                  fn on_start() {\n    say(\"lost\");\n    let x = ring(1);\n    ring(0);\n}\n";
    let error =
        run_in(world(), &handler(source), &Event::Start, ScriptState::default()).unwrap_err();
    let ScriptError { kind, gas, report } = error.clone();
    assert_eq!(kind, ErrorKind::Arithmetic);
    assert!(gas > 40);
    assert_eq!((report.file.as_str(), report.line, report.column), ("main.rhai", 4, 8));
    assert_eq!(report.trace, ["ring, called at 9:5"]);
    assert_eq!(report.log, ["ring 1", "ring 0"]);
    let words = error.to_string().to_lowercase();
    assert!(words.starts_with("main.rhai:4:8: arithmetic: "), "{words}");
    assert!(words.contains("division by zero"), "{words}");
}

#[test]
fn what_a_script_throws_is_reported_as_it_prints() {
    let error = error("{ throw [1, \"two\"]; }");
    assert_eq!((error.kind, error.report.message.as_str()), (ErrorKind::Thrown, "[1, \"two\"]"));
}

#[test]
fn merging_writes_keeps_the_later_of_each_field() {
    let mut own =
        ObjectWrites { spin: Some(Fx::ONE), pos: Some(Vec2::X), ..ObjectWrites::default() };
    own.merge(ObjectWrites { pos: Some(Vec2::Y), color: Some(1), ..ObjectWrites::default() });
    let expected = ObjectWrites {
        spin: Some(Fx::ONE),
        pos: Some(Vec2::Y),
        color: Some(1),
        ..ObjectWrites::default()
    };
    assert_eq!(own, expected);
}
