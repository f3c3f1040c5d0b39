//! Real members on loopback, with real signatures. Bounds of time are far above what is measured; they keep
//! a broken test from hanging.

mod lan;

use std::time::{Duration, Instant};

use futures::future::join_all;
use metatopia_raynet::{
    DialBackMessage, DialBackOutcome, LookupOutcome, OverlayMessage, TilePoint,
};
use metatopia_transport::overlay::{DiscoverySetup, OverlayEvent, OverlayEvents, OverlayHandle};
use metatopia_types::SigningKey;
use tokio::sync::watch;

use super::{
    MapView, MemberSetup, OverlayMember,
    contacts::ContactFile,
    member::LOOKUPS_PER_SECOND_MAX,
    reach::{CHECK_AGAIN, DIAL_BACKS_PER_ADDRESS_MAX, REACH_PORTS_MAX},
    start, trial,
};
use crate::{keys, scratch::Scratch};

/// `metatopia bench overlay` runs the same with 50 members and the cycle of a node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_find_all_their_neighbours_and_find_new_ones_when_half_of_them_die() {
    let cycle = Duration::from_millis(500);
    let report = trial::run(16, cycle, Duration::from_secs(60)).await.unwrap();
    println!("{report:?}");
    assert!(report.frames > 0 && report.signatures >= 16 * 3, "{report:?}");
}

#[tokio::test]
async fn a_trial_of_too_few_or_too_many_is_refused() {
    for count in [3, metatopia_raynet::limits::GRANTS_PER_SHELF_MAX + 1] {
        let most = Duration::from_secs(1);
        let refused = trial::run(count, Duration::from_secs(1), most).await;
        assert!(matches!(refused, Err(trial::TrialError::Count(found)) if found == count));
    }
}

#[tokio::test]
async fn strangers_make_a_member_look_up_no_more_than_it_may_in_a_second() {
    let (_stop, stopped) = watch::channel(false);
    let member = start(trial::alone(), stopped).await.unwrap();
    let began = Instant::now();
    let (mut asked, mut answered) = (0, 0);
    for _ in 0..8 {
        let point = TilePoint { x: 1, y: 1 };
        let answers = join_all((0..60).map(|_| member.find(point))).await;
        asked += answers.len();
        answered += answers.iter().flatten().count();
    }
    // Beats are a second apart, and one may come at once.
    let beats = began.elapsed().as_secs() as usize + 2;
    let most = LOOKUPS_PER_SECOND_MAX as usize * beats;
    assert!(answered >= LOOKUPS_PER_SECOND_MAX as usize, "{answered}");
    assert!(answered <= most, "{answered} of {asked} in {beats} beats");
}

