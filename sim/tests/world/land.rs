//! A land office: who gets a square of its world, and who does not.

use metatopia_sim::{Area, GenesisError, LandClaims, World};
use metatopia_types::{
    Blob, GenesisHead, Height, LandOrder, LandProof, LeafKey, Millis, OfficeFounding, Outcome,
    PublicKey, Refusal, Site, Square, SquareError, TilePoint, limits::BEACONS_MAX,
};

use crate::{
    land_office::{
        ADMIN, BEACON, claim, claim_by, free_office, granted, head_of, holder, office,
        office_builder, order, ordered, refused, sim_on, square, visited,
    },
    succession::successor,
    yard::{Builder, Yard, public, vec2},
};

#[test]
fn a_land_office_lies_in_its_own_world_and_its_square_is_granted_for_ever() {
    let yard = office();
    let world = &yard.world;
    let site = Site { world: world.sim(), square: square(0, 0) };
    assert_eq!(world.charter().site, Some(site));
    assert!(world.charter().is_office());
    let grants: Vec<_> = world.grants().collect();
    assert_eq!(grants.len(), 1);
    assert_eq!((grants[0].sim, grants[0].holder), (world.sim(), public(ADMIN)));
    assert_eq!((grants[0].until, grants[0].shown), (Millis(u64::MAX), Height(0)));
    assert_eq!(world.root(), world.rehash());
}

#[test]
fn a_sim_that_is_no_land_office_has_no_shelves_and_refuses_orders() {
    let mut yard = Builder::new().build();
    yard.login(1);
    yard.play();
    let order = claim(&yard, 1, square(2, 0), None);
    assert_eq!(ordered(&mut yard, 1, &order), refused(Refusal::NoLandOffice));
    let leaves = yard.world.manifest().leaves;
    let of_land = |key: &LeafKey| ["grant", "land"].iter().any(|kind| key.0.starts_with(kind));
    assert!(!leaves.iter().any(|leaf| of_land(&leaf.key)));
    assert!(yard.world.map_shelves().is_none() && yard.world.grants().next().is_none());
}

