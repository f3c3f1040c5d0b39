//! Acts: what becomes of each one.
//!
//! An act is decided over a state that does not change, and its changes are made only if it is not
//! refused: so an act that fails half-way, or panics, has changed nothing.

mod build;
mod ground;
mod hands;
mod seats;
mod servers;
mod session;
mod share;
mod speech;
#[cfg(test)]
mod tests;
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
    ScriptId, SetChange, SignedEnvelope, Tick, Turn, Verify,
};

use crate::{
    building::Work,
    chat::ChatLine,
    hearing::Hearers,
    inbox::{Sender, canonical_order},
    limits::DEED_BYTES_MAX,
    object::Object,
    players::{Player, Session},
    programs::Programs,
    state::State,
};

/// Acts that panic when they are applied: how a test shows that a panic is a failed outcome.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// The acts.
    pub panic_in: BTreeSet<ActId>,
}

/// One change of the state. Making it cannot fail, but for those that need room for a body:
/// [`Change::Spawn`], [`Change::Work`] and [`Change::Undo`] come first.
pub(crate) enum Change {
    /// A new avatar.
    Spawn(Object, Box<BodySpec>),
    /// A player as it is from now on.
    Player(PublicKey, Player),
    /// An avatar gets a name and a look.
    Dress(ObjectId, String, Look),
    /// A login that governance takes note of.
    Login(PublicKey),
    /// A key logs in for the first time.
    FirstLogin,
    /// A player's session ends.
    Despawn(PublicKey),
    /// A player's avatar makes room for another.
    Unseat(PublicKey),
    /// A player makes room for another.
    Forget(PublicKey),
    /// Sessions without an avatar may be too many.
    BoundSeatless,
    /// A change of who votes waits.
    Delay(SetChange),
    /// A body is shoved.
    Impulse(ObjectId, Vec2),
    /// A body turns.
    Face(ObjectId, Angle),
    /// An event for some scripts, in the first tick.
    Post(Vec<ScriptId>, Event),
    /// Words are heard by people.
    Chat(ChatLine),
    /// Words are heard by scripts, at their speaker's expense.
    Heard(Hearers, Event),
    /// Other standbys.
    Standbys(Roster),
    /// Other members: at most so many times a turn.
    Members(Roster),
    /// A server lied.
    Expose(PublicKey),
    /// A builder's deed.
    Work(Box<Work>),
    /// A builder's deed is taken back, so many later ones are forgotten.
    Undo(u8),
}

/// An event that an act raised for some scripts.
pub(crate) struct Post {
    pub(crate) to: Vec<ScriptId>,
    pub(crate) sender: Sender,
    pub(crate) event: Event,
}

/// What the acts of a turn brought, besides changes of the state.
#[derive(Default)]
pub(crate) struct Brought {
    pub(crate) posts: Vec<Post>,
    pub(crate) chat: Vec<ChatLine>,
    pub(crate) tally: Tally,
    /// What the act under way made.
    made: Option<ObjectId>,
}

/// What a turn's acts may only do so often.
#[derive(Default)]
pub(crate) struct Tally {
    /// Changes of the validator set.
    set_changes: usize,
    /// Avatars that appeared.
    arrivals: usize,
    /// What words became for scripts, of all speakers and of each: events, and looks for who hears.
    deliveries: usize,
    deliveries_by: BTreeMap<PublicKey, usize>,
    /// Deeds of all builders, and of each.
    builds: u32,
    builds_by: BTreeMap<PublicKey, u32>,
}

/// What acts are decided over.
pub(crate) struct Court<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) verify: &'a dyn Verify,
    pub(crate) faults: &'a Faults,
    blobs: BTreeMap<BlobId, &'a Blob>,
}

/// One act before the court.
pub(crate) struct Case<'a> {
    court: &'a Court<'a>,
    state: &'a State,
    envelope: &'a Envelope,
    /// What the acts before it did.
    tally: &'a Tally,
}

type Ruling = Result<Vec<Change>, Refusal>;

