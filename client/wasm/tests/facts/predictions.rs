//! The own avatar, ahead of the servers.

use metatopia_client::Sight;
use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_types::{Act, Look, Sign as _};
use metatopia_wasm::{CallError, HeadingChange, NEAR_MAX, Path, PredictedWalk, TICKS_MAX, foresee};

use crate::stand::{Stand, Watcher};

/// Somebody who sees everything, and walks.
struct Walk {
    stand: Stand,
    watcher: Watcher,
    sight: Sight,
}

impl Walk {
    fn new() -> Self {
        let mut stand = Stand::new();
        stand.enter();
        let sight = Sight::of(Stand::visitor().public());
        Self { stand, watcher: Watcher::default(), sight }
    }

    fn see(&mut self) {
        let view = self.stand.view(&mut self.watcher, &self.stand.tiles());
        self.sight.apply(&view).expect("an honest view");
    }

    fn predict(&self, walk: &PredictedWalk) -> Result<Option<Path>, CallError> {
        foresee(&self.sight, &Stand::genesis().parameters, walk)
    }
}

const EAST: [i64; 2] = [1 << 32, 0];
const NORTH: [i64; 2] = [0, 1 << 32];
const STAND: [i64; 2] = [0, 0];

fn walk(heading: [i64; 2], ticks: u32) -> PredictedWalk {
    PredictedWalk { heading, changes: Vec::new(), ticks }
}

fn ahead(session: &Walk, walk: &PredictedWalk) -> Path {
    session.predict(walk).expect("a walk").expect("an avatar in sight")
}

/// Returns where the avatar really is, in metres with 20 fraction bits.
fn place(session: &Walk) -> [i32; 2] {
    let world = session.stand.world();
    let avatar = world.avatar(&Stand::visitor().public()).expect("it is there");
    world.movement(avatar).and_then(|moves| moves.position).expect("it has a place")
}

#[test]
fn a_free_walk_is_foreseen_to_the_bit() {
    let mut session = Walk::new();
    for _ in 0..8 {
        session.see();
        let path = ahead(&session, &walk(EAST, 6)).path;
        session.stand.turns(2);
        assert_eq!(path[5].position, place(&session));
        assert!(path.windows(2).all(|pair| pair[0].position[0] < pair[1].position[0]));
    }
}

#[test]
fn a_change_of_heading_takes_effect_at_its_tick() {
    let mut session = Walk::new();
    session.see();
    let changes = vec![HeadingChange { after: 3, heading: NORTH }];
    let path = ahead(&session, &PredictedWalk { heading: EAST, changes, ticks: 9 }).path;
    session.stand.turns(1);
    session.stand.turn(&[Act::Walk { heading: Vec2::new(Fx::ZERO, Fx::ONE) }]);
    session.stand.turns(1);
    assert_eq!(path[8].position, place(&session));
    assert_eq!(path[8].facing, [0, 1 << 30]);
}

#[test]
fn whoever_lets_go_comes_to_rest() {
    let mut session = Walk::new();
    session.see();
    let path = ahead(&session, &walk(STAND, TICKS_MAX)).path;
    assert_eq!(path.len(), TICKS_MAX as usize);
    assert_eq!(path[59].velocity, [0, 0]);
    assert_eq!(path[58].position, path[59].position);
}

#[test]
fn walls_and_crates_are_in_the_way_here_as_there() {
    let mut session = Walk::new();
    let (mut worst, mut travelled) = (0, 0);
    for _ in 0..40 {
        session.see();
        let before = place(&session);
        let path = ahead(&session, &walk(EAST, 30)).path;
        session.stand.turns(10);
        let (foreseen, found) = (path[29].position, place(&session));
        let off = (0..2).map(|axis| (foreseen[axis] - found[axis]).abs()).max().unwrap();
        worst = worst.max(off);
        travelled += (found[0] - before[0]).abs();
    }
    let metres = |raw: i32| f64::from(raw) / f64::from(1 << 20);
    println!("travelled {:.1} m, at most {:.3} m off", metres(travelled), metres(worst));
    // What moves by scripts, and what contacts carried over, cannot be foreseen half a second ahead.
    assert!(metres(worst) < 0.5, "{} m off", metres(worst));
    assert!(metres(travelled) < 0.9 * 4.0 * 20.0, "nothing was in the way");
}

#[test]
fn walks_that_nobody_can_walk_are_faults() {
    let mut session = Walk::new();
    assert_eq!(session.predict(&walk(EAST, 6)), Ok(None));
    session.see();
    assert_eq!(session.predict(&walk(EAST, TICKS_MAX + 1)).unwrap_err().code, "input");
    assert_eq!(session.predict(&walk([i64::MIN, 0], 1)).unwrap_err().code, "input");
    let many = vec![HeadingChange { after: 0, heading: EAST }; 65];
    let many = PredictedWalk { heading: EAST, changes: many, ticks: 1 };
    assert_eq!(session.predict(&many).unwrap_err().code, "input");
    // Longer than 1 counts as 1.
    assert_eq!(ahead(&session, &walk([3 << 32, 0], 9)), ahead(&session, &walk(EAST, 9)));
}

/// Somebody who stands still, with so many small things behind her, each nearer than a wall before her.
fn before_a_wall(behind: usize) -> Walk {
    let mut genesis = Stand::genesis();
    genesis.parameters.avatar.spawn_radius = Fx::ZERO;
    let spawn = genesis.parameters.avatar.spawn;
    let mut thing = genesis.objects[0].clone();
    thing.scripts.clear();
    // All numbers are eighths of a metre.
    let eighths = |n: i64| Fx::from_ratio(n, 8);
    let mut put = |(wide, high): (i64, i64), (east, north): (i64, i64)| {
        let shape = Shape::Rect { half: Vec2::new(eighths(wide), eighths(high)) };
        let (x, y) =
            (spawn.x.saturating_add(eighths(east)), spawn.y.saturating_add(eighths(north)));
        thing.body = BodySpec::new(shape, Motion::Static, Vec2::new(x, y));
        thing.clone()
    };
    let behind = i64::try_from(behind).expect("few");
    let mut objects = vec![put((1, 4), (24, 0))];
    objects.extend((0..behind).map(|n| put((1, 1), (-6 - n % 5 * 2, n / 5 - 8))));
    (genesis.objects, genesis.joints) = (objects, Vec::new());
    let mut stand = Stand::of(&genesis);
    stand.turn(&[Act::login("Ada".into(), Look::default())]);
    let sight = Sight::of(Stand::visitor().public());
    let mut walk = Walk { stand, watcher: Watcher::default(), sight };
    walk.see();
    walk
}

#[test]
fn only_so_many_bodies_are_in_the_way_and_those_are_the_nearest() {
    let travelled = |behind: usize| {
        let session = before_a_wall(behind);
        let path = ahead(&session, &walk(EAST, TICKS_MAX)).path;
        f64::from(path[59].position[0] - place(&session)[0]) / f64::from(1 << 20)
    };
    // She herself is one of them, and the wall.
    let (stopped, free) = (travelled(NEAR_MAX - 2), travelled(NEAR_MAX - 1));
    assert!(stopped < 2.6, "her middle comes to 2.5 m: {stopped}");
    assert!(free > 3.0, "the wall is the farthest of too many: {free}");
}
