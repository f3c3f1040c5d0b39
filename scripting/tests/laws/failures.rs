//! What fails whenever it runs is told to authors, and nothing else is; programs with it run all the same.

use metatopia_scripting::{
    ErrorKind, EventKind, Handler as _, check,
    host::{FUNCTIONS, PROPERTIES, ValueKind},
};

use crate::{
    checks::{call_of, sample},
    stage::{handler, start},
};

const KINDS: [ValueKind; 12] = [
    ValueKind::Unit,
    ValueKind::Bool,
    ValueKind::Int,
    ValueKind::Fixed,
    ValueKind::Text,
    ValueKind::Vec2,
    ValueKind::Object,
    ValueKind::Array,
    ValueKind::Map,
    ValueKind::Range,
    ValueKind::Function,
    ValueKind::State,
];

/// Holds what an author is told of a statement against what happens when it runs.
fn judge(statement: &str) -> (bool, bool) {
    let told = check(&format!("fn on_start() {{ {statement} }}"));
    let failed = start(statement).err();
    assert!(
        told.is_empty() || failed.is_some(),
        "{statement} runs well, and its author is told {told:?}"
    );
    let is_type = failed.as_ref().is_some_and(|error| error.kind == ErrorKind::Type);
    assert!(!is_type || !told.is_empty(), "{statement} fails, and nobody was told: {failed:?}");
    (!told.is_empty(), failed.is_some())
}

#[test]
fn an_argument_of_a_wrong_kind_is_told_exactly_where_the_call_fails() {
    let (mut told, mut well) = (0, 0);
    for function in FUNCTIONS {
        for place in 0..function.arguments.len() {
            for kind in KINDS {
                let arguments = function.arguments.iter().enumerate();
                let written = arguments.map(|(at, (name, usual))| {
                    // What a closure gives shows only when it runs: this one gives what a test should.
                    let is_test = *name == "value" && kind == ValueKind::Function;
                    let name = if is_test { "test" } else { *name };
                    sample(name, if at == place { kind } else { *usual })
                });
                let call = call_of(function.name, &written.collect::<Vec<_>>());
                let (is_told, fails) = judge(&format!("let x = {call};"));
                told += u32::from(is_told);
                well += u32::from(!fails);
            }
        }
    }
    println!("{told} calls were told to their authors, {well} ran well");
    assert!(told > 1_000 && well > 200, "{told} told, {well} well");
}

#[test]
fn a_value_that_a_property_never_holds_is_told_exactly_where_the_assignment_fails() {
    for property in PROPERTIES {
        let of = if property.of == ValueKind::Vec2 { "self_.pos" } else { "self_" };
        for kind in KINDS {
            let statement = format!("{of}.{} = {};", property.name, sample("", kind));
            if property.is_writable() {
                judge(&statement);
            } else {
                // It fails unless the property holds that value anyway.
                let told = check(&format!("fn on_start() {{ {statement} }}"));
                assert!(told[0].message.ends_with("cannot be written"), "{statement}: {told:?}");
            }
        }
    }
}

/// A sign before a number is the language's own, and in no table; what may be nothing is a field left out.
#[test]
fn what_runs_well_is_told_to_nobody() {
    for statement in [
        "let n = 1; let m = +n; log(+self_.angle + +m);",
        "spawn(#{text: self_.player?.len()});",
        "let all = [1]; all += [2]; self_.text += \"more\"; self_.angle += 1;",
        "let n = 1; n = \"a\"; say(n); { let n = vec2(1, 2); n.x = 3; }",
        "let say_it = |word| say(word); say_it(\"a\");",
    ] {
        assert_eq!(judge(statement), (false, false), "{statement}");
    }
    // One mistake is told once.
    for statement in ["let x = -\"a\" - 1;", "self_.name += \"x\";"] {
        let told = check(&format!("fn on_start() {{ {statement} }}"));
        assert_eq!(told.len(), 1, "{statement}: {told:?}");
    }
}

