//! Calls over the world that our own engine is measured in, by the same host functions.

#[path = "../../examples/stage/told.rs"]
mod told;
#[path = "../../examples/stage/world.rs"]
mod world;

use std::sync::Arc;

use metatopia_math::Fx;
use metatopia_scripting::{
    Call, Event, HostFault, ObjectWrites, Package, ScriptContext, ScriptOutput, ScriptState,
    WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{ObjectId, ScriptId};

use crate::PeerFailure;

/// A world that stands still, and the event that each handler gets.
#[expect(missing_debug_implementations, reason = "a view of a whole world has no useful one")]
pub struct PeerStage {
    view: Arc<dyn WorldView>,
    event: Event,
    state: Arc<ScriptState>,
}

impl PeerStage {
    /// Returns the stage on which all engines are measured.
    #[must_use]
    pub fn new() -> Self {
        Self {
            view: Arc::new(world::Crowd::new()),
            event: Event::Tick { dt: dt() },
            state: Arc::new(ScriptState::default()),
        }
    }

    /// Returns what the host functions of one call work on.
    #[must_use]
    pub fn context(&self, object: u64) -> ScriptContext {
        self.with_call(object, ScriptContext::new)
    }

    /// Makes a call on an object, and returns what is made of it.
    pub fn with_call<T>(&self, object: u64, make: impl FnOnce(&Call<'_>) -> T) -> T {
        make(&Call {
            view: &self.view,
            script: ScriptId(1),
            object: ObjectId(object),
            index: 0,
            event: &self.event,
            state: &self.state,
            own: &ObjectWrites::default(),
            gas: GAS_PER_CALL_MAX,
        })
    }
}

/// Returns the package of one source.
#[must_use]
pub fn package(source: &str) -> Package {
    world::package(source)
}

impl Default for PeerStage {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the seconds of a tick.
#[must_use]
pub fn dt() -> Fx {
    Fx::from_ratio(1, 60)
}

/// Returns what a call left, from the context that it worked on.
///
/// # Errors
/// When it may not leave that.
pub fn finish(context: Option<ScriptContext>) -> Result<ScriptOutput, PeerFailure> {
    let context = context.ok_or("the engine lost the call")?;
    context.finish().map_err(failure)
}

/// Returns what a host function says.
#[must_use]
pub fn failure(fault: HostFault) -> PeerFailure {
    fault.message.into()
}

/// Returns what a call left, as a line.
#[must_use]
pub fn told(output: &ScriptOutput) -> String {
    told::told(output)
}
