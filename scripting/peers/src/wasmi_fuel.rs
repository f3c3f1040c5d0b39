//! WebAssembly that wasmi interprets, with fuel.

mod wasm_guest;

use std::process::ExitCode;

use metatopia_peers::{PeerFailure, serve};
use wasm_guest::{Guest, WasmPeer};
use wasmi as wasm;

fn metered() -> Result<wasm::Engine, PeerFailure> {
    let mut config = wasm::Config::default();
    config.consume_fuel(true);
    Ok(wasm::Engine::new(&config))
}

fn start(
    host: &wasm::Linker<Guest>,
    store: &mut wasm::Store<Guest>,
    module: &wasm::Module,
) -> Result<wasm::Instance, PeerFailure> {
    Ok(host.instantiate_and_start(store, module)?)
}

fn main() -> ExitCode {
    serve::<WasmPeer>()
}
