//! The `metatopia-simulator` program: plays simulated worlds, as many as you like.

#![forbid(unsafe_code)]

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::main()
}
