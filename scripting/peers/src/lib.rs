//! What peers have in common: each is a program that measures one other engine of scripts.
//!
//! The example `compare` of metatopia-scripting writes requests to a peer's input, one a line, and reads one
//! line for each. A time is in nanoseconds of the processor, for one call. A peer ends with its input.
//!
//! ```text
//!                   ready
//! load tick         loaded
//! tell 0            velocity -2.06971 0.19110 spin -1.03485 send 293 ping 1 send 0 moved 2
//! measure           812
//! load nothing      failed: there is no such handler
//! ```
#![forbid(unsafe_code)]

#[path = "../../examples/stage/clock.rs"]
mod clock;
#[path = "../../examples/stage/crowd.rs"]
mod crowd;
#[cfg(feature = "stage")]
pub mod stage;

use std::{error::Error, hint::black_box, io, process::ExitCode};

/// Why something failed, for whoever reads the comparison.
pub type PeerFailure = Box<dyn Error>;

/// Operations, interrupts or units of fuel that a call may take: metering is on, and none comes near.
pub const METERED_MAX: u64 = 1_000_000;

/// An engine that has loaded a handler.
pub trait PeerEngine: Sized {
    /// What a call leaves.
    type Left;

    /// Loads the handler of this name.
    ///
    /// # Errors
    /// When the engine has no such handler, or refuses it.
    fn load(handler: &str) -> Result<Self, PeerFailure>;

    /// Runs it on an object.
    ///
    /// # Errors
    /// When the handler fails.
    fn call(&mut self, object: u64) -> Result<Self::Left, PeerFailure>;

    /// Returns what a call left, as a line: see `scripting/examples/stage/told.rs`.
    fn told(left: &Self::Left) -> String;
}

/// Returns the source of a handler in the language of our scripts.
///
/// # Errors
/// When there is no such handler.
pub fn source(handler: &str) -> Result<&'static str, PeerFailure> {
    Ok(match handler {
        "tick" => include_str!("../../src/port/samples/tick.rhai"),
        "chatty" => include_str!("../../examples/handlers/chatty.rhai"),
        "map-heavy" => include_str!("../../examples/handlers/map-heavy.rhai"),
        "idle" => include_str!("../../examples/handlers/idle.rhai"),
        _ => return Err("there is no such handler".into()),
    })
}

/// Answers requests until there are none.
pub fn serve<P: PeerEngine>() -> ExitCode {
    println!("ready");
    let mut engine = None;
    for request in io::stdin().lines() {
        let answered =
            request.map_err(PeerFailure::from).and_then(|line| answer::<P>(&mut engine, &line));
        match answered {
            Ok(answer) => println!("{answer}"),
            Err(why) => println!("{}", format!("failed: {why}").replace('\n', " ")),
        }
    }
    ExitCode::SUCCESS
}

fn answer<P: PeerEngine>(engine: &mut Option<P>, request: &str) -> Result<String, PeerFailure> {
    if let Some(handler) = request.strip_prefix("load ") {
        *engine = Some(P::load(handler)?);
        return Ok("loaded".into());
    }
    let engine = engine.as_mut().ok_or("no handler was loaded")?;
    if let Some(object) = request.strip_prefix("tell ") {
        return Ok(P::told(&engine.call(object.parse()?)?));
    }
    let mut failed = None;
    let time = clock::mean(crowd::OBJECTS, |object| match engine.call(object) {
        Ok(left) => drop(black_box(left)),
        Err(why) => failed = Some(why),
    });
    failed.map_or_else(|| Ok(time.to_string()), Err)
}
