//! How much is kept of turns on their way.

use std::sync::Arc;

use metatopia_types::{
    Act, Digest, Envelope, Header, Height, Lane, Seq, Signature, SignedEnvelope, SimId, TurnBody,
};

use super::*;

/// A turn of some 200 KiB, signed by nobody.
fn long(height: u64) -> Decision {
    let author = PublicKey([7; 32]);
    let (sim, lane, last_valid) = (SimId(Digest::ZERO), Lane(1), Height(height));
    let act = |seq| SignedEnvelope {
        envelope: Envelope { sim, author, lane, seq: Seq(seq), last_valid, act: Act::Heartbeat },
        signature: Signature::from_bytes([1; 64]),
    };
    let body = TurnBody::new((0..900).map(act).collect(), Vec::new()).expect("a body");
    let turn = Turn { header: Header { height: Height(height), ..Header::unstated() }, body };
    let certificate = Certificate {
        height: Height(height),
        round: turn.header.round,
        header: turn.id(),
        signatures: Vec::new(),
    };
    Decision { certificate, turn: Arc::new(turn) }
}

#[test]
fn of_long_turns_the_newest_are_handed_over_at_once_and_never_none() {
    let from = PublicKey([1; 32]);
    let mut batch = Batch {
        since: Duration::ZERO,
        first: Height(1),
        next: Height(1),
        last: Height(20),
        proved: VecDeque::new(),
        bytes: 0,
        came: VecDeque::new(),
        from,
    };
    for height in 1..=20 {
        let turn = long(height);
        let length = wire::length(turn.turn.as_ref());
        batch.take(turn);
        let kept = batch.proved.iter().map(|turn| wire::length(turn.turn.as_ref())).sum::<usize>();
        assert_eq!(kept, batch.bytes);
        assert!(kept <= FILL_BYTES_MAX && kept >= length.min(FILL_BYTES_MAX));
        assert_eq!(batch.proved.back().map(Decision::height), Some(Height(height)));
    }
    assert!(batch.proved.len() < 10 && batch.bytes > FILL_BYTES_MAX / 2, "{}", batch.bytes);
}
