//! Copies follow the world to the bit, and proofs of them are believed.

use metatopia_client::{
    KEPT_MAX, LATE_TURNS, ProvenSight, ProvenTiles, SessionEvent, Sight, UnprovenSight,
};
use metatopia_math::{Fx, Vec2};
use metatopia_protocol::*;
use metatopia_types::*;

use crate::stand::{Stand, Watcher, key};
use crate::talk::Talk;

fn start() -> (Stand, Sight, Watcher) {
    let mut stand = Stand::new();
    stand.enter();
    (stand, Sight::of(Stand::visitor().public()), Watcher::default())
}

/// One view of everything, then a turn.
fn look(stand: &mut Stand, sight: &mut Sight, watcher: &mut Watcher) -> Height {
    let view = stand.view(watcher, &stand.tiles());
    assert_eq!(sight.apply(&view), Ok(()));
    stand.turns(1);
    view.height
}

fn shown(sight: &mut Sight, proof: &ViewProof) -> Option<ProvenTiles> {
    sight.check(proof).expect("an honest proof")
}

#[test]
fn copies_that_follow_views_are_the_state_at_every_height() {
    let (mut stand, mut sight, mut watcher) = start();
    let mut moved = 0;

    for _ in 0..40 {
        let tiles = stand.tiles();
        let view = stand.view(&mut watcher, &tiles);
        moved += view.tiles.iter().map(|update| update.moved.len()).sum::<usize>();
        assert_eq!(sight.apply(&view), Ok(()));
        let objects = stand.world().objects().count();
        stand.turns(2);
        let shown = shown(&mut sight, &stand.proof(view.height, &tiles)).expect("of that turn");

        assert_eq!((shown.tiles.as_slice(), shown.lagging.len()), (tiles.as_slice(), 0));
        assert_eq!((shown.objects.len(), sight.height()), (objects, view.height));
    }
    assert!(moved > 40, "{moved} movements: hardly anything moved on the plaza");
}

#[test]
fn a_proof_is_held_against_the_copies_as_they_were_at_its_height() {
    let (mut stand, mut sight, mut watcher) = start();
    while look(&mut stand, &mut sight, &mut watcher).0 < 6 * PROOF_TURNS {}
    for n in 2..6 {
        let of = Height(n * PROOF_TURNS);
        let tiles = stand.tiles_at(of);
        let shown = shown(&mut sight, &stand.proof(of, &tiles)).expect("still remembered");
        assert_eq!((shown.of, shown.tiles), (of, tiles.clone()));
    }
    let between = Height(2 * PROOF_TURNS + 1);
    assert_eq!(shown(&mut sight, &stand.proof(between, &[])), None, "no proof height");
}

#[test]
fn leaves_are_remembered_for_so_many_proof_heights_and_no_more() {
    let (mut stand, mut sight, mut watcher) = start();
    let last = PROOF_TURNS * (KEPT_MAX as u64 + 2);
    while look(&mut stand, &mut sight, &mut watcher).0 <= last {}
    let tiles = stand.tiles();

    let mut remembers = |n| shown(&mut sight, &stand.proof(Height(n * PROOF_TURNS), &tiles));
    assert!(remembers(3).is_some());
    assert!(remembers(2).is_none());
}

#[test]
fn a_view_that_skips_turns_stands_for_the_proof_heights_it_skips() {
    let (mut stand, mut sight, mut watcher) = start();
    // Nothing changes in an empty view, so these copies are those of all turns up to the next one.
    let empty = stand.view(&mut watcher, &[]);
    assert_eq!(sight.apply(&empty), Ok(()));
    stand.turns(3 * u32::try_from(PROOF_TURNS).expect("few"));
    sight.apply(&stand.view(&mut watcher, &stand.tiles())).expect("an honest view");

    let skipped = shown(&mut sight, &stand.proof(Height(PROOF_TURNS), &[])).expect("remembered");
    assert_eq!((skipped.tiles.len(), skipped.objects.len()), (0, 0));
}

#[test]
fn a_tile_that_had_to_wait_is_lagging_and_the_others_are_proved() {
    let (mut stand, mut sight, mut watcher) = start();
    look(&mut stand, &mut sight, &mut watcher);
    let tiles = stand.tiles();
    let waits = stand.beside();
    let told: Vec<TileName> = tiles.into_iter().filter(|tile| *tile != waits).collect();
    let view = stand.view(&mut watcher, &told);
    sight.apply(&view).expect("an honest view");
    stand.turns(2);

    let shown = shown(&mut sight, &stand.proof(view.height, &told)).expect("of that turn");
    assert_eq!((shown.tiles, shown.lagging), (told, vec![waits]));
}

