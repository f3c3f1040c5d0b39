//! The figures of a process and of each sim in it, written as OpenMetrics text, which Prometheus
//! reads.
//!
//! A figure of a sim has the label `sim` with the sim's id, even if the process hosts only one sim.
//! All sims share the HTTP listener, so its figures have no label.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metatopia_transport::figures::{Counter, DescriptorEncoder, HttpFigures, TransportFigures};
use metatopia_types::SimId;
use prometheus_client::{collector::Collector, encoding::text, registry::Registry};

/// The media type of [`Metrics::encode`].
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The label that names the sim that a figure is about.
const LABEL: &str = "sim";

metatopia_transport::figures! {
    /// The figures that the program itself measures about one sim.
    pub struct NodeFigures {
        /// 1 while this process runs the sim, 0 once the sim has ended here.
        running: Gauge,
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

metatopia_transport::figures! {
    /// The figures of a server's member of its world's overlay; all are 0 without one.
    pub struct OverlayFigures {
        /// Members of the overlay with which a session is up.
        overlay_sessions: Gauge,
        /// Sessions with members of the overlay that were opened.
        overlay_sessions_opened_total: Counter,
        /// Sessions with members of the overlay that were ended because a frame was too long.
        overlay_sessions_refused_total: Counter,
        /// Frames received from members of the overlay.
        overlay_frames_received_total: Counter,
        /// Bytes of frames received from members of the overlay.
        overlay_bytes_received_total: Counter,
        /// Frames queued for members of the overlay.
        overlay_frames_sent_total: Counter,
        /// Bytes of frames queued for members of the overlay.
        overlay_bytes_sent_total: Counter,
    }
}

impl OverlayFigures {
    /// Returns each counter beside what the overlay's own transport counts.
    fn counters<'a>(&'a self, transport: &'a TransportFigures) -> [(&'a Counter, &'a Counter); 6] {
        [
            (&self.overlay_sessions_opened_total, &transport.lane_sessions_opened_total),
            (&self.overlay_sessions_refused_total, &transport.lane_sessions_refused_total),
            (&self.overlay_frames_received_total, &transport.lane_frames_received_total),
            (&self.overlay_bytes_received_total, &transport.lane_bytes_received_total),
            (&self.overlay_frames_sent_total, &transport.lane_frames_sent_total),
            (&self.overlay_bytes_sent_total, &transport.lane_bytes_sent_total),
        ]
    }

    /// Takes over what the overlay's own transport has counted.
    pub fn take(&self, transport: &TransportFigures, up: usize) {
        self.overlay_sessions.set(up as u64);
        for (own, counted) in self.counters(transport) {
            own.inc_by(counted.get().saturating_sub(own.get()));
        }
    }

    /// Returns the figures of the transport of another member, which takes the place of the one before. They
    /// go on where that one ended.
    #[must_use]
    pub fn go_on(&self) -> TransportFigures {
        let transport = TransportFigures::default();
        for (own, counted) in self.counters(&transport) {
            counted.inc_by(own.get());
        }
        transport
    }
}

/// The figures of one sim in a process. All parts that count share them.
#[derive(Debug, Default)]
pub struct SimFigures {
    /// The figures that the program itself measures about the sim.
    pub node: NodeFigures,
    /// The figures that the sim's transports count.
    pub transport: Arc<TransportFigures>,
    /// The figures of the server's member of its world's overlay.
    pub overlay: Arc<OverlayFigures>,
}

/// The figures of all sims of a process, by the ids of the sims as the label has them.
#[derive(Debug, Default)]
struct FiguresBySim(Mutex<BTreeMap<String, Arc<SimFigures>>>);

impl FiguresBySim {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<SimFigures>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for FiguresBySim {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let sims = self.lock().clone();
        let node: Vec<(&str, &NodeFigures)> =
            sims.iter().map(|(sim, figures)| (sim.as_str(), &figures.node)).collect();
        NodeFigures::encode_all(&node, LABEL, &mut encoder)?;
        let transport: Vec<(&str, &TransportFigures)> =
            sims.iter().map(|(sim, figures)| (sim.as_str(), &*figures.transport)).collect();
        TransportFigures::encode_all(&transport, LABEL, &mut encoder)?;
        let overlay: Vec<(&str, &OverlayFigures)> =
            sims.iter().map(|(sim, figures)| (sim.as_str(), &*figures.overlay)).collect();
        OverlayFigures::encode_all(&overlay, LABEL, &mut encoder)
    }
}

/// Every figure that this process publishes.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    sims: Arc<FiguresBySim>,
    /// The figures that the HTTP listener counts.
    pub http: Arc<HttpFigures>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("metatopia");
        let (sims, http) = (Arc::<FiguresBySim>::default(), Arc::<HttpFigures>::default());
        registry.register_collector(Box::new(Arc::clone(&sims)));
        http.register(&mut registry);
        Self { registry, sims, http }
    }
}

