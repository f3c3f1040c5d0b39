//! Says of which packages and files a port is made.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use super::print::quoted;
use crate::{
    LinkedPackage, Package,
    lang::{LinkedProgram, SourcePoint},
};

/// The files of the imports in a program.
pub(super) struct PortFiles {
    /// How messages name each, with its first function.
    imports: Vec<(usize, String)>,
    /// The first function of the package itself.
    first: usize,
}

impl PortFiles {
    pub(super) fn of(linked: &LinkedPackage<'_>, program: &LinkedProgram) -> Self {
        let imports = program.firsts.iter().copied().zip(linked.imports().files()).collect();
        let first = program.firsts.last().copied().unwrap_or_default();
        Self { imports, first }
    }

    /// Returns whether the package imports nothing.
    pub(super) const fn is_alone(&self) -> bool {
        self.imports.is_empty()
    }

    /// Says where a function begins, with its file if an import has it.
    pub(super) fn place(&self, function: usize, at: SourcePoint) -> String {
        let SourcePoint { line, column } = at;
        let mut before = self.imports.iter().rev().filter(|(first, _)| *first <= function);
        match before.next().filter(|_| function < self.first) {
            Some((_, file)) => format!("{}:{line}:{column}", file.escape_default()),
            None => format!("{line}:{column}"),
        }
    }

    /// Writes which functions are of which file, if the package imports others.
    pub(super) fn tables(&self, text: &mut String) {
        if self.is_alone() {
            return;
        }
        let Self { imports, first } = self;
        text.push_str(
            "\n/// The port, with the files of what it imports.\n\
             pub(crate) static PORT: LinkedPortTables = LinkedPortTables {\n    imports: &[\n",
        );
        for (first, file) in imports {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "        ({first}, {}),", quoted(file));
        }
        let _ = writeln!(text, "    ],\n    first: {first},\n    tables: &TABLES,\n}};");
    }
}

/// Returns a text for a comment.
fn plain(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii() || c.is_ascii_control(), "?")
}

/// Writes which packages a port is made of, and under which licences.
pub(super) fn head(linked: &LinkedPackage<'_>) -> String {
    let mut text =
        head_of("The script", linked.package(), " in Rust, as `metatopia script port` writes it");
    for import in linked.imports().packages() {
        text.push_str("//!\n");
        text.push_str(&head_of("It imports", import, ""));
    }
    text.push_str("\nuse crate::port::prelude::*;\n");
    text
}

/// Names a package, its licence and its authors.
fn head_of(role: &str, package: &Package, words: &str) -> String {
    let manifest = package.manifest();
    let licence = &manifest.licence.expression;
    let authors: Vec<&str> = manifest.authors.iter().map(|author| &*author.name).collect();
    format!(
        "//! {role} `{}` {}{words}.\n//!\n//! {}\n//! Authors: {}\n",
        plain(&manifest.name),
        manifest.version,
        plain(licence),
        plain(&authors.join(", ")),
    )
}
