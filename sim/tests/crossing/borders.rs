//! Borders: who opens them, what is heard over them, and what is refused.

use metatopia_math::Vec2;
use metatopia_sim::{
    Area, Genesis, OrderedDeed, Tools, Wall, World,
    limits::{HEARD_SIGNATURES_PER_TURN_MAX, PULSE_MS, SILENCE_MS},
};
use metatopia_types::{
    Act, Blob, BlobId, BorderOrder, BorderRefusal, Digest, Dispatch, GenesisHead, GovernOrder,
    HeadParent, HearRefusal, Height, Link, OfficeFounding, Outcome, ParcelError, PassRefusal,
    PublicKey, Refusal, Root, SetChange, SignedEnvelope, SimId, Site, Square, Worth,
    limits::{BORDER_OFFICES_MAX, BORDERS_MAX, DISPATCH_LINKS_MAX, PASSES_MAX, PEOPLE_NEAR_MAX},
    said_key,
};

use crate::town::{ADMIN, Place, genesis, public, step, tell, town, world_id};

fn refused(why: HearRefusal) -> Outcome {
    Outcome::Refused(Refusal::NotHeard(why))
}

fn bad(why: BorderRefusal) -> Outcome {
    Outcome::Refused(Refusal::BadBorder(why))
}

fn head_of(genesis: &Genesis) -> BorderOrder {
    BorderOrder::Open { head: Box::new(genesis.head()), offices: Vec::new(), portal: None }
}

fn ordered(place: &mut Place, order: &BorderOrder) -> Outcome {
    let act = place.order(order);
    place.play(50);
    place.outcome(&act)
}

/// One sim with its admin, and no border.
fn alone() -> Place {
    let mut place = Place::new(genesis(0, 1), 1_700_000_000_000);
    place.login(public(ADMIN));
    place.play(50);
    place
}

/// The genesis of a sim on a square of the world.
fn on(square: Square, world: SimId) -> Genesis {
    let mut genesis = genesis(1, 1);
    genesis.parameters.ground = Area::of_square(square);
    genesis.site = Some(Site { world, square });
    genesis
}

#[test]
fn a_border_is_between_two_sims_of_one_world_whose_squares_share_an_edge() {
    let mut place = alone();
    let square = |x, y| Square { x, y, doublings: 0 };
    let refusals = [
        (on(square(4, 0), world_id()), BorderRefusal::Apart),
        (on(square(2, 2), world_id()), BorderRefusal::Apart),
        (on(square(2, 0), SimId(Digest::ZERO)), BorderRefusal::OtherWorld),
        (Genesis { site: None, ..genesis(1, 1) }, BorderRefusal::OtherWorld),
        (place.genesis.clone(), BorderRefusal::Itself),
    ];
    for (other, why) in refusals {
        assert_eq!(ordered(&mut place, &head_of(&other)), bad(why));
    }
    let mut head = genesis(1, 1).head();
    head.validators.clear();
    let order = BorderOrder::Open { head: Box::new(head), offices: Vec::new(), portal: None };
    assert_eq!(ordered(&mut place, &order), bad(BorderRefusal::BadHead));
    let neighbour = genesis(1, 1).id();
    for order in [BorderOrder::Close { neighbour }, BorderOrder::Sever { neighbour }] {
        assert_eq!(ordered(&mut place, &order), bad(BorderRefusal::NoBorder));
    }
    let stray = place.act(public(ADMIN), 1, Act::Border { order: BlobId(Digest::ZERO) });
    place.play(50);
    assert_eq!(place.outcome(&stray), Outcome::Refused(Refusal::NoBlob));
    let words = place.blob_order(Blob(vec![9; 9]));
    place.play(50);
    assert_eq!(place.outcome(&words), bad(BorderRefusal::NoOrder));

    // Only admins order anything.
    place.login(public(1));
    let blob = head_of(&genesis(1, 1)).blob();
    let act = Act::Border { order: blob.id() };
    let act = place.with_blob(public(1), act, blob);
    place.play(50);
    assert_eq!(place.outcome(&act), Outcome::Refused(Refusal::NotAdmin));
    assert_eq!(place.world.borders(), []);
    assert_eq!(ordered(&mut place, &head_of(&genesis(1, 1))), Outcome::Ok);
    assert_eq!(place.world.borders()[0].wall, Some(Wall::Unheard));
    // Whoever reads the record of orders sees who did it.
    let deed = OrderedDeed::Border { word: "open".to_owned(), neighbour };
    let deeds: Vec<_> = place.world.orders().map(|(_, order)| order.deed.clone()).collect();
    assert_eq!(deeds, [deed]);

    // A sim that lies nowhere has no border.
    let mut nowhere = Place::new(Genesis { site: None, ..genesis(0, 1) }, 5);
    nowhere.login(public(ADMIN));
    nowhere.play(50);
    assert_eq!(ordered(&mut nowhere, &head_of(&genesis(1, 1))), bad(BorderRefusal::OtherWorld));
}