/// Waits until what a member knows is so.
async fn until(member: &OverlayMember, is_so: impl Fn(&MapView) -> bool) -> MapView {
    let waiting = async {
        loop {
            match member.map().await {
                Some(view) if is_so(&view) => return view,
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("in time")
}

/// `metatopia world member`: the one who asks knows nobody but a member that hosts no sim.
#[tokio::test]
async fn a_member_without_a_site_routes_and_answers() {
    let (_stop, stopped) = watch::channel(false);
    let site = start(trial::alone(), stopped.clone()).await.unwrap();
    let between = start(trial::without_site(1, &[&site]), stopped.clone()).await.unwrap();
    let asker = start(trial::without_site(2, &[&between]), stopped).await.unwrap();
    trial::show_map(&site).await;
    trial::show_map(&between).await;
    let asking = async {
        loop {
            let answer = asker.find(trial::middle_of(0)).await;
            match answer.map(|answer| answer.outcome) {
                Some(LookupOutcome::Owned { endpoints, .. }) if !endpoints.is_empty() => {
                    return endpoints;
                }
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    let endpoints = tokio::time::timeout(Duration::from_secs(30), asking).await.expect("in time");
    assert_eq!(endpoints[0].peer, site.key);
}

/// No site's record leads from the third member to the second, because the second has no site.
#[tokio::test]
async fn a_member_whose_only_contact_goes_away_goes_on_with_one_that_kademlia_found() {
    let (stop_first, first_stopped) = watch::channel(false);
    let (_stop, stopped) = watch::channel(false);
    let first = start(trial::without_site(1, &[]), first_stopped).await.unwrap();
    let second = start(trial::without_site(2, &[&first]), stopped.clone()).await.unwrap();
    until(&second, |view| view.up == 1).await;
    let third = start(trial::without_site(3, &[&first]), stopped.clone()).await.unwrap();
    until(&third, |view| view.up == 2).await;
    stop_first.send_replace(true);
    drop(first);
    until(&third, |view| view.up == 1).await;

    // A site comes that only the second knows.
    let mut setup = trial::alone();
    setup.contacts = trial::without_site(0, &[&second]).contacts;
    let site = start(setup, stopped).await.unwrap();
    for member in [&site, &second, &third] {
        trial::show_map(member).await;
    }
    let view = until(&third, |view| !view.sites.is_empty()).await;
    assert_eq!(view.sites[0].record.endpoints[0].peer, site.key);
}

/// A server that follows its land office listens at the same port in the new world.
#[tokio::test]
async fn another_member_listens_at_the_port_of_one_that_has_ended() {
    let (stop, stopped) = watch::channel(false);
    let (_stop, never) = watch::channel(false);
    let first = start(trial::alone(), stopped).await.unwrap();
    let other = start(trial::without_site(1, &[&first]), never.clone()).await.unwrap();
    until(&other, |view| view.up == 1).await;
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(30), stop.closed()).await.unwrap();
    let setup = MemberSetup { listen: first.address.clone(), ..trial::alone() };
    let second = start(setup, never).await.unwrap();
    assert_eq!(second.address, first.address);
}

#[tokio::test]
async fn members_that_were_found_are_kept_as_contacts() {
    let scratch = Scratch::made("found-kept");
    let (_stop, stopped) = watch::channel(false);
    let first = start(trial::without_site(1, &[]), stopped.clone()).await.unwrap();
    let second = start(trial::without_site(2, &[&first]), stopped).await.unwrap();
    until(&second, |view| view.up == 1).await;
    let (stop, stopped) = watch::channel(false);
    let mut setup = trial::without_site(3, &[&first]);
    let file = ContactFile::named(&scratch.0, "contacts");
    setup.file = Some(file.clone());
    let third = start(setup, stopped).await.unwrap();
    // The session may be there before it is known whose it is.
    until(&third, |view| view.up == 2 && view.found == 1).await;
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(30), stop.closed()).await.unwrap();
    let kept: Vec<_> = file.read().into_iter().map(|contact| contact.peer).collect();
    assert_eq!(kept, [second.key]);
}

/// Somebody who says by hand what a member hears.
struct Stranger {
    handle: OverlayHandle,
    events: OverlayEvents,
}

impl Stranger {
    /// Comes up with a member that listens.
    async fn meet(member: &OverlayMember, seed: u8) -> Self {
        let local = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
        let key = keys::peer_keypair(&SigningKey::from_seed([seed; 32]));
        let network = trial::alone().config.world.to_string();
        let discovery = DiscoverySetup { network, ..DiscoverySetup::default() };
        let (handle, events) =
            metatopia_transport::overlay::start(key, (&local, discovery), Default::default())
                .await
                .unwrap();
        handle.dial(member.key, &member.address.to_string()).await;
        let mut stranger = Self { handle, events };
        while !matches!(stranger.next().await, OverlayEvent::Up(_)) {}
        stranger
    }

    async fn next(&mut self) -> OverlayEvent {
        let event = tokio::time::timeout(Duration::from_secs(30), self.events.recv()).await;
        event.expect("an event in time").expect("running")
    }

    /// Asks to be dialled back at a port, and returns the answer.
    async fn ask(&mut self, member: &OverlayMember, nonce: u64, port: u16) -> DialBackMessage {
        let ask = OverlayMessage::DialBack(DialBackMessage::Ask { nonce, port });
        self.handle.send(member.key, ask.encode().into()).unwrap();
        loop {
            let OverlayEvent::Frame { bytes, .. } = self.next().await else { continue };
            if let Ok(OverlayMessage::DialBack(said)) = OverlayMessage::decode(&bytes) {
                return said;
            }
        }
    }
}

#[tokio::test]
async fn a_member_dials_back_only_where_it_hears_the_one_who_asks_and_not_often() {
    let (_stop, stopped) = watch::channel(false);
    let member = start(trial::alone(), stopped).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut stranger = Stranger::meet(&member, 9).await;
    let here = std::net::Ipv4Addr::LOCALHOST.into();
    let open = DialBackMessage::answer(1, DialBackOutcome::Open, here);
    assert_eq!(stranger.ask(&member, 1, port).await, open);
    drop(listener);
    let closed = DialBackMessage::answer(2, DialBackOutcome::Closed, here);
    assert_eq!(stranger.ask(&member, 2, port).await, closed);
    let most = u64::from(DIAL_BACKS_PER_ADDRESS_MAX);
    for nonce in 3..=most {
        let answer = DialBackMessage::answer(nonce, DialBackOutcome::Closed, here);
        assert_eq!(stranger.ask(&member, nonce, port).await, answer);
    }
    // Another key at the same address gets no more.
    let mut other = Stranger::meet(&member, 10).await;
    let busy = DialBackMessage::answer(99, DialBackOutcome::Busy, here);
    assert_eq!(other.ask(&member, 99, port).await, busy);
}

#[tokio::test]
async fn a_member_that_knows_nobody_says_so_and_does_not_check_twice_at_once() {
    let (_stop, stopped) = watch::channel(false);
    let member = start(trial::alone(), stopped).await.unwrap();
    assert_eq!(member.reach(vec![1]).await, Some(Vec::new()));
    assert_eq!(member.reach(vec![1]).await, None, "within {CHECK_AGAIN:?}");
}

#[tokio::test]
async fn few_ports_are_asked_about_and_who_does_not_answer_is_not_waited_for() {
    let (_stop, stopped) = watch::channel(false);
    let member = start(trial::alone(), stopped).await.unwrap();
    let mut stranger = Stranger::meet(&member, 9).await;
    // Once it has answered, the member knows that the stranger is up.
    let closed = stranger.ask(&member, 1, 1).await;
    assert!(matches!(closed, DialBackMessage::Answer { nonce: 1, .. }), "{closed:?}");
    let found = member.reach(vec![1; REACH_PORTS_MAX + 1]).await.unwrap();
    assert_eq!(found.len(), REACH_PORTS_MAX);
    assert!(found.iter().all(|asked| asked.outcome == "none"), "{found:?}");
    drop(stranger);
}
