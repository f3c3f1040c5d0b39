//! The thirteen defects of the C++ original, each as a test that it would fail.

use metatopia_math::Stream;
use metatopia_raynet::{
    CellEstimator, ExactPlane, Extent, GossipLayer, Overlay, OverlayFrameError, OverlayMessage,
    Rays, SiteName, SiteTip, TilePoint, limits::MISSES_MAX,
};
use metatopia_types::{Square, wire::DecodeError};

use crate::town::{CYCLE, Lone, Town, exchange, grant, grid, key, record, signed, square};

const CELLS: ExactPlane = ExactPlane { extent: Extent::PLANE };

/// A ring of eight around the origin, and twelve beyond it.
fn ring_and_beyond() -> Vec<[i64; 2]> {
    let ring = [[4, 0], [3, 3], [0, 4], [-3, 3], [-4, 0], [-3, -3], [0, -4], [3, -3]];
    let beyond = (0..12).map(|index| [20 + index, 7 * index - 40]);
    ring.into_iter().chain(beyond).collect()
}

/// 1. It sorted by usefulness the wrong way round, and kept those of least use.
#[test]
fn those_without_whom_the_cell_would_grow_most_are_kept() {
    let places = ring_and_beyond();
    assert_eq!(CELLS.neighbours([0, 0], &places, 24), (0..8).collect::<Vec<_>>());
    let rays = Rays::new(&[1; 32], 300, [-100, -100], [100, 100]);
    assert_eq!(rays.neighbours([0, 0], &places, 8), (0..8).collect::<Vec<_>>());
    // Of nine, the one that can be spared best is dropped: it hides behind its twin.
    let mut twins = places[..8].to_vec();
    twins.push([41, 2]);
    assert_eq!(CELLS.neighbours([0, 0], &twins, 8), (0..8).collect::<Vec<_>>());
}

/// 2. It compared angles in degrees with angles in radians, and lost their quadrant.
#[test]
fn neighbours_in_all_quadrants_and_on_the_axes_are_found() {
    for turned in [
        [5, 1],
        [1, 5],
        [-1, 5],
        [-5, 1],
        [-5, -1],
        [-1, -5],
        [1, -5],
        [5, -1],
        [0, 5],
        [0, -5],
        [5, 0],
        [-5, 0],
    ] {
        let behind = turned.map(|coordinate: i64| 3 * coordinate);
        let found = CELLS.neighbours([0, 0], &[behind, turned], 24);
        assert_eq!(found, [1], "{turned:?} hides what is behind it");
        let rays = Rays::new(&[2; 32], 64, [-9, -9], [9, 9]);
        assert_eq!(rays.neighbours([0, 0], &[behind, turned], 24), [1], "{turned:?} by rays");
    }
}

/// 3. Its rays were dense at the poles.
#[test]
fn rays_favour_no_axis() {
    let rays = Rays::<3>::new(&[3; 32], 4_000, [-1_000; 3], [1_000; 3]);
    let cut = |axis: usize| {
        let mut place = [0_i64; 3];
        place[axis] = 200;
        rays.volume([0; 3], &[place])
    };
    let (x, y, z) = (cut(0), cut(1), cut(2));
    for (one, other) in [(x, y), (y, z), (z, x)] {
        assert!(one.abs_diff(other) < one / 10, "{x} {y} {z}");
    }
}

/// 4. The Voronoi layer ignored what the Kleinberg layer knew.
#[test]
fn a_site_known_in_one_layer_is_a_neighbour_when_it_should_be() {
    let grants = [grant(0, square(0, 0)), grant(1, square(20, 0)), grant(2, square(200, 0))];
    let mut lone = Lone::new(&grants);
    lone.give(metatopia_raynet::OverlayInput::Up(key(2)));
    lone.show(2, &signed(2, square(200, 0)));
    let OverlayMessage::Exchange(mut half) = exchange(2, square(200, 0), Vec::new()) else {
        unreachable!("an exchange")
    };
    half.layer = GossipLayer::Samples;
    lone.hear(2, &OverlayMessage::Exchange(half));
    let (samples, neighbours) = (lone.member.samples().count(), lone.member.neighbours().count());
    assert_eq!((samples > 0, neighbours, lone.member.long_links().count()), (true, 1, 1));
}

