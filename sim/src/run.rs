//! Running the scripts of one tick: in parallel, each over the same state, each alone with its
//! inbox.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use metatopia_scripting::{
    Call, Effect, ErrorKind, Event, Handler, Own, Part, Report, ScriptError, View,
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN},
};
use metatopia_types::{Digest, ObjectId, ScriptId, Tick};

use crate::{
    controls::Controls,
    fork_join::{ForkJoin, fork_join},
    gas::SCRIPT_TICK_MAX,
    inbox::{Delivery, Sender},
    limits::GAS_PER_SCRIPT_TICK,
    programs::Programs,
    state::State,
};

/// What a script did in one tick.
pub(crate) struct Run {
    pub(crate) script: ScriptId,
    pub(crate) object: ObjectId,
    /// Its new state, if it changed.
    pub(crate) state: Option<metatopia_scripting::State>,
    pub(crate) own: Own,
    pub(crate) effects: Vec<Effect>,
    pub(crate) gas: u64,
    /// What of it others have paid: who speaks pays for the calls of those who hear.
    paid: u64,
    /// What it handled, in order.
    pub(crate) handled: Vec<Delivery>,
    /// What is left for a later tick.
    pub(crate) rest: Vec<Delivery>,
    pub(crate) failures: Vec<(ErrorKind, Box<Report>)>,
    pub(crate) log: Vec<String>,
}

impl Run {
    /// The timers whose events it handled.
    pub(crate) fn timers(&self) -> impl Iterator<Item = &String> {
        self.handled.iter().filter_map(|delivery| match &delivery.event {
            Event::Timer { name } => Some(name),
            _ => None,
        })
    }

    /// It has changed nothing, as a call that fails; but here that is all calls of this tick, also
    /// those that were well and remember nothing, for what is remembered at the end is that of all.
    /// What they sent would be sent again, if what the script remembers does not say that it was.
    pub(crate) fn fail(&mut self, why: (ErrorKind, Box<Report>)) {
        (self.state, self.own) = (None, Own::default());
        self.effects.clear();
        self.failures.push(why);
    }
}

/// One script's work for this tick.
struct Job {
    script: ScriptId,
    object: ObjectId,
    handler: Arc<dyn Handler>,
    state: Arc<metatopia_scripting::State>,
    inbox: Vec<Delivery>,
    /// What the script may use before it is overdrawn.
    level: i64,
}

/// Runs the scripts that have events waiting, until what is `left` of the turn's gas so far is used up.
/// Gives their runs in the order of their ids.
///
/// Scripts are admitted in a keyed rotation, a wave at a time: as many as fit into what is left of
/// the gas if each used all that it may. So the bound of a turn is absolute, and whoever is
/// left out has another place in the next tick.
pub(crate) fn run_scripts(
    state: &mut Arc<State>,
    programs: &Programs,
    exec: &dyn ForkJoin,
    controls: Controls,
    left: &mut u64,
) -> Vec<Run> {
    let tick = state.clock.tick.plus(1);
    let mut queue = rotation(state, tick).into_iter();
    let gas = controls.tick_gas.unwrap_or(state.charter.parameters.gas.tick);
    *left = left.saturating_add(gas);
    let mut runs = Vec::new();
    loop {
        let wave = usize::try_from(*left / SCRIPT_TICK_MAX).unwrap_or(usize::MAX);
        let scripts = queue.by_ref().take(wave);
        let jobs: Vec<Job> = {
            let state = Arc::make_mut(state);
            scripts.filter_map(|script| admit(state, programs, script, tick)).collect()
        };
        if jobs.is_empty() && (wave == 0 || queue.len() == 0) {
            break;
        }
        let view: Arc<dyn View> = Arc::<State>::clone(state);
        let done = fork_join(exec, &jobs, |job| run(job, &view));
        drop(view);
        let state = Arc::make_mut(state);
        for run in &done {
            *left = left.saturating_sub(run.gas);
            debit(state, run, tick);
        }
        runs.extend(done);
    }
    match controls.merged_by {
        None => runs.sort_by_key(|run| run.script),
        Some(thread) => runs.sort_by_key(|run| rank(&Digest::ZERO, tick, &[thread, run.script.0])),
    }
    runs
}

/// Scripts with events waiting, in the order in which this tick admits them.
fn rotation(state: &State, tick: Tick) -> Vec<ScriptId> {
    let key = |script: &ScriptId| rank(&state.clock.seed, tick, &[script.0]);
    let mut scripts: Vec<ScriptId> = state.waiting.iter().copied().collect();
    scripts.sort_by_cached_key(|script| (key(script), *script));
    scripts
}

