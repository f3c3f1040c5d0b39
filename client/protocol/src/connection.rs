//! Connections of clients, as a server's carriers and its replica speak of them. Nothing of this is on the wire.

/// The id of a client's connection for as long as the server runs. No id is given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// The way in which a frame is delivered to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Every frame arrives, in order, or the session ends.
    Reliable,
    /// The frame, which answers the client's question of this number, arrives as a reliable one does, if
    /// there is room. Where too much waits already, this one frame is dropped, the client is told that
    /// the server is busy, and the session continues. Room for smaller frames is left.
    Answer(u32),
    /// Only the newest frame matters: it replaces one that was not written yet. It may arrive
    /// anywhere between reliable frames.
    Latest,
}
