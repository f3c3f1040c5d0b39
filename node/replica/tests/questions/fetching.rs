//! A certified state, fetched from servers of which some lie, lag, or vanish.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{BodySpec, Motion, Shape};
use metatopia_protocol::{Answer, LEAVES_PER_QUESTION_MAX, Question};
use metatopia_replica::fetch::{
    ANSWER, ASKED_MAX, BUSIES_MAX, Fetch, FetchEffect, Fetched, ProviderFault, ProviderState,
    SILENCES_MAX,
};
use metatopia_sim::{Genesis, ObjectSpec};
use metatopia_types::{
    AssetLicence, Digest, Ed25519, Height, Look, PublicKey, Root, Trust, Validator, ValidatorSet,
    wire,
};

use super::alone::{Alone, SNAPSHOT_TURNS, genesis, tools};

const NOW: Duration = Duration::ZERO;

fn provider(n: u8) -> PublicKey {
    PublicKey([n; 32])
}

fn validators() -> ValidatorSet {
    let members = genesis().validators.into_keys().map(|key| Validator { key, power: 1 });
    ValidatorSet::new(members.collect(), |_| true).expect("a set")
}

fn begin() -> Fetch {
    let trust = Trust { height: Height(0), validators: validators() };
    Fetch::new(genesis().id(), trust, Some(validators()), Arc::new(Ed25519))
}

fn world() -> Alone {
    let mut server = Alone::begin();
    server.run_to(2 * SNAPSHOT_TURNS + 10);
    server
}

/// What became of a fetch.
#[derive(Default)]
struct End {
    fetched: Option<Fetched>,
    dropped: BTreeMap<PublicKey, ProviderFault>,
    asked: BTreeMap<PublicKey, usize>,
    kept: Vec<Vec<u8>>,
    genesis: bool,
}

/// Answers every question at once, as `answer` says; one that is not answered waits for ever.
fn play(fetch: &mut Fetch, mut answer: impl FnMut(PublicKey, &Question) -> Option<Answer>) -> End {
    let (mut end, mut now) = (End::default(), NOW);
    for _ in 0..10_000 {
        while let Some(effect) = fetch.poll() {
            match effect {
                FetchEffect::Ask { to, token, question } => {
                    *end.asked.entry(to).or_default() += 1;
                    if let Some(answer) = answer(to, &question) {
                        fetch.answer(now, to, token, answer);
                    }
                }
                FetchEffect::Keep { content, .. } => end.kept.push(content),
                FetchEffect::Dropped { provider, why } => {
                    end.dropped.insert(provider, why);
                }
                FetchEffect::Done(fetched) => end.fetched = Some(*fetched),
                FetchEffect::Genesis => end.genesis = true,
            }
        }
        match fetch.deadline() {
            Some(at) if !fetch.is_alone() => {
                now = now.max(at);
                fetch.wake(now);
            }
            _ => return end,
        }
    }
    panic!("it goes on for ever: {:?}", fetch.progress());
}

#[test]
fn a_state_that_was_fetched_is_the_one_that_the_servers_hold_and_agreement_goes_on_from_it() {
    let mut server = world();
    let mut fetch = begin();
    (1..=3).for_each(|n| fetch.up(NOW, provider(n)));

    let end = play(&mut fetch, |_, question| Some(server.ask(question.clone())));

    let fetched = end.fetched.expect("everything was answered");
    let (base, world) = fetched.open(&tools()).expect("the certified state");
    assert_eq!(world.height(), Height(2 * SNAPSHOT_TURNS));
    assert_eq!(base.height, world.height());
    assert_eq!(base.roots[1], world.root());
    let Answer::Root(root) = server.ask(Question::Root { height: world.height() }) else {
        panic!("the server knows the root")
    };
    assert_eq!(root, world.root());
    assert!(end.dropped.is_empty(), "{:?}", end.dropped);
    assert!(!base.voice, "who fetched a state has said nothing yet");
}

