//! The table as a page for people.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write;

use super::{FUNCTIONS, HostFunction, NAMES, PROPERTIES, ValueKind};
use crate::{EventKind, limits::NANOSECONDS_PER_GAS};

/// What the language has, with an example each. The tests compile all of them.
pub const SYNTAX: &[(&str, &str)] = &[
    ("`const NAME = value;`", "const WAY = vec2(2, 0);"),
    ("`fn name(a, b) { .. }`; the last expression is the result", "fn twice(x) { x * 2 }"),
    ("variables of a call", "let a = 1; a += 2;"),
    (
        "numbers: whole ones of 64 bits, and fixed-point ones; an overflow is an error",
        "7 / 2 + 1.5;",
    ),
    ("texts, with values in them", "let text = `${1 + 1} rings`;"),
    ("arrays and maps", "let m = #{list: [1, 2]}; m.list[0] += 1;"),
    ("conditions, also as values", "let b = if true { 1 } else { 2 };"),
    (
        "`&& || !` and `??`, which replaces `()`; `?.` stops at `()`",
        "state.friend?.name ?? \"nobody\";",
    ),
    (
        "`switch` by values and ranges of whole numbers",
        "switch 3 { 1 | 2 => 0, 3..=9 => 1, _ => 2 };",
    ),
    (
        "loops: `for while loop do`, with `break` and `continue`",
        "for (x, place) in [5, 6] { log(x); }",
    ),
    ("closures, which keep copies of variables", "let k = 2; [1, 2].map(|x| x * k);"),
    ("failures: `throw`, `try` and `catch`", "try { throw 1; } catch (e) { log(e); }"),
];

/// The reference of the language, of handlers, names, functions and properties, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::new();
    write_reference(&mut page).expect("writing to a string cannot fail");
    page
}

fn write_reference(page: &mut String) -> core::fmt::Result {
    writeln!(page, "# What scripts can use\n\n`metatopia script reference` prints this page.\n")?;
    writeln!(page, "## Language\n")?;
    for (words, example) in SYNTAX {
        let quote = if example.contains('`') { "``" } else { "`" };
        writeln!(page, "- {words}: {quote}{example}{quote}")?;
    }
    writeln!(
        page,
        "\nA call ends for good when it has used up its gas or memory; `try` catches all other failures. \
         Only what is in\n`state` is still there at the next call."
    )?;
    writeln!(page, "\n## Handlers\n\nThe last parameters may be left out.\n")?;
    for kind in EventKind::ALL {
        writeln!(page, "- `fn {}({})`", kind.handler(), kind.parameters().join(", "))?;
    }
    writeln!(page, "\n## Names\n\n| name | kind | |\n| --- | --- | --- |")?;
    for name in NAMES {
        writeln!(page, "| `{}` | {} | {} |", name.name, name.kind, name.doc)?;
    }
    writeln!(
        page,
        "\n## Functions and operators\n\nCosts are in nanoseconds, {NANOSECONDS_PER_GAS} of which are a unit of \
         gas.\n\n| | gives | costs | |\n| --- | --- | --- | --- |"
    )?;
    for function in FUNCTIONS {
        let HostFunction { result, price, doc, .. } = function;
        let signature = function.signature().replace('|', "\\|");
        writeln!(page, "| `{signature}` | {result} | {price} | {doc} |")?;
    }
    writeln!(page, "\n## Properties\n\n| property | kind | write | |\n| --- | --- | --- | --- |")?;
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
    /// Writes the function as `send(to: object, topic: string, data: any)`, and operators as `number +
    /// number`.
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
