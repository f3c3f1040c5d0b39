use metatopia_types::Digest;

use super::*;

const ADA: PublicKey = PublicKey([1; 32]);

fn key(author: u8, n: u8) -> PieceKey {
    (PublicKey([author; 32]), BlobId(Digest([n; 32])))
}

fn piece(height: u64, bytes: usize) -> PackagePiece {
    PackagePiece { height: Height(height), bytes: vec![7; bytes] }
}

/// Checks that the indexes follow from the pieces.
fn check(pieces: &PackagePieces) {
    let again = PackagePieces::new(pieces.all.clone());
    assert_eq!(format!("{pieces:?}"), format!("{again:?}"));
}

#[test]
fn an_author_has_as_many_pieces_as_the_longest_package_and_another_author_has_as_many() {
    let mut pieces = PackagePieces::default();
    for n in 0..PIECES_PER_AUTHOR_MAX as u8 {
        assert!(pieces.has_room_for(&ADA), "piece {n}");
        pieces.add(key(1, n), piece(1, 10));
    }
    assert!(!pieces.has_room_for(&ADA));
    assert!(pieces.has_room_for(&PublicKey([2; 32])));
    assert_eq!(pieces.bytes_of(&ADA), 10 * PIECES_PER_AUTHOR_MAX as u64);
    check(&pieces);
}

#[test]
fn the_oldest_piece_leaves_where_a_sim_has_no_room_for_another_one() {
    let mut pieces = PackagePieces::default();
    // The oldest has the greatest key: what came first decides, and no name.
    for n in 0..PIECES_MAX as u8 {
        pieces.add(key(200 - n, n), piece(1 + u64::from(n), 10));
    }
    assert_eq!((pieces.all.len(), pieces.bytes()), (PIECES_MAX, 10 * PIECES_MAX as u64));

    pieces.add(key(1, 250), piece(100, 30));

    assert_eq!((pieces.all.len(), pieces.bytes()), (PIECES_MAX, 10 * PIECES_MAX as u64 + 20));
    assert!(!pieces.all.contains(&key(200, 0)));
    assert!(pieces.all.contains(&key(199, 1)));
    check(&pieces);
}

#[test]
fn a_piece_leaves_after_a_minute_of_turns() {
    let mut pieces = PackagePieces::default();
    pieces.add(key(1, 1), piece(5, 10));
    pieces.add(key(1, 2), piece(6, 20));

    pieces.remove_stale(Height(4 + PUBLISHING_HEIGHTS));
    assert_eq!(pieces.bytes(), 30);
    pieces.remove_stale(Height(5 + PUBLISHING_HEIGHTS));
    assert_eq!((pieces.bytes(), pieces.bytes_of(&ADA)), (20, 20));
    pieces.remove_stale(Height(6 + PUBLISHING_HEIGHTS));

    assert_eq!((pieces.bytes(), pieces.all.len()), (0, 0));
    check(&pieces);
}

#[test]
fn pieces_are_joined_in_the_order_that_is_asked_for_and_one_may_come_twice() {
    let mut pieces = PackagePieces::default();
    for (n, bytes) in [(1, b"one".to_vec()), (2, b"two".to_vec())] {
        pieces.add(key(1, n), PackagePiece { height: Height(1), bytes });
    }
    let id = |n| key(1, n).1;

    assert_eq!(pieces.joined(ADA, &[id(2), id(1), id(2)]), Ok(b"twoonetwo".to_vec()));
    assert_eq!(pieces.joined(ADA, &[id(1), id(3), id(4)]), Err(id(3)));
    assert_eq!(pieces.joined(PublicKey([2; 32]), &[id(1)]), Err(id(1)), "they are Ada's");
}
