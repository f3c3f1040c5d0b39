//! Scripts that people write: looked over while they type, made into packages, and published.

use std::collections::BTreeMap;

use metatopia_scripting::{Diagnostic, EventKind, SourceError, host, read_source};
use metatopia_types::{Act, Blob, ObjectId, PackageId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ClientCore,
    building::BAD_NAME,
    deeds::{Deed, DeedKind},
};
use crate::draft::{DraftFault, PageDraft, look_over};

/// What a script begins with where there is none: it works as it is.
const EXAMPLE: &str = include_str!("example.rhai");

/// Licences to choose from, the usual one first. Others that allow a copyleft choice are as good.
const LICENCES: [&str; 5] =
    ["AGPL-3.0-or-later", "GPL-3.0-or-later", "LGPL-3.0-or-later", "MPL-2.0", "EUPL-1.2"];

/// What an author wants, in the words of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum WorkshopCommand {
    /// Asks what is wrong with a source.
    Check {
        source: String,
        /// Ids of packages, by the names that the source has for them.
        #[serde(default)]
        imports: BTreeMap<String, String>,
    },
    /// Asks what scripts can call, what one begins with, and which licences there are.
    Reference,
    /// Makes a package, and publishes it.
    Publish { draft: Box<PageDraft> },
    /// Asks for a sketch of the sim, in which a draft that imports these packages is tried on a thing.
    Sketch {
        object: ObjectId,
        #[serde(default)]
        imports: BTreeMap<String, String>,
    },
}

impl ClientCore {
    /// Carries out what an author wants.
    pub(super) fn work_on(&mut self, command: u64, wanted: WorkshopCommand) {
        match wanted {
            WorkshopCommand::Check { source, imports } if imports.is_empty() => {
                self.done(command, &json!({ "mistakes": mistakes(source), "names": [] }));
            }
            WorkshopCommand::Check { source, imports } => {
                self.check_with_imports(command, source, imports);
            }
            WorkshopCommand::Reference => self.done(command, &reference()),
            WorkshopCommand::Publish { draft } => self.publish(command, *draft),
            WorkshopCommand::Sketch { object, imports } => self.sketch(command, object, imports),
        }
    }

    fn publish(&mut self, command: u64, draft: PageDraft) {
        match self.package(draft) {
            Ok((package, blob)) => {
                let (kind, source) = (DeedKind::Publish(command, package), blob.id());
                let mut deed = Deed::new(kind, Act::Publish { source });
                deed.blobs.push(blob);
                self.act(deed);
            }
            Err(DraftFault::Name) => self.failed(command, BAD_NAME, &Value::Null),
            Err(DraftFault::Rule(why)) => self.failed(command, "BadPackage", &why.into()),
            Err(DraftFault::TooLong) => self.failed(command, "TooLong", &Value::Null),
        }
    }

    /// Makes the package of a draft of the person.
    fn package(&self, draft: PageDraft) -> Result<(PackageId, Blob), DraftFault> {
        let person = self.deeds.person.as_ref().map(|person| person.name.clone());
        // Whoever has not entered is known by the key alone.
        let name = person.unwrap_or_else(|| self.key.to_string()[..8].to_owned());
        draft.package(name, self.key)
    }
}

/// Returns what is wrong with a source that imports nothing, by place; nothing if it can run.
fn mistakes(source: String) -> Vec<Value> {
    let found = readable(source).map(|source| look_over(&source, false));
    let told = |found: Vec<Diagnostic>| {
        found.iter().map(|each| mistake(each.line, each.column, &each.message)).collect()
    };
    found.map_or_else(|mistakes| mistakes, told)
}

/// Checks that a source is plain text that shows what it is.
///
/// # Errors
/// The mistake, if it is none.
pub(super) fn readable(source: String) -> Result<String, Vec<Value>> {
    read_source(source.into_bytes()).map_err(|error| {
        let (line, column) = match error {
            SourceError::Utf8 { line, column } | SourceError::Hidden { line, column, .. } => {
                (line, column)
            }
            SourceError::CarriageReturn { line } => (line, 0),
            SourceError::Bytes { .. } | SourceError::ByteOrderMark => (0, 0),
        };
        vec![mistake(line, column, &error.to_string())]
    })
}

/// Returns a mistake as the page shows it. Its line is 0 if it is about the whole file, its column if it
/// is about the whole line.
pub(super) fn mistake(line: impl Into<Value>, column: impl Into<Value>, message: &str) -> Value {
    let (line, column): (Value, Value) = (line.into(), column.into());
    json!({ "line": line, "column": column, "message": message })
}

/// Returns what scripts can call and read, what one begins with, and which licences there are.
fn reference() -> Value {
    let entry = |name: &str, form: &str, doc: &str| -> Value {
        json!({ "name": name, "form": form, "doc": doc })
    };
    let mut entries = Vec::new();
    for kind in EventKind::ALL {
        let form = format!("fn {}({})", kind.handler(), kind.parameters().join(", "));
        entries.push(entry(kind.handler(), &form, ""));
    }
    entries.extend(host::NAMES.iter().map(|name| entry(name.name, name.name, name.doc)));
    let is_operator = |name: &str| !name.starts_with(|sign: char| sign.is_ascii_lowercase());
    for function in host::FUNCTIONS.iter().filter(|function| !is_operator(function.name)) {
        let form = format!("{} -> {}", function.signature(), function.result);
        entries.push(entry(function.name, &form, function.doc));
    }
    for property in host::PROPERTIES {
        let form = format!("{}.{}: {}", property.of, property.name, property.kind);
        entries.push(entry(property.name, &form, property.doc));
    }
    json!({ "example": EXAMPLE, "licences": LICENCES, "entries": entries })
}
