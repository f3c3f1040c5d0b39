//! What a region is restored from in one piece is what it would be piece by piece.

use proptest::prelude::*;

use super::*;
use crate::fixed::Vector;

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
