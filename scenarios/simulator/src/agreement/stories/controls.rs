//! Stories in which something must go wrong: a world that sees nothing here sees nothing elsewhere.

use std::time::Duration;

use metatopia_consensus::{AgreementControls, Message};
use metatopia_oracle::Law;
use metatopia_store::{Folder, ReadDisk as _};
use metatopia_types::{Height, Validator, ValidatorSet, Vote, VoteKind};

use super::crashes::after_votes;
use super::rough_links::{long_turns, lossy};
use super::{ExpectedEnding, SeedStory};
use crate::agreement::voter::StartState;
use crate::agreement::{Flaw, Scenario, ScenarioOutcome, Unlogged};
use crate::chance::{Dice, Span};
use crate::cluster::ClusterOrder;
use crate::conditions::Conditions;
use crate::course::Seed;
use crate::signatures::SignatureKind;
use crate::villain::ByzantineBehaviour;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

pub(super) const STORIES: &[SeedStory] = &[
    SeedStory {
        name: "canary",
        sentence: "A liar votes twice, and the oracle takes it for honest.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 1),
        play: canary,
    },
    SeedStory {
        name: "no barrier",
        sentence: "Messages leave before the log is durable.",
        ending: ExpectedEnding::Found(&[Law::NotDurable], 1),
        play: |seed| no_barrier("no barrier", seed),
    },
    SeedStory {
        name: "no barrier, seen by its harm",
        sentence: "The same, and only a double vote or a lost turn counts.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign, Law::Lost, Law::Agreement], 60),
        play: |seed| no_barrier("no barrier, seen by its harm", seed),
    },
    SeedStory {
        name: "turns not logged",
        sentence: "Servers vote for turns whose bytes are not in their log.",
        ending: ExpectedEnding::Found(&[Law::UnseenTurn], 1),
        play: |seed| {
            let controls =
                AgreementControls { turns_not_logged: true, ..AgreementControls::default() };
            broken("turns not logged", seed, controls)
        },
    },
    SeedStory {
        name: "turns not logged, seen by its harm",
        sentence: "The same, and only a lost turn or a server that cannot start counts.",
        ending: ExpectedEnding::Found(&[Law::Lost, Law::Halted, Law::Stuck], 60),
        play: |seed| {
            let controls =
                AgreementControls { turns_not_logged: true, ..AgreementControls::default() };
            broken("turns not logged, seen by its harm", seed, controls)
        },
    },
    SeedStory {
        name: "promises not logged",
        sentence: "What was proposed before its height began is not written down.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 60),
        play: |seed| unlogged("promises not logged", seed, Unlogged::Promises),
    },
    SeedStory {
        name: "own votes not logged",
        sentence: "Servers write down what others say, but not what they said, and why.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 60),
        play: |seed| unlogged("own votes not logged", seed, Unlogged::OwnVotes),
    },
    SeedStory {
        name: "speaking in replay",
        sentence: "While a log is read again, turns are judged as well: servers halt for ever.",
        ending: ExpectedEnding::Found(&[Law::Halted, Law::DoubleSign], 200),
        play: |seed| {
            let controls = AgreementControls { eager_replay: true, ..AgreementControls::default() };
            broken("speaking in replay", seed, controls)
        },
    },
    SeedStory {
        name: "speaking in replay without a fuse",
        sentence: "The same without the index of what was said: now servers vote twice.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 200),
        play: |seed| {
            let controls = AgreementControls {
                eager_replay: true,
                no_index: true,
                ..AgreementControls::default()
            };
            broken("speaking in replay without a fuse", seed, controls)
        },
    },
    SeedStory {
        name: "without a fuse",
        sentence: "Only the index is missing: it is a fuse, and nothing blows.",
        ending: ExpectedEnding::Sound,
        play: |seed| {
            let controls = AgreementControls { no_index: true, ..AgreementControls::default() };
            broken("without a fuse", seed, controls)
        },
    },
    SeedStory {
        name: "parts dropped",
        sentence: "Long turns, and who asks for the rest of one throws away what it has.",
        ending: ExpectedEnding::Found(&[Law::Stuck], 1),
        play: |seed| {
            let mut scenario = long_turns("parts dropped", seed);
            scenario.controls.parts_dropped = true;
            scenario.play(25, MINUTE)
        },
    },
    SeedStory {
        name: "own votes not logged, and dying after votes",
        sentence: "The same, with servers that die when one other server has heard their vote.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 10),
        play: |seed| {
            let name = "own votes not logged, and dying after votes";
            let mut scenario = after_votes(name, seed);
            scenario.unlogged = Some(Unlogged::OwnVotes);
            scenario.play_and_heal(2 * SECOND, MINUTE)
        },
    },
    SeedStory {
        name: "a diverged server",
        sentence: "One server computes another state than the others from height 10 on.",
        ending: ExpectedEnding::Found(&[Law::Root], 1),
        play: |seed| diverged("a diverged server", seed),
    },
    SeedStory {
        name: "an application that accepts everything",
        sentence: "Nobody checks acts, and a liar puts bad ones into its turns.",
        ending: ExpectedEnding::Found(&[Law::VoidTurn], 1),
        play: |seed| {
            let mut scenario = Scenario::new("an application that accepts everything", seed);
            scenario.liars = vec![(3, ByzantineBehaviour::VoidTurns)];
            scenario.no_demotion = true;
            scenario.flaw = Some(Flaw::AcceptsEverything);
            scenario.play(80, MINUTE)
        },
    },
    SeedStory {
        name: "a self-appointed voter",
        sentence: "A follower believes that it votes.",
        ending: ExpectedEnding::Found(&[Law::Outsider], 1),
        play: self_appointed,
    },
    SeedStory {
        name: "a shortened log",
        sentence: "Somebody cuts what was durable off the end of a server's log.",
        ending: ExpectedEnding::Found(&[Law::Forgotten], 3),
        play: shortened,
    },
    SeedStory {
        name: "two and two",
        sentence: "Two servers and two servers, for ever: nobody can decide.",
        ending: ExpectedEnding::Found(&[Law::Stuck], 1),
        play: |seed| {
            let mut scenario = Scenario::new("two and two", seed);
            scenario.orders = vec![(SECOND, ClusterOrder::Split(vec![0, 1]))];
            scenario.play(200, 5 * SECOND)
        },
    },
    SeedStory {
        name: "forgetting and voting on",
        sentence: "A server loses its log in the middle of a height and claims that its key is new.",
        ending: ExpectedEnding::Found(&[Law::DoubleSign], 40),
        play: forgetful,
    },
    SeedStory {
        name: "two twins",
        sentence: "Two of four servers have copies: more liars than agreement bears.",
        ending: ExpectedEnding::Found(&[Law::Agreement], 3),
        play: two_twins,
    },
    SeedStory {
        name: "believing everything",
        sentence: "Signatures are not checked, and somebody forges votes.",
        ending: ExpectedEnding::Found(&[Law::Certificate, Law::Agreement, Law::DoubleSign], 10),
        play: forged,
    },
    SeedStory {
        name: "a wrong set",
        sentence: "One server believes that it has more than two thirds of the voting power.",
        ending: ExpectedEnding::Found(&[Law::Certificate], 1),
        play: wrong_set,
    },
];

