//! Running the scripts of one tick: in parallel, each over the same state, each alone with its
//! inbox.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use metatopia_scripting::{
    Call, ErrorKind, Event, FailureReport, Handler, ObjectWrites, ScriptEffect, ScriptError,
    ScriptOutput, WorldView,
    limits::{GAS_PER_CALL_MAX, GAS_PER_CALL_MIN},
};
use metatopia_types::{Digest, ObjectId, ScriptId, Tick};

use super::{
    fork_join::fork_join,
    gas::SCRIPT_TICK_MAX,
    inbox::{QueuedEvent, Sender},
    programs::Programs,
};
use crate::{
    limits::GAS_PER_SCRIPT_TICK,
    state::{ScriptRuntime, State, Tools},
};

/// The run of a script in one tick.
pub(crate) struct ScriptRun {
    /// The script that ran.
    pub(crate) script: ScriptId,
    /// The object that the script is on.
    pub(super) object: ObjectId,
    /// The script's new state, if it changed.
    pub(super) state: Option<Arc<metatopia_scripting::ScriptState>>,
    /// The writes to the script's own object.
    pub(crate) own: ObjectWrites,
    /// The effects on others, in order.
    pub(super) effects: Vec<ScriptEffect>,
    /// The gas that all calls used.
    pub(super) gas: u64,
    /// The part of that gas that others have paid: a speaker pays for the calls of those who hear.
    paid_by_speakers: u64,
    /// The events that were handled, in order.
    pub(crate) handled: Vec<QueuedEvent>,
    /// The events that are left for a later tick.
    pub(super) unhandled: Vec<QueuedEvent>,
    /// The calls that failed.
    pub(crate) failures: Vec<(ErrorKind, Box<FailureReport>)>,
    /// The lines that were logged.
    pub(crate) log: Vec<String>,
    /// How far an upgrade has come that had not ended well before.
    pub(super) trial: UpgradeTrial,
}

/// How far the upgrade of a script has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpgradeTrial {
    /// There is none, or it goes on: nothing but `on_upgrade` was handled so far.
    Open,
    /// An event was handled well: the script is what it is now.
    Passed,
    /// A call failed: the script is what it was before.
    Failed,
}

impl ScriptRun {
    /// Returns the timers whose events were handled.
    pub(super) fn timers(&self) -> impl Iterator<Item = &String> {
        self.handled.iter().filter_map(|queued| match &queued.event {
            Event::Timer { name } => Some(name),
            _ => None,
        })
    }

    /// Fails all calls of this tick: the run changes nothing, as one failed call changes nothing.
    ///
    /// Calls that did well fail too, because the state after the last call holds what each of them
    /// remembered. Their messages are not sent: a script that does not remember a message would send
    /// it again.
    pub(super) fn fail(&mut self, failure: (ErrorKind, Box<FailureReport>)) {
        self.state = None;
        self.own = ObjectWrites::default();
        self.effects.clear();
        self.failures.push(failure);
        self.trial = UpgradeTrial::Failed;
    }
}

/// One script's work for this tick.
struct ScriptJob {
    script: ScriptId,
    object: ObjectId,
    handler: Arc<dyn Handler>,
    state: Arc<metatopia_scripting::ScriptState>,
    inbox: Vec<QueuedEvent>,
    /// The gas that the script may use before it is overdrawn.
    level: i64,
    /// Whether an upgrade of it has not ended well yet.
    on_trial: bool,
}

