//! The executor: the thread that applies turns to the world, with scripts in parallel on a pool.

use std::{io, sync::Arc, thread};

use metatopia_consensus::Decision;
use metatopia_sim::{ForkJoin, World};
use rayon::prelude::*;
use tokio::sync::mpsc;

/// Stack of the threads that run scripts: their limits on depth are far below it.
pub(crate) const STACK_BYTES: usize = 8 * 1_024 * 1_024;

/// A pool of threads for fork-join. Results do not depend on it.
#[derive(Debug)]
pub struct Pool(rayon::ThreadPool);

impl Pool {
    /// Starts a pool of `threads`, at least one.
    ///
    /// # Errors
    /// Fails when threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .stack_size(STACK_BYTES)
            .thread_name(|n| format!("scripts-{n}"))
            .build()
            .map(Self)
    }
}

impl ForkJoin for Pool {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        // Handing one script to another thread costs more than running it here.
        if count < 2 {
            return (0..count).for_each(job);
        }
        self.0.install(|| (0..count).into_par_iter().for_each(job));
    }
}

/// A world, and the turn to apply to it.
pub type Job = (Box<World>, Arc<Decision>);

/// The world after the turn, and what the turn did.
pub type AppliedWorld = (Box<World>, Box<metatopia_sim::Applied>);

/// A change of a world after a turn was applied to it, as bad memory would make it. Only tests have
/// one.
pub type Meddle = Box<dyn FnMut(&mut World, &mut metatopia_sim::Applied) + Send>;

/// Starts the thread. It ends when there are no more jobs.
///
/// # Errors
/// Fails when no thread can be started.
pub fn start(
    pool: Arc<Pool>,
    mut jobs: mpsc::Receiver<Job>,
    done: mpsc::Sender<AppliedWorld>,
    mut meddle: Option<Meddle>,
) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("world".into()).stack_size(STACK_BYTES).spawn(move || {
        while let Some((mut world, decision)) = jobs.blocking_recv() {
            let span = tracing::debug_span!("apply", height = %decision.height());
            let mut result = span.in_scope(|| world.apply(&decision.turn, &*pool));
            if let Some(meddle) = &mut meddle {
                meddle(&mut world, &mut result);
            }
            if done.blocking_send((world, Box::new(result))).is_err() {
                return;
            }
        }
    })
}