#[test]
fn words_numbers_and_fields_that_are_refused_are_told_with_their_place_and_a_suggestion() {
    for (statement, told) in [
        ("sound(\"bel\");", "there is no sound \"bel\": did you mean bell?"),
        ("sound(\"bell\", -25);", "a sound is at most 24 semitones higher or lower"),
        ("self_.color = 0x1000000;", "a color is 0 to 0xFFFFFF, as 0xRRGGBB"),
        ("spawn(#{colour: 1});", "a spawned thing has no field colour: did you mean color?"),
        ("spawn(#{color: -1});", "a color is 0 to 0xFFFFFF, as 0xRRGGBB"),
        ("spawn(#{radius: \"1\"});", "radius takes a number, not a string"),
        ("spawn(#{parts: [#{radios: 1}]});", "a part has no field radios: did you mean radius?"),
        ("spawn(#{friction_rule: \"mox\"});", "friction_rule is one of"),
        ("self_.name = \"a\";", "name cannot be written"),
        ("self_.text = 5;", "text takes a string, not an int"),
        ("let n = 1; timer(n, \"a\");", "timer does not take (int, string): timer(name: string"),
        ("let all = nearby(5); push(self_, all);", "push does not take (object, array)"),
        ("let x = vec2(1, 2) - 1;", "- does not take (vec2, int)"),
    ] {
        assert!(judge(statement).0, "{statement}");
        let found = check(&format!("fn on_start() {{\n {statement}\n}}"));
        assert!(
            found.len() == 1 && found[0].line == 2 && found[0].message.starts_with(told),
            "{statement}: {found:?}"
        );
    }
    // Whom these are for is known only when they run.
    for (statement, told) in [
        ("ask(who, \"moove\")", "there is no permission \"moove\": did you mean move?"),
        ("who.ask(\"moove\")", "there is no permission \"moove\": did you mean move?"),
        ("dress(who, 0x1000000)", "a color is 0 to 0xFFFFFF"),
        ("ui(who, #{titel: \"a\"})", "a form has no field titel: did you mean title?"),
        ("offer(who, #{give: 1})", "give takes an object, not an int"),
    ] {
        let found = check(&format!("fn on_touch(who) {{ {statement} }}"));
        assert!(found.len() == 1 && found[0].message.starts_with(told), "{statement}: {found:?}");
    }
}

/// No event came to such a function, and nobody heard of it.
#[test]
fn a_function_that_is_a_handler_but_for_how_its_name_is_written_is_told() {
    for (source, told) in [
        ("fn onTouch(who) { say(\"a\"); }", "1:4: nothing calls onTouch: did you mean on_touch?"),
        ("\nfn touch(who) {}", "2:4: nothing calls touch: did you mean on_touch?"),
        ("fn on_start() {} fn OnTick() {}", "1:21: nothing calls OnTick: did you mean on_tick?"),
        (
            "fn on_start() {}\nfn ontick(a, b) {}",
            "2:4: nothing calls ontick: did you mean on_tick?",
        ),
        ("fn on_start() {}\nfn tick() {}", "2:4: nothing calls tick: did you mean on_tick?"),
        ("fn hitBeyond(what) {}", "1:4: nothing calls hitBeyond: did you mean on_hit_beyond?"),
        ("fn on_HitBeyond(what) {}", "1:4: there is no event for on_HitBeyond: did you mean"),
    ] {
        let found = check(source);
        assert!(found.len() == 1 && found[0].to_string().starts_with(told), "{source}: {found:?}");
    }
    // A program that was published before this was looked at runs as it did.
    let old = handler("fn on_start() {}\nfn onTouch(who) {}\n");
    assert!(old.handles(EventKind::Start) && !old.handles(EventKind::Touch));
}

#[test]
fn a_function_that_is_called_or_waits_for_the_calls_of_others_may_have_any_name() {
    for source in [
        "fn on_start() { touch(1); }\nfn touch(who) {}",
        "fn on_start() { onTouch(self_); let f = |x| tick(x); }\nfn onTouch(it) {}\nfn tick(dt) {}",
        "fn on_start() {}\nfn hit(ball, wall, speed) { 1 }\nfn touched() {}",
        "fn start(game) { game }\nfn best(game) { game }",
    ] {
        assert_eq!(check(source), [], "{source}");
    }
}