#[test]
fn a_provider_of_a_wrong_leaf_is_named_with_the_leaf_and_the_others_give_it() {
    let mut server = world();
    let mut fetch = begin();
    (1..=2).for_each(|n| fetch.up(NOW, provider(n)));
    let mut lies = 0;

    let end = play(&mut fetch, |from, question| {
        let answer = server.ask(question.clone());
        Some(match answer {
            Answer::Leaves(mut leaves) if from == provider(2) => {
                lies += 1;
                leaves[0].push(7);
                Answer::Leaves(leaves)
            }
            answer => answer,
        })
    });

    // Whoever is asked for leaves first may have given all of them, in a world as small as this.
    if lies > 0 {
        assert!(matches!(end.dropped[&provider(2)], ProviderFault::Leaf(_)), "{:?}", end.dropped);
    }
    assert_eq!(end.dropped.len(), lies);
    end.fetched.expect("the other one is honest").open(&tools()).expect("the certified state");
}

#[test]
fn a_liar_alone_is_named_and_nothing_of_it_is_believed() {
    type Lie = fn(Answer) -> Answer;
    let lies: [(&str, Lie); 7] = [
        ("does not hash", |answer| match answer {
            Answer::Leaves(mut leaves) => {
                leaves[0].push(1);
                Answer::Leaves(leaves)
            }
            answer => answer,
        }),
        ("manifest", |answer| match answer {
            Answer::SnapshotPart(mut part) => {
                part[40] ^= 1;
                Answer::SnapshotPart(part)
            }
            answer => answer,
        }),
        // The number of leaves comes first; here in a longer form, which was taken for the same.
        ("not the canonical encoding", |answer| match answer {
            Answer::SnapshotPart(mut part) => {
                assert!(part[0] < 0x80, "fewer leaves than that");
                part[0] |= 0x80;
                part.insert(1, 0);
                part.pop();
                Answer::SnapshotPart(part)
            }
            answer => answer,
        }),
        ("leaves are more than a state has", |answer| match answer {
            Answer::SnapshotPart(mut part) => {
                part[..4].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
                Answer::SnapshotPart(part)
            }
            answer => answer,
        }),
        ("not the one that was decided", |answer| match answer {
            Answer::Turn(mut turn) => {
                turn.0.header.engine += 1;
                Answer::Turn(turn)
            }
            answer => answer,
        }),
        ("not: ", |answer| match answer {
            Answer::Snapshot(mut offer) => {
                offer.header.root = Root(Digest::ZERO);
                Answer::Snapshot(offer)
            }
            answer => answer,
        }),
        ("another question", |answer| match answer {
            Answer::Links(_) => Answer::Players(Vec::new()),
            answer => answer,
        }),
    ];
    for (words, lie) in lies {
        let mut server = world();
        let mut fetch = begin();
        fetch.up(NOW, provider(1));
        let end = play(&mut fetch, |_, question| Some(lie(server.ask(question.clone()))));
        assert!(end.fetched.is_none(), "{words}");
        assert!(end.dropped[&provider(1)].to_string().contains(words), "{:?}", end.dropped);
        assert!(fetch.is_alone());
        assert_eq!(fetch.progress().providers[0].2, ProviderState::Dropped);
        // An honest one that comes later is enough.
        fetch.up(NOW, provider(2));
        let end = play(&mut fetch, |_, question| Some(server.ask(question.clone())));
        assert!(end.fetched.is_some(), "{words}");
    }
}

/// Servers were called liars that had lost a turn which states the root, or had removed it (whole seed 11).
#[test]
fn a_provider_that_lost_a_turn_of_the_proof_is_no_liar() {
    let mut server = world();
    let mut fetch = begin();
    (1..=2).for_each(|n| fetch.up(NOW, provider(n)));
    let oldest = Height(3 * SNAPSHOT_TURNS);

    let end = play(&mut fetch, |from, question| match question {
        Question::Turn { .. } if from == provider(1) => Some(Answer::Pruned { oldest }),
        question => Some(server.ask(question.clone())),
    });

    assert!(end.fetched.is_some());
    assert!(end.dropped.is_empty(), "{:?}", end.dropped);
}