#[test]
fn tiles_out_of_sight_are_forgotten() {
    let (mut stand, mut sight, mut watcher) = start();
    look(&mut stand, &mut sight, &mut watcher);
    let tiles = stand.tiles();
    let mut view = stand.view(&mut watcher, &tiles[1..]);
    view.left = vec![tiles[0], TileName { x: 99, y: 99 }];
    sight.apply(&view).expect("an honest view");

    let have: Vec<TileName> = sight.have().iter().map(|(tile, _)| *tile).collect();
    assert_eq!(have, tiles[1..]);
}

#[test]
fn the_scene_has_the_facts_of_the_world_nearest_first() {
    let (mut stand, mut sight, mut watcher) = start();
    stand.turns(20);
    sight.apply(&stand.view(&mut watcher, &stand.tiles())).expect("an honest view");

    let me = stand.world().avatar(&Stand::visitor().public()).expect("logged in");
    let here = stand.world().object(me).expect("an avatar").position;
    let (radius, max) = (Fx::from_int(24), 128);
    let scene = sight.scene(Vec2::ZERO, radius, max);
    let seen = stand.world().scene(here, radius, max);

    let tick = stand.world().tick();
    assert_eq!((scene.me, scene.height, scene.tick), (Some(me), stand.height(), tick));
    assert_eq!(scene.objects.len(), seen.len());
    for (drawn, seen) in scene.objects.iter().zip(seen) {
        let scripts: Vec<ScriptId> = seen.scripts.iter().map(|(script, _)| *script).collect();
        assert_eq!((drawn.id, &drawn.name, &drawn.text), (seen.id, &seen.name, &seen.text));
        assert_eq!((drawn.position, drawn.angle), (seen.position, seen.angle));
        assert_eq!((drawn.velocity, drawn.movable), (seen.velocity, seen.movable));
        assert_eq!((drawn.owner, drawn.look), (seen.owner, seen.look));
        assert_eq!((&drawn.kind, &drawn.scripts), (&seen.kind, &scripts));
        let player = seen.player.map(|(key, _)| key);
        assert_eq!(drawn.player.as_ref().map(|player| player.key), player);
    }
    assert_eq!(sight.scene(Vec2::ZERO, radius, 3).objects, scene.objects[..3]);
}

#[test]
fn overlays_are_drawn_for_one_view_and_leave_the_copies_as_they_are() {
    let (mut stand, mut sight, mut watcher) = start();
    let tiles = stand.tiles();
    let height = look(&mut stand, &mut sight, &mut watcher);
    let me = sight.me().expect("an avatar");
    let own = |sight: &Sight| {
        let scene = sight.scene(Vec2::ZERO, Fx::from_int(100), 100);
        scene.objects.into_iter().find(|object| object.id == me).expect("the avatar")
    };
    let before = own(&sight);

    let mut view = stand.view(&mut watcher, &[]);
    let velocity = Some([3 << 20, 0]);
    view.near = vec![(me, Movement { velocity, ..Movement::default() })];
    view.gestures = vec![(me, Emote::Bow)];
    sight.apply(&view).expect("an honest view");
    let drawn = own(&sight);
    assert_eq!(drawn.velocity, Vec2::new(Fx::from_int(3), Fx::ZERO));
    assert_eq!(drawn.player.and_then(|player| player.emote), Some(Emote::Bow));
    assert_eq!(sight.have(), tiles.iter().map(|tile| (*tile, height)).collect::<Vec<_>>());

    stand.turns(1);
    sight.apply(&stand.view(&mut watcher, &[])).expect("an honest view");
    assert_eq!(own(&sight), before, "the overlay is of the view before");
}

#[test]
fn big_things_far_away_are_drawn_and_proved_by_nothing() {
    let (mut stand, mut sight, mut watcher) = start();
    let tiles = stand.tiles();
    let mut view = stand.view(&mut watcher, &tiles[..1]);
    let full = stand.view(&mut Watcher::default(), &tiles[1..]);
    let far = full.tiles.iter().find_map(|update| update.entries.first()).expect("an entry");
    view.far = vec![far.clone()];
    sight.apply(&view).expect("an honest view");
    stand.turns(2);

    let id = crate::stand::decode(far).id;
    assert!(sight.things().any(|(entry, _, far)| entry.id == id && far));
    let shown = shown(&mut sight, &stand.proof(view.height, &tiles[..1])).expect("of that turn");
    assert!(!shown.objects.contains(&id));

    stand.turns(u32::try_from(FAR_TURNS_MAX).expect("few"));
    sight.apply(&stand.view(&mut watcher, &[])).expect("an honest view");
    assert!(sight.things().all(|(entry, ..)| entry.id != id), "not told again for long");
}