/// Returns a member that met twenty sites to the east.
fn well_connected() -> (Lone, Vec<Square>) {
    let squares: Vec<Square> = (0..21).map(|number| square(8 * number, 0)).collect();
    let grants: Vec<_> =
        squares.iter().enumerate().map(|(number, square)| grant(number, *square)).collect();
    let mut lone = Lone::new(&grants);
    for (number, square) in squares.iter().enumerate().skip(1) {
        lone.meet(number, *square);
    }
    (lone, squares)
}

fn answer_to(lone: &mut Lone, from: usize, square: Square) -> metatopia_raynet::TipExchange {
    let said = lone.hear(from, &exchange(from, square, Vec::new()));
    let answers = said.into_iter().find_map(|(_, message)| match message {
        OverlayMessage::Answer(half) => Some(half),
        _ => None,
    });
    answers.expect("an exchange is answered")
}

/// 5. It sent whatever was first in its view, without its last one.
#[test]
fn a_partner_is_told_of_those_nearest_to_it() {
    let (mut lone, squares) = well_connected();
    let far = *squares.last().expect("there are 21");
    let tips = answer_to(&mut lone, 20, far).tips;
    let middle = TilePoint::middle(far).expect("a square");
    let distance =
        |tip: &SiteTip| TilePoint::middle(tip.square).expect("a square").distance_squared(middle);
    let told: Vec<u128> = tips.iter().map(distance).collect();
    assert!(told.is_sorted() && !told.is_empty(), "{told:?}");
    assert!(tips.iter().all(|tip| tip.name != Town::name(20)), "not of itself");
    let records =
        lone.member.neighbours().chain(lone.member.long_links()).chain(lone.member.samples());
    let mut known: Vec<u128> =
        records.map(|record| distance(&record.tip())).filter(|distance| *distance > 0).collect();
    known.sort_unstable();
    known.dedup();
    known.truncate(told.len());
    assert_eq!(told, known);
}

/// 6. It answered a message of the Voronoi layer with Kleinberg links.
#[test]
fn an_answer_is_of_the_layer_of_its_question() {
    let (mut lone, squares) = well_connected();
    assert_eq!(answer_to(&mut lone, 3, squares[3]).layer, GossipLayer::Neighbours);
    let OverlayMessage::Exchange(mut half) = exchange(3, squares[3], Vec::new()) else { return };
    half.layer = GossipLayer::Samples;
    let said = lone.hear(3, &OverlayMessage::Exchange(half));
    let layers = said.iter().find_map(|(_, message)| match message {
        OverlayMessage::Answer(half) => Some(half.layer),
        _ => None,
    });
    assert_eq!(layers, Some(GossipLayer::Samples));
}

/// 7. It dropped a routed message that was for somebody else: all routes had one hop.
#[test]
fn a_route_goes_on_from_site_to_site_until_it_arrives() {
    let squares: Vec<Square> = (0..40).map(|number| square(64 * number, 0)).collect();
    let mut town = Town::begun(squares);
    town.run(20);
    for goal in [39, 25, 12] {
        let answer = town.look_up(0, TilePoint::middle(square(64 * goal, 0)).expect("a square"));
        let metatopia_raynet::LookupOutcome::Owned { grant, endpoints } = &answer.outcome else {
            panic!("{answer:?}")
        };
        assert_eq!(SiteName::of(grant.sim), Town::name(goal as usize));
        assert_eq!(endpoints, &[crate::town::endpoint(goal as usize)]);
    }
}

/// 8. It wrote the point of a message over its length.
#[test]
fn every_message_is_read_as_it_was_written() {
    for (_, message) in crate::wire::messages() {
        assert_eq!(OverlayMessage::decode(&message.encode()), Ok(message));
    }
}

