//! Frames and records.

use metatopia_consensus::{Message, Record};
use metatopia_protocol::{decode_client, decode_server, encode_client, encode_server};
use metatopia_raynet::OverlayMessage;
use metatopia_replica::{Followers, PeerMessage};
use metatopia_scripting::Package;
use metatopia_sim::TileEntry;
use metatopia_store::{Disk as _, FileName, memory::MemoryDisk, scan, survey};
use metatopia_transport::framing;
use metatopia_types::{
    BorderOrder, Certificate, Dispatch, Evidence, LandOrder, LandProof, Parcel, Said, Turn, limits,
    wire,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::samples::sim;

/// Frames of `framing` may be so long.
const FRAME_BYTES_MAX: usize = 1_000;

/// Checks that a value's bytes are its only encoding.
pub(crate) fn only(bytes: &[u8], again: Option<Vec<u8>>) -> bool {
    if let Some(again) = &again {
        assert!(again == bytes, "two encodings of one value: {bytes:02x?} and {again:02x?}");
    }
    again.is_some()
}

fn wired<T: Serialize + DeserializeOwned>(bytes: &[u8], limit: usize) -> bool {
    only(bytes, wire::decode::<T>(bytes, limit).ok().map(|value| wire::encode(&value)))
}

pub(crate) fn turn(bytes: &[u8]) -> bool {
    wired::<Turn>(bytes, limits::TURN_BYTES_MAX)
}

pub(crate) fn certificate(bytes: &[u8]) -> bool {
    wired::<Certificate>(bytes, limits::TURN_BYTES_MAX)
}

pub(crate) fn evidence(bytes: &[u8]) -> bool {
    wired::<Evidence>(bytes, limits::TURN_BYTES_MAX)
}

pub(crate) fn message(bytes: &[u8]) -> bool {
    only(bytes, Message::decode(bytes).ok().map(|message| message.encode()))
}

pub(crate) fn record(bytes: &[u8]) -> bool {
    only(bytes, Record::decode(bytes).ok().map(|record| record.encode()))
}

pub(crate) fn client(bytes: &[u8]) -> bool {
    only(bytes, decode_client(bytes).ok().map(|message| encode_client(&message)))
}

pub(crate) fn server(bytes: &[u8]) -> bool {
    only(bytes, decode_server(bytes).ok().map(|message| encode_server(&message)))
}

pub(crate) fn peer(bytes: &[u8]) -> bool {
    only(bytes, PeerMessage::decode(bytes).ok().map(|message| message.encode()))
}

pub(crate) fn overlay(bytes: &[u8]) -> bool {
    only(bytes, OverlayMessage::decode(bytes).ok().map(|message| message.encode()))
}

pub(crate) fn land_order(bytes: &[u8]) -> bool {
    only(bytes, LandOrder::decode(bytes).ok().map(|order| order.blob().0))
}

pub(crate) fn land_proof(bytes: &[u8]) -> bool {
    only(bytes, LandProof::decode(bytes).ok().map(|proof| proof.encode()))
}

pub(crate) fn dispatch(bytes: &[u8]) -> bool {
    only(bytes, Dispatch::decode(bytes).ok().map(|dispatch| dispatch.blob().0))
}

pub(crate) fn said(bytes: &[u8]) -> bool {
    only(bytes, Said::decode(bytes).ok().map(|said| said.encode()))
}

pub(crate) fn parcel(bytes: &[u8]) -> bool {
    only(bytes, Parcel::decode(bytes).ok().map(|parcel| parcel.encode()))
}

pub(crate) fn border_order(bytes: &[u8]) -> bool {
    only(bytes, BorderOrder::decode(bytes).ok().map(|order| order.blob().0))
}

pub(crate) fn followers(bytes: &[u8]) -> bool {
    only(bytes, Followers::decode(bytes).ok().map(|followers| followers.encode()))
}

pub(crate) fn tile_entry(bytes: &[u8]) -> bool {
    only(bytes, TileEntry::decode(bytes).ok().map(|entry| entry.encode()))
}

pub(crate) fn package(bytes: &[u8]) -> bool {
    only(bytes, Package::decode(bytes).ok().map(|package| package.encode()))
}

/// Reads bytes as the only segment of a log. What is read is a beginning of the file, and all records of it
/// can be read.
pub(crate) fn segment(bytes: &[u8]) -> bool {
    let mut disk = MemoryDisk::new();
    let name = FileName::segment(0);
    if disk.write_new(name, bytes).is_err() {
        return false;
    }
    let surveyed = survey(&disk, sim());
    let Ok(scan) = scan(&disk, sim()) else {
        return false;
    };
    let records: Vec<_> = scan.index.iter(&disk).collect();
    assert!(records.iter().all(Result::is_ok), "a record that was scanned cannot be read");
    assert_eq!(records.len() as u64, scan.index.records());
    assert!(surveyed.is_ok(), "scanned, but not surveyed");
    !records.is_empty() && scan.tail.is_none()
}

/// Frames come out as they went in, however the stream was cut.
pub(crate) fn framing(bytes: &[u8]) -> bool {
    let (mut whole, mut pieces) = (Vec::new(), Vec::new());
    let in_one = unframe(&mut whole, [bytes]);
    let in_pieces = unframe(&mut pieces, bytes.chunks(3));
    assert_eq!((in_one, &whole), (in_pieces, &pieces), "it depends on how the stream is cut");
    in_one && !whole.is_empty()
}

/// Reads frames from a stream. Returns false when a frame is announced that is too long.
fn unframe<'a>(frames: &mut Vec<Vec<u8>>, stream: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut decoder = framing::Decoder::new(FRAME_BYTES_MAX);
    for mut input in stream {
        loop {
            match decoder.next(&mut input) {
                Ok(Some(frame)) => frames.push(frame.to_vec()),
                Ok(None) => break,
                Err(_) => return false,
            }
        }
    }
    true
}
