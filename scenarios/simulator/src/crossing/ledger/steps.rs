//! The steps of a crossing, after each of which a server may die.

use crate::crossing::counts::CRASH_STEPS;

/// A step of a crossing, as the states show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BorderStep {
    /// Somebody or something left the sender.
    Departure,
    /// The receiver took it.
    Arrival,
    /// The receiver refused it.
    Refusal,
    /// The sender knows that it was taken.
    Settlement,
    /// It is back at its sender.
    Homecoming,
}

impl BorderStep {
    /// Each of them.
    pub(crate) const ALL: [Self; 5] =
        [Self::Departure, Self::Arrival, Self::Refusal, Self::Settlement, Self::Homecoming];

    /// Returns the name of a crash after it, at one of the two sims.
    pub(crate) const fn name(self, at_sender: bool) -> &'static str {
        let place = match self {
            Self::Departure => 0,
            Self::Arrival => 2,
            Self::Refusal => 4,
            Self::Settlement => 6,
            Self::Homecoming => 8,
        };
        CRASH_STEPS[if at_sender { place } else { place + 1 }]
    }
}
