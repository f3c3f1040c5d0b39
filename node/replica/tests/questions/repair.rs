//! Servers that are started again, and whose states go wrong before they are where they were.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use metatopia_consensus::{Message, Record};
use metatopia_replica::{
    Effect, FetchEvent, Input, PeerMessage, RepairReport, Replica, SyncReason, base_of,
    find_decisions,
};
use metatopia_sim::{Applied, Serial, World};
use metatopia_types::{Digest, Height, LeafKey, Now, Root, Sign as _, SigningKey};

use super::alone::{Alone, NOON, config, genesis, key, tools};

/// The last turn that was decided in the life before.
const LAST: Height = Height(40);

fn follower() -> SigningKey {
    SigningKey::from_seed([9; 32])
}

/// A server in its second life, from genesis and its log.
struct Again {
    replica: Replica,
    now: Now,
    log: Vec<Record>,
    /// After which turns a bit flips next.
    flips: Vec<Height>,
    /// The last turn that it was told to apply.
    applied: Height,
    repaired: Vec<RepairReport>,
    fetches: Vec<SyncReason>,
}

impl Again {
    fn begin(signer: SigningKey, log: Vec<Record>, flips: &[u64]) -> Self {
        let (now, genesis) = (Now { monotonic: Duration::ZERO, wall: NOON }, genesis());
        let world = World::genesis(&genesis, &tools()).expect("a genesis");
        let mut config = config(&genesis);
        config.agreement.signer = Arc::new(signer);
        config.agreement.fresh_key = false;
        let opened = Replica::open(config, base_of(&world), world, [], log.clone(), now);
        let replica = opened.expect("a log of its own");
        let flips = flips.iter().copied().map(Height).collect();
        let (applied, repaired, fetches) = (Height(0), Vec::new(), Vec::new());
        Self { replica, now, log, flips, applied, repaired, fetches }
    }

    fn handle(&mut self, input: Input) {
        self.replica.handle(self.now, input);
        while let Some(effect) = self.replica.poll() {
            let input = match effect {
                Effect::Append { payload, .. } => {
                    self.log.push(Record::decode(&payload).expect("its own record"));
                    continue;
                }
                Effect::Sync(position) => Input::Synced(position),
                Effect::Apply { mut world, decision } => {
                    let mut result = Box::new(world.apply(&decision.turn, &Serial));
                    self.flip(&mut world, &mut result);
                    self.applied = result.height;
                    Input::Applied { world, result }
                }
                Effect::Load { reader, from, count } => {
                    let decisions = find_decisions(self.log.clone(), from, count);
                    Input::Loaded { reader, decisions, oldest: Height(1), next: None }
                }
                Effect::Repaired(report) => {
                    self.repaired.push(*report);
                    continue;
                }
                Effect::Fetch(FetchEvent::Begun { reason, .. }) => {
                    self.fetches.push(reason);
                    continue;
                }
                Effect::Halted(halt) => panic!("it gives up: {halt}"),
                _ => continue,
            };
            self.replica.handle(self.now, input);
        }
    }

    fn flip(&mut self, world: &mut World, result: &mut Applied) {
        if self.flips.first() == Some(&result.height) {
            self.flips.remove(0);
            *world = flipped(world);
            result.root = world.root();
        }
    }

    /// Goes on until a turn of this height is applied.
    fn run_to(&mut self, height: Height) {
        while self.applied < height {
            let deadline = self.replica.deadline().expect("a server alone waits only for time");
            let ahead = deadline.saturating_sub(self.now.monotonic);
            self.now.monotonic = deadline;
            let ahead = u64::try_from(ahead.as_millis()).expect("a short while") + 1;
            self.now.wall = self.now.wall.plus(ahead);
            self.handle(Input::Wake);
        }
    }
}

/// The world with a bit of its parameters flipped: the last one that leaves a state.
pub(crate) fn flipped(world: &World) -> World {
    let content = |key: &LeafKey| world.leaf(key).expect("it is listed");
    let hash = |content: &[u8]| Digest(*blake3::hash(content).as_bytes());
    let manifest = world.manifest();
    let place = manifest.leaves.iter().position(|leaf| leaf.key.0 == "parameters");
    let place = place.expect("a world has parameters");
    let sound = content(&manifest.leaves[place].key);
    let with_flip = |bit: usize| {
        let mut wrong = sound.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        let mut manifest = manifest.clone();
        manifest.leaves[place].hash = hash(&wrong);
        let kept = manifest.leaves.iter().filter_map(|leaf| world.leaf(&leaf.key)).chain([wrong]);
        let contents: BTreeMap<Digest, Vec<u8>> = kept.map(|kept| (hash(&kept), kept)).collect();
        World::restore(&manifest, &contents, manifest.root(), &tools()).ok()
    };
    (0..8 * sound.len()).rev().find_map(with_flip).expect("a bit that may flip")
}

