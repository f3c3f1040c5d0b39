//! A world without anything in it, for programs that need none.

use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_scripting::{
    AlongRay, Handler, Nearby, ObjectView, ScriptError, ScriptHandler, ScriptOutput, WorldView,
};
use metatopia_types::{Digest, ObjectId, Tick};

use super::starting::call_in;

struct Nowhere;

impl WorldView for Nowhere {
    fn object(&self, _: ObjectId) -> Option<ObjectView<'_>> {
        None
    }

    fn nearby(&self, _: Vec2, _: Fx, _: u32) -> Nearby {
        Nearby::default()
    }

    fn named(&self, _: ObjectId, _: &str, _: u32) -> Nearby {
        Nearby::default()
    }

    fn along_ray(&self, _: Vec2, _: Vec2, _: ObjectId) -> AlongRay {
        AlongRay::default()
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
    call_in(Arc::new(Nowhere), |call| handler.call(call))
}
