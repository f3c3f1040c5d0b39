//! Digests of whole scenes. They are the same on every processor and in every build. A change of a digest
//! changes the rules of all worlds whose bodies this tier moves.

use crate::digested::{GOLDEN, GOLDEN_STREAMS, digests, stream_digests};

#[test]
fn the_scenes_have_their_digests() {
    let found = digests();
    assert_eq!(found.each_ref().map(|(name, digest)| (*name, digest.as_str())), GOLDEN);
}

#[test]
fn random_streams_of_commands_have_their_digests() {
    let found = stream_digests();
    assert_eq!(found.each_ref().map(|(seed, digest)| (*seed, digest.as_str())), GOLDEN_STREAMS);
}
