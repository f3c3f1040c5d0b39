//! The changes that acts make, and how the state takes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_math::{Angle, Vec2};
use metatopia_physics::{BodySpec, InsertError, Pose};
use metatopia_scripting::{Event, Handler, limits::GAS_PER_CALL_MIN};
use metatopia_types::{
    BlobId, ClubId, GovernOrder, Look, LotId, ObjectId, PackageId, PublicKey, Refusal, Roster,
    ScriptId, SetChange, TicketOrder,
};

use super::{
    border::{BorderChange, apply_border_change},
    building::BuildStep,
    chat::SpokenLine,
    hands::{HandStep, apply_hand_step},
    history::{Inverse, UndoEntry, UnitedPart},
    land::{LandChange, apply_land_change},
    luggage::{LuggageStep, apply_luggage_step},
    offers::Settlement,
    private::MailChange,
    profile::NewProfile,
    publish::NewPackage,
    report::ReportChange,
};
use crate::{
    limits::{BUILD_BYTES_MAX, UNDONE_PER_ACT_MAX},
    rules::{Club, ForgottenWords, KeyFriends, RecordedOrder, ToldWords, Warrant},
    scripts::{Hearers, Sender},
    space::Lot,
    state::{Charter, Object, PackagePiece, Player, State},
};

/// One change of the state. Applying it cannot fail, but for those that put a body onto the ground:
/// [`StateChange::Spawn`], [`StateChange::Build`] and [`StateChange::Undo`] come first in their act.
pub(super) enum StateChange {
    /// Puts a new avatar with this body into the world.
    Spawn(Box<Object>, Box<BodySpec>),
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
    /// Moves all that one key has to the author's, by a rotation of this number.
    Rotate(PublicKey, u32),
    /// Forgets a player, so that another one can be remembered.
    Forget(PublicKey),
    /// Ends sessions without an avatar if there are too many.
    BoundSeatless,
    /// Replaces the charter, with another name or other agreed numbers.
    Charter(Box<Charter>),
    /// Queues a change of who votes.
    Delay(SetChange),
    /// Applies an impulse to a body.
    Impulse(ObjectId, Vec2),
    /// Has an avatar sit on a thing; on none, stand up.
    Sit(ObjectId, Option<ObjectId>),
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
    /// Makes an object with this body, and deletes those in whose place it is.
    Unite(Box<(Object, BodySpec)>, Vec<ObjectId>),
    /// Has a script run again that was suspended.
    Resume(ScriptId),
    /// Takes a thing in hand, or puts one down.
    Hands(HandStep),
    /// Puts a thing into luggage, or takes one out.
    Luggage(Box<LuggageStep>),
    /// Adds a package that the author published.
    Publish(Box<NewPackage>),
    /// Adds a piece of a package that the author published.
    Piece(BlobId, Box<PackagePiece>),
    /// Changes the register of a land office.
    Land(Box<LandChange>),
    /// Changes something at a border.
    Border(BorderChange),
    /// Ends an offer, and does what the author agreed to.
    Settle(Box<Settlement>),
    /// Carries out an order about people.
    Govern(Box<GovernOrder>),
    /// Puts a thing where its owner has land, or into its owner's luggage if there is no such place.
    Return(ObjectId, Option<Vec2>),
    /// Sets a lot, or removes it.
    Lot(LotId, Option<Box<Lot>>),
    /// Puts an avatar where avatars appear.
    GoHome(ObjectId, Vec2),
    /// Undoes what a key did in the last seconds, by this warrant.
    UndoOf(PublicKey, u32, Warrant),
    /// Changes a mailbox.
    Mail(MailChange),
    /// Sets what is kept of the friends of a key.
    Friends(PublicKey, Box<KeyFriends>),
    /// Drops words, and has every server drop them.
    ForgetWords(ForgottenWords),
    /// Tells somebody of an invite by a newcomer (true) or another member.
    Invited(Box<SpokenLine>, bool),
    /// Sets a club, or ends it.
    Club(ClubId, Option<Box<Club>>),
    /// Sets what is kept of a person's profile.
    Profile(Box<NewProfile>),
    /// Changes the queue of reports.
    Report(Box<ReportChange>),
    /// Records what was done by more than everybody's right.
    Record(Box<RecordedOrder>),
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
    /// Words that people are told.
    pub(crate) told: Vec<ToldWords>,
    /// Words that every server drops.
    pub(crate) forgotten: Vec<ForgottenWords>,
    /// How much the acts used of what a turn bounds.
    pub(super) counts: TurnCounts,
    /// The compiled source of the packages that came.
    pub(crate) compiled: BTreeMap<PackageId, Arc<dyn Handler>>,
    /// The object that the act under way made.
    pub(super) made: Option<ObjectId>,
}

