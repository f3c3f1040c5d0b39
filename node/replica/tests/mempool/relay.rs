//! Acts that one server hands to the others.

use super::*;

fn ids(submissions: &[Submission]) -> Vec<ActId> {
    submissions.iter().map(|submission| submission.act.id()).collect()
}

/// Returns a ration that lets so many acts be handed on.
fn ration(acts: usize) -> impl FnMut() -> bool {
    let mut left = acts;
    move || {
        let may = left > 0;
        left = left.saturating_sub(1);
        may
    }
}

#[test]
fn a_server_that_comes_up_gets_waiting_acts_in_the_order_of_their_lanes_this_servers_first() {
    let mut pool = Pool::new();
    for author in [2, 3, 1] {
        for seq in (1..=20).rev() {
            pool.admit(act(author, 1, seq)).expect("good");
        }
    }

    let handed = pool.pool.hand_over(key(3).public(), true);

    assert_eq!(handed.len(), 60);
    let authors: Vec<PublicKey> = handed.iter().map(|said| said.act.envelope.author).collect();
    assert_eq!(authors[..20], [key(3).public(); 20]);
    for author in [1, 2, 3] {
        let own = handed.iter().map(|said| &said.act.envelope);
        let own = own.filter(|envelope| envelope.author == key(author).public());
        let seqs: Vec<u64> = own.map(|envelope| envelope.seq.0).collect();
        assert_eq!(seqs, (1..=20).collect::<Vec<_>>());
    }
}

/// Pools that had filled up on both sides of a cut network were handed over at once when it was whole
/// again: that was more than may wait to be sent, so the connection ended, and so did the next.
#[test]
fn a_full_pool_is_handed_over_in_parts_and_what_is_left_of_it_is_overdue() {
    let mut pool = Pool::new();
    let mut all = Vec::new();
    for author in 1..=20 {
        for seq in 1..=AUTHOR_PENDING_MAX as u64 {
            all.push(pool.admit(act(author, 1, seq)).expect("there is room"));
        }
    }
    assert_eq!(pool.pool.overdue(Height(1), ration(2_000)).len(), all.len());

    let handed = ids(&pool.pool.hand_over(key(99).public(), true));
    let overdue = ids(&pool.pool.overdue(Height(2), ration(2_000)));

    assert_eq!(handed.len(), HANDED_OVER_MAX);
    assert_eq!(overdue.len(), all.len() - handed.len());
    assert!(handed.iter().all(|act| !overdue.contains(act)));
    assert!(pool.pool.overdue(Height(3), ration(2_000)).is_empty());
}

/// The clients of one server may say more than the others read of it: its votes came behind all that,
/// and then the others took it for too slow.
#[test]
fn acts_beyond_the_pace_of_the_others_wait_for_a_turn_and_nobody_overtakes_them() {
    let mut pool = Pool::new();
    let mut turn = ration(3);
    let mut said = Vec::new();
    for seq in 1..=5 {
        said.push(pool.admit(act(1, 1, seq)).expect("there is room"));
        let told = pool.pool.hand_on(&said[said.len() - 1], Height(1), &mut turn);
        assert_eq!(told.map(|told| told.act.id()), (seq <= 3).then(|| said[said.len() - 1]));
    }
    let elsewhere = pool.admit(act(2, 1, 1)).expect("there is room");
    assert!(pool.pool.hand_on(&elsewhere, Height(1), ration(9)).is_none(), "others waited before");

    let mut waited = ids(&pool.pool.overdue(Height(2), ration(1)));
    assert_eq!(waited.len(), 1);
    waited.extend(ids(&pool.pool.overdue(Height(3), ration(9))));
    assert!(waited.contains(&elsewhere));
    waited.retain(|act| *act != elsewhere);
    assert_eq!(waited, said[3..]);
    assert!(pool.pool.overdue(Height(4), ration(9)).is_empty());
    let next = pool.admit(act(2, 1, 2)).expect("there is room");
    assert!(pool.pool.hand_on(&next, Height(4), ration(1)).is_some(), "nobody waits any more");
}

/// It went by the order of keys: whose came last were never told of, as long as others said more than
/// there was room for.
#[test]
fn acts_that_wait_are_handed_on_one_of_each_author_in_turn() {
    let mut pool = Pool::new();
    let mut order = Vec::new();
    for seq in 1..=3 {
        for author in 1..=3 {
            order.push(pool.admit(act(author, 1, seq)).expect("there is room"));
        }
    }
    let mut told = Vec::new();
    for height in 2..=10 {
        told.extend(ids(&pool.pool.overdue(Height(height), ration(1))));
    }

    for round in 0..3 {
        let mut of_round = told[3 * round..3 * round + 3].to_vec();
        of_round.sort_unstable();
        let mut due = order[3 * round..3 * round + 3].to_vec();
        due.sort_unstable();
        assert_eq!(of_round, due, "round {round}");
    }
}

/// A server died when its acts had reached one other, where its clients said them again, more than
/// could be handed on; they counted as told of, and later ones of the lane were proposed first.
#[test]
fn an_act_that_another_server_told_of_and_a_client_says_again_waits_like_a_new_one() {
    let mut pool = Pool::new();
    let first = pool.admit_from(act(1, 1, 1), ActSource::Server).expect("there is room");
    pool.admit(act(1, 1, 1)).expect("it waits already");
    assert!(pool.pool.hand_on(&first, Height(1), ration(0)).is_none());
    let second = pool.admit(act(1, 1, 2)).expect("there is room");

    assert!(pool.pool.hand_on(&second, Height(1), ration(9)).is_none());
    assert_eq!(ids(&pool.pool.overdue(Height(2), ration(9))), [first, second]);
}

/// A follower handed an act on while a turn took long. The proposer had heard enough of it and passed
/// the act over, and nobody ever said it again.
#[test]
fn acts_that_wait_for_long_are_handed_on_again_a_few_at_a_time_and_in_order() {
    let mut pool = Pool::new();
    let late: Vec<ActId> = (1..=HANDED_AGAIN_MAX as u64 + 1)
        .map(|seq| pool.admit(act(1, 1, seq)).expect("there is room"))
        .collect();
    pool.admit_from(act(2, 1, 1), ActSource::Server).expect("there is room");
    let mut overdue = |height| ids(&pool.pool.overdue(Height(height), ration(100)));
    assert_eq!(overdue(1), late, "the others heard of none");
    assert!(overdue(AGAIN_TURNS).is_empty(), "they came at height 1");
    assert_eq!(overdue(1 + AGAIN_TURNS), late[..HANDED_AGAIN_MAX]);
    assert_eq!(overdue(1 + AGAIN_TURNS), late[HANDED_AGAIN_MAX..]);
    assert!(overdue(2 * AGAIN_TURNS).is_empty(), "all were handed on just now");
    assert_eq!(overdue(1 + 2 * AGAIN_TURNS).len(), HANDED_AGAIN_MAX);
}
