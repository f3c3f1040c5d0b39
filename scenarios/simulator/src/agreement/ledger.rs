//! A small application for agreement to order turns for: it keeps a running digest, the roster,
//! and which acts were used up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use metatopia_consensus::{ActCheckError, AppliedTurn, Host, VoidAct};
use metatopia_types::{
    Act, Blob, Digest, Height, Lane, PublicKey, Root, Roster, Seq, SetChange, SignedEnvelope,
    SimId, Turn, TurnBody, ValidatorSet, Verify, limits, wire,
};
use serde::{Deserialize, Serialize};

use super::filler;
use super::flaws::Flaws;

/// Most acts the double puts into one turn.
const ACTS_PER_TURN: usize = 64;

/// How many recent roots a `Ready` may name.
const ROOTS_KEPT: u64 = limits::OUTCOME_TURNS;

/// What the root commits to: all of it is a pure function of genesis and the turns so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerState {
    /// After which turn.
    pub height: Height,
    /// A digest of every turn so far, in order, and of what became of its acts.
    pub history: Digest,
    /// Who votes, and who waits.
    pub roster: Roster,
    /// The last sequence number of every lane.
    pub lanes: BTreeMap<(PublicKey, Lane), Seq>,
    /// The roots after recent heights before this one.
    pub roots: BTreeMap<Height, Root>,
}

impl LedgerState {
    /// The state before the first turn.
    #[must_use]
    pub fn genesis(sim: SimId, roster: Roster) -> Self {
        Self {
            height: Height(0),
            history: Digest::of("metatopia ledger v1", sim.bytes()),
            roster,
            lanes: BTreeMap::new(),
            roots: BTreeMap::new(),
        }
    }

    /// The root of this state.
    #[must_use]
    pub fn root(&self) -> Root {
        Root(Digest::of("metatopia ledger root v1", &wire::encode(self)))
    }

    fn use_up(&mut self, act: &SignedEnvelope) {
        let act = &act.envelope;
        let last = self.lanes.entry((act.author, act.lane)).or_default();
        *last = act.seq.max(*last);
    }
}

/// The double of a replica's state machine.
pub struct LedgerDouble {
    sim: SimId,
    admin: PublicKey,
    scheme: Arc<dyn Verify>,
    state: LedgerState,
    /// Turns that are decided and not yet applied: their acts are used up already.
    decided: VecDeque<Turn>,
    /// Acts that wait to be proposed, in the order they came.
    waiting: Vec<SignedEnvelope>,
    /// Who leads, whatever the roster says.
    pub(super) leaders: Option<Vec<PublicKey>>,
    /// What is wrong with it.
    pub(super) flaws: Flaws,
}

/// The same members, led by these.
#[must_use]
pub(super) fn led_by(set: &ValidatorSet, leaders: &[PublicKey]) -> ValidatorSet {
    ValidatorSet::new(set.members().to_vec(), |key| leaders.contains(key))
        .expect("the members of a set are a set")
}

impl std::fmt::Debug for LedgerDouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ledger at {}, {} acts wait", self.state.height, self.waiting.len())
    }
}

impl LedgerDouble {
    /// A ledger that goes on from `state`. Changes of the set are the `admin`'s.
    #[must_use]
    pub fn new(sim: SimId, admin: PublicKey, scheme: Arc<dyn Verify>, state: LedgerState) -> Self {
        let (decided, waiting) = (VecDeque::new(), Vec::new());
        Self { sim, admin, scheme, state, decided, waiting, leaders: None, flaws: Flaws::default() }
    }

    /// The state after the last applied turn.
    #[must_use]
    pub const fn state(&self) -> &LedgerState {
        &self.state
    }

    /// The set that the last applied turn fixed.
    #[must_use]
    pub fn newest_set(&self) -> ValidatorSet {
        let set = self.state.roster.newest_set();
        match &self.leaders {
            None => set.clone(),
            Some(leaders) => led_by(set, leaders),
        }
    }

    /// A client's act waits to be proposed.
    pub fn submit(&mut self, act: SignedEnvelope) {
        self.waiting.push(act);
    }

    /// The acts that wait to be proposed, those included that were decided since.
    pub(crate) fn waiting(&self) -> &[SignedEnvelope] {
        &self.waiting
    }

    fn lanes_after_decided(&self) -> LaneUse<'_> {
        let mut lanes = LaneUse { before: &self.state.lanes, since: BTreeMap::new() };
        for turn in &self.decided {
            lanes.use_up(turn);
        }
        lanes
    }

    /// Applies the next decided turn.
    pub fn apply_next(&mut self) -> Option<AppliedTurn> {
        let turn = self.decided.pop_front()?;
        let before = self.state.root();
        let state = &mut self.state;
        state.roots.insert(state.height, before);
        state.roots.retain(|height, _| height.plus(ROOTS_KEPT) >= turn.header.height);
        let mut outcomes = vec![];
        let mut changes = 0;
        for act in turn.body.acts() {
            state.use_up(act);
            outcomes.push(carry_out(state, self.admin, act, &mut changes));
        }
        state.roster.close(&turn.header);
        state.height = turn.header.height;
        let stain = self.flaws.stain(state.height);
        let story = wire::encode(&(state.history, turn.id(), outcomes, stain));
        state.history = Digest::of("metatopia ledger v1", &story);
        let (height, root) = (state.height, state.root());
        Some(AppliedTurn { height, root, validators: self.newest_set() })
    }
}

