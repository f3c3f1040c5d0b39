//! Broken worlds. Each must be seen to be broken within the seeds that its story names.

use metatopia_world::agreement::stories::{Ending, stories};

fn is_control(ending: Ending) -> bool {
    ending != Ending::Sound
}

#[test]
fn every_broken_world_is_seen_to_be_broken() {
    let mut found = 0;
    for story in stories().iter().filter(|story| is_control(story.ending)) {
        let Ending::Found(_, budget) = story.ending else {
            unreachable!("filtered")
        };
        let tally = story.check(budget);
        assert!(tally.first.is_some());
        found += 1;
    }
    assert!(found >= 10, "{found} kinds of broken worlds");
}

#[test]
fn the_index_of_what_was_said_is_a_fuse_and_not_the_mechanism() {
    metatopia_world::agreement::stories::story("without a fuse").check(40);
}