/// Runs the scripts that have events waiting, until the gas of the turn so far is used up. Adds the gas
/// of this tick to `gas_left`, and takes from it what the scripts use. Returns the runs in the order of
/// the scripts' ids.
///
/// Scripts are admitted in a keyed rotation, a wave at a time: as many as fit into `gas_left` if each
/// used all that it may. So the bound of a turn is absolute, and a script that is left out has another
/// place in the next tick.
pub(crate) fn run_scripts(
    state: &mut Arc<State>,
    runtime: ScriptRuntime<'_>,
    gas_left: &mut u64,
) -> Vec<ScriptRun> {
    let ScriptRuntime { programs, tools, exec, controls } = runtime;
    let tick = state.clock.tick.plus(1);
    let mut queue = admission_order(state, tick).into_iter();
    let gas = controls.tick_gas.unwrap_or(state.charter.parameters.gas.tick);
    *gas_left = gas_left.saturating_add(gas);
    let mut runs = Vec::new();
    loop {
        let wave = usize::try_from(*gas_left / SCRIPT_TICK_MAX).unwrap_or(usize::MAX);
        let scripts = queue.by_ref().take(wave);
        let jobs: Vec<ScriptJob> = {
            let state = Arc::make_mut(state);
            scripts.filter_map(|script| admit(state, (programs, tools), script, tick)).collect()
        };
        // A wave of nothing but overdrawn scripts does not end the tick: others may follow in the queue.
        if jobs.is_empty() && (wave == 0 || queue.len() == 0) {
            break;
        }
        let view: Arc<dyn WorldView> = Arc::<State>::clone(state);
        let done = fork_join(exec, &jobs, |job| run(job, &view));
        // The view shares the state: without this, `make_mut` would copy all of it.
        drop(view);
        let state = Arc::make_mut(state);
        for run in &done {
            *gas_left = gas_left.saturating_sub(run.gas);
            debit(state, run, tick);
        }
        runs.extend(done);
    }
    // The order of admission is drawn anew every tick; what scripts did is merged by their ids.
    match controls.merged_by {
        None => runs.sort_by_key(|run| run.script),
        Some(thread) => runs.sort_by_key(|run| rank(&Digest::ZERO, tick, &[thread, run.script.0])),
    }
    runs
}

/// Returns the scripts with events waiting, in the order in which this tick admits them.
fn admission_order(state: &State, tick: Tick) -> Vec<ScriptId> {
    let key = |script: &ScriptId| rank(&state.clock.seed, tick, &[script.0]);
    let mut scripts: Vec<ScriptId> = state.waiting.iter().copied().collect();
    scripts.sort_by_cached_key(|script| (key(script), *script));
    scripts
}

/// Returns `keyed_hash(R_h, tick || parts)`, all numbers in eight bytes, lowest first.
pub(super) fn rank(seed: &Digest, tick: Tick, parts: &[u64]) -> Digest {
    let mut hasher = blake3::Hasher::new_keyed(&seed.0);
    hasher.update(&tick.0.to_le_bytes());
    parts.iter().for_each(|part| {
        hasher.update(&part.to_le_bytes());
    });
    Digest(*hasher.finalize().as_bytes())
}

/// Takes a script's inbox for this tick. Returns no job if the script or its owner is overdrawn: then the
/// events wait.
fn admit(
    state: &mut State,
    (programs, tools): (&Programs, &Tools),
    id: ScriptId,
    tick: Tick,
) -> Option<ScriptJob> {
    let (income, seed) = (state.script_income(), state.clock.seed);
    let script = state.scripts.get(&id).expect("a script that waits is in the state");
    let (object, level) = (script.object, script.gas.level(tick, income));
    let payer = state.gas_payer(object);
    let owner = state.owners.get(&payer).map(|pool| pool.level(tick, state.payer_income(payer)));
    if level <= 0 || owner.is_some_and(|level| level <= 0) {
        return None;
    }
    let ports = &state.charter.parameters.ports;
    let handler = match ports.at(script.package, state.clock.height) {
        Some(agreed) => tools.agreed_port(agreed),
        None => Arc::clone(programs.handler(&script.package)?),
    };
    state.waiting.remove(&id);
    let script = state.scripts.get_mut(&id)?;
    let inbox = script.inbox.take(&seed, tick, id);
    let on_trial = script.fallback.is_some();
    Some(ScriptJob {
        script: id,
        object,
        handler,
        state: Arc::clone(&script.state),
        inbox,
        level,
        on_trial,
    })
}

