//! Frames on a byte stream: the length as a little-endian `u32`, then that many bytes.
//!
//! Sessions between servers and streams of clients use the same framing. This module does not know
//! what a frame means. The decoder does no I/O: it is fed the bytes that arrived.

use bytes::Bytes;

/// The bytes in front of each frame.
pub const HEADER_BYTES: usize = 4;

/// The memory that is allocated at once for a frame that has only been announced. It grows with the
/// bytes that arrive, so that a peer that announces much and sends nothing costs the receiver no
/// more than this.
const GROW_BYTES: usize = 16 * 1024;

/// The header of a frame of no bytes.
pub const EMPTY: [u8; HEADER_BYTES] = [0; HEADER_BYTES];

/// The error of a frame that is longer than this stream allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("frame of {announced} bytes is above the limit of {max}")]
pub struct Oversize {
    /// The length in the header.
    pub announced: u32,
    /// The limit of the stream.
    pub max: usize,
}

/// Says why a frame was not queued for a peer or client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The receiver is not connected, or its session is being closed.
    #[error("it is not connected")]
    Gone,
    /// Too much waits for the receiver already. Its session ends now.
    #[error("it is too slow")]
    TooSlow,
    /// The frame is empty, or above the limit. The session continues without it.
    #[error("frame of {bytes} bytes, where 1 to {max} are possible")]
    Size {
        /// The size of the frame in bytes.
        bytes: usize,
        /// The limit of the stream.
        max: usize,
    },
}

/// Checks that a frame of this many bytes may be sent where at most `max` are allowed.
///
/// # Errors
/// Fails when the frame is empty, or longer.
pub const fn check_size(bytes: usize, max: usize) -> Result<(), SendError> {
    if bytes == 0 || bytes > max { Err(SendError::Size { bytes, max }) } else { Ok(()) }
}

/// Appends `frame` with its header to `out`.
///
/// # Panics
/// Panics if the frame is longer than `u32::MAX` bytes; every stream has a far smaller limit.
pub fn encode(frame: &[u8], out: &mut Vec<u8>) {
    let len = u32::try_from(frame.len()).expect("streams limit their frames to less than 4 GiB");
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(frame);
}

/// Cuts a byte stream into frames.
///
/// ```
/// let mut wire = Vec::new();
/// metatopia_transport::framing::encode(b"hello", &mut wire);
/// let mut decoder = metatopia_transport::framing::Decoder::new(1024);
///
/// let (mut first, mut rest) = wire.split_at(3);
/// assert_eq!(decoder.next(&mut first), Ok(None));
/// assert_eq!(decoder.next(&mut rest).unwrap().unwrap(), &b"hello"[..]);
/// ```
#[derive(Debug)]
pub struct Decoder {
    max: usize,
    header: [u8; HEADER_BYTES],
    header_len: usize,
    body: Vec<u8>,
}

impl Decoder {
    /// Returns a decoder that refuses frames of more than `max` bytes.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self { max, header: [0; HEADER_BYTES], header_len: 0, body: Vec::new() }
    }

    /// Takes bytes from the front of `input` until one frame is whole, or `input` is empty. Call it
    /// again with the same `input` until it returns `None`.
    ///
    /// # Errors
    /// Fails when the header of a frame announces more than the limit. Nothing was allocated for
    /// the frame then, and the stream cannot be used any more.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Bytes>, Oversize> {
        while self.header_len < HEADER_BYTES {
            let Some((first, rest)) = input.split_first() else {
                return Ok(None);
            };
            self.header[self.header_len] = *first;
            self.header_len += 1;
            *input = rest;
        }
        let announced = u32::from_le_bytes(self.header);
        let len = announced as usize;
        if len > self.max {
            return Err(Oversize { announced, max: self.max });
        }
        let (now, rest) = input.split_at(input.len().min(len - self.body.len()));
        self.take(now, len);
        *input = rest;
        if self.body.len() < len {
            return Ok(None);
        }
        self.header_len = 0;
        Ok(Some(Bytes::from(std::mem::take(&mut self.body))))
    }

    /// Returns whether a frame has begun and is not finished. The end of the stream would cut it.
    #[must_use]
    pub fn is_inside_frame(&self) -> bool {
        self.header_len > 0
    }

    /// Appends `bytes` to a body that will be `len` long. The buffer doubles, but never past `len`,
    /// so that a finished frame holds not one byte more than it needs.
    fn take(&mut self, bytes: &[u8], len: usize) {
        let need = self.body.len() + bytes.len();
        if need > self.body.capacity() {
            let roomy = (2 * self.body.capacity()).max(GROW_BYTES).max(need).min(len);
            self.body.reserve_exact(roomy - self.body.len());
        }
        self.body.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn frames_survive_any_cutting_of_the_stream(
            frames in vec(vec(any::<u8>(), 0..300), 0..8),
            cuts in vec(1usize..40, 1..20),
        ) {
            let mut wire = Vec::new();
            frames.iter().for_each(|frame| encode(frame, &mut wire));
            let mut decoder = Decoder::new(300);
            let (mut rest, mut got, mut cuts) = (&wire[..], Vec::new(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (mut now, later) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
                while let Some(frame) = decoder.next(&mut now).unwrap() {
                    got.push(frame.to_vec());
                }
                prop_assert!(now.is_empty());
                rest = later;
            }
            prop_assert_eq!(got, frames);
            prop_assert!(!decoder.is_inside_frame());
        }

        #[test]
        fn decoder_never_panics_on_arbitrary_bytes(
            bytes in vec(any::<u8>(), 0..200),
            max in 0usize..100,
        ) {
            let (mut decoder, mut input) = (Decoder::new(max), &bytes[..]);
            while let Ok(Some(frame)) = decoder.next(&mut input) {
                prop_assert!(frame.len() <= max);
            }
        }
    }

    #[test]
    fn a_frame_above_the_limit_is_refused_before_memory_is_taken() {
        let mut decoder = Decoder::new(10);
        let wire = 11u32.to_le_bytes();

        let refused = decoder.next(&mut &wire[..]);

        assert_eq!(refused, Err(Oversize { announced: 11, max: 10 }));
        assert_eq!(decoder.body.capacity(), 0);
    }

    #[test]
    fn memory_follows_what_arrives_and_not_what_is_announced() {
        let mut decoder = Decoder::new(1 << 20);
        let mut wire = (1u32 << 20).to_le_bytes().to_vec();
        wire.push(7);

        assert_eq!(decoder.next(&mut &wire[..]), Ok(None));

        assert!(decoder.body.capacity() <= GROW_BYTES, "{}", decoder.body.capacity());
        assert!(decoder.is_inside_frame());
    }

    #[test]
    fn a_finished_frame_holds_no_spare_memory() {
        let mut decoder = Decoder::new(1 << 20);
        let mut wire = Vec::new();
        encode(&vec![1; 100_001], &mut wire);
        let mut capacity = 0;

        for chunk in wire.chunks(999) {
            let mut input = chunk;
            if decoder.next(&mut input).unwrap().is_none() {
                capacity = decoder.body.capacity();
            }
        }

        assert_eq!(capacity, 100_001);
    }
}