#[test]
fn a_neighbour_vouches_for_a_claim_and_the_claimer_becomes_a_neighbour() {
    let mut yard = office();
    let first = claim(&yard, 1, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    assert_eq!(holder(&yard.world, square(2, 0)), Some(public(1)));

    let second = claim(&yard, 2, square(2, 2), Some(1));
    assert_eq!(ordered(&mut yard, 2, &second), Outcome::Ok);

    let sims = [(0, 0), (2, 0), (2, 2)].map(|(x, y)| match (x, y) {
        (0, 0) => yard.world.sim(),
        (2, 0) => head_of(&yard, 1, square(x, y)).id(),
        _ => head_of(&yard, 2, square(x, y)).id(),
    });
    assert_eq!(granted(&yard.world).into_values().collect::<Vec<_>>(), sims);
    assert_eq!(yard.world.land_week().expect("an office").granted, 2);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

fn epoch_of(world: &World, square: Square) -> u64 {
    world.grant_at(TilePoint::corner(square)).expect("granted").epoch
}

/// A claim with a rule of the office that it breaks.
fn wrong_claims(yard: &Yard) -> Vec<(LandOrder, Refusal)> {
    let at = |x, y, doublings| claim(yard, 1, Square { x, y, doublings }, Some(ADMIN));
    let head = |change: &dyn Fn(&mut GenesisHead)| {
        let mut head = head_of(yard, 1, square(2, 0));
        change(&mut head);
        claim_by(yard, 1, head, Some(ADMIN))
    };
    let site = |world| Some(Site { world, square: square(2, 0) });
    let of_other = Builder::new().genesis.id();
    let beacons = |beacons| {
        let LandOrder::Claim { head, sponsor, .. } = at(2, 0, 0) else { panic!("a claim") };
        LandOrder::Claim { head, beacons, sponsor }
    };
    let many: Vec<PublicKey> = (0..=BEACONS_MAX as u8).map(|n| public(50 + n)).collect();
    vec![
        (at(3, 0, 0), Refusal::BadSquare),
        (at(0, 0, 5), Refusal::BadSquare),
        (at(i32::MAX, 0, 0), Refusal::BadSquare),
        (at(0, 0, 0), Refusal::LandTaken(yard.world.sim())),
        (at(-32, -32, 4), Refusal::Untouched),
        (at(0, 0, 4), Refusal::LandTaken(yard.world.sim())),
        (at(2, 2, 0), Refusal::Untouched),
        (at(i32::MIN, i32::MIN, 4), Refusal::Untouched),
        (at(i32::MAX - 31, i32::MAX - 31, 4), Refusal::Untouched),
        (at(i32::MAX - 1, 0, 0), Refusal::Untouched),
        (head(&|head| head.site = site(of_other)), Refusal::NotOfWorld),
        (head(&|head| head.validators.clear()), Refusal::NotOfWorld),
        (head(&|head| head.admins.push(head.admins[0])), Refusal::NotOfWorld),
        (head(&|head| head.admins = vec![public(2)]), Refusal::NotItsAdmin),
        (beacons(vec![]), Refusal::BadBeacons),
        (beacons(many), Refusal::BadBeacons),
        (beacons(vec![public(50), public(50)]), Refusal::BadBeacons),
        (beacons(vec![PublicKey([0; 32])]), Refusal::BadBeacons),
        (claim(yard, 1, square(2, 0), None), Refusal::NoSponsor),
        (claim(yard, 1, square(2, 0), Some(2)), Refusal::NoSponsor),
    ]
}

#[test]
fn a_claim_that_breaks_a_rule_is_refused_by_its_name_and_changes_nothing() {
    let mut yard = office();
    for (order, refusal) in wrong_claims(&yard) {
        assert_eq!(ordered(&mut yard, 1, &order), refused(refusal), "{order:?}");
    }
    let far = LandOrder::Claim {
        head: GenesisHead { site: None, ..head_of(&yard, 1, square(2, 0)) },
        beacons: vec![public(BEACON)],
        sponsor: None,
    };
    assert_eq!(ordered(&mut yard, 1, &far), refused(Refusal::NotOfWorld));
    let noise = yard.order(1, Blob(vec![0xff; 9]));
    yard.play();
    assert_eq!(yard.outcome(&noise), refused(Refusal::BadOrder));
    let nobody = claim(&yard, 9, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 9, &nobody), refused(Refusal::NotLoggedIn));
    assert_eq!(granted(&yard.world).len(), 1);
}

#[test]
fn nobody_claims_for_a_sim_of_somebody_else() {
    let mut yard = office();
    // The head of somebody's genesis is public, and so is the word of its sponsor.
    let theirs = claim(&yard, 2, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &theirs), refused(Refusal::NotItsAdmin));
    let mine = claim_by(&yard, 1, head_of(&yard, 2, square(2, 0)), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &mine), refused(Refusal::NotItsAdmin));
}

#[test]
fn who_loses_a_race_is_told_who_has_the_square() {
    let mut yard = free_office();
    let orders = [1, 2].map(|n| claim(&yard, n, square(8, 8), None));
    let acts = [1, 2].map(|n| order(&mut yard, n, &orders[usize::from(n) - 1]));
    yard.play();

    let winner = yard.world.grant_at(TilePoint { x: 8, y: 8 }).expect("one of them").sim;
    let mut outcomes = acts.map(|act| yard.outcome(&act));
    outcomes.sort_by_key(|outcome| !outcome.is_done());
    assert_eq!(outcomes, [Outcome::Ok, refused(Refusal::LandTaken(winner))]);
    // Also who claims a part of it, or ground around it, and the winner itself again.
    for (n, doublings) in [(3, 1), (3, 2)] {
        let order = claim(&yard, n, Square { x: 8, y: 8, doublings }, None);
        assert_eq!(ordered(&mut yard, n, &order), refused(Refusal::LandTaken(winner)));
    }
    let own = usize::from(yard.world.grants().any(|grant| grant.holder == public(2)));
    let again = ordered(&mut yard, 1 + own as u8, &orders[own]);
    assert_eq!(again, refused(Refusal::LandTaken(winner)));
    let large = claim(&yard, 3, Square { x: -16, y: -16, doublings: 3 }, None);
    assert_eq!(ordered(&mut yard, 3, &large), Outcome::Ok);
    let inside = claim(&yard, 4, square(-2, -16), None);
    let taken = head_of(&yard, 3, Square { x: -16, y: -16, doublings: 3 }).id();
    assert_eq!(ordered(&mut yard, 4, &inside), refused(Refusal::LandTaken(taken)));
}

