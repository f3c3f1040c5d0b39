//! Servers that lie, each in another way, and what gives them away.

use metatopia_client::{Disproof, Distrust, SessionEvent, Sight, SightError};
use metatopia_protocol::*;
use metatopia_sim::{CopyError, Tile, tile_key};
use metatopia_types::*;
use proptest::prelude::*;

use crate::stand::{Stand, Watcher, certificate, decode, key};
use crate::talk::Talk;

struct Lie {
    stand: Stand,
    talk: Talk,
    watcher: Watcher,
}

impl Lie {
    fn new() -> Self {
        let mut stand = Stand::new();
        stand.enter();
        let talk = Talk::watching(&stand);
        Self { stand, talk, watcher: Watcher::default() }
    }

    fn view(&mut self) -> View {
        let tiles = self.stand.tiles();
        self.stand.view(&mut self.watcher, &tiles)
    }

    /// Shows this view, and gives the honest proof of that turn.
    fn show(&mut self, view: View) -> ViewProof {
        let height = view.height;
        assert_eq!(self.talk.view(view), [SessionEvent::View { height }]);
        self.stand.turns(2);
        self.stand.proof(height, &self.stand.tiles())
    }

    fn honest(&mut self) -> ViewProof {
        let view = self.view();
        self.show(view)
    }

    /// The lie that this proof shows.
    fn caught(&mut self, proof: ViewProof) -> Distrust {
        distrust(self.talk.proof(proof))
    }

    /// The lie that this view is.
    fn seen_through(&mut self, view: View) -> SightError {
        match distrust(self.talk.view(view)) {
            Distrust::View(error) => error,
            other => panic!("{other}"),
        }
    }
}

fn distrust(mut events: Vec<SessionEvent>) -> Distrust {
    match (events.pop(), events.as_slice()) {
        (Some(SessionEvent::Distrusted(distrust)), []) => distrust,
        other => panic!("{other:?} where a lie was to be told"),
    }
}

/// Returns in which tile of the view, and in which of its entries, the first object is that fits.
fn find(view: &View, is: impl Fn(&metatopia_sim::TileEntry) -> bool) -> (usize, usize) {
    let tiles = view.tiles.iter().enumerate();
    let mut entries = tiles
        .flat_map(|(t, update)| update.entries.iter().enumerate().map(move |(e, b)| (t, e, b)));
    let (t, e, _) = entries.find(|(.., bytes)| is(&decode(bytes))).expect("such an object");
    (t, e)
}

/// Returns which tiles of a view have entries, and the first of them.
fn full(view: &View) -> (Vec<usize>, TileName) {
    let tiles = 0..view.tiles.len();
    let full: Vec<usize> = tiles.filter(|at| !view.tiles[*at].entries.is_empty()).collect();
    let first = view.tiles[full[0]].tile;
    (full, first)
}

fn shown(disproof: Disproof) -> Distrust {
    Distrust::Shown(Box::new(disproof))
}

