//! The figures of the transports, counted where something happens. The program that publishes
//! figures registers them.

use std::{fmt, sync::atomic::AtomicU64};

use prometheus_client::metrics::{counter, gauge};
pub use prometheus_client::{
    encoding::{DescriptorEncoder, EncodeMetric},
    registry::{Metric, Registry},
};

/// A figure that only grows.
pub type Counter = counter::Counter<u64, AtomicU64>;

/// A figure that goes up and down.
pub type Gauge = gauge::Gauge<u64, AtomicU64>;

/// Registers a figure. The library adds the ending of counters and the full stop of a help text.
pub fn register(registry: &mut Registry, name: &str, help: &str, figure: impl Metric) {
    let name = name.strip_suffix("_total").unwrap_or(name);
    registry.register(name, help.trim().trim_end_matches('.'), figure);
}

/// Writes one figure of several owners: its name once, and a line for each owner with the owner's
/// label.
///
/// # Errors
/// Fails when the writer takes no more.
pub fn encode_labelled<F: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    label: &str,
    figures: &[(&str, &F)],
) -> fmt::Result {
    let Some((_, first)) = figures.first() else {
        return Ok(());
    };
    let name = name.strip_suffix("_total").unwrap_or(name);
    // A registry treats the help of its figures in the same way.
    let help = format!("{}.", help.trim().trim_end_matches('.'));
    let mut family = encoder.encode_descriptor(name, &help, None, first.metric_type())?;
    for (owner, figure) in figures {
        let labels = [(label, *owner)];
        figure.encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

/// Declares a list of figures, with one line for each. Its documentation is its help text.
#[macro_export]
macro_rules! figures {
    (
        $(#[doc = $about:literal])+
        pub struct $of:ident {
            $(#[doc = $help:literal] $name:ident: $kind:ident,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Default)]
        pub struct $of {
            $(#[doc = $help] pub $name: $crate::figures::$kind,)*
        }

        impl $of {
            /// The names of these figures, without the prefix of the registry.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Adds these figures to the registry.
            pub fn register(&self, registry: &mut $crate::figures::Registry) {
                $(
                    let figure = self.$name.clone();
                    $crate::figures::register(registry, stringify!($name), $help, figure);
                )*
            }

            /// Writes these figures of several owners, each with the value of a label.
            ///
            /// # Errors
            /// Fails when the writer takes no more.
            pub fn encode_all(
                owners: &[(&str, &Self)],
                label: &str,
                encoder: &mut $crate::figures::DescriptorEncoder<'_>,
            ) -> ::std::fmt::Result {
                $(
                    let figures: ::std::vec::Vec<_> =
                        owners.iter().map(|(owner, figures)| (*owner, &figures.$name)).collect();
                    let named = (stringify!($name), $help);
                    $crate::figures::encode_labelled(encoder, named, label, &figures)?;
                )*
                Ok(())
            }
        }
    };
}

figures! {
    /// The figures that the transports of one server share.
    pub struct TransportFigures {
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
        /// Handshakes that were refused because this server, or their address, had enough clients.
        clients_refused_total: Counter,
        /// Handshakes that were asked to prove their address first.
        clients_retried_total: Counter,
        /// WebTransport requests that were refused for their Origin.
        clients_foreign_total: Counter,
        /// WebTransport requests that were refused for another reason than their Origin.
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
    }
}

figures! {
    /// The figures of the HTTP listener, for requests of all routes.
    pub struct HttpFigures {
        /// HTTP requests that were answered.
        http_requests_total: Counter,
        /// HTTP requests that were refused for their Origin or Host.
        http_requests_foreign_total: Counter,
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::{collector::Collector, encoding::text};

    use super::*;

    #[test]
    fn figures_that_are_registered_are_written_out_with_what_was_counted() {
        let (figures, mut registry) =
            (TransportFigures::default(), Registry::with_prefix("server"));
        figures.register(&mut registry);
        figures.lane_frames_received_total.inc_by(7);
        figures.clients.set(3);

        let mut written = String::new();
        text::encode(&mut written, &registry).unwrap();

        assert!(written.contains("\nserver_lane_frames_received_total 7\n"), "{written}");
        assert!(written.contains("\nserver_clients 3\n"), "{written}");
        for name in TransportFigures::NAMES {
            assert!(written.contains(&format!("\nserver_{name} ")), "{name}");
        }
        assert!(
            written.contains("# HELP server_clients Clients that are connected.\n"),
            "{written}"
        );
    }

    /// Once two owners under one name each wrote a line `# TYPE`, but a family may have only one.
    #[test]
    fn figures_of_several_owners_are_one_family_with_a_line_for_each_owner() {
        #[derive(Debug)]
        struct Owners([HttpFigures; 2]);

        impl Collector for Owners {
            fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
                let [one, other] = &self.0;
                HttpFigures::encode_all(&[("a", one), ("b", other)], "sim", &mut encoder)
            }
        }

        let owners = Owners(Default::default());
        owners.0[1].http_requests_total.inc_by(7);
        let mut registry = Registry::with_prefix("server");
        registry.register_collector(Box::new(owners));
        let mut written = String::new();
        text::encode(&mut written, &registry).unwrap();

        let lines = "# HELP server_http_requests HTTP requests that were answered.\n\
            # TYPE server_http_requests counter\n\
            server_http_requests_total{sim=\"a\"} 0\n\
            server_http_requests_total{sim=\"b\"} 7\n";
        assert!(written.starts_with(lines), "{written}");
        assert_eq!(written.matches("# TYPE ").count(), HttpFigures::NAMES.len(), "{written}");
    }
}
