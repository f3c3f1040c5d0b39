//! The seam between a world and whatever executes its scripts.

use alloc::sync::Arc;

use metatopia_types::{ObjectId, PackageId, ScriptId};

use crate::{
    CompileError, Event, EventKind, LinkedPackage, ObjectWrites, ScriptError, ScriptOutput,
    ScriptState, WorldView,
};

/// One event for one script.
#[expect(missing_debug_implementations, reason = "a view of a whole world has no useful one")]
pub struct Call<'a> {
    /// The world at the start of the tick. Shared, not borrowed, because an executor may have to
    /// hand it to functions that outlive any borrow; nothing keeps it once the call is over.
    pub view: &'a Arc<dyn WorldView>,
    /// Which script runs.
    pub script: ScriptId,
    /// The object it runs on.
    pub object: ObjectId,
    /// How many events this script got before this one in the same tick: random numbers depend on
    /// it.
    pub index: u64,
    /// The event to handle.
    pub event: &'a Event,
    /// The script's state, with what its earlier calls of this tick changed.
    pub state: &'a Arc<ScriptState>,
    /// What the script's earlier calls of this tick wrote to its object.
    pub own: &'a ObjectWrites,
    /// Gas that this call may use, `GAS_PER_CALL_MAX` at most.
    pub gas: u64,
}

/// An engine that executes the sources of packages.
///
/// Two executors of one name and version make handlers that give equal results.
pub trait Executor: Send + Sync {
    /// Compiles a package with what it imports.
    ///
    /// # Errors
    /// What is wrong with the source, by line and column.
    fn compile(&self, package: &LinkedPackage<'_>) -> Result<Arc<dyn Handler>, CompileError>;
}

/// Returns the executor that sims run by.
#[must_use]
pub fn default_executor() -> Arc<dyn Executor> {
    Arc::new(crate::ScriptExecutor)
}

/// Something that handles events: a script, or a port of one to Rust.
///
/// An implementation keeps nothing between calls: two calls with equal arguments give equal
/// results, on any thread and any server.
pub trait Handler: Send + Sync {
    /// The package whose source this executes or replaces.
    fn package(&self) -> PackageId;

    /// Returns whether events of this kind are handled. Others need not be delivered.
    fn handles(&self, kind: EventKind) -> bool;

    /// Handles one event. An event of a kind that is not handled gives an empty [`ScriptOutput`].
    ///
    /// # Errors
    /// The call failed: its writes and effects are lost. Its gas is not.
    fn call(&self, call: &Call<'_>) -> Result<ScriptOutput, ScriptError>;
}
