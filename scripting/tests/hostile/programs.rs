//! Families of hostile programs, each grown from a table.

/// Statements of `on_start`, by name.
const STATEMENTS: &[(&str, &str)] = &[
    ("endless loop", "loop { }"),
    ("endless while", "while true { let x = 1; }"),
    ("endless do", "do { } until false;"),
    ("endless range", "for i in 0..9223372036854775807 { }"),
    ("endless range with its end", "for i in -9223372036854775808..=9223372036854775807 { }"),
    ("recursion", "on_start();"),
    ("recursion in an operator", "let x = 1 + on_start() + 1;"),
    ("recursion in an array", "let x = [[[on_start()]]];"),
    ("recursion in a callback", "[1].map(|x| on_start());"),
    ("recursion in a sort", "[2, 1].sort(|x, y| on_start());"),
    ("recursion in a try", "try { on_start(); } catch { on_start(); }"),
    ("doubled text", "let s = \"x\"; loop { s += s; }"),
    ("doubled text by plus", "let s = \"x\"; loop { s = s + s; }"),
    ("doubled text by interpolation", "let s = \"x\"; loop { s = `${s}${s}`; }"),
    ("text by letters", "let s = \"\"; loop { s += \"x\"; }"),
    ("new texts", "let s = \"x\"; while s.len() < 4000 { s += s; } loop { let t = s + \"\"; }"),
    ("letters written", "let s = \"xxxxxxxxxxxxxxxx\"; loop { s[7] = 'y'; }"),
    ("parts of texts", "let s = \"x\"; while s.len() < 2000 { s += s; } loop { s[0..1999]; }"),
    ("letters counted", "let s = \"x\"; while s.len() < 2000 { s += s; } loop { s.len(); }"),
    ("texts compared", "let s = \"x\"; while s.len() < 2000 { s += s; } loop { s < s; s == s; }"),
    ("texts split", "let s = \"x\"; while s.len() < 400 { s += s; } loop { s.split(\"\"); }"),
    (
        "texts searched",
        "let s = \"x\"; while s.len() < 2000 { s += s; } loop { s.index_of(\"xxy\"); }",
    ),
    ("pushed forever", "let a = []; loop { a.push(1); }"),
    ("doubled array", "let a = [1]; loop { a += a; }"),
    ("array in itself", "let a = []; loop { a = [a]; }"),
    ("array twice in itself", "let a = [0, 0]; loop { a[0] = a; a[1] = a; }"),
    ("array of itself", "let a = [1]; loop { a.push(a); }"),
    ("inserted in front", "let a = []; loop { a.insert(0, 1); if a.len() == 500 { a.clear(); } }"),
    ("copied on write", "let a = []; for i in 0..500 { a.push(i); } loop { let b = a; b[0] = 1; }"),
    ("arrays compared", "let a = []; for i in 0..500 { a.push(i); } loop { a == a; }"),
    ("arrays searched", "let a = []; for i in 0..500 { a.push(i); } loop { a.contains(-1); }"),
    ("arrays printed", "let a = []; for i in 0..500 { a.push(i); } loop { `${a}`; }"),
    ("fractions printed", "let a = []; for i in 0..200 { a.push(i + 0.123456); } loop { `${a}`; }"),
    ("arrays sorted", "let a = []; for i in 0..500 { a.push(i); } loop { a.reverse(); a.sort(); }"),
    (
        "texts sorted",
        "let a = []; for i in 0..100 { a.push(`${i}`); } loop { a.reverse(); a.sort(); }",
    ),
    ("arrays reversed", "let a = []; for i in 0..500 { a.push(i); } loop { a.reverse(); }"),
    ("map in itself", "let m = #{}; loop { m = #{m: m}; }"),
    ("map twice in itself", "let m = #{}; loop { m.a = m; m.b = m; }"),
    ("many names", "let m = #{}; for i in 0..5000 { m[`k${i}`] = i; }"),
    ("names made and removed", "let m = #{}; loop { m[\"k\"] = 1; m.remove(\"k\"); }"),
    (
        "long names",
        "let s = \"x\"; while s.len() < 2000 { s += s; } let m = #{}; loop { m[s] = 1; m.clear(); }",
    ),
    (
        "maps listed",
        "let m = #{}; for i in 0..100 { m[`k${i}`] = i; } loop { m.keys(); m.values(); }",
    ),
    ("maps compared", "let m = #{}; for i in 0..100 { m[`k${i}`] = i; } loop { m == m; }"),
    (
        "maps copied",
        "let m = #{}; for i in 0..100 { m[`k${i}`] = i; } loop { let n = m; n.a = 1; }",
    ),
    ("closures in closures", "let f = || 1; loop { let g = f; f = || g(); }"),
    ("closures of arrays", "let a = []; for i in 0..500 { a.push(i); } loop { let f = || a; }"),
    ("array of closures", "let a = []; loop { a.push(|x| x); }"),
    ("closures that hold what holds them", "let a = []; loop { let b = a; a.push(|| b); }"),
    ("loop in a callback", "[1].map(|x| loop { });"),
    ("loops in callbacks", "let a = []; for i in 0..500 { a.push(i); } loop { a.map(|x| x); }"),
    (
        "callbacks in callbacks",
        "let a = [1, 2, 3, 4, 5, 6, 7, 8]; a.map(|x| a.map(|y| a.map(|z| a.map(|w| a))));",
    ),
    ("filters of all", "let a = []; for i in 0..500 { a.push(i); } loop { a.filter(|x| true); }"),
    (
        "sums of texts",
        "let a = []; for i in 0..500 { a.push(\"xxxxxxxx\"); } a.reduce(|s, x| s + x, \"\");",
    ),
    ("comparison that lies", "let a = []; for i in 0..200 { a.push(i); } a.sort(|x, y| -1);"),
    ("comparison that says no", "let a = []; for i in 0..200 { a.push(i); } a.sort(|x, y| 1);"),
    (
        "comparison that changes its mind",
        "let a = []; for i in 0..50 { a.push(i); } a.sort(|x, y| random(-1, 1));",
    ),
    ("comparison that throws", "[3, 1, 2].sort(|x, y| throw 1);"),
    ("comparison that gives a text", "[3, 1, 2].sort(|x, y| \"a\");"),
    ("comparison without end", "[3, 1, 2].sort(|x, y| loop { });"),
    ("sort of arrays", "[[1], [2]].sort();"),
    ("failures caught forever", "loop { try { throw 1; } catch { } }"),
    ("faults caught forever", "loop { try { 1 / 0; } catch (e) { } }"),
    ("rethrown forever", "loop { try { try { throw 1; } catch { throw; } } catch { } }"),
    ("gas caught", "try { loop { } } catch { loop { } }"),
    ("memory caught", "loop { try { let s = \"x\"; loop { s += s; } } catch { } }"),
    ("depth caught", "loop { try { on_start(); } catch { } }"),
    (
        "tries in tries",
        "try { try { try { throw 1; } catch { throw 2; } } catch { throw 3; } } catch (e) { throw e; }",
    ),
    (
        "thrown text",
        "let s = \"x\"; while s.len() < 2000 { s += s; } loop { try { throw s; } catch { } }",
    ),
    (
        "thrown array",
        "let a = []; for i in 0..500 { a.push(i); } loop { try { throw a; } catch { } }",
    ),
    ("state of everything", "loop { state.a = (state.a ?? \"\") + \"xxxxxxxxxxxxxxxx\"; }"),
    ("many variables of state", "for i in 0..5000 { state[`k${i}`] = i; }"),
    ("state written and removed", "loop { state.a = 1; state.a = (); }"),
    (
        "large state",
        "let a = []; for i in 0..500 { a.push(i); } for i in 0..30 { state[`k${i}`] = a; }",
    ),
    ("deep state", "let a = 1; for i in 0..12 { a = [a]; } state.a = a;"),
    ("deep message", "let a = 1; for i in 0..12 { a = [a]; } send(self_, \"t\", a);"),
    ("large message", "let a = []; for i in 0..500 { a.push(i); } loop { send(self_, \"t\", a); }"),
    ("shared message", "let a = [1]; for i in 0..9 { a = [a, a]; } send(self_, \"t\", a);"),
    ("said forever", "loop { say(\"x\"); }"),
    (
        "logged forever",
        "loop { log(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"); }",
    ),
    ("random forever", "loop { random(); }"),
    ("looked around forever", "loop { try { nearby(64); } catch { } }"),
    ("sines forever", "let x = 0.5; loop { x = sin(x) + cos(x); }"),
    ("roots forever", "let x = 2000000000.5; loop { sqrt(x); }"),
    ("quotients forever", "let x = 1.5; loop { x / 0.0001; }"),
    ("powers forever", "loop { 3 ** 39; }"),
    ("vectors forever", "let v = vec2(1, 2); loop { v.normalize(); v.rotate(1); }"),
    ("shared tree", "let a = [1]; for i in 0..15 { a = [a, a]; }"),
    ("shared tree compared", "let a = [1]; for i in 0..9 { a = [a, a]; } loop { a == a; }"),
    ("shared tree printed", "let a = [1]; for i in 0..9 { a = [a, a]; } `${a}`;"),
    ("shared tree of maps", "let m = #{a: 1}; for i in 0..15 { m = #{a: m, b: m}; }"),
    ("power out of range", "2 ** 64;"),
    ("shift by much", "let x = 1 << 9223372036854775807; x >> -9223372036854775808;"),
    ("least number divided", "let x = -9223372036854775807 - 1; x / -1;"),
    ("range as an index", "\"abc\"[-9223372036854775808..=9223372036854775807];"),
    ("index of the least", "[1][-9223372036854775808];"),
];