/// A genesis names its world for ever. Between a sim that was founded before its land office had a successor,
/// and its neighbour, no border was opened any more.
#[test]
fn sims_of_a_world_and_of_those_that_carry_it_on_are_neighbours() {
    let office = |n: u8, parent: Option<&GenesisHead>| {
        let square = Square { x: 8, y: 8, doublings: 0 };
        let founding = OfficeFounding { square, holder: public(n), beacons: vec![public(8)] };
        let head = Genesis { site: None, office: Some(founding), ..genesis(1, 1) }.head();
        let parent = parent.map(|parent| HeadParent {
            sim: parent.id(),
            height: Height(7),
            root: Root(Digest::ZERO),
        });
        GenesisHead { parent, ..head }
    };
    let mut offices = vec![office(1, None)];
    for n in 2..=BORDER_OFFICES_MAX as u8 + 2 {
        offices.insert(0, office(n, offices.first()));
    }
    let world = |n: usize| offices[n].id();
    // Offices from the newest on, of which the oldest ones founded these sims.
    let neighbour = on(Square { x: 2, y: 0, doublings: 0 }, world(BORDER_OFFICES_MAX));
    let older = on(Square { x: 0, y: 2, doublings: 0 }, world(BORDER_OFFICES_MAX + 1));
    let mut place = alone();
    let follow = |place: &mut Place, world: SimId| {
        let act = Act::Amend { name: "world".to_owned(), value: world.to_string() };
        let act = place.act(public(ADMIN), 1, act);
        place.play(50);
        assert_eq!(place.outcome(&act), Outcome::Ok);
    };
    follow(&mut place, world(0));
    let open = |of: &Genesis, offices: &[GenesisHead]| BorderOrder::Open {
        head: Box::new(of.head()),
        offices: offices.to_vec(),
        portal: None,
    };
    let all = &offices[..BORDER_OFFICES_MAX];
    for lie in [&[], &all[1..], &all[..3], &offices[..BORDER_OFFICES_MAX + 1], &[all, all].concat()]
    {
        let said = ordered(&mut place, &open(&neighbour, lie));
        assert_eq!(said, bad(BorderRefusal::OtherWorld), "{} heads", lie.len());
    }
    let said = ordered(&mut place, &open(&older, &offices[..BORDER_OFFICES_MAX + 1]));
    assert_eq!(said, bad(BorderRefusal::OtherWorld), "more heads than an order may have");
    assert_eq!(ordered(&mut place, &open(&neighbour, all)), Outcome::Ok);
    // To follow the successor of an office is not to lie in all worlds.
    let before = on(Square { x: 2, y: 0, doublings: 0 }, world_id());
    assert_eq!(ordered(&mut place, &open(&before, all)), bad(BorderRefusal::OtherWorld));
}

#[test]
fn the_land_office_of_a_world_is_a_neighbour_like_any_other() {
    let square = Square { x: 2, y: 0, doublings: 0 };
    let office = OfficeFounding { square, holder: public(9), beacons: vec![public(8)] };
    let mut office = Genesis { site: None, office: Some(office), ..genesis(1, 1) };
    office.parameters.ground = Area::of_square(square);
    let site = Site { world: office.id(), square: Square { x: 0, y: 0, doublings: 0 } };
    let mut place = Place::new(Genesis { site: Some(site), ..genesis(0, 1) }, 5);
    place.login(public(ADMIN));
    place.play(50);
    assert_eq!(ordered(&mut place, &head_of(&office)), Outcome::Ok);
}