/// The length that one of them stated was taken for the others' too, and each of their parts was of a
/// wrong one: a liar kept a server without a state out for ever.
#[test]
fn a_provider_that_lies_about_the_length_of_a_snapshot_makes_no_liar_of_the_others() {
    for liar in [1, 3] {
        let mut server = world();
        let mut fetch = begin();
        (1..=3).for_each(|n| fetch.up(NOW, provider(n)));

        let end = play(&mut fetch, |from, question| match server.ask(question.clone()) {
            Answer::Snapshot(mut offer) if from == provider(liar) => {
                offer.bytes = 1;
                Some(Answer::Snapshot(offer))
            }
            answer => Some(answer),
        });

        end.fetched.expect("two are honest").open(&tools()).expect("the certified state");
        assert!(end.dropped.keys().all(|dropped| *dropped == provider(liar)), "{:?}", end.dropped);
    }
}

/// It offered a state that nobody else had, and then gave nothing of it, for ever and without a fault.
#[test]
fn a_provider_that_gives_nothing_of_a_state_that_it_alone_has_holds_up_nobody() {
    for nothing in [Answer::Busy, Answer::Unknown] {
        let mut server = world();
        let mut ahead = Alone::begin();
        ahead.run_to(3 * SNAPSHOT_TURNS + 10);
        let mut fetch = begin();
        (1..=3).for_each(|n| fetch.up(NOW, provider(n)));
        let mut held_up = 0;

        let end = play(&mut fetch, |from, question| {
            if from != provider(3) {
                return Some(server.ask(question.clone()));
            }
            match question {
                Question::SnapshotPart { .. } | Question::Leaves { .. } => {
                    held_up += 1;
                    Some(nothing.clone())
                }
                question => Some(ahead.ask(question.clone())),
            }
        });

        assert!(held_up > 0, "its state is the newest one");
        let fetched = end.fetched.expect("two are honest");
        assert_eq!(fetched.checkpoint.height, Height(2 * SNAPSHOT_TURNS));
        fetched.open(&tools()).expect("the certified state");
        assert!(end.dropped.is_empty(), "{:?}", end.dropped);
    }
}

#[test]
fn a_provider_that_has_too_much_to_do_each_time_is_given_up_after_some_tries() {
    let mut fetch = begin();
    fetch.up(NOW, provider(1));

    let end = play(&mut fetch, |_, _| Some(Answer::Busy));

    assert_eq!(end.dropped[&provider(1)], ProviderFault::Busy);
    assert_eq!(end.asked[&provider(1)], BUSIES_MAX as usize);
}

#[test]
fn leaves_that_are_at_hand_are_not_asked_for() {
    let mut server = world();
    let mut fetch = begin();
    fetch.up(NOW, provider(1));
    let first = play(&mut fetch, |_, question| Some(server.ask(question.clone())));
    assert!(!first.kept.is_empty());

    let mut again = begin();
    first.kept.into_iter().for_each(|leaf| again.have(leaf));
    again.up(NOW, provider(1));
    let second = play(&mut again, |_, question| {
        assert!(!matches!(question, Question::Leaves { .. }), "all leaves are at hand");
        Some(server.ask(question.clone()))
    });
    second.fetched.expect("nothing was missing").open(&tools()).expect("the certified state");
}

#[test]
fn a_provider_that_does_not_answer_is_given_up_after_some_tries_and_one_that_goes_is_not_waited_for()
 {
    let mut server = world();
    let mut fetch = begin();
    (1..=3).for_each(|n| fetch.up(NOW, provider(n)));
    fetch.down(NOW, provider(3));

    let end =
        play(&mut fetch, |to, question| (to == provider(1)).then(|| server.ask(question.clone())));

    assert!(end.fetched.is_some());
    assert!(!end.dropped.contains_key(&provider(3)));
    let mut silent = begin();
    silent.up(NOW, provider(1));
    let end = play(&mut silent, |_, _| None);
    assert_eq!(end.dropped[&provider(1)], ProviderFault::Silent);
    assert_eq!(end.asked[&provider(1)], SILENCES_MAX as usize);
    assert!(ANSWER > Duration::ZERO);
}

