//! Servers that hide a tile, each in another way: it is never proved, and so it is missed.

use metatopia_client::{ProvenSight, SessionEvent, Sight, UnprovenSight};
use metatopia_protocol::*;
use metatopia_types::Sign as _;
use proptest::prelude::*;

use crate::elsewhere::{self, LIES};
use crate::stand::{Stand, Watcher};
use crate::talk::Talk;

/// A stand whose visitor has come, and a tile with something in it that the visitor should see.
fn setting() -> (Stand, TileName) {
    let mut stand = Stand::new();
    stand.enter();
    let hidden = stand.beside();
    (stand, hidden)
}

/// Returns all tiles in sight but one.
fn others(stand: &Stand, hidden: TileName) -> Vec<TileName> {
    stand.tiles().into_iter().filter(|tile| *tile != hidden).collect()
}

fn proven(events: &[SessionEvent]) -> &ProvenSight {
    match events {
        [SessionEvent::Proven(proven)] => proven,
        other => panic!("{other:?} where something is proved"),
    }
}

/// Shows this view, and then this part of what is so: the tiles that are missed.
fn missed(stand: &mut Stand, talk: &mut Talk, view: View, tiles: &[TileName]) -> Vec<TileName> {
    let of = view.height;
    talk.view(view);
    stand.turns(2);
    let events = talk.proof(stand.proof(of, tiles));
    let lagging = proven(&events).lagging.clone();
    let all = lagging.len() + proven(&events).tiles.len();
    if !lagging.is_empty() {
        let unproven = UnprovenSight::Lagging { of, lagging: lagging.clone(), all };
        assert_eq!(talk.session.proven(), Err(unproven));
    }
    lagging
}

#[test]
fn a_tile_without_entries_is_proved_to_have_none() {
    let (mut stand, _) = setting();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let tiles = stand.tiles();
    assert!(stand.full().len() < tiles.len(), "some tiles in sight are empty");
    let view = stand.view(&mut watcher, &tiles);
    assert_eq!(missed(&mut stand, &mut talk, view, &tiles), []);
    assert_eq!(talk.session.proven().map(|proven| proven.tiles.clone()), Ok(tiles));
}

#[test]
fn a_tile_that_is_never_told_of_is_missed() {
    let (mut stand, hidden) = setting();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let told = others(&stand, hidden);
    for _ in 0..3 {
        let view = stand.view(&mut watcher, &told);
        assert_eq!(missed(&mut stand, &mut talk, view, &told), [hidden]);
    }
}

#[test]
fn a_tile_that_is_taken_out_of_sight_while_it_is_near_is_missed() {
    let (mut stand, hidden) = setting();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let tiles = stand.tiles();
    let view = stand.view(&mut watcher, &tiles);
    assert_eq!(missed(&mut stand, &mut talk, view, &tiles), []);
    let told = others(&stand, hidden);
    let mut view = stand.view(&mut watcher, &told);
    view.left = vec![hidden];
    assert_eq!(missed(&mut stand, &mut talk, view, &told), [hidden]);
}

#[test]
fn a_tile_that_is_said_to_be_empty_and_kept_out_of_the_proofs_is_missed() {
    let (mut stand, hidden) = setting();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let tiles = stand.tiles();
    let told = others(&stand, hidden);
    let mut view = stand.view(&mut watcher, &tiles);
    let update = view.tiles.iter_mut().find(|update| update.tile == hidden);
    update.expect("it is in sight").entries.clear();
    assert_eq!(missed(&mut stand, &mut talk, view, &told), [hidden]);
}

/// A view without tiles, and a proof without leaves, once counted as all being proved.
#[test]
fn who_shows_nothing_proves_nothing() {
    let (mut stand, _) = setting();
    let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
    let mut view = stand.view(&mut watcher, &[]);
    view.me = None;
    let of = view.height;
    talk.view(view);
    stand.turns(2);

    assert_eq!(talk.proof(stand.proof(of, &[])), []);

    assert_eq!(talk.session.proven(), Err(UnprovenSight::NoneYet));
}

/// Once, a server that drew the avatar in an empty corner, beside the copies, or named the avatar of
/// somebody there, had only that corner to prove.
#[test]
fn an_avatar_that_is_said_to_be_elsewhere_hides_nothing() {
    let is_believed = |(_, truth, lie): &(_, _, _)| {
        let mut stand = Stand::new();
        let (mut talk, mut watcher) = (Talk::watching(&stand), Watcher::default());
        talk.enter(&mut stand);
        let (view, shown) = elsewhere::view(&stand, &mut watcher, (*truth, *lie));
        let of = view.height;
        talk.view(view);
        stand.turns(2);
        let events = talk.proof(stand.proof(of, &shown));
        let lagging = matches!(talk.session.proven(), Err(UnprovenSight::Lagging { .. }));
        !lagging || !proven(&events).tiles.is_empty()
    };
    let believed: Vec<&str> = LIES.into_iter().filter(is_believed).map(|(lie, ..)| lie).collect();
    assert!(believed.is_empty(), "{believed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whichever leaves of the state a server shows, they never prove that a tile is empty which
    /// is not, and never leave one out that is.
    #[test]
    fn no_choice_of_leaves_proves_a_full_tile_empty(
        chosen in prop::collection::vec(any::<bool>(), 64),
    ) {
        let (mut stand, hidden) = setting();
        let (mut sight, mut watcher) = (Sight::of(Stand::visitor().public()), Watcher::default());
        let tiles = stand.tiles();
        let mut view = stand.view(&mut watcher, &tiles);
        for update in view.tiles.iter_mut().filter(|update| update.tile == hidden) {
            update.entries.clear();
        }
        sight.apply(&view).expect("a view like any other");
        // Where she was then: she may walk on.
        let own = stand.own();
        stand.turns(2);
        let mut chosen = chosen.into_iter().cycle();
        let mut some = tiles.clone();
        // Without her own tile nothing counts.
        some.retain(|tile| *tile != hidden && (chosen.next() == Some(true) || *tile == own));
        let proof = stand.proof(view.height, &some);

        let shown = sight.check(&proof).expect("each leaf is where it says").expect("of that turn");
        prop_assert!(shown.lagging.contains(&hidden));
        prop_assert!(some.iter().all(|tile| shown.tiles.contains(tile)));
        let full = stand.full();
        let proved = shown.tiles.iter().filter(|tile| full.contains(tile));
        prop_assert!(proved.clone().all(|tile| some.contains(tile)));
    }
}
