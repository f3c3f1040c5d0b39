//! The Tendermint core, behind our own nouns.
//!
//! This module and the ones below it are the only ones that know malachite. An input goes in, and a
//! list of events comes out, in the order in which the core wants them done; nothing can be fed
//! back from inside, so the traps of doing so do not exist out there. Signing and checking, which
//! the core wants answered at once, is done here.

mod context;
mod convert;
mod effect_handler;
mod signature_cache;

use std::sync::Arc;

use arc_malachitebft_core_consensus as consensus;
use arc_malachitebft_core_types as malachite;
use consensus::{Input, LocallyProposedValue};
use malachite::{ExtendedCommitCertificate, ValueResponse, VoteExtensionPolicy};
use metatopia_types::{
    Certificate, Evidence, HeaderId, Height, Proposal, PublicKey, Round, Sign, Signed, SimId,
    ValidatorSet, Verify, Vote,
};

use self::context::{CoreHeight, CoreVoters, Ctx, Id, Name};
use self::effect_handler::EffectHandler;
pub(crate) use self::signature_cache::SignatureCache;
use crate::config::AgreementControls;
use crate::{Message, Polka, Record, RoundProof, Step};

/// Heights and messages per height that the core may buffer. It is never given more than the
/// height it is at; messages that come before its first round are all it keeps.
const BUFFERED_HEIGHTS: usize = 2;
const BUFFERED_MESSAGES: usize = 512;

/// What the core is told.
#[derive(Clone, Debug)]
pub(crate) enum CoreInput {
    /// A height begins.
    Height(Height, Arc<ValidatorSet>),
    /// A record of the log, or a verdict of now.
    Record(Record),
    /// A vote of another server.
    Vote(Signed<Vote>),
    /// A proposal of another server.
    Proposal(Signed<Proposal>),
    /// Our own turn for a round.
    Ours(Height, Round, HeaderId),
    /// A wait is over.
    Over(Wait),
    /// Proof that a turn may be proposed again.
    Polka(Polka),
    /// Proof that a round is over or was overtaken.
    RoundProof(RoundProof),
    /// Proof that a turn is decided.
    Certificate(Certificate),
}

/// What the core says.
#[derive(Clone, Debug)]
pub(crate) enum CoreOutput {
    /// It accepted this: signature, sender and place are right. Log it.
    Log(Record),
    /// Send this message to everybody.
    Publish(Message),
    /// Send the turn's parts again.
    Restream(HeaderId),
    /// Start to wait.
    Wait(Wait),
    /// End a wait before its time.
    StopWaiting(Wait),
    /// Stop waiting for anything.
    StopAllWaits,
    /// It is our turn to propose.
    Build(Round),
    /// The certificate is good; what about the turn?
    Certified {
        /// The certificate's round.
        round: Round,
        /// Who proposes in that round.
        proposer: PublicKey,
        /// The id of the turn.
        header: HeaderId,
    },
    /// The certificate is bad.
    BadCertificate(Height),
    /// The height is done.
    Decided(Certificate, Vec<Evidence>),
}

/// Something to wait for in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wait {
    /// The round of the wait.
    pub round: Round,
    /// A step of the round; none is for saying our votes again.
    pub step: Option<Step>,
}

/// The core cannot go on. Only a log that does not fit what it leads to can bring it there.
#[derive(Debug)]
pub(crate) struct Stuck(pub String);

/// The state of agreement at one height.
pub(crate) struct Core {
    state: consensus::State<Ctx>,
    effect_handler: EffectHandler,
}

impl core::fmt::Debug for Core {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Core")
            .field("height", &self.state.height())
            .field("round", &self.state.round())
            .field("signatures", &self.effect_handler.signatures)
            .finish_non_exhaustive()
    }
}

impl Core {
    /// Returns a core that waits for its first [`CoreInput::Height`].
    pub(crate) fn new(
        sim: SimId,
        height: Height,
        set: Arc<ValidatorSet>,
        signer: Arc<dyn Sign>,
        scheme: Arc<dyn Verify>,
        controls: AgreementControls,
    ) -> Self {
        let params = consensus::Params {
            address: Name(signer.public()),
            threshold_params: thresholds(controls),
            value_payload: malachite::ValuePayload::ProposalAndParts,
            enabled: true,
        };
        let (heights, messages) = (BUFFERED_HEIGHTS, BUFFERED_MESSAGES);
        Self {
            state: consensus::State::new(
                Ctx,
                CoreHeight(height),
                CoreVoters::new(set),
                params,
                heights,
                messages,
            ),
            effect_handler: EffectHandler {
                sim,
                signer,
                signatures: SignatureCache::new(scheme),
                says: Vec::new(),
                controls,
                fresh: None,
            },
        }
    }

    /// Lets the core sign, or forbids it. Only between heights may this change from false to true.
    pub(crate) fn set_signing(&mut self, signs: bool) {
        self.state.params.enabled = signs;
    }

    /// Returns how many signatures are known to be good.
    pub(crate) fn signatures(&self) -> usize {
        self.effect_handler.signatures.len()
    }

    /// Returns the current round, or none before the first one of a height.
    pub(crate) fn round(&self) -> Option<Round> {
        self.state.round().as_u32().map(Round)
    }

