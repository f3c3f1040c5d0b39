//! Limits of what a program may be, and of what one call of it may use.

use metatopia_scripting::{
    ErrorKind, Event, Handler, ScriptHandler, ScriptProgram, ScriptState, limits::*,
};

use crate::stage::{handler, run_in, start, world};

/// The statements fail like this.
fn kind(statements: &str) -> ErrorKind {
    let short = &statements[..statements.len().min(200)];
    start(statements).map_err(|error| error.kind).expect_err(short)
}

fn first(source: &str) -> String {
    let found = ScriptProgram::compile(source).err().unwrap_or_default();
    found.first().map_or_else(|| "none".into(), ToString::to_string)
}

#[test]
fn gas_per_call() {
    let error = start("let i = 0; while true { i += 1; }").unwrap_err();
    assert_eq!((error.kind, error.gas), (ErrorKind::Gas, GAS_PER_CALL_MAX));
    assert_eq!(error.report.line, 2);
    let part = start("let i = 0; while i < 1000 { i += 1; }").unwrap();
    assert!(part.gas > GAS_PER_CALL_MIN && part.gas < GAS_PER_CALL_MAX, "{}", part.gas);
}

#[test]
fn gas_is_counted_in_hundreds_of_nanoseconds() {
    assert_eq!(NANOSECONDS_PER_GAS, 100);
    let empty = start("").unwrap().gas;
    assert!((GAS_PER_CALL_MIN..GAS_PER_CALL_MIN + 3).contains(&empty), "{empty}");
}

#[test]
fn bytes_of_one_call() {
    // Each round makes an array of 100 values, and keeps none.
    let rounds = |count: usize| {
        format!(
            "let a = []; for i in 0..100 {{ a.push(i); }} for i in 0..{count} {{ let b = a; b[0] = 1; }}"
        )
    };
    let each = (CONTAINER_BYTES + 100 * VALUE_BYTES) as usize;
    let most = CALL_BYTES_MAX as usize / each;
    assert!(start(&rounds(most - 4)).is_ok());
    assert_eq!(kind(&rounds(most + 1)), ErrorKind::Memory);
}

#[test]
fn bytes_of_one_value() {
    // What is shared counts as often as it is in a value.
    let lists = |count: usize| {
        format!(
            "let a = []; for i in 0..500 {{ a.push(i); }} let b = []; for i in 0..{count} {{ b.push(a); }}"
        )
    };
    let each = VALUE_BYTES + CONTAINER_BYTES + 500 * VALUE_BYTES;
    let most = usize::try_from(DATUM_BYTES_MAX / each).unwrap();
    assert!(start(&lists(most)).is_ok());
    assert_eq!(kind(&lists(most + 1)), ErrorKind::Memory);
}

#[test]
fn a_text_counts_beside_its_letters() {
    let lists = |count: usize| {
        format!(
            "let a = []; for i in 0..100 {{ a.push(\"\"); }} let b = []; for i in 0..{count} {{ b.push(a); }}"
        )
    };
    let each = VALUE_BYTES + CONTAINER_BYTES + 100 * (VALUE_BYTES + TEXT_BYTES);
    let most = usize::try_from(DATUM_BYTES_MAX / each).unwrap();
    assert!(start(&lists(most)).is_ok());
    assert_eq!(kind(&lists(most + 1)), ErrorKind::Memory);
}

#[test]
fn depth_of_one_value() {
    let deep = |levels: u8| format!("let a = 1; for i in 0..{levels} {{ a = [a]; }}");
    assert!(start(&deep(DATUM_DEPTH_MAX)).is_ok());
    assert_eq!(kind(&deep(DATUM_DEPTH_MAX + 1)), ErrorKind::Depth);
    assert_eq!(kind("let f = || 1; loop { let g = f; f = || g(); }"), ErrorKind::Depth);
    let levels = u8::try_from(VALUE_DEPTH_MAX).unwrap();
    assert!(start(&format!("{} state.x = a;", deep(levels))).is_ok());
    assert_eq!(kind(&format!("{} state.x = a;", deep(levels + 1))), ErrorKind::State);
    assert_eq!(kind(&format!("{} send(self_, \"t\", a);", deep(levels + 1))), ErrorKind::Argument);
}

#[test]
fn call_depth() {
    let nested = |times: usize| {
        let source =
            format!("fn f(n) {{ if n > 1 {{ f(n - 1) }} }} fn on_start() {{ f({times}); }}");
        run_in(world(), &handler(&source), &Event::Start, ScriptState::default())
    };
    assert!(nested(CALL_DEPTH_MAX - 1).is_ok());
    assert_eq!(nested(CALL_DEPTH_MAX).unwrap_err().kind, ErrorKind::Depth);
}

