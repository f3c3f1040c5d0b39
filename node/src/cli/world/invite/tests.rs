use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use metatopia_types::{Digest, LandGrant, Millis, PublicKey, Square, TilePoint};

use super::*;
use crate::{
    cli::world::{
        find::{AskArgs, locate},
        map::asked_by_invite,
    },
    overlay::{
        OverlayFolder,
        answers::{EndpointEntry, FindAnswer, MapSite, hex},
        land_proof_of_tests,
        learned::learned_of_tests,
        office::successor_of_tests,
        office_of_tests,
    },
    scratch::Scratch,
};

/// Returns the text of a proof of this map at a height.
fn proof(office: &OfficeSets, grants: &[LandGrant], height: u64) -> String {
    hex(&land_proof_of_tests(office, grants, (Height(height), Millis(1_000 + height))))
}

fn map_of(office: &OfficeSets, proofs: Vec<String>) -> MapAnswer {
    let world = office.world().to_string();
    MapAnswer { world, sites: Vec::new(), oldest: None, proofs, one_door: false }
}

/// Runs a node that takes part in the world of this office, and has maps of these heights, the oldest first.
fn node(office: &OfficeSets, heights: &[u64]) -> NodeUrl {
    let proofs = heights.iter().map(|height| proof(office, &[], *height)).collect();
    node_with(office, proofs, String::new())
}

/// Runs a node that has these maps, and this answer about any point.
fn node_with(office: &OfficeSets, proofs: Vec<String>, found: String) -> NodeUrl {
    let mut facts = learned_of_tests(office, &[]).answer;
    facts.map = proofs.first().cloned().unwrap_or_default();
    let facts = serde_json::to_string(&facts).unwrap();
    let map = serde_json::to_string(&map_of(office, proofs)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), [0; 4_096]);
            let read = stream.read(&mut request).unwrap();
            let asks = |path: &[u8]| request[..read].starts_with(path);
            let body = match (asks(b"GET /api/world/map "), asks(b"GET /api/world/find?")) {
                (true, _) => &map,
                (false, true) => &found,
                (false, false) => &facts,
            };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
            stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    url
}

/// A place where nobody listens: the system lends so low a port to no other test.
fn gone(port: u8) -> NodeUrl {
    format!("http://127.0.0.1:{port}").parse().unwrap()
}

fn invite(office: &OfficeSets, map_from: u64, addresses: &[&NodeUrl]) -> WorldInvite {
    let addresses = addresses.iter().copied().cloned().collect();
    WorldInvite { world: office.world(), map_from: Height(map_from), addresses }
}

#[tokio::test]
async fn the_nodes_of_an_invite_are_tried_in_turn_and_one_of_another_world_is_refused() {
    let office = office_of_tests();
    let other = node(&successor_of_tests(&office), &[900]);
    let (dead, right, late) = (gone(1), node(&office, &[7]), node(&office, &[8]));
    let invite = invite(&office, 5, &[&dead, &other, &right, &late]);
    let (node, learned) = learn(&invite, None).await.unwrap();
    assert_eq!((node, learned.map_from), (right, Height(7)));
    assert_eq!(learned.sets.world(), office.world());

    let named = learn(&invite, Some(successor_of_tests(&office).world())).await.unwrap_err();
    assert_eq!(named.exit, Exit::Unverified);
    assert!(named.message.starts_with("the invite is to world "), "{named}");
}

/// Whoever joined by a node that shows an old map would have believed all maps since then.
#[tokio::test]
async fn nothing_older_than_the_map_of_an_invite_counts_for_who_joins_by_it() {
    let (office, scratch) = (office_of_tests(), Scratch::new("invited"));
    // A part of the node's map is older than the invite's, and another one is newer.
    let both = node(&office, &[100, 600]);
    let (_, learned) = learn(&invite(&office, 500, &[&both]), None).await.unwrap();
    let folder = OverlayFolder::at(&scratch.0);
    learned.keep(&folder).unwrap();
    assert_eq!(folder.map_from().unwrap(), Height(500));

    let old = node(&office, &[100, 200]);
    let refused = learn(&invite(&office, 500, &[&old]), None).await.unwrap_err();
    assert_eq!(refused.exit, Exit::Unverified);
    let why = "proves no map of height 500 or newer, its newest one is of height 200";
    assert!(refused.message.contains(why), "{refused}");
    let (node, _) = learn(&invite(&office, 500, &[&old, &both]), None).await.unwrap();
    assert_eq!(node, both, "the next node is asked");
}

