//! A turn of which words were forgotten, in fewer bytes than it took in the log before.
//!
//! The log is a hash chain, so a record that loses words stays in its place and may take no more room than it had.
//! A hole says which act named the words in no more bytes than a word of one byte took with its length. What the
//! store needs to vouch for the record comes out of the header: 32 bytes in it are zero in every valid turn.

use metatopia_types::{
    Digest, Header, HeaderId, Height, Millis, PublicKey, Root, Round, SimId, Turn, TurnBody,
    ValidatorsId,
};
use serde::{Deserialize, Serialize};

/// The first byte of such a record, which no other kind of record begins with.
pub(crate) const LEAN_NUMBER: u8 = 127;

/// A turn without what its header reserves.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeanTurn {
    sim: SimId,
    engine: u32,
    height: Height,
    previous: HeaderId,
    proposer: PublicKey,
    round: Round,
    time: Millis,
    acts: Digest,
    act_count: u32,
    blobs: Digest,
    blob_count: u32,
    root: Root,
    validators: ValidatorsId,
    next_validators: ValidatorsId,
    body: TurnBody,
}

impl LeanTurn {
    /// Returns the turn without what its header reserves, which must be zero.
    pub(crate) fn of(turn: &Turn) -> Option<Self> {
        let header = &turn.header;
        (header.reserved == Digest::ZERO).then(|| Self {
            sim: header.sim,
            engine: header.engine,
            height: header.height,
            previous: header.previous,
            proposer: header.proposer,
            round: header.round,
            time: header.time,
            acts: header.acts,
            act_count: header.act_count,
            blobs: header.blobs,
            blob_count: header.blob_count,
            root: header.root,
            validators: header.validators,
            next_validators: header.next_validators,
            body: turn.body.clone(),
        })
    }

    /// Returns the turn as it is everywhere else.
    pub(crate) fn turn(self) -> Turn {
        let header = Header {
            sim: self.sim,
            engine: self.engine,
            height: self.height,
            previous: self.previous,
            proposer: self.proposer,
            round: self.round,
            time: self.time,
            acts: self.acts,
            act_count: self.act_count,
            blobs: self.blobs,
            blob_count: self.blob_count,
            root: self.root,
            validators: self.validators,
            next_validators: self.next_validators,
            reserved: Digest::ZERO,
        };
        Turn { header, body: self.body }
    }
}

#[cfg(test)]
mod tests {
    use metatopia_types::{
        Act, Blob, Envelope, Lane, Seq, Sign as _, SignedEnvelope, SigningKey,
        limits::ACTS_PER_TURN_MAX, wire,
    };

    use super::*;
    use crate::Record;

    /// Returns a turn in which everybody says one sign, which is as short as words are, or more.
    fn turn(lines: usize, bytes: usize) -> Turn {
        let key = SigningKey::from_seed([1; 32]);
        let said = |n: usize| {
            let blob = Blob(n.to_be_bytes()[8 - bytes..].to_vec());
            let act = Act::Say { channel: 0, body: blob.id() };
            let (sim, author) = (SimId(Digest::ZERO), key.public());
            let (lane, seq, last_valid) = (Lane(1), Seq(n as u64 + 1), Height(9));
            let envelope = Envelope { sim, author, lane, seq, last_valid, act };
            (envelope.sign(&key), blob)
        };
        let (acts, blobs): (Vec<SignedEnvelope>, Vec<Blob>) = (0..lines).map(said).unzip();
        let body = TurnBody::new(acts, blobs).expect("short words");
        Turn::of(Header::unstated(), body)
    }

    #[test]
    fn a_turn_without_words_takes_32_bytes_less_at_least_and_reads_back_whatever_they_were() {
        for (lines, bytes) in [(1, 1), (2, 1), (200, 1), (256, 1), (ACTS_PER_TURN_MAX, 2), (9, 8)] {
            let turn = turn(lines, bytes);
            let before = Record::Turn(turn.clone().into()).encode();
            for kept in [0, 1, lines / 2] {
                let said: Vec<_> = turn.body.acts().iter().map(SignedEnvelope::id).collect();
                let holed = turn.without(|act| !said[..kept].contains(&act.id()));
                let Some(holed) = holed else { continue };

                assert_eq!(holed.check_body(), Ok(()), "the header still names this body");
                let record = Record::Turn(holed.into());
                let after = record.encode();

                assert!(after.len() + 31 <= before.len(), "{lines} lines, {kept} kept");
                assert_eq!(Record::decode(&after), Ok(record));
            }
        }
    }

    #[test]
    fn bytes_that_are_no_lean_turn_are_no_record() {
        let holed = turn(3, 2).without(|_| true).expect("words");
        let bytes = Record::Turn(holed.into()).encode();
        assert_eq!(bytes[0], LEAN_NUMBER);
        assert!(Record::decode(&bytes[..bytes.len() - 1]).is_err());
        assert_eq!(Record::decode(&[LEAN_NUMBER]), Err(wire::DecodeError::Malformed));
        // Each turn has one form in a log.
        let (whole, holed) = (turn(3, 2), turn(3, 2).without(|_| true).expect("words"));
        let lean = wire::encode(&(LEAN_NUMBER, LeanTurn::of(&whole)));
        assert!(Record::decode(&lean).is_err(), "a whole turn is never lean");
        let long = [&[0][..], &wire::encode(&holed)].concat();
        assert_eq!(Record::decode(&long), Err(wire::DecodeError::NotCanonical));
    }
}