/// `keyed_hash(R_h, tick || parts)`, all numbers in eight bytes, lowest first.
pub(crate) fn rank(seed: &Digest, tick: Tick, parts: &[u64]) -> Digest {
    let mut hasher = blake3::Hasher::new_keyed(&seed.0);
    hasher.update(&tick.0.to_le_bytes());
    parts.iter().for_each(|part| {
        hasher.update(&part.to_le_bytes());
    });
    Digest(*hasher.finalize().as_bytes())
}

/// Takes a script's inbox for this tick, unless it or its owner is overdrawn.
fn admit(state: &mut State, programs: &Programs, id: ScriptId, tick: Tick) -> Option<Job> {
    let (income, seed) = (state.script_income(), state.clock.seed);
    let script = state.scripts.get(&id)?;
    let (object, level) = (script.object, script.gas.level(tick, income));
    let payer = state.payer(object);
    let owner = state.owners.get(&payer).map(|pool| pool.level(tick, state.owner_income()));
    if level <= 0 || owner.is_some_and(|level| level <= 0) {
        return None;
    }
    let handler = Arc::clone(programs.handler(&script.package)?);
    state.waiting.remove(&id);
    let script = state.scripts.get_mut(&id)?;
    let inbox = script.inbox.take(&seed, tick, id);
    Some(Job { script: id, object, handler, state: Arc::new(script.state.clone()), inbox, level })
}

fn debit(state: &mut State, run: &Run, tick: Tick) {
    let income = state.script_income();
    let own = run.gas.saturating_sub(run.paid);
    if let Some(script) = state.scripts.get_mut(&run.script) {
        script.gas.debit(tick, income, own);
        script.gas_used = script.gas_used.saturating_add(run.gas);
    }
    state.pay(state.payer(run.object), own, tick);
}

/// Calls the script once per event; it sees its own earlier writes, and nothing else that changed.
fn run(job: &Job, view: &Arc<dyn View>) -> Run {
    let mut run = Run {
        script: job.script,
        object: job.object,
        state: None,
        own: Own::default(),
        effects: Vec::new(),
        gas: 0,
        paid: 0,
        handled: Vec::new(),
        rest: Vec::new(),
        failures: Vec::new(),
        log: Vec::new(),
    };
    let mut state = Arc::clone(&job.state);
    let mut inbox = job.inbox.iter();
    for (index, delivery) in (0_u64..).zip(inbox.by_ref()) {
        let call = Call {
            view,
            script: job.script,
            object: job.object,
            index,
            event: &delivery.event,
            state: &state,
            own: &run.own,
            gas: GAS_PER_CALL_MAX,
        };
        let before = run.gas;
        match guarded(&*job.handler, &call) {
            Ok(part) => {
                run.gas = run.gas.saturating_add(part.gas);
                run.own.merge(part.own);
                run.effects.extend(part.effects);
                run.log.extend(part.log);
                if let Some(changed) = part.state {
                    state = Arc::new(changed);
                    run.state = Some((*state).clone());
                }
            }
            Err(error) => {
                run.gas = run.gas.saturating_add(error.gas);
                run.failures.push((error.kind, error.report));
            }
        }
        if is_speech(delivery) {
            run.paid += (run.gas - before).min(GAS_PER_CALL_MIN);
        }
        run.handled.push(delivery.clone());
        let overdrawn = i64::try_from(run.gas).map_or(true, |gas| gas >= job.level);
        if run.gas >= GAS_PER_SCRIPT_TICK || overdrawn {
            break;
        }
    }
    run.rest = inbox.cloned().collect();
    run
}

/// Is this what a player said?
const fn is_speech(delivery: &Delivery) -> bool {
    matches!((&delivery.sender, &delivery.event), (Sender::Player(_), Event::Chat { .. }))
}

/// One call as a transaction: a panic of the executor is an error like any other, the same on every
/// server, and costs all that a call may cost.
fn guarded(handler: &dyn Handler, call: &Call<'_>) -> Result<Part, ScriptError> {
    let result = catch_unwind(AssertUnwindSafe(|| handler.call(call)));
    result.unwrap_or_else(|_| {
        Err(ScriptError { kind: ErrorKind::Panic, gas: GAS_PER_CALL_MAX, report: Box::default() })
    })
}
