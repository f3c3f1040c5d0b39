//! What is told of things that people build.

use metatopia_client::Sight;
use metatopia_math::{Angle, Fx, Vec2};
use metatopia_types::*;

use crate::stand::{Stand, Watcher};

/// Returns what somebody builds beside a place, of a size that is as many eighths of a metre.
fn crate_at(place: Vec2, name: &str, eighths: i64) -> Act {
    let half = Fx::from_ratio(eighths, 16);
    Act::Build(Build::Place(Blueprint {
        kind: "crate".to_owned(),
        name: name.to_owned(),
        text: String::new(),
        color: 0,
        outline: Outline::Box { half: Vec2::new(half, half) },
        movable: true,
        position: place,
        angle: Angle::ZERO,
        licence: AssetLicence::default(),
        parts: OutlineParts::default(),
    }))
}

/// Whoever looks is told of the material by its numbers, which the sim and the client state both.
#[test]
fn a_thing_is_seen_to_be_of_the_material_that_its_builder_named() {
    let mut stand = Stand::new();
    stand.enter();
    stand.turns(30);
    stand.turn(&[Act::Walk { heading: Vec2::ZERO }]);
    let me = stand.world().avatar(&Stand::visitor().public()).expect("logged in");
    let here = stand.world().place(me).expect("an avatar");
    for (n, (word, _)) in (2..).zip(BuiltMaterial::ALL) {
        stand.turn(&[crate_at(here.saturating_add(Vec2::new(Fx::ONE, Fx::ONE)), word, n)]);
        stand.turns(10);
    }
    let built = |stand: &Stand, word: &str| {
        stand.world().objects().find(|seen| seen.name == word).expect("it was built").id
    };
    for (word, material) in BuiltMaterial::ALL {
        let object = built(&stand, word);
        stand.turn(&[Act::Build(Build::MakeOf { object, material })]);
        stand.turns(10);
    }
    let mut sight = Sight::of(Stand::visitor().public());
    sight.apply(&stand.view(&mut Watcher::default(), &stand.tiles())).expect("an honest view");
    let scene = sight.scene(here, Fx::from_int(40), 1_000);
    for (word, material) in BuiltMaterial::ALL {
        let object = scene.objects.iter().find(|object| object.name == word).expect("in sight");
        assert_eq!(object.material, Some(material), "{word}");
        assert!(!object.travels && object.guest.is_none());
    }
    let avatar = scene.objects.iter().find(|object| object.id == me).expect("in sight");
    assert_eq!(avatar.material, None, "a person is of none of them");
}