/// What is repeated, with numbers of times.
const REPEATED: &[(&str, &str, &str)] = &[
    ("brackets", "(", ")"),
    ("arrays", "[", "]"),
    ("blocks", "{", "}"),
    ("minus signs", "-", ""),
    ("exclamation marks", "!", ""),
    ("sums", "1 + ", ""),
    ("maps", "#{a: ", "}"),
    ("conditions", "if true { ", "}"),
    ("loops", "loop { ", "}"),
    ("tries", "try { ", "} catch { }"),
    ("switches", "switch 1 { 1 => ", "}"),
    ("closures", "|x| ", ""),
    ("calls", "abs(", ")"),
    ("interpolations", "`${", "}`"),
    ("callbacks", "[1].map(|x| ", ")"),
    ("choices", "true && (", ")"),
    ("alternatives", "() ?? (", ")"),
];

/// Values of which copies are made in every way.
const VALUES: &[(&str, &str)] = &[
    ("numbers", "let v = []; for i in 0..400 { v.push(i); }"),
    ("fractions", "let v = []; for i in 0..400 { v.push(i + 0.5); }"),
    ("texts", "let v = []; for i in 0..100 { v.push(`text ${i}`); }"),
    ("lists", "let v = []; for i in 0..100 { v.push([i]); }"),
    ("maps", "let v = []; for i in 0..50 { v.push(#{a: i}); }"),
    ("names", "let v = #{}; for i in 0..100 { v[`k${i}`] = i; }"),
    ("text", "let v = \"x\"; while v.len() < 2000 { v += v; }"),
];