pub(in crate::agreement) fn stormy(name: &'static str, seed: Seed) -> Scenario {
    let mut scenario = Scenario::new(name, seed).under(lossy());
    scenario.conditions.sync = Span::ms(0, 6);
    scenario.with_storm(2 * SECOND, 25, 2)
}

/// Plays servers with a broken rule in a storm.
fn broken(name: &'static str, seed: Seed, controls: AgreementControls) -> ScenarioOutcome {
    let mut scenario = stormy(name, seed);
    scenario.controls = controls;
    scenario.play_and_heal(2 * SECOND, MINUTE)
}

/// Plays servers that leave something out of their logs.
fn unlogged(name: &'static str, seed: Seed, unlogged: Unlogged) -> ScenarioOutcome {
    let mut scenario = stormy(name, seed);
    scenario.unlogged = Some(unlogged);
    scenario.play_and_heal(2 * SECOND, MINUTE)
}

/// Plays drivers that do not hold messages back until the log is durable.
fn no_barrier(name: &'static str, seed: Seed) -> ScenarioOutcome {
    let mut scenario = stormy(name, seed);
    scenario.conditions.barrier = false;
    scenario.play_and_heal(2 * SECOND, MINUTE)
}

/// A server whose application goes another way from height 10 on.
pub(super) fn diverged(name: &'static str, seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new(name, seed);
    scenario.conditions.links.delay = Span::ms(1, 30);
    let seat = Dice::new(seed.number, "diverged").index(4);
    scenario.flaw = Some(Flaw::Diverges { seat, from: Height(10) });
    let mut stage = scenario.stage();
    stage.world.cluster.may_halt = vec![seat];
    stage.until_height(40, MINUTE);
    stage.finish()
}

