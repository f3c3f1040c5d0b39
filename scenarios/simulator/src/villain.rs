//! Servers that lie: what a Byzantine server sends in place of what its honest inside wants to say.

mod noise;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use metatopia_consensus::Message;
use metatopia_oracle::Forbidden;
use metatopia_types::{
    Act, Blob, Digest, HeaderId, Height, Millis, PublicKey, Root, Round, Sign, Signature,
    SignedEnvelope, SimId, Turn, TurnBody, ValidatorsId,
};

use crate::class::Class;
use noise::{corrupt, garbled, oversized, parts};

/// Messages that a replayer remembers.
const SAID_KEPT: usize = 512;

/// What a liar does with its own turns and votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByzantineBehaviour {
    /// Proposes, and gives nobody the turn.
    WithholdAll,
    /// Gives the turn to one server only.
    WithholdAllButOne,
    /// Gives one server in three its turns, and the others every second part, if there are several.
    WithholdSomeParts,
    /// Proposes two good turns, to different servers, and votes for each where it sent it.
    TwoTurns,
    /// Sends parts that do not add up to the turn.
    CorruptParts,
    /// Proposes turns that break a rule, every time another one.
    VoidTurns,
    /// Says that its turn was built in a later round than it is, so that others look absent.
    OverclaimRound,
    /// Votes for a turn here and for nothing there.
    TwoVotes,
    /// Says nothing at all.
    Mute,
    /// Leaves all acts out of its turns.
    Censor,
    /// States another root than it has, in every turn.
    WrongRoot,
    /// States times that no clock shows.
    WrongTime,
    /// Says old things again, all the time.
    Replay,
    /// Turns bits of what it says.
    Garbage,
    /// Says things that are longer than any may be.
    Oversize,
}

impl ByzantineBehaviour {
    /// All of them but [`Self::WithholdSomeParts`], which takes turns of several parts.
    pub const ALL: [Self; 14] = [
        Self::WithholdAll,
        Self::WithholdAllButOne,
        Self::TwoTurns,
        Self::CorruptParts,
        Self::VoidTurns,
        Self::OverclaimRound,
        Self::TwoVotes,
        Self::Mute,
        Self::Censor,
        Self::WrongRoot,
        Self::WrongTime,
        Self::Replay,
        Self::Garbage,
        Self::Oversize,
    ];

    /// Which class of faults it is.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::WithholdAll
            | Self::WithholdAllButOne
            | Self::WithholdSomeParts
            | Self::CorruptParts => Class::Withholder,
            Self::TwoTurns | Self::TwoVotes => Class::Equivocator,
            Self::VoidTurns => Class::VoidTurns,
            Self::OverclaimRound | Self::WrongTime => Class::TimeLiar,
            Self::Mute => Class::Mute,
            Self::Censor => Class::Censor,
            Self::WrongRoot => Class::HashLiar,
            Self::Replay => Class::Replayer,
            Self::Garbage => Class::Garbage,
            Self::Oversize => Class::Oversize,
        }
    }
}

/// What a liar knows of its sim.
pub(crate) trait VillainContext {
    /// Returns the id of the sim.
    fn sim(&self) -> SimId;
    /// The key of a server.
    fn key(&self, seat: usize) -> &dyn Sign;
    /// So many of the first seats vote at genesis.
    fn founders(&self) -> usize;
    /// Least milliseconds from one turn to the next.
    fn turn_length(&self) -> u64;
    /// An act of a player with this number.
    fn act(&self, player: u64, seq: u64, last_valid: Height, act: Act) -> SignedEnvelope;
}

/// A liar in one seat.
#[derive(Debug)]
pub(crate) struct Villain {
    seat: usize,
    deed: ByzantineBehaviour,
    /// Its own turns, and what it shows of them.
    turns: BTreeMap<HeaderId, Arc<Turn>>,
    variants: BTreeMap<HeaderId, Arc<Turn>>,
    last_seen: Option<HeaderId>,
    /// What it said before, for a replayer.
    said: VecDeque<Message>,
    /// Messages so far.
    count: u64,
}

impl Villain {
    pub(crate) fn new(seat: usize, deed: ByzantineBehaviour) -> Self {
        Self {
            seat,
            deed,
            turns: BTreeMap::new(),
            variants: BTreeMap::new(),
            last_seen: None,
            said: VecDeque::new(),
            count: 0,
        }
    }

    /// Which class of faults it is.
    pub(crate) fn class(&self) -> Class {
        self.deed.class()
    }

