//! The context in which one act is decided, and the rules that all acts share.

use metatopia_types::{Act, Envelope, PublicKey, Refusal, Signature, SignedEnvelope, Tick};

use super::{
    changes::{StateChange, TurnCounts},
    executor::ActExecutor,
};
use crate::{
    rules::Warrant,
    state::{Player, PlayerSession, State},
};

/// The context in which one act is decided.
pub(super) struct ActContext<'a> {
    pub(super) executor: &'a ActExecutor<'a>,
    pub(super) state: &'a State,
    pub(super) envelope: &'a Envelope,
    /// The author's signature.
    pub(super) signature: Signature,
    /// The counts of the acts before this one in the turn.
    pub(super) counts: &'a TurnCounts,
}

/// The changes that an act makes, or the rule that refuses it.
pub(super) type ActResult = Result<Vec<StateChange>, Refusal>;

impl<'a> ActContext<'a> {
    /// Returns the context of an act.
    pub(super) const fn new(
        executor: &'a ActExecutor<'a>,
        state: &'a State,
        act: &'a SignedEnvelope,
        counts: &'a TurnCounts,
    ) -> Self {
        let SignedEnvelope { envelope, signature } = act;
        Self { executor, state, envelope, signature: *signature, counts }
    }

    /// Decides the act: first whether its author may do such a thing, then by the rules of its kind.
    pub(super) fn decide(&self) -> ActResult {
        let (right, target) = self.request()?;
        let warrant = self.state.may(&self.author(), right, &target)?;
        let mut changes = self.decide_by_kind(warrant)?;
        // Last: what a step cannot do is not recorded.
        changes.extend(self.recorded(warrant).map(|order| StateChange::Record(Box::new(order))));
        Ok(changes)
    }

    /// Decides the act by the rules of its kind.
    fn decide_by_kind(&self, warrant: Warrant) -> ActResult {
        match &self.envelope.act {
            Act::Login { name, look, bot, pass } => self.login(name, *look, *bot, pass.as_ref()),
            Act::Leave => self.leave(),
            Act::Heartbeat => self.heartbeat(),
            Act::Walk { heading } => self.walk(*heading),
            Act::Touch { object } => self.touch(*object),
            Act::Push { object } => self.push(*object),
            Act::Say { channel, body } => self.say(*channel, *body),
            Act::Emote(emote) => self.emote(*emote),
            Act::SetLook(look) => self.set_look(*look),
            Act::SetChange(change) => self.set_change(change, warrant),
            Act::Ready { height, proof } => self.ready(*height, proof),
            Act::Report(evidence) => self.report(evidence),
            Act::Build(build) => self.build(build),
            Act::Ticket(order) => self.ticket(order),
            Act::Amend { name, value } => self.amend(name, value),
            Act::Publish { source } => self.publish(*source),
            Act::PublishPiece { piece } => self.publish_piece(*piece),
            Act::Assemble { pieces } => self.assemble(pieces),
            Act::Reply { object, tag, choice, text } => self.reply(*object, tag, *choice, text),
            Act::Land { order } => self.land(*order),
            Act::Answer { object, terms, accepts } => self.answer(*object, terms, *accepts),
            Act::Forbid => self.forbid(),
            Act::Hear { neighbour, dispatch } => self.hear(*neighbour, *dispatch),
            Act::Approach { from, work } => self.approach(*from, work.as_ref()),
            Act::Border { order } => self.border(*order),
            Act::Govern(order) => self.govern(order, warrant),
            Act::Lot(order) => self.lot(order),
            Act::GoHome => self.go_home(),
            Act::Sit { on } => self.sit(*on),
            Act::FileReport { about, words } => self.file_report(*about, words),
            Act::WithdrawReport { report } => self.withdraw_report(*report),
            Act::Tell { to, sealed } => self.tell(*to, *sealed),
            Act::EmptyMailbox { up_to } => self.empty_mailbox(*up_to),
            Act::NameFriends { friends, need } => self.name_friends(friends, *need),
            Act::Vouch { old, new } => self.vouch(*old, new),
            Act::CancelRecovery => self.cancel_recovery(),
            Act::Forget { height, body } => self.forget(*height, *body),
            Act::Club(order) => self.club(order),
            Act::SetProfile { profile } => self.set_profile(*profile),
            Act::Unknown { number, .. } => {
                panic!("a turn with an act of number {number}, which is unknown here, is void")
            }
        }
    }

    /// Returns the tick that acts of this turn take part in.
    pub(super) fn tick(&self) -> Tick {
        self.state.clock.tick.plus(1)
    }

    /// Returns the author of the act.
    pub(super) fn author(&self) -> PublicKey {
        self.envelope.author
    }

    /// Returns the author as a player whose lease this act renews. An act other than a heartbeat also
    /// keeps the seat.
    ///
    /// # Errors
    /// When the author is not logged in, or is in another lane.
    pub(super) fn renewed_player(&self) -> Result<Player, Refusal> {
        let player = self.state.players.get(&self.author()).ok_or(Refusal::NotLoggedIn)?;
        let session = player.session.as_ref().ok_or(Refusal::NotLoggedIn)?;
        if session.lane != self.envelope.lane {
            return Err(Refusal::OtherSession);
        }
        let idle = matches!(self.envelope.act, Act::Heartbeat);
        let acted = if idle { session.acted } else { self.tick() };
        let session = PlayerSession { lease: self.lease(), acted, ..session.clone() };
        Ok(Player { session: Some(session), ..player.clone() })
    }

    /// Returns the tick up to which an act of this turn renews a lease.
    pub(super) fn lease(&self) -> Tick {
        self.tick().plus(self.state.charter.parameters.lease_ticks)
    }

    /// Returns the author with a renewed lease and a changed session, and that session.
    pub(super) fn with_session(
        &self,
        change: impl FnOnce(&mut PlayerSession),
    ) -> Result<(Player, PlayerSession), Refusal> {
        let mut player = self.renewed_player()?;
        let session = player.session.as_mut().ok_or(Refusal::NotLoggedIn)?;
        change(session);
        let session = session.clone();
        Ok((player, session))
    }
}
