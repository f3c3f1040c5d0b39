//! The golden plaza as its servers would answer for it: every turn with a certificate.

use std::sync::{Arc, LazyLock};

use metatopia_protocol::{
    Answer, SNAPSHOT_PART_BYTES, ServerMessage, SnapshotOffer, TURNS_PER_ANSWER_MAX,
    ValidatorSetLink, encode_server,
};
use metatopia_scenarios::golden;
use metatopia_sim::{Genesis, Serial, Tools, World};
use metatopia_types::{
    Certificate, Ed25519, Header, HeaderId, Height, Round, Sign as _, Turn, ValidatorSet, Vote,
    VoteKind,
    limits::{ROOT_LAG, SET_LAG, TURN_BYTES_MAX},
    wire,
};
use metatopia_wasm::{ClientReplica, ClientRequest, Followed, StartPoint, TrustedGenesis};

pub(crate) type Decided = (Turn, Certificate);

pub(crate) fn genesis() -> Genesis {
    golden::genesis()
}

pub(crate) fn trust() -> TrustedGenesis {
    let genesis = genesis();
    TrustedGenesis::new(genesis.id(), &genesis.encode()).expect("the golden genesis")
}

pub(crate) fn replica(begin: StartPoint) -> ClientReplica {
    ClientReplica::new(trust(), genesis().encode(), begin).expect("the golden genesis")
}

pub(crate) fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

/// A certificate of a header that these servers signed.
pub(crate) fn certificate(header: &Header, signers: &[u8]) -> Certificate {
    let (height, round, id) = (header.height, Round(0), header.id());
    let signature = |index: &u8| {
        let key = golden::server_key(*index);
        let voter = key.public();
        let vote = Vote { kind: VoteKind::Precommit, height, round, header: Some(id), voter };
        (voter, vote.sign(header.sim, &key).signature)
    };
    let mut signatures: Vec<_> = signers.iter().map(signature).collect();
    signatures.sort_by_key(|(key, _)| *key);
    Certificate { height, round, header: id, signatures }
}

/// Who votes at each height: 1 and up.
static SETS: LazyLock<Vec<ValidatorSet>> = LazyLock::new(|| {
    let mut world = World::genesis(&genesis(), &tools()).expect("the golden genesis");
    let set = |world: &World, height: u64| world.validators(Height(height)).cloned();
    let mut sets: Vec<_> = (1..=SET_LAG).filter_map(|height| set(&world, height)).collect();
    for turn in golden::turns().expect("the golden log") {
        world.apply(&turn, &Serial);
        sets.extend(set(&world, world.height().0 + SET_LAG));
    }
    sets
});

/// Returns all servers that vote at this height.
pub(crate) fn voters(height: Height) -> Vec<u8> {
    let set = &SETS[height.0 as usize - 1];
    (0..=8).filter(|index| set.get(&golden::server_key(*index).public()).is_some()).collect()
}

/// The golden turns up to a height, each signed by all who vote.
pub(crate) fn decided(to: usize) -> Vec<Decided> {
    let turns = golden::turns().expect("the golden log");
    let signed = |turn: Turn| {
        let certificate = certificate(&turn.header, &voters(turn.header.height));
        (turn, certificate)
    };
    turns.into_iter().take(to).map(signed).collect()
}

/// The same history, but from this height on headers state another root, as more than two thirds
/// of the servers then sign it.
pub(crate) fn other_roots_from(height: u64, to: usize) -> Vec<Decided> {
    let mut turns = decided(to);
    for at in 0..turns.len() {
        let previous = at.checked_sub(1).map(|before| turns[before].0.id());
        let (turn, signed) = &mut turns[at];
        turn.header.previous = previous.unwrap_or(HeaderId::BEFORE_FIRST);
        if turn.header.height.0 >= height {
            turn.header.root.0.0[0] ^= 1;
        }
        *signed = certificate(&turn.header, &voters(turn.header.height));
    }
    turns
}

pub(crate) fn world_at(height: u64) -> World {
    let mut world = World::genesis(&genesis(), &tools()).expect("the golden genesis");
    for (turn, _) in decided(height as usize) {
        world.apply(&turn, &Serial);
    }
    world
}

/// A node that answers for these turns, and offers these states.
pub(crate) struct Node {
    pub(crate) turns: Vec<Decided>,
    pub(crate) states: Vec<(Height, Vec<u8>)>,
}

impl Node {
    pub(crate) fn new(turns: Vec<Decided>) -> Self {
        Self { turns, states: Vec::new() }
    }

    pub(crate) fn answer(&self, want: &ClientRequest) -> Answer {
        match want {
            ClientRequest::Links { after } => Answer::Links(self.links(Height(*after))),
            ClientRequest::Snapshot => {
                self.offer().map_or(Answer::Unknown, |o| Answer::Snapshot(Box::new(o)))
            }
            ClientRequest::Part { height, part } => {
                let state = self.states.iter().find(|(of, _)| of.0 == *height);
                let part = state
                    .and_then(|(_, bytes)| bytes.chunks(SNAPSHOT_PART_BYTES).nth(*part as usize));
                part.map_or(Answer::Unknown, |part| Answer::SnapshotPart(part.to_vec()))
            }
            ClientRequest::Turns { from } => {
                let mut left = TURN_BYTES_MAX;
                let wanted = self.turns.iter().filter(|(turn, _)| turn.header.height.0 >= *from);
                let fits = |entry: &&Decided| {
                    left = left.saturating_sub(wire::encode(*entry).len());
                    left > 0
                };
                let wanted = wanted.take(TURNS_PER_ANSWER_MAX).take_while(fits);
                Answer::Turns(wanted.cloned().collect())
            }
        }
    }

    fn links(&self, after: Height) -> Vec<ValidatorSetLink> {
        let changes = |(turn, certificate): &Decided| {
            let (header, next) = (turn.header.clone(), SETS[turn.header.height.0 as usize].clone());
            let certificate = certificate.clone();
            (header.next_validators != header.validators && header.height > after)
                .then_some(ValidatorSetLink { header, certificate, next })
        };
        self.turns.iter().filter_map(changes).take(ValidatorSetLink::PER_ANSWER_MAX).collect()
    }

    fn offer(&self) -> Option<SnapshotOffer> {
        let (height, bytes) = self.states.last()?;
        let stating = |(turn, _): &&Decided| turn.header.height == height.plus(ROOT_LAG);
        let (turn, certificate) = self.turns.iter().find(stating)?;
        let (header, certificate) = (turn.header.clone(), certificate.clone());
        Some(SnapshotOffer { height: *height, bytes: bytes.len() as u64, header, certificate })
    }

    /// Answers until there is nothing new; the last thing that the replica said.
    pub(crate) fn lead(&self, replica: &mut ClientReplica) -> Followed {
        let mut last = None;
        loop {
            let Some(want) = replica.want() else {
                return last.expect("it wanted something before");
            };
            let followed = replica.frame(&frame(self.answer(&want))).expect("an honest node");
            let new = last.as_ref().is_none_or(|last: &Followed| last.status != followed.status);
            let asked = replica.want() != Some(want);
            last = Some(followed);
            if !new && !asked {
                return last.expect("it is there");
            }
        }
    }
}

pub(crate) fn frame(answer: Answer) -> Vec<u8> {
    encode_server(&ServerMessage::Answer { id: 1, answer: Box::new(answer) })
}
