//! Views: what clients that watch are told is so, is enough, and is no more than they want.

mod laws;
mod limits;
mod person;
mod town;
