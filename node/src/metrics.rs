//! The figures of a server, counted where they happen and written out as OpenMetrics text, which
//! Prometheus reads.

use std::sync::atomic::AtomicU64;

use prometheus_client::{
    encoding::text,
    metrics::{counter, gauge},
    registry::{Metric, Registry},
};

/// The media type of [`Metrics::encode`].
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A figure that only grows.
pub type Counter = counter::Counter<u64, AtomicU64>;

/// A figure that goes up and down.
pub type Gauge = gauge::Gauge<u64, AtomicU64>;

/// Registers a figure. The library adds the ending of counters and the full stop of a help text.
fn register(registry: &mut Registry, name: &str, help: &str, figure: impl Metric) {
    let name = name.strip_suffix("_total").unwrap_or(name);
    registry.register(name, help.trim().trim_end_matches('.'), figure);
}

/// Declares the list of figures: one line each, its documentation is its help text.
macro_rules! figures {
    ($(#[doc = $help:literal] $name:ident: $kind:ident,)*) => {
        /// Every figure this server publishes, shared by whoever counts.
        #[derive(Debug)]
        pub struct Metrics {
            registry: Registry,
            $(#[doc = $help] pub $name: $kind,)*
        }

        impl Metrics {
            /// The names of all figures, without the common prefix `metatopia_`.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];
        }

        impl Default for Metrics {
            fn default() -> Self {
                let mut registry = Registry::with_prefix("metatopia");
                $(
                    let $name = $kind::default();
                    register(&mut registry, stringify!($name), $help, $name.clone());
                )*
                Self { registry, $($name,)* }
            }
        }
    };
}

impl Metrics {
    /// Encodes all figures as OpenMetrics text, version 1.0.0.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut out = String::new();
        text::encode(&mut out, &self.registry).expect("a string takes any text");
        out
    }
}

figures! {
    /// Height of the last turn that was applied.
    height: Gauge,
    /// Simulated ticks since genesis.
    tick: Gauge,
    /// 1 while no turn can be decided or no root has a quorum.
    stalled: Gauge,
    /// Turns that this server should keep and lacks.
    missing_turns: Gauge,
    /// Sessions with other servers that are up.
    lane_sessions: Gauge,
    /// Sessions with other servers that were opened.
    lane_sessions_opened_total: Counter,
    /// Sessions with other servers that were ended because the peer was too slow or silent.
    lane_sessions_timed_out_total: Counter,
    /// Sessions with other servers that were ended because of what the peer sent.
    lane_sessions_refused_total: Counter,
    /// Connections refused because the peer is no server of this sim.
    lane_strangers_total: Counter,
    /// Frames received from other servers.
    lane_frames_received_total: Counter,
    /// Bytes of frames received from other servers.
    lane_bytes_received_total: Counter,
    /// Frames queued for other servers.
    lane_frames_sent_total: Counter,
    /// Bytes of frames queued for other servers.
    lane_bytes_sent_total: Counter,
    /// Clients that are connected.
    clients: Gauge,
    /// Clients that are connected by raw QUIC.
    clients_quic: Gauge,
    /// Clients that are connected by WebTransport.
    clients_webtransport: Gauge,
    /// Clients that are connected by WebSocket.
    clients_websocket: Gauge,
    /// Clients that were let in.
    clients_accepted_total: Counter,
    /// Clients that were let in by raw QUIC.
    clients_accepted_quic_total: Counter,
    /// Clients that were let in by WebTransport.
    clients_accepted_webtransport_total: Counter,
    /// Clients that were let in by WebSocket.
    clients_accepted_websocket_total: Counter,
    /// Handshakes that were turned away because this server, or their address, had enough.
    clients_refused_total: Counter,
    /// Handshakes that were asked to prove their address first.
    clients_retried_total: Counter,
    /// WebTransport requests that were refused for their Origin.
    clients_foreign_total: Counter,
    /// WebTransport requests that were refused for what they were.
    clients_mistaken_total: Counter,
    /// Clients that were closed because they did not read what was sent to them.
    clients_too_slow_total: Counter,
    /// Clients that were closed because of what they sent, or because they sent nothing.
    clients_faulty_total: Counter,
    /// Frames received from clients.
    client_frames_received_total: Counter,
    /// Bytes of frames received from clients.
    client_bytes_received_total: Counter,
    /// Frames queued for clients.
    client_frames_sent_total: Counter,
    /// Bytes of frames queued for clients.
    client_bytes_sent_total: Counter,
    /// HTTP requests that were answered.
    http_requests_total: Counter,
    /// HTTP requests that were refused for their Origin or Host.
    http_requests_foreign_total: Counter,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_named_figure_is_written_with_help_type_and_value() {
        let metrics = Metrics::default();
        metrics.height.set(42);
        metrics.lane_frames_received_total.inc_by(7);

        let text = metrics.encode();

        for name in Metrics::NAMES {
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
        assert_eq!(text.lines().count(), 3 * Metrics::NAMES.len() + 1);
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
        let family = |name: &&str| name.strip_suffix("_total").unwrap_or(name).to_owned();
        let families: BTreeSet<String> = Metrics::NAMES.iter().map(family).collect();
        assert_eq!(families.len(), Metrics::NAMES.len());
    }
}