/// Counts of what a turn's acts may do only so often.
#[derive(Default)]
pub(super) struct TurnCounts {
    /// Changes of the validator set.
    pub(super) set_changes: usize,
    /// Avatars that appeared.
    pub(super) arrivals: usize,
    /// Avatars that went home, each of another author.
    pub(super) homecomers: BTreeSet<PublicKey>,
    /// Orders of holders to send a thing home from a lot, also where there is no way.
    pub(super) sendings: usize,
    /// The same, of each holder, with those beyond what one may give.
    pub(super) sendings_by: BTreeMap<PublicKey, usize>,
    /// Acts about luggage.
    pub(super) luggage: usize,
    /// The same, of each author, with those beyond what one may ask for.
    pub(super) luggage_by: BTreeMap<PublicKey, usize>,
    /// Keys that were given up.
    pub(super) rotations: usize,
    /// Events that words became for scripts, and the cost of finding the scripts: of all speakers.
    pub(super) deliveries: usize,
    /// The same, of each speaker.
    pub(super) deliveries_by: BTreeMap<PublicKey, usize>,
    /// Reports that were filed.
    pub(super) reports: usize,
    /// Words that each person was told by newcomers (true), and by others.
    pub(super) told_to: BTreeMap<(PublicKey, bool), usize>,
    /// Authors who told somebody something.
    pub(super) told_by: BTreeSet<PublicKey>,
    /// Building steps of all builders.
    pub(super) builds: u32,
    /// Building steps of each builder.
    pub(super) builds_by: BTreeMap<PublicKey, u32>,
    /// Bytes of source that the sim was asked to compile.
    pub(super) published_bytes: u64,
    /// Packages that it was asked to compile.
    pub(super) publishes: usize,
    /// Acts of which the turn checks what they carry signed: evidence, words that a report shows, profiles, and
    /// land orders.
    pub(super) checks: usize,
    /// The same, of each author, with those beyond what one may ask for.
    pub(super) checks_by: BTreeMap<PublicKey, usize>,
    /// Whether the act under way is one of these.
    pub(super) is_checked: bool,
    /// Signatures of certificates that renewals of land asked to check.
    pub(super) land_signatures: usize,
    /// Signatures of certificates that dispatches of neighbours asked to check.
    pub(super) heard_signatures: usize,
    /// Whether the turn has room for the checks that the renewal or dispatch under way asks for.
    pub(super) has_checks: bool,
    /// Whether the author of the act under way paid for what it asks to compile.
    pub(super) is_paid: bool,
}

impl TurnCounts {
    /// Counts what a line of this author cost in events for scripts.
    pub(super) fn count_deliveries(&mut self, author: PublicKey, cost: usize) {
        self.deliveries = self.deliveries.saturating_add(cost);
        let own = self.deliveries_by.entry(author).or_default();
        *own = own.saturating_add(cost);
    }

    /// Counts a change of which a turn has so many and that cannot fail.
    fn count(&mut self, author: PublicKey, change: &StateChange) {
        match change {
            StateChange::Rotate(..) => self.rotations = self.rotations.saturating_add(1),
            StateChange::Lot(..) => self.count_build(author),
            StateChange::Report(change) if matches!(**change, ReportChange::File(_)) => {
                self.reports = self.reports.saturating_add(1);
            }
            StateChange::GoHome(..) => {
                self.homecomers.insert(author);
            }
            // The most things that a moderator's undo may change.
            StateChange::UndoOf(..) => {
                self.builds = self.builds.saturating_add(UNDONE_PER_ACT_MAX as u32);
            }
            _ => {}
        }
    }

    /// Counts what an author told a person.
    fn count_told(&mut self, by: PublicKey, to: PublicKey, newcomer: bool) {
        let of_reader = self.told_to.entry((to, newcomer)).or_default();
        *of_reader = of_reader.saturating_add(1);
        self.told_by.insert(by);
    }

    /// Counts a building step of this author.
    pub(super) fn count_build(&mut self, author: PublicKey) {
        self.builds = self.builds.saturating_add(1);
        let own = self.builds_by.entry(author).or_default();
        *own = own.saturating_add(1);
    }
}

/// Returns the refusal for a body that physics does not take.
fn body_refusal(error: InsertError) -> Refusal {
    match error {
        InsertError::Full(_) | InsertError::Occupied(_) => Refusal::Full,
        InsertError::Shape(_) | InsertError::Field(_) => Refusal::BadSize,
    }
}