#[test]
fn a_sim_has_so_many_borders_and_no_more_and_a_sim_without_any_has_no_leaf_of_them() {
    // A square of 1,024 m, with small ones along its southern edge.
    let own = Square { x: 0, y: 0, doublings: 4 };
    let mut large = genesis(0, 1);
    large.parameters.ground = Area::of_square(own);
    large.site = Some(Site { world: world_id(), square: own });
    let mut place = Place::new(large, 1_700_000_000_000);
    place.login(public(ADMIN));
    place.play(50);
    let is_border = |key: &str| key.starts_with("neighbour/") || key.starts_with("parcel/");
    let leaves = |place: &Place| {
        let manifest = place.world.manifest();
        manifest.leaves.iter().filter(|leaf| is_border(&leaf.key.0)).count()
    };
    assert_eq!(leaves(&place), 0);
    let beside = |n: i32| {
        on(Square { x: 2 * (n % 16), y: if n < 16 { -2 } else { 32 }, doublings: 0 }, world_id())
    };
    for n in 0..BORDERS_MAX as i32 {
        assert_eq!(ordered(&mut place, &head_of(&beside(n))), Outcome::Ok, "{n}");
    }
    assert_eq!(ordered(&mut place, &head_of(&beside(16))), bad(BorderRefusal::TooMany));
    // One that is there is opened again, and closed ones keep their places: their numbers go on.
    let neighbour = beside(0).id();
    assert_eq!(ordered(&mut place, &BorderOrder::Close { neighbour }), Outcome::Ok);
    assert_eq!(ordered(&mut place, &head_of(&beside(16))), bad(BorderRefusal::TooMany));
    assert_eq!(ordered(&mut place, &head_of(&beside(0))), Outcome::Ok);
    assert_eq!(leaves(&place), 2 * BORDERS_MAX);
    assert_eq!(place.world.root(), place.world.rehash());
}

/// A town of two in which both have heard of one another; gives the newest word of the west for the east.
fn heard() -> (Vec<Place>, Dispatch) {
    let mut town = town(2, 4);
    step(&mut town, 50);
    step(&mut town, 1_000);
    town[0].idle(1);
    town[1].play(1_000);
    let followed = town[1].followed(town[0].id());
    let dispatch = town[0].dispatch(town[1].id(), followed).expect("a word");
    (town, dispatch)
}

/// Has the east hear something of the west in a turn of its own.
fn hears(town: &mut [Place], dispatch: &Dispatch) -> Outcome {
    let west = town[0].id();
    let act = town[1].hear(west, dispatch);
    town[1].play(1_000);
    town[1].outcome(&act)
}

#[test]
fn what_does_not_count_is_refused_with_its_reason_and_changes_nothing() {
    let (mut town, word) = heard();
    let west = town[0].id();
    let before = town[1].world.borders();
    let check = |town: &[Place], dispatch: &Dispatch| town[1].world.check_dispatch(west, dispatch);
    let with = |change: &dyn Fn(&mut Dispatch)| {
        let mut forged = word.clone();
        change(&mut forged);
        forged
    };
    let state = |change: &dyn Fn(&mut metatopia_types::DispatchedState)| {
        with(&|forged: &mut Dispatch| change(forged.state.as_mut().expect("a state")))
    };
    let links = |count: usize| {
        let state = word.state.as_ref().expect("a state");
        let (header, certificate) = (state.header.clone(), state.certificate.clone());
        vec![Link { header, certificate, next: vec![] }; count]
    };
    let forgeries = [
        (state(&|state| state.certificate.signatures.truncate(2)), HearRefusal::NotCertified),
        (state(&|state| state.header.time.0 += 1), HearRefusal::NotCertified),
        (state(&|state| state.said.content[1] ^= 1), HearRefusal::NotProved),
        (state(&|state| state.said.key = said_key(west)), HearRefusal::OtherLeaf),
        (with(&|forged| forged.links = links(DISPATCH_LINKS_MAX + 1)), HearRefusal::TooMuch),
        (with(&|forged| forged.state = None), HearRefusal::NothingNew),
    ];
    for (forged, why) in forgeries {
        assert_eq!(check(&town, &forged), Err(why));
        assert_eq!(hears(&mut town, &forged), refused(why));
    }
    // Of nobody that it has a border to, by nobody who is a server, and of no bytes that are a dispatch.
    let own = town[1].id();
    let act = town[1].hear(own, &word);
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), refused(HearRefusal::NoBorder));
    let blob = word.blob();
    let act = Act::Hear { neighbour: west, dispatch: blob.id() };
    let act = town[1].with_blob(public(7), act, blob);
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), refused(HearRefusal::NotServer));
    let blob = Blob(vec![1; 40]);
    let act = Act::Hear { neighbour: west, dispatch: blob.id() };
    let server = town[1].proposer();
    let act = town[1].with_blob(server, act, blob);
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), refused(HearRefusal::NoDispatch));
    let heard = |borders: &[metatopia_sim::BorderSummary]| borders[0].heard;
    assert_eq!(heard(&town[1].world.borders()), heard(&before));

    // The real one counts once.
    assert_eq!(check(&town, &word), Ok(Worth::Time));
    assert_eq!(hears(&mut town, &word), Outcome::Ok);
    assert_eq!(hears(&mut town, &word), refused(HearRefusal::NothingNew));
}

