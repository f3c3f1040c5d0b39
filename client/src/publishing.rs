//! How a package goes into a sim: by one act, or in pieces that another act puts together.

use alloc::vec::Vec;

use metatopia_sim::limits::PUBLISHED_BYTES_PER_TURN_MAX;
use metatopia_types::{
    Act, Blob,
    limits::{BLOB_BYTES_MAX, PACKAGE_PIECE_BYTES_MAX},
};

/// An act that brings a package into a sim, with the blob that it names. Each is decided before the next is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishingStep {
    /// The act, which the author signs.
    pub act: Act,
    /// The blob of the same turn, if the act brings bytes.
    pub blob: Option<Blob>,
}

/// Returns the acts that bring a package into a sim, in their order. `weight` is how many bytes it counts together with
/// what it imports.
///
/// ```
/// use metatopia_client::publishing_steps;
///
/// let package = |bytes: u32| (0..bytes).map(|n| (n / 1_000) as u8).collect();
/// assert_eq!(publishing_steps(package(60_000), 60_000).len(), 1);
/// assert_eq!(publishing_steps(package(70_000), 70_000).len(), 4, "three pieces, and what joins them");
/// ```
#[must_use]
pub fn publishing_steps(package: Vec<u8>, weight: usize) -> Vec<PublishingStep> {
    if package.len() <= BLOB_BYTES_MAX && weight as u64 <= PUBLISHED_BYTES_PER_TURN_MAX {
        let blob = Blob(package);
        let act = Act::Publish { source: blob.id() };
        return [PublishingStep { act, blob: Some(blob) }].into();
    }
    let blobs = package.chunks(PACKAGE_PIECE_BYTES_MAX).map(|bytes| Blob(bytes.to_vec()));
    let mut steps: Vec<PublishingStep> = Vec::new();
    let mut pieces = Vec::new();
    for blob in blobs {
        let piece = blob.id();
        pieces.push(piece);
        // A piece that occurs twice is published once.
        if !steps.iter().any(|step| step.act == Act::PublishPiece { piece }) {
            steps.push(PublishingStep { act: Act::PublishPiece { piece }, blob: Some(blob) });
        }
    }
    steps.push(PublishingStep { act: Act::Assemble { pieces }, blob: None });
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_one_act_holds_comes_whole_unless_its_imports_weigh_too_much() {
        let bytes = || alloc::vec![7; BLOB_BYTES_MAX];
        let [PublishingStep { act, blob: Some(blob) }] =
            &publishing_steps(bytes(), bytes().len())[..]
        else {
            panic!("one act");
        };
        assert_eq!(*act, Act::Publish { source: blob.id() });
        assert_eq!(publishing_steps(bytes(), bytes().len() + 1).len(), 2, "one piece, twice");
    }

    #[test]
    fn the_pieces_of_a_long_package_are_the_package_in_the_order_of_the_act_that_joins_them() {
        let package: Vec<u8> = (0..200_000_u32).map(|n| (n / 1_000) as u8).collect();
        let steps = publishing_steps(package.clone(), package.len());

        let (last, first) = steps.split_last().expect("several");
        let Act::Assemble { pieces } = &last.act else { panic!("{last:?}") };
        assert_eq!((pieces.len(), last.blob.is_none()), (7, true));
        let mut joined = Vec::new();
        for id in pieces {
            let step = first.iter().find(|step| step.act == Act::PublishPiece { piece: *id });
            let blob = step.and_then(|step| step.blob.clone()).expect("a piece with its bytes");
            assert!(blob.id() == *id && blob.0.len() <= PACKAGE_PIECE_BYTES_MAX);
            joined.extend(blob.0);
        }
        assert_eq!(joined, package);
    }
}
