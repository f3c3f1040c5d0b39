//! Applies a decided turn: acts first, then the ticks, and the leaves last.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use metatopia_scripting::{Event, Handler};
use metatopia_types::{Outcome, PackageId, SignedEnvelope, Turn};

use super::{
    applied::{Applied, LogLine, Received, ScriptFailure, object_of},
    sim_state::{SimClock, State},
    tick::{ScriptRuntime, TickResult, tick},
    tools::Tools,
    watch::{Probe, Stage, Watch},
    world::World,
};
use crate::{
    ENGINE,
    acts::{ActEffects, ActExecutor, SpokenLine},
    scripts::{
        ForkJoin, MadeSound, Programs, QueuedEvent, Script, ScriptChange, Sender, ShownForm,
    },
};

impl World {
    /// Applies the next decided turn. It always succeeds: an act, a call of a script or a step of
    /// physics that fails has changed nothing, and the same on every server. Whether the turn may
    /// be decided at all is judged before, by [`judge_turn`](crate::judge_turn).
    ///
    /// # Panics
    /// When the turn is not the next one of this sim and engine: then the turn does not belong to this
    /// state, and a server that went on would be wrong. When words of it were forgotten. Also when it runs a
    /// port that the tools lack: [`World::missing_port`] says so before.
    pub fn apply(&mut self, turn: &Turn, exec: &dyn ForkJoin) -> Applied {
        self.apply_watched(turn, exec, &mut ())
    }

    /// Applies the next decided turn as [`World::apply`] does, and tells `watch` when each stage begins.
    /// If `watch` asks for it, it also gets the root after each stage, or the world after each tick.
    ///
    /// # Panics
    /// As [`World::apply`].
    pub fn apply_watched(
        &mut self,
        turn: &Turn,
        exec: &dyn ForkJoin,
        watch: &mut dyn Watch,
    ) -> Applied {
        let mut probe = Probe::new(watch, &self.leaves);
        // All acts come before the first tick: the ticks move bodies, and an act is decided over the
        // state that the turn before left.
        probe.enter(Stage::Acts);
        let (outcomes, effects) = self.execute_acts(turn);
        probe.leave(Stage::Acts, self.tick(), &self.state);
        let (told, forgotten) = (effects.told, effects.forgotten);
        let mut report = TurnReport { chat: effects.chat, ..TurnReport::default() };
        // The first tick delivers the events of the acts. Gas that a tick does not use is for the
        // next ticks of this turn, and for no other turn.
        let (mut events, mut gas_left) = (effects.events, 0);
        let ticks = self.state.charter.parameters.ticks_per_turn;
        for at in 1..=ticks {
            let events = (core::mem::take(&mut events), at == ticks);
            let (programs, tools, controls) = (&self.programs, &self.tools, self.controls);
            let runtime = ScriptRuntime { programs, tools, exec, controls };
            let result = tick(&mut self.state, runtime, &mut probe, events, &mut gas_left);
            report.add(&self.state, result);
            // A script that fell back is what it was from the next tick on: a world that is restored
            // after this turn knows nothing else.
            if !self.state.script_changes.is_empty() {
                let state = Arc::make_mut(&mut self.state);
                sync_programs(state, &mut self.programs, BTreeMap::new(), &self.tools);
            }
            probe.ticked(self);
        }
        if !self.state.borders.is_empty() {
            let state = Arc::make_mut(&mut self.state);
            state.close_borders();
            // The scripts of what departed have ended: a restored world knows nothing else.
            sync_programs(state, &mut self.programs, BTreeMap::new(), &self.tools);
        }
        // The leaves come last, and once: what several ticks changed is encoded and hashed once.
        probe.enter(Stage::Leaves);
        let root = Arc::make_mut(&mut self.leaves).refresh(Arc::make_mut(&mut self.state));
        Applied {
            height: self.height(),
            tick: self.tick(),
            root,
            outcomes,
            validators: self.state.roster.newest_set().clone(),
            chat: report.chat,
            told,
            forgotten,
            forms: report.forms,
            sounds: report.sounds,
            order: report.order,
            failures: report.failures,
            log: report.log,
            changed: self.leaves.changed().to_vec(),
        }
    }

