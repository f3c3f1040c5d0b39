//! Plays what a port does beside what its source does, while turns are applied again.

use std::{
    fmt,
    ops::ControlFlow,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use metatopia_audit::{TurnObserver, tools};
use metatopia_scripting::{
    Call, CompileError, EventKind, Executor, Handler, LinkedPackage, Port, ScriptError,
    ScriptOutput, default_executor,
};
use metatopia_sim::{Applied, Stage, Tools, Watch, World};
use metatopia_types::{Height, PackageId, ScriptId, Tick};

/// The first event that a port answers otherwise than its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortDifference {
    /// The turn of the event.
    pub(super) height: Height,
    /// The last tick before it.
    pub(super) tick: Tick,
    /// The script that got the event.
    pub(super) script: ScriptId,
    /// The place of the event among those that the script got in the tick.
    pub(super) index: u64,
    /// What the script was told.
    pub(super) event: String,
    /// The first part that differs.
    pub(super) what: &'static str,
    /// What the source gave.
    pub(super) source: String,
    /// What the port gave.
    pub(super) port: String,
}

impl fmt::Display for PortDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, tick, script, event, what, source, port, .. } = self;
        write!(
            f,
            "turn {height}, after tick {tick}, script {script}: {event}\n  the {what} of the \
             source: {source}\n  the {what} of the port: {port}"
        )
    }
}

/// A comparison of a port with its source.
#[derive(Debug)]
pub(super) struct PortComparison {
    package: PackageId,
    /// The turn that is applied now.
    height: AtomicU64,
    events: AtomicU64,
    first: Mutex<Option<PortDifference>>,
}

impl PortComparison {
    /// Returns a comparison, and tools by which a replay makes it. What a sim does by them follows from the
    /// turns as ever: from the source, or from the port where the sim had agreed on it.
    #[must_use]
    pub(super) fn new(port: &Port) -> (Arc<Self>, Tools) {
        let comparison = Arc::new(Self {
            package: port.package,
            height: AtomicU64::new(0),
            events: AtomicU64::new(0),
            first: Mutex::new(None),
        });
        let pair = Arc::new(ComparedPair {
            source: OnceLock::new(),
            port: Arc::clone(&port.handler),
            comparison: Arc::clone(&comparison),
        });
        let mut tools = tools();
        let compared = ComparedHandler { pair: Arc::clone(&pair), shows_port: true };
        tools.ports.insert((port.package, port.digest), Arc::new(compared));
        tools.executor = Arc::new(ComparingExecutor(pair));
        (comparison, tools)
    }

    /// Returns how many events were compared.
    #[must_use]
    pub(super) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Returns the first difference.
    #[must_use]
    pub(super) fn first(&self) -> Option<PortDifference> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Compares what both gave. What a call costs is no difference, nor is where it fails.
    fn compare(
        &self,
        call: &Call<'_>,
        source: &Result<ScriptOutput, ScriptError>,
        port: &Result<ScriptOutput, ScriptError>,
    ) {
        self.events.fetch_add(1, Ordering::Relaxed);
        let Some((what, source, port)) = differs(source, port) else { return };
        let (height, tick) = (Height(self.height.load(Ordering::Relaxed)), call.view.tick());
        let (script, index) = (call.script, call.index);
        let event = format!("{:?}", call.event);
        let found = PortDifference { height, tick, script, index, event, what, source, port };
        let key = |it: &PortDifference| (it.height, it.tick, it.script, it.index);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        // Scripts of one tick run side by side: the first by its place, not by the clock.
        if first.as_ref().is_none_or(|first| key(&found) < key(first)) {
            *first = Some(found);
        }
    }
}

/// Returns the first part in which two results differ, with both of them.
fn differs(
    source: &Result<ScriptOutput, ScriptError>,
    port: &Result<ScriptOutput, ScriptError>,
) -> Option<(&'static str, String, String)> {
    let (source, port) = match (source, port) {
        (Ok(source), Ok(port)) => (source, port),
        (Err(source), Err(port)) if source.kind == port.kind => return None,
        (source, port) => {
            let outcome = |result: &Result<ScriptOutput, ScriptError>| match result {
                Ok(_) => "it ends well".to_owned(),
                Err(error) => error.to_string(),
            };
            return Some(("outcome", outcome(source), outcome(port)));
        }
    };
    let parts = |it: &ScriptOutput| {
        [
            ("state", format!("{:?}", it.state)),
            ("writes", format!("{:?}", it.own)),
            ("effects", format!("{:?}", it.effects)),
            ("log", format!("{:?}", it.log)),
        ]
    };
    let pairs = parts(source).into_iter().zip(parts(port));
    let mut differing = pairs.filter(|((_, source), (_, port))| source != port);
    differing.next().map(|((what, source), (_, port))| (what, source, port))
}

/// A source and its port.
struct ComparedPair {
    /// The compiled source, once the sim has the package.
    source: OnceLock<Arc<dyn Handler>>,
    port: Arc<dyn Handler>,
    comparison: Arc<PortComparison>,
}

struct ComparingExecutor(Arc<ComparedPair>);

impl Executor for ComparingExecutor {
    fn compile(&self, package: &LinkedPackage<'_>) -> Result<Arc<dyn Handler>, CompileError> {
        let compiled = default_executor().compile(package)?;
        if package.package().id() != self.0.comparison.package {
            return Ok(compiled);
        }
        self.0.source.get_or_init(|| compiled);
        Ok(Arc::new(ComparedHandler { pair: Arc::clone(&self.0), shows_port: false }))
    }
}

/// Handles events with both, and gives what one of them gives.
struct ComparedHandler {
    pair: Arc<ComparedPair>,
    shows_port: bool,
}

impl ComparedHandler {
    fn source(&self) -> &dyn Handler {
        &**self.pair.source.get().expect("a sim compiles a package before a script of it runs")
    }
}

impl Handler for ComparedHandler {
    fn package(&self) -> PackageId {
        self.pair.comparison.package
    }

    fn handles(&self, kind: EventKind) -> bool {
        if self.shows_port { self.pair.port.handles(kind) } else { self.source().handles(kind) }
    }

    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError> {
        let (source, port) = (self.source().call(call), self.pair.port.call(call));
        // What neither handles says nothing about the port.
        let kind = call.event.kind();
        if self.source().handles(kind) || self.pair.port.handles(kind) {
            self.pair.comparison.compare(call, &source, &port);
        }
        if self.shows_port { port } else { source }
    }
}

/// Ends a replay at the first difference, and tells the comparison which turn is applied.
#[derive(Debug)]
pub(super) struct PortCheckObserver {
    /// The comparison that the replay makes.
    pub(super) comparison: Arc<PortComparison>,
    /// The turns that were applied.
    pub(super) turns: u64,
}

impl Watch for PortCheckObserver {
    fn enter(&mut self, _: Stage) {}
}

impl TurnObserver for PortCheckObserver {
    fn begins(&mut self, after: Height) -> ControlFlow<()> {
        self.comparison.height.store(after.plus(1).0, Ordering::Relaxed);
        ControlFlow::Continue(())
    }

    fn may_begin_again(&self) -> bool {
        self.turns == 0
    }

    fn applied(&mut self, applied: &Applied, _: &World) -> ControlFlow<()> {
        self.turns += 1;
        self.comparison.height.store(applied.height.plus(1).0, Ordering::Relaxed);
        match self.comparison.first() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}