/// 9. It failed when two nodes shared a point, and its view could grow past its size.
#[test]
fn sites_at_one_point_do_no_harm_and_views_stay_within_their_bound() {
    let mut places = vec![[0, 0]; 30];
    assert_eq!(CELLS.neighbours([0, 0], &places, 24), Vec::<usize>::new());
    places.extend([[9, 0]; 30]);
    assert_eq!(CELLS.neighbours([0, 0], &places, 24), [30]);
    let many = (0..60).map(|index| {
        let (x, y) = [(60, 0), (0, 60), (-60, 0), (0, -60)][index % 4];
        let shift = index as i64 / 4 - 7;
        if x == 0 { [shift * 4, y + shift.abs()] } else { [x + shift.abs(), shift * 4] }
    });
    let many: Vec<[i64; 2]> = many.collect();
    assert!(CELLS.choose([0, 0], &many, 10, 24).len() <= 24);
    assert_eq!(TilePoint::default().octave(TilePoint::default()), 0);
}

/// 10. It had no timeout, and never took a descriptor out for its age.
#[test]
fn a_silent_neighbour_is_given_up_after_a_few_questions() {
    let mut lone = Lone::new(&[grant(0, square(0, 0)), grant(1, square(20, 0))]);
    lone.meet(1, square(20, 0));
    let mut asked = 0;
    for _ in 0..600 {
        let effects = lone.pass(CYCLE / 10);
        asked += effects.into_iter().filter_map(crate::town::said).count();
        if lone.member.neighbours().count() == 0 {
            break;
        }
    }
    assert_eq!(lone.member.neighbours().count(), 0);
    assert_eq!(lone.member.counts().buried, 1);
    assert!(asked >= usize::from(MISSES_MAX), "{asked}");
}

/// 11. Distances were whole numbers, coordinates were floats, and memory went over the wire as it was.
#[test]
fn coordinates_are_exact_and_the_wire_has_one_form() {
    let (west, east) = (TilePoint { x: i32::MIN, y: 0 }, TilePoint { x: i32::MAX, y: 1 });
    assert_eq!(west.distance_squared(east), u128::from(u32::MAX).pow(2) + 1);
    let mut bytes = OverlayMessage::Want(vec![Town::name(1)]).encode();
    bytes.push(0);
    assert_eq!(
        OverlayMessage::decode(&bytes),
        Err(OverlayFrameError::Decode(DecodeError::NotCanonical))
    );
}

/// 12. Two threads changed its views, and one of them took no lock.
#[test]
fn a_member_is_one_value_that_only_its_owner_changes() {
    fn moves<T: Send>(value: T) -> T {
        value
    }
    let lone = moves(Lone::new(&[grant(0, square(0, 0))]).member);
    let (before, again) = (Overlay::digest(&lone), Overlay::digest(&lone));
    assert_eq!(before, again);
}

/// 13. To change one's position used a member that did not exist, so nobody ever had.
#[test]
fn a_site_that_moves_is_looked_for_at_its_new_square() {
    let squares = [square(0, 0), square(20, 0), square(400, 0), square(420, 0)];
    let mut grants: Vec<_> =
        squares.iter().enumerate().map(|(number, square)| grant(number, *square)).collect();
    let mut lone = Lone::new(&grants);
    for (number, square) in squares.iter().enumerate().skip(1) {
        lone.meet(number, *square);
    }
    let moved = square(440, 0);
    grants[0] = grant(0, moved);
    let mut own = record(0, moved);
    own.epoch.grant = 2;
    let own = own.sign(&crate::town::beacon(0));
    lone.give(metatopia_raynet::OverlayInput::Own(Box::new(own)));
    assert_eq!(lone.member.at(), TilePoint { x: 441, y: 1 });
    let nearer = lone.member.nearer(TilePoint { x: 421, y: 1 }, 3);
    assert_eq!(nearer[0].name(), Town::name(3));
}

/// A grid has four sites around each corner, so that all distances are equal there.
#[test]
fn co_circular_sites_have_their_straight_neighbours() {
    let mut stream = Stream::new(&[9; 32], "grid", &[]);
    for _ in 0..20 {
        let apart = 1 + stream.below(1 << 20) as i64;
        let places: Vec<[i64; 2]> =
            (-2..=2).flat_map(|x| (-2..=2).map(move |y| [x * apart, y * apart])).collect();
        let found = CELLS.neighbours([0, 0], &places, 24);
        assert_eq!(found, [7, 11, 13, 17], "apart by {apart}");
    }
    assert_eq!(grid(2, 3).len(), 4);
}
