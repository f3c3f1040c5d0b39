//! The machine of the overlay: members that meet, lie, die and look up, each story from a seed.

mod bad_input;
mod defects;
mod doubts;
mod evidence;
mod few_sites;
mod limits;
mod lookups;
mod near_map;
mod stories;
mod town;
mod ways;
mod wire;
