//! The `metatopia` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    metatopia::cli::main()
}