#[test]
fn variables_and_values_of_one_function() {
    let many = |count: usize| {
        let all: String = (0..count).map(|i| format!("let v{i} = {i};")).collect();
        format!("fn on_start() {{ {all} }}")
    };
    assert_eq!(first(&many(VARIABLES_MAX)), "none");
    assert!(first(&many(VARIABLES_MAX + 1)).contains("more than 64 variables"));
    let row = |count: usize| {
        format!("fn on_start() {{ let x = 1; let a = [{}]; }}", vec!["x"; count].join(", "))
    };
    assert_eq!(first(&row(LITERAL_ELEMENTS_MAX - 1)), "none");
    assert!(first(&row(LITERAL_ELEMENTS_MAX)).contains("array"));
    let rows = |count: usize| {
        let row = vec!["x"; 300].join(", ");
        format!(
            "fn on_start() {{ let x = 1; log([{}]); }}",
            vec![format!("[{row}]"); count].join(", ")
        )
    };
    assert_eq!(first(&rows(2)), "none");
    let nested = format!(
        "[{}, [{}, [{}]]]",
        vec!["x"; 300].join(", "),
        vec!["x"; 300].join(", "),
        vec!["x"; 300].join(", ")
    );
    let complaint = first(&format!("fn on_start() {{ let x = 1; log({nested}); }}"));
    assert!(complaint.contains(&format!("more than {REGISTERS_MAX} values")), "{complaint}");
}

#[test]
fn texts_arrays_and_maps() {
    let grow = "let s = \"0123456789abcdef\"; while s.len() < 4096 { s += s; }";
    assert!(start(grow).is_ok());
    assert_eq!(kind(&format!("{grow} s += \"x\";")), ErrorKind::Memory);
    assert_eq!(kind(&format!("{grow} let t = s + \"x\";")), ErrorKind::Memory);
    assert_eq!(kind(&format!("{grow} let t = `${{s}}x`;")), ErrorKind::Memory);
    let fill = |count| format!("let a = []; for i in 0..{count} {{ a.push(i); }}");
    assert!(start(&fill(ARRAY_LENGTH_MAX)).is_ok());
    assert_eq!(kind(&fill(ARRAY_LENGTH_MAX + 1)), ErrorKind::Memory);
    let fill = |count| format!("let m = #{{}}; for i in 0..{count} {{ m[`k${{i}}`] = i; }}");
    assert!(start(&fill(MAP_LENGTH_MAX)).is_ok());
    assert_eq!(kind(&fill(MAP_LENGTH_MAX + 1)), ErrorKind::Memory);
}

#[test]
fn state_bytes() {
    let fill = |count: usize| {
        format!(
            "let s = \"x\"; while s.len() < 1024 {{ s += s; }}
                 for i in 0..{count} {{ state[`k${{i}}`] = s; }}"
        )
    };
    assert!(start(&fill(15)).is_ok());
    let error = start(&fill(16)).unwrap_err();
    assert_eq!((error.kind, error.report.line), (ErrorKind::State, 3));
    // What is replaced or removed makes room.
    let again = "for i in 0..20 { state.k0 = s; state.k1 = (); state.k1 = s; }";
    assert!(start(&format!("{} {again}", fill(15))).is_ok());
}

#[test]
fn a_program_is_the_same_after_it_was_written_and_read() {
    let source = "const K = [1.5, \"a\"]; fn f(x) { let g = |y| y + x; g(1) }
        fn on_start() { for i in 0..3 { state[`k${i}`] = f(i) ?? K[1]; }
            try { throw 1; } catch (e) { log(e); } switch 1 { 1 => 2, _ => 3 } }";
    let program = ScriptProgram::compile(source).unwrap();
    let read = ScriptProgram::decode(&program.encode()).unwrap();
    assert_eq!(read, program);
    let package = handler(source);
    let loaded = ScriptHandler::load(package.package(), "main.rhai".into(), &read).unwrap();
    let run = |handler: &ScriptHandler| {
        run_in(world(), handler, &Event::Start, ScriptState::default()).unwrap()
    };
    assert_eq!(run(&loaded), run(&package));
    let mut other = program.encode();
    other[0] += 1;
    assert!(ScriptProgram::decode(&other).is_err());
    assert!(ScriptProgram::decode(&other[..9]).is_err());
}

#[test]
fn constants_that_are_too_long_are_refused_before_they_are_computed() {
    // One jump of them met itself, and computed for ever without gas.
    let cases = ["2"; 16_385].join("|");
    let complaint = first(&format!("const b = 1; const a = switch 1 {{ {cases} => 0 }};"));
    assert!(complaint.ends_with("a constant or closure is too long: split it"), "{complaint}");
}

#[test]
fn what_constants_share_counts_for_each_of_them() {
    let numbers = vec!["1"; 256].join(",");
    let copies: String = (0..100).map(|n| format!("const c{n} = a;")).collect();
    let complaint = first(&format!("const a = [{numbers}];\n{copies}"));
    let words = format!("the call has used {CALL_BYTES_MAX} bytes of memory");
    assert!(complaint.starts_with("2:") && complaint.ends_with(&words), "{complaint}");
}

#[test]
fn a_value_that_cannot_be_kept_ends_the_call_and_loses_nothing() {
    // It was caught once, and the value before it was gone.
    for value in ["|x| x", "1..2", "1..=2", "state"] {
        let error = start(&format!("state.n = 5; try {{ state.n = {value}; }} catch {{}}"));
        assert_eq!(error.unwrap_err().kind, ErrorKind::State, "{value}");
    }
}
