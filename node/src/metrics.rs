//! Figures of the edge, counted where they happen and written out in Prometheus' text format.

use std::sync::atomic::{AtomicU64, Ordering};

/// A figure that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub fn one(&self) {
        self.add(1);
    }

    /// Counts `n` more.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The count so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A figure that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Replaces the value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// The value now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How Prometheus tells figures apart.
trait MetricValue {
    const KIND: &'static str;
    fn value(&self) -> u64;
}

impl MetricValue for Counter {
    const KIND: &'static str = "counter";
    fn value(&self) -> u64 {
        self.get()
    }
}

impl MetricValue for Gauge {
    const KIND: &'static str = "gauge";
    fn value(&self) -> u64 {
        self.get()
    }
}

fn write<F: MetricValue>(out: &mut String, name: &str, help: &str, figure: &F) {
    let (help, kind) = (help.trim(), F::KIND);
    let value = figure.value();
    out.push_str(&format!(
        "# HELP metatopia_{name} {help}\n# TYPE metatopia_{name} {kind}\nmetatopia_{name} {value}\n"
    ));
}

/// Declares the list of figures: one line each, its documentation is its help text.
macro_rules! figures {
    ($(#[doc = $help:literal] $name:ident: $kind:ident,)*) => {
        /// Every figure this server publishes, shared by whoever counts.
        #[derive(Debug, Default)]
        pub struct Metrics {
            $(#[doc = $help] pub $name: $kind,)*
        }

        impl Metrics {
            /// The names of all figures, without the common prefix `metatopia_`.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Encodes all figures in Prometheus' text exposition format, version 0.0.4.
            #[must_use]
            pub fn encode(&self) -> String {
                let mut out = String::new();
                $(write(&mut out, stringify!($name), $help, &self.$name);)*
                out
            }
        }
    };
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
    clients_quic_total: Counter,
    /// Clients that were let in by WebTransport.
    clients_webtransport_total: Counter,
    /// Clients that were let in by WebSocket.
    clients_websocket_total: Counter,
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
    use super::*;

    #[test]
    fn every_named_figure_is_written_with_help_type_and_value() {
        let metrics = Metrics::default();
        metrics.height.set(42);
        metrics.lane_frames_received_total.add(7);

        let text = metrics.encode();

        for name in Metrics::NAMES {
            assert!(text.contains(&format!("# HELP metatopia_{name} ")), "{name}");
            assert!(text.contains(&format!("# TYPE metatopia_{name} ")), "{name}");
        }
        assert!(text.contains("\nmetatopia_height 42\n"));
        assert!(text.contains("\nmetatopia_lane_frames_received_total 7\n"));
        assert_eq!(text.lines().count(), 3 * Metrics::NAMES.len());
    }

    #[test]
    fn counters_end_in_total_and_gauges_do_not() {
        for line in Metrics::default().encode().lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').unwrap();
                assert_eq!(name.ends_with("_total"), kind == "counter", "{declared}");
            }
        }
    }
}
