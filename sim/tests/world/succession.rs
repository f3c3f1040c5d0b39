//! A sim that carries on another one, whose servers are gone.

use std::collections::{BTreeMap, BTreeSet};

use metatopia_physics::Motion;
use metatopia_scripting::{Event, EventKind, ScriptEffect, ScriptOutput, Value};
use metatopia_sim::{Area, Genesis, GenesisError, Land, Parent, Sector, SectorSound, World};
use metatopia_types::{
    Act, Build, Digest, Height, LeafKey, NodeContact, ObjectId, Origin, Outcome, Root, SimId, Site,
    Square, Title,
};

use crate::{
    building::{block, built, place as make, site},
    leaves::live,
    yard::{Builder, Yard, public, vec2},
};

const FOUNDER: u8 = 150;

/// A place with people, things that move, a land, and a script that counts by a timer.
fn place() -> (Builder, Yard) {
    let mut builder = Builder::new();
    let counter = builder.port("counter", &[EventKind::Start, EventKind::Timer], |call| {
        let mut part = ScriptOutput { gas: 10, ..ScriptOutput::default() };
        part.effects.push(ScriptEffect::Timer { name: "next".to_owned(), ticks: 7 });
        let mut state = (**call.state).clone();
        let count = match (&call.event, state.0.get("count")) {
            (Event::Timer { .. }, Some(Value::Int(count))) => count + 1,
            _ => 0,
        };
        state.0.insert("count".to_owned(), Value::Int(count));
        part.state = Some(state);
        Ok(part)
    });
    builder.thing(Motion::Dynamic, (3, 0), &[counter]);
    builder.thing(Motion::Dynamic, (0, 4), &[]);
    // As large as the least square of a world, so that only the site of a successor is wrong below.
    builder.genesis.parameters.ground = Area { low: vec2(-32, -32), high: vec2(32, 32) };
    let area = Area { low: vec2(-2, -2), high: vec2(2, 2) };
    builder.genesis.lands.push(Land { name: "green".to_owned(), area, title: Title::Open });
    let mut yard = builder.build();
    for turn in 0..60 {
        live(&mut yard, turn);
        yard.play();
    }
    yard.login(1);
    yard.play();
    yard.say(1, 0, "we were here");
    yard.play();
    (builder, yard)
}

/// The genesis of whoever founds a successor of this world.
pub(crate) fn successor(parent: &World) -> Genesis {
    let charter = parent.charter();
    Genesis {
        name: "yard again".to_owned(),
        parameters: charter.parameters.clone(),
        admins: BTreeSet::from([public(FOUNDER)]),
        validators: (211..=214).map(|n| (public(n), NodeContact::default())).collect(),
        licence: charter.licence.clone(),
        asset_licence: charter.asset_licence.clone(),
        site: charter.site,
        parent: Some(Parent {
            sim: parent.sim(),
            height: parent.height(),
            root: parent.root(),
            proof: Vec::new(),
        }),
        ..Genesis::empty()
    }
}

fn leaves(world: &World) -> BTreeMap<LeafKey, Digest> {
    world.manifest().leaves.into_iter().map(|leaf| (leaf.key, leaf.hash)).collect()
}

#[test]
fn all_that_belongs_to_the_place_is_carried_over_and_nothing_that_belongs_to_its_servers() {
    let (builder, yard) = place();
    let genesis = successor(&yard.world);

    let world = World::succeed(&genesis, &yard.world, &builder.tools()).expect("a successor");

    assert_eq!((world.sim(), world.height()), (genesis.id(), Height(0)));
    assert_eq!((world.name(), world.tick()), ("yard again", yard.world.tick()));
    assert_eq!(world.root(), world.rehash());
    let (mut before, after) = (leaves(&yard.world), leaves(&world));
    before.retain(|key, hash| after.get(key) != Some(hash));
    let changed: BTreeSet<&str> =
        before.keys().map(|key| key.0.split_once('/').map_or(&*key.0, |(kind, _)| kind)).collect();
    let of_servers =
        ["clock", "first_logins", "governance", "outcomes", "parameters", "validators"];
    // Players are known from height 0 on, and objects say that they were born in the parent.
    let of_place = ["players", "tile", "windows"];
    assert_eq!(changed, of_servers.into_iter().chain(of_place).collect());
    assert_eq!(world.lands(), yard.world.lands());
    assert!(world.windows().is_empty() && !world.chat().0.is_empty());
    assert_eq!(world.governance().admins, BTreeSet::from([public(FOUNDER)]));
    assert_eq!(world.governance().time, yard.world.governance().time);
    let voters: Vec<_> = world.roster().members().keys().copied().collect();
    assert_eq!(voters.len(), 4);
    assert!(voters.iter().all(|voter| yard.world.roster().members().get(voter).is_none()));
}

