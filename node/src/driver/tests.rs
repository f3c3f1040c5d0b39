//! What the loop keeps from one pass to the next.

use metatopia_types::{Digest, Outcome};

use super::*;

#[test]
fn acts_beyond_those_that_are_followed_go_unfollowed_until_one_of_these_is_applied() {
    let act = |number: usize| ActId(Digest::of("a test", &number.to_le_bytes()));
    let applied = || ActStage::Applied { outcome: Outcome::Ok };
    let (oldest, newest) = (act(0), act(FOLLOWED_MAX));
    let mut state = LoopState::default();
    (0..FOLLOWED_MAX).for_each(|number| state.trace(act(number), ActStage::Admitted));
    assert_eq!(state.acts.len(), FOLLOWED_MAX);

    state.trace(newest, ActStage::Admitted);
    assert!(!state.acts.contains_key(&newest), "there is no room");
    state.trace(newest, applied());
    assert_eq!(state.acts.len(), FOLLOWED_MAX, "it takes the place of nobody");

    state.trace(oldest, applied());
    state.trace(newest, ActStage::Admitted);
    assert!(state.acts.contains_key(&newest) && !state.acts.contains_key(&oldest));
    assert_eq!(state.acts.len(), FOLLOWED_MAX);
}
