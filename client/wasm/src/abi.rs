//! The C interface: bytes in, bytes out, and numbers for what is kept between calls.
//!
//! A call writes its input to where `input(length)` points, calls an operation, and reads
//! `output_length()` bytes at `output()`. An operation gives 1, or 0 when it refused; then the output
//! is a [`CallError`] as JSON. Nothing here touches foreign memory: the caller writes into a buffer that
//! this module owns, between calls.
#![cfg_attr(
    target_arch = "wasm32",
    expect(
        unsafe_code,
        reason = "an exported name could be one that somebody else relies on; these are nobody's"
    )
)]

use std::{cell::RefCell, collections::BTreeMap};

use serde::Serialize;

use crate::{
    CallError, ClientCore, ClientReplica, ScriptTrial, StartPoint, TrustedGenesis, keys, prove_map,
};

/// What is kept between calls.
enum HandleObject {
    Core(Box<ClientCore>),
    Replica(Box<ClientReplica>),
    Trial(Box<ScriptTrial>),
}

#[derive(Default)]
struct HandleTable {
    last: u32,
    kept: BTreeMap<u32, HandleObject>,
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SHELF: RefCell<HandleTable> = RefCell::default();
}

/// Makes room for an input of so many bytes, and says where.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn input(length: u32) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length as usize, 0);
        input.as_mut_ptr()
    })
}

/// Returns where the last output is. The address holds until the next call.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Returns how many bytes the last output has.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn output_length() -> u32 {
    OUTPUT.with_borrow(|output| u32::try_from(output.len()).unwrap_or(0))
}

/// The version of the protocol that this module speaks.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub const extern "C" fn wire_version() -> u32 {
    metatopia_protocol::VERSION as u32
}

/// Runs an operation on the input, which is gone afterwards.
fn run(operation: impl FnOnce(&[u8]) -> Result<Vec<u8>, CallError>) -> u32 {
    let input = INPUT.take();
    let result = operation(&input);
    let good = u32::from(result.is_ok());
    OUTPUT.set(result.unwrap_or_else(|fault| json(&fault)));
    good
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("structs of texts and numbers become JSON")
}

#[derive(Serialize)]
struct Handle {
    handle: u32,
}

fn keep(kept: HandleObject) -> Vec<u8> {
    SHELF.with_borrow_mut(|shelf| {
        shelf.last = shelf.last.checked_add(1).expect("nobody makes four thousand million of them");
        shelf.kept.insert(shelf.last, kept);
        json(&Handle { handle: shelf.last })
    })
}

fn gone() -> CallError {
    CallError::new("handle", "nothing is kept under that number")
}

fn with_core(
    handle: u32,
    act: impl FnOnce(&mut ClientCore) -> Result<Vec<u8>, CallError>,
) -> Result<Vec<u8>, CallError> {
    SHELF.with_borrow_mut(|shelf| match shelf.kept.get_mut(&handle) {
        Some(HandleObject::Core(core)) => act(core),
        _ => Err(gone()),
    })
}

/// Runs what has no output.
fn with_core_quietly(handle: u32, act: impl FnOnce(&mut ClientCore)) -> u32 {
    run(|_| {
        with_core(handle, |core| {
            act(core);
            Ok(Vec::new())
        })
    })
}

fn with_replica<T>(
    handle: u32,
    act: impl FnOnce(&mut ClientReplica) -> Result<T, CallError>,
) -> Result<T, CallError> {
    SHELF.with_borrow_mut(|shelf| match shelf.kept.get_mut(&handle) {
        Some(HandleObject::Replica(replica)) => act(replica),
        _ => Err(gone()),
    })
}

fn with_trial<T>(
    handle: u32,
    act: impl FnOnce(&mut ScriptTrial) -> Result<T, CallError>,
) -> Result<T, CallError> {
    SHELF.with_borrow_mut(|shelf| match shelf.kept.get_mut(&handle) {
        Some(HandleObject::Trial(trial)) => act(trial),
        _ => Err(gone()),
    })
}

/// Exports [`prove_map`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn prove_world_map() -> u32 {
    run(prove_map)
}

/// Exports [`crate::buddy_list`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn buddy_list() -> u32 {
    run(crate::buddy_list)
}

/// Exports [`crate::block_list`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn block_list() -> u32 {
    run(crate::block_list)
}

/// Exports [`crate::key_desk`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn key_desk() -> u32 {
    run(crate::key_desk)
}

/// Exports [`crate::text_changes`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn text_changes() -> u32 {
    run(crate::text_changes)
}

/// Exports [`keys::public_key`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn public_key() -> u32 {
    run(keys::public_key)
}

/// Exports [`keys::sign`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn sign() -> u32 {
    run(keys::sign)
}

/// Exports [`keys::verify`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn verify() -> u32 {
    run(keys::verify)
}

/// Exports [`keys::hash`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn hash() -> u32 {
    run(|input| Ok(keys::hash(input)))
}

