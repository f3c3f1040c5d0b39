//! The figures of a server, its own and those of its transports, written out as OpenMetrics text, which
//! Prometheus reads.

use std::sync::Arc;

use metatopia_transport::figures::TransportFigures;
use prometheus_client::{encoding::text, registry::Registry};

/// The media type of [`Metrics::encode`].
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

metatopia_transport::figures! {
    /// What the program finds out about itself.
    pub struct NodeFigures {
        /// Height of the last turn that was applied.
        height: Gauge,
        /// Simulated ticks since genesis.
        tick: Gauge,
        /// 1 while no turn can be decided or no root has a quorum.
        stalled: Gauge,
        /// Turns that this server should keep and lacks.
        missing_turns: Gauge,
    }
}

/// Every figure that this server publishes, shared by whoever counts.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// What the program finds out about itself.
    pub node: NodeFigures,
    /// What its transports count.
    pub transport: Arc<TransportFigures>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("metatopia");
        let (node, transport) = (NodeFigures::default(), Arc::<TransportFigures>::default());
        node.register(&mut registry);
        transport.register(&mut registry);
        Self { registry, node, transport }
    }
}

impl Metrics {
    /// Returns the names of all figures, without the common prefix `metatopia_`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NodeFigures::NAMES.iter().chain(TransportFigures::NAMES).copied()
    }

    /// Encodes all figures as OpenMetrics text, version 1.0.0.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut out = String::new();
        text::encode(&mut out, &self.registry).expect("a string takes any text");
        out
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_named_figure_is_written_with_help_type_and_value() {
        let metrics = Metrics::default();
        metrics.node.height.set(42);
        metrics.transport.lane_frames_received_total.inc_by(7);

        let text = metrics.encode();

        for name in Metrics::names() {
            let family = name.strip_suffix("_total").unwrap_or(name);
            assert!(text.contains(&format!("# HELP metatopia_{family} ")), "{name}");
            assert!(text.contains(&format!("# TYPE metatopia_{family} ")), "{name}");
            assert!(text.contains(&format!("\nmetatopia_{name} ")), "{name}");
        }
        assert!(
            text.contains("# HELP metatopia_height Height of the last turn that was applied.\n")
        );
        assert!(text.contains("\nmetatopia_height 42\n"));
        assert!(text.contains("\nmetatopia_lane_frames_received_total 7\n"));
        assert_eq!(text.lines().count(), 3 * Metrics::names().count() + 1);
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn counters_end_in_total_and_gauges_do_not() {
        let text = Metrics::default().encode();
        for line in text.lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').unwrap();
                let counts = text.contains(&format!("\n{name}_total "));
                assert_eq!(counts, kind == "counter", "{declared}");
            }
        }
    }

    /// A gauge `a` and a counter `a_total` are one family in OpenMetrics, and a family has one kind.
    #[test]
    fn no_two_figures_are_of_one_family() {
        let family = |name: &'static str| name.strip_suffix("_total").unwrap_or(name);
        let families: BTreeSet<&str> = Metrics::names().map(family).collect();
        assert_eq!(families.len(), Metrics::names().count());
    }
}
