//! Servers that lie: what a Byzantine server sends in place of what its honest inside wants to say.

mod forgery;
mod noise;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use metatopia_consensus::Message;
use metatopia_oracle::{Forbidden, Oracle};
use metatopia_types::{
    Act, Blob, Digest, HeaderId, Height, Millis, PublicKey, Root, Round, Signature, SignedEnvelope,
    Turn, TurnBody, ValidatorsId,
};

use crate::class::{Class, Fired};
use crate::setting::ClusterSetting;
pub(crate) use forgery::forged;
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
    /// Tells in its turns what neighbours never said, or said long ago: whatever its couriers bring.
    ForgeHears,
}

impl ByzantineBehaviour {
    /// All of them but [`Self::WithholdSomeParts`], which takes turns of several parts, and [`Self::ForgeHears`],
    /// which takes a border.
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

    /// Returns those of [`Self::ALL`] that are of one class of faults.
    pub(crate) fn of(class: Class) -> Vec<Self> {
        Self::ALL.into_iter().filter(|deed| deed.class() == class).collect()
    }

    /// Returns the class of faults of the behaviour.
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
            Self::Garbage | Self::ForgeHears => Class::Garbage,
            Self::Oversize => Class::Oversize,
        }
    }
}

/// The liars of a cluster, by their seats.
#[derive(Debug)]
pub(crate) struct Villains(BTreeMap<usize, Villain>);

impl Villains {
    /// Returns the liars that a setting names.
    pub(crate) fn of<T>(setting: &ClusterSetting<T>) -> Self {
        let liars = setting.liars.iter();
        Self(liars.map(|(seat, deed)| (*seat, Villain::new(*seat, *deed))).collect())
    }

    /// Returns how the server in a seat lies, if it does.
    pub(crate) fn class(&self, seat: usize) -> Option<Class> {
        self.0.get(&seat).map(|villain| villain.deed.class())
    }

    /// Returns what a liar really sends to a server in place of a message, and tells the oracle; nothing
    /// if the sender is no liar.
    pub(crate) fn twist<T>(
        &mut self,
        setting: &ClusterSetting<T>,
        (from, to): (usize, usize),
        message: &Message,
        (oracle, fired): (&mut Oracle, &mut Fired),
    ) -> Option<Vec<Message>> {
        let villain = self.0.get_mut(&from)?;
        let said = villain.twist(setting, to, message);
        if said != [message.clone()] {
            fired.note(villain.deed.class());
        }
        if oracle.is_honest(to) {
            oracle.saw_lies(setting.name(from), &said);
        }
        Some(said)
    }

    /// Notes a turn that the liar in a seat wrote down, and forbids what it makes of that.
    pub(crate) fn note_turn<T>(
        &mut self,
        setting: &ClusterSetting<T>,
        seat: usize,
        (turn, recent): (&Arc<Turn>, &[Arc<Turn>]),
        oracle: &mut Oracle,
    ) {
        let villain = self.0.get_mut(&seat);
        let noted = villain.and_then(|villain| villain.note_turn(setting, turn, recent));
        if let Some((id, why)) = noted {
            oracle.forbid(id, why);
        }
    }
}