fn self_appointed(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("a self-appointed voter", seed);
    scenario.seats = 5;
    let mut stage = scenario.stage();
    let mut start = stage.world.cluster.genesis_start(true);
    let mut members = start.base.sets[0].members().to_vec();
    members.push(Validator { key: stage.setting().name(4), power: 1 });
    let set = ValidatorSet::new(members, |_| true).expect("different keys are a set");
    start.base.sets = [set.clone(), set.clone(), set];
    stage.world.cluster.starts.insert(4, start);
    stage.world.plan(Duration::ZERO, ClusterOrder::Start(4));
    stage.world.run_until(2 * SECOND);
    stage.finish()
}

fn shortened(seed: Seed) -> ScenarioOutcome {
    let scenario = Scenario::new("a shortened log", seed);
    let mut stage = scenario.stage();
    stage.world.plan(2 * SECOND, ClusterOrder::Kill(1));
    stage.world.run_until(2 * SECOND);
    let disk = stage.world.disk_mut(1);
    let last = disk.list(Folder::Log).ok().and_then(|files| files.last().copied());
    let file = last.expect("a server has a log");
    let bytes = disk.bytes(file).expect("the file is listed").to_vec();
    disk.replace(file, bytes[..bytes.len() * 3 / 4].to_vec());
    stage.world.plan(2 * SECOND, ClusterOrder::Start(1));
    stage.world.run_until(3 * SECOND);
    stage.finish()
}

fn canary(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("canary", seed);
    scenario.liars = vec![(3, ByzantineBehaviour::TwoVotes)];
    let mut stage = scenario.stage();
    stage.world.cluster.oracle.take_for_honest(3);
    stage.until_height(10, MINUTE);
    stage.finish()
}

fn forgetful(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("forgetting and voting on", seed).under(lossy());
    scenario.conditions.sync = Span::ms(0, 4);
    let mut stage = scenario.stage();
    let mut dice = Dice::new(seed.number, "forgetful");
    for _ in 0..6 {
        let pause = stage.world.now() + dice.within(Span::ms(200, 500));
        stage.world.run_until(pause);
        let seat = dice.index(4);
        stage.lose_disk(seat);
        if stage.join(seat, true).is_err() {
            break;
        }
    }
    stage.world.run_until(4 * SECOND);
    stage.finish()
}

fn two_twins(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("two twins", seed);
    scenario.seats = 6;
    scenario.copies = vec![(4, 0), (5, 1)];
    scenario.conditions = Conditions::calm(5 + seed.number % 20);
    scenario.orders = vec![(Duration::ZERO, ClusterOrder::Split(vec![0, 1, 2]))];
    let mut stage = scenario.stage();
    stage.world.run_until(3 * SECOND);
    stage.finish()
}

fn forged(seed: Seed) -> ScenarioOutcome {
    let mut scenario = Scenario::new("believing everything", seed);
    scenario.scheme = SignatureKind::Credulous;
    let mut stage = scenario.stage();
    let mut dice = Dice::new(seed.number, "forger");
    for _ in 0..60 {
        let pause = stage.world.now() + dice.within(Span::ms(5, 40));
        stage.world.run_until(pause);
        let setting = std::sync::Arc::clone(stage.setting());
        let victim = dice.index(4);
        let Some(server) = stage.world.server(victim) else {
            continue;
        };
        let (height, round) = (server.agreement().height(), server.agreement().round());
        let kind = dice.pick(&[VoteKind::Prevote, VoteKind::Precommit]);
        for voter in (0..4).filter(|voter| *voter != victim) {
            let (round, name) = (round.unwrap_or_default(), setting.name(voter));
            let vote = Vote { kind, height, round, header: None, voter: name };
            let vote = vote.sign(setting.sim, &*setting.keys[voter]);
            stage.world.inject(voter, victim, Message::Vote(vote));
        }
    }
    stage.world.run_until(stage.world.now() + 2 * SECOND);
    stage.finish()
}

fn wrong_set(seed: Seed) -> ScenarioOutcome {
    let scenario = Scenario::new("a wrong set", seed);
    let mut stage = scenario.stage();
    let setting = std::sync::Arc::clone(stage.setting());
    let mut members = setting.genesis_set().members().to_vec();
    let own = setting.name(0);
    for member in members.iter_mut().filter(|member| member.key == own) {
        member.power = 100;
    }
    let set = ValidatorSet::new(members, |_| true).expect("members with power are a set");
    let mut base = setting.genesis_base();
    base.sets = [set.clone(), set.clone(), set];
    assert_eq!(base.height, Height(0));
    let start = StartState { base, state: setting.genesis_state(), fresh_key: true };
    stage.world.cluster.starts.insert(0, start);
    stage.world.run_until(2 * SECOND);
    stage.finish()
}