#[test]
fn a_tile_that_comes_in_pieces_is_proved_once_it_is_whole() {
    let (mut stand, mut sight, mut watcher) = start();
    let tiles = stand.tiles();
    let mut view = stand.view(&mut watcher, &tiles);
    let cut = stand.beside();
    let at = tiles.iter().position(|tile| *tile == cut).expect("one of all");
    let rest = view.tiles[at].entries.split_off(1);
    view.tiles[at].more = true;
    sight.apply(&view).expect("an honest view");
    assert!(!sight.have().iter().any(|(tile, _)| *tile == cut));

    stand.turns(2);
    let others: Vec<TileName> = tiles.iter().copied().filter(|tile| *tile != cut).collect();
    let first = shown(&mut sight, &stand.proof(view.height, &others)).expect("of that turn");
    assert_eq!(first.lagging, [cut]);
    let mut view = stand.view(&mut watcher, &tiles);
    let moved: Vec<ObjectId> = view.tiles[at].moved.drain(..).map(|(id, _)| id).collect();
    let now = stand.entries(cut).into_iter();
    view.tiles[at].entries = now
        .filter(|entry| {
            let id = crate::stand::decode(entry).id;
            moved.contains(&id) || rest.iter().any(|old| crate::stand::decode(old).id == id)
        })
        .collect();
    sight.apply(&view).expect("an honest view");
    stand.turns(2);
    let whole = shown(&mut sight, &stand.proof(view.height, &tiles)).expect("of that turn");
    assert_eq!((whole.tiles, whole.lagging), (tiles, Vec::new()));
}

#[test]
fn changes_since_an_earlier_height_fit_a_later_copy() {
    let (mut stand, mut sight, mut watcher) = start();
    let tiles = stand.tiles();
    look(&mut stand, &mut sight, &mut watcher);
    let earlier = watcher.had.clone();
    look(&mut stand, &mut sight, &mut watcher);
    let view = stand.view(&mut Watcher { had: earlier, number: 2 }, &tiles);
    sight.apply(&view).expect("more than is missed, and all of it as it is now");
    stand.turns(2);
    let shown = shown(&mut sight, &stand.proof(view.height, &tiles)).expect("of that turn");
    assert_eq!(shown.tiles, tiles);
}

#[test]
fn a_session_acknowledges_views_and_tells_what_is_proved() {
    let mut stand = Stand::new();
    stand.enter();
    let mut talk = Talk::watching(&stand);
    let mut watcher = Watcher::default();
    assert_eq!(talk.session.proven(), Err(UnprovenSight::NoneYet));

    let view = stand.view(&mut watcher, &stand.tiles());
    talk.tell(&ServerMessage::View(Box::new(view)));
    let (said, events) = talk.drain();
    assert_eq!(said, [ClientMessage::Seen { number: 1 }]);
    assert_eq!(events, [SessionEvent::View { height: Height(2) }]);

    stand.turns(2);
    let tiles = stand.tiles();
    let [SessionEvent::Proven(proven)] = &talk.proof(stand.proof(Height(2), &tiles))[..] else {
        panic!("not proved");
    };
    let ProvenSight { of, signers, members, header, .. } = &**proven;
    assert_eq!((*of, header.height, *members), (Height(2), Height(4), 4));
    assert_eq!(*signers, [200, 201, 202, 203].map(|n| key(n).public()));
    assert_eq!(talk.session.proven(), Ok(&**proven));
}

#[test]
fn proofs_that_stay_away_are_missed_once() {
    let mut stand = Stand::new();
    stand.enter();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let of = talk.see(&mut stand, &mut watcher);
    let tiles = stand.tiles();
    talk.proof(stand.proof(of, &tiles));

    let mut told = Vec::new();
    for _ in 0..LATE_TURNS + 10 {
        stand.turns(1);
        told.extend(talk.view(stand.view(&mut watcher, &stand.tiles())));
    }

    let late =
        |event: &SessionEvent| matches!(event, SessionEvent::Unproven(UnprovenSight::Late { .. }));
    assert_eq!(told.iter().filter(|event| late(event)).count(), 1);
    let height = stand.height();
    assert_eq!(talk.session.proven(), Err(UnprovenSight::Late { of, height }));
    let recent = Height((height.0 - 2) / PROOF_TURNS * PROOF_TURNS);
    talk.proof(stand.proof(recent, &stand.tiles_at(recent)));
    assert!(talk.session.proven().is_ok());
}