#[test]
fn life_goes_on_where_it_stopped() {
    let (builder, yard) = place();
    let world = World::succeed(&successor(&yard.world), &yard.world, &builder.tools());
    let mut again = Yard::of(world.expect("a successor"));
    let count = |yard: &Yard| {
        let script = yard.world.scripts().next().expect("the counter");
        script.gas_used
    };
    let before = count(&again);
    let thing = again.position(ObjectId(1));
    assert_eq!(thing, yard.position(ObjectId(1)));

    let login = again.login(FOUNDER);
    again.play();
    assert_eq!(again.outcome(&login), Outcome::Ok);
    again.idle(20);

    // 63 ticks are nine timers; the script did not begin anew.
    assert_eq!(count(&again) - before, 9 * 10);
    assert!(again.world.governance().admins.contains(&public(FOUNDER)));
    assert!(!again.world.governance().admins.contains(&public(100)), "the parent's is none here");
    assert_eq!(again.world.root(), again.world.rehash());
    // An act for the parent names another sim.
    let mut other = yard;
    let act = other.act(1, Act::Leave);
    assert_ne!(act.envelope.sim, again.world.sim());
}

#[test]
fn things_keep_their_numbers_and_their_origins_in_every_successor() {
    let mut builder = Builder::new();
    let statue = builder.thing(Motion::Static, (3, 0), &[]);
    let mut yard = site(&mut builder);
    let sim = yard.world.sim();
    let copy = Build::Copy { object: statue, position: vec2(3, 2) };
    let Outcome::Made(copy) = built(&mut yard, 1, copy) else { panic!("it is free") };
    let gone = make(&mut yard, 1, block(-3, 0));
    assert_eq!(built(&mut yard, 1, Build::Delete { object: gone }), Outcome::Ok);

    let world = World::succeed(&successor(&yard.world), &yard.world, &builder.tools());
    let mut first = Yard::of(world.expect("a successor"));
    first.login(1);
    first.play();
    // What is restored was born where it was deleted; what is made now is born here.
    assert_eq!(built(&mut first, 1, Build::Undo { skip: 0 }), Outcome::Ok);
    let made = make(&mut first, 1, block(-3, 2));
    let again = Build::Copy { object: copy, position: vec2(3, 4) };
    let Outcome::Made(again) = built(&mut first, 1, again) else { panic!("it is her own") };

    let born = |sim, number| Origin { sim, number };
    let names = |yard: &Yard, id| {
        let seen = yard.world.object(id).expect("it is there");
        (seen.origin, seen.parent)
    };
    let here = first.world.sim();
    let expected = [
        (statue, (born(sim, statue), None)),
        (copy, (born(sim, copy), Some(born(sim, statue)))),
        (gone, (born(sim, gone), None)),
        (made, (born(here, made), None)),
        (again, (born(here, again), Some(born(sim, copy)))),
    ];
    for (id, named) in expected {
        assert_eq!(names(&first, id), named, "{id}");
    }
    assert!(made > gone && gone > copy, "no number is given out twice");

    let grandchild = successor(&first.world);
    let second = World::succeed(&grandchild, &first.world, &builder.tools()).expect("another");
    let second = Yard::of(second);
    for (id, named) in expected {
        assert_eq!(names(&second, id), named, "{id}");
    }
    assert_eq!(second.world.root(), second.world.rehash());
}