impl Metrics {
    /// Returns the names of all figures of a sim, without the common prefix `metatopia_`.
    pub fn names_of_a_sim() -> impl Iterator<Item = &'static str> {
        let names = NodeFigures::NAMES.iter().chain(TransportFigures::NAMES);
        names.chain(OverlayFigures::NAMES).copied()
    }

    /// Returns the figures of a sim, and publishes them from now on.
    #[must_use]
    pub fn of(&self, sim: SimId) -> Arc<SimFigures> {
        Arc::clone(self.sims.lock().entry(sim.to_string()).or_default())
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

    use metatopia_types::Digest;

    use super::*;

    fn sim(n: u8) -> SimId {
        SimId(Digest([n; 32]))
    }

    /// A server that followed its land office began to count anew, and its figures stood still for as long as
    /// those of the member before had been higher.
    #[test]
    fn the_figures_of_a_second_member_go_on_where_those_of_the_first_ended() {
        let published = OverlayFigures::default();
        let first = published.go_on();
        first.lane_frames_sent_total.inc_by(9);
        published.take(&first, 1);
        let second = published.go_on();
        second.lane_frames_sent_total.inc_by(2);
        published.take(&second, 1);
        assert_eq!(published.overlay_frames_sent_total.get(), 11);
    }

    #[test]
    fn every_figure_is_written_once_with_help_and_type_and_with_a_value_for_each_sim() {
        let metrics = Metrics::default();
        let (one, other) = (metrics.of(sim(1)), metrics.of(sim(2)));
        one.node.height.set(42);
        other.node.height.set(7);
        other.transport.lane_frames_received_total.inc_by(9);
        metrics.http.http_requests_total.inc_by(3);

        let text = metrics.encode();

        for name in Metrics::names_of_a_sim() {
            let family = name.strip_suffix("_total").unwrap_or(name);
            assert_eq!(text.matches(&format!("# HELP metatopia_{family} ")).count(), 1, "{name}");
            assert_eq!(text.matches(&format!("# TYPE metatopia_{family} ")).count(), 1, "{name}");
            for n in [1, 2] {
                let line = format!("\nmetatopia_{name}{{sim=\"{}\"}} ", sim(n));
                assert!(text.contains(&line), "{name}");
            }
        }
        assert!(
            text.contains("# HELP metatopia_height Height of the last turn that was applied.\n")
        );
        assert!(text.contains(&format!("\nmetatopia_height{{sim=\"{}\"}} 42\n", sim(1))));
        assert!(text.contains(&format!("\nmetatopia_height{{sim=\"{}\"}} 7\n", sim(2))));
        let frames = format!("\nmetatopia_lane_frames_received_total{{sim=\"{}\"}} 9\n", sim(2));
        assert!(text.contains(&frames), "{text}");
        assert!(text.contains("\nmetatopia_http_requests_total 3\n"), "{text}");
        let lines = 4 * Metrics::names_of_a_sim().count() + 3 * HttpFigures::NAMES.len() + 1;
        assert_eq!(text.lines().count(), lines);
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn what_the_overlay_counts_is_taken_over_and_never_falls() {
        let (overlay, transport) = (OverlayFigures::default(), TransportFigures::default());
        for _ in 0..2 {
            transport.lane_frames_sent_total.inc_by(4);
            overlay.take(&transport, 3);
        }
        overlay.take(&transport, 2);
        assert_eq!(overlay.overlay_frames_sent_total.get(), 8);
        assert_eq!(overlay.overlay_sessions.get(), 2);
    }

    #[test]
    fn counters_end_in_total_and_gauges_do_not() {
        let metrics = Metrics::default();
        let _figures = metrics.of(sim(1));
        let text = metrics.encode();
        for line in text.lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').unwrap();
                let counts = text.contains(&format!("\n{name}_total"));
                assert_eq!(counts, kind == "counter", "{declared}");
            }
        }
    }

    /// A gauge `a` and a counter `a_total` are one family in OpenMetrics, and a family has one
    /// kind.
    #[test]
    fn no_two_figures_are_of_one_family() {
        let family = |name: &'static str| name.strip_suffix("_total").unwrap_or(name);
        let all = || Metrics::names_of_a_sim().chain(HttpFigures::NAMES.iter().copied());
        let families: BTreeSet<&str> = all().map(family).collect();
        assert_eq!(families.len(), all().count());
    }
}
