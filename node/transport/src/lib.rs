//! The transports of a node: sessions of byte frames with other servers ([`peers`]), with strangers
//! in a world of many sims ([`overlay`]) and with clients ([`gateway`], and [`carrier`] for the
//! client's end), and HTTP ([`http`]), with the certificates, queues and rations that these need.
//!
//! This crate does not know what a frame or a route means. It reads no file, no command line, no
//! time of day and no state of a sim. The program hands in a certificate ([`authority`]), lends a
//! storage for certificates ([`certificates`]), and hands in routes ([`http::HttpRoutes`]). Events
//! are counted here, and the program publishes the counts ([`figures`]). No stranger can make this
//! crate hold more than its named limits.
//!
//! One frame, from a client to a server that answers:
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia_transport::{
//!     carrier,
//!     certificates::Certificates,
//!     gateway::{self, Delivery, GatewayEvent, GatewayLimits, ListenConfig},
//! };
//! use metatopia_types::Millis;
//!
//! // Now, by the clock of the caller.
//! let certificates = Certificates::generate(Millis(1_790_000_000_000)).unwrap();
//! let listen_config = ListenConfig::new("127.0.0.1:0".parse().unwrap(), certificates.clone());
//! let (gateway, mut events) =
//!     gateway::start(listen_config, GatewayLimits::default(), Default::default()).unwrap();
//! let server = async {
//!     while let Some(event) = events.recv().await {
//!         match event {
//!             GatewayEvent::ClientUp { id, .. } => {
//!                 gateway.send(id, Delivery::Reliable, "who is there?".into()).unwrap();
//!             }
//!             GatewayEvent::ClientFrame { bytes, .. } => return bytes,
//!             GatewayEvent::ClientDown { end, .. } => panic!("{end}"),
//!         }
//!     }
//!     panic!("the gateway has stopped")
//! };
//! let client = async {
//!     let mut carrier =
//!         carrier::connect(gateway.address(), &certificates.hashes()).await.unwrap();
//!     assert_eq!(carrier.recv.recv().await.unwrap(), "who is there?");
//!     carrier.send.send(b"a client").await.unwrap();
//!     carrier
//! };
//! let (said, _carrier) = tokio::join!(server, client);
//! assert_eq!(said, "a client");
//! # });
//! ```
#![forbid(unsafe_code)]

pub mod authority;
pub mod bind;
pub mod carrier;
pub mod certificates;
pub mod figures;
pub mod framing;
pub mod gateway;
pub mod http;
pub mod networks;
pub mod overlay;
mod pace;
pub mod peers;
pub mod tls;
