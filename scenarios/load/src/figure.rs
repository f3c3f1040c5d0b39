//! One measured figure and its promised bound.

use std::fmt;

use serde::Serialize;

/// The bound that is promised of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The figure is not more than this.
    AtMost(u64),
    /// The figure is not less than this.
    AtLeast(u64),
    /// Nothing is promised; the figure is for information.
    None,
}

/// A measured figure, in tenths of its unit, so that no more digits are shown than were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The name of what was measured.
    pub figure: &'static str,
    tenths: Option<u64>,
    unit: &'static str,
    bound: Bound,
}

impl Figure {
    /// Returns a figure of whole units.
    #[must_use]
    pub const fn new(figure: &'static str, whole: u64, unit: &'static str, bound: Bound) -> Self {
        Self::tenths(figure, Some(whole.saturating_mul(10)), unit, bound)
    }

    /// Returns a figure with one decimal. Its value is none where it cannot be measured.
    #[must_use]
    pub const fn tenths(
        figure: &'static str,
        tenths: Option<u64>,
        unit: &'static str,
        bound: Bound,
    ) -> Self {
        Self { figure, tenths, unit, bound }
    }

    /// Returns whether the figure is within its bound, if it has one.
    #[must_use]
    pub fn holds(&self) -> bool {
        let Some(tenths) = self.tenths else {
            return true;
        };
        match self.bound {
            Bound::AtMost(bound) => tenths <= bound * 10,
            Bound::AtLeast(bound) => tenths >= bound * 10,
            Bound::None => true,
        }
    }

    /// Returns whether the figure is past twice its bound. Machines differ, but not by that much.
    #[must_use]
    pub fn fails(&self) -> bool {
        let Some(tenths) = self.tenths else {
            return false;
        };
        match self.bound {
            Bound::AtMost(bound) => tenths > bound * 20,
            Bound::AtLeast(bound) => tenths * 2 < bound * 10,
            Bound::None => false,
        }
    }

    /// Returns the word for the result; empty where nothing is promised.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.tenths, self.bound) {
            (None, _) => "not measured here",
            (_, Bound::None) => "",
            _ if self.holds() => "ok",
            _ if self.fails() => "FAILS",
            _ => "past its bound",
        }
    }

    fn value(&self) -> Option<String> {
        let tenths = self.tenths?;
        Some(match (tenths / 10, tenths % 10) {
            (whole, 0) => whole.to_string(),
            (whole, tenth) => format!("{whole}.{tenth}"),
        })
    }
}

impl Serialize for Figure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeStruct as _};
        let number = |text: Option<String>| match text {
            Some(text) => text.parse::<serde_json::Number>().map(Some).map_err(S::Error::custom),
            None => Ok(None),
        };
        let (bound, at_least) = match self.bound {
            Bound::AtMost(bound) => (Some(bound), false),
            Bound::AtLeast(bound) => (Some(bound), true),
            Bound::None => (None, false),
        };
        let mut object = serializer.serialize_struct("figure", 6)?;
        object.serialize_field("figure", self.figure)?;
        object.serialize_field("value", &number(self.value())?)?;
        object.serialize_field("unit", self.unit)?;
        object.serialize_field(if at_least { "at_least" } else { "at_most" }, &bound)?;
        object.serialize_field("ok", &self.holds())?;
        object.serialize_field("fails", &self.fails())?;
        object.end()
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value().unwrap_or_else(|| "-".to_owned());
        let bound = match self.bound {
            Bound::AtMost(bound) => format!("at most {bound}"),
            Bound::AtLeast(bound) => format!("at least {bound}"),
            Bound::None => String::new(),
        };
        write!(f, "{:<34}{value:>9} {:<14}{bound:<16}", self.figure, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_holds_to_its_bound_and_fails_past_twice_of_it() {
        let wait = |ms| Figure::new("wait", ms, "ms", Bound::AtMost(100));
        let verdicts = [100, 101, 200, 201].map(|ms| (wait(ms).holds(), wait(ms).fails()));
        assert_eq!(verdicts, [(true, false), (false, false), (false, false), (false, true)]);

        let rate = |tenths| Figure::tenths("rate", Some(tenths), "turns/s", Bound::AtLeast(20));
        let verdicts = [200, 199, 100, 99].map(|t| (rate(t).holds(), rate(t).fails()));
        assert_eq!(verdicts, [(true, false), (false, false), (false, false), (false, true)]);
    }

    #[test]
    fn nothing_may_be_lost_at_all() {
        let lost = |n| Figure::new("lost", n, "acts", Bound::AtMost(0));
        assert!(lost(0).holds() && !lost(0).fails());
        assert!(lost(1).fails());
    }

    #[test]
    fn what_was_not_measured_is_not_claimed() {
        let figure = Figure::tenths("memory", None, "MB", Bound::AtMost(150));
        assert_eq!((figure.fails(), figure.verdict()), (false, "not measured here"));
        let json = serde_json::to_string(&figure).unwrap();
        assert!(json.contains(r#""value":null"#), "{json}");
    }

    #[test]
    fn json_has_numbers_and_the_direction_of_the_bound() {
        let rate = Figure::tenths("rate", Some(199), "turns/s", Bound::AtLeast(20));
        assert_eq!(
            serde_json::to_string(&rate).unwrap(),
            r#"{"figure":"rate","value":19.9,"unit":"turns/s","at_least":20,"ok":false,"fails":false}"#
        );
        let ready = Figure::new("ready", 80, "ms", Bound::AtMost(3_000));
        assert_eq!(
            serde_json::to_string(&ready).unwrap(),
            r#"{"figure":"ready","value":80,"unit":"ms","at_most":3000,"ok":true,"fails":false}"#
        );
    }
}