#[test]
fn squares_at_the_ends_of_the_plane_are_granted_and_touch_nothing_beyond() {
    let mut yard = free_office();
    let (low, high) = (i32::MIN, i32::MAX);
    let corners = [(low, low), (high - 1, low), (low, high - 1), (high - 1, high - 1)];
    for (x, y) in corners {
        let order = claim(&yard, 1, square(x, y), None);
        assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
    }
    for (x, y) in corners {
        let grant = yard.world.grant_at(TilePoint { x: x + 1, y: y + 1 }).expect("granted");
        assert_eq!(grant.square, square(x, y));
    }
    assert_eq!(yard.world.root(), yard.world.rehash());

    // The plane has ends: what lies at the one touches nothing at the other.
    yard.try_act(
        ADMIN,
        metatopia_types::Act::Amend { name: "land_claims".to_owned(), value: "beside".to_owned() },
    );
    let beside = claim(&yard, ADMIN, square(low + 2, low), None);
    assert_eq!(ordered(&mut yard, ADMIN, &beside), Outcome::Ok);
    let across = claim(&yard, ADMIN, square(low, high - 33), None);
    assert_eq!(ordered(&mut yard, ADMIN, &across), refused(Refusal::Untouched));
}

#[test]
fn a_holder_vouches_once_a_week_and_so_does_a_square() {
    let mut yard = office();
    let (admin_word, own) = (Some(ADMIN), Some(1));
    let first = claim(&yard, 1, square(2, 0), admin_word);
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    let second = claim(&yard, 2, square(4, 0), own);
    assert_eq!(ordered(&mut yard, 2, &second), Outcome::Ok);

    let third = claim(&yard, 3, square(2, 2), own);
    assert_eq!(ordered(&mut yard, 3, &third), refused(Refusal::SponsorUsed));
    // The square speaks no second time by another holder.
    let give = LandOrder::Give { square: square(2, 0), holder: public(5) };
    assert_eq!(ordered(&mut yard, 1, &give), Outcome::Ok);
    let fourth = claim(&yard, 3, square(2, 2), Some(5));
    assert_eq!(ordered(&mut yard, 3, &fourth), refused(Refusal::SponsorUsed));
    // An admin vouches as often as needed, for any square that touches granted land.
    let fifth = claim(&yard, 3, square(2, 2), admin_word);
    assert_eq!(ordered(&mut yard, 3, &fifth), Outcome::Ok);
    let sixth = claim(&yard, 4, square(4, 2), admin_word);
    assert_eq!(ordered(&mut yard, 4, &sixth), Outcome::Ok);
}

#[test]
fn a_word_is_for_one_claim_of_one_key() {
    let mut yard = office();
    let LandOrder::Claim { sponsor, .. } = claim(&yard, 1, square(2, 0), Some(ADMIN)) else {
        panic!("a claim")
    };
    let head = head_of(&yard, 2, square(2, 0));
    let stolen = LandOrder::Claim { head, beacons: vec![public(BEACON)], sponsor };
    assert_eq!(ordered(&mut yard, 2, &stolen), refused(Refusal::NoSponsor));
    let head = head_of(&yard, 1, square(0, 2));
    let elsewhere = LandOrder::Claim { head, beacons: vec![public(BEACON)], sponsor };
    assert_eq!(ordered(&mut yard, 1, &elsewhere), refused(Refusal::NoSponsor));
}

