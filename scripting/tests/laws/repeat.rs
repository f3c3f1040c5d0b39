//! The same call gives the same part: again, on another thread, on a small stack.

use std::{sync::Arc, thread};

use metatopia_scripting::{
    Call, ErrorKind, Event, Handler, ObjectWrites, ScriptError, ScriptOutput, ScriptProgram,
    ScriptState, WorldView,
    limits::{CALL_DEPTH_MAX, GAS_PER_CALL_MAX},
};
use metatopia_types::{Digest, ObjectId, ScriptId, Tick};

use crate::stage::{ME, handler, run_in, start, world};

/// Uses random numbers, the world, strings, arrays, maps, closures and every kind of effect.
const BUSY: &str = "
    const NAMES = [\"a\", \"b\", \"c\"];
    fn pick(list) { list[random(0, list.len() - 1)] }
    fn on_start() {
        let seen = #{};
        for other in nearby(50) {
            seen[other.name] = dist(other.pos, self_.pos) + random();
            send(other, pick(NAMES), [other.origin, seen, other.pos.normalize()]);
        }
        state.seen = seen;
        state.dice = [1, 2, 3].map(|n| random(n, 6)).filter(|n| n > 0);
        self_.velocity = direction(random(0, TAU)) * 2;
        self_.text = `${seen.keys()} ${now()}`;
        impulse(vec2(random(), 1));
        try { throw random(1, 9); } catch (seconds) { timer(pick(NAMES), seconds); }
        say(\"hi \" + state.dice);
        log(state.dice);
    }";

/// Runs on a thread with a stack of so many KiB.
fn on_stack<T: Send>(kib: usize, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(kib * 1_024).spawn_scoped(scope, work);
        thread.unwrap().join().unwrap()
    })
}

fn busy() -> Result<ScriptOutput, ScriptError> {
    run_in(world(), &handler(BUSY), &Event::Start, ScriptState::default())
}

#[test]
fn a_call_twice_gives_the_same_part() {
    let part = busy().unwrap();

    assert_eq!(part.effects.len(), 3 + 3);
    assert_eq!(busy().unwrap(), part);
    assert_eq!(on_stack(512, busy).unwrap(), part);
    assert_eq!(on_stack(8_192, busy).unwrap(), part);
}

#[test]
fn parts_are_these_very_bits() {
    let part = busy().unwrap();
    let digest = Digest::of("test of a part", &metatopia_types::wire::encode(&part));
    assert_eq!(
        digest.to_string(),
        "8ab6223c7e8b909c99099f7dfe35c14101bd51d80bf5176f64b758e719731373",
        "{part:?}"
    );
}

#[test]
fn one_handler_serves_many_threads() {
    let handler = handler(BUSY);
    let expected = busy().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let part = run_in(world(), &handler, &Event::Start, ScriptState::default());
                    assert_eq!(part.unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn random_numbers_depend_on_turn_tick_script_and_call() {
    let handler = handler("fn on_start() { state.x = random(0, 1000000000); }");
    let draw = |seed, tick, script, index| {
        let mut world = world();
        world.seed = Digest([seed; 32]);
        world.tick = Tick(tick);
        let view: Arc<dyn WorldView> = Arc::new(world);
        let (state, own) = (Arc::new(ScriptState::default()), ObjectWrites::default());
        let part = handler.call(&Call {
            view: &view,
            script: ScriptId(script),
            object: ME,
            index,
            event: &Event::Start,
            state: &state,
            own: &own,
            gas: GAS_PER_CALL_MAX,
        });
        part.unwrap().state.unwrap().0["x"].clone()
    };

    let first = draw(1, 1, 1, 0);

    assert_eq!(draw(1, 1, 1, 0), first);
    assert_ne!(draw(2, 1, 1, 0), first);
    assert_ne!(draw(1, 2, 1, 0), first);
    assert_ne!(draw(1, 1, 2, 0), first);
    assert_ne!(draw(1, 1, 1, 1), first);
}

/// Recursion as deep as allowed, inside of `open`..`close` as often as allowed.
fn deepest(open: &str, close: &str) -> String {
    let source = |times: usize| {
        let (open, close) = (open.repeat(times), close.repeat(times));
        format!("fn f(n) {{ {open}f(n + 1){close} }}\nfn on_start() {{ f(0); }}")
    };
    let mut times = 40;
    while ScriptProgram::compile(&source(times)).is_err() {
        times -= 1;
    }
    assert!(times >= 2, "{open}: {times}");
    source(times)
}

#[test]
fn the_deepest_scripts_fail_alike_on_small_and_large_stacks() {
    for (open, close) in [
        ("[", "]"),
        ("abs(", ")"),
        ("if true { ", " }"),
        ("for i in 0..1 { ", " }"),
        ("while true { ", " }"),
        ("try { ", " } catch { 1 }"),
        ("switch 1 { 1 => ", " }"),
        ("[", "][0]"),
        ("(1).max(", ")"),
        ("true && (", ")"),
        ("() ?? (", ")"),
        ("`${", "}`"),
        ("1 + (", ")"),
        ("#{a: ", "}.a"),
        ("{ let a = ", "; a }"),
        ("[1, 2][", "]"),
        ("[1].map(|x| ", ")"),
        ("[1].reduce(|x, y| ", ", 0)"),
        ("[2, 1].sort(|x, y| ", ")"),
    ] {
        let source = deepest(open, close);
        // Compiling recurses as well: on the same stack.
        let run = || run_in(world(), &handler(&source), &Event::Start, ScriptState::default());

        let small = on_stack(1_024, run).expect_err(open);

        assert_eq!(small.kind, ErrorKind::Depth, "{open}: {small}");
        assert_eq!(on_stack(8_192, run).expect_err(open), small);
    }
}

#[test]
fn callbacks_in_callbacks_count_as_calls() {
    // The handler, then a function and a closure in turn.
    let nested = |times: usize| {
        let source = format!(
            "fn f(n) {{ if n > 1 {{ [n].map(|x| f(x - 1)) }} }} fn on_start() {{ f({times}); }}"
        );
        run_in(world(), &handler(&source), &Event::Start, ScriptState::default())
    };
    assert!(nested(CALL_DEPTH_MAX / 2).is_ok());
    assert_eq!(nested(CALL_DEPTH_MAX / 2 + 1).unwrap_err().kind, ErrorKind::Depth);
}

#[test]
fn a_panic_is_a_failed_call_like_any_other() {
    let cursed = || {
        let mut world = world();
        world.cursed = Some(ObjectId(2));
        let handler = handler("fn on_start() { say(\"a\"); log(\"b\"); nearby(9)[0].name }");
        run_in(world, &handler, &Event::Start, ScriptState::default())
    };

    let error = cursed().unwrap_err();

    assert_eq!(error.kind, ErrorKind::Panic);
    assert_eq!(error.report.message, "object 2 is cursed");
    assert_eq!(error.report.log, ["b"]);
    assert!(error.gas > 0);
    assert_eq!(cursed().unwrap_err(), error);
    // The thread is as good as before.
    assert!(start("say(\"c\");").is_ok());
}
