//! Packages that are too long for one act: their pieces, and the act that puts them together.

use std::collections::BTreeMap;

use metatopia_scripting::{Draft, Package, PackageAuthor, limits::FILE_BYTES_MAX};
use metatopia_sim::{
    World,
    limits::{
        PIECES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_AUTHOR_MAX, PUBLISHED_BYTES_PER_TURN_MAX,
        PUBLISHING_HEIGHTS,
    },
};
use metatopia_types::{
    Act, Blob, BlobId, Build, LeafKey, Outcome, PackageId, Refusal,
    limits::{BLOB_BYTES_MAX, PACKAGE_PIECE_BYTES_MAX},
};

use crate::{
    building::{block, built, place, refused, site},
    yard::{Builder, Yard, package, public},
};

const COUNTER: &str = "fn on_start() { state.n = 0; }
    fn on_touch(other) { state.n += 1; self_.text = `${state.n} touches`; }";

/// Returns a package with this entry, and notes of so many bytes beside it.
fn with_notes(entry: &str, notes: usize, imports: &[(&str, PackageId)]) -> Package {
    let mut files = BTreeMap::from([("main.rhai".to_owned(), entry.as_bytes().to_vec())]);
    for n in 0..notes.div_ceil(FILE_BYTES_MAX) {
        let bytes = FILE_BYTES_MAX.min(notes - n * FILE_BYTES_MAX);
        files.insert(format!("notes{n}.txt"), vec![b'a' + n as u8; bytes]);
    }
    Package::build(Draft {
        name: "novel".to_owned(),
        version: "1.0.0".to_owned(),
        api: 1,
        entry: "main.rhai".to_owned(),
        files,
        licence: "AGPL-3.0-or-later".to_owned(),
        authors: vec![PackageAuthor { name: "A Tester".to_owned(), key: None }],
        imports: imports.iter().map(|(name, id)| ((*name).to_owned(), *id)).collect(),
        ..Draft::default()
    })
    .expect("a package that keeps all rules")
}

/// Returns the blobs of a package's pieces, with their ids.
fn pieces_of(package: &Package) -> (Vec<BlobId>, Vec<Blob>) {
    let bytes = package.encode();
    let blobs = bytes.chunks(PACKAGE_PIECE_BYTES_MAX).map(|piece| Blob(piece.to_vec()));
    blobs.map(|blob| (blob.id(), blob)).unzip()
}

/// Has a player publish a piece, in a turn of its own.
fn publish_piece(yard: &mut Yard, n: u8, blob: Blob) -> Outcome {
    let act = yard.act_with(n, Act::PublishPiece { piece: blob.id() }, blob);
    yard.play();
    yard.outcome(&act)
}

/// Has a player publish all pieces of a package. Returns their ids.
fn publish_pieces(yard: &mut Yard, n: u8, package: &Package) -> Vec<BlobId> {
    let (ids, blobs) = pieces_of(package);
    for blob in blobs {
        assert_eq!(publish_piece(yard, n, blob), Outcome::Ok);
    }
    ids
}

fn assemble(yard: &mut Yard, n: u8, pieces: &[BlobId]) -> Outcome {
    yard.try_act(n, Act::Assemble { pieces: pieces.to_vec() })
}

/// Returns what people have left of their gas, as the state has it.
fn gas(yard: &Yard) -> Option<Vec<u8>> {
    yard.world.leaf(&LeafKey("owners".to_owned()))
}

/// Returns how many leaves with pieces the state has.
fn piece_leaves(yard: &Yard) -> usize {
    let leaves = yard.world.manifest().leaves.into_iter();
    leaves.filter(|leaf| leaf.key.0.split('/').next() == Some("pieces")).count()
}

/// Replaces the world by one that is restored of its snapshot, which has the same indexes.
fn restore(yard: &mut Yard, builder: &mut Builder) {
    let (snapshot, root) = (yard.world.snapshot(), yard.world.root());
    let restored = World::from_snapshot(&snapshot, root, &builder.tools());
    let restored = restored.expect("its own snapshot");
    assert_eq!(restored.indexes(), yard.world.indexes());
    assert_eq!((restored.root(), yard.world.rehash()), (root, root));
    yard.world = restored;
}