    /// The server wrote down a turn: perhaps its own.
    pub(crate) fn note_turn(
        &mut self,
        ground: &dyn VillainContext,
        turn: &Arc<Turn>,
        recent: &[Arc<Turn>],
    ) -> Option<(HeaderId, Forbidden)> {
        self.last_seen = Some(turn.id());
        let own = turn.header.proposer == ground.key(self.seat).public();
        if !own || self.turns.contains_key(&turn.id()) || self.variants.contains_key(&turn.id()) {
            return None;
        }
        let mut variant = Turn::clone(turn);
        let why = match self.deed {
            ByzantineBehaviour::TwoTurns => {
                variant.header.time = variant.header.time.plus(ground.turn_length());
                None
            }
            ByzantineBehaviour::OverclaimRound => {
                let everybody = u32::try_from(ground.founders()).unwrap_or(u32::MAX);
                variant.header.round = Round(variant.header.round.0 + everybody);
                Some("it claims a later round")
            }
            ByzantineBehaviour::VoidTurns => {
                Some(spoil(ground, &mut variant, recent, self.turns.len()))
            }
            ByzantineBehaviour::Censor => {
                put(&mut variant, Vec::new());
                None
            }
            ByzantineBehaviour::WrongRoot => Some(spoil(ground, &mut variant, recent, 0)),
            ByzantineBehaviour::WrongTime => {
                Some(spoil(ground, &mut variant, recent, 3 + self.turns.len() % 2))
            }
            _ => return None,
        };
        let ahead = (variant.header.time > turn.header.time).then_some(variant.header.time);
        let forbidden = why.map(|why| (variant.id(), Forbidden { why, ahead }));
        self.turns.insert(turn.id(), Arc::clone(turn));
        self.variants.insert(turn.id(), Arc::new(variant));
        forbidden
    }

    /// What really goes out to the server in seat `to`.
    pub(crate) fn twist(
        &mut self,
        ground: &dyn VillainContext,
        to: usize,
        message: &Message,
    ) -> Vec<Message> {
        let honest = vec![message.clone()];
        self.count = self.count.wrapping_add(1);
        match self.deed {
            ByzantineBehaviour::Replay => self.replay(message),
            ByzantineBehaviour::Garbage if self.count.is_multiple_of(3) => {
                garbled(message, self.count)
            }
            ByzantineBehaviour::Oversize if self.count.is_multiple_of(8) => {
                [honest, oversized(message, self.count)].concat()
            }
            ByzantineBehaviour::Garbage | ByzantineBehaviour::Oversize => honest,
            ByzantineBehaviour::Mute => vec![],
            ByzantineBehaviour::WithholdAll if carries_turn(message) => vec![],
            ByzantineBehaviour::WithholdAllButOne if carries_turn(message) => {
                let lucky = (self.seat + 1) % ground.founders();
                if to == lucky { honest } else { vec![] }
            }
            ByzantineBehaviour::WithholdSomeParts if keeps_back(message, to) => vec![],
            ByzantineBehaviour::CorruptParts => vec![corrupt(message)],
            ByzantineBehaviour::VoidTurns
            | ByzantineBehaviour::OverclaimRound
            | ByzantineBehaviour::Censor
            | ByzantineBehaviour::WrongRoot
            | ByzantineBehaviour::WrongTime => self.substitute(ground, message),
            ByzantineBehaviour::TwoTurns => match to % 3 {
                0 => {
                    let mut both = self.substitute(ground, message);
                    both.retain(|variant| variant != message);
                    both.insert(0, message.clone());
                    both
                }
                1 => self.substitute(ground, message),
                _ => honest,
            },
            ByzantineBehaviour::TwoVotes => match to % 3 {
                0 => self.other_vote(ground, message),
                1 => honest,
                _ => [honest, self.other_vote(ground, message)].concat(),
            },
            ByzantineBehaviour::WithholdAll
            | ByzantineBehaviour::WithholdAllButOne
            | ByzantineBehaviour::WithholdSomeParts => honest,
        }
    }

    /// The message, and one of those before it.
    fn replay(&mut self, message: &Message) -> Vec<Message> {
        let all = u64::try_from(self.said.len()).unwrap_or(u64::MAX).max(1);
        let at = usize::try_from(self.count.wrapping_mul(7_919) % all).unwrap_or(0);
        let old = self.said.get(at).cloned();
        self.said.push_back(message.clone());
        if self.said.len() > SAID_KEPT {
            self.said.pop_front();
        }
        [message.clone()].into_iter().chain(old).collect()
    }

    /// The same message about the variant of a turn.
    fn substitute(&self, ground: &dyn VillainContext, message: &Message) -> Vec<Message> {
        let key = ground.key(self.seat);
        let variant = |id: &HeaderId| self.variants.get(id);
        match message {
            Message::Proposal(signed) if signed.message.proposer == key.public() => {
                let Some(turn) = variant(&signed.message.header) else {
                    return vec![message.clone()];
                };
                let mut proposal = signed.message.clone();
                proposal.header = turn.id();
                vec![Message::Proposal(proposal.sign(ground.sim(), key))]
            }
            Message::Vote(signed) if signed.message.voter == key.public() => {
                let turn = signed.message.header.as_ref().and_then(variant);
                let Some(turn) = turn else {
                    return vec![message.clone()];
                };
                let mut vote = signed.message.clone();
                vote.header = Some(turn.id());
                vec![Message::Vote(vote.sign(ground.sim(), key))]
            }
            Message::Part(part) => match variant(&part.header) {
                // All parts of the variant for the first one, and nothing for the others.
                Some(turn) if part.index == 0 => parts(turn).map(Message::Part).collect(),
                Some(_) => vec![],
                None => vec![message.clone()],
            },
            _ => vec![message.clone()],
        }
    }