#[test]
fn a_key_holds_two_squares_and_is_given_no_third() {
    let mut yard = free_office();
    let amend = |value: &str| metatopia_types::Act::Amend {
        name: "land_per_key".to_owned(),
        value: value.to_owned(),
    };
    yard.try_act(ADMIN, amend("2"));
    for x in [10, 20] {
        let order = claim(&yard, 1, square(x, 0), None);
        assert_eq!(ordered(&mut yard, 1, &order), Outcome::Ok);
    }
    let third = claim(&yard, 1, square(30, 0), None);
    assert_eq!(ordered(&mut yard, 1, &third), refused(Refusal::TooManySquares));
    let theirs = claim(&yard, 2, square(40, 0), None);
    assert_eq!(ordered(&mut yard, 2, &theirs), Outcome::Ok);
    let gift = LandOrder::Give { square: square(40, 0), holder: public(1) };
    assert_eq!(ordered(&mut yard, 2, &gift), refused(Refusal::TooManySquares));
    let nobody = LandOrder::Give { square: square(40, 0), holder: public(77) };
    assert_eq!(ordered(&mut yard, 2, &nobody), refused(Refusal::NoPlayer));

    let release = LandOrder::Release { square: square(10, 0) };
    assert_eq!(ordered(&mut yard, 1, &release), Outcome::Ok);
    assert_eq!(ordered(&mut yard, 2, &gift), Outcome::Ok);
    assert_eq!(holder(&yard.world, square(40, 0)), Some(public(1)));
    assert_eq!(holder(&yard.world, square(10, 0)), None);
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn an_office_may_close_its_claims_to_all_but_its_admins() {
    let mut builder = office_builder();
    builder.genesis.parameters.land_claims = LandClaims::Nobody;
    let mut yard = visited(&builder);
    let order = claim(&yard, 1, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &order), refused(Refusal::NoClaims));
    let own = claim(&yard, ADMIN, square(20, 0), None);
    assert_eq!(ordered(&mut yard, ADMIN, &own), Outcome::Ok);
}

#[test]
fn only_who_holds_a_square_changes_its_beacons_gives_it_or_gives_it_back() {
    let mut yard = office();
    let first = claim(&yard, 1, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    let at = square(2, 0);
    let orders = [
        LandOrder::SetBeacons { square: at, beacons: vec![public(60), public(61)] },
        LandOrder::Give { square: at, holder: public(3) },
        LandOrder::Release { square: at },
    ];
    for order in &orders {
        assert_eq!(ordered(&mut yard, 2, order), refused(Refusal::NotYours));
    }
    let none = LandOrder::SetBeacons { square: at, beacons: vec![] };
    assert_eq!(ordered(&mut yard, 1, &none), refused(Refusal::BadBeacons));

    let claimed = epoch_of(&yard.world, at);
    assert_eq!(ordered(&mut yard, 1, &orders[0]), Outcome::Ok);
    let grant = yard.world.grant_at(TilePoint::corner(at)).expect("granted");
    assert_eq!((grant.epoch, grant.beacons.len()), (claimed + 1, 2));
    assert_eq!(ordered(&mut yard, 1, &orders[1]), Outcome::Ok);
    assert_eq!(ordered(&mut yard, 1, &orders[2]), refused(Refusal::NotYours));
    assert_eq!(ordered(&mut yard, 3, &orders[2]), Outcome::Ok);
    assert_eq!(ordered(&mut yard, 3, &orders[2]), refused(Refusal::NoGrant));
    // A square around the office's own is another one.
    let around = LandOrder::Release { square: Square { x: 0, y: 0, doublings: 1 } };
    assert_eq!(ordered(&mut yard, ADMIN, &around), refused(Refusal::NoGrant));
    let office = LandOrder::Release { square: square(0, 0) };
    assert_eq!(ordered(&mut yard, ADMIN, &office), refused(Refusal::OfficeStays));
}

/// A sim whose beacons once contradicted themselves released its square and claimed it again. Its grant had
/// the epoch of the first one, so the evidence of then convicted the beacons of now.
#[test]
fn a_square_that_is_claimed_again_has_a_higher_epoch_than_it_ever_had() {
    let mut yard = office();
    let at = square(2, 0);
    let claims = claim(&yard, 1, at, Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &claims), Outcome::Ok);
    let beacons = LandOrder::SetBeacons { square: at, beacons: vec![public(60), public(61)] };
    assert_eq!(ordered(&mut yard, 1, &beacons), Outcome::Ok);
    let highest = epoch_of(&yard.world, at);
    assert_eq!(ordered(&mut yard, 1, &LandOrder::Release { square: at }), Outcome::Ok);
    assert_eq!(ordered(&mut yard, 1, &claims), Outcome::Ok);
    let epoch = epoch_of(&yard.world, at);
    assert!(epoch > highest, "{epoch} after {highest}");
}

