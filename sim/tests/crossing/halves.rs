//! Contacts over a line: each sim tells its own thing its own half of each, and tells it once.

use std::collections::BTreeSet;

use metatopia_math::{Fx, Stream, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{Event, ScriptState};
use metatopia_sim::ObjectSpec;
use metatopia_types::Tick;

use crate::{
    ghosts::{crate_at, fx, two},
    rolling::{ball, package},
    town::{at, tell, town_of},
};

/// What is told of contacts over a line and of nothing else.
const COUNTER: &str = "fn on_hit_beyond(what, speed) { state.last = what; }\n";

/// Has a ball of the west roll against a box beyond the line, while words are lost or not. Gives the steps in which
/// each of the two is told of it, and at what speed.
fn one_contact(seed: u64, loses: impl Fn(&mut Stream) -> bool) -> [Vec<(Tick, Fx)>; 2] {
    let mut dice = Stream::new(&[9; 32], "halves", &[seed]);
    let counter = package("counter", COUNTER);
    let mut geneses = two();
    for genesis in &mut geneses {
        genesis.packages.insert(counter.id(), counter.encode());
    }
    let none = ScriptState::default();
    let mut ball = ball(at(26, 12), &[counter.id()], &none);
    ball.body.velocity = Vec2::new(dice.fx_between(fx(200), fx(900)), Fx::ZERO);
    let x = dice.fx_between(fx(-3_190), fx(-3_150));
    let beyond = crate_at(Vec2::new(x, fx(1_200)), Motion::Dynamic);
    geneses[1].objects.push(ObjectSpec { scripts: ball.scripts.clone(), ..beyond });
    geneses[0].objects.push(ball);
    let mut town = town_of(geneses);
    let mut told = [Vec::new(), Vec::new()];
    for _ in 0..100 {
        for n in 0..2 {
            if !loses(&mut dice) {
                tell(&mut town, 1 - n, n);
            }
            for received in town[n].play(50).order {
                if let Event::HitBeyond { what, speed } = received.event {
                    assert_eq!(what, "thing");
                    told[n].push((received.tick, speed));
                }
            }
        }
    }
    told
}

/// A step may end with the two nearer to each other and not yet in touch. Then the next step goes on with the contact,
/// and tells of it as well.
#[test]
fn of_a_contact_over_a_line_each_sim_tells_its_own_half_in_one_step_or_in_two_that_follow() {
    let mut in_two = 0;
    for seed in 0..100 {
        let told = one_contact(seed, |_| false);
        println!("seed {seed}: {told:?}");
        for half in &told {
            assert!(is_one_contact(half), "seed {seed}: {told:?}");
            in_two += usize::from(half.len() == 2);
        }
        // The word of it takes some turns, and the frame has steps of 1/256 m/s.
        let [(here, speed), (there, same)] = told.map(|half| half[0]);
        assert!((1..=18).contains(&(there.0 - here.0)), "seed {seed}");
        assert!(speed.saturating_sub(same).saturating_abs() <= fx(1), "seed {seed}");
    }
    println!("{in_two} of 200 halves took two steps");
}

/// A frame that is lost may be the one by which the other thing would have been met. Then that sim has no half to tell.
#[test]
fn where_words_are_lost_a_thing_is_told_of_what_its_own_sim_had_it_meet_and_of_no_more() {
    let mut both = 0;
    for seed in 0..100 {
        let told = one_contact(seed, |dice| dice.below(8) == 0);
        println!("seed {seed}: {told:?}");
        // The box stands still before the ball comes, so the west has it right whatever is lost.
        assert!(is_one_contact(&told[0]), "seed {seed}: {told:?}");
        let steps: BTreeSet<Tick> = told[1].iter().map(|(tick, _)| *tick).collect();
        assert!(steps.len() == told[1].len() && steps.len() <= 2, "seed {seed}: {told:?}");
        both += usize::from(!told[1].is_empty());
    }
    println!("both halves in {both} of 100 seeds");
    assert!(both >= 90);
}

/// Says whether a thing was told of one contact: in a step, or in two that follow each other, slower in the second.
fn is_one_contact(told: &[(Tick, Fx)]) -> bool {
    match told {
        [_] => true,
        [(first, fast), (second, slow)] => *second == first.plus(1) && slow < fast,
        _ => false,
    }
}
