//! With whom this server keeps connections: the sim's servers, and followers that were let in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use libp2p::{Multiaddr, PeerId, identity};
use metatopia_replica::{Guests, Input};
use metatopia_types::{Contact, PublicKey};

use crate::{durable, lanes::LanesHandle};

/// In the data directory: the followers that were let in, and how often invites were used.
const GUESTS: &str = "followers";

/// Who is to be connected, and by which name the replica knows each.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    /// The sim's servers and standbys.
    pub(crate) contacts: BTreeMap<PublicKey, Contact>,
    /// Those that the configuration names, as long as nothing better is known.
    pub(crate) configured: BTreeMap<PublicKey, Contact>,
    /// Where servers said that they take this node, when they let it in while it ran.
    pub(crate) told: BTreeMap<PublicKey, Multiaddr>,
    guests: BTreeMap<PublicKey, PeerId>,
    names: BTreeMap<PeerId, PublicKey>,
}

impl Neighbours {
    /// By which name the replica knows this peer.
    pub(crate) fn name(&self, peer: &PeerId) -> Option<PublicKey> {
        self.names.get(peer).copied()
    }

    pub(crate) fn set_guests(&mut self, guests: &Guests) {
        let peer = |key: &PublicKey, stated: &str| match stated {
            "" => peer_of(key),
            stated => stated.parse().ok(),
        };
        let each = guests.iter();
        self.guests =
            each.filter_map(|(key, guest)| Some((key, peer(&key, &guest.peer_id)?))).collect();
    }

    /// Lets in who is to be connected and sends the others away. Servers are dialled where
    /// `own_addresses` say, else where the sim says, and where they said themselves; guests dial.
    /// Gives everybody's name.
    pub(crate) async fn connect(
        &mut self,
        lanes: &LanesHandle,
        own_addresses: &BTreeMap<PublicKey, Vec<Multiaddr>>,
    ) -> &BTreeMap<PeerId, PublicKey> {
        self.told.retain(|server, _| self.contacts.contains_key(server));
        let mut names = BTreeMap::new();
        let unknown = self.configured.iter().filter(|(key, _)| !self.contacts.contains_key(key));
        for (key, contact) in self.contacts.iter().chain(unknown) {
            match contact.peer_id.parse::<PeerId>() {
                Ok(peer) if peer == lanes.local() => {}
                Ok(peer) => {
                    let stated = || contact.address.parse().ok().into_iter().collect();
                    let mut addresses = own_addresses.get(key).cloned().unwrap_or_else(stated);
                    let told = self.told.get(key).filter(|told| !addresses.contains(told));
                    addresses.extend(told.cloned());
                    lanes.allow(peer, addresses).await;
                    names.insert(peer, *key);
                }
                Err(error) => tracing::warn!(server = %key, %error, "its peer id is none"),
            }
        }
        for (key, peer) in &self.guests {
            if *peer != lanes.local() && !names.contains_key(peer) {
                lanes.allow(*peer, Vec::new()).await;
                names.insert(*peer, *key);
            }
        }
        let gone: BTreeSet<PeerId> =
            self.names.keys().filter(|peer| !names.contains_key(peer)).copied().collect();
        for peer in gone {
            lanes.disallow(peer).await;
        }
        self.names = names;
        &self.names
    }
}

/// The peer id that is the hash of this node key.
fn peer_of(node_key: &PublicKey) -> Option<PeerId> {
    let key = identity::ed25519::PublicKey::try_from_bytes(&node_key.0).ok()?;
    Some(identity::PublicKey::from(key).to_peer_id())
}

/// The file that remembers followers.
#[derive(Debug)]
pub struct GuestFile {
    path: PathBuf,
    /// As the replica said last.
    guests: Guests,
    /// What the file holds; nothing if it has to be written in any case.
    written: Option<Vec<u8>>,
    /// Could it not be written the last time?
    fails: bool,
}

impl GuestFile {
    /// The one in this data directory, which need not be there yet. A file that cannot be read lets
    /// in nobody that was let in before: they come back by their invites.
    #[must_use]
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(GUESTS);
        let read = match fs::read(&path) {
            Ok(bytes) => Guests::decode(&bytes).map_err(|error| error.to_string()).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        let guests = read.unwrap_or_else(|error| {
            tracing::warn!(file = %path.display(), %error, "followers are forgotten");
            None
        });
        let written = guests.as_ref().map(Guests::encode);
        Self { path, guests: guests.unwrap_or_default(), written, fails: false }
    }

    /// What lets followers in, from the start on.
    pub(crate) fn welcome(&self, lanes: &LanesHandle) -> Input {
        Input::Welcome { contact: lanes.contact(), guests: Box::new(self.guests.clone()) }
    }

    /// Takes them over. A use of an invite that was counted is written down before anybody hears of
    /// it, if the disk takes it; else that is tried again. Anything else waits for
    /// [`GuestFile::write`]: who was let in may come back as often as it likes, each time with another
    /// address, and must not have the disk synced by it.
    pub(crate) fn keep(&mut self, guests: Guests) {
        let counted = guests.counted_since(&self.guests);
        self.guests = guests;
        if counted {
            self.write();
        }
    }

    /// Writes down what changed since the last time, if anything did.
    pub(crate) fn write(&mut self) {
        let bytes = self.guests.encode();
        if self.written.as_ref() == Some(&bytes) {
            return;
        }
        match durable::replace(&self.path, &bytes) {
            Ok(()) => (self.written, self.fails) = (Some(bytes), false),
            // Said once: it is tried again with every pulse.
            Err(error) if !self.fails => {
                tracing::warn!(file = %self.path.display(), %error, "followers are not written down");
                self.fails = true;
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