#[test]
fn a_square_passes_to_the_successor_that_its_holder_names() {
    let mut yard = office();
    let at = square(2, 0);
    let first = claim(&yard, 1, at, Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    let before = head_of(&yard, 1, at).id();
    let mut head = sim_on(yard.world.sim(), at, 2, 4).head();
    let parent = metatopia_types::HeadParent {
        sim: before,
        height: Height(7),
        root: metatopia_types::Root(metatopia_types::Digest([3; 32])),
    };
    let succeed = |head: &GenesisHead| LandOrder::Succeed { square: at, head: head.clone() };
    assert_eq!(ordered(&mut yard, 1, &succeed(&head)), refused(Refusal::NotSuccessor));
    head.parent = Some(parent);
    let elsewhere = Some(Site { world: yard.world.sim(), square: square(4, 0) });
    let other = GenesisHead { site: elsewhere, ..head.clone() };
    assert_eq!(ordered(&mut yard, 1, &succeed(&other)), refused(Refusal::NotSuccessor));
    let nobody = GenesisHead { validators: vec![], ..head.clone() };
    assert_eq!(ordered(&mut yard, 1, &succeed(&nobody)), refused(Refusal::NotSuccessor));
    // Anybody can found a sim that calls itself a successor.
    assert_eq!(ordered(&mut yard, 2, &succeed(&head)), refused(Refusal::NotYours));

    let claimed = epoch_of(&yard.world, at);
    assert_eq!(ordered(&mut yard, 1, &succeed(&head)), Outcome::Ok);
    let grant = yard.world.grant_at(TilePoint::corner(at)).expect("granted");
    assert_eq!((grant.sim, grant.epoch, grant.holder), (head.id(), claimed + 1, public(1)));
    assert!(yard.world.granted(&before).is_none());
    assert_eq!(yard.world.granted(&head.id()).expect("it has").validators.len(), 4);
    // The old sim, which has no square now, may claim one again; the new one has one.
    assert_eq!(ordered(&mut yard, 1, &first), refused(Refusal::LandTaken(head.id())));
}

#[test]
fn a_genesis_of_a_land_office_or_of_a_sim_with_a_square_keeps_to_its_ground() {
    let fault = |change: &dyn Fn(&mut Builder)| {
        let mut builder = office_builder();
        change(&mut builder);
        World::genesis(&builder.genesis, &builder.tools()).expect_err("a fault")
    };
    let site = Site { world: Builder::new().genesis.id(), square: square(2, 2) };
    assert_eq!(fault(&|builder| builder.genesis.site = Some(site)), GenesisError::OfficeSite);
    let beacons = |count: usize| {
        move |builder: &mut Builder| {
            let office = builder.genesis.office.as_mut().expect("an office");
            office.beacons = vec![public(1); count];
        }
    };
    assert_eq!(fault(&beacons(0)), GenesisError::OfficeBeacons(0));
    assert_eq!(fault(&beacons(BEACONS_MAX + 1)), GenesisError::OfficeBeacons(BEACONS_MAX + 1));
    let unaligned = |builder: &mut Builder| {
        let office = builder.genesis.office.clone().expect("an office");
        builder.genesis.office = Some(OfficeFounding { square: square(1, 0), ..office });
    };
    let corner = SquareError::Corner { x: 1, y: 0, side: 2 };
    assert_eq!(fault(&unaligned), GenesisError::Site(corner));

    let (low, high) = (vec2(-32, -32), vec2(31, 32));
    let narrow = |builder: &mut Builder| builder.genesis.parameters.ground = Area { low, high };
    let half = Area::of_square(square(0, 0)).high.x;
    assert_eq!(fault(&narrow), GenesisError::GroundOffSquare { low, high, half });
    let sited = |builder: &mut Builder| {
        (builder.genesis.office, builder.genesis.site) = (None, Some(site));
        narrow(builder);
    };
    assert_eq!(fault(&sited), GenesisError::GroundOffSquare { low, high, half });
    let large = Square { x: -32, y: 0, doublings: 4 };
    assert_eq!(Area::of_square(large), Area { low: vec2(-512, -512), high: vec2(512, 512) });
}

#[test]
fn the_successor_of_an_office_is_another_world_with_the_same_grants() {
    let builder = office_builder();
    let mut yard = visited(&builder);
    let first = claim(&yard, 1, square(2, 0), Some(ADMIN));
    assert_eq!(ordered(&mut yard, 1, &first), Outcome::Ok);
    let claimed = epoch_of(&yard.world, square(2, 0));
    let founding = OfficeFounding {
        square: square(0, 0),
        holder: public(7),
        beacons: vec![public(BEACON + 1)],
    };
    let mut genesis = successor(&yard.world);
    (genesis.site, genesis.office) = (None, Some(founding));
    let world = World::succeed(&genesis, &yard.world, &builder.tools()).expect("a successor");

    assert_eq!(world.charter().site.map(|site| site.world), Some(world.sim()));
    let sims: Vec<_> = world.grants().map(|grant| (grant.sim, grant.epoch)).collect();
    assert_eq!(sims, [(world.sim(), 2), (head_of(&yard, 1, square(2, 0)).id(), claimed)]);
    assert_eq!(holder(&world, square(0, 0)), Some(public(7)));
    assert_eq!(world.root(), world.rehash());

    let other = OfficeFounding { square: square(2, 2), ..genesis.office.clone().expect("one") };
    let moved = metatopia_sim::Genesis { office: Some(other), ..genesis.clone() };
    let error = World::succeed(&moved, &yard.world, &builder.tools()).expect_err("moved");
    assert_eq!(error, GenesisError::NotKept("site"));
    let elsewhere = Site { world: yard.world.sim(), square: square(0, 0) };
    let plain = metatopia_sim::Genesis { office: None, site: Some(elsewhere), ..genesis };
    let error = World::succeed(&plain, &yard.world, &builder.tools()).expect_err("no office");
    assert_eq!(error, GenesisError::NotKept("land office"));
}

#[test]
fn a_snapshot_of_an_office_goes_on_as_the_office_does() {
    let builder = office_builder();
    let mut yard = visited(&builder);
    for (n, x) in [(1, 2), (2, 4), (3, 6)] {
        let sponsor = if n == 1 { ADMIN } else { n - 1 };
        let order = claim(&yard, n, square(x, 0), Some(sponsor));
        assert_eq!(ordered(&mut yard, n, &order), Outcome::Ok);
    }
    let world = &yard.world;
    let restored = World::from_snapshot(&world.snapshot(), world.root(), &builder.tools());
    let mut restored = Yard::of(restored.expect("its own"));
    assert_eq!(restored.world.root(), world.root());
    assert_eq!(restored.world.grants().count(), 4);

    // What is not in the leaves, the indexes, is the same too.
    let give = LandOrder::Give { square: square(2, 0), holder: public(4) };
    yard.order(1, give.blob());
    let turn = yard.turn();
    for world in [&mut yard.world, &mut restored.world] {
        world.apply(&turn, &metatopia_sim::Serial);
    }
    assert_eq!(yard.world.root(), restored.world.root());
    assert_eq!(restored.world.root(), restored.world.rehash());
}

#[test]
fn proofs_of_land_name_their_block_and_refuse_what_is_no_shelf() {
    let yard = office();
    let shelves = yard.world.map_shelves().expect("an office");
    let shelf = shelves.proof(TilePoint { x: 5, y: 5 });
    assert_eq!(shelf.verify(yard.world.root()), Ok(()));
    assert_eq!(shelf.key, LeafKey("grants".to_owned()));
    assert!(LandProof::decode(&shelf.content).is_err());
}
