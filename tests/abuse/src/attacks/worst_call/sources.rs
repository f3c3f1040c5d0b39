//! Sources that `script check` passes and that were written to take as long as they can.
//!
//! A source is a use of a large value, over and over until the gas is gone: each value as a constant
//! and as a variable, in each use; and each function of the table with the largest arguments that fit
//! its kinds. After those come uses thrown together by a seed.

use metatopia_scripting::host::{FUNCTIONS, HostFunction, ValueKind};

use super::dice::SplitMix;

/// A source, and what it does in a few words.
#[derive(Debug)]
pub(crate) struct ScriptSource {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Calls of one function of the table: the first kinds of arguments are the most telling ones.
const CALLS_PER_FUNCTION_MAX: usize = 96;

/// Values as large as limits allow, by the names that uses have for them.
fn values() -> Vec<(&'static str, String)> {
    let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(", "));
    let map = |count: usize, entry: &dyn Fn(usize) -> String| {
        let entries: Vec<String> = (0..count).map(entry).collect();
        format!("#{{{}}}", entries.join(", "))
    };
    let long = "n".repeat(90);
    vec![
        ("nested", list("[[[[[[0]]]]]]", 73)),
        ("empties", list("[]", 512)),
        ("numbers", list("1.5", 512)),
        ("points", list("vec2(1, 2)", 512)),
        ("counts", list("7", 512)),
        ("texts", list("\"some words that are too long to be kept in place\"", 80)),
        ("map", map(128, &|n| format!("k{n}: {n}"))),
        ("names", map(40, &|n| format!("{long}{n:02}: 1.5"))),
        ("maps", map(64, &|n| format!("k{n}: #{{a: [0.5]}}"))),
        ("mixed", list("#{a: [[1.5]]}", 120)),
        ("text", format!("\"{}\"", "x".repeat(4_096))),
        ("wide", format!("\"{}\"", "\\u00e9".repeat(2_048))),
    ]
}

/// What can be done with a value `V`; `W` is another one like it.
const USES: &[(&str, &str)] = &[
    ("names it", "V;"),
    ("names it often", "V; V; V; V; V; V; V; V; V; V; V; V; V; V; V; V;"),
    ("keeps it", "let c = V;"),
    ("keeps it eight times", "let c = [V]; let d = V; c; d; c; d;"),
    ("passes it eight times", "eight(V, V, V, V, V, V, V, V);"),
    ("passes it down", "down(V, 0);"),
    ("gets it back", "back(V);"),
    ("asks whether it differs", "while V != 0 { break; }"),
    ("asks in a while", "while V != 0 { }"),
    ("asks twice", "V == 1 || V == 2;"),
    ("compares it with itself", "V == V;"),
    ("compares it with another", "V == W;"),
    ("asks for its type", "type_of(V);"),
    ("walks it", "for x in V { }"),
    ("walks it with a count", "for (x, i) in V { x; i; }"),
    ("looks at its first", "V[0];"),
    ("looks at its last", "V[-1];"),
    ("looks at its last place", "V[4095];"),
    ("looks at a name", "V.k7;"),
    ("looks at a name in brackets", "V[\"k7\"];"),
    ("looks deep", "V[0][0][0];"),
    ("writes its last place", "V[4095] = 'y';"),
    ("writes its middle", "V[2047] = '\\u00ea';"),
    ("writes its first", "V[0] = 7;"),
    ("writes its last", "V[-1] = 7;"),
    ("writes a name", "V.k7 = 7;"),
    ("adds to its last", "V[-1] += 1;"),
    ("writes deep", "V[0][0][0] = 7;"),
    ("remembers it", "state.x = V;"),
    ("remembers it in turn", "state.x = V; state.x = 0;"),
    ("recalls it", "state.x = V; state.x; state.x; state.x; state.x;"),
    ("recalls a part", "state.x = V; state.x[0]; state.x[0]; state.x[0];"),
    ("tells it", "log(V);"),
    ("sends it", "send(self_, \"t\", V);"),
    ("says it", "say(V.to_string());"),
    ("writes it out", "`${V}`;"),
    ("writes it out twice", "`${V}${V}`;"),
    ("puts it in a list", "[V];"),
    ("puts it in a map", "#{a: V};"),
    ("chooses it", "if true { V } else { W };"),
    ("gives it from a block", "{ V };"),
    ("falls back on it", "() ?? V;"),
    ("adds it", "V + W;"),
    ("adds to it", "let c = V; c += W;"),
    ("looks for it", "V in V;"),
    ("looks for it in a list", "V in [V];"),
    ("measures it", "V.len();"),
    ("turns it around", "V.reverse();"),
    ("sorts it", "V.sort();"),
    ("puts one first", "V.remove(0); V.insert(0, 7);"),
    ("puts one last", "V.pop(); V.push(7);"),
    ("lists its names", "V.keys();"),
    ("lists its values", "V.values();"),
    ("maps it", "V.map(|x| x);"),
    ("filters it", "V.filter(|x| true);"),
    ("sums it up", "V.reduce(|a, b| b, 0);"),
    ("sorts it by a lie", "V.sort(|a, b| -1);"),
    ("keeps it in a closure", "let f = || V; f(); f();"),
    ("throws it", "try { throw V; } catch (e) { e; }"),
    ("fails with it", "try { V + (); } catch { }"),
    ("switches on it", "switch V { 0 => 1, \"a\" => 2, _ => 3 };"),
];