/// A liar in one seat.
#[derive(Debug)]
struct Villain {
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
    fn new(seat: usize, deed: ByzantineBehaviour) -> Self {
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

    /// The server wrote down a turn: perhaps its own.
    fn note_turn<T>(
        &mut self,
        setting: &ClusterSetting<T>,
        turn: &Arc<Turn>,
        recent: &[Arc<Turn>],
    ) -> Option<(HeaderId, Forbidden)> {
        self.last_seen = Some(turn.id());
        let own = turn.header.proposer == setting.name(self.seat);
        if !own || self.turns.contains_key(&turn.id()) || self.variants.contains_key(&turn.id()) {
            return None;
        }
        let mut variant = Turn::clone(turn);
        let why = match self.deed {
            ByzantineBehaviour::TwoTurns => {
                variant.header.time = variant.header.time.plus(setting.turn_length);
                None
            }
            ByzantineBehaviour::OverclaimRound => {
                let everybody = u32::try_from(setting.founders).unwrap_or(u32::MAX);
                variant.header.round = Round(variant.header.round.0 + everybody);
                Some("it claims a later round")
            }
            ByzantineBehaviour::VoidTurns => {
                Some(spoil(setting, &mut variant, recent, self.turns.len()))
            }
            ByzantineBehaviour::Censor => {
                put(&mut variant, Vec::new());
                None
            }
            ByzantineBehaviour::WrongRoot => Some(spoil(setting, &mut variant, recent, 0)),
            ByzantineBehaviour::WrongTime => {
                Some(spoil(setting, &mut variant, recent, 3 + self.turns.len() % 2))
            }
            _ => return None,
        };
        let ahead = (variant.header.time > turn.header.time).then_some(variant.header.time);
        let forbidden = why.map(|why| (variant.id(), Forbidden { why, ahead }));
        self.turns.insert(turn.id(), Arc::clone(turn));
        self.variants.insert(turn.id(), Arc::new(variant));
        forbidden
    }

    /// Returns what really goes out to the server in seat `to`.
    fn twist<T>(
        &mut self,
        setting: &ClusterSetting<T>,
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
                let lucky = (self.seat + 1) % setting.founders;
                if to == lucky { honest } else { vec![] }
            }
            ByzantineBehaviour::WithholdSomeParts if keeps_back(message, to) => vec![],
            ByzantineBehaviour::CorruptParts => vec![corrupt(message)],
            ByzantineBehaviour::VoidTurns
            | ByzantineBehaviour::OverclaimRound
            | ByzantineBehaviour::Censor
            | ByzantineBehaviour::WrongRoot
            | ByzantineBehaviour::WrongTime => self.substitute(setting, message),
            ByzantineBehaviour::TwoTurns => match to % 3 {
                0 => {
                    let mut both = self.substitute(setting, message);
                    both.retain(|variant| variant != message);
                    both.insert(0, message.clone());
                    both
                }
                1 => self.substitute(setting, message),
                _ => honest,
            },
            ByzantineBehaviour::TwoVotes => match to % 3 {
                0 => self.other_vote(setting, message),
                1 => honest,
                _ => [honest, self.other_vote(setting, message)].concat(),
            },
            ByzantineBehaviour::WithholdAll
            | ByzantineBehaviour::WithholdAllButOne
            | ByzantineBehaviour::WithholdSomeParts
            | ByzantineBehaviour::ForgeHears => honest,
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
    fn substitute<T>(&self, setting: &ClusterSetting<T>, message: &Message) -> Vec<Message> {
        let key = &*setting.keys[self.seat];
        let variant = |id: &HeaderId| self.variants.get(id);
        match message {
            Message::Proposal(signed) if signed.message.proposer == key.public() => {
                let Some(turn) = variant(&signed.message.header) else {
                    return vec![message.clone()];
                };
                let mut proposal = signed.message.clone();
                proposal.header = turn.id();
                vec![Message::Proposal(proposal.sign(setting.sim, key))]
            }
            Message::Vote(signed) if signed.message.voter == key.public() => {
                let turn = signed.message.header.as_ref().and_then(variant);
                let Some(turn) = turn else {
                    return vec![message.clone()];
                };
                let mut vote = signed.message.clone();
                vote.header = Some(turn.id());
                vec![Message::Vote(vote.sign(setting.sim, key))]
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
    fn other_vote<T>(&self, setting: &ClusterSetting<T>, message: &Message) -> Vec<Message> {
        let key = &*setting.keys[self.seat];
        match message {
            Message::Vote(signed) if signed.message.voter == key.public() => {
                let mut vote = signed.message.clone();
                vote.header = if vote.header.is_some() { None } else { self.last_seen };
                vec![Message::Vote(vote.sign(setting.sim, key))]
            }
            _ => vec![message.clone()],
        }
    }
}

/// Returns whether this is a part that the server in seat `to` does not get.
fn keeps_back(message: &Message, to: usize) -> bool {
    let Message::Part(part) = message else { return false };
    part.total > 1 && !to.is_multiple_of(3) && (usize::from(part.index) + to).is_multiple_of(2)
}

const fn carries_turn(message: &Message) -> bool {
    matches!(message, Message::Part(_) | Message::Decision(_))
}

/// Breaks one of the rules that make a turn void. `number` chooses which.
fn spoil<T>(
    setting: &ClusterSetting<T>,
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
        kind @ 9..=12 => spoil_acts(setting, turn, recent, kind),
        _ => {
            (turn.header.blobs, turn.header.blob_count) = (Blob(vec![1]).id().0, 1);
            "a blob that is not there"
        }
    }
}

/// Puts acts into a turn that no turn of its height may carry.
fn spoil_acts<T>(
    setting: &ClusterSetting<T>,
    turn: &mut Turn,
    recent: &[Arc<Turn>],
    number: usize,
) -> &'static str {
    let height = turn.header.height;
    let player = |seq: u64, last_valid: Height| setting.act(900, seq, last_valid, Act::Heartbeat);
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
            let twice = [player(1, soon), setting.act(900, 1, soon, Act::Leave)];
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
