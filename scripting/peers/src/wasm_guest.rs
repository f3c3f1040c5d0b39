//! A handler in WebAssembly, and what it calls. Two peers include this file, each with its engine under
//! the name `wasm`: the two have the same types, but for how they are set up.
//!
//! A field of an object is one call of the host, as a host of scripts would offer it; texts and lists go
//! through the memory of the guest. One instance serves all calls: a new one for each would take longer
//! than the handler.

use std::fmt::Write as _;

use metatopia_math::{Fx, Vec2};
use metatopia_peers::{
    METERED_MAX, PeerEngine, PeerFailure,
    stage::{self, PeerStage},
};
use metatopia_scripting::{HostFault, ScriptContext, ScriptOutput, Value};
use metatopia_types::ObjectId;

use crate::wasm::{Caller, Instance, Linker, Memory, Module, Store, TypedFunc};

/// What the host keeps for a guest.
#[derive(Default)]
pub(crate) struct Guest {
    scene: Option<ScriptContext>,
    memory: Option<Memory>,
}

impl Guest {
    /// Returns the call under way; a fault of the host ends it.
    fn scene(&mut self) -> &mut ScriptContext {
        self.scene.as_mut().expect("a call is under way")
    }
}

/// Does what the handlers of a measurement never fail at.
fn sure<T>(result: Result<T, HostFault>) -> T {
    result.unwrap_or_else(|fault| panic!("{}", fault.message))
}

fn object(number: i64) -> ObjectId {
    ObjectId(number.unsigned_abs())
}

/// Returns the memory of the guest, and what the host keeps for it.
fn parts<'a>(caller: &'a mut Caller<'_, Guest>) -> (&'a mut [u8], &'a mut Guest) {
    let memory = caller.data().memory.expect("it has one");
    memory.data_and_store_mut(caller)
}

fn text(memory: &[u8], at: i32, length: i32) -> &str {
    let bytes = &memory[at as usize..][..length as usize];
    std::str::from_utf8(bytes).expect("guests write UTF-8")
}

fn write(memory: &mut [u8], at: i32, bytes: &[u8]) -> i32 {
    memory[at as usize..][..bytes.len()].copy_from_slice(bytes);
    bytes.len() as i32
}

fn vector(vector: Vec2) -> (i64, i64) {
    (vector.x.to_bits(), vector.y.to_bits())
}

type WasmHost = Linker<Guest>;

fn world(host: &mut WasmHost) -> Result<(), PeerFailure> {
    host.func_wrap(
        "host",
        "nearby",
        |mut caller: Caller<'_, Guest>, radius: i64, at: i32| -> i32 {
            let (memory, guest) = parts(&mut caller);
            let found = sure(guest.scene().nearby(Fx::from_bits(radius)));
            for (id, place) in found.iter().zip(memory[at as usize..].chunks_exact_mut(8)) {
                place.copy_from_slice(&id.0.to_le_bytes());
            }
            found.len() as i32
        },
    )?;
    host.func_wrap("host", "pos", |mut caller: Caller<'_, Guest>, id: i64| -> (i64, i64) {
        vector(sure(caller.data_mut().scene().object(object(id))).pos)
    })?;
    host.func_wrap("host", "velocity", |mut caller: Caller<'_, Guest>, id: i64| -> (i64, i64) {
        vector(sure(caller.data_mut().scene().object(object(id))).velocity)
    })?;
    host.func_wrap("host", "name", |mut caller: Caller<'_, Guest>, id: i64, at: i32| -> i32 {
        let (memory, guest) = parts(&mut caller);
        write(memory, at, sure(guest.scene().object(object(id))).name.as_bytes())
    })?;
    host.func_wrap("host", "now", |mut caller: Caller<'_, Guest>| -> i64 {
        caller.data_mut().scene().now().to_bits()
    })?;
    Ok(())
}

fn numbers(host: &mut WasmHost) -> Result<(), PeerFailure> {
    host.func_wrap("host", "sqrt", |_: Caller<'_, Guest>, number: i64| -> i64 {
        Fx::from_bits(number).sqrt().expect("not below zero").to_bits()
    })?;
    host.func_wrap(
        "host",
        "number",
        |mut caller: Caller<'_, Guest>, number: i64, at: i32| -> i32 {
            let (memory, _) = parts(&mut caller);
            let mut shown = String::new();
            let _ = write!(shown, "{}", Fx::from_bits(number));
            write(memory, at, shown.as_bytes())
        },
    )?;
    Ok(())
}

