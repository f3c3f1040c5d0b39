//! What the shapes of built things may be: rods with round ends and convex polygons.

use metatopia_math::{Fx, Vec2};
use metatopia_sim::Shape;
use metatopia_types::{Blueprint, Build, Outcome, Outline, OutlineCorners, Refusal};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Builder, Yard, vec2},
};

/// A polygon of these corners.
fn polygon(corners: &[(i32, i32)]) -> Outline {
    let corners: Vec<Vec2> = corners.iter().map(|(x, y)| vec2(*x, *y)).collect();
    Outline::Polygon(OutlineCorners::new(&corners).expect("three to eight corners"))
}

#[test]
fn ramps_and_rods_are_built_resized_and_taken_back() {
    let mut yard = site(&mut Builder::new());
    let shape = |yard: &Yard, id| yard.world.object(id).expect("it is there").shape;
    let ramp = polygon(&[(-1, -1), (1, -1), (1, 1)]);
    let id = place(&mut yard, 1, Blueprint { outline: ramp, ..block(3, 4) });
    let Shape::Polygon(built_ramp) = shape(&yard, id) else { panic!("a polygon") };
    // Its centre of mass is a third of the way from the sides to the corners.
    let third = |n| Fx::from_ratio(n, 3);
    for (corner, (x, y)) in built_ramp.corners().zip([(-4, -2), (2, -2), (2, 4)]) {
        assert!(corner.distance(Vec2::new(third(x), third(y))) < Fx::from_ratio(1, 1_000));
    }

    let (half, radius) = (Fx::from_int(2), Fx::HALF);
    let rod = Outline::Capsule { half, radius };
    let resize = Build::Resize { object: id, outline: rod };
    assert_eq!(built(&mut yard, 1, resize), Outcome::Ok);
    assert_eq!(shape(&yard, id), Shape::Capsule { half, radius });
    assert_eq!(built(&mut yard, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    assert_eq!(shape(&yard, id), Shape::Polygon(built_ramp));
    assert_eq!(yard.world.root(), yard.world.rehash());
}

#[test]
fn corners_that_are_no_convex_polygon_are_refused_by_name() {
    let mut yard = site(&mut Builder::new());
    let id = place(&mut yard, 1, block(3, 4));
    let square = [(-1, -1), (1, -1), (1, 1), (-1, 1)];
    let mut clockwise = square;
    clockwise.reverse();
    for (outline, why) in [
        (polygon(&clockwise), Refusal::BadCorners),
        (polygon(&[(0, 0), (1, 0), (2, 0)]), Refusal::BadCorners),
        (polygon(&[(0, 0), (4, 0), (1, 1), (0, 4)]), Refusal::BadCorners),
        (polygon(&[(0, 0), (1_000, 0), (0, 1_000)]), Refusal::BadSize),
        (polygon(&[(-9, -9), (9, -9), (9, 9)]), Refusal::BadSize),
        (Outline::Capsule { half: Fx::ONE, radius: Fx::ZERO }, Refusal::BadSize),
        (Outline::Capsule { half: Fx::from_int(-1), radius: Fx::ONE }, Refusal::BadSize),
        (Outline::Capsule { half: Fx::MAX, radius: Fx::MAX }, Refusal::BadSize),
    ] {
        let place = Build::Place(Blueprint { outline, ..block(6, 4) });
        assert_eq!(built(&mut yard, 1, place), refused(why), "{outline:?}");
        let resize = Build::Resize { object: id, outline };
        assert_eq!(built(&mut yard, 1, resize), refused(why), "{outline:?}");
    }
}
