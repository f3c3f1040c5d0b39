//! The `metatopia` program.

fn main() {}
