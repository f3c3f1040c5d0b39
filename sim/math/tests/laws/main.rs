//! The laws of the numbers, checked against oracles that share no code with them.

mod arithmetic;
mod big;
mod oracle;
mod plane;
mod samples;
mod streams;
mod text;
mod trigonometry;
