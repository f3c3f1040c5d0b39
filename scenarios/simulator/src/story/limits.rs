//! How much a story may ask for.

use std::time::Duration;

use metatopia_types::limits::VALIDATORS_MAX;

/// Bytes of the file.
pub const FILE_BYTES_MAX: usize = 64 * 1_024;

/// Servers with those in reserve: as many as may vote in one sim.
pub const SERVERS_MAX: usize = VALIDATORS_MAX;

/// People of one story.
pub const PEOPLE_MAX: u64 = 64;

/// Scripts that a story brings.
pub const SCRIPTS_MAX: usize = 16;

/// How long a story may be, and how long it may take to calm down.
pub const LENGTH_MAX: Duration = Duration::from_secs(3_600);

/// Acts, faults and strangers, each time they come counted.
pub const STEPS_MAX: usize = 4_096;