/// Functions that uses call.
const FUNCTIONS_OF_USES: &str = "
fn eight(a, b, c, d, e, f, g, h) { }
fn down(v, n) { if n < 8 { down(v, n + 1); } }
fn back(v) { v }
";

/// Every source, with `mixed` ones that a seed puts together.
pub(crate) fn sources(dice: &mut SplitMix, mixed: usize) -> Vec<ScriptSource> {
    let mut all = uses();
    all.extend(literals());
    all.extend(calls());
    all.extend(crowds());
    all.extend((0..mixed).map(|n| mix(dice, n)));
    all
}

/// `V` and `W` are this value, as constants or as variables.
fn with(value: &str, constant: bool, use_: &str) -> String {
    if constant {
        format!(
            "const V = {value};\nconst W = {value};\n{FUNCTIONS_OF_USES}\n\
            fn on_start() {{ loop {{ {use_} }} }}"
        )
    } else {
        format!(
            "const C = {value};\n{FUNCTIONS_OF_USES}\n\
            fn on_start() {{ let V = C; let W = C; loop {{ {use_} }} }}"
        )
    }
}

fn uses() -> Vec<ScriptSource> {
    let mut all = Vec::new();
    for (value, text) in values() {
        for (does, use_) in USES {
            for constant in [true, false] {
                let kind = if constant { "constant" } else { "variable" };
                let name = format!("{does}: {value}, a {kind}");
                all.push(ScriptSource { name, text: with(&text, constant, use_) });
            }
        }
    }
    all
}

/// Values that stand in the loop itself, and are made anew each time.
fn literals() -> Vec<ScriptSource> {
    let uses = ["V;", "V[0];", "V[4095];", "V == V;", "V in V;", "`${V}`;", "V.len();", "V + V;"];
    let mut all = Vec::new();
    for (value, text) in values() {
        for use_ in uses {
            let body = use_.replace('V', &format!("({text})"));
            let text = format!("fn on_start() {{ loop {{ {body} }} }}");
            all.push(ScriptSource { name: format!("{use_} with {value} in place"), text });
        }
    }
    all
}

/// Expressions of a kind, the largest first.
fn expressions(kind: ValueKind) -> &'static [&'static str] {
    match kind {
        ValueKind::Unit => &["()"],
        ValueKind::Bool => &["true"],
        ValueKind::Int => &["3000", "7", "0"],
        ValueKind::Fixed | ValueKind::Number => &["1.5", "64", "0"],
        ValueKind::Text => &["text", "wide", "\"x\"", "\"xxxxxxxxxxxxxxxy\"", "\"\""],
        ValueKind::Vec2 => &["point"],
        ValueKind::Object => &["self_"],
        ValueKind::Array => &["nested", "numbers", "texts", "counts", "V"],
        ValueKind::Map => &["map", "maps", "names"],
        ValueKind::Range => &["1..7"],
        ValueKind::Function => &["|x| x", "|x| true", "|a, b| b", "|a, b| -1"],
        ValueKind::State => &["state"],
        ValueKind::Any => &["nested", "text", "maps", "numbers", "7"],
    }
}

fn calls() -> Vec<ScriptSource> {
    FUNCTIONS.iter().flat_map(calls_of).collect()
}

