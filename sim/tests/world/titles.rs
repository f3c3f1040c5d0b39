//! Titles to land: an admin says who may build where, and the sim keeps to it from the next act on.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::{Area, limits::LANDS_MAX};
use metatopia_types::{Act, Build, GovernOrder, GroundArea, Outcome, Refusal, RoleRight, Title};

use crate::{
    building::{block, built, refused, site},
    yard::{Builder, Yard, public, vec2},
};

const ADMIN: u8 = 100;
const ADA: u8 = 1;
const BOB: u8 = 2;

/// The ground between two and six metres east, where Ada and Bob can reach it.
const GREEN: GroundArea = GroundArea { x: 2, y: -2, width: 4, depth: 4 };

fn set(name: &str, area: GroundArea, title: Title) -> Act {
    Act::Govern(GovernOrder::SetLand { name: name.to_owned(), area, title })
}

fn remove(name: &str) -> Act {
    Act::Govern(GovernOrder::RemoveLand { name: name.to_owned() })
}

/// Says whether somebody may build on the green; takes away again what was built.
fn builds(yard: &mut Yard, n: u8) -> bool {
    match built(yard, n, Build::Place(block(3, 0))) {
        Outcome::Made(object) => {
            assert_eq!(built(yard, n, Build::Delete { object }), Outcome::Ok);
            true
        }
        outcome => {
            assert_eq!(outcome, refused(Refusal::ClosedLand));
            false
        }
    }
}

/// A yard whose ground is open, as it was founded.
fn open_yard() -> Yard {
    let mut builder = Builder::new();
    builder.genesis.parameters.building.open_ground = true;
    site(&mut builder)
}

#[test]
fn an_admin_says_who_builds_where_and_takes_it_back() {
    let mut yard = open_yard();
    let who_builds = |yard: &mut Yard| [ADA, BOB].map(|n| builds(yard, n));
    assert_eq!(who_builds(&mut yard), [true, true]);
    for (title, right) in [
        (Title::Sim, [false, false]),
        (Title::Player(public(ADA)), [true, false]),
        (Title::Open, [true, true]),
        (Title::Sim, [false, false]),
    ] {
        assert_eq!(yard.try_act(ADMIN, set("green", GREEN, title)), Outcome::Ok);
        assert_eq!(who_builds(&mut yard), right, "{title}");
    }
    assert_eq!(yard.try_act(ADMIN, remove("green")), Outcome::Ok);
    assert_eq!(who_builds(&mut yard), [true, true]);
    assert_eq!(yard.world.orders().count(), 5, "all of them are told");
    yard.check_leaves();
}

#[test]
fn a_new_land_lies_on_top_and_one_that_is_set_again_stays_where_it_is() {
    let mut yard = open_yard();
    let all = GroundArea { x: -10, y: -10, width: 20, depth: 20 };
    for (name, area, title) in [("all", all, Title::Sim), ("green", GREEN, Title::Open)] {
        assert_eq!(yard.try_act(ADMIN, set(name, area, title)), Outcome::Ok);
    }
    assert!(builds(&mut yard, ADA));
    // The lower one becomes another, and does not come to lie on top by that.
    let owner = Title::Player(public(BOB));
    assert_eq!(yard.try_act(ADMIN, set("all", all, owner)), Outcome::Ok);
    assert!(builds(&mut yard, ADA));
    let names: Vec<&str> = yard.world.lands().iter().map(|land| land.name.as_str()).collect();
    assert_eq!(names, ["all", "green"]);
    let (low, high) = (Vec2::new(Fx::from_int(2), Fx::from_int(-2)), vec2(6, 2));
    assert_eq!(yard.world.lands()[1].area, Area { low, high });
}

#[test]
fn lands_that_cannot_be_are_refused_by_name() {
    let mut yard = open_yard();
    assert_eq!(yard.try_act(ADMIN, set("green", GREEN, Title::Sim)), Outcome::Ok);
    let far = GroundArea { x: 100_000, ..GREEN };
    let none = GroundArea { width: 0, ..GREEN };
    for (act, why) in [
        (set("", GREEN, Title::Open), Refusal::BadText),
        (set("two\nlines", GREEN, Title::Open), Refusal::BadText),
        (set("far", far, Title::Open), Refusal::OutOfRange),
        (set("none", none, Title::Open), Refusal::OutOfRange),
        (set("green", GREEN, Title::Sim), Refusal::AlreadySo),
        (set("hers", GREEN, Title::Player(public(77))), Refusal::NoPlayer),
        (remove("park"), Refusal::NoLand),
    ] {
        assert_eq!(yard.try_act(ADMIN, act.clone()), refused(why), "{act:?}");
    }
    // It is a change of the charter, which no role but that of stewards lets.
    assert_eq!(yard.try_act(ADA, remove("green")), refused(Refusal::NotAdmin));
    let rights = [RoleRight::Land].into();
    let grant = GovernOrder::Grant { key: public(ADA), rights, seconds: None };
    assert_eq!(yard.try_act(ADMIN, Act::Govern(grant)), Outcome::Ok);
    assert_eq!(yard.try_act(ADA, remove("green")), refused(Refusal::NotAdmin));
}

#[test]
fn a_sim_has_so_many_lands_and_no_more() {
    let mut yard = open_yard();
    for n in 0..LANDS_MAX {
        assert_eq!(yard.try_act(ADMIN, set(&format!("land {n}"), GREEN, Title::Sim)), Outcome::Ok);
    }
    let more = set("one more", GREEN, Title::Sim);
    assert_eq!(yard.try_act(ADMIN, more.clone()), refused(Refusal::ListFull));
    // One that is there can still become another.
    assert_eq!(yard.try_act(ADMIN, set("land 3", GREEN, Title::Open)), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, remove("land 5")), Outcome::Ok);
    assert_eq!(yard.try_act(ADMIN, more), Outcome::Ok);
    yard.check_leaves();
}
