use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use metatopia_types::{Digest, LandGrant, Millis, PublicKey, Square};

use super::*;
use crate::{
    overlay::{
        OverlayFolder,
        answers::{MapSite, hex},
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
    let proofs: Vec<String> = heights.iter().map(|height| proof(office, &[], *height)).collect();
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
            let is_map = request[..read].starts_with(b"GET /api/world/map ");
            let body = if is_map { &map } else { &facts };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
            stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    url
}

fn gone() -> NodeUrl {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    format!("http://{free}").parse().unwrap()
}

fn invite(office: &OfficeSets, map_from: u64, addresses: &[&NodeUrl]) -> WorldInvite {
    let addresses = addresses.iter().copied().cloned().collect();
    WorldInvite { world: office.world(), map_from: Height(map_from), addresses }
}

#[tokio::test]
async fn the_nodes_of_an_invite_are_tried_in_turn_and_one_of_another_world_is_refused() {
    let office = office_of_tests();
    let other = node(&successor_of_tests(&office), &[900]);
    let (dead, right, late) = (gone(), node(&office, &[7]), node(&office, &[8]));
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
    let (one, two) = (gone(), gone());
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

#[test]
fn a_part_of_the_map_that_is_older_than_the_invite_is_left_out_with_its_squares() {
    let office = office_of_tests();
    let grant = |x: i32| LandGrant {
        square: Square { x, y: 0, doublings: 2 },
        sim: SimId(Digest([x.unsigned_abs() as u8; 32])),
        holder: PublicKey([1; 32]),
        beacons: vec![PublicKey([2; 32])],
        epoch: 1,
        until: Millis(9),
        shown: Height(3),
    };
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
    let entry = |n: usize| crate::overlay::answers::EndpointEntry {
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