#[tokio::test]
async fn an_invite_that_leads_nowhere_says_why_of_each_node_and_what_to_do_next() {
    let office = office_of_tests();
    let (one, two) = (gone(1), gone(2));
    let down = learn(&invite(&office, 5, &[&one, &two]), None).await.unwrap_err();
    assert_eq!(down.exit, Exit::TimedOut);
    for part in [&format!("{one} is not reached"), &format!("; {two} is not reached")] {
        assert!(down.message.contains(part), "{down}");
    }
    assert!(down.message.ends_with("; try again later, or ask for a new invite"), "{down}");

    let successor = successor_of_tests(&office);
    let other = node(&successor, &[9]);
    let lies = learn(&invite(&office, 5, &[&one, &other]), None).await.unwrap_err();
    assert_eq!(lies.exit, Exit::Unverified, "a lie weighs more than silence");
    let told = format!("{other} takes part in world {}, not in", successor.world());
    assert!(lies.message.contains(&told), "{lies}");
}

/// Returns what a node answers about 9 3, of which it has this proof, and that it knows so many servers there.
fn found(proof: String, grant: &LandGrant, servers: usize) -> String {
    let server = EndpointEntry {
        member: String::new(),
        overlay: "/ip4/192.0.2.7/tcp/8083".to_owned(),
        http: Some("http://192.0.2.7:8080".to_owned()),
    };
    let answer = FindAnswer {
        x: 9,
        y: 3,
        outcome: "owned".to_owned(),
        grant: Some(grant.into()),
        endpoints: vec![server; servers],
        map: None,
        hops: 1,
        ways: 2,
        disagreements: 0,
        one_door: false,
        proof,
    };
    serde_json::to_string(&answer).unwrap()
}

fn asking(invite: WorldInvite) -> AskArgs {
    let node = "http://127.0.0.1:8080".parse().unwrap();
    AskArgs { node, invite: Some(invite), data_dir: None, lan: false, world: None }
}

/// The first node that showed a map was the only one that was asked who owns a point, and it lied or knew no server.
#[tokio::test]
async fn one_node_of_an_invite_that_lies_or_knows_little_keeps_no_other_one_from_telling() {
    let office = office_of_tests();
    let grant = grant(8);
    let shown = |height| proof(&office, std::slice::from_ref(&grant), height);
    let with = |told: String| node_with(&office, vec![shown(9)], told);
    let liar = with(found("ab".repeat(40), &grant, 1));
    let broken = with("{}".to_owned());
    let old = with(found(shown(4), &grant, 1));
    let bare = with(found(shown(9), &grant, 0));
    let right = with(found(shown(9), &grant, 1));
    let point = TilePoint { x: 9, y: 3 };
    let asked = [&liar, &old, &bare, &right];
    let checked = locate(&asking(invite(&office, 5, &asked)), point).await.unwrap();
    assert_eq!((checked.answer.endpoints.len(), checked.map.height), (1, 9));
    // If none knows a server, the owner is proved all the same.
    let asked = [&broken, &bare, &liar];
    let checked = locate(&asking(invite(&office, 5, &asked)), point).await.unwrap();
    assert_eq!((checked.answer.endpoints.len(), checked.grant), (0, Some(grant.clone())));

    let none = locate(&asking(invite(&office, 5, &[&liar, &broken, &old])), point).await;
    let none = none.unwrap_err();
    assert_eq!(none.exit, Exit::Unverified);
    for node in [&liar, &broken, &old] {
        assert!(none.message.contains(&node.to_string()), "{none}");
    }
    assert!(none.message.ends_with("; try again later, or ask for a new invite"), "{none}");
}

#[tokio::test]
async fn a_map_that_does_not_hold_has_the_next_node_of_the_invite_asked() {
    let office = office_of_tests();
    let shown = proof(&office, &[grant(8)], 9);
    let liar = node_with(&office, vec![shown.clone(), "ab".repeat(40)], String::new());
    let right = node_with(&office, vec![shown], String::new());
    let both = invite(&office, 4, &[&liar, &right]);
    let asked = asked_by_invite(&both, None, None).await.unwrap();
    assert_eq!(asked.proved.grants, [grant(8)]);
    let none = asked_by_invite(&invite(&office, 4, &[&liar]), None, None).await.unwrap_err();
    assert!(none.message.contains(&format!("{liar}: the map does not hold")), "{none}");
}

/// Somebody saw a map with a hole, and took the ground there for nobody's.
#[tokio::test]
async fn how_many_parts_of_a_map_an_invite_leaves_out_is_known() {
    let office = office_of_tests();
    let proofs = [3, 5, 9].map(|height| proof(&office, &[grant(8)], height)).to_vec();
    let node = node_with(&office, proofs, String::new());
    for (from, left_out) in [(3, 0), (4, 1), (9, 2)] {
        let asked = asked_by_invite(&invite(&office, from, &[&node]), None, None).await.unwrap();
        assert_eq!(asked.left_out, left_out, "from {from}");
    }
}

