//! When things of a story happen.

use std::ops::Range;
use std::time::Duration;

use metatopia_scenarios::{Mistake, TomlSource};
use toml::Spanned;

use super::limits::STEPS_MAX;
use super::units::Time;

/// `at`, `every` and `until`, as they were written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times<'a> {
    pub(super) at: &'a Option<Spanned<Time>>,
    pub(super) every: &'a Option<Spanned<Time>>,
    pub(super) until: &'a Option<Spanned<Time>>,
}

/// A text and how long its story is.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoryText<'a> {
    pub(super) source: TomlSource<'a>,
    pub(super) length: Duration,
}

impl StoryText<'_> {
    /// A moment of the story.
    pub(super) fn moment(&self, time: &Spanned<Time>) -> Result<Duration, Mistake> {
        let at = time.get_ref().0;
        if at > self.length {
            let length = self.length;
            let message = format!("{at:?} is after the end: the story's length is {length:?}");
            return Err(self.source.mistake(time, message));
        }
        Ok(at)
    }

    /// A moment that may be left out.
    pub(super) fn moment_or(
        &self,
        time: Option<&Spanned<Time>>,
        otherwise: Duration,
    ) -> Result<Duration, Mistake> {
        time.map_or(Ok(otherwise), |time| self.moment(time))
    }

    /// Returns the stretch from `at` to `until`, or to the end of the story.
    pub(super) fn stretch(
        &self,
        what: Range<usize>,
        times: Times<'_>,
    ) -> Result<(Duration, Duration), Mistake> {
        let Some(at) = times.at else {
            return Err(self.source.mistake_in(what, "`at` is missing: when does it begin?"));
        };
        let until = self.moment_or(times.until.as_ref(), self.length)?;
        let from = self.moment(at)?;
        if from >= until {
            let message = format!("it begins at {from:?} and must end later than at {until:?}");
            return Err(self.source.mistake(times.until.as_ref().unwrap_or(at), message));
        }
        Ok((from, until))
    }

    /// Every moment at which something happens: `at`, or from there `every` so often `until`.
    pub(super) fn moments(
        &self,
        what: Range<usize>,
        times: Times<'_>,
    ) -> Result<Vec<Duration>, Mistake> {
        let Some(every) = times.every else {
            if let Some(until) = times.until {
                return Err(self.source.mistake(until, "`until` needs `every`: how often?"));
            }
            let Some(at) = times.at else {
                let message = "`at` or `every` is missing: when does it happen?";
                return Err(self.source.mistake_in(what, message));
            };
            return Ok(vec![self.moment(at)?]);
        };
        let step = every.get_ref().0;
        if step.is_zero() {
            return Err(self.source.mistake(every, "every 0 s is never over"));
        }
        let from = self.moment_or(times.at.as_ref(), step)?;
        let until = self.moment_or(times.until.as_ref(), self.length)?;
        let mut moments = Vec::new();
        let mut at = from;
        while at < until {
            moments.push(at);
            at = at.saturating_add(step);
            if moments.len() > STEPS_MAX {
                let message = format!("that is more than {STEPS_MAX} times, the most of a story");
                return Err(self.source.mistake(every, message));
            }
        }
        Ok(moments)
    }
}
