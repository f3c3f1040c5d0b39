//! What a region is restored from in one piece is what it would be piece by piece.

use proptest::prelude::*;

use super::*;
use crate::fixed::Vector;
use crate::limits::{MASS_MAX, MASS_MIN};
use crate::{BodySpec, Compound, CompoundPart, Motion, Shape};

fn ids() -> impl Strategy<Value = Vec<ObjectId>> {
    let gap = prop_oneof![3 => Just(1_u64), 1 => 2..5_u64, 1 => Just(1 << 40)];
    prop::collection::vec(gap, 0..40).prop_map(|gaps| {
        let place = |n: usize| gaps[..n].iter().sum();
        (0..gaps.len()).map(|n| ObjectId(place(n))).collect()
    })
}

proptest! {
    #[test]
    fn contacts_miss_the_ends_that_a_search_for_each_does_not_find(
        ids in ids(),
        ends in prop::collection::btree_set((0..60_u64, 1..60_u64), 0..60),
    ) {
        let contact = |(a, more)| {
            Contact::bare(ObjectId(a), ObjectId(a + more))
        };
        let contacts: Vec<Contact> = ends.into_iter().map(contact).collect();
        let ends = contacts.iter().flat_map(|contact| [contact.a, contact.b]);
        let missing: Vec<ObjectId> = ends.filter(|id| !ids.contains(id)).collect();
        prop_assert_eq!(missing_ends(&ids, &contacts), missing);
    }

    #[test]
    fn a_grid_of_many_bodies_is_that_of_one_after_the_other(
        ids in ids(),
        places in prop::collection::vec((-1_000..1_000, -1_000..1_000, 1..200), 40),
    ) {
        let cells: Vec<Cell> = ids
            .iter()
            .zip(&places)
            .map(|(_, (x, y, radius))| {
                let metres = |bits: i32| Q20(bits << 20);
                Cell::of(Vector::new(metres(*x), metres(*y)), Q20(*radius << 19))
            })
            .collect();
        let mut one_by_one = Grid::default();
        for (cell, id) in cells.iter().zip(&ids) {
            one_by_one.insert(*cell, *id);
        }
        prop_assert_eq!(Grid::of(cells.iter().copied(), &ids), one_by_one);
    }
}

/// Builds a heap of all shapes, of light and heavy, small and large bodies, most of which fall fast.
fn heap() -> Region {
    let cm = |value: i64| Fx::from_ratio(value, 100);
    let mut region = Region::new().with_gravity(Vec2::new(Fx::ZERO, Fx::from_int(-10)));
    let bar = |x, y| Shape::Rect { half: Vec2::new(cm(x), cm(y)) };
    let mut put = |id: u64, spec: BodySpec| {
        region.insert(ObjectId(id), &spec).expect("a heap's bodies fit");
    };
    let wall = |shape, x, y| BodySpec::new(shape, Motion::Static, Vec2::new(cm(x), cm(y)));
    put(0, wall(bar(1_200, 100), 0, -100));
    put(1, wall(bar(100, 2_000), -950, 1_900));
    put(2, wall(bar(100, 2_000), 950, 1_900));
    let paddle = BodySpec::new(bar(300, 20), Motion::Kinematic, Vec2::new(Fx::ZERO, Fx::ONE));
    put(3, BodySpec { spin: Fx::ONE, ..paddle });
    for n in 0..200_i64 {
        let size = if n % 7 == 0 { 7 } else { 30 };
        let ball = Shape::Circle { radius: cm(size) };
        let crate_ = Shape::Rect { half: Vec2::new(cm(size), cm(30)) };
        let shape = match n % 4 {
            0 => ball,
            1 => Shape::Capsule { half: cm(size), radius: cm(20) },
            2 if n % 3 == 0 => {
                let part = CompoundPart::new(crate_).at(Vec2::new(cm(50), Fx::ZERO));
                Shape::Compound(Compound::new(&[CompoundPart::new(ball), part]).expect("parts"))
            }
            _ => crate_,
        };
        let at = Vec2::new(cm(n % 20 * 80 - 800), cm(n / 20 * 90 + 50));
        let mass = if n % 5 == 0 { MASS_MAX } else { MASS_MIN };
        let restitution = if n % 6 == 0 { Fx::HALF } else { Fx::ZERO };
        let velocity = Vec2::new(cm(n * 37 % 200 - 100), cm(n * 91 % 3_000 - 3_000));
        let spec =
            BodySpec { velocity, mass, restitution, ..BodySpec::new(shape, Motion::Dynamic, at) };
        put(n as u64 + 4, spec);
    }
    region
}

#[test]
fn contacts_in_blocks_come_to_the_same_bits_as_one_by_one() {
    let mut region = heap();
    let mut one_by_one = region.clone();
    (region.solver.wants_blocks, one_by_one.solver.wants_blocks) = (Some(true), Some(false));
    let mut most = 0;
    for step in 0..400 {
        region.step();
        one_by_one.step();
        most = most.max(region.contacts.len());
        assert_eq!(region.digest(), one_by_one.digest(), "step {step}");
    }
    assert!(most > 300, "{most} contacts are no heap");
}
