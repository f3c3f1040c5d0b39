//! The call that a script starts with, in any world.

use std::sync::Arc;

use metatopia_scripting::{
    Call, Event, ObjectWrites, ScriptState, WorldView, limits::GAS_PER_CALL_MAX,
};
use metatopia_types::{ObjectId, ScriptId};

/// Does something with the call of `on_start` of script 1 on object 1, which may use all the gas of a call.
pub(crate) fn call_in<T>(view: Arc<dyn WorldView>, work: impl FnOnce(&Call<'_>) -> T) -> T {
    work(&Call {
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
