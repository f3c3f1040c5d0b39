//! Members that find each other, and others that lie about whom they know.

use futures::AsyncReadExt as _;
use libp2p::{Stream, identify, kad, swarm::NetworkBehaviour};
use tokio::net::TcpListener;

use super::*;
use crate::overlay::{
    discovery::{scope::DialScope, table::TableBehaviour},
    limits::{ANSWER_BYTES_MAX, FOUND_DIALS_PER_MINUTE_MAX, TABLE_FRAMES_PER_SECOND_MAX},
};

fn network(name: &str) -> DiscoverySetup {
    DiscoverySetup { network: name.to_owned(), ..DiscoverySetup::default() }
}

fn local() -> Multiaddr {
    "/ip4/127.0.0.1/tcp/0".parse().unwrap()
}

/// Waits until a member was found, and returns who and where.
async fn next_found(member: &mut Member) -> (PublicKey, Multiaddr) {
    loop {
        if let OverlayEvent::Found { member, address } = member.event().await {
            return (member, address);
        }
    }
}

#[tokio::test]
async fn who_knows_one_member_finds_another_that_nobody_named() {
    let mut first = Member::of(1, &local(), network("a")).await;
    let mut second = Member::of(2, &local(), network("a")).await;
    join(&mut second, &mut first).await;
    let mut third = Member::of(3, &local(), network("a")).await;
    third.handle.dial(key(1), &first.at()).await;
    assert_eq!(next_found(&mut third).await, (key(2), second.handle.address().clone()));
    first.handle.leave().await;
    drop(first);
    // The one that was found is there still. Its key is proved before its session is up.
    while third.handle.send(key(2), "are you there?".into()).is_err() {
        third.event().await;
    }
    while second.next().await != frame(3, b"are you there?") {}
}

/// Asks a member for those near a key, again until it tells of `expected`, and returns all that it tells of.
async fn told_near(member: &Member, near: PeerId, expected: PeerId) -> Vec<PeerId> {
    let setup = network("a");
    let mut asker = SwarmBuilder::with_existing_identity(keypair(50))
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|key| Asker {
            sessions: SessionsBehaviour::new(),
            kademlia: TableBehaviour::new(key.public().to_peer_id(), &setup, DialScope::Machine),
            identify: setup.identify(key.public()),
        })
        .unwrap()
        .build();
    let id = keypair(1).public().to_peer_id();
    asker.behaviour_mut().kademlia.learn(id, member.handle.address());
    asker.behaviour_mut().kademlia.ask_near(near);
    let asked = async {
        loop {
            let SwarmEvent::Behaviour(AskerEvent::Kademlia(event)) = asker.select_next_some().await
            else {
                continue;
            };
            if let kad::Event::OutboundQueryProgressed {
                result: kad::QueryResult::GetClosestPeers(Ok(told)),
                ..
            } = event
            {
                let told: Vec<PeerId> = told.peers.into_iter().map(|told| told.peer_id).collect();
                if told.contains(&expected) {
                    return told;
                }
                asker.behaviour_mut().kademlia.ask_near(near);
            }
        }
    };
    timeout(GUARD, asked).await.unwrap()
}

/// A program that asks as members do.
#[derive(NetworkBehaviour)]
struct Asker {
    sessions: SessionsBehaviour,
    kademlia: TableBehaviour,
    identify: identify::Behaviour,
}

#[tokio::test]
async fn others_are_told_of_a_member_and_not_of_a_guest() {
    let mut first = Member::of(1, &local(), network("a")).await;
    let guest = DiscoverySetup { is_guest: true, ..network("a") };
    let mut guest = Member::of(2, &local(), guest).await;
    join(&mut guest, &mut first).await;
    let mut second = Member::of(3, &local(), network("a")).await;
    join(&mut second, &mut first).await;
    let [guest_id, second_id] = [2, 3].map(|n| keypair(n).public().to_peer_id());
    let told = told_near(&first, guest_id, second_id).await;
    assert!(!told.contains(&guest_id), "{told:?}");
}