    /// Returns the last round up to this one in which a quorum prevoted for this turn, as far as this core
    /// knows.
    pub(crate) fn polka_round(&self, header: HeaderId, last: Round) -> Option<Round> {
        let polkas = self.state.driver.polka_certificates().iter();
        let own = polkas.filter(|polka| polka.value_id == Id(header));
        own.filter_map(|polka| polka.round.as_u32().map(Round)).filter(|at| *at <= last).max()
    }

    /// Returns whether a quorum has prevoted for this turn, as far as this core knows.
    pub(crate) fn has_polka(&self, header: HeaderId) -> bool {
        let polkas = self.state.driver.polka_certificates();
        polkas.iter().any(|polka| polka.value_id == Id(header))
    }

    /// Announces the records of the height that will be fed in again, so that the core signs
    /// nothing else than it signed then.
    pub(crate) fn begin_replay(&mut self, records: &[Record]) {
        let inputs: Vec<_> = records.iter().filter_map(convert::to_input).collect();
        self.state.index_wal_entries(&inputs);
    }

    /// Ends what [`Core::begin_replay`] began.
    pub(crate) fn end_replay(&mut self) {
        self.state.reset_entries_index();
    }

    /// Remembers the signatures of a record: they were checked before it was written.
    pub(crate) fn trust(&mut self, record: &Record) {
        let (sim, signatures) = (self.effect_handler.sim, &mut self.effect_handler.signatures);
        match record {
            Record::Vote(vote) => {
                let bytes = vote.message.sign_bytes(sim);
                signatures.trust(&vote.message.voter, &bytes, &vote.signature);
            }
            Record::Proposal(proposal) | Record::Early(proposal) => {
                let bytes = proposal.message.sign_bytes(sim);
                signatures.trust(&proposal.message.proposer, &bytes, &proposal.signature);
            }
            Record::Turn(_)
            | Record::Verdict(_)
            | Record::Timeout(_)
            | Record::Polka(_)
            | Record::Decided(_)
            | Record::Applied { .. }
            | Record::Voice
            | Record::Silence
            | Record::Healed { .. }
            | Record::Recovered(_) => {}
        }
    }

    /// Signs a proposal outside of the core's order: a promise for the next height.
    pub(crate) fn sign(&mut self, proposal: Proposal) -> Signed<Proposal> {
        self.effect_handler.sign_proposal(proposal)
    }

    /// Runs the core until it has said all it has to say about `told`.
    ///
    /// # Errors
    /// If reading the log again leads to another vote than the one in it.
    pub(crate) fn tell(&mut self, input: CoreInput) -> Result<Vec<CoreOutput>, Stuck> {
        let Some(input) = input_of(input) else {
            return Ok(Vec::new());
        };
        let (state, effect_handler) = (&mut self.state, &mut self.effect_handler);
        let end: Result<(), consensus::Error<Ctx>> = consensus::process!(
            input: input,
            state: state,
            metrics: &(),
            with: effect => Ok::<_, core::convert::Infallible>(effect_handler.carry_out(effect))
        );
        let says = core::mem::take(&mut self.effect_handler.says);
        end.map(|()| says).map_err(|why| Stuck(why.to_string()))
    }
}

fn thresholds(controls: AgreementControls) -> malachite::ThresholdParams {
    let mut thresholds = malachite::ThresholdParams::default();
    if controls.small_quorum {
        thresholds.quorum = malachite::ThresholdParam::new(2, 5);
    }
    thresholds
}

fn input_of(input: CoreInput) -> Option<Input<Ctx>> {
    Some(match input {
        // Not as a "restart": that means to forget buffered messages.
        CoreInput::Height(height, set) => {
            let voters = CoreVoters::new(set);
            Input::StartHeight(
                CoreHeight(height),
                voters,
                false,
                None,
                VoteExtensionPolicy::Disabled,
            )
        }
        CoreInput::Record(record) => convert::to_input(&record)?,
        CoreInput::Vote(vote) => Input::Vote(convert::to_signed_vote(&vote)),
        CoreInput::Proposal(proposal) => Input::Proposal(convert::to_signed_proposal(&proposal)),
        CoreInput::Ours(height, round, header) => Input::Propose(LocallyProposedValue::new(
            CoreHeight(height),
            convert::to_round(round),
            Id(header),
        )),
        CoreInput::Over(wait) => {
            let kind =
                wait.step.map_or(malachite::TimeoutKind::Rebroadcast, convert::to_timeout_kind);
            let round = convert::to_round(wait.round);
            Input::TimeoutElapsed(malachite::Timeout::new(round, kind))
        }
        CoreInput::Polka(polka) => Input::PolkaCertificate(convert::to_polka(&polka)),
        CoreInput::RoundProof(proof) => Input::RoundCertificate(convert::to_round_proof(&proof)),
        CoreInput::Certificate(certificate) => {
            let certificate = ExtendedCommitCertificate::from_commit_certificate_and_extensions(
                convert::to_certificate(&certificate),
                malachite::VoteExtensions::default(),
            );
            // The bytes stay with us; the core only hands them back.
            let peer = consensus::PeerId::from_bytes(&[0, 0]).expect("an empty identity hash");
            Input::SyncValueResponse(ValueResponse::new(peer, Vec::new().into(), certificate))
        }
    })
}

fn wait_of(timeout: malachite::Timeout) -> Wait {
    Wait { round: convert::round(timeout.round), step: convert::step(timeout.kind) }
}
