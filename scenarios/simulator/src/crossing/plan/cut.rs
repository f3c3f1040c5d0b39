//! Worlds cut down to two sims of one server each, in which a bug of crossing shows within seconds: it is looked for in
//! fifty of them.

use std::time::Duration;

use super::{BorderTrouble, CrossingClass, CrossingPlan, Narrowness, SilentDay};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::signatures::SignatureKind;

/// The sim that departures leave of which something becomes in these worlds, and the one that judges them.
const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// How many people walk, one from each sim.
const WALKERS: u64 = 2;

/// A little more than the deadline of a departure, by which a clock leaps.
const LEAP_MS: i64 = 11_000;

/// A silence begins a day for so short a time: nothing is under way for longer that is not lost by it.
const QUIET_CUT: Duration = ms(500);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

impl CrossingPlan {
    /// Returns a calm plan of two sims of one server, in which people and balls cross for so long.
    fn cut(seed: u64, life: Duration) -> Self {
        let mut dice = Dice::new(seed, "cut crossing");
        let plan = Self::begin(&mut dice, seed, (life, 1));
        let scheme = SignatureKind::StandIn;
        Self { class: CrossingClass::Calm, walkers: WALKERS, scheme, ..plan }
    }

    /// Returns one in which nothing goes wrong, but the clocks are days apart.
    #[must_use]
    pub fn cut_calm(seed: u64) -> Self {
        Self::cut(seed, ms(5_000))
    }

    /// Returns one whose receiver takes one thing at a time, and hears of departures late, so it is told of each again
    /// after it has refused it.
    #[must_use]
    pub fn cut_narrow(seed: u64) -> Self {
        let mut plan = Self::cut(seed, ms(5_000));
        plan.narrow = Some(Narrowness::Share);
        plan.troubles = vec![(Duration::ZERO, RECEIVER, BorderTrouble::HoldUp(ms(1_500)))];
        plan
    }

    /// Returns one in which the clock of the receiver leaps past the deadlines of all that is under way to it. It is
    /// told late of that, and its sender soon of the time.
    #[must_use]
    pub fn cut_leap(seed: u64) -> Self {
        let mut plan = Self::cut(seed, ms(6_000));
        let mut dice = Dice::new(seed, "cut crossing, leap");
        let held_up = dice.within(Span::ms(2_000, 3_000));
        let leap = ClusterOrder::SetClock(0, LEAP_MS);
        plan.troubles = vec![
            (Duration::ZERO, RECEIVER, BorderTrouble::HoldUp(held_up)),
            (dice.within(Span::ms(1_000, 2_500)), RECEIVER, BorderTrouble::Order(leap)),
        ];
        plan
    }

    /// Returns one with a day of silence. What the sender is told shortly before is held up, and lost, so the receiver
    /// has taken some of what comes home when the sender gives it up.
    #[must_use]
    pub fn cut_silent(seed: u64) -> Self {
        let mut plan = Self::cut(seed, ms(6_000));
        let mut dice = Dice::new(seed, "cut crossing, silence");
        let day = SilentDay::new(QUIET_CUT, dice.within(Span::ms(0, 500)));
        let from = dice.within(Span::ms(200, 1_000));
        let at = from + dice.within(Span::ms(800, 1_400));
        plan.troubles = vec![
            (from, SENDER, BorderTrouble::HoldUp(ms(1_800))),
            (at, SENDER, BorderTrouble::SilentDay(day)),
            (at, SENDER, BorderTrouble::HoldUp(Duration::ZERO)),
        ];
        plan
    }

    /// Returns one with a silence in which a day goes by for the sender alone. What it said before is held up so long
    /// that it arrives after the silence, behind its newest words, and before the deadlines.
    #[must_use]
    pub fn cut_stale(seed: u64) -> Self {
        let mut plan = Self::cut(seed, ms(6_800));
        let mut dice = Dice::new(seed, "cut crossing, stale words");
        let day = SilentDay { is_one_sided: true, ..SilentDay::new(QUIET_CUT, Duration::ZERO) };
        let from = dice.within(Span::ms(200, 600));
        let at = from + dice.within(Span::ms(1_000, 1_600));
        plan.troubles = vec![
            (from, RECEIVER, BorderTrouble::HoldUp(ms(4_500))),
            (at, SENDER, BorderTrouble::SilentDay(day)),
            (at, RECEIVER, BorderTrouble::HoldUp(Duration::ZERO)),
        ];
        plan
    }
}