/// A server alone that went on for a little longer than what another life begins with.
fn lived() -> Alone {
    let mut server = Alone::begin();
    server.run_to(LAST.0 + 5);
    server
}

/// Its log up to that turn.
fn up_to(server: &Alone, last: Height) -> Vec<Record> {
    let decided = |record: &Record| matches!(record, Record::Decided(of) if of.height == last);
    let end = server.log().iter().position(decided).expect("it was decided");
    server.log()[..=end].to_vec()
}

fn noted(log: &[Record], at: Height) -> Root {
    let found = log.iter().find_map(|record| match record {
        Record::Applied { height, root, .. } if *height == at => Some(*root),
        _ => None,
    });
    found.expect("it was applied")
}

/// The server dies with a wrong root in its log and heals at no start: the turn that contradicts the
/// note came before its own turns were applied that far, and nothing that it had was wrong then.
#[test]
fn a_wrong_note_of_the_life_before_is_healed_also_if_the_turn_that_says_so_comes_first() {
    let server = lived();
    let at = Height(LAST.0 - 1);
    let right = noted(server.log(), at);
    let wrong = Root(Digest::of("a test", b"wrong"));
    // A follower's log: what others decided, and what it came to.
    let mut log = up_to(&server, LAST);
    log.retain(|record| {
        matches!(record, Record::Turn(_) | Record::Decided(_) | Record::Applied { .. })
    });
    for record in &mut log {
        if let Record::Applied { height, root, .. } = record
            && *height == at
        {
            *root = wrong;
        }
    }
    let mut again = Again::begin(follower(), log, &[]);
    let next = find_decisions(server.log().to_vec(), LAST.plus(1), 1).remove(0);

    let frame = PeerMessage::Agreement(Message::Decision(next)).encode();
    again.handle(Input::PeerFrame { from: key().public(), frame });

    let [report] = &again.repaired[..] else { panic!("{:?}", again.repaired) };
    assert_eq!((report.height, report.had, report.now), (at, wrong, right));
    assert_eq!(again.applied, LAST.plus(1), "it goes on");
}

/// What it came to first was wrong and its log was right: the second time it was found that nothing
/// was wrong with the log, and so nothing to heal.
#[test]
fn a_bit_that_flips_while_turns_are_applied_again_after_a_start_is_healed() {
    let log = up_to(&lived(), LAST);
    let (at, right) = (Height(20), noted(&log, Height(20)));
    let mut again = Again::begin(key(), log, &[at.0]);

    again.handle(Input::Wake);

    let [report] = &again.repaired[..] else { panic!("{:?}", again.repaired) };
    assert_eq!((report.height, report.now, report.votes), (at, right, true));
    assert_ne!(report.had, right);
    let difference = report.difference.as_ref().expect("the field is named");
    assert_eq!(difference.key.0, "parameters");
    // It votes, alone, so the world goes on; and its notes are good for another start.
    again.run_to(LAST.plus(10));
    let mut third = Again::begin(key(), again.log, &[]);
    third.run_to(LAST.plus(20));
    assert!(third.repaired.is_empty(), "{:?}", third.repaired);
}

/// Its state stayed where computing it again had ended, below the turns that were decided: the next of
/// them was applied to it, which ended the process.
#[test]
fn a_state_that_was_not_computed_again_to_its_end_is_given_no_turns_and_replaced() {
    let log = up_to(&lived(), LAST);
    // The second flip comes while turns before the first one are applied again.
    let mut again = Again::begin(key(), log, &[20, 10]);
    again.handle(Input::Wake);
    assert_eq!(again.applied, Height(10));

    again.handle(Input::PeerUp(follower().public()));

    assert_eq!((again.applied, &again.fetches[..]), (Height(10), &[SyncReason::Wrong][..]));
}
