//! Parallel work through an executor that is handed in, so that this crate needs no threads.

use std::sync::OnceLock;

/// Runs independent jobs, in any order and on any threads.
///
/// The results of this crate never depend on the executor: jobs only read what they share, and
/// what they return is put together by their number.
pub trait ForkJoin: Sync {
    /// Calls `job(0)`, `job(1)`, .. `job(count - 1)`, each exactly once, and returns when all of
    /// them have returned.
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync));
}

/// Runs jobs one after the other, on the caller's thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl ForkJoin for Serial {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(job);
    }
}

/// Calls `job` with each item. Returns the results in the order of the items.
///
/// # Panics
/// When the executor leaves out a job or runs one twice, for then its results are not a function
/// of the state.
pub(super) fn fork_join<T, R>(
    exec: &dyn ForkJoin,
    items: &[T],
    job: impl Fn(&T) -> R + Sync,
) -> Vec<R>
where
    T: Sync,
    R: Send + Sync,
{
    let slots: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    exec.run(items.len(), &|index| {
        let fresh = slots[index].set(job(&items[index])).is_ok();
        assert!(fresh, "the executor ran job {index} twice");
    });
    slots
        .into_iter()
        .map(|slot| slot.into_inner().expect("the executor ran every job before it returned"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct ReverseOrder;

    impl ForkJoin for ReverseOrder {
        fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(job);
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_items_whatever_runs_first() {
        let items: Vec<u64> = (0..100).collect();

        let squares = |exec: &dyn ForkJoin| fork_join(exec, &items, |n| n * n);

        assert_eq!(squares(&Serial), squares(&ReverseOrder));
        assert_eq!(squares(&Serial)[7], 49);
    }
}