#[tokio::test]
async fn members_of_two_networks_hang_up_on_each_other() {
    let mut a = Member::of(1, &local(), network("a")).await;
    let b = Member::of(2, &local(), network("b")).await;
    a.handle.dial(key(2), &b.at()).await;
    loop {
        match a.next().await {
            OverlayEvent::Up(_) => {}
            OverlayEvent::Down(member) | OverlayEvent::DialFailed(member) => {
                assert_eq!(member, key(2));
                break;
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Another program, which makes sessions and speaks Kademlia by hand.
#[derive(NetworkBehaviour)]
struct Liar {
    sessions: SessionsBehaviour,
    kademlia: SessionsBehaviour,
    identify: identify::Behaviour,
}

/// A liar with the sessions that it keeps open.
struct LiarProgram {
    swarm: Swarm<Liar>,
    kept: Vec<Stream>,
}

impl LiarProgram {
    fn new(n: u8, network: &DiscoverySetup) -> Self {
        let swarm = SwarmBuilder::with_existing_identity(keypair(n))
            .with_tokio()
            .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
            .unwrap()
            .with_behaviour(|key| Liar {
                sessions: SessionsBehaviour::new(),
                kademlia: SessionsBehaviour::of(network.kademlia()),
                identify: network.identify(key.public()),
            })
            .unwrap()
            .build();
        Self { swarm, kept: Vec::new() }
    }

    /// Goes on living until a member has asked it something, and returns the streams of Kademlia: the one
    /// with a question, and the one for questions.
    async fn kademlia(&mut self) -> (Stream, Stream) {
        loop {
            match self.swarm.select_next_some().await {
                SwarmEvent::Behaviour(LiarEvent::Kademlia(opened)) => {
                    return (opened.read, opened.write);
                }
                SwarmEvent::Behaviour(LiarEvent::Sessions(opened)) => {
                    self.kept.extend([opened.read, opened.write]);
                }
                _ => {}
            }
        }
    }

    /// Goes on living until something else is over.
    async fn meanwhile<T>(&mut self, what: impl Future<Output = T>) -> T {
        let mut asked = Vec::new();
        let run = async {
            loop {
                asked.push(self.kademlia().await);
            }
        };
        tokio::select! {
            over = timeout(GUARD, what) => over.unwrap(),
            () = run => unreachable!("a liar goes on"),
        }
    }
}

/// Writes a field of bytes as protocol buffers have it.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![(number << 3) | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}

/// Writes an answer of Kademlia to a question for members: these, each at its addresses.
fn answer(members: &[(PeerId, Vec<Multiaddr>)]) -> Vec<u8> {
    // The kind of the message: 4 stands for a search of members.
    let mut message = vec![0x08, 4];
    for (peer, addresses) in members {
        let mut told = field(1, &peer.to_bytes());
        for address in addresses {
            told.extend(field(2, &address.to_vec()));
        }
        message.extend(field(8, &told));
    }
    let mut framed = field(0, &message);
    framed.remove(0);
    framed
}

fn stranger(n: u16) -> PeerId {
    let mut seed = [7; 32];
    seed[..2].copy_from_slice(&n.to_le_bytes());
    Keypair::ed25519_from_bytes(seed).unwrap().public().to_peer_id()
}

/// Starts a liar, and has a member dial it.
async fn meet_liar(member: &Member) -> LiarProgram {
    let mut liar = LiarProgram::new(9, &network("a"));
    liar.swarm.listen_on(local()).unwrap();
    let address = loop {
        if let SwarmEvent::NewListenAddr { address, .. } = liar.swarm.select_next_some().await {
            break address;
        }
    };
    member.handle.dial(key(9), &address.to_string()).await;
    liar
}

/// Answers the first question of a member with a lie, and waits until the member has taken it or has
/// thrown it away.
async fn lie(member: &Member, lies: &[u8]) -> LiarProgram {
    let mut liar = meet_liar(member).await;
    let (mut question, _other) = timeout(GUARD, liar.kademlia()).await.unwrap();
    let told = async {
        let _asked = question.read(&mut [0; 256]).await.unwrap();
        // A member that has enough of it reads no further.
        let _taken = question.write_all(lies).await;
        let _taken = question.flush().await;
        while question.read(&mut [0; 256]).await.is_ok_and(|read| read > 0) {}
    };
    liar.meanwhile(told).await;
    liar
}

/// Somebody at whose door members knock because of a lie.
struct KnockedAt {
    address: Multiaddr,
    knocks: mpsc::Receiver<()>,
}

impl KnockedAt {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, knocks) = mpsc::channel(1_024);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                drop(socket);
                heard.send(()).await.unwrap();
            }
        });
        Self { address: format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap(), knocks }
    }
}