/// What is done with such a value until the call ends.
const USES: &[(&str, &str)] = &[
    ("copied", "let w = v;"),
    ("listed", "let w = [v, v];"),
    ("named", "let w = #{a: v};"),
    ("printed", "let w = `${v}`;"),
    ("compared", "v == v;"),
    ("kept", "state.v = v;"),
    ("captured", "let f = |x| v;"),
    ("handed on", "own(v);"),
    ("thrown", "try { throw v; } catch (e) { }"),
    ("asked for", "type_of(v);"),
    ("measured", "v.len();"),
];

/// Returns all programs, by name.
pub(crate) fn all() -> Vec<(String, String)> {
    let start = |statements: &str| format!("fn own(x) {{ x }}\nfn on_start() {{\n{statements}\n}}");
    let mut all: Vec<(String, String)> =
        STATEMENTS.iter().map(|(name, body)| ((*name).into(), start(body))).collect();
    for (name, open, close) in REPEATED {
        for times in [4, 12, 2_000] {
            let nested = format!("{}1{}", open.repeat(times), close.repeat(times));
            all.push((format!("{name}, {times} times"), start(&format!("let x = {nested};"))));
        }
    }
    for (value, made) in VALUES {
        for (name, used) in USES {
            all.push((format!("{value} {name}"), start(&format!("{made} loop {{ {used} }}"))));
        }
    }
    all
}
