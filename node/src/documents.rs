//! Files that operators hand to each other: evidence, and recoveries. Who wrote one may be anybody, so
//! reading takes any bytes, and checking needs nothing but the file.

pub mod evidence;
pub mod recovery;
