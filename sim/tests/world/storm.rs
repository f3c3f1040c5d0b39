//! Whatever acts are thrown at a world, it stays whole: no panic, one root, whoever runs the
//! scripts, and a snapshot that goes on alike.

use std::collections::BTreeMap;

use metatopia_math::{Angle, Fx, Stream, Vec2};
use metatopia_physics::Motion;
use metatopia_scripting::{EventKind, ScriptEffect, ScriptOutput, Value};
use metatopia_sim::World;
use metatopia_types::{
    Act, AssetLicence, BlobId, Blueprint, BodyShape, Build, Digest, Emote, Evidence, HatShape,
    HeaderId, Height, Look, NodeContact, ObjectId, Outline, OutlinePart, OutlineParts, PackageId,
    Round, ScriptId, SetChange, Sound, Vote, VoteKind, Wearable,
};

use crate::yard::{Builder, Shuffled, Yard, key, public};

/// Things that send, kick, move, speak and fail, by what they hear.
fn yard() -> (Builder, Yard) {
    let mut builder = Builder::new();
    let restless = builder.port("restless", &EventKind::ALL, |call| {
        let seed = [call.view.tick().0, call.script.0, call.index];
        let mut dice = Stream::new(&call.view.seed().0, "restless", &seed);
        let mut part = ScriptOutput { gas: dice.below(300), ..ScriptOutput::default() };
        let point = |dice: &mut Stream| Vec2::new(fx(dice), fx(dice));
        match dice.below(9) {
            0 => part.own.pos = Some(point(&mut dice)),
            1 => part.own.velocity = Some(point(&mut dice)),
            2 => part.own.spin = Some(fx(&mut dice)),
            3 => part.own.angle = Some(Angle::from_bits(dice.next_u64() as u32)),
            4 => part.own.color = Some(dice.next_u64() as u32),
            5 => panic!("as scripts may make an executor do"),
            _ => {}
        }
        for _ in 0..dice.below(4) {
            let to = ObjectId(dice.below(12));
            part.effects.push(match dice.below(8) {
                0 => ScriptEffect::Push { object: to, impulse: point(&mut dice) },
                1 => ScriptEffect::Send {
                    to,
                    topic: "x".to_owned(),
                    data: Value::Fixed(fx(&mut dice)),
                },
                2 => ScriptEffect::Say { text: "x".to_owned() },
                3 => ScriptEffect::Whisper { who: to, text: "x".to_owned() },
                4 => ScriptEffect::Sound { sound: Sound::Pop, pitch: 3 },
                5 => {
                    let radius = Fx::from_int(8);
                    let zone = Outline::Disc { radius };
                    ScriptEffect::Zone { outline: (dice.below(3) > 0).then_some(zone) }
                }
                6 => {
                    let at = Vec2::new(Fx::ONE, Fx::HALF);
                    ScriptEffect::Seat { at: (dice.below(4) > 0).then_some(at) }
                }
                _ => ScriptEffect::Timer {
                    name: format!("{}", dice.below(20)),
                    ticks: dice.below(9) + 1,
                },
            });
        }
        Ok(part)
    });
    for (n, motion) in [Motion::Static, Motion::Kinematic, Motion::Dynamic].into_iter().enumerate()
    {
        for m in 0..3 {
            builder.thing(motion, (3 * n as i32 - 3, 3 * m + 4), &[restless; 2]);
        }
    }
    let yard = builder.build();
    (builder, yard)
}

/// A number of any size, the extremes among them.
fn fx(dice: &mut Stream) -> Fx {
    match dice.below(12) {
        0 => Fx::MAX,
        1 => Fx::MIN,
        2 => Fx::ULP,
        3 => Fx::ZERO,
        bits => Fx::from_bits((dice.next_u64() as i64) >> (bits * 4)),
    }
}

/// Any building step, with numbers of any size or of a fitting one.
fn build(dice: &mut Stream, world: &World) -> Build {
    let object = ObjectId(dice.below(30));
    let small = |dice: &mut Stream| Fx::from_ratio(dice.below(160) as i64 - 80, 10);
    let point = |dice: &mut Stream| match dice.below(4) {
        0 => Vec2::new(fx(dice), fx(dice)),
        _ => Vec2::new(small(dice), small(dice)),
    };
    let outline = |dice: &mut Stream| match dice.below(3) {
        0 => Outline::Disc { radius: fx(dice) },
        1 => Outline::Disc { radius: small(dice) },
        _ => Outline::Box { half: Vec2::new(small(dice), small(dice)) },
    };
    let parts = |dice: &mut Stream| {
        let count = if dice.below(3) == 0 { dice.below(8) } else { 0 };
        let part = |_| OutlinePart {
            outline: outline(dice),
            offset: point(dice),
            angle: Angle::from_bits(dice.next_u64() as u32),
        };
        OutlineParts::new((0..count).map(part).collect()).expect("seven at most")
    };
    let package = world.object(ObjectId(1)).and_then(|seen| Some(seen.scripts.first()?.1));
    match dice.below(15) {
        0..=2 => Build::Place(Blueprint {
            kind: ["box", "avatar", ""][dice.below(5).min(2) as usize].to_owned(),
            name: "thing".to_owned(),
            text: "x".repeat(dice.below(300) as usize),
            color: dice.next_u64() as u32 >> dice.below(12),
            outline: outline(dice),
            movable: dice.below(2) == 0,
            position: point(dice),
            angle: Angle::from_bits(dice.next_u64() as u32),
            licence: AssetLicence::ALL[dice.below(4) as usize],
            parts: parts(dice),
        }),
        3 => Build::Move { object, position: point(dice) },
        4 => Build::Rotate { object, angle: Angle::from_bits(dice.next_u64() as u32) },
        5 => Build::Resize { object, outline: outline(dice) },
        6 => Build::Recolor { object, color: dice.next_u64() as u32 >> 7 },
        7 => Build::Write { object, text: "y".repeat(dice.below(300) as usize) },
        8 => Build::Copy { object, position: point(dice) },
        9 => Build::Delete { object },
        10 => Build::Give { object, to: public(dice.below(4) as u8) },
        11 => Build::Attach { object, package: package.unwrap_or(PackageId(Digest::ZERO)) },
        12 => Build::Detach { object, script: ScriptId(dice.below(40)) },
        13 => {
            // Things of one owner, who may be the author, or any.
            let owner = public(dice.below(4) as u8);
            let own: Vec<ObjectId> = world.things(&owner).map(|seen| seen.id).collect();
            let objects = match dice.below(2) {
                0 => (0..dice.below(4)).map(|_| ObjectId(dice.below(30))).collect(),
                _ => own.into_iter().take(2 + dice.below(3) as usize).collect(),
            };
            Build::Unite { objects }
        }
        _ => Build::Undo { skip: dice.below(3) as u8 },
    }
}

