//! What a session with a node is made of on the wire, by tokio and QUIC.
//!
//! [`carrier`] is a client's end of a session: it dials a gateway and carries frames. [`framing`] cuts a
//! stream of bytes into frames, for clients and between servers alike. [`tls`] pins certificates by
//! their hashes, because no authority signs them. What a frame means is not known here, nor who listens:
//! the gateway and the listeners of a node are parts of the program.
//!
//! ```
//! use metatopia_transport::framing::{Decoder, encode};
//!
//! let mut wire = Vec::new();
//! encode(b"hello", &mut wire);
//! let frame = Decoder::new(1024).next(&mut &wire[..]).unwrap();
//! assert_eq!(frame.unwrap(), &b"hello"[..]);
//! ```
#![forbid(unsafe_code)]

pub mod carrier;
pub mod framing;
pub mod tls;
