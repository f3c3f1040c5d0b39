use libp2p::{identity::Keypair, swarm::NetworkBehaviour as _};

use super::*;

fn peer(n: u16) -> PeerId {
    let mut seed = [0; 32];
    seed[..2].copy_from_slice(&n.to_le_bytes());
    Keypair::ed25519_from_bytes(seed).unwrap().public().to_peer_id()
}

fn table(listen: &str) -> TableBehaviour {
    let scope = DialScope::of(&listen.parse().unwrap(), false);
    TableBehaviour::new(peer(0), &DiscoverySetup::default(), scope)
}

fn at(n: u16) -> Multiaddr {
    let [high, low] = n.to_be_bytes();
    format!("/ip4/198.51.{high}.{low}/tcp/8083").parse().unwrap()
}

#[tokio::test]
async fn a_crowd_leaves_a_small_table() {
    let mut table = table("/ip4/0.0.0.0/tcp/1");
    for n in 1..=2_000 {
        table.learn(peer(n), &at(n));
    }
    let sizes: Vec<usize> = table.inner.kbuckets().map(|bucket| bucket.num_entries()).collect();
    assert_eq!(sizes.iter().max(), Some(&TABLE_BUCKET_MAX));
    assert!(sizes.iter().sum::<usize>() < 200, "{sizes:?}");
}

#[tokio::test]
async fn one_source_has_few_places_in_the_table() {
    let mut table = table("/ip4/0.0.0.0/tcp/1");
    let one = |port: u16| format!("/ip4/198.51.100.4/tcp/{port}").parse().unwrap();
    let known = (1..=200).filter(|n| table.learn(peer(*n), &one(*n))).count();
    assert_eq!(known, TABLE_SOURCE_MAX);
    assert!(table.learn(peer(300), &at(7)), "another source has room");
}

#[tokio::test]
async fn a_table_takes_no_address_that_strangers_may_not_name() {
    let mut table = table("/ip4/0.0.0.0/tcp/1");
    for text in ["/ip4/127.0.0.1/tcp/8083", "/ip4/10.0.0.1/tcp/8083", "/ip4/198.51.100.4/tcp/0"] {
        assert!(!table.learn(peer(1), &text.parse().unwrap()), "{text}");
    }
    assert!(!table.knows(&peer(1)));
    assert!(table.learn(peer(1), &at(1)) && table.knows(&peer(1)));
    assert!(!table.learn(peer(0), &at(1)), "a member is not in its own table");
}

#[tokio::test]
async fn a_member_that_is_ever_somewhere_else_has_few_addresses() {
    let mut table = table("/ip4/0.0.0.0/tcp/1");
    for n in 1..=100 {
        table.learn(peer(1), &at(n));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(_event) = table.poll(&mut cx) {}
    }
    let kept = table.kept(peer(1));
    assert_eq!(kept.len(), TABLE_ADDRESSES_MAX);
    assert_eq!(kept.last(), Some(&at(100).with_p2p(peer(1)).unwrap()), "the newest one is kept");
}

/// Hands in a dial of the table's own, and returns the addresses that it gets.
fn dial(table: &mut TableBehaviour, id: usize, to: u16) -> Result<usize, ConnectionDenied> {
    let id = ConnectionId::new_unchecked(id);
    let role = Endpoint::Dialer;
    let may = table.handle_pending_outbound_connection(id, Some(peer(to)), &[], role);
    may.map(|may| may.len())
}

#[tokio::test]
async fn few_who_were_told_of_are_dialled_in_a_minute() {
    let mut table = table("/ip4/0.0.0.0/tcp/1");
    table.learn(peer(1), &at(1));
    let dialled = (0..500).filter(|id| dial(&mut table, *id, 1).is_ok()).count() as u32;
    assert_eq!(dialled, FOUND_DIALS_PER_MINUTE_MAX);
    // Dials of the owner name an address and are no matter of the table.
    let id = ConnectionId::new_unchecked(900);
    let own =
        table.handle_pending_outbound_connection(id, Some(peer(1)), &[at(1)], Endpoint::Dialer);
    assert!(own.unwrap().is_empty());
    assert_eq!(dial(&mut table, 901, 2).unwrap(), 0, "nobody is where no address is");
}

#[test]
fn a_ration_begins_anew_after_its_span() {
    let began = Instant::now();
    let mut ration = SpanRation::new(began);
    assert_eq!((0..100).filter(|_| ration.takes(began, 7, SECOND)).count(), 7);
    assert!(ration.takes(began + SECOND, 7, SECOND));
}

#[test]
fn nothing_is_kept_for_others() {
    let mut none = NoRecords;
    let key = RecordKey::new(b"key");
    assert!(none.put(Record::new(key.clone(), vec![1])).is_err());
    let provider = ProviderRecord::new(key.clone(), peer(1), vec![at(1)]);
    assert!(none.add_provider(provider).is_err());
    assert!(none.get(&key).is_none() && none.providers(&key).is_empty());
    assert_eq!((none.records().count(), none.provided().count()), (0, 0));
}
