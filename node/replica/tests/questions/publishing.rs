//! Packages are compiled before the turn of the act that publishes them.

use metatopia_sim::Publishers;
use metatopia_types::{Act, Blob, Look};

use super::{
    alone::{Alone, genesis},
    author_class::Person,
};

/// Returns a server of a sim where these may publish, and a player there.
fn server(publishers: Publishers) -> (Alone, Person) {
    let mut founded = genesis();
    founded.parameters.publishers = publishers;
    let mut server = Alone::found(&founded);
    server.run_to(3);
    let mut player = Person::comes(&mut server, 10);
    player.acts(&mut server, Act::login("ann".to_owned(), Look::default()), 100);
    server.run_to(8);
    (server, player)
}

/// The sim looks at what the bytes are in the turn of the act alone.
fn package() -> (Act, Blob) {
    let blob = Blob(b"some package".to_vec());
    (Act::Publish { source: blob.id() }, blob)
}

#[test]
fn a_package_is_compiled_ahead_once_a_client_has_handed_it_in() {
    let (mut server, mut player) = server(Publishers::Anybody);
    let (act, blob) = package();
    player.acts_with(&mut server, act, vec![blob.clone()], 100);
    assert_eq!(server.compiled_ahead, [blob]);
    server.run_to(20);
    assert_eq!(server.compiled_ahead.len(), 1, "once");
}

/// Whoever repeated an act of some hundred bytes had each server put 256 KiB together and decode them each time.
#[test]
fn an_act_that_is_repeated_while_it_waits_is_compiled_ahead_once() {
    let (mut server, mut player) = server(Publishers::Anybody);
    let piece = Blob(b"some package".to_vec());
    let act = Act::PublishPiece { piece: piece.id() };
    player.acts_with(&mut server, act, vec![piece.clone()], 100);
    server.run_to(12);
    let assemble = Act::Assemble { pieces: vec![piece.id()] };
    player.acts(&mut server, assemble.clone(), 100);
    for _ in 0..5 {
        player.acts_again(&mut server, assemble.clone(), Vec::new(), 100);
    }
    assert_eq!(server.compiled_ahead, [piece]);
}

#[test]
fn a_package_of_somebody_who_may_not_publish_is_not_compiled_ahead() {
    let (mut server, mut player) = server(Publishers::Admins);
    let (act, blob) = package();
    player.acts_with(&mut server, act, vec![blob], 100);
    assert_eq!(server.compiled_ahead, []);
}

/// The act that puts a package together names its pieces, which only the state has.
#[test]
fn a_package_in_pieces_is_compiled_ahead_once_its_author_has_it_put_together() {
    let (mut server, mut player) = server(Publishers::Anybody);
    let blobs = [Blob(b"some ".to_vec()), Blob(b"package".to_vec())];
    for (blob, height) in blobs.iter().zip([12, 16]) {
        let act = Act::PublishPiece { piece: blob.id() };
        player.acts_with(&mut server, act, vec![blob.clone()], 100);
        server.run_to(height);
    }
    assert_eq!(server.compiled_ahead, [], "there is nothing to compile yet");
    let missing = Act::Assemble { pieces: vec![Blob(b"other".to_vec()).id()] };
    player.acts(&mut server, missing, 100);
    assert_eq!(server.compiled_ahead, []);

    let pieces = blobs.iter().map(Blob::id).collect();
    player.acts(&mut server, Act::Assemble { pieces }, 100);

    assert_eq!(server.compiled_ahead, [Blob(b"some package".to_vec())]);
}
