//! `worst_compile`: the longest that a turn can spend on compiling what people publish.
//!
//! A turn compiles 64 KiB of source and no more, of a package in pieces the entry. Each family of
//! source here fills them with one thing, over and over: what parses, what is refused late, and what
//! asks for many suggestions. A package is decoded and compiled as the sim does it; what does not
//! compile counts like what does. The worst of them is compiled again as the entry of the longest
//! package, whose other files came in earlier turns.

use std::{collections::BTreeMap, time::Duration};

use metatopia_scripting::{
    Draft, LinkedPackage, Package, PackageAuthor, default_executor,
    limits::{FILE_BYTES_MAX, PACKAGE_BYTES_MAX},
};
use metatopia_sim::limits::PUBLISHED_BYTES_PER_TURN_MAX;

use super::{Play, processor, yardstick::Yardstick};
use crate::finding::Finding;

const NAME: &str = "worst_compile";

/// Milliseconds of one core, of the 50 that a turn has. What is promised is judged in release; a dev build
/// has half as much again.
const BOUND_MS: f64 = if cfg!(debug_assertions) { 30.0 } else { 20.0 };

/// All families are compiled so many times, one round after the other, and the best time of each counts: others
/// use the machine too, and slow down whatever runs just then.
const ROUNDS: usize = 5;

/// Bytes of the files beside the entry of the longest package.
const OTHER_FILES_BYTES: usize = PACKAGE_BYTES_MAX - FILE_BYTES_MAX - 8 * 1_024;

/// Bytes of the source; the manifest has the rest of what a turn compiles.
const SOURCE_BYTES: usize = PUBLISHED_BYTES_PER_TURN_MAX as usize - 1_024;

pub(super) fn play(_: &Play) -> Result<Vec<Finding>, String> {
    let yardstick = Yardstick::at_start();
    let mut families = Vec::new();
    for (name, source) in sources() {
        families.push(Family::new(name.to_owned(), source, 0)?);
    }
    run(&mut families)?;
    let worst =
        families.iter().max_by_key(|family| family.best()).ok_or("there are no families")?;
    let (name, source) = (format!("{} in a package in pieces", worst.name), worst.source.clone());
    let mut in_pieces = [Family::new(name, source, OTHER_FILES_BYTES)?];
    run(&mut in_pieces)?;
    families.extend(in_pieces);
    let mut all: Vec<(Duration, String)> = Vec::new();
    for family in families {
        let (time, compiles) = family.best().ok_or("nothing was measured")?;
        let verdict = if compiles { "compiles" } else { "is refused" };
        all.push((time, format!("{}, which {verdict}", family.name)));
    }
    all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    for (time, name) in &all {
        eprintln!("  {:7.3} ms: {name}", time.as_secs_f64() * 1_000.0);
    }
    let (worst, name) = all.first().ok_or("there are no families")?;
    let note = format!("{name} ({} families)", all.len());
    let value = worst.as_secs_f64() * 1_000.0;
    Ok(vec![Finding::at_most_ms(NAME, value, BOUND_MS, yardstick.at_end()).noted(note)])
}

/// A source that fills what a turn compiles, in its package.
struct Family {
    name: String,
    source: String,
    /// The package as it is published.
    bytes: Vec<u8>,
    /// The processor time of each round, and whether it compiled.
    times: Vec<(Duration, bool)>,
}

impl Family {
    /// Makes the package of a source, with so many bytes of other files.
    fn new(name: String, source: String, other_files: usize) -> Result<Self, String> {
        let package = package(source.clone(), other_files);
        let bytes = package.map_err(|error| format!("{name}: {error}"))?.encode();
        Ok(Self { name, source, bytes, times: Vec::new() })
    }

    fn best(&self) -> Option<(Duration, bool)> {
        self.times.iter().min().copied()
    }
}

/// Compiles all families, one round after the other.
fn run(families: &mut [Family]) -> Result<(), String> {
    for _ in 0..ROUNDS {
        for Family { name, bytes, times, .. } in &mut *families {
            times.push(timed(bytes).map_err(|error| format!("{name}: {error}"))?);
        }
    }
    Ok(())
}

/// Decodes a package twice, once for its price, and compiles it. Returns the processor time of all, and whether it
/// compiles.
fn timed(bytes: &[u8]) -> Result<(Duration, bool), String> {
    let executor = default_executor();
    let begin = processor::time();
    let priced = Package::decode(bytes).map_err(|error| error.to_string())?;
    LinkedPackage::new(&priced, &|_| None).map_err(|error| error.to_string())?;
    let package = Package::decode(bytes).map_err(|error| error.to_string())?;
    let linked = LinkedPackage::new(&package, &|_| None).map_err(|error| error.to_string())?;
    let compiles = executor.compile(&linked).is_ok();
    Ok((processor::time().saturating_sub(begin), compiles))
}

fn package(source: String, other_files: usize) -> Result<Package, String> {
    let mut files = BTreeMap::from([("main.rhai".into(), source.into_bytes())]);
    for (n, begin) in (0..other_files).step_by(FILE_BYTES_MAX).enumerate() {
        let bytes = FILE_BYTES_MAX.min(other_files - begin);
        files.insert(format!("notes{n}.txt"), vec![b'a'; bytes]);
    }
    let package = Package::build(Draft {
        name: "hostile".into(),
        version: "1.0.0".into(),
        api: 1,
        entry: "main.rhai".into(),
        files,
        licence: "AGPL-3.0-or-later".into(),
        authors: vec![PackageAuthor { name: "Mallory".into(), key: None }],
        ..Draft::default()
    });
    package.map_err(|error| error.to_string())
}

