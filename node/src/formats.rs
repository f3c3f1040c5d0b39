//! Formats of the files that operators hand to each other: evidence, and recoveries. Anybody may have
//! written such a file, so reading takes any bytes, and checking needs nothing but the file.

pub mod evidence;
pub mod recovery;