    /// Begins the turn and applies its acts.
    fn execute_acts(&mut self, turn: &Turn) -> (Vec<Outcome>, ActEffects) {
        let header = &turn.header;
        assert_eq!(header.sim, self.sim(), "turns of another sim are never decided here");
        assert_eq!(header.engine, ENGINE, "turns of another engine are not applied");
        assert_eq!(header.height, self.height().plus(1), "turns are applied in order");
        assert!(turn.body.is_whole(), "a turn of which words were forgotten is not applied");
        assert_eq!(self.missing_port(), None, "whoever lacks a port stops before its turn");
        // The budget is that of the leaves after the turn before. It must be read before anything
        // changes: a server that restored that state computes the same number.
        let budget = self.byte_budget();
        let state = Arc::make_mut(&mut self.state);
        state.byte_budget = budget;
        // What standbys prove is about the state before this turn, so its leaves, its height and its
        // seed are used before `begin_turn` replaces them.
        let SimClock { height, seed, .. } = state.clock;
        state.readiness.note(height, &seed, &state.roster, &self.leaves);
        state.begin_turn(header.height, header.time, header.id());
        // A lane window moves by every act of the turn, even by one that is refused below: a decided
        // act must never be decided again.
        let touched = state.windows.record_touched(turn);
        state.windows_touched.extend(touched);
        let executor = ActExecutor::new(&self.programs, &self.tools, &self.panics, turn);
        let (outcomes, mut effects) = executor.execute(state, turn.body.acts());
        // Acts are decided with the programs as they were; the ticks run them as they are now.
        let compiled = core::mem::take(&mut effects.compiled);
        sync_programs(state, &mut self.programs, compiled, &self.tools);
        // The roster closes the turn after its acts, so that the set it fixes holds their changes. The
        // stewards, by whom later turns are judged, follow from that roster.
        state.roster.close(&self.controls.closing(header));
        state.close_first_logins();
        let ids = turn.body.acts().iter().map(SignedEnvelope::id);
        let mut kept: Vec<_> = ids.zip(outcomes.iter().copied()).collect();
        if let Some(seed) = self.controls.outcomes_hashed_by {
            kept.sort_by_key(|(act, _)| hash_table_key(seed, act.bytes()));
        }
        state.keep_outcomes(kept);
        (outcomes, effects)
    }
}

/// Returns the place that a hash table seeded with `seed` would give these bytes.
fn hash_table_key(seed: u64, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes()).update(bytes);
    *hasher.finalize().as_bytes()
}

/// Gives the programs the packages and scripts that came, and takes away those that went. A script that
/// began gets a start event, one that was upgraded an upgrade event.
fn sync_programs(
    state: &mut State,
    programs: &mut Programs,
    mut compiled: BTreeMap<PackageId, Arc<dyn Handler>>,
    tools: &Tools,
) {
    // Packages first: a script that begins runs the program of its package.
    for id in core::mem::take(&mut state.package_changes) {
        match state.packages.get(&id) {
            Some(package) => {
                let handler = compiled.remove(&id).unwrap_or_else(|| {
                    let linked = state.link(package).expect("its imports are in the state as well");
                    tools.compile(&linked).expect("only a package that compiles is in the state")
                });
                programs.add(id, handler);
                // A script may run it already: one that was brought here before the package, and whose
                // upgrade to another one failed. A server that is restored follows all that are not suspended.
                if state.publications.uses(&id) > 0 {
                    let runs = |script: &Script| script.package == id && script.suspended.is_none();
                    let own = state.scripts.iter().filter(|(_, script)| runs(script));
                    own.for_each(|(script, _)| programs.follow(*script, Some(id)));
                }
            }
            None => programs.remove(&id),
        }
    }
    // In the order of the changes: a script that ended and began again in one turn must start.
    let (mut begun, mut told) = (BTreeSet::new(), BTreeMap::new());
    for (script, change) in core::mem::take(&mut state.script_changes) {
        let (package, event) = match change {
            ScriptChange::Begins(package) => (Some(package), Some(Event::Start)),
            ScriptChange::Upgrades(package) => (Some(package), Some(Event::Upgrade)),
            ScriptChange::FallsBack(package) => (Some(package), None),
            ScriptChange::Resumes(package) => (Some(package), Some(Event::Start)),
            ScriptChange::Arrives(package) => (Some(package), Some(Event::Arrive)),
            ScriptChange::ComesHome(package, why) => {
                (Some(package), Some(Event::Refused { why: why.word().to_owned() }))
            }
            ScriptChange::Suspends => (None, None),
            ScriptChange::Ends => (None, None),
        };
        programs.follow(script, package);
        if matches!(change, ScriptChange::Begins(_)) {
            begun.insert(script);
        }
        // A script that began in this turn has nothing yet that an upgrade could keep.
        if !begun.contains(&script) || event != Some(Event::Upgrade) {
            told.remove(&script);
            told.extend(event.map(|event| (script, event)));
        }
    }
    let (raised, index) = (state.clock.tick.plus(1), 0);
    for (script, event) in told {
        if programs.listening(event.kind(), &[script]).next().is_some() {
            // The building step that put the script on its object took bytes for this event too.
            state.announce(script, QueuedEvent { sender: Sender::Core, raised, index, event });
        }
    }
}

/// What the ticks of one turn gave, besides changes of the state.
#[derive(Default)]
struct TurnReport {
    chat: Vec<SpokenLine>,
    forms: Vec<ShownForm>,
    sounds: Vec<MadeSound>,
    order: Vec<Received>,
    failures: Vec<ScriptFailure>,
    log: Vec<LogLine>,
}

impl TurnReport {
    /// Adds the results of a tick, after which the state is `state`.
    fn add(&mut self, state: &State, result: TickResult) {
        let tick = state.clock.tick;
        self.chat.extend(result.shown.chat);
        self.forms.extend(result.shown.forms);
        self.sounds.extend(result.shown.sounds);
        for run in result.runs {
            let script = run.script;
            self.order.extend(run.handled.into_iter().map(|delivery| Received {
                tick,
                script,
                sender: delivery.sender,
                from: object_of(state, &delivery.sender, &delivery.event),
                event: delivery.event,
            }));
            let failure = |(kind, report)| ScriptFailure { tick, script, kind, report };
            self.failures.extend(run.failures.into_iter().map(failure));
            self.log.extend(run.log.into_iter().map(|text| LogLine { tick, script, text }));
        }
    }
}
