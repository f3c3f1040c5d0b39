//! Switches that break one rule each.

/// What is broken. A node has no way to say so; with the feature `controls` the simulated world
/// does, to show that it would see the rule missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "controls"), expect(unreachable_pub, reason = "public with a feature"))]
pub struct LogControls {
    /// Records at the end of the log are taken as they lie there, whatever their hashes say.
    pub tail_unchecked: bool,
}