impl<'a> Court<'a> {
    pub(crate) fn new(
        programs: &'a Programs,
        verify: &'a dyn Verify,
        faults: &'a Faults,
        turn: &'a Turn,
    ) -> Self {
        let blobs = turn.body.blobs().iter().map(|blob| (blob.id(), blob)).collect();
        Self { programs, verify, faults, blobs }
    }

    /// Applies the acts of a turn, in the order in which the sim core receives them. The outcomes
    /// are in the order of the acts.
    pub(crate) fn hear(
        &self,
        state: &mut State,
        acts: &[SignedEnvelope],
    ) -> (Vec<Outcome>, Brought) {
        let mut outcomes = vec![Outcome::Ok; acts.len()];
        let mut brought = Brought::default();
        carry_out_due(state, &mut brought);
        for n in core_order(state, acts) {
            self.seat(state, &acts[n], &mut brought);
            let ruling = self.rule(state, &acts[n], &brought.tally);
            let author = acts[n].envelope.author;
            let made = ruling.and_then(|changes| {
                changes.into_iter().try_for_each(|change| make(state, &mut brought, author, change))
            });
            outcomes[n] = match (made, brought.made.take()) {
                (Err(why), _) => Outcome::Refused(why),
                (Ok(()), Some(object)) => Outcome::Made(object),
                (Ok(()), None) => Outcome::Ok,
            };
        }
        (outcomes, brought)
    }

    /// Gives who lost a seat another one, if there is one, for an act that is more than a sign of
    /// life. Whatever becomes of the act, the seat stays: it belongs to the session.
    fn seat(&self, state: &mut State, act: &SignedEnvelope, brought: &mut Brought) {
        let case = Case { court: self, state, envelope: &act.envelope, tally: &brought.tally };
        // Nothing is changed while this is decided, so there is nothing to undo after a panic.
        let changes = catch_unwind(AssertUnwindSafe(|| case.take_seat())).unwrap_or_default();
        let author = act.envelope.author;
        let made = changes.into_iter().try_for_each(|change| make(state, brought, author, change));
        made.expect("a body that takes another one's place has room");
    }

    fn rule(&self, state: &State, act: &SignedEnvelope, tally: &Tally) -> Ruling {
        let case = Case { court: self, state, envelope: &act.envelope, tally };
        // Nothing is changed while an act is decided, so there is nothing to undo after a panic.
        let ruling = catch_unwind(AssertUnwindSafe(|| {
            let faults = &self.faults.panic_in;
            assert!(faults.is_empty() || !faults.contains(&act.id()), "a fault was asked for");
            case.rule()
        }));
        ruling.unwrap_or(Err(Refusal::Crashed))
    }
}

/// Carries out the change of who votes that has waited long enough, if there is one. What the set
/// does not allow by now falls.
fn carry_out_due(state: &mut State, brought: &mut Brought) {
    let Some(change) = state.governance.take_due() else {
        return;
    };
    let mut roster = state.roster.clone();
    if roster.change(&change).is_ok() {
        brought.tally.set_changes += usize::from(roster.members() != state.roster.members());
        state.roster = roster;
    }
}

/// The acts' places in the order in which the sim core, receiver 0, gets them: by author, in each
/// author's own order.
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

impl<'a> Case<'a> {
    fn rule(&self) -> Ruling {
        match &self.envelope.act {
            Act::Login { name, look, bot, .. } => self.login(name, *look, *bot),
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
        }
    }

    /// The tick that acts of this turn take part in.
    fn tick(&self) -> Tick {
        self.state.clock.tick.plus(1)
    }

    fn author(&self) -> PublicKey {
        self.envelope.author
    }

    /// The author, with a lease renewed by this very act. Whatever is no heartbeat keeps the seat.
    fn present(&self) -> Result<Player, Refusal> {
        let player = self.state.players.get(&self.author()).ok_or(Refusal::NotLoggedIn)?;
        let session = player.session.as_ref().ok_or(Refusal::NotLoggedIn)?;
        if session.lane != self.envelope.lane {
            return Err(Refusal::OtherSession);
        }
        let idle = matches!(self.envelope.act, Act::Heartbeat);
        let acted = if idle { session.acted } else { self.tick() };
        let session = Session { lease: self.lease(), acted, ..session.clone() };
        Ok(Player { session: Some(session), ..player.clone() })
    }

