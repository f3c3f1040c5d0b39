//! Measures what operations take, and fails if one takes more than one and a half times its price, or if a
//! function or property of the host table is not measured:
//! `cargo run --release -p metatopia-scripting --example calibrate`.
//!
//! The world of the measurements answers at once: what calls cost the sim itself is measured by
//! `metatopia-abuse worst_call`.

#[path = "stage/operations.rs"]
mod operations;
#[path = "stage/world.rs"]
mod stage;

use std::{hint::black_box, sync::Arc};

use metatopia_scripting::{
    Event, Handler, ScriptHandler, ScriptState, WorldView,
    host::{FUNCTIONS, PROPERTIES},
    limits::NANOSECONDS_PER_GAS,
};

use operations::{CHANGING, OF_VALUES, Operation, READING};
use stage::{Crowd, least, package, run};

/// What is done a hundred times in a row, behind what comes before it.
const OPERATIONS: &[Operation] = &[
    ("empty loop", "", ""),
    ("add ints", "let a = 1; let b = 2; let c = 0;", "c = a + b; c = a + b; c = a + b; c = a + b;"),
    ("add fixed", "let a = 1.5; let b = 2.5; let c = 0;", "c = a + b; c = a + b; c = a + b;"),
    ("multiply fixed", "let a = 1.5; let b = 2.5; let c = 0;", "c = a * b; c = a * b; c = a * b;"),
    ("divide fixed", "let a = 1.5; let b = 2.5; let c = 0;", "c = a / b; c = a / b; c = a / b;"),
    ("divide ints", "let a = 100; let b = 7; let c = 0;", "c = a / b; c = a % b; c = a / b;"),
    ("power", "let a = 3; let c = 0;", "c = a ** 30; c = a ** 30; c = a ** 30;"),
    ("change", "let a = 1.5; let c = 0.0;", "c += a; c -= a; c += a; c -= a;"),
    ("compare", "let a = 1.5; let c = false;", "c = a < 2.0; c = a == 2.0; c = a >= 2.0;"),
    ("mixed", "let a = 1.5; let b = 2; let c = 0;", "c = a + b; c = b * a; c = a < b;"),
    ("vectors", "let a = vec2(1, 2); let c = a;", "c = a + a; c = a * 2; c = a - a;"),
    ("constants", "let c = 0;", "c = 1.5; c = 2.5; c = \"abc\"; c = 3.5;"),
    ("literals", "let c = 0;", "c = 1; c = true; c = (); c = 7;"),
    ("copies of texts", "let a = \"abc\" + 1; let c = 0;", "c = a; c = a; c = a; c = a;"),
    ("if", "let a = 1; let c = 0;", "if a < 2 { c = 1; } if a == 2 { c = 2; } else { c = 3; }"),
    ("switch", "let a = 3; let c = 0;", "switch a { 1 => c = 1, 2 => c = 2, 3 => c = 3 }"),
    ("array", "let a = 1; let c = 0;", "c = [a, a, a, a];"),
    (
        "long array",
        "let a = 1; let c = 0;",
        "c = [a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a];",
    ),
    ("map", "let a = 1; let c = 0;", "c = #{a: a, b: a, c: a};"),
    ("index", "let a = [1, 2, 3]; let c = 0;", "c = a[1]; c = a[2]; c = a[0]; c = a[-1];"),
    ("store", "let a = [1, 2, 3];", "a[1] = 5; a[2] = 6; a[0] = 7;"),
    ("store deep", "let a = [[[1]]];", "a[0][0][0] = 5; a[0][0][0] += 6;"),
    ("entry", "let m = #{a: 1, b: 2, c: 3}; let c = 0;", "c = m.a; c = m.c; c = m.z;"),
    ("write entry", "let m = #{a: 1, b: 2, c: 3};", "m.a = 2; m.c += 3; m[\"b\"] = 4;"),
    ("push and pop", "let a = [];", "a.push(1); a.push(2); a.pop(); a.pop();"),
    ("coordinate", "let v = vec2(1, 2); let c = 0;", "c = v.x; c = v.y; c = v.x;"),
    ("write coordinate", "let v = vec2(1, 2);", "v.x = 3; v.y = 4.5; v.x += 1;"),
    ("property", "let c = 0;", "c = self_.pos; c = self_.spin; c = self_.color;"),
    ("text property", "let c = 0;", "c = self_.name; c = self_.kind;"),
    ("write property", "let c = 0.0;", "c += 1; self_.spin = c; self_.velocity = vec2(c, 1);"),
    ("read state", "state.a = 1; let c = 0;", "c = state.a; c = state.a; c = state.a;"),
    ("write state", "state.a = 1; let c = 0;", "state.a = c; state.a += 1;"),
    ("interpolate", "let a = 5; let c = \"\";", "c = `v=${a}`;"),
    ("print fixed", "let a = 5.125; let c = \"\";", "c = `v=${a}`;"),
    ("print array", "let a = [1, 2, 3, 4, 5, 6]; let c = \"\";", "c = `${a}`;"),
    ("append", "let c = \"\";", "c += \"abcd\";"),
    ("letters", "let a = \"abcdefghijklmnop\"; let c = 0;", "c = a.len(); c = a[3];"),
    ("parts", "let a = \"abcdefghijklmnop\"; let c = 0;", "c = a[3..9]; c = a.sub(3, 4);"),
    ("closure", "let k = 1; let c = 0;", "c = |x| x + k;"),
    ("call closure", "let f = |x| x; let c = 0;", "c = f(1); c = f(2);"),
    ("call function", "let c = 0;", "c = own(1); c = own(2);"),
    ("map of an array", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = a.map(|x| x);"),
    ("filter", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = a.filter(|x| x > 3);"),
    ("reduce", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = a.reduce(|s, x| s + x, 0);"),
    ("sort", "let a = [5, 2, 8, 1, 9, 3, 7, 4];", "a.reverse(); a.sort();"),
    ("sort by closure", "let a = [5, 2, 8, 1];", "a.reverse(); a.sort(|x, y| x - y);"),
    ("loop over array", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "for x in a { c = x; }"),
    ("loop over range", "let c = 0;", "for x in 0..10 { c = x; }"),
    ("catch", "let c = 0;", "try { throw 1; } catch (e) { c = e; }"),
    ("catch a fault", "let c = 0;", "try { c = 1 / 0; } catch (e) { c = 1; }"),
    ("try", "let c = 0;", "try { c = 1; } catch { }"),
    ("copy on write", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = a; c[0] = 1;"),
    ("equal arrays", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = a == a;"),
    ("empty name", "let m = #{}; for i in 0..99 { m[`k${i}`] = i; }", "m.contains(\"\");"),
    ("contains", "let a = [1, 2, 3, 4, 5, 6, 7, 8]; let c = 0;", "c = 8 in a; c = 3 in 1..7;"),
    ("keys", "let m = #{a: 1, b: 2, c: 3}; let c = 0;", "c = m.keys();"),
    ("sqrt", "let a = 2.5; let c = 0;", "c = sqrt(a); c = sqrt(a);"),
    ("sin", "let a = 2.5; let c = 0;", "c = sin(a); c = cos(a);"),
    ("atan2", "let a = 2.5; let c = 0;", "c = atan2(a, 1);"),
    ("normalize", "let a = vec2(3, 4); let c = 0;", "c = a.normalize();"),
    ("length", "let a = vec2(3, 4); let c = 0;", "c = a.length(); c = dist(a, a);"),
    ("dot", "let a = vec2(3, 4); let c = 0;", "c = dot(a, a); c = vec2(1, 2);"),
    ("rotate", "let a = vec2(3, 4); let c = 0;", "c = a.rotate(1.5); c = direction(2);"),
    ("min", "let a = 2; let c = 0;", "c = min(a, 3); c = abs(a); c = clamp(a, 0, 9);"),
    ("floor", "let a = 2.5; let c = 0;", "c = floor(a); c = a.round(); c = fixed(3);"),
    ("texts", "let a = \"Abc def\"; let c = 0;", "c = a.lower(); c = a.trim();"),
    ("split", "let a = \"Abc def\"; let c = 0;", "c = a.split(\" \");"),
    ("find", "let a = \"Abc def\"; let c = 0;", "c = a.contains(\"de\"); c = a.index_of(\"f\");"),
    ("random", "let c = 0;", "c = random(); c = random(1, 6);"),
    ("nearby", "let c = 0;", "c = nearby(5);"),
    ("log", "", "log(\"abc\");"),
];

/// Times that one operation is done in a call.
const ROUNDS: u32 = 100;

/// Times that an operation is done in a call which asks much of the world, or changes it.
const FEW_ROUNDS: u32 = 10;

/// The most that an operation may take, in hundredths of its price.
const PERCENT_MAX: u64 = 150;

fn main() {
    let unmeasured = unmeasured();
    assert!(unmeasured.is_empty(), "nothing measures these: {unmeasured:?}");
    let view: Arc<dyn WorldView> = Arc::new(Crowd::new());
    let few = READING.iter().chain(CHANGING).map(|operation| (operation, FEW_ROUNDS));
    let many = OPERATIONS.iter().chain(OF_VALUES).map(|operation| (operation, ROUNDS));
    let (mut dear, mut sum, mut count) = (Vec::new(), 0, 0);
    println!("{:20} {:>9} {:>9} {:>6}", "operation", "measured", "price", "%");
    for ((name, before, body), rounds) in many.chain(few) {
        let (none, none_price) = measure(&view, before, body, 0);
        let (all, all_price) = measure(&view, before, body, rounds);
        let time = all.saturating_sub(none) / u64::from(rounds);
        let price = (all_price - none_price) / u64::from(rounds);
        let percent = time * 100 / price.max(1);
        (sum, count) = (sum + percent, count + 1);
        println!("{name:20} {time:6} ns {price:6} ns {percent:6}");
        if percent > PERCENT_MAX {
            dear.push(*name);
        }
    }
    println!("{count} operations, on average {} % of the price", sum / count);
    assert!(dear.is_empty(), "these take more than {PERCENT_MAX} % of their price: {dear:?}");
}

/// Returns the time that an operation takes, done so many times in one call, and the price of the call; both
/// in nanoseconds.
fn measure(view: &Arc<dyn WorldView>, before: &str, body: &str, rounds: u32) -> (u64, u64) {
    let state = Arc::new(ScriptState::default());
    let source = format!(
        "fn own(x) {{ x }}\nfn on_start() {{ {before} for i in 0..{rounds} {{ {body} }} }}"
    );
    let handler =
        ScriptHandler::new(&package(&source)).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let once = || run(view, &handler as &dyn Handler, &Event::Start, 1, &state);
    let gas = once().unwrap_or_else(|error| panic!("{error}\n{source}")).gas;
    let time = least(15, 200, |_| drop(black_box(once())));
    (time, gas * NANOSECONDS_PER_GAS)
}

/// Returns the functions, operators and properties of the host table that no operation uses.
fn unmeasured() -> Vec<&'static str> {
    let lists = [OPERATIONS, OF_VALUES, READING, CHANGING];
    let sources: Vec<String> = lists
        .iter()
        .copied()
        .flatten()
        .map(|(_, before, body)| format!("{before} {body}"))
        .collect();
    let is_used = |word: &str| sources.iter().any(|source| source.contains(word));
    let is_word = |name: &str| name.starts_with(|first: char| first.is_ascii_alphabetic());
    let functions = FUNCTIONS.iter().map(|function| function.name);
    let functions = functions.filter(|name| match is_word(name) {
        true => !is_used(&format!("{name}(")),
        false => !is_used(name),
    });
    let properties = PROPERTIES.iter().map(|property| property.name);
    let properties = properties.filter(|name| !is_used(&format!(".{name}")));
    functions.chain(properties).collect()
}
