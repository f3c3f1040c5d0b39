//! Real processes: the program as a stranger uses it, over real sockets and disks on loopback.
//!
//! Every world lives in a folder of its own and on ports that the system gave; every wait ends after
//! a stated time; only processes that were started here are ended, by id.

mod bad_input;
mod bad_memory;
mod building;
mod carrying;
mod clubs;
mod crossing;
mod forgetting;
mod friends;
mod full_disk;
mod grids;
mod guarding;
mod healing;
mod hosting;
mod letting_in;
mod liars;
mod lots;
mod main_job;
mod membership;
mod moderating;
mod office_succession;
mod other_engine;
mod other_sim;
mod people;
mod places;
mod plaza;
mod private;
mod profiles;
mod recovery;
mod regions;
mod rotation;
mod scenario;
mod scripting;
mod sealed_keys;
mod site_servers;
mod succession;
mod tickets;
mod tiers;
mod worlds;