#[test]
fn a_state_that_is_let_go_meanwhile_is_given_up_for_the_next_and_its_leaves_are_used() {
    let mut server = world();
    let mut fetch = begin();
    fetch.up(NOW, provider(1));
    let mut moved = false;

    let end = play(&mut fetch, |_, question| {
        if matches!(question, Question::Leaves { .. }) && !moved {
            moved = true;
            server.run_to(10 * SNAPSHOT_TURNS + 5);
        }
        Some(server.ask(question.clone()))
    });

    let fetched = end.fetched.expect("a newer state is there");
    assert!(fetched.checkpoint.height >= Height(9 * SNAPSHOT_TURNS), "{:?}", fetched.checkpoint);
    fetched.open(&tools()).expect("the certified state");
}

#[test]
fn a_sim_without_a_snapshot_begins_at_genesis() {
    let mut server = Alone::begin();
    server.run_to(5);
    let mut fetch = begin();
    fetch.up(NOW, provider(1));
    let end = play(&mut fetch, |_, question| Some(server.ask(question.clone())));
    assert!(end.genesis && end.fetched.is_none());
}

/// A sim whose state takes several questions for leaves.
fn large() -> Genesis {
    let thing = |n: i32| ObjectSpec {
        kind: "thing".to_owned(),
        name: "thing".to_owned(),
        owner: None,
        look: Look::default(),
        text: "a".repeat(250),
        body: BodySpec::new(
            Shape::Circle { radius: Fx::ONE },
            Motion::Static,
            Vec2::new(Fx::from_int(n % 64 * 8), Fx::from_int(n / 64 * 8)),
        ),
        scripts: Vec::new(),
        licence: AssetLicence::default(),
        spawner: None,
        seat: None,
    };
    Genesis { objects: (0..3_000).map(thing).collect(), ..genesis() }
}

#[test]
fn a_server_has_so_many_questions_to_answer_at_a_time_and_gets_the_next_for_an_answer() {
    let genesis = large();
    let mut server = Alone::found(&genesis);
    server.run_to(SNAPSHOT_TURNS + 5);
    let trust = Trust { height: Height(0), validators: validators() };
    let mut fetch = Fetch::new(genesis.id(), trust, Some(validators()), Arc::new(Ed25519));
    fetch.up(NOW, provider(1));

    let (mut unanswered, mut counts, mut is_done) = (VecDeque::new(), Vec::new(), false);
    loop {
        while let Some(effect) = fetch.poll() {
            match effect {
                FetchEffect::Ask { token, question, .. } => unanswered.push_back((token, question)),
                FetchEffect::Done(_) => is_done = true,
                FetchEffect::Keep { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        let Some((token, question)) = unanswered.pop_front() else { break };
        if matches!(question, Question::Leaves { .. }) {
            counts.push(1 + unanswered.len());
        }
        fetch.answer(NOW, provider(1), token, server.ask(question));
    }

    assert!(is_done, "{:?}", fetch.progress());
    assert_eq!(counts.iter().max(), Some(&ASKED_MAX));
    let full = counts.iter().filter(|count| **count == ASKED_MAX).count();
    assert!(full > 1, "there was more to ask for: {counts:?}");
}

#[test]
fn questions_for_leaves_are_answered_within_their_bounds() {
    let mut server = world();
    let height = Height(2 * SNAPSHOT_TURNS);
    let mut leaves = |leaves: Vec<u32>| server.ask(Question::Leaves { height, leaves });
    let Answer::Leaves(two) = leaves(vec![1, 0]) else { panic!("there are two") };
    let Answer::Leaves(one) = leaves(vec![0]) else { panic!("there is one") };
    assert_eq!(two[1], one[0]);
    for none in [vec![], vec![u32::MAX], vec![0; LEAVES_PER_QUESTION_MAX + 1]] {
        assert_eq!(leaves(none), Answer::Unknown);
    }
    assert!(wire::encode(&leaves(vec![0; LEAVES_PER_QUESTION_MAX])).len() < 512 * 1_024);
}
