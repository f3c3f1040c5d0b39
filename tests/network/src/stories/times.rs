//! Figures of a story, and where they should be.

use std::time::Duration;

/// Where a figure should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoryBound {
    /// The value is not above this.
    AtMost(u64),
    /// The value is not below this.
    AtLeast(u64),
    /// Nobody promised anything.
    None,
}

/// One figure of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryFigure {
    /// What was measured.
    pub what: &'static str,
    /// How much was measured.
    pub value: u64,
    /// What the value counts.
    pub unit: &'static str,
    /// Where it should be.
    pub bound: StoryBound,
}

impl StoryFigure {
    pub(crate) const fn new(
        what: &'static str,
        value: u64,
        unit: &'static str,
        bound: StoryBound,
    ) -> Self {
        Self { what, value, unit, bound }
    }

    pub(crate) const fn time(what: &'static str, time: Duration, bound: StoryBound) -> Self {
        Self::new(what, millis(time), "ms", bound)
    }

    /// Returns whether the figure is within its bound.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.is_kept_by(1)
    }

    /// Returns whether the figure is past twice its bound. Then something is wrong; up to there a machine may
    /// be busy.
    #[must_use]
    pub const fn is_far_off(&self) -> bool {
        !self.is_kept_by(2)
    }

    const fn is_kept_by(&self, times: u64) -> bool {
        match self.bound {
            StoryBound::AtMost(bound) => self.value <= bound * times,
            StoryBound::AtLeast(bound) => self.value * times >= bound,
            StoryBound::None => true,
        }
    }
}

pub(crate) const fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// The time that 99 of 100 keep; the longest one, if there are fewer.
pub(crate) fn p99(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let index = (times.len() * 99).div_ceil(100).saturating_sub(1);
    times.get(index).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_nine_of_a_hundred_are_below() {
        let times: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(p99(times.clone()), Duration::from_millis(198));
        assert_eq!(p99(times[..3].to_vec()), Duration::from_millis(200));
        assert_eq!(p99(Vec::new()), Duration::ZERO);
    }

    #[test]
    fn a_figure_is_far_off_past_twice_its_bound() {
        let figure = |value, bound| StoryFigure::new("", value, "", bound);
        assert!(figure(10, StoryBound::AtMost(10)).is_kept());
        assert!(!figure(11, StoryBound::AtMost(10)).is_kept());
        assert!(!figure(20, StoryBound::AtMost(10)).is_far_off());
        assert!(figure(21, StoryBound::AtMost(10)).is_far_off());
        assert!(figure(9, StoryBound::AtLeast(20)).is_far_off());
        assert!(!figure(10, StoryBound::AtLeast(20)).is_far_off());
    }
}
