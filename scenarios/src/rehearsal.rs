//! Rehearsals: the tests of a package, written in the language of scripts, in a small simulated sim.
//!
//! A test is a function `test_...` without parameters in the package's [`TESTS_FILE`]. It touches the
//! thing that has the script, talks to it, waits, and says what it expects. Tests run by the same executor
//! as scripts, and the thing lives in a [`World`](metatopia_sim::World) as in any sim.
//!
//! A script cannot wait for the world, because a call is over before anything happens. So a test is run
//! from its beginning for each question that it asks: the answers to the earlier questions are in its
//! state, and the next one ends the call. The world goes on from question to question and is never
//! computed again.

mod stage;

use std::{collections::BTreeMap, sync::Arc};

use metatopia_scripting::{
    AlongRay, Call, Draft, ErrorKind, Event, Handler, LinkedPackage, Nearby, ObjectView,
    ObjectWrites, Package, PackageError, ScriptError, ScriptOutput, ScriptState, Value, WorldView,
    default_executor,
    limits::{FILE_BYTES_MAX, GAS_PER_CALL_MAX},
};
use metatopia_types::{Digest, ObjectId, PackageId, ScriptId, Tick};

pub use self::stage::REHEARSAL_SECONDS_MAX;
use self::stage::{RehearsalStage, StageFault};
use crate::{KnownPackages, Mistake};

/// The file of a package with its tests.
pub const TESTS_FILE: &str = "tests.rhai";

/// The most questions that one test asks. Its state holds the answers, and each takes some gas again in
/// each run of the test.
pub const REHEARSAL_ASKS_MAX: usize = 100;

/// What tests can use. It stands behind their own source, so that their lines keep their numbers.
const PRELUDE: &str = include_str!("rehearsal/prelude.rhai");

/// How a question begins that ends a call.
const ASK: &str = "@ask ";

/// A test that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedTest {
    /// The name of its function.
    pub name: String,
    /// The line of its function, from 1.
    pub line: usize,
    /// Why it failed; nothing if it passed.
    pub mistake: Option<Mistake>,
    /// The lines that the test logged.
    pub log: Vec<String>,
}

/// Runs the tests of a package, each in a sim of its own. `folder` is how messages name its folder, and
/// `known` has what the package imports. Tests import what the package does, and the package itself by its
/// own name.
///
/// # Errors
/// All mistakes for which nothing can be run: there are no tests, or they do not compile.
pub fn rehearse(
    folder: &str,
    package: &Package,
    known: &KnownPackages,
) -> Result<Vec<RehearsedTest>, Vec<Mistake>> {
    let file = format!("{folder}/{TESTS_FILE}");
    let one = |file: &str, message: &str| Err(vec![Mistake::in_file(file, message)]);
    let Some(source) = package.files().get(TESTS_FILE) else {
        return one(folder, "tests.rhai is missing: tests are functions such as `fn test_ring()`");
    };
    let functions = functions(source);
    if !functions.iter().any(|(name, _)| is_test(name)) {
        return one(&file, "there is no test: tests are functions such as `fn test_ring()`");
    }
    let mut rehearsed = Vec::new();
    for (name, line) in functions {
        let wrong = match (is_test(name), takes_nothing(source, line)) {
            (true, true) => None,
            (true, false) => Some(format!("{name} takes arguments, and a test takes none")),
            (false, true) if is_uncalled(source, name) => Some(format!(
                "{name} is no test, as its name does not begin with test_, and nothing calls it"
            )),
            (false, _) => continue,
        };
        if let Some(message) = wrong {
            let mistake = Some(Mistake { line, column: 1, ..Mistake::in_file(&file, message) });
            rehearsed.push(RehearsedTest { name: name.to_owned(), line, mistake, log: Vec::new() });
            continue;
        }
        let program = compile(&file, source, name, package, known)?;
        let mut rehearsal = Rehearsal { file: &file, folder, source, program, log: Vec::new() };
        let mistake = rehearsal.run(package, known).err();
        let (name, log) = (name.to_owned(), rehearsal.log);
        rehearsed.push(RehearsedTest { name, line, mistake, log });
    }
    Ok(rehearsed)
}

/// Returns the names of the functions of a source, with their lines.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let lines = (1..).zip(source.lines());
    let found = lines.filter_map(|(line, text)| {
        let rest = text.trim_start().strip_prefix("fn ")?.trim_start();
        Some((rest.split('(').next()?.trim_end(), line))
    });
    found.collect()
}