/// A liar names 120 members, all of them where somebody else listens.
#[tokio::test]
async fn a_liar_makes_a_member_knock_at_a_third_no_more_often_than_it_may() {
    let mut door = KnockedAt::new().await;
    let mut member = Member::of(1, &local(), network("a")).await;
    let named: Vec<_> = (0..120).map(|n| (stranger(n), vec![door.address.clone()])).collect();
    let mut liar = lie(&member, &answer(&named)).await;
    // The liar itself is dialled again, since it hangs up when it is asked once more.
    let surely = FOUND_DIALS_PER_MINUTE_MAX - 10;
    let knocked = async {
        for _ in 0..surely {
            door.knocks.recv().await.unwrap();
        }
    };
    liar.meanwhile(knocked).await;
    // Others are served as before.
    let b = Member::of(2, &local(), network("a")).await;
    b.handle.dial(key(1), &member.at()).await;
    while member.next().await != OverlayEvent::Up(key(2)) {}
    let more = std::iter::from_fn(|| door.knocks.try_recv().ok()).count() as u32;
    assert!(surely + more <= FOUND_DIALS_PER_MINUTE_MAX, "{surely} and {more}");
}

#[tokio::test]
async fn an_answer_with_ten_thousand_addresses_is_thrown_away() {
    let mut door = KnockedAt::new().await;
    let mut member = Member::of(1, &local(), network("a")).await;
    let named = answer(&[(stranger(1), vec![door.address.clone(); 10_000])]);
    assert!(named.len() > ANSWER_BYTES_MAX);
    let _liar = lie(&member, &named).await;
    let b = Member::of(2, &local(), network("a")).await;
    b.handle.dial(key(1), &member.at()).await;
    while member.next().await != OverlayEvent::Up(key(2)) {}
    assert!(door.knocks.try_recv().is_err(), "nobody is dialled because of it");
}

#[tokio::test]
async fn a_liar_that_names_itself_leads_to_nobody_else() {
    let mut member = Member::of(1, &local(), network("a")).await;
    let own = keypair(9).public().to_peer_id();
    let here: Multiaddr = "/ip4/127.0.0.1/tcp/9".parse().unwrap();
    let _liar = lie(&member, &answer(&vec![(own, vec![here]); 3])).await;
    let b = Member::of(2, &local(), network("a")).await;
    b.handle.dial(key(1), &member.at()).await;
    loop {
        match member.event().await {
            OverlayEvent::Up(up) if up == key(2) => break,
            OverlayEvent::Found { member, address } => {
                assert!([key(2), key(9)].contains(&member));
                assert!(!address.to_string().ends_with("/tcp/9"), "{address}");
            }
            _ => {}
        }
    }
}

/// A program that asks without end.
#[derive(NetworkBehaviour)]
struct Flooder {
    sessions: SessionsBehaviour,
    kademlia: kad::Behaviour<kad::store::MemoryStore>,
    identify: identify::Behaviour,
}

#[tokio::test]
async fn who_asks_too_often_loses_its_connection() {
    let member = Member::of(1, &local(), network("a")).await;
    let (setup, id) = (network("a"), keypair(9).public().to_peer_id());
    let config = kad::Config::new(setup.kademlia());
    let mut flooder = SwarmBuilder::with_existing_identity(keypair(9))
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(|key| Flooder {
            sessions: SessionsBehaviour::new(),
            kademlia: kad::Behaviour::with_config(id, kad::store::MemoryStore::new(id), config),
            identify: setup.identify(key.public()),
        })
        .unwrap()
        .build();
    let asked = keypair(1).public().to_peer_id();
    flooder.behaviour_mut().kademlia.add_address(&asked, member.handle.address().clone());
    // Fewer at once than one connection has substreams.
    for n in 0..3 {
        flooder.behaviour_mut().kademlia.get_closest_peers(stranger(n));
    }
    let (mut answers, mut kept) = (0, Vec::new());
    let flood = async {
        loop {
            match flooder.select_next_some().await {
                SwarmEvent::Behaviour(FlooderEvent::Kademlia(
                    kad::Event::OutboundQueryProgressed { .. },
                )) => {
                    answers += 1;
                    flooder.behaviour_mut().kademlia.get_closest_peers(stranger(answers));
                }
                SwarmEvent::Behaviour(FlooderEvent::Sessions(opened)) => kept.push(opened),
                SwarmEvent::ConnectionClosed { .. } => return,
                _ => {}
            }
        }
    };
    timeout(GUARD, flood).await.unwrap();
    assert!(u32::from(answers) + 16 >= TABLE_FRAMES_PER_SECOND_MAX, "{answers} were answered");
}
