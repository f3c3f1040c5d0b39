//! The agreement machine of one sim on one server.

mod catch_up;
mod frames;
mod height;
mod held;
mod propose;
mod repair;
mod replay;
mod signing;
mod verdict;
mod want;

use std::collections::{BTreeMap, VecDeque};
use std::{sync::Arc, time::Duration};

use metatopia_types::{
    Certificate, Digest, Evidence, Height, Now, Proposal, PublicKey, Root, Round, Signed,
    ValidatorSet, wire,
};

use self::catch_up::CatchUp;
pub use self::held::ResourceCount;
use crate::chain_history::ChainHistory;
use crate::config::AgreementControls;
use crate::core::{Core, CoreInput};
use crate::height_state::HeightState;
use crate::outbox::EffectQueue;
use crate::peers::Peers;
use crate::timers::{Alarm, Timers};
use crate::turn_store::TurnStore;
use crate::{
    AgreementConfig, AgreementEffect, AgreementInput, AppliedTurn, Base, Decision, Halt, Host,
    JoinPack, Link, Record, Void,
};

/// Orders turns together with the other servers of a sim. See the crate's page.
#[derive(Debug)]
pub struct Agreement {
    config: AgreementConfig,
    controls: AgreementControls,
    me: PublicKey,
    chain: ChainHistory,
    core: Core,
    /// Whether the height after the last decided one has begun.
    begun: bool,
    height_state: HeightState,
    turn_store: TurnStore,
    peers: Peers,
    timers: Timers,
    outbox: EffectQueue,
    /// What the core will be told next.
    core_inputs: VecDeque<CoreInput>,
    /// What the core has just decided.
    closing: Option<(Certificate, Vec<Evidence>)>,
    /// When the last decided turn was first seen, in monotonic time: the next one is paced by it.
    seen: Duration,
    /// The core's records of heights that were not decided when the log was read.
    logged: BTreeMap<Height, Vec<Record>>,
    /// Roots in the log that the host has not computed again yet.
    logged_roots: BTreeMap<Height, Root>,
    /// Proposals for round 0 of heights that have not begun.
    promises: BTreeMap<Height, Promise>,
    catch_up: CatchUp,
    /// Whether this server may sign.
    may_sign: bool,
    /// Whether this server must not sign for now. If it becomes true, that counts from the next height on.
    muted: bool,
    /// Whether this server signs at the height that has begun.
    signs: bool,
    /// Whether this server must not sign, whatever it may: its state parted from the others' too often.
    silent: bool,
    /// The decided turn that is void here, and who sent it.
    contested: Option<(PublicKey, Decision)>,
    /// Tells answers to this life's questions from those to an earlier one's.
    nonce: u64,
    last_void: Option<Void>,
    halted: bool,
}

/// A proposal that was signed before its height began.
#[derive(Debug)]
struct Promise {
    proposal: Signed<Proposal>,
    /// Whether it left in this life.
    sent: bool,
}

/// What a step may use: the time, and the state machine.
struct StepContext<'a> {
    now: Now,
    host: &'a mut dyn Host,
}

/// Why a log is not one that an agreement wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenAgreementError {
    /// A turn is decided or promised whose bytes are missing.
    #[error("the log relies on a turn of height {0} without the turn's bytes")]
    NoTurn(Height),
    /// Heights are decided or applied out of order.
    #[error("the log jumps to height {0}")]
    Gap(Height),
}

