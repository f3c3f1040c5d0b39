//! What a tier keeps: it is part of the state up to a limit, and forgotten beyond.

use std::sync::Arc;

use metatopia_math::{Fx, Vec2};
use metatopia_physics::{
    BodyMotion, Motion, Tier, TierMaker, TierStateError, TierStep, TierView, Touching,
};
use metatopia_sim::{
    GenesisError, MissingTier, Serial, StateRestoreError, TierName, Tools, World,
    limits::TIER_BYTES_MAX,
};
use metatopia_types::ObjectId;

use crate::yard::{Builder, Yard};

/// What the diary writes in a step: two pages are as long as a state may be.
const PAGE_BYTES: usize = TIER_BYTES_MAX / 2;

/// A tier that keeps a page of each step, and moves a body by as many metres as there are pages.
#[derive(Debug, Clone, Default)]
struct Diary {
    pages: usize,
}

impl Tier for Diary {
    fn name(&self) -> &'static str {
        "diary"
    }

    fn bodies_max(&self) -> usize {
        8
    }

    fn step(&mut self, view: TierView<'_>) -> TierStep {
        self.pages += 1;
        let way = Vec2::new(Fx::from_int(i32::try_from(self.pages).expect("a few")), Fx::ZERO);
        let moved = view.bodies.iter().map(|body| {
            let motion = body.body_motion();
            let position = motion.position.saturating_add(way);
            body.moved(&BodyMotion { position, ..motion }, view.bounds)
        });
        let touching = view.contacts.iter().map(|contact| Touching {
            pair: contact.pair(),
            point: Vec2::ZERO,
            impulse: Fx::ZERO,
        });
        TierStep { moved: moved.collect(), touching: touching.collect(), ..TierStep::default() }
    }

    fn state(&self) -> Vec<u8> {
        vec![7; self.pages * PAGE_BYTES]
    }

    fn forget(&mut self) {
        self.pages = 0;
    }

    fn fork(&self) -> Box<dyn Tier> {
        Box::new(self.clone())
    }
}

/// Makes diaries, which begin empty.
#[derive(Debug)]
struct DiaryMaker;

impl TierMaker for DiaryMaker {
    fn begin(&self) -> Box<dyn Tier> {
        Box::new(Diary::default())
    }

    fn restore(&self, state: &[u8]) -> Result<Box<dyn Tier>, TierStateError> {
        if !state.len().is_multiple_of(PAGE_BYTES) {
            return Err(TierStateError("a page is torn".to_owned()));
        }
        Ok(Box::new(Diary { pages: state.len() / PAGE_BYTES }))
    }
}

/// Returns how many bytes the leaves of the tier have.
fn kept(world: &World) -> usize {
    let leaves = world.manifest().leaves;
    let pieces = leaves.iter().filter(|leaf| leaf.key.0.starts_with("tier/"));
    pieces.map(|leaf| world.leaf(&leaf.key).expect("a leaf of the manifest").len()).sum()
}

#[test]
fn a_tier_keeps_tier_bytes_max_and_what_is_longer_it_forgets_and_begins_from_the_bodies() {
    let mut builder = Builder::new();
    let thing = builder.thing(Motion::Dynamic, (0, 4), &[]);
    builder.genesis.parameters.tier = TierName::Advanced;
    builder.genesis.parameters.ticks_per_turn = 1;
    let tools = Tools { advanced: Some(Arc::new(DiaryMaker)), ..builder.tools() };
    let world = World::genesis(&builder.genesis, &tools).expect("a yard on the advanced tier");
    let mut yard = Yard::of(world);

    // Metres from where it began, and the bytes that are kept. The third page is one too many.
    let expected = [
        (1, PAGE_BYTES),
        (3, TIER_BYTES_MAX),
        (6, 0),
        (7, PAGE_BYTES),
        (9, TIER_BYTES_MAX),
        (12, 0),
        (13, PAGE_BYTES),
    ];
    for (metres, bytes) in expected {
        let mut restored = World::from_snapshot(&yard.world.snapshot(), yard.world.root(), &tools)
            .expect("its own snapshot");
        yard.play();
        assert_eq!(x(&yard.world, thing), Fx::from_int(metres));
        assert_eq!(kept(&yard.world), bytes, "after {metres} m");

        restored.apply(yard.log.last().expect("the turn"), &Serial);
        assert_eq!(restored.root(), yard.world.root(), "after {metres} m");
        assert_eq!(yard.world.rehash(), yard.world.root());
    }
    assert_eq!(yard.world.failed_steps(), 0);
}

fn x(world: &World, thing: ObjectId) -> Fx {
    world.object(thing).expect("the thing").position.x
}

#[test]
fn a_program_without_the_tier_of_a_sim_neither_founds_nor_restores_it() {
    let mut builder = Builder::new();
    builder.genesis.parameters.tier = TierName::Advanced;
    let without = builder.tools();
    let missing = MissingTier::Unmade(TierName::Advanced);
    let refused = World::genesis(&builder.genesis, &without).err();
    assert_eq!(refused, Some(GenesisError::Tier(missing.clone())));

    let tools = Tools { advanced: Some(Arc::new(DiaryMaker)), ..without.clone() };
    let world = World::genesis(&builder.genesis, &tools).expect("a yard on the advanced tier");
    let refused = World::from_snapshot(&world.snapshot(), world.root(), &without).err();
    assert_eq!(refused, Some(StateRestoreError::Tier(missing)));
}
