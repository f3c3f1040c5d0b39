//! What servers have for clients, and what liars among them make of it.

use metatopia_oracle::Law;
use metatopia_protocol::{Answer, ServerMessage, decode_server, encode_server};
use metatopia_replica::ClientId;
use metatopia_types::wire::DecodeError;

use super::super::gateway::Hangup;
use super::ReplicaServers;
use crate::class::Class;
use crate::cluster::ClusterView;
use crate::watched::WatchedDisk;

/// What a lying server makes of a frame to a client.
pub type Tamper = fn(&ServerMessage, &mut Vec<u8>);

/// A frame to a client, which is decoded once: for the oracle, and for whoever gets it.
#[derive(Debug)]
pub struct DecodedFrame {
    /// The bytes of the frame.
    pub bytes: Vec<u8>,
    /// What it says.
    pub said: Result<ServerMessage, DecodeError>,
}

impl DecodedFrame {
    fn read(bytes: Vec<u8>) -> Self {
        let said = decode_server(&bytes);
        Self { bytes, said }
    }
}

/// What servers have for clients.
#[derive(Debug)]
pub enum Mail {
    /// A frame for a client.
    Frame {
        /// The client that gets it.
        client: ClientId,
        /// The decoded frame itself.
        letter: DecodedFrame,
    },
    /// The line is cut from the server's side.
    HungUp {
        /// The client whose session ended.
        client: ClientId,
        /// Why the session ended.
        why: Hangup,
    },
    /// The server in this seat died, and all its lines with it.
    Died {
        /// The seat of the server.
        seat: usize,
    },
}

impl ReplicaServers {
    pub(super) fn hand_to_client(
        &mut self,
        scene: &ClusterView<'_, Self>,
        client: ClientId,
        frame: Vec<u8>,
    ) {
        let seat = scene.seat;
        let mut letter = DecodedFrame::read(frame);
        if let Ok(message) = &letter.said {
            if let ServerMessage::Receipt { receipt, .. } = message
                && self.is_honest(seat)
            {
                self.oracle.laws.saw_receipt(seat, &receipt.header, &WatchedDisk(scene.disk));
            }
            let mut other = None;
            if let Some(class) = self.villains.class(seat)
                && let ServerMessage::Answer { id, answer } = message
                && let Some(answer) = spoiled(class, answer)
            {
                self.fired.note(class);
                let answer = ServerMessage::Answer { id: *id, answer: Box::new(answer) };
                other = Some(encode_server(&answer));
            }
            if let Some(tamper) = self.liars.get(&seat) {
                tamper(message, other.get_or_insert_with(|| letter.bytes.clone()));
            }
            if let Some(bytes) = other {
                letter = DecodedFrame::read(bytes);
            }
        } else {
            self.oracle.blame(Some(seat), Law::Proof, "a client gets what is no frame");
        }
        self.mail.push_back(Mail::Frame { client, letter });
    }
}

/// Returns what a liar gives in the place of a part of its state: another one, or nothing.
pub(super) fn spoiled(class: Class, answer: &Answer) -> Option<Answer> {
    let Answer::Leaves(leaves) = answer else {
        return None;
    };
    match class {
        Class::HashLiar | Class::Garbage => {
            let mut leaves = leaves.clone();
            let byte = leaves.first_mut()?.first_mut()?;
            *byte ^= 1;
            Some(Answer::Leaves(leaves))
        }
        Class::Withholder => Some(Answer::Unknown),
        _ => None,
    }
}
