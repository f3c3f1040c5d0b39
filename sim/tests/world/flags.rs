//! Feature flags: every server switches one on in the same turn, and scripts ask for it.

use metatopia_physics::Motion;
use metatopia_sim::{
    FeatureFlags, FeatureFlagsError, Parameters, ParametersError, limits::FLAGS_MAX,
};
use metatopia_types::{Act, Height, ObjectId, Outcome, Refusal};

use crate::yard::{Builder, Yard};

const ADMIN: u8 = 100;
const PLAYER: u8 = 1;

/// Says in each turn whether the market is open.
const STALL: &str = "
fn on_tick(dt) { self_.text = if flag(\"market\") { \"open\" } else { \"shut\" }; }
";

fn set(value: &str) -> Act {
    Act::Amend { name: "flags".to_owned(), value: value.to_owned() }
}

fn yard() -> Yard {
    let mut builder = Builder::new();
    let stall = builder.package("stall", STALL);
    builder.thing(Motion::Static, (4, 4), &[stall]);
    builder.build()
}

fn sign(yard: &Yard) -> String {
    yard.world.object(ObjectId(1)).expect("the stall stands there").text
}

#[test]
fn a_script_sees_a_flag_from_the_agreed_turn_on_and_until_it_is_taken_away() {
    let mut yard = yard();
    yard.login(ADMIN);
    let from = yard.world.height().0 + 5;
    assert_eq!(yard.try_act(ADMIN, set(&format!("+market:{from}"))), Outcome::Ok);
    while yard.world.height().0 + 1 < from {
        yard.idle(1);
        assert_eq!(sign(&yard), "shut", "at {}", yard.world.height());
    }
    yard.idle(1);
    assert_eq!((yard.world.height().0, sign(&yard).as_str()), (from, "open"));
    assert_eq!(yard.try_act(ADMIN, set("+fair:0")), Outcome::Ok);
    assert_eq!(sign(&yard), "open", "another flag changes nothing");
    assert_eq!(yard.try_act(ADMIN, set("+market:none")), Outcome::Ok);
    assert_eq!(sign(&yard), "shut");
    yard.check_leaves();
}

#[test]
fn a_genesis_with_too_many_flags_is_refused() {
    let all = (0..=FLAGS_MAX).map(|n| (format!("f{n}"), Height(1))).collect();
    let parameters = Parameters { flags: FeatureFlags(all), ..Parameters::default() };
    let many = FeatureFlagsError::TooMany(FLAGS_MAX + 1);
    assert_eq!(parameters.check(), Err(ParametersError::Flags(many)));
}

#[test]
fn admins_alone_change_flags_and_a_wrong_list_changes_nothing() {
    let mut yard = yard();
    yard.login(ADMIN);
    yard.login(PLAYER);
    assert_eq!(yard.try_act(PLAYER, set("+market:0")), Outcome::Refused(Refusal::NotAdmin));
    for wrong in ["market", "+Market:1", "+market:-1", "market:1,market:2"] {
        let refused = Outcome::Refused(Refusal::OutOfRange);
        assert_eq!(yard.try_act(ADMIN, set(wrong)), refused, "{wrong}");
    }
    assert_eq!(sign(&yard), "shut");
}