/// Takes the gas of a run from its script and from the owner of the script, but for what speakers paid.
fn debit(state: &mut State, run: &ScriptRun, tick: Tick) {
    let income = state.script_income();
    let own = run.gas.saturating_sub(run.paid_by_speakers);
    let script = state.scripts.get_mut(&run.script).expect("a script that ran is in the state");
    script.gas.debit(tick, income, own);
    script.gas_used = script.gas_used.saturating_add(run.gas);
    state.pay(state.gas_payer(run.object), own, tick);
}

/// Calls the script once for each event, until its gas of this tick is used up. It sees its own earlier
/// writes, and nothing else that changed.
fn run(job: &ScriptJob, view: &Arc<dyn WorldView>) -> ScriptRun {
    let mut run = ScriptRun {
        script: job.script,
        object: job.object,
        state: None,
        own: ObjectWrites::default(),
        effects: Vec::new(),
        gas: 0,
        paid_by_speakers: 0,
        handled: Vec::new(),
        unhandled: Vec::new(),
        failures: Vec::new(),
        log: Vec::new(),
        trial: UpgradeTrial::Open,
    };
    let mut state = Arc::clone(&job.state);
    let mut inbox = job.inbox.iter();
    for (index, queued) in (0_u64..).zip(inbox.by_ref()) {
        let call = Call {
            view,
            script: job.script,
            object: job.object,
            index,
            event: &queued.event,
            state: &state,
            own: &run.own,
            gas: GAS_PER_CALL_MAX,
        };
        let before = run.gas;
        match call_guarded(&*job.handler, &call) {
            Ok(part) => {
                run.gas = run.gas.saturating_add(part.gas);
                run.own.merge(part.own);
                run.effects.extend(part.effects);
                run.log.extend(part.log);
                if let Some(changed) = part.state {
                    state = Arc::new(changed);
                    run.state = Some(Arc::clone(&state));
                }
            }
            Err(error) => {
                run.gas = run.gas.saturating_add(error.gas);
                let failure = (error.kind, error.report);
                if job.on_trial && run.trial == UpgradeTrial::Open {
                    // What the upgrade did is lost with it; the event is for what the script was before.
                    run.fail(failure);
                    run.unhandled.extend((queued.event != Event::Upgrade).then(|| queued.clone()));
                    break;
                }
                run.failures.push(failure);
            }
        }
        // An event that the new source has no handler for shows nothing of it.
        let is_shown = queued.event != Event::Upgrade && job.handler.handles(queued.event.kind());
        if is_shown && run.trial == UpgradeTrial::Open {
            run.trial = UpgradeTrial::Passed;
        }
        if is_speech(queued) {
            run.paid_by_speakers += (run.gas - before).min(GAS_PER_CALL_MIN);
        }
        run.handled.push(queued.clone());
        let overdrawn = i64::try_from(run.gas).map_or(true, |gas| gas >= job.level);
        if run.gas >= GAS_PER_SCRIPT_TICK || overdrawn {
            break;
        }
    }
    run.unhandled.extend(inbox.cloned());
    run
}

/// Says whether this event is what a player said or replied. The player has paid for the call.
const fn is_speech(queued: &QueuedEvent) -> bool {
    let are_words = matches!(queued.event, Event::Chat { .. } | Event::Ui { .. });
    are_words && matches!(queued.sender, Sender::Player(_))
}

/// Calls the script as a transaction: a panic of the executor is an error like any other, the same on every
/// server, and costs all that a call may cost.
fn call_guarded(handler: &dyn Handler, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
    let result = catch_unwind(AssertUnwindSafe(|| handler.call(call)));
    result.unwrap_or_else(|_| {
        Err(ScriptError { kind: ErrorKind::Panic, gas: GAS_PER_CALL_MAX, report: Box::default() })
    })
}