#[test]
fn a_word_that_tells_the_time_alone_counts_once_in_a_while_and_news_at_once() {
    let (mut town, _) = heard();
    let west = town[0].id();
    town[0].idle(3);
    let act = tell(&mut town, 0, 1).expect("a word");
    town[1].play(PULSE_MS);
    assert_eq!(town[1].outcome(&act), Outcome::Ok);
    let news = town[0].world.dispatch_news(&town[1].id());
    town[0].idle(3);
    assert_eq!(town[0].world.dispatch_news(&town[1].id()), news);
    let act = tell(&mut town, 0, 1).expect("a word");
    town[1].play(PULSE_MS - 1);
    assert_eq!(town[1].outcome(&act), refused(HearRefusal::NothingNew));

    // Somebody comes near the line: that is news.
    town[0].login(public(1));
    town[0].idle(3);
    assert_ne!(town[0].world.dispatch_news(&town[1].id()), news);
    let dispatch = town[0].dispatch(town[1].id(), town[1].followed(west)).expect("a word");
    assert_eq!(town[1].world.check_dispatch(west, &dispatch), Ok(Worth::News));
    assert_eq!(hears(&mut town, &dispatch), Outcome::Ok);
}

#[test]
fn a_turn_checks_so_many_signatures_of_neighbours_and_no_more() {
    let (mut town, word) = heard();
    let state = word.state.as_ref().expect("a state");
    let (header, mut certificate) = (state.header.clone(), state.certificate.clone());
    let one = certificate.signatures[0];
    certificate.signatures = vec![one; HEARD_SIGNATURES_PER_TURN_MAX / 16 + 1];
    let link = Link { header, certificate, next: vec![] };
    let large = Dispatch { links: vec![link; 16], ..word };
    assert_eq!(hears(&mut town, &large), refused(HearRefusal::TooMuch));
}

#[test]
fn two_states_of_one_height_close_a_border_for_good() {
    let (mut town, _) = heard();
    let (west, east) = (town[0].id(), town[1].id());
    let word = town[0].dispatch(east, town[1].followed(west)).expect("a word");
    assert_eq!(hears(&mut town, &word), Outcome::Ok);
    // The servers of the west sign another header of that height.
    let mut fork = word;
    let state = fork.state.as_mut().expect("a state");
    state.header.time.0 += 1;
    let height = state.header.height;
    let set = town[0].world.validators(height.plus(1)).expect("the same set").clone();
    state.certificate = town[0].certify(&state.header, &set);
    assert_eq!(town[1].world.check_dispatch(west, &fork), Ok(Worth::Fork));
    assert_eq!(hears(&mut town, &fork), Outcome::Ok);
    assert_eq!(town[1].world.borders()[0].wall, Some(Wall::Frozen));
    town[0].idle(3);
    let act = tell(&mut town, 0, 1).expect("a word");
    town[1].play(1_000);
    assert_eq!(town[1].outcome(&act), refused(HearRefusal::Frozen));
    let open = head_of(&town[0].genesis);
    assert_eq!(ordered(&mut town[1], &open), bad(BorderRefusal::Frozen));
    assert_eq!(town[1].world.root(), town[1].world.rehash());
}

