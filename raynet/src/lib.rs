//! RayNet: who is near whom in a world of many sims, and who is up.
//!
//! This crate performs no I/O, reads no clock and uses no floats. It finds sites and routes to points; it
//! decides nothing. Who owns land is what a certified map says, and nothing that servers agree on may
//! depend on a view. It does not bootstrap, open connections or check the proofs of the land office:
//! whoever runs it does, and hands in what came of it.
//!
//! * An [`Overlay`] is one member. It takes an [`OverlayInput`] and gives [`OverlayEffect`]s.
//! * A site is a sim with a square. Its [`SiteRecord`] says where its servers are, signed by a beacon of
//!   its [`LandGrant`]; a [`Shelf`] of the certified map proves the grant. A member without a site
//!   routes and answers, and is in nobody's view.
//! * An [`OverlayMessage`] is what members say, at most 8 KiB of it.
//! * A [`CellEstimator`] chooses Voronoi neighbours: [`ExactPlane`] without any error, or [`Rays`] in any
//!   dimension.
//!
//! # The two layers of RayNet, and where they are here
//! RayNet gossips in two layers: Kleinberg's long links make routes short, and Voronoi neighbours make
//! them arrive. Every member asks one of each layer in turn, and keeps the best of what it hears.
//!
//! | RayNet | here |
//! | --- | --- |
//! | Voronoi layer: the sites that bound one's own cell | [`Overlay::neighbours`], chosen by `overlay/roles.rs` |
//! | the cell by 1,000 random rays | `cell/exact.rs`: exact half-planes; `cell/rays.rs` in any dimension |
//! | keep those without whom the cell would grow most, ranked once | drop the least one, and count again |
//! | Kleinberg layer: links drawn with probability d^-2 | [`Overlay::long_links`]: two of each octave of distance |
//! | gossip of descriptors in both layers | `overlay/gossip.rs`: names and epochs, then records of those unknown |
//! | greedy routing over both layers | `overlay/ways.rs`: always nearer, at most 32 hops, asked by the one who seeks |
//! | (nothing about members that fail) | tombstones, bursts after a change, `overlay/liveness.rs` |
//! | (nothing about members that lie) | records against certified shelves, samples by secrets, disjoint ways |
//! | (nothing that finds what gossip missed) | probes: rays at the corners of the own cell, sought from far away |
//!
//! # What a member believes
//! * A record is **checked** when a certified shelf names its beacon. It is a **hint** otherwise: passed to
//!   nobody, and its sender is asked for the shelf, once.
//! * A view admits a site that is checked and that **spoke itself**. What others say of a site's health
//!   does not count; a dial that fails, or six questions without an answer, bury it for 15 cycles.
//! * Two records of one site and epoch, or two shelves of one block and height, are **evidence**: kept, told
//!   to others when it is found, and pulled by those who come later.
//! * A lookup asks on two ways that share no site. The newest certified map wins; who contradicts it is
//!   counted. Without a map that is new enough the answer is [`LookupOutcome::Unproved`].
//!
//! # What it cannot do
//! Who holds many grants around a point surrounds it: land is what attackers must pay for, not keys. The
//! places of sites are public. Exact cells are for the plane; other dimensions take an estimate.
//!
//! # Example
//! Two sites meet by an address, and one of them looks up what the other one owns.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use metatopia_raynet::{
//!     Extent, LandGrant, LookupOutcome, Overlay, OverlayConfig, OverlayEffect, OverlayInput, PlaneBlock,
//!     ProveLand, Shelf, ShelfError, SiteAbout, SiteEndpoint, SiteEpoch, SiteRecord, TilePoint,
//!     pace,
//! };
//! use metatopia_types::{Digest, Ed25519, Height, Millis, Now, Sign, SigningKey, SimId, Square};
//!
//! /// A map that is believed because we drew it.
//! struct Drawn(Arc<Shelf>);
//! impl ProveLand for Drawn {
//!     fn open(&self, proof: &[u8]) -> Result<Arc<Shelf>, ShelfError> {
//!         if proof == self.0.proof { Ok(Arc::clone(&self.0)) } else { Err(ShelfError::Proof) }
//!     }
//! }
//!
//! let keys = [1, 2].map(|seed| SigningKey::from_seed([seed; 32]));
//! let world = SimId(Digest::of("an example", b"world"));
//! let grant = |index: usize| LandGrant {
//!     square: Square { x: 2 * index as i32, y: 0, doublings: 0 },
//!     sim: SimId(Digest::of("an example", &[index as u8])),
//!     holder: keys[index].public(),
//!     beacons: vec![keys[index].public()],
//!     epoch: 1,
//!     until: Millis(u64::MAX),
//!     shown: Height(0),
//! };
//! let block = PlaneBlock::around(TilePoint { x: 0, y: 0 }, 4);
//! let (height, time, grants) = (Height(9), Millis(0), vec![grant(0), grant(1)]);
//! let shelf = Shelf { world, block, height, time, grants, proof: b"drawn".to_vec() };
//! let land = Arc::new(Drawn(Arc::new(shelf)));
//!
//! let mut now = Now { monotonic: Duration::ZERO, wall: Millis(1_000) };
//! let endpoint = |index: usize| SiteEndpoint { peer: keys[index].public(), address: format!("10.0.0.{index}:1") };
//! let mut members: Vec<Overlay> = (0..2).map(|index| {
//!     let LandGrant { sim, square, .. } = grant(index);
//!     let config = OverlayConfig {
//!         world,
//!         peer: keys[index].public(),
//!         vantage: TilePoint::default(),
//!         extent: Extent::PLANE,
//!         seed: [index as u8; 32],
//!         cycle: pace::CYCLE,
//!         map_from: Height(1),
//!         scheme: Arc::new(Ed25519),
//!         land: land.clone(),
//!     };
//!     let epoch = SiteEpoch { grant: 1, record: 1 };
//!     let about = SiteAbout { label: "a place".to_owned(), licence: "CC0-1.0".to_owned() };
//!     let (clients, expires) = (0, Millis(60_000));
//!     let endpoints = vec![endpoint(index)];
//!     let record = SiteRecord { world, sim, square, endpoints, clients, about, epoch, expires };
//!     let mut member = Overlay::new(config, now);
//!     member.handle(now, OverlayInput::Shelf(b"drawn".to_vec()));
//!     member.handle(now, OverlayInput::Own(Box::new(record.sign(&keys[index]))));
//!     member
//! }).collect();
//! members[0].handle(now, OverlayInput::Contacts(vec![endpoint(1)]));
//!
//! let (mut asked, mut owner) = (false, None);
//! while owner.is_none() {
//!     for index in 0..2 {
//!         while let Some(effect) = members[index].poll() {
//!             match effect {
//!                 OverlayEffect::Dial { .. } => {
//!                     members[0].handle(now, OverlayInput::Up(keys[1].public()));
//!                     members[1].handle(now, OverlayInput::Up(keys[0].public()));
//!                 }
//!                 OverlayEffect::Send { frame, .. } => {
//!                     let from = keys[index].public();
//!                     members[1 - index].handle(now, OverlayInput::Frame { from, bytes: frame });
//!                 }
//!                 OverlayEffect::Found(answer) => owner = Some(answer.outcome),
//!                 _ => {}
//!             }
//!         }
//!     }
//!     if members[0].neighbours().count() == 1 && !asked {
//!         asked = true;
//!         members[0].handle(now, OverlayInput::Lookup { id: 1, point: TilePoint { x: 3, y: 1 } });
//!         continue;
//!     }
//!     now.monotonic = members[0].deadline().min(members[1].deadline());
//!     for member in &mut members {
//!         member.handle(now, OverlayInput::Wake);
//!     }
//! }
//! let Some(LookupOutcome::Owned { grant: owned, endpoints }) = owner else { panic!("{owner:?}") };
//! assert_eq!((owned.sim, endpoints), (grant(1).sim, vec![endpoint(1)]));
//! ```
#![forbid(unsafe_code)]

mod cell;
mod config;
mod dial_back;
mod evidence;
mod land;
pub mod limits;
mod lookup;
mod message;
mod octaves;
mod overlay;
pub mod pace;
mod peers;
mod plane;
mod record;
mod sampler;
mod sites;

pub use cell::{CellEstimator, ExactPlane, Rays};
pub use config::{OverlayConfig, OverlayEffect, OverlayInput};
pub use dial_back::{DialBackMessage, DialBackOutcome, observed_ip};
pub use evidence::{EvidencePull, EvidenceSubject, OverlayEvidence, OverlayEvidenceError};
pub use land::{LandMap, ProveLand, Shelf, ShelfError, ShelfPlaced};
pub use lookup::{LookupAnswer, LookupOutcome};
pub use message::{GossipLayer, NearerSites, OverlayFrameError, OverlayMessage, TipExchange};
pub use metatopia_types::{LandGrant, PlaneBlock, TilePoint, holds, overlap};
pub use overlay::{Overlay, OverlayCounts};
pub use plane::Extent;
pub use record::{
    SignedSiteRecord, SiteAbout, SiteEndpoint, SiteEpoch, SiteName, SiteRecord, SiteRecordError,
    SiteTip,
};
