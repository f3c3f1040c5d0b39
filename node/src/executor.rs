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

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        fmt::Write as _,
    };

    use metatopia_audit::{fixture, tools};
    use metatopia_scenarios::{golden, parse_folder};
    use metatopia_sim::Serial;
    use metatopia_types::{Root, Sign as _};

    use super::*;

    /// Numbers of threads of a pool, beside the one thread without a pool.
    const THREADS: [usize; 3] = [1, 2, 8];

    #[test]
    fn the_golden_log_has_the_same_root_after_each_turn_on_any_number_of_threads() {
        let roots = |exec: &dyn ForkJoin| {
            let mut roots: Vec<Root> = Vec::new();
            golden::replay(exec, |world| roots.push(world.root())).expect("the golden log");
            roots
        };
        let expected = roots(&Serial);
        for threads in THREADS {
            let pool = Pool::new(threads).expect("threads");
            assert_eq!(roots(&pool), expected, "{threads} threads");
        }
    }

    /// Scripts that all run in each turn, draw random numbers and write to each other.
    const MILL: &str = "\
        fn on_start() { state.n = 0; timer(\"turn\", 0.05); }\n\
        fn on_timer(name) {\n\
            timer(\"turn\", 0.05);\n\
            state.n += random(1, 1000);\n\
            self_.text = `${state.n}`;\n\
            for other in nearby(4) { send(other, \"n\", state.n); }\n\
        }\n\
        fn on_message(from, topic, n) { state.n = (state.n * 31 + n) % 1000003; }\n";

    /// Mills along each side of their square.
    const SIDE: usize = 12;

    /// Turns in which they run.
    const TURNS: usize = 40;

    /// Founds a sim of many mills.
    fn mills() -> World {
        let mut places = String::new();
        for n in 0..SIDE * SIDE {
            write!(places, "[{}, {}], ", n % SIDE * 3 + 4, n / SIDE * 3).expect("a String");
        }
        let place = format!(
            "name = \"mills\"\nlicence = \"AGPL-3.0-or-later\"\nasset_licence = \"CC0-1.0\"\n\
             [[object]]\nkind = \"mill\"\nname = \"mill\"\nplaces = [{places}]\ndisc = \"0.5\"\n\
             scripts = [{{ package = \"mill\" }}]\n"
        );
        let manifest = "name = \"mill\"\nversion = \"1.0.0\"\napi = 1\nentry = \"mill.rhai\"\n\
                        licence = \"AGPL-3.0-or-later\"\nauthors = [\"Ada\"]\n";
        let files = BTreeMap::from([
            ("place.toml".to_owned(), place),
            ("packages/mill/package.toml".to_owned(), manifest.to_owned()),
            ("packages/mill/mill.rhai".to_owned(), MILL.to_owned()),
        ]);
        let place = parse_folder("mills", &files).expect("a place");
        let validators = golden::genesis().validators;
        let admins = BTreeSet::from([golden::visitor_key(0).public()]);
        World::genesis(&place.genesis(validators, admins), &tools()).expect("a sim")
    }

    #[test]
    fn scripts_that_write_to_each_other_come_to_the_same_roots_on_any_number_of_threads() {
        let roots = |exec: &dyn ForkJoin| {
            let mut world = mills();
            let (mut before, mut lagging) = (None, world.root());
            let mut roots = vec![world.root()];
            for _ in 0..TURNS {
                let turn = fixture::next_turn(&world, before.as_ref(), lagging);
                lagging = world.root();
                let applied = world.apply(&turn, exec);
                assert_eq!(applied.failures, [], "no script fails");
                roots.push(world.root());
                before = Some(turn);
            }
            roots
        };
        let expected = roots(&Serial);
        for threads in THREADS {
            let pool = Pool::new(threads).expect("threads");
            assert_eq!(roots(&pool), expected, "{threads} threads");
        }
    }
}
