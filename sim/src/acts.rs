//! Acts: decides each one over the state, and changes the state if it is not refused.
//!
//! An act is decided over a state that does not change, and its changes are made only if it is not
//! refused: so an act that fails half-way, or panics, has changed nothing.

mod build;
mod interaction;
mod placement;
mod quota;
mod seats;
mod servers;
mod session;
mod speech;
#[cfg(test)]
mod tests;
mod tickets;
mod undo;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use metatopia_math::{Angle, Vec2};
use metatopia_physics::{BodySpec, InsertError, Pose};
use metatopia_scripting::{Event, limits::GAS_PER_CALL_MIN};
use metatopia_types::{
    Act, ActId, Blob, BlobId, Envelope, Look, ObjectId, Outcome, PublicKey, Refusal, Roster,
    ScriptId, SetChange, SignedEnvelope, Tick, TicketOrder, Turn, Verify,
};

use crate::{
    building::BuildStep,
    chat::SpokenLine,
    hearing::Hearers,
    inbox::{Sender, canonical_order},
    limits::BUILD_BYTES_MAX,
    object::Object,
    players::{Player, PlayerSession},
    programs::Programs,
    state::State,
};

/// Acts that panic when they are decided: a test shows with them that a panic is a failed outcome.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct InjectedPanics {
    /// The ids of these acts.
    pub panic_in: BTreeSet<ActId>,
}

/// One change of the state. Applying it cannot fail, but for those that put a body into the region:
/// [`StateChange::Spawn`], [`StateChange::Build`] and [`StateChange::Undo`] come first in their act.
pub(crate) enum StateChange {
    /// Puts a new avatar with this body into the world.
    Spawn(Object, Box<BodySpec>),
    /// Replaces what is known of a player.
    Player(PublicKey, Player),
    /// Gives an avatar a name and a look.
    Dress(ObjectId, String, Look),
    /// Tells governance of a login.
    Login(PublicKey),
    /// Counts the first login of a key, and one use of this ticket if it shows one.
    FirstLogin(Option<PublicKey>),
    /// Issues a ticket or withdraws one, as an admin ordered.
    Ticket(TicketOrder),
    /// Ends a player's session.
    Despawn(PublicKey),
    /// Removes a player's avatar, so that another player gets the seat.
    Unseat(PublicKey),
    /// Forgets a player, so that another one can be remembered.
    Forget(PublicKey),
    /// Ends sessions without an avatar if there are too many.
    BoundSeatless,
    /// Queues a change of who votes.
    Delay(SetChange),
    /// Applies an impulse to a body.
    Impulse(ObjectId, Vec2),
    /// Turns a body to this angle.
    Face(ObjectId, Angle),
    /// Raises an event for some scripts, in the first tick.
    Raise(Vec<ScriptId>, Event),
    /// Lets people hear a line of chat.
    Chat(SpokenLine),
    /// Lets scripts hear a line of chat, at its speaker's expense.
    HeardByScripts(Hearers, Event),
    /// Sets a roster with other standbys.
    Standbys(Roster),
    /// Sets a roster with other members: a turn has a bounded number of these.
    Members(Roster),
    /// Records a server that was removed because it signed two things at once.
    Expose(PublicKey),
    /// Builds, and records what undoes it.
    Build(Box<BuildStep>),
    /// Undoes a builder's step, and forgets the builder's later ones, which are so many.
    Undo(u8),
}

/// An event that an act raised for some scripts.
pub(crate) struct RaisedEvent {
    /// The scripts that get the event, in the order in which they get it.
    pub(crate) to: Vec<ScriptId>,
    /// The sender of the event.
    pub(crate) sender: Sender,
    /// The event itself.
    pub(crate) event: Event,
}

/// The effects of a turn's acts, besides changes of the state.
#[derive(Default)]
pub(crate) struct ActEffects {
    /// Events for scripts, which the first tick delivers.
    pub(crate) events: Vec<RaisedEvent>,
    /// Lines of chat for people.
    pub(crate) chat: Vec<SpokenLine>,
    /// How much the acts used of what a turn bounds.
    pub(crate) counts: TurnCounts,
    /// The object that the act under way made.
    made: Option<ObjectId>,
}

/// Counts of what a turn's acts may do only so often.
#[derive(Default)]
pub(crate) struct TurnCounts {
    /// Changes of the validator set.
    set_changes: usize,
    /// Avatars that appeared.
    arrivals: usize,
    /// Events that words became for scripts, and the cost of finding the scripts: of all speakers.
    deliveries: usize,
    /// The same, of each speaker.
    deliveries_by: BTreeMap<PublicKey, usize>,
    /// Building steps of all builders.
    builds: u32,
    /// Building steps of each builder.
    builds_by: BTreeMap<PublicKey, u32>,
}

/// Decides the acts of one turn, and applies their changes.
pub(crate) struct ActExecutor<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) verify: &'a dyn Verify,
    pub(crate) panics: &'a InjectedPanics,
    blobs: BTreeMap<BlobId, &'a Blob>,
}