#[test]
fn a_package_of_several_pieces_is_there_from_the_act_on_that_puts_them_together() {
    let mut builder = Builder::new();
    let mut yard = site(&mut builder);
    let long = with_notes(COUNTER, 200_000, &[]);
    assert!(long.encode().len() > BLOB_BYTES_MAX, "no act could bring it whole");

    let pieces = publish_pieces(&mut yard, 1, &long);
    assert_eq!(pieces.len(), 7);
    restore(&mut yard, &mut builder);
    assert!(yard.world.package(&long.id()).is_none());
    assert_eq!(yard.world.assembled(public(1), &pieces), Some(Blob(long.encode())));

    assert_eq!(assemble(&mut yard, 1, &pieces), Outcome::Ok);

    assert_eq!(yard.world.package(&long.id()), Some(&long));
    let record = yard.world.publication(&long.id()).expect("a record");
    assert_eq!(record.publisher, Some(public(1)));
    assert_eq!(record.bytes as usize, long.encode().len());
    assert_eq!(piece_leaves(&yard), 0, "pieces are in the package now");
    restore(&mut yard, &mut builder);

    let object = place(&mut yard, 1, block(3, 1));
    let attach = Build::Attach { object, package: long.id() };
    assert_eq!(built(&mut yard, 1, attach), Outcome::Ok);
    assert_eq!(yard.try_act(1, Act::Touch { object }), Outcome::Ok);
    assert_eq!(yard.world.object(object).expect("the box").text, "1 touches");
}

#[test]
fn what_is_put_together_of_missing_swapped_or_others_pieces_is_refused() {
    let mut yard = site(&mut Builder::new());
    let long = with_notes(COUNTER, 100_000, &[]);
    let (ids, blobs) = pieces_of(&long);
    assert_eq!(ids.len(), 4);
    for blob in &blobs[..3] {
        assert_eq!(publish_piece(&mut yard, 1, blob.clone()), Outcome::Ok);
    }
    let missing = |id: BlobId| refused(Refusal::MissingPiece(id));

    assert_eq!(assemble(&mut yard, 1, &ids), missing(ids[3]));
    assert_eq!(publish_piece(&mut yard, 1, blobs[3].clone()), Outcome::Ok);
    assert_eq!(assemble(&mut yard, 2, &ids), missing(ids[0]), "they are another author's");

    let swapped = [ids[1], ids[0], ids[2], ids[3]];
    let too_many = [ids[0]; PIECES_PER_AUTHOR_MAX + 1];
    for bad in [&swapped[..], &ids[..3], &too_many, &[]] {
        assert_eq!(assemble(&mut yard, 1, bad), refused(Refusal::BadPackage), "{}", bad.len());
        yard.idle(40);
    }
    assert_eq!(assemble(&mut yard, 1, &ids), Outcome::Ok, "a bad order takes no pieces away");
    assert_eq!(yard.world.packages().count(), 1);
}

#[test]
fn pieces_that_nobody_puts_together_leave_after_a_minute_of_turns() {
    let mut builder = Builder::new();
    builder.genesis.parameters.lease_ticks = 1_000_000;
    let mut yard = site(&mut builder);
    let ids = publish_pieces(&mut yard, 1, &with_notes(COUNTER, 50_000, &[]));
    assert!(piece_leaves(&yard) > 0);

    yard.idle(PUBLISHING_HEIGHTS - 1);
    assert!(yard.world.assembled(public(1), &ids).is_none(), "the first one has left");
    yard.idle(1);

    assert_eq!(piece_leaves(&yard), 0);
    assert_eq!(assemble(&mut yard, 1, &ids), refused(Refusal::MissingPiece(ids[0])));
    restore(&mut yard, &mut builder);
}