fn other_leaf(distrust: Distrust) -> (Height, TileName) {
    match distrust {
        Distrust::Shown(disproof) => match *disproof {
            Disproof::OtherLeaf { of, tile, found, stated, .. } => {
                assert_ne!(found, stated);
                (of, tile)
            }
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn an_object_that_looks_otherwise_is_a_lie() {
    let mut lie = Lie::new();
    let mut view = lie.view();
    let (t, e) = find(&view, |entry| entry.object.name == "Ada");
    let mut entry = decode(&view.tiles[t].entries[e]);
    entry.object.name = "Eve".into();
    view.tiles[t].entries[e] = entry.encode();
    let (height, tile) = (view.height, view.tiles[t].tile);

    let proof = lie.show(view);
    assert_eq!(other_leaf(lie.caught(proof)), (height, tile));
    assert!(lie.talk.session.sight().have().is_empty(), "nothing false is kept");
}

#[test]
fn an_object_that_is_elsewhere_by_a_millionth_of_a_metre_is_a_lie() {
    let mut lie = Lie::new();
    lie.honest();
    let mut view = lie.view();
    let walks = |view: &View| {
        let moved = view.tiles.iter().flat_map(|update| &update.moved);
        moved.into_iter().any(|(_, movement)| movement.position.is_some())
    };
    // In the golden log somebody walks before long.
    while !walks(&view) {
        lie.show(view);
        view = lie.view();
    }
    let moved = view.tiles.iter_mut().flat_map(|update| {
        let tile = update.tile;
        update.moved.iter_mut().map(move |(_, movement)| (tile, movement))
    });
    let places = moved.filter_map(|(tile, movement)| Some((tile, movement.position.as_mut()?)));
    let (tile, place) = { places }.next().expect("somebody walks");
    place[0] ^= 1;
    let height = view.height;

    let proof = lie.show(view);
    assert_eq!(other_leaf(lie.caught(proof)), (height, tile));
}

#[test]
fn an_object_that_is_not_shown_is_a_lie() {
    let mut lie = Lie::new();
    let mut view = lie.view();
    let (t, e) = find(&view, |entry| entry.object.name == "Ada");
    view.tiles[t].entries.remove(e);
    let (height, tile) = (view.height, view.tiles[t].tile);
    let proof = lie.show(view);
    assert_eq!(other_leaf(lie.caught(proof)), (height, tile));
}

#[test]
fn a_tile_that_is_shown_empty_is_a_lie() {
    let mut lie = Lie::new();
    let mut view = lie.view();
    let (of, tile, prefix) = (view.height, lie.stand.full()[0], Vec::new());
    let empty = view.tiles.iter_mut().find(|update| update.tile == tile);
    empty.expect("it is in sight").entries.clear();
    let proof = lie.show(view);
    assert_eq!(lie.caught(proof), shown(Disproof::NotShown { of, tile, prefix }));
}

#[test]
fn a_proof_of_another_height_is_a_lie() {
    let mut lie = Lie::new();
    let proof = lie.honest();
    let of = proof.of;
    lie.stand.turns(1);
    let later = lie.stand.proof(of.plus(1), &[]);

    let mut shifted = proof;
    let header = later.header.height;
    (shifted.header, shifted.certificate) = (later.header, later.certificate);
    assert_eq!(lie.caught(shifted), shown(Disproof::OtherHeight { of, header }));
}

#[test]
fn the_certificate_of_another_header_is_a_lie() {
    let mut lie = Lie::new();
    let mut proof = lie.honest();
    lie.stand.turns(1);
    proof.certificate = lie.stand.proof(proof.of.plus(1), &[]).certificate;
    let height = proof.header.height;
    assert_eq!(lie.caught(proof), Distrust::OtherHeader(height));
}

#[test]
fn a_header_that_was_made_up_is_a_lie() {
    let mut lie = Lie::new();
    let mut proof = lie.honest();
    proof.header.time = Millis(1);
    let height = proof.header.height;
    assert_eq!(lie.caught(proof), Distrust::OtherHeader(height));
}

#[test]
fn forged_and_missing_signatures_are_lies() {
    type Spoil = fn(&mut ViewProof);
    let lies: [(Spoil, CertificateError); 4] = [
        (
            |proof| proof.certificate = certificate(&proof.header, &[200, 201, 202, 66]),
            CertificateError::Stranger(key(66).public()),
        ),
        (
            |proof| proof.certificate.signatures[1].1 = proof.certificate.signatures[0].1,
            CertificateError::Signature(key(201).public()),
        ),
        (
            |proof| proof.certificate = certificate(&proof.header, &[200, 201]),
            CertificateError::NoQuorum { power: 2, quorum: 3 },
        ),
        (
            |proof| proof.certificate = certificate(&proof.header, &[200, 201, 201]),
            CertificateError::Repeated(key(201).public()),
        ),
    ];
    for (spoil, error) in lies {
        let mut lie = Lie::new();
        let mut proof = lie.honest();
        spoil(&mut proof);
        assert_eq!(lie.caught(proof), Distrust::Certificate(error));
    }
}

#[test]
fn a_leaf_that_is_left_out_or_of_another_name_is_a_lie() {
    let mut lie = Lie::new();
    lie.stand = Stand::crowded();
    lie.stand.enter();
    lie.talk = Talk::watching(&lie.stand);
    let proof = lie.honest();
    let split = proof.leaves.iter().position(|leaf| !leaf.prefix.is_empty());
    let split = split.expect("a tile of several leaves");
    let TileLeaf { tile, prefix, place, .. } = proof.leaves[split].clone();
    let of = proof.of;

    let mut sight = lie.talk.session.sight().clone();
    assert!(sight.check(&proof).is_ok());
    // Shown in the state, and not said to be of the tile.
    let mut short = proof.clone();
    short.leaves.remove(split);
    let key = tile_key(Tile { x: tile.x.into(), y: tile.y.into() }, &prefix);
    let content = lie.stand.world().proof(&key).expect("nothing changes there").content;
    let content = Digest(*blake3::hash(&content).as_bytes());
    short.beside.push(NeighbourLeaf { key, content, place });
    let left_out = Disproof::LeftOut { of, tile, prefix };
    assert_eq!(sight.check(&short), Err(Box::new(left_out)));
    let mut wide = proof.clone();
    wide.leaves[split].prefix = Vec::new();
    let not_shown = Disproof::NotShown { of, tile, prefix: Vec::new() };
    assert_eq!(sight.check(&wide), Err(Box::new(not_shown)));
}

#[test]
fn leaves_at_other_places_are_a_lie() {
    type Spoil = fn(&mut ViewProof);
    let lies: [Spoil; 6] = [
        |proof| proof.leaves[0].place ^= 1,
        |proof| proof.leaves.push(proof.leaves[0].clone()),
        |proof| proof.leaves[0].hash.0[0] ^= 1,
        |proof| proof.beside[0].place = proof.leaves[0].place,
        |proof| proof.beside[0].key.0.push('0'),
        |proof| proof.places.siblings.clear(),
    ];
    for spoil in lies {
        let mut lie = Lie::new();
        let mut proof = lie.honest();
        spoil(&mut proof);
        match lie.caught(proof) {
            Distrust::Shown(disproof) => {
                assert!(matches!(*disproof, Disproof::OtherRoot { .. }), "{disproof}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn views_that_do_not_follow_one_another_are_lies() {
    let mut lie = Lie::new();
    lie.honest();
    let mut missed = lie.view();
    missed.number = 3;
    assert_eq!(lie.seen_through(missed), SightError::Number { expected: 2, found: 3 });

    let mut lie = Lie::new();
    let first = lie.view();
    let (again, height) = (View { number: 2, ..first.clone() }, first.height);
    lie.show(first);
    let stands = SightError::Height { after: height, found: height };
    assert_eq!(lie.seen_through(again), stands);
}

#[test]
fn changes_since_a_height_that_the_copy_is_not_of_are_lies() {
    let mut lie = Lie::new();
    lie.honest();
    let mut view = lie.view();
    view.tiles[0].since = Some(Height(3));
    let tile = view.tiles[0].tile;
    let since = SightError::Since { tile, since: Height(3), has: Height(2) };
    assert_eq!(lie.seen_through(view), since);

    let mut lie = Lie::new();
    let mut view = lie.view();
    view.tiles[0].since = Some(Height(1));
    assert_eq!(lie.seen_through(view), SightError::NoCopy(tile));
}

#[test]
fn entries_that_are_none_are_lies() {
    let mut lie = Lie::new();
    let mut view = lie.view();
    let (full, tile) = full(&view);
    view.tiles[full[0]].entries[0].truncate(3);
    let error = lie.seen_through(view);
    assert!(matches!(
        error,
        SightError::Copy { tile: at, error: CopyError::Malformed(_) } if at == tile
    ));

    let mut lie = Lie::new();
    let mut view = lie.view();
    let stray = view.tiles[full[1]].entries[0].clone();
    let id = decode(&stray).id;
    view.tiles[full[0]].entries.push(stray);
    let error = CopyError::OtherTile(id);
    assert_eq!(lie.seen_through(view), SightError::Copy { tile, error });

    let mut lie = Lie::new();
    let mut view = lie.view();
    view.tiles[full[0]].moved.push((ObjectId(999_999), Movement::default()));
    let error = CopyError::Unknown(ObjectId(999_999));
    assert_eq!(lie.seen_through(view), SightError::Copy { tile, error });

    let mut lie = Lie::new();
    let mut view = lie.view();
    view.far = vec![vec![1, 2, 3]];
    assert!(matches!(lie.seen_through(view), SightError::Far(CopyError::Malformed(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A byte of what was shown is changed; then either it is no view, or the proof shows the lie,
    /// or all that is proved is what the world has.
    #[test]
    fn what_is_proved_is_true_whatever_a_server_shows(
        at in any::<prop::sample::Index>(),
        bits in 1_u8..,
        second in any::<bool>(),
    ) {
        let (mut stand, mut watcher) = (Stand::new(), Watcher::default());
        stand.enter();
        let tiles = stand.tiles();
        let mut sight = Sight::of(Stand::visitor().public());
        if second {
            sight.apply(&stand.view(&mut watcher, &tiles)).expect("an honest view");
            stand.turns(3);
        }
        let view = stand.view(&mut watcher, &tiles);
        let mut frame = encode_server(&ServerMessage::View(Box::new(view.clone())));
        let at = at.index(frame.len());
        frame[at] ^= bits;
        let truth: Vec<_> = tiles.iter().flat_map(|tile| stand.entries(*tile)).collect();
        stand.turns(2);
        let proof = stand.proof(view.height, &tiles);

        let Ok(ServerMessage::View(spoilt)) = decode_server(&frame) else { return Ok(()) };
        let Ok(()) = sight.apply(&spoilt) else { return Ok(()) };
        let Ok(Some(shown)) = sight.check(&proof) else { return Ok(()) };
        for (entry, ..) in sight.things().filter(|(entry, ..)| shown.objects.contains(&entry.id)) {
            prop_assert!(truth.contains(&entry.encode()), "{entry:?}");
        }
        let all: usize = shown.tiles.iter().map(|tile| stand.entries(*tile).len()).sum();
        prop_assert!(shown.objects.len() == all || second);
    }
}
