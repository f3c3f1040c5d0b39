//! Keys of members as peer ids, and back. A peer id of an ed25519 key holds the key itself.

use libp2p::{PeerId, identity};
use metatopia_types::PublicKey;

/// The code of a multihash that is what it names.
const IDENTITY: u64 = 0;

/// Returns the peer id of a member, or nothing if its key is no point of the curve.
#[must_use]
pub fn peer_id_of(key: &PublicKey) -> Option<PeerId> {
    let key = identity::ed25519::PublicKey::try_from_bytes(&key.0).ok()?;
    Some(identity::PublicKey::from(key).to_peer_id())
}

/// Returns the key of a member, or nothing if the peer id is not of an ed25519 key.
pub(super) fn key_of(peer: &PeerId) -> Option<PublicKey> {
    let hash: &libp2p::multihash::Multihash<64> = peer.as_ref();
    if hash.code() != IDENTITY {
        return None;
    }
    let key = identity::PublicKey::try_decode_protobuf(hash.digest()).ok()?;
    Some(PublicKey(key.try_into_ed25519().ok()?.to_bytes()))
}

#[cfg(test)]
mod tests {
    use metatopia_types::{Sign as _, SigningKey};

    use super::*;

    #[test]
    fn a_key_and_its_peer_id_name_each_other() {
        for seed in 0..20 {
            let key = SigningKey::from_seed([seed; 32]).public();
            let peer = peer_id_of(&key).unwrap();
            assert_eq!(key_of(&peer), Some(key));
        }
        assert_eq!(peer_id_of(&PublicKey([2; 32])), None, "no point of the curve");
        let hashed = PeerId::from_bytes(&[&[0x12, 0x20][..], &[7; 32]].concat()).unwrap();
        assert_eq!(key_of(&hashed), None, "a hash, from which no key comes back");
    }
}
