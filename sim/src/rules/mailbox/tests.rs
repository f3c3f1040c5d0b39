//! What mailboxes keep, and what they forget when they are full.

use metatopia_types::{
    Act, BlobId, Digest, Envelope, Height, Lane, Seq, Signature, SimId, limits::SEALED_BYTES_MAX,
};

use super::*;

fn key(n: usize) -> PublicKey {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(n as u64).to_be_bytes());
    PublicKey(bytes)
}

fn words(by: PublicKey, newcomer: bool, time: u64) -> KeptWords {
    let act = Act::Tell { to: key(0), sealed: BlobId(Digest::ZERO) };
    let (sim, lane, seq) = (SimId(Digest::ZERO), Lane(u64::MAX), Seq(u64::MAX));
    let envelope = Envelope { sim, author: by, lane, seq, last_valid: Height(u64::MAX), act };
    let act = SignedEnvelope { envelope, signature: Signature::from_bytes([7; 64]) };
    let sealed = vec![7; SEALED_BYTES_MAX];
    KeptWords { act, newcomer, height: Height(u64::MAX), time, sealed }
}

/// Puts words into mailboxes, and numbers them as the sim does.
#[derive(Default)]
struct Post {
    mailboxes: Mailboxes,
    last: u64,
}

impl Post {
    fn put(&mut self, to: usize, by: usize, newcomer: bool) -> u64 {
        self.last += 1;
        self.mailboxes.put(key(to), self.last, words(key(by), newcomer, self.last));
        self.last
    }

    fn numbers(&self, to: usize) -> Vec<u64> {
        self.mailboxes.of(key(to), 0).map(|(number, _)| number).collect()
    }

    /// Checks that the indexes are those of what is kept.
    fn check(&self) {
        let mut anew = self.mailboxes.clone();
        anew.index();
        assert_eq!(anew.by_age, self.mailboxes.by_age);
        assert_eq!(anew.of_newcomers, self.mailboxes.of_newcomers);
        assert_eq!(anew.by_author, self.mailboxes.by_author);
        assert!(anew.all.len() <= MAIL_MAX && anew.of_newcomers.len() <= MAIL_OF_NEWCOMERS_MAX);
    }
}

#[test]
fn an_author_has_four_words_in_a_mailbox_and_sixteen_in_the_sim_the_last_ones() {
    let mut post = Post::default();
    for _ in 0..=MAILBOX_PER_AUTHOR_MAX {
        post.put(0, 1, false);
    }
    assert_eq!(post.numbers(0), [2, 3, 4, 5]);
    for to in 1..=MAIL_PER_AUTHOR_MAX {
        post.put(to, 1, false);
    }
    assert_eq!(post.numbers(0), Vec::<u64>::new(), "the oldest went");
    assert_eq!(post.mailboxes.all.len(), MAIL_PER_AUTHOR_MAX);
    post.check();
}

#[test]
fn in_a_full_mailbox_newcomers_push_out_each_other_and_nobody_who_was_seen_often_enough() {
    let mut post = Post::default();
    let kept: Vec<u64> = (1..=4).map(|by| post.put(0, by, false)).collect();
    for by in 0..1_000 {
        post.put(0, 100 + by, true);
    }
    assert_eq!(post.numbers(0).len(), kept.len() + MAILBOX_OF_NEWCOMERS_MAX);
    assert!(kept.iter().all(|number| post.numbers(0).contains(number)));

    // Those who were seen often enough push out newcomers first, and then the oldest.
    let newest = (0..MAILBOX_MAX - 4).map(|by| post.put(0, 2_000 + by, false)).max();
    assert_eq!(post.numbers(0).len(), MAILBOX_MAX);
    assert!(kept.iter().all(|number| post.numbers(0).contains(number)), "newcomers went");
    post.put(0, 3_000, false);
    assert_eq!(post.numbers(0).first(), Some(&2), "the oldest went");
    assert!(newest.is_some_and(|number| post.numbers(0).contains(&number)));
    post.check();
    let leaf: Vec<_> = post.mailboxes.all.iter().collect();
    let bytes = wire::length(&leaf);
    assert!(bytes <= 28 * 1_024, "a mailbox of {bytes} bytes");
}

#[test]
fn a_thousand_keys_that_cost_nothing_fill_half_of_the_room_and_push_out_nobody_else() {
    let mut post = Post::default();
    let kept: Vec<u64> = (0..100).map(|by| post.put(by, 10_000 + by, false)).collect();
    for round in 0..8 {
        for by in 0..1_000 {
            post.put(200 + by % 500 + round, 20_000 + by, true);
        }
        post.check();
    }
    assert_eq!(post.mailboxes.of_newcomers.len(), MAIL_OF_NEWCOMERS_MAX);
    assert!(kept.iter().all(|number| post.mailboxes.by_age.contains_key(number)));
    // Even where all the room is taken, the next one has some.
    for by in 0..MAIL_MAX {
        post.put(3_000 + by, 30_000 + by, false);
    }
    post.check();
    assert_eq!((post.mailboxes.all.len(), post.mailboxes.of_newcomers.len()), (MAIL_MAX, 0));
    let place = (key(3_000 + MAIL_MAX - 1), post.last);
    let entry = post.mailboxes.all.get(&place).map(|words| wire::length(&(place, words)));
    assert!(entry.is_some_and(|bytes| bytes <= 960), "{entry:?}");
}

#[test]
fn words_are_kept_for_a_week_unless_their_reader_takes_them_out_or_their_author_is_banned() {
    let mut post = Post::default();
    for by in [1, 2, 1, 3] {
        post.put(0, by, false);
    }
    post.put(9, 1, false);
    post.mailboxes.empty(key(0), 2);
    assert_eq!(post.numbers(0), [3, 4]);
    post.mailboxes.forget_all_of(&key(1));
    assert_eq!((post.numbers(0), post.numbers(9)), (vec![4], vec![]));
    post.mailboxes.pass(MAILBOX_MS + 3);
    assert_eq!(post.numbers(0), [4]);
    post.mailboxes.pass(MAILBOX_MS + 4);
    assert_eq!(post.numbers(0), Vec::<u64>::new());
    // A turn forgets some of what is too old, and the next one goes on.
    for to in 0..=ENDINGS_PER_TURN_MAX {
        post.put(to, 50 + to, false);
    }
    post.mailboxes.pass(u64::MAX);
    assert_eq!(post.mailboxes.all.len(), 1);
    post.check();
}