#[test]
fn two_founders_of_one_place_found_two_sims_and_a_successor_can_have_one() {
    let (builder, yard) = place();
    let one = successor(&yard.world);
    let mut two = one.clone();
    two.admins = BTreeSet::from([public(FOUNDER + 1)]);
    assert_ne!(one.id(), two.id());

    let first = World::succeed(&one, &yard.world, &builder.tools()).expect("a successor");
    let mut first = Yard::of(first);
    first.idle(5);
    let grandchild = successor(&first.world);
    let second = World::succeed(&grandchild, &first.world, &builder.tools()).expect("another");
    assert_eq!(second.tick(), first.world.tick());
    assert_eq!(grandchild.parent.expect("it has one").sim, one.id());
}

#[test]
fn a_genesis_without_a_parent_is_encoded_as_ever_and_one_with_a_parent_is_told_apart() {
    let (_, yard) = place();
    let genesis = successor(&yard.world);
    let bytes = genesis.encode();
    assert_eq!(Genesis::decode(&bytes), Ok(genesis.clone()));
    let alone = Genesis { parent: None, ..genesis.clone() };
    assert_eq!(Genesis::decode(&alone.encode()), Ok(alone.clone()));
    assert_ne!(alone.id(), genesis.id());
    assert!(bytes.ends_with(&alone.encode()), "the rest is as it ever was");
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(Genesis::decode(&longer), Err(GenesisError::Decode(_))));
}

#[test]
fn a_successor_with_another_state_or_other_rules_is_refused() {
    let (builder, yard) = place();
    let tools = builder.tools();
    let fault = |change: &dyn Fn(&mut Genesis)| {
        let mut genesis = successor(&yard.world);
        change(&mut genesis);
        World::succeed(&genesis, &yard.world, &tools).expect_err("the change is a mistake")
    };
    let parent = |genesis: &mut Genesis, change: &dyn Fn(&mut Parent)| {
        change(genesis.parent.as_mut().expect("a successor"));
    };
    let (sim, height, root) = (yard.world.sim(), yard.world.height(), yard.world.root());
    let other = GenesisError::OtherState { sim, height, root };
    assert_eq!(fault(&|g| parent(g, &|p| p.root = Root(Digest::ZERO))), other);
    assert_eq!(fault(&|g| parent(g, &|p| p.height = Height(1))), other);
    assert_eq!(fault(&|g| parent(g, &|p| p.sim = SimId(Digest::ZERO))), other);
    assert_eq!(fault(&|g| g.parent = None), GenesisError::NoParent);
    let kept = GenesisError::NotKept;
    assert_eq!(fault(&|g| g.parameters.lease_ticks += 1), kept("parameters"));
    assert_eq!(fault(&|g| g.licence = "MIT".to_owned()), kept("licence"));
    assert_eq!(fault(&|g| g.asset_licence = "MIT".to_owned()), kept("licence of assets"));
    let other = "other".to_owned();
    let error = fault(&|g| g.introduction.description.clone_from(&other));
    assert_eq!(error, kept("introduction"));
    let corners = vec![vec2(1, 1), vec2(2, 1), vec2(1, 2)];
    let sound = SectorSound::Silent;
    let room = Sector { name: other, corners, floor: 0, light: 0, sound };
    let error = fault(&|g| g.floor_plan.sectors.push(room.clone()));
    assert_eq!(error, kept("floor plan"));
    let square = Square { x: 2, y: 4, doublings: 0 };
    let site = Some(Site { world: sim, square });
    assert_eq!(fault(&|g| g.site = site), kept("site"));
    let carried = GenesisError::NotCarried;
    let objects = &builder.genesis.objects;
    assert_eq!(fault(&|g| g.objects.clone_from(objects)), carried("objects"));
    let packages = &builder.genesis.packages;
    assert_eq!(fault(&|g| g.packages.clone_from(packages)), carried("packages"));
    let lands = &builder.genesis.lands;
    assert_eq!(fault(&|g| g.lands.clone_from(lands)), carried("lands"));
    assert_eq!(
        World::genesis(&successor(&yard.world), &tools).err(),
        Some(GenesisError::NeedsState { parent: sim, height })
    );
}
