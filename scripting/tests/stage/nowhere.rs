//! A world without anything in it, for programs that need none.

use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    Call, Event, Handler, Nearby, ObjectView, ObjectWrites, ScriptError, ScriptHandler,
    ScriptOutput, ScriptState, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{Digest, ObjectId, ScriptId, Tick};

struct Nowhere;

impl WorldView for Nowhere {
    fn object(&self, _: ObjectId) -> Option<ObjectView<'_>> {
        None
    }

    fn nearby(&self, _: Vec2, _: Fx, _: u32) -> Nearby {
        Nearby::default()
    }

    fn tick(&self) -> Tick {
        Tick(0)
    }

    fn seed(&self) -> Digest {
        Digest::ZERO
    }
}

/// Runs a handler's `on_start` there, with all the gas that a call may use.
pub(crate) fn start(handler: &ScriptHandler) -> Result<ScriptOutput, ScriptError> {
    let view: Arc<dyn WorldView> = Arc::new(Nowhere);
    handler.call(&Call {
        view: &view,
        script: ScriptId(1),
        object: ObjectId(1),
        index: 0,
        event: &Event::Start,
        state: &Arc::new(ScriptState::default()),
        own: &ObjectWrites::default(),
        gas: GAS_PER_CALL_MAX,
    })
}