/// The context in which one act is decided.
pub(crate) struct ActContext<'a> {
    executor: &'a ActExecutor<'a>,
    state: &'a State,
    envelope: &'a Envelope,
    /// The counts of the acts before this one in the turn.
    counts: &'a TurnCounts,
}

/// The changes that an act makes, or the rule that refuses it.
type ActResult = Result<Vec<StateChange>, Refusal>;

impl<'a> ActExecutor<'a> {
    /// Returns an executor for the acts of `turn`.
    pub(crate) fn new(
        programs: &'a Programs,
        verify: &'a dyn Verify,
        panics: &'a InjectedPanics,
        turn: &'a Turn,
    ) -> Self {
        let blobs = turn.body.blobs().iter().map(|blob| (blob.id(), blob)).collect();
        Self { programs, verify, panics, blobs }
    }

    /// Applies the acts of a turn, in the order in which the sim core receives them. Returns the
    /// outcomes in the order of `acts`.
    pub(crate) fn execute(
        &self,
        state: &mut State,
        acts: &[SignedEnvelope],
    ) -> (Vec<Outcome>, ActEffects) {
        let mut outcomes = vec![Outcome::Ok; acts.len()];
        let mut effects = ActEffects::default();
        // A change that waited comes before the acts of this turn: it was agreed on before them.
        apply_due_set_change(state, &mut effects);
        for n in core_order(state, acts) {
            // The seat first: whether the author has an avatar decides what the act can do.
            self.regain_seat(state, &acts[n], &mut effects);
            let result = self.decide(state, &acts[n], &effects.counts);
            let author = acts[n].envelope.author;
            let applied = result.and_then(|changes| {
                let mut changes = changes.into_iter();
                changes.try_for_each(|change| apply_change(state, &mut effects, author, change))
            });
            outcomes[n] = match (applied, effects.made.take()) {
                (Err(refusal), _) => Outcome::Refused(refusal),
                (Ok(()), Some(object)) => Outcome::Made(object),
                (Ok(()), None) => Outcome::Ok,
            };
        }
        (outcomes, effects)
    }

    /// Gives an author who lost a seat another one, if there is one, for an act that is more than a
    /// sign of life. The author keeps the seat even if the act is refused: it belongs to the session.
    fn regain_seat(&self, state: &mut State, act: &SignedEnvelope, effects: &mut ActEffects) {
        let counts = &effects.counts;
        let context = ActContext { executor: self, state, envelope: &act.envelope, counts };
        // Nothing is changed while this is decided, so there is nothing to undo after a panic.
        let changes = catch_unwind(AssertUnwindSafe(|| context.regain_seat())).unwrap_or_default();
        let author = act.envelope.author;
        let mut changes = changes.into_iter();
        let applied = changes.try_for_each(|change| apply_change(state, effects, author, change));
        applied.expect("a body that takes another one's place has room");
    }

    /// Decides an act over the state. A panic refuses the act, on every server alike.
    fn decide(&self, state: &State, act: &SignedEnvelope, counts: &TurnCounts) -> ActResult {
        let context = ActContext { executor: self, state, envelope: &act.envelope, counts };
        // Nothing is changed while an act is decided, so there is nothing to undo after a panic.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let panics = &self.panics.panic_in;
            assert!(panics.is_empty() || !panics.contains(&act.id()), "a panic was asked for");
            context.decide()
        }));
        result.unwrap_or(Err(Refusal::Crashed))
    }
}

/// Applies the change of who votes that has waited long enough, if there is one. A change that the
/// roster does not allow by now is dropped.
fn apply_due_set_change(state: &mut State, effects: &mut ActEffects) {
    let Some(change) = state.governance.take_due() else {
        return;
    };
    let mut roster = state.roster.clone();
    if roster.change(&change).is_ok() {
        effects.counts.set_changes += usize::from(roster.members() != state.roster.members());
        state.roster = roster;
    }
}

/// Returns the indexes of the acts in the order in which the sim core, receiver 0, gets them: grouped
/// by author, and in each author's own order.
fn core_order(state: &State, acts: &[SignedEnvelope]) -> Vec<usize> {
    let clock = &state.clock;
    canonical_order(
        &clock.seed,
        clock.tick.plus(1),
        ScriptId(0),
        (0..acts.len()).collect(),
        |n| Sender::Player(acts[*n].envelope.author),
        |n| (acts[*n].envelope.lane, acts[*n].envelope.seq),
    )
}