/// Exports [`keys::work`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn work(count: u32) -> u32 {
    run(|input| keys::work(input, count))
}

/// Keeps a [`ClientCore`]: the input is its setup as JSON, `name` bytes of it, and the genesis.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_new(name: u32) -> u32 {
    run(|input| {
        let no_name = || CallError::input("no setup of that length");
        let (setup, genesis) = input.split_at_checked(name as usize).ok_or_else(no_name)?;
        Ok(keep(HandleObject::Core(Box::new(ClientCore::new(setup, genesis)?))))
    })
}

/// Exports [`ClientCore::connected`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_connected(handle: u32, now: f64, wall: f64) -> u32 {
    with_core_quietly(handle, |core| core.connected(now, wall))
}

/// Exports [`ClientCore::disconnected`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_disconnected(handle: u32, now: f64, wall: f64) -> u32 {
    with_core_quietly(handle, |core| core.disconnected(now, wall))
}

/// Exports [`ClientCore::frame`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_frame(handle: u32, now: f64, wall: f64) -> u32 {
    run(|frame| {
        with_core(handle, |core| {
            core.frame(now, wall, frame);
            Ok(Vec::new())
        })
    })
}

/// Exports [`ClientCore::tick`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_tick(handle: u32, now: f64, wall: f64) -> u32 {
    with_core_quietly(handle, |core| core.tick(now, wall))
}

/// Exports [`ClientCore::command`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_command(handle: u32, now: f64, wall: f64) -> u32 {
    run(|command| with_core(handle, |core| core.command(now, wall, command).map(|()| Vec::new())))
}

/// Exports [`ClientCore::outgoing`] to the page; no bytes if there is no frame.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_outgoing(handle: u32) -> u32 {
    run(|_| with_core(handle, |core| Ok(core.outgoing().unwrap_or_default())))
}

/// Exports [`ClientCore::events`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn core_events(handle: u32) -> u32 {
    run(|_| with_core(handle, |core| Ok(core.events())))
}

/// Keeps a [`ClientReplica`]: the input is the sim's id in hexadecimal, `name` bytes of it, and
/// the genesis; 1 begins with a snapshot.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_new(name: u32, begin: u32) -> u32 {
    run(|input| {
        let (trust, genesis) = TrustedGenesis::read(input, name as usize)?;
        let begin = if begin == 1 { StartPoint::Snapshot } else { StartPoint::Genesis };
        Ok(keep(HandleObject::Replica(Box::new(ClientReplica::new(trust, genesis, begin)?))))
    })
}

/// Exports [`ClientReplica::want`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_want(handle: u32) -> u32 {
    run(|_| Ok(json(&with_replica(handle, |replica| Ok(replica.want()))?)))
}

/// Exports [`ClientReplica::frame`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_frame(handle: u32) -> u32 {
    run(|frame| Ok(json(&with_replica(handle, |replica| replica.frame(frame))?)))
}

/// Exports [`ClientReplica::status`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_status(handle: u32) -> u32 {
    run(|_| Ok(json(&with_replica(handle, |replica| Ok(replica.status()))?)))
}

/// Exports [`ClientReplica::watch`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_watch(handle: u32) -> u32 {
    run(|script| with_replica(handle, |replica| replica.watch(script)).map(|()| Vec::new()))
}

/// Exports [`ClientReplica::watched`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_watched(handle: u32) -> u32 {
    run(|_| Ok(json(&with_replica(handle, |replica| Ok(replica.watched()))?)))
}

/// See [`ClientReplica::capsule`]; encoded.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn replica_capsule(handle: u32) -> u32 {
    run(|_| with_replica(handle, |replica| Ok(replica.capsule().encode())))
}

/// Keeps a [`ScriptTrial`] on a copy of a replica's state: the input is the task as JSON.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn trial_new(replica: u32) -> u32 {
    run(|task| {
        let trial = with_replica(replica, |replica| {
            let none = || CallError::new("NoState", "the replica has no state yet");
            ScriptTrial::new(replica.world().ok_or_else(none)?, task)
        })?;
        Ok(keep(HandleObject::Trial(Box::new(trial))))
    })
}

/// Exports [`ScriptTrial::act_as_author`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn trial_act(handle: u32) -> u32 {
    run(|deed| with_trial(handle, |trial| trial.act_as_author(deed)).map(|()| Vec::new()))
}

/// Exports [`ScriptTrial::run`] to the page.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn trial_run(handle: u32, turns: u32) -> u32 {
    run(|_| Ok(json(&with_trial(handle, |trial| Ok(trial.run(turns)))?)))
}

/// Lets go of a core, replica or try.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub extern "C" fn drop_handle(handle: u32) -> u32 {
    run(|_| {
        let kept = SHELF.with_borrow_mut(|shelf| shelf.kept.remove(&handle));
        kept.map(|_| Vec::new()).ok_or_else(gone)
    })
}
