use metatopia_protocol::Applicant;
use metatopia_replica::Follower;
use metatopia_types::{Digest, Millis, wire};

use super::*;

/// Returns one follower with this address for votes, and an invite with this many counted uses.
fn followers(uses: u32, address: usize) -> Followers {
    let key = PublicKey([7; 32]);
    let address = format!("/ip4/203.0.113.9/tcp/{address}");
    let contact = NodeContact { peer_id: String::new(), address };
    let applicant = Some(Applicant { key, contact });
    let follower = Follower { peer_id: String::new(), applicant };
    let used = (Digest::of("neighbours", b"an invite"), (uses, Millis(9), key));
    // The order of the fields is that of the file.
    let stored =
        (BTreeMap::from([(key, follower)]), BTreeMap::from([used]), BTreeSet::<PublicKey>::new());
    Followers::decode(&wire::encode(&stored)).unwrap()
}

/// Returns an empty data directory, and the path of the file in it.
fn data_dir(test: &str) -> (PathBuf, PathBuf) {
    let dir = std::env::temp_dir().join(format!("metatopia-{test}-{}", std::process::id()));
    drop(fs::remove_dir_all(&dir));
    fs::create_dir_all(&dir).unwrap();
    let path = dir.join(FILE_NAME);
    (dir, path)
}

#[test]
fn a_use_that_is_counted_is_on_the_disk_at_once() {
    let (dir, path) = data_dir("counted");
    let mut file = FollowerFile::open(&dir);
    for uses in 1..=3 {
        file.keep(followers(uses, 1));
        assert_eq!(fs::read(&path).unwrap(), followers(uses, 1).encode());
        assert_eq!(FollowerFile::open(&dir).followers, followers(uses, 1), "also after a start");
    }
    fs::remove_dir_all(dir).unwrap();
}

/// A follower with one invite once made the loop that also votes sync the disk twice for each of
/// its requests to be let in, a thousand times a second.
#[test]
fn a_thousand_joins_of_one_guest_with_changing_addresses_are_written_once_a_pulse() {
    let (dir, path) = data_dir("thousand");
    let mut file = FollowerFile::open(&dir);
    file.keep(followers(1, 0));
    for pulse in 1..=3 {
        // If the file is written, it is there again.
        fs::remove_file(&path).unwrap();
        for join in 1..=1_000 {
            file.keep(followers(1, pulse * 1_000 + join % 2));
            assert!(!path.exists(), "join {join} was written");
        }
        file.write();
        assert_eq!(fs::read(&path).unwrap(), followers(1, pulse * 1_000).encode());
    }
    fs::remove_file(&path).unwrap();
    file.write();
    assert!(!path.exists(), "nothing changed since");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_could_not_be_written_is_written_once_it_can_be() {
    let (dir, path) = data_dir("again");
    let mut file = FollowerFile::open(&dir);
    fs::remove_dir(&dir).unwrap();
    file.keep(followers(1, 1));
    file.write();

    fs::create_dir(&dir).unwrap();
    file.write();

    assert_eq!(fs::read(&path).unwrap(), followers(1, 1).encode());
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_file_that_cannot_be_read_lets_nobody_in_and_is_replaced() {
    let (dir, path) = data_dir("unread");
    fs::write(&path, b"no followers").unwrap();
    let mut file = FollowerFile::open(&dir);
    assert_eq!(file.followers, Followers::default());
    file.write();
    assert_eq!(fs::read(&path).unwrap(), Followers::default().encode());
    fs::remove_dir_all(dir).unwrap();
}

/// A standby named the peer id of a server. The session with that server was taken for the standby's, and no
/// vote of the server counted any more.
#[test]
fn a_peer_id_stays_with_the_server_that_had_it() {
    let peer = peer_of(&PublicKey(ed25519_key(1))).unwrap();
    let local = peer_of(&PublicKey(ed25519_key(2))).unwrap();
    let contact = NodeContact { peer_id: peer.to_string(), address: String::new() };
    let (server, greater, lesser) = (PublicKey([5; 32]), PublicKey([9; 32]), PublicKey([1; 32]));
    let mut set = PeerSet::default();
    set.contacts.insert(server, contact.clone());
    set.names = set.servers(local);
    assert_eq!(set.name(&peer), Some(server));
    for liar in [greater, lesser] {
        set.contacts.insert(liar, contact.clone());
        set.names = set.servers(local);
        assert_eq!(set.name(&peer), Some(server), "{liar:?}");
    }
    set.contacts.remove(&server);
    assert_eq!(set.servers(local).len(), 1, "it is free when that server has left");
}

fn ed25519_key(n: u8) -> [u8; 32] {
    identity::ed25519::Keypair::from(identity::ed25519::SecretKey::try_from_bytes([n; 32]).unwrap())
        .public()
        .to_bytes()
}
