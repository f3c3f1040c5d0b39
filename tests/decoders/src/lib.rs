//! Everything that reads bytes of strangers: frames, files, texts. One list, so that tests on stable
//! and fuzzers (`tests/fuzz`) try the same things, and none is forgotten in one of the two.
//!
//! A [`Decoder`] takes any bytes. It must not panic, and what it takes for a value must have those
//! very bytes as its only encoding. What a value means is judged elsewhere.
//!
//! ```
//! let turn = metatopia_decoders::named("turn").unwrap();
//! assert!((turn.samples)().iter().all(|bytes| (turn.accepts)(bytes)));
//! assert!(!(turn.accepts)(b"no turn"));
//! ```
#![forbid(unsafe_code)]

mod binary;
mod crossing;
mod files;
mod land;
mod overlay;
mod samples;
mod states;
mod texts;

/// Something that reads bytes of strangers.
#[derive(Debug, Clone, Copy)]
pub struct Decoder {
    /// Its name, in words joined by `_`; also that of its fuzz target.
    pub name: &'static str,
    /// Are these bytes a value? Panics when a law is broken.
    pub accepts: fn(&[u8]) -> bool,
    /// Bytes that are values, to begin from.
    pub samples: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const ALL: &[Decoder] = &[
    Decoder { name: "turn", accepts: binary::turn, samples: samples::turns },
    Decoder { name: "certificate", accepts: binary::certificate, samples: samples::certificates },
    Decoder { name: "evidence", accepts: binary::evidence, samples: samples::evidence },
    Decoder { name: "agreement_message", accepts: binary::message, samples: samples::messages },
    Decoder { name: "log_record", accepts: binary::record, samples: samples::records },
    Decoder { name: "client_frame", accepts: binary::client, samples: samples::client_frames },
    Decoder { name: "server_frame", accepts: binary::server, samples: samples::server_frames },
    Decoder { name: "peer_frame", accepts: binary::peer, samples: samples::peer_frames },
    Decoder { name: "overlay_frame", accepts: binary::overlay, samples: overlay::frames },
    Decoder { name: "land_order", accepts: binary::land_order, samples: land::orders },
    Decoder { name: "land_proof", accepts: binary::land_proof, samples: land::proofs },
    Decoder { name: "dispatch", accepts: binary::dispatch, samples: crossing::dispatches },
    Decoder { name: "said", accepts: binary::said, samples: crossing::said },
    Decoder { name: "parcel", accepts: binary::parcel, samples: crossing::parcels },
    Decoder { name: "border_order", accepts: binary::border_order, samples: crossing::orders },
    Decoder { name: "followers", accepts: binary::followers, samples: samples::followers },
    Decoder { name: "tile_entry", accepts: binary::tile_entry, samples: samples::tile_entries },
    Decoder { name: "genesis", accepts: states::genesis, samples: samples::genesis },
    Decoder { name: "state", accepts: states::state, samples: samples::states },
    Decoder { name: "snapshot", accepts: states::snapshot, samples: samples::snapshots },
    Decoder { name: "patch", accepts: states::patch, samples: samples::patches },
    Decoder { name: "manifest", accepts: states::manifest, samples: samples::manifests },
    Decoder { name: "join_pack", accepts: states::join_pack, samples: samples::join_packs },
    Decoder { name: "capsule", accepts: states::capsule, samples: samples::capsules },
    Decoder { name: "package", accepts: binary::package, samples: samples::packages },
    Decoder { name: "source", accepts: texts::source, samples: samples::sources },
    Decoder { name: "segment", accepts: binary::segment, samples: samples::segments },
    Decoder { name: "framing", accepts: binary::framing, samples: samples::framed },
    Decoder { name: "invite_text", accepts: texts::invite, samples: samples::invites },
    Decoder { name: "checkpoint", accepts: texts::checkpoint, samples: samples::checkpoints },
    Decoder { name: "command", accepts: texts::command, samples: samples::commands },
    Decoder { name: "number", accepts: texts::number, samples: samples::numbers },
    Decoder { name: "config", accepts: texts::config, samples: samples::configs },
    Decoder { name: "recovery_file", accepts: files::recovery, samples: samples::recoveries },
    Decoder { name: "evidence_file", accepts: files::evidence, samples: samples::evidence_files },
    Decoder { name: "place", accepts: files::place, samples: samples::places },
    Decoder { name: "story", accepts: files::story, samples: samples::stories },
];

/// The decoder with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Decoder> {
    ALL.iter().find(|decoder| decoder.name == name)
}