impl Host for LedgerDouble {
    fn decided(&mut self, turn: &Turn) {
        let next = self.state.height.plus(self.decided.len() as u64 + 1);
        assert_eq!(turn.header.height, next, "turns are decided in order");
        self.decided.push_back(turn.clone());
    }

    fn judge(&self, turn: &Turn) -> Result<(), VoidAct> {
        if self.flaws.accept_everything() {
            return Ok(());
        }
        let lanes = self.lanes_after_decided();
        let mut seen = BTreeSet::new();
        for act in turn.body.acts() {
            let env = &act.envelope;
            let fault = if env.sim != self.sim {
                ActCheckError::Sim
            } else if env.last_valid < turn.header.height {
                ActCheckError::Expired(env.last_valid)
            } else if env.last_valid > turn.header.height.plus(limits::EXPIRY_HEIGHTS_MAX) {
                ActCheckError::Ahead(env.last_valid)
            // The body is ordered by id, so acts of one lane may come in any order in one turn.
            } else if lanes.has_used(act) || !seen.insert((env.author, env.lane, env.seq)) {
                ActCheckError::Lane
            } else if !act.verify(&*self.scheme) {
                ActCheckError::Signature
            } else if let Act::Unknown { number, .. } = env.act {
                ActCheckError::UnknownAct(number)
            } else {
                continue;
            };
            return Err(VoidAct { act: act.id(), fault });
        }
        Ok(())
    }

    fn body(&mut self, height: Height, after: Option<&Turn>) -> TurnBody {
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut lanes = self.lanes_after_decided();
        // What decided turns used up never comes again; what `after` holds does, if it falls.
        waiting.retain(|act| act.envelope.last_valid >= height && !lanes.has_used(act));
        if let Some(turn) = after {
            lanes.use_up(turn);
        }
        let last = height.plus(limits::EXPIRY_HEIGHTS_MAX);
        let fits = |act: &&SignedEnvelope| act.envelope.last_valid <= last && !lanes.has_used(act);
        let mut acts: Vec<_> = waiting.iter().filter(fits).take(ACTS_PER_TURN).cloned().collect();
        let blobs = fillers(&mut acts);
        self.waiting = waiting;
        TurnBody::new(acts, blobs).expect("few and short acts, and blobs that fit, are a body")
    }
}

/// Returns what long acts say, and removes those for which a turn has no room.
fn fillers(acts: &mut Vec<SignedEnvelope>) -> Vec<Blob> {
    let (mut blobs, mut room) = (Vec::new(), limits::BLOBS_BYTES_MAX);
    acts.retain(|act| {
        let Act::Say { .. } = act.envelope.act else { return true };
        let blob = filler::blob(act.envelope.lane);
        let Some(left) = room.checked_sub(blob.0.len()) else { return false };
        room = left;
        blobs.push(blob);
        true
    });
    blobs
}

/// Lanes as decided turns left them, and what was used since.
struct LaneUse<'a> {
    before: &'a BTreeMap<(PublicKey, Lane), Seq>,
    since: BTreeMap<(PublicKey, Lane), Seq>,
}

impl LaneUse<'_> {
    fn has_used(&self, act: &SignedEnvelope) -> bool {
        let lane = (act.envelope.author, act.envelope.lane);
        self.before.get(&lane).max(self.since.get(&lane)) >= Some(&act.envelope.seq)
    }

    fn use_up(&mut self, turn: &Turn) {
        for act in turn.body.acts() {
            let last = self.since.entry((act.envelope.author, act.envelope.lane)).or_default();
            *last = act.envelope.seq.max(*last);
        }
    }
}