fn calls_of(function: &HostFunction) -> Vec<ScriptSource> {
    let mut lists: Vec<Vec<&str>> = vec![vec![]];
    for (_, kind) in function.arguments {
        let more = |list: &Vec<&'static str>| {
            let list = list.clone();
            expressions(*kind).iter().map(move |next| [&*list, &[*next]].concat())
        };
        lists = lists.iter().flat_map(more).collect();
    }
    lists.truncate(CALLS_PER_FUNCTION_MAX);
    let word = function.name.starts_with(|c: char| c.is_ascii_lowercase());
    let written = |list: &[&str]| match list {
        _ if word => format!("{}({})", function.name, list.join(", ")),
        [one] => format!("{}{one}", function.name),
        [a, b] => format!("{a} {} {b}", function.name),
        _ => String::new(),
    };
    let all = lists.iter().map(|list| {
        let call = written(list);
        ScriptSource { name: call.clone(), text: over_all(&format!("loop {{ {call}; }}")) }
    });
    all.collect()
}

/// A source whose `on_start` has a variable for each value, as far as it may hold them.
fn over_all(body: &str) -> String {
    let used = values().into_iter().filter(|(name, _)| body.contains(name));
    let (mut constants, mut variables) = (String::new(), String::new());
    for (name, text) in used {
        constants += &format!("const C_{name} = {text};\n");
        variables += &format!("let {name} = C_{name}; ");
    }
    format!(
        "{constants}const V = [0];\nfn on_start() {{ let point = vec2(1, 2); {variables}\n{body} }}"
    )
}

/// Much that is alive beside what is looked at.
fn crowds() -> Vec<ScriptSource> {
    let long = "v".repeat(700);
    let few: String = (0..7).map(|n| format!("let b{n} = C; ")).collect();
    let many: String = (0..60).map(|n| format!("let {long}{n:02} = {n}; ")).collect();
    let small: String = (0..60).map(|n| format!("let v{n} = {n}; ")).collect();
    let depth = "fn deep(n) { let b = C; if n < 9 { deep(n + 1); } loop { b; } }";
    let counts = format!("const C = [{}];", vec!["7"; 512].join(", "));
    let one = |name: &str, text: String| ScriptSource { name: name.to_owned(), text };
    vec![
        one(
            "a small one beside full ones",
            format!("{counts} fn on_start() {{ let v = 1; {few} loop {{ v; }} }}"),
        ),
        one("the first of many", format!("fn on_start() {{ {small} loop {{ v0; }} }}")),
        one(
            "the first of many long names",
            format!("fn on_start() {{ {many} loop {{ {long}00; }} }}"),
        ),
        one(
            "full ones below one another",
            format!("{counts} {depth} fn on_start() {{ deep(0); }}"),
        ),
        one("nothing at all", "fn on_start() { loop { } }".to_owned()),
        one("additions", "fn on_start() { let i = 0; loop { i += 1; } }".to_owned()),
        one("origins", "fn on_start() { loop { self_.origin; self_.origin; } }".to_owned()),
        one("calls", "fn f() { } fn on_start() { loop { f(); } }".to_owned()),
        one("empty lists", "fn on_start() { loop { []; []; []; []; [[[[[[]]]]]]; } }".to_owned()),
        one("empty maps", "fn on_start() { loop { #{}; #{}; #{a: #{}}; } }".to_owned()),
    ]
}

/// A few uses of a few values, one after the other.
fn mix(dice: &mut SplitMix, n: usize) -> ScriptSource {
    let values = values();
    let mut pick = || {
        let (_, value) = &values[dice.below(values.len())];
        (value.clone(), dice.below(2) == 0)
    };
    let (first, second) = (pick(), pick());
    let count = 1 + dice.below(4);
    let body: String = (0..count).map(|_| USES[dice.below(USES.len())].1).collect();
    // The one is a constant, the other a variable, or the other way round.
    let (a, b) = if first.1 { ("const V", "let W") } else { ("const W", "let V") };
    let text = format!(
        "{a} = {};\nconst C = {};\n{FUNCTIONS_OF_USES}\nfn on_start() {{ {b} = C; loop {{ {body} }} }}",
        first.0, second.0,
    );
    ScriptSource { name: format!("mixture {n}: {a}, {body}"), text }
}
