//! Decides each act of a turn over the state, and changes the state if the act is not refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use metatopia_types::{
    Act, ActId, Blob, BlobId, Build, LotOrder, Outcome, Refusal, ReportSubject, ScriptId,
    SignedEnvelope, Turn,
};

use super::{
    changes::{ActEffects, TurnCounts, apply_change},
    context::{ActContext, ActResult},
};
use crate::{
    limits::{
        CHECKED_PER_AUTHOR_MAX, CHECKED_PER_TURN_MAX, LUGGAGE_PER_AUTHOR_MAX,
        SENDINGS_PER_AUTHOR_MAX,
    },
    rules::{ActTarget, Right},
    scripts::{Programs, Sender, canonical_order},
    state::{State, Tools},
};

/// Acts that panic when they are decided: a test shows with them that a panic is a failed outcome.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct InjectedPanics {
    /// The ids of these acts.
    pub panic_in: BTreeSet<ActId>,
}

/// Decides the acts of one turn, and applies their changes.
pub(crate) struct ActExecutor<'a> {
    pub(crate) programs: &'a Programs,
    pub(super) tools: &'a Tools,
    pub(super) panics: &'a InjectedPanics,
    pub(super) blobs: BTreeMap<BlobId, &'a Blob>,
}

impl<'a> ActExecutor<'a> {
    /// Returns an executor for the acts of `turn`.
    pub(crate) fn new(
        programs: &'a Programs,
        tools: &'a Tools,
        panics: &'a InjectedPanics,
        turn: &'a Turn,
    ) -> Self {
        let blobs = turn.body.blobs().iter().map(|blob| (blob.id(), blob)).collect();
        Self { programs, tools, panics, blobs }
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
            charge_checks(state, &acts[n], &mut effects.counts);
            self.charge_publishing(state, &acts[n], &mut effects.counts);
            self.charge_renewal(state, &acts[n], &mut effects.counts);
            self.charge_hearing(state, &acts[n], &mut effects.counts);
            charge_sending(state, &acts[n], &mut effects.counts);
            charge_luggage(state, &acts[n], &mut effects.counts);
            let result = self.decide(state, &acts[n], &effects.counts);
            let author = acts[n].envelope.author;
            let traces = state.traces_before(&acts[n].envelope);
            let applied = result.and_then(|changes| {
                let mut changes = changes.into_iter();
                changes.try_for_each(|change| apply_change(state, &mut effects, author, change))
            });
            let made = effects.made.take();
            if applied.is_ok() {
                state.note_act(&acts[n].envelope, made);
                state.keep_traces(author, made, traces);
            }
            outcomes[n] = match (applied, made) {
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
        let context = ActContext::new(self, state, act, counts);
        // Nothing is changed while this is decided, so there is nothing to undo after a panic.
        let changes = catch_unwind(AssertUnwindSafe(|| context.regain_seat())).unwrap_or_default();
        let author = act.envelope.author;
        let mut changes = changes.into_iter();
        let applied = changes.try_for_each(|change| apply_change(state, effects, author, change));
        applied.expect("a body that takes another one's place has room");
    }

    /// Decides an act over the state. A panic refuses the act, on every server alike.
    fn decide(&self, state: &State, act: &SignedEnvelope, counts: &TurnCounts) -> ActResult {
        let context = ActContext::new(self, state, act, counts);
        // Nothing is changed while an act is decided, so there is nothing to undo after a panic.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let panics = &self.panics.panic_in;
            assert!(panics.is_empty() || !panics.contains(&act.id()), "a panic was asked for");
            context.decide()
        }));
        result.unwrap_or(Err(Refusal::Crashed))
    }
}

/// Counts an act that asks for checks of signatures, or for a search: evidence against a server, private words
/// that a report shows, a profile, an order for a land office, words to be forgotten. A turn checks so many of
/// them and no more, whether or not they are good.
fn charge_checks(state: &State, act: &SignedEnvelope, counts: &mut TurnCounts) {
    counts.is_checked = false;
    let author = act.envelope.author;
    let asks = match &act.envelope.act {
        Act::Report(evidence) => state.roster.members().contains_key(&evidence.accused().0),
        Act::FileReport { about: ReportSubject::Words { .. }, .. } => {
            state.present.contains_key(&author)
        }
        Act::SetProfile { .. } => state.present.contains_key(&author),
        Act::Land { .. } => state.land.is_some() && state.players.contains(&author),
        // Reports are searched for what they show.
        Act::Forget { .. } => state.present.contains_key(&author),
        _ => false,
    };
    let moderates = || state.may(&author, Right::Moderate, &ActTarget::SIM).is_ok();
    if matches!(act.envelope.act, Act::Forget { .. }) && moderates() {
        // What others ask for never keeps a moderator from it.
        counts.is_checked = true;
        return;
    }
    if !asks {
        return;
    }
    let own = counts.checks_by.entry(author).or_default();
    *own = own.saturating_add(1);
    counts.is_checked = *own <= CHECKED_PER_AUTHOR_MAX && counts.checks < CHECKED_PER_TURN_MAX;
    counts.checks += usize::from(counts.is_checked);
}

/// Counts an order to send a thing home from a lot: to look for a place costs as much if there is none. Nobody
/// looks for who may not give the order, or gave too many, so these take no room from others.
fn charge_sending(state: &State, act: &SignedEnvelope, counts: &mut TurnCounts) {
    let Act::Lot(order @ LotOrder::SendHome { .. }) = &act.envelope.act else { return };
    let author = act.envelope.author;
    let request = state.lot_request(order);
    if !request.is_ok_and(|(right, target)| state.may(&author, right, &target).is_ok()) {
        return;
    }
    let own = counts.sendings_by.entry(author).or_default();
    *own = own.saturating_add(1);
    if *own <= SENDINGS_PER_AUTHOR_MAX {
        counts.sendings = counts.sendings.saturating_add(1);
    }
}

/// Counts an act about luggage: to pack a thing or to unpack one costs as much if the act is refused then. Nobody
/// looks at those beyond what one author may ask for, so these take no room from others.
fn charge_luggage(state: &State, act: &SignedEnvelope, counts: &mut TurnCounts) {
    let author = act.envelope.author;
    let asks = matches!(act.envelope.act, Act::Build(Build::Stow { .. } | Build::Fetch { .. }));
    if !asks || !state.present.contains_key(&author) {
        return;
    }
    let own = counts.luggage_by.entry(author).or_default();
    *own = own.saturating_add(1);
    if *own <= LUGGAGE_PER_AUTHOR_MAX {
        counts.luggage = counts.luggage.saturating_add(1);
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
