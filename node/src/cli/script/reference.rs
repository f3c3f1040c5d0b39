//! `script reference` prints what scripts can use.

use std::fmt;

use metatopia_scripting::host::reference;
use serde::Serialize;

use crate::cli::{console::Console, failure::Failure};

/// The reference of the language and its functions, in Markdown.
#[derive(Debug, Serialize)]
struct ReferencePage {
    reference: String,
}

impl fmt::Display for ReferencePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reference.trim_end())
    }
}

pub(super) fn run(console: Console) -> Result<(), Failure> {
    console.show(&ReferencePage { reference: reference() })
}
