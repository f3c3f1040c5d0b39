//! Opening a log, and reading the records of a height again.
//!
//! The core is fed what it accepted in its first life, in that order, and so comes to the same
//! votes. Nothing else may speak to it meanwhile: no judging, no building, no frames. It may say
//! more than it said then, if the crash came between a cause and its effect; that is logged now.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use metatopia_types::Now;

use super::catch_up::CatchUp;
use super::{Agreement, OpenAgreementError, Promise, StepContext};
use crate::chain_history::ChainHistory;
use crate::config::AgreementControls;
use crate::core::{Core, CoreInput};
use crate::height_state::HeightState;
use crate::outbox::{DurabilityNeed, EffectQueue};
use crate::peers::Peers;
use crate::timers::{Alarm, Timers};
use crate::turn_store::TurnStore;
use crate::{AgreementConfig, AppliedTurn, Base, Decision, Host, Message, Recipients, Record};

/// Returns whether this record says what the state machine computed.
const fn is_of_states(record: &Record) -> bool {
    matches!(record, Record::Applied { .. } | Record::Healed { .. } | Record::Recovered(_))
}

impl Agreement {
    /// Starts from `base` and what the log holds after it, in the order it was written; records of
    /// heights up to the base are skipped. All of them are durable. Decided turns come out again, so
    /// that the state machine can apply them.
    ///
    /// # Errors
    /// See [`OpenAgreementError`].
    pub fn open(
        config: AgreementConfig,
        base: Base,
        records: impl IntoIterator<Item = Record>,
        now: Now,
        host: &mut dyn Host,
    ) -> Result<Self, OpenAgreementError> {
        Self::new(config, AgreementControls::default(), base, now).resume(records, now, host)
    }

    /// Opens an agreement like [`Agreement::open`], with rules that are broken on purpose.
    ///
    /// # Errors
    /// See [`OpenAgreementError`].
    #[cfg(feature = "controls")]
    pub fn open_broken(
        config: AgreementConfig,
        controls: AgreementControls,
        base: Base,
        records: impl IntoIterator<Item = Record>,
        now: Now,
        host: &mut dyn Host,
    ) -> Result<Self, OpenAgreementError> {
        Self::new(config, controls, base, now).resume(records, now, host)
    }

    fn resume(
        mut self,
        records: impl IntoIterator<Item = Record>,
        now: Now,
        host: &mut dyn Host,
    ) -> Result<Self, OpenAgreementError> {
        let mut cx = StepContext { now, host };
        let mut restored = false;
        for record in records {
            restored = true;
            self.read(record, &mut cx)?;
        }
        for promise in self.promises.values() {
            let proposal = &promise.proposal.message;
            if self.turn_store.turn(proposal.header).is_none() {
                return Err(OpenAgreementError::NoTurn(proposal.height));
            }
        }
        if self.config.fresh_key && !self.may_sign {
            self.begin_to_sign();
        }
        self.send_promises();
        self.begin(&mut cx);
        self.run(&mut cx);
        self.outbox.close();
        if self.controls.timers_lost && restored {
            self.timers = Timers::default();
        }
        Ok(self)
    }

    fn new(config: AgreementConfig, controls: AgreementControls, base: Base, now: Now) -> Self {
        assert!(config.turn_length > 0, "a turn has a length");
        let me = config.signer.public();
        let height = base.height.plus(1);
        let set = Arc::new(base.sets[0].clone());
        let (signer, scheme) = (Arc::clone(&config.signer), Arc::clone(&config.scheme));
        let mut timers = Timers::default();
        timers.set(Alarm::Sync, now.monotonic + config.patience.sync);
        Self {
            core: Core::new(config.sim, height, set, signer, scheme, controls),
            may_sign: base.voice,
            muted: false,
            signs: false,
            silent: config.silent,
            contested: None,
            chain: ChainHistory::new(base),
            outbox: EffectQueue::new(controls),
            config,
            controls,
            me,
            begun: false,
            height_state: HeightState::default(),
            turn_store: TurnStore::default(),
            peers: Peers::default(),
            timers,
            core_inputs: VecDeque::new(),
            closing: None,
            seen: now.monotonic,
            logged: BTreeMap::new(),
            logged_roots: BTreeMap::new(),
            promises: BTreeMap::new(),
            catch_up: CatchUp::default(),
            nonce: now.wall.0,
            last_void: None,
            halted: false,
        }
    }