fn is_test(function: &str) -> bool {
    function.starts_with("test_")
}

/// Says whether a source names a function only where it begins: a test whose name is misspelt, most likely.
fn is_uncalled(source: &str, function: &str) -> bool {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| *word == function).count() == 1
}

/// Says whether the test in this line has nothing between its brackets. What stands in later lines, or behind a
/// comment, is left to the compiler.
fn takes_nothing(source: &str, line: usize) -> bool {
    let text = source.lines().nth(line - 1).unwrap_or_default();
    let inside = text.split_once('(').and_then(|(_, rest)| rest.split(')').next());
    inside.is_none_or(|inside| inside.split("//").next().unwrap_or_default().trim().is_empty())
}

/// Compiles the tests as a script whose start runs one of them.
fn compile(
    file: &str,
    source: &str,
    test: &str,
    of: &Package,
    known: &KnownPackages,
) -> Result<Arc<dyn Handler>, Vec<Mistake>> {
    let answers = choice(0, REHEARSAL_ASKS_MAX);
    let mut imports = of.manifest().imports.clone();
    imports.entry(of.manifest().name.clone()).or_insert(of.id());
    let whole = format!(
        "{source}\n{PRELUDE}\nfn answer(place) {{ {answers} }}\nfn on_start() {{ {test}(); }}\n"
    );
    let built = Package::build(Draft {
        name: "tests".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: TESTS_FILE.to_owned(),
        files: BTreeMap::from([(TESTS_FILE.to_owned(), whole.into_bytes())]),
        imports,
        licence: of.manifest().licence.expression.clone(),
        authors: vec![metatopia_scripting::PackageAuthor { name: "tests".to_owned(), key: None }],
        ..Draft::default()
    });
    let package = built.map_err(|error| match error {
        PackageError::Source { .. } => {
            let room = FILE_BYTES_MAX.saturating_sub(PRELUDE.len());
            vec![Mistake::in_file(file, format!("tests take about {room} bytes at most"))]
        }
        error => vec![Mistake::in_file(file, error)],
    })?;
    let find = |id: &PackageId| if *id == of.id() { Some(of) } else { known.get(id) };
    let linked = LinkedPackage::new(&package, &find);
    let linked = linked.map_err(|error| vec![Mistake::in_file(file, error)])?;
    default_executor().compile(&linked).map_err(|error| {
        let own = source.lines().count();
        let mistake = |line: u32, column: u32, message: String| {
            let line = line as usize;
            // What stands behind the tests is fine by itself, so a name of it was taken.
            let (line, column) = if line > own { (0, 0) } else { (line, column as usize) };
            Mistake { line, column, ..Mistake::in_file(file, message) }
        };
        error.diagnostics.into_iter().map(|d| mistake(d.line, d.column, d.message)).collect()
    })
}

/// Returns the source that finds one of these answers. Each is a variable of the state, and a few questions
/// lead to it: a list of all would be paid for as a whole with each answer.
fn choice(first: usize, end: usize) -> String {
    let count = end.saturating_sub(first);
    if count <= 1 {
        return format!("state.a{first}");
    }
    let middle = first.saturating_add(count >> 1);
    let (before, after) = (choice(first, middle), choice(middle, end));
    format!("if place < {middle} {{ {before} }} else {{ {after} }}")
}

/// A test that came to its end.
struct EndedTest {
    log: Vec<String>,
    /// Whether it caught a question, so that it did not ask what it says.
    caught: bool,
}

/// One test under way.
struct Rehearsal<'a> {
    file: &'a str,
    folder: &'a str,
    source: &'a str,
    program: Arc<dyn Handler>,
    log: Vec<String>,
}