#[test]
fn whoever_votes_is_followed_by_links_that_come_with_a_word_or_before_it() {
    let mut town = town(2, 6);
    step(&mut town, 50);
    let (west, east) = (town[0].id(), town[1].id());
    // Two servers of the west leave, one after the other, and the east hears nothing of it.
    for n in [105, 104] {
        town[0].act(public(ADMIN), 1, Act::SetChange(SetChange::Remove { key: public(n) }));
        town[0].idle(6);
    }
    town[1].play(1_000);
    let followed = town[1].followed(west);
    let word = town[0].dispatch(east, followed).expect("a word");
    assert_eq!((word.links.len(), town[0].links.len()), (2, 2));
    let unlinked = Dispatch { links: vec![], ..word.clone() };
    assert_eq!(town[1].world.check_dispatch(west, &unlinked), Err(HearRefusal::Unfollowed));
    let later = Dispatch { links: word.links[1..].to_vec(), ..word.clone() };
    assert_eq!(town[1].world.check_dispatch(west, &later), Err(HearRefusal::Unfollowed));
    assert_eq!(town[1].world.check_dispatch(west, &word), Ok(Worth::Links));

    let first = Dispatch { links: word.links[..1].to_vec(), state: None };
    assert_eq!(hears(&mut town, &first), Outcome::Ok);
    assert_eq!(town[1].followed(west), word.links[0].header.height);
    assert_eq!(hears(&mut town, &first), refused(HearRefusal::NothingNew));
    // What was followed is passed over, and the rest leads on.
    assert_eq!(hears(&mut town, &word), Outcome::Ok);
    assert_eq!(town[1].world.borders()[0].validators.len(), 4);
}

#[test]
fn only_a_neighbour_that_was_silent_for_a_day_is_given_up_and_the_border_waits_for_it() {
    let (mut town, _) = heard();
    let neighbour = town[1].id();
    let sever = BorderOrder::Sever { neighbour };
    assert_eq!(ordered(&mut town[0], &sever), bad(BorderRefusal::NotSilent));
    let at = town[0].world.borders()[0].heard_at.expect("heard").0;
    town[0].time = at + SILENCE_MS - 51;
    assert_eq!(ordered(&mut town[0], &sever), bad(BorderRefusal::NotSilent));
    // The admin was away for a day.
    town[0].login(public(ADMIN));
    assert_eq!(ordered(&mut town[0], &sever), Outcome::Ok);
    assert_eq!(town[0].world.borders()[0].wall, Some(Wall::Severed));
    assert_eq!(ordered(&mut town[0], &sever), bad(BorderRefusal::Severed));
    // Once it is back and has taken the epoch up, the border opens by itself.
    for _ in 0..8 {
        step(&mut town, 1_000);
    }
    assert_eq!(town[0].world.borders()[0].wall, None);
    assert_eq!(town[1].world.borders()[0].wall, None);
}

#[test]
fn passes_are_for_those_who_are_not_here_and_find_a_place() {
    let (mut town, _) = heard();
    let (ada, from) = (public(1), town[0].id());
    town[0].login(ada);
    town[1].login(ada);
    for _ in 0..4 {
        step(&mut town, 50);
    }
    let act = town[1].act(ada, 1, Act::Approach { from, work: None });
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), Outcome::Ok);
    let pass = |town: &[Place]| {
        let border = town[1].world.border(&town[0].id()).expect("a border");
        let passes = &border.crossing.said.passes;
        passes.iter().find(|pass| pass.person == ada).expect("an answer").refused
    };
    assert_eq!(pass(&town), Some(PassRefusal::Here));
    town[1].act(ada, 1, Act::Leave);
    town[1].play(50);
    town[1].act(ada, 1, Act::Approach { from, work: None });
    town[1].play(50);
    assert_eq!(pass(&town), None);
    // A ban takes the pass, and tells her at the line.
    let reason = String::new();
    for (order, told) in [
        (GovernOrder::Ban { key: ada, seconds: None, reason }, Some(PassRefusal::Banned)),
        (GovernOrder::Unban { key: ada }, Some(PassRefusal::Banned)),
    ] {
        let act = town[1].act(public(ADMIN), 1, Act::Govern(order));
        town[1].play(50);
        assert_eq!((town[1].outcome(&act), pass(&town)), (Outcome::Ok, told));
    }
    town[1].act(ada, 1, Act::Approach { from, work: None });
    town[1].play(50);
    assert_eq!(pass(&town), None);
    // Of a sim without a border nobody comes.
    let act = town[1].act(ada, 1, Act::Approach { from: SimId(Digest::ZERO), work: None });
    town[1].play(50);
    assert_eq!(town[1].outcome(&act), Outcome::Refused(Refusal::NoBorder));
    let order = BorderOrder::Close { neighbour: from };
    town[1].order(&order);
    town[1].play(50);
    town[1].act(ada, 1, Act::Approach { from, work: None });
    town[1].play(50);
    assert_eq!(pass(&town), Some(PassRefusal::Closed));
}

