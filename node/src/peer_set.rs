//! The peer set: the servers of the sim, and the followers that were let in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use libp2p::{Multiaddr, PeerId, identity};
use metatopia_replica::{Followers, Input};
use metatopia_transport::peers::PeersHandle;
use metatopia_types::{NodeContact, PublicKey};

use crate::atomic_file;

/// The file in the data directory with the followers, and how often invites were used.
const FILE_NAME: &str = "followers";

/// The nodes to be connected with, and the key by which the replica knows each.
#[derive(Debug, Default)]
pub(crate) struct PeerSet {
    /// The sim's servers and standbys.
    pub(crate) contacts: BTreeMap<PublicKey, NodeContact>,
    /// The servers of the configuration, until the sim's own are known.
    pub(crate) configured: BTreeMap<PublicKey, NodeContact>,
    /// The addresses of servers that let this node in while it ran.
    pub(crate) admitted_at: BTreeMap<PublicKey, Multiaddr>,
    followers: BTreeMap<PublicKey, PeerId>,
    names: BTreeMap<PeerId, PublicKey>,
}

impl PeerSet {
    /// Returns the key by which the replica knows this peer.
    pub(crate) fn name(&self, peer: &PeerId) -> Option<PublicKey> {
        self.names.get(peer).copied()
    }

    pub(crate) fn set_followers(&mut self, followers: &Followers) {
        let peer = |key: &PublicKey, stated: &str| match stated {
            "" => peer_of(key),
            stated => stated.parse().ok(),
        };
        let each = followers.iter();
        self.followers = each
            .filter_map(|(key, follower)| Some((key, peer(&key, &follower.peer_id)?)))
            .collect();
    }

    /// Allows the peers of the set, and disallows all others. Servers are dialled at
    /// `own_addresses`, or else at their address in the sim, and at the address that they
    /// announced. Followers dial this server. Returns the key of each peer.
    pub(crate) async fn connect(
        &mut self,
        peers: &PeersHandle,
        own_addresses: &BTreeMap<PublicKey, Vec<Multiaddr>>,
    ) -> &BTreeMap<PeerId, PublicKey> {
        self.admitted_at.retain(|server, _| self.contacts.contains_key(server));
        let mut names = self.servers(peers.local());
        for (peer, key) in &names {
            let contact = self.contacts.get(key).or_else(|| self.configured.get(key));
            let stated = contact.and_then(|contact| contact.address.parse().ok());
            let stated = || stated.into_iter().collect();
            let mut addresses = own_addresses.get(key).cloned().unwrap_or_else(stated);
            let admitted_at = self.admitted_at.get(key).filter(|at| !addresses.contains(at));
            addresses.extend(admitted_at.cloned());
            peers.allow(*peer, addresses).await;
        }
        for (key, peer) in &self.followers {
            if *peer != peers.local() && !names.contains_key(peer) {
                peers.allow(*peer, Vec::new()).await;
                names.insert(*peer, *key);
            }
        }
        let gone: BTreeSet<PeerId> =
            self.names.keys().filter(|peer| !names.contains_key(peer)).copied().collect();
        for peer in gone {
            peers.disallow(peer).await;
        }
        self.names = names;
        &self.names
    }

    /// Returns the key of each server and standby by its peer id, but for this one's own. Of two keys that
    /// name one peer the one keeps it that had it before: whoever asks to be a server may name another
    /// one's.
    fn servers(&self, local: PeerId) -> BTreeMap<PeerId, PublicKey> {
        let mut names = BTreeMap::new();
        let unknown = self.configured.iter().filter(|(key, _)| !self.contacts.contains_key(key));
        for (key, contact) in self.contacts.iter().chain(unknown) {
            match contact.peer_id.parse::<PeerId>() {
                Ok(peer) if peer == local => {}
                Ok(peer) if names.contains_key(&peer) => {
                    tracing::warn!(server = %key, %peer, "it names the peer id of another server");
                    if self.names.get(&peer) == Some(key) {
                        names.insert(peer, *key);
                    }
                }
                Ok(peer) => drop(names.insert(peer, *key)),
                Err(error) => tracing::warn!(server = %key, %error, "its peer id is not valid"),
            }
        }
        names
    }
}

/// Returns the peer id of this node key, which is the key's hash.
fn peer_of(node_key: &PublicKey) -> Option<PeerId> {
    let key = identity::ed25519::PublicKey::try_from_bytes(&node_key.0).ok()?;
    Some(identity::PublicKey::from(key).to_peer_id())
}

/// The file of the followers.
#[derive(Debug)]
pub struct FollowerFile {
    path: PathBuf,
    /// The followers, as the replica last gave them.
    followers: Followers,
    /// The content of the file; none if the file has to be written in any case.
    written: Option<Vec<u8>>,
    /// Says whether the last write failed.
    fails: bool,
}

impl FollowerFile {
    /// Opens the file in this data directory, which need not exist. If the file cannot be read, the
    /// followers are forgotten, and come back by their invites.
    #[must_use]
    pub fn open(data_dir: &Path) -> Self {
        let path = data_dir.join(FILE_NAME);
        let read = match fs::read(&path) {
            Ok(bytes) => Followers::decode(&bytes).map_err(|error| error.to_string()).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        let followers = read.unwrap_or_else(|error| {
            tracing::warn!(file = %path.display(), %error, "followers are forgotten");
            None
        });
        let written = followers.as_ref().map(Followers::encode);
        Self { path, followers: followers.unwrap_or_default(), written, fails: false }
    }

    /// Returns the input that lets followers in.
    pub(crate) fn welcome(&self, peers: &PeersHandle) -> Input {
        Input::Welcome { contact: peers.contact(), followers: Box::new(self.followers.clone()) }
    }

    /// Notes new followers. A counted use of an invite is written at once, before anybody learns of
    /// it. If the disk fails, the write is tried again. Any other change waits for
    /// [`FollowerFile::write`]: a follower may come back at any rate, each time with another
    /// address, and must not cause a sync of the disk each time.
    pub(crate) fn keep(&mut self, followers: Followers) {
        let counted = followers.counted_since(&self.followers);
        self.followers = followers;
        if counted {
            self.write();
        }
    }

    /// Writes the followers, if they changed since the last time.
    pub(crate) fn write(&mut self) {
        let bytes = self.followers.encode();
        if self.written.as_ref() == Some(&bytes) {
            return;
        }
        match atomic_file::replace(&self.path, &bytes) {
            Ok(()) => (self.written, self.fails) = (Some(bytes), false),
            // The failure is logged once, because the write is tried again with every pulse.
            Err(error) if !self.fails => {
                tracing::warn!(file = %self.path.display(), %error, "followers were not written");
                self.fails = true;
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
