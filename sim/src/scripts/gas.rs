//! Gas: who pays for scripts. A call is bounded by a hard limit; what it used is debited from its script
//! and from the script's owner, and a payer that is overdrawn is skipped until it has earned
//! enough.

use metatopia_types::Tick;
use serde::{Deserialize, Serialize};

use crate::limits::GAS_PER_SCRIPT_TICK;

/// The most that one script can use in one tick: the last call begins just below the limit of the
/// tick, and uses all that a call may use.
pub const SCRIPT_TICK_MAX: u64 =
    GAS_PER_SCRIPT_TICK + metatopia_scripting::limits::GAS_PER_CALL_MAX;

/// An account that fills up by itself. It is stored as it was at some tick, so that time alone
/// changes no leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GasPool {
    level: i64,
    at: Tick,
}

/// How fast a pool fills, and how far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GasIncome {
    pub(crate) refill: u64,
    pub(crate) capacity: u64,
}

impl GasPool {
    /// Returns a pool that is full at `tick`.
    pub(crate) fn full(tick: Tick, income: GasIncome) -> Self {
        Self { level: signed(income.capacity), at: tick }
    }

    /// Returns a pool that is empty at `tick`.
    pub(crate) fn empty(tick: Tick) -> Self {
        Self { level: 0, at: tick }
    }

    /// Returns what is in the pool at `tick`; below zero if it is overdrawn.
    pub(crate) fn level(&self, tick: Tick, income: GasIncome) -> i64 {
        let ticks = tick.0.saturating_sub(self.at.0);
        let earned = signed(income.refill).saturating_mul(signed(ticks));
        self.level.saturating_add(earned).min(signed(income.capacity))
    }

    /// Takes `gas` out at `tick`.
    pub(crate) fn debit(&mut self, tick: Tick, income: GasIncome, gas: u64) {
        self.level = self.level(tick, income).saturating_sub(signed(gas));
        self.at = tick;
    }
}

/// Returns a number of gas with a sign, the largest one if it is too large.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INCOME: GasIncome = GasIncome { refill: 10, capacity: 100 };

    #[test]
    fn a_pool_earns_by_the_tick_up_to_its_capacity() {
        let mut pool = GasPool::full(Tick(5), INCOME);

        pool.debit(Tick(5), INCOME, 250);

        assert_eq!(pool.level(Tick(5), INCOME), -150);
        assert_eq!(pool.level(Tick(20), INCOME), 0);
        assert_eq!(pool.level(Tick(21), INCOME), 10);
        assert_eq!(pool.level(Tick(1_000_000), INCOME), 100);
    }

    #[test]
    fn a_pool_survives_the_largest_numbers() {
        let income = GasIncome { refill: u64::MAX, capacity: u64::MAX };
        let mut pool = GasPool::full(Tick(0), income);

        pool.debit(Tick(u64::MAX), income, u64::MAX);
        pool.debit(Tick(u64::MAX), income, u64::MAX);
        pool.debit(Tick(u64::MAX), income, u64::MAX);

        assert!(pool.level(Tick(u64::MAX), income) < 0);
    }
}