    fn lease(&self) -> Tick {
        self.tick().plus(self.state.charter.parameters.lease_ticks)
    }

    /// Changes the author's session.
    fn with_session(
        &self,
        change: impl FnOnce(&mut Session),
    ) -> Result<(Player, Session), Refusal> {
        let mut player = self.present()?;
        let session = player.session.as_mut().ok_or(Refusal::NotLoggedIn)?;
        change(session);
        let session = session.clone();
        Ok((player, session))
    }
}

impl Tally {
    fn hear(&mut self, author: PublicKey, cost: usize) {
        self.deliveries = self.deliveries.saturating_add(cost);
        let own = self.deliveries_by.entry(author).or_default();
        *own = own.saturating_add(cost);
    }

    fn build(&mut self, author: PublicKey) {
        self.builds = self.builds.saturating_add(1);
        let own = self.builds_by.entry(author).or_default();
        *own = own.saturating_add(1);
    }
}

/// The rule that a body breaks which physics does not take.
fn no_room(error: InsertError) -> Refusal {
    match error {
        InsertError::Full | InsertError::Occupied(_) => Refusal::Full,
        InsertError::Size(_) | InsertError::Field(_) => Refusal::BadSize,
    }
}

/// Makes one change.
///
/// # Errors
/// Only for a body that physics has no room for; it is in the first change of its act.
fn make(
    state: &mut State,
    brought: &mut Brought,
    author: PublicKey,
    change: Change,
) -> Result<(), Refusal> {
    match change {
        Change::Spawn(object, body) => {
            state.spawn(object, &body).map_err(|_| Refusal::Full)?;
            brought.tally.arrivals += 1;
        }
        Change::Player(key, player) => state.put_player(key, player),
        Change::Dress(id, name, look) => {
            if let Some(object) = state.objects.get_mut(&id) {
                (object.name, object.look) = (name, look);
            }
        }
        Change::Login(key) => {
            state.governance.login(&key);
            state.appoint();
        }
        Change::FirstLogin => state.first_logins.count(),
        Change::Despawn(key) => state.despawn(&key),
        Change::Unseat(key) => state.unseat(&key),
        Change::Forget(key) => state.forget(&key),
        Change::BoundSeatless => state.bound_seatless(),
        Change::Delay(change) => state.governance.delay(change, author),
        // A body that is gone, or that nothing moves, stays as it is.
        Change::Impulse(id, impulse) => {
            let _ = state.region.impulse(id, impulse);
        }
        Change::Face(id, angle) => {
            if let Some(position) = state.region.body(id).map(metatopia_physics::Body::position) {
                let _ = state.region.set_pose(id, Pose { position, angle });
            }
        }
        Change::Post(to, event) => {
            brought.posts.push(Post { to, sender: Sender::Player(author), event });
        }
        Change::Heard(hearers, event) => {
            brought.tally.hear(author, hearers.cost());
            let gas = hearers.scripts.len() as u64 * GAS_PER_CALL_MIN;
            if gas > 0 {
                state.pay(Some(author), gas, state.clock.tick.plus(1));
            }
            let (to, sender) = (hearers.scripts, Sender::Player(author));
            brought.posts.push(Post { to, sender, event });
        }
        Change::Chat(line) => {
            state.chat.add(&line);
            brought.chat.push(line);
        }
        Change::Standbys(roster) => state.roster = roster,
        Change::Members(roster) => {
            state.roster = roster;
            brought.tally.set_changes += 1;
        }
        Change::Expose(key) => state.governance.expose(key, state.clock.height),
        Change::Work(work) => {
            let makes = matches!(*work, Work::Erect(..));
            let deed = state.work(*work).map_err(no_room)?;
            brought.made = makes.then_some(deed.object);
            state.remember(author, deed);
            // What leaves less in the state than it takes out may find no room, and needs none.
            state.room.take(DEED_BYTES_MAX);
            brought.tally.build(author);
        }
        Change::Undo(skip) => {
            state.undo(author, skip).map_err(no_room)?;
            state.room.take(DEED_BYTES_MAX);
            brought.tally.build(author);
        }
    }
    Ok(())
}
