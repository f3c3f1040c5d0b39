//! Measures how long it takes to read a thousand private words:
//!
//!     cargo run --release -p metatopia-client --example private_words
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a measurement reads the clock, and decides nothing"
)]

use std::time::{Duration, Instant};

use metatopia_client::Correspondence;
use metatopia_protocol::ToldMessage;
use metatopia_types::{
    Digest, Envelope, Height, Lane, Seq, Sign, SigningKey, SimId, limits::CHAT_BYTES_MAX,
};

/// So many words are read.
const COUNT: u64 = 1_000;

fn main() {
    let sim = SimId(Digest([7; 32]));
    let (ada, bob) = (SigningKey::from_seed([1; 32]), SigningKey::from_seed([2; 32]));
    for (whose, each) in [("of one session of one author", COUNT), ("of a thousand sessions", 1)] {
        let told: Vec<ToldMessage> =
            (0..COUNT).map(|n| words(sim, (&ada, n / each), bob.public(), n)).collect();
        let decrypted = timed(|| {
            let mut reader = Correspondence::new(sim, &bob, [0; 32]);
            for words in &told {
                let by = &words.act.envelope.author;
                reader.decrypt(by, &words.sealed).expect("words for this reader");
            }
        });
        let shown = timed(|| {
            let mut reader = Correspondence::new(sim, &bob, [0; 32]);
            for words in &told {
                reader.take(words).expect("words for this reader").expect("new words");
            }
        });
        println!("decrypting {COUNT} private words {whose}: {decrypted:?}");
        println!("the same with the signatures of their authors: {shown:?}");
    }
}

/// Returns the time that something takes.
fn timed(what: impl FnOnce()) -> Duration {
    let began = Instant::now();
    what();
    began.elapsed()
}

/// Returns the longest words that an author tells a reader in one of her sessions.
fn words(
    sim: SimId,
    (author, session): (&SigningKey, u64),
    reader: metatopia_types::PublicKey,
    number: u64,
) -> ToldMessage {
    let mut random = [0; 32];
    random[..8].copy_from_slice(&session.to_le_bytes());
    let mut desk = Correspondence::new(sim, author, random);
    let text = format!("{number:0width$}", width = CHAT_BYTES_MAX);
    let (act, mut blobs) = desk.seal(&reader, &text).expect("words that can be told");
    let (lane, seq, last_valid) = (Lane(session), Seq(number + 1), Height(1_000));
    let envelope = Envelope { sim, author: author.public(), lane, seq, last_valid, act };
    ToldMessage {
        number,
        height: Height(number),
        ago: 0,
        name: String::new(),
        act: envelope.sign(author),
        sealed: blobs.remove(0).0,
    }
}