fn effects(host: &mut WasmHost) -> Result<(), PeerFailure> {
    host.func_wrap("host", "set_velocity", |mut caller: Caller<'_, Guest>, x: i64, y: i64| {
        let velocity = Vec2::new(Fx::from_bits(x), Fx::from_bits(y));
        sure(caller.data_mut().scene().set_velocity(velocity));
    })?;
    host.func_wrap("host", "set_spin", |mut caller: Caller<'_, Guest>, spin: i64| {
        sure(caller.data_mut().scene().set_spin(Fx::from_bits(spin)));
    })?;
    host.func_wrap(
        "host",
        "send",
        |mut caller: Caller<'_, Guest>, to: i64, at: i32, length: i32, data: i64| {
            let (memory, guest) = parts(&mut caller);
            let topic = text(memory, at, length);
            sure(guest.scene().send(object(to), topic, Value::Int(data)));
        },
    )?;
    host.func_wrap("host", "say", |mut caller: Caller<'_, Guest>, at: i32, length: i32| {
        let (memory, guest) = parts(&mut caller);
        sure(guest.scene().say(text(memory, at, length)));
    })?;
    host.func_wrap("host", "log", |mut caller: Caller<'_, Guest>, at: i32, length: i32| {
        let (memory, guest) = parts(&mut caller);
        guest.scene().log(text(memory, at, length));
    })?;
    Ok(())
}

fn state(host: &mut WasmHost) -> Result<(), PeerFailure> {
    host.func_wrap(
        "host",
        "keep_number",
        |mut caller: Caller<'_, Guest>, at: i32, length: i32, number: i64| {
            let (memory, guest) = parts(&mut caller);
            sure(guest.scene().keep(text(memory, at, length), Value::Int(number)));
        },
    )?;
    host.func_wrap(
        "host",
        "keep_map",
        |mut caller: Caller<'_, Guest>, at: i32, length: i32, map: i32, entries: i32| {
            let (memory, guest) = parts(&mut caller);
            let entries = memory[map as usize..].chunks_exact(16).take(entries as usize);
            let entries = entries.map(|entry| {
                let (name, number) = entry.split_at(8);
                let name = std::str::from_utf8(name).expect("guests write UTF-8");
                let number = number.try_into().expect("eight bytes");
                let number = Value::Int(i64::from_le_bytes(number));
                (name.trim_end_matches('\0').to_owned(), number)
            });
            sure(guest.scene().keep(text(memory, at, length), Value::Map(entries.collect())));
        },
    )?;
    Ok(())
}

/// An engine with a handler.
pub(crate) struct WasmPeer {
    store: Store<Guest>,
    on_tick: TypedFunc<(i64, i64), ()>,
    stage: PeerStage,
}

impl PeerEngine for WasmPeer {
    type Left = ScriptOutput;

    fn load(handler: &str) -> Result<Self, PeerFailure> {
        let source = match handler {
            "tick" => include_str!("../handlers/tick.wat"),
            "chatty" => include_str!("../handlers/chatty.wat"),
            "map-heavy" => include_str!("../handlers/map-heavy.wat"),
            "idle" => include_str!("../handlers/idle.wat"),
            _ => return Err("there is no such handler".into()),
        };
        let engine = crate::metered()?;
        let module = Module::new(&engine, wat::parse_str(source)?)?;
        let mut store = Store::new(&engine, Guest::default());
        store.set_fuel(METERED_MAX)?;
        let mut host = Linker::new(&engine);
        world(&mut host)?;
        numbers(&mut host)?;
        effects(&mut host)?;
        state(&mut host)?;
        let instance: Instance = crate::start(&host, &mut store, &module)?;
        store.data_mut().memory = instance.get_memory(&mut store, "memory");
        let on_tick = instance.get_typed_func(&mut store, "on_tick")?;
        Ok(Self { store, on_tick, stage: PeerStage::new() })
    }

    fn call(&mut self, object: u64) -> Result<ScriptOutput, PeerFailure> {
        self.store.data_mut().scene = Some(self.stage.context(object));
        self.store.set_fuel(METERED_MAX)?;
        let arguments = (object.cast_signed(), stage::dt().to_bits());
        self.on_tick.call(&mut self.store, arguments)?;
        stage::finish(self.store.data_mut().scene.take())
    }

    fn told(left: &ScriptOutput) -> String {
        stage::told(left)
    }
}