/// Applies one change to the state.
///
/// # Errors
/// Only for a body that physics has no room for. Such a change is the first one of its act, so that an
/// act that is refused here has changed nothing.
pub(super) fn apply_change(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    change: StateChange,
) -> Result<(), Refusal> {
    effects.counts.count(author, &change);
    match change {
        StateChange::Spawn(object, body) => {
            state.spawn(*object, &body).map_err(|_| Refusal::Full)?;
            effects.counts.arrivals += 1;
        }
        StateChange::Player(key, player) => state.put_player(key, player),
        StateChange::Dress(id, name, look) => dress(state, id, name, look),
        StateChange::Login(key) => log_in(state, &key),
        StateChange::FirstLogin(ticket) => state.first_logins.count(ticket, state.clock.height),
        StateChange::Ticket(order) => {
            let now = (state.clock.height, state.governance.time);
            state.first_logins.order(author, order, now);
        }
        StateChange::Charter(charter) => state.set_charter(*charter),
        StateChange::Despawn(key) => state.despawn(&key),
        StateChange::Unseat(key) => state.unseat(&key),
        StateChange::Rotate(old, number) => state.rotate(old, author, number),
        StateChange::Forget(key) => state.forget(&key),
        StateChange::BoundSeatless => state.bound_seatless(),
        StateChange::Delay(change) => state.governance.delay(change, author),
        // A body that is gone, or that nothing moves, stays as it is.
        StateChange::Impulse(id, impulse) => {
            let _ = state.bodies.apply_impulse(id, impulse);
        }
        StateChange::Sit(avatar, thing) => state.sit(avatar, thing),
        StateChange::Face(id, angle) => face(state, id, angle),
        StateChange::Raise(to, event) => {
            effects.events.push(RaisedEvent { to, sender: Sender::Player(author), event });
        }
        StateChange::HeardByScripts(hearers, event) => {
            hear_by_scripts(state, effects, author, hearers, event);
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
        StateChange::Publish(new) => publish(state, effects, author, *new),
        StateChange::Piece(id, piece) => state.pieces.add((author, id), *piece),
        StateChange::Resume(script) => resume(state, effects, author, script),
        StateChange::Hands(step) => apply_hand_step(state, effects, author, step),
        StateChange::Luggage(step) => apply_luggage_step(state, effects, author, *step),
        StateChange::Build(step) => apply_step(state, effects, author, *step)?,
        StateChange::Unite(whole, parts) => unite(state, effects, author, (*whole, parts))?,
        StateChange::Land(change) => apply_land_change(state, *change),
        StateChange::Border(change) => apply_border_change(state, change),
        StateChange::Settle(settled) => state.settle(author, *settled),
        StateChange::Govern(order) => state.carry_out(author, *order),
        StateChange::Return(id, place) => state.return_thing(id, place),
        StateChange::Lot(id, lot) => state.set_lot(id, lot.map(|lot| *lot)),
        StateChange::GoHome(avatar, place) => go_home(state, avatar, place),
        StateChange::UndoOf(key, since, warrant) => state.undo_of(author, warrant, (key, since)),
        StateChange::Mail(change) => apply_mail_change(state, effects, author, change),
        StateChange::Friends(key, kept) => state.people.friends.set(key, *kept),
        StateChange::ForgetWords(words) => forget_words(state, effects, words),
        StateChange::Invited(line, newcomer) => tell_invite(effects, author, *line, newcomer),
        StateChange::Club(id, club) => state.set_club(id, club.map(|club| *club)),
        StateChange::Profile(new) => set_profile(state, *new),
        StateChange::Report(change) => state.change_reports(*change),
        StateChange::Record(order) => state.record_order(*order),
        StateChange::Undo(skip) => undo(state, effects, author, skip)?,
    }
    Ok(())
}

/// Takes a step of building back. Each thing that comes back by it is a step, for its bytes and for the pace.
fn undo(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    skip: u8,
) -> Result<(), Refusal> {
    for _ in 0..state.undo(author, skip).map_err(body_refusal)? {
        state.byte_budget.take(BUILD_BYTES_MAX);
        effects.counts.count_build(author);
    }
    Ok(())
}

/// Adds a package that was compiled.
fn publish(state: &mut State, effects: &mut ActEffects, author: PublicKey, new: NewPackage) {
    let NewPackage { package, weight, handler, leaving, pieces } = new;
    effects.compiled.insert(package.id(), handler);
    state.publish(author, package, weight, &leaving);
    pieces.into_iter().for_each(|id| state.pieces.remove((author, id)));
}

/// Drops words from the state, and has servers drop them.
fn forget_words(state: &mut State, effects: &mut ActEffects, words: ForgottenWords) {
    state.forget_words(words);
    effects.forgotten.push(words);
}

/// Tells a person of an invite, which counts as words that she is told.
///
/// # Panics
/// When the line is for nobody.
fn tell_invite(effects: &mut ActEffects, by: PublicKey, line: SpokenLine, newcomer: bool) {
    let to = line.hearer.expect("an invite is for one person");
    effects.counts.count_told(by, to, newcomer);
    effects.chat.push(line);
}

/// Keeps what a person says of herself.
fn set_profile(state: &mut State, new: NewProfile) {
    let NewProfile { key, rank, kept, picture } = new;
    state.people.profiles.set(key, rank, kept, picture);
}

/// Changes a mailbox. Its owner hears of what is put into it.
fn apply_mail_change(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    change: MailChange,
) {
    let mut told = match change {
        MailChange::Put(told) => *told,
        MailChange::Empty(up_to) => return state.people.mailboxes.empty(author, up_to),
    };
    state.governance.told = state.governance.told.saturating_add(1);
    told.number = state.governance.told;
    effects.counts.count_told(told.words.by(), told.to, told.words.newcomer);
    state.people.mailboxes.put(told.to, told.number, told.words.clone());
    effects.told.push(told);
}

/// Has a script run again that was suspended.
fn resume(state: &mut State, effects: &mut ActEffects, author: PublicKey, script: ScriptId) {
    state.resume_script(script);
    state.byte_budget.take(BUILD_BYTES_MAX);
    effects.counts.count_build(author);
}

/// Records a login, by which an admin may be back.
fn log_in(state: &mut State, key: &PublicKey) {
    state.governance.login(key);
    state.appoint();
    if state.players.get(key).is_some_and(|player| player.since.regular.is_some()) {
        state.people.clubs.grow_up(key);
    }
}

/// Gives an avatar a name and a look, if it is there.
fn dress(state: &mut State, id: ObjectId, name: String, look: Look) {
    if let Some(object) = state.objects.get_mut(&id) {
        (object.name, object.look) = (name, look);
    }
}

/// Puts an avatar at a place, where it rests.
fn go_home(state: &mut State, avatar: ObjectId, place: Vec2) {
    state.stand(avatar);
    // An avatar that is gone stays away.
    let _ = state.bodies.set_position(avatar, place);
    state.stop_body(avatar);
}

/// Turns a body to an angle, if it is there.
fn face(state: &mut State, id: ObjectId, angle: Angle) {
    if let Some(position) = state.bodies.body(id).map(metatopia_physics::Body::position) {
        let _ = state.bodies.set_pose(id, Pose { position, angle });
    }
}

/// Applies a building step, and records what undoes it.
fn apply_step(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    step: BuildStep,
) -> Result<(), Refusal> {
    let makes = matches!(step, BuildStep::Create(..));
    let entry = state.apply_build(step).map_err(body_refusal)?;
    effects.made = makes.then_some(entry.object);
    record_step(state, effects, author, entry);
    Ok(())
}

/// Makes one object in the place of others, which is one step to undo.
fn unite(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    ((object, body), parts): ((Object, BodySpec), Vec<ObjectId>),
) -> Result<(), Refusal> {
    // Physics may have no room for the body, and nothing changed then.
    let made = state.apply_build(BuildStep::Create(object, body, Vec::new()));
    let made = made.map_err(body_refusal)?;
    effects.made = Some(made.object);
    let (mut united, mut traces) = (Vec::new(), Vec::new());
    for id in parts {
        // By the trace a moderator's undo brings the part back, as if its author had deleted it.
        traces.extend(state.trace_of(id, author, false));
        let deleted = state.delete_object(id).expect("the parts were looked at in this act");
        united.push(UnitedPart { id, deleted, made: false });
    }
    let inverse = Inverse::TakeApart(united);
    record_step(state, effects, author, UndoEntry { inverse, ..made });
    // What the author had made is noted at the step, so it is recorded before.
    for (id, trace) in traces {
        state.keep_trace_of(author, id, trace);
    }
    Ok(())
}

/// Records a step of building, and counts it.
fn record_step(state: &mut State, effects: &mut ActEffects, author: PublicKey, entry: UndoEntry) {
    state.record_build(author, entry);
    // A step that shrinks the state is allowed in a full world too, where this takes nothing.
    state.byte_budget.take(BUILD_BYTES_MAX);
    effects.counts.count_build(author);
}

/// Raises the event of a line for the scripts that hear it, at its speaker's expense.
fn hear_by_scripts(
    state: &mut State,
    effects: &mut ActEffects,
    author: PublicKey,
    hearers: Hearers,
    event: Event,
) {
    effects.counts.count_deliveries(author, hearers.cost());
    let gas = hearers.scripts.len() as u64 * GAS_PER_CALL_MIN;
    if gas > 0 {
        state.pay(Some(author), gas, state.clock.tick.plus(1));
    }
    let (to, sender) = (hearers.scripts, Sender::Player(author));
    effects.events.push(RaisedEvent { to, sender, event });
}