/// The program printed an invite that it refuses itself.
#[tokio::test]
async fn a_node_whose_address_is_too_long_for_an_invite_is_refused_by_the_command() {
    let office = office_of_tests();
    let near = node(&office, &[7]);
    // The same address with so many zeros that it is too long.
    let long = near.to_string().replace("127.0.0.1", &format!("127.0.0.{:0>120}", 1));
    let args = WorldInviteArgs { node: long.parse().unwrap(), world: None };
    let refused = run(args, Console::quiet()).await.unwrap_err();
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.message.ends_with("name an address of at most 128 bytes by --node"));
    run(WorldInviteArgs { node: near, world: None }, Console::quiet()).await.unwrap();
}

fn grant(x: i32) -> LandGrant {
    LandGrant {
        square: Square { x, y: 0, doublings: 2 },
        sim: SimId(Digest([x.unsigned_abs() as u8; 32])),
        holder: PublicKey([1; 32]),
        beacons: vec![PublicKey([2; 32])],
        epoch: 1,
        until: Millis(9),
        shown: Height(3),
    }
}

#[test]
fn a_part_of_the_map_that_is_older_than_the_invite_is_left_out_with_its_squares() {
    let office = office_of_tests();
    let site = |x| MapSite {
        grant: (&grant(x)).into(),
        met: true,
        people: None,
        label: None,
        licence: None,
        endpoints: Vec::new(),
    };
    let proofs = vec![proof(&office, &[grant(0), grant(8)], 4), proof(&office, &[grant(0)], 5)];
    let answer = MapAnswer { sites: vec![site(0), site(8)], ..map_of(&office, proofs) };
    let shown = |from| {
        let MapAnswer { sites, proofs, .. } = counted(&office, answer.clone(), Height(from));
        let sites = sites.iter().map(|site| site.grant.square.x).collect::<Vec<_>>();
        (sites, proofs.len())
    };
    assert_eq!(shown(4), (vec![0, 8], 2));
    assert_eq!(shown(5), (vec![0], 1));
    assert_eq!(shown(6), (vec![], 0));
}

#[test]
fn an_invite_names_four_nodes_at_most_and_none_of_one_machine_beside_others() {
    let urls: Vec<NodeUrl> = [
        "http://127.0.0.1:8080",
        "http://10.0.0.7:8080",
        "http://[::1]:8080",
        "http://localhost:8080",
        "https://plaza.example",
        "http://10.0.0.8:8080",
        "http://10.0.0.9:8080",
        "http://10.0.0.10:8080",
    ]
    .map(|text| text.parse().unwrap())
    .to_vec();
    let far: Vec<NodeUrl> = [1, 4, 5, 6].map(|n| urls[n].clone()).to_vec();
    assert_eq!(far.len(), WORLD_INVITE_ADDRESSES_MAX);
    assert_eq!(chosen(&urls[0], urls[1..].iter()), far);
    // A world on one machine has no other ones.
    let here = [urls[0].clone(), urls[2].clone()];
    assert_eq!(chosen(&urls[0], [&urls[2]].into_iter()), here);
}

#[test]
fn no_more_nodes_are_asked_for_an_invite_than_the_bound_says_and_each_once() {
    let office = office_of_tests();
    let mut learned = learned_of_tests(&office, &[]);
    let entry = |n: usize| EndpointEntry {
        member: String::new(),
        overlay: String::new(),
        http: Some(format!("http://10.0.0.{n}:8080")),
    };
    learned.answer.contacts = (0..=INVITERS_ASKED_MAX + 1).map(entry).collect();
    learned.answer.office_servers = (0..3).map(entry).collect();
    let asked = others(&"http://10.0.0.0:8080".parse().unwrap(), &learned);
    let expected = (1..=INVITERS_ASKED_MAX).map(|n| entry(n).http.unwrap().parse().unwrap());
    assert!(asked.iter().cloned().eq(expected), "{asked:?}");
}

#[test]
fn a_world_is_joined_by_an_invite_or_by_the_address_of_a_node() {
    let url: NodeUrl = "http://127.0.0.1:8080".parse().unwrap();
    let invite = invite(&office_of_tests(), 5, &[&url]);
    let read = str::parse::<WorldEntrance>;
    assert_eq!(read("http://127.0.0.1:8080"), Ok(WorldEntrance::Node(url)));
    let text = invite.to_string();
    assert_eq!(read(&text), Ok(WorldEntrance::Invite(invite)));
    assert!(read(&text[..60]).unwrap_err().contains("a part of it is missing"));
    assert!(read("metatopia1abc").unwrap_err().contains("`metatopia node join` takes it"));
    let neither = read("welcome").unwrap_err();
    assert!(neither.starts_with("no invite to a world, and no node: an address"), "{neither}");
}
