//! Imports: what a source can name of the sources that it imports, as `scores::best`.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Lowering;
use crate::lang::tree::{SourcePoint, SourceTree, Statement, StatementKind};

/// What other sources can name of a source that is part of the program.
#[derive(Debug, Default)]
pub(crate) struct ImportableNames {
    /// Functions by name and number of parameters, by their places in the program.
    functions: BTreeMap<(String, usize), u16>,
    /// Constants by name, by their places in the program.
    constants: BTreeMap<String, u16>,
    /// Names of functions that are for the source alone.
    private: BTreeSet<String>,
}

impl ImportableNames {
    /// Returns the names of a source, from all that it can name itself.
    pub(super) fn of(
        tree: &SourceTree,
        mut functions: BTreeMap<(String, usize), u16>,
        mut constants: BTreeMap<String, u16>,
    ) -> Self {
        let private = tree.functions.iter().filter(|function| function.is_private);
        let private = private.map(|function| (function.name.clone(), function.parameters.len()));
        let private: BTreeSet<(String, usize)> = private.collect();
        // What it imports itself is its own matter.
        functions.retain(|key, _| !key.0.contains("::") && !private.contains(key));
        constants.retain(|name, _| !name.contains("::"));
        let private = private.into_iter().map(|(name, _)| name).collect();
        Self { functions, constants, private }
    }

    /// Returns all names, each once.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let functions = self.functions.keys().map(|(name, _)| name.as_str());
        functions.chain(self.constants.keys().map(String::as_str)).collect()
    }
}

impl Lowering {
    /// Lets the source name what it imports.
    pub(super) fn import(
        &mut self,
        statements: &[Statement],
        imports: &BTreeMap<&str, &ImportableNames>,
    ) {
        for Statement { at, kind } in statements {
            let StatementKind::Import { path, alias } = kind else { continue };
            let Some(names) = imports.get(path.as_str()) else {
                let hint = self.hint(path, imports.keys().copied());
                let words = if path.len() == 64 && path.bytes().all(|b| b.is_ascii_hexdigit()) {
                    format!(
                        "an import has a name: write scores = \"{path}\" below [imports] in \
                         package.toml, and import \"scores\" as {alias} here"
                    )
                } else {
                    format!("package.toml has no {path:?} below [imports]{hint}")
                };
                self.complain(*at, words);
                continue;
            };
            if alias == "global" || !self.aliases.insert(alias.clone()) {
                self.complain(*at, format!("{alias} is taken: give this import another name"));
                continue;
            }
            for ((name, count), place) in &names.functions {
                self.functions.insert((format!("{alias}::{name}"), *count), *place);
            }
            for (name, place) in &names.constants {
                self.constants.insert(format!("{alias}::{name}"), *place);
            }
            let private = names.private.iter().map(|name| format!("{alias}::{name}"));
            self.private.extend(private);
        }
    }

    /// Complains about a name of an import that means nothing: of a function if arguments are counted.
    pub(super) fn unknown_import(&mut self, name: &str, count: Option<usize>, at: SourcePoint) {
        let (alias, own) = name.split_once("::").unwrap_or(("", name));
        let is_function = self.functions.keys().any(|(known, _)| known == name);
        let words = if alias == "global" {
            format!("a constant is named without global: {own}")
        } else if !self.aliases.contains(alias) {
            let hint = self.hint(alias, self.aliases.iter().map(String::as_str));
            format!("nothing is imported as {alias}{hint}")
        } else if own.contains("::") {
            format!("what {alias} imports is its own matter: import it here as well")
        } else if self.private.contains(name) {
            format!("{own} is private in {alias}")
        } else {
            match count {
                Some(count) if is_function => {
                    format!("the function {name} does not take {count} arguments")
                }
                Some(_) if self.constants.contains_key(name) => {
                    format!("{name} is a constant, and cannot be called")
                }
                None if is_function => format!(
                    "{name} is a function: to hand it on, use a closure such as |x| {name}(x)"
                ),
                _ => {
                    let what = if count.is_some() { "function" } else { "constant" };
                    let hint = self.hint_of_import(alias, own);
                    format!("{alias} has no {what} {own}{hint}")
                }
            }
        };
        self.complain(at, words);
    }

    /// Returns what of an import was probably meant.
    fn hint_of_import(&self, alias: &str, name: &str) -> String {
        let functions = self.functions.keys().map(|(name, _)| name);
        let own = functions.chain(self.constants.keys());
        let known: Vec<String> = own
            .filter_map(|known| known.strip_prefix(alias)?.strip_prefix("::"))
            .map(ToString::to_string)
            .collect();
        self.hint(name, known.iter().map(String::as_str))
    }
}