/// Returns sources that fill what a turn compiles, with their names.
fn sources() -> Vec<(&'static str, String)> {
    let inside = |line: &str| format!("fn on_start() {{\n{}\n}}\n", fill(line));
    let functions = |body: &str| {
        let all: String = (0..128).map(|n| format!("fn f{n}(a, b) {{ {body} }}\n")).collect();
        format!("{all}fn on_start() {{ f1(1, 2); }}\n")
    };
    let deep = |open: &str, close: &str, depth: usize| {
        inside(&format!("let x = {}1{};", open.repeat(depth), close.repeat(depth)))
    };
    vec![
        ("comments", inside("// nothing")),
        ("empty statements", inside(";")),
        ("short names", inside("a;")),
        ("misspelt names", inside("slef_.colr = noww();")),
        ("misspelt functions", inside("nerby(1); tiemr(2); sayy(3);")),
        ("misspelt members", inside("self_.pozition.xx.yy;")),
        ("variables", inside("let a = 1;")),
        ("blocks", inside("{ let a = 1; }")),
        ("sums", inside("1 + 2 * 3 - 4 / 5 % 6;")),
        ("long sums", format!("fn on_start() {{ let x = 1{}; }}", fill(" + 1"))),
        ("and, or", format!("fn on_start() {{ let x = true{}; }}", fill(" && true || false"))),
        ("parentheses", deep("(", ")", 24)),
        ("lists", deep("[", "]", 24)),
        ("maps", deep("#{a: ", "}", 24)),
        ("too deep", deep("(", ")", 2_000)),
        ("calls in calls", deep("abs(", ")", 24)),
        ("a long list", format!("fn on_start() {{ let x = [{}1]; }}", fill("1, "))),
        ("a constant list", format!("const X = [{}1];\nfn on_start() {{}}\n", fill("1, "))),
        ("a long text", format!("fn on_start() {{ let x = \"{}\"; }}", fill("x"))),
        ("texts", inside("\"some words\";")),
        ("texts with values", inside("`a ${1 + 2} b ${3} c ${4}`;")),
        ("escapes", format!("fn on_start() {{ let x = \"{}\"; }}", fill("\\u00e9"))),
        ("members", format!("fn on_start() {{ state{}; }}", fill(".a"))),
        ("places", format!("fn on_start() {{ state{}; }}", fill("[0]"))),
        ("closures", inside("let f = |a| |b| a + b;")),
        ("closures that capture", inside("{ let a = 1; let f = |b| a + b; f(2); }")),
        ("switches", inside("switch 1 { 1 => 2, 2 => 3, 3..5 => 4, _ => 5 }")),
        ("a long switch", format!("fn on_start() {{ switch 1 {{ {} _ => 0 }} }}", cases())),
        ("loops", inside("for i in 0..1 { break; }")),
        ("ifs", inside("if true { 1 } else if false { 2 } else { 3 }")),
        ("a long chain of ifs", format!("fn on_start() {{ {} {{}} }}", fill("if true {} else "))),
        ("tries", inside("try { throw 1; } catch (e) { e; }")),
        ("functions", functions(&"let c = a + b; ".repeat(28))),
        ("functions that call each other", functions(&"f1(a, b); f2(b, a); ".repeat(22))),
        ("constants", (0..2_600).map(|n| format!("const C{n} = {n} + 1;\n")).collect()),
        ("constants of constants", chain_of_constants()),
        ("open brackets", fill("[")),
        ("open braces", fill("{")),
        ("operators", fill("!-")),
        ("one word", fill("x")),
        ("numbers", inside("1234567890; 1.25; 0xff; 0b1;")),
        ("wide characters", format!("fn on_start() {{ \"{}\"; }}", fill("\u{1f642}"))),
    ]
}

/// Repeats a piece until it fills what a turn compiles; each on a line of its own, if it ends one.
fn fill(piece: &str) -> String {
    let line = if piece.ends_with(';') || piece.ends_with('}') { "\n" } else { "" };
    let piece = format!("{piece}{line}");
    piece.repeat((SOURCE_BYTES.min(FILE_BYTES_MAX) - 128) / piece.len())
}

/// Returns the cases of a switch that is as long as it can be.
fn cases() -> String {
    (0..5_000).map(|n| format!("{n} => {n}, ")).take_while(fits()).collect()
}

/// Returns constants each of which is made of the one before it.
fn chain_of_constants() -> String {
    let line = |n: usize| match n {
        0 => "const C0 = 1;\n".to_owned(),
        n => format!("const C{n} = C{} + 1;\n", n - 1),
    };
    (0..5_000).map(line).take_while(fits()).collect()
}

/// Returns a test that holds until the pieces that it saw fill what a turn compiles.
fn fits() -> impl FnMut(&String) -> bool {
    let mut bytes = 0;
    move |piece: &String| {
        bytes += piece.len();
        bytes < SOURCE_BYTES - 128
    }
}