impl Rehearsal<'_> {
    /// Runs the test to its end.
    fn run(&mut self, package: &Package, known: &KnownPackages) -> Result<(), Mistake> {
        let founded = RehearsalStage::new(package, known);
        let mut stage = founded.map_err(|error| Mistake::in_file(self.file, error))?;
        stage.begin().map_err(|fault| match fault {
            StageFault::Script(failed) => self.script(&failed),
            StageFault::Step(why) => Mistake::in_file(self.file, why),
        })?;
        let mut answers = Vec::new();
        loop {
            let error = match self.call(&answers, stage.tick()) {
                Ok(ended) => {
                    self.log = ended.log;
                    let caught = "a test caught what it asks: questions cannot stand in `try`";
                    return match ended.caught {
                        true => Err(Mistake::in_file(self.file, caught)),
                        false => Ok(()),
                    };
                }
                Err(error) => error,
            };
            self.log.clone_from(&error.report.log);
            let asked = error.report.message.strip_prefix(ASK);
            let Some(asked) = asked.filter(|_| error.kind == ErrorKind::Thrown) else {
                return Err(self.placed(&error, None));
            };
            if answers.len() >= REHEARSAL_ASKS_MAX {
                let told = format!("a test asks at most {REHEARSAL_ASKS_MAX} times");
                return Err(self.placed(&error, Some(told)));
            }
            answers.push(stage.answer(asked).map_err(|fault| match fault {
                StageFault::Script(failed) => self.script(&failed),
                StageFault::Step(why) => self.placed(&error, Some(why)),
            })?);
        }
    }

    /// Runs the test from its beginning, with the answers so far.
    fn call(&self, answers: &[Value], now: Tick) -> Result<EndedTest, Box<ScriptError>> {
        let mut state: BTreeMap<String, Value> = (0_usize..)
            .zip(answers)
            .map(|(place, answer)| (format!("a{place}"), answer.clone()))
            .collect();
        let answered = i64::try_from(answers.len()).expect("a bounded number of answers");
        state.insert("asked".to_owned(), Value::Int(0));
        state.insert("answered".to_owned(), Value::Int(answered));
        state.insert("ended".to_owned(), Value::Bool(false));
        let view: Arc<dyn WorldView> = Arc::new(RehearsalView(now));
        let called = self.program.call(&Call {
            view: &view,
            script: ScriptId(1),
            object: ObjectId(1),
            index: 0,
            event: &Event::Start,
            state: &Arc::new(ScriptState(state)),
            own: &ObjectWrites::default(),
            gas: GAS_PER_CALL_MAX,
        });
        let ended = |output: ScriptOutput| {
            let state = output.state.unwrap_or_default();
            let caught = state.0.get("ended") == Some(&Value::Bool(true));
            EndedTest { log: output.log, caught }
        };
        called.map(ended).map_err(Box::new)
    }

    /// Returns the mistake of a call of the script, at its place.
    fn script(&self, failed: &metatopia_sim::ScriptFailure) -> Mistake {
        let report = &failed.report;
        // The files of imports have a name of their own, which no file of a folder can have.
        let file = match report.file.contains('@') {
            true => report.file.clone(),
            false => format!("{}/{}", self.folder, report.file),
        };
        let message = format!("{}: {}", failed.kind, report.message);
        Mistake {
            line: report.line as usize,
            column: report.column as usize,
            ..Mistake::in_file(&file, message)
        }
    }

    /// Returns the mistake of a test, at the last place in its own source.
    fn placed(&self, error: &ScriptError, told: Option<String>) -> Mistake {
        let report = &error.report;
        let own = self.source.lines().count();
        let is_own = report.file == TESTS_FILE;
        let first = if is_own { (report.line as usize, report.column as usize) } else { (0, 0) };
        let called = report.trace.iter().filter_map(|step| {
            let (line, column) = step.rsplit_once(" called at ")?.1.split_once(':')?;
            Some((line.parse().ok()?, column.parse().ok()?))
        });
        let mut places = std::iter::once(first).chain(called);
        let (line, column) = places.find(|(line, _)| (1..=own).contains(line)).unwrap_or_default();
        let elsewhere = if is_own {
            String::new()
        } else {
            format!("{}:{}:{}: ", report.file, report.line, report.column)
        };
        let message = told.unwrap_or_else(|| match error.kind {
            ErrorKind::Thrown => format!("{elsewhere}{}", report.message),
            kind => format!("{elsewhere}{kind}: {}", report.message),
        });
        Mistake { line, column, ..Mistake::in_file(self.file, message) }
    }
}

/// The view of a test: it runs on no thing, and learns of the world by its questions.
struct RehearsalView(Tick);

impl WorldView for RehearsalView {
    fn object(&self, _: ObjectId) -> Option<ObjectView<'_>> {
        None
    }

    fn nearby(&self, _: metatopia_math::Vec2, _: metatopia_math::Fx, _: u32) -> Nearby {
        Nearby::default()
    }

    fn named(&self, _: ObjectId, _: &str, _: u32) -> Nearby {
        Nearby::default()
    }

    fn along_ray(&self, _: metatopia_math::Vec2, _: metatopia_math::Vec2, _: ObjectId) -> AlongRay {
        AlongRay::default()
    }

    fn tick(&self) -> Tick {
        self.0
    }

    fn seed(&self) -> Digest {
        Digest::ZERO
    }
}