#[test]
fn pieces_count_against_their_author_and_one_that_is_there_is_no_refusal() {
    let mut yard = site(&mut Builder::new());
    let piece = |n: usize| Blob(vec![n as u8; PACKAGE_PIECE_BYTES_MAX]);
    let most = PUBLISHED_BYTES_PER_AUTHOR_MAX as usize / PACKAGE_PIECE_BYTES_MAX;
    assert_eq!(most, PIECES_PER_AUTHOR_MAX);
    for n in 0..most {
        assert_eq!(publish_piece(&mut yard, 1, piece(n)), Outcome::Ok, "piece {n}");
    }

    assert_eq!(publish_piece(&mut yard, 1, piece(0)), Outcome::Ok, "it is there already");
    assert_eq!(publish_piece(&mut yard, 1, piece(most)), refused(Refusal::TooOften));
    let act = yard.publish(1, package("counter", COUNTER).encode());
    yard.play();
    assert_eq!(yard.outcome(&act), refused(Refusal::TooOften), "the pieces count for a minute");
    assert_eq!(publish_piece(&mut yard, 2, piece(most)), Outcome::Ok);
}

#[test]
fn an_author_has_so_many_pieces_however_short_they_are() {
    let mut yard = site(&mut Builder::new());
    for n in 0..PIECES_PER_AUTHOR_MAX as u8 {
        assert_eq!(publish_piece(&mut yard, 1, Blob(vec![n])), Outcome::Ok);
    }
    assert_eq!(publish_piece(&mut yard, 1, Blob(vec![99])), refused(Refusal::TooOften));
    assert_eq!(publish_piece(&mut yard, 2, Blob(vec![])), refused(Refusal::BadPackage));
    let piece = BlobId(metatopia_types::Digest::ZERO);
    assert_eq!(yard.try_act(2, Act::PublishPiece { piece }), refused(Refusal::NoBlob));
}

#[test]
fn a_turn_takes_so_many_bytes_of_pieces_and_they_cost_no_gas() {
    let mut yard = site(&mut Builder::new());
    let blobs: Vec<Blob> = (0..3).map(|n| Blob(vec![n; PACKAGE_PIECE_BYTES_MAX])).collect();
    const { assert!(PUBLISHED_BYTES_PER_TURN_MAX as usize == 2 * PACKAGE_PIECE_BYTES_MAX) };
    let before = gas(&yard);
    let acts: Vec<_> = blobs
        .into_iter()
        .map(|blob| yard.act_with(1, Act::PublishPiece { piece: blob.id() }, blob))
        .collect();
    yard.play();

    let done = acts.iter().filter(|act| yard.outcome(act) == Outcome::Ok).count();
    let late = acts.iter().filter(|act| yard.outcome(act) == refused(Refusal::TooOften)).count();
    assert_eq!((done, late), (2, 1));
    assert_eq!(gas(&yard), before);
}

// A tab could otherwise have a turn compile a quarter of a megabyte.
#[test]
fn what_is_compiled_of_a_package_in_pieces_fits_a_turn_and_is_paid_for() {
    let mut yard = site(&mut Builder::new());
    let library = package("library", &format!("fn f() {{ 1 }}\n// {}", "x".repeat(40_000)));
    let act = yard.publish(2, library.encode());
    yard.play();
    assert_eq!(yard.outcome(&act), Outcome::Ok);

    let entry = |bytes: usize| {
        let code = "import \"library\" as library; fn on_touch(other) { library::f(); }\n// ";
        format!("{code}{}", "y".repeat(bytes))
    };
    let imports = [("library", library.id())];
    let much = with_notes(&entry(30_000), 60_000, &imports);
    let pieces = publish_pieces(&mut yard, 1, &much);
    assert_eq!(assemble(&mut yard, 1, &pieces), refused(Refusal::BadImport));

    let fits = with_notes(&entry(20_000), 60_000, &imports);
    let pieces = publish_pieces(&mut yard, 1, &fits);
    let before = gas(&yard);
    assert_eq!(assemble(&mut yard, 1, &pieces), Outcome::Ok);
    assert_ne!(gas(&yard), before);
}