impl<'a> ActContext<'a> {
    /// Decides the act by the rules of its kind.
    fn decide(&self) -> ActResult {
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
            Act::SetChange(change) => self.set_change(change),
            Act::Ready { height, proof } => self.ready(*height, proof),
            Act::Report(evidence) => self.report(evidence),
            Act::Build(build) => self.build(build),
            Act::Ticket(order) => self.ticket(order),
        }
    }

    /// Returns the tick that acts of this turn take part in.
    fn tick(&self) -> Tick {
        self.state.clock.tick.plus(1)
    }

    /// Returns the author of the act.
    fn author(&self) -> PublicKey {
        self.envelope.author
    }

    /// Returns the author as a player whose lease this act renews. An act other than a heartbeat also
    /// keeps the seat.
    ///
    /// # Errors
    /// When the author is not logged in, or is in another lane.
    fn renewed_player(&self) -> Result<Player, Refusal> {
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
    fn lease(&self) -> Tick {
        self.tick().plus(self.state.charter.parameters.lease_ticks)
    }

    /// Returns the author with a renewed lease and a changed session, and that session.
    fn with_session(
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

impl TurnCounts {
    /// Counts what a line of this author cost in events for scripts.
    fn count_deliveries(&mut self, author: PublicKey, cost: usize) {
        self.deliveries = self.deliveries.saturating_add(cost);
        let own = self.deliveries_by.entry(author).or_default();
        *own = own.saturating_add(cost);
    }

    /// Counts a building step of this author.
    fn count_build(&mut self, author: PublicKey) {
        self.builds = self.builds.saturating_add(1);
        let own = self.builds_by.entry(author).or_default();
        *own = own.saturating_add(1);
    }
}

/// Returns the refusal for a body that physics does not take.
fn body_refusal(error: InsertError) -> Refusal {
    match error {
        InsertError::Full | InsertError::Occupied(_) => Refusal::Full,
        InsertError::Size(_) | InsertError::Field(_) => Refusal::BadSize,
    }
}

/// Applies one change to the state.
///
/// # Errors
/// Only for a body that physics has no room for. Such a change is the first one of its act, so that an
/// act that is refused here has changed nothing.
fn apply_change(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    change: StateChange,
) -> Result<(), Refusal> {
    match change {
        StateChange::Spawn(object, body) => {
            state.spawn(object, &body).map_err(|_| Refusal::Full)?;
            effects.counts.arrivals += 1;
        }
        StateChange::Player(key, player) => state.put_player(key, player),
        StateChange::Dress(id, name, look) => {
            if let Some(object) = state.objects.get_mut(&id) {
                (object.name, object.look) = (name, look);
            }
        }
        StateChange::Login(key) => {
            state.governance.login(&key);
            state.appoint();
        }
        StateChange::FirstLogin(ticket) => {
            state.first_logins.count();
            if let Some(ticket) = ticket {
                state.first_logins.use_ticket(&ticket, state.clock.height);
            }
        }
        StateChange::Ticket(order) => {
            let now = (state.clock.height, state.governance.time);
            state.first_logins.order(author, order, now);
        }
        StateChange::Despawn(key) => state.despawn(&key),
        StateChange::Unseat(key) => state.unseat(&key),
        StateChange::Forget(key) => state.forget(&key),
        StateChange::BoundSeatless => state.bound_seatless(),
        StateChange::Delay(change) => state.governance.delay(change, author),
        // A body that is gone, or that nothing moves, stays as it is.
        StateChange::Impulse(id, impulse) => {
            let _ = state.region.apply_impulse(id, impulse);
        }
        StateChange::Face(id, angle) => {
            if let Some(position) = state.region.body(id).map(metatopia_physics::Body::position) {
                let _ = state.region.set_pose(id, Pose { position, angle });
            }
        }
        StateChange::Raise(to, event) => {
            effects.events.push(RaisedEvent { to, sender: Sender::Player(author), event });
        }
        StateChange::HeardByScripts(hearers, event) => {
            effects.counts.count_deliveries(author, hearers.cost());
            let gas = hearers.scripts.len() as u64 * GAS_PER_CALL_MIN;
            if gas > 0 {
                state.pay(Some(author), gas, state.clock.tick.plus(1));
            }
            let (to, sender) = (hearers.scripts, Sender::Player(author));
            effects.events.push(RaisedEvent { to, sender, event });
        }
        StateChange::Chat(line) => {
            state.chat.add(&line);
            effects.chat.push(line);
        }
        StateChange::Standbys(roster) => state.roster = roster,
        StateChange::Members(roster) => {
            state.roster = roster;
            effects.counts.set_changes += 1;
        }
        StateChange::Expose(key) => state.governance.expose(key, state.clock.height),
        StateChange::Build(step) => {
            let makes = matches!(*step, BuildStep::Create(..));
            let entry = state.apply_build(*step).map_err(body_refusal)?;
            effects.made = makes.then_some(entry.object);
            state.record_build(author, entry);
            // A step that shrinks the state is allowed in a full world too, where this takes nothing.
            state.byte_budget.take(BUILD_BYTES_MAX);
            effects.counts.count_build(author);
        }
        StateChange::Undo(skip) => {
            state.undo(author, skip).map_err(body_refusal)?;
            state.byte_budget.take(BUILD_BYTES_MAX);
            effects.counts.count_build(author);
        }
    }
    Ok(())
}
