//! Grants on shelves against a model that looks at each of them: random orders, and every point proved.

use metatopia_math::Stream;
use metatopia_sim::World;
use metatopia_types::{
    Digest, LandGrant, LandOrder, PlaneBlock, PublicKey, SimId, Square, TilePoint,
    limits::SHELF_BYTES_MAX, shelf_block, wire,
};

use crate::{
    land_office::{claim_by, come, free_office, order, sim_on},
    yard::{Yard, public},
};

/// A grant of the model.
#[derive(Clone, Debug, PartialEq)]
struct Held {
    square: Square,
    sim: SimId,
    holder: PublicKey,
}

/// The corners of a square, in numbers that hold both ends of the plane.
fn span(square: Square) -> [i64; 4] {
    let (x, y) = (i64::from(square.x), i64::from(square.y));
    let side = 2_i64 << square.doublings;
    [x, y, x + side, y + side]
}

fn shares_ground(a: Square, b: Square) -> bool {
    let ([west, south, east, north], [left, low, right, high]) = (span(a), span(b));
    west < right && left < east && south < high && low < north
}

fn has(square: Square, point: TilePoint) -> bool {
    let [x, y, right, up] = span(square);
    (x..right).contains(&i64::from(point.x)) && (y..up).contains(&i64::from(point.y))
}

struct Dice(Stream);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    /// A point near the middle, near an end of the plane, or anywhere.
    fn point(&mut self) -> TilePoint {
        let near = |dice: &mut Self| dice.below(160) as i32 - 80;
        let along = |dice: &mut Self| match dice.below(5) {
            0 => i32::MIN.saturating_add(dice.below(70) as i32),
            1 => i32::MAX.saturating_sub(dice.below(70) as i32),
            2 => dice.below(1 << 32) as u32 as i32,
            _ => near(dice),
        };
        TilePoint { x: along(self), y: along(self) }
    }

    fn square(&mut self) -> Square {
        let doublings = self.below(5) as u8;
        let TilePoint { x, y } = PlaneBlock::around(self.point(), doublings + 1).corner;
        Square { x, y, doublings }
    }
}

/// Asks that the leaves of grants are apart, cover the plane, fit, and hold each its grants.
fn check_leaves(world: &World) {
    let mut area = 0_u128;
    let mut found = 0;
    for leaf in world.manifest().leaves {
        let Some(block) = shelf_block(&leaf.key) else {
            continue;
        };
        area += 1_u128 << (2 * u32::from(block.doublings));
        let content = world.leaf(&leaf.key).expect("a leaf of the manifest");
        assert!(content.len() <= SHELF_BYTES_MAX, "{} has {} B", leaf.key, content.len());
        let grants: Vec<LandGrant> = wire::decode(&content, content.len()).expect("grants");
        assert!(grants.iter().all(|grant| block.contains(TilePoint::corner(grant.square))));
        found += grants.len();
    }
    assert_eq!(area, 1 << 64, "the shelves are the plane");
    assert_eq!(found, world.grants().count());
}

/// Asks who holds a point, of the world and of the proof of its shelf.
fn check_point(world: &World, model: &[Held], point: TilePoint) {
    let held: Vec<&Held> = model.iter().filter(|held| has(held.square, point)).collect();
    assert!(held.len() < 2, "{held:?} share {point:?}");
    let expected = held.first().map(|held| (held.square, held.sim, held.holder));
    let told = |grant: &LandGrant| (grant.square, grant.sim, grant.holder);
    assert_eq!(world.grant_at(point).map(told), expected, "{point:?}");

    let shelves = world.map_shelves().expect("an office");
    let proof = shelves.proof(point);
    assert_eq!(proof.verify(world.root()), Ok(()), "{point:?}");
    let block = shelf_block(&proof.key).expect("a shelf");
    assert!(block.contains(point), "{block:?} holds {point:?}");
    let grants: Vec<LandGrant> = wire::decode(&proof.content, SHELF_BYTES_MAX).expect("grants");
    let proved = grants.iter().find(|grant| metatopia_types::holds(grant.square, point));
    assert_eq!(proved.map(told), expected, "{point:?}");
}

/// One random order, what the model says of it, and the player who gives it.
fn step(yard: &Yard, model: &mut Vec<Held>, dice: &mut Dice) -> (u8, LandOrder, bool) {
    let n = 1 + dice.below(5) as u8;
    let held = (!model.is_empty() && dice.below(3) == 0)
        .then(|| model[dice.below(model.len() as u64) as usize].clone());
    match held {
        Some(Held { square, holder, sim }) if sim != yard.world.sim() => {
            let own = holder == public(n);
            if dice.below(2) == 0 {
                let to = public(1 + dice.below(5) as u8);
                if own {
                    let held = model.iter_mut().find(|held| held.square == square);
                    held.expect("it was just there").holder = to;
                }
                return (n, LandOrder::Give { square, holder: to }, own);
            }
            if own {
                model.retain(|held| held.square != square);
            }
            (n, LandOrder::Release { square }, own)
        }
        _ => {
            let square = dice.square();
            let head = sim_on(yard.world.sim(), square, n, 1).head();
            let free = !model.iter().any(|held| shares_ground(held.square, square));
            if free {
                model.push(Held { square, sim: head.id(), holder: public(n) });
            }
            (n, claim_by(yard, n, head, None), free)
        }
    }
}

fn play(seed: u64) {
    println!("seed {seed}");
    let key = Digest::of("land model", &seed.to_le_bytes());
    let mut dice = Dice(Stream::new(&key.0, "land", &[seed]));
    let mut yard = free_office();
    let own = yard.world.grants().next().expect("its own").clone();
    let mut model = vec![Held { square: own.square, sim: own.sim, holder: own.holder }];
    for round in 0..220 {
        if round % 100 == 99 {
            come(&mut yard);
        }
        let (n, asked, expected) = step(&yard, &mut model, &mut dice);
        let act = order(&mut yard, n, &asked);
        yard.play();
        let outcome = yard.outcome(&act);
        assert_eq!(outcome.is_done(), expected, "seed {seed}, {asked:?}: {outcome:?}");
        let point = dice.point();
        check_point(&yard.world, &model, point);
        let held = &model[dice.below(model.len() as u64) as usize];
        check_point(&yard.world, &model, TilePoint::corner(held.square));
        if round % 20 == 0 {
            check_leaves(&yard.world);
            assert_eq!(yard.world.root(), yard.world.rehash(), "seed {seed}");
        }
    }
    check_leaves(&yard.world);
    assert_eq!(yard.world.grants().count(), model.len());

    // The cut depends on the grants alone: the leaves of a world that is built from them are the same.
    let tools = crate::land_office::office_builder().tools();
    let restored = World::from_snapshot(&yard.world.snapshot(), yard.world.root(), &tools);
    assert_eq!(restored.expect("its own").root(), yard.world.root());
}

#[test]
fn grants_are_what_a_model_says_and_every_point_is_proved_by_its_one_shelf() {
    (0..4).for_each(play);
}
