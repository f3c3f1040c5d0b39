//! What an attack came to, beside the bound that must hold.

use serde::Serialize;

/// The measured result of one attack.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// The attack's name.
    pub(crate) attack: &'static str,
    /// The figure that is judged.
    pub(crate) value: f64,
    /// The figure's bound.
    pub(crate) bound: f64,
    /// The unit of both.
    pub(crate) unit: &'static str,
    /// Whether the bound holds.
    pub(crate) ok: bool,
    /// The same figure without the attack, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) control: Option<f64>,
    /// How many times longer this machine takes than the one of the bounds, where that counts. The bound
    /// has been multiplied by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) slowness: Option<f64>,
    /// What else a reader should know.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
}

impl Finding {
    /// Returns a finding whose value may be at most its bound.
    pub(crate) fn at_most(
        attack: &'static str,
        value: f64,
        bound: f64,
        unit: &'static str,
    ) -> Self {
        let (ok, note) = (value <= bound, String::new());
        Self { attack, value, bound, unit, ok, control: None, slowness: None, note }
    }

    /// Returns a finding whose value must be at least its bound.
    pub(crate) fn at_least(
        attack: &'static str,
        value: f64,
        bound: f64,
        unit: &'static str,
    ) -> Self {
        Self { ok: value >= bound, ..Self::at_most(attack, value, bound, unit) }
    }

    /// Returns a finding of processor time in milliseconds: its bound counts for the machine that it was
    /// set on, and this one takes so many times longer.
    pub(crate) fn at_most_ms(attack: &'static str, value: f64, bound: f64, slowness: f64) -> Self {
        Self { slowness: Some(slowness), ..Self::at_most(attack, value, bound * slowness, "ms") }
    }

    /// Adds the same figure as it is without the attack.
    pub(crate) fn beside(self, control: f64) -> Self {
        Self { control: Some(control), ..self }
    }

    /// Adds a note.
    pub(crate) fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Makes it a failure, whatever its value is.
    pub(crate) fn unless(self, broken: bool) -> Self {
        Self { ok: self.ok && !broken, ..self }
    }
}
