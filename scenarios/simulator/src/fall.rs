//! A world that falls over: something panics that is no server, whose panics the world survives. It
//! may be a client, somebody who fetches a state, a reader of logs, or the oracle. Other worlds go
//! on, and this one is told like any other that broke a law.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use crate::life::panicked;

/// The law that a world breaks when it falls over.
pub(crate) const LAW: &str = "no-world-falls-over";

thread_local! {
    /// The last lines of the history of a world that falls over on this thread.
    static LAST_LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// How a world fell over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldPanic {
    /// What panicked said so.
    pub why: String,
    /// The end of its history, if that was written.
    pub history: Vec<String>,
}

/// Plays a world that may fall over. Nothing of it may be used afterwards.
///
/// # Errors
/// It fell over.
pub fn survive<T>(play: impl FnOnce() -> T) -> Result<T, WorldPanic> {
    LAST_LINES.take();
    panic::catch_unwind(AssertUnwindSafe(play)).map_err(|cause| WorldPanic {
        why: format!("the world itself fell over: {}", panicked(&*cause)),
        history: LAST_LINES.take(),
    })
}

/// Keeps the history of a world that is falling over: nobody else will have it.
pub(crate) fn keep(lines: impl Iterator<Item = String>) {
    LAST_LINES.set(lines.collect());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::survive;
    use crate::trace::Trace;

    /// The history went with the world, so that nobody saw what it fell over.
    #[test]
    fn the_history_of_a_world_outlives_its_fall() {
        let play = |falls: bool| {
            let mut trace = Trace::new(true);
            trace.write(Duration::ZERO, 2, || "the last thing".to_owned());
            assert!(!falls, "a client found {} turns", 3);
            trace.events()
        };

        let fall = survive(|| play(true)).unwrap_err();

        assert_eq!(fall.why, "the world itself fell over: panicked: a client found 3 turns");
        let [line] = &fall.history[..] else { panic!("{:?}", fall.history) };
        assert!(line.ends_with("server 2: the last thing"), "{line}");
        assert_eq!(survive(|| play(false)), Ok(0));
        let unwritten = survive(|| -> () { panic!("before there was a world") }).unwrap_err();
        assert!(unwritten.history.is_empty(), "of the one before: {unwritten:?}");
    }
}
