//! No act makes anybody expected or away yet: these states are made by hand.

use std::{collections::BTreeMap, sync::Arc};

use metatopia_types::{
    Act, BlobId, Build, Digest, Ed25519, Emote, Envelope, Header, Height, Lane, LeafKey, Look,
    Millis, ObjectId, Outcome, PublicKey, Refusal, Seq, Signature, SignedEnvelope, SimId, Tick,
    Turn, TurnBody,
};

use super::Presence;
use crate::{
    acts::{test_genesis, test_header},
    scripts::Serial,
    state::{Genesis, LeafEntry, Parameters, Player, PlayerSession, Since, Tools, World},
};

const ADA: PublicKey = PublicKey([9; 32]);
const NEIGHBOUR: SimId = SimId(Digest([0xb; 32]));

/// Both presences of somebody who is logged in, and neither here nor waiting for a seat.
const ELSEWHERE: [Presence; 2] = [
    Presence::Expected { from: NEIGHBOUR, until: Millis(60_000) },
    Presence::Away { to: NEIGHBOUR, number: 31 },
];

fn tools() -> Tools {
    Tools::new(Arc::new(Ed25519))
}

/// An empty world in which Ada is logged in with this presence, up to tick 6.
fn world(presence: Presence) -> World {
    let parameters = Parameters { grace_ticks: 6, ..Parameters::default() };
    let genesis = Genesis { parameters, ..test_genesis() };
    let mut world = World::genesis(&genesis, &tools()).expect("a small genesis");
    let session = PlayerSession {
        lane: Lane(1),
        presence,
        heading: metatopia_math::Vec2::X,
        lease: Tick(6),
        acted: Tick(0),
        pushed: None,
        gesture: None,
        permits: Vec::new(),
    };
    let ada = Player {
        name: "Ada".to_owned(),
        look: Look::default(),
        first_seen: 0,
        last_login: 0,
        days: 1,
        bot: false,
        since: Since { player: Height(0), regular: None },
        spoke: None,
        session: Some(session),
    };
    let state = Arc::make_mut(&mut world.state);
    state.put_player(ADA, ada);
    Arc::make_mut(&mut world.leaves).refresh(state);
    world
}

/// Plays a turn in which Ada does this, if anything; gives what became of it.
fn play(world: &mut World, act: Option<Act>) -> Option<Outcome> {
    let height = world.height().plus(1);
    let (sim, lane, seq) = (world.sim(), Lane(1), Seq(height.0));
    let envelope = |act| Envelope { sim, author: ADA, lane, seq, last_valid: height, act };
    // Who applies a turn leaves signatures to those who judged it.
    let signature = Signature::from_bytes([0; 64]);
    let acts = act.map(|act| SignedEnvelope { envelope: envelope(act), signature });
    let body = TurnBody::new(acts.into_iter().collect(), Vec::new()).expect("one act");
    let header = Header { sim, height, time: Millis(50 * height.0), ..test_header() };
    world.apply(&Turn::of(header, body), &Serial).outcomes.first().copied()
}

fn presence(world: &World) -> Option<Presence> {
    Some(world.player(&ADA)?.session.as_ref()?.presence)
}

#[test]
fn who_is_expected_or_away_is_in_a_snapshot_and_not_in_the_picture() {
    for elsewhere in ELSEWHERE {
        let world = world(elsewhere);
        let manifest = world.manifest();
        let leaf = |entry: &LeafEntry| (entry.hash, world.leaf(&entry.key).expect("it is listed"));
        let contents: BTreeMap<Digest, Vec<u8>> = manifest.leaves.iter().map(leaf).collect();

        let mut restored = World::restore(&manifest, &contents, world.root(), &tools())
            .unwrap_or_else(|error| panic!("{elsewhere:?}: {error}"));

        assert_eq!(presence(&restored), Some(elsewhere));
        play(&mut restored, None);
        assert_eq!((restored.avatar(&ADA), restored.present().count()), (None, 0));
        assert_eq!(restored.objects().count(), 0, "a heading moves nobody");
        assert!(restored.proof(&LeafKey("players".to_owned())).is_some());
        assert_eq!(restored.root(), restored.rehash());
    }
}

#[test]
fn who_is_expected_or_away_has_no_avatar_to_act_with_before_the_next_login() {
    let body = BlobId(Digest([3; 32]));
    let acts = [
        (Act::Walk { heading: metatopia_math::Vec2::X }, Refusal::NoSeat),
        (Act::Touch { object: ObjectId(1) }, Refusal::NoSeat),
        (Act::Push { object: ObjectId(1) }, Refusal::NoSeat),
        (Act::Emote(Emote::Wave), Refusal::NoSeat),
        (Act::Say { channel: 0, body }, Refusal::NoBlob),
        (Act::Build(Build::Undo { skip: 0 }), Refusal::NothingToUndo),
    ];
    for elsewhere in ELSEWHERE {
        for (act, why) in &acts {
            let mut world = world(elsewhere);
            let why = match (why, elsewhere) {
                (Refusal::NoSeat, Presence::Away { .. }) => Refusal::UnderWay,
                _ => *why,
            };
            assert_eq!(play(&mut world, Some(act.clone())), Some(Outcome::Refused(why)));
            assert_eq!(presence(&world), Some(elsewhere), "{act:?} takes no seat");
        }
        let mut world = world(elsewhere);
        let look = Act::SetLook(Look { color: 7, ..Look::default() });
        assert_eq!(play(&mut world, Some(look)), Some(Outcome::Ok));
        assert_eq!(presence(&world), Some(elsewhere));

        let login = Act::login("Ada".to_owned(), Look::default());
        assert_eq!(play(&mut world, Some(login)), Some(Outcome::Ok));

        let avatar = world.avatar(&ADA).expect("a login makes an avatar");
        assert_eq!(presence(&world), Some(Presence::Here(avatar)));
    }
}

#[test]
fn the_presence_of_who_is_expected_or_away_is_a_lease_as_any_other() {
    for elsewhere in ELSEWHERE {
        let mut world = world(elsewhere);
        // Three ticks a turn: the lease ends with tick 6, and the grace time with tick 12.
        for _ in 0..4 {
            play(&mut world, None);
        }
        assert_eq!(presence(&world), Some(elsewhere));
        play(&mut world, None);
        assert_eq!(presence(&world), None);
        assert_eq!(world.root(), world.rehash());
    }
}
