//! Our own engine, as a program beside the others. It is built twice, as it is and with `--cfg
//! metatopia_unmetered`: what the first takes longer is what metering takes.

use std::process::ExitCode;

use metatopia_peers::{
    PeerEngine, PeerFailure, serve, source,
    stage::{self, PeerStage},
};
use metatopia_scripting::{Handler as _, ScriptHandler, ScriptOutput};

struct OwnPeer {
    stage: PeerStage,
    handler: ScriptHandler,
}

impl PeerEngine for OwnPeer {
    type Left = ScriptOutput;

    fn load(handler: &str) -> Result<Self, PeerFailure> {
        let handler = ScriptHandler::new(&stage::package(source(handler)?))?;
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