    /// Its own vote, for something else.
    fn other_vote(&self, ground: &dyn VillainContext, message: &Message) -> Vec<Message> {
        let key = ground.key(self.seat);
        match message {
            Message::Vote(signed) if signed.message.voter == key.public() => {
                let mut vote = signed.message.clone();
                vote.header = if vote.header.is_some() { None } else { self.last_seen };
                vec![Message::Vote(vote.sign(ground.sim(), key))]
            }
            _ => vec![message.clone()],
        }
    }
}

/// Is this a part that the server in seat `to` does not get?
fn keeps_back(message: &Message, to: usize) -> bool {
    let Message::Part(part) = message else { return false };
    part.total > 1 && !to.is_multiple_of(3) && (usize::from(part.index) + to).is_multiple_of(2)
}

const fn carries_turn(message: &Message) -> bool {
    matches!(message, Message::Part(_) | Message::Decision(_))
}

/// Breaks one of the rules that make a turn void. `number` chooses which.
fn spoil(
    ground: &dyn VillainContext,
    turn: &mut Turn,
    recent: &[Arc<Turn>],
    number: usize,
) -> &'static str {
    match number % 14 {
        0 => {
            turn.header.root = Root(Digest::of("no such root", &[]));
            "another root"
        }
        1 => {
            turn.header.next_validators = ValidatorsId(Digest::ZERO);
            "other next validators"
        }
        2 => {
            turn.header.validators = ValidatorsId(Digest::ZERO);
            "other validators"
        }
        3 => {
            turn.header.time = turn.header.time.plus(3_600_000);
            "an hour ahead of every clock"
        }
        4 => {
            turn.header.time = Millis(0);
            "before the turn before it"
        }
        5 => {
            turn.header.previous = HeaderId(Digest::of("no such turn", &[]));
            "another turn before it"
        }
        6 => {
            turn.header.engine += 1;
            "other rules"
        }
        7 => {
            turn.header.acts = Digest::of("no such acts", &[]);
            "a header that commits to another body"
        }
        8 => {
            turn.header.proposer = PublicKey([9; 32]);
            "built by somebody else"
        }
        kind @ 9..=12 => spoil_acts(ground, turn, recent, kind),
        _ => {
            (turn.header.blobs, turn.header.blob_count) = (Blob(vec![1]).id().0, 1);
            "a blob that is not there"
        }
    }
}

/// Puts acts into a turn that no turn of its height may carry.
fn spoil_acts(
    ground: &dyn VillainContext,
    turn: &mut Turn,
    recent: &[Arc<Turn>],
    number: usize,
) -> &'static str {
    let height = turn.header.height;
    let player = |seq: u64, last_valid: Height| ground.act(900, seq, last_valid, Act::Heartbeat);
    let soon = height.plus(100);
    match number {
        9 => {
            let mut forged = player(1, soon);
            forged.signature = Signature::from_bytes([7; 64]);
            put(turn, vec![forged]);
            "an act with a wrong signature"
        }
        10 => {
            put(turn, vec![player(1, Height(height.0 - 1))]);
            "an act that expired"
        }
        11 => {
            let again = ancestors(turn, recent).find_map(|turn| turn.body.acts().first());
            let twice = [player(1, soon), ground.act(900, 1, soon, Act::Leave)];
            put(turn, again.map_or(twice.to_vec(), |act| vec![act.clone()]));
            "an act that was used up"
        }
        _ => {
            put(turn, vec![player(1, height.plus(2_000))]);
            "an act that is valid for too long"
        }
    }
}

/// The turns that this one builds on, the last first. Only their acts are used up: a server writes
/// down many a turn that is never decided.
fn ancestors<'a>(turn: &Turn, recent: &'a [Arc<Turn>]) -> impl Iterator<Item = &'a Turn> {
    let find = |id: HeaderId| recent.iter().find(|turn| turn.id() == id).map(|turn| &**turn);
    let last = find(turn.header.previous);
    std::iter::successors(last, move |turn| find(turn.header.previous))
}

/// Other acts, with a header that commits to them.
fn put(turn: &mut Turn, acts: Vec<SignedEnvelope>) {
    turn.body = TurnBody::new(acts, Vec::new()).expect("a few acts are a body");
    (turn.header.acts, turn.header.act_count) = turn.body.acts_root();
    (turn.header.blobs, turn.header.blob_count) = turn.body.blobs_root();
}