impl Agreement {
    /// Takes an input. Afterwards poll the effects and look at the deadline.
    ///
    /// # Panics
    /// If turns are reported as applied out of order, or before they were decided.
    pub fn handle(&mut self, now: Now, host: &mut dyn Host, input: AgreementInput) {
        if self.halted {
            return self.on_halted(input);
        }
        let cx = &mut StepContext { now, host };
        match input {
            AgreementInput::Frame { from, message } => self.on_frame(from, message, cx),
            AgreementInput::Wake => self.on_wake(cx),
            AgreementInput::Synced(to) => self.outbox.synced(to),
            AgreementInput::Muted(muted) => self.mute(muted, cx),
            AgreementInput::Applied(applied) => self.on_applied(&applied, cx),
            AgreementInput::PeerUp(peer) => self.peers.up(peer),
            AgreementInput::PeerDown(peer) => self.on_peer_down(peer, cx),
            AgreementInput::Loaded { to, decisions } => self.on_loaded(to, decisions),
        }
        self.run(cx);
        self.outbox.close();
        self.assert_invariants();
    }

    /// Asserts what holds between two inputs.
    fn assert_invariants(&self) {
        if self.halted {
            return;
        }
        assert!(self.core_inputs.is_empty(), "the core is told of everything before a step ends");
        assert!(self.closing.is_none(), "a decision closes its height in the step that makes it");
        assert!(self.contested.is_none(), "an agreement that runs has no contested turn");
        assert!(self.may_sign || !self.signs, "only who may sign signs");
        let height = self.height();
        let oldest = self.promises.keys().next();
        assert!(oldest.is_none_or(|at| *at >= height), "promises of decided heights are dropped");
    }

    /// Returns the next effect to carry out.
    pub fn poll(&mut self) -> Option<AgreementEffect> {
        self.outbox.poll()
    }

