//! Our own engine, as a program beside the others. It is built twice, as it is and with `--cfg
//! metatopia_unmetered`: what the first takes longer is what metering takes.

use std::process::ExitCode;

use metatopia_peers::{
    PeerEngine, PeerFailure, serve,
    stage::{self, PeerStage},
};
use metatopia_scripting::{Handler as _, ScriptHandler, ScriptOutput};

const TICK: &str = include_str!("../../src/port/samples/tick.rhai");
const CHATTY: &str = include_str!("../../examples/handlers/chatty.rhai");
const MAP_HEAVY: &str = include_str!("../../examples/handlers/map-heavy.rhai");
const IDLE: &str = include_str!("../../examples/handlers/idle.rhai");

struct OwnPeer {
    stage: PeerStage,
    handler: ScriptHandler,
}

impl PeerEngine for OwnPeer {
    type Left = ScriptOutput;

    fn load(handler: &str) -> Result<Self, PeerFailure> {
        let source = match handler {
            "tick" => TICK,
            "chatty" => CHATTY,
            "map-heavy" => MAP_HEAVY,
            "idle" => IDLE,
            _ => return Err("there is no such handler".into()),
        };
        let handler = ScriptHandler::new(&stage::package(source))?;
        Ok(Self { stage: PeerStage::new(), handler })
    }

    fn call(&mut self, object: u64) -> Result<ScriptOutput, PeerFailure> {
        self.stage.with_call(object, |call| Ok(self.handler.call(call)?))
    }

    fn told(output: &ScriptOutput) -> String {
        stage::told(output)
    }
}

fn main() -> ExitCode {
    serve::<OwnPeer>()
}