/// Carries out an act. Returns whether it did what it says.
fn carry_out(
    state: &mut LedgerState,
    admin: PublicKey,
    act: &SignedEnvelope,
    changes: &mut usize,
) -> bool {
    let author = act.envelope.author;
    if *changes >= limits::SET_CHANGES_PER_TURN_MAX {
        return !matches!(act.envelope.act, Act::SetChange(_) | Act::Ready { .. });
    }
    let done = match &act.envelope.act {
        Act::SetChange(change) => author == admin && state.roster.change(change).is_ok(),
        // The root is all the state there is.
        Act::Ready { height, proof } => {
            state.roots.get(height) == Some(&Root(*proof)) && state.roster.promote(&author).is_ok()
        }
        _ => return true,
    };
    let adds = |change: &SetChange| !matches!(change, SetChange::Remove { .. });
    let adds_standby = matches!(&act.envelope.act, Act::SetChange(change) if adds(change));
    if done && !adds_standby {
        *changes += 1;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::{LedgerDouble, LedgerState};
    use crate::signatures::SignatureKind;
    use metatopia_consensus::{ActCheckError, AppliedTurn, Host as _, VoidAct};
    use metatopia_types::{
        Act, Digest, Envelope, Header, HeaderId, Height, Lane, Member, Millis, NodeContact,
        PublicKey, Root, Roster, Round, Seq, SetChange, Sign, SignedEnvelope, SimId, Turn,
        TurnBody, ValidatorsId,
    };
    use std::sync::Arc;

    const SIM: SimId = SimId(Digest([7; 32]));

    fn ledger() -> LedgerDouble {
        let member = |key: &Arc<dyn Sign>| {
            (key.public(), Member { power: 1, contact: NodeContact::default() })
        };
        let roster = Roster::genesis(keys().iter().take(4).map(member).collect()).unwrap();
        let admin = keys()[0].public();
        LedgerDouble::new(
            SIM,
            admin,
            SignatureKind::StandIn.verifier(),
            LedgerState::genesis(SIM, roster),
        )
    }

    fn keys() -> Vec<Arc<dyn Sign>> {
        SignatureKind::StandIn.keys(6)
    }

    fn act(key: usize, seq: u64, act: Act) -> SignedEnvelope {
        let key = &keys()[key];
        let last_valid = Height(100);
        Envelope { sim: SIM, author: key.public(), lane: Lane(1), seq: Seq(seq), last_valid, act }
            .sign(&**key)
    }

    fn turn(ledger: &mut LedgerDouble, height: u64, after: Option<&Turn>) -> Turn {
        let body = ledger.body(Height(height), after);
        let ((acts, act_count), (blobs, blob_count)) = (body.acts_root(), body.blobs_root());
        let header = Header {
            sim: SIM,
            engine: 1,
            height: Height(height),
            previous: HeaderId::BEFORE_FIRST,
            proposer: PublicKey::default(),
            round: Round(0),
            time: Millis(height),
            acts,
            act_count,
            blobs,
            blob_count,
            root: Root(Digest::ZERO),
            validators: ValidatorsId(Digest::ZERO),
            next_validators: ValidatorsId(Digest::ZERO),
            reserved: Digest::ZERO,
        };
        Turn { header, body }
    }

    #[test]
    fn an_act_of_a_decided_turn_is_used_up_before_the_turn_is_applied() {
        let mut ledger = ledger();
        ledger.submit(act(5, 1, Act::Heartbeat));
        let first = turn(&mut ledger, 1, None);
        let repeated = Turn { header: turn(&mut ledger, 2, None).header, body: first.body.clone() };
        assert_eq!(ledger.judge(&first), Ok(()));
        assert!(turn(&mut ledger, 2, Some(&first)).body.acts().is_empty());

        ledger.decided(&first);

        let void = VoidAct { act: first.body.acts()[0].id(), fault: ActCheckError::Lane };
        assert_eq!(ledger.judge(&repeated), Err(void));
        ledger.apply_next().unwrap();
        assert_eq!(ledger.judge(&repeated), Err(void));
        assert!(turn(&mut ledger, 2, None).body.acts().is_empty());
    }

    #[test]
    fn acts_that_are_foreign_expired_or_forged_are_named() {
        let judge = {
            let mut ledger = ledger();
            let header = turn(&mut ledger, 101, None).header;
            move |act: SignedEnvelope| {
                let body = TurnBody::new(vec![act], Vec::new()).unwrap();
                ledger.judge(&Turn { header: header.clone(), body }).map_err(|void| void.fault)
            }
        };
        let expired = act(5, 1, Act::Heartbeat);
        let mut foreign = expired.clone();
        foreign.envelope.sim = SimId(Digest::ZERO);
        let mut forged = expired.clone();
        forged.envelope.last_valid = Height(101);

        assert_eq!(judge(expired), Err(ActCheckError::Expired(Height(100))));
        assert_eq!(judge(foreign), Err(ActCheckError::Sim));
        assert_eq!(judge(forged), Err(ActCheckError::Signature));
    }

    #[test]
    fn a_standby_is_promoted_by_its_own_word_about_a_recent_root() {
        let mut ledger = ledger();
        let (key, contact) = (keys()[5].public(), NodeContact::default());
        ledger.submit(act(0, 1, Act::SetChange(SetChange::Add { key, contact })));
        let first = turn(&mut ledger, 1, None);
        ledger.decided(&first);
        let AppliedTurn { height, root, validators } = ledger.apply_next().unwrap();
        assert!(validators.get(&key).is_none(), "a standby does not vote");

        let other = Root(Digest::ZERO);
        for (seq, height, root) in [(1, height, other), (2, Height(9), root), (3, height, root)] {
            let before = ledger.state().height;
            assert!(ledger.state().roster.members().get(&key).is_none(), "before {seq}");
            ledger.submit(act(5, seq, Act::Ready { height, proof: root.0 }));
            let next = turn(&mut ledger, before.0 + 1, None);
            ledger.decided(&next);
            ledger.apply_next().unwrap();
        }
        let set = ledger.state().roster.newest_set();

        assert!(set.get(&key).is_some());
    }
}
