//! Random streams of commands that are golden: replies and states have the same digests in every build.

use metatopia_math::{Fx, Stream};
use metatopia_physics::Region;
use metatopia_types::{Digest, wire};

use crate::{draws::command, scenes::at};

/// Seeds of random streams, each with how the digest of its replies and states begins in every build and on every
/// processor.
pub(crate) const STREAMS: [(u64, &str); 4] = [
    (1, "5174d2d276db027d"),
    (2, "79e58ea029b7615d"),
    (3, "e542eac23421b8ec"),
    (4, "28b4a35edd09310a"),
];

/// Commands in each of them.
const COMMANDS: usize = 2_000;

/// Plays a random stream, and returns the digest of all replies, and of the region after every twentieth command.
pub(crate) fn played(seed: u64) -> Digest {
    played_in(empty(), seed)
}

/// Returns a region that a stream begins with.
pub(crate) fn empty() -> Region {
    Region::new().with_gravity(at(0, -1_000)).with_hits(Some(Fx::ONE))
}

/// Plays a random stream in a region without bodies.
pub(crate) fn played_in(mut region: Region, seed: u64) -> Digest {
    let mut dice = Stream::new(&[11; 32], "physics.drawn", &[seed]);
    let mut digest = region.digest();
    for at in 0..COMMANDS {
        let reply = region.apply(&command(&mut dice, &region));
        let state = if at % 20 == 0 { region.digest() } else { Digest::ZERO };
        let all = [&digest.0, state.0.as_slice(), &wire::encode(&reply)].concat();
        digest = Digest::of("metatopia-physics stream", &all);
    }
    digest
}