#[test]
fn a_full_sim_says_so_before_the_line() {
    let mut full = genesis(1, 1);
    full.parameters.avatars_max = 1;
    let mut town =
        vec![Place::new(genesis(0, 1), 1_700_000_000_000), Place::new(full, 1_800_000_000_000)];
    for place in &mut town {
        place.login(public(ADMIN));
        place.play(50);
    }
    for (own, other) in [(0, 1), (1, 0)] {
        let order = head_of(&town[other].genesis);
        assert_eq!(ordered(&mut town[own], &order), Outcome::Ok);
    }
    town[0].login(public(1));
    for _ in 0..5 {
        step(&mut town, 50);
    }
    let from = town[0].id();
    town[1].act(public(1), 1, Act::Approach { from, work: None });
    town[1].play(50);
    let passes = &town[1].world.border(&from).expect("a border").crossing.said.passes;
    assert_eq!(passes[0].refused, Some(PassRefusal::Full));
}

#[test]
fn people_near_are_named_and_answered_up_to_a_number() {
    let (mut town, _) = heard();
    let from = town[0].id();
    let many = PEOPLE_NEAR_MAX as u8 + 8;
    // They come in two waves, so that more ask than are named at once.
    let mut asked = 0;
    for wave in [0..many, many..2 * many, 2 * many..3 * many] {
        let people: Vec<PublicKey> = wave.map(|n| public(n + 1)).collect();
        people.iter().for_each(|person| town[0].login(*person));
        for _ in 0..8 {
            step(&mut town, 50);
        }
        // Who is nearest may be somebody else in the next turn: they push one another.
        let border = town[1].world.border(&from).expect("a border");
        let heard = border.crossing.heard.as_ref().expect("a word");
        let named: Vec<PublicKey> = heard.said.near.iter().map(|near| near.person).collect();
        assert_eq!(named.len(), PEOPLE_NEAR_MAX);
        let acts: Vec<SignedEnvelope> = named
            .iter()
            .map(|person| town[1].act(*person, 1, Act::Approach { from, work: None }))
            .collect();
        town[1].play(50);
        for act in acts {
            asked += 1;
            let full = town[1].outcome(&act) == Outcome::Refused(Refusal::Full);
            let answered = town[1].outcome(&act) == Outcome::Ok;
            assert!(answered || (full && asked > PASSES_MAX), "{asked}: {}", town[1].outcome(&act));
        }
        named.iter().for_each(|person| drop(town[0].act(*person, 1, Act::Leave)));
        step(&mut town, 50);
    }
    let passes = &town[1].world.border(&from).expect("a border").crossing.said.passes;
    assert!(passes.len() <= PASSES_MAX && passes.len() > PEOPLE_NEAR_MAX, "{}", passes.len());
}

#[test]
fn a_state_with_somebody_under_way_and_somebody_behind_the_line_is_restored_bit_by_bit() {
    let (mut town, _) = heard();
    let people = [public(1), public(2)];
    people.iter().for_each(|person| town[0].login(*person));
    let east = Vec2::new(metatopia_math::Fx::ONE, metatopia_math::Fx::ZERO);
    let mut restored = 0;
    for _ in 0..200 {
        people.iter().for_each(|person| crate::town::drive(&mut town, *person, east));
        step(&mut town, 50);
        let world = &town[0].world;
        let border = &world.borders()[0];
        let beyond = |person: &PublicKey| {
            town[0].place_of(person).is_some_and(|place| place.x > metatopia_math::Fx::from_int(32))
        };
        if border.under_way == 0 && !people.iter().any(beyond) {
            continue;
        }
        let tools = Tools::new(std::sync::Arc::new(metatopia_types::Ed25519));
        let again = World::from_snapshot(&world.snapshot(), world.root(), &tools);
        assert_eq!(again.expect("the same state").root(), world.root());
        restored += 1;
    }
    assert!(restored > 2, "{restored}");
    assert!(town[1].world.avatar(&people[0]).is_some());
    // A parcel of a later format names its format.
    assert!(matches!(metatopia_types::Parcel::decode(&[9]), Err(ParcelError::Decode(_))));
}
