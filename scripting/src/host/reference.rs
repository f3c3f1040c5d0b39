//! The table as a page for people.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use super::{FUNCTIONS, HostFunction, NAMES, PROPERTIES, ValueKind};
use crate::EventKind;

/// The reference of handlers, names, functions and properties, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::new();
    write_reference(&mut page).expect("writing to a string cannot fail");
    page
}

fn write_reference(page: &mut String) -> core::fmt::Result {
    writeln!(page, "# Handlers\n\nThe last parameters may be left out.\n")?;
    for kind in EventKind::ALL {
        writeln!(page, "- `fn {}({})`", kind.handler(), kind.parameters().join(", "))?;
    }
    writeln!(page, "\n# Names\n\n| name | kind | |\n| --- | --- | --- |")?;
    for name in NAMES {
        writeln!(page, "| `{}` | {} | {} |", name.name, name.kind, name.doc)?;
    }
    writeln!(
        page,
        "\n# Functions and operators\n\n| | gives | gas | |\n| --- | --- | --- | --- |"
    )?;
    for function in FUNCTIONS {
        let HostFunction { result, gas, doc, .. } = function;
        let signature = function.signature().replace('|', "\\|");
        writeln!(page, "| `{signature}` | {result} | {gas} | {doc} |")?;
    }
    writeln!(page, "\n# Properties\n\n| property | kind | write | |\n| --- | --- | --- | --- |")?;
    for property in PROPERTIES {
        let write = match (property.is_writable(), property.of) {
            (false, _) => "no",
            (true, ValueKind::Object) => "own object",
            (true, _) => "yes",
        };
        let (of, name, kind, doc) = (property.of, property.name, property.kind, property.doc);
        writeln!(page, "| `{of}.{name}` | {kind} | {write} | {doc} |")?;
    }
    Ok(())
}

impl HostFunction {
    /// As `send(to: object, topic: string, data: any)`, operators as `number + number`.
    #[must_use]
    pub fn signature(&self) -> String {
        let is_operator = !self.name.starts_with(|c: char| c.is_ascii_lowercase());
        match self.arguments {
            [(_, a)] if is_operator => format!("{}{a}", self.name),
            [(_, a), (_, b)] if is_operator => format!("{a} {} {b}", self.name),
            arguments => {
                let list: Vec<_> =
                    arguments.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
                format!("{}({})", self.name, list.join(", "))
            }
        }
    }
}
