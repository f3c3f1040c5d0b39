//! Sources that import others: looked over with all that they import, which is fetched first.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_protocol::{Answer, Question};
use metatopia_scripting::{CompileError, ImportTree, Package, limits::LINKED_PACKAGES_MAX};
use metatopia_types::PackageId;
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    inquiry::{InquiryStep, InquiryTask},
    outcomes::ActFailure,
    workshop::{mistake, readable},
};
use crate::draft::look_over;

/// Packages that are kept for the next look, before all of them are forgotten: 16 MiB at most, because a
/// package has 256 KiB.
const KEPT_MAX: usize = 4 * LINKED_PACKAGES_MAX;

/// How messages name the source that is looked over.
const OWN_FILE: &str = "script";

/// A source that somebody writes, with what it imports.
#[derive(Debug)]
pub(super) struct ImportingSource {
    source: String,
    imports: BTreeMap<String, PackageId>,
    /// The package that a node was asked for last.
    asked: Option<PackageId>,
}

impl ClientCore {
    /// Looks over a source with all that it imports.
    pub(super) fn check_with_imports(
        &mut self,
        command: u64,
        source: String,
        imports: BTreeMap<String, String>,
    ) {
        let import = |(name, id): (String, String)| Some((name, id.parse().ok()?));
        let Some(imports) = imports.into_iter().map(import).collect() else {
            return self.failed(command, BAD_NAME, &Value::Null);
        };
        let mut task = ImportingSource { source, imports, asked: None };
        match self.look_with_imports(&mut task) {
            // Nobody answers for now, and whoever writes is told what can be told without.
            Ok(_) if !self.session.is_open() => self.done(command, &told_of_syntax(task.source)),
            Ok(question) => {
                self.inquire(Some(command), InquiryTask::Importing(Box::new(task)), question);
            }
            Err(told) => self.done(command, &told),
        }
    }

    /// Takes what a node handed out of a package, and returns what is next.
    pub(super) fn imported_came(
        &mut self,
        task: &mut ImportingSource,
        answer: &Answer,
    ) -> InquiryStep {
        let package = match answer {
            Answer::Source(bytes) => Package::decode(bytes).ok(),
            // It may be there all the same.
            Answer::Busy => return InquiryStep::Failed(ActFailure::new("Busy")),
            _ => None,
        };
        // What is not there, or is not what it is asked for as, is told like any other import that is missing.
        let Some(package) = package.filter(|package| Some(package.id()) == task.asked) else {
            return InquiryStep::Done(self.told_with_imports(task));
        };
        let kept = &mut self.inquiries.imported;
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(package.id(), package);
        match self.look_with_imports(task) {
            Ok(question) => InquiryStep::Ask(question),
            Err(told) => InquiryStep::Done(told),
        }
    }

    /// Returns the packages that came of these imports and of what they import, by their ids. None of them lacks an
    /// import.
    pub(super) fn known_imports(
        &self,
        imports: BTreeMap<String, String>,
    ) -> BTreeMap<PackageId, Vec<u8>> {
        let kept = &self.inquiries.imported;
        let mut ahead: Vec<PackageId> =
            imports.into_values().filter_map(|id| id.parse().ok()).collect();
        let mut found: BTreeMap<PackageId, &Package> = BTreeMap::new();
        while let Some(id) = ahead.pop() {
            let Some(package) = kept.get(&id).filter(|_| !found.contains_key(&id)) else {
                continue;
            };
            found.insert(id, package);
            ahead.extend(package.manifest().imports.values());
        }
        // A sim has no package without all that it imports.
        loop {
            let whole: BTreeSet<PackageId> = found.keys().copied().collect();
            found.retain(|_, package| {
                package.manifest().imports.values().all(|import| whole.contains(import))
            });
            if found.len() == whole.len() {
                break;
            }
        }
        found.into_iter().map(|(id, package)| (id, package.encode())).collect()
    }

    /// Returns the question for the next package that is imported and not known here; or else what is wrong with the
    /// source.
    fn look_with_imports(&self, task: &mut ImportingSource) -> Result<Question, Value> {
        let kept = &self.inquiries.imported;
        let mut ahead: Vec<PackageId> = task.imports.values().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(package) = ahead.pop() {
            // More than a package may import are not fetched: that is told as the mistake that it is.
            if !seen.insert(package) || seen.len() > LINKED_PACKAGES_MAX {
                continue;
            }
            let Some(known) = kept.get(&package) else {
                task.asked = Some(package);
                return Ok(Question::Source { package });
            };
            ahead.extend(known.manifest().imports.values());
        }
        Err(self.told_with_imports(task))
    }

    /// Returns what is wrong with a source, and what it can name of its imports.
    fn told_with_imports(&self, task: &ImportingSource) -> Value {
        let kept = &self.inquiries.imported;
        let whole = |message: &str| vec![mistake(0, 0, message)];
        let tree = match ImportTree::find(&task.imports, &|id| kept.get(id)) {
            Ok(tree) => tree,
            Err(error) => return json!({ "mistakes": whole(&error.to_string()), "names": [] }),
        };
        let checked = readable(task.source.clone()).map(|source| tree.check(OWN_FILE, &source));
        let mistakes = match checked {
            Err(mistakes) => mistakes,
            Ok(Ok(())) => Vec::new(),
            Ok(Err(CompileError { file, diagnostics })) if file == OWN_FILE => diagnostics
                .iter()
                .map(|each| mistake(each.line, each.column, &each.message))
                .collect(),
            Ok(Err(error)) => whole(&error.to_string()),
        };
        let called = called(&task.source);
        let named = |(import, names): (String, Vec<String>)| {
            let called = called.get(import.as_str()).map(|name| (*name).to_owned());
            let full = move |name: String| Some(format!("{}::{name}", called.as_ref()?));
            names.into_iter().filter_map(full)
        };
        let names = tree.names().unwrap_or_default().into_iter();
        let names: Vec<String> = names.flat_map(named).collect();
        json!({ "mistakes": mistakes, "names": names })
    }
}

/// Returns what is wrong with the syntax of a source.
fn told_of_syntax(source: String) -> Value {
    let found = readable(source).map(|source| {
        let found = look_over(&source, true);
        found.iter().map(|each| mistake(each.line, each.column, &each.message)).collect()
    });
    let mistakes: Vec<Value> = found.unwrap_or_else(|mistakes| mistakes);
    json!({ "mistakes": mistakes, "names": [] })
}

/// Returns what a source calls its imports, by their names in the manifest. A line that imports stands alone.
fn called<'a>(source: &'a str) -> BTreeMap<&'a str, &'a str> {
    let import = |line: &'a str| {
        let (name, rest) = line.trim().strip_prefix("import \"")?.split_once('"')?;
        let called = rest.trim_start().strip_prefix("as ")?.split(';').next()?;
        Some((name, called.trim()))
    };
    source.lines().filter_map(import).collect()
}