    /// Returns when to hand in [`AgreementInput::Wake`], in monotonic time.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        if self.halted {
            return None;
        }
        self.timers.next()
    }

    /// Returns a digest of what this machine knows, for traces.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let (tip, candidates) = (self.chain.tip(), self.height_state.candidates());
        let judged = candidates.iter().map(|(header, candidate)| {
            let valid = candidate.judged.map(|judged| judged.valid);
            (*header, candidate.accepted, candidate.voters.len(), valid)
        });
        let place = (tip.height, tip.header, self.chain.applied(), self.round());
        let flags = (self.begun, self.may_sign, self.halted);
        let promises: Vec<_> = self.promises.keys().collect();
        let work = (self.outbox.appended(), promises, self.catch_up.held());
        let all = (place, flags, work, judged.collect::<Vec<_>>(), self.timers.next());
        Digest::of("metatopia agreement digest v1", &wire::encode(&all))
    }

    /// Returns the height that is being agreed on.
    #[must_use]
    pub fn height(&self) -> Height {
        self.chain.tip().height.plus(1)
    }

    /// Returns the round of that height, or none before it begins.
    #[must_use]
    pub fn round(&self) -> Option<Round> {
        self.core.round().filter(|_| self.begun)
    }

    /// Returns who proposes in that round.
    #[must_use]
    pub fn proposer(&self) -> Option<PublicKey> {
        let round = self.round()?;
        let set = self.chain.set(self.height())?;
        Some(set.proposer(self.height(), round))
    }

    /// Returns the last decision, or none right after the base.
    #[must_use]
    pub fn tip(&self) -> Option<&Arc<Decision>> {
        self.chain.decision(self.chain.tip().height)
    }

    /// Returns the decision of a height, while it is in memory: those of the last
    /// [`DECISIONS_KEPT`](crate::limits::DECISIONS_KEPT) heights are, if they are not very long.
    #[must_use]
    pub fn decision(&self, height: Height) -> Option<&Arc<Decision>> {
        self.chain.decision(height)
    }

    /// Returns who votes at a height, from some way below the last applied height to three above
    /// it.
    #[must_use]
    pub fn validators(&self, height: Height) -> Option<&Arc<ValidatorSet>> {
        self.chain.set(height)
    }

    /// Returns whether this server votes at the height that is being agreed on.
    #[must_use]
    pub fn is_voting(&self) -> bool {
        let set = self.chain.set(self.height());
        self.begun && self.signs && !self.halted && set.is_some_and(|s| s.get(&self.me).is_some())
    }

    /// Returns whether this server may sign, as far as its log says. If records of the log were lost, it may
    /// not until it is past all that it may have signed.
    #[must_use]
    pub const fn has_voice(&self) -> bool {
        self.may_sign
    }

    /// Returns the height that servers with more than a third of the voting power say they are at,
    /// so that one of them is honest, or 0 while too few speak. With `any` it returns the highest
    /// height that anybody names.
    #[must_use]
    pub fn others_at(&self, any: bool) -> Height {
        let set = self.chain.set(self.height()).unwrap_or_else(|| self.chain.newest_set());
        let mut said: Vec<(Height, u64)> = self
            .peers
            .heights()
            .map(|(name, height)| {
                (height, set.get(&name).map_or(0, |member| u64::from(member.power)))
            })
            .collect();
        said.sort_unstable_by(|a, b| b.cmp(a));
        let lies = set.total_power().saturating_sub(set.quorum());
        let mut power = 0_u64;
        let honest = said.into_iter().find(|(_, own)| {
            power = power.saturating_add(*own);
            any || power > lies
        });
        honest.map(|(height, _)| height).unwrap_or_default()
    }

    /// Returns why the last void turn was void, for the operator's log.
    #[must_use]
    pub const fn last_void(&self) -> Option<Void> {
        self.last_void
    }

    /// Returns where to start from next time, for one of the last
    /// [`BASES_KEPT`](crate::limits::BASES_KEPT) applied heights. It is to be kept with the state
    /// of that height.
    #[must_use]
    pub fn base(&self, height: Height) -> Option<Base> {
        self.chain.base(height, self.may_sign)
    }

    /// Returns what somebody needs to verify the state after a recent height, at least two below
    /// the tip.
    #[must_use]
    pub fn join_pack(&self, height: Height) -> Option<JoinPack> {
        self.chain.join_pack(height)
    }

    /// Returns the changes of the members, ascending by height: all since genesis, or since the
    /// beginning of a join pack.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        self.chain.links()
    }

    fn on_wake(&mut self, cx: &mut StepContext<'_>) {
        while let Some(alarm) = self.timers.take_due(cx.now.monotonic) {
            match alarm {
                Alarm::Core(wait) => self.core_inputs.push_back(CoreInput::Over(wait)),
                // Whether a turn may leave is looked at after every input.
                Alarm::Leave => {}
                Alarm::Want(header) => self.want(header, cx),
                Alarm::Sync => self.look_around(cx),
            }
            // One at a time: what the core says may stop the others.
            self.pump(cx);
        }
    }

    fn on_applied(&mut self, applied: &AppliedTurn, cx: &mut StepContext<'_>) {
        let height = applied.height;
        if let Some(logged) = self.logged_roots.remove(&height) {
            let now = applied.root;
            if logged != now {
                self.halt(Halt::Unrepeatable { height, logged, now });
            }
            return;
        }
        self.note_state(applied);
        self.begin(cx);
    }

    /// Notes a state that is known, also in the log.
    fn note_state(&mut self, applied: &AppliedTurn) {
        let changed = applied.validators != **self.chain.newest_set();
        self.chain.apply(applied);
        self.outbox.append(Record::Applied {
            height: applied.height,
            root: applied.root,
            validators: changed.then(|| applied.validators.clone()),
        });
    }

    /// Works until nothing is left that can be done now.
    fn run(&mut self, cx: &mut StepContext<'_>) {
        loop {
            self.pump(cx);
            if self.halted {
                return;
            }
            self.take_ahead();
            let leave = self.propose(cx).into_iter().chain(self.promise(cx)).min();
            match leave {
                Some(at) => self.timers.set(Alarm::Leave, at),
                None => {
                    self.timers.stop(Alarm::Leave);
                }
            }
            if self.core_inputs.is_empty() {
                return;
            }
        }
    }

    fn halt(&mut self, why: Halt) {
        self.halted = true;
        self.core_inputs.clear();
        self.outbox.push(AgreementEffect::Halt(why));
    }
}
