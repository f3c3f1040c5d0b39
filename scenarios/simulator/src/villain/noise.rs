//! Frames that are not what they should be.

use metatopia_consensus::limits::PART_BYTES;
use metatopia_consensus::{Message, Part, RoundProof, RoundVote, Shows};
use metatopia_types::{Turn, wire};

/// So many signatures are more than any set has members.
const OVERSIZE: usize = 100;

/// Parts that do not add up to their turn.
pub(super) fn corrupt(message: &Message) -> Message {
    let mut message = message.clone();
    if let Message::Part(part) = &mut message
        && let Some(last) = part.bytes.last_mut()
    {
        *last ^= 1;
    }
    message
}

/// The message with turned bits, if it is still one: nobody reads what is none.
pub(super) fn garbled(message: &Message, count: u64) -> Vec<Message> {
    let mut bytes = message.encode();
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX).max(1);
    for flip in 0..1 + count % 3 {
        let bit = count.wrapping_mul(1_000_003).wrapping_add(flip * 7_919) % (length * 8);
        if let Some(byte) = usize::try_from(bit / 8).ok().and_then(|at| bytes.get_mut(at)) {
            *byte ^= 1 << (bit % 8);
        }
    }
    Message::decode(&bytes).into_iter().collect()
}

/// Messages that are longer than any may be, as if nobody had looked at their length.
pub(super) fn oversized(message: &Message, count: u64) -> Vec<Message> {
    let mut message = message.clone();
    match &mut message {
        Message::Part(part) => {
            part.total = u8::MAX;
            part.index = u8::try_from(count % 256).unwrap_or(0);
            part.bytes = vec![7; PART_BYTES * 2];
        }
        Message::Polka(polka) => {
            let one = polka.signatures.first().copied();
            polka.signatures.extend(std::iter::repeat_n(one, OVERSIZE).flatten());
        }
        Message::RoundProof(proof) => {
            let one = proof.votes.first().cloned();
            proof.votes.extend(std::iter::repeat_n(one, OVERSIZE).flatten());
        }
        Message::Decision(decision) => {
            let one = decision.certificate.signatures.first().copied();
            decision.certificate.signatures.extend(std::iter::repeat_n(one, OVERSIZE).flatten());
        }
        Message::Vote(vote) => {
            // A proof of many times the same vote.
            let quoted = RoundVote {
                kind: vote.message.kind,
                header: vote.message.header,
                voter: vote.message.voter,
                signature: vote.signature,
            };
            let (height, round) = (vote.message.height, vote.message.round);
            let votes = vec![quoted; OVERSIZE];
            message = Message::RoundProof(RoundProof { height, round, shows: Shows::Ended, votes });
        }
        _ => return vec![],
    }
    vec![message]
}

/// The pieces of a turn as they go over the wire.
pub(super) fn parts(turn: &Turn) -> impl Iterator<Item = Part> {
    let (height, header, bytes) = (turn.header.height, turn.id(), wire::encode(turn));
    let pieces: Vec<Vec<u8>> = bytes.chunks(PART_BYTES).map(<[u8]>::to_vec).collect();
    let total = u8::try_from(pieces.len()).expect("a turn has few parts");
    (0..total).zip(pieces).map(move |(index, bytes)| Part { height, header, index, total, bytes })
}
