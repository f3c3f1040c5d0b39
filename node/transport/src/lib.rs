//! Everything by which a node speaks with others: sessions of byte frames with other servers
//! ([`peers`]) and with clients ([`gateway`], and [`carrier`] for the client's end), and HTTP
//! ([`http`]), with the certificates, queues and rations that these need.
//!
//! What a frame or a route means is not known here. Nor can this crate read a file, a command line,
//! the time of day or the state of a sim: a certificate is handed in ([`authority`]), or is stored by
//! whoever lends a storage ([`certificates`]); routes are handed in ([`http::HttpRoutes`]); what
//! happens is counted, and written out elsewhere ([`figures`]). Nothing that a stranger does makes it
//! hold more than its named limits.
//!
//! One frame, from a client to a server that answers:
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use metatopia_transport::{
//!     carrier,
//!     certificates::Certificates,
//!     gateway::{self, DeliveryMode, GatewayEvent, GatewayLimits, ListenConfig},
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
//!                 gateway.send(id, DeliveryMode::Reliable, "who is there?".into()).unwrap();
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
mod pace;
pub mod peers;
pub mod tls;