/// Returns a look whose colours are often improper.
fn worn(dice: &mut Stream) -> Look {
    let [body, color] =
        [dice.next_u64(), dice.next_u64()].map(|bits| bits as u32 >> dice.below(12));
    let hat = Wearable { shape: HatShape::ALL[dice.below(12) as usize], color };
    let hat = Some(hat).filter(|_| dice.below(2) == 0);
    Look { hat, ..Look::plain(body, BodyShape::Arrow) }
}

fn act(dice: &mut Stream, world: &World) -> Act {
    if dice.below(3) == 0 {
        return Act::Build(build(dice, world));
    }
    let object = ObjectId(dice.below(20));
    let member = public(201 + dice.below(8) as u8);
    match dice.below(16) {
        0..=3 => Act::Login {
            name: ["Ada", "", "\u{202e}", "0123456789012345678901234567890123"]
                [dice.below(5).min(3) as usize]
                .to_owned(),
            look: worn(dice),
            bot: dice.below(4) == 0,
            pass: None,
        },
        4 => Act::Leave,
        5 | 6 => Act::Walk { heading: Vec2::new(fx(dice), fx(dice)) },
        7 => Act::Touch { object },
        8 => Act::Push { object },
        9 => Act::Say { channel: dice.below(4) as u8, body: BlobId(Digest([1; 32])) },
        10 => Act::Emote(Emote::Bow),
        11 => Act::SetLook(worn(dice)),
        12 => Act::SetChange(SetChange::Add { key: member, contact: NodeContact::default() }),
        13 => Act::SetChange(SetChange::Remove { key: member }),
        14 => Act::Ready {
            height: Height(dice.next_u64() >> dice.below(64)),
            proof: world.readiness(&member).unwrap_or(Digest::ZERO),
        },
        _ => {
            let liar = key(201 + dice.below(8) as u8);
            let mut vote = || Vote {
                kind: VoteKind::Precommit,
                height: Height(dice.below(9)),
                round: Round(0),
                header: Some(HeaderId(Digest([dice.below(3) as u8; 32]))),
                voter: metatopia_types::Sign::public(&liar),
            };
            let votes = [vote(), vote()].map(|vote| vote.sign(world.sim(), &liar));
            let [one, other] = votes;
            Act::Report(Evidence::votes(one, other))
        }
    }
}

fn restored(builder: &Builder, world: &World) -> World {
    let manifest = world.manifest();
    let leaf = |entry: &metatopia_sim::LeafEntry| (entry.hash, world.leaf(&entry.key));
    let contents: BTreeMap<_, _> =
        manifest.leaves.iter().map(leaf).map(|(hash, leaf)| (hash, leaf.expect("there"))).collect();
    World::restore(&manifest, &contents, world.root(), &builder.tools())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_world_stays_whole_under_any_acts() {
    for seed in 0..12 {
        let (builder, mut yard) = yard();
        let mut twin = yard.world.clone();
        let mut dice = Stream::new(&[seed as u8; 32], "storm", &[seed]);
        for turn in 0..50 {
            for _ in 0..dice.below(12) {
                let who = [1, 2, 3, 100, 202, 205, 206][dice.below(7) as usize];
                let act = act(&mut dice, &yard.world);
                yard.act_in(who, dice.below(3), act);
            }
            if dice.below(3) == 0 {
                yard.say(1, 0, "words");
            }
            let root = yard.play().root;
            let last = yard.log.last().expect("just played");

            assert_eq!(root, yard.world.rehash(), "seed {seed}, turn {turn}");
            if turn % 10 == 5 {
                twin = restored(&builder, &twin);
            }
            let other = twin.apply(last, &Shuffled(turn)).root;
            assert_eq!(root, other, "seed {seed}, turn {turn}");
        }
        assert_eq!(yard.world.failed_steps(), 0, "seed {seed}");
    }
}
