//! One, two or three sites, all on a line, at the ends of the plane, and members without a site.

use metatopia_raynet::{LookupOutcome, Overlay, OverlayInput, TilePoint};
use metatopia_types::Square;

use crate::town::{Town, config, endpoint, key, square};

#[test]
fn a_site_alone_answers_for_its_own_land() {
    let mut town = Town::new(vec![square(0, 0)]);
    town.begin(0, &[]);
    town.run(3);
    assert!(town.view(0).is_empty());
    let answer = town.look_up(0, TilePoint { x: 1, y: 1 });
    assert!(matches!(answer.outcome, LookupOutcome::Owned { .. }), "{answer:?}");
    assert!(!answer.is_answered && answer.one_door);
}

#[test]
fn two_and_three_sites_know_each_other() {
    for count in [2, 3] {
        let mut town =
            Town::begun((0..count).map(|number| square(10 * number, 4 * (number % 2))).collect());
        town.run(8);
        for number in 0..count as usize {
            assert_eq!(town.view(number).len(), count as usize - 1);
        }
        let answer = town.look_up(0, TilePoint { x: 10 * (count - 1), y: 4 * ((count - 1) % 2) });
        assert!(matches!(answer.outcome, LookupOutcome::Owned { .. }), "{answer:?}");
    }
}

#[test]
fn sites_on_a_line_know_the_next_ones_on_both_sides() {
    let mut town = Town::begun((0..30).map(|number| square(6 * number, 0)).collect());
    town.run(12);
    for number in 1..29 {
        let view = town.view(number);
        assert!(view.contains(&(number - 1)) && view.contains(&(number + 1)), "{number}: {view:?}");
    }
}

#[test]
fn sites_at_the_ends_of_the_plane_find_each_other() {
    let far = i32::MAX - 1;
    let squares = vec![
        square(i32::MIN, i32::MIN),
        square(far, i32::MIN),
        square(i32::MIN, far),
        square(far, far),
        square(0, 0),
    ];
    let mut town = Town::begun(squares);
    town.run(10);
    for number in 0..5 {
        assert_eq!(town.view(number).len(), 4, "{number}");
    }
    let answer = town.look_up(0, TilePoint { x: i32::MAX, y: i32::MAX });
    let LookupOutcome::Owned { grant, .. } = answer.outcome else { panic!("{answer:?}") };
    assert_eq!(grant.square, square(far, far));
}

#[test]
fn a_large_square_among_small_ones_is_found_from_everywhere() {
    let mut squares = vec![Square { x: 0, y: 0, doublings: 4 }];
    for step in 0..16 {
        let at = 2 * step;
        squares.extend([square(at, -2), square(at, 32), square(-2, at), square(32, at)]);
    }
    let mut town = Town::begun(squares);
    town.run(20);
    for asker in [1, 20, 40, 64] {
        for point in
            [TilePoint { x: 0, y: 31 }, TilePoint { x: 31, y: 0 }, TilePoint { x: 16, y: 16 }]
        {
            let answer = town.look_up(asker, point);
            let LookupOutcome::Owned { grant, endpoints } = answer.outcome else {
                panic!("{answer:?}")
            };
            assert_eq!((grant.square.doublings, endpoints.len()), (4, 1));
        }
    }
}

#[test]
fn a_member_without_a_site_looks_up_and_is_in_nobodys_view() {
    let mut town = Town::begun((0..12).map(|number| square(10 * number, 0)).collect());
    town.run(6);
    // Number 11 leaves; its process comes back without a site.
    town.kill(11);
    town.run(4);
    town.members.insert(11, Overlay::new(config(11), town.now()));
    town.input(11, OverlayInput::Contacts(vec![endpoint(2)]));
    town.run(8);
    let answer = town.look_up(11, TilePoint { x: 50, y: 0 });
    let LookupOutcome::Owned { endpoints, .. } = answer.outcome else { panic!("{answer:?}") };
    assert_eq!(endpoints, [endpoint(5)]);
    for number in 0..11 {
        assert!(!town.view(number).contains(&11));
    }
    assert!(town.members[&11].good_contacts().iter().all(|contact| contact.peer != key(11)));
}