    fn read(&mut self, record: Record, cx: &mut StepContext<'_>) -> Result<(), OpenAgreementError> {
        let tip = self.chain.tip().height;
        // The states of the last decided heights may be applied after the base.
        if let Some(height) = record.height()
            && height <= tip
            && !is_of_states(&record)
        {
            return Ok(());
        }
        self.core.trust(&record);
        match record {
            Record::Turn(turn) => self.turn_store.keep_logged(turn),
            Record::Decided(certificate) => {
                let height = certificate.height;
                if height != tip.plus(1) {
                    return Err(OpenAgreementError::Gap(height));
                }
                let turn = self.turn_store.turn(certificate.header).cloned();
                let turn = turn.ok_or(OpenAgreementError::NoTurn(height))?;
                cx.host.decided(&turn);
                let decision = Arc::new(Decision { certificate, turn });
                self.chain.decide(Arc::clone(&decision));
                self.outbox.decided(decision, DurabilityNeed::Signed);
                self.turn_store.retire(height);
                self.logged = self.logged.split_off(&height.plus(1));
                self.promises = self.promises.split_off(&height.plus(1));
            }
            Record::Applied { height, root, validators } => {
                let done = self.chain.applied();
                if height <= done {
                    return Ok(());
                }
                if height != done.plus(1) || height > tip {
                    return Err(OpenAgreementError::Gap(height));
                }
                let validators = validators.unwrap_or_else(|| (**self.chain.newest_set()).clone());
                self.chain.apply(&AppliedTurn { height, root, validators });
                self.logged_roots.insert(height, root);
            }
            Record::Early(proposal) => {
                let promise = Promise { proposal, sent: false };
                let height = promise.proposal.message.height;
                self.promises.insert(height, promise);
            }
            Record::Healed { from } => self.forget_states(from),
            Record::Recovered(signed) => {
                self.forget_states(signed.recovery.height.minus(1).unwrap_or_default());
            }
            Record::Voice => self.may_sign = true,
            Record::Silence => self.may_sign = false,
            record => {
                let height = record.height().unwrap_or_default();
                self.logged.entry(height).or_default().push(record);
            }
        }
        Ok(())
    }

    /// Begins a height with the records of its first life.
    pub(super) fn replay(
        &mut self,
        input: CoreInput,
        records: Vec<Record>,
        cx: &mut StepContext<'_>,
    ) {
        self.outbox.begin_replay(&records);
        if !self.controls.no_index {
            self.core.begin_replay(&records);
        }
        self.tell(input, cx);
        for record in &records {
            // The rest of the log is about a height that is over.
            if self.halted || self.closing.is_some() {
                break;
            }
            self.tell(CoreInput::Record(record.clone()), cx);
            if self.controls.eager_replay {
                self.judge(cx);
                while let Some(input) = self.core_inputs.pop_front() {
                    self.tell(input, cx);
                }
            }
        }
        self.core.end_replay();
        self.outbox.end_replay();
        if self.closing.is_none() {
            self.propose_again(&records);
        }
    }

    /// Proposes again what the log says. While the log is read the core repeats its votes, but not
    /// its proposals.
    fn propose_again(&mut self, records: &[Record]) {
        for record in records {
            let Record::Proposal(proposal) = record else {
                continue;
            };
            if proposal.message.proposer != self.me {
                continue;
            }
            if self.height_state.build == Some(proposal.message.round) {
                self.height_state.build = None;
            }
            self.send_parts(proposal.message.header);
            let message = Message::Proposal(proposal.clone());
            self.outbox.send(Recipients::All, message, DurabilityNeed::Signed);
        }
    }
}
