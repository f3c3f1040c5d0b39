//! Hostile programs: each ends in a clean error or result, soon, in little memory, and at the same
//! operation in every build.

mod ending;
mod memory;
#[path = "../stage/nowhere.rs"]
mod nowhere;
mod programs;
#[path = "../stage/starting.rs"]
mod starting;

use std::fmt::Write;

use metatopia_scripting::{ScriptHandler, ScriptProgram, limits::CALL_BYTES_MAX};
use metatopia_types::{Digest, PackageId};

use ending::{compiled, ended};

/// How each program ended, recorded.
const GOLDEN: &str = include_str!("golden.txt");

/// Bytes of the heap that a call may hold beyond what it is told it may.
const BEYOND_MAX: usize = 1_024 * 1_024;

/// Nanoseconds that a program may compute, in an optimised build.
const NANOSECONDS_MAX: u64 = 5_000_000;

/// Nanoseconds that this thread has computed, where that is told.
#[expect(clippy::disallowed_methods, reason = "the test holds a bound of time")]
fn computed() -> Option<u64> {
    // What a thread has computed is added up when it gives the processor away.
    std::thread::yield_now();
    let text = std::fs::read("/proc/thread-self/schedstat").ok()?;
    String::from_utf8(text).ok()?.split_whitespace().next()?.parse().ok()
}

/// The least time of several, so that a slow moment of the machine is none of the program's.
fn least_time(handler: &ScriptHandler) -> u64 {
    let once = |_| {
        let start = computed()?;
        ended(handler);
        Some(computed()? - start)
    };
    (0..3).filter_map(once).min().unwrap_or(0)
}

#[test]
fn hostile_programs_end_cleanly_soon_in_little_memory_and_where_they_always_did() {
    let all = programs::all();
    assert!(all.len() >= 200, "only {} programs", all.len());
    let mut recorded = String::new();
    for (name, source) in &all {
        let line = match compiled(source) {
            Err(refused) => refused,
            Ok(handler) => {
                let (line, most) = memory::most_during(|| ended(&handler));
                assert_eq!(ended(&handler), line, "{name}");
                let beyond = most.saturating_sub(usize::try_from(CALL_BYTES_MAX).unwrap());
                assert!(beyond <= BEYOND_MAX, "{name} holds {most} bytes");
                let time = least_time(&handler);
                assert!(time <= NANOSECONDS_MAX, "{name} takes {time} nanoseconds");
                line
            }
        };
        writeln!(recorded, "{name}: {line}").unwrap();
    }
    let differs = recorded.lines().zip(GOLDEN.lines()).find(|(found, expected)| found != expected);
    println!("{recorded}");
    assert_eq!(differs, None, "the first line that differs; all of them are printed above");
    assert_eq!(recorded.lines().count(), GOLDEN.lines().count());
}

/// A script as people write them, which waits for somebody to speak.
const IDLE: &str = "
    const WORD = \"open sesame\";
    fn greet(name) { `Hello, ${name}!` }
    fn on_chat(from, text) {
        state.heard = (state.heard ?? 0) + 1;
        if text == WORD {
            self_.color = 0x00FF00;
            send(from, \"welcome\", state.heard);
            timer(\"close\", 2.5);
        } else {
            say(greet(from.name));
        }
    }
    fn on_touch(other, at, impulse) {
        let away = (other.pos - self_.pos).normalize() * (1 + impulse);
        push(other, away.rotate(random(-0.5, 0.5)));
    }
    fn on_timer(name) {
        if name == \"close\" { self_.color = 0xFF0000; }
    }";

#[test]
fn ten_thousand_idle_scripts_take_little_memory() {
    let program = ScriptProgram::compile(IDLE).unwrap();
    let load =
        || ScriptHandler::load(PackageId(Digest::ZERO), "main.rhai".into(), &program).unwrap();
    load();
    let (all, bytes) =
        memory::most_during(|| (0..10_000).map(|_| load()).collect::<Vec<ScriptHandler>>());
    println!("{} scripts hold {bytes} bytes", all.len());
    // 1,969 bytes each: operations 656, constants 447, the handler itself 208, places of operations and names of
    // functions 150, ways to inner parts 136, functions 128, other names 120, numbers of slots 72, and the rest 52.
    assert!(bytes <= 20_000_000, "{bytes} bytes, where no two of them share their package");
}
